/* See roofline_runs.h. */
#include "ui/roofline_runs.h"

#include "base/scopeless.h"
#include "base/text.h"
#include "model/brief.h"
#include "model/program_session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct point achieved(const struct metric_set *m)
{
	if (!m)
		return (struct point){ NAN, NAN };
	return (struct point){ metric_get(m, M_ROOF_AI), metric_get(m, M_ROOF_ACHIEVED) };
}

static struct point by_book(const struct metric_set *m)
{
	if (!m)
		return (struct point){ NAN, NAN };
	return (struct point){ metric_get(m, M_ROOF_BOOK_AI), metric_get(m, M_ROOF_BOOK_ATTAINABLE) };
}

/* --- the numbered ones --- */

/* The session's runs of this kernel on this GPU, the oldest first. */
static unsigned of_session(const struct session *s, struct point out[ROOFLINE_RUNS])
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->n_history; i++) {
		const struct run_brief *b = &s->history[i];
		if (b->sel.kernel != s->now->sel.kernel || strcmp(b->sel.gpu->id, s->sel.gpu->id) != 0)
			continue;
		const struct point p = achieved(&b->metrics);
		if (!roofline_drawable(p))
			continue;
		if (n == ROOFLINE_RUNS)
			memmove(out, out + 1, --n * sizeof *out);
		out[n++] = p;
	}
	return n;
}

/* The program's groups of launches that take longest, as numbered in the launches panel; not the
 * one that is shown. */
static struct point of_group(const struct program *p, const struct session *s, size_t i)
{
	if (program_group_of(p, s->program->launch) == &p->groups[i])
		return (struct point){ NAN, NAN };
	return (struct point){ program_group_metric(p, &p->groups[i], M_ROOF_AI),
		                   program_group_metric(p, &p->groups[i], M_ROOF_ACHIEVED) };
}

void roofline_runs_of(const struct session *s, struct roofline_runs *r)
{
	const struct metric_set *m = panel_metrics(s);
	const struct run_brief *reference = session_reference_run(s);
	*r = (struct roofline_runs){ .now = achieved(m),
		                         .before = achieved(panel_before(s)),
		                         .reference = achieved(reference ? &reference->metrics : NULL),
		                         .book = by_book(m) };
	const struct program *p = s->program ? s->program->now : NULL;
	for (; p && r->n < p->n_groups && r->n < ROOFLINE_RUNS; r->n++)
		r->run[r->n] = of_group(p, s, r->n);
	if (m && !s->program)
		r->n = of_session(s, r->run);
	r->path = !s->program;
	if (r->path && r->n <= 2) /* these are the one now and the one before */
		r->n = 0;
}

/* --- marks --- */

static const struct sign {
	uint32_t ch;
	const char *text; /* the same */
} NOW = { 0x25b4, "▴" }, BEFORE = { 0x25cb, "○" }, REFERENCE = { 0x25cf, "●" },
  BOOK = { 0xb6, "¶" };

static void mark(const struct axes *a, struct canvas *c, struct point p, enum style s, uint32_t ch)
{
	int row, col;
	if (roofline_cell(a, p, &row, &col))
		canvas_cell(c, row, col, s, ch);
}

static void path(const struct axes *a, const struct roofline_runs *r)
{
	struct plot p = a->p;
	p.style = STYLE_FAINT;
	for (unsigned i = 1; i < r->n; i++)
		roofline_dotted(&p, roofline_x(a, r->run[i - 1].x), roofline_y(a, r->run[i - 1].y),
		                roofline_x(a, r->run[i].x), roofline_y(a, r->run[i].y), 3);
}

static enum style numbers_style(const struct roofline_runs *r)
{
	return r->path ? STYLE_FAINT : STYLE_WATCH;
}

void roofline_dots(const struct axes *a, const struct roofline_runs *r, struct canvas *c)
{
	if (r->path)
		path(a, r);
	for (unsigned i = r->n; i > 0; i--) /* of those in one cell, the first number */
		mark(a, c, r->run[i - 1], numbers_style(r), '0' + i);
	mark(a, c, r->book, STYLE_WATCH, BOOK.ch);
	mark(a, c, r->before, STYLE_FAINT, BEFORE.ch);
	mark(a, c, r->reference, STYLE_FAINT, REFERENCE.ch);
	mark(a, c, r->now, STYLE_BOLD, NOW.ch);
}

/* --- names --- */

/* Beside the mark; elsewhere the name brings the mark along, and no other mark can claim it. */
static void name(const struct axes *a, struct canvas *c, struct point p, enum style s,
                 const struct sign *sign, const char *text)
{
	int row, col;
	if (!roofline_cell(a, p, &row, &col))
		return;
	const uint32_t seen = c->ascii ? (uint32_t)ascii_fallback(sign->ch) : sign->ch;
	if (roofline_at(c, row, col)->ch == seen && roofline_beside(a, c, row, col, s, text))
		return;
	char marked[128];
	snprintf(marked, sizeof marked, "%s %s", sign->text, text);
	roofline_label(a, c, row, col, s, marked);
}

static void point_name(const struct session *s, const struct selection *sel, double gflops,
                       char *out, size_t n)
{
	char number[32];
	if (gflops >= 100)
		fmt_count(number, sizeof number, gflops);
	else
		fmt_num(number, sizeof number, gflops, 3);
	const char *variant = sel->kernel && sel->variant < sel->kernel->n_variants
	                          ? sel->kernel->variants[sel->variant].name
	                          : "";
	char what[160] = "";
	if (sel != &s->now->sel)
		panel_difference(&s->now->sel, sel, what, sizeof what);
	char short_of[512];
	snprintf(out, n, "%.40s %s", what[0] ? what : scopeless(variant, 40, short_of, sizeof short_of),
	         number);
}

static bool in_cell(const struct axes *a, struct point p, int row, int col)
{
	int r, k;
	return roofline_cell(a, p, &r, &k) && r == row && k == col;
}

/* Has a run with a mark of its own that place? */
static bool taken(const struct axes *a, const struct roofline_runs *r, int row, int col)
{
	return in_cell(a, r->now, row, col) || in_cell(a, r->before, row, col) ||
	       in_cell(a, r->reference, row, col) || in_cell(a, r->book, row, col);
}

/* Beside a number those that share its cell, "+3 +5"; beside a mark that hides numbers all of
 * them, but for those that are the mark's own. */
static void shared_cells(const struct axes *a, const struct roofline_runs *r, struct canvas *c)
{
	for (unsigned i = 0; i < r->n; i++) {
		char text[4 * ROOFLINE_RUNS] = "";
		int row, col;
		bool first = roofline_cell(a, r->run[i], &row, &col);
		for (unsigned k = 0; first && k < i; k++)
			first = !in_cell(a, r->run[k], row, col);
		if (!first)
			continue;
		const bool hidden = taken(a, r, row, col);
		for (unsigned k = i + !hidden; k < r->n; k++) {
			const size_t len = strlen(text);
			const bool own = r->path && k + 2 >= r->n; /* the one now, and the one before */
			if (in_cell(a, r->run[k], row, col) && !(hidden && own))
				snprintf(text + len, sizeof text - len, "%s+%u", len ? " " : "", k + 1);
		}
		if (text[0])
			roofline_label(a, c, row, col, numbers_style(r), text);
	}
}

void roofline_names(const struct session *s, const struct axes *a, const struct roofline_runs *r,
                    struct canvas *c)
{
	char text[96], number[32];
	if (roofline_drawable(r->now)) {
		point_name(s, &s->now->sel, r->now.y, text, sizeof text);
		name(a, c, r->now, STYLE_BOLD, &NOW, text);
	}
	if (roofline_drawable(r->book)) {
		fmt_count(number, sizeof number, r->book.y);
		snprintf(text, sizeof text, "book %s", number);
		name(a, c, r->book, STYLE_WATCH, &BOOK, text);
	}
	if (roofline_drawable(r->before)) {
		point_name(s, panel_before_selection(s), r->before.y, text, sizeof text);
		name(a, c, r->before, STYLE_FAINT, &BEFORE, text);
	}
	if (roofline_drawable(r->reference)) {
		fmt_count(number, sizeof number, r->reference.y);
		snprintf(text, sizeof text, "%.24s %s", session_reference_run(s)->sel.gpu->name, number);
		name(a, c, r->reference, STYLE_FAINT, &REFERENCE, text);
	}
	shared_cells(a, r, c);
}

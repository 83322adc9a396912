/*
 * Findings: what is wrong with a program, and what is only to be remarked; each in full, with what
 * to do about it. What an earlier finding tells of another launch of the kernel stands once.
 *
 * The row under the cursor names the launch that all other panels show.
 */
#include "model/program_session.h"
#include "ui/view.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWS "Here after a run: what is wrong with the program, and what to do about it."
#define KIND_COLUMNS 16
#define LEAST_ROWS 3 /* of the list, where there are as many */

static const struct program *program_of(const struct session *s)
{
	return s->program ? s->program->now : NULL;
}

static unsigned rows(const struct session *s)
{
	const struct program *p = program_of(s);
	unsigned n = 0;
	for (size_t i = 0; p && i < p->n_findings; i++)
		n += !program_finding_told(p, i);
	return n;
}

/* The finding of row @row; NULL = there is no such row. */
static const struct program_finding *finding_at(const struct program *p, unsigned row)
{
	for (size_t i = 0; p && i < p->n_findings; i++)
		if (!program_finding_told(p, i) && !row--)
			return &p->findings[i];
	return NULL;
}

static uint64_t chosen(const struct session *s)
{
	const struct program_finding *f = finding_at(program_of(s), s->cursor.row);
	return f ? f->launch : 0;
}

/* First the row of the launch that is chosen: its findings are why one comes here. */
static unsigned start(const struct session *s)
{
	const unsigned n = rows(s);
	for (unsigned i = 0; i < n; i++) {
		const struct program_finding *f = finding_at(program_of(s), i);
		if (f->launch && f->launch == s->program->launch)
			return i;
	}
	return 0;
}

static enum style style_of(const struct program_finding *f)
{
	return f->error ? STYLE_BAD : STYLE_WATCH;
}

static void draw_row(struct canvas *c, int row, const struct program_finding *f, bool here)
{
	canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
	canvas_text(c, row, 1, style_of(f), f->error ? "✗" : "·");
	if (f->launch)
		canvas_right(c, row, 8, STYLE_DIM, "%" PRIu64, f->launch);
	canvas_text_n(c, row, 9, KIND_COLUMNS - 1, style_of(f), f->kind);
	canvas_text_n(c, row, 9 + KIND_COLUMNS, c->cols - 10 - KIND_COLUMNS,
	              here ? STYLE_BOLD : STYLE_NORMAL, program_finding_short(f));
}

/* "launch 2, 128 times, and in 3 launches more" */
static void occurrence(const struct program *p, const struct program_finding *f, char *out,
                       size_t n)
{
	const uint64_t more = program_finding_more(p, (size_t)(f - p->findings));
	size_t at = 0;
	if (f->launch)
		at = (size_t)snprintf(out, n, "launch %" PRIu64, f->launch);
	else
		at = (size_t)snprintf(out, n, "of the whole program");
	if (f->times > 1)
		at += (size_t)snprintf(out + at, n - at, ", %" PRIu64 " times", f->times);
	if (more)
		snprintf(out + at, n - at, ", and in %" PRIu64 " more like it", more);
}

/* Rows that the whole of @f takes, with its heading. */
static int detail_height(const struct program_finding *f, int cols)
{
	return 1 + text_rows(f->text, cols - 4) + (f->remedy[0] ? text_rows(f->remedy, cols - 4) : 0);
}

static void draw_detail(struct canvas *c, const struct program *p, const struct program_finding *f)
{
	char said[120];
	int row = 1;
	occurrence(p, f, said, sizeof said);
	const int col = canvas_text(c, 0, 1, style_of(f), f->kind);
	canvas_text_n(c, 0, col + 2, c->cols - col - 3, STYLE_DIM, said);
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, f->text);
	if (f->remedy[0] && row < c->rows)
		canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_KNOB, f->remedy);
}

/* Rows of the list: what the chosen finding's whole text leaves, but not too few of them. */
static int window_of(const struct canvas *c, const struct program_finding *f, int total)
{
	int window = c->rows - 1 - detail_height(f, c->cols);
	if (window < LEAST_ROWS)
		window = LEAST_ROWS;
	if (window > c->rows)
		window = c->rows;
	return window < total ? window : total;
}

static void draw(const struct session *s, struct canvas *c)
{
	const struct program *p = program_of(s);
	const unsigned total = rows(s);
	if (!total) {
		canvas_wrap(c, 0, 1, c->rows, c->cols - 2, STYLE_DIM,
		            !s->program ? "n/a: one kernel is explored, no program"
		            : p         ? "Nothing was found to be wrong with the program."
		                        : SHOWS);
		return;
	}
	const bool pick = panel_focused(s, "program_findings");
	const unsigned at = !pick ? start(s) : s->cursor.row < total ? s->cursor.row : total - 1;
	const struct program_finding *f = finding_at(p, at);
	const int window = window_of(c, f, (int)total);
	const unsigned top = panel_scroll(total, at, window);
	for (int r = 0; r < window && top + (unsigned)r < total; r++) {
		canvas_hit(c, r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		draw_row(c, r, finding_at(p, top + (unsigned)r), pick && top + (unsigned)r == at);
	}
	panel_scroll_marks(c, 0, window, top, total);
	if (window + 1 < c->rows) {
		struct canvas below = canvas_sub(c, window + 1, 0, c->rows - window - 1, c->cols);
		draw_detail(&below, p, f);
	}
}

const struct view_desc view_program_findings = {
	.name = "program_findings",
	.title = "Findings",
	.brief = "Fnd",
	.order = 15,
	.about = "what is wrong with the program: races, accesses out of bounds, leaks; what to do",
	.draw = draw,
	.rows = rows,
	.start = start,
	.launch = chosen,
	.place = VIEW_ALONE,
	.scope = VIEW_OF_PROGRAM,
};

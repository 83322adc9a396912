/*
 * Advice: what the figures of this run say to do next, the weightiest first, each with its figure.
 *
 * Rules of thumb over metrics that are already there (PMPP ch. 4-6); an unknown figure silences
 * its rule. Measures and models nothing.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/access_shape.h"
#include "model/program_session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS 3   /* of a finding's detail */
#define MOST_FAULTS 3 /* of a program's launch; the panel Findings has all of them */

struct finding {
	enum style style; /* BAD, WATCH or GOOD */
	char head[96], detail[300];
	const char *cure; /* "" = none */
};

/* A rule that this run keeps: one row. */
struct kept {
	const char *rule;
	char figure[96];
};

struct findings {
	unsigned n, n_kept;
	struct finding list[12];
	struct kept kept[6];
};

static void add(struct findings *f, enum style style, const char *head, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void add(struct findings *f, enum style style, const char *head, const char *fmt, ...)
{
	if (f->n == ARRAY_LEN(f->list))
		return;
	struct finding *to = &f->list[f->n++];
	va_list ap;
	to->style = style;
	to->cure = "";
	snprintf(to->head, sizeof to->head, "%s", head);
	va_start(ap, fmt);
	vsnprintf(to->detail, sizeof to->detail, fmt, ap);
	va_end(ap);
}

static void keep(struct findings *f, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void keep(struct findings *f, const char *rule, const char *fmt, ...)
{
	if (f->n_kept == ARRAY_LEN(f->kept))
		return;
	struct kept *to = &f->kept[f->n_kept++];
	va_list ap;
	to->rule = rule;
	va_start(ap, fmt);
	vsnprintf(to->figure, sizeof to->figure, fmt, ap);
	va_end(ap);
}

/* What the recorded access of a line that wastes most asks for; "" = none was recorded. */
static const char *cure_of(const struct session *s, uint32_t line)
{
	const struct run_counts *r = &s->now->run.counts;
	const struct access_sample *worst = NULL;
	unsigned most = 0;
	for (unsigned i = 0; i < r->n_accesses; i++) {
		const struct access_sample *a = &r->accesses[i];
		const struct access_shape sh = access_shape(a);
		if (a->line != line || a->shared || access_excess(&sh) <= most)
			continue;
		most = access_excess(&sh);
		worst = a;
	}
	return worst ? panel_cure(worst) : "";
}

static void correctness(const struct session *s, struct findings *f)
{
	const struct program *p = s->program ? s->program->now : NULL;
	if (s->now->verify == VERIFY_WRONG)
		add(f, STYLE_BAD, "wrong result", "%.280s", s->now->verify_text);
	for (size_t i = 0; p && i < p->n_findings && f->n < MOST_FAULTS; i++) {
		const struct program_finding *x = &p->findings[i];
		if (x->launch != s->program->launch || !x->error)
			continue;
		const char *text = program_finding_short(x);
		add(f, STYLE_BAD, x->kind, "%s", text);
		f->list[f->n - 1].cure = x->remedy;
	}
}

static void memory(const struct session *s, struct findings *f, const struct metric_set *m)
{
	uint32_t line = 0;
	double most = 0, used = 1, per = 0;
	for (unsigned i = 0; i < s->now->run.counts.n_lines; i++) {
		const struct counts *c = &s->now->run.counts.lines[i].c;
		double sectors = (double)(c->ld_sectors + c->st_sectors);
		double requests = (double)(c->ld_requests + c->st_requests);
		double useful = fmax((double)(c->ld_bytes + c->st_bytes) / 32, requests);
		if (sectors - useful > most) {
			most = sectors - useful;
			line = s->now->run.counts.lines[i].line;
			used = useful / sectors;
			per = sectors / requests;
		}
	}
	if (line && used < 0.75) {
		char source[80];
		panel_source(s, line, source, sizeof source);
		add(f, used < 0.4 ? STYLE_BAD : STYLE_WATCH, "uncoalesced accesses",
		    "line %u moves %.1f sectors per request and uses %.0f %% of them: %s", line, per,
		    100 * used, source);
		f->list[f->n - 1].cure = cure_of(s, line);
	} else if (metric_get(m, M_MEM_LD_REQ) > 0 && metric_get(m, M_MEM_ST_REQ) > 0) {
		keep(f, "accesses are coalesced", "%.1f sectors per load, %.1f per store",
		     metric_get(m, M_MEM_LD_SPR), metric_get(m, M_MEM_ST_SPR));
	} else if (metric_get(m, M_MEM_LD_REQ) > 0) {
		keep(f, "accesses are coalesced", "%.1f sectors per load", metric_get(m, M_MEM_LD_SPR));
	} else if (metric_get(m, M_MEM_ST_REQ) > 0) {
		keep(f, "accesses are coalesced", "%.1f sectors per store", metric_get(m, M_MEM_ST_SPR));
	}
	double excess = metric_get(m, M_SH_LD_EXCESS) + metric_get(m, M_SH_ST_EXCESS);
	char few[32], all[32];
	double passes = metric_get(m, M_SH_LD_WAVE) + metric_get(m, M_SH_ST_WAVE);
	if (metric_get(m, M_SH_LDM_WAVE) > 0)
		passes += metric_get(m, M_SH_LDM_WAVE);
	if (excess > 0 && excess > 0.05 * passes)
		add(f, excess > 0.5 * passes ? STYLE_BAD : STYLE_WATCH, "bank conflicts",
		    "%.0f %% of the shared-memory passes repeat for conflicts; pad the rows by one "
		    "word or swizzle",
		    100 * excess / passes);
	else if (passes > 0)
		keep(f, "no bank conflicts", "%s of %s passes repeat", fmt_count(few, sizeof few, excess),
		     fmt_count(all, sizeof all, passes));
	double local = metric_get(m, M_MEM_LOCAL_REQ);
	if (s->now->spill_bytes || local > 0)
		add(f, STYLE_WATCH, "local memory",
		    "%u bytes of spills per thread: fewer live values, or a smaller tile",
		    s->now->spill_bytes);
	else if (metric_known(m, M_LAUNCH_REGISTERS))
		keep(f, "no spills", "%.0f registers per thread", metric_get(m, M_LAUNCH_REGISTERS));
}

static void lanes(const struct session *s, struct findings *f, const struct metric_set *m)
{
	uint32_t line = 0;
	double most = 0, share = 1, total = 0;
	for (unsigned i = 0; i < s->now->run.counts.n_lines; i++) {
		const struct counts *c = &s->now->run.counts.lines[i].c;
		const double slots = 32 * (double)c->warp_executed;
		const double lost = slots - (double)counts_active_lanes(c);
		total += slots;
		if (lost > most) {
			most = lost;
			line = s->now->run.counts.lines[i].line;
			share = (double)counts_active_lanes(c) / slots;
		}
	}
	if (line && most > 0.05 * total)
		add(f, share < 0.5 ? STYLE_BAD : STYLE_WATCH, "idle lanes",
		    "line %u keeps %.0f %% of its lanes busy; let whole warps take the same way", line,
		    100 * share);
	else if (metric_known(m, M_DIV_SIMD_EFF))
		keep(f, "lanes are busy", "SIMD efficiency %.1f %%", metric_get(m, M_DIV_SIMD_EFF));
}

static void grid(const struct session *s, struct findings *f, const struct metric_set *m)
{
	double waves = metric_get(m, M_LAUNCH_WAVES), pct = metric_get(m, M_OCC_PCT);
	if (waves < 1)
		add(f, waves < 0.5 ? STYLE_BAD : STYLE_WATCH, "the grid is small",
		    "%.2f waves: blocks for %.0f %% of the GPU's places; more blocks or a larger "
		    "problem",
		    waves, 100 * waves);
	else if (waves < 4 && ceil(waves) / waves > 1.2)
		add(f, STYLE_WATCH, "tail",
		    "%.2f waves cost the time of %.0f: the last one is %.0f %% full", waves, ceil(waves),
		    100 * (waves - floor(waves)));
	else if (waves >= 1)
		keep(f, "the grid fills the GPU", "%.2f waves", waves);
	if (pct < 50 && s->now->perf.bottleneck == PERF_LATENCY)
		add(f, STYLE_WATCH, "too few warps",
		    "occupancy %.0f %%, and waiting on memory decides: limited by %.60s", pct,
		    s->now->occ.limiters);
}

static void bound(const struct session *s, struct findings *f, const struct metric_set *m)
{
	double ai = metric_get(m, M_ROOF_AI), ridge = gpu_ridge_flop_per_byte(s->sel.gpu);
	double is = metric_get(m, M_ROOF_ACHIEVED), could = metric_get(m, M_ROOF_ATTAINABLE);
	char bottleneck[96];
	metric_format(m, M_TIME_BOTTLENECK, bottleneck, sizeof bottleneck);
	if (is < 0.5 * could && metric_known(m, M_TIME_BOTTLENECK))
		add(f, STYLE_WATCH, "below its roof", "%.0f %% of attainable; the model names %s: %s",
		    100 * is / could, bottleneck, perf_resource_about(s->now->perf.bottleneck));
	if (ai < ridge)
		add(f, STYLE_WATCH, "memory-bound",
		    "%.3g FLOP per byte, the ridge of this GPU is at %.1f: more reuse per byte", ai, ridge);
	else if (ai >= ridge)
		add(f, STYLE_GOOD, "right of the ridge",
		    "%.3g FLOP per byte of at least %.1f: memory is not the limit", ai, ridge);
}

static struct findings findings_of(const struct session *s, const struct metric_set *m)
{
	struct findings f = { 0 };
	correctness(s, &f);
	memory(s, &f, m);
	lanes(s, &f, m);
	grid(s, &f, m);
	bound(s, &f, m);
	return f;
}

static int rows_of(const char *text, int cols)
{
	const int n = text_rows(text, cols - 4);
	return n < MOST_ROWS ? n : MOST_ROWS;
}

/* The variant to try next; NULL = there is none. */
static const struct variant_desc *next_variant(const struct session *s)
{
	const struct kernel_desc *k = s->now->sel.kernel;
	const unsigned next = s->now->sel.variant + 1;
	return k && next < k->n_variants && !s->program ? &k->variants[next] : NULL;
}

static const char *idea_of(const struct variant_desc *v)
{
	return v->idea ? v->idea : v->title;
}

static int side_rows(const struct session *s, int cols)
{
	const struct metric_set *m = panel_metrics(s);
	int rows = 1;
	if (!m)
		return 8;
	const struct findings f = findings_of(s, m);
	for (unsigned i = 0; i < f.n; i++)
		rows += 1 + rows_of(f.list[i].detail, cols) + rows_of(f.list[i].cure, cols);
	if (f.n_kept)
		rows += 1 + (int)f.n_kept;
	const struct variant_desc *next = next_variant(s);
	return rows + (next ? 2 + rows_of(idea_of(next), cols) : 0);
}

static int wrapped(struct canvas *c, int row, enum style style, const char *text)
{
	const int most = rows_of(text, c->cols), left = c->rows - row;
	return row + canvas_wrap(c, row, 3, left < most ? left : most, c->cols - 4, style, text);
}

/* What is as it should be, and the next variant to try: where there is room. Returns the row after.
 */
static int rest(const struct session *s, struct canvas *c, int row, const struct findings *f)
{
	const struct variant_desc *v = next_variant(s);
	if (f->n_kept && row + 1 < c->rows)
		row++;
	for (unsigned i = 0; i < f->n_kept && row < c->rows; i++, row++) {
		canvas_text(c, row, 1, STYLE_GOOD, "✓");
		const int col = canvas_text_n(c, row, 3, c->cols - 4, STYLE_NORMAL, f->kept[i].rule);
		const int at = col < 27 ? 28 : col + 2;
		if (at + utf8_columns(f->kept[i].figure) < c->cols)
			canvas_text(c, row, at, STYLE_DIM, f->kept[i].figure);
	}
	if (!v || row + 2 >= c->rows)
		return row;
	int col = canvas_text(c, ++row, 1, STYLE_KEY, "v");
	col = canvas_text(c, row, col + 1, STYLE_NORMAL, "the next variant: ");
	canvas_text_n(c, row, col, c->cols - col - 1, STYLE_BOLD, v->name);
	return wrapped(c, row + 1, STYLE_DIM, idea_of(v));
}

static void draw(const struct session *s, struct canvas *c)
{
	const struct metric_set *m = panel_metrics(s);
	if (panel_waiting(s, c, "Here after a run: what its figures say to do next."))
		return;
	const struct findings f = findings_of(s, m);
	int row = panel_notes(s, c);
	for (int pass = 0; pass < 3; pass++) {
		static const enum style order[] = { STYLE_BAD, STYLE_WATCH, STYLE_GOOD };
		static const char *const signs[] = { "✗", "!", "✓" };
		for (unsigned i = 0; i < f.n && row < c->rows; i++) {
			if (f.list[i].style != order[pass])
				continue;
			canvas_text(c, row, 1, order[pass], signs[pass]);
			canvas_text_n(c, row++, 3, c->cols - 4, STYLE_BOLD, f.list[i].head);
			row = wrapped(c, row, STYLE_DIM, f.list[i].detail);
			row = wrapped(c, row, STYLE_KNOB, f.list[i].cure);
		}
	}
	if (!f.n)
		canvas_wrap(c, row, 1, c->rows - row, c->cols - 2, STYLE_DIM,
		            "Nothing stands out in the figures of this run.");
	row = rest(s, c, f.n ? row : row + 1, &f);
	/* what these sentences come from, where rows are left */
	if (panel_resources_rows(s) > 1 && row + 1 + panel_resources_rows(s) <= c->rows)
		panel_resources(s, c, row + 1);
}

const struct view_desc view_advice = {
	.name = "advice",
	.title = "Advice",
	.brief = "Adv",
	.order = 8,
	.about = "what the figures say to do next",
	.draw = draw,
	.side_rows = side_rows,
	.place = VIEW_SIDE,
	.rank = { [LAYOUT_PROFILE] = -2, [LAYOUT_COMPARE] = -2 },
};

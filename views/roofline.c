/*
 * Roofline: where this kernel stands under the memory slope and the compute roof, and the time
 * every resource would need.
 *
 * After Williams, Waterman, Patterson 2009 (PMPP 5.1): attainable = min(peak, intensity x
 * bandwidth). Draws what the model computed; the only arithmetic here is the logarithm of the axes.
 */
#include "model/brief.h"
#include "model/program_session.h"
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                                  \
	"Here after a run: the kernel as a point under the roofs of this GPU, the run before it, " \
	"the book's point, what bounds it, and the time of every resource."

struct axes {
	struct plot p;
	double x0, x1, y0, y1; /* log10 */
	double peak, gbs;      /* GFLOPS, GB/s */
};

static double fx(const struct axes *a, double flop_per_byte)
{
	return (log10(flop_per_byte) - a->x0) / (a->x1 - a->x0);
}

static double fy(const struct axes *a, double gflops)
{
	return (log10(gflops) - a->y0) / (a->y1 - a->y0);
}

struct point {
	double x, y; /* FLOP/byte, GFLOPS; NAN = unknown */
};

static bool drawable(struct point p)
{
	return isfinite(p.x) && isfinite(p.y) && p.x > 0 && p.y > 0;
}

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

/* Grows the axes so that @p is on the plot, at most to 1e-3..1e5 FLOP/byte. */
static void include(struct axes *a, struct point p)
{
	if (!drawable(p))
		return;
	double lx = log10(p.x), ly = log10(p.y);
	if (lx - 0.15 < a->x0)
		a->x0 = fmax(lx - 0.15, -3);
	if (lx + 0.6 > a->x1)
		a->x1 = fmin(lx + 0.6, 5);
	if (ly - 0.2 < a->y0)
		a->y0 = fmax(ly - 0.2, -3);
	if (ly + 0.2 > a->y1)
		a->y1 = fmin(ly + 0.2, 8);
}

static void ticks(const struct axes *a, struct canvas *c)
{
	const struct plot *p = &a->p;
	char text[32];
	int row, col, last = -100;
	for (int r = 0; r < p->rows; r++)
		canvas_cell(c, p->row + r, p->col - 1, STYLE_DIM, 0x2502);
	canvas_cell(c, p->row + p->rows, p->col - 1, STYLE_DIM, 0x2514);
	canvas_hline(c, p->row + p->rows, p->col, p->cols, STYLE_DIM);
	for (int e = (int)ceil(a->y0); e <= (int)floor(a->y1); e++) {
		if (!plot_cell(p, 0, fy(a, pow(10, e)), &row, &col))
			continue;
		if (e >= 6) /* "1 M": the labels have eight columns */
			snprintf(text, sizeof text, "%g M", pow(10, e - 6));
		else if (e >= 0)
			fmt_count(text, sizeof text, pow(10, e));
		else
			fmt_num(text, sizeof text, pow(10, e), 3);
		canvas_right(c, row, p->col - 2, STYLE_DIM, "%s", text);
		canvas_cell(c, row, p->col - 1, STYLE_DIM, 0x2524);
	}
	/* as many marks per decade as keep six columns apart */
	static const double marks[] = { 1, 2, 5, 3 };
	double decade = p->cols / (a->x1 - a->x0);
	size_t first = decade >= 20 ? 0 : decade >= 14 ? 3 : 4;
	for (int e = (int)floor(a->x0); e <= (int)ceil(a->x1); e++) {
		for (size_t i = 0; i < 3; i++) {
			if (i && first == 4)
				break;
			if (i == 2 && first == 3)
				break;
			double v = (i == 1 && first == 3 ? marks[3] : marks[i]) * pow(10, e);
			if (!plot_cell(p, fx(a, v), 0, &row, &col))
				continue;
			fmt_num(text, sizeof text, v, 3);
			int width = utf8_columns(text), at = col - width / 2;
			if (at < last + 2 || at + width > p->col + p->cols || decade < 4)
				continue;
			canvas_cell(c, p->row + p->rows, col, STYLE_DIM, 0x252c);
			canvas_text(c, p->row + p->rows + 1, at, STYLE_DIM, text);
			last = at + width;
		}
	}
}

/* True when the @n cells from row, col are free of plot and text. */
static bool free_cells(const struct canvas *c, int row, int col, int n)
{
	if (row < 0 || row >= c->rows || col < 0 || col + n > c->cols)
		return false;
	const struct cell *cell =
		c->cells + (size_t)(c->row + row) * (size_t)c->stride + (size_t)(c->col + col);
	for (int i = 0; i < n; i++)
		if (cell[i].ch != ' ')
			return false;
	return true;
}

/* A label near row, col where nothing is yet: right, left, then the rows below and above. */
static void label(const struct axes *a, struct canvas *c, int row, int col, enum style s,
                  const char *text)
{
	static const int rows[] = { 0, 1, -1, 2, -2, 3 };
	int n = utf8_columns(text);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = row + rows[i];
		if (r < a->p.row || r >= a->p.row + a->p.rows)
			continue;
		if (col + 2 + n <= a->p.col + a->p.cols && free_cells(c, r, col + 1, n + 2)) {
			canvas_text(c, r, col + 2, s, text);
			return;
		}
		if (col - 1 - n >= a->p.col && free_cells(c, r, col - 2 - n, n + 2)) {
			canvas_text(c, r, col - 1 - n, s, text);
			return;
		}
	}
}

static void roofs(const struct axes *a, struct canvas *c, const char *pipe)
{
	double ridge = a->peak / a->gbs;
	struct plot p = a->p;
	char text[96], number[32];
	p.style = STYLE_BAR;
	plot_line(&p, a->x0 < log10(ridge) ? 0 : fx(a, ridge),
	          fy(a, fmin(a->peak, pow(10, a->x0) * a->gbs)), fx(a, ridge), fy(a, a->peak));
	plot_line(&p, fx(a, ridge), fy(a, a->peak), 1, fy(a, a->peak));
	int row, col;
	fmt_count(number, sizeof number, a->peak);
	snprintf(text, sizeof text, "%s roof %s GFLOPS", pipe, number);
	if (plot_cell(&a->p, 1, fy(a, a->peak), &row, &col) && row > a->p.row)
		canvas_right(c, row - 1, a->p.col + a->p.cols, STYLE_DIM, "%s", text);
	fmt_count(number, sizeof number, a->gbs);
	snprintf(text, sizeof text, "DRAM %s GB/s", number);
	double x = pow(10, (a->x0 + log10(ridge)) / 2);
	if (plot_cell(&a->p, fx(a, x), fy(a, x * a->gbs), &row, &col))
		label(a, c, row - 1 > a->p.row ? row - 1 : row, col - utf8_columns(text) - 3, STYLE_DIM,
		      text);
}

static void mark(const struct axes *a, struct canvas *c, struct point p, enum style s, uint32_t ch,
                 const char *text)
{
	int row, col;
	if (!drawable(p) || !plot_cell(&a->p, fx(a, p.x), fy(a, p.y), &row, &col))
		return;
	canvas_cell(c, row, col, s, ch);
	label(a, c, row, col, s, text);
}

static bool fp64(const struct metric_set *m)
{
	double d = m ? metric_get(m, M_FLOP_FP64) : NAN, f = m ? metric_get(m, M_FLOP_FP32) : NAN;
	return isfinite(d) && d > 0 && !(d < f);
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
	snprintf(out, n, "%.40s %s", what[0] ? what : variant, number);
}

/* The program's groups of launches that take longest, as numbered in the launches panel. */
#define MAX_GROUPS 9

static struct point of_group(const struct session *s, size_t i)
{
	const struct program *p = s->program ? s->program->now : NULL;
	if (!p || i >= p->n_groups || program_group_of(p, s->program->launch) == &p->groups[i])
		return (struct point){ NAN, NAN };
	return (struct point){ program_group_metric(p, &p->groups[i], M_ROOF_AI),
		                   program_group_metric(p, &p->groups[i], M_ROOF_ACHIEVED) };
}

static void chart(const struct session *s, struct canvas *c, int row, int rows)
{
	const struct gpu_spec *g = s->sel.gpu;
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	bool dp = fp64(m);
	struct axes a = { .peak = dp ? g->fp64_gflops : g->fp32_gflops, .gbs = g->dram_gbs };
	if (!(a.peak > 0) || !(a.gbs > 0) || rows < 5 || c->cols < 24)
		return;
	double ridge = log10(a.peak / a.gbs);
	a.x0 = fmin(-1, ridge - 1.5);
	a.x1 = fmax(2, ridge + 0.8);
	a.y1 = log10(a.peak) + 0.35;
	a.y0 = fmin(log10(a.gbs) + a.x0 - 0.1, a.y1 - 2);
	include(&a, achieved(m));
	include(&a, achieved(before));
	include(&a, by_book(m));
	const struct run_brief *reference = session_reference_run(s);
	include(&a, achieved(reference ? &reference->metrics : NULL));
	for (size_t i = 0; i < MAX_GROUPS; i++)
		include(&a, of_group(s, i));
	/* a row above the roof for its name */
	if (rows > 5)
		a.y1 = fmax(a.y1, log10(a.peak) + 1.6 * (log10(a.peak) - a.y0) / (rows - 5));
	a.p =
		(struct plot){ .c = c, .row = row + 1, .col = 10, .rows = rows - 3, .cols = c->cols - 12 };
	canvas_text(c, row, 2, STYLE_DIM, "GFLOPS");
	canvas_right(c, row, c->cols - 2, STYLE_DIM, "FLOP per byte →");
	ticks(&a, c);
	roofs(&a, c, dp ? "FP64" : "FP32");
	if (!m)
		return;
	char text[96], number[32];
	struct point b = by_book(m), p = achieved(before), now = achieved(m);
	const struct point there = achieved(reference ? &reference->metrics : NULL);
	/* the points first, so that no label covers one */
	mark(&a, c, b, STYLE_WATCH, 0xb6, "");
	mark(&a, c, p, STYLE_FAINT, 0x25cb, "");
	mark(&a, c, there, STYLE_FAINT, 0x25cf, "");
	for (size_t i = 0; i < MAX_GROUPS; i++)
		mark(&a, c, of_group(s, i), STYLE_WATCH, (uint32_t)('1' + i), "");
	mark(&a, c, now, STYLE_BOLD, 0x25b4, "");
	point_name(s, &s->now->sel, now.y, text, sizeof text);
	mark(&a, c, now, STYLE_BOLD, 0x25b4, text);
	if (drawable(b)) {
		fmt_count(number, sizeof number, b.y);
		snprintf(text, sizeof text, "book %s", number);
		mark(&a, c, b, STYLE_WATCH, 0xb6, text);
	}
	if (drawable(p)) {
		point_name(s, panel_before_selection(s), p.y, text, sizeof text);
		mark(&a, c, p, STYLE_FAINT, 0x25cb, text);
	}
	if (drawable(there)) {
		fmt_count(number, sizeof number, there.y);
		snprintf(text, sizeof text, "%.24s %s", reference->sel.gpu->name, number);
		mark(&a, c, there, STYLE_FAINT, 0x25cf, text);
	}
	mark(&a, c, now, STYLE_BOLD, 0x25b4, "");
}

/* "achieved 2 557 ~   41 % of attainable 6 220 ~   was 480 ▲" and the bound with its intensity. */
static int figures(const struct session *s, struct canvas *c, int row, int last)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	double is = metric_get(m, M_ROOF_ACHIEVED), could = metric_get(m, M_ROOF_ATTAINABLE);
	if (row < last) {
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "achieved ");
		col = canvas_metric(c, row, col, 6, m, M_ROOF_ACHIEVED);
		if (!metric_known(m, M_ROOF_ACHIEVED))
			col = canvas_text_n(c, row, col + 1, c->cols - col - 2, STYLE_DIM,
			                    panel_reason(m, M_ROOF_ACHIEVED));
		col = canvas_text(c, row, col, STYLE_DIM, " GFLOPS   ");
		if (isfinite(is) && could > 0)
			col = canvas_printf(c, row, col, STYLE_BOLD,
			                    100 * is / could < 1 ? "%.1g %%" : "%.0f %%", 100 * is / could);
		col = canvas_text(c, row, col, STYLE_DIM, " of attainable ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_ATTAINABLE);
		if (col + 22 < c->cols)
			canvas_delta(c, row, col + 3, m, before, M_ROOF_ACHIEVED, +1);
		row++;
	}
	if (row < last) {
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "bound    ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_BOUND);
		col = canvas_text(c, row, col, STYLE_NORMAL, "   intensity ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_AI);
		col = canvas_text(c, row, col, STYLE_DIM, "   book ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_BOOK_AI);
		if (col + 20 < c->cols)
			canvas_printf(c, row, col, STYLE_DIM, "   ridge %.1f FLOP/B",
			              gpu_ridge_flop_per_byte(s->sel.gpu));
		row++;
	}
	if (row < last && s->now->cost.book_note && metric_known(m, M_ROOF_BOOK_AI)) {
		int col =
			canvas_printf(c, row, 2, STYLE_DIM, "book %s  ", origin_mark(ORIGIN_BOOK, c->ascii));
		canvas_text_n(c, row, col, c->cols - 1 - col, STYLE_DIM, s->now->cost.book_note);
		row++;
	}
	return row;
}

static const char *advice(const struct session *s)
{
	const struct metric_set *m = panel_metrics(s);
	double ai = metric_get(m, M_ROOF_AI), is = metric_get(m, M_ROOF_ACHIEVED),
		   could = metric_get(m, M_ROOF_ATTAINABLE), ridge = gpu_ridge_flop_per_byte(s->sel.gpu);
	if (!isfinite(ai) || !isfinite(is) || !isfinite(could))
		return "";
	if (is < 0.5 * could) {
		switch (s->now->perf.bottleneck) {
		case PERF_ISSUE: return "next: busy issuing; fewer instructions per FLOP";
		case PERF_LSU: return "next: L1 decides; fewer or better coalesced global requests";
		case PERF_SHARED: return "next: shared memory decides; fewer conflicts, more registers";
		case PERF_L2: return "next: L2 decides; reuse in shared memory or L1";
		case PERF_LATENCY: return "next: waits on memory; more warps or more loads in flight";
		case PERF_INT: return "next: integer work decides; hoist indices out of the loop";
		case PERF_SFU: return "next: special functions decide; use cheaper forms";
		case PERF_FP32:
		case PERF_FP64:
		case PERF_DRAM:
		case PERF_RESOURCE_COUNT: break;
		}
	}
	if (ai < ridge)
		return "next: more reuse per byte moves the point right, uphill";
	return "next: under the flat roof only fewer instructions help";
}

static int resources(const struct session *s, struct canvas *c, int row, int last)
{
	const struct perf_result *p = &s->now->perf;
	double most = 0;
	for (int i = 0; i < PERF_RESOURCE_COUNT; i++)
		if (isfinite(p->resource_ns[i]))
			most = fmax(most, p->resource_ns[i]);
	if (!(most > 0) || row >= last)
		return row;
	int col = canvas_text(c, row, 2, STYLE_DIM, "time each resource needs ");
	canvas_text(c, row++, col, STYLE_DIM, origin_mark(ORIGIN_MODELLED, c->ascii));
	int left = 24, width = c->cols - left - 3;
	for (int i = 0; i < PERF_RESOURCE_COUNT && row < last; i++) {
		if (!(p->resource_ns[i] > 0))
			continue;
		char text[32];
		bool worst = p->bottleneck == (enum perf_resource)i;
		fmt_ns(text, sizeof text, p->resource_ns[i]);
		canvas_text(c, row, 2, worst ? STYLE_BOLD : STYLE_NORMAL,
		            perf_resource_name((enum perf_resource)i));
		canvas_right(c, row, left - 2, worst ? STYLE_BOLD : STYLE_NORMAL, "%s", text);
		canvas_bar(c, row, left, width, p->resource_ns[i] / most, worst ? STYLE_WATCH : STYLE_BAR);
		row++;
	}
	return row;
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!panel_metrics(s)) {
		/* the roofs need no run */
		int said = c->rows >= 14 ? 8 : c->rows;
		struct canvas top = canvas_sub(c, 0, 0, said, c->cols);
		panel_waiting(s, &top, SHOWS);
		chart(s, c, said, c->rows - said);
		return;
	}
	panel_waiting(s, c, SHOWS);
	int busy = 0;
	for (int i = 0; i < PERF_RESOURCE_COUNT; i++)
		busy += s->now->perf.resource_ns[i] > 0;
	int below = 2 + (s->now->cost.book_note != NULL) + 1;
	bool table = c->rows >= 12 + below + busy + 2;
	int first = c->rows >= 16 ? 1 : 0;
	int plot_rows = c->rows - first - below - (table ? busy + 2 : 0);
	if (plot_rows < 5) {
		figures(s, c, first, c->rows);
		return;
	}
	chart(s, c, first, plot_rows);
	int row = figures(s, c, first + plot_rows, c->rows);
	if (row < c->rows)
		canvas_text_n(c, row++, 2, c->cols - 3, STYLE_KNOB, advice(s));
	if (table)
		resources(s, c, row + 1, c->rows);
}

const struct view_desc view_roofline = {
	.name = "roofline",
	.title = "Roofline",
	.brief = "Roof",
	.order = 2,
	.about = "the point under memory slope and compute roof; time per resource",
	.draw = draw,
	.place = VIEW_GRID,
};

/*
 * Roofline: where this kernel stands under the memory slope and the compute roof, and the time
 * every resource would need.
 *
 * After Williams, Waterman, Patterson 2009 (PMPP 5.1): attainable = min(peak, intensity x
 * bandwidth). Says what the model computed; the picture is ui/panel_roofline.c.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>

#define SHOWS                                                                                  \
	"Here after a run: the kernel as a point under the roofs of this GPU, the run before it, " \
	"the book's point, what bounds it, and the time of every resource."

/* "achieved 2 557 ~   41 % of attainable 6 220 ~   was 480 ▲" and the bound with its intensity. */
static int figures(const struct session *s, struct canvas *c, int row, int last)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	double is = metric_get(m, M_ROOF_ACHIEVED), could = metric_get(m, M_ROOF_ATTAINABLE);
	if (row < last) {
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "achieved ");
		col = canvas_metric(c, row, col, 6, m, M_ROOF_ACHIEVED);
		if (metric_known(m, M_ROOF_ACHIEVED)) {
			col = canvas_text(c, row, col, STYLE_DIM, " GFLOPS   ");
			if (isfinite(is) && could > 0)
				col = canvas_printf(c, row, col, STYLE_BOLD,
				                    100 * is / could < 1 ? "%.1g %%" : "%.0f %%", 100 * is / could);
			col = canvas_text(c, row, col, STYLE_DIM, " of attainable ");
			col = canvas_metric(c, row, col, 0, m, M_ROOF_ATTAINABLE);
			if (col + 22 < c->cols)
				canvas_delta(c, row, col + 3, m, before, M_ROOF_ACHIEVED, +1);
		} else {
			canvas_text_n(c, row, col + 1, c->cols - col - 2, STYLE_DIM,
			              panel_reason(m, M_ROOF_ACHIEVED));
		}
		row++;
	}
	if (row < last) {
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "bound    ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_BOUND);
		col = canvas_text(c, row, col, STYLE_NORMAL, "   intensity ");
		col = canvas_metric(c, row, col, 0, m, M_ROOF_AI);
		char book[64];
		metric_format(m, M_ROOF_BOOK_AI, book, sizeof book);
		if (col + utf8_columns("   book ") + utf8_columns(book) + 3 < c->cols) {
			col = canvas_text(c, row, col, STYLE_DIM, "   book ");
			col = canvas_metric(c, row, col, 0, m, M_ROOF_BOOK_AI);
		}
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

/* Of a kernel without a point: why, and what it takes of the memory's bandwidth instead. */
static int no_point(const struct session *s, struct canvas *c, int row, int last)
{
	const struct metric_set *m = panel_metrics(s);
	const double gbs = metric_get(m, M_DRAM_GBS), most = s->sel.gpu->dram_gbs;
	char text[32];
	if (row < last) {
		const int col = canvas_text(c, row, 2, STYLE_NORMAL, "no point here ");
		canvas_text_n(c, row++, col + 1, c->cols - col - 2, STYLE_DIM,
		              panel_reason(m, M_ROOF_ACHIEVED));
	}
	if (row < last && isfinite(gbs) && most > 0) {
		int col = canvas_text(c, row, 2, STYLE_NORMAL, "DRAM     ");
		col = canvas_metric(c, row, col, 6, m, M_DRAM_GBS);
		col = canvas_text(c, row, col, STYLE_DIM, " GB/s   ");
		col = canvas_printf(c, row, col, STYLE_BOLD, "%.0f %%", 100 * gbs / most);
		canvas_printf(c, row++, col, STYLE_DIM, " of %s GB/s", fmt_count(text, sizeof text, most));
	}
	return row;
}

static const char *advice(const struct session *s)
{
	const struct metric_set *m = panel_metrics(s);
	double ai = metric_get(m, M_ROOF_AI), is = metric_get(m, M_ROOF_ACHIEVED),
		   could = metric_get(m, M_ROOF_ATTAINABLE),
		   ridge = roof_peak_gflops(s->sel.gpu, &s->now->cost) / s->sel.gpu->dram_gbs;
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
		case PERF_PAGES: return "next: managed pages come from the host; prefetch them before";
		case PERF_HOST: return "next: the host's link decides; copy what is read more than once";
		case PERF_ADU:
			return "next: looking up constants decides; use shared memory where lanes differ";
		case PERF_TENSOR: return "next: tensor cores decide; wgmma reaches more of their peak";
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

static void draw(const struct session *s, struct canvas *c)
{
	if (!panel_metrics(s)) {
		/* the roofs need no run */
		int said = c->rows >= 14 ? 8 : c->rows;
		struct canvas top = canvas_sub(c, 0, 0, said, c->cols);
		panel_waiting(s, &top, SHOWS);
		panel_roofline(s, c, said, c->rows - said);
		return;
	}
	panel_waiting(s, c, SHOWS);
	const int busy = panel_resources_rows(s) - 1;
	const bool point = metric_known(panel_metrics(s), M_ROOF_ACHIEVED);
	int below = 2 + (point && s->now->cost.book_note != NULL) + point;
	/* what each resource needs is all that there is to see of a kernel without a point */
	bool table = c->rows >= (point ? 12 : 1) + below + busy + 2;
	int first = c->rows >= 16 ? 1 : 0;
	int plot_rows = c->rows - first - below - (table ? busy + 2 : 0);
	const int least = point ? 5 : 8; /* rows that a picture without a point is worth */
	if (plot_rows < least && point) {
		figures(s, c, first, c->rows);
		return;
	}
	if (plot_rows >= least)
		panel_roofline(s, c, first, plot_rows);
	int row = plot_rows >= least ? first + plot_rows : first;
	row = point ? figures(s, c, row, c->rows) : no_point(s, c, row, c->rows);
	if (point && row < c->rows)
		canvas_text_n(c, row++, 2, c->cols - 3, STYLE_KNOB, advice(s));
	if (table)
		panel_resources(s, c, row + 1);
}

const struct view_desc view_roofline = {
	.name = "roofline",
	.title = "Roofline",
	.brief = "Roof",
	.order = 2,
	.about = "the point under memory slope and compute roof; time per resource",
	.draw = draw,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_COMPARE] = 3 },
};

/*
 * Divergence: how many of a warp's 32 lanes work, line by line, and the observed warp's path with
 * its active lanes.
 *
 * SIMD efficiency = lanes with a true predicate / (32 x warp instructions) (PMPP 4.5); a line's is
 * that of its active lanes: a guard that nobody leaves by is no loss. Traces nothing itself.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                               \
	"Here after a run: the share of lanes that work, every source line with its lanes per " \
	"instruction and divergent branches, and the path of one warp through the code (Enter)."

static const struct line_counts *line_at(const struct session *s, unsigned index)
{
	unsigned seen = 0;
	if (!panel_metrics(s))
		return NULL;
	for (unsigned i = 0; i < s->now->run.counts.n_lines; i++) {
		const struct line_counts *l = &s->now->run.counts.lines[i];
		if (l->c.warp_executed && seen++ == index)
			return l;
	}
	return NULL;
}

static unsigned n_rows(const struct session *s)
{
	unsigned n = 0;
	if (!panel_metrics(s))
		return 0;
	for (unsigned i = 0; i < s->now->run.counts.n_lines; i++)
		n += s->now->run.counts.lines[i].c.warp_executed > 0;
	return n;
}

/* The line that loses most lane slots. */
static unsigned worst_row(const struct session *s)
{
	unsigned worst = 0;
	uint64_t most = 0;
	const struct line_counts *l;
	for (unsigned i = 0; (l = line_at(s, i)); i++) {
		uint64_t slots = 32 * l->c.warp_executed;
		uint64_t on = counts_active_lanes(&l->c), lost = slots > on ? slots - on : 0;
		if (lost > most) {
			most = lost;
			worst = i;
		}
	}
	return worst;
}

/* The focused row; without the focus, the worst one is the example. */
static unsigned selected_row(const struct session *s)
{
	unsigned n = n_rows(s);
	if (!panel_focused(s, "divergence"))
		return worst_row(s);
	return n && s->cursor.row >= n ? n - 1 : s->cursor.row;
}

static unsigned detail_rows(const struct session *s)
{
	return panel_metrics(s) ? s->now->run.counts.n_steps : 0;
}

/* The first step on the selected line. */
static unsigned detail_start(const struct session *s)
{
	const struct line_counts *l = line_at(s, selected_row(s));
	for (unsigned i = 0; l && i < detail_rows(s); i++)
		if (s->now->run.counts.steps[i].line == l->line)
			return i;
	return 0;
}

static double efficiency(const struct counts *c)
{
	const double slots = 32.0 * (double)c->warp_executed;
	return slots > 0 ? (double)counts_active_lanes(c) / slots : 1;
}

static enum style grade(double share)
{
	return share >= 0.9 ? STYLE_GOOD : share >= 0.5 ? STYLE_WATCH : STYLE_BAD;
}

static const char *sign(double share)
{
	return share >= 0.9 ? " " : share >= 0.5 ? "!" : "✗";
}

static unsigned lanes(uint32_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static int summary(const struct session *s, struct canvas *c, int row)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	double eff = metric_get(m, M_DIV_SIMD_EFF);
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "SIMD efficiency ");
	col = canvas_metric(c, row, col, 7, m, M_DIV_SIMD_EFF);
	char text[64];
	if (isfinite(eff)) {
		metric_format(m, M_INST_RATIO, text, sizeof text);
		col = canvas_printf(c, row, col, STYLE_BOLD, "   %s", text);
		col = canvas_text(c, row, col, STYLE_DIM, " of 32 lanes work");
		if (col + 18 < c->cols)
			canvas_delta(c, row, col + 3, m, before, M_DIV_SIMD_EFF, +1);
	} else {
		canvas_text_n(c, row, col + 1, c->cols - col - 2, STYLE_DIM,
		              panel_reason(m, M_DIV_SIMD_EFF));
	}
	row++;
	if (c->rows >= 12 && isfinite(eff))
		canvas_bar(c, row++, 2, c->cols - 4, eff / 100, grade(eff / 100));
	if (c->rows >= 8) {
		col = canvas_text(c, row, 2, STYLE_NORMAL, "divergent branches ");
		metric_format(m, M_DIV_DIVERGENT, text, sizeof text);
		col = canvas_text(c, row, col, STYLE_BOLD, text);
		col = canvas_text(c, row, col, STYLE_DIM, " of ");
		col = canvas_metric(c, row, col, 0, m, M_DIV_BRANCHES);
		/* beside the figure that it is the earlier value of */
		const int was =
			col + 18 < c->cols ? canvas_delta(c, row, col + 2, m, before, M_DIV_DIVERGENT, -1) : 0;
		col = was > col + 2 ? was : col;
		if (col + 30 < c->cols) {
			col = canvas_text(c, row, col + 3, STYLE_DIM, "branch efficiency ");
			canvas_metric(c, row, col, 0, m, M_DIV_BRANCH_EFF);
		}
		row++;
	}
	return row;
}

/* Instructions of one pass over the line, if the observed warp's path tells and every one of them
 * ran alike; else 1. */
static unsigned instructions_of(const struct session *s, const struct line_counts *l)
{
	const struct run_counts *r = &s->now->run.counts;
	unsigned n = 0;
	for (unsigned i = 0; i < r->n_steps; i++) {
		if (r->steps[i].line != l->line)
			continue;
		if (n && n != r->steps[i].instructions)
			return 1;
		n = r->steps[i].instructions;
	}
	return n && l->c.warp_executed % n == 0 && counts_active_lanes(&l->c) % n == 0 ? n : 1;
}

/* The selected line in words, with the fraction that the efficiency is made of. */
static int in_words(const struct session *s, struct canvas *c, int row, int last)
{
	const struct line_counts *l = line_at(s, selected_row(s));
	char tag[32], lanes_text[40], slots[40];
	if (!l || row >= last)
		return row;
	panel_tag(s, l->line, tag, sizeof tag);
	unsigned each = instructions_of(s, l);
	fmt_count(lanes_text, sizeof lanes_text, (double)counts_active_lanes(&l->c) / each);
	fmt_count(slots, sizeof slots, 32.0 * (double)l->c.warp_executed / each);
	int col = canvas_printf(c, row, 2, STYLE_NORMAL, "line %u%s%s%s", l->line, tag[0] ? " (" : "",
	                        tag, tag[0] ? ")" : "");
	col = canvas_printf(c, row, col, STYLE_NORMAL, ": %s / %s lane slots = ", lanes_text, slots);
	col = canvas_printf(c, row, col, STYLE_BOLD, "%.1f %%", 100 * efficiency(&l->c));
	col = canvas_printf(c, row, col, STYLE_DIM, " %s",
	                    origin_mark(s->now->run.counts.origin, c->ascii));
	if (each > 1)
		canvas_printf(c, row, col, STYLE_DIM, "   in each of %u instructions", each);
	row++;
	const struct kernel_desc *k = s->now->sel.kernel;
	const char *book = k && s->now->sel.variant < k->n_variants
	                       ? k->variants[s->now->sel.variant].book_lanes
	                       : NULL;
	if (book && row < last) {
		col = canvas_printf(c, row, 2, STYLE_DIM, "book %s ", origin_mark(ORIGIN_BOOK, c->ascii));
		int room = last - row < 2 ? last - row : 2;
		row += canvas_wrap(c, row, col, room, c->cols - 1 - col, STYLE_DIM, book);
	}
	return row;
}

static void table(const struct session *s, struct canvas *c, int row, int last, bool pick)
{
	if (row >= last)
		return;
	/* right ends of the columns; 0 = no room for it */
	int eff = c->cols - 3, per = c->cols >= 100 ? eff - 12 : 0, exec = (per ? per - 7 : eff - 12);
	int div = c->cols >= 64 ? exec - 10 : 0, right = (div ? div : exec) - 10;
	if (right < 20) {
		exec = div = 0;
		right = eff - 11;
	}
	canvas_right(c, row, 6, STYLE_DIM, "line");
	canvas_text_n(c, row, 8, right - 8, STYLE_DIM, "source");
	if (exec)
		canvas_right(c, row, exec, STYLE_DIM, "executed");
	if (per)
		canvas_right(c, row, per, STYLE_DIM, "lanes");
	if (div)
		canvas_right(c, row, div, STYLE_DIM, "divergent");
	canvas_right(c, row, eff, STYLE_DIM, "efficiency");
	row++;
	unsigned total = n_rows(s), at = selected_row(s);
	int window = last - row;
	unsigned top = panel_scroll(total, at, window);
	for (int r = 0; r < window && top + (unsigned)r < total; r++) {
		const struct line_counts *l = line_at(s, top + (unsigned)r);
		char text[512];
		bool here = pick && top + (unsigned)r == at;
		if (!l)
			break;
		double share = efficiency(&l->c);
		panel_source(s, l->line, text, sizeof text);
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		if (here)
			canvas_text(c, row + r, 0, STYLE_KNOB, "▸");
		canvas_right(c, row + r, 6, STYLE_DIM, "%u", l->line);
		canvas_verbatim(c, row + r, 8, right - 8, here ? STYLE_BOLD : STYLE_NORMAL, text);
		if (exec) {
			if (l->c.warp_executed < 1000000)
				fmt_count(text, sizeof text, (double)l->c.warp_executed);
			else
				fmt_si(text, sizeof text, (double)l->c.warp_executed);
			canvas_right(c, row + r, exec, STYLE_NORMAL, "%s", text);
		}
		if (per)
			canvas_right(c, row + r, per, STYLE_NORMAL, "%.1f", 32 * share);
		if (div && l->c.branches) {
			fmt_si(text, sizeof text, (double)l->c.divergent_branches);
			canvas_right(c, row + r, div, l->c.divergent_branches ? STYLE_WATCH : STYLE_DIM, "%s%s",
			             text, l->c.divergent_branches ? " !" : "");
		}
		canvas_right(c, row + r, eff - 2, grade(share), "%.1f %%", 100 * share);
		canvas_text(c, row + r, eff - 1, grade(share), sign(share));
	}
	panel_scroll_marks(c, row, window, top, total);
}

/* Columns of the path; 0 = no room for it. */
struct path_columns {
	int source, times, mask, count; /* width; right; left; right */
};

static struct path_columns path_columns_of(int cols)
{
	struct path_columns k = { .count = cols - 3 };
	k.mask = k.count - 3 - 32;
	k.times = k.mask - 2;
	k.source = k.times - 8;
	if (k.mask < 8)
		k = (struct path_columns){ .mask = 8, .count = 8 + 35 };
	return k;
}

static void path_heading(struct canvas *c, int row, const struct path_columns *k)
{
	canvas_hline(c, row, 2, c->cols - 4, STYLE_DIM);
	const char *what = " block 0 · warp 0 · time ▼ ";
	if (utf8_columns(what) > k->mask - 6)
		what = " warp 0 · time ▼ ";
	if (utf8_columns(what) <= k->mask - 6)
		canvas_text(c, row, 5, STYLE_DIM, what);
	canvas_text(c, row, k->mask - 1, STYLE_DIM, " 0 lanes ");
	canvas_text(c, row, k->mask + 29, STYLE_DIM, " 31 ");
}

/* One step: its line, how many instructions, the 32 lanes, how many of them work. */
static void path_row(const struct session *s, struct canvas *c, int row,
                     const struct path_columns *k, const struct mask_step *step, bool here)
{
	char text[512];
	const enum style st = here ? STYLE_BOLD : STYLE_NORMAL;
	canvas_right(c, row, 6, STYLE_DIM, "%u", step->line);
	panel_source(s, step->line, text, sizeof text);
	if (k->source - 7 > 0)
		canvas_verbatim(c, row, 8, k->source - 7, st, text);
	if (k->times > 0 && step->instructions > 1)
		canvas_right(c, row, k->times + 1, STYLE_DIM, "×%u", step->instructions);
	for (int i = 0; i < 32; i++) {
		const bool on = step->mask >> i & 1;
		canvas_cell(c, row, k->mask + i, on ? (here ? STYLE_BOLD : STYLE_BAR) : STYLE_DIM,
		            on ? 0x2588 : 0xb7);
	}
	const unsigned n = lanes(step->mask);
	canvas_right(c, row, k->count, n == 32 ? STYLE_DIM : st, "%u", n);
}

/* The observed warp's path, scrolled to the focused step or to the selected line. */
static void path(const struct session *s, struct canvas *c, int row, int last)
{
	const struct run_counts *rc = &s->now->run.counts;
	const struct path_columns k = path_columns_of(c->cols);
	if (row >= last)
		return;
	path_heading(c, row++, &k);
	if (!rc->n_steps) {
		canvas_wrap(c, row, 2, last - row, c->cols - 4, STYLE_DIM,
		            rc->origin == ORIGIN_MEASURED
		                ? "n/a: a GPU does not report a warp's path; back end emu does (key b)"
		                : "n/a: no path was recorded in this run");
		return;
	}
	const struct line_counts *sel = line_at(s, selected_row(s));
	const bool open = s->cursor.detail && panel_focused(s, "divergence");
	unsigned at = open ? s->cursor.detail_row : detail_start(s);
	if (at >= rc->n_steps)
		at = rc->n_steps - 1;
	const int window = last - row;
	const unsigned top = panel_scroll(rc->n_steps, at, window);
	for (int r = 0; r < window && top + (unsigned)r < rc->n_steps; r++) {
		const struct mask_step *step = &rc->steps[top + (unsigned)r];
		if (open && top + (unsigned)r == at)
			canvas_text(c, row + r, 0, STYLE_KNOB, "▸");
		path_row(s, c, row + r, &k, step, sel && step->line == sel->line);
	}
	panel_scroll_marks(c, row, window, top, rc->n_steps);
	if (rc->steps_cut && top + (unsigned)window >= rc->n_steps && window > 1)
		canvas_right(c, last - 1, c->cols - 1, STYLE_DIM, " … the path goes on");
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	int row = summary(s, c, c->rows >= 12 ? 1 : 0), last = c->rows;
	bool pick = panel_focused(s, "divergence");
	if (!n_rows(s)) {
		canvas_wrap(c, row + 1, 2, last - row - 1, c->cols - 4, STYLE_DIM,
		            "per line: n/a, this run has no counts per source line");
		return;
	}
	if (c->rows >= 16)
		row++;
	if (c->rows >= 12)
		row = in_words(s, c, row, last);
	if (c->rows >= 18)
		row++;
	int rest = last - row;
	if (s->cursor.detail && pick && rest < 16) {
		if (rest >= 8)
			row += 3;
		if (row > last - rest + 2)
			table(s, c, row - 3, row - 1, pick);
		path(s, c, row, last);
	} else if (rest >= 16) {
		int want = (int)n_rows(s) + 1, most = rest / 2;
		int rows = want < most ? want : most;
		table(s, c, row, row + rows, pick);
		path(s, c, row + rows + 1, last);
	} else {
		table(s, c, row, last, pick);
	}
}

const struct view_desc view_divergence = {
	.name = "divergence",
	.title = "Divergence",
	.brief = "Div",
	.order = 3,
	.about = "lanes that work, line by line; the path of one warp",
	.draw = draw,
	.rows = n_rows,
	.start = worst_row,
	.detail_rows = detail_rows,
	.detail_start = detail_start,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_PROFILE] = 4 },
};

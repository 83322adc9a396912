/*
 * Occupancy: how many warps of this launch fit on one SM, which resource says so, and what other
 * block sizes would give.
 *
 * Needs no run: the compiler's register count is enough, so it follows every key at once. The
 * book's plain division stands beside the hardware's granularity (PMPP 4.7).
 * Computes no occupancy: model/occupancy.h does.
 */
#include "ui/view.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWS                                                                        \
	"Here: how many blocks and warps of this launch fit on one SM, which of warps, " \
	"registers, "                                                                    \
	"shared memory and block slots sets the limit, and the occupancy of every block size."

static uint64_t grid_blocks(const struct launch_plan *p)
{
	return (uint64_t)p->grid.x * p->grid.y * p->grid.z;
}

/* "8 x 32" as people write it. */
static void nice_times(const char *in, char *out, size_t n)
{
	size_t at = 0;
	for (; *in && at + 4 < n; in++) {
		if (in[0] == ' ' && in[1] == 'x' && in[2] == ' ') {
			memcpy(out + at, " ×", 3);
			at += 3;
			in++;
		} else {
			out[at++] = *in;
		}
	}
	out[at] = '\0';
}

static void amount(enum occ_limit_id id, double v, char *out, size_t n)
{
	if (id == OCC_SHARED)
		fmt_bytes(out, n, v);
	else
		fmt_count(out, n, v);
}

static int headline(const struct session *s, struct canvas *c, int row, const struct metric_set *m)
{
	const struct occ_result *o = &s->occ;
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "theoretical ");
	col = canvas_metric(c, row, col, 7, m, M_OCC_PCT) + 2;
	if (!o->launchable) {
		canvas_text_n(c, row, col, c->cols - col - 1, STYLE_ERROR, "✗ cannot launch");
		return row + 1;
	}
	col = canvas_printf(c, row, col, STYLE_NORMAL, "%u of %u warps", o->warps_per_sm,
	                    gpu_max_warps_per_sm(s->sel.gpu));
	col = canvas_printf(c, row, col, STYLE_DIM, " · %u block%s per SM", o->blocks_per_sm,
	                    o->blocks_per_sm == 1 ? "" : "s");
	const struct metric_set *before =
		s->stale && !panel_pinned(s) ? panel_metrics(s) : panel_before(s);
	if (before && metric_known(before, M_OCC_PCT)) {
		char shown[32];
		const double was = metric_get(before, M_OCC_PCT);
		snprintf(shown, sizeof shown, "%.1f %%", was);
		int width = 7 + utf8_columns(shown);
		int at = c->cols - 2 - width;
		if (at > col)
			canvas_was(c, row, at, o->pct, was, shown, +1);
	}
	return row + 1;
}

static enum style grade(double pct)
{
	return pct >= 75 ? STYLE_GOOD : pct >= 40 ? STYLE_WATCH : STYLE_BAD;
}

/* Right ends of the columns; 0 = no room for it. */
struct limit_columns {
	bool wide;
	int needs, has, blocks, why; /* why: left end, up to the canvas' edge */
};

static struct limit_columns limit_columns_of(int cols)
{
	struct limit_columns k = { .wide = cols >= 66 };
	k.needs = k.wide ? 33 : cols >= 42 ? 25 : 0;
	k.has = k.wide ? 46 : cols >= 54 ? 35 : 0;
	k.blocks = k.wide ? 56 : k.has ? 43 : k.needs ? 33 : 24;
	k.why = k.blocks + 12;
	return k;
}

static bool why_fits(const struct canvas *c, const struct limit_columns *k, const char *why)
{
	return utf8_columns(why) <= c->cols - 1 - k->why;
}

static void limit_row(struct canvas *c, int row, const struct limit_columns *k,
                      const struct occ_limit *l)
{
	char text[128];
	const enum style st = l->limits ? STYLE_BOLD : STYLE_NORMAL;
	canvas_text(c, row, 2, st, l->name ? l->name : "");
	amount(l->id, l->needs, text, sizeof text);
	if (k->needs) /* narrow panels have no room for it, nor for what the SM has */
		canvas_right(c, row, k->needs, STYLE_NORMAL, "%s", text);
	amount(l->id, l->has, text, sizeof text);
	if (k->has)
		canvas_right(c, row, k->has, STYLE_NORMAL, "%s", text);
	if (l->blocks == OCC_UNLIMITED)
		canvas_right(c, row, k->blocks, STYLE_DIM, k->wide ? "no limit" : "–");
	else
		canvas_right(c, row, k->blocks, st, "%u", l->blocks);
	if (l->limits)
		canvas_text(c, row, k->blocks + 2, STYLE_KNOB, "◀ limits");
	nice_times(l->arithmetic, text, sizeof text);
	if (why_fits(c, k, text))
		canvas_text(c, row, k->why, STYLE_DIM, text);
}

static int limits(const struct session *s, struct canvas *c, int row, int last)
{
	const struct limit_columns k = limit_columns_of(c->cols);
	if (row >= last)
		return row;
	canvas_text(c, row, 2, STYLE_DIM, "limit");
	if (k.needs)
		canvas_right(c, row, k.needs, STYLE_DIM, k.wide ? "needs per block" : "needs");
	if (k.has)
		canvas_right(c, row, k.has, STYLE_DIM, "SM has");
	canvas_right(c, row, k.blocks, STYLE_DIM, "blocks");
	row++;
	for (unsigned i = 0; i < OCC_LIMIT_COUNT && row < last; i++) {
		const struct occ_limit *l = &s->occ.limits[i];
		if (l->blocks != OCC_UNLIMITED || l->id == OCC_SHARED)
			limit_row(c, row++, &k, l);
	}
	/* where the table has no room for the arithmetic, the limiting lines get theirs below */
	for (unsigned i = 0; i < OCC_LIMIT_COUNT && row < last; i++) {
		const struct occ_limit *l = &s->occ.limits[i];
		char why[128];
		nice_times(l->arithmetic, why, sizeof why);
		if (!l->limits || !why[0] || why_fits(c, &k, why))
			continue;
		int col = canvas_printf(c, row, 2, STYLE_DIM, "%s: ", l->name ? l->name : "");
		/* what it begins with, the need of a block, stands in the table, too */
		const char *cut = utf8_columns(why) > c->cols - 1 - col ? strstr(why, "; ") : NULL;
		canvas_text_n(c, row, col, c->cols - 1 - col, STYLE_DIM, cut ? cut + 2 : why);
		row++;
	}
	return row;
}

/* How the driver divides the memory that shared memory and L1 have in common. */
static int carveout(const struct session *s, struct canvas *c, int row, int last)
{
	const struct occ_result *o = &s->occ;
	char shared[32], l1[32];
	if (row >= last || !o->carveout_bytes)
		return row;
	fmt_bytes(shared, sizeof shared, o->carveout_bytes);
	fmt_bytes(l1, sizeof l1, fmax(0, s->sel.gpu->l1_bytes - o->carveout_bytes));
	int col = canvas_text(c, row, 2, STYLE_DIM, "shared memory carve-out ");
	col = canvas_text(c, row, col, STYLE_NORMAL, shared);
	if (o->carveout_blocks != OCC_UNLIMITED)
		col = canvas_printf(c, row, col, STYLE_DIM, " · %u block%s", o->carveout_blocks,
		                    o->carveout_blocks == 1 ? "" : "s");
	canvas_printf(c, row, col, STYLE_DIM, " · L1 %s", l1);
	return row + 1;
}

static int book(const struct session *s, struct canvas *c, int row, int last)
{
	const struct occ_result *o = &s->occ;
	if (row >= last)
		return row;
	const bool same_blocks = o->book_blocks == o->blocks_per_sm;
	const bool same = same_blocks && fabs(o->book_pct - o->pct) < 0.05;
	int col = canvas_text(c, row, 2, STYLE_DIM, "book ");
	col =
		canvas_printf(c, row, col, STYLE_NORMAL, "%u blocks, %.1f %%", o->book_blocks, o->book_pct);
	col = canvas_printf(c, row, col, STYLE_DIM, " %s    hardware ",
	                    origin_mark(ORIGIN_BOOK, c->ascii));
	col = canvas_printf(c, row, col, STYLE_NORMAL, "%u blocks, %.1f %%", o->blocks_per_sm, o->pct);
	canvas_text(c, row, col + 4, same ? STYLE_DIM : STYLE_WATCH,
	            same          ? "same"
	            : same_blocks ? "! same blocks"
	                          : "! differ");
	row++;
	if (o->book_note[0] && row < last) {
		char note[200];
		nice_times(o->book_note, note, sizeof note);
		row +=
			canvas_wrap(c, row, 2, last - row < 2 ? last - row : 2, c->cols - 4, STYLE_DIM, note);
	}
	return row;
}

#define BARS_MOST 20 /* rows of the bars: higher ones are no easier to compare */

/* The histogram over block sizes: which of them, how wide, where. */
struct bars {
	int n, step, width, left; /* bars, sweep entries per bar, columns per bar, first column */
	int top, rows;            /* of the columns; the sizes stand in the row @head above */
	int head;
	bool figures; /* the percentages have a row of their own */
};

/* All 32 sizes where their figures fit, else every second, else bars without figures. False: there
 * is no room for any. */
static bool bars_of(struct bars *b, const struct canvas *c, int row, int rows)
{
	*b = (struct bars){ .n = 32, .step = 1, .left = 12, .head = row };
	b->width = (c->cols - b->left) / b->n;
	if (b->width < 4) {
		b->n = 17;
		b->step = 2;
		b->width = (c->cols - b->left) / b->n;
	}
	if (b->width < 4) { /* figures do not fit: an axis instead */
		b->left = 14;
		b->width = (c->cols - b->left) / b->n;
	}
	if (b->width > 8)
		b->width = 8;
	b->figures = b->width >= 4 && rows >= 4;
	b->rows = rows - 2 - b->figures < BARS_MOST ? rows - 2 - b->figures : BARS_MOST;
	b->top = row + 1 + b->figures;
	return rows >= 3 && b->width >= 1;
}

/* Sweep entry of bar @i: 32 first, then every 64 (or every 32 when there is room). */
static unsigned entry(const struct bars *b, int i)
{
	return b->step == 1 ? (unsigned)i : i == 0 ? 0 : (unsigned)(2 * i - 1);
}

/* One block size: its name every few bars, its percentage, its column or a cross. */
static void bar_draw(const struct session *s, struct canvas *c, const struct bars *b, int i,
                     bool here)
{
	const unsigned e = entry(b, i), block = s->sweep[e].block;
	const int col = b->left + i * b->width, width = b->width > 2 ? b->width - 1 : b->width;
	const int right = col + width + (b->width == 1), every = (4 + b->width - 1) / b->width;
	const double pct = s->sweep[e].pct;
	const bool runs = s->sweep[e].blocks_per_sm > 0;
	if (i % every == 0 && block == 1024)
		canvas_right(c, b->head, right, here ? STYLE_KNOB_ON : STYLE_DIM, "1k");
	else if (i % every == 0)
		canvas_right(c, b->head, right, here ? STYLE_KNOB_ON : STYLE_DIM, "%u", block);
	if (b->figures && runs)
		canvas_right(c, b->head + 1, right, here ? STYLE_BOLD : STYLE_NORMAL, "%.0f",
		             floor(pct + 0.5));
	else if (b->figures)
		canvas_right(c, b->head + 1, right, STYLE_DIM, "–");
	canvas_hit(c, b->head, col, b->top + b->rows + 1 - b->head, b->width, HIT_BLOCK, block);
	for (int k = 0; k < width; k++) {
		if (runs)
			canvas_column(c, b->top, col + k, b->rows, pct / 100, here ? STYLE_BAR_ON : STYLE_BAR);
		else
			canvas_cell(c, b->top + b->rows - 1, col + k, STYLE_DIM, 0xd7);
	}
}

/* "▲ now 256" under the bar of the present block size, or the next smaller one. */
static void bar_mark(const struct session *s, struct canvas *c, const struct bars *b)
{
	int now = -1;
	for (int i = 0; i < b->n; i++)
		if (s->sweep[entry(b, i)].block <= s->occ_in.block_threads)
			now = b->left + i * b->width;
	if (now < 0)
		return;
	const char *word = "▲ now";
	const int at = now + (b->width > 2 ? (b->width - 1) / 2 : 0), row = b->top + b->rows;
	if (at + utf8_columns(word) + 5 > c->cols)
		canvas_right(c, row, at + 1, STYLE_KNOB, "now %u ▲", s->occ_in.block_threads);
	else
		canvas_printf(c, row, at, STYLE_KNOB, "%s %u", word, s->occ_in.block_threads);
}

/* @mark: the present block size is one that could run. */
static void sweep(const struct session *s, struct canvas *c, int row, int rows, bool mark)
{
	struct bars b;
	if (!s->sweep[31].block || !bars_of(&b, c, row, rows))
		return;
	canvas_text(c, row, 2, STYLE_DIM, "block size");
	if (b.figures)
		canvas_text(c, row + 1, 2, STYLE_DIM, "percent");
	else if (b.rows > 1)
		canvas_right(c, b.top, b.left - 1, STYLE_DIM, "100 %%");
	for (int i = 0; i < b.n; i++)
		bar_draw(s, c, &b, i, mark && s->sweep[entry(&b, i)].block == s->occ_in.block_threads);
	if (mark)
		bar_mark(s, c, &b);
}

static void foot(const struct session *s, struct canvas *c, int row, const struct metric_set *m)
{
	char sm[16];
	int col = 2;
	double waves = metric_get(m, M_LAUNCH_WAVES);
	if (isfinite(waves)) {
		double last = waves - floor(waves);
		char text[32];
		metric_format(m, M_LAUNCH_WAVES, text, sizeof text);
		if (waves < 0.01) {
			col = canvas_text(c, row, col, STYLE_NORMAL, "waves < 0.01");
			col = canvas_text(c, row, col, STYLE_WATCH, " !");
		} else {
			col = canvas_printf(c, row, col, STYLE_NORMAL, "waves %s", text);
			col = canvas_printf(c, row, col, STYLE_DIM, "  last wave %.0f %% full",
			                    last > 0 ? 100 * last : 100.0);
		}
		col += 3;
	}
	enum style st = s->spill_bytes ? STYLE_WATCH : STYLE_DIM;
	col = canvas_printf(c, row, col, STYLE_NORMAL, "registers %u", s->occ_in.regs_per_thread);
	col = canvas_printf(c, row, col, st, " · spills %u B%s", s->spill_bytes,
	                    s->spill_bytes ? " !" : "");
	gpu_sm_name(s->sel.gpu, sm, sizeof sm);
	if (col + 13 + (int)strlen(sm) < c->cols)
		canvas_printf(c, row, col, STYLE_DIM, " (compiler, %s)", sm);
}

/* Warps that were there on average: measured by a GPU, modelled otherwise; or why neither. */
static int achieved(const struct session *s, struct canvas *c, int row, int last)
{
	const struct metric_set *now = panel_metrics(s);
	if (!now || row >= last)
		return row;
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "achieved    ");
	col = canvas_metric(c, row, col, 7, now, M_OCC_ACHIEVED) + 2;
	canvas_text_n(c, row, col, c->cols - 1 - col, STYLE_DIM, panel_reason(now, M_OCC_ACHIEVED));
	return row + 1;
}

static void refused(const struct session *s, struct canvas *c)
{
	int row = c->rows > 4 ? 1 : 0;
	canvas_text_n(c, row++, 2, c->cols - 3, STYLE_ERROR, "✗ This launch is refused");
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_NORMAL, s->plan_err.msg);
	row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_KNOB, s->plan_err.remedy);
	if (s->usage_known)
		sweep(s, c, row + 1, c->rows - row - 1, false);
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!s->plan_ok) {
		if (s->plan_err.code == ERR_NONE)
			canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM, SHOWS);
		else
			refused(s, c);
		return;
	}
	if (!s->usage_known || !s->occ_ok) {
		const char *why = s->state == RUN_FAILED ? s->run_err.msg
		                  : s->state == RUN_RUNNING
		                      ? "compiling: registers and shared memory come from the compiler …"
		                      : "registers per thread are not known yet: press r to compile";
		int used = canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4,
		                       s->state == RUN_FAILED ? STYLE_ERROR : STYLE_NORMAL, why);
		if (s->state == RUN_FAILED)
			used += canvas_wrap(c, 1 + used, 2, c->rows - 1 - used, c->cols - 4, STYLE_KNOB,
			                    s->run_err.remedy);
		canvas_wrap(c, used + 2, 2, c->rows - used - 2, c->cols - 4, STYLE_DIM, SHOWS);
		return;
	}
	struct metric_set m;
	metrics_clear(&m, NULL);
	occ_metrics(&m, s->sel.gpu, &s->occ, grid_blocks(&s->plan));

	bool roomy = c->rows >= 18;
	int last = c->rows >= 8 ? c->rows - 1 : c->rows;
	int row = headline(s, c, c->rows >= 16 ? 1 : 0, &m);
	if (row < last)
		canvas_bar(c, row++, 2, c->cols - 4, s->occ.pct / 100, grade(s->occ.pct));
	if (c->rows >= 22)
		row = achieved(s, c, row, last);
	if (!s->occ.launchable && row < last)
		row += canvas_wrap(c, row, 2, last - row, c->cols - 4, STYLE_ERROR, s->occ.why_not);
	row = limits(s, c, row + roomy, last);
	if (c->rows >= 20)
		row = carveout(s, c, row, last);
	row = book(s, c, row + (c->rows >= 22), last);
	sweep(s, c, row + roomy, last - row - roomy, true);
	if (last < c->rows)
		foot(s, c, last, &m);
}

const struct view_desc view_occupancy = {
	.name = "occupancy",
	.title = "Occupancy",
	.brief = "Occ",
	.order = 1,
	.about = "warps that fit on an SM, the limiting resource, every block size",
	.draw = draw,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_PROFILE] = -1 },
};

/*
 * Ladder: the variants of one family in order, each with its time, its rate against the GPU's
 * peak, the step from the one before, and what moved.
 *
 * Draws the session's ladder; rungs that have not run yet are run behind the screen while this
 * panel has the focus. Until then the runs at hand are its rungs. PMPP ch. 5, 6 and 10 climb one
 * each; see model/ladder.h for how a step is explained.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME "ladder"
#define SHOWS                                                                                  \
	"Here: every variant of this kernel with the same parameters, its rate, and what made it " \
	"faster than the one before."

/* The session's ladder, or one of its two runs; @own says whether to free it. */
static struct ladder *ladder_of(const struct session *s, bool *own)
{
	*own = !s->ladder || !ladder_fits(s->ladder, &s->sel);
	if (!*own)
		return s->ladder;
	struct ladder *l = ladder_new(&s->sel);
	if (s->before)
		ladder_put(l, s->before);
	if (s->now)
		ladder_put(l, s->now);
	return l;
}

static unsigned rungs_of(const struct kernel_desc *k)
{
	unsigned n = 0;
	for (unsigned v = 0; v < k->n_variants && n < LADDER_MAX; v++)
		n += !k->variants[v].wrong;
	return n;
}

static unsigned rows(const struct session *s)
{
	return s->sel.kernel ? rungs_of(s->sel.kernel) : 0;
}

/* The rung of the chosen variant. */
static unsigned start(const struct session *s)
{
	unsigned at = 0;
	for (unsigned v = 0; s->sel.kernel && v < s->sel.variant; v++)
		at += !s->sel.kernel->variants[v].wrong;
	return at < rows(s) ? at : 0;
}

/* --- columns --- */

struct columns {
	int name, time, reference, rate, roof, step; /* right edges, but for name: its left one */
	int bar, bar_cols;                           /* 0 columns = no room for bars */
	int moved;                                   /* 0 = no room beside the bars */
};

static bool has_reference_runs(const struct ladder *l)
{
	return l->reference_machine[0] != '\0';
}

static struct columns columns_of(const struct ladder *l, int cols)
{
	struct columns k = { .name = 3 };
	int width = 7;
	for (unsigned i = 0; i < l->n; i++) {
		const int w = text_columns(l->rungs[i].variant->name);
		width = w > width ? w : width;
	}
	width = width < 16 ? width : 16;
	k.time = k.name + width + 11;
	/* what was recorded elsewhere has its column only where there is something */
	k.reference = has_reference_runs(l) ? k.time + 3 + 9 : 0;
	k.rate = (k.reference ? k.reference : k.time + 3) + 9;
	k.roof = k.rate + 8;
	k.step = k.roof + 8;
	k.bar = k.step + 2;
	const int left = cols - k.bar - 1;
	const bool wide = left >= 20 + 34;
	k.bar_cols = left < 6 ? 0 : wide ? left - 34 : left;
	if (wide)
		k.moved = k.bar + k.bar_cols + 2;
	return k;
}

/* "A100" of "NVIDIA A100": the column is narrow. */
static const char *last_word(const char *name)
{
	const char *blank = strrchr(name, ' ');
	return blank ? blank + 1 : name;
}

static void recorded(struct canvas *c, int row, const struct columns *k, double ns)
{
	char text[64];
	if (k->reference && ns > 0)
		canvas_right(c, row, k->reference, STYLE_FAINT, "%s", fmt_ns(text, sizeof text, ns));
}

static void heads(const struct ladder *l, const struct columns *k, struct canvas *c)
{
	canvas_text(c, 1, k->name, STYLE_DIM, "variant");
	canvas_right(c, 1, k->time, STYLE_DIM, "time");
	if (k->reference)
		canvas_right(c, 1, k->reference, STYLE_FAINT, "%s ●", last_word(l->reference_machine));
	canvas_right(c, 1, k->rate, STYLE_DIM, "%s", l->in_bytes ? "GB/s" : "GFLOPS");
	canvas_right(c, 1, k->roof, STYLE_DIM, "of peak");
	canvas_right(c, 1, k->step, STYLE_DIM, "× prev");
	if (k->moved)
		canvas_text(c, 1, k->moved, STYLE_DIM, "what moved");
}

/* "~=": a model over counts of every block; "~≈": over a sample of them; "●": measured. */
static int marks(struct canvas *c, int row, int col, const struct run_record *r)
{
	const enum origin time = r->metrics.v[M_TIME_KERNEL].origin;
	const enum origin basis = r->metrics.v[M_INST_WARP].origin;
	col = canvas_text(c, row, col, STYLE_DIM, origin_mark(time, false));
	if (time == ORIGIN_MODELLED && (basis == ORIGIN_COUNTED || basis == ORIGIN_SAMPLED))
		col = canvas_text(c, row, col, STYLE_DIM, origin_mark(basis, false));
	return col;
}

/* A step that the model cannot tell from none has no colour. */
static enum style step_style(const struct ladder_rung *r)
{
	const double times = r->apart ? r->speedup_previous : 1;
	return times > 1.02 ? STYLE_GOOD : times < 0.98 ? STYLE_BAD : STYLE_DIM;
}

static void figures(struct canvas *c, int row, const struct columns *k, const struct ladder_rung *r,
                    double best, bool here)
{
	char text[64];
	fmt_ns(text, sizeof text, r->time_ns);
	canvas_right(c, row, k->time, STYLE_NORMAL, "%s", text);
	marks(c, row, k->time + 1, r->record);
	recorded(c, row, k, r->reference_ns);
	canvas_right(c, row, k->rate, STYLE_BOLD, "%s",
	             r->rate < 1000 ? fmt_num(text, sizeof text, r->rate, 3)
	                            : fmt_count(text, sizeof text, r->rate));
	canvas_right(c, row, k->roof, STYLE_NORMAL, r->pct_of_roof < 0.1 ? "%.2f %%" : "%.1f %%",
	             r->pct_of_roof);
	if (isfinite(r->speedup_previous)) {
		canvas_right(c, row, k->step, step_style(r), "× %s",
		             fmt_num(text, sizeof text, r->speedup_previous, 3));
		canvas_text(c, row, k->step, STYLE_DIM, r->apart ? "" : "?");
	}
	if (k->bar_cols && best > 0 && r->rate > 0 && isfinite(r->rate))
		canvas_bar(c, row, k->bar, k->bar_cols, r->rate / best, here ? STYLE_KNOB : STYLE_BAR);
	if (k->moved)
		canvas_text_n(c, row, k->moved, c->cols - k->moved - 1, STYLE_NORMAL, r->moved);
}

/* A rung that was compared with the library; NULL = there is none. */
static const struct ladder_rung *compared(const struct ladder *l)
{
	for (unsigned i = 0; i < l->n && l->library_ns > 0; i++)
		if (l->rungs[i].record && l->rungs[i].pct_of_library > 0)
			return &l->rungs[i];
	return NULL;
}

/* The library's rate for the same work; NAN = there is none. */
static double library_rate(const struct ladder *l)
{
	const struct ladder_rung *r = compared(l);
	return r ? 100 * r->rate / r->pct_of_library : NAN;
}

/* The line to reach, under the rungs. */
static void library(struct canvas *c, int row, const struct columns *k, const struct ladder *l,
                    double best)
{
	char text[64];
	const double rate = library_rate(l);
	const struct ladder_rung *r = compared(l);
	canvas_text_n(c, row, k->name, 16, STYLE_FAINT, l->library_name);
	canvas_right(c, row, k->time, STYLE_FAINT, "%s", fmt_ns(text, sizeof text, l->library_ns));
	canvas_text(c, row, k->time + 1, STYLE_DIM, origin_mark(ORIGIN_MEASURED, false));
	recorded(c, row, k, l->reference_library_ns);
	canvas_right(c, row, k->rate, STYLE_FAINT, "%s", fmt_count(text, sizeof text, rate));
	canvas_right(c, row, k->roof, STYLE_FAINT, "%.1f %%",
	             r ? 100 * r->pct_of_roof / r->pct_of_library : NAN);
	if (k->bar_cols && best > 0)
		canvas_bar(c, row, k->bar, k->bar_cols, rate / best, STYLE_FAINT);
}

/* Without a library here: its time as recorded on another machine, which no bar can stand for. */
static void recorded_library(struct canvas *c, int row, const struct columns *k,
                             const struct ladder *l)
{
	canvas_text_n(c, row, k->name, 16, STYLE_FAINT, l->reference_library_name);
	recorded(c, row, k, l->reference_library_ns);
}

static void rung(struct canvas *c, int row, const struct columns *k, const struct ladder *l,
                 unsigned i, double best, bool here)
{
	const struct ladder_rung *r = &l->rungs[i];
	if (here)
		canvas_text(c, row, 1, STYLE_KNOB, "▸");
	canvas_verbatim(c, row, k->name, 16, here ? STYLE_BOLD : STYLE_NORMAL, r->variant->name);
	if (r->record && r->time_ns > 0)
		figures(c, row, k, r, best, here);
	else if (r->record)
		canvas_text_n(c, row, k->time - 3, c->cols - k->time, STYLE_WATCH,
		              "n/a: its time is not known");
	else if (r->why[0])
		canvas_text_n(c, row, k->time - 3, c->cols - k->time, STYLE_DIM, r->why);
	else
		canvas_text_n(c, row, k->time - 3, c->cols - k->time, STYLE_DIM,
		              (int)i == l->running ? "running …" : "not run yet");
}

/* --- the rest --- */

static const char *idea_of(const struct variant_desc *v)
{
	return v->idea ? v->idea : v->title;
}

#define PICTURE 16 /* rows from which the runs are shown under their roofs, too */
#define IDEAS 22   /* column of what a rung changes */

static int idea_rows(const struct variant_desc *v, int cols)
{
	return text_rows(idea_of(v), cols - IDEAS - 2);
}

/* The selected rung in words: its idea, and what moved where there was no column for it. Returns
 * the row after. */
static int detail(struct canvas *c, int row, const struct ladder *l, unsigned i)
{
	const struct ladder_rung *r = &l->rungs[i];
	if (r->book[0]) {
		const int col =
			canvas_printf(c, row, 2, STYLE_WATCH, "source %s ", origin_mark(ORIGIN_BOOK, false));
		canvas_text_n(c, row++, col, c->cols - col - 1, STYLE_DIM, r->book);
	}
	const struct ladder_rung *was = NULL;
	for (unsigned k = 0; k < i; k++)
		if (l->rungs[k].record)
			was = &l->rungs[k];
	row += canvas_wrap(c, row, 2, c->rows - row < 2 ? c->rows - row : 2, c->cols - 4, STYLE_DIM,
	                   idea_of(r->variant));
	if (!r->record || !was)
		return row;
	char times[32];
	int col = canvas_printf(c, row, 2, STYLE_NORMAL, "since %s: ", was->variant->name);
	col = canvas_printf(c, row, col, step_style(r), r->apart ? "× %s" : "× %s, too close to tell",
	                    fmt_num(times, sizeof times, r->speedup_previous, 3));
	if (row + 1 < c->rows && col + 3 + utf8_columns("moved: ") + utf8_columns(r->moved) >= c->cols)
		col = -1, row++; /* a row of its own */
	col = canvas_printf(c, row, col + 3, STYLE_NORMAL, "moved: %s", r->moved);
	if (isfinite(r->pct_of_library))
		canvas_printf(c, row, col, STYLE_NORMAL, "   %.0f %% of %s", r->pct_of_library,
		              l->library_name);
	return row + 1;
}

/* Every rung in words, where there is room: what it changes and why, what moved. Returns the row
 * after. */
static int ideas(struct canvas *c, int row, int last, const struct ladder *l)
{
	int need = 2;
	for (unsigned i = 0; i < l->n; i++)
		need += idea_rows(l->rungs[i].variant, c->cols) + 1;
	if (row + need > last)
		return row;
	canvas_text_n(c, row, 2, c->cols - 3, STYLE_TITLE, "What every rung changes");
	row += 2;
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		canvas_verbatim(c, row, 2, IDEAS - 4, STYLE_BOLD, r->variant->name);
		row += canvas_wrap(c, row, IDEAS, last - row, c->cols - IDEAS - 2, STYLE_NORMAL,
		                   idea_of(r->variant));
		if (r->record && r->moved[0] && isfinite(r->speedup_previous)) {
			const int col = canvas_text(c, row, IDEAS, STYLE_DIM, "moved: ");
			canvas_text_n(c, row, col, c->cols - col - 1, STYLE_DIM, r->moved);
		}
		row++;
	}
	return row;
}

/* What the marks mean, or how the missing rungs come about. */
static void footnote(const struct session *s, const struct ladder *l, struct canvas *c)
{
	const int row = c->rows - 1;
	const bool focused = panel_focused(s, NAME);
	bool sampled = false, close = false;
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		sampled |= r->record && r->record->metrics.v[M_INST_WARP].origin == ORIGIN_SAMPLED;
		close |= isfinite(r->speedup_previous) && !r->apart;
	}
	const char *text = "";
	char pace[96], now[160];
	panel_pace(&l->pace, false, c->cols - 48, pace, sizeof pace);
	snprintf(now, sizeof now, "the other rungs run now (%s); c cancels", pace);
	if (ladder_missing(l) >= 0)
		text = l->running >= 0 ? pace[0] ? now : "the other rungs run now; c cancels"
		       : s->state == RUN_RUNNING && focused && !s->opened
		           ? "the missing rungs follow this run; c cancels"
		       : s->opened || focused ? "r runs the rungs that are missing"
		                              : "the missing rungs run when this panel has the focus";
	else if (sampled)
		text = "~= modelled from every block, ~≈ from a sample of the blocks";
	int col = canvas_text_n(c, row, 2, c->cols - 3, STYLE_DIM, text);
	static const char closeness[] = "? too close for the model to tell";
	col += text[0] ? 3 : 0;
	if (close && ladder_missing(l) < 0 && col + utf8_columns(closeness) < c->cols)
		canvas_text(c, row, col, STYLE_DIM, closeness);
}

/* The bar keeps its own colour: reversed, it would read as its rest. */
static void select_row(struct canvas *c, int row, const struct columns *k)
{
	const int bar = k->bar_cols > 0 ? k->bar : c->cols - 1;
	canvas_style(c, row, 0, bar - 1, STYLE_SELECTED);
	if (k->moved > bar)
		canvas_style(c, row, k->moved, c->cols - 1 - k->moved, STYLE_SELECTED);
}

static void draw(const struct session *s, struct canvas *c)
{
	if (!s->sel.kernel) {
		panel_waiting(s, c, SHOWS);
		return;
	}
	bool own;
	struct ladder *l = ladder_of(s, &own);
	const struct columns k = columns_of(l, c->cols);
	const bool focused = panel_focused(s, NAME);
	const unsigned selected = focused && s->cursor.row < l->n ? s->cursor.row
	                          : focused                       ? l->n - 1
	                                                          : start(s);
	/* a gap, the detail, the footnote */
	const int tail = c->rows < 8 ? 1 : 5 + (l->n && l->rungs[selected].book[0] != '\0');
	const bool elsewhere = !(l->library_ns > 0) && l->reference_library_ns > 0;
	const int room = c->rows - 2 - tail - (l->library_ns > 0 || elsewhere);
	double best = 0;
	for (unsigned i = 0; i < l->n; i++)
		if (isfinite(l->rungs[i].rate))
			best = fmax(best, l->rungs[i].rate);
	const bool line = isfinite(library_rate(l));
	if (line)
		best = fmax(best, library_rate(l));
	heads(l, &k, c);
	const unsigned top = panel_scroll(l->n, selected, room);
	int row = 2;
	for (unsigned i = top; i < l->n && row < 2 + room; i++, row++) {
		rung(c, row, &k, l, i, best,
		     &s->sel.kernel->variants[s->sel.variant] == l->rungs[i].variant);
		canvas_hit(c, row, 0, 1, c->cols, HIT_ROW, i);
		if (focused && i == selected)
			select_row(c, row, &k);
	}
	if (line)
		library(c, row++, &k, l, best);
	if (elsewhere)
		recorded_library(c, row++, &k, l);
	if (l->n)
		panel_scroll_marks(c, 2, room, top, l->n);
	if (l->n && tail > 1) {
		row = detail(c, row + 1 < c->rows - tail + 1 ? row + 1 : c->rows - tail + 1, l, selected);
		row = ideas(c, row + 1, c->rows - 2, l) + 1;
		if (c->rows - 2 - row >= PICTURE)
			panel_roofline(s, c, row, c->rows - 2 - row);
	}
	footnote(s, l, c);
	if (own)
		ladder_free(l);
}

const struct view_desc view_ladder = {
	.name = NAME,
	.title = "Ladder",
	.brief = "Lad",
	.order = 6,
	.about = "every variant of the kernel in order: rate, share of peak, and what moved",
	.draw = draw,
	.rows = rows,
	.start = start,
	.needs = NEEDS_LADDER,
	.place = VIEW_GRID,
	.rank = { [LAYOUT_COMPARE] = 4 },
	.scope = VIEW_OF_KERNEL,
};

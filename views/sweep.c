/*
 * Map: the kernel's rate over two of its parameters as a heat map that is walked with the arrows.
 *
 * Draws the session's map; points that have not run are run behind the screen while this panel has
 * the focus, those around the cursor first. Enter takes the launch under the cursor to every panel.
 * Until the map is there, the runs at hand are its points.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/sweep_map.h"
#include "model/time_range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "sweep"
#define SHOWS                                                                                   \
	"Here: this variant over two of its parameters, every pair of values a launch of its own, " \
	"and which of them is the quickest."

#define LABEL_COLS 9
#define CELL_COLS 7 /* at least, a blank or a mark first */
#define CELL_MOST 14

/* The session's map, or one of its two runs; @own says whether to free it. */
static struct sweep_map *map_of(const struct session *s, bool *own)
{
	struct sweep_map *m = s->map;
	*own = !m || !sweep_map_fits(m, &s->sel) || (m->pairs && m->pair != s->map_pair % m->pairs);
	if (!*own)
		return m;
	m = sweep_map_new(&s->sel, s->map_pair);
	if (s->before)
		sweep_map_put(m, s->before);
	if (s->now)
		sweep_map_put(m, s->now);
	return m;
}

static void give_back(struct sweep_map *m, bool own)
{
	if (own)
		free(m);
}

static unsigned rows(const struct session *s)
{
	bool own;
	if (!s->sel.kernel)
		return 0;
	struct sweep_map *m = map_of(s, &own);
	const unsigned n = sweep_map_points(m);
	give_back(m, own);
	return n;
}

static unsigned columns(const struct session *s)
{
	bool own;
	if (!s->sel.kernel)
		return 0;
	struct sweep_map *m = map_of(s, &own);
	const unsigned n = m->n[SWEEP_ACROSS];
	give_back(m, own);
	return n;
}

static unsigned pairs(const struct session *s)
{
	bool own;
	if (!s->sel.kernel)
		return 0;
	struct sweep_map *m = map_of(s, &own);
	const unsigned n = m->pairs;
	give_back(m, own);
	return n;
}

/* The point of the present selection. */
static unsigned start(const struct session *s)
{
	bool own;
	if (!s->sel.kernel)
		return 0;
	struct sweep_map *m = map_of(s, &own);
	const int at = sweep_map_find(m, &s->sel);
	give_back(m, own);
	return at < 0 ? 0 : (unsigned)at;
}

static bool choose(const struct session *s, struct selection *out)
{
	bool own;
	if (!s->sel.kernel)
		return false;
	struct sweep_map *m = map_of(s, &own);
	const bool any = s->cursor.row < sweep_map_points(m);
	if (any)
		*out = sweep_map_selection(m, s->cursor.row);
	give_back(m, own);
	return any;
}

/* --- cells --- */

/* At most five characters: "9.87", "98.7", "9 876", "98.8k", "988k", "9.9M". */
static void short_number(double v, char *out, size_t n)
{
	if (v < 10)
		snprintf(out, n, "%.2f", v);
	else if (v < 100)
		snprintf(out, n, "%.1f", v);
	else if (v < 9999.5)
		fmt_count(out, n, round(v));
	else if (v < 99950)
		snprintf(out, n, "%.1fk", v / 1e3);
	else if (v < 999500)
		snprintf(out, n, "%.0fk", v / 1e3);
	else
		snprintf(out, n, "%.3gM", v / 1e6);
}

/* From which share of the best on a level begins, the lowest first. */
static const double levels[] = { 0, 0.35, 0.6, 0.8, 0.95 };

static enum style level_style(double share)
{
	int i = (int)ARRAY_LEN(levels) - 1;
	while (i > 0 && share < levels[i])
		i--;
	return (enum style)(STYLE_MAP1 + i);
}

/* What a map is drawn with. */
struct picture {
	const struct session *s;
	const struct sweep_map *m;
	int best, here; /* points; here: the present selection */
	unsigned cursor;
	bool focused;
	int first_col, n_cols; /* the window of it that there is room for */
	int first_row, n_rows;
	int high, wide; /* of a cell */
};

static void cell(const struct picture *p, struct canvas *c, int row, int col, unsigned i)
{
	const struct sweep_point *x = &p->m->point[i];
	char text[32] = "·";
	enum style style = STYLE_FAINT;
	if (x->state == SWEEP_RAN && !isnan(x->rate)) {
		short_number(x->rate, text, sizeof text);
		style = level_style(p->best < 0 ? 0 : x->rate / p->m->point[p->best].rate);
		if (sweep_point_too_short(x))
			style = STYLE_WATCH;
	} else if (x->state == SWEEP_FAILED) {
		snprintf(text, sizeof text, "✗");
		style = STYLE_BAD;
	} else if (x->state == SWEEP_REFUSED) {
		snprintf(text, sizeof text, "–");
	} else if ((int)i == p->m->running) {
		snprintf(text, sizeof text, "…");
		style = STYLE_NORMAL;
	}
	if (p->focused && i == p->cursor)
		style = STYLE_SELECTED;
	for (int r = 0; r < p->high; r++)
		for (int k = 0; k < p->wide - (p->high > 1); k++)
			canvas_cell(c, row + r, col + k, style, ' ');
	const char *mark = (int)i == p->best && sweep_map_ran(p->m) > 1 ? "★"
	                   : (int)i == p->here                          ? "•"
	                                                                : NULL;
	if (mark)
		canvas_text(c, row + (p->high - 1) / 2, col + (p->wide > 9), style, mark);
	const int at = col + p->wide - 1 - text_columns(text) - (p->wide > 9);
	canvas_verbatim(c, row + (p->high - 1) / 2, at, p->wide, style, text);
	canvas_hit(c, row, col, p->high, p->wide, HIT_ROW, i);
}

static void value_text(const struct picture *p, int axis, unsigned i, char *out, size_t n)
{
	kernel_param_format(p->m->sel.kernel, p->m->param[axis], p->m->value[axis][i], out, n);
}

/* The window of @total around @at that @room holds. */
static int window(unsigned total, unsigned at, int room, int *first)
{
	const int n = (int)total < room ? (int)total : room > 0 ? room : 0;
	*first = (int)panel_scroll(total, at, n);
	return n;
}

static void head(const struct picture *p, struct canvas *c, int row)
{
	const struct sweep_map *m = p->m;
	const struct kernel_desc *k = m->sel.kernel;
	const unsigned all = sweep_map_points(m), ran = sweep_map_ran(m);
	unsigned refused = 0, failed = 0;
	char text[96];
	for (unsigned i = 0; i < all; i++) {
		refused += m->point[i].state == SWEEP_REFUSED;
		failed += m->point[i].state == SWEEP_FAILED;
	}
	int col = canvas_verbatim(c, row, 2, 20, STYLE_KNOB, k->params[m->param[SWEEP_ACROSS]].name);
	col = canvas_text(c, row, col, STYLE_DIM, " →");
	if (m->n[SWEEP_DOWN] > 1) {
		col =
			canvas_verbatim(c, row, col + 2, 20, STYLE_KNOB, k->params[m->param[SWEEP_DOWN]].name);
		col = canvas_text(c, row, col, STYLE_DIM, " ↓");
	}
	if (ran)
		col = canvas_text(c, row, col + 3, STYLE_BOLD, sweep_map_unit(m));
	col = canvas_printf(c, row, col + 3, STYLE_DIM, "%u of %u ran", ran, all - refused);
	if (refused)
		col = canvas_printf(c, row, col, STYLE_DIM, ", %u not possible", refused);
	if (failed)
		col = canvas_printf(c, row, col, STYLE_BAD, ", %u failed", failed);
	panel_pace(&m->pace, false, c->cols - col - 3, text, sizeof text);
	if (m->running >= 0 && text[0])
		col = canvas_printf(c, row, col, STYLE_KNOB, ", %s", text);
	if (m->pairs < 2)
		return;
	snprintf(text, sizeof text, "< > other parameters (%u of %u)", m->pair + 1, m->pairs);
	if (col + 3 + utf8_columns(text) < c->cols)
		canvas_right(c, row, c->cols - 1, STYLE_DIM, "< > other parameters (%u of %u)", m->pair + 1,
		             m->pairs);
}

static void grid(struct picture *p, struct canvas *c, int row)
{
	const struct sweep_map *m = p->m;
	const unsigned across = m->n[SWEEP_ACROSS];
	char text[48];
	for (int k = 0; k < p->n_cols; k++) {
		value_text(p, SWEEP_ACROSS, (unsigned)(p->first_col + k), text, sizeof text);
		const int right = LABEL_COLS + (k + 1) * p->wide - 1 - (p->wide > 9);
		canvas_verbatim(c, row, right - text_columns(text), p->wide, STYLE_KNOB, text);
	}
	for (int r = 0; r < p->n_rows; r++) {
		const unsigned down = (unsigned)(p->first_row + r);
		const int at = row + 1 + r * p->high;
		if (m->n[SWEEP_DOWN] > 1) {
			value_text(p, SWEEP_DOWN, down, text, sizeof text);
			canvas_verbatim(c, at + (p->high - 1) / 2, LABEL_COLS - 1 - text_columns(text),
			                LABEL_COLS, STYLE_KNOB, text);
		}
		for (int k = 0; k < p->n_cols; k++)
			cell(p, c, at, LABEL_COLS + k * p->wide, down * across + (unsigned)(p->first_col + k));
	}
	if (p->n_cols < (int)across || p->n_rows < (int)m->n[SWEEP_DOWN])
		canvas_scrolls(c);
}

/* --- below the map --- */

static int legend(struct canvas *c, int row)
{
	int col = canvas_text(c, row, 2, STYLE_DIM, "of the best");
	for (size_t i = ARRAY_LEN(levels); i-- > 0;) {
		char text[32];
		if (i)
			snprintf(text, sizeof text, " ≥ %.0f %% ", 100 * levels[i]);
		else
			snprintf(text, sizeof text, " below ");
		col = canvas_text(c, row, col + 1, level_style(levels[i]), text);
	}
	if (col + 2 + utf8_columns("★ best") < c->cols)
		col = canvas_text(c, row, col + 2, STYLE_DIM, "★ best");
	if (col + 2 + utf8_columns("• here") < c->cols)
		canvas_text(c, row, col + 2, STYLE_DIM, "• here");
	return row + 1;
}

static void ran_words(const struct picture *p, const struct sweep_point *x, char *out, size_t n)
{
	char time[48], rate[48];
	fmt_ns(time, sizeof time, x->time_ns);
	short_number(x->rate, rate, sizeof rate);
	snprintf(out, n, "%s %s%s   %s %s", time, origin_mark(x->origin, false),
	         x->origin == ORIGIN_MODELLED ? origin_mark(x->basis, false) : "", rate,
	         sweep_map_unit(p->m));
	const size_t len = strlen(out);
	if (p->best < 0 || (int)p->cursor == p->best)
		return;
	const struct sweep_point *best = &p->m->point[p->best];
	const bool close = x->origin == ORIGIN_MODELLED && best->origin == ORIGIN_MODELLED &&
	                   !modelled_times_apart(x->time_ns, best->time_ns, TIME_STEP_VALUE);
	snprintf(out + len, n - len,
	         close ? "   %.0f %% of the best: too close to tell" : "   %.0f %% of the best",
	         100 * x->rate / best->rate);
}

/* What lies under the cursor; the next free row. */
static int under_cursor(const struct picture *p, struct canvas *c, int row)
{
	const struct kernel_desc *k = p->m->sel.kernel;
	const struct sweep_point *x = &p->m->point[p->cursor];
	const unsigned across = p->m->n[SWEEP_ACROSS];
	char text[240], value[48];
	int col = 2;
	for (int axis = 0; axis < SWEEP_AXES; axis++) {
		if (axis == SWEEP_DOWN && p->m->n[axis] < 2)
			continue;
		value_text(p, axis, axis == SWEEP_DOWN ? p->cursor / across : p->cursor % across, value,
		           sizeof value);
		snprintf(text, sizeof text, "%s %s", k->params[p->m->param[axis]].name, value);
		col = canvas_verbatim(c, row, col, c->cols - col, STYLE_BOLD, text) + 2;
	}
	if (x->state == SWEEP_DUE) {
		canvas_text(c, row++, col + 1, STYLE_DIM,
		            (int)p->cursor == p->m->running ? "running …" : "has not run yet");
		return row;
	}
	if (x->state != SWEEP_RAN) {
		canvas_text(c, row++, col + 1, x->state == SWEEP_FAILED ? STYLE_BAD : STYLE_WATCH,
		            x->state == SWEEP_FAILED ? "failed" : "not possible");
		return row + canvas_wrap(c, row, 4, c->rows - row, c->cols - 6, STYLE_NORMAL, x->why);
	}
	ran_words(p, x, text, sizeof text);
	canvas_text(c, row++, col + 1, STYLE_NORMAL, text);
	snprintf(text, sizeof text, "occupancy %.0f %%   %u registers   limited by %s", x->occupancy,
	         x->registers, x->bottleneck[0] ? x->bottleneck : "n/a");
	canvas_text(c, row++, 2, STYLE_DIM, text);
	if (sweep_point_too_short(x))
		row += canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_WATCH,
		                   "! registers are spilled: PTX lacks that traffic, so this modelled time "
		                   "is too short");
	return row;
}

#define BELOW 5 /* a blank row, the legend, what lies under the cursor, the keys */

static void draw_map(const struct session *s, const struct sweep_map *m, struct canvas *c)
{
	struct picture p = { .s = s,
		                 .m = m,
		                 .best = sweep_map_best(m),
		                 .here = sweep_map_find(m, &s->sel),
		                 .focused = panel_focused(s, NAME),
		                 .high = 1 };
	p.cursor = p.focused ? s->cursor.row : p.here > 0 ? (unsigned)p.here : 0;
	if (p.cursor >= sweep_map_points(m))
		p.cursor = sweep_map_points(m) - 1;
	const int top = c->rows > 12, room = c->rows - top - 2 - BELOW;
	const unsigned across = m->n[SWEEP_ACROSS];
	p.n_cols =
		window(across, p.cursor % across, (c->cols - LABEL_COLS - 1) / CELL_COLS, &p.first_col);
	p.wide = p.n_cols ? (c->cols - LABEL_COLS - 1) / p.n_cols : CELL_COLS;
	p.wide = p.wide > CELL_MOST ? CELL_MOST : p.wide;
	p.n_rows = window(m->n[SWEEP_DOWN], p.cursor / across, room > 1 ? room : 1, &p.first_row);
	while (p.high < 4 && (p.high + 1) * p.n_rows <= room)
		p.high++;
	head(&p, c, top);
	grid(&p, c, top + 1);
	int row = top + 3 + p.n_rows * p.high;
	row = legend(c, row);
	row = under_cursor(&p, c, row);
	canvas_text(c, row, 2, STYLE_DIM,
	            !p.focused  ? "the other points run when this panel has the focus"
	            : s->opened ? "a session of a file: r runs it here, then its points run"
	                        : "←→↑↓ walk   Enter: this launch on every panel   c stops");
}

static void draw(const struct session *s, struct canvas *c)
{
	bool own;
	if (!s->sel.kernel) {
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM, SHOWS);
		return;
	}
	struct sweep_map *m = map_of(s, &own);
	if (!m->pairs)
		canvas_wrap(c, 1, 2, c->rows - 1, c->cols - 4, STYLE_DIM,
		            "n/a: this variant has no parameter with more than one value");
	else
		draw_map(s, m, c);
	give_back(m, own);
}

const struct view_desc view_sweep = {
	.name = NAME,
	.title = "Map",
	.order = 13,
	.about =
		"the kernel's rate over two of its parameters, as a map that is walked with the arrows",
	.draw = draw,
	.rows = rows,
	.start = start,
	.columns = columns,
	.choose = choose,
	.pairs = pairs,
	.place = VIEW_ALONE,
	.scope = VIEW_OF_KERNEL,
	.needs = NEEDS_SWEEP,
};

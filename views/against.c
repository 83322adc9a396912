/*
 * This run against another, figure by figure: the pinned run, else the one before. The time stands
 * first, then what moved most.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/brief.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "against"
#define SHOWS                                                                                   \
	"Here, once two runs of a kernel can be held against each other: every figure that moved, " \
	"the most first. P pins a run; then all later ones are held against it."

/* A figure of both runs; how far apart they are as a ratio of at least 1. */
struct moved {
	enum metric_id id;
	double factor;
};

struct moves {
	unsigned n, same;
	struct moved list[METRIC_COUNT];
};

/* Ratio of the larger to the smaller; infinite where one of them is 0. */
static double factor_of(double is, double was)
{
	if (is == was)
		return 1;
	if (!(is > 0) || !(was > 0))
		return INFINITY;
	return is > was ? is / was : was / is;
}

static int by_factor(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;
	if ((x->id == M_TIME_KERNEL) != (y->id == M_TIME_KERNEL)) /* what it is all about */
		return x->id == M_TIME_KERNEL ? -1 : 1;
	if (x->factor != y->factor)
		return x->factor < y->factor ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Without another run: every figure that one of these would be held against, in the catalogue's
 * order behind the time. */
static struct moves figures_of(const struct metric_set *m)
{
	struct moves v = { 0 };
	for (int i = 0; m && i < METRIC_COUNT; i++)
		if (metric_known(m, (enum metric_id)i))
			v.list[v.n++] = (struct moved){ (enum metric_id)i, 1 };
	qsort(v.list, v.n, sizeof v.list[0], by_factor); /* the time first */
	return v;
}

static struct moves moves_of(const struct session *s)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	struct moves v = { 0 };
	if (!before)
		return figures_of(m);
	for (int i = 0; m && i < METRIC_COUNT; i++) {
		const enum metric_id id = (enum metric_id)i;
		char is[96], was[96];
		if (!metric_known(m, id) || !metric_known(before, id))
			continue;
		metric_format(m, id, is, sizeof is);
		metric_format(before, id, was, sizeof was);
		if (!strcmp(is, was)) {
			v.same++;
			continue;
		}
		v.list[v.n++] = (struct moved){
			id,
			metric_catalogue[id].kind == METRIC_NUM
				? factor_of(metric_get(m, id), metric_get(before, id))
				: 1,
		};
	}
	qsort(v.list, v.n, sizeof v.list[0], by_factor);
	return v;
}

static unsigned n_rows(const struct session *s)
{
	return moves_of(s).n;
}

/* "× 5.32 ▲", or the difference where one of them is nothing. */
static void change(const struct session *s, struct canvas *c, int row, int right,
                   const struct metric_set *m, const struct metric_set *before,
                   const struct moved *v)
{
	char number[32];
	if (!before || metric_catalogue[v->id].kind != METRIC_NUM)
		return;
	const bool more = metric_get(m, v->id) > metric_get(before, v->id);
	const char *sign = more ? "▲" : "▼";
	if (v->id == M_TIME_KERNEL && !panel_times_apart(s))
		sign = "?"; /* too close for the model */
	if (isfinite(v->factor))
		canvas_right(c, row, right, STYLE_KNOB, "%s %s %s", more ? "×" : "÷",
		             fmt_num(number, sizeof number, v->factor, 3), sign);
	else
		canvas_right(c, row, right, STYLE_KNOB, "%s", sign);
}

/* Where the columns end: the earlier figure, this one, the change; each with its mark. */
struct columns {
	int title, was, is, change;
};

static struct columns columns_of(int cols)
{
	const int right = cols >= 110 ? 100 : cols - 2;
	return (struct columns){
		.title = right - 46, .was = right - 30, .is = right - 14, .change = right
	};
}

static void one_row(const struct session *s, struct canvas *c, int row, const struct columns *k,
                    const struct moved *v, bool here)
{
	const struct metric_set *m = panel_metrics(s), *before = panel_before(s);
	char is[96], was[96] = "–";
	if (before)
		metric_format(before, v->id, was, sizeof was);
	metric_format(m, v->id, is, sizeof is);
	canvas_text(c, row, 0, STYLE_KNOB, here ? "▸" : " ");
	canvas_text_n(c, row, 2, k->title - 2, here ? STYLE_BOLD : STYLE_NORMAL,
	              metric_catalogue[v->id].title);
	canvas_shows(c, v->id);
	if (k->title < 12) {
		change(s, c, row, k->change, m, before, v);
		return;
	}
	canvas_right(c, row, k->was - 2, STYLE_FAINT, "%.14s", was);
	if (before)
		canvas_text(c, row, k->was - 1, STYLE_DIM, origin_mark(before->v[v->id].origin, c->ascii));
	canvas_right(c, row, k->is - 2, STYLE_BOLD, "%.14s", is);
	canvas_text(c, row, k->is - 1, STYLE_DIM, origin_mark(m->v[v->id].origin, c->ascii));
	change(s, c, row, k->change, m, before, v);
}

/* "against the pinned run: naive, TILE 16" */
static int heading(const struct session *s, struct canvas *c, const struct moves *v)
{
	char what[160];
	const int row = c->rows >= 12 ? 1 : 0;
	panel_difference(&s->now->sel, panel_before_selection(s), what, sizeof what);
	int col =
		canvas_text(c, row, 2, STYLE_NORMAL,
	                panel_pinned(s) ? "against the pinned run: " : "against the run before: ");
	char same[48];
	snprintf(same, sizeof same, "%u moved, %u did not", v->n, v->same);
	const int right = c->cols - 1 - utf8_columns(same);
	canvas_text_n(c, row, col, right - col - 2, STYLE_KNOB, what[0] ? what : "the same launch");
	if (right > col + 6)
		canvas_text(c, row, right, STYLE_DIM, same);
	return row + (c->rows >= 12 ? 2 : 1);
}

/* What to press for a second run, over the figures of this one. */
static int how_to(const struct session *s, struct canvas *c)
{
	const char *text =
		panel_pinned(s)
			? "This is the pinned run itself. Change something: + - turn a parameter, "
			  "v takes the next variant. Every figure below that moves then says by how "
			  "much, the most first."
			: "There is one run so far. Change something: + - turn a parameter, v takes "
			  "the next variant; every figure below that moves then says by how much, "
			  "the most first. P pins this run, so that all later ones are held against "
			  "it, not against the one before. B shows a panel twice, before and now.";
	const int row = c->rows >= 12 ? 1 : 0;
	return row + canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_DIM, text) + row;
}

static void draw(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, SHOWS))
		return;
	const struct moves v = moves_of(s);
	const struct columns k = columns_of(c->cols);
	int row = panel_before(s) ? heading(s, c, &v) : how_to(s, c);
	canvas_text_n(c, row, 2, k.title - 2, STYLE_DIM, "figure");
	if (k.title >= 12) {
		canvas_right(c, row, k.was - 2, STYLE_DIM, panel_pinned(s) ? "pinned" : "before");
		canvas_right(c, row, k.is - 2, STYLE_DIM, "now");
	}
	canvas_right(c, row++, k.change, STYLE_DIM, "change");
	const bool pick = panel_focused(s, NAME);
	const unsigned at = pick && v.n ? (s->cursor.row < v.n ? s->cursor.row : v.n - 1) : 0;
	/* the definition of the figure in question, at the foot */
	const char *about =
		pick && v.n && c->rows >= 14 ? metric_catalogue[v.list[at].id].definition : "";
	const int foot = text_rows(about, c->cols - 4), window = c->rows - row - (foot ? foot + 1 : 0);
	const unsigned top = panel_scroll(v.n, at, window);
	for (int r = 0; r < window && top + (unsigned)r < v.n; r++) {
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		one_row(s, c, row + r, &k, &v.list[top + (unsigned)r], pick && top + (unsigned)r == at);
	}
	panel_scroll_marks(c, row, window, top, v.n);
	if (!v.n && panel_before(s))
		canvas_text_n(c, row, 2, c->cols - 4, STYLE_DIM, "No figure moved.");
	if (foot)
		canvas_wrap(c, row + window + 1, 2, foot, c->cols - 4, STYLE_DIM, about);
}

const struct view_desc view_against = {
	.name = NAME,
	.title = "Compare",
	.brief = "Cmp",
	.order = 12,
	.about = "this run against the pinned one, or the one before: what moved, the most first",
	.draw = draw,
	.rows = n_rows,
	.place = VIEW_ALONE,
	.rank = { [LAYOUT_COMPARE] = 2 },
};

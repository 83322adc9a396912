/*
 * Data: what the buffers hold behind the launch. A row for each: figures, NaN, what the launch
 * changed; below, of the row in focus, how it differs from other buffers, and its first elements.
 */
#include "model/buffer_look.h"
#include "model/program_session.h"
#include "ui/view.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define INDENT 2
#define TABLE_ROWS 8 /* at most, where the elements are to have room too */
#define LABEL 23     /* columns of what stands in front of a line */
#define CELL 13      /* columns of an element */

static const struct buffer_looks *looks_of(const struct session *s)
{
	return s->now ? s->now->data : NULL;
}

static unsigned rows(const struct session *s)
{
	const struct buffer_looks *l = looks_of(s);
	return l ? l->n : 0;
}

/* Columns of the table, from the right edge of each; 0 = no room for it. */
struct columns {
	int count, least, most, mean, nan, changed;
};

static struct columns columns_of(int cols)
{
	struct columns k = { .count = 33, .changed = cols - 2 };
	const int room = cols - 2 - 11; /* for all but the last */
	k.nan = room >= 42 ? room : 0;
	k.least = room >= 54 ? 45 : 0;
	k.most = room >= 66 ? 57 : 0;
	k.mean = room >= 78 ? 69 : 0;
	if (k.changed < 45)
		k.changed = 0;
	return k;
}

static void heading(struct canvas *c, int row, const struct columns *k)
{
	const struct {
		int right;
		const char *name;
	} all[] = { { k->count, "elements" }, { k->least, "min" }, { k->most, "max" },
		        { k->mean, "mean" },      { k->nan, "NaN" },   { k->changed, "changed" } };
	canvas_text(c, row, INDENT, STYLE_DIM, "buffer");
	canvas_text(c, row, 16, STYLE_DIM, "type");
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].right)
			canvas_right(c, row, all[i].right, STYLE_DIM, "%s", all[i].name);
}

static void number(struct canvas *c, int row, int right, double v)
{
	char text[48];
	fmt_num(text, sizeof text, v, 5);
	if (right)
		canvas_right(c, row, right, STYLE_NORMAL, "%s", text);
}

static void count(struct canvas *c, int row, int right, enum style style, size_t n)
{
	char text[48];
	fmt_count(text, sizeof text, (double)n);
	if (right)
		canvas_right(c, row, right, style, "%s", text);
}

static void buffer_row(struct canvas *c, int row, const struct columns *k,
                       const struct buffer_look *b, bool here)
{
	char type[24];
	snprintf(type, sizeof type, "%s%s", elem_name(b->type), b->guessed ? " ?" : "");
	canvas_verbatim(c, row, INDENT, 13, here ? STYLE_BOLD : STYLE_NORMAL, b->name);
	canvas_text_n(c, row, 16, 7, STYLE_DIM, type);
	count(c, row, k->count, STYLE_NORMAL, b->count);
	if (!b->seen) {
		canvas_text(c, row, k->count + 2, STYLE_DIM, "n/a: not read");
		return;
	}
	if (b->stats.numbers) {
		number(c, row, k->least, b->stats.min);
		number(c, row, k->most, b->stats.max);
		number(c, row, k->mean, b->stats.mean);
	}
	count(c, row, k->nan, b->stats.nans ? STYLE_BAD : STYLE_NORMAL, b->stats.nans);
	if (b->knows_change)
		count(c, row, k->changed, b->change.differ ? STYLE_WATCH : STYLE_DIM, b->change.differ);
	else if (k->changed)
		canvas_right(c, row, k->changed, STYLE_DIM, "%s", "written");
}

/* --- the buffer in focus --- */

static void say_figures(const struct buffer_look *b, char *out, size_t n)
{
	char deviation[48], first[48] = "";
	fmt_num(deviation, sizeof deviation, b->stats.deviation, 5);
	if (b->stats.first_odd < b->seen)
		snprintf(first, sizeof first, ", the first at [%zu]", b->stats.first_odd);
	snprintf(out, n, "deviation %s, %zu zero, %zu NaN, %zu infinite%s",
	         b->stats.numbers ? deviation : "n/a", b->stats.zeros, b->stats.nans,
	         b->stats.infinities, first);
}

static void say_difference(const struct array_difference *d, char *out, size_t n)
{
	char by[48], relative[48];
	fmt_num(by, sizeof by, d->largest, 4);
	fmt_num(relative, sizeof relative, d->largest_relative, 3);
	if (d->differ)
		snprintf(out, n, "%zu of %zu, the first at [%zu], most at [%zu]: by %s (relative %s)",
		         d->differ, d->compared, d->first, d->largest_at, by, relative);
	else
		snprintf(out, n, "none of %zu", d->compared);
}

static int line(struct canvas *c, int row, const char *label, const char *text)
{
	if (row >= c->rows)
		return row;
	const int end = canvas_text_n(c, row, INDENT, LABEL, STYLE_DIM, label) + 1;
	const int at = c->cols < 60 || end > INDENT + LABEL ? end : INDENT + LABEL;
	return row + canvas_wrap(c, row, at, c->rows - row, c->cols - at - 1, STYLE_NORMAL, text);
}

static int differences(struct canvas *c, int row, const struct buffer_looks *l,
                       const struct buffer_look *b)
{
	char text[320], label[96];
	if (b->seen < b->count) {
		snprintf(text, sizeof text, "the first %zu of %zu elements only: the rest was not read",
		         b->seen, b->count);
		row = line(c, row, "figures of", text);
	}
	say_figures(b, text, sizeof text);
	row = line(c, row, "holds", text);
	if (b->guessed)
		row = line(c, row, "type", "nothing tells it: shown as float");
	if (b->knows_change) {
		say_difference(&b->change, text, sizeof text);
		row = line(c, row, "changed by the launch", text);
	}
	for (unsigned i = 0; i < b->n_against; i++) {
		snprintf(label, sizeof label, "differs from %.40s", l->of[b->against[i].other].name);
		say_difference(&b->against[i].is, text, sizeof text);
		row = line(c, row, label, text);
	}
	return row;
}

/* Its first elements, as many in a row as a power of two that has room. */
static void elements(struct canvas *c, int row, const struct buffer_look *b)
{
	const int left = 11;
	int per_row = 1;
	while (left + 2 * per_row * CELL <= c->cols - 1 && per_row < 16)
		per_row *= 2;
	for (size_t i = 0; i < b->n_head && row < c->rows; row++) {
		canvas_right(c, row, left - 2, STYLE_DIM, "[%zu]", i);
		for (int k = 0; k < per_row && i < b->n_head; k++, i++) {
			char text[48];
			elem_format(b->type, b->head, i, text, sizeof text);
			const bool odd = !strcmp(text, "nan") || strstr(text, "inf");
			canvas_text_n(c, row, left + k * CELL, CELL - 1, odd ? STYLE_BAD : STYLE_NORMAL, text);
		}
	}
}

static bool waiting(const struct session *s, struct canvas *c)
{
	if (panel_waiting(s, c, "what every buffer holds behind the launch, and what changed in it"))
		return true;
	const struct buffer_looks *l = looks_of(s);
	if (l && l->n)
		return false;
	char text[300];
	snprintf(text, sizeof text, "n/a: %s", l && l->why[0] ? l->why : "the launch has no buffers");
	const char *said =
		l ? text
		: s->opened
			? "n/a: a written session does not hold what was in the buffers; a run here does"
			: "The buffers are being looked at.";
	canvas_wrap(c, panel_notes(s, c) ? 1 : 0, 1, c->rows, c->cols - 2, STYLE_DIM, said);
	return true;
}

static void draw(const struct session *s, struct canvas *c)
{
	if (waiting(s, c))
		return;
	const struct buffer_looks *l = looks_of(s);
	const struct columns k = columns_of(c->cols);
	const bool pick = panel_focused(s, "data");
	const unsigned at = pick ? (s->cursor.row < l->n ? s->cursor.row : l->n - 1) : 0;
	int row = panel_notes(s, c) ? 1 : 0;
	heading(c, row++, &k);
	const int room = c->rows - row;
	int window = (int)l->n < TABLE_ROWS ? (int)l->n : TABLE_ROWS;
	window = window < room ? window : room;
	const unsigned top = panel_scroll(l->n, at, window);
	for (int r = 0; r < window && top + (unsigned)r < l->n; r++) {
		const bool here = pick && top + (unsigned)r == at;
		canvas_hit(c, row + r, 0, 1, c->cols, HIT_ROW, top + (unsigned)r);
		if (here)
			canvas_text(c, row + r, 0, STYLE_KNOB, "▸");
		buffer_row(c, row + r, &k, &l->of[top + (unsigned)r], here);
	}
	panel_scroll_marks(c, row, window, top, l->n);
	row += window + 1;
	if (row >= c->rows || !l->of[at].seen)
		return;
	row = differences(c, row, l, &l->of[at]);
	elements(c, row + (c->rows - row > 6), &l->of[at]);
}

const struct view_desc view_data = {
	.name = "data",
	.title = "Data",
	.order = 14,
	.about = "what the buffers hold: figures, NaN, what the launch changed, first elements",
	.draw = draw,
	.rows = rows,
	.place = VIEW_ALONE,
	.needs = NEEDS_DATA,
};

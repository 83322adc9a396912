/*
 * Rectangles for the screen; see layout.h. Pure arithmetic: no canvas, no session.
 *
 * A grid cell is worth having from 64 x 15 on (the panels are made for 80 x 18); the side column
 * appears when two such cells still fit beside it.
 */
#include "ui/layout.h"

#define CELL_COLS 64
#define CELL_ROWS 15
#define SIDE_MAX 72 /* of itself; a person may want more */
#define SIDE_LEAST 40
/* With a lesson over it or alone, a panel of a low screen is named in its heading, not in tabs. */
#define TABS_BESIDE_LESSON 34

/* Takes @n rows from the top (or bottom) of @area when at least @keep rows remain below. */
static struct rect take_top(struct rect *area, int n)
{
	if (n > area->rows)
		n = area->rows;
	struct rect r = { area->row, area->col, n, area->cols };
	area->row += n;
	area->rows -= n;
	return r;
}

static struct rect take_bottom(struct rect *area, int n)
{
	if (n > area->rows)
		n = area->rows;
	area->rows -= n;
	return (struct rect){ area->row + area->rows, area->col, n, area->cols };
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* The i-th of n nearly equal parts of @total: its start and size; the first get the remainder. */
static int part(int total, int n, int i, int *size)
{
	int each = total / n, more = total % n;
	*size = each + (i < more);
	return i * each + (i < more ? i : more);
}

static void side_column(struct rect area, const struct layout_need *need, struct layout *out)
{
	int want = need->param_rows < 3 ? 3 : need->param_rows;
	if (!need->side)
		want = area.rows;
	out->sheet = take_top(&area, least(want, need->side ? area.rows / 2 : area.rows));
	unsigned n = need->side;
	while (n > 1 && area.rows / (int)n < 8)
		n--;
	if (n > LAYOUT_MAX_PANELS)
		n = LAYOUT_MAX_PANELS;
	if (area.rows < 3)
		n = 0;
	out->n_side = n;
	/* what one of them does not need, the others share */
	int size[LAYOUT_MAX_PANELS] = { 0 }, left = area.rows, greedy = 0;
	for (unsigned i = 0; i < n; i++) {
		int equal;
		part(area.rows, (int)n, (int)i, &equal);
		const int wants = need->side_rows[i] > 0 ? need->side_rows[i] : area.rows;
		size[i] = wants < equal ? least(wants < 4 ? 4 : wants, equal) : 0;
		left -= size[i];
		greedy += !size[i];
	}
	int row = area.row, given = 0;
	for (unsigned i = 0; i < n; i++) {
		if (!size[i])
			part(left, greedy, given++, &size[i]);
		else if (!greedy && i + 1 == n)
			size[i] += left;
		out->side[i] = (struct rect){ row, area.col, size[i], area.cols };
		row += size[i];
	}
}

static void grid(struct rect area, unsigned n_views, struct layout *out)
{
	int columns = (area.cols + 1) / (CELL_COLS + 1), rows = area.rows / CELL_ROWS;
	if (columns < 1)
		columns = 1;
	if (rows < 1)
		rows = 1;
	int n = least(LAYOUT_MAX_PANELS, n_views ? (int)n_views : 1);
	if (n > rows * columns)
		n = rows * columns;
	/* as few columns as the rows allow, so that panels are wide before they are many */
	while (columns > 1 && (columns - 1) * rows >= n)
		columns--;
	rows = (n + columns - 1) / columns;
	out->n_panels = (unsigned)n;
	out->headings = n > 1;
	for (int i = 0; i < n; i++) {
		int height, width, r = i / columns, k = i % columns;
		int in_row = r == rows - 1 ? n - r * columns : columns; /* a short last row is stretched */
		int top = part(area.rows, rows, r, &height);
		int left = part(area.cols - (in_row - 1), in_row, k, &width) + k;
		out->panel[i] = (struct rect){ area.row + top, area.col + left, height, width };
	}
}

int layout_side_cols(int cols, int wanted)
{
	const int most = cols - 1 - (2 * CELL_COLS + 1);
	if (wanted <= 0 || most < SIDE_LEAST)
		return least(cols / 3, SIDE_MAX);
	return least(wanted < SIDE_LEAST ? SIDE_LEAST : wanted, most);
}

int layout_lesson_most(int rows)
{
	return rows < 14 ? 0 : least(rows - 12, rows / 2);
}

void layout_make(int rows, int cols, const struct layout_need *need, struct layout *out)
{
	*out = (struct layout){ 0 };
	if (rows <= 0 || cols <= 0)
		return;
	struct rect area = { 0, 0, rows, cols };
	if (rows < LAYOUT_MIN_ROWS || cols < LAYOUT_MIN_COLS) {
		out->message = area;
		return;
	}
	if (rows >= 10)
		out->verdict = take_top(&area, 1);
	out->title = take_top(&area, 1);
	if (rows >= 12)
		out->params = take_top(&area, 1);
	const int lesson = least(need->lesson_rows, layout_lesson_most(rows));
	if (rows >= (lesson > 0 || need->solo ? TABS_BESIDE_LESSON : 18))
		out->tabs = take_top(&area, 1);
	if (rows >= 14)
		out->keys = take_bottom(&area, 1);
	int status = need->status_rows < 1 ? 1 : least(need->status_rows, 3);
	out->status = take_bottom(&area, least(status, 1 + (rows - LAYOUT_MIN_ROWS) / 4));

	if (lesson > 0)
		out->lesson = take_top(&area, least(lesson, area.rows - 4));

	const int side = layout_side_cols(cols, need->side_cols);
	if (!need->solo && !need->no_side && cols - side - 1 >= 2 * CELL_COLS + 1 &&
	    area.rows >= 2 * CELL_ROWS) {
		struct rect left = { area.row, area.col, area.rows, side };
		side_column(left, need, out);
		out->wide = true;
		area.col += side + 1;
		area.cols -= side + 1;
	}
	grid(area, need->solo ? 1 : need->grid, out);
	out->headings |= need->solo || (out->lesson.rows > 0 && !out->tabs.rows);
}

/* The layout at every size: inside the screen, nothing over anything, parts fold in order. */
#include "../unit.h"
#include "ui/layout.h"

#include "base/text.h"

#include <string.h>

#define MAX_ROWS 200
#define MAX_COLS 400

static unsigned char taken[MAX_ROWS][MAX_COLS];

static void take(struct rect r, int rows, int cols, const char *what)
{
	if (!r.rows)
		return;
	if (r.row < 0 || r.col < 0 || r.rows < 0 || r.cols <= 0 || r.row + r.rows > rows ||
	    r.col + r.cols > cols)
		fail_msg("%s outside at %dx%d: %d,%d %dx%d", what, rows, cols, r.row, r.col, r.rows,
		         r.cols);
	for (int i = 0; i < r.rows; i++) {
		unsigned char *line = &taken[r.row + i][r.col];
		if (memchr(line, 1, (size_t)r.cols))
			fail_msg("%s overlaps at %dx%d", what, rows, cols);
		memset(line, 1, (size_t)r.cols);
	}
}

static void check(int rows, int cols, const struct layout_need *need)
{
	struct layout l;
	layout_make(rows, cols, need, &l);
	for (int r = 0; r < rows; r++)
		memset(taken[r], 0, (size_t)cols);
	take(l.message, rows, cols, "message");
	take(l.title, rows, cols, "title");
	take(l.params, rows, cols, "params");
	take(l.verdict, rows, cols, "verdict");
	take(l.tabs, rows, cols, "tabs");
	take(l.status, rows, cols, "status");
	take(l.keys, rows, cols, "keys");
	take(l.lesson, rows, cols, "lesson");
	take(l.sheet, rows, cols, "sheet");
	for (unsigned i = 0; i < l.n_side; i++)
		take(l.side[i], rows, cols, "side");
	for (unsigned i = 0; i < l.n_panels; i++) {
		take(l.panel[i], rows, cols, "panel");
		if (l.panel[i].rows < 3)
			fail_msg("panel of %d rows at %dx%d", l.panel[i].rows, rows, cols);
	}
	if (l.message.rows) {
		assert_int_equal(l.n_panels, 0);
		assert_true(rows < LAYOUT_MIN_ROWS || cols < LAYOUT_MIN_COLS);
	} else {
		assert_true(l.n_panels >= 1 && l.title.rows == 1 && l.status.rows >= 1);
		/* folding order: tabs go first, then keys, parameters, the verdict */
		assert_true(!l.tabs.rows || l.keys.rows);
		/* what is shown is named: in the tab row or in its heading */
		assert_true(!l.lesson.rows || l.tabs.rows || l.headings);
		assert_true(!l.keys.rows || l.params.rows);
		assert_true(!l.params.rows || l.verdict.rows);
	}
}

TEST(every_size)
{
	static const struct layout_need needs[] = {
		{ .grid = 4, .side = 2, .status_rows = 1, .param_rows = 9 },
		{ .grid = 6, .side = 2, .status_rows = 3, .param_rows = 30 },
		{ .grid = 1, .side = 0, .status_rows = 9, .param_rows = 0 },
		{ .grid = 6, .side = 2, .status_rows = 3, .param_rows = 9, .lesson_rows = 9 },
		{ .grid = 4, .side = 1, .status_rows = 1, .param_rows = 9, .lesson_rows = 90 },
		{ .grid = 6, .side = 2, .status_rows = 1, .param_rows = 9, .side_rows = { 0, 5 } },
		{ .grid = 6, .side = 3, .status_rows = 1, .param_rows = 9, .side_rows = { 1, 2, 99 } },
		{ .grid = 6, .side = 1, .status_rows = 1, .param_rows = 99, .side_rows = { 1 } },
		{ .grid = 0, .side = 9, .status_rows = 0, .param_rows = -4 },
		{ .grid = 6, .side = 2, .status_rows = 1, .param_rows = 9, .side_cols = 90 },
		{ .grid = 40, .side = 40, .status_rows = 2, .param_rows = 500 },
	};
	for (int rows = 1; rows <= MAX_ROWS; rows++)
		for (int cols = 1; cols <= MAX_COLS; cols++)
			check(rows, cols, &needs[(size_t)(rows * 7 + cols) % ARRAY_LEN(needs)]);
	/* each need at each place where something changes */
	for (int rows = 1; rows <= 64; rows++)
		for (int cols = 30; cols <= 210; cols += 3)
			for (size_t i = 0; i < ARRAY_LEN(needs); i++)
				check(rows, cols, &needs[i]);
}

TEST(sizes_people_have)
{
	const struct layout_need need = { .grid = 4, .side = 2, .status_rows = 1, .param_rows = 9 };
	struct layout l;
	layout_make(24, 80, &need, &l);
	assert_int_equal(l.n_panels, 1);
	assert_int_equal(l.panel[0].rows, 18);
	assert_int_equal(l.panel[0].cols, 80);
	assert_false(l.headings);
	layout_make(40, 120, &need, &l);
	assert_int_equal(l.n_panels, 2);
	layout_make(60, 200, &need, &l);
	assert_int_equal(l.n_panels, 4);
	assert_int_equal(l.n_side, 2);
	assert_true(l.wide && l.headings && l.panel[0].cols >= 64 && l.panel[0].rows >= 26);
	layout_make(6, 20, &need, &l);
	assert_int_equal(l.message.rows, 6);
	assert_int_equal(l.message.cols, 20);
	layout_make(0, -5, &need, &l);
	assert_int_equal(l.message.rows, 0);
}

/* What one view of the side column does not need, the other gets; no row stays empty. */
/* As wide as a person wants it, as long as two panels keep room beside it. */
TEST(side_column_as_wanted)
{
	struct layout_need need = { .grid = 6, .side = 2, .param_rows = 6 };
	struct layout l;
	for (int wanted = 0; wanted < 300; wanted += 7) {
		need.side_cols = wanted;
		layout_make(60, 240, &need, &l);
		assert_true(l.wide);
		assert_int_equal(l.sheet.cols, layout_side_cols(240, wanted));
		for (unsigned i = 0; i < l.n_panels; i++)
			assert_true(l.panel[i].cols >= 64 && l.panel[i].col > l.sheet.cols);
		if (wanted >= 40 && wanted <= 240 - 130)
			assert_int_equal(l.sheet.cols, wanted);
	}
}

TEST(side_rows_follow_the_need)
{
	const struct layout_need equal = { .grid = 6, .side = 2, .status_rows = 1, .param_rows = 9 };
	struct layout_need few = equal;
	struct layout before, l;
	few.side_rows[1] = 7;
	layout_make(60, 200, &equal, &before);
	layout_make(60, 200, &few, &l);
	assert_int_equal(l.n_side, 2);
	assert_int_equal(l.side[1].rows, 7);
	assert_int_equal(l.side[0].rows + l.side[1].rows, before.side[0].rows + before.side[1].rows);
	assert_int_equal(l.side[1].row, l.side[0].row + l.side[0].rows);
}

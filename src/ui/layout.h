/*
 * Where things go for a given terminal size: a pure function from rows x columns to rectangles.
 *
 * No two rectangles overlap and all lie inside; a test sweeps every size. A part with rows == 0
 * has folded away. Folding order as rows shrink: the tab row, the key bar, the parameter row, the
 * verdict; below LAYOUT_MIN_ROWS x LAYOUT_MIN_COLS only `message` is left.
 */
#ifndef PMPP_UI_LAYOUT_H
#define PMPP_UI_LAYOUT_H

#include <stdbool.h>

#define LAYOUT_MAX_PANELS 12
#define LAYOUT_MIN_ROWS 8
#define LAYOUT_MIN_COLS 40

struct rect {
	int row, col, rows, cols;
};

/* What wants a place. */
struct layout_need {
	unsigned grid;                    /* views for the grid */
	unsigned side;                    /* views for the side column */
	int side_rows[LAYOUT_MAX_PANELS]; /* rows that each of them needs; 0 = as many as there are */
	int status_rows;                  /* rows the status text would like, 1..3 */
	int param_rows;                   /* rows the parameter sheet of the side column would like */
	bool solo;                        /* one panel has all of it */
	bool no_side;                     /* no side column, however wide the screen is */
	int side_cols;                    /* columns of it, as the person wants them; 0 = a third */
	int lesson_rows; /* rows of the docked lesson, at most layout_lesson_most(); 0 = none */
};

struct layout {
	struct rect verdict, title, params, tabs, status, keys;
	struct rect message; /* the whole screen when it is too small, else empty */
	struct rect lesson;  /* over the panels */
	struct rect sheet;   /* parameter sheet on top of the side column */
	unsigned n_panels;   /* in the grid; at least 1 unless too small */
	unsigned n_side;     /* views under the sheet */
	struct rect panel[LAYOUT_MAX_PANELS], side[LAYOUT_MAX_PANELS];
	bool headings; /* every panel's first row is its heading */
	bool wide;     /* there is a side column */
};

/* Columns of the side column of a screen that has one; @wanted: the person's, 0 = a third. Two
 * panels keep room beside it. */
int layout_side_cols(int cols, int wanted);
/* Rows a lesson may take of a screen: a panel of some six rows stays below it. */
int layout_lesson_most(int rows);
void layout_make(int rows, int cols, const struct layout_need *need, struct layout *out);

#endif

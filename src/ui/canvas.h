/*
 * A grid of styled character cells that views draw into; no terminal, no locale, no clock.
 *
 * Text is English in UTF-8; it is shown, measured and wrapped in the language in use
 * (base/lang.h). Every cell holds one character; a wide one has two cells. What is combining, a
 * control or malformed becomes U+FFFD, so that columns stay columns. Drawing outside is clipped
 * silently. Colours are semantic styles; what they look like is decided once, in term.c. On an
 * ASCII canvas every character is replaced by its fallback here, so views never ask.
 */
#ifndef PMPP_UI_CANVAS_H
#define PMPP_UI_CANVAS_H

#include "base/utf8.h"
#include "model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, "letter in golden style maps") */
#define STYLES(X)    \
	X(NORMAL, '.')   \
	X(BOLD, 'B')     \
	X(DIM, 'd')      \
	X(TITLE, 'T')    \
	X(GOOD, 'g')     \
	X(WATCH, 'w')    \
	X(BAD, 'b')      \
	X(KNOB, 'k')     \
	X(KNOB_ON, 'K')  \
	X(BAR, '=')      \
	X(BAR_ON, '*')   \
	X(HEAT1, '1')    \
	X(HEAT2, '2')    \
	X(HEAT3, '3')    \
	X(SELECTED, 'S') \
	X(KEY, 'y')      \
	X(ERROR, 'E')    \
	X(FAINT, 'G')    \
	X(SHADE, 'h')    \
	X(MAP1, 'm')     \
	X(MAP2, 'n')     \
	X(MAP3, 'o')     \
	X(MAP4, 'p')     \
	X(MAP5, 'q')
/* SHADE is for areas, all others are for text; bars are never KNOB_ON nor SELECTED, which some
 * themes turn round: a full cell would be an empty one. */
enum style {
#define X(id, letter) STYLE_##id,
	STYLES(X)
#undef X
		STYLE_COUNT
};

/* In a cell: the right half of the wide character before it. */
#define CELL_TAIL 0x110000u

struct cell {
	uint32_t ch;   /* Unicode scalar value or CELL_TAIL, never 0 after canvas_clear() */
	uint8_t style; /* enum style */
};

/* Metrics in the order in which they were first drawn. */
struct metric_list {
	unsigned n;
	enum metric_id id[METRIC_COUNT];
};

/* What a click may hit. */
enum hit_kind {
	HIT_BOX,     /* what is open over the panels */
	HIT_CHOICE,  /* the n-th choice of an open list */
	HIT_COMMAND, /* an enum command of the screen */
	HIT_VIEW,    /* the n-th tab: its panel gets the focus */
	HIT_PANEL,   /* the n-th tab's panel itself */
	HIT_ROW,     /* the n-th row of its table */
	HIT_PARAM,   /* the kernel's n-th parameter */
	HIT_EDGE,    /* between the side column and the panels */
	HIT_BLOCK,   /* on a curve over block sizes: blocks of so many threads */
	HIT_AXIS,    /* a time axis, which can be drawn along */
};

/* Places in the order in which they were drawn: the last one that holds a cell lies on top. */
struct canvas_hits {
	unsigned n;
	struct canvas_hit {
		enum hit_kind kind;
		unsigned index;
		int row, col, rows, cols; /* of the whole grid */
	} hit[400];
};

/* What a checker is told of a frame: text over other text, text that begins outside, windows that
 * show less than there is. */
struct canvas_watch {
	unsigned overlaps, cuts, scrolls;
	struct watch_window {
		int row, col, rows, cols; /* of the canvas that scrolls */
	} window[16];
	char first[120]; /* the first thing that is wrong */
};

/* A window onto a cell grid; sub-canvases share the cells. */
struct canvas {
	struct cell *cells;         /* of the whole grid */
	int stride;                 /* columns of the whole grid */
	int row, col;               /* origin of this window */
	int rows, cols;             /* its size; may be 0 */
	bool ascii;                 /* draw with ASCII only */
	struct metric_list *shown;  /* canvas_metric() adds to it; NULL = nobody asks */
	struct canvas_hits *hits;   /* canvas_hit() adds to it; NULL = nobody asks */
	struct canvas_watch *watch; /* NULL = nobody asks */
};

/* Owns its cells: free with canvas_free(). */
void canvas_init(struct canvas *c, int rows, int cols, bool ascii);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
/* Clipped to @c. */
struct canvas canvas_sub(const struct canvas *c, int row, int col, int rows, int cols);

/* Text at row, col; returns the column after it (also when clipped). What the right edge cuts ends
 * in "…" there. */
int canvas_text(struct canvas *c, int row, int col, enum style s, const char *utf8);
/* The same in at most @width columns; what does not fit ends in "…". */
int canvas_text_n(struct canvas *c, int row, int col, int width, enum style s, const char *utf8);
/* The same for what is no English: source lines, names of kernels and parameters, a program's
 * output. */
int canvas_verbatim(struct canvas *c, int row, int col, int width, enum style s, const char *utf8);
int canvas_printf(struct canvas *c, int row, int col, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Where all of it has room before the right edge; else nothing, and @col is returned. */
int canvas_item(struct canvas *c, int row, int col, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Right-aligned: the last character stands in column @right - 1. */
void canvas_right(struct canvas *c, int row, int right, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Word-wrapped into the box from row, col of width @cols; returns the number of rows used (at
 * most @rows; what does not fit ends in "…"). A newline in the text ends a row. */
int canvas_wrap(struct canvas *c, int row, int col, int rows, int cols, enum style s,
                const char *utf8);
/* Rows that canvas_wrap() would need, without drawing. */
int text_rows(const char *utf8, int cols);
void canvas_cell(struct canvas *c, int row, int col, enum style s, uint32_t ch);
void canvas_hline(struct canvas *c, int row, int col, int n, enum style s);
/* A line around the whole canvas. */
void canvas_frame(struct canvas *c, enum style s);
void canvas_style(struct canvas *c, int row, int col, int n, enum style s); /* restyle only */
/* Says that a click from row, col on, @rows x @cols, means the @index-th of its kind. */
void canvas_hit(struct canvas *c, int row, int col, int rows, int cols, enum hit_kind kind,
                unsigned index);
/* Says that @c shows less than there is. */
void canvas_scrolls(struct canvas *c);
/* A bar of @fraction (0..1) of @cols columns, in eighths ("█▏"); ASCII: '#'. */
void canvas_bar(struct canvas *c, int row, int col, int cols, double fraction, enum style s);
/* One column of a vertical histogram, @rows high, value 0..1 in eighths; bottom at row+rows-1. */
void canvas_column(struct canvas *c, int row, int col, int rows, double value, enum style s);
/* Columns a text takes where it is drawn: in the language in use. */
int utf8_columns(const char *utf8);
/* What stands for @ch on an ASCII canvas. */
char ascii_fallback(uint32_t ch);

/* A metric with unit-aware number, origin mark and style: "2.0 =", "n/a". The number is
 * right-aligned in @width columns, the mark follows after a blank. Returns column after. */
int canvas_metric(struct canvas *c, int row, int col, int width, const struct metric_set *m,
                  enum metric_id id);
/* Number as in canvas_metric(), without mark, into text. */
void metric_format(const struct metric_set *m, enum metric_id id, char *out, size_t n);
/* Says that @id is shown here, where canvas_metric() did not draw it. */
void canvas_shows(struct canvas *c, enum metric_id id);
/* "was 75.0 % ▲" when @before knows the metric and it shows differently now; nothing otherwise.
 * @better: +1 more is good, -1 less is good, 0 neither. @m may be NULL. Returns column after. */
int canvas_delta(struct canvas *c, int row, int col, const struct metric_set *m,
                 const struct metric_set *before, enum metric_id id, int better);
/* The same for a number that is not a metric; @was and @is as they are shown. */
int canvas_was(struct canvas *c, int row, int col, double is, double was, const char *shown,
               int better);

/* Braille plot: 2x4 dots per cell (ASCII: '*' per cell). x, y in 0..1, y up; outside is cut. */
struct plot {
	struct canvas *c;
	int row, col, rows, cols;
	enum style style;
};
void plot_dot(const struct plot *p, double x, double y);
void plot_line(const struct plot *p, double x0, double y0, double x1, double y1);
/* Cell in which the point x, y lies; false when it is outside. */
bool plot_cell(const struct plot *p, double x, double y, int *row, int *col);

/* Golden form: rows of text, then a style map. Caller frees. */
char *canvas_dump(const struct canvas *c, bool styles);

#endif

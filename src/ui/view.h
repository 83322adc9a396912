/*
 * A view: one panel, one file views/<name>.c, drawn from the session alone.
 *
 * draw() is pure: same session and size, same cells. It must cope with any size from 1x1 up,
 * with no run yet, with a failed plan and with metrics that are n/a.
 * A view sees this header, the canvas and the model; nothing else.
 */
#ifndef PMPP_UI_VIEW_H
#define PMPP_UI_VIEW_H

#include "base/enum_list.h"
#include "model/pace.h"
#include "model/session.h"
#include "ui/canvas.h"

/* Where a view lives when the terminal is wide. */
enum view_place {
	VIEW_GRID,   /* a tile of the grid */
	VIEW_SIDE,   /* the side column */
	VIEW_ALONE,  /* shown only when chosen: takes the last tile */
	VIEW_LESSON, /* docked over the panels while a preset is walked, at every size */
};

/* Which panels stand together where there is room for several: X(ID, "name", "what it shows"). */
#define VIEW_LAYOUTS(X)                                                                \
	X(LAYOUT_STUDY, "study", "every panel that there is room for")                     \
	X(LAYOUT_PROFILE, "profile", "source large, and where its time goes")              \
	X(LAYOUT_COMPARE, "compare", "this run against the one before, or the pinned one") \
	X(LAYOUT_LESSON, "lesson", "one panel under the lesson, nothing beside it")
enum view_layout { VIEW_LAYOUTS(LIST_ID) VIEW_LAYOUT_COUNT };

/* What is explored while the view is on the screen. */
enum view_scope {
	VIEW_OF_BOTH,
	VIEW_OF_KERNEL,  /* one kernel, launched by us */
	VIEW_OF_PROGRAM, /* a whole program: session.program */
};

/* What a column or a sign of a view means. */
struct view_word {
	const char *name, *meaning;
};

struct view_desc {
	const char *name;  /* = file name; "occupancy" */
	const char *title; /* "Occupancy" */
	const char *brief; /* "Occ": where the tab row is short of room; NULL = title */
	int order;         /* position in the tab row and key 1..9 */
	const char *about; /* one line for help */
	/* For help, what is no metric and says so there; ends with a NULL name. NULL = nothing. */
	const struct view_word *words;
	void (*draw)(const struct session *s, struct canvas *c);
	/* Rows that can be selected (line tables): session.cursor.row; NULL = none. */
	unsigned (*rows)(const struct session *s);
	/* session.cursor.row when the view gets the focus; NULL = 0. */
	unsigned (*start)(const struct session *s);
	/* Rows inside the opened detail: session.cursor.detail_row; NULL = there is no detail. */
	unsigned (*detail_rows)(const struct session *s);
	/* cursor.detail_row when the detail opens; NULL = 0. */
	unsigned (*detail_start)(const struct session *s);
	/* VIEW_LESSON: rows that it would like over the panels, at most @most; NULL = no lesson. */
	int (*dock_rows)(const struct session *s, int cols, int most);
	/* VIEW_SIDE: rows that its text needs at that width; another view of the column gets what it
	 * leaves. NULL = as many as there are. */
	int (*side_rows)(const struct session *s, int cols);
	/* The launch of the program that the cursor stands on, which all panels then show; 0 = none.
	 * NULL = the view chooses none. */
	uint64_t (*launch)(const struct session *s);
	/* Its rows lie in so many columns, and all four arrows walk them; NULL = one column. */
	unsigned (*columns)(const struct session *s);
	/* What Enter selects for every panel, where the cursor stands; false = nothing. NULL = Enter
	 * opens a detail, or the panel. */
	bool (*choose)(const struct session *s, struct selection *out);
	/* The built-in preset that Enter begins, where the cursor stands; asked only while there are
	 * rows. NULL = Enter begins none. */
	size_t (*preset)(const struct session *s);
	/* How many pairs of parameters < and > turn its axes through: session.map_pair. NULL = it has
	 * no such axes. */
	unsigned (*pairs)(const struct session *s);
	enum view_place place; /* in the layout "study" */
	/* In the others: 1, 2 .. of the grid, -1, -2 .. of the side column; 0 = only when chosen. */
	signed char rank[VIEW_LAYOUT_COUNT];
	enum view_scope scope;
	unsigned needs; /* bits of enum panel_needs: what the lab runs while the view has the focus */
	bool zooms;     /* has a time axis: session.cursor.zoom and .pan */
	bool of_source; /* its rows are the lines of session.source */
};

/* --- what most views need (panel.c) --- */

/* Is the view named @name the focused one? Selection bars are drawn only there. */
bool panel_focused(const struct session *s, const char *name);

/* With no record to show: says why, what to do, and what will be shown here (@shows), and returns
 * true. With one: returns false, after a note on row 0 when it belongs to an older selection and
 * the panel is high enough to leave that row empty; the first row of the screen says it too. */
/* Does panel_waiting() write on row 0 of a panel that has a record to show? */
bool panel_notes(const struct session *s, const struct canvas *c);
bool panel_waiting(const struct session *s, struct canvas *c, const char *shows);
/* A whole program has run, and launched no kernel: no panel has anything to show. */
bool panel_no_launch(const struct session *s);

/* Metrics of the last run; and of what it is held against if that is comparable (same kernel): the
 * pinned run, else the one before. Else NULL. */
const struct metric_set *panel_metrics(const struct session *s);
const struct metric_set *panel_before(const struct session *s);
const struct selection *panel_before_selection(const struct session *s);
/* Whether the kernel times of both can be told apart (model/time_range.h); false without one. */
bool panel_times_apart(const struct session *s);
/* "0.8 a second, 12 s left", or "540 blocks a second, ..."; without the rate where it is not known
 * or @width columns are too few; "" = nothing is known, or as good as done. */
void panel_pace(const struct pace *p, bool of_blocks, int width, char *out, size_t n);
/* A run of this kernel is pinned. */
bool panel_pinned(const struct session *s);

/* "why is it n/a": the metric's reason, or "" when the metric is known. */
const char *panel_reason(const struct metric_set *m, enum metric_id id);

/* How the record's selection differs from the present one: "block 128, TILE 16"; "" = not. */
void panel_difference(const struct selection *is, const struct selection *was, char *out, size_t n);

/* Source line @line as a table shows it: indent, tabs and tag comment removed. */
void panel_source(const struct session *s, uint32_t line, char *out, size_t n);
/* The tag of a line, "" = none. */
void panel_tag(const struct session *s, uint32_t line, char *out, size_t n);

/* --- parts that more than one panel draws --- */

/* What a preset step claims ("mem.ld_sectors == 4"), in plain words (claim_words.c). */
void panel_claim(const char *line, char *out, size_t n);

/* The lens of one sampled access: its 32 addresses, sectors or banks, waste and cure
 * (panel_access.c). Fills @c from its first row. */
enum access_lens {
	LENS_LANES, /* all of it */
	LENS_SHORT, /* without the 32 addresses: four rows are enough */
};
void panel_access(const struct launch_plan *plan, const struct access_sample *a,
                  enum access_lens lens, struct canvas *c);
/* What to do about such an access, or what is good about it; static text. */
const char *panel_cure(const struct access_sample *a);
/* What a source line became: machine code, PTX, and its @nth recorded access (panel_line.c). */
void panel_line(const struct session *s, uint32_t line, unsigned nth, struct canvas *c);
/* Rows that all of it needs at that width. */
int panel_line_height(const struct session *s, uint32_t line, int cols);
/* Accesses recorded of that line; without any, its instructions. */
unsigned panel_line_rows(const struct session *s, uint32_t line);
/* What stands above the record's machine code (panel_code_head.c); returns the row below it. */
int panel_code_head(const struct session *s, struct canvas *c, int row);
/* Instruction @at of the record's machine code, in words (panel_code.c): four rows, five with what
 * the compiler tells the scheduler. */
void panel_code(const struct session *s, unsigned at, struct canvas *c);
/* The @total PTX instructions of its line, and what became of each. */
void panel_code_ptx(const struct session *s, unsigned of, unsigned total, struct canvas *c);
/* "4K" for 4096 bytes, "100" for 100. */
void panel_bytes(uint64_t n, char *out, size_t size);

/* The roofs of the GPU and the runs under them (panel_roofline.c), in @rows rows from @row on. */
void panel_roofline(const struct session *s, struct canvas *c, int row, int rows);

/* The modelled time of every resource as bars (panel_resources.c), from @row on; and the rows that
 * this takes, for a session with a record. */
int panel_resources_rows(const struct session *s);
void panel_resources(const struct session *s, struct canvas *c, int row);

/* The grid dealt to the SMs wave by wave, on a time axis (panel_waves.c). */
void panel_waves(const struct session *s, struct canvas *c);

/* The whole program on a time axis: engines, streams, events, the host (panel_program.c). */
void panel_program(const struct session *s, bool focused, struct canvas *c);
/* Rows of it that can be selected: its launches and copies. */
unsigned panel_program_rows(const struct session *s);

/* A time axis over the middle columns of a canvas (time_axis.c). */
struct time_axis {
	int left, cols;  /* columns of the chart */
	double from, to; /* what is shown, of the whole; ns */
	double ns_per_col, unit_ns;
	const char *unit;
};
/* @left and @right columns are for labels; zoom and pan are the session's. */
struct time_axis time_axis_of(const struct session *s, double span_ns, int left, int right,
                              int cols);
void time_axis_draw(const struct time_axis *a, const struct session *s, struct canvas *c, int row);
/* Columns from @start to @end ns, cut to the window; false = outside. */
bool time_axis_columns(const struct time_axis *a, double start, double end, int *from, int *to);

/* Moves the cursor around the middle of what is shown, or by a quarter of it; false = no further.
 */
bool time_axis_zoom(struct view_cursor *at, int direction);
bool time_axis_pan(struct view_cursor *at, int direction);

/* First row to show so that @selected is visible among @total rows in a window of @rows. */
unsigned panel_scroll(unsigned total, unsigned selected, int rows);
/* A scroll bar in the canvas' last column beside the window; nothing when all rows show. */
void panel_scroll_marks(struct canvas *c, int row, int rows, unsigned top, unsigned total);

#endif

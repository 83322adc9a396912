/*
 * The interactive screen: keys in, session out. Draws only what the host's session holds.
 *
 * Knows no back end, compiler or thread: everything that takes time happens behind the host's
 * functions, which must return at once. Layout and drawing are pure (screen_draw), so the same
 * code makes golden screens without a terminal.
 */
#ifndef PMPP_UI_SCREEN_H
#define PMPP_UI_SCREEN_H

#include "base/err.h"
#include "model/session.h"
#include "ui/canvas.h"
#include "ui/view.h"

enum command {
	CMD_NONE,
#define KEY(id, key, alt, bar, when, handler, arg, about) CMD_##id,
#include "ui/keys.def"
#undef KEY
	CMD_VIEW_1, /* digit keys 1..9 and 0: the panel in that place of the tab row */
	CMD_VIEW_10 = CMD_VIEW_1 + 9,
	CMD_PAGE,   /* no key: one page of the list is being read */
	CMD_OUTPUT, /* no key: what a line behind ':' printed is being read */
	CMD_COUNT
};

/* A choice list the host offers (kernels with variants, GPUs, back ends). */
struct choice {
	char label[120], note[480];
	bool enabled;
	bool current; /* the present choice: the list opens on it */
	char why_not[160];
	/* the note is a source line, not for translation; and where the next one is found at once */
	bool verbatim;
	const char *text_after;
	size_t index_after;
};

struct settings;
struct screen_host {
	void *ctx;
	const struct session *(*session)(void *ctx);
	/* Takes over finished work; true = something changed. */
	bool (*poll)(void *ctx);
	/* Readable when poll() has something; the loop sleeps on it and on the keyboard. */
	int (*wake_fd)(void *ctx);
	/* The selection changes; each returns at once and starts a run as needed. A refused value
	 * is kept in the session (plan_err), so that the screen can say why. */
	void (*set_param)(void *ctx, unsigned param, int64_t value);
	void (*set_kernel)(void *ctx, const struct kernel_desc *k, unsigned variant);
	void (*set_gpu)(void *ctx, size_t gpu);
	void (*set_backend)(void *ctx, size_t backend);
	/* A launch of the program is to be shown; NULL = the host has no program. */
	void (*set_launch)(void *ctx, uint64_t number);
	/* All of a selection at once, as it was before. */
	void (*set_selection)(void *ctx, const struct selection *sel);
	void (*run)(void *ctx);
	void (*cancel)(void *ctx);
	/* Another panel has the focus now; NULL = the host does not care. */
	void (*focus)(void *ctx);
	/* What the screen itself changes: focused view, parameter, cursor. */
	struct session *(*edit)(void *ctx);
	size_t n_views;
	const struct view_desc *(*view_at)(size_t i);
	/* Presets and files. False: @said holds why not; true: it may hold what was done. */
	bool (*step)(void *ctx, int direction, char *said, size_t n);
	bool (*reveal)(void *ctx, char *said, size_t n);
	bool (*save)(void *ctx, char *said, size_t n);
	/* What came of a file since; asked after poll(). False: nothing new. NULL = never. */
	bool (*said)(void *ctx, char *said, size_t n, bool *bad);
	/* The person's settings (settings.h) as they are now, for the caller to free; @path says where
	 * they are kept. And what shall be changed in them; returns at once. NULL = none are kept. */
	char *(*settings)(void *ctx, char *path, size_t n);
	void (*keep)(void *ctx, const struct settings *was, const struct settings *is);
	/* A line as behind "pmpp-explore". False: @said holds why it is refused. @runs: its text comes
	 * from output(). NULL = there is no such thing. */
	bool (*line)(void *ctx, const char *line, bool *runs, char *said, size_t n);
	/* The @i-th word that the last word of @line may become; false = there are no more. */
	bool (*complete)(void *ctx, const char *line, size_t i, char *out, size_t n);
	/* What the last line printed so far; and its end, where it still runs. */
	const char *(*output)(void *ctx);
	void (*output_end)(void *ctx);
	/* Choice lists, for KERNEL, GPU, BACKEND and PRESET. */
	size_t (*choices)(void *ctx, enum command list);
	void (*choice_at)(void *ctx, enum command list, size_t i, struct choice *out);
	void (*choose)(void *ctx, enum command list, size_t i);
};

#define TRAIL_MAX 32   /* selections that undo goes back through */
#define SIDE_MOST 400  /* columns of the side column that anybody wants */
#define LINES_MAX 16   /* lines behind ':' that Up brings back */
#define VISITED_MAX 16 /* panels that Esc goes back through */

/* State that belongs to the screen alone: open list, scroll, filter, typed text. */
struct screen_state {
	enum command open; /* a list, HELP, PAGE, ORIGINS, PARAM_TYPE or NONE */
	size_t selected, top;
	size_t page; /* PAGE: its place in the list */
	char typed[200];
	char line[200];             /* the last line behind ':' */
	char lines[LINES_MAX][200]; /* those before it and it, the last at the end */
	unsigned n_lines, line_at;  /* how many; which one the prompt shows, n_lines = none */
	int shift;                  /* OUTPUT: columns that lie left of the page */
	char message[600];          /* last refusal or hint */
	bool bad;                   /* the message is a refusal */
	bool solo;                  /* the focused panel has the whole screen */
	bool twice;                 /* and twice: as it was in the run before */
	size_t theme;               /* theme.h */
	size_t layout;              /* arrangement.h */
	int side_cols;              /* of the side column, as wanted; 0 = a third of the screen */
	enum hit_kind held;         /* by the mouse: HIT_EDGE, HIT_BLOCK, HIT_AXIS; else nothing */
	int held_col;               /* HIT_AXIS: where it was taken */
	int held_cols;              /* and how wide it is */
	bool ascii;                 /* the terminal: English only */
	bool lang_chosen;           /* by key */
	bool mouse_off;             /* the mouse is the terminal's: it selects text */
	bool mouse_toggled;         /* by a key, in this session */
	struct selection trail[TRAIL_MAX]; /* selections in the order in which they were made */
	unsigned trail_at, trail_n;        /* the present one; how many */
	const char *visited[VISITED_MAX]; /* names of the panels before this one, the last at the end */
	unsigned n_visited;
	const char *left[VISITED_MAX]; /* those that Esc came back from, the last at the end */
	unsigned n_left;
	bool playing;      /* the accesses of the observed warp pass by, one after another */
	enum command next; /* chosen from the list of keys: to be done now */
	char *copied;      /* for the terminal's clipboard; the loop frees it */
	bool quit_asked;   /* q was pressed once: it would lose runs */
	bool quit;
};

/* Whole frame for the given size (canvas size): header, tabs, panels, status, key bar.
 * 80x24: one panel. Wide: as many panels as fit (200x60: all). Below 80x24 parts fold away in
 * order; below 8 x 40 only a message and the most important value remain. */
void screen_draw(const struct screen_host *host, const struct screen_state *st, struct canvas *c);
/* Applies one command to state and host; one whose condition does not hold says why instead. */
void screen_command(const struct screen_host *host, struct screen_state *st, enum command command);
/* Applies one typed character while a list filter or a value is being typed; false = not taken. */
bool screen_type(const struct screen_host *host, struct screen_state *st, uint32_t ch);
/* One key press (ui/keys.h), as the loop and key scripts deliver it: typed text goes to the open
 * list or value, the rest becomes a command. */
void screen_key(const struct screen_host *host, struct screen_state *st, uint32_t key);

/* The mouse, where the terminal reports it. */
struct mouse_event {
	enum mouse_action {
		MOUSE_PRESS,
		MOUSE_DRAG, /* moved while pressed */
		MOUSE_RELEASE,
		MOUSE_WHEEL_UP,
		MOUSE_WHEEL_DOWN,
	} action;
	int row, col;
};
/* One mouse event on a screen of @rows x @cols: a tab, a row, a parameter, a key of the key bar or
 * a choice is pressed; the wheel moves through what it stands on; curves and edges are dragged. */
void screen_mouse(const struct screen_host *host, struct screen_state *st, int rows, int cols,
                  const struct mouse_event *event);

/* Runs the loop on the terminal until quit. The terminal is restored on return, on fatal signals
 * and in mem.c's last moment. False: no usable terminal (err says why and what to do instead). */
bool screen_run(const struct screen_host *host, struct err *err);

#endif

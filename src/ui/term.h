/*
 * The terminal: cells out, keys in. term.c is the only file that includes <curses.h>.
 *
 * One terminal at a time, used from one thread. Whatever ends the program (return, a signal, a
 * crash, out of memory), the terminal is put back first.
 */
#ifndef PMPP_UI_TERM_H
#define PMPP_UI_TERM_H

#include "base/err.h"
#include "ui/screen.h"

enum term_event {
	TERM_TIMEOUT,
	TERM_KEY,    /* input.key: as in ui/keys.h */
	TERM_MOUSE,  /* input.mouse */
	TERM_RESIZE, /* also after a stop (Ctrl-Z) and Ctrl-L: everything is drawn anew */
	TERM_WAKE,   /* the wake descriptor is readable */
	TERM_END,    /* asked to stop by a signal, or the terminal is gone */
};

struct term_input {
	uint32_t key;
	struct mouse_event mouse;
};

/* False: no usable terminal; @err says why and what to do instead. Nothing was changed then. */
bool term_open(struct err *err);
void term_close(void);
bool term_ascii(void);
/* Changes what styles look like (theme.h), from the next frame on. */
void term_theme(size_t theme);
/* Hands @text to the terminal's clipboard (OSC 52); a terminal that does not allow it ignores it.
 */
void term_copy(const char *text);
void term_size(int *rows, int *cols);
void term_show(const struct canvas *c);
/* Waits for a key, a signal, @wake_fd (-1 = none) or @timeout_ms (-1 = for ever). */
enum term_event term_wait(int wake_fd, int timeout_ms, struct term_input *in);
/* Whether the mouse is reported to the program, from the next event on; at first it is not. */
void term_mouse(bool on);

#endif

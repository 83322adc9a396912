/*
 * Signals as bytes in a pipe, and the terminal's restoration in the handler of a fatal one.
 */
#ifndef PMPP_UI_TERM_SIGNAL_H
#define PMPP_UI_TERM_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the terminal's modes and makes the pipe; no handler yet. False: errno says why. */
bool term_signals_open(void);
/* From here on every handler is ours; a fatal signal first writes @bytes to the terminal. */
void term_restore_arm(const char *bytes, size_t n);
/* Handlers as they were before; the pipe is gone. */
void term_signals_close(void);
/* Puts the terminal back at once, at most one time; async-signal-safe. */
void term_restore(void);
/* Readable when a signal has come. */
int term_signal_fd(void);
/* The numbers of the signals since last time, at most @n; returns how many. */
size_t term_signals_told(unsigned char *numbers, size_t n);
/* Stops like any program on Ctrl-Z; returns when the program is continued. The caller has put the
 * terminal back before. */
void term_signal_stop(void);

#endif

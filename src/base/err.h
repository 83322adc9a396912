/*
 * Errors as values: what went wrong, where, and what to do about it.
 *
 * Every function that can fail returns bool and takes a `struct err *` last.
 * The message says what and where ("sgemm.cu:41: ...", "parameter 'block': ...");
 * the remedy, when there is one, says what the person can do next.
 * This file does not print, translate or exit.
 */
#ifndef PMPP_BASE_ERR_H
#define PMPP_BASE_ERR_H

#include <stdbool.h>
#include <stdarg.h>

/* X(code, exit status of the program when nothing better is known) */
#define ERR_CODES(X)                                                                          \
	X(NONE, 0)        /* no error */                                                          \
	X(USAGE, 2)       /* the person asked for something illegal: option, parameter, launch */ \
	X(PARSE, 2)       /* a file or text is malformed; the message starts "file:line:" */      \
	X(IO, 3)          /* the operating system refused */                                      \
	X(UNAVAILABLE, 3) /* not possible here: no GPU, no NVRTC, no counters ... */              \
	X(UNSUPPORTED, 3) /* understood, but this program cannot do it (named precisely) */       \
	X(COMPILE, 1)     /* the kernel does not compile; the message holds the log */            \
	X(FAULT, 1)       /* the kernel did something illegal while running */                    \
	X(TIMEOUT, 1)     /* a watchdog ended the run */                                          \
	X(CANCELLED, 1)   /* the person ended the run */                                          \
	X(INTERNAL, 1)    /* a broken promise inside this program */

enum err_code {
#define X(code, status) ERR_##code,
	ERR_CODES(X)
#undef X
};

struct err {
	enum err_code code;
	char msg[8192];
	char remedy[2048];
};

/* Fills @err (which may be NULL) and returns false, so that callers can `return err_set(...)`. */
bool err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds what the person can do about it. Returns false like err_set(). */
bool err_remedy(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts context in front of the message: "presets/foo.yaml: " + msg. Returns false. */
bool err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* which sees declarations only: these return nothing but false */
#define err_set(...) (err_set(__VA_ARGS__), false)
#define err_remedy(...) (err_remedy(__VA_ARGS__), false)
#define err_prefix(...) (err_prefix(__VA_ARGS__), false)
#endif
void err_clear(struct err *err);
/* "usage", "parse" ...: the lower-case name of a code. */
const char *err_code_name(enum err_code code);
/* Exit status that belongs to a code (README: 0 verified, 1 wrong, 2 usage, 3 not possible here).
 */
int err_exit_status(enum err_code code);

#endif

/*
 * How far long work is, on a terminal: one row on stderr that rewrites itself, and over it what the
 * items that are done came to, until the whole answer takes their place. Ctrl-C ends the work and
 * keeps what is done; a second one ends the program.
 */
#ifndef PMPP_CLI_PROGRESS_H
#define PMPP_CLI_PROGRESS_H

#include "backend/backend.h"
#include "base/text.h"

#include <stdio.h>

#define PROGRESS_OPTION "--progress-fd"

/* Takes PROGRESS_OPTION and its value out of @argv: rows of progress go to that descriptor, a line
 * each, wherever stderr goes; what an item came to, after PROGRESS_RESULT. ERR_USAGE: it is not the
 * number of an open one. */
#define PROGRESS_RESULT '+'
bool progress_choose(int *argc, char **argv, struct err *err);

struct progress {
	FILE *to; /* NULL = nobody watches */
	unsigned n, done;
	double fraction; /* of the item under way, 0..1 */
	double started_s, drawn_s;
	char item[80]; /* what is under way */
	bool drawn;
	struct text held; /* rows of results that are not shown yet */
	unsigned rows;    /* of results that stand over the row */
};

/* @n items of work; drawn where @to is a terminal. From here on Ctrl-C sets progress_cancelled().
 */
void progress_begin(struct progress *p, unsigned n);
/* The next item begins; @item is copied. */
void progress_item(struct progress *p, const char *item);
/* The item is done. */
void progress_done(struct progress *p);
/* What an item came to, in one row, before it is done. */
void progress_result(struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Empties the row, and takes the results away where the terminal can. */
void progress_end(struct progress *p);
bool progress_cancelled(void);
/* Hooks of a run that is the item under way; @p must outlive them. */
struct run_hooks progress_hooks(struct progress *p);

/* The row @elapsed_s seconds after the beginning: "3 of 10 · tiled  45 %   12 s, 28 s to go". */
void progress_text(const struct progress *p, double elapsed_s, char *out, size_t n);

#endif

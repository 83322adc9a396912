/*
 * --dump: what a launch left in its buffers. Figures and the first elements, the difference to
 * another buffer or a file, or all elements to a file.
 *
 *   y            figures and first elements
 *   y=i32        the same, its bytes as elements of another type
 *   y-x, y-@F    the same, and where y differs from buffer x or from file F
 *   y:npy:FILE   all elements, as text, csv, npy or raw; without FILE: y.npy
 *
 * Several are separated by commas.
 */
#ifndef PMPP_CLI_DUMP_OUT_H
#define PMPP_CLI_DUMP_OUT_H

#include "base/err.h"
#include "base/text.h"
#include "model/session.h"

#include <jansson.h>

struct dump {
	const char *words; /* NULL = nothing is wanted */
	bool ok;           /* after the run; else @err says why */
	struct err err;
	struct text shown; /* for people */
	json_t *json;      /* the same as an array; the taker's */
};
/* Do all words name buffers of the launch? */
bool dump_legal(const char *words, const struct launch_plan *plan, struct err *err);
/* The same of @n buffers; named[b]: buffer @b is asked for (all false before). May be NULL. */
bool dump_names(const char *words, unsigned n, const struct buffer_plan *plan, bool *named,
                struct err *err);
/* Takes what is asked for of @n buffers; data[b] NULL = that one could not be had. */
void dump_buffers(struct dump *d, unsigned n, const struct buffer_plan *plan, void *const *data);
/* For run_options.outputs, @dump a struct dump: files are written, figures kept. */
void dump_take(void *dump, const struct launch_plan *plan, void *const *data);
void dump_free(struct dump *d);

#endif

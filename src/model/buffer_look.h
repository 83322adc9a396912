/*
 * What buffers hold behind a launch: the first elements of each, its figures, what the launch
 * changed in it, and how it differs from others. Plain data for panels; whoever has the memory
 * makes it, on a thread that may take its time.
 */
#ifndef PMPP_MODEL_BUFFER_LOOK_H
#define PMPP_MODEL_BUFFER_LOOK_H

#include "model/array.h"

#include <stdatomic.h>

#define BUFFER_HEAD 1024  /* first elements that are kept of each */
#define BUFFER_AGAINST 4u /* other buffers that each is compared with */

struct buffer_against {
	unsigned other; /* its index */
	struct array_difference is;
};

struct buffer_look {
	char name[64];
	enum elem_type type;
	bool guessed;       /* nothing tells its type */
	size_t count, seen; /* elements; of so many, from the first on, the figures are; 0 = unread */
	struct array_stats stats;
	size_t n_head;
	void *head;        /* n_head elements of `type` */
	bool knows_change; /* its contents in front of the launch are known */
	struct array_difference change;
	unsigned n_against; /* others of its type and length, the first ones */
	struct buffer_against against[BUFFER_AGAINST];
};

struct buffer_looks {
	unsigned n;
	struct buffer_look *of;
	char why[240]; /* there are none: the reason, with what to do */
};

/* One buffer's memory; NULL = not to be had. */
struct buffer_contents {
	const struct buffer_plan *plan;
	bool guessed;
	size_t seen; /* elements that there are of it */
	const void *before, *now;
};

/* Polls @cancel between two buffers; NULL = it was cancelled. buffer_looks_free(). */
struct buffer_looks *buffer_looks_make(unsigned n, const struct buffer_contents *c,
                                       const atomic_bool *cancel);
/* None, for this reason. */
struct buffer_looks *buffer_looks_none(const char *why);
void buffer_looks_free(struct buffer_looks *l); /* NULL is fine */

#endif

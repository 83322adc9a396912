/*
 * The buffers of a launch: made and filled once, and kept for the next launch that begins with the
 * same contents (the rungs of a ladder, a run again).
 *
 * Private to src/lab/. Knows no back end but by what it wants.
 */
#ifndef PMPP_LAB_RUN_BUFFERS_H
#define PMPP_LAB_RUN_BUFFERS_H

#include "base/shared_memory.h"
#include "model/session.h"

#include <stdatomic.h>

struct run_buffers {
	/* whose they are; no kernel = there are none */
	const struct kernel_desc *kernel;
	int64_t params[KERNEL_MAX_PARAMS];
	uint64_t seed;
	unsigned n;
	struct buffer_plan plan[KERNEL_MAX_BUFFERS];

	struct shared_memory memory; /* all of them lie in it; empty = each by itself */
	size_t bytes[KERNEL_MAX_BUFFERS];
	void *data[KERNEL_MAX_BUFFERS];   /* what the back end works on */
	void *before[KERNEL_MAX_BUFFERS]; /* contents at first: a copy for what is changed in place, the
	                                   * buffer itself for inputs, NULL for plain outputs */
	uint64_t fingerprint[KERNEL_MAX_BUFFERS]; /* of inputs: buffer_fingerprint() */
	bool used;                                /* outputs hold an earlier run's results */
	bool intact;                              /* inputs are known to be as they were filled */
};

/* Were they filled as @sel and @plan want it? Never those of a person's own file, which may change
 * under its name. */
bool run_buffers_fit(const struct run_buffers *b, const struct selection *sel,
                     const struct launch_plan *plan);
/* Does this machine have the memory for them, and for what a run of them takes beside? */
bool run_buffers_fit_memory(const struct launch_plan *plan, struct err *err);
/* Makes and fills them, in shared memory if @shared. @cancel may be NULL; polled between two. On
 * false there are none. */
bool run_buffers_make(struct run_buffers *b, const struct selection *sel,
                      const struct launch_plan *plan, bool shared, const atomic_bool *cancel,
                      struct err *err);
void run_buffers_free(struct run_buffers *b); /* none is fine */
/* As before the first run. An input that was written stays so: verification tells. */
void run_buffers_restore(struct run_buffers *b);
/* Is buffer @i poisoned before a run, and with which word? */
bool run_buffers_poison(const struct run_buffers *b, unsigned i, uint32_t *word);

/* What a plain output holds before the run: NaN in floating point, a recognisable pattern else. */
void poison_fill(enum elem_type type, void *data, size_t count);
/* Index of the first element that still holds it; count = none. */
size_t poison_first(enum elem_type type, const void *data, size_t count);
/* How many do. */
size_t poison_left(enum elem_type type, const void *data, size_t count);
/* A fingerprint of the contents; quick rather than strong. */
uint64_t buffer_fingerprint(const void *data, size_t bytes);

#endif

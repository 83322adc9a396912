/*
 * Guesses of a launch, and the words that say them. Private to src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_LINE_H
#define PMPP_USERKERNEL_USER_LINE_H

#include "base/text.h"
#include "userkernel/user_family.h"

/* What is guessed of a launch. */
struct guess {
	unsigned block[3], grid_dims;
	bool is_size[KERNEL_MAX_ARGS];
	int64_t small[KERNEL_MAX_ARGS];   /* of other whole numbers */
	int64_t size;                     /* of every size */
	unsigned factor[KERNEL_MAX_ARGS]; /* of a buffer */
	unsigned shared;                  /* bytes of dynamic shared memory */
	bool said;                        /* the block is a person's */
	/* what buffers hold: as a person would begin; every element another value, so that threads that
	 * meet do not write the same; zeros and ones, so that both ways of a condition are taken */
	enum { AS_USUAL, ALL_DIFFER, ZEROS_AND_ONES } contents;
};

/* A launch in words: what user_spec points to. */
struct line {
	char grid[160], block[64], shared[24];
	unsigned n;
	char arg[KERNEL_MAX_ARGS][200];
	const char *args[2 * KERNEL_MAX_ARGS]; /* of the spec: as a person gave them, else arg */
};

/* By names and types. @contents: of buffers. */
void guess_first(const struct user_kernel *k, unsigned contents, struct guess *g);
/* How many of the arguments are sizes. */
unsigned guess_sizes(const struct user_kernel *k, const struct guess *g);
/* The usual block number @choice, 0 to 5, within the kernel's bounds. */
void guess_block(const struct user_kernel *k, unsigned choice, struct guess *g);

void line_make(const struct user_kernel *k, const struct guess *g, struct line *out);
/* The launch with the words that a person gave in place of guesses; it points into @l. */
struct user_spec line_spec(const struct user_family *o, const struct user_kernel *k,
                           struct line *l);
/* Appends "pmpp-explore FILE --kernel ...", to be pasted into a shell. */
void line_put(const struct user_family *o, const struct user_spec *spec, struct text *t);

#endif

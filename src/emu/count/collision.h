/*
 * How the atomics of a launch collide: passes that one address after the other asks of the units
 * of L2 (timemodel/l2_units.h), and who wants to change which word by compare-and-swap.
 *
 * A pass changes each word of a sector at most once: lanes of a warp on one word need one each.
 */
#ifndef PMPP_EMU_COLLISION_H
#define PMPP_EMU_COLLISION_H

#include "timemodel/swap_contest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collision_log;
/* What one host thread has noted; the log's. */
struct collision_counts;
/* @concurrent: blocks that are resident together, of @blocks in the grid, each of @block_warps. */
struct collision_log *collision_log_new(uint64_t concurrent, uint64_t blocks, uint64_t block_warps);
void collision_log_free(struct collision_log *c);

/* One atomic of a warp on global memory. Addresses lie on multiples of @bytes. */
struct collision {
	const uint64_t *address;
	/* this thread's, *own NULL at first; or NULL: it is the only one */
	struct collision_counts **own;
	uint32_t mask;    /* not 0 */
	unsigned bytes;   /* of a lane */
	uint64_t block;   /* of the grid */
	uint32_t warp;    /* of the block */
	uint32_t turn;    /* how many atomics this warp has done before */
	bool float_data;  /* additions of floats: a sector takes longer to change again */
	bool swap;        /* compare-and-swap ... */
	bool looked;      /* ... of a warp that has looked at such words, ... */
	uint32_t wishes;  /* ... or one that has swapped so often without, ... */
	uint32_t changed; /* ... that changes the word, in these lanes: others must try again */
};
/* Thread-safe; sums do not depend on the order. */
void collision_log_add(struct collision_log *c, const struct collision *x);

/* Lanes look at a word that they may compare and swap then; @x->turn: how often this warp has
 * looked before. Thread-safe likewise. */
void collision_log_want(struct collision_log *c, const struct collision *x);

/* What the atomics that were noted ask for, one after the other. */
struct collision_totals {
	double passes;       /* all */
	double unit_passes;  /* of the busiest unit, while others have less to do */
	double float_passes; /* of the busiest sector, of floats */
	double swap_tries;   /* lanes of compare-and-swaps, ... */
	double swaps;        /* ... those that changed a word */
};
struct collision_totals collision_log_totals(const struct collision_log *c);

/* Wishes to change words, as far as they were kept: *@contest's wish, n, stands_for and lanes. */
void collision_log_wishes(struct collision_log *c, struct swap_contest *contest);

/* Lines that those who look load from the busiest unit, phase after phase. */
double collision_log_look_lines(const struct collision_log *c);

/* Passes that an atomic on shared memory takes: lanes that want one bank come one after the other;
 * with @merged, those that want the same word together. */
unsigned shared_atomic_passes(const uint64_t *address, uint32_t mask, unsigned bytes, bool merged);

#endif

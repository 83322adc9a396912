/*
 * How the atomics of a launch collide: passes that one address after the other asks of the units
 * of L2, and compare-and-swap loops that many warps run on one word.
 *
 * A pass changes each word of a sector at most once: lanes of a warp on one word need one each.
 * L2 shares addresses out to its units by chunks. Which chunk goes where is not known; a hash
 * stands for it.
 */
#ifndef PMPP_EMU_COLLISION_H
#define PMPP_EMU_COLLISION_H

#include "model/counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collision_log;
/* @concurrent: blocks that are resident together, of @blocks in the grid. */
struct collision_log *collision_log_new(uint64_t concurrent, uint64_t blocks);
void collision_log_free(struct collision_log *c);

/* One atomic of a warp on global memory. Addresses lie on multiples of @bytes. */
struct collision {
	const uint64_t *address;
	uint32_t mask;    /* not 0 */
	unsigned bytes;   /* of a lane */
	uint64_t block;   /* of the grid */
	uint32_t turn;    /* how many atomics this warp has done before */
	bool float_data;  /* additions of floats: a sector takes longer to change again */
	bool swap;        /* compare-and-swap ... */
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
	double swaps;        /* ... those that changed a word, ... */
	double unit_swaps;   /* ... of the busiest unit, ... */
	double word_swaps;   /* ... and of the busiest word */
	/* of all lanes that may want to change a word, those of the busiest unit's and word's: 0 to 1
	 */
	double unit_share, word_share;
	struct swap_contest contest;
};
struct collision_totals collision_log_totals(const struct collision_log *c);

/*
 * What those who look ask of the busiest unit, phase after phase, where all of them soon find what
 * they would have put there; each block stands for @factor. Blocks that have just begun come to
 * a word together and all try; later they find it changed.
 */
struct looks {
	double lines; /* that they load */
	double tries; /* lanes that try, the more of them on a word the fewer: 32 all do */
};
struct looks collision_log_looks(const struct collision_log *c, double factor);

/* Passes that an atomic on shared memory takes: lanes that want one bank come one after the other;
 * with @merged, those that want the same word together. */
unsigned shared_atomic_passes(const uint64_t *address, uint32_t mask, unsigned bytes, bool merged);

#endif

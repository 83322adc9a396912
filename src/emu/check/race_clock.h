/*
 * What a thread knows of other blocks' and threads' work: a sparse vector clock (race_clock.c).
 *
 * Time is counted per warp, in epochs: a warp's epoch grows whenever one of its lanes synchronises.
 * An entry (who, epoch) says: all that who did before that epoch of his warp is ordered before.
 * Clocks do not change once they are made; they are counted by reference.
 */
#ifndef PMPP_EMU_RACE_CLOCK_H
#define PMPP_EMU_RACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct race_entry {
	uint64_t who;
	uint32_t epoch;
};
struct race_clock {
	uint32_t refs, n;
	struct race_entry e[]; /* ascending by who */
};

/* Warps are numbered over the whole launch; a block is named by its first one. */
static inline uint64_t race_lane(uint32_t warp, unsigned lane)
{
	return (uint64_t)warp * 64 + lane;
}
static inline uint64_t race_warp_of(uint32_t warp)
{
	return (uint64_t)warp * 64 + 32;
}
static inline uint64_t race_block_of(uint32_t first_warp)
{
	return (uint64_t)first_warp * 64 + 33;
}

/* A clock of @n entries in any order, @e is sorted; NULL if there are none. */
struct race_clock *race_clock_new(struct race_entry *e, uint32_t n);
/* Makes *@to the later of both in every entry; NULL is the clock that knows nothing. */
void race_clock_join(struct race_clock **to, struct race_clock *from);
/* The same for one lane after the other: those whose clocks were one share what comes of it. */
struct race_joined {
	struct race_clock *before, *with, *after; /* of the last one; NULL = there is none */
};
void race_clock_join_shared(struct race_joined *j, struct race_clock **to, struct race_clock *from);
void race_joined_forget(struct race_joined *j);
/* Makes *@to another name of @from. */
void race_clock_set(struct race_clock **to, struct race_clock *from);
/* Makes @n clocks name what is left of them without what they say of [@from, @end). */
void race_clocks_forget(struct race_clock **clock, unsigned n, uint64_t from, uint64_t end);
/* The epoch before which all of @who is known; 0 = nothing. */
uint32_t race_clock_epoch(const struct race_clock *c, uint64_t who);

#endif

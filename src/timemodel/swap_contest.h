/*
 * Loops of compare-and-swap that many lanes run on the same words of global memory, try by try.
 *
 * A swap holds only if it comes with the value that the last one left. On hardware most fail while
 * others hold, which an emulator that runs one warp after the other does not see. So what each warp
 * wants is played once more, all resident warps together: requests wait at the units of L2, a unit
 * changes a word once in a pass, who failed has seen the new value and tries again after a round
 * trip. Requests are not served in their order: tests/gpu/micro/cas.cu, contended.cu.
 */
#ifndef PMPP_TIMEMODEL_SWAP_CONTEST_H
#define PMPP_TIMEMODEL_SWAP_CONTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWAP_WORD_BYTES 4
/* Lanes of a warp that want to change words, by one instruction. */
struct swap_wish {
	uint64_t block;    /* of the grid */
	uint32_t warp;     /* of the block */
	uint32_t turn;     /* how many wishes of this warp came before */
	uint32_t mask;     /* not 0 */
	uint32_t word[32]; /* of the lanes in @mask: address / SWAP_WORD_BYTES, lower bits */
};

struct swap_contest {
	const struct swap_wish *wish; /* ascending by block, warp and turn */
	size_t n;
	double stands_for;       /* warps of the grid, for each whose wishes these are, ... */
	double sampled_of;       /* ... of them, as only one block of so many was looked at */
	double lanes;            /* that want to change a word, in the whole grid */
	double concurrent_warps; /* that are resident together ... */
	double block_warps, sms; /* ... so many of a block, on so many SMs */
	double clock_ghz;        /* of an SM */
	/* lanes may find nothing to change, as in a maximum: of values in any order */
	bool settles;
	bool all_try; /* those put there what is there */
};

/* How much longer the launch takes than if each swap held at once; in ns, 0 or more. */
double swap_contest_ns(const struct swap_contest *c);

#endif

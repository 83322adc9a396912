/* Which thread block of those that a worker ran lasted longest, and what it executed. */
#ifndef PMPP_EMU_LONGEST_H
#define PMPP_EMU_LONGEST_H

#include <stdint.h>

struct worker;

struct longest_block {
	uint64_t ticks;   /* instructions that its slowest warp began; 0 = none yet */
	uint64_t *passes; /* of its warps, by segment */
	uint64_t *before; /* by segment: what the worker had counted when the present block began */
	unsigned looked_at;
};

void longest_init(struct worker *wk);
void longest_free(struct worker *wk);
void longest_block_begin(struct worker *wk);
void longest_block_end(struct worker *wk);

#endif

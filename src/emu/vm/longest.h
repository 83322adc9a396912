/* How the thread blocks that a worker ran lasted: the longest of them, and all of them. */
#ifndef PMPP_EMU_LONGEST_H
#define PMPP_EMU_LONGEST_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

struct longest_block {
	uint64_t lasts;   /* instructions and waits, in their unit; 0 = none yet */
	uint64_t ticks;   /* instructions that its slowest warp began */
	uint64_t *passes; /* of its warps, by segment */
	uint64_t *before; /* by segment: what the worker had counted when the present block began */
	bool *waits;      /* by segment: who comes there waits for memory */
	unsigned looked_at;
	uint64_t *entered;  /* by segment: blocks, of those looked at, that came there */
	uint64_t all_ticks; /* of the slowest warp of each block looked at */
};

void longest_init(struct worker *wk);
void longest_free(struct worker *wk);
void longest_block_begin(struct worker *wk);
void longest_block_end(struct worker *wk);

#endif

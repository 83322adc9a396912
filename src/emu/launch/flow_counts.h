/* What branches and meetings of a warp's lanes count. */
#ifndef PMPP_EMU_FLOW_COUNTS_H
#define PMPP_EMU_FLOW_COUNTS_H

#include "emu/ir/ir.h"
#include "model/counts.h"

/* Of a block, by all workers: how often it ran, its branch split a warp, and the instruction that
 * ends it was issued once more (vm/replay.c). */
struct block_flow {
	uint32_t block;
	uint64_t warps, divergent, again_warps, again_lanes;
};

/* Adds what operation @op of the block counts beyond what its instruction executes. */
void count_flow(const struct ir *ir, uint32_t op, const struct block_flow *f, struct counts *c);

#endif

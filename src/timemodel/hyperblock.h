/*
 * Hyperblocks and regions of a program, and how often each runs.
 *
 * A hyperblock is a run of basic blocks that a warp passes from the top: a block, the short side
 * that a branch in front of it skips (the assembler predicates such sides), and what follows in any
 * case. Barriers cut it into regions: a region runs through without a choice or a wait for other
 * warps. Mahlke et al. 1992, "Effective Compiler Support for Predicated Execution Using the
 * Hyperblock".
 */
#ifndef PMPP_TIMEMODEL_HYPERBLOCK_H
#define PMPP_TIMEMODEL_HYPERBLOCK_H

#include "timemodel/timing_program.h"

struct hyperblock {
	uint32_t first, end;               /* basic blocks [first, end) */
	uint32_t first_region, end_region; /* its regions */
};

struct hyperblocks {
	const struct timing_program *program;
	unsigned n, n_regions;
	struct hyperblock *hyperblock;
	uint32_t *of_block;      /* basic block -> hyperblock */
	uint32_t *region_of;     /* instruction -> region */
	uint8_t *n_predecessors; /* per basic block, saturating */
	int32_t *predecessor;    /* the only one, else -1 */
	/* Per basic block: executions by thread blocks, as one of their warps goes through. */
	double *block_passes;
};

void hyperblocks_build(struct hyperblocks *h, const struct timing_program *p);
void hyperblocks_free(struct hyperblocks *h);

/* Last instruction of basic block @b; NULL = it has none. */
const struct timing_inst *last_inst(const struct timing_program *p, uint32_t b);
/* Warps that went from basic block @from to its successor @to. */
double edge_passes(const struct hyperblocks *h, uint32_t from, uint32_t to);
/* The same of thread blocks. */
double edge_block_passes(const struct hyperblocks *h, uint32_t from, uint32_t to);
/* Is @to a successor of @from? */
bool leads_to(const struct timing_program *p, uint32_t from, uint32_t to);
/* Lanes of a warp that take both sides of the branch at the end of @b take them one after the
 * other: only the first finds anything under way. Its share of them. */
double first_of_sides(const struct hyperblocks *h, uint32_t b);

#endif

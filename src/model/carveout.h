/*
 * The carve-out: how much of an SM's common memory is shared memory; L1 has the rest.
 *
 * Which sizes there are is in the CUDA C++ Programming Guide ("Shared Memory" of each compute
 * capability) and in cuda_occupancy.h. Which of them the driver takes is not documented; the rule
 * here is what an H200 does (tests/gpu/h200-2026-11-27/carveout.csv), and what Nsight Compute's
 * "Block Limit Shared Mem" of four kernels on an RTX 4060 Ti says (16, 1, 7, 12).
 * Knows no occupancy: the caller says how many blocks fit.
 */
#ifndef PMPP_MODEL_CARVEOUT_H
#define PMPP_MODEL_CARVEOUT_H

#include "model/gpu.h"

#include <stdbool.h>

struct carveout_block {
	unsigned threads;
	unsigned shared_bytes; /* static and dynamic, as the program asks */
	unsigned needs;        /* the same with the system's reserve, in whole units */
	unsigned resident;     /* blocks that fit on an SM */
	/* cudaFuncAttributePreferredSharedMemoryCarveout, in percent of the most; else the driver's */
	bool preferred;
	unsigned preferred_pct;
};

/* The smallest size that holds @bytes, or the largest that there is. Bytes. */
unsigned carveout_size(const struct gpu_spec *g, double bytes);
/* What the driver sets for a kernel of such blocks. */
unsigned carveout_bytes(const struct gpu_spec *g, const struct carveout_block *b);
/* What a preference leaves for one block at least: the share, or more where a block needs more. */
unsigned carveout_preferred_bytes(const struct gpu_spec *g, unsigned pct, unsigned needs);

#endif

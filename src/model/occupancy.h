/*
 * Occupancy: how many blocks, and so warps, fit on one SM, and which resource says so.
 *
 * Two independent answers: the truth from NVIDIA's cuda_occupancy.h, and our own explained
 * arithmetic (every limiter with what a block needs and what the SM has). A test holds them equal
 * over a million random inputs per sheet. Beside them the book's arithmetic (PMPP 4.7: no
 * granularity, no reserve), because readers compare with it.
 */
#ifndef PMPP_MODEL_OCCUPANCY_H
#define PMPP_MODEL_OCCUPANCY_H

#include "base/err.h"
#include "model/gpu.h"
#include "model/metric.h"

/* X(ID, "name") : order of display */
#define OCC_LIMITS(X)          \
	X(WARPS, "warps")          \
	X(REGISTERS, "registers")  \
	X(SHARED, "shared memory") \
	X(BLOCKS, "block slots")   \
	X(BARRIERS, "barriers")

enum occ_limit_id {
#define X(id, name) OCC_##id,
	OCC_LIMITS(X)
#undef X
		OCC_LIMIT_COUNT
};

struct occ_input {
	unsigned block_threads;
	unsigned regs_per_thread;
	unsigned static_shared_bytes, dynamic_shared_bytes;
	unsigned barriers; /* named barriers per block; 0 is taken as 1 */
	/* cudaFuncAttributePreferredSharedMemoryCarveout, in percent; without it the driver chooses */
	bool carveout_preferred;
	unsigned carveout_pct;
};

#define OCC_UNLIMITED 0xffffffffu

struct occ_limit {
	enum occ_limit_id id;
	const char *name;
	unsigned blocks; /* per SM if only this resource counted; OCC_UNLIMITED = no limit */
	double needs;    /* per block, after granularity */
	double has;      /* per SM */
	bool limits;     /* ties for the minimum */
	/* "8 x roundup(33 x 32, 256) = 10240; 4 x (16384 / 1280) = 48 warps; 48 / 8 = 6" */
	char arithmetic[128];
};

struct occ_result {
	unsigned blocks_per_sm, warps_per_sm, threads_per_sm;
	double pct;
	struct occ_limit limits[OCC_LIMIT_COUNT];
	char limiters[64]; /* "warps, registers" */
	/* What the driver sets aside as shared memory of an SM (carveout.h), and the blocks that it
	 * holds: Nsight Compute's "Block Limit Shared Mem", which counts this and not all that an SM
	 * could have. 0 where the block cannot launch. */
	unsigned carveout_bytes, carveout_blocks;
	/* the book's arithmetic: plain division, no granularity, no reserve */
	unsigned book_blocks;
	double book_pct;
	char book_note[256]; /* why they differ; "" when they agree */
	bool launchable;
	char why_not[160]; /* when it is not: which limit of a block is broken */
};

/* False only for nonsense input (zero threads). A block that cannot launch is a result. */
bool occ_compute(const struct gpu_spec *g, const struct occ_input *in, struct occ_result *out,
                 struct err *err);
/*
 * Truth from cuda_occupancy.h: blocks per SM, and a bit (1u << occ_limit_id) for every limit that
 * equals it. The bits come from the header's own limits; its `limitingFactors` keeps the ties from
 * before the barrier limit even where barriers alone bind.
 */
bool occ_reference(const struct gpu_spec *g, const struct occ_input *in, unsigned *blocks,
                   unsigned *limiter_bits, struct err *err);
/*
 * Can cuda_occupancy.h speak for this sheet? Its compute capability must be known, and the figures
 * that the header keeps in its own tables (block slots, shared-memory sizes) must be those of the
 * sheet; else false with the sheet's key in question.
 */
bool occ_sheet_known(const struct gpu_spec *g, const char **key, struct err *err);
/*
 * What is left for L1 of an SM's common memory beside @blocks blocks that take @shared_bytes each,
 * with the system's reserve: the driver gives shared memory the smallest of the sizes that the GPU
 * can be set to which holds them all; where they have nothing but the reserve, none. Bytes.
 */
double occ_l1_bytes(const struct gpu_spec *g, double shared_bytes, unsigned blocks);
/* Fills occ.* and launch.waves (grid_blocks > 0). */
void occ_metrics(struct metric_set *m, const struct gpu_spec *g, const struct occ_result *r,
                 uint64_t grid_blocks);

#endif

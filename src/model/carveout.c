/*
 * The carve-out; see carveout.h. Where the driver is free, it holds room for more blocks than run
 * now, so that a second kernel may come beside them, as long as L1 keeps half of the memory.
 */
#include "model/carveout.h"

#include <cuda_occupancy.h>
#include <math.h>

/* Threads: of larger blocks, and of lone ones, there is room for no more. */
#define LARGE_BLOCK 512

unsigned carveout_size(const struct gpu_spec *g, double bytes)
{
	const cudaOccDeviceProp p = { .computeMajor = g->cc_major, .computeMinor = g->cc_minor };
	size_t size = (size_t)fmin(bytes, g->smem_per_sm_bytes);
	if (cudaOccAlignUpShmemSizeVoltaPlus(&size, &p) != CUDA_OCC_SUCCESS)
		return g->smem_per_sm_bytes;
	return (unsigned)size;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Blocks that there is to be room for: twice those that run; of kernels without shared memory,
 * whose blocks have nothing but the reserve, four times on compute capability 9.0 and later. */
static unsigned blocks_wanted(const struct gpu_spec *g, const struct carveout_block *b)
{
	const unsigned times = !b->shared_bytes && g->cc_major >= 9 ? 4 : 2;
	if (b->threads > LARGE_BLOCK || b->resident < 2)
		return b->resident;
	return most(b->resident, least(times * b->resident, g->max_blocks_per_sm));
}

static unsigned drivers_choice(const struct gpu_spec *g, const struct carveout_block *b)
{
	const unsigned wanted = carveout_size(g, (double)blocks_wanted(g, b) * b->needs);
	const unsigned half = carveout_size(g, 0.5 * g->l1_bytes);
	return wanted <= half ? wanted : most(half, carveout_size(g, (double)b->resident * b->needs));
}

unsigned carveout_preferred_bytes(const struct gpu_spec *g, unsigned pct, unsigned needs)
{
	const unsigned wanted = g->smem_per_sm_bytes * pct / 100;
	const unsigned share = carveout_size(g, wanted);
	return share >= needs ? share : carveout_size(g, needs);
}

unsigned carveout_bytes(const struct gpu_spec *g, const struct carveout_block *b)
{
	if (!b->preferred)
		return drivers_choice(g, b);
	if (!b->shared_bytes)
		return most(carveout_preferred_bytes(g, b->preferred_pct, b->needs), drivers_choice(g, b));
	/* the share is of what programs ask for: the reserve of the blocks that it holds comes on top
	 */
	const unsigned share = g->smem_per_sm_bytes * b->preferred_pct / 100;
	const unsigned held = share / b->shared_bytes;
	return most(carveout_preferred_bytes(g, b->preferred_pct, b->needs),
	            carveout_size(g, (double)held * b->needs));
}

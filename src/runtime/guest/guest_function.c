/* What a program asks of its kernels: attributes, occupancy, names. */
#include "runtime/guest/guest_device.h"
#include "runtime/guest/guest_time.h"

#include "model/occupancy.h"
#include "timemodel/constants.h"
#include "timemodel/kernel_time.h"

#include <string.h>

/* Where the compiler's figure is not known. 32 is what most kernels need at most. */
#define USUAL_REGISTERS 32

static void occupancy_of(const struct guest_function *f, unsigned threads, unsigned dynamic_shared,
                         struct occ_result *out)
{
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	const struct occ_input in = {
		.block_threads = threads,
		.regs_per_thread = f->registers ? f->registers : USUAL_REGISTERS,
		.static_shared_bytes = info.static_shared_bytes,
		.dynamic_shared_bytes = dynamic_shared,
		.barriers = 1,
		.carveout_preferred = f->carveout >= 0,
		.carveout_pct = f->carveout >= 0 ? (unsigned)f->carveout : 0,
	};
	if (!occ_compute(&guest.gpu, &in, out, NULL))
		memset(out, 0, sizeof *out);
}

static uint64_t n_launches; /* of all functions */

bool guest_code_is_kept(const struct guest_function *f)
{
	uint64_t bytes = f->code_bytes;
	if (!f->launches)
		return false;
	for (size_t i = 0; i < guest.n_functions && f->last_launch < n_launches; i++)
		if (guest.functions[i]->last_launch > f->last_launch)
			bytes += guest.functions[i]->code_bytes;
	return (double)bytes <= timing.code_kept_kib * 1024;
}

void guest_function_ran(struct guest_function *f)
{
	if (!f->launches++) {
		struct emu_function_info info;
		emu_function_info(f->loaded, &info);
		f->code_bytes = info.code_bytes;
	}
	f->last_launch = ++n_launches;
}

unsigned guest_resident_blocks(const struct guest_function *f, unsigned threads,
                               unsigned dynamic_shared_bytes)
{
	struct occ_result r;
	occupancy_of(f, threads, dynamic_shared_bytes, &r);
	return r.blocks_per_sm;
}

void guest_attributes(const struct guest_function *f, struct cudaFuncAttributes *out)
{
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	memset(out, 0, sizeof *out);
	out->sharedSizeBytes = info.static_shared_bytes;
	out->localSizeBytes = info.local_bytes;
	out->maxThreadsPerBlock =
		(int)(info.max_threads ? info.max_threads : guest.gpu.max_threads_per_block);
	out->numRegs = (int)(f->registers ? f->registers : USUAL_REGISTERS);
	out->ptxVersion = out->binaryVersion = guest.gpu.cc_major * 10 + guest.gpu.cc_minor;
	out->maxDynamicSharedSizeBytes =
		f->max_dynamic_shared > 0
			? f->max_dynamic_shared
			: (int)guest.gpu.smem_per_block_bytes - (int)info.static_shared_bytes;
	out->preferredShmemCarveout = f->carveout;
	out->clusterDimMustBeSet = info.cluster[0] != 0;
	out->requiredClusterWidth = (int)info.cluster[0];
	out->requiredClusterHeight = (int)info.cluster[1];
	out->requiredClusterDepth = (int)info.cluster[2];
	out->nonPortableClusterSizeAllowed = f->any_cluster;
}

static cudaError_t attributes(struct cudaFuncAttributes *out, const void *host)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	if (f)
		guest_attributes(f, out);
	return why;
}

GUEST_API cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *out,
                                                      const void *host)
{
	GUEST_CALL(attributes(out, host));
}

static cudaError_t set_attribute(const void *host, enum cudaFuncAttribute which, int value)
{
	cudaError_t why;
	struct guest_function *f = guest_function_of(host, &why);
	if (!f)
		return why;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	switch (which) {
	case cudaFuncAttributeMaxDynamicSharedMemorySize:
		if (value < 0 ||
		    (unsigned)value + info.static_shared_bytes > guest.gpu.smem_per_block_optin_bytes)
			return cudaErrorInvalidValue;
		f->max_dynamic_shared = value;
		return cudaSuccess;
	case cudaFuncAttributePreferredSharedMemoryCarveout:
		if (value < -1 || value > 100)
			return cudaErrorInvalidValue;
		f->carveout = value;
		return cudaSuccess;
	case cudaFuncAttributeNonPortableClusterSizeAllowed:
		f->any_cluster = value != 0;
		return cudaSuccess;
	default: return cudaSuccess; /* clusters: looked at when it is launched */
	}
}

GUEST_API cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute which,
                                                     int value)
{
	GUEST_CALL(set_attribute(host, which, value));
}

static cudaError_t is_function(const void *host)
{
	cudaError_t why;
	guest_function_of(host, &why);
	return why;
}

GUEST_API cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
	(void)config;
	GUEST_CALL(is_function(host));
}

static cudaError_t name_of(const char **name, const void *host)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	if (f)
		*name = f->name;
	return why;
}

GUEST_API cudaError_t CUDARTAPI cudaFuncGetName(const char **name, const void *host)
{
	GUEST_ANY_CALL(name_of(name, host));
}

static cudaError_t param_info(const void *host, size_t i, size_t *offset, size_t *bytes)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	unsigned at, n;
	if (!f)
		return why;
	if (!emu_function_param(f->loaded, (unsigned)i, &at, &n))
		return cudaErrorInvalidValue;
	*offset = at;
	if (bytes)
		*bytes = n;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void *host, size_t i, size_t *offset,
                                                     size_t *bytes)
{
	GUEST_CALL(param_info(host, i, offset, bytes));
}

/* --- occupancy --- */

static cudaError_t resident(int *blocks, const void *host, int threads, size_t shared)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	if (!f)
		return why;
	if (threads <= 0 || !blocks)
		return cudaErrorInvalidValue;
	*blocks = (int)guest_resident_blocks(f, (unsigned)threads, (unsigned)shared);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                              const void *host,
                                                                              int threads,
                                                                              size_t shared)
{
	GUEST_CALL(resident(blocks, host, threads, shared));
}

GUEST_API cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *host, int threads, size_t shared, unsigned flags)
{
	(void)flags;
	GUEST_CALL(resident(blocks, host, threads, shared));
}

/* Most dynamic shared memory with which @blocks are still resident. */
static cudaError_t room(size_t *bytes, const void *host, int blocks, int threads)
{
	cudaError_t why;
	const struct guest_function *f = guest_function_of(host, &why);
	if (!f)
		return why;
	size_t low = 0, high = guest.gpu.smem_per_block_optin_bytes;
	while (low < high) {
		const size_t mid = (low + high + 1) / 2;
		if ((int)guest_resident_blocks(f, (unsigned)threads, (unsigned)mid) >= blocks)
			low = mid;
		else
			high = mid - 1;
	}
	*bytes = low;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                                          const void *host,
                                                                          int blocks, int threads)
{
	GUEST_CALL(room(bytes, host, blocks, threads));
}

/* Clusters stay within a processing cluster (GPC). How many SMs each of those has is on no sheet:
 * assumed are eight on which the pairs of SMs are spread evenly. */
#define GPCS 8

/* The function, if there is one and a launch to look at; else NULL and @why. */
static const struct guest_function *asked_of(const int *n, const void *host,
                                             const cudaLaunchConfig_t *c, cudaError_t *why)
{
	const struct guest_function *f = guest_function_of(host, why);
	if (f && n && c)
		return f;
	if (f)
		*why = cudaErrorInvalidValue;
	return NULL;
}

static cudaError_t clusters(int *n, const void *host, const cudaLaunchConfig_t *c)
{
	cudaError_t why;
	const struct guest_function *f = asked_of(n, host, c, &why);
	if (!f)
		return why;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	unsigned blocks = info.cluster[0] ? info.cluster[0] * info.cluster[1] * info.cluster[2] : 1;
	for (unsigned i = 0; i < c->numAttrs; i++)
		if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
			blocks = c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y *
			         c->attrs[i].val.clusterDim.z;
	if (!blocks || blocks > (f->any_cluster ? 16 : 8))
		return cudaErrorInvalidClusterSize;
	const unsigned threads = c->blockDim.x * c->blockDim.y * c->blockDim.z;
	const unsigned each = guest_resident_blocks(f, threads, (unsigned)c->dynamicSmemBytes);
	const unsigned pairs = guest.gpu.sm_count / 2;
	*n = 0;
	for (unsigned g = 0; g < GPCS; g++)
		*n += (int)(2 * (pairs / GPCS + (g < pairs % GPCS)) * each / blocks);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int *n, const void *host,
                                                               const cudaLaunchConfig_t *config)
{
	GUEST_CALL(clusters(n, host, config));
}

static cudaError_t largest_cluster(int *n, const void *host, const cudaLaunchConfig_t *c)
{
	cudaError_t why;
	const struct guest_function *f = asked_of(n, host, c, &why);
	if (!f)
		return why;
	const unsigned threads = c->blockDim.x * c->blockDim.y * c->blockDim.z;
	const bool fits = guest_resident_blocks(f, threads, (unsigned)c->dynamicSmemBytes) > 0;
	*n = !fits ? 0 : guest.gpu.cc_major < 9 ? 1 : f->any_cluster ? 16 : 8;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI
cudaOccupancyMaxPotentialClusterSize(int *n, const void *host, const cudaLaunchConfig_t *config)
{
	GUEST_CALL(largest_cluster(n, host, config));
}

/* --- time --- */

double guest_kernel_ns(const struct guest_op *op, const struct run_counts *counts, double *share)
{
	const unsigned *grid = op->u.launch.grid, *block = op->u.launch.block;
	const unsigned threads = block[0] * block[1] * block[2];
	const double blocks = (double)grid[0] * grid[1] * grid[2];
	struct occ_result occ;
	struct perf_result perf;
	const struct launch_plan plan = {
		.grid = { grid[0], grid[1], grid[2] },
		.block = { block[0], block[1], block[2] },
		.dynamic_shared_bytes = op->u.launch.shared_bytes,
	};
	occupancy_of(op->u.launch.function, threads, op->u.launch.shared_bytes, &occ);
	kernel_time(&guest.gpu, &plan, &occ, counts, &perf);
	const double places = (double)guest.gpu.sm_count * occ.blocks_per_sm;
	*share = places > 0 && blocks < places ? blocks / places : 1;
	return perf.kernel_ns;
}

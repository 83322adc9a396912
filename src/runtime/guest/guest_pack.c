/* A launch as the API asks for it, made into an operation if this device can do it. */
#include "runtime/guest/guest_op.h"
#include "runtime/guest/guest_time.h"

#include "base/mem.h"

#include <string.h>

/* --- what is legal; the answers are those of CUDA 13 (tests/programs/launch_errors.cu) --- */

/* Clusters (tests/programs/cluster_launch.cu); what the GPU is too old for is said at the launch.
 */
static cudaError_t check_cluster(const struct guest_op *op, const struct emu_function_info *info)
{
	const unsigned *own = info->cluster, *asked = op->u.launch.group.cluster;
	const unsigned *c = asked[0] ? asked : own, *grid = op->u.launch.grid;
	const unsigned most = op->u.launch.function->any_cluster ? 16 : 8;
	if (!c[0])
		return cudaSuccess;
	if ((asked[0] && own[0] && memcmp(asked, own, 3 * sizeof *own) != 0) || !c[1] || !c[2] ||
	    (uint64_t)c[0] * c[1] * c[2] > most || grid[0] % c[0] || grid[1] % c[1] || grid[2] % c[2])
		return cudaErrorInvalidClusterSize;
	return cudaSuccess;
}

static cudaError_t check_limits(const struct guest_op *op)
{
	const unsigned *grid = op->u.launch.grid, *block = op->u.launch.block;
	const struct guest_function *f = op->u.launch.function;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2])
		return cudaErrorInvalidValue;
	if (grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535)
		return cudaErrorInvalidValue;
	const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
	if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 ||
	    threads > guest.gpu.max_threads_per_block)
		return cudaErrorInvalidValue;
	if (info.max_threads && threads > info.max_threads)
		return cudaErrorInvalidValue;
	const unsigned most = f->max_dynamic_shared > 0
	                          ? (unsigned)f->max_dynamic_shared + info.static_shared_bytes
	                          : guest.gpu.smem_per_block_bytes;
	if (op->u.launch.shared_bytes + info.static_shared_bytes > most)
		return cudaErrorInvalidValue;
	if (!guest_resident_blocks(op->u.launch.function, (unsigned)threads, op->u.launch.shared_bytes))
		return cudaErrorLaunchOutOfResources;
	if (op->u.launch.group.cooperative &&
	    (uint64_t)grid[0] * grid[1] * grid[2] >
	        (uint64_t)guest.gpu.sm_count *
	            guest_resident_blocks(f, (unsigned)threads, op->u.launch.shared_bytes))
		return cudaErrorCooperativeLaunchTooLarge;
	return check_cluster(op, &info);
}

cudaError_t guest_pack_launch(const void *host, dim3 grid, dim3 block, void **args,
                              size_t shared_bytes, const struct guest_group *group,
                              struct guest_op *op)
{
	cudaError_t why;
	struct guest_function *f = guest_function_of(host, &why);
	if (!f)
		return why;
	*op = (struct guest_op){
		.kind = GUEST_OP_LAUNCH,
		.u.launch = { .function = f,
		              .grid = { grid.x, grid.y, grid.z },
		              .block = { block.x, block.y, block.z },
		              .shared_bytes = (unsigned)shared_bytes,
		              .group = *group },
	};
	why = shared_bytes > guest.gpu.smem_per_sm_bytes ? cudaErrorInvalidValue : check_limits(op);
	if (why != cudaSuccess)
		return why;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	uint8_t *area = mem_zalloc(info.param_bytes + 1u);
	for (unsigned i = 0; i < info.n_params; i++) {
		unsigned offset, bytes;
		if (emu_function_param(f->loaded, i, &offset, &bytes) && args && args[i])
			memcpy(area + offset, args[i], bytes);
	}
	op->u.launch.params = area;
	return cudaSuccess;
}

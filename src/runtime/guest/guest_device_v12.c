/*
 * The device's properties as programs of CUDA 12 know them: their structure has fields that 13 took
 * out. Layout: driver_types.h of CUDA 12.0 to 12.9.
 */
#include "runtime/guest/guest.h"

#include <stddef.h>
#include <string.h>

struct properties_v12 {
	char name[256];
	cudaUUID_t uuid;
	char luid[8];
	unsigned luid_device_node_mask;
	size_t total_global_mem, shared_mem_per_block;
	int regs_per_block, warp_size;
	size_t mem_pitch;
	int max_threads_per_block, max_threads_dim[3], max_grid_size[3], clock_rate;
	size_t total_const_mem;
	int major, minor;
	size_t texture_alignment, texture_pitch_alignment;
	int device_overlap, multi_processor_count, kernel_exec_timeout_enabled, integrated,
		can_map_host_memory, compute_mode;
	int max_texture_1d[2], max_texture_1d_linear;
	int textures[37]; /* from maxTexture2D to maxSurfaceCubemapLayered: the same in both */
	size_t surface_alignment;
	int concurrent_kernels, ecc_enabled, pci_bus_id, pci_device_id, pci_domain_id, tcc_driver,
		async_engine_count, unified_addressing, memory_clock_rate, memory_bus_width, l2_cache_size,
		persisting_l2_cache_max_size, max_threads_per_multi_processor, stream_priorities_supported,
		global_l1_cache_supported, local_l1_cache_supported;
	size_t shared_mem_per_multiprocessor;
	int regs_per_multiprocessor, managed_memory, is_multi_gpu_board, multi_gpu_board_group_id,
		host_native_atomic_supported, single_to_double_precision_perf_ratio, pageable_memory_access,
		concurrent_managed_access, compute_preemption_supported,
		can_use_host_pointer_for_registered_mem, cooperative_launch,
		cooperative_multi_device_launch;
	size_t shared_mem_per_block_optin;
	int pageable_memory_access_uses_host_page_tables, direct_managed_mem_access_from_host,
		max_blocks_per_multi_processor, access_policy_max_window_size;
	size_t reserved_shared_mem_per_block;
	int host_register_supported, sparse_cuda_array_supported, host_register_read_only_supported,
		timeline_semaphore_interop_supported, memory_pools_supported, gpu_direct_rdma_supported;
	unsigned gpu_direct_rdma_flush_writes_options, gpu_direct_rdma_writes_ordering;
	int memory_pool_supported_handle_types, deferred_mapping_cuda_array_supported,
		ipc_event_supported, cluster_launch, unified_function_pointers, reserved[63];
};
_Static_assert(sizeof(struct properties_v12) == 1032, "as in CUDA 12");
_Static_assert(offsetof(struct properties_v12, clock_rate) == 348, "as in CUDA 12");
_Static_assert(offsetof(struct cudaDeviceProp, maxSurfaceCubemapLayered) -
                       offsetof(struct cudaDeviceProp, maxTexture2D) ==
                   35 * sizeof(int),
               "textures[]");

static int attribute(enum cudaDeviceAttr which)
{
	int value = 0;
	cudaDeviceGetAttribute(&value, which, 0);
	return value;
}

static void fill(struct properties_v12 *p, const struct cudaDeviceProp *q)
{
	memset(p, 0, sizeof *p);
	memcpy(p->name, q->name, sizeof p->name);
	p->uuid = q->uuid;
	p->total_global_mem = q->totalGlobalMem;
	p->shared_mem_per_block = q->sharedMemPerBlock;
	p->regs_per_block = q->regsPerBlock;
	p->warp_size = q->warpSize;
	p->mem_pitch = q->memPitch;
	p->max_threads_per_block = q->maxThreadsPerBlock;
	memcpy(p->max_threads_dim, q->maxThreadsDim, sizeof p->max_threads_dim);
	memcpy(p->max_grid_size, q->maxGridSize, sizeof p->max_grid_size);
	p->clock_rate = attribute(cudaDevAttrClockRate);
	p->total_const_mem = q->totalConstMem;
	p->major = q->major;
	p->minor = q->minor;
	p->texture_alignment = q->textureAlignment;
	p->texture_pitch_alignment = q->texturePitchAlignment;
	p->device_overlap = 1;
	p->multi_processor_count = q->multiProcessorCount;
	p->can_map_host_memory = q->canMapHostMemory;
	p->max_texture_1d[0] = q->maxTexture1D;
	p->max_texture_1d[1] = q->maxTexture1DMipmap;
	p->max_texture_1d_linear = attribute(cudaDevAttrMaxTexture1DLinearWidth);
	memcpy(p->textures, q->maxTexture2D, sizeof p->textures);
	p->surface_alignment = q->surfaceAlignment;
	p->concurrent_kernels = q->concurrentKernels;
	p->async_engine_count = q->asyncEngineCount;
	p->unified_addressing = q->unifiedAddressing;
	p->memory_clock_rate = attribute(cudaDevAttrMemoryClockRate);
	p->memory_bus_width = q->memoryBusWidth;
	p->l2_cache_size = q->l2CacheSize;
	p->max_threads_per_multi_processor = q->maxThreadsPerMultiProcessor;
	p->stream_priorities_supported = q->streamPrioritiesSupported;
	p->global_l1_cache_supported = q->globalL1CacheSupported;
	p->local_l1_cache_supported = q->localL1CacheSupported;
	p->shared_mem_per_multiprocessor = q->sharedMemPerMultiprocessor;
	p->regs_per_multiprocessor = q->regsPerMultiprocessor;
	p->managed_memory = q->managedMemory;
	p->single_to_double_precision_perf_ratio =
		attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
	p->concurrent_managed_access = q->concurrentManagedAccess;
	p->compute_preemption_supported = q->computePreemptionSupported;
	p->can_use_host_pointer_for_registered_mem = q->canUseHostPointerForRegisteredMem;
	p->cooperative_launch = q->cooperativeLaunch;
	p->shared_mem_per_block_optin = q->sharedMemPerBlockOptin;
	p->max_blocks_per_multi_processor = q->maxBlocksPerMultiProcessor;
	p->reserved_shared_mem_per_block = q->reservedSharedMemPerBlock;
	p->host_register_supported = q->hostRegisterSupported;
	p->host_register_read_only_supported = q->hostRegisterReadOnlySupported;
	p->memory_pools_supported = q->memoryPoolsSupported;
	p->cluster_launch = q->clusterLaunch;
	p->persisting_l2_cache_max_size = q->persistingL2CacheMaxSize;
	p->access_policy_max_window_size = q->accessPolicyMaxWindowSize;
}

/* No header of CUDA 13 declares it. */
GUEST_API cudaError_t CUDARTAPI cudaGetDeviceProperties_v2(void *out, int device);
cudaError_t CUDARTAPI cudaGetDeviceProperties_v2(void *out, int device)
{
	struct cudaDeviceProp q;
	if (!out)
		GUEST_CALL(cudaErrorInvalidValue);
	const cudaError_t e = cudaGetDeviceProperties(&q, device);
	if (e == cudaSuccess)
		fill(out, &q);
	return e;
}

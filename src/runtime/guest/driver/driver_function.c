/* What a program asks of its kernels through the driver API: attributes and occupancy. */
#include "runtime/guest/driver/driver.h"

static const void *host_of(CUfunction f)
{
	return (const void *)f;
}

static cudaError_t attribute(int *out, CUfunction_attribute which, const void *host)
{
	struct cudaFuncAttributes a;
	const cudaError_t e = cudaFuncGetAttributes(&a, host);
	if (e != cudaSuccess || !out)
		return out ? e : cudaErrorInvalidValue;
	switch (which) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = a.maxThreadsPerBlock; break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *out = (int)a.sharedSizeBytes; break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *out = (int)a.constSizeBytes; break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *out = (int)a.localSizeBytes; break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = a.numRegs; break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION: *out = a.ptxVersion; break;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *out = a.binaryVersion; break;
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *out = a.cacheModeCA; break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *out = a.maxDynamicSharedSizeBytes; break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *out = a.preferredShmemCarveout; break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *out = a.clusterDimMustBeSet; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *out = a.requiredClusterWidth; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *out = a.requiredClusterHeight; break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *out = a.requiredClusterDepth; break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*out = a.nonPortableClusterSizeAllowed;
		break;
	default: *out = 0; break;
	}
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuFuncGetAttribute(int *out, CUfunction_attribute which, CUfunction f)
{
	DRIVER_CALL(DRIVER_CONTEXT, attribute(out, which, host_of(f)));
}

GUEST_API CUresult CUDAAPI cuKernelGetAttribute(int *out, CUfunction_attribute which, CUkernel k,
                                                CUdevice device)
{
	(void)device;
	DRIVER_CALL(DRIVER_INIT, attribute(out, which, (const void *)k));
}

/* Attributes that can be set are numbered alike. */
GUEST_API CUresult CUDAAPI cuFuncSetAttribute(CUfunction f, CUfunction_attribute which, int value)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaFuncSetAttribute(host_of(f), (enum cudaFuncAttribute)which, value));
}

GUEST_API CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel k,
                                                CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, cudaKernelSetAttributeForDevice(
								 (cudaKernel_t)k, (enum cudaFuncAttribute)which, value, device));
}

GUEST_API CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFuncSetCacheConfig(host_of(f), (enum cudaFuncCache)config));
}

GUEST_API CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel k, CUfunc_cache config, CUdevice device)
{
	(void)device; /* there is one */
	DRIVER_CALL(DRIVER_INIT, cudaFuncSetCacheConfig((const void *)k, (enum cudaFuncCache)config));
}

GUEST_API CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config)
{
	(void)config; /* a hint, without effect since compute capability 5 */
	DRIVER_CALL(DRIVER_CONTEXT, cudaFuncSetCacheConfig(host_of(f), cudaFuncCachePreferNone));
}

GUEST_API CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction f)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFuncGetName(name, host_of(f)));
}

GUEST_API CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel k)
{
	DRIVER_CALL(DRIVER_INIT, cudaFuncGetName(name, (const void *)k));
}

GUEST_API CUresult CUDAAPI cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFuncGetParamInfo(host_of(f), i, offset, bytes));
}

GUEST_API CUresult CUDAAPI cuKernelGetParamInfo(CUkernel k, size_t i, size_t *offset, size_t *bytes)
{
	DRIVER_CALL(DRIVER_INIT, cudaFuncGetParamInfo((const void *)k, i, offset, bytes));
}

static cudaError_t module_of(CUmodule *out, CUfunction f)
{
	cudaError_t why;
	const struct guest_function *known = guest_function_of(host_of(f), &why);
	if (known)
		*out = (CUmodule)known->module;
	return why;
}

GUEST_API CUresult CUDAAPI cuFuncGetModule(CUmodule *out, CUfunction f)
{
	DRIVER_CALL(DRIVER_CONTEXT, module_of(out, f));
}

GUEST_API CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *out, CUkernel k)
{
	DRIVER_CALL(DRIVER_INIT, module_of((CUmodule *)out, (CUfunction)k));
}

/* --- occupancy --- */

GUEST_API CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f,
                                                                       int threads, size_t shared)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host_of(f), threads, shared));
}

GUEST_API CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, CUfunction f, int threads, size_t shared, unsigned flags)
{
	(void)flags;
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host_of(f), threads, shared));
}

GUEST_API CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction f,
                                                                   int blocks, int threads)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaOccupancyAvailableDynamicSMemPerBlock(bytes, host_of(f), blocks, threads));
}

/* The block size with most resident threads, the largest of several; the smallest grid that fills
 * the device with it. */
static cudaError_t best_block(int *grid, int *block, const void *host, CUoccupancyB2DSize shared_of,
                              size_t shared, int limit)
{
	struct cudaFuncAttributes a;
	cudaError_t e = cudaFuncGetAttributes(&a, host);
	if (e != cudaSuccess || !grid || !block)
		return e != cudaSuccess ? e : cudaErrorInvalidValue;
	const int most = limit > 0 && limit < a.maxThreadsPerBlock ? limit : a.maxThreadsPerBlock;
	const int warp = (int)guest.gpu.warp_size;
	int best = 0;
	for (int threads = (most + warp - 1) / warp * warp; threads > 0; threads -= warp) {
		const int n = threads < most ? threads : most;
		int blocks = 0;
		e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, host, n,
		                                                  shared_of ? shared_of(n) : shared);
		if (e != cudaSuccess)
			return e;
		if (blocks * n <= best)
			continue;
		best = blocks * n;
		*block = n;
		*grid = blocks * (int)guest.gpu.sm_count;
	}
	return best ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                                            CUoccupancyB2DSize shared_of,
                                                            size_t shared, int limit)
{
	DRIVER_CALL(DRIVER_CONTEXT, best_block(grid, block, host_of(f), shared_of, shared, limit));
}

GUEST_API CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                                     CUfunction f,
                                                                     CUoccupancyB2DSize shared_of,
                                                                     size_t shared, int limit,
                                                                     unsigned flags)
{
	(void)flags;
	DRIVER_CALL(DRIVER_CONTEXT, best_block(grid, block, host_of(f), shared_of, shared, limit));
}

static cudaError_t clusters(int *n, CUfunction f, const CUlaunchConfig *c, bool largest)
{
	if (!c)
		return cudaErrorInvalidValue;
	const cudaLaunchConfig_t config = driver_launch_config(c);
	return largest ? cudaOccupancyMaxPotentialClusterSize(n, host_of(f), &config)
	               : cudaOccupancyMaxActiveClusters(n, host_of(f), &config);
}

GUEST_API CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *n, CUfunction f,
                                                        const CUlaunchConfig *config)
{
	DRIVER_CALL(DRIVER_CONTEXT, clusters(n, f, config, false));
}

GUEST_API CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *n, CUfunction f,
                                                              const CUlaunchConfig *config)
{
	DRIVER_CALL(DRIVER_CONTEXT, clusters(n, f, config, true));
}

/* The device: how many, what it is, what it can do; all from the chosen GPU sheet. */
#include "runtime/guest/guest_capture.h"
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_device.h"
#include "runtime/guest/guest_pool.h"
#include "runtime/guest/guest_graph.h"
#include "runtime/guest/guest_limit.h"
#include "runtime/guest/guest_wait.h"

#include "model/gpu.h"

#include <stdio.h>
#include <string.h>

#define DRIVER_VERSION 13000

/* --- one device --- */

static cudaError_t only_device(int device)
{
	return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

static cudaError_t put_int(int *out, int value)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = value;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGetDeviceCount(int *count)
{
	GUEST_ANY_CALL(put_int(count, 1));
}

GUEST_API cudaError_t CUDARTAPI cudaGetDevice(int *device)
{
	GUEST_ANY_CALL(put_int(device, 0));
}

static cudaError_t set_device(int device)
{
	const cudaError_t e = only_device(device);
	return e == cudaSuccess && guest.sticky == cudaErrorDevicesUnavailable ? guest.sticky : e;
}

GUEST_API cudaError_t CUDARTAPI cudaSetDevice(int device)
{
	GUEST_ANY_CALL(set_device(device));
}

GUEST_API cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags, (void)flags;
	GUEST_CALL(only_device(device));
}

GUEST_API cudaError_t CUDARTAPI cudaSetValidDevices(int *devices, int n)
{
	(void)devices, (void)n;
	GUEST_CALL(cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
	(void)wanted;
	GUEST_ANY_CALL(put_int(device, 0));
}

GUEST_API cudaError_t CUDARTAPI cudaDriverGetVersion(int *version)
{
	GUEST_ANY_CALL(put_int(version, DRIVER_VERSION));
}

GUEST_API cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version)
{
	GUEST_ANY_CALL(put_int(version, CUDART_VERSION));
}

static unsigned device_flags;

static cudaError_t set_flags(unsigned flags)
{
	device_flags = flags;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned flags)
{
	GUEST_ANY_CALL(set_flags(flags));
}

GUEST_API cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned *flags)
{
	GUEST_ANY_CALL(*flags = device_flags, cudaSuccess);
}

static cudaError_t synchronize_all(void)
{
	const cudaError_t e = guest_capture_spoil_all();
	if (e != cudaSuccess)
		return e;
	wait_all();
	clock_wait_until(clock_all_done_ns());
	return guest.sticky;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
	GUEST_CALL(synchronize_all());
}

/* Everything begins anew, but behind an error that stays no call is served any more (as on an H200,
 * tests/programs/device_reset.cu). */
static cudaError_t reset(void)
{
	const bool lost = guest.sticky != cudaSuccess;
	guest_capture_drop_all();
	synchronize_all();
	emu_device_release_all(guest.device);
	pool_reset();
	for (const struct guest_module *m = guest.modules; m; m = m->next)
		if (m->loaded)
			emu_module_reset(guest.device, m->loaded);
	guest_limits_begin();
	guest.sticky = lost ? cudaErrorDevicesUnavailable : cudaSuccess;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceReset(void)
{
	const cudaError_t e = guest_enter();
	return guest_leave(e == cudaSuccess || e == guest.sticky ? reset() : e);
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit which, size_t value)
{
	GUEST_UNSAFE_CALL(guest_limit(which, &value, NULL));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value, enum cudaLimit which)
{
	GUEST_CALL(guest_limit(which, NULL, value));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	GUEST_CALL(*least = 0, *greatest = -5, cudaSuccess);
}

/* How L1 and shared memory divide their store is a hint: it changes no result. */
static enum cudaFuncCache cache_config;

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	GUEST_UNSAFE_CALL(cache_config = config, cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	GUEST_CALL(*config = cache_config, cudaSuccess);
}

GUEST_API cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache(void)
{
	GUEST_CALL(cudaSuccess);
}

static cudaError_t bus_id(char *out, int n, int device)
{
	if (device)
		return cudaErrorInvalidDevice;
	snprintf(out, (size_t)n, "0000:00:00.0");
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *out, int n, int device)
{
	GUEST_ANY_CALL(bus_id(out, n, device));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	(void)id;
	GUEST_CALL(put_int(device, 0));
}

/* --- peers: there are none --- */

GUEST_API cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	GUEST_ANY_CALL(device || peer ? cudaErrorInvalidDevice : put_int(can, 0));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)peer, (void)flags;
	GUEST_CALL(cudaErrorInvalidDevice);
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer)
{
	(void)peer;
	GUEST_CALL(cudaErrorPeerAccessNotEnabled);
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr which,
                                                          int from, int to)
{
	(void)which;
	GUEST_CALL(from || to ? cudaErrorInvalidDevice : put_int(value, 0));
}

/* --- properties and attributes: what the sheet says, and what is the same everywhere since compute
 * capability 7 (CUDA programming guide, "Technical specifications") --- */

/* X(attribute, value) */
#define DEVICE_ATTRIBUTES(X)                                                     \
	X(cudaDevAttrMaxThreadsPerBlock, g->max_threads_per_block)                   \
	X(cudaDevAttrMaxBlockDimX, 1024)                                             \
	X(cudaDevAttrMaxBlockDimY, 1024)                                             \
	X(cudaDevAttrMaxBlockDimZ, 64)                                               \
	X(cudaDevAttrMaxGridDimX, 0x7fffffff)                                        \
	X(cudaDevAttrMaxGridDimY, 65535)                                             \
	X(cudaDevAttrMaxGridDimZ, 65535)                                             \
	X(cudaDevAttrMaxSharedMemoryPerBlock, g->smem_per_block_bytes)               \
	X(cudaDevAttrTotalConstantMemory, 65536)                                     \
	X(cudaDevAttrWarpSize, g->warp_size)                                         \
	X(cudaDevAttrMaxPitch, 0x7fffffff)                                           \
	X(cudaDevAttrMaxRegistersPerBlock, g->regs_per_block)                        \
	X(cudaDevAttrClockRate, g->clock_mhz * 1000)                                 \
	X(cudaDevAttrTextureAlignment, 512)                                          \
	X(cudaDevAttrTexturePitchAlignment, 32)                                      \
	X(cudaDevAttrGpuOverlap, 1)                                                  \
	X(cudaDevAttrMultiProcessorCount, g->sm_count)                               \
	X(cudaDevAttrKernelExecTimeout, 0)                                           \
	X(cudaDevAttrIntegrated, 0)                                                  \
	X(cudaDevAttrCanMapHostMemory, 1)                                            \
	X(cudaDevAttrComputeMode, cudaComputeModeDefault)                            \
	X(cudaDevAttrSurfaceAlignment, 512)                                          \
	X(cudaDevAttrConcurrentKernels, 1)                                           \
	X(cudaDevAttrEccEnabled, 0)                                                  \
	X(cudaDevAttrPciBusId, 0)                                                    \
	X(cudaDevAttrPciDeviceId, 0)                                                 \
	X(cudaDevAttrPciDomainId, 0)                                                 \
	X(cudaDevAttrTccDriver, 0)                                                   \
	X(cudaDevAttrMemoryClockRate, guest_memory_clock_khz())                      \
	X(cudaDevAttrGlobalMemoryBusWidth, guest_bus_bits())                         \
	X(cudaDevAttrL2CacheSize, g->l2_bytes)                                       \
	X(cudaDevAttrMaxThreadsPerMultiProcessor, g->max_threads_per_sm)             \
	X(cudaDevAttrAsyncEngineCount, g->copy_engines)                              \
	X(cudaDevAttrUnifiedAddressing, 1)                                           \
	X(cudaDevAttrComputeCapabilityMajor, g->cc_major)                            \
	X(cudaDevAttrComputeCapabilityMinor, g->cc_minor)                            \
	X(cudaDevAttrStreamPrioritiesSupported, 1)                                   \
	X(cudaDevAttrGlobalL1CacheSupported, 1)                                      \
	X(cudaDevAttrLocalL1CacheSupported, 1)                                       \
	X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, g->smem_per_sm_bytes)         \
	X(cudaDevAttrMaxRegistersPerMultiprocessor, g->regs_per_sm)                  \
	X(cudaDevAttrManagedMemory, 1)                                               \
	X(cudaDevAttrIsMultiGpuBoard, 0)                                             \
	X(cudaDevAttrMultiGpuBoardGroupID, 0)                                        \
	X(cudaDevAttrHostNativeAtomicSupported, 0)                                   \
	X(cudaDevAttrSingleToDoublePrecisionPerfRatio,                               \
	  g->fp64_lanes_per_sm ? g->fp32_lanes_per_sm / g->fp64_lanes_per_sm : 0)    \
	X(cudaDevAttrPageableMemoryAccess, 0)                                        \
	X(cudaDevAttrConcurrentManagedAccess, 1)                                     \
	X(cudaDevAttrComputePreemptionSupported, 1)                                  \
	X(cudaDevAttrCanUseHostPointerForRegisteredMem, 1)                           \
	X(cudaDevAttrCooperativeLaunch, 1)                                           \
	X(cudaDevAttrReserved122, 1) /* 64-bit values that streams write */          \
	X(cudaDevAttrReserved123, 1) /* and the wait NOR */                          \
	X(cudaDevAttrMaxSharedMemoryPerBlockOptin, g->smem_per_block_optin_bytes)    \
	X(cudaDevAttrHostRegisterSupported, 1)                                       \
	X(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0)                      \
	X(cudaDevAttrDirectManagedMemAccessFromHost, 0)                              \
	X(cudaDevAttrMaxBlocksPerMultiprocessor, g->max_blocks_per_sm)               \
	X(cudaDevAttrReservedSharedMemoryPerBlock, g->smem_reserved_per_block_bytes) \
	X(cudaDevAttrHostRegisterReadOnlySupported, 1)                               \
	X(cudaDevAttrMemoryPoolsSupported, 1)                                        \
	X(cudaDevAttrClusterLaunch, g->cc_major >= 9)                                \
	X(cudaDevAttrMaxPersistingL2CacheSize, guest_persisting_bytes())             \
	X(cudaDevAttrMaxAccessPolicyWindowSize, access_window_bytes())

/* Double data rate, on the widest bus whose clock stays below 3 GHz: device queries multiply the
 * two for the bandwidth, and get the sheet's. */
static int guest_bus_bits(void)
{
	return guest.gpu.dram_gbs > 1200 ? 5120 : 256;
}

static int guest_memory_clock_khz(void)
{
	return (int)(guest.gpu.dram_gbs * 1e9 / 2 / ((double)guest_bus_bits() / 8) / 1e3 + 0.5);
}

static int access_window_bytes(void)
{
	return guest.gpu.cc_major >= 9 ? 128 << 20 : guest.gpu.cc_major >= 8 ? (128 << 20) - 4096 : 0;
}

cudaError_t guest_attribute(int *value, enum cudaDeviceAttr which, int device)
{
	const struct gpu_spec *g = &guest.gpu;
	const struct {
		enum cudaDeviceAttr which;
		int value;
	} known[] = {
#define X(name, number) { name, (int)(number) },
		DEVICE_ATTRIBUTES(X)
#undef X
#define LIMIT(name, member, number) { name, number },
#include "runtime/guest/texture_limit.def"
#undef LIMIT
			{ cudaDevAttrMaxTexture1DLinearWidth, 1 << 28 },
	};
	if (device)
		return cudaErrorInvalidDevice;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].which == which)
			return put_int(value, known[i].value);
	/* links and abilities that this device does not have */
	return (int)which > 0 && which < cudaDevAttrMax ? put_int(value, 0) : cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which,
                                                       int device)
{
	GUEST_ANY_CALL(guest_attribute(value, which, device));
}

static cudaError_t properties(struct cudaDeviceProp *p, int device)
{
	const struct gpu_spec *g = &guest.gpu;
	if (device || !p)
		return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	memset(p, 0, sizeof *p);
	snprintf(p->name, sizeof p->name, "NVIDIA %s", g->name);
	p->totalGlobalMem = (size_t)g->dram_bytes;
	p->sharedMemPerBlock = g->smem_per_block_bytes;
	p->regsPerBlock = (int)g->regs_per_block;
	p->warpSize = (int)g->warp_size;
	p->memPitch = 0x7fffffff;
	p->maxThreadsPerBlock = (int)g->max_threads_per_block;
	p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
	p->maxThreadsDim[2] = 64;
	p->maxGridSize[0] = 0x7fffffff;
	p->maxGridSize[1] = p->maxGridSize[2] = 65535;
	p->totalConstMem = 65536;
	p->major = g->cc_major;
	p->minor = g->cc_minor;
	p->textureAlignment = p->surfaceAlignment = 512;
	p->texturePitchAlignment = 32;
	p->multiProcessorCount = (int)g->sm_count;
	p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
	p->asyncEngineCount = (int)g->copy_engines;
	p->memoryBusWidth = guest_bus_bits();
	p->l2CacheSize = (int)g->l2_bytes;
	p->maxThreadsPerMultiProcessor = (int)g->max_threads_per_sm;
	p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
	p->sharedMemPerMultiprocessor = g->smem_per_sm_bytes;
	p->regsPerMultiprocessor = (int)g->regs_per_sm;
	p->managedMemory = p->concurrentManagedAccess = p->computePreemptionSupported = 1;
	p->canUseHostPointerForRegisteredMem = p->cooperativeLaunch = 1;
	p->sharedMemPerBlockOptin = g->smem_per_block_optin_bytes;
	p->maxBlocksPerMultiProcessor = (int)g->max_blocks_per_sm;
	p->reservedSharedMemPerBlock = g->smem_reserved_per_block_bytes;
	p->hostRegisterSupported = p->hostRegisterReadOnlySupported = p->memoryPoolsSupported = 1;
	p->clusterLaunch = g->cc_major >= 9;
#define LIMIT(name, member, number) p->member = (number);
#include "runtime/guest/texture_limit.def"
#undef LIMIT
	p->persistingL2CacheMaxSize = guest_persisting_bytes();
	p->accessPolicyMaxWindowSize = access_window_bytes();
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	GUEST_ANY_CALL(properties(p, device));
}

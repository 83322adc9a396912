/* How calls begin and end; start, device and contexts. There is one device, so a context is a name
 * without a memory of its own; which one is current is kept for each thread, as programs ask. */
#include "runtime/guest/driver/driver.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER_VERSION 13000
#define MAX_PUSHED 64

struct context {
	bool primary;
	unsigned flags, attached;
	unsigned long long id;
};

static atomic_bool initialised;
static atomic_uint retained; /* of the primary context */
static struct context primary = { .primary = true, .id = 1 };
static _Thread_local struct context *pushed[MAX_PUSHED];
static _Thread_local unsigned n_pushed;

/* --- start --- */

/* A thread without one of its own has the primary one once the runtime has been used. */
static struct context *current(void)
{
	if (n_pushed)
		return pushed[n_pushed - 1];
	return guest.runtime_used ? &primary : NULL;
}

CUresult driver_begin(enum driver_need need, const void *caller)
{
	if (need != DRIVER_ANY && !initialised && !guest.runtime_used)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (need == DRIVER_CONTEXT && !current())
		return CUDA_ERROR_INVALID_CONTEXT;
	guest_caller = caller;
	const cudaError_t e = guest_enter_for(GUEST_NEEDS_STREAM); /* handlers may need more */
	if (e == cudaSuccess)
		return CUDA_SUCCESS;
	return driver_end(e);
}

CUresult driver_end(cudaError_t e)
{
	guest_leave(e);
	guest_caller = NULL;
	if (!guest_fault_is_news())
		guest.unchecked_launch = 0; /* the driver tells a failed launch by what the call returns */
	return driver_result(e);
}

GUEST_API CUresult CUDAAPI cuInit(unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	initialised = true;
	DRIVER_CALL(DRIVER_ANY, cudaInitDevice(0, 0, 0));
}

GUEST_API CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

/* --- the device --- */

GUEST_API CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	DRIVER_CALL(DRIVER_INIT, cudaGetDeviceCount(count));
}

static cudaError_t device_of(CUdevice *device, int ordinal)
{
	if (!device)
		return cudaErrorInvalidValue;
	*device = ordinal;
	return ordinal ? cudaErrorInvalidDevice : cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
	DRIVER_CALL(DRIVER_INIT, device_of(device, ordinal));
}

static cudaError_t device_name(char *name, int n, CUdevice device)
{
	struct cudaDeviceProp p;
	const cudaError_t e = cudaGetDeviceProperties(&p, device);
	if (e == cudaSuccess && name && n > 0)
		snprintf(name, (size_t)n, "%s", p.name);
	return e;
}

GUEST_API CUresult CUDAAPI cuDeviceGetName(char *name, int n, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, device_name(name, n, device));
}

static cudaError_t device_memory(size_t *bytes, CUdevice device)
{
	size_t free_bytes;
	return device ? cudaErrorInvalidDevice : cudaMemGetInfo(&free_bytes, bytes);
}

GUEST_API CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, device_memory(bytes, device));
}

/* Both enumerations number alike; this one is the driver's own. */
static cudaError_t attribute(int *value, CUdevice_attribute which, CUdevice device)
{
	if (which != CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
		return cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)which, device);
	*value = 1;
	return device ? cudaErrorInvalidDevice : cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which,
                                                CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, value ? attribute(value, which, device) : cudaErrorInvalidValue);
}

static cudaError_t capability(int *major, int *minor, CUdevice device)
{
	*major = guest.gpu.cc_major;
	*minor = guest.gpu.cc_minor;
	return device ? cudaErrorInvalidDevice : cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, capability(major, minor, device));
}

static cudaError_t legacy_properties(CUdevprop *out, CUdevice device)
{
	struct cudaDeviceProp p;
	const cudaError_t e = cudaGetDeviceProperties(&p, device);
	if (e != cudaSuccess)
		return e;
	memset(out, 0, sizeof *out);
	out->maxThreadsPerBlock = p.maxThreadsPerBlock;
	memcpy(out->maxThreadsDim, p.maxThreadsDim, sizeof out->maxThreadsDim);
	memcpy(out->maxGridSize, p.maxGridSize, sizeof out->maxGridSize);
	out->sharedMemPerBlock = (int)p.sharedMemPerBlock;
	out->totalConstantMemory = (int)p.totalConstMem;
	out->SIMDWidth = p.warpSize;
	out->memPitch = (int)p.memPitch;
	out->regsPerBlock = p.regsPerBlock;
	out->clockRate = (int)(guest.gpu.clock_mhz * 1000);
	out->textureAlign = (int)p.textureAlignment;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuDeviceGetProperties(CUdevprop *out, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, out ? legacy_properties(out, device) : cudaErrorInvalidValue);
}

static cudaError_t uuid_of(CUuuid *uuid, CUdevice device)
{
	struct cudaDeviceProp p;
	const cudaError_t e = cudaGetDeviceProperties(&p, device);
	if (e == cudaSuccess)
		memcpy(uuid, &p.uuid, sizeof *uuid);
	return e;
}

GUEST_API CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, uuid ? uuid_of(uuid, device) : cudaErrorInvalidValue);
}

GUEST_API CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int n, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceGetPCIBusId(id, n, device));
}

GUEST_API CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceGetByPCIBusId(device, id));
}

GUEST_API CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceCanAccessPeer(can, device, peer));
}

GUEST_API CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which,
                                                   CUdevice from, CUdevice to)
{
	DRIVER_CALL(DRIVER_INIT,
	            cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)which, from, to));
}

/* --- contexts --- */

static CUresult push(struct context *c)
{
	if (n_pushed == MAX_PUSHED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pushed[n_pushed++] = c;
	return CUDA_SUCCESS;
}

static CUresult create(CUcontext *out, unsigned flags, CUdevice device, const void *caller)
{
	static atomic_ullong ids = 1;
	const CUresult r = driver_begin(DRIVER_INIT, caller);
	if (r != CUDA_SUCCESS)
		return r;
	if (driver_end(cudaSetDevice(device)) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	struct context *c = mem_zalloc(sizeof *c);
	c->flags = flags;
	c->id = ++ids;
	*out = (CUcontext)c;
	return push(c);
}

GUEST_API CUresult CUDAAPI cuCtxCreate(CUcontext *out, CUctxCreateParams *parameters,
                                       unsigned flags, CUdevice device)
{
	(void)parameters;
	return create(out, flags, device, __builtin_return_address(0));
}

/* As programs of CUDA 12 and earlier call it. */
GUEST_API CUresult CUDAAPI context_create_v2(CUcontext *out, unsigned flags,
                                             CUdevice device) __asm__("cuCtxCreate_v2");
CUresult CUDAAPI context_create_v2(CUcontext *out, unsigned flags, CUdevice device)
{
	return create(out, flags, device, __builtin_return_address(0));
}

GUEST_API CUresult CUDAAPI context_create_v3(CUcontext *out, CUexecAffinityParam *affinity, int n,
                                             unsigned flags,
                                             CUdevice device) __asm__("cuCtxCreate_v3");
CUresult CUDAAPI context_create_v3(CUcontext *out, CUexecAffinityParam *affinity, int n,
                                   unsigned flags, CUdevice device)
{
	(void)affinity, (void)n;
	return create(out, flags, device, __builtin_return_address(0));
}

GUEST_API CUresult CUDAAPI cuCtxDestroy(CUcontext handle)
{
	struct context *c = (struct context *)handle;
	if (!c || c->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (n_pushed && pushed[n_pushed - 1] == c)
		n_pushed--;
	free(c);
	return CUDA_SUCCESS;
}

/* One more user of the current context, which goes with the last one. */
GUEST_API CUresult CUDAAPI cuCtxAttach(CUcontext *out, unsigned flags)
{
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!n_pushed)
		return CUDA_ERROR_INVALID_CONTEXT;
	pushed[n_pushed - 1]->attached++;
	*out = (CUcontext)pushed[n_pushed - 1];
	return CUDA_SUCCESS;
}

GUEST_API CUresult CUDAAPI cuCtxDetach(CUcontext handle)
{
	struct context *c = (struct context *)handle;
	if (!n_pushed || pushed[n_pushed - 1] != c)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!c->attached)
		return cuCtxDestroy(handle);
	c->attached--;
	return CUDA_SUCCESS;
}

GUEST_API CUresult CUDAAPI cuCtxPushCurrent(CUcontext handle)
{
	return handle ? push((struct context *)handle) : CUDA_ERROR_INVALID_CONTEXT;
}

GUEST_API CUresult CUDAAPI cuCtxPopCurrent(CUcontext *out)
{
	if (!n_pushed)
		return CUDA_ERROR_INVALID_CONTEXT;
	n_pushed--;
	if (out)
		*out = (CUcontext)pushed[n_pushed];
	return CUDA_SUCCESS;
}

GUEST_API CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle)
{
	if (n_pushed)
		n_pushed--;
	return handle ? push((struct context *)handle) : CUDA_SUCCESS;
}

GUEST_API CUresult CUDAAPI cuCtxGetCurrent(CUcontext *out)
{
	if (!initialised || !out)
		return initialised ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
	*out = (CUcontext)current();
	return CUDA_SUCCESS;
}

GUEST_API CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaGetDevice(device));
}

GUEST_API CUresult CUDAAPI cuCtxGetFlags(unsigned *flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, (*flags = current()->flags, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuCtxSetFlags(unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, (current()->flags = flags, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long *id)
{
	const struct context *c = handle ? (const struct context *)handle : current();
	DRIVER_CALL(DRIVER_CONTEXT, (*id = c->id, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
	(void)handle;
	DRIVER_CALL(DRIVER_CONTEXT, (*version = DRIVER_VERSION, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuCtxSynchronize(void)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceSynchronize());
}

GUEST_API CUresult CUDAAPI cuCtxSetLimit(CUlimit which, size_t value)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceSetLimit((enum cudaLimit)which, value));
}

GUEST_API CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit which)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceGetLimit(value, (enum cudaLimit)which));
}

GUEST_API CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

GUEST_API CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *config)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

GUEST_API CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	(void)config; /* a hint, without effect since compute capability 5 */
	DRIVER_CALL(DRIVER_CONTEXT, cudaSuccess);
}

GUEST_API CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
	DRIVER_CALL(DRIVER_CONTEXT, (*config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, cudaSuccess));
}

GUEST_API CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	int low, high;
	if (!least)
		least = &low;
	if (!greatest)
		greatest = &high;
	DRIVER_CALL(DRIVER_CONTEXT, cudaDeviceGetStreamPriorityRange(least, greatest));
}

GUEST_API CUresult CUDAAPI cuCtxResetPersistingL2Cache(void)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaSuccess);
}

GUEST_API CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	(void)peer, (void)flags;
	DRIVER_CALL(DRIVER_CONTEXT, cudaErrorPeerAccessUnsupported);
}

GUEST_API CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer)
{
	(void)peer;
	DRIVER_CALL(DRIVER_CONTEXT, cudaErrorPeerAccessNotEnabled);
}

/* --- the primary context, which is the runtime's --- */

GUEST_API CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	retained++;
	*out = (CUcontext)&primary;
	DRIVER_CALL(DRIVER_INIT, cudaSetDevice(device));
}

GUEST_API CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device)
{
	if (!retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	retained--;
	DRIVER_CALL(DRIVER_INIT, cudaSetDevice(device));
}

GUEST_API CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, device ? cudaErrorInvalidDevice : cudaDeviceReset());
}

GUEST_API CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
	primary.flags = flags;
	DRIVER_CALL(DRIVER_INIT, cudaSetDevice(device));
}

GUEST_API CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	*flags = primary.flags;
	*active = retained || guest.runtime_used;
	DRIVER_CALL(DRIVER_INIT, cudaSetDevice(device));
}

/* Memory of the driver API: allocated, asked about, set. */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_op.h"

#include <string.h>

static void *pointer(CUdeviceptr p)
{
	return driver_pointer(p);
}

/* --- allocation --- */

GUEST_API CUresult CUDAAPI cuMemAlloc(CUdeviceptr *p, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, bytes ? cudaMalloc((void **)p, bytes) : cudaErrorInvalidValue);
}

GUEST_API CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t width,
                                           size_t height, unsigned element)
{
	(void)element;
	DRIVER_CALL(DRIVER_CONTEXT, cudaMallocPitch((void **)p, pitch, width, height));
}

GUEST_API CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMallocManaged((void **)p, bytes, flags));
}

GUEST_API CUresult CUDAAPI cuMemFree(CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFree(pointer(p)));
}

GUEST_API CUresult CUDAAPI cuMemAllocHost(void **p, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMallocHost(p, bytes));
}

GUEST_API CUresult CUDAAPI cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaHostAlloc(p, bytes, flags));
}

GUEST_API CUresult CUDAAPI cuMemFreeHost(void *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFreeHost(p));
}

GUEST_API CUresult CUDAAPI cuMemHostRegister(void *p, size_t bytes, unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaHostRegister(p, bytes, flags));
}

GUEST_API CUresult CUDAAPI cuMemHostUnregister(void *p)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaHostUnregister(p));
}

GUEST_API CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *device, void *host,
                                                     unsigned flags)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaHostGetDevicePointer((void **)device, host, flags));
}

GUEST_API CUresult CUDAAPI cuMemHostGetFlags(unsigned *flags, void *host)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaHostGetFlags(flags, host));
}

GUEST_API CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMallocAsync((void **)p, bytes, stream));
}

GUEST_API CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemoryPool pool,
                                                   CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMallocFromPoolAsync((void **)p, bytes, pool, stream));
}

GUEST_API CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFreeAsync(pointer(p), stream));
}

GUEST_API CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceGetDefaultMemPool(pool, device));
}

GUEST_API CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceGetMemPool(pool, device));
}

GUEST_API CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	DRIVER_CALL(DRIVER_INIT, cudaDeviceSetMemPool(device, pool));
}

GUEST_API CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemPoolCreate(pool, (const struct cudaMemPoolProps *)properties));
}

GUEST_API CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolDestroy(pool));
}

GUEST_API CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolTrimTo(pool, keep_bytes));
}

GUEST_API CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                                                 void *value)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)which, value));
}

GUEST_API CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                                                 void *value)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)which, value));
}

GUEST_API CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list,
                                              size_t n)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, n));
}

GUEST_API CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool,
                                              CUmemLocation *where)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool,
	                                                 (struct cudaMemLocation *)where));
}

GUEST_API CUresult CUDAAPI cuMemPoolExportToShareableHandle(void *out, CUmemoryPool pool,
                                                            CUmemAllocationHandleType type,
                                                            unsigned long long flags)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemPoolExportToShareableHandle(
					out, pool, (enum cudaMemAllocationHandleType)type, (unsigned)flags));
}

GUEST_API CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                                              CUmemAllocationHandleType type,
                                                              unsigned long long flags)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemPoolImportFromShareableHandle(
					pool, handle, (enum cudaMemAllocationHandleType)type, (unsigned)flags));
}

GUEST_API CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData *out, CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemPoolExportPointer((struct cudaMemPoolPtrExportData *)out, pointer(p)));
}

GUEST_API CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr *p, CUmemoryPool pool,
                                                  CUmemPoolPtrExportData *data)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPoolImportPointer((void **)p, pool,
	                                                     (struct cudaMemPoolPtrExportData *)data));
}

/* --- hints, which change no result --- */

GUEST_API CUresult CUDAAPI cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice,
                                       CUmemLocation where)
{
	const struct cudaMemLocation at = { .type = (enum cudaMemLocationType)where.type,
		                                .id = where.id };
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemAdvise(pointer(p), bytes, (enum cudaMemoryAdvise)advice, at));
}

GUEST_API CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUmemLocation where,
                                              unsigned flags, CUstream stream)
{
	const struct cudaMemLocation at = { .type = (enum cudaMemLocationType)where.type,
		                                .id = where.id };
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPrefetchAsync(pointer(p), bytes, at, flags, stream));
}

/* As programs of CUDA 12 and earlier call them: a place is a device's number, -1 the host. */
static struct cudaMemLocation place(CUdevice device)
{
	return (struct cudaMemLocation){
		.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
		.id = device < 0 ? 0 : device,
	};
}

GUEST_API CUresult CUDAAPI advise_v1(CUdeviceptr p, size_t bytes, CUmem_advise advice,
                                     CUdevice device) __asm__("cuMemAdvise");
CUresult CUDAAPI advise_v1(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemAdvise(pointer(p), bytes, (enum cudaMemoryAdvise)advice, place(device)));
}

GUEST_API CUresult CUDAAPI prefetch_v1(CUdeviceptr p, size_t bytes, CUdevice device,
                                       CUstream stream) __asm__("cuMemPrefetchAsync");
CUresult CUDAAPI prefetch_v1(CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemPrefetchAsync(pointer(p), bytes, place(device), 0, stream));
}

/* --- questions --- */

GUEST_API CUresult CUDAAPI cuMemGetInfo(size_t *free_bytes, size_t *total)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemGetInfo(free_bytes, total));
}

static cudaError_t range(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	struct emu_allocation a;
	if (!emu_device_find(guest.device, p, &a))
		return cudaErrorSymbolNotFound;
	if (base)
		*base = a.address;
	if (bytes)
		*bytes = (size_t)a.bytes;
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT, range(base, bytes, p));
}

static cudaError_t put(void *out, const void *value, size_t bytes)
{
	memcpy(out, value, bytes);
	return cudaSuccess;
}

static cudaError_t pointer_attribute(void *out, CUpointer_attribute which, CUdeviceptr p)
{
	struct emu_allocation a;
	if (!out || !emu_device_find(guest.device, p, &a))
		return cudaErrorInvalidValue;
	const bool host = a.kind == EMU_MEMORY_PINNED || a.kind == EMU_MEMORY_REGISTERED;
	const bool managed = a.kind == EMU_MEMORY_MANAGED;
	const unsigned type = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	const unsigned ordinal = 0, is_managed = managed;
	const bool mapped = true;
	CUcontext context = NULL;
	const uint64_t host_pointer = host || managed ? p : 0;
	switch (which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		cuCtxGetCurrent(&context);
		return put(out, &context, sizeof context);
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return put(out, &type, sizeof type);
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(out, &p, sizeof p);
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		return host_pointer ? put(out, &host_pointer, sizeof host_pointer) : cudaErrorInvalidValue;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(out, &a.serial, sizeof a.serial);
	case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(out, &is_managed, sizeof is_managed);
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(out, &ordinal, sizeof ordinal);
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(out, &a.address, sizeof a.address);
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(out, &a.bytes, sizeof a.bytes);
	case CU_POINTER_ATTRIBUTE_MAPPED: return put(out, &mapped, sizeof mapped);
	default: return cudaErrorNotSupported;
	}
}

GUEST_API CUresult CUDAAPI cuPointerGetAttribute(void *out, CUpointer_attribute which,
                                                 CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT, pointer_attribute(out, which, p));
}

GUEST_API CUresult CUDAAPI cuPointerSetAttribute(const void *value, CUpointer_attribute which,
                                                 CUdeviceptr p)
{
	(void)value, (void)p;
	DRIVER_CALL(DRIVER_CONTEXT,
	            which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t pointer_attributes(unsigned n, CUpointer_attribute *which, void **out,
                                      CUdeviceptr p)
{
	for (unsigned i = 0; i < n; i++)
		pointer_attribute(out[i], which[i], p);
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuPointerGetAttributes(unsigned n, CUpointer_attribute *which,
                                                  void **out, CUdeviceptr p)
{
	DRIVER_CALL(DRIVER_CONTEXT, pointer_attributes(n, which, out, p));
}

/* --- sets --- */

static cudaError_t set(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element, size_t width,
                       size_t height, CUstream stream)
{
	struct guest_stream *s = guest_stream_of(stream);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	size_t bytes;
	if (to % element || __builtin_mul_overflow(width, element, &bytes))
		return cudaErrorInvalidValue;
	if (!width || !height)
		return cudaSuccess;
	const struct guest_op op = {
		.kind = GUEST_OP_SET,
		.u.set = { { to, pitch, pitch * height }, bytes, height, 1, value, element },
	};
	return guest_submit(s, &op, GUEST_ASYNC, guest_caller);
}

#define SETS(bits, type)                                                                        \
	GUEST_API CUresult CUDAAPI cuMemsetD##bits(CUdeviceptr to, type value, size_t n)            \
	{                                                                                           \
		DRIVER_CALL(DRIVER_CONTEXT, set(to, n *(bits / 8), value, bits / 8, n, 1, 0));          \
	}                                                                                           \
	GUEST_API CUresult CUDAAPI cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n,     \
	                                                  CUstream stream)                          \
	{                                                                                           \
		DRIVER_CALL(DRIVER_CONTEXT, set(to, n *(bits / 8), value, bits / 8, n, 1, stream));     \
	}                                                                                           \
	GUEST_API CUresult CUDAAPI cuMemsetD2D##bits(CUdeviceptr to, size_t pitch, type value,      \
	                                             size_t width, size_t height)                   \
	{                                                                                           \
		DRIVER_CALL(DRIVER_CONTEXT, set(to, pitch, value, bits / 8, width, height, 0));         \
	}                                                                                           \
	GUEST_API CUresult CUDAAPI cuMemsetD2D##bits##Async(                                        \
		CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream) \
	{                                                                                           \
		DRIVER_CALL(DRIVER_CONTEXT, set(to, pitch, value, bits / 8, width, height, stream));    \
	}
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)

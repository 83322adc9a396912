/* Copies of the driver API: lines, boxes, arrays; each is one of the runtime's. */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_array.h"

#include <string.h>

static void *pointer(CUdeviceptr p)
{
	return driver_pointer(p);
}

/* --- lines --- */

GUEST_API CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
}

GUEST_API CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                         CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream));
}

GUEST_API CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}

GUEST_API CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                                             CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

GUEST_API CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}

GUEST_API CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                                             CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream));
}

GUEST_API CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}

GUEST_API CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                             CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemcpyAsync(pointer(to), pointer(from), bytes,
	                                            cudaMemcpyDeviceToDevice, stream));
}

GUEST_API CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                        CUcontext from_context, size_t bytes)
{
	(void)to_context, (void)from_context;
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}

GUEST_API CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                             CUcontext from_context, size_t bytes, CUstream stream)
{
	(void)to_context, (void)from_context;
	DRIVER_CALL(DRIVER_CONTEXT, cudaMemcpyAsync(pointer(to), pointer(from), bytes,
	                                            cudaMemcpyDeviceToDevice, stream));
}

/* --- boxes --- */

/* One end of a copy: its place in bytes and rows, in plain memory or in an array. */
struct end {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t x, y, z, pitch, height;
};

static const void *memory_of(const struct end *e)
{
	return e->type == CU_MEMORYTYPE_HOST ? e->host : pointer(e->device);
}

/* Plain memory: the pointer goes to where the box begins. */
static struct cudaPitchedPtr pitched(const struct end *e, const CUDA_MEMCPY3D *c)
{
	const size_t pitch = e->pitch ? e->pitch : c->WidthInBytes;
	const size_t height = e->height ? e->height : c->Height;
	const uintptr_t at = (uintptr_t)memory_of(e) + (e->z * height + e->y) * pitch + e->x;
	return (struct cudaPitchedPtr){ (void *)at, pitch, pitch, height };
}

static bool is_array(const struct end *e)
{
	return e->type == CU_MEMORYTYPE_ARRAY;
}

static enum cudaMemcpyKind direction(const struct end *to, const struct end *from)
{
	static const enum cudaMemcpyKind kinds[2][2] = {
		{ cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToHost },
		{ cudaMemcpyHostToDevice, cudaMemcpyHostToHost },
	};
	if (to->type == CU_MEMORYTYPE_UNIFIED || from->type == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	return kinds[from->type == CU_MEMORYTYPE_HOST][to->type == CU_MEMORYTYPE_HOST];
}

/* In an array a place is in texels, and then so is the width. */
static bool set_end(const struct end *e, const CUDA_MEMCPY3D *c, cudaArray_t *array,
                    struct cudaPos *at, struct cudaPitchedPtr *plain, unsigned *texel)
{
	if (!is_array(e)) {
		*plain = pitched(e, c);
		return true;
	}
	const struct guest_array *a = guest_array_of((cudaArray_t)e->array);
	if (!a || e->x % a->texel_bytes)
		return false;
	*array = (cudaArray_t)e->array;
	*at = (struct cudaPos){ e->x / a->texel_bytes, e->y, e->z };
	*texel = a->texel_bytes;
	return true;
}

cudaError_t driver_copy_params(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p)
{
	const struct end to = { c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
		                    c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight };
	const struct end from = { c->srcMemoryType, c->srcHost,     c->srcDevice,
		                      c->srcArray,      c->srcXInBytes, c->srcY,
		                      c->srcZ,          c->srcPitch,    c->srcHeight };
	unsigned texel = 1;
	memset(p, 0, sizeof *p);
	if (!set_end(&to, c, &p->dstArray, &p->dstPos, &p->dstPtr, &texel) ||
	    !set_end(&from, c, &p->srcArray, &p->srcPos, &p->srcPtr, &texel))
		return cudaErrorInvalidValue;
	p->extent = (struct cudaExtent){ c->WidthInBytes / texel, c->Height, c->Depth };
	p->kind = direction(&to, &from);
	return cudaSuccess;
}

static cudaError_t copy_box(const CUDA_MEMCPY3D *c, bool async, CUstream stream)
{
	struct cudaMemcpy3DParms p;
	if (!c)
		return cudaErrorInvalidValue;
	const cudaError_t e = driver_copy_params(c, &p);
	if (e != cudaSuccess)
		return e;
	return async ? cudaMemcpy3DAsync(&p, stream) : cudaMemcpy3D(&p);
}

GUEST_API CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *c)
{
	DRIVER_CALL(DRIVER_CONTEXT, copy_box(c, false, 0));
}

GUEST_API CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, copy_box(c, true, stream));
}

static cudaError_t copy_rows(const CUDA_MEMCPY2D *c, bool async, CUstream stream)
{
	if (!c)
		return cudaErrorInvalidValue;
	const CUDA_MEMCPY3D box = {
		.srcXInBytes = c->srcXInBytes,
		.srcY = c->srcY,
		.srcMemoryType = c->srcMemoryType,
		.srcHost = c->srcHost,
		.srcDevice = c->srcDevice,
		.srcArray = c->srcArray,
		.srcPitch = c->srcPitch,
		.dstXInBytes = c->dstXInBytes,
		.dstY = c->dstY,
		.dstMemoryType = c->dstMemoryType,
		.dstHost = c->dstHost,
		.dstDevice = c->dstDevice,
		.dstArray = c->dstArray,
		.dstPitch = c->dstPitch,
		.WidthInBytes = c->WidthInBytes,
		.Height = c->Height,
		.Depth = 1,
	};
	return copy_box(&box, async, stream);
}

GUEST_API CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *c)
{
	DRIVER_CALL(DRIVER_CONTEXT, copy_rows(c, false, 0));
}

GUEST_API CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c)
{
	DRIVER_CALL(DRIVER_CONTEXT, copy_rows(c, false, 0));
}

GUEST_API CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, copy_rows(c, true, stream));
}

/* --- rows of arrays --- */

static CUDA_MEMCPY3D row(size_t bytes)
{
	return (CUDA_MEMCPY3D){ .WidthInBytes = bytes, .Height = 1, .Depth = 1 };
}

static void to_array(CUDA_MEMCPY3D *c, CUarray array, size_t at)
{
	c->dstMemoryType = CU_MEMORYTYPE_ARRAY;
	c->dstArray = array;
	c->dstXInBytes = at;
}

static void from_array(CUDA_MEMCPY3D *c, CUarray array, size_t at)
{
	c->srcMemoryType = CU_MEMORYTYPE_ARRAY;
	c->srcArray = array;
	c->srcXInBytes = at;
}

static cudaError_t host_to_array(CUarray to, size_t at, const void *from, size_t bytes, bool async,
                                 CUstream stream)
{
	CUDA_MEMCPY3D c = row(bytes);
	to_array(&c, to, at);
	c.srcMemoryType = CU_MEMORYTYPE_HOST;
	c.srcHost = from;
	return copy_box(&c, async, stream);
}

GUEST_API CUresult CUDAAPI cuMemcpyHtoA(CUarray to, size_t at, const void *from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, host_to_array(to, at, from, bytes, false, 0));
}

GUEST_API CUresult CUDAAPI cuMemcpyHtoAAsync(CUarray to, size_t at, const void *from, size_t bytes,
                                             CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, host_to_array(to, at, from, bytes, true, stream));
}

static cudaError_t array_to_host(void *to, CUarray from, size_t at, size_t bytes, bool async,
                                 CUstream stream)
{
	CUDA_MEMCPY3D c = row(bytes);
	from_array(&c, from, at);
	c.dstMemoryType = CU_MEMORYTYPE_HOST;
	c.dstHost = to;
	return copy_box(&c, async, stream);
}

GUEST_API CUresult CUDAAPI cuMemcpyAtoH(void *to, CUarray from, size_t at, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, array_to_host(to, from, at, bytes, false, 0));
}

GUEST_API CUresult CUDAAPI cuMemcpyAtoHAsync(void *to, CUarray from, size_t at, size_t bytes,
                                             CUstream stream)
{
	DRIVER_CALL(DRIVER_CONTEXT, array_to_host(to, from, at, bytes, true, stream));
}

static cudaError_t device_to_array(CUarray to, size_t at, CUdeviceptr from, size_t bytes)
{
	CUDA_MEMCPY3D c = row(bytes);
	to_array(&c, to, at);
	c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	c.srcDevice = from;
	return copy_box(&c, false, 0);
}

GUEST_API CUresult CUDAAPI cuMemcpyDtoA(CUarray to, size_t at, CUdeviceptr from, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, device_to_array(to, at, from, bytes));
}

static cudaError_t array_to_device(CUdeviceptr to, CUarray from, size_t at, size_t bytes)
{
	CUDA_MEMCPY3D c = row(bytes);
	from_array(&c, from, at);
	c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.dstDevice = to;
	return copy_box(&c, false, 0);
}

GUEST_API CUresult CUDAAPI cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t at, size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, array_to_device(to, from, at, bytes));
}

static cudaError_t array_to_array(CUarray to, size_t to_at, CUarray from, size_t from_at,
                                  size_t bytes)
{
	CUDA_MEMCPY3D c = row(bytes);
	to_array(&c, to, to_at);
	from_array(&c, from, from_at);
	return copy_box(&c, false, 0);
}

GUEST_API CUresult CUDAAPI cuMemcpyAtoA(CUarray to, size_t to_at, CUarray from, size_t from_at,
                                        size_t bytes)
{
	DRIVER_CALL(DRIVER_CONTEXT, array_to_array(to, to_at, from, from_at, bytes));
}

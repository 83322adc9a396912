/* Arrays, textures and surfaces of the driver API, described again as the runtime does it. */
#include "runtime/guest/driver/driver.h"
#include "runtime/guest/guest_array.h"

#include <string.h>

struct cudaChannelFormatDesc driver_channels(CUarray_format format, unsigned n)
{
	static const struct {
		CUarray_format format;
		int bits;
		enum cudaChannelFormatKind kind;
	} known[] = {
		{ CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned },
		{ CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned },
		{ CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned },
		{ CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned },
		{ CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned },
		{ CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned },
		{ CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat },
		{ CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const int b = known[i].bits;
		if (known[i].format == format)
			return (struct cudaChannelFormatDesc){ b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0,
				                                   known[i].kind };
	}
	return (struct cudaChannelFormatDesc){ .x = 0 };
}

static CUarray_format format_of(const struct cudaChannelFormatDesc *d)
{
	const bool is_signed = d->f == cudaChannelFormatKindSigned;
	if (d->f == cudaChannelFormatKindFloat)
		return d->x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
	switch (d->x) {
	case 8: return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
	case 16: return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
	default: return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
	}
}

static unsigned count_channels(const struct cudaChannelFormatDesc *d)
{
	return 1u + (d->y > 0) + (d->z > 0) + (d->w > 0);
}

/* --- arrays; the flags of both APIs are the same bits --- */

static cudaError_t create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	if (!out || !d)
		return cudaErrorInvalidValue;
	const struct cudaChannelFormatDesc f = driver_channels(d->Format, d->NumChannels);
	return cudaMalloc3DArray((cudaArray_t *)out, &f,
	                         (struct cudaExtent){ d->Width, d->Height, d->Depth }, d->Flags);
}

GUEST_API CUresult CUDAAPI cuArray3DCreate(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	DRIVER_CALL(DRIVER_CONTEXT, create(out, d));
}

static cudaError_t create_2d(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
	if (!d)
		return cudaErrorInvalidValue;
	const CUDA_ARRAY3D_DESCRIPTOR box = {
		.Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels
	};
	return create(out, &box);
}

GUEST_API CUresult CUDAAPI cuArrayCreate(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
	DRIVER_CALL(DRIVER_CONTEXT, create_2d(out, d));
}

GUEST_API CUresult CUDAAPI cuArrayDestroy(CUarray array)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFreeArray((cudaArray_t)array));
}

static cudaError_t create_mipmap(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                 unsigned levels)
{
	if (!out || !d)
		return cudaErrorInvalidValue;
	const struct cudaChannelFormatDesc f = driver_channels(d->Format, d->NumChannels);
	return cudaMallocMipmappedArray((cudaMipmappedArray_t *)out, &f,
	                                (struct cudaExtent){ d->Width, d->Height, d->Depth }, levels,
	                                d->Flags);
}

GUEST_API CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray *out,
                                                  const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
	DRIVER_CALL(DRIVER_CONTEXT, create_mipmap(out, d, levels));
}

GUEST_API CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray m, unsigned k)
{
	DRIVER_CALL(DRIVER_CONTEXT,
	            cudaGetMipmappedArrayLevel((cudaArray_t *)out, (cudaMipmappedArray_t)m, k));
}

GUEST_API CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray m)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaFreeMipmappedArray((cudaMipmappedArray_t)m));
}

static cudaError_t describe(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle)
{
	const struct guest_array *a = guest_array_of((cudaArray_t)handle);
	if (!a || !out)
		return a ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	*out = (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = a->extent.width,
		.Height = a->extent.height,
		.Depth = a->extent.depth,
		.Format = format_of(&a->format),
		.NumChannels = count_channels(&a->format),
		.Flags = a->flags,
	};
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array)
{
	DRIVER_CALL(DRIVER_CONTEXT, describe(out, array));
}

static cudaError_t describe_2d(CUDA_ARRAY_DESCRIPTOR *out, CUarray array)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	const cudaError_t e = describe(&d, array);
	if (e == cudaSuccess)
		*out = (CUDA_ARRAY_DESCRIPTOR){ d.Width, d.Height, d.Format, d.NumChannels };
	return e;
}

GUEST_API CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *out, CUarray array)
{
	DRIVER_CALL(DRIVER_CONTEXT, out ? describe_2d(out, array) : cudaErrorInvalidValue);
}

/* --- textures and surfaces --- */

static cudaError_t set_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to,
                                struct cudaChannelFormatDesc *channels)
{
	memset(to, 0, sizeof *to);
	switch (from->resType) {
	case CU_RESOURCE_TYPE_ARRAY: {
		const struct guest_array *a = guest_array_of((cudaArray_t)from->res.array.hArray);
		if (!a)
			return cudaErrorInvalidResourceHandle;
		to->resType = cudaResourceTypeArray;
		to->res.array.array = (cudaArray_t)from->res.array.hArray;
		*channels = a->format;
		return cudaSuccess;
	}
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
		struct guest_array *const *level;
		to->resType = cudaResourceTypeMipmappedArray;
		to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
		if (!guest_mipmap_levels(to->res.mipmap.mipmap, &level))
			return cudaErrorInvalidResourceHandle;
		*channels = level[0]->format;
		return cudaSuccess;
	}
	case CU_RESOURCE_TYPE_LINEAR:
		to->resType = cudaResourceTypeLinear;
		to->res.linear.devPtr = driver_pointer(from->res.linear.devPtr);
		*channels = driver_channels(from->res.linear.format, from->res.linear.numChannels);
		to->res.linear.desc = *channels;
		to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		return cudaSuccess;
	case CU_RESOURCE_TYPE_PITCH2D:
		to->resType = cudaResourceTypePitch2D;
		to->res.pitch2D.devPtr = driver_pointer(from->res.pitch2D.devPtr);
		*channels = driver_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels);
		to->res.pitch2D.desc = *channels;
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		return cudaSuccess;
	default: return cudaErrorNotSupported;
	}
}

/* The driver reads integers of 8 and 16 bits as fractions unless told otherwise. */
static void set_sampling(const CUDA_TEXTURE_DESC *from, const struct cudaChannelFormatDesc *f,
                         struct cudaTextureDesc *to)
{
	const bool fractions =
		!(from->flags & CU_TRSF_READ_AS_INTEGER) && f->f != cudaChannelFormatKindFloat && f->x < 32;
	memset(to, 0, sizeof *to);
	for (unsigned i = 0; i < 3; i++)
		to->addressMode[i] = (enum cudaTextureAddressMode)from->addressMode[i];
	to->filterMode = (enum cudaTextureFilterMode)from->filterMode;
	to->readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
	to->sRGB = (from->flags & CU_TRSF_SRGB) != 0;
	to->normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
	to->maxAnisotropy = from->maxAnisotropy;
	to->mipmapFilterMode = (enum cudaTextureFilterMode)from->mipmapFilterMode;
	to->mipmapLevelBias = from->mipmapLevelBias;
	to->minMipmapLevelClamp = from->minMipmapLevelClamp;
	to->maxMipmapLevelClamp = from->maxMipmapLevelClamp;
	memcpy(to->borderColor, from->borderColor, sizeof to->borderColor);
}

static cudaError_t create_texture(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *texture,
                                  const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct cudaResourceDesc r;
	struct cudaTextureDesc t;
	struct cudaChannelFormatDesc f;
	if (!resource || !texture)
		return cudaErrorInvalidValue;
	const cudaError_t e = set_resource(resource, &r, &f);
	if (e != cudaSuccess)
		return e;
	set_sampling(texture, &f, &t);
	/* the views of both APIs have the same members */
	return cudaCreateTextureObject((cudaTextureObject_t *)out, &r, &t,
	                               (const struct cudaResourceViewDesc *)view);
}

GUEST_API CUresult CUDAAPI cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                             const CUDA_TEXTURE_DESC *texture,
                                             const CUDA_RESOURCE_VIEW_DESC *view)
{
	DRIVER_CALL(DRIVER_CONTEXT, create_texture(out, resource, texture, view));
}

GUEST_API CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texture)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDestroyTextureObject(texture));
}

static cudaError_t create_surface(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
	struct cudaResourceDesc r;
	struct cudaChannelFormatDesc f;
	if (!resource)
		return cudaErrorInvalidValue;
	const cudaError_t e = set_resource(resource, &r, &f);
	return e != cudaSuccess ? e : cudaCreateSurfaceObject((cudaSurfaceObject_t *)out, &r);
}

GUEST_API CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
	DRIVER_CALL(DRIVER_CONTEXT, create_surface(out, resource));
}

GUEST_API CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surface)
{
	DRIVER_CALL(DRIVER_CONTEXT, cudaDestroySurfaceObject(surface));
}

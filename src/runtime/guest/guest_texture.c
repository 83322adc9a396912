/* Texture and surface objects: what the program describes, as the emulator takes it. */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_array.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"
#include "emu/texture.h"

#include <string.h>

/* What the program gave, for its questions; by handle - 1. */
struct description {
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
	struct cudaResourceViewDesc view;
};
static struct {
	struct description *of;
	size_t n;
} described;

static cudaError_t remember(uint64_t handle, const struct description *d)
{
	if (described.n < handle) {
		described.of = mem_realloc(described.of, handle, sizeof *described.of);
		described.n = handle;
	}
	described.of[handle - 1] = *d;
	return cudaSuccess;
}

static const struct description *description_of(uint64_t handle)
{
	return handle && handle <= described.n ? &described.of[handle - 1] : NULL;
}

/* --- what is read --- */

static bool set_format(struct texture *t, const struct cudaChannelFormatDesc *f)
{
	const unsigned texel = guest_texel_bytes(f);
	if (!texel)
		return false;
	t->channel_bytes = (unsigned)f->x / 8;
	t->channels = texel / t->channel_bytes;
	t->format = f->f == cudaChannelFormatKindFloat    ? TEXEL_FLOAT
	            : f->f == cudaChannelFormatKindSigned ? TEXEL_SIGNED
	                                                  : TEXEL_UNSIGNED;
	return true;
}

static cudaError_t set_array(struct texture *t, const struct guest_array *a)
{
	if (!a)
		return cudaErrorInvalidResourceHandle;
	const bool layered = a->flags & (cudaArrayLayered | cudaArrayCubemap);
	set_format(t, &a->format);
	t->texels = (uint8_t *)(uintptr_t)a->address;
	t->pitch = a->pitch;
	t->slice = a->slice;
	t->size[0] = (unsigned)a->extent.width;
	t->size[1] = (unsigned)a->extent.height;
	t->size[2] = layered ? 0 : (unsigned)a->extent.depth;
	t->layers = layered ? (unsigned)a->extent.depth : 0;
	return cudaSuccess;
}

static cudaError_t set_resource(struct texture *t, const struct cudaResourceDesc *r)
{
	bool known = true;
	struct guest_array *const *level;
	switch (r->resType) {
	case cudaResourceTypeArray: return set_array(t, guest_array_of(r->res.array.array));
	case cudaResourceTypeMipmappedArray:
		t->n_levels = guest_mipmap_levels(r->res.mipmap.mipmap, &level);
		return set_array(t, t->n_levels ? level[0] : NULL);
	case cudaResourceTypeLinear:
		known = set_format(t, &r->res.linear.desc);
		t->texels = r->res.linear.devPtr;
		t->plain = true;
		if (known)
			t->size[0] = (unsigned)(r->res.linear.sizeInBytes / (t->channels * t->channel_bytes));
		break;
	case cudaResourceTypePitch2D:
		if (r->res.pitch2D.width > UINT32_MAX || r->res.pitch2D.height > UINT32_MAX ||
		    r->res.pitch2D.pitchInBytes > UINT32_MAX)
			return cudaErrorInvalidValue;
		known = set_format(t, &r->res.pitch2D.desc);
		t->texels = r->res.pitch2D.devPtr;
		t->plain = true;
		t->size[0] = (unsigned)r->res.pitch2D.width;
		t->size[1] = (unsigned)r->res.pitch2D.height;
		t->pitch = r->res.pitch2D.pitchInBytes;
		break;
	default: return cudaErrorNotSupported;
	}
	struct emu_allocation a;
	const uint64_t at = (uint64_t)(uintptr_t)t->texels;
	if (!known || !emu_device_find(guest.device, at, &a))
		return cudaErrorInvalidValue;
	const uint64_t bytes = t->size[1] ? (uint64_t)t->pitch * (t->size[1] - 1) : 0;
	const uint64_t row = (uint64_t)t->size[0] * t->channels * t->channel_bytes;
	return bytes + row <= a.bytes - (at - a.address) ? cudaSuccess : cudaErrorInvalidValue;
}

/* --- how it is read --- */

static enum texture_addressing addressing_of(enum cudaTextureAddressMode m)
{
	switch (m) {
	case cudaAddressModeWrap: return ADDRESS_WRAP;
	case cudaAddressModeMirror: return ADDRESS_MIRROR;
	case cudaAddressModeBorder: return ADDRESS_BORDER;
	default: return ADDRESS_CLAMP;
	}
}

static cudaError_t set_sampling(struct texture *t, const struct cudaTextureDesc *d)
{
	t->linear = d->filterMode == cudaFilterModeLinear;
	t->normalised = d->normalizedCoords != 0;
	t->fractions = d->readMode == cudaReadModeNormalizedFloat && t->format != TEXEL_FLOAT;
	for (unsigned i = 0; i < 3; i++)
		t->addressing[i] = addressing_of(d->addressMode[i]);
	memcpy(t->border, d->borderColor, sizeof t->border);
	/* integers cannot be mixed; 32-bit ones are no fractions */
	const bool integers = t->format != TEXEL_FLOAT && !t->fractions;
	return (t->linear && integers) || (t->fractions && t->channel_bytes == 4)
	           ? cudaErrorInvalidFilterSetting
	           : cudaSuccess;
}

/* CUDA Runtime API, cudaResourceViewDesc: the size is the array's own, whichever level the view
 * begins with, where blocks are not compressed. */
static bool view_has_size(const struct cudaResourceViewDesc *view, const struct guest_array *a)
{
	return view->format >= cudaResViewFormatUnsignedBlockCompressed1 ||
	       (view->width == a->extent.width && view->height == a->extent.height);
}

/* The levels of a mipmapped array, those of @view alone where it names some, and how they are
 * chosen. CUDA Runtime API: such coordinates are 0..1. */
static cudaError_t set_levels(struct texture *t, const struct cudaResourceDesc *resource,
                              const struct cudaTextureDesc *d,
                              const struct cudaResourceViewDesc *view)
{
	struct guest_array *const *array;
	const unsigned n = guest_mipmap_levels(resource->res.mipmap.mipmap, &array);
	const bool chosen = view && view->format != cudaResViewFormatNone;
	const unsigned first = chosen ? view->firstMipmapLevel : 0,
				   last = chosen ? view->lastMipmapLevel : n - 1;
	const bool integers = t->format != TEXEL_FLOAT && !t->fractions;
	t->mix_levels = d->mipmapFilterMode == cudaFilterModeLinear;
	if (!t->normalised || last >= n || first > last || (chosen && !view_has_size(view, *array)))
		return cudaErrorInvalidValue;
	if (t->mix_levels && integers)
		return cudaErrorInvalidFilterSetting;
	struct texture *level = mem_calloc(last - first + 1, sizeof *level);
	for (unsigned k = first; k <= last; k++) {
		level[k - first] = *t;
		level[k - first].n_levels = 0;
		set_array(&level[k - first], array[k]);
	}
	set_array(t, array[first]);
	t->level = level;
	t->n_levels = last - first + 1;
	t->level_bias = d->mipmapLevelBias;
	t->level_least = d->minMipmapLevelClamp;
	t->level_most = d->maxMipmapLevelClamp;
	return cudaSuccess;
}

static cudaError_t make_texture(cudaTextureObject_t *out, const struct cudaResourceDesc *resource,
                                const struct cudaTextureDesc *texture,
                                const struct cudaResourceViewDesc *view)
{
	struct texture t = { 0 };
	struct description d = { 0 };
	if (!out || !resource || !texture)
		return cudaErrorInvalidValue;
	cudaError_t e = set_resource(&t, resource);
	if (e == cudaSuccess)
		e = set_sampling(&t, texture);
	if (e == cudaSuccess && t.n_levels)
		e = set_levels(&t, resource, texture, view);
	if (e != cudaSuccess)
		return e;
	d.resource = *resource;
	d.texture = *texture;
	if (view)
		d.view = *view;
	*out = emu_texture_new(guest.device, &t);
	return remember(*out, &d);
}

GUEST_API cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t *out,
                                                        const struct cudaResourceDesc *resource,
                                                        const struct cudaTextureDesc *texture,
                                                        const struct cudaResourceViewDesc *view)
{
	GUEST_UNSAFE_CALL(make_texture(out, resource, texture, view));
}

static cudaError_t make_surface(cudaSurfaceObject_t *out, const struct cudaResourceDesc *resource)
{
	struct texture t = { .surface = true };
	struct description d = { 0 };
	if (!out || !resource || resource->resType != cudaResourceTypeArray)
		return cudaErrorInvalidValue;
	const cudaError_t e = set_resource(&t, resource);
	if (e != cudaSuccess)
		return e;
	d.resource = *resource;
	*out = emu_texture_new(guest.device, &t);
	return remember(*out, &d);
}

GUEST_API cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t *out,
                                                        const struct cudaResourceDesc *resource)
{
	GUEST_CALL(make_surface(out, resource));
}

static cudaError_t destroy(uint64_t handle)
{
	return !handle || emu_texture_free(guest.device, handle) ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaDestroyTextureObject(cudaTextureObject_t texture)
{
	GUEST_CALL(destroy(texture));
}

GUEST_API cudaError_t CUDARTAPI cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
	GUEST_CALL(destroy(surface));
}

/* --- questions --- */

#define QUESTION(name, type, handle_type, field)                        \
	static cudaError_t get_##name(type *out, uint64_t handle)           \
	{                                                                   \
		const struct description *d = description_of(handle);           \
		if (!d || !out)                                                 \
			return cudaErrorInvalidValue;                               \
		*out = d->field;                                                \
		return cudaSuccess;                                             \
	}                                                                   \
	GUEST_API cudaError_t CUDARTAPI name(type *out, handle_type handle) \
	{                                                                   \
		GUEST_CALL(get_##name(out, handle));                            \
	}
QUESTION(cudaGetTextureObjectResourceDesc, struct cudaResourceDesc, cudaTextureObject_t, resource)
QUESTION(cudaGetTextureObjectTextureDesc, struct cudaTextureDesc, cudaTextureObject_t, texture)
QUESTION(cudaGetTextureObjectResourceViewDesc, struct cudaResourceViewDesc, cudaTextureObject_t,
         view)
QUESTION(cudaGetSurfaceObjectResourceDesc, struct cudaResourceDesc, cudaSurfaceObject_t, resource)

static cudaError_t most_texels(size_t *n, const struct cudaChannelFormatDesc *f, int device)
{
	const unsigned texel = f ? guest_texel_bytes(f) : 0;
	if (!n || !texel || device)
		return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	*n = (size_t)1 << 28;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI
cudaDeviceGetTexture1DLinearMaxWidth(size_t *n, const struct cudaChannelFormatDesc *f, int device)
{
	GUEST_CALL(most_texels(n, f, device));
}

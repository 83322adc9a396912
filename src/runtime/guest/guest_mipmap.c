/*
 * Mipmapped arrays: levels one behind the other in one piece of memory, each an array as
 * cudaMallocArray() makes them, half as large as the one before in every dimension but its layers.
 */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_array.h"
#include "runtime/guest/guest_wait.h"

#include "base/mem.h"

#include <stdlib.h>

#define LEVEL_ALIGN 512

struct guest_mipmap {
	unsigned n;
	struct guest_array **level;
	struct guest_mipmap *next;
};
static struct guest_mipmap *mipmaps;

static struct guest_mipmap *mipmap_of(cudaMipmappedArray_const_t handle)
{
	struct guest_mipmap *m = mipmaps;
	while (m && (const void *)m != (const void *)handle)
		m = m->next;
	return m;
}

unsigned guest_mipmap_levels(cudaMipmappedArray_const_t handle, struct guest_array *const **level)
{
	const struct guest_mipmap *m = mipmap_of(handle);
	if (m)
		*level = m->level;
	return m ? m->n : 0;
}

static bool has_layers(unsigned flags)
{
	return flags & (cudaArrayLayered | cudaArrayCubemap);
}

static size_t halved(size_t n, unsigned level)
{
	return n ? (n >> level ? n >> level : 1) : 0;
}

static struct cudaExtent extent_of(struct cudaExtent e, unsigned level, unsigned flags)
{
	return (struct cudaExtent){ halved(e.width, level), halved(e.height, level),
		                        has_layers(flags) ? e.depth : halved(e.depth, level) };
}

/* Down to a level of one texel: 1 + floor(log2(largest dimension)). */
static unsigned most_levels(struct cudaExtent e, unsigned flags)
{
	size_t most = e.width > e.height ? e.width : e.height;
	unsigned n = 1;
	if (!has_layers(flags) && e.depth > most)
		most = e.depth;
	while (most >>= 1)
		n++;
	return n;
}

static void forget(struct guest_mipmap *m)
{
	for (unsigned k = 0; k < m->n; k++)
		guest_array_forget(m->level[k]);
	free(m->level);
	free(m);
}

/* Levels with their places from 0 on. */
static cudaError_t lay_out(struct guest_mipmap *m, const struct cudaChannelFormatDesc *format,
                           struct cudaExtent extent, unsigned flags, unsigned n, size_t *bytes)
{
	*bytes = 0;
	for (unsigned k = 0; k < n; k++) {
		struct guest_array *a;
		size_t size;
		const cudaError_t e =
			guest_array_shape(&a, format, extent_of(extent, k, flags), flags, &size);
		if (e != cudaSuccess)
			return e;
		m->level[m->n++] = a;
		a->of_mipmap = true;
		a->address = *bytes;
		if (__builtin_add_overflow(*bytes, size + LEVEL_ALIGN - 1, bytes))
			return cudaErrorMemoryAllocation;
		*bytes = *bytes / LEVEL_ALIGN * LEVEL_ALIGN;
	}
	return cudaSuccess;
}

static cudaError_t make(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *format,
                        struct cudaExtent extent, unsigned levels, unsigned flags,
                        const void *caller)
{
	if (!out || !format || !extent.width)
		return cudaErrorInvalidValue;
	const unsigned most = most_levels(extent, flags), n = levels < 1 ? 1 : levels;
	struct guest_mipmap *m = mem_zalloc(sizeof *m);
	size_t bytes;
	m->level = mem_calloc(most, sizeof(struct guest_array *));
	const cudaError_t e = lay_out(m, format, extent, flags, n < most ? n : most, &bytes);
	const uint64_t at =
		e == cudaSuccess ? emu_device_alloc(guest.device, bytes, EMU_MEMORY_DEVICE, caller) : 0;
	if (!at) {
		forget(m);
		return e == cudaSuccess ? cudaErrorMemoryAllocation : e;
	}
	for (unsigned k = 0; k < m->n; k++)
		m->level[k]->address += at;
	m->next = mipmaps;
	mipmaps = m;
	*out = (cudaMipmappedArray_t)m;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMallocMipmappedArray(cudaMipmappedArray_t *out,
                                                         const struct cudaChannelFormatDesc *format,
                                                         struct cudaExtent extent, unsigned levels,
                                                         unsigned flags)
{
	GUEST_UNSAFE_CALL(make(out, format, extent, levels, flags, GUEST_CALLER));
}

static cudaError_t level(cudaArray_t *out, cudaMipmappedArray_const_t handle, unsigned k)
{
	const struct guest_mipmap *m = mipmap_of(handle);
	if (!m || !out)
		return m ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	if (k >= m->n)
		return cudaErrorInvalidValue;
	*out = (cudaArray_t)m->level[k];
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGetMipmappedArrayLevel(cudaArray_t *out,
                                                           cudaMipmappedArray_const_t handle,
                                                           unsigned k)
{
	GUEST_CALL(level(out, handle, k));
}

static cudaError_t drop(cudaMipmappedArray_t handle)
{
	struct guest_mipmap *m = mipmap_of(handle), **link = &mipmaps;
	if (!m)
		return handle ? cudaErrorInvalidResourceHandle : cudaSuccess;
	while (*link != m)
		link = &(*link)->next;
	*link = m->next;
	wait_all();
	emu_device_release(guest.device, m->level[0]->address);
	forget(m);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaFreeMipmappedArray(cudaMipmappedArray_t handle)
{
	GUEST_UNSAFE_CALL(drop(handle));
}

/* CUDA arrays: made, asked, freed. Copies to and from them: guest_array_copy.c. */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_array.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_wait.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ROW_ALIGN 32

static struct guest_array *arrays;

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

struct guest_array *guest_array_of(cudaArray_const_t handle)
{
	struct guest_array *a = arrays;
	while (a && (const void *)a != (const void *)handle)
		a = a->next;
	return a;
}

struct guest_box guest_array_box(const struct guest_array *a, struct cudaPos at)
{
	return (struct guest_box){
		a->address + at.z * a->slice + at.y * a->pitch + at.x * a->texel_bytes, a->pitch, a->slice
	};
}

static bool between(size_t at, size_t n, size_t all)
{
	all = at_least_one(all);
	return at <= all && n <= all - at;
}

bool guest_array_holds(const struct guest_array *a, struct cudaPos at, struct cudaExtent n)
{
	return between(at.x, n.width, a->extent.width) && between(at.y, n.height, a->extent.height) &&
	       between(at.z, n.depth, a->extent.depth);
}

unsigned guest_texel_bytes(const struct cudaChannelFormatDesc *f)
{
	const int bits = f->x + f->y + f->z + f->w;
	const bool same = (!f->y || f->y == f->x) && (!f->z || f->z == f->x) && (!f->w || f->w == f->x);
	if (!same || (f->x != 8 && f->x != 16 && f->x != 32) || f->f > cudaChannelFormatKindFloat)
		return 0;
	return (unsigned)bits / 8;
}

static cudaError_t mapped_later(void)
{
	struct err err = { 0 };
	err_set(&err, ERR_UNSUPPORTED, "arrays whose memory is mapped later are not emulated");
	err_remedy(&err, "allocate the array without cudaArraySparse and cudaArrayDeferredMapping");
	record_problem("not-served", &err);
	return cudaErrorNotSupported;
}

cudaError_t guest_array_shape(struct guest_array **out, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned flags, size_t *bytes)
{
	const unsigned texel = format ? guest_texel_bytes(format) : 0;
	if (!texel || !extent.width)
		return cudaErrorInvalidValue;
	if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
		return mapped_later();
	size_t row, slice;
	if (__builtin_mul_overflow(extent.width, texel, &row) ||
	    __builtin_add_overflow(row, ROW_ALIGN - 1, &row))
		return cudaErrorMemoryAllocation;
	row = row / ROW_ALIGN * ROW_ALIGN;
	if (__builtin_mul_overflow(row, at_least_one(extent.height), &slice) ||
	    __builtin_mul_overflow(slice, at_least_one(extent.depth), bytes))
		return cudaErrorMemoryAllocation;
	struct guest_array *a = mem_zalloc(sizeof *a);
	*a = (struct guest_array){ .format = *format,
		                       .extent = extent,
		                       .flags = flags,
		                       .texel_bytes = texel,
		                       .pitch = row,
		                       .slice = slice,
		                       .next = arrays };
	arrays = a;
	*out = a;
	return cudaSuccess;
}

void guest_array_forget(struct guest_array *a)
{
	struct guest_array **link = &arrays;
	while (*link != a)
		link = &(*link)->next;
	*link = a->next;
	free(a);
}

static cudaError_t make(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                        struct cudaExtent extent, unsigned flags, const void *caller)
{
	struct guest_array *a;
	size_t bytes;
	const cudaError_t e =
		out ? guest_array_shape(&a, format, extent, flags, &bytes) : cudaErrorInvalidValue;
	if (e != cudaSuccess)
		return e;
	a->address = emu_device_alloc(guest.device, bytes, EMU_MEMORY_DEVICE, caller);
	if (!a->address) {
		guest_array_forget(a);
		return cudaErrorMemoryAllocation;
	}
	*out = (cudaArray_t)a;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t *out,
                                                const struct cudaChannelFormatDesc *format,
                                                size_t width, size_t height, unsigned flags)
{
	GUEST_UNSAFE_CALL(
		make(out, format, (struct cudaExtent){ width, height, 0 }, flags, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t *out,
                                                  const struct cudaChannelFormatDesc *format,
                                                  struct cudaExtent extent, unsigned flags)
{
	GUEST_UNSAFE_CALL(make(out, format, extent, flags, GUEST_CALLER));
}

static cudaError_t drop(cudaArray_t handle)
{
	struct guest_array *a = guest_array_of(handle);
	if (!handle)
		return cudaSuccess;
	if (!a || a->of_mipmap)
		return cudaErrorInvalidResourceHandle;
	wait_all();
	emu_device_release(guest.device, a->address);
	guest_array_forget(a);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array)
{
	GUEST_UNSAFE_CALL(drop(array));
}

static cudaError_t info(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                        unsigned *flags, cudaArray_const_t handle)
{
	const struct guest_array *a = guest_array_of(handle);
	if (!a)
		return cudaErrorInvalidResourceHandle;
	if (format)
		*format = a->format;
	if (extent)
		*extent = a->extent;
	if (flags)
		*flags = a->flags;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaArrayGetInfo(struct cudaChannelFormatDesc *format,
                                                 struct cudaExtent *extent, unsigned *flags,
                                                 cudaArray_t array)
{
	GUEST_CALL(info(format, extent, flags, array));
}

GUEST_API cudaError_t CUDARTAPI cudaGetChannelDesc(struct cudaChannelFormatDesc *format,
                                                   cudaArray_const_t array)
{
	GUEST_CALL(info(format, NULL, NULL, array));
}

GUEST_API struct cudaChannelFormatDesc CUDARTAPI
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, kind };
}

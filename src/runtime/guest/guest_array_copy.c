/* Copies to and from CUDA arrays: all forms become one of cudaMemcpy3D's, between boxes. */
#include "runtime/guest/guest_array.h"

#include <string.h>

struct side { /* an array from byte @x of row @y on, or memory */
	cudaArray_const_t array;
	size_t x, y;
	void *memory;
	size_t pitch;
};

static cudaError_t box_of(const struct side *s, size_t width, size_t height, struct guest_box *out)
{
	if (!s->array) {
		*out = (struct guest_box){ (uint64_t)(uintptr_t)s->memory, s->pitch, 0 };
		return s->pitch < width && height > 1 ? cudaErrorInvalidPitchValue : cudaSuccess;
	}
	const struct guest_array *a = guest_array_of(s->array);
	if (!a)
		return cudaErrorInvalidResourceHandle;
	const size_t rows = a->extent.height ? a->extent.height : 1;
	const size_t row = a->extent.width * a->texel_bytes;
	if (s->x > row || width > row - s->x || s->y > rows || height > rows - s->y)
		return cudaErrorInvalidValue;
	*out = guest_array_box(a, (struct cudaPos){ 0, s->y, 0 });
	out->address += s->x;
	return cudaSuccess;
}

static cudaError_t copy(const struct side *to, const struct side *from, size_t width, size_t height,
                        cudaStream_t stream, enum guest_wait wait, const void *caller)
{
	struct guest_op op = {
		.kind = GUEST_OP_COPY,
		.u.copy = { .width = width, .height = height, .depth = 1, .direction = cudaMemcpyDefault },
	};
	struct guest_stream *s = guest_stream_of(stream);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t e = box_of(to, width, height, &op.u.copy.to);
	if (e == cudaSuccess)
		e = box_of(from, width, height, &op.u.copy.from);
	return e != cudaSuccess || !width || !height ? e : guest_submit(s, &op, wait, caller);
}

static struct side memory(const void *p, size_t pitch)
{
	return (struct side){ .memory = (void *)(uintptr_t)p, .pitch = pitch };
}

static struct side array(cudaArray_const_t a, size_t x, size_t y)
{
	return (struct side){ .array = a, .x = x, .y = y };
}

/* @bytes of an array in the order of its rows, from the start of row @y or within it. */
static cudaError_t copy_run(cudaArray_const_t to, cudaArray_const_t from, void *plain, size_t x,
                            size_t y, size_t bytes, cudaStream_t stream, enum guest_wait wait,
                            const void *caller)
{
	const struct guest_array *a = guest_array_of(to ? to : from);
	if (!a)
		return cudaErrorInvalidResourceHandle;
	const size_t row = a->extent.width * a->texel_bytes;
	if (x > row)
		return cudaErrorInvalidValue;
	while (bytes) {
		const size_t width = x == 0 && bytes >= row ? row : bytes < row - x ? bytes : row - x;
		const size_t height = width == row ? bytes / row : 1;
		const struct side there = array(to ? to : from, x, y), here = memory(plain, width);
		const cudaError_t e =
			copy(to ? &there : &here, to ? &here : &there, width, height, stream, wait, caller);
		if (e != cudaSuccess)
			return e;
		plain = (char *)plain + width * height;
		bytes -= width * height;
		x = 0;
		y += height;
	}
	return cudaSuccess;
}

/* @bytes of one array in the order of its rows, to another that may have other rows. */
static cudaError_t copy_rows(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                             size_t x, size_t y, size_t bytes, const void *caller)
{
	const struct guest_array *t = guest_array_of(to), *f = guest_array_of(from);
	if (!t || !f)
		return cudaErrorInvalidResourceHandle;
	const size_t to_row = t->extent.width * t->texel_bytes;
	const size_t row = f->extent.width * f->texel_bytes;
	if (x > row || to_x > to_row)
		return cudaErrorInvalidValue;
	while (bytes) {
		const bool whole = !x && !to_x && row == to_row && bytes >= row;
		const size_t left = row - x < to_row - to_x ? row - x : to_row - to_x;
		const size_t width = bytes < left ? bytes : left, height = whole ? bytes / row : 1;
		const struct side there = array(to, to_x, to_y), here = array(from, x, y);
		const cudaError_t e = copy(&there, &here, width, height, 0, GUEST_ASYNC, caller);
		if (e != cudaSuccess)
			return e;
		bytes -= width * height;
		x += width, to_x += width;
		y += x == row ? height : 0, to_y += to_x == to_row ? height : 0;
		x = x == row ? 0 : x, to_x = to_x == to_row ? 0 : to_x;
	}
	return cudaSuccess;
}

#define DIRECTION(kind) (void)(kind) /* where both lie is known */

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y,
                                                    const void *from, size_t pitch, size_t width,
                                                    size_t height, enum cudaMemcpyKind kind)
{
	const struct side t = array(to, x, y), f = memory(from, pitch);
	DIRECTION(kind);
	GUEST_CALL(copy(&t, &f, width, height, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                         const void *from, size_t pitch,
                                                         size_t width, size_t height,
                                                         enum cudaMemcpyKind kind,
                                                         cudaStream_t stream)
{
	const struct side t = array(to, x, y), f = memory(from, pitch);
	DIRECTION(kind);
	GUEST_CALL(copy(&t, &f, width, height, stream, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void *to, size_t pitch,
                                                      cudaArray_const_t from, size_t x, size_t y,
                                                      size_t width, size_t height,
                                                      enum cudaMemcpyKind kind)
{
	const struct side t = memory(to, pitch), f = array(from, x, y);
	DIRECTION(kind);
	GUEST_CALL(copy(&t, &f, width, height, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void *to, size_t pitch,
                                                           cudaArray_const_t from, size_t x,
                                                           size_t y, size_t width, size_t height,
                                                           enum cudaMemcpyKind kind,
                                                           cudaStream_t stream)
{
	const struct side t = memory(to, pitch), f = array(from, x, y);
	DIRECTION(kind);
	GUEST_CALL(copy(&t, &f, width, height, stream, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                         cudaArray_const_t from, size_t x, size_t y,
                                                         size_t width, size_t height,
                                                         enum cudaMemcpyKind kind)
{
	const struct side t = array(to, to_x, to_y), f = array(from, x, y);
	DIRECTION(kind);
	GUEST_CALL(copy(&t, &f, width, height, 0, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                       cudaArray_const_t from, size_t x, size_t y,
                                                       size_t bytes, enum cudaMemcpyKind kind)
{
	DIRECTION(kind);
	GUEST_CALL(copy_rows(to, to_x, to_y, from, x, y, bytes, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y,
                                                  const void *from, size_t bytes,
                                                  enum cudaMemcpyKind kind)
{
	DIRECTION(kind);
	GUEST_CALL(
		copy_run(to, NULL, (void *)(uintptr_t)from, x, y, bytes, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                       const void *from, size_t bytes,
                                                       enum cudaMemcpyKind kind,
                                                       cudaStream_t stream)
{
	DIRECTION(kind);
	GUEST_CALL(copy_run(to, NULL, (void *)(uintptr_t)from, x, y, bytes, stream, GUEST_ASYNC,
	                    GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x,
                                                    size_t y, size_t bytes,
                                                    enum cudaMemcpyKind kind)
{
	DIRECTION(kind);
	GUEST_CALL(copy_run(NULL, from, to, x, y, bytes, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x,
                                                         size_t y, size_t bytes,
                                                         enum cudaMemcpyKind kind,
                                                         cudaStream_t stream)
{
	DIRECTION(kind);
	GUEST_CALL(copy_run(NULL, from, to, x, y, bytes, stream, GUEST_ASYNC, GUEST_CALLER));
}

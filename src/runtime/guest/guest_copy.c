/* Copies and sets: every form of the API becomes one box-to-box operation. */
#include "runtime/guest/guest_op.h"

#include <string.h>

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* --- copies --- */

static cudaError_t submit(const struct guest_op *op, cudaStream_t stream, enum guest_wait wait,
                          const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	return s ? guest_submit(s, op, wait, caller) : cudaErrorInvalidResourceHandle;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t stream, enum guest_wait wait, const void *caller)
{
	if (kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!bytes)
		return cudaSuccess;
	const struct guest_op op = guest_copy_line(to, from, bytes, kind);
	return submit(&op, stream, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy(void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
	GUEST_CALL(copy(to, from, bytes, kind, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
	GUEST_STREAM_CALL(copy(to, from, bytes, kind, stream, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyPeer(void *to, int to_device, const void *from,
                                               int from_device, size_t bytes)
{
	GUEST_CALL(to_device || from_device
	               ? cudaErrorInvalidDevice
	               : copy(to, from, bytes, cudaMemcpyDeviceToDevice, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                                    int from_device, size_t bytes,
                                                    cudaStream_t stream)
{
	GUEST_STREAM_CALL(to_device || from_device ? cudaErrorInvalidDevice
	                                           : copy(to, from, bytes, cudaMemcpyDeviceToDevice,
	                                                  stream, GUEST_ASYNC, GUEST_CALLER));
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, enum cudaMemcpyKind kind,
                           cudaStream_t stream, enum guest_wait wait, const void *caller)
{
	if (kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!width || !height)
		return cudaSuccess;
	if (to_pitch < width || from_pitch < width)
		return cudaErrorInvalidPitchValue;
	const struct guest_op op = {
		.kind = GUEST_OP_COPY,
		.u.copy = { .to = { address_of(to), to_pitch, to_pitch * height },
		            .from = { address_of(from), from_pitch, from_pitch * height },
		            .width = width,
		            .height = height,
		            .depth = 1,
		            .direction = kind },
	};
	return submit(&op, stream, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2D(void *to, size_t to_pitch, const void *from,
                                             size_t from_pitch, size_t width, size_t height,
                                             enum cudaMemcpyKind kind)
{
	GUEST_CALL(
		copy_2d(to, to_pitch, from, from_pitch, width, height, kind, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                                  size_t from_pitch, size_t width, size_t height,
                                                  enum cudaMemcpyKind kind, cudaStream_t stream)
{
	GUEST_STREAM_CALL(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream,
	                          GUEST_ASYNC, GUEST_CALLER));
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream,
                           enum guest_wait wait, const void *caller)
{
	struct guest_op op;
	const cudaError_t e = guest_copy_3d(p, &op);
	if (e != cudaSuccess || !p->extent.width || !p->extent.height || !p->extent.depth)
		return e;
	return submit(&op, stream, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	GUEST_CALL(copy_3d(p, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p,
                                                  cudaStream_t stream)
{
	GUEST_STREAM_CALL(copy_3d(p, stream, GUEST_ASYNC, GUEST_CALLER));
}

/* --- symbols --- */

static cudaError_t symbol_copy(const void *symbol, void *host, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, bool to_symbol, cudaStream_t stream,
                               enum guest_wait wait, const void *caller)
{
	struct guest_op op;
	const cudaError_t e = guest_copy_symbol(symbol, host, bytes, offset, kind, to_symbol, &op);
	return e != cudaSuccess || !bytes ? e : submit(&op, stream, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void *symbol, const void *from,
                                                   size_t bytes, size_t offset,
                                                   enum cudaMemcpyKind kind)
{
	GUEST_CALL(symbol_copy(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, 0,
	                       GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                                        size_t bytes, size_t offset,
                                                        enum cudaMemcpyKind kind,
                                                        cudaStream_t stream)
{
	GUEST_STREAM_CALL(symbol_copy(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true,
	                              stream, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                                     size_t offset, enum cudaMemcpyKind kind)
{
	GUEST_CALL(symbol_copy(symbol, to, bytes, offset, kind, false, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void *to, const void *symbol,
                                                          size_t bytes, size_t offset,
                                                          enum cudaMemcpyKind kind,
                                                          cudaStream_t stream)
{
	GUEST_STREAM_CALL(
		symbol_copy(symbol, to, bytes, offset, kind, false, stream, GUEST_ASYNC, GUEST_CALLER));
}

static cudaError_t symbol_address(void **device, size_t *bytes, const void *symbol)
{
	uint64_t address;
	cudaError_t why;
	const struct guest_variable *v = guest_variable_of(symbol, &address, &why);
	if (!v)
		return why;
	if (device)
		*device = (void *)(uintptr_t)address;
	if (bytes)
		*bytes = v->bytes;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGetSymbolAddress(void **device, const void *symbol)
{
	GUEST_CALL(symbol_address(device, NULL, symbol));
}

GUEST_API cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	GUEST_CALL(symbol_address(NULL, bytes, symbol));
}

/* --- sets --- */

static cudaError_t set(struct guest_box to, uint32_t value, unsigned element_bytes, size_t width,
                       size_t height, size_t depth, cudaStream_t stream, enum guest_wait wait,
                       const void *caller)
{
	if (!width || !height || !depth)
		return cudaSuccess;
	const struct guest_op op = {
		.kind = GUEST_OP_SET,
		.u.set = { to, width, height, depth, value, element_bytes },
	};
	return submit(&op, stream, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemset(void *to, int value, size_t bytes)
{
	GUEST_CALL(set((struct guest_box){ address_of(to), bytes, bytes }, (uint8_t)value, 1, bytes, 1,
	               1, 0, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemsetAsync(void *to, int value, size_t bytes,
                                                cudaStream_t stream)
{
	GUEST_STREAM_CALL(set((struct guest_box){ address_of(to), bytes, bytes }, (uint8_t)value, 1,
	                      bytes, 1, 1, stream, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemset2D(void *to, size_t pitch, int value, size_t width,
                                             size_t height)
{
	GUEST_CALL(set((struct guest_box){ address_of(to), pitch, pitch * height }, (uint8_t)value, 1,
	               width, height, 1, 0, GUEST_ASYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                                  size_t height, cudaStream_t stream)
{
	GUEST_STREAM_CALL(set((struct guest_box){ address_of(to), pitch, pitch * height },
	                      (uint8_t)value, 1, width, height, 1, stream, GUEST_ASYNC, GUEST_CALLER));
}

static cudaError_t set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                          cudaStream_t stream, const void *caller)
{
	const struct guest_box box = { address_of(to.ptr), to.pitch, to.pitch * to.ysize };
	return set(box, (uint8_t)value, 1, extent.width, extent.height, extent.depth, stream,
	           GUEST_ASYNC, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemset3D(struct cudaPitchedPtr to, int value,
                                             struct cudaExtent extent)
{
	GUEST_CALL(set_3d(to, value, extent, 0, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemset3DAsync(struct cudaPitchedPtr to, int value,
                                                  struct cudaExtent extent, cudaStream_t stream)
{
	GUEST_STREAM_CALL(set_3d(to, value, extent, stream, GUEST_CALLER));
}

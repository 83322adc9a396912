/* Copies of several boxes in one call, and between the memories of two devices, which are one. */
#include "runtime/guest/guest_op.h"

#include <string.h>

static cudaError_t copy_batch(void *const *to, const void *const *from, const size_t *bytes,
                              size_t n, cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	cudaError_t e = s ? cudaSuccess : cudaErrorInvalidResourceHandle;
	for (size_t i = 0; i < n && e == cudaSuccess; i++) {
		if (!bytes[i])
			return cudaErrorInvalidValue;
		const struct guest_op op = guest_copy_line(to[i], from[i], bytes[i], cudaMemcpyDefault);
		e = guest_submit(s, &op, GUEST_ASYNC, caller);
	}
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                                     const size_t *bytes, size_t n,
                                                     struct cudaMemcpyAttributes *attributes,
                                                     size_t *first, size_t n_attributes,
                                                     cudaStream_t stream)
{
	(void)attributes, (void)first, (void)n_attributes;
	GUEST_CALL(copy_batch(to, from, bytes, n, stream, GUEST_CALLER));
}

static void put_operand(const struct cudaMemcpy3DOperand *o, struct cudaExtent extent,
                        cudaArray_t *array, struct cudaPos *at, struct cudaPitchedPtr *p)
{
	if (o->type == cudaMemcpyOperandTypeArray) {
		*array = o->op.array.array;
		*at = (struct cudaPos){ o->op.array.offset.x, o->op.array.offset.y, o->op.array.offset.z };
		return;
	}
	/* lengths are in elements; between two pointers an element is a byte */
	const size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent.width;
	const size_t rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent.height;
	*p = (struct cudaPitchedPtr){ o->op.ptr.ptr, row, row, rows };
}

static cudaError_t copy_3d_batch(size_t n, const struct cudaMemcpy3DBatchOp *list,
                                 cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	cudaError_t e = s ? cudaSuccess : cudaErrorInvalidResourceHandle;
	for (size_t i = 0; i < n && e == cudaSuccess; i++) {
		struct cudaMemcpy3DParms p = { .extent = list[i].extent, .kind = cudaMemcpyDefault };
		struct guest_op op;
		put_operand(&list[i].src, p.extent, &p.srcArray, &p.srcPos, &p.srcPtr);
		put_operand(&list[i].dst, p.extent, &p.dstArray, &p.dstPos, &p.dstPtr);
		e = guest_copy_3d(&p, &op);
		if (e == cudaSuccess)
			e = guest_submit(s, &op, GUEST_ASYNC, caller);
	}
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync(size_t n, struct cudaMemcpy3DBatchOp *list,
                                                       unsigned long long flags,
                                                       cudaStream_t stream)
{
	(void)flags;
	GUEST_CALL(copy_3d_batch(n, list, stream, GUEST_CALLER));
}

static cudaError_t copy_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                             enum guest_wait wait, const void *caller)
{
	struct guest_op op;
	struct guest_stream *s = guest_stream_of(stream);
	if (!p || p->srcDevice || p->dstDevice)
		return p ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	const struct cudaMemcpy3DParms same = { p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
		                                    p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault };
	const cudaError_t e = guest_copy_3d(&same, &op);
	if (e != cudaSuccess || !s)
		return s ? e : cudaErrorInvalidResourceHandle;
	return guest_submit(s, &op, wait, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
	GUEST_CALL(copy_peer(p, 0, GUEST_SYNC, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                                      cudaStream_t stream)
{
	GUEST_CALL(copy_peer(p, stream, GUEST_ASYNC, GUEST_CALLER));
}

/* Operations from what the API is given: copies, symbols; and operations that outlive their call.
 */
#include "runtime/guest/guest_op.h"

#include "runtime/guest/guest_array.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

struct guest_op guest_copy_line(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	return (struct guest_op){
		.kind = GUEST_OP_COPY,
		.u.copy = { .to = { address_of(to), bytes, bytes },
		            .from = { address_of(from), bytes, bytes },
		            .width = bytes,
		            .height = 1,
		            .depth = 1,
		            .direction = kind },
	};
}

static struct guest_box box_of(const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
	const size_t slice = p->pitch * p->ysize;
	return (struct guest_box){ address_of(p->ptr) + at->x + at->y * p->pitch + at->z * slice,
		                       p->pitch, slice };
}

/* Where an array takes part, the width is in its texels. */
static cudaError_t copy_arrays(const struct cudaMemcpy3DParms *p, struct guest_op *op)
{
	const struct guest_array *to = guest_array_of(p->dstArray), *from = guest_array_of(p->srcArray);
	const struct guest_array *any = to ? to : from;
	size_t width;
	if ((p->dstArray && !to) || (p->srcArray && !from))
		return cudaErrorInvalidResourceHandle;
	if ((to && !guest_array_holds(to, p->dstPos, p->extent)) ||
	    (from && !guest_array_holds(from, p->srcPos, p->extent)) ||
	    __builtin_mul_overflow(p->extent.width, any->texel_bytes, &width))
		return cudaErrorInvalidValue;
	*op = (struct guest_op){
		.kind = GUEST_OP_COPY,
		.u.copy = { .to = to ? guest_array_box(to, p->dstPos) : box_of(&p->dstPtr, &p->dstPos),
		            .from =
		                from ? guest_array_box(from, p->srcPos) : box_of(&p->srcPtr, &p->srcPos),
		            .width = width,
		            .height = p->extent.height ? p->extent.height : 1,
		            .depth = p->extent.depth ? p->extent.depth : 1,
		            .direction = cudaMemcpyDefault },
	};
	return cudaSuccess;
}

cudaError_t guest_copy_3d(const struct cudaMemcpy3DParms *p, struct guest_op *op)
{
	if (!p || p->kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (p->srcArray || p->dstArray)
		return copy_arrays(p, op);
	*op = (struct guest_op){
		.kind = GUEST_OP_COPY,
		.u.copy = { .to = box_of(&p->dstPtr, &p->dstPos),
		            .from = box_of(&p->srcPtr, &p->srcPos),
		            .width = p->extent.width,
		            .height = p->extent.height,
		            .depth = p->extent.depth,
		            .direction = p->kind },
	};
	return cudaSuccess;
}

/* The operation between @host and [offset, offset + bytes) of a variable. */
cudaError_t guest_copy_symbol(const void *symbol, void *host, size_t bytes, size_t offset,
                              enum cudaMemcpyKind kind, bool to_symbol, struct guest_op *op)
{
	uint64_t address;
	cudaError_t why;
	struct guest_variable *v = guest_variable_of(symbol, &address, &why);
	if (!v)
		return why;
	if (offset > v->bytes || bytes > v->bytes - offset)
		return cudaErrorInvalidValue;
	void *const device = (void *)(uintptr_t)(address + offset);
	*op = to_symbol ? guest_copy_line(device, host, bytes, kind)
	                : guest_copy_line(host, device, bytes, kind);
	op->u.copy.to_symbol = to_symbol;
	op->u.copy.from_symbol = !to_symbol;
	v->written |= to_symbol;
	return cudaSuccess;
}

void guest_op_keep(struct guest_op *to, const struct guest_op *from)
{
	*to = *from;
	if (from->kind != GUEST_OP_LAUNCH)
		return;
	struct emu_function_info info;
	emu_function_info(from->u.launch.function->loaded, &info);
	to->u.launch.params = mem_alloc(info.param_bytes + 1u);
	memcpy(to->u.launch.params, from->u.launch.params, info.param_bytes);
}

void guest_op_drop(struct guest_op *op)
{
	if (op->kind == GUEST_OP_LAUNCH)
		free(op->u.launch.params);
	op->kind = GUEST_OP_EMPTY;
}

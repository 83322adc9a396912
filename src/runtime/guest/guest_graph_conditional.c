/*
 * Nodes of graphs that run their bodies if, while, or by the number that kernels set. The handle is
 * the address of that number, so that cudaGraphSetConditional() of device code is a store.
 */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

/* Numbers that begin anew with each launch of a graph. */
static struct beginning {
	uint64_t handle;
	uint32_t value;
} *beginnings;
static size_t n_beginnings, cap_beginnings;

static uint32_t *number_of(uint64_t handle)
{
	struct emu_allocation a;
	return emu_device_find(guest.device, handle, &a) && a.address == handle
	           ? (uint32_t *)(uintptr_t)handle
	           : NULL;
}

static cudaError_t make_handle(cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned value,
                               unsigned flags)
{
	if (!out || !graph || flags & ~(unsigned)cudaGraphCondAssignDefault)
		return cudaErrorInvalidValue;
	const uint64_t at = emu_device_alloc(guest.device, sizeof value, EMU_MEMORY_PINNED, NULL);
	if (!at)
		return cudaErrorMemoryAllocation;
	*number_of(at) = 0;
	if (flags) {
		MEM_ROOM(beginnings, n_beginnings, cap_beginnings, 8);
		beginnings[n_beginnings++] = (struct beginning){ at, value };
	}
	*out = at;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out,
                                                                 cudaGraph_t graph, unsigned value,
                                                                 unsigned flags)
{
	GUEST_CALL(make_handle(out, graph, value, flags));
}

cudaError_t graph_add_conditional(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *from, size_t n,
                                  struct cudaConditionalNodeParams *p)
{
	const bool fits = p->type == cudaGraphCondTypeIf      ? p->size == 1 || p->size == 2
	                  : p->type == cudaGraphCondTypeWhile ? p->size == 1
	                                                      : p->size > 0;
	if (!fits || p->type > cudaGraphCondTypeSwitch || !number_of(p->handle))
		return cudaErrorInvalidValue;
	const struct guest_op op = { .kind = GUEST_OP_CONDITIONAL,
		                         .u.conditional = { p->handle, p->type, p->size, NULL } };
	const struct guest_node *node = graph_add(out, graph, from, n, &op);
	p->phGraph_out = (cudaGraph_t *)(void *)node->op.u.conditional.body;
	return cudaSuccess;
}

void graph_conditional_begin(const struct guest_graph *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		const struct guest_op *op = &g->node[i]->op;
		if (op->kind == GUEST_OP_GRAPH)
			graph_conditional_begin(op->u.graph);
		if (op->kind != GUEST_OP_CONDITIONAL)
			continue;
		uint32_t *number = number_of(op->u.conditional.handle);
		for (size_t k = 0; number && k < n_beginnings; k++)
			if (beginnings[k].handle == op->u.conditional.handle)
				*number = beginnings[k].value;
		for (unsigned k = 0; k < op->u.conditional.n; k++)
			graph_conditional_begin(op->u.conditional.body[k]);
	}
}

struct guest_graph *graph_conditional_body(const struct guest_op *op)
{
	const uint32_t *number = number_of(op->u.conditional.handle);
	if (!number) /* it went with cudaDeviceReset() */
		return NULL;
	const uint32_t value = *number;
	const unsigned which = op->u.conditional.type == cudaGraphCondTypeSwitch ? value : !value;
	return which < op->u.conditional.n ? op->u.conditional.body[which] : NULL;
}

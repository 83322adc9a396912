/*
 * Nodes of graphs that run their bodies if, while, or by the number that kernels set. The handle is
 * the address of that number, so that cudaGraphSetConditional() of device code is a store.
 */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

static struct handle {
	uint64_t address;
	uint64_t graph; /* its number */
	bool decides;   /* a node */
	bool begins;    /* with @value, at each launch of the graph */
	uint32_t value;
} *handles;
static size_t n_handles, cap_handles;

static uint32_t *number_of(uint64_t handle)
{
	struct emu_allocation a;
	return emu_device_find(guest.device, handle, &a) && a.address == handle
	           ? (uint32_t *)(uintptr_t)handle
	           : NULL;
}

static cudaError_t make_handle(cudaGraphConditionalHandle *out, struct guest_graph *g,
                               unsigned value, unsigned flags)
{
	if (!out || !g || g->gone || flags & ~(unsigned)cudaGraphCondAssignDefault)
		return cudaErrorInvalidValue;
	const uint64_t at = emu_device_alloc(guest.device, sizeof value, EMU_MEMORY_PINNED, NULL);
	if (!at)
		return cudaErrorMemoryAllocation;
	*number_of(at) = 0;
	struct guest_graph *root = graph_root(g);
	MEM_ROOM(handles, n_handles, cap_handles, 8);
	handles[n_handles++] = (struct handle){
		.address = at, .graph = root->number, .begins = flags != 0, .value = value
	};
	root->n_handles++;
	root->n_idle++;
	*out = at;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out,
                                                                 cudaGraph_t graph, unsigned value,
                                                                 unsigned flags)
{
	GUEST_CALL(make_handle(out, graph_of(graph), value, flags));
}

/* The handle for a new node of a graph or its bodies; each decides one. NULL = it cannot. */
static struct handle *idle_handle(uint64_t address, const struct guest_graph *root)
{
	for (size_t i = 0; i < n_handles; i++)
		if (handles[i].address == address && handles[i].graph == root->number)
			return handles[i].decides || !number_of(address) ? NULL : &handles[i];
	return NULL;
}

cudaError_t graph_add_conditional(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *from, size_t n,
                                  struct cudaConditionalNodeParams *p)
{
	const bool fits = p->type == cudaGraphCondTypeIf      ? p->size == 1 || p->size == 2
	                  : p->type == cudaGraphCondTypeWhile ? p->size == 1
	                                                      : p->size > 0;
	struct guest_graph *root = graph_root(graph_of(graph));
	struct handle *handle = idle_handle(p->handle, root);
	if (!fits || p->type > cudaGraphCondTypeSwitch || !handle)
		return cudaErrorInvalidValue;
	handle->decides = true;
	root->n_idle--;
	const struct guest_op op = { .kind = GUEST_OP_CONDITIONAL,
		                         .u.conditional = { p->handle, p->type, p->size, NULL } };
	const struct guest_node *node = graph_add(out, graph, from, n, &op);
	p->phGraph_out = (cudaGraph_t *)(void *)node->op.u.conditional.body;
	return cudaSuccess;
}

void graph_conditional_drop(struct guest_node *node)
{
	struct guest_graph *root = graph_root(node->graph);
	for (size_t i = 0; i < n_handles; i++)
		if (handles[i].address == node->op.u.conditional.handle && handles[i].decides) {
			handles[i].decides = false;
			root->n_idle++;
		}
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
		for (size_t k = 0; number && k < n_handles; k++)
			if (handles[k].address == op->u.conditional.handle && handles[k].begins)
				*number = handles[k].value;
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

/* Memory that graphs take and give back. It is taken once, when the node is made: the graph may run
 * many times. */
#include "runtime/guest/guest_graph.h"

#include <string.h>

cudaError_t graph_add_alloc(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                            size_t n, size_t bytes, void **address)
{
	const uint64_t at = bytes ? emu_device_alloc(guest.device, bytes, EMU_MEMORY_DEVICE, NULL) : 0;
	if (!at)
		return bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
	graph_heap_add(at);
	const struct guest_op op = { .kind = GUEST_OP_ALLOC, .u.memory = { at, bytes } };
	graph_add(out, graph, from, n, &op);
	*address = (void *)(uintptr_t)at;
	return cudaSuccess;
}

cudaError_t graph_add_free(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                           size_t n, void *address)
{
	struct emu_allocation a;
	if (!emu_device_find(guest.device, (uint64_t)(uintptr_t)address, &a))
		return cudaErrorInvalidValue;
	const struct guest_op op = { .kind = GUEST_OP_FREE, .u.memory = { a.address, a.bytes } };
	graph_add(out, graph, from, n, &op);
	return cudaSuccess;
}

bool graph_gives_back(const struct guest_graph *g, uint64_t address)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->node[i]->op.kind == GUEST_OP_FREE && g->node[i]->op.u.memory.address == address)
			return true;
	return false;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                         const cudaGraphNode_t *from, size_t n,
                                                         struct cudaMemAllocNodeParams *p)
{
	GUEST_CALL(graph_add_alloc(out, graph, from, n, p->bytesize, &p->dptr));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                        const cudaGraphNode_t *from, size_t n,
                                                        void *address)
{
	GUEST_CALL(graph_add_free(out, graph, from, n, address));
}

static cudaError_t alloc_params(const struct guest_node *node, struct cudaMemAllocNodeParams *p)
{
	if (node->op.kind != GUEST_OP_ALLOC)
		return cudaErrorInvalidValue;
	memset(p, 0, sizeof *p);
	p->poolProps.allocType = cudaMemAllocationTypePinned;
	p->poolProps.location.type = cudaMemLocationTypeDevice;
	p->bytesize = node->op.u.memory.bytes;
	p->dptr = (void *)(uintptr_t)node->op.u.memory.address;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                               struct cudaMemAllocNodeParams *p)
{
	GUEST_CALL(alloc_params(node_of(node), p));
}

static cudaError_t free_params(const struct guest_node *node, void *out)
{
	if (node->op.kind != GUEST_OP_FREE)
		return cudaErrorInvalidValue;
	memcpy(out, &node->op.u.memory.address, sizeof node->op.u.memory.address);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
	GUEST_CALL(free_params(node_of(node), out));
}

/* Graphs take their memory from the one heap of the device, and none is kept in reserve. */
static cudaError_t graph_memory(int device, void *value, bool set)
{
	if (device)
		return cudaErrorInvalidDevice;
	if (!set)
		memset(value, 0, sizeof(uint64_t));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device,
                                                               enum cudaGraphMemAttributeType which,
                                                               void *value)
{
	(void)which;
	GUEST_CALL(graph_memory(device, value, false));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device,
                                                               enum cudaGraphMemAttributeType which,
                                                               void *value)
{
	(void)which;
	GUEST_CALL(graph_memory(device, value, true));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device)
{
	GUEST_CALL(device ? cudaErrorInvalidDevice : cudaSuccess);
}

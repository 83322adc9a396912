/* Parameters of the nodes of graphs: read back, and changed, in a graph and in an executable one.
 */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

#include <string.h>

/* Functions that differ in the node only: of a graph, and of an executable one. */
#define SETTERS(graph_name, exec_name, type, setter)                                      \
	GUEST_API cudaError_t CUDARTAPI graph_name(cudaGraphNode_t node, const type *p)       \
	{                                                                                     \
		GUEST_CALL(setter(node_of(node), p));                                             \
	}                                                                                     \
	GUEST_API cudaError_t CUDARTAPI exec_name(cudaGraphExec_t exec, cudaGraphNode_t node, \
	                                          const type *p)                              \
	{                                                                                     \
		GUEST_CALL(setter(graph_exec_node(exec, node), p));                               \
	}
#define GETTER(name, type, getter)                                      \
	GUEST_API cudaError_t CUDARTAPI name(cudaGraphNode_t node, type *p) \
	{                                                                   \
		GUEST_CALL(getter(node_of(node), p));                           \
	}

/* --- kernels --- */

static cudaError_t set_kernel(struct guest_node *node, const struct cudaKernelNodeParams *p)
{
	struct guest_op op;
	cudaError_t e = graph_kernel_op(p, &op);
	if (e != cudaSuccess)
		return e;
	e = graph_set_op_of(node, &op);
	guest_op_drop(&op);
	return e;
}

static cudaError_t get_kernel(struct guest_node *node, struct cudaKernelNodeParams *p)
{
	const struct guest_op *op = &node->op;
	if (op->kind != GUEST_OP_LAUNCH)
		return cudaErrorInvalidValue;
	struct emu_function_info info;
	emu_function_info(op->u.launch.function->loaded, &info);
	node->args = mem_realloc(node->args, info.n_params + 1u, sizeof *node->args);
	for (unsigned i = 0; i < info.n_params; i++) {
		unsigned offset = 0, bytes;
		emu_function_param(op->u.launch.function->loaded, i, &offset, &bytes);
		node->args[i] = (uint8_t *)op->u.launch.params + offset;
	}
	const unsigned *grid = op->u.launch.grid, *block = op->u.launch.block;
	*p = (struct cudaKernelNodeParams){
		.func = (void *)(uintptr_t)op->u.launch.function->host,
		.gridDim = { grid[0], grid[1], grid[2] },
		.blockDim = { block[0], block[1], block[2] },
		.sharedMemBytes = op->u.launch.shared_bytes,
		.kernelParams = node->args,
	};
	return cudaSuccess;
}

SETTERS(cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams, struct cudaKernelNodeParams,
        set_kernel)
GETTER(cudaGraphKernelNodeGetParams, struct cudaKernelNodeParams, get_kernel)

/* Priorities and hints change no result; cooperation and clusters are kept. */
static cudaError_t kernel_attribute(const struct guest_node *node, cudaLaunchAttributeID which,
                                    cudaLaunchAttributeValue *value)
{
	if (node->op.kind != GUEST_OP_LAUNCH)
		return cudaErrorInvalidValue;
	memset(value, 0, sizeof *value);
	if (which == cudaLaunchAttributeCooperative)
		value->cooperative = node->op.u.launch.group.cooperative;
	if (which == cudaLaunchAttributeClusterDimension)
		memcpy(&value->clusterDim, node->op.u.launch.group.cluster, sizeof value->clusterDim);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                                cudaLaunchAttributeID which,
                                                                cudaLaunchAttributeValue *value)
{
	GUEST_CALL(kernel_attribute(node_of(node), which, value));
}

static cudaError_t set_kernel_attribute(struct guest_node *node, cudaLaunchAttributeID which,
                                        const cudaLaunchAttributeValue *value)
{
	if (node->op.kind != GUEST_OP_LAUNCH)
		return cudaErrorInvalidValue;
	if (which == cudaLaunchAttributeCooperative)
		node->op.u.launch.group.cooperative = value->cooperative != 0;
	if (which == cudaLaunchAttributeClusterDimension)
		memcpy(node->op.u.launch.group.cluster, &value->clusterDim, sizeof value->clusterDim);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(
	cudaGraphNode_t node, cudaLaunchAttributeID which, const cudaLaunchAttributeValue *value)
{
	GUEST_CALL(set_kernel_attribute(node_of(node), which, value));
}

static cudaError_t copy_kernel_attributes(struct guest_node *to, const struct guest_node *from)
{
	if (to->op.kind != GUEST_OP_LAUNCH || from->op.kind != GUEST_OP_LAUNCH)
		return cudaErrorInvalidValue;
	to->op.u.launch.group = from->op.u.launch.group;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                                  cudaGraphNode_t from)
{
	GUEST_CALL(copy_kernel_attributes(node_of(to), node_of(from)));
}

/* --- copies --- */

static cudaError_t set_copy(struct guest_node *node, const struct cudaMemcpy3DParms *p)
{
	struct guest_op op;
	cudaError_t e = guest_copy_3d(p, &op);
	if (e == cudaSuccess)
		e = graph_set_op_of(node, &op);
	if (e == cudaSuccess)
		node->copy = *p;
	return e;
}

static struct cudaPitchedPtr pitched(const struct guest_box *box)
{
	return (struct cudaPitchedPtr){ (void *)(uintptr_t)box->address, box->pitch, box->pitch,
		                            box->pitch ? box->slice / box->pitch : 0 };
}

/* As the program gave it; one that came otherwise, as a box. */
static cudaError_t get_copy(const struct guest_node *node, struct cudaMemcpy3DParms *p)
{
	const struct guest_op *op = &node->op;
	if (op->kind != GUEST_OP_COPY)
		return cudaErrorInvalidValue;
	*p = node->copy;
	if (!p->extent.width)
		*p = (struct cudaMemcpy3DParms){
			.srcPtr = pitched(&op->u.copy.from),
			.dstPtr = pitched(&op->u.copy.to),
			.extent = { op->u.copy.width, op->u.copy.height, op->u.copy.depth },
			.kind = op->u.copy.direction,
		};
	return cudaSuccess;
}

SETTERS(cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams, struct cudaMemcpy3DParms,
        set_copy)
GETTER(cudaGraphMemcpyNodeGetParams, struct cudaMemcpy3DParms, get_copy)

static cudaError_t set_line(struct guest_node *node, const struct guest_op *op)
{
	const cudaError_t e = graph_set_op_of(node, op);
	if (e == cudaSuccess)
		memset(&node->copy, 0, sizeof node->copy);
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                                               const void *from, size_t bytes,
                                                               enum cudaMemcpyKind kind)
{
	const struct guest_op op = guest_copy_line(to, from, bytes, kind);
	GUEST_CALL(set_line(node_of(node), &op));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                   cudaGraphNode_t node, void *to,
                                                                   const void *from, size_t bytes,
                                                                   enum cudaMemcpyKind kind)
{
	const struct guest_op op = guest_copy_line(to, from, bytes, kind);
	GUEST_CALL(set_line(graph_exec_node(exec, node), &op));
}

static cudaError_t set_symbol(struct guest_node *node, const void *symbol, const void *host,
                              size_t bytes, size_t offset, enum cudaMemcpyKind kind, bool to_symbol)
{
	struct guest_op op;
	const cudaError_t e =
		guest_copy_symbol(symbol, (void *)(uintptr_t)host, bytes, offset, kind, to_symbol, &op);
	return e == cudaSuccess ? set_line(node, &op) : e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                                     const void *symbol,
                                                                     const void *from, size_t bytes,
                                                                     size_t offset,
                                                                     enum cudaMemcpyKind kind)
{
	GUEST_CALL(set_symbol(node_of(node), symbol, from, bytes, offset, kind, true));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node,
                                                                       void *to, const void *symbol,
                                                                       size_t bytes, size_t offset,
                                                                       enum cudaMemcpyKind kind)
{
	GUEST_CALL(set_symbol(node_of(node), symbol, to, bytes, offset, kind, false));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(
	cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *from, size_t bytes,
	size_t offset, enum cudaMemcpyKind kind)
{
	GUEST_CALL(set_symbol(graph_exec_node(exec, node), symbol, from, bytes, offset, kind, true));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(
	cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
	size_t offset, enum cudaMemcpyKind kind)
{
	GUEST_CALL(set_symbol(graph_exec_node(exec, node), symbol, to, bytes, offset, kind, false));
}

/* --- sets, the host's functions, events, children --- */

static cudaError_t set_set(struct guest_node *node, const struct cudaMemsetParams *p)
{
	const struct guest_op op = graph_set_op(p);
	return graph_set_op_of(node, &op);
}

static cudaError_t get_set(const struct guest_node *node, struct cudaMemsetParams *p)
{
	const struct guest_op *op = &node->op;
	if (op->kind != GUEST_OP_SET)
		return cudaErrorInvalidValue;
	*p = (struct cudaMemsetParams){
		.dst = (void *)(uintptr_t)op->u.set.to.address,
		.pitch = op->u.set.to.pitch,
		.value = op->u.set.value,
		.elementSize = op->u.set.element_bytes,
		.width = op->u.set.width / op->u.set.element_bytes,
		.height = op->u.set.height,
	};
	return cudaSuccess;
}

SETTERS(cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams, struct cudaMemsetParams,
        set_set)
GETTER(cudaGraphMemsetNodeGetParams, struct cudaMemsetParams, get_set)

static cudaError_t set_host(struct guest_node *node, const struct cudaHostNodeParams *p)
{
	const struct guest_op op = { .kind = GUEST_OP_HOST, .u.host = { p->fn, p->userData } };
	return graph_set_op_of(node, &op);
}

static cudaError_t get_host(const struct guest_node *node, struct cudaHostNodeParams *p)
{
	if (node->op.kind != GUEST_OP_HOST)
		return cudaErrorInvalidValue;
	*p = (struct cudaHostNodeParams){ node->op.u.host.function, node->op.u.host.data };
	return cudaSuccess;
}

SETTERS(cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams, struct cudaHostNodeParams,
        set_host)
GETTER(cudaGraphHostNodeGetParams, struct cudaHostNodeParams, get_host)

static cudaError_t set_event(struct guest_node *node, enum guest_op_kind kind, cudaEvent_t event)
{
	const struct guest_op op = { .kind = kind, .u.event = (struct guest_event *)event };
	return event ? graph_set_op_of(node, &op) : cudaErrorInvalidResourceHandle;
}

static cudaError_t get_event(const struct guest_node *node, enum guest_op_kind kind,
                             cudaEvent_t *event)
{
	if (node->op.kind != kind)
		return cudaErrorInvalidValue;
	*event = (cudaEvent_t)node->op.u.event;
	return cudaSuccess;
}

#define EVENT_NODE(name, exec_name, kind)                                                        \
	GUEST_API cudaError_t CUDARTAPI name##GetEvent(cudaGraphNode_t node, cudaEvent_t *event)     \
	{                                                                                            \
		GUEST_CALL(get_event(node_of(node), kind, event));                                       \
	}                                                                                            \
	GUEST_API cudaError_t CUDARTAPI name##SetEvent(cudaGraphNode_t node, cudaEvent_t event)      \
	{                                                                                            \
		GUEST_CALL(set_event(node_of(node), kind, event));                                       \
	}                                                                                            \
	GUEST_API cudaError_t CUDARTAPI exec_name##SetEvent(cudaGraphExec_t exec,                    \
	                                                    cudaGraphNode_t node, cudaEvent_t event) \
	{                                                                                            \
		GUEST_CALL(set_event(graph_exec_node(exec, node), kind, event));                         \
	}
EVENT_NODE(cudaGraphEventRecordNode, cudaGraphExecEventRecordNode, GUEST_OP_RECORD)
EVENT_NODE(cudaGraphEventWaitNode, cudaGraphExecEventWaitNode, GUEST_OP_WAIT)

static cudaError_t get_child(const struct guest_node *node, cudaGraph_t *child)
{
	if (node->op.kind != GUEST_OP_GRAPH)
		return cudaErrorInvalidValue;
	*child = (cudaGraph_t)node->op.u.graph;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                                cudaGraph_t *child)
{
	GUEST_CALL(get_child(node_of(node), child));
}

static cudaError_t set_child(struct guest_node *node, cudaGraph_t child)
{
	const cudaError_t e = graph_may_copy(graph_of(child));
	if (e != cudaSuccess)
		return e;
	const struct guest_op op = { .kind = GUEST_OP_GRAPH, .u.graph = graph_clone(graph_of(child)) };
	return graph_set_op_of(node, &op);
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                                     cudaGraphNode_t node,
                                                                     cudaGraph_t child)
{
	GUEST_CALL(set_child(graph_exec_node(exec, node), child));
}

/* --- one structure for all kinds --- */

static cudaError_t set_any(struct guest_node *node, const struct cudaGraphNodeParams *p)
{
	if (!node)
		return cudaErrorInvalidValue;
	switch (p->type) {
	case cudaGraphNodeTypeKernel: {
		const struct cudaKernelNodeParams k = { p->kernel.func,         p->kernel.gridDim,
			                                    p->kernel.blockDim,     p->kernel.sharedMemBytes,
			                                    p->kernel.kernelParams, p->kernel.extra };
		return set_kernel(node, &k);
	}
	case cudaGraphNodeTypeMemcpy: return set_copy(node, &p->memcpy.copyParams);
	case cudaGraphNodeTypeMemset: {
		const struct cudaMemsetParams s = {
			p->memset.dst,         p->memset.pitch, p->memset.value,
			p->memset.elementSize, p->memset.width, p->memset.height
		};
		return set_set(node, &s);
	}
	case cudaGraphNodeTypeHost: {
		const struct cudaHostNodeParams h = { p->host.fn, p->host.userData };
		return set_host(node, &h);
	}
	case cudaGraphNodeTypeEventRecord:
		return set_event(node, GUEST_OP_RECORD, p->eventRecord.event);
	case cudaGraphNodeTypeWaitEvent: return set_event(node, GUEST_OP_WAIT, p->eventWait.event);
	case cudaGraphNodeTypeGraph: return set_child(node, p->graph.graph);
	default: return cudaErrorNotSupported;
	}
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                                       struct cudaGraphNodeParams *p)
{
	GUEST_CALL(set_any(node_of(node), p));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node,
                                                           struct cudaGraphNodeParams *p)
{
	GUEST_CALL(set_any(graph_exec_node(exec, node), p));
}

/* A node without work takes its type and then what @p says. */
static cudaError_t add_any(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                           size_t n, struct cudaGraphNodeParams *p)
{
	if (p->type == cudaGraphNodeTypeEmpty) {
		const struct guest_op empty = { .kind = GUEST_OP_EMPTY };
		graph_add(out, graph, from, n, &empty);
		return cudaSuccess;
	}
	if (p->type == cudaGraphNodeTypeMemAlloc)
		return graph_add_alloc(out, graph, from, n, p->alloc.bytesize, &p->alloc.dptr);
	if (p->type == cudaGraphNodeTypeMemFree)
		return graph_add_free(out, graph, from, n, p->free.dptr);
	if (p->type == cudaGraphNodeTypeConditional)
		return graph_add_conditional(out, graph, from, n, &p->conditional);
	const struct guest_op empty = { .kind = GUEST_OP_EMPTY };
	struct guest_node *node = graph_add(out, graph, from, n, &empty);
	node->type = p->type;
	const cudaError_t e = set_any(node, p);
	node->destroyed = e != cudaSuccess;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                 const cudaGraphNode_t *from,
                                                 const cudaGraphEdgeData *data, size_t n,
                                                 struct cudaGraphNodeParams *p)
{
	(void)data;
	GUEST_CALL(add_any(out, graph, from, n, p));
}

/* The API of graphs that are built by hand. */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_graph.h"

#include <string.h>

GUEST_API cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
	(void)flags;
	GUEST_ANY_CALL(*out = (cudaGraph_t)graph_new(), cudaSuccess);
}

static cudaError_t graph_destroy(struct guest_graph *g)
{
	if (!g || g->gone || g->outer)
		return cudaErrorInvalidValue;
	if (graph_is_captured(g))
		return cudaErrorIllegalState;
	graph_free(g);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph)
{
	GUEST_ANY_CALL(graph_destroy(graph_of(graph)));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	GUEST_UNSAFE_CALL_FOR(GUEST_NEEDS_NOTHING, graph_destroy(graph_of(exec)));
}

static cudaError_t add_plain(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, const struct guest_op *op)
{
	graph_add(out, graph, from, n, op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                      const cudaGraphNode_t *from, size_t n)
{
	const struct guest_op op = { .kind = GUEST_OP_EMPTY };
	GUEST_ANY_CALL(add_plain(out, graph, from, n, &op));
}

static cudaError_t add_kernel(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                              size_t n, const struct cudaKernelNodeParams *p)
{
	struct guest_op op;
	const cudaError_t e = graph_kernel_op(p, &op);
	if (e != cudaSuccess)
		return e;
	graph_add(out, graph, from, n, &op);
	guest_op_drop(&op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                       const cudaGraphNode_t *from, size_t n,
                                                       const struct cudaKernelNodeParams *p)
{
	GUEST_CALL(add_kernel(out, graph, from, n, p));
}

static cudaError_t add_copy(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                            size_t n, const struct cudaMemcpy3DParms *p)
{
	struct guest_op op;
	const cudaError_t e = guest_copy_3d(p, &op);
	if (e == cudaSuccess)
		graph_add(out, graph, from, n, &op)->copy = *p;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                       const cudaGraphNode_t *from, size_t n,
                                                       const struct cudaMemcpy3DParms *p)
{
	GUEST_CALL(add_copy(out, graph, from, n, p));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                                         const cudaGraphNode_t *from, size_t n,
                                                         void *to, const void *source, size_t bytes,
                                                         enum cudaMemcpyKind kind)
{
	const struct guest_op op = guest_copy_line(to, source, bytes, kind);
	GUEST_CALL(add_plain(out, graph, from, n, &op));
}

static cudaError_t add_symbol_copy(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *from, size_t n, const void *symbol,
                                   void *host, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind, bool to_symbol)
{
	struct guest_op op;
	const cudaError_t e = guest_copy_symbol(symbol, host, bytes, offset, kind, to_symbol, &op);
	return e == cudaSuccess ? add_plain(out, graph, from, n, &op) : e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(
	cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from, size_t n,
	const void *symbol, const void *source, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	GUEST_CALL(add_symbol_copy(out, graph, from, n, symbol, (void *)(uintptr_t)source, bytes,
	                           offset, kind, true));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(
	cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from, size_t n, void *to,
	const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	GUEST_CALL(add_symbol_copy(out, graph, from, n, symbol, to, bytes, offset, kind, false));
}

static cudaError_t add_set(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                           size_t n, const struct cudaMemsetParams *p)
{
	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return cudaErrorInvalidValue;
	const struct guest_op op = graph_set_op(p);
	graph_add(out, graph, from, n, &op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                       const cudaGraphNode_t *from, size_t n,
                                                       const struct cudaMemsetParams *p)
{
	GUEST_CALL(add_set(out, graph, from, n, p));
}

static cudaError_t add_host(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                            size_t n, const struct cudaHostNodeParams *p)
{
	if (!p || !p->fn)
		return cudaErrorInvalidValue;
	const struct guest_op op = { .kind = GUEST_OP_HOST, .u.host = { p->fn, p->userData } };
	graph_add(out, graph, from, n, &op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                     const cudaGraphNode_t *from, size_t n,
                                                     const struct cudaHostNodeParams *p)
{
	GUEST_CALL(add_host(out, graph, from, n, p));
}

static cudaError_t add_child(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, cudaGraph_t child)
{
	const cudaError_t e = graph_may_copy(graph_of(child));
	if (e != cudaSuccess)
		return e;
	const struct guest_op op = { .kind = GUEST_OP_GRAPH, .u.graph = graph_clone(graph_of(child)) };
	return add_plain(out, graph, from, n, &op);
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                           const cudaGraphNode_t *from, size_t n,
                                                           cudaGraph_t child)
{
	GUEST_CALL(add_child(out, graph, from, n, child));
}

static cudaError_t add_event(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, enum guest_op_kind kind, cudaEvent_t event)
{
	const struct guest_op op = { .kind = kind, .u.event = (struct guest_event *)event };
	return event ? add_plain(out, graph, from, n, &op) : cudaErrorInvalidResourceHandle;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                            const cudaGraphNode_t *from, size_t n,
                                                            cudaEvent_t event)
{
	GUEST_CALL(add_event(out, graph, from, n, GUEST_OP_RECORD, event));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                          const cudaGraphNode_t *from, size_t n,
                                                          cudaEvent_t event)
{
	GUEST_CALL(add_event(out, graph, from, n, GUEST_OP_WAIT, event));
}

static cudaError_t edges(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		graph_edge(node_of(from[i]), node_of(to[i]));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph,
                                                         const cudaGraphNode_t *from,
                                                         const cudaGraphNode_t *to,
                                                         const cudaGraphEdgeData *data, size_t n)
{
	(void)graph, (void)data;
	GUEST_CALL(edges(from, to, n));
}

static cudaError_t no_edges(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!graph_has_edge(node_of(from[i]), node_of(to[i])))
			return cudaErrorInvalidValue;
	for (size_t i = 0; i < n; i++) {
		struct guest_node *end = node_of(to[i]);
		for (unsigned e = 0; e < end->n_edges; e++)
			if (end->from[e] == node_of(from[i])) {
				end->from[e] = end->from[--end->n_edges];
				break;
			}
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                            const cudaGraphNode_t *from,
                                                            const cudaGraphNode_t *to,
                                                            const cudaGraphEdgeData *data, size_t n)
{
	(void)graph, (void)data;
	GUEST_CALL(no_edges(from, to, n));
}

static cudaError_t destroy_node(cudaGraphNode_t handle)
{
	struct guest_node *node = node_of(handle);
	if (node->op.kind == GUEST_OP_CONDITIONAL)
		graph_conditional_drop(node);
	node->destroyed = true;
	guest_op_drop(&node->op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node)
{
	GUEST_CALL(destroy_node(node));
}

static cudaError_t clone(cudaGraph_t *out, cudaGraph_t graph)
{
	const cudaError_t e = graph_may_copy(graph_of(graph));
	if (e != cudaSuccess)
		return e;
	*out = (cudaGraph_t)graph_clone(graph_of(graph));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
	GUEST_ANY_CALL(clone(out, graph));
}

static cudaError_t find_in_clone(cudaGraphNode_t *out, cudaGraphNode_t original, cudaGraph_t graph)
{
	const struct guest_graph *g = graph_of(graph);
	for (unsigned i = 0; i < g->n; i++)
		if (g->node[i]->original == node_of(original)) {
			*out = (cudaGraphNode_t)g->node[i];
			return cudaSuccess;
		}
	return cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t *out,
                                                         cudaGraphNode_t original,
                                                         cudaGraph_t graph)
{
	GUEST_CALL(find_in_clone(out, original, graph));
}

/*
 * Graphs. Nodes are kept in the order of their making, which is a legal order of execution: a node
 * can only depend on nodes that were there before it, and an edge added later is sorted in when the
 * graph is instantiated. A launched graph runs its nodes in that order in one stream.
 */
#include "runtime/guest/guest_graph.h"
#include "runtime/guest/guest_clock.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct guest_node {
	struct guest_graph *graph;
	unsigned index; /* in the graph */
	bool destroyed, disabled;
	enum cudaGraphNodeType type;
	struct guest_op op;
	unsigned n_edges, cap_edges;
	struct guest_node **from; /* nodes that come before */
	/* as the program gave them, for the getters */
	struct cudaKernelNodeParams kernel;
	struct cudaMemcpy3DParms copy;
	struct cudaMemsetParams set;
	struct cudaHostNodeParams host;
	struct guest_node *original; /* of a clone */
};
struct guest_graph {
	unsigned n, cap;
	struct guest_node **node;
	unsigned *order, n_order; /* of an instantiated one: indexes, dependences first */
	bool executable;
};

static struct guest_graph *graph_of(const void *handle)
{
	return (struct guest_graph *)(uintptr_t)handle;
}

static struct guest_node *node_of(const void *handle)
{
	return (struct guest_node *)(uintptr_t)handle;
}

static struct guest_graph *graph_new(void)
{
	return mem_zalloc(sizeof(struct guest_graph));
}

static void add_edge(struct guest_node *from, struct guest_node *to)
{
	for (unsigned i = 0; i < to->n_edges; i++)
		if (to->from[i] == from)
			return;
	if (to->n_edges == to->cap_edges) {
		to->cap_edges = to->cap_edges ? 2 * to->cap_edges : 4;
		to->from = mem_realloc(to->from, to->cap_edges, sizeof *to->from);
	}
	to->from[to->n_edges++] = from;
}

static struct guest_node *node_new(struct guest_graph *g, enum cudaGraphNodeType type,
                                   const struct guest_op *op)
{
	if (g->n == g->cap) {
		g->cap = g->cap ? 2 * g->cap : 16;
		g->node = mem_realloc(g->node, g->cap, sizeof *g->node);
	}
	struct guest_node *node = mem_zalloc(sizeof *node);
	node->graph = g;
	node->index = g->n;
	node->type = type;
	guest_op_keep(&node->op, op);
	return g->node[g->n++] = node;
}

static void graph_free(struct guest_graph *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		guest_op_drop(&g->node[i]->op);
		free(g->node[i]->from);
		free(g->node[i]);
	}
	free(g->node);
	free(g->order);
	free(g);
}

/* A copy of nodes and edges. */
static struct guest_graph *graph_clone(const struct guest_graph *from)
{
	struct guest_graph *g = graph_new();
	for (unsigned i = 0; i < from->n; i++) {
		const struct guest_node *old = from->node[i];
		struct guest_node *node = node_new(g, old->type, &old->op);
		node->destroyed = old->destroyed;
		node->disabled = old->disabled;
		node->kernel = old->kernel;
		node->copy = old->copy;
		node->set = old->set;
		node->host = old->host;
		node->original = from->node[i];
	}
	for (unsigned i = 0; i < from->n; i++)
		for (unsigned e = 0; e < from->node[i]->n_edges; e++)
			add_edge(g->node[from->node[i]->from[e]->index], g->node[i]);
	return g;
}

/* Depth first; false: the edges make a circle. @state: 0 new, 1 under way, 2 done. */
static bool visit(struct guest_graph *g, unsigned i, uint8_t *state)
{
	if (state[i])
		return state[i] == 2;
	state[i] = 1;
	for (unsigned e = 0; e < g->node[i]->n_edges; e++)
		if (!visit(g, g->node[i]->from[e]->index, state))
			return false;
	state[i] = 2;
	if (!g->node[i]->destroyed)
		g->order[g->n_order++] = i;
	return true;
}

static bool sort_nodes(struct guest_graph *g)
{
	uint8_t *state = mem_zalloc(g->n + 1u);
	free(g->order);
	g->order = mem_calloc(g->n + 1u, sizeof *g->order);
	g->n_order = 0;
	bool ok = true;
	for (unsigned i = 0; i < g->n && ok; i++)
		ok = visit(g, i, state);
	free(state);
	return ok;
}

cudaError_t guest_run_graph(struct guest_stream *s, struct guest_graph *g, const void *caller)
{
	if (!g->order && !sort_nodes(g))
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < g->n_order; i++) {
		const struct guest_node *node = g->node[g->order[i]];
		if (node->disabled)
			continue;
		const cudaError_t e = guest_execute(s, &node->op, GUEST_ASYNC, caller);
		if (e != cudaSuccess)
			return e;
	}
	return cudaSuccess;
}

/* --- capture --- */

static enum cudaGraphNodeType type_of(const struct guest_op *op)
{
	switch (op->kind) {
	case GUEST_OP_LAUNCH: return cudaGraphNodeTypeKernel;
	case GUEST_OP_COPY: return cudaGraphNodeTypeMemcpy;
	case GUEST_OP_SET: return cudaGraphNodeTypeMemset;
	case GUEST_OP_HOST: return cudaGraphNodeTypeHost;
	case GUEST_OP_RECORD: return cudaGraphNodeTypeEventRecord;
	case GUEST_OP_WAIT: return cudaGraphNodeTypeWaitEvent;
	case GUEST_OP_ALLOC: return cudaGraphNodeTypeMemAlloc;
	case GUEST_OP_FREE: return cudaGraphNodeTypeMemFree;
	case GUEST_OP_GRAPH: return cudaGraphNodeTypeGraph;
	case GUEST_OP_EMPTY: break;
	}
	return cudaGraphNodeTypeEmpty;
}

cudaError_t guest_capture(struct guest_stream *s, const struct guest_op *op)
{
	struct guest_node *node = node_new(s->capture, type_of(op), op);
	if (s->capture_tail)
		add_edge(s->capture->node[s->capture_tail - 1], node);
	s->capture_tail = node->index + 1;
	return cudaSuccess;
}

cudaError_t guest_capture_mark(struct guest_stream *s, struct guest_event *e)
{
	e->capture = s->capture;
	e->capture_node = s->capture_tail;
	return cudaSuccess;
}

cudaError_t guest_capture_join(struct guest_stream *s, struct guest_event *e)
{
	if (s->capture && s->capture != e->capture)
		return cudaErrorStreamCaptureMerge;
	const bool joins = !s->capture;
	s->capture = e->capture;
	if (joins || !s->capture_tail) {
		s->capture_tail = e->capture_node;
		return cudaSuccess;
	}
	if (!e->capture_node || e->capture_node == s->capture_tail)
		return cudaSuccess;
	/* an empty node behind both */
	const struct guest_op empty = { .kind = GUEST_OP_EMPTY };
	const cudaError_t error = guest_capture(s, &empty);
	add_edge(e->capture->node[e->capture_node - 1], s->capture->node[s->capture_tail - 1]);
	return error;
}

static cudaError_t begin_capture(cudaStream_t handle)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || s == guest.streams)
		return s ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle;
	if (s->capture)
		return cudaErrorIllegalState;
	s->capture = graph_new();
	s->capture_tail = 0;
	s->capture_origin = true;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream,
                                                       enum cudaStreamCaptureMode mode)
{
	(void)mode;
	GUEST_CALL(begin_capture(stream));
}

static cudaError_t end_capture(cudaStream_t handle, cudaGraph_t *out)
{
	struct guest_stream *s = guest_stream_of(handle);
	if (!s || !s->capture || !s->capture_origin)
		return cudaErrorIllegalState;
	struct guest_graph *g = s->capture;
	*out = (cudaGraph_t)(void *)g;
	for (struct guest_stream *o = guest.streams; o; o = o->next)
		if (o->capture == g) {
			o->capture = NULL;
			o->capture_tail = 0;
			o->capture_origin = false;
		}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	GUEST_CALL(end_capture(stream, graph));
}

static cudaError_t is_capturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
	const struct guest_stream *s = guest_stream_of(handle);
	if (!s)
		return cudaErrorInvalidResourceHandle;
	*status = s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream,
                                                      enum cudaStreamCaptureStatus *status)
{
	GUEST_CALL(is_capturing(stream, status));
}

GUEST_API cudaError_t CUDARTAPI
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	(void)mode;
	GUEST_CALL(cudaSuccess);
}

/* --- graphs built by hand --- */

GUEST_API cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
	(void)flags;
	GUEST_CALL(*out = (cudaGraph_t)(void *)graph_new(), cudaSuccess);
}

static cudaError_t graph_destroy(void *g)
{
	if (!g)
		return cudaErrorInvalidValue;
	graph_free(graph_of(g));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph)
{
	GUEST_CALL(graph_destroy(graph));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	GUEST_CALL(graph_destroy(exec));
}

static struct guest_node *add_node(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *from, size_t n, const struct guest_op *op)
{
	struct guest_node *node = node_new(graph_of(graph), type_of(op), op);
	for (size_t i = 0; i < n; i++)
		add_edge(node_of(from[i]), node);
	*out = (cudaGraphNode_t)(void *)node;
	return node;
}

static cudaError_t add_plain(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, const struct guest_op *op)
{
	add_node(out, graph, from, n, op);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                      const cudaGraphNode_t *from, size_t n)
{
	const struct guest_op op = { .kind = GUEST_OP_EMPTY };
	GUEST_CALL(add_plain(out, graph, from, n, &op));
}

static cudaError_t kernel_op(const struct cudaKernelNodeParams *p, struct guest_op *op)
{
	if (!p || (!p->kernelParams && p->extra))
		return cudaErrorNotSupported;
	return guest_pack_launch(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes,
	                         false, op);
}

static cudaError_t add_kernel(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                              size_t n, const struct cudaKernelNodeParams *p)
{
	struct guest_op op;
	const cudaError_t e = kernel_op(p, &op);
	if (e != cudaSuccess)
		return e;
	add_node(out, graph, from, n, &op)->kernel = *p;
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
		add_node(out, graph, from, n, &op)->copy = *p;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                       const cudaGraphNode_t *from, size_t n,
                                                       const struct cudaMemcpy3DParms *p)
{
	GUEST_CALL(add_copy(out, graph, from, n, p));
}

static struct guest_op line_op(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	return (struct guest_op){
		.kind = GUEST_OP_COPY,
		.u.copy = { .to = { (uint64_t)(uintptr_t)to, bytes, bytes },
		            .from = { (uint64_t)(uintptr_t)from, bytes, bytes },
		            .width = bytes,
		            .height = 1,
		            .depth = 1,
		            .direction = kind },
	};
}

GUEST_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                                         const cudaGraphNode_t *from, size_t n,
                                                         void *to, const void *source, size_t bytes,
                                                         enum cudaMemcpyKind kind)
{
	const struct guest_op op = line_op(to, source, bytes, kind);
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
	GUEST_CALL(
		add_symbol_copy(out, graph, from, n, symbol, to, bytes, offset, kind, false));
}

static struct guest_op set_op(const struct cudaMemsetParams *p)
{
	const size_t width = p->width * p->elementSize;
	return (struct guest_op){
		.kind = GUEST_OP_SET,
		.u.set = { { (uint64_t)(uintptr_t)p->dst, p->pitch, p->pitch * p->height },
		           width,
		           p->height,
		           1,
		           p->value,
		           p->elementSize },
	};
}

static cudaError_t add_set(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                           size_t n, const struct cudaMemsetParams *p)
{
	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return cudaErrorInvalidValue;
	const struct guest_op op = set_op(p);
	add_node(out, graph, from, n, &op)->set = *p;
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
	const struct guest_op op = { .kind = GUEST_OP_HOST, .u.host = { p->fn, p->userData } };
	add_node(out, graph, from, n, &op)->host = *p;
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
	const struct guest_op op = { .kind = kind, .u.event = (struct guest_event *)(void *)event };
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
		add_edge(node_of(from[i]), node_of(to[i]));
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

static cudaError_t destroy_node(cudaGraphNode_t handle)
{
	struct guest_node *node = node_of(handle);
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
	*out = (cudaGraph_t)(void *)graph_clone(graph_of(graph));
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
	GUEST_CALL(clone(out, graph));
}

static cudaError_t find_in_clone(cudaGraphNode_t *out, cudaGraphNode_t original, cudaGraph_t graph)
{
	const struct guest_graph *g = graph_of(graph);
	for (unsigned i = 0; i < g->n; i++)
		if (g->node[i]->original == node_of(original)) {
			*out = (cudaGraphNode_t)(void *)g->node[i];
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

/* --- questions --- */

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node,
                                                     enum cudaGraphNodeType *type)
{
	GUEST_CALL(*type = node_of(node)->type, cudaSuccess);
}

static cudaError_t list_nodes(const struct guest_graph *g, cudaGraphNode_t *out, size_t *n,
                              bool roots)
{
	size_t found = 0;
	for (unsigned i = 0; i < g->n; i++) {
		if (g->node[i]->destroyed || (roots && g->node[i]->n_edges))
			continue;
		if (out && found < *n)
			out[found] = (cudaGraphNode_t)(void *)g->node[i];
		found++;
	}
	*n = found;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                                  size_t *n)
{
	GUEST_CALL(list_nodes(graph_of(graph), nodes, n, false));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                                      size_t *n)
{
	GUEST_CALL(list_nodes(graph_of(graph), nodes, n, true));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                             struct cudaKernelNodeParams *p)
{
	GUEST_CALL(*p = node_of(node)->kernel, cudaSuccess);
}

/* --- executable graphs --- */

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph)
{
	struct guest_graph *g = graph_clone(graph_of(graph));
	g->executable = true;
	if (!sort_nodes(g)) {
		graph_free(g);
		return cudaErrorInvalidValue;
	}
	*out = (cudaGraphExec_t)(void *)g;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                                     unsigned long long flags)
{
	(void)flags;
	GUEST_CALL(instantiate(out, graph));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *out,
                                                              cudaGraph_t graph,
                                                              unsigned long long flags)
{
	(void)flags;
	GUEST_CALL(instantiate(out, graph));
}

static cudaError_t launch_graph(cudaGraphExec_t exec, cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	if (!s || !exec)
		return cudaErrorInvalidResourceHandle;
	const struct guest_op op = { .kind = GUEST_OP_GRAPH, .u.graph = graph_of(exec) };
	return guest_submit(s, &op, GUEST_ASYNC, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	GUEST_CALL(launch_graph(exec, stream, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	(void)exec;
	GUEST_CALL(guest_stream_of(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* The node of @exec that was made from @node. */
static struct guest_node *in_exec(cudaGraphExec_t exec, cudaGraphNode_t node)
{
	const struct guest_graph *g = graph_of(exec);
	for (unsigned i = 0; i < g->n; i++)
		if (g->node[i]->original == node_of(node))
			return g->node[i];
	return NULL;
}

static cudaError_t set_op_of(struct guest_node *node, const struct guest_op *op)
{
	if (!node)
		return cudaErrorInvalidValue;
	guest_op_drop(&node->op);
	guest_op_keep(&node->op, op);
	return cudaSuccess;
}

static cudaError_t set_kernel(struct guest_node *node, const struct cudaKernelNodeParams *p)
{
	struct guest_op op;
	cudaError_t e = kernel_op(p, &op);
	if (e != cudaSuccess)
		return e;
	e = set_op_of(node, &op);
	guest_op_drop(&op);
	if (node)
		node->kernel = *p;
	return e;
}

GUEST_API cudaError_t CUDARTAPI
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                 const struct cudaKernelNodeParams *p)
{
	GUEST_CALL(set_kernel(in_exec(exec, node), p));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                             const struct cudaKernelNodeParams *p)
{
	GUEST_CALL(set_kernel(node_of(node), p));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                   cudaGraphNode_t node, void *to,
                                                                   const void *from, size_t bytes,
                                                                   enum cudaMemcpyKind kind)
{
	const struct guest_op op = line_op(to, from, bytes, kind);
	GUEST_CALL(set_op_of(in_exec(exec, node), &op));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                                                 cudaGraphNode_t node,
                                                                 const struct cudaMemsetParams *p)
{
	const struct guest_op op = set_op(p);
	GUEST_CALL(set_op_of(in_exec(exec, node), &op));
}

static cudaError_t enable(struct guest_node *node, unsigned on)
{
	if (!node)
		return cudaErrorInvalidValue;
	node->disabled = !on;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        unsigned on)
{
	GUEST_CALL(enable(in_exec(exec, node), on));
}

/* The same shape with other parameters: an executable graph takes them over. */
static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph,
                          cudaGraphExecUpdateResultInfo *info)
{
	struct guest_graph *to = graph_of(exec);
	const struct guest_graph *from = graph_of(graph);
	memset(info, 0, sizeof *info);
	info->result = to->n == from->n ? cudaGraphExecUpdateSuccess
	                                : cudaGraphExecUpdateErrorTopologyChanged;
	for (unsigned i = 0; i < to->n && info->result == cudaGraphExecUpdateSuccess; i++)
		if (to->node[i]->type != from->node[i]->type)
			info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
	if (info->result != cudaGraphExecUpdateSuccess)
		return cudaErrorGraphExecUpdateFailure;
	for (unsigned i = 0; i < to->n; i++) {
		set_op_of(to->node[i], &from->node[i]->op);
		to->node[i]->original = from->node[i];
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                    cudaGraphExecUpdateResultInfo *info)
{
	GUEST_CALL(update(exec, graph, info));
}

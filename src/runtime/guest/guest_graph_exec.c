/* Executable graphs: made from graphs, launched, their parameters changed. */
#include "runtime/guest/guest_graph.h"

#include <string.h>

/* --- executable graphs --- */

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph)
{
	struct guest_graph *g = graph_clone(graph_of(graph));
	g->executable = true;
	if (!graph_sort(g)) {
		graph_free(g);
		return cudaErrorInvalidValue;
	}
	*out = (cudaGraphExec_t)g;
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
	cudaError_t e = graph_kernel_op(p, &op);
	if (e != cudaSuccess)
		return e;
	e = set_op_of(node, &op);
	guest_op_drop(&op);
	if (node)
		node->kernel = *p;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(
	cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
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
	const struct guest_op op = guest_copy_line(to, from, bytes, kind);
	GUEST_CALL(set_op_of(in_exec(exec, node), &op));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                                                 cudaGraphNode_t node,
                                                                 const struct cudaMemsetParams *p)
{
	const struct guest_op op = graph_set_op(p);
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
	info->result =
		to->n == from->n ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
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

/* Executable graphs: made from graphs, launched, their parameters changed. */
#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_graph.h"

#include <string.h>

/* --- executable graphs --- */

/* What runs on a condition is work of the device alone. */
static bool bodies_fit(const struct guest_graph *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		const struct guest_op *op = &g->node[i]->op;
		if (g->outer && !g->node[i]->destroyed &&
		    (op->kind == GUEST_OP_HOST || op->kind == GUEST_OP_RECORD ||
		     op->kind == GUEST_OP_WAIT || op->kind == GUEST_OP_ALLOC || op->kind == GUEST_OP_FREE))
			return false;
		for (unsigned k = 0; op->kind == GUEST_OP_CONDITIONAL && k < op->u.conditional.n; k++)
			if (!bodies_fit(op->u.conditional.body[k]))
				return false;
	}
	return true;
}

/* A graph with handles is made executable once at a time, by itself, and all of them are used. */
static cudaError_t may_instantiate(const struct guest_graph *g)
{
	if (!g || g->gone || g->n_idle || (g->n_handles && !bodies_fit(g)))
		return cudaErrorInvalidValue;
	return g->outer || g->executable_one ? cudaErrorNotSupported : cudaSuccess;
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
	struct guest_graph *source = graph_of(graph);
	const cudaError_t e = may_instantiate(source);
	if (e != cudaSuccess)
		return e;
	struct guest_graph *g = graph_clone(source);
	g->executable = true;
	g->flags = flags;
	if (!graph_sort(g)) {
		graph_free(g);
		return cudaErrorInvalidValue;
	}
	if (source->n_handles) {
		g->source = source;
		source->executable_one = g;
	}
	*out = (cudaGraphExec_t)g;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                                     unsigned long long flags)
{
	GUEST_UNSAFE_CALL(instantiate(out, graph, flags));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *out,
                                                              cudaGraph_t graph,
                                                              unsigned long long flags)
{
	GUEST_UNSAFE_CALL(instantiate(out, graph, flags));
}

static cudaError_t instantiate_with(cudaGraphExec_t *out, cudaGraph_t graph,
                                    cudaGraphInstantiateParams *p)
{
	const cudaError_t e = instantiate(out, graph, p->flags);
	p->errNode_out = NULL;
	p->result_out = e == cudaSuccess                   ? cudaGraphInstantiateSuccess
	                : graph && graph_of(graph)->n_idle ? cudaGraphInstantiateConditionalHandleUnused
	                                                   : cudaGraphInstantiateInvalidStructure;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t *out,
                                                               cudaGraph_t graph,
                                                               cudaGraphInstantiateParams *p)
{
	GUEST_UNSAFE_CALL(instantiate_with(out, graph, p));
}

static cudaError_t exec_flags(cudaGraphExec_t exec, unsigned long long *flags)
{
	*flags = graph_of(exec)->flags;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t exec,
                                                      unsigned long long *flags)
{
	GUEST_CALL(exec_flags(exec, flags));
}

static cudaError_t launch_graph(cudaGraphExec_t exec, cudaStream_t stream, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	if (!s || !exec)
		return s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
	const cudaError_t e = guest_capture_no_node(s);
	if (e != cudaSuccess)
		return e;
	const struct guest_op op = { .kind = GUEST_OP_GRAPH, .u.graph = graph_of(exec) };
	graph_conditional_begin(graph_of(exec));
	return guest_submit(s, &op, GUEST_ASYNC, caller);
}

GUEST_API cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	GUEST_STREAM_CALL(launch_graph(exec, stream, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	(void)exec;
	GUEST_CALL(guest_capture_no_node(guest_stream_of(stream)));
}

struct guest_node *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node)
{
	const struct guest_graph *g = graph_of(exec);
	for (unsigned i = 0; i < g->n; i++)
		if (g->node[i]->original == node_of(node))
			return g->node[i];
	return NULL;
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
	GUEST_CALL(enable(graph_exec_node(exec, node), on));
}

static cudaError_t enabled(const struct guest_node *node, unsigned *on)
{
	if (!node)
		return cudaErrorInvalidValue;
	*on = !node->disabled;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        unsigned *on)
{
	GUEST_CALL(enabled(graph_exec_node(exec, node), on));
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
		graph_set_op_of(to->node[i], &from->node[i]->op);
		to->node[i]->original = from->node[i];
	}
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                    cudaGraphExecUpdateResultInfo *info)
{
	GUEST_CALL(update(exec, graph, info));
}

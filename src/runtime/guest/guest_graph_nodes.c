/* The nodes of graphs. They are kept in the order of their making; edges are sorted in when a graph
 * is to run. */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct guest_graph *graph_new(void)
{
	static uint64_t numbers;
	struct guest_graph *g = mem_zalloc(sizeof *g);
	g->number = ++numbers;
	return g;
}

struct guest_graph *graph_root(struct guest_graph *g)
{
	while (g->outer)
		g = g->outer;
	return g;
}

bool graph_is_captured(const struct guest_graph *g)
{
	bool captured = g->captures > 0;
	for (unsigned i = 0; i < g->n && !captured; i++) {
		const struct guest_op *op = &g->node[i]->op;
		for (unsigned k = 0; op->kind == GUEST_OP_CONDITIONAL && k < op->u.conditional.n; k++)
			captured = captured || graph_is_captured(op->u.conditional.body[k]);
	}
	return captured;
}

cudaError_t graph_may_copy(struct guest_graph *g)
{
	if (!g || g->gone)
		return cudaErrorInvalidValue;
	return graph_root(g)->n_handles ? cudaErrorNotSupported : cudaSuccess;
}

bool graph_has_edge(const struct guest_node *from, const struct guest_node *to)
{
	for (unsigned i = 0; i < to->n_edges; i++)
		if (to->from[i] == from)
			return true;
	return false;
}

void graph_edge(struct guest_node *from, struct guest_node *to)
{
	if (graph_has_edge(from, to))
		return;
	MEM_ROOM(to->from, to->n_edges, to->cap_edges, 4);
	to->from[to->n_edges++] = from;
}

/* The bodies of a conditional node of @g: copies of @from's, or new ones. */
static void keep_bodies(struct guest_graph *g, struct guest_op *to, const struct guest_op *from)
{
	const unsigned n = from->u.conditional.n;
	to->u.conditional.body = mem_calloc(n, sizeof(struct guest_graph *));
	for (unsigned i = 0; i < n; i++) {
		to->u.conditional.body[i] =
			from->u.conditional.body ? graph_clone(from->u.conditional.body[i]) : graph_new();
		to->u.conditional.body[i]->outer = g;
	}
}

static void drop_bodies(struct guest_op *op)
{
	for (unsigned i = 0; i < op->u.conditional.n; i++)
		graph_free(op->u.conditional.body[i]);
	free(op->u.conditional.body);
}

struct guest_node *graph_node(struct guest_graph *g, enum cudaGraphNodeType type,
                              const struct guest_op *op)
{
	MEM_ROOM(g->node, g->n, g->cap, 16);
	struct guest_node *node = mem_zalloc(sizeof *node);
	node->graph = g;
	node->index = g->n;
	node->type = type;
	guest_op_keep(&node->op, op);
	if (op->kind == GUEST_OP_CONDITIONAL)
		keep_bodies(g, &node->op, op);
	return g->node[g->n++] = node;
}

void graph_empty(struct guest_graph *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		if (g->node[i]->op.kind == GUEST_OP_CONDITIONAL)
			drop_bodies(&g->node[i]->op);
		guest_op_drop(&g->node[i]->op);
		free(g->node[i]->from);
		free(g->node[i]->args);
		free(g->node[i]);
	}
	user_objects_drop(g);
	free(g->node);
	free(g->order);
	if (g->source)
		g->source->executable_one = NULL;
	if (g->executable_one)
		g->executable_one->source = NULL;
	*g = (struct guest_graph){ .gone = true, .outer = g->outer };
}

void graph_free(struct guest_graph *g)
{
	graph_empty(g);
	free(g);
}

/* A copy of nodes and edges. */
struct guest_graph *graph_clone(const struct guest_graph *from)
{
	struct guest_graph *g = graph_new();
	for (unsigned i = 0; i < from->n; i++) {
		const struct guest_node *old = from->node[i];
		struct guest_node *node = graph_node(g, old->type, &old->op);
		node->destroyed = old->destroyed;
		node->disabled = old->disabled;
		node->copy = old->copy;
		node->original = from->node[i];
	}
	user_objects_share(g, from);
	for (unsigned i = 0; i < from->n; i++)
		for (unsigned e = 0; e < from->node[i]->n_edges; e++)
			graph_edge(g->node[from->node[i]->from[e]->index], g->node[i]);
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

bool graph_sort(struct guest_graph *g)
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

enum cudaGraphNodeType graph_node_type(const struct guest_op *op)
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
	case GUEST_OP_CONDITIONAL: return cudaGraphNodeTypeConditional;
	case GUEST_OP_EMPTY: break;
	}
	return cudaGraphNodeTypeEmpty;
}

/* --- parameters of nodes --- */

cudaError_t graph_kernel_op(const struct cudaKernelNodeParams *p, struct guest_op *op)
{
	if (!p || (!p->kernelParams && p->extra))
		return cudaErrorNotSupported;
	static const struct guest_group alone;
	return guest_pack_launch(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes,
	                         &alone, op);
}

struct guest_op graph_set_op(const struct cudaMemsetParams *p)
{
	size_t width;
	if (__builtin_mul_overflow(p->width, p->elementSize, &width))
		width = SIZE_MAX; /* refused when it runs */
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

cudaError_t graph_set_op_of(struct guest_node *node, const struct guest_op *op)
{
	if (!node || graph_node_type(op) != node->type)
		return cudaErrorInvalidValue;
	if (node->op.kind == GUEST_OP_CONDITIONAL)
		drop_bodies(&node->op);
	guest_op_drop(&node->op);
	guest_op_keep(&node->op, op);
	if (op->kind == GUEST_OP_CONDITIONAL)
		keep_bodies(node->graph, &node->op, op);
	return cudaSuccess;
}

struct guest_node *graph_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, const struct guest_op *op)
{
	struct guest_node *node = graph_node(graph_of(graph), graph_node_type(op), op);
	for (size_t i = 0; i < n; i++)
		graph_edge(node_of(from[i]), node);
	*out = (cudaGraphNode_t)node;
	return node;
}

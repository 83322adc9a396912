/* Questions about graphs: their nodes, edges, and a drawing of them. */
#include "runtime/guest/guest_graph.h"

#include <stdio.h>
#include <string.h>

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node,
                                                     enum cudaGraphNodeType *type)
{
	GUEST_CALL(*type = node_of(node)->type, cudaSuccess);
}

static cudaError_t list_nodes(const struct guest_graph *g, cudaGraphNode_t *out, size_t *n,
                              bool roots)
{
	size_t found = 0;
	if (!g || g->gone || !n)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < g->n; i++) {
		if (g->node[i]->destroyed || (roots && g->node[i]->n_edges))
			continue;
		if (out && found < *n)
			out[found] = (cudaGraphNode_t)g->node[i];
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

/* The edges of all nodes, or of the one at their start (@from) or end (@to). Each list may be NULL;
 * *@n is its room, then how many there are. */
struct edge_lists {
	cudaGraphNode_t *from, *to;
	cudaGraphEdgeData *data;
	size_t *n;
};

static cudaError_t list_edges(const struct guest_graph *g, const struct guest_node *from,
                              const struct guest_node *to, struct edge_lists out)
{
	size_t found = 0;
	if (!out.n || g->gone)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < g->n; i++)
		for (unsigned e = 0; !g->node[i]->destroyed && e < g->node[i]->n_edges; e++) {
			struct guest_node *start = g->node[i]->from[e];
			if (start->destroyed || (from && start != from) || (to && g->node[i] != to))
				continue;
			if (out.from && found < *out.n)
				out.from[found] = (cudaGraphNode_t)start;
			if (out.to && found < *out.n)
				out.to[found] = (cudaGraphNode_t)g->node[i];
			if (out.data && found < *out.n)
				memset(&out.data[found], 0, sizeof *out.data);
			found++;
		}
	*out.n = found;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                                  cudaGraphNode_t *to, cudaGraphEdgeData *data,
                                                  size_t *n)
{
	GUEST_CALL(list_edges(graph_of(graph), NULL, NULL, (struct edge_lists){ from, to, data, n }));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                             cudaGraphNode_t *from,
                                                             cudaGraphEdgeData *data, size_t *n)
{
	GUEST_CALL(list_edges(node_of(node)->graph, NULL, node_of(node),
	                      (struct edge_lists){ from, NULL, data, n }));
}

GUEST_API cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                               cudaGraphNode_t *to,
                                                               cudaGraphEdgeData *data, size_t *n)
{
	GUEST_CALL(list_edges(node_of(node)->graph, node_of(node), NULL,
	                      (struct edge_lists){ NULL, to, data, n }));
}

/* --- a drawing, in the language of Graphviz --- */

static const char *type_name(enum cudaGraphNodeType type)
{
	switch (type) {
	case cudaGraphNodeTypeKernel: return "KERNEL";
	case cudaGraphNodeTypeMemcpy: return "MEMCPY";
	case cudaGraphNodeTypeMemset: return "MEMSET";
	case cudaGraphNodeTypeHost: return "HOST";
	case cudaGraphNodeTypeGraph: return "GRAPH";
	case cudaGraphNodeTypeConditional: return "CONDITIONAL";
	case cudaGraphNodeTypeWaitEvent: return "EVENT_WAIT";
	case cudaGraphNodeTypeEventRecord: return "EVENT_RECORD";
	case cudaGraphNodeTypeMemAlloc: return "MEM_ALLOC";
	case cudaGraphNodeTypeMemFree: return "MEM_FREE";
	default: return "EMPTY";
	}
}

static void draw_node(FILE *f, const struct guest_node *node)
{
	const struct guest_op *op = &node->op;
	fprintf(f, "\"node_%u\" [shape=\"record\" label=\"{%s|%u", node->index, type_name(node->type),
	        node->index);
	if (op->kind == GUEST_OP_LAUNCH)
		fprintf(f, "|%s\\<\\<\\<%u %u %u,%u %u %u,%u\\>\\>\\>", op->u.launch.function->name,
		        op->u.launch.grid[0], op->u.launch.grid[1], op->u.launch.grid[2],
		        op->u.launch.block[0], op->u.launch.block[1], op->u.launch.block[2],
		        op->u.launch.shared_bytes);
	else if (op->kind == GUEST_OP_COPY)
		fprintf(f, "|%zu x %zu x %zu bytes", op->u.copy.width, op->u.copy.height, op->u.copy.depth);
	fprintf(f, "}\"];\n");
	for (unsigned e = 0; e < node->n_edges; e++)
		if (!node->from[e]->destroyed)
			fprintf(f, "\"node_%u\" -> \"node_%u\";\n", node->from[e]->index, node->index);
}

static cudaError_t draw(const struct guest_graph *g, const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;
	if (!f)
		return cudaErrorOperatingSystem;
	fprintf(f, "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n");
	for (unsigned i = 0; i < g->n; i++)
		if (!g->node[i]->destroyed)
			draw_node(f, g->node[i]);
	fprintf(f, "}\n}\n");
	const bool bad = ferror(f) != 0;
	return fclose(f) || bad ? cudaErrorOperatingSystem : cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path,
                                                       unsigned flags)
{
	(void)flags;
	GUEST_CALL(draw(graph_of(graph), path));
}

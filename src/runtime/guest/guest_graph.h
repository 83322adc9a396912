/* Graphs: nodes with operations, built by hand or captured from streams. */
#ifndef PMPP_RUNTIME_GUEST_GRAPH_H
#define PMPP_RUNTIME_GUEST_GRAPH_H

#include "runtime/guest/guest_op.h"

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

static inline struct guest_graph *graph_of(const void *handle)
{
	return (struct guest_graph *)(uintptr_t)handle;
}
static inline struct guest_node *node_of(const void *handle)
{
	return (struct guest_node *)(uintptr_t)handle;
}

struct guest_graph *graph_new(void);
void graph_free(struct guest_graph *g);
/* A copy of nodes and edges; each node names its original. */
struct guest_graph *graph_clone(const struct guest_graph *from);
/* A new node with a copy of @op. */
struct guest_node *graph_node(struct guest_graph *g, enum cudaGraphNodeType type,
                              const struct guest_op *op);
void graph_edge(struct guest_node *from, struct guest_node *to);
/* Fills order, dependences first. False: the edges make a circle. */
bool graph_sort(struct guest_graph *g);
enum cudaGraphNodeType graph_node_type(const struct guest_op *op);

/* Operations from the parameters of nodes; the kernel's is owned (guest_op_drop). */
cudaError_t graph_kernel_op(const struct cudaKernelNodeParams *p, struct guest_op *op);
struct guest_op graph_set_op(const struct cudaMemsetParams *p);

/* The op becomes a node behind the stream's last ones. */
cudaError_t guest_capture(struct guest_stream *s, const struct guest_op *op);
/* While @s is captured: the event stands for its last node, and another stream that waits for the
 * event joins the capture. */
cudaError_t guest_capture_mark(struct guest_stream *s, struct guest_event *e);
cudaError_t guest_capture_join(struct guest_stream *s, struct guest_event *e);

#endif

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
	struct guest_node **from;      /* nodes that come before */
	struct cudaMemcpy3DParms copy; /* as the program gave it; zero = it came otherwise */
	struct guest_node *original;   /* of a clone */
	void **args;                   /* pointers to the kernel's arguments, made when asked for */
};
struct guest_user_object; /* of the program's, kept alive by graphs */
struct guest_graph {
	unsigned n, cap;
	struct guest_node **node;
	unsigned *order, n_order; /* of an instantiated one: indexes, dependences first */
	bool executable;
	uint64_t number;            /* 1, 2 ... in the order of their making */
	unsigned captures;          /* that go on and put their nodes here */
	bool gone;                  /* a capture into it was in vain */
	unsigned long long flags;   /* of an instantiated one */
	unsigned n_handles, n_idle; /* of conditional nodes; those that decide none yet */
	struct guest_graph *outer;  /* of a body: that of its node */
	struct guest_graph *executable_one, *source; /* with handles: there is one at a time */
	unsigned n_objects;
	struct guest_user_object **object; /* one entry per reference */
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
/* The graph that the program made, of which @g may be a body. */
struct guest_graph *graph_root(struct guest_graph *g);
/* A capture into it or one of its bodies goes on. */
bool graph_is_captured(const struct guest_graph *g);
/* What a copy for the program, or a child, is refused for. */
cudaError_t graph_may_copy(struct guest_graph *g);
void graph_free(struct guest_graph *g);
/* Its contents go; what is left answers the program that it is no more. */
void graph_empty(struct guest_graph *g);
/* A copy of nodes and edges; each node names its original. */
struct guest_graph *graph_clone(const struct guest_graph *from);
/* A new node with a copy of @op. */
struct guest_node *graph_node(struct guest_graph *g, enum cudaGraphNodeType type,
                              const struct guest_op *op);
bool graph_has_edge(const struct guest_node *from, const struct guest_node *to);
void graph_edge(struct guest_node *from, struct guest_node *to);
/* Fills order, dependences first. False: the edges make a circle. */
bool graph_sort(struct guest_graph *g);
enum cudaGraphNodeType graph_node_type(const struct guest_op *op);

/* Operations from the parameters of nodes; the kernel's is owned (guest_op_drop). */
cudaError_t graph_kernel_op(const struct cudaKernelNodeParams *p, struct guest_op *op);
struct guest_op graph_set_op(const struct cudaMemsetParams *p);

/* A node of @graph behind @from; *@out its handle. */
struct guest_node *graph_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                             size_t n, const struct guest_op *op);
/* guest_graph_memory.c: nodes that take and give back memory. */
cudaError_t graph_add_alloc(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                            size_t n, size_t bytes, void **address);
cudaError_t graph_add_free(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *from,
                           size_t n, void *address);
bool graph_gives_back(const struct guest_graph *g, uint64_t address);
/*
 * guest_graph_conditional.c: nodes with bodies, whose graphs @p then has; all their numbers as a
 * launch of @g finds them; and the body to run next, NULL = none (of a while, one after the other
 * until then).
 */
cudaError_t graph_add_conditional(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *from, size_t n,
                                  struct cudaConditionalNodeParams *p);
/* @node is destroyed: its handle decides none. */
void graph_conditional_drop(struct guest_node *node);
void graph_conditional_begin(const struct guest_graph *g);
struct guest_graph *graph_conditional_body(const struct guest_op *op);
/* guest_graph_exec.c: the node of @exec that was made from @node; NULL = there is none. */
struct guest_node *graph_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node);
/* @node does @op from now on; NULL is refused. */
cudaError_t graph_set_op_of(struct guest_node *node, const struct guest_op *op);
/* guest_graph_object.c: the references of a graph to objects of the program. */
void user_objects_share(struct guest_graph *to, const struct guest_graph *from);
void user_objects_drop(struct guest_graph *g);

/*
 * guest_graph_heap.c: memory of graphs' own. It stays where it is as long as the program runs, for
 * the graph may run again; what changes is whether the program may use it.
 */
void graph_heap_add(uint64_t address);
bool graph_heap_has(uint64_t address);
/* False: @address is no graph's. @was: what it was before. */
bool graph_heap_set(uint64_t address, bool in_use, bool *was);

#endif

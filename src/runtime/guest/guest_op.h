/*
 * Operations of a stream: what the API calls ask for, be it done now or kept in a graph.
 */
#ifndef PMPP_RUNTIME_GUEST_OP_H
#define PMPP_RUNTIME_GUEST_OP_H

#include "runtime/guest/guest.h"

enum guest_op_kind {
	GUEST_OP_EMPTY,
	GUEST_OP_LAUNCH,
	GUEST_OP_COPY,
	GUEST_OP_SET,
	GUEST_OP_HOST,
	GUEST_OP_RECORD,
	GUEST_OP_WAIT,
	GUEST_OP_ALLOC,
	GUEST_OP_FREE,
	GUEST_OP_GRAPH,
	GUEST_OP_CONDITIONAL,
};

/* A box of bytes in memory: rows of @width bytes, @height of them @pitch apart, @depth slices. */
struct guest_box {
	uint64_t address;
	size_t pitch, slice;
};

/* How the blocks of a launch belong together. */
struct guest_group {
	bool cooperative;
	unsigned cluster[3]; /* blocks; 0 = as the kernel was compiled */
};

struct guest_op {
	enum guest_op_kind kind;
	union {
		struct {
			struct guest_function *function;
			unsigned grid[3], block[3], shared_bytes;
			void *params; /* a copy of the parameter area; owned where the op is kept */
			struct guest_group group;
			bool in_graph; /* of several nodes, which is launched */
		} launch;
		struct {
			struct guest_box to, from;
			size_t width, height, depth; /* bytes, rows, slices */
			enum cudaMemcpyKind direction;
			bool from_symbol, to_symbol;
		} copy;
		struct {
			struct guest_box to;
			size_t width, height, depth; /* bytes, rows, slices */
			uint32_t value;
			unsigned element_bytes; /* 1, 2 or 4 */
		} set;
		struct {
			cudaHostFn_t function;
			void *data;
		} host;
		struct guest_event *event;
		struct {
			uint64_t address, bytes;
		} memory;
		struct guest_graph *graph;
		struct {
			uint64_t handle;
			enum cudaGraphConditionalNodeType type;
			unsigned n;
			struct guest_graph **body; /* n of them, owned by the node */
		} conditional;
	} u;
};

/* Does a launch and all that it launches. */
typedef cudaError_t guest_launch(const struct guest_op *op, struct guest_stream *s);

/* How the host's call relates to the work. */
enum guest_wait {
	GUEST_ASYNC, /* returns at once (copies of pageable memory are staged first) */
	GUEST_SYNC,  /* returns when the work is done */
};

/* Into the stream's graph while it is captured, else done now. @caller: see GUEST_CALLER. */
cudaError_t guest_submit(struct guest_stream *s, const struct guest_op *op, enum guest_wait wait,
                         const void *caller);
/* Does @op now: work, clock, record. */
typedef cudaError_t guest_execution(struct guest_stream *s, const struct guest_op *op,
                                    enum guest_wait wait, const void *caller);
guest_execution guest_execute;
/* A copy that outlives the call, and its end. */
void guest_op_keep(struct guest_op *to, const struct guest_op *from);
void guest_op_drop(struct guest_op *op);

/* guest_op.c: operations from what the API is given. */
struct guest_op guest_copy_line(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t guest_copy_3d(const struct cudaMemcpy3DParms *p, struct guest_op *op);
cudaError_t guest_copy_symbol(const void *symbol, void *host, size_t bytes, size_t offset,
                              enum cudaMemcpyKind kind, bool to_symbol, struct guest_op *op);
/* guest_pack.c: arguments as the API takes them, packed into @op's parameter area (owned). */
cudaError_t guest_pack_launch(const void *host, dim3 grid, dim3 block, void **args,
                              size_t shared_bytes, const struct guest_group *group,
                              struct guest_op *op);

#endif

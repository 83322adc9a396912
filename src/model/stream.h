/*
 * Stream programs and what came of them, as records.
 *
 * A program is what a host thread does, in order: allocate, copy, launch, record, wait. The model
 * that runs it on a GPU sheet is timemodel/stream_time.h.
 */
#ifndef PMPP_MODEL_STREAM_H
#define PMPP_MODEL_STREAM_H

#include "model/metric.h"

#include <stdbool.h>
#include <stdint.h>

#define STREAM_MAX_OPS 512
#define STREAM_MAX_STREAMS 17 /* legacy default + 16 */
#define STREAM_MAX_EVENTS 128
#define STREAM_MAX_BUFFERS 32 /* KERNEL_MAX_BUFFERS */

/* X(ID, "name") */
#define STREAM_OPS(X)             \
	X(ALLOC, "alloc")             \
	X(FREE, "free")               \
	X(H2D, "H2D")                 \
	X(D2H, "D2H")                 \
	X(KERNEL, "kernel")           \
	X(RECORD, "record")           \
	X(WAIT, "wait")               \
	X(SYNC_STREAM, "sync stream") \
	X(SYNC, "sync")               \
	X(HOST, "host work")

enum stream_op_kind {
#define X(id, name) SOP_##id,
	STREAM_OPS(X)
#undef X
};

struct stream_op {
	enum stream_op_kind kind;
	char name[24];   /* "x0", "add 2" */
	unsigned stream; /* 0 = the legacy default stream */
	uint64_t bytes;  /* copies, allocations */
	bool pinned;     /* copies: host memory is page-locked */
	bool async;      /* copies: asked for as asynchronous */
	double time_ns;  /* kernel or host work: how long it takes alone */
	double share;    /* kernel: part of the SMs it fills, 0..1; 0 counts as 1 */
	unsigned event;  /* RECORD, WAIT */
	/* what a GPU needs to do it: copies, of which buffer; kernels, which launch of stream_plan.h;
	 * and the piece of the data, in elements. count 0 = all of it */
	unsigned buffer, launch;
	uint64_t first, count;
};

struct stream_program {
	unsigned n_ops, n_streams; /* streams beside the default one */
	struct stream_op ops[STREAM_MAX_OPS];
};

/* Appends; the program is built with these. They return the op's index, or -1 when it is full. */
int stream_copy(struct stream_program *p, enum stream_op_kind dir, unsigned stream,
                const char *name, uint64_t bytes, bool pinned, bool async);
int stream_kernel(struct stream_program *p, unsigned stream, const char *name, double time_ns,
                  double share);
int stream_event(struct stream_program *p, enum stream_op_kind kind, unsigned stream,
                 unsigned event);
int stream_simple(struct stream_program *p, enum stream_op_kind kind, unsigned stream,
                  const char *name, uint64_t bytes, double time_ns);

enum stream_engine { ENGINE_HOST, ENGINE_H2D, ENGINE_SM, ENGINE_D2H, ENGINE_COUNT };
const char *stream_engine_name(enum stream_engine e);

/* What an op came to. The host call and the device work are apart, as a profiler shows them. */
struct stream_span {
	double call_ns, return_ns; /* host: start and end of the call */
	double start_ns, end_ns;   /* device work; equal for ops that have none */
	enum stream_engine engine;
	int waits_for; /* op whose end let this one start; -1 = the host's call */
};

struct stream_outcome {
	struct stream_span spans[STREAM_MAX_OPS];
	double makespan_ns; /* first call to the end of everything, without initialisation */
	double serial_ns;   /* the same device work one after the other */
	double busy_ns[ENGINE_COUNT];
	double overlap_pct;          /* share of the serial time that overlap hid */
	enum stream_engine critical; /* engine with most time on the critical path */
	double critical_pct;         /* its share of the makespan */
	enum origin origin;          /* modelled, or measured: made from a GPU's spans */
	/* the model's makespan, and its GB/s up and down, also where `origin` is measured */
	double modelled_ns, modelled_gbs[2];
};

/* What happens once, before the program, and is in no makespan. X(ID, "first word of its spans") */
#define STREAM_INITS(X)     \
	X(CONTEXT, "context")   \
	X(MODULE, "module")     \
	X(ALLOCATE, "allocate") \
	X(PIN, "pin")           \
	X(STREAMS, "streams")

enum stream_init_part {
#define X(id, name) INIT_##id,
	STREAM_INITS(X)
#undef X
		INIT_COUNT
};
const char *stream_init_name(enum stream_init_part i);

struct stream_init {
	double ns[INIT_COUNT], total_ns;
	enum origin origin;
};
/* A copy or a kernel: something an engine does. */
bool stream_is_work(const struct stream_op *op);
/* Does the call of @op return only when its work is done? Pageable copies are staged by the host.
 */
bool stream_holds_host(const struct stream_op *op);

#endif

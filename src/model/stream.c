/* Stream programs: building them, and their names; see stream.h. */
#include "model/stream.h"

#include <stdio.h>

const char *stream_engine_name(enum stream_engine e)
{
	static const char *const names[] = { "host", "H2D", "SM", "D2H" };
	return e < ENGINE_COUNT ? names[e] : "?";
}

static struct stream_op *append(struct stream_program *p, enum stream_op_kind kind, unsigned stream,
                                const char *name)
{
	if (p->n_ops >= STREAM_MAX_OPS)
		return NULL;
	struct stream_op *op = &p->ops[p->n_ops++];
	*op = (struct stream_op){ .kind = kind, .stream = stream };
	snprintf(op->name, sizeof op->name, "%s", name);
	if (stream > p->n_streams)
		p->n_streams = stream;
	return op;
}

static int index_of(const struct stream_program *p, const struct stream_op *op)
{
	return op ? (int)(op - p->ops) : -1;
}

int stream_copy(struct stream_program *p, enum stream_op_kind dir, unsigned stream,
                const char *name, uint64_t bytes, bool pinned, bool async)
{
	struct stream_op *op = append(p, dir, stream, name);
	if (op) {
		op->bytes = bytes;
		op->pinned = pinned;
		op->async = async;
	}
	return index_of(p, op);
}

int stream_kernel(struct stream_program *p, unsigned stream, const char *name, double time_ns,
                  double share)
{
	struct stream_op *op = append(p, SOP_KERNEL, stream, name);
	if (op) {
		op->time_ns = time_ns;
		op->share = share;
	}
	return index_of(p, op);
}

int stream_event(struct stream_program *p, enum stream_op_kind kind, unsigned stream,
                 unsigned event)
{
	struct stream_op *op = append(p, kind, stream, kind == SOP_RECORD ? "record" : "wait");
	if (op)
		op->event = event;
	return index_of(p, op);
}

int stream_simple(struct stream_program *p, enum stream_op_kind kind, unsigned stream,
                  const char *name, uint64_t bytes, double time_ns)
{
	struct stream_op *op = append(p, kind, stream, name);
	if (op) {
		op->bytes = bytes;
		op->time_ns = time_ns;
	}
	return index_of(p, op);
}

bool stream_is_work(const struct stream_op *op)
{
	return op->kind == SOP_H2D || op->kind == SOP_D2H || op->kind == SOP_KERNEL;
}

bool stream_holds_host(const struct stream_op *op)
{
	bool copy = op->kind == SOP_H2D || op->kind == SOP_D2H;
	return (copy && (!op->async || !op->pinned)) || op->kind == SOP_SYNC ||
	       op->kind == SOP_SYNC_STREAM || op->kind == SOP_FREE;
}

const char *stream_init_name(enum stream_init_part i)
{
	static const char *const names[INIT_COUNT] = {
#define X(id, name) [INIT_##id] = name,
		STREAM_INITS(X)
#undef X
	};
	return i < INIT_COUNT ? names[i] : "?";
}

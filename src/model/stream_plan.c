/* The stream program around one kernel; see stream_plan.h. */
#include "model/stream_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t knob(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                    const char *name, int64_t otherwise)
{
	const int i = kernel_param_index(k, name);
	return i >= 0 && kernel_param_used(k, variant, (unsigned)i) && k->params[i].kind == PARAM_STREAM
	           ? params[i]
	           : otherwise;
}

void stream_knobs_of(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                     struct stream_knobs *out)
{
	*out = (struct stream_knobs){
		.streams = (unsigned)knob(k, variant, params, "streams", 1),
		.chunks = (unsigned)knob(k, variant, params, "chunks", 1),
		.pinned = knob(k, variant, params, "pinned", 1) != 0,
		.resident = knob(k, variant, params, "resident", 0) != 0,
		.deal = (enum stream_deal)knob(k, variant, params, "deal", DEAL_PIECES),
	};
}

_Static_assert(STREAM_MAX_BUFFERS == KERNEL_MAX_BUFFERS, "one list of buffers");

struct piece {
	unsigned i, of;
};

static uint64_t piece_first(uint64_t count, struct piece p)
{
	return count * p.i / p.of;
}

static uint64_t piece_count(uint64_t count, struct piece p)
{
	return count * (p.i + 1) / p.of - piece_first(count, p);
}

/* Piece @p of every buffer that goes in this direction. */
static void copies(struct stream_program *out, const struct launch_plan *plan,
                   enum stream_op_kind dir, unsigned stream, struct piece p, bool pinned)
{
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const struct buffer_plan *bp = &plan->buffers[b];
		if (dir == SOP_H2D ? bp->role == BUF_OUT && !bp->partial : bp->role == BUF_IN)
			continue;
		char name[24];
		snprintf(name, sizeof name, "%.15s%u", bp->name, p.i);
		const int i =
			stream_copy(out, dir, stream, name, piece_count(bp->count, p) * elem_size(bp->type),
		                pinned, stream > 0);
		if (i < 0)
			return;
		out->ops[i].buffer = b;
		out->ops[i].first = piece_first(bp->count, p);
		out->ops[i].count = piece_count(bp->count, p);
	}
}

/* What comes next in stream @to waits for what is now in stream @from. */
static void hand_over(struct stream_program *out, unsigned from, unsigned to, unsigned event)
{
	stream_event(out, SOP_RECORD, from, event);
	stream_event(out, SOP_WAIT, to, event);
}

void stream_pipeline(const struct launch_plan *plan, const struct stream_knobs *knobs,
                     double kernel_ns, double share, struct stream_program *out)
{
	/* every op of a chunk must fit; a program is never cut in the middle of a chunk */
	const bool engines = knobs->deal == DEAL_ENGINES && knobs->streams > 0 && !knobs->resident;
	const unsigned per_chunk = plan->n_buffers * 2 + 1 + (engines ? 4 : 0);
	const unsigned most = (STREAM_MAX_OPS - 1) / per_chunk;
	unsigned chunks = knobs->chunks < 1 ? 1 : knobs->chunks > most ? most : knobs->chunks;
	for (unsigned b = 0; b < plan->n_buffers; b++) /* no piece is empty */
		if (plan->buffers[b].count < chunks)
			chunks = plan->buffers[b].count ? (unsigned)plan->buffers[b].count : 1;
	const bool async = knobs->streams > 0;
	*out = (struct stream_program){ 0 };
	const uint64_t size = plan->n_buffers ? plan->buffers[0].count : 1;
	for (unsigned i = 0; i < chunks; i++) {
		const unsigned own = async ? 1 + i % knobs->streams : 0;
		const unsigned up = engines ? 1 : own, run = engines ? 2 : own;
		const unsigned down = engines ? 3 : knobs->deal == DEAL_TRAP ? 0 : own;
		const struct piece p = { i, chunks };
		char name[24];
		if (!knobs->resident)
			copies(out, plan, SOP_H2D, up, p, knobs->pinned);
		if (engines)
			hand_over(out, up, run, 2 * i);
		snprintf(name, sizeof name, "k%u", i);
		const int k = stream_kernel(out, run, name, kernel_ns / chunks, share);
		if (k >= 0 && chunks > 1) {
			out->ops[k].first = piece_first(size, p);
			out->ops[k].count = piece_count(size, p);
			out->ops[k].launch = out->ops[k].count != size / chunks;
		}
		if (engines)
			hand_over(out, run, down, 2 * i + 1);
		if (!knobs->resident)
			copies(out, plan, SOP_D2H, down, p, knobs->pinned);
	}
	stream_simple(out, SOP_SYNC, 0, "sync", 0, 0);
}

void kernel_stream_program(const struct kernel_desc *k, unsigned variant,
                           const struct launch_plan *plan, const int64_t *params, double kernel_ns,
                           double share, struct stream_program *out)
{
	if (k->program) {
		*out = (struct stream_program){ 0 };
		k->program(variant, plan, params, kernel_ns, out);
		return;
	}
	struct stream_knobs knobs;
	stream_knobs_of(k, variant, params, &knobs);
	stream_pipeline(plan, &knobs, kernel_ns, share, out);
}

bool stream_launches(const struct kernel_desc *k, unsigned variant, const struct launch_plan *plan,
                     const int64_t *params, const struct stream_program *p, struct launch_plan *out,
                     struct err *err)
{
	out[0] = out[1] = *plan;
	const int size = kernel_param_index(k, "N");
	for (unsigned i = 0; i < p->n_ops; i++) {
		const struct stream_op *op = &p->ops[i];
		if (op->kind != SOP_KERNEL || !op->count)
			continue;
		if (size < 0 || op->launch >= STREAM_LAUNCHES || !k->plan)
			return err_set(err, ERR_INTERNAL, "%s: its launches cannot be cut into pieces",
			               k->name);
		int64_t piece[KERNEL_MAX_PARAMS];
		memcpy(piece, params, k->n_params * sizeof *piece);
		piece[size] = (int64_t)op->count;
		if (!k->plan(variant, piece, &out[op->launch], err))
			return err_prefix(err, "a piece of %" PRIu64 " elements: ", op->count);
	}
	return true;
}

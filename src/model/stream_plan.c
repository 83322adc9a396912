/* The stream program around one kernel; see stream_plan.h. */
#include "model/stream_plan.h"

#include <stdio.h>

static int64_t knob(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                    const char *name, int64_t otherwise)
{
	const int i = kernel_param_index(k, name);
	return i >= 0 && kernel_param_used(k, variant, (unsigned)i) &&
	       k->params[i].kind == PARAM_STREAM ? params[i] : otherwise;
}

void stream_knobs_of(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                     struct stream_knobs *out)
{
	*out = (struct stream_knobs){
		.streams = (unsigned)knob(k, variant, params, "streams", 1),
		.chunks = (unsigned)knob(k, variant, params, "chunks", 1),
		.pinned = knob(k, variant, params, "pinned", 1) != 0,
		.resident = knob(k, variant, params, "resident", 0) != 0,
	};
}

static uint64_t chunk_bytes(const struct buffer_plan *b, unsigned chunk, unsigned chunks)
{
	const uint64_t bytes = (uint64_t)b->count * elem_size(b->type);
	return bytes * (chunk + 1) / chunks - bytes * chunk / chunks;
}

void stream_pipeline(const struct launch_plan *plan, const struct stream_knobs *knobs,
                     double kernel_ns, double share, struct stream_program *out)
{
	/* every op of a chunk must fit; a program is never cut in the middle of a chunk */
	const unsigned per_chunk = plan->n_buffers * 2 + 1;
	const unsigned most = (STREAM_MAX_OPS - 1) / per_chunk;
	const unsigned chunks = knobs->chunks < 1 ? 1 : knobs->chunks > most ? most : knobs->chunks;
	const bool async = knobs->streams > 0;
	*out = (struct stream_program){ 0 };
	for (unsigned i = 0; i < chunks; i++) {
		const unsigned stream = async ? 1 + i % knobs->streams : 0;
		char name[24];
		for (unsigned b = 0; b < plan->n_buffers && !knobs->resident; b++) {
			snprintf(name, sizeof name, "%.15s%u", plan->buffers[b].name, i);
			if (plan->buffers[b].role != BUF_OUT)
				stream_copy(out, SOP_H2D, stream, name,
				            chunk_bytes(&plan->buffers[b], i, chunks), knobs->pinned, async);
		}
		snprintf(name, sizeof name, "k%u", i);
		stream_kernel(out, stream, name, kernel_ns / chunks, share);
		for (unsigned b = 0; b < plan->n_buffers && !knobs->resident; b++) {
			snprintf(name, sizeof name, "%.15s%u", plan->buffers[b].name, i);
			if (plan->buffers[b].role != BUF_IN)
				stream_copy(out, SOP_D2H, stream, name,
				            chunk_bytes(&plan->buffers[b], i, chunks), knobs->pinned, async);
		}
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

/* What happens once, before a stream program: measured, or from constants.def; see stream_time.h.
 */
#include "timemodel/stream_time.h"

#include "timemodel/constants.h"

#include <string.h>

static void modelled_init(const struct stream_program *p, struct stream_init *out)
{
	uint64_t bytes[STREAM_MAX_BUFFERS] = { 0 };
	bool used[STREAM_MAX_BUFFERS] = { false }, stream[STREAM_MAX_STREAMS] = { false };
	for (unsigned i = 0; i < p->n_ops; i++) {
		const struct stream_op *op = &p->ops[i];
		stream[op->stream % STREAM_MAX_STREAMS] = true;
		if ((op->kind == SOP_H2D || op->kind == SOP_D2H) && op->buffer < STREAM_MAX_BUFFERS) {
			used[op->buffer] = true;
			bytes[op->buffer] += op->pinned ? op->bytes : 0;
		}
	}
	out->ns[INIT_CONTEXT] = timing.context_ns;
	out->ns[INIT_MODULE] = timing.module_ns;
	for (unsigned b = 0; b < STREAM_MAX_BUFFERS; b++) {
		out->ns[INIT_ALLOCATE] += used[b] ? timing.allocate_ns : 0;
		out->ns[INIT_PIN] +=
			bytes[b] ? timing.pin_ns + (double)bytes[b] * timing.pin_ns_per_byte : 0;
	}
	for (unsigned s = 1; s < STREAM_MAX_STREAMS; s++)
		out->ns[INIT_STREAMS] += stream[s] ? timing.create_stream_ns : 0;
	out->origin = ORIGIN_MODELLED;
}

void stream_init_of(const struct stream_program *p, const struct span *spans, unsigned n,
                    struct stream_init *out)
{
	*out = (struct stream_init){ .origin = ORIGIN_NONE };
	for (unsigned i = 0; i < n; i++)
		for (enum stream_init_part k = 0; spans[i].kind == SPAN_INIT && k < INIT_COUNT; k++) {
			const char *name = stream_init_name(k);
			if (strncmp(spans[i].name, name, strlen(name)))
				continue;
			out->ns[k] += spans[i].end_ns - spans[i].start_ns;
			out->origin = ORIGIN_MEASURED;
		}
	if (out->origin == ORIGIN_NONE)
		modelled_init(p, out);
	for (enum stream_init_part k = 0; k < INIT_COUNT; k++)
		out->total_ns += out->ns[k];
}

/* What the observed warp does, for the trace; runs in the reference program only. */
#include "emu/vm/warp.h"

#include <stdio.h>

static const struct ir_inst *inst_of(const struct warp *w, const struct xop *x)
{
	return &w->image->ir.insts[x->pc];
}

void warp_trace_step(struct warp *w, const struct uop *u)
{
	trace_step(w->worker->trace, inst_of(w, &w->image->ir.ops[u->xop])->line, w->mask);
}

void warp_trace_access(struct warp *w, const struct memop *m, uint32_t mask,
                       const uint64_t *address, enum ptx_space space)
{
	const bool shared = space == SPACE_SHARED;
	if (space != SPACE_GLOBAL && !shared)
		return;
	struct access_sample *a = trace_access(w->worker->trace, m->id, shared);
	if (!a)
		return;
	const struct ir_inst *in = inst_of(w, m->x);
	const bool copied_from = m->x->kind == X_ASYNC && m->id != (uint32_t)m->x->mem;
	const struct arena_region *r =
		shared ? NULL : arena_find(w->worker->grid->arena, address[__builtin_ctz(mask)]);
	*a = (struct access_sample){
		.line = in->line,
		.bytes_per_lane = m->access,
		.store = m->x->kind != X_LD && !copied_from,
		.shared = shared,
		.mask = mask,
		.buffer = r ? r->buffer : -1,
	};
	snprintf(a->op, sizeof a->op, "%.23s", in->text);
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1)
			a->offset[i] = r ? address[i] - r->base : address[i];
}

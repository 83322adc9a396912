/* Records the observed warp; see trace.h. Runs in the plain program only, before each instruction.
 */
#include "emu/check/trace.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct trace *trace_new(const struct image *im)
{
	struct trace *t = mem_zalloc(sizeof *t);
	t->seen = mem_calloc(im->ir.n_mem + 1, 1);
	return t;
}

void trace_free(struct trace *t)
{
	if (t)
		free(t->seen);
	free(t);
}

static const struct ptx_inst *inst_of(const struct warp *w, uint32_t xop)
{
	return &w->image->ir.func->insts[w->image->ir.ops[xop].pc];
}

void trace_step(struct warp *w, const struct uop *u)
{
	struct trace *t = w->worker->trace;
	const uint32_t line = inst_of(w, u->xop)->line;
	if (t->n_steps) {
		struct mask_step *last = &t->steps[t->n_steps - 1];
		if (last->line == line && last->mask == w->mask) {
			if (!t->cut)
				last->instructions++;
			return;
		}
	}
	if (t->n_steps == TRACE_MAX_STEPS) {
		t->cut = true;
		return;
	}
	t->steps[t->n_steps++] = (struct mask_step){ .line = line, .mask = w->mask, .instructions = 1 };
}

void trace_access(struct warp *w, const struct memop *m, uint32_t mask, const uint64_t *address,
                  enum ptx_space space)
{
	struct trace *t = w->worker->trace;
	const bool shared = space == SPACE_SHARED;
	if (space != SPACE_GLOBAL && !shared)
		return;
	const uint8_t bit = shared ? 2 : 1;
	if ((t->seen[m->id] & bit) || t->n_accesses == TRACE_MAX_ACCESSES)
		return;
	t->seen[m->id] |= bit;
	const struct ptx_inst *in = &w->image->ir.func->insts[m->x->pc];
	const bool copied_from = m->x->kind == X_ASYNC && m->id != (uint32_t)m->x->mem;
	const struct arena_region *r = NULL;
	if (!shared)
		r = arena_find(&w->worker->launch->arena, address[__builtin_ctz(mask)]);
	t->access_mem[t->n_accesses] = m->id;
	struct access_sample *a = &t->accesses[t->n_accesses++];
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

/*
 * Machine code whose lanes wait in a loop for others of their warp, for a lock or a flag: these
 * have their turn, those too that wait for them at a barrier of the warp.
 */
#include "emu/vm/parts.h"
#include "emu/vm/handler.h"

#include <string.h>

static const struct uop *block_start(const struct warp *w, int32_t block)
{
	return &w->program->uops[w->program->block_uop[block]];
}

/* Lanes that wait for those of @asking go on without them, as on a card, where lanes that yield are
 * not waited for; the last ones that came go first. NULL = there are none. */
static const struct uop *leave_asking(struct warp *w, uint32_t asking)
{
	for (uint32_t i = w->n_waiting; i--;) {
		const struct meeting m = w->waiting[i];
		const uint32_t go = m.here & w->live;
		if (m.barrier == MEET_WARP || !go || !(w->meet[m.barrier] & asking))
			continue;
		w->waiting[i] = w->waiting[--w->n_waiting];
		w->meet[m.barrier] &= ~go;
		w->mask = go;
		return block_start(w, m.block);
	}
	return NULL;
}

/* Lanes put aside, those first that have not asked in vain (@again: these too); NULL = none. */
static const struct uop *put_aside(struct warp *w, bool again)
{
	for (uint32_t i = w->depth; i-- > 0;) {
		const struct simt_entry e = w->stack[i];
		if ((e.asks && !again) || !(e.mask & w->live))
			continue;
		memmove(&w->stack[i], &w->stack[i + 1], (--w->depth - i) * sizeof *w->stack);
		w->mask = e.mask & w->live;
		return block_start(w, e.block);
	}
	return NULL;
}

void meet_give_way(struct warp *w)
{
	const struct image *im = w->image;
	const int32_t block = (int32_t)im->segments[im->op_segment[w->at->xop]].block;
	if (!im->ir.blocks[block].asks)
		return;
	const struct simt_entry asking = { .mask = w->mask, .block = block, .rc = -1, .asks = true };
	if (w->program->kind != PROGRAM_REFERENCE)
		deoptimise_here(w, w->at);
	const struct uop *to = put_aside(w, false);
	to = to ? to : leave_asking(w, asking.mask);
	to = to ? to : put_aside(w, true);
	w->at = to ? to : block_start(w, block);
	if (!to)
		return;
	memmove(w->stack + 1, w->stack, w->depth++ * sizeof *w->stack);
	w->stack[0] = asking;
	w->worker->fuel = FUEL_TOGETHER; /* it will not be the last time */
}

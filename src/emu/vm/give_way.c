/*
 * Machine code whose lanes let others of their warp go on: where the assembler says so (YIELD), and
 * in a loop that waits for a lock or a flag. Those have their turn that were put aside, and those
 * too that wait for them at a barrier of the warp.
 *
 * As an H200 does (tests/programs/lanes_wait.cu, warp_meetings.cu, barriers_in_calls.cu): behind a
 * YIELD lanes that come to one place go on together, whatever way they came.
 */
#include "emu/vm/parts.h"
#include "emu/vm/handler.h"
#include "emu/vm/replay.h"

#include <string.h>

/* Lanes that wait for those of @asking go on without them, as on a card, where lanes that yield are
 * not waited for, the last ones that came first: their barrier is then empty, and its instruction
 * is issued once more for them. NULL = there are none. */
static const struct uop *leave_asking(struct warp *w, uint32_t asking)
{
	for (uint32_t i = w->n_waiting; i--;) {
		const struct meeting m = w->waiting[i];
		const uint32_t go = m.here & w->live;
		if (m.barrier == MEET_WARP || !go || !(w->meet[m.barrier] & asking))
			continue;
		w->waiting[i] = w->waiting[--w->n_waiting];
		w->meet[m.barrier] = 0;
		w->mask = go;
		replay_count(w, (uint32_t)m.block - 1, 1, lane_popc32(go));
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

/* Others go on, and the active lanes at @block after them. NULL = there are none. */
static const struct uop *others_first(struct warp *w, int32_t block)
{
	const struct simt_entry asking = { .mask = w->mask, .block = block, .rc = -1, .asks = true };
	const struct uop *to = put_aside(w, false);
	to = to ? to : leave_asking(w, asking.mask);
	to = to ? to : put_aside(w, true);
	if (!to)
		return NULL;
	memmove(w->stack + 1, w->stack, w->depth++ * sizeof *w->stack);
	w->stack[0] = asking;
	return to;
}

void meet_give_way(struct warp *w)
{
	const struct image *im = w->image;
	const int32_t block = (int32_t)im->segments[im->op_segment[w->at->xop]].block;
	const struct xblock *b = &im->ir.blocks[block];
	if (!b->asks && !(b->may_wait && w->rounds++ >= MOST_ROUNDS))
		return;
	if (must_take_turns(w))
		deoptimise_here(w, w->at);
	const struct uop *to = others_first(w, block);
	w->at = to ? to : block_start(w, block);
	if (!to)
		return;
	w->rounds = 0;
	w->worker->fuel = FUEL_TOGETHER; /* it will not be the last time */
}

/* Those who go on at @to are joined by all that were put aside there. */
static void join_at(struct warp *w, const struct uop *to)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->depth; i++) {
		const struct simt_entry e = w->stack[i];
		if (block_start(w, e.block) == to)
			w->mask |= e.mask & w->live;
		else
			w->stack[n++] = e;
	}
	w->depth = n;
}

const struct uop *meet_let_others(struct warp *w, int32_t block)
{
	const struct uop *to = others_first(w, block);
	if (!to)
		return block_start(w, block);
	join_at(w, to);
	return to;
}

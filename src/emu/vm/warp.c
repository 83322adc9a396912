/* Runs a warp, puts parts of it aside, and stops it with a fault. */
#include "emu/vm/warp.h"

#include <assert.h>

void vm_resume(struct warp *w)
{
	const struct uop *u = w->at;
	w->state = WARP_RUN;
	w->fuel = w->worker->fuel;
#ifdef EMU_TAIL_CALLS
	(w->mask == 0xffffffffu ? u->full : u->masked)(w, u, w->mask);
#else
	while (u)
		u = (w->mask == 0xffffffffu ? u->full : u->masked)(w, u, w->mask);
#endif
}

void warp_push(struct warp *w, uint32_t mask, int32_t block, int32_t rc)
{
	assert(w->depth < w->stack_entries);
	w->stack[w->depth++] = (struct simt_entry){ .mask = mask, .block = block, .rc = rc };
}

const struct uop *vm_fault(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane)
{
	struct emu_fault *f = &w->worker->fault;
	f->kind = kind;
	f->block = w->worker->block;
	f->warp = w->number;
	f->lane = lane;
	f->xop = u->xop;
	w->state = WARP_STOP;
	return NULL;
}

struct emu_fault *vm_note(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane,
                          uint32_t other_op)
{
	struct worker *wk = w->worker;
	static _Thread_local struct emu_fault more; /* for what there is no room for */
	unsigned of_sort = 0;
	for (unsigned i = 0; i < wk->n_noted; i++) {
		const struct emu_fault *f = &wk->noted[i];
		of_sort += (f->kind == FAULT_RACE) == (kind == FAULT_RACE);
		if (f->kind == kind && f->xop == u->xop && f->other_op == other_op) {
			wk->times[i]++;
			return &more;
		}
	}
	if (of_sort == WORKER_MAX_OF_A_SORT) {
		wk->lost++;
		return &more;
	}
	static_assert(WORKER_MAX_NOTED >= 2 * WORKER_MAX_OF_A_SORT, "room for both");
	wk->times[wk->n_noted] = 1;
	struct emu_fault *f = &wk->noted[wk->n_noted++];
	*f = (struct emu_fault){ .kind = kind,
		                     .block = wk->block,
		                     .warp = w->number,
		                     .lane = lane,
		                     .xop = u->xop,
		                     .other_op = other_op };
	return f;
}

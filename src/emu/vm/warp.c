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

static enum noted_sort sort_of(const struct emu_fault *f)
{
	if (f->kind != FAULT_RACE)
		return NOTED_REST;
	return fault_in_warp(f) ? NOTED_RACE_IN_WARP : NOTED_RACE;
}

/* Lanes of a warp may do what warps may not: a race between them does not stand for one of others.
 */
static bool same_fault(const struct emu_fault *a, const struct emu_fault *b)
{
	return a->kind == b->kind && a->xop == b->xop && a->other_op == b->other_op &&
	       a->many == b->many && sort_of(a) == sort_of(b);
}

static struct emu_fault *note(struct worker *wk, const struct emu_fault *f)
{
	static _Thread_local struct emu_fault more; /* for what there is no room for */
	unsigned of_sort = 0;
	for (unsigned i = 0; i < wk->n_noted; i++) {
		of_sort += sort_of(&wk->noted[i]) == sort_of(f);
		if (same_fault(&wk->noted[i], f)) {
			wk->times[i]++;
			return &more;
		}
	}
	if (of_sort == WORKER_MAX_OF_A_SORT) {
		wk->lost++;
		return &more;
	}
	wk->times[wk->n_noted] = 1;
	wk->noted[wk->n_noted] = *f;
	return &wk->noted[wk->n_noted++];
}

static struct emu_fault fault_at(const struct warp *w, const struct uop *u, enum fault_kind kind,
                                 unsigned lane)
{
	return (struct emu_fault){
		.kind = kind, .block = w->worker->block, .warp = w->number, .lane = lane, .xop = u->xop
	};
}

struct emu_fault *vm_note(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane)
{
	const struct emu_fault f = fault_at(w, u, kind, lane);
	return note(w->worker, &f);
}

struct emu_fault *vm_note_race(struct warp *w, const struct uop *u, const struct race_found *found,
                               bool many)
{
	struct emu_fault f = fault_at(w, u, FAULT_RACE, found->lane);
	f.address = found->address;
	f.other_block = found->other_block;
	f.other_thread = found->other_thread;
	f.other_op = found->other_op;
	f.other_store = found->other_writes;
	f.scope = found->scope;
	f.proxy = found->proxy;
	f.many = many;
	return note(w->worker, &f);
}

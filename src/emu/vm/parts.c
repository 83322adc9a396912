/*
 * Parts of a warp at a barrier of the block that its other lanes have not reached. As an H200 has
 * it (tests/programs/divergent_barriers.cu): the part waits, the others go on as far as they come,
 * to their end, to a barrier too, or to where they would meet the lanes that wait; then the warp
 * has arrived. When the barrier opens, the parts go on one after the other. All of it in the
 * reference program, where no register is one for the whole warp.
 */
#include "emu/vm/parts.h"
#include "emu/vm/handler.h"

#include <string.h>

void barrier_arrive(struct warp *w, struct block_barrier *b)
{
	b->arrived += 32; /* barriers count whole warps */
	if (w->worker->race)
		race_arrive(w->worker->race, w->number, w->live, w->barrier);
}

void barrier_wait(struct warp *w, struct block_barrier *b, const struct uop *at)
{
	b->waiting++;
	b->ticks = w->ticks > b->ticks ? w->ticks : b->ticks;
	w->at = at;
	w->state = WARP_BARRIER;
}

bool parts_may_wait(const struct warp *w, const struct uop *u)
{
	const struct ir *ir = &w->image->ir;
	return !ir_of_machine_code(ir) && !w->calls && ir->ops[u->xop].guard < 0;
}

static void take_out(struct warp *w, uint32_t i)
{
	memmove(&w->stack[i], &w->stack[i + 1], (--w->depth - i) * sizeof *w->stack);
}

static const struct uop *run_lanes(struct warp *w, uint32_t mask, int32_t rc, const struct uop *at)
{
	w->mask = mask;
	w->rc = rc;
	return at;
}

/* A part behind its barrier; NULL = none. */
static const struct uop *opened_part(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++) {
		const struct warp_part p = w->part[i];
		if (!p.opened)
			continue;
		w->part[i] = w->part[--w->n_parts];
		return run_lanes(w, p.mask, p.rc, p.at);
	}
	return NULL;
}

static bool only_ends(const struct ir *ir, int32_t block)
{
	const struct xop *x = block < 0 ? NULL : &ir->ops[ir->blocks[block].first];
	return x && x->kind == X_EXIT && x->guard < 0;
}

/* Lanes that wait for none of those above them on the stack, and for none at a barrier; those that
 * have nothing left to do but end wait for nobody. */
static const struct uop *free_lanes(struct warp *w)
{
	uint32_t busy = 0;
	for (uint32_t i = 0; i < w->n_parts; i++)
		busy |= w->part[i].mask;
	for (uint32_t i = w->depth; i-- > 0;) {
		const struct simt_entry e = w->stack[i];
		const uint32_t mask = e.mask & w->live;
		if (mask & busy && mask & ~busy && only_ends(&w->image->ir, e.block)) {
			w->live &= ~(mask & ~busy);
			continue;
		}
		if (mask & busy) {
			busy |= mask;
			continue;
		}
		take_out(w, i);
		if (e.call) {
			w->calls--;
			if (e.frame)
				vm_restore_frame(w, e.frame, mask);
		}
		if (mask && (e.block < 0 || e.block != e.rc))
			return run_lanes(w, mask, e.rc, &w->program->uops[w->program->block_uop[e.block]]);
	}
	return NULL;
}

/* All that are left wait: where, is told if it is not one place for all of them. */
static void arrive(struct warp *w)
{
	struct block_barrier *b = &w->worker->barrier[w->barrier];
	const struct warp_part *first = &w->part[0];
	bool apart = false;
	uint32_t here = 0;
	for (uint32_t i = 0; i < w->n_parts; i++) {
		apart |= w->part[i].at != first->at;
		here |= w->part[i].mask;
	}
	apart |= here != w->live;
	const unsigned lane = (unsigned)__builtin_ctz(first->mask);
	if (apart && !w->worker->grid->lenient) {
		vm_fault(w, first->at - 1, FAULT_BARRIER_DIVERGED, lane);
		return;
	}
	if (apart)
		vm_note(w, first->at - 1, FAULT_BARRIER_DIVERGED, lane, 0);
	barrier_arrive(w, b);
	barrier_wait(w, b, first->at);
}

const struct uop *parts_next(struct warp *w)
{
	const struct uop *to = opened_part(w);
	if (!to)
		to = free_lanes(w);
	if (to)
		return to;
	w->mask = 0;
	if (w->n_parts)
		arrive(w);
	else
		w->state = WARP_DONE;
	return NULL;
}

const struct uop *parts_wait(struct warp *w, const struct uop *u)
{
	w->part[w->n_parts++] = (struct warp_part){ .mask = w->mask, .rc = w->rc, .at = u + 1 };
	return parts_next(w);
}

void parts_opened(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++)
		w->part[i].opened = true;
	w->at = parts_next(w);
}

/* --- lanes that wait in a loop for others of their warp --- */

/* Does it only ask for a lock or a flag? */
static const struct xop *asked(const struct ir *ir, int32_t block)
{
	const struct xblock *b = &ir->blocks[block];
	const struct xop *found = NULL;
	for (uint32_t o = b->first; o < b->end; o++) {
		const struct xop *x = &ir->ops[o];
		if (x->kind == X_ST || x->kind == X_RED || x->kind == X_SYSTEM)
			return NULL;
		if (x->polls && x->decides && (x->kind == X_LD || x->op == ATOM_CAS || x->op == ATOM_EXCH))
			found = x;
	}
	return found;
}

static bool needs_all_lanes(const struct xop *x)
{
	return x->kind == X_SHFL || x->kind == X_VOTE || x->kind == X_MATCH || x->kind == X_REDUX ||
	       x->kind == X_ELECT || x->kind == X_WARPSYNC || x->kind == X_TENSOR || x->kind == X_BAR ||
	       x->kind == X_ARRIVE;
}

/* A loop of a block or two, behind which no lane has to be there for others. */
static bool spins(const struct ir *ir, int32_t block)
{
	const struct xblock *b = &ir->blocks[block];
	const struct xop *x = asked(ir, block);
	for (unsigned i = 0; i < 2 && !x; i++)
		x = b->succ[i] >= 0 ? asked(ir, b->succ[i]) : NULL;
	const bool found = x;
	for (; x && x < ir->ops + ir->n_ops; x++)
		if (needs_all_lanes(x))
			return false;
	return found;
}

/* Lanes that wait to meet others, and need not: as on a GPU, where each thread goes on at some
 * time. */
static bool leave_others(struct warp *w, uint32_t busy)
{
	for (uint32_t i = w->depth; i-- > 0;) {
		struct simt_entry *e = &w->stack[i];
		const uint32_t mask = e->mask & w->live & ~busy;
		busy |= e->mask;
		if (!mask || e->block < 0 || (e->block == e->rc && i == 0))
			continue;
		const int32_t block = e->block, rc = e->rc;
		e->mask &= ~mask;
		w->at = run_lanes(w, mask, rc, &w->program->uops[w->program->block_uop[block]]);
		return true;
	}
	return false;
}

void parts_give_way(struct warp *w)
{
	const struct image *im = w->image;
	const int32_t block = (int32_t)im->segments[im->op_segment[w->at->xop]].block;
	if (ir_of_machine_code(&im->ir) || w->calls || w->n_parts == 32 || !spins(&im->ir, block))
		return;
	if (w->program->kind != PROGRAM_REFERENCE)
		deoptimise_here(w, w->at);
	const uint32_t spinning = w->mask;
	const struct warp_part aside = { .mask = spinning,
		                             .rc = w->rc,
		                             .opened = true,
		                             .at = &w->program->uops[w->program->block_uop[block]] };
	uint32_t busy = spinning;
	for (uint32_t i = 0; i < w->n_parts; i++)
		busy |= w->part[i].mask;
	const struct uop *to = opened_part(w);
	w->at = to ? to : aside.at;
	if (!to && !leave_others(w, busy))
		return;
	w->part[w->n_parts++] = aside;
	w->worker->fuel = FUEL_TOGETHER; /* it will not be the last time */
}

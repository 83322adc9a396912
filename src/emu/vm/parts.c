/*
 * Parts of a warp that wait for its other lanes. At a barrier of the block, as an H200 has it
 * (tests/programs/divergent_barriers.cu): the part waits, the others go on as far as they come,
 * to their end, to a barrier too, or to where they would meet the lanes that wait; then the warp
 * has arrived. When the barrier opens, the parts go on one after the other. At an instruction of
 * the whole warp a part waits for the lanes that it names (exchange.c). All of it in the
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
	return !ir_of_machine_code(ir) && ir->ops[u->xop].guard < 0;
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
			vm_restore_frame(w, &e, mask);
			vm_call_done(w, &e);
		}
		if (mask && (e.block < 0 || e.block != e.rc))
			return run_lanes(w, mask, e.rc, block_start(w, e.block));
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
		vm_note(w, first->at - 1, FAULT_BARRIER_DIVERGED, lane);
	barrier_arrive(w, b);
	barrier_wait(w, b, first->at);
}

/* --- lanes that wait at an instruction of the whole warp --- */

bool parts_at_barrier(const struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++)
		if (!w->part[i].opened && !w->part[i].wanted)
			return true;
	return false;
}

/* Some wait for lanes that never come: a GPU would wait for ever. They go on without. */
static bool give_up(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++) {
		uint32_t lanes;
		if (w->part[i].opened || !w->part[i].wanted)
			continue;
		const uint32_t parts = exchange_alike(w, i, &lanes);
		const unsigned lane = (unsigned)__builtin_ctz(lanes);
		const uint64_t never = w->part[i].wanted & w->live & ~lanes;
		if (!w->worker->grid->lenient) {
			vm_fault(w, w->part[i].at, FAULT_WARP_DIVERGED, lane);
			w->worker->fault.address = never;
			return false;
		}
		vm_note(w, w->part[i].at, FAULT_WARP_DIVERGED, lane)->address = never;
		exchange_open(w, parts, false);
		return true;
	}
	return false;
}

static uint32_t lanes_of_parts(const struct warp *w)
{
	uint32_t lanes = 0;
	for (uint32_t i = 0; i < w->n_parts; i++)
		lanes |= w->part[i].mask;
	return lanes;
}

/* Entries of the stack that all lanes have left; they would fill it where lanes go on in turn. */
static void drop_empty(struct warp *w)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->depth; i++)
		if (w->stack[i].mask & w->live || w->stack[i].call)
			w->stack[n++] = w->stack[i];
	w->depth = n;
}

/* Lanes that wait to meet others, and need not: as on a GPU, where each thread goes on at some
 * time. NULL = there are none. */
static const struct uop *leave_others(struct warp *w, uint32_t busy)
{
	drop_empty(w);
	for (uint32_t i = w->depth; i-- > 0;) {
		struct simt_entry *e = &w->stack[i];
		const uint32_t mask = e->mask & w->live & ~busy;
		busy |= e->mask;
		if (!mask || e->block < 0 || (e->block == e->rc && i == 0) ||
		    w->depth + 2 * lane_popc32(mask) > w->stack_entries)
			continue;
		e->mask &= ~mask;
		if (e->call)
			vm_restore_frame(w, e, mask);
		return run_lanes(w, mask, e->rc, block_start(w, e->block));
	}
	return NULL;
}

static bool waits_for_lanes(const struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++)
		if (w->part[i].wanted && !w->part[i].opened)
			return true;
	return false;
}

const struct uop *parts_next(struct warp *w)
{
	const struct uop *to = exchange_opened(w);
	if (!to && exchange_met(w))
		to = exchange_opened(w);
	if (!to)
		to = free_lanes(w);
	if (!to && exchange_met(w)) /* some may have had nothing left to do but end */
		to = exchange_opened(w);
	if (!to)
		to = exchange_asking(w);
	if (!to && waits_for_lanes(w)) {
		to = leave_others(w, lanes_of_parts(w));
		if (!to && give_up(w))
			to = exchange_opened(w);
	}
	if (to || w->state == WARP_STOP)
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

/* __syncwarp(): lanes that wait for others name themselves as well. False: a fault. */
static bool sync_names_all(struct warp *w, const struct uop *u)
{
	const uint32_t others = w->live & ~w->mask;
	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t wanted = exchange_members(w, u, (unsigned)__builtin_ctz(m));
		if (wanted & others && !exchange_names_all(w, u, m & -m, wanted))
			return false;
	}
	return true;
}

const struct uop *parts_exchange(struct warp *w, const struct uop *u)
{
	if (w->image->ir.ops[u->xop].kind == X_WARPSYNC && w->program->kind == PROGRAM_REFERENCE &&
	    !(w->given & w->mask) && !sync_names_all(w, u))
		return NULL;
	const struct uop *to = exchange_come(w, u);
	return to ? to : parts_next(w);
}

void parts_opened(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++)
		w->part[i].opened |= !w->part[i].wanted;
	exchange_join(w);
	w->at = parts_next(w);
}

/* --- lanes that wait in a loop for others of their warp --- */

/* These do not wait for lanes elsewhere. */
static bool needs_all_lanes(const struct xop *x)
{
	return x->kind == X_ELECT || x->kind == X_TENSOR || x->kind == X_ARRIVE;
}

/* A loop that only asks, or may wait and has gone on for long; behind it no lane has to be there
 * for others. */
static bool spins(struct warp *w, const struct ir *ir, int32_t block)
{
	if (!ir->blocks[block].asks && !(ir->blocks[block].may_wait && w->rounds++ >= MOST_ROUNDS))
		return false;
	for (uint32_t o = ir->blocks[block].first; o < ir->n_ops; o++)
		if (needs_all_lanes(&ir->ops[o]))
			return false;
	return true;
}

void parts_give_way(struct warp *w)
{
	const struct image *im = w->image;
	const int32_t block = (int32_t)im->segments[im->op_segment[w->at->xop]].block;
	if (w->n_parts == 32 || !spins(w, &im->ir, block))
		return;
	if (must_take_turns(w))
		deoptimise_here(w, w->at);
	const struct warp_part aside = {
		.mask = w->mask, .rc = w->rc, .opened = true, .asks = true, .at = block_start(w, block)
	};
	const struct uop *to = exchange_opened(w);
	if (!to && exchange_met(w))
		to = exchange_opened(w);
	if (!to)
		to = leave_others(w, aside.mask | lanes_of_parts(w));
	if (!to)
		to = exchange_asking(w);
	w->at = to ? to : aside.at;
	if (!to)
		return;
	w->part[w->n_parts++] = aside;
	w->rounds = 0;
	w->worker->fuel = FUEL_TOGETHER; /* it will not be the last time */
}

/*
 * Barriers as a warp meets them: it arrives, and waits or goes on. When a barrier opens is
 * block.c's business.
 */
#include "emu/vm/handler.h"

/* Scalar or 32 lanes: barriers take the value of the first active lane. */
static uint32_t first_value(const struct warp *w, uint32_t slot, bool scalar)
{
	const mem_u32 *v = frame(w, slot);
	return v[scalar ? 0 : __builtin_ctz(w->mask)];
}

/* Have as many threads come to the barrier of @u as it counts, and it is to open? Who comes now
 * waits until it has, and is one of the next. */
static inline bool is_full(const struct warp *w, const struct uop *u)
{
	const struct block_barrier *b =
		&w->worker->barrier[first_value(w, u->a, u->y & 1) % N_BARRIERS];
	return b->expected && b->arrived >= b->expected;
}

/* a number, b thread count (0 = all), c predicate; y bits: 1 a is scalar, 2 b is scalar, 4 red,
 * 8 inverted predicate */
static inline struct block_barrier *come_to_barrier(struct warp *w, const struct uop *u)
{
	const uint32_t number = first_value(w, u->a, u->y & 1) % N_BARRIERS;
	const uint32_t count = first_value(w, u->b, u->y & 2);
	struct block_barrier *b = &w->worker->barrier[number];
	if (number >= w->worker->barriers_met)
		w->worker->barriers_met = number + 1;
	w->barrier = number;
	b->expected = count;
	if (__builtin_expect(u->y & 4, 0)) {
		const uint32_t p = (PRED(u->c) ^ (u->y & 8 ? 0xffffffffu : 0)) & w->mask;
		b->ones += lane_popc32(p);
		b->seen += lane_popc32(w->mask);
	}
	return b;
}

/* Only some lanes of the warp. */
COLD HANDLER(barrier_of_a_part)
{
	const uint32_t number = w->barrier;
	if (!parts_may_wait(w, u))
		return vm_fault(w, u, FAULT_BARRIER_DIVERGED, (unsigned)__builtin_ctz(mask ? mask : 1));
	if (must_take_turns(w))
		CONTINUE(deoptimise_here(w, u)); /* and comes here again */
	come_to_barrier(w, u);
	if (parts_at_barrier(w) && w->barrier != number) /* one waits at another barrier */
		return vm_fault(w, u, FAULT_BARRIER_DIVERGED, (unsigned)__builtin_ctz(mask));
	CONTINUE(parts_wait(w, u));
}

/* Machine code: all lanes are there, if some under a guard that does not hold, as where CUDA has a
 * barrier in a branch. The warp arrives (tests/programs/divergent_barriers.cu). */
static inline bool all_are_there(const struct warp *w, const struct uop *u)
{
	const struct ir *ir = &w->image->ir;
	return ir_of_machine_code(ir) && ir->ops[u->xop].guard >= 0 && w->guard_saved == w->live;
}

HANDLER(barrier)
{
	if (is_full(w, u))
		return yield_warp(w, u);
	if (mask != w->live && !all_are_there(w, u))
		return barrier_of_a_part(w, u, mask);
	struct block_barrier *b = come_to_barrier(w, u);
	barrier_arrive(w, b);
	barrier_wait(w, b, u + 1);
	return NULL;
}

HANDLER(arrive_full)
{
	if (is_full(w, u))
		return yield_warp(w, u);
	barrier_arrive(w, come_to_barrier(w, u));
	NEXT_full(u + 1);
}
HANDLER(arrive_masked)
{
	if (is_full(w, u))
		return yield_warp(w, u);
	barrier_arrive(w, come_to_barrier(w, u));
	NEXT_masked(u + 1);
}

/* RESULT: d scalar (or predicate, y 1) = result of the reduction; x.u operation */
static uint32_t barrier_result(const struct warp *w, const struct uop *u)
{
	const struct block_barrier *b = &w->worker->barrier[w->barrier];
	switch ((enum ptx_atom)u->x.u) {
	case ATOM_AND: return b->result_ones == b->result_seen ? 0xffffffffu : 0;
	case ATOM_OR: return b->result_ones ? 0xffffffffu : 0;
	default: return b->result_ones;
	}
}
HANDLER(result_any)
{
	SCALAR64(u->d) = barrier_result(w, u);
	CONTINUE(u + 1);
}
HANDLER(result_pred_any)
{
	PRED(u->d) = (PRED(u->d) & ~mask) | (barrier_result(w, u) & mask);
	CONTINUE(u + 1);
}

const struct barrier_handlers vm_barrier_handlers = {
	.sync = { barrier, barrier },
	.arrive = { arrive_full, arrive_masked },
	.result = { result_any, result_any },
	.result_pred = { result_pred_any, result_pred_any },
};

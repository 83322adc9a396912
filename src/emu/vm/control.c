/*
 * Control flow of a warp: sections, branches, divergence, guards, exits, barriers.
 *
 * Divergence uses a stack of {lanes, block, reconvergence block}: one side of a split runs to the
 * reconvergence block (the immediate post-dominator, ptx.h) before the other side starts; there
 * the lanes go on together. The fall-through side goes first, the order of the source text.
 */
#include "emu/vm/handler.h"

#include <assert.h>

/* --- entering and leaving blocks --- */

const struct uop *vm_pop(struct warp *w)
{
	while (w->depth) {
		const struct simt_entry *e = &w->stack[--w->depth];
		const uint32_t mask = e->mask & w->live;
		if (!mask)
			continue;
		if (e->block >= 0 && e->block == e->rc)
			continue; /* they are where the entry below waits for them */
		w->mask = mask;
		w->rc = e->rc;
		return &w->program->uops[w->program->block_uop[e->block]];
	}
	w->mask = 0;
	w->state = WARP_DONE;
	return NULL;
}

/* Goes on at the uop of whatever lanes are next. */
#define CONTINUE(U)                    \
	do {                               \
		const struct uop *next_ = (U); \
		if (!next_)                    \
			return NULL;               \
		mask = w->mask;                \
		if (mask == 0xffffffffu)       \
			NEXT_full(next_);          \
		NEXT_masked(next_);            \
	} while (0)

/* Out of the way of the common case; called in tail position. */
#define COLD __attribute__((noinline))

/* ENTER: y section, a block (or -1: inside one), b length */
#define ENTER_FULL(name, kind)     \
	HANDLER(name)                  \
	{                              \
		(void)mask;                \
		w->sec[u->y].full[kind]++; \
		w->ticks += u->b;          \
		NEXT_full(u + 1);          \
	}
ENTER_FULL(enter_bold_full, PROGRAM_BOLD)
ENTER_FULL(enter_full, PROGRAM_SAFE)
COLD HANDLER(reconverge)
{
	(void)u;
	CONTINUE(vm_pop(w));
}
HANDLER(enter_masked)
{
	if ((int32_t)u->a >= 0 && (int32_t)u->a == w->rc)
		EMU_JUMP reconverge(w, u, mask);
	w->sec[u->y].warps++;
	w->sec[u->y].lanes += lane_popc32(mask);
	w->ticks += u->b;
	NEXT_masked(u + 1);
}
const struct handler vm_enter = { enter_full, enter_masked };
const struct handler vm_enter_bold = { enter_bold_full, enter_masked };

HANDLER(enter_plain_full)
{
	(void)mask;
	w->sec[u->y].warps++;
	w->sec[u->y].lanes += 32;
	w->ticks += u->b;
	NEXT_full(u + 1);
}
const struct handler vm_enter_plain = { enter_plain_full, enter_masked };

/* Lets the block's scheduler look around: other warps, cancellation, time. */
static const struct uop *yield(struct warp *w, const struct uop *to)
{
	w->at = to;
	w->state = WARP_YIELD;
	return NULL;
}

/* JUMP: x.to target */
HANDLER(jump_full)
{
	const struct uop *to = u->x.to;
	if (--w->fuel < 0)
		return yield(w, to);
	NEXT_full(to);
}
HANDLER(jump_masked)
{
	const struct uop *to = u->x.to;
	if (--w->fuel < 0)
		return yield(w, to);
	NEXT_masked(to);
}
const struct handler vm_jump = { jump_full, jump_masked };

static void push(struct warp *w, uint32_t mask, int32_t block, int32_t rc)
{
	assert(w->depth < SIMT_DEPTH);
	w->stack[w->depth++] = (struct simt_entry){ mask, block, rc };
}

/* Splits the warp: returns the uop where the first side goes on. */
static const struct uop *split(struct warp *w, const struct uop *u, uint32_t taken)
{
	const uint32_t block = u->y;
	const struct xblock *b = &w->image->ir.blocks[block];
	const uint32_t fall = w->mask & ~taken;
	const int32_t rc = b->reconv >= 0 ? b->reconv : w->rc;
	const int32_t to = b->succ[0], next = b->succ[1];
	w->worker->divergent[block]++;
	w->guards[u->xop] += lane_popc32(fall);
	if (b->reconv >= 0 && b->reconv != w->rc)
		push(w, w->mask, b->reconv, w->rc);
	w->rc = rc;
	int32_t first = next;
	w->mask = fall;
	if (next == rc) {
		first = to;
		w->mask = taken;
	} else if (to != rc) {
		push(w, taken, to, rc);
	}
	return &w->program->uops[w->program->block_uop[first]];
}

COLD HANDLER(branch_split) /* mask: the lanes that take the branch */
{
	const struct uop *to = split(w, u, mask);
	if (--w->fuel < 0) /* a split may be the only branch of an endless loop */
		return yield(w, to);
	CONTINUE(to);
}

/* BRANCH: a predicate, b all ones to invert it, x.to target, y block it ends; falls to u + 1 */
HANDLER(branch_full)
{
	const uint32_t taken = PRED(u->a) ^ u->b;
	if (taken == 0xffffffffu) {
		const struct uop *to = u->x.to;
		if (--w->fuel < 0)
			return yield(w, to);
		NEXT_full(to);
	}
	if (taken == 0) {
		w->guards[u->xop] += 32;
		NEXT_full(u + 1);
	}
	(void)mask;
	EMU_JUMP branch_split(w, u, taken);
}
HANDLER(branch_masked)
{
	const uint32_t taken = (PRED(u->a) ^ u->b) & mask;
	if (taken == mask) {
		const struct uop *to = u->x.to;
		if (--w->fuel < 0)
			return yield(w, to);
		NEXT_masked(to);
	}
	if (taken == 0) {
		w->guards[u->xop] += lane_popc32(mask);
		NEXT_masked(u + 1);
	}
	EMU_JUMP branch_split(w, u, taken);
}
const struct handler vm_branch = { branch_full, branch_masked };

/* BRANCH of the bold program that is taken not to split the warp. If it does, the safe one goes on.
 */
COLD HANDLER(go_safe)
{
	w->worker->warps_left++;
	CONTINUE(program_leave(w, u, PROGRAM_SAFE, false));
}
HANDLER(branch_bold_full)
{
	const uint32_t taken = PRED(u->a) ^ u->b;
	if (taken == 0xffffffffu) {
		const struct uop *to = u->x.to;
		if (--w->fuel < 0)
			return yield(w, to);
		NEXT_full(to);
	}
	if (taken == 0) {
		w->guards[u->xop] += 32;
		NEXT_full(u + 1);
	}
	EMU_JUMP go_safe(w, u, mask);
}
HANDLER(branch_bold_masked)
{
	const uint32_t taken = (PRED(u->a) ^ u->b) & mask;
	if (taken == mask) {
		const struct uop *to = u->x.to;
		if (--w->fuel < 0)
			return yield(w, to);
		NEXT_masked(to);
	}
	if (taken == 0) {
		w->guards[u->xop] += lane_popc32(mask);
		NEXT_masked(u + 1);
	}
	EMU_JUMP go_safe(w, u, mask);
}
const struct handler vm_branch_bold = { branch_bold_full, branch_bold_masked };

/* BRANCH TABLE: a 32 lane indexes, b 1 = scalar, x.p struct xop, y block */
static const struct uop *branch_table(struct warp *w, const struct uop *u)
{
	const struct xblock *b = &w->image->ir.blocks[u->y];
	const mem_u32 *index = frame(w, u->a);
	const uint32_t all = w->mask;
	int32_t rc = b->reconv >= 0 ? b->reconv : w->rc;
	uint32_t left = all;
	bool first = true;
	int32_t go = -1;
	uint32_t go_mask = 0;
	while (left) {
		const unsigned lane = (unsigned)__builtin_ctz(left);
		const uint32_t i = index[u->b ? 0 : lane];
		if (i >= b->n_targets)
			return vm_fault(w, u, FAULT_INDEX, lane);
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1) {
			const unsigned k = (unsigned)__builtin_ctz(m);
			const uint32_t j = index[u->b ? 0 : k];
			if (j < b->n_targets && b->targets[j] == b->targets[i])
				same |= 1u << k;
		}
		left &= ~same;
		if (first && !left) { /* nobody splits off */
			return &w->program->uops[w->program->block_uop[b->targets[i]]];
		}
		if (first) {
			w->worker->divergent[u->y]++;
			if (b->reconv >= 0 && b->reconv != w->rc)
				push(w, all, b->reconv, w->rc);
			w->rc = rc;
			first = false;
		}
		if (b->targets[i] == rc)
			continue;
		if (go >= 0)
			push(w, go_mask, go, rc);
		go = b->targets[i];
		go_mask = same;
	}
	w->mask = go_mask;
	return &w->program->uops[w->program->block_uop[go]];
}
HANDLER(branch_table_any)
{
	const struct uop *to = branch_table(w, u);
	if (to && --w->fuel < 0)
		return yield(w, to);
	CONTINUE(to);
}
const struct handler vm_branch_table = { branch_table_any, branch_table_any };

/* EXIT */
HANDLER(exit_any)
{
	(void)u;
	w->live &= ~mask;
	CONTINUE(vm_pop(w));
}
HANDLER(exit_full)
{
	(void)u;
	(void)mask;
	w->live = 0;
	w->mask = 0;
	w->state = WARP_DONE;
	return NULL;
}
const struct handler vm_exit = { exit_full, exit_any };

/* EXIT IF: a predicate, b all ones to invert it */
HANDLER(exit_if)
{
	const uint32_t gone = (PRED(u->a) ^ u->b) & mask;
	w->live &= ~gone;
	w->guards[u->xop] += lane_popc32(gone);
	if (gone == mask)
		CONTINUE(vm_pop(w));
	w->mask = mask & ~gone;
	CONTINUE(u + 1);
}
HANDLER(exit_if_full)
{
	if ((PRED(u->a) ^ u->b) == 0)
		NEXT_full(u + 1);
	return exit_if(w, u, mask);
}
const struct handler vm_exit_if = { exit_if_full, exit_if };

HANDLER(trap)
{
	return vm_fault(w, u, FAULT_TRAP, (unsigned)__builtin_ctz(mask));
}
const struct handler vm_trap = { trap, trap };

HANDLER(nop_full)
{
	NEXT_full(u + 1);
}
HANDLER(nop_masked)
{
	NEXT_masked(u + 1);
}
const struct handler vm_nop = { nop_full, nop_masked };

/* WARP SYNC: orders what the lanes did before and do after it */
HANDLER(warp_sync_full)
{
	w->syncs++;
	NEXT_full(u + 1);
}
HANDLER(warp_sync_masked)
{
	w->syncs++;
	NEXT_masked(u + 1);
}
const struct handler vm_warp_sync = { warp_sync_full, warp_sync_masked };

/* --- guards --- */

/* GUARD: a predicate, b all ones to invert it, c 1 = count lanes, x.to uop behind GUARD END, y
 * operation */
HANDLER(guard)
{
	const uint32_t on = (PRED(u->a) ^ u->b) & mask;
	if (u->c)
		w->guards[u->y] += lane_popc32(on);
	if (!on)
		CONTINUE(u->x.to);
	w->guard_saved = mask;
	w->mask = mask = on;
	NEXT_masked(u + 1);
}
const struct handler vm_guard = { guard, guard };

HANDLER(guard_end)
{
	(void)mask;
	w->mask = w->guard_saved;
	CONTINUE(u + 1);
}
const struct handler vm_guard_end = { guard_end, guard_end };

/* --- assumptions --- */

/*
 * CHECK: scalar a plus any lane of pattern x must be a 32-bit number (signed or not) without
 * wrapping, since the next operation widens it. If not, the warp goes on in the plain program.
 * b 1 = inside a guard.
 */
COLD HANDLER(go_plain)
{
	CONTINUE(program_leave(w, u, PROGRAM_PLAIN, u->b));
}

#define CHECK(name, T, low, high, go_on)                                                \
	static bool name##_holds(const struct warp *w, const struct uop *u)                 \
	{                                                                                   \
		const int64_t base = (int64_t)(T)SCALAR32(u->a);                                \
		return base + u->x.pattern->min >= (low) && base + u->x.pattern->max <= (high); \
	}                                                                                   \
	HANDLER(name##_full)                                                                \
	{                                                                                   \
		if (!name##_holds(w, u))                                                        \
			EMU_JUMP go_on(w, u, mask);                                                 \
		NEXT_full(u + 1);                                                               \
	}                                                                                   \
	HANDLER(name##_masked)                                                              \
	{                                                                                   \
		if (!name##_holds(w, u))                                                        \
			EMU_JUMP go_on(w, u, mask);                                                 \
		NEXT_masked(u + 1);                                                             \
	}                                                                                   \
	const struct handler vm_##name = { name##_full, name##_masked };
CHECK(check_s32, int32_t, INT32_MIN, INT32_MAX, go_plain)
CHECK(check_u32, uint32_t, 0, (int64_t)UINT32_MAX, go_plain)
CHECK(check_plus, int32_t, 0, INT32_MAX, go_safe) /* no lane is negative: shape_assumed() */

/* TRACE: before each instruction of the plain program */
HANDLER(trace_full)
{
	if (w->worker->trace && w->number == 0)
		trace_step(w, u);
	NEXT_full(u + 1);
}
HANDLER(trace_masked)
{
	if (w->worker->trace && w->number == 0)
		trace_step(w, u);
	NEXT_masked(u + 1);
}
const struct handler vm_trace = { trace_full, trace_masked };

/* --- barriers --- */

/* Scalar or 32 lanes: barriers take the value of the first active lane. */
static uint32_t first_value(const struct warp *w, uint32_t slot, bool scalar)
{
	const mem_u32 *v = frame(w, slot);
	return v[scalar ? 0 : __builtin_ctz(w->mask)];
}

/* a number, b thread count (0 = all), c predicate; y bits: 1 a is scalar, 2 b is scalar, 4 red,
 * 8 inverted predicate */
static struct block_barrier *arrive(struct warp *w, const struct uop *u)
{
	const uint32_t number = first_value(w, u->a, u->y & 1) % N_BARRIERS;
	const uint32_t count = first_value(w, u->b, u->y & 2);
	struct block_barrier *b = &w->worker->barrier[number];
	w->barrier = number;
	b->expected = count;
	b->arrived += 32; /* barriers count whole warps */
	if (u->y & 4) {
		const uint32_t p = (PRED(u->c) ^ (u->y & 8 ? 0xffffffffu : 0)) & w->mask;
		b->ones += lane_popc32(p);
		b->seen += lane_popc32(w->mask);
	}
	return b;
}
HANDLER(barrier)
{
	if (mask != w->live)
		return vm_fault(w, u, FAULT_BARRIER_DIVERGED, (unsigned)__builtin_ctz(mask ? mask : 1));
	arrive(w, u);
	w->at = u + 1;
	w->state = WARP_BARRIER;
	return NULL;
}
const struct handler vm_barrier = { barrier, barrier };

HANDLER(arrive_full)
{
	arrive(w, u);
	NEXT_full(u + 1);
}
HANDLER(arrive_masked)
{
	arrive(w, u);
	NEXT_masked(u + 1);
}
const struct handler vm_arrive = { arrive_full, arrive_masked };

/* BARRED: d scalar (or predicate, y 1) = result of the reduction; x.u operation */
static uint32_t barrier_result(const struct warp *w, const struct uop *u)
{
	const struct block_barrier *b = &w->worker->barrier[w->barrier];
	switch ((enum ptx_atom)u->x.u) {
	case ATOM_AND: return b->result_ones == b->result_seen ? 0xffffffffu : 0;
	case ATOM_OR: return b->result_ones ? 0xffffffffu : 0;
	default: return b->result_ones;
	}
}
HANDLER(barred_any)
{
	SCALAR64(u->d) = barrier_result(w, u);
	CONTINUE(u + 1);
}
const struct handler vm_barred = { barred_any, barred_any };
HANDLER(barred_pred_any)
{
	PRED(u->d) = (PRED(u->d) & ~mask) | (barrier_result(w, u) & mask);
	CONTINUE(u + 1);
}
const struct handler vm_barred_pred = { barred_pred_any, barred_pred_any };

/* --- running --- */

void vm_resume(struct warp *w)
{
	const struct uop *u = w->at;
	w->state = WARP_RUN;
	w->fuel = FUEL;
#ifdef EMU_TAIL_CALLS
	(w->mask == 0xffffffffu ? u->full : u->masked)(w, u, w->mask);
#else
	while (u)
		u = (w->mask == 0xffffffffu ? u->full : u->masked)(w, u, w->mask);
#endif
}

const struct uop *vm_fault(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane)
{
	struct fault *f = &w->worker->fault;
	f->kind = kind;
	f->block = w->worker->block;
	f->warp = w->number;
	f->lane = lane;
	f->xop = u->xop;
	w->state = WARP_STOP;
	return NULL;
}

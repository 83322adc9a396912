/*
 * Control flow of a warp beside branches (branch.c): segments, exits, guards, and checks of what
 * the program assumes.
 */
#include "emu/vm/handler.h"

/* --- segments --- */

/* ENTER: y segment, a block (or -1: inside one), b length */
#define ENTER_FULL(name, kind)          \
	HANDLER(name)                       \
	{                                   \
		(void)mask;                     \
		w->segments[u->y].full[kind]++; \
		w->ticks += u->b;               \
		NEXT_full(u + 1);               \
	}
ENTER_FULL(enter_speculative_full, PROGRAM_SPECULATIVE)
ENTER_FULL(enter_conservative_full, PROGRAM_CONSERVATIVE)
COLD HANDLER(reconverge)
{
	(void)u;
	CONTINUE(vm_pop(w));
}
HANDLER(enter_masked)
{
	if ((int32_t)u->a >= 0 && (int32_t)u->a == w->rc)
		EMU_JUMP reconverge(w, u, mask);
	w->segments[u->y].warps++;
	w->segments[u->y].lanes += lane_popc32(mask);
	w->ticks += u->b;
	NEXT_masked(u + 1);
}

/* Nothing changes a path that has reached its length. */
static inline bool is_traced(const struct warp *w)
{
	return w->worker->trace && !w->worker->trace->cut && w->number == 0;
}

/* Every byte of shared memory has a value, or there is none: care would find nothing any more. */
static bool needs_no_care(const struct warp *w, const struct uop *u)
{
	const struct worker *wk = w->worker;
	return (!wk->shadow || wk->shadow->full) && !wk->race && !w->stays_careful && !is_traced(w) &&
	       (int32_t)u->a >= 0 && !w->calls && !w->n_parts && !wk->grid->reference_only &&
	       (!w->takes_turns || (!w->depth && !w->n_waiting));
}
/* They go on as in other blocks, from here on: where to; NULL = not yet. */
static inline const struct uop *end_of_care(struct warp *w, const struct uop *u)
{
	return needs_no_care(w, u) ? reoptimise(w, u) : NULL;
}
/* In the careful programs. */
HANDLER(enter_careful_masked)
{
	if ((int32_t)u->a >= 0 && (int32_t)u->a == w->rc)
		EMU_JUMP reconverge(w, u, mask);
	const struct uop *to = end_of_care(w, u);
	if (to)
		NEXT_masked(to);
	EMU_JUMP enter_masked(w, u, mask);
}
HANDLER(enter_checked_full)
{
	const struct uop *to = end_of_care(w, u);
	if (to)
		NEXT_full(to);
	w->segments[u->y].full[PROGRAM_CHECKED]++;
	w->ticks += u->b;
	NEXT_full(u + 1);
}
HANDLER(enter_reference_full)
{
	const struct uop *to = end_of_care(w, u);
	if (to)
		NEXT_full(to);
	w->segments[u->y].warps++;
	w->segments[u->y].lanes += 32;
	w->ticks += u->b;
	NEXT_full(u + 1);
}

/* --- exits --- */

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

HANDLER(trap)
{
	return vm_fault(w, u, FAULT_TRAP, (unsigned)__builtin_ctz(mask));
}

/* DIVISOR: a slot, b its kind; only looked at, the division gives what the hardware gives */
COLD static void note_division(struct warp *w, const struct uop *u, uint32_t zero)
{
	vm_note(w, u, FAULT_DIVISION, (unsigned)__builtin_ctz(zero));
}
HANDLER(divisor)
{
	uint32_t zero = 0;
	switch ((enum divisor_kind)u->b) {
	case DIVISOR_S32: zero = SCALAR32(u->a) ? 0 : mask; break;
	case DIVISOR_S64: zero = SCALAR64(u->a) ? 0 : mask; break;
	case DIVISOR_L32:
		for (unsigned i = 0; i < 32; i++)
			zero |= (uint32_t)(((const mem_u32 *)frame(w, u->a))[i] == 0) << i;
		break;
	case DIVISOR_L64:
		for (unsigned i = 0; i < 32; i++)
			zero |= (uint32_t)(((const mem_u64 *)frame(w, u->a))[i] == 0) << i;
		break;
	}
	if (zero & mask)
		note_division(w, u, zero & mask);
	NEXT_UOP;
}

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

/* The same in front of an access of memory, number d, that the segment counts where all lanes do
 * it: with fewer, it counts itself. */
HANDLER(guard_access_full)
{
	const uint32_t on = PRED(u->a) ^ u->b;
	if (on != 0xffffffffu) {
		w->mem[u->d].slow[w->program->kind]++;
		EMU_JUMP guard(w, u, mask);
	}
	if (u->c)
		w->guards[u->y] += 32;
	w->guard_saved = mask;
	NEXT_full(u + 1);
}

HANDLER(guard_end)
{
	(void)mask;
	w->mask = w->guard_saved;
	CONTINUE(u + 1);
}

/* --- assumptions --- */

/*
 * CHECK: scalar a plus any lane of pattern x must be a 32-bit number (signed or not) without
 * wrapping, since the next operation widens it. If not, the warp is deoptimised to the reference
 * program. b 1 = inside a guard.
 */
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
	}
CHECK(check_s32, int32_t, INT32_MIN, INT32_MAX, deoptimise_to_reference)
CHECK(check_u32, uint32_t, 0, (int64_t)UINT32_MAX, deoptimise_to_reference)
CHECK(check_positive, int32_t, 0, INT32_MAX,
      deoptimise_to_conservative) /* no lane is negative: affine_assumed() */

/* TRACE: before each instruction of the reference program */
HANDLER(trace_full)
{
	if (is_traced(w))
		warp_trace_step(w, u);
	NEXT_full(u + 1);
}
HANDLER(trace_masked)
{
	if (is_traced(w))
		warp_trace_step(w, u);
	NEXT_masked(u + 1);
}

const struct control_handlers vm_control_handlers = {
	.enter = {
		[PROGRAM_SPECULATIVE] = { enter_speculative_full, enter_masked },
		[PROGRAM_CONSERVATIVE] = { enter_conservative_full, enter_masked },
		[PROGRAM_CHECKED] = { enter_checked_full, enter_careful_masked },
		[PROGRAM_REFERENCE] = { enter_reference_full, enter_careful_masked },
	},
	.exit = { exit_full, exit_any },
	.exit_if = { exit_if_full, exit_if },
	.trap = { trap, trap },
	.divisor = { divisor, divisor },
	.guard = { guard, guard },
	.guard_access = { guard_access_full, guard },
	.guard_end = { guard_end, guard_end },
	.check_s32 = { check_s32_full, check_s32_masked },
	.check_u32 = { check_u32_full, check_u32_masked },
	.check_positive = { check_positive_full, check_positive_masked },
	.trace = { trace_full, trace_masked },
};

/*
 * Handlers for registers that are one scalar per warp: every operation of ops.def once, whatever
 * the mask. d, a, b, c are offsets of scalars; x.i is the offset of a fourth source.
 */
#include "emu/vm/handler.h"

#include <fenv.h>

#define SRC(name, T, off) const VALUE_##T name = GET_##T(*(const LANE_##T *)frame(w, off));
#define BODY(MODE, id, D, sources, expr)                                  \
	HANDLER(uni_##id##_##MODE)                                            \
	{                                                                     \
		(void)mask;                                                       \
		sources *(LANE_##D *)frame(w, u->d) = PUT_##D((VALUE_##D)(expr)); \
		NEXT_##MODE(u + 1);                                               \
	}
#define BOTH(id, D, sources, expr) \
	BODY(full, id, D, sources, expr) BODY(masked, id, D, sources, expr)
#define OP1(id, D, A, expr) BOTH(id, D, SRC(a, A, u->a), expr)
#define OP2(id, D, A, B, expr) BOTH(id, D, SRC(a, A, u->a) SRC(b, B, u->b), expr)
#define OP3(id, D, A, B, C, expr) BOTH(id, D, SRC(a, A, u->a) SRC(b, B, u->b) SRC(c, C, u->c), expr)
#define OP4(id, D, A, B, C, E, expr) \
	BOTH(id, D, SRC(a, A, u->a) SRC(b, B, u->b) SRC(c, C, u->c) SRC(e, E, (uint32_t)u->x.i), expr)
/* d: predicate, x.u: all ones to invert the result */
#define CMP(id, T, expr)                                                                  \
	HANDLER(uni_##id##_full)                                                              \
	{                                                                                     \
		(void)mask;                                                                       \
		SRC(a, T, u->a)                                                                   \
		SRC(b, T, u->b) PRED(u->d) = ((expr) ? 0xffffffffu : 0) ^ (uint32_t)u->x.u;       \
		NEXT_full(u + 1);                                                                 \
	}                                                                                     \
	HANDLER(uni_##id##_masked)                                                            \
	{                                                                                     \
		SRC(a, T, u->a)                                                                   \
		SRC(b, T, u->b) const uint32_t r = ((expr) ? 0xffffffffu : 0) ^ (uint32_t)u->x.u; \
		PRED(u->d) = (PRED(u->d) & ~mask) | (r & mask);                                   \
		NEXT_masked(u + 1);                                                               \
	}
#include "emu/lane/ops.def"

/* Additions in a row, mostly each to what the one before gave: that stays in a register. */
HANDLER(uni_adds)
{
	const struct uop *const end = u + u->c;
	uint64_t sum = SCALAR64(u->a) + SCALAR64(u->b);
	(void)mask;
	SCALAR64(u->d) = sum;
	for (u++; u < end; u++) {
		sum = (u->y ? sum : SCALAR64(u->a)) + SCALAR64(u->b);
		SCALAR64(u->d) = sum;
	}
	NEXT_full(u);
}

/* Predicates: d = (a ^ low half of x) op (b ^ high half of x), only the active lanes. */
#define PRED_OP(name, expr)                                       \
	HANDLER(name##_full)                                          \
	{                                                             \
		(void)mask;                                               \
		const uint32_t a = PRED(u->a) ^ (uint32_t)u->x.u;         \
		const uint32_t b = PRED(u->b) ^ (uint32_t)(u->x.u >> 32); \
		(void)b;                                                  \
		PRED(u->d) = (expr);                                      \
		NEXT_full(u + 1);                                         \
	}                                                             \
	HANDLER(name##_masked)                                        \
	{                                                             \
		const uint32_t a = PRED(u->a) ^ (uint32_t)u->x.u;         \
		const uint32_t b = PRED(u->b) ^ (uint32_t)(u->x.u >> 32); \
		(void)b;                                                  \
		PRED(u->d) = (PRED(u->d) & ~mask) | ((expr) & mask);      \
		NEXT_masked(u + 1);                                       \
	}
PRED_OP(pred_mov, a)
PRED_OP(pred_and, a &b)
PRED_OP(pred_or, a | b)
PRED_OP(pred_xor, a ^ b)
/* d = predicate c (inverted by x) of the active lanes, which agree ? a : b */
#define SELECT(MODE)                                                  \
	HANDLER(uni_select_##MODE)                                        \
	{                                                                 \
		const bool p = ((PRED(u->c) ^ (uint32_t)u->x.u) & mask) != 0; \
		SCALAR64(u->d) = SCALAR64(p ? u->a : u->b);                   \
		NEXT_##MODE(u + 1);                                           \
	}
SELECT(full)
SELECT(masked)

/* d = cycles, by the instructions this warp has begun, b each; x.i corrects for the segment,
 * counted as a whole */
#define CLOCK(MODE)                                            \
	HANDLER(uni_clock_##MODE)                                  \
	{                                                          \
		(void)mask;                                            \
		SCALAR64(u->d) = u->b * (w->ticks + (uint64_t)u->x.i); \
		NEXT_##MODE(u + 1);                                    \
	}
CLOCK(full)
CLOCK(masked)

const struct uniform_handlers vm_uniform_handlers = {
	.adds = uni_adds,
	.op = {
#define OP1(id, D, A, expr) [E_##id] = { uni_##id##_full, uni_##id##_masked },
#define OP2(id, D, A, B, expr) [E_##id] = { uni_##id##_full, uni_##id##_masked },
#define OP3(id, D, A, B, C, expr) [E_##id] = { uni_##id##_full, uni_##id##_masked },
#define OP4(id, D, A, B, C, E, expr) [E_##id] = { uni_##id##_full, uni_##id##_masked },
#define CMP(id, T, expr) [E_##id] = { uni_##id##_full, uni_##id##_masked },
#include "emu/lane/ops.def"
	},
	.pred = {
	[BOOL_NONE] = { pred_mov_full, pred_mov_masked },
	[BOOL_AND] = { pred_and_full, pred_and_masked },
	[BOOL_OR] = { pred_or_full, pred_or_masked },
	[BOOL_XOR] = { pred_xor_full, pred_xor_masked },
	},
	.select = { uni_select_full, uni_select_masked },
	.clock = { uni_clock_full, uni_clock_masked },
};

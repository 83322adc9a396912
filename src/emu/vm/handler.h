/* How handler bodies name types and lanes; for the files that expand ops.def into handlers. */
#ifndef PMPP_EMU_HANDLER_H
#define PMPP_EMU_HANDLER_H

#include "emu/vm/warp.h"

/* Where @block begins. */
static inline const struct uop *block_start(const struct warp *w, int32_t block)
{
	return &w->program->uops[w->program->block_uop[block]];
}

/* Registers are read as one type and written as another: all accesses may alias. */
typedef uint16_t __attribute__((may_alias)) mem_u16;
typedef uint32_t __attribute__((may_alias)) mem_u32;
typedef int32_t __attribute__((may_alias)) mem_s32;
typedef uint64_t __attribute__((may_alias)) mem_u64;
typedef int64_t __attribute__((may_alias)) mem_s64;
typedef float __attribute__((may_alias)) mem_f32;
typedef double __attribute__((may_alias)) mem_f64;

/* Lane as stored, value as the expression sees it, and back. */
#define LANE_u16 mem_u32
#define LANE_s16 mem_u32
#define LANE_u32 mem_u32
#define LANE_s32 mem_s32
#define LANE_u64 mem_u64
#define LANE_s64 mem_s64
#define LANE_f32 mem_f32
#define LANE_f64 mem_f64
#define VALUE_u16 uint16_t
#define VALUE_s16 int16_t
#define VALUE_u32 uint32_t
#define VALUE_s32 int32_t
#define VALUE_u64 uint64_t
#define VALUE_s64 int64_t
#define VALUE_f32 float
#define VALUE_f64 double
#define GET_u16(v) ((uint16_t)(v))
#define GET_s16(v) ((int16_t)(uint16_t)(v))
#define GET_u32(v) (v)
#define GET_s32(v) (v)
#define GET_u64(v) (v)
#define GET_s64(v) (v)
#define GET_f32(v) (v)
#define GET_f64(v) (v)
#define PUT_u16(v) ((uint32_t)(uint16_t)(v))
#define PUT_s16(v) ((uint32_t)(uint16_t)(v))
#define PUT_u32(v) (v)
#define PUT_s32(v) (v)
#define PUT_u64(v) ((uint64_t)(v))
#define PUT_s64(v) (v)
#define PUT_f32(v) (v)
#define PUT_f64(v) (v)

/* Every handler has the same arguments, whichever it needs. */
#define HANDLER(name)                                                                          \
	static const struct uop *name(struct warp *w __attribute__((unused)), const struct uop *u, \
	                              uint32_t mask __attribute__((unused)))
#define PRED(offset) (*(mem_u32 *)frame(w, (offset)))
#define SCALAR32(offset) (*(mem_u32 *)frame(w, (offset)))
#define SCALAR64(offset) (*(mem_u64 *)frame(w, (offset)))

/* Continues at the uop of whatever lanes are next; for handlers that change the active lanes. */
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

/* Lets the block's scheduler run other warps and look at cancellation and time. */
static inline const struct uop *yield_warp(struct warp *w, const struct uop *to)
{
	w->at = to;
	w->state = WARP_YIELD;
	return NULL;
}

/* On to the next micro-operation, whatever the mask. */
#define NEXT_UOP                 \
	do {                         \
		if (mask == 0xffffffffu) \
			NEXT_full(u + 1);    \
		NEXT_masked(u + 1);      \
	} while (0)

/*
 * The two handlers of a branch: where all lanes go one way the warp goes on, there or at u + 1;
 * else
 * @split is called with the warp, the micro-operation and what it names: `taken`, the lanes that
 * take the branch, or `mask`. A BRANCH: a predicate, b all ones to invert it, x.to target.
 */
#define BRANCH_HANDLERS(name, split)                       \
	HANDLER(name##_full)                                   \
	{                                                      \
		const uint32_t taken = PRED(u->a) ^ u->b;          \
		if (taken == 0xffffffffu) {                        \
			const struct uop *to = u->x.to;                \
			if (--w->fuel < 0)                             \
				return yield_warp(w, to);                  \
			NEXT_full(to);                                 \
		}                                                  \
		if (taken == 0) {                                  \
			w->guards[u->xop] += 32;                       \
			NEXT_full(u + 1);                              \
		}                                                  \
		EMU_JUMP split;                                    \
	}                                                      \
	HANDLER(name##_masked)                                 \
	{                                                      \
		const uint32_t taken = (PRED(u->a) ^ u->b) & mask; \
		if (taken == mask) {                               \
			const struct uop *to = u->x.to;                \
			if (--w->fuel < 0)                             \
				return yield_warp(w, to);                  \
			NEXT_masked(to);                               \
		}                                                  \
		if (taken == 0) {                                  \
			w->guards[u->xop] += lane_popc32(mask);        \
			NEXT_masked(u + 1);                            \
		}                                                  \
		EMU_JUMP split;                                    \
	}

#endif

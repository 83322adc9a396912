/*
 * Operations on 32 lanes that hand their results on in vector registers, and take a source so. A
 * result that the next operation reads from the frame is there only once the host's store has been
 * forwarded to its load, which takes longer than the operation.
 *
 * Every handler here passes its result as arguments behind the usual three. The next one, if it is
 * of this file, has been chosen because it wants them (codegen/forward.c); any other ignores them.
 * One that drops its result does not write it into the frame: nobody else reads it.
 */
#include "emu/lane/lane.h"
#include "emu/vm/handler.h"
#include "emu/vm/simd/simd_level.h"

#if defined(EMU_TAIL_CALLS) && defined(__AVX512F__)
#define BYTES 64
#define VECTORS 2
typedef __m512i machine_int;
typedef __m512 machine_f32;
#define INTRINSIC(name) _mm512_##name
#elif defined(EMU_TAIL_CALLS) && defined(__AVX2__) && defined(__FMA__)
#define BYTES 32
#define VECTORS 4
typedef __m256i machine_int;
typedef __m256 machine_f32;
#define INTRINSIC(name) _mm256_##name
#endif

#ifdef VECTORS
typedef uint32_t vector_u32 __attribute__((vector_size(BYTES)));
typedef int32_t vector_s32 __attribute__((vector_size(BYTES)));
typedef float vector_f32 __attribute__((vector_size(BYTES)));
typedef uint32_t frame_vector __attribute__((vector_size(BYTES), aligned(4), may_alias));

#if VECTORS == 2
#define HANDED_PARAMS vector_u32 g0, vector_u32 g1
#define HANDED_VALUES { g0, g1 }
#define RESULTS(r) (r)[0], (r)[1]
#else
#define HANDED_PARAMS vector_u32 g0, vector_u32 g1, vector_u32 g2, vector_u32 g3
#define HANDED_VALUES { g0, g1, g2, g3 }
#define RESULTS(r) (r)[0], (r)[1], (r)[2], (r)[3]
#endif
typedef const struct uop *(*handed_fn)(struct warp *w, const struct uop *u, uint32_t mask,
                                       HANDED_PARAMS);
/* A jump, as compilers make it of a call in tail position whose arguments are in registers. */
#define HAND_ON(r, way) return ((handed_fn)(void (*)(void))(u + 1)->way)(w, u + 1, mask, RESULTS(r))

#define VECTOR_SHL(a, b) ((vector_u32)INTRINSIC(sllv_epi32)((machine_int)(a), (machine_int)(b)))
#define VECTOR_SHR(a, b) ((vector_u32)INTRINSIC(srlv_epi32)((machine_int)(a), (machine_int)(b)))
#define VECTOR_SAR(a, b) ((vector_s32)INTRINSIC(srav_epi32)((machine_int)(a), (machine_int)(b)))
#define VECTOR_FMA(a, b, c) \
	((vector_f32)INTRINSIC(fmadd_ps)((machine_f32)(a), (machine_f32)(b), (machine_f32)(c)))
#define PICK(m, a, b) (((__typeof__(a))(m) & (a)) | (~(__typeof__(a))(m) & (b)))
static inline vector_f32 settled(vector_f32 r)
{
	const vector_u32 number = (vector_u32)(r == r);
	return (vector_f32)(((vector_u32)r & number) | (LANE_NAN32 & ~number));
}
#define SETTLED(r) settled(r)

#define EACH_VECTOR(i) for (unsigned i = 0; i < VECTORS; i++)
/* Where source @x comes from: lanes of the frame, a scalar of it, or what was handed on. */
#define FROM_LANES(x, T) const vector_##T x = (vector_##T)((const frame_vector *)frame(w, u->x))[i];
#define FROM_SCALAR(x, T) \
	const vector_##T x = (vector_##T)INTRINSIC(set1_epi32)(*(const mem_s32 *)frame(w, u->x));
#define FROM_HANDED(x, T) const vector_##T x = (vector_##T)g[i];

#define FROM_PATTERN(name) \
	const vector_u32 name = (vector_u32)((const frame_vector *)(const void *)u->x.pattern->low)[i];

#define FORWARD_HANDLER(name)                                                                  \
	static const struct uop *name(struct warp *w __attribute__((unused)), const struct uop *u, \
	                              uint32_t mask __attribute__((unused)), HANDED_PARAMS)
#define COMPUTE(fetch, expr)                     \
	const vector_u32 g[VECTORS] = HANDED_VALUES; \
	vector_u32 r[VECTORS];                       \
	(void)g;                                     \
	EACH_VECTOR(i)                               \
	{                                            \
		fetch r[i] = (vector_u32)(expr);         \
	}
/* @a where @mask is set, else @b: vector @i of a register. */
static inline vector_u32 merge(uint32_t mask, unsigned i, vector_u32 a, vector_u32 b)
{
#if VECTORS == 2
	const __mmask16 on = (__mmask16)(mask >> 16 * i);
	return (vector_u32)_mm512_mask_mov_epi32((machine_int)b, on, (machine_int)a);
#else
	const frame_vector bit = ((const frame_vector *)(const void *)lane_bit)[i];
	const vector_s32 on = ((vector_u32)bit & mask) != 0;
	return PICK(on, a, b);
#endif
}
#define CHOSEN(i, a, b) merge(PRED(u->c) ^ (uint32_t)u->x.u, i, a, b)
/* Under a mask all lanes are written, too, the others with what they held; see simd_alu.c. */
#define FORM(name, fetch, expr)                                                     \
	FORWARD_HANDLER(name##_keep_full)                                               \
	{                                                                               \
		COMPUTE(fetch, expr)                                                        \
		frame_vector *d = frame(w, u->d);                                           \
		EACH_VECTOR(i) d[i] = (frame_vector)r[i];                                   \
		HAND_ON(r, full);                                                           \
	}                                                                               \
	FORWARD_HANDLER(name##_keep_masked)                                             \
	{                                                                               \
		COMPUTE(fetch, expr)                                                        \
		frame_vector *d = frame(w, u->d);                                           \
		EACH_VECTOR(i) d[i] = (frame_vector)merge(mask, i, r[i], (vector_u32)d[i]); \
		HAND_ON(r, masked);                                                         \
	}                                                                               \
	FORWARD_HANDLER(name##_drop_full)                                               \
	{                                                                               \
		COMPUTE(fetch, expr)                                                        \
		HAND_ON(r, full);                                                           \
	}                                                                               \
	FORWARD_HANDLER(name##_drop_masked)                                             \
	{                                                                               \
		COMPUTE(fetch, expr)                                                        \
		HAND_ON(r, masked);                                                         \
	}
/* Which lanes hold what a comparison says, whose results are all ones or 0; nothing is handed on.
 */
#if VECTORS == 2
#define COMPARED(a, b, expr, kind, how) \
	(uint32_t) _mm512_cmp_##kind##_mask(MACHINE_##kind(a), MACHINE_##kind(b), how)
#define MACHINE_epi32(v) (machine_int)(v)
#define MACHINE_epu32(v) (machine_int)(v)
#define MACHINE_ps(v) (machine_f32)(v)
#else
#define COMPARED(a, b, expr, kind, how) (uint32_t) _mm256_movemask_ps((machine_f32)(expr))
#endif
#define COMPARE(fetch, expr, kind, how)                                    \
	const vector_u32 g[VECTORS] = HANDED_VALUES;                           \
	uint32_t lanes = (uint32_t)u->x.u; /* all ones to invert the result */ \
	EACH_VECTOR(i)                                                         \
	{                                                                      \
		fetch lanes ^= COMPARED(a, b, expr, kind, how) << BYTES / 4 * i;   \
	}
#define CMP_FORM(name, fetch, ...)                          \
	FORWARD_HANDLER(name##_keep_full)                       \
	{                                                       \
		COMPARE(fetch, __VA_ARGS__)                         \
		PRED(u->d) = lanes;                                 \
		NEXT_full(u + 1);                                   \
	}                                                       \
	FORWARD_HANDLER(name##_keep_masked)                     \
	{                                                       \
		COMPARE(fetch, __VA_ARGS__)                         \
		PRED(u->d) = (PRED(u->d) & ~mask) | (lanes & mask); \
		NEXT_masked(u + 1);                                 \
	}

/* The forms of operations of one, two and three sources: X(which is handed on, which is a scalar,
 * how to fetch them). */
#define FORMS1(X, id, A, expr)           \
	X(id##_none, FROM_LANES(a, A), expr) \
	X(id##_a, FROM_HANDED(a, A), expr)
#define FORMS2_HANDED(X, id, A, B, ...)                            \
	X(id##_a, FROM_HANDED(a, A) FROM_LANES(b, B), __VA_ARGS__)     \
	X(id##_a_sb, FROM_HANDED(a, A) FROM_SCALAR(b, B), __VA_ARGS__) \
	X(id##_b, FROM_LANES(a, A) FROM_HANDED(b, B), __VA_ARGS__)     \
	X(id##_b_sa, FROM_SCALAR(a, A) FROM_HANDED(b, B), __VA_ARGS__) \
	X(id##_ab, FROM_HANDED(a, A) FROM_HANDED(b, B), __VA_ARGS__)
#define FORMS2(X, id, A, B, expr)                             \
	X(id##_none, FROM_LANES(a, A) FROM_LANES(b, B), expr)     \
	X(id##_none_sa, FROM_SCALAR(a, A) FROM_LANES(b, B), expr) \
	X(id##_none_sb, FROM_LANES(a, A) FROM_SCALAR(b, B), expr) \
	FORMS2_HANDED(X, id, A, B, expr)
#define FORMS3(X, id, A, B, C, expr)                                           \
	X(id##_none, FROM_LANES(a, A) FROM_LANES(b, B) FROM_LANES(c, C), expr)     \
	X(id##_none_sa, FROM_SCALAR(a, A) FROM_LANES(b, B) FROM_LANES(c, C), expr) \
	X(id##_none_sb, FROM_LANES(a, A) FROM_SCALAR(b, B) FROM_LANES(c, C), expr) \
	X(id##_none_sc, FROM_LANES(a, A) FROM_LANES(b, B) FROM_SCALAR(c, C), expr) \
	X(id##_a, FROM_HANDED(a, A) FROM_LANES(b, B) FROM_LANES(c, C), expr)       \
	X(id##_a_sb, FROM_HANDED(a, A) FROM_SCALAR(b, B) FROM_LANES(c, C), expr)   \
	X(id##_a_sc, FROM_HANDED(a, A) FROM_LANES(b, B) FROM_SCALAR(c, C), expr)   \
	X(id##_b, FROM_LANES(a, A) FROM_HANDED(b, B) FROM_LANES(c, C), expr)       \
	X(id##_b_sa, FROM_SCALAR(a, A) FROM_HANDED(b, B) FROM_LANES(c, C), expr)   \
	X(id##_b_sc, FROM_LANES(a, A) FROM_HANDED(b, B) FROM_SCALAR(c, C), expr)   \
	X(id##_c, FROM_LANES(a, A) FROM_LANES(b, B) FROM_HANDED(c, C), expr)       \
	X(id##_c_sa, FROM_SCALAR(a, A) FROM_LANES(b, B) FROM_HANDED(c, C), expr)   \
	X(id##_c_sb, FROM_LANES(a, A) FROM_SCALAR(b, B) FROM_HANDED(c, C), expr)   \
	X(id##_ab, FROM_HANDED(a, A) FROM_HANDED(b, B) FROM_LANES(c, C), expr)     \
	X(id##_ab_sc, FROM_HANDED(a, A) FROM_HANDED(b, B) FROM_SCALAR(c, C), expr)

#define FORWARD1(id, D, A, expr) FORMS1(FORM, id, A, expr)
#define FORWARD2(id, D, A, B, expr) FORMS2(FORM, id, A, B, expr)
#define FORWARD3(id, D, A, B, C, expr) FORMS3(FORM, id, A, B, C, expr)
#define FORWARD_CMP(id, T, ...) FORMS2_HANDED(CMP_FORM, id, T, T, __VA_ARGS__)
#include "emu/lane/forward.def"

FORM(spread32_none, FROM_SCALAR(a, u32) FROM_PATTERN(b), a + b)
FORM(select32_none, FROM_LANES(a, u32) FROM_LANES(b, u32), CHOSEN(i, a, b))
FORM(select32_a, FROM_HANDED(a, u32) FROM_LANES(b, u32), CHOSEN(i, a, b))
FORM(select32_b, FROM_LANES(a, u32) FROM_HANDED(b, u32), CHOSEN(i, a, b))

/* --- tables --- */

#define FN(name) { (uop_fn)(void (*)(void))name##_full, (uop_fn)(void (*)(void))name##_masked }
#define HANDED2(id, how)                                                 \
	[HANDED_A] = { FN(id##_a_##how), [SCALAR_B] = FN(id##_a_sb_##how) }, \
	[HANDED_B] = { FN(id##_b_##how), [SCALAR_A] = FN(id##_b_sa_##how) }, \
	[HANDED_AB] = { FN(id##_ab_##how) },
#define TABLE1(id, how)                          \
	{                                            \
		[HANDED_NONE] = { FN(id##_none_##how) }, \
		[HANDED_A] = { FN(id##_a_##how) },       \
	}
#define TABLE2(id, how)                                                                        \
	{ [HANDED_NONE] = { FN(id##_none_##how), FN(id##_none_sa_##how), FN(id##_none_sb_##how) }, \
	  HANDED2(id, how) }
#define TABLE3(id, how)                                                                           \
	{                                                                                             \
		[HANDED_NONE] = { FN(id##_none_##how), FN(id##_none_sa_##how), FN(id##_none_sb_##how),    \
		                  FN(id##_none_sc_##how) },                                               \
		[HANDED_A] = { FN(id##_a_##how), [SCALAR_B] = FN(id##_a_sb_##how), FN(id##_a_sc_##how) }, \
		[HANDED_B] = { FN(id##_b_##how), FN(id##_b_sa_##how), [SCALAR_C] = FN(id##_b_sc_##how) }, \
		[HANDED_C] = { FN(id##_c_##how), FN(id##_c_sa_##how), FN(id##_c_sb_##how) },              \
		[HANDED_AB] = { FN(id##_ab_##how), [SCALAR_C] = FN(id##_ab_sc_##how) },                   \
	}
#define FORWARD_TABLE(id, table) \
	static const struct forward_handlers forward_##id = { table(id, keep), table(id, drop) };
#define FORWARD1(id, D, A, expr) FORWARD_TABLE(id, TABLE1)
#define FORWARD2(id, D, A, B, expr) FORWARD_TABLE(id, TABLE2)
#define FORWARD3(id, D, A, B, C, expr) FORWARD_TABLE(id, TABLE3)
#define FORWARD_CMP(id, T, ...) \
	static const struct forward_handlers forward_##id = { .keep = { HANDED2(id, keep) } };
#include "emu/lane/forward.def"

static const struct forward_handlers forward_spread32 = {
	{ [HANDED_NONE] = { FN(spread32_none_keep) } },
	{ [HANDED_NONE] = { FN(spread32_none_drop) } },
};
#define SELECT_TABLE(how)                            \
	{                                                \
		[HANDED_NONE] = { FN(select32_none_##how) }, \
		[HANDED_A] = { FN(select32_a_##how) },       \
		[HANDED_B] = { FN(select32_b_##how) },       \
	}
static const struct forward_handlers forward_select32 = { SELECT_TABLE(keep), SELECT_TABLE(drop) };

#define FORWARD1(id, D, A, expr) [E_##id] = &forward_##id,
#define FORWARD2(id, D, A, B, expr) [E_##id] = &forward_##id,
#define FORWARD3(id, D, A, B, C, expr) [E_##id] = &forward_##id,
#define FORWARD_CMP(id, T, ...) [E_##id] = &forward_##id,
const struct forward_tables LEVEL(forward_tables) = {
	.op = {
#include "emu/lane/forward.def"
	},
	.spread32 = &forward_spread32,
	.select32 = &forward_select32,
};
#else
const struct forward_tables LEVEL(forward_tables) = { 0 };
#endif

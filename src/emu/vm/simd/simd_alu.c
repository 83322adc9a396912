/*
 * Arithmetic on 32 lanes: every operation of ops.def for a full warp and for any mask.
 *
 * Compiled once per ISA level (EMU_ISA); the loops have a fixed length and no dependence between
 * lanes, so the compiler turns them into the level's vector instructions. All levels give the
 * same bits: no contraction, no reassociation.
 */
#include "emu/lane/lane.h"
#include "emu/vm/handler.h"
#include "emu/vm/simd/simd_compare.h"
#include "emu/vm/simd/simd_level.h"

#include <string.h>

#define SRC(name, T) const VALUE_##T name = GET_##T(v_##name[i]);
#define SRC_S(name, T) const VALUE_##T name = s_##name;
#define PTR(name, T, off) const LANE_##T *v_##name = frame(w, off);
#define PTR_S(name, T, off) const VALUE_##T s_##name = GET_##T(*(const LANE_##T *)frame(w, off));

/*
 * Lane @i of a register gets @r where the mask says so. All lanes are written, the others with what
 * they held: what a masked vector store wrote, the host cannot hand on to the load behind it, which
 * then waits for the cache.
 */
#define WORD_u16 mem_u32
#define WORD_s16 mem_u32
#define WORD_u32 mem_u32
#define WORD_s32 mem_u32
#define WORD_u64 mem_u64
#define WORD_s64 mem_u64
#define WORD_f32 mem_u32
#define WORD_f64 mem_u64
#define MERGE(D, i, r)                                                     \
	const WORD_##D on = mask & lane_bit[i] ? ~(WORD_##D)0 : 0, old = m[i]; \
	WORD_##D word;                                                         \
	memcpy(&word, &r, sizeof word);                                        \
	m[i] = old ^ ((old ^ word) & on);

#define BODY(id, D, pointers, sources, expr)                       \
	HANDLER(id##_full)                                             \
	{                                                              \
		(void)mask;                                                \
		LANE_##D *d = frame(w, u->d);                              \
		pointers EACH_LANE(i)                                      \
		{                                                          \
			sources d[i] = PUT_##D((VALUE_##D)(expr));             \
		}                                                          \
		NEXT_full(u + 1);                                          \
	}                                                              \
	HANDLER(id##_masked)                                           \
	{                                                              \
		WORD_##D *m = frame(w, u->d);                              \
		pointers EACH_LANE(i)                                      \
		{                                                          \
			sources const LANE_##D r = PUT_##D((VALUE_##D)(expr)); \
			MERGE(D, i, r)                                         \
		}                                                          \
		NEXT_masked(u + 1);                                        \
	}
/* The same with the host's rounding direction set meanwhile. */
#define TOWARDS(id, D, pointers, sources, mode, expr)              \
	HANDLER(id##_full)                                             \
	{                                                              \
		(void)mask;                                                \
		const __typeof__(round_to(0)) before = round_to(mode);     \
		LANE_##D *d = frame(w, u->d);                              \
		pointers EACH_LANE(i)                                      \
		{                                                          \
			sources d[i] = PUT_##D((VALUE_##D)(expr));             \
		}                                                          \
		round_as_before(before);                                   \
		NEXT_full(u + 1);                                          \
	}                                                              \
	HANDLER(id##_masked)                                           \
	{                                                              \
		const __typeof__(round_to(0)) before = round_to(mode);     \
		WORD_##D *m = frame(w, u->d);                              \
		pointers EACH_LANE(i)                                      \
		{                                                          \
			sources const LANE_##D r = PUT_##D((VALUE_##D)(expr)); \
			MERGE(D, i, r)                                         \
		}                                                          \
		round_as_before(before);                                   \
		NEXT_masked(u + 1);                                        \
	}
#define TOWARDS1(id, D, A, expr, mode, many) TOWARDS(id, D, PTR(a, A, u->a), SRC(a, A), mode, many)
#define TOWARDS2(id, D, A, B, expr, mode, many) \
	TOWARDS(id, D, PTR(a, A, u->a) PTR(b, B, u->b), SRC(a, A) SRC(b, B), mode, many)
#define TOWARDS3(id, D, A, B, C, expr, mode, many)                                                 \
	TOWARDS(id, D, PTR(a, A, u->a) PTR(b, B, u->b) PTR(c, C, u->c), SRC(a, A) SRC(b, B) SRC(c, C), \
	        mode, many)
#define OP1(id, D, A, expr) BODY(id, D, PTR(a, A, u->a), SRC(a, A), expr)
#define OP2(id, D, A, B, expr) \
	BODY(id, D, PTR(a, A, u->a) PTR(b, B, u->b), SRC(a, A) SRC(b, B), expr)
#define OP3(id, D, A, B, C, expr)                                                               \
	BODY(id, D, PTR(a, A, u->a) PTR(b, B, u->b) PTR(c, C, u->c), SRC(a, A) SRC(b, B) SRC(c, C), \
	     expr)
#define OP4(id, D, A, B, C, E, expr)                                                         \
	BODY(id, D, PTR(a, A, u->a) PTR(b, B, u->b) PTR(c, C, u->c) PTR(e, E, (uint32_t)u->x.i), \
	     SRC(a, A) SRC(b, B) SRC(c, C) SRC(e, E), expr)
#define HOT2(id, D, A, B, expr)                                                      \
	OP2(id, D, A, B, expr)                                                           \
	BODY(id##_sa, D, PTR_S(a, A, u->a) PTR(b, B, u->b), SRC_S(a, A) SRC(b, B), expr) \
	BODY(id##_sb, D, PTR(a, A, u->a) PTR_S(b, B, u->b), SRC(a, A) SRC_S(b, B), expr)
#define HOT3(id, D, A, B, C, expr)                                      \
	OP3(id, D, A, B, C, expr)                                           \
	BODY(id##_sa, D, PTR_S(a, A, u->a) PTR(b, B, u->b) PTR(c, C, u->c), \
	     SRC_S(a, A) SRC(b, B) SRC(c, C), expr)                         \
	BODY(id##_sb, D, PTR(a, A, u->a) PTR_S(b, B, u->b) PTR(c, C, u->c), \
	     SRC(a, A) SRC_S(b, B) SRC(c, C), expr)                         \
	BODY(id##_sc, D, PTR(a, A, u->a) PTR(b, B, u->b) PTR_S(c, C, u->c), \
	     SRC(a, A) SRC(b, B) SRC_S(c, C), expr)

/* All lanes by the expression for vectors where their arguments allow it. */
#define USUALLY1(id, D, A, when, usual, rare)                                            \
	BODY(id##_usual, D, PTR(a, A, u->a), SRC(a, A), usual)                               \
	BODY(id##_any, D, PTR(a, A, u->a), SRC(a, A), (when) ? (usual) : (rare))             \
	static inline bool id##_is_usual(struct warp *w, const struct uop *u, uint32_t mask) \
	{                                                                                    \
		uint32_t others = 0;                                                             \
		PTR(a, A, u->a)                                                                  \
		EACH_LANE(i)                                                                     \
		{                                                                                \
			SRC(a, A) others |= (when) ? 0 : mask & lane_bit[i];                         \
		}                                                                                \
		return !others;                                                                  \
	}                                                                                    \
	HANDLER(id##_full)                                                                   \
	{                                                                                    \
		if (id##_is_usual(w, u, 0xffffffffu))                                            \
			EMU_JUMP id##_usual_full(w, u, mask);                                        \
		EMU_JUMP id##_any_full(w, u, mask);                                              \
	}                                                                                    \
	HANDLER(id##_masked)                                                                 \
	{                                                                                    \
		if (id##_is_usual(w, u, mask))                                                   \
			EMU_JUMP id##_usual_masked(w, u, mask);                                      \
		EMU_JUMP id##_any_masked(w, u, mask);                                            \
	}

/* Which lanes hold @expr. */
#if MASKS_OF_COMPARISONS
#define CMP_LANES(id, pointers, sources, expr) \
	const uint32_t lanes = mask_##id(frame(w, u->a), frame(w, u->b));
#else
#define CMP_LANES(id, pointers, sources, expr) \
	int32_t r[32];                             \
	pointers EACH_LANE(i)                      \
	{                                          \
		sources r[i] = (expr) ? -1 : 0;        \
	}                                          \
	const uint32_t lanes = pack_bits(r);
#endif
/* d: predicate; x.u: all ones to invert the result */
#define CMP_HANDLERS(id)                                              \
	HANDLER(id##_full)                                                \
	{                                                                 \
		(void)mask;                                                   \
		PRED(u->d) = id##_bits(w, u);                                 \
		NEXT_full(u + 1);                                             \
	}                                                                 \
	HANDLER(id##_masked)                                              \
	{                                                                 \
		PRED(u->d) = (PRED(u->d) & ~mask) | (id##_bits(w, u) & mask); \
		NEXT_masked(u + 1);                                           \
	}
#define CMP_BODY(id, pointers, sources, expr)                             \
	static inline uint32_t id##_bits(struct warp *w, const struct uop *u) \
	{                                                                     \
		CMP_LANES(id, pointers, sources, expr)                            \
		return lanes ^ (uint32_t)u->x.u;                                  \
	}                                                                     \
	CMP_HANDLERS(id)
#define CMP(id, T, expr) CMP_BODY(id, PTR(a, T, u->a) PTR(b, T, u->b), SRC(a, T) SRC(b, T), expr)
#define HOTCMP(id, T, expr)                                                           \
	CMP(id, T, expr)                                                                  \
	CMP_BODY(id##_sa, PTR_S(a, T, u->a) PTR(b, T, u->b), SRC_S(a, T) SRC(b, T), expr) \
	CMP_BODY(id##_sb, PTR(a, T, u->a) PTR_S(b, T, u->b), SRC(a, T) SRC_S(b, T), expr)
#include "emu/lane/ops.def"

/* d = predicate c (inverted by x) ? a : b */
#define SELECT(bits)                                                \
	HANDLER(select##bits##_full)                                    \
	{                                                               \
		mem_u##bits *d = frame(w, u->d);                            \
		const mem_u##bits *a = frame(w, u->a), *b = frame(w, u->b); \
		const uint32_t p = PRED(u->c) ^ (uint32_t)u->x.u;           \
		(void)mask;                                                 \
		EACH_LANE(i) d[i] = p & lane_bit[i] ? a[i] : b[i];          \
		NEXT_full(u + 1);                                           \
	}                                                               \
	HANDLER(select##bits##_masked)                                  \
	{                                                               \
		mem_u##bits *m = frame(w, u->d);                            \
		const mem_u##bits *a = frame(w, u->a), *b = frame(w, u->b); \
		const uint32_t p = PRED(u->c) ^ (uint32_t)u->x.u;           \
		EACH_LANE(i)                                                \
		{                                                           \
			const uint##bits##_t r = p & lane_bit[i] ? a[i] : b[i]; \
			MERGE(u##bits, i, r)                                    \
		}                                                           \
		NEXT_masked(u + 1);                                         \
	}
SELECT(32)
SELECT(64)

/* d[lane] = scalar a + pattern x */
#define SPREAD(bits, lane)                                                \
	HANDLER(spread##bits##_full)                                          \
	{                                                                     \
		mem_u##bits *d = frame(w, u->d);                                  \
		const uint##bits##_t base = *(const mem_u##bits *)frame(w, u->a); \
		const __typeof__(&u->x.pattern->lane[0]) p = u->x.pattern->lane;  \
		(void)mask;                                                       \
		EACH_LANE(i) d[i] = base + (uint##bits##_t)p[i];                  \
		NEXT_full(u + 1);                                                 \
	}                                                                     \
	HANDLER(spread##bits##_masked)                                        \
	{                                                                     \
		mem_u##bits *m = frame(w, u->d);                                  \
		const uint##bits##_t base = *(const mem_u##bits *)frame(w, u->a); \
		const __typeof__(&u->x.pattern->lane[0]) p = u->x.pattern->lane;  \
		EACH_LANE(i)                                                      \
		{                                                                 \
			const uint##bits##_t r = base + (uint##bits##_t)p[i];         \
			MERGE(u##bits, i, r)                                          \
		}                                                                 \
		NEXT_masked(u + 1);                                               \
	}
SPREAD(32, low)
SPREAD(64, lane)

/*
 * d: predicate, of scalar a + pattern x against scalar b; y: all ones to invert the result. Most
 * warps are wholly on one side, as of `if (i < n)`: @all and @none say which, of the lowest and the
 * highest lane, where no lane wraps around.
 */
#define ROW_CMP(id, T, all, none, expr)                                    \
	static inline uint32_t id##_bits(struct warp *w, const struct uop *u)  \
	{                                                                      \
		const struct pattern *p = u->x.pattern;                            \
		const LANE_##T first = *(const LANE_##T *)frame(w, u->a);          \
		const LANE_##T b = *(const LANE_##T *)frame(w, u->b);              \
		const int64_t lo = first + p->min, hi = first + p->max;            \
		if (lo == (LANE_##T)lo && hi == (LANE_##T)hi && ((all) || (none))) \
			return (all) ? ~u->y : u->y;                                   \
		int32_t r[32];                                                     \
		EACH_LANE(i)                                                       \
		{                                                                  \
			const LANE_##T a = (LANE_##T)((uint32_t)first + p->low[i]);    \
			r[i] = (expr) ? -1 : 0;                                        \
		}                                                                  \
		return pack_bits(r) ^ u->y;                                        \
	}                                                                      \
	CMP_HANDLERS(id)
ROW_CMP(row_eq_b32, u32, false, b<lo || b> hi, a == b)
ROW_CMP(row_lt_s32, s32, hi < b, lo >= b, a < b)
ROW_CMP(row_le_s32, s32, hi <= b, lo > b, a <= b)
ROW_CMP(row_lt_u32, u32, hi < b, lo >= b, a < b)
ROW_CMP(row_le_u32, u32, hi <= b, lo > b, a <= b)
ROW_CMP(lt_s32_row, s32, b < lo, b >= hi, b < a)
ROW_CMP(le_s32_row, s32, b <= lo, b > hi, b <= a)
ROW_CMP(lt_u32_row, u32, b < lo, b >= hi, b < a)
ROW_CMP(le_u32_row, u32, b <= lo, b > hi, b <= a)

/* d[lane] = a[lane it reads]; y predicate slot, 0 = none; operands otherwise as vm_shfl has them */
HANDLER(shuffle_full)
{
	mem_u32 *d = frame(w, u->d);
	const mem_u32 *a = frame(w, u->a);
	(void)mask;
#if defined(__AVX512F__)
	const __m512i lo = _mm512_loadu_si512(a), hi = _mm512_loadu_si512(a + 16);
	for (unsigned h = 0; h < 32; h += 16) {
		const __m512i at = _mm512_loadu_si512(u->shuffle->from + h);
		_mm512_storeu_si512(d + h, _mm512_permutex2var_epi32(lo, at, hi));
	}
#else
	uint32_t r[32];
	for (unsigned i = 0; i < 32; i++)
		r[i] = a[u->shuffle->from[i]];
	EACH_LANE(i) d[i] = r[i];
#endif
	if (u->y)
		PRED(u->y) = u->shuffle->inside;
	warp_synced(w, mask);
	NEXT_full(u + 1);
}
static const struct uop *shuffle_masked(struct warp *w, const struct uop *u, uint32_t mask)
{
	EMU_JUMP vm_warp_handlers.shfl.masked(w, u, mask);
}

#define H(id) { id##_full, id##_masked }
const struct alu_handlers LEVEL(alu_handlers) = {
	.op = {
#define OP1(id, D, A, expr) [E_##id] = { H(id) },
#define OP2(id, D, A, B, expr) [E_##id] = { H(id) },
#define OP3(id, D, A, B, C, expr) [E_##id] = { H(id) },
#define OP4(id, D, A, B, C, E, expr) [E_##id] = { H(id) },
#define HOT2(id, D, A, B, expr) [E_##id] = { H(id), H(id##_sa), H(id##_sb) },
#define HOT3(id, D, A, B, C, expr) [E_##id] = { H(id), H(id##_sa), H(id##_sb), H(id##_sc) },
#define CMP(id, T, expr) [E_##id] = { H(id) },
#define HOTCMP(id, T, expr) [E_##id] = { H(id), H(id##_sa), H(id##_sb) },
#include "emu/lane/ops.def"
	},
	.row = {
		[E_eq_b32] = { H(row_eq_b32), H(row_eq_b32) },
		[E_lt_s32] = { H(row_lt_s32), H(lt_s32_row) },
		[E_le_s32] = { H(row_le_s32), H(le_s32_row) },
		[E_lt_u32] = { H(row_lt_u32), H(lt_u32_row) },
		[E_le_u32] = { H(row_le_u32), H(le_u32_row) },
	},
	.select32 = H(select32), .select64 = H(select64),
	.spread32 = H(spread32), .spread64 = H(spread64), .shuffle = H(shuffle),
};

/*
 * Comparisons of 32 lanes as a mask, in the host's own mask registers where it has them: a compiler
 * goes there by a vector of ones and zeros, and back. By the names of ops.def: mask_ID(a, b)
 * of registers at a and b; mask_ID_sa, mask_ID_sb where one is a scalar.
 */
#ifndef PMPP_EMU_SIMD_COMPARE_H
#define PMPP_EMU_SIMD_COMPARE_H

#include <stdint.h>
#if defined(__AVX512F__)
#define MASKS_OF_COMPARISONS 1
#include <immintrin.h>

/* 64 bytes of a register, and a scalar in all lanes of them. */
#define LANES_AT(p, n) _mm512_loadu_si512((const char *)(p) + 64 * (n))
static inline __m512i lanes_of_4(const void *scalar)
{
	return _mm512_set1_epi32(*(const int32_t __attribute__((may_alias)) *)scalar);
}
#define MASKS(id, parts, lanes, compare, how)                                            \
	static inline uint32_t mask_##id(const void *a, const void *b)                       \
	{                                                                                    \
		uint32_t mask = 0;                                                               \
		for (int n = 0; n < parts; n++)                                                  \
			mask |= (uint32_t)compare(LANES_AT(a, n), LANES_AT(b, n), how) << lanes * n; \
		return mask;                                                                     \
	}
#define MASK64(id, compare, how) MASKS(id, 4, 8, compare, how)
#define MASK32(id, compare, how)                                                                  \
	MASKS(id, 2, 16, compare, how)                                                                \
	static inline uint32_t mask_##id##_sa(const void *a, const void *b)                           \
	{                                                                                             \
		const __m512i s = lanes_of_4(a);                                                          \
		return (uint32_t)compare(s, LANES_AT(b, 1), how) << 16 | compare(s, LANES_AT(b, 0), how); \
	}                                                                                             \
	static inline uint32_t mask_##id##_sb(const void *a, const void *b)                           \
	{                                                                                             \
		const __m512i s = lanes_of_4(b);                                                          \
		return (uint32_t)compare(LANES_AT(a, 1), s, how) << 16 | compare(LANES_AT(a, 0), s, how); \
	}
#define COMPARE_F32(a, b, how) \
	_mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), how)
#define COMPARE_F64(a, b, how) \
	_mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), how)

MASK32(eq_b32, _mm512_cmp_epi32_mask, _MM_CMPINT_EQ)
MASK32(lt_s32, _mm512_cmp_epi32_mask, _MM_CMPINT_LT)
MASK32(le_s32, _mm512_cmp_epi32_mask, _MM_CMPINT_LE)
MASK32(lt_u32, _mm512_cmp_epu32_mask, _MM_CMPINT_LT)
MASK32(le_u32, _mm512_cmp_epu32_mask, _MM_CMPINT_LE)
MASK64(eq_b64, _mm512_cmp_epi64_mask, _MM_CMPINT_EQ)
MASK64(lt_s64, _mm512_cmp_epi64_mask, _MM_CMPINT_LT)
MASK64(le_s64, _mm512_cmp_epi64_mask, _MM_CMPINT_LE)
MASK64(lt_u64, _mm512_cmp_epu64_mask, _MM_CMPINT_LT)
MASK64(le_u64, _mm512_cmp_epu64_mask, _MM_CMPINT_LE)
MASK32(eq_f32, COMPARE_F32, _CMP_EQ_OQ)
MASK32(lt_f32, COMPARE_F32, _CMP_LT_OQ)
MASK32(le_f32, COMPARE_F32, _CMP_LE_OQ)
MASK32(ne_f32, COMPARE_F32, _CMP_NEQ_OQ)
MASK32(num_f32, COMPARE_F32, _CMP_ORD_Q)
MASK64(eq_f64, COMPARE_F64, _CMP_EQ_OQ)
MASK64(lt_f64, COMPARE_F64, _CMP_LT_OQ)
MASK64(le_f64, COMPARE_F64, _CMP_LE_OQ)
MASK64(ne_f64, COMPARE_F64, _CMP_NEQ_OQ)
MASK64(num_f64, COMPARE_F64, _CMP_ORD_Q)
#endif

#endif

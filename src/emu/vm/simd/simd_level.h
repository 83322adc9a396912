/* Names and helpers of one ISA level; included by the files of simd/ only. */
#ifndef PMPP_EMU_SIMD_LEVEL_H
#define PMPP_EMU_SIMD_LEVEL_H

#include <stdint.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define LEVEL_JOIN_(name, level) name##_##level
#define LEVEL_JOIN(name, level) LEVEL_JOIN_(name, level)
#define LEVEL(name) LEVEL_JOIN(name, EMU_ISA)

/* A loop over lanes that do not depend on one another. Some bodies are calls: no vectors there.
 * Under a mask all lanes compute, and those that are off keep what they had. */
#if defined(__clang__)
#define EACH_LANE(i) \
	_Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < 32; i++)
#else
#define EACH_LANE(i) _Pragma("GCC ivdep") for (unsigned i = 0; i < 32; i++)
#endif

/* The signs of 32 values as a mask. */
static inline uint32_t pack_bits(const int32_t *r)
{
#if defined(__AVX512DQ__)
	const uint32_t lo = _mm512_movepi32_mask(_mm512_loadu_si512(r));
	const uint32_t hi = _mm512_movepi32_mask(_mm512_loadu_si512(r + 16));
	return hi << 16 | lo;
#elif defined(__AVX2__)
	uint32_t m = 0;
	for (int i = 0; i < 4; i++) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(r + 8 * i));
		m |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v)) << (8 * i);
	}
	return m;
#elif defined(__SSE2__)
	uint32_t m = 0;
	for (int i = 0; i < 8; i++) {
		const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(r + 4 * i));
		m |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(v)) << (4 * i);
	}
	return m;
#else
	uint32_t m = 0;
	for (int i = 0; i < 32; i++)
		m |= (uint32_t)r[i] >> 31 << i;
	return m;
#endif
}

#endif

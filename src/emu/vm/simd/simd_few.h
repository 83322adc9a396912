/*
 * Loads of a few lanes, of up to 4 bytes each, from anywhere in one place: lane by lane, but into
 * vector registers of the host. What is put together in memory lane by lane cannot be handed on to
 * the vector load behind it, which then waits for the cache. (The host's own gathers go lane by
 * lane, too, and take longer.)
 */
#ifndef PMPP_EMU_SIMD_FEW_H
#define PMPP_EMU_SIMD_FEW_H

#include "emu/vm/handler.h"

#if defined(__AVX512F__)
#define FEW_LANES 16u
#include <immintrin.h>

/* Lane i's byte at @low is at base + i * step, and so are @room bytes from there on. */
struct few {
	uint64_t low, room, base, step;
};

/* The lanes of @mask of a register get @v; the others keep what they held. */
static inline void few_put(mem_u32 *d, uint32_t mask, __m512i low, __m512i high)
{
	const __m512i a = _mm512_loadu_si512(d), b = _mm512_loadu_si512(d + 16);
	_mm512_storeu_si512(d, _mm512_mask_mov_epi32(a, (__mmask16)mask, low));
	_mm512_storeu_si512(d + 16, _mm512_mask_mov_epi32(b, (__mmask16)(mask >> 16), high));
}

/* Elements of one or two bytes from the words they lie in. */
static inline void few_parts(struct warp *w, const struct memop *m, uint32_t mask, __m512i low,
                             __m512i high)
{
	const unsigned top = 32 - 8u * m->bytes;
	for (unsigned e = 0; e < m->vec; e++) {
		const unsigned up = top - 8 * e * m->bytes;
		if (m->d[e] < 0)
			continue;
		const __m512i a = _mm512_slli_epi32(low, up), b = _mm512_slli_epi32(high, up);
		mem_u32 *d = frame(w, (uint32_t)m->d[e]);
		if (m->sign)
			few_put(d, mask, _mm512_srai_epi32(a, top), _mm512_srai_epi32(b, top));
		else
			few_put(d, mask, _mm512_srli_epi32(a, top), _mm512_srli_epi32(b, top));
	}
}

/* False: not all lanes are there, aligned; then nothing has been done. */
GUEST_MEMORY static inline bool few_load(struct warp *w, const struct memop *m, uint32_t mask,
                                         const struct few *f)
{
	const mem_u64 *at = frame(w, m->addr.slot);
	const uint64_t offset = (uint64_t)m->addr.offset - f->low, last = f->room - m->access;
	uint64_t others = f->room < m->access;
	__m512i low = _mm512_setzero_si512(), high = low;
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned i = (unsigned)__builtin_ctz(k);
		const uint64_t found = at[i] + offset, bad = found > last;
		others |= bad | (found & (m->access - 1u));
		const uint64_t p = f->base + i * f->step + (bad ? 0 : found);
		/* the aligned word that holds all of it lies in a page that is there */
		const uint32_t whole = *(const mem_u32 *)(uintptr_t)(p & ~(uint64_t)3);
		const uint32_t word = whole >> 8 * (p & 3), bit = k & -k;
		low = _mm512_mask_set1_epi32(low, (__mmask16)bit, (int32_t)word);
		high = _mm512_mask_set1_epi32(high, (__mmask16)(bit >> 16), (int32_t)word);
	}
	if (others)
		return false;
	if (m->bytes < 4)
		few_parts(w, m, mask, low, high);
	else if (m->d[0] >= 0)
		few_put(frame(w, (uint32_t)m->d[0]), mask, low, high);
	return true;
}
#endif

#endif

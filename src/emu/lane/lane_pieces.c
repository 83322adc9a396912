/* How the places of lanes lie; see lane_pieces.h. */
#include "emu/lane/lane_pieces.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Lanes that lie @step bytes before the next one, where all lie within 4 GiB. */
static uint32_t steps(const uint32_t *apart, uint32_t step)
{
	uint32_t m = 0;
#ifdef __SSE2__
	const __m128i want = _mm_set1_epi32((int)step);
	for (int i = 0; i < 2; i++) {
		const __m128i *v = (const __m128i *)(const void *)(apart + 16 * i);
		__m128i same[4];
		for (int k = 0; k < 4; k++)
			same[k] = _mm_cmpeq_epi32(_mm_loadu_si128(v + k), want);
		const __m128i all =
			_mm_packs_epi16(_mm_packs_epi32(same[0], same[1]), _mm_packs_epi32(same[2], same[3]));
		m |= (uint32_t)_mm_movemask_epi8(all) << (16 * i);
	}
#else
	for (unsigned i = 0; i < 32; i++)
		m |= (uint32_t)(apart[i] == step) << i;
#endif
	return m;
}

/* How many lanes from @first on follow one another by @steps. */
static unsigned run_length(uint32_t steps, unsigned first)
{
	return 1 + (unsigned)__builtin_ctzll(~((uint64_t)steps >> first));
}

void lane_pieces_find(const uint64_t address[32], uint32_t mask, unsigned bytes, uint64_t from,
                      struct lane_pieces *out)
{
	const uint32_t both = mask & mask >> 1;
	uint32_t apart[32], rising = 0, same = 0;
	uint64_t far = 0;
	for (unsigned i = 0; i < 31; i++) {
		apart[i] = (uint32_t)(address[i + 1] - address[i]);
		far |= (address[i + 1] ^ address[i]) & -(uint64_t)(both >> i & 1);
	}
	apart[31] = 0;
	if (!(far >> 32)) {
		rising = steps(apart, bytes) & both;
		same = steps(apart, 0) & both;
	}
	out->n = 0;
	for (uint32_t left = mask; left;) {
		const unsigned first = (unsigned)__builtin_ctz(left);
		const unsigned row = run_length(rising, first), alike = run_length(same, first);
		struct lane_piece *p = &out->piece[out->n++];
		p->at = address[first] - from;
		p->first = (uint8_t)first;
		p->n = (uint8_t)(row > 1 ? row : alike);
		p->one_place = row == 1 && alike > 1;
		left &= ~lane_piece_mask(p);
	}
}

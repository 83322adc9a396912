/* Sets of lanes by AVX-512; see lane_wide.h. */
#include "emu/count/lane_wide.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdatomic.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi,lzcnt,popcnt")))

static enum { UNKNOWN, CAN, CANNOT } _Atomic state;

void lane_wide_allow(bool allowed)
{
	const bool can = allowed && __builtin_cpu_supports("avx512f") &&
	                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
	                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	                 __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
	atomic_store_explicit(&state, can ? CAN : CANNOT, memory_order_relaxed);
}

bool lane_wide(void)
{
	if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN)
		lane_wide_allow(true);
	return atomic_load_explicit(&state, memory_order_relaxed) == CAN;
}

/* 32 lanes, one number each. */
struct lanes {
	__m512i low, high;
};

WIDE static inline __m512i eight_keys(const uint64_t *address, uint64_t first, unsigned shift)
{
	const __m512i a = _mm512_loadu_si512(address);
	return _mm512_srl_epi64(_mm512_xor_si512(a, _mm512_set1_epi64((long long)first)),
	                        _mm_cvtsi32_si128((int)shift));
}

/* Addresses without their @shift lowest bits, as they differ from the first one's; false: in more
 * than 32 bits. */
WIDE static inline bool take_keys(struct lanes *k, const uint64_t *address, uint32_t mask,
                                  unsigned shift)
{
	const uint64_t first = address[__builtin_ctz(mask)];
	const __m512i above = _mm512_set1_epi64((long long)0xffffffff00000000u);
	__m256i part[4];
	unsigned far = 0;
	for (unsigned q = 0; q < 4; q++) {
		const __m512i d = eight_keys(address + 8 * q, first, shift);
		far |= _mm512_mask_test_epi64_mask((__mmask8)(mask >> 8 * q), d, above);
		part[q] = _mm512_cvtepi64_epi32(d);
	}
	k->low = _mm512_inserti64x4(_mm512_castsi256_si512(part[0]), part[1], 1);
	k->high = _mm512_inserti64x4(_mm512_castsi256_si512(part[2]), part[3], 1);
	return !far;
}

/* Of each lane: those of @mask before it that have its key. */
WIDE static inline struct lanes equal_before(const struct lanes *k, uint32_t mask)
{
	const __m512i all = _mm512_set1_epi32((int)mask);
	uint32_t low[16];
	__m512i across = _mm512_setzero_si512();
	_mm512_storeu_si512(low, k->low);
	for (unsigned i = 0; i < 16; i++) {
		const __mmask16 same = _mm512_cmpeq_epi32_mask(k->high, _mm512_set1_epi32((int)low[i]));
		across = _mm512_mask_or_epi32(across, same, across, _mm512_set1_epi32(1 << i));
	}
	const __m512i high = _mm512_slli_epi32(_mm512_conflict_epi32(k->high), 16);
	return (struct lanes){ _mm512_and_si512(_mm512_conflict_epi32(k->low), all),
		                   _mm512_and_si512(_mm512_or_si512(high, across), all) };
}

WIDE static inline uint32_t without(const struct lanes *before)
{
	return _mm512_testn_epi32_mask(before->low, before->low) |
	       (uint32_t)_mm512_testn_epi32_mask(before->high, before->high) << 16;
}

/* The lowest lane of each of 16 sets of lanes; @own where it is empty. */
WIDE static inline __m128i lowest_of(__m512i set, int own)
{
	const __m512i bit = _mm512_and_si512(set, _mm512_sub_epi32(_mm512_setzero_si512(), set));
	const __m512i at = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bit));
	const __m512i here =
		_mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
	                     _mm512_set1_epi32(own));
	return _mm512_cvtepi32_epi8(_mm512_mask_mov_epi32(at, _mm512_testn_epi32_mask(set, set), here));
}

WIDE static inline void note_firsts(struct lane_sets *s, const struct lanes *before, uint32_t mask)
{
	s->firsts = without(before) & mask;
	_mm_storeu_si128((__m128i *)(void *)s->first, lowest_of(before->low, 0));
	_mm_storeu_si128((__m128i *)(void *)(s->first + 16), lowest_of(before->high, 16));
}

WIDE bool lane_wide_sets(struct lane_sets *s, const uint64_t *address, uint32_t mask,
                         unsigned shift)
{
	struct lanes key;
	if (!take_keys(&key, address, mask, shift))
		return false;
	const struct lanes before = equal_before(&key, mask);
	note_firsts(s, &before, mask);
	return true;
}

/* Bits that are set in each of 16 numbers. */
WIDE static inline __m512i count_bits(__m512i x)
{
	const __m512i table =
		_mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
	const __m512i four = _mm512_set1_epi8(15);
	const __m512i n = _mm512_add_epi8(
		_mm512_shuffle_epi8(table, _mm512_and_si512(x, four)),
		_mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi32(x, 4), four)));
	return _mm512_madd_epi16(_mm512_maddubs_epi16(n, _mm512_set1_epi8(1)), _mm512_set1_epi16(1));
}

WIDE unsigned lane_wide_busiest(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift)
{
	const __m512i banks = _mm512_set1_epi64((long long)n - 1);
	const __m128i by = _mm_cvtsi32_si128((int)shift);
	__m256i part[4];
	if (!mask)
		return 0;
	for (unsigned q = 0; q < 4; q++)
		part[q] = _mm512_cvtepi64_epi32(
			_mm512_and_si512(_mm512_srl_epi64(_mm512_loadu_si512(address + 8 * q), by), banks));
	const struct lanes key = { _mm512_inserti64x4(_mm512_castsi256_si512(part[0]), part[1], 1),
		                       _mm512_inserti64x4(_mm512_castsi256_si512(part[2]), part[3], 1) };
	const struct lanes before = equal_before(&key, mask);
	const __m512i most =
		_mm512_max_epu32(_mm512_maskz_mov_epi32((__mmask16)mask, count_bits(before.low)),
	                     _mm512_maskz_mov_epi32((__mmask16)(mask >> 16), count_bits(before.high)));
	return _mm512_reduce_max_epu32(most) + 1;
}

/* --- how lanes lie --- */

WIDE enum lane_layout lane_wide_layout(const uint64_t *address, unsigned access, bool row)
{
	const __m512i first = _mm512_set1_epi64((long long)address[0]);
	const __m512i step = _mm512_set1_epi64(row ? 8 * (long long)access : 0);
	__m512i ahead = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
	                                   _mm512_set1_epi64(row ? (long long)access : 0));
	__mmask8 differ = 0;
	for (unsigned q = 0; q < 4; q++) {
		differ |= _mm512_cmpneq_epi64_mask(
			_mm512_sub_epi64(_mm512_loadu_si512(address + 8 * q), first), ahead);
		ahead = _mm512_add_epi64(ahead, step);
	}
	return differ ? LAYOUT_ANY : row ? LAYOUT_ROW : LAYOUT_SAME;
}

WIDE bool lane_wide_offsets(const uint64_t *address, const int32_t before[32], int32_t offset[32],
                            bool *same)
{
	const __m512i first = _mm512_set1_epi64((long long)address[0]);
	__mmask8 far = 0;
	for (unsigned q = 0; q < 4; q++) {
		const __m512i d = _mm512_sub_epi64(_mm512_loadu_si512(address + 8 * q), first);
		const __m256i low = _mm512_cvtepi64_epi32(d);
		far |= _mm512_cmpneq_epi64_mask(_mm512_cvtepi32_epi64(low), d);
		_mm256_storeu_si256((__m256i *)(void *)(offset + 8 * q), low);
	}
	const __mmask16 differ =
		_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(offset), _mm512_loadu_si512(before)) |
		_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(offset + 16), _mm512_loadu_si512(before + 16));
	*same = !differ;
	return !far;
}

/* --- lines and sectors --- */

/* One bit of four for the sector of each of 8 lanes' lines. */
WIDE static inline __m128i sectors_of_eight(const uint64_t *address)
{
	const __m512i at =
		_mm512_and_si512(_mm512_srli_epi64(_mm512_loadu_si512(address), 5), _mm512_set1_epi64(3));
	return _mm512_cvtepi64_epi8(_mm512_sllv_epi64(_mm512_set1_epi64(1), at));
}

/* Lines and their sectors, of their first lanes. */
WIDE static inline void list_lines(const uint64_t *address, uint32_t firsts,
                                   const uint8_t sectors[32], struct global_probe *p)
{
	unsigned n = 0;
	for (unsigned q = 0; q < 4; q++) {
		const __mmask8 here = (__mmask8)(firsts >> 8 * q);
		const __m512i line = _mm512_srli_epi64(_mm512_loadu_si512(address + 8 * q), 7);
		_mm512_storeu_si512(p->line + n, _mm512_maskz_compress_epi64(here, line));
		n += (unsigned)__builtin_popcount(here);
	}
	p->n = n;
	_mm256_storeu_si256((__m256i *)(void *)p->sector_mask, _mm256_setzero_si256());
	for (unsigned h = 0, at = 0; h < 2; h++) {
		const __mmask16 here = (__mmask16)(firsts >> 16 * h);
		const __m512i of = _mm512_cvtepu8_epi32(
			_mm_loadu_si128((const __m128i *)(const void *)(sectors + 16 * h)));
		_mm_storeu_si128((__m128i *)(void *)(p->sector_mask + at),
		                 _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(here, of)));
		at += (unsigned)__builtin_popcount(here);
	}
}

WIDE bool lane_wide_probe(const uint64_t *address, uint32_t mask, unsigned access,
                          struct global_probe *p)
{
	struct lanes word, line;
	struct lane_sets lines;
	uint8_t sectors[32];
	uint64_t four[4];
	if (!take_keys(&word, address, mask, 0) || !take_keys(&line, address, mask, 7))
		return false;
	const struct lanes same_word = equal_before(&word, mask), same = equal_before(&line, mask);
	note_firsts(&lines, &same, mask);
	for (unsigned q = 0; q < 4; q++)
		_mm_storeu_si64(sectors + 8 * q, sectors_of_eight(address + 8 * q));
	for (uint32_t m = mask & ~lines.firsts; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		sectors[lines.first[i]] |= sectors[i];
	}
	list_lines(address, lines.firsts, sectors, p);
	p->lines = p->n;
	p->bytes = (uint32_t)__builtin_popcount(without(&same_word) & mask) * access;
	_mm256_storeu_si256((__m256i *)(void *)four,
	                    _mm256_loadu_si256((const __m256i *)(const void *)p->sector_mask));
	p->sectors = 0;
	for (unsigned q = 0; q < 4; q++)
		p->sectors += (uint32_t)__builtin_popcountll(four[q]);
	return true;
}
#else
void lane_wide_allow(bool allowed)
{
	(void)allowed;
}

bool lane_wide(void)
{
	return false;
}

bool lane_wide_sets(struct lane_sets *s, const uint64_t *address, uint32_t mask, unsigned shift)
{
	(void)s, (void)address, (void)mask, (void)shift;
	return false;
}

unsigned lane_wide_busiest(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift)
{
	(void)address, (void)mask, (void)n, (void)shift;
	return 0;
}

enum lane_layout lane_wide_layout(const uint64_t *address, unsigned access, bool row)
{
	(void)address, (void)access, (void)row;
	return LAYOUT_ANY;
}

bool lane_wide_offsets(const uint64_t *address, const int32_t before[32], int32_t offset[32],
                       bool *same)
{
	(void)address, (void)before, (void)offset, (void)same;
	return false;
}

bool lane_wide_probe(const uint64_t *address, uint32_t mask, unsigned access,
                     struct global_probe *p)
{
	(void)address, (void)mask, (void)access, (void)p;
	return false;
}
#endif

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

/* Of each of 8 lanes: those of 8 others, bits 0 to 7, that have its key. @both: the others' keys,
 * then theirs. */
WIDE static inline __m256i equal_others(__m512i both)
{
	return _mm512_extracti64x4_epi64(_mm512_conflict_epi32(both), 1);
}

/* Of each lane: those of @mask before it that have its key. The processor compares 16 lanes with
 * each other: every two quarters of the warp are put together once. */
WIDE static inline struct lanes equal_before(const struct lanes *k, uint32_t mask)
{
	const __m512i all = _mm512_set1_epi32((int)mask), l = k->low, h = k->high;
	const __m256i q02 = equal_others(_mm512_inserti64x4(l, _mm512_castsi512_si256(h), 1));
	const __m256i q03 = equal_others(_mm512_mask_blend_epi64(0xf0, l, h));
	const __m256i q12 = equal_others(_mm512_shuffle_i64x2(l, h, 0x4e));
	const __m256i q13 = equal_others(_mm512_shuffle_i64x2(l, h, 0xee));
	const __m512i eight = _mm512_set1_epi32(0xff);
	const __m512i q0 = _mm512_inserti64x4(_mm512_castsi256_si512(q02), q03, 1);
	const __m512i q1 = _mm512_inserti64x4(_mm512_castsi256_si512(q12), q13, 1);
	const __m512i across = _mm512_or_si512(_mm512_and_si512(q0, eight),
	                                       _mm512_slli_epi32(_mm512_and_si512(q1, eight), 8));
	const __m512i high = _mm512_or_si512(_mm512_slli_epi32(_mm512_conflict_epi32(h), 16), across);
	return (struct lanes){ _mm512_and_si512(_mm512_conflict_epi32(l), all),
		                   _mm512_and_si512(high, all) };
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

WIDE static inline void note_ranks(struct lane_ranks *r, const struct lanes *before)
{
	const __m512i one = _mm512_set1_epi32(1);
	_mm_storeu_si128((__m128i *)(void *)r->rank,
	                 _mm512_cvtepi32_epi8(_mm512_add_epi32(count_bits(before->low), one)));
	_mm_storeu_si128((__m128i *)(void *)(r->rank + 16),
	                 _mm512_cvtepi32_epi8(_mm512_add_epi32(count_bits(before->high), one)));
}

WIDE bool lane_wide_sets(struct lane_sets *s, struct lane_ranks *ranks, const uint64_t *address,
                         uint32_t mask, unsigned shift)
{
	struct lanes key;
	if (!take_keys(&key, address, mask, shift))
		return false;
	const struct lanes before = equal_before(&key, mask);
	note_firsts(s, &before, mask);
	if (ranks)
		note_ranks(ranks, &before);
	return true;
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

/* Lanes from the last to the first: lane 31 is number 0. */
WIDE static inline struct lanes backwards(const struct lanes *k)
{
	const __m512i at = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	return (struct lanes){ _mm512_permutexvar_epi32(at, k->high),
		                   _mm512_permutexvar_epi32(at, k->low) };
}

static inline uint32_t bits_backwards(uint32_t x)
{
	x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
	x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
	x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(x);
}

WIDE static inline __m256i bytes_backwards(__m256i x)
{
	const __m256i at = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
	return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(x, at), 0x4e);
}

/* Lanes that have one of these bits. */
WIDE static inline uint32_t lanes_with(const struct lanes *x, uint32_t bits)
{
	const __m512i any = _mm512_set1_epi32((int)bits);
	return _mm512_test_epi32_mask(x->low, any) | (uint32_t)_mm512_test_epi32_mask(x->high, any)
	                                                 << 16;
}

WIDE static inline uint32_t any_of(const struct lanes *x)
{
	return (uint32_t)_mm512_reduce_or_epi32(_mm512_or_si512(x->low, x->high));
}

/* Each lane of @mask and those before it that have its key; of others none. */
WIDE static inline struct lanes with_itself(const struct lanes *before, uint32_t mask)
{
	const __m512i low = _mm512_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128, 1 << 8, 1 << 9, 1 << 10,
	                                      1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15);
	return (struct lanes){
		_mm512_maskz_or_epi32((__mmask16)mask, before->low, low),
		_mm512_maskz_or_epi32((__mmask16)(mask >> 16), before->high, _mm512_slli_epi32(low, 16)),
	};
}

struct line_sectors {
	uint32_t firsts; /* the lowest lane of each line */
	uint32_t n;
	__m256i sectors; /* a byte for each lane; of a first one those of its line, one bit each */
};

/* @from_first: addresses as they differ from @first. Whatever lane has a key after the first one
 * that has it is found where lanes are looked at from the last to the first. */
WIDE static inline struct line_sectors find_lines(const struct lanes *from_first, uint64_t first,
                                                  uint32_t mask)
{
	const struct lanes at = backwards(from_first);
	const struct lanes line = { _mm512_srli_epi32(at.low, 7), _mm512_srli_epi32(at.high, 7) };
	const uint32_t here = bits_backwards(mask);
	struct lanes after = equal_before(&line, here);
	after.low = _mm512_maskz_mov_epi32((__mmask16)here, after.low);
	after.high = _mm512_maskz_mov_epi32((__mmask16)(here >> 16), after.high);
	const uint32_t firsts = here & ~any_of(&after);
	const struct lanes all = with_itself(&after, here);
	const uint32_t odd = lanes_with(&at, 1u << 5) ^ -(uint32_t)(first >> 5 & 1);
	const uint32_t upper = lanes_with(&at, 1u << 6) ^ -(uint32_t)(first >> 6 & 1);
	const uint32_t of_sector[4] = { ~odd & ~upper, odd & ~upper, ~odd & upper, odd & upper };
	struct line_sectors s = { bits_backwards(firsts), 0, _mm256_setzero_si256() };
	for (unsigned i = 0; i < 4; i++) {
		const uint32_t has = lanes_with(&all, of_sector[i]) & firsts;
		s.n += (uint32_t)__builtin_popcount(has);
		s.sectors = _mm256_or_si256(s.sectors,
		                            _mm256_maskz_mov_epi8(has, _mm256_set1_epi8((char)(1 << i))));
	}
	s.sectors = bytes_backwards(s.sectors);
	return s;
}

WIDE static inline void list_lines(const uint64_t *address, const struct line_sectors *s,
                                   struct global_probe *p)
{
	unsigned n = 0;
	for (unsigned q = 0; q < 4; q++) {
		const __mmask8 here = (__mmask8)(s->firsts >> 8 * q);
		const __m512i line = _mm512_srli_epi64(_mm512_loadu_si512(address + 8 * q), 7);
		_mm512_storeu_si512(p->line + n, _mm512_maskz_compress_epi64(here, line));
		n += (unsigned)__builtin_popcount(here);
	}
	p->n = n;
	n = 0;
	for (unsigned h = 0; h < 2; h++) {
		const __mmask16 here = (__mmask16)(s->firsts >> 16 * h);
		const __m512i of = _mm512_cvtepu8_epi32(h ? _mm256_extracti128_si256(s->sectors, 1)
		                                          : _mm256_castsi256_si128(s->sectors));
		_mm_storeu_si128((__m128i *)(void *)(p->sector_mask + n),
		                 _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(here, of)));
		n += (unsigned)__builtin_popcount(here);
	}
}

WIDE bool lane_wide_probe(const uint64_t *address, uint32_t mask, unsigned access,
                          struct global_probe *p)
{
	struct lanes at;
	if (!take_keys(&at, address, mask, 0))
		return false;
	const struct lanes same_word = equal_before(&at, mask);
	const struct line_sectors lines = find_lines(&at, address[__builtin_ctz(mask)], mask);
	list_lines(address, &lines, p);
	p->lines = p->n;
	p->sectors = lines.n;
	p->bytes = (uint32_t)__builtin_popcount(without(&same_word) & mask) * access;
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

bool lane_wide_sets(struct lane_sets *s, struct lane_ranks *ranks, const uint64_t *address,
                    uint32_t mask, unsigned shift)
{
	(void)s, (void)ranks, (void)address, (void)mask, (void)shift;
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

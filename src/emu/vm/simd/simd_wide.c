/*
 * Regular memory accesses of other widths: any bytes of an element, one or several elements per
 * lane. As simd_mem.c otherwise.
 */
#include "emu/vm/simd/simd_count.h"

#include "base/value_flags.h"

#if defined(__AVX512F__)
/* Four words of each of 16 lanes, all within the @n (2, 4 or 8) vectors from @from on, which may be
 * read: picked from pairs of vectors, by the bits that a pair leaves open. @first: of each lane. */
__attribute__((always_inline)) static inline void load_half_quads(struct warp *w,
                                                                  const struct memop *m,
                                                                  const uint8_t *from,
                                                                  const unsigned n, __m512i first,
                                                                  unsigned half)
{
	const __mmask16 bit5 = _mm512_test_epi32_mask(first, _mm512_set1_epi32(32));
	const __mmask16 bit6 = _mm512_test_epi32_mask(first, _mm512_set1_epi32(64));
	__m512i z[8];
	for (unsigned k = 0; k < n; k++)
		z[k] = _mm512_loadu_si512(from + 64 * k);
	for (int e = 0; e < 4; e++) {
		const __m512i at = _mm512_add_epi32(first, _mm512_set1_epi32(e));
		__m512i r[4];
		for (unsigned k = 0; k < n / 2; k++)
			r[k] = _mm512_permutex2var_epi32(z[2 * k], at, z[2 * k + 1]);
		for (unsigned k = 0; k < n / 4; k++)
			r[k] = _mm512_mask_mov_epi32(r[2 * k], bit5, r[2 * k + 1]);
		if (n == 8)
			r[0] = _mm512_mask_mov_epi32(r[0], bit6, r[1]);
		_mm512_storeu_si512((char *)frame(w, (uint32_t)m->d[e]) + 64 * half, r[0]);
	}
}
/* The same of all lanes. */
__attribute__((always_inline)) static inline void load_quads_near(struct warp *w,
                                                                  const struct memop *m,
                                                                  const uint8_t *from,
                                                                  const unsigned n)
{
	for (unsigned h = 0; h < 2; h++)
		load_half_quads(w, m, from, n, _mm512_slli_epi32(_mm512_loadu_si512(m->index + 16 * h), 2),
		                h);
}
/* One lane behind the other: each half warp has 256 bytes. */
static inline void load_quads_in_row(struct warp *w, const struct memop *m, const uint8_t *from)
{
	const __m512i first = _mm512_slli_epi32(_mm512_loadu_si512(m->index), 2);
	for (unsigned h = 0; h < 2; h++)
		load_half_quads(w, m, from + 256 * h, 4, first, h);
}
#endif
/* Four words per lane: four lanes at a time, turned from rows to columns. */
static inline void load_quads(struct warp *w, const struct memop *m, const uint8_t *from)
{
#if defined(__AVX512F__)
	if (m->span <= 512) {
		if (m->row == 32)
			load_quads_in_row(w, m, from);
		else if (m->span <= 128)
			load_quads_near(w, m, from, 2);
		else if (m->span <= 256)
			load_quads_near(w, m, from, 4);
		else
			load_quads_near(w, m, from, 8);
		return;
	}
#endif
#ifdef __SSE2__
	mem_f32 *d[4];
	for (unsigned e = 0; e < 4; e++)
		d[e] = frame(w, (uint32_t)m->d[e]);
	for (unsigned i = 0; i < 32; i += 4) {
		__m128 r[4];
		for (unsigned k = 0; k < 4; k++)
			r[k] = _mm_loadu_ps((const float *)(const void *)(from + 16 * m->index[i + k]));
		_MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
		for (unsigned e = 0; e < 4; e++)
			_mm_storeu_ps(d[e] + i, r[e]);
	}
#else
	for (unsigned e = 0; e < 4; e++) {
		mem_u32 *d = frame(w, (uint32_t)m->d[e]);
		for (unsigned i = 0; i < 32; i++)
			d[i] = ((const mem_u32 *)(const void *)(from + 16 * m->index[i]))[e];
	}
#endif
}
static inline void store_quads(struct warp *w, const struct memop *m, uint8_t *to)
{
#ifdef __SSE2__
	const mem_f32 *s[4];
	for (unsigned e = 0; e < 4; e++)
		s[e] = frame(w, m->s[e]);
	for (unsigned i = 0; i < 32; i += 4) {
		__m128 r[4];
		for (unsigned e = 0; e < 4; e++)
			r[e] = _mm_loadu_ps(s[e] + i);
		_MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
		for (unsigned k = 0; k < 4; k++)
			_mm_storeu_ps((float *)(void *)(to + 16 * m->index[i + k]), r[k]);
	}
#else
	for (unsigned e = 0; e < 4; e++) {
		const mem_u32 *s = frame(w, m->s[e]);
		for (unsigned i = 0; i < 32; i++)
			((mem_u32 *)(void *)(to + 16 * m->index[i]))[e] = s[i];
	}
#endif
}
#if defined(__AVX512F__)
#define PICKS_BYTES __attribute__((target("avx512vbmi")))
/* A byte of each lane, all within 128 bytes, which may be read. */
GUEST_MEMORY PICKS_BYTES static void load_places(mem_u32 *to, const uint8_t *from,
                                                 const struct memop *m)
{
	const __m128i low = _mm512_cvtepi32_epi8(_mm512_loadu_si512(m->index));
	const __m128i high = _mm512_cvtepi32_epi8(_mm512_loadu_si512(m->index + 16));
	const __m512i at = _mm512_castsi256_si512(_mm256_set_m128i(high, low));
	const __m512i v =
		_mm512_permutex2var_epi8(_mm512_loadu_si512(from), at, _mm512_loadu_si512(from + 64));
	for (unsigned h = 0; h < 2; h++) {
		const __m128i half = h ? _mm512_extracti32x4_epi32(v, 1) : _mm512_castsi512_si128(v);
		_mm512_storeu_si512(to + 16 * h,
		                    m->sign ? _mm512_cvtepi8_epi32(half) : _mm512_cvtepu8_epi32(half));
	}
}
/* Those places only are written that are some lane's. */
GUEST_MEMORY PICKS_BYTES static void store_places(uint8_t *to, const mem_u32 *from,
                                                  const struct memop *m)
{
	const struct byte_places *p = m->places;
	const __m128i low = _mm512_cvtepi32_epi8(_mm512_loadu_si512(from));
	const __m128i high = _mm512_cvtepi32_epi8(_mm512_loadu_si512(from + 16));
	const __m512i v = _mm512_castsi256_si512(_mm256_set_m128i(high, low));
	for (unsigned h = 0; h < 2; h++)
		_mm512_mask_storeu_epi8(to + 64 * h, p->any[h],
		                        _mm512_permutexvar_epi8(_mm512_loadu_si512(p->lane + 64 * h), v));
}
#else
static inline void load_places(mem_u32 *to, const uint8_t *from, const struct memop *m)
{
	(void)to, (void)from, (void)m;
}
static inline void store_places(uint8_t *to, const mem_u32 *from, const struct memop *m)
{
	(void)to, (void)from, (void)m;
}
#endif
static inline bool all_four(const struct memop *m)
{
	return m->vec == 4 && m->bytes == 4 && m->d[0] >= 0 && m->d[1] >= 0 && m->d[2] >= 0 &&
	       m->d[3] >= 0;
}

/* One element of 8 bytes per lane. */
static inline void load_longs(struct warp *w, const struct memop *m, const uint8_t *from)
{
	mem_u64 *d = frame(w, (uint32_t)m->d[0]);
	for (unsigned h = 0; h < 2 && m->half_layout != HALF_OTHER; h++, d += 16) {
		const mem_u64 *s = (const mem_u64 *)(const void *)(from + m->half[h]);
		if (m->half_layout == HALF_UNIT) {
			memcpy((void *)d, (const void *)s, 128);
			continue;
		}
		const uint64_t one = *s;
		for (unsigned i = 0; i < 16; i++)
			d[i] = one;
	}
	if (m->half_layout != HALF_OTHER)
		return;
#if defined(__AVX512F__)
	for (unsigned i = 0; i < 32; i += 8) {
		const __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(m->index + i));
		_mm512_storeu_si512((void *)(d + i), _mm512_i32gather_epi64(at, (const void *)from, 8));
	}
#else
	const mem_u64 *s = (const mem_u64 *)(const void *)from;
	for (unsigned i = 0; i < 32; i++)
		d[i] = s[m->index[i]];
#endif
}
static inline bool one_long(const struct memop *m)
{
	return m->bytes == 8 && m->vec == 1;
}
/* As sampled_pattern(). */
static inline bool sampled_wide(const struct warp *w, const struct memop *m, uint64_t low)
{
	if (!one_long(m) || m->half_layout == HALF_OTHER)
		return sampled_pattern(w, m, low);
	return sampled_span(w, low + (uint64_t)m->half[0], 128) ||
	       sampled_span(w, low + (uint64_t)m->half[1], 128);
}

/* eight: lanes in a row */
#define MOVE_TYPE(name, type, lane, zext)                                                         \
	static inline void load_eight_##name(lane *to, const type *from)                              \
	{                                                                                             \
		lane v[8];                                                                                \
		for (unsigned i = 0; i < 8; i++)                                                          \
			v[i] = from[i];                                                                       \
		memcpy((void *)to, (const void *)v, sizeof v);                                            \
	}                                                                                             \
	static inline void store_eight_##name(type *to, const lane *from)                             \
	{                                                                                             \
		type v[8];                                                                                \
		for (unsigned i = 0; i < 8; i++)                                                          \
			v[i] = (type)from[i];                                                                 \
		memcpy((void *)to, (const void *)v, sizeof v);                                            \
	}                                                                                             \
	static inline void load_##name(struct warp *w, const struct memop *m, const uint8_t *from)    \
	{                                                                                             \
		if (sizeof(type) == 4 && all_four(m)) {                                                   \
			load_quads(w, m, from);                                                               \
			return;                                                                               \
		}                                                                                         \
		if (sizeof(type) == 1 && m->places && m->d[0] >= 0) {                                     \
			load_places(frame(w, (uint32_t)m->d[0]), from, m);                                    \
			return;                                                                               \
		}                                                                                         \
		if (sizeof(type) == 8 && m->vec == 1 && m->d[0] >= 0) {                                   \
			load_longs(w, m, from);                                                               \
			return;                                                                               \
		}                                                                                         \
		const unsigned vec = m->vec;                                                              \
		for (unsigned e = 0; e < m->vec; e++) {                                                   \
			if (m->d[e] < 0)                                                                      \
				continue;                                                                         \
			lane *d = frame(w, (uint32_t)m->d[e]);                                                \
			const type *p = (const type *)(const void *)(from + e * sizeof(type));                \
			if (vec == 1 && m->row >= 8) {                                                        \
				for (unsigned i = 0; i < 32; i += 8)                                              \
					load_eight_##name(d + i, p + m->index[i]);                                    \
				continue;                                                                         \
			}                                                                                     \
			for (unsigned i = 0; i < 32; i++)                                                     \
				d[i] = p[m->index[i] * (int)vec];                                                 \
		}                                                                                         \
	}                                                                                             \
	static inline void scalars_##name(struct warp *w, const struct memop *m, const uint8_t *from) \
	{                                                                                             \
		for (unsigned e = 0; e < m->vec; e++)                                                     \
			if (m->d[e] >= 0)                                                                     \
				SCALAR64((uint32_t)m->d[e]) =                                                     \
					(uint64_t)(zext)((const type *)(const void *)from)[e];                        \
	}                                                                                             \
	static inline void store_##name(struct warp *w, const struct memop *m, uint8_t *to)           \
	{                                                                                             \
		if (sizeof(type) == 4 && m->vec == 4) {                                                   \
			store_quads(w, m, to);                                                                \
			return;                                                                               \
		}                                                                                         \
		if (sizeof(type) == 1 && m->places) {                                                     \
			store_places(to, frame(w, m->s[0]), m);                                               \
			return;                                                                               \
		}                                                                                         \
		for (unsigned e = 0; e < m->vec; e++) {                                                   \
			const lane *s = frame(w, m->s[e]);                                                    \
			type *p = (type *)(void *)(to + e * sizeof(type));                                    \
			if (m->vec == 1 && m->row >= 8) {                                                     \
				for (unsigned i = 0; i < 32; i += 8)                                              \
					store_eight_##name(p + m->index[i], s + i);                                   \
				continue;                                                                         \
			}                                                                                     \
			for (unsigned i = 0; i < 32; i++)                                                     \
				p[m->index[i] * m->vec] = (type)s[i];                                             \
		}                                                                                         \
	}
MOVE_TYPE(u8, mem_u8, mem_u32, uint32_t)
MOVE_TYPE(u16, mem_u16, mem_u32, uint32_t)
MOVE_TYPE(b32, mem_u32, mem_u32, uint32_t)
MOVE_TYPE(b64, mem_u64, mem_u64, uint64_t)
/* NOLINTNEXTLINE(bugprone-signed-char-misuse): ld.s8 widens with the sign */
MOVE_TYPE(s8, mem_s8, mem_s32, uint32_t)
MOVE_TYPE(s16, mem_s16, mem_s32, uint32_t)

/* Flags of a buffer whose contents were undefined: these bytes are written now. */
static inline void mark_wide(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (!flags)
		return;
	const struct memop *m = MEMOP;
	mem_u8 *f = (mem_u8 *)(flags + low / 4);
	if (m->row == 32)
		value_flags_set(f, low % 4, 32u * m->access);
	else if (m->access >= 4)
		for (unsigned i = 0; i < 32; i++)
			for (unsigned k = 0; k < m->access / 4; k++)
				f[m->index[i] * (m->access / 4) + (int)k] = VALUE_FLAGS_WORD;
	else
		for (unsigned i = 0; i < 32; i++)
			value_flags_set(f, low % 4 + (uint64_t)m->index[i] * m->access, m->access);
}
#define MARK_WIDE_global mark_wide(w, u, low)
#define MARK_WIDE_shared32 ((void)0)
#define MARK_WIDE_shared64 ((void)0)

#define AHEAD_global fetch_ahead(w, &w->win[u->y], low, true)
#define AHEAD_shared32 ((void)0)
#define AHEAD_shared64 ((void)0)

#define WIDE_ACCESS(fn, place, shared, ahead, log, move)                            \
	WARP_ACCESS(fn, place, MEMOP->align_mask, shared, COUNT_PATTERN_##place, ahead, \
	            sampled_wide(w, MEMOP, low), log, move)
#define WIDE(place, shared, name)                                                                  \
	WIDE_ACCESS(ldv_##place##_##name, place, shared, (void)0, log_one(w, u, low),                  \
	            scalars_##name(w, MEMOP, HOST_##place))                                            \
	WIDE_ACCESS(ldw_##place##_##name, place, shared, AHEAD_##place,                                \
	            log_lanes(w, MEMOP, low, load_kind(w, u)), load_##name(w, MEMOP, HOST_##place))    \
	WIDE_ACCESS(stw_##place##_##name, place, shared, (void)0, log_lanes(w, MEMOP, low, LOG_STORE), \
	            (MARK_WIDE_##place, store_##name(w, MEMOP, HOST_##place)))
static inline unsigned sectors_of(uint64_t low, unsigned bytes)
{
	const unsigned first = (unsigned)(low >> 5 & 3), last = (unsigned)((low + bytes - 1) >> 5 & 3);
	return (2u << last) - (1u << first);
}
static inline void log_one(struct warp *w, const struct uop *u, uint64_t low)
{
	const struct log_request r = one_line(w, u);
	log_line(w, line_of(low), sectors_of(low, MEMOP->access), &r);
}
#define WIDE_ALL(place, shared) \
	WIDE(place, shared, u8)     \
	WIDE(place, shared, u16)    \
	WIDE(place, shared, b32)    \
	WIDE(place, shared, b64) WIDE(place, shared, s8) WIDE(place, shared, s16)
WIDE_ALL(global, 0)
WIDE_ALL(shared32, 1)
WIDE_ALL(shared64, 1)

#define TYPES(kind, place)                                                                \
	{ FULL(kind##_##place##_u8),  FULL(kind##_##place##_u16), FULL(kind##_##place##_b32), \
	  FULL(kind##_##place##_b64), FULL(kind##_##place##_s8),  FULL(kind##_##place##_s16) }
#define TABLE(kind) { TYPES(kind, global), TYPES(kind, shared32), TYPES(kind, shared64) }
const struct wide_handlers LEVEL(wide_handlers) = {
	.ld_uniform = TABLE(ldv),
	.ld = TABLE(ldw),
	.st = TABLE(stw),
};

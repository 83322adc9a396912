/*
 * Regular memory accesses: scalar addresses, and scalar + pattern, without looking at 32 addresses.
 *
 * A full warp is checked against the buffer that the instruction used last (mem_window); what it
 * costs is known from the segment's execution count, or from a table by the address's last seven
 * bits. Lines that the cache simulation follows are noted. Any doubt goes to access.c: another
 * buffer, the edge of one, a misaligned address, a tracked buffer.
 */
#include "emu/vm/simd/simd_place.h"

/* --- what the cache simulation gets --- */

static inline enum log_kind load_kind(const struct warp *w, const struct uop *u)
{
	return MEMOP->x->bypass_l1 ? LOG_LOAD_L2 : LOG_LOAD;
}
static bool sampled_pattern(const struct warp *w, const struct memop *m, uint64_t low)
{
	uint64_t last = 0;
	for (unsigned i = 0; i < 32; i++) {
		const uint64_t at = low + m->access * (uint64_t)m->index[i];
		if (at >> 7 != last && sampled(w, at))
			return true;
		last = at >> 7;
	}
	return false;
}
static inline bool sampled_halves(const struct warp *w, const struct memop *m, uint64_t low)
{
	return sampled_span(w, low + (uint64_t)m->half[0], 64) ||
	       sampled_span(w, low + (uint64_t)m->half[1], 64);
}
/* 128 consecutive bytes */
static void log_unit(struct warp *w, uint64_t low, enum log_kind kind)
{
	const unsigned first = (unsigned)(low >> 5 & 3), last = (unsigned)((low + 127) >> 5 & 3);
	if (!(low & 127)) {
		log_line(w, line_of(low), 15, kind);
		return;
	}
	if (sampled(w, low))
		log_line(w, line_of(low), 15u & ~((1u << first) - 1), kind);
	if (sampled(w, low + 127))
		log_line(w, line_of(low + 127), (2u << last) - 1, kind);
}
/* Any pattern; lanes in a row mostly share a line. */
static void log_lanes(struct warp *w, const struct memop *m, uint64_t low, enum log_kind kind)
{
	uint64_t line[32];
	unsigned sectors[32], n = 0, k = 0;
	if (m->lines_full == 32 && !(low & m->usual)) { /* each lane has a line of its own */
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t a = low + m->access * (uint64_t)m->index[i];
			if (sampled(w, a))
				log_line(w, line_of(a), 1u << (a >> 5 & 3), kind);
		}
		return;
	}
	for (unsigned i = 0; i < 32; i++) {
		const uint64_t a = low + (uint64_t)(m->addr.pattern->lane[i] - m->addr.pattern->min);
		if (!n || line[k] != a >> 7) {
			for (k = 0; k < n && line[k] != a >> 7; k++)
				;
			if (k == n) {
				line[n] = a >> 7;
				sectors[n++] = 0;
			}
		}
		sectors[k] |= 1u << (a >> 5 & 3);
	}
	for (k = 0; k < n; k++)
		if (sampled(w, line[k] << 7))
			log_line(w, line_of(line[k] << 7), sectors[k], kind);
}

/* --- scalar loads --- */

/* One sector, one line whatever the mask. */
static inline void count_one(struct warp *w, const struct uop *u, bool shared, unsigned bytes)
{
	struct mem_count *c = &w->mem[u->y];
	c->requests++;
	c->space[shared]++;
	if (shared) {
		c->wavefronts++;
		c->ideal++;
	} else {
		c->sectors++;
		c->lines++;
		c->bytes += bytes;
	}
}

#define LD_UNIFORM(place, shared, name, type, as)                         \
	COLD GUEST ld_##place##_##name##_log ARGS                             \
	{                                                                     \
		const uint64_t low = LOW_##place;                                 \
		log_line(w, line_of(low), 1u << (low >> 5 & 3), load_kind(w, u)); \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place;     \
		if (mask == 0xffffffffu)                                          \
			NEXT_full(u + 1);                                             \
		NEXT_masked(u + 1);                                               \
	}                                                                     \
	GUEST ld_##place##_##name##_full ARGS                                 \
	{                                                                     \
		const uint64_t low = LOW_##place;                                 \
		if (RARE(!FITS_##place(sizeof(type) - 1)))                        \
			EMU_JUMP access_slow(w, u, mask);                             \
		if (!(shared) && RARE(sampled(w, low)))                           \
			EMU_JUMP ld_##place##_##name##_log(w, u, mask);               \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place;     \
		NEXT_full(u + 1);                                                 \
	}                                                                     \
	GUEST ld_##place##_##name##_masked ARGS                               \
	{                                                                     \
		const uint64_t low = LOW_##place;                                 \
		if (RARE(!FITS_##place(sizeof(type) - 1)))                        \
			EMU_JUMP vm_access.masked(w, u, mask);                        \
		count_one(w, u, shared, sizeof(type));                            \
		if (!(shared) && RARE(sampled(w, low)))                           \
			EMU_JUMP ld_##place##_##name##_log(w, u, mask);               \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place;     \
		NEXT_masked(u + 1);                                               \
	}
#define LD_UNIFORM_ALL(place, shared)                 \
	LD_UNIFORM(place, shared, u8, mem_u8, uint32_t)   \
	LD_UNIFORM(place, shared, u16, mem_u16, uint32_t) \
	LD_UNIFORM(place, shared, b32, mem_u32, uint32_t) \
	LD_UNIFORM(place, shared, b64, mem_u64, uint64_t) \
	LD_UNIFORM(place, shared, s8, mem_s8, uint32_t)   \
	LD_UNIFORM(place, shared, s16, mem_s16, uint32_t)
LD_UNIFORM_ALL(global, 0)
LD_UNIFORM_ALL(shared32, 1)
LD_UNIFORM_ALL(shared64, 1)

/* --- four bytes per lane --- */

static inline void copy_unit(void *to, const void *from)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	EACH_LANE(i) d[i] = s[i];
}
static inline void copy_unit_masked(void *to, const void *from, uint32_t mask)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	EACH_LANE(i)
	{
		if (mask & lane_bit[i])
			d[i] = s[i];
	}
}
/* Words within 128 bytes; the 128 bytes may be read. */
static inline void pick_window(void *to, const void *from, const int32_t *index)
{
#if defined(__AVX512F__)
	const __m512i lo = _mm512_loadu_si512(from);
	const __m512i hi = _mm512_loadu_si512((const char *)from + 64);
	_mm512_storeu_si512(to, _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(index), hi));
	_mm512_storeu_si512((char *)to + 64,
	                    _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(index + 16), hi));
#else
	mem_u32 *d = to;
	const mem_u32 *s = from;
	for (unsigned i = 0; i < 32; i++)
		d[i] = s[index[i]];
#endif
}
static inline void pick_halves(void *to, const char *from, const struct memop *m)
{
#if defined(__AVX512F__)
	for (unsigned h = 0; h < 2; h++) {
		const __m512i v = _mm512_loadu_si512(from + m->half[h]);
		const __m512i at = _mm512_loadu_si512(m->index + 16 * h);
		_mm512_storeu_si512((char *)to + 64 * h, _mm512_permutexvar_epi32(at, v));
	}
#else
	mem_u32 *d = to;
	for (unsigned i = 0; i < 32; i++)
		d[i] = ((const mem_u32 *)(const void *)(from + m->half[i / 16]))[m->index[i]];
#endif
}
static inline void pick_any(void *to, const void *from, const int32_t *index)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	for (unsigned i = 0; i < 32; i++)
		d[i] = s[index[i]];
}
static inline void put_any(void *to, const void *from, const int32_t *index)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	for (unsigned i = 0; i < 32; i++)
		d[index[i]] = s[i];
}

/* Where the address is not as aligned as usual, sectors and lines are counted now. */
static inline void count_odd(struct warp *w, const struct uop *u, uint64_t low)
{
	const uint64_t n = MEMOP->lines_at[low & 127];
	struct mem_count *c = &w->mem[u->y];
	c->odd[w->program->kind]++;
	c->packed += (n & 0xff) | (n >> 8) << 32;
}
static inline void count_unit(struct warp *w, const struct uop *u, uint64_t low)
{
	if (RARE(low & 127)) /* the usual of consecutive words */
		count_odd(w, u, low);
}
static inline void count_pattern(struct warp *w, const struct uop *u, uint64_t low)
{
	if (RARE(low & MEMOP->usual))
		count_odd(w, u, low);
}
#define COUNT_UNIT_global count_unit(w, u, low)
#define COUNT_UNIT_shared32 ((void)0)
#define COUNT_UNIT_shared64 ((void)0)
#define COUNT_PATTERN_global count_pattern(w, u, low)
#define COUNT_PATTERN_shared32 ((void)0)
#define COUNT_PATTERN_shared64 ((void)0)
#define AHEAD_global fetch_ahead(w, &w->win[u->y], low, true)
#define AHEAD_shared32 ((void)0)
#define AHEAD_shared64 ((void)0)

/* is_sampled, log, move may use low */
#define WARP_ACCESS(name, place, shared, COUNT, ahead, is_sampled, log, move) \
	COLD GUEST name##_log ARGS                                                \
	{                                                                         \
		const uint64_t low = LOW_##place;                                     \
		log;                                                                  \
		move;                                                                 \
		NEXT_full(u + 1);                                                     \
	}                                                                         \
	GUEST name##_full ARGS                                                    \
	{                                                                         \
		const uint64_t low = LOW_##place;                                     \
		if (RARE(!FITS_##place(3)))                                           \
			EMU_JUMP access_slow(w, u, mask);                                 \
		COUNT;                                                                \
		ahead;                                                                \
		if (!(shared) && RARE(is_sampled))                                    \
			EMU_JUMP name##_log(w, u, mask);                                  \
		move;                                                                 \
		NEXT_full(u + 1);                                                     \
	}
#define UNIT_SAMPLED (low & 127 ? sampled_span(w, low, 128) : sampled(w, low))

#define LOADS(place, shared)                                                                       \
	WARP_ACCESS(ld_##place##_unit, place, shared, COUNT_UNIT_##place, AHEAD_##place, UNIT_SAMPLED, \
	            log_unit(w, low, load_kind(w, u)), copy_unit(frame(w, u->d), HOST_##place))        \
	WARP_ACCESS(ld_##place##_window, place, shared, COUNT_PATTERN_##place, AHEAD_##place,          \
	            sampled_span(w, low, 128), log_lanes(w, MEMOP, low, load_kind(w, u)),              \
	            pick_window(frame(w, u->d), HOST_##place, MEMOP->index))                           \
	WARP_ACCESS(ld_##place##_halves, place, shared, COUNT_PATTERN_##place, AHEAD_##place,          \
	            sampled_halves(w, MEMOP, low), log_lanes(w, MEMOP, low, load_kind(w, u)),          \
	            pick_halves(frame(w, u->d), HOST_##place, MEMOP))                                  \
	WARP_ACCESS(ld_##place##_pattern, place, shared, COUNT_PATTERN_##place, (void)0,               \
	            sampled_pattern(w, MEMOP, low), log_lanes(w, MEMOP, low, load_kind(w, u)),         \
	            pick_any(frame(w, u->d), HOST_##place, MEMOP->index))
LOADS(global, 0)
LOADS(shared32, 1)
LOADS(shared64, 1)

/* Flags of a buffer whose contents were undefined: these bytes are written now. */
static inline void mark_unit(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (flags) {
		mem_u32 *f = (mem_u32 *)(flags + low);
		EACH_LANE(i) f[i] = 0x01010101;
	}
}
static inline void mark_pattern(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (flags) {
		mem_u32 *f = (mem_u32 *)(flags + low);
		for (unsigned i = 0; i < 32; i++)
			f[MEMOP->index[i]] = 0x01010101;
	}
}
#define MARK_UNIT_global mark_unit(w, u, low)
#define MARK_UNIT_shared32 ((void)0)
#define MARK_UNIT_shared64 ((void)0)
#define MARK_PATTERN_global mark_pattern(w, u, low)
#define MARK_PATTERN_shared32 ((void)0)
#define MARK_PATTERN_shared64 ((void)0)

#define STORES(place, shared)                                                                \
	WARP_ACCESS(st_##place##_unit, place, shared, COUNT_UNIT_##place, (void)0, UNIT_SAMPLED, \
	            log_unit(w, low, LOG_STORE),                                                 \
	            (MARK_UNIT_##place, copy_unit(HOST_##place, frame(w, u->b))))                \
	WARP_ACCESS(st_##place##_pattern, place, shared, COUNT_PATTERN_##place, (void)0,         \
	            sampled_pattern(w, MEMOP, low), log_lanes(w, MEMOP, low, LOG_STORE),         \
	            (MARK_PATTERN_##place, put_any(HOST_##place, frame(w, u->b), MEMOP->index)))
STORES(global, 0)
STORES(shared32, 1)
STORES(shared64, 1)

/* --- consecutive words of some lanes --- */

static inline void count_unit_masked(struct warp *w, const struct uop *u, uint64_t low,
                                     uint32_t mask)
{
	struct mem_count *c = &w->mem[u->y];
	const uint64_t words = (uint64_t)mask << (low >> 2 & 31);
	uint64_t x = words | words >> 4; /* one bit per 8 words: a sector */
	x |= x >> 2;
	x |= x >> 1;
	x &= 0x0101010101010101u;
	c->requests++;
	c->space[0]++;
	c->sectors += x * 0x0101010101010101u >> 56;
	c->lines += (uint64_t)((uint32_t)words != 0) + (words >> 32 != 0);
	c->bytes += 4 * lane_popc32(mask);
}
#define COUNT_MASKED_global count_unit_masked(w, u, low, mask)
#define COUNT_MASKED_shared32 count_one(w, u, true, 0)
#define COUNT_MASKED_shared64 count_one(w, u, true, 0)

#define UNIT_MASKED(place, shared)                                                    \
	GUEST ld_##place##_unit_masked ARGS                                               \
	{                                                                                 \
		const uint64_t low = LOW_##place;                                             \
		if (RARE(!FITS_##place(3)) || (!(shared) && RARE(sampled_span(w, low, 128)))) \
			EMU_JUMP vm_access.masked(w, u, mask);                                    \
		COUNT_MASKED_##place;                                                         \
		copy_unit_masked(frame(w, u->d), HOST_##place, mask);                         \
		NEXT_masked(u + 1);                                                           \
	}                                                                                 \
	GUEST st_##place##_unit_masked ARGS                                               \
	{                                                                                 \
		const uint64_t low = LOW_##place;                                             \
		if (RARE(!FITS_##place(3)) ||                                                 \
		    (!(shared) && (w->win[u->y].written || RARE(sampled_span(w, low, 128))))) \
			EMU_JUMP vm_access.masked(w, u, mask);                                    \
		COUNT_MASKED_##place;                                                         \
		copy_unit_masked(HOST_##place, frame(w, u->b), mask);                         \
		NEXT_masked(u + 1);                                                           \
	}
UNIT_MASKED(global, 0)
UNIT_MASKED(shared32, 1)
UNIT_MASKED(shared64, 1)

/* --- other widths --- */

#if defined(__AVX512F__)
/* Four words per lane, all within 512 bytes, which may be read: picked from eight vectors. */
static inline void load_quads_near(struct warp *w, const struct memop *m, const uint8_t *from)
{
	__m512i z[8];
	for (unsigned k = 0; k < 8; k++)
		z[k] = _mm512_loadu_si512(from + 64 * k);
	for (unsigned h = 0; h < 2; h++) {
		const __m512i first = _mm512_slli_epi32(_mm512_loadu_si512(m->index + 16 * h), 2);
		const __mmask16 bit5 = _mm512_test_epi32_mask(first, _mm512_set1_epi32(32));
		const __mmask16 bit6 = _mm512_test_epi32_mask(first, _mm512_set1_epi32(64));
		for (int e = 0; e < 4; e++) {
			const __m512i at = _mm512_add_epi32(first, _mm512_set1_epi32(e));
			__m512i r[4];
			for (unsigned k = 0; k < 4; k++)
				r[k] = _mm512_permutex2var_epi32(z[2 * k], at, z[2 * k + 1]);
			const __m512i lo = _mm512_mask_mov_epi32(r[0], bit5, r[1]);
			const __m512i hi = _mm512_mask_mov_epi32(r[2], bit5, r[3]);
			_mm512_storeu_si512((char *)frame(w, (uint32_t)m->d[e]) + 64 * h,
			                    _mm512_mask_mov_epi32(lo, bit6, hi));
		}
	}
}
#endif
/* Four words per lane: four lanes at a time, turned from rows to columns. */
static inline void load_quads(struct warp *w, const struct memop *m, const uint8_t *from)
{
#if defined(__AVX512F__)
	if (m->span <= 512) {
		load_quads_near(w, m, from);
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
static inline bool all_four(const struct memop *m)
{
	return m->vec == 4 && m->bytes == 4 && m->d[0] >= 0 && m->d[1] >= 0 && m->d[2] >= 0 &&
	       m->d[3] >= 0;
}

#define MOVE_TYPE(name, type, lane, zext)                                                         \
	static inline void load_##name(struct warp *w, const struct memop *m, const uint8_t *from)    \
	{                                                                                             \
		if (sizeof(type) == 4 && all_four(m)) {                                                   \
			load_quads(w, m, from);                                                               \
			return;                                                                               \
		}                                                                                         \
		for (unsigned e = 0; e < m->vec; e++) {                                                   \
			if (m->d[e] < 0)                                                                      \
				continue;                                                                         \
			lane *d = frame(w, (uint32_t)m->d[e]);                                                \
			const type *p = (const type *)(const void *)(from + e * sizeof(type));                \
			for (unsigned i = 0; i < 32; i++)                                                     \
				d[i] = p[m->index[i] * m->vec];                                                   \
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
		for (unsigned e = 0; e < m->vec; e++) {                                                   \
			const lane *s = frame(w, m->s[e]);                                                    \
			type *p = (type *)(void *)(to + e * sizeof(type));                                    \
			for (unsigned i = 0; i < 32; i++)                                                     \
				p[m->index[i] * m->vec] = (type)s[i];                                             \
		}                                                                                         \
	}
MOVE_TYPE(u8, mem_u8, mem_u32, uint32_t)
MOVE_TYPE(u16, mem_u16, mem_u32, uint32_t)
MOVE_TYPE(b32, mem_u32, mem_u32, uint32_t)
MOVE_TYPE(b64, mem_u64, mem_u64, uint64_t)
MOVE_TYPE(s8, mem_s8, mem_s32, uint32_t)
MOVE_TYPE(s16, mem_s16, mem_s32, uint32_t)

static inline void mark_wide(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (flags) {
		const struct memop *m = MEMOP;
		for (unsigned i = 0; i < 32; i++)
			for (unsigned k = 0; k < m->access; k++)
				((mem_u8 *)(flags + low))[m->index[i] * m->access + (int)k] = 1;
	}
}
#define MARK_WIDE_global mark_wide(w, u, low)
#define MARK_WIDE_shared32 ((void)0)
#define MARK_WIDE_shared64 ((void)0)

#define WIDE_ACCESS(fn, place, shared, log, move)        \
	COLD GUEST fn##_log ARGS                             \
	{                                                    \
		const uint64_t low = LOW_##place;                \
		log;                                             \
		move;                                            \
		NEXT_full(u + 1);                                \
	}                                                    \
	GUEST fn##_full ARGS                                 \
	{                                                    \
		const uint64_t low = LOW_##place;                \
		if (RARE(!FITS_##place(MEMOP->align_mask)))      \
			EMU_JUMP access_slow(w, u, mask);            \
		COUNT_PATTERN_##place;                           \
		if (!(shared) && sampled_pattern(w, MEMOP, low)) \
			EMU_JUMP fn##_log(w, u, mask);               \
		move;                                            \
		NEXT_full(u + 1);                                \
	}
#define WIDE(place, shared, name)                                                               \
	WIDE_ACCESS(ldv_##place##_##name, place, shared,                                            \
	            log_line(w, line_of(low), sectors_of(low, MEMOP->access), load_kind(w, u)),     \
	            scalars_##name(w, MEMOP, HOST_##place))                                         \
	WIDE_ACCESS(ldw_##place##_##name, place, shared, log_lanes(w, MEMOP, low, load_kind(w, u)), \
	            load_##name(w, MEMOP, HOST_##place))                                            \
	WIDE_ACCESS(stw_##place##_##name, place, shared, log_lanes(w, MEMOP, low, LOG_STORE),       \
	            (MARK_WIDE_##place, store_##name(w, MEMOP, HOST_##place)))
static inline unsigned sectors_of(uint64_t low, unsigned bytes)
{
	const unsigned first = (unsigned)(low >> 5 & 3), last = (unsigned)((low + bytes - 1) >> 5 & 3);
	return (2u << last) - (1u << first);
}
#define WIDE_ALL(place, shared) \
	WIDE(place, shared, u8)     \
	WIDE(place, shared, u16)    \
	WIDE(place, shared, b32)    \
	WIDE(place, shared, b64) WIDE(place, shared, s8) WIDE(place, shared, s16)
WIDE_ALL(global, 0)
WIDE_ALL(shared32, 1)
WIDE_ALL(shared64, 1)

/* Any other access of some lanes. */
static const struct uop *careful_masked ARGS
{
	EMU_JUMP vm_access.masked(w, u, mask);
}

#define PAIR(name) { name##_full, name##_masked }
#define FULL(name) { name##_full, careful_masked }
#define UNIFORM_ROW(place)                                                   \
	{ PAIR(ld_##place##_u8), PAIR(ld_##place##_u16), PAIR(ld_##place##_b32), \
	  PAIR(ld_##place##_b64) }
#define SIGNED_ROW(place) { PAIR(ld_##place##_s8), PAIR(ld_##place##_s16) }
#define ROW(kind, F, name) \
	{ F(kind##_global_##name), F(kind##_shared32_##name), F(kind##_shared64_##name) }
#define TYPES(kind, place)                                                                \
	{ FULL(kind##_##place##_u8),  FULL(kind##_##place##_u16), FULL(kind##_##place##_b32), \
	  FULL(kind##_##place##_b64), FULL(kind##_##place##_s8),  FULL(kind##_##place##_s16) }
#define TABLE(kind) { TYPES(kind, global), TYPES(kind, shared32), TYPES(kind, shared64) }
const struct mem_handlers LEVEL(mem_handlers) = {
	.ld_uniform = { UNIFORM_ROW(global), UNIFORM_ROW(shared32), UNIFORM_ROW(shared64) },
	.ld_uniform_signed = { SIGNED_ROW(global), SIGNED_ROW(shared32), SIGNED_ROW(shared64) },
	.ld_unit = ROW(ld, PAIR, unit),
	.ld_window = ROW(ld, FULL, window),
	.ld_halves = ROW(ld, FULL, halves),
	.ld_pattern = ROW(ld, FULL, pattern),
	.st_unit = ROW(st, PAIR, unit),
	.st_pattern = ROW(st, FULL, pattern),
	.ld_uniform_vec = TABLE(ldv),
	.ld_wide = TABLE(ldw),
	.st_wide = TABLE(stw),
};

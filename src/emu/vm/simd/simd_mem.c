/*
 * Regular memory accesses: scalar addresses, and scalar + pattern, without looking at 32 addresses.
 *
 * A full warp is checked against the buffer that the instruction used last (mem_window); what it
 * costs is known from the segment's execution count, or from a table by the address's last seven
 * bits. Lines that the cache simulation follows are noted. Any doubt goes to access.c: another
 * buffer, the edge of one, a misaligned address, a tracked buffer.
 */
#include "emu/vm/simd/simd_count.h"

#include "base/value_flags.h"

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
		c->wavefronts++;
		c->sectors++;
		c->lines++;
		c->bytes += bytes;
	}
}

#define LD_UNIFORM(place, shared, name, type, as)                     \
	COLD GUEST ld_##place##_##name##_log ARGS                         \
	{                                                                 \
		const uint64_t low = LOW_##place;                             \
		const struct log_request r = one_line(w, u);                  \
		log_line(w, line_of(low), 1u << (low >> 5 & 3), &r);          \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place; \
		if (mask == 0xffffffffu)                                      \
			NEXT_full(u + 1);                                         \
		NEXT_masked(u + 1);                                           \
	}                                                                 \
	GUEST ld_##place##_##name##_full ARGS                             \
	{                                                                 \
		const uint64_t low = LOW_##place;                             \
		if (RARE(!FITS_##place(sizeof(type) - 1)))                    \
			EMU_JUMP access_slow(w, u, mask);                         \
		if (!(shared) && RARE(sampled(w, low)))                       \
			EMU_JUMP ld_##place##_##name##_log(w, u, mask);           \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place; \
		NEXT_full(u + 1);                                             \
	}                                                                 \
	GUEST ld_##place##_##name##_masked ARGS                           \
	{                                                                 \
		const uint64_t low = LOW_##place;                             \
		if (RARE(!FITS_##place(sizeof(type) - 1)))                    \
			EMU_JUMP vm_access.masked(w, u, mask);                    \
		count_one(w, u, shared, sizeof(type));                        \
		if (!(shared) && RARE(sampled(w, low)))                       \
			EMU_JUMP ld_##place##_##name##_log(w, u, mask);           \
		SCALAR64(u->d) = (uint64_t)(as) * (const type *)HOST_##place; \
		NEXT_masked(u + 1);                                           \
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

/* A vector of the level, wherever it lies: what is stored as two, the host cannot hand on to one
 * load. */
#if defined(__AVX512F__)
#define WORDS 16
#else
#define WORDS 8
#endif
typedef uint32_t word_vec __attribute__((vector_size(4 * WORDS), aligned(4), may_alias));

GUEST_MEMORY static inline void copy_unit(void *to, const void *from)
{
	for (unsigned k = 0; k < 32 / WORDS; k++)
		((word_vec *)to)[k] = ((const word_vec *)from)[k];
}
GUEST_MEMORY static inline void copy_unit_masked(void *to, const void *from, uint32_t mask)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	EACH_LANE(i)
	{
		if (mask & lane_bit[i])
			d[i] = s[i];
	}
}
GUEST_MEMORY static inline void pick_any(void *to, const void *from, const int32_t *index)
{
	const mem_u32 *s = from;
	uint32_t v[32]; /* the compiler must not think that they overlap */
	for (unsigned i = 0; i < 32; i++)
		v[i] = s[index[i]];
	memcpy(to, v, sizeof v);
}
/* Words within 128 bytes; the 128 bytes may be read. */
GUEST_MEMORY static inline void pick_window(void *to, const void *from, const int32_t *index)
{
#if defined(__AVX512F__)
	const __m512i lo = _mm512_loadu_si512(from);
	const __m512i hi = _mm512_loadu_si512((const char *)from + 64);
	_mm512_storeu_si512(to, _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(index), hi));
	_mm512_storeu_si512((char *)to + 64,
	                    _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(index + 16), hi));
#else
	pick_any(to, from, index);
#endif
}
/* Each half warp reads 16 words in a row, one word, or words within 64 bytes. */
GUEST_MEMORY static inline void copy_rows(void *to, const char *from, const struct memop *m)
{
	for (unsigned h = 0; h < 2; h++)
		for (unsigned k = 0; k < 16 / WORDS; k++)
			((word_vec *)to)[16 / WORDS * h + k] =
				((const word_vec *)(const void *)(from + m->half[h]))[k];
}
GUEST_MEMORY static inline void splat_words(void *to, const char *from, const struct memop *m)
{
	for (unsigned h = 0; h < 2; h++) {
		const word_vec v = (word_vec){ 0 } + *(const mem_u32 *)(const void *)(from + m->half[h]);
		for (unsigned k = 0; k < 16 / WORDS; k++)
			((word_vec *)to)[16 / WORDS * h + k] = v;
	}
}
GUEST_MEMORY static inline void pick_halves(void *to, const char *from, const struct memop *m)
{
	for (unsigned h = 0; h < 2; h++) {
		const void *s = from + m->half[h];
#if defined(__AVX512F__)
		const __m512i at = _mm512_loadu_si512(m->index + 16 * h);
		_mm512_storeu_si512((char *)to + 64 * h,
		                    _mm512_permutexvar_epi32(at, _mm512_loadu_si512(s)));
#else
		word_vec v[2];
		for (unsigned i = 0; i < 16; i++)
			v[i / 8][i % 8] = ((const mem_u32 *)s)[m->index[16 * h + i]];
		((word_vec *)to)[2 * h] = v[0];
		((word_vec *)to)[2 * h + 1] = v[1];
#endif
	}
}
GUEST_MEMORY static inline void put_any(void *to, const void *from, const int32_t *index)
{
	mem_u32 *d = to;
	const mem_u32 *s = from;
	for (unsigned i = 0; i < 32; i++)
		d[index[i]] = s[i];
}

#define AHEAD_global fetch_ahead(w, &w->win[u->y], low, true)
#define AHEAD_shared32 ((void)0)
#define AHEAD_shared64 ((void)0)

#define UNIT_SAMPLED (low & 127 ? sampled_span(w, low, 128) : sampled(w, low))

#define HALVES(name, place, shared, is_sampled, move)                                 \
	WARP_ACCESS(name, place, 3, shared, COUNT_PATTERN_##place, AHEAD_##place,         \
	            is_sampled(w, MEMOP, low), log_lanes(w, MEMOP, low, load_kind(w, u)), \
	            move(frame(w, u->d), HOST_##place, MEMOP))
#define LOADS(place, shared)                                                                 \
	WARP_ACCESS(ld_##place##_unit, place, 3, shared, COUNT_UNIT_##place, AHEAD_##place,      \
	            UNIT_SAMPLED, log_unit(w, MEMOP, low, load_kind(w, u)),                      \
	            copy_unit(frame(w, u->d), HOST_##place))                                     \
	WARP_ACCESS(ld_##place##_window, place, 3, shared, COUNT_PATTERN_##place, AHEAD_##place, \
	            sampled_span(w, low, 128), log_lanes(w, MEMOP, low, load_kind(w, u)),        \
	            pick_window(frame(w, u->d), HOST_##place, MEMOP->index))                     \
	HALVES(ld_##place##_rows, place, shared, sampled_halves, copy_rows)                      \
	HALVES(ld_##place##_words, place, shared, sampled_words, splat_words)                    \
	HALVES(ld_##place##_halves, place, shared, sampled_halves, pick_halves)                  \
	WARP_ACCESS(ld_##place##_pattern, place, 3, shared, COUNT_PATTERN_##place, (void)0,      \
	            sampled_pattern(w, MEMOP, low), log_lanes(w, MEMOP, low, load_kind(w, u)),   \
	            pick_any(frame(w, u->d), HOST_##place, MEMOP->index))
LOADS(global, 0)
LOADS(shared32, 1)
LOADS(shared64, 1)

/* Flags of a buffer whose contents were undefined: these bytes are written now. */
static inline void mark_unit(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (flags)
		memset((void *)(flags + low / 4), VALUE_FLAGS_WORD, 32);
}
static inline void mark_pattern(const struct warp *w, const struct uop *u, uint64_t low)
{
	const uintptr_t flags = w->win[u->y].written;
	if (flags) {
		mem_u8 *f = (mem_u8 *)(flags + low / 4);
		for (unsigned i = 0; i < 32; i++)
			f[MEMOP->index[i]] = VALUE_FLAGS_WORD;
	}
}
#define MARK_UNIT_global mark_unit(w, u, low)
#define MARK_UNIT_shared32 ((void)0)
#define MARK_UNIT_shared64 ((void)0)
#define MARK_PATTERN_global mark_pattern(w, u, low)
#define MARK_PATTERN_shared32 ((void)0)
#define MARK_PATTERN_shared64 ((void)0)

#define STORES(place, shared)                                                                   \
	WARP_ACCESS(st_##place##_unit, place, 3, shared, COUNT_UNIT_##place, (void)0, UNIT_SAMPLED, \
	            log_unit(w, MEMOP, low, LOG_STORE),                                             \
	            (MARK_UNIT_##place, copy_unit(HOST_##place, frame(w, u->b))))                   \
	WARP_ACCESS(st_##place##_pattern, place, 3, shared, COUNT_PATTERN_##place, (void)0,         \
	            sampled_pattern(w, MEMOP, low), log_lanes(w, MEMOP, low, LOG_STORE),            \
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

#define UNIFORM_ROW(place)                                                   \
	{ PAIR(ld_##place##_u8), PAIR(ld_##place##_u16), PAIR(ld_##place##_b32), \
	  PAIR(ld_##place##_b64) }
#define SIGNED_ROW(place) { PAIR(ld_##place##_s8), PAIR(ld_##place##_s16) }
#define ROW(kind, F, name) \
	{ F(kind##_global_##name), F(kind##_shared32_##name), F(kind##_shared64_##name) }
const struct mem_handlers LEVEL(mem_handlers) = {
	.ld_uniform = { UNIFORM_ROW(global), UNIFORM_ROW(shared32), UNIFORM_ROW(shared64) },
	.ld_uniform_signed = { SIGNED_ROW(global), SIGNED_ROW(shared32), SIGNED_ROW(shared64) },
	.ld_unit = ROW(ld, PAIR, unit),
	.ld_window = ROW(ld, FULL, window),
	.ld_halves = {
		[HALF_OTHER] = ROW(ld, FULL, halves),
		[HALF_UNIT] = ROW(ld, FULL, rows),
		[HALF_SPLAT] = ROW(ld, FULL, words),
	},
	.ld_pattern = ROW(ld, FULL, pattern),
	.st_unit = ROW(st, PAIR, unit),
	.st_pattern = ROW(st, FULL, pattern),
};

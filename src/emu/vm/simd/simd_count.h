/*
 * What a regular access of a full warp leaves behind: lines for the cache simulation, and sectors
 * where they are not as the segment's count says. Included by the files of simd/ only.
 */
#ifndef PMPP_EMU_SIMD_COUNT_H
#define PMPP_EMU_SIMD_COUNT_H

#include "emu/vm/simd/simd_place.h"

/* --- what the cache simulation gets --- */

static inline enum log_kind load_kind(const struct warp *w, const struct uop *u)
{
	return MEMOP->x->bypass_l1 ? LOG_LOAD_L2 : LOG_LOAD;
}
/* A load whose lanes all read in one line. */
static inline struct log_request one_line(const struct warp *w, const struct uop *u)
{
	return (struct log_request){ .who = MEMOP->id, .lines = 1, .kind = load_kind(w, u) };
}
static inline bool sampled_pattern(const struct warp *w, const struct memop *m, uint64_t low)
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
static inline void log_unit(struct warp *w, const struct memop *m, uint64_t low, enum log_kind kind)
{
	struct log_request r = { .who = m->id, .lines = 1, .written = 32, .kind = kind };
	const unsigned first = (unsigned)(low >> 5 & 3), last = (unsigned)((low + 127) >> 5 & 3);
	if (!(low & 127)) {
		log_line(w, line_of(low), 15, r);
		return;
	}
	r.lines = 2;
	r.written = 128 / 5;
	if (sampled(w, low))
		log_line(w, line_of(low), 15u & ~((1u << first) - 1), r);
	if (sampled(w, low + 127))
		log_line(w, line_of(low + 127), (2u << last) - 1, r);
}
/* Any pattern; lanes in a row mostly share a line. */
static inline void log_lanes(struct warp *w, const struct memop *m, uint64_t low,
                             enum log_kind kind)
{
	uint64_t line[32];
	unsigned sectors[32], n = 0, k = 0;
	struct log_request r = { .who = m->id, .lines = 32, .written = m->access, .kind = kind };
	if (m->lines_full == 32 && !(low & m->usual)) { /* each lane has a line of its own */
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t a = low + m->access * (uint64_t)m->index[i];
			if (sampled(w, a))
				log_line(w, line_of(a), 1u << (a >> 5 & 3), r);
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
	r.lines = n;
	r.written = m->sectors_full ? m->bytes_full / m->sectors_full : 0;
	for (k = 0; k < n; k++)
		if (sampled(w, line[k] << 7))
			log_line(w, line_of(line[k] << 7), sectors[k], r);
}

/* --- counts --- */

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

/* Any other access of some lanes. */
static inline const struct uop *careful_masked ARGS
{
	EMU_JUMP vm_access.masked(w, u, mask);
}

#define PAIR(name) { name##_full, name##_masked }
#define FULL(name) { name##_full, careful_masked }

/* An access of a whole warp: counted, logged where its sector is sampled, moved. @align: bits of an
 * address that must be 0; is_sampled, log and move may use low. */
#define WARP_ACCESS(name, place, align, shared, COUNT, ahead, is_sampled, log, move) \
	COLD GUEST name##_log ARGS                                                       \
	{                                                                                \
		const uint64_t low = LOW_##place;                                            \
		(void)mask;                                                                  \
		log;                                                                         \
		move;                                                                        \
		NEXT_full(u + 1);                                                            \
	}                                                                                \
	GUEST name##_full ARGS                                                           \
	{                                                                                \
		const uint64_t low = LOW_##place;                                            \
		if (RARE(!FITS_##place(align)))                                              \
			EMU_JUMP access_slow(w, u, mask);                                        \
		COUNT;                                                                       \
		ahead;                                                                       \
		if (!(shared) && RARE(is_sampled))                                           \
			EMU_JUMP name##_log(w, u, mask);                                         \
		move;                                                                        \
		NEXT_full(u + 1);                                                            \
	}

#endif

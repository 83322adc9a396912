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
	return (struct log_request){
		.time = begun_at(w, MEMOP), .who = MEMOP->id, .lines = 1, .kind = load_kind(w, u)
	};
}
/* Where lane @lane's access lies. */
static inline uint64_t lane_at(const struct memop *m, uint64_t low, unsigned lane)
{
	return low + (uint64_t)(m->addr.pattern->lane[lane] - m->addr.pattern->min);
}
static inline bool sampled_rows(const struct warp *w, const struct memop *m, uint64_t low)
{
	const uint64_t bytes = (uint64_t)m->row * m->access;
	for (unsigned i = 0; i < 32; i += m->row) {
		const uint64_t at = lane_at(m, low, i);
		for (uint64_t line = at >> 7; line <= (at + bytes - 1) >> 7; line++)
			if (sampled(w, line << 7))
				return true;
	}
	return false;
}
static inline bool sampled_pattern(const struct warp *w, const struct memop *m, uint64_t low)
{
	uint64_t last = 0;
	if (m->row > 1)
		return sampled_rows(w, m, low);
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
static inline bool sampled_words(const struct warp *w, const struct memop *m, uint64_t low)
{
	return sampled(w, low + (uint64_t)m->half[0]) || sampled(w, low + (uint64_t)m->half[1]);
}
/* 128 consecutive bytes */
static inline void log_unit(struct warp *w, const struct memop *m, uint64_t low, enum log_kind kind)
{
	struct log_request r = {
		.time = begun_at(w, m), .who = m->id, .lines = 1, .written = 32, .kind = kind
	};
	const unsigned first = (unsigned)(low >> 5 & 3), last = (unsigned)((low + 127) >> 5 & 3);
	if (!(low & 127)) {
		log_line(w, line_of(low), 15, &r);
		return;
	}
	r.lines = 2;
	r.written = 128 / 5;
	if (sampled(w, low))
		log_line(w, line_of(low), 15u & ~((1u << first) - 1), &r);
	if (sampled(w, low + 127))
		log_line(w, line_of(low + 127), (2u << last) - 1, &r);
}
/* Lines of a request, and which of their sectors are asked for. */
struct request_lines {
	uint64_t line[32];
	unsigned sectors[32], n;
};
/* Adds @sectors of @line, which is mostly that of @last; returns its number. */
static inline unsigned add_line(struct request_lines *l, unsigned last, uint64_t line,
                                unsigned sectors)
{
	unsigned k = last;
	if (!l->n || l->line[k] != line) {
		for (k = 0; k < l->n && l->line[k] != line; k++)
			;
		if (k == l->n) {
			l->line[k] = line;
			l->sectors[l->n++] = 0;
		}
	}
	l->sectors[k] |= sectors;
	return k;
}
static inline void lines_of_rows(const struct memop *m, uint64_t low, struct request_lines *l)
{
	const uint64_t bytes = (uint64_t)m->row * m->access;
	unsigned last = 0;
	for (unsigned i = 0; i < 32; i += m->row) {
		const uint64_t at = lane_at(m, low, i), end = at + bytes - 1;
		for (uint64_t line = at >> 7; line <= end >> 7; line++) {
			const unsigned first = line == at >> 7 ? (unsigned)(at >> 5 & 3) : 0;
			const unsigned past = line == end >> 7 ? (unsigned)(end >> 5 & 3) + 1 : 4;
			last = add_line(l, last, line, (1u << past) - (1u << first));
		}
	}
}
/* Any pattern; lanes in a row mostly share a line. */
static inline void log_lanes(struct warp *w, const struct memop *m, uint64_t low,
                             enum log_kind kind)
{
	struct request_lines l;
	l.n = 0; /* the rest is not worth clearing */
	struct log_request r = {
		.time = begun_at(w, m), .who = m->id, .lines = 32, .written = m->access, .kind = kind
	};
	if (m->lines_full == 32 && !(low & m->usual)) { /* each lane has a line of its own */
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t a = low + m->access * (uint64_t)m->index[i];
			if (sampled(w, a))
				log_line(w, line_of(a), 1u << (a >> 5 & 3), &r);
		}
		return;
	}
	if (m->row > 1)
		lines_of_rows(m, low, &l);
	else
		for (unsigned i = 0, last = 0; i < 32; i++) {
			const uint64_t a = lane_at(m, low, i);
			last = add_line(&l, last, a >> 7, 1u << (a >> 5 & 3));
		}
	r.lines = l.n;
	r.written = m->sectors_full ? m->bytes_full / m->sectors_full : 0;
	for (unsigned k = 0; k < l.n; k++)
		if (sampled(w, l.line[k] << 7))
			log_line(w, l.line[k], l.sectors[k], &r);
}

/* --- counts --- */

/* Where the address is not as aligned as usual, sectors and lines are counted now. */
static inline void count_odd(struct warp *w, const struct memop *m, uint64_t low)
{
	const uint64_t n = m->lines_at[low & 127];
	struct mem_count *c = &w->mem[m->id];
	c->odd[w->program->kind]++;
	c->packed += (n & 0xff) | (n >> 8) << 32;
}
static inline void count_unit(struct warp *w, const struct uop *u, uint64_t low)
{
	if (RARE(low & 127)) /* the usual of consecutive words */
		count_odd(w, MEMOP, low);
}
static inline void count_pattern(struct warp *w, const struct uop *u, uint64_t low)
{
	if (RARE(low & MEMOP->usual))
		count_odd(w, MEMOP, low);
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

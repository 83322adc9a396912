/*
 * The sampled stream of lines that feeds the cache simulation; see cache_log.c for the sampling.
 */
#ifndef PMPP_EMU_CACHE_LOG_H
#define PMPP_EMU_CACHE_LOG_H

#include "emu/count/cache_sim.h"

/* A block begins: the log's level and limit are those of the wave. */
void access_log_begin(struct access_log *log, const struct cache_sim *c);
/* Makes room for an entry, where the block's share or the memory is used up; true: see below. */
bool access_log_make_room(struct access_log *log, const struct cache_sim *c);
/* What all lines of a request share. */
struct log_request {
	uint64_t time;    /* instructions its warp had begun */
	uint32_t who;     /* the memory instruction's number */
	unsigned lines;   /* of a load */
	unsigned written; /* of a store: bytes of each sector */
	enum log_kind kind;
};
/* Would access_log_add() do anything for @line? */
static inline bool access_log_takes(const struct access_log *log, uint32_t line)
{
	const bool full = log->n == log->cap || log->n - log->block_start >= log->block_limit;
	return !log->overflow && (full || !(line_hash(line) & ((1u << log->level) - 1)));
}
/* Notes @line of a request (@sectors: mask of its four). Returns true if the level was raised:
 * fewer lines are to be noted from now on. */
static inline bool access_log_add(struct access_log *log, const struct cache_sim *c, uint32_t line,
                                  unsigned sectors, const struct log_request *r)
{
	bool full = false;
	if (log->overflow)
		return false;
	if (log->n == log->cap || log->n - log->block_start >= log->block_limit)
		full = access_log_make_room(log, c);
	const uint32_t hash = line_hash(line);
	if (hash & ((1u << log->level) - 1))
		return full;
	log->e[log->n++] = (struct log_entry){
		.time = r->time & (((uint64_t)1 << 48) - 1),
		.who = r->who < LOG_NOBODY ? (uint16_t)r->who : LOG_NOBODY,
		.line = line,
		.part = cache_sim_part_of(hash) & 15,
		.sectors = sectors & 15,
		.written = (uint8_t)(r->written > 32 ? 32 : r->written),
		.lines = (uint8_t)(r->lines ? r->lines : 1),
		.kind = (uint8_t)r->kind,
	};
	return full;
}

#endif

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
/* Notes an access to @line (@sectors: mask of its four; @written: bytes of each, of a store) by a
 * warp that has begun @time instructions. Returns true if the level was raised: fewer lines are to
 * be noted from now on. */
static inline bool access_log_add(struct access_log *log, const struct cache_sim *c, uint32_t line,
                                  unsigned sectors, enum log_kind kind, unsigned written,
                                  uint64_t time)
{
	bool full = false;
	if (log->overflow)
		return false;
	if (log->n == log->cap || log->n - log->block_start >= log->block_limit)
		full = access_log_make_room(log, c);
	const uint32_t hash = line_hash(line);
	if (hash & ((1u << log->level) - 1))
		return full;
	log->e[log->n++] = (struct log_entry){ .time = time,
		                                   .line = line,
		                                   .part = (uint8_t)cache_sim_part_of(hash),
		                                   .written = (uint8_t)(written > 32 ? 32 : written),
		                                   .sectors = (uint8_t)sectors,
		                                   .kind = (uint8_t)kind };
	return full;
}

#endif

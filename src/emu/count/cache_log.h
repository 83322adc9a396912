/*
 * The sampled stream of lines that feeds the cache simulation; see cache_log.c for the sampling.
 */
#ifndef PMPP_EMU_CACHE_LOG_H
#define PMPP_EMU_CACHE_LOG_H

#include "emu/count/cache_sim.h"

/* A block begins: the log's level and limit are those of the wave. */
void access_log_begin(struct access_log *log, const struct cache_sim *c);
/* Notes an access to @line (@sectors: mask of its four) by a warp that has begun @time
 * instructions. Returns true if the level was raised: fewer lines are to be noted from now on. */
bool access_log_add(struct access_log *log, const struct cache_sim *c, uint32_t line,
                    unsigned sectors, enum log_kind kind, uint64_t time);

#endif

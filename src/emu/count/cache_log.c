/*
 * Which lines the cache simulation sees.
 *
 * At level L one line in 2^L is followed, always the same ones, and each of its accesses stands
 * for 2^L ("spatially hashed sampling": Waldspurger et al., SHARDS, FAST 2015). A block starts at
 * the level of its wave and raises it when it would leave more entries than its share; entries
 * that the new level does not follow are dropped. What a block leaves depends on that block
 * alone, so the result does not depend on the number of host threads.
 */
#include "emu/count/cache_log.h"

#include "emu/count/cache_sim.h"
#include "base/mem.h"

static void set_bitmap(struct worker *wk, const uint64_t *sampled)
{
	const struct launch *l = wk->launch;
	for (uint32_t i = 0; i < l->n_warps; i++) {
		struct warp *w = (struct warp *)(void *)(wk->frames + (size_t)i * l->image.frame_bytes);
		w->sampled = (uintptr_t)sampled - (uintptr_t)(ARENA_BASE >> 13) * 8;
	}
}

void log_block_start(struct worker *wk)
{
	struct launch *l = wk->launch;
	wk->log.level = cache_sim_level(l->cache);
	wk->log.block_start = wk->log.n;
	wk->log.block_limit = cache_sim_block_limit(l->cache);
	set_bitmap(wk, cache_sim_bitmap(l->cache, wk->log.level));
}

void log_block_end(struct worker *wk, uint64_t index)
{
	struct launch *l = wk->launch;
	l->records[index - l->wave_first] = (struct block_record){
		.worker = wk,
		.start = wk->log.block_start,
		.end = wk->log.n,
		.level = wk->log.level,
	};
}

/* Too many entries: follow half as many lines. */
static void raise_level(struct worker *wk)
{
	struct access_log *log = &wk->log;
	while (log->n - log->block_start >= log->block_limit && log->level < LOG_MAX_LEVEL) {
		const uint32_t drop = (1u << ++log->level) - 1;
		size_t kept = log->block_start;
		for (size_t i = log->block_start; i < log->n; i++)
			if (!(line_hash(log->e[i].line) & drop))
				log->e[kept++] = log->e[i];
		log->n = kept;
	}
	const size_t share = cache_sim_block_limit(wk->launch->cache);
	if (log->n - log->block_start < log->block_limit)
		; /* that was enough */
	else if (log->block_limit < 16 * share)
		log->block_limit *= 2; /* the last level takes more */
	else
		log->overflow = true;
	set_bitmap(wk, cache_sim_bitmap(wk->launch->cache, log->level));
}

void log_line(struct warp *w, uint32_t line, unsigned sectors, enum log_kind kind)
{
	struct access_log *log = &w->worker->log;
	if (log->overflow)
		return;
	if (log->n - log->block_start >= log->block_limit)
		raise_level(w->worker);
	const uint32_t hash = line_hash(line);
	if (hash & ((1u << log->level) - 1))
		return;
	if (log->n == log->cap) {
		log->cap = log->cap ? 2 * log->cap : 4096;
		log->e = mem_realloc(log->e, log->cap, sizeof *log->e);
	}
	log->e[log->n++] = (struct log_entry){ .time = w->ticks,
		                                   .line = line,
		                                   .part = (uint16_t)cache_sim_part_of(hash),
		                                   .sectors = (uint8_t)sectors,
		                                   .kind = (uint8_t)kind };
}

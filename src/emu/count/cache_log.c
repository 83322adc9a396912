/*
 * Which lines the cache simulation sees.
 *
 * At level L one line in 2^L is followed, always the same ones, and each of its accesses stands
 * for 2^L ("spatially hashed sampling": Waldspurger et al., SHARDS, FAST 2015). A block starts at
 * the level of its wave and raises it when it would leave more entries than its share; entries
 * that the new level does not follow are dropped. In the end the highest level of a block is that
 * of the wave, so that a block may as well start where another one has ended: the result does not
 * depend on the number of host threads.
 */
#include "emu/count/cache_log.h"

#include "base/mem.h"

/* Shares of a block at the last level: 16 bytes each are kept of 256 accesses, which took longer to
 * make than they take here. */
#define LAST_LEVEL_TAKES 512

void access_log_begin(struct access_log *log, const struct cache_sim *c)
{
	log->level = cache_sim_level(c);
	log->block_start = log->n;
	log->block_limit = cache_sim_block_limit(c);
}

/* Too many entries: follow half as many lines. */
static void raise_level(struct access_log *log, const struct cache_sim *c)
{
	while (log->n - log->block_start >= log->block_limit && log->level < LOG_MAX_LEVEL) {
		const uint32_t drop = (1u << ++log->level) - 1;
		size_t kept = log->block_start;
		for (size_t i = log->block_start; i < log->n; i++)
			if (!(line_hash(log->e[i].line) & drop))
				log->e[kept++] = log->e[i];
		log->n = kept;
	}
	if (log->n - log->block_start < log->block_limit)
		return; /* that was enough */
	if (log->block_limit < LAST_LEVEL_TAKES * cache_sim_block_limit(c))
		log->block_limit *= 2; /* the last level takes more */
	else
		log->overflow = true;
}

bool access_log_make_room(struct access_log *log, const struct cache_sim *c)
{
	const bool full = log->n - log->block_start >= log->block_limit;
	if (full)
		raise_level(log, c);
	MEM_ROOM(log->e, log->n, log->cap, 4096);
	return full;
}

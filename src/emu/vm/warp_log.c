/* Between warps and the log of the cache simulation: which lines are followed, and noting them. */
#include "emu/vm/warp.h"

static void set_bitmaps(struct worker *wk)
{
	const struct grid *g = wk->grid;
	const uint64_t *sampled = cache_sim_bitmap(g->cache, wk->log.level);
	for (uint32_t i = 0; i < g->n_warps; i++)
		warp_at(wk, i)->sampled = (uintptr_t)sampled - (uintptr_t)(wk->grid->arena->base >> 13) * 8;
}

void log_block_start(struct worker *wk)
{
	access_log_begin(&wk->log, wk->grid->cache);
	set_bitmaps(wk);
}

void log_block_end(struct worker *wk, uint64_t index)
{
	cache_sim_reached(wk->grid->cache, wk->log.level);
	wk->grid->records[index - wk->grid->wave_first] = (struct block_record){
		.log = &wk->log,
		.start = wk->log.block_start,
		.end = wk->log.n,
		.level = wk->log.level,
	};
}

#define LOCAL_LINES 0x80000000u /* beyond any line of the arena */

void log_local_line(struct warp *w, uint32_t line, uint32_t lanes, unsigned sectors,
                    struct log_request r)
{
	struct worker *wk = w->worker;
	const struct grid *g = wk->grid;
	const uint64_t slot = wk->index_in_wave, of_warp = (g->local_bytes + 3) / 4;
	const uint64_t index = (slot * g->n_warps + w->number) * of_warp + line;
	if (index >= LOCAL_LINES || !access_log_takes(&wk->log, LOCAL_LINES + (uint32_t)index))
		return;
	r.written = 4 * lane_popc32(lanes) / lane_popc32(sectors);
	if (access_log_add(&wk->log, g->cache, LOCAL_LINES + (uint32_t)index, sectors, &r))
		set_bitmaps(wk);
}

void log_line(struct warp *w, uint64_t line, unsigned sectors, const struct log_request *r)
{
	struct worker *wk = w->worker;
	const uint32_t index = (uint32_t)(line - (wk->grid->arena->base >> 7));
	if (access_log_add(&wk->log, wk->grid->cache, index, sectors, r))
		set_bitmaps(wk);
}

/* Races: what is kept for a launch and for each of its blocks; see check.h. */
#include "emu/check/race_reads.h"

#include "base/mem.h"

#include <stdlib.h>

struct races *races_new(uint32_t n_warps, uint32_t shared_bytes, bool between_blocks, uint64_t most)
{
	struct races *r = mem_zalloc(sizeof *r);
	r->n_warps = n_warps;
	r->shared_bytes = shared_bytes;
	r->between_blocks = between_blocks;
	r->most = most;
	return r;
}

void races_free(struct races *r)
{
	if (!r)
		return;
	race_cells_free(&r->cells);
	race_places_free(&r->places);
	free(r->block);
	free(r->asker);
	free(r);
}

void races_forget(struct races *r, uint64_t address, uint64_t bytes)
{
	race_cells_forget(&r->cells, address, bytes);
}

void races_between_blocks(struct races *r)
{
	r->between_blocks = true;
}

void races_share_memory(struct races *r)
{
	r->shares_memory = true;
}

void races_may_look(struct races *r, uint64_t most)
{
	r->most = most;
}

bool races_full(const struct races *r)
{
	return r->cells.full;
}

uint64_t races_looks(const struct races *r)
{
	return r->visits;
}

uint64_t races_blocks(const struct races *r, bool *between)
{
	*between = r->between_blocks || r->n_blocks < 2;
	return r->n_blocks;
}

bool races_spent(const struct races *r)
{
	return r->visits >= r->most;
}

static uint32_t shared_pages(const struct races *r)
{
	return (r->shared_bytes + (1u << RACE_PAGE_BITS) - 1) >> RACE_PAGE_BITS;
}

bool races_make_room(struct races *r)
{
	struct race_cells *c = &r->cells;
	if (c->full && !c->marks.limit)
		return false; /* it was tried */
	uint32_t *seen = mem_calloc(c->marks.n, sizeof *seen);
	for (uint32_t i = 0; i < c->room; i++)
		race_page_seen(&c->page[i], seen);
	for (const struct race_block *b = r->running; b; b = b->next)
		for (uint32_t i = 0; i < shared_pages(r); i++)
			race_page_seen(&b->shared[i], seen);
	race_marks_sweep(&c->marks, seen);
	for (uint32_t i = 0; i < c->room; i++)
		race_page_renumber(&c->page[i], seen);
	for (struct race_block *b = r->running; b; b = b->next)
		for (uint32_t i = 0; i < shared_pages(r); i++)
			race_page_renumber(&b->shared[i], seen);
	free(seen);
	if (c->marks.n <= RACE_MOST_MARKS / 2)
		return true;
	c->full = true;
	c->marks.limit = 0;
	return false;
}

struct race_block *race_block_start(struct races *r, uint64_t block)
{
	MEM_ROOM(r->block, r->n_blocks, r->room_blocks, 64);
	struct race_block *b = mem_zalloc(sizeof *b);
	b->races = r;
	b->cells = &r->cells;
	b->places = &r->places;
	b->block = block;
	b->n_warps = r->n_warps;
	b->number = r->n_blocks;
	b->first_warp = r->n_blocks * r->n_warps;
	r->block[r->n_blocks++] = block;
	race_warps_start(b);
	b->shared = mem_calloc(shared_pages(r) + 1, sizeof *b->shared);
	race_reads_start(b, shared_pages(r) + 1);
	b->reads.off =
		r->shares_memory; /* others may write what this block's barriers say nothing of */
	b->next = r->running;
	r->running = b;
	return b;
}

void race_block_end(struct race_block *b)
{
	if (!b)
		return;
	struct race_block **at = &b->races->running;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	for (uint32_t i = 0; i < shared_pages(b->races); i++) {
		race_page_free(&b->races->cells, &b->shared[i]);
	}
	free(b->shared);
	race_warps_free(b);
	race_copies_free(b);
	free(b->bulks.engine);
	free(b->bulks.begun);
	free(b->bulks.fenced);
	race_reads_free(b);
	free(b);
}

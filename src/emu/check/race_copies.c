/* Asynchronous copies into shared memory, which are not done before they are waited for. */
#include "emu/check/race_cells.h"
#include "emu/check/race_order.h"

#include "base/mem.h"

#include <stdlib.h>

void race_copies_note(struct race_block *b, const struct race_access *a)
{
	struct race_copies *c = &b->copies;
	if (!c->begun)
		c->begun = mem_calloc(b->n_warps, sizeof *c->begun);
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		if (c->n == c->cap) {
			c->cap = c->cap ? 2 * c->cap : 256;
			c->copy = mem_realloc(c->copy, c->cap, sizeof *c->copy);
		}
		c->copy[c->n++] = (struct race_copy){
			.address = (uint32_t)a->address[lane],
			.bytes = a->bytes,
			.warp = a->warp,
			.lane = lane,
			.group = c->begun[a->warp][lane],
		};
	}
}

/* From now on it is as if the lane had written just now. */
static void settle(struct race_block *b, const struct race_copy *copy)
{
	struct race_page *p = &b->shared[copy->address >> RACE_PAGE_BITS];
	for (uint32_t at = copy->address; p->used && at < copy->address + copy->bytes;
	     at += 1u << p->shift) {
		struct race_cell cell = race_cell_take(b->cells, p, at);
		for (unsigned k = 0; k < 2; k++) {
			struct race_use *u = &cell.writer[k];
			if (u->warp != b->first_warp + copy->warp + 1 || u->epoch != RACE_PENDING ||
			    !(u->lanes >> copy->lane & 1))
				continue;
			u->epoch = b->warp[copy->warp].epoch;
			u->mark = 0;
		}
		race_cell_put(b->cells, p, at, &cell, (unsigned)__builtin_ctz(copy->bytes), b->n_warps);
	}
}

void race_copies_commit(struct race_block *b, uint32_t warp, uint32_t mask)
{
	for (uint32_t m = b->copies.begun ? mask : 0; m; m &= m - 1)
		b->copies.begun[warp][__builtin_ctz(m)]++;
}

void race_copies_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t left)
{
	struct race_copies *c = &b->copies;
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct race_copy copy = c->copy[i];
		if (copy.warp == warp && mask >> copy.lane & 1 &&
		    copy.group + (uint64_t)left < c->begun[warp][copy.lane])
			settle(b, &copy);
		else
			c->copy[n++] = copy;
	}
	c->n = n;
}

void race_copies_free(struct race_block *b)
{
	free(b->copies.copy);
	free(b->copies.begun);
}

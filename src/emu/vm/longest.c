/* The block that lasts longest; see longest.h. */
#include "emu/vm/longest.h"

#include "emu/vm/vm.h"
#include "emu/vm/warp.h"
#include "base/mem.h"

#include <stdlib.h>

/* Blocks of a worker that are compared: copies of its counters take time, and where there are
 * more, no single one decides how long a launch takes. */
#define MOST_LOOKED_AT 2048

static uint64_t passes_so_far(const struct segment_count *s)
{
	return s->full[0] + s->full[1] + s->warps;
}

void longest_init(struct worker *wk)
{
	const unsigned n = wk->grid->image->n_segments;
	wk->longest.passes = mem_calloc(n + 1, sizeof *wk->longest.passes);
	wk->longest.before = mem_calloc(n + 1, sizeof *wk->longest.before);
}

void longest_free(struct worker *wk)
{
	free(wk->longest.passes);
	free(wk->longest.before);
}

void longest_block_begin(struct worker *wk)
{
	struct longest_block *l = &wk->longest;
	if (l->looked_at >= MOST_LOOKED_AT)
		return;
	for (unsigned i = 0; i < wk->grid->image->n_segments; i++)
		l->before[i] = passes_so_far(&wk->segments[i]);
}

void longest_block_end(struct worker *wk)
{
	struct longest_block *l = &wk->longest;
	uint64_t ticks = 0;
	if (l->looked_at >= MOST_LOOKED_AT)
		return;
	l->looked_at++;
	for (uint32_t i = 0; i < wk->grid->n_warps; i++)
		if (warp_at(wk, i)->ticks > ticks)
			ticks = warp_at(wk, i)->ticks;
	if (ticks <= l->ticks)
		return;
	l->ticks = ticks;
	for (unsigned i = 0; i < wk->grid->image->n_segments; i++)
		l->passes[i] = passes_so_far(&wk->segments[i]) - l->before[i];
}

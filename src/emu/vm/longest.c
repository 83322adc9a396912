/* How blocks lasted; see longest.h. */
#include "emu/vm/longest.h"

#include "emu/vm/vm.h"
#include "emu/vm/warp.h"
#include "base/mem.h"

#include <stdlib.h>

/* Blocks of a worker that are compared: copies of its counters take time, and where there are
 * more, no single one decides how long a launch takes. */
#define MOST_LOOKED_AT 2048

/* What a warp waits for words from beyond its SM, in the time of instructions, about. */
#define WAIT_TICKS 100

static bool waits_for_memory(const struct ir *ir, const struct segment *s)
{
	for (uint32_t o = s->first; o < s->end; o++)
		if ((ir->ops[o].kind == X_LD || ir->ops[o].kind == X_ATOM) &&
		    (ir->ops[o].space == SPACE_GLOBAL || ir->ops[o].space == SPACE_GENERIC))
			return true;
	return false;
}

static uint64_t passes_so_far(const struct segment_count *s)
{
	return segment_full(s) + s->warps;
}

void longest_init(struct worker *wk)
{
	const unsigned n = wk->grid->image->n_segments;
	wk->longest.passes = mem_calloc(n + 1, sizeof *wk->longest.passes);
	wk->longest.before = mem_calloc(n + 1, sizeof *wk->longest.before);
	wk->longest.entered = mem_calloc(n + 1, sizeof *wk->longest.entered);
	wk->longest.waits = mem_calloc(n + 1, sizeof *wk->longest.waits);
	for (unsigned i = 0; i < n; i++)
		wk->longest.waits[i] =
			waits_for_memory(&wk->grid->image->ir, &wk->grid->image->segments[i]);
}

void longest_free(struct worker *wk)
{
	free(wk->longest.passes);
	free(wk->longest.before);
	free(wk->longest.entered);
	free(wk->longest.waits);
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
	uint64_t ticks = 0, waits = 0;
	if (l->looked_at >= MOST_LOOKED_AT)
		return;
	l->looked_at++;
	for (uint32_t i = 0; i < wk->grid->n_warps; i++)
		if (warp_at(wk, i)->ticks > ticks)
			ticks = warp_at(wk, i)->ticks;
	l->all_ticks += ticks;
	for (unsigned i = 0; i < wk->grid->image->n_segments; i++) {
		const uint64_t passes = passes_so_far(&wk->segments[i]) - l->before[i];
		l->entered[i] += passes > 0;
		waits += l->waits[i] ? passes : 0;
	}
	const uint64_t warps = wk->grid->n_warps ? wk->grid->n_warps : 1;
	const uint64_t lasts = ticks + WAIT_TICKS * waits / warps;
	if (lasts <= l->lasts)
		return;
	l->lasts = lasts;
	l->ticks = ticks;
	for (unsigned i = 0; i < wk->grid->image->n_segments; i++)
		l->passes[i] = passes_so_far(&wk->segments[i]) - l->before[i];
}

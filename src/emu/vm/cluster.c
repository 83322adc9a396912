/*
 * Clusters: blocks that one host thread runs by turns, each with a worker of its own, the first of
 * which keeps what they share. The barrier (PTX ISA 9.0, 9.7.13.4) opens when every thread of the
 * cluster that has not left has arrived.
 */
#include "emu/vm/cluster.h"

struct worker *cluster_block_at(const struct worker *wk, uint64_t address, uint64_t *offset)
{
	const uint64_t rank = (address & 0xffffffffu) >> CLUSTER_SHIFT;
	*offset = address & CLUSTER_OFFSET;
	if (rank > wk->grid->cluster_blocks)
		return NULL;
	return rank ? &wk->cluster[rank - 1] : &wk->cluster[wk->cluster_rank];
}

uint8_t *cluster_bytes_at(const struct worker *wk, uint64_t address, uint64_t bytes,
                          struct worker **owner)
{
	uint64_t offset;
	*owner = cluster_block_at(wk, address, &offset);
	const uint32_t room = wk->grid->shared_reach;
	return *owner && bytes <= room && offset <= room - bytes ? (*owner)->shared + offset : NULL;
}

/* What its lanes did before is ordered before what any thread of the cluster does behind its wait.
 */
static void tell_race(struct warp *w, uint32_t mask, bool arrives)
{
	struct worker *wk = w->worker;
	if (!wk->race)
		return;
	const unsigned lane = (unsigned)__builtin_ctz(mask);
	if (arrives)
		race_warp_sync(wk->race, w->number, mask, w->live);
	race_cluster_barrier(wk->race, wk->cluster->race, w->number, lane, w->cluster_phase,
	                     arrives ? SEM_RELEASE : SEM_ACQUIRE);
	if (!arrives)
		race_warp_sync(wk->race, w->number, mask, w->live);
}

/* .relaxed orders nothing by itself: each lane's fences do, if there are any. */
static void tell_relaxed(struct warp *w, uint32_t mask)
{
	struct worker *wk = w->worker;
	for (uint32_t m = wk->race ? mask : 0; m; m &= m - 1)
		race_cluster_barrier(wk->race, wk->cluster->race, w->number, (unsigned)__builtin_ctz(m),
		                     w->cluster_phase, SEM_RELAXED);
}

void cluster_arrive(struct warp *w, uint32_t mask, bool relaxed)
{
	struct cluster_barrier *b = &w->worker->cluster->cluster_barrier;
	w->cluster_phase = b->phase;
	b->arrived += lane_popc32(mask);
	b->ticks = w->ticks > b->ticks ? w->ticks : b->ticks;
	if (relaxed)
		tell_relaxed(w, mask);
	else
		tell_race(w, mask, true);
}

bool cluster_wait(struct warp *w, uint32_t mask)
{
	const struct cluster_barrier *b = &w->worker->cluster->cluster_barrier;
	if (b->phase == w->cluster_phase)
		return false;
	w->ticks = b->opened_at > w->ticks ? b->opened_at : w->ticks;
	tell_race(w, mask, false);
	return true;
}

bool cluster_open(struct worker *first)
{
	struct cluster_barrier *b = &first->cluster_barrier;
	const struct grid *g = first->grid;
	uint64_t there = 0;
	if (!b->arrived)
		return false;
	for (uint32_t k = 0; k < g->cluster_blocks; k++)
		for (uint32_t i = 0; i < g->n_warps; i++)
			there += lane_popc32(warp_at(&first[k], i)->live);
	if (b->arrived < there)
		return false;
	b->phase++;
	b->arrived = 0;
	b->opened_at = b->ticks;
	b->ticks = 0;
	for (uint32_t k = 0; k < g->cluster_blocks; k++)
		if (first[k].shadow)
			shadow_barrier(first[k].shadow);
	return true;
}

/* Groups basic blocks, numbers regions, estimates executions by thread blocks; see hyperblock.h. */
#include "timemodel/hyperblock.h"

#include "timemodel/constants.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define PREDICATES 7 /* registers of a warp that guards can have */

const struct timing_inst *last_inst(const struct timing_program *p, uint32_t b)
{
	const struct timing_block *x = &p->block[b];
	return x->end > x->first ? &p->inst[x->end - 1] : NULL;
}

/* --- predecessors --- */

static void add_predecessor(struct hyperblocks *h, uint32_t from, int32_t to)
{
	if (to < 0)
		return;
	h->predecessor[to] = h->n_predecessors[to] ? -1 : (int32_t)from;
	if (h->n_predecessors[to] < 200)
		h->n_predecessors[to]++;
}

static void find_predecessors(struct hyperblocks *h)
{
	const struct timing_program *p = h->program;
	for (unsigned b = 0; b < p->n_blocks; b++)
		h->predecessor[b] = -1;
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		const struct timing_block *x = &p->block[b];
		add_predecessor(h, b, x->successor[0]);
		if (x->successor[1] != x->successor[0])
			add_predecessor(h, b, x->successor[1]);
		for (unsigned i = 0; i < x->n_targets; i++)
			if (x->targets[i] != x->successor[0] && x->targets[i] != x->successor[1])
				add_predecessor(h, b, x->targets[i]);
	}
}

/* --- hyperblocks --- */

static double issued_in_block(const struct timing_program *p, uint32_t b)
{
	double sum = 0;
	for (uint32_t i = p->block[b].first; i < p->block[b].end; i++)
		sum += p->inst[i].issued;
	return sum;
}

/* Nothing but the end of the program: who skips to it exits at once. */
static bool is_exit(const struct timing_program *p, uint32_t b)
{
	return p->block[b].successor[0] < 0 && issued_in_block(p, b) <= 1;
}

/* Can block @b + 1 be predicated, so that @b + 2 follows in any case? Before an exit all has issued
 * that comes before it, so what follows waits for what that waited for. */
static bool next_is_predicable(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_program *p = h->program;
	if (p->machine_code || b + 2 >= p->n_blocks)
		return false;
	const struct timing_block *x = &p->block[b], *side = &p->block[b + 1];
	const struct timing_inst *branch = last_inst(p, b), *end = last_inst(p, b + 1);
	return branch && branch->class == INST_BRANCH && branch->guard >= 0 &&
	       x->successor[0] == (int32_t)b + 2 && h->n_predecessors[b + 1] == 1 &&
	       h->n_predecessors[b + 2] == 2 && side->successor[0] == (int32_t)b + 2 &&
	       side->successor[1] < 0 && !is_exit(p, b + 2) && (!end || end->class != INST_BARRIER) &&
	       issued_in_block(p, b + 1) <= timing.predicated_insts;
}

/* Lanes that come to the end of block @b one after the other go on together. */
static bool lanes_meet_behind(const struct timing_program *p, uint32_t b)
{
	return p->machine_code && p->block[b + 1].warp_passes < 0.999 * p->block[b].warp_passes;
}

static bool next_follows_always(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_program *p = h->program;
	return b + 1 < p->n_blocks && p->block[b].successor[0] == (int32_t)b + 1 &&
	       p->block[b].successor[1] < 0 && h->n_predecessors[b + 1] == 1 &&
	       !lanes_meet_behind(p, b);
}

/* Its guard is needed until what it loads has come; that of a load alone can be used again. */
static bool stores(const struct timing_program *p, uint32_t b)
{
	for (uint32_t i = p->block[b].first; i < p->block[b].end; i++)
		if (p->inst[i].class == INST_STORE)
			return true;
	return false;
}

static void form_hyperblocks(struct hyperblocks *h)
{
	const struct timing_program *p = h->program;
	for (uint32_t b = 0; b < p->n_blocks;) {
		struct hyperblock *x = &h->hyperblock[h->n];
		unsigned sides = 0;
		x->first = b;
		for (;;) {
			if (sides < PREDICATES && next_is_predicable(h, b)) {
				sides += stores(p, b + 1);
				b += 2;
			} else if (next_follows_always(h, b)) {
				b++;
			} else {
				break;
			}
		}
		x->end = ++b;
		for (uint32_t i = x->first; i < x->end; i++)
			h->of_block[i] = h->n;
		h->n++;
	}
}

/* One region per hyperblock, one more after each barrier. */
static void number_regions(struct hyperblocks *h)
{
	const struct timing_program *p = h->program;
	for (unsigned k = 0; k < h->n; k++) {
		struct hyperblock *x = &h->hyperblock[k];
		x->first_region = h->n_regions;
		for (uint32_t i = p->block[x->first].first; i < p->block[x->end - 1].end; i++) {
			h->region_of[i] = h->n_regions;
			h->n_regions += p->inst[i].class == INST_BARRIER;
		}
		x->end_region = ++h->n_regions;
	}
}

/* --- executions by thread blocks --- */

static double average_passes(const struct timing_program *p, uint32_t b)
{
	return p->block[b].warp_passes * p->thread_blocks / fmax(p->warps, 1);
}

/* Does the branch at the end of @from skip a side, @b, that lanes of one block may or may not take?
 * Of two sides each warp takes one or both, as often as the average says. */
static bool is_optional_side(const struct timing_program *p, uint32_t from, uint32_t b)
{
	const struct timing_inst *branch = last_inst(p, from);
	const int32_t join = p->block[from].join, *to = p->block[from].successor;
	if (p->machine_code && (to[0] <= (int32_t)from || to[1] <= (int32_t)from))
		return false; /* the end of a loop */
	return branch && branch->lanes_choose && join != (int32_t)b && (to[0] == join || to[1] == join);
}

/* The least of how much more often than their warps' average the blocks before @b run. */
static double least_excess_before(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_program *p = h->program;
	double least = INFINITY;
	for (uint32_t from = 0; from < b; from++) {
		const double average = average_passes(p, from);
		if (leads_to(p, from, b) && average > 0)
			least = fmin(least, h->block_passes[from] / average);
	}
	return isfinite(least) ? least : 1;
}

/* Of a side, @b, that only some threads take: as often as the choice came up, if there are enough
 * warps that took it. */
static double side_passes(const struct hyperblocks *h, uint32_t from, uint32_t b)
{
	const struct timing_block *x = &h->program->block[b];
	const double came_up = h->block_passes[from];
	const bool once = came_up <= h->program->thread_blocks;
	const double most = once && x->entering_blocks > 0 ? x->entering_blocks : x->warp_passes;
	return fmax(average_passes(h->program, b), fmin(most, came_up));
}

/* A warp's average passes are known. A side that only some threads take delays their whole block.
 */
static double passes_by_way(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_program *p = h->program;
	const int32_t from = h->n_predecessors[b] == 1 ? h->predecessor[b] : -1;
	const double average = average_passes(p, b);
	if (from < 0 || (uint32_t)from >= b)
		return average * (h->n_predecessors[b] > 1 ? least_excess_before(h, b) : 1);
	if (is_optional_side(p, (uint32_t)from, b))
		return side_passes(h, (uint32_t)from, b);
	const double of_from = average_passes(p, (uint32_t)from);
	return average * (of_from > 0 ? h->block_passes[from] / of_from : 1);
}

static bool in_loop(const struct timing_program *p, uint32_t b)
{
	for (uint32_t k = b; k < p->n_blocks; k++)
		for (unsigned i = 0; i < 2; i++)
			if (p->block[k].successor[i] >= 0 && p->block[k].successor[i] <= (int32_t)b)
				return true;
	return false;
}

/* Passes of block @b beyond the first of each thread block. @by_warps: as many as its warps have
 * made, who may be one that goes round. */
static double repeated_passes(const struct hyperblocks *h, uint32_t b, bool by_warps)
{
	const struct timing_block *x = &h->program->block[b];
	const double most = by_warps && in_loop(h->program, b) ? x->warp_passes : h->block_passes[b];
	return fmax(0, most - x->entering_blocks);
}

/* All instructions of those passes. */
static double repeated_insts(const struct hyperblocks *h, bool by_warps)
{
	double sum = 0;
	for (uint32_t b = 0; b < h->program->n_blocks; b++)
		sum += repeated_passes(h, b, by_warps) * h->program->block[b].insts;
	return sum;
}

/* Loops take so many instructions more. */
static void repeat_more(struct hyperblocks *h, double insts)
{
	double again = repeated_insts(h, false);
	const bool by_warps = !(again > 0); /* on average nobody goes round */
	if (by_warps)
		again = repeated_insts(h, true);
	for (uint32_t b = 0; again > 0 && b < h->program->n_blocks; b++)
		h->block_passes[b] += insts / again * repeated_passes(h, b, by_warps);
}

/*
 * All passes of a block in a row take what its slowest warp took, in instructions: where they come
 * out longer, those beyond the average are fewer; where shorter, loops last longer.
 */
static void fit_to_slowest_warp(struct hyperblocks *h)
{
	const struct timing_program *p = h->program;
	const double all = p->slowest_warp_insts * p->thread_blocks;
	double sum = 0, beyond = 0;
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		const struct timing_block *x = &p->block[b];
		sum += h->block_passes[b] * x->insts;
		beyond += (h->block_passes[b] - average_passes(p, b)) * x->insts;
	}
	if (!(all > 0))
		return;
	const double fewer = sum > all && beyond > 0 ? fmin(1, (sum - all) / beyond) : 0;
	for (uint32_t b = 0; b < p->n_blocks; b++)
		h->block_passes[b] -= fewer * (h->block_passes[b] - average_passes(p, b));
	if (sum < all)
		repeat_more(h, all - sum);
}

static void find_block_passes(struct hyperblocks *h)
{
	for (uint32_t b = 0; b < h->program->n_blocks; b++)
		h->block_passes[b] = fmax(passes_by_way(h, b), h->program->block[b].entering_blocks);
	fit_to_slowest_warp(h);
}

/* What is left of the passes of @to when those from before it are taken off: lanes that leave a
 * loop one by one pass its exit more than once for each warp. */
static double passes_back(const struct hyperblocks *h, uint32_t from, uint32_t to)
{
	const struct timing_program *p = h->program;
	double left = p->block[to].warp_passes;
	for (uint32_t b = 0; b < to; b++)
		if (leads_to(p, b, to))
			left -= edge_passes(h, b, to);
	return fmax(0, fmin(left, p->block[from].warp_passes));
}

double edge_passes(const struct hyperblocks *h, uint32_t from, uint32_t to)
{
	const struct timing_block *block = h->program->block, *x = &block[from];
	const double all = x->warp_passes;
	if (h->program->machine_code && to <= from)
		return passes_back(h, from, to);
	if (x->successor[1] < 0 || x->successor[0] == x->successor[1])
		return all;
	const int32_t other = x->successor[0] == (int32_t)to ? x->successor[1] : x->successor[0];
	if (h->n_predecessors[to] == 1)
		return fmin(all, block[to].warp_passes);
	if (h->n_predecessors[other] == 1)
		return fmax(0, all - block[other].warp_passes);
	return fmin(all, block[to].warp_passes);
}

bool leads_to(const struct timing_program *p, uint32_t from, uint32_t to)
{
	return p->block[from].successor[0] == (int32_t)to || p->block[from].successor[1] == (int32_t)to;
}

double edge_block_passes(const struct hyperblocks *h, uint32_t from, uint32_t to)
{
	const double warps = h->program->block[from].warp_passes;
	return warps > 0 ? edge_passes(h, from, to) * h->block_passes[from] / warps : 0;
}

double first_of_sides(const struct hyperblocks *h, uint32_t b)
{
	const struct timing_block *x = &h->program->block[b];
	if (x->successor[1] < 0 || x->successor[0] == x->successor[1])
		return 1;
	const double sides =
		edge_passes(h, b, (uint32_t)x->successor[0]) + edge_passes(h, b, (uint32_t)x->successor[1]);
	return sides > x->warp_passes ? x->warp_passes / sides : 1;
}

void hyperblocks_build(struct hyperblocks *h, const struct timing_program *p)
{
	*h = (struct hyperblocks){
		.program = p,
		.hyperblock = mem_calloc(p->n_blocks + 1, sizeof *h->hyperblock),
		.of_block = mem_calloc(p->n_blocks + 1, sizeof *h->of_block),
		.region_of = mem_calloc(p->n_insts + 1, sizeof *h->region_of),
		.n_predecessors = mem_zalloc(p->n_blocks + 1),
		.predecessor = mem_calloc(p->n_blocks + 1, sizeof *h->predecessor),
		.block_passes = mem_calloc(p->n_blocks + 1, sizeof *h->block_passes),
	};
	find_predecessors(h);
	form_hyperblocks(h);
	number_regions(h);
	find_block_passes(h);
}

void hyperblocks_free(struct hyperblocks *h)
{
	free(h->hyperblock);
	free(h->of_block);
	free(h->region_of);
	free(h->n_predecessors);
	free(h->predecessor);
	free(h->block_passes);
	*h = (struct hyperblocks){ 0 };
}

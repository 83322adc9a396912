/*
 * What counts a launch, and when that is enough: behind a number of instructions the rest of its
 * blocks may run without, which takes a third of the time. Decided by what the blocks did, not by
 * the clock: the same launch is counted the same way on any machine.
 */
#include "emu/launch/launch.h"

#include "emu/device.h"
#include "emu/launch/kept.h"
#include "emu/launch/sampled_traffic.h"
#include "model/occupancy.h"

#include <stdlib.h>

/* Blocks between two looks at how much was done: at first so many, then as many as have run. One
 * block alone may do more than enough. */
#define FIRST_LOOK 2

static bool has_global_atomics(const struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++)
		if ((ir->ops[o].kind == X_ATOM || ir->ops[o].kind == X_RED) &&
		    ir->ops[o].space != SPACE_SHARED)
			return true;
	return false;
}

static struct cache_sim *new_cache(const struct emu_launch *l, bool counted, uint32_t lines)
{
	const struct grid *g = &l->grid;
	const struct gpu_spec *gpu = l->device->gpu;
	const double l1 = occ_l1_bytes(
		gpu, (double)(g->shared_bytes - g->reserved_bytes) + gpu->smem_reserved_per_block_bytes,
		l->blocks_per_sm);
	struct line_filter *filter = counted || !l->program ? l->device->filter : l->device->no_filter;
	line_filter_cover(filter, lines);
	return cache_sim_new(gpu, l1 > 16384 ? l1 : 16384, filter,
	                     ceil_div(g->order.n, (uint64_t)gpu->sm_count * l->blocks_per_sm),
	                     l->image.ir.n_mem);
}

/* Of all the memory that there is. */
static uint32_t line_count(const struct arena *a)
{
	return (uint32_t)((a->living ? a->end - a->base : a->mapped) >> 7) + 64;
}

static void count_nothing(struct emu_launch *l)
{
	l->grid.cache = new_cache(l, false, line_count(&l->device->arena));
	l->grid.quick = handler_set_choose(getenv("PMPP_EMU_ISA"))->quick;
}

void counting_begin(struct emu_launch *l, bool counted)
{
	struct grid *g = &l->grid;
	const uint32_t lines = line_count(&l->device->arena);
	if (!counted) {
		count_nothing(l);
		sampled_traffic_begin(l, lines);
		return;
	}
	g->cache = new_cache(l, true, lines);
	kept_begin(l);
	sampled_traffic_begin(l, lines);
	if (has_global_atomics(&l->image.ir))
		g->collisions = collision_log_new((uint64_t)l->device->gpu->sm_count * l->blocks_per_sm,
		                                  g->order.total, g->n_warps);
	if (l->image.ir.waits)
		g->turns = turn_log_new();
	g->trace = trace_new(l->image.ir.n_mem);
	l->enough = l->program && g->order.n == g->order.total ? l->program->enough_work : 0;
	if (l->enough)
		cache_sim_follow_first(g->cache, lines);
}

void counting_free(struct emu_launch *l)
{
	cache_sim_free(l->grid.cache);
	collision_log_free(l->grid.collisions);
	turn_log_free(l->grid.turns);
	trace_free(l->grid.trace);
	l->grid.cache = NULL;
	l->grid.collisions = NULL;
	l->grid.turns = NULL;
	l->grid.trace = NULL;
}

/* In instructions: what an access by lanes of a part of a warp takes more than one, and what a
 * sector takes behind the four of an access in order. Such are counted lane by lane. */
#define PARTIAL_ACCESS 24
#define SECTOR 2

static double executions(const struct segment_count *c)
{
	return (double)(segment_full(c) + c->warps);
}

/* Of full warps whose accesses are watched, which is as much work as lane by lane. */
static double watched_sectors(const struct emu_launch *l, const struct xop *x,
                              const struct segment_count *c, const struct mem_count *m)
{
	const struct program *p = &l->image.program[PROGRAM_CHECKED];
	const uint64_t n =
		c->full[PROGRAM_CHECKED] - m->slow[PROGRAM_CHECKED] - m->odd[PROGRAM_CHECKED];
	return p->mem && p->mem[x->mem].full_probe ? (double)(n * p->mem[x->mem].sectors_full) : 0;
}

/* Of the accesses of worker @wk. */
static double access_work(const struct emu_launch *l, const struct worker *wk)
{
	const struct ir *ir = &l->image.ir;
	double n = 0;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool accesses =
			x->kind == X_LD || x->kind == X_ST || x->kind == X_ATOM || x->kind == X_RED;
		if (!accesses || x->mem < 0)
			continue;
		const struct segment_count *c = &wk->segments[l->image.op_segment[o]];
		const struct mem_count *m = &wk->mem[x->mem];
		const double sectors =
			(double)m->sectors + (double)(uint32_t)m->packed + watched_sectors(l, x, c, m);
		const double apart = sectors - 4 * executions(c);
		const double watched = (double)(c->warps + c->full[PROGRAM_CHECKED]);
		n += PARTIAL_ACCESS * watched + (apart > 0 ? SECTOR * apart : 0);
	}
	return n;
}

/* Instructions of warps so far, and what is as much work. */
static double work_done(const struct emu_launch *l)
{
	double n = 0;
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct worker *wk = &l->workers[k];
		for (unsigned i = 0; i < l->image.n_segments; i++)
			n += executions(&wk->segments[i]) * l->image.segments[i].length;
		n += access_work(l, wk);
	}
	return n;
}

/* Blocks that run by turns end together. */
static bool may_end(const struct emu_launch *l)
{
	return l->enough && !l->grid.quick && !l->grid.together;
}

uint64_t counting_look(const struct emu_launch *l, uint64_t at)
{
	const struct grid *g = &l->grid;
	const uint64_t cluster = g->cluster_blocks, in_wave = at - g->wave_first;
	const uint64_t step = in_wave > FIRST_LOOK ? in_wave : FIRST_LOOK;
	const uint64_t next = at + (step + cluster - 1) / cluster * cluster;
	return !may_end(l) || next > g->wave_end ? g->wave_end : next;
}

bool counting_enough(const struct emu_launch *l, uint64_t at)
{
	if (!may_end(l))
		return false;
	const double done = work_done(l), left = (double)(l->grid.order.n - at);
	return done >= (double)l->enough && done / (double)at * left >= (double)l->enough;
}

void counting_end(struct emu_launch *l, uint64_t at)
{
	l->counted = at;
	for (uint64_t i = at; l->wave_done && i < l->grid.wave_end; i++)
		l->counted += l->wave_done[i - l->grid.wave_first];
	emu_launch_results(l, l->results);
	counting_free(l);
	count_nothing(l);
	cache_sim_wave_size(l->grid.cache, l->grid.wave_end - l->grid.wave_first);
	l->grid.looks_at_ends = true;
}

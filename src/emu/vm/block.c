/*
 * One block on one worker: its warps take turns, each runs until a barrier, its end, or until it
 * has used up its share of branches (so that a warp that waits for another one cannot starve it).
 *
 * A barrier opens when every warp of the block that has not left has arrived. If no warp can run
 * and none opens, some threads wait for ever: that is reported, not waited for.
 */
#include "emu/vm/parts.h"
#include "emu/vm/endless.h"
#include "emu/vm/handler.h"

#include "base/mem.h"
#include "emu/vm/device_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_SLACK 1024 /* handlers may read, not use, a little more than they were asked for */

/* --- workers --- */

static void write_consts(const struct image *im, struct warp *w)
{
	for (unsigned i = 0; i < im->n_consts; i++) {
		const struct const_slot *c = &im->consts[i];
		mem_u32 *d32 = frame(w, c->offset);
		mem_u64 *d64 = frame(w, c->offset);
		for (unsigned k = 0; k < c->lanes; k++)
			if (c->bytes == 8)
				d64[k] = c->value[k];
			else
				d32[k] = (uint32_t)c->value[k];
	}
}

/* Every open call may add one, and those through pointers one for each lane. */
static uint32_t stack_entries(const struct grid *g)
{
	const uint32_t calls = g->image->ir.call_depth;
	return calls ? calls + 3 * SIMT_DEPTH : SIMT_DEPTH;
}

static void warp_init(struct worker *wk, uint32_t number)
{
	const struct grid *g = wk->grid;
	const struct launch_plan *p = g->plan;
	struct warp *w = warp_at(wk, number);
	w->number = number;
	w->worker = wk;
	w->image = g->image;
	w->segments = wk->segments;
	w->dots = wk->dots;
	w->mem = wk->mem;
	w->guards = wk->guard_lanes;
	w->host = (uintptr_t)g->arena->host - (uintptr_t)g->arena->base;
	w->shared = wk->shared;
	w->shared_bytes = g->shared_reach;
	w->stack_entries = stack_entries(g);
	w->stack = wk->stacks + (size_t)number * w->stack_entries;
	w->saves = &wk->saves[number];
	for (uint32_t i = 0; i < 32; i++) {
		const uint32_t t = number * 32 + i;
		w->tid[0][i] = t % p->block.x;
		w->tid[1][i] = t / p->block.x % p->block.y;
		w->tid[2][i] = t / p->block.x / p->block.y;
	}
	for (unsigned k = 0; k < 3; k++)
		w->special[SR_TID_X + k] = w->tid[k][0];
	w->special[SR_WARPID] = number;
	write_consts(g->image, w);
}

void emu_worker_init(struct worker *wk, struct grid *g, unsigned index)
{
	const struct image *im = g->image;
	const bool turns = g->together || g->cluster_blocks > 1;
	*wk = (struct worker){ .grid = g, .index = index, .fuel = turns ? FUEL_TOGETHER : FUEL };
	wk->cluster_rank = index % g->cluster_blocks;
	wk->cluster = wk - wk->cluster_rank;
	wk->frames = mem_aligned(128, (size_t)g->n_warps * im->frame_bytes);
	wk->shared = mem_aligned(128, g->shared_reach + SHARED_SLACK);
	wk->local = mem_aligned(16, (size_t)g->n_warps * 32 * g->local_bytes + 16);
	wk->stacks = mem_calloc((size_t)g->n_warps * stack_entries(g), sizeof *wk->stacks);
	wk->saves = mem_calloc(g->n_warps, sizeof *wk->saves);
	wk->segments = mem_calloc(im->n_segments + 1, sizeof *wk->segments);
	wk->mem = mem_calloc(im->ir.n_mem + 1, sizeof *wk->mem);
	for (unsigned k = 0; k < 2; k++)
		wk->win[k] = mem_calloc(im->ir.n_mem + 1, sizeof *wk->win[k]);
	wk->dots = mem_calloc(im->n_dots + 1, sizeof *wk->dots);
	wk->repeat = mem_calloc(im->ir.n_mem + 1, sizeof *wk->repeat);
	wk->place = mem_calloc(im->ir.n_mem + 1, sizeof *wk->place);
	wk->region_at = mem_calloc(im->ir.n_mem + 1, sizeof *wk->region_at);
	wk->guard_lanes = mem_calloc(im->ir.n_ops + 1, sizeof *wk->guard_lanes);
	wk->touched =
		mem_calloc(g->arena->n + 1 + (im->ir.waits ? TOUCHED_ROOM : 0), sizeof *wk->touched);
	wk->divergent = mem_calloc(im->ir.n_blocks + 1, sizeof *wk->divergent);
	wk->again_warps = mem_calloc(im->ir.n_blocks + 1, sizeof *wk->again_warps);
	wk->again_lanes = mem_calloc(im->ir.n_blocks + 1, sizeof *wk->again_lanes);
	longest_init(wk);
	for (uint32_t i = 0; i < g->n_warps; i++)
		warp_init(wk, i);
}

void emu_worker_free(struct worker *wk)
{
	for (uint32_t i = 0; wk->saves && i < wk->grid->n_warps; i++)
		free(wk->saves[i].bytes);
	free(wk->saves);
	device_calls_free(wk->calls, wk->grid && wk->grid->runtime ? wk->grid->runtime->room : NULL);
	free(wk->printed.text);
	free(wk->printed.piece);
	free(wk->stacks);
	free(wk->frames);
	free(wk->shared);
	free(wk->local);
	free(wk->segments);
	longest_free(wk);
	endless_free(wk);
	free(wk->mem);
	free(wk->win[0]);
	free(wk->win[1]);
	free(wk->dots);
	free(wk->repeat);
	free(wk->place);
	free(wk->region_at);
	free(wk->guard_lanes);
	free(wk->touched);
	free(wk->divergent);
	free(wk->again_warps);
	free(wk->again_lanes);
	free(wk->log.e);
	shadow_free(wk->shadow);
	race_block_end(wk->race);
	*wk = (struct worker){ 0 };
}

/* Packed counters hold 32 bits each: moves them on before they can overflow. */
static void flush_counters(struct worker *wk)
{
	for (unsigned i = 0; i < wk->grid->image->ir.n_mem; i++) {
		struct mem_count *c = &wk->mem[i];
		c->sectors += (uint32_t)c->packed;
		c->lines += c->packed >> 32;
		c->packed = 0;
	}
}

/* --- starting a block --- */

static void set_cluster_registers(struct warp *w)
{
	const struct worker *wk = w->worker;
	for (unsigned k = 0; k < 3; k++) {
		const uint32_t size = wk->grid->order.cluster[k];
		w->special[SR_CLUSTERID_X + k] = wk->ctaid[k] / size;
		w->special[SR_CLUSTER_CTAID_X + k] = wk->ctaid[k] % size;
	}
	w->special[SR_CLUSTER_CTARANK] = wk->cluster_rank;
}

/* The lanes that warp @i has threads for. */
static uint32_t first_lanes(const struct grid *g, uint32_t i)
{
	const uint32_t left = g->threads - i * 32;
	return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

static void start_warp(struct worker *wk, uint32_t i, const struct program *p)
{
	const struct grid *g = wk->grid;
	struct warp *w = warp_at(wk, i);
	for (unsigned k = 0; k < g->image->n_zeros; k++)
		memset(frame(w, g->image->zeros[k].offset), 0, g->image->zeros[k].bytes);
	w->mask = w->live = first_lanes(g, i);
	w->rc = -1;
	w->depth = 0;
	w->calls = 0;
	w->stays_careful = false;
	w->returns = 0;
	w->takes_turns = false;
	w->saves->n = 0;
	w->n_waiting = w->n_parts = w->given = w->collective = w->rounds = 0;
	if (ir_of_machine_code(&w->image->ir))
		memset(w->meet, 0, sizeof w->meet);
	w->ticks = 0;
	w->atomics = 0;
	w->looks = 0;
	w->swaps = 0;
	if (g->turns)
		memset(&w->handed, 0, sizeof w->handed);
	w->cluster_phase = w->groups = 0;
	w->state = WARP_RUN;
	w->program = p;
	w->win = wk->win[p->kind == PROGRAM_SPECULATIVE ? PROGRAM_SPECULATIVE : PROGRAM_CONSERVATIVE];
	w->at = &p->uops[p->block_uop[0]];
	for (unsigned k = 0; k < 3; k++)
		w->special[SR_CTAID_X + k] = wk->ctaid[k];
	if (g->cluster_blocks > 1)
		set_cluster_registers(w);
	w->special[SR_SMID] = wk->block % g->sm_count;
}

/* Where many warps are deoptimised, the speculative program is better not begun. */
static enum program_kind start_program(struct worker *wk)
{
	const struct grid *g = wk->grid;
	if (wk->checked && g->image->program[PROGRAM_CHECKED].uops && !g->reference_only)
		return PROGRAM_CHECKED;
	if (wk->checked || g->reference_only)
		return PROGRAM_REFERENCE;
	if (g->image->start != PROGRAM_SPECULATIVE ||
	    (wk->warps_speculative >= 64 && 4 * wk->warps_deoptimised > wk->warps_speculative))
		return PROGRAM_CONSERVATIVE;
	wk->warps_speculative += g->n_warps;
	return PROGRAM_SPECULATIVE;
}

/* The first and the last block, in which all is looked for that shared memory without a value may
 * be read for. */
static bool is_an_end(const struct grid *g, uint64_t index)
{
	return g->shared_bytes && (!g->quick || g->looks_at_ends) &&
	       (index == 0 || index == g->order.n - 1);
}

static void set_checks(struct worker *wk, bool shadowed)
{
	const struct grid *g = wk->grid;
	wk->checked = wk->race || shadowed; /* the others have nothing to check */
	wk->quick = !g->quick ? NULL : wk->checked ? vm_watch_any : g->quick->full;
	shadow_free(wk->checked ? NULL : wk->shadow);
	if (!wk->checked)
		wk->shadow = NULL;
}

/* Races were looked for as long as they are: the rest of the block, which may be long, goes on as
 * any other. Blocks of a cluster have to do with one another's looks. */
static void end_looks(struct worker *wk, uint64_t index)
{
	const struct grid *g = wk->grid;
	if (!wk->race || !races_spent(g->races) || g->cluster_blocks > 1 || g->together)
		return;
	race_block_end(wk->race);
	wk->race = NULL;
	set_checks(wk, is_an_end(g, index));
}

void block_begin(struct worker *wk, uint64_t index)
{
	struct grid *g = wk->grid;
	const struct launch_plan *p = g->plan;
	const uint64_t b = order_block(&g->order, index);
	wk->block = b;
	wk->index_in_wave = index - g->wave_first;
	wk->ctaid[0] = (uint32_t)(b % p->grid.x);
	wk->ctaid[1] = (uint32_t)(b / p->grid.x % p->grid.y);
	wk->ctaid[2] = (uint32_t)(b / p->grid.x / p->grid.y);
	race_block_end(wk->race);
	wk->race = g->racing ? race_block_start(g->races, b) : NULL;
	wk->trace = index == 0 ? g->trace : NULL;
	set_checks(wk, is_an_end(g, index));
	if (wk->checked && !wk->shadow && g->shared_bytes)
		wk->shadow = shadow_new(g->shared_reach);
	if (wk->shadow)
		shadow_start(wk->shadow);
	device_calls_begin(wk->calls, g->threads);
	memset(wk->barrier, 0, wk->barriers_met * sizeof *wk->barrier);
	wk->barriers_met = wk->barriers_opened = 0;
	wk->cluster_barrier = (struct cluster_barrier){ .phase = 1 };
	memset(wk->shared, 0xff ^ g->unset_turn, g->shared_reach); /* undefined: floats read as NaN */
	memset(wk->shared + g->shared_bytes - g->reserved_bytes, 0, g->reserved_bytes);
	if (wk->shadow)
		shadow_touch(wk->shadow, g->shared_bytes - g->reserved_bytes,
		             g->reserved_bytes + g->shared_reach - g->shared_bytes, false, true);
	if (g->local_bytes)
		memset(wk->local, 0xff, (size_t)g->n_warps * 32 * g->local_bytes);
	const struct program *prog = &g->image->program[start_program(wk)];
	const struct program *reference = &g->image->program[PROGRAM_REFERENCE];
	for (uint32_t i = 0; i < g->n_warps; i++)
		start_warp(wk, i, wk->trace && i == 0 ? reference : prog);
	longest_block_begin(wk);
	endless_forget(wk);
	log_block_start(wk);
}

/* --- barriers --- */

static void tell_race(struct worker *wk, unsigned id, bool whole_block)
{
	for (uint32_t i = 0; i < wk->grid->n_warps; i++) {
		const struct warp *w = warp_at(wk, i);
		if (w->state == WARP_BARRIER && w->barrier == id)
			race_pass(wk->race, i, id);
	}
	race_barrier_opened(wk->race, id, whole_block);
}

/* Barrier @id of the whole block opens though threads of it have ended: a GPU lets that pass. */
static void note_ended(struct worker *wk, unsigned id)
{
	struct warp *at = NULL;
	uint32_t ended = 0;
	for (uint32_t i = 0; i < wk->grid->n_warps; i++) {
		struct warp *w = warp_at(wk, i);
		const uint32_t all = first_lanes(wk->grid, i);
		ended += lane_popc32(w->state == WARP_DONE ? all : all & ~w->live);
		if (!at && w->state == WARP_BARRIER && w->barrier == id)
			at = w;
	}
	if (at && ended)
		vm_note(at, at->at - 1, FAULT_BARRIER_ENDED, (unsigned)__builtin_ctz(at->live))->address =
			ended;
}

/* Opens every barrier at which all have arrived; true if one did. @gone: warps that have ended. */
static bool open_barriers(struct worker *wk, uint32_t gone)
{
	const uint32_t n = wk->grid->n_warps;
	for (unsigned id = 0; id < wk->barriers_met; id++) {
		struct block_barrier *b = &wk->barrier[id];
		const uint32_t need = b->expected ? b->expected : (n - gone) * 32;
		/* one of so many threads is full, too, if they all go on without waiting */
		if (b->arrived < need || (!b->waiting && !b->expected))
			continue;
		if (wk->race && !b->expected)
			note_ended(wk, id);
		if (wk->race)
			tell_race(wk, id, b->waiting + gone == n);
		b->result_ones = b->ones;
		b->result_seen = b->seen;
		b->opened_at = b->ticks;
		b->arrived = b->ones = b->seen = b->waiting = 0;
		b->ticks = 0;
		wk->barriers_opened |= 1u << id;
	}
	if (wk->barriers_opened && wk->shadow)
		shadow_barrier(wk->shadow);
	return wk->barriers_opened;
}

static uint32_t waits_at(const struct warp *w)
{
	return w->state == WARP_WAIT ? w->at->xop : w->at[-1].xop;
}

static uint32_t line_of_warp(const struct grid *g, const struct warp *w)
{
	return g->image->ir.insts[g->image->ir.ops[waits_at(w)].pc].line;
}

/* Nobody can go on: who waits where. */
void block_stuck(struct worker *wk)
{
	const struct grid *g = wk->grid;
	struct emu_fault *f = &wk->fault;
	size_t at = 0;
	unsigned waiting = 0, gone = 0;
	for (uint32_t i = 0; i < g->n_warps; i++) {
		const struct warp *w = warp_at(wk, i);
		if (w->state == WARP_DONE) {
			gone++;
			continue;
		}
		if (!waiting)
			*f = (struct emu_fault){
				.kind = FAULT_BARRIER_STUCK, .block = wk->block, .warp = i, .xop = waits_at(w)
			};
		waiting++;
		if (waiting <= 4)
			at += (size_t)snprintf(
				f->waiting + at, sizeof f->waiting - at, "%swarp %u (threads %u-%u) at line %u, ",
				waiting > 1 ? "; " : "", i, i * 32, i * 32 + 31, line_of_warp(g, w));
		if (waiting <= 4 && w->state == WARP_WAIT)
			at += (size_t)snprintf(f->waiting + at, sizeof f->waiting - at, "%s",
			                       g->image->ir.insts[g->image->ir.ops[waits_at(w)].pc].text);
		else if (waiting <= 4)
			at +=
				(size_t)snprintf(f->waiting + at, sizeof f->waiting - at, "barrier %u", w->barrier);
	}
	if (waiting > 4)
		at += (size_t)snprintf(f->waiting + at, sizeof f->waiting - at, "; %u warps more",
		                       waiting - 4);
	if (gone)
		snprintf(f->waiting + at, sizeof f->waiting - at, "; %u warps have ended", gone);
}

/* --- running --- */

/* Lanes of the warp that wait for others of it let them go on. */
static void give_way(struct warp *w)
{
	const bool gave_way = w->gave_way;
	w->gave_way = false;
	if (gave_way || (!w->depth && !w->n_parts && !w->n_waiting))
		return;
	if (ir_of_machine_code(&w->image->ir))
		meet_give_way(w);
	else
		parts_give_way(w);
}

/* False: it asked again, in vain as before. */
static bool resume(struct warp *w)
{
	const struct uop *at = w->at;
	const uint64_t ticks = w->ticks;
	const bool asked = w->state == WARP_WAIT;
	vm_resume(w);
	return w->state != WARP_WAIT || !asked || w->at != at || w->ticks != ticks;
}

#define TURNS_UNPOLLED 1024

/* A loop of barriers never ends a warp's fuel, and has to be ended all the same. */
static bool is_to_end(struct worker *wk)
{
	if (++wk->turns % TURNS_UNPOLLED)
		return false;
	flush_counters(wk);
	return wk->grid->poll(wk);
}

enum block_state block_step(struct worker *wk, uint64_t index)
{
	const uint32_t n = wk->grid->n_warps, opened = wk->barriers_opened;
	uint32_t gone = 0;
	bool running = false, waiting = false, asking = false, moved = false;
	wk->barriers_opened = 0;
	if (is_to_end(wk))
		return BLOCK_STOPPED;
	end_looks(wk, index);
	for (uint32_t i = 0; i < n; i++) {
		struct warp *w = warp_at(wk, (uint32_t)order_turn(wk->grid->order.order, n, i));
		if (w->state == WARP_BARRIER && opened >> w->barrier & 1) {
			w->state = WARP_RUN;
			w->ticks = wk->barrier[w->barrier].opened_at;
			if (w->n_parts)
				parts_opened(w);
		}
		if (w->state == WARP_RUN || w->state == WARP_YIELD || w->state == WARP_WAIT)
			moved |= resume(w);
		if (w->state == WARP_STOP)
			return BLOCK_STOPPED;
		if (w->state == WARP_YIELD) {
			running = true;
			if (endless_look(w))
				return BLOCK_STOPPED;
			give_way(w);
			flush_counters(wk);
			if (wk->grid->poll(wk))
				return BLOCK_STOPPED;
		}
		waiting |= w->state == WARP_BARRIER;
		asking |= w->state == WARP_WAIT;
		gone += w->state == WARP_DONE;
	}
	if (open_barriers(wk, gone) || running)
		return BLOCK_RUNS;
	if (asking)
		return moved ? BLOCK_RUNS : BLOCK_WAITS;
	if (waiting) {
		block_stuck(wk);
		return BLOCK_STOPPED;
	}
	flush_counters(wk);
	longest_block_end(wk);
	log_block_end(wk, index);
	return BLOCK_DONE;
}

bool block_run(struct worker *wk, uint64_t index)
{
	enum block_state state = BLOCK_RUNS;
	block_begin(wk, index);
	while (state == BLOCK_RUNS || (state == BLOCK_WAITS && cluster_open(wk)))
		state = block_step(wk, index);
	if (state == BLOCK_WAITS)
		block_stuck(wk);
	return state == BLOCK_DONE;
}

int64_t worker_position(const struct worker *wk)
{
	int64_t waits = -1; /* where no warp is in the middle of something */
	for (uint32_t i = 0; i < wk->grid->n_warps; i++) {
		const struct warp *w = warp_at(wk, i);
		if (w->at && w->state == WARP_YIELD)
			return w->at->xop;
		if (w->at && waits < 0 && (w->state == WARP_BARRIER || w->state == WARP_WAIT))
			waits = w->at->xop;
	}
	return waits;
}

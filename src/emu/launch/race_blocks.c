/*
 * In which blocks races are looked for. A check costs a few times what it checks, so that a launch
 * that nobody asked to check wholly pays for a limited number of looks. What the first block needs
 * says for how many blocks they last: for all of them, or for blocks spread over the grid, each
 * with its neighbours along x, y and z. Of a program's launches the first ones get more, if that
 * is enough for all their blocks. They run first, on one thread. Where blocks wait for one another
 * in the order of their numbers, the first ones are taken, as far as it goes; where all run by
 * turns, all or a spread.
 */
#include "emu/device.h"
#include "emu/launch/launch.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

#define SPREAD_LOOKS ((uint64_t)1 << 19) /* a tenth of a second at the most */
#define FIRST_LOOKS ((uint64_t)1 << 20)  /* of one of the first launches of a program, */
#define WHOLE_LOOKS ((uint64_t)1 << 23)  /* if that is enough for all its blocks, */
#define PROGRAM_LOOKS                                                          \
	((uint64_t)1 << 25) /* and of all these launches together: 2 s at the most \
	                     */
#define MOST_PLACES 256
#define TOGETHER_WARPS 8192 /* more of them by turns, and only some are looked at */

/* Does the kernel order blocks by itself? What an unchecked block hands on is not seen then. It
 * takes a fence, and an access by which one block learns of another. */
static bool hands_over(const struct ir *ir)
{
	bool fenced = false, tells = false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool fence = x->kind == X_FENCE || x->sem >= SEM_ACQUIRE;
		const bool strong =
			x->kind == X_ATOM || x->kind == X_RED || x->strong || x->sem >= SEM_RELAXED;
		fenced |= fence && x->scope != SCOPE_CTA;
		tells |= strong && x->kind != X_FENCE && x->space != SPACE_SHARED;
	}
	return (fenced && tells) || ir->waits;
}

bool race_blocks_wanted(const struct emu_launch *l)
{
	return l->req->check_races >= RACES_SPREAD && !l->sass;
}

static bool all_asked(const struct emu_launch *l)
{
	return l->req->check_races == RACES_ALL;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* From a block to its neighbour along y and z in the order in which they run; 0 = there is none. */
static void find_steps(const struct emu_launch *l, uint64_t step[2])
{
	const struct block_order *o = &l->grid.order;
	const uint64_t x = l->grid.plan->grid.x, y = l->grid.plan->grid.y;
	const bool in_rows = o->n == o->total && !o->cluster[0];
	step[0] = in_rows && y > 1 ? x : 0;
	step[1] = in_rows && l->grid.plan->grid.z > 1 ? x * y : 0;
}

/* About @blocks of them, at places spread over the grid in no regular distance, which a row of
 * blocks might share. */
static void take_spread(struct emu_launch *l, uint64_t blocks)
{
	const uint64_t n = l->grid.order.n, unit = l->grid.cluster_blocks ? l->grid.cluster_blocks : 1;
	uint64_t step[2];
	find_steps(l, step);
	const unsigned group = 2u + (step[0] > 0) + (step[1] > 0);
	uint64_t places = blocks / group < MOST_PLACES ? blocks / group : MOST_PLACES, taken = 0;
	places += !places;
	l->race_block = mem_calloc(4 * places + 4, sizeof *l->race_block);
	for (uint64_t i = 0; i < places; i++) {
		const uint32_t anywhere = (uint32_t)(i * 0x9e3779b97f4a7c15u >> 32);
		const uint64_t at = order_part(n, anywhere, (uint64_t)1 << 32) / unit * unit;
		const uint64_t side[] = { at, at + unit, step[0] ? at + step[0] : n,
			                      step[1] ? at + step[1] : n };
		for (unsigned k = 0; k < 4; k++)
			if (side[k] < n)
				l->race_block[taken++] = side[k];
	}
	/* the last ones, and the ends of the first and the last row, are often special */
	const uint64_t row = step[0] ? step[0] : 1;
	const uint64_t special[] = { n - 1, n > unit ? n - 1 - unit : 0, row - 1, n - row };
	for (unsigned k = 0; k < 4; k++)
		l->race_block[taken++] = special[k] / unit * unit;
	qsort(l->race_block, taken, sizeof *l->race_block, by_number);
	l->race_blocks = taken;
}

/* Looks for a launch: @most if it is one of the first of a program. */
static uint64_t looks_for(const struct emu_launch *l, uint64_t most)
{
	const bool first = l->program && l->device->race_looks < PROGRAM_LOOKS;
	return first ? most : SPREAD_LOOKS;
}

bool emu_device_races_cheap(const struct emu_device *d)
{
	return d->race_looks < PROGRAM_LOOKS / 2;
}

void race_blocks_prepare(struct emu_launch *l)
{
	struct grid *g = &l->grid;
	const bool orders = hands_over(&l->image.ir), whole = g->order.n == g->order.total;
	if (!race_blocks_wanted(l))
		return;
	const bool shares = g->cluster_blocks > 1 && g->shared_bytes;
	if (all_asked(l) || (g->together && g->order.n * g->n_warps <= TOGETHER_WARPS)) {
		g->races = races_new(g->n_warps, g->shared_reach, whole || !orders,
		                     all_asked(l) ? UINT64_MAX : SPREAD_LOOKS);
		g->racing = true;
		if (shares)
			races_share_memory(g->races);
		return;
	}
	g->races = races_new(g->n_warps, g->shared_reach,
	                     !orders || (l->image.ir.waits && !g->together), SPREAD_LOOKS);
	if (shares)
		races_share_memory(g->races);
	if (g->together)
		take_spread(l, TOGETHER_WARPS / g->n_warps);
}

bool race_blocks_take(const struct emu_launch *l, uint64_t i)
{
	return !l->race_block ||
	       bsearch(&i, l->race_block, l->race_blocks, sizeof *l->race_block, by_number);
}

/* The first block was looked at: how many more will be? */
static void plan_others(struct emu_launch *l)
{
	const struct grid *g = &l->grid;
	const uint64_t each = races_looks(g->races) + g->n_warps;
	if (looks_for(l, WHOLE_LOOKS) / each >= g->order.n && g->order.n == g->order.total) {
		races_between_blocks(g->races);
		races_may_look(g->races, looks_for(l, WHOLE_LOOKS));
	} else {
		races_may_look(g->races, looks_for(l, FIRST_LOOKS));
		take_spread(l, looks_for(l, FIRST_LOOKS) / each);
	}
}

bool *race_blocks_run(struct emu_launch *l, bool (*run)(struct worker *wk, uint64_t i))
{
	struct grid *g = &l->grid;
	if (!g->races || g->racing || g->together)
		return NULL;
	const uint64_t before = races_looks(g->races);
	bool *done = mem_calloc(g->wave_end - g->wave_first + 1, sizeof *done);
	g->racing = true;
	for (uint64_t i = g->wave_first; i < g->wave_end && !races_spent(g->races);
	     i += g->cluster_blocks) {
		if (!race_blocks_take(l, i))
			continue;
		for (uint32_t k = 0; k < g->cluster_blocks; k++)
			done[i + k - g->wave_first] = true;
		if (!run(&l->workers[0], i))
			break;
		if (i == 0 && !l->image.ir.waits)
			plan_others(l);
	}
	g->racing = false;
	l->device->race_looks += races_looks(g->races) - before;
	return done;
}

void race_blocks_tell(const struct emu_launch *l, struct run_races *out)
{
	const struct grid *g = &l->grid;
	bool between;
	*out = (struct run_races){ 0 };
	if (!g->races)
		return;
	out->of = g->order.total;
	out->blocks = races_blocks(g->races, &between);
	snprintf(out->why, sizeof out->why, "%s%s%s",
	         races_spent(g->races) ? "as far as a quick look goes" : "",
	         !between && races_spent(g->races) ? ", " : "",
	         between ? "" : "not between blocks, since those left out may order them");
	if (races_full(g->races))
		snprintf(out->why, sizeof out->why, "until there was no more memory to note accesses in");
	else if (!out->why[0] && out->blocks < out->of)
		snprintf(out->why, sizeof out->why, "a spread of them; --races looks in all");
}

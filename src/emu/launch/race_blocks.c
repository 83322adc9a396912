/*
 * In which blocks races are looked for. A check costs many times what it checks, so that a launch
 * that nobody asked to check wholly pays for a limited number of looks. What the first block needs
 * says for how many blocks they last: for all of them, or for pairs of neighbours spread over the
 * grid. They run first, on one thread. Where blocks wait for one another in the order of their
 * numbers, the first ones are taken, as far as it goes; where all run by turns, all or a spread.
 */
#include "emu/launch/launch.h"

#include "base/mem.h"

#include <stdio.h>

#define SPREAD_LOOKS ((uint64_t)1 << 17)
#define MOST_PAIRS 128
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

static void take_pairs(struct emu_launch *l, uint64_t pairs)
{
	const uint64_t most = (l->grid.order.n + 1) / 2;
	pairs = pairs < MOST_PAIRS ? pairs : MOST_PAIRS;
	l->race_pairs = pairs < most ? pairs : most;
	l->race_pairs += !l->race_pairs;
}

void race_blocks_prepare(struct emu_launch *l)
{
	struct grid *g = &l->grid;
	const bool orders = hands_over(&l->image.ir), whole = g->order.n == g->order.total;
	if (!race_blocks_wanted(l))
		return;
	if (all_asked(l) || (g->together && g->order.n * g->n_warps <= TOGETHER_WARPS)) {
		g->races = races_new(g->n_warps, g->shared_bytes, whole || !orders,
		                     all_asked(l) ? UINT64_MAX : SPREAD_LOOKS);
		g->racing = true;
		return;
	}
	g->races = races_new(g->n_warps, g->shared_bytes,
	                     !orders || (l->image.ir.waits && !g->together), SPREAD_LOOKS);
	if (g->together)
		take_pairs(l, TOGETHER_WARPS / g->n_warps / 2);
}

bool race_blocks_take(const struct emu_launch *l, uint64_t i)
{
	const uint64_t n = l->grid.order.n, pairs = l->race_pairs;
	if (!pairs)
		return true;
	const uint64_t pair = i * pairs / n, first = (pair * n + pairs - 1) / pairs;
	return i - first < 2 || i + 2 >= n; /* the last two are often special */
}

/* The first block was looked at: how many more will be? */
static void plan_others(struct emu_launch *l)
{
	const struct grid *g = &l->grid;
	const uint64_t each = races_looks(g->races) + g->n_warps, last = SPREAD_LOOKS / each;
	if (last >= g->order.n && g->order.n == g->order.total)
		races_between_blocks(g->races);
	else
		take_pairs(l, last / 2);
}

bool *race_blocks_run(struct emu_launch *l, bool (*run)(struct worker *wk, uint64_t i))
{
	struct grid *g = &l->grid;
	if (!g->races || g->racing || g->together)
		return NULL;
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

/*
 * In which blocks races are looked for. A check costs many times what it checks, so that a launch
 * that nobody asked to check wholly pays for a limited number of accesses: of all blocks in order
 * as far as that goes if they are few, else of pairs of neighbours spread over the grid. They run
 * first, on one thread.
 */
#include "emu/launch/launch.h"

#include "base/mem.h"

#define SPREAD_LOOKS ((uint64_t)3 << 16)
#define FEW_BLOCKS 256
#define TOGETHER_WARPS 1024

/* Does the kernel order blocks by itself? What an unchecked block hands on is not seen then. */
static bool hands_over(const struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool fence = x->kind == X_FENCE || x->sem >= SEM_ACQUIRE;
		if (fence && x->scope != SCOPE_CTA)
			return true;
	}
	return ir->waits;
}

bool race_blocks_wanted(const struct emu_launch *l)
{
	return l->req->check_races != RACES_OFF && !l->sass;
}

void race_blocks_prepare(struct emu_launch *l)
{
	struct grid *g = &l->grid;
	const struct ir *ir = &l->image.ir;
	const bool few = g->order.n <= FEW_BLOCKS && g->order.n == g->order.total;
	if (!race_blocks_wanted(l))
		return;
	if (l->req->check_races == RACES_ALL) {
		g->races = races_new(g->n_warps, g->shared_bytes, true, hands_over(ir), UINT64_MAX);
		g->racing = true;
		return;
	}
	if (g->together ? g->order.n * g->n_warps > TOGETHER_WARPS : ir->waits)
		return; /* a block alone may wait for one that does not run */
	g->races = races_new(g->n_warps, g->shared_bytes, few || g->together, hands_over(ir),
	                     SPREAD_LOOKS);
	g->racing = g->together;
}

/* Block @i of the order is among those that a spread takes. */
static bool in_spread(const struct grid *g, uint64_t i)
{
	const uint64_t pairs = g->order.n / (FEW_BLOCKS / 2);
	return g->order.n <= FEW_BLOCKS || i % pairs < 2 || i == g->order.n - 1;
}

bool *race_blocks_run(struct emu_launch *l, bool (*run)(struct worker *wk, uint64_t i))
{
	struct grid *g = &l->grid;
	if (!g->races || g->racing)
		return NULL;
	bool *done = mem_calloc(g->wave_end - g->wave_first + 1, sizeof *done);
	g->racing = true;
	for (uint64_t i = g->wave_first; i < g->wave_end && !races_spent(g->races); i++) {
		if (!in_spread(g, i))
			continue;
		done[i - g->wave_first] = true;
		if (!run(&l->workers[0], i))
			break;
	}
	g->racing = false;
	return done;
}

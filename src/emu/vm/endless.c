/*
 * See endless.h. Whether a loop only computes is asked of its code: of the blocks that the warp can
 * reach and come back from. A warp that has left them does not come back, so that between two looks
 * there it has done nothing else. States are compared as by Brent: one is kept, and replaced after
 * twice as many looks each time, so that any cycle is found after a few of its lengths.
 */
#include "emu/vm/endless.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_KEPT 8 /* looks without any cost, of FUEL branches each */

struct endless {
	uint32_t warp;         /* that is looked at */
	uint8_t *loop;         /* by block of the code: what its loops do, LOOP_... */
	uint64_t looks, renew; /* the state is replaced at look @renew */
	bool kept;
	struct simt_entry *stack;
	uint8_t *frame;
};

/* Neither memory nor clocks nor other warps. */
static const bool computes[] = {
	[X_OP] = true,         [X_CMP] = true,      [X_PRED] = true,       [X_SEL] = true,
	[X_SPECIAL] = true,    [X_BRA] = true,      [X_BRX] = true,        [X_EXIT] = true,
	[X_LEAVE] = true,      [X_TRAP] = true,     [X_SHFL] = true,       [X_VOTE] = true,
	[X_MATCH] = true,      [X_REDUX] = true,    [X_ACTIVE] = true,     [X_ELECT] = true,
	[X_WARPSYNC] = true,   [X_FENCE] = true,    [X_MEET_BEGIN] = true, [X_MEET_WAIT] = true,
	[X_MEET_BREAK] = true, [X_MEET_GET] = true, [X_MEET_SET] = true,   [X_MEET_WARP] = true,
	[X_NOP] = true,
};

static bool block_computes(const struct ir *ir, uint32_t block)
{
	const struct xblock *b = &ir->blocks[block];
	for (uint32_t o = b->first; o < b->end; o++)
		if (ir->ops[o].kind >= ARRAY_LEN(computes) || !computes[ir->ops[o].kind])
			return false;
	return true;
}

enum { LOOP_UNKNOWN, LOOP_COMPUTES, LOOP_DOES_MORE };
enum { REACHED = 1, COMES_BACK = 2 };

static void mark_reached(const struct ir *ir, uint32_t from, uint8_t *mark)
{
	uint32_t *stack = mem_calloc(ir->n_blocks, sizeof *stack), n = 0;
	stack[n++] = from;
	mark[from] = REACHED | COMES_BACK;
	while (n) {
		const struct xblock *b = &ir->blocks[stack[--n]];
		for (uint32_t i = 0; i < 2 + b->n_targets; i++) {
			const int32_t to = xblock_successor(b, i);
			if (to < 0 || mark[to])
				continue;
			mark[to] = REACHED;
			stack[n++] = (uint32_t)to;
		}
	}
	free(stack);
}

/* Marks the blocks that lead to one that comes back; true if there were more. */
static bool mark_back(const struct ir *ir, uint8_t *mark)
{
	bool more = false;
	for (uint32_t k = ir->n_blocks; k-- > 0;) {
		const struct xblock *b = &ir->blocks[k];
		bool back = false;
		for (uint32_t i = 0; mark[k] == REACHED && i < 2 + b->n_targets; i++) {
			const int32_t to = xblock_successor(b, i);
			back |= to >= 0 && mark[to] & COMES_BACK;
		}
		if (back)
			mark[k] |= COMES_BACK;
		more |= back;
	}
	return more;
}

/* Do all loops around @block only compute? So it is for all blocks of these loops. */
static void look_at_loops(const struct ir *ir, uint32_t block, uint8_t *loop)
{
	uint8_t *mark = mem_zalloc(ir->n_blocks);
	mark_reached(ir, block, mark);
	while (mark_back(ir, mark))
		;
	bool all = true;
	for (uint32_t k = 0; k < ir->n_blocks; k++)
		all &= !(mark[k] & COMES_BACK) || block_computes(ir, k);
	for (uint32_t k = 0; k < ir->n_blocks; k++)
		if (mark[k] & COMES_BACK)
			loop[k] = all ? LOOP_COMPUTES : LOOP_DOES_MORE;
	free(mark);
}

static bool computes_here(const struct endless *e, const struct warp *w)
{
	const struct image *im = w->image;
	const uint32_t block = im->segments[im->op_segment[w->at->xop]].block;
	if (e->loop[block] == LOOP_UNKNOWN)
		look_at_loops(&im->ir, block, e->loop);
	return e->loop[block] == LOOP_COMPUTES;
}

/* What a look changes by itself. */
static void level_counters(struct warp *to, const struct warp *of)
{
	to->fuel = of->fuel;
	to->ticks = of->ticks;
}

static bool as_kept(struct endless *e, const struct warp *w)
{
	level_counters((struct warp *)(void *)e->frame, w);
	return !memcmp(e->frame, w, w->image->frame_bytes) &&
	       !memcmp(e->stack, w->stack, w->depth * sizeof *w->stack);
}

static void keep(struct endless *e, const struct warp *w)
{
	memcpy(e->frame, w, w->image->frame_bytes);
	memcpy(e->stack, w->stack, w->depth * sizeof *w->stack);
	e->kept = true;
	e->renew = 2 * e->looks;
}

static struct endless *watch_of(struct worker *wk)
{
	if (!wk->endless) {
		wk->endless = mem_zalloc(sizeof *wk->endless);
		wk->endless->loop = mem_zalloc(wk->grid->image->ir.n_blocks + 1u);
	}
	return wk->endless;
}

bool endless_look(struct warp *w)
{
	struct endless *e = watch_of(w->worker);
	if (w->calls)
		return false;
	if (e->warp != w->number) {
		if (e->looks && warp_at(w->worker, e->warp)->state == WARP_YIELD)
			return false;
		endless_forget(w->worker);
		e->warp = w->number;
	}
	if (++e->looks < FIRST_KEPT)
		return false;
	if (!computes_here(e, w)) {
		endless_forget(w->worker);
		return false;
	}
	if (!e->frame) {
		e->frame = mem_aligned(128, w->image->frame_bytes);
		e->stack = mem_calloc(w->stack_entries, sizeof *e->stack);
	}
	if (e->kept && as_kept(e, w)) {
		vm_fault(w, w->at, FAULT_ENDLESS, (unsigned)__builtin_ctz(w->mask));
		return true;
	}
	if (!e->kept || e->looks >= e->renew)
		keep(e, w);
	return false;
}

void endless_forget(struct worker *wk)
{
	if (!wk->endless)
		return;
	wk->endless->looks = 0;
	wk->endless->kept = false;
}

void endless_free(struct worker *wk)
{
	if (!wk->endless)
		return;
	free(wk->endless->loop);
	free(wk->endless->frame);
	free(wk->endless->stack);
	free(wk->endless);
	wk->endless = NULL;
}

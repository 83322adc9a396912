/*
 * Branches and divergence of a warp.
 *
 * Divergence uses a stack of {lanes, block, reconvergence block}: one side of a split runs to the
 * reconvergence block (the immediate post-dominator, ptx.h) before the other side starts; there
 * the lanes go on together. The fall-through side goes first, the order of the source text.
 */
#include "emu/vm/handler.h"

const struct uop *vm_pop(struct warp *w)
{
	if (w->n_parts)
		return parts_next(w);
	while (w->depth) {
		const struct simt_entry *e = &w->stack[--w->depth];
		const uint32_t mask = e->mask & w->live;
		if (e->call) {
			w->calls--;
			vm_restore_frame(w, e, mask);
			if (e->frame && e->frame->bytes)
				w->saves->n = e->kept; /* it was the last one */
		}
		if (!mask)
			continue;
		if (e->block >= 0 && e->block == e->rc)
			continue; /* they are where the entry below waits for them */
		w->mask = mask;
		w->rc = e->rc;
		return block_start(w, e->block);
	}
	w->mask = 0;
	w->state = WARP_DONE;
	return NULL;
}

/* JUMP: x.to target */
HANDLER(jump_full)
{
	const struct uop *to = u->x.to;
	if (--w->fuel < 0)
		return yield_warp(w, to);
	NEXT_full(to);
}
HANDLER(jump_masked)
{
	const struct uop *to = u->x.to;
	if (--w->fuel < 0)
		return yield_warp(w, to);
	NEXT_masked(to);
}

/* Splits the warp: returns the uop where the first side goes on. */
static const struct uop *split_warp(struct warp *w, const struct uop *u, uint32_t taken)
{
	const uint32_t block = u->y;
	const struct xblock *b = &w->image->ir.blocks[block];
	const uint32_t fall = w->mask & ~taken;
	const int32_t rc = b->reconv >= 0 ? b->reconv : w->rc;
	const int32_t to = b->succ[0], next = b->succ[1];
	w->worker->divergent[block]++;
	w->guards[u->xop] += lane_popc32(fall);
	if (b->reconv >= 0 && b->reconv != w->rc)
		warp_push(w, w->mask, b->reconv, w->rc);
	w->rc = rc;
	int32_t first = next;
	w->mask = fall;
	if (next == rc) {
		first = to;
		w->mask = taken;
	} else if (to != rc) {
		warp_push(w, taken, to, rc);
	}
	return block_start(w, first);
}

COLD HANDLER(branch_split) /* mask: the lanes that take the branch */
{
	const struct uop *to = split_warp(w, u, mask);
	if (--w->fuel < 0) /* a split may be the only branch of an endless loop */
		return yield_warp(w, to);
	CONTINUE(to);
}

/* BRANCH: a predicate, b all ones to invert it, x.to target, y block it ends; falls to u + 1 */
BRANCH_HANDLERS(branch, branch_split(w, u, taken))

/* BRANCH of the speculative program, assumed not to split the warp. If it does, the warp is
 * deoptimised. */
BRANCH_HANDLERS(branch_speculative, deoptimise_to_conservative(w, u, mask))

uint32_t vm_table_group(struct warp *w, const struct uop *u, uint32_t left, int32_t *target)
{
	const struct xblock *b = &w->image->ir.blocks[u->y];
	const mem_u32 *index = frame(w, u->a);
	const unsigned lane = (unsigned)__builtin_ctz(left);
	const uint32_t i = index[u->b ? 0 : lane];
	if (i >= b->n_targets) {
		vm_fault(w, u, FAULT_INDEX, lane);
		return 0;
	}
	uint32_t same = 0;
	for (uint32_t m = left; m; m &= m - 1) {
		const unsigned k = (unsigned)__builtin_ctz(m);
		const uint32_t j = index[u->b ? 0 : k];
		if (j < b->n_targets && b->targets[j] == b->targets[i])
			same |= 1u << k;
	}
	*target = b->targets[i];
	return same;
}

/* BRANCH TABLE: a 32 lane indexes, b 1 = scalar, x.p struct xop, y block */
static const struct uop *branch_table(struct warp *w, const struct uop *u)
{
	const struct xblock *b = &w->image->ir.blocks[u->y];
	const uint32_t all = w->mask;
	int32_t rc = b->reconv >= 0 ? b->reconv : w->rc;
	uint32_t left = all;
	bool first = true;
	int32_t go = -1;
	uint32_t go_mask = 0;
	while (left) {
		int32_t target;
		const uint32_t same = vm_table_group(w, u, left, &target);
		if (!same)
			return NULL;
		left &= ~same;
		if (first && !left) { /* nobody splits off */
			return block_start(w, target);
		}
		if (first) {
			w->worker->divergent[u->y]++;
			if (b->reconv >= 0 && b->reconv != w->rc)
				warp_push(w, all, b->reconv, w->rc);
			w->rc = rc;
			first = false;
		}
		if (target == rc)
			continue;
		if (go >= 0)
			warp_push(w, go_mask, go, rc);
		go = target;
		go_mask = same;
	}
	w->mask = go_mask;
	return block_start(w, go);
}
HANDLER(branch_table_any)
{
	const struct uop *to = branch_table(w, u);
	if (to && --w->fuel < 0)
		return yield_warp(w, to);
	CONTINUE(to);
}

const struct branch_handlers vm_branch_handlers = {
	.jump = { jump_full, jump_masked },
	.two_way = { branch_full, branch_masked },
	.speculative = { branch_speculative_full, branch_speculative_masked },
	.table = { branch_table_any, branch_table_any },
};

/*
 * A branch of machine code to one of several places (BRX, RET, CALL by address) that divides a
 * warp.
 *
 * The lanes that go where the lowest lane goes, if they are no more than the others, else the first
 * of the others, are put aside in front of all; the instruction is issued again for those left. Of
 * as many that go and that stay behind a guard, those that stay are put aside, as those that do not
 * branch are at any branch (quotients_in_branches.cu).
 */
#include "emu/vm/handler.h"
#include "emu/vm/parts.h"
#include "emu/vm/replay.h"

/* Lanes of @left that go on behind the instruction, since its guard does not hold for them. */
static uint32_t lanes_off(const struct warp *w, const struct uop *u, uint32_t left)
{
	const uint32_t n = w->image->ir.blocks[u->y].n_targets;
	const mem_u32 *index = frame(w, u->a);
	uint32_t off = 0;
	for (uint32_t m = w->image->ir.ops[u->xop].op ? left : 0; m; m &= m - 1)
		off |= index[u->b ? 0 : __builtin_ctz(m)] == n - 1 ? m & -m : 0;
	return off;
}

const struct uop *part_table(struct warp *w, const struct uop *u)
{
	uint32_t left = w->mask;
	int32_t to = -1, target[32];
	uint32_t group[32];
	unsigned groups = 0;
	for (;;) {
		uint32_t same = vm_table_group(w, u, left, &to);
		if (!same)
			return NULL;
		if (same == left)
			break;
		const uint32_t others = left & ~same;
		const bool stay =
			lane_popc32(same) == lane_popc32(others) && lanes_off(w, u, others) == others;
		if (lane_popc32(same) > lane_popc32(others) || stay)
			same = vm_table_group(w, u, others, &to);
		if (!same)
			return NULL;
		group[groups] = same;
		target[groups++] = to;
		replay_split(w);
		left &= ~same;
		replay_count(w, u->y, 1, lane_popc32(left));
		w->guards[u->xop] += lane_popc32(lanes_off(w, u, left));
	}
	w->worker->divergent[u->y] += groups > 0;
	if (groups) { /* the last one goes last */
		warp_push(w, left, to, -1);
		while (groups-- > 1)
			warp_push(w, group[groups], target[groups], -1);
		left = group[0];
		to = target[0];
	}
	w->mask = left;
	return block_start(w, to);
}

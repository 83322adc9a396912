/*
 * What branches and meetings of a warp's lanes count: branches, and instructions that a card issues
 * once more for lanes that went apart (vm/replay.c). Knows nothing of what runs them.
 */
#include "emu/launch/flow_counts.h"

static void issued_again(const struct block_flow *f, struct counts *c)
{
	c->warp_executed += f->again_warps;
	c->thread_active += f->again_lanes;
	c->thread_executed += f->again_lanes;
}

/* Between WARPSYNC.COLLECTIVE and ENDCOLLECTIVE, to which lanes came at several places. */
static void count_collective(const struct ir *ir, uint32_t op, const struct block_flow *f,
                             struct counts *c)
{
	const struct xblock *b = &ir->blocks[f->block];
	const struct xop *last = &ir->ops[b->end - 1];
	if (last->kind != X_NOP || last->op != NOP_ENDS)
		return;
	if (op == b->first) /* issued once for all of them, though each ran it: fewer */
		c->warp_executed += f->again_warps;
	if (op == b->end - 1) { /* issued again for those left */
		c->thread_active += f->again_lanes;
		c->thread_executed += f->again_lanes;
	}
}

void count_flow(const struct ir *ir, uint32_t op, const struct block_flow *f, struct counts *c)
{
	const struct xop *x = &ir->ops[op];
	/* hardware counts a jump that is always taken, too; PTX's assembler removes those */
	const bool jump = ir_of_machine_code(ir);
	if ((x->kind == X_BRA && (x->guard >= 0 || jump)) || x->kind == X_BRX) {
		c->branches += f->warps;
		c->divergent_branches += f->divergent;
	}
	if (x->kind == X_BRX && jump) { /* issued again for all but the last group of lanes */
		c->branches += f->again_warps - c->divergent_branches;
		c->divergent_branches = f->again_warps;
	}
	if (x->kind == X_BRX || x->kind == X_MEET_WAIT || x->kind == X_MEET_WARP)
		issued_again(f, c);
	if (x->kind == X_MEET_WARP) { /* WARPSYNC.EXCLUSIVE takes the lanes of a warp apart */
		c->branches += f->divergent;
		c->divergent_branches += f->divergent;
	}
	count_collective(ir, op, f, c);
}

/*
 * Basic blocks of machine code, and where the sides of a branch meet again.
 *
 * BSYNC and WARPSYNC are blocks of their own: a part of a warp waits there, and others run; so they
 * may behind YIELD, which ends a block. The
 * sides of a branch meet where a barrier leads that is open at the branch (BSSY), if no way from
 * the branch leaves that barrier (BREAK); of several, the one with the fewest blocks between.
 */
#include "emu/lower/sass_lower.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { N_BARRIERS = 16, NOT_OPEN = -1, NOT_SEEN = -2 };

static enum sass_flow flow_of(const struct sass_inst *i)
{
	return sass_op_info(i->op)->flow;
}

static bool is_wait(const struct sass_inst *i)
{
	return flow_of(i) == SASS_FLOW_SYNC || i->op == SASS_WARPSYNC;
}

bool sass_unconditional(const struct sass_inst *i)
{
	if (i->guard != SASS_PT || i->guard_not)
		return false;
	for (unsigned k = 0; k < i->n_operands; k++) {
		const struct sass_operand *o = &i->operands[k];
		const bool pred = o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED;
		if (pred && (o->reg != SASS_PT || o->flags & SASS_NOT))
			return false;
	}
	return !sass_has(i, SASS_MOD_DIV) && !sass_has(i, SASS_MOD_CONV);
}

static bool jumps(const struct sass_inst *i)
{
	const enum sass_flow f = flow_of(i);
	return f == SASS_FLOW_BRANCH || f == SASS_FLOW_CALL;
}

/* Nothing of this block comes behind it. */
static bool ends_block(const struct sass_inst *i)
{
	const enum sass_flow f = flow_of(i);
	return jumps(i) || f == SASS_FLOW_INDIRECT || f == SASS_FLOW_RETURN || is_wait(i) ||
	       i->op == SASS_YIELD || (f == SASS_FLOW_EXIT && sass_unconditional(i));
}

unsigned sass_ways(const struct sass_func *f, const struct sass_inst *i, uint32_t *ways)
{
	const enum sass_flow flow = flow_of(i);
	unsigned n = 0;
	for (unsigned k = 0; flow == SASS_FLOW_RETURN && k + 1 < f->n_insts; k++)
		if (flow_of(&f->insts[k]) == SASS_FLOW_CALL && n++ < SASS_MAX_WAYS)
			ways[n - 1] = k + 1;
	for (unsigned k = 0; flow == SASS_FLOW_CALL && k < f->cubin->n_inner; k++) {
		const int32_t at = sass_inst_at(f, f->cubin->inner[k].offset);
		if (at != SASS_NO_TARGET && n++ < SASS_MAX_WAYS)
			ways[n - 1] = (uint32_t)at;
	}
	for (unsigned k = 0; flow == SASS_FLOW_INDIRECT && k < i->n_targets; k++)
		if (n++ < SASS_MAX_WAYS)
			ways[n - 1] = i->targets[k];
	const uint32_t behind = (uint32_t)(i - f->insts) + 1;
	if (n && !sass_unconditional(i) && behind < f->n_insts) {
		if (n < SASS_MAX_WAYS)
			ways[n] = behind;
		n++;
	}
	return n;
}

bool sass_calls_by_address(const struct sass_inst *i)
{
	return i->op == SASS_CALL && sass_has(i, SASS_MOD_REL) && i->target < 0 && i->n_operands &&
	       i->operands[0].kind == SASS_OPND_REG;
}

unsigned sass_block_starts(const struct sass_func *f, int32_t *block_of)
{
	unsigned n = 0;
	uint32_t ways[SASS_MAX_WAYS];
	for (unsigned k = 0; k < f->n_insts; k++)
		block_of[k] = k == 0 ? 0 : -1;
	for (unsigned k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		if (i->target >= 0)
			block_of[i->target] = 0;
		for (unsigned t = 0; t < i->n_targets; t++)
			block_of[i->targets[t]] = 0;
		const unsigned n_ways = sass_calls_by_address(i) ? sass_ways(f, i, ways) : 0;
		for (unsigned t = 0; t < n_ways && t < SASS_MAX_WAYS; t++)
			block_of[ways[t]] = 0;
		if (is_wait(i))
			block_of[k] = 0;
		if (ends_block(i) && k + 1 < f->n_insts)
			block_of[k + 1] = 0;
	}
	for (unsigned k = 0; k < f->n_insts; k++)
		if (block_of[k] == 0)
			block_of[k] = (int32_t)n++;
	return n;
}

/* --- successors --- */

struct blocks {
	struct ir *ir;
	const struct sass_func *f;
	const int32_t *block_of;
	uint32_t *first_inst;        /* by block; one more at the end */
	int32_t (*open)[N_BARRIERS]; /* at the end of a block: where the barrier leads */
	int32_t *stack;
	bool *seen;
};

static void set_table(struct blocks *b, struct xblock *xb, const uint32_t *sites, unsigned n)
{
	int32_t *targets = mem_calloc(n + 1, sizeof *targets);
	for (unsigned k = 0; k < n; k++)
		targets[k] = b->block_of[sites[k]];
	xb->targets = targets;
	xb->n_targets = n;
	b->ir->own_targets =
		mem_realloc(b->ir->own_targets, b->ir->n_own_targets + 1, sizeof *b->ir->own_targets);
	b->ir->own_targets[b->ir->n_own_targets++] = targets;
}

static void set_successors(struct blocks *b, unsigned n)
{
	struct xblock *xb = &b->ir->blocks[n];
	const struct sass_inst *i = &b->f->insts[b->first_inst[n + 1] - 1];
	const enum sass_flow flow = flow_of(i);
	const int32_t next = n + 1 < b->ir->n_blocks ? (int32_t)n + 1 : -1;
	uint32_t ways[SASS_MAX_WAYS];
	xb->succ[0] = next;
	xb->succ[1] = -1;
	xb->reconv = -1;
	if (jumps(i) && i->target >= 0) {
		xb->succ[0] = b->block_of[i->target];
		xb->succ[1] = sass_unconditional(i) ? -1 : next;
	} else if (flow == SASS_FLOW_RETURN || flow == SASS_FLOW_INDIRECT || sass_calls_by_address(i)) {
		set_table(b, xb, ways, sass_ways(b->f, i, ways));
		xb->returns = flow == SASS_FLOW_RETURN;
	} else if (flow == SASS_FLOW_EXIT && sass_unconditional(i)) {
		xb->succ[0] = -1;
	}
}

/* --- open barriers --- */

static int barrier_of(const struct sass_inst *i)
{
	for (unsigned k = 0; k < i->n_operands; k++)
		if (i->operands[k].kind == SASS_OPND_BARRIER && i->operands[k].reg < N_BARRIERS)
			return i->operands[k].reg;
	return -1;
}

/* The block of the BSYNC that a BSSY leads to; before sm_90 its label is the instruction behind. */
static int32_t block_of_sync(const struct blocks *b, uint32_t target, int barrier)
{
	const struct sass_inst *i = &b->f->insts[target];
	if (target && !(flow_of(i) == SASS_FLOW_SYNC && barrier_of(i) == barrier) &&
	    flow_of(i - 1) == SASS_FLOW_SYNC && barrier_of(i - 1) == barrier)
		return b->block_of[target - 1];
	return b->block_of[target];
}

/* What block @n does to the barriers that are open at its start. */
static void pass_block(const struct blocks *b, unsigned n, int32_t open[N_BARRIERS])
{
	for (uint32_t k = b->first_inst[n]; k < b->first_inst[n + 1]; k++) {
		const struct sass_inst *i = &b->f->insts[k];
		const int barrier = barrier_of(i);
		if (barrier < 0)
			continue;
		if (i->op == SASS_BSSY && i->target >= 0)
			open[barrier] = block_of_sync(b, (uint32_t)i->target, barrier);
		else if (flow_of(i) == SASS_FLOW_SYNC || i->op == SASS_BMOV)
			open[barrier] = NOT_OPEN;
	}
}

static bool meet_open(int32_t into[N_BARRIERS], const int32_t from[N_BARRIERS])
{
	bool changed = false;
	for (unsigned k = 0; k < N_BARRIERS; k++) {
		const int32_t was = into[k];
		if (into[k] == NOT_SEEN)
			into[k] = from[k];
		else if (from[k] != NOT_SEEN && into[k] != from[k])
			into[k] = NOT_OPEN;
		changed |= was != into[k];
	}
	return changed;
}

static void find_open_barriers(struct blocks *b)
{
	const unsigned n_blocks = b->ir->n_blocks;
	int32_t(*in)[N_BARRIERS] = mem_calloc(n_blocks, sizeof *in);
	for (unsigned n = 0; n < n_blocks; n++)
		for (unsigned k = 0; k < N_BARRIERS; k++)
			in[n][k] = n ? NOT_SEEN : NOT_OPEN;
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned n = 0; n < n_blocks; n++) {
			int32_t to;
			memcpy(b->open[n], in[n], sizeof in[n]);
			pass_block(b, n, b->open[n]);
			const struct xblock *xb = &b->ir->blocks[n];
			const unsigned n_succ = xb->targets ? xb->n_targets : 2;
			for (unsigned i = 0; i < n_succ; i++) {
				to = xb->targets ? xb->targets[i] : xb->succ[i];
				if (to >= 0)
					changed |= meet_open(in[to], b->open[n]);
			}
		}
	}
	free(in);
}

/* Blocks on the ways from block @from to @stop; UINT32_MAX = one of them leaves @barrier. */
static uint32_t blocks_between(struct blocks *b, unsigned from, int32_t stop, int barrier)
{
	uint32_t count = 0, depth = 0;
	memset(b->seen, 0, b->ir->n_blocks * sizeof *b->seen);
	b->stack[depth++] = (int32_t)from;
	while (depth) {
		const int32_t n = b->stack[--depth];
		const struct xblock *xb = &b->ir->blocks[n];
		for (uint32_t k = b->first_inst[n]; k < b->first_inst[n + 1]; k++) {
			const struct sass_inst *i = &b->f->insts[k];
			if (flow_of(i) == SASS_FLOW_BREAK && barrier_of(i) == barrier)
				return UINT32_MAX;
		}
		const unsigned n_succ = xb->targets ? xb->n_targets : 2;
		for (unsigned i = 0; i < n_succ; i++) {
			const int32_t to = xb->targets ? xb->targets[i] : xb->succ[i];
			if (to >= 0 && to != stop && !b->seen[to]) {
				b->seen[to] = true;
				b->stack[depth++] = to;
				count++;
			}
		}
	}
	return count;
}

static int32_t meeting_point(struct blocks *b, unsigned n)
{
	int32_t best = -1;
	uint32_t fewest = UINT32_MAX;
	for (int k = 0; k < N_BARRIERS; k++) {
		const int32_t to = b->open[n][k];
		if (to < 0)
			continue;
		const struct sass_inst *i = &b->f->insts[b->first_inst[to]];
		if (flow_of(i) != SASS_FLOW_SYNC || barrier_of(i) != k)
			continue;
		const uint32_t between = blocks_between(b, n, to, k);
		if (between < fewest) {
			fewest = between;
			best = to;
		}
	}
	return best;
}

void sass_finish_blocks(struct ir *ir, const struct sass_func *f, const int32_t *block_of,
                        unsigned n_blocks, const uint32_t *first_op)
{
	struct blocks b = { .ir = ir, .f = f, .block_of = block_of };
	ir->n_blocks = n_blocks;
	ir->blocks = mem_calloc(n_blocks, sizeof *ir->blocks);
	b.first_inst = mem_calloc(n_blocks + 1, sizeof *b.first_inst);
	for (unsigned k = 0; k < f->n_insts; k++)
		if (block_of[k] >= 0)
			b.first_inst[block_of[k]] = k;
	b.first_inst[n_blocks] = f->n_insts;
	for (unsigned n = 0; n < n_blocks; n++) {
		ir->blocks[n].first = first_op[b.first_inst[n]];
		ir->blocks[n].end = first_op[b.first_inst[n + 1]];
		set_successors(&b, n);
	}
	b.open = mem_calloc(n_blocks, sizeof *b.open);
	b.stack = mem_calloc(n_blocks + 1, sizeof *b.stack);
	b.seen = mem_calloc(n_blocks, sizeof *b.seen);
	find_open_barriers(&b);
	for (unsigned n = 0; n < n_blocks; n++)
		if (ir->blocks[n].targets || ir->blocks[n].succ[1] >= 0)
			ir->blocks[n].reconv = meeting_point(&b, n);
	free(b.first_inst);
	free(b.open);
	free(b.stack);
	free(b.seen);
}

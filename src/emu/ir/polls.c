/*
 * Loads and atomics that ask one place again and again, as who waits for another block does: on
 * some way from one execution to the next nothing is written that the address is made of.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"

#include <stdlib.h>

static bool speaks(const struct xop *x)
{
	return x->space != SPACE_SHARED && (x->scope == SCOPE_SYS || (x->kind == X_ST && x->strong));
}

/* Machine code says only that what is in L1 will not do. */
static bool asks_others(const struct ir *ir, const struct xop *x)
{
	const bool past_l1 = x->strong || (x->bypass_l1 && ir_of_machine_code(ir));
	return x->kind == X_ATOM || (x->kind == X_LD && past_l1);
}

static bool block_writes(const struct ir *ir, uint32_t b, const bool *regs)
{
	for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++)
		for (unsigned i = 0; i < ir->ops[o].n_d; i++)
			if (ir->ops[o].d[i] >= 0 && regs[ir->ops[o].d[i]])
				return true;
	return false;
}

/* Marks the blocks that are reached from the end of block @from, none of which writes one of @regs
 * but perhaps the last. */
static void reach(const struct ir *ir, uint32_t from, const bool *regs, bool *seen)
{
	const struct xblock *b = &ir->blocks[from];
	for (unsigned i = 0; i < 2 + b->n_targets; i++) {
		const int32_t to = i < 2 ? b->succ[i] : b->targets[i - 2];
		if (to < 0 || seen[to])
			continue;
		seen[to] = true;
		if (!block_writes(ir, (uint32_t)to, regs))
			reach(ir, (uint32_t)to, regs, seen);
	}
}

/*
 * In @regs: what the address of @o, an instruction of block @b, is made of, as it is when the block
 * begins. False: it is made of something that may be another one each time.
 */
static bool address_inputs(const struct ir *ir, uint32_t b, uint32_t o, bool *regs)
{
	for (unsigned r = 0; r < ir->n_regs; r++)
		regs[r] = false;
	if (ir->ops[o].s[0].kind != S_REG)
		return true;
	regs[ir->ops[o].s[0].reg] = true;
	while (o-- > ir->blocks[b].first) {
		const struct xop *x = &ir->ops[o];
		bool part = false;
		for (unsigned i = 0; i < x->n_d; i++)
			part |= x->d[i] >= 0 && regs[x->d[i]];
		if (!part)
			continue;
		if (x->kind >= X_CLOCK)
			return false;
		for (unsigned i = 0; i < x->n_d; i++)
			if (x->d[i] >= 0 && x->guard < 0)
				regs[x->d[i]] = false;
		for (unsigned i = 0; i < x->n_s; i++)
			if (x->s[i].kind == S_REG)
				regs[x->s[i].reg] = true;
		if (x->guard >= 0)
			regs[x->guard] = true;
	}
	return true;
}

void ir_find_polls(struct ir *ir)
{
	bool *seen = mem_calloc(ir->n_blocks + 1, sizeof *seen);
	bool *regs = mem_calloc(ir->n_regs + 1, sizeof *regs);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			struct xop *x = &ir->ops[o];
			ir->speaks |= speaks(x);
			if (!asks_others(ir, x) || !address_inputs(ir, b, o, regs) || block_writes(ir, b, regs))
				continue;
			for (uint32_t i = 0; i < ir->n_blocks; i++)
				seen[i] = false;
			reach(ir, b, regs, seen);
			x->polls = seen[b];
			ir->waits |= x->polls && x->space != SPACE_SHARED;
		}
	free(seen);
	free(regs);
}

/*
 * Loops in which lanes only ask memory whether it has changed, for a flag or a lock, and change
 * nothing themselves: others, perhaps of their own warp, have to go on before they can.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Leaves memory as it is, unless it gets what the loop waits for? */
static bool asks_only(const struct xop *x)
{
	if (x->op == ATOM_CAS || x->op == ATOM_EXCH)
		return true;
	const bool keeps = x->op == ATOM_ADD || x->op == ATOM_OR || x->op == ATOM_XOR;
	return keeps && x->s[1].kind == S_CONST && x->s[1].value == 0;
}

static bool changes_something(const struct xop *x)
{
	switch (x->kind) {
	case X_ATOM: return !asks_only(x);
	case X_ST: return x->space != SPACE_LOCAL;
	case X_RED:
	case X_ASYNC:
	case X_CALL:
	case X_RET:
	case X_TENSOR:
	case X_SYSTEM:
	case X_BAR:
	case X_ARRIVE:
	case X_TEXTURE: return true;
	default: return false;
	}
}

static bool block_changes(const struct ir *ir, uint32_t block)
{
	for (uint32_t o = ir->blocks[block].first; o < ir->blocks[block].end; o++)
		if (changes_something(&ir->ops[o]))
			return true;
	return false;
}

/* The blocks that are reached from @home through such as change nothing (@quiet). */
static void reach(const struct ir *ir, const bool *quiet, uint32_t home, bool *seen)
{
	uint32_t *todo = mem_calloc(ir->n_blocks, sizeof *todo), n = 0;
	todo[n++] = home;
	while (n) {
		const struct xblock *b = &ir->blocks[todo[--n]];
		for (unsigned i = 0; i < 2 + b->n_targets; i++) {
			const int32_t to = i < 2 ? b->succ[i] : b->targets[i - 2];
			if (to < 0 || seen[to] || !quiet[to])
				continue;
			seen[to] = true;
			todo[n++] = (uint32_t)to;
		}
	}
	free(todo);
}

/* The blocks on a way from @home back to it; false: there is none. */
static bool loop_of(const struct ir *ir, const bool *quiet, uint32_t home, bool *loop)
{
	bool *from = mem_calloc(ir->n_blocks, sizeof *from);
	memset(loop, 0, ir->n_blocks * sizeof *loop);
	reach(ir, quiet, home, loop);
	for (uint32_t b = 0; loop[home] && b < ir->n_blocks; b++) {
		if (!loop[b] || b == home)
			continue;
		memset(from, 0, ir->n_blocks * sizeof *from);
		reach(ir, quiet, b, from);
		loop[b] = from[home];
	}
	free(from);
	return loop[home];
}

static bool writes(const struct xop *x, int32_t r)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == r)
			return true;
	return false;
}

static bool same_value(const struct ir *ir, const bool *loop, uint32_t block, uint32_t op,
                       unsigned deep);

/* Has register @r the same value each time round where operation @op of @block reads it, as far as
 * @deep operations say? */
static bool same_each_time(const struct ir *ir, const bool *loop, uint32_t block, uint32_t op,
                           int32_t r, unsigned deep)
{
	for (uint32_t o = op; o-- > ir->blocks[block].first;)
		if (writes(&ir->ops[o], r) && ir->ops[o].guard < 0)
			return same_value(ir, loop, block, o, deep);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] && o < ir->blocks[b].end; o++)
			if (writes(&ir->ops[o], r) && !same_value(ir, loop, b, o, deep))
				return false;
	return true;
}

/* Does operation @op make the same each time round? */
static bool same_value(const struct ir *ir, const bool *loop, uint32_t block, uint32_t op,
                       unsigned deep)
{
	const struct xop *x = &ir->ops[op];
	if (!deep || (x->kind != X_OP && x->kind != X_SPECIAL))
		return false;
	for (unsigned s = 0; s < x->n_s; s++)
		if (x->s[s].kind == S_REG && !same_each_time(ir, loop, block, op, x->s[s].reg, deep - 1))
			return false;
	return true;
}

#define DEEP 6 /* operations that make an address of others */

void ir_find_asking(struct ir *ir)
{
	bool *quiet = mem_calloc(ir->n_blocks + 1, sizeof *quiet);
	bool *loop = mem_calloc(ir->n_blocks + 1, sizeof *loop);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		quiet[b] = !block_changes(ir, b);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; quiet[b] && o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			if ((x->kind != X_LD && x->kind != X_ATOM) || !x->decides || ir->blocks[b].asks)
				continue;
			if (!loop_of(ir, quiet, b, loop))
				break;
			if (x->s[0].kind == S_REG && !same_each_time(ir, loop, b, o, x->s[0].reg, DEEP))
				continue;
			for (uint32_t k = 0; k < ir->n_blocks; k++)
				ir->blocks[k].asks |= loop[k];
		}
	free(loop);
	free(quiet);
}

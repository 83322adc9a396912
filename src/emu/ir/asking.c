/*
 * Loops in which lanes only ask memory whether it has changed, for a flag or a lock, and change
 * nothing themselves: others, perhaps of their own warp, have to go on before they can.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

bool xop_asks_only(const struct xop *x)
{
	if (x->op == ATOM_CAS || x->op == ATOM_EXCH)
		return true;
	const bool keeps = x->op == ATOM_ADD || x->op == ATOM_OR || x->op == ATOM_XOR;
	return keeps && x->s[1].kind == S_CONST && x->s[1].value == 0;
}

static bool changes_something(const struct xop *x)
{
	switch (x->kind) {
	case X_ATOM: return !xop_asks_only(x);
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

#define MOST_BLOCKS 64 /* of a loop that only asks */

/* Blocks of the loops that change nothing: @loop[b] is the number of b's, 0 = none. Two blocks are
 * of one loop where each leads to the other through such blocks (Tarjan's components). */
struct loops {
	const struct ir *ir;
	const bool *quiet;
	const bool *cut; /* no return leads there: its call is not of the loop */
	uint32_t *loop, *found, *low, *open, *way, *next; /* by block; open, way: stacks */
	uint32_t n_found, n_open, n_loops;
};

static bool leads_to_itself(const struct ir *ir, uint32_t block)
{
	const struct xblock *b = &ir->blocks[block];
	for (uint32_t i = 0; i < 2 + b->n_targets; i++)
		if (xblock_successor(b, i) == (int32_t)block)
			return true;
	return false;
}

/* @block and what was entered behind it are of one component. */
static void close_component(struct loops *l, uint32_t block)
{
	uint32_t first = l->n_open;
	while (l->open[--first] != block)
		;
	const uint32_t size = l->n_open - first;
	const bool loop = size <= MOST_BLOCKS && (size > 1 || leads_to_itself(l->ir, block));
	l->n_loops += loop;
	for (uint32_t i = first; i < l->n_open; i++) {
		l->loop[l->open[i]] = loop ? l->n_loops : 0;
		l->low[l->open[i]] = UINT32_MAX; /* closed */
	}
	l->n_open = first;
}

static void enter(struct loops *l, uint32_t block)
{
	l->found[block] = l->low[block] = ++l->n_found;
	l->open[l->n_open++] = block;
}

static void components_from(struct loops *l, uint32_t root)
{
	uint32_t depth = 0;
	l->way[depth++] = root;
	enter(l, root);
	while (depth) {
		const uint32_t at = l->way[depth - 1];
		const struct xblock *b = &l->ir->blocks[at];
		if (l->next[at] == 2 + b->n_targets) {
			if (l->low[at] == l->found[at])
				close_component(l, at);
			depth--;
			if (depth && l->low[at] < l->low[l->way[depth - 1]])
				l->low[l->way[depth - 1]] = l->low[at];
			continue;
		}
		const int32_t to = xblock_successor(b, l->next[at]++);
		if (to < 0 || !l->quiet[to] || (b->returns && l->cut[to]))
			continue;
		if (!l->found[to]) {
			l->way[depth++] = (uint32_t)to;
			enter(l, (uint32_t)to);
		} else if (l->low[to] != UINT32_MAX && l->found[to] < l->low[at]) {
			l->low[at] = l->found[to];
		}
	}
}

/* Owned. */
static uint32_t *components(const struct ir *ir, const bool *quiet, const bool *cut)
{
	struct loops l = { .ir = ir, .quiet = quiet, .cut = cut };
	uint32_t **const tables[] = { &l.loop, &l.found, &l.low, &l.open, &l.way, &l.next };
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		*tables[i] = mem_calloc(ir->n_blocks + 1, sizeof **tables[i]);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		if (quiet[b] && !l.found[b])
			components_from(&l, b);
	for (unsigned i = 1; i < ARRAY_LEN(tables); i++)
		free(*tables[i]);
	return l.loop;
}

/* Leads a return of @loop to where a call from outside of it went on? No lane goes there. */
static bool cut_returns(const struct ir *ir, const uint32_t *loop, bool *cut)
{
	bool any = false;
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t i = 0; loop[b] && ir->blocks[b].returns && i < ir->blocks[b].n_targets; i++) {
			const int32_t to = ir->blocks[b].targets[i];
			if (to <= 0 || cut[to] || loop[to] != loop[b] || loop[to - 1] == loop[b])
				continue;
			cut[to] = any = true;
		}
	return any;
}

/* Owned. What calls one function from several places is no loop for that. */
static uint32_t *quiet_loops(const struct ir *ir, const bool *quiet)
{
	bool *cut = mem_calloc(ir->n_blocks + 1, sizeof *cut);
	uint32_t *loop = components(ir, quiet, cut);
	while (cut_returns(ir, loop, cut)) {
		free(loop);
		loop = components(ir, quiet, cut);
	}
	free(cut);
	return loop;
}

static bool writes(const struct xop *x, int32_t r)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == r)
			return true;
	return false;
}

static bool same_value(const struct ir *ir, const uint32_t *loop, uint32_t block, uint32_t op,
                       unsigned deep);

/* Has register @r the same value each time round where operation @op of @block reads it, as far as
 * @deep operations say? */
static bool same_each_time(const struct ir *ir, const uint32_t *loop, uint32_t block, uint32_t op,
                           int32_t r, unsigned deep)
{
	for (uint32_t o = op; o-- > ir->blocks[block].first;)
		if (writes(&ir->ops[o], r) && ir->ops[o].guard < 0)
			return same_value(ir, loop, block, o, deep);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] == loop[block] && o < ir->blocks[b].end; o++)
			if (writes(&ir->ops[o], r) && !same_value(ir, loop, b, o, deep))
				return false;
	return true;
}

/* Does operation @op make the same each time round? */
static bool same_value(const struct ir *ir, const uint32_t *loop, uint32_t block, uint32_t op,
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

static bool same_address(const struct ir *ir, const uint32_t *loop, uint32_t block, uint32_t op)
{
	const struct xsrc *s = &ir->ops[op].s[0];
	return s->kind != S_REG || same_each_time(ir, loop, block, op, s->reg, DEEP);
}

static bool of_other_blocks(const struct xop *x)
{
	return x->kind == X_LD && (x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC);
}

/* Does a load of loop @n go from place to place? Then what it finds may end the loop, and what
 * stays is only read again, as compilers do that keep nothing in registers. */
static bool walks(const struct ir *ir, const uint32_t *loop, uint32_t n)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] == n && o < ir->blocks[b].end; o++)
			if (of_other_blocks(&ir->ops[o]) && !same_address(ir, loop, b, o))
				return true;
	return false;
}

/* Loop @n waits for what operations of it ask. */
static void mark_asking(struct ir *ir, const uint32_t *loop, uint32_t n)
{
	const bool stays = !walks(ir, loop, n);
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		if (loop[b] != n)
			continue;
		ir->blocks[b].asks = true;
		for (uint32_t o = ir->blocks[b].first; stays && o < ir->blocks[b].end; o++)
			ir->ops[o].waits_plain =
				of_other_blocks(&ir->ops[o]) && ir->ops[o].decides && !ir->ops[o].strong;
	}
}

static bool has_fence(const struct ir *ir, const uint32_t *loop, uint32_t n)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] == n && o < ir->blocks[b].end; o++)
			if (ir->ops[o].kind == X_FENCE)
				return true;
	return false;
}

/* Loops that look at one flag after the other: with a fence, which nothing but a wait needs where
 * nothing is written. Whether they ask one place again is looked at in polls.c. */
static void mark_fenced(struct ir *ir, const uint32_t *loop)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] && o < ir->blocks[b].end; o++) {
			struct xop *x = &ir->ops[o];
			if (of_other_blocks(x) && x->decides && !x->strong && !x->waits_plain)
				x->waits_plain = has_fence(ir, loop, loop[b]);
		}
}

/* Local memory is a lane's own: a loop's number kept there, as spills are, asks nobody. */
static bool asks_others(const struct xop *x)
{
	return x->kind == X_ATOM || of_other_blocks(x) || (x->kind == X_LD && x->space == SPACE_SHARED);
}

struct asking {
	const struct ir *ir;
	const uint32_t *loop, *block_of; /* by block, by operation */
	uint32_t n;                      /* which loop */
};

static bool in_loop(const void *context, uint32_t o)
{
	const struct asking *a = context;
	return a->loop[a->block_of[o]] == a->n;
}

/* Does operation @o, of a loop, ask one place each time round? */
static bool asks_again(const void *context, uint32_t o)
{
	const struct asking *a = context;
	const struct xop *x = &a->ir->ops[o];
	return in_loop(a, o) && asks_others(x) && x->decides &&
	       same_address(a->ir, a->loop, a->block_of[o], o);
}

static bool branches(const struct xop *x)
{
	return x->kind == X_BRA || x->kind == X_BRX || x->kind == X_EXIT || x->kind == X_LEAVE;
}

/* Decides what it finds about a branch in the loop? A loop that counts ends by itself, whatever is
 * made behind it, or beside it, of what it looks at. */
static bool branches_by_it(const struct asking *a)
{
	struct made_of m = made_of(a->ir, in_loop, asks_again, a);
	uint64_t *found = mem_calloc(m.words, sizeof *found);
	bool any = false;
	for (uint32_t b = 0; b < a->ir->n_blocks; b++) {
		if (a->loop[b] != a->n)
			continue;
		made_of_before(&m, b, found);
		for (uint32_t o = a->ir->blocks[b].first; o < a->ir->blocks[b].end; o++) {
			any |= branches(&a->ir->ops[o]) && made_of_read(&a->ir->ops[o], found);
			made_of_step(&m, o, found);
		}
	}
	free(found);
	made_of_free(&m);
	return any;
}

/* Waits a loop by loads past L1 (.cg .cv), which machine code does as it does volatile ones, then
 * so count these, and the stores past L1 that they wait for. */
static void mark_handing_on(struct ir *ir)
{
	bool any = false;
	for (struct xop *x = ir->ops; x < ir->ops + ir->n_ops; x++)
		any |= x->hands_on = x->kind == X_LD && x->waits_plain && x->bypass_l1;
	for (struct xop *x = ir->ops; any && x < ir->ops + ir->n_ops; x++)
		x->hands_on |= x->kind == X_ST && x->to_l2;
}

void ir_find_asking(struct ir *ir)
{
	bool *quiet = mem_calloc(ir->n_blocks + 1, sizeof *quiet);
	uint32_t *block_of = mem_calloc(ir->n_ops + 1, sizeof *block_of);
	bool *judged = mem_calloc(ir->n_blocks + 1, sizeof *judged); /* by loop */
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		quiet[b] = !block_changes(ir, b);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++)
			block_of[o] = b;
	}
	uint32_t *loop = quiet_loops(ir, quiet);
	for (uint32_t b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; loop[b] && o < ir->blocks[b].end; o++) {
			const struct asking a = { ir, loop, block_of, loop[b] };
			if (judged[loop[b]] || !asks_again(&a, o))
				continue;
			judged[loop[b]] = true;
			if (branches_by_it(&a))
				mark_asking(ir, loop, loop[b]);
		}
	mark_fenced(ir, loop);
	mark_handing_on(ir);
	free(loop);
	free(judged);
	free(block_of);
	free(quiet);
}

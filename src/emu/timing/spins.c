/* See spins.h. */
#include "emu/timing/spins.h"

#include <math.h>

/* Blocks of a loop; more than that do something else as well. */
#define MOST_BLOCKS 4
#define MOST_WRITTEN 64

struct loop {
	unsigned n;
	uint32_t block[MOST_BLOCKS]; /* the first one is where it is looked for from */
};

static bool has(const struct loop *l, uint32_t b)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->block[i] == b)
			return true;
	return false;
}

/* Goes on from @b to where the loop began; what lies on the way belongs to it. */
static bool comes_back(const struct ir *ir, struct loop *l, uint32_t b, unsigned left)
{
	bool back = false;
	if (ir->blocks[b].targets)
		return false;
	for (unsigned s = 0; s < 2; s++) {
		const int32_t next = ir->blocks[b].succ[s];
		if (next < 0)
			continue;
		if ((uint32_t)next == l->block[0]) {
			back = true;
		} else if (left && !has(l, (uint32_t)next) && comes_back(ir, l, (uint32_t)next, left - 1)) {
			if (l->n < MOST_BLOCKS)
				l->block[l->n++] = (uint32_t)next;
			back = true;
		}
	}
	return back;
}

static bool shortest_loop(const struct ir *ir, uint32_t b, struct loop *l)
{
	for (unsigned more = 0; more < MOST_BLOCKS; more++) {
		*l = (struct loop){ .n = 1, .block = { b } };
		if (comes_back(ir, l, b, more))
			return true;
	}
	return false;
}

/* Its blocks in the order in which they run: the later ones were found first. */
static uint32_t block_at(const struct loop *l, unsigned i)
{
	return i ? l->block[l->n - i] : l->block[0];
}

static bool writes(const struct ir *ir, const struct loop *l, int32_t reg)
{
	for (unsigned k = 0; k < l->n; k++)
		for (uint32_t o = ir->blocks[l->block[k]].first; o < ir->blocks[l->block[k]].end; o++)
			for (unsigned i = 0; i < ir->ops[o].n_d; i++)
				if (ir->ops[o].d[i] == reg)
					return true;
	return false;
}

/* Registers that were written since the loop's top. */
struct written {
	unsigned n;
	int32_t reg[MOST_WRITTEN];
};

static bool is_new(const struct written *w, int32_t reg)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->reg[i] == reg)
			return true;
	return false;
}

/* Does @x need what the turn before has left? */
static bool needs_last_turn(const struct ir *ir, const struct loop *l, const struct written *w,
                            const struct xop *x)
{
	for (unsigned s = 0; s < x->n_s; s++)
		if (x->s[s].kind == S_REG && !is_new(w, x->s[s].reg) && writes(ir, l, x->s[s].reg))
			return true;
	return x->guard >= 0 && !is_new(w, x->guard) && writes(ir, l, x->guard);
}

static bool asks_again(const struct xop *x)
{
	const bool takes = x->kind == X_ATOM && xop_asks_only(x);
	return takes || (x->kind == X_LD && (x->strong || xop_looks_afresh(x)));
}

/* Does it do nothing but ask, until another has written what it wants to see? Then each turn is
 * like the one before. A sum by compare-and-swap wants what it saw in the last one. */
static bool only_asks(const struct ir *ir, const struct loop *l)
{
	struct written w = { .n = 0 };
	bool asks = false;
	for (unsigned k = 0; k < l->n; k++) {
		const struct xblock *b = &ir->blocks[block_at(l, k)];
		for (uint32_t o = b->first; o < b->end; o++) {
			const struct xop *x = &ir->ops[o];
			const bool again = asks_again(x);
			const bool stores = x->kind == X_ST || x->kind == X_RED || x->kind == X_ATOM;
			if ((stores && !again) || needs_last_turn(ir, l, &w, x) || w.n + x->n_d > MOST_WRITTEN)
				return false;
			for (unsigned i = 0; i < x->n_d; i++)
				w.reg[w.n++] = x->d[i];
			asks |= again;
		}
	}
	return asks;
}

static bool only_from(const struct ir *ir, const struct loop *l, uint32_t b)
{
	for (uint32_t k = 0; k < ir->n_blocks; k++)
		if (!has(l, k) &&
		    (ir->blocks[k].succ[0] == (int32_t)b || ir->blocks[k].succ[1] == (int32_t)b))
			return false;
	return true;
}

static double visits_of(const struct ir *ir, const struct counts *of_op, const struct loop *l)
{
	double entered = 0, left = 0;
	for (uint32_t k = 0; k < ir->n_blocks; k++)
		for (unsigned s = 0; s < 2; s++) {
			const int32_t next = ir->blocks[k].succ[s];
			if (next < 0 || has(l, k) == has(l, (uint32_t)next))
				continue;
			if (has(l, k))
				left += only_from(ir, l, (uint32_t)next)
				            ? (double)of_op[ir->blocks[next].first].warp_executed
				            : 0;
			else
				entered += (double)of_op[ir->blocks[k].first].warp_executed;
		}
	return fmax(entered, left);
}

bool spins_shorten(const struct ir *ir, const struct counts *of_op, struct timing_inst *inst,
                   struct timing_block *block)
{
	bool any = false;
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		struct loop l;
		if (!shortest_loop(ir, b, &l) || !only_asks(ir, &l))
			continue;
		any = true;
		const double visits = visits_of(ir, of_op, &l);
		for (unsigned k = 0; k < l.n; k++) {
			struct timing_block *t = &block[l.block[k]];
			t->warp_passes = fmin(t->warp_passes, visits);
			t->longest_passes = fmin(t->longest_passes, t->warp_passes);
			t->asks = true;
			for (uint32_t o = ir->blocks[l.block[k]].first; o < ir->blocks[l.block[k]].end; o++)
				inst[o].polls = ir->ops[o].space != SPACE_SHARED && asks_again(&ir->ops[o]);
		}
	}
	return any;
}

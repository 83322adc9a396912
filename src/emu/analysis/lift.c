/*
 * Takes guards off machine code where they do no more than save work.
 *
 *     @!P1 MOV R25, 4;   @!P1 IMAD.WIDE R24, R12, R25, c;   @!P1 LDG R22, [R24]
 *
 * Nobody reads R24 and R25 but instructions with that guard: whatever they hold in other lanes, it
 * does no harm to write them there, too, into a register of their own. What is known of them then
 * holds in all lanes, so that the address is seen as scalar + pattern. The lanes of the guard are
 * counted as before.
 *
 * A load keeps its guard, but what it gives gets a register of its own likewise: what the register
 * held before is then not mixed with it.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* A write under a guard, and the operations behind it, up to @end, that may read what it wrote. */
struct candidate {
	uint32_t op, end, block;
	int32_t reg;
	bool to_the_end; /* of its block: right only if nobody reads it in another */
	bool dropped;
};

struct lift {
	struct ir *ir;
	const struct xop **guarded_by; /* by operation: that which has its instruction's guard */
	struct candidate *c;
	unsigned n, cap;
};

static bool same_guard(const struct xop *a, const struct xop *b)
{
	return a && b && a->guard == b->guard && a->guard_neg == b->guard_neg;
}

static bool reads(const struct xop *x, int32_t reg)
{
	int32_t all[X_MAX_VEC + 4];
	const unsigned n = xop_reads(x, all);
	for (unsigned i = 0; i < n; i++)
		if (all[i] == reg)
			return true;
	return false;
}

static bool writes(const struct xop *x, int32_t reg)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == reg)
			return true;
	return false;
}

static bool only_computes(const struct xop *x)
{
	return x->kind <= X_SEL && x->n_d == 1 && x->d[0] >= 0;
}

static bool only_loads(const struct xop *x)
{
	return x->kind == X_LD && x->n_d == 1 && x->d[0] >= 0;
}

/* An instruction's guard is that of the operation that counts its lanes. */
static void find_guards(struct lift *l)
{
	const struct ir *ir = l->ir;
	l->guarded_by = mem_calloc(ir->n_ops + 1, sizeof *l->guarded_by);
	for (uint32_t o = 0, end; o < ir->n_ops; o = end) {
		const struct xop *guard = NULL;
		for (end = o; end < ir->n_ops && (end == o || !ir->ops[end].first); end++)
			if (ir->ops[end].counts)
				guard = &ir->ops[end];
		for (uint32_t k = o; k < end; k++)
			l->guarded_by[k] = guard;
	}
}

/* Reads its own guard as a value, or as its own old value: then @x is not what it seems. */
static bool odd(const struct xop *x)
{
	return x->d[0] == x->guard || reads(x, x->d[0]);
}

/* Writes under other guards that came after the followed one: their own readers see them alone. */
struct covers {
	const struct xop *by[8];
	unsigned n;
};

/* False: too many. */
static bool cover(struct covers *c, const struct xop *x)
{
	if (c->n == ARRAY_LEN(c->by))
		return false;
	c->by[c->n++] = x;
	return true;
}

static bool is_covered(const struct covers *c, const struct xop *reader)
{
	for (unsigned n = 0; n < c->n; n++)
		if (same_guard(c->by[n], reader))
			return true;
	return false;
}

/* @y may have changed a guard: what it covered is in sight again. */
static void uncover(struct covers *c, const struct xop *y)
{
	unsigned n_left = 0;
	for (unsigned n = 0; n < c->n; n++)
		if (!writes(y, c->by[n]->guard))
			c->by[n_left++] = c->by[n];
	c->n = n_left;
}

/* Takes it as a source; a write of some lanes does not. */
static bool takes(const struct xop *x, int32_t reg)
{
	bool source = x->guard == reg;
	for (unsigned i = 0; i < x->n_s; i++)
		source |= x->s[i].kind == S_REG && x->s[i].reg == reg;
	return source || (reads(x, reg) && !(writes(x, reg) && x->guard >= 0));
}

/* Follows what operation @o of block @b wrote. False: somebody else may read it. */
static bool follow(const struct lift *l, uint32_t o, unsigned b, struct candidate *c)
{
	const struct ir *ir = l->ir;
	const struct xop *x = &ir->ops[o];
	const int32_t reg = x->d[0];
	bool guard_changed = false, own = true; /* own: no other write has come yet */
	struct covers covers = { .n = 0 };
	*c = (struct candidate){ .op = o, .block = b, .reg = reg, .end = ir->blocks[b].end };
	for (uint32_t k = o + 1; k < ir->blocks[b].end; k++) {
		const struct xop *y = &ir->ops[k], *guard = l->guarded_by[k];
		const bool mine = own && !guard_changed && same_guard(guard, x);
		if (takes(y, reg) && !mine && !is_covered(&covers, guard))
			return false;
		if (writes(y, reg)) {
			const bool all = y->guard < 0 || (!guard_changed && same_guard(y, x));
			if (own)
				c->end = all ? k + 1 : k;
			if (all)
				return true;
			own = false;
			if (!cover(&covers, y))
				return false;
		}
		guard_changed |= writes(y, x->guard);
		uncover(&covers, y);
	}
	c->to_the_end = true;
	return true;
}

static void find_candidates(struct lift *l)
{
	const struct ir *ir = l->ir;
	for (unsigned b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			struct candidate c;
			if (x->guard < 0 || !(only_computes(x) || only_loads(x)) || odd(x) ||
			    ir->regs[x->d[0]].fixed || !same_guard(l->guarded_by[o], x) || !follow(l, o, b, &c))
				continue;
			MEM_ROOM(l->c, l->n, l->cap, 16);
			l->c[l->n++] = c;
		}
}

/* Gives the value of @c the register @reg. */
static void rename_value(struct ir *ir, const struct candidate *c, int32_t reg)
{
	ir->ops[c->op].d[0] = reg;
	for (uint32_t k = c->op + 1; k < c->end; k++) {
		struct xop *x = &ir->ops[k];
		for (unsigned i = 0; i < x->n_s; i++)
			if (x->s[i].kind == S_REG && x->s[i].reg == c->reg)
				x->s[i].reg = reg;
		if (x->guard == c->reg)
			x->guard = reg;
	}
}

static int32_t register_like(struct ir *ir, int32_t reg)
{
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] = ir->regs[reg];
	return (int32_t)ir->n_regs++;
}

/* Drops candidates that another block reads, once all others have their own registers. Fewer of
 * these make more reads, so that it goes on until none is dropped. */
static void drop_what_leaves(struct lift *l)
{
	struct ir *ir = l->ir;
	struct xop *ops = mem_calloc(ir->n_ops + 1, sizeof *ops);
	memcpy(ops, ir->ops, ir->n_ops * sizeof *ops);
	int32_t *own = mem_calloc(l->n + 1, sizeof *own);
	for (unsigned n = 0; n < l->n; n++)
		own[n] = register_like(ir, l->c[n].reg);
	for (bool again = true; again;) {
		struct liveness live;
		again = false;
		memcpy(ir->ops, ops, ir->n_ops * sizeof *ops);
		for (unsigned n = 0; n < l->n; n++)
			if (!l->c[n].dropped)
				rename_value(ir, &l->c[n], own[n]);
		flow_liveness(ir, &live);
		for (unsigned n = 0; n < l->n; n++) {
			struct candidate *c = &l->c[n];
			if (!c->dropped && c->to_the_end &&
			    bits_get(bits_row(&live.out, c->block), (unsigned)c->reg))
				c->dropped = again = true;
		}
		liveness_free(&live);
	}
	free(ops);
	free(own);
}

/* Where the write counted the lanes of its guard, nothing but that is left of it. */
static void take_off_guards(struct lift *l)
{
	struct ir *ir = l->ir;
	struct xop *ops = mem_calloc(ir->n_ops + l->n + 1, sizeof *ops);
	uint32_t to = 0;
	unsigned next = 0;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		struct xblock *xb = &ir->blocks[b];
		const uint32_t first = to;
		for (uint32_t o = xb->first; o < xb->end; o++) {
			struct xop x = ir->ops[o];
			while (next < l->n && l->c[next].op < o)
				next++;
			if (next < l->n && l->c[next].op == o && !l->c[next].dropped && !only_loads(&x)) {
				if (x.counts)
					ops[to++] = (struct xop){ .kind = X_NOP,
						                      .first = x.first,
						                      .counts = true,
						                      .guard = x.guard,
						                      .guard_neg = x.guard_neg,
						                      .pc = x.pc,
						                      .mem = -1,
						                      .vec = 1 };
				x.first = x.first && !x.counts;
				x.counts = x.guard_neg = false;
				x.guard = -1;
			}
			ops[to++] = x;
		}
		xb->first = first;
		xb->end = to;
	}
	free(ir->ops);
	ir->ops = ops;
	ir->cap_ops = ir->n_ops + l->n + 1;
	ir->n_ops = to;
}

void guards_lift(struct ir *ir)
{
	struct lift l = { .ir = ir };
	find_guards(&l);
	find_candidates(&l);
	if (l.n) {
		drop_what_leaves(&l);
		take_off_guards(&l);
		ir_find_only_defs(ir);
	}
	free(l.guarded_by);
	free(l.c);
}

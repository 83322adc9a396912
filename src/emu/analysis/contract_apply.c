/*
 * Writes fused multiply-adds in the place of sums. What a product's sources lose before the sum is
 * kept in registers of its own; a product that only fused sums had is not computed any more.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>

struct factors {
	int32_t reg[2];
	const struct family *family;
	bool ftz;
};

struct rewrite {
	struct contraction *c;
	int32_t *product, *sum; /* by operation: the one that it is, -1 = none */
	bool *dropped;
	/* By register: two more that multiply to what it holds, without a rounding; -1 = it has none.
	 */
	struct factors *factors;
	struct xop *ops; /* the new ones */
	unsigned n, cap, n_regs;
	bool any_factors;
	bool first, counts; /* what the instruction's next operation has to carry */
};

static struct xsrc of_reg(int32_t r)
{
	return (struct xsrc){ .kind = S_REG, .reg = r };
}

static int32_t new_register(struct ir *ir, int32_t like)
{
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] =
		(struct xreg){ .bytes = ir->regs[like].bytes, .fixed = ir->regs[like].fixed };
	return (int32_t)ir->n_regs++;
}

static void put(struct rewrite *w, struct xop x)
{
	MEM_ROOM(w->ops, w->n, w->cap, 256);
	x.first = w->first;
	x.counts = w->counts;
	w->first = w->counts = false;
	w->ops[w->n++] = x;
}

/* Register @d gets @s, or its negative; in the lanes of @x. */
static void put_move(struct rewrite *w, const struct xop *x, const struct family *f, int32_t d,
                     bool neg, struct xsrc s)
{
	const bool wide = f->type == PTX_F64;
	struct xop y = {
		.kind = X_OP,
		.op = (uint16_t)(neg    ? f->neg
		                 : wide ? E_mov_b64
		                        : E_mov_b32),
		.n_d = 1,
		.n_s = 1,
		.d = { d },
		.s = { s },
		.guard = x->guard,
		.guard_neg = x->guard_neg,
		.pc = x->pc,
		.mem = -1,
		.vec = 1,
	};
	put(w, y);
}

static int32_t put_copy(struct rewrite *w, const struct xop *x, const struct family *f, bool neg,
                        struct xsrc s)
{
	const int32_t d = new_register(w->c->ir, x->d[0]);
	put_move(w, x, f, d, neg, s);
	return d;
}

static struct xsrc negative(struct rewrite *w, const struct xop *x, const struct family *f,
                            struct xsrc s)
{
	if (s.kind != S_CONST)
		return of_reg(put_copy(w, x, f, true, s));
	s.value ^= f->sign;
	return s;
}

/* Does a sum have the product's negative? */
static bool minus_product(const struct contraction *c, const struct sum *s, const struct product *p)
{
	return s->negated[s->takes] ^ (s->takes == 1 && c->ir->ops[s->op].op == p->family->sub);
}

static bool any_minus(const struct contraction *c, const struct product *p)
{
	for (int32_t u = p->first_use; u >= 0; u = c->sum[u / 2].next_use[u % 2])
		if (c->sum[u / 2].takes == u % 2 && minus_product(c, &c->sum[u / 2], p))
			return true;
	return false;
}

static bool is_dropped(const struct product *p)
{
	return !p->stays && p->taken == p->uses;
}

static void put_product(struct rewrite *w, struct product *p)
{
	const struct xop x = w->c->ir->ops[p->op];
	if (any_minus(w->c, p))
		p->minus = negative(w, &x, p->family, x.s[0]);
	for (unsigned i = 0; i < 2; i++)
		p->factor[i] = p->copied[i] ? of_reg(put_copy(w, &x, p->family, false, x.s[i])) : x.s[i];
	if (!is_dropped(p))
		put(w, x);
	else if (w->first)
		put(w, (struct xop){ .kind = X_NOP, .guard = -1, .pc = x.pc, .mem = -1, .vec = 1 });
}

/* --- products that reach a sum through branches: their factors are kept beside them --- */

static bool has_factors(const struct rewrite *w, int32_t r)
{
	return r >= 0 && (unsigned)r < w->n_regs && w->factors[r].family;
}

/* False: it has some. */
static bool give_factors(struct rewrite *w, int32_t r, const struct family *f, bool ftz)
{
	if (r < 0 || has_factors(w, r))
		return false;
	w->factors[r] = (struct factors){ .family = f, .ftz = ftz };
	for (unsigned i = 0; i < 2; i++)
		w->factors[r].reg[i] = new_register(w->c->ir, r);
	w->any_factors = true;
	return true;
}

/* What a register with factors is copied from has some, too. */
static void spread_factors(struct rewrite *w)
{
	const struct ir *ir = w->c->ir;
	for (bool more = w->any_factors; more;) {
		more = false;
		for (uint32_t o = 0; o < ir->n_ops; o++) {
			const struct xop *x = &ir->ops[o];
			unsigned from;
			bool neg;
			if (x->n_d != 1 || !has_factors(w, x->d[0]))
				continue;
			const struct factors f = w->factors[x->d[0]];
			for (unsigned i = 0; is_choice(ir, x, f.family) && i < 2; i++)
				more |= x->s[i].kind == S_REG && give_factors(w, x->s[i].reg, f.family, f.ftz);
			if (!is_copy(ir, x, f.family, f.ftz, &from, &neg) || x->s[from].kind != S_REG ||
			    has_factors(w, x->s[from].reg))
				continue;
			give_factors(w, x->s[from].reg, f.family, f.ftz);
			more = true;
		}
	}
}

/* The factors of what is chosen. */
static void put_choice(struct rewrite *w, const struct xop *x, const struct factors *f)
{
	for (unsigned n = 0; n < 2; n++) {
		struct xop y = *x;
		y.d[0] = f->reg[n];
		for (unsigned i = 0; i < 2; i++) {
			const struct xsrc *s = &x->s[i];
			if (s->kind == S_REG)
				y.s[i] = of_reg(w->factors[s->reg].reg[n]);
			else if (n)
				y.s[i] = (struct xsrc){ .kind = S_CONST, .value = f->family->one };
		}
		put(w, y);
	}
}

/* In front of @x: the factors of its result, if it is a product, a copy or a choice. */
static bool put_factors_before(struct rewrite *w, const struct xop *x)
{
	unsigned from;
	bool neg;
	if (x->n_d != 1 || !has_factors(w, x->d[0]))
		return false;
	const struct factors *f = &w->factors[x->d[0]];
	if (is_copy(w->c->ir, x, f->family, f->ftz, &from, &neg)) {
		const bool known = x->s[from].kind == S_REG;
		const struct factors *of = known ? &w->factors[x->s[from].reg] : NULL;
		const struct xsrc one = { .kind = S_CONST, .value = f->family->one };
		put_move(w, x, f->family, f->reg[0], neg, known ? of_reg(of->reg[0]) : x->s[from]);
		put_move(w, x, f->family, f->reg[1], false, known ? of_reg(of->reg[1]) : one);
		return true;
	}
	if (is_choice(w->c->ir, x, f->family)) {
		put_choice(w, x, f);
		return true;
	}
	if (family_of_product(w->c->ir, x) != f->family)
		return false;
	for (unsigned i = 0; i < 2; i++)
		put_move(w, x, f->family, f->reg[i], false, x->s[i]);
	return true;
}

/* Behind it: of anything else, itself and 1. */
static void put_factors_behind(struct rewrite *w, const struct xop *x)
{
	for (unsigned i = 0; i < x->n_d; i++) {
		if (!has_factors(w, x->d[i]))
			continue;
		const struct factors *f = &w->factors[x->d[i]];
		put_move(w, x, f->family, f->reg[0], false, of_reg(x->d[i]));
		put_move(w, x, f->family, f->reg[1], false,
		         (struct xsrc){ .kind = S_CONST, .value = f->family->one });
	}
}

static void put_sum(struct rewrite *w, const struct sum *s)
{
	struct xop x = w->c->ir->ops[s->op];
	const struct family *f = family_of_sum(w->c->ir, &x);
	const bool sub = x.op == f->sub;
	struct xsrc addend = x.s[1 - s->takes];
	if (s->once) {
		put_move(w, &x, f, x.d[0], s->minus, addend);
		return;
	}
	if (sub && s->takes == 0)
		addend = negative(w, &x, f, addend);
	if (s->product[s->takes] >= 0) {
		const struct product *p = &w->c->product[s->product[s->takes]];
		x.s[0] = minus_product(w->c, s, p) ? p->minus : p->factor[0];
		x.s[1] = p->factor[1];
	} else {
		const struct factors *of = &w->factors[x.s[s->takes].reg];
		x.s[0] = of_reg(of->reg[0]);
		x.s[1] = of_reg(of->reg[1]);
		if (sub && s->takes == 1)
			x.s[0] = negative(w, &x, f, x.s[0]);
	}
	x.s[2] = addend;
	x.n_s = 3;
	x.op = (uint16_t)f->fma;
	put(w, x);
}

static void put_block(struct rewrite *w, struct xblock *b)
{
	const uint32_t first = w->n;
	for (uint32_t o = b->first; o < b->end; o++) {
		const struct xop *x = &w->c->ir->ops[o];
		w->first = x->first;
		w->counts = x->counts;
		const bool before = put_factors_before(w, x);
		if (w->product[o] >= 0)
			put_product(w, &w->c->product[w->product[o]]);
		else if (w->sum[o] >= 0)
			put_sum(w, &w->c->sum[w->sum[o]]);
		else if (!w->dropped[o])
			put(w, *x);
		else if (w->first)
			put(w, (struct xop){ .kind = X_NOP, .guard = -1, .pc = x->pc, .mem = -1, .vec = 1 });
		if (!before)
			put_factors_behind(w, x);
	}
	b->first = first;
	b->end = w->n;
}

static void mark(struct rewrite *w)
{
	const struct contraction *c = w->c;
	for (uint32_t o = 0; o < c->ir->n_ops; o++)
		w->product[o] = w->sum[o] = -1;
	for (unsigned i = 0; i < c->n_products; i++) {
		const struct product *p = &c->product[i];
		if (!p->taken)
			continue;
		w->product[p->op] = (int32_t)i;
		for (int32_t k = is_dropped(p) ? p->first_copy : -1; k >= 0; k = c->copy[k].next)
			w->dropped[c->copy[k].op] = true;
	}
	for (unsigned i = 0; i < c->n_sums; i++)
		if (c->sum[i].takes >= 0)
			w->sum[c->sum[i].op] = (int32_t)i;
	for (unsigned i = 0; i < c->n_sums; i++) {
		const struct sum *s = &c->sum[i];
		const struct xop *x = &c->ir->ops[s->op];
		if (s->takes >= 0 && s->product[s->takes] < 0)
			give_factors(w, x->s[s->takes].reg, family_of_sum(c->ir, x),
			             inst_of(c->ir, x)->flags & PF_FTZ);
	}
	spread_factors(w);
}

void contract_apply(struct contraction *c)
{
	struct ir *ir = c->ir;
	struct rewrite w = { .c = c,
		                 .product = mem_calloc(ir->n_ops + 1, sizeof *w.product),
		                 .sum = mem_calloc(ir->n_ops + 1, sizeof *w.sum),
		                 .dropped = mem_calloc(ir->n_ops + 1, sizeof *w.dropped),
		                 .factors = mem_calloc(ir->n_regs + 1, sizeof *w.factors),
		                 .n_regs = ir->n_regs };
	mark(&w);
	for (unsigned b = 0; b < ir->n_blocks; b++)
		put_block(&w, &ir->blocks[b]);
	free(ir->ops);
	ir->ops = w.ops;
	ir->n_ops = w.n;
	ir->cap_ops = w.cap;
	free(w.product);
	free(w.sum);
	free(w.dropped);
	free(w.factors);
	ir_find_only_defs(ir);
}

/*
 * Writes fused multiply-adds in the place of sums. What a product's sources lose before the sum is
 * kept in registers of its own; a product that only fused sums had is not computed any more.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>

struct rewrite {
	struct contraction *c;
	int32_t *product, *sum; /* by operation: the one that it is, -1 = none */
	bool *dropped;
	struct xop *ops; /* the new ones */
	unsigned n, cap;
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

/* A new register with @s, or with its negative; in the lanes of @x. */
static int32_t put_copy(struct rewrite *w, const struct xop *x, const struct family *f, bool neg,
                        struct xsrc s)
{
	const int32_t d = new_register(w->c->ir, x->d[0]);
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
	if (neg && f->neg == E_xor_b32) {
		y.n_s = 2;
		y.s[1] = (struct xsrc){ .kind = S_CONST, .value = f->sign };
	}
	put(w, y);
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

static void put_sum(struct rewrite *w, const struct sum *s)
{
	struct xop x = w->c->ir->ops[s->op];
	const struct product *p = &w->c->product[s->product[s->takes]];
	const bool sub = x.op == p->family->sub;
	struct xsrc addend = x.s[1 - s->takes];
	if (sub && s->takes == 0)
		addend = negative(w, &x, p->family, addend);
	x.s[0] = minus_product(w->c, s, p) ? p->minus : p->factor[0];
	x.s[1] = p->factor[1];
	x.s[2] = addend;
	x.n_s = 3;
	x.op = (uint16_t)p->family->fma;
	put(w, x);
}

static void put_block(struct rewrite *w, struct xblock *b)
{
	const uint32_t first = w->n;
	for (uint32_t o = b->first; o < b->end; o++) {
		const struct xop *x = &w->c->ir->ops[o];
		w->first = x->first;
		w->counts = x->counts;
		if (w->product[o] >= 0)
			put_product(w, &w->c->product[w->product[o]]);
		else if (w->sum[o] >= 0)
			put_sum(w, &w->c->sum[w->sum[o]]);
		else if (!w->dropped[o])
			put(w, *x);
		else if (w->first)
			put(w, (struct xop){ .kind = X_NOP, .guard = -1, .pc = x->pc, .mem = -1, .vec = 1 });
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
}

void contract_apply(struct contraction *c)
{
	struct ir *ir = c->ir;
	struct rewrite w = { .c = c,
		                 .product = mem_calloc(ir->n_ops + 1, sizeof *w.product),
		                 .sum = mem_calloc(ir->n_ops + 1, sizeof *w.sum),
		                 .dropped = mem_calloc(ir->n_ops + 1, sizeof *w.dropped) };
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
	ir_find_only_defs(ir);
}

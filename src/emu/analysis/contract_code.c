/*
 * Which product a sum is fused with in the machine code, whose lines of PTX fusions.c has read.
 *
 * Of two, the one whose factors the fused multiply-add multiplies; the other is what it adds. The
 * product may come from elsewhere: out of a branch that the assembler found to be taken always,
 * through a loop, or a choice that it found to be made always.
 */
#include "emu/analysis/contract.h"

static const struct fusion *fusion_of(const struct ir *ir, uint32_t o)
{
	return fusion_at(ir, inst_of(ir, &ir->ops[o])->ptx_line);
}

unsigned sum_in_code(const struct ir *ir, uint32_t o)
{
	const struct xop *x = &ir->ops[o];
	const struct fusion *f = x->first && x->kind == X_OP ? fusion_of(ir, o) : NULL;
	return f ? f->sum : FUSION_UNKNOWN;
}

/* Does an instruction at that line of the PTX give the source its value, or may it? */
static bool comes_from(const struct ir *ir, const struct xsrc *s, uint32_t line)
{
	if (s->kind != S_REG)
		return false;
	const int32_t only = ir->only_def[s->reg];
	const uint32_t first = only >= 0 ? (uint32_t)only : 0, end = only >= 0 ? first + 1 : ir->n_ops;
	for (uint32_t o = first; o < end; o++)
		for (unsigned k = 0; k < ir->ops[o].n_d; k++)
			if (ir->ops[o].d[k] == s->reg && inst_of(ir, &ir->ops[o])->ptx_line == line)
				return true;
	return false;
}

/* Is source @i of @x what the machine code has there? */
static bool may_be(const struct ir *ir, const struct xop *x, unsigned i,
                   const struct fusion_source *from)
{
	if (from->number && is_constant(ir, x, i))
		return true;
	for (unsigned n = 0; n < FUSION_LINES && from->line[n]; n++)
		if (comes_from(ir, &x->s[i], from->line[n]))
			return true;
	return false;
}

/* How much of a fused multiply-add looks like the product @o: factors that come from its lines. */
static unsigned likeness(const struct ir *ir, uint32_t o, const struct fusion *f)
{
	const struct xop *x = &ir->ops[o];
	bool used[2] = { false, false };
	unsigned n = 0;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 2; k++) {
			if (used[k] || !may_be(ir, x, i, &f->factor[k]))
				continue;
			used[k] = true;
			n++;
			break;
		}
	}
	return n;
}

static bool is_square(const struct ir *ir, const struct xop *x)
{
	const struct xsrc a = taken_source(ir, x->s[0]), b = taken_source(ir, x->s[1]);
	return a.kind == S_REG && b.kind == S_REG && a.reg == b.reg;
}

struct candidate {
	bool any, there; /* a product, and one that stands in the code by itself */
	unsigned addend; /* it may be what the sum adds: the larger, the likelier */
	bool square;     /* both factors are the same, or not, as in the code */
	bool constant;   /* it has a number as a factor: it may be one */
	unsigned likeness;
};

static void consider(const struct ir *ir, uint32_t o, const struct fusion *f, struct candidate *c)
{
	const struct fusion *of = fusion_of(ir, o);
	const unsigned n = likeness(ir, o, f);
	c->any = true;
	c->there |= of && of->product_there;
	c->constant |= is_constant(ir, &ir->ops[o], 0) || is_constant(ir, &ir->ops[o], 1);
	for (unsigned k = 0; k < FUSION_LINES && f->addend.line[k]; k++)
		if (inst_of(ir, &ir->ops[o])->ptx_line == f->addend.line[k] && !c->addend)
			c->addend = FUSION_LINES - k;
	c->square |= is_square(ir, &ir->ops[o]) == f->square;
	c->likeness = n > c->likeness ? n : c->likeness;
}

/* Is source @i the same register, or number, in both? */
static bool same_source(const struct ir *ir, const struct xop *x, const struct xop *y, unsigned i)
{
	const struct xsrc s = taken_source(ir, x->s[i]), t = taken_source(ir, y->s[i]);
	uint64_t a, b;
	if (s.kind == S_REG && t.kind == S_REG && s.reg == t.reg)
		return true;
	return is_literal(ir, x, i, &a) && is_literal(ir, y, i, &b) && a == b;
}

/* A value that is found twice, and worked out once. */
static bool are_twins(const struct contraction *c, const struct sum *a, const struct sum *b)
{
	const struct ir *ir = c->ir;
	const struct xop *x = &ir->ops[a->op], *y = &ir->ops[b->op];
	if (x->op != y->op)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (same_source(ir, x, y, i))
			continue;
		if (a->product[i] < 0 || b->product[i] < 0)
			return false;
		const struct xop *p = &ir->ops[c->product[a->product[i]].op];
		const struct xop *q = &ir->ops[c->product[b->product[i]].op];
		if (!same_source(ir, p, q, 0) || !same_source(ir, p, q, 1))
			return false;
	}
	return true;
}

/* Two sums of single halves may be one instruction, which names the line of one of them. */
static bool is_packed(const struct ir *ir, uint32_t o)
{
	const struct family *f = family_of_sum(ir, &ir->ops[o]);
	return f && (f->type == PTX_F16 || f->type == PTX_BF16);
}

bool is_worked_out(const struct contraction *c, const struct sum *s)
{
	const struct fusion *f = fusion_of(c->ir, s->op);
	if (!f || f->sum != FUSION_UNKNOWN || is_packed(c->ir, s->op))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const struct fusion *p =
			s->product[i] >= 0 ? fusion_of(c->ir, c->product[s->product[i]].op) : NULL;
		if (p && p->product_there)
			return false;
	}
	for (unsigned i = 0; i < c->n_sums; i++)
		if (&c->sum[i] != s && are_twins(c, &c->sum[i], s))
			return false;
	return true;
}

enum { COPIES_DEEP = 4 };

/* Looks at all products of @family that register @r may hold a copy of. */
static void consider_register(const struct ir *ir, int32_t r, const struct family *family, bool ftz,
                              const struct fusion *f, unsigned depth, struct candidate *c)
{
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		unsigned from;
		bool neg;
		if (x->n_d != 1 || x->d[0] != r || (x->kind != X_OP && x->kind != X_SEL))
			continue;
		for (unsigned i = 0; depth && is_choice(ir, x, family) && i < 2; i++)
			if (x->s[i].kind == S_REG)
				consider_register(ir, x->s[i].reg, family, ftz, f, depth - 1, c);
		if (is_copy(ir, x, family, ftz, &from, &neg)) {
			if (depth && x->s[from].kind == S_REG)
				consider_register(ir, x->s[from].reg, family, ftz, f, depth - 1, c);
		} else if (family_of_product(ir, x) == family && !folds_away(ir, x, family)) {
			consider(ir, o, f, c);
		}
	}
}

int fused_operand(const struct contraction *c, const struct sum *s, bool by_rule)
{
	const struct ir *ir = c->ir;
	const struct xop *x = &ir->ops[s->op];
	const struct fusion *f = fusion_of(ir, s->op);
	const struct family *family = family_of_sum(ir, x);
	const bool ftz = inst_of(ir, x)->flags & PF_FTZ;
	struct candidate k[2] = { { .any = false } };
	for (unsigned i = 0; i < 2; i++) {
		if (s->product[i] >= 0)
			consider(ir, c->product[s->product[i]].op, f, &k[i]);
		else if (family && x->s[i].kind == S_REG && !ir->regs[x->s[i].reg].passes)
			consider_register(ir, x->s[i].reg, family, ftz, f, COPIES_DEEP, &k[i]);
	}
	if (!k[0].any || !k[1].any)
		return k[0].any ? 0 : k[1].any ? 1 : -1;
	if (k[0].addend != k[1].addend)
		return k[0].addend > k[1].addend;
	if (k[0].square != k[1].square)
		return k[1].square;
	if (k[0].likeness != k[1].likeness)
		return k[1].likeness > k[0].likeness;
	if (f->addend.number && k[0].constant != k[1].constant) /* a number is added */
		return k[0].constant;
	return k[0].there != k[1].there ? k[0].there : by_rule;
}

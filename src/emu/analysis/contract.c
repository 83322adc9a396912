/*
 * Products and sums that the assembler makes one fused multiply-add of: PTX rounds twice there as
 * it is written, the machine once, and the machine is what a person runs.
 *
 * PTX allows it where neither the mul nor the add or sub names a rounding. What ptxas 13 makes of
 * that, found by assembling random programs for sm_75 to sm_120:
 *
 * - All uses of the product are such sums of its own type and .ftz, in the same piece of code:
 *   a basic block, cut where an instruction becomes branches or a call, and at fences. Copies in
 *   between are looked through: mov, neg, a product with 1 or -1, abs of a square. Else nothing is
 *   fused. A product with a number or a parameter may be anywhere.
 * - A sum of two products takes the one with fewer uses, the left one of equals; the other stays.
 *   A product gives way altogether where another sum of it would rather take a product that has no
 *   other use.
 * - A product with 1 or -1 is none, nor one of two constants; one with a guard stays.
 * - 2 x - x is x, without an instruction: not infinity where 2 x is.
 *
 * Of code for a debugger (.target sm_90, debug) ptxas fuses nothing.
 *
 * Where machine code runs, too, no rule holds but what stands there: fusions.c has read which sums
 * it fused, contract_code.c says with which product. By rule alone 16 of 10,000 random programs for
 * sm_90 gave other bits than their machine code (test_nvcc_random.c), in constants that ptxas works
 * out and behind branches that it takes away.
 *
 * Only values change: both instructions count as they stand in the PTX. Loops that ptxas unrolls
 * are looked at as they are written.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>

/* Loops that ptxas unrolls: so many instructions at most, and how often. */
enum { UNROLLED_INSTS = 20, UNROLLED_COPIES = 4 };

/* --- the products and sums of a chain of blocks --- */

static struct product *held_product(struct contraction *c, const struct xsrc *s)
{
	if (s->kind != S_REG)
		return NULL;
	const struct held *h = &c->held[s->reg];
	const int32_t p = h->chain == c->chain ? h->product : c->anywhere[s->reg];
	return p >= 0 ? &c->product[p] : NULL;
}

/* Is this a place where sum @o may take @p, or a copy of it be looked through? */
static bool in_reach(const struct contraction *c, const struct product *p, uint32_t o)
{
	const bool sum = inst_of(c->ir, &c->ir->ops[o])->op != OP_MOV;
	return p->anywhere || p->piece == c->piece ||
	       (c->ir->n_fusions && (!sum || sum_in_code(c->ir, o) == FUSION_YES));
}

static bool same_sources(const struct contraction *c, const struct product *p,
                         const struct product *q)
{
	const struct xop *a = &c->ir->ops[p->op], *b = &c->ir->ops[q->op];
	for (unsigned swap = 0; swap < 2; swap++) {
		bool same = true;
		for (unsigned i = 0; i < 2; i++) {
			const struct xsrc *s = &a->s[i], *t = &b->s[i ^ swap];
			same &=
				s->kind == t->kind &&
				(s->kind == S_CONST ? s->value == t->value
			                        : s->reg == t->reg && (p->anywhere || q->anywhere ||
			                                               p->version[i] == q->version[i ^ swap]));
		}
		if (same)
			return true;
	}
	return false;
}

/* Notes which sources of @p were overwritten between it and a use. */
static void note_overwritten(const struct contraction *c, struct product *p)
{
	const struct xop *x = &c->ir->ops[p->op];
	for (unsigned i = 0; i < 2 && !p->anywhere; i++)
		p->copied[i] |= x->s[i].kind == S_REG && c->held[x->s[i].reg].version != p->version[i];
}

/* Copies of a loop all have a product that was made before it. */
static unsigned uses_after_unrolling(const struct contraction *c, const struct product *p)
{
	const struct xblock *b = c->unrolled;
	return b && (p->op < b->first || p->op >= b->end) ? UNROLLED_COPIES : 1;
}

static void add_sum(struct contraction *c, uint32_t o, struct product *const *p)
{
	MEM_ROOM(c->sum, c->n_sums, c->cap_sums, 64);
	struct sum *s = &c->sum[c->n_sums];
	*s = (struct sum){ .op = o, .product = { -1, -1 }, .takes = -1 };
	for (unsigned k = 0; k < 2; k++) {
		if (!p[k])
			continue;
		s->product[k] = (int32_t)(p[k] - c->product);
		const struct held *h = &c->held[c->ir->ops[o].s[k].reg];
		s->negated[k] = h->chain == c->chain && h->negated;
		s->next_use[k] = p[k]->first_use;
		p[k]->first_use = (int32_t)(2 * c->n_sums + k);
		p[k]->uses++;
		p[k]->weight += uses_after_unrolling(c, p[k]);
		note_overwritten(c, p[k]);
	}
	c->n_sums++;
}

/* Is @x a copy of the product that its source @i holds? A square is its own absolute value. */
static bool copies(const struct contraction *c, const struct xop *x, unsigned i,
                   const struct product *p, bool *neg)
{
	const struct xop *product = &c->ir->ops[p->op];
	const struct held *h = &c->held[x->s[i].reg];
	const struct xsrc *s = product->s;
	unsigned from;
	if (is_copy(c->ir, x, p->family, p->ftz, &from, neg))
		return from == i;
	return inst_of(c->ir, x)->op == OP_ABS && x->kind == X_OP && x->guard < 0 && x->n_s == 1 &&
	       !(inst_of(c->ir, x)->flags & PF_FTZ && !p->ftz) &&
	       inst_of(c->ir, x)->type == p->family->type && !(h->chain == c->chain && h->negated) &&
	       s[0].kind == S_REG && s[1].kind == S_REG && s[0].reg == s[1].reg;
}

/* True if the operation is a copy that is looked through: @d then holds that product. */
static bool follow_copy(struct contraction *c, uint32_t o, struct held *d)
{
	const struct xop *x = &c->ir->ops[o];
	for (unsigned i = 0; i < x->n_s && x->n_d == 1 && x->d[0] >= 0; i++) {
		struct product *p = held_product(c, &x->s[i]);
		bool neg = false;
		if (!p || !in_reach(c, p, o) || !copies(c, x, i, p, &neg))
			continue;
		const struct held *h = &c->held[x->s[i].reg];
		*d = (struct held){ .product = (int32_t)(p - c->product),
			                .negated = (h->chain == c->chain && h->negated) ^ neg };
		MEM_ROOM(c->copy, c->n_copies, c->cap_copies, 64);
		c->copy[c->n_copies] = (struct copy){ o, p->first_copy };
		p->first_copy = (int32_t)c->n_copies++;
		return true;
	}
	return false;
}

static void read_sources(struct contraction *c, uint32_t o)
{
	const struct xop *x = &c->ir->ops[o];
	struct product *p[2] = { NULL, NULL };
	for (unsigned i = 0; i < x->n_s; i++) {
		struct product *q = held_product(c, &x->s[i]);
		if (!q)
			continue;
		if (i < 2 && in_reach(c, q, o) && is_sum(c->ir, x, q->family, q->ftz))
			p[i] = q;
		else
			q->stays = true;
	}
	if (p[0] && p[1] && (p[0] == p[1] || same_sources(c, p[0], p[1])) &&
	    sum_in_code(c->ir, o) != FUSION_YES)
		p[0]->stays = p[1]->stays = true;
	else if (p[0] || p[1] || sum_in_code(c->ir, o) == FUSION_YES)
		add_sum(c, o, p);
}

static int32_t add_product(struct contraction *c, uint32_t o, const struct family *f)
{
	const struct xop *x = &c->ir->ops[o];
	MEM_ROOM(c->product, c->n_products, c->cap_products, 64);
	struct product *p = &c->product[c->n_products];
	*p = (struct product){ .op = o,
		                   .piece = c->piece,
		                   .family = f,
		                   .ftz = inst_of(c->ir, x)->flags & PF_FTZ,
		                   .first_use = -1,
		                   .first_copy = -1 };
	for (unsigned i = 0; i < 2; i++)
		if (x->s[i].kind == S_REG)
			p->version[i] = c->held[x->s[i].reg].version;
	return (int32_t)c->n_products++;
}

/* Products with a constant, whose registers hold nothing else. */
static void add_anywhere(struct contraction *c)
{
	const struct ir *ir = c->ir;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const struct family *f = family_of_product(ir, x);
		if (!f || x->d[0] < 0 || ir->only_def[x->d[0]] != (int32_t)o || ir->regs[x->d[0]].passes ||
		    folds_away(ir, x, f) || !(is_constant(ir, x, 0) || is_constant(ir, x, 1)))
			continue;
		c->anywhere[x->d[0]] = add_product(c, o, f);
		struct product *p = &c->product[c->n_products - 1];
		p->anywhere = true;
		for (unsigned i = 0; i < 2; i++)
			p->copied[i] = x->s[i].kind == S_REG && ir->only_def[x->s[i].reg] < 0;
	}
}

static void look_at(struct contraction *c, uint32_t o)
{
	const struct xop *x = &c->ir->ops[o];
	if (x->first && cuts_piece(inst_of(c->ir, x)))
		c->piece++;
	struct held now = { .product = -1 };
	if (!follow_copy(c, o, &now)) {
		read_sources(c, o);
		const struct family *f = family_of_product(c->ir, x);
		if (f && x->d[0] >= 0 && c->anywhere[x->d[0]] >= 0)
			now.product = c->anywhere[x->d[0]];
		else if (f && x->d[0] >= 0 && !folds_away(c->ir, x, f))
			now.product = add_product(c, o, f);
	}
	for (unsigned i = 0; i < x->n_d; i++) {
		if (x->d[i] < 0)
			continue;
		struct held *h = &c->held[x->d[i]];
		if (c->product && x->guard >= 0 && h->chain == c->chain && h->product >= 0)
			c->product[h->product].stays = true; /* in lanes where it is not overwritten */
		*h = (struct held){ c->chain, h->version + 1, now.product, now.negated };
	}
}

/* --- which of them are fused --- */

/* Would every sum of @p that is left take it, if it were asked? */
static bool only_summed(const struct contraction *c, const struct product *p)
{
	if (p->stays)
		return false;
	for (int32_t u = p->first_use; u >= 0; u = c->sum[u / 2].next_use[u % 2])
		if (c->sum[u / 2].takes == 1 - u % 2)
			return false;
	return true;
}

static bool may_be_taken(const struct contraction *c, const struct product *p, const struct sum *by)
{
	if (!only_summed(c, p))
		return false;
	for (int32_t u = p->first_use; u >= 0; u = c->sum[u / 2].next_use[u % 2]) {
		const struct sum *s = &c->sum[u / 2];
		const int32_t o = s->product[1 - u % 2];
		if (s != by && s->takes < 0 && o >= 0 && c->product[o].weight == 1 &&
		    only_summed(c, &c->product[o]))
			return false;
	}
	return true;
}

/* Which products of a sum may it take, and does the right one give way? By rule. */
static bool rule_takes(const struct contraction *c, const struct sum *s, bool may[2])
{
	for (unsigned k = 0; k < 2; k++)
		may[k] = s->product[k] >= 0 && may_be_taken(c, &c->product[s->product[k]], s);
	return !may[0] ||
	       (may[1] && c->product[s->product[1]].weight < c->product[s->product[0]].weight);
}

/* The operand that a sum is fused with, -1 = none. */
static int operand_to_take(const struct contraction *c, const struct sum *s)
{
	const unsigned known = sum_in_code(c->ir, s->op);
	bool may[2];
	const bool right = rule_takes(c, s, may);
	if (known == FUSION_YES)
		return fused_operand(c, s, right);
	if (known == FUSION_NO || is_worked_out(c, s))
		return -1;
	return may[0] || may[1] ? right : -1;
}

static void choose(struct contraction *c)
{
	for (unsigned i = 0; i < c->n_sums; i++) {
		struct sum *s = &c->sum[i];
		s->takes = sum_in_code(c->ir, s->op) == FUSION_YES ? -1 : twice_less_once(c, s, &s->minus);
		s->once = s->takes >= 0;
		if (!s->once)
			s->takes = operand_to_take(c, s);
		if (s->takes < 0)
			continue;
		if (s->product[s->takes] >= 0)
			c->product[s->product[s->takes]].taken++;
		c->any = true;
	}
}

/* A short loop of one block. */
static bool is_unrolled(const struct ir *ir, unsigned b)
{
	const struct xblock *xb = &ir->blocks[b];
	unsigned insts = 0;
	if (xb->succ[0] != (int32_t)b || xb->first == xb->end ||
	    ir->func->insts[ir->ops[xb->first].pc].nounroll)
		return false;
	for (uint32_t o = xb->first; o < xb->end; o++)
		insts += ir->ops[o].first && inst_of(ir, &ir->ops[o])->op != OP_MOV;
	return insts <= UNROLLED_INSTS;
}

/* Blocks that always follow one another are one to the assembler. */
static void look_at_chain(struct contraction *c, const struct liveness *l, const uint32_t *preds,
                          unsigned b)
{
	c->chain++;
	c->piece++;
	for (;;) {
		const struct xblock *xb = &c->ir->blocks[b];
		c->unrolled = is_unrolled(c->ir, b) ? xb : NULL;
		for (uint32_t o = xb->first; o < xb->end; o++)
			look_at(c, o);
		const int32_t next = only_successor(c->ir, b);
		if (next <= 0 || preds[next] != 1)
			break;
		b = (unsigned)next;
	}
	for (unsigned r = 0; r < c->ir->n_regs; r++)
		if (c->product && c->held[r].chain == c->chain && c->held[r].product >= 0 &&
		    c->held[r].product != c->anywhere[r] &&
		    (bits_get(bits_row(&l->out, b), r) || c->ir->regs[r].passes))
			c->product[c->held[r].product].stays = true;
}

static void look_at_all(struct contraction *c)
{
	struct ir *ir = c->ir;
	struct liveness l;
	uint32_t *preds = mem_calloc(ir->n_blocks + 1, sizeof *preds);
	bool *follows = mem_calloc(ir->n_blocks + 1, sizeof *follows);
	bool *reached = mem_calloc(ir->n_blocks + 1, sizeof *reached);
	int32_t s;
	flow_liveness(ir, &l);
	find_only_writers(ir, reached);
	add_anywhere(c);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const int32_t only = only_successor(ir, b);
		for (unsigned i = 0; reached[b] && (s = xblock_succ(&ir->blocks[b], i)) != -2; i++)
			if (s >= 0 && (only < 0 || s == only))
				preds[s]++;
	}
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		s = reached[b] ? only_successor(ir, b) : -1;
		if (s > 0 && preds[s] == 1)
			follows[s] = true;
	}
	/* what is never come to has no chain: it would go on into one that has been looked at */
	for (unsigned b = 0; b < ir->n_blocks; b++)
		if (reached[b] && !follows[b])
			look_at_chain(c, &l, preds, b);
	choose(c);
	liveness_free(&l);
	free(preds);
	free(follows);
	free(reached);
}

/* Is there any product that a sum could take? Most kernels have none. */
static bool has_products(const struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++)
		if (family_of_product(ir, &ir->ops[o]))
			return true;
	return false;
}

void products_contract(struct ir *ir)
{
	if (ir->module->debug || !has_products(ir))
		return;
	struct contraction c = { .ir = ir,
		                     .held = mem_calloc(ir->n_regs + 1, sizeof *c.held),
		                     .anywhere = mem_calloc(ir->n_regs + 1, sizeof *c.anywhere) };
	for (unsigned r = 0; r < ir->n_regs; r++)
		c.anywhere[r] = -1;
	look_at_all(&c);
	if (c.any)
		contract_apply(&c);
	else
		ir_find_only_defs(ir);
	free(c.held);
	free(c.anywhere);
	free(c.product);
	free(c.sum);
	free(c.copy);
}

/*
 * Products and sums that the assembler makes one fused multiply-add of: PTX rounds twice there as
 * it is written, the machine once, and the machine is what a person runs.
 *
 * PTX allows it where neither the mul nor the add or sub names a rounding. What ptxas 13 makes of
 * that, found by assembling random programs for sm_75 to sm_120:
 *
 * - All uses of the product are such sums of its own type and .ftz, in the same piece of code:
 *   a basic block, cut where an instruction becomes branches or a call, and at fences. mov and neg
 *   in between are looked through. Else nothing is fused. A product with a number or a parameter
 *   may be anywhere.
 * - A sum of two products takes the one with fewer uses, the left one of equals; the other stays.
 *   A product gives way altogether where another sum of it would rather take a product that has no
 *   other use.
 * - A product with 1 or -1 is none, nor one of two constants; one with a guard stays.
 *
 * Only values change: both instructions count as they stand in the PTX. Loops that ptxas unrolls
 * are looked at as they are written.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>

/* Loops that ptxas unrolls: so many instructions at most, and how often. */
enum { UNROLLED_INSTS = 20, UNROLLED_COPIES = 4 };

static const struct family families[] = {
	{ PTX_F32, E_mul_f32, E_add_f32, E_sub_f32, E_fma_f32, E_neg_f32, 0x3f800000, 0x80000000 },
	{ PTX_F32, E_mul_ftz_f32, E_add_ftz_f32, E_sub_ftz_f32, E_fma_ftz_f32, E_neg_f32, 0x3f800000,
	  0x80000000 },
	{ PTX_F64, E_mul_f64, E_add_f64, E_sub_f64, E_fma_f64, E_neg_f64, 0x3ff0000000000000,
	  0x8000000000000000 },
	{ PTX_F16, E_mul_f16, E_add_f16, E_sub_f16, E_fma_f16, E_xor_b32, 0x3c00, 0x8000 },
	{ PTX_F16X2, E_mul_f16x2, E_add_f16x2, E_sub_f16x2, E_fma_f16x2, E_xor_b32, 0x3c003c00,
	  0x80008000 },
	{ PTX_BF16, E_mul_bf16, E_add_bf16, E_sub_bf16, E_fma_bf16, E_xor_b32, 0x3f80, 0x8000 },
	{ PTX_BF16X2, E_mul_bf16x2, E_add_bf16x2, E_sub_bf16x2, E_fma_bf16x2, E_xor_b32, 0x3f803f80,
	  0x80008000 },
};

static const struct ptx_inst *inst_of(const struct ir *ir, const struct xop *x)
{
	return &ir->func->insts[x->pc];
}

static bool unrounded(const struct ptx_inst *in)
{
	return in->round == ROUND_NONE;
}

/* --- what an operation is --- */

static const struct family *family_of_product(const struct ir *ir, const struct xop *x)
{
	const struct ptx_inst *in = inst_of(ir, x);
	if (x->kind != X_OP || in->op != OP_MUL || x->guard >= 0 || !unrounded(in) ||
	    (in->flags & PF_SAT))
		return NULL;
	for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
		if (families[i].mul == x->op && families[i].type == in->type)
			return &families[i];
	return NULL;
}

static bool is_sum(const struct ir *ir, const struct xop *x, const struct product *p)
{
	const struct ptx_inst *in = inst_of(ir, x);
	return x->kind == X_OP && (in->op == OP_ADD || in->op == OP_SUB) && unrounded(in) &&
	       (x->op == p->family->add || x->op == p->family->sub) && in->type == p->family->type &&
	       !!(in->flags & PF_FTZ) == p->ftz;
}

/* A mov or neg of @p; neg.ftz of a product that is flushed is neg, with operations around it. */
static bool is_copy(const struct ir *ir, const struct xop *x, const struct product *p, bool *neg)
{
	const struct ptx_inst *in = inst_of(ir, x);
	*neg = false;
	if (x->kind != X_OP || x->guard >= 0)
		return false;
	if (in->op == OP_MOV)
		return x->op == E_mov_b32 || x->op == E_mov_b64;
	if (in->op != OP_NEG || in->type != p->family->type || in->type == PTX_BF16X2)
		return false;
	*neg = x->op == p->family->neg;
	return *neg ? !(in->flags & PF_FTZ) || p->ftz : x->op == E_ftz_f32 && p->ftz;
}

/* Does the assembler end a piece of code here? */
static bool cuts(const struct ptx_inst *in)
{
	const bool wide = in->type == PTX_F64;
	switch (in->op) {
	case OP_DIV:
	case OP_REM:
		if (in->type == PTX_F32 || wide)
			return !(in->flags & (PF_APPROX | PF_FULL));
		return in->type != PTX_U32;
	case OP_RCP:
	case OP_SQRT: return !(in->flags & PF_APPROX);
	case OP_RSQRT: return wide && !(in->flags & PF_FTZ);
	case OP_MEMBAR:
	case OP_FENCE:
	case OP_CALL:
	case OP_PMEVENT: return true;
	default: break;
	}
	const enum ptx_class c = ptx_op_class(in->op);
	return in->guard >= 0 &&
	       (c == CLASS_MEM || c == CLASS_ATOMIC || c == CLASS_CONTROL || c == CLASS_BARRIER);
}

/* The operation that makes all values of @s, alone in its instruction; NULL = there is none. */
static const struct xop *maker(const struct ir *ir, const struct xsrc *s)
{
	const int32_t at = s->kind == S_REG ? ir->only_def[s->reg] : -1;
	const struct xop *x = at >= 0 ? &ir->ops[at] : NULL;
	const bool alone = x && x->first && ((unsigned)at + 1 == ir->n_ops || x[1].first);
	return alone && x->kind == X_OP && x->guard < 0 ? x : NULL;
}

/* A number that the PTX alone tells, not one that only this launch knows. */
static bool is_literal(const struct ir *ir, const struct xop *x, unsigned i, unsigned depth,
                       uint64_t *value)
{
	const enum ptx_operand_kind kind = inst_of(ir, x)->opnd[1 + i].kind;
	const struct xsrc *s = &x->s[i];
	*value = s->value;
	if (s->kind == S_CONST)
		return kind == OPND_INT || kind == OPND_FLOAT;
	const struct xop *def = maker(ir, s);
	uint64_t v[4] = { 0 };
	if (!def || !depth || def->n_s > 3)
		return false;
	for (unsigned k = 0; k < def->n_s; k++)
		if (!is_literal(ir, def, k, depth - 1, &v[k]))
			return false;
	*value = emu_ops[def->op].fold(v[0], v[1], v[2], v[3]);
	return true;
}

/* A number, or a parameter: machine code takes either from where it is. */
static bool is_constant(const struct ir *ir, const struct xop *x, unsigned i)
{
	uint64_t value;
	const struct xop *def = maker(ir, &x->s[i]);
	if (def && def->s[0].kind == S_CONST && inst_of(ir, def)->op == OP_LD)
		return inst_of(ir, def)->space == SPACE_PARAM;
	return is_literal(ir, x, i, 4, &value);
}

/* Products of constants are folded, those with 1 and -1 become moves. */
static bool folds(const struct ir *ir, const struct xop *x, const struct family *f)
{
	unsigned literals = 0;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t v = 0;
		if (!is_literal(ir, x, i, 4, &v))
			continue;
		if (v == f->one || v == (f->one | f->sign))
			return true;
		literals++;
	}
	return literals == 2;
}

/* --- the products and sums of a chain of blocks --- */

static struct product *held_product(struct contraction *c, const struct xsrc *s)
{
	if (s->kind != S_REG)
		return NULL;
	const struct held *h = &c->held[s->reg];
	const int32_t p = h->chain == c->chain ? h->product : c->anywhere[s->reg];
	return p >= 0 ? &c->product[p] : NULL;
}

/* Is this a place where sums may take @p? */
static bool in_reach(const struct contraction *c, const struct product *p)
{
	return p->anywhere || p->piece == c->piece;
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

/* True if the operation is a mov or neg that is looked through: @d then holds that product. */
static bool follow_copy(struct contraction *c, uint32_t o, struct held *d)
{
	const struct xop *x = &c->ir->ops[o];
	struct product *p = x->n_s ? held_product(c, &x->s[0]) : NULL;
	bool neg;
	if (!p || !in_reach(c, p) || x->n_d != 1 || x->d[0] < 0 || !is_copy(c->ir, x, p, &neg))
		return false;
	const struct held *h = &c->held[x->s[0].reg];
	*d = (struct held){ .product = (int32_t)(p - c->product),
		                .negated = (h->chain == c->chain && h->negated) ^ neg };
	MEM_ROOM(c->copy, c->n_copies, c->cap_copies, 64);
	c->copy[c->n_copies] = (struct copy){ o, p->first_copy };
	p->first_copy = (int32_t)c->n_copies++;
	return true;
}

static void read_sources(struct contraction *c, uint32_t o)
{
	const struct xop *x = &c->ir->ops[o];
	struct product *p[2] = { NULL, NULL };
	for (unsigned i = 0; i < x->n_s; i++) {
		struct product *q = held_product(c, &x->s[i]);
		if (!q)
			continue;
		if (i < 2 && in_reach(c, q) && is_sum(c->ir, x, q))
			p[i] = q;
		else
			q->stays = true;
	}
	if (p[0] && p[1] && (p[0] == p[1] || same_sources(c, p[0], p[1])))
		p[0]->stays = p[1]->stays = true;
	else if (p[0] || p[1])
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
		    folds(ir, x, f) || !(is_constant(ir, x, 0) || is_constant(ir, x, 1)))
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
	if (x->first && cuts(inst_of(c->ir, x)))
		c->piece++;
	struct held now = { .product = -1 };
	if (!follow_copy(c, o, &now)) {
		read_sources(c, o);
		const struct family *f = family_of_product(c->ir, x);
		if (f && x->d[0] >= 0 && c->anywhere[x->d[0]] >= 0)
			now.product = c->anywhere[x->d[0]];
		else if (f && x->d[0] >= 0 && !folds(c->ir, x, f))
			now.product = add_product(c, o, f);
	}
	for (unsigned i = 0; i < x->n_d; i++) {
		if (x->d[i] < 0)
			continue;
		struct held *h = &c->held[x->d[i]];
		if (x->guard >= 0 && h->chain == c->chain && h->product >= 0)
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

static void choose(struct contraction *c)
{
	for (unsigned i = 0; i < c->n_sums; i++) {
		struct sum *s = &c->sum[i];
		bool may[2];
		for (unsigned k = 0; k < 2; k++)
			may[k] = s->product[k] >= 0 && may_be_taken(c, &c->product[s->product[k]], s);
		if (!may[0] && !may[1])
			continue;
		const bool right = !may[0] || (may[1] && c->product[s->product[1]].weight <
		                                             c->product[s->product[0]].weight);
		s->takes = right;
		c->product[s->product[right]].taken++;
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
		const int32_t next = xb->targets || xb->succ[1] >= 0 ? -1 : xb->succ[0];
		if (next <= 0 || preds[next] != 1)
			break;
		b = (unsigned)next;
	}
	for (unsigned r = 0; r < c->ir->n_regs; r++)
		if (c->held[r].chain == c->chain && c->held[r].product >= 0 &&
		    c->held[r].product != c->anywhere[r] &&
		    (bits_get(bits_row(&l->out, b), r) || c->ir->regs[r].passes))
			c->product[c->held[r].product].stays = true;
}

static void look_at_all(struct contraction *c)
{
	const struct ir *ir = c->ir;
	struct liveness l;
	uint32_t *preds = mem_calloc(ir->n_blocks + 1, sizeof *preds);
	bool *follows = mem_calloc(ir->n_blocks + 1, sizeof *follows);
	int32_t s;
	flow_liveness(ir, &l);
	add_anywhere(c);
	for (unsigned b = 0; b < ir->n_blocks; b++)
		for (unsigned i = 0; (s = xblock_succ(&ir->blocks[b], i)) != -2; i++)
			if (s >= 0)
				preds[s]++;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const struct xblock *xb = &ir->blocks[b];
		s = xb->targets || xb->succ[1] >= 0 ? -1 : xb->succ[0];
		if (s > 0 && preds[s] == 1)
			follows[s] = true;
	}
	for (unsigned b = 0; b < ir->n_blocks; b++)
		if (!follows[b])
			look_at_chain(c, &l, preds, b);
	choose(c);
	liveness_free(&l);
	free(preds);
	free(follows);
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
	if (!has_products(ir))
		return;
	struct contraction c = { .ir = ir,
		                     .held = mem_calloc(ir->n_regs + 1, sizeof *c.held),
		                     .anywhere = mem_calloc(ir->n_regs + 1, sizeof *c.anywhere) };
	for (unsigned r = 0; r < ir->n_regs; r++)
		c.anywhere[r] = -1;
	look_at_all(&c);
	if (c.any)
		contract_apply(&c);
	free(c.held);
	free(c.anywhere);
	free(c.product);
	free(c.sum);
	free(c.copy);
}

/*
 * What an operation of PTX is to the assembler where it fuses products and sums: a product, a sum,
 * a copy of either, a number, the end of a piece of code.
 */
#include "emu/analysis/contract.h"

static const struct family families[] = {
	{ PTX_F32, E_mul_f32, E_add_f32, E_sub_f32, E_fma_f32, E_neg_f32, 0x3f800000, 0x80000000 },
	{ PTX_F32, E_mul_ftz_f32, E_add_ftz_f32, E_sub_ftz_f32, E_fma_ftz_f32, E_neg_f32, 0x3f800000,
	  0x80000000 },
	{ PTX_F64, E_mul_f64, E_add_f64, E_sub_f64, E_fma_f64, E_neg_f64, 0x3ff0000000000000,
	  0x8000000000000000 },
	{ PTX_F16, E_mul_f16, E_add_f16, E_sub_f16, E_fma_f16, E_neg_f16, 0x3c00, 0x8000 },
	{ PTX_F16X2, E_mul_f16x2, E_add_f16x2, E_sub_f16x2, E_fma_f16x2, E_neg_f16x2, 0x3c003c00,
	  0x80008000 },
	{ PTX_BF16, E_mul_bf16, E_add_bf16, E_sub_bf16, E_fma_bf16, E_neg_bf16, 0x3f80, 0x8000 },
	{ PTX_BF16X2, E_mul_bf16x2, E_add_bf16x2, E_sub_bf16x2, E_fma_bf16x2, E_neg_bf16x2, 0x3f803f80,
	  0x80008000 },
};

const struct family *family_of_type(enum ptx_type type)
{
	const struct family *f = families;
	while (f->type != type)
		f++;
	return f;
}

static bool unrounded(const struct ptx_inst *in)
{
	return in->round == ROUND_NONE;
}

/* A quotient that need not be exact ends in a product with the reciprocal. */
static bool ends_quotient(const struct ir *ir, const struct xop *x)
{
	const uint32_t next = (uint32_t)(x - ir->ops) + 1;
	return inst_of(ir, x)->op == OP_DIV && (next == ir->n_ops || ir->ops[next].first);
}

const struct family *family_of_product(const struct ir *ir, const struct xop *x)
{
	const struct ptx_inst *in = inst_of(ir, x);
	if (x->kind != X_OP || (in->op != OP_MUL && !ends_quotient(ir, x)) || x->guard >= 0 ||
	    !unrounded(in) || (in->flags & PF_SAT))
		return NULL;
	for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
		if (families[i].mul == x->op && families[i].type == in->type)
			return &families[i];
	return NULL;
}

bool is_sum(const struct ir *ir, const struct xop *x, const struct family *f, bool ftz)
{
	const struct ptx_inst *in = inst_of(ir, x);
	return x->kind == X_OP && (in->op == OP_ADD || in->op == OP_SUB) && unrounded(in) &&
	       (x->op == f->add || x->op == f->sub) && in->type == f->type &&
	       !!(in->flags & PF_FTZ) == ftz;
}

const struct family *family_of_sum(const struct ir *ir, const struct xop *x)
{
	for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
		if (is_sum(ir, x, &families[i], inst_of(ir, x)->flags & PF_FTZ))
			return &families[i];
	return NULL;
}

/* mul.rn, which is fused with nothing but where it is with 1. */
static bool is_rounded_product(const struct ir *ir, const struct xop *x, const struct family *f)
{
	const struct ptx_inst *in = inst_of(ir, x);
	return x->op == f->mul && in->type == f->type && in->round == ROUND_RN && !(in->flags & PF_SAT);
}

/* A product with 1 or -1, or, where it names its rounding, with 1. */
static bool is_unit_product(const struct ir *ir, const struct xop *x, const struct family *f,
                            unsigned *source, bool *neg)
{
	const bool rounded = f && is_rounded_product(ir, x, f);
	if (!f || (!rounded && family_of_product(ir, x) != f))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t v = 0;
		if (!is_literal(ir, x, i, &v) || (v | f->sign) != (f->one | f->sign) ||
		    (rounded && v != f->one))
			continue;
		*source = 1 - i;
		*neg = v != f->one;
		return true;
	}
	return false;
}

/* neg.ftz of a product that is flushed is neg, with operations around it. */
bool is_copy(const struct ir *ir, const struct xop *x, const struct family *f, bool ftz,
             unsigned *source, bool *neg)
{
	const struct ptx_inst *in = inst_of(ir, x);
	*neg = false;
	*source = 0;
	if (x->kind != X_OP || x->guard >= 0)
		return false;
	if (in->op == OP_MOV)
		return x->op == E_mov_b32 || x->op == E_mov_b64;
	if (in->op == OP_MUL)
		return is_unit_product(ir, x, f, source, neg);
	if (in->op != OP_NEG || in->type != f->type || in->type == PTX_BF16X2)
		return false;
	*neg = x->op == f->neg;
	return *neg ? !(in->flags & PF_FTZ) || ftz : x->op == E_ftz_f32 && ftz;
}

bool is_choice(const struct ir *ir, const struct xop *x, const struct family *f)
{
	const bool known = f->type == PTX_F32 || f->type == PTX_F64;
	return x->kind == X_SEL && x->guard < 0 && inst_of(ir, x)->op == OP_SELP && known &&
	       x->bytes == ptx_type_bytes(f->type);
}

bool cuts_piece(const struct ptx_inst *in)
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

bool folds_away(const struct ir *ir, const struct xop *x, const struct family *f)
{
	unsigned literals = 0;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t v = 0;
		if (!is_literal(ir, x, i, &v))
			continue;
		if (v == f->one || v == (f->one | f->sign))
			return true;
		literals++;
	}
	return literals == 2 && (f->type == PTX_F32 || f->type == PTX_F64); /* halves it leaves alone */
}

static uint64_t two_of(enum ptx_type t)
{
	return t == PTX_F64   ? 0x4000000000000000
	       : t == PTX_F32 ? 0x40000000
	       : t == PTX_F16 ? 0x4000
	                      : 0;
}

/* Is @addend, which a sum reads, what product @p has twice? @negated: -2 times. */
static bool is_twice(const struct ir *ir, const struct product *p, const struct xsrc *addend,
                     bool *negated)
{
	const struct xop *x = &ir->ops[p->op];
	const uint64_t two = two_of(p->family->type);
	for (unsigned i = 0; two && i < 2; i++) {
		const struct xsrc *once = &x->s[1 - i];
		uint64_t v;
		if (once->kind != S_REG || addend->kind != S_REG || p->copied[1 - i] ||
		    once->reg != addend->reg || !is_literal(ir, x, i, &v) || (v & ~p->family->sign) != two)
			continue;
		*negated = v != two;
		return true;
	}
	return false;
}

int twice_less_once(const struct contraction *c, const struct sum *s, bool *minus)
{
	const struct xop *x = &c->ir->ops[s->op];
	for (unsigned k = 0; k < 2; k++) {
		const struct product *p = s->product[k] >= 0 ? &c->product[s->product[k]] : NULL;
		bool negated = false;
		if (!p || p->stays || p->uses != 1 || p->ftz || p->first_copy >= 0 || x->guard >= 0 ||
		    !is_twice(c->ir, p, &x->s[1 - k], &negated))
			continue;
		const bool sub = x->op == p->family->sub;
		*minus = negated ^ s->negated[k] ^ (sub && k == 1);
		if (*minus != (sub && k == 0)) /* else it is three times the value */
			return (int)k;
	}
	return -1;
}

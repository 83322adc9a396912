/*
 * Operations in a form that shows more: remainders and divisions by powers of two, as compilers
 * write them.
 */
#include "emu/analysis/affine.h"

#include <stddef.h>

static const struct xop *only_def(const struct ir *ir, const struct xsrc *s)
{
	const int32_t o = s->kind == S_REG ? ir->only_def[s->reg] : -1;
	return o >= 0 && ir->ops[o].kind == X_OP ? &ir->ops[o] : NULL;
}

/* Is it 0 wherever it is read? What holds in this block only says nothing about other places. */
static bool is_zero(const struct affine_forms *s, const struct xsrc *src)
{
	if (src->kind == S_CONST)
		return src->value == 0;
	const struct affine *a = &s->reg[src->reg];
	return src->kind == S_REG && a->known && a->pattern == 0 && a->base == 0;
}

/* Does @src always hold the value of register @reg, itself or plus a known zero? */
static bool equals_reg(const struct affine_forms *s, const struct ir *ir, const struct xsrc *src,
                       int32_t reg)
{
	if (src->kind != S_REG)
		return false;
	if (src->reg == reg)
		return true;
	const struct xop *x = only_def(ir, src);
	if (!x || x->op != E_add_b32)
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (x->s[i].kind == S_REG && x->s[i].reg == reg && is_zero(s, &x->s[1 - i]))
			return true;
	return false;
}

/* x - (x & -2^k), as compilers write x mod 2^k. */
static bool is_remainder(const struct affine_forms *s, const struct ir *ir, const struct xop *x,
                         uint64_t *mask)
{
	const struct xop *and = x->op == E_sub_b32 ? only_def(ir, &x->s[1]) : NULL;
	if (!and || and->op != E_and_b32 || and->s[1].kind != S_CONST || x->s[0].kind != S_REG)
		return false;
	const uint32_t low = ~(uint32_t) and->s[1].value;
	*mask = low;
	return (low & (low + 1)) == 0 && ir->only_def[x->s[0].reg] >= 0 &&
	       equals_reg(s, ir, &and->s[0], x->s[0].reg);
}

struct xop xop_reduced(const struct affine_forms *s, const struct ir *ir, const struct xop *x)
{
	struct xop r = *x;
	uint64_t mask;
	if (x->kind != X_OP)
		return r;
	if (is_remainder(s, ir, x, &mask)) {
		r.op = E_and_b32;
		r.s[1] = (struct xsrc){ .kind = S_CONST, .value = mask };
		return r;
	}
	const bool rem = x->op == E_rem_s32 || x->op == E_rem_u32;
	if (!rem && x->op != E_div_s32 && x->op != E_div_u32)
		return r;
	const struct affine a = affine_of_src(s, ir, &x->s[0]), b = affine_of_src(s, ir, &x->s[1]);
	if (!a.ranged || a.lo < 0 || !b.known || b.pattern || !b.base || (b.base & (b.base - 1)) ||
	    b.base > 0x40000000)
		return r;
	r.op = rem ? E_and_b32 : E_shr_u32;
	r.s[1] = (struct xsrc){ .kind = S_CONST,
		                    .value = rem ? b.base - 1 : (uint64_t)__builtin_ctzll(b.base) };
	return r;
}

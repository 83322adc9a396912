/*
 * Sums and products of halves that only conversions to float32 need: for sm_75 the assembler makes
 * one instruction of both (HADD2.F32, HMUL2.F32, HFMA2.F32), which rounds once, to float32.
 *
 * What ptxas 13 does, found by assembling each form: the first names no rounding, no .sat and has
 * no guard; a product that is fused with a sum counts as one. Of pairs it does so where one half is
 * not needed; those are left as they are written.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>

enum { CC = 75 };

/* The operation that gives float32; E_COUNT = there is none. */
static enum emu_op wide_of(const struct ir *ir, const struct xop *x)
{
	const struct ptx_inst *in = inst_of(ir, x);
	if (x->kind != X_OP || x->guard >= 0 || in->type != PTX_F16 || in->round != ROUND_NONE ||
	    in->flags & (PF_SAT | PF_FTZ) || (in->op != OP_ADD && in->op != OP_SUB && in->op != OP_MUL))
		return E_COUNT;
	switch (x->op) {
	case E_add_f16: return E_add_wide_f16;
	case E_sub_f16: return E_sub_wide_f16;
	case E_mul_f16: return E_mul_wide_f16;
	case E_fma_f16: return E_fma_wide_f16;
	default: return E_COUNT;
	}
}

static bool widens(const struct ir *ir, const struct xop *x)
{
	return x->kind == X_OP && x->op == E_cvt_f32_f16 && inst_of(ir, x)->op == OP_CVT &&
	       inst_of(ir, x)->type == PTX_F32 && x->s[0].kind == S_REG;
}

/* By register: do conversions to float32, and nothing else, read it? */
static bool *find_widened(const struct ir *ir)
{
	bool *only = mem_calloc(ir->n_regs + 1, sizeof *only);
	bool *other = mem_calloc(ir->n_regs + 1, sizeof *other);
	int32_t regs[X_MAX_VEC + 4];
	for (unsigned r = 0; r < ir->n_regs; r++)
		other[r] = ir->regs[r].passes;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned n = xop_reads(&ir->ops[o], regs); n; n--)
			if (widens(ir, &ir->ops[o]))
				only[regs[n - 1]] = true;
			else
				other[regs[n - 1]] = true;
	for (unsigned r = 0; r < ir->n_regs; r++)
		only[r] &=
			!other[r] && ir->only_def[r] >= 0 && wide_of(ir, &ir->ops[ir->only_def[r]]) != E_COUNT;
	free(other);
	return only;
}

void halves_widen(struct ir *ir)
{
	if (ir->cc != CC)
		return;
	bool *widened = find_widened(ir);
	for (uint32_t o = 0; o < ir->n_ops; o++) /* before what makes the halves is another operation */
		if (widens(ir, &ir->ops[o]) && widened[ir->ops[o].s[0].reg])
			ir->ops[o].op = E_mov_b32;
	for (unsigned r = 0; r < ir->n_regs; r++)
		if (widened[r]) {
			struct xop *x = &ir->ops[ir->only_def[r]];
			x->op = (uint16_t)wide_of(ir, x);
		}
	free(widened);
}

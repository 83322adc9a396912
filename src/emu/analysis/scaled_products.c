/*
 * A product that only a product with 2, 4, 8, 1/2, 1/4 or 1/8 needs: for sm_75 to sm_90 the
 * assembler makes one instruction of both (FMUL.M2), which rounds once. That is another value where
 * the first product alone is subnormal or overflows.
 *
 * What ptxas 13 does, found by assembling each form: the first names no rounding and has no guard,
 * the second may name the usual one; between them may lie branches, fences and copies, and where
 * the second names none, pairs of negations. .ftz is what the second says. The scaled product takes
 * no second scale. Sums that are fused with the second product go first (contract.c).
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CC = 75, LAST_CC = 90 };

/* The power of two by which @x multiplies its source @from. */
static bool is_scaling(const struct ir *ir, const struct xop *x, unsigned *from, float *by)
{
	const struct ptx_inst *in = inst_of(ir, x);
	if (x->kind != X_OP || (x->op != E_mul_f32 && x->op != E_mul_ftz_f32) || in->op != OP_MUL ||
	    in->type != PTX_F32 || (in->round != ROUND_NONE && in->round != ROUND_RN))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t bits;
		if (x->s[1 - i].kind != S_REG || !is_literal(ir, x, i, &bits))
			continue;
		const uint32_t low = (uint32_t)bits;
		memcpy(by, &low, sizeof low);
		const float size = *by < 0 ? -*by : *by;
		*from = 1 - i;
		return size == 2 || size == 4 || size == 8 || size == 0.5f || size == 0.25f ||
		       size == 0.125f;
	}
	return false;
}

/* The product that @s is, or a copy or negative of, and that nothing else needs; -1 = none. */
static int32_t scaled_product(const struct ir *ir, const unsigned *reads, struct xsrc s, bool *neg)
{
	const struct family *single = family_of_type(PTX_F32);
	while (s.kind == S_REG && reads[s.reg] == 1 && ir->only_def[s.reg] >= 0) {
		const struct xop *x = &ir->ops[ir->only_def[s.reg]];
		const struct family *f = family_of_product(ir, x);
		unsigned from;
		bool minus;
		if (f && f->type == PTX_F32 && !folds_away(ir, x, f))
			return ir->only_def[s.reg];
		if (x->n_d != 1 || !is_copy(ir, x, single, true, &from, &minus))
			return -1;
		*neg ^= minus;
		s = x->s[from];
	}
	return -1;
}

/* The product gets the scale, and @x is a copy of it. */
static void put_scale(struct xop *x, struct xop *product, float by)
{
	uint32_t bits;
	memcpy(&bits, &by, sizeof bits);
	product->op = x->op == E_mul_f32 ? E_mul_scaled_f32 : E_mul_scaled_ftz_f32;
	product->s[2] = (struct xsrc){ .kind = S_CONST, .value = bits };
	product->n_s = 3;
	x->op = E_mov_b32;
	x->n_s = 1;
	x->s[0] = (struct xsrc){ .kind = S_REG, .reg = product->d[0] };
}

static unsigned *count_reads(const struct ir *ir)
{
	unsigned *reads = mem_calloc(ir->n_regs + 1, sizeof *reads);
	int32_t regs[X_MAX_VEC + 4];
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned n = xop_reads(&ir->ops[o], regs); n; n--)
			reads[regs[n - 1]]++;
	for (unsigned r = 0; r < ir->n_regs; r++)
		reads[r] += ir->regs[r].passes;
	return reads;
}

void products_scale(struct ir *ir)
{
	unsigned *reads = NULL, from;
	float by;
	if (ir->module->debug)
		return;
	for (uint32_t o = 0; o < ir->n_ops && ir->cc >= FIRST_CC && ir->cc <= LAST_CC; o++) {
		struct xop *x = &ir->ops[o];
		if (!is_scaling(ir, x, &from, &by))
			continue;
		const bool minus = by < 0, rn = inst_of(ir, x)->round == ROUND_RN;
		bool neg = false;
		if (!reads)
			reads = count_reads(ir);
		const int32_t product = scaled_product(ir, reads, x->s[from], &neg);
		if (product >= 0 && neg == minus && !(neg && rn))
			put_scale(x, &ir->ops[product], minus ? -by : by);
	}
	free(reads);
}

/*
 * wgmma of PTX (PTX ISA 9.0, 9.7.15): products of a warp group (lower_group_product.c).
 *
 * They are done at once. wgmma.wait_group waits for the other three warps, since one thread then
 * tells for all four that the memory is free.
 */
#include "emu/lower/lower_inst.h"

bool low_wgmma(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *a = &in->opnd[1];
	const int64_t signs = in->opnd[4].i64;
	if (!low_needs(l, 90))
		return false;
	struct group_product p = {
		.n = in->mma.n,
		.k = in->mma.k,
		.d = in->mma.types[0],
		.a = in->mma.types[1],
		.b = in->mma.types[2],
		.a_in_registers = a->kind == OPND_VEC,
		.minus_a = signs & 1,
		.minus_b = signs & 2,
		.across_a = signs & 4,
		.across_b = signs & 8,
		.saturate = in->flags & PF_SATFINITE,
		.bits = in->atom,
		.sparse = in->op == OP_WGMMA_SP,
		.selector = (unsigned)in->opnd[6].i64,
	};
	if (p.sparse)
		p.which = low_src(l, 5, 4);
	const char *why = low_group_product_why(&p);
	if (why || in->mma.m != 64)
		return low_refuse(l, "%s", why ? why : "this shape is not supported");
	if (in->opnd[0].i64 != (int64_t)low_group_sums(&p))
		return low_refuse(l, "D of this shape has %u registers", low_group_sums(&p));
	if (p.a_in_registers && a->n_vec != 4)
		return low_refuse(l, "A has four registers");
	for (unsigned i = 0; i < 4 && p.a_in_registers; i++)
		p.from[i] = a->vec[i] >= 0 ? src_reg(a->vec[i]) : src_const(0);
	if (!p.a_in_registers)
		p.matrix_a = low_src(l, 1, 8);
	p.matrix_b = low_src(l, 2, 8);
	p.keep = low_pred(l, 3);
	p.to = p.sums = l->ir->func->lists + in->opnd[0].reg;
	low_group_product(l, &p);
	return !l->failed;
}

bool low_wgmma_commit(struct lower *l)
{
	low_emit(l, X_SYSTEM)->op = SYSTEM_GROUP_COMMIT;
	return true;
}

bool low_wgmma_wait(struct lower *l)
{
	struct xop *x = low_emit(l, X_SYSTEM);
	x->op = SYSTEM_GROUP_WAIT;
	x->n_s = 1;
	x->s[0] = src_const((uint64_t)l->in->opnd[0].i64);
	return true;
}

/*
 * mma.sync of 8-bit floats (PTX ISA 9.0, 9.7.14.5): m16n8k32 as two products m16n8k16 of float16,
 * which holds them exactly, m16n8k16 as two of m16n8k8. Each takes two of the four elements of
 * every register, of A and of B alike, so that elements of one k meet.
 */
#include "emu/lower/lower_inst.h"

static struct xsrc part_of(const struct ptx_operand *o, unsigned i)
{
	return o->vec[i] >= 0 ? src_reg(o->vec[i]) : src_const(0);
}

static bool known(const struct ptx_inst *in, unsigned sums)
{
	const struct ptx_mma *m = &in->mma;
	const bool types = (m->types[2] == PTX_E4M3 || m->types[2] == PTX_E5M2) &&
	                   (m->types[0] == PTX_F32 || m->types[0] == PTX_F16) &&
	                   m->types[3] == m->types[0];
	const unsigned n[4] = { sums, m->k / 8u, m->k / 16u, sums };
	bool vectors = true;
	for (unsigned i = 0; i < 4; i++)
		vectors &= in->opnd[i].kind == OPND_VEC && in->opnd[i].n_vec == n[i];
	return types && vectors && m->m == 16 && m->n == 8 && (m->k == 32 || m->k == 16);
}

bool low_mma_fp8(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const enum ptx_type sum = in->mma.types[0];
	const unsigned sums = sum == PTX_F16 ? 2 : 4;
	if (!low_needs(l, 89))
		return false;
	if (!known(in, sums))
		return low_refuse(l, "this shape or these types are not supported");
	const int32_t first = low_product_registers(l);
	const unsigned n_a = in->mma.k / 8u, n_b = in->mma.k / 16u;
	const struct ir_tensor t = {
		.m = 16,
		.n = 8,
		.k = in->mma.k / 2,
		.d = sum,
		.a = PTX_F16,
		.b = PTX_F16,
		.c = sum,
		.first_a = first,
		.first_b = first + 4,
		.first_c = first + 6,
		.n_a = (uint8_t)n_a,
		.n_b = (uint8_t)n_b,
		.n_c = (uint8_t)sums,
	};
	int32_t half[4];
	for (unsigned i = 0; i < sums; i++)
		half[i] = low_temp(l, 4);
	for (unsigned part = 0; part < 2; part++) {
		for (unsigned i = 0; i < n_a + n_b; i++) {
			const bool of_b = i >= n_a;
			const struct xsrc v = part_of(&in->opnd[1 + of_b], of_b ? i - n_a : i);
			low_op1(l, E_mov_b32, of_b ? t.first_b + (int32_t)(i - n_a) : first + (int32_t)i,
			        low_fp8_pair(l, in->mma.types[1 + of_b], v, part));
		}
		for (unsigned i = 0; i < sums; i++)
			low_op1(l, E_mov_b32, first + 6 + (int32_t)i,
			        part ? src_reg(half[i]) : part_of(&in->opnd[3], i));
		low_product(l, &t, sums, part ? in->opnd[0].vec : half);
	}
	return !l->failed;
}

/*
 * Floating-point operations with the modifiers that have no operation of their own: .ftz flushes
 * sources and result, .sat and .relu clamp, directed rounding picks a variant.
 * PTX ISA 9.0 sections 9.7.3 and 9.7.4.
 */
#include "emu/lower/lower_inst.h"

#define ROUND_STRIDE (E_add_rm_f32 - E_add_rz_f32)

enum emu_op low_rounded(const struct ptx_inst *in, enum emu_op nearest, enum emu_op rz)
{
	switch (in->round) {
	case ROUND_RZ: return rz;
	case ROUND_RM: return (enum emu_op)(rz + ROUND_STRIDE);
	case ROUND_RP: return (enum emu_op)(rz + 2 * ROUND_STRIDE);
	default: return nearest;
	}
}

enum emu_op low_op_of_type(const struct typed_op *t, enum ptx_type type)
{
	switch (type) {
	case PTX_F32: return t->f32;
	case PTX_F64: return t->f64;
	case PTX_F16: return t->f16;
	case PTX_F16X2: return t->f16x2;
	case PTX_BF16: return t->bf16;
	case PTX_BF16X2: return t->bf16x2;
	default: return E_COUNT;
	}
}

/* Variants that flush subnormal sources and results themselves. */
static enum emu_op flushing_variant(enum emu_op op)
{
	switch (op) {
	case E_add_f32: return E_add_ftz_f32;
	case E_sub_f32: return E_sub_ftz_f32;
	case E_mul_f32: return E_mul_ftz_f32;
	case E_fma_f32: return E_fma_ftz_f32;
	default: return E_COUNT;
	}
}

/* d = @r between 0 and 1. */
static void saturate(struct lower *l, int32_t d, struct xsrc r)
{
	switch (l->in->type) {
	case PTX_F64: low_op1(l, E_sat_f64, d, r); break;
	case PTX_F16:
		r = src_reg(low_op2(l, E_max_f16, -1, r, src_const(0)));
		low_op2(l, E_min_f16, d, r, src_const(0x3c00));
		break;
	case PTX_F16X2:
		r = src_reg(low_op2(l, E_max_f16x2, -1, r, src_const(0)));
		low_op2(l, E_min_f16x2, d, r, src_const(0x3c003c00));
		break;
	default: low_op1(l, E_sat_f32, d, r); break;
	}
}

bool low_float_op(struct lower *l, enum emu_op op, unsigned n, struct xsrc a, struct xsrc b,
                  struct xsrc c)
{
	static const struct typed_op nan_max = { E_max_nan_f32,   E_max_nan_f32,  E_max_nan_f16,
		                                     E_max_nan_f16x2, E_max_nan_bf16, E_max_nan_bf16x2 };
	const struct ptx_inst *in = l->in;
	const bool ftz = low_flushes(in, in->type);
	const bool sat = in->flags & PF_SAT, relu = in->flags & PF_RELU;
	const bool flush = ftz && flushing_variant(op) == E_COUNT;
	if (ftz && !flush)
		op = flushing_variant(op);
	if (flush) {
		a = low_flushed(l, a, in->type);
		b = n > 1 ? low_flushed(l, b, in->type) : b;
		c = n > 2 ? low_flushed(l, c, in->type) : c;
	}
	int32_t d = low_dst(l, 0);
	const int32_t raw = flush || sat || relu ? -1 : d;
	int32_t r = n == 1   ? low_op1(l, op, raw, a)
	            : n == 2 ? low_op2(l, op, raw, a, b)
	                     : low_op3(l, op, raw, a, b, c);
	if (flush)
		r = low_op1(l, in->type == PTX_F32 ? E_ftz_f32 : E_ftz_f16x2, sat || relu ? -1 : d,
		            src_reg(r));
	if (relu)
		r = low_op2(l, low_op_of_type(&nan_max, in->type), sat ? -1 : d, src_reg(r), src_const(0));
	if (sat)
		saturate(l, d, src_reg(r));
	return !l->failed;
}

bool low_float_pair(struct lower *l, enum emu_op nearest, enum emu_op rz, unsigned n)
{
	const struct ptx_inst *in = l->in;
	const bool ftz = in->flags & PF_FTZ;
	enum emu_op op = low_rounded(in, nearest, rz);
	const bool flush = ftz && flushing_variant(op) == E_COUNT;
	int32_t half[2];
	if (!low_needs(l, 100))
		return false;
	if (in->flags & (PF_SAT | PF_RELU))
		return low_refuse(l, ".sat and .relu are not for .f32x2");
	if (ftz && !flush)
		op = flushing_variant(op);
	for (unsigned k = 0; k < 2; k++) {
		struct xsrc s[3] = { 0 };
		for (unsigned i = 0; i < n; i++) {
			s[i] = src_reg(low_op1(l, k ? E_hi32 : E_trunc32, -1, low_src(l, 1 + i, 8)));
			if (i == 1 && in->op == OP_SUB)
				s[i] = src_reg(low_op1(l, E_neg_f32, -1, s[i]));
			s[i] = flush ? low_flushed(l, s[i], PTX_F32) : s[i];
		}
		half[k] = n == 2 ? low_op2(l, op, -1, s[0], s[1]) : low_op3(l, op, -1, s[0], s[1], s[2]);
		half[k] = flush ? low_op1(l, E_ftz_f32, -1, src_reg(half[k])) : half[k];
	}
	low_op2(l, E_pack64, low_dst(l, 0), src_reg(half[0]), src_reg(half[1]));
	return !l->failed;
}

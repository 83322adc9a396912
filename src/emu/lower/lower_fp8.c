/*
 * cvt to and from pairs of 8-bit floats, e4m3 and e5m2 (PTX ISA 9.0, 9.7.9.21), in operations that
 * are there: each rounds once, to the nearest, ties to even.
 */
#include "emu/lower/lower_inst.h"

struct fp8 {
	unsigned mantissa;   /* bits */
	uint32_t max, least; /* the largest number and the least normal one, as bits of float32 */
	uint32_t rebias;     /* float32: what shifts its exponent to that of the 8 bits */
};
static const struct fp8 e4m3 = { 3, 0x43e00000, (127 - 6) << 23, 7 << 23 };
static const struct fp8 e5m2 = { 2, 0x47600000, (127 - 14) << 23, 15 << 23 };
#define FP8_NAN 0x7f

static struct xsrc op1(struct lower *l, enum emu_op op, struct xsrc a)
{
	return src_reg(low_op1(l, op, -1, a));
}

static struct xsrc op2(struct lower *l, enum emu_op op, struct xsrc a, struct xsrc b)
{
	return src_reg(low_op2(l, op, -1, a, b));
}

struct xsrc low_to_fp8(struct lower *l, enum ptx_type type, struct xsrc x)
{
	const struct fp8 *f = type == PTX_E4M3X2 ? &e4m3 : &e5m2;
	const unsigned drop = 23 - f->mantissa;
	const struct xsrc size = op1(l, E_abs_f32, x);
	const struct xsrc limited = op2(l, E_min_f32, size, src_const(f->max));
	/* adding a number whose last bit is worth as much as that of the result rounds there */
	struct xsrc far = op2(l, E_and_b32, limited, src_const(0x7f800000));
	far = op2(l, E_max_u32, far, src_const(f->least));
	far = op2(l, E_add_b32, far, src_const((uint64_t)drop << 23));
	const struct xsrc rounded = op2(l, E_sub_f32, op2(l, E_add_f32, limited, far), far);
	struct xsrc bits = op2(l, E_mul_f32, rounded, src_const(f->rebias));
	bits = op2(l, E_shr_u32, bits, src_const(drop));
	const struct xsrc sign =
		op2(l, E_and_b32, op2(l, E_shr_u32, x, src_const(24)), src_const(0x80));
	bits = op2(l, E_or_b32, bits, sign);
	const struct xsrc nan = src_reg(low_cmp(l, -1, CMP_GT, PTX_U32, size, src_const(0x7f800000)));
	return src_reg(low_select(l, -1, 4, src_const(FP8_NAN), bits, nan));
}

/* float16 of the eight bits of @x, which has nothing else. */
static struct xsrc from_e4m3(struct lower *l, struct xsrc x)
{
	const struct xsrc size = op2(l, E_and_b32, x, src_const(0x7f));
	const struct xsrc sign = op2(l, E_and_b32, x, src_const(0x80));
	const struct xsrc small = op2(l, E_or_b32, op2(l, E_shl_b32, size, src_const(7)),
	                              op2(l, E_shl_b32, sign, src_const(8)));
	const struct xsrc value = op2(l, E_mul_f16, small, src_const(0x5c00)); /* 2^8: the biases */
	const struct xsrc nan = src_reg(low_cmp(l, -1, CMP_EQ, PTX_U32, size, src_const(FP8_NAN)));
	return src_reg(low_select(l, -1, 4, src_const(0x7fff), value, nan));
}

/* The same bits; but the H200 knows one NaN only, without a sign. */
static struct xsrc from_e5m2(struct lower *l, struct xsrc x)
{
	const struct xsrc value = op2(l, E_shl_b32, x, src_const(8));
	const struct xsrc size = op2(l, E_and_b32, value, src_const(0x7fff));
	const struct xsrc nan = src_reg(low_cmp(l, -1, CMP_GT, PTX_U32, size, src_const(0x7c00)));
	return src_reg(low_select(l, -1, 4, src_const(0x7fff), value, nan));
}

struct xsrc low_fp8_pair(struct lower *l, enum ptx_type type, struct xsrc v, bool upper)
{
	const bool three = type == PTX_E4M3 || type == PTX_E4M3X2;
	struct xsrc half[2];
	for (unsigned k = 0; k < 2; k++) {
		const struct xsrc shifted = op2(l, E_shr_u32, v, src_const(8 * k + (upper ? 16 : 0)));
		const struct xsrc byte = op2(l, E_and_b32, shifted, src_const(0xff));
		half[k] = three ? from_e4m3(l, byte) : from_e5m2(l, byte);
	}
	return src_reg(low_op2(l, E_pack32, -1, half[0], half[1]));
}

static bool pair_to_f16x2(struct lower *l)
{
	const struct xsrc pair = low_fp8_pair(l, l->in->type2, low_src(l, 1, 4), false);
	if (l->in->flags & PF_RELU)
		low_op2(l, E_max_nan_f16x2, low_dst(l, 0), pair, src_const(0));
	else
		low_op1(l, E_mov_b32, low_dst(l, 0), pair);
	return !l->failed;
}

bool low_cvt_fp8(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	if (in->round != ROUND_RN || (type_fp8(in->type) && !(in->flags & PF_SATFINITE)))
		return low_refuse(l, "conversions of 8-bit floats are .rn, and .satfinite to them");
	if (type_fp8(in->type2) && in->type == PTX_F16X2)
		return pair_to_f16x2(l);
	struct xsrc low, high;
	if (in->type2 == PTX_F32) { /* a to the upper byte, b to the lower one */
		high = low_src(l, 1, 4);
		low = low_src(l, 2, 4);
	} else if (in->type2 == PTX_F16X2) {
		const struct xsrc pair = low_src(l, 1, 4);
		low = op1(l, E_cvt_f32_f16, op1(l, E_ext_u16, pair));
		high = op1(l, E_cvt_f32_f16, op2(l, E_shr_u32, pair, src_const(16)));
	} else {
		return low_refuse(l, "8-bit floats are converted from .f32 and .f16x2, and to .f16x2");
	}
	if (in->flags & PF_RELU) {
		high = op2(l, E_max_nan_f32, high, src_const(0));
		low = op2(l, E_max_nan_f32, low, src_const(0));
	}
	const struct xsrc upper = op2(l, E_shl_b32, low_to_fp8(l, in->type, high), src_const(8));
	return low_to16(l, low_op2(l, E_or_b32, -1, upper, low_to_fp8(l, in->type, low)));
}

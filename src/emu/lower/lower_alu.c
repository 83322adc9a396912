/*
 * Arithmetic on integers and floating-point numbers alike: sums, products, quotients, minimum.
 * The carry flag is a predicate; 16-bit values stay zero-extended in 32-bit lanes.
 * PTX ISA 9.0 sections 9.7.1 to 9.7.4.
 */
#include "emu/lower/lower_inst.h"

#define NONE src_const(0)

/* --- add, sub and the carry chain --- */

/*
 * d = a + b + carry-in, or a - b - borrow-in, and the flag when @out. The flag of a difference is
 * that of a + ~b + 1: set where nothing was borrowed. PTX calls both "carry"; code that reads a
 * difference's flag by addc, as __int128 quotients of nvcc do, relies on what the machine has.
 */
static void with_carry(struct lower *l, int32_t d, bool sub, bool in, bool out, struct xsrc a,
                       struct xsrc b, bool wide)
{
	const enum ptx_type t = wide ? PTX_U64 : PTX_U32;
	const enum emu_op op = sub ? (wide ? E_sub_b64 : E_sub_b32) : (wide ? E_add_b64 : E_add_b32);
	const unsigned bytes = wide ? 8 : 4;
	const struct xsrc r = src_reg(low_op2(l, op, -1, a, b));
	struct xsrc total = r, c1 = NONE, c2 = NONE;
	if (out)
		c1 = src_reg(sub ? low_cmp(l, -1, CMP_GE, t, a, b) : low_cmp(l, -1, CMP_LT, t, r, a));
	if (in) {
		const struct xsrc one =
			src_reg(low_select(l, -1, bytes, src_const(!sub), src_const(sub), src_reg(l->carry)));
		total = src_reg(low_op2(l, op, -1, r, one));
		if (out)
			c2 = src_reg(sub ? low_cmp(l, -1, CMP_GE, t, r, one)
			                 : low_cmp(l, -1, CMP_LT, t, total, r));
	}
	low_op1(l, wide ? E_mov_b64 : E_mov_b32, d, total);
	if (out)
		low_bool(l, l->carry, !in ? BOOL_NONE : sub ? BOOL_AND : BOOL_OR, c1, c2);
}

/* d = op(a, b) in both halves, each extended as the type says; .relu: nothing below 0. */
static bool integer_pair(struct lower *l, enum emu_op op)
{
	const bool sign = l->in->type == PTX_S16X2;
	int32_t half[2];
	for (unsigned k = 0; k < 2; k++) {
		struct xsrc s[2];
		for (unsigned i = 0; i < 2; i++) {
			const struct xsrc pair = low_src(l, 1 + i, 4);
			s[i] = src_reg(k ? low_op2(l, sign ? E_shr_s32 : E_shr_u32, -1, pair, src_const(16))
			                 : low_op1(l, sign ? E_ext_s16 : E_ext_u16, -1, pair));
		}
		half[k] = low_op2(l, op, -1, s[0], s[1]);
		if (l->in->flags & PF_RELU)
			half[k] = low_op2(l, E_max_s32, -1, src_reg(half[k]), src_const(0));
	}
	low_op2(l, E_pack32, low_dst(l, 0), src_reg(half[0]), src_reg(half[1]));
	return !l->failed;
}

static bool add_or_subtract(struct lower *l, bool sub)
{
	static const struct typed_op add = { E_add_f32,   E_add_f64,  E_add_f16,
		                                 E_add_f16x2, E_add_bf16, E_add_bf16x2 };
	static const struct typed_op minus = { E_sub_f32,   E_sub_f64,  E_sub_f16,
		                                   E_sub_f16x2, E_sub_bf16, E_sub_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const bool carry_in = in->op == OP_ADDC || in->op == OP_SUBC;
	if (type_integer_pair(in->type))
		return integer_pair(l, E_add_b32);
	if (in->type == PTX_F32X2)
		return low_float_pair(l, E_add_f32, E_add_rz_f32, 2);
	if (type_floating(in->type)) {
		enum emu_op op = low_op_of_type(sub ? &minus : &add, in->type);
		if (in->round > ROUND_RN) {
			if (sub)
				b = src_reg(low_op1(l, lane == 8 ? E_neg_f64 : E_neg_f32, -1, b));
			op = low_rounded(in, op, lane == 8 ? E_add_rz_f64 : E_add_rz_f32);
		}
		return low_float_op(l, op, 2, a, b, NONE);
	}
	if (carry_in || (in->flags & PF_CC)) {
		with_carry(l, low_dst(l, 0), sub, carry_in, in->flags & PF_CC, a, b, lane == 8);
		return !l->failed;
	}
	if (in->flags & PF_SAT) {
		low_op2(l, sub ? E_sub_sat_s32 : E_add_sat_s32, low_dst(l, 0), a, b);
		return !l->failed;
	}
	if (ptx_type_bytes(in->type) == 2)
		return low_to16(l, low_op2(l, sub ? E_sub_b32 : E_add_b32, -1, a, b));
	if (lane == 8)
		low_op2(l, sub ? E_sub_b64 : E_add_b64, low_dst(l, 0), a, b);
	else
		low_op2(l, sub ? E_sub_b32 : E_add_b32, low_dst(l, 0), a, b);
	return !l->failed;
}

bool low_add(struct lower *l)
{
	return add_or_subtract(l, false);
}

bool low_sub(struct lower *l)
{
	return add_or_subtract(l, true);
}

/* --- mul, mad, fma --- */

static enum emu_op high_op(enum ptx_type t)
{
	switch (t) {
	case PTX_S16: return E_mul_hi_s16;
	case PTX_U16: return E_mul_hi_u16;
	case PTX_S32: return E_mul_hi_s32;
	case PTX_U32: return E_mul_hi_u32;
	case PTX_S64: return E_mul_hi_s64;
	default: return E_mul_hi_u64;
	}
}

static enum emu_op wide_op(enum ptx_type t)
{
	return t == PTX_S16   ? E_mul_wide_s16
	       : t == PTX_U16 ? E_mul_wide_u16
	       : t == PTX_S32 ? E_mul_wide_s32
	                      : E_mul_wide_u32;
}

bool low_mul(struct lower *l)
{
	static const struct typed_op mul = { E_mul_f32,   E_mul_f64,  E_mul_f16,
		                                 E_mul_f16x2, E_mul_bf16, E_mul_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	if (in->type == PTX_F32X2)
		return low_float_pair(l, E_mul_f32, E_mul_rz_f32, 2);
	if (type_floating(in->type))
		return low_float_op(l,
		                    low_rounded(in, low_op_of_type(&mul, in->type),
		                                lane == 8 ? E_mul_rz_f64 : E_mul_rz_f32),
		                    2, a, b, NONE);
	if (in->flags & PF_HI)
		low_op2(l, high_op(in->type), low_dst(l, 0), a, b);
	else if (in->flags & PF_WIDE)
		low_op2(l, wide_op(in->type), low_dst(l, 0), a, b);
	else if (ptx_type_bytes(in->type) == 2)
		return low_to16(l, low_op2(l, E_mul_lo_b32, -1, a, b));
	else
		low_op2(l, lane == 8 ? E_mul_lo_b64 : E_mul_lo_b32, low_dst(l, 0), a, b);
	return !l->failed;
}

bool low_mad(struct lower *l)
{
	static const struct typed_op fma = { E_fma_f32,   E_fma_f64,  E_fma_f16,
		                                 E_fma_f16x2, E_fma_bf16, E_fma_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const bool wide = in->flags & PF_WIDE, narrow = ptx_type_bytes(in->type) == 2;
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const struct xsrc c = low_src(l, 3, wide && !narrow ? 8 : lane);
	const int32_t d = low_dst(l, 0);
	if (in->type == PTX_F32X2)
		return low_float_pair(l, E_fma_f32, E_fma_rz_f32, 3);
	if (type_floating(in->type))
		return low_float_op(l,
		                    low_rounded(in, low_op_of_type(&fma, in->type),
		                                lane == 8 ? E_fma_rz_f64 : E_fma_rz_f32),
		                    3, a, b, c);
	if (in->op == OP_MADC || (in->flags & PF_CC)) {
		const enum emu_op low = lane == 8 ? E_mul_lo_b64 : E_mul_lo_b32;
		const struct xsrc p =
			src_reg(low_op2(l, in->flags & PF_HI ? high_op(in->type) : low, -1, a, b));
		with_carry(l, d, false, in->op == OP_MADC, in->flags & PF_CC, p, c, lane == 8);
		return !l->failed;
	}
	if (in->flags & PF_HI) {
		const struct xsrc p = src_reg(low_op2(l, high_op(in->type), -1, a, b));
		if (narrow)
			return low_to16(l, low_op2(l, E_add_b32, -1, p, c));
		if (in->flags & PF_SAT)
			low_op2(l, E_add_sat_s32, d, p, c);
		else
			low_op2(l, lane == 8 ? E_add_b64 : E_add_b32, d, p, c);
		return !l->failed;
	}
	if (wide) {
		const struct xsrc p = src_reg(low_op2(l, wide_op(in->type), -1, a, b));
		low_op2(l, narrow ? E_add_b32 : E_add_b64, d, p, c);
		return !l->failed;
	}
	if (narrow)
		return low_to16(l, low_op3(l, E_mad_lo_b32, -1, a, b, c));
	low_op3(l, lane == 8 ? E_mad_lo_b64 : E_mad_lo_b32, d, a, b, c);
	return !l->failed;
}

bool low_mul24(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool mad = in->op == OP_MAD24, hi = in->flags & PF_HI, sign = in->type == PTX_S32;
	const enum emu_op op =
		hi ? (sign ? E_mul24_hi_s32 : E_mul24_hi_u32) : (sign ? E_mul24_lo_s32 : E_mul24_lo_u32);
	const int32_t d = low_dst(l, 0);
	const struct xsrc a = low_src(l, 1, 4), b = low_src(l, 2, 4);
	if (!mad) {
		low_op2(l, op, d, a, b);
		return !l->failed;
	}
	const struct xsrc c = low_src(l, 3, 4), p = src_reg(low_op2(l, op, -1, a, b));
	low_op2(l, in->flags & PF_SAT ? E_add_sat_s32 : E_add_b32, d, p, c);
	return !l->failed;
}

/* --- division --- */

static bool divide_or_remainder(struct lower *l, bool rem)
{
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	if (in->flags & (PF_APPROX | PF_FULL))
		return low_quotient(l, a, b);
	if (type_float(in->type))
		return low_float_op(l,
		                    lane == 8 ? low_rounded(in, E_div_f64, E_div_rz_f64)
		                              : low_rounded(in, E_div_f32, E_div_rz_f32),
		                    2, a, b, NONE);
	if (ptx_type_bytes(in->type) == 2) {
		if (type_signed(in->type)) {
			a = low_sext16(l, a);
			b = low_sext16(l, b);
		}
		const enum emu_op op =
			type_signed(in->type) ? (rem ? E_rem_s32 : E_div_s32) : (rem ? E_rem_u32 : E_div_u32);
		return low_to16(l, low_op2(l, op, -1, a, b));
	}
	static const enum emu_op ops[2][2][2] = {
		/* [rem][wide][signed] */
		{ { E_div_u32, E_div_s32 }, { E_div_u64, E_div_s64 } },
		{ { E_rem_u32, E_rem_s32 }, { E_rem_u64, E_rem_s64 } },
	};
	low_op2(l, ops[rem][lane == 8][type_signed(in->type)], low_dst(l, 0), a, b);
	return !l->failed;
}

bool low_div(struct lower *l)
{
	return divide_or_remainder(l, false);
}

bool low_rem(struct lower *l)
{
	return divide_or_remainder(l, true);
}

/* --- minimum, differences --- */

static struct xsrc magnitude(struct lower *l, struct xsrc f32)
{
	return src_reg(low_op2(l, E_and_b32, -1, f32, src_const(0x7fffffff)));
}

static bool min_max(struct lower *l, bool max)
{
	static const struct typed_op number[2] = {
		{ E_min_f32, E_min_f64, E_min_f16, E_min_f16x2, E_min_bf16, E_min_bf16x2 },
		{ E_max_f32, E_max_f64, E_max_f16, E_max_f16x2, E_max_bf16, E_max_bf16x2 },
	};
	static const struct typed_op with_nan[2] = {
		{ E_min_nan_f32, E_COUNT, E_min_nan_f16, E_min_nan_f16x2, E_min_nan_bf16,
		  E_min_nan_bf16x2 },
		{ E_max_nan_f32, E_COUNT, E_max_nan_f16, E_max_nan_f16x2, E_max_nan_bf16,
		  E_max_nan_bf16x2 },
	};
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const int32_t d = low_dst(l, 0);
	if (type_floating(in->type)) {
		const enum emu_op op =
			low_op_of_type(in->flags & PF_NAN ? &with_nan[max] : &number[max], in->type);
		const bool three = in->opnd[3].kind != OPND_NONE;
		if (op == E_COUNT || (three && (in->type != PTX_F32 || in->flags & PF_XORSIGN)))
			return low_refuse(l, "this form of min and max is not supported");
		if (three) { /* what .ftz makes of the first two is made of the one that is left */
			const bool abs = in->flags & PF_ABS;
			a = abs ? magnitude(l, a) : a;
			b = abs ? magnitude(l, b) : b;
			const struct xsrc c = low_src(l, 3, lane), ab = src_reg(low_op2(l, op, -1, a, b));
			return low_float_op(l, op, 2, ab, abs ? magnitude(l, c) : c, NONE);
		}
		if (!(in->flags & PF_XORSIGN))
			return low_float_op(l, op, 2, a, b, NONE);
		const uint64_t sign = low_sign_bits(in->type);
		const uint64_t rest = ~sign & (type_half(in->type) ? 0xffffu : 0xffffffffu);
		const struct xsrc s = src_reg(
			low_op2(l, E_and_b32, -1, src_reg(low_op2(l, E_xor_b32, -1, a, b)), src_const(sign)));
		a = src_reg(low_op2(l, E_and_b32, -1, a, src_const(rest)));
		b = src_reg(low_op2(l, E_and_b32, -1, b, src_const(rest)));
		low_op2(l, E_or_b32, d, src_reg(low_op2(l, op, -1, a, b)), s);
		return !l->failed;
	}
	if (in->opnd[3].kind != OPND_NONE)
		return low_refuse(l, "min and max of three values are for .f32");
	if (type_integer_pair(in->type))
		return integer_pair(l, in->type == PTX_S16X2 ? (max ? E_max_s32 : E_min_s32)
		                       : max                 ? E_max_u32
		                                             : E_min_u32);
	const bool sign = type_signed(in->type);
	static const enum emu_op ops[2][2][2] = {
		/* [max][wide][signed] */
		{ { E_min_u32, E_min_s32 }, { E_min_u64, E_min_s64 } },
		{ { E_max_u32, E_max_s32 }, { E_max_u64, E_max_s64 } },
	};
	if (in->type == PTX_S16)
		return low_to16(l, low_op2(l, ops[max][0][1], -1, low_sext16(l, a), low_sext16(l, b)));
	int32_t r = low_op2(l, ops[max][lane == 8][sign], in->flags & PF_RELU ? -1 : d, a, b);
	if (in->flags & PF_RELU)
		low_op2(l, E_max_s32, d, src_reg(r), src_const(0));
	return !l->failed;
}

bool low_min(struct lower *l)
{
	return min_max(l, false);
}

bool low_max(struct lower *l)
{
	return min_max(l, true);
}

bool low_sad(struct lower *l)
{
	const enum ptx_type t = l->in->type;
	const unsigned lane = type_lane(t);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const struct xsrc c = low_src(l, 3, lane);
	if (t == PTX_S16) {
		a = low_sext16(l, a);
		b = low_sext16(l, b);
	}
	const enum emu_op op = lane == 8 ? (type_signed(t) ? E_sad_s64 : E_sad_u64)
	                                 : (type_signed(t) ? E_sad_s32 : E_sad_u32);
	if (ptx_type_bytes(t) == 2)
		return low_to16(l, low_op3(l, op, -1, a, b, c));
	low_op3(l, op, low_dst(l, 0), a, b, c);
	return !l->failed;
}

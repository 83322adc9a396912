/*
 * Arithmetic: PTX instructions to operations of ops.def.
 *
 * Modifiers that have no operation of their own become several: .ftz flushes sources and result,
 * .sat clamps, the carry flag is a predicate. 16-bit values stay zero-extended in 32-bit lanes.
 * PTX ISA 9.0 sections 9.7.1 to 9.7.4.
 */
#include "emu/lower/lower_inst.h"

#define ROUND_STRIDE (E_add_rm_f32 - E_add_rz_f32)
#define NONE src_const(0)

/* The directed variant of an operation: @rz is its ..._rz form. */
static enum emu_op rounded(const struct ptx_inst *in, enum emu_op nearest, enum emu_op rz)
{
	switch (in->round) {
	case ROUND_RZ: return rz;
	case ROUND_RM: return (enum emu_op)(rz + ROUND_STRIDE);
	case ROUND_RP: return (enum emu_op)(rz + 2 * ROUND_STRIDE);
	default: return nearest;
	}
}

struct xsrc low_flushed(struct lower *l, struct xsrc a)
{
	return src_reg(low_op1(l, E_ftz_f32, -1, a));
}

/* d = op(a, b, c) in floating point with .ftz, .sat and .relu of the instruction. */
static bool float_op(struct lower *l, enum emu_op op, unsigned n, struct xsrc a, struct xsrc b,
                     struct xsrc c)
{
	const struct ptx_inst *in = l->in;
	const bool ftz = (in->flags & PF_FTZ) && in->type == PTX_F32;
	const bool sat = in->flags & PF_SAT, relu = in->flags & PF_RELU;
	bool flush = ftz;
	if (ftz) {
		const enum emu_op direct = op == E_add_f32   ? E_add_ftz_f32
		                           : op == E_sub_f32 ? E_sub_ftz_f32
		                           : op == E_mul_f32 ? E_mul_ftz_f32
		                           : op == E_fma_f32 ? E_fma_ftz_f32
		                                             : E_COUNT;
		if (direct != E_COUNT) {
			op = direct;
			flush = false;
		}
	}
	if (flush) {
		a = low_flushed(l, a);
		b = n > 1 ? low_flushed(l, b) : b;
		c = n > 2 ? low_flushed(l, c) : c;
	}
	int32_t d = low_dst(l, 0);
	const int32_t raw = flush || sat || relu ? -1 : d;
	int32_t r = n == 1   ? low_op1(l, op, raw, a)
	            : n == 2 ? low_op2(l, op, raw, a, b)
	                     : low_op3(l, op, raw, a, b, c);
	if (flush)
		r = low_op1(l, E_ftz_f32, sat || relu ? -1 : d, src_reg(r));
	if (relu) {
		const enum emu_op max = in->type == PTX_F16      ? E_max_nan_f16
		                        : in->type == PTX_F16X2  ? E_max_nan_f16x2
		                        : in->type == PTX_BF16   ? E_max_nan_bf16
		                        : in->type == PTX_BF16X2 ? E_max_nan_bf16x2
		                                                 : E_max_nan_f32;
		r = low_op2(l, max, sat ? -1 : d, src_reg(r), src_const(0));
	}
	if (sat) {
		switch (in->type) {
		case PTX_F64: low_op1(l, E_sat_f64, d, src_reg(r)); break;
		case PTX_F16:
			r = low_op2(l, E_max_f16, -1, src_reg(r), src_const(0));
			low_op2(l, E_min_f16, d, src_reg(r), src_const(0x3c00));
			break;
		case PTX_F16X2:
			r = low_op2(l, E_max_f16x2, -1, src_reg(r), src_const(0));
			low_op2(l, E_min_f16x2, d, src_reg(r), src_const(0x3c003c00));
			break;
		default: low_op1(l, E_sat_f32, d, src_reg(r)); break;
		}
	}
	return !l->failed;
}

/* Stores a 32-bit result into a register of a 16-bit type. */
bool low_to16(struct lower *l, int32_t r)
{
	low_op1(l, E_ext_u16, low_dst(l, 0), src_reg(r));
	return !l->failed;
}

struct typed_op { /* the operation of each type; E_COUNT = there is none */
	enum emu_op f32, f64, f16, f16x2, bf16, bf16x2;
};
static enum emu_op of_type(const struct typed_op *t, enum ptx_type type)
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

static bool is_floating(enum ptx_type t)
{
	return type_float(t) || type_half(t) || type_pair(t);
}

struct xsrc low_sext16(struct lower *l, struct xsrc a)
{
	return src_reg(low_op1(l, E_ext_s16, -1, a));
}

/* --- add, sub and the carry chain --- */

/* d = a + b + carry-in, or a - b - borrow-in, and the carry or borrow out when @out. */
static void with_carry(struct lower *l, int32_t d, bool sub, bool in, bool out, struct xsrc a,
                       struct xsrc b, bool wide)
{
	const enum ptx_type t = wide ? PTX_U64 : PTX_U32;
	const enum emu_op op = sub ? (wide ? E_sub_b64 : E_sub_b32) : (wide ? E_add_b64 : E_add_b32);
	const unsigned bytes = wide ? 8 : 4;
	const struct xsrc r = src_reg(low_op2(l, op, -1, a, b));
	struct xsrc total = r, c1 = NONE, c2 = NONE;
	if (out)
		c1 = src_reg(sub ? low_cmp(l, -1, CMP_LT, t, a, b) : low_cmp(l, -1, CMP_LT, t, r, a));
	if (in) {
		const struct xsrc one =
			src_reg(low_select(l, -1, bytes, src_const(1), src_const(0), src_reg(l->carry)));
		total = src_reg(low_op2(l, op, -1, r, one));
		if (out)
			c2 = src_reg(sub ? low_cmp(l, -1, CMP_LT, t, r, one)
			                 : low_cmp(l, -1, CMP_LT, t, total, r));
	}
	low_op1(l, wide ? E_mov_b64 : E_mov_b32, d, total);
	if (out)
		low_bool(l, l->carry, in ? BOOL_OR : BOOL_NONE, c1, c2);
}

static bool low_add(struct lower *l, bool sub)
{
	static const struct typed_op add = { E_add_f32,   E_add_f64,  E_add_f16,
		                                 E_add_f16x2, E_add_bf16, E_add_bf16x2 };
	static const struct typed_op minus = { E_sub_f32,   E_sub_f64,  E_sub_f16,
		                                   E_sub_f16x2, E_sub_bf16, E_sub_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const bool carry_in = in->op == OP_ADDC || in->op == OP_SUBC;
	if (is_floating(in->type)) {
		enum emu_op op = of_type(sub ? &minus : &add, in->type);
		if (in->round > ROUND_RN) {
			if (sub)
				b = src_reg(low_op1(l, lane == 8 ? E_neg_f64 : E_neg_f32, -1, b));
			op = rounded(in, op, lane == 8 ? E_add_rz_f64 : E_add_rz_f32);
		}
		return float_op(l, op, 2, a, b, NONE);
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

static bool low_mul(struct lower *l)
{
	static const struct typed_op mul = { E_mul_f32,   E_mul_f64,  E_mul_f16,
		                                 E_mul_f16x2, E_mul_bf16, E_mul_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	if (is_floating(in->type))
		return float_op(
			l, rounded(in, of_type(&mul, in->type), lane == 8 ? E_mul_rz_f64 : E_mul_rz_f32), 2, a,
			b, NONE);
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

static bool low_mad(struct lower *l)
{
	static const struct typed_op fma = { E_fma_f32,   E_fma_f64,  E_fma_f16,
		                                 E_fma_f16x2, E_fma_bf16, E_fma_bf16x2 };
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const bool wide = in->flags & PF_WIDE, narrow = ptx_type_bytes(in->type) == 2;
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const struct xsrc c = low_src(l, 3, wide && !narrow ? 8 : lane);
	const int32_t d = low_dst(l, 0);
	if (is_floating(in->type))
		return float_op(
			l, rounded(in, of_type(&fma, in->type), lane == 8 ? E_fma_rz_f64 : E_fma_rz_f32), 3, a,
			b, c);
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

static bool low_mul24(struct lower *l)
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

/* --- division and square roots --- */

static bool low_div(struct lower *l, bool rem)
{
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	if (type_float(in->type))
		return float_op(l,
		                lane == 8 ? rounded(in, E_div_f64, E_div_rz_f64)
		                          : rounded(in, E_div_f32, E_div_rz_f32),
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

static bool low_rcp(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool wide = in->type == PTX_F64;
	const struct xsrc a = low_src(l, 1, wide ? 8 : 4);
	if (in->round > ROUND_RN) {
		const struct xsrc one = src_const(wide ? 0x3ff0000000000000u : 0x3f800000u);
		return float_op(l, rounded(in, E_div_f32, wide ? E_div_rz_f64 : E_div_rz_f32), 2, one, a,
		                NONE);
	}
	return float_op(l, wide ? E_rcp_f64 : E_rcp_f32, 1, a, NONE, NONE);
}

static bool low_unary_float(struct lower *l, enum emu_op f32, enum emu_op f64)
{
	const struct xsrc a = low_src(l, 1, type_lane(l->in->type));
	return float_op(l, l->in->type == PTX_F64 ? f64 : f32, 1, a, NONE, NONE);
}

/* A function of one half, on one or on both halves of a pair. */
static bool low_half_function(struct lower *l, enum emu_op f16, enum emu_op bf16)
{
	const bool bf = l->in->type == PTX_BF16 || l->in->type == PTX_BF16X2;
	const enum emu_op op = bf ? bf16 : f16;
	const struct xsrc a = low_src(l, 1, 4);
	if (!type_pair(l->in->type)) {
		low_op1(l, op, low_dst(l, 0), a);
		return !l->failed;
	}
	const struct xsrc lo = src_reg(low_op1(l, op, -1, src_reg(low_op1(l, E_ext_u16, -1, a))));
	const struct xsrc hi =
		src_reg(low_op1(l, op, -1, src_reg(low_op2(l, E_shr_u32, -1, a, src_const(16)))));
	low_op2(l, E_pack32, low_dst(l, 0), lo, hi);
	return !l->failed;
}

/* --- abs, neg, min, max --- */

static uint64_t sign_bits(enum ptx_type t)
{
	return type_pair(t)   ? 0x80008000u
	       : type_half(t) ? 0x8000u
	       : t == PTX_F64 ? (uint64_t)1 << 63
	                      : 0x80000000u;
}

static bool low_abs_neg(struct lower *l, bool neg)
{
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const struct xsrc a = low_src(l, 1, lane);
	const int32_t d = low_dst(l, 0);
	if (type_float(in->type))
		return float_op(l,
		                lane == 8 ? (neg ? E_neg_f64 : E_abs_f64) : (neg ? E_neg_f32 : E_abs_f32),
		                1, a, NONE, NONE);
	if (is_floating(in->type)) {
		const uint64_t sign = sign_bits(in->type), rest = type_pair(in->type) ? 0x7fff7fff : 0x7fff;
		low_op2(l, neg ? E_xor_b32 : E_and_b32, d, a, src_const(neg ? sign : rest));
	} else if (ptx_type_bytes(in->type) == 2) {
		if (neg)
			return low_to16(l, low_op2(l, E_sub_b32, -1, src_const(0), a));
		low_op1(l, E_abs_s16, d, a);
	} else if (neg) {
		low_op2(l, lane == 8 ? E_sub_b64 : E_sub_b32, d, src_const(0), a);
	} else {
		low_op1(l, lane == 8 ? E_abs_s64 : E_abs_s32, d, a);
	}
	return !l->failed;
}

static bool low_min_max(struct lower *l, bool max)
{
	static const struct typed_op plain[2] = {
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
	if (is_floating(in->type)) {
		const enum emu_op op = of_type(in->flags & PF_NAN ? &with_nan[max] : &plain[max], in->type);
		if (op == E_COUNT)
			return low_refuse(l, "this form of min and max is not supported");
		if (!(in->flags & PF_XORSIGN))
			return float_op(l, op, 2, a, b, NONE);
		const uint64_t sign = sign_bits(in->type);
		const uint64_t rest = ~sign & (type_half(in->type) ? 0xffffu : 0xffffffffu);
		const struct xsrc s = src_reg(
			low_op2(l, E_and_b32, -1, src_reg(low_op2(l, E_xor_b32, -1, a, b)), src_const(sign)));
		a = src_reg(low_op2(l, E_and_b32, -1, a, src_const(rest)));
		b = src_reg(low_op2(l, E_and_b32, -1, b, src_const(rest)));
		low_op2(l, E_or_b32, d, src_reg(low_op2(l, op, -1, a, b)), s);
		return !l->failed;
	}
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

static bool low_sad(struct lower *l)
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

bool low_arithmetic(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool half = type_half(in->type) || type_pair(in->type);
	switch (in->op) {
	case OP_ADD:
	case OP_ADDC: return low_add(l, false);
	case OP_SUB:
	case OP_SUBC: return low_add(l, true);
	case OP_MUL: return low_mul(l);
	case OP_MAD:
	case OP_MADC:
	case OP_FMA: return low_mad(l);
	case OP_MUL24:
	case OP_MAD24: return low_mul24(l);
	case OP_DIV: return low_div(l, false);
	case OP_REM: return low_div(l, true);
	case OP_ABS: return low_abs_neg(l, false);
	case OP_NEG: return low_abs_neg(l, true);
	case OP_MIN: return low_min_max(l, false);
	case OP_MAX: return low_min_max(l, true);
	case OP_SAD: return low_sad(l);
	case OP_RCP: return low_rcp(l);
	case OP_SQRT:
		return low_unary_float(l, rounded(in, E_sqrt_f32, E_sqrt_rz_f32),
		                       rounded(in, E_sqrt_f64, E_sqrt_rz_f64));
	case OP_RSQRT: return low_unary_float(l, E_rsqrt_f32, E_rsqrt_f64);
	case OP_EX2:
		return half ? low_half_function(l, E_ex2_f16, E_ex2_bf16)
		            : low_unary_float(l, E_ex2_f32, E_COUNT);
	case OP_TANH:
		return half ? low_half_function(l, E_tanh_f16, E_tanh_bf16)
		            : low_unary_float(l, E_tanh_f32, E_COUNT);
	case OP_LG2: return low_unary_float(l, E_lg2_f32, E_COUNT);
	case OP_SIN: return low_unary_float(l, E_sin_f32, E_COUNT);
	case OP_COS: return low_unary_float(l, E_cos_f32, E_COUNT);
	case OP_SETP:
	case OP_SET:
	case OP_SELP:
	case OP_SLCT:
	case OP_TESTP: return low_compare(l);
	case OP_COPYSIGN:
		low_op2(l, in->type == PTX_F64 ? E_copysign_f64 : E_copysign_f32, low_dst(l, 0),
		        low_src(l, 1, type_lane(in->type)), low_src(l, 2, type_lane(in->type)));
		return !l->failed;
	default: return low_bits(l);
	}
}

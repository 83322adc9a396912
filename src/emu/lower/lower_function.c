/* Functions of one number, and signs. PTX ISA 9.0 sections 9.7.1, 9.7.3 and 9.7.4. */
#include "emu/lower/lower_inst.h"

#define NONE src_const(0)

/* rcp and rsqrt .approx.ftz.f64: the unit takes and gives upper words, the lower ones are zero. */
static bool upper_function(struct lower *l, enum emu_op op)
{
	const struct xsrc upper = src_const(0xffffffff00000000u);
	const struct xsrc a = src_reg(low_op2(l, E_and_b64, -1, low_src(l, 1, 8), upper));
	low_op2(l, E_and_b64, low_dst(l, 0), src_reg(low_op1(l, op, -1, a)), upper);
	return !l->failed;
}

bool low_rcp(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool wide = in->type == PTX_F64;
	if (wide && (in->flags & PF_APPROX))
		return upper_function(l, E_rcp_f64);
	const struct xsrc a = low_src(l, 1, wide ? 8 : 4);
	if (in->round > ROUND_RN) {
		const struct xsrc one = src_const(wide ? 0x3ff0000000000000u : 0x3f800000u);
		return low_float_op(l, low_rounded(in, E_div_f32, wide ? E_div_rz_f64 : E_div_rz_f32), 2,
		                    one, a, NONE);
	}
	return low_float_op(l, wide ? E_rcp_f64 : E_rcp_f32, 1, a, NONE, NONE);
}

static bool unary_function(struct lower *l, enum emu_op f32, enum emu_op f64)
{
	const struct xsrc a = low_src(l, 1, type_lane(l->in->type));
	return low_float_op(l, l->in->type == PTX_F64 ? f64 : f32, 1, a, NONE, NONE);
}

/* A function of one half, on one or on both halves of a pair. */
static bool half_function(struct lower *l, enum emu_op f16, enum emu_op bf16)
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

bool low_sqrt(struct lower *l)
{
	return unary_function(l, low_rounded(l->in, E_sqrt_f32, E_sqrt_rz_f32),
	                      low_rounded(l->in, E_sqrt_f64, E_sqrt_rz_f64));
}

static struct xsrc op2(struct lower *l, enum emu_op op, struct xsrc a, struct xsrc b)
{
	return src_reg(low_op2(l, op, -1, a, b));
}

static struct xsrc op3(struct lower *l, enum emu_op op, struct xsrc a, struct xsrc b, struct xsrc c)
{
	return src_reg(low_op3(l, op, -1, a, b, c));
}

/* @p ? @a : @b, of so many bytes */
static struct xsrc either(struct lower *l, unsigned bytes, int32_t p, struct xsrc a, struct xsrc b)
{
	return src_reg(low_select(l, -1, bytes, a, b, src_reg(p)));
}

/* rsqrt.approx.f64 as the assembler makes it: what the unit gives of the upper word, one step
 * nearer; subnormals are scaled before. Zeros, infinity and what has no root are its own business.
 */
static bool rsqrt_f64(struct lower *l)
{
	const struct xsrc a = low_src(l, 1, 8), infinity = src_const(0x7ff0000000000000u);
	const struct xsrc one = src_const(0x3ff0000000000000u), half = src_const(0x3fe0000000000000u);
	const struct xsrc upper = src_const(0xffffffff00000000u);
	const int32_t tiny =
		low_cmp(l, -1, CMP_LT, PTX_F64, a, src_const(0x0010000000000000u));           /* 2^-1022 */
	const struct xsrc up = either(l, 8, tiny, src_const(0x4350000000000000u), one);   /* 2^54 */
	const struct xsrc down = either(l, 8, tiny, src_const(0x41a0000000000000u), one); /* 2^27 */
	const struct xsrc x = op2(l, E_mul_f64, a, up);
	const struct xsrc guess = src_reg(low_op1(l, E_rsqrt_f64, -1, op2(l, E_and_b64, x, upper)));
	const struct xsrc y = op2(l, E_and_b64, guess, upper);
	const struct xsrc minus = src_reg(low_op1(l, E_neg_f64, -1, op2(l, E_mul_f64, y, y)));
	const struct xsrc off = op3(l, E_fma_f64, x, minus, one);
	const struct xsrc by = op3(l, E_fma_f64, off, src_const(0x3fd8000000000000u), half); /* 3/8 */
	const struct xsrc nearer = op3(l, E_fma_f64, by, op2(l, E_mul_f64, y, off), y);
	const int32_t positive = low_cmp(l, -1, CMP_GT, PTX_F64, a, src_const(0));
	const int32_t finite = low_cmp(l, -1, CMP_LT, PTX_F64, a, infinity);
	const int32_t usual = low_bool(l, -1, BOOL_AND, src_reg(positive), src_reg(finite));
	const struct xsrc other = src_reg(low_op1(l, E_rsqrt_f64, -1, a));
	low_select(l, low_dst(l, 0), 8, op2(l, E_mul_f64, nearer, down), other, src_reg(usual));
	return !l->failed;
}

bool low_rsqrt(struct lower *l)
{
	if (l->in->type == PTX_F64 && (l->in->flags & PF_FTZ))
		return upper_function(l, E_rsqrt_f64);
	return l->in->type == PTX_F64 ? rsqrt_f64(l) : unary_function(l, E_rsqrt_f32, E_COUNT);
}

/* Both by a factor where the magnitude of @b is beyond a limit. */
static void scale_where(struct lower *l, struct xsrc *a, struct xsrc *b, int32_t beyond,
                        uint32_t factor)
{
	const struct xsrc by = either(l, 4, beyond, src_const(factor), src_const(0x3f800000));
	*a = op2(l, E_mul_f32, *a, by);
	*b = op2(l, E_mul_f32, *b, by);
}

bool low_quotient(struct lower *l, struct xsrc a, struct xsrc b)
{
	const bool ftz = l->in->flags & PF_FTZ;
	const struct xsrc size = op2(l, E_and_b32, b, src_const(0x7fffffff));
	if (l->in->flags & PF_FULL) /* 2^126, 1/4 */
		scale_where(l, &a, &b, low_cmp(l, -1, CMP_GT, PTX_F32, size, src_const(0x7e800000)),
		            0x3e800000);
	if (ftz)
		b = low_flushed(l, b, PTX_F32);
	else /* 2^-126, 2^24 */
		scale_where(l, &a, &b, low_cmp(l, -1, CMP_LT, PTX_F32, size, src_const(0x00800000)),
		            0x4b800000);
	const struct xsrc inverse = src_reg(low_op1(l, E_rcp_f32, -1, b));
	return low_float_op(l, E_mul_f32, 2, a, low_flushed(l, inverse, PTX_F32), NONE);
}

bool low_ex2(struct lower *l)
{
	return l->in->type == PTX_F32 ? unary_function(l, E_ex2_f32, E_COUNT)
	                              : half_function(l, E_ex2_f16, E_ex2_bf16);
}

bool low_tanh(struct lower *l)
{
	return l->in->type == PTX_F32 ? unary_function(l, E_tanh_f32, E_COUNT)
	                              : half_function(l, E_tanh_f16, E_tanh_bf16);
}

bool low_lg2(struct lower *l)
{
	return unary_function(l, E_lg2_f32, E_COUNT);
}

bool low_sin(struct lower *l)
{
	return unary_function(l, E_sin_f32, E_COUNT);
}

bool low_cos(struct lower *l)
{
	return unary_function(l, E_cos_f32, E_COUNT);
}

/* --- signs --- */

uint64_t low_sign_bits(enum ptx_type t)
{
	return type_pair(t)   ? 0x80008000u
	       : type_half(t) ? 0x8000u
	       : t == PTX_F64 ? (uint64_t)1 << 63
	                      : 0x80000000u;
}

static bool abs_neg(struct lower *l, bool neg)
{
	const struct ptx_inst *in = l->in;
	const unsigned lane = type_lane(in->type);
	const struct xsrc a = low_src(l, 1, lane);
	const int32_t d = low_dst(l, 0);
	if (type_float(in->type))
		return low_float_op(
			l, lane == 8 ? (neg ? E_neg_f64 : E_abs_f64) : (neg ? E_neg_f32 : E_abs_f32), 1, a,
			NONE, NONE);
	if (type_floating(in->type)) {
		static const enum emu_op ops[2][2][2] = {
			/* of a pair, of bfloat16, the negative */
			{ { E_abs_f16, E_neg_f16 }, { E_abs_bf16, E_neg_bf16 } },
			{ { E_abs_f16x2, E_neg_f16x2 }, { E_abs_bf16x2, E_neg_bf16x2 } }
		};
		const bool bf = in->type == PTX_BF16 || in->type == PTX_BF16X2;
		low_op1(l, ops[type_pair(in->type)][bf][neg], d, a);
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

bool low_abs(struct lower *l)
{
	return abs_neg(l, false);
}

bool low_neg(struct lower *l)
{
	return abs_neg(l, true);
}

bool low_copysign(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc from = low_src(l, 1, lane), to = low_src(l, 2, lane);
	low_op2(l, lane == 8 ? E_copysign_f64 : E_copysign_f32, low_dst(l, 0), from, to);
	return !l->failed;
}

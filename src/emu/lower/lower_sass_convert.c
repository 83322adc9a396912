/* Conversions of machine code between integers and floating point. */
#include "emu/lower/sass_lower.h"

#define ROUND_STRIDE (E_cvt_rm_f32_s64 - E_cvt_rz_f32_s64)

static enum emu_op rounded(const struct sass_lower *s, enum emu_op nearest,
                           enum emu_op towards_zero)
{
	if (sl_has(s, SASS_MOD_RZ) || sl_has(s, SASS_MOD_TRUNC))
		return towards_zero;
	if (sl_has(s, SASS_MOD_RM) || sl_has(s, SASS_MOD_FLOOR))
		return (enum emu_op)(towards_zero + ROUND_STRIDE);
	if (sl_has(s, SASS_MOD_RP) || sl_has(s, SASS_MOD_CEIL))
		return (enum emu_op)(towards_zero + 2 * ROUND_STRIDE);
	return nearest;
}

static bool nearest(const struct sass_lower *s)
{
	return rounded(s, E_COUNT, E_cvt_rz_f32_s64) == E_COUNT;
}

/* To a half or a bfloat16, rounded once as the modifiers say. */
static void set_rounded_half(struct sass_lower *s, bool bf, bool from64, struct xsrc v)
{
	static const enum emu_op ops[2][4] = {
		{ E_cvt_f16_f64, E_cvt_rz_f16_f64, E_cvt_rm_f16_f64, E_cvt_rp_f16_f64 },
		{ E_cvt_bf16_f64, E_cvt_rz_bf16_f64, E_cvt_rm_bf16_f64, E_cvt_rp_bf16_f64 },
	};
	const unsigned mode = sl_has(s, SASS_MOD_RZ)   ? 1
	                      : sl_has(s, SASS_MOD_RM) ? 2
	                      : sl_has(s, SASS_MOD_RP) ? 3
	                                               : 0;
	if (!from64 && !mode) {
		sl_set1(s, sl_dst(s, 0), bf ? E_cvt_bf16_f32 : E_cvt_f16_f32, v);
		return;
	}
	sl_set1(s, sl_dst(s, 0), ops[bf][mode], from64 ? v : sl_op1(s, E_cvt_f64_f32, v));
}

struct xsrc sl_integral(struct sass_lower *s, struct xsrc v, bool wide)
{
	enum emu_op op = wide ? E_rint_f64 : E_rint_f32;
	if (sl_has(s, SASS_MOD_TRUNC))
		op = wide ? E_trunc_f64 : E_trunc_f32;
	else if (sl_has(s, SASS_MOD_FLOOR))
		op = wide ? E_floor_f64 : E_floor_f32;
	else if (sl_has(s, SASS_MOD_CEIL))
		op = wide ? E_ceil_f64 : E_ceil_f32;
	return sl_op1(s, op, v);
}

/* The part of a source that its suffix names, extended by @sign. */
static struct xsrc part(struct sass_lower *s, unsigned bits, bool sign)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	struct xsrc v = sl_bits(s, 0);
	const unsigned at = o->sel == SASS_MOD_B3 ? 24
	                    : o->sel == SASS_MOD_B2 || o->sel == SASS_MOD_H1 || o->sel == SASS_MOD_H1_H1
	                        ? 16
	                    : o->sel == SASS_MOD_B1 ? 8
	                                            : 0;
	if (at)
		v = sl_op2(s, E_shr_u32, v, src_const(at));
	if (bits == 8)
		return sl_op1(s, sign ? E_ext_s8 : E_ext_u8, v);
	return sl_op1(s, sign ? E_ext_s16 : E_ext_u16, v);
}

/* A half as float32, which holds it. */
static struct xsrc half_source(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	const bool bf = sl_has(s, SASS_MOD_BF16);
	const bool number = o->kind == SASS_OPND_FLOAT; /* encoded as the half that it is */
	const struct xsrc bits = number ? src_const(s->i->code[0] >> 32 & 0xffff) : part(s, 16, false);
	struct xsrc v = sl_op1(s, bf ? E_cvt_f32_bf16 : E_cvt_f32_f16, bits);
	if (number)
		return v;
	if (o->flags & SASS_ABS)
		v = sl_op1(s, E_abs_f32, v);
	return o->flags & SASS_NEG ? sl_op1(s, E_neg_f32, v) : v;
}

/* The integer that I2F reads. */
static struct xsrc integer_source(struct sass_lower *s, bool from64, bool sign)
{
	if (sl_has(s, SASS_MOD_U8) || sl_has(s, SASS_MOD_S8))
		return part(s, 8, sign);
	if (sl_has(s, SASS_MOD_U16) || sl_has(s, SASS_MOD_S16))
		return part(s, 16, sign);
	return from64 ? sl_wide(s, 0, sign) : sl_int(s, 0);
}

/* Integer to float: I2F[.F64].S32, I2FP.F32.U32. */
bool sl_i2f(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	const bool wide = sl_has(s, SASS_MOD_F64);
	const bool from64 = sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_S64);
	const bool sign = !(sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_U32) ||
	                    sl_has(s, SASS_MOD_U16) || sl_has(s, SASS_MOD_U8));
	const bool bf = sl_has(s, SASS_MOD_BF16);
	if (!o || o->flags & SASS_ABS)
		return sl_refuse(s, "this conversion");
	struct xsrc v = integer_source(s, from64, sign);
	if (bf || sl_has(s, SASS_MOD_F16)) { /* rounded to odd on the way, so it is rounded once */
		if (!from64)
			v = sl_op1(s, sign ? E_sext64 : E_zext64, v);
		set_rounded_half(s, bf, true, sl_op1(s, sign ? E_odd_f64_s64 : E_odd_f64_u64, v));
		return true;
	}
	if (!from64 && !wide && nearest(s)) {
		sl_set1(s, sl_dst(s, 0), sign ? E_cvt_f32_s32 : E_cvt_f32_u32, v);
		return true;
	}
	if (!from64 && wide) {
		sl_set_wide(s, sl_op1(s, sign ? E_cvt_f64_s32 : E_cvt_f64_u32, v));
		return true;
	}
	if (!from64)
		v = sl_op1(s, sign ? E_sext64 : E_zext64, v);
	if (wide) {
		const enum emu_op op = sign ? rounded(s, E_cvt_f64_s64, E_cvt_rz_f64_s64)
		                            : rounded(s, E_cvt_f64_u64, E_cvt_rz_f64_u64);
		sl_set_wide(s, sl_op1(s, op, v));
		return true;
	}
	sl_set1(s, sl_dst(s, 0),
	        sign ? rounded(s, E_cvt_f32_s64, E_cvt_rz_f32_s64)
	             : rounded(s, E_cvt_f32_u64, E_cvt_rz_f32_u64),
	        v);
	return true;
}

/* What the narrow integers of F2I hold. */
struct clamp {
	enum sass_mod to;
	int32_t low, high;
};

static const struct clamp *clamps_to(const struct sass_lower *s)
{
	static const struct clamp all[] = { { SASS_MOD_U8, 0, 0xff },
		                                { SASS_MOD_S8, -0x80, 0x7f },
		                                { SASS_MOD_U16, 0, 0xffff },
		                                { SASS_MOD_S16, -0x8000, 0x7fff } };
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (sl_has(s, all[k].to))
			return &all[k];
	return NULL;
}

static void set_clamped(struct sass_lower *s, struct clamp c, struct xsrc v)
{
	v = sl_op2(s, E_min_s32, v, src_const((uint32_t)c.high));
	sl_set2(s, sl_dst(s, 0), E_max_s32, v, src_const((uint32_t)c.low));
}

/* Float to integer: F2I[.FTZ].U32[.F64].TRUNC. NTZ, no trap on zero, changes nothing here. */
bool sl_f2i(struct sass_lower *s)
{
	static const enum emu_op ops[2][2][2] = {
		/* [from float64][to 64 bits][signed] */
		{ { E_cvt_u32_f32, E_cvt_s32_f32 }, { E_cvt_u64_f32, E_cvt_s64_f32 } },
		{ { E_cvt_u32_f64, E_cvt_s32_f64 }, { E_cvt_u64_f64, E_cvt_s64_f64 } },
	};
	const bool from64 = sl_has(s, SASS_MOD_F64);
	const bool to64 = sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_S64);
	const bool sign = !(sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_U32));
	const bool half = sl_has(s, SASS_MOD_F16) || sl_has(s, SASS_MOD_BF16);
	struct xsrc v = half ? half_source(s) : from64 ? sl_f64(s, 0) : sl_f32(s, 0);
	if (sl_has(s, SASS_MOD_FTZ) && !from64)
		v = sl_op1(s, E_ftz_f32, v);
	v = sl_integral(s, v, from64);
	if (to64)
		sl_set_wide(s, sl_op1(s, ops[from64][1][sign], v));
	else if (clamps_to(s))
		set_clamped(s, *clamps_to(s), sl_op1(s, ops[from64][0][1], v));
	else
		sl_set1(s, sl_dst(s, 0), ops[from64][0][sign], v);
	return true;
}

/* Float to float: F2F.F64.F32 names destination, then source. */
bool sl_f2f(struct sass_lower *s)
{
	enum sass_mod types[2] = { SASS_MOD_F32, SASS_MOD_F32 };
	unsigned n = 0;
	for (unsigned k = 0; k < s->i->n_mods && n < 2; k++) {
		const enum sass_mod m = s->i->mods[k];
		if (m == SASS_MOD_F64 || m == SASS_MOD_F32 || m == SASS_MOD_F16 || m == SASS_MOD_BF16)
			types[n++] = m;
	}
	const bool flush = sl_has(s, SASS_MOD_FTZ);
	if (types[1] == SASS_MOD_F16 || types[1] == SASS_MOD_BF16) { /* what holds more: exact */
		const struct xsrc v = half_source(s);
		if (types[0] == SASS_MOD_F32)
			sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
		else if (types[0] == SASS_MOD_F64)
			sl_set_wide(s, sl_op1(s, E_cvt_f64_f32, v));
		else
			return sl_refuse(s, "this conversion");
		return true;
	}
	if (types[1] == SASS_MOD_F32 && types[0] == SASS_MOD_F64) {
		struct xsrc v = sl_f32(s, 0);
		if (flush)
			v = sl_op1(s, E_ftz_f32, v);
		sl_set_wide(s, sl_op1(s, E_cvt_f64_f32, v));
		return true;
	}
	if (types[1] == SASS_MOD_F64 && types[0] == SASS_MOD_F32) {
		const enum emu_op op = rounded(s, E_cvt_f32_f64, E_cvt_rz_f32_f64);
		struct xsrc v = sl_op1(s, op, sl_f64(s, 0));
		if (flush)
			v = sl_op1(s, E_ftz_f32, v);
		sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
		return true;
	}
	const bool bf = types[0] == SASS_MOD_BF16, from64 = types[1] == SASS_MOD_F64;
	if ((!bf && types[0] != SASS_MOD_F16) || (!from64 && types[1] != SASS_MOD_F32))
		return sl_refuse(s, "this conversion");
	set_rounded_half(s, bf, from64, from64 ? sl_f64(s, 0) : sl_f32(s, 0));
	return true;
}

/* RELU: negative numbers become zero. */
static struct xsrc not_negative(struct sass_lower *s, struct xsrc v)
{
	return sl_has(s, SASS_MOD_RELU) ? sl_op2(s, E_max_nan_f32, v, src_const(0)) : v;
}

/* Two 8-bit floats: from two float32 or a pair of halves, beside what the last source has in its
 * lower half; or as a pair of halves. */
static bool small_floats(struct sass_lower *s)
{
	const bool three = sl_has(s, SASS_MOD_E4M3);
	const enum ptx_type type = three ? PTX_E4M3X2 : PTX_E5M2X2;
	const struct sass_operand *o = sl_src_operand(s, 0);
	if (sl_has(s, SASS_MOD_UNPACK_B) && sl_has(s, SASS_MOD_F16) && o &&
	    (o->sel == SASS_MOD_NONE || o->sel == SASS_MOD_H1)) {
		const struct xsrc pair = low_fp8_pair(&s->l, type, sl_bits(s, 0), o->sel == SASS_MOD_H1);
		if (sl_has(s, SASS_MOD_RELU))
			sl_set2(s, sl_dst(s, 0), E_max_nan_f16x2, pair, src_const(0));
		else
			sl_set1(s, sl_dst(s, 0), E_mov_b32, pair);
		return true;
	}
	const bool from_pair = sl_has(s, SASS_MOD_UNPACK_B_MERGE_C);
	if (!sl_has(s, SASS_MOD_SATFINITE) || (!from_pair && !sl_has(s, SASS_MOD_PACK_AB_MERGE_C)))
		return sl_refuse(s, "this conversion");
	struct xsrc high, low;
	if (from_pair) {
		const struct xsrc pair = sl_bits(s, 0);
		low = sl_op1(s, E_cvt_f32_f16, sl_op1(s, E_ext_u16, pair));
		high = sl_op1(s, E_cvt_f32_f16, sl_op2(s, E_shr_u32, pair, src_const(16)));
	} else {
		high = sl_f32(s, 0);
		low = sl_f32(s, 1);
	}
	high = not_negative(s, high);
	low = not_negative(s, low);
	const struct xsrc upper = sl_op2(s, E_shl_b32, low_to_fp8(&s->l, type, high), src_const(8));
	const struct xsrc both = sl_op2(s, E_or_b32, upper, low_to_fp8(&s->l, type, low));
	const struct xsrc beside = sl_op2(s, E_shl_b32, sl_bits(s, from_pair ? 1 : 2), src_const(16));
	sl_set2(s, sl_dst(s, 0), E_or_b32, both, beside);
	return true;
}

/* A float32 as a half. */
static struct xsrc one_half(struct sass_lower *s, struct xsrc v)
{
	const bool bf = sl_has(s, SASS_MOD_BF16), zero = sl_has(s, SASS_MOD_RZ);
	const enum emu_op op = bf ? (zero ? E_cvt_rz_bf16_f32 : E_cvt_bf16_f32)
	                          : (zero ? E_cvt_rz_f16_f32 : E_cvt_f16_f32);
	const struct xsrc half = sl_op1(s, op, not_negative(s, v));
	return sl_has(s, SASS_MOD_SATFINITE) ? low_finite(&s->l, half, bf ? 0x7f80 : 0x7c00, 1) : half;
}

/* Two float32 as a pair of halves, the first one in the upper half. */
bool sl_f2fp(struct sass_lower *s)
{
	static const enum sass_mod unknown[] = { SASS_MOD_E2M1, SASS_MOD_UNPACK_B,
		                                     SASS_MOD_PACK_AB_MERGE_C, SASS_MOD_UNPACK_B_MERGE_C };
	if (sl_has(s, SASS_MOD_E4M3) || sl_has(s, SASS_MOD_E5M2))
		return small_floats(s);
	for (unsigned k = 0; k < sizeof unknown / sizeof *unknown; k++)
		if (sl_has(s, unknown[k]))
			return sl_refuse(s, "this conversion");
	if (sl_has(s, SASS_MOD_TF32)) {
		struct xsrc v = sl_f32(s, 0);
		v = low_to_tf32(&s->l, v, !sl_has(s, SASS_MOD_RZ), sl_has(s, SASS_MOD_RELU));
		if (sl_has(s, SASS_MOD_SATFINITE))
			v = low_finite(&s->l, v, 0x7f800000, 0x2000);
		sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
		return true;
	}
	if (sl_has(s, SASS_MOD_MERGE_C)) { /* one number, below the lower half of the last source */
		const struct sass_operand *above = sl_src_operand(s, 1);
		const struct xsrc v = one_half(s, sl_f32(s, 0));
		if (!above || above->reg == SASS_RZ)
			sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
		else
			sl_set2(s, sl_dst(s, 0), E_pack32, v, sl_bits(s, 1));
		return true;
	}
	const struct xsrc high = one_half(s, sl_f32(s, 0));
	const struct xsrc low = one_half(s, sl_f32(s, 1));
	sl_set2(s, sl_dst(s, 0), E_pack32, low, high);
	return true;
}

bool sl_frnd(struct sass_lower *s)
{
	const bool bf = sl_has(s, SASS_MOD_BF16);
	if (bf || sl_has(s, SASS_MOD_F16)) {
		const struct xsrc whole = sl_integral(s, half_source(s), false);
		sl_set1(s, sl_dst(s, 0), bf ? E_cvt_bf16_f32 : E_cvt_f16_f32, whole);
		return true;
	}
	if (sl_has(s, SASS_MOD_F64)) {
		sl_set_wide(s, sl_integral(s, sl_f64(s, 0), true));
		return true;
	}
	struct xsrc v = sl_f32(s, 0);
	if (sl_has(s, SASS_MOD_FTZ))
		v = sl_op1(s, E_ftz_f32, v);
	sl_set1(s, sl_dst(s, 0), E_mov_b32, sl_integral(s, v, false));
	return true;
}

/*
 * cvt: conversions between integers, floating-point types and widths (PTX ISA 9.0, 9.7.9 cvt).
 *
 * A conversion is split into: narrow or extend the source, convert, clamp, store in the width of
 * the destination register.
 */
#include "emu/lower/lower_inst.h"

#define ROUND_STRIDE (E_cvt_rm_f32_s64 - E_cvt_rz_f32_s64)

static bool is_floating(enum ptx_type t)
{
	return type_float(t) || type_half(t);
}

static enum emu_op directed_variant(const struct ptx_inst *in, enum emu_op nearest, enum emu_op rz)
{
	switch (in->round) {
	case ROUND_RZ: return rz;
	case ROUND_RM: return (enum emu_op)(rz + ROUND_STRIDE);
	case ROUND_RP: return (enum emu_op)(rz + 2 * ROUND_STRIDE);
	default: return nearest;
	}
}

/* The source as a full lane: 8- and 16-bit values extended by their own sign. */
static struct xsrc integer_source(struct lower *l, enum ptx_type t)
{
	const struct xsrc a = low_src(l, 1, type_lane(t));
	switch (t) {
	case PTX_U8:
	case PTX_B8: return src_reg(low_op1(l, E_ext_u8, -1, a));
	case PTX_S8: return src_reg(low_op1(l, E_ext_s8, -1, a));
	case PTX_U16:
	case PTX_B16: return src_reg(low_op1(l, E_ext_u16, -1, a));
	case PTX_S16: return src_reg(low_op1(l, E_ext_s16, -1, a));
	default: return a;
	}
}

static struct xsrc clamp_between(struct lower *l, struct xsrc v, bool wide, bool sign, uint64_t low,
                                 uint64_t high, bool use_low, bool use_high)
{
	static const enum emu_op min[2][2] = { { E_min_u32, E_min_s32 }, { E_min_u64, E_min_s64 } };
	static const enum emu_op max[2][2] = { { E_max_u32, E_max_s32 }, { E_max_u64, E_max_s64 } };
	if (use_high)
		v = src_reg(low_op2(l, min[wide][sign], -1, v, src_const(high)));
	if (use_low)
		v = src_reg(low_op2(l, max[wide][sign], -1, v, src_const(low)));
	return v;
}

static unsigned reg_width(struct lower *l, int32_t d) /* bytes: 2, 4 or 8 */
{
	if ((uint32_t)d < l->ir->func->n_regs)
		return ptx_type_bytes(l->ir->func->regs[d].type);
	return l->ir->regs[d].bytes;
}

/* A lane whose low bits are a value of integer type @t, extended into the destination. */
static bool store_integer(struct lower *l, enum ptx_type t, struct xsrc v)
{
	const int32_t d = low_dst(l, 0);
	if (d < 0)
		return true;
	const unsigned width = reg_width(l, d);
	switch (t) {
	case PTX_U8: v = src_reg(low_op1(l, E_ext_u8, -1, v)); break;
	case PTX_S8: v = src_reg(low_op1(l, E_ext_s8, -1, v)); break;
	case PTX_U16: v = src_reg(low_op1(l, E_ext_u16, -1, v)); break;
	case PTX_S16: v = src_reg(low_op1(l, E_ext_s16, -1, v)); break;
	default: break;
	}
	if (width == 8 && type_lane(t) == 4)
		low_op1(l, type_signed(t) ? E_sext64 : E_zext64, d, v);
	else if (width == 2)
		low_op1(l, E_ext_u16, d, v);
	else
		low_op1(l, width == 8 ? E_mov_b64 : E_mov_b32, d, v);
	return !l->failed;
}

static bool integer_to_integer(struct lower *l)
{
	const enum ptx_type to = l->in->type, from = l->in->type2;
	const bool wide = type_lane(from) == 8, sign = type_signed(from), to_sign = type_signed(to);
	const unsigned bits = 8 * ptx_type_bytes(to);
	struct xsrc v = integer_source(l, from);
	if (l->in->flags & PF_SAT) { /* clamp in the source's type to what the target can hold */
		const unsigned from_bits = wide ? 64 : 32;
		const uint64_t ones =
			((uint64_t)1 << (bits - 1)) - 1 + (to_sign ? 0 : (uint64_t)1 << (bits - 1));
		const uint64_t low = to_sign ? ~(((uint64_t)1 << (bits - 1)) - 1) : 0;
		const bool high_needed = bits < from_bits || (to_sign && !sign);
		const bool low_needed = sign && (!to_sign || bits < from_bits);
		if (sign && !to_sign && bits >= from_bits)
			v = clamp_between(l, v, wide, sign, 0, 0, true, false);
		else
			v = clamp_between(l, v, wide, sign, wide ? low : (uint32_t)low,
			                  wide ? ones : (uint32_t)ones, low_needed,
			                  high_needed && bits <= from_bits);
	}
	if (type_lane(to) == 8 && !wide)
		v = src_reg(low_op1(l, sign ? E_sext64 : E_zext64, -1, v));
	else if (type_lane(to) == 4 && wide)
		v = src_reg(low_op1(l, E_trunc32, -1, v));
	return store_integer(l, to, v);
}

/* Rounds to an integral value in the same type, as .rni .rzi .rmi .rpi say. */
static struct xsrc round_to_integral(struct lower *l, struct xsrc v, bool f64)
{
	switch (l->in->round) {
	case ROUND_RNI: return src_reg(low_op1(l, f64 ? E_rint_f64 : E_rint_f32, -1, v));
	case ROUND_RZI: return src_reg(low_op1(l, f64 ? E_trunc_f64 : E_trunc_f32, -1, v));
	case ROUND_RMI: return src_reg(low_op1(l, f64 ? E_floor_f64 : E_floor_f32, -1, v));
	case ROUND_RPI: return src_reg(low_op1(l, f64 ? E_ceil_f64 : E_ceil_f32, -1, v));
	default: return v;
	}
}

/* Any floating source as float32 or, for float64, as it is. */
static struct xsrc float_source(struct lower *l, bool *f64)
{
	const enum ptx_type from = l->in->type2;
	*f64 = from == PTX_F64;
	struct xsrc v = low_src(l, 1, type_lane(from));
	if (from == PTX_F16)
		v = src_reg(low_op1(l, E_cvt_f32_f16, -1, v));
	else if (from == PTX_BF16)
		v = src_reg(low_op1(l, E_cvt_f32_bf16, -1, v));
	else if (from == PTX_F32 && (l->in->flags & PF_FTZ))
		v = src_reg(low_op1(l, E_ftz_f32, -1, v));
	return v;
}

static bool float_to_integer(struct lower *l)
{
	const enum ptx_type to = l->in->type;
	bool f64;
	struct xsrc v = float_source(l, &f64);
	v = round_to_integral(l, v, f64);
	enum emu_op op;
	switch (to) {
	case PTX_S64: op = f64 ? E_cvt_s64_f64 : E_cvt_s64_f32; break;
	case PTX_U64:
	case PTX_B64: op = f64 ? E_cvt_u64_f64 : E_cvt_u64_f32; break;
	case PTX_U32:
	case PTX_B32: op = f64 ? E_cvt_u32_f64 : E_cvt_u32_f32; break;
	default: op = f64 ? E_cvt_s32_f64 : E_cvt_s32_f32; break;
	}
	struct xsrc r = src_reg(low_op1(l, op, -1, v));
	switch (to) { /* narrow targets clamp too */
	case PTX_U8: r = clamp_between(l, r, false, true, 0, 0xff, true, true); break;
	case PTX_S8: r = clamp_between(l, r, false, true, 0xffffff80u, 0x7f, true, true); break;
	case PTX_U16: r = clamp_between(l, r, false, true, 0, 0xffff, true, true); break;
	case PTX_S16: r = clamp_between(l, r, false, true, 0xffff8000u, 0x7fff, true, true); break;
	default: break;
	}
	return store_integer(l, to, r);
}

/* To one of the 16-bit types, rounded once, as the instruction says. */
static void round_to_half(struct lower *l, int32_t d, enum ptx_type to, struct xsrc v, bool f64)
{
	static const enum emu_op from_f64[2][4] = {
		{ E_cvt_bf16_f64, E_cvt_rz_bf16_f64, E_cvt_rm_bf16_f64, E_cvt_rp_bf16_f64 },
		{ E_cvt_f16_f64, E_cvt_rz_f16_f64, E_cvt_rm_f16_f64, E_cvt_rp_f16_f64 },
	};
	static const enum emu_op from_f32[2] = { E_cvt_bf16_f32, E_cvt_f16_f32 };
	const bool f16 = to == PTX_F16;
	unsigned mode;
	switch (l->in->round) {
	case ROUND_RZ: mode = 1; break;
	case ROUND_RM: mode = 2; break;
	case ROUND_RP: mode = 3; break;
	default: mode = 0;
	}
	if (!f64 && mode)
		v = src_reg(low_op1(l, E_cvt_f64_f32, -1, v));
	low_op1(l, f64 || mode ? from_f64[f16][mode] : from_f32[f16], d, v);
}

static bool integer_to_float(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool wide = type_lane(in->type2) == 8, sign = type_signed(in->type2);
	const bool half = type_half(in->type);
	const int32_t d = low_dst(l, 0);
	struct xsrc v = integer_source(l, in->type2);
	const bool as64 = wide || half || in->round > ROUND_RN;
	if (as64 && !wide) /* one path for directed rounding: 64-bit sources */
		v = src_reg(low_op1(l, sign ? E_sext64 : E_zext64, -1, v));
	if (half) {
		v = src_reg(low_op1(l, sign ? E_odd_f64_s64 : E_odd_f64_u64, -1, v));
		round_to_half(l, d, in->type, v, true);
		return !l->failed;
	}
	enum emu_op op;
	if (in->type == PTX_F64)
		op = as64 ? (sign ? directed_variant(in, E_cvt_f64_s64, E_cvt_rz_f64_s64)
		                  : directed_variant(in, E_cvt_f64_u64, E_cvt_rz_f64_u64))
		          : (sign ? E_cvt_f64_s32 : E_cvt_f64_u32);
	else
		op = as64 ? (sign ? directed_variant(in, E_cvt_f32_s64, E_cvt_rz_f32_s64)
		                  : directed_variant(in, E_cvt_f32_u64, E_cvt_rz_f32_u64))
		          : (sign ? E_cvt_f32_s32 : E_cvt_f32_u32);
	const bool sat = in->flags & PF_SAT;
	const int32_t r = low_op1(l, op, sat ? -1 : d, v);
	if (sat)
		low_op1(l, in->type == PTX_F64 ? E_sat_f64 : E_sat_f32, d, src_reg(r));
	return !l->failed;
}

struct xsrc low_finite(struct lower *l, struct xsrc v, uint32_t infinity, uint32_t step)
{
	const uint32_t sizes = infinity > 0xffff ? 0x7fffffff : 0x7fff;
	const struct xsrc size = src_reg(low_op2(l, E_and_b32, -1, v, src_const(sizes)));
	const int32_t beyond = low_cmp(l, -1, CMP_EQ, PTX_U32, size, src_const(infinity));
	const struct xsrc less = src_reg(low_op2(l, E_sub_b32, -1, v, src_const(step)));
	return src_reg(low_select(l, -1, 4, less, v, src_reg(beyond)));
}

static bool to_half(struct lower *l, int32_t d, enum ptx_type to, struct xsrc v, bool f64)
{
	if (l->in->flags & PF_RELU)
		v = src_reg(low_op2(l, E_max_nan_f32, -1, v, src_const(0)));
	if (!(l->in->flags & PF_SATFINITE)) {
		round_to_half(l, d, to, v, f64);
		return !l->failed;
	}
	const int32_t r = low_temp(l, 4);
	round_to_half(l, r, to, v, f64);
	low_op1(l, E_mov_b32, d, low_finite(l, src_reg(r), to == PTX_F16 ? 0x7c00 : 0x7f80, 1));
	return !l->failed;
}

static bool float_to_float(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const int32_t d = low_dst(l, 0);
	bool f64;
	struct xsrc v = float_source(l, &f64);
	v = round_to_integral(l, v, f64);
	const bool sat = in->flags & PF_SAT, ftz = (in->flags & PF_FTZ) && in->type == PTX_F32;
	if (type_half(in->type)) {
		if (sat)
			v = src_reg(low_op1(l, f64 ? E_sat_f64 : E_sat_f32, -1, v));
		return to_half(l, d, in->type, v, f64);
	}
	if (in->type == PTX_F64) {
		if (!f64)
			v = src_reg(low_op1(l, E_cvt_f64_f32, -1, v));
		low_op1(l, sat ? E_sat_f64 : E_mov_b64, d, v);
		return !l->failed;
	}
	if (f64)
		v = src_reg(low_op1(l, directed_variant(in, E_cvt_f32_f64, E_cvt_rz_f32_f64), -1, v));
	if (ftz)
		v = src_reg(low_op1(l, E_ftz_f32, -1, v));
	if (in->flags & PF_RELU)
		v = src_reg(low_op2(l, E_max_nan_f32, -1, v, src_const(0)));
	low_op1(l, sat ? E_sat_f32 : E_mov_b32, d, v);
	return !l->failed;
}

/* .rna has an operation of its own; .rn and .rz drop 13 bits by whole numbers, .relu also negative
 * ones. NaN becomes the usual one without those bits, as on an H200; infinities stay. */
#define TF32_NAN 0x7fffe000

static struct xsrc tf32_relu(struct lower *l, struct xsrc v, bool relu)
{
	if (!relu)
		return v;
	const struct xsrc not_negative = src_reg(low_op2(l, E_max_nan_f32, -1, v, src_const(0)));
	return src_reg(low_op2(l, E_and_b32, -1, not_negative, src_const(0xffffe000)));
}

struct xsrc low_to_tf32(struct lower *l, struct xsrc v, bool nearest, bool relu)
{
	const struct xsrc bit = src_reg(low_op3(l, E_bfe_u32, -1, v, src_const(13), src_const(1)));
	const struct xsrc half = src_reg(low_op2(l, E_add_b32, -1, bit, src_const(0xfff)));
	const struct xsrc sum = src_reg(low_op2(l, E_add_b32, -1, v, nearest ? half : src_const(0)));
	const struct xsrc cut = src_reg(low_op2(l, E_and_b32, -1, sum, src_const(0xffffe000)));
	const struct xsrc nan = src_reg(low_cmp(l, -1, CMP_NAN, PTX_F32, v, v));
	return tf32_relu(l, src_reg(low_select(l, -1, 4, src_const(TF32_NAN), cut, nan)), relu);
}

static bool to_tf32(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct xsrc v = low_src(l, 1, 4);
	const bool relu = in->flags & PF_RELU;
	if (in->round == ROUND_RN || in->round == ROUND_RZ)
		v = low_to_tf32(l, v, in->round == ROUND_RN, relu);
	else
		v = tf32_relu(l, src_reg(low_op1(l, E_cvt_tf32_f32, -1, v)), relu);
	if (in->flags & PF_SATFINITE)
		v = src_reg(low_op1(l, E_mov_b32, -1, low_finite(l, v, 0x7f800000, 0x2000)));
	low_op1(l, E_mov_b32, low_dst(l, 0), v);
	return !l->failed;
}

/* cvt.pack: a and b limited to the type, side by side before c. */
bool low_cvt_pack(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool half = in->type == PTX_U4 || in->type == PTX_S4;
	const unsigned bits = half ? 4 : 8 * ptx_type_bytes(in->type);
	const bool sign = in->type == PTX_S4 || in->type == PTX_S8 || in->type == PTX_S16;
	const uint32_t most = (1u << (bits - sign)) - 1, least = sign ? ~most : 0;
	struct xsrc part[2];
	for (unsigned i = 0; i < 2; i++)
		part[i] = clamp_between(l, low_src(l, 1 + i, 4), false, true, least, most, true, true);
	struct xsrc d = src_const(0);
	if (in->opnd[3].kind != OPND_NONE && bits < 16)
		d = src_reg(low_op2(l, E_shl_b32, -1, low_src(l, 3, 4), src_const(2 * bits)));
	for (unsigned i = 0; i < 2; i++)
		d = src_reg(
			low_op4(l, E_bfi_b32, -1, part[1 - i], d, src_const(i * bits), src_const(bits)));
	low_op1(l, E_mov_b32, low_dst(l, 0), d);
	return !l->failed;
}

bool low_cvt(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	if (type_fp8(in->type) || type_fp8(in->type2))
		return low_cvt_fp8(l);
	if (type_pair(in->type)) { /* two float32: a to the high half, b to the low one */
		const enum ptx_type half = in->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
		const int32_t hi = low_temp(l, 4), lo = low_temp(l, 4);
		if (in->type2 != PTX_F32)
			return low_refuse(l, "only two .f32 sources are supported");
		if (!to_half(l, hi, half, low_src(l, 1, 4), false) ||
		    !to_half(l, lo, half, low_src(l, 2, 4), false))
			return false;
		low_op2(l, E_pack32, low_dst(l, 0), src_reg(lo), src_reg(hi));
		return !l->failed;
	}
	if (in->type == PTX_TF32)
		return to_tf32(l);
	if (is_floating(in->type))
		return is_floating(in->type2) ? float_to_float(l) : integer_to_float(l);
	return is_floating(in->type2) ? float_to_integer(l) : integer_to_integer(l);
}

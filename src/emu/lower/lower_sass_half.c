/* Halves and bfloat16 in pairs in machine code: sums, products, comparisons. */
#include "emu/lower/sass_lower.h"

#define NONE src_const(0)

/* The halves of a register that a suffix names. */
static bool swizzled(struct sass_lower *s, const struct sass_operand *o, struct xsrc *v)
{
	switch (o->sel) {
	case SASS_MOD_NONE:
	case SASS_MOD_H1_H0: return true;
	case SASS_MOD_F32: { /* before sm_80: a float32, rounded towards zero, in both halves */
		const struct xsrc half = sl_op1(s, E_cvt_rz_f16_f32, *v);
		*v = sl_op2(s, E_pack32, half, half);
		return true;
	}
	case SASS_MOD_H0_H0: *v = sl_op3(s, E_prmt_b32, *v, NONE, src_const(0x1010)); return true;
	case SASS_MOD_H1_H1: *v = sl_op3(s, E_prmt_b32, *v, NONE, src_const(0x3232)); return true;
	case SASS_MOD_H0_NH1: /* the upper half first: -H1 is the lower one */
	case SASS_MOD_H0_NH0:
	case SASS_MOD_H1_NH1: {
		const uint32_t which = o->sel == SASS_MOD_H0_NH1   ? 0x1032
		                       : o->sel == SASS_MOD_H0_NH0 ? 0x1010
		                                                   : 0x3232;
		const struct xsrc both = sl_op3(s, E_prmt_b32, *v, NONE, src_const(which));
		*v = sl_op2(s, E_xor_b32, both, src_const(0x8000));
		return true;
	}
	default: return sl_refuse(s, "these halves of an operand");
	}
}

/* The sources as pairs of halves; a number is printed as two. */
static bool half_sources(struct sass_lower *s, unsigned n, struct xsrc *v)
{
	unsigned at = 0;
	for (unsigned k = 0; k < n; k++, at++) {
		const struct sass_operand *o = sl_src_operand(s, at);
		if (!o)
			return sl_refuse(s, "an operand is missing");
		if (o->kind == SASS_OPND_FLOAT) {
			v[k] = src_const(s->i->code[0] >> 32);
			at++;
			continue;
		}
		v[k] = sl_bits(s, at);
		if (!swizzled(s, o, &v[k]))
			return false;
		if (o->flags & SASS_ABS)
			v[k] = sl_op2(s, E_and_b32, v[k], src_const(0x7fff7fffu));
		if (o->flags & SASS_NEG)
			v[k] = v[k].kind == S_CONST ? src_const(v[k].value ^ 0x80008000u)
			                            : sl_op2(s, E_xor_b32, v[k], src_const(0x80008000u));
		if (sl_has(s, SASS_MOD_FTZ))
			v[k] = sl_op1(s, E_ftz_f16x2, v[k]);
	}
	return true;
}

/* HADD2.F32, HMUL2.F32, HFMA2.F32 before sm_80: of the lower halves, rounded once, to float32. */
static bool set_wide(struct sass_lower *s, enum emu_op wide, unsigned n)
{
	struct xsrc v[3] = { NONE, NONE, NONE };
	if (sl_has(s, SASS_MOD_BF16_V2) || sl_has(s, SASS_MOD_RELU))
		return sl_refuse(s, "this form of arithmetic on halves");
	if (!half_sources(s, n, v))
		return false;
	const struct xsrc r = n == 2 ? sl_op2(s, wide, v[0], v[1]) : sl_op3(s, wide, v[0], v[1], v[2]);
	sl_set1(s, sl_dst(s, 0), sl_has(s, SASS_MOD_SAT) ? E_sat_f32 : E_mov_b32, r);
	return true;
}

static bool set_half(struct sass_lower *s, enum emu_op half, enum emu_op bfloat, enum emu_op wide,
                     unsigned n)
{
	struct xsrc v[3] = { NONE, NONE, NONE };
	if (sl_has(s, SASS_MOD_FMZ))
		return sl_refuse(s, "this form of arithmetic on halves");
	if (sl_has(s, SASS_MOD_F32))
		return set_wide(s, wide, n);
	if (!half_sources(s, n, v))
		return false;
	const bool bf = sl_has(s, SASS_MOD_BF16_V2) || sl_has(s, SASS_MOD_BF16);
	const bool relu = sl_has(s, SASS_MOD_RELU), sat = sl_has(s, SASS_MOD_SAT);
	const bool flush = sl_has(s, SASS_MOD_FTZ);
	const enum emu_op op = bf ? bfloat : half;
	if ((sat || flush) && bf)
		return sl_refuse(s, "this form of arithmetic on halves");
	if (!relu && !sat && !flush) {
		if (n == 2)
			sl_set2(s, sl_dst(s, 0), op, v[0], v[1]);
		else
			sl_set3(s, sl_dst(s, 0), op, v[0], v[1], v[2]);
		return true;
	}
	struct xsrc all = n == 2 ? sl_op2(s, op, v[0], v[1]) : sl_op3(s, op, v[0], v[1], v[2]);
	all = flush ? sl_op1(s, E_ftz_f16x2, all) : all;
	if (relu) /* what is no number stays so */
		sl_set2(s, sl_dst(s, 0), bf ? E_max_nan_bf16x2 : E_max_nan_f16x2, all, src_const(0));
	else if (sat)
		sl_set2(s, sl_dst(s, 0), E_min_f16x2, sl_op2(s, E_max_f16x2, all, src_const(0)),
		        src_const(0x3c003c00u));
	else
		sl_set1(s, sl_dst(s, 0), E_mov_b32, all);
	return true;
}

static bool holds_halves(const struct sass_operand *o)
{
	return o &&
	       (o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG || o->kind == SASS_OPND_CONST);
}

static bool is_zero(const struct sass_operand *o)
{
	return o && o->kind == SASS_OPND_REG && o->reg == SASS_RZ;
}

bool sl_hadd2(struct sass_lower *s)
{
	const struct sass_operand *first = sl_src_operand(s, 0), *o = sl_src_operand(s, 1);
	if (sl_has(s, SASS_MOD_F32) && (is_zero(first) || is_zero(o))) {
		/* HADD2.F32 d, -RZ, a.H0_H0; before sm_80 a.H0_H0, -RZ: the half as float32 */
		const bool swapped = is_zero(o);
		o = swapped ? first : o;
		if (!holds_halves(o) || o->flags & SASS_NOT || sl_has(s, SASS_MOD_BF16_V2))
			return sl_refuse(s, "this form of arithmetic on halves");
		struct xsrc v = sl_bits(s, swapped ? 0 : 1);
		v = o->sel == SASS_MOD_H1_H1 ? sl_op2(s, E_shr_u32, v, src_const(16))
		                             : sl_op1(s, E_ext_u16, v);
		if (o->flags & SASS_ABS)
			v = sl_op2(s, E_and_b32, v, src_const(0x7fff));
		if (o->flags & SASS_NEG)
			v = sl_op2(s, E_xor_b32, v, src_const(0x8000));
		sl_set1(s, sl_dst(s, 0), E_cvt_f32_f16, v);
		return true;
	}
	return set_half(s, E_add_f16x2, E_add_bf16x2, E_add_wide_f16, 2);
}

/* One half of a pair as float32. */
static struct xsrc half_number(struct sass_lower *s, struct xsrc pair, bool upper)
{
	const bool bf = sl_has(s, SASS_MOD_BF16_V2) || sl_has(s, SASS_MOD_BF16);
	const struct xsrc word =
		upper ? sl_op2(s, E_shr_u32, pair, src_const(16)) : sl_op1(s, E_ext_u16, pair);
	return sl_op1(s, bf ? E_cvt_f32_bf16 : E_cvt_f32_f16, word);
}

/* HSETP2.GT.AND p, q, a, b, r: p of the lower halves, q of the upper ones. */
bool sl_hsetp2(struct sass_lower *s)
{
	const enum ptx_cmp cmp = sl_comparison(s);
	const enum ptx_boolop op = sl_has(s, SASS_MOD_OR)    ? BOOL_OR
	                           : sl_has(s, SASS_MOD_XOR) ? BOOL_XOR
	                                                     : BOOL_AND;
	struct xsrc v[2] = { NONE, NONE }, c[2];
	if (cmp == CMP_NONE || !half_sources(s, 2, v))
		return sl_refuse(s, "this comparison");
	const struct xsrc with = sl_pred(s, 0, true);
	for (unsigned k = 0; k < 2; k++) {
		c[k] = sl_cmp(s, cmp, PTX_F32, half_number(s, v[0], k), half_number(s, v[1], k));
		c[k] = sl_bool(s, op, c[k], with);
	}
	sl_set_pred(s, sl_dst_pred(s, 0), c[0]);
	sl_set_pred(s, sl_dst_pred(s, 1), c[1]);
	return true;
}

/* HSET2.BF.GT.AND d, a, b, p: each half 1 where it holds, else 0; without BF all bits. */
bool sl_hset2(struct sass_lower *s)
{
	const enum ptx_cmp cmp = sl_comparison(s);
	const bool bf = sl_has(s, SASS_MOD_BF16_V2);
	struct xsrc v[2] = { NONE, NONE }, half[2];
	if (cmp == CMP_NONE || !half_sources(s, 2, v))
		return sl_refuse(s, "this comparison");
	const enum ptx_boolop op = sl_has(s, SASS_MOD_OR)    ? BOOL_OR
	                           : sl_has(s, SASS_MOD_XOR) ? BOOL_XOR
	                                                     : BOOL_AND;
	const struct xsrc with = sl_pred(s, 0, true);
	const uint32_t one = !sl_has(s, SASS_MOD_BF) ? 0xffff : bf ? 0x3f80 : 0x3c00;
	for (unsigned k = 0; k < 2; k++) {
		const struct xsrc c =
			sl_cmp(s, cmp, PTX_F32, half_number(s, v[0], k), half_number(s, v[1], k));
		half[k] = sl_select(s, 4, src_const(one), src_const(0), sl_bool(s, op, c, with));
	}
	sl_set2(s, sl_dst(s, 0), E_pack32, half[0], half[1]);
	return true;
}

bool sl_hmnmx2(struct sass_lower *s)
{
	struct xsrc v[2] = { NONE, NONE };
	const struct xsrc least = sl_pred(s, 0, true);
	const bool bf = sl_has(s, SASS_MOD_BF16_V2) || sl_has(s, SASS_MOD_BF16);
	const bool nan = sl_has(s, SASS_MOD_NAN);
	if (least.kind != S_CONST || sl_has(s, SASS_MOD_XORSIGN) || !half_sources(s, 2, v))
		return sl_refuse(s, "this form of least and greatest");
	const enum emu_op half =
		least.value ? (nan ? E_min_nan_f16x2 : E_min_f16x2) : (nan ? E_max_nan_f16x2 : E_max_f16x2);
	const enum emu_op bfloat = least.value ? (nan ? E_min_nan_bf16x2 : E_min_bf16x2)
	                                       : (nan ? E_max_nan_bf16x2 : E_max_bf16x2);
	sl_set2(s, sl_dst(s, 0), bf ? bfloat : half, v[0], v[1]);
	return true;
}

bool sl_hmul2(struct sass_lower *s)
{
	return set_half(s, E_mul_f16x2, E_mul_bf16x2, E_mul_wide_f16, 2);
}

bool sl_hfma2(struct sass_lower *s)
{
	return set_half(s, E_fma_f16x2, E_fma_bf16x2, E_fma_wide_f16, 3);
}

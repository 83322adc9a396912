/* Floating-point arithmetic of machine code. */
#include "emu/lower/sass_lower.h"

#include "emu/lane/lane.h"

#include <string.h>

#define NONE src_const(0)

/* Operations of one direction of rounding follow those of another at this distance. */
#define ROUND_STRIDE (E_add_rm_f32 - E_add_rz_f32)

static enum emu_op rounded(const struct sass_lower *s, enum emu_op nearest,
                           enum emu_op towards_zero)
{
	if (sl_has(s, SASS_MOD_RZ))
		return towards_zero;
	if (sl_has(s, SASS_MOD_RM))
		return (enum emu_op)(towards_zero + ROUND_STRIDE);
	if (sl_has(s, SASS_MOD_RP))
		return (enum emu_op)(towards_zero + 2 * ROUND_STRIDE);
	return nearest;
}

/* By which power of two the product is multiplied besides: FMUL.M2, FMUL.D4. */
static float scale_of(const struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		float by;
	} scales[] = {
		{ SASS_MOD_M2, 2 },    { SASS_MOD_M4, 4 },     { SASS_MOD_M8, 8 },
		{ SASS_MOD_D2, 0.5f }, { SASS_MOD_D4, 0.25f }, { SASS_MOD_D8, 0.125f },
	};
	for (unsigned k = 0; k < sizeof scales / sizeof *scales; k++)
		if (sl_has(s, scales[k].mod))
			return scales[k].by;
	return 1;
}

static bool unknown_product(struct sass_lower *s)
{
	return (sl_has(s, SASS_MOD_FMZ) || sl_has(s, SASS_MOD_SCALE)) &&
	       !sl_refuse(s, "a scaled product");
}

/* --- 32 bits --- */

/* op(v...), @n sources; denormals to zero where the modifiers say so. */
static struct xsrc result_f32(struct sass_lower *s, enum emu_op op, enum emu_op flushing,
                              unsigned n, struct xsrc *v)
{
	const bool flush = sl_has(s, SASS_MOD_FTZ), by_hand = flush && flushing == E_COUNT;
	for (unsigned k = 0; by_hand && k < n; k++)
		v[k] = sl_op1(s, E_ftz_f32, v[k]);
	if (flush && !by_hand)
		op = flushing;
	const struct xsrc r = n == 1   ? sl_op1(s, op, v[0])
	                      : n == 2 ? sl_op2(s, op, v[0], v[1])
	                               : sl_op3(s, op, v[0], v[1], v[2]);
	return by_hand ? sl_op1(s, E_ftz_f32, r) : r;
}

/* d = op(v...), @n sources, with denormals and saturation as the modifiers say. */
static bool set_f32(struct sass_lower *s, enum emu_op op, enum emu_op flushing, unsigned n,
                    struct xsrc *v)
{
	const int32_t d = sl_dst(s, 0);
	const bool flush = sl_has(s, SASS_MOD_FTZ), saturate = sl_has(s, SASS_MOD_SAT);
	if (!saturate && !(flush && flushing == E_COUNT)) { /* straight into the destination */
		const enum emu_op plain = flush ? flushing : op;
		if (n == 1)
			sl_set1(s, d, plain, v[0]);
		else if (n == 2)
			sl_set2(s, d, plain, v[0], v[1]);
		else
			sl_set3(s, d, plain, v[0], v[1], v[2]);
		return true;
	}
	struct xsrc r = result_f32(s, op, flushing, n, v);
	if (saturate)
		r = sl_op1(s, E_sat_f32, r);
	sl_set1(s, d, E_mov_b32, r);
	return true;
}

bool sl_fadd(struct sass_lower *s)
{
	struct xsrc v[2] = { sl_f32(s, 0), sl_f32(s, 1) };
	const enum emu_op op = rounded(s, E_add_f32, E_add_rz_f32);
	return set_f32(s, op, op == E_add_f32 ? E_add_ftz_f32 : E_COUNT, 2, v);
}

bool sl_fmul(struct sass_lower *s)
{
	const float by = scale_of(s);
	const enum emu_op op = rounded(s, E_mul_f32, E_mul_rz_f32);
	if (unknown_product(s) ||
	    (by != 1 && op != E_mul_f32 && !sl_refuse(s, "a scaled product, rounded so")))
		return false;
	struct xsrc v[3] = { sl_f32(s, 0), sl_f32(s, 1) };
	if (by != 1) {
		v[2] = src_const(bits_f32(by));
		return set_f32(s, E_mul_scaled_f32, E_mul_scaled_ftz_f32, 3, v);
	}
	return set_f32(s, op, op == E_mul_f32 ? E_mul_ftz_f32 : E_COUNT, 2, v);
}

bool sl_ffma(struct sass_lower *s)
{
	if (unknown_product(s) || (scale_of(s) != 1 && !sl_refuse(s, "a scaled product")))
		return false;
	struct xsrc v[3] = { sl_f32(s, 0), sl_f32(s, 1), sl_f32(s, 2) };
	const enum emu_op op = rounded(s, E_fma_f32, E_fma_rz_f32);
	return set_f32(s, op, op == E_fma_f32 ? E_fma_ftz_f32 : E_COUNT, 3, v);
}

/* --- two float32 at a time --- */

/* Source @n's lower or upper (@high) number; a number of the encoding stands for both. */
static struct xsrc one_of_pair(struct sass_lower *s, unsigned n, bool high)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	const bool registers = o && (o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG);
	if (!registers)
		return sl_f32(s, n);
	if (o->sel != SASS_MOD_HI_LO) {
		sl_refuse(s, "this pair of numbers");
		return NONE;
	}
	const int32_t r = o->reg == SASS_RZ ? -1 : sl_reg(s, o->kind, o->reg + high);
	const struct xsrc v = r < 0 ? NONE : src_reg(r);
	const bool minus = !!(o->flags & SASS_NEG) != (high && o->flags & SASS_NEG_HIGH);
	if (!minus)
		return v;
	return r < 0 ? src_const(0x80000000u) : sl_op1(s, E_neg_f32, v);
}

static bool set_pair(struct sass_lower *s, enum emu_op op, enum emu_op flushing, unsigned n)
{
	struct xsrc made[2];
	for (unsigned high = 0; high < 2; high++) {
		struct xsrc v[3];
		for (unsigned k = 0; k < n; k++)
			v[k] = one_of_pair(s, k, high);
		made[high] = result_f32(s, op, flushing, n, v);
	}
	for (unsigned high = 0; high < 2; high++)
		sl_set1(s, sl_dst(s, high), E_mov_b32, made[high]);
	return !s->l.failed;
}

bool sl_fadd2(struct sass_lower *s)
{
	const enum emu_op op = rounded(s, E_add_f32, E_add_rz_f32);
	return set_pair(s, op, op == E_add_f32 ? E_add_ftz_f32 : E_COUNT, 2);
}

bool sl_fmul2(struct sass_lower *s)
{
	const enum emu_op op = rounded(s, E_mul_f32, E_mul_rz_f32);
	return set_pair(s, op, op == E_mul_f32 ? E_mul_ftz_f32 : E_COUNT, 2);
}

bool sl_ffma2(struct sass_lower *s)
{
	const enum emu_op op = rounded(s, E_fma_f32, E_fma_rz_f32);
	return set_pair(s, op, op == E_fma_f32 ? E_fma_ftz_f32 : E_COUNT, 3);
}

/* --- least and greatest, comparisons --- */

/* Of two magnitudes; the sign tells whether those of the numbers differ. */
static void set_with_sign(struct sass_lower *s, enum emu_op op)
{
	const struct xsrc bits = sl_op2(s, E_xor_b32, sl_bits(s, 0), sl_bits(s, 1));
	const struct xsrc sign = sl_op2(s, E_and_b32, bits, src_const(0x80000000u));
	struct xsrc a = sl_f32(s, 0), b = sl_f32(s, 1);
	if (sl_has(s, SASS_MOD_FTZ)) {
		a = sl_op1(s, E_ftz_f32, a);
		b = sl_op1(s, E_ftz_f32, b);
	}
	sl_set2(s, sl_dst(s, 0), E_or_b32, sl_op2(s, op, a, b), sign);
}

bool sl_fmnmx(struct sass_lower *s)
{
	struct xsrc a = sl_f32(s, 0), b = sl_f32(s, 1);
	const struct xsrc least = sl_pred(s, 0, true);
	const bool nan = sl_has(s, SASS_MOD_NAN);
	const enum emu_op min = nan ? E_min_nan_f32 : E_min_f32, max = nan ? E_max_nan_f32 : E_max_f32;
	if (sl_has(s, SASS_MOD_RELU) || (sl_has(s, SASS_MOD_XORSIGN) && least.kind != S_CONST))
		return sl_refuse(s, "this form of least and greatest");
	if (sl_has(s, SASS_MOD_XORSIGN)) {
		set_with_sign(s, least.value ? min : max);
		return true;
	}
	if (sl_has(s, SASS_MOD_FTZ)) {
		a = sl_op1(s, E_ftz_f32, a);
		b = sl_op1(s, E_ftz_f32, b);
	}
	if (least.kind == S_CONST)
		sl_set2(s, sl_dst(s, 0), least.value ? min : max, a, b);
	else
		sl_set_select(s, sl_dst(s, 0), sl_op2(s, min, a, b), sl_op2(s, max, a, b), least);
	return true;
}

bool sl_fmnmx3(struct sass_lower *s)
{
	const struct xsrc least = sl_pred(s, 0, true);
	const bool nan = sl_has(s, SASS_MOD_NAN);
	const enum emu_op min = nan ? E_min_nan_f32 : E_min_f32, max = nan ? E_max_nan_f32 : E_max_f32;
	struct xsrc v[3] = { sl_f32(s, 0), sl_f32(s, 1), sl_f32(s, 2) };
	if (sl_has(s, SASS_MOD_XORSIGN) || sl_has(s, SASS_MOD_RELU) || least.kind != S_CONST)
		return sl_refuse(s, "this form of least and greatest");
	for (unsigned k = 0; k < 3 && sl_has(s, SASS_MOD_FTZ); k++)
		v[k] = sl_op1(s, E_ftz_f32, v[k]);
	const enum emu_op op = least.value ? min : max;
	sl_set2(s, sl_dst(s, 0), op, sl_op2(s, op, v[0], v[1]), v[2]);
	return true;
}

bool sl_fsel(struct sass_lower *s)
{
	struct xsrc a = sl_f32(s, 0), b = sl_f32(s, 1);
	if (sl_has(s, SASS_MOD_FTZ)) {
		a = sl_op1(s, E_ftz_f32, a);
		b = sl_op1(s, E_ftz_f32, b);
	}
	sl_set_select(s, sl_dst(s, 0), a, b, sl_pred(s, 0, true));
	return true;
}

static struct xsrc compare_f32(struct sass_lower *s)
{
	struct xsrc a = sl_f32(s, 0), b = sl_f32(s, 1);
	if (sl_has(s, SASS_MOD_FTZ)) {
		a = sl_op1(s, E_ftz_f32, a);
		b = sl_op1(s, E_ftz_f32, b);
	}
	const enum ptx_cmp cmp = sl_comparison(s);
	if (cmp == CMP_NONE) {
		sl_refuse(s, "this comparison");
		return NONE;
	}
	return sl_cmp(s, cmp, PTX_F32, a, b);
}

bool sl_fsetp(struct sass_lower *s)
{
	const struct xsrc c = compare_f32(s);
	return !s->l.failed && sl_set_comparison(s, c, 0);
}

bool sl_fset(struct sass_lower *s)
{
	const struct xsrc c = compare_f32(s);
	if (s->l.failed)
		return false;
	const enum ptx_boolop op = sl_has(s, SASS_MOD_OR)    ? BOOL_OR
	                           : sl_has(s, SASS_MOD_XOR) ? BOOL_XOR
	                                                     : BOOL_AND;
	const struct xsrc both = sl_bool(s, op, c, sl_pred(s, 0, true));
	const bool number = sl_has(s, SASS_MOD_BF);
	sl_set_select(s, sl_dst(s, 0), src_const(number ? 0x3f800000u : 0xffffffffu), NONE, both);
	return true;
}

static struct xsrc exponent(struct sass_lower *s, struct xsrc v)
{
	return sl_op3(s, E_bfe_u32, v, src_const(23), src_const(8));
}

/*
 * Whether the quick division a / b would go wrong, because an operand, the quotient or what remains
 * of it leaves the range of normal numbers.
 */
bool sl_fchk(struct sass_lower *s)
{
	const struct xsrc a = exponent(s, sl_f32(s, 0)), b = exponent(s, sl_f32(s, 1));
	const struct xsrc quotient = sl_op2(s, E_sub_b32, a, b);
	const struct xsrc bad[] = {
		sl_cmp(s, CMP_LT, PTX_U32, a, src_const(25)),
		sl_cmp(s, CMP_EQ, PTX_U32, a, src_const(255)),
		sl_cmp(s, CMP_EQ, PTX_U32, b, src_const(0)),
		sl_cmp(s, CMP_GT, PTX_U32, b, src_const(252)),
		sl_cmp(s, CMP_LT, PTX_S32, quotient, src_const((uint32_t)-125)),
		sl_cmp(s, CMP_GT, PTX_S32, quotient, src_const(126)),
	};
	struct xsrc any = bad[0];
	for (unsigned k = 1; k < sizeof bad / sizeof *bad; k++)
		any = sl_bool(s, BOOL_OR, any, bad[k]);
	sl_set_pred(s, sl_dst_pred(s, 0), any);
	return true;
}

/* The upper word of a function of a float64 whose lower word counts as 0. */
static void upper_function(struct sass_lower *s, enum emu_op op)
{
	const struct xsrc v = sl_op2(s, E_pack64, NONE, sl_f32(s, 0));
	sl_set1(s, sl_dst(s, 0), E_hi32, sl_op1(s, op, v));
}

/* Of the half that a suffix names. */
static bool half_function(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	const bool ex2 = sl_has(s, SASS_MOD_EX2), bf = !sl_has(s, SASS_MOD_F16);
	if (!o || (o->kind != SASS_OPND_REG && o->kind != SASS_OPND_FLOAT) ||
	    (!ex2 && !sl_has(s, SASS_MOD_TANH)))
		return sl_refuse(s, "a special function of a half");
	struct xsrc v = sl_bits(s, 0);
	if (o->kind == SASS_OPND_FLOAT)
		v = sl_op1(s, bf ? E_cvt_bf16_f32 : E_cvt_f16_f32, sl_f32(s, 0));
	if (o->sel == SASS_MOD_H1 || o->sel == SASS_MOD_H1_H1)
		v = sl_op2(s, E_shr_u32, v, src_const(16));
	v = sl_op2(s, E_and_b32, v, src_const(o->flags & SASS_ABS ? 0x7fff : 0xffff));
	if (o->flags & SASS_NEG)
		v = sl_op2(s, E_xor_b32, v, src_const(0x8000));
	const enum emu_op ops[2][2] = { { E_tanh_f16, E_ex2_f16 }, { E_tanh_bf16, E_ex2_bf16 } };
	sl_set1(s, sl_dst(s, 0), ops[bf][ex2], v);
	return true;
}

/* The unit takes subnormals for zeros, and gives none: code that wants them scales. */
bool sl_mufu(struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		enum emu_op op;
	} functions[] = { { SASS_MOD_RCP, E_rcp_f32 },       { SASS_MOD_RSQ, E_rsqrt_f32 },
		              { SASS_MOD_SQRT, E_sqrt_f32 },     { SASS_MOD_EX2, E_ex2_f32 },
		              { SASS_MOD_LG2, E_lg2_f32 },       { SASS_MOD_TANH, E_tanh_f32 },
		              { SASS_MOD_SIN, E_sin_turns_f32 }, { SASS_MOD_COS, E_cos_turns_f32 } };
	if (sl_has(s, SASS_MOD_F16) || sl_has(s, SASS_MOD_BF16) || sl_has(s, SASS_MOD_BF16_V2))
		return half_function(s);
	if (sl_has(s, SASS_MOD_RCP64H)) {
		upper_function(s, E_rcp_f64);
		return true;
	}
	if (sl_has(s, SASS_MOD_RSQ64H)) {
		upper_function(s, E_rsqrt_f64);
		return true;
	}
	for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
		if (sl_has(s, functions[k].mod)) {
			const enum emu_op op = functions[k].op;
			const bool of_zero =
				op == E_rcp_f32 || op == E_rsqrt_f32 || op == E_sqrt_f32 || op == E_lg2_f32;
			const bool to_zero = op == E_rcp_f32 || op == E_ex2_f32;
			struct xsrc v = of_zero ? sl_op1(s, E_ftz_f32, sl_f32(s, 0)) : sl_f32(s, 0);
			v = to_zero ? sl_op1(s, op, v) : v;
			sl_set1(s, sl_dst(s, 0), to_zero ? E_ftz_f32 : op, v);
			return true;
		}
	return sl_refuse(s, "this special function");
}

/* --- 64 bits --- */

bool sl_dadd(struct sass_lower *s)
{
	/* nvdisasm leaves out the unused second operand: DADD d, a, b */
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1);
	sl_set_wide(s, sl_op2(s, rounded(s, E_add_f64, E_add_rz_f64), a, b));
	return true;
}

bool sl_dmul(struct sass_lower *s)
{
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1);
	sl_set_wide(s, sl_op2(s, rounded(s, E_mul_f64, E_mul_rz_f64), a, b));
	return true;
}

bool sl_dfma(struct sass_lower *s)
{
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1), c = sl_f64(s, 2);
	sl_set_wide(s, sl_op3(s, rounded(s, E_fma_f64, E_fma_rz_f64), a, b, c));
	return true;
}

bool sl_dmnmx(struct sass_lower *s)
{
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1), least = sl_pred(s, 0, true);
	const struct xsrc min = sl_op2(s, E_min_f64, a, b), max = sl_op2(s, E_max_f64, a, b);
	sl_set_wide(s, sl_select(s, 8, min, max, least));
	return true;
}

/* DSETP.MAX.AND p, q, a, b: p = a is the greater number, q = both are none. */
static bool greater_number(struct sass_lower *s)
{
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1);
	const struct xsrc best = sl_op2(s, sl_has(s, SASS_MOD_MAX) ? E_max_f64 : E_min_f64, a, b);
	const struct xsrc p = sl_cmp(s, CMP_EQ, PTX_U64, best, a);
	const struct xsrc none =
		sl_bool(s, BOOL_AND, sl_cmp(s, CMP_NAN, PTX_F64, a, a), sl_cmp(s, CMP_NAN, PTX_F64, b, b));
	const struct xsrc number = sl_cmp(s, CMP_NUM, PTX_F64, a, a);
	sl_set_pred(s, sl_dst_pred(s, 0), sl_bool(s, BOOL_AND, p, number));
	sl_set_pred(s, sl_dst_pred(s, 1), none);
	return true;
}

bool sl_dsetp(struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_MAX) || sl_has(s, SASS_MOD_MIN))
		return greater_number(s);
	const enum ptx_cmp cmp = sl_comparison(s);
	if (cmp == CMP_NONE)
		return sl_refuse(s, "this comparison");
	const struct xsrc a = sl_f64(s, 0), b = sl_f64(s, 1);
	return sl_set_comparison(s, sl_cmp(s, cmp, PTX_F64, a, b), 0);
}

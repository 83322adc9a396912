/*
 * Comparisons and selection: setp, set, selp, slct, testp to operations of ops.def.
 *
 * There are operations for equal, less and less-or-equal; the rest follow by exchanging the sources
 * or inverting the result. PTX ISA 9.0 sections 9.3, 9.7.3.6 and 9.7.6.
 */
#include "emu/lower/lower_inst.h"

#define NONE src_const(0)

static enum emu_op half_to_f32(enum ptx_type t)
{
	return t == PTX_F16 || t == PTX_F16X2 ? E_cvt_f32_f16 : E_cvt_f32_bf16;
}

/* Comparisons that there are operations for ... */
enum comparison { COMPARE_EQ, COMPARE_LT, COMPARE_LE, COMPARE_NE, COMPARE_NUM };
/* ... and how each of PTX is made of them: sources exchanged, result inverted. */
struct comparison_form {
	bool there;
	enum comparison which;
	bool swap, neg;
	bool as_unsigned; /* of integers */
};

static const struct comparison_form float_forms[] = {
	[CMP_EQ] = { true, COMPARE_EQ, false, false, false },
	[CMP_NE] = { true, COMPARE_NE, false, false, false },
	[CMP_LT] = { true, COMPARE_LT, false, false, false },
	[CMP_LE] = { true, COMPARE_LE, false, false, false },
	[CMP_GT] = { true, COMPARE_LT, true, false, false },
	[CMP_GE] = { true, COMPARE_LE, true, false, false },
	[CMP_EQU] = { true, COMPARE_NE, false, true, false },
	[CMP_NEU] = { true, COMPARE_EQ, false, true, false },
	[CMP_LTU] = { true, COMPARE_LE, true, true, false }, /* not a >= b */
	[CMP_LEU] = { true, COMPARE_LT, true, true, false },
	[CMP_GTU] = { true, COMPARE_LE, false, true, false },
	[CMP_GEU] = { true, COMPARE_LT, false, true, false },
	[CMP_NUM] = { true, COMPARE_NUM, false, false, false },
	[CMP_NAN] = { true, COMPARE_NUM, false, true, false },
};
static const struct comparison_form integer_forms[CMP_NAN + 1] = {
	[CMP_EQ] = { true, COMPARE_EQ, false, false, false },
	[CMP_NE] = { true, COMPARE_EQ, false, true, false },
	[CMP_LT] = { true, COMPARE_LT, false, false, false },
	[CMP_LE] = { true, COMPARE_LE, false, false, false },
	[CMP_GT] = { true, COMPARE_LT, true, false, false },
	[CMP_GE] = { true, COMPARE_LE, true, false, false },
	[CMP_LO] = { true, COMPARE_LT, false, false, true },
	[CMP_LS] = { true, COMPARE_LE, false, false, true },
	[CMP_HI] = { true, COMPARE_LT, true, false, true },
	[CMP_HS] = { true, COMPARE_LE, true, false, true },
};

static enum emu_op float_comparison(enum comparison which, bool wide)
{
	static const enum emu_op ops[2][5] = {
		{ E_eq_f32, E_lt_f32, E_le_f32, E_ne_f32, E_num_f32 },
		{ E_eq_f64, E_lt_f64, E_le_f64, E_ne_f64, E_num_f64 },
	};
	return ops[wide][which];
}

static enum emu_op integer_comparison(enum comparison which, bool wide, bool sign)
{
	static const enum emu_op ops[2][2][3] = {
		/* [wide][signed] */
		{ { E_eq_b32, E_lt_u32, E_le_u32 }, { E_eq_b32, E_lt_s32, E_le_s32 } },
		{ { E_eq_b64, E_lt_u64, E_le_u64 }, { E_eq_b64, E_lt_s64, E_le_s64 } },
	};
	return ops[wide][sign][which];
}

int32_t low_cmp(struct lower *l, int32_t p, enum ptx_cmp cmp, enum ptx_type type, struct xsrc a,
                struct xsrc b)
{
	const bool wide = type_lane(type) == 8;
	if (type_half(type)) {
		a = src_reg(low_op1(l, half_to_f32(type), -1, a));
		b = src_reg(low_op1(l, half_to_f32(type), -1, b));
		type = PTX_F32;
	}
	const bool real = type_float(type);
	const struct comparison_form *f = real ? &float_forms[cmp] : &integer_forms[cmp];
	if (!f->there) {
		low_refuse(l, "this comparison is for %s", real ? "integers" : "floating point");
		return p < 0 ? low_temp(l, 0) : p;
	}
	const bool sign = type_signed(type) && !f->as_unsigned;
	if (!real && type == PTX_S16 && sign && f->which != COMPARE_EQ) {
		a = low_sext16(l, a);
		b = low_sext16(l, b);
	}
	if (p < 0)
		p = low_temp(l, 0);
	struct xop *x = low_emit(l, X_CMP);
	x->op = (uint16_t)(real ? float_comparison(f->which, wide)
	                        : integer_comparison(f->which, wide, sign));
	x->neg = f->neg;
	x->n_d = 1;
	x->d[0] = p;
	x->n_s = 2;
	x->s[0] = f->swap ? b : a;
	x->s[1] = f->swap ? a : b;
	return p;
}

/* Comparison of the instruction into @p, combined with its third predicate. */
static void compare_into(struct lower *l, int32_t p, enum ptx_type type, struct xsrc a,
                         struct xsrc b, struct xsrc c, bool inverted)
{
	const struct ptx_inst *in = l->in;
	if (in->boolop == BOOL_NONE && !inverted) {
		low_cmp(l, p, in->cmp, type, a, b);
		return;
	}
	struct xsrc r = src_reg(low_cmp(l, -1, in->cmp, type, a, b));
	r.neg = inverted;
	low_bool(l, p, in->boolop, r, c);
}

static struct xsrc operand_or_flushed(struct lower *l, unsigned i, enum ptx_type t)
{
	const struct xsrc a = low_src(l, i, type_lane(t));
	return low_flushes(l->in, t) ? low_flushed(l, a, t) : a;
}

static struct xsrc half_of(struct lower *l, struct xsrc pair, int i)
{
	return src_reg(i ? low_op2(l, E_shr_u32, -1, pair, src_const(16))
	                 : low_op1(l, E_ext_u16, -1, pair));
}

bool low_setp(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct xsrc a = operand_or_flushed(l, 2, in->type), b = operand_or_flushed(l, 3, in->type);
	const struct xsrc c = in->boolop != BOOL_NONE ? low_pred(l, 4) : NONE;
	const int32_t p = low_dst(l, 0), q = low_dst(l, 1);
	if (type_pair(in->type)) { /* p from the low halves, q from the high ones */
		const enum ptx_type half = in->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
		for (int i = 0; i < 2; i++) {
			const int32_t to = i ? q : p;
			if (to < 0)
				continue;
			compare_into(l, to, half, half_of(l, a, i), half_of(l, b, i), c, false);
		}
		return !l->failed;
	}
	if (q >= 0) { /* both from one comparison: p may be a source of the second */
		const struct xsrc r = src_reg(low_cmp(l, -1, in->cmp, in->type, a, b));
		const int32_t first = low_bool(l, -1, in->boolop, r, c);
		low_bool(l, q, in->boolop, src_not(r), c);
		if (p >= 0)
			low_bool(l, p, BOOL_NONE, src_reg(first), NONE);
		return !l->failed;
	}
	if (p >= 0)
		compare_into(l, p, in->type, a, b, c, false);
	return !l->failed;
}

bool low_set(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct xsrc a = operand_or_flushed(l, 1, in->type2),
					  b = operand_or_flushed(l, 2, in->type2);
	const struct xsrc c = in->boolop != BOOL_NONE ? low_pred(l, 3) : NONE;
	const int32_t p = low_temp(l, 0);
	if (type_pair(in->type2)) { /* each half by itself: 1.0, or all bits */
		const uint64_t one = in->type == PTX_F16X2    ? 0x3c00
		                     : in->type == PTX_BF16X2 ? 0x3f80
		                                              : 0xffff;
		const enum ptx_type half = in->type2 == PTX_F16X2 ? PTX_F16 : PTX_BF16;
		int32_t part[2];
		for (int i = 0; i < 2; i++) {
			compare_into(l, p, half, half_of(l, a, i), half_of(l, b, i), c, false);
			part[i] = low_select(l, -1, 4, src_const(one << 16 * i), src_const(0), src_reg(p));
		}
		low_op2(l, E_or_b32, low_dst(l, 0), src_reg(part[0]), src_reg(part[1]));
		return !l->failed;
	}
	if (type_pair(in->type))
		return low_refuse(l, "a pair is made by comparing pairs only");
	compare_into(l, p, in->type2, a, b, c, false);
	const uint64_t one = in->type == PTX_F32             ? 0x3f800000u
	                     : in->type == PTX_F16           ? 0x3c00
	                     : in->type == PTX_BF16          ? 0x3f80
	                     : ptx_type_bytes(in->type) == 2 ? 0xffff
	                                                     : 0xffffffffu;
	low_select(l, low_dst(l, 0), 4, src_const(one), src_const(0), src_reg(p));
	return !l->failed;
}

bool low_selp(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	low_select(l, low_dst(l, 0), lane, a, b, low_pred(l, 3));
	return !l->failed;
}

bool low_slct(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const struct xsrc c = operand_or_flushed(l, 3, l->in->type2);
	const struct xsrc p = src_reg(low_cmp(l, -1, CMP_GE, l->in->type2, c, src_const(0)));
	low_select(l, low_dst(l, 0), lane, a, b, p);
	return !l->failed;
}

bool low_testp(struct lower *l)
{
	const bool wide = l->in->type == PTX_F64;
	const uint64_t inf = wide ? 0x7ff0000000000000u : 0x7f800000u;
	const uint64_t least = wide ? 0x0010000000000000u : 0x00800000u;
	const enum ptx_type t = wide ? PTX_U64 : PTX_U32;
	const int32_t p = low_dst(l, 0);
	const struct xsrc m =
		src_reg(low_op1(l, wide ? E_abs_f64 : E_abs_f32, -1, low_src(l, 1, wide ? 8 : 4)));
	switch (l->in->mode) {
	case MODE_FINITE: low_cmp(l, p, CMP_LT, t, m, src_const(inf)); break;
	case MODE_INFINITE: low_cmp(l, p, CMP_EQ, t, m, src_const(inf)); break;
	case MODE_NUMBER: low_cmp(l, p, CMP_LE, t, m, src_const(inf)); break;
	case MODE_NOTANUMBER: low_cmp(l, p, CMP_GT, t, m, src_const(inf)); break;
	default: { /* normal: zero or least <= m < inf; subnormal: 0 < m < least */
		const bool normal = l->in->mode == MODE_NORMAL;
		const struct xsrc small = src_reg(low_cmp(l, -1, CMP_LT, t, m, src_const(least)));
		const struct xsrc zero = src_reg(low_cmp(l, -1, CMP_EQ, t, m, src_const(0)));
		const struct xsrc sub = src_reg(low_bool(l, -1, BOOL_AND, small, src_not(zero)));
		const struct xsrc finite = src_reg(low_cmp(l, -1, CMP_LT, t, m, src_const(inf)));
		low_bool(l, p, BOOL_AND, normal ? src_not(sub) : sub, finite);
		break;
	}
	}
	return !l->failed;
}

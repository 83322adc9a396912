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

int32_t low_cmp(struct lower *l, int32_t p, enum ptx_cmp cmp, enum ptx_type type, struct xsrc a,
                struct xsrc b)
{
	bool neg = false, swap = false;
	const bool wide = type_lane(type) == 8;
	if (type_half(type)) {
		a = src_reg(low_op1(l, half_to_f32(type), -1, a));
		b = src_reg(low_op1(l, half_to_f32(type), -1, b));
		type = PTX_F32;
	}
	enum emu_op op;
	if (type_float(type)) {
		static const enum emu_op base[2] = { E_eq_f32, E_eq_f64 };
		enum { EQ, LT, LE, NE, NUM } which = EQ;
		switch (cmp) {
		case CMP_EQ: break;
		case CMP_NE: which = NE; break;
		case CMP_LT: which = LT; break;
		case CMP_LE: which = LE; break;
		case CMP_GT:
			which = LT;
			swap = true;
			break;
		case CMP_GE:
			which = LE;
			swap = true;
			break;
		case CMP_EQU:
			which = NE;
			neg = true;
			break;
		case CMP_NEU: neg = true; break;
		case CMP_LTU: /* not a >= b */
			which = LE;
			swap = neg = true;
			break;
		case CMP_LEU:
			which = LT;
			swap = neg = true;
			break;
		case CMP_GTU:
			which = LE;
			neg = true;
			break;
		case CMP_GEU:
			which = LT;
			neg = true;
			break;
		case CMP_NUM: which = NUM; break;
		case CMP_NAN:
			which = NUM;
			neg = true;
			break;
		default:
			low_refuse(l, "this comparison is for integers");
			return p < 0 ? low_temp(l, 0) : p;
		}
		op = (enum emu_op)(base[wide] + which);
	} else {
		bool sign = type_signed(type);
		enum { LT, LE, EQ } which = EQ;
		switch (cmp) {
		case CMP_EQ: break;
		case CMP_NE: neg = true; break;
		case CMP_LO:
			sign = false;
			which = LT;
			break;
		case CMP_LS:
			sign = false;
			which = LE;
			break;
		case CMP_HI:
			sign = false;
			which = LT;
			swap = true;
			break;
		case CMP_HS:
			sign = false;
			which = LE;
			swap = true;
			break;
		case CMP_LT: which = LT; break;
		case CMP_LE: which = LE; break;
		case CMP_GT:
			which = LT;
			swap = true;
			break;
		case CMP_GE:
			which = LE;
			swap = true;
			break;
		default:
			low_refuse(l, "this comparison is for floating point");
			return p < 0 ? low_temp(l, 0) : p;
		}
		if (type == PTX_S16 && sign && which != EQ) {
			a = low_sext16(l, a);
			b = low_sext16(l, b);
		} else if (ptx_type_bytes(type) == 2) { /* immediates may carry a sign */
			a.value &= 0xffff;
			b.value &= 0xffff;
		}
		static const enum emu_op ops[2][2][2] = {
			/* [wide][signed][le] */
			{ { E_lt_u32, E_le_u32 }, { E_lt_s32, E_le_s32 } },
			{ { E_lt_u64, E_le_u64 }, { E_lt_s64, E_le_s64 } },
		};
		op = which == EQ ? (wide ? E_eq_b64 : E_eq_b32) : ops[wide][sign][which == LE];
	}
	if (p < 0)
		p = low_temp(l, 0);
	struct xop *x = low_emit(l, X_CMP);
	x->op = (uint16_t)op;
	x->neg = neg;
	x->n_d = 1;
	x->d[0] = p;
	x->n_s = 2;
	x->s[0] = swap ? b : a;
	x->s[1] = swap ? a : b;
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
	return (l->in->flags & PF_FTZ) && t == PTX_F32 ? low_flushed(l, a) : a;
}

static bool low_setp(struct lower *l)
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
			const struct xsrc x = src_reg(i ? low_op2(l, E_shr_u32, -1, a, src_const(16))
			                                : low_op1(l, E_ext_u16, -1, a));
			const struct xsrc y = src_reg(i ? low_op2(l, E_shr_u32, -1, b, src_const(16))
			                                : low_op1(l, E_ext_u16, -1, b));
			compare_into(l, to, half, x, y, c, false);
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

static bool low_set(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct xsrc a = operand_or_flushed(l, 1, in->type2),
					  b = operand_or_flushed(l, 2, in->type2);
	const struct xsrc c = in->boolop != BOOL_NONE ? low_pred(l, 3) : NONE;
	if (type_pair(in->type2) || type_pair(in->type))
		return low_refuse(l, "set on pairs is not supported");
	const int32_t p = low_temp(l, 0);
	compare_into(l, p, in->type2, a, b, c, false);
	const uint64_t one = in->type == PTX_F32             ? 0x3f800000u
	                     : in->type == PTX_F16           ? 0x3c00
	                     : in->type == PTX_BF16          ? 0x3f80
	                     : ptx_type_bytes(in->type) == 2 ? 0xffff
	                                                     : 0xffffffffu;
	low_select(l, low_dst(l, 0), 4, src_const(one), src_const(0), src_reg(p));
	return !l->failed;
}

static bool low_selp(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	if (ptx_type_bytes(l->in->type) == 2) {
		a.value &= 0xffff;
		b.value &= 0xffff;
	}
	low_select(l, low_dst(l, 0), lane, a, b, low_pred(l, 3));
	return !l->failed;
}

static bool low_slct(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	const struct xsrc c = operand_or_flushed(l, 3, l->in->type2);
	const struct xsrc p = src_reg(low_cmp(l, -1, CMP_GE, l->in->type2, c, src_const(0)));
	low_select(l, low_dst(l, 0), lane, a, b, p);
	return !l->failed;
}

static bool low_testp(struct lower *l)
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

bool low_compare(struct lower *l)
{
	switch (l->in->op) {
	case OP_TESTP: return low_testp(l);
	case OP_SETP: return low_setp(l);
	case OP_SET: return low_set(l);
	case OP_SELP: return low_selp(l);
	case OP_SLCT: return low_slct(l);
	default: return low_refuse(l, "the emulator does not know this comparison");
	}
}

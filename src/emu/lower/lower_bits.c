/* Logic, shifts and bit fields: PTX instructions to operations of ops.def (PTX
 * ISA 9.0, 9.7.1, 9.7.8). */
#include "emu/lower/lower_inst.h"

#define NONE src_const(0)

static bool logic_op(struct lower *l, enum ptx_boolop pred, enum emu_op op32, enum emu_op op64)
{
	if (l->in->type == PTX_PRED) {
		low_bool(l, low_dst(l, 0), pred, low_pred(l, 1), low_pred(l, 2));
		return !l->failed;
	}
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, lane);
	low_op2(l, lane == 8 ? op64 : op32, low_dst(l, 0), a, b);
	return !l->failed;
}

bool low_not(struct lower *l)
{
	const int32_t d = low_dst(l, 0);
	if (l->in->type == PTX_PRED) {
		low_bool(l, d, BOOL_NONE, src_not(low_pred(l, 1)), NONE);
		return !l->failed;
	}
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, lane);
	if (ptx_type_bytes(l->in->type) == 2)
		low_op2(l, E_xor_b32, d, a, src_const(0xffff));
	else
		low_op1(l, lane == 8 ? E_not_b64 : E_not_b32, d, a);
	return !l->failed;
}

static bool shift_op(struct lower *l, bool right)
{
	const enum ptx_type t = l->in->type;
	const unsigned lane = type_lane(t);
	const struct xsrc a = low_src(l, 1, lane), b = low_src(l, 2, 4);
	if (ptx_type_bytes(t) == 2) {
		if (right && type_signed(t))
			return low_to16(l, low_op2(l, E_shr_s32, -1, low_sext16(l, a), b));
		return low_to16(l, low_op2(l, right ? E_shr_u32 : E_shl_b32, -1, a, b));
	}
	const enum emu_op op = !right           ? (lane == 8 ? E_shl_b64 : E_shl_b32)
	                       : type_signed(t) ? (lane == 8 ? E_shr_s64 : E_shr_s32)
	                                        : (lane == 8 ? E_shr_u64 : E_shr_u32);
	low_op2(l, op, low_dst(l, 0), a, b);
	return !l->failed;
}

bool low_shf(struct lower *l)
{
	static const enum emu_op ops[2][2] = { { E_shf_r_clamp, E_shf_r_wrap },
		                                   { E_shf_l_clamp, E_shf_l_wrap } };
	const bool left = l->in->flags & PF_LEFT, wrap = l->in->flags & PF_WRAP;
	low_op3(l, ops[left][wrap], low_dst(l, 0), low_src(l, 1, 4), low_src(l, 2, 4),
	        low_src(l, 3, 4));
	return !l->failed;
}

static bool one_source(struct lower *l, enum emu_op op32, enum emu_op op64)
{
	const unsigned lane = type_lane(l->in->type);
	low_op1(l, lane == 8 ? op64 : op32, low_dst(l, 0), low_src(l, 1, lane));
	return !l->failed;
}

bool low_bfe(struct lower *l)
{
	static const enum emu_op ops[2][2] = { { E_bfe_u32, E_bfe_s32 }, { E_bfe_u64, E_bfe_s64 } };
	const unsigned lane = type_lane(l->in->type);
	low_op3(l, ops[lane == 8][type_signed(l->in->type)], low_dst(l, 0), low_src(l, 1, lane),
	        low_src(l, 2, 4), low_src(l, 3, 4));
	return !l->failed;
}

/* 32 bits, from a known place to the top: a sum of two parts in which the analysis sees through. */
static bool inserted_at_top(struct lower *l, const struct xsrc *at, const struct xsrc *n)
{
	if (at->kind != S_CONST || n->kind != S_CONST || at->value < 1 || at->value > 31 ||
	    n->value > 32 || at->value + n->value < 32)
		return false;
	const struct xsrc top = src_reg(low_op2(l, E_shl_b32, -1, low_src(l, 1, 4), *at));
	const struct xsrc low = src_const(((uint64_t)1 << at->value) - 1);
	const struct xsrc rest = src_reg(low_op2(l, E_and_b32, -1, low_src(l, 2, 4), low));
	low_op2(l, E_or_b32, low_dst(l, 0), top, rest);
	return true;
}

bool low_bfi(struct lower *l)
{
	const unsigned lane = type_lane(l->in->type);
	const struct xsrc at = low_src(l, 3, 4), n = low_src(l, 4, 4);
	if (lane == 4 && inserted_at_top(l, &at, &n))
		return !l->failed;
	low_op4(l, lane == 8 ? E_bfi_b64 : E_bfi_b32, low_dst(l, 0), low_src(l, 1, lane),
	        low_src(l, 2, lane), at, n);
	return !l->failed;
}

bool low_bfind(struct lower *l)
{
	static const enum emu_op ops[2][2] = { { E_bfind_u32, E_bfind_s32 },
		                                   { E_bfind_u64, E_bfind_s64 } };
	const unsigned lane = type_lane(l->in->type);
	const enum emu_op op = ops[lane == 8][type_signed(l->in->type)];
	const struct xsrc a = low_src(l, 1, lane);
	const int32_t d = low_dst(l, 0);
	if (!(l->in->flags & PF_SHIFTAMT)) {
		low_op1(l, op, d, a);
		return !l->failed;
	}
	/* amount that would bring the found bit to the top; not found stays all ones */
	const struct xsrc r = src_reg(low_op1(l, op, -1, a));
	const struct xsrc up = src_reg(low_op2(l, E_sub_b32, -1, src_const(lane == 8 ? 63 : 31), r));
	const struct xsrc none = src_reg(low_cmp(l, -1, CMP_EQ, PTX_U32, r, src_const(0xffffffffu)));
	low_select(l, d, 4, r, up, none);
	return !l->failed;
}

bool low_prmt(struct lower *l)
{
	const struct xsrc a = low_src(l, 1, 4), b = low_src(l, 2, 4);
	struct xsrc c = low_src(l, 3, 4);
	const enum ptx_mode m = l->in->mode;
	const enum emu_op op = m == MODE_F4E    ? E_prmt_f4e
	                       : m == MODE_B4E  ? E_prmt_b4e
	                       : m == MODE_RC8  ? E_prmt_rc8
	                       : m == MODE_ECL  ? E_prmt_ecl
	                       : m == MODE_ECR  ? E_prmt_ecr
	                       : m == MODE_RC16 ? E_prmt_rc16
	                                        : E_COUNT;
	if (op != E_COUNT)
		c = src_reg(low_op1(l, op, -1, c));
	low_op3(l, E_prmt_b32, low_dst(l, 0), a, b, c);
	return !l->failed;
}

bool low_lop3(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct xsrc a = low_src(l, 2, 4), b = low_src(l, 3, 4), c = low_src(l, 4, 4);
	const struct xsrc with = in->boolop == BOOL_NONE ? src_const(0) : low_pred(l, 5);
	const int32_t d = in->boolop == BOOL_NONE ? low_dst(l, 0) : -1;
	const int32_t r = low_op4(l, E_lop3_b32, d, a, b, c, src_const(in->mma.k));
	if (in->boolop == BOOL_NONE)
		return !l->failed;
	const int32_t some = low_cmp(l, -1, CMP_NE, PTX_U32, src_reg(r), src_const(0));
	low_bool(l, low_dst(l, 1), in->boolop, src_reg(some), with);
	if (low_dst(l, 0) >= 0)
		low_op1(l, E_mov_b32, low_dst(l, 0), src_reg(r));
	return !l->failed;
}

bool low_dot(struct lower *l)
{
	static const enum emu_op dp4a[2][2] = { { E_dp4a_uu, E_dp4a_us }, { E_dp4a_su, E_dp4a_ss } };
	static const enum emu_op dp2a[2][2][2] = {
		{ { E_dp2a_lo_uu, E_dp2a_lo_us }, { E_dp2a_lo_su, E_dp2a_lo_ss } },
		{ { E_dp2a_hi_uu, E_dp2a_hi_us }, { E_dp2a_hi_su, E_dp2a_hi_ss } },
	};
	const bool sa = type_signed(l->in->type), sb = type_signed(l->in->type2);
	const bool hi = l->in->flags & PF_HI;
	low_op3(l, l->in->op == OP_DP4A ? dp4a[sa][sb] : dp2a[hi][sa][sb], low_dst(l, 0),
	        low_src(l, 1, 4), low_src(l, 2, 4), low_src(l, 3, 4));
	return !l->failed;
}

static bool two_sources(struct lower *l, enum emu_op wrap, enum emu_op clamp)
{
	low_op2(l, l->in->flags & PF_WRAP ? wrap : clamp, low_dst(l, 0), low_src(l, 1, 4),
	        low_src(l, 2, 4));
	return !l->failed;
}

bool low_and(struct lower *l)
{
	return logic_op(l, BOOL_AND, E_and_b32, E_and_b64);
}

bool low_or(struct lower *l)
{
	return logic_op(l, BOOL_OR, E_or_b32, E_or_b64);
}

bool low_xor(struct lower *l)
{
	return logic_op(l, BOOL_XOR, E_xor_b32, E_xor_b64);
}

bool low_shl(struct lower *l)
{
	return shift_op(l, false);
}

bool low_shr(struct lower *l)
{
	return shift_op(l, true);
}

bool low_cnot(struct lower *l)
{
	return one_source(l, E_cnot_b32, E_cnot_b64);
}

bool low_brev(struct lower *l)
{
	return one_source(l, E_brev_b32, E_brev_b64);
}

bool low_popc(struct lower *l)
{
	return one_source(l, E_popc_b32, E_popc_b64);
}

bool low_clz(struct lower *l)
{
	return one_source(l, E_clz_b32, E_clz_b64);
}

bool low_bmsk(struct lower *l)
{
	return two_sources(l, E_bmsk_wrap, E_bmsk_clamp);
}

bool low_szext(struct lower *l)
{
	return l->in->type == PTX_S32 ? two_sources(l, E_szext_s_wrap, E_szext_s_clamp)
	                              : two_sources(l, E_szext_u_wrap, E_szext_u_clamp);
}

bool low_fns(struct lower *l)
{
	low_op3(l, E_fns_b32, low_dst(l, 0), low_src(l, 1, 4), low_src(l, 2, 4), low_src(l, 3, 4));
	return !l->failed;
}

/* IMAD: products of whole numbers, and the sums and moves that machine code writes as such. */
#include "emu/lower/sass_lower.h"

static void wide_product(struct sass_lower *s, bool sign)
{
	const struct xsrc a = sl_int(s, 0), b = sl_int(s, 1), c = sl_wide(s, 2, sign);
	struct xsrc p;
	if (sl_is_zero(a) || sl_is_zero(b))
		p = src_const(0);
	else if (sl_is_const(b, 1))
		p = sl_op1(s, sign ? E_sext64 : E_zext64, a);
	else
		p = sl_op2(s, sign ? E_mul_wide_s32 : E_mul_wide_u32, a, b);
	struct xsrc sum = sl_add64(s, p, c);
	const int32_t carry = sl_dst_pred(s, 0);
	struct xsrc over = src_const(0);
	if (carry >= 0)
		over = sl_cmp(s, CMP_LT, PTX_U64, sum, c);
	if (sl_has(s, SASS_MOD_X)) {
		const struct xsrc in = sl_extended(s, sl_as_number(s, sl_pred(s, 0, false)));
		const struct xsrc more = sl_add64(s, sum, in);
		if (carry >= 0)
			over = sl_bool(s, BOOL_OR, over, sl_cmp(s, CMP_LT, PTX_U64, more, in));
		sum = more;
	}
	if (carry >= 0)
		sl_set_pred(s, carry, over);
	if (sum.kind == S_REG && sum.reg == c.reg && c.kind == S_REG)
		sum = sl_op1(s, E_mov_b64, sum);
	sl_set_wide(s, sum);
}

static void upper_product(struct sass_lower *s, bool sign)
{
	const struct xsrc a = sl_int(s, 0), b = sl_int(s, 1), c = sl_wide(s, 2, sign);
	const struct xsrc p = sl_op2(s, sign ? E_mul_wide_s32 : E_mul_wide_u32, a, b);
	const struct xsrc sum = sl_add64(s, p, c);
	if (sl_dst_pred(s, 0) >= 0)
		sl_set_pred(s, sl_dst_pred(s, 0), sl_cmp(s, CMP_LT, PTX_U64, sum, c));
	sl_set1(s, sl_dst(s, 0), E_hi32, sum);
}

/* a * 1 - c, and c - a * 1: one operation. */
static bool difference(struct sass_lower *s, int32_t d)
{
	const bool less_c = sl_taken_away(s, 2), less_a = sl_taken_away(s, 0);
	if (less_a == less_c || sl_has(s, SASS_MOD_X) || !sl_is_const(sl_int(s, 1), 1))
		return false;
	const struct xsrc from = sl_int(s, less_c ? 0 : 2);
	sl_set2(s, d, E_sub_b32, from, sl_bits(s, less_c ? 2 : 0));
	return true;
}

bool sl_imad(struct sass_lower *s)
{
	const bool sign = !sl_has(s, SASS_MOD_U32);
	const int32_t d = sl_dst(s, 0);
	if (sl_has(s, SASS_MOD_WIDE)) {
		wide_product(s, sign);
		return true;
	}
	if (sl_has(s, SASS_MOD_HI)) {
		upper_product(s, sign);
		return true;
	}
	if (sl_wants_carry(s))
		return sl_refuse(s, "a 32-bit product with a carry");
	if (sl_take_up_sum(s))
		return true;
	if (difference(s, d))
		return true;
	struct xsrc a = sl_int(s, 0), b = sl_int(s, 1), c = sl_int(s, 2);
	if (sl_has(s, SASS_MOD_X)) {
		const struct xsrc in = sl_as_number(s, sl_pred(s, 0, false));
		c = sl_is_zero(c) ? in : sl_op2(s, E_add_b32, c, in);
	}
	if (sl_is_zero(a) || sl_is_zero(b))
		sl_set1(s, d, E_mov_b32, c);
	else if (sl_is_const(b, 1) && sl_is_zero(c))
		sl_set1(s, d, E_mov_b32, a);
	else if (sl_is_const(b, 1))
		sl_set2(s, d, E_add_b32, a, c);
	else if (sl_is_zero(c))
		sl_set2(s, d, E_mul_lo_b32, a, b);
	else
		sl_set3(s, d, E_mad_lo_b32, a, b, c);
	return true;
}

/* Integer arithmetic of machine code. */
#include "emu/lower/sass_lower.h"

bool sl_is_zero(struct xsrc v)
{
	return v.kind == S_CONST && v.value == 0;
}

bool sl_is_const(struct xsrc v, uint64_t value)
{
	return v.kind == S_CONST && v.value == value;
}

bool sl_taken_away(const struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	return o && o->flags & SASS_NEG && !(o->flags & SASS_ABS) && o->kind != SASS_OPND_INT;
}

/* --- sums --- */

/* Source @n as a sum with carries sees it, and 1 in *@ones where its sign adds one. */
static struct xsrc carry_term(struct sass_lower *s, unsigned n, uint64_t *ones)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	const struct xsrc v = sl_bits(s, n);
	if (!o || !(o->flags & SASS_NEG))
		return v;
	++*ones;
	return v.kind == S_CONST ? src_const(~(uint32_t)v.value) : sl_op1(s, E_not_b32, v);
}

struct xsrc sl_add64(struct sass_lower *s, struct xsrc a, struct xsrc b)
{
	return sl_is_zero(a) ? b : sl_is_zero(b) ? a : sl_op2(s, E_add_b64, a, b);
}

struct xsrc sl_as_number(struct sass_lower *s, struct xsrc p)
{
	if (p.kind == S_CONST)
		return src_const(p.value ? 1 : 0);
	return sl_select(s, 4, src_const(1), src_const(0), p);
}

/* The sum of 64 bits into the destination, what lies above 32 bits into its predicates. */
static void set_sum(struct sass_lower *s, struct xsrc sum)
{
	const int32_t p0 = sl_dst_pred(s, 0), p1 = sl_dst_pred(s, 1);
	const struct xsrc low =
		sum.kind == S_CONST ? src_const((uint32_t)sum.value) : sl_op1(s, E_trunc32, sum);
	if (p0 >= 0 || p1 >= 0) {
		const struct xsrc high =
			sum.kind == S_CONST ? src_const(sum.value >> 32) : sl_op1(s, E_hi32, sum);
		sl_set_pred(s, p0, sl_cmp(s, CMP_NE, PTX_U32, high, src_const(0)));
		sl_set_pred(s, p1, sl_cmp(s, CMP_GT, PTX_U32, high, src_const(1)));
	}
	sl_set1(s, sl_dst(s, 0), E_mov_b32, low);
}

/* Two terms without sign and a carry out of them: the commonest sum with a carry. */
static bool plain_carry(struct sass_lower *s, const struct xsrc *v, unsigned n)
{
	const int32_t p0 = sl_dst_pred(s, 0);
	struct xsrc a = src_const(0), b = src_const(0);
	unsigned used = 0;
	for (unsigned k = 0; k < n; k++)
		if (!sl_is_zero(v[k]) && used++ < 2)
			*(used == 1 ? &a : &b) = v[k];
	if (used > 2)
		return false;
	const struct xsrc sum = sl_op2(s, E_add_b32, a, b);
	sl_set_pred(s, p0, sl_cmp(s, CMP_LT, PTX_U32, sum, a));
	sl_set_pred(s, sl_dst_pred(s, 1), src_const(0));
	sl_set1(s, sl_dst(s, 0), E_mov_b32, sum);
	return true;
}

static void carried_sum(struct sass_lower *s, unsigned n_terms)
{
	uint64_t ones = 0;
	struct xsrc v[3] = { src_const(0), src_const(0), src_const(0) };
	for (unsigned n = 0; n < n_terms; n++)
		v[n] = carry_term(s, n, &ones);
	const bool carry_in = sl_has(s, SASS_MOD_X);
	if (!carry_in && !ones && plain_carry(s, v, n_terms))
		return;
	struct xsrc sum = src_const(ones);
	for (unsigned n = 0; n < n_terms; n++)
		sum = sl_add64(s, sum, sl_extended(s, v[n]));
	for (unsigned n = 0; carry_in && n < sl_n_preds(s); n++)
		sum = sl_add64(s, sum, sl_extended(s, sl_as_number(s, sl_pred(s, n, false))));
	set_sum(s, sum);
}

/* The words of a sum of 64 bits come from one, where both are found. */
static void sum_with_carry(struct sass_lower *s, unsigned n_terms)
{
	if (sl_take_up_sum(s))
		return;
	const struct xsrc whole = sl_whole_sum(s);
	carried_sum(s, n_terms);
	if (whole.kind == S_REG)
		sl_set1(s, sl_dst(s, 0), E_trunc32, whole);
}

/* a + b + c without carries out. */
static void plain_sum(struct sass_lower *s, unsigned n_terms)
{
	struct xsrc sum = src_const(0);
	const int32_t d = sl_dst(s, 0);
	bool any = false;
	struct xsrc terms[4];
	bool minus[4] = { false };
	unsigned n_left = 0;
	for (unsigned n = 0; n < n_terms; n++) {
		const struct sass_operand *o = sl_src_operand(s, n);
		const bool neg = o && o->flags & SASS_NEG;
		const struct xsrc v = neg && o->kind != SASS_OPND_INT ? sl_bits(s, n) : sl_int(s, n);
		if (sl_is_zero(v))
			continue;
		minus[n_left] = neg && o->kind != SASS_OPND_INT;
		terms[n_left++] = v;
	}
	/* what is added goes first, where there is any; else the sum starts from zero */
	for (unsigned n = 1; n < n_left && minus[0]; n++)
		if (!minus[n]) {
			const struct xsrc first = terms[n];
			terms[n] = terms[0];
			terms[0] = first;
			minus[n] = true;
			minus[0] = false;
		}
	any = n_left && minus[0];
	for (unsigned n = 0; n < n_left; n++) {
		const enum emu_op op = minus[n] ? E_sub_b32 : E_add_b32;
		if (!any) {
			sum = terms[n];
			any = true;
		} else if (n + 1 == n_left) {
			sl_set2(s, d, op, sum, terms[n]);
			return;
		} else {
			sum = sl_op2(s, op, sum, terms[n]);
		}
	}
	sl_set1(s, d, E_mov_b32, sum);
}

bool sl_wants_carry(struct sass_lower *s)
{
	return sl_dst_pred(s, 0) >= 0 || sl_dst_pred(s, 1) >= 0;
}

/* IADD3.64, IADD.64: registers in pairs. */
/* IADD.64 d, p, a, b: p = it does not fit. Less b: p = b fits into a. */
static bool sum64_with_carry(struct sass_lower *s)
{
	const struct sass_operand *o[2] = { sl_src_operand(s, 0), sl_src_operand(s, 1) };
	const int32_t p = sl_dst_pred(s, 0);
	const bool turned = o[0] && o[0]->flags & SASS_NEG; /* -b + a */
	if (!o[0] || !o[1] || (turned && o[1]->flags & SASS_NEG) || sl_dst_pred(s, 1) >= 0)
		return sl_refuse(s, "a 64-bit sum with this carry");
	const struct xsrc a = sl_wide(s, turned, true), b = sl_wide(s, !turned, true);
	const struct xsrc sum = sl_op2(s, E_add_b64, a, b);
	struct xsrc carry = sl_cmp(s, CMP_LT, PTX_U64, sum, a);
	if (o[!turned]->flags &
	    SASS_NEG) /* b is what is taken away, below zero: a - |b| does not borrow */
		carry = sl_cmp(s, CMP_GE, PTX_U64, a, sl_op2(s, E_sub_b64, src_const(0), b));
	sl_set_wide(s, sum);
	if (p >= 0)
		sl_set_pred(s, p, carry);
	return true;
}

/* IADD.64.X d, p, a, b, carry: p = it does not fit. */
static bool sum64_with_carry_in(struct sass_lower *s)
{
	const struct xsrc a = sl_wide(s, 0, true), b = sl_wide(s, 1, true);
	const struct xsrc one = sl_extended(s, sl_as_number(s, sl_pred(s, 0, false)));
	const struct xsrc both = sl_op2(s, E_add_b64, a, b), sum = sl_op2(s, E_add_b64, both, one);
	const int32_t p = sl_dst_pred(s, 0);
	struct xsrc carry = src_const(0);
	if (sl_n_preds(s) != 1 || sl_dst_pred(s, 1) >= 0)
		return sl_refuse(s, "a 64-bit sum with this carry");
	if (p >= 0)
		carry = sl_bool(s, BOOL_OR, sl_cmp(s, CMP_LT, PTX_U64, both, a),
		                sl_cmp(s, CMP_LT, PTX_U64, sum, both));
	sl_set_wide(s, sum);
	sl_set_pred(s, p, carry);
	return true;
}

static bool sum64(struct sass_lower *s, unsigned n_terms)
{
	struct xsrc sum = src_const(0);
	if (sl_has(s, SASS_MOD_X) && n_terms == 2)
		return sum64_with_carry_in(s);
	if (sl_wants_carry(s) && n_terms == 2 && !sl_has(s, SASS_MOD_X))
		return sum64_with_carry(s);
	if (sl_wants_carry(s) || sl_has(s, SASS_MOD_X))
		return sl_refuse(s, "a 64-bit sum with a carry");
	for (unsigned n = 0; n < n_terms; n++)
		sum = sl_add64(s, sum, sl_wide(s, n, true));
	sl_set_wide(s, sum);
	return true;
}

bool sl_iadd3(struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_64))
		return sum64(s, 3);
	if (sl_has(s, SASS_MOD_X) || sl_wants_carry(s))
		sum_with_carry(s, 3);
	else
		plain_sum(s, 3);
	return true;
}

bool sl_iadd(struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_64))
		return sum64(s, 2);
	if (sl_has(s, SASS_MOD_ISAT)) {
		if (!sl_has(s, SASS_MOD_S32))
			return sl_refuse(s, "a sum that is limited");
		/* less -2^31 is not the sum with its negative, which there is none of */
		const bool less_a = sl_taken_away(s, 0), less_b = sl_taken_away(s, 1);
		if (less_a && less_b)
			return sl_refuse(s, "a sum that is limited");
		const struct xsrc a = less_a ? sl_int(s, 1) : sl_int(s, 0);
		const struct xsrc b = less_a ? sl_bits(s, 0) : less_b ? sl_bits(s, 1) : sl_int(s, 1);
		sl_set2(s, sl_dst(s, 0), less_a || less_b ? E_sub_sat_s32 : E_add_sat_s32, a, b);
		return true;
	}
	for (unsigned k = 0; k < s->i->n_mods; k++)
		switch (s->i->mods[k]) {
		case SASS_MOD_16x2:
		case SASS_MOD_U16x2:
		case SASS_MOD_S16x2:
		case SASS_MOD_8x4:
		case SASS_MOD_U8x4:
		case SASS_MOD_S8x4: return sl_packed_sum(s);
		case SASS_MOD_16: return sl_refuse(s, "sums of 16-bit numbers");
		default: break;
		}
	if (sl_has(s, SASS_MOD_X) || sl_wants_carry(s))
		sum_with_carry(s, 2);
	else
		plain_sum(s, 2);
	return true;
}

/* --- addresses --- */

/* The number of bits to shift by: the last source that is no predicate. */
static bool shift_amount(struct sass_lower *s, unsigned *n, uint32_t *bits)
{
	*n = 0;
	for (unsigned k = 0; sl_src_operand(s, k); k++)
		if (sl_src_operand(s, k)->kind == SASS_OPND_INT)
			*n = k;
	const struct sass_operand *o = sl_src_operand(s, *n);
	*bits = (uint32_t)o->value & 31;
	return *n >= 2 && o->kind == SASS_OPND_INT;
}

/* The index, shifted; HI: the upper word of that. */
static struct xsrc index_shifted(struct sass_lower *s, struct xsrc a, unsigned bits)
{
	if (sl_has(s, SASS_MOD_HI)) {
		const bool sign = sl_has(s, SASS_MOD_SX32);
		const struct xsrc upper = sign ? sl_op2(s, E_shr_s32, a, src_const(31)) : sl_bits(s, 2);
		if (sl_is_zero(upper))
			return bits ? sl_op2(s, E_shr_u32, a, src_const(32 - bits)) : src_const(0);
		if (sign && bits)
			return sl_op2(s, E_shr_s32, a, src_const(32 - bits));
		return sl_op3(s, E_shf_l_clamp, a, upper, src_const(bits));
	}
	if (!bits)
		return a;
	return a.kind == S_CONST ? src_const((uint32_t)a.value << bits)
	                         : sl_op2(s, E_shl_b32, a, src_const(bits));
}

static bool address(struct sass_lower *s)
{
	unsigned at;
	uint32_t bits;
	uint64_t ones = 0;
	const struct sass_operand *first = sl_src_operand(s, 0);
	if (!shift_amount(s, &at, &bits) || !first)
		return sl_refuse(s, "an address sum whose shift is not known");
	const bool high = sl_has(s, SASS_MOD_HI);
	const bool carries = sl_has(s, SASS_MOD_X) || sl_wants_carry(s);
	if (sl_has(s, SASS_MOD_64))
		return sl_refuse(s, "a 64-bit address sum");
	const bool minus = first->flags & SASS_NEG && carries; /* what is added is negated, not a */
	if (first->flags & SASS_NOT ? high || carries : first->flags & SASS_NEG && high)
		return sl_refuse(s, "an address sum with a negative index");
	struct xsrc a = minus ? sl_bits(s, 0) : sl_int(s, 0);
	a = index_shifted(s, a, bits);
	if (!carries) {
		const struct xsrc b = sl_int(s, 1);
		if (sl_is_zero(b))
			sl_set1(s, sl_dst(s, 0), E_mov_b32, a);
		else
			sl_set2(s, sl_dst(s, 0), E_add_b32, a, b);
		return true;
	}
	const struct xsrc b = carry_term(s, 1, &ones);
	if (minus) {
		a = a.kind == S_CONST ? src_const(~(uint32_t)a.value) : sl_op1(s, E_not_b32, a);
		ones++;
	}
	const struct xsrc two[] = { a, b };
	if (!ones && !sl_has(s, SASS_MOD_X) && plain_carry(s, two, 2))
		return true;
	struct xsrc sum = sl_add64(s, sl_extended(s, a), sl_extended(s, b));
	sum = sl_add64(s, sum, src_const(ones));
	if (sl_has(s, SASS_MOD_X))
		sum = sl_add64(s, sum, sl_extended(s, sl_as_number(s, sl_pred(s, 0, false))));
	set_sum(s, sum);
	return true;
}

bool sl_lea(struct sass_lower *s)
{
	if (sl_take_up_sum(s))
		return true;
	const struct xsrc whole = sl_whole_sum(s);
	if (!address(s))
		return false;
	if (whole.kind == S_REG)
		sl_set1(s, sl_dst(s, 0), E_trunc32, whole);
	return true;
}

/* --- comparisons --- */

bool sl_isetp(struct sass_lower *s)
{
	const bool wide = sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_S64) || sl_has(s, SASS_MOD_64);
	const bool sign = !sl_has(s, SASS_MOD_U32) && !sl_has(s, SASS_MOD_U64);
	const enum ptx_type type = wide ? (sign ? PTX_S64 : PTX_U64) : sign ? PTX_S32 : PTX_U32;
	const enum ptx_cmp cmp = sl_comparison(s);
	if (cmp == CMP_NONE)
		return sl_refuse(s, "this comparison");
	const struct xsrc a = wide ? sl_wide(s, 0, sign) : sl_int(s, 0),
					  b = wide ? sl_wide(s, 1, sign) : sl_int(s, 1);
	struct xsrc c = sl_cmp(s, cmp, type, a, b);
	if (sl_has(s, SASS_MOD_EX)) { /* the lower words decide where the upper ones are equal */
		const struct xsrc lower = sl_pred(s, 1, true), same = sl_cmp(s, CMP_EQ, type, a, b);
		c = sl_bool(s, BOOL_OR, sl_bool(s, BOOL_AND, same, lower),
		            sl_bool(s, BOOL_AND, src_not(same), c));
	}
	return sl_set_comparison(s, c, 0);
}

bool sl_iabs(struct sass_lower *s)
{
	sl_set1(s, sl_dst(s, 0), E_abs_s32, sl_int(s, 0));
	return true;
}

/* --- bits --- */

bool sl_popc(struct sass_lower *s)
{
	sl_set1(s, sl_dst(s, 0), E_popc_b32, sl_bits(s, 0));
	return true;
}

bool sl_brev(struct sass_lower *s)
{
	sl_set1(s, sl_dst(s, 0), E_brev_b32, sl_bits(s, 0));
	return true;
}

/* The position of the highest bit that is not the sign; SH: how far to shift it up. */
bool sl_flo(struct sass_lower *s)
{
	const struct xsrc a = sl_bits(s, 0);
	struct xsrc at = sl_op1(s, sl_has(s, SASS_MOD_U32) ? E_bfind_u32 : E_bfind_s32, a);
	const struct xsrc none = sl_cmp(s, CMP_EQ, PTX_U32, at, src_const(0xffffffffu));
	if (sl_has(s, SASS_MOD_SH))
		at = sl_select(s, 4, at, sl_op2(s, E_sub_b32, src_const(31), at), none);
	sl_set_pred(s, sl_dst_pred(s, 0), src_not(none));
	sl_set1(s, sl_dst(s, 0), E_mov_b32, at);
	return true;
}

bool sl_bmsk(struct sass_lower *s)
{
	const struct xsrc at = sl_bits(s, 0), n = sl_bits(s, 1);
	sl_set2(s, sl_dst(s, 0), sl_has(s, SASS_MOD_W) ? E_bmsk_wrap : E_bmsk_clamp, at, n);
	return true;
}

bool sl_sgxt(struct sass_lower *s)
{
	static const enum emu_op ops[2][2] = { { E_szext_s_clamp, E_szext_s_wrap },
		                                   { E_szext_u_clamp, E_szext_u_wrap } };
	const struct xsrc a = sl_bits(s, 0), n = sl_bits(s, 1);
	sl_set2(s, sl_dst(s, 0), ops[sl_has(s, SASS_MOD_U32)][sl_has(s, SASS_MOD_W)], a, n);
	return true;
}

/* Sums of products of bytes: IDP.4A.S8.U8, IDP.2A.LO.U16.S8. */
bool sl_idp(struct sass_lower *s)
{
	static const enum emu_op four[2][2] = { { E_dp4a_uu, E_dp4a_us }, { E_dp4a_su, E_dp4a_ss } };
	static const enum emu_op lower[2][2] = { { E_dp2a_lo_uu, E_dp2a_lo_us },
		                                     { E_dp2a_lo_su, E_dp2a_lo_ss } };
	static const enum emu_op upper[2][2] = { { E_dp2a_hi_uu, E_dp2a_hi_us },
		                                     { E_dp2a_hi_su, E_dp2a_hi_ss } };
	bool sign[2] = { true, true };
	unsigned n = 0;
	for (unsigned k = 0; k < s->i->n_mods; k++) {
		const enum sass_mod m = s->i->mods[k];
		const bool is_type =
			m == SASS_MOD_U8 || m == SASS_MOD_S8 || m == SASS_MOD_U16 || m == SASS_MOD_S16;
		if (is_type && n < 2)
			sign[n++] = m == SASS_MOD_S8 || m == SASS_MOD_S16;
	}
	const struct xsrc a = sl_bits(s, 0), b = sl_bits(s, 1), c = sl_int(s, 2);
	const enum emu_op op = sl_has(s, SASS_MOD_4A)   ? four[sign[0]][sign[1]]
	                       : sl_has(s, SASS_MOD_HI) ? upper[sign[0]][sign[1]]
	                                                : lower[sign[0]][sign[1]];
	sl_set3(s, sl_dst(s, 0), op, a, b, c);
	return true;
}

/*
 * Least and greatest of whole numbers in machine code, of 32 and 64 bits and of the halves or
 * bytes of a register (DPX), sums of such parts, and differences of the four bytes of one.
 */
#include "emu/lower/sass_lower.h"

static bool is_signed(const struct sass_lower *s)
{
	return !sl_has(s, SASS_MOD_U32) && !sl_has(s, SASS_MOD_U64) && !sl_has(s, SASS_MOD_U16x2) &&
	       !sl_has(s, SASS_MOD_U8x4);
}

static bool has_wide(const struct sass_lower *s)
{
	return sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_S64);
}

/* Numbers that share a register: 1, 2 or 4. */
static unsigned parts_of(const struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_U16x2) || sl_has(s, SASS_MOD_S16x2) || sl_has(s, SASS_MOD_16x2))
		return 2;
	return sl_has(s, SASS_MOD_U8x4) || sl_has(s, SASS_MOD_S8x4) || sl_has(s, SASS_MOD_8x4) ? 4 : 1;
}

struct numbers {
	unsigned parts;
	bool sign;
	struct xsrc n[4];
};

static struct xsrc part_of(struct sass_lower *s, struct xsrc v, unsigned part, unsigned parts,
                           bool sign)
{
	const unsigned bits = 32 / parts;
	return sl_op3(s, sign ? E_bfe_s32 : E_bfe_u32, v, src_const(bits * part), src_const(bits));
}

static struct numbers numbers_of(struct sass_lower *s, unsigned source)
{
	struct numbers out = { .parts = parts_of(s), .sign = is_signed(s) };
	if (out.parts == 1) {
		out.n[0] = sl_int(s, source);
		return out;
	}
	const struct xsrc v = sl_bits(s, source);
	const struct sass_operand *o = sl_src_operand(s, source);
	for (unsigned k = 0; k < out.parts; k++) {
		out.n[k] = part_of(s, v, k, out.parts, out.sign);
		if (o && o->flags & SASS_NEG)
			out.n[k] = sl_op2(s, E_sub_b32, src_const(0), out.n[k]);
	}
	return out;
}

/* What is above the bits of a part is lost. */
static struct numbers sums_of(struct sass_lower *s, struct numbers a, struct numbers b)
{
	for (unsigned k = 0; k < a.parts; k++) {
		a.n[k] = sl_op2(s, E_add_b32, a.n[k], b.n[k]);
		if (a.parts > 1)
			a.n[k] = part_of(s, a.n[k], 0, a.parts, a.sign);
	}
	return a;
}

static struct xsrc least_or_greatest(struct sass_lower *s, struct xsrc a, struct xsrc b,
                                     struct xsrc least)
{
	const bool wide = has_wide(s), sign = is_signed(s);
	const enum emu_op min = wide ? (sign ? E_min_s64 : E_min_u64) : sign ? E_min_s32 : E_min_u32;
	const enum emu_op max = wide ? (sign ? E_max_s64 : E_max_u64) : sign ? E_max_s32 : E_max_u32;
	if (least.kind == S_CONST)
		return sl_op2(s, least.value ? min : max, a, b);
	return sl_select(s, wide ? 8 : 4, sl_op2(s, min, a, b), sl_op2(s, max, a, b), least);
}

static struct numbers extremes(struct sass_lower *s, struct numbers a, struct numbers b,
                               struct xsrc least)
{
	for (unsigned k = 0; k < a.parts; k++)
		a.n[k] = least_or_greatest(s, a.n[k], b.n[k], least);
	return a;
}

static bool set_numbers(struct sass_lower *s, struct numbers v)
{
	const unsigned bits = 32 / v.parts;
	struct xsrc all = src_const(0);
	for (unsigned k = 0; k < v.parts; k++) {
		struct xsrc n = v.n[k];
		if (sl_has(s, SASS_MOD_RELU))
			n = sl_op2(s, E_max_s32, n, src_const(0));
		if (v.parts > 1)
			n = part_of(s, n, 0, v.parts, false);
		all = k ? sl_op2(s, E_or_b32, all, sl_op2(s, E_shl_b32, n, src_const(bits * k))) : n;
	}
	sl_set1(s, sl_dst(s, 0), E_mov_b32, all);
	return true;
}

/* Which of the two was taken, as a predicate. */
static bool tells_which(const struct sass_lower *s)
{
	for (unsigned k = 0; k < s->i->n_dsts; k++) {
		const struct sass_operand *o = &s->i->operands[k];
		if ((o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED) && o->reg != SASS_PT)
			return true;
	}
	return false;
}

static bool known_form(struct sass_lower *s)
{
	if (tells_which(s))
		return sl_refuse(s, "least and greatest of this form");
	return true;
}

/* VIMNMX.S16x2 R5, P0, P1, R0, R5, PT: for each part, whether it is the first source's. */
static void set_which(struct sass_lower *s, const struct numbers *found, const struct numbers *a)
{
	for (unsigned k = 0; k < found->parts; k++)
		if (sl_dst_pred(s, k) >= 0)
			sl_set_pred(s, sl_dst_pred(s, k), sl_cmp(s, CMP_EQ, PTX_U32, found->n[k], a->n[k]));
}

bool sl_imnmx(struct sass_lower *s)
{
	const struct xsrc least = sl_pred(s, 0, true);
	const bool parts = parts_of(s) == 2 && !sl_has(s, SASS_MOD_RELU);
	if (!parts && !known_form(s))
		return false;
	if (parts) {
		const struct numbers a = numbers_of(s, 0), found = extremes(s, a, numbers_of(s, 1), least);
		set_which(s, &found, &a); /* which may overwrite no source: the numbers are read */
		return set_numbers(s, found);
	}
	if (has_wide(s)) {
		const bool sign = is_signed(s);
		const struct xsrc a = sl_wide(s, 0, sign), b = sl_wide(s, 1, sign);
		sl_set_wide(s, least_or_greatest(s, a, b, least));
		return true;
	}
	return set_numbers(s, extremes(s, numbers_of(s, 0), numbers_of(s, 1), least));
}

/* Of a + b and c. */
bool sl_viaddmnmx(struct sass_lower *s)
{
	const struct xsrc least = sl_pred(s, 0, true);
	if (!known_form(s) || has_wide(s))
		return sl_refuse(s, "least and greatest of this form");
	const struct numbers sum = sums_of(s, numbers_of(s, 0), numbers_of(s, 1));
	return set_numbers(s, extremes(s, sum, numbers_of(s, 2), least));
}

bool sl_vimnmx3(struct sass_lower *s)
{
	const struct xsrc least = sl_pred(s, 0, true);
	if (!known_form(s) || has_wide(s))
		return sl_refuse(s, "least and greatest of this form");
	const struct numbers two = extremes(s, numbers_of(s, 0), numbers_of(s, 1), least);
	return set_numbers(s, extremes(s, two, numbers_of(s, 2), least));
}

/* VIADD.16x2, .U8x4: two or four sums. */
bool sl_packed_sum(struct sass_lower *s)
{
	return set_numbers(s, sums_of(s, numbers_of(s, 0), numbers_of(s, 1)));
}

/* --- differences --- */

/* |a - b| + c */
bool sl_vabsdiff(struct sass_lower *s)
{
	for (unsigned k = 0; k < s->i->n_mods; k++)
		if (s->i->mods[k] != SASS_MOD_U32)
			return sl_refuse(s, "this form of a difference");
	const struct xsrc a = sl_int(s, 0), b = sl_int(s, 1), c = sl_int(s, 2);
	sl_set3(s, sl_dst(s, 0), sl_has(s, SASS_MOD_U32) ? E_sad_u32 : E_sad_s32, a, b, c);
	return true;
}

/* |a - b| of each byte; ACC: their sum + c. */
bool sl_vabsdiff4(struct sass_lower *s)
{
	const bool sum = sl_has(s, SASS_MOD_ACC), sign = sl_has(s, SASS_MOD_S8);
	const struct xsrc a = sl_bits(s, 0), b = sl_bits(s, 1), bits = src_const(8);
	struct xsrc v = sum ? sl_bits(s, 2) : src_const(0);
	if (!sign && !sl_has(s, SASS_MOD_U8))
		return sl_refuse(s, "this form of a difference");
	for (unsigned k = 0; k < 4; k++) {
		const enum emu_op part = sign ? E_bfe_s32 : E_bfe_u32;
		const struct xsrc x = sl_op3(s, part, a, src_const(8 * k), bits);
		const struct xsrc y = sl_op3(s, part, b, src_const(8 * k), bits);
		const struct xsrc c = sum ? v : src_const(0);
		const struct xsrc d = sl_op3(s, sign ? E_sad_s32 : E_sad_u32, x, y, c);
		v = sum ? d : sl_op2(s, E_or_b32, v, sl_op2(s, E_shl_b32, d, src_const(8 * k)));
	}
	sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
	return true;
}

/*
 * Video instructions (PTX ISA 9.0, 9.7.18). vadd2 to vset4: two halfwords or four bytes of a word
 * at a time, by operations on words; without selectors and masks: lane i of a and of b make lane i
 * of d. vadd to vset: of one value, which may be a part of a register, by operations on 64 bits.
 */
#include "emu/lower/lower_inst.h"

struct video {
	struct lower *l;
	unsigned bits; /* of a lane */
};

static struct xsrc do2(const struct video *v, enum emu_op op, struct xsrc a, struct xsrc b)
{
	return src_reg(low_op2(v->l, op, -1, a, b));
}

static struct xsrc lane_of(const struct video *v, struct xsrc word, unsigned i, enum ptx_type type)
{
	return src_reg(low_op3(v->l, type == PTX_S32 ? E_bfe_s32 : E_bfe_u32, -1, word,
	                       src_const(i * v->bits), src_const(v->bits)));
}

/* Halves are rounded up where the sum is not negative, and down else. */
static struct xsrc average(const struct video *v, struct xsrc a, struct xsrc b)
{
	const struct xsrc sum = do2(v, E_add_b32, a, b);
	const struct xsrc sign = do2(v, E_shr_s32, sum, src_const(31)); /* 0 or -1 */
	const struct xsrc up = do2(v, E_add_b32, sign, src_const(1));
	return do2(v, E_shr_s32, do2(v, E_add_b32, sum, up), src_const(1));
}

/* 1 or 0. Lanes of either type are numbers of 32 bits. */
static struct xsrc holds(const struct video *v, struct xsrc a, struct xsrc b)
{
	const int32_t p = low_cmp(v->l, -1, v->l->in->cmp, PTX_S32, a, b);
	return src_reg(low_select(v->l, -1, 4, src_const(1), src_const(0), src_reg(p)));
}

static struct xsrc result_of(const struct video *v, struct xsrc a, struct xsrc b)
{
	switch (v->l->in->op) {
	case OP_VADD2:
	case OP_VADD4: return do2(v, E_add_b32, a, b);
	case OP_VSUB2:
	case OP_VSUB4: return do2(v, E_sub_b32, a, b);
	case OP_VMIN2:
	case OP_VMIN4: return do2(v, E_min_s32, a, b);
	case OP_VMAX2:
	case OP_VMAX4: return do2(v, E_max_s32, a, b);
	case OP_VAVRG2:
	case OP_VAVRG4: return average(v, a, b);
	case OP_VSET2:
	case OP_VSET4: return holds(v, a, b);
	default: return src_reg(low_op3(v->l, E_sad_s32, -1, a, b, src_const(0)));
	}
}

static struct xsrc saturated(const struct video *v, struct xsrc x, enum ptx_type type)
{
	const unsigned bits = type == PTX_S32 ? v->bits - 1 : v->bits;
	const uint32_t most = (1u << bits) - 1, least = type == PTX_S32 ? ~most : 0;
	return do2(v, E_min_s32, do2(v, E_max_s32, x, src_const(least)), src_const(most));
}

static bool video(struct lower *l, unsigned lanes)
{
	const struct video v = { l, 32 / lanes };
	const struct ptx_inst *in = l->in;
	const bool set = in->op == OP_VSET2 || in->op == OP_VSET4;
	const enum ptx_type type_a = set ? in->type : in->mma.types[1],
						type_b = set ? in->type2 : in->mma.types[2];
	const struct xsrc a = low_src(l, 1, 4), b = low_src(l, 2, 4), c = low_src(l, 3, 4);
	const bool adds = in->atom == ATOM_ADD;
	struct xsrc d = adds ? c : src_const(0);
	for (unsigned i = 0; i < lanes; i++) {
		struct xsrc x = result_of(&v, lane_of(&v, a, i, type_a), lane_of(&v, b, i, type_b));
		if (in->flags & PF_SAT)
			x = saturated(&v, x, in->mma.types[0]);
		d = adds ? do2(&v, E_add_b32, d, x)
		         : src_reg(
					   low_op4(l, E_bfi_b32, -1, x, d, src_const(i * v.bits), src_const(v.bits)));
	}
	low_op1(l, E_mov_b32, low_dst(l, 0), d);
	return !l->failed;
}

bool low_video2(struct lower *l)
{
	return video(l, 2);
}

bool low_video4(struct lower *l)
{
	return video(l, 4);
}

/* --- of one value --- */

static struct xsrc op2(struct lower *l, enum emu_op op, struct xsrc a, struct xsrc b)
{
	return src_reg(low_op2(l, op, -1, a, b));
}

static unsigned part_bits(int64_t part)
{
	return part == PART_ALL ? 32 : part < PART_HALF ? 8 : 16;
}

static unsigned part_begin(int64_t part)
{
	return part == PART_ALL   ? 0
	       : part < PART_HALF ? 8 * (unsigned)(part - PART_BYTE)
	                          : 16 * (unsigned)(part - PART_HALF);
}

/* Operand @i, or the part of it that is selected, with 64 bits. */
static struct xsrc value_of(struct lower *l, unsigned i, enum ptx_type type)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	const int64_t part = o->kind == OPND_REG ? o->i64 : PART_ALL;
	const bool sign = type == PTX_S32;
	struct xsrc v = low_src(l, i, 4);
	if (part != PART_ALL)
		v = src_reg(low_op3(l, sign ? E_bfe_s32 : E_bfe_u32, -1, v, src_const(part_begin(part)),
		                    src_const(part_bits(part))));
	return src_reg(low_op1(l, sign ? E_sext64 : E_zext64, -1, v));
}

static struct xsrc between(struct lower *l, struct xsrc v, bool sign, unsigned bits)
{
	const int64_t most = ((int64_t)1 << (bits - sign)) - 1, least = sign ? ~most : 0;
	v = op2(l, E_max_s64, v, src_const((uint64_t)least));
	return op2(l, E_min_s64, v, src_const((uint64_t)most));
}

/* The low half of @v, as a number that has a sign. */
static struct xsrc signed_word(struct lower *l, struct xsrc v)
{
	return src_reg(low_op1(l, E_sext64, -1, src_reg(low_op1(l, E_trunc32, -1, v))));
}

/* a b + c, one of both with the other sign, plus one, shifted right. ptxas 13 takes whole words for
 * numbers that have a sign, and limits and shifts the sum as the operands have signs. */
static struct xsrc multiplied(struct lower *l, struct xsrc a, struct xsrc b)
{
	const struct ptx_inst *in = l->in;
	const bool minus = in->opnd[1].negated != in->opnd[2].negated, minus_c = in->opnd[3].negated;
	const bool sign =
		in->mma.types[1] == PTX_S32 || in->mma.types[2] == PTX_S32 || minus || minus_c;
	struct xsrc c = value_of(l, 3, PTX_S32), factor = signed_word(l, a);
	factor = minus ? op2(l, E_sub_b64, src_const(0), factor) : factor;
	c = minus_c ? op2(l, E_sub_b64, src_const(0), c) : c;
	struct xsrc v = src_reg(low_op3(l, E_mad_lo_b64, -1, factor, signed_word(l, b), c));
	if (in->mma.count)
		v = op2(l, E_add_b64, v, src_const(1));
	if (in->mma.k)
		v = op2(l, sign ? E_shr_s64 : E_shr_u64, v, src_const(in->mma.k));
	return in->flags & PF_SAT ? between(l, v, sign, 32) : v;
}

static struct xsrc shifted(struct lower *l, struct xsrc a, struct xsrc b)
{
	const struct ptx_inst *in = l->in;
	const bool sign = in->mma.types[1] == PTX_S32;
	struct xsrc by = src_reg(low_op1(l, E_trunc32, -1, b));
	by = in->flags & PF_WRAP ? op2(l, E_and_b32, by, src_const(31))
	                         : op2(l, E_min_u32, by, src_const(32));
	return op2(l, in->op == OP_VSHL ? E_shl_b64 : sign ? E_shr_s64 : E_shr_u64, a, by);
}

static struct xsrc primary(struct lower *l, struct xsrc a, struct xsrc b)
{
	switch (l->in->op) {
	case OP_VADD: return op2(l, E_add_b64, a, b);
	case OP_VSUB: return op2(l, E_sub_b64, a, b);
	case OP_VMIN: return op2(l, E_min_s64, a, b);
	case OP_VMAX: return op2(l, E_max_s64, a, b);
	case OP_VMAD: return multiplied(l, a, b);
	case OP_VSHL:
	case OP_VSHR: return shifted(l, a, b);
	case OP_VSET: {
		const struct xsrc holds = src_reg(low_cmp(l, -1, l->in->cmp, PTX_S64, a, b));
		return src_reg(low_select(l, -1, 8, src_const(1), src_const(0), holds));
	}
	default: return src_reg(low_op1(l, E_abs_s64, -1, op2(l, E_sub_b64, a, b)));
	}
}

/* Saturation as ptxas 13 has it: a part of d gets the most for whatever does not fit, less than 0,
 * too, but no shift limits it; what has no sign is else only kept from being less than 0. */
static struct xsrc limited(struct lower *l, struct xsrc v, bool sign, int64_t part)
{
	const bool shifts = l->in->op == OP_VSHR;
	if (!sign && (part == PART_ALL || shifts))
		return op2(l, E_max_s64, v, src_const(0));
	if (part == PART_ALL)
		return between(l, v, true, 32);
	if (shifts)
		return v;
	return op2(l, E_min_u64, v, src_const(((uint64_t)1 << (part_bits(part) - sign)) - 1));
}

/* The smaller or the larger of a result and c, as ptxas 13 compares them: of 64 bits, without signs
 * if d has none; a sum, a difference or what a shift was limited to is taken for a word that has
 * one. */
static struct xsrc compared(struct lower *l, struct xsrc v, bool sign)
{
	const enum ptx_op op = l->in->op;
	const bool less = l->in->atom == ATOM_MIN;
	if (op == OP_VADD || op == OP_VSUB || (op == OP_VSHR && l->in->flags & PF_SAT))
		v = signed_word(l, v);
	const struct xsrc c = value_of(l, 3, sign ? PTX_S32 : PTX_U32);
	if (sign)
		return op2(l, less ? E_min_s64 : E_max_s64, v, c);
	return op2(l, less ? E_min_u64 : E_max_u64, v, c);
}

/* @v in its part of c; ptxas takes the upper half of @v for the upper half of d. */
static struct xsrc merged(struct lower *l, struct xsrc v, int64_t part)
{
	const unsigned begin = part_begin(part);
	if (part == PART_HALF + 1)
		v = op2(l, E_shr_u32, v, src_const(begin));
	return src_reg(low_op4(l, E_bfi_b32, -1, v, low_src(l, 3, 4), src_const(begin),
	                       src_const(part_bits(part))));
}

bool low_video(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool set = in->op == OP_VSET, sign = !set && in->mma.types[0] == PTX_S32;
	const enum ptx_type a = set ? in->type : in->mma.types[1],
						b = set ? in->type2 : in->mma.types[2];
	const int64_t part = in->opnd[0].i64;
	const bool third = in->opnd[3].kind != OPND_NONE;
	if (in->opnd[3].negated && in->opnd[1].negated != in->opnd[2].negated)
		return low_refuse(l, "either the product or the third source has the other sign");
	if (in->op != OP_VMAD && third != (in->atom != ATOM_NONE || part != PART_ALL))
		return low_refuse(l, "a third source belongs to .add .min .max or to a part of d");
	if (in->atom != ATOM_NONE && part != PART_ALL)
		return low_refuse(l, ".add .min .max do not go with a part of d");
	struct xsrc v = primary(l, value_of(l, 1, a), value_of(l, 2, b));
	if (in->flags & PF_SAT && in->op != OP_VMAD)
		v = limited(l, v, sign, part);
	if (in->atom == ATOM_MIN || in->atom == ATOM_MAX)
		v = compared(l, v, sign || (set && in->type == PTX_S32));
	v = src_reg(low_op1(l, E_trunc32, -1, v));
	if (part != PART_ALL)
		v = merged(l, v, part);
	else if (in->atom == ATOM_ADD)
		v = op2(l, E_add_b32, v, low_src(l, 3, 4));
	low_op1(l, E_mov_b32, low_dst(l, 0), v);
	return !l->failed;
}

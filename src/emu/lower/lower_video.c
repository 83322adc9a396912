/*
 * SIMD video instructions (PTX ISA 9.0, 9.7.18: vadd2 to vmax4): two halfwords or four bytes of a
 * word at a time, by operations on words. Without selectors and masks: lane i of a and of b make
 * lane i of d.
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
	const enum ptx_type *types = l->in->mma.types;
	const struct xsrc a = low_src(l, 1, 4), b = low_src(l, 2, 4), c = low_src(l, 3, 4);
	const bool adds = l->in->atom == ATOM_ADD;
	struct xsrc d = adds ? c : src_const(0);
	for (unsigned i = 0; i < lanes; i++) {
		struct xsrc x = result_of(&v, lane_of(&v, a, i, types[1]), lane_of(&v, b, i, types[2]));
		if (l->in->flags & PF_SAT)
			x = saturated(&v, x, types[0]);
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

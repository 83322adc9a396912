/* Instructions in which lanes see one another (PTX ISA 9.0, 9.7.9, 9.7.13). */
#include "emu/lower/lower_inst.h"

/* Operation @kind with @n sources, results d and, where there is a second one, p. */
static bool warp_wide(struct lower *l, enum xkind kind, unsigned op, unsigned n,
                      const struct xsrc *s, bool second)
{
	struct xop *x = low_emit(l, kind);
	x->op = (uint16_t)op;
	x->type = l->in->type;
	x->bytes = (uint8_t)type_lane(l->in->type);
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = s[i];
	x->n_d = second ? 2 : 1;
	x->d[0] = low_dst(l, 0);
	if (second)
		x->d[1] = low_dst(l, 1);
	return !l->failed;
}

bool low_shfl(struct lower *l)
{
	const unsigned n = l->in->n_opnds > 5 && l->in->opnd[5].kind != OPND_NONE ? 4 : 3;
	struct xsrc s[4];
	for (unsigned i = 0; i < n; i++)
		s[i] = low_src(l, 2 + i, 4);
	return warp_wide(l, X_SHFL, l->in->mode, n, s, true);
}

bool low_vote(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct xsrc s[] = { low_pred(l, 1), src_const(0xffffffffu) };
	if (in->n_opnds > 2 && in->opnd[2].kind != OPND_NONE)
		s[1] = low_src(l, 2, 4);
	return warp_wide(l, X_VOTE, in->mode, 2, s, false);
}

bool low_match(struct lower *l)
{
	const struct xsrc value = low_src(l, 2, type_lane(l->in->type)), members = low_src(l, 3, 4);
	const struct xsrc s[] = { value, members };
	const bool good = warp_wide(l, X_MATCH, l->in->mode, 2, s, true);
	l->ir->ops[l->ir->n_ops - 1].mem = (int32_t)l->ir->n_mem++;
	return good;
}

/*
 * float32 in the order of whole numbers with signs: negative ones turned round. The largest and
 * the smallest whole number are NaN; what is no number becomes the one of them that loses against
 * every number, with .NaN the one that wins.
 */
void low_redux_f32(struct lower *l, int32_t d, bool greatest, bool nan_wins, struct xsrc v,
                   struct xsrc lanes)
{
	const struct xsrc nan = src_reg(low_cmp(l, -1, CMP_NAN, PTX_F32, v, v));
	const struct xsrc sign = src_reg(low_op2(l, E_shr_s32, -1, v, src_const(31)));
	const struct xsrc turn = src_reg(low_op2(l, E_and_b32, -1, sign, src_const(0x7fffffff)));
	const struct xsrc order = src_reg(low_op2(l, E_xor_b32, -1, v, turn));
	const struct xsrc of_nan = src_const(greatest == nan_wins ? 0x7fffffff : 0x80000000);
	const int32_t value = low_select(l, -1, 4, of_nan, order, nan), least = low_temp(l, 4);
	struct xop *x = low_emit(l, X_REDUX);
	x->op = (uint16_t)(greatest ? ATOM_MAX : ATOM_MIN);
	x->type = PTX_S32;
	x->bytes = 4;
	x->n_s = 2;
	x->s[0] = src_reg(value);
	x->s[1] = lanes;
	x->n_d = 1;
	x->d[0] = least;
	const struct xsrc r = src_reg(least);
	const struct xsrc back = src_reg(low_op2(l, E_shr_s32, -1, r, src_const(31)));
	const struct xsrc bits = src_reg(low_op2(l, E_and_b32, -1, back, src_const(0x7fffffff)));
	const struct xsrc f = src_reg(low_op2(l, E_xor_b32, -1, r, bits));
	const struct xsrc none = src_reg(low_cmp(l, -1, CMP_NAN, PTX_F32, f, f));
	low_select(l, d, 4, src_const(0x7fffffff), f, none);
}

static bool redux_f32(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct xsrc v = low_src(l, 1, 4);
	if (!low_needs(l, 100))
		return false;
	if (in->atom != ATOM_MIN && in->atom != ATOM_MAX)
		return low_refuse(l, "only .min and .max are for .f32");
	if (in->flags & PF_ABS)
		v = src_reg(low_op2(l, E_and_b32, -1, v, src_const(0x7fffffff)));
	low_redux_f32(l, low_dst(l, 0), in->atom == ATOM_MAX, in->flags & PF_NAN, v, low_src(l, 2, 4));
	return !l->failed;
}

bool low_redux(struct lower *l)
{
	if (l->in->type == PTX_F32)
		return redux_f32(l);
	if (l->in->flags & (PF_ABS | PF_NAN))
		return low_refuse(l, ".abs and .NaN are for .f32");
	const struct xsrc value = low_src(l, 1, 4), members = low_src(l, 2, 4);
	const struct xsrc s[] = { value, members };
	return warp_wide(l, X_REDUX, l->in->atom, 2, s, false);
}

bool low_activemask(struct lower *l)
{
	return warp_wide(l, X_ACTIVE, MODE_NONE, 0, NULL, false);
}

bool low_elect(struct lower *l)
{
	const struct xsrc members = low_src(l, 2, 4);
	return warp_wide(l, X_ELECT, MODE_NONE, 1, &members, true);
}

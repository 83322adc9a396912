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
	struct xsrc s[3];
	for (unsigned i = 0; i < 3; i++)
		s[i] = low_src(l, 2 + i, 4);
	return warp_wide(l, X_SHFL, l->in->mode, 3, s, true);
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
	return warp_wide(l, X_MATCH, l->in->mode, 2, s, true);
}

bool low_redux(struct lower *l)
{
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
	return warp_wide(l, X_ELECT, MODE_NONE, 0, NULL, true);
}

/* Textures and surfaces: tex, tld4, suld, sust (PTX ISA 9.0, 9.7.10, 9.7.11). */
#include "emu/lower/lower_inst.h"

/* Coordinates that the shape has; further ones are padding. */
static unsigned coordinates(enum ptx_geometry g)
{
	switch (g) {
	case GEOMETRY_1D: return 1;
	case GEOMETRY_2D:
	case GEOMETRY_A1D: return 2;
	case GEOMETRY_ACUBE: return 4;
	default: return 3;
	}
}

/* An element of a vector: a register, or -1, which is the constant 0. */
static struct xsrc element(int32_t reg)
{
	return reg < 0 ? src_const(0) : src_reg(reg);
}

/* Handle and coordinates of operand @i. */
static struct xop *texture_op(struct lower *l, unsigned i)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *t = &in->opnd[i];
	const unsigned n = coordinates(in->geometry);
	if (t->kind != OPND_VEC || t->n_vec < n + 1) {
		low_refuse(l, "too few coordinates");
		return NULL;
	}
	struct xop *x = low_emit(l, X_TEXTURE);
	x->op = (uint16_t)in->op;
	x->type = in->type;
	x->type2 = in->type2;
	x->mode = in->mode;
	x->geometry = in->geometry;
	x->bytes = (uint8_t)ptx_type_bytes(in->type);
	x->vec = in->vec;
	for (unsigned k = 0; k <= n; k++)
		x->s[x->n_s++] = src_reg(t->vec[k]);
	return x;
}

static bool to_registers(struct lower *l, struct xop *x, const struct ptx_operand *d)
{
	x->n_d = (uint8_t)(d->kind == OPND_VEC ? d->n_vec : 1);
	if (x->n_d > 4)
		return low_refuse(l, "more than four values");
	for (unsigned i = 0; i < x->n_d; i++)
		x->d[i] = d->kind == OPND_VEC ? d->vec[i] : d->kind == OPND_REG ? d->reg : -1;
	return true;
}

/* How far the place moves from one pixel to the next: as many numbers as it has dimensions. */
static bool gradient(struct lower *l, struct xop *x, const struct ptx_operand *g)
{
	const bool layered =
		x->geometry == GEOMETRY_A1D || x->geometry == GEOMETRY_A2D || x->geometry == GEOMETRY_ACUBE;
	const unsigned n = coordinates(x->geometry) - layered;
	if (g->kind == OPND_REG && n == 1) {
		x->s[x->n_s++] = src_reg(g->reg);
		return true;
	}
	if (g->kind != OPND_VEC || g->n_vec < n)
		return low_refuse(l, "too short a gradient");
	for (unsigned k = 0; k < n; k++)
		x->s[x->n_s++] = element(g->vec[k]);
	return true;
}

/* The level, or the gradients that it follows from, stand behind the coordinates. */
bool low_texture(struct lower *l)
{
	const bool surface = l->in->op == OP_SULD_B;
	const unsigned place = surface ? 1 : 2;
	const struct ptx_operand *more = &l->in->opnd[place + 1];
	const bool level = l->in->mode == MODE_LEVEL, gradients = l->in->mode == MODE_GRAD;
	const struct xsrc lod =
		level ? src_reg(low_op1(l, E_mov_b32, -1, low_src(l, place + 1, 4))) : src_const(0);
	if ((level || gradients) && more->kind == OPND_NONE)
		return low_refuse(l, "no level");
	struct xop *x = texture_op(l, place);
	if (!x || !to_registers(l, x, &l->in->opnd[0]))
		return false;
	if (level)
		x->s[x->n_s++] = lod;
	if (gradients && (!gradient(l, x, more) || !gradient(l, x, more + 1)))
		return false;
	if (!surface && l->in->opnd[1].kind != OPND_NONE) /* all texels are there: no array is sparse */
		low_bool(l, low_dst(l, 1), BOOL_NONE, src_const(0xffffffffu), src_const(0));
	return !l->failed;
}

bool low_surface_store(struct lower *l)
{
	const struct ptx_operand *v = &l->in->opnd[1];
	struct xop *x = texture_op(l, 0);
	if (!x || (v->kind != OPND_VEC && v->kind != OPND_REG))
		return x ? low_refuse(l, "a constant cannot be stored to a surface") : false;
	const unsigned n = v->kind == OPND_VEC ? v->n_vec : 1;
	for (unsigned i = 0; i < n && i < 4; i++)
		x->s[x->n_s++] = element(v->kind == OPND_VEC ? v->vec[i] : v->reg);
	return true;
}

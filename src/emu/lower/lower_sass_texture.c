/*
 * Machine code of textures and surfaces. TEX d', d, coordinates, level, handle, shape, mask: the
 * values that the mask names, two in registers from d on, two from d' on. SCR: two coordinates from
 * the first register on (TLD4: one), the others in front of the level. TXD, with gradients: the
 * layer stands last, lines are planes of one row, and the two gradients take turns by dimension.
 * LL: a level, in the register of its own, behind the coordinates that stand there. A predicate in
 * front of d' says that a texel is not in memory.
 */
#include "emu/lower/sass_lower.h"

struct shape {
	enum sass_mod mod;
	enum ptx_geometry geometry;
	unsigned coordinates;
};
static const struct shape shapes[] = {
	{ SASS_MOD_1D, GEOMETRY_1D, 1 },
	{ SASS_MOD_2D, GEOMETRY_2D, 2 },
	{ SASS_MOD_3D, GEOMETRY_3D, 3 },
	{ SASS_MOD_CUBE, GEOMETRY_CUBE, 3 },
	{ SASS_MOD_ARRAY_1D, GEOMETRY_A1D, 2 },
	{ SASS_MOD_ARRAY_2D, GEOMETRY_A2D, 3 },
	{ SASS_MOD_1D_ARRAY, GEOMETRY_A1D, 2 },
	{ SASS_MOD_2D_ARRAY, GEOMETRY_A2D, 3 },
	{ SASS_MOD_ARRAY_CUBE, GEOMETRY_ACUBE, 4 },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Of a texture an operand says it, of a surface a modifier. */
static const struct shape *shape_of(const struct sass_lower *s)
{
	for (unsigned k = 0; k < N_SHAPES; k++) {
		if (sl_has(s, shapes[k].mod))
			return &shapes[k];
		for (unsigned n = 0; n < s->i->n_operands; n++)
			if (s->i->operands[n].kind == SASS_OPND_SHAPE && s->i->operands[n].sel == shapes[k].mod)
				return &shapes[k];
	}
	return NULL;
}

/* The number of operand @n from its shape on, or behind its handle: a mask of four values. */
static unsigned mask_of(const struct sass_lower *s)
{
	bool behind = false;
	for (unsigned n = 0; n < s->i->n_operands; n++) {
		const struct sass_operand *o = &s->i->operands[n];
		if (behind && o->kind == SASS_OPND_INT)
			return (unsigned)o->value & 15;
		behind |= o->kind == SASS_OPND_SHAPE;
	}
	return 15;
}

/* In a uniform register; before sm_90 a bank and a word of it. */
static bool handle(struct sass_lower *s, struct xsrc *out)
{
	for (unsigned n = s->i->n_dsts; n < s->i->n_operands; n++) {
		const struct sass_operand *o = &s->i->operands[n];
		uint64_t v;
		if (o->kind == SASS_OPND_UREG) {
			const int32_t r = sl_reg(s, SASS_OPND_UREG, o->reg);
			*out = r < 0 ? src_const(0) : sl_extended(s, src_reg(r));
			return true;
		}
		if (o->kind == SASS_OPND_INT && n + 1 < s->i->n_operands && o[1].kind == SASS_OPND_INT) {
			if (!sl_constant(s, (unsigned)o->value, 4 * o[1].value, 4, &v))
				return false;
			*out = src_const((uint32_t)v);
			return true;
		}
	}
	return false;
}

static struct xsrc coordinate(struct sass_lower *s, unsigned reg)
{
	const int32_t r = sl_reg(s, SASS_OPND_REG, reg);
	return r < 0 ? sl_op1(s, E_mov_b32, src_const(0)) : src_reg(r);
}

static struct xop *texture_op(struct sass_lower *s, enum ptx_op op, const struct shape *shape,
                              struct xsrc from, const struct xsrc at[4])
{
	struct xop *x = sl_emit(s, X_TEXTURE);
	x->op = (uint16_t)op;
	x->geometry = shape->geometry;
	x->type = PTX_B32;
	x->type2 = PTX_F32;
	x->bytes = 4;
	x->vec = 1;
	x->s[x->n_s++] = from;
	for (unsigned k = 0; k < shape->coordinates; k++)
		x->s[x->n_s++] = at[k];
	return x;
}

/* The registers of the values that the mask names: two from d on, two from d' on. */
static void results(struct sass_lower *s, int32_t to[4])
{
	const unsigned mask = mask_of(s), first = s->i->n_dsts - 2u;
	unsigned n = 0;
	for (unsigned c = 0; c < 4; c++) {
		const struct sass_operand *d = &s->i->operands[first + (n < 2 ? 1 : 0)];
		const unsigned reg = d->reg == SASS_RZ ? SASS_RZ : d->reg + n % 2u;
		to[c] = mask >> c & 1 ? sl_reg(s, SASS_OPND_REG, reg) : -1;
		n += mask >> c & 1;
	}
}

static enum ptx_mode channel(const struct sass_lower *s)
{
	static const enum sass_mod channels[4] = { SASS_MOD_R, SASS_MOD_G, SASS_MOD_B, SASS_MOD_A };
	for (unsigned c = 0; c < 4; c++)
		if (sl_has(s, channels[c]))
			return (enum ptx_mode)(MODE_RED + (int)c);
	return MODE_RED;
}

static bool layer_last(const struct sass_lower *s, const struct shape *shape)
{
	return s->i->op == SASS_TXD && shape->geometry == GEOMETRY_A2D;
}

/* How many numbers say at which level it is read: one, or two gradients; none = at the first. */
static unsigned level_numbers(const struct sass_lower *s, const struct shape *shape)
{
	if (s->i->op == SASS_TXD)
		return shape->geometry == GEOMETRY_1D ? 2 : 4;
	return sl_has(s, SASS_MOD_LL);
}

/* Registers of a fetch: its coordinates, then what says the level. */
struct places {
	unsigned at[4], level[4], n_level;
};

static bool find_places(const struct sass_lower *s, const struct shape *shape, struct places *p)
{
	const struct sass_operand *first = sl_src_operand(s, 0), *second = sl_src_operand(s, 1);
	const bool scattered = sl_has(s, SASS_MOD_SCR); /* half of all numbers are in each operand */
	const bool more = second && second->kind == SASS_OPND_REG;
	p->n_level = level_numbers(s, shape);
	const unsigned n = shape->coordinates, first_half = (n + p->n_level + 1) / 2;
	const unsigned beside = scattered && n > first_half ? n - first_half : 0;
	const unsigned turn = layer_last(s, shape) ? n - 1 : 0;
	if (!first || first->kind != SASS_OPND_REG || ((beside || p->n_level) && !more))
		return false;
	for (unsigned k = 0; k < n; k++)
		p->at[k] =
			beside && k >= first_half ? second->reg + k - first_half : first->reg + (k + turn) % n;
	const unsigned dims = p->n_level / 2; /* of gradients */
	for (unsigned k = 0; k < p->n_level; k++)
		p->level[k] = second->reg + (dims ? k % dims * 2 + k / dims : beside);
	return true;
}

bool sl_texture(struct sass_lower *s)
{
	const struct shape *shape = shape_of(s);
	const bool gathers = s->i->op == SASS_TLD4;
	struct places p;
	struct xsrc from, at[4], level[4];
	int32_t to[4];
	const int32_t missing = sl_dst_pred(s, 0);
	if (!shape || s->i->n_dsts != (missing < 0 ? 2 : 3) || !find_places(s, shape, &p) ||
	    sl_has(s, SASS_MOD_AOFFI) || sl_has(s, SASS_MOD_DC) || sl_has(s, SASS_MOD_MS) ||
	    !handle(s, &from))
		return sl_refuse(s, "this form of texture access");
	for (unsigned k = 0; k < shape->coordinates; k++)
		at[k] = coordinate(s, p.at[k]);
	for (unsigned k = 0; k < p.n_level; k++)
		level[k] = coordinate(s, p.level[k]);
	results(s, to);
	struct xop *x = texture_op(s, gathers ? OP_TLD4 : OP_TEX, shape, from, at);
	for (unsigned k = 0; k < p.n_level; k++)
		x->s[x->n_s++] = level[k];
	if (p.n_level)
		x->mode = p.n_level == 1 ? MODE_LEVEL : MODE_GRAD;
	if (s->i->op == SASS_TLD)
		x->type2 = PTX_S32;
	if (gathers)
		x->mode = channel(s);
	x->n_d = 4;
	for (unsigned c = 0; c < 4; c++)
		x->d[c] = to[c];
	for (unsigned c = 0; c < 4; c++)
		sl_wrote(s, to[c]);
	sl_set_pred(s, missing, src_const(0)); /* no array is sparse */
	return true;
}

static void surface_width(const struct sass_lower *s, unsigned *bytes, unsigned *words)
{
	const bool one = sl_has(s, SASS_MOD_U8) || sl_has(s, SASS_MOD_S8);
	const bool two = sl_has(s, SASS_MOD_U16) || sl_has(s, SASS_MOD_S16);
	*bytes = one ? 1 : two ? 2 : 4;
	*words = sl_has(s, SASS_MOD_128) ? 4 : sl_has(s, SASS_MOD_64) ? 2 : 1;
}

static enum ptx_mode outside(const struct sass_lower *s)
{
	return sl_has(s, SASS_MOD_TRAP)  ? MODE_TRAP
	       : sl_has(s, SASS_MOD_IGN) ? MODE_ZERO
	                                 : MODE_CLAMPED;
}

/* SULD, SUST.D.BA: bytes as they are, x counts them. A layer stands last. */
bool sl_surface(struct sass_lower *s)
{
	const bool store = s->i->op == SASS_SUST;
	const struct shape *shape = shape_of(s);
	const struct sass_operand *m = sl_place_operand(s, 0);
	const struct sass_operand *data = store ? sl_data_operand(s, 0) : sl_dst_operand(s, 0);
	unsigned bytes, words;
	struct xsrc from, at[4], v[4];
	surface_width(s, &bytes, &words);
	if (!shape || !m || m->reg == SASS_NO_REG || !data || data->kind != SASS_OPND_REG ||
	    !sl_has(s, SASS_MOD_BA) || !handle(s, &from))
		return sl_refuse(s, "this form of texture access");
	const bool layers = shape->geometry == GEOMETRY_A1D || shape->geometry == GEOMETRY_A2D;
	const unsigned n = shape->coordinates;
	for (unsigned k = 0; k < n; k++)
		at[k] = coordinate(s, m->reg + (layers ? (k + n - 1) % n : k));
	for (unsigned k = 0; store && k < words; k++)
		v[k] = coordinate(s, data->reg == SASS_RZ ? SASS_RZ : data->reg + k);
	struct xop *x = texture_op(s, store ? OP_SUST_B : OP_SULD_B, shape, from, at);
	x->bytes = (uint8_t)bytes;
	x->vec = (uint8_t)words;
	x->mode = outside(s);
	for (unsigned k = 0; store && k < words; k++)
		x->s[x->n_s++] = v[k];
	x->n_d = store ? 0 : (uint8_t)words;
	for (unsigned k = 0; !store && k < words; k++) {
		x->d[k] = sl_dst(s, k);
		sl_wrote(s, x->d[k]);
	}
	return true;
}

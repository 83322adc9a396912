/*
 * Numbers that machine code makes in the few instructions in front of their use, and places of
 * constants that they lead to: where no jump leads in between, and no call, or nothing else writes
 * the register.
 */
#include "emu/lower/sass_lower.h"

static bool writes(const struct sass_inst *i, uint8_t kind, unsigned reg)
{
	for (unsigned k = 0; k < i->n_dsts; k++) {
		const struct sass_operand *o = &i->operands[k];
		if (o->kind == kind && o->reg <= reg && reg < o->reg + (o->words ? o->words : 1u))
			return true;
	}
	return false;
}

const struct sass_inst *sl_writer(const struct sass_func *f, const struct sass_inst *at,
                                  uint8_t kind, unsigned reg)
{
	for (const struct sass_inst *i = at; i-- > f->insts;)
		if (writes(i, kind, reg))
			return i;
	return NULL;
}

/* Does the code between @from and @to always run as it stands? */
static bool in_one_go(const struct sass_func *f, uint32_t from, uint32_t to)
{
	for (uint32_t k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		if ((i->target > (int32_t)from && i->target <= (int32_t)to) ||
		    (i->op == SASS_CALL && k > from && k < to))
			return false;
		for (uint32_t t = 0; t < i->n_targets; t++)
			if (i->targets[t] > from && i->targets[t] <= to)
				return false;
	}
	return true;
}

static bool only_writer(const struct sass_func *f, const struct sass_inst *by, uint8_t kind,
                        unsigned reg)
{
	for (const struct sass_inst *i = f->insts; i < f->insts + f->n_insts; i++)
		if (i != by && writes(i, kind, reg))
			return false;
	return true;
}

static bool known_operand(const struct sass_lower *s, const struct sass_inst *at,
                          const struct sass_operand *o, bool surely, unsigned depth,
                          int64_t *value);

/* The number that the register holds at @at, as far as the few instructions in front say it. */
static bool known_number(const struct sass_lower *s, const struct sass_inst *at, uint8_t kind,
                         unsigned reg, bool surely, unsigned depth, int64_t *value)
{
	*value = 0;
	if (reg == SASS_RZ)
		return true;
	const struct sass_inst *i = depth ? sl_writer(s->f, at, kind, reg) : NULL;
	if (!i || i->guard != SASS_PT || i->guard_not)
		return false;
	if (surely && !in_one_go(s->f, (uint32_t)(i - s->f->insts), (uint32_t)(at - s->f->insts)) &&
	    !only_writer(s->f, i, kind, reg))
		return false;
	const struct sass_operand *o = &i->operands[i->n_dsts];
	const unsigned n = i->n_operands - i->n_dsts;
	int64_t v[3];
	switch ((enum sass_op)i->op) {
	case SASS_CS2R:
	case SASS_S2R: /* 0 in launches of the emulator (lower_sass_logic.c) */
		return n && o->kind == SASS_OPND_SPECIAL && o->value == SASS_SR_CGA_SIZE;
	case SASS_MOV:
	case SASS_UMOV:
	case SASS_R2UR: return n && known_operand(s, i, o, surely, depth - 1, value);
	case SASS_IMAD:
		for (unsigned k = 0; k < 3; k++)
			if (k >= n || !known_operand(s, i, &o[k], surely, depth - 1, &v[k]))
				return false;
		*value = (int32_t)((uint32_t)v[0] * (uint32_t)v[1] + (uint32_t)v[2]);
		return !sass_has(i, SASS_MOD_WIDE) && !sass_has(i, SASS_MOD_HI) && !sass_has(i, SASS_MOD_X);
	default: return false;
	}
}

static bool known_operand(const struct sass_lower *s, const struct sass_inst *at,
                          const struct sass_operand *o, bool surely, unsigned depth, int64_t *value)
{
	*value = o->value;
	if (o->flags & (SASS_NEG | SASS_NOT | SASS_ABS))
		return false;
	if (o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG)
		return known_number(s, at, o->kind, o->reg, surely, depth, value);
	return o->kind == SASS_OPND_INT;
}

enum { STEPS_BACK = 4 };

static bool known_place(const struct sass_lower *s, const struct sass_inst *at,
                        const struct sass_operand *o, bool surely, int64_t *offset)
{
	int64_t reg = 0, ureg = 0;
	if (o->desc != SASS_NO_REG ||
	    (o->words && !known_number(s, at, SASS_OPND_REG, o->reg, surely, STEPS_BACK, &reg)) ||
	    (o->uwords && !known_number(s, at, SASS_OPND_UREG, o->ureg, surely, STEPS_BACK, &ureg)))
		return false;
	*offset = o->value + reg + ureg;
	return true;
}

bool sl_likely_place(const struct sass_lower *s, const struct sass_inst *at,
                     const struct sass_operand *o, int64_t *offset)
{
	return known_place(s, at, o, false, offset);
}

bool sl_known_place(struct sass_lower *s, const struct sass_operand *o, int64_t *offset)
{
	return known_place(s, s->i, o, true, offset);
}

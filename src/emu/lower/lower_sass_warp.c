/* Instructions of machine code in which the lanes of a warp, or a block's warps, see one another.
 */
#include "emu/lower/sass_lower.h"

#define ALL_LANES src_const(0xffffffffu)

bool sl_shfl(struct sass_lower *s)
{
	const enum ptx_mode mode = sl_has(s, SASS_MOD_UP)     ? MODE_UP
	                           : sl_has(s, SASS_MOD_DOWN) ? MODE_DOWN
	                           : sl_has(s, SASS_MOD_BFLY) ? MODE_BFLY
	                                                      : MODE_IDX;
	const struct xsrc a = sl_bits(s, 0), b = sl_bits(s, 1), c = sl_bits(s, 2);
	const int32_t d = sl_dst(s, 0), p = sl_dst_pred(s, 0);
	low_set_shuffle(sl_emit(s, X_SHFL), mode, d, p, a, b, c);
	sl_wrote(s, d);
	return true;
}

static void vote(struct sass_lower *s, enum ptx_mode mode, int32_t d, struct xsrc p)
{
	if (d < 0)
		return;
	low_set_vote(sl_emit(s, X_VOTE), mode, d, p);
	sl_wrote(s, d);
}

/* VOTE.ANY d, q, p: d = the lanes with p, q = whether any (all) has it. */
bool sl_vote(struct sass_lower *s)
{
	const enum ptx_mode mode = sl_has(s, SASS_MOD_ALL)  ? MODE_ALL
	                           : sl_has(s, SASS_MOD_EQ) ? MODE_UNI
	                                                    : MODE_ANY;
	struct xsrc p = sl_pred(s, 0, true);
	const int32_t d = sl_dst(s, 0), q = sl_dst_pred(s, 0);
	if (p.kind == S_REG && p.reg == q && d >= 0)
		p = sl_bool(s, BOOL_NONE, p, src_const(0));
	vote(s, mode, q, p);
	vote(s, MODE_BALLOT, d, p);
	return true;
}

bool sl_match(struct sass_lower *s)
{
	const bool wide = sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_64);
	const struct xsrc v = wide ? sl_wide(s, 0, false) : sl_bits(s, 0);
	const int32_t d = sl_dst(s, 0), p = sl_dst_pred(s, 0);
	const enum ptx_mode mode = sl_has(s, SASS_MOD_ALL) ? MODE_ALL : MODE_ANY;
	low_set_match(&s->l, sl_emit(s, X_MATCH), mode, wide, d, p, v);
	sl_wrote(s, d);
	return true;
}

/* CREDUX.MAXABS.F32.NAN */
static bool redux_f32(struct sass_lower *s)
{
	const bool greatest = sl_has(s, SASS_MOD_MAX) || sl_has(s, SASS_MOD_MAXABS);
	struct xsrc v = sl_f32(s, 0);
	if (s->guard >= 0)
		return sl_refuse(s, "a reduction of floating-point numbers of some lanes");
	if (sl_has(s, SASS_MOD_MINABS) || sl_has(s, SASS_MOD_MAXABS))
		v = sl_op1(s, E_abs_f32, v);
	const int32_t made = low_temp(&s->l, 4);
	low_redux_f32(&s->l, made, greatest, sl_has(s, SASS_MOD_NAN), v, ALL_LANES);
	sl_set1(s, sl_dst(s, 0), E_mov_b32, src_reg(made));
	return true;
}

bool sl_redux(struct sass_lower *s)
{
	const enum ptx_atom op = sl_has(s, SASS_MOD_SUM)   ? ATOM_ADD
	                         : sl_has(s, SASS_MOD_MIN) ? ATOM_MIN
	                         : sl_has(s, SASS_MOD_MAX) ? ATOM_MAX
	                         : sl_has(s, SASS_MOD_OR)  ? ATOM_OR
	                         : sl_has(s, SASS_MOD_XOR) ? ATOM_XOR
	                                                   : ATOM_AND;
	const struct xsrc v = sl_bits(s, 0);
	const int32_t d = sl_dst(s, 0);
	if (d < 0)
		return true;
	if (sl_has(s, SASS_MOD_F32))
		return redux_f32(s);
	struct xop *x = sl_emit(s, X_REDUX);
	x->op = (uint16_t)op;
	x->type = sl_has(s, SASS_MOD_S32) ? PTX_S32 : PTX_U32;
	x->bytes = 4;
	x->n_s = 2;
	x->s[0] = v;
	x->s[1] = ALL_LANES;
	x->n_d = 1;
	x->d[0] = d;
	sl_wrote(s, d);
	return true;
}

/* --- barriers of the block --- */

bool sl_bar(struct sass_lower *s)
{
	const bool arrive = sl_has(s, SASS_MOD_ARV), reduce = sl_has(s, SASS_MOD_RED);
	const enum ptx_atom op = !reduce                   ? ATOM_NONE
	                         : sl_has(s, SASS_MOD_AND) ? ATOM_AND
	                         : sl_has(s, SASS_MOD_OR)  ? ATOM_OR
	                                                   : ATOM_POPC;
	struct xsrc id = src_const(0), count = src_const(0);
	if (sl_has(s, SASS_MOD_SYNCALL) || sl_has(s, SASS_MOD_SCAN))
		return sl_refuse(s, "this barrier");
	const struct sass_operand *first = sl_src_operand(s, 0), *second = sl_src_operand(s, 1);
	if (first && first->kind != SASS_OPND_PRED)
		id = sl_bits(s, 0);
	if (second && second->kind != SASS_OPND_PRED)
		count = sl_bits(s, 1);
	const struct xsrc p = sl_pred(s, 0, false);
	struct xop *x = sl_emit(s, arrive ? X_ARRIVE : X_BAR);
	x->op = (uint16_t)op;
	x->n_s = 3;
	x->s[0] = id;
	x->s[1] = count;
	x->s[2] = p;
	s->reduction = op;
	return true;
}

/* B2R.RESULT d, p: what the last BAR.RED found. */
bool sl_b2r(struct sass_lower *s)
{
	const int32_t d = sl_dst(s, 0), p = sl_dst_pred(s, 0);
	if (!sl_has(s, SASS_MOD_RESULT) || s->reduction == ATOM_NONE)
		return sl_refuse(s, "this state of a barrier");
	for (unsigned k = 0; k < 2; k++) {
		const int32_t to = k ? p : d;
		if (to < 0)
			continue;
		struct xop *x = sl_emit(s, X_BARRED);
		x->op = (uint16_t)s->reduction;
		x->n_d = 1;
		x->d[0] = to;
		x->n_s = 1;
		x->s[0] = src_const(0);
		sl_wrote(s, to);
	}
	return true;
}

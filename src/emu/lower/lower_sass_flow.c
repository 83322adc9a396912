/*
 * Control flow of machine code: branches, calls inside a function, exits, and the barriers at which
 * the parts of a warp meet again.
 */
#include "emu/lower/sass_lower.h"

/* The predicate that decides a branch besides its guard; a constant: there is none. */
struct xsrc sl_condition(struct sass_lower *s)
{
	return sl_n_preds(s) ? sl_pred(s, 0, true) : src_const(0xffffffffu);
}

static bool always(struct xsrc p)
{
	return p.kind == S_CONST && p.value;
}

/* The instruction's guard as a source. */
static struct xsrc guard_source(const struct sass_lower *s)
{
	if (s->guard < 0)
		return src_const(0xffffffffu);
	return s->guard_neg ? src_not(src_reg(s->guard)) : src_reg(s->guard);
}

/* A card counts the lanes in which guard and operand of `@!P1 BRA P0` hold, not those of the guard
 * alone. */
static void count_lanes(struct sass_lower *s, struct xsrc both)
{
	s->l.guard = both.reg;
	s->l.guard_neg = both.neg;
	low_emit(&s->l, X_NOP);
	s->l.guard = -1;
	s->l.guard_neg = false;
}

bool sl_branch_to(struct sass_lower *s, int32_t block, struct xsrc p)
{
	if (block < 0)
		return sl_refuse(s, "a branch to another function");
	if (always(p)) {
		sl_emit(s, X_BRA)->target = block;
		return true;
	}
	if (p.kind == S_CONST)
		return true; /* never taken */
	if (s->guard >= 0) {
		p = sl_bool(s, BOOL_AND, p, guard_source(s));
		count_lanes(s, p);
	}
	struct xop *x = low_emit(&s->l, X_BRA);
	x->target = block;
	x->guard = p.reg;
	x->guard_neg = p.neg;
	return true;
}

/* Lanes whose guard holds go if @p is so, of the warp and not of a lane: a card counts those lanes
 * either way. */
static bool warp_goes(struct sass_lower *s, struct xsrc p)
{
	if (s->guard >= 0) {
		p = sl_bool(s, BOOL_AND, p, guard_source(s));
		sl_emit(s, X_NOP);
		s->guard = -1;
	}
	return sl_branch_to(s, s->i->target < 0 ? -1 : s->block_of[s->i->target], p);
}

static bool any_goes(struct sass_lower *s)
{
	const struct xsrc mine = sl_bool(s, BOOL_AND, sl_condition(s), guard_source(s));
	const int32_t any = low_temp(&s->l, 0);
	if (s->guard >= 0)
		sl_emit(s, X_NOP);
	low_set_vote(low_emit(&s->l, X_VOTE), MODE_ANY, any, mine);
	s->guard = -1;
	return sl_branch_to(s, s->i->target < 0 ? -1 : s->block_of[s->i->target], src_reg(any));
}

bool sl_bra(struct sass_lower *s)
{
	const struct sass_operand *first = sl_src_operand(s, 0);
	const bool together = sl_has(s, SASS_MOD_CONV);
	if (sl_has(s, SASS_MOD_DIV) || together) { /* BRA.DIV UR, label: unless all lanes of UR are
		                                        * here; BRA.CONV: if they are. sm_75: all lanes */
		const bool named = first && first->kind != SASS_OPND_LABEL;
		const struct xsrc wanted = named ? sl_bits(s, 0) : src_const(0xffffffffu);
		const int32_t here = low_temp(&s->l, 4);
		struct xop *x = low_emit(&s->l, X_ACTIVE);
		x->op = true; /* lanes that have ended are not waited for */
		x->bytes = 4;
		x->n_d = 1;
		x->d[0] = here;
		const struct xsrc absent =
			sl_op2(s, E_and_b32, wanted, sl_op1(s, E_not_b32, src_reg(here)));
		return warp_goes(s, sl_cmp(s, together ? CMP_EQ : CMP_NE, PTX_U32, absent, src_const(0)));
	}
	if (!first)
		return sl_refuse(s, "this branch");
	if (sl_has(s, SASS_MOD_ANY)) /* all lanes go where one has the predicate */
		return any_goes(s);
	return sl_branch_to(s, s->i->target < 0 ? -1 : s->block_of[s->i->target], sl_condition(s));
}

/* To which of @n places does @v, an offset in the function, point? X_BRX's index. */
static struct xsrc place_index(struct sass_lower *s, struct xsrc v, const uint32_t *ways,
                               unsigned n)
{
	struct xsrc index = src_const(n); /* none: a fault */
	for (unsigned k = n; k--;) {
		const struct xsrc here =
			sl_cmp(s, CMP_EQ, PTX_U32, v, src_const(s->f->insts[ways[k]].offset));
		index = sl_select(s, 4, src_const(k), index, here);
	}
	return index;
}

bool sl_branch_by_address(struct sass_lower *s, struct xsrc v)
{
	uint32_t ways[SASS_MAX_WAYS];
	const unsigned n = sass_ways(s->f, s->i, ways);
	if (!n)
		return sl_refuse(s, "a branch to places that are not known");
	if (n > SASS_MAX_WAYS)
		return sl_refuse(s, "a branch to one of more than %d places", SASS_MAX_WAYS);
	struct xsrc index = place_index(s, v, ways, n);
	struct xsrc goes = sl_condition(s);
	if (s->guard >= 0)
		goes = always(goes) ? guard_source(s) : sl_bool(s, BOOL_AND, goes, guard_source(s));
	if (!always(goes)) { /* the last way leads on to the next instruction */
		if (s->i + 1 == s->f->insts + s->f->n_insts)
			return sl_refuse(s, "a branch table under a guard at the end of the code");
		count_lanes(s, goes);
		index = sl_select(s, 4, index, src_const(n - 1), goes);
	}
	struct xop *x = low_emit(&s->l, X_BRX);
	x->op = !always(goes);
	x->n_s = 1;
	x->s[0] = index;
	x->n_targets = n;
	return true;
}

/* Both may have a predicate in front of the address: `@!P1 RET.REL.NODEC !P0, R8`. */
bool sl_ret(struct sass_lower *s)
{
	const unsigned at = sl_n_preds(s);
	const struct sass_operand *o = sl_src_operand(s, at);
	if (!o || o->kind != SASS_OPND_REG)
		return sl_refuse(s, "a return to another function");
	return sl_branch_by_address(s, sl_bits(s, at));
}

bool sl_brx(struct sass_lower *s)
{
	const unsigned at = sl_n_preds(s);
	const struct sass_operand *o = sl_src_operand(s, at);
	if (!o || (o->kind != SASS_OPND_REG && o->kind != SASS_OPND_UREG))
		return sl_refuse(s, "a branch to places that are not known");
	/* BRX R2 -0x120: relative to the next instruction */
	int64_t more = s->i->offset + CUBIN_INST_BYTES;
	for (unsigned k = 0; k < s->i->n_operands; k++)
		if (s->i->operands[k].kind == SASS_OPND_INT)
			more += s->i->operands[k].value;
	return sl_branch_by_address(s, sl_op2(s, E_add_b32, sl_bits(s, at), src_const((uint32_t)more)));
}

/* Where the instruction has a guard, too, that is what is counted: lanes that @p and it name. */
static struct xsrc under_both(struct sass_lower *s, struct xsrc p)
{
	if (s->guard < 0)
		return p;
	sl_emit(s, X_NOP);
	return sl_bool(s, BOOL_AND, p, guard_source(s));
}

bool sl_leave(struct sass_lower *s)
{
	const struct xsrc p = sl_condition(s);
	if (always(p)) {
		sl_emit(s, X_LEAVE);
		return true;
	}
	if (p.kind == S_CONST)
		return true;
	const struct xsrc both = under_both(s, p);
	struct xop *x = low_emit(&s->l, X_LEAVE);
	x->guard = both.reg;
	x->guard_neg = both.neg;
	return true;
}

bool sl_trap(struct sass_lower *s)
{
	if (!sl_has(s, SASS_MOD_TRAP))
		return sl_refuse(s, "a stop for a debugger");
	sl_emit(s, X_TRAP);
	return true;
}

/* --- meetings --- */

static const struct sass_operand *barrier_operand(const struct sass_lower *s)
{
	for (unsigned k = 0; k < s->i->n_operands; k++)
		if (s->i->operands[k].kind == SASS_OPND_BARRIER)
			return &s->i->operands[k];
	return NULL;
}

static bool meeting(struct sass_lower *s, enum xkind kind)
{
	const struct sass_operand *o = barrier_operand(s);
	if (!o || o->reg > 15)
		return sl_refuse(s, "this barrier of the warp");
	sl_emit(s, kind)->op = o->reg;
	return true;
}

bool sl_bssy(struct sass_lower *s)
{
	if (!meeting(s, X_MEET_BEGIN))
		return false;
	struct xop *x = &s->l.ir->ops[s->l.ir->n_ops - 1];
	x->n_s = 1;
	x->s[0] = src_const(s->i->target < 0 ? 0 : (uint32_t)s->block_of[s->i->target]);
	return true;
}

bool sl_bsync(struct sass_lower *s)
{
	if (s->guard >= 0)
		return sl_refuse(s, "a meeting under a guard");
	return meeting(s, X_MEET_WAIT);
}

bool sl_break(struct sass_lower *s)
{
	const struct xsrc p = sl_condition(s);
	const struct sass_operand *o = barrier_operand(s);
	if (always(p))
		return meeting(s, X_MEET_BREAK);
	if (!o || o->reg > 15 || p.kind == S_CONST)
		return sl_refuse(s, "this barrier of the warp");
	const struct xsrc both = under_both(s, p);
	struct xop *x = low_emit(&s->l, X_MEET_BREAK);
	x->op = o->reg;
	x->guard = both.reg;
	x->guard_neg = both.neg;
	return true;
}

bool sl_bmov(struct sass_lower *s)
{
	const struct sass_operand *to = sl_dst_operand(s, 0), *from = sl_src_operand(s, 0);
	if (!to || !from || sl_has(s, SASS_MOD_PQUAD))
		return sl_refuse(s, "this state of a warp");
	if (to->kind == SASS_OPND_BARRIER && (from->kind == SASS_OPND_REG)) {
		const struct xsrc v = sl_bits(s, 0);
		struct xop *x = sl_emit(s, X_MEET_SET);
		x->op = to->reg;
		x->n_s = 1;
		x->s[0] = v;
		s->l.ir->kept_barriers |= (uint16_t)(1u << to->reg);
		return true;
	}
	if (from->kind != SASS_OPND_BARRIER)
		return sl_refuse(s, "this state of a warp");
	const int32_t d = sl_dst(s, 0);
	if (d < 0)
		return true;
	struct xop *x = sl_emit(s, X_MEET_GET);
	x->op = from->reg;
	x->n_s = 1;
	x->s[0] = src_const(sl_has(s, SASS_MOD_CLEAR));
	x->n_d = 1;
	x->d[0] = d;
	sl_wrote(s, d);
	return true;
}

/* What lanes do together between WARPSYNC.COLLECTIVE and ENDCOLLECTIVE: exchange, by one
 * instruction; nothing; or something else. */
static enum meet_warp collective(const struct sass_lower *s)
{
	const struct sass_inst *i = s->i + 1, *end = s->f->insts + s->f->n_insts;
	enum meet_warp kind = MEET_GATHERED;
	for (; i < end && i->op != SASS_ENDCOLLECTIVE; i++)
		switch (i->op) {
		case SASS_SHFL:
		case SASS_VOTE:
		case SASS_VOTEU:
		case SASS_MATCH:
		case SASS_REDUX: kind = kind == MEET_GATHERED ? MEET_COLLECTIVE : MEET_ONE_PLACE; break;
		case SASS_NOP: break;
		default: kind = MEET_ONE_PLACE; break;
		}
	return kind;
}

bool sl_end_collective(struct sass_lower *s)
{
	sl_emit(s, X_NOP)->op = NOP_ENDS;
	return true;
}

bool sl_warpsync(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	enum meet_warp kind = sl_has(s, SASS_MOD_EXCLUSIVE) ? MEET_EXCLUSIVE : MEET_PLAIN;
	if (sl_has(s, SASS_MOD_COLLECTIVE))
		kind = collective(s);
	if (kind == MEET_EXCLUSIVE && s->guard >= 0)
		return sl_refuse(s, "a meeting of this kind under a guard");
	if (kind != MEET_PLAIN && s->guard >= 0)
		return sl_emit(s, X_TRAP) != NULL; /* a way that only a split warp takes: a fault there */
	const struct xsrc lanes =
		sl_has(s, SASS_MOD_ALL) || !o ? src_const(0xffffffffu) : sl_bits(s, 0);
	struct xop *x = sl_emit(s, X_MEET_WARP);
	x->op = (uint16_t)kind;
	x->n_s = 1;
	x->s[0] = lanes;
	return true;
}

/* Others of the warp have their turn. */
bool sl_yield(struct sass_lower *s)
{
	if (s->guard >= 0) {
		sl_emit(s, X_NOP)->op = NOP_RESTS;
		return true;
	}
	struct xop *x = sl_emit(s, X_MEET_WARP);
	x->op = MEET_YIELD;
	x->n_s = 1;
	x->s[0] = src_const(0);
	return true;
}

/* So many nanoseconds: operand 0. */
bool sl_sleep(struct sass_lower *s)
{
	const struct xsrc ns = sl_bits(s, 0);
	low_set_sleep(&s->l, sl_emit(s, X_NOP), ns);
	return true;
}

bool sl_nothing(struct sass_lower *s)
{
	sl_emit(s, X_NOP);
	return true;
}

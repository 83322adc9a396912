/*
 * Sums of 64 bits that machine code makes in two steps: the lower words with a carry out of them,
 * and further down the upper words with that carry. Both words come from one sum here, so that an
 * address stays one value, whose form (scalar + lane pattern) is seen.
 *
 * The order of the terms does not matter: the lower ones, and the upper ones times 2^32, add up.
 */
#include "emu/lower/sass_lower.h"

enum { STEPS_AHEAD = 80, MOST_TERMS = 3 };

/* One of the terms, as an operand: NULL = zero. */
struct term {
	const struct sass_operand *o;
	bool minus;   /* lower words: the negative; upper ones: the complement, which belongs to it */
	bool signs;   /* of an upper word: the sign of this lower word, in all bits */
	bool matched; /* to one of the other words */
};

struct terms {
	struct term t[MOST_TERMS];
	unsigned n;
	unsigned shift; /* of the first term, LEA */
};

static bool is_pred(const struct sass_operand *o)
{
	return o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED;
}

static bool is_register(const struct sass_operand *o)
{
	return o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG;
}

static bool is_zero(const struct sass_operand *o)
{
	return (is_register(o) && o->reg == SASS_RZ) || (o->kind == SASS_OPND_INT && !o->value);
}

static bool same_register(const struct sass_operand *a, const struct sass_operand *b)
{
	return is_register(a) && a->kind == b->kind && a->reg == b->reg;
}

/* Words that @i writes of an operand that it names as destination. */
static unsigned words_written(const struct sass_inst *i)
{
	for (unsigned k = 0; k < i->n_mods; k++)
		switch (i->mods[k]) {
		case SASS_MOD_64:
		case SASS_MOD_WIDE: return 2;
		case SASS_MOD_128: return 4;
		default: break;
		}
	return sass_op_info(i->op)->class == SASS_CLASS_FP64 ? 2 : 1;
}

static bool plain_source(const struct sass_operand *o)
{
	return (is_register(o) || o->kind == SASS_OPND_INT || o->kind == SASS_OPND_CONST) &&
	       !(o->flags & SASS_ABS) && !(o->kind == SASS_OPND_CONST && (o->words || o->uwords));
}

static bool add_term(struct terms *t, const struct sass_operand *o, uint8_t minus_flag)
{
	if (!plain_source(o) || (o->flags & (SASS_NEG | SASS_NOT) & ~minus_flag))
		return false;
	if (is_zero(o) && !(o->flags & minus_flag))
		return true;
	if (t->n == MOST_TERMS)
		return false;
	t->t[t->n++] = (struct term){ .o = o, .minus = o->flags & minus_flag };
	return true;
}

/* The sources of @i that are no predicates, in *@o; returns how many. */
static unsigned sources(const struct sass_inst *i, const struct sass_operand *o[4])
{
	unsigned n = 0;
	for (unsigned k = i->n_dsts; k < i->n_operands && n < 4; k++)
		if (!is_pred(&i->operands[k]))
			o[n++] = &i->operands[k];
	return n;
}

static bool is_number(const struct sass_operand *o, int64_t value)
{
	return o->kind == SASS_OPND_INT && o->value == value && !(o->flags & (SASS_NEG | SASS_NOT));
}

/* The upper words' terms. */
static bool upper_terms(const struct sass_inst *i, struct terms *t)
{
	const struct sass_operand *o[4];
	const unsigned n = sources(i, o);
	switch ((enum sass_op)i->op) {
	case SASS_IADD3:
	case SASS_UIADD3:
		for (unsigned k = 0; k < n; k++)
			if (!add_term(t, o[k], SASS_NOT))
				return false;
		return n == 3;
	case SASS_IMAD: /* the multiplier adds, too */
	case SASS_UIMAD:
		if (n != 3 || sass_has(i, SASS_MOD_WIDE) || sass_has(i, SASS_MOD_HI) ||
		    !(is_zero(o[0]) || is_zero(o[1]) || is_number(o[1], 1)))
			return false;
		return (is_zero(o[0]) || is_zero(o[1]) || add_term(t, o[0], 0)) && add_term(t, o[2], 0);
	case SASS_LEA: /* LEA.HI.X.SX32 a, b, 1: the sign of a, and b */
		if (n != 3 || !sass_has(i, SASS_MOD_HI) || !sass_has(i, SASS_MOD_SX32) ||
		    !is_number(o[2], 1) || !add_term(t, o[0], 0) || !t->n)
			return false;
		t->t[0].signs = true;
		return add_term(t, o[1], 0);
	default: return false;
	}
}

static bool same_predicate(const struct sass_operand *a, const struct sass_operand *b)
{
	return b && a->kind == b->kind && a->reg == b->reg;
}

/* How @i reads the carries @p0 and @p1: not at all, as they are and nothing else, or differently.
 */
static enum reading {
	READS_NONE,
	READS_BOTH,
	READS_OTHERWISE
} reads_carries(const struct sass_inst *i, const struct sass_operand *p0,
                const struct sass_operand *p1)
{
	bool takes0 = false, takes1 = !p1, other = false;
	for (unsigned k = i->n_dsts; k < i->n_operands; k++) {
		const struct sass_operand *o = &i->operands[k];
		if (!is_pred(o))
			continue;
		const bool known = same_predicate(o, p0) || same_predicate(o, p1);
		takes0 |= same_predicate(o, p0);
		takes1 |= same_predicate(o, p1);
		other |= o->flags & SASS_NOT ? known || o->reg != SASS_PT : !known;
	}
	if (!takes0)
		return READS_NONE;
	return takes1 && !other && sass_has(i, SASS_MOD_X) ? READS_BOTH : READS_OTHERWISE;
}

/* Does @i write a carry, or the guard of @first? */
static bool writes_carries(const struct sass_inst *i, const struct sass_inst *first,
                           const struct sass_operand *p0, const struct sass_operand *p1)
{
	for (unsigned k = 0; k < i->n_dsts; k++) {
		const struct sass_operand *d = &i->operands[k];
		if (!is_pred(d) || d->reg == SASS_PT)
			continue;
		if (same_predicate(d, p0) || same_predicate(d, p1) ||
		    (d->reg == first->guard && (d->kind == SASS_OPND_UPRED) == first->guard_uniform))
			return true;
	}
	return false;
}

/* The instruction that takes up the carries @p0, @p1 of the present one; NULL = none that is sure
 * to find everything as it is now. */
static const struct sass_inst *partner(const struct sass_lower *s, const struct sass_operand *p0,
                                       const struct sass_operand *p1)
{
	const struct sass_inst *end = s->f->insts + s->f->n_insts, *i;
	for (i = s->i + 1; i < end && i - s->i <= STEPS_AHEAD && s->block_of[i - s->f->insts] < 0;
	     i++) {
		const enum reading r = reads_carries(i, p0, p1);
		if (r != READS_NONE) {
			const bool same_guard = i->guard == s->i->guard && i->guard_not == s->i->guard_not &&
			                        i->guard_uniform == s->i->guard_uniform;
			return r == READS_BOTH && same_guard ? i : NULL;
		}
		if (writes_carries(i, s->i, p0, p1))
			return NULL;
	}
	return NULL;
}

/* Does an instruction from the present one on write a register that @upper reads, in front of it?
 */
static bool sources_change(const struct sass_lower *s, const struct sass_inst *upper)
{
	for (const struct sass_inst *i = s->i; i < upper; i++)
		for (unsigned k = 0; k < i->n_dsts; k++) {
			const struct sass_operand *d = &i->operands[k];
			for (unsigned n = upper->n_dsts; is_register(d) && n < upper->n_operands; n++) {
				const struct sass_operand *o = &upper->operands[n];
				if (d->kind == o->kind && d->reg != SASS_RZ && o->reg >= d->reg &&
				    o->reg < d->reg + words_written(i))
					return true;
			}
		}
	return false;
}

/* Is @high where the upper word of @low belongs? */
static bool belong(const struct sass_operand *low, const struct sass_operand *high)
{
	if (low->kind != high->kind)
		return false;
	if (is_register(low))
		return high->reg == low->reg + 1;
	return low->kind == SASS_OPND_CONST && low->bank == high->bank && high->value == low->value + 4;
}

static struct xsrc word(struct sass_lower *s, const struct term *t)
{
	return t ? sl_operand(s, t->o) : src_const(0);
}

static struct xsrc shifted_left(struct sass_lower *s, struct xsrc v, unsigned bits)
{
	if (!bits)
		return v;
	return v.kind == S_CONST ? src_const(v.value << bits)
	                         : sl_op2(s, E_shl_b64, v, src_const(bits));
}

static struct xsrc sign_extended(struct sass_lower *s, struct xsrc v)
{
	return v.kind == S_CONST ? src_const((uint64_t)(int64_t)(int32_t)v.value)
	                         : sl_op1(s, E_sext64, v);
}

static struct xsrc add_to(struct sass_lower *s, struct xsrc sum, struct xsrc v, bool minus)
{
	if (v.kind == S_CONST && !v.value)
		return sum;
	if (sum.kind == S_CONST && !sum.value && !minus)
		return v;
	return sl_op2(s, minus ? E_sub_b64 : E_add_b64, sum, v);
}

/* The term of @high that goes best with @low; NULL = none is left. */
static struct term *match(const struct term *low, struct terms *high)
{
	struct term *found = NULL;
	for (unsigned pass = 0; pass < 2 && !found; pass++)
		for (unsigned k = 0; k < high->n && !found; k++) {
			struct term *h = &high->t[k];
			if (h->matched || h->minus != low->minus)
				continue;
			if (pass == 0 ? (h->signs ? same_register(h->o, low->o) : belong(low->o, h->o))
			              : !h->signs)
				found = h;
		}
	return found;
}

/* All terms as one sum of 64 bits. False: their signs do not go together. */
static bool whole_sum(struct sass_lower *s, struct terms *low, struct terms *high, struct xsrc *out)
{
	struct term *with[MOST_TERMS] = { NULL };
	for (unsigned pass = 0; pass < 2; pass++) /* sure ones first */
		for (unsigned k = 0; k < low->n; k++) {
			struct term *h = with[k] ? NULL : match(&low->t[k], high);
			if (!h || (pass == 0 && !h->signs && !belong(low->t[k].o, h->o)))
				continue;
			with[k] = h;
			h->matched = true;
		}
	for (unsigned k = 0; k < low->n; k++)
		if (low->t[k].minus && !with[k])
			return false;
	for (unsigned k = 0; k < high->n; k++)
		if (!high->t[k].matched && (high->t[k].minus || high->t[k].signs))
			return false;
	struct xsrc sum = src_const(0);
	for (unsigned k = 0; k < low->n; k++) {
		const struct xsrc a = word(s, &low->t[k]);
		const bool signs = with[k] && with[k]->signs;
		const struct xsrc v = signs ? sign_extended(s, a) : sl_joined(s, a, word(s, with[k]));
		sum = add_to(s, sum, v, low->t[k].minus);
	}
	for (unsigned k = 0; k < high->n; k++)
		if (!high->t[k].matched)
			sum = add_to(s, sum, sl_joined(s, src_const(0), word(s, &high->t[k])), false);
	*out = sum;
	return true;
}

/* LEA d, P, a, b, n with LEA.HI.X d, a, b's upper word, a's upper word, n, P; or .SX32 without. */
static bool address_sum(struct sass_lower *s, const struct sass_inst *upper, struct xsrc *out)
{
	const struct sass_operand *o[4], *u[4];
	const unsigned n = sources(s->i, o), n_upper = sources(upper, u);
	const bool sign = sass_has(upper, SASS_MOD_SX32);
	struct terms low = { .n = 0 }, high = { .n = 0 };
	if (upper->op != s->i->op || !sass_has(upper, SASS_MOD_HI) || n != 3 ||
	    n_upper != (sign ? 3u : 4u) || !same_register(o[0], u[0]) || o[2]->kind != SASS_OPND_INT ||
	    !is_number(u[n_upper - 1], o[2]->value) || !add_term(&low, o[1], 0) ||
	    !add_term(&high, u[1], 0) || o[0]->flags || u[0]->flags ||
	    (!sign && (!plain_source(u[2]) || u[2]->flags & (SASS_NEG | SASS_NOT))))
		return false;
	const struct xsrc a = sl_operand(s, o[0]);
	struct xsrc index;
	if (!sign)
		index = sl_joined(s, a, sl_operand(s, u[2]));
	else
		index = sign_extended(s, a);
	index = shifted_left(s, index, (unsigned)o[2]->value & 31);
	const struct xsrc b =
		sl_joined(s, word(s, low.n ? &low.t[0] : NULL), word(s, high.n ? &high.t[0] : NULL));
	*out = add_to(s, index, b, false);
	return true;
}

static bool lower_terms(const struct sass_inst *i, struct terms *t)
{
	const struct sass_operand *o[4];
	const unsigned n = sources(i, o);
	for (unsigned k = 0; k < n; k++)
		if (!add_term(t, o[k], SASS_NEG))
			return false;
	return true;
}

static const struct sass_operand *carry_out(const struct sass_inst *i, unsigned n)
{
	for (unsigned k = 0; k < i->n_dsts; k++)
		if (is_pred(&i->operands[k]) && i->operands[k].reg != SASS_PT && !n--)
			return &i->operands[k];
	return NULL;
}

struct xsrc sl_whole_sum(struct sass_lower *s)
{
	const struct sass_operand *p0 = carry_out(s->i, 0), *p1 = carry_out(s->i, 1);
	const struct sass_inst *upper =
		p0 && !sl_has(s, SASS_MOD_X) && !sl_has(s, SASS_MOD_HI) && s->n_carried < SASS_MAX_CARRIED
			? partner(s, p0, p1)
			: NULL;
	struct terms low = { .n = 0 }, high = { .n = 0 };
	struct xsrc sum = src_const(0);
	if (!upper || carry_out(upper, 0) || sources_change(s, upper))
		return src_const(0);
	const bool lea = s->i->op == SASS_LEA || s->i->op == SASS_ULEA;
	const bool done = lea ? address_sum(s, upper, &sum)
	                      : lower_terms(s->i, &low) && upper_terms(upper, &high) &&
	                            whole_sum(s, &low, &high, &sum);
	if (!done || sum.kind != S_REG)
		return src_const(0);
	s->carried[s->n_carried++] = (struct sass_carried){ upper, sum.reg, sl_dst(s, 0) };
	return sum;
}

bool sl_take_up_sum(struct sass_lower *s)
{
	for (unsigned n = 0; n < s->n_carried; n++)
		if (s->carried[n].upper == s->i) {
			const struct sass_carried c = s->carried[n];
			s->carried[n] = s->carried[--s->n_carried];
			sl_set1(s, sl_dst(s, 0), E_hi32, src_reg(c.value));
			sl_remember_pair(s, c.low, sl_dst(s, 0), c.value);
			return true;
		}
	return false;
}

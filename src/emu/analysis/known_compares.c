/*
 * Comparisons of float32 that the assembler decides: it takes absolute values and squares for 0 or
 * more, a sine, a cosine and a hyperbolic tangent for -1 to 1, a power of 2 for 0 or more, and
 * forgets NaN. So -7 < |x| holds of a NaN, too, in the machine code, and here.
 *
 * What ptxas 13 does, found by assembling each form for sm_75 to sm_120: it knows these results,
 * limited ones (.sat), numbers, and what mov, neg, abs, selp, slct, min and max make of them, sums,
 * differences, and products that are surely finite, where no rounding is named (abs and neg with
 * .ftz hide it, as do .NaN and three operands); it decides setp that asks for >= or > of the least
 * value and < of the greatest, against a finite number, without a second predicate. Of float64 and
 * halves it decides none, nor does set. Decisions that a NaN does not change need no rule.
 */
#include "emu/analysis/contract.h"

#include <math.h>
#include <string.h>

struct span { /* of numbers: from @low to @high */
	bool known;
	float low, high;
};

/* How many operations are looked at for one comparison. */
enum { STEPS = 64 };

static float float_of(uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float f;
	memcpy(&f, &low, sizeof f);
	return f;
}

static struct span both(struct span a, struct span b)
{
	return (struct span){ a.known && b.known, fminf(a.low, b.low), fmaxf(a.high, b.high) };
}

static struct span negative(struct span a)
{
	return (struct span){ a.known, -a.high, -a.low };
}

static struct span absolute(struct span a)
{
	if (!a.known)
		return (struct span){ true, 0, INFINITY };
	return (struct span){ true, 0, fmaxf(fabsf(a.low), fabsf(a.high)) };
}

/* A finite number that the PTX tells. */
static struct span number_of(const struct ir *ir, const struct xop *x, unsigned i)
{
	uint64_t bits = 0;
	const bool known = is_literal(ir, x, i, &bits);
	const float f = float_of(bits);
	return (struct span){ known && isfinite(f), f, f };
}

static struct span span_of(const struct ir *ir, const struct xop *x, unsigned i, unsigned *steps);

static struct span of_sum(struct span a, struct span b)
{
	const float low = a.low + b.low, high = a.high + b.high;
	return (struct span){ a.known && b.known && !isnan(low) && !isnan(high), low, high };
}

/* Of @a times one number. */
static struct span scaled(struct span a, float by)
{
	const struct span s = { a.known, a.low * by, a.high * by };
	return by < 0 ? (struct span){ s.known, s.high, s.low } : s;
}

/* Products of what may be infinite are not known, but squares and those with 1 and -1. */
static struct span of_product(const struct ir *ir, const struct xop *x, unsigned *steps)
{
	const struct xsrc from[2] = { taken_source(ir, x->s[0]), taken_source(ir, x->s[1]) };
	const struct span a = span_of(ir, x, 0, steps), b = span_of(ir, x, 1, steps);
	if (from[0].kind == S_REG && from[1].kind == S_REG && from[0].reg == from[1].reg) {
		const float most = absolute(a).high;
		return (struct span){ true, 0, most * most };
	}
	if (a.known && a.low == a.high && fabsf(a.low) == 1)
		return scaled(b, a.low);
	if (b.known && b.low == b.high && fabsf(b.low) == 1)
		return scaled(a, b.low);
	const struct span s = both(scaled(a, b.low), scaled(a, b.high));
	return (struct span){ a.known && b.known && isfinite(a.high - a.low) &&
		                      isfinite(b.high - b.low) && isfinite(s.low) && isfinite(s.high),
		                  s.low, s.high };
}

/* Of sums, differences and products that name no rounding. */
static struct span of_arithmetic(const struct ir *ir, const struct xop *x, unsigned *steps)
{
	const struct ptx_inst *in = inst_of(ir, x);
	if (in->round != ROUND_NONE)
		return (struct span){ 0 };
	if (in->op == OP_MUL)
		return of_product(ir, x, steps);
	const struct span a = span_of(ir, x, 0, steps), b = span_of(ir, x, 1, steps);
	return of_sum(a, in->op == OP_SUB ? negative(b) : b);
}

/* Of what an operation makes of its sources. */
static struct span span_of_sources(const struct ir *ir, const struct xop *x, unsigned *steps)
{
	const struct span unknown = { 0 };
	if (x->kind == X_SEL)
		return both(span_of(ir, x, 0, steps), span_of(ir, x, 1, steps));
	if (x->kind != X_OP)
		return unknown;
	switch (x->op) {
	case E_mov_b32:
	case E_ftz_f32: return span_of(ir, x, 0, steps);
	case E_neg_f32: return negative(span_of(ir, x, 0, steps));
	case E_abs_f32: return absolute(span_of(ir, x, 0, steps));
	case E_min_f32:
	case E_max_f32: return both(span_of(ir, x, 0, steps), span_of(ir, x, 1, steps));
	case E_add_f32:
	case E_add_ftz_f32:
	case E_sub_f32:
	case E_sub_ftz_f32:
	case E_mul_f32:
	case E_mul_ftz_f32: return of_arithmetic(ir, x, steps);
	default: return unknown;
	}
}

/* Of what an operation writes. */
static struct span span_of_result(const struct ir *ir, const struct xop *x, unsigned *steps)
{
	const struct ptx_inst *in = inst_of(ir, x);
	const bool ftz = in->flags & PF_FTZ;
	if (in->type == PTX_F32 && in->flags & PF_SAT)
		return (struct span){ true, 0, 1 };
	switch (in->op) {
	case OP_SIN:
	case OP_COS:
	case OP_TANH: return (struct span){ in->type == PTX_F32, -1, 1 };
	case OP_EX2: return (struct span){ in->type == PTX_F32, 0, INFINITY };
	case OP_ABS:
	case OP_NEG:
		if (ftz)
			return (struct span){ 0 };
		break;
	case OP_MIN:
	case OP_MAX:
		if (in->n_opnds > 3)
			return (struct span){ 0 };
		break;
	case OP_MOV:
	case OP_SELP:
	case OP_SLCT:
	case OP_SETP:
	case OP_MUL:
	case OP_ADD:
	case OP_SUB: break;
	default: return (struct span){ 0 };
	}
	return span_of_sources(ir, x, steps);
}

static bool writes(const struct xop *x, int32_t reg)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] == reg)
			return true;
	return false;
}

/* Of what the operations above @at in its block have written to @reg: under a guard, of it or of
 * what was there before. */
static struct span span_above(const struct ir *ir, uint32_t at, int32_t reg, unsigned *steps)
{
	struct span s = { 0 };
	bool any = false;
	const uint32_t start = at < ir->n_ops ? block_first_op(ir, at) : at;
	for (uint32_t o = at; o > start && *steps; o--) {
		const struct xop *y = &ir->ops[o - 1];
		--*steps;
		if (!writes(y, reg))
			continue;
		const struct span made = span_of_result(ir, y, steps);
		s = any ? both(s, made) : made;
		any = true;
		if (y->guard < 0 || !s.known)
			return s;
	}
	return (struct span){ 0 };
}

static struct span span_of(const struct ir *ir, const struct xop *x, unsigned i, unsigned *steps)
{
	if (!*steps)
		return (struct span){ 0 };
	--*steps;
	const struct span number = number_of(ir, x, i);
	if (number.known)
		return number;
	const struct xsrc *s = &x->s[i];
	if (s->kind != S_REG || ir->regs[s->reg].passes)
		return (struct span){ 0 };
	const int32_t at = ir->only_def[s->reg];
	if (at < 0)
		return span_above(ir, (uint32_t)(x - ir->ops), s->reg, steps);
	const struct xop *def = &ir->ops[at];
	return def->guard < 0 ? span_of_result(ir, def, steps) : (struct span){ 0 };
}

/* Does the assembler take comparison @x for one that holds? Its first source is asked to be less
 * than the second one, or as much: which form of setp asks for that changes nothing. */
static bool always_holds(const struct ir *ir, const struct xop *x)
{
	const bool less = x->op == E_lt_f32;
	if (x->kind != X_CMP || x->neg || (!less && x->op != E_le_f32) ||
	    inst_of(ir, x)->op != OP_SETP || inst_of(ir, x)->type != PTX_F32 ||
	    inst_of(ir, x)->boolop != BOOL_NONE)
		return false;
	unsigned steps = STEPS;
	const struct span low = number_of(ir, x, 0), high = number_of(ir, x, 1);
	if (low.known) {
		const struct span s = span_of(ir, x, 1, &steps);
		return s.known && (less ? s.low > low.high : s.low >= low.high);
	}
	if (high.known && less) {
		const struct span s = span_of(ir, x, 0, &steps);
		return s.known && s.high < high.low;
	}
	return false;
}

void known_compares_decide(struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		struct xop *x = &ir->ops[o];
		if (!always_holds(ir, x))
			continue;
		x->kind = X_PRED;
		x->op = BOOL_NONE;
		x->n_s = 1;
		x->s[0] = (struct xsrc){ .kind = S_CONST, .value = 0xffffffffu };
	}
}

/* What an operation of any kind gives its registers, from the forms of its sources. */
#include "emu/analysis/affine.h"

/* A predicate that has the same known value in all lanes. */
static struct affine known_pred(bool value)
{
	return (struct affine){ .cls = AFFINE_SCALAR, .known = true, .base = value ? 0xffffffffu : 0 };
}

static struct affine of_predicates(const struct xop *x, const struct affine *a, bool all_uniform)
{
	const bool known0 = a[0].known, known1 = x->n_s > 1 && a[1].known;
	const bool v0 = (a[0].base != 0) != x->s[0].neg;
	const bool v1 = x->n_s > 1 && (a[1].base != 0) != x->s[1].neg;
	switch ((enum ptx_boolop)x->op) {
	case BOOL_AND:
		if ((known0 && !v0) || (known1 && !v1))
			return known_pred(false);
		if (known0 && known1)
			return known_pred(true);
		break;
	case BOOL_OR:
		if ((known0 && v0) || (known1 && v1))
			return known_pred(true);
		if (known0 && known1)
			return known_pred(false);
		break;
	case BOOL_XOR:
		if (known0 && known1)
			return known_pred(v0 != v1);
		break;
	default:
		if (known0)
			return known_pred(v0);
		break;
	}
	return all_uniform ? AFFINE_UNIFORM : AFFINE_32_VALUES;
}

/* The range of a result; one value is as good as known. */
static struct affine with_bounds(struct affine_forms *s, const struct xop *x,
                                 const struct affine *a, struct affine r)
{
	int64_t lo, hi;
	if (r.ranged || !range_of_op(x, a, &lo, &hi))
		return r;
	if (lo == hi) {
		uint64_t v[32];
		for (unsigned i = 0; i < 32; i++)
			v[i] = emu_ops[x->op].d_bytes == 8 ? (uint64_t)lo : (uint32_t)lo;
		return affine_from_values(s, v, emu_ops[x->op].d_bytes);
	}
	return affine_with_range(r, lo, hi);
}

bool affine_assumed(const struct affine_forms *s, const struct ir *ir, const struct xop *x)
{
	if (!s->speculative || x->kind != X_OP || x->op != E_shr_s32 || x->guard >= 0)
		return false;
	const struct affine a = affine_of_src(s, ir, &x->s[0]), by = affine_of_src(s, ir, &x->s[1]);
	return a.cls == AFFINE_SCALAR && a.pattern && !a.known && !(a.ranged && a.lo >= 0) &&
	       by.known && !by.pattern && by.base == 31;
}

/* A load gives one value to all lanes of one address, but for memory of each lane's own. */
static struct affine of_load(const struct xop *x, bool all_uniform)
{
	const bool one = all_uniform && x->space != SPACE_GENERIC && x->space != SPACE_LOCAL;
	const struct affine r = one ? AFFINE_UNIFORM : AFFINE_32_VALUES;
	const bool narrow =
		x->type == PTX_U8 || x->type == PTX_U16 || x->type == PTX_B8 || x->type == PTX_B16;
	return narrow ? affine_with_range(r, 0, x->bytes == 1 ? 0xff : 0xffff) : r;
}

static struct affine of_selection(const struct affine *a)
{
	if (!affine_uniform(&a[2]) || a[0].cls != AFFINE_SCALAR || a[1].cls != AFFINE_SCALAR ||
	    a[0].pattern != a[1].pattern)
		return AFFINE_32_VALUES;
	const unsigned x = affine_align(&a[0]), y = affine_align(&a[1]);
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .pattern = a[0].pattern,
		                    .align_log2 = (uint8_t)(x < y ? x : y) };
}

static struct affine of_comparison(const struct xop *x, const struct affine *a, bool all_uniform)
{
	const int decided = range_decides(x, a);
	if (decided >= 0)
		return known_pred((decided != 0) != x->neg);
	return all_uniform ? AFFINE_UNIFORM : AFFINE_32_VALUES;
}

/* Source @i of @x. A constant does not say how wide it is: 0xc0000000 is negative among 32 bits. */
static struct affine source_of(const struct affine_forms *s, const struct ir *ir,
                               const struct xop *x, unsigned i)
{
	struct affine a = affine_of_src(s, ir, &x->s[i]);
	const bool computes = (x->kind == X_OP || x->kind == X_CMP) && i < 4;
	if (x->s[i].kind == S_CONST && computes && emu_ops[x->op].s_bytes[i] == 8)
		a.lo = a.hi = (int64_t)x->s[i].value;
	return a;
}

struct affine affine_of_result(struct affine_forms *s, const struct ir *ir,
                               const struct xop *original, const struct launch_plan *plan)
{
	struct affine a[X_MAX_VEC + 2] = { 0 };
	bool all_uniform = true;
	const struct xop reduced = xop_reduced(s, ir, original), *x = &reduced;
	for (unsigned i = 0; i < x->n_s; i++) {
		a[i] = source_of(s, ir, x, i);
		if (a[i].cls == AFFINE_UNWRITTEN)
			return a[i];
		all_uniform &= affine_uniform(&a[i]);
	}
	switch (x->kind) {
	case X_OP:
		if (affine_assumed(s, ir, x))
			return affine_from_values(s, (const uint64_t[32]){ 0 }, 4);
		return with_bounds(s, x, a, affine_of_op(s, x, a));
	case X_CMP: return of_comparison(x, a, all_uniform);
	case X_PRED: return of_predicates(x, a, all_uniform);
	case X_SEL: return of_selection(a);
	case X_SPECIAL: return affine_of_special(s, plan, (enum ptx_special)x->op);
	case X_LD: return of_load(x, all_uniform);
	case X_CLOCK:
	case X_BARRED:
	case X_ACTIVE: return AFFINE_UNIFORM;
	case X_VOTE:
	case X_REDUX: /* one result only if every lane names the same members */
		return affine_uniform(&a[1]) ? AFFINE_UNIFORM : AFFINE_32_VALUES;
	default: return AFFINE_32_VALUES;
	}
}

/*
 * Shapes of values: one scalar per warp plus a lane pattern, or 32 values; known or bounded.
 *
 * What each operation makes of the shapes of its sources. Patterns depend on the block's dimensions
 * only. Arithmetic on 32-bit values may wrap; emit_alu.c guards the places where that would matter
 * (widening). Affine vectors of scalarising GPU compilers: Collange, 2011.
 */
#include "emu/analysis/affine.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LANES ((struct affine){ .cls = AFFINE_LANES })
#define UNIFORM ((struct affine){ .cls = AFFINE_SCALAR })

int32_t pattern_intern(struct affine_forms *s, const int64_t lane[32])
{
	for (unsigned i = 0; i < s->n_patterns; i++)
		if (memcmp(s->patterns[i].lane, lane, sizeof s->patterns[i].lane) == 0)
			return (int32_t)i;
	if (s->n_patterns == s->cap_patterns) {
		s->cap_patterns = s->cap_patterns ? 2 * s->cap_patterns : 16;
		s->patterns = mem_realloc(s->patterns, s->cap_patterns, sizeof *s->patterns);
	}
	struct pattern *p = &s->patterns[s->n_patterns];
	memcpy(p->lane, lane, sizeof p->lane);
	p->min = p->max = lane[0];
	for (unsigned i = 1; i < 32; i++) {
		p->min = lane[i] < p->min ? lane[i] : p->min;
		p->max = lane[i] > p->max ? lane[i] : p->max;
	}
	return (int32_t)s->n_patterns++;
}

bool affine_uniform(const struct affine *r)
{
	return r->cls == AFFINE_SCALAR && r->pattern == 0;
}

static int64_t as_signed(uint64_t v, unsigned bytes)
{
	return bytes == 8 ? (int64_t)v : (int64_t)(int32_t)(uint32_t)v;
}

/* 32 known values of width @bytes as scalar + pattern. */
static struct affine from_values(struct affine_forms *s, const uint64_t v[32], unsigned bytes)
{
	int64_t lane[32];
	struct affine r = { .cls = AFFINE_SCALAR, .known = true, .base = v[0], .ranged = true };
	r.lo = r.hi = as_signed(v[0], bytes);
	for (unsigned i = 0; i < 32; i++) {
		const int64_t x = as_signed(v[i], bytes);
		lane[i] = as_signed(v[i] - v[0], bytes);
		r.lo = x < r.lo ? x : r.lo;
		r.hi = x > r.hi ? x : r.hi;
	}
	r.pattern = pattern_intern(s, lane);
	return r;
}

static struct affine with_range(struct affine r, int64_t lo, int64_t hi)
{
	r.ranged = true;
	r.lo = lo;
	r.hi = hi;
	return r;
}

static unsigned trailing_zeros(uint64_t v)
{
	return v ? (unsigned)__builtin_ctzll(v) : 63;
}

unsigned affine_align(const struct affine *r)
{
	return r->known ? trailing_zeros(r->base) : r->align_log2;
}

struct affine affine_of_src(const struct affine_forms *s, const struct ir *ir,
                            const struct xsrc *src)
{
	if (src->kind == S_REG) {
		struct affine r = s->reg[src->reg];
		const struct local_range *l = &s->local[src->reg];
		if (r.cls == AFFINE_UNWRITTEN || r.ranged || !ir->regs[src->reg].bytes ||
		    l->round != s->round)
			return r;
		if (l->lo == l->hi) {
			const uint64_t v = ir->regs[src->reg].bytes == 8 ? (uint64_t)l->lo : (uint32_t)l->lo;
			r = (struct affine){ .cls = AFFINE_SCALAR, .known = true, .base = v };
		}
		r.ranged = true;
		r.lo = l->lo;
		r.hi = l->hi;
		return r;
	}
	/* constants of 32-bit operations have no more than 32 bits */
	const int64_t v = src->value >> 32 ? (int64_t)src->value : (int64_t)(int32_t)src->value;
	return (struct affine){
		.cls = AFFINE_SCALAR, .known = true, .base = src->value, .ranged = true, .lo = v, .hi = v
	};
}

void affine_note(struct affine_forms *s, const struct xop *x, const struct affine *result)
{
	for (unsigned i = 0; i < x->n_d; i++) {
		if (x->d[i] < 0)
			continue;
		struct local_range *l = &s->local[x->d[i]];
		if (!result->ranged || x->guard >= 0 || x->n_d > 1)
			l->round = 0; /* the present round is never 0 */
		else
			*l = (struct local_range){ s->round, result->lo, result->hi };
	}
}

struct affine affine_meet(const struct affine *a, const struct affine *b)
{
	if (a->cls == AFFINE_UNWRITTEN)
		return *b;
	if (b->cls == AFFINE_UNWRITTEN)
		return *a;
	const bool same_range = a->ranged && b->ranged && a->lo == b->lo && a->hi == b->hi;
	struct affine r = *a;
	r.ranged = same_range;
	r.lo = same_range ? a->lo : 0;
	r.hi = same_range ? a->hi : 0;
	if (a->cls == AFFINE_LANES || b->cls == AFFINE_LANES || a->pattern != b->pattern) {
		r.cls = AFFINE_LANES;
		r.known = false;
		r.base = 0;
		r.pattern = 0;
		r.align_log2 = 0;
		return r;
	}
	if (!(a->known && b->known && a->base == b->base)) {
		const unsigned x = affine_align(a), y = affine_align(b);
		r.known = false;
		r.base = 0;
		r.align_log2 = (uint8_t)(x < y ? x : y);
	}
	return r;
}

/* --- specials --- */

static struct affine affine_tid(struct affine_forms *s, const struct launch_plan *p, unsigned axis)
{
	const uint32_t bx = p->block.x, by = p->block.y, threads = bx * by * p->block.z;
	const uint32_t n_warps = (threads + 31) / 32;
	int64_t first[32] = { 0 };
	uint32_t base0 = 0;
	uint64_t all = 0; /* or of the scalars, for their alignment */
	bool same_base = true;
	for (uint32_t w = 0; w < n_warps; w++) {
		uint32_t base = 0;
		for (uint32_t i = 0; i < 32; i++) {
			const uint32_t t = w * 32 + i; /* lanes past the block: as if it went on */
			const uint32_t v = axis == 0 ? t % bx : axis == 1 ? t / bx % by : t / bx / by;
			if (i == 0)
				base = v;
			const int64_t d = (int64_t)v - (int64_t)base;
			if (w == 0)
				first[i] = d;
			else if (first[i] != d && t < threads)
				return LANES;
		}
		if (w == 0)
			base0 = base;
		same_base &= base == base0;
		all |= base;
	}
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .known = same_base,
		                    .base = same_base ? base0 : 0,
		                    .pattern = pattern_intern(s, first),
		                    .align_log2 = (uint8_t)trailing_zeros(all) };
}

/* %tid also tells its range; lanes past the block's end count as well, hence whole warps. */
static struct affine affine_tid_ranged(struct affine_forms *s, const struct launch_plan *p,
                                       unsigned axis)
{
	const uint32_t size[3] = { p->block.x, p->block.y, p->block.z };
	const uint32_t threads = (p->block.x * p->block.y * p->block.z + 31) / 32 * 32;
	const struct affine r = affine_tid(s, p, axis);
	const uint32_t last = axis < 2 ? size[axis] : threads / p->block.x / p->block.y + 1;
	return with_range(r, 0, (int64_t)last - (axis < 2));
}

static struct affine affine_special(struct affine_forms *s, const struct launch_plan *p,
                                    enum ptx_special sr)
{
	uint64_t v[32];
	switch (sr) {
	case SR_TID_X:
	case SR_TID_Y:
	case SR_TID_Z: return affine_tid_ranged(s, p, sr - SR_TID_X);
	case SR_CTAID_X: return with_range(UNIFORM, 0, (int64_t)p->grid.x - 1);
	case SR_CTAID_Y: return with_range(UNIFORM, 0, (int64_t)p->grid.y - 1);
	case SR_CTAID_Z: return with_range(UNIFORM, 0, (int64_t)p->grid.z - 1);
	case SR_WARPID: return with_range(UNIFORM, 0, 31);
	case SR_LANEID:
	case SR_LANEMASK_EQ:
	case SR_LANEMASK_LE:
	case SR_LANEMASK_LT:
	case SR_LANEMASK_GE:
	case SR_LANEMASK_GT:
		for (unsigned i = 0; i < 32; i++) {
			const uint32_t eq = 1u << i;
			v[i] = sr == SR_LANEID        ? i
			       : sr == SR_LANEMASK_EQ ? eq
			       : sr == SR_LANEMASK_LE ? (eq | (eq - 1))
			       : sr == SR_LANEMASK_LT ? eq - 1
			       : sr == SR_LANEMASK_GE ? ~(eq - 1)
			                              : ~(eq | (eq - 1));
		}
		return from_values(s, v, 4);
	default: return UNIFORM;
	}
}

/* --- operations --- */

static struct affine fold_all(struct affine_forms *s, const struct xop *x, const struct affine *src)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	uint64_t v[32];
	bool same = true;
	for (unsigned i = 0; i < info->n_src; i++)
		same &= src[i].pattern == 0;
	for (unsigned lane = 0; lane < 32; lane++) {
		uint64_t a[4] = { 0 };
		for (unsigned i = 0; i < info->n_src; i++)
			a[i] = affine_lane(s, &src[i], lane);
		v[lane] = lane && same ? v[0] : info->fold(a[0], a[1], a[2], a[3]);
	}
	return from_values(s, v, info->d_bytes);
}

/* Scalar + pattern from two patterns and two factors: lane = (pa*ka + pb*kb) in @bytes. */
static struct affine affine(struct affine_forms *s, const struct affine *a, uint64_t ka,
                            const struct affine *b, uint64_t kb, unsigned bytes, unsigned align)
{
	int64_t lane[32];
	for (unsigned i = 0; i < 32; i++) {
		uint64_t v = 0;
		if (a)
			v += (uint64_t)s->patterns[a->pattern].lane[i] * ka;
		if (b)
			v += (uint64_t)s->patterns[b->pattern].lane[i] * kb;
		lane[i] = bytes == 8 ? (int64_t)v : (int64_t)(int32_t)(uint32_t)v;
	}
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .pattern = pattern_intern(s, lane),
		                    .align_log2 = (uint8_t)(align > 63 ? 63 : align) };
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The scalar has zeros where the pattern has its bits: bits below @bits belong to the pattern. */
static bool split_bits(const struct affine_forms *s, const struct affine *a)
{
	const struct pattern *p = &s->patterns[a->pattern];
	const unsigned bits = affine_align(a);
	return p->min >= 0 && (bits >= 31 || p->max < (int64_t)1 << bits);
}

/* Bitwise operation with a known constant on scalar + pattern whose bits do not overlap. */
static struct affine bitwise(struct affine_forms *s, const struct affine *a, uint64_t c,
                             enum emu_op op)
{
	const unsigned bits = affine_align(a);
	const uint64_t low = c & (bits >= 63 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1);
	int64_t lane[32];
	for (unsigned i = 0; i < 32; i++) {
		const uint64_t p = (uint64_t)s->patterns[a->pattern].lane[i];
		switch (op) {
		case E_and_b32: lane[i] = (int64_t)(p & low); break;
		case E_or_b32: lane[i] = (int64_t)(p | low) - (int64_t)low; break;
		case E_xor_b32: lane[i] = (int64_t)(p ^ low) - (int64_t)low; break;
		default: /* shift right by c */ lane[i] = (int64_t)(c > 31 ? 0 : p >> c); break;
		}
	}
	const bool shift = op == E_shr_u32 || op == E_shr_s32;
	const unsigned align = shift ? (c < bits ? bits - (unsigned)c : 0) : op == E_and_b32 ? bits : 0;
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .pattern = pattern_intern(s, lane),
		                    .align_log2 = (uint8_t)align };
}

/* a | b == a + b: b is known, small and not negative, a has zeros there in every lane. */
static bool disjoint(const struct affine_forms *s, const struct affine *a, const struct affine *b)
{
	if (!b->known)
		return false;
	uint64_t used = 0;
	for (unsigned i = 0; i < 32; i++)
		used |= (uint32_t)affine_lane(s, b, i);
	unsigned zeros = affine_align(a);
	for (unsigned i = 0; i < 32; i++)
		zeros = least(zeros, trailing_zeros((uint64_t)s->patterns[a->pattern].lane[i]));
	return zeros >= 32 || used < (uint64_t)1 << zeros;
}

static struct affine affine_op(struct affine_forms *s, const struct xop *x, const struct affine *a)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	bool known = true, uniform = true;
	for (unsigned i = 0; i < info->n_src; i++) {
		if (a[i].cls == AFFINE_LANES)
			return LANES;
		known &= a[i].known;
		uniform &= a[i].pattern == 0;
	}
	if (known)
		return fold_all(s, x, a);
	const unsigned bytes = info->d_bytes;
	unsigned align = 0;
	switch ((enum emu_op)x->op) {
	case E_mov_b32:
	case E_mov_b64: return a[0];
	case E_add_b32:
	case E_add_b64:
		return affine(s, &a[0], 1, &a[1], 1, bytes,
		              least(affine_align(&a[0]), affine_align(&a[1])));
	case E_sub_b32:
	case E_sub_b64:
		return affine(s, &a[0], 1, &a[1], ~(uint64_t)0, bytes,
		              least(affine_align(&a[0]), affine_align(&a[1])));
	case E_not_b32:
	case E_not_b64: return affine(s, &a[0], ~(uint64_t)0, NULL, 0, bytes, 0);
	case E_shl_b32:
	case E_shl_b64:
		if (!a[1].known || a[1].pattern || a[1].base > 31)
			break;
		return affine(s, &a[0], (uint64_t)1 << a[1].base, NULL, 0, bytes,
		              affine_align(&a[0]) + (unsigned)a[1].base);
	case E_mul_lo_b32:
	case E_mul_lo_b64:
	case E_mad_lo_b32:
	case E_mad_lo_b64:
	case E_mul_wide_s32:
	case E_mul_wide_u32: {
		const bool mad = x->op == E_mad_lo_b32 || x->op == E_mad_lo_b64;
		const struct affine *c = mad ? &a[2] : NULL;
		const unsigned ac = mad ? affine_align(c) : 63;
		align = least(affine_align(&a[0]) + affine_align(&a[1]), ac);
		if (a[1].known && a[1].pattern == 0)
			return affine(s, &a[0],
			              x->op == E_mul_wide_s32 ? (uint64_t)(int64_t)(int32_t)a[1].base
			                                      : a[1].base,
			              c, 1, bytes, align);
		if (a[0].known && a[0].pattern == 0)
			return affine(s, &a[1],
			              x->op == E_mul_wide_s32 ? (uint64_t)(int64_t)(int32_t)a[0].base
			                                      : a[0].base,
			              c, 1, bytes, align);
		if (a[0].pattern == 0 && a[1].pattern == 0)
			return affine(s, NULL, 0, c, 1, bytes, align);
		return LANES;
	}
	case E_zext64:
	case E_sext64:
	case E_trunc32: return affine(s, &a[0], 1, NULL, 0, bytes, affine_align(&a[0]));
	case E_and_b32:
	case E_or_b32:
	case E_xor_b32:
		if (uniform)
			break;
		if (a[1].known && a[1].pattern == 0 && split_bits(s, &a[0]))
			return bitwise(s, &a[0], a[1].base, (enum emu_op)x->op);
		if (a[0].known && a[0].pattern == 0 && split_bits(s, &a[1]))
			return bitwise(s, &a[1], a[0].base, (enum emu_op)x->op);
		if (x->op == E_or_b32 && (disjoint(s, &a[0], &a[1]) || disjoint(s, &a[1], &a[0])))
			return affine(s, &a[0], 1, &a[1], 1, bytes, 0);
		return LANES;
	case E_shr_u32:
	case E_shr_s32:
		if (!uniform && a[1].known && a[1].pattern == 0 && split_bits(s, &a[0]))
			return bitwise(s, &a[0], a[1].base, (enum emu_op)x->op);
		if (uniform && a[1].known && a[1].base < affine_align(&a[0]))
			align = affine_align(&a[0]) - (unsigned)a[1].base;
		break;
	default: break;
	}
	if (!uniform)
		return LANES;
	return (struct affine){ .cls = AFFINE_SCALAR, .align_log2 = (uint8_t)align };
}

/* A predicate that has the same known value in all lanes. */
static struct affine known_pred(bool value)
{
	return (struct affine){ .cls = AFFINE_SCALAR, .known = true, .base = value ? 0xffffffffu : 0 };
}

static struct affine affine_pred(const struct xop *x, const struct affine *a, bool all_uniform)
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
	return all_uniform ? UNIFORM : LANES;
}

/* The range of a result; one value is as good as known. */
static struct affine bounded(struct affine_forms *s, const struct xop *x, const struct affine *a,
                             struct affine r)
{
	int64_t lo, hi;
	if (r.ranged || !range_of_op(x, a, &lo, &hi))
		return r;
	if (lo == hi) {
		uint64_t v[32];
		for (unsigned i = 0; i < 32; i++)
			v[i] = emu_ops[x->op].d_bytes == 8 ? (uint64_t)lo : (uint32_t)lo;
		return from_values(s, v, emu_ops[x->op].d_bytes);
	}
	return with_range(r, lo, hi);
}

static const struct xop *only_def(const struct ir *ir, const struct xsrc *s)
{
	const int32_t o = s->kind == S_REG ? ir->only_def[s->reg] : -1;
	return o >= 0 && ir->ops[o].kind == X_OP ? &ir->ops[o] : NULL;
}

/* Does @s always hold the value of register @reg, itself or plus a known zero? */
static bool equals_reg(const struct affine_forms *s, const struct ir *ir, const struct xsrc *src,
                       int32_t reg)
{
	if (src->kind != S_REG)
		return false;
	if (src->reg == reg)
		return true;
	const struct xop *x = only_def(ir, src);
	if (!x || x->op != E_add_b32 || x->s[0].kind != S_REG || x->s[0].reg != reg)
		return false;
	if (x->s[1].kind == S_CONST)
		return x->s[1].value == 0;
	/* anywhere in the program: what holds in this block only says nothing about the other place */
	const struct affine *b = &s->reg[x->s[1].reg];
	return b->known && b->pattern == 0 && b->base == 0;
}

/* x - (x & -2^k), as compilers write x mod 2^k. */
static bool is_remainder(const struct affine_forms *s, const struct ir *ir, const struct xop *x,
                         uint64_t *mask)
{
	const struct xop *and = x->op == E_sub_b32 ? only_def(ir, &x->s[1]) : NULL;
	if (!and || and->op != E_and_b32 || and->s[1].kind != S_CONST || x->s[0].kind != S_REG)
		return false;
	const uint32_t low = ~(uint32_t) and->s[1].value;
	*mask = low;
	return (low & (low + 1)) == 0 && ir->only_def[x->s[0].reg] >= 0 &&
	       equals_reg(s, ir, &and->s[0], x->s[0].reg);
}

struct xop xop_reduced(const struct affine_forms *s, const struct ir *ir, const struct xop *x)
{
	struct xop r = *x;
	uint64_t mask;
	if (x->kind != X_OP)
		return r;
	if (is_remainder(s, ir, x, &mask)) {
		r.op = E_and_b32;
		r.s[1] = (struct xsrc){ .kind = S_CONST, .value = mask };
		return r;
	}
	const bool rem = x->op == E_rem_s32 || x->op == E_rem_u32;
	if (!rem && x->op != E_div_s32 && x->op != E_div_u32)
		return r;
	const struct affine a = affine_of_src(s, ir, &x->s[0]), b = affine_of_src(s, ir, &x->s[1]);
	if (!a.ranged || a.lo < 0 || !b.known || b.pattern || !b.base || (b.base & (b.base - 1)) ||
	    b.base > 0x40000000)
		return r;
	r.op = rem ? E_and_b32 : E_shr_u32;
	r.s[1] = (struct xsrc){ .kind = S_CONST,
		                    .value = rem ? b.base - 1 : (uint64_t)__builtin_ctzll(b.base) };
	return r;
}

bool affine_assumed(const struct affine_forms *s, const struct ir *ir, const struct xop *x)
{
	if (!s->speculative || x->kind != X_OP || x->op != E_shr_s32 || x->guard >= 0)
		return false;
	const struct affine a = affine_of_src(s, ir, &x->s[0]), by = affine_of_src(s, ir, &x->s[1]);
	return a.cls == AFFINE_SCALAR && a.pattern && !a.known && !(a.ranged && a.lo >= 0) &&
	       by.known && !by.pattern && by.base == 31;
}

struct affine affine_of_result(struct affine_forms *s, const struct ir *ir,
                               const struct xop *original, const struct launch_plan *plan)
{
	struct affine a[X_MAX_VEC + 2] = { 0 };
	bool all_uniform = true;
	const struct xop reduced = xop_reduced(s, ir, original), *x = &reduced;
	for (unsigned i = 0; i < x->n_s; i++) {
		a[i] = affine_of_src(s, ir, &x->s[i]);
		if (a[i].cls == AFFINE_UNWRITTEN)
			return a[i];
		all_uniform &= affine_uniform(&a[i]);
	}
	switch (x->kind) {
	case X_OP:
		if (affine_assumed(s, ir, x))
			return from_values(s, (const uint64_t[32]){ 0 }, 4);
		return bounded(s, x, a, affine_op(s, x, a));
	case X_CMP: {
		const int decided = range_decides(x, a);
		if (decided >= 0)
			return known_pred((decided != 0) != x->neg);
		return all_uniform ? UNIFORM : LANES;
	}
	case X_PRED: return affine_pred(x, a, all_uniform);
	case X_SEL:
		if (!affine_uniform(&a[2]) || a[0].cls != AFFINE_SCALAR || a[1].cls != AFFINE_SCALAR ||
		    a[0].pattern != a[1].pattern)
			return LANES;
		return (struct affine){ .cls = AFFINE_SCALAR,
			                    .pattern = a[0].pattern,
			                    .align_log2 =
			                        (uint8_t)least(affine_align(&a[0]), affine_align(&a[1])) };
	case X_SPECIAL: return affine_special(s, plan, (enum ptx_special)x->op);
	case X_LD:
		if (x->type == PTX_U8 || x->type == PTX_U16 || x->type == PTX_B8 || x->type == PTX_B16)
			return with_range(all_uniform && x->space != SPACE_GENERIC && x->space != SPACE_LOCAL
			                      ? UNIFORM
			                      : LANES,
			                  0, x->bytes == 1 ? 0xff : 0xffff);
		return all_uniform && x->space != SPACE_GENERIC && x->space != SPACE_LOCAL ? UNIFORM
		                                                                           : LANES;
	case X_CLOCK:
	case X_BARRED:
	case X_ACTIVE: return UNIFORM;
	case X_VOTE:
	case X_REDUX: /* one group only if every lane names the same members */
		return affine_uniform(&a[1]) ? UNIFORM : LANES;
	default: return LANES;
	}
}

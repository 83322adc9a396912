/*
 * What each operation makes of the affine forms of its sources: a rule per operation that keeps
 * "scalar + pattern"; all others keep uniform values uniform, and nothing else.
 */
#include "emu/analysis/affine.h"

#include <stddef.h>

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
	return affine_from_values(s, v, info->d_bytes);
}

/* Scalar + pattern from two patterns and two factors: lane = (pa*ka + pb*kb) in @bytes. */
static struct affine combine_patterns(struct affine_forms *s, const struct affine *a, uint64_t ka,
                                      const struct affine *b, uint64_t kb, unsigned bytes,
                                      unsigned align)
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

static unsigned lesser_align(unsigned a, unsigned b)
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
static struct affine bitwise_constant(struct affine_forms *s, const struct affine *a, uint64_t c,
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
	if (op == E_and_b32 && low == c) /* of the scalar nothing is left */
		return affine_from_values(s, (const uint64_t *)lane, 4);
	const bool shift = op == E_shr_u32 || op == E_shr_s32;
	const unsigned align = shift ? (c < bits ? bits - (unsigned)c : 0) : op == E_and_b32 ? bits : 0;
	return (struct affine){ .cls = AFFINE_SCALAR,
		                    .pattern = pattern_intern(s, lane),
		                    .align_log2 = (uint8_t)align };
}

/* a | b == a + b: b is small and not negative, a has zeros there in every lane. */
static bool disjoint_bits(const struct affine_forms *s, const struct affine *a,
                          const struct affine *b)
{
	uint64_t used = b->ranged && b->lo >= 0 ? (uint64_t)b->hi : UINT64_MAX;
	if (b->known) {
		used = 0;
		for (unsigned i = 0; i < 32; i++)
			used |= (uint32_t)affine_lane(s, b, i);
	}
	unsigned zeros = affine_align(a);
	for (unsigned i = 0; i < 32; i++)
		zeros =
			lesser_align(zeros, affine_trailing_zeros((uint64_t)s->patterns[a->pattern].lane[i]));
	return zeros >= 32 || used < (uint64_t)1 << zeros;
}

/* One operation whose sources are all scalar + pattern, not all known. */
struct rule_input {
	struct affine_forms *s;
	enum emu_op op;
	const struct affine *a;
	unsigned bytes; /* of the result */
	bool uniform;   /* all sources are */
};

static struct affine only_uniform(const struct rule_input *r, unsigned align)
{
	return r->uniform ? (struct affine){ .cls = AFFINE_SCALAR, .align_log2 = (uint8_t)align }
	                  : AFFINE_32_VALUES;
}

static bool is_uniform_constant(const struct affine *a)
{
	return a->known && a->pattern == 0;
}

static struct affine of_move(const struct rule_input *r)
{
	return r->a[0];
}

static struct affine of_sum(const struct rule_input *r)
{
	const bool minus = r->op == E_sub_b32 || r->op == E_sub_b64;
	return combine_patterns(r->s, &r->a[0], 1, &r->a[1], minus ? ~(uint64_t)0 : 1, r->bytes,
	                        lesser_align(affine_align(&r->a[0]), affine_align(&r->a[1])));
}

static struct affine of_not(const struct rule_input *r)
{
	return combine_patterns(r->s, &r->a[0], ~(uint64_t)0, NULL, 0, r->bytes, 0);
}

static struct affine of_shift_left(const struct rule_input *r)
{
	const struct affine *a = r->a;
	if (!is_uniform_constant(&a[1]) || a[1].base > 31)
		return only_uniform(r, 0);
	return combine_patterns(r->s, &a[0], (uint64_t)1 << a[1].base, NULL, 0, r->bytes,
	                        affine_align(&a[0]) + (unsigned)a[1].base);
}

/* The constant factor @a as the product sees it. */
static uint64_t product_factor(const struct rule_input *r, const struct affine *a)
{
	return r->op == E_mul_wide_s32 ? (uint64_t)(int64_t)(int32_t)a->base : a->base;
}

static struct affine of_product(const struct rule_input *r)
{
	const struct affine *a = r->a;
	const bool adds = r->op == E_mad_lo_b32 || r->op == E_mad_lo_b64;
	const struct affine *c = adds ? &a[2] : NULL;
	const unsigned align =
		lesser_align(affine_align(&a[0]) + affine_align(&a[1]), adds ? affine_align(&a[2]) : 63);
	if (is_uniform_constant(&a[1]))
		return combine_patterns(r->s, &a[0], product_factor(r, &a[1]), c, 1, r->bytes, align);
	if (is_uniform_constant(&a[0]))
		return combine_patterns(r->s, &a[1], product_factor(r, &a[0]), c, 1, r->bytes, align);
	if (a[0].pattern == 0 && a[1].pattern == 0)
		return combine_patterns(r->s, NULL, 0, c, 1, r->bytes, align);
	return AFFINE_32_VALUES;
}

static struct affine of_resize(const struct rule_input *r)
{
	return combine_patterns(r->s, &r->a[0], 1, NULL, 0, r->bytes, affine_align(&r->a[0]));
}

static struct affine of_logic(const struct rule_input *r)
{
	const struct affine *a = r->a;
	if (r->uniform)
		return only_uniform(r, 0);
	if (is_uniform_constant(&a[1]) && split_bits(r->s, &a[0]))
		return bitwise_constant(r->s, &a[0], a[1].base, r->op);
	if (is_uniform_constant(&a[0]) && split_bits(r->s, &a[1]))
		return bitwise_constant(r->s, &a[1], a[0].base, r->op);
	if (r->op == E_or_b32 &&
	    (disjoint_bits(r->s, &a[0], &a[1]) || disjoint_bits(r->s, &a[1], &a[0])))
		return combine_patterns(r->s, &a[0], 1, &a[1], 1, r->bytes, 0);
	return AFFINE_32_VALUES;
}

static struct affine of_shift_right(const struct rule_input *r)
{
	const struct affine *a = r->a;
	if (!r->uniform && is_uniform_constant(&a[1]) && split_bits(r->s, &a[0]))
		return bitwise_constant(r->s, &a[0], a[1].base, r->op);
	const bool shorter = r->uniform && a[1].known && a[1].base < affine_align(&a[0]);
	return only_uniform(r, shorter ? affine_align(&a[0]) - (unsigned)a[1].base : 0);
}

typedef struct affine (*affine_rule)(const struct rule_input *r);
static const affine_rule rules[E_COUNT] = {
	[E_mov_b32] = of_move,         [E_mov_b64] = of_move,        [E_add_b32] = of_sum,
	[E_add_b64] = of_sum,          [E_sub_b32] = of_sum,         [E_sub_b64] = of_sum,
	[E_not_b32] = of_not,          [E_not_b64] = of_not,         [E_shl_b32] = of_shift_left,
	[E_shl_b64] = of_shift_left,   [E_mul_lo_b32] = of_product,  [E_mul_lo_b64] = of_product,
	[E_mad_lo_b32] = of_product,   [E_mad_lo_b64] = of_product,  [E_mul_wide_s32] = of_product,
	[E_mul_wide_u32] = of_product, [E_zext64] = of_resize,       [E_sext64] = of_resize,
	[E_trunc32] = of_resize,       [E_and_b32] = of_logic,       [E_or_b32] = of_logic,
	[E_xor_b32] = of_logic,        [E_shr_u32] = of_shift_right, [E_shr_s32] = of_shift_right,
};

struct affine affine_of_op(struct affine_forms *s, const struct xop *x, const struct affine *a)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	bool known = true;
	struct rule_input r = {
		.s = s, .op = (enum emu_op)x->op, .a = a, .bytes = info->d_bytes, .uniform = true
	};
	for (unsigned i = 0; i < info->n_src; i++) {
		if (a[i].cls == AFFINE_LANES)
			return AFFINE_32_VALUES;
		known &= a[i].known;
		r.uniform &= a[i].pattern == 0;
	}
	if (known)
		return fold_all(s, x, a);
	return rules[x->op] ? rules[x->op](&r) : only_uniform(&r, 0);
}

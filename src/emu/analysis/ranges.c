/*
 * Bounds of 32- and 64-bit values, read as signed numbers, over all lanes of all warps.
 *
 * Launch dimensions give them: %tid lies in 0 .. ntid-1. They decide comparisons that the compiler
 * could not, turn the signed-division idiom (shift by 31, add, shift) into one shift, and show
 * where widening cannot wrap. Moore, "Interval Analysis", 1966. Unknown is always allowed.
 */
#include "emu/analysis/affine.h"

/* Bounds that fit into @bytes; false = the value may wrap. */
static bool fits_width(int64_t lo, int64_t hi, unsigned bytes, int64_t *rlo, int64_t *rhi)
{
	if (bytes == 4 && (lo < INT32_MIN || hi > INT32_MAX))
		return false; /* may wrap */
	*rlo = lo;
	*rhi = hi;
	return true;
}

static bool multiply_bounds(const struct affine *a, const struct affine *b, int64_t *lo,
                            int64_t *hi)
{
	const int64_t x[2] = { a->lo, a->hi }, y[2] = { b->lo, b->hi };
	for (unsigned i = 0; i < 4; i++) {
		int64_t p;
		if (__builtin_mul_overflow(x[i & 1], y[i >> 1], &p))
			return false;
		*lo = i == 0 || p < *lo ? p : *lo;
		*hi = i == 0 || p > *hi ? p : *hi;
	}
	return true;
}

static bool add_bounds(const struct affine *a, int64_t blo, int64_t bhi, int64_t *lo, int64_t *hi)
{
	return !__builtin_add_overflow(a->lo, blo, lo) && !__builtin_add_overflow(a->hi, bhi, hi);
}

static int64_t all_ones_above(int64_t v) /* smallest 2^k - 1 that is at least v */
{
	uint64_t r = (uint64_t)v;
	for (unsigned s = 1; s < 64; s *= 2)
		r |= r >> s;
	return (int64_t)r;
}

static bool is_shift_amount(const struct affine *s)
{
	return s->known && s->pattern == 0 && s->base < 31;
}

static int64_t min_bound(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
static int64_t max_bound(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* One operation: its sources' forms, the bytes of its result; bounds come out. */
struct range_input {
	const struct affine *a;
	unsigned bytes;
	int64_t *lo, *hi;
};

static bool set_bounds(const struct range_input *r, int64_t lo, int64_t hi)
{
	return fits_width(lo, hi, r->bytes, r->lo, r->hi);
}

static bool of_and(const struct range_input *r)
{
	const struct affine *a = r->a;
	const bool pos0 = a[0].ranged && a[0].lo >= 0, pos1 = a[1].ranged && a[1].lo >= 0;
	if (!pos0 && !pos1)
		return false;
	*r->lo = 0;
	*r->hi = pos0 && pos1 ? min_bound(a[0].hi, a[1].hi) : pos0 ? a[0].hi : a[1].hi;
	return true;
}

static bool of_byte(const struct range_input *r)
{
	return set_bounds(r, 0, 0xff);
}

static bool of_half_word(const struct range_input *r)
{
	return set_bounds(r, 0, 0xffff);
}

static bool of_bit_count(const struct range_input *r)
{
	return fits_width(0, 32, 4, r->lo, r->hi);
}

static bool of_copy(const struct range_input *r)
{
	return set_bounds(r, r->a[0].lo, r->a[0].hi);
}

static bool of_sum(const struct range_input *r)
{
	int64_t lo, hi;
	return add_bounds(&r->a[0], r->a[1].lo, r->a[1].hi, &lo, &hi) && set_bounds(r, lo, hi);
}

static bool of_difference(const struct range_input *r)
{
	const struct affine *a = r->a;
	int64_t lo, hi;
	if (a[1].lo == INT64_MIN || a[1].hi == INT64_MIN)
		return false;
	return add_bounds(&a[0], -a[1].hi, -a[1].lo, &lo, &hi) && set_bounds(r, lo, hi);
}

static bool of_product(const struct range_input *r)
{
	int64_t lo, hi;
	return multiply_bounds(&r->a[0], &r->a[1], &lo, &hi) && set_bounds(r, lo, hi);
}

static bool of_product_and_sum(const struct range_input *r)
{
	int64_t lo, hi;
	return multiply_bounds(&r->a[0], &r->a[1], &lo, &hi) &&
	       add_bounds(&r->a[2], lo, hi, &lo, &hi) && set_bounds(r, lo, hi);
}

static bool of_shift_left(const struct range_input *r)
{
	const struct affine *a = r->a;
	if (!is_shift_amount(&a[1]) || a[0].lo < -((int64_t)1 << 31) || a[0].hi > (int64_t)1 << 31)
		return false;
	return set_bounds(r, a[0].lo * ((int64_t)1 << a[1].base), a[0].hi * ((int64_t)1 << a[1].base));
}

static bool of_shift_right(const struct range_input *r)
{
	const struct affine *a = r->a;
	if (!a[1].known || a[1].pattern || a[1].base > 31)
		return false;
	return set_bounds(r, a[0].lo >> a[1].base, a[0].hi >> a[1].base);
}

static bool of_or(const struct range_input *r)
{
	return set_bounds(r, 0, all_ones_above(max_bound(r->a[0].hi, r->a[1].hi)));
}

static bool of_minimum(const struct range_input *r)
{
	return set_bounds(r, min_bound(r->a[0].lo, r->a[1].lo), min_bound(r->a[0].hi, r->a[1].hi));
}

static bool of_maximum(const struct range_input *r)
{
	return set_bounds(r, max_bound(r->a[0].lo, r->a[1].lo), max_bound(r->a[0].hi, r->a[1].hi));
}

static bool of_quotient(const struct range_input *r)
{
	const struct affine *a = r->a;
	return a[1].lo > 0 && set_bounds(r, a[0].lo / a[1].hi, a[0].hi / a[1].lo);
}

static bool of_remainder(const struct range_input *r)
{
	const struct affine *a = r->a;
	return a[1].lo > 0 && set_bounds(r, 0, min_bound(a[0].hi, a[1].hi - 1));
}

/* What a rule needs to know of the sources before it applies. */
enum needs { NEEDS_RANGES, NEEDS_NOTHING, NEEDS_POSITIVE };
static const struct {
	bool (*of)(const struct range_input *r);
	enum needs needs;
} rules[E_COUNT] = {
	[E_and_b32] = { of_and, NEEDS_NOTHING },
	[E_and_b64] = { of_and, NEEDS_NOTHING },
	[E_ext_u8] = { of_byte, NEEDS_NOTHING },
	[E_ext_u16] = { of_half_word, NEEDS_NOTHING },
	[E_popc_b32] = { of_bit_count, NEEDS_NOTHING },
	[E_clz_b32] = { of_bit_count, NEEDS_NOTHING },
	[E_mov_b32] = { of_copy, NEEDS_RANGES },
	[E_mov_b64] = { of_copy, NEEDS_RANGES },
	[E_sext64] = { of_copy, NEEDS_RANGES },
	[E_zext64] = { of_copy, NEEDS_POSITIVE },
	[E_trunc32] = { of_copy, NEEDS_RANGES },
	[E_add_b32] = { of_sum, NEEDS_RANGES },
	[E_add_b64] = { of_sum, NEEDS_RANGES },
	[E_sub_b32] = { of_difference, NEEDS_RANGES },
	[E_sub_b64] = { of_difference, NEEDS_RANGES },
	[E_mul_wide_u32] = { of_product, NEEDS_POSITIVE },
	[E_mul_wide_s32] = { of_product, NEEDS_RANGES },
	[E_mul_lo_b32] = { of_product, NEEDS_RANGES },
	[E_mul_lo_b64] = { of_product, NEEDS_RANGES },
	[E_mad_lo_b32] = { of_product_and_sum, NEEDS_RANGES },
	[E_mad_lo_b64] = { of_product_and_sum, NEEDS_RANGES },
	[E_shl_b32] = { of_shift_left, NEEDS_RANGES },
	[E_shl_b64] = { of_shift_left, NEEDS_RANGES },
	[E_shr_u32] = { of_shift_right, NEEDS_POSITIVE },
	[E_shr_u64] = { of_shift_right, NEEDS_POSITIVE },
	[E_shr_s32] = { of_shift_right, NEEDS_RANGES },
	[E_shr_s64] = { of_shift_right, NEEDS_RANGES },
	[E_or_b32] = { of_or, NEEDS_POSITIVE },
	[E_xor_b32] = { of_or, NEEDS_POSITIVE },
	[E_min_u32] = { of_minimum, NEEDS_POSITIVE },
	[E_min_u64] = { of_minimum, NEEDS_POSITIVE },
	[E_min_s32] = { of_minimum, NEEDS_RANGES },
	[E_min_s64] = { of_minimum, NEEDS_RANGES },
	[E_max_u32] = { of_maximum, NEEDS_POSITIVE },
	[E_max_u64] = { of_maximum, NEEDS_POSITIVE },
	[E_max_s32] = { of_maximum, NEEDS_RANGES },
	[E_max_s64] = { of_maximum, NEEDS_RANGES },
	[E_div_s32] = { of_quotient, NEEDS_POSITIVE },
	[E_div_u32] = { of_quotient, NEEDS_POSITIVE },
	[E_rem_s32] = { of_remainder, NEEDS_POSITIVE },
	[E_rem_u32] = { of_remainder, NEEDS_POSITIVE },
};

bool range_of_op(const struct xop *x, const struct affine *a, int64_t *lo, int64_t *hi)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	const struct range_input r = { a, info->d_bytes, lo, hi };
	if (!rules[x->op].of)
		return false;
	const enum needs needs = rules[x->op].needs;
	for (unsigned i = 0; i < info->n_src && needs != NEEDS_NOTHING; i++)
		if (!a[i].ranged)
			return false;
	if (needs == NEEDS_POSITIVE && (a[0].lo < 0 || (info->n_src > 1 && a[1].lo < 0)))
		return false;
	return rules[x->op].of(&r);
}

int range_decides(const struct xop *x, const struct affine *a)
{
	if (!a[0].ranged || !a[1].ranged)
		return -1;
	const bool positive = a[0].lo >= 0 && a[1].lo >= 0;
	switch ((enum emu_op)x->op) {
	case E_eq_b32:
	case E_eq_b64:
		if (a[0].hi < a[1].lo || a[1].hi < a[0].lo)
			return 0;
		return a[0].lo == a[0].hi && a[1].lo == a[1].hi ? 1 : -1;
	case E_lt_u32:
	case E_lt_u64:
		if (!positive)
			return -1;
		/* fall through */
	case E_lt_s32:
	case E_lt_s64: return a[0].hi < a[1].lo ? 1 : a[0].lo >= a[1].hi ? 0 : -1;
	case E_le_u32:
	case E_le_u64:
		if (!positive)
			return -1;
		/* fall through */
	case E_le_s32:
	case E_le_s64: return a[0].hi <= a[1].lo ? 1 : a[0].lo > a[1].hi ? 0 : -1;
	default: return -1;
	}
}

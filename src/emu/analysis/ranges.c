/*
 * Bounds of 32- and 64-bit values, read as signed numbers, over all lanes of all warps.
 *
 * Launch dimensions give them: %tid lies in 0 .. ntid-1. They decide comparisons that the compiler
 * could not, turn the signed-division idiom (shift by 31, add, shift) into one shift, and show
 * where widening cannot wrap. Moore, "Interval Analysis", 1966. Unknown is always allowed.
 */
#include "emu/analysis/affine.h"

static bool keep(int64_t lo, int64_t hi, unsigned bytes, int64_t *rlo, int64_t *rhi)
{
	if (bytes == 4 && (lo < INT32_MIN || hi > INT32_MAX))
		return false; /* may wrap */
	*rlo = lo;
	*rhi = hi;
	return true;
}

static bool products(const struct affine *a, const struct affine *b, int64_t *lo, int64_t *hi)
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

static bool sum(const struct affine *a, int64_t blo, int64_t bhi, int64_t *lo, int64_t *hi)
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

static bool is_amount(const struct affine *s)
{
	return s->known && s->pattern == 0 && s->base < 31;
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool range_of_and(const struct affine *a, int64_t *lo, int64_t *hi)
{
	const bool pos0 = a[0].ranged && a[0].lo >= 0, pos1 = a[1].ranged && a[1].lo >= 0;
	if (!pos0 && !pos1)
		return false;
	*lo = 0;
	*hi = pos0 && pos1 ? lesser(a[0].hi, a[1].hi) : pos0 ? a[0].hi : a[1].hi;
	return true;
}

bool range_of_op(const struct xop *x, const struct affine *a, int64_t *rlo, int64_t *rhi)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	int64_t lo, hi;
	switch ((enum emu_op)x->op) { /* whatever the sources */
	case E_and_b32:
	case E_and_b64: return range_of_and(a, rlo, rhi);
	case E_ext_u8: return keep(0, 0xff, 4, rlo, rhi);
	case E_ext_u16: return keep(0, 0xffff, 4, rlo, rhi);
	case E_popc_b32:
	case E_clz_b32: return keep(0, 32, 4, rlo, rhi);
	default: break;
	}
	for (unsigned i = 0; i < info->n_src; i++)
		if (!a[i].ranged)
			return false;
	const bool positive = a[0].lo >= 0 && (info->n_src < 2 || a[1].lo >= 0);
	switch ((enum emu_op)x->op) {
	case E_mov_b32:
	case E_mov_b64:
	case E_sext64: return keep(a[0].lo, a[0].hi, info->d_bytes, rlo, rhi);
	case E_zext64: return positive && keep(a[0].lo, a[0].hi, 8, rlo, rhi);
	case E_trunc32: return keep(a[0].lo, a[0].hi, 4, rlo, rhi);
	case E_add_b32:
	case E_add_b64:
		return sum(&a[0], a[1].lo, a[1].hi, &lo, &hi) && keep(lo, hi, info->d_bytes, rlo, rhi);
	case E_sub_b32:
	case E_sub_b64:
		if (a[1].lo == INT64_MIN || a[1].hi == INT64_MIN)
			return false;
		return sum(&a[0], -a[1].hi, -a[1].lo, &lo, &hi) && keep(lo, hi, info->d_bytes, rlo, rhi);
	case E_mul_wide_u32:
		return positive && products(&a[0], &a[1], &lo, &hi) && keep(lo, hi, 8, rlo, rhi);
	case E_mul_lo_b32:
	case E_mul_lo_b64:
	case E_mul_wide_s32:
		return products(&a[0], &a[1], &lo, &hi) && keep(lo, hi, info->d_bytes, rlo, rhi);
	case E_mad_lo_b32:
	case E_mad_lo_b64:
		return products(&a[0], &a[1], &lo, &hi) && sum(&a[2], lo, hi, &lo, &hi) &&
		       keep(lo, hi, info->d_bytes, rlo, rhi);
	case E_shl_b32:
	case E_shl_b64:
		if (!is_amount(&a[1]) || a[0].lo < -((int64_t)1 << 31) || a[0].hi > (int64_t)1 << 31)
			return false;
		return keep(a[0].lo * ((int64_t)1 << a[1].base), a[0].hi * ((int64_t)1 << a[1].base),
		            info->d_bytes, rlo, rhi);
	case E_shr_u32:
	case E_shr_u64:
		if (a[0].lo < 0)
			return false;
		/* fall through */
	case E_shr_s32:
	case E_shr_s64:
		if (!a[1].known || a[1].pattern || a[1].base > 31)
			return false;
		return keep(a[0].lo >> a[1].base, a[0].hi >> a[1].base, info->d_bytes, rlo, rhi);
	case E_or_b32:
	case E_xor_b32:
		return positive &&
		       keep(0, all_ones_above(greater(a[0].hi, a[1].hi)), info->d_bytes, rlo, rhi);
	case E_min_u32:
	case E_min_u64:
		if (!positive)
			return false;
		/* fall through */
	case E_min_s32:
	case E_min_s64:
		return keep(lesser(a[0].lo, a[1].lo), lesser(a[0].hi, a[1].hi), info->d_bytes, rlo, rhi);
	case E_max_u32:
	case E_max_u64:
		if (!positive)
			return false;
		/* fall through */
	case E_max_s32:
	case E_max_s64:
		return keep(greater(a[0].lo, a[1].lo), greater(a[0].hi, a[1].hi), info->d_bytes, rlo, rhi);
	case E_div_s32:
	case E_div_u32:
		return positive && a[1].lo > 0 && keep(a[0].lo / a[1].hi, a[0].hi / a[1].lo, 4, rlo, rhi);
	case E_rem_s32:
	case E_rem_u32:
		return positive && a[1].lo > 0 && keep(0, lesser(a[0].hi, a[1].hi - 1), 4, rlo, rhi);
	default: return false;
	}
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

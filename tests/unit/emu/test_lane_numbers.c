/*
 * Operations of one lane that are written without branches, for vectors, against what they mean:
 * rounding to 16-bit floats by the neighbours of a result, the rest by wider integers.
 */
#include "emu/lane/lane.h"
#include "../unit.h"

#include <stdbool.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static uint64_t seed = 88172645463325252u;

static uint64_t some_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

struct format {
	unsigned mantissa_bits;
	uint16_t infinity;
	int least; /* exponent of the last bit of a subnormal */
};
static const struct format half = { 10, 0x7c00, -24 }, bfloat = { 7, 0x7f80, -133 };

/* The value of magnitude @bits of format @f times 2^@scale; a power beyond the largest number
 * stands for infinity. */
static wide scaled(const struct format *f, uint32_t bits, int scale)
{
	const uint32_t field = bits >> f->mantissa_bits, ones = (1u << f->mantissa_bits) - 1;
	const wide m = (wide)((bits & ones) + (field ? ones + 1 : 0));
	return m << (scale + f->least + (field ? (int)field - 1 : 0));
}

/* Is @r what @exact, times 2^-@scale, is rounded to, to the nearest and of two to the even one? */
static bool is_nearest(const struct format *f, uint16_t r, wide exact, int scale)
{
	const uint32_t mag = r & 0x7fff;
	const wide want = exact < 0 ? -exact : exact, here = scaled(f, mag, scale);
	const wide off = want < here ? here - want : want - here;
	if (exact != 0 && (r >> 15 != 0) != (exact < 0))
		return false;
	for (int step = -1; step <= 1; step += 2) {
		if ((!mag && step < 0) || (mag == f->infinity && step > 0))
			continue;
		const wide there = scaled(f, mag + (uint32_t)step, scale);
		const wide beside = want < there ? there - want : want - there;
		if (beside < off || (beside == off && mag % 2))
			return false;
	}
	return true;
}

static wide with_sign(uint16_t h, wide mag)
{
	return h >> 15 ? -mag : mag;
}

TEST(products_and_sums_of_halves_are_rounded_once)
{
	for (unsigned k = 0; k < 400000; k++) {
		const uint64_t u = some_bits();
		const uint16_t a = (uint16_t)u, b = (uint16_t)(u >> 16);
		uint16_t c = (uint16_t)(u >> 32);
		if (k % 2) /* what nearly cancels, and what lies half way */
			c = (uint16_t)((lane_mul_h(a, b) ^ 0x8000) + (u >> 60) - 8);
		if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00 || (c & 0x7c00) == 0x7c00)
			continue;
		const wide exact =
			with_sign(a ^ b, scaled(&half, a & 0x7fff, 24) * scaled(&half, b & 0x7fff, 24)) +
			with_sign(c, scaled(&half, c & 0x7fff, 48));
		if (!is_nearest(&half, lane_fma_h(a, b, c), exact, 48))
			fail_msg("%04x * %04x + %04x", a, b, c);
		if (!is_nearest(&half, lane_add_h(a, c),
		                with_sign(a, scaled(&half, a & 0x7fff, 48)) +
		                    with_sign(c, scaled(&half, c & 0x7fff, 48)),
		                48))
			fail_msg("%04x + %04x", a, c);
	}
}

/* Exponents from -15 to 16, as of halves; units of 2^-44. */
TEST(products_and_sums_of_bfloats_are_rounded_once)
{
	for (unsigned k = 0; k < 400000; k++) {
		const uint64_t u = some_bits();
		const uint16_t near = 112 << 7, some = 0x8fff;
		const uint16_t a = (uint16_t)((u & some) + near), b = (uint16_t)((u >> 16 & some) + near);
		const uint16_t c = (uint16_t)((u >> 32 & some) + near);
		const wide exact =
			with_sign(a ^ b, scaled(&bfloat, a & 0x7fff, 22) * scaled(&bfloat, b & 0x7fff, 22)) +
			with_sign(c, scaled(&bfloat, c & 0x7fff, 44));
		if (!is_nearest(&bfloat, lane_fma_b(a, b, c), exact, 44))
			fail_msg("%04x * %04x + %04x", a, b, c);
	}
}

/* Every 16-bit float comes back; what lies half way goes to the even one, beyond the largest to
 * infinity, and NaN is the canonical one. */
TEST(floats_become_halves_and_back)
{
	for (uint32_t h = 0; h < 0x7c00; h++) {
		const float here = lane_h2f((uint16_t)h),
					next = h == 0x7bff ? 65536.0f : lane_h2f((uint16_t)(h + 1));
		const float between = (here + next) / 2;
		const uint16_t even = (uint16_t)(h + h % 2);
		assert_int_equal(lane_f2h(here), h);
		assert_int_equal(lane_f2h(-here), h | 0x8000);
		assert_int_equal(lane_f2h(between), even);
		assert_int_equal(lane_f2h(f32_bits(bits_f32(between) - 1)), h);
		assert_int_equal(lane_f2h(f32_bits(bits_f32(between) + 1)), h + 1);
	}
	for (uint32_t b = 0; b < 0x7f80; b++) {
		assert_int_equal(lane_f2b(lane_b2f((uint16_t)b)), b);
		assert_int_equal(lane_f2b(f32_bits(b << 16 | 0x8000)), b + b % 2);
		assert_int_equal(lane_f2b(f32_bits(b << 16 | 0x8001)), b + 1);
	}
	const float inf = f32_bits(0x7f800000), nan = f32_bits(0xff800001);
	assert_int_equal(lane_f2h(inf), 0x7c00);
	assert_int_equal(lane_f2h(-inf), 0xfc00);
	assert_int_equal(lane_f2h(3e38f), 0x7c00);
	assert_int_equal(lane_f2h(nan), 0x7fff);
	assert_int_equal(lane_f2b(nan), 0x7fff);
	assert_true(lane_h2f(0x7c00) == inf && lane_h2f(0xfc00) == -inf);
	assert_true(bits_f32(lane_h2f(0x7e01)) == 0x7fc02000);
	assert_int_equal(lane_fma_h(0x7bff, 0x7bff, 0xfc00), 0xfc00);
	assert_int_equal(lane_fma_h(0x7c00, 0x3c00, 0xfc00), 0x7fff);
	assert_int_equal(lane_fma_b(0x7f7f, 0x7f7f, 0), 0x7f80); /* too large */
	assert_int_equal(lane_fma_b(0x0001, 0x3f00, 0), 0);      /* half of the least: to even */
	assert_int_equal(lane_fma_b(0x0001, 0x3f00, 0x0001), 0x0002);
	assert_int_equal(lane_fma_b(0x0003, 0x3f00, 0x0001), 0x0002); /* 2.5 of the least */
}

TEST(lesser_and_greater_of_halves)
{
	enum { LEAST, GREATEST, OR_NAN, WAYS = 4 };
	static const struct {
		uint16_t a, b, want[WAYS]; /* least, greatest; the same where a NaN prevails */
	} cases[] = {
		{ 0x3c00, 0x4000, { 0x3c00, 0x4000, 0x3c00, 0x4000 } },
		{ 0xbc00, 0xc000, { 0xc000, 0xbc00, 0xc000, 0xbc00 } },
		{ 0x8000, 0x0000, { 0x8000, 0x0000, 0x8000, 0x0000 } },
		{ 0x7e00, 0x4000, { 0x4000, 0x4000, 0x7fff, 0x7fff } },
		{ 0x4000, 0xfe00, { 0x4000, 0x4000, 0x7fff, 0x7fff } },
		{ 0x7e00, 0xfe00, { 0x7fff, 0x7fff, 0x7fff, 0x7fff } },
		{ 0x7c00, 0xfc00, { 0xfc00, 0x7c00, 0xfc00, 0x7c00 } },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (int nan = 0; nan < 2; nan++) {
			const uint16_t a = cases[i].a, b = cases[i].b, *want = cases[i].want + nan * OR_NAN;
			assert_int_equal(lane_min_h(a, b, nan), want[LEAST]);
			assert_int_equal(lane_max_h(a, b, nan), want[GREATEST]);
			assert_int_equal(lane_min_h(b, a, nan), want[LEAST]);
			assert_int_equal(lane_max_h(b, a, nan), want[GREATEST]);
		}
	}
	assert_int_equal(lane_min_b(0x3f80, 0x7fc0, 0), 0x3f80);
	assert_int_equal(lane_max_b(0x3f80, 0x7fc0, 1), 0x7fff);
}

TEST(upper_halves_of_products_and_counts_of_bits)
{
	for (unsigned k = 0; k < 400000; k++) {
		uint64_t a = some_bits(), b = some_bits();
		a = k % 3 ? a : (uint64_t)((int64_t)a >> (b & 63));
		b = k % 5 ? b : (uint64_t)1 << (a & 63);
		const int64_t sa = (int64_t)a, sb = (int64_t)b;
		assert_true(lane_mulhi_u64(a, b) == (uint64_t)((unsigned_wide)a * b >> 64));
		assert_true(lane_mulhi_s64(sa, sb) == (int64_t)((wide)sa * sb >> 64));
		uint32_t n = 0;
		for (uint32_t v = (uint32_t)a; v; v &= v - 1)
			n++;
		assert_int_equal(lane_popc32((uint32_t)a), n);
	}
	assert_true(lane_mulhi_s64(INT64_MIN, INT64_MIN) == (int64_t)1 << 62);
	assert_int_equal(lane_popc32(0xffffffffu), 32);
	assert_int_equal(lane_popc32(0), 0);
}

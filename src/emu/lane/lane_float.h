/*
 * Floating-point operations of one lane: float32, float64, the 16-bit formats, conversions.
 * Part of lane.h, which says what holds for all of them. PTX ISA 9.0, sections 9.7.3
 * to 9.7.5, 9.7.9.
 */
#ifndef PMPP_EMU_LANE_FLOAT_H
#define PMPP_EMU_LANE_FLOAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_f32(float x)
{
	uint32_t u;
	memcpy(&u, &x, 4);
	return u;
}
static inline float f32_bits(uint32_t u)
{
	float x;
	memcpy(&x, &u, 4);
	return x;
}
static inline uint64_t bits_f64(double x)
{
	uint64_t u;
	memcpy(&u, &x, 8);
	return u;
}
static inline double f64_bits(uint64_t u)
{
	double x;
	memcpy(&x, &u, 8);
	return x;
}

/* --- float32 and float64 (9.7.3) --- */
static inline float lane_ftz(float x) /* subnormal to zero, sign kept */
{
	const uint32_t u = bits_f32(x);
	return (u & 0x7f800000u) ? x : f32_bits(u & 0x80000000u);
}
static inline float lane_sat_f32(float x) /* to [0, 1], NaN to 0 */
{
	return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
static inline double lane_sat_f64(double x)
{
	return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}
#define LANE_NAN32 0x7fffffffu /* canonical NaN of the PTX ISA */
#define LANE_NAN64 0x7fffffffffffffffu
/* -0 < +0; a NaN gives the other operand, two NaNs the canonical one. */
static inline float lane_min_f32(float a, float b)
{
	const uint32_t ua = bits_f32(a), ub = bits_f32(b);
	uint32_t r = a < b ? ua : ub;
	r = a == b ? ua | ub : r;
	r = b != b ? ua : r;
	r = a != a ? ub : r;
	r = ((a != a) & (b != b)) ? LANE_NAN32 : r;
	return f32_bits(r);
}
static inline float lane_max_f32(float a, float b)
{
	const uint32_t ua = bits_f32(a), ub = bits_f32(b);
	uint32_t r = a > b ? ua : ub;
	r = a == b ? ua & ub : r;
	r = b != b ? ua : r;
	r = a != a ? ub : r;
	r = ((a != a) & (b != b)) ? LANE_NAN32 : r;
	return f32_bits(r);
}
static inline float lane_settled_f32(float r)
{
	return r != r ? f32_bits(LANE_NAN32) : r;
}
static inline float lane_nan2_f32(float a, float b, float r) /* min.NaN, max.NaN */
{
	return ((a != a) | (b != b)) ? f32_bits(LANE_NAN32) : r;
}
/* @r of arithmetic on @x, whose NaN a card keeps before that of operands that come later. */
static inline double lane_nan_of_f64(double x, double r)
{
	return x != x ? f64_bits(bits_f64(x) | 0x0008000000000000u) : r;
}
/* The bits of -x. A card subtracts x from -0, which leaves a NaN as it is, but quiet. */
static inline uint64_t lane_neg_f64(uint64_t x)
{
	return (x & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? x | 0x0008000000000000u
	                                                       : x ^ 0x8000000000000000u;
}
static inline double lane_min_f64(double a, double b)
{
	const uint64_t ua = bits_f64(a), ub = bits_f64(b);
	uint64_t r = a < b ? ua : ub;
	r = a == b ? ua | ub : r;
	r = b != b ? ua : r;
	r = a != a ? ub : r;
	r = ((a != a) & (b != b)) ? LANE_NAN64 : r;
	return f64_bits(r);
}
static inline double lane_max_f64(double a, double b)
{
	const uint64_t ua = bits_f64(a), ub = bits_f64(b);
	uint64_t r = a > b ? ua : ub;
	r = a == b ? ua & ub : r;
	r = b != b ? ua : r;
	r = a != a ? ub : r;
	r = ((a != a) & (b != b)) ? LANE_NAN64 : r;
	return f64_bits(r);
}
static inline float lane_copysign_f32(float from, float to) /* copysign d, a, b: sign of a on b */
{
	return f32_bits((bits_f32(from) & 0x80000000u) | (bits_f32(to) & 0x7fffffffu));
}
static inline double lane_copysign_f64(double from, double to)
{
	const uint64_t sign = (uint64_t)1 << 63;
	return f64_bits((bits_f64(from) & sign) | (bits_f64(to) & ~sign));
}
/* Arithmetic in another rounding direction: mode is a FE_ constant. In lane.c. */
float lane_round_f32(int op, int mode, float a, float b, float c);
double lane_round_f64(int op, int mode, double a, double b, double c);
enum { LANE_ADD, LANE_MUL, LANE_FMA, LANE_DIV, LANE_SQRT };
/* Conversions that round in a given direction (mode: FE_ constant). */
float lane_s64_f32(int64_t a, int mode);
float lane_u64_f32(uint64_t a, int mode);
double lane_s64_f64(int64_t a, int mode);
double lane_u64_f64(uint64_t a, int mode);
float lane_f64_f32(double a, int mode);

/* Float to integer: the argument is integral already; clamped; NaN as ISA 9.7.9 cvt says. */
static inline int32_t lane_f32_s32(float a)
{
	if (a != a)
		return 0;
	if (a >= 2147483648.0f)
		return INT32_MAX;
	return a < -2147483648.0f ? INT32_MIN : (int32_t)a;
}
static inline uint32_t lane_f32_u32(float a)
{
	if (!(a > 0.0f))
		return 0;
	return a >= 4294967296.0f ? UINT32_MAX : (uint32_t)a;
}
static inline int64_t lane_f32_s64(float a)
{
	if (a != a)
		return INT64_MIN;
	if (a >= 9223372036854775808.0f)
		return INT64_MAX;
	return a < -9223372036854775808.0f ? INT64_MIN : (int64_t)a;
}
static inline uint64_t lane_f32_u64(float a)
{
	if (a != a)
		return (uint64_t)1 << 63;
	if (!(a > 0.0f))
		return 0;
	return a >= 18446744073709551616.0f ? UINT64_MAX : (uint64_t)a;
}
static inline int32_t lane_f64_s32(double a)
{
	if (a != a)
		return INT32_MIN;
	if (a >= 2147483648.0)
		return INT32_MAX;
	return a < -2147483648.0 ? INT32_MIN : (int32_t)a;
}
static inline uint32_t lane_f64_u32(double a)
{
	if (a != a)
		return 0x80000000u;
	if (!(a > 0.0))
		return 0;
	return a >= 4294967296.0 ? UINT32_MAX : (uint32_t)a;
}
static inline int64_t lane_f64_s64(double a)
{
	if (a != a)
		return INT64_MIN;
	if (a >= 9223372036854775808.0)
		return INT64_MAX;
	return a < -9223372036854775808.0 ? INT64_MIN : (int64_t)a;
}
static inline uint64_t lane_f64_u64(double a)
{
	if (a != a)
		return (uint64_t)1 << 63;
	if (!(a > 0.0))
		return 0;
	return a >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)a;
}

/* --- half, bfloat16, tf32 --- */
static inline float lane_h2f(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
	const uint32_t mag = h & 0x7fffu;
	/* exponent re-biased by a multiplication that is exact, subnormals included */
	const float v = f32_bits(mag << 13) * 0x1p112f;
	const uint32_t special = mag >= 0x7c00 ? 0x7f800000u : 0; /* infinity, NaN */
	return f32_bits(sign | special | bits_f32(v));
}
/* To half from double: one rounding. */
enum lane_mode { LANE_NEAREST, LANE_ZERO, LANE_DOWN, LANE_UP };
uint16_t lane_d2h(double x, enum lane_mode mode);
uint16_t lane_d2b(double x, enum lane_mode mode); /* bfloat16 */
/* To double for one rounding more: what double cannot hold is rounded to odd. */
double lane_odd_s64(int64_t a);
double lane_odd_u64(uint64_t a);
/* Without branches, for vectors; rounded once, to nearest: a number by an addition to its bits, a
 * subnormal by one to 0.5, whose last bit is worth the smallest half. */
static inline uint16_t lane_f2h(float x)
{
	const uint32_t u = bits_f32(x), mag = u & 0x7fffffffu;
	const uint32_t small = bits_f32(f32_bits(mag) + 0.5f) - bits_f32(0.5f);
	const uint32_t normal = (mag + 0xfffu + (mag >> 13 & 1) - 0x38000000u) >> 13;
	const uint32_t number = mag < 0x38800000u ? small : normal;
	const uint32_t half = mag < 0x477ff000u ? number : 0x7c00u; /* 65520 is half way to 2^16 */
	return (uint16_t)(mag > 0x7f800000u ? 0x7fffu : half | (u >> 16 & 0x8000u));
}
static inline float lane_b2f(uint16_t b)
{
	return f32_bits((uint32_t)b << 16);
}
static inline uint16_t lane_f2b(float x)
{
	const uint32_t u = bits_f32(x);
	return (uint16_t)(x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}
static inline uint32_t lane_f2tf32(float x) /* round to nearest, ties away; low 13 bits dropped */
{
	const uint32_t u = bits_f32(x);
	if (x != x)
		return LANE_NAN32;
	if ((u & 0x7f800000u) == 0x7f800000u)
		return u;
	return (u + 0x1000) & 0xffffe000u;
}
/*
 * fma rounded once to half or bfloat16: a*b + c, whose product is exact in float (in double), with
 * the last bit set when inexact ("round to odd"), so that the rounding to fewer bits is the only
 * one (Boldo and Melquiond, 2008). All by numbers without branches, for vectors.
 */
/* @u are the bits of a value that lacks the one with bits @e; NaN lacks nothing. */
static inline uint32_t lane_odd_bits32(uint32_t u, uint32_t e)
{
	const uint32_t away = 1 - 2 * ((u ^ e) >> 31);                     /* or towards zero: -1 */
	const uint32_t step = (e << 1) - 1 < (0xffu << 24) - 1 ? away : 0; /* neither 0 nor NaN */
	return u + (step & ((u & 1) - 1));
}
static inline uint64_t lane_odd_bits64(uint64_t u, uint64_t e)
{
	const uint64_t away = 1 - 2 * ((u ^ e) >> 63);
	const uint64_t step = (e << 1) - 1 < (0x7ffull << 53) - 1 ? away : 0;
	return u + (step & ((u & 1) - 1));
}
#define LANE_FMA_ODD(name, real, real_bits, bits_real, odd)                               \
	static inline real name(real a, real b, real c)                                       \
	{                                                                                     \
		const real p = a * b, s = p + c;                                                  \
		const real pv = s - c, cv = s - pv; /* Knuth's two-sum: s + e = p + c exactly, */ \
		const real e = (p - pv) + (c - cv); /* NaN where s is infinite */                 \
		return real_bits(odd(bits_real(s), bits_real(e)));                                \
	}
LANE_FMA_ODD(lane_fma_odd_f32, float, f32_bits, bits_f32, lane_odd_bits32)
LANE_FMA_ODD(lane_fma_odd_f64, double, f64_bits, bits_f64, lane_odd_bits64)
#undef LANE_FMA_ODD
static inline uint16_t lane_fma_h(uint16_t a, uint16_t b, uint16_t c)
{
	return lane_f2h(lane_fma_odd_f32(lane_h2f(a), lane_h2f(b), lane_h2f(c)));
}
/* As float with the last bit set when inexact; what is too large becomes infinite and has an
 * infinite error. The upper half of an error's bits has its sign, and says whether it is 0. */
static inline float lane_odd_f32(double x)
{
	const float f = (float)x;
	const uint64_t e = bits_f64(x - (double)f);
	return f32_bits(lane_odd_bits32(bits_f32(f), (uint32_t)(e >> 32)));
}
static inline uint16_t lane_fma_b(uint16_t a, uint16_t b, uint16_t c)
{
	return lane_f2b(lane_odd_f32(
		lane_fma_odd_f64((double)lane_b2f(a), (double)lane_b2f(b), (double)lane_b2f(c))));
}
static inline uint16_t lane_lo16(uint32_t v)
{
	return (uint16_t)v;
}
static inline uint16_t lane_hi16(uint32_t v)
{
	return (uint16_t)(v >> 16);
}
static inline uint32_t lane_pack16(uint16_t lo, uint16_t hi)
{
	return (uint32_t)hi << 16 | lo;
}
/* The negative, or absolute, value of a half, whose largest magnitude is @infinity. Machine code
 * has sums for them, which make any NaN the canonical one. */
static inline uint32_t lane_neg_half(uint32_t h, uint32_t infinity)
{
	return (h & 0x7fff) > infinity ? 0x7fff : h ^ 0x8000;
}
static inline uint32_t lane_abs_half(uint32_t h, uint32_t infinity)
{
	return (h & 0x7fff) > infinity ? 0x7fff : h & 0x7fff;
}
static inline uint32_t lane_neg_pair(uint32_t u, uint32_t infinity)
{
	return lane_neg_half(u & 0xffff, infinity) | lane_neg_half(u >> 16, infinity) << 16;
}
static inline uint32_t lane_abs_pair(uint32_t u, uint32_t infinity)
{
	return lane_abs_half(u & 0xffff, infinity) | lane_abs_half(u >> 16, infinity) << 16;
}
/* Denormal halves of a pair become zeros of their sign. */
static inline uint32_t lane_ftz_pair(uint32_t u)
{
	const uint32_t low = u & 0x7c00 ? 0xffff : 0x8000;
	const uint32_t high = u & 0x7c000000 ? 0xffff0000u : 0x80000000u;
	return u & (low | high);
}

/* min/max on 16-bit floats keep the bits of the chosen operand; canonical NaN is 0x7fff. */
static inline uint16_t lane_pick16(uint16_t a, uint16_t b, float fa, float fb, int want_max,
                                   int nan)
{
	const uint32_t ua = a, ub = b, none = 0x7fff;
	const uint32_t lower = fa < fb ? ua : ub, higher = fa < fb ? ub : ua;
	const uint32_t equal = want_max ? ua & ub : ua | ub, chosen = want_max ? higher : lower;
	uint32_t r = fa == fb ? equal : chosen;
	const uint32_t beside_b = fa != fa || nan ? none : ua;
	r = fa != fa ? (nan ? none : ub) : r;
	return (uint16_t)(fb != fb ? beside_b : r);
}
static inline uint16_t lane_min_h(uint16_t a, uint16_t b, int nan)
{
	return lane_pick16(a, b, lane_h2f(a), lane_h2f(b), 0, nan);
}
static inline uint16_t lane_max_h(uint16_t a, uint16_t b, int nan)
{
	return lane_pick16(a, b, lane_h2f(a), lane_h2f(b), 1, nan);
}
static inline uint16_t lane_min_b(uint16_t a, uint16_t b, int nan)
{
	return lane_pick16(a, b, lane_b2f(a), lane_b2f(b), 0, nan);
}
static inline uint16_t lane_max_b(uint16_t a, uint16_t b, int nan)
{
	return lane_pick16(a, b, lane_b2f(a), lane_b2f(b), 1, nan);
}
/* Sum, difference and product of two 11-bit (8-bit) significands are exact enough in float32 that
 * the second rounding cannot change the result (24 >= 2 * 11 + 2). */
static inline uint16_t lane_add_h(uint16_t a, uint16_t b)
{
	return lane_f2h(lane_h2f(a) + lane_h2f(b));
}
static inline uint16_t lane_sub_h(uint16_t a, uint16_t b)
{
	return lane_f2h(lane_h2f(a) - lane_h2f(b));
}
static inline uint16_t lane_mul_h(uint16_t a, uint16_t b)
{
	return lane_f2h(lane_h2f(a) * lane_h2f(b));
}
static inline uint16_t lane_add_b(uint16_t a, uint16_t b)
{
	return lane_f2b(lane_b2f(a) + lane_b2f(b));
}
static inline uint16_t lane_sub_b(uint16_t a, uint16_t b)
{
	return lane_f2b(lane_b2f(a) - lane_b2f(b));
}
static inline uint16_t lane_mul_b(uint16_t a, uint16_t b)
{
	return lane_f2b(lane_b2f(a) * lane_b2f(b));
}

#endif

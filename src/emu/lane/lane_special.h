/*
 * What the special-function unit computes of float32: ex2, lg2, sin, cos, tanh. Part of lane.h.
 *
 * A card is right to some 22 bits; what is computed here is the exact value's nearest float, but
 * for about one argument in a million. In float64 without a branch, a table or a fused operation:
 * loops over lanes become vectors, and every host gives the same bits. Series: Abramowitz and
 * Stegun, 4.1.27, 4.2.1, 4.3.65 and 4.3.66.
 */
#ifndef PMPP_EMU_LANE_SPECIAL_H
#define PMPP_EMU_LANE_SPECIAL_H

#include "emu/lane/lane_float.h"

#include <float.h>
#include <stdbool.h>

/* x + this is the nearest integer, in the low bits of its representation. */
#define LANE_TO_INTEGER 0x1.8p52

/* 2^x, -1000 < x < 1000 or NaN */
static inline double lane_power_of_2(double x)
{
	const double t = x + LANE_TO_INTEGER, r = x - (t - LANE_TO_INTEGER);
	double p = 4.4455382718708116e-10;
	p = p * r + 7.054911620801123e-09;
	p = p * r + 1.01780860092397e-07;
	p = p * r + 1.321548679014431e-06;
	p = p * r + 1.5252733804059841e-05;
	p = p * r + 0.0001540353039338161;
	p = p * r + 0.0013333558146428443;
	p = p * r + 0.009618129107628477;
	p = p * r + 0.05550410866482158;
	p = p * r + 0.24022650695910072;
	p = p * r + 0.6931471805599453;
	p = p * r + 1.0;
	return p * f64_bits((bits_f64(t) << 52) + bits_f64(1.0));
}

static inline float lane_ex2(float a)
{
	const double x = a < -200.0f ? -200.0 : a > 200.0f ? 200.0 : (double)a;
	const float r = (float)lane_power_of_2(x);
	return a == a ? r : f32_bits(LANE_NAN32);
}

/* a = m * 2^e with m in sqrt(1/2) .. sqrt(2); log2 m is a series in (m - 1) / (m + 1). */
static inline float lane_lg2(float a)
{
	const uint64_t root = 0x3fe6a09e667f3bcdu, bias = 1024, u = bits_f64((double)a);
	const uint64_t e = (u - root + (bias << 52)) >> 52;
	const double m = f64_bits(u - (e << 52) + (bias << 52));
	const double s = (m - 1.0) / (m + 1.0), z = s * s;
	double p = 0.16972882833987804;
	p = p * z + 0.19235933878519512;
	p = p * z + 0.22195308321368667;
	p = p * z + 0.2623081892525388;
	p = p * z + 0.3205988979753252;
	p = p * z + 0.4121985831111324;
	p = p * z + 0.5770780163555853;
	p = p * z + 0.9617966939259756;
	p = p * z + 2.8853900817779268;
	/* an integer below 2^52 becomes a double without a conversion */
	const double whole = f64_bits(bits_f64(0x1p52) | e) - (0x1p52 + 1024.0);
	float r = (float)(p * s + whole);
	r = a == 0.0f ? -INFINITY : r;
	r = a > FLT_MAX ? a : r;
	return a >= 0.0f ? r : f32_bits(LANE_NAN32);
}

static inline float lane_tanh(float a)
{
	const double x = a < -20.0f ? -20.0 : a > 20.0f ? 20.0 : (double)a;
	const double t = lane_power_of_2(x * 2.8853900817779268);
	const double small = x * (1.0 - x * x * 0.3333333333333333); /* keeps the sign of -0 */
	const float r = (float)(fabs(x) < 0x1p-12 ? small : (t - 1.0) / (t + 1.0));
	return a == a ? r : f32_bits(LANE_NAN32);
}

/*
 * Sine and cosine are asked of the unit in turns: PTX's sin.approx is a product with 1 / (2 pi),
 * rounded towards zero, in front of it. A float of that many turns is told apart from its
 * neighbours by whole turns.
 */
static inline bool lane_is_turns(float t)
{
	return fabsf(t) <= 0x1p40f;
}
static inline bool lane_is_angle(float a)
{
	return (fabsf(a) <= 0x1p40f) & ((fabsf(a) >= 0x1p-120f) | (a == 0));
}

/* An angle in turns, if lane_is_angle() accepts it: 48 bits are exact, of which 24 are kept. */
static inline double lane_turns(float a)
{
	return f64_bits(bits_f64((double)a * 0x1.45f306p-3) & ~(uint64_t)0x1fffffff);
}

/* Any other one, down to denormals. */
static inline double lane_rare_turns(float a)
{
	return trunc((double)a * 0x1.45f306p-3 * 0x1p149) * 0x1p-149;
}

/* sin of @t turns + @quarters of one; t is a float that lane_is_turns() accepts. */
static inline float lane_sine(double t, uint64_t quarters)
{
	const double nearest = t * 4.0 + LANE_TO_INTEGER;
	const double r = (t * 4.0 - (nearest - LANE_TO_INTEGER)) * 1.5707963267948966, z = r * r;
	const uint64_t q = bits_f64(nearest) + quarters;
	double p = 1.6059043836821613e-10;
	p = p * z + -2.505210838544172e-08;
	p = p * z + 2.7557319223985893e-06;
	p = p * z + -0.0001984126984126984;
	p = p * z + 0.008333333333333333;
	p = p * z + -0.16666666666666666;
	const double s = (p * z + 1.0) * r; /* keeps the sign of -0 */
	p = -1.1470745597729725e-11;
	p = p * z + 2.08767569878681e-09;
	p = p * z + -2.755731922398589e-07;
	p = p * z + 2.48015873015873e-05;
	p = p * z + -0.001388888888888889;
	p = p * z + 0.041666666666666664;
	p = p * z + -0.5;
	const double c = p * z + 1.0;
	return (float)f64_bits(bits_f64(q & 1 ? c : s) ^ (q & 2) << 62);
}

/* Of turns that it does not accept: whole ones, or no number. */
static inline float lane_rare_sine(double t, uint64_t quarters)
{
	return t - t == 0 ? (float)quarters : f32_bits(LANE_NAN32);
}

/* Of an angle that is too small or too large for lane_is_angle(). */
static inline float lane_rare_angle(float a, uint64_t quarters)
{
	const double t = lane_rare_turns(a);
	return fabs(t) <= 0x1p40 ? lane_sine(t, quarters) : lane_rare_sine(t, quarters);
}

#endif

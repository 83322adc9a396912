/*
 * The lane functions that are too rare or too long to inline: directed rounding, 16-bit floats.
 * Changes the direction and puts it back; knows nothing of warps.
 */
#include "emu/lane/lane.h"

/* Keeps the compiler from moving arithmetic across a change of the rounding direction. */
#define PIN(x) __asm__ volatile("" : "+x"(x) : : "memory")

#define ROUND(name, real, fused, root)                      \
	real name(int op, int mode, real a, real b, real c)     \
	{                                                       \
		real r;                                             \
		const __typeof__(round_to(0)) old = round_to(mode); \
		PIN(a);                                             \
		PIN(b);                                             \
		PIN(c);                                             \
		switch (op) {                                       \
		case LANE_ADD: r = a + b; break;                    \
		case LANE_MUL: r = a * b; break;                    \
		case LANE_FMA: r = fused(a, b, c); break;           \
		case LANE_DIV: r = a / b; break;                    \
		default: r = root(a); break;                        \
		}                                                   \
		PIN(r);                                             \
		round_as_before(old);                               \
		return r;                                           \
	}
ROUND(lane_round_f32, float, fmaf, sqrtf)
ROUND(lane_round_f64, double, fma, sqrt)

#define CONVERT(name, from, to)                             \
	to name(from a, int mode)                               \
	{                                                       \
		volatile from in = a;                               \
		const __typeof__(round_to(0)) old = round_to(mode); \
		to r = (to)in;                                      \
		PIN(r);                                             \
		round_as_before(old);                               \
		return r;                                           \
	}
CONVERT(lane_s64_f32, int64_t, float)
CONVERT(lane_s64_f64, int64_t, double)
CONVERT(lane_f64_f32, double, float)

/* Compilers convert uint64 by halving large values, which rounds to nearest only. Half of it, with
 * its last bit set where one is lost, rounds as the whole does in any direction: more than two bits
 * are dropped. */
#define CONVERT_U64(name, by_s64, to)                             \
	to name(uint64_t a, int mode)                                 \
	{                                                             \
		if (a >> 63)                                              \
			return 2 * by_s64((int64_t)(a >> 1 | (a & 1)), mode); \
		return by_s64((int64_t)a, mode);                          \
	}
CONVERT_U64(lane_u64_f32, lane_s64_f32, float)
CONVERT_U64(lane_u64_f64, lane_s64_f64, double)

/* Away from zero? @rest of the bits that are dropped, @half of the last one that stays. */
static bool rounds_up(enum lane_mode mode, bool negative, bool odd, uint64_t rest, uint64_t half)
{
	switch (mode) {
	case LANE_NEAREST: return rest > half || (rest == half && odd);
	case LANE_DOWN: return negative && rest;
	case LANE_UP: return !negative && rest;
	default: return false;
	}
}

/* Rounds to a 16-bit format with @mant fraction bits and smallest normal exponent @emin. */
static uint16_t narrow_float(double x, enum lane_mode mode, int mant, int emin, int emax)
{
	const uint64_t u = bits_f64(x);
	const uint16_t sign = (uint16_t)(u >> 48 & 0x8000);
	const uint16_t inf = (uint16_t)((2 * emax + 1) << mant);
	if (x != x)
		return 0x7fff;
	if ((u << 1) == 0)
		return sign;
	const int biased = (int)(u >> 52 & 0x7ff);
	if (biased == 0x7ff)
		return sign | inf;
	const bool away = rounds_up(mode, sign != 0, false, 1, 2); /* from anything above zero */
	if (biased == 0) /* a subnormal double is far below half of the smallest result */
		return (uint16_t)(sign | away);
	const int e = biased - 1023;
	const uint64_t m = (u & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
	/* bits to drop: 52 - mant for a normal result, more below emin */
	int drop = 52 - mant;
	uint64_t field = 0;
	if (e < emin)
		drop += emin - e;
	else
		field = (uint64_t)(e - emin) << mant; /* the leading one adds the exponent's last 1 */
	if (drop > 60)
		return (uint16_t)(sign | away);
	uint64_t r = m >> drop;
	const uint64_t rest = m & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
	if (rounds_up(mode, sign != 0, r & 1, rest, half))
		r++;
	r += field;
	if (r >= inf) /* where rounding never goes up, the largest number stands for what is beyond */
		return (uint16_t)(sign | (inf - (mode != LANE_NEAREST && !away)));
	return (uint16_t)(sign | r);
}

uint16_t lane_d2h(double x, enum lane_mode mode)
{
	return narrow_float(x, mode, 10, -14, 15);
}

uint16_t lane_d2b(double x, enum lane_mode mode)
{
	return narrow_float(x, mode, 7, -126, 127);
}

/* As double with the last bit set when inexact, so that rounding to fewer bits is the only one. */
double lane_odd_u64(uint64_t a)
{
	const unsigned drop = a >> 53 ? 11u - (unsigned)__builtin_clzll(a) : 0;
	const uint64_t kept = a >> drop;
	return ldexp((double)(kept | (a != kept << drop)), (int)drop);
}

double lane_odd_s64(int64_t a)
{
	return a < 0 ? -lane_odd_u64(-(uint64_t)a) : lane_odd_u64((uint64_t)a);
}

/* Elements, figures and comparison of arrays; see array.h. */
#include "model/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- one element --- */

static float of_half(uint16_t h)
{
	const unsigned e = h >> 10 & 31u, m = h & 0x3ffu;
	const float sign = h & 0x8000u ? -1.0f : 1.0f;
	if (e == 31)
		return m ? NAN : sign * INFINITY;
	return sign * (e ? ldexpf((float)(m | 0x400u), (int)e - 25) : ldexpf((float)m, -24));
}

static float of_bfloat(uint16_t h)
{
	const uint32_t bits = (uint32_t)h << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

double elem_get(enum elem_type type, const void *data, size_t i)
{
	switch (type) {
	case ELEM_F32: return (double)((const float *)data)[i];
	case ELEM_F64: return ((const double *)data)[i];
	case ELEM_F16: return (double)of_half(((const uint16_t *)data)[i]);
	case ELEM_BF16: return (double)of_bfloat(((const uint16_t *)data)[i]);
	case ELEM_I32: return ((const int32_t *)data)[i];
	case ELEM_U32: return ((const uint32_t *)data)[i];
	case ELEM_I8: return ((const int8_t *)data)[i];
	case ELEM_U8: return ((const uint8_t *)data)[i];
	case ELEM_I16: return ((const int16_t *)data)[i];
	case ELEM_U16: return ((const uint16_t *)data)[i];
	case ELEM_I64: return (double)((const int64_t *)data)[i];
	case ELEM_U64: return (double)((const uint64_t *)data)[i];
	case ELEM_TYPES: break;
	}
	return 0;
}

/* To the nearest half, ties to even, small ones as subnormal numbers. */
static uint16_t to_half(double v)
{
	const uint16_t sign = signbit(v) ? 0x8000u : 0;
	const double a = fabs(v);
	if (a != a)
		return (uint16_t)(sign | 0x7e00u);
	if (a >= 65520)
		return (uint16_t)(sign | 0x7c00u);
	if (a == 0)
		return sign;
	int e = 0;
	frexp(a, &e);
	e = e < -13 ? -13 : e; /* the step below 2^-14 is 2^-24 */
	const double steps = nearbyint(ldexp(a, 11 - e));
	if (e == -13) /* subnormal, or the first normal ones: the bits run on */
		return (uint16_t)(sign | (uint16_t)steps);
	return (uint16_t)(sign | (uint16_t)((unsigned)(e + 13) * 1024u + (unsigned)steps));
}

/* To the nearest, ties to even. */
static uint16_t to_bfloat(double v)
{
	const float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, 4);
	if (f != f)
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static void put_whole(enum elem_type type, void *data, size_t i, double v)
{
	const bool large = v >= 9223372036854775808.0;
	const bool fits = v > -9223372036854775808.0 && v < 18446744073709551616.0;
	const uint64_t whole = !fits ? 0 : large ? (uint64_t)v : (uint64_t)(int64_t)v;
	const size_t bytes = elem_size(type);
	memcpy((char *)data + i * bytes, &whole, bytes); /* little-endian, as the GPU is */
}

void elem_put(enum elem_type type, void *data, size_t i, double v)
{
	switch (type) {
	case ELEM_F32: ((float *)data)[i] = (float)v; break;
	case ELEM_F64: ((double *)data)[i] = v; break;
	case ELEM_F16: ((uint16_t *)data)[i] = to_half(v); break;
	case ELEM_BF16: ((uint16_t *)data)[i] = to_bfloat(v); break;
	default: put_whole(type, data, i, v); break;
	}
}

void elem_format(enum elem_type type, const void *data, size_t i, char *out, size_t n)
{
	const double v = elem_get(type, data, i);
	if (type == ELEM_I64)
		snprintf(out, n, "%lld", (long long)((const int64_t *)data)[i]);
	else if (type == ELEM_U64)
		snprintf(out, n, "%llu", (unsigned long long)((const uint64_t *)data)[i]);
	else if (!elem_is_real(type))
		snprintf(out, n, "%.0f", v);
	else if (v != v)
		snprintf(out, n, "nan");
	else if (isinf(v))
		snprintf(out, n, v < 0 ? "-inf" : "inf");
	else
		fmt_num(out, n, v, type == ELEM_F64 ? 17 : type == ELEM_F32 ? 9 : 5);
}

/* --- figures --- */

void array_stats(const struct array *a, struct array_stats *out)
{
	double sum = 0, squares = 0;
	*out = (struct array_stats){ .first_odd = a->count, .min = INFINITY, .max = -INFINITY };
	for (size_t i = 0; i < a->count; i++) {
		const double v = elem_get(a->type, a->data, i);
		if (!isfinite(v)) {
			if (out->first_odd == a->count)
				out->first_odd = i;
			out->nans += v != v;
			out->infinities += v == v;
			continue;
		}
		/* Welford: one pass, no cancellation */
		const double before = v - sum;
		out->numbers++;
		out->zeros += v == 0;
		sum += before / (double)out->numbers;
		squares += before * (v - sum);
		out->min = v < out->min ? v : out->min;
		out->max = v > out->max ? v : out->max;
	}
	out->mean = sum;
	out->deviation = out->numbers ? sqrt(squares / (double)out->numbers) : 0;
}

void array_compare(const struct array *a, const struct array *b, struct array_difference *out)
{
	*out = (struct array_difference){ .compared = a->count < b->count ? a->count : b->count };
	out->first = out->largest_at = out->compared;
	for (size_t i = 0; i < out->compared; i++) {
		const double x = elem_get(a->type, a->data, i), y = elem_get(b->type, b->data, i);
		if (x == y || (x != x && y != y))
			continue;
		if (!out->differ++)
			out->first = i;
		const double d = isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
		const double scale = fmax(fabs(x), fabs(y));
		const double relative = isfinite(d) ? d / scale : INFINITY;
		if (d > out->largest || out->largest_at == out->compared) {
			out->largest = d;
			out->largest_at = i;
		}
		out->largest_relative = fmax(out->largest_relative, relative);
	}
}

/*
 * Products of matrices: D = A B + C over the fragments of a warp (PTX ISA 9.0, 9.7.14).
 *
 * How tensor cores add is not in the ISA. Assumed here, after what was measured on Hopper by
 * Fasi, Higham, Mikaitis and Pranesh ("Numerical behavior of NVIDIA tensor cores", PeerJ CS 2021)
 * and by Li et al. ("FTTN", 2024): products of f16, bf16 and tf32 are exact; up to 16 of them (8 of
 * tf32) and the accumulator are shifted to the largest exponent among them, cut off two bits below
 * the last of float32, added exactly, and the sum is cut off to float32; an f16 result is rounded
 * to nearest. f64 is a chain of fused multiply-adds in the order of k, integers are exact.
 */
#include "emu/vm/tensor.h"

#include "emu/vm/handler.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

struct entry { /* of A or B: its value and exponent; INT_MIN = zero */
	double value;
	int exponent;
};

struct product {
	struct entry a[TENSOR_SIDE][TENSOR_K], b[TENSOR_SIDE][TENSOR_K]; /* b by column */
};

static uint32_t register_of(const struct warp *w, uint32_t slot, unsigned lane)
{
	return ((const mem_u32 *)frame(w, slot))[lane];
}

static double element_value(enum ptx_type type, uint32_t v, unsigned j)
{
	switch (type) {
	case PTX_F16: return (double)lane_h2f((uint16_t)(v >> (16 * j)));
	case PTX_BF16: return (double)f32_bits(v >> (16 * j) << 16);
	default: return (double)f32_bits(v & 0xffffe000u); /* TF32 */
	}
}

/* The exponent that aligns products: of subnormal numbers that of the smallest normal one. */
static int exponent_of(enum ptx_type type, double v)
{
	const int least = type == PTX_F16 ? -14 : -126;
	if (v == 0 || !isfinite(v))
		return INT_MIN;
	const int e = ilogb(v);
	return e < least ? least : e;
}

static void read_side(const struct warp *w, const struct ir_tensor *t, enum ptx_type type,
                      const uint32_t *slot, unsigned side, struct entry (*out)[TENSOR_K])
{
	const unsigned each = 4 / ptx_type_bytes(type);
	const unsigned blocks = side / 8, n = blocks * t->k / (4 * each);
	for (unsigned r = 0; r < n; r++)
		for (unsigned lane = 0; lane < 32; lane++) {
			const uint32_t v = register_of(w, slot[r], lane);
			const unsigned row = lane / 4 + 8 * (r % blocks);
			const unsigned column = lane % 4 * each + 4 * each * (r / blocks);
			for (unsigned j = 0; j < each; j++) {
				const double x = element_value(type, v, j);
				out[row][column + j] = (struct entry){ x, exponent_of(type, x) };
			}
		}
}

float tensor_cut_off(double v)
{
	const float f = (float)v;
	return fabs((double)f) > fabs(v) ? nextafterf(f, 0.0f) : f;
}

/* What follows reads m x k and k x n elements; read_side() wrote those, which the analyser cannot
 * see from the number of registers. NOLINTBEGIN(clang-analyzer-core.*) */

/* c + the sum of up to @n products. */
static float add_group(const struct entry *a, const struct entry *b, unsigned n, float c)
{
	int most = c != 0 && isfinite(c) ? ilogbf(c) : INT_MIN;
	bool odd = !isfinite(c);
	double sum = c;
	if (most != INT_MIN && most < -126)
		most = -126;
	for (unsigned i = 0; i < n; i++) {
		odd |= !isfinite(a[i].value) || !isfinite(b[i].value);
		if (a[i].exponent == INT_MIN || b[i].exponent == INT_MIN)
			continue;
		const int e = a[i].exponent + b[i].exponent;
		most = e > most ? e : most;
	}
	if (odd) { /* infinities and NaN: as the numbers say */
		for (unsigned i = 0; i < n; i++)
			sum += a[i].value * b[i].value;
		return isnan(sum) ? f32_bits(0x7fffffffu) : (float)sum;
	}
	if (most == INT_MIN)
		return c;
	const double scale = ldexp(1.0, TENSOR_KEPT_BITS - most);
	int64_t total = (int64_t)((double)c * scale);
	for (unsigned i = 0; i < n; i++)
		total += (int64_t)(a[i].value * b[i].value * scale);
	return tensor_cut_off(ldexp((double)total, most - TENSOR_KEPT_BITS));
}

static uint32_t sum_floats(const struct ir_tensor *t, const struct product *p, unsigned row,
                           unsigned column, uint32_t c)
{
	const unsigned group = t->a == PTX_TF32 ? 8 : 16;
	float sum = t->c == PTX_F16 ? lane_h2f((uint16_t)c) : f32_bits(c);
	for (unsigned k = 0; k < t->k; k += group) {
		const unsigned n = t->k - k < group ? t->k - k : group;
		sum = add_group(&p->a[row][k], &p->b[column][k], n, sum);
	}
	uint32_t bits;
	memcpy(&bits, &sum, sizeof bits);
	return t->d == PTX_F16 ? lane_f2h(sum) : bits;
}

/* NOLINTEND(clang-analyzer-core.*) */

/* Element (row, column) of C or D: which register, lane and half. */
struct sum_place {
	unsigned reg, lane, half;
};

static struct sum_place place_of_sum(const struct ir_tensor *t, enum ptx_type type, unsigned row,
                                     unsigned column)
{
	const unsigned pair = column / 8 * (t->m / 8u) + row / 8;
	const unsigned lane = row % 8 * 4 + column % 8 / 2, second = column % 2;
	if (type == PTX_F16)
		return (struct sum_place){ pair, lane, second };
	return (struct sum_place){ 2 * pair + second, lane, 0 };
}

static void write_sum(struct warp *w, const struct tensor_operands *o, uint32_t mask, unsigned row,
                      unsigned column, uint32_t v)
{
	const struct sum_place at = place_of_sum(&o->tensor, o->tensor.d, row, column);
	const uint32_t slot = o->d[at.reg];
	if (!slot || !(mask >> at.lane & 1))
		return;
	mem_u32 *d = (mem_u32 *)frame(w, slot) + at.lane;
	if (o->tensor.d == PTX_F16)
		*d = at.half ? (*d & 0xffffu) | v << 16 : (*d & 0xffff0000u) | v;
	else
		*d = v;
}

COLD void tensor_multiply(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	struct product p = { 0 };
	read_side(w, t, t->a, o->a, t->m, p.a);
	read_side(w, t, t->b, o->b, t->n, p.b);
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column++) {
			const struct sum_place at = place_of_sum(t, t->c, row, column);
			const uint32_t c = register_of(w, o->c[at.reg], at.lane) >> (16 * at.half);
			write_sum(w, o, mask, row, column, sum_floats(t, &p, row, column, c));
		}
}

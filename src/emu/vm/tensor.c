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
#include "emu/vm/matrix.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

struct product {
	struct tensor_entry a[TENSOR_SIDE * TENSOR_K], b[TENSOR_SIDE * TENSOR_K]; /* b by column */
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
	case PTX_S8: return (double)(int8_t)(uint8_t)(v >> (8 * j));
	case PTX_U8: return (double)(uint8_t)(v >> (8 * j));
	case PTX_E4M3:
	case PTX_E5M2: return (double)lane_h2f(matrix_half(type, (uint8_t)(v >> (8 * j))));
	default: return (double)f32_bits(v & 0xffffe000u); /* TF32 */
	}
}

/* The exponent that aligns products: of subnormal numbers that of the smallest normal one. */
static int exponent_of(enum ptx_type type, double v)
{
	const bool half = type == PTX_F16 || type == PTX_E4M3 || type == PTX_E5M2;
	const int least = half ? -14 : -126;
	if (v == 0 || !isfinite(v))
		return INT_MIN;
	const int e = ilogb(v);
	return e < least ? least : e;
}

struct tensor_entry tensor_half(uint16_t bits)
{
	const double x = (double)lane_h2f(bits);
	return (struct tensor_entry){ x, exponent_of(PTX_F16, x) };
}

void tensor_read_side(const struct warp *w, enum ptx_type type, const uint32_t *slot, unsigned side,
                      unsigned k, struct tensor_entry *out)
{
	const unsigned each = 4 / ptx_type_bytes(type);
	const unsigned blocks = side / 8, n = blocks * k / (4 * each);
	for (unsigned r = 0; r < n; r++)
		for (unsigned lane = 0; lane < 32; lane++) {
			const uint32_t v = register_of(w, slot[r], lane);
			const unsigned row = lane / 4 + 8 * (r % blocks);
			const unsigned column = lane % 4 * each + 4 * each * (r / blocks);
			for (unsigned j = 0; j < each; j++) {
				const double x = element_value(type, v, j);
				out[row * k + column + j] = (struct tensor_entry){ x, exponent_of(type, x) };
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
static float add_group(const struct tensor_entry *a, const struct tensor_entry *b, unsigned n,
                       float c)
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

float tensor_sum(enum ptx_type type, const struct tensor_entry *a, const struct tensor_entry *b,
                 unsigned k, float c)
{
	const unsigned group = type == PTX_TF32 ? 8 : 16;
	for (unsigned i = 0; i < k; i += group)
		c = add_group(a + i, b + i, k - i < group ? k - i : group, c);
	return c;
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

uint32_t tensor_c(const struct warp *w, const struct tensor_operands *o, unsigned row,
                  unsigned column)
{
	const struct sum_place at = place_of_sum(&o->tensor, o->tensor.c, row, column);
	return register_of(w, o->c[at.reg], at.lane) >> (16 * at.half);
}

void tensor_write_d(struct warp *w, const struct tensor_operands *o, uint32_t mask, unsigned row,
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

float tensor_to_sum(enum ptx_type type, uint32_t c)
{
	return type == PTX_F16 ? lane_h2f((uint16_t)c) : f32_bits(c);
}

uint32_t tensor_from_sum(enum ptx_type type, float sum)
{
	uint32_t bits;
	memcpy(&bits, &sum, sizeof bits);
	return type == PTX_F16 ? lane_f2h(sum) : bits;
}

COLD void tensor_multiply(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	struct product p = { 0 };
	tensor_read_side(w, t->a, o->a, t->m, t->k, p.a);
	tensor_read_side(w, t->b, o->b, t->n, t->k, p.b);
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column++) {
			const float c = tensor_to_sum(t->c, tensor_c(w, o, row, column));
			const float sum = tensor_sum(t->a, &p.a[row * t->k], &p.b[column * t->k], t->k, c);
			tensor_write_d(w, o, mask, row, column, tensor_from_sum(t->d, sum));
		}
}

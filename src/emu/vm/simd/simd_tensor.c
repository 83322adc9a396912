/*
 * Products of matrices, eight columns at a time, with the same bits as tensor.c, which says how
 * tensor cores add and takes what is not finite.
 */
#include "emu/vm/handler.h"
#include "emu/vm/simd/simd_level.h"
#include "emu/vm/tensor.h"

#include <math.h>
#include <string.h>

#define WIDE 8              /* columns of a fragment */
#define NO_EXPONENT -100000 /* of zero: below every sum of two */

/* A, and B by row; values and exponents. */
struct sides {
	double a[TENSOR_SIDE][TENSOR_K], b[TENSOR_K][TENSOR_SIDE];
	int32_t ea[TENSOR_SIDE][TENSOR_K], eb[TENSOR_K][TENSOR_SIDE];
	int16_t ia[TENSOR_SIDE][TENSOR_WHOLE_K], ib[TENSOR_SIDE][TENSOR_WHOLE_K]; /* b by column */
};

/* --- reading --- */

static inline double bits_double(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

static inline float bits_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint32_t float_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/* 32 elements; the result is not 0 if one of them is not finite. */
static uint32_t read_halves(const mem_u32 *from, unsigned shift, double *v, int32_t *e)
{
	uint32_t odd = 0;
	EACH_LANE(i)
	{
		const uint32_t h = from[i] >> shift & 0xffff, m = h & 0x3ff, x = h >> 10 & 31;
		const uint64_t sign = (uint64_t)(h >> 15) << 63;
		const double normal = bits_double(sign | (uint64_t)(x + 1008) << 52 | (uint64_t)m << 42);
		const double small = (double)(int32_t)m * (sign ? -0x1p-24 : 0x1p-24);
		v[i] = x ? normal : small;
		e[i] = x ? (int32_t)x - 15 : m ? -14 : NO_EXPONENT;
		odd |= (uint32_t)(x == 31);
	}
	return odd;
}

/* bfloat16 (@keep of one half), TF32: the upper bits of a float32. */
static uint32_t read_floats(const mem_u32 *from, unsigned shift, uint32_t keep, double *v,
                            int32_t *e)
{
	uint32_t odd = 0;
	EACH_LANE(i)
	{
		const uint32_t f = from[i] << shift & keep, x = f >> 23 & 255;
		v[i] = (double)bits_float(f);
		e[i] = x ? (int32_t)x - 127 : f << 1 ? -126 : NO_EXPONENT;
		odd |= (uint32_t)(x == 255);
	}
	return odd;
}

static uint32_t read_elements(enum ptx_type type, const void *from, unsigned j, double *v,
                              int32_t *e)
{
	switch (type) {
	case PTX_F16: return read_halves(from, 16 * j, v, e);
	case PTX_BF16: return read_floats(from, j ? 0 : 16, 0xffff0000u, v, e);
	case PTX_TF32: return read_floats(from, 0, 0xffffe000u, v, e);
	default: memcpy(v, from, 32 * sizeof *v); return 0; /* double */
	}
}

/* All of A or B; @transposed: B. False: not everything is finite. */
static bool read_points(const struct warp *w, const struct ir_tensor *t, const uint32_t *slot,
                        bool transposed, struct sides *s)
{
	const enum ptx_type type = transposed ? t->b : t->a;
	const unsigned bytes = ptx_type_bytes(type), each = bytes >= 4 ? 1 : 2;
	const unsigned blocks = (transposed ? t->n : t->m) / 8, n = blocks * t->k / (4 * each);
	double v[32];
	int32_t e[32] = { 0 };
	uint32_t odd = 0;
	for (unsigned r = 0; r < n; r++)
		for (unsigned j = 0; j < each; j++) {
			odd |= read_elements(type, frame(w, slot[r]), j, v, e);
			for (unsigned lane = 0; lane < 32; lane++) {
				const unsigned row = lane / 4 + 8 * (r % blocks);
				const unsigned column = lane % 4 * each + 4 * each * (r / blocks) + j;
				*(transposed ? &s->b[column][row] : &s->a[row][column]) = v[lane];
				*(transposed ? &s->eb[column][row] : &s->ea[row][column]) = e[lane];
			}
		}
	return !odd;
}

static void read_whole(const struct warp *w, enum ptx_type type, unsigned side, unsigned k,
                       const uint32_t *slot, int16_t (*out)[TENSOR_WHOLE_K])
{
	const unsigned blocks = side / 8, n = blocks * k / 16;
	for (unsigned r = 0; r < n; r++)
		for (unsigned lane = 0; lane < 32; lane++) {
			const uint32_t v = ((const mem_u32 *)frame(w, slot[r]))[lane];
			int16_t *to = &out[lane / 4 + 8 * (r % blocks)][lane % 4 * 4 + 16 * (r / blocks)];
			for (unsigned j = 0; j < 4; j++) {
				const uint8_t byte = (uint8_t)(v >> (8 * j));
				to[j] = type == PTX_S8 ? (int8_t)byte : byte;
			}
		}
}

/* What follows reads m x k and k x n elements; the functions above wrote those, which the analyser
 * cannot see from the number of registers. NOLINTBEGIN(clang-analyzer-core.*) */

/* --- sums: eight columns from @column on --- */

static inline float cut_off(double v)
{
	if (fabs(v) >= 0x1p-126 && fabs(v) < 0x1p128) {
		uint64_t bits;
		memcpy(&bits, &v, sizeof bits);
		return (float)bits_double(bits & ~(((uint64_t)1 << 29) - 1));
	}
	return tensor_cut_off(v);
}

typedef double wide_double __attribute__((vector_size(WIDE * sizeof(double))));
typedef int32_t wide_int __attribute__((vector_size(WIDE * sizeof(int32_t))));
typedef int64_t wide_long __attribute__((vector_size(WIDE * sizeof(int64_t))));

static inline wide_int larger(wide_int a, wide_int b)
{
	const wide_int is = a > b;
	return (a & is) | (b & ~is);
}

/* Towards zero; all are less than 2^31. */
static inline wide_double whole(wide_double v)
{
	return __builtin_convertvector(__builtin_convertvector(v, wide_int), wide_double);
}

static inline wide_double power_of_two(wide_int e)
{
	return (wide_double)(__builtin_convertvector(e + 1023, wide_long) << 52);
}

static void sum_points(const struct sides *s, unsigned row, unsigned column, unsigned k0,
                       unsigned n, float *sum)
{
	int32_t first[WIDE];
	wide_int most, e;
	wide_double c, b;
	for (unsigned j = 0; j < WIDE; j++) {
		const uint32_t bits = float_bits(sum[j]), x = bits >> 23 & 255;
		first[j] = x ? (int32_t)x - 127 : bits << 1 ? -126 : NO_EXPONENT;
		c[j] = (double)sum[j];
	}
	memcpy(&most, first, sizeof most);
	for (unsigned k = k0; k < k0 + n; k++) {
		memcpy(&e, &s->eb[k][column], sizeof e);
		most = larger(most, e + s->ea[row][k]);
	}
	const wide_int none = most < NO_EXPONENT / 2;
	const wide_int at = most & ~none;
	const wide_double scale = power_of_two(TENSOR_KEPT_BITS - at);
	wide_double total = whole(c * scale);
	for (unsigned k = k0; k < k0 + n; k++) {
		memcpy(&b, &s->b[k][column], sizeof b);
		total += whole(b * s->a[row][k] * scale);
	}
	total *= power_of_two(at - TENSOR_KEPT_BITS);
	for (unsigned j = 0; j < WIDE; j++)
		sum[j] = none[j] ? sum[j] : cut_off(total[j]);
}

/* --- C and D: a row of a fragment lies in four lanes --- */

struct row_place {
	unsigned pair, lane;
};

static struct row_place place_of_row(const struct ir_tensor *t, unsigned row, unsigned column)
{
	return (struct row_place){ column / 8 * (t->m / 8u) + row / 8, row % 8 * 4 };
}

static uint32_t read_row(const struct warp *w, const struct tensor_operands *o, struct row_place p,
                         float *sum)
{
	uint32_t odd = 0;
	for (unsigned j = 0; j < WIDE; j++) {
		const bool half = o->tensor.c == PTX_F16;
		const uint32_t slot = o->c[half ? p.pair : 2 * p.pair + (j & 1)];
		const uint32_t v = ((const mem_u32 *)frame(w, slot))[p.lane + j / 2];
		sum[j] = half ? lane_h2f((uint16_t)(v >> (16 * (j & 1)))) : bits_float(v);
		odd |= (uint32_t)((float_bits(sum[j]) >> 23 & 255) == 255);
	}
	return odd;
}

static void write_row(struct warp *w, const struct tensor_operands *o, uint32_t mask,
                      struct row_place p, const float *sum)
{
	for (unsigned j = 0; j < WIDE; j++) {
		const bool half = o->tensor.d == PTX_F16;
		const uint32_t slot = o->d[half ? p.pair : 2 * p.pair + (j & 1)];
		if (!slot || !(mask >> (p.lane + j / 2) & 1))
			continue;
		mem_u32 *d = (mem_u32 *)frame(w, slot) + p.lane + j / 2;
		if (!half)
			*d = float_bits(sum[j]);
		else if (j & 1)
			*d = (*d & 0xffffu) | (uint32_t)lane_f2h(sum[j]) << 16;
		else
			*d = (*d & 0xffff0000u) | lane_f2h(sum[j]);
	}
}

/* False, and nothing is written: one of the numbers is not finite. */
static bool multiply_points(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned group = t->a == PTX_TF32 ? 8 : 16;
	struct sides s;
	float sum[TENSOR_SIDE][TENSOR_SIDE];
	uint32_t odd = 0;
	if (!read_points(w, t, o->a, false, &s) || !read_points(w, t, o->b, true, &s))
		return false;
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column += WIDE)
			odd |= read_row(w, o, place_of_row(t, row, column), &sum[row][column]);
	if (odd)
		return false;
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column += WIDE) {
			for (unsigned k = 0; k < t->k; k += group)
				sum_points(&s, row, column, k, t->k - k < group ? t->k - k : group,
				           &sum[row][column]);
			write_row(w, o, mask, place_of_row(t, row, column), &sum[row][column]);
		}
	return true;
}

static void multiply_doubles(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	struct sides s;
	read_points(w, t, o->a, false, &s);
	read_points(w, t, o->b, true, &s);
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column += WIDE) {
			const struct row_place p = place_of_row(t, row, column);
			double sum[WIDE];
			for (unsigned j = 0; j < WIDE; j++) {
				const mem_u64 *c = frame(w, o->c[2 * p.pair + (j & 1)]);
				sum[j] = bits_double(c[p.lane + j / 2]);
			}
			for (unsigned k = 0; k < t->k; k++)
				for (unsigned j = 0; j < WIDE; j++)
					sum[j] = fma(s.a[row][k], s.b[k][column + j], sum[j]);
			for (unsigned j = 0; j < WIDE; j++) {
				const uint32_t slot = o->d[2 * p.pair + (j & 1)];
				if (slot && mask >> (p.lane + j / 2) & 1)
					memcpy((mem_u64 *)frame(w, slot) + p.lane + j / 2, &sum[j], sizeof sum[j]);
			}
		}
}

static void multiply_whole(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	struct sides s;
	read_whole(w, t->a, t->m, t->k, o->a, s.ia);
	read_whole(w, t->b, t->n, t->k, o->b, s.ib);
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < t->n; column++) {
			const struct row_place p = place_of_row(t, row, column);
			const unsigned reg = 2 * p.pair + (column & 1), lane = p.lane + column % 8 / 2;
			int32_t dot = 0;
			for (unsigned k = 0; k < t->k; k++)
				dot += (int32_t)s.ia[row][k] * s.ib[column][k];
			const uint32_t c = ((const mem_u32 *)frame(w, o->c[reg]))[lane];
			int64_t sum = (int64_t)(int32_t)c + dot;
			if (t->saturate)
				sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
			if (o->d[reg] && mask >> lane & 1)
				((mem_u32 *)frame(w, o->d[reg]))[lane] = (uint32_t)(uint64_t)sum;
		}
}

/* NOLINTEND(clang-analyzer-core.*) */

HANDLER(tensor_any)
{
	const struct tensor_operands *o = u->tensor;
	if (o->tensor.a == PTX_F64)
		multiply_doubles(w, o, mask);
	else if (o->tensor.a == PTX_S8 || o->tensor.a == PTX_U8)
		multiply_whole(w, o, mask);
	else if (!multiply_points(w, o, mask))
		tensor_multiply(w, o, mask);
	warp_synced(w, mask);
	if (mask == 0xffffffffu)
		NEXT_full(u + 1);
	NEXT_masked(u + 1);
}

const struct handler LEVEL(tensor_handlers) = { tensor_any, tensor_any };

/*
 * Products of matrices with the same bits as tensor.c, which says how tensor cores add and takes
 * what is unusual: numbers that are not finite, or so large or small that float32 cannot hold
 * products of two.
 *
 * Every register of a fragment is worked on as it lies, 32 lanes at once. For one k, the lanes of a
 * row of D all need the same element of A, and the lanes of a column the same of B: four lanes in a
 * row hold a row's, every fourth one a column's.
 */
#include "emu/vm/handler.h"
#include "emu/vm/simd/simd_level.h"
#include "emu/vm/tensor.h"

#include <string.h>

#define WIDE 16              /* lanes of a vector; a register of 32 has two */
#define NO_EXPONENT -100000  /* of zero: below every sum of two */
#define LEAST_PRODUCT (-100) /* exponents of what float32 holds with room to add */
#define MOST_PRODUCT 110
#define SIDE_BLOCKS (TENSOR_SIDE / 8)

typedef float wide_float __attribute__((vector_size(WIDE * sizeof(float)), aligned(64)));
typedef int32_t wide_int __attribute__((vector_size(WIDE * sizeof(int32_t)), aligned(64)));

/* One element of A or B per lane, and its exponent. */
struct points {
	float v[32] __attribute__((aligned(64)));
	int32_t e[32] __attribute__((aligned(64)));
};
/* The smallest and the largest exponent of a matrix, zeros left out, for every lane; 128 is that of
 * what is not finite. */
struct extent {
	wide_int least, most;
};

/* --- reading --- */

/* @a where all bits of @is are set, @b where none is. */
static inline wide_int choose(wide_int is, wide_int a, wide_int b)
{
	return (a & is) | (b & ~is);
}

static inline wide_int larger(wide_int a, wide_int b)
{
#if defined(__AVX512F__)
	return (wide_int)_mm512_max_epi32((__m512i)a, (__m512i)b);
#else
	return choose(a > b, a, b);
#endif
}

/* The low halves as float32: exactly. */
static inline wide_float half_floats(wide_int h)
{
	const wide_int m = h & 0x3ff, x = h >> 10 & 31, sign = (h & 0x8000) << 16;
	const wide_int field = choose(x == 31, x + 224, x + 112);
	const wide_int small = (wide_int)(__builtin_convertvector(m, wide_float) * 0x1p-24f);
	return (wide_float)(sign | choose(x == 0, small, field << 23 | m << 13));
}

/* Of float32: at least @lowest, unless it is zero. */
static inline wide_int exponents(wide_float v, int32_t lowest)
{
	const wide_int bits = (wide_int)v & 0x7fffffff;
	const wide_int e = larger((bits >> 23) - 127, (wide_int){ 0 } + lowest);
	return choose(bits == 0, (wide_int){ 0 } + NO_EXPONENT, e);
}

/* Element @j of each lane's register. */
static void read_points(enum ptx_type type, const void *from, unsigned j, struct points *p,
                        struct extent *x)
{
	const int32_t lowest = type == PTX_F16 ? -14 : -126;
	const int32_t keep = type == PTX_TF32 ? (int32_t)0xffffe000 : (int32_t)0xffff0000;
	const int up = type == PTX_BF16 && !j ? 16 : 0, down = j ? 16 : 0;
	for (unsigned h = 0; h < 2; h++) {
		wide_int bits;
		memcpy(&bits, (const char *)from + h * sizeof bits, sizeof bits);
		const wide_float v =
			type == PTX_F16 ? half_floats(bits >> down) : (wide_float)(bits << up & keep);
		const wide_int e = exponents(v, lowest), zero = e == NO_EXPONENT;
		memcpy(&p->v[WIDE * h], &v, sizeof v);
		memcpy(&p->e[WIDE * h], &e, sizeof e);
		x->least = -larger(-x->least, choose(zero, -x->least, -e));
		x->most = larger(x->most, e);
	}
}

/* 32-bit values: lane i gets that of lane from[i]. */
static inline void pick(void *to, const void *values, const int32_t *from)
{
#if defined(__AVX512F__)
	const __m512i lo = _mm512_loadu_si512(values);
	const __m512i hi = _mm512_loadu_si512((const char *)values + 64);
	for (unsigned h = 0; h < 2; h++)
		_mm512_storeu_si512((char *)to + 64 * h,
		                    _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(from + 16 * h), hi));
#else
	mem_u32 *d = to;
	const mem_u32 *s = values;
	for (unsigned i = 0; i < 32; i++)
		d[i] = s[from[i]];
#endif
}

#define ROW(t, r) 4 * (r) + (t), 4 * (r) + (t), 4 * (r) + (t), 4 * (r) + (t)
#define ROWS(t) \
	{ ROW(t, 0), ROW(t, 1), ROW(t, 2), ROW(t, 3), ROW(t, 4), ROW(t, 5), ROW(t, 6), ROW(t, 7) }
#define COLUMNS(t) (t), 8 + (t), 16 + (t), 24 + (t), 4 + (t), 12 + (t), 20 + (t), 28 + (t)
/* Of A: element t of each row, for the four lanes of the row. Of B: for each t the even columns,
 * then the odd ones. */
static const int32_t of_row[4][32]
	__attribute__((aligned(64))) = { ROWS(0), ROWS(1), ROWS(2), ROWS(3) };
static const int32_t of_column[32]
	__attribute__((aligned(64))) = { COLUMNS(0), COLUMNS(1), COLUMNS(2), COLUMNS(3) };

/* A for each k and eight rows; B for each k and eight columns. The order of k is that in which
 * registers hold it: sums are exact, so that it does not matter. */
struct sides {
	struct points a[SIDE_BLOCKS][TENSOR_K];
	struct column_points {
		float v[8]; /* even columns, odd columns */
		int32_t e[8];
	} b[SIDE_BLOCKS][TENSOR_K];
};

static inline struct extent no_extent(void)
{
	return (struct extent){ (wide_int){ 0 } - NO_EXPONENT, (wide_int){ 0 } + NO_EXPONENT };
}

/* All of these matrices are finite, and float32 holds the products of any two elements, with room
 * to add. Zeros alone have no exponents, and are no trouble. */
static bool all_usual(const struct extent *a, const struct extent *b)
{
	int32_t least[2] = { -NO_EXPONENT, -NO_EXPONENT }, most[2] = { NO_EXPONENT, NO_EXPONENT };
	const struct extent *const x[2] = { a, b };
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < WIDE; i++) {
			least[k] = x[k]->least[i] < least[k] ? x[k]->least[i] : least[k];
			most[k] = x[k]->most[i] > most[k] ? x[k]->most[i] : most[k];
		}
	return most[0] < 128 && most[1] < 128 && least[0] + least[1] >= LEAST_PRODUCT &&
	       most[0] + most[1] <= MOST_PRODUCT;
}

static unsigned elements_of(enum ptx_type type)
{
	return ptx_type_bytes(type) >= 4 ? 1 : 2;
}

static struct extent read_a(const struct warp *w, const struct tensor_operands *o, struct sides *s)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned each = elements_of(t->a), blocks = t->m / 8u, n = blocks * t->k / (4 * each);
	struct extent x = no_extent();
	struct points p;
	for (unsigned r = 0; r < n; r++)
		for (unsigned j = 0; j < each; j++) {
			struct points *to = &s->a[r % blocks][4 * (r / blocks * each + j)];
			read_points(t->a, frame(w, o->a[r]), j, &p, &x);
			for (unsigned q = 0; q < 4; q++) {
				pick(to[q].v, p.v, of_row[q]);
				pick(to[q].e, p.e, of_row[q]);
			}
		}
	return x;
}

static struct extent read_b(const struct warp *w, const struct tensor_operands *o, struct sides *s)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned each = elements_of(t->b), blocks = t->n / 8u, n = blocks * t->k / (4 * each);
	struct extent x = no_extent();
	struct points p, turned;
	for (unsigned r = 0; r < n; r++)
		for (unsigned j = 0; j < each; j++) {
			struct column_points *to = &s->b[r % blocks][4 * (r / blocks * each + j)];
			read_points(t->b, frame(w, o->b[r]), j, &p, &x);
			pick(turned.v, p.v, of_column);
			pick(turned.e, p.e, of_column);
			for (unsigned q = 0; q < 4; q++) {
				memcpy(to[q].v, &turned.v[8 * q], sizeof to[q].v);
				memcpy(to[q].e, &turned.e[8 * q], sizeof to[q].e);
			}
		}
	return x;
}

/* --- sums --- */

/* Four values, for every fourth lane one of them. */
static inline wide_int every_fourth(const void *four)
{
#if defined(__AVX512F__)
	return (wide_int)_mm512_broadcast_i32x4(_mm_loadu_si128(four));
#else
	wide_int v;
	for (unsigned i = 0; i < WIDE; i += 4)
		memcpy((char *)&v + 4 * i, four, 16);
	return v;
#endif
}

/* The sum of both, cut off to the 24 bits of a float32. */
static inline wide_float sum_cut_off(wide_int a, wide_int b)
{
#if defined(__AVX512F__)
	const __m512i x = (__m512i)a, y = (__m512i)b;
	const __m512d lo = _mm512_add_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(x)),
	                                 _mm512_cvtepi32_pd(_mm512_castsi512_si256(y)));
	const __m512d hi = _mm512_add_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(x, 1)),
	                                 _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(y, 1)));
	const __m256 f = _mm512_cvt_roundpd_ps(lo, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
	const __m256 g = _mm512_cvt_roundpd_ps(hi, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
	const __m512d low = _mm512_castpd256_pd512(_mm256_castps_pd(f));
	return (wide_float)_mm512_insertf64x4(low, _mm256_castps_pd(g), 1);
#else
	float out[WIDE];
	wide_float result;
	for (unsigned i = 0; i < WIDE; i++) {
		const double v = (double)a[i] + (double)b[i];
		uint64_t bits;
		double cut;
		memcpy(&bits, &v, sizeof bits);
		bits &= ~(((uint64_t)1 << 29) - 1);
		memcpy(&cut, &bits, sizeof cut);
		out[i] = (float)cut;
	}
	memcpy(&result, out, sizeof result);
	return result;
#endif
}

/* Adds the products of @n k, an even number, to the sums of @c, of eight rows and the columns of
 * @odd. */
static inline void add_points(const struct points *a, const struct column_points *b, unsigned odd,
                              unsigned half, unsigned n, float *c)
{
	wide_int most = (wide_int){ 0 } + NO_EXPONENT;
	wide_float sum;
	memcpy(&sum, c, sizeof sum);
	for (unsigned k = 0; k < n; k++) {
		wide_int e;
		memcpy(&e, &a[k].e[WIDE * half], sizeof e);
		most = larger(most, e + every_fourth(&b[k].e[4 * odd]));
	}
	const wide_int none = most < NO_EXPONENT / 2; /* all products are zero */
	const wide_int at = larger(most, exponents(sum, -126)) & ~none;
	const wide_float scale = (wide_float)((TENSOR_KEPT_BITS + 127 - at) << 23);
	const wide_float back = (wide_float)((127 - TENSOR_KEPT_BITS + at) << 23);
	/* two sums, each of eight numbers below 2^27 and one below 2^26; all are cut towards zero */
	wide_int even = __builtin_convertvector(sum * scale, wide_int), rest = { 0 };
	for (unsigned k = 0; k < n; k += 2) {
		wide_float v, u;
		memcpy(&v, &a[k].v[WIDE * half], sizeof v);
		memcpy(&u, &a[k + 1].v[WIDE * half], sizeof u);
		v = v * (wide_float)every_fourth(&b[k].v[4 * odd]) * scale;
		u = u * (wide_float)every_fourth(&b[k + 1].v[4 * odd]) * scale;
		even += __builtin_convertvector(v, wide_int);
		rest += __builtin_convertvector(u, wide_int);
	}
	const wide_float total = sum_cut_off(even, rest) * back;
	sum = (wide_float)choose(none, (wide_int)sum, (wide_int)total);
	memcpy(c, &sum, sizeof sum);
}

/* --- C and D: register 2 (column block * row blocks + row block) + odd column --- */

/* False: one of the numbers is not finite, or too large. */
static bool read_sums(const struct warp *w, const struct tensor_operands *o, float (*sum)[32])
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned n = t->m / 8u * (t->n / 8u) * 2;
	wide_int most = { 0 };
	for (unsigned r = 0; r < n; r++)
		for (unsigned h = 0; h < 2; h++) {
			wide_int bits;
			const char *from = frame(w, o->c[t->c == PTX_F16 ? r / 2 : r]);
			memcpy(&bits, from + h * sizeof bits, sizeof bits);
			const wide_float v =
				t->c == PTX_F16 ? half_floats(bits >> (r & 1 ? 16 : 0)) : (wide_float)bits;
			memcpy(&sum[r][WIDE * h], &v, sizeof v);
			most = larger(most, (wide_int)v & 0x7fffffff);
		}
	for (unsigned i = 0; i < WIDE; i++)
		if (most[i] >> 23 > 127 + MOST_PRODUCT)
			return false;
	return true;
}

static void write_sums(struct warp *w, const struct tensor_operands *o, uint32_t mask,
                       float (*sum)[32])
{
	const struct ir_tensor *t = &o->tensor;
	const bool half = t->d == PTX_F16;
	const unsigned n = t->m / 8u * (t->n / 8u) * (half ? 1 : 2);
	for (unsigned r = 0; r < n; r++) {
		uint32_t value[32];
		if (!o->d[r])
			continue;
		if (half)
			for (unsigned i = 0; i < 32; i++)
				value[i] = (uint32_t)lane_f2h(sum[2 * r][i]) | (uint32_t)lane_f2h(sum[2 * r + 1][i])
				                                                   << 16;
		else
			memcpy(value, sum[r], sizeof value);
		mem_u32 *d = frame(w, o->d[r]);
		EACH_LANE(i)
		{
			if (mask & lane_bit[i])
				d[i] = value[i];
		}
	}
}

/* False, and nothing is written: something is unusual. */
static bool multiply_points(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned rows = t->m / 8u, pairs = rows * (t->n / 8u), group = t->a == PTX_TF32 ? 8 : 16;
	struct sides s;
	float sum[X_MAX_VEC][32] __attribute__((aligned(64)));
	if (t->k > group || t->k % (4 * elements_of(t->a)) || 2 * pairs > X_MAX_VEC ||
	    !read_sums(w, o, sum))
		return false;
	const struct extent a = read_a(w, o, &s), b = read_b(w, o, &s);
	if (!all_usual(&a, &b))
		return false;
	for (unsigned r = 0; r < 2 * pairs; r++)
		for (unsigned h = 0; h < 2; h++)
			add_points(s.a[r / 2 % rows], s.b[r / 2 / rows], r & 1, h, t->k, &sum[r][WIDE * h]);
	write_sums(w, o, mask, sum);
	return true;
}

/* --- doubles: a chain of fused multiply-adds --- */

static void multiply_doubles(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned rows = t->m / 8u, columns = t->n / 8u;
	double sum[X_MAX_VEC][32];
	for (unsigned r = 0; r < 2 * rows * columns; r++) {
		const mem_f64 *c = frame(w, o->c[r]);
		const unsigned block = r / 2 % rows, column = r / 2 / rows;
		EACH_LANE(i) sum[r][i] = c[i];
		for (unsigned k = 0; k < t->k; k++) {
			const mem_f64 *a = frame(w, o->a[block + rows * (k / 4)]);
			const mem_f64 *b = frame(w, o->b[column + columns * (k / 4)]);
			double right[4];
			for (unsigned q = 0; q < 4; q++)
				right[q] = b[4 * (2 * q + (r & 1)) + k % 4];
			for (unsigned row = 0; row < 8; row++)
				for (unsigned q = 0; q < 4; q++)
					sum[r][4 * row + q] = fma(a[4 * row + k % 4], right[q], sum[r][4 * row + q]);
		}
	}
	for (unsigned r = 0; r < 2 * rows * columns; r++) {
		mem_f64 *d = frame(w, o->d[r]);
		for (unsigned i = 0; o->d[r] && i < 32; i++)
			if (mask >> i & 1)
				d[i] = sum[r][i];
	}
}

/* --- integers: four of each lane's register at once --- */

/* Bytes 0 and 2, bytes 1 and 3 of each lane's register, as 16 bits each. */
struct whole {
	int16_t even[64] __attribute__((aligned(64)));
	int16_t odd[64] __attribute__((aligned(64)));
};
struct whole_sides { /* as struct sides, for every four k */
	struct whole a[SIDE_BLOCKS][TENSOR_WHOLE_K / 4];
	struct whole_columns {
		int32_t even[8], odd[8];
	} b[SIDE_BLOCKS][TENSOR_WHOLE_K / 4];
};

static void split_bytes(enum ptx_type type, const void *from, struct whole *p)
{
	int16_t v[64];
	memcpy(v, from, sizeof v);
	if (type == PTX_S8)
		for (unsigned i = 0; i < 64; i++) {
			p->even[i] = (int16_t)((int16_t)(uint16_t)((uint16_t)v[i] << 8) >> 8);
			p->odd[i] = (int16_t)(v[i] >> 8);
		}
	else
		for (unsigned i = 0; i < 64; i++) {
			p->even[i] = (uint8_t)v[i];
			p->odd[i] = (uint8_t)((uint16_t)v[i] >> 8);
		}
}

static void read_whole(const struct warp *w, const struct tensor_operands *o, struct whole_sides *s)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned rows = t->m / 8u, columns = t->n / 8u, n = t->k / 16u;
	struct whole p, turned;
	for (unsigned r = 0; r < rows * n; r++) {
		struct whole *to = &s->a[r % rows][4 * (r / rows)];
		split_bytes(t->a, frame(w, o->a[r]), &p);
		for (unsigned q = 0; q < 4; q++) {
			pick(to[q].even, p.even, of_row[q]);
			pick(to[q].odd, p.odd, of_row[q]);
		}
	}
	for (unsigned r = 0; r < columns * n; r++) {
		struct whole_columns *to = &s->b[r % columns][4 * (r / columns)];
		split_bytes(t->b, frame(w, o->b[r]), &p);
		pick(turned.even, p.even, of_column);
		pick(turned.odd, p.odd, of_column);
		for (unsigned q = 0; q < 4; q++) {
			memcpy(to[q].even, &turned.even[16 * q], sizeof to[q].even);
			memcpy(to[q].odd, &turned.odd[16 * q], sizeof to[q].odd);
		}
	}
}

/* Per lane: the sum of two products of 16 bits. */
static inline wide_int dot_pairs(const int16_t *a, wide_int b)
{
#if defined(__AVX512BW__)
	return (wide_int)_mm512_madd_epi16(_mm512_load_si512(a), (__m512i)b);
#else
	wide_int sum = { 0 };
	/* read_whole() wrote k / 4 of them, which the analyser cannot see:
	 * NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	for (unsigned i = 0; i < WIDE; i++)
		sum[i] = a[2 * i] * (int16_t)(b[i] & 0xffff) + a[2 * i + 1] * (int16_t)(b[i] >> 16);
	/* NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	return sum;
#endif
}

static inline void dot_whole(const struct whole *a, const struct whole_columns *b, unsigned odd,
                             unsigned half, unsigned n, int32_t *out)
{
	wide_int total = { 0 };
	for (unsigned k = 0; k < n; k++) {
		total += dot_pairs(&a[k].even[2 * WIDE * half], every_fourth(&b[k].even[4 * odd]));
		total += dot_pairs(&a[k].odd[2 * WIDE * half], every_fourth(&b[k].odd[4 * odd]));
	}
	memcpy(out, &total, sizeof total);
}

static void multiply_whole(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned rows = t->m / 8u, sums = rows * (t->n / 8u) * 2;
	struct whole_sides s;
	int32_t sum[X_MAX_VEC][32];
	read_whole(w, o, &s);
	for (unsigned r = 0; r < sums; r++) {
		const mem_s32 *c = frame(w, o->c[r]);
		for (unsigned h = 0; h < 2; h++)
			dot_whole(s.a[r / 2 % rows], s.b[r / 2 / rows], r & 1, h, t->k / 4u, &sum[r][WIDE * h]);
		for (unsigned i = 0; i < 32; i++) {
			const int64_t v = (int64_t)c[i] + sum[r][i];
			const int64_t most = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
			sum[r][i] = (int32_t)(uint32_t)(uint64_t)(t->saturate ? most : v);
		}
	}
	for (unsigned r = 0; r < sums; r++) {
		mem_s32 *d = frame(w, o->d[r]);
		for (unsigned i = 0; o->d[r] && i < 32; i++)
			if (mask >> i & 1)
				d[i] = sum[r][i];
	}
}

HANDLER(tensor_any)
{
	const struct tensor_operands *o = u->tensor;
	if (o->tensor.kind != TENSOR_DENSE)
		tensor_rare(w, o, mask);
	else if (o->tensor.a == PTX_F64)
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

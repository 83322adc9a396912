/*
 * CPU references that several kernel families share: exact inputs, single elements, matrix product.
 *
 * Exactness instead of a tolerance: inputs are small multiples of a power of two, so that float32
 * sums do not round. Then a result is right or wrong, whatever the order of summation.
 * Knows no kernel, parameter or device. Row checksums: Freivalds, "Fast probabilistic
 * algorithms", 1979, here modulo 2^64.
 */
#include "model/kernel.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PRODUCT_BUDGET 1e8 /* multiply-adds in double: about a tenth of a second */

void check_element(double got, double want, double tolerance, size_t index, unsigned buffer,
                   struct check_result *r)
{
	const double error = got == want ? 0 : fabs(got - want);

	if (isfinite(error) && error > 0) {
		double relative = want != 0 ? error / fabs(want) : error;
		if (relative > r->max_rel_error)
			r->max_rel_error = relative;
	}
	if (error <= tolerance) /* false for NaN */
		return;
	if (r->errors++ == 0) {
		r->first = index;
		r->buffer = buffer;
		r->got = got;
		r->want = want;
		r->tolerance = tolerance;
	}
}

void fill_integers_f32(float *out, size_t n, int lo, int hi, uint64_t seed)
{
	const uint64_t span = (uint64_t)((int64_t)hi - lo) + 1;
	uint64_t state = seed;

	assert(lo <= hi);
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(lo + (int64_t)((rand_next(&state) >> 32) % span));
}

void fill_bytes(unsigned char *out, size_t n, uint64_t seed)
{
	uint64_t state = seed;

	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)(rand_next(&state) >> 56);
}

/* Bits after the binary point: terms * (2^q)^2 <= 2^24. */
static int product_bits(size_t terms)
{
	int log2_terms = 0;

	while (((uint64_t)1 << log2_terms) < terms)
		log2_terms++;
	return log2_terms >= 22 ? 1 : (24 - log2_terms) / 2;
}

void fill_products_f32(float *out, size_t n, size_t terms, uint64_t seed)
{
	const int q = product_bits(terms);
	uint64_t state = seed;

	for (size_t i = 0; i < n; i++) {
		int64_t k = (int64_t)(rand_next(&state) >> (63 - q)) - ((int64_t)1 << q);
		out[i] = (float)ldexp((double)k, -q);
	}
}

/* @v * scale as a whole number; false when it is none (NaN, infinity, a value no sum can have). */
static inline bool whole(float v, double scale, uint64_t *out)
{
	const double x = (double)v * scale;

	if (!(fabs(x) <= 0x1p52))
		return false;
	const int64_t i = (int64_t)x;
	*out = (uint64_t)i;
	return (double)i == x;
}

/* weights * (row of c) == (row of a) * (b * weights), modulo 2^64, for every row: one wrong element
 * always shows, several cancel with a chance below 2^-40. Marks the rows that differ. */
static size_t mark_wrong_rows(const struct matmul_ref *ref, bool *wrong)
{
	const int q = product_bits(ref->k);
	const double in_scale = ldexp(1, q), out_scale = ldexp(1, 2 * q);
	/* b as it lies in memory: outer rows of inner elements */
	const size_t outer = ref->b_by_columns ? ref->n : ref->k;
	const size_t inner = ref->b_by_columns ? ref->k : ref->n;
	uint64_t *weight = mem_calloc(ref->n, sizeof *weight);
	uint64_t *folded = mem_calloc(ref->k, sizeof *folded); /* b * weights */
	uint64_t state = 0x5eed, v = 0;
	size_t n_wrong = 0;

	for (size_t j = 0; j < ref->n; j++)
		weight[j] = rand_next(&state) | 1; /* odd: no multiple of 2 hides a difference */
	for (size_t o = 0; o < outer; o++)
		for (size_t i = 0; i < inner; i++)
			if (whole(ref->b[o * inner + i], in_scale, &v))
				folded[ref->b_by_columns ? i : o] += v * weight[ref->b_by_columns ? o : i];
	for (size_t i = 0; i < ref->m; i++) {
		uint64_t want = 0, got = 0;
		wrong[i] = false;
		for (size_t l = 0; l < ref->k; l++)
			if (whole(ref->a[i * ref->k + l], in_scale, &v))
				want += v * folded[l];
		for (size_t j = 0; j < ref->n; j++) {
			if (whole(ref->c[i * ref->n + j], out_scale, &v))
				got += v * weight[j];
			else
				wrong[i] = true;
		}
		wrong[i] = wrong[i] || got != want;
		n_wrong += wrong[i];
	}
	free(weight);
	free(folded);
	return n_wrong;
}

static void reference_row(const struct matmul_ref *ref, size_t i, double *want)
{
	const float *a = ref->a + i * ref->k;

	for (size_t j = 0; j < ref->n; j++)
		want[j] = 0;
	for (size_t l = 0; l < ref->k && !ref->b_by_columns; l++) {
		const double x = (double)a[l];
		const float *b = ref->b + l * ref->n;
		for (size_t j = 0; j < ref->n; j++)
			want[j] += x * (double)b[j];
	}
	for (size_t j = 0; j < ref->n && ref->b_by_columns; j++) {
		const float *b = ref->b + j * ref->k;
		double sum[4] = { 0 }; /* exact, so the order is free */
		for (size_t l = 0; l < ref->k; l++)
			sum[l % 4] += (double)a[l] * (double)b[l];
		want[j] = sum[0] + sum[1] + sum[2] + sum[3];
	}
}

void check_matmul_f32(const struct matmul_ref *ref, struct check_result *r)
{
	const double row_cost = (double)ref->n * (double)ref->k;
	const size_t errors_before = r->errors;
	size_t budget = (size_t)(PRODUCT_BUDGET / row_cost);
	size_t n_wrong = 0, seen = 0;
	bool *wrong = mem_calloc(ref->m, sizeof *wrong);
	double *want = mem_calloc(ref->n, sizeof *want);

	budget = budget < 2 ? 2 : budget;
	if (budget < ref->m)
		n_wrong = mark_wrong_rows(ref, wrong);
	/* All rows if the budget allows; else the wrong ones in order, or rows spread evenly. */
	const size_t step = budget >= ref->m || n_wrong ? 1 : ref->m / budget;
	for (size_t i = 0; i < ref->m && seen < budget; i += step) {
		if (n_wrong && !wrong[i])
			continue;
		reference_row(ref, i, want);
		for (size_t j = 0; j < ref->n; j++)
			check_element((double)ref->c[i * ref->n + j], want[j], 0, i * ref->n + j, ref->buffer,
			              r);
		seen++;
	}
	const size_t errors = r->errors - errors_before;
	r->ok = r->errors == 0 && n_wrong == 0;
	if (n_wrong > seen)
		snprintf(r->note, sizeof r->note,
		         "%zu of %zu rows are wrong; %zu elements counted in the first %zu of them",
		         n_wrong, ref->m, errors, seen);
	else if (budget < ref->m && !errors)
		snprintf(r->note, sizeof r->note,
		         "exact: %zu x %zu by row checksums, %zu rows by double reference", ref->m, ref->n,
		         seen);
	free(wrong);
	free(want);
}

void kernel_fill_uniform(const struct launch_plan *plan, const int64_t *params, unsigned b,
                         uint64_t seed, void *data)
{
	(void)params;
	fill_uniform_f32(data, plan->buffers[b].count, seed);
}

void kernel_fill_bytes(const struct launch_plan *plan, const int64_t *params, unsigned b,
                       uint64_t seed, void *data)
{
	(void)params;
	fill_bytes(data, plan->buffers[b].count, seed);
}

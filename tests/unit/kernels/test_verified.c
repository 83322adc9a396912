/*
 * Every kernel x variant runs in the emulator and equals its CPU reference: at size 1, at sizes
 * that are no multiple of the block, at primes, and with the knobs turned. And a spoiled output
 * is always noticed. Walks the registry: a new kernel file is covered by being there.
 */
#include "kernel_run.h"
#include "only.h"

#include <math.h>

/* Sizes, for all size parameters alike; then in turn, so that they differ. */
static const int64_t equal_sizes[] = { 1, 16, 37, 64, 100, 128, 251 };
static const int64_t mixed_sizes[] = { 1, 37, 100, 19, 64 };

/* A sanitizer is slow, and what differs between values of a knob is the kernel, which it does not
 * see: of @n values it is shown one, another each time. */
static bool left_out(unsigned n)
{
	static unsigned turn;
	return (UNIT_ASAN || UNIT_TSAN) && turn++ % n;
}

/* Sets size parameter number @nth from a list. */
static void set_sizes(const struct kernel_desc *k, const int64_t *list, size_t n, size_t at,
                      size_t step, int64_t *params)
{
	for (unsigned i = 0; i < k->n_params; i++)
		if (is_size(&k->params[i])) {
			params[i] = list[at % n];
			at += step;
		}
}

/* True when the plan accepted it; then it has also been verified. */
static bool verify(const struct kernel_desc *k, unsigned v, const int64_t *params)
{
	struct launched l;
	struct err err = { 0 };

	if (!prepare(k, v, params, &l, &err)) {
		assert_int_equal(err.code, ERR_USAGE);
		return false;
	}
	if (!launch(k, v, &l, &err))
		fail_msg("%s: %s", in_words(k, v, params), err.msg);
	struct check_result c = checked(k, v, &l);
	if (!c.ok)
		fail_msg("%s: %zu wrong, first [%zu] %g, want %g; %s", in_words(k, v, params), c.errors,
		         c.first, c.got, c.want, c.note);
	for (unsigned b = 0; b < l.plan.n_buffers; b++)
		if (l.plan.buffers[b].role == BUF_IN && memcmp(l.before[b], l.after[b], l.bytes[b]))
			fail_msg("%s: input %s was changed", in_words(k, v, params), l.plan.buffers[b].name);
	launched_free(&l);
	return true;
}

TEST(every_variant_at_many_sizes)
{
	unsigned kernels = 0;
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		for (unsigned v = 0; v < k->n_variants && !left_out_by_name(k); v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			unsigned n = 0;
			if (k->variants[v].wrong)
				continue;
			kernel_defaults(k, params);
			for (size_t s = 0; s < ARRAY_LEN(equal_sizes); s++) {
				set_sizes(k, equal_sizes, ARRAY_LEN(equal_sizes), s, 0, params);
				n += verify(k, v, params);
			}
			for (size_t s = 0; s < ARRAY_LEN(mixed_sizes); s++) {
				set_sizes(k, mixed_sizes, ARRAY_LEN(mixed_sizes), s, 1, params);
				n += verify(k, v, params);
			}
			if (n < 3)
				fail_msg("%s/%s was verified at %u sizes only", k->name, k->variants[v].name, n);
		}
		kernels += !left_out_by_name(k);
	}
	assert_true(kernels > 0);
}

/* Kernels with many compile parameters: a few whole settings instead of each knob by itself, since
 * each costs a compilation. Variants that refuse a setting are skipped. */
static const struct {
	const char *kernel, *words;
} combinations[] = {
	{ "sgemm_fast", "BM=64 BN=64 BK=16 TM=4 TN=4 WN=32 BAND=2" }, /* S-040 with deeper steps */
	{ "sgemm_fast", "BM=256 BN=128 BK=8 TM=16 TN=8 WN=64 BAND=1" },
	{ "sgemm_fast", "BM=32 BN=32 BK=32 TM=1 TN=1" },
	{ "sgemm_fast", "BM=128 BN=64 BK=4 TM=8 TN=4 WN=16 BAND=32" },
	{ "sgemm_async", "BM=64 BN=64 BK=16 TM=4 TN=4 WN=32 BAND=2 STAGES=3" },
	{ "sgemm_async", "BM=256 BN=128 BK=8 TM=16 TN=8 WN=64 BAND=1 STAGES=4" },
	{ "sgemm_async", "BM=32 BN=64 BK=4 TM=4 TN=8 WN=32 BAND=32 STAGES=2" },
};

static unsigned compile_knobs(const struct kernel_desc *k)
{
	unsigned n = 0;

	for (unsigned p = 0; p < k->n_params; p++)
		n += k->params[p].kind == PARAM_COMPILE;
	return n;
}

static bool has_combinations(const struct kernel_desc *k)
{
	return compile_knobs(k) > 4;
}

TEST(combinations_of_knobs)
{
	unsigned settings_of[64] = { 0 }, verified_of[64][32] = { { 0 } };
	for (unsigned c = 0; c < ARRAY_LEN(combinations); c++) {
		const struct kernel_desc *k = the_kernel(combinations[c].kernel);
		size_t at = 0;
		if (left_out_by_name(k))
			continue;
		while (kernel_at(at) != k)
			at++;
		settings_of[at]++;
		for (unsigned v = 0; v < k->n_variants; v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			settings(k, combinations[c].words, params);
			for (size_t s = 0; s < ARRAY_LEN(mixed_sizes) && !k->variants[v].wrong; s++) {
				set_sizes(k, mixed_sizes, ARRAY_LEN(mixed_sizes), s, 1, params);
				verified_of[at][v] += verify(k, v, params);
			}
		}
	}
	for (size_t at = 0; at < kernel_count(); at++) {
		const struct kernel_desc *k = kernel_at(at);
		if (has_combinations(k) && settings_of[at] < 3 && !left_out_by_name(k))
			fail_msg("%s has %u compile parameters and fewer than 3 settings above", k->name,
			         compile_knobs(k));
		for (unsigned v = 0; v < k->n_variants && settings_of[at]; v++)
			if (verified_of[at][v] < 5 && !k->variants[v].wrong)
				fail_msg("%s/%s refused nearly all settings", k->name, k->variants[v].name);
	}
}

/* One knob at a time, at a small size that no block divides and at one that all do. What must be
 * compiled anew is tried at its least and greatest value only: a compilation takes its time. */
TEST(every_knob)
{
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		for (unsigned v = 0; v < k->n_variants && !left_out_by_name(k); v++) {
			for (unsigned p = 0; p < k->n_params; p++) {
				const struct param_desc *d = &k->params[p];
				const int64_t *value = d->choices ? d->choices : d->steps;
				int64_t params[KERNEL_MAX_PARAMS];
				if (is_size(d) || !value || !kernel_param_used(k, v, p) || k->variants[v].wrong ||
				    (d->kind == PARAM_COMPILE && has_combinations(k)))
					continue;
				kernel_defaults(k, params);
				for (const int64_t *first = value; *value != INT64_MIN; value++) {
					if (d->kind == PARAM_COMPILE && value != first && value[1] != INT64_MIN)
						continue;
					if (left_out(7))
						continue;
					params[p] = *value;
					set_sizes(k, &(int64_t){ 67 }, 1, 0, 0, params);
					verify(k, v, params);
					set_sizes(k, &(int64_t){ 64 }, 1, 0, 0, params);
					verify(k, v, params);
				}
			}
		}
	}
}

/* Another value of the same type, as different as one bit. */
static void spoil(enum elem_type type, void *element)
{
	unsigned char *byte = element;

	if (type == ELEM_F32 || type == ELEM_F64 || type == ELEM_F16)
		byte[elem_size(type) - 1] ^= 0x80; /* the sign */
	if (type != ELEM_F32 && type != ELEM_F64 && type != ELEM_F16)
		byte[0] ^= 0x10;
}

static bool is_zero(const unsigned char *element, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (element[i] & (i == size - 1 ? 0x7f : 0xff))
			return false;
	return true;
}

TEST(one_spoiled_element_is_noticed)
{
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		for (unsigned v = 0; v < k->n_variants && !left_out_by_name(k); v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			struct launched l;
			struct err err = { 0 };
			if (k->variants[v].wrong)
				continue;
			kernel_defaults(k, params);
			set_sizes(k, &(int64_t){ 64 }, 1, 0, 0, params);
			if (!prepare(k, v, params, &l, &err) || !launch(k, v, &l, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			for (unsigned b = 0; b < l.plan.n_buffers; b++) {
				const struct buffer_plan *bp = &l.plan.buffers[b];
				const size_t size = elem_size(bp->type);
				/* in place: only what the reference speaks of, which is the plain outputs */
				if (bp->role != BUF_OUT || bp->partial)
					continue;
				const size_t at[] = { 0, bp->count / 2, bp->count - 1 };
				for (unsigned a = 0; a < ARRAY_LEN(at); a++) {
					unsigned char *element = (unsigned char *)l.after[b] + at[a] * size;
					unsigned char saved[8];
					if (is_zero(element, size))
						continue; /* -0 equals 0 */
					memcpy(saved, element, size);
					spoil(bp->type, element);
					struct check_result c = checked(k, v, &l);
					/* where one value can belong to several places, it is enough to notice */
					const bool exact = bp->type == ELEM_F32 || bp->type == ELEM_U8;
					if (c.ok || c.errors < 1 || c.buffer != b ||
					    (exact && (c.errors != 1 || c.first != at[a])))
						fail_msg("%s: %s[%zu] was spoiled; check says ok=%d, %zu "
						         "errors, first [%zu]",
						         in_words(k, v, params), bp->name, at[a], c.ok, c.errors, c.first);
					memcpy(element, saved, size);
				}
			}
			assert_true(checked(k, v, &l).ok);
			launched_free(&l);
		}
	}
}

/* The matrix product's check, where it can no longer compute every row in double. */
TEST(large_products_are_checked_everywhere)
{
	enum { M = 600, N = 512, K = 512 }; /* 1.6e8 products: beyond the budget */
	float *a = mem_calloc(M * K, sizeof *a), *b = mem_calloc(K * N, sizeof *b);
	float *c = mem_calloc(M * N, sizeof *c), *bt = mem_calloc(K * N, sizeof *bt);
	double *row = mem_calloc(N, sizeof *row);

	fill_products_f32(a, M * K, K, 1);
	fill_products_f32(b, K * N, K, 2);
	for (size_t i = 0; i < M; i++) {
		for (size_t j = 0; j < N; j++)
			row[j] = 0;
		for (size_t l = 0; l < K; l++)
			for (size_t j = 0; j < N; j++)
				row[j] += (double)a[i * K + l] * (double)b[l * N + j];
		for (size_t j = 0; j < N; j++) {
			c[i * N + j] = (float)row[j];
			assert_true((double)c[i * N + j] == row[j]); /* exact, as promised */
		}
	}
	for (size_t l = 0; l < K; l++)
		for (size_t j = 0; j < N; j++)
			bt[j * K + l] = b[l * N + j];

	for (int by_columns = 0; by_columns < 2; by_columns++) {
		const struct matmul_ref ref = { .a = a,
			                            .b = by_columns ? bt : b,
			                            .c = c,
			                            .m = M,
			                            .n = N,
			                            .k = K,
			                            .b_by_columns = by_columns,
			                            .buffer = 2 };
		struct check_result r = { 0 };
		check_matmul_f32(&ref, &r);
		assert_true(r.ok && strstr(r.note, "row checksums"));
		/* every place alike: corners, and rows that no spread sample visits */
		const size_t places[] = { 0, N - 1, 7 * N + 3, 301 * N + 255, M * N - 1 };
		const float wrong[] = { 0x1p-20f, 1, NAN, INFINITY, 1e30f };
		for (unsigned p = 0; p < ARRAY_LEN(places); p++) {
			const float saved = c[places[p]];
			c[places[p]] = p == 0 ? saved + 1 : p == 1 ? -saved - 1 : wrong[p];
			r = (struct check_result){ 0 };
			check_matmul_f32(&ref, &r);
			if (r.ok || r.errors != 1 || r.first != places[p] || r.buffer != 2)
				fail_msg("[%zu] spoiled: ok=%d, %zu errors, first %zu", places[p], r.ok, r.errors,
				         r.first);
			c[places[p]] = saved;
		}
		/* two that cancel in a plain sum of the row */
		c[5] += 1;
		c[9] -= 1;
		r = (struct check_result){ 0 };
		check_matmul_f32(&ref, &r);
		assert_true(!r.ok && r.errors == 2 && r.first == 5);
		c[5] -= 1;
		c[9] += 1;
	}
	free(a), free(b), free(c), free(bt), free(row);
}

/* Inputs of the exact fills: within range, on their grid, and not all alike. */
TEST(exact_fills)
{
	enum { COUNT = 4096 };
	static const size_t terms[] = { 1, 2, 3, 1024, 4096, 16384, 1u << 22, 1u << 24 };
	static const int bits[] = { 12, 11, 11, 7, 6, 5, 1, 1 };
	float v[COUNT];

	for (unsigned t = 0; t < ARRAY_LEN(terms); t++) {
		float least = 2, most = -2;
		fill_products_f32(v, COUNT, terms[t], 9);
		for (unsigned i = 0; i < COUNT; i++) {
			const float scaled = ldexpf(v[i], bits[t]);
			assert_true(v[i] >= -1 && v[i] < 1 && scaled == rintf(scaled));
			least = fminf(least, v[i]);
			most = fmaxf(most, v[i]);
		}
		assert_true(least < -0.4f && most > 0.4f);
	}
	fill_integers_f32(v, COUNT, -3, 2, 9);
	unsigned seen = 0;
	for (unsigned i = 0; i < COUNT; i++) {
		assert_true(v[i] >= -3 && v[i] <= 2 && v[i] == rintf(v[i]));
		seen |= 1u << (int)(v[i] + 3);
	}
	assert_int_equal(seen, 63);
}

/* Refusals, parameters in the person's words, inputs and comparison that kernel files rely on. */
#include "../unit.h"
#include "base/text.h"
#include "model/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t tiles[] = { 8, 16, 32, INT64_MIN };
static const int64_t orders[] = { 0, 1, INT64_MIN };
static const char *const order_words[] = { "row", "column" };
static const int64_t block_steps[] = { 32, 64, 96, 2048, INT64_MIN };

enum { P_N, P_TILE, P_ORDER, P_BLOCK, P_SHIFT };
static const struct param_desc params[] = {
	[P_N] = { .name = "N", .title = "elements", .def = 1000, .min = 1, .max = 5000 },
	[P_TILE] = { .name = "TILE",
	             .title = "tile width",
	             .def = 16,
	             .choices = tiles,
	             .variants = 2 },
	[P_ORDER] = { .name = "order",
	              .title = "order of B",
	              .def = 0,
	              .choices = orders,
	              .words = order_words },
	[P_BLOCK] = { .name = "block",
	              .title = "threads per block",
	              .def = 64,
	              .min = 1,
	              .max = 1024,
	              .steps = block_steps },
	[P_SHIFT] = { .name = "shift", .title = "offset", .def = 0, .min = -8, .max = 8 },
};
static const struct variant_desc variants[] = { { .name = "naive" }, { .name = "tiled" } };
static const struct kernel_desc k = {
	.name = "k",
	.n_params = 5,
	.n_variants = 2,
	.params = params,
	.variants = variants,
};

static struct launch_plan plan(uint32_t bx, uint32_t by, uint32_t bz, uint32_t gx, uint32_t gy,
                               uint32_t gz)
{
	return (struct launch_plan){ .entry = "e", .block = { bx, by, bz }, .grid = { gx, gy, gz } };
}

TEST(launch_limits)
{
	struct err e;
	struct launch_plan p = plan(4096, 1, 1, 1, 1, 1);
	assert_false(kernel_launch_legal(&p, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.msg, "parameter 'block': 4096: a block has at most 1024 threads "
	                           "(CUDA guide, technical specifications)");
	assert_true(strlen(e.remedy) > 0);

	p = plan(64, 64, 1, 1, 1, 1);
	assert_false(kernel_launch_legal(&p, &e));
	assert_non_null(strstr(e.msg, "64 x 64 x 1: a block has at most 1024 threads"));

	static const struct {
		uint32_t b[3], g[3];
		bool legal;
	} cases[] = {
		{ { 1024, 1, 1 }, { 1, 1, 1 }, true },
		{ { 1, 1024, 1 }, { 0x7fffffff, 65535, 65535 }, true },
		{ { 16, 1, 64 }, { 1, 1, 1 }, true },
		{ { 1, 1, 65 }, { 1, 1, 1 }, false },
		{ { 0, 1, 1 }, { 1, 1, 1 }, false },
		{ { 32, 0, 1 }, { 1, 1, 1 }, false },
		{ { 32, 1, 0 }, { 1, 1, 1 }, false },
		{ { 32, 1, 1 }, { 0, 1, 1 }, false },
		{ { 32, 1, 1 }, { 0x80000000u, 1, 1 }, false },
		{ { 32, 1, 1 }, { 1, 65536, 1 }, false },
		{ { 32, 1, 1 }, { 1, 1, 65536 }, false },
		{ { 0xffffffffu, 0xffffffffu, 0xffffffffu }, { 1, 1, 1 }, false },
		{ { 0x10000, 0x10000, 1 }, { 1, 1, 1 }, false }, /* product wraps to 0 in 32 bits */
		{ { 0x80000000u, 2, 1 }, { 1, 1, 1 }, false },
	};
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		p = plan(cases[i].b[0], cases[i].b[1], cases[i].b[2], cases[i].g[0], cases[i].g[1],
		         cases[i].g[2]);
		e = (struct err){ .code = ERR_NONE };
		if (kernel_launch_legal(&p, &e) != cases[i].legal)
			fail_msg("case %u: %s", i, e.msg);
		if (!cases[i].legal)
			assert_int_equal(e.code, ERR_USAGE);
	}
	p = plan(32, 1, 1, 1, 1, 1);
	p.dynamic_shared_bytes = 232448;
	assert_true(kernel_launch_legal(&p, &e));
	p.dynamic_shared_bytes++;
	assert_false(kernel_launch_legal(&p, &e));
	assert_non_null(strstr(e.msg, "parameter 'shared': 232449:"));
	assert_false(kernel_launch_legal(&p, NULL));
}

TEST(broken_plans_are_internal_errors)
{
	struct err e;
	struct launch_plan p = plan(32, 1, 1, 1, 1, 1);
	p.n_args = 1;
	p.args[0] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = 0 };
	assert_false(kernel_launch_legal(&p, &e));
	assert_int_equal(e.code, ERR_INTERNAL);
	p.n_buffers = 1;
	p.buffers[0] = (struct buffer_plan){ .name = "A", .count = 0 };
	assert_false(kernel_launch_legal(&p, &e));
	assert_non_null(strstr(e.msg, "'A'"));
	p.buffers[0].count = 1;
	assert_true(kernel_launch_legal(&p, &e));
	p.n_args = KERNEL_MAX_ARGS + 1;
	assert_false(kernel_launch_legal(&p, &e));
}

TEST(names_in_any_case)
{
	assert_int_equal(kernel_param_index(&k, "N"), P_N);
	assert_int_equal(kernel_param_index(&k, "tile"), P_TILE);
	assert_int_equal(kernel_param_index(&k, "none"), -1);
	assert_int_equal(kernel_variant_index(&k, "TILED"), 1);
	assert_int_equal(kernel_variant_index(&k, ""), -1);
	assert_true(kernel_param_used(&k, 0, P_N));
	assert_false(kernel_param_used(&k, 0, P_TILE));
	assert_true(kernel_param_used(&k, 1, P_TILE));
	assert_false(kernel_param_used(&k, 40, P_TILE));
	int64_t values[5];
	kernel_defaults(&k, values);
	assert_int_equal(values[P_N], 1000);
	assert_int_equal(values[P_BLOCK], 64);
}

TEST(values_are_checked)
{
	struct err e;
	int64_t v = 77;
	assert_true(kernel_param_legal(&k, P_N, 5000, &e));
	assert_false(kernel_param_legal(&k, P_N, -1, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.msg, "parameter 'N': -1: elements must be from 1 to 5000");
	assert_string_equal(e.remedy, "try N=1");
	assert_false(kernel_param_legal(&k, P_TILE, 20, &e));
	assert_string_equal(e.msg, "parameter 'TILE': 20: tile width must be one of 8, 16, 32");
	assert_false(kernel_param_legal(&k, P_ORDER, 2, &e));
	assert_non_null(strstr(e.msg, "row, column"));

	assert_true(kernel_param_parse(&k, P_N, "2k", &v, &e));
	assert_int_equal(v, 2048);
	assert_true(kernel_param_parse(&k, P_ORDER, "Column", &v, &e));
	assert_int_equal(v, 1);
	assert_true(kernel_param_parse(&k, P_ORDER, "0", &v, &e));
	assert_int_equal(v, 0);
	v = 77;
	assert_false(kernel_param_parse(&k, P_N, "12x", &v, &e));
	assert_non_null(strstr(e.msg, "parameter 'N': '12x': not a whole number"));
	assert_false(kernel_param_parse(&k, P_N, "", &v, &e));
	assert_false(kernel_param_parse(&k, P_N, "99999999999999999999", &v, &e));
	assert_false(kernel_param_parse(&k, P_ORDER, "diagonal", &v, &e));
	assert_non_null(strstr(e.msg, "must be one of row, column"));
	assert_int_equal(v, 77); /* untouched by failures */

	char s[32];
	kernel_param_format(&k, P_ORDER, 1, s, sizeof s);
	assert_string_equal(s, "column");
	kernel_param_format(&k, P_ORDER, 5, s, sizeof s);
	assert_string_equal(s, "5");
	kernel_param_format(&k, P_N, -3, s, sizeof s);
	assert_string_equal(s, "-3");
}

TEST(steps_stay_legal)
{
	static const struct {
		unsigned param;
		int64_t from;
		int dir;
		int64_t to;
	} cases[] = {
		{ P_N, 1000, 1, 1024 },  { P_N, 1000, -1, 512 },  { P_N, 1024, 1, 2048 },
		{ P_N, 1024, -1, 512 },  { P_N, 4096, 1, 5000 },  { P_N, 5000, 1, 5000 },
		{ P_N, 1, -1, 1 },       { P_N, 2, -1, 1 },       { P_N, 9000, -1, 5000 },
		{ P_TILE, 16, 1, 32 },   { P_TILE, 32, 1, 32 },   { P_TILE, 8, -1, 8 },
		{ P_TILE, 20, 1, 32 },   { P_TILE, 20, -1, 16 },  { P_TILE, 99, -1, 32 },
		{ P_ORDER, 0, 1, 1 },    { P_ORDER, 1, 1, 1 },    { P_BLOCK, 64, 1, 96 },
		{ P_BLOCK, 96, 1, 96 }, /* 2048 is not legal */
		{ P_BLOCK, 70, -1, 64 }, { P_BLOCK, 32, -1, 32 }, { P_SHIFT, 1, -1, 0 },
		{ P_SHIFT, 0, -1, -1 },  { P_SHIFT, -1, -1, -2 }, { P_SHIFT, -2, 1, -1 },
		{ P_SHIFT, -1, 1, 0 },   { P_SHIFT, -8, -1, -8 }, { P_SHIFT, 0, 1, 1 },
	};
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t got = kernel_param_step(&k, cases[i].param, cases[i].from, cases[i].dir);
		if (got != cases[i].to)
			fail_msg("case %u: %lld, want %lld", i, (long long)got, (long long)cases[i].to);
	}
	static const struct param_desc wide = { .name = "w", .min = INT64_MIN + 1, .max = INT64_MAX };
	static const struct kernel_desc w = { .n_params = 1, .params = &wide };
	int64_t v = 0;
	for (int i = 0; i < 200; i++)
		v = kernel_param_step(&w, 0, v, 1);
	assert_true(v == (int64_t)1 << 62);
	for (int i = 0; i < 400; i++)
		v = kernel_param_step(&w, 0, v, -1);
	assert_true(v == -((int64_t)1 << 62));
}

TEST(inputs_repeat)
{
	float a[4096], b[4096];
	double sum = 0;
	fill_uniform_f32(a, 4096, 7);
	fill_uniform_f32(b, 4096, 7);
	assert_memory_equal(a, b, sizeof a);
	fill_uniform_f32(b, 4096, 8);
	assert_memory_not_equal(a, b, sizeof a);
	for (int i = 0; i < 4096; i++) {
		assert_true(a[i] >= -1 && a[i] < 1);
		sum += (double)a[i];
	}
	assert_true(fabs(sum / 4096) < 0.05);
	/* The same bits on every machine: splitmix64 worked out in another language. */
	fill_uniform_f32(a, 2, 1);
	assert_true(a[0] == 0x1.10a2dp-3f && a[1] == 0x1.f75c68p-2f);
}

TEST(comparison)
{
	struct check_result r = { 0 };
	const float got[] = { 1.0f, 2.0f, 3.0f };
	const double want[] = { 1.0, 2.0, 3.0 };
	check_close_f32(got, want, 3, 1e-6, 0, 0, &r);
	assert_true(r.ok && r.errors == 0 && r.max_rel_error == 0);

	const float off[] = { 1.0f, 2.002f, 3.5f, NAN, INFINITY };
	const double ref[] = { 1.0, 2.0, 3.0, 4.0, (double)INFINITY };
	r = (struct check_result){ 0 };
	check_close_f32(off, ref, 5, 1e-2, 0, 3, &r);
	assert_false(r.ok);
	assert_int_equal(r.errors, 2); /* 3.5 and NaN; inf equals inf */
	assert_int_equal(r.first, 2);
	assert_int_equal(r.buffer, 3);
	assert_true(r.got == 3.5 && r.want == 3.0 && fabs(r.tolerance - 0.03) < 1e-12);
	assert_true(fabs(r.max_rel_error - 0.5 / 3) < 1e-6);

	/* A second buffer keeps the first failure. */
	check_close_f32(got, want, 3, 0, 0, 4, &r);
	assert_false(r.ok);
	assert_int_equal(r.buffer, 3);

	/* Near zero the absolute part decides, and the reported error says the same. */
	const float tiny[] = { 1e-7f };
	const double zero[] = { 0.0 };
	r = (struct check_result){ 0 };
	check_close_f32(tiny, zero, 1, 1e-5, 1e-6, 0, &r);
	assert_true(r.ok && r.max_rel_error <= 1e-5 && r.max_rel_error > 0);
	check_close_f32(tiny, zero, 1, 1e-5, 1e-8, 0, &r);
	assert_false(r.ok);
	assert_true(r.max_rel_error > 1e-5);
}

TEST(element_types)
{
	static const size_t sizes[] = {
		[ELEM_F32] = 4, [ELEM_F64] = 8, [ELEM_F16] = 2,  [ELEM_I32] = 4,
		[ELEM_U32] = 4, [ELEM_U8] = 1,  [ELEM_BF16] = 2, [ELEM_I8] = 1,
		[ELEM_I16] = 2, [ELEM_U16] = 2, [ELEM_I64] = 8,  [ELEM_U64] = 8
	};
	enum elem_type found;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_int_equal(elem_size((enum elem_type)i), sizes[i]);
	assert_int_equal(sizeof sizes / sizeof *sizes, ELEM_TYPES);
	for (unsigned i = 0; i < ELEM_TYPES; i++) {
		assert_true(elem_find(elem_name((enum elem_type)i), &found));
		assert_int_equal(found, i);
	}
	assert_false(elem_find("f33", &found));
	assert_string_equal(elem_name(ELEM_F16), "f16");
	assert_int_equal(ceil_div(1000000, 256), 3907); /* S-355 */
	assert_int_equal(ceil_div(0, 7), 0);
}

#define MANY ((size_t)3 << 20)

static void all_must_be_zero(const void *ctx, size_t from, size_t to, struct check_result *r)
{
	const float *got = ctx;
	for (size_t i = from; i < to; i++)
		check_element((double)got[i], 0, 0, i, 2, r);
}

/* On several threads as on one: what was found, and where first. */
TEST(parts_are_checked_as_a_whole)
{
	float *got = calloc(MANY, sizeof *got);
	struct check_result r = { 0 };
	got[5] = 3, got[MANY / 2] = NAN, got[MANY - 1] = 4;
	check_in_parts(MANY, all_must_be_zero, got, &r);
	assert_true(r.errors == 3 && r.first == 5 && r.buffer == 2);
	assert_true(r.got == 3 && r.want == 0);
	free(got);
}

/* The numbers of a large input are those of a small one that begins as it does, and go on. */
TEST(large_inputs_are_one_sequence)
{
	float *all = malloc(MANY * sizeof *all), few[1000];
	uint64_t numbers = 7;
	fill_uniform_f32(all, MANY, 7);
	fill_uniform_f32(few, 1000, 7);
	assert_memory_equal(all, few, sizeof few);
	for (size_t i = 0; i < MANY; i++) {
		const int32_t want = (int32_t)(rand_next(&numbers) >> 40) - (1 << 23);
		assert_true(all[i] == (float)want / (float)(1 << 23));
	}
	free(all);
}

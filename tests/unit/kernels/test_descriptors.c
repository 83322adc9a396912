/*
 * What every kernel file promises without being run: names, sections, parameters, plans, fills,
 * costs and checks. Walks the registry, so a new file is covered by being there.
 */
#include "kernel_run.h"

#include <ctype.h>
#include <math.h>

#define EACH_KERNEL(k)                                      \
	for (size_t k##_i = 0; k##_i < kernel_count(); k##_i++) \
		for (const struct kernel_desc *k = kernel_at(k##_i); k; k = NULL)

static void names_and_texts(void **state)
{
	(void)state;
	assert_true(kernel_count() >= 3);
	EACH_KERNEL(k)
	{
		assert_true(k->n_params <= KERNEL_MAX_PARAMS && k->n_variants >= 1 && k->n_variants <= 32);
		assert_true(k->title && k->section && strlen(k->about) > 40);
		assert_true(k->plan && k->fill && k->check && k->cost);
		for (unsigned v = 0; v < k->n_variants; v++) {
			const struct variant_desc *d = &k->variants[v];
			char head[96];
			/* <kernel>_v<N>_<idea>, N in order, declared in the file's device half */
			snprintf(head, sizeof head, "%s_v%u_%s", k->name, v, d->name);
			assert_string_equal(d->entry, head);
			const char *at = strstr(kernel_source(k), d->entry);
			if (!at || !isspace((unsigned char)at[-1]) || at[strlen(d->entry)] != '(')
				fail_msg("%s.cu does not declare %s", k->name, d->entry);
			assert_int_equal(kernel_variant_index(k, d->name), v);
			assert_true(d->title && d->title[0] && d->section && d->seeds);
			assert_in_range(strlen(d->idea), 20, 90);
			assert_true(d->wrong == (strstr(d->title, "wrong by design") != NULL));
		}
	}
}

static void parameters_are_legal_and_documented(void **state)
{
	(void)state;
	EACH_KERNEL(k)
	{
		for (unsigned i = 0; i < k->n_params; i++) {
			const struct param_desc *p = &k->params[i];
			struct err err = { 0 };
			assert_true(p->title && p->unit && p->min <= p->max);
			assert_int_equal(kernel_param_index(k, p->name), i);
			if (!kernel_param_legal(k, i, p->def, &err))
				fail_msg("%s: default: %s", k->name, err.msg);
			for (const int64_t *s = p->steps; s && *s != INT64_MIN; s++)
				if (!kernel_param_legal(k, i, *s, &err))
					fail_msg("%s: step: %s", k->name, err.msg);
			for (const int64_t *c = p->choices; c && *c != INT64_MIN; c++)
				assert_true(*c >= p->min && *c <= p->max);
			assert_true(p->variants == 0 || p->variants < 1ull << k->n_variants);
			if (p->kind == PARAM_COMPILE) {
				/* the default is written once, in the file, for both halves */
				char guard[96];
				snprintf(guard, sizeof guard, "#ifndef %s\n#define %s ",
				         p->macro ? p->macro : p->name, p->macro ? p->macro : p->name);
				if (!strstr(kernel_source(k), guard))
					fail_msg("%s.cu has no default for %s", k->name, p->name);
			}
		}
	}
}

static void defaults_can_be_launched(void **state)
{
	(void)state;
	EACH_KERNEL(k)
	{
		int64_t params[KERNEL_MAX_PARAMS];
		kernel_defaults(k, params);
		for (unsigned v = 0; v < k->n_variants; v++) {
			struct launch_plan plan = { 0 };
			struct kernel_cost cost = { 0 };
			struct err err = { 0 };
			if (!k->plan(v, params, &plan, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			assert_string_equal(plan.entry, k->variants[v].entry);
			k->cost(v, &plan, params, &cost);
			assert_true(cost.flop >= 0 && cost.min_bytes > 0);
			assert_true((cost.book_bytes > 0) == (cost.book_note != NULL));
		}
	}
}

/* Whatever a person types that is out of range: a usage error that names the parameter. */
static void impossible_values_are_refused_by_name(void **state)
{
	(void)state;
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			for (unsigned i = 0; i < k->n_params; i++) {
				if (!kernel_param_used(k, v, i))
					continue;
				const int64_t bad[] = { -1, k->params[i].min - 1, 1 << 30, INT64_MAX };
				for (unsigned b = 0; b < ARRAY_LEN(bad); b++) {
					int64_t params[KERNEL_MAX_PARAMS];
					struct launch_plan plan = { 0 };
					struct err err = { 0 };
					char name[64];
					kernel_defaults(k, params);
					params[i] = bad[b];
					/* free numbers of a launch: plan() alone must refuse, as it knows the
					 * reason; the rest is left to the check before it */
					const bool free_number =
						k->params[i].kind == PARAM_LAUNCH && !k->params[i].choices;
					if ((free_number || kernel_param_legal(k, i, bad[b], &err)) &&
					    k->plan(v, params, &plan, &err))
						fail_msg("%s was not refused", in_words(k, v, params));
					assert_int_equal(err.code, ERR_USAGE);
					snprintf(name, sizeof name, "'%s'", k->params[i].name);
					if (!strstr(err.msg, name))
						fail_msg("%s: does not name %s: %s", in_words(k, v, params), name, err.msg);
				}
			}
		}
	}
}

static const struct {
	const char *kernel, *variant, *words; /* legal by range, impossible together */
	const char *param, *reason;
} refused[] = {
	{ "sgemm", "naive", "block_x=64 block_y=32", "'block_y'", "2048 threads" },
	{ "sgemm", "tiled", "TILE=64", "'TILE'", "4096 threads" },
	{ "sgemm", "tiled_exact", "M=1000", "'M'", "not a multiple of TILE 16" },
	{ "sgemm", "tiled_exact", "N=1000", "'N'", "not a multiple" },
	{ "sgemm", "tiled_exact", "K=1000", "'K'", "not a multiple" },
	{ "sgemm", "wide_tile", "TILE=8 BLOCK=16", "'BLOCK'", "TILE 8 is not a multiple" },
	{ "reduction", "simple", "N=257", "'N'", "at most 256" },
	{ "reduction", "shared", "N=4096 block=1024", "'N'", "at most 2048" },
	{ "reduction", "convergent", "block=192", "'block'", "power of two" },
	{ "reduction", "shuffle", "block=48", "'block'", "multiple of 32" },
	{ "transpose", "naive", "block_x=64 block_y=32", "'block_y'", "2048 threads" },
	{ "transpose", "coarsened", "TILE=16 ROWS=32", "'ROWS'", "TILE 16 is not a multiple" },
	{ "transpose", "tiled", "W=32768 H=32768", "'H'", "2^28" },
	{ "rgb_to_gray", "planar", "block_x=1024 block_y=2", "'block_y'", "2048 threads" },
	{ "blur", "naive", "block_x=256 block_y=8", "'block_y'", "2048 threads" },
	{ "diverge", "split_barrier", "block=33", "'block'", "pairs" },
	{ "sgemm_fast", "thread_tile", "BM=256 BN=256 TM=4 TN=4", "'TM'", "4096 threads" },
	{ "sgemm_fast", "thread_tile", "TM=16 TN=16", "'TN'", "256 sums" },
	{ "sgemm_fast", "double_buffer", "BK=32", "'BK'", "65536 bytes" },
	{ "sgemm_fast", "vectorised", "TM=2", "'TM'", "multiples of 4" },
	{ "sgemm_fast", "vectorised", "TN=2", "'TN'", "multiples of 4" },
	{ "sgemm_fast", "conflict_free", "BN=32", "'BN'", "a multiple of 64" },
	{ "sgemm_fast", "conflict_free", "BM=32 TM=16", "'BM'", "a multiple of 64" },
	{ "sgemm_fast", "warp_tile", "BN=32", "'WN'", "BN 32 is not a multiple" },
	{ "sgemm_fast", "pipelined", "BN=32", "'WN'", "BN 32 is not a multiple" },
	{ "sgemm_fast", "warp_tile", "BM=32 WN=32", "'BM'", "a multiple of 64" },
	{ "sgemm_fast", "warp_tile", "BN=32 TN=16 WN=128", "'WN'", "" },
};

static void impossible_combinations_are_refused_with_the_reason(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(refused); i++) {
		const struct kernel_desc *k = the_kernel(refused[i].kernel);
		int64_t params[KERNEL_MAX_PARAMS];
		struct launch_plan plan = { 0 };
		struct err err = { 0 };
		settings(k, refused[i].words, params);
		if (k->plan(the_variant(k, refused[i].variant), params, &plan, &err))
			fail_msg("%s/%s %s was not refused", refused[i].kernel, refused[i].variant,
			         refused[i].words);
		assert_int_equal(err.code, ERR_USAGE);
		if (!strstr(err.msg, refused[i].param) || !strstr(err.msg, refused[i].reason))
			fail_msg("%s/%s %s: %s", refused[i].kernel, refused[i].variant, refused[i].words,
			         err.msg);
	}
}

/* Launch shapes that the book computes by hand. */
static const struct {
	const char *kernel, *variant, *words;
	struct dim3u grid, block;
	uint32_t dynamic;
} shapes[] = {
	{ "vec_add", "per_element", "N=4000 block=256", { 16, 1, 1 }, { 256, 1, 1 }, 0 }, /* S-301 */
	{ "vec_add", "per_element", "N=100 block=32", { 4, 1, 1 }, { 32, 1, 1 }, 0 },     /* S-302 */
	{ "vec_add", "per_element", "N=1003 block=64", { 16, 1, 1 }, { 64, 1, 1 }, 0 },   /* S-303 */
	{ "vec_add", "grid_stride", "N=1k blocks=136", { 136, 1, 1 }, { 256, 1, 1 }, 0 }, /* S-332 */
	{ "vec_add", "one_thread", "N=5 block=512", { 1, 1, 1 }, { 1, 1, 1 }, 0 },
	{ "vec_add", "coarsened", "N=1025 block=256 COARSE=4", { 2, 1, 1 }, { 256, 1, 1 }, 0 },
	{ "sgemm", "naive", "M=100 N=200 K=3 block_x=32 block_y=8", { 7, 13, 1 }, { 32, 8, 1 }, 0 },
	{ "sgemm", "tiled", "M=17 N=33 K=1 TILE=16", { 3, 2, 1 }, { 16, 16, 1 }, 0 },
	{ "sgemm", "dynamic", "width=8", { 128, 128, 1 }, { 8, 8, 1 }, 512 }, /* S-342 */
	{ "sgemm", "dynamic", "width=16", { 64, 64, 1 }, { 16, 16, 1 }, 2048 },
	{ "sgemm", "dynamic", "width=32", { 32, 32, 1 }, { 32, 32, 1 }, 8192 },
	{ "sgemm", "wide_tile", "M=32 N=64 K=9 TILE=32 BLOCK=16", { 2, 1, 1 }, { 16, 16, 1 }, 0 },
	{ "sgemm", "coarsened", "M=16 N=65 K=9 COARSE=4", { 2, 1, 1 }, { 16, 16, 1 }, 0 },
	{ "sgemm", "two_rows", "M=33 N=16 K=9", { 1, 2, 1 }, { 16, 16, 1 }, 0 },
	{ "reduction", "shared", "N=256 block=128", { 1, 1, 1 }, { 128, 1, 1 }, 512 },
	{ "reduction", "segmented", "N=1000000 block=1024", { 489, 1, 1 }, { 1024, 1, 1 }, 4096 },
	{ "transpose", "naive", "W=7 H=7 block_x=2 block_y=2", { 4, 4, 1 }, { 2, 2, 1 }, 0 },
	{ "transpose", "div_mod", "W=1000 H=10", { 40, 1, 1 }, { 256, 1, 1 }, 0 },
	{ "transpose", "tiled", "W=33 H=65 TILE=32", { 2, 3, 1 }, { 32, 32, 1 }, 0 },
	{ "transpose", "coarsened", "W=33 H=65 TILE=32 ROWS=8", { 2, 3, 1 }, { 32, 8, 1 }, 0 },
	{ "rgb_to_gray", "interleaved", "W=200 H=150", { 13, 10, 1 }, { 16, 16, 1 }, 0 }, /* S-305 */
	{ "rgb_to_gray", "packed", "W=100 H=41 block=256", { 5, 1, 1 }, { 256, 1, 1 }, 0 },
	{ "blur", "tiled", "W=100 H=40 TILE=32", { 4, 2, 1 }, { 32, 32, 1 }, 0 },
	{ "diverge", "paths", "N=1000 block=256", { 4, 1, 1 }, { 256, 1, 1 }, 0 },
	{ "latency", "chase", "blocks=7 block=64 ballast=12", { 7, 1, 1 }, { 64, 1, 1 }, 12288 },
	/* S-039, S-040, S-347: 256 threads of 8 x 8 or 4 x 4; one pair of tiles, then two */
	{ "sgemm_fast", "thread_tile", "M=1024 N=1024", { 8, 8, 1 }, { 256, 1, 1 }, 8192 },
	{ "sgemm_fast", "thread_tile", "BM=64 BN=64 TM=4 TN=4", { 16, 16, 1 }, { 256, 1, 1 }, 4096 },
	{ "sgemm_fast", "conflict_free", "M=1025 N=129", { 2, 9, 1 }, { 256, 1, 1 }, 16384 },
	{ "sgemm_fast", "warp_tile", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640 },
	{ "sgemm_fast", "pipelined", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640 },
	{ "reduction", "coarsened", "N=100000 block=512 COARSE=4", { 25, 1, 1 }, { 512, 1, 1 }, 2048 },
};

static void launch_shapes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(shapes); i++) {
		const struct kernel_desc *k = the_kernel(shapes[i].kernel);
		int64_t params[KERNEL_MAX_PARAMS];
		struct launch_plan plan = { 0 };
		struct err err = { 0 };
		settings(k, shapes[i].words, params);
		if (!k->plan(the_variant(k, shapes[i].variant), params, &plan, &err))
			fail_msg("%s", err.msg);
		if (memcmp(&plan.grid, &shapes[i].grid, sizeof plan.grid) ||
		    memcmp(&plan.block, &shapes[i].block, sizeof plan.block) ||
		    plan.dynamic_shared_bytes != shapes[i].dynamic)
			fail_msg("%s/%s %s: grid %u x %u, block %u x %u, %u bytes", k->name, shapes[i].variant,
			         shapes[i].words, plan.grid.x, plan.grid.y, plan.block.x, plan.block.y,
			         plan.dynamic_shared_bytes);
	}
}

/* Small sizes, so that every fill can be looked at. */
static void small(const struct kernel_desc *k, int64_t size, int64_t *params)
{
	kernel_defaults(k, params);
	for (unsigned i = 0; i < k->n_params; i++)
		if (is_size(&k->params[i]))
			params[i] = size;
}

static void fills_are_complete_and_repeatable(void **state)
{
	(void)state;
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			struct launched one, two;
			struct err err = { 0 };
			small(k, 64, params);
			if (!prepare(k, v, params, &one, &err) || !prepare(k, v, params, &two, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			for (unsigned b = 0; b < one.plan.n_buffers; b++) {
				const struct buffer_plan *bp = &one.plan.buffers[b];
				assert_memory_equal(one.before[b], two.before[b], one.bytes[b]);
				if (bp->role == BUF_OUT && !bp->partial)
					continue;
				const float *f = one.before[b];
				for (size_t i = 0; i < bp->count && bp->type == ELEM_F32; i++)
					if (isnan(f[i]))
						fail_msg("%s: %s[%zu] was not filled", in_words(k, v, params), bp->name, i);
			}
			launched_free(&one);
			launched_free(&two);
		}
	}
}

/* A kernel that did nothing at all: outputs still poisoned. No check may pass that. */
static void checks_notice_a_kernel_that_did_nothing(void **state)
{
	(void)state;
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			struct launched l;
			struct err err = { 0 };
			small(k, 64, params);
			if (!prepare(k, v, params, &l, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			struct check_result c = checked(k, v, &l);
			if (c.ok || c.errors == 0)
				fail_msg("%s: nothing was computed, and the check passed", in_words(k, v, params));
			launched_free(&l);
		}
	}
}

/* S-222, S-224, S-225, S-243: the book's operations per byte. */
static const struct {
	const char *kernel, *variant, *words;
	double intensity;
} intensities[] = {
	{ "vec_add", "per_element", "", 1.0 / 12 },
	{ "sgemm", "naive_col", "", 0.25 },
	{ "sgemm", "naive", "", 0.25 },
	{ "sgemm", "tiled", "TILE=2", 0.5 },
	{ "sgemm", "tiled", "TILE=16", 4 },
	{ "sgemm", "tiled", "TILE=32", 8 },
	{ "sgemm", "dynamic", "width=24", 6 },
	{ "sgemm", "wide_tile", "TILE=32 BLOCK=16", 8 },
	{ "sgemm", "coarsened", "TILE=16 COARSE=1", 4 },
	{ "sgemm", "coarsened", "TILE=16 COARSE=2", 16.0 / 3 },
	{ "sgemm", "coarsened", "TILE=16 COARSE=4", 6.4 },
	{ "sgemm", "coarsened", "TILE=32 COARSE=4", 12.8 },
	{ "sgemm", "two_rows", "TILE=16", 16.0 / 3 },
	{ "sgemm_fast", "thread_tile", "", 32 }, /* S-227 */
	{ "sgemm_fast", "thread_tile", "BM=64 BN=64 TM=4 TN=4", 16 },
	{ "rgb_to_gray", "interleaved", "", 1.25 },
};

static void book_intensities(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(intensities); i++) {
		const struct kernel_desc *k = the_kernel(intensities[i].kernel);
		const unsigned v = the_variant(k, intensities[i].variant);
		int64_t params[KERNEL_MAX_PARAMS];
		struct launch_plan plan = { 0 };
		struct kernel_cost cost = { 0 };
		struct err err = { 0 };
		settings(k, intensities[i].words, params);
		assert_true(k->plan(v, params, &plan, &err));
		k->cost(v, &plan, params, &cost);
		const double got = cost.book_flop / cost.book_bytes;
		if (fabs(got - intensities[i].intensity) > 1e-12)
			fail_msg("%s: %g FLOP/B, not %g", in_words(k, v, params), got,
			         intensities[i].intensity);
	}
}

static void costs_by_hand(void **state)
{
	(void)state;
	const struct kernel_desc *k = the_kernel("sgemm");
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct kernel_cost cost = { 0 };
	struct err err = { 0 };

	settings(k, "M=3 N=5 K=7", params);
	assert_true(k->plan(the_variant(k, "naive"), params, &plan, &err));
	k->cost(the_variant(k, "naive"), &plan, params, &cost);
	assert_true(cost.flop == 2 * 3 * 5 * 7);
	assert_true(cost.min_bytes == 4 * (3 * 7 + 7 * 5 + 3 * 5));

	k = the_kernel("reduction");
	settings(k, "N=256", params);
	assert_true(k->plan(0, params, &plan, &err));
	k->cost(0, &plan, params, &cost);
	assert_true(cost.flop == 255); /* S-245 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_texts),
		cmocka_unit_test(parameters_are_legal_and_documented),
		cmocka_unit_test(defaults_can_be_launched),
		cmocka_unit_test(impossible_values_are_refused_by_name),
		cmocka_unit_test(impossible_combinations_are_refused_with_the_reason),
		cmocka_unit_test(launch_shapes),
		cmocka_unit_test(fills_are_complete_and_repeatable),
		cmocka_unit_test(checks_notice_a_kernel_that_did_nothing),
		cmocka_unit_test(book_intensities),
		cmocka_unit_test(costs_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

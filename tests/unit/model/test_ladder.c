/* The ladder: rates, speed-ups, and that the explanation follows the old bottleneck. */
#include "../unit.h"
#include "model/ladder.h"

#include <math.h>
#include <string.h>

static const struct gpu_spec gpu = { .fp32_gflops = 1000, .dram_gbs = 100 };
static const struct variant_desc variants[] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };

static void fill(struct run_record *r, double time_ns, double loads, double wavefronts,
                 enum perf_resource bottleneck)
{
	*r = (struct run_record){ .cost = { .flop = 1000, .min_bytes = 100 } };
	metrics_clear(&r->metrics, "test");
	metric_num(&r->metrics, M_TIME_KERNEL, ORIGIN_MODELLED, time_ns);
	metric_num(&r->metrics, M_MEM_LD_REQ, ORIGIN_COUNTED, loads);
	metric_num(&r->metrics, M_SH_LD_WAVE, ORIGIN_COUNTED, wavefronts);
	r->perf.bottleneck = bottleneck;
}

TEST(rates_and_speedups)
{
	struct run_record a, b;
	fill(&a, 100, 1600, 10, PERF_LSU);
	fill(&b, 20, 100, 100, PERF_SHARED);
	struct ladder l = { .gpu = &gpu,
		                .library_ns = 10,
		                .n = 3,
		                .rungs = { { .variant = &variants[0], .record = &a },
		                           { .variant = &variants[1], .why = "cannot launch" },
		                           { .variant = &variants[2], .record = &b } } };
	ladder_compare(&l);
	assert_float_equal(l.rungs[0].rate, 10, 1e-9);
	assert_float_equal(l.rungs[2].rate, 50, 1e-9);
	assert_float_equal(l.rungs[2].pct_of_roof, 5, 1e-9);
	assert_float_equal(l.rungs[2].pct_of_library, 50, 1e-9);
	assert_float_equal(l.rungs[2].speedup_first, 5, 1e-9);
	assert_float_equal(l.rungs[2].speedup_previous, 5, 1e-9);
	assert_true(isnan(l.rungs[0].speedup_first) && isnan(l.rungs[1].rate));
	assert_string_equal(l.rungs[2].moved, "global loads ÷ 16");
	l.in_bytes = true;
	ladder_compare(&l);
	assert_float_equal(l.rungs[0].rate, 1, 1e-9);
	assert_float_equal(l.rungs[0].pct_of_roof, 1, 1e-9);
}

TEST(the_old_bottleneck_explains)
{
	struct run_record a, b;
	char moved[80];
	fill(&a, 100, 1600, 100, PERF_SHARED); /* loads fall more, but shared memory held it */
	fill(&b, 50, 100, 50, PERF_SHARED);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "shared wavefronts ÷ 2");
	fill(&a, 100, 100, 100, PERF_FP32); /* nothing that feeds FP32 changed: the largest change */
	fill(&b, 90, 100, 98, PERF_FP32);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "shared wavefronts - 2 %");
	ladder_moved(&a, &a, moved, sizeof moved);
	assert_string_equal(moved, "nothing that is counted");
	/* the same work from other registers, where they are waited for often enough */
	metric_num(&a.metrics, M_INST_WARP, ORIGIN_COUNTED, 1000);
	metric_num(&a.metrics, M_REG_CONFLICTS, ORIGIN_COUNTED, 400);
	b = a;
	metric_num(&b.metrics, M_INST_WARP, ORIGIN_COUNTED, 1010);
	metric_num(&b.metrics, M_REG_CONFLICTS, ORIGIN_COUNTED, 100);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "register-bank conflicts ÷ 4");
	metric_num(&a.metrics, M_REG_CONFLICTS, ORIGIN_COUNTED, 110);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "instructions + 1 %");
}

/* A step that the model cannot resolve is no gain and no loss; a measured time is judged by the
 * range of the modelled one. */
TEST(steps_too_small_for_the_model)
{
	struct run_record a, b;
	struct ladder l = { .gpu = &gpu,
		                .n = 2,
		                .rungs = { { .variant = &variants[0], .record = &a },
		                           { .variant = &variants[1], .record = &b } } };
	static const struct {
		double ns;
		bool measured, apart;
	} rows[] = {
		{ 81, false, false }, { 79, false, true }, { 124, false, false }, { 126, false, true },
		{ 86, true, false },  { 84, true, true },  { 129, true, false },  { 131, true, true },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		fill(&a, 100, 100, 100, PERF_LATENCY);
		metric_num(&a.metrics, M_TIME_LOW, ORIGIN_MODELLED, 85);
		metric_num(&a.metrics, M_TIME_HIGH, ORIGIN_MODELLED, 130);
		fill(&b, rows[i].ns, 50, 100, PERF_LATENCY);
		if (rows[i].measured)
			metric_num(&b.metrics, M_TIME_KERNEL, ORIGIN_MEASURED, rows[i].ns);
		ladder_compare(&l);
		assert_true(l.rungs[1].apart == rows[i].apart);
	}
	metric_num(&a.metrics, M_TIME_KERNEL, ORIGIN_MEASURED, 100);
	metric_num(&b.metrics, M_TIME_KERNEL, ORIGIN_MEASURED, 99);
	ladder_compare(&l);
	assert_true(l.rungs[1].apart);
	metric_none(&b.metrics, M_TIME_KERNEL, "not known");
	ladder_compare(&l);
	assert_false(l.rungs[1].apart);
}

/* What got worse explains a loss, however much something else got better. */
TEST(no_gain_explains_a_loss)
{
	struct run_record a, b;
	char moved[80];
	fill(&a, 100, 1600, 100, PERF_LSU);
	fill(&b, 150, 100, 130, PERF_SHARED);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "shared wavefronts × 1.3");
	fill(&b, 150, 100, 130, PERF_FP32); /* of what holds it nothing is known */
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "shared wavefronts × 1.3");
	fill(&b, 150, 100, 90, PERF_SHARED);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "nothing that is counted");
	fill(&a, 100, 100, 100, PERF_LATENCY); /* more in flight is a gain where latency holds it */
	fill(&b, 50, 100, 100, PERF_LATENCY);
	metric_num(&a.metrics, M_OCC_PCT, ORIGIN_MODELLED, 25);
	metric_num(&b.metrics, M_OCC_PCT, ORIGIN_MODELLED, 100);
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "occupancy × 4");
	fill(&a, 100, 1600, 100, PERF_LSU);
	fill(&b, 50, 1700, 130, PERF_SHARED); /* nor a loss a gain */
	ladder_moved(&a, &b, moved, sizeof moved);
	assert_string_equal(moved, "nothing that is counted");
}

TEST(copies_are_rated_in_bytes)
{
	assert_true(ladder_in_bytes(&(struct kernel_cost){ .flop = 1, .min_bytes = 12 }));
	assert_true(ladder_in_bytes(&(struct kernel_cost){ .flop = 0, .min_bytes = 8 }));
	assert_false(ladder_in_bytes(&(struct kernel_cost){ .flop = 2e9, .min_bytes = 1e7 }));
}

/* --- keeping rungs --- */

static const struct variant_desc steps[] = {
	{ .name = "a" },
	{ .name = "racy", .wrong = true },
	{ .name = "b" },
	{ .name = "c" },
};
static const struct param_desc knobs[] = {
	{ .name = "N", .def = 8, .min = 1, .max = 100 },
	{ .name = "TILE", .def = 2, .min = 1, .max = 8, .variants = 1u << 3 },
};
static const struct kernel_desc family = {
	.name = "family",
	.n_params = 2,
	.params = knobs,
	.n_variants = 4,
	.variants = steps,
};

static struct run_record run_of(const struct ladder *l, unsigned rung, double time_ns)
{
	struct run_record r;
	fill(&r, time_ns, 100, 100, PERF_LSU);
	r.sel = ladder_selection(l, rung);
	return r;
}

TEST(records_find_their_rung)
{
	struct selection sel = { .kernel = &family,
		                     .variant = 2,
		                     .params = { 8, 2 },
		                     .gpu = &gpu,
		                     .backend = "emu",
		                     .seed = 1 };
	struct ladder *l = ladder_new(&sel);
	assert_int_equal(l->n, 3); /* a variant that is wrong on purpose is no rung */
	assert_int_equal(ladder_missing(l), 0);
	struct run_record a = run_of(l, 0, 100), b = run_of(l, 1, 50), c = run_of(l, 2, 10);
	assert_true(ladder_put(l, &b));
	assert_true(ladder_put(l, &a));
	assert_int_equal(ladder_missing(l), 2);
	assert_float_equal(l->rungs[1].speedup_previous, 2, 1e-9);
	a.sel.seed = 2;
	assert_false(ladder_put(l, &a));
	a.sel.seed = 1;
	a.sel.variant = 1;
	assert_false(ladder_put(l, &a));
	assert_true(ladder_put(l, &c));
	assert_int_equal(ladder_missing(l), -1);
	ladder_free(l);
}

TEST(a_change_keeps_the_runs_it_does_not_touch)
{
	struct selection sel = { .kernel = &family, .params = { 8, 2 }, .gpu = &gpu, .backend = "emu" };
	struct ladder *l = ladder_new(&sel);
	for (unsigned i = 0; i < l->n; i++) {
		struct run_record r = run_of(l, i, 100 - 10 * i);
		assert_true(ladder_put(l, &r));
	}
	sel.variant = 3; /* the same ladder from another rung */
	assert_true(ladder_fits(l, &sel));
	sel.params[1] = 4; /* only the last variant has TILE */
	assert_false(ladder_fits(l, &sel));
	struct ladder *next = ladder_new(&sel);
	ladder_adopt(next, l);
	assert_int_equal(ladder_missing(next), 2);
	assert_float_equal(next->rungs[1].time_ns, 90, 1e-9);
	ladder_free(l);
	sel.params[0] = 9; /* all of them have N */
	l = ladder_new(&sel);
	ladder_adopt(l, next);
	assert_int_equal(ladder_missing(l), 0);
	ladder_free(l);
	ladder_free(next);
}

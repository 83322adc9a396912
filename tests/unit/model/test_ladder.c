/* The ladder: rates, speed-ups, and that the explanation follows the old bottleneck. */
#include "model/ladder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

static void rates_and_speedups(void **state)
{
	(void)state;
	struct run_record a, b;
	fill(&a, 100, 1600, 10, PERF_LSU);
	fill(&b, 20, 100, 100, PERF_SHARED);
	struct ladder l = { .gpu = &gpu, .library_ns = 10, .n = 3,
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

static void the_old_bottleneck_explains(void **state)
{
	(void)state;
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
}

static void copies_are_rated_in_bytes(void **state)
{
	(void)state;
	assert_true(ladder_in_bytes(&(struct kernel_cost){ .flop = 1, .min_bytes = 12 }));
	assert_true(ladder_in_bytes(&(struct kernel_cost){ .flop = 0, .min_bytes = 8 }));
	assert_false(ladder_in_bytes(&(struct kernel_cost){ .flop = 2e9, .min_bytes = 1e7 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_and_speedups),
		cmocka_unit_test(the_old_bottleneck_explains),
		cmocka_unit_test(copies_are_rated_in_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

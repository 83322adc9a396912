/* Origins and reasons of time and roofline metrics; no number is ever NaN. */
#include "time_fixture.h"

#include "base/text.h"

TEST(origins)
{
	const struct gpu_spec *a = gpu_find("a100");
	const struct kernel_cost cost = { .flop = 1e6, .book_flop = 2, .book_bytes = 8 };
	struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 1000, 1, 1 } } };
	r.counts.total =
		(struct counts){ .flop32 = 1000000, .fp32_inst = 31250, .warp_executed = 40000 };
	r.counts.dram_read_bytes = 3e6;
	r.counts.dram_write_bytes = 1e6;
	r.counts.l2_sectors = 125000;
	finish(&r, "a100", 32, 0);
	metrics_clear(&r.m, "x");
	metrics_from_run(&r.m, &r.counts);
	perf_metrics(&r.m, a, &r.counts, &cost, &r.p);
	assert_true(metric_get(&r.m, M_DRAM_READ) == 3e6);
	assert_int_equal(r.m.v[M_DRAM_READ].origin, ORIGIN_MODELLED); /* caches are simulated */
	assert_true(metric_get(&r.m, M_L2_SECTORS) == 125000);
	assert_true(metric_get(&r.m, M_ROOF_AI) == 0.25);
	assert_int_equal(r.m.v[M_ROOF_AI].origin, ORIGIN_MODELLED);
	assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == 388.75);
	assert_string_equal(r.m.v[M_ROOF_BOUND].text, "memory (DRAM)");
	assert_true(metric_get(&r.m, M_ROOF_BOOK_AI) == 0.25);
	assert_int_equal(r.m.v[M_ROOF_BOOK_AI].origin, ORIGIN_BOOK);
	assert_true(metric_get(&r.m, M_ROOF_BOOK_ATTAINABLE) == 388.75);
	assert_int_equal(r.m.v[M_ROOF_BOOK_ATTAINABLE].origin, ORIGIN_BOOK);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), 1e6 / r.p.kernel_ns, 1e-12));
	assert_true(close_to(metric_get(&r.m, M_ROOF_PCT), 100 * 1e6 / r.p.kernel_ns / 388.75, 1e-12));
	assert_true(close_to(metric_get(&r.m, M_DRAM_GBS), 4e6 / r.p.kernel_ns, 1e-12));

	/* past the ridge */
	r.counts.dram_read_bytes = 1000;
	r.counts.dram_write_bytes = 0;
	finish(&r, "a100", 32, 0);
	assert_string_equal(r.m.v[M_ROOF_BOUND].text, "neither roof: L2 decides");
	assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == 19500);
	assert_string_equal(r.m.v[M_ROOF_BOOK_AI].reason, "the book gives no figure for this kernel");
}

/* Double precision is the roof of a kernel most of whose operations it does. */
TEST(roof_of_most_operations)
{
	struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 1000, 1, 1 } } };
	static const struct {
		uint64_t fp64;
		double roof;
	} rows[] = {
		{ 0, 19500 }, { 100000, 19500 }, { 490000, 19500 }, { 510000, 9700 }, { 1000000, 9700 }
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		r.counts.total = (struct counts){ .flop32 = 1000000 - rows[i].fp64,
			                              .flop64 = rows[i].fp64,
			                              .warp_executed = 40000 };
		r.counts.dram_read_bytes = 1000;
		r.counts.dram_write_bytes = 0;
		r.counts.l2_sectors = 1000;
		finish(&r, "a100", 32, 0);
		assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == rows[i].roof);
	}
}

TEST(reasons_of_what_is_missing)
{
	struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 1000, 1, 1 } } };
	r.counts.total =
		(struct counts){ .flop32 = 1000000, .fp32_inst = 31250, .warp_executed = 40000 };
	r.counts.dram_write_bytes = 0;
	r.counts.l2_sectors = 125000;

	/* no DRAM traffic: n/a, not infinite */
	r.counts.dram_read_bytes = 0;
	finish(&r, "a100", 32, 0);
	assert_false(metric_known(&r.m, M_ROOF_AI));
	assert_false(metric_known(&r.m, M_ROOF_ATTAINABLE));
	assert_false(metric_known(&r.m, M_ROOF_BOUND));
	assert_non_null(strstr(r.m.v[M_ROOF_AI].reason, "stayed in the caches"));
	assert_true(metric_known(&r.m, M_ROOF_ACHIEVED));

	/* no cache simulation: n/a with a reason, and the rest still there */
	r.counts.dram_read_bytes = r.counts.dram_write_bytes = r.counts.l2_sectors = -1;
	finish(&r, "a100", 32, 0);
	assert_false(metric_known(&r.m, M_DRAM_READ));
	assert_false(metric_known(&r.m, M_TIME_DRAM));
	assert_false(metric_known(&r.m, M_TIME_L2));
	assert_false(metric_known(&r.m, M_DRAM_GBS));
	assert_non_null(r.m.v[M_DRAM_GBS].reason);
	assert_non_null(strstr(r.m.v[M_ROOF_AI].reason, "not known"));
	assert_true(metric_known(&r.m, M_TIME_FP32));

	/* hardware has no counter per pipe: n/a with its reason, and no time of 0 */
	count_set_unknown(&r.counts.of_total, COUNT_fp32_inst, "no such counter");
	metrics_from_run(&r.m, &r.counts);
	perf_metrics(&r.m, gpu_find("a100"), &r.counts, NULL, &r.p);
	assert_string_equal(r.m.v[M_TIME_FP32].reason, "no such counter");
	assert_true(metric_known(&r.m, M_TIME_ISSUE));

	/* no floating-point work */
	r.counts.total.flop32 = 0;
	r.counts.dram_read_bytes = r.counts.dram_write_bytes = 10;
	finish(&r, "a100", 32, 0);
	assert_string_equal(r.m.v[M_ROOF_AI].reason, "no floating-point operation executed");
	assert_string_equal(r.m.v[M_ROOF_ACHIEVED].reason, "no floating-point operation executed");

	/* double precision has its own roof */
	r.counts.total.flop64 = 1000000;
	finish(&r, "a100", 32, 0);
	assert_string_equal(r.m.v[M_ROOF_BOUND].text, "neither roof: FP32 decides");
	assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == 9700);

	/* a block that cannot launch */
	finish(&r, "a100", 300, 0);
	assert_string_equal(r.m.v[M_TIME_KERNEL].reason, "this block cannot launch on this GPU");
	assert_false(metric_known(&r.m, M_TIME_BOTTLENECK));
	assert_false(metric_known(&r.m, M_ROOF_ACHIEVED));
	assert_true(r.p.kernel_ns == 0);
}

TEST(measured_figures_stay)
{
	const struct gpu_spec *h = gpu_find("h200");
	struct run r = naive("h200", 512, 32, 32, false);
	const struct kernel_cost cost = { .flop = 2.0 * 512 * 512 * 512 };
	metrics_clear(&r.m, "x");
	metrics_from_run(&r.m, &r.counts);
	metric_num(&r.m, M_TIME_KERNEL, ORIGIN_MEASURED, 50000);
	metric_num(&r.m, M_DRAM_READ, ORIGIN_MEASURED, 1e6);
	metric_num(&r.m, M_DRAM_WRITE, ORIGIN_MEASURED, 1e6);
	metric_num(&r.m, M_FLOP_FP32, ORIGIN_MEASURED, cost.flop);
	metric_num(&r.m, M_FLOP_FP16, ORIGIN_MEASURED, 0);
	metric_num(&r.m, M_FLOP_FP64, ORIGIN_MEASURED, 0);
	perf_metrics(&r.m, h, &r.counts, &cost, &r.p);
	assert_true(metric_get(&r.m, M_TIME_KERNEL) == 50000);
	assert_int_equal(r.m.v[M_TIME_KERNEL].origin, ORIGIN_MEASURED);
	assert_true(metric_get(&r.m, M_DRAM_READ) == 1e6);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), cost.flop / 50000, 1e-12));
	assert_int_equal(r.m.v[M_ROOF_ACHIEVED].origin, ORIGIN_MEASURED);
	assert_int_equal(r.m.v[M_ROOF_AI].origin, ORIGIN_MEASURED);
	assert_int_equal(r.m.v[M_ROOF_ATTAINABLE].origin, ORIGIN_MODELLED);
	assert_int_equal(r.m.v[M_DRAM_GBS].origin, ORIGIN_MEASURED);
	assert_true(metric_known(&r.m, M_TIME_LSU)); /* the model stands beside the measurement */

	/* only a time was measured, nothing counted: the algorithm's own FLOP */
	metrics_clear(&r.m, "no counters here");
	metric_num(&r.m, M_TIME_KERNEL, ORIGIN_MEASURED, 50000);
	perf_metrics(&r.m, h, NULL, &cost, &r.p);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), cost.flop / 50000, 1e-12));
	assert_int_equal(r.m.v[M_ROOF_ACHIEVED].origin, ORIGIN_MODELLED);
	assert_false(metric_known(&r.m, M_TIME_BOTTLENECK));
	assert_false(metric_known(&r.m, M_DRAM_READ));
	perf_metrics(&r.m, h, NULL, NULL, &r.p);
	assert_false(metric_known(&r.m, M_ROOF_ACHIEVED));
}

static double any(uint64_t *seed)
{
	uint64_t r = rand_next(seed);
	switch (r % 8) {
	case 0: return 0;
	case 1: return -1;
	case 2: return 1e300;
	case 3: return (double)(r >> 8);
	default: return (double)(r >> 40);
	}
}

TEST(never_nan)
{
	uint64_t seed = 11;
	for (unsigned i = 0; i < 20000; i++) {
		const struct gpu_spec *g = gpu_at(rand_next(&seed) % gpu_count());
		struct run r = { .plan = { .entry = "k" } };
		uint32_t *dims[] = { &r.plan.block.x, &r.plan.block.y, &r.plan.block.z,
			                 &r.plan.grid.x,  &r.plan.grid.y,  &r.plan.grid.z };
		for (unsigned k = 0; k < 6; k++)
			*dims[k] =
				rand_next(&seed) % 16 ? 1u + (uint32_t)(rand_next(&seed) % (k < 3 ? 12 : 4000)) : 1;
		if (i % 500 == 0)
			r.plan.grid = (struct dim3u){ 0x7fffffff, 65535, 65535 };
		if (i % 501 == 0)
			r.plan.grid.x = 0;
#define X(field, ...) \
	r.counts.total.field = rand_next(&seed) % 5 ? rand_next(&seed) >> (rand_next(&seed) % 64) : 0;
		COUNT_FIELDS(X)
#undef X
		r.counts.total.divergent_branches %= r.counts.total.branches + 1;
		r.counts.origin = i % 2 ? ORIGIN_COUNTED : ORIGIN_SAMPLED;
		if (i % 5) /* else none of them is known */
			counts_set_known(&r.counts.of_total);
		r.counts.dram_read_bytes = any(&seed);
		r.counts.dram_write_bytes = i % 100 ? any(&seed) : (double)NAN;
		r.counts.l2_sectors = any(&seed);
		const struct kernel_cost cost = { .flop = any(&seed),
			                              .book_flop = any(&seed),
			                              .book_bytes = any(&seed) };
		const struct occ_input in = {
			.block_threads = r.plan.block.x * r.plan.block.y * r.plan.block.z,
			.regs_per_thread = (unsigned)(rand_next(&seed) % 300),
			.static_shared_bytes = (unsigned)(rand_next(&seed) % 60000),
		};
		assert_true(occ_compute(g, &in, &r.occ, NULL));
		metrics_clear(&r.m, "x");
		metrics_from_run(&r.m, &r.counts);
		const struct run_counts *counts = i % 7 ? &r.counts : NULL;
		kernel_time(g, &r.plan, &r.occ, counts, &r.p);
		perf_metrics(&r.m, g, counts, i % 3 ? &cost : NULL, &r.p);
		occ_metrics(&r.m, g, &r.occ, (uint64_t)r.plan.grid.x * r.plan.grid.y);
		for (unsigned k = 0; k < METRIC_COUNT; k++) {
			const struct metric_value *v = &r.m.v[k];
			if (v->origin == ORIGIN_NONE) {
				assert_non_null(v->reason);
			} else if (metric_catalogue[k].kind == METRIC_NUM) {
				if (!isfinite(v->num) || v->num < 0)
					fail_msg("%s = %g", metric_catalogue[k].key, v->num);
			} else {
				assert_true(v->text[0] != '\0');
			}
		}
		assert_true(isfinite(r.p.kernel_ns) && r.p.kernel_ns >= 0);
		assert_true(r.p.tail_factor == 0 || r.p.tail_factor >= 1);
		for (unsigned k = 0; k < PERF_RESOURCE_COUNT; k++)
			assert_true(r.p.resource_ns[k] >= 0);
	}
}

/* The roof above a point is what holds the kernel only near it, or where it is the bottleneck. */
TEST(a_far_roof_binds_nothing)
{
	static const struct {
		enum perf_resource bottleneck;
		double flop, ns;
		const char *bound;
	} cases[] = {
		{ PERF_LSU, 1e9, 1e7, "neither roof: LSU/L1 decides" }, /* 100 of 19,500 GFLOPS */
		{ PERF_LSU, 1e9, 6e4, "compute (FP32)" },
		{ PERF_FP32, 1e9, 1e7, "compute (FP32)" },
		{ PERF_LSU, 1e6, 1e5, "neither roof: LSU/L1 decides" },
		{ PERF_DRAM, 1e6, 1e5, "memory (DRAM)" },
		{ PERF_LSU, 1e6, 1e3, "memory (DRAM)" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run r = naive("a100", 256, 16, 16, false);
		r.p.bottleneck = cases[i].bottleneck;
		r.p.kernel_ns = cases[i].ns;
		metric_num(&r.m, M_FLOP_FP16, ORIGIN_COUNTED, 0);
		metric_num(&r.m, M_FLOP_FP32, ORIGIN_COUNTED, cases[i].flop);
		metric_num(&r.m, M_FLOP_FP64, ORIGIN_COUNTED, 0);
		metric_num(&r.m, M_DRAM_READ, ORIGIN_MODELLED, 1e6);
		metric_num(&r.m, M_DRAM_WRITE, ORIGIN_MODELLED, 0);
		metric_none(&r.m, M_TIME_KERNEL, "");
		perf_metrics(&r.m, gpu_find("a100"), &r.counts, NULL, &r.p);
		assert_string_equal(r.m.v[M_ROOF_BOUND].text, cases[i].bound);
	}
}

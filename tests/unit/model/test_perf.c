/* The roofline as printed; the time model against measured kernels; no number is ever NaN. */
#include "base/text.h"
#include "model/perf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool close_to(double got, double want, double rel)
{
	return fabs(got - want) <= rel * fabs(want);
}

/* S-217 to S-219, S-333, S-334, S-336: the book's figures on the A100. */
static void book_roofline(void **state)
{
	(void)state;
	const struct gpu_spec *a = gpu_find("a100");
	assert_true(roof_attainable_gflops(a, 0.25) == 388.75);
	assert_true(close_to(roof_attainable_gflops(a, 0.25) / a->fp32_gflops, 0.02, 0.01));
	assert_true(close_to(gpu_ridge_flop_per_byte(a), 12.54, 1e-3));
	assert_true(close_to(gpu_ridge_flop_per_byte(a) / 0.25, 50, 0.01));
	/* tiles of T: intensity T/4 */
	static const struct {
		double tile, gflops;
	} tiles[] = {
		{ 2, 777.5 }, { 4, 1555 }, { 8, 3110 }, { 16, 6220 }, { 32, 12440 },
	};
	for (unsigned i = 0; i < 5; i++)
		assert_true(roof_attainable_gflops(a, tiles[i].tile / 4) == tiles[i].gflops);
	assert_true(close_to(6220 / a->fp32_gflops, 0.319, 1e-3));
	assert_true(roof_attainable_gflops(a, 50 / 4.0) < a->fp32_gflops);
	assert_true(roof_attainable_gflops(a, 51 / 4.0) == a->fp32_gflops); /* first past the ridge */
	assert_true(roof_attainable_gflops(a, 1e9) == 19500);
	assert_true(roof_attainable_gflops(a, 0) == 0);
	assert_true(roof_attainable_gflops(a, -1) == 0);
	assert_true(roof_attainable_gflops(a, (double)NAN) == 0);
}

/* S-353: three points under the roof and the advice for each. */
static void verdicts(void **state)
{
	(void)state;
	const struct gpu_spec *a = gpu_find("a100");
	assert_int_equal(roof_classify(a, 1, 1300), ROOF_MEMORY_NEAR);
	assert_int_equal(roof_classify(a, 2, 200), ROOF_MEMORY_FAR);
	assert_int_equal(roof_classify(a, 30, 17000), ROOF_COMPUTE_NEAR);
	assert_int_equal(roof_classify(a, 30, 1000), ROOF_COMPUTE_FAR);
	assert_non_null(strstr(roof_verdict_text(ROOF_MEMORY_NEAR), "memory-bound"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_MEMORY_NEAR), "raise the intensity"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_MEMORY_FAR), "improve the access"));
	assert_non_null(strstr(roof_verdict_text(ROOF_COMPUTE_NEAR), "compute-bound"));
	assert_non_null(strstr(roof_verdict_advice(ROOF_COMPUTE_NEAR), "near the limit"));
}

/* --- the time model against measured kernels --- */

struct run {
	struct launch_plan plan;
	struct occ_result occ;
	struct run_counts counts;
	struct metric_set m;
	struct perf_result p;
};

static void finish(struct run *r, const char *gpu, unsigned regs, unsigned shared)
{
	const struct gpu_spec *g = gpu_find(gpu);
	const struct dim3u b = r->plan.block;
	const struct occ_input in = { .block_threads = b.x * b.y * b.z,
		                          .regs_per_thread = regs,
		                          .static_shared_bytes = shared };
	r->plan.entry = "k";
	r->counts.origin = ORIGIN_COUNTED;
	assert_true(occ_compute(g, &in, &r->occ, NULL));
	metrics_clear(&r->m, "not run");
	metrics_from_run(&r->m, &r->counts);
	perf_metrics(&r->m, g, &r->plan, &r->occ, &r->counts, NULL, &r->p);
}

/*
 * Naive matrix multiplication of n x n by one thread per output, block bx x by; the warps' lines
 * and sectors follow from the shape. @swapped: lanes of a warp lie in different rows.
 */
static struct run naive(const char *gpu, unsigned n, unsigned bx, unsigned by, bool swapped)
{
	struct run r = { .plan = { .block = { bx, by, 1 }, .grid = { n / bx, n / by, 1 } } };
	const uint64_t warps = (uint64_t)n * n / 32, steps = warps * n;
	const uint64_t wide = bx < 32 ? bx : 32, rows = 32 / wide;
	/* the operand along the row of threads, and the one along their column */
	const uint64_t lines_row = swapped ? wide : 1, lines_col = rows;
	const uint64_t sectors_row = swapped ? wide : (wide + 7) / 8;
	struct counts *c = &r.counts.total;
	c->ld_requests = 2 * steps;
	c->ld_lines = (lines_row + lines_col) * steps;
	c->ld_sectors = (sectors_row + lines_col) * steps;
	c->st_requests = warps;
	c->st_lines = warps * rows;
	c->st_sectors = 4 * warps;
	c->fp32_inst = steps;
	c->flop32 = 64 * steps;
	c->int_inst = steps;
	c->warp_executed = 4 * steps + steps / 2;
	c->thread_executed = 32 * c->warp_executed;
	/* each block's rows and columns once through L2 */
	r.counts.l2_sectors = (double)n * n / bx / by * (bx + by) * n / 8 + (double)c->st_sectors;
	r.counts.dram_read_bytes = 8.0 * n * n;
	r.counts.dram_write_bytes = 4.0 * n * n;
	finish(&r, gpu, 32, 0);
	return r;
}

static struct run tiled(const char *gpu, unsigned n, unsigned tile)
{
	struct run r = { .plan = { .block = { tile, tile, 1 }, .grid = { n / tile, n / tile, 1 } } };
	const uint64_t warps = (uint64_t)n * n / 32, steps = warps * n, phases = n / tile;
	struct counts *c = &r.counts.total;
	c->ld_requests = 2 * warps * phases;
	c->ld_lines = 2 * warps * phases * (32 / tile);
	c->ld_sectors = 8 * warps * phases;
	c->st_requests = warps;
	c->st_lines = warps * (32 / tile);
	c->st_sectors = 4 * warps;
	/* as machine code has them: a word of B each time, four words of A in one load of two passes */
	c->shared_ld_requests = steps + steps / 4;
	c->shared_ld_wavefronts = c->shared_ld_ideal = steps + steps / 2;
	c->shared_st_requests = c->shared_st_wavefronts = c->shared_st_ideal = 2 * warps * phases;
	c->barriers = 2 * warps * phases;
	c->fp32_inst = steps;
	c->flop32 = 64 * steps;
	c->warp_executed = 3 * steps + 14 * warps * phases;
	c->thread_executed = 32 * c->warp_executed;
	r.counts.l2_sectors = (double)(c->ld_sectors + c->st_sectors);
	r.counts.dram_read_bytes = 8.0 * n * n;
	r.counts.dram_write_bytes = 4.0 * n * n;
	finish(&r, gpu, 32, 8 * tile * tile);
	return r;
}

/* GFLOPS measured on an H200 with CUDA events, matrices of 512, from totals alone. What the model
 * makes of the program's stretches, tests/gpu/model_error.py holds against 168 measured points. */
static void h200_matrix_multiplication(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned bx, by, tile;
		bool swapped;
		double gflops, within;
		enum perf_resource bound;
	} rows[] = {
		{ "naive 32x32", 32, 32, 0, false, 5367, 1.15, PERF_LSU },
		{ "naive 16x16", 16, 16, 0, false, 4328, 1.2, PERF_LSU },
		{ "naive 32x8", 32, 8, 0, false, 5099, 1.15, PERF_LSU },
		{ "naive 8x32", 8, 32, 0, false, 2848, 1.2, PERF_LSU },
		/* rows 2 KB apart: L1 took nearly two lines a cycle; at 4 KB and more, one, as modelled */
		{ "swapped 32x32", 32, 32, 0, true, 906, 2.3, PERF_LSU },
		/* totals say nothing of barriers: the waits between them are missing */
		{ "tiled 16", 0, 0, 16, false, 6141, 1.35, PERF_SHARED },
		{ "tiled 32", 0, 0, 32, false, 7103, 1.35, PERF_SHARED },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r = rows[i].tile ? tiled("h200", 512, rows[i].tile)
		                            : naive("h200", 512, rows[i].bx, rows[i].by, rows[i].swapped);
		double got = metric_get(&r.m, M_ROOF_ACHIEVED);
		if (getenv("PMPP_PERF_SHOW"))
			print_message("%-14s model %6.0f measured %6.0f GFLOPS, %s\n", rows[i].name, got,
			              rows[i].gflops, perf_resource_name(r.p.bottleneck));
		if (got > rows[i].gflops * rows[i].within || got < rows[i].gflops / rows[i].within ||
		    r.p.bottleneck != rows[i].bound)
			fail_msg("%s: model %.0f, measured %.0f GFLOPS, bound by %s", rows[i].name, got,
			         rows[i].gflops, perf_resource_name(r.p.bottleneck));
		assert_string_equal(r.m.v[M_TIME_BOTTLENECK].text, perf_resource_name(rows[i].bound));
	}
	/* and the order of the ladder is the measured one */
	double naive16 = naive("h200", 512, 16, 16, false).p.kernel_ns;
	double naive32 = naive("h200", 512, 32, 32, false).p.kernel_ns;
	double tiled16 = tiled("h200", 512, 16).p.kernel_ns;
	double swapped = naive("h200", 512, 32, 32, true).p.kernel_ns;
	assert_true(swapped > naive16 && naive16 > naive32 && naive32 > tiled16);
}

/* S-351: 2048 on the RTX 4060 Laptop without a profiler: 716 GFLOPS. */
static void laptop_baseline(void **state)
{
	(void)state;
	struct run r = naive("rtx4060laptop", 2048, 16, 16, false);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), 716, 0.3));
}

/* One vector addition of @n floats by @blocks of @threads, elements interleaved. */
static struct run vec_add(const char *gpu, double n, unsigned blocks, unsigned threads)
{
	struct run r = { .plan = { .block = { threads, 1, 1 }, .grid = { blocks, 1, 1 } } };
	const double lanes = threads < 32 ? threads : 32, requests = n / lanes;
	const double sectors = lanes == 1 ? 1 : 4;
	struct counts *c = &r.counts.total;
	c->ld_requests = (uint64_t)(2 * requests);
	c->ld_lines = c->ld_requests;
	c->ld_sectors = (uint64_t)(2 * requests * sectors);
	c->st_requests = (uint64_t)requests;
	c->st_lines = c->st_requests;
	c->st_sectors = (uint64_t)(requests * sectors);
	c->fp32_inst = (uint64_t)requests;
	c->flop32 = (uint64_t)n;
	c->warp_executed = (uint64_t)(9 * requests);
	c->thread_executed = (uint64_t)(9 * n);
	r.counts.l2_sectors = 2 * n / 8 + (double)c->st_sectors; /* L1 keeps a sector for 8 elements */
	r.counts.dram_read_bytes = 8 * n;
	r.counts.dram_write_bytes = 4 * n;
	finish(&r, gpu, 20, 0);
	return r;
}

/* S-363: 100 M floats on the RTX 4060 Ti: 4984, 104 and 6 ms. */
static void vector_addition_ladder(void **state)
{
	(void)state;
	static const struct {
		unsigned blocks, threads;
		double ms;
	} rows[] = {
		{ 1, 1, 4984 },
		{ 1, 256, 104 },
		{ 136, 256, 6 },
	};
	for (unsigned i = 0; i < 3; i++) {
		struct run r = vec_add("rtx4060ti", 1e8, rows[i].blocks, rows[i].threads);
		if (getenv("PMPP_PERF_SHOW"))
			print_message("<<<%u,%u>>> model %.1f ms, measured %.1f, %s\n", rows[i].blocks,
			              rows[i].threads, r.p.kernel_ns / 1e6, rows[i].ms,
			              perf_resource_name(r.p.bottleneck));
		if (!close_to(r.p.kernel_ns / 1e6, rows[i].ms, 0.3))
			fail_msg("<<<%u,%u>>>: %.1f ms, measured %.1f", rows[i].blocks, rows[i].threads,
			         r.p.kernel_ns / 1e6, rows[i].ms);
		assert_int_equal(r.p.bottleneck, i < 2 ? PERF_LATENCY : PERF_DRAM);
		assert_string_equal(r.m.v[M_ROOF_BOUND].text, "memory (DRAM)");
		assert_true(close_to(metric_get(&r.m, M_ROOF_AI), 1.0 / 12, 1e-6)); /* S-222 */
	}
}

/* --- waves and tail --- */

static void waves_and_tail(void **state)
{
	(void)state;
	/* S-331: 34 SMs, 2 blocks each: 0.94 waves; one block more than a full wave costs a block */
	static const struct {
		unsigned grid;
		double waves, tail;
	} rows[] = {
		{ 64, 64.0 / 68, 68.0 / 64 }, { 68, 1, 1 },   { 75, 75.0 / 68, 102.0 / 75 },
		{ 1, 1.0 / 68, 34 },          { 34, 0.5, 1 }, { 3400, 50, 1 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { rows[i].grid, 1, 1 } } };
		r.counts.total.warp_executed = 1000000;
		r.counts.total.fp32_inst = 1000000;
		r.counts.dram_read_bytes = r.counts.dram_write_bytes = r.counts.l2_sectors = -1;
		finish(&r, "rtx4060ti", 94, 8192);
		assert_true(close_to(r.p.waves, rows[i].waves, 1e-9));
		assert_true(close_to(r.p.tail_factor, rows[i].tail, 1e-9));
		assert_true(close_to(metric_get(&r.m, M_TIME_TAIL), rows[i].tail, 1e-9));
		/* 10^6 FP32 warp instructions on 34 SMs of 128 lanes, at 97 % */
		double even = 1e6 * 32 / 128 / 34 / 0.97 / 2.535;
		assert_true(close_to(r.p.resource_ns[PERF_FP32], even * rows[i].tail, 1e-9));
	}
}

static void each_resource_can_be_the_bottleneck(void **state)
{
	(void)state;
	static const struct {
		struct counts c;
		double l2, dram;
		enum perf_resource want;
	} rows[] = {
		{ .c = { .warp_executed = 50000000 }, .want = PERF_ISSUE },
		{ .c = { .warp_executed = 50000000, .fp32_inst = 50000000 }, .want = PERF_FP32 },
		{ .c = { .warp_executed = 9000000, .fp64_inst = 9000000 }, .want = PERF_FP64 },
		{ .c = { .warp_executed = 9000000, .int_inst = 9000000 }, .want = PERF_INT },
		{ .c = { .warp_executed = 9000000, .sfu_inst = 9000000 }, .want = PERF_SFU },
		{ .c = { .ld_requests = 1000000, .ld_lines = 32000000, .ld_sectors = 32000000 },
		  .want = PERF_LSU },
		{ .c = { .shared_ld_requests = 1000000, .shared_ld_wavefronts = 32000000 },
		  .want = PERF_SHARED },
		{ .l2 = 1e9, .want = PERF_L2 },
		{ .dram = 1e10, .want = PERF_DRAM },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 132 * 8 * 20, 1, 1 } } };
		r.counts.total = rows[i].c;
		r.counts.l2_sectors = rows[i].l2;
		r.counts.dram_read_bytes = rows[i].dram;
		finish(&r, i == 0 || i == 1 ? "a100" : "h200", 32, 0);
		if (r.p.bottleneck != rows[i].want)
			fail_msg("row %u: %s", i, perf_resource_name(r.p.bottleneck));
		/* the longest counts most, the others a little; starts of blocks and turns on top */
		double most = 0, sum = 0;
		for (unsigned k = 0; k < PERF_RESOURCE_COUNT; k++) {
			most = fmax(most, r.p.resource_ns[k]);
			sum += r.p.resource_ns[k];
		}
		const struct gpu_spec *g = gpu_find(i < 2 ? "a100" : "h200");
		const double starts = 20 * 300e3 / g->clock_mhz;
		assert_true(r.p.kernel_ns >= most + g->launch_overhead_ns);
		assert_true(r.p.kernel_ns <= sum + starts + g->launch_overhead_ns);
		assert_true(metric_get(&r.m, M_TIME_KERNEL) == r.p.kernel_ns);
		assert_true(strlen(perf_resource_about((enum perf_resource)i)) > 0);
	}
	/* integer work shares the FP32 lanes of an Ada SM, not of a Hopper SM */
	struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 34 * 6, 1, 1 } } };
	r.counts.total = (struct counts){ .fp32_inst = 1000000, .int_inst = 500000 };
	finish(&r, "rtx4060ti", 32, 0);
	assert_true(r.p.resource_ns[PERF_INT] > 1.49 * r.p.resource_ns[PERF_FP32]);
	finish(&r, "h200", 32, 0);
	assert_true(close_to(r.p.resource_ns[PERF_INT], r.p.resource_ns[PERF_FP32], 1e-9));
}

/* --- metrics --- */

static void origins_and_reasons(void **state)
{
	(void)state;
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
	perf_metrics(&r.m, a, &r.plan, &r.occ, &r.counts, &cost, &r.p);
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
	assert_string_equal(r.m.v[M_ROOF_BOUND].text, "compute (FP32)");
	assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == 19500);
	assert_string_equal(r.m.v[M_ROOF_BOOK_AI].reason, "the book gives no figure for this kernel");

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

	/* no floating-point work */
	r.counts.total.flop32 = 0;
	r.counts.dram_read_bytes = r.counts.dram_write_bytes = 10;
	finish(&r, "a100", 32, 0);
	assert_string_equal(r.m.v[M_ROOF_AI].reason, "no floating-point operation executed");
	assert_string_equal(r.m.v[M_ROOF_ACHIEVED].reason, "no floating-point operation executed");

	/* double precision has its own roof */
	r.counts.total.flop64 = 1000000;
	finish(&r, "a100", 32, 0);
	assert_string_equal(r.m.v[M_ROOF_BOUND].text, "compute (FP64)");
	assert_true(metric_get(&r.m, M_ROOF_ATTAINABLE) == 9700);

	/* a block that cannot launch */
	finish(&r, "a100", 300, 0);
	assert_string_equal(r.m.v[M_TIME_KERNEL].reason, "this block cannot launch on this GPU");
	assert_false(metric_known(&r.m, M_TIME_BOTTLENECK));
	assert_false(metric_known(&r.m, M_ROOF_ACHIEVED));
	assert_true(r.p.kernel_ns == 0);
}

static void measured_figures_stay(void **state)
{
	(void)state;
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
	perf_metrics(&r.m, h, &r.plan, &r.occ, &r.counts, &cost, &r.p);
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
	perf_metrics(&r.m, h, &r.plan, &r.occ, NULL, &cost, &r.p);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), cost.flop / 50000, 1e-12));
	assert_int_equal(r.m.v[M_ROOF_ACHIEVED].origin, ORIGIN_MODELLED);
	assert_false(metric_known(&r.m, M_TIME_BOTTLENECK));
	assert_false(metric_known(&r.m, M_DRAM_READ));
	perf_metrics(&r.m, h, &r.plan, &r.occ, NULL, NULL, &r.p);
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

static void never_nan(void **state)
{
	(void)state;
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
#define X(field, about) \
	r.counts.total.field = rand_next(&seed) % 5 ? rand_next(&seed) >> (rand_next(&seed) % 64) : 0;
		COUNT_FIELDS(X)
#undef X
		r.counts.total.divergent_branches %= r.counts.total.branches + 1;
		r.counts.origin = i % 2 ? ORIGIN_COUNTED : ORIGIN_SAMPLED;
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
		perf_metrics(&r.m, g, &r.plan, &r.occ, i % 7 ? &r.counts : NULL, i % 3 ? &cost : NULL,
		             &r.p);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(book_roofline),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(h200_matrix_multiplication),
		cmocka_unit_test(laptop_baseline),
		cmocka_unit_test(vector_addition_ladder),
		cmocka_unit_test(waves_and_tail),
		cmocka_unit_test(each_resource_can_be_the_bottleneck),
		cmocka_unit_test(origins_and_reasons),
		cmocka_unit_test(measured_figures_stay),
		cmocka_unit_test(never_nan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The time model against measured kernels. */
#include "time_fixture.h"

#include "base/text.h"
#include "timemodel/constants.h"

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
TEST(h200_matrix_multiplication)
{
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
TEST(laptop_baseline)
{
	struct run r = naive("rtx4060laptop", 2048, 16, 16, false);
	assert_true(close_to(metric_get(&r.m, M_ROOF_ACHIEVED), 716, 0.3));
}

/* S-363: 100 M floats on the RTX 4060 Ti: 4984, 104 and 6 ms. */
TEST(vector_addition_ladder)
{
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
		assert_string_equal(r.m.v[M_ROOF_BOUND].text,
		                    i < 2 ? "neither roof: latency decides" : "memory (DRAM)");
		assert_true(close_to(metric_get(&r.m, M_ROOF_AI), 1.0 / 12, 1e-6)); /* S-222 */
	}
}

/* --- what a launch finds --- */

static double of_two_regions(struct region *region)
{
	struct run r = { .plan = { .block = { 128, 1, 1 }, .grid = { 1, 1, 1 } } };
	r.counts.regions = region;
	r.counts.n_regions = 2;
	finish(&r, "h200", 32, 0);
	return r.p.kernel_ns;
}

/* Of a block alone: what it stores at the end leaves then, what it stores first leaves beside the
 * rest (products of tests/programs/warp_group_products.cu, 2.4 us on an H200). */
TEST(stores_at_the_end_are_waited_for)
{
	struct region walk = { .warp_passes = 4, .block_passes = 1, .critical_path_cycles = 2000 };
	struct region store = { .warp_passes = 4, .block_passes = 1, .store_cycles = 1536 };
	struct region last[] = { walk, store }, first[] = { store, walk };
	const double early = of_two_regions(first), late = of_two_regions(last);
	const double stored = 1536 / 1.98;
	assert_true(close_to(late - gpu_find("h200")->launch_overhead_ns, 2000 / 1.98 + stored, 0.02));
	assert_true(late - early > 0.6 * stored);
}

/* Stores leave from the first of them on: behind what their region waits for before. */
TEST(stores_leave_from_the_first_on)
{
	double ns[2];
	for (unsigned late = 0; late < 2; late++) {
		struct region two[2] = {
			{ .block_passes = 1, .critical_path_cycles = 1 },
			{ .block_passes = 1, .critical_path_cycles = 2000, .store_cycles = 1500 },
		};
		two[1].store_wait_cycles = late ? 2000 : 0;
		ns[late] = of_two_regions(two);
	}
	assert_true(close_to((ns[1] - ns[0]) * 1.98, 1500 - (cbrt(8e9 + 3.375e9) - 2000), 0.02));
}

/* Loads that wait for the port behind stores add to them, but for stores to local memory; tensor
 * cores go on beside the rest. */
TEST(loads_and_stores_share_a_port)
{
	const double start = gpu_find("h200")->launch_overhead_ns; /* no basic blocks */
	double ns[4];
	for (unsigned i = 0; i < ARRAY_LEN(ns); i++) {
		struct region two[2] = {
			{ .block_passes = 1, .critical_path_cycles = 2000, .load_cycles = 1500 },
			{ .block_passes = 1, .critical_path_cycles = 1 },
		};
		two[0].store_cycles = i < 3 ? 6000 : 0;
		two[0].local_store_cycles = i == 1 ? 6000 : 0;
		two[1].group_products = i == 3 ? 8e6 : 0;
		two[0].load_cycles = i == 2 ? 0 : two[0].load_cycles;
		ns[i] = of_two_regions(two) - start;
	}
	assert_true(ns[0] > ns[2] + 1000 / 1.98 && ns[1] < ns[2] + 200);
	const double products = 8e6 / (989400 / 2.0 / (132 * 1.98) * timing.product_share) / 1.98;
	assert_true(ns[3] > products && ns[3] < 1.3 * products);
}

/* Tensor cores have two blocks' products to do where two are on an SM. */
TEST(products_of_resident_blocks_add_up)
{
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		struct run r = { .plan = { .block = { 128, 1, 1 }, .grid = { 132 * (i + 1), 1, 1 } } };
		struct region one = { .block_passes = 132 * (i + 1), .group_products = 132e7 * (i + 1) };
		r.counts.regions = &one;
		r.counts.n_regions = 1;
		finish(&r, "h200", 32, 0);
		ns[i] = r.p.kernel_ns;
	}
	assert_true(ns[1] > 1.8 * ns[0]);
}

/* Warps of a block that want one word of shared memory by swaps change it one after the other;
 * calls of the system are done one after the other on the chip. */
TEST(what_is_done_one_by_one)
{
	struct run r = vec_add("h200", 1 << 20, 4096, 256);
	const double alone = r.p.kernel_ns;
	r.counts.shared_swap_chain = 1000;
	finish(&r, "h200", 20, 0);
	const double waves = ceil(ceil(4096.0 / 132) / r.occ.blocks_per_sm);
	const double chain = waves * 1000 * timing.swap_change_cycles / 1.98;
	assert_true(r.p.kernel_ns > chain && r.p.kernel_ns < 1.2 * chain + alone);
	r.counts.shared_swap_chain = 0;
	struct region one = { .call_ns = 5e6 };
	r.counts.regions = &one;
	r.counts.n_regions = 1;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, 5e6, 0.01));
	/* of which little is known, and less of waits in loops */
	assert_true(metric_get(&r.m, M_TIME_HIGH) > 2.9 * r.p.kernel_ns);
	r.counts.regions = NULL;
	r.counts.n_regions = 0;
	finish(&r, "h200", 20, 0);
	assert_true(metric_get(&r.m, M_TIME_HIGH) < 2 * r.p.kernel_ns);
	r.counts.spins = true;
	finish(&r, "h200", 20, 0);
	assert_true(metric_get(&r.m, M_TIME_HIGH) > 2.9 * r.p.kernel_ns);
	assert_true(metric_get(&r.m, M_TIME_LOW) < 0.6 * r.p.kernel_ns);
}

/* The host's memory comes at the rate of pinned copies, and once takes the way there and back. */
TEST(memory_of_the_host_comes_over_its_link)
{
	struct run r = vec_add("h200", 1 << 20, 4096, 256);
	const struct stream_rates rates = stream_rates_of(gpu_find("h200"));
	assert_true(r.p.resource_ns[PERF_HOST] == 0);
	r.counts.dram_read_bytes = r.counts.dram_write_bytes = 0;
	r.counts.host_read_bytes = 48e6;
	r.counts.host_write_bytes = 16e6;
	finish(&r, "h200", 20, 0);
	const double link = 16e6 / rates.duplex_gbs + 32e6 / rates.pinned_gbs;
	assert_true(close_to(r.p.resource_ns[PERF_HOST], link + timing.host_trip_ns, 1e-6));
	assert_true(close_to(r.p.kernel_ns, link, 0.02));
	assert_int_equal(r.p.bottleneck, PERF_HOST);
	assert_non_null(strstr(r.m.v[M_ROOF_AI].reason, "the host's memory"));
}

/* A block of 33 threads has two warps, as one of 64: the same counts take the same time. */
TEST(a_started_warp_is_a_warp)
{
	struct run r[3];
	static const unsigned threads[] = { 33, 64, 32 };
	for (unsigned i = 0; i < 3; i++) {
		r[i] = (struct run){ .plan = { .block = { threads[i], 1, 1 }, .grid = { 5000, 1, 1 } } };
		r[i].counts.total = (struct counts){ .warp_executed = 9000000,
			                                 .int_inst = 900000,
			                                 .ld_requests = 90000,
			                                 .ld_lines = 90000,
			                                 .ld_sectors = 360000 };
		r[i].counts.l2_sectors = 360000;
		r[i].counts.dram_read_bytes = r[i].counts.dram_write_bytes = 1e6;
		finish(&r[i], "h200", 32, 0);
	}
	assert_true(r[0].p.kernel_ns == r[1].p.kernel_ns);
	assert_true(r[0].p.resident_warps == r[1].p.resident_warps);
	assert_true(r[2].p.kernel_ns != r[1].p.kernel_ns);
}

/* One warp on a scheduler counts as two: pipes that it needs equally take half as long again as
 * one. Of four, most of one hides behind the other. */
TEST(a_lone_warp_overlaps_little)
{
	for (unsigned warps = 1; warps <= 4; warps += 3) {
		double ns[4];
		for (unsigned i = 0; i < 4; i++) { /* nothing, doubles, functions, both */
			struct run r = { .plan = { .block = { 128 * warps, 1, 1 }, .grid = { 1, 1, 1 } } };
			struct region one = { .warp_passes = 4 * warps, .block_passes = 1 };
			one.fp64_slots = i & 1 ? 1e6 : 0;   /* an H200 has 64 lanes for these, ... */
			one.sfu_slots = i & 2 ? 0.25e6 : 0; /* ... and 16 for those */
			r.counts.n_regions = 1;
			r.counts.regions = &one;
			finish(&r, "h200", 32, 0);
			ns[i] = r.p.kernel_ns;
		}
		const double each = ns[1] - ns[0], two = ns[3] - ns[0];
		assert_true(close_to(ns[2] - ns[0], each, 1e-6));
		assert_true(warps == 1 ? close_to(two, 1.5 * each, 1e-3) : two < 1.3 * each);
	}
}

/* Warps that often jump stand in each other's way; integers have half of the FP32 lanes. */
TEST(short_loops_and_integers_take_longer)
{
	double ns[3];
	for (unsigned i = 0; i < 3; i++) {
		struct run r = { .plan = { .block = { 512, 1, 1 }, .grid = { 132, 1, 1 } } };
		struct region one = { .warp_passes = 16 * 132,
			                  .block_passes = 132,
			                  .critical_path_cycles = 1e5,
			                  .issue_slots = 4e5 * 132,
			                  .fp32_slots = 3e5 * 132,
			                  .loop_turns = i == 1 ? 1e5 * 132 : 0,
			                  .heavy_slots = i == 2 ? 3e5 * 132 : 0 };
		r.counts.n_regions = 1;
		r.counts.regions = &one;
		finish(&r, "h200", 32, 0);
		ns[i] = r.p.kernel_ns;
	}
	assert_true(ns[1] > 1.1 * ns[0] && ns[2] > 1.1 * ns[0]);
}

/* --- waves and tail --- */

TEST(waves_and_tail)
{
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
		assert_true(metric_get(&r.m, M_TIME_LOW) < metric_get(&r.m, M_TIME_KERNEL));
		assert_true(metric_get(&r.m, M_TIME_HIGH) > metric_get(&r.m, M_TIME_KERNEL));
		/* 10^6 FP32 warp instructions on 34 SMs of 128 lanes, at 97 % */
		double even = 1e6 * 32 / 128 / 34 / 0.97 / 2.535;
		assert_true(close_to(r.p.resource_ns[PERF_FP32], even * rows[i].tail, 1e-9));
	}
}

/* Warps that are there on average, of 64 on an H200: blocks of 8 warps, 8 of them at a time. */
TEST(achieved_occupancy)
{
	static const struct {
		unsigned grid;
		double insts_of_block, least_pct, most_pct;
	} rows[] = {
		{ 1, 1e6, 12.4, 12.5 },        /* the SMs without a block do not count */
		{ 132, 1e6, 12.4, 12.5 },      /* one each */
		{ 528, 1e6, 49, 50 },          /* four each */
		{ 132 * 80, 1e6, 97, 100 },    /* ten waves */
		{ 132 * 8 + 66, 1e6, 70, 95 }, /* half of the SMs end with a lone block */
		{ 132 * 8, 10, 0.1, 60 },      /* the first have ended before the last have come */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { rows[i].grid, 1, 1 } } };
		r.counts.total.warp_executed = r.counts.total.fp32_inst =
			(uint64_t)(rows[i].insts_of_block * rows[i].grid);
		finish(&r, "h200", 32, 0);
		const double got = metric_get(&r.m, M_OCC_ACHIEVED);
		assert_int_equal(r.m.v[M_OCC_ACHIEVED].origin, ORIGIN_MODELLED);
		if (!(got >= rows[i].least_pct && got <= rows[i].most_pct))
			fail_msg("%u blocks: %g %%", rows[i].grid, got);
	}
	/* of counts that nobody took nothing is modelled, and the reason stays */
	struct run none = { .plan = { .block = { 256, 1, 1 }, .grid = { 132, 1, 1 } } };
	finish(&none, "h200", 32, 0);
	metric_none(&none.m, M_OCC_ACHIEVED, "refused");
	count_set_unknown(&none.counts.of_total, COUNT_warp_executed, "refused");
	perf_metrics(&none.m, gpu_find("h200"), &none.counts, NULL, &none.p);
	assert_false(metric_known(&none.m, M_OCC_ACHIEVED));
	assert_string_equal(none.m.v[M_OCC_ACHIEVED].reason, "refused");
	/* what was measured stays */
	struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 132, 1, 1 } } };
	r.counts.total.warp_executed = 1000;
	finish(&r, "h200", 32, 0);
	metric_num(&r.m, M_OCC_ACHIEVED, ORIGIN_MEASURED, 11);
	perf_metrics(&r.m, gpu_find("h200"), &r.counts, NULL, &r.p);
	assert_true(metric_get(&r.m, M_OCC_ACHIEVED) == 11);
}

TEST(each_resource_can_be_the_bottleneck)
{
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
		/* the longest counts most, the others a little; starts of blocks and waves on top */
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

/* Blocks of nothing but loads that are under way: an SM has no more of them than lines in L1. */
TEST(shared_memory_takes_lines_from_loads)
{
	struct region loads = { .warp_passes = 132 * 8,
		                    .block_passes = 132,
		                    .critical_path_cycles = 100,
		                    .held_line_cycles = 132.0 * 224 * 1e5 };
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 132, 1, 1 } } };
		r.counts.n_regions = 1;
		r.counts.regions = &loads;
		finish(&r, "h200", 16, i ? 227 * 1024 : 0);
		ns[i] = r.p.kernel_ns;
	}
	/* 224 lines beside 228 KB of shared memory, without as many as are kept for eight warps; 1.98
	 * cycles a ns */
	assert_true(close_to(ns[1] - ns[0], 1e5 / 1.98 * (1 - 224.0 / (8 * 128)), 0.02));
}

/* A warp has no more lines under way than are kept for it, though there is room in L1. */
TEST(so_many_lines_are_kept_for_a_warp)
{
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		const unsigned warps = i ? 4 : 1;
		struct region loads = { .warp_passes = 132 * warps,
			                    .block_passes = 132,
			                    .critical_path_cycles = 100,
			                    .held_line_cycles = 132.0 * warps * 256 * 400 };
		struct run r = { .plan = { .block = { 32 * warps, 1, 1 }, .grid = { 132, 1, 1 } } };
		r.counts.n_regions = 1;
		r.counts.regions = &loads;
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.kernel_ns;
	}
	/* 256 lines of a warp, 400 cycles each: two after the other, alone or beside others */
	const double start = gpu_find("h200")->launch_overhead_ns;
	assert_true(ns[0] - start > 800 / 1.98 && fabs(ns[1] - ns[0]) < 100);
}

/* tests/gpu/micro/random.cu: half a line takes nearly as long as a whole one. */
TEST(lone_pieces_of_memory_take_their_time)
{
	double ns[2];
	for (unsigned i = 0; i < 2; i++) {
		struct run r = { .plan = { .block = { 256, 1, 1 }, .grid = { 132, 1, 1 } } };
		r.counts.dram_read_bytes = 64e6;
		r.counts.dram_write_bytes = 0;
		r.counts.dram_accesses = i ? 1e6 : 5e5;
		finish(&r, "h200", 16, 0);
		ns[i] = r.p.resource_ns[PERF_DRAM];
	}
	assert_true(close_to(ns[0], 64e6 / (4800 * timing.dram_efficiency), 1e-6));
	assert_true(close_to(ns[1] / ns[0], timing.dram_access_bytes / 64, 1e-6));
}

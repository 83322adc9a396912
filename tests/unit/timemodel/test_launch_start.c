/*
 * What a launch takes beside its work: until its blocks have begun, pages of managed memory, and
 * what a launch before it has left.
 */
#include "time_fixture.h"

#include "timemodel/constants.h"

#include <math.h>

/* What many blocks that begin take beyond being handed out one by one. */
static double begin_of(double blocks, double last)
{
	const double handed_out = blocks * timing.block_start_cycles / 1.98;
	const double all = timing.begin_share * last * (1 - exp(-blocks / timing.begin_blocks));
	return sqrt(all * all + handed_out * handed_out) - handed_out;
}

/* Of 132 blocks the last begins and ends later than of one; of so many that handing them out takes
 * long, hardly. */
TEST(blocks_do_not_begin_at_once)
{
	static const unsigned grids[] = { 1, 132, 2112 };
	double ns[3];
	for (unsigned i = 0; i < 3; i++) {
		struct run r = { .plan = { .block = { 32, 1, 1 }, .grid = { grids[i], 1, 1 } } };
		finish(&r, "h200", 32, 0);
		ns[i] = r.p.kernel_ns - grids[i] * timing.block_start_cycles / 1.98;
	}
	assert_true(ns[1] - ns[0] > 140 && ns[1] - ns[0] < 180 && ns[2] < ns[1]);
}

/* Pages that come from the host add a fault and their transfer, and decide; a launch of a program
 * begins sooner than one alone, but waits for constants, for code and memory that are new, and for
 * its turn in a graph. */
TEST(pages_and_code_of_a_launch)
{
	struct run r = vec_add("h200", 1 << 20, 4096, 256);
	const double alone = r.p.kernel_ns;
	assert_true(r.p.resource_ns[PERF_PAGES] == 0);
	r.counts.pages_host = 8 << 20;
	r.counts.pages_fresh = 12e6;
	r.counts.page_rounds_host = 1;
	r.counts.page_rounds_fresh = 2;
	finish(&r, "h200", 20, 0);
	const double pages = timing.page_fault_ns + 2 * timing.page_fresh_ns + (8 << 20) / 8.0 + 1e6;
	assert_true(close_to(r.p.resource_ns[PERF_PAGES], pages, 1e-6));
	r.counts.pages_first = true; /* of the program */
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.resource_ns[PERF_PAGES], pages + timing.first_fault_ns, 1e-6));
	assert_true(close_to(r.p.kernel_ns, alone + r.p.resource_ns[PERF_PAGES], 1e-6));
	assert_int_equal(r.p.bottleneck, PERF_PAGES);
	r.counts.pages_host = r.counts.pages_fresh = 0;
	const double overhead = gpu_find("h200")->launch_overhead_ns;
	const double work = alone - overhead - begin_of(4096, timing.begin_cold_ns);
	double start = overhead * timing.warm_start + begin_of(4096, timing.begin_warm_ns);
	r.counts.of_program = r.counts.code_kept = true;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + work, 1e-6));
	r.counts.launch_lines = 3;
	start += timing.parameter_ns + 2 * timing.more_parameters_ns;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + work, 1e-6));
	r.counts.constant_lines = 2;
	start += 2 * timing.constant_ns;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + work, 1e-6));
	r.counts.code_kept = false;
	r.counts.new_memory = r.counts.in_graph = true;
	start += timing.new_memory_ns + timing.graph_node_ns;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + timing.new_code_ns + work, 1e-6));
	r.counts.code_blocks = 50; /* each of which has to be waited for ... */
	r.counts.code_instructions = 200;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + 50 * timing.new_block_ns + work, 1e-6));
	r.counts.code_instructions = 1e6; /* ... or which come no sooner */
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + 16e6 / timing.new_code_gbs, 1e-6));
	r.counts.code_kept = true;
	finish(&r, "h200", 20, 0);
	assert_true(close_to(r.p.kernel_ns, start + work, 1e-6));
}

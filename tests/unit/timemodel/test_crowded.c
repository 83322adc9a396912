/* Waits that grow with what is asked of L2 and memory; blocks that begin one after the other. */
#include "time_fixture.h"

#include "base/text.h"
#include "timemodel/constants.h"
#include "timemodel/crowded.h"

/* tests/gpu/micro/stream.cu, in_flight from DRAM, an H200: warps of an SM, loads of each, ns of a
 * round. One warp is taken to be served at once. */
TEST(latency_of_loads_under_load)
{
	static const struct {
		unsigned warps, loads;
		double alone, ns;
	} row[] = {
		{ 16, 1, 385, 390.7 },  { 32, 1, 385, 410.5 },  { 64, 1, 385, 458.2 },
		{ 16, 2, 434, 453.0 },  { 32, 2, 434, 503.5 },  { 64, 2, 434, 627.9 },
		{ 8, 4, 485, 505.5 },   { 16, 4, 485, 546.6 },  { 32, 4, 485, 661.4 },
		{ 64, 4, 485, 1049.3 }, { 8, 8, 540, 607.7 },   { 16, 8, 540, 719.7 },
		{ 32, 8, 540, 1094.7 }, { 64, 8, 540, 2049.0 }, { 4, 16, 642, 680.8 },
		{ 8, 16, 642, 775.2 },  { 16, 16, 642, 1135 },  { 64, 16, 642, 4096 },
	};
	const struct gpu_spec *g = gpu_find("h200");
	for (unsigned i = 0; i < ARRAY_LEN(row); i++) {
		const double bytes = 128.0 * row[i].warps * row[i].loads * g->sm_count;
		const double dram = bytes / (g->dram_gbs * timing.dram_efficiency);
		const double ns = crowded_ns(row[i].alone, dram, 0);
		if (!close_to(ns, row[i].ns, 0.04))
			fail_msg("%u warps, %u loads: %.1f ns, measured %.1f", row[i].warps, row[i].loads, ns,
			         row[i].ns);
	}
}

TEST(nothing_is_asked_of_memory)
{
	assert_true(close_to(crowded_ns(100, 0, 0), 100, 1e-3));
	assert_true(close_to(crowded_ns(0, 300, 200), 300, 1e-3));
	assert_true(close_to(crowded_ns(0, 0, 0), 0, 1e-3));
	/* either makes it longer, and L2 less than memory */
	assert_true(crowded_ns(100, 60, 0) > crowded_ns(100, 0, 60));
	assert_true(crowded_ns(100, 0, 60) > 103);
	assert_true(crowded_ns(100, 60, 60) > crowded_ns(100, 60, 0) + 1);
}

static struct run of_blocks(unsigned blocks, unsigned warp_insts)
{
	struct run r = { .plan = { .block = { 32, 1, 1 }, .grid = { blocks, 1, 1 } } };
	r.counts.total.warp_executed = (uint64_t)blocks * warp_insts;
	r.counts.total.thread_executed = 32 * r.counts.total.warp_executed;
	finish(&r, "h200", 16, 0);
	return r;
}

/* Two waves of short blocks: the last one begins when all others have, and is not hidden. */
TEST(the_last_block_begins_late)
{
	const double blocks = 8192, begun = blocks * timing.block_start_cycles / 1.98;
	const struct run little = of_blocks(8192, 20), more = of_blocks(8192, 250);
	const double lone = 250 * timing.unknown_issue_cycles / 1.98;
	assert_true(little.p.kernel_ns > begun && little.p.kernel_ns < begun + 1000);
	if (!(more.p.kernel_ns > begun + lone + 600)) /* and the launch itself */
		fail_msg("%g, %g, %g", more.p.kernel_ns, begun, lone);
	/* and where few begin, only the work counts */
	const struct run few = of_blocks(64, 250);
	assert_true(few.p.kernel_ns < lone + 1000);
}

/* Blocks that end sooner than others begin: an SM never holds all that it could. */
TEST(few_are_there_while_blocks_begin)
{
	const struct run little = of_blocks(1 << 20, 20), more = of_blocks(1 << 20, 5000);
	assert_true(little.p.resident_warps < 0.5 * more.p.resident_warps);
	assert_true(more.p.resident_warps > 0.8 * 32);
}

/*
 * How long a warp waits for what it loads: from memory alone or with others, for the slowest of
 * several, from local memory, for fragments of a product.
 */
#include "sample_program.h"

#include "timemodel/constants.h"
#include "timemodel/load_latency.h"

#include <math.h>

/* A launch of one load of @lines lines, all from memory, of which so much was read. */
static double wait_for_memory(unsigned lines, double read_bytes)
{
	struct sample s = { 0 };
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_GLOBAL;
	add_inst(&s, INST_FP32, 2, 1);
	s.inst[0].origin =
		(struct load_origin){ .known = true, .l2_lines = 1, .dram_lines = 1, .l2 = 1, .dram = 1 };
	s.counts[0].ld_requests = WARPS;
	s.counts[0].ld_lines = (uint64_t)lines * WARPS;
	s.counts[0].ld_sectors = 4 * s.counts[0].ld_lines;
	end_block(&s, -1, -1);
	struct run_counts c = { .l2_sectors = -1, .dram_read_bytes = read_bytes };
	regions_build(&s.p, gpu_find("h200"), 1, &c);
	const double cycles = c.regions[0].critical_path_cycles;
	run_counts_free(&c);
	return cycles;
}

/* What many SMs wait for at a time was asked for by the one that is nearest to it. */
TEST(lines_that_many_want_come_earlier)
{
	const double all = 128.0 * WARPS;
	const double own = wait_for_memory(1, all), shared = wait_for_memory(1, all / 1e6);
	assert_true(fabs((shared - 1) / (own - 1) - timing.dram_shared_share) < 1e-3);
	const struct sample none = { 0 };
	assert_true(own_of_dram(&none.p, 0) == 1); /* nobody waits */
}

/* Cycles of a warp that waits for @n loads of 32 lines from L2, of each so many sectors. */
static double wait_for_lines(unsigned n, unsigned sectors)
{
	struct sample s = { 0 };
	for (unsigned i = 0; i < n; i++) {
		struct timing_inst *x = add_machine(&s, INST_LOAD, 2, 0, 0);
		x->space = MEMORY_GLOBAL;
		x->origin = (struct load_origin){ .known = true, .l2_lines = 1, .l2 = 1 };
		s.counts[i].ld_requests = WARPS;
		s.counts[i].ld_lines = 32 * WARPS;
		s.counts[i].ld_sectors = sectors * s.counts[i].ld_lines;
	}
	add_machine(&s, INST_FP32, 2, 7, 1);
	end_block(&s, -1, -1);
	s.p.thread_blocks = WARPS; /* of one warp each */
	return cycles(&s);
}

/* An SM takes lines from L2 one after the other, however many they are, whole ones as fast as
 * sectors of them (tests/gpu/micro/wanted.cu). */
TEST(lines_come_one_after_the_other)
{
	const double more = 8 * 32, issued = 8 * 2;
	for (unsigned sectors = 1; sectors <= 4; sectors += 3) {
		const double longer = wait_for_lines(16, sectors) - wait_for_lines(8, sectors);
		assert_true(fabs(longer - issued - more * timing.intake_line_cycles) < 1);
	}
}

/* @n loads that are used at the end, each of which comes from memory once in four times. */
static double wait_for_loads(unsigned n, double l2, unsigned lines)
{
	struct sample s = { 0 };
	for (unsigned i = 0; i < n; i++) {
		struct timing_inst *x = add_inst(&s, INST_LOAD, 1 + (int)i, -1);
		x->space = MEMORY_GLOBAL;
		x->origin = (struct load_origin){ .known = true, .l2 = l2, .dram = 0.25 };
		s.counts[i].ld_requests = WARPS;
		s.counts[i].ld_lines = (uint64_t)lines * WARPS;
	}
	for (unsigned i = 0; i < n; i++)
		add_inst(&s, INST_FP32, 19, 1 + (int)i);
	end_block(&s, -1, -1);
	return cycles(&s);
}

/* Who waits for several loads waits for the slowest. */
TEST(one_late_load_is_enough)
{
	const struct gpu_spec *g = gpu_find("h200");
	const double per_ns = g->clock_mhz * 1e-3, l1 = g->l1_latency_ns * per_ns;
	const double far = (g->dram_latency_ns - g->l1_latency_ns) * per_ns;
	assert_true(fabs(wait_for_loads(1, 0.25, 1) - (l1 + 0.25 * far + 1)) < 0.1);
	assert_true(fabs(wait_for_loads(2, 0.25, 1) - (l1 + (1 - 0.75 * 0.75) * far + 1)) < 0.1);
	/* what another has asked memory for is waited for, though it is no miss */
	assert_true(fabs(wait_for_loads(1, 0, 1) - wait_for_loads(1, 0.25, 1)) < 1e-3);
	/* lanes that walk apart, through two arrays in step */
	const unsigned apart = 2 * (unsigned)timing.stepping_lines;
	assert_true(fabs(wait_for_loads(2, 0.25, apart) - wait_for_loads(1, 0.25, apart)) < 1.5);
}

/* Lines that are waited for together in a loop of @turns, before a barrier. */
static double lines_of_loop(double turns)
{
	struct sample s = { 0 };
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_GLOBAL;
	add_inst(&s, INST_BRANCH, -1, -1)->guard = 1;
	end_block(&s, 0, 1);
	add_inst(&s, INST_BARRIER, -1, -1);
	end_block(&s, -1, -1);
	s.block[0].warp_passes = turns * WARPS;
	struct hyperblocks h;
	hyperblocks_build(&h, &s.p);
	double waits, *lines = lines_waited_for(&h, &waits);
	const double of_loop = lines[0];
	free(lines);
	hyperblocks_free(&h);
	return of_loop;
}

/* Who waits at the barrier waits for the last of the block's warps; of many turns each is late at
 * another time. */
TEST(many_turns_even_out)
{
	const double warps = (double)WARPS / BLOCKS;
	assert_true(fabs(lines_of_loop(1) - warps) < 1e-9);
	assert_true(fabs(lines_of_loop(200) - pow(warps, 0.1)) < 1e-9); /* 100 from one to the next */
}

/* ... whether one loop makes them or several instructions do. */
TEST(many_waits_even_out)
{
	double lines[2];
	for (unsigned many = 0; many < 2; many++) {
		struct sample s = { 0 };
		for (unsigned i = 0; i < (many ? 4 : 1); i++) {
			struct timing_inst *x = add_machine(&s, INST_LOAD, 2, 0, 0);
			x->space = MEMORY_GLOBAL;
			add_machine(&s, INST_FP32, 2, 7, 1);
		}
		end_block(&s, -1, -1);
		struct hyperblocks h;
		hyperblocks_build(&h, &s.p);
		double waits, *of = lines_waited_for(&h, &waits);
		lines[many] = of[0];
		assert_true(fabs(waits - (many ? 4 : 1)) < 1e-9);
		free(of);
		hyperblocks_free(&h);
	}
	const double warps = (double)WARPS / BLOCKS;
	assert_true(fabs(lines[0] - warps) < 1e-9 && fabs(lines[1] - sqrt(warps)) < 1e-9);
}

/* One block's @loads from L2, one after the other, of what was written last, by each of @blocks:
 * how much longer than of what has been read before; a load. @strong: instead, loads that must not
 * see what is old. */
static double longer_for_lines(unsigned loads, double blocks, bool strong, unsigned lines)
{
	double took[2];
	for (unsigned far = 0; far < 2; far++) {
		struct sample s = { 0 };
		for (unsigned i = 0; i < loads; i++) {
			struct timing_inst *x = add_machine(&s, INST_LOAD, 2, 0, 0);
			x->space = MEMORY_GLOBAL;
			x->strong = strong && far;
			x->origin = (struct load_origin){ .known = true, .l2 = 1 };
			struct counts *const c = &s.counts[s.p.n_insts - 1];
			c->ld_requests = WARPS;
			c->ld_lines = c->ld_sectors = WARPS * lines;
			add_machine(&s, INST_FP32, 2, 7, 1);
		}
		end_block(&s, -1, -1);
		s.p.thread_blocks = s.p.warps = s.block[0].warp_passes = blocks;
		struct run_counts c = { .l2_sectors = -1,
			                    .dram_read_bytes = -1,
			                    .far_share = far && !strong };
		regions_build(&s.p, gpu_find("h200"), 1, &c);
		took[far] = c.regions[0].critical_path_cycles;
		run_counts_free(&c);
	}
	return (took[1] - took[0]) / loads / (gpu_find("h200")->clock_mhz * 1e-3);
}

static double longer_for_far(unsigned loads, double blocks, bool strong)
{
	return longer_for_lines(loads, blocks, strong, 1);
}

/* Lanes that read one sector each of many lines come to many pages, of which one is far
 * (tests/gpu/micro/far_lines.cu, spread.cu). */
TEST(one_of_many_pages_is_far)
{
	const double all = timing.written_far_ns;
	assert_true(longer_for_lines(1, 1, false, 4) > 0.55 * all);
	assert_true(longer_for_lines(1, 1, false, 4) < 0.8 * all);
	assert_true(longer_for_lines(1, 1, false, 32) > 0.95 * all);
}

/* A half of what was written last is far from an SM; of many SMs one nearly always has to go there,
 * unless each goes often (tests/gpu/micro/first_loads.cu). */
TEST(what_is_far_counts_by_the_slowest_block)
{
	const double all = timing.written_far_ns;
	assert_true(fabs(longer_for_far(1, 1, false) - all / 2) < 1);
	assert_true(fabs(longer_for_far(1, 64, false) - all) < 1);
	assert_true(fabs(longer_for_far(16, 1, false) - all / 2) < 1);
	assert_true(longer_for_far(16, 64, false) > 0.7 * all &&
	            longer_for_far(16, 64, false) < 0.9 * all);
	assert_true(fabs(longer_for_far(1, 64, true) - all) < 1); /* each goes to where it is at home */
}

/* What is left to wait for a load when the block before it is done, of which all warps ask for
 * @times as much as one is told of. */
static double left_behind(unsigned times)
{
	struct sample s = { 0 };
	add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_GLOBAL;
	end_block(&s, 1, -1);
	for (unsigned i = 0; i < 4; i++)
		s.counts[add_inst(&s, INST_FP64, 2, -1) - s.inst].warp_executed *= times;
	end_block(&s, 2, -1);
	add_inst(&s, INST_FP32, 3, 1);
	end_block(&s, -1, -1);
	s.block[1].successor[1] = 0; /* so that each is a region of its own */
	s.block[0].successor[1] = 0;
	struct run_counts c = build(&s, 1);
	const double left = c.regions[2].critical_path_cycles;
	run_counts_free(&c);
	return left;
}

/* While the others of a block are busy, what a warp has loaded comes nearer. */
TEST(busy_blocks_wait_less)
{
	assert_true(left_behind(1) > left_behind(40) + 20);
	assert_true(left_behind(4000) < 10);
}

/* Loads are put ahead of one store to local memory, and of no more. */
TEST(few_loads_pass_local_stores)
{
	double at[4];
	for (unsigned stores = 1; stores <= 3; stores++) {
		struct sample s = { 0 };
		for (unsigned i = 0; i < stores; i++) {
			add_inst(&s, INST_LOAD, 1, -1)->space = MEMORY_LOCAL;
			add_inst(&s, INST_STORE, -1, 1)->space = MEMORY_LOCAL;
		}
		add_inst(&s, INST_LOAD, 2, -1)->space = MEMORY_GLOBAL;
		add_inst(&s, INST_FP32, 3, 2);
		end_block(&s, -1, -1);
		at[stores] = cycles(&s);
	}
	assert_true(at[2] > at[1] + 20 && at[3] > at[2] + 20);
}

/* Lines of local memory that have left L1 come from L2. */
TEST(local_memory_may_be_far)
{
	double at[2];
	for (unsigned far = 0; far < 2; far++) {
		struct sample s = { 0 };
		struct timing_inst *x = add_inst(&s, INST_LOAD, 1, -1);
		x->space = MEMORY_LOCAL;
		x->origin = (struct load_origin){ .known = true, .l2_lines = far, .l2 = far };
		add_inst(&s, INST_FP32, 2, 1);
		end_block(&s, -1, -1);
		at[far] = cycles(&s);
	}
	const struct gpu_spec *g = gpu_find("h200");
	const double l1 = g->l1_latency_ns, l2 = g->l2_latency_ns, per_ns = g->clock_mhz * 1e-3;
	assert_true(fabs(at[0] - (timing.local_latency_ns * per_ns + 1)) < 1e-2);
	assert_true(fabs(at[1] - at[0] - (l2 - l1) * per_ns) < 1e-2);
}

/* Fragments, a product, fragments again: those of the next product come when this one has what it
 * needs; and of TF32 the second half when the first is there. */
TEST(products_wait_for_fragments)
{
	double at[3];
	for (unsigned times = 1; times <= 2; times++) {
		struct sample s = { 0 };
		for (unsigned i = 0; i < times; i++) {
			struct timing_inst *x = add_inst(&s, INST_LOAD, 1, -1);
			x->space = MEMORY_GLOBAL;
			x->fragment = true;
			add_inst(&s, INST_PRODUCT, 2, 1)->products = 2048;
		}
		end_block(&s, -1, -1);
		at[times] = cycles(&s);
		struct run_counts c = build(&s, 1);
		assert_true(c.regions[0].products == 2048.0 * times * WARPS);
		run_counts_free(&c);
	}
	assert_true(at[2] > 1.9 * at[1]);
	struct sample s = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		struct timing_inst *x = add_inst(&s, INST_LOAD, 1 + (int)i, -1);
		x->space = MEMORY_GLOBAL;
		x->fragment = true;
		x->second_half = i > 0;
	}
	add_inst(&s, INST_PRODUCT, 3, 2);
	end_block(&s, -1, -1);
	assert_true(cycles(&s) > 1.9 * at[1]);
	struct sample chain = { 0 };
	add_inst(&chain, INST_PRODUCT, 1, 1);
	add_inst(&chain, INST_PRODUCT, 1, 1);
	end_block(&chain, -1, -1);
	assert_true(cycles(&chain) == timing.product_cycles + 1);
}

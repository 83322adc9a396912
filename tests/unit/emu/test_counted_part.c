/*
 * Of a long launch only the first blocks are counted: all blocks run, each once, and the counts are
 * those of the counted ones, for all; the same ones whatever the number of threads.
 */
#include "../unit.h"
#include "emu/device.h"

#include <string.h>

/* clang-format off */
static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	/* out[i] = 4000 turns of x = 5 x + turn from in[i]; *sum += 1 for each thread */
	".visible .entry work(.param .u64 in, .param .u64 out, .param .u64 sum)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<2>;\n"
	"ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nld.param.u64 %rd6, [sum];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
	"mad.lo.u32 %r1, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd1, %rd3;\n"
	"add.u64 %rd5, %rd2, %rd3;\nld.global.u32 %r4, [%rd4];\nmov.u32 %r5, 0;\n"
	"loop:\nmad.lo.u32 %r4, %r4, 5, %r5;\nadd.u32 %r5, %r5, 1;\n"
	"setp.lt.u32 %p1, %r5, 400;\n@%p1 bra loop;\nst.global.u32 [%rd5], %r4;\n"
	"red.global.add.u32 [%rd6], 1;\nret;\n}\n"
	/* half of a block's first warp loads as often as that; *sum as there */
	".visible .entry half(.param .u64 in, .param .u64 out, .param .u64 sum)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<3>;\n"
	"ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nld.param.u64 %rd6, [sum];\n"
	"mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p2, %r1, 15;\n@%p2 bra done;\n"
	"mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd1, %rd3;\n"
	"mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
	"loop:\nld.global.u32 %r4, [%rd4];\nadd.u32 %r6, %r6, %r4;\nadd.u32 %r5, %r5, 1;\n"
	"setp.lt.u32 %p1, %r5, 400;\n@%p1 bra loop;\nred.global.add.u32 [%rd2], %r6;\n"
	"done:\nred.global.add.u32 [%rd6], 1;\nret;\n}\n";
/* clang-format on */
#define TURNS 400
#define THREADS 64
#define BLOCKS 3000 /* in more than one wave */
#define N (BLOCKS * THREADS)
#define BYTES (N * sizeof(uint32_t))
#define BLOCK_WORK (2.0 * 4 * TURNS) /* instructions of its warps, and some more */

#define OTHER_BYTES (64 << 20)

struct bench {
	struct emu_device *device;
	struct emu_module *module;
	uint64_t in, out, sum, other, launches;
};

static uint32_t *memory(uint64_t address)
{
	return (uint32_t *)(uintptr_t)address;
}

static struct bench open_bench(void)
{
	struct bench b = { 0 };
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip(); /* which has the addresses of a device itself */
	assert_true(emu_device_new(&b.device, gpu_find("t4"), &err));
	if (!emu_module_load(b.device, code, "test", &b.module, &err))
		fail_msg("%s", err.msg);
	b.in = emu_device_alloc(b.device, BYTES, EMU_MEMORY_DEVICE, NULL);
	b.out = emu_device_alloc(b.device, BYTES, EMU_MEMORY_DEVICE, NULL);
	b.sum = emu_device_alloc(b.device, 4, EMU_MEMORY_DEVICE, NULL);
	b.other = emu_device_alloc(b.device, OTHER_BYTES, EMU_MEMORY_DEVICE, NULL);
	assert_true(b.in && b.out && b.sum && b.other);
	for (uint32_t i = 0; i < N; i++)
		memory(b.in)[i] = i;
	emu_device_mark_written(b.device, b.in, BYTES);
	return b;
}

static void close_bench(struct bench *b)
{
	emu_module_unload(b->device, b->module);
	emu_device_free(b->device);
}

struct how {
	uint64_t enough_work;
	unsigned threads;
	bool part_only, together;
	enum race_check races;
	const char *kernel; /* NULL = work */
};

/* To be freed with run_result_free(). */
static struct run_result launch(struct bench *b, struct how how)
{
	const uint64_t params[3] = { b->in, b->out, b->sum };
	const struct emu_launch_request req = {
		.function = emu_module_function(b->module, how.kernel ? how.kernel : "work"),
		.grid = { how.together ? 256 : BLOCKS, 1, 1 },
		.cooperative = how.together,
		.block = { THREADS, 1, 1 },
		.params = params,
		.number = ++b->launches,
		.counting = EMU_COUNT_ALL,
		.check_races = how.races,
		.enough_work = how.enough_work,
		.part_only = how.part_only,
		.threads = how.threads,
	};
	struct run_result res;
	struct run_findings findings;
	struct err err = { 0 };
	memset(memory(b->out), 0, BYTES);
	*memory(b->sum) = 0;
	emu_device_mark_written(b->device, b->out, BYTES);
	emu_device_mark_written(b->device, b->sum, 4);
	emu_device_traffic(b->device, EMU_SET, b->other, OTHER_BYTES); /* L2 holds nothing else */
	if (!emu_launch(b->device, &req, NULL, &res, &findings, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(findings.n, 0);
	return res;
}

static bool is_done(const struct bench *b, uint32_t i)
{
	uint32_t x = i;
	for (uint32_t turn = 0; turn < TURNS; turn++)
		x = x * 5 + turn;
	return memory(b->out)[i] == x;
}

static void all_done_once(const struct bench *b)
{
	for (uint32_t i = 0; i < N; i++)
		if (!is_done(b, i))
			fail_msg("element %u is wrong", i);
	assert_int_equal(*memory(b->sum), N);
}

/* Blocks are alike: what is counted in some of them is what all would count. */
static void same_counts(const struct run_counts *part, const struct run_counts *all)
{
	assert_int_equal(part->total.warp_executed, all->total.warp_executed);
	assert_int_equal(part->total.thread_executed, all->total.thread_executed);
	assert_int_equal(part->total.ld_sectors, all->total.ld_sectors);
	assert_int_equal(part->blocks_total, BLOCKS);
	assert_true(part->dram_read_bytes > 0.9 * all->dram_read_bytes);
	assert_true(part->dram_read_bytes < 1.1 * all->dram_read_bytes);
}

TEST(all_blocks_run_once_and_the_first_are_counted_for_all)
{
	struct bench b = open_bench();
	struct run_result whole = launch(&b, (struct how){ .threads = 2 });
	all_done_once(&b);
	assert_int_equal(whole.counts.blocks_run, BLOCKS);
	/* within the first wave; behind it; with races looked for, whose blocks run first */
	for (unsigned k = 0; k < 3; k++) {
		const uint64_t enough = (uint64_t)(BLOCK_WORK * (k == 1 ? 1400 : 100));
		uint64_t counted = 0;
		for (unsigned threads = 1; threads < 4; threads++) {
			struct run_result part =
				launch(&b, (struct how){ .enough_work = enough,
			                             .threads = threads,
			                             .races = k == 2 ? RACES_SPREAD : RACES_OFF });
			all_done_once(&b);
			assert_int_equal(part.counts.origin, ORIGIN_SAMPLED);
			assert_true(part.counts.blocks_run < BLOCKS);
			assert_true((double)part.counts.blocks_run * BLOCK_WORK * 1.1 >= (double)enough);
			assert_true(!counted || part.counts.blocks_run == counted);
			counted = part.counts.blocks_run;
			same_counts(&part.counts, &whole.counts);
			run_result_free(&part);
		}
	}
	run_result_free(&whole);
	close_bench(&b);
}

TEST(a_launch_that_is_not_twice_as_long_is_counted_whole)
{
	struct bench b = open_bench();
	struct run_result res = launch(
		&b, (struct how){ .enough_work = (uint64_t)(BLOCK_WORK * BLOCKS * 0.6), .threads = 2 });
	all_done_once(&b);
	assert_int_equal(res.counts.origin, ORIGIN_COUNTED);
	assert_int_equal(res.counts.blocks_run, BLOCKS);
	run_result_free(&res);
	close_bench(&b);
}

TEST(where_only_counts_are_wanted_the_others_do_not_run)
{
	struct bench b = open_bench();
	struct run_result res = launch(&b, (struct how){ .enough_work = (uint64_t)(BLOCK_WORK * 100),
	                                                 .threads = 2,
	                                                 .part_only = true });
	assert_int_equal(*memory(b.sum), res.counts.blocks_run * THREADS);
	assert_true(is_done(&b, 0) && !is_done(&b, N - 1));
	run_result_free(&res);
	close_bench(&b);
}

TEST(blocks_that_run_by_turns_are_all_counted)
{
	struct bench b = open_bench();
	struct run_result res = launch(&b, (struct how){ .enough_work = 1000, .together = true });
	assert_int_equal(*memory(b.sum), 256 * THREADS);
	assert_int_equal(res.counts.origin, ORIGIN_COUNTED);
	run_result_free(&res);
	close_bench(&b);
}

TEST(accesses_of_a_part_of_a_warp_are_more_work_than_an_instruction)
{
	struct bench b = open_bench();
	const double instructions = 5.0 * TURNS * BLOCKS;
	struct run_result res = launch(&b, (struct how){ .enough_work = (uint64_t)(0.6 * instructions),
	                                                 .threads = 2,
	                                                 .kernel = "half" });
	assert_int_equal(*memory(b.sum), N);
	assert_int_equal(res.counts.origin, ORIGIN_SAMPLED);
	assert_true(res.counts.blocks_run < BLOCKS);
	run_result_free(&res);
	close_bench(&b);
}

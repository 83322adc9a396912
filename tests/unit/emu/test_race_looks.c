/* A quick look for races costs little, whatever the kernel does. */
#include "../unit.h"
#include "emu/device.h"

#include <string.h>

#define BLOCKS 512
#define THREADS 256

static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry in_order(.param .u64 at)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd1, [at];\natom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;\nret;\n}\n"
	".visible .entry in_none(.param .u64 at)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd1, [at];\natom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\nret;\n}\n"
	/* each thread adds to a word of its own, in a million turns */
	".visible .entry long_way(.param .u64 at)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
	".reg .pred %p<2>;\nld.param.u64 %rd1, [at];\nmov.u32 %r1, %tid.x;\n"
	"mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nmov.u32 %r2, 0;\n"
	"loop:\nld.global.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%rd3], %r3;\n"
	"add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 1000000;\n@%p1 bra loop;\nret;\n}\n";

/* Of @blocks, with one address as its parameter. */
static struct emu_launch_request request(const struct emu_module *m, const char *kernel,
                                         unsigned blocks, const uint64_t *at, enum race_check how)
{
	return (struct emu_launch_request){
		.function = emu_module_function(m, kernel),
		.grid = { blocks, 1, 1 },
		.block = { THREADS, 1, 1 },
		.params = at,
		.number = 1,
		.counting = EMU_COUNT_ALL,
		.check_races = how,
		.threads = 1,
	};
}

/* In how many blocks races are looked for. */
static uint64_t looked_at(struct emu_device *d, const struct emu_module *m, const char *kernel,
                          enum race_check how)
{
	const uint64_t at = emu_device_alloc(d, 4, EMU_MEMORY_DEVICE, NULL);
	const struct emu_launch_request req = request(m, kernel, BLOCKS, &at, how);
	struct run_result res;
	struct run_findings findings;
	struct err err = { 0 };
	assert_non_null(req.function);
	emu_device_mark_written(d, at, 4);
	if (!emu_launch(d, &req, NULL, &res, &findings, &err))
		fail_msg("%s: %s", kernel, err.msg);
	const uint64_t blocks = res.races.blocks;
	run_result_free(&res);
	return blocks;
}

/* What an atomic with an order hands over grows with each thread that came before. */
TEST(threads_that_all_hand_over_are_looked_at_as_far_as_it_goes)
{
	struct emu_device *d;
	struct emu_module *m;
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip(); /* which has the addresses of a device itself */
	assert_true(emu_device_new(&d, gpu_find("h200"), &err));
	if (!emu_module_load(d, code, "test", &m, &err))
		fail_msg("%s", err.msg);
	assert_true(looked_at(d, m, "in_none", RACES_SPREAD) > BLOCKS / 2);
	const uint64_t some = looked_at(d, m, "in_order", RACES_SPREAD);
	assert_true(some > 4 && some < BLOCKS / 8);
	emu_module_unload(d, m);
	emu_device_free(d);
}

/* One block, long behind the last look. */
static void long_way(struct emu_device *d, const struct emu_module *m, enum race_check how,
                     struct run_counts *counts)
{
	const uint64_t at = emu_device_alloc(d, 4 * THREADS, EMU_MEMORY_DEVICE, NULL);
	const struct emu_launch_request req = request(m, "long_way", 1, &at, how);
	struct run_result res;
	struct run_findings findings;
	struct err err = { 0 };
	uint32_t *const word = (uint32_t *)(uintptr_t)at;
	memset(word, 0, 4 * THREADS);
	emu_device_mark_written(d, at, 4 * THREADS);
	if (!emu_launch(d, &req, NULL, &res, &findings, &err))
		fail_msg("%s", err.msg);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(word[i], 1000000);
	*counts = res.counts;
	run_result_free(&res);
}

/* A thousandth of this block is looked at: the rest of it goes on like any other block, and all of
 * it is counted once. */
TEST(a_block_goes_on_behind_the_last_look)
{
	struct emu_device *d;
	struct emu_module *m;
	struct err err = { 0 };
	struct run_counts without, with;
	if (UNIT_TSAN)
		skip();
	assert_true(emu_device_new(&d, gpu_find("h200"), &err));
	if (!emu_module_load(d, code, "test", &m, &err))
		fail_msg("%s", err.msg);
	long_way(d, m, RACES_OFF, &without);
	long_way(d, m, RACES_SPREAD, &with);
	assert_int_equal(with.total.warp_executed, without.total.warp_executed);
	assert_int_equal(with.total.thread_executed, without.total.thread_executed);
	assert_int_equal(with.total.ld_sectors, without.total.ld_sectors);
	assert_int_equal(with.total.st_sectors, without.total.st_sectors);
	emu_module_unload(d, m);
	emu_device_free(d);
}

/* A quick look for races costs little, whatever the kernel does. */
#include "../unit.h"
#include "emu/device.h"

#define BLOCKS 512
#define THREADS 256

static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry in_order(.param .u64 at)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd1, [at];\natom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;\nret;\n}\n"
	".visible .entry in_none(.param .u64 at)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd1, [at];\natom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\nret;\n}\n";

/* In how many blocks races are looked for. */
static uint64_t looked_at(struct emu_device *d, const struct emu_module *m, const char *kernel,
                          enum race_check how)
{
	const uint64_t at = emu_device_alloc(d, 4, EMU_MEMORY_DEVICE, NULL);
	const struct emu_launch_request req = {
		.function = emu_module_function(m, kernel),
		.grid = { BLOCKS, 1, 1 },
		.block = { THREADS, 1, 1 },
		.params = &at,
		.number = 1,
		.counting = EMU_COUNT_ALL,
		.check_races = how,
		.threads = 1,
	};
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

/*
 * What a device's memory holds in front of a launch is kept and put back, so that the launch can
 * run once more on the same; not where a launch may change more than memory.
 */
#include "../unit.h"
#include "emu/device.h"

#include <string.h>

/* clang-format off */
static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 total;\n"
	".extern .func (.param .b64 p) malloc (.param .b64 n);\n"
	".visible .entry count(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [out];\nmov.u32 %r1, 5;\nred.global.add.u32 [%rd1], %r1;\n"
	"red.global.add.u32 [total], %r1;\nret;\n}\n"
	".visible .entry takes(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [out];\n{\n.param .b64 n;\n.param .b64 p;\nst.param.b64 [n], 64;\n"
	"call (p), malloc, (n);\nld.param.b64 %rd2, [p];\n}\nst.global.u64 [%rd1], %rd2;\nret;\n}\n";
/* clang-format on */

#define BYTES 4096
#define MOST (1 << 20)

struct bench {
	struct emu_device *device;
	struct emu_module *module;
	uint64_t out, total; /* addresses */
};

static struct bench open_bench(void)
{
	struct bench b = { 0 };
	struct err err = { 0 };
	uint64_t bytes;
	if (UNIT_TSAN)
		skip(); /* which has the addresses of a device itself */
	assert_true(emu_device_new(&b.device, gpu_find("h200"), &err));
	if (!emu_module_load(b.device, code, "test", &b.module, &err))
		fail_msg("%s", err.msg);
	assert_true(emu_module_variable(b.module, "total", &b.total, &bytes));
	b.out = emu_device_alloc(b.device, BYTES, EMU_MEMORY_DEVICE, NULL);
	assert_true(b.out);
	memset((void *)(uintptr_t)b.out, 0, BYTES);
	emu_device_mark_written(b.device, b.out, BYTES);
	return b;
}

static void close_bench(struct bench *b)
{
	emu_module_unload(b->device, b->module);
	emu_device_free(b->device);
}

static void launch(struct bench *b, const char *name)
{
	const struct emu_launch_request req = { .function = emu_module_function(b->module, name),
		                                    .grid = { 1, 1, 1 },
		                                    .block = { 1, 1, 1 },
		                                    .params = &b->out,
		                                    .number = 1,
		                                    .threads = 1,
		                                    .counting = EMU_COUNT_NONE };
	struct run_result res;
	struct run_findings findings;
	struct err err = { 0 };
	if (!emu_launch(b->device, &req, NULL, &res, &findings, &err))
		fail_msg("%s", err.msg);
	run_result_free(&res);
}

static uint32_t word(uint64_t address)
{
	return *(const uint32_t *)(uintptr_t)address;
}

static bool take(struct emu_memory_copy **c, const struct bench *b, const char *kernel,
                 uint64_t most)
{
	return emu_memory_copy_take(c, b->device, emu_module_function(b->module, kernel), most);
}

static void test_put_back(void **state)
{
	(void)state;
	struct bench b = open_bench();
	struct emu_memory_copy *c = NULL;
	launch(&b, "count");
	assert_true(take(&c, &b, "count", MOST));
	launch(&b, "count");
	assert_int_equal(word(b.out), 10);
	assert_true(emu_memory_copy_restore(c, b.device));
	assert_int_equal(word(b.out), 5);
	assert_int_equal(word(b.total), 5);
	launch(&b, "count"); /* and a launch that was seen before finds what is there now */
	assert_int_equal(word(b.total), 10);
	/* the copy is used again for more memory */
	const uint64_t more = emu_device_alloc(b.device, 16 * BYTES, EMU_MEMORY_DEVICE, NULL);
	assert_true(take(&c, &b, "count", MOST));
	*(uint32_t *)(uintptr_t)more = 7;
	launch(&b, "count");
	assert_true(emu_memory_copy_restore(c, b.device));
	assert_int_equal(word(b.out), 10);
	assert_int_equal(word(more), 0);
	emu_memory_copy_free(c);
	close_bench(&b);
}

static void test_not_of_other_allocations(void **state)
{
	(void)state;
	struct bench b = open_bench();
	struct emu_memory_copy *c = NULL;
	assert_true(take(&c, &b, "count", MOST));
	const uint64_t more = emu_device_alloc(b.device, BYTES, EMU_MEMORY_DEVICE, NULL);
	assert_true(more);
	assert_false(emu_memory_copy_restore(c, b.device));
	assert_true(emu_device_release(b.device, more));
	assert_true(emu_memory_copy_restore(c, b.device));
	assert_true(emu_device_release(b.device, b.out));
	assert_false(emu_memory_copy_restore(c, b.device));
	emu_memory_copy_free(c);
	close_bench(&b);
}

static void test_not_taken(void **state)
{
	(void)state;
	struct bench b = open_bench();
	struct emu_memory_copy *c = NULL;
	assert_false(take(&c, &b, "takes", MOST)); /* it calls malloc() */
	assert_false(take(&c, &b, "count", BYTES - 1));
	assert_null(c);
	emu_memory_copy_free(c);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_back),
		cmocka_unit_test(test_not_of_other_allocations),
		cmocka_unit_test(test_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

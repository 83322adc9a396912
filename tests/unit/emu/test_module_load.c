/* Modules of a program: what their variables hold when they are loaded. */
#include "../unit.h"
#include "emu/device.h"

#include <string.h>

static const char code[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
						   ".visible .global .align 4 .u32 counter;\n"
						   ".visible .global .align 4 .u32 seven = 7;\n"
						   ".visible .global .align 8 .b8 table[16777220];\n"
						   ".visible .entry none() { ret; }\n";

static const uint32_t *variable(const struct emu_module *m, const char *name, uint64_t *bytes)
{
	uint64_t at = 0;
	assert_true(emu_module_variable(m, name, &at, bytes));
	return (const uint32_t *)(uintptr_t)at;
}

/* Memory is used and given back, then a module comes to lie there. */
TEST(zero_where_something_else_lay)
{
	struct emu_device *d;
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip(); /* which has the addresses of a device itself */
	assert_true(emu_device_new(&d, gpu_find("h200"), &err));
	const uint64_t bytes = 20 << 20;
	const uint64_t at = emu_device_alloc(d, bytes, EMU_MEMORY_DEVICE, NULL);
	assert_true(at);
	memset((void *)(uintptr_t)at, 0x47, bytes);
	assert_true(emu_device_release(d, at));
	struct emu_module *m;
	uint64_t size;
	for (int load = 0; load < 2; load++) {
		if (!emu_module_load(d, code, "test", &m, &err))
			fail_msg("%s", err.msg);
		const uint32_t *counter = variable(m, "counter", &size);
		assert_int_equal(*counter, 0);
		assert_int_equal(*variable(m, "seven", &size), 7);
		const uint32_t *table = variable(m, "table", &size);
		for (uint64_t i = 0; i < size / sizeof *table; i++)
			assert_int_equal(table[i], 0);
		memset((void *)(uintptr_t)counter, 0x47, sizeof *counter);
		memset((void *)(uintptr_t)table, 0x47, size);
		emu_module_unload(d, m);
	}
	emu_device_free(d);
}

/*
 * Memory that is kept from launch to launch: a spare mapping is used where it is large enough, and
 * nothing but buffers holds what an earlier launch left there. Regions of a program lie within the
 * addresses that there are.
 */
#include "../unit.h"
#include "emu/device.h"
#include "emu/memory/memory.h"
#include "model/gpu.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* A buffer and two variables, the second of @bytes. */
static struct arena launch_memory(struct arena_spare *spare, uint64_t bytes)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	const unsigned buffer = arena_add(&a, "A", 1000, 512);
	a.region[buffer].buffer = 0;
	arena_add(&a, "small", 100, 4);
	arena_add(&a, "large", bytes, 4);
	assert_true(arena_map(&a, spare, &err));
	return a;
}

static void fill(const struct arena *a, int value)
{
	for (unsigned i = 0; i < a->n; i++)
		memset(arena_at(a, a->region[i].base), value, a->region[i].size);
}

static void variables_are_zero(const struct arena *a)
{
	for (unsigned i = 0; i < a->n; i++) {
		const uint8_t *at = arena_at(a, a->region[i].base);
		if (a->region[i].buffer >= 0)
			continue;
		assert_int_equal(at[0], 0);
		assert_memory_equal(at, at + 1, a->region[i].size - 1);
	}
}

TEST(a_spare_mapping_is_used_and_clean)
{
	struct arena_spare spare = { 0 };
	struct arena a = launch_memory(&spare, 9 * MIB + 5);
	const uint8_t *host = a.host;
	fill(&a, 0x55);
	arena_free(&a, &spare);
	assert_ptr_equal(spare.host, host);

	static const uint64_t sizes[] = { 9 * MIB + 5, 300, 9 * MIB };
	for (unsigned i = 0; i < 3; i++) {
		a = launch_memory(&spare, sizes[i]);
		assert_ptr_equal(a.host, host);
		assert_null(spare.host); /* taken, not shared */
		variables_are_zero(&a);
		fill(&a, 0x66);
		arena_free(&a, &spare);
	}
	a = launch_memory(&spare, 20 * MIB);
	assert_ptr_not_equal(a.host, host);
	arena_free(&a, &spare);
	assert_true(spare.mapped > 20 * MIB); /* the larger one is kept */
	arena_spare_free(&spare);
	assert_null(spare.host);
}

TEST(not_kept_if_very_large_or_unwanted)
{
	struct arena_spare spare = { 0 };
	struct arena a = launch_memory(&spare, 300 * MIB);
	arena_free(&a, &spare);
	assert_null(spare.host);
	a = launch_memory(NULL, 100);
	arena_free(&a, NULL);
	assert_null(a.host);
}

/* A size whose end would be behind the last address is no size, be the place given or not. */
TEST(no_region_goes_round_the_end_of_addresses)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip(); /* which has those addresses itself */
	assert_true(arena_reserve(&a, (uint64_t)0x210000000000, 64 * MIB, &err));
	const struct arena_region *r = arena_take(&a, 0, 1000, 512);
	const uint64_t base = r->base;
	for (uint64_t less = 0; less < 2 * base; less += base / 4) {
		assert_null(arena_take(&a, 0, UINT64_MAX - less, 512));
		assert_null(arena_take(&a, 4096, UINT64_MAX - (less < 4096 ? less : 0), 1));
	}
	assert_null(arena_take(&a, base + 4096, UINT64_MAX - base, 1));
	assert_int_equal(a.n, 1);
	assert_non_null(arena_take(&a, base + 4096, 100, 1));
	assert_null(arena_find(&a, UINT64_MAX));
	arena_free(&a, NULL);
}

/* A large allocation has pages of 2 MiB for itself: what lies between its end and theirs is
 * nobody's. */
TEST(large_regions_have_pages_of_their_own)
{
	struct arena a = { 0 };
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip();
	assert_true(arena_reserve(&a, (uint64_t)0x210000000000, 64 * MIB, &err));
	const uint64_t large = arena_take(&a, 0, 4000000, 512)->base;
	const uint64_t small = arena_take(&a, 0, 1000, 512)->base;
	const uint64_t next = arena_take(&a, 0, 1000, 512)->base;
	assert_true(small >= large + 4 * MIB);
	assert_true(next < small + 4096);
	assert_true(arena_pages_end(&a) >= small + 2 * MIB - 4096 &&
	            arena_pages_end(&a) <= small + 4 * MIB);
	assert_true(arena_give_back(&a, large));
	assert_true(arena_take(&a, 0, 4100000, 512)->base == large);
	arena_free(&a, NULL);
}

/* A GPU of 141 GB on a machine that has less: what it gives is what the machine has. */
TEST(a_device_has_no_more_than_this_machine)
{
	struct gpu_spec gpu = { .dram_bytes = 1ull << 60 };
	struct emu_device *d;
	struct err err = { 0 };
	struct memory_left left;
	if (UNIT_ASAN || UNIT_TSAN)
		skip(); /* their own memory lies where a device's is */
	if (!emu_device_new(&d, &gpu, &err))
		fail_msg("%s", err.msg);
	assert_true(emu_device_alloc(d, 1000, EMU_MEMORY_DEVICE, NULL) != 0);
	assert_true(emu_device_host_has(d, 0, &left));
	assert_int_equal(emu_device_alloc(d, (uint64_t)left.bytes + 4096, EMU_MEMORY_DEVICE, NULL), 0);
	emu_device_free(d);
}

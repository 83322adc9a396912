/* One warp's access taken apart: sectors, lines, patterns and banks, against counts by hand. */
#include "../unit.h"
#include "model/access_shape.h"

static struct access_sample lanes(unsigned bytes, uint64_t base, int64_t stride)
{
	struct access_sample a = { .bytes_per_lane = (uint8_t)bytes, .mask = 0xffffffffu };
	for (int i = 0; i < 32; i++)
		a.offset[i] = (uint64_t)((int64_t)base + i * stride);
	return a;
}

TEST(strides)
{
	static const struct {
		unsigned bytes;
		uint64_t base;
		int64_t stride;
		enum access_pattern pattern;
		unsigned sectors, lines, used;
	} table[] = {
		{ 4, 0, 4, ACCESS_CONTIGUOUS, 4, 1, 128 }, { 4, 4, 4, ACCESS_MISALIGNED, 5, 2, 128 },
		{ 4, 0, 8, ACCESS_STRIDED, 8, 2, 128 },    { 4, 0, 4096, ACCESS_STRIDED, 32, 32, 128 },
		{ 4, 128, -4, ACCESS_STRIDED, 5, 2, 128 }, { 4, 96, 0, ACCESS_BROADCAST, 1, 1, 4 },
		{ 8, 0, 8, ACCESS_CONTIGUOUS, 8, 2, 256 }, { 16, 0, 16, ACCESS_CONTIGUOUS, 16, 4, 512 },
		{ 1, 0, 1, ACCESS_CONTIGUOUS, 1, 1, 32 },  { 16, 16, 4096, ACCESS_STRIDED, 32, 32, 512 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		/* a base far up, so that negative strides stay addresses */
		struct access_sample a = lanes(table[i].bytes, table[i].base + 65536, table[i].stride);
		struct access_shape sh = access_shape(&a);
		assert_int_equal(sh.pattern, table[i].pattern);
		assert_int_equal(sh.n_sectors, table[i].sectors);
		assert_int_equal(sh.lines, table[i].lines);
		assert_int_equal(sh.used_bytes, table[i].used);
		assert_int_equal(sh.lanes, 32);
		for (unsigned k = 1; k < sh.n_sectors; k++)
			assert_true(sh.sector[k] > sh.sector[k - 1]);
	}
}

/* Neighbours of whom some are switched off are not misaligned; those across a border are. */
TEST(lanes_that_are_off)
{
	static const struct {
		uint32_t mask;
		uint64_t base;
		enum access_pattern pattern;
		unsigned sectors;
	} table[] = {
		{ 0x55555555, 0, ACCESS_LANES_OFF, 4 },  { 0x0000ffff, 0, ACCESS_CONTIGUOUS, 2 },
		{ 0xff0000ff, 0, ACCESS_CONTIGUOUS, 2 }, { 0x01010101, 0, ACCESS_LANES_OFF, 4 },
		{ 0x0000ffff, 4, ACCESS_MISALIGNED, 3 }, { 0x55555555, 8, ACCESS_MISALIGNED, 5 },
		{ 0x000003ff, 0, ACCESS_CONTIGUOUS, 2 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct access_sample a = lanes(4, table[i].base, 4);
		a.mask = table[i].mask;
		const struct access_shape sh = access_shape(&a);
		assert_int_equal(sh.pattern, table[i].pattern);
		assert_int_equal(sh.n_sectors, table[i].sectors);
	}
}

TEST(runs_of_a_tile)
{
	struct access_sample a = lanes(4, 0, 4);
	for (int i = 16; i < 32; i++)
		a.offset[i] += 4096 - 64;
	struct access_shape sh = access_shape(&a);
	assert_int_equal(sh.pattern, ACCESS_RUNS);
	assert_int_equal(sh.runs, 2);
	assert_true(sh.even);
	assert_int_equal(sh.n_sectors, 4);
	assert_int_equal(sh.lines, 2);
	assert_int_equal(sh.needed_sectors, 4);
	assert_int_equal(sh.needed_lines, 1);
	a.offset[31] += 400;
	sh = access_shape(&a);
	assert_int_equal(sh.runs, 3);
	assert_false(sh.even);
}

/* Blocks of 16, 8 and 4 threads a row whose rows walk down columns, the same one or the next; a
 * warp that begins inside a row of 12; and what only looks like one. */
TEST(columns)
{
	static const struct {
		unsigned per_row, from;
		uint64_t stride, next_row;
		enum access_pattern pattern;
		unsigned sectors;
	} table[] = {
		{ 16, 0, 1024, 0, ACCESS_COLUMNS, 16 },   { 16, 0, 1024, 4, ACCESS_COLUMNS, 16 },
		{ 8, 0, 4096, 0, ACCESS_COLUMNS, 8 },     { 8, 0, 4096, 64, ACCESS_COLUMNS, 32 },
		{ 4, 0, 64, 0, ACCESS_COLUMNS, 4 },       { 12, 8, 1024, 32, ACCESS_COLUMNS, 32 },
		{ 2, 0, 4096, 0, ACCESS_GROUPS, 2 },      { 16, 0, 4, 4096, ACCESS_RUNS, 4 },
		{ 2, 0, 4, 4096, ACCESS_RUNS, 16 },       { 16, 0, 0, 4096, ACCESS_GROUPS, 2 },
		{ 4, 2, 4096, 64, ACCESS_SCATTERED, 32 }, { 8, 0, 4, 0, ACCESS_GROUPS, 1 },
		{ 32, 0, 1024, 0, ACCESS_STRIDED, 32 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct access_sample a = lanes(4, 0, 0);
		for (unsigned k = 0; k < 32; k++) {
			const unsigned t = k + table[i].from;
			a.offset[k] =
				t % table[i].per_row * table[i].stride + t / table[i].per_row * table[i].next_row;
		}
		const struct access_shape sh = access_shape(&a);
		assert_int_equal(sh.pattern, table[i].pattern);
		assert_int_equal(sh.n_sectors, table[i].sectors);
		if (sh.pattern == ACCESS_COLUMNS || sh.pattern == ACCESS_STRIDED)
			assert_int_equal(sh.stride, table[i].stride);
	}
}

TEST(inactive_lanes)
{
	struct access_sample a = lanes(4, 0, 4);
	a.mask = 0x55555555u; /* every second lane of a contiguous access is no stride of its own */
	struct access_shape sh = access_shape(&a);
	assert_int_equal(sh.lanes, 16);
	assert_int_equal(sh.pattern, ACCESS_LANES_OFF);
	assert_int_equal(sh.used_bytes, 64);
	assert_int_equal(sh.n_sectors, 4);
	a.mask = 0x80u;
	sh = access_shape(&a);
	assert_int_equal(sh.pattern, ACCESS_ONE_LANE);
	assert_int_equal(sh.lowest, 28);
	a.mask = 0;
	sh = access_shape(&a);
	assert_int_equal(sh.n_sectors, 0);
	assert_int_equal(sh.lowest, 0);
	assert_int_equal(access_banks(&a).passes, 0);
}

/* Every lane somewhere else, wide and unaligned: the table of sectors holds. */
TEST(no_room_is_survived)
{
	struct access_sample a = lanes(255, 31, 100003);
	struct access_shape sh = access_shape(&a);
	assert_int_equal(sh.n_sectors, ACCESS_MAX_SECTORS);
	access_banks(&a);
}

TEST(banks)
{
	static const struct {
		unsigned bytes;
		int64_t stride;
		unsigned passes, ideal;
		bool conflict;
	} table[] = {
		{ 4, 4, 1, 1, false },   { 4, 0, 1, 1, false },   { 4, 8, 2, 1, true },
		{ 4, 128, 32, 1, true }, { 4, 132, 1, 1, false }, { 4, 64, 16, 1, true },
		{ 8, 8, 2, 2, false },   { 16, 16, 4, 4, false }, { 8, 16, 4, 2, true },
		{ 1, 1, 1, 1, false },   { 2, 2, 1, 1, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct access_sample a = lanes(table[i].bytes, 0, table[i].stride);
		struct bank_use b = access_banks(&a);
		assert_int_equal(b.passes, table[i].passes);
		assert_int_equal(b.ideal, table[i].ideal);
		assert_int_equal(b.conflict, table[i].conflict);
	}
}

/* A warp over two rows of a broadcast operand is no gather; a gather of many addresses is one. */
TEST(addresses_in_groups)
{
	struct access_sample a = lanes(4, 0, 0);
	for (int i = 16; i < 32; i++)
		a.offset[i] = 4096;
	struct access_shape sh = access_shape(&a);
	assert_int_equal(sh.pattern, ACCESS_GROUPS);
	assert_int_equal(sh.addresses, 2);
	assert_int_equal(access_excess(&sh), 1);
	a.mask = 0xffffu; /* one of the rows only */
	sh = access_shape(&a);
	assert_int_equal(sh.pattern, ACCESS_BROADCAST);
	assert_int_equal(sh.addresses, 1);
	assert_int_equal(access_excess(&sh), 0);
	a.mask = UINT32_MAX;
	for (unsigned i = 0; i < 32; i++)
		a.offset[i] = i * 7919 % 32 * 1024;
	sh = access_shape(&a);
	assert_int_equal(sh.addresses, 32);
	a.offset[5] += 4;
	sh = access_shape(&a);
	assert_int_equal(sh.pattern, ACCESS_SCATTERED);
	assert_int_equal(access_excess(&sh), 28);
}

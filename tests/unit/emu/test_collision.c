/* Atomics that meet in a unit of L2: passes by words, sectors and units. */
#include "../unit.h"
#include "emu/count/collision.h"

#include <math.h>

#define TIMES 1000

/* Passes of the busiest unit when every lane of a warp wants the word at @first in one request and
 * the one at @second in the next. */
static double passes(uint64_t first, uint64_t second)
{
	struct collision_log *c = collision_log_new(8, 8, 1);
	for (unsigned i = 0; i < 2 * TIMES; i++) {
		uint64_t address[32];
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = i % 2 ? second : first;
		collision_log_add(
			c, &(struct collision){ .address = address, .mask = 0xffffffffu, .bytes = 4 });
	}
	const struct collision_totals t = collision_log_totals(c);
	collision_log_free(c);
	assert_true(t.passes == 2 * TIMES * 32.0);
	return t.unit_passes;
}

TEST(neighbours_share_units)
{
	const double one = TIMES * 32.0;
	assert_true(fabs(passes(0, 0) - 2 * one) < 1);
	assert_true(fabs(passes(0, 252) - 2 * one) < 1); /* of 256 bytes */
	assert_true(fabs(passes(0, 256) - one) < 1);     /* the next ones, another unit */
	assert_true(fabs(passes(0, 512) - 2 * one) < 1); /* which take turns within 1 KiB */
	assert_true(fabs(passes(256, 764) - one) < 1);
	assert_true(fabs(passes(256, 768) - 2 * one) < 1);
	assert_true(fabs(passes(0, 1024) - one) < 1 && fabs(passes(256, 1024) - one) < 1);
}

/* Lanes of one sector but of different words change them in one pass. */
TEST(words_of_a_sector_change_together)
{
	struct collision_log *c = collision_log_new(8, 8, 1);
	uint64_t address[32];
	for (unsigned lane = 0; lane < 32; lane++)
		address[lane] = lane * 4; /* four sectors */
	collision_log_add(c,
	                  &(struct collision){ .address = address, .mask = 0xffffffffu, .bytes = 4 });
	/* whole sectors, each of which takes five sixths of the time */
	assert_true(fabs(collision_log_totals(c).passes - 4 * 5.0 / 6) < 1e-9);
	for (unsigned lane = 0; lane < 32; lane++)
		address[lane] = lane % 8 * 4; /* four lanes a word */
	collision_log_add(c,
	                  &(struct collision){ .address = address, .mask = 0xffffffffu, .bytes = 4 });
	assert_true(fabs(collision_log_totals(c).passes - 8 * 5.0 / 6) < 1e-9);
	collision_log_free(c);
}

/* A grid is cut into 64 groups of waves, the last of which may be short: of 65 waves the first two
 * are one group, whose units work side by side. */
TEST(a_short_wave_is_a_wave)
{
	uint64_t address[32];
	struct collision_log *c = collision_log_new(2, 129, 1);
	for (unsigned k = 0; k < 2; k++) { /* blocks 0 and 2, each in a unit of its own */
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 1024 * k;
		collision_log_add(
			c, &(struct collision){
				   .address = address, .mask = 0xffffffffu, .bytes = 4, .block = 2 * k });
	}
	const double side_by_side = collision_log_totals(c).unit_passes;
	collision_log_free(c);
	c = collision_log_new(2, 128, 1); /* 64 waves: one behind the other */
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 1024 * k;
		collision_log_add(
			c, &(struct collision){
				   .address = address, .mask = 0xffffffffu, .bytes = 4, .block = 2 * k });
	}
	/* in the middle between what follows in order and what spreads over all: root of 2 */
	assert_true(side_by_side > 0);
	assert_true(fabs(collision_log_totals(c).unit_passes / side_by_side - sqrt(2)) < 1e-6);
	collision_log_free(c);
}

/* Lines that lanes look at count once for each warp, those of a unit together. */
/* Passes of the busiest sector where each of 64 waves adds floats to a word of the next sector, so
 * often. */
static double sorted_sums(bool float_data, double *unit_passes)
{
	uint64_t address[32];
	struct collision_log *c = collision_log_new(2, 128, 1);
	for (unsigned i = 0; i < 64 * TIMES; i++) {
		const unsigned wave = i / TIMES;
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 32 * wave;
		collision_log_add(c, &(struct collision){ .address = address,
		                                          .mask = 0xffffffffu,
		                                          .bytes = 4,
		                                          .block = 2 * wave,
		                                          .float_data = float_data });
	}
	const struct collision_totals t = collision_log_totals(c);
	collision_log_free(c);
	*unit_passes = t.unit_passes;
	return t.float_passes;
}

/* Sorted keys: waves come to their sectors one after the other, more so than to their units. */
TEST(waves_wait_for_one_sector_after_the_other)
{
	double units;
	const double all = 64 * 32.0 * TIMES, sectors = sorted_sums(true, &units);
	/* two sectors may be counted as one */
	const double of_one = all / 64 * pow(64, 0.85), of_two = all / 32 * pow(32, 0.85);
	assert_true(sectors > 0.999 * of_one && sectors < 1.001 * of_two);
	/* 2 KiB: of the four units half has to wait */
	assert_true(units > all / 4 && units < all && fabs(units / (all / 4) - 2) < 0.1);
	assert_true(sorted_sums(false, &units) == 0);
}

TEST(looks_are_lines)
{
	uint64_t address[32];
	struct collision_log *c = collision_log_new(64, 64, 1);
	for (unsigned b = 0; b < 64; b++) {
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 4096;
		collision_log_want(
			c, &(struct collision){ .address = address, .mask = 0xffffffffu, .block = b });
	}
	assert_true(collision_log_look_lines(c) == 64);
	struct swap_contest contest = { 0 };
	collision_log_wishes(c, &contest);
	assert_true(contest.n == 64 && contest.lanes == 64 * 32 && contest.stands_for == 1);
	for (unsigned b = 0; b < 64; b++)
		assert_true(contest.wish[b].block == b && contest.wish[b].mask == 0xffffffffu &&
		            contest.wish[b].word[31] == 4096 / SWAP_WORD_BYTES);
	collision_log_free(c);
}

/* Looks within the reach of one unit of L2 wait for one another, though two units share it; those
 * twice as far apart do not. */
TEST(looks_close_together_wait_for_one_unit)
{
	for (uint64_t reach = 512; reach <= 1024; reach += 512) {
		struct collision_log *c = collision_log_new(8, 8, 1);
		const uint64_t address[32] = { 1 << 20, (1 << 20) + reach - 4 };
		for (uint32_t lane = 0; lane < 2; lane++)
			collision_log_want(
				c, &(struct collision){ .address = address, .mask = 1u << lane, .block = lane });
		assert_true(collision_log_look_lines(c) == (reach == 512 ? 2 : 1));
		collision_log_free(c);
	}
}

/* Who swaps without having looked wishes for what it changed. */
TEST(changes_are_wishes)
{
	uint64_t address[32];
	struct collision_log *c = collision_log_new(8, 8, 1);
	for (unsigned lane = 0; lane < 32; lane++)
		address[lane] = 4 * lane;
	struct collision x = {
		.address = address, .mask = 0xff, .bytes = 4, .warp = 3, .swap = true, .changed = 1
	};
	collision_log_add(c, &x);
	x.looked = true;
	collision_log_add(c, &x);
	struct swap_contest contest = { 0 };
	collision_log_wishes(c, &contest);
	assert_true(contest.n == 1 && contest.wish[0].mask == 1 && contest.wish[0].warp == 3);
	assert_true(collision_log_totals(c).swaps == 2 && collision_log_totals(c).swap_tries == 16);
	collision_log_free(c);
}

/* Where there is not room for all wishes, some warps' are kept, all of them. */
TEST(wishes_have_room)
{
	uint64_t address[32] = { 0 };
	struct collision_log *c = collision_log_new(1, 10000, 1);
	for (uint32_t turn = 0; turn < 5; turn++)
		for (unsigned b = 0; b < 10000; b++)
			collision_log_want(
				c, &(struct collision){ .address = address, .mask = 1, .block = b, .turn = turn });
	struct swap_contest contest = { 0 };
	collision_log_wishes(c, &contest);
	assert_true(contest.lanes == 50000 && contest.stands_for == 2);
	assert_true(contest.n > 24000 && contest.n < 26000 && contest.n % 5 == 0);
	for (size_t i = 0; i < contest.n; i++)
		assert_true(contest.wish[i].turn == i % 5);
	collision_log_free(c);
}

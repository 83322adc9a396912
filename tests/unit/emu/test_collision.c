/* Atomics that meet in a unit of L2: passes by words, sectors and chunks of 512 bytes. */
#include "../unit.h"
#include "emu/count/collision.h"

#include <math.h>

#define TIMES 1000

/* Passes of the busiest unit when every lane of a warp wants the word at @first in one request and
 * the one at @second in the next. */
static double passes(uint64_t first, uint64_t second)
{
	struct collision_log *c = collision_log_new(8, 8);
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

TEST(a_chunk_is_of_one_unit)
{
	const double one = TIMES * 32.0;
	assert_true(fabs(passes(0, 0) - 2 * one) < 1);
	assert_true(fabs(passes(0, 252) - 2 * one) < 1); /* of one chunk */
	assert_true(fabs(passes(0, 256) - one) < 1);     /* the next one, another unit */
	assert_true(fabs(passes(256, 764) - 2 * one) < 1);
	assert_true(fabs(passes(1024, 1536) - one) < 1);
}

/* Lanes of one sector but of different words change them in one pass. */
TEST(words_of_a_sector_change_together)
{
	struct collision_log *c = collision_log_new(8, 8);
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

/* A grid is cut into eight groups of waves, the last of which may be short: of nine waves the first
 * two are one group, whose units work side by side. */
TEST(a_short_wave_is_a_wave)
{
	uint64_t address[32];
	struct collision_log *c = collision_log_new(2, 17);
	for (unsigned k = 0; k < 2; k++) { /* blocks 0 and 2, each in a unit of its own */
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 512 * k;
		collision_log_add(
			c, &(struct collision){
				   .address = address, .mask = 0xffffffffu, .bytes = 4, .block = 2 * k });
	}
	const double side_by_side = collision_log_totals(c).unit_passes;
	collision_log_free(c);
	c = collision_log_new(2, 16); /* eight waves: one behind the other */
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 512 * k;
		collision_log_add(
			c, &(struct collision){
				   .address = address, .mask = 0xffffffffu, .bytes = 4, .block = 2 * k });
	}
	/* between what follows in order and what spreads over all; of one wave in the middle, root of
	 * 2, of eight an eighth of that */
	assert_true(side_by_side > 0);
	assert_true(fabs(collision_log_totals(c).unit_passes / side_by_side - pow(2, 0.5 / 8)) < 1e-6);
	collision_log_free(c);
}

/* Blocks of 32 lanes that look at words from @first on, each block's @apart bytes further. */
static struct looks looks_of(unsigned blocks, uint64_t apart, uint32_t turn)
{
	struct collision_log *c = collision_log_new(blocks, blocks);
	for (unsigned b = 0; b < blocks; b++) {
		uint64_t address[32];
		for (unsigned lane = 0; lane < 32; lane++)
			address[lane] = 4096 + apart * b;
		collision_log_want(c,
		                   &(struct collision){
							   .address = address, .mask = 0xffffffffu, .block = b, .turn = turn });
	}
	const struct looks l = collision_log_looks(c, 1);
	collision_log_free(c);
	return l;
}

/* Lanes that have just begun all try where they look. Later they come one by one, and of many only
 * the first do not find it done. */
TEST(first_looks_are_tries)
{
	const struct looks one = looks_of(1, 0, 0), beside = looks_of(64, 512, 0);
	assert_true(fabs(one.tries - 32) < 1e-9);
	assert_true(looks_of(64, 0, 0).tries > 0.7 * 64 * 32); /* all want one word */
	assert_true(beside.tries < 64 * 32 / 16.0);            /* each in a unit of its own */
	assert_true(fabs(looks_of(64, 0, 1).tries - 9 * sqrt(64 * 32)) < 1e-9);
	assert_true(looks_of(64, 0, 1).lines == 64);
	assert_true(fabs(looks_of(1, 0, 1).tries - 32) < 1e-9);
}

/* A word that was seen before is known. */
TEST(words_are_new_once)
{
	struct collision_log *c = collision_log_new(1, 1);
	uint64_t address[32];
	for (unsigned lane = 0; lane < 32; lane++)
		address[lane] = 4096;
	for (uint32_t turn = 0; turn < 3; turn++)
		collision_log_want(
			c, &(struct collision){ .address = address, .mask = 0xffffffffu, .turn = turn });
	assert_true(fabs(collision_log_looks(c, 1).tries - 32) < 1e-9);
	collision_log_free(c);
}

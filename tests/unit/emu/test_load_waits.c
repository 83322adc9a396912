/*
 * Which requests wait for L2 or for memory: by their slowest line, by who asked before, by what is
 * in L2 already.
 */
#include "../unit.h"
#include "emu/count/count.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 32

static double slow_share(const struct load_sum *s, unsigned source)
{
	return s->slow_requests[source] / s->requests;
}

/* Requests of 32 rows, each 4 KB apart: @skew instructions between the rows' steps to their next
 * sector, 0 = all of them at once. */
static struct load_sum walk_rows(unsigned skew)
{
	const struct gpu_spec gpu = { .sm_count = 1, .l2_bytes = 1 << 24 };
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 17, f, 1, 2);
	struct access_log log = { 0 };
	cache_sim_wave_size(c, 1);
	access_log_begin(&log, c);
	for (unsigned step = 0; step < 512; step++) {
		const struct log_request r = { .time = step, .who = 1, .lines = ROWS, .kind = LOG_LOAD };
		for (unsigned row = 0; row < ROWS; row++) {
			const unsigned word = step + skew * row;
			access_log_add(&log, c, 64 * row + word / 32, 1u << (word / 8 % 4), &r);
		}
	}
	struct block_record record = { .log = &log, .start = 0, .end = log.n };
	cache_sim_add_wave(c, &record, 1);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	const struct load_sum lines = cache_sim_load(c, 1);
	assert_true(cache_sim_load(c, 0).lines == 0);
	cache_sim_free(c);
	line_filter_free(f);
	free(log.e);
	return lines;
}

/* One line in eight is slow either way; together they are one request in eight, one by one more
 * than nine in ten. */
TEST(requests_wait_for_their_slowest_line)
{
	const struct load_sum step = walk_rows(0), one_by_one = walk_rows(11);
	assert_true(step.lines == 512 * ROWS && step.requests == 512);
	assert_true(step.slow[FROM_L2] == 64 * ROWS);
	assert_float_equal(slow_share(&step, FROM_L2), 0.125, 0.01);
	assert_in_range((unsigned)one_by_one.slow[FROM_L2], 64 * ROWS, 66 * ROWS);
	assert_true(slow_share(&one_by_one, FROM_L2) > 0.9);
	/* a quarter of the rows at every other step */
	const struct load_sum by_turns = walk_rows(2);
	assert_float_equal(slow_share(&by_turns, FROM_L2), 0.5, 0.01);
	/* ... an eighth from memory: counted, where lines that go together would say 0.6 */
	assert_float_equal(slow_share(&by_turns, FROM_DRAM), 0.5, 0.02);
	/* two sectors come from memory at a time */
	assert_float_equal(slow_share(&step, FROM_DRAM), 0.0625, 0.01);
}

/* The same lines are read by two SMs at the same instants, and by a third one later. */
static struct cache_sim *three_blocks_of(struct line_filter *f, unsigned sms, uint32_t warm_lines,
                                         enum warm_kind kind, double share)
{
	const struct gpu_spec gpu = { .sm_count = sms, .l2_bytes = 1 << 24 };
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 17, f, 1, 3);
	struct access_log log = { 0 };
	struct block_record records[3];
	if (warm_lines)
		assert_true(cache_sim_warm(c, 0, warm_lines, kind, share));
	cache_sim_wave_size(c, 3);
	for (unsigned block = 0; block < 3; block++) {
		access_log_begin(&log, c);
		for (uint32_t line = 0; line < 100; line++) {
			const struct log_request r = {
				.time = line + (block == 2 ? 200 : 0),
				.who = sms == 1 ? block / 2 : block,
				.lines = 1,
				.kind = LOG_LOAD,
			};
			access_log_add(&log, c, line, 15, &r);
		}
		records[block] =
			(struct block_record){ .log = &log, .start = log.block_start, .end = log.n };
	}
	cache_sim_add_wave(c, records, 3);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	free(log.e);
	return c;
}

static struct cache_sim *three_blocks(struct line_filter *f, uint32_t warm_lines,
                                      enum warm_kind kind, double share)
{
	return three_blocks_of(f, 3, warm_lines, kind, share);
}

/* All pairs that were seen are slow together, more than their lines tell. */
TEST(few_pairs_tell_no_more_than_all)
{
	struct load_lines l = { .lines = 10, .of_requests = 100, .pairs = 2 };
	l.slow[FROM_L2] = 5;
	l.slow_pairs[FROM_L2] = 2;
	assert_float_equal(slow_requests(&l, FROM_L2), 0.5, 1e-9);
}

/* @instants of requests of 32 lines each, of which @late lines come from memory. */
static void see_instants(struct load_waits *w, struct load_wait_log *log, unsigned instants,
                         unsigned late)
{
	load_wait_begin(log, 0);
	for (unsigned i = 0; i < instants; i++) {
		for (unsigned line = 0; line < ROWS; line++)
			load_wait_add(log, 0, ROWS, true, line < late, true);
		load_wait_next(log, i + 1);
	}
	load_waits_add(w, (const struct load_wait_log *const[]){ log }, 1, 0, 2);
	load_wait_clear(log);
}

/* At first all requests have a slow line, later none: half of them, however few lines are slow. */
TEST(what_is_slow_at_first_is_not_spread_over_the_launch)
{
	struct load_waits w;
	struct load_wait_log log = { 0 };
	load_waits_init(&w, 1);
	see_instants(&w, &log, 400, 8);
	see_instants(&w, &log, 400, 0);
	const struct load_sum s = load_waits_of(&w, 0);
	assert_true(s.lines == 2 * 800 * ROWS && s.slow[FROM_DRAM] == 2 * 400 * 8);
	assert_float_equal(slow_share(&s, FROM_DRAM), 0.5, 0.01);
	/* a stretch that is not over counts as well */
	see_instants(&w, &log, 1, ROWS);
	const struct load_sum more = load_waits_of(&w, 0);
	assert_true(fabs(more.slow_requests[FROM_DRAM] - s.slow_requests[FROM_DRAM] - 2) < 0.1);
	load_waits_free(&w);
	load_wait_free(&log);
}

/* Of two lines always one is slow, never both: slow lines keep apart, and every request has one. */
TEST(slow_lines_may_keep_apart)
{
	struct load_waits w;
	struct load_wait_log log = { 0 };
	const struct load_wait_log *const logs[] = { &log };
	load_waits_init(&w, 1);
	load_wait_begin(&log, 0);
	for (unsigned i = 0; i < 2048; i++) {
		load_wait_add(&log, 0, 2, true, i % 3 == 0, true);
		load_wait_add(&log, 0, 2, true, i % 3 != 0, true);
		load_wait_next(&log, i + 1);
	}
	load_waits_add(&w, logs, 1, 0, 1);
	const struct load_sum s = load_waits_of(&w, 0);
	assert_float_equal(slow_share(&s, FROM_DRAM), 1, 1e-3);
	load_waits_free(&w);
	load_wait_free(&log);
}

/* All on one SM: the second block, by the same load, misses nothing, as the first has just asked
 * for all of it, and waits as long; the third one finds it in L1. */
TEST(lines_on_their_way_to_l1_are_waited_for)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = three_blocks_of(f, 1, 0, WARM_FOUND, 1);
	const struct load_sum both = cache_sim_load(c, 0), last = cache_sim_load(c, 1);
	assert_true(both.lines == 200 && both.slow[FROM_L2] == 100);
	assert_true(both.slow[LATE] == 200 && both.slow[FROM_DRAM] == 200);
	assert_true(last.lines == 100 && last.slow[LATE] == 0 && last.slow[FROM_DRAM] == 0);
	cache_sim_free(c);
	line_filter_free(f);
}

/* Two SMs read the same lines at the same instant: both wait for memory; a third one comes late
 * and finds them in L2. */
TEST(lines_on_their_way_are_waited_for)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = three_blocks(f, 0, WARM_FOUND, 1);
	for (unsigned block = 0; block < 3; block++) {
		const struct load_sum l = cache_sim_load(c, block);
		assert_true(slow_share(&l, FROM_L2) == 1);
		assert_true(slow_share(&l, FROM_DRAM) == (block < 2));
	}
	assert_true(cache_sim_totals(c).read_bytes == 100 * 128);
	assert_true(cache_sim_totals(c).found_bytes == 0);
	cache_sim_free(c);
	line_filter_free(f);
}

/* What L2 holds before the first block is not read from memory, but told apart, once. Whether it is
 * waited for depends on how much of the launch it is: so far as if it came from there. */
TEST(warm_lines_are_found_in_l2)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = three_blocks(f, 40, WARM_FOUND, 1);
	for (unsigned block = 0; block < 3; block++) {
		const struct load_sum l = cache_sim_load(c, block);
		assert_true(slow_share(&l, FROM_L2) == 1);
		assert_true(l.slow[FROM_DRAM] == (block < 2 ? 100 : 0));
	}
	assert_true(cache_sim_totals(c).read_bytes == 60 * 128);
	assert_true(cache_sim_totals(c).found_bytes == 40 * 128);
	cache_sim_free(c);
	line_filter_free(f);
}

/* What an earlier launch left in L2 costs no memory traffic and no wait for memory; of a part of
 * it, the rest does. */
TEST(kept_lines_cost_nothing)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *all = three_blocks(f, 100, WARM_KEPT, 1);
	const struct load_sum l = cache_sim_load(all, 0);
	assert_true(l.slow[FROM_L2] == 100 && l.slow[FROM_DRAM] == 0);
	assert_true(cache_sim_totals(all).read_bytes == 0 && cache_sim_totals(all).found_bytes == 0);
	assert_true(cache_sim_totals(all).missed_sectors == 0);
	cache_sim_free(all);
	struct cache_sim *half = three_blocks(f, 100, WARM_KEPT, 0.5);
	assert_in_range((unsigned)(cache_sim_totals(half).read_bytes / 128), 40, 60);
	cache_sim_free(half);
	line_filter_free(f);
}

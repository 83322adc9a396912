/* What L2 holds from before a launch is gone once it has left; logs of blocks that read very much.
 */
#include "../unit.h"
#include "emu/count/cache_log.h"

#include <stdlib.h>

#define LINES 8192 /* twice of what L2 holds */

static const struct gpu_spec gpu = { .sm_count = 1, .l2_bytes = LINES * 64.0 };

/* All lines, twice, past L1; all were there before. */
static struct cache_totals read_twice(enum warm_kind kind)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, LINES);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 16, f, 1, 1);
	cache_sim_warm(c, 0, LINES, kind, 1);
	cache_sim_wave_size(c, 1);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	for (uint32_t i = 0; i < 2 * LINES; i++)
		access_log_add(&log, c, i % LINES, 15,
		               &(struct log_request){ .time = i, .kind = LOG_LOAD_L2 });
	assert_int_equal(log.level, 0);
	const struct block_record r = { .log = &log, .start = log.block_start, .end = log.n };
	cache_sim_add_wave(c, &r, 1);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	const struct cache_totals t = cache_sim_totals(c);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
	return t;
}

TEST(what_has_left_is_read_again)
{
	const struct cache_totals kept = read_twice(WARM_KEPT), found = read_twice(WARM_FOUND);
	assert_true(kept.read_bytes == LINES * 128.0 && kept.found_bytes == 0);
	assert_true(found.read_bytes == LINES * 128.0 && found.found_bytes == LINES * 128.0);
}

/* Of one line of 256 so many accesses are kept that their simulation takes no longer than they
 * took.
 */
TEST(a_block_may_read_very_much)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, LINES);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 16, f, 1 << 20, 1);
	cache_sim_wave_size(c, 64);
	const size_t share = cache_sim_block_limit(c);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	for (size_t i = 0; !log.overflow && i < 1000 * share; i++) {
		access_log_add(&log, c, 0, 15, &(struct log_request){ .time = i, .kind = LOG_LOAD });
		assert_true(!log.overflow || log.n > 256 * share);
	}
	assert_true(log.overflow && log.level == LOG_MAX_LEVEL);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
}

/*
 * The cache simulation's input: which lines are followed at each level, and what a log takes when
 * it is full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "emu/count/count.h"

#include <stdlib.h>

#define N_LINES 5000

/* The bits are looked up by words; each must be what the hash says of its line. */
static void bits_follow_the_hash(void **state)
{
	(void)state;
	struct line_filter *f = line_filter_new(false), *none = line_filter_new(true);
	line_filter_cover(f, N_LINES);
	line_filter_cover(none, N_LINES);
	for (unsigned level = 0; level <= LOG_MAX_LEVEL; level++) {
		const uint64_t *bits = line_filter_bits(f, level), *no = line_filter_bits(none, level);
		unsigned followed = 0;
		for (uint32_t line = 0; line < N_LINES; line++) {
			const bool wanted = !(line_hash(line) & ((1u << level) - 1));
			assert_int_equal(bits[line / 64] >> (line % 64) & 1, wanted);
			assert_int_equal(no[line / 64] >> (line % 64) & 1, 0);
			followed += wanted;
		}
		assert_in_range(followed, N_LINES >> level, (N_LINES >> level) + 1);
	}
	line_filter_free(f);
	line_filter_free(none);
}

static const struct gpu_spec small_gpu = { .sm_count = 2, .l2_bytes = 1 << 20 };

/* A block that leaves more than its share: the level rises, what the new one does not follow is
 * dropped and not taken any more, and what it does follow is there in order. */
static void full_log_raises_its_level(void **state)
{
	(void)state;
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 20);
	struct cache_sim *c = cache_sim_new(&small_gpu, 1 << 16, f, 1 << 20);
	cache_sim_wave_size(c, 64);
	const size_t limit = cache_sim_block_limit(c);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	unsigned raised = 0;
	const uint32_t n = (uint32_t)(3 * limit);
	for (uint32_t line = 0; line < n; line++)
		raised += access_log_add(&log, c, line, 15, LOG_LOAD, 7 + line);
	assert_int_equal(raised, 2);
	assert_int_equal(log.level, 2);
	size_t k = 0;
	for (uint32_t line = 0; line < n; line++) {
		if (line_hash(line) & 3)
			continue;
		assert_in_range(k, 0, log.n - 1);
		assert_int_equal(log.e[k].line, line);
		assert_int_equal(log.e[k].time, 7 + line);
		assert_int_equal(log.e[k].part, cache_sim_part_of(line_hash(line)));
		k++;
	}
	assert_int_equal(log.n, k);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_follow_the_hash),
		cmocka_unit_test(full_log_raises_its_level),
	};
	return cmocka_run_group_tests_name("emu_caches", tests, NULL, NULL);
}

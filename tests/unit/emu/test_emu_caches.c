/*
 * The cache simulation's input: which lines are followed at each level, and what a log takes when
 * it is full.
 */
#include "../unit.h"
#include "emu/count/count.h"

#include <math.h>
#include <stdlib.h>

#define N_LINES 5000

/* The bits are looked up by words; each must be what the hash says of its line. */
TEST(bits_follow_the_hash)
{
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
TEST(full_log_raises_its_level)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 20);
	struct cache_sim *c = cache_sim_new(&small_gpu, 1 << 16, f, 1 << 20, 1);
	cache_sim_wave_size(c, 64);
	const size_t limit = cache_sim_block_limit(c);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	unsigned raised = 0;
	const uint32_t n = (uint32_t)(3 * limit);
	for (uint32_t line = 0; line < n; line++)
		raised += access_log_add(&log, c, line, 15,
		                         &(struct log_request){ .time = 7 + line, .kind = LOG_LOAD });
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

/* --- L2 as it is said to work, slowly --- */

#define SETS 512
#define WAYS 16 /* 1 MiB */
struct slow_line {
	uint32_t line, used;
	unsigned valid, dirty;
	bool there;
};
static struct slow_line slow[SETS][WAYS];
static double slow_sectors, slow_read, slow_write;

static unsigned bits(unsigned v)
{
	unsigned n = 0;
	for (; v; v >>= 1)
		n += v & 1;
	return n;
}

static void slow_access(const struct log_entry *e, double weight)
{
	static uint32_t clock;
	struct slow_line *set = slow[line_hash(e->line) % SETS], *hit = NULL, *old = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].there && set[i].line == e->line)
			hit = &set[i];
		if (old->there && (!set[i].there || set[i].used < old->used))
			old = &set[i];
	}
	slow_sectors += weight * bits(e->sectors);
	if (!hit) {
		slow_write += weight * bits(old->dirty);
		*old = (struct slow_line){ .line = e->line, .there = true };
		hit = old;
	}
	if (e->kind == LOG_LOAD_L2) {
		unsigned fetched = 0; /* two sectors at a time, but for what is there */
		for (unsigned pair = 3; pair <= 12; pair <<= 2)
			fetched |= e->sectors & ~hit->valid & pair ? pair & ~hit->valid : 0;
		slow_read += weight * bits(fetched);
		hit->valid |= fetched;
	} else {
		hit->dirty |= e->sectors;
	}
	hit->valid |= e->sectors;
	hit->used = ++clock;
}

#define BLOCKS 4
#define WAVES 3

/* Loads past L1 and stores of whole sectors by several blocks, wave by wave; in the last one half
 * the lines only. Entries of all blocks are taken in the order of their times. */
TEST(l2_is_least_recently_used)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&small_gpu, 1 << 16, f, 1, 1);
	uint32_t random = 1;
	for (unsigned wave = 0; wave < WAVES; wave++) {
		const unsigned level = wave == WAVES - 1;
		cache_sim_wave_size(c, BLOCKS);
		struct access_log log = { 0 };
		struct block_record records[BLOCKS];
		for (unsigned b = 0; b < BLOCKS; b++) {
			access_log_begin(&log, c);
			log.level = level;
			for (uint64_t time = b % 3; time < 9000; time += 1 + b) {
				random = random * 1664525 + 1013904223;
				const struct log_request r = { .time = time,
					                           .written = 32,
					                           .kind = random >> 12 & 1 ? LOG_STORE : LOG_LOAD_L2 };
				access_log_add(&log, c, random >> 18, 1 + (random >> 8) % 15, &r);
			}
			assert_int_equal(log.level, level); /* nothing was too much */
			records[b] = (struct block_record){
				.log = &log, .start = log.block_start, .end = log.n, .level = level
			};
		}
		for (uint64_t time = 0; time < 9000; time++)
			for (unsigned b = 0; b < BLOCKS; b++)
				for (size_t k = records[b].start; k < records[b].end; k++)
					if (log.e[k].time == time)
						slow_access(&log.e[k], 1 << level);
		cache_sim_add_wave(c, records, BLOCKS);
		for (unsigned part = CACHE_PARTS; part-- > 0;)
			cache_sim_part(c, part);
		const struct cache_totals t = cache_sim_totals(c);
		double left = 0; /* in L2, not yet written */
		for (unsigned i = 0; i < SETS; i += 1u << level)
			for (unsigned k = 0; k < WAYS; k++)
				left += bits(slow[i][k].dirty) << level;
		assert_true(slow_write > 0 && left > 0);
		assert_true(t.l2_sectors == slow_sectors);
		assert_true(t.read_bytes == 32 * slow_read);
		assert_true(t.write_bytes == 32 * slow_write);
		assert_true(t.late_write_bytes == 32 * left);
		free(log.e);
	}
	cache_sim_free(c);
	line_filter_free(f);
}

/* --- partitions of L2 --- */

/* Lines 0 to @lines - 1, written first if @written, then read twice past L1 by @readers SMs of two;
 * L2 has room for 8192. */
static struct cache_totals read_twice(unsigned partitions, uint32_t lines, unsigned readers,
                                      bool written)
{
	const struct gpu_spec gpu = { .sm_count = 2, .l2_bytes = 1 << 20, .l2_partitions = partitions };
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 16, f, 1, 1);
	cache_sim_follow_first(c, lines);
	cache_sim_wave_size(c, 2);
	struct access_log log = { 0 };
	struct block_record records[2];
	for (unsigned sm = 0; sm < 2; sm++) {
		access_log_begin(&log, c);
		for (unsigned turn = !written; turn < 3 && (sm < readers || !turn); turn++)
			for (uint32_t line = 0; line < lines; line++) {
				const struct log_request r = { .time = turn * lines + line,
					                           .written = 32,
					                           .kind = turn ? LOG_LOAD_L2 : LOG_STORE };
				access_log_add(&log, c, line, 15, &r);
			}
		assert_int_equal(log.level, 0);
		records[sm] = (struct block_record){ .log = &log, .start = log.block_start, .end = log.n };
	}
	cache_sim_add_wave(c, records, 2);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	const struct cache_totals t = cache_sim_totals(c);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
	return t;
}

/* What all SMs read takes its room in every partition, unless it was written: L2 holds half of it;
 * what one SM reads has its home in either. */
TEST(partitions_keep_copies)
{
	assert_true(read_twice(1, 6000, 2, false).read_bytes == 6000 * 128);
	assert_true(read_twice(2, 3500, 2, false).read_bytes == 3500 * 128);
	const struct cache_totals all = read_twice(2, 6000, 2, false);
	assert_true(all.read_bytes > 1.9 * 6000 * 128);
	assert_true(all.first_bytes == 6000 * 128 && all.missed_sectors * 32 == all.read_bytes);
	const struct cache_totals one = read_twice(2, 6000, 1, false);
	assert_true(one.read_bytes > 1.4 * 6000 * 128 && one.read_bytes < 1.6 * 6000 * 128);
	const struct cache_totals dirty = read_twice(2, 6000, 2, true);
	assert_true(dirty.read_bytes == 0 && dirty.write_bytes == 0);
	assert_true(dirty.late_write_bytes == 6000 * 128);
}

/* A line is one access of memory however much of it comes; its sectors one by one are several. */
TEST(accesses_of_memory_are_counted)
{
	assert_true(read_twice(1, 3000, 1, false).memory_accesses == 3000);
	const struct gpu_spec gpu = { .sm_count = 1, .l2_bytes = 1 << 20 };
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 16, f, 1, 1);
	cache_sim_wave_size(c, 1);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	for (uint32_t i = 0; i < 400; i++) /* each sector of a line at its own time: pairs come */
		access_log_add(&log, c, i / 4, 1u << i % 4,
		               &(struct log_request){ .time = i, .kind = LOG_LOAD_L2 });
	const struct block_record record = { .log = &log, .start = 0, .end = log.n };
	cache_sim_add_wave(c, &record, 1);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	assert_true(cache_sim_totals(c).memory_accesses == 200);
	assert_true(cache_sim_totals(c).read_bytes == 100 * 128);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
}

/* --- memory of the host --- */

/* Lines 100 to 199 are the host's: read once by all SMs that share L2, written each time, and in
 * no figure of device memory. */
TEST(lines_of_the_host_are_no_device_memory)
{
	const struct gpu_spec gpu = { .sm_count = 1, .l2_bytes = 1 << 20 };
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 16, f, 1, 1);
	cache_sim_wave_size(c, 1);
	cache_sim_host(c, 40, 10);
	cache_sim_host(c, 100, 100);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	static const enum log_kind kinds[] = { LOG_LOAD_L2, LOG_LOAD_L2, LOG_STORE, LOG_STORE };
	for (unsigned turn = 0; turn < 4; turn++)
		for (uint32_t line = 50; line < 250; line++)
			access_log_add(&log, c, line, 15,
			               &(struct log_request){
							   .time = turn * 200 + line, .written = 32, .kind = kinds[turn] });
	const struct block_record record = { .log = &log, .start = 0, .end = log.n };
	cache_sim_add_wave(c, &record, 1);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	const struct cache_totals t = cache_sim_totals(c);
	assert_true(t.host_read_bytes == 100 * 128 && t.host_write_bytes == 2 * 100 * 128);
	assert_true(t.read_bytes == 100 * 128 && t.write_bytes + t.late_write_bytes == 100 * 128);
	assert_true(t.l2_sectors == 4 * 200 * 4 && t.l2_written == 2 * 200 * 4);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
}

/* --- memory that is kept for the next launch --- */

/* What is read from memory when the one SM loads so many lines through caches of one large shape.
 */
static double read_once(uint32_t lines)
{
	const struct gpu_spec gpu = { .sm_count = 1, .l2_bytes = 1 << 27 };
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 17);
	struct cache_sim *c = cache_sim_new(&gpu, 1 << 17, f, 1, 1);
	cache_sim_wave_size(c, 1);
	struct access_log log = { 0 };
	access_log_begin(&log, c);
	for (uint32_t line = 0; line < lines; line++)
		access_log_add(&log, c, line, 15, &(struct log_request){ .time = line, .kind = LOG_LOAD });
	assert_int_equal(log.level, 0);
	const struct block_record record = { .log = &log, .start = 0, .end = log.n };
	cache_sim_add_wave(c, &record, 1);
	for (unsigned part = 0; part < CACHE_PARTS; part++)
		cache_sim_part(c, part);
	const double bytes = cache_sim_totals(c).read_bytes;
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
	return bytes;
}

/* Caches of one shape: what a launch of few or of many accesses left is not found by the next. */
TEST(caches_begin_empty)
{
	const struct cache_totals first = read_twice(2, 3000, 2, false);
	assert_true(first.read_bytes == 3000 * 128);
	read_twice(2, 2000, 2, true);
	const struct cache_totals second = read_twice(2, 3000, 2, false);
	assert_memory_equal(&first, &second, sizeof first);
	static const uint32_t lines[] = { 10, 40000, 40000, 500, 500, 40000 };
	for (unsigned i = 0; i < 6; i++)
		assert_true(read_once(lines[i]) == 128.0 * lines[i]);
}

/* Lines that loads ask L2 for: @many others once each beside @few that each block wants. */
static struct cache_totals wanted(uint32_t few, uint32_t many)
{
	struct line_filter *f = line_filter_new(false);
	line_filter_cover(f, 1 << 16);
	struct cache_sim *c = cache_sim_new(&small_gpu, 1 << 16, f, 1, 1);
	cache_sim_wave_size(c, BLOCKS);
	struct access_log log = { 0 };
	struct block_record records[BLOCKS];
	const struct log_request r = { .kind = LOG_LOAD_L2 };
	for (unsigned b = 0; b < BLOCKS; b++) {
		access_log_begin(&log, c);
		for (uint32_t line = 0; line < few; line++)
			access_log_add(&log, c, line, 1, &r);
		for (uint32_t line = 0; line < many; line++)
			access_log_add(&log, c, few + b * many + line, 1, &r);
		records[b] = (struct block_record){ .log = &log, .start = log.block_start, .end = log.n };
	}
	cache_sim_add_wave(c, records, BLOCKS);
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		cache_sim_part(c, i);
	const struct cache_totals t = cache_sim_totals(c);
	free(log.e);
	cache_sim_free(c);
	line_filter_free(f);
	return t;
}

/* How few lines are wanted is known, however often; a line that all want counts for many. */
TEST(lines_wanted_by_many)
{
	const struct cache_totals hot = wanted(20, 0), cold = wanted(0, 1000), both = wanted(20, 10);
	assert_true(hot.load_requests == 20 * BLOCKS);
	assert_true(fabs(hot.load_lines - 20) < 0.1 * 20);
	assert_true(fabs(cold.load_lines - 1000 * BLOCKS) < 0.05 * 1000 * BLOCKS);
	assert_true(both.load_lines > 20 && both.load_lines < 20 + 10 * BLOCKS);
}

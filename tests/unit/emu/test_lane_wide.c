/* Sets of lanes, 16 lanes at a time and one by one, against pairs of lanes compared in turn. */
#include "../unit.h"
#include "base/text.h"
#include "emu/count/lane_sets.h"
#include "emu/count/lane_wide.h"
#include "emu/count/repeat.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 20000

struct access {
	uint64_t address[32];
	uint32_t mask;
	unsigned bytes;
};

static unsigned pick(uint64_t *rng, unsigned n)
{
	return (unsigned)(rand_next(rng) >> 33) % n;
}

/* Lanes near each other, far apart, in a row, or at few places; all of them, some, or one. */
static struct access draw(uint64_t *rng)
{
	static const unsigned spans[] = { 1, 4, 16, 64, 1024, 1 << 20 };
	struct access a = { .bytes = 1u << pick(rng, 5) };
	const uint64_t base = UINT64_C(0x7f0000000000) + 16 * (uint64_t)pick(rng, 1 << 20);
	const unsigned span = spans[pick(rng, 6)], row = pick(rng, 8);
	for (unsigned i = 0; i < 32; i++)
		a.address[i] = base + a.bytes * (uint64_t)(row ? pick(rng, span) : i);
	if (pick(rng, 16) == 0)
		a.address[pick(rng, 32)] -= UINT64_C(1) << (32 + pick(rng, 8));
	a.mask = pick(rng, 3) ? 0xffffffffu : (uint32_t)(rand_next(rng) >> 32);
	if (pick(rng, 16) == 0)
		a.mask = 1u << pick(rng, 32);
	a.mask = a.mask ? a.mask : 1;
	return a;
}

static bool on(const struct access *a, unsigned lane)
{
	return a->mask >> lane & 1;
}

static struct lane_sets compare_all(const struct access *a, unsigned shift)
{
	struct lane_sets s = { 0 };
	for (unsigned i = 0; i < 32; i++)
		for (unsigned k = 0; on(a, i) && k <= i; k++)
			if (on(a, k) && a->address[i] >> shift == a->address[k] >> shift) {
				s.first[i] = (uint8_t)k;
				s.firsts |= (uint32_t)(k == i) << i;
				break;
			}
	return s;
}

static bool same_sets(const struct access *a, const struct lane_sets *x, const struct lane_sets *y)
{
	bool same = x->firsts == y->firsts;
	for (unsigned i = 0; i < 32; i++)
		same &= !on(a, i) || x->first[i] == y->first[i];
	return same;
}

TEST(lanes_that_share_a_key)
{
	static const unsigned shifts[] = { 0, 2, 3, 4, 5, 6, 7 };
	uint64_t rng = 1;
	unsigned far = 0;
	for (unsigned n = 0; n < ROUNDS; n++) {
		const struct access a = draw(&rng);
		const unsigned shift = shifts[pick(&rng, 7)];
		const struct lane_sets expected = compare_all(&a, shift);
		struct lane_sets s;
		lane_sets_one_by_one(&s, a.address, a.mask, shift);
		assert_true(same_sets(&a, &s, &expected));
		if (lane_wide() && lane_wide_sets(&s, NULL, a.address, a.mask, shift))
			assert_true(same_sets(&a, &s, &expected));
		else
			far++;
		lane_sets_find(&s, a.address, a.mask, shift);
		assert_true(same_sets(&a, &s, &expected));
	}
	if (lane_wide())
		assert_true(far > 0 && far < ROUNDS / 8);
	struct lane_sets none;
	lane_sets_find(&none, (const uint64_t[32]){ 0 }, 0, 0);
	assert_int_equal(none.firsts, 0);
}

TEST(how_many_lanes_share_a_key)
{
	static const unsigned shifts[] = { 0, 2, 5, 7 };
	uint64_t rng = 6;
	unsigned most = 0;
	for (unsigned n = 0; n < 2 * ROUNDS; n++) {
		const struct access a = draw(&rng);
		const unsigned shift = shifts[pick(&rng, 4)];
		const struct lane_sets expected = compare_all(&a, shift);
		struct lane_sets s;
		struct lane_ranks r;
		uint8_t lanes[32] = { 0 };
		lane_wide_allow(n & 1);
		lane_sets_rank(&s, &r, a.address, a.mask, shift);
		assert_true(same_sets(&a, &s, &expected));
		for (unsigned i = 0; i < 32; i++)
			if (on(&a, i)) {
				assert_int_equal(r.rank[i], ++lanes[expected.first[i]]);
				most = r.rank[i] > most ? r.rank[i] : most;
			}
	}
	lane_wide_allow(true);
	assert_int_equal(most, 32);
}

TEST(the_busiest_bank)
{
	uint64_t rng = 2;
	for (unsigned n = 0; n < ROUNDS; n++) {
		struct access a = draw(&rng);
		const unsigned shift = 2 + pick(&rng, 4), banks = 128u >> shift;
		unsigned lanes[32] = { 0 }, most = 0;
		a.mask = pick(&rng, 50) ? a.mask : 0;
		for (unsigned i = 0; i < 32; i++)
			if (on(&a, i) && ++lanes[a.address[i] >> shift & (banks - 1)] > most)
				most++;
		assert_int_equal(lane_busiest_one_by_one(a.address, a.mask, banks, shift), most);
		if (lane_wide())
			assert_int_equal(lane_wide_busiest(a.address, a.mask, banks, shift), most);
	}
}

/* In a row, at one place, or nearly so; offsets as those before, or not; near and far. */
TEST(how_all_lanes_lie)
{
	uint64_t rng = 4;
	unsigned kinds[3] = { 0 }, alike = 0, far = 0;
	for (unsigned n = 0; n < ROUNDS; n++) {
		struct access a = draw(&rng);
		struct repeat r[2] = { { .mask = 0 } };
		enum lane_layout layout[2];
		bool near[2];
		const unsigned kind = pick(&rng, 3);
		for (unsigned i = 0; i < 32 && kind; i++)
			a.address[i] = a.address[0] + (kind == 1 ? 0 : i * a.bytes);
		if (pick(&rng, 3) == 0)
			a.address[1 + pick(&rng, 31)] += a.bytes;
		for (unsigned wide = 0; wide < 2; wide++) {
			lane_wide_allow(wide);
			layout[wide] = probe_layout(a.address, 0xffffffffu, a.bytes);
			near[wide] = repeat_look(&r[wide], a.address, 0xffffffffu, a.bytes);
			r[wide].has_global = true;
			repeat_look(&r[wide], a.address, 0xffffffffu, a.bytes);
		}
		assert_int_equal(layout[0], layout[1]);
		assert_int_equal(near[0], near[1]);
		if (near[0]) {
			assert_memory_equal(r[0].offset, r[1].offset, sizeof r[0].offset);
			assert_true(r[0].has_global && r[1].has_global); /* the same once more */
			a.address[pick(&rng, 32)] ^= a.bytes;
			for (unsigned wide = 0; wide < 2; wide++) {
				lane_wide_allow(wide);
				repeat_look(&r[wide], a.address, 0xffffffffu, a.bytes);
			}
			assert_int_equal(r[0].has_global, r[1].has_global);
			alike += r[0].has_global;
		}
		far += !near[0];
		kinds[layout[0]]++;
	}
	assert_true(kinds[LAYOUT_ANY] && kinds[LAYOUT_SAME] && kinds[LAYOUT_ROW] && far && !alike);
}

TEST(lines_and_sectors)
{
	uint64_t rng = 3;
	for (unsigned n = 0; n < ROUNDS; n++) {
		const struct access a = draw(&rng);
		const struct lane_sets words = compare_all(&a, 0), sectors = compare_all(&a, 5);
		const struct lane_sets lines = compare_all(&a, 7);
		struct global_probe p;
		unsigned at = 0;
		lane_wide_allow(n % 2);
		probe_global(a.address, a.mask, a.bytes, LAYOUT_ANY, &p);
		assert_int_equal(p.bytes, a.bytes * (unsigned)__builtin_popcount(words.firsts));
		assert_int_equal(p.sectors, __builtin_popcount(sectors.firsts));
		assert_int_equal(p.lines, __builtin_popcount(lines.firsts));
		assert_int_equal(p.n, p.lines);
		for (uint32_t m = lines.firsts; m; m &= m - 1, at++) {
			unsigned mask = 0;
			for (unsigned i = 0; i < 32; i++)
				if (on(&a, i) && lines.first[i] == (unsigned)__builtin_ctz(m))
					mask |= 1u << (a.address[i] >> 5 & 3);
			assert_int_equal(p.line[at], a.address[__builtin_ctz(m)] >> 7);
			assert_int_equal(p.sector_mask[at], mask);
		}
	}
}

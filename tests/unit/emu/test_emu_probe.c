/*
 * Sectors, lines, bytes and bank passes of random accesses against a slow restatement of the rules:
 * sets of everything touched, and bank passes by their definition. What is remembered of an
 * arrangement must cost what looking at it costs.
 */
#include "../unit.h"
#include "emu/count/count.h"
#include "base/text.h"

#include <stdlib.h>

static unsigned distinct_units(const uint64_t *a, uint32_t mask, unsigned access, unsigned unit)
{
	uint64_t seen[32 * 32];
	unsigned n = 0;
	for (unsigned i = 0; i < 32; i++)
		for (unsigned b = 0; b < access && (mask >> i & 1); b++) {
			const uint64_t u = (a[i] + b) / unit;
			unsigned k = 0;
			while (k < n && seen[k] != u)
				k++;
			if (k == n)
				seen[n++] = u;
		}
	return n;
}

/* Distinct 4-byte words of the busiest bank. */
static unsigned passes(const uint64_t *a, uint32_t mask, unsigned access)
{
	unsigned most = 0;
	for (unsigned bank = 0; bank < 32; bank++) {
		uint64_t seen[32 * 8];
		unsigned n = 0;
		for (unsigned i = 0; i < 32; i++)
			for (unsigned b = 0; b < access && (mask >> i & 1); b++) {
				const uint64_t word = (a[i] + b) / 4;
				unsigned k = 0;
				if (word % 32 != bank)
					continue;
				while (k < n && seen[k] != word)
					k++;
				if (k == n)
					seen[n++] = word;
			}
		most = n > most ? n : most;
	}
	return most;
}

static void make(uint64_t *rng, uint64_t *a, uint32_t *mask, unsigned access)
{
	const unsigned kind = (unsigned)(rand_next(rng) % 7);
	const uint64_t base = rand_next(rng) % 64 * access, stride = rand_next(rng) % 40;
	*mask = rand_next(rng) % 3 ? 0xffffffffu : (uint32_t)rand_next(rng);
	if (!*mask)
		*mask = 1u << (rand_next(rng) % 32);
	for (uint64_t i = 0; i < 32; i++) {
		uint64_t at;
		switch (kind) {
		case 0: /* apart by a constant */ at = i * stride; break;
		case 1: /* backwards */ at = (31 - i) * stride; break;
		case 2: /* anywhere */ at = rand_next(rng) % 4096; break;
		case 3: /* near */ at = rand_next(rng) % 48; break;
		case 4: /* the same for all */ at = stride; break;
		case 5: /* two rows */ at = i % 16 + i / 16 * stride * 8; break;
		default: /* pairs */ at = (i ^ 1) / 2 * (1 + stride % 3); break;
		}
		a[i] = base + at * access;
	}
}

TEST(global_is_as_defined)
{
	uint64_t rng = 1;
	for (unsigned round = 0; round < 20000; round++) {
		const unsigned access = 1u << round % 5;
		uint64_t a[32];
		uint32_t mask;
		struct global_probe p;
		make(&rng, a, &mask, access);
		for (unsigned hint = 0; hint < 2; hint++) {
			probe_global(a, mask, access, hint ? probe_layout(a, mask, access) : LAYOUT_ANY, &p);
			assert_int_equal(p.sectors, distinct_units(a, mask, access, 32));
			assert_int_equal(p.lines, distinct_units(a, mask, access, 128));
			assert_int_equal(p.bytes, distinct_units(a, mask, access, 1));
			unsigned sectors = 0;
			for (unsigned i = 0; i < p.n; i++)
				sectors += (unsigned)__builtin_popcount(p.sector_mask[i]);
			assert_int_equal(sectors, p.sectors);
		}
	}
}

TEST(shared_is_as_defined)
{
	uint64_t rng = 2;
	for (unsigned round = 0; round < 20000; round++) {
		const unsigned access = 1u << round % 5;
		uint64_t a[32];
		uint32_t mask;
		make(&rng, a, &mask, access);
		unsigned want = 0;
		/* stores: whole warps, halves, quarters */
		const unsigned group = access <= 4 ? 32 : access == 8 ? 16 : 8;
		for (unsigned g = 0; g < 32; g += group)
			want +=
				passes(a, mask & (group == 32 ? 0xffffffffu : ((1u << group) - 1) << g), access);
		const struct shared_probe st =
			probe_shared(a, mask, access, probe_layout(a, mask, access), true);
		const struct shared_probe ld = probe_shared(a, mask, access, LAYOUT_ANY, false);
		assert_int_equal(st.wavefronts, want);
		unsigned groups = 0; /* with an active lane: a pass each at least */
		for (unsigned g = 0; g < 32; g += group)
			groups += (mask & (group == 32 ? 0xffffffffu : ((1u << group) - 1) << g)) != 0;
		assert_int_equal(st.ideal, groups);
		if (access <= 4)
			assert_int_equal(ld.wavefronts, want);
		else
			assert_true(ld.wavefronts <= want && ld.wavefronts >= passes(a, mask, access));
	}
}

static void compare_global(struct repeat *r, const uint64_t *a, uint32_t mask, unsigned access)
{
	struct global_probe want;
	const uint64_t first = a[__builtin_ctz(mask)] >> 7;
	probe_global(a, mask, access, LAYOUT_ANY, &want);
	const struct global_probe *got = repeat_global(r, a, access);
	assert_int_equal(got->sectors, want.sectors);
	assert_int_equal(got->lines, want.lines);
	assert_int_equal(got->bytes, want.bytes);
	assert_int_equal(got->n, want.n);
	for (unsigned i = 0; i < want.n; i++) {
		assert_int_equal(first + got->line[i], want.line[i]);
		assert_int_equal(got->sector_mask[i], want.sector_mask[i]);
	}
}

/* One memory for many accesses: the same lanes elsewhere, other lanes, other masks, in any order.
 */
TEST(repeated_costs_the_same)
{
	uint64_t rng = 3, a[32], at[32];
	unsigned again = 0;
	for (unsigned access = 1; access <= 16; access *= 2) {
		struct repeat r = { 0 };
		uint32_t mask = 0;
		for (unsigned round = 0; round < 20000; round++) {
			if (!mask || rand_next(&rng) % 4 == 0)
				make(&rng, a, &mask, access);
			else
				again++;
			if (rand_next(&rng) % 16 == 0) /* another mask, the same addresses */
				mask ^= 1u << rand_next(&rng) % 32;
			if (!mask)
				continue;
			const uint64_t move = (rand_next(&rng) % 3 ? rand_next(&rng) % 4096 * 128
			                                           : rand_next(&rng) % 64 * access);
			uint64_t least = UINT64_MAX, most = 0;
			for (unsigned i = 0; i < 32; i++) {
				at[i] = a[i] + move;
				if (!(mask >> i & 1)) {
					at[i] = rand_next(&rng); /* must not matter */
					continue;
				}
				least = at[i] < least ? at[i] : least;
				most = at[i] + access > most ? at[i] + access : most;
			}
			assert_true(repeat_look(&r, at, mask, access));
			const uint64_t first = at[__builtin_ctz(mask)];
			assert_int_equal(first + (uint64_t)r.low, least);
			assert_int_equal(first + (uint64_t)r.high, most);
			assert_true(r.aligned);
			compare_global(&r, at, mask, access);
			const bool store = access % 3 == 1; /* one instruction does one or the other */
			const struct shared_probe want = probe_shared(at, mask, access, LAYOUT_ANY, store),
									  got = repeat_shared(&r, at, access, store);
			assert_int_equal(got.wavefronts, want.wavefronts);
			assert_int_equal(got.ideal, want.ideal);
		}
	}
	assert_true(again > 50000);
	/* more than 2 GiB apart: not described, and nothing forgotten */
	struct repeat r = { 0 };
	for (unsigned i = 0; i < 32; i++)
		a[i] = 4096 + 4u * (i ^ 1);
	assert_true(repeat_look(&r, a, 0xffffffffu, 4));
	a[7] += (uint64_t)1 << 31;
	assert_false(repeat_look(&r, a, 0xffffffffu, 4));
	a[7] = 4096 + 4 * 6 + 2; /* misaligned */
	assert_true(repeat_look(&r, a, 0xffffffffu, 4));
	assert_false(r.aligned);
}

/* The textbook strides, 32-bit words: greatest common divisor with 32. */
TEST(strides_conflict)
{
	for (unsigned stride = 1; stride <= 64; stride++) {
		uint64_t a[32];
		unsigned gcd = stride, b = 32;
		while (b) {
			const unsigned r = gcd % b;
			gcd = b;
			b = r;
		}
		for (unsigned i = 0; i < 32; i++)
			a[i] = 4u * i * stride;
		assert_int_equal(probe_shared(a, 0xffffffffu, 4, LAYOUT_ANY, false).wavefronts, gcd);
	}
}

/* Loads of 8 and 16 bytes by pairs of equal lanes share a pass; stores do not (seen on an H200). */
TEST(equal_pairs_merge)
{
	uint64_t a[32];
	for (unsigned i = 0; i < 32; i++)
		a[i] = i / 2 * 8u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 8, LAYOUT_ANY, false).wavefronts, 1);
	assert_int_equal(probe_shared(a, 0xffffffffu, 8, LAYOUT_ANY, true).wavefronts, 2);
	for (unsigned i = 0; i < 32; i++)
		a[i] = i * 16u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 16, LAYOUT_ANY, false).wavefronts, 4);
	for (unsigned i = 0; i < 32; i++)
		a[i] = i / 2 * 16u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 16, LAYOUT_ANY, false).wavefronts, 2);
}

/* Masks of an 11 by 11 block at the edges of an image, on an H200: 16 lanes at one place are served
 * at once, whatever lanes they are. */
TEST(wide_loads_of_one_place)
{
	static const struct {
		uint32_t mask;
		unsigned waves;
	} rows[] = { { 0xffffffffu, 2 }, { 0x01ffffffu, 2 }, { 0xe0fc1f83u, 2 }, { 0x3f07e0fcu, 2 },
		         { 0x01f83f07u, 1 }, { 0x000fc1f8u, 1 }, { 0xff800000u, 1 }, { 0x00000003u, 1 } };
	uint64_t a[32];
	for (unsigned l = 0; l < 32; l++)
		a[l] = 48;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(probe_shared(a, rows[i].mask, 16, LAYOUT_SAME, false).wavefronts,
		                 rows[i].waves);
		assert_int_equal(probe_shared(a, rows[i].mask, 16, LAYOUT_ANY, false).wavefronts,
		                 rows[i].waves);
	}
	assert_int_equal(probe_shared(a, 0x01f83f07u, 16, LAYOUT_SAME, true).wavefronts, 4);
}

/* Wavefronts and ideal of one load by a whole warp, as Nsight Compute 2025.3 showed them on an H200
 * (smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld, memory_l1_wavefronts_shared_ideal).
 */
TEST(wide_loads_as_measured)
{
	static const struct {
		const char *what;
		unsigned char element[32];
		unsigned waves16, ideal16, waves8, ideal8;
	} rows[] = {
#define LANES(f)                                                                                \
	{                                                                                           \
		f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), \
			f(14), f(15), f(16), f(17), f(18), f(19), f(20), f(21), f(22), f(23), f(24), f(25), \
			f(26), f(27), f(28), f(29), f(30), f(31)                                            \
	}
#define UNIFORM(l) 0
#define HALVES(l) (l / 16)
#define QUARTERS(l) (l / 8)
#define FOURS(l) (l / 4)
#define TWOS(l) (l / 2)
#define MOD16(l) (l % 16)
#define MOD8(l) (l % 8)
#define MOD4(l) (l % 4)
#define MOD2(l) (l % 2)
#define ROW(l) (l)
#define STRIDE2(l) (2 * l)
#define MOD16_STRIDE2(l) (l % 16 * 2)
#define QUARTERS8(l) (l / 8 * 8)
#define FOURS8(l) (l / 4 * 8)
#define LANES_X(l) (l % 2 + l / 8 * 2)
#define LANES_Y(l) (l / 2 % 4)
#define HALVES8(l) (l / 16 * 8)
#define SPREAD4(l) (l & ~3)
#define SWAPPED(l) (l ^ 1)
		{ "uniform", LANES(UNIFORM), 2, 2, 1, 1 },   { "l/16", LANES(HALVES), 2, 2, 1, 1 },
		{ "l/8", LANES(QUARTERS), 2, 2, 1, 1 },      { "l/4", LANES(FOURS), 2, 2, 1, 1 },
		{ "l/2", LANES(TWOS), 2, 2, 1, 1 },          { "l%16", LANES(MOD16), 4, 4, 2, 2 },
		{ "l%8", LANES(MOD8), 4, 4, 2, 2 },          { "l%4", LANES(MOD4), 4, 4, 2, 2 },
		{ "l%2", LANES(MOD2), 2, 2, 1, 1 },          { "l", LANES(ROW), 4, 4, 2, 2 },
		{ "2l", LANES(STRIDE2), 8, 4, 4, 2 },        { "l%16*2", LANES(MOD16_STRIDE2), 8, 4, 4, 2 },
		{ "l/8*8", LANES(QUARTERS8), 4, 4, 2, 2 },   { "l/4*8", LANES(FOURS8), 8, 4, 4, 2 },
		{ "l%2+l/8*2", LANES(LANES_X), 2, 2, 1, 1 }, { "l/2%4", LANES(LANES_Y), 2, 2, 1, 1 },
		{ "l/16*8", LANES(HALVES8), 2, 2, 1, 1 },    { "l&~3", LANES(SPREAD4), 4, 4, 2, 2 },
		{ "l^1", LANES(SWAPPED), 4, 4, 2, 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t a16[32], a8[32];
		for (unsigned l = 0; l < 32; l++) {
			a16[l] = 16u * rows[i].element[l];
			a8[l] = 8u * rows[i].element[l];
		}
		const struct shared_probe wide = probe_shared(a16, 0xffffffffu, 16, LAYOUT_ANY, false);
		const struct shared_probe two = probe_shared(a8, 0xffffffffu, 8, LAYOUT_ANY, false);
		if (wide.wavefronts != rows[i].waves16 || wide.ideal != rows[i].ideal16 ||
		    two.wavefronts != rows[i].waves8 || two.ideal != rows[i].ideal8)
			fail_msg("%s: 16 bytes %u of %u, 8 bytes %u of %u", rows[i].what, wide.wavefronts,
			         wide.ideal, two.wavefronts, two.ideal);
	}
}

/*
 * Sectors, lines, bytes and bank passes of random accesses against a slow restatement of the rules:
 * sets of everything touched, and bank passes by their definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/emu/probe.h"
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
		case 0: /* apart by a constant */
			at = i * stride;
			break;
		case 1: /* backwards */
			at = (31 - i) * stride;
			break;
		case 2: /* anywhere */
			at = rand_next(rng) % 4096;
			break;
		case 3: /* near */
			at = rand_next(rng) % 48;
			break;
		case 4: /* the same for all */
			at = stride;
			break;
		case 5: /* two rows */
			at = i % 16 + i / 16 * stride * 8;
			break;
		default: /* pairs */
			at = (i ^ 1) / 2 * (1 + stride % 3);
			break;
		}
		a[i] = base + at * access;
	}
}

static void global_is_as_defined(void **state)
{
	(void)state;
	uint64_t rng = 1;
	for (unsigned round = 0; round < 20000; round++) {
		const unsigned access = 1u << round % 5;
		uint64_t a[32];
		uint32_t mask;
		struct global_probe p;
		make(&rng, a, &mask, access);
		for (unsigned hint = 0; hint < 2; hint++) {
			probe_global(a, mask, access, hint ? probe_shape(a, mask, access) : SHAPE_ANY, &p);
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

static void shared_is_as_defined(void **state)
{
	(void)state;
	uint64_t rng = 2;
	for (unsigned round = 0; round < 20000; round++) {
		const unsigned access = 1u << round % 5;
		uint64_t a[32];
		uint32_t mask;
		make(&rng, a, &mask, access);
		const unsigned bytes = distinct_units(a, mask, access, 1);
		unsigned want = 0;
		/* stores: whole warps, halves, quarters */
		const unsigned group = access <= 4 ? 32 : access == 8 ? 16 : 8;
		for (unsigned g = 0; g < 32; g += group)
			want += passes(a, mask & (group == 32 ? 0xffffffffu : ((1u << group) - 1) << g), access);
		const struct shared_probe st = probe_shared(a, mask, access, probe_shape(a, mask, access),
		                                            true);
		const struct shared_probe ld = probe_shared(a, mask, access, SHAPE_ANY, false);
		assert_int_equal(st.waves, want);
		assert_int_equal(st.ideal, access <= 4 || bytes < 128 ? 1 : (bytes + 127) / 128);
		if (access <= 4)
			assert_int_equal(ld.waves, want);
		else
			assert_true(ld.waves <= want && ld.waves >= passes(a, mask, access));
	}
}

/* The textbook strides, 32-bit words: greatest common divisor with 32. */
static void strides_conflict(void **state)
{
	(void)state;
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
		assert_int_equal(probe_shared(a, 0xffffffffu, 4, SHAPE_ANY, false).waves, gcd);
	}
}

/* Loads of 8 and 16 bytes by pairs of equal lanes share a pass; stores do not (seen on an H200). */
static void equal_pairs_merge(void **state)
{
	(void)state;
	uint64_t a[32];
	for (unsigned i = 0; i < 32; i++)
		a[i] = i / 2 * 8u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 8, SHAPE_ANY, false).waves, 1);
	assert_int_equal(probe_shared(a, 0xffffffffu, 8, SHAPE_ANY, true).waves, 2);
	for (unsigned i = 0; i < 32; i++)
		a[i] = i * 16u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 16, SHAPE_ANY, false).waves, 4);
	for (unsigned i = 0; i < 32; i++)
		a[i] = i / 2 * 16u;
	assert_int_equal(probe_shared(a, 0xffffffffu, 16, SHAPE_ANY, false).waves, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_is_as_defined),
		cmocka_unit_test(shared_is_as_defined),
		cmocka_unit_test(strides_conflict),
		cmocka_unit_test(equal_pairs_merge),
	};
	return cmocka_run_group_tests_name("emu_probe", tests, NULL, NULL);
}

/* Wavefronts of 128-bit shared loads by lanes and units, as an H200 counted them
 * (tests/gpu/h200-2026-11-23/micro/wide_loads.jsonl). */
#include "../unit.h"
#include "emu/count/probe.h"

/* Lane l reads unit l / a % b * c + l / d % e * f of 16 bytes. */
struct row {
	uint32_t mask;
	unsigned a, b, c, d, e, f, wavefronts;
};

TEST(lanes_that_are_off_free_the_lower_half)
{
	static const struct row rows[] = {
		{ 0xffffffff, 1, 8, 1, 1, 1, 0, 4 },  { 0x7fffffff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0xfffffffe, 1, 8, 1, 1, 1, 0, 4 },  { 0x8000ffff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0x0000ffff, 1, 8, 1, 1, 1, 0, 1 },  { 0xffff0000, 1, 8, 1, 1, 1, 0, 2 },
		{ 0x0f0f0000, 1, 8, 1, 1, 1, 0, 2 },  { 0x01ff01ff, 1, 8, 1, 1, 1, 0, 3 },
		{ 0x0f0f0f0f, 1, 4, 2, 1, 1, 0, 3 },  { 0xf0f0f0f0, 1, 4, 2, 1, 1, 0, 4 },
		{ 0x00ffffff, 1, 4, 1, 8, 4, 4, 2 },  { 0x0000ffff, 1, 4, 1, 8, 4, 8, 2 },
		{ 0x0000ffff, 1, 32, 1, 1, 1, 0, 2 }, { 0x0000f00f, 1, 32, 1, 1, 1, 0, 1 },
		{ 0xffffffff, 2, 16, 1, 1, 1, 0, 2 }, { 0x55555555, 1, 8, 1, 1, 1, 0, 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		uint64_t address[32];
		for (unsigned l = 0; l < 32; l++)
			address[l] = 16 * (l / r->a % r->b * r->c + l / r->d % r->e * r->f);
		const struct shared_probe load = probe_shared(address, r->mask, 16, LAYOUT_ANY, false);
		const struct shared_probe store = probe_shared(address, r->mask, 16, LAYOUT_ANY, true);
		if (load.wavefronts != r->wavefronts)
			fail_msg("row %zu: %u wavefronts, the card took %u", i, load.wavefronts, r->wavefronts);
		assert_true(store.wavefronts >= load.wavefronts);
	}
}

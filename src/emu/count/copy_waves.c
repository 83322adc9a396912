/*
 * Wavefronts of copies from global to shared memory.
 *
 * By an H200's counters of every kernel of ours that copies so (tests/gpu/h200-2026-11-27): a copy
 * through L1 is read from its banks as a load is, and meets the banks of both sides at once. One
 * past L1 brings lines as L2 sends them: each 128-byte line of the one side that meets one of the
 * other is a wavefront, however its quads change places. Lanes that only write zeros read nothing.
 */
#include "emu/count/copy_waves.h"

#include "emu/count/probe.h"

static unsigned lowest_lane(uint32_t m)
{
	return (unsigned)__builtin_ctz(m);
}

/* No global line: what zeros come from. */
#define NO_LINE UINT64_MAX

static unsigned pairs_of_lines(const struct lane_copies *c)
{
	uint64_t from[32], to[32];
	unsigned n = 0;
	for (uint32_t m = c->mask; m; m &= m - 1) {
		const unsigned lane = lowest_lane(m);
		const uint64_t source = c->zeros >> lane & 1 ? NO_LINE : c->from[lane] >> 7;
		const uint64_t target = c->to[lane] >> 7;
		unsigned i = 0;
		while (i < n && (from[i] != source || to[i] != target))
			i++;
		if (i == n) {
			from[n] = source;
			to[n++] = target;
		}
	}
	return n;
}

/* Lanes that take part in a wavefront: 32 words' worth. */
static unsigned through_l1(const struct lane_copies *c)
{
	const unsigned group = 128 / c->bytes;
	unsigned n = 0;
	for (unsigned first = 0; first < 32; first += group) {
		const uint32_t lanes = (group < 32 ? ((1u << group) - 1) << first : ~0u) & c->mask;
		const uint32_t read = lanes & ~c->zeros;
		unsigned most = 0;
		if (lanes)
			most = probe_shared(c->to, lanes, c->bytes, LAYOUT_ANY, true).wavefronts;
		if (read) {
			const unsigned waves =
				probe_shared(c->from, read, c->bytes, LAYOUT_ANY, true).wavefronts;
			most = waves > most ? waves : most;
		}
		n += most;
	}
	return n;
}

unsigned copy_wavefronts(const struct lane_copies *c)
{
	return c->past_l1 ? pairs_of_lines(c) : through_l1(c);
}

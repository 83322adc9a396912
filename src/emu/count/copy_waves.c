/*
 * Wavefronts of copies from global to shared memory, found from an H200's counters: all those of
 * our kernels, and 490 of 508 patterns of one warp (tests/gpu/h200-2026-11-30/micro; others but one
 * are random and come within three). Sectors: 500 of the 508, others are random, too.
 *
 * Through L1: lanes whose words meet in a bank of L1 are read one after the other, whichever of
 * them is needed first; lanes whose words meet in a bank of shared memory are written one after the
 * other. What was read before, for lanes written earlier, goes in one wavefront, each further read
 * in one of its own. Past L1: L2 sends sectors of 32 bytes. A wavefront takes
 * those of one global line to one shared line that fill the same halves and all move by as many
 * sectors, or change places by the same exclusive or. Where all lanes write zeros none is read.
 * Lanes that only write zeros count as the others, or by where the machine code says which they
 * are: in P0, then none is read; in P1 to P6, then those that are read come first, and all lines of
 * shared memory once more, each in as many wavefronts as its sectors that are read move in,
 * whatever lines of global memory they are of, at least one; or in a register (.ZFILL), then they
 * join those that are read from any line, and all wavefronts count twice (zero_copies.cu; launches
 * of hgemm/mma and hgemm/wgmma).
 */
#include "emu/count/copy_waves.h"

static unsigned lowest_lane(uint32_t m)
{
	return (unsigned)__builtin_ctz(m);
}

/* --- through L1 --- */

/* Of the lanes of @left those that meet no lane before them in a bank; lanes outside @real touch
 * none. */
static uint32_t first_fit(const uint64_t *address, uint32_t left, uint32_t real, unsigned bytes)
{
	const uint32_t words = bytes >= 16 ? 0xf : bytes == 8 ? 3 : 1;
	uint32_t used = 0, fit = 0;
	for (uint32_t m = left; m; m &= m - 1) {
		const unsigned lane = lowest_lane(m);
		const uint32_t banks = real >> lane & 1 ? words << (address[lane] >> 2 & 31) : 0;
		if (used & banks)
			continue;
		used |= banks;
		fit |= 1u << lane;
	}
	return fit;
}

/* Which read brings each lane's words: reads[i] = the lanes of the i-th. Returns how many. */
static unsigned find_reads(const struct lane_copies *c, uint32_t lanes, uint32_t reads[32])
{
	unsigned n = 0;
	for (uint32_t left = lanes; left; left &= ~reads[n++])
		reads[n] = first_fit(c->from, left, ~c->zeros, c->bytes);
	return n;
}

static unsigned through_l1(const struct lane_copies *c)
{
	const unsigned group = 128 / c->bytes;
	unsigned n = 0;
	for (unsigned first = 0; first < 32; first += group) {
		const uint32_t lanes = group < 32 ? ((1u << group) - 1) << first : ~0u;
		uint32_t reads[32], here = 0; /* lanes whose words were read */
		const unsigned n_reads = find_reads(c, lanes & c->mask, reads);
		for (uint32_t left = lanes & c->mask, now; left; left &= ~now) {
			now = first_fit(c->to, left, ~0u, c->bytes);
			n += (now & here) != 0;
			for (unsigned i = 0; i < n_reads; i++) {
				const bool more = now & reads[i] & ~here;
				n += more;
				here |= more ? reads[i] : 0;
			}
		}
	}
	return n;
}

/* --- past L1 --- */

/* A sector that goes to another. */
struct sector {
	uint64_t from, to;
	bool swaps; /* its halves change places */
	bool zeros;
	unsigned halves; /* which of them are copied */
};

/* Of lanes that write one place the last one does. */
static bool is_last(const struct lane_copies *c, unsigned lane)
{
	for (uint32_t m = lane < 31 ? c->mask & ~0u << (lane + 1) : 0; m; m &= m - 1)
		if (c->to[lowest_lane(m)] == c->to[lane])
			return false;
	return true;
}

static bool none_read(const struct lane_copies *c)
{
	return !(c->mask & ~c->zeros) || c->form == COPY_NOT_READ;
}

static unsigned find_sectors(const struct lane_copies *c, struct sector *s)
{
	const bool nothing_read = none_read(c), apart = c->form >= COPY_APART;
	unsigned n = 0;
	for (uint32_t m = c->mask; m; m &= m - 1) {
		const unsigned lane = lowest_lane(m);
		if (!is_last(c, lane))
			continue;
		const uint64_t to = c->to[lane], from = nothing_read ? to : c->from[lane];
		const bool swaps = (from ^ to) >> 4 & 1,
				   zeros = !nothing_read && apart && c->zeros >> lane & 1;
		unsigned i = 0;
		while (i < n && (s[i].from != from >> 5 || s[i].to != to >> 5 || s[i].swaps != swaps ||
		                 s[i].zeros != zeros))
			i++;
		if (i == n)
			s[n++] =
				(struct sector){ .from = from >> 5, .to = to >> 5, .swaps = swaps, .zeros = zeros };
		s[i].halves |= 1u << (from >> 4 & 1);
	}
	return n;
}

/* @any_line: whatever lines of global memory they are of. */
static bool together(const struct sector *a, const struct sector *b, bool any_line)
{
	return (any_line || a->from >> 2 == b->from >> 2 || a->zeros || b->zeros) &&
	       a->to >> 2 == b->to >> 2 && a->swaps == b->swaps && a->halves == b->halves;
}

/* Wavefronts of the sectors from @i on that go with it, which are seen then. */
static unsigned waves_with(const struct sector *s, unsigned n, unsigned i, bool any_line,
                           uint32_t *seen)
{
	unsigned moves = 0, exclusive = 0; /* bit = by how much */
	for (unsigned k = 0; k < n; k++) {
		if (*seen >> k & 1 || !together(&s[i], &s[k], any_line))
			continue;
		*seen |= 1u << k;
		moves |= 1u << ((s[k].to - s[k].from) & 3);
		exclusive |= 1u << ((s[k].to ^ s[k].from) & 3);
	}
	const int a = __builtin_popcount(moves), b = __builtin_popcount(exclusive);
	return (unsigned)(a < b ? a : b);
}

/* Those that are read first: zeros join them, not the other way. @seen are no longer looked at. */
static unsigned waves_of(const struct sector *s, unsigned n, bool any_line, uint32_t seen)
{
	unsigned waves = 0;
	for (unsigned zeros = 0; zeros < 2; zeros++)
		for (unsigned i = 0; i < n; i++)
			if (!(seen >> i & 1) && s[i].zeros == zeros)
				waves += waves_with(s, n, i, any_line, &seen);
	return waves;
}

/* Lines of shared memory all of whose sectors are zeros. */
static unsigned lines_of_zeros(const struct sector *s, unsigned n)
{
	unsigned lines = 0;
	for (unsigned i = 0; i < n; i++) {
		bool counts = s[i].zeros;
		for (unsigned k = 0; k < n && counts; k++)
			counts = s[k].to >> 2 != s[i].to >> 2 || (s[k].zeros && k >= i);
		lines += counts;
	}
	return lines;
}

static unsigned past_l1(const struct lane_copies *c)
{
	struct sector s[32];
	const unsigned n = find_sectors(c, s);
	uint32_t zeros = 0;
	for (unsigned i = 0; i < n; i++)
		zeros |= (uint32_t)s[i].zeros << i;
	if (c->form == COPY_APART && zeros)
		return waves_of(s, n, false, zeros) + waves_of(s, n, true, zeros) + lines_of_zeros(s, n);
	const unsigned waves = waves_of(s, n, false, 0);
	return c->form == COPY_TWICE ? 2 * waves : waves;
}

unsigned copy_wavefronts(const struct lane_copies *c)
{
	return c->past_l1 ? past_l1(c) : through_l1(c);
}

unsigned copy_sectors(const struct lane_copies *c, unsigned touched_sectors)
{
	uint64_t from[32], to[32];
	unsigned n = 0;
	if (!c->past_l1 || c->bytes != 16)
		return touched_sectors;
	for (uint32_t m = c->mask & ~c->zeros; m; m &= m - 1) {
		const unsigned lane = lowest_lane(m);
		from[n] = c->from[lane] >> 7;
		to[n] = c->to[lane] >> 5;
		unsigned i = 0;
		while (from[i] != from[n] || to[i] != to[n])
			i++;
		n += i == n;
	}
	return n;
}

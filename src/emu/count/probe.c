/*
 * Sectors, lines and wavefronts of one warp access.
 *
 * Rules confirmed on an H200 with 206 access patterns and 3,376 random ones: sectors are distinct
 * 32-byte sectors at any access width, lines distinct 128-byte lines. Shared memory: the largest
 * number of distinct words in one of 32 banks; 64-bit accesses go by half warps, 128-bit by
 * quarter warps; loads whose lanes are pairwise equal (lane ^ 1 or lane ^ 2) share a wavefront
 * where that is free of conflicts, stores never do. Of 128-bit loads that is so by half warps.
 */
#include "emu/count/probe.h"

#include "emu/count/lane_sets.h"
#include "emu/count/lane_wide.h"
#include "emu/lane/lane.h"

static unsigned lowest_lane(uint32_t m)
{
	return (unsigned)__builtin_ctz(m);
}

enum lane_layout probe_layout(const uint64_t *address, uint32_t mask, unsigned access)
{
	const unsigned first = lowest_lane(mask);
	const uint32_t rest = mask & (mask - 1);
	if (!rest)
		return LAYOUT_SAME;
	const unsigned second = lowest_lane(rest);
	const uint64_t low = address[first];
	const unsigned scale = (unsigned)__builtin_ctz(access);
	const bool row = address[second] != low;
	uint64_t differ = 0;
	if (mask == 0xffffffffu && lane_wide())
		return lane_wide_layout(address, access, row);
	if (mask == 0xffffffffu && row)
		for (unsigned i = 0; i < 32; i++)
			differ |= (address[i] - low) ^ (uint64_t)i << scale;
	else if (mask == 0xffffffffu)
		for (unsigned i = 0; i < 32; i++)
			differ |= address[i] ^ low;
	else
		for (uint32_t m = rest; m && !differ; m &= m - 1) {
			const unsigned i = lowest_lane(m);
			differ = address[i] ^ (low + (row ? (uint64_t)(i - first) << scale : 0));
		}
	return differ ? LAYOUT_ANY : row ? LAYOUT_ROW : LAYOUT_SAME;
}

/* Sectors of line @line within [low, high]. */
static uint8_t sectors_between(uint64_t line, uint64_t low, uint64_t high)
{
	const unsigned first = low >> 7 < line ? 0 : (unsigned)(low >> 5 & 3);
	const unsigned last = high >> 7 > line ? 3 : (unsigned)(high >> 5 & 3);
	return (uint8_t)((2u << last) - (1u << first));
}

static void probe_run(uint64_t low, unsigned bytes, struct global_probe *p)
{
	const uint64_t high = low + bytes - 1;
	p->n = 0;
	for (uint64_t line = low >> 7; line <= high >> 7; line++) {
		p->line[p->n] = line;
		p->sector_mask[p->n++] = sectors_between(line, low, high);
	}
	p->lines = p->n;
	p->sectors = (uint32_t)((high >> 5) - (low >> 5) + 1);
	p->bytes = bytes;
}

/* The sectors of its line that an access of @access bytes at @address touches. */
static uint8_t sectors_at(uint64_t address, unsigned access)
{
	const unsigned first = (unsigned)(address >> 5 & 3);
	const unsigned last = (unsigned)((address + access - 1) >> 5 & 3);
	return (uint8_t)((2u << last) - (1u << first));
}

/* Lanes anyhow: lines in the order of their first lanes. */
static void probe_sets(const uint64_t *address, uint32_t mask, unsigned access,
                       struct global_probe *p)
{
	struct lane_sets words, lines;
	uint8_t at[32]; /* of a line's first lane */
	lane_sets_find(&words, address, mask, 0);
	lane_sets_find(&lines, address, words.firsts, 7);
	p->n = 0;
	for (uint32_t m = lines.firsts; m; m &= m - 1) {
		const unsigned i = lowest_lane(m);
		at[i] = (uint8_t)p->n;
		p->line[p->n] = address[i] >> 7;
		p->sector_mask[p->n++] = 0;
	}
	for (uint32_t m = words.firsts; m; m &= m - 1) {
		const unsigned i = lowest_lane(m);
		p->sector_mask[at[lines.first[i]]] |= sectors_at(address[i], access);
	}
	p->bytes = lane_popc32(words.firsts) * access;
}

/* Lanes one behind the other, some of them left out. */
static void probe_row(const uint64_t *address, uint32_t mask, unsigned access,
                      struct global_probe *p)
{
	p->n = 0;
	for (uint32_t m = mask; m; m &= m - 1) {
		const uint64_t a = address[lowest_lane(m)], line = a >> 7;
		if (!p->n || p->line[p->n - 1] != line) {
			p->line[p->n] = line;
			p->sector_mask[p->n++] = 0;
		}
		p->sector_mask[p->n - 1] |= sectors_at(a, access);
	}
	p->bytes = lane_popc32(mask) * access;
}

void probe_global(const uint64_t *address, uint32_t mask, unsigned access, enum lane_layout layout,
                  struct global_probe *p)
{
	if (layout == LAYOUT_SAME || (layout == LAYOUT_ROW && mask == 0xffffffffu)) {
		probe_run(address[lowest_lane(mask)], layout == LAYOUT_SAME ? access : 32 * access, p);
		return;
	}
	if (layout == LAYOUT_ANY && access <= 32 && lane_wide() &&
	    lane_wide_probe(address, mask, access, p))
		return;
	if (layout == LAYOUT_ROW)
		probe_row(address, mask, access, p);
	else
		probe_sets(address, mask, access, p);
	p->lines = p->n;
	p->sectors = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->sectors += lane_popc32(p->sector_mask[i]);
}

/*
 * Largest number of distinct words in one bank among the lanes of @mask. Aligned accesses of 8 or
 * 16 bytes take 2 or 4 banks as a whole, so that these count as one wider bank.
 */
static unsigned bank_conflict(const uint64_t *address, uint32_t mask, unsigned access)
{
	const unsigned shift = access <= 4 ? 2 : access == 8 ? 3 : access == 16 ? 4 : 5;
	struct lane_sets words;
	lane_sets_find(&words, address, mask, shift);
	return lane_busiest_bank(address, words.firsts, 128u >> shift, shift);
}

static bool pairs_equal(const uint64_t *address, uint32_t mask, unsigned distance)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = lowest_lane(m), j = i ^ distance;
		if ((mask >> j & 1) && address[i] != address[j])
			return false;
	}
	return true;
}

static uint32_t lanes_from(unsigned first, unsigned n)
{
	return n >= 32 ? 0xffffffffu : ((1u << n) - 1) << first;
}

static bool lanes_alike(const uint64_t *address, uint32_t mask)
{
	return pairs_equal(address, mask, 1) || pairs_equal(address, mask, 2);
}

static bool may_merge_64(const uint64_t *address, uint32_t mask)
{
	return lanes_alike(address, mask) && bank_conflict(address, mask, 8) <= 1;
}

/* Quarters of the half warp that begins with lane @half. Of the lower one it is enough that lane 31
 * does not take part (tests/gpu/wide_loads.sh). */
static bool may_merge_128(const uint64_t *address, uint32_t mask, unsigned half)
{
	const uint32_t lanes = mask & lanes_from(half, 16);
	const bool spared = half == 0 && !(mask >> 31);
	return lanes && (spared || lanes_alike(address, lanes)) &&
	       bank_conflict(address, lanes, 16) <= 1;
}

/* The lanes of @mask, so many by so many. */
static void by_groups(const uint64_t *address, uint32_t mask, unsigned access, unsigned group,
                      enum lane_layout layout, struct shared_probe *r)
{
	const bool apart = layout == LAYOUT_ROW && group * access <= 128;
	for (unsigned g = 0; g < 32; g += group) {
		const uint32_t lanes = mask & lanes_from(g, group);
		if (!lanes)
			continue;
		r->ideal++;
		r->wavefronts += apart ? 1 : bank_conflict(address, lanes, access);
	}
}

static bool one_place(const uint64_t *address, uint32_t mask)
{
	const unsigned first = mask ? lowest_lane(mask) : 0;
	uint32_t m = mask;
	while (m && address[lowest_lane(m)] == address[first])
		m &= m - 1;
	return !m;
}

/* All lanes at one place: a wavefront for each group of lanes, of which loads need half. Loads of
 * 16 bytes need one for each 16 lanes that take part, wherever those are. */
static struct shared_probe probe_one_place(uint32_t mask, unsigned access, bool store)
{
	const unsigned stored = access <= 4 ? 32 : access == 8 ? 16 : 8;
	const unsigned group = store || access <= 4 ? stored : 2 * stored;
	struct shared_probe r = { 0, 0 };
	for (unsigned g = 0; g < 32; g += group)
		r.ideal += (mask & lanes_from(g, group)) != 0;
	if (group == 16 && !store && lane_popc32(mask) <= 16)
		r.ideal = mask != 0;
	r.wavefronts = r.ideal;
	return r;
}

struct shared_probe probe_shared(const uint64_t *address, uint32_t mask, unsigned access,
                                 enum lane_layout layout, bool store)
{
	struct shared_probe r = { 0, 1 };
	if (layout == LAYOUT_SAME || (access > 8 && !store && one_place(address, mask)))
		return probe_one_place(mask, access, store);
	if (access <= 4 && layout == LAYOUT_ROW) {
		r.wavefronts = 1; /* no bank twice */
		return r;
	}
	if (access <= 4) { /* 32 words at most: one wavefront would do */
		r.wavefronts = bank_conflict(address, mask, access);
		return r;
	}
	r.ideal = 0;
	if (access == 8)
		by_groups(address, mask, access, !store && may_merge_64(address, mask) ? 32 : 16, layout,
		          &r);
	else
		for (unsigned half = 0; half < 32; half += 16) {
			const uint32_t lanes = mask & lanes_from(half, 16);
			by_groups(address, lanes, access, !store && may_merge_128(address, mask, half) ? 16 : 8,
			          layout, &r);
		}
	return r;
}

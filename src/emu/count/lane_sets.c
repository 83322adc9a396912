/*
 * Which lanes of a warp share a key; see lane_sets.h.
 *
 * Lanes put their numbers into slots by their keys, and look whose number is there. Those that find
 * a lane of their own key are done, the others, mostly none, try again. No branch depends on an
 * address, which a processor could not foresee.
 */
#include "emu/count/lane_sets.h"
#include "emu/count/lane_wide.h"

#include <stddef.h>

#define LANE_SLOT_BITS 10 /* so that 32 keys seldom meet in one */

static unsigned lane_slot(uint64_t key)
{
	return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LANE_SLOT_BITS));
}

/* Puts the lanes' numbers into their slots, the lowest last: it stays. */
static void lane_sets_put(uint8_t *slot, uint16_t at[32], const uint64_t *address, uint32_t mask,
                          unsigned shift)
{
	if (mask == 0xffffffffu) {
		for (unsigned i = 0; i < 32; i++)
			at[i] = (uint16_t)lane_slot(address[i] >> shift);
		for (unsigned i = 32; i--;)
			slot[at[i]] = (uint8_t)i;
		return;
	}
	while (mask) {
		const unsigned i = 31u - (unsigned)__builtin_clz(mask);
		mask ^= 1u << i;
		at[i] = (uint16_t)lane_slot(address[i] >> shift);
		slot[at[i]] = (uint8_t)i;
	}
}

#define FEW_KEYS 8

/* Each lane by the keys before its own; false: there are more than a few. */
static bool lane_sets_of_few(struct lane_sets *s, const uint64_t *address, uint32_t mask,
                             unsigned shift)
{
	unsigned n = 0;
	uint32_t firsts = 0;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		uint32_t k = firsts;
		while (k && (address[i] ^ address[__builtin_ctz(k)]) >> shift)
			k &= k - 1;
		if (!k && ++n > FEW_KEYS)
			return false;
		s->first[i] = (uint8_t)__builtin_ctz(k ? k : m);
		firsts |= k ? 0 : m & -m;
	}
	s->firsts = firsts;
	return true;
}

void lane_sets_one_by_one(struct lane_sets *s, const uint64_t *address, uint32_t mask,
                          unsigned shift)
{
	uint8_t slot[1 << LANE_SLOT_BITS];
	uint32_t firsts = 0;
	if (lane_sets_of_few(s, address, mask, shift))
		return;
	while (mask) {
		uint16_t at[32];
		uint32_t others = 0;
		lane_sets_put(slot, at, address, mask, shift);
		for (uint32_t m = mask; m; m &= m - 1) {
			const unsigned i = (unsigned)__builtin_ctz(m), found = slot[at[i]];
			s->first[i] = (uint8_t)found;
			firsts |= (uint32_t)(found == i) << i;
			others |= (uint32_t)((address[i] ^ address[found]) >> shift != 0) << i;
		}
		mask = others;
	}
	s->firsts = firsts;
}

unsigned lane_busiest_one_by_one(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift)
{
	uint8_t lanes[32] = { 0 };
	unsigned most = 0;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned here = ++lanes[address[__builtin_ctz(m)] >> shift & (n - 1)];
		most = here > most ? here : most;
	}
	return most;
}

void lane_sets_find(struct lane_sets *s, const uint64_t *address, uint32_t mask, unsigned shift)
{
	if (!mask || !lane_wide() || !lane_wide_sets(s, NULL, address, mask, shift))
		lane_sets_one_by_one(s, address, mask, shift);
}

void lane_sets_rank(struct lane_sets *s, struct lane_ranks *ranks, const uint64_t *address,
                    uint32_t mask, unsigned shift)
{
	uint8_t lanes[32] = { 0 }; /* by first lane */
	if (mask && lane_wide() && lane_wide_sets(s, ranks, address, mask, shift))
		return;
	lane_sets_one_by_one(s, address, mask, shift);
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		ranks->rank[i] = ++lanes[s->first[i]];
	}
}

unsigned lane_busiest_bank(const uint64_t *address, uint32_t mask, unsigned n, unsigned shift)
{
	return lane_wide() ? lane_wide_busiest(address, mask, n, shift)
	                   : lane_busiest_one_by_one(address, mask, n, shift);
}

/* Wavefronts of atomics; see atomic_waves.h. */
#include "emu/count/atomic_waves.h"

#include "emu/count/lane_sets.h"

#include <string.h>

static inline unsigned lowest(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

/* --- shared memory ---------------------------------------------------------------------------- */

#define BANK_BYTES 4
#define BANKS 32

/* Lanes of the busiest bank, of those in @mask. */
static unsigned busiest_bank(const uint64_t *address, uint32_t mask, unsigned bytes, bool merged)
{
	const unsigned width = bytes > BANK_BYTES ? bytes : BANK_BYTES;
	struct lane_sets words = { .firsts = mask };
	if (merged)
		lane_sets_find(&words, address, mask, 0);
	return lane_busiest_bank(address, words.firsts, BANKS * BANK_BYTES / width,
	                         (unsigned)__builtin_ctz(width));
}

unsigned shared_atomic_waves(const uint64_t address[32], uint32_t mask, unsigned bytes, bool swap,
                             bool merged)
{
	unsigned n = 0;
	if (bytes <= BANK_BYTES) {
		n = busiest_bank(address, mask, bytes, merged);
	} else { /* half a warp at a time */
		n = busiest_bank(address, mask & 0xffffu, bytes, merged) +
		    busiest_bank(address, mask & 0xffff0000u, bytes, merged);
	}
	return swap ? 2 * n : n;
}

/* --- global memory ---------------------------------------------------------------------------- */

#define LINE_BYTES 128
#define SWAP_BYTES 64 /* of a line that one pass of compare-and-swaps takes */
#define SETS 4

/* Which of the four tags that are looked up together: the line's bits by parity. Found by trying
 * all pairs of masks of eight bits; what bits above do was not measured. */
static unsigned set_of(uint64_t line)
{
	const unsigned bits = (unsigned)(line & 0xff);
	return (unsigned)__builtin_parity(bits & 0xb5) | (unsigned)__builtin_parity(bits & 0xda) << 1;
}

unsigned global_atomic_waves(const uint64_t address[32], uint32_t mask, bool swap)
{
	struct lane_sets words, pieces;
	struct lane_ranks same;
	uint8_t most[32]; /* by first lane of a piece: lanes on one word */
	unsigned turns[SETS] = { 0 }, passes[32], n = 0, sum = 0;
	lane_sets_rank(&words, &same, address, mask, 0);
	lane_sets_find(&pieces, address, mask, (unsigned)__builtin_ctz(swap ? SWAP_BYTES : LINE_BYTES));
	memset(most, 1, sizeof most);
	for (uint32_t m = mask & ~words.firsts; m; m &= m - 1) {
		const unsigned k = pieces.first[lowest(m)], rank = same.rank[lowest(m)];
		most[k] = rank > most[k] ? (uint8_t)rank : most[k];
	}
	for (uint32_t m = pieces.firsts; m; m &= m - 1) { /* the turn-th of its set */
		const unsigned k = lowest(m), turn = turns[set_of(address[k] / LINE_BYTES)]++;
		for (; n <= turn; n++)
			passes[n] = 0;
		passes[turn] = most[k] > passes[turn] ? most[k] : passes[turn];
	}
	for (unsigned t = 0; t < n; t++)
		sum += passes[t];
	return sum;
}

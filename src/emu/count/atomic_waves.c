/* Wavefronts of atomics; see atomic_waves.h. */
#include "emu/count/atomic_waves.h"

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
	const unsigned banks = bytes > BANK_BYTES ? BANKS * BANK_BYTES / bytes : BANKS;
	const unsigned width = bytes > BANK_BYTES ? bytes : BANK_BYTES;
	uint32_t of_bank[BANKS] = { 0 }; /* lanes that count */
	unsigned most = 0;
	for (uint32_t left = mask; left; left &= left - 1) {
		const unsigned i = lowest(left);
		const unsigned bank = (unsigned)(address[i] / width % banks);
		bool again = false;
		for (uint32_t k = of_bank[bank]; merged && k; k &= k - 1)
			again = again || address[lowest(k)] == address[i];
		if (again)
			continue;
		of_bank[bank] |= 1u << i;
		const unsigned n = (unsigned)__builtin_popcount(of_bank[bank]);
		most = n > most ? n : most;
	}
	return most;
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

struct piece {
	uint64_t at;
	unsigned set, turn; /* the turn-th of its set */
	unsigned lanes[32]; /* on each of its words, by the first lane there */
	unsigned most;
};

unsigned global_atomic_waves(const uint64_t address[32], uint32_t mask, bool swap)
{
	const unsigned bytes = swap ? SWAP_BYTES : LINE_BYTES;
	struct piece piece[32];
	unsigned n = 0, turns[SETS] = { 0 }, first[32], in[32];
	for (uint32_t left = mask; left; left &= left - 1) {
		const unsigned i = lowest(left);
		const uint64_t at = address[i] / bytes;
		unsigned k = 0;
		while (k < n && piece[k].at != at)
			k++;
		if (k == n) {
			const unsigned set = set_of(address[i] / LINE_BYTES);
			piece[n++] = (struct piece){ .at = at, .set = set, .turn = turns[set]++ };
		}
		in[i] = k;
		first[i] = i;
		for (uint32_t b = mask & ((1u << i) - 1); b; b &= b - 1) {
			const unsigned before = lowest(b);
			if (in[before] == k && address[before] == address[i]) {
				first[i] = before;
				break;
			}
		}
		const unsigned lanes = ++piece[k].lanes[first[i]];
		piece[k].most = lanes > piece[k].most ? lanes : piece[k].most;
	}
	unsigned passes[32] = { 0 }, sum = 0; /* by turn */
	for (unsigned k = 0; k < n; k++)
		if (piece[k].most > passes[piece[k].turn])
			passes[piece[k].turn] = piece[k].most;
	for (unsigned t = 0; t < n; t++)
		sum += passes[t];
	return sum;
}

/* Tells contents of memory apart, at the speed of memory; not against an adversary. */
#include "emu/memory/memory.h"

#include <string.h>

#define LANES 8
#define STEP (LANES * sizeof(uint64_t))

/* Odd, with bits all over: from the fractional part of square roots of primes. */
static const uint64_t factor[LANES] = {
	0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static inline uint64_t turn(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

/* Each step is a bijection of the lane, so that one changed word always shows in it. */
static inline void take(uint64_t lane[LANES], const uint8_t *from)
{
	uint64_t word[LANES];
	memcpy(word, from, STEP);
	for (unsigned i = 0; i < LANES; i++)
		lane[i] = turn((lane[i] ^ word[i]) * factor[i], 29);
}

static uint64_t fold(const uint64_t lane[LANES], uint64_t v, unsigned first)
{
	for (unsigned i = 0; i < LANES; i++) {
		v = (v ^ lane[(first + i) % LANES]) * factor[(3 * i + first) % LANES];
		v ^= v >> 32;
	}
	return v;
}

struct content_hash content_hash(const uint8_t *bytes, uint64_t n)
{
	uint64_t lane[LANES], at = 0;
	uint8_t rest[STEP] = { 0 };
	memcpy(lane, factor, sizeof lane);
	for (; n - at >= STEP; at += STEP)
		take(lane, bytes + at);
	memcpy(rest, bytes + at, n - at);
	take(lane, rest);
	return (struct content_hash){ { fold(lane, n, 0), fold(lane, ~n, 5) } };
}

/*
 * Units of L2: each changes the words of its addresses one after the other.
 *
 * L2 shares addresses out to its units. Which unit an address goes to is not known; what stands for
 * it does as measured (tests/gpu/micro/contended.cu, additions of integers): 256 bytes from an
 * allocation's start are of one unit, 512 and 1024 of two, 4096 of eight, 16 KiB of 28 or more;
 * words that lie 512 bytes apart, eight of them, of four.
 */
#ifndef PMPP_TIMEMODEL_L2_UNITS_H
#define PMPP_TIMEMODEL_L2_UNITS_H

#include <stdint.h>

#define L2_UNITS 64        /* 0.735 ns a pass each: random bins come at 0.0115 ns an item */
#define L2_UNIT_BYTES 512  /* of memory that lies together, for each unit */
#define L2_PAIR_BYTES 1024 /* two units share so many, by turns ... */
#define L2_TURN_BYTES 256  /* ... of so many */

/* 0 to L2_UNITS - 1 */
static inline unsigned l2_unit(uint64_t address)
{
	const uint64_t pair = address / L2_PAIR_BYTES, pairs = L2_UNITS / 2;
	uint64_t x = pair / pairs;
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	const uint64_t turn = address / L2_TURN_BYTES + (uint64_t)__builtin_parityll(pair);
	return (unsigned)((pair ^ x >> 40) % pairs * 2 + turn % 2);
}

#endif

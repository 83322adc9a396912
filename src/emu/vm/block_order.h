/*
 * Which blocks of a grid run, and in which order: all of them, also cluster by cluster or in
 * another order, or a sample.
 *
 * A sample is block 0 and a few blocks side by side anywhere in each of equal parts of the grid:
 * what one leaves of a sector its neighbours take. At equal distances they could all lie in one
 * column, and share what blocks of a column share.
 */
#ifndef PMPP_EMU_BLOCK_ORDER_H
#define PMPP_EMU_BLOCK_ORDER_H

#include "emu/launch_order.h"

#include <stdint.h>

#define ORDER_BESIDE 8 /* blocks side by side, */
#define ORDER_MANY 64  /* in a sample of so many */

struct block_order { /* the identity unless sampled, or in clusters */
	uint64_t n, total;
	uint32_t cluster[3],
		clusters[2];         /* blocks in one, clusters along x and y; cluster[0] 0: none */
	enum launch_order order; /* where all run, and in no clusters; and of the warps of each */
};

/* The blocks of a cluster follow one another. */
static inline uint64_t order_in_cluster(const struct block_order *o, uint64_t i)
{
	const uint64_t x = o->cluster[0], y = o->cluster[1], z = o->cluster[2];
	const uint64_t c = i / (x * y * z), r = i % (x * y * z), width = o->clusters[0] * x;
	const uint64_t bx = c % o->clusters[0] * x + r % x;
	const uint64_t by = c / o->clusters[0] % o->clusters[1] * y + r / x % y;
	const uint64_t bz = c / o->clusters[0] / o->clusters[1] * z + r / x / y;
	return bx + width * (by + o->clusters[1] * y * bz);
}

static inline uint64_t order_part(uint64_t n, uint64_t part, uint64_t parts)
{
	return (uint64_t)((unsigned __int128)n * part / parts);
}

/* Ascending in @i, no block twice. */
static inline uint64_t order_in_sample(const struct block_order *o, uint64_t i)
{
	if (i == 0)
		return 0;
	const uint64_t n = o->n - 1, total = o->total - 1; /* without block 0 */
	const uint64_t beside = n >= ORDER_MANY ? ORDER_BESIDE : 1;
	const uint64_t part = (i - 1) / beside, from = part * beside;
	const uint64_t len = n - from < beside ? n - from : beside;
	const uint64_t first = order_part(total, from, n), end = order_part(total, from + len, n);
	const uint32_t anywhere = (uint32_t)((part + 1) * 0x9e3779b97f4a7c15u >> 32);
	return i + first - from + order_part(end - first - len + 1, anywhere, (uint64_t)1 << 32);
}

/* The block that is run as number @i. */
static inline uint64_t order_block(const struct block_order *o, uint64_t i)
{
	if (o->cluster[0])
		return order_in_cluster(o, i);
	if (o->n < o->total)
		return order_in_sample(o, i);
	return order_turn(o->order, o->total, i);
}

#endif

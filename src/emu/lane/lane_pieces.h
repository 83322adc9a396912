/*
 * How the places of a warp's lanes lie: in pieces, whose lanes are at places one behind the other,
 * or all at one.
 */
#ifndef PMPP_EMU_LANE_PIECES_H
#define PMPP_EMU_LANE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

struct lane_piece {
	uint64_t at; /* of the first lane, from where all are counted */
	uint8_t first, n;
	bool one_place;
};
struct lane_pieces {
	unsigned n;
	struct lane_piece piece[32];
};
/* A load by all lanes, whose pieces are counted from its lowest byte. */
struct lane_load {
	const struct lane_pieces *pieces;
	uint64_t span;      /* from the lowest byte to the end */
	uint32_t bytes, op; /* of a lane; the operation */
};
static inline uint32_t lane_piece_mask(const struct lane_piece *p)
{
	return (uint32_t)((((uint64_t)1 << p->n) - 1) << p->first);
}

/* The pieces of the lanes of @mask, each at @bytes bytes, counted from @from. */
void lane_pieces_find(const uint64_t address[32], uint32_t mask, unsigned bytes, uint64_t from,
                      struct lane_pieces *out);
/* The place of lane @lane of @p. */
static inline uint64_t lane_piece_place(const struct lane_piece *p, unsigned lane, unsigned bytes)
{
	return p->at + (p->one_place ? 0 : (uint64_t)(lane - p->first) * bytes);
}

#endif

/*
 * Lanes in a row, and lanes at one place, looked at many cells at a time (race_rows.c), where cells
 * in a row say the same.
 */
#ifndef PMPP_EMU_RACE_ROWS_H
#define PMPP_EMU_RACE_ROWS_H

#include "emu/check/race_order.h"
#include "emu/lane/lane.h"

/* Nothing can be said here of a warp that takes locks. */
static inline bool race_rows_simple(const struct race_block *b, uint32_t warp)
{
	return !b->warp[warp].section;
}

struct race_rows {
	struct race_block *b;
	const struct race_warp *warp;
	unsigned bytes, log_bytes;
	bool shared, write;
	bool simple;         /* false: nothing can be said of it here */
	struct race_who who; /* it leaves */
	unsigned turn;
	uint32_t number;        /* of who; 0 = not looked for yet */
	struct race_page *page; /* of the last lane by itself; NULL = none yet */
	bool by_lane;           /* what is before the access is so since it is the same lane's */
	/* the cells that are looked at: the first one's address, how many, and log2 of their bytes */
	uint64_t at;
	uint32_t n;
	unsigned shift;
};
/* For a weak access by @warp in @epoch, of @bytes a lane, whose use is told by @op; shared and
 * write are to be set. */
void race_rows_start(struct race_rows *r, struct race_block *b, uint32_t warp, uint32_t op,
                     uint32_t epoch, unsigned bytes);
/* The piece @p, counted from @from: nothing of it races, and that is noted; false: its cells want a
 * look each, of which some may be noted already. */
bool race_rows_pass(struct race_rows *r, const struct lane_piece *p, uint64_t from);
/* The same of lanes @lanes, all at @at; and of lane @lane by itself at @at. */
bool race_rows_place(struct race_rows *r, uint32_t lanes, uint64_t at);
bool race_rows_lane(struct race_rows *r, unsigned lane, uint64_t at);

/* A cell of global memory by itself is likely nowhere near, and clocks are long: either costs as
 * much as so many looks at cells beside one another. */
#define FAR_LOOKS 4

/* What that costs, in looks. */
static inline unsigned race_rows_looks(const struct race_rows *r, const struct lane_piece *p)
{
	const unsigned cells = p->one_place ? 1 : p->n;
	return cells >= 8 || r->shared ? (cells + 7) / 8 : FAR_LOOKS * cells;
}
/* The page of shared or global memory at @at, fit for accesses of @bytes; NULL = there is no room
 * for more. */
struct race_page *race_page_at(struct race_block *b, bool shared, uint64_t at, unsigned bytes);

/* Fetches what is known of where the lanes of @a are, which likely lies far apart. */
void race_rows_fetch(const struct race_rows *r, const struct race_access *a);
/* The same for strong accesses to global memory. */
void race_rows_fetch_strong(const struct race_cells *c, const struct race_access *a);
/* Do most lanes of @a lie by themselves, so that it is no use to look for rows? */
bool race_rows_apart(const struct race_access *a);
/* The lanes of @a, in rows and at places. */
void race_rows_of(const struct race_access *a, struct lane_pieces *pieces);

#endif

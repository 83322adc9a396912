/*
 * Lanes in a row, and lanes at one place, looked at many cells at a time (race_rows.c): where all
 * that their warp knows of others came by barriers and by syncs of the whole warp, and where cells
 * in a row say the same.
 */
#ifndef PMPP_EMU_RACE_ROWS_H
#define PMPP_EMU_RACE_ROWS_H

#include "emu/check/race_order.h"

/* Lanes from @first on: @n of them one behind the other, or all at one place. */
struct race_piece {
	unsigned first, n;
	bool one_place;
};
/* How the lanes of an access lie. */
struct race_lie {
	uint32_t mask;
	uint32_t rising, same; /* lanes behind which, or where, the next one is */
};
struct race_lie race_lie_of(const struct race_access *a);
/* The piece that begins with lane @first, which takes part. */
struct race_piece race_piece_at(const struct race_lie *lie, unsigned first);

struct race_rows {
	struct race_block *b;
	const struct race_access *a;
	struct race_who who; /* it leaves */
	bool simple;         /* false: nothing can be said of it here */
	unsigned turn;
	uint32_t number; /* of who; 0 = not looked for yet */
};
/* For the weak access @a in @epoch, whose use is told by @op. */
struct race_rows race_rows_of(struct race_block *b, const struct race_access *a, uint32_t op,
                              uint32_t epoch);
/* The piece @p from @address on: nothing of it races, and that is noted; false: its cells want a
 * look each, of which some may be noted already. */
bool race_rows_pass(struct race_rows *r, const struct race_piece *p, uint64_t address);

/* The page of @a's memory at @at, fit for it; NULL = there is no room for more. */
struct race_page *race_page_at(struct race_block *b, const struct race_access *a, uint64_t at);

#endif

/*
 * Who touched each place of memory last (race_cells.c): pages of cells, a cell for the widest unit
 * that all accesses of its page share. What cells note lies in columns, a mark for each cell, so
 * that many cells in a row are looked at together; a column that is empty takes no room.
 */
#ifndef PMPP_EMU_RACE_CELLS_H
#define PMPP_EMU_RACE_CELLS_H

#include "emu/check/check.h"
#include "emu/check/race_marks.h"

struct race_use {
	uint32_t warp;         /* over the whole launch, + 1; 0 = nobody */
	uint32_t lanes, epoch; /* which lanes, in which epoch of their warp */
	uint32_t op;           /* instruction, and flags, most of them of strong uses: */
	race_mark mark;        /* in a column; 0: it has none yet */
};
#define RACE_OP_MASK 0x01ffffffu
#define RACE_USE_VOLATILE (1u << 31)
#define RACE_USE_BLOCK_SCOPE (1u << 30)
#define RACE_USE_POLLS (1u << 29) /* waits in a loop for another value */
#define RACE_USE_FENCED (1u << 28)
#define RACE_USE_DATA (1u << 27) /* a volatile load whose value decides nothing */
/* Also of weak uses: in a lock's section with no fence since it was taken, or with the block's. */
#define RACE_USE_BARE (1u << 26)
#define RACE_USE_BARE_BLOCK (1u << 25)

/* Strong accesses do not race with one another, so there may be many in no order: two of each are
 * kept, of different blocks or warps where there are such. Likewise of weak reads. */
struct race_strong {
	struct race_use writer[2], reader[2];
	bool looked_at; /* by anything but volatile stores */
	bool asked;     /* by one whose way depends on it */
	uint32_t
		last; /* warp, + 1, and lane of the last write, an atomic whose value is read; else 0 */
	uint32_t last_lane;
	uint32_t next_free;
};
/* One cell, taken out of the columns. */
struct race_cell {
	struct race_use writer[2]; /* the last one; an earlier one of the same value, in no order */
	struct race_use reader[2];
	uint32_t strong; /* number, 0 = none */
};

#define RACE_PAGE_BITS 12
#define RACE_WIDEST_SHIFT 4
enum { RACE_WRITER, RACE_EARLIER_WRITER, RACE_READER, RACE_OTHER_READER, RACE_COLUMNS };
struct race_page {
	uint64_t number;
	bool used;
	uint8_t shift; /* log2 of bytes per cell */
	race_mark *column[RACE_COLUMNS];
	uint32_t *strong; /* numbers */
	/* A bit for each cell that two blocks have read, and nobody has written: readers of a third
	 * one are not noted. NULL = none. */
	uint64_t *settled;
};
struct race_cells {
	struct race_page *page; /* of global memory, by hash of number */
	uint32_t n, room;
	struct race_marks marks;
	struct race_strong *strong;
	uint32_t n_strong, room_strong, free_strong;
	size_t bytes; /* of the columns that are in use */
	struct race_pool {
		uint32_t *idle[RACE_WIDEST_SHIFT + 1]; /* columns by shift; each says the next */
		void **chunk;                          /* that all columns are cut from, the last ... */
		uint32_t n_chunks, cap_chunks;
		size_t used, size; /* ... so far, of so many bytes */
	} pool;
	bool full; /* there was no room for a page */
};

void race_cells_free(struct race_cells *c);
/* Where the page of that number is, or belongs. */
static inline struct race_page *race_page_slot(struct race_page *page, uint32_t room,
                                               uint64_t number)
{
	uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
	while (page[i].used && page[i].number != number)
		i = (i + 1) & (room - 1);
	return &page[i];
}
/* The page of a global address, as it is; it may be unused. NULL = there is none yet. */
static inline struct race_page *race_page_known(const struct race_cells *c, uint64_t address)
{
	return c->room ? race_page_slot(c->page, c->room, address >> RACE_PAGE_BITS) : NULL;
}
/* The page of a global address, fit for accesses of @bytes; NULL = there is no room for more. */
struct race_page *race_page_of(struct race_cells *c, uint64_t address, unsigned bytes);
/* Makes @p fit for accesses of @bytes (a power of two). */
void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes);
/* Frees what belongs to a page that is not in @c's table. */
void race_page_free(struct race_cells *c, struct race_page *p);
/* The number within its page of the cell that holds @address. */
static inline uint32_t race_cell_index(const struct race_page *p, uint64_t address)
{
	return (uint32_t)(address & ((1u << RACE_PAGE_BITS) - 1)) >> p->shift;
}
void race_column_make(struct race_cells *c, struct race_page *p, unsigned column);
/* Column @column of @p, which is there afterwards. */
static inline race_mark *race_column(struct race_cells *c, struct race_page *p, unsigned column)
{
	if (!p->column[column])
		race_column_make(c, p, column);
	return p->column[column];
}
/* The cell of @p that holds @address; and puts it back, uses without a mark as such of places of
 * 2^@scale bytes by warps of blocks of @n_warps. */
struct race_cell race_cell_take(const struct race_cells *c, const struct race_page *p,
                                uint64_t address);
void race_cell_put(struct race_cells *c, struct race_page *p, uint64_t address,
                   struct race_cell *cell, unsigned scale, uint32_t n_warps);
/* The bits of cells [i, end) that lie in word @w of page.settled. */
static inline uint64_t race_settled_bits(uint32_t w, uint32_t i, uint32_t end)
{
	const uint64_t from = i > 64 * w ? UINT64_MAX << (i - 64 * w) : UINT64_MAX;
	return end - 64 * w < 64 ? from & ~(UINT64_MAX << (end - 64 * w)) : from;
}
/* Are all of cells [i, end) settled? They are from now on. */
static inline bool race_settled(const struct race_page *p, uint32_t i, uint32_t end)
{
	bool all = p->settled;
	for (uint32_t w = i / 64; all && 64 * w < end; w++)
		all = !(race_settled_bits(w, i, end) & ~p->settled[w]);
	return all;
}
void race_settle(struct race_page *p, uint32_t i, uint32_t end);
/* They are not, from now on. */
static inline void race_unsettle(struct race_page *p, uint32_t i, uint32_t end)
{
	for (uint32_t w = i / 64; p->settled && 64 * w < end; w++)
		p->settled[w] &= ~race_settled_bits(w, i, end);
}
/* Forgets who used [address, address + bytes) of global memory. */
void race_cells_forget(struct race_cells *c, uint64_t address, uint64_t bytes);
struct race_strong *race_strong_of(struct race_cells *c, struct race_cell *cell);

/* Are there so many marks that those which no cell has any longer are to make room? */
static inline bool race_cells_crowded(const struct race_cells *c)
{
	return c->marks.n > c->marks.limit;
}
/* First seen[number] is set for those of all pages, then they get their new numbers. */
void race_page_seen(const struct race_page *p, uint32_t *seen);
void race_page_renumber(struct race_page *p, const uint32_t *seen);

#endif

/*
 * Who touched each place of memory last (race_cells.c): pages of cells, a cell for the widest unit
 * that all accesses of its page share.
 */
#ifndef PMPP_EMU_RACE_CELLS_H
#define PMPP_EMU_RACE_CELLS_H

#include "emu/check/check.h"

struct race_use {
	uint32_t warp;         /* over the whole launch, + 1; 0 = nobody */
	uint32_t lanes, epoch; /* which lanes, in which epoch of their warp */
	uint32_t op;           /* instruction, and flags, most of them of strong uses: */
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
struct race_cell {
	struct race_use writer[2]; /* the last one; an earlier one of the same value, in no order */
	struct race_use reader[2];
	uint32_t strong; /* number, 0 = none */
};

/*
 * Eight cells in a row, which a warp's lanes mostly use in a row: while nothing else is known, one
 * cell stands for all. Its lanes are those of the first cell; of cell i they are lanes << i.
 */
#define RACE_GROUP 8u
struct race_group {
	struct race_cell all;   /* nothing strong */
	struct race_cell *cell; /* RACE_GROUP of them; NULL = all */
};

#define RACE_PAGE_BITS 12
#define RACE_WIDEST_SHIFT 4
struct race_page {
	uint64_t number;
	unsigned shift; /* log2 of bytes per cell */
	struct race_group *group;
};
struct race_cells {
	struct race_page *page; /* of global memory, by hash of number */
	uint32_t n, room;
	struct race_strong *strong;
	uint32_t n_strong, room_strong, free_strong;
	size_t bytes;           /* of all this but the table */
	bool full;              /* there was no room for a page */
	struct race_cell *idle; /* eight cells each that nobody uses; *(struct race_cell **) the next */
};

void race_cells_free(struct race_cells *c);
/* The page of a global address, fit for accesses of @bytes; NULL = there is no room for more. */
struct race_page *race_page_of(struct race_cells *c, uint64_t address, unsigned bytes);
/* Makes @p fit for accesses of @bytes (a power of two). */
void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes);
/* Frees what belongs to a page that is not in @c's table. */
void race_page_free(struct race_cells *c, struct race_page *p);
/* The cell of a page that holds @address; its group is taken apart for it. */
struct race_cell *race_cell_of(struct race_cells *c, struct race_page *p, uint64_t address);
/* Makes @all stand for all cells of @g. */
void race_group_join(struct race_cells *c, struct race_group *g, struct race_cell all);
/* Forgets who used [address, address + bytes) of global memory. */
void race_cells_forget(struct race_cells *c, uint64_t address, uint64_t bytes);
struct race_strong *race_strong_of(struct race_cells *c, struct race_cell *cell);

#endif

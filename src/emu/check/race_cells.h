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
	uint32_t op;           /* instruction, and of strong uses flags: */
};
#define RACE_OP_MASK 0x0fffffffu
#define RACE_USE_VOLATILE (1u << 31)
#define RACE_USE_BLOCK_SCOPE (1u << 30)
#define RACE_USE_POLLS (1u << 29) /* waits in a loop for another value */
#define RACE_USE_FENCED (1u << 28)

/* Strong accesses do not race with one another, so there may be many in no order: two of each are
 * kept, of different blocks or warps where there are such. Likewise of weak reads. */
struct race_strong {
	struct race_use writer[2], reader[2];
	uint32_t next_free;
};
struct race_cell {
	struct race_use writer[2]; /* the last one; an earlier one of the same value, in no order */
	struct race_use reader[2];
	uint32_t strong; /* number, 0 = none */
};

#define RACE_PAGE_BITS 12
struct race_page {
	uint64_t number;
	unsigned shift; /* log2 of bytes per cell */
	struct race_cell *cell;
};
struct race_cells {
	struct race_page *page; /* of global memory, by hash of number */
	uint32_t n, room;
	struct race_strong *strong;
	uint32_t n_strong, room_strong, free_strong;
	size_t bytes; /* of all cells */
};

void race_cells_free(struct race_cells *c);
/* The page of a global address, fit for accesses of @bytes; NULL = there is no room for more. */
struct race_page *race_page_of(struct race_cells *c, uint64_t address, unsigned bytes);
/* Makes @p fit for accesses of @bytes (a power of two). */
void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes);
/* Frees the cells of a page that is not in @c's table. */
void race_page_free(struct race_cells *c, struct race_page *p);
/* Forgets who used [address, address + bytes) of global memory. */
void race_cells_forget(struct race_cells *c, uint64_t address, uint64_t bytes);
struct race_strong *race_strong_of(struct race_cells *c, struct race_cell *cell);

#endif

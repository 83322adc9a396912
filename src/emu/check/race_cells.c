/* Pages of cells; see race_cells.h. */
#include "emu/check/race_cells.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX_BYTES ((size_t)1 << 30)
#define WIDEST_SHIFT 3

static unsigned cells_of(unsigned shift)
{
	return 1u << (RACE_PAGE_BITS - shift);
}

static unsigned shift_of(unsigned bytes)
{
	unsigned shift = 0;
	while (shift < WIDEST_SHIFT && bytes >> (shift + 1))
		shift++;
	return shift;
}

void race_cells_free(struct race_cells *c)
{
	for (uint32_t i = 0; i < c->room; i++)
		free(c->page[i].cell);
	free(c->page);
	free(c->strong);
	*c = (struct race_cells){ .n = 0 };
}

static uint32_t new_strong(struct race_cells *c)
{
	if (c->free_strong) {
		const uint32_t i = c->free_strong;
		c->free_strong = c->strong[i].next_free;
		c->strong[i] = (struct race_strong){ .next_free = 0 };
		return i;
	}
	if (c->n_strong == c->room_strong) {
		c->room_strong = c->room_strong ? 2 * c->room_strong : 256;
		c->strong = mem_realloc(c->strong, c->room_strong, sizeof *c->strong);
		c->n_strong = c->n_strong ? c->n_strong : 1; /* 0 is none */
	}
	c->strong[c->n_strong] = (struct race_strong){ .next_free = 0 };
	return c->n_strong++;
}

struct race_strong *race_strong_of(struct race_cells *c, struct race_cell *cell)
{
	if (!cell->strong)
		cell->strong = new_strong(c);
	return &c->strong[cell->strong];
}

void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes)
{
	const unsigned shift = shift_of(bytes);
	if (p->cell && shift >= p->shift)
		return;
	struct race_cell *fine = mem_calloc(cells_of(shift), sizeof *fine);
	c->bytes += cells_of(shift) * sizeof *fine;
	for (unsigned i = 0; p->cell && i < cells_of(shift); i++) {
		const struct race_cell *from = &p->cell[i >> (p->shift - shift)];
		fine[i] = *from;
		if (!from->strong)
			continue;
		fine[i].strong = new_strong(c);
		c->strong[fine[i].strong] = c->strong[from->strong];
	}
	if (p->cell)
		c->bytes -= cells_of(p->shift) * sizeof *fine;
	free(p->cell);
	p->cell = fine;
	p->shift = shift;
}

void race_page_free(struct race_cells *c, struct race_page *p)
{
	if (!p->cell)
		return;
	for (unsigned i = 0; i < cells_of(p->shift); i++)
		if (p->cell[i].strong) {
			c->strong[p->cell[i].strong].next_free = c->free_strong;
			c->free_strong = p->cell[i].strong;
		}
	c->bytes -= cells_of(p->shift) * sizeof *p->cell;
	free(p->cell);
	p->cell = NULL;
}

static struct race_page *slot_of(struct race_page *page, uint32_t room, uint64_t number)
{
	uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
	while (page[i].cell && page[i].number != number)
		i = (i + 1) & (room - 1);
	return &page[i];
}

struct race_page *race_page_of(struct race_cells *c, uint64_t address, unsigned bytes)
{
	const uint64_t number = address >> RACE_PAGE_BITS;
	if (2 * c->n >= c->room) {
		const uint32_t room = c->room ? 2 * c->room : 256;
		struct race_page *more = mem_calloc(room, sizeof *more);
		for (uint32_t i = 0; i < c->room; i++)
			if (c->page[i].cell)
				*slot_of(more, room, c->page[i].number) = c->page[i];
		free(c->page);
		c->page = more;
		c->room = room;
	}
	struct race_page *p = slot_of(c->page, c->room, number);
	if (!p->cell) {
		if (c->bytes >= CELLS_MAX_BYTES)
			return NULL;
		p->number = number;
		c->n++;
	}
	race_page_fit(c, p, bytes);
	return p;
}

void race_cells_forget(struct race_cells *c, uint64_t address, uint64_t bytes)
{
	for (uint64_t at = address; c->n && at < address + bytes;) {
		const uint64_t number = at >> RACE_PAGE_BITS, end = (number + 1) << RACE_PAGE_BITS;
		const struct race_page *p = slot_of(c->page, c->room, number);
		for (; at < end && at < address + bytes && p->cell; at += 1u << p->shift)
			p->cell[(at & ((1u << RACE_PAGE_BITS) - 1)) >> p->shift] =
				(struct race_cell){ .strong = 0 };
		at = end;
	}
}

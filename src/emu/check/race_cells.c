/* Pages of cells; see race_cells.h. */
#include "emu/check/race_cells.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX_BYTES ((size_t)1 << 30)

static unsigned groups_of(unsigned shift)
{
	return 1u << (RACE_PAGE_BITS - shift) >> 3;
}

static unsigned shift_of(unsigned bytes)
{
	unsigned shift = 0;
	while (shift < RACE_WIDEST_SHIFT && bytes >> (shift + 1))
		shift++;
	return shift;
}

void race_cells_free(struct race_cells *c)
{
	for (uint32_t i = 0; i < c->room; i++)
		race_page_free(c, &c->page[i]);
	for (struct race_cell *cell = c->idle, *next; cell; cell = next) {
		memcpy(&next, (const void *)cell, sizeof next);
		free(cell);
	}
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

/* --- groups --- */

static void free_strong(struct race_cells *c, struct race_cell *cell)
{
	if (!cell->strong)
		return;
	c->strong[cell->strong].next_free = c->free_strong;
	c->free_strong = cell->strong;
	cell->strong = 0;
}

void race_group_join(struct race_cells *c, struct race_group *g, struct race_cell all)
{
	for (unsigned i = 0; g->cell && i < RACE_GROUP; i++)
		free_strong(c, &g->cell[i]);
	if (g->cell) {
		memcpy((void *)g->cell, &c->idle, sizeof c->idle);
		c->idle = g->cell;
		g->cell = NULL;
	}
	g->all = all;
}

static struct race_use moved(struct race_use u, unsigned lanes)
{
	u.lanes <<= lanes;
	return u;
}

static void take_apart(struct race_cells *c, struct race_group *g)
{
	if (g->cell)
		return;
	g->cell = c->idle;
	if (g->cell) {
		memcpy(&c->idle, (const void *)g->cell, sizeof c->idle);
	} else {
		g->cell = mem_calloc(RACE_GROUP, sizeof *g->cell);
		c->bytes += RACE_GROUP * sizeof *g->cell;
	}
	for (unsigned i = 0; i < RACE_GROUP; i++)
		for (unsigned k = 0; k < 2; k++) {
			g->cell[i].writer[k] = moved(g->all.writer[k], i);
			g->cell[i].reader[k] = moved(g->all.reader[k], i);
			g->cell[i].strong = 0;
		}
}

/* --- pages --- */

struct race_cell *race_cell_of(struct race_cells *c, struct race_page *p, uint64_t address)
{
	const uint64_t i = (address & ((1u << RACE_PAGE_BITS) - 1)) >> p->shift;
	struct race_group *g = &p->group[i / RACE_GROUP];
	take_apart(c, g);
	return &g->cell[i % RACE_GROUP];
}

/* Cell @to of a finer page is to be as @from. */
static void copy_cell(struct race_cells *c, struct race_cell *to, const struct race_cell *from)
{
	*to = *from;
	if (!from->strong)
		return;
	const uint32_t strong = new_strong(c);
	c->strong[strong] = c->strong[from->strong];
	to->strong = strong;
}

static size_t page_bytes(const struct race_page *p)
{
	return groups_of(p->shift) * sizeof *p->group;
}

void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes)
{
	const unsigned shift = shift_of(bytes);
	if (p->group && shift >= p->shift)
		return;
	struct race_page fine = *p;
	fine.shift = shift;
	fine.group = mem_calloc(groups_of(shift), sizeof *fine.group);
	c->bytes += page_bytes(&fine);
	for (uint64_t at = 0; p->group && at < 1u << RACE_PAGE_BITS; at += 1u << shift)
		copy_cell(c, race_cell_of(c, &fine, at), race_cell_of(c, p, at));
	race_page_free(c, p);
	*p = fine;
}

void race_page_free(struct race_cells *c, struct race_page *p)
{
	static const struct race_cell none;
	if (!p->group)
		return;
	for (unsigned i = 0; i < groups_of(p->shift); i++)
		race_group_join(c, &p->group[i], none);
	c->bytes -= page_bytes(p);
	free(p->group);
	p->group = NULL;
}

static struct race_page *slot_of(struct race_page *page, uint32_t room, uint64_t number)
{
	uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
	while (page[i].group && page[i].number != number)
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
			if (c->page[i].group)
				*slot_of(more, room, c->page[i].number) = c->page[i];
		free(c->page);
		c->page = more;
		c->room = room;
	}
	struct race_page *p = slot_of(c->page, c->room, number);
	if (!p->group) {
		if (c->bytes >= CELLS_MAX_BYTES) {
			c->full = true;
			return NULL;
		}
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
		struct race_page *p = slot_of(c->page, c->room, number);
		for (; at < end && at < address + bytes && p->group; at += 1u << p->shift) {
			struct race_cell *cell = race_cell_of(c, p, at);
			free_strong(c, cell);
			*cell = (struct race_cell){ .strong = 0 };
		}
		at = end;
	}
}

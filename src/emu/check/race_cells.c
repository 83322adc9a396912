/* Pages of cells; see race_cells.h. */
#include "emu/check/race_cells.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX_BYTES ((size_t)1 << 30)

static uint32_t cells_of(unsigned shift)
{
	return 1u << (RACE_PAGE_BITS - shift);
}

static uint8_t shift_of(unsigned bytes)
{
	uint8_t shift = 0;
	while (shift < RACE_WIDEST_SHIFT && bytes >> (shift + 1))
		shift++;
	return shift;
}

/* --- room for columns, in large pages where there are many --- */

#define FIRST_CHUNK ((size_t)1 << 16)
#define LARGEST_CHUNK ((size_t)1 << 21)

static size_t column_bytes(unsigned shift)
{
	return cells_of(shift) * sizeof(uint32_t);
}

static void *cut(struct race_pool *pool, size_t bytes)
{
	if (pool->used + bytes > pool->size) {
		MEM_ROOM(pool->chunk, pool->n_chunks, pool->cap_chunks, 8);
		pool->size = pool->size ? 2 * pool->size : FIRST_CHUNK;
		pool->size = pool->size > LARGEST_CHUNK ? LARGEST_CHUNK : pool->size;
		pool->chunk[pool->n_chunks++] = mem_pages(pool->size);
		pool->used = 0;
	}
	void *p = (char *)pool->chunk[pool->n_chunks - 1] + pool->used;
	pool->used += bytes;
	return p;
}

/* All zero. */
static uint32_t *new_column(struct race_cells *c, unsigned shift)
{
	struct race_pool *pool = &c->pool;
	uint32_t *column = pool->idle[shift];
	if (column)
		memcpy((void *)&pool->idle[shift], column, sizeof pool->idle[shift]);
	else
		column = cut(pool, column_bytes(shift));
	c->bytes += column_bytes(shift);
	return memset(column, 0, column_bytes(shift));
}

static void free_column(struct race_cells *c, uint32_t **column, unsigned shift)
{
	if (!*column)
		return;
	memcpy(*column, (const void *)&c->pool.idle[shift], sizeof c->pool.idle[shift]);
	c->pool.idle[shift] = *column;
	c->bytes -= column_bytes(shift);
	*column = NULL;
}

static void pool_free(struct race_pool *pool)
{
	for (uint32_t i = 0; i < pool->n_chunks; i++)
		free(pool->chunk[i]);
	free(pool->chunk);
}

void race_cells_free(struct race_cells *c)
{
	for (uint32_t i = 0; i < c->room; i++)
		race_page_free(c, &c->page[i]);
	pool_free(&c->pool);
	race_marks_free(&c->marks);
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

static void free_strong(struct race_cells *c, uint32_t *strong)
{
	if (!*strong)
		return;
	c->strong[*strong].next_free = c->free_strong;
	c->free_strong = *strong;
	*strong = 0;
}

/* --- cells --- */

void race_column_make(struct race_cells *c, struct race_page *p, unsigned column)
{
	p->column[column] = new_column(c, p->shift);
}

void race_settle(struct race_page *p, uint32_t i, uint32_t end)
{
	if (!p->settled)
		p->settled = mem_calloc((cells_of(p->shift) + 63) / 64, sizeof *p->settled);
	for (uint32_t w = i / 64; 64 * w < end; w++)
		p->settled[w] |= race_settled_bits(w, i, end);
}

static struct race_use *use_of(struct race_cell *cell, unsigned column)
{
	return column < RACE_READER ? &cell->writer[column] : &cell->reader[column - RACE_READER];
}

struct race_cell race_cell_take(const struct race_cells *c, const struct race_page *p,
                                uint64_t address)
{
	const uint32_t i = race_cell_index(p, address);
	struct race_cell cell = { .strong = p->strong ? p->strong[i] : 0 };
	for (unsigned k = 0; k < RACE_COLUMNS; k++) {
		const race_mark mark = p->column[k] ? p->column[k][i] : 0;
		if (!mark)
			continue;
		const struct race_who *who = race_who_of(&c->marks, mark);
		*use_of(&cell, k) = (struct race_use){ .warp = who->warp,
			                                   .lanes = race_lanes_at(&c->marks, mark, address),
			                                   .epoch = who->epoch,
			                                   .op = who->op,
			                                   .mark = mark };
	}
	return cell;
}

static race_mark mark_of(struct race_cells *c, const struct race_use *u, uint64_t address,
                         unsigned scale, uint32_t n_warps)
{
	if (!u->warp || u->mark)
		return u->mark;
	struct race_who who = { .warp = u->warp,
		                    .block = (u->warp - 1) / n_warps,
		                    .epoch = u->epoch,
		                    .op = u->op,
		                    .lanes = u->lanes };
	if (u->lanes & (u->lanes - 1))
		return race_mark_of(race_marks_number(&c->marks, &who), 0);
	const unsigned lane = (unsigned)__builtin_ctz(u->lanes);
	who.lanes = who.row = 1;
	who.scale = (uint16_t)scale;
	return race_mark_of(race_marks_number(&c->marks, &who),
	                    ((unsigned)(address >> scale) - lane) % RACE_TURNS);
}

void race_cell_put(struct race_cells *c, struct race_page *p, uint64_t address,
                   struct race_cell *cell, unsigned scale, uint32_t n_warps)
{
	const uint32_t i = race_cell_index(p, address);
	race_unsettle(p, i, i + 1);
	for (unsigned k = 0; k < RACE_COLUMNS; k++) {
		const struct race_use *use = use_of(cell, k);
		const race_mark mark = mark_of(c, use, address, scale, n_warps);
		if (mark || p->column[k])
			race_column(c, p, k)[i] = mark;
	}
	if (cell->strong && !p->strong)
		p->strong = new_column(c, p->shift);
	if (p->strong)
		p->strong[i] = cell->strong;
}

/* --- pages --- */

/* Cell @to of a finer page is to be as @from. */
static void copy_strong(struct race_cells *c, uint32_t *to, uint32_t from)
{
	if (!from)
		return;
	const uint32_t strong = new_strong(c);
	c->strong[strong] = c->strong[from];
	*to = strong;
}

void race_page_fit(struct race_cells *c, struct race_page *p, unsigned bytes)
{
	const uint8_t shift = shift_of(bytes);
	if (p->used && shift >= p->shift)
		return;
	struct race_page fine = { .number = p->number, .used = true, .shift = shift };
	const unsigned by = p->used ? (unsigned)(p->shift - shift) : 0;
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		for (uint32_t i = 0; p->column[k] && i < cells_of(shift); i++)
			race_column(c, &fine, k)[i] = p->column[k][i >> by];
	if (p->strong)
		fine.strong = new_column(c, shift);
	for (uint32_t i = 0; p->strong && i < cells_of(shift); i++)
		copy_strong(c, &fine.strong[i], p->strong[i >> by]);
	race_page_free(c, p);
	*p = fine;
}

void race_page_free(struct race_cells *c, struct race_page *p)
{
	for (uint32_t i = 0; p->strong && i < cells_of(p->shift); i++)
		free_strong(c, &p->strong[i]);
	free_column(c, &p->strong, p->shift);
	free(p->settled);
	p->settled = NULL;
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		free_column(c, &p->column[k], p->shift);
	p->used = false;
}

struct race_page *race_page_of(struct race_cells *c, uint64_t address, unsigned bytes)
{
	const uint64_t number = address >> RACE_PAGE_BITS;
	if (2 * c->n >= c->room) {
		const uint32_t room = c->room ? 2 * c->room : 256;
		struct race_page *more = mem_calloc(room, sizeof *more);
		for (uint32_t i = 0; i < c->room; i++)
			if (c->page[i].used)
				*race_page_slot(more, room, c->page[i].number) = c->page[i];
		free(c->page);
		c->page = more;
		c->room = room;
	}
	struct race_page *p = race_page_slot(c->page, c->room, number);
	if (!p->used) {
		if (c->bytes + c->marks.room * sizeof *c->marks.who >= CELLS_MAX_BYTES) {
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
		struct race_page *p = race_page_slot(c->page, c->room, number);
		for (; at < end && at < address + bytes && p->used; at += 1u << p->shift) {
			const uint32_t i = race_cell_index(p, at);
			race_unsettle(p, i, i + 1);
			for (unsigned k = 0; k < RACE_COLUMNS; k++)
				if (p->column[k])
					p->column[k][i] = 0;
			if (p->strong)
				free_strong(c, &p->strong[i]);
		}
		at = end;
	}
}

/* --- marks that nobody needs any longer --- */

void race_page_seen(const struct race_page *p, uint32_t *seen)
{
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		for (uint32_t i = 0; p->column[k] && i < cells_of(p->shift); i++)
			seen[p->column[k][i] / RACE_TURNS] = 1;
}

void race_page_renumber(struct race_page *p, const uint32_t *seen)
{
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		for (uint32_t i = 0; p->column[k] && i < cells_of(p->shift); i++) {
			const race_mark mark = p->column[k][i];
			p->column[k][i] = mark ? race_mark_of(seen[mark / RACE_TURNS], race_turn(mark)) : 0;
		}
}

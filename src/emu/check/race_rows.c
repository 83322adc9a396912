/* Many cells at a time; see race_rows.h. */
#include "emu/check/race_rows.h"

/* --- who is before whom --- */

/* UNCLEAR: not for all cells of a row alike. */
enum order { BEFORE, BESIDE, UNCLEAR };

/* Two uses by one warp, between which it has not synced: a lane is before itself only. */
static enum order within_warp(const struct race_rows *r, race_mark mark, const struct race_who *who)
{
	const struct race_who *mine = &r->who;
	if (who->epoch == RACE_PENDING || !who->row || !mine->row || who->lanes != 1)
		return BESIDE; /* one of them is of several lanes */
	if (who->scale != mine->scale)
		return UNCLEAR;
	return race_turn(mark) == r->turn ? BEFORE : BESIDE;
}

static enum order order_of(const struct race_rows *r, race_mark mark)
{
	const struct race_block *b = r->b;
	if (!mark)
		return BEFORE;
	const struct race_who *who = race_who_of(&b->cells->marks, mark);
	if (who->block != r->who.block)
		return b->races->between_blocks ? BESIDE : BEFORE;
	const struct race_warp *mine = &b->warp[r->warp];
	if (who->warp == r->who.warp)
		return who->epoch < mine->all_known ? BEFORE : within_warp(r, mark, who);
	return who->epoch < mine->others[who->warp - 1 - b->first_warp] ? BEFORE : BESIDE;
}

/* --- what cells say --- */

/* What cells that say @mark[] are to say in a column; CLOSER: each wants a look of its own. */
struct step {
	enum { CLOSER, NOTHING_NEW, ONE_COLUMN, WRITTEN } kind;
	unsigned column;
	race_mark mark;
};

static race_mark own_mark(struct race_rows *r)
{
	if (!r->number)
		r->number = race_marks_number(&r->b->cells->marks, &r->who);
	return race_mark_of(r->number, r->turn);
}

/* The lanes of this use beside those of @mark, which is of the same instruction in the same epoch.
 */
static struct step join(struct race_rows *r, race_mark mark, unsigned column)
{
	struct race_marks *marks = &r->b->cells->marks;
	struct race_who all = *race_who_of(marks, mark);
	if (all.row != r->who.row || (all.row && all.scale != r->who.scale))
		return (struct step){ CLOSER, 0, 0 };
	const uint32_t old = all.lanes;
	all.lanes |= all.row ? race_rotate(r->who.lanes, race_turn(mark) - r->turn) : r->who.lanes;
	if (all.lanes == old)
		return (struct step){ NOTHING_NEW, 0, 0 };
	return (struct step){ ONE_COLUMN, column,
		                  race_mark_of(race_marks_number(marks, &all), race_turn(mark)) };
}

/* As note() in race.c. */
static struct step read_step(struct race_rows *r, const race_mark mark[RACE_COLUMNS])
{
	const struct race_marks *marks = &r->b->cells->marks;
	const race_mark *reader = &mark[RACE_READER];
	const struct race_who *who[2] = { race_who_of(marks, reader[0]),
		                              race_who_of(marks, reader[1]) };
	if (order_of(r, mark[RACE_WRITER]) != BEFORE ||
	    order_of(r, mark[RACE_EARLIER_WRITER]) != BEFORE)
		return (struct step){ CLOSER, 0, 0 };
	for (unsigned i = 0; i < 2; i++)
		if (reader[i] && who[i]->warp == r->who.warp && who[i]->epoch == r->who.epoch &&
		    who[i]->op == r->who.op)
			return join(r, reader[i], RACE_READER + i);
	unsigned to = 2;
	for (unsigned i = 0; i < 2 && to == 2; i++) {
		const enum order order = order_of(r, reader[i]);
		if (order == UNCLEAR)
			return (struct step){ CLOSER, 0, 0 };
		to = order == BEFORE ? i : 2;
	}
	for (unsigned i = 0; i < 2 && to == 2; i++)
		to = who[i]->warp == r->who.warp ? i : 2;
	if (to == 2 && who[0]->block != who[1]->block)
		return (struct step){ NOTHING_NEW, 0, 0 };
	return (struct step){ ONE_COLUMN, RACE_READER + (to == 2 ? 1 : to), own_mark(r) };
}

static struct step write_step(struct race_rows *r, const race_mark mark[RACE_COLUMNS])
{
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		if (order_of(r, mark[k]) != BEFORE)
			return (struct step){ CLOSER, 0, 0 };
	return (struct step){ WRITTEN, RACE_WRITER, own_mark(r) };
}

/* Where the cells of [i, end) that say the same as cell @i in @column end. */
static uint32_t alike(const uint32_t *column, uint32_t i, uint32_t end)
{
	const uint32_t first = column[i++];
	for (; i + 8 <= end; i += 8) {
		uint32_t other = 0;
		for (uint32_t k = 0; k < 8; k++)
			other |= column[i + k] ^ first;
		if (other)
			break;
	}
	while (i < end && column[i] == first)
		i++;
	return i;
}

static void fill(race_mark *column, uint32_t i, uint32_t end, race_mark mark)
{
	for (; i < end; i++)
		column[i] = mark;
}

static void take_step(struct race_rows *r, struct race_page *p, uint32_t i, uint32_t end,
                      const struct step *s)
{
	for (unsigned k = 0; s->kind == WRITTEN && k < RACE_COLUMNS; k++)
		if (p->column[k])
			fill(p->column[k], i, end, 0);
	if (s->kind != NOTHING_NEW)
		fill(race_column(r->b->cells, p, s->column), i, end, s->mark);
}

/* Cells [i, end) of @p. */
static bool pass_cells(struct race_rows *r, struct race_page *p, uint32_t i, uint32_t end)
{
	if (p->strong && (p->strong[i] || alike(p->strong, i, end) < end))
		return false;
	while (i < end) {
		race_mark mark[RACE_COLUMNS] = { 0 };
		uint32_t to = end;
		for (unsigned k = 0; k < RACE_COLUMNS; k++)
			if (p->column[k]) {
				mark[k] = p->column[k][i];
				to = alike(p->column[k], i, to);
			}
		const struct step s = r->write ? write_step(r, mark) : read_step(r, mark);
		if (s.kind == CLOSER)
			return false;
		take_step(r, p, i, to, &s);
		i = to;
	}
	return true;
}

/* --- pieces --- */

struct race_page *race_page_at(struct race_block *b, bool shared, uint64_t at, unsigned bytes)
{
	if (!shared)
		return race_page_of(b->cells, at, bytes);
	struct race_page *p = &b->shared[at >> RACE_PAGE_BITS];
	race_page_fit(b->cells, p, bytes);
	return p;
}

struct race_rows race_rows_of(struct race_block *b, uint32_t warp, uint32_t op, uint32_t epoch,
                              unsigned bytes)
{
	const struct race_warp *w = &b->warp[warp];
	return (struct race_rows){
		.b = b,
		.warp = warp,
		.bytes = bytes,
		.simple = !w->beyond && !w->partial && !w->section && epoch != RACE_PENDING &&
		          !(bytes & (bytes - 1)),
		.who = { .warp = b->first_warp + warp + 1,
		         .block = b->number,
		         .epoch = epoch,
		         .op = op,
		         .lanes = 1,
		         .row = 1,
		         .scale = (uint16_t)__builtin_ctz(bytes) },
	};
}

unsigned race_rows_looks(const struct race_rows *r, const struct lane_piece *p)
{
	const unsigned cells = p->one_place ? 1 : p->n;
	return cells >= 8 || r->shared ? (cells + 7) / 8 : FAR_LOOKS * cells;
}

bool race_rows_pass(struct race_rows *r, const struct lane_piece *p, uint64_t from)
{
	const bool row = !p->one_place;
	const uint32_t lanes = row ? 1 : lane_piece_mask(p);
	uint64_t at = from + p->at;
	const uint64_t end = at + (row ? p->n : 1) * (uint64_t)r->bytes;
	if (!r->simple || at & (r->bytes - 1) || (r->write && !row))
		return false;
	if (r->who.row != row || r->who.lanes != lanes)
		r->number = 0;
	r->who.row = row;
	r->who.lanes = lanes;
	r->who.scale = row ? (uint16_t)__builtin_ctz(r->bytes) : 0;
	r->turn = row ? (unsigned)((at >> r->who.scale) - p->first) % RACE_TURNS : 0;
	while (at < end) {
		struct race_page *page = race_page_at(r->b, r->shared, at, r->bytes);
		const uint64_t page_end = (at | ((1u << RACE_PAGE_BITS) - 1)) + 1;
		const uint64_t to = end < page_end ? end : page_end;
		if (!page)
			return false;
		const uint32_t i = race_cell_index(page, at);
		if (!pass_cells(r, page, i, i + (uint32_t)((to - at) >> page->shift)))
			return false;
		at = to;
	}
	return true;
}

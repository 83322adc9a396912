/* Many cells at a time; see race_rows.h. */
#include "emu/check/race_rows.h"

/* --- how lanes lie --- */

/* Lanes that lie @step bytes before the next one. */
static uint32_t steps(const struct race_access *a, uint64_t step)
{
	uint32_t m = 0;
	for (unsigned i = 0; i < 31; i++)
		m |= (uint32_t)(a->address[i + 1] - a->address[i] == step) << i;
	return m;
}

struct race_lie race_lie_of(const struct race_access *a)
{
	const uint32_t both = a->mask & a->mask >> 1;
	struct race_lie lie = { .mask = a->mask };
	if (a->lanes == RACE_IN_A_ROW)
		lie.rising = both;
	else if (a->lanes == RACE_ONE_PLACE)
		lie.same = both;
	else
		lie = (struct race_lie){ a->mask, steps(a, a->bytes) & both, steps(a, 0) & both };
	if (a->write) /* who stores beside others is looked at by itself */
		lie.same = 0;
	return lie;
}

/* How many lanes from @first on follow one another by @steps. */
static unsigned run_length(uint32_t steps, unsigned first)
{
	return 1 + (unsigned)__builtin_ctzll(~((uint64_t)steps >> first));
}

struct race_piece race_piece_at(const struct race_lie *lie, unsigned first)
{
	const unsigned row = run_length(lie->rising, first), same = run_length(lie->same, first);
	return (struct race_piece){ first, row > 1 ? row : same, row == 1 && same > 1 };
}

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
	const struct race_warp *mine = &b->warp[r->a->warp];
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
		const struct step s = r->a->write ? write_step(r, mark) : read_step(r, mark);
		if (s.kind == CLOSER)
			return false;
		take_step(r, p, i, to, &s);
		i = to;
	}
	return true;
}

/* --- pieces --- */

struct race_page *race_page_at(struct race_block *b, const struct race_access *a, uint64_t at)
{
	if (!a->shared)
		return race_page_of(b->cells, at, a->bytes);
	struct race_page *p = &b->shared[at >> RACE_PAGE_BITS];
	race_page_fit(b->cells, p, a->bytes);
	return p;
}

struct race_rows race_rows_of(struct race_block *b, const struct race_access *a, uint32_t op,
                              uint32_t epoch)
{
	const struct race_warp *w = &b->warp[a->warp];
	return (struct race_rows){
		.b = b,
		.a = a,
		.simple = !w->beyond && !w->partial && !w->section && epoch != RACE_PENDING &&
		          !(a->bytes & (a->bytes - 1)),
		.who = { .warp = b->first_warp + a->warp + 1,
		         .block = b->first_warp / b->n_warps,
		         .epoch = epoch,
		         .op = op,
		         .lanes = 1,
		         .row = 1,
		         .scale = (uint16_t)__builtin_ctz(a->bytes) },
	};
}

bool race_rows_pass(struct race_rows *r, const struct race_piece *piece, uint64_t address)
{
	const unsigned bytes = r->a->bytes;
	const bool row = !piece->one_place;
	const uint32_t lanes = row ? 1 : (uint32_t)((((uint64_t)1 << piece->n) - 1) << piece->first);
	const uint64_t end = address + (row ? piece->n : 1) * (uint64_t)bytes;
	if (!r->simple || address & (bytes - 1))
		return false;
	if (r->who.row != row || r->who.lanes != lanes)
		r->number = 0;
	r->who.row = row;
	r->who.lanes = lanes;
	r->who.scale = row ? (uint16_t)__builtin_ctz(bytes) : 0;
	r->turn = row ? (unsigned)((address >> r->who.scale) - piece->first) % RACE_TURNS : 0;
	while (address < end) {
		struct race_page *p = race_page_at(r->b, r->a, address);
		const uint64_t page_end = (address | ((1u << RACE_PAGE_BITS) - 1)) + 1;
		const uint64_t to = end < page_end ? end : page_end;
		if (!p)
			return false;
		const uint32_t i = race_cell_index(p, address);
		if (!pass_cells(r, p, i, i + (uint32_t)((to - address) >> p->shift)))
			return false;
		address = to;
	}
	return true;
}

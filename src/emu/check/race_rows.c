/* Many cells at a time; see race_rows.h. */
#include "emu/check/race_rows.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* --- who is before whom --- */

/* A use in a cell, to the one that comes: */
enum relation {
	BEFORE,  /* or there is none */
	UNCLEAR, /* not for all cells of a row alike */
	/* in no order: */
	SAME_WARP,
	SAME_BLOCK,
	STRANGER
};

/* Two uses by one warp, between which it has not synced: a lane is before itself only. */
static enum relation within_warp(const struct race_rows *r, race_mark mark,
                                 const struct race_who *who)
{
	const struct race_who *mine = &r->who;
	if (who->epoch == RACE_PENDING || !who->row || !mine->row || who->lanes != 1)
		return SAME_WARP; /* one of them is of several lanes */
	if (who->scale != mine->scale)
		return UNCLEAR;
	return race_turn(mark) == r->turn ? BEFORE : SAME_WARP;
}

/* Are all lanes of @who at @at before those of the access there? */
static bool ordered_at(const struct race_rows *r, race_mark mark, const struct race_who *who,
                       uint64_t at)
{
	const struct race_block *b = r->b;
	const uint32_t warp = r->who.warp - 1 - b->first_warp;
	const uint32_t theirs = race_lanes_at(&b->cells->marks, mark, at);
	const uint32_t mine =
		r->who.row ? race_rotate(1, (unsigned)(at >> r->log_bytes) - r->turn) : r->who.lanes;
	for (uint32_t k = mine; k; k &= k - 1)
		for (uint32_t m = theirs; m; m &= m - 1)
			if (!race_ordered(b, warp, (unsigned)__builtin_ctz(k), who->warp - 1,
			                  (unsigned)__builtin_ctz(m), who->epoch))
				return false;
	return true;
}

/* The relation in all cells that are looked at; @beside: where they are in no order. */
static enum relation lane_by_lane(const struct race_rows *r, race_mark mark,
                                  const struct race_who *who, enum relation beside)
{
	const bool first = ordered_at(r, mark, who, r->at);
	for (uint32_t i = 1; i < r->n; i++)
		if (ordered_at(r, mark, who, r->at + ((uint64_t)i << r->shift)) != first)
			return UNCLEAR;
	return first ? BEFORE : beside;
}

static inline enum relation relation_of(const struct race_rows *r, race_mark mark)
{
	const struct race_block *b = r->b;
	if (!mark)
		return BEFORE;
	const struct race_who *who = race_who_of(&b->cells->marks, mark);
	enum relation known = BEFORE; /* by barriers, and syncs of the whole warp */
	if (who->block != r->who.block)
		known = b->races->between_blocks || r->shared ? STRANGER : BEFORE;
	else if (who->warp != r->who.warp)
		known = who->epoch < r->warp->others[who->warp - 1 - b->first_warp] ? BEFORE : SAME_BLOCK;
	else if (who->epoch >= r->warp->all_known)
		known = within_warp(r, mark, who);
	if (known == BEFORE || (known > SAME_WARP && !r->warp->beyond) ||
	    (known == SAME_WARP && !r->warp->beyond && !r->warp->partial))
		return known;
	return lane_by_lane(r, mark, who, known == UNCLEAR ? SAME_WARP : known);
}

/* --- what cells say --- */

/* What cells that say @mark[] are to say in a column; CLOSER: each wants a look of its own. */
struct step {
	enum { CLOSER, NOTHING_NEW, SETTLED, ONE_COLUMN, WRITTEN } kind;
	unsigned column;
	race_mark mark;
};
static const struct step closer = { .kind = CLOSER }, nothing_new = { .kind = NOTHING_NEW },
						 settled = { .kind = SETTLED };

static race_mark own_mark(struct race_rows *r)
{
	if (!r->number)
		r->number = race_marks_number(&r->b->cells->marks, &r->who);
	return race_mark_of(r->number, r->turn);
}

/* Is @mark of the same instruction in the same epoch? */
static inline bool same_use(const struct race_rows *r, race_mark mark)
{
	const struct race_who *who = race_who_of(&r->b->cells->marks, mark);
	return mark && who->warp == r->who.warp && who->epoch == r->who.epoch && who->op == r->who.op;
}

/* The lanes of this use beside those of @mark, which is the same. */
static struct step join(struct race_rows *r, race_mark mark, unsigned column)
{
	struct race_marks *marks = &r->b->cells->marks;
	struct race_who all = *race_who_of(marks, mark);
	if (all.row != r->who.row || (all.row && all.scale != r->who.scale))
		return closer;
	const uint32_t old = all.lanes;
	all.lanes |= all.row ? race_rotate(r->who.lanes, race_turn(mark) - r->turn) : r->who.lanes;
	if (all.lanes == old)
		return nothing_new;
	return (struct step){ ONE_COLUMN, column,
		                  race_mark_of(race_marks_number(marks, &all), race_turn(mark)) };
}

static inline struct step read_in(struct race_rows *r, unsigned column)
{
	return (struct step){ ONE_COLUMN, column, own_mark(r) };
}

/* As note() in race.c. */
static struct step read_step(struct race_rows *r, const race_mark mark[RACE_COLUMNS])
{
	const struct race_marks *marks = &r->b->cells->marks;
	const race_mark first = mark[RACE_READER], second = mark[RACE_OTHER_READER];
	if (relation_of(r, mark[RACE_WRITER]) != BEFORE ||
	    relation_of(r, mark[RACE_EARLIER_WRITER]) != BEFORE)
		return closer;
	if (same_use(r, first))
		return join(r, first, RACE_READER);
	if (same_use(r, second))
		return join(r, second, RACE_OTHER_READER);
	const enum relation one = relation_of(r, first);
	if (one == BEFORE)
		return read_in(r, RACE_READER);
	const enum relation other = relation_of(r, second);
	if (one == UNCLEAR || other == UNCLEAR)
		return closer;
	if (other != BEFORE && one == SAME_WARP)
		return read_in(r, RACE_READER);
	if (other > SAME_WARP && race_who_of(marks, first)->block != race_who_of(marks, second)->block)
		return mark[RACE_WRITER] | mark[RACE_EARLIER_WRITER] ? nothing_new : settled;
	return read_in(r, RACE_OTHER_READER);
}

static struct step write_step(struct race_rows *r, const race_mark mark[RACE_COLUMNS])
{
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		if (relation_of(r, mark[k]) != BEFORE)
			return closer;
	return (struct step){ WRITTEN, RACE_WRITER, own_mark(r) };
}

/* Is what @mark says plainly before the access: by barriers, or the same lane's? */
static inline bool plainly_before(struct race_rows *r, race_mark mark)
{
	const struct race_block *b = r->b;
	if (!mark)
		return true;
	const struct race_who *who = race_who_of(&b->cells->marks, mark);
	if (who->block != r->who.block)
		return !b->races->between_blocks && !r->shared;
	if (who->warp != r->who.warp)
		return who->epoch < r->warp->others[who->warp - 1 - b->first_warp];
	if (who->epoch < r->warp->all_known)
		return true;
	r->by_lane = true;
	return who->row && r->who.row && who->lanes == 1 && who->scale == r->who.scale &&
	       race_turn(mark) == r->turn && who->epoch != RACE_PENDING;
}

/* The step that most cells take, if it is plain; else CLOSER. */
static inline struct step plain_step(struct race_rows *r, const race_mark mark[RACE_COLUMNS])
{
	const race_mark own = own_mark(r), reader = mark[RACE_READER];
	r->by_lane = false;
	if (!r->write && (reader == own || mark[RACE_OTHER_READER] == own))
		return nothing_new; /* and nobody has written since */
	if (!plainly_before(r, mark[RACE_WRITER]) || !plainly_before(r, mark[RACE_EARLIER_WRITER]) ||
	    !plainly_before(r, reader) || (r->write && !plainly_before(r, mark[RACE_OTHER_READER])))
		return closer;
	return r->write ? (struct step){ WRITTEN, RACE_WRITER, own }
	                : (struct step){ ONE_COLUMN, RACE_READER, own };
}

/* --- cells in a row --- */

typedef race_mark marks_vec __attribute__((vector_size(16), aligned(4), may_alias));

/* The first of four that is not 0; 4 = none. */
static inline unsigned first_other(marks_vec v)
{
#ifdef __SSE2__
	const __m128i none = _mm_cmpeq_epi32((__m128i)v, _mm_setzero_si128());
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_ps(_mm_castsi128_ps(none)));
#else
	unsigned i = 0;
	while (i < 4 && !v[i])
		i++;
	return i;
#endif
}

/* The columns of a page that are there, and what the first of some cells says in each. */
struct columns {
	const uint32_t *column[RACE_COLUMNS];
	race_mark first[RACE_COLUMNS];
	unsigned n;
};

/* Where the cells of [i, end) that say the same as cell @i in the bits of @care end. */
static inline uint32_t alike(const struct columns *c, uint32_t i, uint32_t end, race_mark care)
{
	if (end - i < 4) {
		bool same = true;
		for (uint32_t at = i + 1; at < end; at++) {
			for (unsigned k = 0; k < c->n; k++)
				same &= !((c->column[k][at] ^ c->first[k]) & care);
			if (!same)
				return at;
		}
		return end;
	}
	for (uint32_t at = i; at < end; at += 4) {
		at = at + 4 <= end ? at : end - 4; /* the last four are partly looked at again */
		marks_vec other = { 0, 0, 0, 0 };
		for (unsigned k = 0; k < c->n; k++) {
			const race_mark first = c->first[k];
			other |= *(const marks_vec *)(const void *)(c->column[k] + at) ^
			         (marks_vec) { first, first, first, first };
		}
		const unsigned same = first_other(other & (marks_vec){ care, care, care, care });
		if (same < 4)
			return at + same;
	}
	return end;
}

static inline void fill(race_mark *column, uint32_t i, uint32_t end, race_mark mark)
{
	const marks_vec all = { mark, mark, mark, mark };
	for (; i + 4 <= end; i += 4)
		*(marks_vec *)(void *)(column + i) = all;
	for (; i < end; i++)
		column[i] = mark;
}

static void take_step(struct race_rows *r, struct race_page *p, uint32_t i, uint32_t end,
                      const struct step *s)
{
	for (unsigned k = 0; s->kind == WRITTEN && k < RACE_COLUMNS; k++)
		if (p->column[k])
			fill(p->column[k], i, end, 0);
	if (s->kind == WRITTEN)
		race_unsettle(p, i, end);
	if (s->kind == SETTLED && !race_settled(p, i, end))
		race_settle(p, i, end);
	if (s->kind == NOTHING_NEW || s->kind == SETTLED)
		return;
	fill(race_column(r->b->cells, p, s->column), i, end, s->mark);
}

/* Cells [i, end) of @p, which begins at @page_at. */
static inline bool pass_cells(struct race_rows *r, struct race_page *p, uint64_t page_at,
                              uint32_t i, uint32_t end)
{
	r->shift = p->shift;
	for (uint32_t k = i; p->strong && k < end; k++)
		if (p->strong[k])
			return false;
	if (!r->write && !r->warp->beyond && race_settled(p, i, end))
		return true;
	struct columns there = { .n = 0 };
	unsigned number[RACE_COLUMNS];
	race_mark mark[RACE_COLUMNS] = { 0 };
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		if (p->column[k]) {
			number[there.n] = k;
			there.column[there.n++] = p->column[k];
		}
	while (i < end) {
		for (unsigned k = 0; k < there.n; k++)
			mark[number[k]] = there.first[k] = there.column[k][i];
		struct step s = plain_step(r, mark);
		/* what is before all lanes is so whatever lane left it */
		const bool any_turn = s.kind >= ONE_COLUMN && !r->by_lane;
		const uint32_t to = alike(&there, i, end, any_turn ? ~(RACE_TURNS - 1) : UINT32_MAX);
		r->at = page_at + ((uint64_t)i << p->shift);
		r->n = to - i;
		if (s.kind == CLOSER)
			s = r->write ? write_step(r, mark) : read_step(r, mark);
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
	struct race_page *p = shared ? &b->shared[at >> RACE_PAGE_BITS] : race_page_known(b->cells, at);
	if (p && p->used && 1u << p->shift <= bytes)
		return p;
	if (!shared)
		return race_page_of(b->cells, at, bytes);
	race_page_fit(b->cells, p, bytes);
	return p;
}

void race_rows_start(struct race_rows *r, struct race_block *b, uint32_t warp, uint32_t op,
                     uint32_t epoch, unsigned bytes)
{
	const unsigned log_bytes = (unsigned)__builtin_ctz(bytes);
	r->b = b;
	r->warp = &b->warp[warp];
	r->bytes = bytes;
	r->log_bytes = log_bytes;
	r->simple = race_rows_simple(b, warp) && epoch != RACE_PENDING && !(bytes & (bytes - 1));
	r->who = (struct race_who){ .warp = b->first_warp + warp + 1,
		                        .block = b->number,
		                        .epoch = epoch,
		                        .op = op,
		                        .lanes = 1,
		                        .row = 1,
		                        .scale = (uint16_t)log_bytes };
	r->number = 0;
	r->page = NULL;
}

/* Of lanes @lanes at one place, or each at its own in a row. */
static void set_who(struct race_rows *r, bool row, uint32_t lanes)
{
	if (r->who.row != row || r->who.lanes != lanes)
		r->number = 0;
	r->who.row = row;
	r->who.lanes = lanes;
	r->who.scale = row ? (uint16_t)r->log_bytes : 0;
}

/* All cells from @at to @end. */
static bool pass_bytes(struct race_rows *r, uint64_t at, uint64_t end)
{
	while (at < end) {
		struct race_page *page = race_page_at(r->b, r->shared, at, r->bytes);
		const uint64_t page_end = (at | ((1u << RACE_PAGE_BITS) - 1)) + 1;
		const uint64_t to = end < page_end ? end : page_end;
		if (!page)
			return false;
		const uint32_t i = race_cell_index(page, at);
		if (!pass_cells(r, page, page_end - (1u << RACE_PAGE_BITS), i,
		                i + (uint32_t)((to - at) >> page->shift)))
			return false;
		at = to;
	}
	return true;
}

bool race_rows_pass(struct race_rows *r, const struct lane_piece *p, uint64_t from)
{
	const uint64_t at = from + p->at;
	if (p->one_place)
		return race_rows_place(r, lane_piece_mask(p), at);
	if (!r->simple || at & (r->bytes - 1))
		return false;
	set_who(r, true, 1);
	r->turn = (unsigned)((at >> r->log_bytes) - p->first) % RACE_TURNS;
	return pass_bytes(r, at, at + ((uint64_t)p->n << r->log_bytes));
}

bool race_rows_place(struct race_rows *r, uint32_t lanes, uint64_t at)
{
	if (!r->simple || at & (r->bytes - 1) || r->write)
		return false;
	set_who(r, false, lanes);
	r->turn = 0;
	return pass_bytes(r, at, at + r->bytes);
}

/* One cell of one lane; false: it wants a closer look. */
static inline bool pass_cell(struct race_rows *r, struct race_page *p, uint32_t i)
{
	race_mark mark[RACE_COLUMNS];
	for (unsigned k = 0; k < RACE_COLUMNS; k++)
		mark[k] = p->column[k] ? p->column[k][i] : 0;
	const struct step s = plain_step(r, mark);
	if (s.kind == CLOSER)
		return false;
	if (s.kind == NOTHING_NEW)
		return true;
	for (unsigned k = 0; s.kind == WRITTEN && k < RACE_COLUMNS; k++)
		if (p->column[k])
			p->column[k][i] = 0;
	race_column(r->b->cells, p, s.column)[i] = s.mark;
	if (s.kind == WRITTEN)
		race_unsettle(p, i, i + 1);
	return true;
}

bool race_rows_lane(struct race_rows *r, unsigned lane, uint64_t at)
{
	struct race_page *p = r->page;
	if (!r->simple || at & (r->bytes - 1))
		return false;
	if (!p || p->number != at >> RACE_PAGE_BITS)
		p = race_page_at(r->b, r->shared, at, r->bytes);
	r->page = r->shared ? NULL : p;
	if (!p)
		return false;
	const uint32_t i = race_cell_index(p, at), end = i + (r->bytes >> p->shift);
	if (!r->write && !r->warp->beyond && race_settled(p, i, end))
		return true;
	set_who(r, true, 1);
	r->turn = (unsigned)((at >> r->log_bytes) - lane) % RACE_TURNS;
	bool pass = true;
	for (uint32_t k = i; pass && k < end; k++)
		pass = !(p->strong && p->strong[k]) && pass_cell(r, p, k);
	return pass || pass_bytes(r, at, at + r->bytes);
}

void race_rows_fetch(const struct race_rows *r, const struct race_access *a)
{
	for (uint32_t m = r->shared ? 0 : a->mask; m; m &= m - 1) {
		const uint64_t at = a->address[__builtin_ctz(m)];
		const struct race_page *p = race_page_known(r->b->cells, at);
		if (!p || !p->used)
			continue;
		const uint32_t i = race_cell_index(p, at);
		for (unsigned k = 0; k < RACE_COLUMNS; k++)
			if (p->column[k])
				__builtin_prefetch(p->column[k] + i);
	}
}

void race_rows_fetch_strong(const struct race_cells *c, const struct race_access *a)
{
	for (unsigned step = 0; step < 2 && !a->shared; step++)
		for (uint32_t m = a->mask; m; m &= m - 1) {
			const uint64_t at = a->address[__builtin_ctz(m)];
			const struct race_page *p = race_page_known(c, at);
			if (!p || !p->used || !p->strong)
				continue;
			const uint32_t *strong = p->strong + race_cell_index(p, at);
			__builtin_prefetch(step ? (const void *)&c->strong[*strong] : strong);
		}
}

bool race_rows_apart(const struct race_access *a)
{
	const uint64_t *at = a->address;
	unsigned beside = 0;
	if (a->lanes != RACE_ANYWHERE)
		return false;
	for (unsigned i = 1; i < 32; i++) { /* without branches */
		const unsigned near = (at[i] - at[i - 1] == a->bytes) | (at[i] == at[i - 1]);
		beside += near & a->mask >> i;
	}
	return 3 * beside < (unsigned)__builtin_popcount(a->mask);
}

void race_rows_of(const struct race_access *a, struct lane_pieces *pieces)
{
	const unsigned first = (unsigned)__builtin_ctz(a->mask);
	const unsigned n = (unsigned)__builtin_popcount(a->mask);
	if (a->lanes == RACE_ANYWHERE || a->mask >> first != UINT32_MAX >> (32 - n)) {
		lane_pieces_find(a->address, a->mask, a->bytes, 0, pieces);
		return;
	}
	pieces->n = 1;
	pieces->piece[0] = (struct lane_piece){ .at = a->address[first],
		                                    .first = (uint8_t)first,
		                                    .n = (uint8_t)n,
		                                    .one_place = n > 1 && a->lanes == RACE_ONE_PLACE };
}

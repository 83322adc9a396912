/* Races: one lane at one place, against who touched it before; see race_visit.h and check.h. */
#include "emu/check/race_rows.h"
#include "emu/check/race_visit.h"

#include <string.h>

#define MAX_ACCESS_BYTES 64 /* of a lane */

/* --- one lane at one place --- */

/* The warp that visits, or asks the copy engine to. */
static uint32_t own_warp(const struct visit *v)
{
	return v->b->first_warp + v->a->warp + 1;
}

/* Is all of @use before this visit, by what its whole warp knows? */
static bool known_to_all(const struct visit *v, const struct race_use *use)
{
	const struct race_block *b = v->b;
	if (!use->warp)
		return true;
	const uint32_t near = race_asker(b->races, use->warp - 1) - b->first_warp;
	const struct race_warp *mine = &b->warp[v->a->warp];
	if (use->warp > RACE_ENGINES && near < b->n_warps)
		return false;
	if (near == v->a->warp)
		return use->epoch < mine->all_known;
	if (near < b->n_warps)
		return use->epoch < mine->others[near];
	return !v->a->shared && !b->races->between_blocks;
}

/* A lane of @use that nothing orders before this visit; 32 = all are. */
static unsigned unordered_lane(struct visit *v, const struct race_use *use)
{
	if (known_to_all(v, use))
		return 32;
	if (use->warp != own_warp(v) && use->epoch != RACE_PENDING && !v->b->warp[v->a->warp].beyond) {
		v->lane = (unsigned)__builtin_ctz(v->use.lanes);
		return (unsigned)__builtin_ctz(use->lanes);
	}
	for (uint32_t k = v->use.lanes; k; k &= k - 1)
		for (uint32_t m = use->lanes; m; m &= m - 1) {
			const unsigned me = (unsigned)__builtin_ctz(k), lane = (unsigned)__builtin_ctz(m);
			if (race_ordered(v->b, v->a->warp, me, use->warp - 1, lane, use->epoch))
				continue;
			v->lane = me;
			return lane;
		}
	return 32;
}

bool race_tell(const struct visit *v, const struct race_use *use, unsigned lane, bool writes,
               bool scope)
{
	const struct races *r = v->b->races;
	const uint32_t warp = race_asker(r, use->warp - 1);
	*v->found = (struct race_found){
		.lane = v->lane,
		.address = v->a->address[v->lane],
		.other_block = r->block[warp / r->n_warps],
		.other_thread = warp % r->n_warps * 32 + lane,
		.other_op = use->op & RACE_OP_MASK,
		.other_writes = writes,
		.scope = scope,
	};
	return true;
}

/* Does this visit store the bytes that lane @lane of @use left there? */
static bool same_value(const struct visit *v, const struct race_use *use, unsigned lane)
{
	const struct race_access *a = v->a;
	uint8_t mine[MAX_ACCESS_BYTES], theirs[MAX_ACCESS_BYTES];
	if (a->read || a->async)
		return false; /* an atomic; not known here */
	const uint64_t at = v->address - a->address[v->lane];
	const uint64_t there = v->address - a->address[lane];
	a->value(a->context, v->lane, mine);
	const bool together = use->warp == v->use.warp && (use->op & RACE_OP_MASK) == a->op &&
	                      lane < v->lane && a->mask >> lane & 1 && there < a->bytes;
	if (together)
		a->value(a->context, lane, theirs);
	return !memcmp(mine + at, together ? theirs + there : a->before(a->context, v->lane) + at,
	               v->bytes);
}

/* Did @v's lane read what @use wrote, or something later? */
static bool goes_on(const struct visit *v, const struct race_use *use, unsigned lane)
{
	return race_followed(v->b, v->a->warp, v->lane, use->warp - 1, lane, use->epoch);
}

/* A lane of @use that would be in no order with this visit, had its warp taken the lock later than
 * this one; 32 = none. */
static unsigned reversed_lane(const struct visit *v, const struct race_use *use)
{
	const uint32_t warp = v->a->warp;
	const uint64_t lock = race_lock_held(v->b, warp, v->lane);
	if (!lock || !(use->op & (RACE_USE_BARE | RACE_USE_BARE_BLOCK)))
		return 32;
	const struct race_place *at = race_place_at(v->b->places, lock);
	for (uint32_t m = use->lanes; m; m &= m - 1)
		if (race_lock_reversed(v->b, warp, at, use, (unsigned)__builtin_ctz(m)))
			return (unsigned)__builtin_ctz(m);
	return 32;
}

/* Has every lane of @use written what is in the cell, as the last one or beside it? Whoever else
 * writes the same there changes nothing for it; others who write there are told by themselves. */
static bool wrote_it(const struct race_cell *cell, const struct race_use *use)
{
	for (unsigned i = 0; i < 2; i++)
		if (cell->writer[i].warp == use->warp && cell->writer[i].epoch != RACE_PENDING &&
		    !(use->lanes & ~cell->writer[i].lanes))
			return true;
	return false;
}

/* A read of what the reader wrote, too, beside one who writes the same: both ways around. */
static bool finds_its_own(const struct visit *v, const struct race_cell *cell,
                          const struct race_use *use, unsigned lane, bool writes)
{
	const struct race_access *a = v->a;
	const bool beside = use == &cell->writer[0] || use == &cell->writer[1];
	if (writes) /* a strong write may have come behind the reader's own, and changed it */
		return beside && !a->write && wrote_it(cell, &v->use);
	return a->write && same_value(v, use, lane) && wrote_it(cell, use);
}

/* One of another warp first: lanes of a warp may do more. */
static bool clashes(struct visit *v, const struct race_cell *cell, const struct race_use use[2],
                    bool writes)
{
	const unsigned first = use[0].warp == v->use.warp;
	for (unsigned k = 0; k < 2; k++) {
		const unsigned i = k ^ first;
		if (!use[i].warp)
			continue;
		unsigned lane = unordered_lane(v, &use[i]);
		if (lane == 32)
			lane = reversed_lane(v, &use[i]);
		if (lane < 32 && !(writes && v->a->write && same_value(v, &use[i], lane)) &&
		    !(writes && use[i].op & RACE_USE_FENCED && goes_on(v, &use[i], lane)) &&
		    !finds_its_own(v, cell, &use[i], lane, writes))
			return race_tell(v, &use[i], lane, writes, false);
	}
	return false;
}

/* Has the visitor's warp used the place before, so that it may go on from what it read? */
static bool took_part(const struct visit *v, const struct race_strong *s)
{
	for (unsigned i = 0; i < 2; i++)
		if (s->writer[i].warp == v->use.warp || s->reader[i].warp == v->use.warp)
			return true;
	return false;
}

/* Volatile stores of different values where nobody looks, or one beside an atomic: whichever comes
 * last stays. */
static bool overwrites(const struct visit *v, const struct race_strong *s,
                       const struct race_use *use, unsigned lane)
{
	const uint32_t both = use->op & v->use.op, any = use->op | v->use.op;
	if (!(any & RACE_USE_VOLATILE) || same_value(v, use, lane))
		return false;
	if (both & RACE_USE_VOLATILE)
		return !s->looked_at;
	return !s->asked && !v->a->decides && !(any & RACE_USE_POLLS) && !took_part(v, s) &&
	       !goes_on(v, use, lane);
}

/* A volatile load of global memory whose value is only data: it wants an order as any other. */
static bool wants_order(const struct visit *v, const struct race_strong *s,
                        const struct race_use *use, unsigned lane, bool writes)
{
	const uint32_t loads = writes ? v->use.op : use->op;
	return loads & RACE_USE_DATA && !v->a->shared && !s->asked && !v->a->decides &&
	       !((use->op | v->use.op) & RACE_USE_POLLS) && !took_part(v, s) &&
	       !race_handed(v->b, v->a->warp, v->lane, use->warp - 1, lane, use->epoch);
}

/* Under a lock: volatile data, of which one is stored, and not what is there already. */
static bool volatile_data(const struct visit *v, const struct race_strong *s,
                          const struct race_use *use, unsigned lane, bool writes)
{
	return use->op & v->use.op & RACE_USE_VOLATILE && !s->asked &&
	       !(writes && v->a->write && same_value(v, use, lane));
}

/* Two atomics for all threads do not, nor does anything with nobody. */
static bool may_clash(const struct visit *v, const struct race_use *use)
{
	return use->warp && (use->op | v->use.op) & (RACE_USE_VOLATILE | RACE_USE_BLOCK_SCOPE);
}

/* Strong accesses clash if a scope is too narrow; if they are volatile accesses of shared memory
 * by which nobody waits: within a warp, or between warps that use no fence; or if they overwrite
 * one another. */
static bool strong_clashes(struct visit *v, const struct race_strong *s, bool writes)
{
	const struct race_use *use = writes ? s->writer : s->reader;
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t both = use[i].op & v->use.op, any = use[i].op | v->use.op;
		if (!may_clash(v, &use[i]))
			continue;
		const unsigned lane = unordered_lane(v, &use[i]), turned = reversed_lane(v, &use[i]);
		if (turned < 32 && volatile_data(v, s, &use[i], turned, writes))
			return race_tell(v, &use[i], turned, writes, false);
		if (lane == 32)
			continue;
		const uint32_t near = use[i].warp - 1 - v->b->first_warp;
		if (near != v->a->warp && wants_order(v, s, &use[i], lane, writes))
			return race_tell(v, &use[i], lane, writes, false);
		if (near != v->a->warp && writes && v->a->write && overwrites(v, s, &use[i], lane))
			return race_tell(v, &use[i], lane, writes, false);
		if (near >= v->b->n_warps) {
			if (any & RACE_USE_BLOCK_SCOPE && !goes_on(v, &use[i], lane))
				return race_tell(v, &use[i], lane, writes, true);
			continue;
		}
		if (!v->a->shared || !(both & RACE_USE_VOLATILE) || any & RACE_USE_POLLS)
			continue;
		if (writes && v->a->write && (near != v->a->warp || same_value(v, &use[i], lane)))
			continue;
		if (near == v->a->warp || !(any & RACE_USE_FENCED))
			return race_tell(v, &use[i], lane, writes, false);
	}
	return false;
}

/* Was the visitor's atomic the last write there, and so behind all others? */
static bool came_last(const struct visit *v, const struct race_strong *s)
{
	return v->a->write && s->last == v->use.warp && v->use.lanes == 1u << s->last_lane;
}

static bool check_cell(struct visit *v, const struct race_cell *cell)
{
	const struct race_access *a = v->a;
	const struct race_strong *s = cell->strong ? &v->b->races->cells.strong[cell->strong] : NULL;
	if (clashes(v, cell, cell->writer, true) || (a->write && clashes(v, cell, cell->reader, false)))
		return true;
	if (!s)
		return false;
	if (a->strength == RACE_WEAK)
		return (!came_last(v, s) && clashes(v, cell, s->writer, true)) ||
		       (a->write && clashes(v, cell, s->reader, false));
	return strong_clashes(v, s, true) || (a->write && strong_clashes(v, s, false));
}

/* --- what a visit leaves --- */

/* Adds to two uses in no order: keeps those that tell most. */
static void note(struct visit *v, struct race_use use[2])
{
	const uint32_t n = v->b->n_warps;
	for (unsigned i = 0; i < 2; i++)
		if (use[i].warp == v->use.warp && use[i].epoch == v->use.epoch && use[i].op == v->use.op) {
			use[i].mark = (v->use.lanes & ~use[i].lanes) ? 0 : use[i].mark;
			use[i].lanes |= v->use.lanes;
			return;
		}
	unsigned to = 2;
	for (unsigned i = 0; i < 2 && to == 2; i++)
		if (!use[i].warp || unordered_lane(v, &use[i]) == 32)
			to = i;
	for (unsigned i = 0; i < 2 && to == 2; i++)
		if (use[i].warp == v->use.warp)
			to = i;
	if (to == 2) {
		const uint32_t first = (use[0].warp - 1) / n, second = (use[1].warp - 1) / n;
		if (first != second)
			return;
		to = 1;
	}
	use[to] = v->use;
}

/* Lanes that store the same by one instruction are one writer. */
static void write_last(struct visit *v, struct race_cell *cell, bool raced)
{
	struct race_use *last = cell->writer, earlier = { 0 };
	if (!raced && last->warp == v->use.warp && last->epoch == v->use.epoch &&
	    last->op == v->use.op) {
		last->mark = (v->use.lanes & ~last->lanes) ? 0 : last->mark;
		last->lanes |= v->use.lanes;
		return;
	}
	for (unsigned i = 2; i--;)
		if (unordered_lane(v, &cell->writer[i]) < 32)
			earlier = cell->writer[i];
	cell->writer[1] = earlier;
	cell->writer[0] = v->use;
}

static void leave(struct visit *v, struct race_cell *cell, bool raced)
{
	struct race_cells *cells = &v->b->races->cells;
	const struct race_access *a = v->a;
	if (a->strength != RACE_WEAK) {
		struct race_strong *s = race_strong_of(cells, cell);
		note(v, a->write ? s->writer : s->reader);
		if (a->write)
			s->last = a->read && !a->unread ? v->use.warp : 0;
		s->last_lane = a->write ? v->lane : s->last_lane;
		s->looked_at |= a->read || a->strength != RACE_VOLATILE;
		s->asked |= a->read && (a->decides || a->in_loop);
		return;
	}
	if (!a->write) {
		note(v, cell->reader);
		return;
	}
	write_last(v, cell, raced);
	cell->reader[0] = cell->reader[1] = (struct race_use){ 0 };
	if (cell->strong && !raced) {
		struct race_strong *s = &cells->strong[cell->strong];
		memset(s->writer, 0, sizeof s->writer);
		memset(s->reader, 0, sizeof s->reader);
		s->last = 0;
	}
}

/* --- a warp's access --- */

static bool in_warp(const struct visit *v, const struct race_found *f)
{
	return f->other_block == v->b->block && f->other_thread / 32 == v->a->warp;
}

/* Lanes @lanes at one cell of @p; of the races of an access the first is told, or the first with
 * another warp. */
static bool visit_cell(struct visit *v, struct race_page *p, uint32_t lanes, bool any)
{
	struct race_cells *cells = v->b->cells;
	struct race_cell cell = race_cell_take(cells, p, v->address);
	v->b->races->visits++;
	const struct race_found first = *v->found;
	v->lane = (unsigned)__builtin_ctz(lanes);
	v->use.lanes = lanes;
	const bool raced = check_cell(v, &cell);
	if (raced && any && (in_warp(v, v->found) || !in_warp(v, &first)))
		*v->found = first;
	leave(v, &cell, raced);
	race_cell_put(cells, p, v->address, &cell, (unsigned)__builtin_ctz(v->a->bytes), v->b->n_warps);
	return raced;
}

bool race_visit_lane(struct visit *v, uint32_t lanes, bool *any)
{
	const struct race_access *a = v->a;
	const uint64_t at = a->address[__builtin_ctz(lanes)];
	for (v->address = at; v->address < at + a->bytes; v->address += v->bytes) {
		struct race_page *p =
			race_page_at(a->owner ? a->owner : v->b, a->shared, v->address, a->bytes);
		if (!p)
			return false;
		v->bytes = 1u << p->shift;
		v->b->races->visits += a->shared ? 0 : FAR_LOOKS - 1;
		*any |= visit_cell(v, p, lanes, *any);
	}
	return true;
}

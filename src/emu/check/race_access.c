/*
 * Races: accesses as they come (check.h). Weak ones hand nothing over: they are looked at many
 * cells at a time, where they say the same, or lane by lane as the strong ones are (race.c).
 */
#include "emu/check/race_reads.h"
#include "emu/check/race_rows.h"
#include "emu/check/race_visit.h"

/* Lanes @lanes, all at one place, which they read; as below. */
static bool visit_place(struct visit *v, struct race_rows *rows, uint32_t lanes, bool *any)
{
	v->b->races->visits += v->a->shared ? 1 : FAR_LOOKS;
	return race_rows_place(rows, lanes, v->a->address[__builtin_ctz(lanes)]) ||
	       race_visit_lane(v, lanes, any);
}

/* Each lane at a place of its own. */
static bool visit_lanes(struct visit *v, struct race_rows *rows, bool *any)
{
	race_rows_fetch(rows, v->a);
	for (uint32_t m = v->a->mask; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		v->b->races->visits += v->a->shared ? 1 : FAR_LOOKS;
		if (race_rows_lane(rows, lane, v->a->address[lane]))
			continue;
		rows->page = NULL; /* it may move */
		if (!race_visit_lane(v, 1u << lane, any))
			return false;
	}
	return true;
}

/* Lanes in a row, or at one place; false: there is no room to look further. */
static bool visit_piece(struct visit *v, struct race_rows *rows, const struct lane_piece *p,
                        bool *any)
{
	const uint32_t lanes = lane_piece_mask(p);
	if (race_rows_pass(rows, p, 0)) {
		v->b->races->visits += race_rows_looks(rows, p);
		return true;
	}
	if (p->one_place && !v->a->write)
		return race_visit_lane(v, lanes, any);
	for (uint32_t m = lanes; m; m &= m - 1)
		if (!race_visit_lane(v, m & -m, any))
			return false;
	return true;
}

/* An access that hands nothing over, in @epoch. True: it races. */
static bool weak_access(struct visit *v, uint32_t epoch)
{
	const struct race_access *a = v->a;
	struct race_rows rows;
	struct lane_pieces pieces;
	bool any = false;
	race_rows_start(&rows, v->b, a->warp, v->use.op, epoch, a->bytes);
	rows.shared = a->shared;
	rows.write = a->write;
	rows.simple &= !a->owner;
	v->use.epoch = epoch;
	if (a->lanes == RACE_ONE_PLACE && !a->write) {
		visit_place(v, &rows, a->mask, &any);
		return any;
	}
	if (race_rows_apart(a)) {
		visit_lanes(v, &rows, &any);
		return any;
	}
	race_rows_of(a, &pieces);
	for (unsigned i = 0; i < pieces.n; i++)
		if (!visit_piece(v, &rows, &pieces.piece[i], &any))
			return any;
	return any;
}

void race_look_at_reads(struct race_block *b)
{
	struct race_access a;
	struct race_found none;
	uint64_t address[32];
	uint32_t epoch;
	while (race_reads_next(b, &a, address, &epoch)) {
		struct visit v = { .b = b, .a = &a, .found = &none };
		v.use = (struct race_use){ .warp = b->first_warp + a.warp + 1, .op = a.op };
		weak_access(&v, epoch);
	}
}

bool race_plain_loads(struct race_block *b, uint32_t warp, const struct lane_load *load,
                      const uint64_t *low, uint32_t n)
{
	if (!races_go_on(b->races) || !race_rows_simple(b, warp) ||
	    !race_reads_put_off_plain(b, warp, load, low, n))
		return false;
	b->races->visits += 2 * n; /* it costs about as much */
	b->warp[warp].acted = UINT32_MAX;
	return true;
}

bool race_plain(struct race_block *b, const struct race_plain *p)
{
	struct races *r = b->races;
	if (!races_go_on(r))
		return true;
	if (!race_rows_simple(b, p->warp))
		return false;
	b->warp[p->warp].acted = UINT32_MAX;
	if (p->shared && p->write && race_reads_due_plain(b, p))
		race_look_at_reads(b);
	struct race_rows rows;
	race_rows_start(&rows, b, p->warp, p->op, b->warp[p->warp].epoch, p->bytes);
	rows.shared = p->shared;
	rows.write = p->write;
	for (unsigned i = 0; i < p->pieces->n; i++) {
		if (!race_rows_pass(&rows, &p->pieces->piece[i], p->low))
			return false;
		r->visits += race_rows_looks(&rows, &p->pieces->piece[i]);
	}
	return true;
}

static bool pass_lanes(struct race_rows *rows, const struct race_access *a)
{
	race_rows_fetch(rows, a);
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		if (!race_rows_lane(rows, lane, a->address[lane]))
			return false;
		rows->b->races->visits += a->shared ? 1 : FAR_LOOKS;
	}
	return true;
}

static bool pass_rows(struct race_rows *rows, const struct race_access *a)
{
	struct lane_pieces pieces;
	race_rows_of(a, &pieces);
	for (unsigned i = 0; i < pieces.n; i++) {
		if (!race_rows_pass(rows, &pieces.piece[i], 0))
			return false;
		rows->b->races->visits += race_rows_looks(rows, &pieces.piece[i]);
	}
	return true;
}

bool race_weak(struct race_block *b, const struct race_access *a)
{
	struct races *r = b->races;
	if (!races_go_on(r))
		return true;
	if (!race_rows_simple(b, a->warp))
		return false;
	b->warp[a->warp].acted |= a->mask;
	if (race_reads_put_off(b, a, a->op & RACE_OP_MASK)) {
		r->visits += 2;
		return true;
	}
	if (a->shared && a->write && race_reads_due(b, a))
		race_look_at_reads(b);
	struct race_rows rows;
	race_rows_start(&rows, b, a->warp, a->op & RACE_OP_MASK, b->warp[a->warp].epoch, a->bytes);
	rows.shared = a->shared;
	rows.write = a->write;
	if (a->lanes == RACE_ONE_PLACE && !a->write) {
		r->visits += a->shared ? 1 : FAR_LOOKS;
		return race_rows_place(&rows, a->mask, a->address[__builtin_ctz(a->mask)]);
	}
	return race_rows_apart(a) ? pass_lanes(&rows, a) : pass_rows(&rows, a);
}

/* --- any access --- */

static uint32_t use_flags(const struct race_block *b, const struct race_access *a)
{
	const uint32_t lock = race_lock_flags(b, a);
	if (a->strength == RACE_WEAK)
		return lock;
	const bool data = a->strength == RACE_VOLATILE && a->read && !a->decides && !a->in_loop;
	return lock | (data ? RACE_USE_DATA : 0) |
	       (a->strength == RACE_VOLATILE ? RACE_USE_VOLATILE : 0) |
	       (a->scope == SCOPE_CTA ? RACE_USE_BLOCK_SCOPE : 0) | (a->in_loop ? RACE_USE_POLLS : 0) |
	       (b->warp[a->warp].beyond ? RACE_USE_FENCED : 0);
}

bool race_access(struct race_block *b, const struct race_access *a, struct race_found *found)
{
	struct races *r = b->races;
	struct visit v = { .b = b, .a = a, .found = found };
	bool any = false;
	if (!races_go_on(r))
		return false;
	v.use = (struct race_use){ .warp = b->first_warp + a->warp + 1,
		                       .op = (a->op & RACE_OP_MASK) | use_flags(b, a) };
	b->warp[a->warp].acted |= a->mask;
	if (a->strength == RACE_WEAK && race_reads_put_off(b, a, v.use.op)) {
		r->visits += 2; /* it costs about as much */
		return false;
	}
	const bool due = (a->shared && a->write) || a->strength != RACE_WEAK;
	if (due && race_reads_due(b, a))
		race_look_at_reads(b);
	if (a->async)
		race_copies_note(b, a);
	if (a->strength == RACE_WEAK)
		return weak_access(&v, a->async ? RACE_PENDING : b->warp[a->warp].epoch);
	if (a->mask & (a->mask - 1))
		race_rows_fetch_strong(b->cells, a);
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		v.use.epoch = b->warp[a->warp].epoch;
		if (!race_visit_lane(&v, 1u << lane, &any))
			return any;
		const struct race_block *owner = a->owner ? a->owner : b;
		const uint64_t key = race_place_key(owner, a->shared, a->address[lane]);
		race_hand_over(b, key, lane, a);
		r->visits += (uint64_t)FAR_LOOKS * race_hand_over_looks(b->places, key);
	}
	return any;
}

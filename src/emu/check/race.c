/* Races: every lane's access against who touched the place before; see check.h. */
#include "emu/check/race_cells.h"
#include "emu/check/race_order.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ACCESS_BYTES 64 /* of a lane */

struct races {
	uint32_t n_warps, shared_bytes;
	bool between_blocks; /* races between blocks are looked for */
	uint64_t *block;     /* by the order of their starts */
	uint32_t n_blocks, room_blocks;
	struct race_cells cells;
	struct race_places places;
	uint64_t lane_accesses, most;
};

/* --- a launch and its blocks --- */

struct races *races_new(uint32_t n_warps, uint32_t shared_bytes, bool whole, bool hands_over,
                        uint64_t most)
{
	struct races *r = mem_zalloc(sizeof *r);
	r->n_warps = n_warps;
	r->shared_bytes = shared_bytes;
	r->between_blocks = whole || !hands_over;
	r->most = most;
	return r;
}

void races_free(struct races *r)
{
	if (!r)
		return;
	race_cells_free(&r->cells);
	race_places_free(&r->places);
	free(r->block);
	free(r);
}

void races_forget(struct races *r, uint64_t address, uint64_t bytes)
{
	race_cells_forget(&r->cells, address, bytes);
}

bool races_spent(const struct races *r)
{
	return r->lane_accesses >= r->most;
}

static uint32_t shared_pages(const struct races *r)
{
	return (r->shared_bytes + (1u << RACE_PAGE_BITS) - 1) >> RACE_PAGE_BITS;
}

struct race_block *race_block_start(struct races *r, uint64_t block)
{
	if (r->n_blocks == r->room_blocks) {
		r->room_blocks = r->room_blocks ? 2 * r->room_blocks : 64;
		r->block = mem_realloc(r->block, r->room_blocks, sizeof *r->block);
	}
	struct race_block *b = mem_zalloc(sizeof *b);
	b->races = r;
	b->block = block;
	b->n_warps = r->n_warps;
	b->first_warp = r->n_blocks * r->n_warps;
	r->block[r->n_blocks++] = block;
	race_warps_start(b);
	b->shared = mem_calloc(shared_pages(r) + 1, sizeof *b->shared);
	return b;
}

void race_block_end(struct race_block *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < shared_pages(b->races); i++) {
		race_page_free(&b->races->cells, &b->shared[i]);
	}
	free(b->shared);
	race_warps_free(b);
	free(b);
}

/* --- one lane at one place --- */

struct visit {
	struct race_block *b;
	const struct race_access *a;
	unsigned lane;
	uint64_t address; /* of the cell */
	unsigned bytes;
	struct race_use use; /* it leaves */
	struct race_found *found;
};

/* A lane of @use that nothing orders before this visit; 32 = all are. */
static unsigned unordered_lane(const struct visit *v, const struct race_use *use)
{
	const struct race_block *b = v->b;
	if (!use->warp)
		return 32;
	const uint32_t warp = use->warp - 1, near = warp - b->first_warp;
	const struct race_warp *mine = &b->warp[v->a->warp];
	if (near == v->a->warp ? use->epoch < mine->all_known
	                       : near < b->n_warps && use->epoch < mine->others[near])
		return 32;
	if (near >= b->n_warps && !b->races->between_blocks)
		return 32;
	for (uint32_t m = use->lanes; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		if (!race_ordered(b, v->a->warp, v->lane, warp, lane, use->epoch))
			return lane;
	}
	return 32;
}

static bool tell(const struct visit *v, const struct race_use *use, unsigned lane, bool writes,
                 bool scope)
{
	const struct races *r = v->b->races;
	const uint32_t warp = use->warp - 1;
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
	if (a->read)
		return false; /* an atomic */
	const uint64_t at = v->address - a->address[v->lane];
	const uint64_t there = v->address - a->address[lane];
	a->value(a->context, v->lane, mine);
	const bool together = use->warp == v->use.warp && (use->op & RACE_OP_MASK) == a->op &&
	                      lane < v->lane && a->mask >> lane & 1 && there < a->bytes;
	if (together)
		a->value(a->context, lane, theirs);
	return !memcmp(mine + at, together ? theirs + there : a->host[v->lane] + at, v->bytes);
}

static bool clashes(const struct visit *v, const struct race_use use[2], bool writes)
{
	for (unsigned i = 0; i < 2; i++) {
		const unsigned lane = unordered_lane(v, &use[i]);
		if (lane < 32 && !(writes && v->a->write && same_value(v, &use[i], lane)))
			return tell(v, &use[i], lane, writes, false);
	}
	return false;
}

/* Strong accesses clash if a scope is too narrow; or if they are volatile accesses of shared memory
 * by which nobody waits: within a warp, or between warps that use no fence. */
static bool strong_clashes(const struct visit *v, const struct race_use use[2], bool writes)
{
	for (unsigned i = 0; i < 2; i++) {
		const unsigned lane = unordered_lane(v, &use[i]);
		if (lane == 32)
			continue;
		const uint32_t near = use[i].warp - 1 - v->b->first_warp;
		const uint32_t both = use[i].op & v->use.op, any = use[i].op | v->use.op;
		if (near >= v->b->n_warps) {
			if (any & RACE_USE_BLOCK_SCOPE)
				return tell(v, &use[i], lane, writes, true);
			continue;
		}
		if (!v->a->shared || !(both & RACE_USE_VOLATILE) || any & RACE_USE_POLLS)
			continue;
		if (writes && v->a->write && (near != v->a->warp || same_value(v, &use[i], lane)))
			continue;
		if (near == v->a->warp || !(any & RACE_USE_FENCED))
			return tell(v, &use[i], lane, writes, false);
	}
	return false;
}

static bool check_cell(const struct visit *v, const struct race_cell *cell)
{
	const struct race_access *a = v->a;
	const struct race_strong *s = cell->strong ? &v->b->races->cells.strong[cell->strong] : NULL;
	if (clashes(v, cell->writer, true) || (a->write && clashes(v, cell->reader, false)))
		return true;
	if (!s)
		return false;
	if (a->strength == RACE_WEAK)
		return clashes(v, s->writer, true) || (a->write && clashes(v, s->reader, false));
	return strong_clashes(v, s->writer, true) || (a->write && strong_clashes(v, s->reader, false));
}

/* --- what a visit leaves --- */

/* Adds to two uses in no order: keeps those that tell most. */
static void note(const struct visit *v, struct race_use use[2])
{
	const uint32_t n = v->b->n_warps;
	for (unsigned i = 0; i < 2; i++)
		if (use[i].warp == v->use.warp && use[i].epoch == v->use.epoch && use[i].op == v->use.op) {
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

static void leave(const struct visit *v, struct race_cell *cell, bool raced)
{
	struct race_cells *cells = &v->b->races->cells;
	const struct race_access *a = v->a;
	if (a->strength != RACE_WEAK) {
		struct race_strong *s = race_strong_of(cells, cell);
		note(v, a->write ? s->writer : s->reader);
		return;
	}
	if (!a->write) {
		note(v, cell->reader);
		return;
	}
	struct race_use earlier = { 0 };
	if (unordered_lane(v, &cell->writer[0]) < 32)
		earlier = cell->writer[0];
	else if (unordered_lane(v, &cell->writer[1]) < 32)
		earlier = cell->writer[1];
	cell->writer[1] = earlier;
	cell->writer[0] = v->use;
	cell->reader[0] = cell->reader[1] = (struct race_use){ 0 };
	if (cell->strong && !raced) {
		struct race_strong *s = &cells->strong[cell->strong];
		memset(s->writer, 0, sizeof s->writer);
		memset(s->reader, 0, sizeof s->reader);
	}
}

/* --- a warp's access --- */

static struct race_page *page_at(struct race_block *b, const struct race_access *a, uint64_t at)
{
	if (!a->shared)
		return race_page_of(&b->races->cells, at, a->bytes);
	struct race_page *p = &b->shared[at >> RACE_PAGE_BITS];
	race_page_fit(&b->races->cells, p, a->bytes);
	return p;
}

static uint64_t place_key(const struct race_block *b, bool shared, uint64_t address)
{
	return shared ? (uint64_t)1 << 63 | (uint64_t)b->first_warp << 20 | address : address;
}

static uint32_t use_flags(const struct race_block *b, const struct race_access *a)
{
	if (a->strength == RACE_WEAK)
		return 0;
	return (a->strength == RACE_VOLATILE ? RACE_USE_VOLATILE : 0) |
	       (a->scope == SCOPE_CTA ? RACE_USE_BLOCK_SCOPE : 0) | (a->in_loop ? RACE_USE_POLLS : 0) |
	       (b->warp[a->warp].beyond ? RACE_USE_FENCED : 0);
}

bool race_access(struct race_block *b, const struct race_access *a, struct race_found *found)
{
	struct races *r = b->races;
	struct visit v = { .b = b, .a = a, .found = found };
	bool any = false;
	if (races_spent(r))
		return false;
	v.use = (struct race_use){ .warp = b->first_warp + a->warp + 1,
		                       .op = (a->op & RACE_OP_MASK) | use_flags(b, a) };
	for (uint32_t m = a->mask; m; m &= m - 1) {
		v.lane = (unsigned)__builtin_ctz(m);
		v.use.lanes = 1u << v.lane;
		v.use.epoch = b->warp[a->warp].epoch;
		r->lane_accesses++;
		const uint64_t at = a->address[v.lane];
		struct race_page *p = NULL;
		for (v.address = at; v.address < at + a->bytes; v.address += v.bytes) {
			p = page_at(b, a, v.address);
			if (!p)
				return any;
			v.bytes = 1u << p->shift;
			struct race_cell *cell =
				&p->cell[(v.address & ((1u << RACE_PAGE_BITS) - 1)) >> p->shift];
			struct race_found first = *found;
			const bool raced = check_cell(&v, cell);
			if (raced && any)
				*found = first;
			any |= raced;
			leave(&v, cell, raced);
		}
		if (a->strength != RACE_WEAK)
			race_hand_over(b, &r->places, place_key(b, a->shared, at), v.lane, a);
	}
	return any;
}

void race_mbarrier(struct race_block *b, uint32_t warp, unsigned lane, uint64_t offset,
                   bool arrives)
{
	const struct race_access a = {
		.warp = warp,
		.read = true,
		.write = arrives,
		.scope = SCOPE_CTA,
		.sem = arrives ? SEM_RELEASE : SEM_ACQUIRE,
	};
	race_hand_over(b, &b->races->places, place_key(b, true, offset), lane, &a);
}

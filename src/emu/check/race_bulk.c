/*
 * Races of bulk copies, and of products that read shared memory; see check.h.
 *
 * The copy engine uses memory as a thread of its own, behind all that the lane which asks did
 * before. Nobody knows of its work, not even that lane, but by the phase of an mbarrier that the
 * copy signals, or by a wait for the copy's group. So an engine is noted in cells as a warp beyond
 * those of all blocks, one for each mbarrier or kind of group and the warp that asks, and what it
 * did is known as epochs of that warp: those of one mbarrier, and the groups of one lane, end in
 * their order.
 */
#include "emu/check/race_visit.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
	GROUP_READS = 1,
	GROUP_WRITES = 2,
	GROUP_PRODUCTS = 3
}; /* as keys: no place of shared memory has them */

static struct race_engine *engine_of(struct race_block *b, uint64_t key, uint32_t warp)
{
	struct race_bulks *all = &b->bulks;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->engine[i].key == key && all->engine[i].warp == warp)
			return &all->engine[i];
	struct races *r = b->races;
	MEM_ROOM(all->engine, all->n, all->cap, 8);
	MEM_ROOM(r->asker, r->n_askers, r->cap_askers, 64);
	r->asker[r->n_askers] = b->first_warp + warp;
	all->engine[all->n] = (struct race_engine){
		.key = key, .warp = warp, .number = RACE_ENGINES + r->n_askers++, .epoch = 1
	};
	return &all->engine[all->n++];
}

static uint64_t key_of(const struct race_bulk *k)
{
	if (k->barrier_owner)
		return race_place_key(k->barrier_owner, true, k->barrier);
	return k->write ? GROUP_WRITES : GROUP_READS;
}

static uint32_t groups_begun(const struct race_block *b, uint32_t warp, unsigned lane)
{
	return b->bulks.begun ? b->bulks.begun[warp][lane] : 0;
}

/* What it leaves in cells. */
static struct race_use use_of(struct race_block *b, const struct race_bulk *k)
{
	const struct race_engine *e = engine_of(b, key_of(k), k->warp);
	return (struct race_use){
		.warp = e->number + 1,
		.lanes = 1u << k->lane,
		.epoch = k->barrier_owner ? e->epoch : groups_begun(b, k->warp, k->lane) + 1,
		.op = k->op & RACE_OP_MASK,
	};
}

void race_bulk_signal(struct race_block *b, struct race_block *owner, uint32_t warp, unsigned lane,
                      uint64_t offset, uint32_t phase)
{
	race_mbarrier(b, owner, warp, lane, offset, phase, true);
	struct race_engine *e = engine_of(b, race_place_key(owner, true, offset), warp);
	race_mbarrier_tell(owner, offset, phase,
	                   &(struct race_entry){ race_warp_of(e->number), ++e->epoch });
}

void race_bulk_commit(struct race_block *b, uint32_t warp, uint32_t mask)
{
	struct race_bulks *all = &b->bulks;
	if (!all->begun)
		all->begun = mem_calloc(b->n_warps, sizeof *all->begun);
	for (uint32_t m = mask; m; m &= m - 1)
		all->begun[warp][__builtin_ctz(m)]++;
}

void race_bulk_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t left,
                    bool only_reads)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		const uint32_t begun = groups_begun(b, warp, lane);
		if (begun <= left)
			continue;
		for (uint64_t key = GROUP_READS; key <= (only_reads ? GROUP_READS : GROUP_WRITES); key++) {
			const struct race_engine *e = engine_of(b, key, warp);
			race_learn(b, warp, lane,
			           &(struct race_entry){ race_lane(e->number, lane), begun - left + 1 });
		}
	}
}

/* The epoch before which lane @me of warp @w knows of lane @lane of warp @of of its block. */
static uint32_t known_epoch(const struct race_block *b, uint32_t w, unsigned me, uint32_t of,
                            unsigned lane)
{
	const struct race_warp *mine = &b->warp[w];
	const uint32_t number = b->first_warp + of;
	const uint64_t names[] = { race_warp_of(number), race_lane(number, lane),
		                       race_block_of(b->first_warp) };
	uint32_t to = of != w ? mine->others[of] : mine->all_known;
	if (of == w && mine->partial && mine->known[me][lane] > to)
		to = mine->known[me][lane];
	for (unsigned i = 0; mine->clock[me] && i < 3; i++) {
		const uint32_t epoch = race_clock_epoch(mine->clock[me], names[i]);
		to = epoch > to ? epoch : to;
	}
	return to;
}

void race_proxy_fence(struct race_block *b, uint32_t warp, uint32_t mask)
{
	struct race_bulks *all = &b->bulks;
	struct race_warp *w = &b->warp[warp];
	const struct race_clock *last = NULL;
	if (!all->fenced)
		all->fenced = mem_calloc(b->n_warps, sizeof *all->fenced);
	w->epoch++;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned me = (unsigned)__builtin_ctz(m);
		const bool like_last = m != mask && w->clock[me] == last && !w->partial;
		last = w->clock[me];
		for (uint32_t of = 0; of < b->n_warps && !like_last; of++)
			for (unsigned lane = 0; lane < 32; lane++) {
				const uint32_t to = known_epoch(b, warp, me, of, lane);
				uint32_t *fenced = &all->fenced[of][lane];
				*fenced = to > *fenced ? to : *fenced;
			}
		all->fenced[warp][me] = w->epoch;
	}
}

/* Has the thread of this block that stored last no fence to the engine behind it, by which the
 * engine would see it? */
static bool unfenced(const struct race_block *b, const struct race_use *writer, unsigned *lane)
{
	const uint32_t near = writer->warp - 1 - b->first_warp;
	if (!writer->warp || near >= b->n_warps || writer->epoch == RACE_PENDING)
		return false;
	*lane = (unsigned)__builtin_ctz(writer->lanes);
	return !b->bulks.fenced || writer->epoch >= b->bulks.fenced[near][*lane];
}

/* Is what the engine reads at @address there, but stored with no fence to the engine behind it? */
static bool reads_unfenced(const struct visit *v, uint64_t address)
{
	const struct race_block *b = v->b;
	const struct race_page *p = &b->shared[address >> RACE_PAGE_BITS];
	unsigned lane;
	if (!p->used)
		return false;
	const struct race_cell cell = race_cell_take(b->cells, p, address);
	if (!unfenced(b, &cell.writer[0], &lane))
		return false;
	race_tell(v, &cell.writer[0], lane, true, false);
	v->found->proxy = true;
	return true;
}

bool race_bulk(struct race_block *b, const struct race_bulk *k, struct race_found *found)
{
	uint64_t address[32];
	const unsigned step = 1u << __builtin_ctzll(k->at | k->bytes | (1u << RACE_WIDEST_SHIFT));
	const struct race_access a = {
		.warp = k->warp,
		.mask = 1u << k->lane,
		.op = k->op,
		.bytes = step,
		.shared = k->shared,
		.read = !k->write || k->adds,
		.write = k->write,
		.unread = true,
		.async = true,
		.strength = k->adds ? RACE_STRONG : RACE_WEAK,
		.sem = k->adds ? SEM_RELAXED : SEM_WEAK,
		.scope = SCOPE_GPU,
		.address = address,
		.owner = k->owner,
	};
	struct visit v = { .b = b, .a = &a, .lane = k->lane, .found = found };
	bool any = false;
	if (!races_go_on(b->races))
		return false;
	b->reads.off = true; /* what was put off may be of this place */
	if (b->reads.n)
		race_look_at_reads(b);
	v.use = use_of(b, k);
	for (uint64_t at = k->at; at < k->at + k->bytes; at += step) {
		address[k->lane] = at;
		if (!race_visit_lane(&v, a.mask, &any))
			break;
	}
	const bool follows = k->shared && !k->write && !k->owner;
	for (uint64_t at = k->at; follows && !any && at < k->at + k->bytes; at += step) {
		address[k->lane] = at;
		any = reads_unfenced(&v, at);
	}
	return any;
}

/* --- products of a warp group (wgmma) --- */

/* The four warps have one engine, which reads for all. */
static struct race_engine *engine_of_products(struct race_block *b, uint32_t warp)
{
	return engine_of(b, GROUP_PRODUCTS, warp / 4 * 4);
}

/* Has the engine of @use read there before, in the same group of products? */
static bool read_before(const struct race_block *b, const struct race_use *use, uint64_t at)
{
	const struct race_page *p = &b->shared[at >> RACE_PAGE_BITS];
	const uint64_t end = at + PRODUCT_BYTES;
	for (; p->used && at < end; at += 1u << p->shift) {
		const uint32_t i = race_cell_index(p, at);
		bool found = false;
		for (unsigned k = RACE_READER; k <= RACE_OTHER_READER && !found; k++) {
			const race_mark mark = p->column[k] ? p->column[k][i] : 0;
			const struct race_who *who = race_who_of(&b->cells->marks, mark);
			found = mark && who->warp == use->warp && who->epoch == use->epoch;
		}
		if (!found)
			return false;
	}
	return p->used;
}

bool race_product(struct race_block *b, const struct race_product *p, struct race_found *found)
{
	uint64_t address[32];
	const struct race_access a = {
		.warp = p->warp,
		.mask = 1u << p->lane,
		.op = p->op,
		.bytes = PRODUCT_BYTES,
		.shared = true,
		.read = true,
		.async = true,
		.strength = RACE_WEAK,
		.address = address,
	};
	struct visit v = { .b = b, .a = &a, .lane = p->lane, .found = found };
	bool any = false;
	if (!races_go_on(b->races))
		return false;
	b->reads.off = true;
	if (b->reads.n)
		race_look_at_reads(b);
	v.use = (struct race_use){ .warp = engine_of_products(b, p->warp)->number + 1,
		                       .lanes = 1u << p->lane,
		                       .epoch = p->group + 1,
		                       .op = p->op & RACE_OP_MASK };
	for (unsigned i = 0; i < p->n && !any; i++) {
		b->races->visits++;
		if (read_before(b, &v.use, p->at[i]))
			continue;
		address[p->lane] = p->at[i];
		any = reads_unfenced(&v, p->at[i]);
		if (!race_visit_lane(&v, a.mask, &any))
			break;
	}
	return any;
}

void race_product_wait(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t groups)
{
	const struct race_engine *e = engine_of_products(b, warp);
	race_learn_all(b, warp, mask, &(struct race_entry){ race_warp_of(e->number), groups + 1 });
}

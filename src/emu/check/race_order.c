/*
 * Order between threads; see race_order.h and PTX ISA 9.0, 8 (memory consistency model).
 *
 * Lanes of a warp know of one another by epochs of their warp; warps of a block by what barriers
 * brought (others); everything else is in clocks. A fence begins a release: what its lane had done
 * and knew is handed over by the lane's next strong stores. A barrier or __syncwarp() behind the
 * fence passes that on to all who take part, since programs let one thread of a block speak for
 * all. Likewise it makes good for a reader's own fence.
 */
#include "emu/check/race_order.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void race_warps_start(struct race_block *b)
{
	const uint32_t n_warps = b->n_warps;
	b->warp = mem_calloc(n_warps, sizeof *b->warp);
	for (uint32_t w = 0; w < n_warps; w++) {
		b->warp[w].epoch = b->warp[w].all_known = 1;
		b->warp[w].others = mem_calloc(n_warps, sizeof *b->warp[w].others);
	}
	for (unsigned i = 0; i < RACE_BARRIERS; i++)
		b->gate[i] = (struct race_gate){ .used = false };
}

static void forget_clocks(struct race_warp *w)
{
	for (unsigned i = 0; w->beyond && i < 32; i++) {
		race_clock_set(&w->clock[i], NULL);
		for (unsigned s = 0; s < SCOPES; s++) {
			race_clock_set(&w->release[s][i], NULL);
			race_clock_set(&w->pending[s][i], NULL);
		}
	}
	for (unsigned i = 0; i < sizeof w->joined / sizeof w->joined[0]; i++)
		race_joined_forget(&w->joined[i]);
}

static void forget_gate(struct race_gate *g)
{
	race_clock_set(&g->clock, NULL);
	for (unsigned s = 0; s < SCOPES; s++)
		race_clock_set(&g->release[s], NULL);
	free(g->known);
	*g = (struct race_gate){ .used = false };
}

void race_warps_free(struct race_block *b)
{
	for (uint32_t w = 0; w < b->n_warps; w++) {
		forget_clocks(&b->warp[w]);
		free(b->warp[w].others);
		free(b->warp[w].known);
		free(b->warp[w].section);
	}
	for (unsigned i = 0; i < RACE_BARRIERS; i++)
		forget_gate(&b->gate[i]);
	free(b->warp);
}

void race_places_free(struct race_places *p)
{
	for (uint32_t i = 0; i < p->room; i++)
		for (unsigned s = 0; s < SCOPES; s++)
			race_clock_set(&p->place[i].clock[s], NULL);
	free(p->place);
	*p = (struct race_places){ .n = 0 };
}

/* --- what a thread knows --- */

static uint32_t known_lane(const struct race_warp *w, unsigned me, unsigned lane)
{
	return w->partial && w->known[me][lane] > w->all_known ? w->known[me][lane] : w->all_known;
}

/* Does who knows @c know of that lane up to @epoch? */
static bool clock_knows(const struct race_block *b, const struct race_clock *c, uint32_t warp,
                        unsigned lane, uint32_t epoch)
{
	return c && (epoch < race_clock_epoch(c, race_warp_of(warp)) ||
	             epoch < race_clock_epoch(c, race_lane(warp, lane)) ||
	             epoch < race_clock_epoch(c, race_block_of(warp / b->n_warps * b->n_warps)));
}

bool race_ordered(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp, unsigned lane,
                  uint32_t epoch)
{
	const struct race_warp *mine = &b->warp[w];
	const uint32_t n = b->n_warps;
	if (epoch == RACE_PENDING)
		return false;
	if (warp == b->first_warp + w)
		return lane == me || epoch < known_lane(mine, me, lane) ||
		       epoch < race_clock_epoch(mine->clock[me], race_lane(warp, lane));
	if (warp - b->first_warp < n && epoch < mine->others[warp - b->first_warp])
		return true;
	return clock_knows(b, mine->clock[me], warp, lane, epoch);
}

bool race_followed(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp,
                   unsigned lane, uint32_t epoch)
{
	const struct race_warp *mine = &b->warp[w];
	return clock_knows(b, mine->clock[me], warp, lane, epoch - 1) ||
	       clock_knows(b, mine->pending[BLOCK_SCOPE][me], warp, lane, epoch - 1) ||
	       clock_knows(b, mine->pending[GPU_SCOPE][me], warp, lane, epoch - 1);
}

bool race_handed(const struct race_block *b, uint32_t w, unsigned me, uint32_t warp, unsigned lane,
                 uint32_t epoch)
{
	return race_followed(b, w, me, warp, lane, epoch + 1);
}

/* All that lane @me knows, and what it did itself before @epoch. */
static struct race_clock *knowledge(const struct race_block *b, uint32_t w, unsigned me,
                                    uint32_t epoch)
{
	const struct race_warp *mine = &b->warp[w];
	const uint32_t n = b->n_warps, number = b->first_warp + w;
	struct race_entry *e = mem_calloc(n + 34, sizeof *e);
	uint32_t k = 0;
	bool even = n > 1;
	for (uint32_t i = 0, first = w ? 0 : 1; i < n && even; i++)
		even = i == w || mine->others[i] == mine->others[first];
	if (even && mine->others[w ? 0 : 1])
		e[k++] = (struct race_entry){ race_block_of(b->first_warp), mine->others[w ? 0 : 1] };
	for (uint32_t i = 0; i < n && !even; i++)
		if (i != w && mine->others[i])
			e[k++] = (struct race_entry){ race_warp_of(b->first_warp + i), mine->others[i] };
	if (mine->all_known > 1)
		e[k++] = (struct race_entry){ race_warp_of(number), mine->all_known };
	for (unsigned i = 0; i < 32; i++) {
		const uint32_t to = i == me ? epoch : mine->partial ? mine->known[me][i] : 0;
		if (to > mine->all_known || (i == me && to > 1))
			e[k++] = (struct race_entry){ race_lane(number, i), to };
	}
	struct race_clock *c = race_clock_new(e, k);
	free(e);
	race_clock_join(&c, mine->clock[me]);
	return c;
}

/* What a whole warp, of which every lane knows the same beyond it, did before @epoch and knows. */
static struct race_clock *knowledge_of_all(const struct race_block *b, uint32_t w, uint32_t lanes,
                                           uint32_t epoch)
{
	struct race_clock *c = knowledge(b, w, (unsigned)__builtin_ctz(lanes), 1);
	struct race_entry e = { race_warp_of(b->first_warp + w), epoch };
	struct race_clock *own = race_clock_new(&e, 1);
	race_clock_join(&c, own);
	race_clock_set(&own, NULL);
	return c;
}

/* What lane @me has read is known from now on. */
static void take_pending(struct race_warp *w, unsigned me, unsigned scope)
{
	for (unsigned s = 0; s <= scope; s++) {
		race_clock_join_shared(&w->joined[s], &w->clock[me], w->pending[s][me]);
		race_clock_set(&w->pending[s][me], NULL);
	}
}

/* Its fence becomes a clock to be handed over, before it learns more. */
static void settle_fence(struct race_block *b, uint32_t number, unsigned me)
{
	struct race_warp *w = &b->warp[number];
	for (unsigned s = 0; s < SCOPES; s++) {
		if (!w->fenced[s][me])
			continue;
		struct race_clock *c = knowledge(b, number, me, w->fenced[s][me]);
		race_clock_join(&w->release[s][me], c);
		race_clock_set(&c, NULL);
		w->fenced[s][me] = 0;
	}
}

/* The same of all lanes of a warp that use memory, where they fenced together: one clock says it of
 * the warp. */
static void settle_fences(struct race_block *b, uint32_t number, uint32_t lanes)
{
	struct race_warp *w = &b->warp[number];
	const unsigned first = (unsigned)__builtin_ctz(lanes);
	for (unsigned s = 0; s < SCOPES; s++) {
		const uint32_t epoch = w->fenced[s][first];
		bool together = epoch && !(w->acted & ~lanes);
		for (uint32_t m = lanes; m && together; m &= m - 1) {
			const unsigned i = (unsigned)__builtin_ctz(m);
			together = w->fenced[s][i] == epoch && w->clock[i] == w->clock[first];
		}
		if (!together)
			continue;
		struct race_clock *c = knowledge_of_all(b, number, lanes, epoch);
		for (uint32_t m = lanes; m; m &= m - 1) {
			const unsigned i = (unsigned)__builtin_ctz(m);
			race_clock_join_shared(&w->joined[SCOPES + 1 + s], &w->release[s][i], c);
			w->fenced[s][i] = 0;
		}
		race_clock_set(&c, NULL);
	}
}

/* --- fences, warps and barriers --- */

void race_fence(struct race_block *b, uint32_t warp, uint32_t mask, enum ptx_scope scope)
{
	struct race_warp *w = &b->warp[warp];
	const unsigned reach = scope == SCOPE_CTA ? BLOCK_SCOPE : GPU_SCOPE;
	w->epoch++;
	w->beyond = true;
	race_lock_fence(w, mask, reach == GPU_SCOPE);
	for (unsigned i = 0; i < 32; i++)
		for (unsigned s = 0; mask >> i & 1 && s <= reach; s++) {
			w->fenced[s][i] = w->epoch;
			take_pending(w, i, s);
		}
}

/* What all lanes of @mask know beyond, and have to hand over, in one. */
static void gather(struct race_block *b, uint32_t warp, uint32_t mask, struct race_clock **clock,
                   struct race_clock *release[SCOPES])
{
	struct race_warp *w = &b->warp[warp];
	const struct race_clock *last = NULL, *given[SCOPES] = { NULL }; /* most lanes have one clock */
	if (w->beyond)
		settle_fences(b, warp, mask);
	for (unsigned i = 0; w->beyond && i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		settle_fence(b, warp, i);
		take_pending(w, i, GPU_SCOPE);
		if (w->clock[i] != last)
			race_clock_join(clock, w->clock[i]);
		last = w->clock[i];
		for (unsigned s = 0; s < SCOPES; s++) {
			if (w->release[s][i] != given[s])
				race_clock_join(&release[s], w->release[s][i]);
			given[s] = w->release[s][i];
		}
	}
}

static void spread(struct race_warp *w, uint32_t mask, struct race_clock *clock,
                   struct race_clock *const release[SCOPES])
{
	w->beyond |= clock || release[BLOCK_SCOPE] || release[GPU_SCOPE];
	for (unsigned i = 0; w->beyond && i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		race_clock_join_shared(&w->joined[SCOPES], &w->clock[i], clock);
		for (unsigned s = 0; s < SCOPES; s++)
			race_clock_join_shared(&w->joined[SCOPES + 1 + s], &w->release[s][i], release[s]);
	}
}

/* The lanes of @mask, synced just now, know what each of them knew. */
static void share_known(struct race_warp *w, uint32_t mask)
{
	uint32_t all[32];
	memcpy(all, w->known[__builtin_ctz(mask)], sizeof all);
	for (uint32_t m = mask; m; m &= m - 1) {
		const uint32_t *one = w->known[__builtin_ctz(m)];
		if (memcmp(one, all, sizeof all) == 0)
			continue; /* they mostly synced before */
		for (unsigned k = 0; k < 32; k++)
			all[k] = one[k] > all[k] ? one[k] : all[k];
	}
	for (uint32_t m = mask; m; m &= m - 1)
		all[__builtin_ctz(m)] = w->epoch;
	for (uint32_t m = mask; m; m &= m - 1)
		memcpy(w->known[__builtin_ctz(m)], all, sizeof all);
}

void race_warp_sync(struct race_block *b, uint32_t warp, uint32_t mask, uint32_t live)
{
	struct race_warp *w = &b->warp[warp];
	race_lock_fence(w, mask, true);
	if (w->beyond) {
		struct race_clock *clock = NULL, *release[SCOPES] = { NULL };
		gather(b, warp, mask, &clock, release);
		spread(w, mask, clock, release);
		race_clock_set(&clock, NULL);
		for (unsigned s = 0; s < SCOPES; s++)
			race_clock_set(&release[s], NULL);
	}
	w->epoch++;
	if (mask == live && !(w->acted & ~live)) { /* lanes that have ended take no part */
		w->all_known = w->epoch;
		w->partial = false;
		return;
	}
	if (!w->known)
		w->known = mem_calloc(32, sizeof *w->known);
	if (!w->partial)
		for (unsigned i = 0; i < 32; i++)
			for (unsigned k = 0; k < 32; k++)
				w->known[i][k] = w->all_known;
	w->partial = true;
	share_known(w, mask);
}

void race_arrive(struct race_block *b, uint32_t warp, uint32_t live, unsigned barrier)
{
	struct race_warp *w = &b->warp[warp];
	struct race_gate *g = &b->gate[barrier];
	const uint32_t n = b->n_warps;
	if (!g->known)
		g->known = mem_calloc(n, sizeof *g->known);
	g->used = w->arrived = true;
	race_lock_fence(w, live, true);
	gather(b, warp, live, &g->clock, g->release);
	w->epoch++;
	for (uint32_t i = 0; i < n; i++)
		if (w->others[i] > g->known[i])
			g->known[i] = w->others[i];
	g->known[warp] = w->epoch;
}

void race_pass(struct race_block *b, uint32_t warp, unsigned barrier)
{
	struct race_warp *w = &b->warp[warp];
	const struct race_gate *g = &b->gate[barrier];
	for (uint32_t i = 0; g->used && i < b->n_warps; i++)
		if (g->known[i] > w->others[i])
			w->others[i] = g->known[i];
	w->all_known = w->epoch;
	w->acted = 0;
	w->partial = w->arrived = false;
	spread(w, 0xffffffffu, g->clock, g->release);
}

/* After a barrier of the whole block all of its warps can have one epoch: clocks stay short. */
static void align_epochs(struct race_block *b)
{
	uint32_t latest = 0;
	for (uint32_t i = 0; i < b->n_warps; i++)
		latest = b->warp[i].epoch > latest ? b->warp[i].epoch : latest;
	for (uint32_t i = 0; i < b->n_warps; i++) {
		b->warp[i].epoch = b->warp[i].all_known = latest;
		for (uint32_t k = 0; k < b->n_warps; k++)
			b->warp[i].others[k] = latest;
	}
}

/* What its threads know of one another beyond barriers is no more than what this one says. */
static void forget_each_other(struct race_block *b)
{
	const uint32_t end = b->first_warp + b->n_warps;
	for (uint32_t k = 0; k < b->n_warps; k++)
		race_clocks_forget(b->warp[k].clock, 32, race_lane(b->first_warp, 0), race_lane(end, 0));
}

void race_barrier_opened(struct race_block *b, unsigned barrier, bool by_all)
{
	forget_gate(&b->gate[barrier]);
	if (!by_all)
		return;
	align_epochs(b);
	forget_each_other(b);
	race_reads_met(b);
}

/* --- places where threads hand over --- */

static struct race_place *find_place(const struct race_places *p, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & (p->room - 1);
	while (p->place[i].key && p->place[i].key != key)
		i = (i + 1) & (p->room - 1);
	return &p->place[i];
}

struct race_place *race_place_make(struct race_places *p, uint64_t key)
{
	if (2 * p->n >= p->room) {
		struct race_places more = { .room = p->room ? 2 * p->room : 64 };
		more.place = mem_calloc(more.room, sizeof *more.place);
		for (uint32_t i = 0; i < p->room; i++)
			if (p->place[i].key)
				*find_place(&more, p->place[i].key) = p->place[i];
		more.n = p->n;
		free(p->place);
		*p = more;
	}
	struct race_place *at = find_place(p, key);
	if (!at->key) {
		at->key = key;
		p->n++;
	}
	return at;
}

static void take_over(struct race_block *b, const struct race_place *at, unsigned lane,
                      const struct race_access *a)
{
	struct race_warp *w = &b->warp[a->warp];
	w->beyond = true;
	if (at->first_warp == b->first_warp)
		race_clock_join(&w->pending[BLOCK_SCOPE][lane], at->clock[BLOCK_SCOPE]);
	if (a->scope != SCOPE_CTA)
		race_clock_join(&w->pending[GPU_SCOPE][lane], at->clock[GPU_SCOPE]);
	if (a->sem == SEM_ACQUIRE || a->sem == SEM_ACQ_REL || a->sem == SEM_SC)
		take_pending(w, lane, GPU_SCOPE);
}

/* An atomic whose value nothing reads cannot know behind whom it came: that was chance. */
static bool learns(const struct race_access *a)
{
	const bool acquires = a->sem == SEM_ACQUIRE || a->sem == SEM_ACQ_REL || a->sem == SEM_SC;
	return a->read && (acquires || !a->unread);
}

static void hand_over(struct race_block *b, struct race_places *places, uint64_t key, unsigned lane,
                      const struct race_access *a)
{
	struct race_warp *w = &b->warp[a->warp];
	struct race_clock *give[SCOPES] = { NULL };
	const bool gpu = a->scope != SCOPE_CTA;
	if (a->sem == SEM_RELEASE || a->sem == SEM_ACQ_REL || a->sem == SEM_SC) {
		give[BLOCK_SCOPE] = knowledge(b, a->warp, lane, ++w->epoch);
		race_clock_set(&give[GPU_SCOPE], gpu ? give[BLOCK_SCOPE] : NULL);
	}
	for (unsigned s = 0; s < SCOPES && w->beyond; s++) {
		if (s == GPU_SCOPE && !gpu)
			break;
		race_clock_join(&give[s], w->release[s][lane]);
		if (w->fenced[s][lane]) {
			struct race_clock *c = knowledge(b, a->warp, lane, w->fenced[s][lane]);
			race_clock_join(&give[s], c);
			race_clock_set(&c, NULL);
		}
	}
	race_clock_join(&give[BLOCK_SCOPE], give[GPU_SCOPE]);
	const bool known = places->n && find_place(places, key)->key;
	if (known || give[BLOCK_SCOPE]) {
		struct race_place *at = race_place_make(places, key);
		const bool adds = a->read; /* read, modify, write goes on with what was there */
		if (!adds || at->first_warp != b->first_warp)
			race_clock_set(&at->clock[BLOCK_SCOPE], NULL);
		if (!adds)
			race_clock_set(&at->clock[GPU_SCOPE], NULL);
		at->first_warp = b->first_warp;
		if (!a->takes)
			race_lock_give(b, at, lane, a->warp);
		for (unsigned s = 0; s < SCOPES; s++)
			race_clock_join(&at->clock[s], give[s]);
	}
	for (unsigned s = 0; s < SCOPES; s++)
		race_clock_set(&give[s], NULL);
}

uint64_t race_place_key(const struct race_block *b, bool shared, uint64_t address)
{
	return shared ? (uint64_t)1 << 63 | (uint64_t)b->first_warp << 20 | address : address;
}

struct race_place *race_place_at(const struct race_places *p, uint64_t key)
{
	struct race_place *at = p->n ? find_place(p, key) : NULL;
	return at && at->key ? at : NULL;
}

void race_hand_over(struct race_block *b, uint64_t key, unsigned lane, const struct race_access *a)
{
	struct race_places *places = b->places;
	const struct race_place *at = learns(a) ? race_place_at(places, key) : NULL;
	if (at)
		take_over(b, at, lane, a);
	if (a->takes)
		race_lock_take(b, key, lane, a);
	if (a->write)
		hand_over(b, places, key, lane, a);
}

#define ENTRIES_OF_A_LOOK 64

uint32_t race_hand_over_looks(const struct race_places *p, uint64_t key)
{
	const struct race_place *at = race_place_at(p, key);
	uint32_t entries = 0;
	for (unsigned s = 0; at && s < SCOPES; s++)
		entries += at->clock[s] ? at->clock[s]->n : 0;
	return entries / ENTRIES_OF_A_LOOK;
}

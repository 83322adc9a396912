/*
 * Where threads meet without a word in memory that they write: mbarriers and the barriers of
 * clusters; see race_order.h. Who arrives hands over, who has waited takes.
 */
#include "emu/check/race_order.h"

/* A place where a lane only hands over, or only takes. */
static void rendezvous(struct race_block *b, uint64_t key, uint32_t warp, unsigned lane,
                       enum ptx_sem sem)
{
	const bool arrives = sem != SEM_ACQUIRE;
	const struct race_access a = {
		.warp = warp,
		.read = true,
		.unread = arrives, /* who arrives learns nothing of those who came before */
		.write = arrives,
		.scope = SCOPE_CLUSTER,
		.sem = sem,
	};
	race_hand_over(b, key, lane, &a);
}

/* Whoever has waited for a phase knows nothing of those who arrived in the next: a place for each
 * of two, within the 8 bytes of the object. */
static uint64_t phase_key(const struct race_block *owner, uint64_t offset, uint32_t phase)
{
	return race_place_key(owner, true, offset + phase % 2);
}

void race_mbarrier(struct race_block *b, struct race_block *owner, uint32_t warp, unsigned lane,
                   uint64_t offset, uint32_t phase, bool arrives)
{
	rendezvous(b, phase_key(owner, offset, phase), warp, lane, arrives ? SEM_RELEASE : SEM_ACQUIRE);
}

void race_mbarrier_ends(struct race_block *owner, uint64_t offset, uint32_t phase)
{
	struct race_places *places = owner->places;
	if (!race_place_at(places, phase_key(owner, offset, phase)))
		return;
	struct race_place *next = race_place_make(places, phase_key(owner, offset, phase + 1));
	const struct race_place *ended = race_place_at(places, phase_key(owner, offset, phase));
	if (next->first_warp != ended->first_warp)
		race_clock_set(&next->clock[BLOCK_SCOPE], NULL);
	next->first_warp = ended->first_warp;
	for (unsigned s = 0; s < SCOPES; s++)
		race_clock_join(&next->clock[s], ended->clock[s]);
}

void race_mbarrier_tell(struct race_block *owner, uint64_t offset, uint32_t phase,
                        struct race_entry *e)
{
	struct race_place *at = race_place_make(owner->places, phase_key(owner, offset, phase));
	struct race_clock *c = race_clock_new(e, 1);
	race_clock_join(&at->clock[GPU_SCOPE], c);
	race_clock_set(&c, NULL);
}

void race_cluster_barrier(struct race_block *b, struct race_block *first, uint32_t warp,
                          unsigned lane, uint32_t phase, enum ptx_sem sem)
{
	rendezvous(b, phase_key(first, 0xffffe, phase), warp, lane, sem);
}

void race_learn_all(struct race_block *b, uint32_t warp, uint32_t lanes, struct race_entry *e)
{
	struct race_warp *w = &b->warp[warp];
	struct race_clock *c = race_clock_new(e, 1);
	w->beyond = true;
	for (uint32_t m = lanes; m; m &= m - 1)
		race_clock_join_shared(&w->joined[SCOPES], &w->clock[__builtin_ctz(m)], c);
	race_clock_set(&c, NULL);
}

void race_learn(struct race_block *b, uint32_t warp, unsigned lane, struct race_entry *e)
{
	race_learn_all(b, warp, 1u << lane, e);
}

/*
 * Locks, by what is done with them; see race_order.h.
 *
 * Blocks and warps take a lock in any order, but one run shows only one of them. A fence that is
 * missing behind the taking does no harm to who comes first; so it is remembered that it was
 * missing, for who comes next.
 */
#include "emu/check/race_order.h"

#include "base/mem.h"

void race_lock_take(struct race_block *b, uint64_t key, unsigned lane, const struct race_access *a)
{
	struct race_warp *w = &b->warp[a->warp];
	const bool acquires = a->sem == SEM_ACQUIRE || a->sem == SEM_ACQ_REL || a->sem == SEM_SC;
	if (!w->section)
		w->section = mem_calloc(32, sizeof *w->section);
	w->section[lane] = (struct race_section){
		.key = key,
		.from = w->epoch,
		.fence = !acquires               ? LOCK_BARE
		         : a->scope == SCOPE_CTA ? LOCK_BLOCK_FENCE
		                                 : LOCK_FENCE,
	};
}

void race_lock_give(struct race_block *b, struct race_place *at, unsigned lane, uint32_t warp)
{
	struct race_warp *w = &b->warp[warp];
	if (!w->section || w->section[lane].key != at->key)
		return;
	at->holder =
		(struct race_holder){ b->first_warp + warp + 1, lane, w->section[lane].from, w->epoch };
	w->section[lane].key = 0;
}

void race_lock_fence(struct race_warp *w, uint32_t lanes, bool whole_gpu)
{
	for (unsigned i = 0; w->section && i < 32; i++)
		if (lanes >> i & 1 && w->section[i].fence != LOCK_FENCE)
			w->section[i].fence = whole_gpu ? LOCK_FENCE : LOCK_BLOCK_FENCE;
}

uint32_t race_lock_flags(const struct race_block *b, const struct race_access *a)
{
	const struct race_section *s = b->warp[a->warp].section;
	uint32_t flags = 0;
	for (unsigned i = 0; s && i < 32; i++) {
		if (!(a->mask >> i & 1) || !s[i].key || s[i].fence == LOCK_FENCE)
			continue;
		flags |= s[i].fence == LOCK_BARE ? RACE_USE_BARE : RACE_USE_BARE_BLOCK;
	}
	return flags;
}

uint64_t race_lock_held(const struct race_block *b, uint32_t w, unsigned me)
{
	const struct race_section *mine = b->warp[w].section;
	return mine ? mine[me].key : 0;
}

bool race_lock_reversed(const struct race_block *b, uint32_t w, const struct race_place *at,
                        const struct race_use *use, unsigned lane)
{
	if (!at || at->holder.warp != use->warp || at->holder.lane != lane ||
	    use->epoch < at->holder.from || use->epoch > at->holder.to)
		return false;
	const uint32_t near = use->warp - 1 - b->first_warp;
	if (near >= b->n_warps)
		return true; /* a fence of the block would not do */
	return near != w && use->op & RACE_USE_BARE && use->epoch >= b->warp[w].others[near];
}

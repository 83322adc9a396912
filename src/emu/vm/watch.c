/*
 * In front of a regular access of a full warp, in blocks that run with all checks: what they have
 * to know of it. Where nothing is to be told, the access is done as in any other block; else it is
 * looked at with care.
 */
#include "emu/vm/handler.h"

/* Of shared memory, of which some had no value at first. */
static bool have_values(struct shadow *s, const struct memop *m, uint64_t low)
{
	if (!s || s->full)
		return true;
	if (m->access < 4)
		return false;
	if (m->x->kind == X_LD)
		return shadow_read(s, m->pieces, low, m->access);
	shadow_write(s, m->pieces, low, m->access);
	return true;
}

static bool races_with_nothing(const struct warp *w, const struct uop *u, const struct memop *m,
                               uint64_t low, bool shared)
{
	struct race_block *race = w->worker->race;
	const struct lane_load load = { m->pieces, m->span, m->access, u->xop };
	if (!race || (!shared && w->win[u->y].only_read) ||
	    (shared && m->x->kind == X_LD && race_plain_loads(race, w->number, &load, &low, 1)))
		return true;
	const struct race_plain p = {
		.warp = w->number,
		.op = u->xop,
		.bytes = m->access,
		.shared = shared,
		.write = m->x->kind == X_ST,
		.pieces = m->pieces,
		.low = low,
		.span = m->span,
	};
	return race_plain(race, &p);
}

/* a slot of the scalar address, x.i what is added to it for the lowest lane, c the highest lowest
 * address in shared memory, y memory number */
#define WATCH(name, scalar, shared, fits)                            \
	HANDLER(name)                                                    \
	{                                                                \
		const struct memop *m = &w->program->mem[u->y];              \
		const uint64_t low = scalar(u->a) + (uint64_t)u->x.i;        \
		if (!(fits) || low & m->align_mask ||                        \
		    ((shared) && !have_values(w->worker->shadow, m, low)) || \
		    !races_with_nothing(w, u, m, low, shared))               \
			EMU_JUMP access_slow(w, u + 1, mask);                    \
		NEXT_full(u + 1);                                            \
	}
WATCH(watch_global, SCALAR64, false, low - w->win[u->y].lo < w->win[u->y].len)
WATCH(watch_shared32, SCALAR32, true, low <= u->c)
WATCH(watch_shared64, SCALAR64, true, low <= u->c)

enum { TOGETHER = 64 };

/* The @n loads of @c from number @from on: may all be done as they are? */
static bool chain_loads(struct warp *w, const struct chains *c, uint32_t from, uint32_t n)
{
	const struct worker *wk = w->worker;
	const struct shadow *s = wk->shadow && !wk->shadow->full ? wk->shadow : NULL;
	const struct chain_read *r = c->read + from;
	const struct lane_load *load = c->load + from;
	uint64_t low[TOGETHER];
	for (uint32_t k = 0; k < n; k++) {
		low[k] = (r[k].wide ? SCALAR64(r[k].slot) : SCALAR32(r[k].slot)) + (uint64_t)r[k].low;
		if (low[k] > r[k].last_low || low[k] & r[k].align_mask ||
		    (s && (load[k].bytes < 4 || !shadow_read(s, load[k].pieces, low[k], load[k].bytes))))
			return false;
	}
	return !wk->race || race_plain_loads(wk->race, w->number, load, low, n);
}

/* What is looked at twice is found twice, which changes nothing. */
HANDLER(watch_chains)
{
	const struct chains *c = u->chains;
	for (uint32_t k = 0; k < c->n_reads; k += TOGETHER) {
		const uint32_t left = c->n_reads - k;
		if (!chain_loads(w, c, k, left < TOGETHER ? left : TOGETHER))
			EMU_JUMP c->alone(w, u, mask);
	}
	EMU_JUMP c->watched(w, u, mask);
}

HANDLER(watch_part)
{
	EMU_JUMP vm_access.masked(w, u + 1, mask);
}

const struct handler vm_watch[MEM_PLACES] = {
	[AT_GLOBAL] = { watch_global, watch_part },
	[AT_SHARED32] = { watch_shared32, watch_part },
	[AT_SHARED64] = { watch_shared64, watch_part },
};
const struct handler vm_watch_chains = { watch_chains, watch_part };

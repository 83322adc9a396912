/*
 * In front of a regular access of a full warp, in blocks that run with all checks: what they have
 * to know of it. Where nothing is to be told, the access is done as in any other block; else it is
 * looked at with care.
 */
#include "emu/vm/access.h"

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

/* --- any lanes anywhere, where nothing is counted --- */

struct watched {
	struct warp *w;
	const struct memop *m;
	uint32_t mask;
	enum ptx_space space;
	uint64_t address[32]; /* in shared memory: offsets */
};

/* All lanes in one window of generic addresses, that of the block itself; false: not so. */
static bool find_space(struct watched *q)
{
	const uint64_t first = q->address[__builtin_ctz(q->mask)] >> 56;
	uint64_t other = 0;
	for (unsigned i = 0; i < 32; i++)
		other |= q->mask >> i & 1 ? (q->address[i] >> 56) ^ first : 0;
	q->space = first == 1 ? SPACE_SHARED : first == 2 ? SPACE_LOCAL : SPACE_GLOBAL;
	if (other || (q->space == SPACE_SHARED && q->w->worker->grid->shared_base))
		return false;
	for (unsigned i = 0; q->space == SPACE_SHARED && i < 32; i++)
		q->address[i] -= SHARED_WINDOW;
	return true;
}

/* All lanes lie in the @size bytes from @low on, aligned. */
static bool all_inside(const struct watched *q, uint64_t low, uint64_t size)
{
	const uint64_t bytes = q->m->access;
	uint64_t odd = 0;
	bool inside = size >= bytes;
	for (unsigned i = 0; i < 32; i++) {
		const bool on = q->mask >> i & 1;
		inside &= !on | (q->address[i] - low <= size - bytes);
		odd |= on ? q->address[i] : 0;
	}
	return inside && !(odd & (bytes - 1));
}

/* As have_values(). */
static bool lanes_have_values(const struct watched *q)
{
	struct shadow *s = q->w->worker->shadow;
	const bool store = q->m->x->kind == X_ST;
	bool all = true;
	for (uint32_t k = !s || s->full ? 0 : q->mask; k && all; k &= k - 1)
		all = shadow_touch(s, q->address[__builtin_ctz(k)], q->m->access, !store, store);
	return all;
}

static bool lanes_race_with_nothing(const struct watched *q, const struct uop *u)
{
	struct race_block *race = q->w->worker->race;
	const struct mem_buffer *last = &q->w->worker->place[q->m->id];
	const bool shared = q->space == SPACE_SHARED;
	if (!race || (!shared && last->only_read && all_inside(q, last->low, last->size)))
		return true;
	const struct race_access a = {
		.warp = q->w->number,
		.mask = q->mask,
		.op = u->xop,
		.bytes = q->m->access,
		.shared = shared,
		.read = q->m->x->kind == X_LD,
		.write = q->m->x->kind == X_ST,
		.lanes = q->m->addr.kind == ADDR_UNIFORM ? RACE_ONE_PLACE : RACE_ANYWHERE,
		.address = q->address,
	};
	return race_weak(race, &a);
}

/* y memory number */
const struct uop *vm_watch_any(struct warp *w, const struct uop *u, uint32_t mask)
{
	struct watched q; /* not all of it is worth clearing */
	q.w = w;
	q.m = &w->program->mem[u->y];
	q.mask = mask;
	const struct xop *x = q.m->x;
	q.space = x->space;
	if ((x->kind != X_LD && x->kind != X_ST) || x->strong || x->hands_on || x->sem > SEM_WEAK ||
	    x->polls || q.m->access & (q.m->access - 1u))
		EMU_JUMP access_careful(w, u, mask);
	if (x->space == SPACE_GENERIC || x->space == SPACE_SHARED || x->space == SPACE_GLOBAL) {
		access_addresses(w, &q.m->addr, q.address);
		if ((x->space == SPACE_GENERIC && !find_space(&q)) ||
		    (q.space == SPACE_SHARED &&
		     (!all_inside(&q, 0, w->shared_bytes) || !lanes_have_values(&q))) ||
		    (q.space != SPACE_LOCAL && !lanes_race_with_nothing(&q, u)))
			EMU_JUMP access_careful(w, u, mask);
	}
	EMU_JUMP w->worker->grid->quick->full(w, u, mask);
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

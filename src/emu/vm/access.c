/*
 * Loads, stores and atomics of a warp: any address space, any lanes, any width.
 *
 * The careful path: addresses of the active lanes are gathered, checked one by one, counted, noted
 * for the cache simulation, and then carried out lane by lane in lane order. The handlers of simd/
 * take over the regular cases and fall back to this one.
 */
#include "emu/vm/access.h"

#include "emu/count/count.h"

/* --- addresses --- */

void access_addresses(const struct warp *w, const struct mem_addr *a, uint64_t out[32])
{
	const uint64_t keep = a->wide ? ~(uint64_t)0 : 0xffffffffu;
	const uint64_t offset = (uint64_t)a->offset;
	switch (a->kind) {
	case ADDR_UNIFORM: {
		const uint64_t v = ((a->wide ? SCALAR64(a->slot) : SCALAR32(a->slot)) + offset) & keep;
		for (unsigned i = 0; i < 32; i++)
			out[i] = v;
		break;
	}
	case ADDR_PATTERN: {
		const uint64_t v = (a->wide ? SCALAR64(a->slot) : SCALAR32(a->slot)) + offset;
		for (unsigned i = 0; i < 32; i++)
			out[i] = (v + (uint64_t)a->pattern->lane[i]) & keep;
		break;
	}
	case ADDR_LANES32: {
		const mem_u32 *v = frame(w, a->slot);
		for (unsigned i = 0; i < 32; i++)
			out[i] = (v[i] + offset) & keep;
		break;
	}
	case ADDR_LANES64: {
		const mem_u64 *v = frame(w, a->slot);
		for (unsigned i = 0; i < 32; i++)
			out[i] = v[i] + offset;
		break;
	}
	}
}

/* All but the arrays, which are not worth clearing. */
static void start_access(struct access *a, struct warp *w, const struct uop *u,
                         const struct memop *m, uint32_t mask)
{
	a->w = w;
	a->u = u;
	a->m = m;
	a->mask = mask;
	a->bytes = m->access;
	a->read = a->write = a->atomic = a->wants_value = a->planned = a->only_read = false;
	a->remote = 0;
	a->again = NULL;
	a->base = NULL;
}

/* --- the whole access --- */

static bool perform_access(struct access *a)
{
	struct worker *wk = a->w->worker;
	access_find_layout(a);
	if (!access_resolve(a))
		return false;
	if (wk->race && !a->only_read)
		access_race(a);
	access_count(a);
	if (wk->trace && a->w->number == 0)
		warp_trace_access(a->w, a->m, a->mask, a->address, a->space);
	if (a->atomic) {
		access_atomics(a);
		access_note_collision(a);
	} else {
		access_transfer(a);
		access_note_wanted(a);
	}
	access_note_turns(a);
	return true;
}

/* What a generic address of shared memory says. Machine code puts the block's rank on top; ir.h. */
static uint64_t shared_offset(const struct grid *g, uint64_t address)
{
	const uint64_t at = address - SHARED_WINDOW;
	if (!g->shared_base)
		return at;
	const uint64_t own = (at & CLUSTER_OFFSET) - g->shared_base;
	return g->cluster_blocks > 1 ? own | ((at >> CLUSTER_SHIFT) + 1) << CLUSTER_SHIFT : own;
}

/* All lanes of @a in one window. */
static bool access_window(struct access *a, enum ptx_space space)
{
	const struct grid *grid = a->w->worker->grid;
	a->space = space;
	if (space == SPACE_SHARED)
		for (unsigned i = 0; i < 32; i++)
			a->address[i] = shared_offset(grid, a->address[i]);
	else if (space == SPACE_LOCAL)
		for (unsigned i = 0; i < 32; i++)
			a->address[i] -= LOCAL_WINDOW;
	return perform_access(a);
}

/* Generic addresses: lanes by the window they point into, each group an access of its own. */
static bool generic_access(struct access *a)
{
	static const enum ptx_space spaces[3] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL };
	uint32_t group[3] = { 0 };
	for (unsigned i = 0; i < 32; i++) { /* without branches: objects lie where they lie */
		const uint64_t window = a->address[i] >> 56;
		group[1] |= (uint32_t)(window == 1) << i;
		group[2] |= (uint32_t)(window == 2) << i;
	}
	group[0] = ~(group[1] | group[2]);
	for (unsigned g = 0; g < 3; g++) {
		const uint32_t lanes = group[g] & a->mask;
		if (!lanes)
			continue;
		if (lanes == a->mask)
			return access_window(a, spaces[g]);
		struct access part = *a;
		part.mask = lanes;
		if (!access_window(&part, spaces[g]))
			return false;
	}
	return true;
}

/* @sectors: of global memory that were counted before. */
static void count_copies(const struct access *to, const struct access *from, uint64_t sectors)
{
	const struct lane_copies copies = {
		.from = from->address,
		.to = to->address,
		.mask = to->mask,
		.zeros = to->mask & ~from->mask,
		.bytes = to->bytes,
		.past_l1 = to->m->x->bypass_l1,
		.form = (enum copy_form)to->m->x->op,
	};
	if (to->w->worker->grid->quick)
		return;
	struct mem_count *of_global = &to->w->mem[from->m->id];
	to->w->mem[to->m->id].wavefronts += copy_wavefronts(&copies);
	of_global->sectors = sectors + copy_sectors(&copies, (unsigned)(of_global->sectors - sectors));
}

/* The first @used of @bytes bytes, whole words that lie as such; zeros behind them. */
GUEST_MEMORY static void copy_lane(uint8_t *to, const uint8_t *from, unsigned bytes, uint32_t used)
{
	for (unsigned b = 0; b < bytes; b += 4) {
		if (b + 4 <= used)
			*(mem_u32 *)(void *)(to + b) = *(const mem_u32 *)(const void *)(from + b);
		else
			for (unsigned k = b; k < b + 4; k++)
				to[k] = k < used ? from[k] : 0;
	}
}

static bool async_copy(struct warp *w, const struct uop *u, const struct memop *m, uint32_t mask)
{
	/* the store's number counts the shared side, the next one the global side */
	struct access to, from;
	start_access(&to, w, u, m, mask);
	start_access(&from, w, u, m + 1, 0);
	to.space = SPACE_SHARED;
	from.space = SPACE_GLOBAL;
	to.write = from.read = from.wants_value = true;
	access_addresses(w, &m->addr, to.address);
	access_addresses(w, &m->from, from.address);
	const mem_u32 *used = frame(w, m->s[0]);
	for (uint32_t k = mask; k; k &= k - 1)
		if (used[lowest_lane(k)])
			from.mask |= 1u << lowest_lane(k);
	access_find_layout(&to);
	if (!access_resolve(&to))
		return false;
	if (from.mask) {
		access_find_layout(&from);
		if (!access_resolve(&from))
			return false;
	}
	access_set_hosts(&to);
	access_set_hosts(&from);
	if (w->worker->race) {
		access_race(&to);
		access_race(&from);
	}
	access_count(&to);
	const uint64_t sectors = w->mem[from.m->id].sectors;
	if (from.mask)
		access_count(&from);
	count_copies(&to, &from, sectors);
	if (w->worker->trace && w->number == 0) {
		warp_trace_access(w, m, mask, to.address, SPACE_SHARED);
		if (from.mask)
			warp_trace_access(w, m + 1, from.mask, from.address, SPACE_GLOBAL);
	}
	for (uint32_t k = mask; k; k &= k - 1)
		copy_lane(to.host[lowest_lane(k)], from.host[lowest_lane(k)], m->access,
		          used[lowest_lane(k)]);
	return true;
}

static bool run_access(struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct memop *m = &w->program->mem[u->y];
	const struct xop *x = m->x;
	if (x->kind == X_ASYNC)
		return async_copy(w, u, m, mask);
	struct access a;
	start_access(&a, w, u, m, mask);
	a.space = x->space;
	a.atomic = x->kind == X_ATOM || x->kind == X_RED;
	a.read = x->kind == X_LD || a.atomic;
	a.wants_value = a.read && !x->blind;
	a.write = x->kind == X_ST || a.atomic;
	access_addresses(w, &m->addr, a.address);
	a.planned = true;
	return x->space == SPACE_GENERIC ? generic_access(&a) : perform_access(&a);
}

#define GO_ON                       \
	do {                            \
		if (w->mask == 0xffffffffu) \
			NEXT_full(u + 1);       \
		NEXT_masked(u + 1);         \
	} while (0)

/* y memory number */
const struct uop *access_careful(struct warp *w, const struct uop *u, uint32_t mask)
{
	if (!run_access(w, u, mask))
		return NULL;
	GO_ON;
}
HANDLER(access_any)
{
	if (w->worker->quick)
		EMU_JUMP w->worker->quick(w, u, mask);
	EMU_JUMP access_careful(w, u, mask);
}
const struct handler vm_access = { access_any, access_any };

const struct uop *access_slow(struct warp *w, const struct uop *u, uint32_t mask)
{
	w->mem[u->y].slow[w->program->kind]++;
	return access_any(w, u, mask);
}

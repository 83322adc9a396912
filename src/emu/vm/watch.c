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
	return !w->worker->race || race_plain(w->worker->race, &p);
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

HANDLER(watch_part)
{
	EMU_JUMP vm_access.masked(w, u + 1, mask);
}

const struct handler vm_watch[MEM_PLACES] = {
	[AT_GLOBAL] = { watch_global, watch_part },
	[AT_SHARED32] = { watch_shared32, watch_part },
	[AT_SHARED64] = { watch_shared64, watch_part },
};

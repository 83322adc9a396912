/*
 * Whom texels race with: a surface's are global memory like any other, and so is the linear memory
 * that a texture is read from. Of a filtered fetch the texels beside the first are not looked at.
 */
#include "emu/vm/texel_places.h"

#include <string.h>

struct texels {
	const struct warp *w;
	const struct texture_uop *t;
	const struct texel_places *places;
};

uint8_t *texel_lane_bytes(const struct warp *w, uint32_t slot, unsigned lane, unsigned bytes)
{
	return (uint8_t *)frame(w, slot) + (size_t)lane * (bytes == 8 ? 8 : 4);
}

static void stored_bytes(const void *context, unsigned lane, uint8_t *out)
{
	const struct texels *c = context;
	const struct xop *x = c->t->x;
	const unsigned bytes = x->bytes, first = x->n_s - x->vec;
	for (unsigned i = 0; i < x->vec; i++)
		memcpy(out + i * bytes, texel_lane_bytes(c->w, c->t->s[first + i], lane, bytes), bytes);
}

static const uint8_t *bytes_before(const void *context, unsigned lane)
{
	const struct texels *c = context;
	return c->places->place[lane];
}

void texture_race(struct warp *w, const struct uop *u, const struct texel_places *p)
{
	const struct texels c = { w, u->x.texture, p };
	const bool store = c.t->x->op == OP_SUST_B;
	uint64_t address[32] = { 0 };
	for (uint32_t m = p->mask; m; m &= m - 1)
		address[__builtin_ctz(m)] = (uint64_t)(uintptr_t)p->place[__builtin_ctz(m)];
	const struct race_access r = {
		.warp = w->number,
		.mask = p->mask,
		.op = u->xop,
		.bytes = p->bytes,
		.read = !store,
		.write = store,
		.address = address,
		.lanes = RACE_ANYWHERE,
		.value = stored_bytes,
		.before = bytes_before,
		.context = &c,
	};
	struct race_found found = { 0 };
	if (!p->mask || !race_access(w->worker->race, &r, &found))
		return;
	struct emu_fault *f = vm_note_race(w, u, &found, false);
	f->space = SPACE_GLOBAL;
	f->bytes = p->bytes;
	f->store = store;
}

/* Building blocks of a program: uops, constants of the frame, sources as scalars or 32 values. */
#include "emu/codegen/emit.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct uop *emit_uop(struct emit *e, const struct handler *h)
{
	struct program *p = e->p;
	MEM_ROOM(p->uops, p->n_uops, p->cap_uops, 256);
	struct uop *u = &p->uops[p->n_uops++];
	*u = (struct uop){ .full = h->full, .masked = h->masked, .xop = e->xop };
	return u;
}

void *image_pool(struct image *im, size_t bytes)
{
	im->pool = mem_realloc(im->pool, im->n_pool + 1, sizeof *im->pool);
	void *p = mem_zalloc(bytes);
	im->pool[im->n_pool++] = p;
	return p;
}

uint32_t emit_const(struct emit *e, unsigned bytes, unsigned lanes, const uint64_t *value)
{
	struct image *im = e->im;
	for (unsigned i = 0; i < im->n_consts; i++) {
		const struct const_slot *c = &im->consts[i];
		if (c->bytes == bytes && c->lanes == lanes &&
		    memcmp(c->value, value, lanes * sizeof *value) == 0)
			return c->offset;
	}
	MEM_ROOM(im->consts, im->n_consts, im->cap_consts, 32);
	struct const_slot *c = &im->consts[im->n_consts++];
	const uint32_t align = lanes == 1 ? 8 : 64, size = lanes == 1 ? 8 : 32 * bytes;
	*c = (struct const_slot){ .offset = (im->frame_bytes + align - 1) / align * align,
		                      .bytes = bytes,
		                      .lanes = lanes };
	memcpy(c->value, value, lanes * sizeof *value);
	im->frame_bytes = c->offset + size;
	return c->offset;
}

struct affine emit_form(const struct emit *e, const struct xsrc *s)
{
	return affine_of_src(&e->p->forms, &e->im->ir, s);
}

void emit_spread(struct emit *e, uint32_t to, uint32_t from, int32_t pattern, unsigned bytes)
{
	struct uop *u = emit_uop(e, bytes == 8 ? &e->h->alu->spread64 : &e->h->alu->spread32);
	u->d = to;
	u->a = from;
	u->x.u = (uint64_t)pattern; /* made a pointer when all patterns are known */
}

static uint64_t keep_bits(unsigned bytes)
{
	return bytes == 8 ? ~(uint64_t)0 : 0xffffffffu;
}

uint32_t emit_known_lanes(struct emit *e, const struct affine *s, unsigned bytes)
{
	uint64_t v[32];
	for (unsigned i = 0; i < 32; i++)
		v[i] = affine_lane(&e->p->forms, s, i) & keep_bits(bytes);
	return emit_const(e, bytes, 32, v);
}

uint32_t emit_lanes(struct emit *e, const struct xsrc *s, unsigned bytes, unsigned t)
{
	const struct affine form = emit_form(e, s);
	if (form.cls == AFFINE_LANES)
		return e->p->reg_slot[s->reg];
	if (form.known)
		return emit_known_lanes(e, &form, bytes);
	emit_spread(e, e->vec_temp[t], e->p->reg_slot[s->reg], form.pattern, bytes);
	return e->vec_temp[t];
}

uint32_t emit_scalar(struct emit *e, const struct xsrc *s, unsigned bytes)
{
	const struct affine form = emit_form(e, s);
	if (form.known) {
		const uint64_t v = form.base & keep_bits(bytes);
		return emit_const(e, bytes, 1, &v);
	}
	return e->p->reg_slot[s->reg];
}

uint32_t emit_pred_src(const struct emit *e, const struct xsrc *s)
{
	if (s->kind == S_REG)
		return e->pred_slot[s->reg];
	return s->value ? e->pred_ones : e->pred_zeros;
}

uint32_t emit_inverted(const struct xsrc *s)
{
	return s->neg ? 0xffffffffu : 0;
}

bool emit_needs_lanes(const struct emit *e, int32_t reg)
{
	return e->p->forms.reg[reg].cls == AFFINE_LANES;
}

/* Textures and surfaces: every operand as 32 lanes; vm/texture_access.c does the rest. */
#include "emu/codegen/emit.h"

void emit_texture(struct emit *e, const struct xop *x)
{
	struct texture_uop *t = image_pool(e->im, sizeof *t);
	t->x = x;
	for (unsigned i = 0; i < x->n_s; i++)
		t->s[i] = emit_lanes(e, &x->s[i],
		                     x->s[i].kind == S_REG ? e->im->ir.regs[x->s[i].reg].bytes : 8, i);
	for (unsigned i = 0; i < x->n_d; i++)
		t->d[i] = x->d[i] < 0 ? -1 : (int32_t)e->p->reg_slot[x->d[i]];
	struct uop *u = emit_uop(e, e->h->texture);
	u->x.texture = t;
}

/* Control flow of machine code: parts of a warp that meet at barriers of the warp. */
#include "emu/codegen/emit.h"

void emit_meet(struct emit *e, const struct xop *x)
{
	const struct meet_handlers *m = e->h->meet;
	const struct handler *h;
	uint32_t lanes = 0;
	switch (x->kind) {
	case X_MEET_BEGIN:
		h = &m->begin;
		lanes = (uint32_t)x->s[0].value; /* where they go on */
		break;
	case X_MEET_WAIT: h = &m->wait; break;
	case X_MEET_BREAK: h = &m->break_; break;
	case X_MEET_GET:
		h = &m->get;
		lanes = (uint32_t)x->s[0].value; /* to clear it */
		break;
	default:
		h = &m->set;
		lanes = emit_lanes(e, &x->s[0], 4, 0);
		break;
	}
	if (x->kind == X_MEET_GET && x->d[0] < 0)
		return;
	struct uop *u = emit_uop(e, h);
	u->a = x->op;
	u->b = lanes;
	u->d = x->kind == X_MEET_GET ? e->p->reg_slot[x->d[0]] : 0;
	u->y = e->block;
}

void emit_meet_warp(struct emit *e, const struct xop *x)
{
	const uint32_t lanes = x->op == MEET_YIELD ? 0 : emit_lanes(e, &x->s[0], 4, 0);
	const struct meet_handlers *m = e->h->meet;
	const struct handler *const kind[] = { [MEET_PLAIN] = &m->wait_warp,
		                                   [MEET_EXCLUSIVE] = &m->wait_exclusive,
		                                   [MEET_COLLECTIVE] = &m->wait_collective,
		                                   [MEET_GATHERED] = &m->wait_warp,
		                                   [MEET_ONE_PLACE] = &m->wait_warp,
		                                   [MEET_YIELD] = &m->yield };
	struct uop *u = emit_uop(e, x->guard >= 0 ? &m->wait_warp_if : kind[x->op]);
	u->a = lanes;
	u->y = e->block;
	if (x->guard >= 0) {
		u->b = e->pred_slot[x->guard];
		u->c = x->guard_neg ? 0xffffffffu : 0;
	}
}

void emit_leave(struct emit *e, const struct xop *x)
{
	struct uop *u = emit_uop(e, x->guard >= 0 ? &e->h->meet->leave_if : &e->h->meet->leave);
	if (x->guard >= 0) {
		u->a = e->pred_slot[x->guard];
		u->b = x->guard_neg ? 0xffffffffu : 0;
	}
}

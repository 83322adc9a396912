/*
 * Calls and returns. A function that may come back to itself keeps the registers that are needed
 * behind the call: they are listed once, and saved and restored lane by lane (vm/call.c).
 */
#include "emu/codegen/emit.h"

#include "base/mem.h"
#include "ptx/link.h"

/* From which functions of the module function @caller may be called again; most are the last to be
 * called, and then no register has to be kept. */
static const bool *find_returns(struct emit *e, uint32_t caller)
{
	const struct ir *ir = &e->im->ir;
	bool *back = image_pool(e->im, ir->n_callees * sizeof *back);
	for (unsigned i = 0; i < ir->n_callees; i++) {
		const int32_t part = ir->linked->part_of[link_resolve(ir->module, (int32_t)i)];
		back[i] = part > 0 && link_recurses(ir->linked, caller, (unsigned)part);
	}
	return back;
}

/* Registers that live behind the call at the end of @block and belong to its function. */
static struct call_frame *make_frame(struct emit *e, uint32_t block)
{
	const struct ir *ir = &e->im->ir;
	const uint64_t *live = bits_row(&e->im->live.in, (unsigned)ir->blocks[block].succ[0]);
	unsigned n = 0;
	for (unsigned r = 0; r < ir->n_regs; r++)
		n += bits_get(live, r) && ir->regs[r].fixed && !ir->regs[r].passes;
	struct call_frame *f = image_pool(e->im, sizeof *f + n * sizeof f->part[0]);
	for (unsigned r = 0; r < ir->n_regs; r++) {
		if (!bits_get(live, r) || !ir->regs[r].fixed || ir->regs[r].passes)
			continue;
		const unsigned bytes = ir->regs[r].bytes;
		f->part[f->n++] = (struct call_frame_part){ .reg = (int32_t)r,
			                                        .bytes = (uint8_t)bytes,
			                                        .predicate = e->pred_slot[r] };
		f->bytes += bytes ? 32 * bytes : 8;
	}
	return f;
}

void emit_call(struct emit *e, const struct xop *x)
{
	const bool direct = x->target >= 0;
	uint32_t address = 0;
	bool scalar = false;
	if (!direct) {
		const struct affine form = emit_form(e, &x->s[0]);
		scalar = affine_uniform(&form);
		address = scalar ? emit_scalar(e, &x->s[0], 8) : emit_lanes(e, &x->s[0], 8, 0);
	}
	struct call_frame *frame = x->saves ? make_frame(e, e->block) : NULL;
	if (frame && !direct)
		frame->comes_back = find_returns(e, x->caller);
	struct uop *u = emit_uop(e, direct ? &e->h->call->direct : &e->h->call->indirect);
	u->frame = frame;
	u->a = address;
	u->b = scalar;
	u->y = e->block;
	if (direct)
		emit_target(e, u, x->target);
}

void emit_ret(struct emit *e, const struct xop *x)
{
	struct uop *u = emit_uop(e, x->guard >= 0 ? &e->h->call->ret_if : &e->h->call->ret);
	if (x->guard >= 0) {
		u->a = e->pred_slot[x->guard];
		u->b = x->guard_neg ? 0xffffffffu : 0;
	}
}

void emit_system(struct emit *e, const struct xop *x)
{
	struct system_operands *s = image_pool(e->im, sizeof *s);
	s->call = (enum system_call)x->op;
	s->n = x->n_s;
	for (unsigned i = 0; i < x->n_s; i++)
		s->arg[i] = emit_lanes(e, &x->s[i], 8, i);
	s->d = x->n_d ? e->p->reg_slot[x->d[0]] : 0;
	emit_uop(e, e->h->system)->system = s;
}

void emit_tensor(struct emit *e, const struct xop *x)
{
	const struct ir_tensor *t = &e->im->ir.tensors[x->target];
	struct tensor_operands *o = image_pool(e->im, sizeof *o);
	o->tensor = *t;
	for (unsigned i = 0; i < X_MAX_VEC; i++) {
		o->a[i] = i < t->n_a ? e->p->reg_slot[t->first_a + (int32_t)i] : 0;
		o->b[i] = i < t->n_b ? e->p->reg_slot[t->first_b + (int32_t)i] : 0;
		o->c[i] = i < t->n_c ? e->p->reg_slot[t->first_c + (int32_t)i] : 0;
	}
	o->e = t->kind == TENSOR_SPARSE ? e->p->reg_slot[t->first_e] : 0;
	for (unsigned i = 0; i < x->n_d; i++)
		o->d[i] = x->d[i] >= 0 ? e->p->reg_slot[x->d[i]] : 0;
	emit_uop(e, e->h->tensor)->tensor = o;
}

/* Control flow, barriers, and operations in which lanes see one another. */
#include "emu/codegen/emit.h"

#include "base/mem.h"

/* --- warp-wide --- */

static uint32_t pred_dst(const struct emit *e, const struct xop *x, unsigned i)
{
	return x->n_d > i && x->d[i] >= 0 ? e->pred_slot[x->d[i]] : 0;
}

static uint32_t lanes_dst(const struct emit *e, const struct xop *x)
{
	return x->d[0] >= 0 ? e->p->reg_slot[x->d[0]] : 0;
}

/* A handler that makes one scalar, into a register that may want 32 lanes. */
static uint32_t scalar_dst(const struct emit *e, const struct xop *x)
{
	if (x->d[0] < 0)
		return e->scalar_temp[0];
	return emit_needs_lanes(e, x->d[0]) ? e->scalar_temp[0] : e->p->reg_slot[x->d[0]];
}

static void spread_dst(struct emit *e, const struct xop *x)
{
	if (x->d[0] >= 0 && emit_needs_lanes(e, x->d[0]))
		emit_spread(e, e->p->reg_slot[x->d[0]], e->scalar_temp[0], 0,
		            e->im->ir.regs[x->d[0]].bytes);
}

/* In front of an instruction of the whole warp, whose source @i says which lanes it is for: are all
 * named that execute it? Nothing, where it names every lane; machine code names none. */
static void emit_named(struct emit *e, const struct xop *x, unsigned i)
{
	if (i >= x->n_s || ir_of_machine_code(&e->im->ir))
		return;
	const struct affine members = emit_form(e, &x->s[i]);
	const bool uniform = affine_uniform(&members);
	if (uniform && members.known && (uint32_t)members.base == 0xffffffffu)
		return;
	const bool by_number = x->kind == X_SHFL && x->op == MODE_IDX;
	const uint32_t a = uniform ? emit_scalar(e, &x->s[i], 4) : emit_lanes(e, &x->s[i], 4, 0);
	const uint32_t from = by_number ? emit_lanes(e, &x->s[1], 4, 1) : 0;
	const uint32_t clamp = by_number ? emit_lanes(e, &x->s[2], 4, 2) : 0;
	struct uop *u = emit_uop(e, &e->h->warp->named);
	u->a = a;
	u->b = from;
	u->c = clamp;
	u->y = uniform;
}

void emit_shfl(struct emit *e, const struct xop *x)
{
	emit_named(e, x, 3);
	const uint32_t a = emit_lanes(e, &x->s[0], 4, 0), b = emit_lanes(e, &x->s[1], 4, 1),
				   c = emit_lanes(e, &x->s[2], 4, 2);
	const struct affine by = emit_form(e, &x->s[1]), clamp = emit_form(e, &x->s[2]);
	const bool known = by.known && clamp.known && x->d[0] >= 0 &&
	                   e->p->kind != PROGRAM_REFERENCE; /* the reference works them out */
	struct shuffle *table = known ? image_pool(e->im, sizeof *table) : NULL;
	for (unsigned i = 0; i < 32 && known; i++) {
		const struct affine_forms *s = &e->p->forms;
		bool inside;
		table->from[i] =
			(int32_t)lane_shfl_source((enum ptx_mode)x->op, i, (uint32_t)affine_lane(s, &by, i),
		                              (uint32_t)affine_lane(s, &clamp, i), &inside);
		table->inside |= (uint32_t)inside << i;
	}
	struct uop *u = emit_uop(e, known ? &e->h->alu->shuffle : &e->h->warp->shfl);
	u->shuffle = table;
	u->d = lanes_dst(e, x);
	u->a = a;
	u->b = b;
	u->c = c;
	u->x.u = x->op;
	u->y = pred_dst(e, x, 1);
}

void emit_vote(struct emit *e, const struct xop *x)
{
	const struct affine members = emit_form(e, &x->s[1]);
	const bool pred = x->type == PTX_PRED, uniform = affine_uniform(&members);
	emit_named(e, x, 1);
	const uint32_t b = uniform ? 0 : emit_lanes(e, &x->s[1], 4, 0);
	if (x->d[0] < 0)
		return;
	const uint32_t d = pred ? e->pred_slot[x->d[0]] : uniform ? scalar_dst(e, x) : lanes_dst(e, x);
	struct uop *u = emit_uop(e, uniform ? &e->h->warp->vote : &e->h->warp->vote_lanes);
	u->d = d;
	u->a = emit_pred_src(e, &x->s[0]);
	u->b = b;
	u->c = pred;
	u->x.u = emit_inverted(&x->s[0]);
	u->y = x->op;
	if (!pred && uniform)
		spread_dst(e, x);
}

void emit_match(struct emit *e, const struct xop *x)
{
	emit_named(e, x, 1);
	const uint32_t a = emit_lanes(e, &x->s[0], x->bytes, 0), b = emit_lanes(e, &x->s[1], 4, 1);
	struct uop *u = emit_uop(e, &e->h->warp->match);
	u->d = lanes_dst(e, x);
	u->a = a;
	u->b = b;
	u->c = x->bytes;
	u->x.u = x->op;
	u->y = pred_dst(e, x, 1);
}

void emit_redux(struct emit *e, const struct xop *x)
{
	const struct affine members = emit_form(e, &x->s[1]);
	const bool uniform = affine_uniform(&members);
	emit_named(e, x, 1);
	const uint32_t a = emit_lanes(e, &x->s[0], 4, 0);
	const uint32_t b = uniform ? 0 : emit_lanes(e, &x->s[1], 4, 1);
	if (x->d[0] < 0)
		return;
	struct uop *u = emit_uop(e, uniform ? &e->h->warp->redux : &e->h->warp->redux_lanes);
	u->d = uniform ? scalar_dst(e, x) : lanes_dst(e, x);
	u->a = a;
	u->b = b;
	u->x.u = x->op;
	u->y = x->type == PTX_S32;
	if (uniform)
		spread_dst(e, x);
}

void emit_elect(struct emit *e, const struct xop *x)
{
	emit_named(e, x, 0);
	struct uop *u = emit_uop(e, &e->h->warp->elect);
	u->d = x->d[0] >= 0 ? scalar_dst(e, x) : 0;
	u->y = pred_dst(e, x, 1);
	spread_dst(e, x);
}

/* What a warp alone takes for an instruction on an average, as the time model has it for a loop
 * that waits for the clock: such a loop then takes the time it asked for. */
#define CYCLES_PER_PTX_INST 8
#define CYCLES_PER_MACHINE_INST 6

void emit_scalar_source(struct emit *e, const struct handler *h, const struct xop *x)
{
	struct uop *u = emit_uop(e, h);
	u->d = scalar_dst(e, x);
	u->x.i = e->position;
	u->b = ir_of_machine_code(&e->im->ir) ? CYCLES_PER_MACHINE_INST : CYCLES_PER_PTX_INST;
	spread_dst(e, x);
}

/* --- control --- */

void emit_target(struct emit *e, const struct uop *u, int32_t block)
{
	MEM_ROOM(e->fixups, e->n_fixups, e->cap_fixups, 32);
	e->fixups[e->n_fixups++] = (struct fixup){ (uint32_t)(u - e->p->uops), (uint32_t)block };
}

void emit_bra(struct emit *e, const struct xop *x)
{
	const struct branch_handlers *b = e->h->branch;
	const bool parts = ir_of_machine_code(&e->im->ir);
	struct uop *u = emit_uop(e, x->guard < 0                                 ? &b->jump
	                            : e->speculative && e->speculative[e->block] ? &b->speculative
	                            : parts                                      ? &e->h->meet->two_way
	                                                                         : &b->two_way);
	if (x->guard >= 0) {
		u->a = e->pred_slot[x->guard];
		u->b = x->guard_neg ? 0xffffffffu : 0;
		u->y = e->block;
	}
	emit_target(e, u, x->target);
}

void emit_brx(struct emit *e, const struct xop *x)
{
	const struct affine s = emit_form(e, &x->s[0]);
	const bool scalar = affine_uniform(&s);
	const uint32_t a = scalar ? emit_scalar(e, &x->s[0], 4) : emit_lanes(e, &x->s[0], 4, 0);
	const bool parts = ir_of_machine_code(&e->im->ir);
	struct uop *u = emit_uop(e, parts ? &e->h->meet->table : &e->h->branch->table);
	u->a = a;
	u->b = scalar;
	u->y = e->block;
}

void emit_barrier(struct emit *e, const struct xop *x)
{
	uint32_t slot[2];
	bool scalar[2];
	for (unsigned i = 0; i < 2; i++) {
		const struct affine s = emit_form(e, &x->s[i]);
		scalar[i] = affine_uniform(&s);
		slot[i] = scalar[i] ? emit_scalar(e, &x->s[i], 4) : emit_lanes(e, &x->s[i], 4, i);
	}
	struct uop *u =
		emit_uop(e, x->kind == X_ARRIVE ? &e->h->barrier->arrive : &e->h->barrier->sync);
	u->a = slot[0];
	u->b = slot[1];
	u->c = emit_pred_src(e, &x->s[2]);
	u->y = (scalar[0] ? 1u : 0) | (scalar[1] ? 2u : 0) | (x->op != ATOM_NONE ? 4u : 0) |
	       (x->s[2].neg ? 8u : 0);
}

void emit_barred(struct emit *e, const struct xop *x)
{
	if (x->d[0] < 0)
		return;
	const bool pred = e->im->ir.regs[x->d[0]].bytes == 0;
	struct uop *u = emit_uop(e, pred ? &e->h->barrier->result_pred : &e->h->barrier->result);
	u->d = pred ? e->pred_slot[x->d[0]] : scalar_dst(e, x);
	u->x.u = x->op;
	if (!pred)
		spread_dst(e, x);
}

void emit_exit(struct emit *e, const struct xop *x)
{
	struct uop *u = emit_uop(e, x->guard >= 0 ? &e->h->control->exit_if : &e->h->control->exit);
	if (x->guard >= 0) {
		u->a = e->pred_slot[x->guard];
		u->b = x->guard_neg ? 0xffffffffu : 0;
	}
}

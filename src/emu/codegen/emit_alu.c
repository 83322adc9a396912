/*
 * Operations without memory or control: on scalars where the result is one, on 32 lanes otherwise.
 * A scalar source of a 32-lane operation is taken as it is if there is a handler for that, else
 * spread first. Widening of scalar + pattern is guarded where it could wrap.
 */
#include "emu/codegen/emit.h"

static void set_sources(struct uop *u, const uint32_t *slot, unsigned n)
{
	u->a = n > 0 ? slot[0] : 0;
	u->b = n > 1 ? slot[1] : 0;
	u->c = n > 2 ? slot[2] : 0;
	if (n > 3)
		u->x.u = slot[3];
}

/* Operations that widen a 32-bit value are right for scalar + pattern only if nothing wraps. */
static void guard_widening(struct emit *e, const struct xop *x)
{
	const bool sign = x->op == E_sext64 || x->op == E_mul_wide_s32;
	if (!sign && x->op != E_zext64 && x->op != E_mul_wide_u32)
		return;
	for (unsigned i = 0; i < x->n_s; i++) {
		const struct affine s = emit_form(e, &x->s[i]);
		if (s.cls != AFFINE_SCALAR || s.pattern == 0)
			continue;
		if (s.ranged && (sign || s.lo >= 0))
			continue; /* it cannot */
		const uint32_t slot = emit_scalar(e, &x->s[i], 4);
		struct uop *u = emit_uop(e, sign ? &e->h->control->check_s32 : &e->h->control->check_u32);
		u->a = slot;
		u->b = e->guarded;
		u->x.u = (uint64_t)s.pattern;
	}
}

static void scalar_op(struct emit *e, const struct xop *x, uint32_t d)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	uint32_t slot[4] = { 0 };
	guard_widening(e, x);
	for (unsigned i = 0; i < info->n_src; i++)
		slot[i] = emit_scalar(e, &x->s[i], info->s_bytes[i]);
	struct uop *u = emit_uop(e, &e->h->uniform->op[x->op]);
	u->d = d;
	set_sources(u, slot, info->n_src);
	if (x->kind == X_CMP)
		u->x.u = x->neg ? 0xffffffffu : 0;
}

/* The only source that is an unknown scalar, if there is a handler that takes it as it is. */
static enum scalar_source scalar_position(const struct emit *e, const struct xop *x)
{
	enum scalar_source found = SCALAR_NONE;
	for (unsigned i = 0; i < x->n_s; i++) {
		const struct affine s = emit_form(e, &x->s[i]);
		if (s.cls != AFFINE_SCALAR || s.pattern || s.known)
			continue;
		if (found != SCALAR_NONE || i > 2)
			return SCALAR_NONE;
		found = (enum scalar_source)(SCALAR_A + i);
	}
	return found != SCALAR_NONE && e->h->alu->op[x->op][found].full ? found : SCALAR_NONE;
}

static void lanes_op(struct emit *e, const struct xop *x, uint32_t d)
{
	const struct emu_op_info *info = &emu_ops[x->op];
	const enum scalar_source at = scalar_position(e, x);
	uint32_t slot[4] = { 0 };
	for (unsigned i = 0; i < info->n_src; i++)
		slot[i] = at == SCALAR_A + i ? emit_scalar(e, &x->s[i], info->s_bytes[i])
		                             : emit_lanes(e, &x->s[i], info->s_bytes[i], i);
	struct uop *u = emit_uop(e, &e->h->alu->op[x->op][at]);
	u->d = d;
	u->y = x->op * SCALAR_SOURCES + at; /* for forward.c */
	set_sources(u, slot, info->n_src);
	if (x->kind == X_CMP)
		u->x.u = x->neg ? 0xffffffffu : 0;
}

/* Known values into a register of 32 lanes. */
static void move_known(struct emit *e, int32_t reg, const struct affine *s)
{
	const unsigned bytes = e->im->ir.regs[reg].bytes;
	const uint32_t from = emit_known_lanes(e, s, bytes);
	struct uop *u = emit_uop(e, &e->h->alu->op[bytes == 8 ? E_mov_b64 : E_mov_b32][0]);
	u->d = e->p->reg_slot[reg];
	u->a = from;
}

/* A division of integers whose divisor may be zero is looked at before it is done. */
static void guard_division(struct emit *e, const struct xop *x)
{
	const bool wide =
		x->op == E_div_s64 || x->op == E_div_u64 || x->op == E_rem_s64 || x->op == E_rem_u64;
	if (!wide && x->op != E_div_s32 && x->op != E_div_u32 && x->op != E_rem_s32 &&
	    x->op != E_rem_u32)
		return;
	const struct affine by = emit_form(e, &x->s[1]);
	const bool scalar = affine_uniform(&by);
	if (scalar && by.known && by.base)
		return;
	const uint32_t slot =
		scalar ? emit_scalar(e, &x->s[1], wide ? 8 : 4) : emit_lanes(e, &x->s[1], wide ? 8 : 4, 1);
	struct uop *u = emit_uop(e, &e->h->control->divisor);
	u->a = slot;
	u->b = scalar ? wide ? DIVISOR_S64 : DIVISOR_S32 : wide ? DIVISOR_L64 : DIVISOR_L32;
}

void emit_op(struct emit *e, const struct xop *original)
{
	const struct xop reduced = xop_reduced(&e->p->forms, &e->im->ir, original), *x = &reduced;
	const int32_t d = x->d[0];
	if (d < 0)
		return;
	const unsigned bytes = emu_ops[x->op].d_bytes;
	guard_division(e, original);
	const struct affine *have = &e->p->forms.reg[d];
	if (affine_assumed(&e->p->forms, &e->im->ir, x)) {
		const uint32_t slot = emit_scalar(e, &x->s[0], 4);
		struct uop *u = emit_uop(e, &e->h->control->check_positive);
		u->a = slot;
		u->x.u = (uint64_t)emit_form(e, &x->s[0]).pattern;
	}
	if (have->cls == AFFINE_SCALAR) {
		if (!have->known)
			scalar_op(e, x, e->p->reg_slot[d]);
		return;
	}
	const struct affine raw = e->raw;
	if (raw.cls == AFFINE_SCALAR && raw.known) {
		move_known(e, d, &raw);
	} else if (raw.cls == AFFINE_SCALAR) {
		scalar_op(e, x, e->scalar_temp[0]);
		emit_spread(e, e->p->reg_slot[d], e->scalar_temp[0], raw.pattern, bytes);
	} else {
		lanes_op(e, x, e->p->reg_slot[d]);
	}
}

/* A predicate whose value is known. */
static void known_predicate(struct emit *e, int32_t d, uint64_t value)
{
	struct uop *u = emit_uop(e, &e->h->uniform->pred[BOOL_NONE]);
	u->d = e->pred_slot[d];
	u->a = u->b = value ? e->pred_ones : e->pred_zeros;
}

/* Lanes in a row, or another pattern, against a scalar: without spreading them first. */
static bool row_cmp(struct emit *e, const struct xop *x, uint32_t d)
{
	const struct affine s[2] = { emit_form(e, &x->s[0]), emit_form(e, &x->s[1]) };
	const unsigned at = affine_uniform(&s[0]);
	const struct handler *h = &e->h->alu->row[x->op][at];
	if (!h->full || s[at].cls != AFFINE_SCALAR || s[at].known || !s[at].pattern ||
	    !affine_uniform(&s[!at]))
		return false;
	const uint32_t a = emit_scalar(e, &x->s[at], 4), b = emit_scalar(e, &x->s[!at], 4);
	struct uop *u = emit_uop(e, h);
	u->d = d;
	u->a = a;
	u->b = b;
	u->x.u = (uint64_t)s[at].pattern; /* made a pointer when all patterns are known */
	u->y = x->neg ? 0xffffffffu : 0;
	return true;
}

void emit_cmp(struct emit *e, const struct xop *x)
{
	const struct affine raw = e->raw;
	bool uniform = true;
	if (raw.known) {
		known_predicate(e, x->d[0], raw.base);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct affine s = emit_form(e, &x->s[i]);
		uniform &= affine_uniform(&s);
	}
	const uint32_t d = e->pred_slot[x->d[0]];
	if (uniform)
		scalar_op(e, x, d);
	else if (!row_cmp(e, x, d))
		lanes_op(e, x, d);
}

void emit_pred(struct emit *e, const struct xop *x)
{
	const struct affine raw = e->raw;
	if (raw.known) {
		known_predicate(e, x->d[0], raw.base);
		return;
	}
	struct uop *u = emit_uop(e, &e->h->uniform->pred[x->op]);
	u->d = e->pred_slot[x->d[0]];
	u->a = emit_pred_src(e, &x->s[0]);
	u->b = x->n_s > 1 ? emit_pred_src(e, &x->s[1]) : u->a;
	u->x.u = emit_inverted(&x->s[0]) | (uint64_t)(x->n_s > 1 ? emit_inverted(&x->s[1]) : 0) << 32;
}

void emit_select(struct emit *e, const struct xop *x)
{
	const int32_t d = x->d[0];
	const struct affine raw = e->raw;
	const bool lanes = emit_needs_lanes(e, d);
	uint32_t to = e->p->reg_slot[d];
	if (raw.cls == AFFINE_LANES) {
		const uint32_t a = emit_lanes(e, &x->s[0], x->bytes, 0);
		const uint32_t b = emit_lanes(e, &x->s[1], x->bytes, 1);
		struct uop *u = emit_uop(e, x->bytes == 8 ? &e->h->alu->select64 : &e->h->alu->select32);
		u->d = to;
		u->a = a;
		u->b = b;
		u->c = emit_pred_src(e, &x->s[2]);
		u->x.u = emit_inverted(&x->s[2]);
		return;
	}
	if (lanes)
		to = e->scalar_temp[0];
	const uint32_t a = emit_scalar(e, &x->s[0], x->bytes), b = emit_scalar(e, &x->s[1], x->bytes);
	struct uop *u = emit_uop(e, &e->h->uniform->select);
	u->d = to;
	u->a = a;
	u->b = b;
	u->c = emit_pred_src(e, &x->s[2]);
	u->x.u = emit_inverted(&x->s[2]);
	if (lanes)
		emit_spread(e, e->p->reg_slot[d], to, raw.pattern, x->bytes);
}

/* A scalar of the warp's header into a register. */
static void from_header(struct emit *e, int32_t d, uint32_t offset, int32_t pattern)
{
	if (emit_needs_lanes(e, d)) {
		emit_spread(e, e->p->reg_slot[d], offset, pattern, 4);
		return;
	}
	struct uop *u = emit_uop(e, &e->h->uniform->op[E_mov_b32]);
	u->d = e->p->reg_slot[d];
	u->a = offset;
}

void emit_special(struct emit *e, const struct xop *x)
{
	const int32_t d = x->d[0];
	const struct affine raw = e->raw, *have = &e->p->forms.reg[d];
	if (have->cls == AFFINE_SCALAR && have->known)
		return;
	const uint32_t header = e->h->special_at + 8u * x->op;
	if (raw.known && have->cls == AFFINE_SCALAR) { /* known here, but written elsewhere too */
		const uint32_t from = emit_const(e, 4, 1, &raw.base);
		struct uop *u = emit_uop(e, &e->h->uniform->op[E_mov_b32]);
		u->d = e->p->reg_slot[d];
		u->a = from;
	} else if (raw.known) {
		move_known(e, d, &raw);
	} else if (raw.cls == AFFINE_SCALAR) {
		from_header(e, d, header, raw.pattern);
	} else { /* only %tid */
		struct uop *u = emit_uop(e, &e->h->alu->op[E_mov_b32][0]);
		u->d = e->p->reg_slot[d];
		u->a = e->h->tid_at + 128u * (x->op - SR_TID_X);
	}
}

/*
 * Loads, stores, atomics and asynchronous copies to simple operations. Loads of parameters are
 * constants; symbols are addresses already. PTX ISA 9.0 sections 9.7.9 and 9.7.13.
 */
#include "emu/lower/lower_inst.h"

#include <string.h>

/* Sets address, space and type of a memory operation. */
static bool set_address(struct lower *l, struct xop *x, const struct ptx_operand *m,
                        enum ptx_space space)
{
	x->space = space;
	x->mem = (int32_t)l->ir->n_mem++;
	x->n_s = 1;
	if (m->addr_base == ADDR_REG) {
		x->s[0] = src_reg(m->reg);
		x->offset = m->i64;
	} else if (m->addr_base == ADDR_SYMBOL) {
		int64_t offset = m->i64;
		const struct xsrc base = low_address(l, m->symbol, &offset);
		x->s[0] = base.kind == S_CONST ? src_const(base.value + (uint64_t)offset) : base;
		x->offset = base.kind == S_CONST ? 0 : offset;
	} else {
		x->s[0] = src_const((uint64_t)m->i64);
	}
	if (space == SPACE_PARAM) /* parameters were copied to device memory */
		x->space = SPACE_CONST;
	return true;
}

/* What only the block has to agree on may come from its SM's L1 (tests/gpu/micro/functions.cu). */
static bool bypasses_l1(const struct ptx_inst *in)
{
	return in->cache == CACHE_CG || in->cache == CACHE_CV || (in->flags & PF_VOLATILE) ||
	       (in->sem > SEM_WEAK && in->scope != SCOPE_CTA);
}

/* Volatile accesses are relaxed ones that reach the whole system, but order nothing (ISA 8.2). */
static void set_order(struct xop *x, const struct ptx_inst *in)
{
	x->strong = in->sem > SEM_WEAK || (in->flags & PF_VOLATILE);
	x->sem = in->flags & PF_VOLATILE ? SEM_NONE : in->sem;
	x->scope = in->scope;
}

static uint64_t read_le(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;
	memcpy(&v, p, n);
	return v;
}

static bool load_param(struct lower *l)
{
	const struct ptx_operand *d = &l->in->opnd[0], *m = &l->in->opnd[1];
	const struct ptx_func *f = l->ir->func;
	const unsigned bytes = ptx_type_bytes(l->in->type);
	const uint64_t at = f->params[-1 - m->symbol].offset + (uint64_t)m->i64;
	const unsigned n = l->in->vec ? l->in->vec : 1;
	if (at + (uint64_t)n * bytes > f->param_bytes)
		return low_refuse(l, "reads past the end of the parameters");
	for (unsigned i = 0; i < n; i++) {
		const int32_t reg = d->kind == OPND_VEC ? d->vec[i] : d->reg;
		if (reg < 0)
			continue;
		uint64_t v = read_le(l->env->params + at + (uint64_t)i * bytes, bytes);
		const uint32_t sign = l->in->type == PTX_S8 ? 0x80 : l->in->type == PTX_S16 ? 0x8000 : 0;
		if (sign) /* extended to the 32-bit lane */
			v = ((uint32_t)v ^ sign) - sign;
		low_widen(l, reg, l->in->type, src_const(v));
	}
	return !l->failed;
}

/* A load or store of @n elements at @m. NULL: refused. */
static struct xop *emit_access(struct lower *l, enum xkind kind, const struct ptx_operand *m,
                               unsigned n)
{
	const struct ptx_inst *in = l->in;
	struct xop *x = low_emit(l, kind);
	if (!set_address(l, x, m, in->space))
		return NULL;
	set_order(x, in);
	x->type = in->type;
	x->bytes = (uint8_t)ptx_type_bytes(in->type);
	x->vec = (uint8_t)n;
	return x;
}

bool low_ld(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *d = &in->opnd[0], *m = &in->opnd[1];
	if (in->space == SPACE_PARAM && m->addr_base == ADDR_SYMBOL) {
		if (m->symbol >= 0 || l->part->called)
			return low_load_cells(l);
		return load_param(l);
	}
	if (in->type == PTX_B128)
		return low_refuse(l, "vectors of 128-bit registers are not supported");
	const unsigned n = in->vec ? in->vec : 1;
	int32_t to[X_MAX_VEC], value[X_MAX_VEC];
	bool direct = true;
	for (unsigned i = 0; i < n; i++) {
		to[i] = d->kind == OPND_VEC ? d->vec[i] : d->kind == OPND_REG ? d->reg : -1;
		value[i] = to[i];
		const bool narrow16 = to[i] >= 0 && in->type == PTX_S8 &&
		                      (uint32_t)to[i] < l->ir->func->n_regs &&
		                      ptx_type_bytes(l->ir->func->regs[to[i]].type) == 2;
		if (to[i] >= 0 && (low_reg_bytes(l, to[i]) != type_lane(in->type) || narrow16)) {
			value[i] = low_temp(l, type_lane(in->type));
			direct = false;
		}
	}
	struct xop *x = emit_access(l, X_LD, m, n);
	if (!x)
		return false;
	x->n_d = (uint8_t)n;
	x->bypass_l1 = bypasses_l1(in);
	for (unsigned i = 0; i < n; i++)
		x->d[i] = value[i];
	if (direct)
		return true;
	for (unsigned i = 0; i < n; i++) {
		if (value[i] == to[i])
			continue;
		if (low_reg_bytes(l, to[i]) == 4 && type_lane(in->type) == 4)
			low_op1(l, E_ext_u16, to[i], src_reg(value[i]));
		else
			low_widen(l, to[i], in->type, src_reg(value[i]));
	}
	return true;
}

bool low_st(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *m = &in->opnd[0], *s = &in->opnd[1];
	if (in->space == SPACE_PARAM)
		return low_store_cells(l);
	if (in->type == PTX_B128)
		return low_refuse(l, "vectors of 128-bit registers are not supported");
	const unsigned n = in->vec ? in->vec : 1, lane = type_lane(in->type);
	struct xsrc v[X_MAX_VEC];
	for (unsigned i = 0; i < n; i++) {
		if (s->kind != OPND_VEC)
			v[i] = low_src(l, 1, lane);
		else if (s->vec[i] < 0)
			v[i] = src_const(0);
		else
			v[i] = low_resize(l, src_reg(s->vec[i]), low_reg_bytes(l, s->vec[i]), lane);
	}
	struct xop *x = emit_access(l, X_ST, m, n);
	if (!x)
		return false;
	x->n_s = (uint8_t)(1 + n);
	x->to_l2 = in->cache == CACHE_CG || in->cache == CACHE_WT;
	for (unsigned i = 0; i < n; i++)
		x->s[1 + i] = v[i];
	return !l->failed;
}

static bool is_whole(enum ptx_type t)
{
	return t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64;
}

static bool atomic_supported(enum ptx_atom a, enum ptx_type t, bool vector)
{
	const bool bits = t == PTX_B32 || t == PTX_B64;
	const bool ints = is_whole(t);
	switch (a) {
	case ATOM_ADD: return ints || type_float(t) || type_half(t) || type_pair(t);
	case ATOM_MIN:
	case ATOM_MAX: return ints || (vector && (type_half(t) || type_pair(t)));
	case ATOM_AND:
	case ATOM_OR:
	case ATOM_XOR: return bits || ints;
	case ATOM_INC:
	case ATOM_DEC: return t == PTX_U32;
	case ATOM_EXCH: return bits || ints || type_float(t);
	case ATOM_CAS: return bits || ints || t == PTX_B16;
	default: return false;
	}
}

/* One element of it: @b is what it brings, @d where the old value goes, -1 = nowhere. */
static bool emit_atomic(struct lower *l, unsigned first, unsigned element, int32_t d, struct xsrc b,
                        struct xsrc c)
{
	const struct ptx_inst *in = l->in;
	struct xop *x = low_emit(l, first ? X_ATOM : X_RED);
	if (!set_address(l, x, &in->opnd[first], in->space))
		return false;
	set_order(x, in);
	x->op = (uint16_t)in->atom;
	x->type = in->type;
	x->bytes = (uint8_t)ptx_type_bytes(in->type);
	x->same_request = element > 0;
	x->request_bytes = (uint8_t)(in->vec > 1 && !element ? in->vec * x->bytes : 0);
	x->offset += (int64_t)element * x->bytes;
	x->n_d = d >= 0 ? 1 : 0;
	x->d[0] = d;
	x->s[1] = b;
	x->s[2] = c;
	x->n_s = 3;
	return !l->failed;
}

/* One of 128 bits, in two registers: atom.exch, atom.cas. */
static bool lower_wide_atomic(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *d = &in->opnd[0];
	const unsigned n = in->atom == ATOM_CAS ? 2 : 1; /* operands behind the address */
	if (!low_needs(l, 90))
		return false;
	if (in->atom != ATOM_CAS && in->atom != ATOM_EXCH)
		return low_refuse(l, "of 128 bits there are .exch and .cas");
	struct xop *x = low_emit(l, X_ATOM);
	if (!set_address(l, x, &in->opnd[1], in->space))
		return false;
	set_order(x, in);
	x->op = (uint16_t)in->atom;
	x->type = PTX_B64;
	x->bytes = 8;
	x->vec = x->n_d = 2;
	x->n_s = (uint8_t)(1 + 2 * n);
	for (unsigned i = 0; i < 2; i++) {
		x->d[i] = d->kind == OPND_VEC ? d->vec[i] : -1;
		for (unsigned k = 0; k < n; k++)
			x->s[1 + 2 * k + i] = src_reg(in->opnd[2 + k].vec[i]);
	}
	return !l->failed;
}

static bool lower_atomic(struct lower *l, bool with_result)
{
	const struct ptx_inst *in = l->in;
	const unsigned first = with_result ? 1 : 0, lane = type_lane(in->type);
	const struct ptx_operand *from = &in->opnd[first + 1], *to = &in->opnd[0];
	if (in->wide)
		return lower_wide_atomic(l);
	if (!atomic_supported(in->atom, in->type, in->vec > 1))
		return low_refuse(l, "this operation on .%s is not supported as an atomic",
		                  ptx_type_name(in->type));
	if (in->vec == 1) {
		const struct xsrc b = low_src(l, first + 1, lane);
		const struct xsrc c = in->atom == ATOM_CAS ? low_src(l, first + 2, lane) : src_const(0);
		return emit_atomic(l, first, 0, with_result ? low_dst(l, 0) : -1, b, c);
	}
	if (!low_needs(l, 90))
		return false;
	int32_t old[X_MAX_VEC]; /* what comes back may overwrite what is still to go */
	for (unsigned i = 0; i < in->vec; i++) {
		const struct xsrc b = from->vec[i] >= 0 ? src_reg(from->vec[i]) : src_const(0);
		old[i] = with_result && to->kind == OPND_VEC && to->vec[i] >= 0 ? low_temp(l, lane) : -1;
		if (!emit_atomic(l, first, i, old[i], b, src_const(0)))
			return false;
	}
	for (unsigned i = 0; i < in->vec; i++)
		if (old[i] >= 0)
			low_op1(l, lane == 8 ? E_mov_b64 : E_mov_b32, to->vec[i], src_reg(old[i]));
	return !l->failed;
}

bool low_atom(struct lower *l)
{
	return lower_atomic(l, true);
}

bool low_red(struct lower *l)
{
	return lower_atomic(l, false);
}

/* cp.async copies when it is issued: the waits that order it then have nothing left to do. */
bool low_cp_async(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const unsigned size = (unsigned)in->opnd[2].i64;
	struct xsrc used = src_const(size);
	const struct ptx_operand *o = &in->opnd[3];
	const bool ignore = o->kind == OPND_REG && l->ir->func->regs[o->reg].type == PTX_PRED;
	if (ignore) /* where it holds, zeros are written */
		used = src_reg(low_select(l, -1, 4, src_const(0), used, low_pred(l, 3)));
	else if (in->n_opnds > 3 && o->kind != OPND_NONE)
		used = low_src(l, 3, 4);
	struct xop *x = low_emit(l, X_ASYNC);
	if (!set_address(l, x, &in->opnd[0], SPACE_SHARED))
		return false;
	struct xop from = { 0 };
	if (!set_address(l, &from, &in->opnd[1], SPACE_GLOBAL))
		return false;
	x->type = PTX_B8;
	x->bytes = (uint8_t)size;
	x->s[1] = from.s[0];
	x->s[2] = used;
	x->s[3] = src_const((uint64_t)from.offset);
	x->n_s = 4;
	x->bypass_l1 = in->cache == CACHE_CG;
	return !l->failed;
}

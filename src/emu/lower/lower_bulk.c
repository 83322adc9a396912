/*
 * Bulk copies and what goes with them (PTX ISA 9.0, 9.7.9.25 and 9.7.9.26, st.async 9.7.9.12,
 * red.async 9.7.13.9, createpolicy 9.7.9.20). Each lane's copy is one call (vm/bulk.c), done at
 * once: only the checks wait for groups of them.
 */
#include "emu/lower/lower_inst.h"

static uint64_t how(const struct ptx_inst *in)
{
	return BULK_OP(in->atom, in->type) | (in->flags & PF_MULTICAST ? BULK_MULTICAST : 0);
}

/* A call without result; @counted: it moves bytes of global memory. */
static void call(struct lower *l, enum system_call what, unsigned n, const struct xsrc *arg,
                 bool counted)
{
	struct xop *x = low_emit(l, X_SYSTEM);
	x->op = (uint16_t)what;
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = arg[i];
	if (counted) { /* two numbers: the shared side, the global side */
		x->mem = (int32_t)l->ir->n_mem;
		l->ir->n_mem += 2;
	}
}

static struct xsrc shared(struct lower *l, unsigned i)
{
	if (l->in->opnd[i].kind == OPND_NONE)
		return src_const(0);
	return low_widened(l, low_shared_offset(l, i));
}

/* The blocks of the cluster that a copy goes to. */
static struct xsrc blocks(struct lower *l)
{
	return l->in->flags & PF_MULTICAST ? low_widened(l, low_src(l, 4, 4)) : src_const(0);
}

static bool known_reduction(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool order = in->atom == ATOM_MIN || in->atom == ATOM_MAX;
	if (in->atom == ATOM_ADD || (order && !type_float(in->type)) ||
	    (in->atom <= ATOM_DEC && !type_floating(in->type)))
		return true;
	return low_refuse(l, "this reduction is not supported");
}

bool low_bulk(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool out = in->space == SPACE_GLOBAL, inside = in->space2 == SPACE_SHARED && !out;
	if (!low_needs(l, 90) || (in->atom != ATOM_NONE && !known_reduction(l)))
		return false;
	if (in->op == OP_CP_REDUCE_ASYNC_BULK && !out && !inside)
		return low_refuse(l, "a reduction goes to .global or from .shared::cta");
	const unsigned local = out ? 1 : 0;
	const struct xsrc arg[6] = {
		shared(l, local),
		inside ? shared(l, 1) : low_wide_address(l, !local),
		low_widened(l, low_src(l, 2, 4)),
		shared(l, 3),
		blocks(l),
		src_const(how(in)),
	};
	call(l,
	     inside                  ? SYSTEM_BULK_SHARED
	     : !out                  ? SYSTEM_BULK_LOAD
	     : in->atom == ATOM_NONE ? SYSTEM_BULK_STORE
	                             : SYSTEM_BULK_REDUCE,
	     6, arg, !inside);
	return !l->failed;
}

bool low_tensor_copy(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *map = &in->opnd[1];
	const bool out = in->space == SPACE_GLOBAL;
	if (!low_needs(l, 90))
		return false;
	struct xsrc arg[SYSTEM_ARGS] = {
		shared(l, 0),       low_resize(l, src_reg(map->vec[0]), low_reg_bytes(l, map->vec[0]), 8),
		shared(l, 2),       blocks(l),
		src_const(how(in)),
	};
	for (unsigned i = 1; i < map->n_vec; i++)
		arg[4 + i] = low_widened(l, src_reg(map->vec[i]));
	for (unsigned i = map->n_vec; i <= 5; i++)
		arg[4 + i] = src_const(0);
	call(l,
	     !out                    ? SYSTEM_TENSOR_LOAD
	     : in->atom == ATOM_NONE ? SYSTEM_TENSOR_STORE
	                             : SYSTEM_TENSOR_REDUCE,
	     SYSTEM_ARGS, arg, true);
	return !l->failed;
}

bool low_remote_store(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_operand *v = &in->opnd[1];
	const unsigned n = v->kind == OPND_VEC ? v->n_vec : 1, bytes = type_lane(in->type);
	if (!low_needs(l, 90))
		return false;
	struct xsrc arg[8] = { shared(l, 0), shared(l, 2), src_const(how(in)), src_const(n) };
	for (unsigned i = 0; i < n; i++) {
		const struct xsrc a = v->kind != OPND_VEC ? low_src(l, 1, bytes)
		                      : v->vec[i] >= 0    ? src_reg(v->vec[i])
		                                          : src_const(0);
		arg[4 + i] = bytes == 8 || a.kind == S_CONST ? a : low_widened(l, a);
	}
	call(l, SYSTEM_REMOTE_STORE, 4 + n, arg, false);
	return !l->failed;
}

/* A policy is a hint that changes no result: any value will do. */
bool low_createpolicy(struct lower *l)
{
	low_op1(l, E_mov_b64, low_dst(l, 0), src_const(0));
	return !l->failed;
}

bool low_bulk_groups(struct lower *l)
{
	struct xop *x = low_emit(l, X_COPIES);
	if (l->in->op == OP_CP_ASYNC_BULK_COMMIT_GROUP) {
		x->op = COPIES_BULK_COMMIT;
		return true;
	}
	x->op = l->in->flags & PF_READ ? COPIES_BULK_WAIT_READ : COPIES_BULK_WAIT;
	x->offset = (int64_t)l->in->opnd[0].i64;
	return true;
}

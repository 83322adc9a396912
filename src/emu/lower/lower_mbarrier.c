/*
 * Barriers in shared memory: mbarrier (PTX ISA 9.0, 9.7.13.15). Each lane acts for itself, in lane
 * order (vm/mbarrier.c). A wait asks once; programs ask again in a loop.
 */
#include "emu/lower/lower_inst.h"

/* The operation with @n arguments of 8 bytes; the register with its result. */
static int32_t ask(struct lower *l, enum system_call call, unsigned n, const struct xsrc *arg)
{
	const int32_t d = low_temp(l, 8);
	struct xop *x = low_emit(l, X_SYSTEM);
	x->op = (uint16_t)call;
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = arg[i];
	x->n_d = 1;
	x->d[0] = d;
	return d;
}

static struct xsrc widened(struct lower *l, struct xsrc a)
{
	return src_reg(low_op1(l, E_zext64, -1, a));
}

/* The count of operand @i, 1 where it is left out. */
static struct xsrc count_of(struct lower *l, unsigned i)
{
	if (l->in->n_opnds > i && l->in->opnd[i].kind != OPND_NONE)
		return widened(l, low_src(l, i, 4));
	return src_const(1);
}

bool low_mbarrier(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool first = in->op == OP_MBARRIER_INIT || in->op == OP_MBARRIER_INVAL;
	struct xsrc arg[3] = { widened(l, low_shared_offset(l, first ? 0 : 1)) };
	if (in->op == OP_MBARRIER_INVAL)
		return !l->failed; /* the memory is free for other use: nothing to do */
	if (first) {
		arg[1] = count_of(l, 1);
		ask(l, SYSTEM_MBARRIER_INIT, 2, arg);
		return !l->failed;
	}
	if (in->op == OP_MBARRIER_ARRIVE || in->op == OP_MBARRIER_ARRIVE_DROP) {
		arg[1] = count_of(l, 2);
		arg[2] = src_const(in->op == OP_MBARRIER_ARRIVE_DROP);
		const int32_t state = ask(l, SYSTEM_MBARRIER_ARRIVE, 3, arg), d = low_dst(l, 0);
		if (d >= 0)
			low_op1(l, E_mov_b64, d, src_reg(state));
		return !l->failed;
	}
	const bool parity = in->flags & PF_PARITY;
	arg[1] = parity ? widened(l, low_src(l, 2, 4)) : low_src(l, 2, 8);
	const int32_t ended = ask(l, parity ? SYSTEM_MBARRIER_PARITY : SYSTEM_MBARRIER_STATE, 2, arg);
	low_cmp(l, low_dst(l, 0), CMP_NE, PTX_U64, src_reg(ended), src_const(0));
	return !l->failed;
}

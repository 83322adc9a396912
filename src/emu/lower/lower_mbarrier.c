/*
 * Barriers in shared memory: mbarrier (PTX ISA 9.0, 9.7.13.15), also of other blocks of the
 * cluster, and those that count bytes of bulk copies. Each lane acts for itself, in lane order
 * (vm/mbarrier.c). A wait asks once; programs ask again in a loop.
 */
#include "emu/lower/lower_inst.h"

int32_t low_system(struct lower *l, enum system_call call, unsigned n, const struct xsrc *arg)
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

struct xsrc low_widened(struct lower *l, struct xsrc a)
{
	return src_reg(low_op1(l, E_zext64, -1, a));
}

/* Where the opcode has its address, and what is done. */
struct form {
	enum { MAKES, ENDS, ARRIVES, AWAITS_BYTES, ASKS } kind;
	unsigned address;
	bool leaves, bytes; /* ARRIVES: for good; its count is of bytes */
};

static struct form form_of(enum ptx_op op)
{
	switch (op) {
	case OP_MBARRIER_INIT: return (struct form){ MAKES, 0, false, false };
	case OP_MBARRIER_INVAL: return (struct form){ ENDS, 0, false, false };
	case OP_MBARRIER_ARRIVE: return (struct form){ ARRIVES, 1, false, false };
	case OP_MBARRIER_ARRIVE_DROP: return (struct form){ ARRIVES, 1, true, false };
	case OP_MBARRIER_ARRIVE_TX: return (struct form){ ARRIVES, 1, false, true };
	case OP_MBARRIER_ARRIVE_DROP_TX: return (struct form){ ARRIVES, 1, true, true };
	case OP_CP_ASYNC_MBARRIER: return (struct form){ ARRIVES, 0, false, false };
	case OP_MBARRIER_EXPECT_TX:
	case OP_MBARRIER_COMPLETE_TX: return (struct form){ AWAITS_BYTES, 0, false, true };
	default: return (struct form){ ASKS, 1, false, false };
	}
}

/* The count of operand @i, 1 where it is left out. */
static struct xsrc count_of(struct lower *l, unsigned i)
{
	if (l->in->n_opnds > i && l->in->opnd[i].kind != OPND_NONE)
		return low_widened(l, low_src(l, i, 4));
	return src_const(1);
}

static bool arrive(struct lower *l, const struct form *f, struct xsrc at)
{
	const bool copies = l->in->op == OP_CP_ASYNC_MBARRIER;
	if (copies) /* the checks: who sees the phase end sees what was copied */
		low_emit(l, X_COPIES)->op = COPIES_WAIT_ALL;
	if (copies && !(l->in->flags & PF_NOINC))
		return !l->failed; /* one more is awaited, and has come: the copies are done already */
	const struct xsrc n = copies ? src_const(1) : count_of(l, 2);
	const struct xsrc arg[4] = { at, f->bytes ? src_const(1) : n, src_const(f->leaves),
		                         f->bytes ? n : src_const(0) };
	const int32_t state = low_system(l, SYSTEM_MBARRIER_ARRIVE, 4, arg);
	const int32_t d = copies ? -1 : low_dst(l, 0);
	if (d >= 0)
		low_op1(l, E_mov_b64, d, src_reg(state));
	return !l->failed;
}

bool low_mbarrier(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	if (in->op == OP_MBARRIER_PENDING_COUNT) {
		const struct xsrc state = low_src(l, 1, 8);
		low_op1(l, E_trunc32, low_dst(l, 0),
		        src_reg(low_system(l, SYSTEM_MBARRIER_PENDING, 1, &state)));
		return !l->failed;
	}
	const struct form f = form_of(in->op);
	struct xsrc arg[2] = { low_widened(l, low_shared_offset(l, f.address)) };
	if ((f.bytes || (in->flags & PF_CLUSTER)) && !low_needs(l, 90))
		return false;
	switch (f.kind) {
	case ENDS: return !l->failed; /* the memory is free for other use: nothing to do */
	case ARRIVES: return arrive(l, &f, arg[0]);
	case MAKES:
		arg[1] = count_of(l, 1);
		low_system(l, SYSTEM_MBARRIER_INIT, 2, arg);
		return !l->failed;
	case AWAITS_BYTES:
		arg[1] = count_of(l, 1);
		if (in->op == OP_MBARRIER_COMPLETE_TX)
			arg[1] = src_reg(low_op2(l, E_sub_b64, -1, src_const(0), arg[1]));
		low_system(l, SYSTEM_MBARRIER_BYTES, 2, arg);
		return !l->failed;
	default: break;
	}
	const bool parity = in->flags & PF_PARITY;
	arg[1] = parity ? low_widened(l, low_src(l, 2, 4)) : low_src(l, 2, 8);
	const int32_t ended =
		low_system(l, parity ? SYSTEM_MBARRIER_PARITY : SYSTEM_MBARRIER_STATE, 2, arg);
	low_cmp(l, low_dst(l, 0), CMP_NE, PTX_U64, src_reg(ended), src_const(0));
	return !l->failed;
}

/*
 * Clusters of blocks: barriers, and addresses in the shared memory of other blocks (PTX ISA 9.0,
 * 9.7.13.4 barrier.cluster, 9.7.9.23 mapa, 9.7.9.24 getctarank). What an address looks like says
 * emu/ir/ir.h; blocks wait for one another in vm/cluster.c.
 */
#include "emu/lower/lower_inst.h"

static bool whole_warp(struct lower *l, enum system_call call)
{
	if (!low_needs(l, 90))
		return false;
	struct xop *x = low_emit(l, X_SYSTEM);
	x->op = (uint16_t)call;
	return true;
}

bool low_cluster_arrive(struct lower *l)
{
	if (!whole_warp(l, SYSTEM_CLUSTER_ARRIVE))
		return false;
	l->ir->ops[l->ir->n_ops - 1].offset = l->in->sem == SEM_RELAXED;
	return true;
}

bool low_cluster_wait(struct lower *l)
{
	return whole_warp(l, SYSTEM_CLUSTER_WAIT);
}

struct xsrc low_cluster_rank(struct lower *l, struct xsrc address)
{
	const bool wide = address.kind == S_REG && low_reg_bytes(l, address.reg) == 8;
	const struct xsrc low = wide ? src_reg(low_op1(l, E_trunc32, -1, address)) : address;
	const struct xsrc top = src_reg(low_op2(l, E_shr_u32, -1, low, src_const(CLUSTER_SHIFT)));
	const int32_t other = low_cmp(l, -1, CMP_NE, PTX_U32, top, src_const(0));
	const struct xsrc rank = src_reg(low_op2(l, E_sub_b32, -1, top, src_const(1)));
	return src_reg(low_select(l, -1, 4, rank, low_special(l, SR_CLUSTER_CTARANK), src_reg(other)));
}

bool low_getctarank(struct lower *l)
{
	if (!low_needs(l, 90))
		return false;
	const struct xsrc rank = low_cluster_rank(l, low_src(l, 1, type_lane(l->in->type)));
	low_op1(l, E_mov_b32, low_dst(l, 0), rank);
	return !l->failed;
}

bool low_mapa(struct lower *l)
{
	if (!low_needs(l, 90))
		return false;
	const bool wide = type_lane(l->in->type) == 8, generic = l->in->space == SPACE_GENERIC;
	struct xsrc a = low_src(l, 1, wide ? 8 : 4);
	if (wide)
		a = src_reg(low_op1(l, E_trunc32, -1, a));
	const struct xsrc offset = src_reg(low_op2(l, E_and_b32, -1, a, src_const(CLUSTER_OFFSET)));
	const struct xsrc rank = src_reg(low_op2(l, E_add_b32, -1, low_src(l, 2, 4), src_const(1)));
	const struct xsrc top = src_reg(low_op2(l, E_shl_b32, -1, rank, src_const(CLUSTER_SHIFT)));
	const int32_t d = low_op2(l, E_or_b32, wide ? -1 : low_dst(l, 0), top, offset);
	if (wide && generic)
		low_op2(l, E_add_b64, low_dst(l, 0), low_widened(l, src_reg(d)), src_const(SHARED_WINDOW));
	else if (wide)
		low_op1(l, E_zext64, low_dst(l, 0), src_reg(d));
	return !l->failed;
}

/*
 * Control flow, barriers, instructions without effect, and those that are refused (PTX ISA 9.0,
 * 9.7.12, 9.7.13, 9.7.19).
 */
#include "emu/lower/lower_inst.h"

bool low_bra(struct lower *l)
{
	struct xop *x = low_emit(l, X_BRA);
	x->target = l->in->opnd[0].label;
	return true;
}

bool low_brx(struct lower *l)
{
	if (l->in->guard >= 0)
		return low_refuse(l, "a guarded branch table is not supported");
	const struct xsrc index = low_src(l, 0, 4);
	struct xop *x = low_emit(l, X_BRX);
	x->n_s = 1;
	x->s[0] = index;
	x->target = l->in->opnd[1].reg;
	x->n_targets = (uint32_t)l->in->opnd[1].i64;
	return !l->failed;
}

bool low_bar(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const unsigned at = in->flags & PF_RED ? 1 : 0;
	const struct xsrc id = low_src(l, at, 4);
	struct xsrc count = src_const(0), p = src_const(0);
	if (in->n_opnds > at + 1 && in->opnd[at + 1].kind != OPND_NONE)
		count = low_src(l, at + 1, 4);
	if (in->flags & PF_RED)
		p = low_pred(l, 3);
	struct xop *x = low_emit(l, in->flags & PF_ARRIVE ? X_ARRIVE : X_BAR);
	x->n_s = 3;
	x->s[0] = id;
	x->s[1] = count;
	x->s[2] = p;
	x->op = (uint16_t)(in->flags & PF_RED ? in->atom : ATOM_NONE);
	if (in->flags & PF_RED) {
		struct xop *r = low_emit(l, X_BARRED);
		r->op = (uint16_t)in->atom;
		r->n_d = 1;
		r->d[0] = low_dst(l, 0);
		r->n_s = 1;
		r->s[0] = id;
	}
	return !l->failed;
}

bool low_exit(struct lower *l)
{
	low_emit(l, X_EXIT);
	return true;
}

bool low_trap(struct lower *l)
{
	low_emit(l, X_TRAP);
	return true;
}

bool low_bar_warp(struct lower *l)
{
	const struct xsrc lanes = low_src(l, 0, 4);
	struct xop *x = low_emit(l, X_WARPSYNC);
	x->s[0] = lanes;
	x->n_s = 1;
	return true;
}

bool low_fence(struct lower *l)
{
	if (l->in->op == OP_FENCE_PROXY) /* the checks: stores before it are seen by bulk copies */
		low_emit(l, X_COPIES)->op = COPIES_FENCE;
	struct xop *x = low_emit(l, X_FENCE);
	x->scope = l->in->scope;
	return true;
}

/* The copies are done already; only the checks wait for them. */
bool low_copies(struct lower *l)
{
	const enum ptx_op op = l->in->op;
	struct xop *x = low_emit(l, X_COPIES);
	x->op = op == OP_CP_ASYNC_COMMIT_GROUP ? COPIES_COMMIT
	        : op == OP_CP_ASYNC_WAIT_GROUP ? COPIES_WAIT
	                                       : COPIES_WAIT_ALL;
	x->offset = op == OP_CP_ASYNC_WAIT_GROUP ? (int64_t)l->in->opnd[0].i64 : 0;
	return true;
}

void low_set_sleep(struct lower *l, struct xop *x, struct xsrc ns)
{
	x->op = NOP_RESTS;
	x->n_s = 1;
	x->s[0] = ns;
	x->mem = (int32_t)l->ir->n_mem++;
}

bool low_sleep(struct lower *l)
{
	const struct xsrc ns = low_src(l, 0, 4);
	low_set_sleep(l, low_emit(l, X_NOP), ns);
	return true;
}

/* Hints: counted, without effect. */
bool low_nop(struct lower *l)
{
	low_emit(l, X_NOP);
	return true;
}

bool low_refuse_unknown(struct lower *l, const struct ptx_refusal *u)
{
	const struct lower_refusal r = { u->what, u->why, u->remedy, u->line, u->ptx_line };
	return low_refuse_at(l, &r);
}

/* What the parser did not know. */
bool low_refused(struct lower *l)
{
	return low_refuse_unknown(l, &l->part->f->refusals[l->in->opnd[0].i64]);
}

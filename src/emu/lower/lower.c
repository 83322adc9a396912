/*
 * PTX instructions to simple operations: operands, moves, control, warp-wide ones.
 *
 * Parameters, launch dimensions and addresses of variables are known here and become constants.
 * Arithmetic is in lower_alu.c, lower_cmp.c
 * and lower_cvt.c, memory in lower_mem.c. PTX ISA 9.0 section 9.7.
 */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- operands --- */

unsigned low_reg_bytes(const struct lower *l, int32_t reg)
{
	return l->ir->regs[reg].bytes;
}

static struct xsrc special(struct lower *l, enum ptx_special sr)
{
	const struct launch_plan *p = l->env->plan;
	const uint64_t threads = (uint64_t)p->block.x * p->block.y * p->block.z;
	switch (sr) {
	case SR_NTID_X: return src_const(p->block.x);
	case SR_NTID_Y: return src_const(p->block.y);
	case SR_NTID_Z: return src_const(p->block.z);
	case SR_NCTAID_X: return src_const(p->grid.x);
	case SR_NCTAID_Y: return src_const(p->grid.y);
	case SR_NCTAID_Z: return src_const(p->grid.z);
	case SR_NWARPID: return src_const(ceil_div(threads, 32));
	case SR_NSMID: return src_const(l->env->sm_count);
	case SR_GRIDID:
	case SR_ENVREG1:
	case SR_ENVREG2: return src_const(0);
	case SR_DYNAMIC_SMEM_SIZE: return src_const(p->dynamic_shared_bytes);
	case SR_TOTAL_SMEM_SIZE: return src_const(l->env->shared_bytes);
	case SR_CTAID_X:
		if (p->grid.x == 1)
			return src_const(0);
		break;
	case SR_CTAID_Y:
		if (p->grid.y == 1)
			return src_const(0);
		break;
	case SR_CTAID_Z:
		if (p->grid.z == 1)
			return src_const(0);
		break;
	case SR_CLOCK:
	case SR_CLOCK_HI:
	case SR_CLOCK64:
	case SR_GLOBALTIMER:
	case SR_GLOBALTIMER_LO:
	case SR_GLOBALTIMER_HI: {
		const bool wide = sr == SR_CLOCK64 || sr == SR_GLOBALTIMER;
		const bool high = sr == SR_CLOCK_HI || sr == SR_GLOBALTIMER_HI;
		const int32_t t = low_temp(l, 8);
		struct xop *x = low_emit(l, X_CLOCK);
		x->n_d = 1;
		x->d[0] = t;
		return src_reg(wide ? t : low_op1(l, high ? E_hi32 : E_trunc32, -1, src_reg(t)));
	}
	default: break;
	}
	const int32_t t = low_temp(l, 4);
	struct xop *x = low_emit(l, X_SPECIAL);
	x->op = (uint16_t)sr;
	x->n_d = 1;
	x->d[0] = t;
	return src_reg(t);
}

bool low_symbol(const struct lower *l, int32_t symbol, int64_t offset, uint64_t *address)
{
	if (symbol < 0) {
		const struct ptx_param *p = &l->ir->func->params[-1 - symbol];
		*address = l->env->param_base + p->offset + (uint64_t)offset;
		return true;
	}
	*address = l->env->var_addr[symbol] + (uint64_t)offset;
	return true;
}

struct xsrc low_resize(struct lower *l, struct xsrc s, unsigned have, unsigned want)
{
	if (s.kind != S_REG || have == want || have == 0 || want == 0)
		return s;
	return src_reg(low_op1(l, want > have ? E_zext64 : E_trunc32, -1, s));
}

struct xsrc low_src(struct lower *l, unsigned i, unsigned bytes)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	const uint64_t keep = bytes == 8 ? ~(uint64_t)0 : 0xffffffffu;
	switch (o->kind) {
	case OPND_REG: {
		struct xsrc s = src_reg(o->reg);
		s.neg = o->negated;
		return low_resize(l, s, low_reg_bytes(l, o->reg), bytes);
	}
	case OPND_INT:
	case OPND_FLOAT: return src_const((uint64_t)o->i64 & keep);
	case OPND_SPECIAL: {
		const struct xsrc s = special(l, o->special);
		return s.kind == S_REG ? low_resize(l, s, low_reg_bytes(l, s.reg), bytes) : s;
	}
	case OPND_SYMBOL: {
		uint64_t a = 0;
		low_symbol(l, o->symbol, o->i64, &a);
		return src_const(a & keep);
	}
	case OPND_FUNC:
		low_refuse(l, "the emulator cannot take the address of a function");
		return src_const(0);
	default:
		low_refuse(l, "operand %u is of a kind the emulator does not know", i + 1);
		return src_const(0);
	}
}

struct xsrc low_pred(struct lower *l, unsigned i)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	if (o->kind == OPND_INT)
		return src_const(o->i64 ? 0xffffffffu : 0);
	struct xsrc s = src_reg(o->reg);
	s.neg = o->negated;
	return s;
}

int32_t low_dst(struct lower *l, unsigned i)
{
	const struct ptx_operand *o = &l->in->opnd[i];
	return o->kind == OPND_REG ? o->reg : -1;
}

/* --- moves --- */

static bool low_mov(struct lower *l)
{
	const struct ptx_operand *d = &l->in->opnd[0], *s = &l->in->opnd[1];
	if (l->in->type == PTX_PRED) {
		low_bool(l, low_dst(l, 0), BOOL_NONE, low_pred(l, 1), src_const(0));
		return !l->failed;
	}
	const unsigned total = ptx_type_bytes(l->in->type);
	if (total > 8)
		return low_refuse(l, "128-bit registers are not supported");
	if (d->kind == OPND_VEC) {
		const unsigned each = total / d->n_vec;
		const struct xsrc a = low_src(l, 1, total > 4 ? 8 : 4);
		for (unsigned i = 0; i < d->n_vec; i++) {
			if (d->vec[i] < 0)
				continue;
			if (total == 8 && each == 4) {
				low_op1(l, i ? E_hi32 : E_trunc32, d->vec[i], a);
				continue;
			}
			struct xsrc w = a;
			if (total == 8)
				w = src_reg(low_op1(l, 8 * each * i >= 32 ? E_hi32 : E_trunc32, -1, a));
			const unsigned shift = 8 * each * i % 32;
			w = src_reg(low_op2(l, E_shr_u32, -1, w, src_const(shift)));
			low_op1(l, each == 2 ? E_ext_u16 : E_ext_u8, d->vec[i], w);
		}
		return !l->failed;
	}
	if (s->kind == OPND_VEC) {
		const unsigned each = total / s->n_vec;
		if (each < 2)
			return low_refuse(l, "packing of single bytes is not supported");
		struct xsrc v[4];
		for (unsigned i = 0; i < s->n_vec; i++)
			v[i] = s->vec[i] < 0 ? src_const(0) : src_reg(s->vec[i]);
		if (total == 4)
			low_op2(l, E_pack32, d->reg, v[0], v[1]);
		else if (each == 4)
			low_op2(l, E_pack64, d->reg, v[0], v[1]);
		else
			low_op2(l, E_pack64, d->reg, src_reg(low_op2(l, E_pack32, -1, v[0], v[1])),
			        src_reg(low_op2(l, E_pack32, -1, v[2], v[3])));
		return !l->failed;
	}
	if (low_dst(l, 0) < 0)
		return true;
	const unsigned bytes = low_reg_bytes(l, d->reg);
	struct xsrc a = low_src(l, 1, bytes);
	if (total == 2 && a.kind == S_CONST)
		a.value &= 0xffff;
	low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, d->reg, a);
	return !l->failed;
}

static bool low_cvta(struct lower *l)
{
	const unsigned bytes = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, bytes);
	const uint64_t window = l->in->space == SPACE_SHARED  ? SHARED_WINDOW
	                        : l->in->space == SPACE_LOCAL ? LOCAL_WINDOW
	                                                      : 0;
	if (!window)
		low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, low_dst(l, 0), a);
	else if (bytes != 8)
		return low_refuse(l, "generic addresses are 64 bits wide here");
	else
		low_op2(l, l->in->flags & PF_TO ? E_sub_b64 : E_add_b64, low_dst(l, 0), a,
		        src_const(window));
	return !l->failed;
}

static bool low_isspacep(struct lower *l)
{
	const struct xsrc top = src_reg(low_op2(l, E_shr_u64, -1, low_src(l, 1, 8), src_const(56)));
	const uint64_t want = l->in->space == SPACE_SHARED ? 1 : l->in->space == SPACE_LOCAL ? 2 : 0;
	low_cmp(l, low_dst(l, 0), CMP_EQ, PTX_U64, top, src_const(want));
	return !l->failed;
}

/* --- control --- */

static bool low_bra(struct lower *l)
{
	struct xop *x = low_emit(l, X_BRA);
	x->target = l->in->opnd[0].label;
	return true;
}

static bool low_brx(struct lower *l)
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

static bool low_bar(struct lower *l)
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

/* --- warp-wide --- */

static bool low_warp(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct xsrc s[5];
	enum xkind kind = X_SHFL;
	unsigned n = 0;
	switch (in->op) {
	case OP_SHFL:
		for (n = 0; n < 3; n++)
			s[n] = low_src(l, 2 + n, 4);
		break;
	case OP_VOTE:
		kind = X_VOTE;
		s[n++] = low_pred(l, 1);
		s[n] = src_const(0xffffffffu);
		if (in->n_opnds > 2 && in->opnd[2].kind != OPND_NONE)
			s[n] = low_src(l, 2, 4);
		n++;
		break;
	case OP_MATCH:
		kind = X_MATCH;
		s[n++] = low_src(l, 2, type_lane(in->type));
		s[n++] = low_src(l, 3, 4);
		break;
	case OP_REDUX:
		kind = X_REDUX;
		s[n++] = low_src(l, 1, 4);
		s[n++] = low_src(l, 2, 4);
		break;
	case OP_ACTIVEMASK: kind = X_ACTIVE; break;
	default: kind = X_ELECT; break;
	}
	struct xop *x = low_emit(l, kind);
	x->op = (uint16_t)(in->op == OP_REDUX ? (unsigned)in->atom : (unsigned)in->mode);
	x->type = in->type;
	x->bytes = (uint8_t)type_lane(in->type);
	x->n_s = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->s[i] = s[i];
	x->n_d = 1;
	x->d[0] = low_dst(l, 0);
	if (in->op == OP_SHFL || in->op == OP_MATCH || in->op == OP_ELECT) {
		x->n_d = 2;
		x->d[1] = low_dst(l, 1);
	}
	return !l->failed;
}

/* --- dispatch --- */

static bool low_inst(struct lower *l)
{
	switch (l->in->op) {
	case OP_MOV: return low_mov(l);
	case OP_CVTA: return low_cvta(l);
	case OP_ISSPACEP: return low_isspacep(l);
	case OP_CVT: return low_convert(l);
	case OP_LD:
	case OP_LDU: return low_load(l);
	case OP_ST: return low_store(l);
	case OP_ATOM: return low_atomic(l, true);
	case OP_RED: return low_atomic(l, false);
	case OP_CP_ASYNC: return low_async(l);
	case OP_BRA: return low_bra(l);
	case OP_BRX_IDX: return low_brx(l);
	case OP_RET:
	case OP_EXIT: low_emit(l, X_EXIT); return true;
	case OP_TRAP: low_emit(l, X_TRAP); return true;
	case OP_BAR:
	case OP_BARRIER: return low_bar(l);
	case OP_SHFL:
	case OP_VOTE:
	case OP_MATCH:
	case OP_REDUX:
	case OP_ACTIVEMASK:
	case OP_ELECT: return low_warp(l);
	case OP_BAR_WARP: low_emit(l, X_WARPSYNC); return true;
	case OP_FENCE:
	case OP_MEMBAR:
	case OP_PREFETCH:
	case OP_CP_ASYNC_COMMIT_GROUP:
	case OP_CP_ASYNC_WAIT_GROUP:
	case OP_CP_ASYNC_WAIT_ALL:
	case OP_NANOSLEEP:
	case OP_PMEVENT:
	case OP_BRKPT: low_emit(l, X_NOP); return true;
	case OP_CALL:
		return low_refuse(l, "calls that the compiler did not inline (recursion, function "
		                     "pointers, printf) are not supported");
	default: break;
	}
	if (ptx_op_class(l->in->op) == CLASS_TENSOR)
		return low_refuse(l, "tensor-core instructions are not supported by the emulator");
	return low_arithmetic(l);
}

static void finish_blocks(struct ir *ir, const uint32_t *first_op)
{
	const struct ptx_func *f = ir->func;
	ir->n_blocks = f->n_blocks;
	ir->blocks = mem_calloc(f->n_blocks, sizeof *ir->blocks);
	for (unsigned b = 0; b < f->n_blocks; b++) {
		const struct ptx_block *pb = &f->blocks[b];
		struct xblock *xb = &ir->blocks[b];
		xb->first = first_op[pb->first];
		xb->end = first_op[pb->last + 1];
		xb->succ[0] = pb->succ[0];
		xb->succ[1] = pb->succ[1];
		xb->reconv = pb->reconv;
		if (xb->end > xb->first && ir->ops[xb->end - 1].kind == X_BRX) {
			const struct xop *x = &ir->ops[xb->end - 1];
			xb->targets = f->lists + x->target;
			xb->n_targets = x->n_targets;
		}
	}
}

bool lower_ptx(struct ir *ir, const struct ptx_module *m, const struct ptx_func *f,
               const struct lower_env *env, const char *source_file, struct err *err)
{
	*ir = (struct ir){ .module = m, .func = f };
	describe_insts(ir);
	struct lower l = {
		.ir = ir, .env = env, .err = err, .source_file = source_file, .name = f->name
	};
	for (unsigned i = 0; i < f->n_regs; i++) {
		const enum ptx_type t = f->regs[i].type;
		low_temp(&l, t == PTX_PRED ? 0 : type_lane(t));
	}
	l.carry = low_temp(&l, 0);
	uint32_t *first_op = mem_calloc(f->n_insts + 1, sizeof *first_op);
	for (unsigned i = 0; i < f->n_insts && !l.failed; i++) {
		l.in = &f->insts[i];
		l.guard = l.in->guard;
		l.guard_neg = l.in->guard_negated;
		l.pc = i;
		l.first = true;
		first_op[i] = ir->n_ops;
		if (low_inst(&l) && l.first)
			low_emit(&l, X_NOP); /* nothing to do, but it still counts */
	}
	first_op[f->n_insts] = ir->n_ops;
	if (!l.failed) {
		finish_blocks(ir, first_op);
		ir_find_only_defs(ir);
	}
	free(first_op);
	if (l.failed)
		ir_free(ir);
	return !l.failed;
}

/*
 * Stack memory of variable size (PTX ISA 9.0, 9.7.17). It lies in local memory behind everything
 * else of the thread; register stack says where what is free begins. A function that takes some
 * gives it back when it returns.
 */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"

#include <stdlib.h>

static bool takes_stack(const struct ptx_func *f)
{
	for (unsigned i = 0; i < f->n_insts; i++)
		if (f->insts[i].op == OP_ALLOCA || f->insts[i].op == OP_STACKSAVE ||
		    f->insts[i].op == OP_STACKRESTORE)
			return true;
	return false;
}

void low_start_stack(struct lower *l)
{
	struct ir *ir = l->ir;
	if (!takes_stack(ir->func))
		return;
	const uint32_t first = ir->local_bytes + ir->call_stack_bytes;
	ir->call_stack_bytes += CALL_STACK_BYTES;
	l->stack = low_temp(l, 8);
	ir->regs[l->stack].fixed = ir->regs[l->stack].passes = true;
	low_op1(l, E_mov_b64, l->stack, src_const(first));
	l->stack_kept = mem_alloc((l->link->n_parts + 1u) * sizeof *l->stack_kept);
	for (unsigned p = 0; p < l->link->n_parts; p++)
		l->stack_kept[p] = takes_stack(l->link->part[p].f) ? low_temp(l, 8) : -1;
}

void low_end_stack(struct lower *l)
{
	free(l->stack_kept);
}

void low_keep_stack(struct lower *l, bool back)
{
	const int32_t kept = l->stack >= 0 ? l->stack_kept[l->part - l->link->part] : -1;
	if (kept >= 0)
		low_op1(l, E_mov_b64, back ? l->stack : kept, src_reg(back ? kept : l->stack));
}

/* The stack pointer as the instruction's type has it. */
static void give(struct lower *l, struct xsrc v)
{
	if (low_dst(l, 0) >= 0)
		low_op1(l, ptx_type_bytes(l->in->type) == 8 ? E_mov_b64 : E_trunc32, low_dst(l, 0), v);
}

bool low_alloca(struct lower *l)
{
	const struct ptx_operand *by = &l->in->opnd[2];
	const uint64_t align = by->kind == OPND_INT ? (uint64_t)by->i64 : 8;
	if (!align || (align & (align - 1)))
		return low_refuse(l, "an alignment is a power of two");
	const bool wide = ptx_type_bytes(l->in->type) == 8;
	const struct xsrc bytes = low_src(l, 1, wide ? 8 : 4);
	const struct xsrc size = wide ? bytes : low_widened(l, bytes);
	const struct xsrc up =
		src_reg(low_op2(l, E_add_b64, -1, src_reg(l->stack), src_const(align - 1)));
	const struct xsrc at = src_reg(low_op2(l, E_and_b64, -1, up, src_const(~(align - 1))));
	low_op2(l, E_add_b64, l->stack, at, size);
	give(l, at);
	return !l->failed;
}

bool low_stacksave(struct lower *l)
{
	give(l, src_reg(l->stack));
	return !l->failed;
}

bool low_stackrestore(struct lower *l)
{
	const bool wide = ptx_type_bytes(l->in->type) == 8;
	const struct xsrc to = low_src(l, 0, wide ? 8 : 4);
	low_op1(l, E_mov_b64, l->stack, wide ? to : low_widened(l, to));
	return !l->failed;
}

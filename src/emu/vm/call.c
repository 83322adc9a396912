/*
 * Calls and returns of a warp, on the stack of divergence (branch.c).
 *
 * A call leaves an entry that holds its lanes at the block behind it; the lanes that return are
 * taken off the path, and when the last of them has, that entry is popped and all go on together.
 * Lanes that call different functions through a pointer run them one after the other, in the order
 * of their lowest lane.
 */
#include "emu/vm/handler.h"

/* --- calls --- */

/* Leaves the lanes of @mask behind the call at the end of block @u->y, with what @f says of their
 * registers (NULL: nothing); false = too deep. */
static bool push_call(struct warp *w, const struct uop *u, uint32_t mask,
                      const struct call_frame *f)
{
	const struct ir *ir = &w->image->ir;
	/* divided, it may have several chains of calls at a time */
	if ((w->calls == ir->call_depth && !w->n_parts) ||
	    w->depth + 2 * SIMT_DEPTH > w->stack_entries) {
		vm_fault(w, u, FAULT_STACK, (unsigned)__builtin_ctz(mask));
		return false;
	}
	w->calls++;
	const size_t kept = f ? vm_save_frame(w, f) : 0;
	w->stack[w->depth++] = (struct simt_entry){ .mask = mask,
		                                        .block = ir->blocks[u->y].succ[0],
		                                        .rc = w->rc,
		                                        .call = true,
		                                        .frame = f,
		                                        .kept = kept };
	w->rc = -1;
	return true;
}

/* CALL: x.to first uop of the function, y block it ends, frame what to save or NULL */
HANDLER(call_full)
{
	const struct uop *to = u->x.to;
	if (!push_call(w, u, mask, u->frame))
		return NULL;
	if (--w->fuel < 0)
		return yield_warp(w, to);
	NEXT_full(to);
}
HANDLER(call_masked)
{
	const struct uop *to = u->x.to;
	if (!push_call(w, u, mask, u->frame))
		return NULL;
	if (--w->fuel < 0)
		return yield_warp(w, to);
	NEXT_masked(to);
}

/* Number of the function at @address, -1 = there is none that can be called. */
static int64_t function_at(const struct ir *ir, uint64_t address)
{
	const uint64_t at = address - function_address(0);
	if (at % FUNCTION_STEP || at / FUNCTION_STEP >= ir->n_callees ||
	    ir->callee[at / FUNCTION_STEP] < 0)
		return -1;
	return (int64_t)(at / FUNCTION_STEP);
}

/* CALL THROUGH A POINTER: a 32 lanes of addresses, b 1 = scalar; y and frame as above */
HANDLER(call_indirect)
{
	const mem_u64 *address = frame(w, u->a);
	const struct ir *ir = &w->image->ir;
	int32_t block[32];
	bool comes_back = false;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		const int64_t f = function_at(ir, address[u->b ? 0 : i]);
		if (f < 0) {
			vm_fault(w, u, FAULT_FUNCTION, i);
			w->worker->fault.address = address[u->b ? 0 : i];
			return NULL;
		}
		block[i] = ir->callee[f];
		comes_back |= u->frame && u->frame->comes_back[f];
	}
	if (!push_call(w, u, mask, comes_back ? u->frame : NULL))
		return NULL;
	uint32_t left = mask;
	while (left) { /* the group of the highest lane goes to the bottom of the stack */
		const int32_t target = block[31 - __builtin_clz(left)];
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1) {
			const unsigned i = (unsigned)__builtin_ctz(m);
			same |= (uint32_t)(block[i] == target) << i;
		}
		left &= ~same;
		w->mask = same;
		if (left)
			w->stack[w->depth++] = (struct simt_entry){ .mask = same, .block = target, .rc = -1 };
		else if (--w->fuel < 0)
			return yield_warp(w, block_start(w, target));
		else
			CONTINUE(block_start(w, target));
	}
	return NULL;
}

/* --- returns --- */

/* Lanes that return wait nowhere in their function: for a branch that only some of them leave it by
 * the others meet again behind it. */
static void take_off_path(struct warp *w, uint32_t gone)
{
	for (uint32_t i = w->depth; i > 0 && !w->stack[i - 1].call; i--)
		w->stack[i - 1].mask &= ~gone;
}

HANDLER(ret_any)
{
	(void)u;
	take_off_path(w, mask);
	CONTINUE(vm_pop(w));
}

/* RET IF: a predicate, b all ones to invert it */
HANDLER(ret_if)
{
	const uint32_t gone = (PRED(u->a) ^ u->b) & mask;
	w->guards[u->xop] += lane_popc32(gone);
	take_off_path(w, gone);
	if (gone == mask)
		CONTINUE(vm_pop(w));
	w->mask = mask & ~gone;
	CONTINUE(u + 1);
}

const struct call_handlers vm_call_handlers = {
	.direct = { call_full, call_masked },
	.indirect = { call_indirect, call_indirect },
	.ret = { ret_any, ret_any },
	.ret_if = { ret_if, ret_if },
};

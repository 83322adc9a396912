/*
 * Registers of PTX that are read and never written: what a variable without a first value becomes.
 * Here they hold 0, whatever runs the code; on a GPU they hold anything.
 */
#include "emu/launch/fault_text.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool *written_registers(const struct ir *ir)
{
	bool *written = mem_calloc(ir->n_regs + 1, sizeof *written);
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned d = 0; d < ir->ops[o].n_d; d++)
			if (ir->ops[o].d[d] >= 0)
				written[ir->ops[o].d[d]] = true;
	for (unsigned r = 0; r < ir->n_regs; r++)
		written[r] = written[r] || ir->regs[r].passes;
	return written;
}

static bool was_executed(const struct emu_launch *l, uint32_t op)
{
	const uint32_t s = l->image.op_segment[op];
	for (unsigned k = 0; k < l->n_workers; k++) {
		const struct segment_count *c = &l->workers[k].segments[s];
		if (c->warps || segment_full(c))
			return true;
	}
	return false;
}

/* What only moves a value does nothing with it: parts of a structure need not all have one. Its
 * guard decides whether it moves. */
static bool moves_only(const struct emu_launch *l, const struct xop *x, int32_t reg)
{
	return reg != x->guard && !strncmp(l->image.ir.insts[x->pc].text, "mov", 3);
}

void launch_undefined_reads(const struct emu_launch *l,
                            void (*tell)(void *ctx, const struct emu_fault *f), void *ctx)
{
	const struct ir *ir = &l->image.ir;
	if (!ir->func) /* machine code: all of its registers are named, used or not */
		return;
	bool *written = written_registers(ir);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		int32_t reads[X_MAX_VEC + 4];
		const unsigned n = xop_reads(&ir->ops[o], reads);
		for (unsigned i = 0; i < n; i++) {
			const int32_t r = reads[i];
			if (written[r] || r >= (int32_t)ir->func->n_regs || moves_only(l, &ir->ops[o], r) ||
			    !was_executed(l, o))
				continue;
			const struct emu_fault f = { .kind = FAULT_UNDEFINED,
				                         .xop = o,
				                         .address = (uint64_t)r };
			tell(ctx, &f);
			written[r] = true; /* once for each register */
		}
	}
	free(written);
}

/* What holds for any intermediate form, wherever it comes from; see ir.h. */
#include "emu/ir/ir.h"

#include "base/mem.h"
#include "ptx/link.h"

#include <stdlib.h>

void ir_find_only_defs(struct ir *ir)
{
	free(ir->only_def);
	ir->only_def = mem_calloc(ir->n_regs, sizeof *ir->only_def);
	uint8_t *writes = mem_calloc(ir->n_regs, 1);
	for (unsigned o = 0; o < ir->n_ops; o++)
		for (unsigned i = 0; i < ir->ops[o].n_d; i++) {
			const int32_t d = ir->ops[o].d[i];
			if (d < 0)
				continue;
			ir->only_def[d] = (int32_t)o;
			writes[d] = (uint8_t)(writes[d] || ir->ops[o].guard >= 0 ? 2 : 1);
		}
	for (unsigned r = 0; r < ir->n_regs; r++)
		if (writes[r] != 1)
			ir->only_def[r] = -1;
	free(writes);
}

void ir_free(struct ir *ir)
{
	free(ir->insts);
	free(ir->ops);
	free(ir->regs);
	free(ir->blocks);
	free(ir->only_def);
	free(ir->callee);
	free(ir->tensors);
	if (ir->linked)
		linked_free(ir->linked);
	free(ir->linked);
	for (unsigned i = 0; i < ir->n_own_targets; i++)
		free(ir->own_targets[i]);
	free(ir->own_targets);
	*ir = (struct ir){ 0 };
}

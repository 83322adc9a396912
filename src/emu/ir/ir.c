/* Frees the intermediate form; see ir.h. */
#include "emu/ir/ir.h"

#include <stdlib.h>

void ir_free(struct ir *ir)
{
	free(ir->ops);
	free(ir->regs);
	free(ir->blocks);
	free(ir->only_def);
	*ir = (struct ir){ 0 };
}

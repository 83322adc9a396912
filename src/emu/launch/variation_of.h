/* Which counts of a launch a card may give differently each time; model/variation.h. */
#ifndef PMPP_EMU_LAUNCH_VARIATION_OF_H
#define PMPP_EMU_LAUNCH_VARIATION_OF_H

#include "emu/ir/ir.h"
#include "model/counts.h"

/* @of_op: counts of each instruction, at its first operation. */
void variation_of(const struct ir *ir, const struct counts *of_op, struct run_variation *v);

#endif

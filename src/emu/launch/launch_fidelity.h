/* Which instructions of a launch ran as a card runs them; model/fidelity.h. */
#ifndef PMPP_EMU_LAUNCH_FIDELITY_H
#define PMPP_EMU_LAUNCH_FIDELITY_H

#include "emu/ir/ir.h"
#include "model/counts.h"

/* @of_op: counts of each instruction, at its first operation. */
void fidelity_of(const struct ir *ir, const struct counts *of_op, struct run_fidelity *f);

#endif

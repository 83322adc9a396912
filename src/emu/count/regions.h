/* The stretches of the program that the time model works with, from the counts of each instruction.
 */
#ifndef PMPP_EMU_REGIONS_H
#define PMPP_EMU_REGIONS_H

#include "emu/vm/emu_vm.h"
#include "model/counts.h"

/*
 * @of_op: counts of the PTX instruction that begins at an operation, of the blocks that ran. @out
 * has its totals (of those blocks too) and the traffic beyond L1, which is for @factor times as
 * many.
 */
void regions_build(const struct launch *l, const struct counts *of_op, double factor,
                   struct run_counts *out);

#endif

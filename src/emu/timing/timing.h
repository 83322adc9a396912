/*
 * Room timing. Sees: lane, ir.
 *
 * Hands what ran to the time model: the program in neutral form, with what was counted.
 */
#ifndef PMPP_EMU_TIMING_H
#define PMPP_EMU_TIMING_H

#include "emu/ir/ir.h"
#include "model/counts.h"
#include "model/gpu.h"

/*
 * @of_op: counts of the PTX instruction that begins at an operation, of the @thread_blocks that
 * ran, of @block_warps each. @out has their total and the traffic beyond L1 of @factor times as
 * many; it gets their regions.
 */
void timing_input(const struct ir *ir, const struct gpu_spec *g, const struct counts *of_op,
                  double thread_blocks, double block_warps, double factor, struct run_counts *out);

#endif

/*
 * How long a kernel takes, and what decides it: from counts, the shape of its launch, and a GPU
 * sheet. Origin of everything here: modelled.
 */
#ifndef PMPP_TIMEMODEL_KERNEL_TIME_H
#define PMPP_TIMEMODEL_KERNEL_TIME_H

#include "model/perf.h"

/*
 * @counts: with regions (regions.h) as the emulator fills them, else as hardware counters give
 * them; NULL = nothing was counted. @out: all zero then, and when the block cannot launch
 * (occ->blocks_per_sm == 0).
 */
void kernel_time(const struct gpu_spec *g, const struct launch_plan *plan,
                 const struct occ_result *occ, const struct run_counts *counts,
                 struct perf_result *out);

#endif

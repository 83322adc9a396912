/* What each region of a program asks of an SM, for the kernel's time. */
#ifndef PMPP_TIMEMODEL_REGIONS_H
#define PMPP_TIMEMODEL_REGIONS_H

#include "timemodel/timing_program.h"
#include "model/gpu.h"

/*
 * Fills @out's regions. @p holds the thread blocks that ran; the
 * whole grid is @factor times as much. @out already has their total and, of the whole grid, the
 * traffic beyond L1.
 */
void regions_build(const struct timing_program *p, const struct gpu_spec *g, double factor,
                   struct run_counts *out);

#endif

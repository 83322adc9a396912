/*
 * What the branch at the end of a basic block costs a warp, beyond its issue, and a barrier.
 */
#ifndef PMPP_TIMEMODEL_BRANCH_TIME_H
#define PMPP_TIMEMODEL_BRANCH_TIME_H

#include "timemodel/hyperblock.h"

/* Of basic block @b, cycles on average over the warps that come there; 0 = it ends with none. */
double branch_cycles(const struct hyperblocks *h, uint32_t b);

/* Of barrier @x, to which all come at once, cycles. In machine code its stall count is all that it
 * takes one warp alone that has done nothing in memory (@accessed) since the last. */
double barrier_cycles(const struct timing_program *p, const struct timing_inst *x, bool accessed);

#endif

/*
 * What the branch at the end of a basic block costs a warp, beyond its issue.
 */
#ifndef PMPP_TIMEMODEL_BRANCH_TIME_H
#define PMPP_TIMEMODEL_BRANCH_TIME_H

#include "timemodel/hyperblock.h"

/* Of basic block @b, cycles on average over the warps that come there; 0 = it ends with none. */
double branch_cycles(const struct hyperblocks *h, uint32_t b);

#endif

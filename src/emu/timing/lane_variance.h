/* Which registers may differ between the lanes of a warp, and between blocks. */
#ifndef PMPP_EMU_LANE_VARIANCE_H
#define PMPP_EMU_LANE_VARIANCE_H

#include "emu/ir/ir.h"

enum { VARIES_BY_LANE = 1, VARIES_BY_BLOCK = 2 };

/* Per register, or'ed; whatever the launch. Caller frees. */
uint8_t *lane_variance(const struct ir *ir);
uint8_t variance_of_source(const uint8_t *variance, const struct xsrc *src);

#endif

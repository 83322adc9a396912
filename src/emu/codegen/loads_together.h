/* Which loads of a segment are under way together; see loads_together.c. */
#ifndef PMPP_EMU_LOADS_TOGETHER_H
#define PMPP_EMU_LOADS_TOGETHER_H

#include "emu/codegen/program.h"

/* By memory number: where the row of its access begins, in instructions from the end of its
 * segment, <= 0. @n segments, in the order of their operations. Caller frees. */
int32_t *loads_together(const struct ir *ir, const struct segment *segments, unsigned n);

#endif

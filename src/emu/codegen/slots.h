/* Where the registers of a program lie in the frame. */
#ifndef PMPP_EMU_SLOTS_H
#define PMPP_EMU_SLOTS_H

#include "emu/codegen/program.h"

/* Gives every register of @p that needs one a slot at or after *@top and moves *@top behind them.
 * @share: registers of 32 values that never live at the same time share their slots. */
void slots_assign(const struct ir *ir, const struct liveness *live, struct program *p, bool share,
                  uint32_t *top);

#endif

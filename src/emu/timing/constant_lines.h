/*
 * Lines of constants that a kernel waits for: parameters, the sizes of its block and grid, variables
 * that are __constant__. Each launch finds none of them near an SM.
 */
#ifndef PMPP_EMU_CONSTANT_LINES_H
#define PMPP_EMU_CONSTANT_LINES_H

#include "emu/ir/ir.h"
#include "sass/sass.h"

/* Of the machine code of @f, where the place of a constant does not depend on what runs. */
unsigned constant_lines_of_code(const struct sass_func *f);
/* Of PTX, which does not say where they lie: an estimate. */
unsigned constant_lines_of_ptx(const struct ir *ir);

#endif

/* What classify.c needs of shapes.c beyond emu_ir.h. */
#ifndef PMPP_EMU_SHAPES_H
#define PMPP_EMU_SHAPES_H

#include "emu/ir/emu_ir.h"

/* Shape of a register that both may be written to it. */
struct reg_shape shape_meet(const struct reg_shape *a, const struct reg_shape *b);
/* The scalar is a multiple of 2^this. */
unsigned shape_align(const struct reg_shape *r);

#endif

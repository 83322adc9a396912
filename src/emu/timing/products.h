/* What products of matrices ask of the tensor cores. */
#ifndef PMPP_EMU_PRODUCTS_H
#define PMPP_EMU_PRODUCTS_H

#include "emu/ir/ir.h"

/* Multiplications of halves by mma.sync, or of what takes as long, of one execution of @x; 0: it is
 * no product, or one of another pipe. @of_group: by wgmma, which comes to the sheet's peak. */
float timing_products(const struct ir *ir, const struct xop *x, bool of_group);

#endif

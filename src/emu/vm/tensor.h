/* Products of matrices, shared by tensor.c and its quick form for finite numbers (simd/). */
#ifndef PMPP_EMU_TENSOR_H
#define PMPP_EMU_TENSOR_H

#include "emu/vm/warp.h"

#define TENSOR_KEPT_BITS 25 /* behind the point of the largest exponent: 23 and two */
#define TENSOR_SIDE 32
#define TENSOR_K 16       /* of numbers with a point */
#define TENSOR_WHOLE_K 32 /* of integers */

/* Any product of numbers with a point, element by element. */
void tensor_multiply(struct warp *w, const struct tensor_operands *o, uint32_t mask);
/* A float32 at most as far from zero as @v. */
float tensor_cut_off(double v);

#endif

/* See products.h. */
#include "emu/timing/products.h"

#include "timemodel/constants.h"

/* Twice as long of TF32, half as long of bytes (tests/gpu/micro/tensor.cu). */
static float of_operands(const struct ir_tensor *t)
{
	const float all = (float)t->m * (float)t->n * (float)t->k;
	switch (t->a) {
	case PTX_F64: return 0; /* by the FP64 pipe */
	case PTX_TF32: return 2 * all;
	case PTX_S8:
	case PTX_U8: return all / 2;
	default: return all;
	}
}

float timing_products(const struct ir *ir, const struct xop *x, bool of_group)
{
	const float all = x->kind == X_TENSOR ? of_operands(&ir->tensors[x->target]) : 0;
	return of_group ? all * (float)timing.product_share : all;
}

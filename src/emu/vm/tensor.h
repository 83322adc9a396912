/* Products of matrices, shared by tensor.c and its quick form for finite numbers (simd/). */
#ifndef PMPP_EMU_TENSOR_H
#define PMPP_EMU_TENSOR_H

#include "emu/vm/warp.h"

#define TENSOR_KEPT_BITS 25 /* behind the point of the largest exponent: 23 and two */
#define TENSOR_SIDE 32
#define TENSOR_K 16       /* of numbers with a point */
#define TENSOR_WHOLE_K 64 /* of integers */

struct tensor_entry { /* of A or B: its value and exponent; INT_MIN = zero */
	double value;
	int exponent;
};

/* The @side x @k elements of A (rows) or B (columns) that the registers @slot hold: @out[i * @k +
 * j]. */
void tensor_read_side(const struct warp *w, enum ptx_type type, const uint32_t *slot, unsigned side,
                      unsigned k, struct tensor_entry *out);
struct tensor_entry tensor_half(uint16_t bits); /* a float16 */
/* @c and the @k products, as tensor cores add them: in groups of 16, of tf32 of 8. */
float tensor_sum(enum ptx_type type, const struct tensor_entry *a, const struct tensor_entry *b,
                 unsigned k, float c);
/* C and D, as fragments hold them; C is float16 or any 32 bits. */
uint32_t tensor_c(const struct warp *w, const struct tensor_operands *o, unsigned row,
                  unsigned column);
void tensor_write_d(struct warp *w, const struct tensor_operands *o, uint32_t mask, unsigned row,
                    unsigned column, uint32_t v);
/* A number of C as float32, a sum as the bits of D. */
float tensor_to_sum(enum ptx_type type, uint32_t c);
uint32_t tensor_from_sum(enum ptx_type type, float sum);

/* Products that are rare: kinds but TENSOR_DENSE (tensor_rare.c). */
void tensor_rare(struct warp *w, const struct tensor_operands *o, uint32_t mask);
/* Any product of numbers with a point, element by element. */
void tensor_multiply(struct warp *w, const struct tensor_operands *o, uint32_t mask);
/* A float32 at most as far from zero as @v. */
float tensor_cut_off(double v);

#endif

/* Shared by the files of this room: affine forms and bounds. */
#ifndef PMPP_EMU_AFFINE_H
#define PMPP_EMU_AFFINE_H

#include "emu/analysis/analysis.h"

/* affine.c */
int32_t pattern_intern(struct affine_forms *s, const int64_t lane[32]);
/* Form of a register that both may be written to it. */
struct affine affine_meet(const struct affine *a, const struct affine *b);
/* The scalar is a multiple of 2^this. */
unsigned affine_align(const struct affine *r);

/* ranges.c: bounds of what an operation gives; false = unknown. */
bool range_of_op(const struct xop *x, const struct affine *a, int64_t *lo, int64_t *hi);
/* A comparison that the bounds decide: 0 or 1, else -1. */
int range_decides(const struct xop *x, const struct affine *a);

#endif

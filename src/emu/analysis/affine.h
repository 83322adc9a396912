/* Shared by the files of this room: affine forms and bounds. */
#ifndef PMPP_EMU_AFFINE_H
#define PMPP_EMU_AFFINE_H

#include "emu/analysis/analysis.h"

/* 32 values of no known form; one value that is not known. */
#define AFFINE_32_VALUES ((struct affine){ .cls = AFFINE_LANES })
#define AFFINE_UNIFORM ((struct affine){ .cls = AFFINE_SCALAR })
#define AFFINE_ZERO ((struct affine){ .cls = AFFINE_SCALAR, .known = true })

/* affine.c */
/* 32 known values of width @bytes as scalar + pattern. */
struct affine affine_from_values(struct affine_forms *s, const uint64_t v[32], unsigned bytes);
struct affine affine_with_range(struct affine r, int64_t lo, int64_t hi);
unsigned affine_trailing_zeros(uint64_t v); /* 63 of zero */
int32_t pattern_intern(struct affine_forms *s, const int64_t lane[32]);
/* Form of a register that both may be written to it. */
struct affine affine_meet(const struct affine *a, const struct affine *b);
/* The scalar is a multiple of 2^this. */
unsigned affine_align(const struct affine *r);

/* affine_special.c, affine_op.c: of a special register; of arithmetic, by the forms of its sources
 */
struct affine affine_of_special(struct affine_forms *s, const struct launch_plan *p,
                                enum ptx_special sr);
struct affine affine_of_op(struct affine_forms *s, const struct xop *x, const struct affine *a);

/* ranges.c: bounds of what an operation gives; false = unknown. */
bool range_of_op(const struct xop *x, const struct affine *a, int64_t *lo, int64_t *hi);
/* A comparison that the bounds decide: 0 or 1, else -1. */
int range_decides(const struct xop *x, const struct affine *a);

#endif

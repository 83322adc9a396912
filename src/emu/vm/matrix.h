/* Matrices in shared memory as the products of a warp group see them. */
#ifndef PMPP_EMU_MATRIX_H
#define PMPP_EMU_MATRIX_H

#include "emu/vm/warp.h"

/* SYSTEM_MATRIX: two registers of a fragment (low half, high half) from the matrix of the
 * descriptor arg[0], which of them in arg[1], see matrix_place() of ir.h. False: *@bad is no
 * address in shared memory. */
bool matrix_lane(const struct warp *w, unsigned lane, const uint64_t *arg, uint64_t *result,
                 uint64_t *bad);
/* Looks for races of what the lanes of @mask read by SYSTEM_MATRIX, all with the same @arg. */
void matrix_race(struct warp *w, const struct uop *u, uint32_t mask, const uint64_t *arg);
/* Are all but the last @left of the warp's groups of products done by all four warps? */
bool group_done(const struct warp *w, uint64_t left);

/* An 8-bit float as float16: exactly. */
uint16_t matrix_half(enum ptx_type type, uint8_t v);

#endif

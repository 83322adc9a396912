/*
 * Room lane. Sees: nothing of emu.
 *
 * What one lane computes: the operations of ops.def and the functions behind them.
 *
 * Pure functions, the same for constant folding, uniform registers and the 32-lane loops, so that
 * every path gives the same bits. Written so that compilers can turn loops over them into SIMD.
 * PTX ISA 9.0, sections 9.7.1 to 9.7.9.
 */
#ifndef PMPP_EMU_LANE_H
#define PMPP_EMU_LANE_H

#include "emu/lane/copy_form.h"
#include "emu/lane/lane_float.h"
#include "emu/lane/lane_int.h"
#include "emu/lane/lane_pieces.h"
#include "emu/lane/lane_special.h"
#include "emu/lane/rounding.h"
#include "ptx/ptx.h"

/* E_add_b32 ...: operations of ops.def; comparisons follow the arithmetic ones. */
enum emu_op {
#define OP1(id, d, a, expr) E_##id,
#define OP2(id, d, a, b, expr) E_##id,
#define OP3(id, d, a, b, c, expr) E_##id,
#define OP4(id, d, a, b, c, e, expr) E_##id,
#define CMP(id, t, expr) E_##id,
#include "emu/lane/ops.def"
	E_COUNT
};
#define E_FIRST_CMP E_eq_b32

struct emu_op_info {
	const char *name;
	uint8_t n_src, d_bytes, s_bytes[4]; /* lane widths: 4 or 8; d_bytes 0 = predicate */
	/* The operation on bits of registers; a predicate comes out as all ones or 0. */
	uint64_t (*fold)(uint64_t a, uint64_t b, uint64_t c, uint64_t e);
};
extern const struct emu_op_info emu_ops[E_COUNT]; /* fold.c */

/* A lane's bit in a mask, for loops over lanes that compilers turn into SIMD. */
static const uint32_t lane_bit[32] __attribute__((aligned(64))) = {
	1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
	1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* The new value of @old under atomic @op with sources @b and @c (cas: compare, swap). */
uint64_t lane_atomic(enum ptx_atom op, enum ptx_type type, uint64_t old, uint64_t b, uint64_t c);

/* Lane that @lane reads in shfl with operands @b and @c; *@inside: it is in range. */
unsigned lane_shfl_source(enum ptx_mode mode, unsigned lane, uint32_t b, uint32_t c, bool *inside);

#endif

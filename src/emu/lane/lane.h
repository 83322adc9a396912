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

#include "emu/lane/lane_float.h"
#include "emu/lane/lane_int.h"
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

/* The new value of @old under atomic @op with sources @b and @c (cas: compare, swap). */
uint64_t lane_atomic(enum ptx_atom op, enum ptx_type type, uint64_t old, uint64_t b, uint64_t c);

/* Lane that @lane reads in shfl with operands @b and @c; *@inside: it is in range. */
unsigned lane_shfl_source(enum ptx_mode mode, unsigned lane, uint32_t b, uint32_t c, bool *inside);

#endif

/*
 * The operations of ops.def on one value: table for constant folding and uniform registers.
 * Knows nothing of warps.
 */
#include "emu/lane/lane.h"

#include <fenv.h>

/* Bits of a register to a typed value and back; 16-bit values are kept zero-extended. */
#define FROM_u16(v) ((uint16_t)(v))
#define FROM_s16(v) ((int16_t)(uint16_t)(v))
#define FROM_u32(v) ((uint32_t)(v))
#define FROM_s32(v) ((int32_t)(uint32_t)(v))
#define FROM_u64(v) (v)
#define FROM_s64(v) ((int64_t)(v))
#define FROM_f32(v) f32_bits((uint32_t)(v))
#define FROM_f64(v) f64_bits(v)
#define TO_u16(v) ((uint64_t)(uint16_t)(v))
#define TO_s16(v) ((uint64_t)(uint16_t)(v))
#define TO_u32(v) ((uint64_t)(uint32_t)(v))
#define TO_s32(v) ((uint64_t)(uint32_t)(v))
#define TO_u64(v) ((uint64_t)(v))
#define TO_s64(v) ((uint64_t)(v))
#define TO_f32(v) ((uint64_t)bits_f32(v))
#define TO_f64(v) bits_f64(v)
#define TYPE_u16 uint16_t
#define TYPE_s16 int16_t
#define TYPE_u32 uint32_t
#define TYPE_s32 int32_t
#define TYPE_u64 uint64_t
#define TYPE_s64 int64_t
#define TYPE_f32 float
#define TYPE_f64 double
#define BYTES_u16 4
#define BYTES_s16 4
#define BYTES_u32 4
#define BYTES_s32 4
#define BYTES_u64 8
#define BYTES_s64 8
#define BYTES_f32 4
#define BYTES_f64 8

#define SRC(name, T) const TYPE_##T name = FROM_##T(v_##name);
#define OP1(id, D, A, expr)                                                           \
	static uint64_t fold_##id(uint64_t v_a, uint64_t v_b, uint64_t v_c, uint64_t v_e) \
	{                                                                                 \
		(void)v_b, (void)v_c, (void)v_e;                                              \
		SRC(a, A)                                                                     \
		return TO_##D((TYPE_##D)(expr));                                              \
	}
#define OP2(id, D, A, B, expr)                                                        \
	static uint64_t fold_##id(uint64_t v_a, uint64_t v_b, uint64_t v_c, uint64_t v_e) \
	{                                                                                 \
		(void)v_c, (void)v_e;                                                         \
		SRC(a, A) SRC(b, B) return TO_##D((TYPE_##D)(expr));                          \
	}
#define OP3(id, D, A, B, C, expr)                                                     \
	static uint64_t fold_##id(uint64_t v_a, uint64_t v_b, uint64_t v_c, uint64_t v_e) \
	{                                                                                 \
		(void)v_e;                                                                    \
		SRC(a, A) SRC(b, B) SRC(c, C) return TO_##D((TYPE_##D)(expr));                \
	}
#define OP4(id, D, A, B, C, E, expr)                                                  \
	static uint64_t fold_##id(uint64_t v_a, uint64_t v_b, uint64_t v_c, uint64_t v_e) \
	{                                                                                 \
		SRC(a, A) SRC(b, B) SRC(c, C) SRC(e, E) return TO_##D((TYPE_##D)(expr));      \
	}
#define CMP(id, T, expr)                                                              \
	static uint64_t fold_##id(uint64_t v_a, uint64_t v_b, uint64_t v_c, uint64_t v_e) \
	{                                                                                 \
		(void)v_c, (void)v_e;                                                         \
		SRC(a, T) SRC(b, T) return (expr) ? 0xffffffffu : 0;                          \
	}
#include "emu/lane/ops.def"

const struct emu_op_info emu_ops[E_COUNT] = {
#define OP1(id, D, A, expr) [E_##id] = { #id, 1, BYTES_##D, { BYTES_##A }, fold_##id },
#define OP2(id, D, A, B, expr) \
	[E_##id] = { #id, 2, BYTES_##D, { BYTES_##A, BYTES_##B }, fold_##id },
#define OP3(id, D, A, B, C, expr) \
	[E_##id] = { #id, 3, BYTES_##D, { BYTES_##A, BYTES_##B, BYTES_##C }, fold_##id },
#define OP4(id, D, A, B, C, E, expr) \
	[E_##id] = { #id, 4, BYTES_##D, { BYTES_##A, BYTES_##B, BYTES_##C, BYTES_##E }, fold_##id },
#define CMP(id, T, expr) [E_##id] = { #id, 2, 0, { BYTES_##T, BYTES_##T }, fold_##id },
#include "emu/lane/ops.def"
};

/* Shared by the files that lower PTX: one instruction to simple operations. */
#ifndef PMPP_EMU_LOWER_INST_H
#define PMPP_EMU_LOWER_INST_H

#include "emu/lower/build.h"

/* Operand @i as a source; registers of another width are narrowed or zero-extended to @bytes. */
struct xsrc low_src(struct lower *l, unsigned i, unsigned bytes);
struct xsrc low_pred(struct lower *l, unsigned i);
struct xsrc low_special(struct lower *l, enum ptx_special sr);
/* The rank in the cluster of the block whose shared memory an address of 4 or 8 bytes is in
 * (lower_cluster.c). */
struct xsrc low_cluster_rank(struct lower *l, struct xsrc address);
int32_t low_dst(struct lower *l, unsigned i); /* register of operand @i, -1 = sink */

static inline bool type_float(enum ptx_type t)
{
	return t == PTX_F32 || t == PTX_F64;
}
static inline bool type_half(enum ptx_type t)
{
	return t == PTX_F16 || t == PTX_BF16;
}
static inline bool type_pair(enum ptx_type t)
{
	return t == PTX_F16X2 || t == PTX_BF16X2;
}
static inline bool type_fp8(enum ptx_type t)
{
	return t == PTX_E4M3X2 || t == PTX_E5M2X2;
}
static inline bool type_small(enum ptx_type t) /* less than a byte */
{
	return t == PTX_B1 || t == PTX_U4 || t == PTX_S4;
}
static inline bool type_integer_pair(enum ptx_type t)
{
	return t == PTX_U16X2 || t == PTX_S16X2;
}
static inline bool type_signed(enum ptx_type t)
{
	return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
}
static inline bool type_floating(enum ptx_type t)
{
	return type_float(t) || type_half(t) || type_pair(t);
}
/* Lane width that holds a type. */
static inline unsigned type_lane(enum ptx_type t)
{
	return ptx_type_bytes(t) > 4 ? 8 : 4;
}

struct xsrc low_resize(struct lower *l, struct xsrc s, unsigned have, unsigned want);
unsigned low_reg_bytes(const struct lower *l, int32_t reg);

/* Does .ftz make subnormals of that type zero? Of float32 and halves. */
bool low_flushes(const struct ptx_inst *in, enum ptx_type type);
/* A source of such a type with subnormals as zero; a 16-bit integer source with its sign. */
struct xsrc low_flushed(struct lower *l, struct xsrc a, enum ptx_type type);
struct xsrc low_sext16(struct lower *l, struct xsrc a);
bool low_to16(struct lower *l, int32_t r); /* a 32-bit result into the 16-bit destination */

/* A loaded value of @type, zero-extended to its lane, into register @d of any width. */
void low_widen(struct lower *l, int32_t d, enum ptx_type type, struct xsrc v);
/* The address that a symbol stands for: a constant, or a constant behind the frame. */
struct xsrc low_address(struct lower *l, int32_t symbol, int64_t *offset);

/* Address operand @i in shared memory, as an offset of 4 bytes; generic addresses too. */
struct xsrc low_shared_offset(struct lower *l, unsigned i);

/* Address operand @i with 64 bits. */
struct xsrc low_wide_address(struct lower *l, unsigned i);
/* A lane's place in fragments: lane / 4 and lane % 4. */
struct lanes {
	struct xsrc g, t;
};
struct lanes low_lane_parts(struct lower *l);
/* What lies at @address + @offset, in a new register. */
int32_t low_load(struct lower *l, enum ptx_space space, struct xsrc address, int64_t offset,
                 enum ptx_type type);
void low_store(struct lower *l, enum ptx_space space, struct xsrc address, int64_t offset,
               enum ptx_type type, struct xsrc value);
/* A value of 4 bytes with 8 (lower_mbarrier.c). */
struct xsrc low_widened(struct lower *l, struct xsrc a);

/* --- lower_call.c --- */
/* Before the first instruction, and when all are lowered. */
void low_start_calls(struct lower *l);
void low_end_calls(struct lower *l);
/* ld.param and st.param of a function's parameters and of a call's variables. */
bool low_load_cells(struct lower *l);
bool low_store_cells(struct lower *l);

/* --- lower_stack.c --- */
/* Before the first instruction, behind low_start_calls(), and when all are lowered. */
void low_start_stack(struct lower *l);
void low_end_stack(struct lower *l);
/* At the arrival in a function, and @back at its return. */
void low_keep_stack(struct lower *l, bool back);

/* What the parser did not know. Returns false. */
bool low_refuse_unknown(struct lower *l, const struct ptx_refusal *u);

/* lower_cost.c: fills ir->insts from ir->func. */
void describe_insts(struct ir *ir);

/* --- lower_float.c --- */
/* The directed variant of an operation as the instruction rounds: @rz is its ..._rz form. */
enum emu_op low_rounded(const struct ptx_inst *in, enum emu_op nearest, enum emu_op rz);
struct typed_op { /* the operation of each type; E_COUNT = there is none */
	enum emu_op f32, f64, f16, f16x2, bf16, bf16x2;
};
enum emu_op low_op_of_type(const struct typed_op *t, enum ptx_type type);
/* d = a times what the unit gives for 1 / b: div.approx and div.full. */
bool low_quotient(struct lower *l, struct xsrc a, struct xsrc b);
/* d = op(a, b, c) in floating point with .ftz, .sat and .relu of the instruction; @n sources. */
bool low_float_op(struct lower *l, enum emu_op op, unsigned n, struct xsrc a, struct xsrc b,
                  struct xsrc c);
/* The same on both float32 of 64 bits (.f32x2). */
bool low_float_pair(struct lower *l, enum emu_op nearest, enum emu_op rz, unsigned n);
/* cvt with a pair of 8-bit floats on either side (lower_fp8.c). */
bool low_cvt_fp8(struct lower *l);
/* mma.sync of 8-bit floats (lower_mma_fp8.c). */
bool low_mma_fp8(struct lower *l);
/* Elements of less than a byte, and m8n8k4 of halves (lower_mma_rare.c). */
bool low_mma_small(struct lower *l);
bool low_wmma_load_small(struct lower *l);
bool low_mma_quads(struct lower *l);
/* The sign bits of a floating-point type, both of a pair (lower_function.c). */
uint64_t low_sign_bits(enum ptx_type t);

/* One function per kind of instruction: false = refused. */
#define OPCODE(id, name, section, cls, flops, meaning, ...) bool low_##meaning(struct lower *l);
#include "ptx/opcode.def"

#endif

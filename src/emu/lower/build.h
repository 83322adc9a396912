/* Building operations one after the other: what the front ends for PTX and machine code share. */
#ifndef PMPP_EMU_BUILD_H
#define PMPP_EMU_BUILD_H

#include "emu/lower/lower.h"
#include "ptx/link.h"

/* Registers that carry arguments or results between functions, four bytes each. */
struct cell_list {
	int32_t *reg;
	unsigned n;
};

struct lower {
	struct ir *ir;
	const struct lower_env *env;
	const struct ptx_inst *in; /* of the PTX front end */
	uint32_t pc;               /* the instruction, in ir->insts */
	int32_t guard;             /* predicate that its operations get, -1 = none */
	bool guard_neg;
	/* PTX with calls (lower_call.c) */
	const struct linked *link;
	const struct link_part *part;   /* the function that the instruction belongs to */
	int32_t *var_cell, *param_cell; /* first cell of a variable or parameter, -1 = none yet */
	struct cell_list arguments, results;
	int32_t frame; /* register with the address of the frame, -1 = no frames */
	int32_t stack; /* PTX: register with the first free byte of the stack, -1 = none is taken */
	int32_t *stack_kept; /* by function: register that keeps it till the return, -1 = none */
	int32_t products;    /* first of low_product_registers(), 0 = none yet */
	int32_t carry;       /* PTX: predicate that stands for the condition code register */
	bool first;          /* nothing emitted yet for this instruction */
	bool counted;        /* an operation with its guard was: lanes are counted there */
	bool failed;
	const char *source_file, *name; /* name: of the entry */
	struct err *err;
};

int32_t low_temp(struct lower *l, unsigned bytes);
struct xop *low_emit(struct lower *l, enum xkind kind);
/* Refuses the instruction: names it, where it stands, and its section of the PTX ISA. Returns
 * false. */
bool low_refuse(struct lower *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* as in base/err.h */
#define low_refuse(...) (low_refuse(__VA_ARGS__), false)
#endif

/* Refuses the instruction where the GPU is older than compute capability @cc (90 = 9.0). */
bool low_needs(struct lower *l, int cc);

/* The same with everything said. */
bool low_refuse_at(struct lower *l, const struct lower_refusal *r);

static inline struct xsrc src_reg(int32_t reg)
{
	return (struct xsrc){ .kind = S_REG, .reg = reg };
}
static inline struct xsrc src_const(uint64_t value)
{
	return (struct xsrc){ .kind = S_CONST, .value = value };
}
static inline struct xsrc src_not(struct xsrc s)
{
	s.neg = !s.neg;
	return s;
}
/* d = op(...); with d < 0 a new temporary. Returns d. */
int32_t low_op1(struct lower *l, enum emu_op op, int32_t d, struct xsrc a);
int32_t low_op2(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b);
int32_t low_op3(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b,
                struct xsrc c);
int32_t low_op4(struct lower *l, enum emu_op op, int32_t d, struct xsrc a, struct xsrc b,
                struct xsrc c, struct xsrc e);
/* A 64-bit counter of the SM's cycles, or of nanoseconds by the clock of the GPU. */
int32_t low_clock(struct lower *l, bool nanoseconds);
int32_t low_bool(struct lower *l, int32_t p, enum ptx_boolop op, struct xsrc a, struct xsrc b);
/* @p = a @cmp b; with p < 0 a new temporary. Returns p. */
int32_t low_cmp(struct lower *l, int32_t p, enum ptx_cmp cmp, enum ptx_type type, struct xsrc a,
                struct xsrc b);
/* What @x, a vote, a shuffle, a match, does with all lanes; d, p: -1 = nobody wants it. A ballot
 * has a register, the other votes a predicate. */
void low_set_vote(struct xop *x, enum ptx_mode mode, int32_t d, struct xsrc p);
void low_set_shuffle(struct xop *x, enum ptx_mode mode, int32_t d, int32_t p, struct xsrc value,
                     struct xsrc lane, struct xsrc limits);
/* X_NOP that waits, for @ns nanoseconds. */
void low_set_sleep(struct lower *l, struct xop *x, struct xsrc ns);
void low_set_match(struct lower *l, struct xop *x, enum ptx_mode mode, bool wide, int32_t d,
                   int32_t p, struct xsrc value);
/* What lane @lane has in @value (32 bits). */
struct xsrc low_from_lane(struct lower *l, struct xsrc value, struct xsrc lane);
/* @d = the least or @greatest float32 of @lanes; NaN gives way to numbers, or wins (lower_warp.c).
 */
void low_redux_f32(struct lower *l, int32_t d, bool greatest, bool nan_wins, struct xsrc v,
                   struct xsrc lanes);
/* Two of the four 8-bit floats of @type in @v, as float16; float32 @x as eight bits, limited to
 * what they hold (lower_fp8.c). */
struct xsrc low_fp8_pair(struct lower *l, enum ptx_type type, struct xsrc v, bool upper);
struct xsrc low_to_fp8(struct lower *l, enum ptx_type type, struct xsrc x);
/* @v, where it is an infinity the largest number of its sign: @step below. */
struct xsrc low_finite(struct lower *l, struct xsrc v, uint32_t infinity, uint32_t step);
/* Float32 @v to TF32, to the nearest or towards zero; @relu: never below zero (lower_cvt.c). */
struct xsrc low_to_tf32(struct lower *l, struct xsrc v, bool nearest, bool relu);
int32_t low_select(struct lower *l, int32_t d, unsigned bytes, struct xsrc a, struct xsrc b,
                   struct xsrc p);
/* A call of the system with @n arguments of 8 bytes: the register of its result. */
int32_t low_system(struct lower *l, enum system_call call, unsigned n, const struct xsrc *arg);

/* --- products of matrices (lower_group_product.c) --- */

/* Ten registers of 4 bytes, in a row, that products of matrices use in turn; one such product,
 * whose @n results go to @d. */
int32_t low_product_registers(struct lower *l);
void low_product(struct lower *l, const struct ir_tensor *t, unsigned n, const int32_t *d);

/* Register @d = every second one of eight elements of four bits, as bytes (lower_mma_rare.c). */
void low_bytes_of_halves(struct lower *l, int32_t d, struct xsrc word, enum ptx_type type,
                         unsigned odd);

/* One of a warp group, 64 x @n: A B + sums where @keep holds, else A B. */
struct group_product {
	unsigned n, k;
	enum ptx_type d, a, b;
	bool a_in_registers; /* then in @from, else where @matrix_a describes */
	bool minus_a, minus_b, across_a, across_b, saturate;
	bool sparse; /* A holds every second element, the lanes that @selector names say which */
	unsigned selector;
	enum ptx_atom bits; /* of single bits: ATOM_AND */
	struct xsrc from[4], matrix_a, matrix_b, keep, which;
	const int32_t *sums, *to; /* low_group_sums() registers, -1 = zero, or not wanted */
};
/* Why it is none that is known; NULL: it is. */
const char *low_group_product_why(const struct group_product *p);
unsigned low_group_sums(const struct group_product *p);
void low_group_product(struct lower *l, const struct group_product *p);

#endif

/*
 * The emulator's intermediate form: one launch's entry as simple operations on registers.
 *
 * lower.c makes it from parsed PTX with parameters and launch dimensions folded in; flow.c and
 * classify.c study it; emit.c turns it into handlers. Registers are the PTX registers followed by
 * temporaries. Predicates are 32-bit masks, one bit per lane.
 */
#ifndef PMPP_EMU_EMU_IR_H
#define PMPP_EMU_EMU_IR_H

#include "emu/memory/arena.h"
#include "base/err.h"
#include "model/kernel.h"
#include "ptx/ptx.h"

/* E_add_b32 ...: operations of ops.def; comparisons follow the arithmetic ones. */
enum emu_op {
#define OP1(id, d, a, expr) E_##id,
#define OP2(id, d, a, b, expr) E_##id,
#define OP3(id, d, a, b, c, expr) E_##id,
#define OP4(id, d, a, b, c, e, expr) E_##id,
#define CMP(id, t, expr) E_##id,
#include "emu/ir/ops.def"
	E_COUNT
};
#define E_FIRST_CMP E_eq_b32

struct emu_op_info {
	const char *name;
	uint8_t n_src, d_bytes, s_bytes[4]; /* lane widths: 4 or 8; d_bytes 0 = predicate */
	uint64_t (*fold)(uint64_t a, uint64_t b, uint64_t c, uint64_t e);
};
extern const struct emu_op_info emu_ops[E_COUNT]; /* scalar.c */

enum xkind {
	X_OP,      /* d = op(s...) */
	X_CMP,     /* p = op(s0, s1) ^ negate */
	X_PRED,    /* p = boolop(s0, s1), sources may be negated */
	X_SEL,     /* d = s2 ? s0 : s1 */
	X_SPECIAL, /* d = special register that varies inside the launch */
	X_CLOCK,   /* d = a counter that only grows */
	X_LD,
	X_ST,
	X_ATOM,
	X_RED,
	X_ASYNC, /* cp.async: copies at once */
	X_BRA,
	X_BRX,
	X_EXIT,
	X_TRAP,
	X_BAR,
	X_ARRIVE,
	X_BARRED,
	X_SHFL,
	X_VOTE,
	X_MATCH,
	X_REDUX,
	X_ACTIVE,
	X_ELECT,
	X_WARPSYNC, /* __syncwarp: orders memory among the lanes, for the checks */
	X_NOP       /* fences and hints: counted, without effect */
};

enum xsrc_kind { S_NONE, S_REG, S_CONST };
struct xsrc {
	enum xsrc_kind kind;
	bool neg; /* predicate read inverted */
	int32_t reg;
	uint64_t value;
};

#define X_MAX_VEC 8
struct xop {
	enum xkind kind;
	uint16_t op; /* enum emu_op of OP and CMP; ptx_boolop, ptx_mode, ptx_atom, ptx_special */
	bool neg;    /* CMP: invert the result */
	bool first;  /* first operation of its PTX instruction */
	uint8_t n_d, n_s;
	int32_t d[X_MAX_VEC]; /* -1 = sink */
	struct xsrc s[X_MAX_VEC + 2];
	int32_t guard; /* predicate register, -1 = none */
	bool guard_neg;
	uint32_t pc;    /* index of the PTX instruction */
	int32_t target; /* BRA: block; BRX: first index in func->lists, count in n_targets */
	uint32_t n_targets;
	/* LD ST ATOM RED: s[0] is the address, stores have their data in s[1..] */
	enum ptx_space space;
	enum ptx_type type; /* of the data: width, sign; of ATOM the arithmetic */
	uint8_t bytes, vec;
	int64_t offset;
	int32_t mem;    /* number of this memory instruction, -1 = not memory */
	bool bypass_l1; /* .cg .cv, volatile, relaxed and stronger */
};

struct xreg {
	uint8_t bytes; /* 0 predicate, 4, 8 */
};

struct xblock {
	uint32_t first, end; /* xops [first, end) */
	int32_t succ[2];
	const int32_t *targets; /* of a final BRX: block indexes */
	uint32_t n_targets;
	int32_t reconv;
};

struct ir {
	const struct ptx_module *module;
	const struct ptx_func *func;
	unsigned n_ops, cap_ops, n_regs, cap_regs, n_blocks, n_mem;
	struct xop *ops;
	struct xreg *regs;
	struct xblock *blocks;
	int32_t *only_def; /* by register: the one operation that writes it, -1 = none or more */
};

/* Where symbols of a launch live; filled by launch.c before lowering. */
struct ir_env {
	const struct launch_plan *plan;
	const uint8_t *params;    /* the parameter area, param_bytes */
	const uint64_t *var_addr; /* per module variable: address in its space */
	uint64_t param_base;      /* device address of a copy of the parameter area */
	uint32_t shared_bytes, local_bytes;
	uint32_t sm_count;
};

/* Generic addresses of shared and local memory lie in windows that no buffer reaches. */
#define SHARED_WINDOW ((uint64_t)1 << 56)
#define LOCAL_WINDOW ((uint64_t)2 << 56)
#define WINDOW_SIZE ((uint64_t)1 << 32)

bool ir_lower(struct ir *ir, const struct ptx_module *m, const struct ptx_func *f,
              const struct ir_env *env, const char *source_file, struct err *err);
void ir_free(struct ir *ir);

/* --- flow.c: liveness --- */
struct bitset_table { /* one row of bits per block */
	unsigned words;
	uint64_t *bits;
};
static inline bool bits_get(const uint64_t *row, unsigned i)
{
	return row[i / 64] >> (i % 64) & 1;
}
static inline void bits_set(uint64_t *row, unsigned i)
{
	row[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline void bits_clear(uint64_t *row, unsigned i)
{
	row[i / 64] &= ~((uint64_t)1 << (i % 64));
}
static inline uint64_t *bits_row(const struct bitset_table *t, unsigned block)
{
	return t->bits + (size_t)block * t->words;
}
struct liveness {
	struct bitset_table in, out, def; /* def: registers written in the block */
};
void flow_liveness(const struct ir *ir, struct liveness *l);
void liveness_free(struct liveness *l);
/* Registers an operation writes (at most X_MAX_VEC) and reads; a guard and a partial write read. */
unsigned xop_reads(const struct xop *x, int32_t *regs); /* room for X_MAX_VEC + 4 */
/* Successor @i of a block, or -2 when there are no more; -1 entries are skipped by callers. */
int32_t xblock_succ(const struct xblock *b, unsigned i);
/* Registers written on the way from @from to @stop (exclusive), or'ed into @row. */
void flow_defs_between(const struct ir *ir, const struct liveness *l, int32_t from, int32_t stop,
                       uint64_t *row);

/* --- classify.c: what a warp's 32 values of a register look like --- */
enum shape_class {
	SHAPE_TOP,   /* never written */
	SHAPE_BASE,  /* one scalar plus a lane pattern that never changes (all zero: uniform) */
	SHAPE_LANES, /* 32 values */
};
struct pattern {
	int64_t lane[32];
	int64_t min, max;
};
struct reg_shape {
	enum shape_class cls;
	bool known; /* the scalar is a constant of the launch */
	uint64_t base;
	int32_t pattern;    /* index into shapes.patterns; 0 = all lanes equal */
	uint8_t align_log2; /* the scalar is a multiple of 2^align (unknown scalars) */
	bool ranged;        /* every lane of every warp, read as a signed number, is in lo..hi */
	int64_t lo, hi;
};
struct shapes {
	struct reg_shape *reg; /* per register; predicates: pattern 0 = all active lanes agree */
	/* Bounds that hold from a write to the end of its block, where the register is written
	 * elsewhere too: valid while @round of the entry is the present one. */
	struct local_range {
		uint32_t round;
		int64_t lo, hi;
	} *local;
	uint32_t round;
	struct pattern *patterns;
	unsigned n_patterns, cap_patterns;
	unsigned demoted; /* registers that divergence forced to 32 values */
	bool bold;        /* of the bold program: signs are taken to be plus, see shape_assumed() */
};
/* tid of each lane and warp, for the classes of %tid. */
struct tid_shape {
	struct reg_shape shape[3];
};
enum classify_mode {
	CLASSIFY_LANES, /* everything as 32 lanes */
	CLASSIFY_SAFE,
	CLASSIFY_BOLD /* branches that could hurt are marked instead: the program has to be left there
	                 when one splits a warp after all */
};
/* @marked: per block, of a bold classification; returns whether any is. */
bool classify(const struct ir *ir, const struct liveness *l, const struct launch_plan *plan,
              enum classify_mode mode, bool *marked, struct shapes *out);
void shapes_free(struct shapes *s);
/* Operations are looked at block by block, in order: */
static inline void shapes_enter_block(struct shapes *s)
{
	s->round++;
}
/* ... and what each gives is noted before the next is looked at. */
void shapes_note(struct shapes *s, const struct xop *x, const struct reg_shape *result);
/* Shape of a source or of what an operation would give, before divergence is considered. */
/*
 * The bold program takes it that an index, scalar + pattern, is not negative where compilers ask
 * for its sign (x >> 31, in a division by a power of two): quotient and remainder are patterns
 * then. A check stands before the operation; a warp that fails it goes on in the safe program.
 */
bool shape_assumed(const struct shapes *s, const struct ir *ir, const struct xop *x);
struct reg_shape shape_of_src(const struct shapes *s, const struct ir *ir, const struct xsrc *src);
struct reg_shape shape_of_result(struct shapes *s, const struct ir *ir, const struct xop *x,
                                 const struct launch_plan *plan);
bool shape_uniform(const struct reg_shape *r);
/* The same operation in a form that shows more, if the operands allow: division by a power of two,
 * and the remainder written as x - (x & -2^k). */
struct xop xop_reduced(const struct shapes *s, const struct ir *ir, const struct xop *x);
/* ranges.c: bounds of what an operation gives; false = unknown. */
bool range_of_op(const struct xop *x, const struct reg_shape *a, int64_t *lo, int64_t *hi);
/* A comparison that the bounds decide: 0 or 1, else -1. */
int range_decides(const struct xop *x, const struct reg_shape *a);
int32_t pattern_intern(struct shapes *s, const int64_t lane[32]);
/* Value of a register of known shape in one lane. */
static inline uint64_t shape_lane(const struct shapes *s, const struct reg_shape *r, unsigned lane)
{
	return r->base + (uint64_t)s->patterns[r->pattern].lane[lane];
}

#endif

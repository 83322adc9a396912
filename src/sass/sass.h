/*
 * Machine code (SASS) as data: functions, instructions, operands, what the encoding says to the
 * scheduler, and the source and PTX lines each instruction comes from.
 *
 * Made of a cubin and its disassembly (nvdisasm's text; sass_listing.h says which forms). Nothing
 * here runs anything. What is not understood (a new opcode, modifier or form of operand) is no
 * error: the instruction keeps its text and says in @why_not what is strange about it.
 */
#ifndef PMPP_SASS_SASS_H
#define PMPP_SASS_SASS_H

#include "model/code_class.h"
#include "base/err.h"
#include "sass/cubin.h"

#include <stddef.h>
#include <stdint.h>

/* --- opcodes ---------------------------------------------------------------------------------- */

enum sass_op {
	SASS_UNKNOWN, /* not in opcode.def */
#define SASS_OP(name, ...) SASS_##name,
#include "sass/opcode.def"
#undef SASS_OP
	SASS_OP_COUNT,
};

#define X(id, name) SASS_CLASS_##id,
enum sass_class { CODE_CLASSES(X) SASS_CLASS_COUNT };
#undef X
#define X(id, name) SASS_PIPE_##id,
enum sass_pipe { CODE_PIPES(X) SASS_PIPE_COUNT };
#undef X

enum sass_space {
	SASS_SPACE_NONE,
	SASS_SPACE_CONST,
	SASS_SPACE_GLOBAL,
	SASS_SPACE_SHARED,
	SASS_SPACE_LOCAL,
	SASS_SPACE_GENERIC,
	SASS_SPACE_TENSOR,
	SASS_SPACE_TEXTURE,
	SASS_SPACE_SURFACE,
};

enum sass_access {
	SASS_ACCESS_NONE,
	SASS_ACCESS_LOAD,
	SASS_ACCESS_STORE,
	SASS_ACCESS_COPY, /* from one space to another, no register */
	SASS_ACCESS_ATOMIC,
	SASS_ACCESS_REDUCTION, /* an atomic whose result nobody asked for */
};

enum sass_flow {
	SASS_FLOW_NONE,
	SASS_FLOW_BRANCH,
	SASS_FLOW_INDIRECT,
	SASS_FLOW_CALL,
	SASS_FLOW_RETURN,
	SASS_FLOW_EXIT,
	SASS_FLOW_SYNC_BEGIN, /* BSSY: these lanes will meet at the label */
	SASS_FLOW_SYNC,       /* BSYNC: wait for them */
	SASS_FLOW_BREAK,
	SASS_FLOW_TRAP,
};

struct sass_op_info {
	const char *name;
	enum sass_class class;
	enum sass_pipe pipe;
	unsigned flops; /* of one thread, without regard to modifiers */
	enum sass_space space;
	enum sass_access access;
	enum sass_flow flow;
	unsigned pred_dsts, reg_dsts, carry_dsts; /* see opcode.def */
};

const struct sass_op_info *sass_op_info(enum sass_op op); /* SASS_UNKNOWN: name "?" */
enum sass_op sass_op_find(const char *name, size_t len);
const char *sass_class_name(enum sass_class c);
const char *sass_pipe_name(enum sass_pipe p);
/* smsp__inst_executed_op_branch counts it: BRA, BRX, CALL, RET, EXIT, BSYNC. */
bool sass_op_is_branch(enum sass_op op);

/* --- modifiers and special registers ---------------------------------------------------------- */

enum sass_mod {
	SASS_MOD_NONE,
	SASS_MOD_UNKNOWN, /* not in modifier.def */
#define SASS_MODIFIER(name) SASS_MOD_##name,
#include "sass/modifier.def"
#undef SASS_MODIFIER
	SASS_MOD_COUNT,
};

const char *sass_mod_name(enum sass_mod m);
enum sass_mod sass_mod_find(const char *name, size_t len);

enum sass_special {
#define SASS_SPECIAL(id, name) SASS_SR_##id,
#include "sass/special.def"
#undef SASS_SPECIAL
	SASS_SR_COUNT, /* also: not among them */
};

/* --- operands --------------------------------------------------------------------------------- */

/* Registers that read as zero or true and forget what is written: RZ and URZ, PT and UPT. */
enum { SASS_RZ = 255, SASS_PT = 7, SASS_NO_REG = 0xffff };

enum sass_operand_kind {
	SASS_OPND_OTHER,      /* a form that is not understood */
	SASS_OPND_REG,        /* R4 */
	SASS_OPND_UREG,       /* UR4 */
	SASS_OPND_PRED,       /* P2 */
	SASS_OPND_UPRED,      /* UP2 */
	SASS_OPND_PREDS,      /* PR, UPR: all predicates as one word */
	SASS_OPND_INT,        /* 0x10 */
	SASS_OPND_FLOAT,      /* 1.5, +INF */
	SASS_OPND_CONST,      /* c[0x3][R2+0x10], cx[UR4][0x10] */
	SASS_OPND_MEM,        /* [R4.64+UR6+0x10], desc[UR4][R2.64] */
	SASS_OPND_SPECIAL,    /* SR_TID.X */
	SASS_OPND_LABEL,      /* a place in the code */
	SASS_OPND_BARRIER,    /* B0: of convergence */
	SASS_OPND_SCOREBOARD, /* SB0, or the set {3,2} in @value */
	SASS_OPND_MATRIX,     /* gdesc[UR4].tnspB: @ureg, and in @value SASS_MATRIX_... */
	SASS_OPND_GROUP,      /* gsb0: the scoreboard of a warp group */
	SASS_OPND_SHAPE,      /* 2D, ARRAY_2D: of a texture; @sel is the modifier of that name */
	SASS_OPND_POLICY,     /* desc[UR4] alone: how long caches keep it, in @desc */
	SASS_OPND_RPC,        /* Rpc.LO, Rpc.HI: @reg 0, 1; keeps what it is given */
	SASS_OPND_RELOC,      /* 32@lo(name): an address that the loader fills in */
};

enum {
	SASS_NEG = 1,   /* -R4 */
	SASS_ABS = 2,   /* |R4| */
	SASS_NOT = 4,   /* !P0, ~R4 */
	SASS_REUSE = 8, /* R4.reuse: the value stays in the operand cache */
	SASS_DST = 16,
	SASS_PAIR = 32,     /* R4.F32x2.HI_LO: two float32, in R4 and R5 */
	SASS_NEG_HIGH = 64, /* R4.F32x2.HI_LO.NP: the sign of the upper one is turned */
};

/* Of SASS_OPND_MATRIX: lines do not run along K; the other sign. */
enum {
	SASS_MATRIX_ACROSS_A = 1,
	SASS_MATRIX_ACROSS_B = 2,
	SASS_MATRIX_MINUS_A = 4,
	SASS_MATRIX_MINUS_B = 8,
};

struct sass_operand {
	uint8_t kind, flags;
	/* Registers in a row, from @reg: 2 for a 64-bit value or address; of UREG likewise. 0 = none.
	 */
	uint8_t words;
	uint8_t bank;   /* CONST */
	uint16_t reg;   /* R, UR, P, UP, B, SB; base of MEM and index of CONST, SASS_NO_REG = none */
	uint16_t ureg;  /* second base of MEM; the handle of cx[UR][]; SASS_NO_REG = none */
	uint16_t desc;  /* UR of a descriptor; SASS_NO_REG = none */
	uint8_t uwords; /* registers that @ureg stands for */
	uint16_t sel;   /* enum sass_mod of the register: R4.64, R4.X4, R2.H0_H0 */
	uint16_t usel;  /* the same of @ureg */
	int64_t value;  /* INT; offset of CONST and MEM; SPECIAL: enum sass_special; LABEL: offset */
	double number;  /* FLOAT */
	/* LABEL of another function and RELOC: its name (RELOC: @value bytes behind it, the upper half
	 * of the address where @sel is HI); INT that is the offset of a place in the code: the name of
	 * the function; else NULL */
	const char *symbol;
};

/* --- instructions ----------------------------------------------------------------------------- */

/* What the compiler tells the scheduler, bits 105 to 125 of the encoding. */
struct sass_control {
	uint8_t stall;     /* cycles until the next instruction of the warp may issue */
	bool yield;        /* another warp is preferred next */
	uint8_t write_bar; /* scoreboard set when the result is written; 7 = none */
	uint8_t read_bar;  /* scoreboard set when the sources were read; 7 = none */
	uint8_t wait;      /* bit i: waits for scoreboard i */
	uint8_t reuse;     /* bit i: source slot i is kept for the next instruction */
};
enum { SASS_NO_BARRIER = 7, SASS_N_BARRIERS = 6 };

enum { SASS_MAX_MODS = 10, SASS_NO_TARGET = -1, SASS_UNKNOWN_LIVE = 0xffff };

struct sass_inst {
	uint32_t offset; /* in the function */
	uint16_t op;     /* enum sass_op */
	uint8_t n_mods;
	uint16_t mods[SASS_MAX_MODS]; /* enum sass_mod, in the order they stand */
	/* The instruction acts in lanes where this holds: predicate @guard (SASS_PT: all) of the
	 * uniform file if @guard_uniform, inverted if @guard_not. */
	uint8_t guard;
	bool guard_not, guard_uniform;
	uint8_t n_operands, n_dsts; /* destinations come first */
	const struct sass_operand *operands;
	int32_t target;          /* index of the instruction that its label names; SASS_NO_TARGET */
	uint32_t n_targets;      /* of an indirect branch, as the disassembler found them */
	const uint32_t *targets; /* indexes */
	bool spill;              /* a spill or refill, so marked by the compiler */
	uint16_t live_regs, live_preds, live_uregs, live_upreds; /* SASS_UNKNOWN_LIVE */
	uint16_t file;                                           /* index into files of the module */
	uint32_t line, ptx_line;                                 /* 0 = unknown */
	struct sass_control control;
	uint64_t code[2];    /* the encoding, low half first */
	const char *opcode;  /* "LDG.E.128" */
	const char *text;    /* the operands: "R4, desc[UR4][R26.64]" */
	const char *why_not; /* what of it is not understood; NULL = all is */
};

struct sass_func {
	const char *name;
	const struct cubin_func *cubin;
	unsigned n_insts;        /* without the padding behind the last one */
	struct sass_inst *insts; /* by offset */
};

struct sass_module {
	struct cubin cubin;
	unsigned n_funcs;
	struct sass_func *funcs; /* those of the cubin, in its order */
	unsigned n_files;
	char **files;           /* files[0] = "": unknown */
	bool live;              /* live registers are known */
	char disassembler[64];  /* "nvdisasm 13.5.37"; "" = not stated */
	struct sass_pool *pool; /* what the pointers above point into */
};

/*
 * Joins the cubin with its disassembly. Both may be freed afterwards.
 * ERR_PARSE: one of them is malformed, or they do not belong together; the message says where.
 */
bool sass_read(struct sass_module *m, const void *cubin, size_t cubin_len, const char *listing,
               size_t listing_len, struct err *err);
void sass_free(struct sass_module *m);
const struct sass_func *sass_func(const struct sass_module *m, const char *name);
/* The instruction at @offset; SASS_NO_TARGET = none begins there. */
int32_t sass_inst_at(const struct sass_func *f, uint64_t offset);

/* "@!P0" or "". */
void sass_guard_text(const struct sass_inst *i, char out[8]);
/* Its operands as printed, but for labels, whose numbers are the disassembler's own: the offset
 * they stand for says more. */
void sass_operands_text(const struct sass_func *f, const struct sass_inst *i, char *out, size_t n);
/* All of it: "@!P0 LDG.E R2, desc[UR4][R2.64]". */
void sass_inst_text(const struct sass_func *f, const struct sass_inst *i, char *out, size_t n);

/* "sm_90 machine code, ptxas 13.0.88" */
void sass_title(const struct sass_module *m, char *out, size_t n);

/* Registers that an instruction of arithmetic reads, which is what a bank of registers is asked for
 * and what may be kept (reuse). All 0 of other instructions. */
struct sass_registers {
	uint8_t reads;     /* source operands that are registers, RZ left out */
	uint8_t kept;      /* of them, those that the instruction before kept */
	uint8_t conflicts; /* cycles more than its pipe takes, until the busiest bank has given all */
};
/* Of instruction @k. The rule for conflicts was measured there (tests/gpu/registers_check.py). */
enum { SASS_BANKS_SM = 90 };
struct sass_registers sass_registers(const struct sass_func *f, unsigned k);

bool sass_has(const struct sass_inst *i, enum sass_mod mod);
struct sass_control sass_control_of(uint64_t high_half);

#endif

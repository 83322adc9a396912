/*
 * PTX text as a structured program: modules, functions, instructions, control-flow graph.
 *
 * Follows the PTX ISA 9.0 (docs.nvidia.com/cuda/parallel-thread-execution). The parser accepts
 * what nvcc and NVRTC write for the opcodes in opcode.def and names everything else with its line.
 * Executes nothing and counts nothing.
 */
#ifndef PMPP_PTX_PTX_H
#define PMPP_PTX_PTX_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, "name", bytes) : fundamental types, PTX ISA 5.2 */
#define PTX_TYPES(X)                                                                             \
	X(NONE, "", 0) X(B8, "b8", 1) X(B16, "b16", 2) X(B32, "b32", 4) X(B64, "b64", 8)         \
	X(B128, "b128", 16) X(U8, "u8", 1) X(U16, "u16", 2) X(U32, "u32", 4) X(U64, "u64", 8)    \
	X(S8, "s8", 1) X(S16, "s16", 2) X(S32, "s32", 4) X(S64, "s64", 8) X(F16, "f16", 2)       \
	X(F16X2, "f16x2", 4) X(BF16, "bf16", 2) X(BF16X2, "bf16x2", 4) X(TF32, "tf32", 4)        \
	X(F32, "f32", 4) X(F64, "f64", 8) X(PRED, "pred", 1)
enum ptx_type {
#define X(id, name, bytes) PTX_##id,
	PTX_TYPES(X)
#undef X
	PTX_TYPE_COUNT
};

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM };

/* Base opcodes from opcode.def: OPCODE(ID, "mnemonic", CLASS, "PTX ISA section"). */
enum ptx_class {
	CLASS_INT, CLASS_FP32_64, CLASS_SFU, CLASS_CMP, CLASS_LOGIC, CLASS_MOVE, CLASS_MEM,
	CLASS_ATOMIC, CLASS_CONTROL, CLASS_BARRIER, CLASS_WARP, CLASS_TENSOR, CLASS_MISC
};
enum ptx_op {
#define OPCODE(id, name, cls, section) OP_##id,
#include "ptx/opcode.def"
#undef OPCODE
	OP_COUNT
};

/* Comparison of setp, set, slct (ISA 9.3). LO LS HI HS are the unsigned forms; xxU accept NaN. */
enum ptx_cmp {
	CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_LO, CMP_LS, CMP_HI, CMP_HS,
	CMP_EQU, CMP_NEU, CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM, CMP_NAN
};
/* Boolean combined with a third source predicate: setp.lt.and etc. */
enum ptx_boolop { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
enum ptx_round { ROUND_NONE, ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNI, ROUND_RZI,
	ROUND_RMI, ROUND_RPI };
/* atom/red operation, redux operation. */
enum ptx_atom { ATOM_NONE, ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_INC,
	ATOM_DEC, ATOM_EXCH, ATOM_CAS };
/* shfl, vote, match modes. */
enum ptx_mode { MODE_NONE, MODE_UP, MODE_DOWN, MODE_BFLY, MODE_IDX, MODE_ALL, MODE_ANY, MODE_UNI,
	MODE_BALLOT };

enum ptx_flag {
	PF_SAT = 1 << 0, PF_FTZ = 1 << 1, PF_LO = 1 << 2, PF_HI = 1 << 3, PF_WIDE = 1 << 4,
	PF_CC = 1 << 5, PF_APPROX = 1 << 6, PF_FULL = 1 << 7, PF_UNI = 1 << 8, PF_SYNC = 1 << 9,
	PF_VOLATILE = 1 << 10, PF_NC = 1 << 11, PF_TO = 1 << 12 /* cvta.to */,
	PF_WRAP = 1 << 13 /* shf.wrap; clear = clamp */, PF_LEFT = 1 << 14 /* shf.l */,
	PF_NAN = 1 << 15 /* min.NaN */, PF_ARRIVE = 1 << 16 /* bar.arrive */,
	PF_RED = 1 << 17 /* bar.red */,
};

enum ptx_special {
	SR_TID_X, SR_TID_Y, SR_TID_Z, SR_NTID_X, SR_NTID_Y, SR_NTID_Z, SR_CTAID_X, SR_CTAID_Y,
	SR_CTAID_Z, SR_NCTAID_X, SR_NCTAID_Y, SR_NCTAID_Z, SR_LANEID, SR_WARPID, SR_NWARPID, SR_SMID,
	SR_NSMID, SR_GRIDID, SR_CLOCK, SR_CLOCK64, SR_GLOBALTIMER, SR_LANEMASK_EQ, SR_LANEMASK_LE,
	SR_LANEMASK_LT, SR_LANEMASK_GE, SR_LANEMASK_GT, SR_DYNAMIC_SMEM_SIZE, SR_TOTAL_SMEM_SIZE,
	SR_COUNT
};

enum ptx_operand_kind {
	OPND_NONE,   /* absent, or the sink "_" */
	OPND_REG,    /* reg: index into func->regs */
	OPND_INT,    /* i64 (also bit pattern of 0f/0d literals when the type is .b32/.b64) */
	OPND_FLOAT,  /* f64; 0fXXXXXXXX literals are widened exactly, bits kept in i64 */
	OPND_SPECIAL,/* special */
	OPND_SYMBOL, /* address of a variable (symbol) plus offset: mov.u32 %r, sym+4 */
	OPND_ADDR,   /* [reg+offset], [symbol+offset] or [offset]: kind of base in addr_base */
	OPND_VEC,    /* {r0, r1, ...}: vec[0..n_vec) register indexes, -1 = "_" */
	OPND_LABEL,  /* block index after CFG construction */
};
enum ptx_addr_base { ADDR_REG, ADDR_SYMBOL, ADDR_ABSOLUTE };

struct ptx_operand {
	enum ptx_operand_kind kind;
	enum ptx_addr_base addr_base;
	bool negated;        /* "!%p1" as a source predicate */
	uint8_t n_vec;
	int32_t reg;         /* REG, or base of ADDR_REG */
	int32_t symbol;      /* index into ptx_module.vars; params of the entry: -1 - param index */
	enum ptx_special special;
	int32_t label;       /* block index */
	int32_t vec[8];
	int64_t i64;         /* INT value, float bits, or offset of SYMBOL/ADDR */
	double f64;
};

#define PTX_MAX_OPERANDS 6

/*
 * opnd[0] is the destination where the opcode has one (setp: opnd[0] = p, opnd[1] = second
 * destination q or NONE, then sources; shfl/vote/atom keep the ISA's written order; a store has
 * opnd[0] = address, opnd[1] = source). Operand order per opcode is documented in opcode.def.
 */
struct ptx_inst {
	enum ptx_op op;
	enum ptx_type type, type2; /* type2: source type of cvt, of set; b32 of mad.wide's sources = type */
	enum ptx_space space;
	enum ptx_cmp cmp;
	enum ptx_boolop boolop;
	enum ptx_round round;
	enum ptx_atom atom;
	enum ptx_mode mode;
	uint32_t flags;      /* enum ptx_flag */
	uint8_t vec;         /* 1, 2, 4: ld/st.vN */
	uint8_t n_opnds;
	int32_t guard;       /* predicate register or -1 */
	bool guard_negated;
	struct ptx_operand opnd[PTX_MAX_OPERANDS];
	uint32_t line;       /* source line from .loc (of file 1, inlined: outermost line), 0 = none */
	uint32_t ptx_line;   /* line of the PTX text */
	char text[32];       /* full mnemonic: "ld.global.v4.f32" (cut at 31) */
};

struct ptx_reg {
	char name[24];
	enum ptx_type type;
};

/* A basic block: instructions [first, last] inclusive of the function. */
struct ptx_block {
	uint32_t first, last;
	int32_t succ[2];     /* -1 = none; succ[0] = taken branch target or the only successor,
	                        succ[1] = fall-through of a guarded branch */
	int32_t ipdom;       /* immediate post-dominator, -1 = the function's exit */
	bool has_barrier;    /* contains a block-wide barrier */
};

struct ptx_param {
	char name[96];
	enum ptx_type type;
	uint32_t size, align, offset; /* bytes; offset in the parameter area */
};

/* A module- or function-scope variable (.global .const .shared .local). */
struct ptx_var {
	char name[128];
	enum ptx_space space;
	enum ptx_type type;
	uint32_t align;
	uint64_t size;       /* bytes; 0 = extern .shared x[] (dynamic) */
	bool is_extern;
	int32_t func;        /* index of the owning function, -1 = module scope */
	uint64_t offset;     /* in its space: shared variables of one entry are laid out by the parser
	                        (statics first, the dynamic array after all of them) */
	void *init;          /* NULL = zero */
};

struct ptx_func {
	char name[128];
	bool is_entry;
	unsigned n_params, n_regs, n_insts, n_blocks;
	struct ptx_param *params;
	struct ptx_reg *regs;
	struct ptx_inst *insts;
	struct ptx_block *blocks;
	uint32_t param_bytes, static_shared_bytes, local_bytes;
	uint32_t maxntid[3];  /* .maxntid, 0 = not given */
};

struct ptx_module {
	int version_major, version_minor;
	char target[16];
	unsigned n_funcs, n_vars, n_files;
	struct ptx_func *funcs;
	struct ptx_var *vars;
	char **files;         /* of .file, index 1.. at [0]..; may hold NULL */
};

/* Parses a NUL-terminated module and builds the control-flow graph of every function.
 * ERR_PARSE "name:line:column: ..." with the line and a caret; ERR_UNSUPPORTED names the opcode,
 * directive or modifier, its line, and what is supported instead. */
bool ptx_parse(const char *text, const char *name, struct ptx_module *out, struct err *err);
void ptx_free(struct ptx_module *m);
const struct ptx_func *ptx_entry(const struct ptx_module *m, const char *name);

const char *ptx_op_name(enum ptx_op op);
enum ptx_class ptx_op_class(enum ptx_op op);
const char *ptx_type_name(enum ptx_type t);
unsigned ptx_type_bytes(enum ptx_type t);
const char *ptx_special_name(enum ptx_special s);
/* Writes one instruction as text, for error messages and the source panel. */
void ptx_inst_format(const struct ptx_module *m, const struct ptx_func *f,
                     const struct ptx_inst *inst, char *out, size_t n);

/* cfg.c: fills blocks, successors, post-dominators, label operands. Called by ptx_parse(). */
struct ptx_label {
	char name[64];
	uint32_t inst; /* index of the instruction that follows */
};
bool ptx_build_cfg(struct ptx_func *f, const struct ptx_label *labels, unsigned n_labels,
                   struct err *err);

#endif

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

/* clang-format off: one row each */
/* X(ID, "name", bytes) : fundamental types, PTX ISA 5.2 */
#define PTX_TYPES(X)       \
	X(NONE, "", 0)         \
	X(B1, "b1", 1)         \
	X(U4, "u4", 1)         \
	X(S4, "s4", 1)         \
	X(B8, "b8", 1)         \
	X(B16, "b16", 2)       \
	X(B32, "b32", 4)       \
	X(B64, "b64", 8)       \
	X(B128, "b128", 16)    \
	X(U8, "u8", 1)         \
	X(U16, "u16", 2)       \
	X(U32, "u32", 4)       \
	X(U64, "u64", 8)       \
	X(S8, "s8", 1)         \
	X(S16, "s16", 2)       \
	X(S32, "s32", 4)       \
	X(S64, "s64", 8)       \
	X(F16, "f16", 2)       \
	X(F16X2, "f16x2", 4)   \
	X(BF16, "bf16", 2)     \
	X(BF16X2, "bf16x2", 4) \
	X(E4M3X2, "e4m3x2", 2) \
	X(E5M2X2, "e5m2x2", 2) \
	X(E4M3, "e4m3", 1)     \
	X(E5M2, "e5m2", 1)     \
	X(U16X2, "u16x2", 4)   \
	X(S16X2, "s16x2", 4)   \
	X(TF32, "tf32", 4)     \
	X(F32, "f32", 4)       \
	X(F32X2, "f32x2", 8)   \
	X(F64, "f64", 8)       \
	X(PRED, "pred", 1)
/* clang-format on */
enum ptx_type {
#define X(id, name, bytes) PTX_##id,
	PTX_TYPES(X)
#undef X
		PTX_TYPE_COUNT
};

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM };

/* Kind of work, a column of opcode.def: groups of opcodes that count alike. */
enum ptx_class {
	CLASS_INT,      /* integers only: bit fields, carries, dot products, ... */
	CLASS_SUM,      /* add, sub */
	CLASS_PRODUCT,  /* mul, mad, fma */
	CLASS_DIVISION, /* div, rem */
	CLASS_MINMAX,
	CLASS_SIGN,     /* abs, neg and what else looks at the bits of a number */
	CLASS_FUNCTION, /* rcp, sqrt, sin, ... */
	CLASS_COMPARE,
	CLASS_SELECT,
	CLASS_LOGIC,
	CLASS_COPY, /* mov, cvta */
	CLASS_CONVERT,
	CLASS_PERMUTE,
	CLASS_QUERY, /* isspacep */
	CLASS_MEM,
	CLASS_ATOMIC,
	CLASS_CONTROL,
	CLASS_BARRIER,
	CLASS_WARP,
	CLASS_TENSOR,
	CLASS_MISC,
	CLASS_COUNT
};
enum ptx_op {
#define OPCODE(id, ...) OP_##id,
#include "ptx/opcode.def"
	OP_COUNT
};

/* Comparison of setp, set, slct (ISA 9.3). LO LS HI HS are the unsigned forms; xxU accept NaN. */
enum ptx_cmp {
	CMP_NONE,
	CMP_EQ,
	CMP_NE,
	CMP_LT,
	CMP_LE,
	CMP_GT,
	CMP_GE,
	CMP_LO,
	CMP_LS,
	CMP_HI,
	CMP_HS,
	CMP_EQU,
	CMP_NEU,
	CMP_LTU,
	CMP_LEU,
	CMP_GTU,
	CMP_GEU,
	CMP_NUM,
	CMP_NAN
};
/* Boolean combined with a third source predicate: setp.lt.and etc. */
enum ptx_boolop { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
enum ptx_round {
	ROUND_NONE,
	ROUND_RN,
	ROUND_RZ,
	ROUND_RM,
	ROUND_RP,
	ROUND_RNI,
	ROUND_RZI,
	ROUND_RMI,
	ROUND_RPI,
	ROUND_RNA /* to nearest, ties away */
};
/* atom/red operation, redux operation. */
enum ptx_atom {
	ATOM_NONE,
	ATOM_ADD,
	ATOM_MIN,
	ATOM_MAX,
	ATOM_AND,
	ATOM_OR,
	ATOM_XOR,
	ATOM_INC,
	ATOM_DEC,
	ATOM_EXCH,
	ATOM_CAS,
	ATOM_POPC /* bar.red only */
};
/* shfl, vote and match modes; byte selection of prmt (none = by selector); tests of testp. */
enum ptx_mode {
	MODE_NONE,
	MODE_UP,
	MODE_DOWN,
	MODE_BFLY,
	MODE_IDX,
	MODE_ALL,
	MODE_ANY,
	MODE_UNI,
	MODE_BALLOT,
	MODE_F4E,
	MODE_B4E,
	MODE_RC8,
	MODE_ECL,
	MODE_ECR,
	MODE_RC16,
	MODE_FINITE,
	MODE_INFINITE,
	MODE_NUMBER,
	MODE_NOTANUMBER,
	MODE_NORMAL,
	MODE_SUBNORMAL,
	/* bounds of surfaces; channel of tld4; where the level of a texture comes from */
	MODE_TRAP,
	MODE_CLAMPED,
	MODE_ZERO,
	MODE_RED,
	MODE_GREEN,
	MODE_BLUE,
	MODE_ALPHA,
	MODE_BASE,
	MODE_LEVEL,
	MODE_GRAD,
	MODE_COMPLETE_TX, /* how a bulk copy tells that it is done */
	MODE_BULK_GROUP
};
/* Shape of a texture or surface; A: layered. */
enum ptx_geometry {
	GEOMETRY_NONE,
	GEOMETRY_1D,
	GEOMETRY_2D,
	GEOMETRY_3D,
	GEOMETRY_A1D,
	GEOMETRY_A2D,
	GEOMETRY_CUBE,
	GEOMETRY_ACUBE
};
/* Memory ordering of ld, st, atom, red, fence, mbarrier (ISA 8); none = weak. */
enum ptx_sem { SEM_NONE, SEM_WEAK, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL, SEM_SC };
enum ptx_scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };
/* Cache operator as written; none = the default of the instruction. */
enum ptx_cache { CACHE_NONE, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_LU, CACHE_CV, CACHE_WB, CACHE_WT };

enum ptx_flag {
	PF_SAT = 1 << 0,
	PF_FTZ = 1 << 1,
	PF_LO = 1 << 2,
	PF_HI = 1 << 3,
	PF_WIDE = 1 << 4,
	PF_CC = 1 << 5,
	PF_APPROX = 1 << 6,
	PF_FULL = 1 << 7,
	PF_UNI = 1 << 8,
	PF_SYNC = 1 << 9,
	PF_VOLATILE = 1 << 10,
	PF_NC = 1 << 11,
	PF_TO = 1 << 12 /* cvta.to */,
	PF_WRAP = 1 << 13 /* shf.wrap; clear = clamp */,
	PF_LEFT = 1 << 14 /* shf.l */,
	PF_NAN = 1 << 15 /* min.NaN */,
	PF_ARRIVE = 1 << 16 /* bar.arrive */,
	PF_RED = 1 << 17 /* bar.red */,
	PF_ALIGNED = 1 << 18 /* .aligned */,
	PF_SHIFTAMT = 1 << 19 /* bfind.shiftamt */,
	PF_PARITY = 1 << 20 /* mbarrier waits */,
	PF_TRANS = 1 << 21 /* ldmatrix.trans */,
	PF_READ = PF_TRANS /* cp.async.bulk.wait_group.read */,
	PF_XORSIGN = 1 << 22 /* min.xorsign.abs */,
	PF_ABS = PF_PARITY /* min.abs, redux.abs */,
	PF_RELU = 1 << 23 /* fma.relu, cvt.relu */,
	PF_NOFTZ = 1 << 24 /* atom.add.noftz */,
	PF_CLAMP = 1 << 25 /* shf, szext, bmsk .clamp */,
	PF_SATFINITE = 1 << 26 /* mma, cvt */,
	PF_CLUSTER = 1 << 27 /* .shared::cluster, of the first space */,
	PF_POLICY = 1 << 28 /* .L2::cache_hint: a cache policy is the last operand */,
	PF_MULTICAST = 1 << 29 /* cp.async.bulk.multicast::cluster */,
	PF_NOINC = 1 << 30 /* cp.async.mbarrier.arrive.noinc */,
};

enum ptx_special {
#define SPECIAL(id, name) SR_##id,
#include "ptx/special.def"
	SR_COUNT
};

enum ptx_operand_kind {
	OPND_NONE,    /* absent, or the sink "_" */
	OPND_REG,     /* reg: index into func->regs */
	OPND_INT,     /* i64 (also bit pattern of 0f/0d literals when the type is .b32/.b64) */
	OPND_FLOAT,   /* f64; 0fXXXXXXXX literals are widened exactly, bits kept in i64 */
	OPND_SPECIAL, /* special */
	OPND_SYMBOL,  /* address of a variable (symbol) plus offset: mov.u32 %r, sym+4 */
	OPND_ADDR,    /* [reg+offset], [symbol+offset] or [offset]: kind of base in addr_base */
	OPND_VEC,     /* {r0, r1, ...}: vec[0..n_vec) register indexes, -1 = "_", or 0 as a source */
	OPND_LABEL,   /* label: index into the labels until ptx_build_cfg(), then a block index */
	OPND_FUNC,    /* symbol: index into ptx_module.funcs (call target, address of a function) */
	OPND_LIST,    /* i64 entries from func->lists[reg]: arguments of call, symbols as in SYMBOL;
	                 targets of brx.idx, labels as in LABEL; registers: D of wgmma */
};
enum ptx_addr_base { ADDR_REG, ADDR_SYMBOL, ADDR_ABSOLUTE };

struct ptx_operand {
	enum ptx_operand_kind kind;
	enum ptx_addr_base addr_base;
	bool negated; /* "!%p1" as a source predicate */
	uint8_t n_vec;
	int32_t reg;    /* REG, or base of ADDR_REG */
	int32_t symbol; /* index into ptx_module.vars; params of the function: -1 - param index */
	enum ptx_special special;
	int32_t label; /* block index */
	int32_t vec[8];
	int64_t i64; /* INT value, float bits (as wide as the operand), offset of SYMBOL/ADDR */
	double f64;
};

/* Part of a register that a video instruction takes, in i64 of a REG: a byte, a half, 0 = all. */
enum video_part { PART_ALL, PART_BYTE, PART_HALF = PART_BYTE + 4 };

#define PTX_MAX_OPERANDS 7
enum ptx_list { LIST_SYMBOLS, LIST_BLOCKS, LIST_REGISTERS }; /* label of an OPND_LIST */

/* Shape and types of ldmatrix, stmatrix, mma and wmma; all zero otherwise. */
struct ptx_mma {
	uint16_t m, n, k;       /* k: also the dimensions of a tensor copy */
	uint8_t count;          /* ldmatrix .x1 .x2 .x4 */
	char frag;              /* wmma.load/store: 'a' 'b' 'c' 'd' */
	bool a_col, b_col;      /* layouts; wmma.load/store use a_col for their only one */
	enum ptx_type types[4]; /* of d, a, b, c; wmma.mma on f16 inputs writes d and c only */
};

/*
 * opnd[0] is the destination where the opcode has one (setp: opnd[0] = p, opnd[1] = second
 * destination q or NONE, then sources; shfl/vote/atom keep the ISA's written order; a store has
 * opnd[0] = address, opnd[1] = source). Operand order per opcode is documented in opcode.def.
 */
struct ptx_inst {
	enum ptx_op op;
	enum ptx_type type, type2;    /* type2: source type of cvt and set; see opcode.def */
	enum ptx_space space, space2; /* space2: of the source of a bulk copy */
	enum ptx_cmp cmp;
	enum ptx_boolop boolop;
	enum ptx_round round;
	enum ptx_atom atom;
	enum ptx_mode mode;
	enum ptx_sem sem;
	enum ptx_scope scope;
	enum ptx_cache cache;
	enum ptx_geometry geometry;
	struct ptx_mma mma;
	uint32_t flags;  /* enum ptx_flag */
	uint8_t vec;     /* 1, 2, 4, 8: ld/st.vN */
	uint8_t n_opnds; /* up to the last operand that is there; a NONE may lie between */
	int32_t guard;   /* predicate register or -1 */
	bool guard_negated;
	bool made;     /* stands in no text: added for a call; counts nothing */
	bool wide;     /* atom.b128: one value, in two registers */
	bool nounroll; /* .pragma "nounroll" stands before it: the loop that begins here stays */
	struct ptx_operand opnd[PTX_MAX_OPERANDS];
	uint32_t line;      /* source line from .loc (of func.file, inlined: outermost), 0 = none */
	uint32_t leaf_line; /* innermost line of func.file: inside an inlined helper of the same file */
	uint32_t ptx_line;  /* line of the PTX text */
	char text[64];      /* full mnemonic: "ld.global.v4.f32" (cut at 63) */
};

struct ptx_reg {
	char name[24];
	enum ptx_type type;
};

/* A basic block: instructions [first, last] inclusive of the function. */
struct ptx_block {
	uint32_t first, last;
	int32_t succ[2];  /* -1 = none; succ[0] = taken branch target or the only successor,
	                     succ[1] = fall-through of a guarded branch; of brx.idx see its LIST */
	int32_t ipdom;    /* immediate post-dominator, -1 = the function's exit */
	int32_t reconv;   /* the same with edges to the exit, or to a block that only leaves,
	                     ignored where another way goes on: where the hardware reconverges,
	                     since lanes that have left need not be waited for. -1 = nowhere */
	bool leaves_only; /* one unguarded ret, exit or trap and nothing else */
	bool has_barrier; /* contains a block-wide barrier */
};

struct ptx_param {
	char *name;
	enum ptx_type type;
	uint32_t size, align, offset; /* bytes; offset in the parameter area */
	bool is_return;
	bool in_register; /* its name is a register of the function, copied from it or to it */
};

/* A module- or function-scope variable (.global .const .shared .local). */
struct ptx_var {
	char *name;
	enum ptx_space space;
	enum ptx_type type;
	uint32_t align;
	uint64_t size; /* bytes; 0 = extern .shared x[] (dynamic) */
	bool is_extern;
	int32_t func;      /* index of the owning function, -1 = module scope */
	uint64_t offset;   /* in its space. Shared: laid out per entry, statics first, the dynamic
	                      array after all of them; a module-scope variable that two entries
	                      place differently has one ptx_var for each of them */
	void *init;        /* size bytes; NULL = zero */
	unsigned n_relocs; /* addresses in the initialiser; their bytes in init are zero */
	struct ptx_reloc *relocs;
};

/* "= generic(sym)+4": the 4- or 8-byte address of @symbol plus @addend at @offset; "= 0xff00(sym)":
 * one byte of it. */
struct ptx_reloc {
	uint64_t offset;
	int32_t symbol;       /* index into vars, or of funcs if is_func */
	uint8_t bytes, shift; /* shift: bits of the address below those that are taken */
	bool is_func, generic;
	int64_t addend;
};

/* What the parser does not know: the function is there, but must not run. */
struct ptx_refusal {
	uint32_t ptx_line, column; /* of the PTX text */
	uint32_t line;             /* of the source, 0 = unknown */
	char *what;                /* mnemonic or directive */
	char *why, *remedy;        /* "" = nothing to do */
	bool of_head;              /* a directive on the function, not an instruction */
};

struct ptx_func {
	char *name;
	uint32_t alias_of;         /* .alias: number of the function it stands for + 1; 0 = none */
	bool is_entry, has_body;   /* no body: .extern, or only a prototype; cannot be executed */
	unsigned n_params, n_rets; /* params[n_params ..] are the n_rets return values of a .func */
	unsigned n_regs, n_insts, n_blocks;
	struct ptx_param *params;
	struct ptx_reg *regs;
	struct ptx_inst *insts;
	struct ptx_block *blocks;
	uint32_t param_bytes, static_shared_bytes, local_bytes;
	uint32_t call_param_bytes;      /* .param variables of call sequences, at their vars' offsets */
	uint32_t dynamic_shared_offset; /* where extern .shared arrays of this entry begin */
	uint32_t file;       /* index of .file that its instructions' lines are of: an entry's
	                      * own, else 1; 0 = no lines */
	uint32_t maxntid[3]; /* .maxntid or .reqntid, 0 = not given */
	uint32_t minnctapersm, maxnreg; /* 0 = not given */
	uint32_t cluster[3];            /* .reqnctapercluster: blocks; 0 = not given */
	bool explicit_cluster;          /* .explicitcluster */
	unsigned n_lists;
	int32_t *lists; /* see OPND_LIST */
	unsigned n_refusals;
	struct ptx_refusal *refusals; /* of its head, and of each OP_REFUSED: opnd[0].i64 */
};

struct ptx_module {
	int version_major, version_minor;
	char target[16];
	unsigned n_funcs, n_vars, n_files;
	struct ptx_func *funcs;
	struct ptx_var *vars;
	char **files;                       /* of .file, index 1.. at [0]..; may hold NULL */
	uint64_t global_bytes, const_bytes; /* of the module's .global and .const variables */
	bool reserved_shared; /* code asks where the shared memory is that the system reserves */
	bool debug;           /* .target sm_XY, debug: it is assembled as it is written */
};

/* Parses a NUL-terminated module and builds the control-flow graph of every function.
 * ERR_PARSE "name:line:column: ..." with the line and a caret. What is only unknown (opcodes,
 * modifiers, directives in a function) is no error of the module: it stands in the function's
 * refusals, and an OP_REFUSED in its place. */
bool ptx_parse(const char *text, const char *name, struct ptx_module *out, struct err *err);
void ptx_free(struct ptx_module *m);
const struct ptx_func *ptx_entry(const struct ptx_module *m, const char *name);
/* Can @f of @m come to a function without a body whose name is @wanted? (ptx_calls.c) */
bool ptx_func_calls(const struct ptx_module *m, const struct ptx_func *f,
                    bool (*wanted)(const char *name));

const char *ptx_op_name(enum ptx_op op);
const char *ptx_op_section(enum ptx_op op); /* of the PTX ISA: "9.7.9" */
enum ptx_class ptx_op_class(enum ptx_op op);
/* Floating-point operations that one lane does, if the type is a floating-point one. */
unsigned ptx_op_flops(enum ptx_op op);
const char *ptx_type_name(enum ptx_type t);
unsigned ptx_type_bytes(enum ptx_type t);
const char *ptx_special_name(enum ptx_special s);
/* "_Z4axpyPfi" as "axpy"; of a long name what stands before its template arguments, without
 * namespaces; others as they are, so that they can be told apart. @len characters. */
const char *ptx_short_name(const char *name, size_t *len);
/* Writes one instruction as text, for error messages and the source panel. */
void ptx_inst_format(const struct ptx_module *m, const struct ptx_func *f,
                     const struct ptx_inst *inst, char *out, size_t n);

/* cfg.c: fills blocks, successors, post-dominators; turns label operands from indexes of @labels
 * into block indexes. Called by ptx_parse(). */
struct ptx_label {
	uint32_t inst; /* index of the instruction that follows; n_insts = end of the function */
};
bool ptx_build_cfg(struct ptx_func *f, const struct ptx_label *labels, unsigned n_labels,
                   struct err *err);

#endif

/*
 * Room ir. Sees: lane.
 *
 * The emulator's intermediate form: one launch's entry as simple operations on registers.
 *
 * Room lower makes it with parameters and launch dimensions folded in; analysis studies it; codegen
 * turns it into micro-operations. Registers are those of the code, PTX or machine code, followed by
 * temporaries. Predicates are 32-bit masks, one bit per lane.
 */
#ifndef PMPP_EMU_IR_H
#define PMPP_EMU_IR_H

#include "emu/ir/bits.h"
#include "emu/lane/lane.h"

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
	X_ASYNC, /* cp.async: copies at once; op: enum copy_form (lane/copy_form.h) */
	X_BRA,
	X_BRX,    /* machine code, op: the last way leads on, for lanes whose guard does not hold */
	X_CALL,   /* of block target, or of the function whose address is s[0]; comes back to succ[0] */
	X_RET,    /* ends the call */
	X_TENSOR, /* d = a product of matrices, tensors[target] */
	X_SYSTEM, /* d = a call of the system, enum system_call; sources of 8 bytes */
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
	X_TEXTURE,  /* tex, tld4, suld, sust: s[0] handle, coordinates, data; op is the opcode */
	X_WARPSYNC, /* __syncwarp: orders memory among the lanes, for the checks */
	X_COPIES,   /* asynchronous copies: op COPIES_COMMIT, or waits for them; for the checks */
	X_FENCE,    /* orders the lane's own accesses of memory, for the checks */
	/* Of machine code, where lanes that went apart meet again at a barrier of the warp (op): */
	X_MEET_BEGIN, /* these lanes will meet at barrier op */
	X_MEET_WAIT,  /* wait for them; ends its block */
	X_MEET_BREAK, /* these lanes will not come after all */
	X_MEET_GET,   /* d = the lanes that meet at barrier op */
	X_MEET_SET,   /* those are s0 */
	X_MEET_WARP,  /* wait for the lanes of mask s0; ends its block. op: enum meet_warp */
	X_LEAVE,      /* X_EXIT where parts of the warp wait in that way */
	X_NOP /* hints: counted, without effect; op NOP_RESTS: but that others have their turn, s[0] ns
	       */
};

/* X_NOP */
enum nop_op { NOP_HINT, NOP_RESTS, NOP_ENDS };

/* X_MEET_WARP: wait; only the lanes of one mask go on together; before a collective part of the
 * code (up to NOP_ENDS), in which lanes that came to it at several places exchange as if they were
 * at one, or do nothing; one that all have to come to at one place; others have their turn, nobody
 * waits. */
enum meet_warp {
	MEET_PLAIN,
	MEET_EXCLUSIVE,
	MEET_COLLECTIVE,
	MEET_GATHERED,
	MEET_ONE_PLACE,
	MEET_YIELD
};

/* X_COPIES: their group is complete; wait for all groups but the last s0; for all copies. The same
 * of bulk copies, or until their sources have been read; a fence between stores and bulk copies. */
enum copies_op {
	COPIES_COMMIT,
	COPIES_WAIT,
	COPIES_WAIT_ALL,
	COPIES_BULK_COMMIT,
	COPIES_BULK_WAIT,
	COPIES_BULK_WAIT_READ,
	COPIES_FENCE
};

/* What device code asks of the system. */
enum system_call {
	SYSTEM_PRINT,
	SYSTEM_ASSERT,
	SYSTEM_MALLOC,
	SYSTEM_FREE,
	/* not the system's, but likewise lane by lane: barriers in shared memory */
	SYSTEM_MBARRIER_INIT,   /* offset, count */
	SYSTEM_MBARRIER_ARRIVE, /* offset, count, 1 = also leave, bytes to wait for: the state before */
	SYSTEM_MBARRIER_BYTES,  /* offset, bytes that are awaited in addition, may be negative */
	SYSTEM_MBARRIER_COUNT,  /* offset, of one in the form of cards before sm_90: the word before */
	SYSTEM_MBARRIER_PENDING, /* state: arrivals that it awaited */
	SYSTEM_MBARRIER_STATE,   /* offset, state: has its phase ended? */
	SYSTEM_MBARRIER_PARITY,  /* offset, parity: has the phase of that parity ended? */
	/* bulk copies, see vm/bulk.c: shared offset, address, bytes, barrier, blocks, enum bulk_how */
	SYSTEM_BULK_LOAD,
	SYSTEM_BULK_STORE,
	SYSTEM_BULK_REDUCE,
	SYSTEM_BULK_SHARED, /* from the second offset to the first one, maybe of another block */
	/* the same of a box of a tensor: shared offset, map, barrier, blocks, how, coordinates */
	SYSTEM_TENSOR_LOAD,
	SYSTEM_TENSOR_STORE,
	SYSTEM_TENSOR_REDUCE,
	SYSTEM_REMOTE_STORE, /* st.async, red.async: offset, barrier, how, values */
	SYSTEM_MATRIX,       /* two registers of a fragment: descriptor, struct matrix_place */
	/* what the whole warp does */
	SYSTEM_WARP,
	SYSTEM_CLUSTER_ARRIVE = SYSTEM_WARP,
	SYSTEM_CLUSTER_WAIT,
	SYSTEM_GROUP_COMMIT, /* wgmma.commit_group */
	SYSTEM_GROUP_WAIT,   /* until all but so many groups are done by all four warps */
						 /* the device's runtime */
#define X(id, name) SYSTEM_RUNTIME_##id,
#include "emu/ir/device_calls.def"
#undef X
	SYSTEM_CALLS,
	SYSTEM_RUNTIME = SYSTEM_GROUP_WAIT + 1
};
#define SYSTEM_ARGS 10
/* Which call of the device's runtime a function of that name is: -1 = none, SYSTEM_CALLS = one that
 * is not emulated. */
int system_runtime_call(const char *name);

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
	bool first;  /* first operation of its instruction */
	bool counts; /* its guard is the instruction's: lanes are counted here */
	uint8_t n_d, n_s;
	int32_t d[X_MAX_VEC]; /* -1 = sink */
	struct xsrc s[X_MAX_VEC + 2];
	int32_t guard; /* predicate register, -1 = none */
	bool guard_neg;
	uint32_t pc;    /* index of the instruction in ir.insts */
	int32_t target; /* BRA: block; BRX: first index in func->lists, count in n_targets */
	uint32_t n_targets;
	/* LD ST ATOM RED: s[0] is the address, stores have their data in s[1..] */
	enum ptx_space space;
	enum ptx_type type;         /* of the data: width, sign; of ATOM the arithmetic */
	enum ptx_type type2;        /* TEXTURE: of the coordinates */
	enum ptx_mode mode;         /* TEXTURE: bounds of surfaces, channel of tld4 */
	enum ptx_geometry geometry; /* TEXTURE */
	uint8_t bytes, vec;
	int64_t offset;
	int32_t mem;       /* number of this memory instruction, -1 = not memory */
	bool saves;        /* CALL: may come back to this function, whose registers must be kept */
	uint32_t caller;   /* CALL: this function, as a part of struct linked */
	bool bypass_l1;    /* .cg .cv, volatile, relaxed and stronger */
	bool strong;       /* LD, ST: volatile (without sem), relaxed and stronger */
	bool to_l2;        /* ST: .cg .wt */
	bool hands_on;     /* LD, ST: weak, but GPUs do it as a volatile one (asking.c) */
	bool same_request; /* LD, ST, ATOM, RED: of the memory instruction in front, counted there */
	uint8_t request_bytes; /* ATOM, RED: of a lane's whole vector, in its first word; 0 = bytes */
	bool matrix;           /* LD, ST: rows of matrices (ldmatrix, stmatrix) */
	bool polls;            /* LD ATOM: may ask one place again and again, in a loop */
	bool looks;            /* LD: polls memory that another block may write */
	bool waits;            /* LD ATOM: a loop waits until it finds what it wants there */
	bool retries;       /* ATOM, a compare-and-swap: in a loop, with what it found there before */
	bool waits_plain;   /* LD, not volatile: what a loop that only asks may wait for */
	bool decides;       /* LD ATOM: its value reaches a predicate, an address or a swap */
	bool unread;        /* ATOM: nobody reads the old value */
	bool blind;         /* the same of an exchange, which does not need it either */
	bool precedes_swap; /* LD: of the address of a compare-and-swap: what that expects, likely */
	enum ptx_sem sem;
	enum ptx_scope scope; /* of strong accesses and FENCE */
};

struct xreg {
	uint8_t bytes; /* 0 predicate, 4, 8 */
	bool fixed;    /* of a called function: always 32 values, in a slot of its own */
	bool passes;   /* fixed, and carries arguments or results between functions */
};

struct xblock {
	uint32_t first, end; /* xops [first, end) */
	int32_t succ[2];
	const int32_t *targets; /* of a final BRX: block indexes */
	uint32_t n_targets;
	bool returns;   /* ends a function whose code lies here, too: the block in front of each target
	                 * calls it */
	int32_t reconv; /* where the sides of its branch meet again; -1 = nowhere */
	bool asks;      /* lies in a loop that only asks memory whether it has changed */
	bool may_wait;  /* lies in a loop with a load, or an atomic that only asks, that polls */
};
/* The block that @b may lead to, the @i-th of 2 + n_targets; < 0: none. */
static inline int32_t xblock_successor(const struct xblock *b, uint32_t i)
{
	return i < 2 ? b->succ[i] : b->targets[i - 2];
}

/* The pipes that counters tell apart. */
enum ir_pipe { PIPE_NONE, PIPE_FP32, PIPE_FP64, PIPE_INT, PIPE_SFU };

/* One instruction of the code: what counters and messages need to know of it. */
struct ir_inst {
	const char *text; /* "ld.global.f32", in the module it comes from */
	uint32_t line;    /* of the source file; 0 = unknown */
	uint32_t listing; /* line of the PTX, or offset in the machine code */
	enum ir_pipe pipe;
	uint8_t mix_class, mix_pipe;    /* machine code: enum code_class and code_pipe */
	uint8_t flop16, flop32, flop64; /* of one lane */
	bool half_move;                 /* machine code: HFMA2 that only moves a constant */
	bool sleeps;                    /* machine code: NANOSLEEP */
	/* Machine code: source registers, those kept by the instruction before, cycles for a bank. */
	uint8_t reg_reads, reg_kept, reg_conflicts;
};

enum tensor_kind {
	TENSOR_DENSE,
	TENSOR_SPARSE, /* A holds every second element; the register first_e says which they are */
	TENSOR_XOR,    /* of bits: how many differ, how many both have */
	TENSOR_AND,
	TENSOR_QUADS, /* m8n8k4: four products, one of each pair of quads */
};
/* D = A B + C of a warp; fragments as in lower_tensor.c, A, B and C in registers in a row. */
struct ir_tensor {
	enum tensor_kind kind;
	uint8_t m, n;
	uint16_t k;
	bool saturate;     /* integers: at the ends of the range */
	bool a_col, b_col; /* TENSOR_QUADS: layouts */
	uint8_t selector;  /* TENSOR_SPARSE: which lanes of a quad say it */
	enum ptx_type d, a, b, c;
	int32_t first_a, first_b, first_c, first_e;
	uint8_t n_a, n_b, n_c; /* registers of each */
};

/* What machine code has for a sum or a product of the PTX. */
enum { FUSION_UNKNOWN, FUSION_NO, FUSION_YES, FUSION_MIXED }; /* MIXED: both, in copies */
enum { FUSION_LINES = 8 };
struct fusion_source {           /* of a fused sum */
	uint32_t line[FUSION_LINES]; /* of the PTX, that it may come from; 0 behind the last one */
	bool number;                 /* it may be one, or a parameter */
};
struct fusion {
	uint32_t line;      /* of the PTX */
	uint8_t sum;        /* FUSION_...: with a product */
	bool product_there; /* a product stands there by itself */
	bool half;          /* of 16 bits */
	/* of a fused sum */
	bool square; /* both factors are one register */
	struct fusion_source factor[2], addend;
};

struct ir {
	const struct ptx_module *module; /* PTX; NULL: made of machine code, whose warps split into */
	const struct ptx_func *func;     /* parts that X_MEET_WAIT brings together again */
	int cc; /* of the card that PTX is assembled for: 10 * major + minor; 0 = any */
	unsigned n_insts;
	struct ir_inst *insts;
	unsigned n_ops, cap_ops, n_regs, cap_regs, n_blocks, n_mem;
	struct xop *ops;
	struct xreg *regs;
	struct xblock *blocks;
	int32_t **own_targets; /* lists that blocks point to, where no module holds them */
	unsigned n_own_targets;
	int32_t *only_def; /* by register: the one operation that writes it, -1 = none or more */
	unsigned n_tensors;
	struct ir_tensor *tensors;
	bool waits;             /* has a loop that may wait for what other blocks write */
	bool speaks;            /* to the host while it runs: volatile stores, system scope */
	uint16_t kept_barriers; /* of the warp, that are kept in registers (X_MEET_SET), a bit each */
	/* of a kernel that calls functions */
	struct linked *linked; /* what func is then */
	int32_t *callee;       /* by function of the module: its block, -1 = cannot be called */
	unsigned n_callees;
	uint32_t local_bytes;      /* of a thread, without frames */
	uint32_t call_depth;       /* calls that may be open at once; 0 = no calls */
	uint32_t call_stack_bytes; /* of local memory, behind local_bytes: frames */
	struct fusion *fusions; /* by line of the PTX, in order; NULL = its machine code is not known */
	unsigned n_fusions;
};

/* Does it give a NaN its bits (analysis/nan_bits.c)? No machine does anything for that. */
static inline bool xop_settles_nan(const struct xop *x)
{
	return x->kind == X_OP && x->op == E_nan_f32;
}
/* The operation that its instruction is counted at: operation @o, or NaN that are settled before
 * it. */
static inline uint32_t ir_counted_at(const struct ir *ir, uint32_t o)
{
	uint32_t at = o;
	while (!ir->ops[at].first && at && xop_settles_nan(&ir->ops[at - 1]))
		at--;
	return ir->ops[at].first ? at : o;
}

/* Addresses of functions: no memory lies there. Their lower words are places in constant bank 2 of
 * machine code, behind all that a cubin may have there (machine_banks.c). */
#define FUNCTION_PLACES ((uint64_t)1 << 16)
#define FUNCTION_WINDOW (((uint64_t)3 << 56) + FUNCTION_PLACES)
#define FUNCTION_STEP 16
static inline uint64_t function_address(int32_t index)
{
	return FUNCTION_WINDOW + FUNCTION_STEP * ((uint64_t)index + 1);
}

/*
 * How a bulk copy goes, in one word: a reduction's operation and type (ATOM_NONE: a copy), whether
 * it goes to several blocks of the cluster.
 */
#define BULK_OP(atom, type) ((uint64_t)(atom) | (uint64_t)(type) << 8)
#define BULK_MULTICAST ((uint64_t)1 << 16)
static inline enum ptx_atom bulk_atom(uint64_t how)
{
	return (enum ptx_atom)(how & 0xff);
}
static inline enum ptx_type bulk_type(uint64_t how)
{
	return (enum ptx_type)(how >> 8 & 0xff);
}

/* Which two registers of a fragment are read from a matrix in shared memory. */
struct matrix_place {
	uint8_t row, k;        /* first line, first byte of K */
	bool of_a;             /* rows g and g + 8 of the warp's 16; else of B: both halves of K */
	bool across;           /* lines do not run along K */
	enum ptx_type floats8; /* E4M3, E5M2: two of each four become float16, PTX_NONE: no such */
	bool second;           /* ... the second two */
};
static inline uint64_t matrix_pack(const struct matrix_place *m)
{
	return m->row | (uint64_t)m->k << 8 | (uint64_t)m->floats8 << 16 | (uint64_t)m->of_a << 24 |
	       (uint64_t)m->across << 25 | (uint64_t)m->second << 26;
}
static inline struct matrix_place matrix_unpack(uint64_t v)
{
	return (struct matrix_place){
		.row = (uint8_t)v,
		.k = (uint8_t)(v >> 8),
		.floats8 = (enum ptx_type)(v >> 16 & 0xff),
		.of_a = v >> 24 & 1,
		.across = v >> 25 & 1,
		.second = v >> 26 & 1,
	};
}

/*
 * Shared memory of other blocks of the cluster: 1 + the block's rank stands above CLUSTER_SHIFT;
 * 0 is the block's own. Hardware has the rank itself there, in its own addresses, too, which code
 * gets from mapa and does not build by itself.
 */
#define CLUSTER_SHIFT 24
#define CLUSTER_OFFSET (((uint64_t)1 << CLUSTER_SHIFT) - 1)
#define CLUSTER_MOST 16 /* blocks */

/* Generic addresses of shared and local memory lie in windows that no buffer reaches. */
#define SHARED_WINDOW ((uint64_t)1 << 56)
#define LOCAL_WINDOW ((uint64_t)2 << 56)
#define WINDOW_SIZE ((uint64_t)1 << 32)

static inline bool ir_of_machine_code(const struct ir *ir)
{
	return !ir->func;
}
/* Fills ir->only_def, when all operations are there. */
void ir_find_only_defs(struct ir *ir);
/* Marks the loads that poll (polls.c) and the blocks that may wait, by what decides and what loops
 * only ask, and fills ir->waits and ir->speaks. */
void ir_find_polls(struct ir *ir);
/* Is it an atomic that leaves memory as it is, unless it gets what a loop waits for? */
bool xop_asks_only(const struct xop *x);
/* Machine code: may a load see what others, or other lanes, have just written? */
static inline bool xop_looks_afresh(const struct xop *x)
{
	return x->bypass_l1 || x->scope == SCOPE_CTA;
}
/*
 * Which registers hold something made of what some operations find, place by place (made_of.c). The
 * operations are those for which @source() is true; only those for which @runs() is true are gone
 * through. Free with made_of_free().
 */
typedef bool op_test(const void *context, uint32_t op);
struct made_of {
	const struct ir *ir;
	op_test *runs, *source;
	const void *context;
	size_t words;
	bool *calls;          /* by block: it ends with a call of a function within this code */
	uint64_t *written;    /* by any of these functions */
	uint64_t *before;     /* by block: what is found in front of it */
	uint64_t *everywhere; /* what is passed to other functions and back */
	bool in_shared;       /* some of it was stored in shared memory */
};
struct made_of made_of(const struct ir *ir, op_test *runs, op_test *source, const void *context);
void made_of_free(struct made_of *m);
/* Fills @found, of m->words: in front of block @b. */
void made_of_before(const struct made_of *m, uint32_t b, uint64_t *found);
/* Takes @found from in front of operation @o to behind it. */
void made_of_step(struct made_of *m, uint32_t o, uint64_t *found);
/* Does @x read one of them, or is it guarded by one? */
bool made_of_read(const struct xop *x, const uint64_t *found);
/* Marks the loads and atomics whose value decides something. */
void ir_find_deciding(struct ir *ir);
/* Marks the blocks of loops that change nothing and wait for memory to change (asking.c), and the
 * plain loads that they wait by, by what decides. */
void ir_find_asking(struct ir *ir);
/* Those that an operation reads, or that pass values between functions; the caller's. */
bool *ir_read_registers(const struct ir *ir);
/* Is a value that @x makes among them? */
bool xop_is_read(const struct xop *x, const bool *read);
/* Marks atomics whose old value nobody reads. */
void ir_find_blind(struct ir *ir);
/* Loads that look at a word of global memory before a compare-and-swap of the same address. */
void ir_find_swaps(struct ir *ir);
/* That of a line; NULL = none is known. */
struct fusion *fusion_at(const struct ir *ir, uint32_t ptx_line);
int fusion_by_line(const void *a, const void *b);
void ir_free(struct ir *ir);

#endif

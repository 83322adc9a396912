/*
 * Shared by the files that lower machine code (SASS): one instruction to simple operations.
 *
 * An instruction may need several operations. Those that prepare something (sl_op...) have no
 * guard, because what they write is a temporary of this instruction alone; those that write its
 * results (sl_set...) have the instruction's guard.
 */
#ifndef PMPP_EMU_SASS_LOWER_H
#define PMPP_EMU_SASS_LOWER_H

#include "emu/lower/build.h"
#include "sass/sass.h"

/* Where an architecture keeps what a launch makes constant. */
struct sass_arch {
	unsigned sm;
	/* offsets in constant bank 0: dimensions, end of the stack, windows of shared and local memory,
	 * workspace of cooperative launches (upper word, then lower one); 0 = not there, but for the
	 * block's dimensions */
	unsigned block, grid, stack, shared, local, workspace;
	unsigned shared_base; /* address at which a block's shared memory begins */
	/* descriptors of memory, 8 bytes, whose value nobody asks for; of clusters: whether the launch
	 * names their size, their blocks (x, y, z), 1 / those, clusters (x, y, z), all blocks of one;
	 * address of the parameters; before sm_90 of the bank that they are in */
	unsigned descriptor, named, cluster, inverse, clusters, rank_end, area, bank;
	/* bytes of shared memory that the launch asked for; multiprocessors; bytes of shared memory
	 * that the system has of each block, and the address of those that tiles of several warps use;
	 * number of the launch */
	unsigned dynamic, sms, reserved, tiles, number;
	unsigned constants; /* address of the module's constants (bank 3); 0 = it has none */
};
enum { SASS_RESERVED_SHARED = 1024 };

/* Two registers of 32 bits and the register of 64 bits that holds the same, in lanes where the
 * guard holds (-1 = in all). */
struct sass_pair {
	int32_t low, high, value, guard;
	bool guard_neg;
};
/* The upper word of this sum is what @upper asks for; the lower one went to @low. */
struct sass_carried {
	const struct sass_inst *upper;
	int32_t value, low;
};
enum { SASS_MAX_PAIRS = 48, SASS_MAX_CARRIED = 16 };

struct sass_lower {
	struct lower l;
	const struct sass_module *m;
	const struct sass_func *f;
	const struct sass_inst *i;
	const struct sass_arch *arch;
	const struct lower_env *env;
	int32_t guard; /* of the instruction; -1 = none */
	bool guard_neg;
	bool never; /* its guard never holds */
	/* registers of the intermediate form, -1 = not used so far */
	int32_t reg[SASS_RZ], ureg[SASS_RZ], pred[SASS_PT], upred[SASS_PT];
	int32_t rpc[2]; /* Rpc.LO, Rpc.HI */
	unsigned n_pairs;
	struct sass_pair pairs[SASS_MAX_PAIRS];
	unsigned n_carried;
	struct sass_carried carried[SASS_MAX_CARRIED];
	const int32_t *block_of; /* instruction -> block that it begins; else -1 */
	enum ptx_atom reduction; /* of the last BAR.RED */
};

bool sl_refuse(struct sass_lower *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline bool sl_has(const struct sass_lower *s, enum sass_mod mod)
{
	return sass_has(s->i, mod);
}

/* --- operands (lower_sass_operand.c) --- */

/* Destination or source @n; a source counts from the first one. NULL = there are not so many. */
const struct sass_operand *sl_dst_operand(const struct sass_lower *s, unsigned n);
const struct sass_operand *sl_src_operand(const struct sass_lower *s, unsigned n);
/* The register of the intermediate form; -1 = reads as zero and forgets. */
int32_t sl_reg(struct sass_lower *s, uint8_t kind, unsigned number);
/* Word @word of the destination register; -1 = none or RZ. */
int32_t sl_dst(struct sass_lower *s, unsigned word);
/* Destination predicate @n, from 0; -1 = none or PT. */
int32_t sl_dst_pred(struct sass_lower *s, unsigned n);
/* Source @n as 32 bits: as it stands; with the signs of an integer, float32. */
struct xsrc sl_bits(struct sass_lower *s, unsigned n);
struct xsrc sl_int(struct sass_lower *s, unsigned n);
struct xsrc sl_f32(struct sass_lower *s, unsigned n);
/* As 64 bits: two registers, or extended (@sign: with the sign); the same with float64's signs. */
struct xsrc sl_wide(struct sass_lower *s, unsigned n, bool sign);
struct xsrc sl_f64(struct sass_lower *s, unsigned n);
/* Source predicate @n, counted among predicates behind the destinations; none: @if_none. */
struct xsrc sl_pred(struct sass_lower *s, unsigned n, bool if_none);
unsigned sl_n_preds(const struct sass_lower *s);
struct xsrc sl_pred_operand(struct sass_lower *s, const struct sass_operand *o);
/* Two registers in a row as one of 64 bits. */
struct xsrc sl_pair(struct sass_lower *s, uint8_t kind, unsigned number);

/* An operand as 32 bits, without its signs; two words as one value; and that they are one. */
struct xsrc sl_operand(struct sass_lower *s, const struct sass_operand *o);
struct xsrc sl_joined(struct sass_lower *s, struct xsrc low, struct xsrc high);
void sl_remember_pair(struct sass_lower *s, int32_t low, int32_t high, int32_t value);

/* The place in memory of a constant at a computed place: register plus *@offset. */
bool sl_constant_address(struct sass_lower *s, const struct sass_operand *o, struct xsrc *at,
                         int64_t *offset);

/* lower_sass_known.c: the place of a constant as @at reads it, by the text in front of it alone,
 * whatever jumps there: for what is looked up by its place. */
bool sl_likely_place(const struct sass_lower *s, const struct sass_inst *at,
                     const struct sass_operand *o, int64_t *offset);
/* The last instruction in front of @at that writes the register; NULL = none does. */
const struct sass_inst *sl_writer(const struct sass_func *f, const struct sass_inst *at,
                                  uint8_t kind, unsigned reg);
/* The place that the present instruction reads, if it is the same one whenever it runs. */
bool sl_known_place(struct sass_lower *s, const struct sass_operand *o, int64_t *offset);

/* --- operations --- */

/* lower_sass_int.c: what a source is known to be; is source @n a register whose sign is turned; a
 * sum that leaves zeros out; 0 or 1 from a predicate; does the instruction give a carry? */
bool sl_taken_away(const struct sass_lower *s, unsigned n);
bool sl_is_zero(struct xsrc v);
bool sl_is_const(struct xsrc v, uint64_t value);
struct xsrc sl_add64(struct sass_lower *s, struct xsrc a, struct xsrc b);
struct xsrc sl_as_number(struct sass_lower *s, struct xsrc p);
bool sl_wants_carry(struct sass_lower *s);

struct xsrc sl_op1(struct sass_lower *s, enum emu_op op, struct xsrc a);
struct xsrc sl_op2(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b);
struct xsrc sl_op3(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b,
                   struct xsrc c);
struct xsrc sl_op4(struct sass_lower *s, enum emu_op op, struct xsrc a, struct xsrc b,
                   struct xsrc c, struct xsrc e);
struct xsrc sl_extended(struct sass_lower *s, struct xsrc v); /* 32 bits to 64 */
struct xsrc sl_cmp(struct sass_lower *s, enum ptx_cmp cmp, enum ptx_type type, struct xsrc a,
                   struct xsrc b);
/* The comparison and the combination with a predicate that the instruction's modifiers name. */
enum ptx_cmp sl_comparison(const struct sass_lower *s);
/* Its two results: (@c with source predicate @n) and (not @c with it). */
bool sl_set_comparison(struct sass_lower *s, struct xsrc c, unsigned n);
struct xsrc sl_bool(struct sass_lower *s, enum ptx_boolop op, struct xsrc a, struct xsrc b);
struct xsrc sl_select(struct sass_lower *s, unsigned bytes, struct xsrc a, struct xsrc b,
                      struct xsrc p);
/* Results: @d -1 = nobody wants it. */
void sl_set1(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a);
void sl_set2(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b);
void sl_set3(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b,
             struct xsrc c);
void sl_set4(struct sass_lower *s, int32_t d, enum emu_op op, struct xsrc a, struct xsrc b,
             struct xsrc c, struct xsrc e);
void sl_set_select(struct sass_lower *s, int32_t d, struct xsrc a, struct xsrc b, struct xsrc p);
void sl_set_pred(struct sass_lower *s, int32_t d, struct xsrc p);
/* The destination's two words = @v of 64 bits. */
void sl_set_wide(struct sass_lower *s, struct xsrc v);
/* An operation of @kind with the instruction's guard, to be filled in; its results must be passed
 * to sl_wrote(). */
struct xop *sl_emit(struct sass_lower *s, enum xkind kind);
void sl_wrote(struct sass_lower *s, int32_t d);
/* Forgets what is known of pairs: another block begins. */
void sl_enter_block(struct sass_lower *s);

/* --- sums in two steps (lower_sass_carry.c) --- */

/* All of the sum whose lower word this instruction makes; a constant: it is no such. */
struct xsrc sl_whole_sum(struct sass_lower *s);
/* If its upper word is what this instruction makes: done. */
bool sl_take_up_sum(struct sass_lower *s);

/* --- memory (lower_sass_mem.c) --- */

/* Place in memory @n, and register or number @n of the data, among the operands. */
const struct sass_operand *sl_place_operand(const struct sass_lower *s, unsigned n);
const struct sass_operand *sl_data_operand(const struct sass_lower *s, unsigned n);
/* Word @k of the data. */
struct xsrc sl_data_word(struct sass_lower *s, const struct sass_operand *o, unsigned k);
/* The space that the opcode names; place @m of it: registers (*@at) and *@offset. */
enum ptx_space sl_space_of(enum sass_op op);
bool sl_place(struct sass_lower *s, const struct sass_operand *m, enum ptx_space space,
              struct xsrc *at, int64_t *offset);
/* What the modifiers say (lower_sass_atomic.c); ATOM_NONE: nothing. */
enum ptx_atom sl_atomic_operation(const struct sass_lower *s);
/* Do several blocks make a cluster? */
static inline bool sl_in_cluster(const struct sass_lower *s)
{
	const uint32_t *n = s->env->cluster;
	return n[0] > 1 || n[1] > 1 || n[2] > 1;
}
/* An address of shared memory, 32 bits as on hardware, as system calls want it: 64 bits, from the
 * block's first byte on, the cluster's block on top. The same of place @n, @more bytes behind it.
 */
bool sl_bulk_call(struct sass_lower *s, unsigned at);
struct xsrc sl_shared_address(struct sass_lower *s, struct xsrc address);
bool sl_shared_word(struct sass_lower *s, struct xsrc *out); /* the own block's: 32 bits */
bool sl_shared_place(struct sass_lower *s, unsigned n, unsigned more, struct xsrc *out);

/* --- calls of the system, lanes (lower_sass_sync.c) --- */

/* A call with the instruction's guard and @n arguments of 64 bits; its result to @d, -1 = none. */
void sl_system(struct sass_lower *s, enum system_call call, unsigned n, const struct xsrc *arg,
               int32_t d);
/* An arrival at a barrier in shared memory as an atomic operation. */
bool sl_shared_arrival(struct sass_lower *s);
/* A predicate that holds in one of the lanes that the instruction acts in. */
int32_t sl_one_lane(struct sass_lower *s);

/* --- products of matrices (lower_sass_tensor.c, lower_sass_tensor_rare.c) --- */

/* Copies of @n registers from operand @o on, of @bytes each, in a row. */
int32_t sl_fragment(struct sass_lower *s, const struct sass_operand *o, unsigned n, unsigned bytes);
/* The product that @t says, with the instruction's operands; @ab: where A and B are instead, NULL =
 * nowhere. @t may leave the numbers of registers open, where they follow from shape and types. */
bool sl_product(struct sass_lower *s, struct ir_tensor t, const int32_t *ab);
bool sl_quads_product(struct sass_lower *s); /* HMMA.884 */
bool sl_sparse_product(struct sass_lower *s, struct ir_tensor t);
/* Of elements of four bits. */
bool sl_small_product(struct sass_lower *s, struct ir_tensor t);

/* --- constants (lower_sass_const.c) --- */

const struct sass_arch *sass_arch_find(unsigned sm);
/* Where bank @bank lies in memory: its offset 0; 0 = nowhere. */
uint64_t sl_bank_address(const struct sass_lower *s, unsigned bank);
/* @bytes (at most 8) at @offset of constant bank @bank; false = not known before the launch. */
bool sl_constant(const struct sass_lower *s, unsigned bank, int64_t offset, unsigned bytes,
                 uint64_t *value);

/* A float rounded to an integral one as the modifiers say (lower_sass_convert.c). */
struct xsrc sl_integral(struct sass_lower *s, struct xsrc v, bool wide);

/* VIADD of numbers that share a register (lower_sass_least.c). */
bool sl_packed_sum(struct sass_lower *s);

/* --- branches (lower_sass_flow.c) --- */

/* The predicate that decides a branch besides its guard; a constant: there is none. */
struct xsrc sl_condition(struct sass_lower *s);
/* Goes on at @block where @p and the instruction's guard hold. */
bool sl_branch_to(struct sass_lower *s, int32_t block, struct xsrc p);

/* --- blocks (lower_sass_blocks.c) --- */

/* Where blocks begin: block_of[instruction], -1 = none does. Returns how many there are. */
unsigned sass_block_starts(const struct sass_func *f, int32_t *block_of);
/* Successors and meeting points, when all operations are there; @first_op: by instruction. */
void sass_finish_blocks(struct ir *ir, const struct sass_func *f, const int32_t *block_of,
                        unsigned n_blocks, const uint32_t *first_op);
/* Does it go where it says in all lanes? */
bool sass_unconditional(const struct sass_inst *i);
/* CALL.REL R4 `(function): the register says how far behind the function's start. */
bool sass_calls_by_address(const struct sass_inst *i);
/* Instructions that @i may go to by an address: behind the calls (RET), functions in the same code
 * (CALL), what the disassembler found (BRX). Returns how many there are; @ways has room for the
 * first SASS_MAX_WAYS. */
enum { SASS_MAX_WAYS = 256 };
unsigned sass_ways(const struct sass_func *f, const struct sass_inst *i, uint32_t *ways);
/* X_BRX to the one of them that @v, an offset in the function, is the place of. */
bool sl_branch_by_address(struct sass_lower *s, struct xsrc v);

/* One function per kind of instruction: false = refused. */
#define MEANING(op, meaning) bool sl_##meaning(struct sass_lower *s);
#include "emu/lower/sass_meaning.def"

#endif

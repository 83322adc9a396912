/*
 * Rules from PTX to machine code; see machine_insts.h.
 *
 * - Moves between registers, of constants and of parameters cost nothing: constants and parameters
 *   are operands, copies are coalesced away.
 * - Address arithmetic: mul.wide + add.s64 is one IMAD.WIDE, shl + add one LEA; an addition of a
 *   constant whose result only serves as an address becomes the offset of the access.
 * - Predicate logic joins the comparison (ISETP.GE.OR).
 * - Shared loads that a wider one brings along are not issued (wide_loads.h).
 * - 64-bit integer operations are two of 32 bits.
 * - A loop of one block that counts by a constant is unrolled some times more, unless the PTX says
 *   nounroll: its end is reached once for all copies, and steps of addresses become offsets.
 *
 * What each class costs: timemodel/inst_class.def.
 */
#include "emu/timing/machine_insts.h"

#include "timemodel/constants.h"
#include "base/mem.h"

#include <stdlib.h>

struct uses {
	const struct ir *ir;
	uint16_t *all;     /* per register: operations that read it */
	uint16_t *address; /* of those, as an address */
};

static void count_uses(struct uses *u)
{
	for (unsigned o = 0; o < u->ir->n_ops; o++) {
		const struct xop *x = &u->ir->ops[o];
		for (unsigned i = 0; i < x->n_s; i++)
			if (x->s[i].kind == S_REG) {
				u->all[x->s[i].reg]++;
				if (x->mem >= 0 && i == 0 && x->kind != X_NOP)
					u->address[x->s[i].reg]++;
			}
	}
}

/* --- what is folded away --- */

static const struct xop *definition(const struct ir *ir, const struct xsrc *src)
{
	const int32_t o = src->kind == S_REG ? ir->only_def[src->reg] : -1;
	return o >= 0 ? &ir->ops[o] : NULL;
}

/* Is @src made by an instruction that an addition can join: a product, a shift, a widening? */
static bool joins_addition(const struct ir *ir, const struct xsrc *src)
{
	const struct xop *x = definition(ir, src);
	if (!x || x->kind != X_OP)
		return false;
	return x->op == E_mul_wide_s32 || x->op == E_mul_wide_u32 || x->op == E_shl_b64 ||
	       x->op == E_sext64 || x->op == E_zext64;
}

static bool is_float(enum ptx_type t)
{
	return t >= PTX_F16 && t <= PTX_F64;
}

static bool is_wide(const struct ptx_inst *in)
{
	return ptx_type_bytes(in->type) == 8 && in->type != PTX_F64;
}

/* Only an address plus a constant? Then it is the offset of the accesses. */
static bool becomes_offset(const struct uses *u, const struct xop *x)
{
	const bool constant = x->s[1].kind == S_CONST || x->s[0].kind == S_CONST;
	const int32_t d = x->n_d ? x->d[0] : -1;
	return x->kind == X_OP && x->n_s == 2 && constant && d >= 0 && u->all[d] == u->address[d];
}

static bool addition_is_folded(const struct uses *u, const struct xop *x, const struct ptx_inst *in)
{
	if (in->op == OP_ADD && becomes_offset(u, x))
		return true;
	return is_wide(in) && (joins_addition(u->ir, &x->s[0]) || joins_addition(u->ir, &x->s[1]));
}

/* A shift that only feeds additions is part of them (LEA). */
static bool feeds_additions(const struct uses *u, uint32_t o)
{
	const struct xop *x = &u->ir->ops[o];
	const int32_t d = x->n_d == 1 ? x->d[0] : -1;
	if (d < 0 || u->ir->only_def[d] < 0)
		return false;
	unsigned found = 0;
	const uint32_t far = o + 64;
	for (uint32_t p = o + 1; p < u->ir->n_ops && p < far; p++) {
		const struct xop *y = &u->ir->ops[p];
		if (y->kind != X_OP || y->op != E_add_b32)
			continue;
		found += (unsigned)((y->s[0].kind == S_REG && y->s[0].reg == d) ||
		                    (y->s[1].kind == S_REG && y->s[1].reg == d));
	}
	return found && found == u->all[d];
}

/* --- classes --- */

static struct machine_inst issues(enum inst_class c, bool wide)
{
	return (struct machine_inst){ c, inst_issued(c, wide) };
}

static struct machine_inst issues_nothing(enum inst_class c)
{
	return (struct machine_inst){ .class = c };
}

static struct machine_inst float_arithmetic(const struct ptx_inst *in, enum ptx_class class)
{
	const bool f64 = in->type == PTX_F64 || in->type2 == PTX_F64;
	const bool approx = in->flags & PF_APPROX;
	if (class == CLASS_DIVISION)
		return f64 ? issues(INST_FP64_DIV, false)
		           : issues(approx ? INST_FP32_DIV_APPROX : INST_FP32_DIV, false);
	if (f64)
		return issues(INST_FP64, false);
	return issues(class == CLASS_MINMAX ? INST_INT_LOGIC : INST_FP32, false);
}

static struct machine_inst int_arithmetic(const struct uses *u, const struct xop *x,
                                          const struct ptx_inst *in, enum ptx_class class)
{
	const bool wide = is_wide(in);
	switch (class) {
	case CLASS_SUM:
		return addition_is_folded(u, x, in) ? issues_nothing(INST_INT_ADD)
		                                    : issues(INST_INT_ADD, wide);
	case CLASS_PRODUCT: return issues(INST_INT_MUL, wide && !(in->flags & PF_WIDE));
	case CLASS_DIVISION: return issues(INST_INT_DIV, wide);
	default: return issues(INST_INT_LOGIC, wide);
	}
}

static struct machine_inst logic_inst(const struct uses *u, uint32_t o, const struct ptx_inst *in)
{
	if (in->type == PTX_PRED)
		return issues_nothing(INST_INT_LOGIC);
	if (in->op == OP_SHL)
		return feeds_additions(u, o) ? issues_nothing(INST_INT_ADD)
		                             : issues(INST_INT_ADD, is_wide(in));
	return issues(INST_INT_LOGIC, is_wide(in));
}

static struct machine_inst conversion_inst(const struct ptx_inst *in)
{
	if (in->type == PTX_F32 && !is_float(in->type2) && ptx_type_bytes(in->type2) <= 4)
		return issues(INST_INT_TO_FP32, false);
	if (is_float(in->type) || is_float(in->type2))
		return issues(INST_CONVERT, false);
	return ptx_type_bytes(in->type) < 8 ? issues(INST_INT_ADD, false)
	                                    : issues_nothing(INST_INT_ADD);
}

static struct machine_inst special_function(const struct ptx_inst *in)
{
	const bool approx = in->flags & PF_APPROX;
	if (in->type == PTX_F64)
		return issues(approx ? INST_FP64 : INST_FP64_FUNCTION, false);
	return issues(approx ? INST_SFU : INST_SFU_ROUNDED, false);
}

static struct machine_inst by_opcode(const struct uses *u, uint32_t o)
{
	const struct xop *x = &u->ir->ops[o];
	const struct ptx_inst *in = &u->ir->func->insts[x->pc];
	const enum ptx_class class = ptx_op_class(in->op);
	switch (class) {
	case CLASS_INT:
	case CLASS_SUM:
	case CLASS_PRODUCT:
	case CLASS_DIVISION:
	case CLASS_MINMAX:
	case CLASS_SIGN:
		return is_float(in->type) ? float_arithmetic(in, class) : int_arithmetic(u, x, in, class);
	case CLASS_FUNCTION: return special_function(in);
	case CLASS_COMPARE:
	case CLASS_SELECT: return issues(INST_INT_LOGIC, is_wide(in));
	case CLASS_LOGIC: return logic_inst(u, o, in);
	case CLASS_COPY: return issues_nothing(INST_INT_ADD);
	case CLASS_CONVERT: return conversion_inst(in);
	case CLASS_PERMUTE:
	case CLASS_QUERY: return issues(INST_INT_LOGIC, false);
	case CLASS_MEM: return issues_nothing(INST_OTHER); /* of a parameter, or nothing to do */
	case CLASS_CONTROL:
		if (in->op == OP_BRA && x->guard < 0)
			return issues_nothing(INST_OTHER);
		return issues(INST_OTHER, false);
	default: return issues(INST_OTHER, false);
	}
}

/* What is asked of the system: a call, or barriers and copies of shared memory. */
static enum inst_class class_of_system(const struct xop *x)
{
	switch ((enum system_call)x->op) {
	case SYSTEM_PRINT: return INST_PRINT;
	case SYSTEM_MALLOC: return INST_MALLOC;
	case SYSTEM_FREE: return INST_FREE;
	case SYSTEM_RUNTIME_SET_CONDITIONAL: return INST_CONDITION;
	case SYSTEM_CLUSTER_WAIT: return INST_CLUSTER_WAIT;
	case SYSTEM_GROUP_WAIT: return x->s[0].value ? INST_OTHER : INST_GROUP_WAIT;
	case SYSTEM_MBARRIER_ARRIVE:
	case SYSTEM_MBARRIER_STATE:
	case SYSTEM_MBARRIER_PARITY: return INST_MBARRIER;
	case SYSTEM_BULK_LOAD:
	case SYSTEM_TENSOR_LOAD: return INST_BULK;
	default: return INST_OTHER;
	}
}

enum inst_class class_beyond_machine(const struct xop *x)
{
	if (x->kind == X_SYSTEM)
		return class_of_system(x);
	if (x->kind == X_MEET_WARP &&
	    (x->op == MEET_COLLECTIVE || x->op == MEET_GATHERED || x->op == MEET_ONE_PLACE))
		return INST_MEETING;
	if (x->kind == X_NOP && x->n_s)
		return INST_SLEEP;
	if (x->kind != X_FENCE || x->scope <= SCOPE_CTA)
		return INST_OTHER;
	return x->scope == SCOPE_SYS ? INST_HOST_FENCE : INST_FENCE;
}

/* Sums of floats on shared memory: no instruction does them. */
static bool is_shared_swap(const struct xop *x)
{
	return (x->kind == X_ATOM || x->kind == X_RED) && x->space == SPACE_SHARED &&
	       x->op == ATOM_ADD && is_float(x->type);
}

/* The class of operations that have one whatever PTX instruction they are part of. */
static enum inst_class class_of_kind(enum xkind kind)
{
	switch (kind) {
	case X_LD:
	case X_TEXTURE: return INST_LOAD;
	case X_ST: return INST_STORE;
	case X_ATOM: return INST_ATOMIC;
	case X_RED: return INST_REDUCTION;
	case X_ASYNC: return INST_COPY;
	case X_SPECIAL: return INST_SPECIAL;
	case X_SHFL:
	case X_VOTE: return INST_SHUFFLE;
	case X_MATCH: return INST_MATCH;
	case X_REDUX: return INST_REDUX;
	case X_ACTIVE:
	case X_ELECT: return INST_LANE_MASK;
	case X_BRA: return INST_BRANCH;
	case X_BRX: return INST_BRANCH_TABLE;
	case X_BAR:
	case X_BARRED: return INST_BARRIER;
	default: return INST_OTHER;
	}
}

static struct machine_inst translate(const struct uses *u, const struct wide_load *loads,
                                     uint32_t o)
{
	const struct xop *x = &u->ir->ops[o];
	if (xop_settles_nan(x))
		return issues_nothing(INST_OTHER);
	const enum inst_class beyond = class_beyond_machine(x);
	const enum inst_class c = is_shared_swap(x)      ? INST_SHARED_SWAP
	                          : beyond != INST_OTHER ? beyond
	                                                 : class_of_kind(x->kind);
	if (x->kind == X_SYSTEM && c != INST_OTHER) /* its arguments come before it */
		return issues(c, false);
	if (!u->ir->ops[ir_counted_at(u->ir, o)].first)
		return issues_nothing(c);
	switch (c) {
	case INST_OTHER: return by_opcode(u, o);
	case INST_LOAD:
	case INST_STORE:
	case INST_COPY:
		if (x->space == SPACE_CONST) /* most are an operand of what uses them */
			return x->s[0].kind == S_REG ? issues(INST_CONSTANT, false) : issues_nothing(c);
		return loads[o].merged ? issues_nothing(c) : issues(c, false);
	case INST_BRANCH: return x->guard < 0 ? issues_nothing(c) : issues(c, false);
	default: return issues(c, false);
	}
}

/* --- loops --- */

/* reg = reg + a constant that stands in the text? */
static bool steps_by_constant(const struct ir *ir, const struct xop *x)
{
	const struct ptx_inst *in = &ir->func->insts[x->pc];
	return x->kind == X_OP && (in->op == OP_ADD || in->op == OP_SUB) && x->n_d == 1 &&
	       x->s[0].kind == S_REG && x->s[0].reg == x->d[0] && in->opnd[2].kind == OPND_INT;
}

static bool is_unrolled(const struct ir *ir, uint32_t b)
{
	const struct xblock *x = &ir->blocks[b];
	const struct xop *branch = &ir->ops[x->end - 1], *test = NULL;
	if (branch->kind != X_BRA || branch->guard < 0 || x->succ[0] != (int32_t)b ||
	    ir->func->insts[ir->ops[x->first].pc].nounroll)
		return false;
	for (uint32_t o = x->first; o < x->end; o++) {
		const struct xop *y = &ir->ops[o];
		if (y->kind == X_BAR || y->kind == X_BARRED)
			return false;
		if (y->kind == X_CMP && y->n_d && y->d[0] == branch->guard)
			test = y;
	}
	for (uint32_t o = x->first; test && o < x->end; o++)
		if (steps_by_constant(ir, &ir->ops[o]) && test->s[0].kind == S_REG &&
		    ir->ops[o].d[0] == test->s[0].reg)
			return true;
	return false;
}

static void unroll_loops(const struct ir *ir, struct machine_inst *inst, uint8_t *copies)
{
	for (uint32_t b = 0; b < ir->n_blocks; b++) {
		copies[b] = 1;
		if (!is_unrolled(ir, b))
			continue;
		copies[b] = (uint8_t)timing.unrolled_copies;
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			if (x->kind == X_BRA || x->kind == X_CMP || steps_by_constant(ir, x))
				inst[o].issued /= copies[b];
		}
	}
}

void machine_insts(const struct ir *ir, const struct wide_load *loads, struct machine_inst *inst,
                   uint8_t *copies)
{
	struct uses u = { .ir = ir,
		              .all = mem_calloc(ir->n_regs + 1, sizeof *u.all),
		              .address = mem_calloc(ir->n_regs + 1, sizeof *u.address) };
	count_uses(&u);
	for (uint32_t o = 0; o < ir->n_ops; o++)
		inst[o] = translate(&u, loads, o);
	unroll_loops(ir, inst, copies);
	free(u.all);
	free(u.address);
}

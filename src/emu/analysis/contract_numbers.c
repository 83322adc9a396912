/*
 * Which values of the PTX are numbers that the assembler works out before it fuses products and
 * sums. Numbers of the launch, which lowering puts in, are none: the assembler does not know them.
 */
#include "emu/analysis/contract.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Is the operation all of its instruction? */
static bool is_alone(const struct ir *ir, const struct xop *x)
{
	const uint32_t at = (uint32_t)(x - ir->ops);
	return x->first && (at + 1 == ir->n_ops || x[1].first);
}

static unsigned block_of(const struct ir *ir, uint32_t o)
{
	unsigned low = 0, high = ir->n_blocks;
	while (high - low > 1) {
		const unsigned mid = low + (high - low) / 2;
		if (ir->blocks[mid].first <= o)
			low = mid;
		else
			high = mid;
	}
	return low;
}

uint32_t block_first_op(const struct ir *ir, uint32_t o)
{
	return ir->blocks[block_of(ir, o)].first;
}

/* So many operations and blocks are looked at for what a register holds. */
enum { NEAR = 64, NEAR_BLOCKS = 16 };

struct search { /* for the one operation that wrote register @reg last, on all ways to a place */
	const struct ir *ir;
	int32_t reg;
	const struct xop *writer;
	unsigned ops_left, n_seen;
	unsigned seen[NEAR_BLOCKS];
	bool failed;
};

/* Looks from operation @end upwards. True if the block it is in has a writer, or the search fails.
 */
static bool search_block(struct search *s, uint32_t start, uint32_t end)
{
	for (uint32_t o = end; o > start && !s->failed; o--) {
		const struct xop *y = &s->ir->ops[o - 1];
		s->failed |= !s->ops_left--;
		for (unsigned i = 0; i < y->n_d; i++) {
			if (y->d[i] != s->reg)
				continue;
			s->failed |= y->guard >= 0 || (s->writer && s->writer != y);
			s->writer = y;
			return true;
		}
	}
	return s->failed;
}

static bool leads_to(const struct xblock *from, unsigned to)
{
	for (uint32_t i = 0; i < 2 + from->n_targets; i++)
		if (xblock_successor(from, i) == (int32_t)to)
			return true;
	return false;
}

static void search_before(struct search *s, unsigned block)
{
	const struct ir *ir = s->ir;
	bool any = false;
	for (unsigned b = 0; b < ir->n_blocks && !s->failed; b++) {
		if (!leads_to(&ir->blocks[b], block))
			continue;
		any = true;
		bool seen = false;
		for (unsigned i = 0; i < s->n_seen; i++)
			seen |= s->seen[i] == b;
		if (seen)
			continue;
		s->failed |= s->n_seen == NEAR_BLOCKS;
		if (s->failed)
			break;
		s->seen[s->n_seen++] = b;
		if (!search_block(s, ir->blocks[b].first, ir->blocks[b].end))
			search_before(s, b);
	}
	s->failed |= !any; /* the first block of a function */
}

/* The operation close above @x that made what its source @s holds, where others write the register,
 * too; NULL = none is found. */
static const struct xop *near_writer(const struct ir *ir, const struct xop *x, const struct xsrc *s)
{
	if (s->kind != S_REG || ir->only_def[s->reg] >= 0 || x < ir->ops || x >= ir->ops + ir->n_ops ||
	    ir->regs[s->reg].passes)
		return NULL;
	const uint32_t at = (uint32_t)(x - ir->ops);
	const unsigned block = block_of(ir, at);
	struct search search = { .ir = ir, .reg = s->reg, .ops_left = NEAR };
	if (!search_block(&search, ir->blocks[block].first, at))
		search_before(&search, block);
	return search.failed ? NULL : search.writer;
}

/* The operation that makes all values of @s; NULL = there is none. */
static const struct xop *only_writer(const struct ir *ir, const struct xsrc *s)
{
	const int32_t at = s->kind == S_REG ? ir->only_def[s->reg] : -1;
	const struct xop *x = at >= 0 ? &ir->ops[at] : NULL;
	return x && x->guard < 0 ? x : NULL;
}

const struct xop *maker_of(const struct ir *ir, const struct xsrc *s)
{
	const struct xop *x = only_writer(ir, s);
	return x && x->kind == X_OP && is_alone(ir, x) ? x : NULL;
}

static bool is_half(enum ptx_type t)
{
	return t == PTX_F16 || t == PTX_BF16 || t == PTX_F16X2 || t == PTX_BF16X2;
}

static bool is_floating(enum ptx_type t)
{
	return is_half(t) || t == PTX_F32 || t == PTX_F64;
}

/* Conversions that ptxas works out: all but those of whole numbers to float64 and to halves, of
 * 64-bit ones to float32, of floats to 16 bits, and those to a float that name another rounding
 * than the usual one. */
static bool is_folded_conversion(const struct ptx_inst *in)
{
	const bool from_float = is_floating(in->type2);
	if (is_floating(in->type) && !from_float)
		return in->type == PTX_F32 && ptx_type_bytes(in->type2) <= 4 && in->round <= ROUND_RN;
	if (is_floating(in->type))
		return in->round <= ROUND_RN || in->round >= ROUND_RNI;
	return !from_float || ptx_type_bytes(in->type) > 2;
}

/* Does ptxas 13.0 work out an instruction whose operands are numbers? Found by assembling each
 * alone: the others stand in the code. */
static bool is_folded(const struct ptx_inst *in)
{
	switch (in->op) {
	case OP_DIV:
	case OP_REM:
	case OP_RCP:
	case OP_SQRT:
	case OP_RSQRT:
	case OP_SIN:
	case OP_COS:
	case OP_LG2:
	case OP_EX2:
	case OP_TANH:
	case OP_FMA:
	case OP_SAD: return false;
	case OP_CVT: return is_folded_conversion(in);
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
		if (in->type == PTX_F32)
			return in->round <= ROUND_RN;
		return in->type == PTX_F64 ? in->round == ROUND_NONE : !is_half(in->type);
	default: return true;
	}
}

/* Is number @i of an operation one that stands in its instruction, or that the instruction is made
 * of? A comparison may have its sources exchanged. */
static bool is_written(const struct ptx_inst *in, bool alone, unsigned i)
{
	const bool setp = in->op == OP_SETP, one = alone && !setp;
	const unsigned first = setp ? 2 : 1; /* that has two results */
	bool all = true;
	for (unsigned k = one ? first + i : first; k < (one ? first + i + 1 : in->n_opnds); k++)
		all &= in->opnd[k].kind == OPND_INT || in->opnd[k].kind == OPND_FLOAT ||
		       (!one && in->opnd[k].kind == OPND_REG);
	return all;
}

enum { ALL_LANES = 0xffffffffu }; /* a predicate that holds */

/* What @x makes of numbers. */
static uint64_t result_of(const struct xop *x, const uint64_t *v)
{
	switch (x->kind) {
	case X_SEL: return v[2] ? v[0] : v[1];
	case X_CMP: return emu_ops[x->op].fold(v[0], v[1], 0, 0) ^ (x->neg ? ALL_LANES : 0);
	case X_PRED:
		switch ((enum ptx_boolop)x->op) {
		case BOOL_AND: return v[0] & v[1];
		case BOOL_OR: return v[0] | v[1];
		case BOOL_XOR: return v[0] ^ v[1];
		default: return v[0];
		}
	default: return emu_ops[x->op].fold(v[0], v[1], v[2], v[3]);
	}
}

/* How many operations are looked at for one number: chains of them are short. */
enum { STEPS = 64 };

static bool is_number(const struct ir *ir, const struct xop *x, unsigned i, unsigned *steps,
                      uint64_t *value)
{
	const struct xsrc *s = &x->s[i];
	*value = s->value;
	if (s->kind == S_CONST)
		return x->kind == X_PRED || is_written(inst_of(ir, x), is_alone(ir, x), i);
	const struct xop *only = only_writer(ir, s), *def = only ? only : near_writer(ir, x, s);
	uint64_t v[4] = { 0 };
	if (!def || !*steps || def->n_s > 3 || !is_folded(inst_of(ir, def)) || def->kind > X_SEL)
		return false;
	--*steps;
	for (unsigned k = 0; k < def->n_s; k++)
		if (!is_number(ir, def, k, steps, &v[k]))
			return false;
	*value = result_of(def, v) ^ (s->neg ? ALL_LANES : 0);
	return true;
}

bool is_literal(const struct ir *ir, const struct xop *x, unsigned i, uint64_t *value)
{
	unsigned steps = STEPS;
	return is_number(ir, x, i, &steps, value);
}

bool is_constant(const struct ir *ir, const struct xop *x, unsigned i)
{
	uint64_t value;
	const struct xop *def = maker_of(ir, &x->s[i]);
	if (def && def->s[0].kind == S_CONST && inst_of(ir, def)->op == OP_LD)
		return inst_of(ir, def)->space == SPACE_PARAM;
	return is_literal(ir, x, i, &value);
}

struct xsrc taken_source(const struct ir *ir, struct xsrc s)
{
	for (unsigned depth = 0; depth < STEPS; depth++) {
		const struct xop *def = only_writer(ir, &s);
		uint64_t chosen = 1;
		const bool copy =
			def && def->kind == X_OP && (def->op == E_mov_b32 || def->op == E_mov_b64);
		if (!copy && (!def || def->kind != X_SEL || !is_literal(ir, def, 2, &chosen)))
			break;
		const struct xsrc from = def->s[chosen ? 0 : 1];
		if (from.kind != S_REG || ir->only_def[from.reg] < 0)
			break; /* it may hold something else by now */
		s = from;
	}
	return s;
}

/* --- branches that always go the same way --- */

/* Does the guard of @x hold always (1), never (0), or who knows (-1)? */
static int guard_holds(const struct ir *ir, const struct xop *x)
{
	uint64_t value;
	const struct xop reads = { .pc = x->pc,
		                       .s = { { .kind = S_REG, .reg = x->guard, .neg = x->guard_neg } } };
	if (x->guard < 0)
		return 1;
	return is_literal(ir, &reads, 0, &value) ? value != 0 : -1;
}

int32_t only_successor(const struct ir *ir, unsigned b)
{
	const struct xblock *xb = &ir->blocks[b];
	if (xb->targets)
		return -1;
	if (xb->succ[1] < 0)
		return xb->succ[0];
	const struct xop *x = &ir->ops[xb->end - 1];
	const int holds = xb->end > xb->first && x->kind == X_BRA ? guard_holds(ir, x) : -1;
	return holds < 0 ? -1 : xb->succ[!holds];
}

/* Marks what can be come to from block @b. */
static void reach(const struct ir *ir, unsigned b, bool *reached)
{
	unsigned *todo = mem_calloc(ir->n_blocks + 1, sizeof *todo), n = 0;
	if (!reached[b])
		todo[n++] = b;
	reached[b] = true;
	while (n) {
		const struct xblock *xb = &ir->blocks[todo[--n]];
		const int32_t only = only_successor(ir, todo[n]);
		for (uint32_t i = 0; i < 2 + xb->n_targets; i++) {
			const int32_t next = xblock_successor(xb, i);
			if (next < 0 || reached[next] || (only >= 0 && next != only))
				continue;
			reached[next] = true;
			todo[n++] = (unsigned)next;
		}
	}
	free(todo);
}

/* Marks what is ever come to; of functions whose calls do not say which one it is, all. */
static void reach_all(const struct ir *ir, bool *reached)
{
	memset(reached, 0, ir->n_blocks * sizeof *reached);
	if (ir->n_blocks)
		reach(ir, 0, reached);
	for (uint32_t o = 0; o < ir->n_ops; o++)
		if (ir->ops[o].kind == X_CALL && ir->ops[o].n_s)
			memset(reached, true, ir->n_blocks * sizeof *reached);
		else if (ir->ops[o].kind == X_CALL)
			reach(ir, (unsigned)ir->ops[o].target, reached);
}

/* Of registers that one place writes, but for code that is never come to: that place. */
static bool forget_writers(struct ir *ir, const bool *reached)
{
	int32_t *writer = mem_calloc(ir->n_regs + 1, sizeof *writer);
	bool any = false;
	memset(writer, 0xff, (ir->n_regs + 1) * sizeof *writer); /* -1: none, -2: several */
	for (unsigned b = 0; b < ir->n_blocks; b++)
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end && reached[b]; o++) {
			const struct xop *x = &ir->ops[o];
			const int holds = x->n_d ? guard_holds(ir, x) : 0;
			for (unsigned i = 0; i < x->n_d && holds; i++)
				if (x->d[i] >= 0)
					writer[x->d[i]] = writer[x->d[i]] == -1 && x->guard < 0 ? (int32_t)o : -2;
		}
	for (unsigned r = 0; r < ir->n_regs; r++)
		if (ir->only_def[r] < 0 && writer[r] >= 0) {
			ir->only_def[r] = writer[r];
			any = true;
		}
	free(writer);
	return any;
}

void find_only_writers(struct ir *ir, bool *reached)
{
	do
		reach_all(ir, reached);
	while (forget_writers(ir, reached));
}

/*
 * Which loads and atomics decide something: values are followed back from branches, predicates,
 * addresses and exchanges to what they were made of, instruction by instruction, since machine code
 * puts one value after another into a register.
 *
 * Where a call begins or a function ends, what follows is not looked at: there a register decides
 * if anything in the code that reads it does.
 */
#include "emu/ir/ir.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool compares(const struct xop *x)
{
	switch (x->kind == X_OP ? x->op : E_add_b32) {
	case E_min_s32:
	case E_max_s32:
	case E_min_u32:
	case E_max_u32:
	case E_min_s64:
	case E_max_s64:
	case E_min_u64:
	case E_max_u64:
	case E_min_f32:
	case E_max_f32:
	case E_min_f64:
	case E_max_f64: return true;
	default: return false;
	}
}

/* Registers, a bit each. */
typedef uint64_t reg_set;

static size_t words_of(const struct ir *ir)
{
	return ir->n_regs / 64 + 1;
}

static bool has(const reg_set *s, int32_t r)
{
	return s[r / 64] >> (r % 64) & 1;
}

static void put(reg_set *s, int32_t r)
{
	s[r / 64] |= (reg_set)1 << (r % 64);
}

static void add(reg_set *to, const reg_set *more, size_t words)
{
	for (size_t i = 0; i < words; i++)
		to[i] |= more[i];
}

/* Does @x decide something by source @s: where it goes, what is exchanged, which of two is taken, a
 * predicate, or by what it writes into a register that decides? */
static bool decides_by(const struct ir *ir, const struct xop *x, unsigned s,
                       const reg_set *deciding)
{
	const bool memory = x->kind == X_LD || x->kind == X_ST || x->kind == X_ATOM || x->kind == X_RED;
	if (memory)
		return s == 0 || (x->kind == X_ATOM && x->op == ATOM_CAS);
	for (unsigned i = 0; i < x->n_d && !compares(x); i++) {
		const int32_t d = x->d[i];
		if (d >= 0 && (!ir->regs[d].bytes || ir->regs[d].passes || has(deciding, d)))
			return true;
	}
	return !x->n_d || compares(x);
}

/* By register, wherever it is read. Caller frees. */
static reg_set *deciding_anywhere(const struct ir *ir)
{
	reg_set *deciding = mem_calloc(words_of(ir), sizeof *deciding);
	for (bool more = true; more;) {
		more = false;
		for (uint32_t o = ir->n_ops; o-- > 0;) {
			const struct xop *x = &ir->ops[o];
			for (unsigned s = 0; s < x->n_s; s++) {
				if (x->s[s].kind != S_REG || has(deciding, x->s[s].reg) ||
				    !decides_by(ir, x, s, deciding))
					continue;
				put(deciding, x->s[s].reg);
				more = true;
			}
		}
	}
	return deciding;
}

/* Behind block @b: the registers whose value decides something from there on. */
static void behind_block(const struct ir *ir, unsigned b, const reg_set *anywhere,
                         const reg_set *before, reg_set *deciding)
{
	const struct xblock *x = &ir->blocks[b];
	const struct xop *last = x->end > x->first ? &ir->ops[x->end - 1] : NULL;
	const bool leaves = x->returns || (last && (last->kind == X_CALL || last->kind == X_RET));
	const size_t words = words_of(ir);
	memset(deciding, 0, words * sizeof *deciding);
	for (uint32_t i = 0; i < 2 + x->n_targets; i++) {
		const int32_t to = xblock_successor(x, i);
		if (to >= 0)
			add(deciding, before + (size_t)to * words, words);
	}
	if (leaves)
		add(deciding, anywhere, words);
}

/* From behind @x to before it. */
static void step_back(const struct ir *ir, const struct xop *x, reg_set *deciding)
{
	bool by[X_MAX_VEC + 2] = { false };
	for (unsigned s = 0; s < x->n_s; s++)
		by[s] = x->s[s].kind == S_REG && decides_by(ir, x, s, deciding);
	for (unsigned i = 0; i < x->n_d && x->guard < 0; i++)
		if (x->d[i] >= 0)
			deciding[x->d[i] / 64] &= ~((reg_set)1 << (x->d[i] % 64));
	for (unsigned s = 0; s < x->n_s; s++)
		if (by[s])
			put(deciding, x->s[s].reg);
}

/* Steps back through block @b; marks its loads and atomics if @mark. */
static void through_block(struct ir *ir, unsigned b, reg_set *deciding, bool mark)
{
	for (uint32_t o = ir->blocks[b].end; o-- > ir->blocks[b].first;) {
		struct xop *x = &ir->ops[o];
		for (unsigned i = 0; mark && (x->kind == X_ATOM || x->kind == X_LD) && i < x->n_d; i++)
			x->decides |= x->d[i] >= 0 && has(deciding, x->d[i]);
		step_back(ir, x, deciding);
	}
}

void ir_find_deciding(struct ir *ir)
{
	const size_t words = words_of(ir);
	reg_set *anywhere = deciding_anywhere(ir), *deciding = mem_calloc(words, sizeof *deciding);
	reg_set *before = mem_calloc((ir->n_blocks + 1) * words, sizeof *before);
	for (bool more = true; more;) {
		more = false;
		for (unsigned b = ir->n_blocks; b-- > 0;) {
			reg_set *own = before + b * words;
			behind_block(ir, b, anywhere, before, deciding);
			through_block(ir, b, deciding, false);
			more |= memcmp(own, deciding, words * sizeof *own) != 0;
			memcpy(own, deciding, words * sizeof *own);
		}
	}
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		behind_block(ir, b, anywhere, before, deciding);
		through_block(ir, b, deciding, true);
	}
	free(before);
	free(deciding);
	free(anywhere);
}

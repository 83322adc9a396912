/*
 * Does what a launch executes, and where it accesses memory, follow from its parameters alone?
 *
 * Values that come from memory are followed through registers; where none reaches a branch, a guard
 * or an address, every launch with the same parameters takes the same course, and counts the same,
 * whatever memory holds.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>

/* Results that depend on more than the operation's sources. */
static bool brings_data(const struct xop *x)
{
	switch (x->kind) {
	case X_LD:
	case X_ATOM:
	case X_TEXTURE:
	case X_TENSOR:
	case X_SYSTEM:
	case X_CLOCK: return true;
	default: return false;
	}
}

static bool source_is(const struct xop *x, unsigned i, const bool *data)
{
	return i < x->n_s && x->s[i].kind == S_REG && data[x->s[i].reg];
}

static bool any_source_is(const struct xop *x, const bool *data)
{
	for (unsigned i = 0; i < x->n_s; i++)
		if (source_is(x, i, data))
			return true;
	return false;
}

/* Marks registers that may hold data; true if there were more. */
static bool follow(const struct ir *ir, bool *data)
{
	bool more = false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		if (!brings_data(x) && !any_source_is(x, data))
			continue;
		for (unsigned i = 0; i < x->n_d; i++)
			if (x->d[i] >= 0 && !data[x->d[i]])
				more = data[x->d[i]] = true;
	}
	return more;
}

/* Data decides what is executed, or where, or what an atomic has to do. */
static bool decides(const struct xop *x, const bool *data)
{
	if (x->guard >= 0 && data[x->guard])
		return true;
	switch (x->kind) {
	case X_LD:
	case X_ST:
	case X_BRX:
	case X_CALL: return source_is(x, 0, data);
	case X_ATOM:
	case X_RED: return x->op == ATOM_CAS || source_is(x, 0, data);
	case X_ASYNC:
	case X_TEXTURE:
	case X_WARPSYNC:
	case X_BAR:
	case X_ARRIVE:
	case X_BARRED: return any_source_is(x, data);
	case X_SYSTEM: return true;
	default: return false;
	}
}

bool course_is_fixed(const struct ir *ir)
{
	bool fixed = !ir->waits, *data = mem_calloc(ir->n_regs + 1, sizeof *data);
	while (fixed && follow(ir, data))
		;
	for (uint32_t o = 0; o < ir->n_ops && fixed; o++)
		fixed = !decides(&ir->ops[o], data);
	free(data);
	return fixed;
}

/*
 * Which values decide what a launch executes, and where it accesses memory.
 *
 * Values of some origin are followed through registers. Where none that comes from memory reaches a
 * branch, a guard or an address, every launch with the same parameters takes the same course, and
 * counts the same, whatever memory holds. Others are followed through memory, too.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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

/* Marks registers that may hold data, which operations bring; true if there were more. */
static bool follow(const struct ir *ir, const bool *brings, bool *data)
{
	bool more = false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		if (!brings[o] && !any_source_is(x, data))
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
	case X_BARRED:
	case X_SYSTEM: return any_source_is(x, data);
	default: return false;
	}
}

bool course_is_fixed(const struct ir *ir)
{
	bool fixed = !ir->waits, *data = mem_calloc(ir->n_regs + 1, sizeof *data);
	bool *brings = mem_calloc(ir->n_ops + 1, sizeof *brings);
	for (uint32_t o = 0; o < ir->n_ops; o++)
		brings[o] = brings_data(&ir->ops[o]);
	while (fixed && follow(ir, brings, data))
		;
	for (uint32_t o = 0; o < ir->n_ops && fixed; o++)
		fixed = ir->ops[o].kind != X_SYSTEM && !decides(&ir->ops[o], data);
	free(brings);
	free(data);
	return fixed;
}

/* Memory that an operation may mean. */
enum { IN_SHARED = 1, IN_LOCAL = 2, IN_GLOBAL = 4, ANYWHERE = 7 };

static unsigned memory_of(const struct xop *x)
{
	if (x->kind == X_ASYNC || x->kind == X_SYSTEM)
		return ANYWHERE;
	switch (x->space) {
	case SPACE_SHARED: return IN_SHARED;
	case SPACE_LOCAL: return IN_LOCAL;
	case SPACE_GLOBAL: return IN_GLOBAL;
	case SPACE_GENERIC: return ANYWHERE;
	default: return 0; /* nothing is written there */
	}
}

static bool reads_memory(const struct xop *x)
{
	return x->kind == X_LD || x->kind == X_ATOM || x->kind == X_ASYNC || x->kind == X_SYSTEM;
}

/* Operations that read where others may have put data bring data, too; true if there were more. */
static bool follow_memory(const struct ir *ir, const bool *ran, const bool *data, bool *brings,
                          unsigned *held)
{
	bool more = false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool writes =
			x->kind == X_ST || x->kind == X_ATOM || x->kind == X_RED || x->kind == X_SYSTEM;
		if (ran[o] && writes && any_source_is(x, data))
			*held |= memory_of(x);
	}
	if (*held && (*held & (IN_SHARED | IN_GLOBAL)))
		for (uint32_t o = 0; o < ir->n_ops; o++) /* copies between the two */
			if (ran[o] && memory_of(&ir->ops[o]) == ANYWHERE && ir->ops[o].kind == X_ASYNC)
				*held |= IN_SHARED | IN_GLOBAL;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		if (ran[o] && !brings[o] && reads_memory(x) && (memory_of(x) & *held))
			more = brings[o] = true;
	}
	return more;
}

bool values_decide(const struct ir *ir, const bool *from, const bool *ran, uint32_t *where)
{
	bool *data = mem_calloc(ir->n_regs + 1, sizeof *data), found = false;
	bool *brings = mem_calloc(ir->n_ops + 1, sizeof *brings);
	unsigned held = 0;
	memcpy(brings, from, ir->n_ops * sizeof *brings);
	do
		while (follow(ir, brings, data))
			;
	while (follow_memory(ir, ran, data, brings, &held));
	for (uint32_t o = 0; o < ir->n_ops && !found; o++)
		if (ran[o] && decides(&ir->ops[o], data)) {
			found = true;
			*where = o;
		}
	free(brings);
	free(data);
	return found;
}

/*
 * Values that machine code keeps in local memory because it ran out of registers: a register of
 * their own beside the memory.
 *
 *     STL [R1+8], R4    ...    LDL R6, [R1+8]
 *
 * What a load gives is 32 values of which nothing is known. But where every access to local memory
 * is at a known place and the stack pointer goes nowhere else, a place holds what was last stored:
 * an address that comes back is seen as scalar + pattern again. The accesses stay and are counted.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 256 }; /* words */

struct spills {
	struct ir *ir;
	bool *pointer; /* by register: local memory is addressed by it */
	struct place {
		uint32_t address;
		int32_t reg;
	} place[MAX_PLACES];
	unsigned n_places, n_accesses;
};

static bool is_local(const struct xop *x)
{
	return x->mem >= 0 && x->space == SPACE_LOCAL;
}

/* A number that is the same in every launch of the program: the stack pointer, and what is added
 * to it. */
static bool constant_of(const struct ir *ir, const struct xsrc *s, unsigned depth, uint64_t *value)
{
	*value = s->value;
	if (s->kind == S_CONST)
		return true;
	const int32_t o = s->kind == S_REG ? ir->only_def[s->reg] : -1;
	uint64_t v[4] = { 0 };
	if (o < 0 || !depth)
		return false;
	const struct xop *x = &ir->ops[o];
	if (x->kind != X_OP || x->guard >= 0 || x->n_s > 4)
		return false;
	for (unsigned i = 0; i < x->n_s; i++)
		if (!constant_of(ir, &x->s[i], depth - 1, &v[i]))
			return false;
	*value = emu_ops[x->op].fold(v[0], v[1], v[2], v[3]);
	return true;
}

/* The place of an access, or false: it is not known, or not of whole words. */
static bool address_of(const struct ir *ir, const struct xop *x, uint32_t *address)
{
	uint64_t base;
	if (x->kind != X_LD && x->kind != X_ST)
		return false;
	if (x->bytes != 4 || !constant_of(ir, &x->s[0], 4, &base))
		return false;
	*address = (uint32_t)base + (uint32_t)x->offset;
	return *address % 4 == 0;
}

/* The register of a place: a new one at first sight; -1 = there are too many. */
static int32_t register_of(struct spills *s, uint32_t address)
{
	struct ir *ir = s->ir;
	for (unsigned n = 0; n < s->n_places; n++)
		if (s->place[n].address == address)
			return s->place[n].reg;
	if (s->n_places == MAX_PLACES)
		return -1;
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] = (struct xreg){ .bytes = 4 };
	s->place[s->n_places++] = (struct place){ address, (int32_t)ir->n_regs };
	return (int32_t)ir->n_regs++;
}

/* Is all local memory at known places, with nobody else to reach it? Finds its pointers. */
static bool all_known(struct spills *s)
{
	const struct ir *ir = s->ir;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		uint32_t address;
		if (x->kind == X_CALL || x->kind == X_RET)
			return false;
		if (!is_local(x))
			continue;
		if (!address_of(ir, x, &address))
			return false;
		if (x->s[0].kind == S_REG)
			s->pointer[x->s[0].reg] = true;
		s->n_accesses++;
	}
	return s->n_accesses > 0;
}

/* Does an operation other than these accesses, or another pointer, read a pointer? */
static bool pointer_leaves(const struct spills *s)
{
	const struct ir *ir = s->ir;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool makes_one =
			x->kind == X_OP && x->n_d == 1 && x->d[0] >= 0 && s->pointer[x->d[0]];
		for (unsigned i = 0; i < x->n_s; i++)
			if (x->s[i].kind == S_REG && s->pointer[x->s[i].reg] && !(is_local(x) && i == 0) &&
			    !makes_one)
				return true;
	}
	return false;
}

static struct xop move(const struct xop *beside, int32_t to, struct xsrc from)
{
	return (struct xop){ .kind = X_OP,
		                 .op = E_mov_b32,
		                 .n_d = 1,
		                 .d = { to },
		                 .n_s = 1,
		                 .s = { from },
		                 .guard = beside->guard,
		                 .guard_neg = beside->guard_neg,
		                 .pc = beside->pc,
		                 .target = beside->target,
		                 .mem = -1,
		                 .vec = 1 };
}

/* The access @x at @ops, and behind it what it does to the registers of its places. */
static uint32_t put_access(struct spills *s, struct xop x, uint32_t address, struct xop *ops)
{
	uint32_t n = 1;
	for (unsigned k = 0; k < x.vec; k++) {
		const int32_t reg = register_of(s, address + 4 * k);
		if (x.kind == X_ST) {
			ops[n++] = move(&x, reg, x.s[1 + k]);
		} else if (x.d[k] >= 0) {
			ops[n++] = move(&x, x.d[k], (struct xsrc){ .kind = S_REG, .reg = reg });
			x.d[k] = -1;
		}
	}
	ops[0] = x;
	return n;
}

static void add_moves(struct spills *s)
{
	struct ir *ir = s->ir;
	const uint32_t room = ir->n_ops + s->n_accesses * X_MAX_VEC + 1;
	struct xop *ops = mem_calloc(room, sizeof *ops);
	uint32_t to = 0;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		struct xblock *xb = &ir->blocks[b];
		const uint32_t first = to;
		for (uint32_t o = xb->first; o < xb->end; o++) {
			const struct xop *x = &ir->ops[o];
			uint32_t address;
			if (is_local(x) && address_of(ir, x, &address))
				to += put_access(s, *x, address, &ops[to]);
			else
				ops[to++] = *x;
		}
		xb->first = first;
		xb->end = to;
	}
	free(ir->ops);
	ir->ops = ops;
	ir->cap_ops = room;
	ir->n_ops = to;
}

/* Registers for all places before the code is touched: false = there are too many. */
static bool enough_registers(struct spills *s)
{
	const struct ir *ir = s->ir;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		uint32_t address;
		if (!is_local(x) || !address_of(ir, x, &address))
			continue;
		for (unsigned k = 0; k < x->vec; k++)
			if (register_of(s, address + 4 * k) < 0)
				return false;
	}
	return true;
}

bool spills_keep(struct ir *ir)
{
	struct spills s = { .ir = ir, .pointer = mem_calloc(ir->n_regs + 1, sizeof(bool)) };
	const bool kept = all_known(&s) && !pointer_leaves(&s) && enough_registers(&s);
	if (kept) {
		add_moves(&s);
		ir_find_only_defs(ir);
	}
	free(s.pointer);
	return kept;
}

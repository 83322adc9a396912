/*
 * Gives every web of a register a register of its own: writes and the reads that they reach.
 *
 * An assembler packs many values into few registers, one after the other. What is known of a
 * register holds for all that is ever written to it, so that nothing would be known of most.
 * Muchnick, "Advanced Compiler Design and Implementation", 1997, 16.3: right number of registers.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct webs {
	struct ir *ir;
	struct liveness live;
	int32_t *number; /* register -> its number among those that may be split, -1 = it stays */
	int32_t *reg_of; /* and back */
	unsigned n_split;
	/* Nodes are the writes, and per block what a register holds at its start: a forest of sets. */
	int32_t *parent;
	unsigned n_nodes, cap_nodes;
	int32_t *current; /* by number, while a block is walked through: the node that it holds */
};

static int32_t root_of(struct webs *w, int32_t n)
{
	while (w->parent[n] != n) {
		w->parent[n] = w->parent[w->parent[n]];
		n = w->parent[n];
	}
	return n;
}

static void join(struct webs *w, int32_t a, int32_t b)
{
	a = root_of(w, a);
	b = root_of(w, b);
	if (a < b)
		w->parent[b] = a;
	else
		w->parent[a] = b;
}

/* Registers with more than one write. Those with slots of their own are read by number. */
static void find_split(struct webs *w)
{
	const struct ir *ir = w->ir;
	uint32_t *writes = mem_calloc(ir->n_regs + 1, sizeof *writes);
	for (unsigned o = 0; o < ir->n_ops; o++)
		for (unsigned i = 0; i < ir->ops[o].n_d; i++)
			if (ir->ops[o].d[i] >= 0)
				writes[ir->ops[o].d[i]]++;
	w->number = mem_calloc(ir->n_regs + 1, sizeof *w->number);
	w->reg_of = mem_calloc(ir->n_regs + 1, sizeof *w->reg_of);
	for (unsigned r = 0; r < ir->n_regs; r++) {
		w->number[r] = -1;
		if (writes[r] < 2 || ir->regs[r].fixed)
			continue;
		w->reg_of[w->n_split] = (int32_t)r;
		w->number[r] = (int32_t)w->n_split++;
	}
	free(writes);
}

static int32_t *held_at(struct webs *w, const int32_t *reg)
{
	const int32_t n = *reg < 0 ? -1 : w->number[*reg];
	return n < 0 ? NULL : &w->current[n];
}

static void enter_block(struct webs *w, unsigned b)
{
	for (unsigned n = 0; n < w->n_split; n++)
		w->current[n] = (int32_t)(b * w->n_split + n);
}

static void join_successors(struct webs *w, unsigned b)
{
	int32_t to;
	for (unsigned i = 0; (to = xblock_succ(&w->ir->blocks[b], i)) != -2; i++)
		for (unsigned n = 0; to >= 0 && n < w->n_split; n++)
			if (bits_get(bits_row(&w->live.in, (unsigned)to), (unsigned)w->reg_of[n]))
				join(w, w->current[n], (int32_t)((unsigned)to * w->n_split + n));
}

static void find_webs(struct webs *w)
{
	const struct ir *ir = w->ir;
	w->n_nodes = ir->n_blocks * w->n_split;
	for (unsigned o = 0; o < ir->n_ops; o++)
		w->n_nodes += ir->ops[o].n_d;
	w->parent = mem_calloc(w->n_nodes + 1, sizeof *w->parent);
	for (unsigned n = 0; n < w->n_nodes; n++)
		w->parent[n] = (int32_t)n;
	int32_t node = (int32_t)(ir->n_blocks * w->n_split);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		enter_block(w, b);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			const struct xop *x = &ir->ops[o];
			for (unsigned i = 0; i < x->n_d; i++, node++) {
				int32_t *held = held_at(w, &x->d[i]);
				if (held && x->guard >= 0) /* lanes without the guard keep what was there */
					join(w, *held, node);
				if (held)
					*held = node;
			}
		}
		join_successors(w, b);
	}
}

/* The first web that is met keeps the register. */
static int32_t reg_of_web(struct webs *w, int32_t *reg_of_root, bool *taken, int32_t reg,
                          int32_t node)
{
	struct ir *ir = w->ir;
	int32_t *r = &reg_of_root[root_of(w, node)];
	if (*r >= 0)
		return *r;
	if (!taken[w->number[reg]]) {
		taken[w->number[reg]] = true;
		return *r = reg;
	}
	MEM_ROOM(ir->regs, ir->n_regs, ir->cap_regs, 64);
	ir->regs[ir->n_regs] = ir->regs[reg];
	return *r = (int32_t)ir->n_regs++;
}

static void rename_registers(struct webs *w)
{
	struct ir *ir = w->ir;
	int32_t *reg_of_root = mem_calloc(w->n_nodes + 1, sizeof *reg_of_root);
	bool *taken = mem_calloc(w->n_split + 1, sizeof *taken);
	const int32_t *held;
	memset(reg_of_root, 0xff, (w->n_nodes + 1) * sizeof *reg_of_root);
	int32_t node = (int32_t)(ir->n_blocks * w->n_split);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		enter_block(w, b);
		for (uint32_t o = ir->blocks[b].first; o < ir->blocks[b].end; o++) {
			struct xop *x = &ir->ops[o];
			for (unsigned i = 0; i < x->n_s; i++)
				if (x->s[i].kind == S_REG && (held = held_at(w, &x->s[i].reg)))
					x->s[i].reg = reg_of_web(w, reg_of_root, taken, x->s[i].reg, *held);
			if (x->guard >= 0 && (held = held_at(w, &x->guard)))
				x->guard = reg_of_web(w, reg_of_root, taken, x->guard, *held);
			for (unsigned i = 0; i < x->n_d; i++, node++) {
				int32_t *now = held_at(w, &x->d[i]);
				if (!now)
					continue;
				*now = node;
				x->d[i] = reg_of_web(w, reg_of_root, taken, x->d[i], node);
			}
		}
	}
	free(reg_of_root);
	free(taken);
}

void webs_split(struct ir *ir)
{
	struct webs w = { .ir = ir };
	flow_liveness(ir, &w.live);
	find_split(&w);
	w.current = mem_calloc(w.n_split + 1, sizeof *w.current);
	find_webs(&w);
	rename_registers(&w);
	ir_find_only_defs(ir);
	liveness_free(&w.live);
	free(w.number);
	free(w.reg_of);
	free(w.parent);
	free(w.current);
}

/*
 * Which instructions an instruction of machine code depends on: reaching definitions.
 *
 * Along every way back from an instruction, each register that it reads is followed to the first
 * instruction that writes it; one that writes under a guard may have left the old value, so the way
 * goes on behind it. Ways through a call's target are not followed: a called function is behind its
 * CALL.
 */
#include "sass/code_of.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A register of one of the four files. */
struct unit {
	uint8_t kind; /* SASS_OPND_REG, UREG, PRED, UPRED */
	uint16_t number;
};

/* A predecessor list: of instruction i, those at [start[i], start[i + 1]). */
struct preds {
	uint32_t *start, *from;
};

static bool has_condition(const struct sass_inst *i)
{
	for (unsigned n = 0; n < i->n_operands; n++) {
		const struct sass_operand *o = &i->operands[n];
		if ((o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED) &&
		    (o->reg != SASS_PT || (o->flags & SASS_NOT)))
			return true;
	}
	return false;
}

static bool always(const struct sass_inst *i)
{
	return i->guard == SASS_PT && !i->guard_not;
}

/* Can the instruction behind it be the next one? */
static bool falls_through(const struct sass_inst *i)
{
	switch (sass_op_info(i->op)->flow) {
	case SASS_FLOW_BRANCH:
	case SASS_FLOW_INDIRECT:
	case SASS_FLOW_RETURN:
	case SASS_FLOW_EXIT: return !always(i) || has_condition(i);
	default: return true;
	}
}

static bool jumps(const struct sass_inst *i)
{
	const enum sass_flow flow = sass_op_info(i->op)->flow;
	return flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_INDIRECT;
}

/* Calls @edge with every pair (from, to). */
static void each_edge(const struct sass_func *f,
                      void (*edge)(struct preds *p, uint32_t from, uint32_t to), struct preds *p)
{
	for (uint32_t i = 0; i < f->n_insts; i++) {
		const struct sass_inst *x = &f->insts[i];
		if (falls_through(x) && i + 1 < f->n_insts)
			edge(p, i, i + 1);
		if (!jumps(x))
			continue;
		if (x->target != SASS_NO_TARGET)
			edge(p, i, (uint32_t)x->target);
		for (uint32_t n = 0; n < x->n_targets; n++)
			edge(p, i, x->targets[n]);
	}
}

static void count_edge(struct preds *p, uint32_t from, uint32_t to)
{
	(void)from;
	p->start[to + 1]++;
}

/* start[] has the ends so far; they move down to the starts. */
static void put_edge(struct preds *p, uint32_t from, uint32_t to)
{
	p->from[--p->start[to + 1]] = from;
}

static struct preds preds_of(const struct sass_func *f)
{
	struct preds p = { .start = mem_calloc(f->n_insts + 2u, sizeof *p.start) };
	each_edge(f, count_edge, &p);
	for (uint32_t i = 0; i < f->n_insts; i++)
		p.start[i + 1] += p.start[i];
	p.from = mem_calloc(p.start[f->n_insts] + 1u, sizeof *p.from);
	p.start[f->n_insts + 1] = p.start[f->n_insts];
	each_edge(f, put_edge, &p);
	/* put_edge() left the start of i in start[i + 1] */
	memmove(p.start, p.start + 1, f->n_insts * sizeof *p.start);
	p.start[f->n_insts] = p.start[f->n_insts + 1];
	return p;
}

static bool in_row(uint16_t first, unsigned words, uint16_t number)
{
	return number >= first && number < first + words;
}

static bool writes(const struct sass_inst *i, struct unit u)
{
	for (unsigned n = 0; n < i->n_dsts; n++) {
		const struct sass_operand *o = &i->operands[n];
		if (o->kind == SASS_OPND_PREDS)
			return u.kind == SASS_OPND_PRED;
		if (o->kind == u.kind && in_row(o->reg, o->words, u.number))
			return true;
	}
	return false;
}

struct search {
	const struct sass_func *f;
	struct preds preds;
	uint32_t *seen; /* the search that came to an instruction last */
	uint32_t now;
	uint32_t *stack;
};

static void add_source(struct code_inst *out, uint32_t from)
{
	for (unsigned k = 0; k < out->n_sources; k++)
		if (out->sources[k].index == from)
			return;
	if (out->n_sources < CODE_MAX_SOURCES)
		out->sources[out->n_sources++].index = from;
}

static void find(struct search *s, uint32_t of, struct unit u, struct code_inst *out)
{
	unsigned n = 0;
	s->now++;
	s->stack[n++] = of;
	while (n) {
		const uint32_t at = s->stack[--n];
		for (uint32_t k = s->preds.start[at]; k < s->preds.start[at + 1]; k++) {
			const uint32_t from = s->preds.from[k];
			const struct sass_inst *x = &s->f->insts[from];
			if (s->seen[from] == s->now)
				continue;
			s->seen[from] = s->now;
			const bool here = writes(x, u);
			if (here)
				add_source(out, from);
			if (!here || !always(x))
				s->stack[n++] = from;
		}
	}
}

static void find_row(struct search *s, uint32_t of, uint8_t kind, uint16_t first, unsigned words,
                     struct code_inst *out)
{
	const uint16_t none = kind == SASS_OPND_PRED || kind == SASS_OPND_UPRED ? SASS_PT : SASS_RZ;
	for (unsigned w = 0; w < words; w++) {
		const struct unit u = { .kind = kind, .number = (uint16_t)(first + w) };
		if (first != SASS_NO_REG && u.number < none)
			find(s, of, u, out);
	}
}

static void find_operand(struct search *s, uint32_t of, const struct sass_operand *o,
                         struct code_inst *out)
{
	switch (o->kind) {
	case SASS_OPND_REG:
	case SASS_OPND_UREG:
	case SASS_OPND_PRED:
	case SASS_OPND_UPRED: find_row(s, of, o->kind, o->reg, o->words, out); break;
	case SASS_OPND_PREDS: find_row(s, of, SASS_OPND_PRED, 0, SASS_PT, out); break;
	case SASS_OPND_MATRIX:
	case SASS_OPND_CONST:
	case SASS_OPND_POLICY:
	case SASS_OPND_MEM:
		find_row(s, of, SASS_OPND_REG, o->reg, o->words, out);
		find_row(s, of, SASS_OPND_UREG, o->ureg, o->uwords, out);
		/* a descriptor of memory is two registers */
		find_row(s, of, SASS_OPND_UREG, o->desc, o->desc == SASS_NO_REG ? 0 : 2, out);
		break;
	default: break;
	}
}

void sass_sources(const struct sass_func *f, struct code_inst *out)
{
	struct search s = {
		.f = f,
		.preds = preds_of(f),
		.seen = mem_calloc(f->n_insts + 1u, sizeof *s.seen),
		.stack = mem_calloc(f->n_insts + 1u, sizeof *s.stack),
	};
	for (uint32_t i = 0; i < f->n_insts; i++) {
		const struct sass_inst *x = &f->insts[i];
		const uint8_t guard = x->guard_uniform ? SASS_OPND_UPRED : SASS_OPND_PRED;
		find_row(&s, i, guard, x->guard, 1, &out[i]);
		for (unsigned n = x->n_dsts; n < x->n_operands; n++)
			find_operand(&s, i, &x->operands[n], &out[i]);
	}
	free(s.preds.start);
	free(s.preds.from);
	free(s.seen);
	free(s.stack);
}

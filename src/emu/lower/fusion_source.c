/*
 * Where a source of a machine instruction may come from: back through the code, on all ways that
 * lead there. A call comes back behind itself; what the function that is called writes is not
 * looked at.
 */
#include "emu/lower/fusion_source.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- ways --- */

/* Blocks that may come behind block @b. */
static unsigned successors(const struct code_ways *c, const int32_t *block_of, unsigned b,
                           uint32_t next[SASS_MAX_WAYS + 2])
{
	const struct sass_inst *i = &c->f->insts[c->first[b + 1] - 1];
	const enum sass_flow flow = sass_op_info(i->op)->flow;
	const bool leaves = flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_INDIRECT ||
	                    flow == SASS_FLOW_RETURN || flow == SASS_FLOW_EXIT;
	unsigned n = 0;
	if (i->target >= 0 && (flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_CALL))
		next[n++] = (uint32_t)block_of[i->target];
	for (unsigned t = 0; t < i->n_targets && n < SASS_MAX_WAYS; t++)
		next[n++] = (uint32_t)block_of[i->targets[t]];
	if (b + 1 < c->n_blocks && !(leaves && sass_unconditional(i)))
		next[n++] = b + 1;
	return n;
}

void code_ways_find(struct code_ways *c, const struct sass_func *f)
{
	int32_t *block_of = mem_calloc(f->n_insts + 1, sizeof *block_of);
	uint32_t next[SASS_MAX_WAYS + 2];
	*c = (struct code_ways){ .f = f, .n_blocks = sass_block_starts(f, block_of) };
	c->first = mem_calloc(c->n_blocks + 1, sizeof *c->first);
	for (unsigned k = 0; k < f->n_insts; k++)
		if (block_of[k] >= 0)
			c->first[block_of[k]] = k;
	c->first[c->n_blocks] = f->n_insts;
	c->way = mem_calloc(c->n_blocks + 2, sizeof *c->way);
	for (unsigned b = 0; b < c->n_blocks; b++)
		for (unsigned n = successors(c, block_of, b, next); n--;)
			c->way[next[n] + 2]++;
	for (unsigned b = 0; b < c->n_blocks; b++)
		c->way[b + 2] += c->way[b + 1];
	c->from = mem_calloc(c->way[c->n_blocks + 1] + 1, sizeof *c->from);
	for (unsigned b = 0; b < c->n_blocks; b++) /* way[b + 1] moves from its start to its end */
		for (unsigned n = successors(c, block_of, b, next); n--;)
			c->from[c->way[next[n] + 1]++] = b;
	free(block_of);
}

void code_ways_free(struct code_ways *c)
{
	free(c->first);
	free(c->way);
	free(c->from);
}

static unsigned block_at(const struct code_ways *c, uint32_t inst)
{
	unsigned low = 0, high = c->n_blocks;
	while (high - low > 1) {
		const unsigned mid = (low + high) / 2;
		*(c->first[mid] <= inst ? &low : &high) = mid;
	}
	return low;
}

/* --- what writes a register --- */

static bool writes(const struct sass_inst *i, uint16_t reg)
{
	for (unsigned n = 0; n < i->n_dsts; n++) {
		const struct sass_operand *d = &i->operands[n];
		if (d->kind == SASS_OPND_REG && reg >= d->reg && reg < d->reg + d->words)
			return true;
	}
	return false;
}

static bool is_nothing(const struct sass_operand *o)
{
	return o->kind == SASS_OPND_REG && o->reg == SASS_RZ;
}

bool sass_moves_constant(const struct sass_inst *i)
{
	const struct sass_operand *o = &i->operands[i->n_dsts];
	return i->n_operands - i->n_dsts >= 2 && is_nothing(&o[0]) && is_nothing(&o[1]);
}

static bool is_move(const struct sass_inst *i)
{
	switch (i->op) {
	case SASS_MOV: return true;
	case SASS_IMAD:
	case SASS_FFMA:
	case SASS_FFMA32I:
	case SASS_HFMA2:
	case SASS_HFMA2_32I:
	case SASS_DFMA: return sass_moves_constant(i);
	default: return false;
	}
}

/* Does it fill a register with a number? */
static bool is_filling(const struct sass_inst *i)
{
	const struct sass_operand *last = &i->operands[i->n_operands - 1];
	return is_move(i) && (last->kind == SASS_OPND_INT || last->kind == SASS_OPND_FLOAT);
}

/* The register that it moves, as it is; -1 = it does something else. */
static int32_t moved(const struct sass_inst *i)
{
	const bool whole = i->op == SASS_MOV || (i->op == SASS_IMAD && sass_moves_constant(i));
	const struct sass_operand *last = &i->operands[i->n_operands - 1];
	const bool plain = last->kind == SASS_OPND_REG && last->reg != SASS_RZ && last->words == 1;
	return whole && plain && !(last->flags & (SASS_NEG | SASS_ABS)) ? last->reg : -1;
}

/* --- backwards --- */

enum { PLACES = 64 }; /* looked at for one source: what lies further away is not told */
struct place {        /* register @reg is looked for in @block, before instruction @end */
	uint32_t block, end;
	uint16_t reg;
};
struct search {
	const struct code_ways *c;
	struct place place[PLACES];
	unsigned n, lines;
};

static void add_place(struct search *s, struct place p)
{
	for (unsigned k = 0; k < s->n; k++)
		if (s->place[k].end == p.end && s->place[k].reg == p.reg && s->place[k].block == p.block)
			return;
	if (s->n < PLACES)
		s->place[s->n++] = p;
}

static void add_line(struct search *s, struct fusion_source *to, uint32_t line)
{
	for (unsigned k = 0; k < s->lines; k++)
		if (to->line[k] == line)
			return;
	if (line && s->lines < FUSION_LINES)
		to->line[s->lines++] = line;
}

static void look_back(struct search *s, struct place at, struct fusion_source *to)
{
	const struct code_ways *c = s->c;
	for (uint32_t k = at.end; k > c->first[at.block]; k--) {
		const struct sass_inst *i = &c->f->insts[k - 1];
		if (!writes(i, at.reg))
			continue;
		const int32_t from = moved(i);
		if (is_filling(i))
			to->number = true;
		else
			add_line(s, to, i->ptx_line);
		if (from >= 0)
			add_place(s, (struct place){ at.block, k - 1, (uint16_t)from });
		if (i->guard == SASS_PT)
			return;
	}
	for (uint32_t w = c->way[at.block]; w < c->way[at.block + 1]; w++)
		add_place(s, (struct place){ c->from[w], c->first[c->from[w] + 1], at.reg });
}

void code_source(const struct code_ways *c, const struct sass_inst *i, uint16_t reg,
                 struct fusion_source *s)
{
	struct search search = { .c = c };
	const uint32_t at = (uint32_t)(i - c->f->insts);
	add_place(&search, (struct place){ block_at(c, at), at, reg });
	for (unsigned n = 0; n < search.n && search.lines < FUSION_LINES; n++)
		look_back(&search, search.place[n], s);
}

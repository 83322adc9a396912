/*
 * Calls between functions that stand in sections of their own, as the linker of relocatable device
 * code (nvcc -rdc=true) leaves them: each kernel gets a copy of the functions that it calls behind
 * its own code, as the assembler puts them there where one file is compiled by itself. Offsets of
 * the copies go on where the code before ended; what holds the offset of a place moves with it.
 *
 * Left as it is, and so refused by those who run it: a call of what the cubin does not hold, or of
 * a function with constants of its own, which a kernel's bank has no room for.
 */
#include "sass/sass_parts.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
	struct sass_module *m;
	struct sass_func *f; /* the kernel */
	uint32_t end;        /* offset behind all code so far */
	int32_t *first;      /* by function: its first instruction in the kernel, -1 = not there */
};

static bool has_constants(const struct cubin *c, unsigned func)
{
	for (unsigned k = 0; k < c->n_banks; k++)
		if (c->banks[k].func == (int)func && c->banks[k].bank)
			return true;
	return false;
}

static int function_named(const struct sass_module *m, const char *name)
{
	for (unsigned f = 0; f < m->n_funcs; f++)
		if (!strcmp(m->funcs[f].name, name))
			return (int)f;
	return -1;
}

/* Of the library by which kernels launch kernels: who runs the code has functions of his own. */
static bool of_device_runtime(const char *name)
{
	static const char prefix[] = "__cudaCDP2";
	return !strncmp(name, prefix, sizeof prefix - 1);
}

/* The function that @i calls by its name; -1 = none that can be linked. */
static int callee(const struct link *l, const struct sass_inst *i)
{
	if (sass_op_info(i->op)->flow != SASS_FLOW_CALL || i->target >= 0 || i->n_operands != 1 ||
	    i->operands[0].kind != SASS_OPND_LABEL || !i->operands[0].symbol ||
	    of_device_runtime(i->operands[0].symbol))
		return -1;
	const int to = function_named(l->m, i->operands[0].symbol);
	if (to < 0 || l->m->funcs[to].cubin->entry || has_constants(&l->m->cubin, (unsigned)to))
		return -1;
	return to;
}

/* Operands of its own, places in the code @base further. */
static void move_operands(struct link *l, struct sass_inst *i, uint32_t base)
{
	if (!i->n_operands)
		return;
	struct sass_operand *o = sass_pool_get(&l->m->pool, i->n_operands * sizeof *o);
	memcpy(o, i->operands, i->n_operands * sizeof *o);
	for (unsigned n = 0; n < i->n_operands; n++)
		if (o[n].symbol ? o[n].kind == SASS_OPND_INT : o[n].kind == SASS_OPND_LABEL)
			o[n].value += base;
	i->operands = o;
}

static void move(struct link *l, struct sass_inst *i, uint32_t base, uint32_t first)
{
	i->offset += base;
	move_operands(l, i, base);
	if (i->target >= 0)
		i->target += (int32_t)first;
	if (!i->n_targets)
		return;
	uint32_t *targets = sass_pool_get(&l->m->pool, i->n_targets * sizeof *targets);
	for (unsigned n = 0; n < i->n_targets; n++)
		targets[n] = i->targets[n] + first;
	i->targets = targets;
}

/* "$KERNEL$FUNCTION", as the assembler calls such a copy. */
static void name_it(struct link *l, const struct sass_func *from)
{
	struct cubin_func *c = &l->m->cubin.funcs[l->f - l->m->funcs];
	const size_t n = strlen(l->f->name) + strlen(from->name) + 3;
	char *name = sass_pool_get(&l->m->pool, n);
	snprintf(name, n, "$%s$%s", l->f->name, from->name);
	c->inner = mem_realloc(c->inner, c->n_inner + 1, sizeof *c->inner);
	c->inner[c->n_inner++] = (struct cubin_inner){ .name = name, .offset = l->end };
}

static void append(struct link *l, unsigned func)
{
	struct sass_func *f = l->f;
	const struct sass_func *from = &l->m->funcs[func];
	const uint32_t first = f->n_insts;
	l->first[func] = (int32_t)first;
	name_it(l, from);
	f->insts = mem_realloc(f->insts, first + from->n_insts, sizeof *f->insts);
	memcpy(f->insts + first, from->insts, from->n_insts * sizeof *f->insts);
	f->n_insts += from->n_insts;
	for (uint32_t k = first; k < f->n_insts; k++)
		move(l, &f->insts[k], l->end, first);
	l->end += (uint32_t)from->cubin->code_bytes;
}

void sass_link(struct sass_module *m)
{
	struct link l = { .m = m, .first = mem_calloc(m->n_funcs + 1u, sizeof *l.first) };
	for (unsigned k = 0; k < m->n_funcs; k++) {
		l.f = &m->funcs[k];
		if (!l.f->cubin->entry)
			continue;
		l.end = (uint32_t)l.f->cubin->code_bytes;
		memset(l.first, 0xff, m->n_funcs * sizeof *l.first);
		for (unsigned i = 0; i < l.f->n_insts; i++) { /* those that are appended, too */
			const int to = callee(&l, &l.f->insts[i]);
			if (to < 0)
				continue;
			if (l.first[to] < 0)
				append(&l, (unsigned)to);
			move_operands(&l, &l.f->insts[i], 0);
			struct sass_operand *o = (struct sass_operand *)&l.f->insts[i].operands[0];
			l.f->insts[i].target = l.first[to];
			o->value = l.f->insts[l.first[to]].offset;
			o->symbol = NULL;
		}
	}
	free(l.first);
}

/* Functions as one; see link.h. */
#include "ptx/link.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int32_t link_resolve(const struct ptx_module *m, int32_t index)
{
	for (unsigned i = 0; i < m->n_funcs && m->funcs[index].alias_of; i++)
		index = (int32_t)m->funcs[index].alias_of - 1;
	return index;
}

/* --- which functions --- */

struct finder {
	const struct ptx_module *m;
	struct linked *l;
	bool *by_pointer; /* by function: its address is taken */
	bool indirect;    /* an indirect call is reached */
};

static void add_part(struct finder *f, int32_t index)
{
	struct linked *l = f->l;
	index = link_resolve(f->m, index);
	if (l->part_of[index] >= 0 || !f->m->funcs[index].has_body)
		return;
	l->part = mem_realloc(l->part, l->n_parts + 1u, sizeof *l->part);
	l->part_of[index] = (int32_t)l->n_parts;
	l->part[l->n_parts] =
		(struct link_part){ .f = &f->m->funcs[index], .index = index, .called = l->n_parts > 0 };
	l->n_parts++;
}

static void look_through(struct finder *f, const struct ptx_func *func)
{
	for (unsigned i = 0; i < func->n_insts; i++) {
		const struct ptx_inst *in = &func->insts[i];
		if (in->op != OP_CALL)
			continue;
		if (in->opnd[0].kind == OPND_FUNC)
			add_part(f, in->opnd[0].symbol);
		f->indirect |= in->opnd[0].kind == OPND_REG;
	}
}

/* A pointer may be what another kernel left in memory: all that the module takes count. */
static void find_pointers(struct finder *f)
{
	const struct ptx_module *m = f->m;
	for (unsigned v = 0; v < m->n_vars; v++)
		for (unsigned k = 0; k < m->vars[v].n_relocs; k++)
			if (m->vars[v].relocs[k].is_func)
				f->by_pointer[m->vars[v].relocs[k].symbol] = true;
	for (unsigned g = 0; g < m->n_funcs; g++)
		for (unsigned i = 0; i < m->funcs[g].n_insts; i++) {
			const struct ptx_inst *in = &m->funcs[g].insts[i];
			for (unsigned k = in->op == OP_CALL; k < in->n_opnds; k++)
				if (in->opnd[k].kind == OPND_FUNC)
					f->by_pointer[in->opnd[k].symbol] = true;
		}
}

static void find_parts(struct finder *f)
{
	find_pointers(f);
	for (unsigned i = 0; i < f->l->n_parts; i++) { /* grows on the way */
		look_through(f, f->l->part[i].f);
		for (unsigned g = 0; f->indirect && i + 1 == f->l->n_parts && g < f->m->n_funcs; g++)
			if (f->by_pointer[g])
				add_part(f, (int32_t)g);
	}
}

/* --- who calls whom --- */

static uint64_t *reach_row(const struct linked *l, unsigned part)
{
	return l->reach + (size_t)part * ((l->n_parts + 63u) / 64);
}

static bool reaches(const struct linked *l, unsigned from, unsigned to)
{
	return reach_row(l, from)[to / 64] >> (to % 64) & 1;
}

static void find_reach(const struct finder *f)
{
	struct linked *l = f->l;
	const unsigned words = (l->n_parts + 63u) / 64;
	l->reach = mem_calloc((size_t)l->n_parts * words, sizeof *l->reach);
	for (unsigned p = 0; p < l->n_parts; p++) {
		const struct ptx_func *func = l->part[p].f;
		uint64_t *row = reach_row(l, p);
		for (unsigned i = 0; i < func->n_insts; i++) {
			const struct ptx_inst *in = &func->insts[i];
			if (in->op != OP_CALL)
				continue;
			for (unsigned q = 1; q < l->n_parts; q++) {
				const bool direct = in->opnd[0].kind == OPND_FUNC &&
				                    link_resolve(f->m, in->opnd[0].symbol) == l->part[q].index;
				if (direct || in->opnd[0].kind == OPND_REG) /* any of those with an address */
					row[q / 64] |= (uint64_t)1 << (q % 64);
			}
		}
	}
	for (unsigned via = 0; via < l->n_parts; via++)
		for (unsigned p = 0; p < l->n_parts; p++)
			for (unsigned w = 0; reaches(l, p, via) && w < words; w++)
				reach_row(l, p)[w] |= reach_row(l, via)[w];
	for (unsigned p = 0; p < l->n_parts; p++)
		l->part[p].recursive = reaches(l, p, p);
}

bool link_recurses(const struct linked *l, unsigned from, unsigned to)
{
	return from == to ? reaches(l, from, from) : reaches(l, to, from);
}

/* --- one function, with what is added --- */

struct growing { /* the linked function */
	struct ptx_func *f;
	size_t cap_insts;
};

static struct ptx_inst *add_inst(struct growing *g, const struct ptx_inst *from)
{
	MEM_ROOM(g->f->insts, g->f->n_insts, g->cap_insts, 256);
	struct ptx_inst *in = &g->f->insts[g->f->n_insts++];
	*in = *from;
	return in;
}

static struct ptx_inst *make_inst(struct growing *g, enum ptx_op op, const struct ptx_inst *from)
{
	struct ptx_inst *in = add_inst(g, from);
	in->op = op;
	in->made = true;
	in->guard = -1;
	return in;
}

static bool calls_code(const struct linked *l, const struct ptx_module *m,
                       const struct ptx_inst *in)
{
	if (in->op != OP_CALL)
		return false;
	return in->opnd[0].kind == OPND_REG || l->part_of[link_resolve(m, in->opnd[0].symbol)] >= 0;
}

static bool falls_through(const struct ptx_inst *last)
{
	const bool ends = last->op == OP_RET || last->op == OP_EXIT || last->op == OP_TRAP ||
	                  last->op == OP_BRA || last->op == OP_BRX_IDX;
	return !ends || last->guard >= 0;
}

/* Part @p alone, from the linked function's end on, with a control-flow graph of its own. */
static bool expand_part(struct linked *l, const struct ptx_module *m, unsigned p,
                        struct ptx_func *out, struct err *err)
{
	const struct ptx_func *f = l->part[p].f;
	static const struct ptx_inst nothing = { .guard = -1, .vec = 1 };
	struct growing g = { .f = out };
	struct ptx_label *labels = mem_calloc(f->n_blocks + f->n_insts + 1u, sizeof *labels);
	unsigned n_labels = f->n_blocks;
	*out = (struct ptx_func){ .name = f->name, .n_lists = f->n_lists };
	out->lists = mem_calloc(f->n_lists + 1u, sizeof *out->lists);
	for (unsigned i = 0; i < f->n_lists; i++)
		out->lists[i] = f->lists[i];
	if (p)
		make_inst(&g, OP_ARRIVAL, f->n_insts ? &f->insts[0] : &nothing)->n_opnds = 0;
	unsigned block = 0;
	for (unsigned i = 0; i < f->n_insts; i++) {
		const struct ptx_inst *in = &f->insts[i];
		while (block < f->n_blocks && f->blocks[block].first == i)
			labels[block++].inst = out->n_insts;
		if (!calls_code(l, m, in)) {
			add_inst(&g, in);
			continue;
		}
		if (in->guard >= 0) {
			struct ptx_inst *skip = make_inst(&g, OP_BRA, in);
			skip->guard = in->guard;
			skip->guard_negated = !in->guard_negated;
			skip->opnd[0] = (struct ptx_operand){ .kind = OPND_LABEL, .label = (int32_t)n_labels };
			skip->n_opnds = 1;
		}
		add_inst(&g, in)->guard = -1;
		make_inst(&g, OP_LANDING, in);
		if (in->guard >= 0)
			labels[n_labels++].inst = out->n_insts;
	}
	if (!out->n_insts || falls_through(&out->insts[out->n_insts - 1]) ||
	    (n_labels && labels[n_labels - 1].inst == out->n_insts))
		make_inst(&g, OP_RET, out->n_insts ? &out->insts[out->n_insts - 1] : &nothing)->n_opnds = 0;
	const bool ok = ptx_build_cfg(out, labels, n_labels, err);
	free(labels);
	return ok;
}

/* --- all of them in a row --- */

static void shift(int32_t *index, uint32_t by)
{
	if (*index >= 0)
		*index += (int32_t)by;
}

static void shift_inst(struct ptx_inst *in, const struct link_part *p, uint32_t lists)
{
	shift(&in->guard, p->first_reg);
	for (unsigned k = 0; k < in->n_opnds; k++) {
		struct ptx_operand *o = &in->opnd[k];
		if (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->addr_base == ADDR_REG))
			shift(&o->reg, p->first_reg);
		else if (o->kind == OPND_VEC)
			for (unsigned i = 0; i < o->n_vec; i++)
				shift(&o->vec[i], p->first_reg);
		else if (o->kind == OPND_LABEL)
			shift(&o->label, p->first_block);
		else if (o->kind == OPND_LIST)
			o->reg += (int32_t)lists;
	}
}

static void *appended(void *to, size_t have, const void *from, size_t n, size_t bytes)
{
	char *all = mem_realloc(to, have + n + 1, bytes);
	if (n)
		memcpy(all + have * bytes, from, n * bytes);
	return all;
}

static void append_part(struct linked *l, struct link_part *p, struct ptx_func *e)
{
	struct ptx_func *f = &l->func;
	const uint32_t lists = f->n_lists;
	p->first_inst = f->n_insts;
	p->first_reg = f->n_regs;
	p->first_block = f->n_blocks;
	p->first_param = l->n_params;
	l->n_params += p->f->n_params + p->f->n_rets;
	bool *done = mem_calloc(e->n_lists + 1u, sizeof *done);
	for (unsigned i = 0; i < e->n_insts; i++) {
		const struct ptx_operand *table = &e->insts[i].opnd[1], *d = &e->insts[i].opnd[0];
		if (d->kind == OPND_LIST && d->label == LIST_REGISTERS)
			for (int64_t k = 0; k < d->i64; k++)
				shift(&e->lists[d->reg + k], p->first_reg);
		if (e->insts[i].op == OP_BRX_IDX && !done[table->reg]) {
			done[table->reg] = true;
			for (int64_t k = 0; k < table->i64; k++)
				shift(&e->lists[table->reg + k], p->first_block);
		}
		shift_inst(&e->insts[i], p, lists);
	}
	free(done);
	for (unsigned b = 0; b < e->n_blocks; b++) {
		struct ptx_block *x = &e->blocks[b];
		x->first += p->first_inst;
		x->last += p->first_inst;
		shift(&x->succ[0], p->first_block);
		shift(&x->succ[1], p->first_block);
		shift(&x->ipdom, p->first_block);
		shift(&x->reconv, p->first_block);
	}
	f->insts = appended(f->insts, f->n_insts, e->insts, e->n_insts, sizeof *f->insts);
	f->blocks = appended(f->blocks, f->n_blocks, e->blocks, e->n_blocks, sizeof *f->blocks);
	f->regs = appended(f->regs, f->n_regs, p->f->regs, p->f->n_regs, sizeof *f->regs);
	f->lists = appended(f->lists, f->n_lists, e->lists, e->n_lists, sizeof *f->lists);
	f->n_insts += e->n_insts;
	f->n_blocks += e->n_blocks;
	f->n_regs += p->f->n_regs;
	f->n_lists += e->n_lists;
	const uint32_t local = (p->f->local_bytes + 15) / 16 * 16;
	if (p->recursive) {
		l->frame_bytes = local > l->frame_bytes ? local : l->frame_bytes;
		return;
	}
	p->local_base = l->local_bytes;
	l->local_bytes += local;
}

static void body_free(struct ptx_func *f)
{
	free(f->insts);
	free(f->blocks);
	free(f->regs);
	free(f->lists);
}

bool link_functions(struct linked *l, const struct ptx_module *m, const struct ptx_func *entry,
                    struct err *err)
{
	*l = (struct linked){ .part_of = mem_alloc((m->n_funcs + 1u) * sizeof *l->part_of) };
	memset(l->part_of, 0xff, (m->n_funcs + 1u) * sizeof *l->part_of);
	struct finder f = { m, l, mem_calloc(m->n_funcs + 1u, sizeof(bool)), false };
	add_part(&f, (int32_t)(entry - m->funcs));
	find_parts(&f);
	bool ok = true;
	if (l->n_parts == 1 && !f.indirect) {
		l->local_bytes = (entry->local_bytes + 15) / 16 * 16;
		free(f.by_pointer);
		return true;
	}
	find_reach(&f);
	free(f.by_pointer);
	l->func.name = entry->name;
	l->func.is_entry = l->func.has_body = true;
	l->func.params = entry->params;
	l->func.n_params = entry->n_params;
	l->func.param_bytes = entry->param_bytes;
	for (unsigned p = 0; p < l->n_parts && ok; p++) {
		struct ptx_func expanded;
		ok = expand_part(l, m, p, &expanded, err);
		if (ok)
			append_part(l, &l->part[p], &expanded);
		body_free(&expanded);
	}
	return ok;
}

void linked_free(struct linked *l)
{
	body_free(&l->func);
	free(l->part);
	free(l->part_of);
	free(l->reach);
	*l = (struct linked){ 0 };
}

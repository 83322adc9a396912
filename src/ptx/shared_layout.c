/*
 * Offsets of variables. .global and .const variables follow one another in the order of the
 * module. .shared variables are laid out for each entry by itself, as ptxas 13.0 does it (seen
 * in the sizes that it reports): the entry's own in the order of their declaration, then those
 * of the module that it uses, then those of functions which it may call, then the dynamic
 * array, each at its alignment. A variable of the module that lies elsewhere in another entry
 * gets a copy for that entry; one that a called function uses lies at one place for all entries.
 * Knows nothing of banks or of the KiB that the hardware reserves.
 */
#include "ptx/parser.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct layout {
	struct ptx_module *m;
	unsigned n_vars; /* of the text; copies come behind */
	size_t vars_cap;
	struct ptx_operand **uses; /* every .shared symbol and every call target, by function */
	size_t n_uses, uses_cap;
	size_t *first_use; /* [func], and one more at the end */
	bool *by_callee;   /* [var]: used by a function that is no entry */
	bool *placed;      /* [var]: has an offset already */
	bool *used;        /* [var]: by the entry at hand itself */
	bool *via;         /* [var]: by a function that the entry at hand may call */
	bool *seen;        /* [func]: reached from the entry at hand */
	int32_t *stack;    /* [func]: still to visit */
};

static bool names_symbol(const struct ptx_operand *o)
{
	return o->kind == OPND_SYMBOL || (o->kind == OPND_ADDR && o->addr_base == ADDR_SYMBOL);
}

static void collect_uses(struct layout *l)
{
	const struct ptx_module *m = l->m;
	for (unsigned g = 0; g < m->n_funcs; g++) {
		const struct ptx_func *f = &m->funcs[g];
		l->first_use[g] = l->n_uses;
		for (unsigned i = 0; i < f->n_insts; i++)
			for (int k = 0; k < f->insts[i].n_opnds; k++) {
				struct ptx_operand *o = &f->insts[i].opnd[k];
				bool shared =
					names_symbol(o) && o->symbol >= 0 && m->vars[o->symbol].space == SPACE_SHARED;
				bool callee = o->kind == OPND_FUNC || (k == 0 && f->insts[i].op == OP_CALL);
				if (!shared && !callee)
					continue;
				grow_array(&l->uses, l->n_uses, &l->uses_cap, sizeof *l->uses);
				l->uses[l->n_uses++] = o;
				if (shared && !f->is_entry)
					l->by_callee[o->symbol] = true;
			}
	}
	l->first_use[m->n_funcs] = l->n_uses;
}

static void visit_func(struct layout *l, size_t *depth, int32_t func)
{
	if (!l->seen[func]) {
		l->seen[func] = true;
		l->stack[(*depth)++] = func;
	}
}

/* Fills used[] and via[] for an entry; an indirect call may reach every function. */
static void mark_used(struct layout *l, unsigned entry)
{
	size_t depth = 0;
	memset(l->used, 0, l->n_vars * sizeof *l->used);
	memset(l->via, 0, l->n_vars * sizeof *l->via);
	memset(l->seen, 0, l->m->n_funcs * sizeof *l->seen);
	visit_func(l, &depth, (int32_t)entry);
	while (depth) {
		int32_t f = l->stack[--depth];
		for (size_t u = l->first_use[f]; u < l->first_use[f + 1]; u++) {
			const struct ptx_operand *o = l->uses[u];
			if (names_symbol(o) && (unsigned)o->symbol < l->n_vars)
				(f == (int32_t)entry ? l->used : l->via)[o->symbol] = true;
			else if (o->kind == OPND_FUNC)
				visit_func(l, &depth, o->symbol);
			for (unsigned g = 0; o->kind == OPND_REG && g < l->m->n_funcs; g++)
				if (!l->m->funcs[g].is_entry)
					visit_func(l, &depth, (int32_t)g);
		}
	}
}

static bool is_dynamic(const struct ptx_var *v)
{
	return v->is_extern && v->size == 0;
}

/* Gives @var its offset; if it has another one already, a copy that only @entry refers to. */
static void place_variable(struct layout *l, unsigned entry, unsigned var, uint64_t offset)
{
	struct ptx_module *m = l->m;
	if (!l->placed[var] && !l->by_callee[var]) {
		l->placed[var] = true;
		m->vars[var].offset = offset;
	}
	if (m->vars[var].offset == offset && !l->by_callee[var])
		return;
	grow_array(&m->vars, m->n_vars, &l->vars_cap, sizeof *m->vars);
	int32_t copy = (int32_t)m->n_vars++;
	m->vars[copy] = m->vars[var]; /* .shared has no initial value that both would own */
	m->vars[copy].name = mem_strdup(m->vars[var].name);
	m->vars[copy].func = (int32_t)entry;
	m->vars[copy].offset = offset;
	for (size_t u = l->first_use[entry]; u < l->first_use[entry + 1]; u++)
		if (names_symbol(l->uses[u]) && l->uses[u]->symbol == (int32_t)var)
			l->uses[u]->symbol = copy;
}

/* What only entries use: the entry's own variables, then the module's. Returns their end. */
static uint64_t place_static(struct layout *l, unsigned entry)
{
	uint64_t end = 0;
	for (int module = 0; module < 2; module++)
		for (unsigned v = 0; v < l->n_vars; v++) {
			const struct ptx_var *var = &l->m->vars[v];
			bool own = var->func == (int32_t)entry;
			if (!l->used[v] || l->via[v] || is_dynamic(var) || own == (module == 1))
				continue;
			uint64_t offset = align_up(end, var->align);
			end = offset + var->size;
			place_variable(l, entry, v, offset);
		}
	return end;
}

/* The dynamic array of an entry, while its place is being found. */
struct tail {
	uint64_t end; /* of what lies before it */
	bool follows; /* a called function uses it: it lies at one place for all entries */
};

/* What called functions use lies behind everything static of the entries that reach it. */
static void place_common(struct layout *l, struct tail *tail)
{
	struct ptx_module *m = l->m;
	uint64_t common = 0;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		if (!m->funcs[f].is_entry)
			continue;
		mark_used(l, f);
		tail[f].end = place_static(l, f);
		for (unsigned v = 0; v < l->n_vars; v++)
			if (l->via[v] && common < tail[f].end)
				common = tail[f].end;
	}
	for (unsigned v = 0; v < l->n_vars; v++)
		if (l->by_callee[v] && !is_dynamic(&m->vars[v])) {
			m->vars[v].offset = align_up(common, m->vars[v].align);
			common = m->vars[v].offset + m->vars[v].size;
		}
}

/* Ends of all static variables; returns where dynamic arrays of called functions begin. */
static uint64_t find_ends(struct layout *l, struct tail *tail)
{
	struct ptx_module *m = l->m;
	uint64_t dynamic = 0;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		uint64_t align = 1;
		if (!m->funcs[f].is_entry)
			continue;
		mark_used(l, f);
		for (unsigned v = 0; v < l->n_vars; v++) {
			const struct ptx_var *var = &m->vars[v];
			if (is_dynamic(var) && (l->used[v] || l->via[v])) {
				align = var->align > align ? var->align : align;
				tail[f].follows |= l->via[v];
			} else if (l->via[v] && tail[f].end < var->offset + var->size) {
				tail[f].end = var->offset + var->size;
			}
		}
		m->funcs[f].static_shared_bytes = (uint32_t)tail[f].end;
		tail[f].end = align_up(tail[f].end, align);
		if (tail[f].follows && dynamic < tail[f].end)
			dynamic = tail[f].end;
	}
	return dynamic;
}

static void place_dynamic(struct layout *l, const struct tail *tail, uint64_t dynamic)
{
	struct ptx_module *m = l->m;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		if (!m->funcs[f].is_entry)
			continue;
		mark_used(l, f);
		const uint64_t at = tail[f].follows ? dynamic : tail[f].end;
		m->funcs[f].dynamic_shared_offset = (uint32_t)at;
		for (unsigned v = 0; v < l->n_vars; v++)
			if (is_dynamic(&m->vars[v]) && l->via[v])
				m->vars[v].offset = at;
			else if (is_dynamic(&m->vars[v]) && l->used[v])
				place_variable(l, f, v, at);
	}
}

static void layout_shared(struct layout *l)
{
	struct tail *tail = mem_calloc(l->m->n_funcs, sizeof *tail);
	place_common(l, tail);
	place_dynamic(l, tail, find_ends(l, tail));
	free(tail);
}

void layout_variables(struct ptx_module *m)
{
	bool shared = false;
	for (unsigned i = 0; i < m->n_vars; i++) {
		struct ptx_var *v = &m->vars[i];
		uint64_t *end = v->space == SPACE_GLOBAL ? &m->global_bytes : &m->const_bytes;
		shared |= v->space == SPACE_SHARED;
		if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
			continue;
		v->offset = align_up(*end, v->align);
		*end = v->offset + v->size;
	}
	if (!shared)
		return;
	struct layout l = {
		.m = m,
		.n_vars = m->n_vars,
		.vars_cap = m->n_vars,
		.first_use = mem_calloc(m->n_funcs + 1u, sizeof *l.first_use),
		.by_callee = mem_calloc(m->n_vars, sizeof *l.by_callee),
		.placed = mem_calloc(m->n_vars, sizeof *l.placed),
		.used = mem_calloc(m->n_vars, sizeof *l.used),
		.via = mem_calloc(m->n_vars, sizeof *l.via),
		.seen = mem_calloc(m->n_funcs + 1u, sizeof *l.seen),
		.stack = mem_calloc(m->n_funcs + 1u, sizeof *l.stack),
	};
	collect_uses(&l);
	layout_shared(&l);
	free(l.uses);
	free(l.first_use);
	free(l.by_callee);
	free(l.placed);
	free(l.used);
	free(l.via);
	free(l.seen);
	free(l.stack);
}

/* Places a module's global and constant variables on a device; see launch.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool in_arena(const struct ptx_var *v)
{
	return v->space == SPACE_GLOBAL || v->space == SPACE_CONST;
}

void emu_module_place(struct emu_module *m, const struct ptx_module *ptx, struct emu_device *d)
{
	*m = (struct emu_module){ .ptx = ptx };
	m->var_addr = mem_calloc(ptx->n_vars + 1, sizeof *m->var_addr);
	for (unsigned i = 0; i < ptx->n_vars; i++) {
		const struct ptx_var *v = &ptx->vars[i];
		if (!in_arena(v)) {
			m->var_addr[i] = v->offset;
			continue;
		}
		/* arena_add() may move the regions */
		const unsigned region = arena_add(&d->arena, v->name, v->size, v->align);
		struct arena_region *r = &d->arena.region[region];
		r->elem_bytes = ptx_type_bytes(v->type) ? ptx_type_bytes(v->type) : 1;
		r->elem = ptx_type_name(v->type);
		r->read_only = v->space == SPACE_CONST;
		m->var_addr[i] = r->base;
	}
}

/* Addresses of other variables inside the initial value of @v, which lies at @to. */
static void relocate_initialiser(const struct emu_module *m, const struct ptx_var *v, uint8_t *to)
{
	for (unsigned k = 0; k < v->n_relocs; k++) {
		const struct ptx_reloc *r = &v->relocs[k];
		uint64_t at =
			r->is_func ? function_address(r->symbol) : m->var_addr[r->symbol] + (uint64_t)r->addend;
		if (!r->is_func && r->generic && m->ptx->vars[r->symbol].space == SPACE_SHARED)
			at += SHARED_WINDOW;
		at >>= r->shift;
		memcpy(to + r->offset, &at, r->bytes);
	}
}

void emu_module_fill_one(const struct emu_module *m, const struct emu_device *d, unsigned variable)
{
	const struct ptx_var *v = &m->ptx->vars[variable];
	if (!in_arena(v) || !v->size)
		return;
	uint8_t *to = arena_at(&d->arena, m->var_addr[variable]);
	const struct arena_region *r = arena_find(&d->arena, m->var_addr[variable]);
	if (v->init)
		memcpy(to, v->init, v->size);
	else if (r && r->buffer >= 0) /* what a launch sets is not cleared */
		memset(to, 0, v->size);
	relocate_initialiser(m, v, to);
}

void emu_module_fill(const struct emu_module *m, const struct emu_device *d)
{
	for (unsigned i = 0; i < m->ptx->n_vars; i++)
		emu_module_fill_one(m, d, i);
}

void emu_module_free(struct emu_module *m)
{
	free(m->var_addr);
	*m = (struct emu_module){ 0 };
}

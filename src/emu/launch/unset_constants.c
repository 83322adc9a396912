/* __constant__ variables without a value of their own that a kernel uses and nobody has set. */
#include "emu/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool uses(const struct ptx_func *f, unsigned variable)
{
	for (unsigned i = 0; i < f->n_insts; i++)
		for (unsigned k = 0; k < PTX_MAX_OPERANDS; k++) {
			const struct ptx_operand *o = &f->insts[i].opnd[k];
			if ((o->kind == OPND_SYMBOL || (o->kind == OPND_ADDR && o->addr_base == ADDR_SYMBOL)) &&
			    o->symbol == (int32_t)variable)
				return true;
		}
	return false;
}

static bool is_set(const struct emu_launch *l, unsigned variable)
{
	const struct arena_region *r = arena_find(&l->device->arena, l->module->var_addr[variable]);
	if (!r || r->buffer >= 0 || r->host_writes)
		return true;
	return l->module->var_contents && r->contents != l->module->var_contents[variable];
}

/* "_ZL4coef" as "coef"; other names as they are. */
static void plain_name(const char *name, char *out, size_t n)
{
	char *plain = NULL;
	const size_t len = strncmp(name, "_ZL", 3) == 0 ? strtoul(name + 3, &plain, 10) : 0;
	if (plain && strlen(plain) == len)
		name = plain;
	snprintf(out, n, "%s", name);
}

bool unset_constants_next(const struct emu_launch *l, unsigned *at, char *name, size_t n)
{
	const struct ptx_module *m = l->module->ptx;
	for (unsigned i = *at; i < m->n_vars; i++) {
		const struct ptx_var *v = &m->vars[i];
		if (v->space != SPACE_CONST || v->func >= 0 || v->init || v->n_relocs || !v->size ||
		    is_set(l, i) || !uses(l->func, i))
			continue;
		plain_name(v->name, name, n);
		*at = i + 1;
		return true;
	}
	return false;
}

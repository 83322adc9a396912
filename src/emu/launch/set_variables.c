/* Variables of the module that a kernel's launch sets: buffers whose place is the variable's. */
#include "emu/launch/launch.h"

#include <stdio.h>
#include <string.h>

/* "coef", or mangled where it is static or in a namespace: "_ZL4coef", "_ZN1a4coefE". */
static bool is_called(const struct ptx_var *v, const char *name)
{
	char mangled[80];
	if (v->func >= 0 || (v->space != SPACE_GLOBAL && v->space != SPACE_CONST))
		return false;
	snprintf(mangled, sizeof mangled, "%zu%s", strlen(name), name);
	const char *at = strncmp(v->name, "_Z", 2) == 0 ? strstr(v->name, mangled) : NULL;
	const char *behind = at ? at + strlen(mangled) : "?";
	return !strcmp(v->name, name) || !*behind || !strcmp(behind, "E");
}

static const struct ptx_var *variable_of(const struct ptx_module *m, const char *name)
{
	for (unsigned k = 0; k < m->n_vars; k++)
		if (is_called(&m->vars[k], name))
			return &m->vars[k];
	return NULL;
}

static bool fits(const struct emu_launch *l, unsigned b, const struct ptx_var *v, struct err *err)
{
	const struct buffer_plan *p = &l->req->plan->buffers[b];
	const unsigned long long given = l->req->buffers[b].bytes;
	const size_t each = elem_size(p->type);
	if (!v) {
		err_set(err, ERR_USAGE, "%s: the compiled file has no variable '%s': nothing uses it",
		        l->source_file, p->name);
		return err_remedy(err, "leave %s=... out", p->name);
	}
	if (given <= v->size)
		return true;
	err_set(err, ERR_USAGE, "%s: variable '%s' has %llu bytes, the launch gives %llu",
	        l->source_file, p->name, (unsigned long long)v->size, given);
	return err_remedy(err, "it holds %llu elements of %zu bytes",
	                  (unsigned long long)(v->size / each), each);
}

bool set_variables_place(struct emu_launch *l, unsigned region[], struct err *err)
{
	struct arena *ar = &l->device->arena;
	const struct ptx_module *m = l->module->ptx;
	for (unsigned b = 0; !l->program && b < l->req->plan->n_buffers; b++) {
		if (!l->req->plan->buffers[b].variable)
			continue;
		const struct ptx_var *v = variable_of(m, l->req->plan->buffers[b].name);
		if (!fits(l, b, v, err))
			return false;
		region[b] = 0;
		while (ar->region[region[b]].base != l->module->var_addr[v - m->vars])
			region[b]++;
		ar->region[region[b]].buffer = (int8_t)b;
	}
	return true;
}

void set_variables_fill(struct emu_launch *l, const unsigned region[])
{
	const struct arena *ar = &l->device->arena;
	for (unsigned b = 0; !l->program && b < l->req->plan->n_buffers; b++)
		if (l->req->plan->buffers[b].variable)
			memcpy(arena_at(ar, ar->region[region[b]].base), l->req->buffers[b].data,
			       l->req->buffers[b].bytes);
}

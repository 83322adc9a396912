/* Modules of a whole program: parsed once, placed once; see emu/device.h. */
#include "emu/device.h"

#include "base/mem.h"
#include "emu/launch/known_launch.h"
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include <stdlib.h>
#include <string.h>

static bool is_placed(const struct ptx_var *v)
{
	return v->space == SPACE_GLOBAL || v->space == SPACE_CONST;
}

static bool place_variables(struct emu_module *m, struct emu_device *d, struct err *err)
{
	m->var_addr = mem_calloc(m->ptx->n_vars + 1, sizeof *m->var_addr);
	m->var_contents = mem_calloc(m->ptx->n_vars + 1, sizeof *m->var_contents);
	for (unsigned i = 0; i < m->ptx->n_vars; i++) {
		const struct ptx_var *v = &m->ptx->vars[i];
		m->var_addr[i] = v->offset;
		if (!is_placed(v))
			continue;
		struct arena_region *r =
			arena_take(&d->arena, 0, v->size ? v->size : 1, v->align > 512 ? v->align : 512);
		if (!r)
			return err_set(err, ERR_UNAVAILABLE, "no room for variable '%s' of %llu bytes", v->name,
			               (unsigned long long)v->size);
		arena_clear(&d->arena, r); /* something else may have lain there */
		r->name = v->name;
		r->kind = EMU_MEMORY_VARIABLE;
		r->elem_bytes = ptx_type_bytes(v->type) ? ptx_type_bytes(v->type) : 1;
		r->elem = ptx_type_name(v->type);
		r->read_only = v->space == SPACE_CONST;
		m->var_addr[i] = r->base;
		m->var_contents[i] = r->contents;
	}
	emu_module_fill(m, d);
	return true;
}

void emu_module_reset(struct emu_device *d, struct emu_module *m)
{
	for (unsigned i = 0; i < m->ptx->n_vars; i++) {
		const struct arena_region *r =
			is_placed(&m->ptx->vars[i]) ? arena_find(&d->arena, m->var_addr[i]) : NULL;
		if (!r ||
		    r->host_writes) /* managed: stays, as on an H200 (tests/programs/device_reset.cu) */
			continue;
		arena_clear(&d->arena, r);
		emu_module_fill_one(m, d, i);
		arena_changed(&d->arena, (unsigned)(r - d->arena.region));
		m->var_contents[i] = r->contents;
	}
}

bool emu_module_load(struct emu_device *d, const char *ptx, const char *name,
                     struct emu_module **out, struct err *err)
{
	struct emu_module *m = mem_zalloc(sizeof *m);
	if (!ptx_parse(ptx, name, &m->parsed, err)) {
		free(m);
		return false;
	}
	m->ptx = &m->parsed;
	m->name = mem_strdup(m->parsed.n_files && m->parsed.files[0] ? m->parsed.files[0] : name);
	if (!place_variables(m, d, err)) {
		emu_module_unload(d, m);
		return false;
	}
	m->functions = mem_calloc(m->ptx->n_funcs + 1u, sizeof *m->functions);
	for (unsigned i = 0; i < m->ptx->n_funcs; i++)
		if (m->ptx->funcs[i].is_entry)
			m->functions[m->n_functions++] =
				(struct emu_function){ .module = m, .func = &m->ptx->funcs[i] };
	*out = m;
	return true;
}

void emu_module_unload(struct emu_device *d, struct emu_module *m)
{
	emu_module_drop_code(m, d);
	image_cache_free(d->images); /* they name what goes now */
	d->images = image_cache_new();
	known_launches_free(d->known);
	d->known = known_launches_new();
	for (unsigned i = 0; m->var_addr && i < m->ptx->n_vars; i++)
		if (is_placed(&m->ptx->vars[i]))
			arena_give_back(&d->arena, m->var_addr[i]);
	ptx_free(&m->parsed);
	free(m->functions);
	free(m->name);
	free(m->var_addr);
	free(m->var_contents);
	free(m);
}

bool emu_module_variable(const struct emu_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes)
{
	for (unsigned i = 0; i < m->ptx->n_vars; i++)
		if (is_placed(&m->ptx->vars[i]) && !strcmp(m->ptx->vars[i].name, name)) {
			*address = m->var_addr[i];
			*bytes = m->ptx->vars[i].size;
			return true;
		}
	return false;
}

const struct emu_function *emu_module_function(const struct emu_module *m, const char *name)
{
	for (unsigned i = 0; i < m->n_functions; i++)
		if (!strcmp(m->functions[i].func->name, name))
			return &m->functions[i];
	return NULL;
}

const char *emu_module_kernel(const struct emu_module *m, unsigned i)
{
	return i < m->n_functions ? m->functions[i].func->name : NULL;
}

const char *emu_function_file(const struct emu_function *f)
{
	const struct ptx_module *m = f->module->ptx;
	return f->func->file && f->func->file <= m->n_files ? m->files[f->func->file - 1] : NULL;
}

void emu_function_info(const struct emu_function *f, struct emu_function_info *out)
{
	const struct ptx_func *p = f->func;
	const struct sass_func *code = f->module->cubin ? sass_func(&f->module->code, p->name) : NULL;
	*out = (struct emu_function_info){
		.name = p->name,
		.file = emu_function_file(f),
		.n_params = p->n_params,
		.param_bytes = p->param_bytes,
		.static_shared_bytes = p->static_shared_bytes,
		.local_bytes = p->local_bytes,
		.code_bytes = (uint64_t)(code ? code->n_insts : p->n_insts) * CUBIN_INST_BYTES,
	};
	if (code && code->cubin && code->cubin->registers != CUBIN_NO_COUNT)
		out->registers = code->cubin->registers;
	if (p->maxntid[0])
		out->max_threads = p->maxntid[0] * (p->maxntid[1] ? p->maxntid[1] : 1) *
		                   (p->maxntid[2] ? p->maxntid[2] : 1);
	for (unsigned k = 0; k < 3; k++)
		out->cluster[k] = p->cluster[k];
}

bool emu_function_param(const struct emu_function *f, unsigned i, unsigned *offset, unsigned *bytes)
{
	if (i >= f->func->n_params)
		return false;
	*offset = f->func->params[i].offset;
	*bytes = f->func->params[i].size;
	return true;
}

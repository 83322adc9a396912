/* A launch's parameters as they lie in memory; see launch.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "emu/device.h"
#include "sass/sass.h"

#include <stdlib.h>
#include <string.h>

uint32_t launch_param_bytes(const struct emu_launch *l)
{
	return l->sass ? l->sass_func->cubin->param_bytes : l->func->param_bytes;
}

uint64_t launch_param_shift(const struct emu_launch *l)
{
	return l->sass ? l->sass_func->cubin->param_offset % 128 : 0;
}

uint64_t launch_param_room(const struct emu_launch *l)
{
	return launch_param_bytes(l) + launch_param_shift(l) + 1;
}

/* From where the PTX has them to where the machine code does. */
static uint8_t *moved(const struct emu_launch *l, const uint8_t *from)
{
	const struct cubin_func *c = l->sass_func->cubin;
	uint8_t *to = mem_zalloc(c->param_bytes + 1u);
	for (unsigned i = 0; i < c->n_params; i++)
		memcpy(to + c->params[i].offset, from + l->func->params[i].offset, l->func->params[i].size);
	return to;
}

static bool fill(const struct emu_launch *l, const unsigned region[], uint8_t *out, struct err *err)
{
	const struct launch_plan *p = l->req->plan;
	const struct ptx_func *f = l->func;
	if (l->program) {
		memcpy(out, l->program->params, f->param_bytes);
		return true;
	}
	if (p->n_args != f->n_params)
		return err_set(err, ERR_USAGE, "%s: kernel '%s' takes %u parameters, the launch gives %u",
		               l->source_file, f->name, f->n_params, p->n_args);
	for (unsigned i = 0; i < p->n_args; i++) {
		const struct kernel_arg *arg = &p->args[i];
		const struct ptx_param *param = &f->params[i];
		uint64_t address;
		const void *from = &arg->i64;
		unsigned bytes = 4;
		switch (arg->kind) {
		case ARG_BUFFER:
			address = l->device->arena.region[region[arg->buffer]].base + arg->offset;
			from = &address;
			bytes = 8;
			break;
		case ARG_I64: bytes = arg->size ? arg->size : 8; break;
		case ARG_I32: from = &arg->i32; break;
		case ARG_U32: from = &arg->u32; break;
		case ARG_F32: from = &arg->f32; break;
		case ARG_F64: bytes = 8; break;
		case ARG_BYTES:
			from = arg->bytes;
			bytes = arg->size;
			break;
		}
		if (param->size != bytes)
			return err_set(err, ERR_USAGE,
			               "%s: parameter %u of kernel '%s' has %u bytes, the launch gives %u",
			               l->source_file, i + 1, f->name, param->size, bytes);
		memcpy(out + param->offset, from, bytes);
	}
	return true;
}

uint8_t *launch_params(const struct emu_launch *l, const unsigned region[], struct err *err)
{
	uint8_t *area = mem_zalloc(l->func->param_bytes + 1u);
	uint8_t *own = NULL;
	if (!fill(l, region, area, err))
		own = NULL;
	else if (l->sass)
		own = moved(l, area);
	else
		return area;
	free(area);
	return own;
}

/* What kernels asked of the runtime, told when their launch has ended; see emu/device_work.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "emu/device.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES ((uint64_t)64 << 20) /* taken from the system as it is touched */

bool module_calls_runtime(const struct ptx_module *m)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		if (!m->funcs[i].has_body && system_runtime_call(m->funcs[i].name) >= 0)
			return true;
	return false;
}

static struct heap *room_of(struct emu_device *d)
{
	struct arena_region *r = d->launch_room ? NULL : arena_take(&d->arena, 0, ROOM_BYTES, 512);
	if (r) {
		r->name = "parameters of launches by kernels";
		r->kind = EMU_MEMORY_VARIABLE;
		d->launch_room = heap_new(r->base, arena_at(&d->arena, r->base), r->size);
	}
	return d->launch_room;
}

void nested_work_prepare(struct emu_launch *l)
{
	if (!l->program->work || !module_calls_runtime(l->module->ptx) || !room_of(l->device))
		return;
	l->runtime = mem_zalloc(sizeof *l->runtime);
	*l->runtime = (struct device_runtime){ .room = l->device->launch_room,
		                                   .module = l->module->ptx,
		                                   .depth = l->program->depth,
		                                   .ask = l->program->ask,
		                                   .ask_ctx = l->program->work_ctx };
	l->grid.runtime = l->runtime;
}

struct place {
	const struct device_work *work;
	size_t order;
};

static int by_block(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->work->block != y->work->block)
		return x->work->block < y->work->block ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void nested_work_tell(const struct emu_launch *l)
{
	size_t n = 0;
	for (unsigned i = 0; i < l->n_workers; i++)
		n += l->workers[i].calls ? l->workers[i].calls->n_work : 0;
	if (!n)
		return;
	struct place *all = mem_calloc(n, sizeof *all);
	n = 0;
	for (unsigned i = 0; i < l->n_workers; i++) {
		const struct device_calls *c = l->workers[i].calls;
		for (size_t k = 0; c && k < c->n_work; k++, n++)
			all[n] = (struct place){ &c->work[k], n };
	}
	qsort(all, n, sizeof *all, by_block);
	for (size_t i = 0; i < n; i++)
		l->program->work(l->program->work_ctx, all[i].work);
	free(all);
}

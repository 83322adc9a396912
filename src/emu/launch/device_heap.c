/*
 * The heap of device code: where malloc() and free() of a kernel find their memory. A living device
 * makes it when a module may need it, and keeps it; a kernel's own run has one of its own.
 */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/device.h"

#include <string.h>

#define HEAP_BYTES ((uint64_t)8 << 20) /* cudaLimitMallocHeapSize as it is at first */
static const char heap_name[] = "the heap of device code";

static bool uses_heap(const struct ptx_module *m)
{
	for (unsigned i = 0; i < m->n_funcs; i++)
		if (!m->funcs[i].has_body &&
		    (!strcmp(m->funcs[i].name, "malloc") ||
		     system_runtime_call(m->funcs[i].name) == SYSTEM_RUNTIME_MALLOC))
			return true;
	return false;
}

static void make_heap(struct emu_device *d, struct arena_region *r)
{
	d->heap = heap_new(r->base, arena_at(&d->arena, r->base), r->size);
	r->written = mem_zalloc(value_flags_size(r->size));
}

void device_heap_keep(struct emu_launch *l)
{
	struct emu_device *d = l->device;
	const uint64_t bytes = l->program->heap_bytes ? l->program->heap_bytes : HEAP_BYTES;
	if (!d->heap && uses_heap(l->module->ptx)) {
		struct arena_region *r = arena_take(&d->arena, 0, bytes, 512);
		if (r) {
			r->name = heap_name;
			r->kind = EMU_MEMORY_VARIABLE;
			make_heap(d, r);
		}
	}
	l->grid.heap = d->heap;
}

void device_heap_add(struct emu_launch *l)
{
	if (uses_heap(l->module->ptx))
		arena_add(&l->device->arena, heap_name, HEAP_BYTES, 512);
}

void device_heap_open(struct emu_launch *l)
{
	struct emu_device *d = l->device;
	for (unsigned i = 0; i < d->arena.n; i++)
		if (d->arena.region[i].name == heap_name)
			make_heap(d, &d->arena.region[i]);
	l->grid.heap = d->heap;
}

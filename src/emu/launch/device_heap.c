/*
 * The heap of device code: where malloc() and free() of a kernel find their memory. A living device
 * makes it when a kernel may need it, and keeps it; a kernel's own run has one of its own.
 */
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/device.h"

#include <string.h>

#define HEAP_BYTES ((uint64_t)8 << 20) /* cudaLimitMallocHeapSize as it is at first */
static const char heap_name[] = "the heap of device code";

static bool allocates(const char *name)
{
	return !strcmp(name, "malloc") || system_runtime_call(name) == SYSTEM_RUNTIME_MALLOC;
}

static bool prints(const char *name)
{
	return !strcmp(name, "vprintf");
}

bool emu_function_allocates(const struct emu_function *f)
{
	return ptx_func_calls(f->module->ptx, f->func, allocates);
}

bool emu_function_prints(const struct emu_function *f)
{
	return ptx_func_calls(f->module->ptx, f->func, prints);
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
	if (!d->heap && ptx_func_calls(l->module->ptx, l->func, allocates)) {
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
	if (ptx_func_calls(l->module->ptx, l->func, allocates))
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

void device_heap_drop(struct emu_device *d)
{
	for (unsigned i = 0; d->heap && i < d->arena.n; i++)
		if (d->arena.region[i].name == heap_name) {
			l2_kept_drop(d->kept, d->arena.region[i].base, d->arena.region[i].size);
			arena_give_back(&d->arena, d->arena.region[i].base);
			break;
		}
	heap_free(d->heap);
	d->heap = NULL;
}

/*
 * Allocations of a program that nothing has written yet, neither the host nor a launch: while the
 * first launch that touches them runs, every byte has a flag whether it has a value.
 *
 * Only then: what a launch or a copy wrote a part of counts as written, since a program may well
 * read more than it needs. And only of launches that nothing else runs beside.
 */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/device.h"

#include <stdlib.h>

#define MOST_FLAG_BYTES ((uint64_t)1 << 30) /* of one launch, for four times as many of memory */

static bool is_fresh(const struct arena_region *r)
{
	return r->kind == EMU_MEMORY_DEVICE && r->contents == r->first_contents && !r->host_writes;
}

void fresh_memory_begin(struct emu_launch *l)
{
	struct arena *a = &l->device->arena;
	uint64_t room = MOST_FLAG_BYTES;
	const bool looked_at = l->program->counting == EMU_COUNT_ALL && !l->sass;
	if (!looked_at || l->runtime || l->image.ir.waits || l->device->n_apart)
		return;
	for (unsigned i = 0; i < a->n; i++) {
		struct arena_region *r = &a->region[i];
		if (!is_fresh(r) || value_flags_size(r->size) > room)
			continue;
		room -= value_flags_size(r->size);
		r->written = mem_zalloc(value_flags_size(r->size));
	}
}

void fresh_memory_end(struct emu_launch *l)
{
	struct arena *a = &l->device->arena;
	for (unsigned i = 0; i < a->n; i++) {
		struct arena_region *r = &a->region[i];
		if (r->kind != EMU_MEMORY_DEVICE)
			continue;
		free(r->written);
		r->written = NULL;
	}
}

/*
 * What a device's memory holds in front of a launch, so that a fork made behind it can run the
 * launch once more: that costs less than a fork in front of each, of which few are ever asked.
 */
#include "emu/launch/launch.h"
#include "emu/launch/program_function.h"

#include "base/mem.h"
#include "emu/device.h"

#include <stdlib.h>
#include <string.h>

struct emu_memory_copy {
	unsigned n, cap;
	struct {
		uint64_t base, size;
	} *region;
	uint8_t *bytes; /* theirs, one behind the other */
	size_t room;
};

void emu_memory_copy_free(struct emu_memory_copy *c)
{
	if (!c)
		return;
	free(c->region);
	free(c->bytes);
	free(c);
}

/* From number *@at on, one that is not set anew for every launch; NULL = there are no more. */
static const struct arena_region *next_region(const struct emu_device *d, unsigned *at)
{
	while (*at < d->arena.n) {
		const struct arena_region *r = &d->arena.region[(*at)++];
		if (!emu_device_sets_anew(d, r))
			return r;
	}
	return NULL;
}

bool emu_memory_copy_take(struct emu_memory_copy **reuse, const struct emu_device *d,
                          const struct emu_function *f, uint64_t most_bytes)
{
	const struct arena_region *r;
	uint64_t sum = 0;
	for (unsigned at = 0; sum <= most_bytes && (r = next_region(d, &at)) != NULL;)
		sum += r->size;
	if (sum > most_bytes || emu_function_allocates(f) || module_calls_runtime(f->module->ptx))
		return false;
	if (!*reuse)
		*reuse = mem_zalloc(sizeof **reuse);
	struct emu_memory_copy *c = *reuse;
	if (sum > c->room) {
		free(c->bytes);
		c->bytes = mem_alloc(sum);
		c->room = sum;
	}
	c->n = 0;
	sum = 0;
	for (unsigned at = 0; (r = next_region(d, &at)) != NULL; sum += r->size) {
		memcpy(c->bytes + sum, arena_at(&d->arena, r->base), r->size);
		MEM_ROOM(c->region, c->n, c->cap, 16);
		c->region[c->n].base = r->base;
		c->region[c->n++].size = r->size;
	}
	return true;
}

bool emu_memory_copy_restore(const struct emu_memory_copy *c, struct emu_device *d)
{
	const struct arena_region *r;
	const uint8_t *from = c->bytes;
	unsigned k = 0;
	for (unsigned at = 0; (r = next_region(d, &at)) != NULL; k++) {
		if (k == c->n || r->base != c->region[k].base || r->size != c->region[k].size)
			return false;
		memcpy(arena_at(&d->arena, r->base), from, r->size);
		arena_changed(&d->arena, at - 1);
		from += r->size;
	}
	return k == c->n;
}

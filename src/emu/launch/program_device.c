/*
 * The device of a whole program; see emu/device.h. Its memory is one range of addresses of this
 * process, reserved at once and taken from the system page by page as it is touched.
 */
#include "emu/device.h"

#include "base/mem.h"
#include "base/value_flags.h"
#include "emu/launch/known_launch.h"
#include "emu/launch/launch.h"
#include "emu/launch/managed_pages.h"
#include "emu/launch/shared_pages.h"
#include "model/gpu.h"

#include <stdlib.h>
#include <string.h>

/* Below everything that the system places by itself, above what a program's own file uses. */
#define DEVICE_BASE ((uint64_t)0x200000000000)
#define DEVICE_SPAN ((uint64_t)1 << 37)
#define LEAST_SPAN ((uint64_t)1 << 28)
#define HOST_PAGE 4096
#define PARAM_ROOM (1 << 20) /* for what is not the program's */

/* Addresses for as much as there may be; under ulimit -v for less. */
static bool reserve(struct emu_device *d, struct err *err)
{
	uint64_t span = DEVICE_SPAN;
	d->host = memory_left();
	while (span > LEAST_SPAN && (double)span > 2 * d->host.bytes)
		span /= 2;
	while (span > LEAST_SPAN && !arena_reserve(&d->arena, DEVICE_BASE, span, NULL))
		span /= 2;
	if (!d->arena.host && !arena_reserve(&d->arena, DEVICE_BASE, span, err))
		return false;
	if ((double)d->arena.mapped - PARAM_ROOM < d->host.bytes)
		d->host.bytes = (double)d->arena.mapped - PARAM_ROOM;
	return true;
}

bool emu_device_new(struct emu_device **out, const struct gpu_spec *gpu, struct err *err)
{
	struct emu_device *d = mem_zalloc(sizeof *d);
	emu_device_open(d, &d->sheet);
	d->sheet = *gpu;
	d->no_filter = line_filter_new(true);
	d->images = image_cache_new();
	d->known = known_launches_new();
	d->kept = l2_kept_new(gpu);
	d->pages = managed_pages_new();
	d->shared = shared_pages_new();
	if (!reserve(d, err)) {
		emu_device_free(d);
		return false;
	}
	struct arena_region *params = arena_take(&d->arena, 0, PARAM_AREAS * PARAM_AREA_BYTES, 512);
	params->name = "kernel parameters";
	params->read_only = true;
	params->kind = EMU_MEMORY_VARIABLE;
	d->param_area = params->base;
	*out = d;
	return true;
}

void emu_device_free(struct emu_device *d)
{
	if (!d)
		return;
	image_cache_free(d->images);
	known_launches_free(d->known);
	l2_kept_free(d->kept);
	managed_pages_free(d->pages);
	shared_pages_free(d->shared);
	texture_table_free(&d->textures);
	emu_device_close(d);
	free(d);
}

#define SMALL_BYTES 65536

static bool is_limited(enum emu_memory kind)
{
	return kind == EMU_MEMORY_DEVICE || kind == EMU_MEMORY_MANAGED;
}

bool emu_device_host_has(const struct emu_device *d, uint64_t bytes, struct memory_left *left)
{
	const double most = d->host.bytes - (double)d->used_bytes;
	if (left)
		*left = (struct memory_left){ most > 0 ? most : 0, d->host.whose };
	return (double)bytes <= most;
}

/* A launch that waits has room for so many more. */
static bool has_room(struct emu_device *d)
{
	d->new_regions = d->n_apart ? d->new_regions + 1 : 0;
	return d->new_regions < TOUCHED_ROOM;
}

/* The host's pages of managed and pinned memory hold nothing else, so that they can be watched. */
static uint64_t align_of(enum emu_memory kind)
{
	return kind == EMU_MEMORY_MANAGED || kind == EMU_MEMORY_PINNED ? HOST_PAGE : 512;
}

uint64_t emu_device_alloc(struct emu_device *d, uint64_t bytes, enum emu_memory kind,
                          const void *caller)
{
	const bool limited = is_limited(kind);
	if ((limited && (double)d->used_bytes + (double)bytes > d->sheet.dram_bytes) ||
	    !emu_device_host_has(d, bytes, NULL))
		return 0;
	struct arena_region *r = has_room(d) ? arena_take(&d->arena, 0, bytes, align_of(kind)) : NULL;
	if (!r)
		return 0;
	r->kind = (uint8_t)kind;
	r->caller = caller;
	r->host_writes = kind != EMU_MEMORY_DEVICE;
	if (kind == EMU_MEMORY_MANAGED && bytes < SMALL_BYTES) /* larger ones come from the system */
		memset(arena_at(&d->arena, r->base), 0, bytes);
	if (limited)
		d->used_bytes += bytes;
	emu_device_most_bytes(d, false);
	emu_device_guard(d, r, kind == EMU_MEMORY_DEVICE);
	return r->base;
}

bool emu_device_register(struct emu_device *d, uint64_t address, uint64_t bytes, const void *caller)
{
	struct arena_region *r = has_room(d) ? arena_take(&d->arena, address, bytes, 1) : NULL;
	if (!r)
		return false;
	r->kind = EMU_MEMORY_REGISTERED;
	r->host_writes = true;
	r->caller = caller;
	return true;
}

bool emu_device_release(struct emu_device *d, uint64_t address)
{
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r || r->base != address)
		return false;
	if (is_limited((enum emu_memory)r->kind))
		d->used_bytes -= r->size;
	l2_kept_drop(d->kept, r->base, r->size);
	shared_pages_drop(d, r->base, r->size);
	return arena_give_back(&d->arena, address);
}

void emu_device_release_all(struct emu_device *d)
{
	device_heap_drop(d);
	for (unsigned i = 0; i < d->arena.n;)
		if (d->arena.region[i].kind == EMU_MEMORY_VARIABLE ||
		    !emu_device_release(d, d->arena.region[i].base))
			i++;
}

static struct emu_allocation allocation_of(const struct arena_region *r)
{
	return (struct emu_allocation){ .address = r->base,
		                            .bytes = r->size,
		                            .kind = (enum emu_memory)r->kind,
		                            .serial = r->serial,
		                            .caller = r->caller,
		                            .name = r->name };
}

bool emu_device_find(const struct emu_device *d, uint64_t address, struct emu_allocation *out)
{
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r)
		return false;
	*out = allocation_of(r);
	return true;
}

bool emu_device_allocation(const struct emu_device *d, size_t i, struct emu_allocation *out)
{
	if (i >= d->arena.n)
		return false;
	*out = allocation_of(&d->arena.region[i]);
	return true;
}

bool emu_device_managed_touched(struct emu_device *d, size_t *at, struct emu_allocation *out,
                                bool *written)
{
	while (*at < d->arena.n) {
		struct arena_region *r = &d->arena.region[(*at)++];
		if (!r->by_launch)
			continue;
		*out = allocation_of(r);
		*written = r->by_launch & TOUCH_WRITE;
		r->by_launch = 0;
		return true;
	}
	return false;
}

bool emu_device_covers(const struct emu_device *d, uint64_t address)
{
	return address - d->arena.base < d->arena.mapped;
}

uint64_t emu_device_used_bytes(const struct emu_device *d)
{
	return d->used_bytes;
}

uint64_t emu_device_most_bytes(struct emu_device *d, bool anew)
{
	if (anew || d->used_bytes > d->most_bytes)
		d->most_bytes = d->used_bytes;
	return d->most_bytes;
}

uint64_t emu_texture_new(struct emu_device *d, const struct texture *t)
{
	return texture_add(&d->textures, t);
}

bool emu_texture_free(struct emu_device *d, uint64_t handle)
{
	return texture_remove(&d->textures, handle);
}

void emu_device_mark_written(struct emu_device *d, uint64_t address, uint64_t bytes)
{
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r)
		return;
	arena_changed(&d->arena, (unsigned)(r - d->arena.region));
	const uint64_t offset = address - r->base;
	if (!offset && bytes >= r->size)
		d->arena.region[r - d->arena.region].varies = false;
	if (r->written)
		value_flags_set(r->written, offset, bytes < r->size - offset ? bytes : r->size - offset);
}

void emu_device_copied(struct emu_device *d, uint64_t from, uint64_t to)
{
	const struct arena_region *source = arena_find(&d->arena, from);
	const struct arena_region *r = arena_find(&d->arena, to);
	if (source && r && source->varies)
		d->arena.region[r - d->arena.region].varies = true;
}

/* Of the regions that @wanted says. */
static struct emu_device_digest digest(const struct emu_device *d,
                                       bool (*wanted)(const struct emu_device *d,
                                                      const struct arena_region *r))
{
	struct content_hash all = { { 0, 0 } };
	for (unsigned i = 0; i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		if (!wanted(d, r))
			continue;
		const struct content_hash own = content_hash(arena_at(&d->arena, r->base), r->size);
		const uint64_t both[] = { all.part[0], all.part[1], r->base, own.part[0], own.part[1] };
		all = content_hash((const uint8_t *)both, sizeof both);
	}
	return (struct emu_device_digest){ { all.part[0], all.part[1] } };
}

static bool stays(const struct emu_device *d, const struct arena_region *r)
{
	return !emu_device_sets_anew(d, r);
}

static bool is_allocated(const struct emu_device *d, const struct arena_region *r)
{
	(void)d;
	return r->kind == EMU_MEMORY_DEVICE || r->kind == EMU_MEMORY_MANAGED;
}

void emu_device_digest(const struct emu_device *d, struct emu_device_digest *out)
{
	*out = digest(d, stays);
}

void emu_device_allocated_digest(const struct emu_device *d, struct emu_device_digest *out)
{
	*out = digest(d, is_allocated);
}

void emu_device_host_writes(struct emu_device *d, uint64_t address, bool managed)
{
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r)
		return;
	d->arena.region[r - d->arena.region].host_writes = true;
	d->arena.region[r - d->arena.region].managed = managed;
}

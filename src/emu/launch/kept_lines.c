/* See kept_lines.h. */
#include "emu/launch/kept_lines.h"

#include "emu/device.h"

#define LINE_BYTES 128
#define LEAST_SHARE 0.02

bool kept_lines_region(const struct emu_device *d, const struct arena_region *r)
{
	return (r->kind == EMU_MEMORY_DEVICE || r->kind == EMU_MEMORY_VARIABLE) && !r->outside &&
	       !emu_device_sets_anew(d, r);
}

void kept_lines_begin(struct emu_launch *l)
{
	const struct emu_device *d = l->device;
	if (!l->program)
		return;
	for (unsigned i = 0; i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		const double share =
			kept_lines_region(d, r) ? l2_kept_share(d->kept, r->base, r->size) : 0;
		const uint64_t first = (r->base - d->arena.base) / LINE_BYTES;
		const uint64_t end = (r->base + r->size - d->arena.base + LINE_BYTES - 1) / LINE_BYTES;
		if (share > LEAST_SHARE && !cache_sim_warm(l->grid.cache, (uint32_t)first,
		                                           (uint32_t)(end - first), WARM_KEPT, share))
			return;
	}
}

void kept_lines_note(const struct emu_launch *l)
{
	const struct emu_device *d = l->device;
	l2_kept_begin(d->kept);
	for (unsigned i = 0; i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		unsigned how = 0;
		for (unsigned k = 0; k < l->n_workers; k++)
			how |= l->workers[k].touched[i];
		if (how && kept_lines_region(d, r))
			l2_kept_touch(d->kept, r->base, r->size, how & TOUCH_READ ? L2_READ : L2_WRITTEN);
	}
}

void emu_device_traffic(struct emu_device *d, enum emu_traffic kind, uint64_t address,
                        uint64_t bytes)
{
	static const enum l2_touch as[] = {
		[EMU_SET] = L2_WRITTEN, [EMU_COPY_FROM] = L2_COPIED_FROM, [EMU_COPY_TO] = L2_COPIED_TO
	};
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r || !kept_lines_region(d, r))
		return;
	if (kind == EMU_FROM_HOST) {
		l2_kept_drop(d->kept, address, bytes);
		return;
	}
	l2_kept_begin(d->kept);
	l2_kept_touch(d->kept, address, bytes, as[kind]);
}

double emu_device_kept_share(const struct emu_device *d, const uint64_t *address, unsigned n)
{
	double all = 0, kept = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct arena_region *r = arena_find(&d->arena, address[i]);
		if (!r || !kept_lines_region(d, r))
			continue;
		all += (double)r->size;
		kept += (double)r->size * l2_kept_share(d->kept, r->base, r->size);
	}
	return all > 0 ? kept / all : 0;
}

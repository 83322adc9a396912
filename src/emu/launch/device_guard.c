/* Which pages of device memory the host's own code cannot touch (memory/page_guard.c). */
#include "emu/device.h"
#include "emu/launch/launch.h"

#define HOST_PAGE 4096

/* Does the page at @page hold device memory only? Kernel parameters and constants count as such: no
 * code of the host reaches them by address. */
static bool is_device_page(const struct emu_device *d, uint64_t page)
{
	for (const struct arena_region *r = arena_below(&d->arena, page + HOST_PAGE - 1);
	     r && r >= d->arena.region && r->base + r->size > page; r--)
		if (r->kind != EMU_MEMORY_DEVICE && !r->read_only)
			return false;
	return true;
}

void emu_device_guard(const struct emu_device *d, const struct arena_region *r, bool on)
{
	uint64_t from = r->base / HOST_PAGE * HOST_PAGE;
	uint64_t end = (r->base + r->size + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
	if (!page_guard_is_on())
		return;
	if (on && !is_device_page(d, from))
		from += HOST_PAGE;
	if (on && end > from && !is_device_page(d, end - HOST_PAGE))
		end -= HOST_PAGE;
	if (end > from)
		page_guard_set(arena_at(&d->arena, from), end - from, on);
}

void emu_device_guard_end(const struct emu_device *d)
{
	page_guard_open();
	for (unsigned i = 0; i < d->arena.n; i++)
		if (!d->arena.region[i].outside)
			emu_device_guard(d, &d->arena.region[i], false);
	page_guard_end();
}

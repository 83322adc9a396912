/* The virtual GPU's memory; see launch.h. */
#include "emu/launch/launch.h"

void emu_device_open(struct emu_device *d, const struct gpu_spec *gpu)
{
	*d = (struct emu_device){ .gpu = gpu, .filter = line_filter_new(false) };
}

void emu_device_close(struct emu_device *d)
{
	arena_free(&d->arena, d->spare);
	heap_free(d->heap);
	heap_free(d->launch_room);
	line_filter_free(d->filter);
	line_filter_free(d->no_filter);
}

/* A kernel's own run: what its buffers hold goes to device memory, and what it wrote comes back. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "emu/device.h"

#include <string.h>

/* So much between two looks whether the run was cancelled. */
#define PIECE ((size_t)64 << 20)

/* By as many threads as the launch may have. */
static bool copy(const struct emu_launch *l, void *to, const void *from, size_t bytes)
{
	const atomic_bool *cancel = l->hooks ? l->hooks->cancel : NULL;
	if (l->req->threads == 1)
		return mem_copy_until(to, from, bytes, cancel);
	for (size_t at = 0; at < bytes; at += PIECE) {
		if (cancel && atomic_load(cancel))
			return false;
		const size_t left = bytes - at;
		parallel_copy((char *)to + at, (const char *)from + at, left < PIECE ? left : PIECE);
	}
	return true;
}

bool launch_buffer_in(struct emu_launch *l, unsigned region)
{
	struct arena *ar = &l->device->arena;
	struct arena_region *r = &ar->region[region];
	const struct run_buffer *b = &l->req->buffers[r->buffer];
	const uint64_t contents = r->read_only ? b->contents : 0;
	if (!r->size)
		return true;
	if (!(contents && arena_holds(ar, region, contents)) &&
	    !copy(l, arena_at(ar, r->base), b->data, r->size))
		return false;
	r->contents = contents;
	return true;
}

void launch_buffers_out(const struct emu_launch *l)
{
	for (unsigned i = 0; i < l->device->arena.n; i++) {
		const struct arena_region *r = &l->device->arena.region[i];
		if (r->buffer < 0 || r->read_only || !r->size)
			continue;
		const struct run_buffer *b = &l->req->buffers[r->buffer];
		const uint8_t *from = arena_at(&l->device->arena, r->base);
		if (l->req->threads == 1)
			memcpy(b->data, from, b->bytes);
		else
			parallel_copy(b->data, from, b->bytes);
	}
}

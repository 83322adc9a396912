/* What a lane sees at a generic address, for the system calls of device code. */
#include "emu/vm/guest_print.h"

#include <string.h>

const void *vm_guest_bytes(const struct warp *w, unsigned lane, uint64_t address, uint64_t *n)
{
	const struct worker *wk = w->worker;
	const struct grid *g = wk->grid;
	uint64_t offset = address & (WINDOW_SIZE - 1);
	*n = 0;
	if (address >> 56 == SHARED_WINDOW >> 56) {
		offset = g->shared_base ? (offset & CLUSTER_OFFSET) - g->shared_base : offset;
		*n = offset < g->shared_bytes ? g->shared_bytes - offset : 0;
		return wk->shared + offset;
	}
	if (address >> 56 == LOCAL_WINDOW >> 56) {
		*n = offset < g->local_bytes ? g->local_bytes - offset : 0;
		return wk->local + ((size_t)w->number * 32 + lane) * g->local_bytes + offset;
	}
	const struct arena_region *r = arena_find(g->arena, address);
	if (!r)
		return NULL;
	w->worker->touched[r - g->arena->region] |= TOUCH_READ;
	*n = r->size - (address - r->base);
	return g->arena->host + (address - g->arena->base);
}

bool vm_guest_string(const struct warp *w, unsigned lane, uint64_t address, struct guest_string *s)
{
	uint64_t n;
	s->text = vm_guest_bytes(w, lane, address, &n);
	const char *end = s->text && n ? memchr(s->text, 0, n) : NULL;
	s->n = end ? (size_t)(end - s->text) : 0;
	return end != NULL;
}

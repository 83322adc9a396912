#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* Device memory; see memory.h. Pages are taken from the system when first touched. */
#include "emu/memory/memory.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* An index that is off by less than this lands in no other buffer. Untouched, it costs nothing. */
#define GUARD_GAP ((uint64_t)1 << 20)
#define LARGE ((uint64_t)8 << 20)

unsigned arena_add(struct arena *a, const char *name, uint64_t size, unsigned align)
{
	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 8;
		a->region = mem_realloc(a->region, a->cap, sizeof *a->region);
	}
	if (a->end == 0)
		a->end = ARENA_BASE;
	const uint64_t step = align > 512 ? align : 512;
	const uint64_t base = (a->end + GUARD_GAP + step - 1) / step * step;
	a->region[a->n] = (struct arena_region){
		.name = name,
		.base = base,
		.size = size,
		.elem_bytes = 1,
		.elem = "byte",
		.buffer = -1,
	};
	a->end = base + size;
	return a->n++;
}

bool arena_map(struct arena *a, struct err *err)
{
	const uint64_t bytes = (a->end ? a->end - ARENA_BASE : 0) + 2 * GUARD_GAP;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	               -1, 0);
	if (p == MAP_FAILED) {
		err_set(err, ERR_UNAVAILABLE, "emulator: cannot reserve %llu MiB for the buffers",
		        (unsigned long long)(bytes >> 20));
		return err_remedy(err, "choose a smaller problem size");
	}
#ifdef MADV_HUGEPAGE
	if (bytes > LARGE) /* fewer address translations; only a wish */
		madvise(p, bytes, MADV_HUGEPAGE);
#endif
	a->host = p;
	a->mapped = bytes;
	return true;
}

void arena_free(struct arena *a)
{
	if (a->host)
		munmap(a->host, a->mapped);
	for (unsigned i = 0; i < a->n; i++)
		free(a->region[i].written);
	free(a->region);
	*a = (struct arena){ 0 };
}

const struct arena_region *arena_near(const struct arena *a, uint64_t address)
{
	const struct arena_region *best = NULL;
	uint64_t distance = UINT64_MAX;
	for (unsigned i = 0; i < a->n; i++) {
		const struct arena_region *r = &a->region[i];
		const uint64_t d = address < r->base             ? r->base - address
		                   : address < r->base + r->size ? 0
		                                                 : address - r->base - r->size;
		if (d < distance) {
			distance = d;
			best = r;
		}
	}
	return best;
}

const struct arena_region *arena_find(const struct arena *a, uint64_t address)
{
	for (unsigned i = 0; i < a->n; i++) {
		const struct arena_region *r = &a->region[i];
		if (address - r->base < r->size)
			return r;
	}
	return NULL;
}

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* Device memory; see memory.h. Pages are taken from the system when first touched. */
#include "emu/memory/memory.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* An index that is off by less than this lands in no other buffer. Untouched, it costs nothing. */
#define GUARD_GAP ((uint64_t)1 << 20)
#define LARGE ((uint64_t)8 << 20)
/* A larger mapping is not kept: it would hold memory that nobody uses. */
#define SPARE_MOST ((uint64_t)256 << 20)

unsigned arena_add(struct arena *a, const char *name, uint64_t size, unsigned align)
{
	MEM_ROOM(a->region, a->n, a->cap, 8);
	if (a->end == 0)
		a->base = a->end = ARENA_BASE;
	const uint64_t step = align > 512 ? align : 512;
	const uint64_t base = (a->end + GUARD_GAP + step - 1) / step * step;
	a->region[a->n] = (struct arena_region){
		.name = name,
		.base = base,
		.size = size,
		.elem_bytes = 1,
		.elem = "bytes",
		.buffer = -1,
	};
	a->end = base + size;
	return a->n++;
}

void arena_clear(const struct arena *a, const struct arena_region *r)
{
	const uint64_t page = 4096, first = (r->base + page - 1) / page * page,
				   last = (r->base + r->size) / page * page;
	uint8_t *at = arena_at(a, r->base);
	if (r->size < LARGE || madvise(arena_at(a, first), last - first, MADV_DONTNEED) != 0) {
		memset(at, 0, r->size);
		return;
	}
	memset(at, 0, first - r->base);
	memset(arena_at(a, last), 0, r->base + r->size - last);
}

static bool take_spare(struct arena *a, struct arena_spare *spare, size_t bytes)
{
	if (!spare || spare->mapped < bytes)
		return false;
	a->host = spare->host;
	a->mapped = spare->mapped;
	a->kept = spare->kept;
	*spare = (struct arena_spare){ 0 };
	for (unsigned i = 0; i < a->n; i++)
		if (a->region[i].buffer < 0)
			arena_clear(a, &a->region[i]);
	return true;
}

bool arena_map(struct arena *a, struct arena_spare *spare, struct err *err)
{
	a->base = ARENA_BASE;
	const uint64_t bytes = (a->end ? a->end - ARENA_BASE : 0) + 2 * GUARD_GAP;
	if (take_spare(a, spare, bytes))
		return true;
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

bool arena_holds(const struct arena *a, unsigned i, uint64_t contents)
{
	for (unsigned k = 0; k < a->kept.n; k++)
		if (a->kept.of[k].base == a->region[i].base && a->kept.of[k].size == a->region[i].size)
			return a->kept.of[k].contents == contents;
	return false;
}

static struct arena_kept what_stays(const struct arena *a)
{
	struct arena_kept kept = { .n = 0 };
	for (unsigned i = 0; i < a->n && kept.n < ARENA_KEPT; i++) {
		const struct arena_region *r = &a->region[i];
		if (!r->read_only || !r->contents)
			continue;
		kept.of[kept.n].base = r->base;
		kept.of[kept.n].size = r->size;
		kept.of[kept.n++].contents = r->contents;
	}
	return kept;
}

void arena_spare_free(struct arena_spare *spare)
{
	if (spare->host)
		munmap(spare->host, spare->mapped);
	*spare = (struct arena_spare){ 0 };
}

void arena_free(struct arena *a, struct arena_spare *spare)
{
	if (spare && !a->living && a->mapped > spare->mapped && a->mapped <= SPARE_MOST) {
		arena_spare_free(spare);
		*spare = (struct arena_spare){ a->host, a->mapped, what_stays(a) };
	} else if (a->host) {
		munmap(a->host, a->mapped);
	}
	for (unsigned i = 0; i < a->n; i++)
		free(a->region[i].written);
	free(a->region);
	*a = (struct arena){ 0 };
}

#define FAR ((uint64_t)1 << 40)

const struct arena_region *arena_near(const struct arena *a, uint64_t address)
{
	const struct arena_region *best = NULL;
	uint64_t distance = FAR;
	for (unsigned i = 0; i < a->n; i++) {
		const struct arena_region *r = &a->region[i];
		const uint64_t d = address < r->base             ? r->base - address
		                   : address < r->base + r->size ? 0
		                                                 : address - r->base - r->size;
		/* what is not the program's, named in words, is nobody's neighbour */
		if (d < distance && (!d || !r->name || !strchr(r->name, ' '))) {
			distance = d;
			best = r;
		}
	}
	return best;
}

/* Index of the first region that begins behind @address. */
static unsigned index_behind(const struct arena *a, uint64_t address)
{
	unsigned low = 0, high = a->n;
	while (low < high) {
		const unsigned mid = (low + high) / 2;
		if (a->region[mid].base <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct arena_region *arena_find(const struct arena *a, uint64_t address)
{
	const unsigned i = index_behind(a, address);
	if (!i)
		return NULL;
	const struct arena_region *r = &a->region[i - 1];
	return address - r->base < r->size ? r : NULL;
}

/* --- living arenas --- */

/* Between regions: an index that is off by a few elements hurts no other, as it often does not on a
 * GPU, whose allocations are rounded up. */
#define LIVING_GAP 512
/* A GPU maps memory in pages of 2 MiB. Large allocations have theirs alone, so what lies behind
 * their last byte up to the page's end belongs to nobody; small ones share a page. */
#define GPU_PAGE ((uint64_t)2 << 20)
#define OWN_PAGES ((uint64_t)1 << 20)
#define HOST_PAGE                                                                  \
	((uint64_t)4096) /* what is asked for at a multiple of it has pages of its own \
	                  */

bool arena_reserve(struct arena *a, uint64_t base, uint64_t bytes, struct err *err)
{
	void *p = mmap((void *)(uintptr_t)base, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != (void *)(uintptr_t)base) {
		if (p != MAP_FAILED)
			munmap(p, bytes);
		char size[32];
		err_set(err, ERR_UNAVAILABLE, "emulator: %s of addresses from 0x%llx on cannot be reserved",
		        fmt_bytes(size, sizeof size, (double)bytes), (unsigned long long)base);
		return err_remedy(err, "a limit on addresses is in force (ulimit -v), or something else "
		                       "lies there");
	}
	*a = (struct arena){ .base = base, .end = base, .host = p, .mapped = bytes, .living = true };
	return true;
}

const struct arena_region *arena_below(const struct arena *a, uint64_t address)
{
	const unsigned i = index_behind(a, address);
	return i ? &a->region[i - 1] : NULL;
}

static struct arena_region *insert_region(struct arena *a, unsigned at, uint64_t base,
                                          uint64_t size)
{
	MEM_ROOM(a->region, a->n, a->cap, 64);
	memmove(&a->region[at + 1], &a->region[at], (a->n - at) * sizeof *a->region);
	a->n++;
	a->region[at] = (struct arena_region){ .base = base,
		                                   .size = size,
		                                   .elem_bytes = 1,
		                                   .elem = "bytes",
		                                   .buffer = -1,
		                                   .serial = ++a->n_made,
		                                   .contents = a->n_contents + 1,
		                                   .first_contents = a->n_contents + 1 };
	a->n_contents++;
	return &a->region[at];
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/* Behind the last byte that is the region's alone, which was asked for at a multiple of @align. */
static uint64_t own_end(uint64_t base, uint64_t size, uint64_t align)
{
	return base + (size < OWN_PAGES ? round_up(size, align < HOST_PAGE ? 1 : HOST_PAGE)
	                                : round_up(size, GPU_PAGE));
}

uint64_t arena_pages_end(const struct arena *a)
{
	return a->base + round_up(a->end - a->base + LIVING_GAP, GPU_PAGE);
}

static struct arena_region *take_at(struct arena *a, uint64_t address, uint64_t size)
{
	const unsigned i = index_behind(a, address);
	if (size > UINT64_MAX - address) /* its end would be no address */
		return NULL;
	if ((i && a->region[i - 1].base + a->region[i - 1].size > address) ||
	    (i < a->n && a->region[i].base < address + size))
		return NULL;
	struct arena_region *r = insert_region(a, i, address, size);
	r->outside = address < a->base || address >= a->base + a->mapped;
	return r;
}

struct arena_region *arena_take(struct arena *a, uint64_t address, uint64_t size, uint64_t align)
{
	if (address)
		return take_at(a, address, size);
	align = align < LIVING_GAP ? LIVING_GAP : align;
	if (size > a->mapped)
		return NULL;
	const uint64_t limit = a->base + a->mapped;
	uint64_t at = a->base + LIVING_GAP;
	for (unsigned i = index_behind(a, a->base); i <= a->n; i++) {
		const uint64_t place = round_up(at, align),
					   next = i < a->n && a->region[i].base < limit ? a->region[i].base : limit;
		const uint64_t end = own_end(place, size, align);
		if (end + LIVING_GAP <= next) {
			if (end > a->end)
				a->end = end;
			struct arena_region *r = insert_region(a, i, place, size);
			r->align = align;
			return r;
		}
		if (next == limit)
			break;
		at = own_end(a->region[i].base, a->region[i].size, a->region[i].align) + LIVING_GAP;
	}
	return NULL;
}

bool arena_give_back(struct arena *a, uint64_t address)
{
	const unsigned i = index_behind(a, address);
	if (!i || a->region[i - 1].base != address)
		return false;
	struct arena_region *r = &a->region[i - 1];
	const uint64_t page = 4096, first = round_up(r->base, page),
				   last = (r->base + r->size) / page * page;
	if (!r->outside && first < last)
		madvise(arena_at(a, first), last - first, MADV_DONTNEED);
	free(r->written);
	memmove(r, r + 1, (a->n - i) * sizeof *r);
	a->n--;
	return true;
}

#define _GNU_SOURCE /* memfd_create(), fallocate() */
/*
 * Device memory that several processes have: pages of a file without a name, mapped in place of
 * the device's own. Pages, since allocations share them; as on a GPU, where whole blocks of memory
 * are shared (CUDA C++ Programming Guide, "Interprocess Communication"). An allocation that comes
 * from elsewhere has its pages for itself, and ends with its last one.
 */
#include "emu/launch/shared_pages.h"
#include "emu/device.h"
#include "emu/launch/launch.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE ((uint64_t)4096)

struct shared_range {
	uint64_t from, end, offset; /* in the file */
	int fd;
};

struct shared_pages {
	int own;   /* the file of what is ours, at the places that it has in the arena */
	pid_t pid; /* whose it is: a child that the program forks makes another */
	unsigned n, cap;
	struct shared_range *range;
};

struct shared_pages *shared_pages_new(void)
{
	struct shared_pages *s = mem_zalloc(sizeof *s);
	s->own = -1;
	return s;
}

static void close_unused(const struct shared_pages *s, int fd)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->range[i].fd == fd)
			return;
	if (fd >= 0 && fd != s->own)
		close(fd);
}

void shared_pages_free(struct shared_pages *s)
{
	while (s && s->n)
		s->n--, close_unused(s, s->range[s->n].fd);
	if (s && s->own >= 0)
		close(s->own);
	if (s)
		free(s->range);
	free(s);
}

static uint64_t page_of(uint64_t address)
{
	return address / PAGE * PAGE;
}

static uint64_t page_behind(uint64_t address)
{
	return (address + PAGE - 1) / PAGE * PAGE;
}

static struct shared_range *range_at(const struct shared_pages *s, uint64_t page)
{
	for (unsigned i = 0; i < s->n; i++)
		if (page >= s->range[i].from && page < s->range[i].end)
			return &s->range[i];
	return NULL;
}

static void add_range(struct shared_pages *s, struct shared_range r)
{
	MEM_ROOM(s->range, s->n, s->cap, 8);
	s->range[s->n++] = r;
}

static bool map_file(const struct emu_device *d, const struct shared_range *r, int how)
{
	void *at = arena_at(&d->arena, r->from);
	return mmap(at, r->end - r->from, PROT_READ | PROT_WRITE, how | MAP_FIXED, r->fd,
	            (off_t)r->offset) == at;
}

static bool map_nothing(const struct emu_device *d, uint64_t from, uint64_t end)
{
	void *at = arena_at(&d->arena, from);
	return mmap(at, end - from, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == at;
}

/* What the pages hold, to the file, which is zero where nothing was written. */
static bool keep_contents(const struct emu_device *d, const struct shared_range *r)
{
	static const uint8_t nothing[PAGE];
	for (uint64_t page = r->from; page < r->end; page += PAGE) {
		const void *at = arena_at(&d->arena, page);
		if (memcmp(at, nothing, PAGE) != 0 &&
		    pwrite(r->fd, at, PAGE, (off_t)(page - d->arena.base)) != (ssize_t)PAGE)
			return false;
	}
	return true;
}

static bool open_file(const struct emu_device *d)
{
	struct shared_pages *s = d->shared;
	if (s->own >= 0 && s->pid == getpid())
		return true;
	s->pid = getpid();
	s->own = memfd_create(EMU_SHARED_NAME, MFD_CLOEXEC);
	if (s->own >= 0 && ftruncate(s->own, (off_t)d->arena.mapped) == 0)
		return true;
	if (s->own >= 0)
		close(s->own);
	s->own = -1;
	return false;
}

/* Others change it without a word, and what they wrote is not known. */
static void belongs_to_others(struct emu_device *d, uint64_t address)
{
	const unsigned i = (unsigned)(arena_find(&d->arena, address) - d->arena.region);
	struct arena_region *r = &d->arena.region[i];
	arena_changed(&d->arena, i);
	r->host_writes = true;
}

bool emu_device_share(struct emu_device *d, uint64_t address, struct emu_shared *out)
{
	struct shared_pages *s = d->shared;
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r || r->base != address || r->kind != EMU_MEMORY_DEVICE || r->outside || !open_file(d))
		return false;
	const uint64_t end = page_behind(r->base + r->size);
	for (uint64_t page = page_of(r->base); page < end;) {
		struct shared_range own = { page, page, page - d->arena.base, s->own };
		while (own.end < end && !range_at(s, own.end))
			own.end += PAGE;
		page = own.end + PAGE;
		if (own.end == own.from)
			continue;
		if (!keep_contents(d, &own) || !map_file(d, &own, MAP_SHARED))
			return false;
		add_range(s, own);
	}
	emu_device_guard(d, r, true);
	belongs_to_others(d, address);
	*out = (struct emu_shared){ s->own, r->base - d->arena.base, r->size };
	return true;
}

uint64_t emu_device_attach(struct emu_device *d, const struct emu_shared *from, const void *caller)
{
	const uint64_t first = page_of(from->offset), behind = page_behind(from->offset + from->bytes);
	const uint64_t lead = from->offset - first;
	struct stat st;
	if (behind <= from->offset || fstat(from->fd, &st) != 0 || (uint64_t)st.st_size < behind)
		return 0;
	struct arena_region *r = arena_take(&d->arena, 0, behind - first, PAGE);
	if (!r)
		return 0;
	const struct shared_range range = { r->base, r->base + r->size, first, from->fd };
	if (!map_file(d, &range, MAP_SHARED)) {
		arena_give_back(&d->arena, r->base);
		return 0;
	}
	add_range(d->shared, range);
	r->base += lead;
	r->size -= lead;
	r->kind = EMU_MEMORY_DEVICE;
	r->caller = caller;
	d->used_bytes += r->size;
	const uint64_t address = r->base;
	emu_device_guard(d, r, true);
	belongs_to_others(d, address);
	return address;
}

/* Ours: pages that hold nothing else, from page_behind() on; of others: all of it. */
void shared_pages_drop(struct emu_device *d, uint64_t base, uint64_t size)
{
	struct shared_pages *s = d->shared;
	for (unsigned i = 0; i < s->n;) {
		struct shared_range *r = &s->range[i];
		const bool ours = r->fd == s->own;
		uint64_t from = ours ? page_behind(base) : page_of(base);
		uint64_t end = ours ? page_of(base + size) : page_behind(base + size);
		from = from > r->from ? from : r->from;
		end = end < r->end ? end : r->end;
		if (from >= end || !map_nothing(d, from, end)) {
			i++;
			continue;
		}
		if (ours)
			(void)fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			                (off_t)(from - d->arena.base), (off_t)(end - from));
		const struct shared_range before = { r->from, from, r->offset, r->fd },
								  after = { end, r->end, r->offset + (end - r->from), r->fd };
		*r = s->range[--s->n];
		close_unused(s, before.fd);
		if (ours && before.from < before.end)
			add_range(s, before);
		if (ours && after.from < after.end)
			add_range(s, after);
	}
}

void emu_device_own_copy(const struct emu_device *d)
{
	for (unsigned i = 0; i < d->shared->n; i++) {
		const struct shared_range *r = &d->shared->range[i];
		(void)map_file(d, r, MAP_PRIVATE);
	}
}

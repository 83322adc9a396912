/* See kept.h. */
#include "emu/launch/kept.h"

#include "emu/device.h"
#include "emu/launch/host_reads.h"
#include "emu/launch/managed_pages.h"
#include "base/mem.h"

#include <stdlib.h>

#define LINE_BYTES 128
#define LEAST_SHARE 0.02

/* Managed memory, of which pages come and go: also a variable that is declared so. */
static bool is_managed(const struct arena_region *r)
{
	return r->kind == EMU_MEMORY_MANAGED || r->managed;
}

/* Does L2 keep what lies there? Not of the host's memory. */
static bool in_l2(const struct emu_device *d, const struct arena_region *r)
{
	const bool own = r->kind == EMU_MEMORY_DEVICE || r->kind == EMU_MEMORY_VARIABLE ||
	                 r->kind == EMU_MEMORY_MANAGED;
	return own && !r->outside && !emu_device_sets_anew(d, r);
}

/* Bytes that are with the host, and so not in L2. */
static double bytes_away(const struct emu_device *d, const struct arena_region *r)
{
	managed_pages_look(d->pages, &d->arena, r);
	const struct page_moves m = managed_pages_away(d->pages, r);
	if (m.host + m.fresh > 0)
		l2_kept_drop(d->kept, r->base, r->size);
	return m.host + m.fresh;
}

/* Managed memory that has been on the GPU, as ranges; NULL = none. Caller frees. */
static struct host_range *used_ranges(const struct emu_device *d, unsigned *n)
{
	struct host_range *range = NULL;
	*n = 0;
	for (unsigned i = 0; i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		if (r->kind != EMU_MEMORY_MANAGED || !managed_pages_used(d->pages, r))
			continue;
		range = mem_realloc(range, *n + 1, sizeof *range);
		range[(*n)++] = (struct host_range){ .at = arena_at(&d->arena, r->base), .bytes = r->size };
	}
	return range;
}

/* Marks are asked for once, before anything here looks at the memory itself. */
void emu_device_host_stops(struct emu_device *d)
{
	unsigned n, at = 0;
	if (!managed_pages_take_marks(d->pages))
		return;
	struct host_range *range = used_ranges(d, &n);
	const bool known = n && host_reads_since(range, n);
	for (unsigned i = 0; known && i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		if (r->kind == EMU_MEMORY_MANAGED && managed_pages_used(d->pages, r))
			managed_pages_touched(d->pages, r, range[at++].touched);
	}
	free(range);
}

void emu_device_host_goes_on(struct emu_device *d)
{
	unsigned n;
	struct host_range *range = used_ranges(d, &n);
	if (n && managed_pages_wants_marks(d->pages))
		managed_pages_set_marks(d->pages, host_reads_begin(range, n));
	free(range);
}

void kept_look(const struct emu_device *d)
{
	for (unsigned i = 0; i < d->arena.n; i++)
		if (is_managed(&d->arena.region[i]))
			bytes_away(d, &d->arena.region[i]);
}

/* Memory that stays the host's: pinned, or its own. */
static bool of_host(const struct arena_region *r)
{
	return r->kind == EMU_MEMORY_PINNED || r->kind == EMU_MEMORY_REGISTERED;
}

/* How an allocation was when a launch began. */
struct kept_before {
	float far; /* share of it: see l2_kept_far() */
	bool met;  /* launches before have touched it, or one that lies with it */
};

/* Small allocations lie together in one page of the GPU's. */
#define SMALL_BYTES (1 << 20)

static bool small_met(const struct emu_device *d)
{
	for (unsigned i = 0; i < d->arena.n; i++)
		if (d->arena.region[i].met && d->arena.region[i].size < SMALL_BYTES)
			return true;
	return false;
}

bool fetches_textures(const struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++)
		if (ir->ops[o].kind == X_TEXTURE)
			return true;
	return false;
}

/* What L2 holds of the memory that it caches, piece by piece. */
static void warm_pieces(struct emu_launch *l)
{
	const struct emu_device *d = l->device;
	uint64_t base, end;
	double share;
	for (unsigned i = 0; l2_kept_piece(d->kept, i, &base, &end, &share); i++) {
		const struct arena_region *r = arena_find(&d->arena, base);
		if (!r || !in_l2(d, r) || share <= LEAST_SHARE)
			continue;
		const uint64_t first = (base - d->arena.base) / LINE_BYTES;
		const uint64_t behind = (end - d->arena.base + LINE_BYTES - 1) / LINE_BYTES;
		if (!cache_sim_warm(l->grid.cache, (uint32_t)first, (uint32_t)(behind - first), WARM_KEPT,
		                    share))
			return;
	}
}

void kept_begin(struct emu_launch *l)
{
	const struct emu_device *d = l->device;
	const bool small = small_met(d) && !fetches_textures(&l->image.ir); /* arrays lie apart */
	l->before = l->program ? mem_calloc(d->arena.n + 1, sizeof *l->before) : NULL;
	for (unsigned i = 0; l->program && i < d->arena.n; i++) {
		const struct arena_region *r = &d->arena.region[i];
		const uint64_t first = (r->base - d->arena.base) / LINE_BYTES;
		const uint64_t end = (r->base + r->size - d->arena.base + LINE_BYTES - 1) / LINE_BYTES;
		if (of_host(r) && !r->outside)
			cache_sim_host(l->grid.cache, (uint32_t)first, (uint32_t)(end - first));
		l->before[i] = (struct kept_before){
			.far = in_l2(d, r) ? (float)l2_kept_far(d->kept, r->base, r->size) : 0,
			.met = r->met || (small && r->size < SMALL_BYTES && in_l2(d, r)) ||
			       emu_device_sets_anew(d, r) || of_host(r),
		};
	}
	if (l->program)
		warm_pieces(l);
}

static unsigned how_touched(const struct emu_launch *l, unsigned region)
{
	unsigned how = 0;
	for (unsigned k = 0; k < l->n_workers; k++)
		how |= l->workers[k].touched[region];
	return how;
}

void kept_tell(const struct emu_launch *l, struct run_counts *c)
{
	double read = 0, far = 0;
	if (!l->before || l->apart) /* allocations may have come and gone meanwhile */
		return;
	for (unsigned i = 0; i < l->device->arena.n; i++) {
		const struct arena_region *r = &l->device->arena.region[i];
		const unsigned how = how_touched(l, i);
		c->new_memory |= how && !l->before[i].met;
		if (!in_l2(l->device, r))
			continue;
		read += how & TOUCH_READ ? (double)r->size : 0;
		far += how & TOUCH_READ ? (double)r->size * l->before[i].far : 0;
	}
	c->far_share = read > 0 ? far / read : 0;
}

void kept_touch(struct emu_device *d, const struct arena_region *r, unsigned how, bool speaks)
{
	if (is_managed(r)) {
		managed_pages_here(d->pages, &d->arena, r, true);
		d->arena.region[r - d->arena.region].by_launch |= speaks ? 0 : (uint8_t)how;
	}
	d->arena.region[r - d->arena.region].met = true;
	if (in_l2(d, r))
		l2_kept_touch(d->kept, r->base, r->size, how & TOUCH_READ ? L2_READ : L2_WRITTEN);
}

/* A launch waits for what it reads, and then for what it only writes. */
struct page_rounds {
	struct page_moves read, written; /* bytes that came */
};

static uint8_t rounds_of(double read, double written)
{
	return (uint8_t)((read > 0) + (written > 0));
}

static void note_rounds(struct emu_launch *l, const struct page_rounds *p)
{
	l->pages_host = p->read.host + p->written.host;
	l->pages_fresh = p->read.fresh + p->written.fresh;
	const bool any = l->pages_host + l->pages_fresh > 0;
	/* what the host wrote takes longer, and decides */
	l->page_rounds_host = rounds_of(p->read.host, p->written.host);
	l->page_rounds_fresh =
		rounds_of(p->read.host > 0 ? 0 : p->read.fresh, p->written.host > 0 ? 0 : p->written.fresh);
	l->pages_first = any && managed_pages_first(l->device->pages);
}

/* One allocation that the launch touched. */
static void note_region(struct emu_launch *l, const struct arena_region *r, unsigned how,
                        struct page_rounds *rounds)
{
	struct emu_device *d = l->device;
	if (is_managed(r)) {
		const struct page_moves m = managed_pages_away(d->pages, r);
		struct page_moves *const to = how & TOUCH_READ ? &rounds->read : &rounds->written;
		to->host += m.host;
		to->fresh += m.fresh;
	}
	if (of_host(r) && r->outside) { /* no cache follows it */
		l->host_read += how & TOUCH_READ ? (double)r->size : 0;
		l->host_written += how & TOUCH_WRITE ? (double)r->size : 0;
	}
	kept_touch(d, r, how, l->image.ir.speaks);
}

void kept_note(struct emu_launch *l)
{
	const struct emu_device *d = l->device;
	static const unsigned wanted[] = { TOUCH_READ, 0 }; /* what is read, what is only written */
	struct page_rounds rounds = { 0 };
	l2_kept_begin(d->kept);
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < d->arena.n; i++) {
			const unsigned how = how_touched(l, i);
			if (how && (how & TOUCH_READ) == wanted[pass])
				note_region(l, &d->arena.region[i], how, &rounds);
		}
	note_rounds(l, &rounds);
}

void emu_device_traffic(struct emu_device *d, enum emu_traffic kind, uint64_t address,
                        uint64_t bytes)
{
	static const enum l2_touch as[] = {
		[EMU_SET] = L2_SET,           [EMU_COPY_FROM] = L2_COPIED_FROM,
		[EMU_COPY_TO] = L2_COPIED_TO, [EMU_FROM_HOST] = L2_FROM_HOST,
		[EMU_SENT] = L2_SENT,         [EMU_TO_HOST] = L2_FROM_HOST, /* leaves as little */
	};
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r || !in_l2(d, r))
		return;
	l2_kept_begin(d->kept);
	l2_kept_touch(d->kept, address, bytes, as[kind]);
}

struct emu_kept emu_device_kept(const struct emu_device *d, const uint64_t *address, unsigned n)
{
	double all = 0, kept = 0, far = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct arena_region *r = arena_find(&d->arena, address[i]);
		if (!r || !in_l2(d, r))
			continue;
		all += (double)r->size;
		kept += (double)r->size * l2_kept_share(d->kept, r->base, r->size);
		far += (double)r->size * l2_kept_far(d->kept, r->base, r->size);
	}
	return (struct emu_kept){ .share = all > 0 ? kept / all : 0, .far = all > 0 ? far / all : 0 };
}

bool emu_device_pages_away(const struct emu_device *d, const uint64_t *address, unsigned n)
{
	bool away = false;
	for (unsigned i = 0; i < n && !away; i++) {
		const struct arena_region *r = arena_find(&d->arena, address[i]);
		away = r && is_managed(r) && bytes_away(d, r) > 0;
	}
	return away;
}

double emu_device_prefetch(struct emu_device *d, uint64_t address, bool to_gpu)
{
	const struct arena_region *r = arena_find(&d->arena, address);
	if (!r || !is_managed(r))
		return 0;
	emu_device_host_stops(d);
	const double away = bytes_away(d, r);
	managed_pages_here(d->pages, &d->arena, r, to_gpu);
	emu_device_host_goes_on(d);
	return to_gpu ? away : (double)r->size - away;
}

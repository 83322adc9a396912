/*
 * Where an access goes: the arrangement of its lanes, and every lane's address checked: bounds,
 * alignment, read-only memory, memory without a value.
 */
#include "emu/vm/access.h"

#include "base/value_flags.h"
#include "emu/vm/cluster.h"

static bool access_fault(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane,
                         uint64_t address, enum ptx_space space, unsigned bytes, bool store)
{
	vm_fault(w, u, kind, lane);
	struct emu_fault *f = &w->worker->fault;
	f->address = address;
	f->space = space;
	f->bytes = bytes;
	f->store = store;
	return false;
}

/* What probe_layout() would find, by how the address is made where that is enough. */
static enum lane_layout planned_layout(const struct access *a)
{
	if (a->planned && a->m->addr.kind == ADDR_UNIFORM)
		return LAYOUT_SAME;
	if (a->planned && a->m->addr.kind == ADDR_PATTERN && a->m->row == 32)
		return a->mask & (a->mask - 1) ? LAYOUT_ROW : LAYOUT_SAME;
	return probe_layout(a->address, a->mask, a->bytes);
}

void access_find_layout(struct access *a)
{
	const unsigned first = lowest_lane(a->mask), last = 31 - (unsigned)__builtin_clz(a->mask);
	a->layout = planned_layout(a);
	a->first = a->low = a->address[first];
	a->span = a->layout == LAYOUT_ROW ? (last - first + 1) * (uint64_t)a->bytes : a->bytes;
	a->again = NULL;
	a->base = NULL;
	if (a->layout != LAYOUT_ANY)
		return;
	struct repeat *r = &a->w->worker->repeat[a->m->id];
	if (!repeat_look(r, a->address, a->mask, a->bytes))
		return;
	a->again = r;
	a->low = a->first + (uint64_t)r->low;
	a->span = (uint64_t)(r->high - r->low);
}

/* All of the access lies in @size bytes at @base, aligned: no lane needs a look of its own. */
static bool all_fit(const struct access *a, uint64_t base, uint64_t size)
{
	if (a->layout == LAYOUT_ANY && !(a->again && a->again->aligned))
		return false;
	return a->low - base < size && size - (a->low - base) >= a->span &&
	       !(a->first & (a->bytes - 1));
}

/* Flags of bytes that had no value at first, from @at on: reads need all set, writes set them. */
static bool span_flags(const struct access *a, uint8_t *flags, uint64_t at)
{
	if (value_flags_all(flags, at, a->span))
		return true;
	if (a->read)
		return false;
	if (a->layout == LAYOUT_ROW && a->mask != 0xffffffffu)
		return false; /* some lanes may leave holes: one by one */
	value_flags_set(flags, at, a->span);
	return true;
}

/* Flags of one lane's bytes; words at a time, else the long way. */
GUEST_MEMORY static inline bool lane_flags(const struct access *a, uint8_t *flags, uint64_t at)
{
	if (a->bytes < 4)
		return false;
	for (unsigned k = 0; k < a->bytes / 4; k++) {
		uint8_t *f = flags + at / 4 + k;
		if (a->read && *f != VALUE_FLAGS_WORD)
			return false;
		if (a->write)
			*f = VALUE_FLAGS_WORD;
	}
	return true;
}

/* The same for a whole access that fits; @at: its lowest address. False = one by one. */
static bool all_flags(const struct access *a, uint8_t *flags, uint64_t at)
{
	if (a->layout != LAYOUT_ANY)
		return span_flags(a, flags, at);
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const int64_t beyond = a->again->offset[lowest_lane(m)] - a->again->low;
		if (!lane_flags(a, flags, at + (uint64_t)beyond))
			return false;
	}
	return true;
}

static void remember_window(const struct access *a, const struct arena_region *r)
{
	if (!a->m->full_probe || r->outside || r->size < a->m->span || (r->read_only && a->write) ||
	    (r->written && a->read))
		return;
	struct mem_window *win = &a->w->win[a->m->id];
	win->lo = r->base;
	win->len = r->size - a->m->span + 1;
	win->written = r->written ? (uintptr_t)r->written - r->base / 4 : 0;
	win->only_read = r->read_only;
}

static struct emu_fault *describe(const struct access *a, struct emu_fault *f)
{
	f->space = a->space;
	f->bytes = a->bytes;
	f->store = a->write;
	f->atomic = a->atomic;
	return f;
}

struct emu_fault *access_note(const struct access *a, enum fault_kind kind, unsigned lane,
                              uint64_t address)
{
	struct emu_fault *f = describe(a, vm_note(a->w, a->u, kind, lane));
	f->address = address;
	return f;
}

void access_note_race(const struct access *a, const struct race_found *found, bool many)
{
	describe(a, vm_note_race(a->w, a->u, found, many));
}

/* The same where it is tolerated; true if it is. */
static bool note_fault(const struct access *a, enum fault_kind kind, unsigned lane,
                       uint64_t address)
{
	return (a->w->worker->grid->lenient || kind == FAULT_UNINITIALISED) &&
	       access_note(a, kind, lane, address);
}

/* Outside every region, but where the device has memory: hardware would go on. */
static bool goes_on(const struct access *a, const struct arena *ar, unsigned lane, uint64_t at)
{
	return at - ar->base < ar->mapped && ar->mapped - (at - ar->base) >= a->bytes &&
	       at < arena_pages_end(ar) && note_fault(a, FAULT_BOUNDS, lane, at);
}

/* The region of @at, which is touched; NULL = none. */
static const struct arena_region *touch_region(struct worker *wk, uint64_t at, bool read,
                                               bool write)
{
	const struct arena *ar = wk->grid->arena;
	const struct arena_region *r = arena_find(ar, at);
	if (r)
		wk->touched[r - ar->region] |=
			(uint8_t)((read ? TOUCH_READ : 0) | (write ? TOUCH_WRITE : 0));
	return r;
}

bool access_place(struct worker *wk, uint64_t at, bool read, bool write, struct mem_buffer *out)
{
	const struct arena_region *r = touch_region(wk, at, read, write);
	if (!r || (r->read_only && write))
		return false;
	*out = (struct mem_buffer){ r->base, r->size, r->written, r->read_only };
	return true;
}

enum global_span access_span(struct worker *wk, uint64_t at, uint64_t bytes, bool read, bool write)
{
	const struct arena_region *r = touch_region(wk, at, read, write);
	if (!r || r->size - (at - r->base) < bytes)
		return SPAN_OUTSIDE;
	if (write && r->read_only)
		return SPAN_READ_ONLY;
	const uint64_t offset = at - r->base;
	const bool unwritten = r->written && read && !value_flags_all(r->written, offset, bytes);
	if (r->written && write)
		value_flags_set(r->written, offset, bytes);
	return unwritten ? SPAN_UNWRITTEN : SPAN_THERE;
}

static bool resolve_global(struct access *a)
{
	const struct arena *ar = a->w->worker->grid->arena;
	const struct arena_region *r = touch_region(a->w->worker, a->first, a->read, a->write);
	if (r)
		a->w->worker->region_at[a->m->id] = r->base;
	if (r && all_fit(a, r->base, r->size) && !(r->read_only && a->write) &&
	    (!r->written || all_flags(a, r->written, a->low - r->base))) {
		a->base = ar->host + (a->first - ar->base);
		a->only_read = r->read_only;
		remember_window(a, r);
		return true;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest_lane(m);
		const uint64_t at = a->address[i];
		if (!r || at - r->base >= r->size)
			r = touch_region(a->w->worker, at, a->read, a->write);
		const bool inside = r && r->size - (at - r->base) >= a->bytes;
		if (!inside && !goes_on(a, ar, i, at))
			return access_fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_GLOBAL, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return access_fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_GLOBAL, a->bytes, a->write);
		if (!inside) {
			a->host[i] = ar->host + (at - ar->base);
			r = NULL;
			continue;
		}
		if (a->write && r->read_only)
			return access_fault(a->w, a->u, FAULT_READ_ONLY, i, at, SPACE_GLOBAL, a->bytes, true);
		a->host[i] = ar->host + (at - ar->base);
		if (!r->written)
			continue;
		/* what is copied along between members of a structure may have no value */
		const uint64_t offset = at - r->base;
		const bool unwritten = a->wants_value && !value_flags_all(r->written, offset, a->bytes);
		const bool tell =
			unwritten && (r->buffer >= 0 || !value_flags_any(r->written, offset, a->bytes));
		if (a->write)
			value_flags_set(r->written, offset, a->bytes);
		if (tell)
			note_fault(a, FAULT_UNINITIALISED, i, at);
	}
	if (r)
		remember_window(a, r);
	return true;
}

static void check_shared(struct access *a, unsigned lane)
{
	const uint64_t at = a->address[lane];
	if (!shadow_touch(a->w->worker->shadow, at, a->bytes, a->wants_value, a->write))
		note_fault(a, FAULT_UNINITIALISED, lane, at);
}

/* An address that names the block it is in, see CLUSTER_SHIFT; the lane's own block, too. */
static bool in_cluster(struct access *a, unsigned lane)
{
	const struct worker *wk = a->w->worker;
	const uint64_t at = a->address[lane];
	struct worker *owner;
	if (at <= CLUSTER_OFFSET || at & (a->bytes - 1u))
		return false;
	a->host[lane] = cluster_bytes_at(wk, at, a->bytes, &owner);
	if (!a->host[lane])
		return false;
	if (owner == wk)
		a->address[lane] = at & CLUSTER_OFFSET;
	else
		a->remote |= 1u << lane;
	if (owner->shadow &&
	    !shadow_touch(owner->shadow, at & CLUSTER_OFFSET, a->bytes, a->wants_value, a->write))
		note_fault(a, FAULT_UNINITIALISED, lane, at);
	return true;
}

static bool resolve_shared(struct access *a)
{
	const struct warp *w = a->w;
	struct shadow *s = w->worker->shadow;
	if (all_fit(a, 0, w->shared_bytes) && (!s || s->full || all_flags(a, s->written, a->low))) {
		a->base = w->shared + a->first;
		return true;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest_lane(m);
		const uint64_t at = a->address[i];
		if (in_cluster(a, i))
			continue;
		if (at >= w->shared_bytes || w->shared_bytes - at < a->bytes)
			return access_fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_SHARED, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return access_fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_SHARED, a->bytes, a->write);
		a->host[i] = w->shared + at;
		if (s && !lane_flags(a, s->written, at))
			check_shared(a, i);
	}
	return true;
}

static bool resolve_local(struct access *a)
{
	const struct grid *l = a->w->worker->grid;
	uint8_t *const own = a->w->worker->local + (size_t)a->w->number * 32 * l->local_bytes;
	if (all_fit(a, 0, l->local_bytes)) {
		for (unsigned i = 0; i < 32; i++) /* those of lanes that are off are no places */
			a->host[i] = (uint8_t *)((uintptr_t)own + i * l->local_bytes + a->address[i]);
		return true;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest_lane(m);
		const uint64_t at = a->address[i];
		if (at >= l->local_bytes || l->local_bytes - at < a->bytes)
			return access_fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_LOCAL, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return access_fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_LOCAL, a->bytes, a->write);
		a->host[i] = own + i * l->local_bytes + at;
	}
	return true;
}

bool access_resolve(struct access *a)
{
	switch (a->space) {
	case SPACE_SHARED: return resolve_shared(a);
	case SPACE_LOCAL: return resolve_local(a);
	default: return resolve_global(a);
	}
}

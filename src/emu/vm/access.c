/*
 * Loads, stores and atomics of a warp: any address space, any lanes, any width.
 *
 * The careful path: addresses of the active lanes are gathered, checked one by one, counted by
 * probe.c, noted for the cache simulation, and then carried out lane by lane in lane order. The
 * handlers of simd/ take over the regular cases and fall back to this one.
 */
#include "emu/vm/handler.h"

#include "base/mem.h"

/* --- addresses --- */

static void lane_addresses(const struct warp *w, const struct mem_addr *a, uint64_t out[32])
{
	const uint64_t keep = a->wide ? ~(uint64_t)0 : 0xffffffffu;
	const uint64_t offset = (uint64_t)a->offset;
	switch (a->kind) {
	case ADDR_UNIFORM: {
		const uint64_t v = ((a->wide ? SCALAR64(a->slot) : SCALAR32(a->slot)) + offset) & keep;
		for (unsigned i = 0; i < 32; i++)
			out[i] = v;
		break;
	}
	case ADDR_PATTERN: {
		const uint64_t v = (a->wide ? SCALAR64(a->slot) : SCALAR32(a->slot)) + offset;
		for (unsigned i = 0; i < 32; i++)
			out[i] = (v + (uint64_t)a->pattern->lane[i]) & keep;
		break;
	}
	case ADDR_LANES32: {
		const mem_u32 *v = frame(w, a->slot);
		for (unsigned i = 0; i < 32; i++)
			out[i] = (v[i] + offset) & keep;
		break;
	}
	case ADDR_LANES64: {
		const mem_u64 *v = frame(w, a->slot);
		for (unsigned i = 0; i < 32; i++)
			out[i] = v[i] + offset;
		break;
	}
	}
}

static unsigned lowest(uint32_t m)
{
	return (unsigned)__builtin_ctz(m);
}

static bool fault(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane,
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

/* --- one access of one kind --- */

struct access {
	struct warp *w;
	const struct uop *u;
	const struct memop *m;
	uint32_t mask;
	enum ptx_space space;
	unsigned bytes; /* of a lane, all elements */
	bool read, write, atomic;
	enum lane_layout layout;
	struct repeat *again; /* LAYOUT_ANY: the arrangement of the lanes; NULL = too wide */
	uint64_t first;       /* address of the first active lane */
	uint64_t low,
		span;      /* unless ANY without again: lowest address, bytes to the end of the highest */
	uint8_t *base; /* host address of the first active lane; NULL = see host */
	uint64_t address[32]; /* shared and local: offsets */
	uint8_t *host[32];    /* of each lane, unless base is set */
};

/* All but the arrays, which are not worth clearing. */
static void start_access(struct access *a, struct warp *w, const struct uop *u,
                         const struct memop *m, uint32_t mask)
{
	a->w = w;
	a->u = u;
	a->m = m;
	a->mask = mask;
	a->bytes = m->access;
	a->read = a->write = a->atomic = false;
	a->again = NULL;
	a->base = NULL;
}

static void find_layout(struct access *a)
{
	const unsigned first = lowest(a->mask), last = 31 - (unsigned)__builtin_clz(a->mask);
	a->layout = probe_layout(a->address, a->mask, a->bytes);
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

/* Host addresses of all lanes, where only the first one's is known. */
static void set_hosts(struct access *a)
{
	for (uint32_t m = a->base ? a->mask : 0; m; m &= m - 1)
		a->host[lowest(m)] = a->base + (a->address[lowest(m)] - a->first);
}

/* Flags of bytes that had no value at first: reads need all set, writes set them. */
static bool span_flags(const struct access *a, uint8_t *flags)
{
	uint8_t all = 1;
	for (uint64_t k = 0; k < a->span; k++)
		all &= __atomic_load_n(&flags[k], __ATOMIC_RELAXED);
	if (all)
		return true;
	if (a->read)
		return false;
	if (a->layout == LAYOUT_ROW && a->mask != 0xffffffffu)
		return false; /* some lanes may leave holes: one by one */
	for (uint64_t k = 0; k < a->span; k++)
		__atomic_store_n(&flags[k], 1, __ATOMIC_RELAXED);
	return true;
}

/* Flags of one lane's bytes; words at a time, else the long way. */
GUEST_MEMORY static inline bool lane_flags(const struct access *a, uint8_t *flags)
{
	if (a->bytes < 4)
		return false;
	for (unsigned k = 0; k < a->bytes; k += 4) {
		mem_u32 *f = (mem_u32 *)(void *)(flags + k);
		if (a->read && *f != 0x01010101u)
			return false;
		if (a->write)
			*f = 0x01010101u;
	}
	return true;
}

/* The same for a whole access that fits; @flags: of the lowest address. False = one by one. */
static bool all_flags(const struct access *a, uint8_t *flags)
{
	if (a->layout != LAYOUT_ANY)
		return span_flags(a, flags);
	for (uint32_t m = a->mask; m; m &= m - 1)
		if (!lane_flags(a, flags + (a->again->offset[lowest(m)] - a->again->low)))
			return false;
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
	win->written = r->written ? (uintptr_t)r->written - r->base : 0;
}

/* Notes what went wrong where the launch goes on all the same; true if it does. */
static bool noted(const struct access *a, enum fault_kind kind, unsigned lane, uint64_t address)
{
	struct worker *wk = a->w->worker;
	if (!wk->grid->lenient)
		return false;
	for (unsigned i = 0; i < wk->n_noted; i++)
		if (wk->noted[i].kind == kind && wk->noted[i].xop == a->u->xop) {
			wk->times[i]++;
			return true;
		}
	if (wk->n_noted == WORKER_MAX_NOTED) {
		wk->lost++;
		return true;
	}
	wk->times[wk->n_noted] = 1;
	wk->noted[wk->n_noted++] = (struct emu_fault){ .kind = kind,
		                                           .block = wk->block,
		                                           .warp = a->w->number,
		                                           .lane = lane,
		                                           .xop = a->u->xop,
		                                           .address = address,
		                                           .space = a->space,
		                                           .bytes = a->bytes,
		                                           .store = a->write };
	return true;
}

/* Outside every region, but where the device has memory: hardware would go on. */
static bool goes_on(const struct access *a, const struct arena *ar, unsigned lane, uint64_t at)
{
	return at - ar->base < ar->mapped && ar->mapped - (at - ar->base) >= a->bytes &&
	       at < ar->end + 4096 && noted(a, FAULT_BOUNDS, lane, at);
}

static bool resolve_global(struct access *a)
{
	const struct arena *ar = a->w->worker->grid->arena;
	const struct arena_region *r = arena_find(ar, a->first);
	if (r && all_fit(a, r->base, r->size) && !(r->read_only && a->write) &&
	    (!r->written || all_flags(a, r->written + (a->low - r->base)))) {
		a->base = ar->host + (a->first - ar->base);
		remember_window(a, r);
		return true;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest(m);
		const uint64_t at = a->address[i];
		if (!r || at - r->base >= r->size)
			r = arena_find(ar, at);
		const bool inside = r && r->size - (at - r->base) >= a->bytes;
		if (!inside && !goes_on(a, ar, i, at))
			return fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_GLOBAL, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_GLOBAL, a->bytes, a->write);
		if (!inside) {
			a->host[i] = ar->host + (at - ar->base);
			r = NULL;
			continue;
		}
		if (a->write && r->read_only)
			return fault(a->w, a->u, FAULT_READ_ONLY, i, at, SPACE_GLOBAL, a->bytes, true);
		a->host[i] = ar->host + (at - ar->base);
		if (!r->written)
			continue;
		uint8_t *flags = r->written + (at - r->base);
		for (unsigned k = 0; k < a->bytes; k++) {
			if (a->read && !__atomic_load_n(&flags[k], __ATOMIC_RELAXED))
				return fault(a->w, a->u, FAULT_UNINITIALISED, i, at, SPACE_GLOBAL, a->bytes,
				             a->write);
			if (a->write)
				__atomic_store_n(&flags[k], 1, __ATOMIC_RELAXED);
		}
	}
	if (r)
		remember_window(a, r);
	return true;
}

static bool check_shared(struct access *a, unsigned lane)
{
	struct worker *wk = a->w->worker;
	const struct shadow_access s = {
		.offset = a->address[lane],
		.bytes = a->bytes,
		.thread = a->w->number * 32 + lane,
		.op = a->u->xop,
		.sync = a->w->syncs,
		.read = a->read,
		.write = a->write,
		.atomic = a->atomic,
	};
	struct shadow_user other;
	switch (shadow_touch(wk->shadow, &s, &other)) {
	case SHADOW_UNWRITTEN:
		if (noted(a, FAULT_UNINITIALISED, lane, a->address[lane]))
			return true;
		return fault(a->w, a->u, FAULT_UNINITIALISED, lane, a->address[lane], SPACE_SHARED,
		             a->bytes, a->write);
	case SHADOW_RACE:
		if (noted(a, FAULT_RACE, lane, a->address[lane])) {
			struct emu_fault *f = &wk->noted[wk->n_noted - 1];
			if (f->kind == FAULT_RACE && f->xop == a->u->xop && !f->other_op) {
				f->other_thread = other.thread - 1u;
				f->other_op = other.op;
			}
			return true;
		}
		fault(a->w, a->u, FAULT_RACE, lane, a->address[lane], SPACE_SHARED, a->bytes, a->write);
		wk->fault.other_thread = other.thread - 1u;
		wk->fault.other_op = other.op;
		return false;
	default: return true;
	}
}

static bool resolve_shared(struct access *a)
{
	const struct warp *w = a->w;
	struct shadow *s = w->worker->shadow;
	if (all_fit(a, 0, w->shared_bytes) &&
	    (!s || (!s->cell && (s->full || all_flags(a, s->written + a->low))))) {
		a->base = w->shared + a->first;
		return true;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest(m);
		const uint64_t at = a->address[i];
		if (at >= w->shared_bytes || w->shared_bytes - at < a->bytes)
			return fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_SHARED, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_SHARED, a->bytes, a->write);
		a->host[i] = w->shared + at;
		if (s && !(!s->cell && lane_flags(a, s->written + at)) && !check_shared(a, i))
			return false;
	}
	return true;
}

static bool resolve_local(struct access *a)
{
	const struct grid *l = a->w->worker->grid;
	for (uint32_t m = a->mask; m; m &= m - 1) {
		const unsigned i = lowest(m);
		const uint64_t at = a->address[i];
		if (at >= l->local_bytes || l->local_bytes - at < a->bytes)
			return fault(a->w, a->u, FAULT_BOUNDS, i, at, SPACE_LOCAL, a->bytes, a->write);
		if (at & (a->bytes - 1))
			return fault(a->w, a->u, FAULT_ALIGN, i, at, SPACE_LOCAL, a->bytes, a->write);
		a->host[i] = a->w->worker->local + ((size_t)a->w->number * 32 + i) * l->local_bytes + at;
	}
	return true;
}

static void count(struct access *a)
{
	struct warp *w = a->w;
	struct mem_count *c = &w->mem[a->m->id];
	c->requests++;
	if (a->space == SPACE_SHARED) {
		const struct shared_probe p =
			a->again ? repeat_shared(a->again, a->address, a->bytes, a->write)
					 : probe_shared(a->address, a->mask, a->bytes, a->layout, a->write);
		c->space[1]++;
		c->wavefronts += p.wavefronts;
		c->ideal += p.ideal;
		return;
	}
	if (a->space != SPACE_GLOBAL) {
		c->space[2]++;
		return;
	}
	struct global_probe own;
	const struct global_probe *p = &own;
	const uint64_t line0 = a->again ? a->first >> 7 : 0;
	if (a->again)
		p = repeat_global(a->again, a->address, a->bytes);
	else
		probe_global(a->address, a->mask, a->bytes, a->layout, &own);
	c->space[0]++;
	c->sectors += p->sectors;
	c->lines += p->lines;
	c->bytes += p->bytes;
	const enum log_kind kind = a->atomic            ? LOG_ATOMIC
	                           : a->write           ? LOG_STORE
	                           : a->m->x->bypass_l1 ? LOG_LOAD_L2
	                                                : LOG_LOAD;
	const struct arena *ar = w->worker->grid->arena;
	const uint64_t first_line = ar->base >> 7, lines = (ar->end - ar->base + 127) >> 7;
	for (unsigned i = 0; i < p->n; i++) {
		const uint64_t line = line0 + p->line[i];
		if (line - first_line >= lines)
			continue; /* beyond the device's memory */
		const uint64_t word = *(const uint64_t *)(w->sampled + (line >> 6) * 8);
		if (word >> (line & 63) & 1)
			log_line(w, line, p->sector_mask[i], kind);
	}
}

/* --- data --- */

GUEST_MEMORY static inline uint64_t read_value(const uint8_t *p, unsigned bytes, bool sign)
{
	switch (bytes) {
	case 1: return sign ? (uint64_t)(uint32_t)(int32_t)(int8_t)*p : *p;
	case 2: {
		const uint16_t v = *(const mem_u16 *)(const void *)p;
		return sign ? (uint64_t)(uint32_t)(int32_t)(int16_t)v : v;
	}
	case 4: return *(const mem_u32 *)(const void *)p;
	default: return *(const mem_u64 *)(const void *)p;
	}
}

GUEST_MEMORY static inline void write_value(uint8_t *p, unsigned bytes, uint64_t v)
{
	switch (bytes) {
	case 1: *p = (uint8_t)v; break;
	case 2: *(mem_u16 *)(void *)p = (uint16_t)v; break;
	case 4: *(mem_u32 *)(void *)p = (uint32_t)v; break;
	default: *(mem_u64 *)(void *)p = v; break;
	}
}

static void put_lane(struct warp *w, const struct memop *m, unsigned element, unsigned lane,
                     uint64_t v)
{
	if (m->d[element] < 0)
		return;
	const uint32_t slot = (uint32_t)m->d[element];
	if (m->d_scalar)
		SCALAR64(slot) = v;
	else if (m->bytes == 8)
		((mem_u64 *)frame(w, slot))[lane] = v;
	else
		((mem_u32 *)frame(w, slot))[lane] = (uint32_t)v;
}

static uint64_t get_lane(const struct warp *w, const struct memop *m, unsigned element,
                         unsigned lane)
{
	return m->bytes == 8 ? ((const mem_u64 *)frame(w, m->s[element]))[lane]
	                     : ((const mem_u32 *)frame(w, m->s[element]))[lane];
}

/* One 32-bit word per lane, whose places follow from the first one's, into lanes or from them. */
GUEST_MEMORY static void transfer_words(struct access *a)
{
	static const int32_t same[32];
	const struct memop *m = a->m;
	const uint32_t mask = a->mask;
	int32_t row[32];
	const int32_t *at = a->again ? a->again->offset : same;
	if (a->layout == LAYOUT_ROW) {
		const int32_t first = (int32_t)lowest(mask);
		for (int32_t i = 0; i < 32; i++)
			row[i] = 4 * (i - first);
		at = row;
	}
	if (a->write) {
		const mem_u32 *s = frame(a->w, m->s[0]);
		for (uint32_t k = mask; k; k &= k - 1)
			*(mem_u32 *)(void *)(a->base + at[lowest(k)]) = s[lowest(k)];
		return;
	}
	mem_u32 *d = frame(a->w, (uint32_t)m->d[0]);
	if (mask != 0xffffffffu) {
		for (uint32_t k = mask; k; k &= k - 1)
			d[lowest(k)] = *(const mem_u32 *)(const void *)(a->base + at[lowest(k)]);
		return;
	}
	for (unsigned i = 0; i < 32; i++)
		d[i] = *(const mem_u32 *)(const void *)(a->base + at[i]);
}

static void transfer(struct access *a)
{
	const struct memop *m = a->m;
	if (a->base && m->bytes == 4 && m->vec == 1 && !m->d_scalar && (a->write || m->d[0] >= 0)) {
		transfer_words(a);
		return;
	}
	set_hosts(a);
	for (uint32_t k = a->mask; k; k &= k - 1) {
		const unsigned i = lowest(k);
		for (unsigned e = 0; e < m->vec; e++) {
			uint8_t *p = a->host[i] + e * m->bytes;
			if (a->write)
				write_value(p, m->bytes, get_lane(a->w, m, e, i));
			else
				put_lane(a->w, m, e, i, read_value(p, m->bytes, m->sign));
		}
	}
}

/* --- atomics --- */

static void atomics(struct access *a)
{
	const struct xop *x = a->m->x;
	const enum ptx_atom op = (enum ptx_atom)x->op;
	set_hosts(a);
	for (uint32_t k = a->mask; k; k &= k - 1) {
		const unsigned i = lowest(k);
		const uint64_t b = get_lane(a->w, a->m, 0, i), c = get_lane(a->w, a->m, 1, i);
		uint64_t old;
		if (a->m->bytes == 8) {
			uint64_t *p = (uint64_t *)(void *)a->host[i];
			uint64_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
			while (!__atomic_compare_exchange_n(p, &seen, lane_atomic(op, x->type, seen, b, c),
			                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				;
			old = seen;
		} else if (a->m->bytes == 4) {
			uint32_t *p = (uint32_t *)(void *)a->host[i];
			uint32_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
			while (!__atomic_compare_exchange_n(p, &seen,
			                                    (uint32_t)lane_atomic(op, x->type, seen, b, c),
			                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				;
			old = seen;
		} else {
			uint16_t *p = (uint16_t *)(void *)a->host[i];
			uint16_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
			while (!__atomic_compare_exchange_n(
				p, &seen, (uint16_t)lane_atomic(op, x->type, seen, b & 0xffff, c), false,
				__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				;
			old = seen;
		}
		put_lane(a->w, a->m, 0, i, old);
	}
}

/* --- the whole access --- */

static bool perform(struct access *a)
{
	struct worker *wk = a->w->worker;
	bool ok;
	find_layout(a);
	if (a->space == SPACE_SHARED)
		ok = resolve_shared(a);
	else if (a->space == SPACE_LOCAL)
		ok = resolve_local(a);
	else
		ok = resolve_global(a);
	if (!ok)
		return false;
	count(a);
	if (wk->trace && a->w->number == 0)
		warp_trace_access(a->w, a->m, a->mask, a->address, a->space);
	if (a->atomic)
		atomics(a);
	else
		transfer(a);
	return true;
}

/* Generic addresses: lanes by the window they point into, each group an access of its own. */
static bool generic(struct access *a)
{
	static const enum ptx_space spaces[3] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL };
	uint32_t group[3] = { 0 };
	for (uint32_t k = a->mask; k; k &= k - 1) {
		const unsigned i = lowest(k);
		const uint64_t window = a->address[i] >> 56;
		group[window == 1 ? 1 : window == 2 ? 2 : 0] |= 1u << i;
	}
	for (unsigned g = 0; g < 3; g++) {
		if (!group[g])
			continue;
		struct access part = *a;
		part.mask = group[g];
		part.space = spaces[g];
		for (unsigned i = 0; i < 32; i++)
			part.address[i] -= g == 1 ? SHARED_WINDOW : g == 2 ? LOCAL_WINDOW : 0;
		if (!perform(&part))
			return false;
	}
	return true;
}

static bool async_copy(struct warp *w, const struct uop *u, const struct memop *m, uint32_t mask)
{
	/* the store's number counts the shared side, the next one the global side */
	struct access to, from;
	start_access(&to, w, u, m, mask);
	start_access(&from, w, u, m + 1, 0);
	to.space = SPACE_SHARED;
	from.space = SPACE_GLOBAL;
	to.write = from.read = true;
	lane_addresses(w, &m->addr, to.address);
	lane_addresses(w, &m->from, from.address);
	const mem_u32 *used = frame(w, m->s[0]);
	for (uint32_t k = mask; k; k &= k - 1)
		if (used[lowest(k)])
			from.mask |= 1u << lowest(k);
	find_layout(&to);
	if (!resolve_shared(&to))
		return false;
	if (from.mask) {
		find_layout(&from);
		if (!resolve_global(&from))
			return false;
	}
	set_hosts(&to);
	count(&to);
	if (from.mask) {
		set_hosts(&from);
		count(&from);
	}
	if (w->worker->trace && w->number == 0) {
		warp_trace_access(w, m, mask, to.address, SPACE_SHARED);
		if (from.mask)
			warp_trace_access(w, m + 1, from.mask, from.address, SPACE_GLOBAL);
	}
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned i = lowest(k);
		for (unsigned b = 0; b < m->access; b++)
			write_value(to.host[i] + b, 1,
			            b < used[i] ? read_value(from.host[i] + b, 1, false) : 0);
	}
	return true;
}

static bool run_access(struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct memop *m = &w->program->mem[u->y];
	const struct xop *x = m->x;
	if (x->kind == X_ASYNC)
		return async_copy(w, u, m, mask);
	struct access a;
	start_access(&a, w, u, m, mask);
	a.space = x->space;
	a.atomic = x->kind == X_ATOM || x->kind == X_RED;
	a.read = x->kind == X_LD || a.atomic;
	a.write = x->kind == X_ST || a.atomic;
	lane_addresses(w, &m->addr, a.address);
	return x->space == SPACE_GENERIC ? generic(&a) : perform(&a);
}

#define GO_ON                       \
	do {                            \
		if (w->mask == 0xffffffffu) \
			NEXT_full(u + 1);       \
		NEXT_masked(u + 1);         \
	} while (0)

/* y memory number */
HANDLER(access_any)
{
	if (!run_access(w, u, mask))
		return NULL;
	GO_ON;
}
const struct handler vm_access = { access_any, access_any };

const struct uop *access_slow(struct warp *w, const struct uop *u, uint32_t mask)
{
	w->mem[u->y].slow[w->program->kind]++;
	return access_any(w, u, mask);
}

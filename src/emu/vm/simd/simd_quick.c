/*
 * Accesses of launches that nobody counts: the same data moved as access.c moves it, without asking
 * what it costs. What does not lie wholly inside one place, is not aligned, or is of a rare kind
 * goes there, as does all that has to be told.
 */
#include "base/value_flags.h"
#include "emu/vm/access.h"
#include "emu/vm/simd/simd_few.h"
#include "emu/vm/simd/simd_place.h"

/* Lanes anywhere, or all 32 one behind the other, or all at one address. */
enum quick_shape { QUICK_ANY, QUICK_ROW, QUICK_SAME };

/* Where the lanes' bytes are: host address = base + address (+ lane * step). */
struct quick {
	const struct memop *m;
	uint32_t mask;
	enum quick_shape shape;
	uint8_t *base;
	size_t step;
	uint64_t address[32];
};

static void find_addresses(const struct warp *w, const struct mem_addr *a, uint64_t *out)
{
	const uint64_t keep = a->wide ? ~(uint64_t)0 : 0xffffffffu;
	const uint64_t offset = (uint64_t)a->offset;
	const mem_u32 *narrow = frame(w, a->slot);
	const mem_u64 *wide = frame(w, a->slot);
	const uint64_t scalar = (a->wide ? *wide : *narrow) + offset;
	switch (a->kind) {
	case ADDR_UNIFORM: EACH_LANE(i) out[i] = scalar & keep; break;
	case ADDR_PATTERN: EACH_LANE(i) out[i] = (scalar + (uint64_t)a->pattern->lane[i]) & keep; break;
	case ADDR_LANES32: EACH_LANE(i) out[i] = (narrow[i] + offset) & keep; break;
	case ADDR_LANES64:
	default: EACH_LANE(i) out[i] = wide[i] + offset; break;
	}
}

static enum quick_shape find_shape(const struct quick *q)
{
	const uint64_t first = q->address[0], bytes = q->m->access;
	const unsigned scale = (unsigned)__builtin_ctzll(bytes);
	uint64_t other = 0;
	if (q->m->addr.kind == ADDR_UNIFORM)
		return QUICK_SAME;
	if (q->mask != 0xffffffffu)
		return QUICK_ANY;
	EACH_LANE(i) other |= (q->address[i] - first) ^ (uint64_t)i << scale;
	return other ? QUICK_ANY : QUICK_ROW;
}

/* All lanes' bytes lie in the @room bytes from @low on, aligned. */
static bool all_inside(const struct quick *q, uint64_t low, uint64_t room)
{
	const uint64_t bytes = q->m->access, align = bytes - 1, first = q->address[0];
	const uint64_t span = q->shape == QUICK_ROW ? 32 * bytes : bytes;
	uint64_t beyond = 0, odd = 0;
	if (room < span)
		return false;
	if (q->shape != QUICK_ANY)
		return first - low <= room - span && !(first & align);
	const uint64_t *const at = q->address, last = low + room - bytes;
	const uint32_t mask = q->mask;
	EACH_LANE(i)
	{
		/* the first bit is set in one of both, unless it lies between the first and last place */
		const uint64_t outside = (at[i] - low) | (last - at[i]),
					   on = mask & lane_bit[i] ? ~0ull : 0;
		beyond |= outside & on;
		odd |= at[i] & on;
	}
	return !(beyond >> 63) && !(odd & align);
}

/* In one window of generic addresses, taken from all lanes; false: in several. */
static bool find_space(struct quick *q, enum ptx_space *space)
{
	const uint64_t first = q->address[__builtin_ctz(q->mask)] >> 56;
	uint64_t other = 0;
	EACH_LANE(i) other |= q->mask & lane_bit[i] ? (q->address[i] >> 56) ^ first : 0;
	*space = first == 1 ? SPACE_SHARED : first == 2 ? SPACE_LOCAL : SPACE_GLOBAL;
	if (other)
		return false;
	if (*space != SPACE_GLOBAL)
		EACH_LANE(i) q->address[i] -= first << 56;
	return true;
}

/*
 * Lanes in @b, part of which nothing had written at first: whether all that is read has a value,
 * and from now on all that is written has one. Only of words; bytes are looked at with care.
 */
GUEST_MEMORY static bool have_values(const struct quick *q, const struct mem_buffer *b, bool read,
                                     bool write)
{
	const uint64_t words = q->m->access / 4;
	bool all = words > 0;
	if (!b->written)
		return true;
	for (uint32_t k = read ? q->mask : 0; all && k; k &= k - 1) {
		const uint8_t *f = b->written + (q->address[lowest_lane(k)] - b->low) / 4;
		for (uint64_t n = 0; n < words; n++)
			all &= f[n] == VALUE_FLAGS_WORD;
	}
	for (uint32_t k = all && write ? q->mask : 0; k; k &= k - 1) {
		uint8_t *f = b->written + (q->address[lowest_lane(k)] - b->low) / 4;
		for (uint64_t n = 0; n < words; n++)
			f[n] = VALUE_FLAGS_WORD;
	}
	return all;
}

static bool find_place(const struct warp *w, struct quick *q, bool read, bool write)
{
	struct worker *wk = w->worker;
	const struct grid *g = wk->grid;
	enum ptx_space space = q->m->x->space;
	if (space == SPACE_GENERIC && !find_space(q, &space))
		return false;
	q->step = 0;
	if (space == SPACE_SHARED) {
		q->base = w->shared;
		return all_inside(q, 0, w->shared_bytes);
	}
	if (space == SPACE_LOCAL) {
		q->step = g->local_bytes;
		q->base = wk->local + (size_t)w->number * 32 * q->step;
		return all_inside(q, 0, q->step);
	}
	struct mem_buffer *last = &wk->place[q->m->id];
	q->base = (uint8_t *)w->host;
	if (last->size && all_inside(q, last->low, last->size))
		return have_values(q, last, read, write);
	return access_place(wk, q->address[__builtin_ctz(q->mask)], read, write, last) &&
	       all_inside(q, last->low, last->size) && have_values(q, last, read, write);
}

/* The base of a person's own addresses is 0, which no pointer can be counted from. */
#define FIRST(type) ((type *)(base + (uintptr_t)q->address[0]))
#define AT(type) ((type *)(base + (uintptr_t)q->address[i] + i * step))
#define LOAD(type, lane_type, as)                          \
	do {                                                   \
		lane_type *d = frame(w, (uint32_t)q->m->d[e]);     \
		const type *const r = FIRST(const type);           \
		if (row)                                           \
			EACH_LANE(i) d[i] = (lane_type)(as)r[i];       \
		else if (q->mask == 0xffffffffu)                   \
			for (unsigned i = 0; i < 32; i++)              \
				d[i] = (lane_type)(as) * AT(const type);   \
		else                                               \
			for (uint32_t k = q->mask, i; k; k &= k - 1) { \
				i = lowest_lane(k);                        \
				d[i] = (lane_type)(as) * AT(const type);   \
			}                                              \
	} while (0)
#define STORE(type, lane_type)                                   \
	do {                                                         \
		const lane_type *s = frame(w, q->m->s[e]);               \
		type *const r = FIRST(type);                             \
		if (row)                                                 \
			EACH_LANE(i) r[i] = (type)s[i];                      \
		for (uint32_t k = row ? 0 : q->mask, i; k; k &= k - 1) { \
			i = lowest_lane(k);                                  \
			*AT(type) = (type)s[i];                              \
		}                                                        \
	} while (0)

/* All lanes' address is one, and what is read a scalar. */
static void load_scalar(struct warp *w, const struct quick *q)
{
	const unsigned i = lowest_lane(q->mask);
	const uintptr_t base = (uintptr_t)q->base;
	const uint8_t *p = (const uint8_t *)(base + (uintptr_t)q->address[i] + i * q->step);
	for (unsigned e = 0; e < q->m->vec; e++)
		if (q->m->d[e] >= 0)
			SCALAR64((uint32_t)q->m->d[e]) =
				access_read(p + e * q->m->bytes, q->m->bytes, q->m->sign);
}

/* Do the lanes' values lie one behind the other in the host's memory, too? */
static inline bool in_one_piece(const struct quick *q)
{
	return q->shape == QUICK_ROW && !q->step && q->m->vec == 1;
}

GUEST_MEMORY static void load(struct warp *w, const struct quick *q)
{
	const bool sign = q->m->sign, row = in_one_piece(q);
	const size_t step = q->step;
	for (unsigned e = 0; e < q->m->vec; e++) {
		const uintptr_t base = (uintptr_t)q->base + (uintptr_t)e * q->m->bytes;
		if (q->m->d[e] < 0)
			continue;
		switch (q->m->bytes) {
		case 1:
			if (sign)
				LOAD(mem_s8, mem_u32, int32_t);
			else
				LOAD(mem_u8, mem_u32, uint32_t);
			break;
		case 2:
			if (sign)
				LOAD(mem_s16, mem_u32, int32_t);
			else
				LOAD(mem_u16, mem_u32, uint32_t);
			break;
		case 4: LOAD(mem_u32, mem_u32, uint32_t); break;
		default: LOAD(mem_u64, mem_u64, uint64_t); break;
		}
	}
}

/* Lane by lane where lanes may overlap: the last one's value stays, of all its elements. */
GUEST_MEMORY static void store(struct warp *w, const struct quick *q)
{
	const bool row = in_one_piece(q);
	const size_t step = q->step;
	for (unsigned e = 0; e < q->m->vec; e++) {
		const uintptr_t base = (uintptr_t)q->base + (uintptr_t)e * q->m->bytes;
		switch (q->m->bytes) {
		case 1: STORE(mem_u8, mem_u32); break;
		case 2: STORE(mem_u16, mem_u32); break;
		case 4: STORE(mem_u32, mem_u32); break;
		default: STORE(mem_u64, mem_u64); break;
		}
	}
}

static bool changes_words(const struct memop *m)
{
	const struct xop *x = m->x;
	return (x->kind == X_ATOM || x->kind == X_RED) && m->vec == 1 &&
	       (m->bytes == 4 || m->bytes == 8);
}

/* Words of shared and local memory are this thread's alone. */
static void change_words(struct warp *w, const struct quick *q)
{
	uint8_t *host[32];
	for (unsigned i = 0; i < 32; i++)
		host[i] = (uint8_t *)((uintptr_t)q->base + (uintptr_t)q->address[i] + i * q->step);
	access_change(w, q->m, q->mask, host, q->base == (uint8_t *)w->host && !q->step);
}

/*
 * All lanes of a warp load or store elements one behind the other, or each eighth of them in a row
 * of its own as where a block is 16 or 8 wide, by addresses that are only known now, where the
 * instruction went last. False: something of it is not so.
 */
#define ROW_LANES 8u
#define EACH_ROW(r) for (unsigned r = 0; r < 32; r += ROW_LANES)
#define EACH_OF_ROW(i) for (unsigned i = 0; i < ROW_LANES; i++)
#define ROW(type, lane_type, scale)                                                    \
	GUEST_MEMORY static inline bool row_##type(struct warp *w, const struct memop *m)  \
	{                                                                                  \
		const struct mem_buffer *last = &w->worker->place[m->id];                      \
		const mem_u64 *at = frame(w, m->addr.slot);                                    \
		const uint64_t offset = (uint64_t)m->addr.offset, span = ROW_LANES << (scale); \
		uint64_t other = last->written || last->size < span, low[32 / ROW_LANES];      \
		EACH_ROW(r)                                                                    \
		{                                                                              \
			const uint64_t first = low[r / ROW_LANES] = at[r] + offset;                \
			EACH_OF_ROW(i) other |= (at[r + i] - at[r]) ^ (uint64_t)i << (scale);      \
			other |= first & ((1u << (scale)) - 1);                                    \
			other |= first - last->low > last->size - span;                            \
		}                                                                              \
		if (other)                                                                     \
			return false;                                                              \
		EACH_ROW(r)                                                                    \
		{                                                                              \
			type *const host = (type *)(w->host + low[r / ROW_LANES]);                 \
			if (m->x->kind == X_ST) {                                                  \
				const lane_type *s = (const lane_type *)frame(w, m->s[0]) + r;         \
				EACH_OF_ROW(i) host[i] = (type)s[i];                                   \
			} else if (m->d[0] >= 0) {                                                 \
				lane_type *d = (lane_type *)frame(w, (uint32_t)m->d[0]) + r;           \
				EACH_OF_ROW(i) d[i] = (lane_type)host[i];                              \
			}                                                                          \
		}                                                                              \
		return true;                                                                   \
	}
ROW(mem_u8, mem_u32, 0)
ROW(mem_s8, mem_s32, 0)
ROW(mem_u16, mem_u32, 1)
ROW(mem_s16, mem_s32, 1)
ROW(mem_u32, mem_u32, 2)
ROW(mem_u64, mem_u64, 3)

static inline bool quick_row(struct warp *w, const struct memop *m)
{
	if (m->addr.kind != ADDR_LANES64 || m->vec != 1 || m->d_scalar || m->x->space == SPACE_SHARED ||
	    m->x->space == SPACE_LOCAL)
		return false;
	switch (m->bytes) {
	case 1: return m->sign ? row_mem_s8(w, m) : row_mem_u8(w, m);
	case 2: return m->sign ? row_mem_s16(w, m) : row_mem_u16(w, m);
	case 4: return row_mem_u32(w, m);
	default: return row_mem_u64(w, m);
	}
}

/* Lane i's words, by one address of all lanes: from @p + i * @step on. */
#define OWN(bits)                                                                             \
	GUEST_MEMORY static void own_##bits(struct warp *w, const struct memop *m, uint32_t mask, \
	                                    uintptr_t p, size_t step)                             \
	{                                                                                         \
		for (unsigned e = 0; e < m->vec; e++, p += (bits) / 8) {                              \
			if (m->x->kind == X_ST) {                                                         \
				const mem_u##bits *s = frame(w, m->s[e]);                                     \
				for (uint32_t k = mask; k; k &= k - 1)                                        \
					*(mem_u##bits *)(p + lowest_lane(k) * step) = s[lowest_lane(k)];          \
			} else if (m->d[e] >= 0) {                                                        \
				mem_u##bits *d = frame(w, (uint32_t)m->d[e]);                                 \
				for (uint32_t k = mask; k; k &= k - 1)                                        \
					d[lowest_lane(k)] = *(const mem_u##bits *)(p + lowest_lane(k) * step);    \
			}                                                                                 \
		}                                                                                     \
	}
OWN(32)
OWN(64)

/* All lanes' address is one: words of local memory, of which each lane has its own. */
static inline bool quick_own(struct warp *w, const struct memop *m, uint32_t mask)
{
	const struct worker *wk = w->worker;
	const uint64_t step = wk->grid->local_bytes;
	if (m->addr.kind != ADDR_UNIFORM || m->x->space != SPACE_LOCAL || m->d_scalar || m->bytes < 4)
		return false;
	const uint64_t scalar = m->addr.wide ? SCALAR64(m->addr.slot) : SCALAR32(m->addr.slot);
	const uint64_t at =
		(scalar + (uint64_t)m->addr.offset) & (m->addr.wide ? UINT64_MAX : UINT32_MAX);
	if (step < m->access || at > step - m->access || at & (m->access - 1u))
		return false;
	const uintptr_t p = (uintptr_t)wk->local + (uintptr_t)w->number * 32 * step + at;
	m->bytes == 4 ? own_32(w, m, mask, p, step) : own_64(w, m, mask, p, step);
	return true;
}

#if defined(FEW_LANES)
/* A few lanes load from where the instruction went last, or from a memory of their own. */
static inline bool quick_few(struct warp *w, const struct memop *m, uint32_t mask)
{
	struct worker *wk = w->worker;
	struct few f = { .base = (uintptr_t)w->shared, .room = w->shared_bytes };
	if (m->addr.kind != ADDR_LANES64 || m->access > 4 || m->d_scalar)
		return false;
	if (m->x->space == SPACE_LOCAL) {
		f.step = f.room = wk->grid->local_bytes;
		f.base = (uintptr_t)wk->local + (uint64_t)w->number * 32 * f.step;
	} else if (m->x->space != SPACE_SHARED) {
		const struct mem_buffer *last = &wk->place[m->id];
		if (last->written || !last->size)
			return false;
		f.low = last->low;
		f.room = last->size;
		f.base = (uintptr_t)w->host + last->low;
	}
	return few_load(w, m, mask, &f);
}
#endif

/*
 * An instruction with a handler for whole warps, in part of one: that handler has a row's masked
 * form, too, which needs the buffer that the careful way tells it. Once; in vain where the buffer
 * is not one for it.
 */
static inline bool first_in_part(const struct warp *w, const struct memop *m, bool write)
{
	struct mem_buffer *last = &w->worker->place[m->id];
	const struct mem_addr *a = &m->addr;
	if (a->kind != ADDR_PATTERN || !a->wide || m->x->space != SPACE_GLOBAL || last->size)
		return false;
	const uint64_t at = SCALAR64(a->slot) + (uint64_t)a->offset;
	return access_place(w->worker, at, !write, write, last);
}

/* Handlers for whole warps have to know the buffer, which the careful way tells them. */
static inline bool wants_care(const struct warp *w, const struct memop *m, bool whole, bool write,
                              bool change)
{
	return m->whole || (m->d_scalar && !write && (whole || change)) ||
	       (m->full_probe && (whole || (!change && first_in_part(w, m, write))));
}

/* All lanes load the same words from where the instruction went last. */
GUEST_MEMORY static inline bool quick_scalars(struct warp *w, const struct memop *m)
{
	const struct mem_buffer *last = &w->worker->place[m->id];
	if (!m->d_scalar || m->x->kind != X_LD || m->x->space != SPACE_GLOBAL || m->bytes < 4 ||
	    m->addr.kind != ADDR_UNIFORM || !m->addr.wide)
		return false;
	const uint64_t at = SCALAR64(m->addr.slot) + (uint64_t)m->addr.offset;
	if (last->written || last->size < m->access || at - last->low > last->size - m->access ||
	    at & (m->access - 1u))
		return false;
	const mem_u32 *const narrow = (const mem_u32 *)(w->host + at);
	const mem_u64 *const wide = (const mem_u64 *)(w->host + at);
	for (unsigned e = 0; e < m->vec; e++)
		if (m->d[e] >= 0)
			SCALAR64((uint32_t)m->d[e]) = m->bytes == 4 ? narrow[e] : wide[e];
	return true;
}

/* Loads and stores that need no list of their lanes' addresses. */
static inline bool quick_at_once(struct warp *w, const struct memop *m, uint32_t mask)
{
	if (quick_own(w, m, mask) || quick_scalars(w, m))
		return true;
	if (mask == 0xffffffffu)
		return quick_row(w, m);
#if defined(FEW_LANES)
	return m->x->kind == X_LD && (uint32_t)__builtin_popcount(mask) <= FEW_LANES &&
	       quick_few(w, m, mask);
#else
	return false;
#endif
}

static bool quick_access(struct warp *w, const struct uop *u, uint32_t mask)
{
	struct quick q; /* not all of it is worth clearing */
	q.m = MEMOP;
	q.mask = mask;
	const struct xop *x = q.m->x;
	const bool read = x->kind == X_LD, write = x->kind == X_ST;
	const bool change = changes_words(q.m), whole = mask == 0xffffffffu;
	if (!(read || write || change) || wants_care(w, q.m, whole, write, change))
		return false;
	if (!change && quick_at_once(w, q.m, mask))
		return true;
	find_addresses(w, &q.m->addr, q.address);
	q.shape = find_shape(&q);
	if (!find_place(w, &q, read || change, write || change))
		return false;
	if (change)
		change_words(w, &q);
	else if (q.m->d_scalar && read)
		load_scalar(w, &q);
	else if (read)
		load(w, &q);
	else
		store(w, &q);
	return true;
}

static const struct uop *quick_any ARGS
{
	if (!quick_access(w, u, mask))
		EMU_JUMP access_careful(w, u, mask);
	if (mask == 0xffffffffu)
		NEXT_full(u + 1);
	NEXT_masked(u + 1);
}

const struct handler LEVEL(quick_handlers) = { quick_any, quick_any };

/* Moves the data of an access, and does its atomics. */
#include "emu/vm/access.h"

#include <sched.h>
#include <string.h>

typedef int16_t __attribute__((may_alias)) mem_s16;

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
	if (a->layout == LAYOUT_ROW && mask == 0xffffffffu) {
		if (a->write)
			memcpy(a->base, frame(a->w, m->s[0]), 128);
		else
			memcpy(frame(a->w, (uint32_t)m->d[0]), a->base, 128);
		return;
	}
	if (a->layout == LAYOUT_ROW) {
		const int32_t first = (int32_t)lowest_lane(mask);
		for (int32_t i = 0; i < 32; i++)
			row[i] = 4 * (i - first);
		at = row;
	}
	if (a->write) {
		const mem_u32 *s = frame(a->w, m->s[0]);
		for (uint32_t k = mask; k; k &= k - 1)
			*(mem_u32 *)(void *)(a->base + at[lowest_lane(k)]) = s[lowest_lane(k)];
		return;
	}
	mem_u32 *d = frame(a->w, (uint32_t)m->d[0]);
	if (mask != 0xffffffffu) {
		for (uint32_t k = mask; k; k &= k - 1)
			d[lowest_lane(k)] = *(const mem_u32 *)(const void *)(a->base + at[lowest_lane(k)]);
		return;
	}
	for (unsigned i = 0; i < 32; i++)
		d[i] = *(const mem_u32 *)(const void *)(a->base + at[i]);
}

/* Other layouts, several elements per lane, or parts of words: in memory a @type, in a lane's
 * register a @word, of which loads make it by way of @as. */
#define TRANSFER(name, type, word, as)                                                             \
	GUEST_MEMORY static void name(struct access *a)                                                \
	{                                                                                              \
		const struct memop *m = a->m;                                                              \
		for (unsigned e = 0; e < m->vec; e++) {                                                    \
			const size_t offset = e * sizeof(type);                                                \
			if (a->write) {                                                                        \
				const word *s = frame(a->w, m->s[e]);                                              \
				for (uint32_t k = a->mask; k; k &= k - 1)                                          \
					*(type *)(void *)(a->host[lowest_lane(k)] + offset) = (type)s[lowest_lane(k)]; \
			} else if (m->d[e] >= 0) {                                                             \
				word *d = frame(a->w, (uint32_t)m->d[e]);                                          \
				for (uint32_t k = a->mask; k; k &= k - 1)                                          \
					d[lowest_lane(k)] =                                                            \
						(word)(as) *                                                               \
						(const type *)(const void *)(a->host[lowest_lane(k)] + offset);            \
			}                                                                                      \
		}                                                                                          \
	}
TRANSFER(transfer_u8, uint8_t, mem_u32, uint32_t)
TRANSFER(transfer_s8, int8_t, mem_u32, int32_t)
TRANSFER(transfer_u16, mem_u16, mem_u32, uint32_t)
TRANSFER(transfer_s16, mem_s16, mem_u32, int32_t)
TRANSFER(transfer_32, mem_u32, mem_u32, uint32_t)
TRANSFER(transfer_64, mem_u64, mem_u64, uint64_t)

/* All lanes load the same value, a scalar. */
GUEST_MEMORY static void load_scalar(const struct access *a)
{
	const struct memop *m = a->m;
	const struct warp *w = a->w;
	const uint8_t *p = a->base ? a->base : a->host[lowest_lane(a->mask)];
	for (unsigned e = 0; e < m->vec; e++)
		if (m->d[e] >= 0)
			SCALAR64((uint32_t)m->d[e]) = read_value(p + e * m->bytes, m->bytes, m->sign);
}

/* --- sixteen bytes that are one to all threads of this program --- */

enum { WHOLE_LOCKS = 64 };
static uint8_t whole_locks[WHOLE_LOCKS];

static uint8_t *lock_whole(const uint8_t *host)
{
	uint8_t *lock = &whole_locks[((uintptr_t)host >> 4) % WHOLE_LOCKS];
	while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE))
		sched_yield();
	return lock;
}

static void unlock_whole(uint8_t *lock)
{
	__atomic_clear(lock, __ATOMIC_RELEASE);
}

GUEST_MEMORY static void transfer_whole(struct access *a)
{
	const struct memop *m = a->m;
	access_set_hosts(a);
	for (uint32_t k = a->mask; k; k &= k - 1) {
		const unsigned i = lowest_lane(k);
		uint8_t *const host = a->host[i], *const lock = lock_whole(host);
		for (unsigned e = 0; e < m->vec; e++) {
			uint8_t *p = host + e * m->bytes;
			if (a->write)
				write_value(p, m->bytes, get_lane(a->w, m, e, i));
			else
				put_lane(a->w, m, e, i, read_value(p, m->bytes, m->sign));
		}
		unlock_whole(lock);
	}
}

/* An exchange, or a compare-and-swap: b and c are two words each. */
GUEST_MEMORY static uint32_t change_whole(struct warp *w, const struct memop *m, uint32_t mask,
                                          uint8_t *const *host)
{
	const bool swap = m->x->op == ATOM_CAS;
	uint32_t swapped = 0;
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned i = lowest_lane(k), to = swap ? 2 : 0;
		const uint64_t b[2] = { get_lane(w, m, 0, i), get_lane(w, m, 1, i) };
		const uint64_t next[2] = { get_lane(w, m, to, i), get_lane(w, m, to + 1, i) };
		mem_u64 *const p = (mem_u64 *)(void *)host[i];
		uint8_t *const lock = lock_whole(host[i]);
		const uint64_t seen[2] = { p[0], p[1] };
		const bool as_expected = seen[0] == b[0] && seen[1] == b[1];
		if (!swap || as_expected) {
			p[0] = next[0];
			p[1] = next[1];
		}
		unlock_whole(lock);
		const bool other = seen[0] != next[0] || seen[1] != next[1];
		swapped |= (uint32_t)(swap && as_expected && other) << i;
		put_lane(w, m, 0, i, seen[0]);
		put_lane(w, m, 1, i, seen[1]);
	}
	return swapped;
}

void access_transfer(struct access *a)
{
	const struct memop *m = a->m;
	if (m->whole && a->space != SPACE_LOCAL) {
		transfer_whole(a);
		return;
	}
	if (a->base && m->bytes == 4 && m->vec == 1 && !m->d_scalar && (a->write || m->d[0] >= 0)) {
		transfer_words(a);
		return;
	}
	if (m->d_scalar && !a->write) {
		load_scalar(a);
		return;
	}
	access_set_hosts(a);
	switch (m->bytes) {
	case 1: m->sign ? transfer_s8(a) : transfer_u8(a); break;
	case 2: m->sign ? transfer_s16(a) : transfer_u16(a); break;
	case 4: transfer_32(a); break;
	default: transfer_64(a); break;
	}
}

/* --- atomics --- */

/* Adds up whole numbers, which the host does at once. */
static bool is_whole_sum(const struct xop *x)
{
	return x->op == ATOM_ADD && (x->type == PTX_U32 || x->type == PTX_S32 || x->type == PTX_B32 ||
	                             x->type == PTX_U64 || x->type == PTX_S64 || x->type == PTX_B64);
}

/* Old values go to a register of lanes. */
#define CHANGE(word, mem_word)                                                                     \
	GUEST_MEMORY static uint32_t change_##word(struct warp *w, const struct memop *m,              \
	                                           uint32_t mask, uint8_t *const *host, bool together) \
	{                                                                                              \
		const struct xop *x = m->x;                                                                \
		const enum ptx_atom op = (enum ptx_atom)x->op;                                             \
		const mem_word *b = frame(w, m->s[0]);                                                     \
		const mem_word *c = op == ATOM_CAS ? frame(w, m->s[1]) : b;                                \
		mem_word *d = m->d[0] >= 0 ? frame(w, (uint32_t)m->d[0]) : NULL;                           \
		const bool sum = is_whole_sum(x);                                                          \
		uint32_t swapped = 0;                                                                      \
		for (uint32_t k = mask; k; k &= k - 1) {                                                   \
			const unsigned i = lowest_lane(k);                                                     \
			mem_word *p = (mem_word *)(void *)host[i];                                             \
			mem_word seen = __atomic_load_n(p, __ATOMIC_RELAXED);                                  \
			if (!together)                                                                         \
				*p = sum ? seen + b[i] : (mem_word)lane_atomic(op, x->type, seen, b[i], c[i]);     \
			else if (sum)                                                                          \
				seen = __atomic_fetch_add(p, b[i], __ATOMIC_SEQ_CST);                              \
			else                                                                                   \
				while (!__atomic_compare_exchange_n(                                               \
					p, &seen, (mem_word)lane_atomic(op, x->type, seen, b[i], c[i]), false,         \
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                                           \
					;                                                                              \
			swapped |= (uint32_t)(op == ATOM_CAS && seen == b[i] && seen != c[i]) << i;            \
			if (d)                                                                                 \
				d[i] = seen;                                                                       \
		}                                                                                          \
		return swapped;                                                                            \
	}
CHANGE(32, mem_u32)
CHANGE(64, mem_u64)

#define SWAP(word)                                                                                 \
	GUEST_MEMORY static bool swap_##word(uint8_t *host, uint64_t *seen, uint64_t next)             \
	{                                                                                              \
		mem_##word old = (mem_##word) * seen;                                                      \
		const bool done =                                                                          \
			__atomic_compare_exchange_n((mem_##word *)(void *)host, &old, (mem_##word)next, false, \
		                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                       \
		*seen = old;                                                                               \
		return done;                                                                               \
	}
SWAP(u16)
SWAP(u32)
SWAP(u64)

/* The word at @host, if it holds *@seen, which it held otherwise. */
static bool swap_word(uint8_t *host, unsigned bytes, uint64_t *seen, uint64_t next)
{
	switch (bytes) {
	case 2: return swap_u16(host, seen, next);
	case 4: return swap_u32(host, seen, next);
	default: return swap_u64(host, seen, next);
	}
}

/* Halves of a word, and values that go to a scalar. */
static uint32_t change_others(struct warp *w, const struct memop *m, uint32_t mask,
                              uint8_t *const *host, bool together)
{
	const enum ptx_atom op = (enum ptx_atom)m->x->op;
	const uint64_t known = UINT64_MAX >> (64 - 8 * m->bytes); /* bits of a word */
	uint32_t swapped = 0;
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned i = lowest_lane(k);
		const uint64_t b = get_lane(w, m, 0, i) & known, c = get_lane(w, m, 1, i) & known;
		uint64_t seen = read_value(host[i], m->bytes, false), next;
		do
			next = lane_atomic(op, m->x->type, seen, b, c);
		while (together && !swap_word(host[i], m->bytes, &seen, next));
		if (!together)
			write_value(host[i], m->bytes, next);
		swapped |= (uint32_t)(op == ATOM_CAS && seen == b && seen != c) << i;
		put_lane(w, m, 0, i, seen);
	}
	return swapped;
}

uint32_t access_change(struct warp *w, const struct memop *m, uint32_t mask, uint8_t *const *host,
                       bool together)
{
	if (m->vec > 1)
		return change_whole(w, m, mask, host);
	if (m->bytes < 4 || m->d_scalar)
		return change_others(w, m, mask, host, together);
	return m->bytes == 4 ? change_32(w, m, mask, host, together)
	                     : change_64(w, m, mask, host, together);
}

void access_atomics(struct access *a)
{
	access_set_hosts(a);
	a->swapped = access_change(a->w, a->m, a->mask, a->host, a->space == SPACE_GLOBAL);
}

void access_bytes(const struct access *a, unsigned lane, uint8_t *out)
{
	for (unsigned e = 0; e < a->m->vec; e++)
		write_value(out + e * a->m->bytes, a->m->bytes, get_lane(a->w, a->m, e, lane));
}

/* Host addresses of all lanes, where only the first one's is known. */
void access_set_hosts(struct access *a)
{
	for (uint32_t m = a->base ? a->mask : 0; m; m &= m - 1)
		/* a lane's address may lie before the first one's */
		a->host[lowest_lane(m)] = a->base + (int64_t)(a->address[lowest_lane(m)] - a->first);
}

uint64_t access_read(const uint8_t *p, unsigned bytes, bool sign)
{
	return read_value(p, bytes, sign);
}

void access_write(uint8_t *p, unsigned bytes, uint64_t v)
{
	write_value(p, bytes, v);
}

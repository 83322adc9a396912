/* Moves the data of an access, and does its atomics. */
#include "emu/vm/access.h"

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

/* Whole words of other layouts, or several per lane. */
#define TRANSFER(name, word)                                                                 \
	GUEST_MEMORY static void name(struct access *a)                                          \
	{                                                                                        \
		const struct memop *m = a->m;                                                        \
		for (unsigned e = 0; e < m->vec; e++) {                                              \
			const size_t offset = e * sizeof(word);                                          \
			if (a->write) {                                                                  \
				const word *s = frame(a->w, m->s[e]);                                        \
				for (uint32_t k = a->mask; k; k &= k - 1)                                    \
					*(word *)(void *)(a->host[lowest_lane(k)] + offset) = s[lowest_lane(k)]; \
			} else if (m->d[e] >= 0) {                                                       \
				word *d = frame(a->w, (uint32_t)m->d[e]);                                    \
				for (uint32_t k = a->mask; k; k &= k - 1)                                    \
					d[lowest_lane(k)] =                                                      \
						*(const word *)(const void *)(a->host[lowest_lane(k)] + offset);     \
			}                                                                                \
		}                                                                                    \
	}
TRANSFER(transfer_32, mem_u32)
TRANSFER(transfer_64, mem_u64)

void access_transfer(struct access *a)
{
	const struct memop *m = a->m;
	if (a->base && m->bytes == 4 && m->vec == 1 && !m->d_scalar && (a->write || m->d[0] >= 0)) {
		transfer_words(a);
		return;
	}
	access_set_hosts(a);
	if ((m->bytes == 4 || m->bytes == 8) && (a->write || !m->d_scalar)) {
		m->bytes == 4 ? transfer_32(a) : transfer_64(a);
		return;
	}
	const uint32_t lanes = m->d_scalar && !a->write ? a->mask & -a->mask : a->mask;
	for (uint32_t k = lanes; k; k &= k - 1) {
		const unsigned i = lowest_lane(k);
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

void access_atomics(struct access *a)
{
	const struct xop *x = a->m->x;
	const enum ptx_atom op = (enum ptx_atom)x->op;
	access_set_hosts(a);
	const uint64_t known = UINT64_MAX >> (64 - 8 * a->m->bytes); /* bits of a word */
	a->swapped = 0;
	for (uint32_t k = a->mask; k; k &= k - 1) {
		const unsigned i = lowest_lane(k);
		const uint64_t b = get_lane(a->w, a->m, 0, i), c = get_lane(a->w, a->m, 1, i);
		uint64_t old;
		if (a->space == SPACE_SHARED) { /* belongs to this thread alone */
			old = read_value(a->host[i], a->m->bytes, false);
			const uint64_t by = a->m->bytes == 2 ? b & 0xffff : b;
			write_value(a->host[i], a->m->bytes, lane_atomic(op, x->type, old, by, c));
		} else if (a->m->bytes == 8) {
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
		if (op == ATOM_CAS && old == (b & known) && old != (c & known))
			a->swapped |= 1u << i;
		put_lane(a->w, a->m, 0, i, old);
	}
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

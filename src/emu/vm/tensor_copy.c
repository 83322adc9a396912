/*
 * Boxes of tensors, tile mode (PTX ISA 9.0, 5.5): rows of the innermost dimension lie one behind
 * the other in shared memory, swizzled as the map says; what is outside of the tensor is filled,
 * and not stored.
 */
#include "emu/tensor_map.h"
#include "emu/vm/bulk.h"
#include "emu/vm/access.h"

#include <string.h>

/* A kernel may have changed it to what no copy can follow. */
static bool is_map(const struct tensor_map *m)
{
	bool fits = m->magic == TENSOR_MAP_MAGIC && m->rank >= 1 && m->rank <= TENSOR_MAP_DIMS &&
	            m->bytes >= 1 && m->bytes <= 8 && m->swizzle <= TENSOR_SWIZZLE_128;
	for (unsigned k = 0; fits && k < m->rank; k++)
		fits = m->step[k] >= 1 && m->box[k] >= 1 && m->box[k] <= 256;
	return fits;
}

const struct tensor_map *tensor_map_at(const struct bulk *b, uint64_t address)
{
	const uint64_t bytes = sizeof(struct tensor_map);
	if (access_span(b->w->worker, address, bytes, true, false) == SPAN_OUTSIDE) {
		bulk_fault(b, FAULT_BOUNDS, address, SPACE_GLOBAL, bytes, false);
		return NULL;
	}
	const struct tensor_map *m = (const void *)(address + b->w->host);
	if (address % 64 || !is_map(m)) {
		bulk_fault(b, address % 64 ? FAULT_ALIGN : FAULT_TENSOR_MAP, address, SPACE_GLOBAL, 64,
		           false);
		return NULL;
	}
	return m;
}

/* Elements of the box along dimension @k. */
static uint32_t count_of(const struct tensor_map *m, unsigned k)
{
	return k < m->rank ? (m->box[k] + m->step[k] - 1u) / m->step[k] : 1;
}

uint64_t tensor_box_bytes(const struct tensor_map *m)
{
	uint64_t n = m->bytes;
	for (unsigned k = 0; k < m->rank; k++)
		n *= count_of(m, k);
	return n;
}

/* An H200 fills with one pattern of 16 bits; seen of 32-bit floats (tests/programs/tensor_maps.cu).
 */
#define FILL_NAN 0x7ff7u

static void fill(const struct tensor_map *m, uint8_t *to, uint64_t bytes)
{
	const uint16_t nan = FILL_NAN;
	memset(to, 0, bytes);
	for (uint64_t i = 0; m->fill_nan && i + sizeof nan <= bytes; i += sizeof nan)
		memcpy(to + i, &nan, sizeof nan);
}

/* Where byte @offset of the box lies: pieces of 16 bytes change places within a pattern of eight
 * lines of 128 bytes, by the address in shared memory. */
static uint64_t swizzled(const struct bulk *b, const struct tensor_map *m, uint64_t offset)
{
	static const uint64_t pieces[] = { 0, 1, 3, 7 };
	const uint64_t at = b->offset + offset;
	return (at ^ (at >> 7 & pieces[m->swizzle]) << 4) - b->offset;
}

/* @bytes in a row, from @at in global memory, or outside (0), to @offset of the box. They are asked
 * for together, wherever their pieces come to lie. */
static bool move_row(struct bulk *b, const struct tensor_map *m, uint64_t at, uint64_t offset,
                     uint64_t bytes)
{
	const uint64_t first = at, all = bytes;
	while (bytes) {
		const uint64_t piece = m->swizzle ? 16 - (b->offset + offset) % 16 : bytes;
		const uint64_t n = piece < bytes ? piece : bytes, to = swizzled(b, m, offset);
		if (!at && b->to_shared) {
			fill(m, b->shared + to, n);
			for (uint64_t i = 0; b->seen && i < n; i++)
				shadow_touch(b->seen, b->offset + to + i, 1, false, true);
		} else if (at && !bulk_move_piece(b, at, to, n)) {
			return false;
		}
		at += at ? n : 0;
		offset += n;
		bytes -= n;
	}
	if (first && all)
		bulk_count(b, first, all);
	return true;
}

/* A row of @n elements from @x on: what lies before the tensor, in it, behind it. */
static bool move_line(struct bulk *b, const struct tensor_map *m, uint64_t base, int64_t x,
                      uint64_t offset)
{
	const int64_t n = count_of(m, 0), size = (int64_t)m->size[0], e = m->bytes;
	const int64_t before = x < 0 ? (-x < n ? -x : n) : 0;
	const int64_t end = x + n > size ? (size > x ? size - x : 0) : n;
	const int64_t inside = end > before ? end - before : 0;
	const uint64_t first = (uint64_t)(before * e), all = (uint64_t)(inside * e);
	return (!before || move_row(b, m, 0, offset, first)) &&
	       (!inside || move_row(b, m, base + (uint64_t)((x + before) * e), offset + first, all)) &&
	       (before + inside == n ||
	        move_row(b, m, 0, offset + first + all, (uint64_t)((n - before - inside) * e)));
}

bool tensor_box(struct bulk *b, const struct tensor_map *m, const int32_t at[TENSOR_MAP_DIMS])
{
	const uint64_t row = (uint64_t)count_of(m, 0) * m->bytes;
	uint32_t i[TENSOR_MAP_DIMS] = { 0 }, left = 1;
	uint64_t offset = 0;
	/* either way an H200 ends the launch with cudaErrorIllegalInstruction */
	const unsigned behind = (unsigned)((uint64_t)at[0] * m->bytes % 16);
	if (behind)
		return bulk_fault(b, FAULT_TENSOR_START, m->address, SPACE_GLOBAL, behind, false);
	for (unsigned k = 0; k < m->rank && !b->to_shared; k++)
		if (at[k] < 0)
			return bulk_fault(b, FAULT_TENSOR_BEFORE, m->address, SPACE_GLOBAL, k, true);
	for (unsigned k = 1; k < m->rank; k++)
		left *= count_of(m, k);
	for (; left; left--, offset += row) {
		uint64_t base = m->address;
		bool inside = true;
		for (unsigned k = 1; k < m->rank; k++) {
			const int64_t x = at[k] + (int64_t)i[k] * m->step[k];
			inside &= x >= 0 && (uint64_t)x < m->size[k];
			base += (uint64_t)x * m->stride[k - 1];
		}
		if (inside ? !move_line(b, m, base, at[0], offset) : !move_row(b, m, 0, offset, row))
			return false;
		for (unsigned k = 1; k < m->rank && ++i[k] == count_of(m, k); k++)
			i[k] = 0;
	}
	return true;
}

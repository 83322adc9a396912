/*
 * Matrices in shared memory by descriptor (PTX ISA 9.0, 9.7.15.5): where an element lies, for each
 * layout, and fragments of it in the registers of a lane as mma.sync has them (lower_tensor.c).
 *
 * A and B have lines of the inner dimension K ("along K") or of the other one; a step of a product
 * takes 32 bytes of K. Lines are cut into pieces of 16 bytes; eight lines of 1, 2, 4 or 8 pieces
 * (no swizzle, 32, 64, 128 bytes) form a tile, in which pieces change places. The two strides of
 * the descriptor lead from tile to tile.
 */
#include "emu/vm/matrix.h"

#include "emu/vm/cluster.h"

#include <string.h>

struct layout {
	uint64_t start, leading, stride, turn;
	unsigned pieces; /* of 16 bytes in a line of a tile */
};

static struct layout layout_of(uint64_t descriptor)
{
	static const uint8_t pieces[] = { 1, 8, 4, 2 };
	return (struct layout){
		.start = (descriptor & 0x3fff) << 4,
		.leading = (descriptor >> 16 & 0x3fff) << 4,
		.stride = (descriptor >> 32 & 0x3fff) << 4,
		.turn = descriptor >> 49 & 7,
		.pieces = pieces[descriptor >> 62],
	};
}

static uint64_t swizzled(const struct layout *l, uint64_t at)
{
	return at ^ ((((at >> 7) - l->turn) & (l->pieces - 1u)) << 4);
}

/* Of line @row, byte @k along K. */
static uint64_t along_k(const struct layout *l, unsigned row, unsigned k)
{
	const uint64_t at = l->start + row / 8 * l->stride + row % 8 * 16 * l->pieces;
	return l->pieces == 1 ? at + k / 16 * l->leading + k % 16 : swizzled(l, at + k);
}

/* Of element @row of 2 bytes along the line that is element @k of K. */
static uint64_t across_k(const struct layout *l, unsigned row, unsigned k)
{
	const unsigned width = 8 * l->pieces;
	const uint64_t at = l->start + row % width * 2 + k % 8 * 16 * l->pieces;
	if (l->pieces == 1)
		return at + row / width * l->stride + k / 8 * l->leading;
	return swizzled(l, at + row / width * l->leading + k / 8 * l->stride);
}

static uint16_t half_of_e4m3(uint8_t v)
{
	const unsigned exponent = v >> 3 & 15, mantissa = v & 7, sign = (unsigned)(v & 0x80) << 8;
	if ((v & 0x7f) == 0x7f)
		return 0x7fff;
	if (!exponent) /* mantissa / 2^9 */
		return (uint16_t)(sign | lane_f2h((float)mantissa * 0x1p-9f));
	return (uint16_t)(sign | (exponent + 8) << 10 | mantissa << 7);
}

uint16_t matrix_half(enum ptx_type type, uint8_t v)
{
	return type == PTX_E4M3 ? half_of_e4m3(v) : (uint16_t)(v << 8);
}

static bool read_bytes(const struct warp *w, uint64_t at, void *to, unsigned n, uint64_t *bad)
{
	struct worker *owner;
	const uint8_t *p = cluster_bytes_at(w->worker, at, n, &owner);
	*bad = at;
	if (p)
		memcpy(to, p, n);
	return p != NULL;
}

/* One register: elements of @row from byte @k of K on. Of 8-bit floats the two at @k, as float16.
 */
static bool read_register(const struct warp *w, const struct layout *l, struct matrix_place m,
                          unsigned row, unsigned k, uint32_t *out, uint64_t *bad)
{
	uint8_t small[2];
	uint16_t half[2];
	if (m.across) {
		for (unsigned j = 0; j < 2; j++)
			if (!read_bytes(w, across_k(l, row, k / 2 + j), &half[j], 2, bad))
				return false;
		*out = half[0] | (uint32_t)half[1] << 16;
		return true;
	}
	if (!m.floats8)
		return read_bytes(w, along_k(l, row, k), out, 4, bad);
	if (!read_bytes(w, along_k(l, row, k + 2u * m.second), small, 2, bad))
		return false;
	for (unsigned j = 0; j < 2; j++)
		half[j] = matrix_half(m.floats8, small[j]);
	*out = half[0] | (uint32_t)half[1] << 16;
	return true;
}

bool matrix_lane(const struct warp *w, unsigned lane, const uint64_t *arg, uint64_t *result,
                 uint64_t *bad)
{
	const struct layout l = layout_of(arg[0]);
	const struct matrix_place m = matrix_unpack(arg[1]);
	const unsigned row = m.row + lane / 4 + (m.of_a ? 16 * (w->number % 4) : 0);
	const unsigned k = m.k + lane % 4 * 4;
	uint32_t out[2];
	/* of A the rows g and g + 8, of B the halves of K */
	if (!read_register(w, &l, m, row, k, &out[0], bad) ||
	    !read_register(w, &l, m, m.of_a ? row + 8 : row, m.of_a ? k : k + 16, &out[1], bad))
		return false;
	*result = out[0] | (uint64_t)out[1] << 32;
	return true;
}

/* The places of 16 bytes that lanes of the warp read one register each of, of eight rows. */
static unsigned places_of(const struct warp *w, const struct layout *l, struct matrix_place m,
                          unsigned row, unsigned k, uint64_t *out)
{
	unsigned n = 0;
	row += m.row + (m.of_a ? 16 * (w->number % 4) : 0);
	k += m.k;
	for (unsigned i = 0; i < 8; i++)
		out[n++] =
			(m.across ? across_k(l, row, k / 2 + i) : along_k(l, row + i, k)) & ~(uint64_t)15;
	return n;
}

void matrix_race(struct warp *w, const struct uop *u, uint32_t mask, const uint64_t *arg)
{
	const struct layout l = layout_of(arg[0]);
	const struct matrix_place m = matrix_unpack(arg[1]);
	struct race_product p = {
		.warp = w->number, .op = u->xop, .lane = (unsigned)__builtin_ctz(mask), .group = w->groups
	};
	struct race_found found = { 0 };
	p.n = places_of(w, &l, m, 0, 0, p.at);
	p.n += places_of(w, &l, m, m.of_a ? 8 : 0, m.of_a ? 0 : 16, p.at + p.n);
	for (unsigned i = 0; i < p.n; i++) {
		p.at[i] &= CLUSTER_OFFSET;
		if (p.at[i] >= w->shared_bytes)
			return; /* the access is at fault */
	}
	if (!race_product(w->worker->race, &p, &found))
		return;
	struct emu_fault *f = vm_note_race(w, u, &found, false);
	f->address = found.address;
	f->space = SPACE_SHARED;
	f->bytes = 1;
	f->store = false;
}

bool group_done(const struct warp *w, uint64_t left)
{
	const struct worker *wk = w->worker;
	const uint32_t first = w->number / 4 * 4;
	for (uint32_t i = first; i < first + 4 && i < wk->grid->n_warps; i++) {
		const struct warp *other = warp_at(wk, i);
		if (other->live && other->groups + left < w->groups)
			return false;
	}
	return true;
}

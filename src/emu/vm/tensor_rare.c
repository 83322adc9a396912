/*
 * Products of matrices that few programs have (PTX ISA 9.0, 9.7.14): of single bits, with a sparse
 * A, and four small ones at once (m8n8k4 of halves, Volta's).
 *
 * How tensor cores add is taken from tensor.c; of a sparse A the elements that are there are
 * added as the dense product of as many. m8n8k4 adds all four products at once.
 */
#include "emu/vm/tensor.h"

#include "emu/vm/handler.h"

#include <string.h>

static uint32_t register_of(const struct warp *w, uint32_t slot, unsigned lane)
{
	return ((const mem_u32 *)frame(w, slot))[lane];
}

/* --- bits --- */

static void multiply_bits(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned rows = t->m / 8u, words = t->k / 128u;
	uint32_t sum[TENSOR_SIDE][8];
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < 8; column++) {
			sum[row][column] = tensor_c(w, o, row, column);
			for (unsigned i = 0; i < 4 * words; i++) {
				const uint32_t a =
					register_of(w, o->a[row / 8 + rows * (i / 4)], row % 8 * 4 + i % 4);
				const uint32_t b = register_of(w, o->b[i / 4], column * 4 + i % 4);
				const uint32_t both = t->kind == TENSOR_AND ? a & b : a ^ b;
				sum[row][column] += (uint32_t)__builtin_popcount(both);
			}
		}
	for (unsigned row = 0; row < t->m; row++)
		for (unsigned column = 0; column < 8; column++)
			tensor_write_d(w, o, mask, row, column, sum[row][column]);
}

/* --- a sparse A --- */

/*
 * Four bits tell of each chunk of A's row, four elements, which two are there; tf32: of two
 * elements, in halves of an element, which one. Lanes that hold them: of each row's quad, in words
 * of 16 bits that rows g and g + 8 share, those of the selector; for bytes in words of 32 bits, the
 * lanes of row g and of row g + 8 by turns.
 */
static unsigned place_in_k(const struct warp *w, const struct tensor_operands *o, unsigned row,
                           unsigned j)
{
	const struct ir_tensor *t = &o->tensor;
	const bool bytes = ptx_type_bytes(t->a) == 1, single = t->a == PTX_TF32;
	const unsigned chunk = single ? j : j / 2, per_word = bytes ? 8 : 4, word = chunk / per_word;
	const unsigned words = t->k / (single ? 2u : 4u) / per_word;
	unsigned lane = row % 8 * 4 + t->selector * words * (bytes ? 2 : 1);
	lane += bytes ? 2 * word + row / 8 : word;
	const unsigned shift = 4 * (chunk % per_word) + (bytes ? 0 : 16 * (row / 8));
	const unsigned bits = register_of(w, o->e, lane) >> shift & 15;
	if (single)
		return 2 * chunk + (bits >> 1 & 1);
	return 4 * chunk + (bits >> (j % 2 * 2) & 3);
}

/* Which of the elements that are there comes @n-th: 8-bit floats are two products of float16, each
 * of two elements of every four. */
static unsigned in_order(const struct ir_tensor *t, unsigned there, unsigned n)
{
	if (t->a != PTX_E4M3 && t->a != PTX_E5M2)
		return n;
	const unsigned part = n / (there / 2), at = n % (there / 2);
	return at / 2 * 4 + 2 * part + at % 2;
}

/* c + the @n products, each of the two of 8-bit floats by itself. */
static uint32_t sum_numbers(const struct ir_tensor *t, const struct tensor_entry *a,
                            const struct tensor_entry *b, unsigned n, uint32_t c)
{
	const unsigned step = t->a == PTX_E4M3 || t->a == PTX_E5M2 ? n / 2 : n;
	enum ptx_type type = t->c;
	for (unsigned i = 0; i < n; i += step) {
		c = tensor_from_sum(t->d, tensor_sum(t->a, a + i, b + i, step, tensor_to_sum(type, c)));
		type = t->d;
	}
	return c;
}

static uint32_t sum_whole(const struct ir_tensor *t, const struct tensor_entry *a,
                          const struct tensor_entry *b, unsigned k, uint32_t c)
{
	int64_t sum = (int32_t)c;
	for (unsigned i = 0; i < k; i++)
		sum += (int64_t)a[i].value * (int64_t)b[i].value;
	const int64_t most = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)(uint64_t)(t->saturate ? most : sum);
}

static void multiply_sparse(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	const unsigned there = t->k / 2u;
	struct tensor_entry a[16 * TENSOR_WHOLE_K / 2] = { 0 }, b[8 * TENSOR_WHOLE_K] = { 0 };
	uint32_t sum[16][8];
	tensor_read_side(w, t->a, o->a, 16, there, a);
	tensor_read_side(w, t->b, o->b, 8, t->k, b);
	for (unsigned row = 0; row < 16; row++)
		for (unsigned column = 0; column < 8; column++) {
			struct tensor_entry own[TENSOR_WHOLE_K / 2], met[TENSOR_WHOLE_K / 2];
			const uint32_t c = tensor_c(w, o, row, column);
			for (unsigned n = 0; n < there; n++) {
				const unsigned j = in_order(t, there, n);
				own[n] = a[row * there + j];
				met[n] = b[column * t->k + place_in_k(w, o, row, j)];
			}
			sum[row][column] = t->d == PTX_S32 ? sum_whole(t, own, met, there, c)
			                                   : sum_numbers(t, own, met, there, c);
		}
	for (unsigned row = 0; row < 16; row++)
		for (unsigned column = 0; column < 8; column++)
			tensor_write_d(w, o, mask, row, column, sum[row][column]);
}

/* --- m8n8k4: a product of every two quads, 4 q .. 4 q + 3 and 16 more --- */

static unsigned lane_of(unsigned quad, unsigned i)
{
	return 4 * quad + (i < 4 ? i : 12 + i);
}

/* Element (@i, @k) of A or (@k, @i) of B; @across: lanes hold eight of one k, else four k. */
static struct tensor_entry quad_element(const struct warp *w, const uint32_t *slot, unsigned quad,
                                        unsigned i, unsigned k, bool across)
{
	const unsigned lane = across ? (i & 4) + k : i, j = across ? i & 3 : k;
	const uint32_t v = register_of(w, slot[j / 2], lane_of(quad, lane)) >> (j % 2 * 16);
	return tensor_half((uint16_t)v);
}

struct quad_place {
	unsigned reg, lane, half;
};

static struct quad_place place_of(enum ptx_type type, unsigned quad, unsigned row, unsigned column)
{
	if (type == PTX_F16)
		return (struct quad_place){ column / 2, lane_of(quad, row), column % 2 };
	return (struct quad_place){ (column & 5) | (row & 2), lane_of(quad, (row & 5) | (column & 2)),
		                        0 };
}

static void multiply_quads(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	const struct ir_tensor *t = &o->tensor;
	uint32_t out[X_MAX_VEC][32] = { 0 };
	for (unsigned at = 0; at < 4 * 64; at++) {
		const unsigned quad = at / 64, row = at / 8 % 8, column = at % 8;
		struct tensor_entry a[4], b[4];
		for (unsigned k = 0; k < 4; k++) {
			a[k] = quad_element(w, o->a, quad, row, k, t->a_col);
			b[k] = quad_element(w, o->b, quad, column, k, !t->b_col);
		}
		const struct quad_place c = place_of(t->c, quad, row, column);
		const struct quad_place d = place_of(t->d, quad, row, column);
		const uint32_t from = register_of(w, o->c[c.reg], c.lane) >> (16 * c.half);
		const float sum = tensor_sum(PTX_F16, a, b, 4, tensor_to_sum(t->c, from));
		out[d.reg][d.lane] |= tensor_from_sum(t->d, sum) << (16 * d.half);
	}
	for (unsigned r = 0; r < (t->d == PTX_F16 ? 4u : 8u); r++)
		for (unsigned i = 0; i < 32; i++)
			if (o->d[r] && mask >> i & 1)
				((mem_u32 *)frame(w, o->d[r]))[i] = out[r][i];
}

COLD void tensor_rare(struct warp *w, const struct tensor_operands *o, uint32_t mask)
{
	switch (o->tensor.kind) {
	case TENSOR_SPARSE: multiply_sparse(w, o, mask); break;
	case TENSOR_QUADS: multiply_quads(w, o, mask); break;
	default: multiply_bits(w, o, mask); break;
	}
}

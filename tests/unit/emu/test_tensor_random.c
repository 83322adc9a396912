/*
 * Products of matrices on 32 lanes at once against the same element by element, at every
 * instruction-set level of this processor: equal bits, whatever the numbers are.
 */
#include "../unit.h"
#include "base/mem.h"
#include "base/text.h"
#include "emu/vm/tensor.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_AT 8192 /* behind the header of a warp */
#define LANES_BYTES 256

static uint64_t seed = 20251123;

static uint32_t random_bits(void)
{
	return (uint32_t)(rand_next(&seed) >> 32);
}

/* How far apart exponents lie, and what else may come. */
enum numbers { NEAR, FAR, ANY, NUMBERS };

static uint32_t random_element(enum ptx_type type, enum numbers how)
{
	const unsigned exponent_bits = type == PTX_F16 ? 5 : 8, bits = type == PTX_TF32 ? 32 : 16;
	const unsigned mantissa_bits = bits - 1 - exponent_bits;
	const uint32_t middle = (1u << (exponent_bits - 1)) - 1;
	uint32_t x = random_bits() & ((1u << exponent_bits) - 1);
	if (how == NEAR)
		x = middle - 3 + x % 7;
	else if (how == FAR && type != PTX_F16)
		x = middle - 45 + x % 91;
	uint32_t v = (random_bits() & 1) << (bits - 1) | x << mantissa_bits |
	             (random_bits() & ((1u << mantissa_bits) - 1));
	if (how != ANY && x == 2 * middle + 1)
		v = 0; /* not finite */
	return random_bits() % 8 ? v : 0;
}

static uint32_t random_register(enum ptx_type type, enum numbers how)
{
	if (type == PTX_TF32 || type == PTX_F32)
		return random_element(PTX_TF32, how);
	return random_element(type, how) | random_element(type, how) << 16;
}

static const struct uop *stop(struct warp *w, const struct uop *u, uint32_t mask)
{
	(void)w, (void)u, (void)mask;
	return NULL;
}

static void fill(struct warp *w, uint32_t *slot, unsigned n, enum ptx_type type, enum numbers how,
                 uint32_t *at)
{
	for (unsigned r = 0; r < n; r++, *at += LANES_BYTES) {
		slot[r] = *at;
		for (unsigned i = 0; i < 32; i++)
			((uint32_t *)frame(w, slot[r]))[i] = random_register(type, how);
	}
}

struct product_case {
	unsigned m, n, k;
	enum ptx_type ab, cd;
};

static void compare(const struct handler_set *set, struct warp *w, const struct product_case *p,
                    enum numbers how)
{
	const unsigned each = p->ab == PTX_TF32 ? 1 : 2, half = p->cd == PTX_F16 ? 2 : 1;
	struct tensor_operands o = { .tensor = { .m = (uint8_t)p->m,
		                                     .n = (uint8_t)p->n,
		                                     .k = (uint8_t)p->k,
		                                     .a = p->ab,
		                                     .b = p->ab,
		                                     .c = p->cd,
		                                     .d = p->cd } };
	uint32_t at = FRAME_AT, want[X_MAX_VEC][32];
	const unsigned n_d = p->m * p->n / 32 / half;
	const uint32_t mask = 0xffffffffu;
	fill(w, o.a, p->m * p->k / 32 / each, p->ab, how, &at);
	fill(w, o.b, p->n * p->k / 32 / each, p->ab, how, &at);
	fill(w, o.c, n_d, p->cd, how, &at);
	fill(w, o.d, n_d, p->cd, how, &at);
	tensor_multiply(w, &o, mask);
	for (unsigned r = 0; r < n_d; r++) {
		memcpy(want[r], frame(w, o.d[r]), sizeof want[r]);
		memset(frame(w, o.d[r]), 0x5a, sizeof want[r]);
	}
	const struct uop program[2] = { { .tensor = &o }, { .full = stop, .masked = stop } };
	set->tensor->full(w, program, mask);
	for (unsigned r = 0; r < n_d; r++)
		if (memcmp(want[r], frame(w, o.d[r]), sizeof want[r]) != 0)
			fail_msg("%s: m%un%uk%u %s, numbers %d: register %u of D differs", set->name, p->m,
			         p->n, p->k, ptx_type_name(p->ab), how, r);
}

TEST(same_bits_as_one_by_one)
{
	static const struct product_case cases[] = {
		{ 16, 8, 16, PTX_F16, PTX_F32 },  { 16, 8, 8, PTX_F16, PTX_F16 },
		{ 16, 16, 16, PTX_F16, PTX_F32 }, { 32, 8, 16, PTX_F16, PTX_F16 },
		{ 8, 32, 16, PTX_BF16, PTX_F32 }, { 16, 8, 16, PTX_BF16, PTX_F32 },
		{ 16, 8, 8, PTX_TF32, PTX_F32 },  { 16, 8, 4, PTX_TF32, PTX_F32 },
	};
	static const char *const levels[] = { "sse", "avx2", "avx512" };
	struct worker worker = { 0 };
	struct warp *w = mem_aligned(128, FRAME_AT + 64 * LANES_BYTES);
	memset(w, 0, FRAME_AT);
	assert_true(sizeof *w <= FRAME_AT);
	w->worker = &worker;
	w->mask = w->live = 0xffffffffu;
	for (unsigned level = 0; level < 3; level++) {
		const struct handler_set *set = handler_set_choose(levels[level]);
		if (strcmp(set->name, levels[level]) != 0)
			continue; /* not on this processor */
		for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
			for (unsigned k = 0; k < 60; k++)
				compare(set, w, &cases[i], (enum numbers)(k % NUMBERS));
	}
	free(w);
}

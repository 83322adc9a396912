/* What random kernels read, and what they and the host make of it. */
#ifndef PMPP_TEST_RANDOM_DATA_H
#define PMPP_TEST_RANDOM_DATA_H

#include "base/mem.h"
#include "random_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 4 }; /* blocks */

struct data {
	unsigned threads; /* of the grid */
	uint32_t *in, *out, *want;
	float *fin, *fout, *fwant;
	uint32_t all[N_BINS], all_want[N_BINS];
};

static inline void data_make(struct data *d, uint64_t seed, unsigned block)
{
	static const uint32_t bits[] = { 0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 33, 64, 1000003 };
	static const float odd[] = { 0.0f, -0.0f, 1.0f, -1.5f, 1e20f, 1e-40f, 16777216.0f, 0.5f };
	*d = (struct data){ .threads = GRID * block };
	d->in = mem_calloc((size_t)d->threads * N_U, 4);
	d->out = mem_calloc((size_t)d->threads * N_U, 4);
	d->want = mem_calloc((size_t)d->threads * N_U, 4);
	d->fin = mem_calloc((size_t)d->threads * N_F, 4);
	d->fout = mem_calloc((size_t)d->threads * N_F, 4);
	d->fwant = mem_calloc((size_t)d->threads * N_F, 4);
	for (size_t i = 0; i < (size_t)d->threads * N_U; i++) {
		const uint64_t r = rand_next(&seed);
		d->in[i] = r & 3 ? (uint32_t)(r >> 32) >> (r >> 8 & 31) : bits[r >> 16 & 7];
	}
	for (size_t i = 0; i < (size_t)d->threads * N_F; i++) {
		const uint64_t r = rand_next(&seed);
		d->fin[i] =
			r & 3 ? ldexpf((float)(int32_t)(r >> 32), (int)(r >> 8 & 63) - 48) : odd[r >> 16 & 7];
	}
}

static inline void data_free(struct data *d)
{
	free(d->in);
	free(d->out);
	free(d->want);
	free(d->fin);
	free(d->fout);
	free(d->fwant);
}

static inline bool same_float(float a, float b)
{
	uint32_t a_bits, b_bits;
	memcpy(&a_bits, &a, 4);
	memcpy(&b_bits, &b, 4);
	return a_bits == b_bits || (isnan(a) && isnan(b));
}

#endif

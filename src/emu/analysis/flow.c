/*
 * Data flow over the intermediate form: what an operation reads, and which registers live where.
 * Liveness is that of one thread; what divergence adds to it is classify.c's business.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

unsigned xop_reads(const struct xop *x, int32_t *regs)
{
	unsigned n = 0;
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG)
			regs[n++] = x->s[i].reg;
	if (x->guard >= 0)
		regs[n++] = x->guard;
	return n;
}

int32_t xblock_succ(const struct xblock *b, unsigned i)
{
	if (b->targets)
		return i < b->n_targets ? b->targets[i] : -2;
	return i < 2 ? b->succ[i] : -2;
}

static void table_init(struct bitset_table *t, unsigned rows, unsigned bits)
{
	t->words = (bits + 63) / 64;
	t->bits = mem_calloc((size_t)rows * t->words, sizeof *t->bits);
}

void flow_liveness(const struct ir *ir, struct liveness *l)
{
	struct bitset_table use, kill;
	table_init(&l->in, ir->n_blocks, ir->n_regs);
	table_init(&l->out, ir->n_blocks, ir->n_regs);
	table_init(&l->def, ir->n_blocks, ir->n_regs);
	table_init(&use, ir->n_blocks, ir->n_regs);
	table_init(&kill, ir->n_blocks, ir->n_regs);
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		uint64_t *u = bits_row(&use, b), *k = bits_row(&kill, b), *d = bits_row(&l->def, b);
		for (uint32_t i = ir->blocks[b].first; i < ir->blocks[b].end; i++) {
			const struct xop *x = &ir->ops[i];
			int32_t reads[X_MAX_VEC + 4];
			const unsigned n = xop_reads(x, reads);
			for (unsigned r = 0; r < n; r++)
				if (!bits_get(k, (unsigned)reads[r]))
					bits_set(u, (unsigned)reads[r]);
			for (unsigned r = 0; r < x->n_d; r++) {
				if (x->d[r] < 0)
					continue;
				bits_set(d, (unsigned)x->d[r]);
				if (x->guard < 0) /* a guarded write may leave the old value */
					bits_set(k, (unsigned)x->d[r]);
			}
		}
	}
	const unsigned words = l->in.words;
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned b = ir->n_blocks; b-- > 0;) {
			uint64_t *in = bits_row(&l->in, b), *out = bits_row(&l->out, b);
			const uint64_t *u = bits_row(&use, b), *k = bits_row(&kill, b);
			int32_t s;
			for (unsigned i = 0; (s = xblock_succ(&ir->blocks[b], i)) != -2; i++)
				if (s >= 0)
					for (unsigned w = 0; w < words; w++)
						out[w] |= bits_row(&l->in, (unsigned)s)[w];
			for (unsigned w = 0; w < words; w++) {
				const uint64_t v = u[w] | (out[w] & ~k[w]);
				changed |= v != in[w];
				in[w] = v;
			}
		}
	}
	free(use.bits);
	free(kill.bits);
}

void liveness_free(struct liveness *l)
{
	free(l->in.bits);
	free(l->out.bits);
	free(l->def.bits);
}

bool flow_live_after(const struct ir *ir, const struct liveness *l, uint32_t block, uint32_t op,
                     int32_t reg)
{
	for (uint32_t o = op + 1; o < ir->blocks[block].end; o++) {
		const struct xop *x = &ir->ops[o];
		int32_t reads[X_MAX_VEC + 4];
		const unsigned n = xop_reads(x, reads);
		for (unsigned i = 0; i < n; i++)
			if (reads[i] == reg)
				return true;
		for (unsigned i = 0; i < x->n_d; i++)
			if (x->d[i] == reg && x->guard < 0)
				return false;
	}
	return bits_get(bits_row(&l->out, block), (unsigned)reg);
}

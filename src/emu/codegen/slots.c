/*
 * Frame slots: 8 bytes for a scalar, 128 or 256 for 32 values.
 *
 * Registers of 32 values share slots by a linear scan over their live ranges ("Linear scan register
 * allocation", Poletto and Sarkar, 1999): a short frame stays in the first-level cache. Sharing
 * follows the liveness of one thread, which is enough: lanes that do not execute keep their part
 * of the slot. That part must be the same bytes in every register of a slot, so those of 4 and of
 * 8 bytes have slots of their own. Scalars are shared by all lanes of a warp and never share a
 * slot.
 */
#include "emu/codegen/slots.h"

#include "base/mem.h"

#include <stdlib.h>

#define UNIT 128 /* bytes: slots of 32 values begin at a multiple of it */
/* A loaded value that so many FMAs multiply by keeps its slot for so many operations: eight steps
 * of 8 by 8 sums, or all of a loop that was unrolled so. */
#define FACTOR_FMAS 4
#define FACTOR_OPS 560

struct range {
	int32_t reg;
	uint32_t start, end; /* reads at 2 * op, writes at 2 * op + 1 (or 2 * op, see below) */
	int32_t goes_on;     /* the register whose sum this one goes on with: its slot is the best one;
	                        -1 = none */
};

static void extend_range(struct range *r, uint32_t at)
{
	if (at < r->start)
		r->start = at;
	if (at > r->end)
		r->end = at;
}

/* A result may take over the slot of a source that ends here if both are lanes of one width. */
static bool may_overwrite(const struct ir *ir, const struct xop *x)
{
	if (x->kind != X_OP && x->kind != X_SEL)
		return false;
	for (unsigned i = 0; i < x->n_s; i++)
		if (x->s[i].kind == S_REG && ir->regs[x->s[i].reg].bytes &&
		    ir->regs[x->s[i].reg].bytes != ir->regs[x->d[0]].bytes)
			return false;
	return true;
}

static bool is_fma(const struct xop *x)
{
	return x->kind == X_OP && x->op == E_fma_f32;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static struct range *live_ranges(const struct ir *ir, const struct liveness *live)
{
	struct range *r = mem_calloc(ir->n_regs, sizeof *r);
	for (unsigned i = 0; i < ir->n_regs; i++)
		r[i] = (struct range){ (int32_t)i, UINT32_MAX, 0, -1 };
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const struct xblock *xb = &ir->blocks[b];
		const uint64_t *in = bits_row(&live->in, b), *out = bits_row(&live->out, b);
		for (unsigned i = 0; i < ir->n_regs; i++) {
			if (bits_get(in, i))
				extend_range(&r[i], 2 * xb->first);
			if (bits_get(out, i))
				extend_range(&r[i], 2 * xb->end + 1);
		}
		for (uint32_t o = xb->first; o < xb->end; o++) {
			const struct xop *x = &ir->ops[o];
			int32_t reads[X_MAX_VEC + 4];
			const unsigned n = xop_reads(x, reads);
			for (unsigned i = 0; i < n; i++)
				extend_range(&r[reads[i]], 2 * o);
			if (is_fma(x) && x->s[2].kind == S_REG)
				r[x->d[0]].goes_on = x->s[2].reg;
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0)
					extend_range(&r[x->d[i]], may_overwrite(ir, x) ? 2 * o + 1 : 2 * o);
		}
	}
	return r;
}

/*
 * Loaded values that many FMAs of a block multiply by keep their slots for a while: where the
 * values of several steps of an outer product lie beside each other, its sums need not go through
 * memory at each (fuse_tiles.c).
 */
static void keep_factors(const struct ir *ir, struct range *r)
{
	uint32_t *loaded = mem_calloc(ir->n_regs + 1, sizeof *loaded); /* by register: 1 + operation */
	uint32_t *fmas = mem_calloc(ir->n_regs + 1, sizeof *fmas);     /* since then */
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		const struct xblock *xb = &ir->blocks[b];
		for (uint32_t o = xb->first; o < xb->end; o++) {
			const struct xop *x = &ir->ops[o];
			for (unsigned i = 0; i < 2 && is_fma(x); i++) {
				const int32_t reg = x->s[i].kind == S_REG ? x->s[i].reg : -1;
				if (reg >= 0 && loaded[reg] > xb->first && ++fmas[reg] == FACTOR_FMAS)
					extend_range(&r[reg],
					             2 * (loaded[reg] + FACTOR_OPS < xb->end ? loaded[reg] + FACTOR_OPS
					                                                     : xb->end));
			}
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0) {
					loaded[x->d[i]] = x->kind == X_LD ? o + 1 : 0;
					fmas[x->d[i]] = 0;
				}
		}
	}
	free(loaded);
	free(fmas);
}

/* The number of the slot that a sum goes on in; UINT32_MAX: there is none. */
static unsigned best_slot(const struct range *r, const struct program *p, uint32_t at,
                          unsigned bytes)
{
	const uint32_t slot = r->goes_on < 0 ? UINT32_MAX : p->reg_slot[r->goes_on];
	return slot == UINT32_MAX || slot < at ? UINT32_MAX : (slot - at) / (32 * bytes);
}

/* Gives the registers of 32 values of @bytes each their slots, from @at on; returns the end. Those
 * that may be read @unwritten, as a warp finds them when it starts, have slots of their own. */
static uint32_t share_slots(const struct ir *ir, const uint64_t *unwritten, struct program *p,
                            const struct range *r, unsigned bytes, bool share, uint32_t at)
{
	uint32_t *busy_until = mem_calloc(ir->n_regs + 1, sizeof *busy_until);
	unsigned slots = 0;
	for (unsigned i = 0; i < ir->n_regs; i++) {
		const int32_t reg = r[i].reg;
		if (ir->regs[reg].bytes != bytes || p->forms.reg[reg].cls != AFFINE_LANES ||
		    r[i].start == UINT32_MAX)
			continue;
		const bool own = !share || ir->regs[reg].fixed || bits_get(unwritten, (unsigned)reg);
		unsigned u = own ? slots : best_slot(&r[i], p, at, bytes);
		if (u >= slots || busy_until[u] > r[i].start)
			u = own ? slots : 0;
		while (u < slots && busy_until[u] > r[i].start)
			u++;
		busy_until[u] = own ? UINT32_MAX : r[i].end + 1;
		if (u == slots)
			slots++;
		p->reg_slot[reg] = at + u * 32 * bytes;
	}
	free(busy_until);
	return at + slots * 32 * bytes;
}

void slots_assign(const struct ir *ir, const struct liveness *live, struct program *p, bool share,
                  uint32_t *top)
{
	uint32_t at = *top;
	p->reg_slot = mem_calloc(ir->n_regs, sizeof *p->reg_slot);
	for (unsigned i = 0; i < ir->n_regs; i++) {
		const struct affine *s = &p->forms.reg[i];
		p->reg_slot[i] = UINT32_MAX;
		if (ir->regs[i].bytes && s->cls == AFFINE_SCALAR && !s->known) {
			p->reg_slot[i] = at;
			at += 8;
		}
	}
	at = (at + UNIT - 1) / UNIT * UNIT;
	struct range *r = live_ranges(ir, live);
	if (share)
		keep_factors(ir, r);
	qsort(r, ir->n_regs, sizeof *r, by_start);
	for (unsigned bytes = 4; bytes <= 8; bytes += 4)
		at = share_slots(ir, bits_row(&live->in, 0), p, r, bytes, share, at);
	free(r);
	*top = at;
}

/*
 * Sums of products: FMAs of which each adds to what the one before gave, with loads from shared
 * memory between them, as compilers mix them.
 *
 * A window is a row of operations of a segment. Its FMAs become chains, whose sums stay in vector
 * registers and whose factors are read from where they are: the frame, or shared memory, which
 * nothing in the window changes. Loads that only FMAs needed are then not done at all. The other
 * operations are done before the chains, in their order; so what a chain reads must not be changed
 * behind its place by one of them, and none of them may need a sum.
 */
#include "emu/codegen/fuse_window.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Is it worth it: loads saved, sums kept? */
static bool pays(const struct window *w)
{
	unsigned saved = 0, fmas = 0;
	for (unsigned k = 0; k < w->n_loads; k++)
		saved += !w->load[k].kept;
	for (unsigned k = 0; k < w->n_others; k++)
		fmas += w->e->im->ir.ops[w->other[k]].op == E_fma_f32;
	return w->n_fmas >= 2 * w->n_sums && w->n_fmas >= 4 * fmas && 2 * saved >= w->n_sums;
}

static void put_steps(const struct window *w, uint32_t chain, struct chain_step **step)
{
	for (unsigned k = 0; k < w->n_fmas; k++) {
		const struct factor *a = &w->fma[k].factor[0], *b = &w->fma[k].factor[1];
		if (w->fma[k].chain != chain)
			continue;
		*(*step)++ = (struct chain_step){
			.lanes = { (int32_t)a->half[0], (int32_t)a->half[1] },
			.other = { (int32_t)b->half[0], (int32_t)b->half[1] },
			.lanes_base = a->base,
			.other_base = b->base,
			.rows = b->row,
		};
	}
}

/* A program that watches looks at all loads that are not done by themselves, before anything else
 * of the window. */
static void put_reads(const struct window *w, struct chains *c)
{
	struct chain_read *read = image_pool(w->e->im, w->n_loads * sizeof *read);
	struct lane_load *load = image_pool(w->e->im, w->n_loads * sizeof *load);
	c->read = read;
	c->load = load;
	for (unsigned k = 0; k < w->n_loads; k++) {
		const struct memop *m = w->load[k].m;
		if (w->load[k].kept)
			continue;
		load[c->n_reads] = (struct lane_load){ m->pieces, m->span, m->access, w->load[k].op };
		read[c->n_reads++] = (struct chain_read){ .slot = m->addr.slot,
			                                      .wide = m->addr.wide,
			                                      .align_mask = m->align_mask,
			                                      .low = m->low,
			                                      .last_low = m->last_low };
	}
}

static void put(const struct window *w)
{
	struct emit *e = w->e;
	const uint32_t first = e->p->op_uop[w->first], end = window_uops_end(w, w->end - 1);
	struct chains *c = image_pool(e->im, sizeof *c);
	struct chain *chain = image_pool(e->im, w->n_sums * sizeof *chain);
	struct chain_step *step = image_pool(e->im, w->n_fmas * sizeof *step);
	c->alone = e->p->uops[first].full;
	c->n_bases = w->n_bases;
	c->n = w->n_sums;
	c->chain = chain;
	c->step = step;
	memcpy(c->base, w->base, sizeof c->base);
	for (unsigned k = 0; k < w->n_sums; k++) {
		chain[k] = (struct chain){ w->sum[k].acc, w->sum[k].d, w->sum[k].n };
		put_steps(w, k, &step);
	}
	MEM_ROOM(e->detours, e->n_detours, e->cap_detours, 16);
	struct detour *d = &e->detours[e->n_detours++];
	*d = (struct detour){ .first = first, .end = end, .chains = c };
	for (unsigned k = 0; k < w->n_others; k++)
		for (uint32_t u = e->p->op_uop[w->other[k]]; u < window_uops_end(w, w->other[k]); u++) {
			d->others = mem_realloc(d->others, d->n_others + 1, sizeof *d->others);
			d->others[d->n_others++] = u;
		}
	c->watched = e->h->fused->chains_first;
	e->p->uops[first].chains = c;
	e->p->uops[first].full = c->watched;
	if (e->p->kind == PROGRAM_CHECKED) {
		put_reads(w, c);
		e->p->uops[first].full = e->h->watch_chains->full;
	}
}

static bool many_fmas(const struct ir *ir, uint32_t first, uint32_t end)
{
	unsigned n = 0;
	for (uint32_t o = first; o < end && n < LEAST_FMAS; o++)
		n += ir->ops[o].kind == X_OP && ir->ops[o].op == E_fma_f32;
	return n == LEAST_FMAS;
}

void fuse_chains(struct emit *e, const struct segment *s)
{
	const bool may = e->h->fused->chains && e->p->kind != PROGRAM_REFERENCE;
	if (!may || !many_fmas(&e->im->ir, s->first, s->end))
		return;
	struct window *w = mem_alloc(sizeof *w);
	window_open(w, e, s);
	for (uint32_t op = s->first; op<s->end; op = w->end> op ? w->end : op + 1)
		if (window_find(w, op) && pays(w))
			put(w);
	window_close(w);
	free(w);
}

/* The copies of a window's other uops, and the sums behind them. */
static void put_others(struct emit *e, const struct detour *d)
{
	const struct handler sums = { e->h->fused->chains, e->h->fused->chains };
	for (unsigned i = 0; i < d->n_others; i++) {
		struct uop *u = emit_uop(e, &sums);
		*u = e->p->uops[d->others[i]];
		if (d->others[i] == d->first) {
			u->full = d->chains->alone;
			u->chains = NULL;
		}
	}
	if (d->n_others)
		emit_uop(e, &sums)->chains = d->chains;
}

void fuse_chains_finish(struct emit *e)
{
	const struct program *p = e->p;
	uint32_t at = p->n_uops;
	for (unsigned k = 0; k < e->n_detours; k++)
		put_others(e, &e->detours[k]);
	for (unsigned k = 0; k < e->n_detours; k++) { /* they stay where they are from here on */
		struct detour *d = &e->detours[k];
		d->chains->after = &p->uops[d->end];
		d->chains->others = d->n_others ? &p->uops[at] : NULL;
		at += d->n_others ? d->n_others + 1 : 0;
		free(d->others);
	}
	e->n_detours = 0;
}

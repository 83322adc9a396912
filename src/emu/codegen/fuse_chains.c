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
#include "emu/codegen/fuse_tiles.h"
#include "emu/codegen/fuse_window.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Is it worth it: loads saved, sums kept, factors read once for several? */
static bool pays(const struct window *w, const struct tiles *t)
{
	unsigned saved = 0, fmas = 0;
	for (unsigned k = 0; k < w->n_loads; k++)
		saved += !w->load[k].kept;
	for (unsigned k = 0; k < w->n_others; k++)
		fmas += w->e->im->ir.ops[w->other[k]].op == E_fma_f32;
	return w->n_fmas >= 2 * w->n_sums && w->n_fmas >= 4 * fmas &&
	       (2 * saved >= w->n_sums || 2 * tiles_fmas(t) >= w->n_fmas);
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

static void put(const struct window *w, const struct tiles *t)
{
	struct emit *e = w->e;
	const uint32_t first = e->p->op_uop[w->first];
	struct chains *c = image_pool(e->im, sizeof *c);
	struct chain *chain = image_pool(e->im, w->n_sums * sizeof *chain);
	struct chain_step *step = image_pool(e->im, w->n_fmas * sizeof *step);
	c->alone = e->p->uops[first].full;
	c->n_bases = w->n_bases;
	c->chain = chain;
	c->step = step;
	memcpy(c->base, w->base, sizeof c->base);
	for (unsigned k = 0; k < w->n_sums; k++) {
		if (tiles_have(t, k))
			continue;
		chain[c->n++] = (struct chain){ w->sum[k].acc, w->sum[k].d, w->sum[k].n };
		put_steps(w, k, &step);
	}
	tiles_put(t, c);
	window_detour(w, c, NULL);
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
	for (uint32_t op = s->first; op<s->end; op = w->end> op ? w->end : op + 1) {
		if (window_find(w, op, true) && put_dots(w))
			continue;
		if (!window_find(w, op, false))
			continue;
		struct tiles *t = tiles_find(w);
		if (pays(w, t))
			put(w, t);
		tiles_free(t);
	}
	window_close(w);
	free(w);
}

/* Copies of uops of a window, and @last behind them. Returns the number of the first; 0 = none. */
static uint32_t put_copies(struct emit *e, const struct detour *d, const struct copies *c,
                           uop_fn last)
{
	const struct handler end = { last, last };
	const uint32_t first = c->n ? e->p->n_uops : 0;
	for (unsigned i = 0; i < c->n; i++) {
		struct uop *u = emit_uop(e, &end);
		*u = e->p->uops[c->uop[i]];
		if (c->uop[i] == d->first) {
			u->full = d->dots ? d->dots->alone : d->chains->alone;
			u->chains = NULL;
		}
	}
	for (uint32_t i = first, n; i < first + c->n; i += n ? n : 1)
		n = fuse_adds(e, i, first + c->n);
	if (c->n)
		emit_uop(e, &end);
	return first;
}

/* Where the copies of a detour begin; 0 = there are none. */
struct placed {
	uint32_t others, careful, later;
};

/* The uops stay where they are from here on. */
static void join_chains(struct program *p, const struct detour *d, const struct placed *at)
{
	d->chains->after = &p->uops[d->end];
	d->chains->others = at->others ? &p->uops[at->others] : NULL;
	if (at->others)
		p->uops[at->others + d->others.n].chains = d->chains;
}

static void join_dots(struct program *p, const struct detour *d, const struct placed *at)
{
	struct dots *c = d->dots;
	c->after = &p->uops[at->later ? at->later : d->end];
	c->careful = at->careful ? &p->uops[at->careful] : NULL;
	c->others = at->others ? &p->uops[at->others] : NULL;
	if (at->others)
		p->uops[at->others + d->others.n].dots = c;
	if (at->careful)
		p->uops[at->careful + d->careful.n].x.to = c->after;
	if (at->later)
		p->uops[at->later + d->later.n].x.to = &p->uops[d->end];
}

void fuse_chains_finish(struct emit *e)
{
	const struct fused_handlers *h = e->h->fused;
	struct placed *at = mem_calloc(e->n_detours + 1, sizeof *at);
	for (unsigned k = 0; k < e->n_detours; k++) {
		const struct detour *d = &e->detours[k];
		at[k].others = put_copies(e, d, &d->others, d->dots ? d->dots->sum : h->chains);
		at[k].careful = put_copies(e, d, &d->careful, h->go_on);
		at[k].later = put_copies(e, d, &d->later, h->go_on);
	}
	for (unsigned k = 0; k < e->n_detours; k++) {
		struct detour *d = &e->detours[k];
		(d->dots ? join_dots : join_chains)(e->p, d, &at[k]);
		free(d->others.uop);
		free(d->careful.uop);
		free(d->later.uop);
	}
	free(at);
	e->n_detours = 0;
}

/*
 * Finds a window: loads, FMAs, and other operations that may be done before them; see
 * fuse_chains.c.
 */
#include "emu/codegen/fuse_window.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct reg_def def_of(const struct window *w, int32_t reg)
{
	const struct reg_def none = { .kind = DEF_BEFORE };
	return w->def[reg].round == w->round ? w->def[reg] : none;
}

static void define(struct window *w, int32_t reg, enum def_kind kind, size_t index, uint8_t element)
{
	if (reg >= 0)
		w->def[reg] = (struct reg_def){ w->round, kind, (uint32_t)index, element };
}

uint32_t window_uops_end(const struct window *w, uint32_t op)
{
	return op + 1 < w->segment_end ? w->e->p->op_uop[op + 1] : w->e->p->n_uops;
}

void window_copy(const struct window *w, uint32_t op, struct copies *c)
{
	for (uint32_t u = w->e->p->op_uop[op]; u < window_uops_end(w, op); u++) {
		c->uop = mem_realloc(c->uop, c->n + 1, sizeof *c->uop);
		c->uop[c->n++] = u;
	}
}

struct detour *window_detour(const struct window *w, struct chains *chains, struct dots *dots)
{
	struct emit *e = w->e;
	MEM_ROOM(e->detours, e->n_detours, e->cap_detours, 16);
	struct detour *d = &e->detours[e->n_detours++];
	*d = (struct detour){ .first = e->p->op_uop[w->first],
		                  .end = window_uops_end(w, w->end - 1),
		                  .chains = chains,
		                  .dots = dots };
	for (unsigned k = 0; k < w->n_others; k++)
		window_copy(w, w->other[k], &d->others);
	return d;
}

static uint32_t uop_count(const struct window *w, uint32_t op)
{
	return window_uops_end(w, op) - w->e->p->op_uop[op];
}

/* Is @reg needed behind operation @op? */
static bool live_after(const struct window *w, uint32_t op, int32_t reg)
{
	const struct image *im = w->e->im;
	if (w->last_read[reg] <= op + 1 && !bits_get(bits_row(&im->live.out, w->block), (unsigned)reg))
		return false;
	return flow_live_after(&im->ir, &im->live, w->block, op, reg);
}

/* --- loads --- */

static bool half_layout(const struct emit *e, const struct memop *m, struct factor *f)
{
	const struct pattern *p = &e->p->forms.patterns[m->addr.pattern_index];
	bool row = m->vec == 1, one = true;
	for (int i = 0; i < 32; i++) {
		const int64_t from_first = p->lane[i] - p->lane[i & 16];
		row &= from_first == 4 * (i & 15);
		one &= from_first == 0;
	}
	f->row = row;
	f->half[0] = m->addr.offset + p->lane[0];
	f->half[1] = m->addr.offset + p->lane[16];
	return row || one;
}

/* The number of the base of @m in the window; 0 = there are too many. */
static uint8_t base_for(struct window *w, const struct memop *m)
{
	unsigned k = 1;
	const unsigned most = w->global ? WINDOW_BASES : CHAIN_BASES;
	while (k < most && k < w->n_bases &&
	       (w->base[k].slot != m->addr.slot || w->base[k].wide != m->addr.wide))
		k++;
	if (k == most)
		return 0;
	struct chain_base *b = &w->base[k];
	if (k == w->n_bases) {
		const struct xsrc *s = &m->x->s[0];
		*b = (struct chain_base){ .slot = m->addr.slot, .wide = m->addr.wide };
		w->base_reg[k] = s->kind == S_REG ? s->reg : -1;
		w->n_bases++;
	}
	const int64_t end = m->low + (int64_t)m->span;
	b->align |= m->align_mask;
	b->min = m->low < b->min ? m->low : b->min;
	b->max = end > b->max ? end : b->max;
	return (uint8_t)k;
}

/* Do the results of @x spare the sums and the bases? */
static bool may_define(const struct window *w, const struct xop *x)
{
	for (unsigned i = 0; i < x->n_d; i++) {
		if (x->d[i] < 0)
			continue;
		if (def_of(w, x->d[i]).kind == DEF_SUM)
			return false;
		for (unsigned b = 1; b < w->n_bases; b++)
			if (w->base_reg[b] == x->d[i])
				return false;
	}
	return true;
}

/* Is its address known when it is to be looked at: in shared memory before the window, else when
 * its other operations are done? */
static bool address_known(const struct window *w, const struct load *l)
{
	const struct xsrc *s = &l->m->x->s[0];
	const enum def_kind kind = s->kind == S_REG ? def_of(w, s->reg).kind : DEF_BEFORE;
	return kind == DEF_BEFORE || (w->global && kind == DEF_OTHER);
}

/* Is it a load that FMAs may do themselves? */
static bool take_load(struct window *w, uint32_t op)
{
	const struct xop *x = &w->e->im->ir.ops[op];
	struct load l = { .op = op };
	if (x->kind != X_LD || x->space != (w->global ? SPACE_GLOBAL : SPACE_SHARED) || x->bytes != 4 ||
	    x->guard >= 0 || x->strong || x->matrix)
		return false;
	l.m = &w->e->p->mem[x->mem];
	/* one uop, with what watches it */
	if (!l.m->full_probe || uop_count(w, op) != 1 + (w->e->p->kind == PROGRAM_CHECKED) ||
	    l.m->low % l.m->access || !half_layout(w->e, l.m, &l.at))
		return false;
	if (!address_known(w, &l))
		return false;
	l.at.base = base_for(w, l.m);
	if (!l.at.base || !may_define(w, x))
		return false;
	for (unsigned i = 0; i < x->n_d; i++)
		define(w, x->d[i], DEF_LOAD, w->n_loads, (uint8_t)i);
	w->load[w->n_loads++] = l;
	return true;
}

/* --- FMAs --- */

/* Which source of an FMA of 32 lanes, all of it one uop, is a scalar; false: it is none. */
static bool is_fma(const struct window *w, const struct uop *u, unsigned *scalar)
{
	const struct handler *h = w->e->h->alu->op[E_fma_f32];
	for (*scalar = SCALAR_NONE; *scalar <= SCALAR_B; ++*scalar)
		if (u->full == h[*scalar].full)
			return true;
	return false;
}

static bool find_factor(const struct window *w, const struct xsrc *s, uint32_t slot, bool scalar,
                        struct factor *f)
{
	const struct reg_def d =
		s->kind == S_REG ? def_of(w, s->reg) : (struct reg_def){ .kind = DEF_BEFORE };
	if (d.kind == DEF_SUM || d.kind == DEF_LATER)
		return false;
	if (d.kind == DEF_LOAD) {
		*f = w->load[d.index].at;
		f->half[0] += 4 * d.element;
		f->half[1] += 4 * d.element;
		return true;
	}
	*f = (struct factor){ .row = !scalar, .half = { slot, slot + (scalar ? 0 : 64) } };
	return true;
}

static void note_read(struct window *w, const struct factor *f, uint32_t op)
{
	if (!f->base)
		w->read[w->n_reads++] = (struct touch){ (uint32_t)f->half[0], op };
}

/* Is it an FMA of a chain, a new one or one that goes on? */
static bool take_fma(struct window *w, uint32_t op)
{
	const struct xop *x = &w->e->im->ir.ops[op];
	const struct uop *u = x->kind == X_OP && x->guard < 0 && uop_count(w, op) == 1
	                          ? &w->e->p->uops[w->e->p->op_uop[op]]
	                          : NULL;
	struct fma f = { .op = op };
	unsigned scalar;
	if (!u || x->op != E_fma_f32 || !is_fma(w, u, &scalar))
		return false;
	if (!find_factor(w, &x->s[0], u->a, scalar == SCALAR_A, &f.factor[0]) ||
	    !find_factor(w, &x->s[1], u->b, scalar == SCALAR_B, &f.factor[1]))
		return false;
	if (!f.factor[0].row) {
		const struct factor one = f.factor[0];
		f.factor[0] = f.factor[1];
		f.factor[1] = one;
	}
	if (!f.factor[0].row)
		return false;
	const struct reg_def acc =
		x->s[2].kind == S_REG ? def_of(w, x->s[2].reg) : (struct reg_def){ .kind = DEF_BEFORE };
	if (acc.kind == DEF_LOAD || acc.kind == DEF_LATER)
		return false;
	if (w->global && (w->n_fmas == DOT_STEPS || (acc.kind != DEF_SUM && w->n_sums)))
		return false;
	const bool same = x->s[2].kind == S_REG && x->s[2].reg == x->d[0];
	if (!same && !may_define(w, x))
		return false;
	if (acc.kind == DEF_SUM) {
		if (!same && live_after(w, op, x->s[2].reg))
			return false;
		f.chain = acc.index;
		define(w, x->s[2].reg, DEF_OTHER, 0, 0);
	} else {
		f.chain = w->n_sums;
		w->sum[w->n_sums++] = (struct sum){ .acc = u->c };
		w->read[w->n_reads++] = (struct touch){ u->c, op };
	}
	struct sum *s = &w->sum[f.chain];
	s->d = u->d;
	s->last = op;
	s->n++;
	note_read(w, &f.factor[0], op);
	note_read(w, &f.factor[1], op);
	define(w, x->d[0], DEF_SUM, f.chain, 0);
	w->fma[w->n_fmas++] = f;
	return true;
}

/* --- other operations --- */

/* Does it no more than write registers, whatever runs before it or behind it? */
static bool plain(const struct window *w, uint32_t op)
{
	const struct emit *e = w->e;
	const struct xop *x = &e->im->ir.ops[op];
	const struct control_handlers *c = e->h->control;
	if (x->guard >= 0 || (x->kind == X_LD && x->strong) ||
	    (x->kind != X_OP && x->kind != X_SEL && x->kind != X_LD && x->kind != X_CMP &&
	     x->kind != X_PRED && (x->kind != X_NOP || x->op == NOP_RESTS)))
		return false;
	for (uint32_t k = e->p->op_uop[op]; k < window_uops_end(w, op); k++) {
		const uop_fn f = e->p->uops[k].full;
		if (f == c->check_s32.full || f == c->check_u32.full || f == c->check_positive.full ||
		    f == c->divisor.full)
			return false;
	}
	return true;
}

/* An address moves on that loads of global memory still need: may @x, and what follows it, wait for
 * the chains? Scalars share their slots with nothing. */
static bool may_wait(const struct window *w, const struct xop *x, const int32_t *reads, unsigned n)
{
	const struct affine *form = w->e->p->forms.reg;
	bool scalars = w->global;
	for (unsigned i = 0; i < n; i++)
		scalars &= form[reads[i]].cls == AFFINE_SCALAR;
	for (unsigned i = 0; i < x->n_d; i++)
		scalars &= x->d[i] < 0 ||
		           (form[x->d[i]].cls == AFFINE_SCALAR && def_of(w, x->d[i]).kind != DEF_SUM);
	return scalars;
}

static bool take_other(struct window *w, uint32_t op)
{
	const struct xop *x = &w->e->im->ir.ops[op];
	int32_t reads[X_MAX_VEC + 4];
	const unsigned n = xop_reads(x, reads);
	if (!plain(w, op))
		return false;
	const bool waits = w->n_later || !may_define(w, x);
	if (waits && !may_wait(w, x, reads, n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (def_of(w, reads[i]).kind == DEF_SUM)
			return false;
	for (unsigned i = 0; i < n; i++) {
		const struct reg_def d = def_of(w, reads[i]);
		if (d.kind == DEF_LOAD)
			w->load[d.index].kept = true;
	}
	for (unsigned i = 0; i < x->n_d; i++)
		define(w, x->d[i], waits ? DEF_LATER : DEF_OTHER, 0, 0);
	if (waits)
		w->later[w->n_later++] = op;
	else
		w->other[w->n_others++] = op;
	return true;
}

/* --- the window --- */

/* Takes operations from the first on, at most up to @limit. */
static void fill(struct window *w, uint32_t limit)
{
	w->round++;
	w->n_loads = w->n_fmas = w->n_sums = w->n_reads = w->n_others = w->n_later = 0;
	w->n_bases = 1;
	uint32_t op = w->first;
	while (op < limit && op - w->first < WINDOW_OPS &&
	       (take_load(w, op) || take_fma(w, op) || take_other(w, op)))
		op++;
	w->end = op;
}

/* Loads whose results are needed behind the window are done. */
static void keep_loads(struct window *w)
{
	for (unsigned k = 0; k < w->n_loads; k++) {
		struct load *l = &w->load[k];
		const struct xop *x = l->m->x;
		for (unsigned i = 0; i < x->n_d && !l->kept; i++) {
			const struct reg_def d = x->d[i] < 0 ? (struct reg_def){ 0 } : def_of(w, x->d[i]);
			l->kept = d.kind == DEF_LOAD && d.index == k && live_after(w, w->end - 1, x->d[i]);
		}
		if (l->kept && w->n_later && l->op > w->later[0])
			w->later[w->n_later++] = l->op;
		else if (l->kept)
			w->other[w->n_others++] = l->op;
	}
}

static void note_first(const struct window *w, uint32_t slot, uint32_t op)
{
	uint32_t *first = &w->first_read[slot / 8];
	*first = op < *first ? op : *first;
}

/* What @op writes is not changed behind its place. */
static void note_written(const struct window *w, uint32_t op)
{
	const struct xop *x = &w->e->im->ir.ops[op];
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			note_first(w, w->e->p->reg_slot[x->d[i]], op);
}

/* Loads and FMAs may have to be done one by one behind the others. */
static void note_careful(const struct window *w)
{
	for (unsigned k = 0; k < w->n_loads; k++)
		if (!w->load[k].kept)
			note_written(w, w->load[k].op);
	for (unsigned k = 0; k < w->n_fmas; k++)
		note_written(w, w->fma[k].op);
}

/* Up to where the window holds: what chains read and write is not changed behind their place. */
static uint32_t holds_until(const struct window *w)
{
	uint32_t until = w->end;
	memset(w->first_read, 0xff, w->n_slots * sizeof *w->first_read);
	if (w->global)
		note_careful(w);
	for (unsigned k = 0; k < w->n_reads; k++)
		note_first(w, w->read[k].slot, w->read[k].op);
	for (unsigned k = 0; k < w->n_sums; k++)
		note_first(w, w->sum[k].d, w->sum[k].last);
	for (unsigned k = 0; k < w->n_others; k++) {
		const uint32_t op = w->other[k];
		const struct xop *x = &w->e->im->ir.ops[op];
		for (unsigned i = 0; i < x->n_d; i++) {
			const uint32_t slot = x->d[i] < 0 || !w->e->im->ir.regs[x->d[i]].bytes
			                          ? UINT32_MAX
			                          : w->e->p->reg_slot[x->d[i]];
			if (slot != UINT32_MAX && w->first_read[slot / 8] < op)
				until = op < until ? op : until;
		}
	}
	return until;
}

/* Chains are done one behind the other: none may write what a later one reads, or another writes.
 */
static bool chains_agree(const struct window *w)
{
	for (unsigned k = 0; k < w->n_sums; k++)
		for (unsigned i = k + 1; i < w->n_sums; i++)
			if (w->sum[k].d == w->sum[i].d || w->sum[k].d == w->sum[i].acc)
				return false;
	for (unsigned f = 0; f < w->n_fmas; f++)
		for (unsigned i = 0; i < 2; i++)
			for (unsigned k = 0; k < w->fma[f].chain; k++)
				if (!w->fma[f].factor[i].base &&
				    w->sum[k].d == (uint32_t)w->fma[f].factor[i].half[0])
					return false;
	return true;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static bool longest(struct window *w)
{
	uint32_t limit = w->segment_end;
	for (unsigned tries = 0; tries < 8; tries++) {
		fill(w, limit);
		if (w->n_fmas < LEAST_FMAS)
			return false;
		keep_loads(w);
		limit = holds_until(w);
		if (limit == w->end) {
			qsort(w->other, w->n_others, sizeof *w->other, ascending);
			qsort(w->later, w->n_later, sizeof *w->later, ascending);
			return chains_agree(w);
		}
	}
	return false;
}

bool window_find(struct window *w, uint32_t first, bool global)
{
	w->first = first;
	w->global = global;
	fill(w, first + 1);
	if (w->n_loads || w->n_fmas) /* a window begins with one of them */
		return longest(w);
	w->end = first + 1;
	return false;
}

static void find_last_reads(struct window *w)
{
	const struct ir *ir = &w->e->im->ir;
	const struct xblock *b = &ir->blocks[w->block];
	for (uint32_t o = b->first; o < b->end; o++) {
		int32_t reads[X_MAX_VEC + 4];
		const unsigned n = xop_reads(&ir->ops[o], reads);
		for (unsigned i = 0; i < n; i++)
			w->last_read[reads[i]] = o + 1;
	}
}

void window_open(struct window *w, struct emit *e, const struct segment *s)
{
	const struct ir *ir = &e->im->ir;
	w->e = e;
	w->block = s->block;
	w->segment_end = s->end;
	w->round = 0;
	w->def = mem_calloc(ir->n_regs, sizeof *w->def);
	w->last_read = mem_calloc(ir->n_regs, sizeof *w->last_read);
	w->n_slots = e->im->frame_bytes / 8 + 1;
	w->first_read = mem_calloc(w->n_slots, sizeof *w->first_read);
	find_last_reads(w);
}

void window_close(struct window *w)
{
	free(w->def);
	free(w->last_read);
	free(w->first_read);
}

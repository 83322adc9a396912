/*
 * A sum of products of global memory, as the inner loop of a product of matrices without tiles has
 * it once it is unrolled: rows by addresses that move on, words by one address.
 *
 * The window is found as one of chains (fuse_chains.c). Its other uops come first, since they work
 * the addresses out. Where one moves an address on that a load still needs, it and those behind it
 * come later, behind the sum. Loads and FMAs are copied, too, for when one has to be looked at more
 * closely.
 */
#include "emu/codegen/fuse_window.h"

#include "base/mem.h"

/* What is read to make factor @f of the sum. */
static const struct load *load_of(const struct window *w, const struct fma *f, unsigned factor)
{
	const struct xsrc *s = w->e->im->ir.ops[f->op].s;
	const struct factor *want = &f->factor[factor];
	for (unsigned k = w->n_loads; k--;) {
		const struct load *l = &w->load[k];
		for (unsigned i = 0; i < 2 && l->op < f->op; i++)
			if (s[i].kind == S_REG && l->m->x->d[0] == s[i].reg && l->at.base == want->base &&
			    l->at.row == want->row && l->at.half[0] == want->half[0])
				return l;
	}
	return NULL;
}

static bool of_one_kind(const struct load *a, const struct load *b)
{
	return a->m->usual == b->m->usual && a->at.row == b->at.row &&
	       a->at.half[1] - a->at.half[0] == b->at.half[1] - b->at.half[0];
}

static bool is_among(const struct load **all, unsigned n, const struct load *one)
{
	bool among = false;
	for (unsigned k = 0; k < n; k++)
		among |= all[k] == one;
	return among;
}

/* Rows and words of all products, each row for one, the words by one address. */
static bool find_loads(const struct window *w, const struct load **row, const struct load **word)
{
	unsigned rows = 0;
	for (unsigned k = 0; k < w->n_loads; k++)
		rows += w->load[k].at.row;
	if (!w->n_fmas || rows != w->n_fmas)
		return false;
	for (unsigned k = 0; k < w->n_fmas; k++) {
		const struct fma *f = &w->fma[k];
		if (!f->factor[0].base || !f->factor[1].base || f->factor[1].row)
			return false;
		row[k] = load_of(w, f, 0);
		word[k] = load_of(w, f, 1);
		if (!row[k] || !word[k] || !of_one_kind(row[k], row[0]) || !of_one_kind(word[k], word[0]) ||
		    is_among(row, k, row[k]) || row[k]->m->vec != 1 || word[k]->m->vec != 1 ||
		    word[k]->at.base != word[0]->at.base)
			return false;
	}
	/* of a row of 64 bytes no second line is looked at */
	return row[0]->m->usual >= 63 && row[0]->at.half[1] >= row[0]->at.half[0] &&
	       word[0]->at.half[1] >= word[0]->at.half[0];
}

/* From the lowest word to the highest; false: they are more than a line apart. */
static bool measure_words(const struct window *w, const struct load **word, struct dots *c)
{
	int64_t high = word[0]->at.half[0];
	c->word.low = high;
	for (unsigned k = 0; k < w->n_fmas; k++) {
		const int64_t at = word[k]->at.half[0];
		c->word.low = at < c->word.low ? at : c->word.low;
		high = at > high ? at : high;
	}
	c->word.reach = (uint32_t)(high - c->word.low);
	return high - c->word.low <= 124;
}

static void put_steps(const struct window *w, const struct load **row, const struct load **word,
                      struct dots *c)
{
	struct dot_step *step = image_pool(w->e->im, w->n_fmas * sizeof *step);
	for (unsigned k = 0; k < w->n_fmas; k++)
		step[k] = (struct dot_step){ .slot = row[k]->m->addr.slot,
			                         .id = row[k]->m->id,
			                         .low = row[k]->m->low,
			                         .word = (uint32_t)(word[k]->at.half[0] - c->word.low) };
	c->step = step;
	c->n = w->n_fmas;
}

/* Loads that something else needs are done before or later, as they stand. */
static void put_loads(const struct window *w, struct dots *c)
{
	struct dot_load *load = image_pool(w->e->im, w->n_loads * sizeof *load);
	for (unsigned k = 0; k < w->n_loads; k++) {
		const struct memop *m = w->load[k].m;
		if (!w->load[k].kept)
			load[c->n_loads++] =
				(struct dot_load){ m->addr.slot, m->id, !w->load[k].at.row, m->low };
	}
	c->load = load;
}

/* Loads and FMAs in their order. */
static void copy_careful(const struct window *w, struct detour *d)
{
	for (unsigned load = 0, fma = 0; load < w->n_loads || fma < w->n_fmas;) {
		const bool first =
			load < w->n_loads && (fma == w->n_fmas || w->load[load].op < w->fma[fma].op);
		const uint32_t op = first ? w->load[load].op : w->fma[fma].op;
		if (!first || !w->load[load].kept)
			window_copy(w, op, &d->careful);
		first ? load++ : fma++;
	}
}

static bool any_kept(const struct window *w)
{
	bool any = false;
	for (unsigned k = 0; k < w->n_loads; k++)
		any |= w->load[k].kept;
	return any;
}

bool put_dots(const struct window *w)
{
	struct emit *e = w->e;
	const struct fused_handlers *h = e->h->fused;
	const struct load *row[DOT_STEPS], *word[DOT_STEPS];
	struct dots c = { .n = 0 };
	if (e->p->kind == PROGRAM_CHECKED || w->n_sums != 1 || any_kept(w) ||
	    !find_loads(w, row, word) || !measure_words(w, word, &c))
		return false;
	struct uop *first = &e->p->uops[e->p->op_uop[w->first]];
	struct dots *all = image_pool(e->im, sizeof *all);
	c.alone = first->full;
	c.acc = w->sum[0].acc;
	c.d = w->sum[0].d;
	c.half = row[0]->at.half[1] - row[0]->at.half[0];
	c.usual = row[0]->m->usual;
	c.word.slot = word[0]->m->addr.slot;
	c.word.askew = word[0]->m->usual > 3;
	c.word.half = word[0]->at.half[1] - word[0]->at.half[0];
	c.word.number = e->im->n_dots++;
	c.sum = c.half == 64 && c.usual == 127 && !c.word.half ? h->dots : h->dots_halves;
	put_steps(w, row, word, &c);
	put_loads(w, &c);
	*all = c;
	struct detour *d = window_detour(w, NULL, all);
	for (unsigned k = 0; k < w->n_later; k++)
		window_copy(w, w->later[k], &d->later);
	if (d->others.n)
		copy_careful(w, d);
	first->full = d->others.n ? h->dots_first : c.sum;
	first->dots = all;
	return true;
}

/*
 * Finds two loads and the FMA that uses them, or several FMAs, next to each other, and lets the
 * first uop do it all.
 *
 * Only the full-warp handler of the first uop changes; the others stay, for other masks and for
 * accesses that need a closer look. What the loads give must not be needed afterwards.
 */
#include "emu/codegen/emit.h"

#include <assert.h>

struct triple {
	const struct memop *lanes, *word;
	bool global;
	const struct xop *fma;
	int32_t acc; /* register added to */
};

/* The load of 32-bit words that @u does, if its half warps read rows or single words. */
static const struct memop *load_of(const struct emit *e, const struct uop *u)
{
	const struct xop *x = &e->im->ir.ops[u->xop];
	if (x->kind != X_LD || x->bytes != 4)
		return NULL;
	const struct memop *m = &e->p->mem[x->mem];
	return m->full_probe && m->half_layout != HALF_OTHER ? m : NULL;
}

static bool is_reg(const struct xsrc *s, int32_t reg)
{
	return s->kind == S_REG && s->reg == reg;
}

/* The three uops from @u on, if they are a triple. */
static bool match_triple(const struct emit *e, const struct uop *u, uint32_t block,
                         struct triple *t)
{
	const struct ir *ir = &e->im->ir;
	if (u[0].xop + 1 != u[1].xop || u[0].xop + 2 != u[2].xop)
		return false;
	t->lanes = load_of(e, &u[0]);
	t->word = load_of(e, &u[1]);
	if (!t->lanes || !t->word)
		return false;
	if (t->lanes->half_layout != HALF_UNIT) {
		const struct memop *m = t->lanes;
		t->lanes = t->word;
		t->word = m;
	}
	if (t->lanes->half_layout != HALF_UNIT || t->word->half_layout != HALF_SPLAT)
		return false;
	t->global = t->lanes->x->space == SPACE_GLOBAL;
	if (t->global != (t->word->x->space == SPACE_GLOBAL))
		return false;
	const struct xop *x = &ir->ops[u[2].xop];
	if (x->kind != X_OP || x->op != E_fma_f32 || x->guard >= 0)
		return false;
	const int32_t v = t->lanes->x->d[0], s = t->word->x->d[0];
	if (v == s || (!(is_reg(&x->s[0], v) && is_reg(&x->s[1], s)) &&
	               !(is_reg(&x->s[0], s) && is_reg(&x->s[1], v))))
		return false;
	if (x->s[2].kind != S_REG || is_reg(&x->s[2], v) || is_reg(&x->s[2], s) ||
	    e->p->forms.reg[x->s[2].reg].cls != AFFINE_LANES)
		return false;
	if ((x->d[0] != v && flow_live_after(&e->im->ir, &e->im->live, block, u[2].xop, v)) ||
	    (x->d[0] != s && flow_live_after(&e->im->ir, &e->im->live, block, u[2].xop, s)))
		return false;
	t->fma = x;
	t->acc = x->s[2].reg;
	return true;
}

static bool same_base(const struct memop *a, const struct memop *b)
{
	return a->addr.slot == b->addr.slot && a->addr.wide == b->addr.wide &&
	       a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

/* Does @next go on where @t ends: same two addresses, the sum needed nowhere else? */
static bool continues_triple(const struct emit *e, const struct triple *t,
                             const struct triple *next, uint32_t block, uint32_t next_fma)
{
	const int32_t sum = t->fma->d[0];
	return !t->global && !next->global && next->acc == sum && same_base(t->lanes, next->lanes) &&
	       same_base(t->word, next->word) &&
	       (next->fma->d[0] == sum ||
	        !flow_live_after(&e->im->ir, &e->im->live, block, next_fma, sum));
}

static struct fused_load load_part(const struct memop *m)
{
	return (struct fused_load){
		.slot = m->addr.slot,
		.id = m->id,
		.wide = m->addr.wide,
		.one_line = m->lines_full == 1,
		.half = { m->half[0], m->half[1] },
		.usual = m->usual,
		.min = INT64_MAX,
		.max = INT64_MIN,
	};
}

static void widen_load(struct fused_load *l, const struct memop *m)
{
	const int64_t end = m->low + (int64_t)m->span;
	l->min = m->low < l->min ? m->low : l->min;
	l->max = end > l->max ? end : l->max;
}

static uop_fn handler_for(const struct emit *e, const struct triple *t)
{
	const struct fused_handlers *h = e->h->fused;
	if (!t->global)
		return h->dot_shared;
	if (t->lanes->half[0] || t->word->half[0])
		return NULL; /* the upper half warp lies lower: rare */
	const bool row = t->lanes->half[1] == 64 && t->word->half[1] == 0;
	return row ? h->dot_global : h->dot_global_halves;
}

/* A chain that begins at uop @first; returns how many uops it covers, 0 = none. */
static uint32_t fuse_from(struct emit *e, uint32_t first, uint32_t end, uint32_t block)
{
	struct uop *u = e->p->uops;
	struct triple head, last, next;
	if (first + 3 > end || !match_triple(e, &u[first], block, &head))
		return 0;
	const uop_fn fn = handler_for(e, &head);
	if (!fn)
		return 0;
	uint32_t n = 1;
	last = head;
	while (first + 3 * (n + 1) <= end && match_triple(e, &u[first + 3 * n], block, &next) &&
	       continues_triple(e, &last, &next, block, u[first + 3 * n + 2].xop)) {
		last = next;
		n++;
	}
	struct fused *f = image_pool(e->im, sizeof *f);
	struct fused_step *steps = image_pool(e->im, n * sizeof *steps);
	*f = (struct fused){
		.alone = u[first].full,
		.n = n,
		.uops = 3 * n,
		.acc = e->p->reg_slot[head.acc],
		.d = e->p->reg_slot[last.fma->d[0]],
		.lanes = load_part(head.lanes),
		.word = load_part(head.word),
		.step = steps,
	};
	int64_t odd = 0;
	for (uint32_t i = 0; i < n; i++) {
		const bool again = match_triple(e, &u[first + 3 * i], block, &next);
		assert(again); /* it did when they were counted */
		steps[i] = (struct fused_step){ next.lanes->low, next.word->low };
		widen_load(&f->lanes, next.lanes);
		widen_load(&f->word, next.word);
		odd |= next.lanes->low | next.word->low;
	}
	if (!head.global && (odd & 3))
		return 0;
	u[first].fused = f;
	u[first].full = fn;
	return 3 * n;
}

/* Does @u need what the uop before gave? */
static bool reads_last(const struct uop *u)
{
	return u->a == u[-1].d || u->b == u[-1].d || u->c == u[-1].d;
}

/* A run of FMAs on 32 lanes each; returns how many uops it covers, 0 = none. */
static uint32_t fuse_run(struct emit *e, uint32_t first, uint32_t end)
{
	struct uop *u = e->p->uops;
	const uop_fn single = e->h->alu->op[E_fma_f32][SCALAR_NONE].full;
	uint32_t n = 0, waits = 0;
	for (; first + n < end && u[first + n].full == single; n++)
		waits += n && reads_last(&u[first + n]);
	if (n < 2 || 2 * waits >= n || !e->h->fused->fma_run)
		return 0; /* what one after the other waits for is handed on (forward.c) */
	struct fused *f = image_pool(e->im, sizeof *f);
	struct fused_fma *fma = image_pool(e->im, n * sizeof *fma);
	for (uint32_t i = 0; i < n; i++) {
		const struct uop *x = &u[first + i];
		fma[i] =
			(struct fused_fma){ x->a, x->b, x->c, x->d, i && x->a == x[-1].a && x->a != x[-1].d };
	}
	*f = (struct fused){ .alone = single, .n = n, .uops = n, .fma = fma };
	u[first].fused = f;
	u[first].full = e->h->fused->fma_run;
	return n;
}

void fuse_segment(struct emit *e, const struct segment *s, uint32_t first, uint32_t end)
{
	unsigned next = e->n_detours;
	uint32_t single = first; /* uops from here on stand for themselves */
	fuse_chains(e, s);
	while (first < end) {
		const struct detour *d = next < e->n_detours ? &e->detours[next] : NULL;
		const bool window = d && d->first == first;
		const uint32_t until = d ? d->first : end;
		uint32_t covered = window ? d->end - first : fuse_from(e, first, until, s->block);
		if (!covered)
			covered = fuse_run(e, first, until);
		if (!covered)
			covered = fuse_adds(e, first, until);
		next += window;
		if (covered) {
			forward_results(e, s->block, single, first);
			single = first + covered;
		}
		first += covered ? covered : 1;
	}
	forward_results(e, s->block, single, end);
}

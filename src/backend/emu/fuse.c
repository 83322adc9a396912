/*
 * Finds loads and the FMA that uses them, next to each other, and lets the first uop do all three.
 *
 * Only the full-warp handler of the first uop changes; the others stay, for other masks and for
 * accesses that need a closer look. What the loads give must not be needed afterwards.
 */
#include "backend/emu/emit.h"

#include "base/mem.h"

#include <string.h>

struct triple {
	const struct memop *lanes, *scalar;
	enum mem_place place;
	const struct xop *fma;
	int32_t acc;            /* register added to */
};

/* Is @reg read before it is written again, after operation @op of @block? */
static bool live_after(const struct image *im, uint32_t block, uint32_t op, int32_t reg)
{
	const struct ir *ir = &im->ir;
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
	return bits_get(bits_row(&im->live.out, block), (unsigned)reg);
}

static const struct memop *load_by(const struct emit *e, const struct uop *u,
                                   const struct handler *const by[MEM_PLACES], enum mem_place *place)
{
	const struct xop *x = &e->im->ir.ops[u->xop];
	if (x->kind != X_LD)
		return NULL;
	for (unsigned i = 0; i < MEM_PLACES; i++)
		if (u->full == by[i]->full) {
			*place = (enum mem_place)i;
			return &e->p->mem[x->mem];
		}
	return NULL;
}

static bool is_reg(const struct xsrc *s, int32_t reg)
{
	return s->kind == S_REG && s->reg == reg;
}

/* The three uops from @u on, if they are a triple. */
static bool match(const struct emit *e, const struct uop *u, uint32_t block, struct triple *t)
{
	const struct mem_handlers *h = e->h->mem;
	const struct handler *const unit[] = { &h->ld_unit[0], &h->ld_unit[1], &h->ld_unit[2] };
	const struct handler *const uni[] = { &h->ld_uniform[0][2], &h->ld_uniform[1][2],
		                              &h->ld_uniform[2][2] };
	const struct ir *ir = &e->im->ir;
	if (u[0].xop + 1 != u[1].xop || u[0].xop + 2 != u[2].xop)
		return false;
	enum mem_place p0 = AT_GLOBAL, p1 = AT_GLOBAL;
	t->lanes = load_by(e, &u[0], unit, &p0);
	t->scalar = load_by(e, &u[1], uni, &p1);
	if (!t->lanes || !t->scalar) {
		t->scalar = load_by(e, &u[0], uni, &p0);
		t->lanes = load_by(e, &u[1], unit, &p1);
	}
	if (!t->lanes || !t->scalar || (p0 == AT_GLOBAL) != (p1 == AT_GLOBAL))
		return false;
	t->place = p0;
	const struct xop *x = &ir->ops[u[2].xop];
	const struct handler *fma = e->h->alu->op[E_fma_f32];
	if (x->kind != X_OP || x->op != E_fma_f32 || x->guard >= 0 ||
	    (u[2].full != fma[SCALAR_A].full && u[2].full != fma[SCALAR_B].full))
		return false;
	const int32_t v = t->lanes->x->d[0], s = t->scalar->x->d[0];
	if (!(is_reg(&x->s[0], v) && is_reg(&x->s[1], s)) &&
	    !(is_reg(&x->s[0], s) && is_reg(&x->s[1], v)))
		return false;
	if (x->s[2].kind != S_REG || is_reg(&x->s[2], v) ||
	    e->p->shapes.reg[x->s[2].reg].cls != SHAPE_LANES)
		return false;
	if ((x->d[0] != v && live_after(e->im, block, u[2].xop, v)) ||
	    live_after(e->im, block, u[2].xop, s))
		return false;
	t->fma = x;
	t->acc = x->s[2].reg;
	return true;
}

/* Does @next go on where @t ends: same two addresses, the sum needed nowhere else? */
static bool continues(const struct emit *e, const struct triple *t, const struct triple *next,
                      uint32_t block, uint32_t next_fma)
{
	const int32_t sum = t->fma->d[0];
	return next->place == t->place && t->place != AT_GLOBAL && next->acc == sum &&
	       next->lanes->addr.slot == t->lanes->addr.slot &&
	       next->scalar->addr.slot == t->scalar->addr.slot &&
	       next->lanes->addr.wide == t->lanes->addr.wide &&
	       next->scalar->addr.wide == t->scalar->addr.wide &&
	       (next->fma->d[0] == sum || !live_after(e->im, block, next_fma, sum));
}

static void set_bounds(struct fused *f)
{
	f->lanes_min = f->lanes_max = f->step[0].lanes;
	f->scalar_min = f->scalar_max = f->step[0].scalar;
	for (uint32_t i = 1; i < f->n; i++) {
		const struct fused_step *s = &f->step[i];
		f->lanes_min = s->lanes < f->lanes_min ? s->lanes : f->lanes_min;
		f->lanes_max = s->lanes > f->lanes_max ? s->lanes : f->lanes_max;
		f->scalar_min = s->scalar < f->scalar_min ? s->scalar : f->scalar_min;
		f->scalar_max = s->scalar > f->scalar_max ? s->scalar : f->scalar_max;
	}
}

/* A chain that begins at uop @first; returns how many uops it covers, 0 = none. */
static uint32_t fuse_from(struct emit *e, uint32_t first, uint32_t end, uint32_t block)
{
	struct uop *u = e->p->uops;
	struct triple head, last, next;
	if (first + 3 > end || !match(e, &u[first], block, &head))
		return 0;
	const uop_fn fn = e->h->fused->dot[head.place];
	if (!fn)
		return 0;
	uint32_t n = 1;
	last = head;
	while (first + 3 * (n + 1) <= end && match(e, &u[first + 3 * n], block, &next) &&
	       continues(e, &last, &next, block, u[first + 3 * n + 2].xop)) {
		last = next;
		n++;
	}
	struct fused *f = image_pool(e->im, sizeof *f);
	struct fused_step *steps = image_pool(e->im, n * sizeof *steps);
	int64_t odd = 0;
	for (uint32_t i = 0; i < n; i++) {
		match(e, &u[first + 3 * i], block, &next);
		steps[i] = (struct fused_step){ next.lanes->low, next.scalar->low };
		odd |= next.lanes->low | next.scalar->low;
	}
	if (head.place != AT_GLOBAL && (odd & 3))
		return 0;
	*f = (struct fused){
		.alone = u[first].full, .n = n, .uops = 3 * n,
		.lanes_slot = head.lanes->addr.slot, .scalar_slot = head.scalar->addr.slot,
		.acc = e->p->reg_slot[head.acc], .d = e->p->reg_slot[last.fma->d[0]],
		.lanes_id = head.lanes->id, .scalar_id = head.scalar->id,
		.lanes_wide = head.lanes->addr.wide, .scalar_wide = head.scalar->addr.wide,
		.step = steps,
	};
	set_bounds(f);
	u[first].fused = f;
	u[first].full = fn;
	return 3 * n;
}

void fuse_section(struct emit *e, uint32_t first, uint32_t end, uint32_t block)
{
	while (first < end) {
		const uint32_t covered = fuse_from(e, first, end, block);
		first += covered ? covered : 1;
	}
}

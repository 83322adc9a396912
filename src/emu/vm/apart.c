/*
 * Parts of a warp that wait for one another at an instruction of the whole warp: each for the lanes
 * that it names, and when these are there all of them go on, with what they have for one another
 * (exchange.c). Who runs meanwhile is told by parts.c, in machine code by meet.c.
 */
#include "emu/vm/handler.h"

#include <string.h>

/* In the order in which they came, so that all have their turn; those last that wait in a loop. */
static const struct uop *take_opened(struct warp *w, bool asking)
{
	for (uint32_t i = 0; i < w->n_parts; i++) {
		const struct warp_part p = w->part[i];
		if (!p.opened || p.asks != asking)
			continue;
		memmove(&w->part[i], &w->part[i + 1], (--w->n_parts - i) * sizeof *w->part);
		w->mask = p.mask;
		w->rc = p.rc;
		return p.at;
	}
	return NULL;
}

const struct uop *exchange_opened(struct warp *w)
{
	return take_opened(w, false);
}

const struct uop *exchange_asking(struct warp *w)
{
	return take_opened(w, true);
}

static void wait_for(struct warp *w, const struct uop *u, uint32_t mask, uint32_t wanted)
{
	w->part[w->n_parts++] =
		(struct warp_part){ .mask = mask, .wanted = wanted, .rc = w->rc, .at = u };
}

/* Parts that go on at one place go on together. */
void exchange_join(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_parts; i++)
		for (uint32_t k = w->n_parts; --k > i;) {
			struct warp_part *p = &w->part[i], *q = &w->part[k];
			if (!p->opened || !q->opened || p->asks != q->asks || p->at != q->at ||
			    p->rc != q->rc || !(w->given & p->mask) != !(w->given & q->mask))
				continue;
			p->mask |= q->mask;
			memmove(q, q + 1, (--w->n_parts - k) * sizeof *q);
		}
}

/* The parts that wait where part @i does, or at an instruction of that kind; *lanes: theirs. */
uint32_t exchange_alike(const struct warp *w, uint32_t i, uint32_t *lanes)
{
	const struct xop *ops = w->image->ir.ops, *x = &ops[w->part[i].at->xop];
	uint32_t parts = 0;
	*lanes = 0;
	for (uint32_t k = 0; k < w->n_parts; k++) {
		const struct warp_part *p = &w->part[k];
		const struct xop *y = &ops[p->at->xop];
		if (p->opened || p->wanted != w->part[i].wanted || y->kind != x->kind || y->op != x->op)
			continue;
		parts |= 1u << k;
		*lanes |= p->mask;
	}
	return parts;
}

static bool at_one_place(const struct warp *w, uint32_t parts)
{
	const struct warp_part *p = &w->part[__builtin_ctz(parts)];
	for (; parts; parts &= parts - 1) {
		const struct warp_part *q = &w->part[__builtin_ctz(parts)];
		if (q->at != p->at || q->rc != p->rc)
			return false;
	}
	return true;
}

/* They met (@all), or nobody else comes: they go on, with what they have for one another. Where all
 * are at one place they do it there together. */
void exchange_open(struct warp *w, uint32_t parts, bool all)
{
	if (!all || !at_one_place(w, parts))
		exchange_meet(w, parts);
	else
		w->collective &= ~w->part[__builtin_ctz(parts)].wanted;
	for (; parts; parts &= parts - 1) {
		struct warp_part *p = &w->part[__builtin_ctz(parts)];
		p->opened = true;
		p->wanted = 0;
	}
	exchange_join(w);
}

bool exchange_met(struct warp *w)
{
	bool any = false;
	for (uint32_t i = 0; i < w->n_parts; i++) {
		uint32_t lanes, parts;
		if (w->part[i].opened || !w->part[i].wanted)
			continue;
		parts = exchange_alike(w, i, &lanes);
		if (w->part[i].wanted & w->live & ~lanes)
			continue;
		exchange_open(w, parts, true);
		any = true;
		i = UINT32_MAX; /* there may be fewer parts now */
	}
	return any;
}

/* The active lanes come to @u and wait for those that they name; false: none goes on. */
static bool wait_for_named(struct warp *w, const struct uop *u)
{
	const uint32_t others = w->live & ~w->mask;
	uint32_t waiting = 0;
	for (uint32_t left = w->mask; left;) {
		const uint32_t wanted = exchange_members(w, u, (unsigned)__builtin_ctz(left));
		uint32_t same = 0;
		for (uint32_t m = left; m; m &= m - 1)
			same |= exchange_members(w, u, (unsigned)__builtin_ctz(m)) == wanted ? m & -m : 0;
		left &= ~same;
		if (!(wanted & others))
			continue;
		wait_for(w, u, same, wanted);
		waiting |= same;
	}
	w->mask &= ~waiting;
	return w->mask;
}

const struct uop *exchange_come(struct warp *w, const struct uop *u)
{
	if (w->given & w->mask) {
		exchange_take(w, u);
		return u + 1;
	}
	if (must_take_turns(w))
		return deoptimise_here(w, u); /* and comes here again */
	return wait_for_named(w, u) ? u : NULL;
}

/* Wishes of warps to change words; see swap_log.h. */
#include "emu/count/swap_log.h"

#include "base/mem.h"
#include "emu/lane/lane.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define MOST_WISHES 32768
#define ENOUGH_WARPS 1024 /* of fewer, not all wishes are kept */

struct swap_log {
	_Atomic uint64_t lanes;
	_Atomic uint32_t every; /* warps: one of so many is noted, ... */
	_Atomic uint32_t turns; /* ... and of those the first wishes */
	uint64_t warps;
	pthread_mutex_t lock; /* for what follows */
	uint32_t n;
	struct swap_wish *wish;
};

struct swap_log *swap_log_new(uint64_t warps)
{
	struct swap_log *l = mem_zalloc(sizeof *l);
	l->every = 1;
	l->turns = 1u << 31;
	l->warps = warps;
	pthread_mutex_init(&l->lock, NULL);
	l->wish = mem_pages(MOST_WISHES * sizeof *l->wish);
	return l;
}

void swap_log_free(struct swap_log *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l->wish);
	free(l);
}

/* Neighbours are noted or not as chance has it, whatever the blocks' size. */
static bool noted(struct swap_log *l, const struct swap_wish *w)
{
	const uint32_t every = atomic_load_explicit(&l->every, memory_order_relaxed);
	uint64_t x = w->block * 64 + w->warp;
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return w->turn < atomic_load_explicit(&l->turns, memory_order_relaxed) &&
	       (x >> 40) % every == 0;
}

/* Room is made: every second of the warps that were noted is not any more, or of each its later
 * wishes are not. What is left in the end does not depend on who came first. */
static void thin_out(struct swap_log *l)
{
	if (l->warps / l->every > ENOUGH_WARPS || l->turns == 1)
		l->every = 2 * l->every;
	else
		l->turns = l->turns / 2;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < l->n; i++)
		if (noted(l, &l->wish[i]))
			l->wish[kept++] = l->wish[i];
	l->n = kept;
}

void swap_log_add(struct swap_log *l, const struct swap_wish *w)
{
	atomic_fetch_add_explicit(&l->lanes, (uint64_t)lane_popc32(w->mask), memory_order_relaxed);
	if (!noted(l, w))
		return;
	pthread_mutex_lock(&l->lock);
	while (l->n == MOST_WISHES)
		thin_out(l);
	if (noted(l, w))
		l->wish[l->n++] = *w;
	pthread_mutex_unlock(&l->lock);
}

static int in_order(const void *a, const void *b)
{
	const struct swap_wish *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->warp != y->warp)
		return x->warp < y->warp ? -1 : 1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void swap_log_wishes(struct swap_log *l, struct swap_contest *c)
{
	c->wish = l->wish;
	c->n = l->n;
	c->stands_for = l->every;
	c->lanes = (double)l->lanes;
	qsort(l->wish, c->n, sizeof *l->wish, in_order);
}

/* Sparse vector clocks; see race_clock.h. */
#include "emu/check/race_clock.h"

#include "base/mem.h"

#include <stdlib.h>

static struct race_clock *clock_of(uint32_t n)
{
	struct race_clock *c = mem_alloc(sizeof *c + n * sizeof c->e[0]);
	c->refs = 1;
	c->n = n;
	return c;
}

static int by_who(const void *a, const void *b)
{
	const struct race_entry *x = a, *y = b;
	return (x->who > y->who) - (x->who < y->who);
}

struct race_clock *race_clock_new(struct race_entry *e, uint32_t n)
{
	if (!n)
		return NULL;
	qsort(e, n, sizeof *e, by_who);
	struct race_clock *c = clock_of(n);
	for (uint32_t i = 0; i < n; i++)
		c->e[i] = e[i];
	return c;
}

static void drop(struct race_clock *c)
{
	if (c && --c->refs == 0)
		free(c);
}

void race_clock_set(struct race_clock **to, struct race_clock *from)
{
	if (from)
		from->refs++;
	drop(*to);
	*to = from;
}

/* All of @b's entries are in @a, and none is later. */
static bool covers(const struct race_clock *a, const struct race_clock *b)
{
	uint32_t i = 0;
	if (a->n < b->n)
		return false;
	for (uint32_t k = 0; k < b->n; k++) {
		while (i < a->n && a->e[i].who < b->e[k].who)
			i++;
		if (i == a->n || a->e[i].who != b->e[k].who || a->e[i].epoch < b->e[k].epoch)
			return false;
	}
	return true;
}

void race_clock_join(struct race_clock **to, struct race_clock *from)
{
	const struct race_clock *a = *to;
	if (!from || a == from || (a && covers(a, from)))
		return;
	if (!a || covers(from, a)) {
		race_clock_set(to, from);
		return;
	}
	struct race_clock *c = clock_of(a->n + from->n);
	uint32_t i = 0, k = 0, n = 0;
	while (i < a->n || k < from->n) {
		if (k == from->n || (i < a->n && a->e[i].who < from->e[k].who)) {
			c->e[n++] = a->e[i++];
		} else if (i == a->n || from->e[k].who < a->e[i].who) {
			c->e[n++] = from->e[k++];
		} else {
			c->e[n] = a->e[i];
			if (from->e[k].epoch > c->e[n].epoch)
				c->e[n].epoch = from->e[k].epoch;
			n++;
			i++;
			k++;
		}
	}
	c->n = n;
	drop(*to);
	*to = c;
}

uint32_t race_clock_epoch(const struct race_clock *c, uint64_t who)
{
	uint32_t low = 0, high = c ? c->n : 0;
	while (low < high) {
		const uint32_t mid = (low + high) / 2;
		if (c->e[mid].who < who)
			low = mid + 1;
		else
			high = mid;
	}
	return c && low < c->n && c->e[low].who == who ? c->e[low].epoch : 0;
}

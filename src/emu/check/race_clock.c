/* Sparse vector clocks; see race_clock.h. */
#include "emu/check/race_clock.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FAR_ENTRIES 16 /* one by one as many cost as a search among them */

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

/* The first entry that is not before @who. */
static uint32_t first_from(const struct race_clock *c, uint64_t who)
{
	uint32_t low = 0, high = c->n;
	while (low < high) {
		const uint32_t mid = (low + high) / 2;
		if (c->e[mid].who < who)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* All of @b's entries are in @a, and none is later. */
static bool covers(const struct race_clock *a, const struct race_clock *b)
{
	uint32_t i = 0;
	if (a->n < b->n)
		return false;
	const bool far = b->n * FAR_ENTRIES < a->n;
	for (uint32_t k = 0; k < b->n; k++) {
		if (far)
			i = first_from(a, b->e[k].who);
		while (i < a->n && a->e[i].who < b->e[k].who)
			i++;
		if (i == a->n || a->e[i].who != b->e[k].who || a->e[i].epoch < b->e[k].epoch)
			return false;
	}
	return true;
}

/* Joins @b to @a, from the last entry on, where there is room for both behind @a's. */
static void join_in_place(struct race_clock *a, const struct race_clock *b)
{
	uint32_t i = a->n, k = b->n, to = a->n + b->n;
	while (k) {
		const struct race_entry theirs = b->e[k - 1];
		if (i && a->e[i - 1].who > theirs.who) {
			a->e[--to] = a->e[--i];
			continue;
		}
		const bool both = i && a->e[i - 1].who == theirs.who;
		a->e[--to] = theirs;
		if (both && a->e[--i].epoch > theirs.epoch)
			a->e[to].epoch = a->e[i].epoch;
		k--;
	}
	/* a gap is left where both had one */
	const uint32_t n = a->n + b->n - to;
	memmove(a->e + i, a->e + to, n * sizeof *a->e);
	a->n = i + n;
}

void race_clock_join(struct race_clock **to, struct race_clock *from)
{
	struct race_clock *a = *to;
	if (!from || a == from || (a && covers(a, from)))
		return;
	if (!a || covers(from, a)) {
		race_clock_set(to, from);
		return;
	}
	const uint32_t most = a->n + from->n;
	struct race_clock *c;
	if (a->refs == 1) { /* nobody else has it */
		c = mem_realloc(a, 1, sizeof *c + most * sizeof c->e[0]);
	} else {
		c = clock_of(most);
		memcpy(c->e, a->e, a->n * sizeof *a->e);
		c->n = a->n;
		drop(a);
	}
	join_in_place(c, from);
	*to = c;
}

void race_joined_forget(struct race_joined *j)
{
	race_clock_set(&j->before, NULL);
	race_clock_set(&j->with, NULL);
	race_clock_set(&j->after, NULL);
}

void race_clock_join_shared(struct race_joined *j, struct race_clock **to, struct race_clock *from)
{
	if (!*to || !from || *to == from) {
		race_clock_join(to, from);
	} else if (*to == j->before && from == j->with) {
		race_clock_set(to, j->after);
	} else {
		race_clock_set(&j->before, *to);
		race_clock_set(&j->with, from);
		race_clock_join(to, from);
		race_clock_set(&j->after, *to);
	}
}

/* @c without its entries [@first, @behind); NULL = nothing is left. */
static struct race_clock *without(const struct race_clock *c, uint32_t first, uint32_t behind)
{
	const uint32_t left = c->n - (behind - first);
	if (!left)
		return NULL;
	struct race_clock *less = clock_of(left);
	memcpy(less->e, c->e, first * sizeof *c->e);
	memcpy(less->e + first, c->e + behind, (c->n - behind) * sizeof *c->e);
	return less;
}

void race_clocks_forget(struct race_clock **clock, unsigned n, uint64_t from, uint64_t end)
{
	unsigned behind = 0;
	for (unsigned i = 0; i < n; i = behind) { /* most of them are one */
		const struct race_clock *c = clock[i];
		for (behind = i + 1; behind < n && clock[behind] == c;)
			behind++;
		const uint32_t first = c ? first_from(c, from) : 0, last = c ? first_from(c, end) : 0;
		if (first == last)
			continue;
		struct race_clock *less = without(c, first, last);
		for (unsigned k = i; k < behind; k++)
			race_clock_set(&clock[k], less);
		drop(less);
	}
}

uint32_t race_clock_epoch(const struct race_clock *c, uint64_t who)
{
	const uint32_t at = c ? first_from(c, who) : 0;
	return c && at < c->n && c->e[at].who == who ? c->e[at].epoch : 0;
}

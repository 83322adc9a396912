/* Words that warps hand on to each other; see turns.h. */
#include "emu/count/turns.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct turn_log {
	pthread_mutex_t lock; /* for what follows, but n */
	uint64_t accesses;
	_Atomic uint32_t n;
	struct word {
		uint64_t address, room;
		uint32_t version; /* how often it has changed */
		uint64_t turns, own;
		uint32_t asked, ended; /* operations: the first that asks, the last that ends a turn */
	} word[TURN_WORDS];
};

struct turn_log *turn_log_new(void)
{
	struct turn_log *l = mem_zalloc(sizeof *l);
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void turn_log_free(struct turn_log *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Its number, TURN_WORDS = it is not among them. */
static uint32_t find(struct turn_log *l, uint64_t address, uint64_t room, bool add)
{
	uint32_t i = 0, n = atomic_load_explicit(&l->n, memory_order_relaxed);
	while (i < n && (l->word[i].address != address || l->word[i].room != room))
		i++;
	if (i < n)
		return i;
	if (!add || n == TURN_WORDS)
		return TURN_WORDS;
	l->word[n] = (struct word){ .address = address, .room = room, .asked = UINT32_MAX };
	atomic_store_explicit(&l->n, n + 1, memory_order_relaxed);
	return n;
}

/* Numbers of the words that @a is of, each once, as bits. */
static uint32_t words_of(struct turn_log *l, const struct turn_access *a, uint32_t lanes, bool add)
{
	uint32_t words = 0;
	uint64_t last = 0;
	for (uint32_t m = a->mask & lanes; m; m &= m - 1) {
		const uint64_t address = a->address[__builtin_ctz(m)];
		if (words && address == last)
			continue;
		last = address;
		const uint32_t i = find(l, address, a->room, add);
		words |= i < TURN_WORDS ? 1u << i : 0;
	}
	return words;
}

void turn_log_asks(struct turn_log *l, struct turn_words *w, const struct turn_access *a,
                   uint32_t changed)
{
	pthread_mutex_lock(&l->lock);
	const uint32_t all = words_of(l, a, UINT32_MAX, a->waits),
				   took = words_of(l, a, changed, false);
	for (uint32_t m = all; m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		l->word[i].version += took >> i & 1;
		l->word[i].asked = a->op < l->word[i].asked ? a->op : l->word[i].asked;
		w->seen[i] = l->word[i].version + 1;
	}
	pthread_mutex_unlock(&l->lock);
}

void turn_log_changes(struct turn_log *l, struct turn_words *w, const struct turn_access *a)
{
	if (!atomic_load_explicit(&l->n, memory_order_relaxed))
		return;
	pthread_mutex_lock(&l->lock);
	bool ended = false;
	for (uint32_t m = words_of(l, a, UINT32_MAX, false); m; m &= m - 1) {
		const unsigned i = (unsigned)__builtin_ctz(m);
		struct word *x = &l->word[i];
		if (w->seen[i] == x->version + 1) {
			x->turns++;
			w->turns[i]++;
			x->own = w->turns[i] > x->own ? w->turns[i] : x->own;
			x->ended = a->op > x->ended ? a->op : x->ended;
			ended = true;
		}
		x->version++;
	}
	l->accesses += ended;
	pthread_mutex_unlock(&l->lock);
}

struct turn_totals turn_log_totals(const struct turn_log *l)
{
	struct turn_totals t = { .accesses = l->accesses };
	for (uint32_t i = 0; i < l->n; i++)
		if (l->word[i].turns > t.turns) {
			t.turns = l->word[i].turns;
			t.own = l->word[i].own;
			t.from = l->word[i].asked;
			t.to = l->word[i].ended;
		}
	return t;
}

/* Buffers in a few figures; see buffer_look.h. */
#include "model/buffer_look.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading them compares with nothing. */
static struct array as_array(const struct buffer_contents *c, const void *data)
{
	return (struct array){
		.type = c->plan->type,
		.count = c->seen,
		.cols = c->plan->cols,
		.data = (void *)(uintptr_t)data,
	};
}

static void look_at(const struct buffer_contents *c, struct buffer_look *l)
{
	*l = (struct buffer_look){
		.type = c->plan->type,
		.guessed = c->guessed,
		.count = c->plan->count,
		.seen = c->now ? c->seen : 0,
	};
	snprintf(l->name, sizeof l->name, "%s", c->plan->name);
	if (!c->now || !l->seen)
		return;
	const struct array now = as_array(c, c->now), before = as_array(c, c->before);
	array_stats(&now, &l->stats);
	l->n_head = l->seen < BUFFER_HEAD ? l->seen : BUFFER_HEAD;
	l->head = mem_calloc(l->n_head, elem_size(l->type));
	memcpy(l->head, c->now, l->n_head * elem_size(l->type));
	l->knows_change = c->before != NULL;
	if (l->knows_change)
		array_compare(&now, &before, &l->change);
}

/* With the first others that it can be compared with element by element. */
static bool compare(unsigned n, const struct buffer_contents *c, unsigned b, struct buffer_look *of,
                    const atomic_bool *cancel)
{
	const struct array mine = as_array(&c[b], c[b].now);
	struct buffer_look *l = &of[b];
	for (unsigned i = 0; i < n && l->n_against < BUFFER_AGAINST; i++) {
		if (i == b || of[i].type != l->type || of[i].count != l->count || !l->seen || !of[i].seen)
			continue;
		if (cancel && atomic_load(cancel))
			return false;
		const struct array other = as_array(&c[i], c[i].now);
		struct buffer_against *a = &l->against[l->n_against++];
		a->other = i;
		array_compare(&mine, &other, &a->is);
	}
	return true;
}

struct buffer_looks *buffer_looks_make(unsigned n, const struct buffer_contents *c,
                                       const atomic_bool *cancel)
{
	struct buffer_looks *l = mem_zalloc(sizeof *l);
	bool ok = true;
	l->n = n;
	l->of = mem_calloc(n + 1u, sizeof *l->of);
	for (unsigned b = 0; b < n && ok; b++) {
		ok = !cancel || !atomic_load(cancel);
		if (ok)
			look_at(&c[b], &l->of[b]);
	}
	for (unsigned b = 0; b < n && ok; b++)
		ok = compare(n, c, b, l->of, cancel);
	if (ok)
		return l;
	buffer_looks_free(l);
	return NULL;
}

struct buffer_looks *buffer_looks_none(const char *why)
{
	struct buffer_looks *l = mem_zalloc(sizeof *l);
	snprintf(l->why, sizeof l->why, "%s", why);
	return l;
}

void buffer_looks_free(struct buffer_looks *l)
{
	for (unsigned b = 0; l && b < l->n; b++)
		free(l->of[b].head);
	if (l)
		free(l->of);
	free(l);
}

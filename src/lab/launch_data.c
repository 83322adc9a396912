/* The buffers of a kept launch; see launch_data.h. */
#include "launch_data.h"

#include "launch_memory.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* What is read of one buffer, and of all: it is copied twice, as found and as left. */
#define MOST_OF_ONE ((uint64_t)64 << 20)
#define MOST_OF_ALL ((uint64_t)256 << 20)

/* Wants the first bytes of every buffer, as far as there is room for them. */
static void want(const struct launch_memory *m, struct record_again *again)
{
	uint64_t left = MOST_OF_ALL;
	for (unsigned b = 0; b < m->n && left && launch_memory_want(m, b, again); b++) {
		struct record_range *r = &again->wanted[b];
		const uint64_t most = left < MOST_OF_ONE ? left : MOST_OF_ONE;
		if (r->bytes > most)
			r->bytes = most - most % elem_size(m->buffer[b].type);
		left -= r->bytes;
	}
}

static struct buffer_looks *look(const struct launch_memory *m, const struct record_again *again,
                                 void **contents, const atomic_bool *cancel)
{
	struct buffer_contents *c = mem_calloc(m->n + 1u, sizeof *c);
	for (unsigned b = 0; b < m->n; b++) {
		c[b] = (struct buffer_contents){ .plan = &m->buffer[b], .guessed = m->guessed[b] };
		if (b >= again->n_wanted)
			continue;
		c[b].seen = again->wanted[b].bytes / elem_size(m->buffer[b].type);
		c[b].before = contents[b];
		c[b].now = contents[again->n_wanted + b];
	}
	struct buffer_looks *l = buffer_looks_make(m->n, c, cancel);
	free(c);
	return l;
}

static struct buffer_looks *none(const struct err *err)
{
	char *why = mem_printf("%s%s%s", err->msg, err->remedy[0] ? ": " : "", err->remedy);
	struct buffer_looks *l = buffer_looks_none(why);
	free(why);
	return l;
}

struct buffer_looks *launch_data(struct program *p, uint64_t number,
                                 const struct launch_shape *shape, const char *source,
                                 const atomic_bool *cancel)
{
	struct launch_memory memory;
	struct record_again again = { .uncounted = true, .before = true };
	struct program now = { .path = NULL };
	struct buffer_looks *l = NULL;
	struct err err = { 0 };
	memcpy(again.grid, shape->grid, sizeof again.grid);
	memcpy(again.block, shape->block, sizeof again.block);
	again.shared_bytes = shape->shared_bytes;
	const bool known = launch_memory_look(p, number, source, &memory, &err);
	if (known)
		want(&memory, &again);
	void **contents = mem_calloc(2 * again.n_wanted + 1u, sizeof *contents);
	if (known && program_again(p, number, &again, cancel, &now, contents, &err))
		l = look(&memory, &again, contents, cancel);
	else if (err.code != ERR_CANCELLED)
		l = none(&err);
	for (unsigned i = 0; i < 2 * again.n_wanted; i++)
		free(contents[i]);
	free(contents);
	program_free(&now);
	launch_memory_free(&memory);
	return l;
}

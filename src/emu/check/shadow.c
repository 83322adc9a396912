/*
 * Shared-memory checks; see check.h.
 *
 * Two accesses to a byte by different threads race if no barrier lies between them and one is a
 * plain write, or one is a write and the other an atomic. That holds inside a warp too, since
 * threads of a warp need not run in lockstep since Volta; there a __syncwarp() (or any .sync
 * instruction) between them is enough. Lanes of one store that write one place do not count: one
 * of them wins.
 */
#include "emu/check/check.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct shadow *shadow_new(size_t bytes, bool races)
{
	struct shadow *s = mem_zalloc(sizeof *s);
	s->bytes = bytes;
	s->epoch = 1;
	s->written = mem_aligned(16, bytes);
	s->cell = races ? mem_calloc(bytes, sizeof *s->cell) : NULL;
	return s;
}

void shadow_free(struct shadow *s)
{
	if (s) {
		free(s->written);
		free(s->cell);
	}
	free(s);
}

void shadow_start(struct shadow *s)
{
	s->epoch++;
	s->full = false;
	memset(s->written, 0, s->bytes);
}

void shadow_barrier(struct shadow *s)
{
	s->epoch++;
	s->full = s->full || !memchr(s->written, 0, s->bytes);
}

static bool same_warp(const struct shadow_user *u, const struct shadow_access *a)
{
	return (u->thread - 1u) / 32 == a->thread / 32;
}

/* An earlier use that nothing orders before this access. */
static bool unordered_use(const struct shadow_user *u, const struct shadow_access *a)
{
	if (!u->thread)
		return false;
	if (u->everyone)
		return true;
	if (!same_warp(u, a))
		return true;
	if (u->sync != a->sync || u->op == a->op)
		return false;
	return u->many || u->thread != a->thread + 1;
}

static void note_user(struct shadow_user *u, const struct shadow_access *a)
{
	const bool others = u->thread && u->thread != a->thread + 1;
	const bool everyone = others && (u->everyone || !same_warp(u, a));
	const bool many = others && (u->many || u->sync == a->sync);
	*u = (struct shadow_user){ .thread = (uint16_t)(a->thread + 1),
		                       .many = many,
		                       .everyone = everyone,
		                       .op = a->op,
		                       .sync = a->sync };
}

enum shadow_verdict shadow_touch(struct shadow *s, const struct shadow_access *a,
                                 struct shadow_user *other)
{
	for (uint64_t i = a->offset; i < a->offset + a->bytes; i++) {
		if (a->read && !s->written[i])
			return SHADOW_UNWRITTEN;
		if (a->write)
			s->written[i] = 1;
	}
	for (uint64_t i = a->offset; s->cell && i < a->offset + a->bytes; i++) {
		struct shadow_cell *c = &s->cell[i];
		if (c->epoch != s->epoch)
			*c = (struct shadow_cell){ .epoch = s->epoch };
		const struct shadow_user *against = NULL;
		if (unordered_use(&c->writer, a))
			against = &c->writer;
		else if (!a->atomic && unordered_use(&c->atomic, a))
			against = &c->atomic;
		else if (a->write && unordered_use(&c->reader, a))
			against = &c->reader;
		if (against) {
			*other = *against;
			return SHADOW_RACE;
		}
		note_user(a->atomic ? &c->atomic : a->write ? &c->writer : &c->reader, a);
	}
	return SHADOW_FINE;
}

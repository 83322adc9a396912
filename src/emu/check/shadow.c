/* Which bytes of shared memory were written; see check.h. */
#include "emu/check/check.h"

#include "base/mem.h"
#include "base/value_flags.h"

#include <stdlib.h>
#include <string.h>

struct shadow *shadow_new(size_t bytes)
{
	struct shadow *s = mem_zalloc(sizeof *s);
	s->bytes = bytes;
	s->written = mem_zalloc(value_flags_size(bytes));
	return s;
}

void shadow_free(struct shadow *s)
{
	if (s)
		free(s->written);
	free(s);
}

void shadow_start(struct shadow *s)
{
	s->full = false;
	memset(s->written, 0, value_flags_size(s->bytes));
}

void shadow_barrier(struct shadow *s)
{
	s->full = s->full || value_flags_all(s->written, 0, s->bytes);
}

bool shadow_touch(struct shadow *s, uint64_t offset, unsigned bytes, bool read, bool write)
{
	if (read && !value_flags_all(s->written, offset, bytes))
		return false;
	if (write)
		value_flags_set(s->written, offset, bytes);
	return true;
}

/* Flags of the words of @p. */
struct span {
	size_t first, n;
};
static struct span words_of(const struct lane_piece *p, uint64_t low, unsigned bytes)
{
	return (struct span){ (low + p->at) / 4, (p->one_place ? 1u : p->n) * (bytes / 4) };
}

/* Are all of @n flags those of a word with a value? */
static bool all_set(const uint8_t *flags, size_t n)
{
	const uint64_t eight = VALUE_FLAGS_WORD * 0x0101010101010101u;
	uint64_t missing = 0, some;
	for (; n >= sizeof some; n -= sizeof some, flags += sizeof some) {
		memcpy(&some, flags, sizeof some);
		missing |= some ^ eight;
	}
	for (; n; n--)
		missing |= *flags++ ^ VALUE_FLAGS_WORD;
	return !missing;
}

bool shadow_read(const struct shadow *s, const struct lane_pieces *p, uint64_t low, unsigned bytes)
{
	bool all = true;
	for (unsigned i = 0; i < p->n && all; i++) {
		const struct span words = words_of(&p->piece[i], low, bytes);
		all = all_set(s->written + words.first, words.n);
	}
	return all;
}

void shadow_write(struct shadow *s, const struct lane_pieces *p, uint64_t low, unsigned bytes)
{
	for (unsigned i = 0; i < p->n; i++) {
		const struct span words = words_of(&p->piece[i], low, bytes);
		memset(s->written + words.first, VALUE_FLAGS_WORD, words.n);
	}
}

/* Which bytes of shared memory were written; see check.h. */
#include "emu/check/check.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct shadow *shadow_new(size_t bytes)
{
	struct shadow *s = mem_zalloc(sizeof *s);
	s->bytes = bytes;
	s->written = mem_aligned(16, bytes);
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
	memset(s->written, 0, s->bytes);
}

void shadow_barrier(struct shadow *s)
{
	s->full = s->full || !memchr(s->written, 0, s->bytes);
}

bool shadow_touch(struct shadow *s, uint64_t offset, unsigned bytes, bool read, bool write)
{
	for (uint64_t i = offset; i < offset + bytes; i++) {
		if (read && !s->written[i])
			return false;
		if (write)
			s->written[i] = 1;
	}
	return true;
}

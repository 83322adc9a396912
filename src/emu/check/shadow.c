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

/* Memory that the program has freed; see guest_freed.h. */
#include "runtime/guest/guest_freed.h"

#define REMEMBERED 256u

static struct guest_freed freed[REMEMBERED]; /* the newest in place of the oldest */
static unsigned n_freed;

void freed_note(const struct emu_allocation *was, const void *caller)
{
	freed[n_freed++ % REMEMBERED] = (struct guest_freed){ *was, caller };
}

const struct guest_freed *freed_find(uint64_t address)
{
	for (unsigned back = 1; back <= n_freed && back <= REMEMBERED; back++) {
		const struct guest_freed *f = &freed[(n_freed - back) % REMEMBERED];
		if (address - f->was.address < f->was.bytes)
			return f;
	}
	return NULL;
}

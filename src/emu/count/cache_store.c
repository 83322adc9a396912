/* Memory of caches from one launch to the next; see cache_store.h. */
#include "emu/count/cache_store.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN MEM_LARGE_PAGE /* a launch uses them all over, a few lines in many places */

static struct cache_store *_Atomic spare; /* of the last launch; NULL = none, or in use */

static void release(struct cache_store *s)
{
	for (unsigned i = 0; s && i < CACHE_STORE_PIECES; i++) {
		mem_wish_zeroes_in_forks(s->at[i], s->bytes[i], false);
		free(s->memory[i]);
	}
}

void cache_store_take(struct cache_store *s)
{
	struct cache_store *kept = atomic_exchange(&spare, NULL);
	if (kept && !memcmp(kept->bytes, s->bytes, sizeof s->bytes)) {
		*s = *kept;
		free(kept);
		return;
	}
	release(kept);
	free(kept);
	for (unsigned i = 0; i < CACHE_STORE_PIECES; i++) {
		s->memory[i] = mem_calloc(1, s->bytes[i] + ALIGN - 1);
		s->at[i] = (void *)(((uintptr_t)s->memory[i] + ALIGN - 1) / ALIGN * ALIGN);
		mem_wish_large_pages(s->at[i], s->bytes[i]);
		/* a copy of the program begins with caches that are empty */
		mem_wish_zeroes_in_forks(s->at[i], s->bytes[i], true);
	}
}

void cache_store_give(struct cache_store *s)
{
	struct cache_store *kept = mem_alloc(sizeof *kept);
	*kept = *s;
	struct cache_store *before = atomic_exchange(&spare, kept);
	release(before);
	free(before);
	*s = (struct cache_store){ .at = { NULL } };
}

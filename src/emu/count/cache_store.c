/* Memory of caches from one launch to the next; see cache_store.h. */
#include "emu/count/cache_store.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct cache_store *_Atomic spare; /* of the last launch; NULL = none, or in use */

static void release(struct cache_store *s)
{
	for (unsigned i = 0; s && i < CACHE_STORE_PIECES; i++)
		free(s->at[i]);
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
	for (unsigned i = 0; i < CACHE_STORE_PIECES; i++)
		s->at[i] = mem_calloc(1, s->bytes[i]);
}

void cache_store_give(struct cache_store *s, bool empty)
{
	struct cache_store *before = NULL;
	if (empty) {
		struct cache_store *kept = mem_alloc(sizeof *kept);
		*kept = *s;
		before = atomic_exchange(&spare, kept);
	} else {
		release(s);
	}
	release(before);
	free(before);
	*s = (struct cache_store){ .at = { NULL } };
}

/* Memory of one module, in blocks that are freed together. */
#include "base/mem.h"
#include "sass/sass_parts.h"

#include <stdlib.h>
#include <string.h>

struct sass_pool {
	struct sass_pool *older;
	size_t used, size;
	max_align_t bytes[];
};

void *sass_pool_get(struct sass_pool **pool, size_t bytes)
{
	const size_t unit = sizeof(max_align_t);
	bytes = (bytes + unit - 1) / unit * unit;
	struct sass_pool *p = *pool;
	if (!p || p->size - p->used < bytes) {
		const size_t size = bytes > (64 << 10) ? bytes : (size_t)64 << 10;
		p = mem_zalloc(sizeof *p + size);
		p->older = *pool;
		p->size = size;
		*pool = p;
	}
	void *out = (char *)p->bytes + p->used;
	p->used += bytes;
	return out;
}

char *sass_pool_text(struct sass_pool **pool, struct slice text)
{
	char *out = sass_pool_get(pool, text.len + 1);
	if (text.len)
		memcpy(out, text.s, text.len);
	return out;
}

void sass_pool_free(struct sass_pool **pool)
{
	while (*pool) {
		struct sass_pool *older = (*pool)->older;
		free(*pool);
		*pool = older;
	}
}

/* Images of earlier launches, least recently used goes first; see launch.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_IMAGES 1024
#define SURE_IMAGES 48   /* are kept however large they are */
#define CACHE_OPS 100000 /* of all images beyond those; some 600 bytes each */

struct image_cache {
	uint64_t clock, ops; /* ops: of all images */
	unsigned n;
	struct cached_image {
		uint64_t key, used; /* key 0 = empty */
		struct image image;
	} entry[CACHE_IMAGES];
};

struct image_cache *image_cache_new(void)
{
	return mem_zalloc(sizeof(struct image_cache));
}

void image_cache_free(struct image_cache *c)
{
	for (unsigned i = 0; c && i < CACHE_IMAGES; i++)
		if (c->entry[i].key)
			image_free(&c->entry[i].image);
	free(c);
}

uint64_t image_key(const struct ptx_func *func, const struct launch_plan *plan,
                   const uint32_t cluster[3], const uint8_t *params)
{
	uint64_t h = hash_bytes(HASH_SEED, &func, sizeof func);
	h = hash_bytes(h, &plan->grid, sizeof plan->grid);
	h = hash_bytes(h, &plan->block, sizeof plan->block);
	h = hash_bytes(h, &plan->dynamic_shared_bytes, sizeof plan->dynamic_shared_bytes);
	h = hash_bytes(h, cluster, 3 * sizeof *cluster);
	h = hash_bytes(h, params, func->param_bytes);
	return h ? h : 1;
}

static void forget(struct image_cache *c, struct cached_image *e)
{
	c->ops -= e->image.ir.n_ops;
	c->n--;
	*e = (struct cached_image){ 0 };
}

bool image_cache_take(struct image_cache *c, uint64_t key, struct image *image)
{
	for (unsigned i = 0; i < CACHE_IMAGES; i++)
		if (c->entry[i].key == key) {
			*image = c->entry[i].image;
			forget(c, &c->entry[i]);
			return true;
		}
	return false;
}

/* Makes room for one more. Returns the place for it. */
static struct cached_image *make_room(struct image_cache *c)
{
	for (;;) {
		struct cached_image *oldest = NULL, *empty = NULL;
		for (unsigned i = 0; i < CACHE_IMAGES; i++) {
			struct cached_image *e = &c->entry[i];
			if (!e->key)
				empty = e;
			else if (!oldest || e->used < oldest->used)
				oldest = e;
		}
		if (empty && (c->n < SURE_IMAGES || c->ops <= CACHE_OPS))
			return empty;
		struct image gone = oldest->image;
		forget(c, oldest);
		image_free(&gone);
	}
}

void image_cache_put(struct image_cache *c, uint64_t key, struct image *image)
{
	struct cached_image *place = make_room(c);
	*place = (struct cached_image){ .key = key, .used = ++c->clock, .image = *image };
	c->ops += image->ir.n_ops;
	c->n++;
	memset(image, 0, sizeof *image);
}

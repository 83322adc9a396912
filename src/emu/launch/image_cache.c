/* Images of earlier launches, least recently used goes first; see launch.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_IMAGES 48

struct image_cache {
	uint64_t clock;
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

bool image_cache_take(struct image_cache *c, uint64_t key, struct image *image)
{
	for (unsigned i = 0; i < CACHE_IMAGES; i++)
		if (c->entry[i].key == key) {
			*image = c->entry[i].image;
			c->entry[i] = (struct cached_image){ 0 };
			return true;
		}
	return false;
}

void image_cache_put(struct image_cache *c, uint64_t key, struct image *image)
{
	struct cached_image *place = &c->entry[0];
	for (unsigned i = 0; i < CACHE_IMAGES && place->key; i++)
		if (!c->entry[i].key || c->entry[i].used < place->used)
			place = &c->entry[i];
	if (place->key)
		image_free(&place->image);
	*place = (struct cached_image){ .key = key, .used = ++c->clock, .image = *image };
	memset(image, 0, sizeof *image);
}

/* Images of earlier launches: as many as fit are kept, and those unused longest go first. */
#include "../unit.h"
#include "emu/launch/launch.h"

#include "base/mem.h"

/* As large as @n_ops operations make it. */
static struct image image_of(unsigned n_ops)
{
	struct image im = { 0 };
	im.ir.ops = mem_calloc(n_ops, sizeof *im.ir.ops);
	im.ir.n_ops = n_ops;
	return im;
}

/* Puts @n images of @n_ops operations each, with keys from @first on. */
static void put_all(struct image_cache *c, uint64_t first, unsigned n, unsigned n_ops)
{
	for (unsigned i = 0; i < n; i++) {
		struct image im = image_of(n_ops);
		image_cache_put(c, first + i, &im);
		assert_null(im.ir.ops);
	}
}

/* How many of @n keys from @first on are there; they are not afterwards. */
static unsigned take_all(struct image_cache *c, uint64_t first, unsigned n)
{
	unsigned found = 0;
	for (unsigned i = 0; i < n; i++) {
		struct image im;
		if (!image_cache_take(c, first + i, &im))
			continue;
		found++;
		image_free(&im);
	}
	return found;
}

TEST(small_images_are_kept_by_the_hundred)
{
	struct image_cache *c = image_cache_new();
	put_all(c, 1, 512, 100);
	assert_int_equal(take_all(c, 1, 512), 512);
	put_all(c, 1, 1500, 10);
	assert_int_equal(take_all(c, 1, 476), 0);
	assert_int_equal(take_all(c, 477, 1024), 1024);
	image_cache_free(c);
}

TEST(of_large_images_a_few_are_kept)
{
	struct image_cache *c = image_cache_new();
	put_all(c, 1, 100, 10000);
	assert_int_equal(take_all(c, 1, 52), 0);
	assert_int_equal(take_all(c, 53, 48), 48);
	put_all(c, 1, 40, 10000);
	put_all(c, 101, 300, 10);
	assert_int_equal(take_all(c, 101, 300), 300);
	image_cache_free(c);
}

TEST(those_unused_longest_go_first)
{
	struct image_cache *c = image_cache_new();
	struct image im;
	put_all(c, 1, 1024, 1);
	assert_true(image_cache_take(c, 1, &im));
	image_cache_put(c, 1, &im);
	put_all(c, 5000, 1, 1);
	assert_int_equal(take_all(c, 1, 1), 1);
	assert_int_equal(take_all(c, 2, 1), 0);
	assert_int_equal(take_all(c, 3, 1), 1);
	image_cache_free(c);
}

/* Sets of a simulated cache: where they lie, which way is found, and which one leaves. */
#include "../unit.h"
#include "emu/count/cache_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Every set has a place of its own, and those that a level follows are the first ones. */
TEST(sets_of_a_level_lie_together)
{
	static const uint32_t of[] = { 256, 512, 16384 };
	for (unsigned k = 0; k < sizeof of / sizeof *of; k++) {
		uint8_t *taken = calloc(of[k], 1);
		for (uint32_t hash = 0; hash < of[k]; hash++) {
			const uint32_t place = cache_sets_place(hash, of[k]);
			const unsigned zeros = hash & 255 ? (unsigned)__builtin_ctz(hash & 255) : 8;
			assert_true(place < of[k] && !taken[place]);
			assert_true(place < of[k] >> zeros);
			assert_int_equal(place, cache_sets_place(hash + of[k], of[k]));
			taken[place] = 1;
		}
		free(taken);
	}
}

/* Six ways, of two groups: each line is found with what is known of it, and the one that was used
 * longest ago leaves; ways behind the sixth are never taken. */
TEST(the_oldest_way_leaves)
{
	struct cache_sets c;
	cache_sets_init(&c, 6);
	c.way = aligned_alloc(64, cache_sets_bytes(&c, 2));
	memset(c.way, 0, cache_sets_bytes(&c, 2));
	uint32_t clock = 0;
	for (uint32_t line = 0; line < 20; line++) {
		const size_t way = cache_sets_oldest(&c, 1);
		cache_sets_put(&c, way, line);
		*(uint64_t *)cache_sets_data(&c, way) = 1000 + line;
		cache_sets_touch(&c, way, ++clock);
		if (line >= 2) /* stays for ever */
			cache_sets_touch(&c, cache_sets_find(&c, 1, 2), ++clock);
		for (uint32_t k = 0; k <= line; k++) {
			const size_t at = cache_sets_find(&c, 1, k);
			const uint32_t since = line - k - (k < 2 && line >= 2); /* without line 2 */
			assert_int_equal(at != NO_WAY, k == 2 || since < (line >= 2 ? 5 : 6));
			assert_true(at == NO_WAY || *(uint64_t *)cache_sets_data(&c, at) == 1000 + k);
		}
		assert_true(cache_sets_find(&c, 0, line) == NO_WAY);
	}
	cache_sets_empty(&c, 1);
	assert_true(cache_sets_find(&c, 1, 2) == NO_WAY && cache_sets_find(&c, 1, 19) == NO_WAY);
	free(c.way);
}

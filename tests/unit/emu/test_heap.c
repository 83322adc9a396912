/* The heap of device code: how many blocks it holds, and what it takes back. */
#include "../unit.h"
#include "emu/memory/memory.h"

#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)
#define BASE ((uint64_t)1 << 32)

static unsigned take_all(struct heap *h, uint64_t bytes, uint64_t *first)
{
	unsigned n = 0;
	for (uint64_t at; (at = heap_take(h, bytes)); n++)
		if (!n)
			*first = at;
	return n;
}

static unsigned holds(uint64_t heap_bytes, uint64_t bytes)
{
	uint64_t first = 0;
	uint8_t *host = malloc(heap_bytes);
	assert_non_null(host);
	struct heap *h = heap_new(BASE, host, heap_bytes);
	const unsigned n = take_all(h, bytes, &first);
	heap_free(h);
	free(host);
	return n;
}

TEST(as_many_as_an_h200)
{
	assert_int_equal(holds(32 * MIB, MIB), 26);
	assert_int_equal(holds(32 * MIB, 2 * MIB), 13);
	assert_int_equal(holds(32 * MIB, 3 * MIB), 8);
	assert_int_equal(holds(32 * MIB, MIB / 2), 52);
	assert_int_equal(holds(32 * MIB, MIB / 16), 314);
	assert_int_equal(holds(8 * MIB, MIB), 6);
	assert_int_equal(holds(8 * MIB, MIB / 4), 26);
	assert_int_equal(holds(8 * MIB, 9 * MIB), 0);
}

TEST(given_back)
{
	uint64_t first = 0, second;
	uint8_t *host = malloc(8 * MIB);
	assert_non_null(host);
	struct heap *h = heap_new(BASE, host, 8 * MIB);
	first = heap_take(h, 100);
	second = heap_take(h, MIB);
	assert_true(heap_give_back(h, second));
	assert_false(heap_give_back(h, second));
	assert_int_equal(heap_take(h, MIB), second);
	assert_true(heap_give_back(h, second));
	assert_true(heap_give_back(h, first));
	assert_false(heap_give_back(h, first));
	/* nothing is in use: there is room for other sizes again */
	assert_int_equal(take_all(h, 2 * MIB, &first), 3);
	heap_free(h);
	free(host);
}

/* Ranges worked on by all processors: all of them, each once, in numbered order. */
#include "../unit.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/shared_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1000

struct seen {
	unsigned char times[MOST];
	size_t from[PARALLEL_MOST], to[PARALLEL_MOST];
};

static void look(void *ctx, unsigned number, size_t from, size_t to)
{
	struct seen *s = ctx;
	s->from[number] = from;
	s->to[number] = to;
	for (size_t i = from; i < to; i++)
		s->times[i]++;
}

TEST(every_number_is_met_once)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 63, 64, 65, 999, 1000 };
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
		for (size_t least = 1; least <= 300; least += 23) {
			struct seen s;
			memset(&s, 0, sizeof s);
			parallel_ranges(sizes[k], least, look, &s);
			for (size_t i = 0; i < MOST; i++)
				assert_int_equal(s.times[i], i < sizes[k]);
			for (unsigned r = 1; r < PARALLEL_MOST && s.to[r]; r++) {
				assert_true(s.from[r] == s.to[r - 1]);
				assert_true(s.to[r] - s.from[r] >= least);
			}
		}
}

/* More than one thread copies before it is worth it, and no byte is left out. */
TEST(bytes_are_set_and_copied)
{
	static const size_t sizes[] = { 0, 1, 4097, (16u << 20) + 5 };
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		unsigned char *a = mem_pages(sizes[k] + 1), *b = mem_pages(sizes[k] + 1);
		b[sizes[k]] = 9;
		parallel_set(a, 7, sizes[k]);
		parallel_copy(b, a, sizes[k]);
		for (size_t i = 0; i < sizes[k]; i++)
			assert_int_equal(b[i], 7);
		assert_int_equal(b[sizes[k]], 9);
		free(a);
		free(b);
	}
}

TEST(shared_memory_is_zero_and_keeps_its_size)
{
	struct shared_memory m;
	struct err err = { 0 };
	assert_true(shared_memory_make(&m, 10000, "this test", &err));
	parallel_touch(m.data, m.bytes);
	for (size_t i = 0; i < m.bytes; i++)
		assert_int_equal(m.data[i], 0);
	assert_true(ftruncate(m.fd, 5) != 0);
	shared_memory_drop(&m);
	shared_memory_drop(&m);
	assert_null(m.data);
	assert_false(shared_memory_make(&m, SIZE_MAX / 2 + 1, "this test", &err));
	assert_non_null(strstr(err.msg, "of shared memory for this test: "));
}

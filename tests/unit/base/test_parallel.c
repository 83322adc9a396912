/* Ranges worked on by all processors: all of them, each once, in numbered order. */
#include "../unit.h"
#include "base/parallel.h"

#include <stdbool.h>
#include <string.h>

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

/* Blocks of another number of threads: which shape they have, and what grid follows. */
#include "../unit.h"
#include "base/text.h"
#include "lab/launch_shape.h"

static const struct {
	unsigned from[3], threads, to[3];
} shapes[] = {
	{ { 256, 1, 1 }, 128, { 128, 1, 1 } }, /* a row stays a row */
	{ { 1, 256, 1 }, 64, { 1, 64, 1 } },
	{ { 16, 16, 1 }, 1024, { 32, 32, 1 } }, /* as square as before */
	{ { 16, 16, 1 }, 64, { 8, 8, 1 } },
	{ { 16, 16, 1 }, 512, { 32, 16, 1 } }, /* whole warps in x */
	{ { 16, 16, 1 }, 128, { 16, 8, 1 } },
	{ { 32, 8, 1 }, 512, { 32, 16, 1 } },
	{ { 16, 8, 1 }, 256, { 32, 8, 1 } },
	{ { 8, 8, 4 }, 1024, { 16, 16, 4 } },
	{ { 16, 16, 1 }, 7, { 7, 1, 1 } },
	{ { 8, 8, 4 }, 6, { 0 } }, /* four deep, so no six */
};

TEST(shapes_keep_their_proportions)
{
	for (unsigned i = 0; i < ARRAY_LEN(shapes); i++) {
		unsigned to[3] = { 0 };
		assert_int_equal(launch_shape_block(shapes[i].from, shapes[i].threads, to),
		                 shapes[i].to[0] > 0);
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(to[k], shapes[i].to[k]);
	}
}

TEST(every_number_of_threads_has_a_shape)
{
	const unsigned from[3] = { 16, 8, 1 };
	for (unsigned threads = 1; threads <= 1024; threads++) {
		unsigned to[3] = { 0 };
		assert_true(launch_shape_block(from, threads, to));
		assert_int_equal(to[0] * to[1] * to[2], threads);
	}
}

TEST(as_many_threads_start)
{
	assert_int_equal(launch_shape_grid(8, 16, 32), 4);
	assert_int_equal(launch_shape_grid(7, 16, 32), 4);
	assert_int_equal(launch_shape_grid(7, 16, 8), 14);
	assert_int_equal(launch_shape_grid(1, 16, 512), 1);
}

/* A sample of a grid: no block twice, one in every part, and no grid's columns are followed. */
#include "../unit.h"
#include "base/text.h"
#include "emu/vm/block_order.h"

#include <stdbool.h>

static void check_sample(uint64_t n, uint64_t total)
{
	const struct block_order o = { .n = n, .total = total };
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t b = order_block(&o, i);
		assert_true(b < total);
		assert_true(i ? b > order_block(&o, i - 1) : b == 0);
		if (i) { /* in its part, beside the others of it */
			const uint64_t beside = n - 1 >= ORDER_MANY ? ORDER_BESIDE : 1;
			const uint64_t from = (i - 1) / beside * beside;
			const uint64_t end = from + beside < n - 1 ? from + beside : n - 1;
			assert_true(b - 1 >= (total - 1) * from / (n - 1));
			assert_true(b - 1 < (total - 1) * end / (n - 1));
			assert_true(i - 1 == from || b == order_block(&o, i - 1) + 1);
		}
	}
}

TEST(a_sample_has_a_block_in_each_part)
{
	for (uint64_t total = 2; total < 130; total++)
		for (uint64_t n = 1; n <= total; n++)
			check_sample(n, total);
	static const uint64_t grids[] = { 5000, 123457, 12345678, (uint64_t)1 << 40 };
	for (size_t g = 0; g < ARRAY_LEN(grids); g++)
		for (uint64_t n = 1; n < 4000; n += 61)
			check_sample(n, grids[g]);
}

/* 5120 rows of 185 blocks: at equal distances, 1024 of them would all lie in five columns. */
TEST(a_sample_meets_most_columns)
{
	const struct block_order o = { .n = 1024, .total = 5120 * 185 };
	bool met[185] = { false };
	unsigned columns = 0;
	for (uint64_t i = 0; i < o.n; i++) {
		bool *column = &met[order_block(&o, i) % 185];
		columns += !*column;
		*column = true;
	}
	assert_true(columns > 150);
}

TEST(the_odd_ones_first)
{
	for (uint64_t n = 1; n < 9; n++) {
		const struct block_order o = { .n = n, .total = n, .order = ORDER_ODD_FIRST };
		uint64_t seen = 0;
		for (uint64_t i = 0; i < n; i++) {
			assert_int_equal(order_block(&o, i) % 2, i < n / 2);
			seen |= (uint64_t)1 << order_block(&o, i);
		}
		assert_int_equal(seen, ((uint64_t)1 << n) - 1);
	}
}

TEST(backwards_is_from_the_last_to_the_first)
{
	const struct block_order o = { .n = 77, .total = 77, .order = ORDER_BACKWARDS };
	for (uint64_t i = 0; i < o.n; i++)
		assert_int_equal(order_block(&o, i), 76 - i);
}

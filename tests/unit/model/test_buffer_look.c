/* Buffers in a few figures: heads, what changed, differences, and what cannot be had. */
#include "../unit.h"
#include "model/buffer_look.h"

#include <math.h>

static const struct buffer_plan plan[] = {
	{ .name = "x", .type = ELEM_F32, .count = 4 }, { .name = "y", .type = ELEM_F32, .count = 4 },
	{ .name = "k", .type = ELEM_I32, .count = 4 }, { .name = "none", .type = ELEM_F32, .count = 4 },
	{ .name = "z", .type = ELEM_F32, .count = 4 },
};
static const float x[] = { 0, 1, 2, 3 }, y[] = { 0, 5, NAN, 3 };
static const int k[] = { 7, -7, 0, 0 };

TEST(figures_changes_and_differences)
{
	const struct buffer_contents c[] = {
		{ .plan = &plan[0], .seen = 4, .before = x, .now = x },
		{ .plan = &plan[1], .seen = 4, .before = x, .now = y, .guessed = true },
		{ .plan = &plan[2], .seen = 4, .now = k },
		{ .plan = &plan[3], .seen = 4, .before = x },
		{ .plan = &plan[4], .seen = 2, .before = y, .now = x },
	};
	struct buffer_looks *l = buffer_looks_make(ARRAY_LEN(c), c, NULL);
	assert_int_equal(l->n, 5);
	assert_string_equal(l->of[1].name, "y");
	assert_true(l->of[1].guessed);
	assert_int_equal(l->of[1].stats.nans, 1);
	assert_int_equal(l->of[1].stats.first_odd, 2);
	assert_true(l->of[1].knows_change);
	assert_int_equal(l->of[1].change.differ, 2);
	assert_int_equal(l->of[1].change.first, 1);
	assert_int_equal(l->of[0].change.differ, 0);
	/* of its type and length, and to be had: x against y and the first two of z */
	assert_int_equal(l->of[0].n_against, 2);
	assert_int_equal(l->of[0].against[0].other, 1);
	assert_int_equal(l->of[0].against[0].is.differ, 2);
	assert_int_equal(l->of[0].against[1].other, 4);
	assert_int_equal(l->of[0].against[1].is.compared, 2);
	assert_int_equal(l->of[0].against[1].is.differ, 0);
	assert_int_equal(l->of[2].n_against, 0);
	assert_false(l->of[2].knows_change);
	assert_int_equal(l->of[2].n_head, 4);
	assert_memory_equal(l->of[2].head, k, sizeof k);
	assert_int_equal(l->of[3].seen, 0);
	assert_null(l->of[3].head);
	assert_int_equal(l->of[4].seen, 2);
	assert_int_equal(l->of[4].count, 4);
	buffer_looks_free(l);
}

TEST(cancelled_or_none)
{
	const struct buffer_contents c = { .plan = &plan[0], .seen = 4, .now = x };
	const atomic_bool cancel = true;
	assert_null(buffer_looks_make(1, &c, &cancel));
	struct buffer_looks *l = buffer_looks_none("it was not kept");
	assert_int_equal(l->n, 0);
	assert_string_equal(l->why, "it was not kept");
	buffer_looks_free(l);
	buffer_looks_free(NULL);
}

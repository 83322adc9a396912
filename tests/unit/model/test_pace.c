/* How quickly pieces get done, and when the rest will be. */
#include "../unit.h"
#include "model/pace.h"

TEST(nothing_is_guessed)
{
	struct pace p = { 0 };
	pace_note(&p, 2, 6, 100);
	assert_true(p.per_s == 0 && p.left_s == 0);
	pace_note(&p, 2, 6, 104); /* none is done since */
	assert_true(p.per_s == 0 && p.left_s == 0);
}

/* What was done before the beginning is no part of it. */
TEST(the_rest_takes_as_long_as_what_was_done)
{
	struct pace p = { 0 };
	pace_note(&p, 2, 6, 100);
	pace_note(&p, 4, 4, 104);
	assert_float_equal(p.per_s, 0.5, 1e-9);
	assert_float_equal(p.left_s, 8, 1e-9);
	pace_note(&p, 8, 0, 110);
	assert_float_equal(p.left_s, 0, 1e-9);
}

/* A ladder of another problem has fewer that are done: it begins anew. */
TEST(it_begins_anew)
{
	struct pace p = { 0 };
	pace_note(&p, 2, 6, 100);
	pace_note(&p, 4, 4, 104);
	pace_note(&p, 1, 5, 110);
	assert_true(p.per_s == 0 && p.left_s == 0);
	pace_note(&p, 2, 4, 111);
	assert_float_equal(p.left_s, 4, 1e-9);
	pace_end(&p);
	assert_true(p.from_s == 0 && p.per_s == 0 && p.left_s == 0);
}

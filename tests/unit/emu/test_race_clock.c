/* Sparse clocks against plain tables of epochs. */
#include "../unit.h"
#include "base/text.h"
#include "emu/check/race_clock.h"

#include <string.h>

#define WHO 200
#define CLOCKS 12
#define ROUNDS 20000

struct known {
	uint32_t epoch[WHO];
};

static unsigned pick(uint64_t *rng, unsigned n)
{
	return (unsigned)(rand_next(rng) >> 33) % n;
}

/* A few entries, or many, in any order. */
static struct race_clock *draw(uint64_t *rng, struct known *k)
{
	struct race_entry e[WHO];
	uint32_t n = 0;
	const unsigned of = pick(rng, 4) ? 40 : 2;
	memset(k, 0, sizeof *k);
	for (unsigned i = WHO; i--;)
		if (pick(rng, of) == 0) {
			k->epoch[i] = 1 + pick(rng, 50);
			e[n++] = (struct race_entry){ i, k->epoch[i] };
		}
	return race_clock_new(e, n);
}

static void check(const struct race_clock *c, const struct known *k)
{
	for (unsigned i = 0; i < WHO; i++)
		assert_int_equal(race_clock_epoch(c, i), k->epoch[i]);
	assert_int_equal(race_clock_epoch(c, WHO), 0);
}

TEST(clocks_say_what_tables_say)
{
	struct race_clock *clock[CLOCKS] = { NULL };
	struct known known[CLOCKS] = { { { 0 } } };
	struct race_joined joined = { NULL };
	uint64_t rng = 7;
	for (unsigned n = 0; n < ROUNDS; n++) {
		const unsigned a = pick(&rng, CLOCKS), b = pick(&rng, CLOCKS);
		switch (pick(&rng, 8)) {
		case 0:
			race_clock_set(&clock[a], NULL);
			clock[a] = draw(&rng, &known[a]);
			break;
		case 1:
			race_clock_set(&clock[a], clock[b]);
			known[a] = known[b];
			break;
		case 2: {
			const unsigned from = pick(&rng, WHO), end = from + pick(&rng, WHO);
			const unsigned first = pick(&rng, CLOCKS), some = pick(&rng, CLOCKS - first) + 1;
			race_clocks_forget(clock + first, some, from, end);
			for (unsigned i = first; i < first + some; i++)
				for (unsigned who = from; who < end && who < WHO; who++)
					known[i].epoch[who] = 0;
			break;
		}
		default:
			if (n % 3)
				race_clock_join_shared(&joined, &clock[a], clock[b]);
			else
				race_clock_join(&clock[a], clock[b]);
			for (unsigned i = 0; i < WHO; i++)
				if (known[b].epoch[i] > known[a].epoch[i])
					known[a].epoch[i] = known[b].epoch[i];
		}
		check(clock[a], &known[a]);
		check(clock[b], &known[b]);
		if (n % 50 == 0)
			for (unsigned i = 0; i < CLOCKS; i++)
				check(clock[i], &known[i]);
	}
	race_joined_forget(&joined);
	for (unsigned i = 0; i < CLOCKS; i++)
		race_clock_set(&clock[i], NULL);
}

/* Lanes that knew the same have one clock behind a join, too, not one each. */
TEST(joins_of_one_clock_are_one)
{
	struct race_entry e[3] = { { 1, 5 }, { 2, 6 }, { 3, 7 } };
	struct race_clock *a = race_clock_new(e, 2), *with = race_clock_new(e + 1, 2), *b = NULL;
	struct race_joined joined = { NULL };
	race_clock_set(&b, a);
	race_clock_join_shared(&joined, &a, with);
	race_clock_join_shared(&joined, &b, with);
	assert_ptr_equal(a, b);
	assert_int_equal(race_clock_epoch(b, 1), 5);
	assert_int_equal(race_clock_epoch(b, 3), 7);
	race_clock_join_shared(&joined, &a, with);
	assert_int_equal(race_clock_epoch(a, 2), 6);
	race_joined_forget(&joined);
	race_clock_set(&a, NULL);
	race_clock_set(&b, NULL);
	race_clock_set(&with, NULL);
}

/* Words that warps hand on to each other: locks and tickets have turns, barriers and flags none. */
#include "../unit.h"

#include "emu/count/turns.h"

#include <stdbool.h>

#define WARPS 4
#define LOCK UINT64_C(0x1000)
#define OTHER UINT64_C(0x2000)
enum { ASKS = 3, GIVES = 9 };

static void asks(struct turn_log *l, struct turn_words *w, uint64_t address, bool takes)
{
	const struct turn_access a = { .address = &address, .mask = 1, .op = ASKS, .waits = true };
	turn_log_asks(l, w, &a, takes);
}

static void changes(struct turn_log *l, struct turn_words *w, uint64_t address)
{
	const struct turn_access a = { .address = &address, .mask = 1, .op = GIVES };
	turn_log_changes(l, w, &a);
}

/* Warp after warp takes a lock, while the others ask in vain. */
TEST(a_lock_is_handed_on)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w[WARPS] = { 0 };
	for (unsigned turn = 0; turn < 3 * WARPS; turn++) {
		asks(l, &w[turn % WARPS], LOCK, true);
		for (unsigned i = 0; i < WARPS; i++)
			if (i != turn % WARPS)
				asks(l, &w[i], LOCK, false);
		changes(l, &w[turn % WARPS], LOCK);
		changes(l, &w[turn % WARPS], OTHER); /* nobody waits for it */
	}
	const struct turn_totals t = turn_log_totals(l);
	assert_int_equal(t.turns, 3 * WARPS);
	assert_int_equal(t.own, 3);
	assert_int_equal(t.accesses, 3 * WARPS);
	assert_int_equal(t.from, ASKS);
	assert_int_equal(t.to, GIVES);
	turn_log_free(l);
}

/* All see who is served, one of them says who comes next. */
TEST(tickets_are_handed_on)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w[WARPS] = { 0 };
	for (unsigned turn = 0; turn < WARPS; turn++) {
		for (unsigned i = turn; i < WARPS; i++)
			asks(l, &w[i], LOCK, false);
		changes(l, &w[turn], LOCK);
	}
	const struct turn_totals t = turn_log_totals(l);
	assert_int_equal(t.turns, WARPS);
	assert_int_equal(t.own, 1);
	turn_log_free(l);
}

/* Each arrives, and waits until all have: only the first to come again follows on what it saw. */
TEST(barriers_have_no_turns)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w[WARPS] = { 0 };
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < WARPS; i++) {
			changes(l, &w[i], LOCK);
			asks(l, &w[i], LOCK, false);
		}
		for (unsigned i = 0; i < WARPS; i++)
			asks(l, &w[i], LOCK, false);
	}
	assert_int_equal(turn_log_totals(l).turns, 4);
	turn_log_free(l);
}

/* Of several locks the one that is handed on most; lanes that hand on several do it together. */
TEST(the_word_that_most_wait_for)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w[2] = { 0 };
	const uint64_t both[2] = { LOCK, OTHER };
	const struct turn_access a = { .address = both, .mask = 3, .op = ASKS, .waits = true },
							 b = { .address = both, .mask = 3, .op = GIVES };
	for (unsigned i = 0; i < 6; i++) {
		turn_log_asks(l, &w[i % 2], &a, 3);
		turn_log_changes(l, &w[i % 2], &b);
	}
	asks(l, &w[0], OTHER, true);
	changes(l, &w[0], OTHER);
	const struct turn_totals t = turn_log_totals(l);
	assert_int_equal(t.turns, 7);
	assert_int_equal(t.own, 4);
	assert_int_equal(t.accesses, 7);
	turn_log_free(l);
}

TEST(more_words_than_there_is_room_for)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w = { 0 };
	for (unsigned i = 0; i < 3 * TURN_WORDS; i++) {
		asks(l, &w, LOCK + 128 * i, true);
		changes(l, &w, LOCK + 128 * i);
	}
	assert_int_equal(turn_log_totals(l).turns, 1);
	assert_int_equal(turn_log_totals(l).accesses, TURN_WORDS);
	turn_log_free(l);
}

/* Words that are only tried, as the keys of a table are, take no room from those waited for. */
TEST(what_nobody_waits_for_takes_no_room)
{
	struct turn_log *l = turn_log_new();
	struct turn_words w = { 0 };
	for (unsigned i = 0; i < 3 * TURN_WORDS; i++) {
		const uint64_t key = OTHER + 4 * i;
		const struct turn_access a = { .address = &key, .mask = 1, .op = ASKS };
		turn_log_asks(l, &w, &a, 1);
	}
	asks(l, &w, LOCK, true);
	changes(l, &w, LOCK);
	assert_int_equal(turn_log_totals(l).turns, 1);
	turn_log_free(l);
}

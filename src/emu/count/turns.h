/*
 * Words that warps wait for in loops and hand on to each other, as locks and tickets: how often one
 * of them was handed on, which a GPU does one after the other.
 *
 * A warp has its turn when it has seen a word in a loop that waits for it, and is the next one to
 * change it: to give it back, or to say who comes next. Those who only wait until all are there
 * (barriers) or until one has written a flag have no turns, for others change the word meanwhile.
 */
#ifndef PMPP_EMU_TURNS_H
#define PMPP_EMU_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_WORDS 16 /* the first that were waited for; more are not looked at */

/* What a warp knows of the words; zeros when it starts. */
struct turn_words {
	uint32_t seen[TURN_WORDS];  /* how often a word had changed when this warp saw it last; + 1 */
	uint32_t turns[TURN_WORDS]; /* that it has had */
};

/* Lanes that touch memory together. */
struct turn_access {
	const uint64_t *address;
	uint32_t mask;
	uint64_t room; /* 0 = global memory; else whose shared memory: the block's number + 1 */
	uint32_t op;
	bool waits; /* in a loop that waits for the words, which are looked at from now on */
};

struct turn_log;
struct turn_log *turn_log_new(void);
void turn_log_free(struct turn_log *l);

/* Lanes ask for their words. @changed: of these, those whose
 * compare-and-swap took the word. Thread-safe, as the next one. */
void turn_log_asks(struct turn_log *l, struct turn_words *w, const struct turn_access *a,
                   uint32_t changed);
/* Lanes change words, which others may wait for. */
void turn_log_changes(struct turn_log *l, struct turn_words *w, const struct turn_access *a);

/* Of the word that was handed on most often. */
struct turn_totals {
	uint64_t turns;    /* 0 = there is no such word */
	uint64_t own;      /* of these, those of the warp that had most */
	uint64_t accesses; /* that ended turns, of all words */
	uint32_t from, to; /* operations: the first that asks, the last that ends a turn */
};
struct turn_totals turn_log_totals(const struct turn_log *l);

#endif

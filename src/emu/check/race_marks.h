/*
 * What a cell notes of who used it: a mark, the number of a use in a table and a turn
 * (race_marks.c). A use is who, when and by which instruction. Lanes in a row that use places in a
 * row leave one mark in all of their cells: which lane it was follows from the cell's address.
 */
#ifndef PMPP_EMU_RACE_MARKS_H
#define PMPP_EMU_RACE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t race_mark; /* 0 = nobody */

/* A use without its place. */
struct race_who {
	uint32_t warp;  /* over the whole launch, + 1; 0 = nobody */
	uint32_t block; /* in the order of their starts */
	uint32_t epoch, op;
	uint32_t lanes;      /* in a row: those of the places whose number is the turn; else of all */
	uint16_t row, scale; /* in a row, of places of 2^scale bytes: lane + n of place + n */
};
#define RACE_TURNS 32u

struct race_marks {
	struct race_who *who; /* by number; 0 is nobody */
	uint32_t n, room;
	uint32_t limit;       /* more of them are due to be swept */
	uint32_t recent[256]; /* numbers by hash, of those made last */
};
#define RACE_MOST_MARKS (1u << 25)

void race_marks_free(struct race_marks *m);
/* The number of @who, which gets one if need be. */
uint32_t race_marks_number(struct race_marks *m, const struct race_who *who);
/* Where there are too many: keeps those of which seen[number] is set, and sets it to their new
 * number, their places in the table. */
void race_marks_sweep(struct race_marks *m, uint32_t *seen);

static inline race_mark race_mark_of(uint32_t number, unsigned turn)
{
	return number * RACE_TURNS | turn;
}
static inline unsigned race_turn(race_mark mark)
{
	return mark % RACE_TURNS;
}
static inline const struct race_who *race_who_of(const struct race_marks *m, race_mark mark)
{
	static const struct race_who nobody; /* before the first one, there is no table */
	return mark ? &m->who[mark / RACE_TURNS] : &nobody;
}
static inline uint32_t race_rotate(uint32_t lanes, unsigned by)
{
	by %= 32;
	return by ? lanes << by | lanes >> (32 - by) : lanes;
}
/* The lanes of @mark at @address. */
static inline uint32_t race_lanes_at(const struct race_marks *m, race_mark mark, uint64_t address)
{
	const struct race_who *who = race_who_of(m, mark);
	return who->row ? race_rotate(who->lanes, (unsigned)(address >> who->scale) - race_turn(mark))
	                : who->lanes;
}

#endif

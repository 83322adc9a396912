/*
 * How quickly pieces of work get done, and how long the rest takes: a ladder's rungs, a map's
 * points.
 *
 * Refuses to guess: before a piece is done since the beginning, nothing is known.
 */
#ifndef PMPP_MODEL_PACE_H
#define PMPP_MODEL_PACE_H

struct pace {
	double from_s; /* since when it is taken, on any clock; 0 = not yet */
	unsigned from; /* how many were done then */
	double per_s;  /* pieces in a second, so far; 0 = not known */
	double left_s; /* until all are done; 0 = not known */
};

/* @done pieces are done and @due are not, at @now_s > 0. The first call begins. */
void pace_note(struct pace *p, unsigned done, unsigned due, double now_s);
/* Nothing goes on any more. */
void pace_end(struct pace *p);

#endif

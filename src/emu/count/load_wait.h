/*
 * Which requests of each load wait for L2 or for memory: gathered line by line, in the order of
 * time, by one part of the cache simulation, which sees a few of a request's lines only.
 *
 * A request waits for the slowest of its lines. How often that is slow depends on how the lines go
 * together: rows that are walked in step all reach their next sector at once, so that one request
 * in eight is slow in all of its lines; random lines are slow one by one, so that nearly every
 * request has a slow one. The lines seen at the same instant tell: how many pairs of them are slow
 * together.
 */
#ifndef PMPP_EMU_LOAD_WAIT_H
#define PMPP_EMU_LOAD_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* LATE: not in L1, or on its way there by who asked at the same instant. */
enum { FROM_L2, FROM_DRAM, LATE, LOAD_SOURCES };

struct load_lines {
	double lines, of_requests; /* seen, and the sum of their requests' lines */
	double slow[LOAD_SOURCES]; /* not in L1; on their way from memory; on their way at all */
	double pairs;              /* of lines seen at the same instant, in order ... */
	double slow_pairs[LOAD_SOURCES];
};
struct load_instant;
struct load_wait_log {
	unsigned n;
	uint32_t instant; /* counts up over all waves */
	double weight;    /* of each line of this wave */
	struct load_instant *now;
	struct load_lines *sum;
};

void load_wait_init(struct load_wait_log *w, unsigned loads);
void load_wait_free(struct load_wait_log *w);
/* Of a wave, each of whose lines stands for @weight. */
void load_wait_begin(struct load_wait_log *w, double weight);
void load_wait_end(struct load_wait_log *w);
/* Time has gone on. */
static inline void load_wait_next(struct load_wait_log *w)
{
	w->instant++;
}
/* A line of a request of @lines by load @who. @late: its warp waits, though another may have asked
 * for it. */
void load_wait_add(struct load_wait_log *w, unsigned who, unsigned lines, bool from_l2,
                   bool from_dram, bool late);

void load_lines_add(struct load_lines *sum, const struct load_lines *part);
/* The share of requests with a slow line; @l->lines > 0. */
double slow_requests(const struct load_lines *l, unsigned source);

#endif

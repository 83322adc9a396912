/*
 * Which requests of each load wait for L2 or for memory: noted line by line, in the order of time,
 * by the parts of the cache simulation, each of which sees a few of a request's lines only; added
 * up when all parts have seen their waves.
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
#include <stddef.h>
#include <stdint.h>

/* LATE: not in L1, or on its way there by who asked at the same instant. */
enum { FROM_L2, FROM_DRAM, LATE, LOAD_SOURCES };

struct load_lines {
	double lines, of_requests; /* seen, and the sum of their requests' lines */
	double slow[LOAD_SOURCES]; /* not in L1; on their way from memory; on their way at all */
	double pairs;              /* of lines seen at the same instant, in order ... */
	double slow_pairs[LOAD_SOURCES];
	double whole_lines, whole; /* of requests that were seen whole, each alone, and these ... */
	double whole_slow[LOAD_SOURCES]; /* ... of which so many have a slow line */
};
/* The same of a whole launch, added up stretch by stretch of time: at first nearly every line is
 * slow, later few are. */
struct load_sum {
	double lines, slow[LOAD_SOURCES];
	double requests, slow_requests[LOAD_SOURCES]; /* with a slow line */
};
/* A line that was seen: when, by which load, of a request of so many, and from where. */
struct seen_line {
	uint32_t time;
	uint16_t who;
	uint8_t lines, slow; /* @slow: bit i: by source i */
};
/* What one part has seen, wave after wave. */
struct load_wait_log {
	uint32_t instant, time; /* @instant counts up over all waves */
	struct seen_line *seen;
	size_t n, cap;
	size_t *begin; /* of each wave, in @seen */
	size_t waves, cap_waves;
};

/* A wave begins. */
void load_wait_begin(struct load_wait_log *w, uint32_t time);
/* All that was seen is added up; the next wave is number 0. */
void load_wait_clear(struct load_wait_log *w);
void load_wait_free(struct load_wait_log *w);
/* Time has gone on. */
static inline void load_wait_next(struct load_wait_log *w, uint32_t time)
{
	w->time = time;
	w->instant++;
}
/* A line of a request of @lines by load @who. @late: its warp waits, though another may have asked
 * for it. */
void load_wait_add(struct load_wait_log *w, unsigned who, unsigned lines, bool from_l2,
                   bool from_dram, bool late);

/* Sums of @loads loads. */
struct load_instant;
struct load_waits {
	unsigned loads;
	struct load_instant *now;   /* room for one instant */
	struct load_lines *stretch; /* that is not over yet */
	struct load_sum *sum;       /* of those that are */
};
void load_waits_init(struct load_waits *w, unsigned loads);
void load_waits_free(struct load_waits *w);
/* What @parts parts have seen of wave @wave, each of whose lines stands for @weight. */
void load_waits_add(struct load_waits *w, const struct load_wait_log *const *part, unsigned parts,
                    size_t wave, double weight);

/* What load @load waited for, up to now. */
struct load_sum load_waits_of(const struct load_waits *w, unsigned load);

/* The share of requests with a slow line; @l->lines > 0. */
double slow_requests(const struct load_lines *l, unsigned source);

#endif

/*
 * Which CUPTI counters a chip needs for the panels, and from their values to metrics.
 *
 * The names come from metric.def: an expression `a.sum + 2 * b.sum` of counters per metric, which
 * may be followed by ` / ` and another to divide by; `?` stands before a term that a chip may lack.
 * Exceptions per chip are in cupti_names.def. Pure: opens no library, needs no GPU.
 */
#ifndef PMPP_CUDA_CUDA_COUNTERS_H
#define PMPP_CUDA_CUDA_COUNTERS_H

#include "model/metric.h"

#define COUNTERS_MAX 128
#define COUNTER_TERMS_MAX 6

struct counter_term {
	double factor;
	unsigned counter; /* index into names */
	bool optional;    /* 0 on a chip without the counter */
};

struct counter_plan {
	unsigned n;
	char names[COUNTERS_MAX][104];
	struct {
		unsigned n;     /* 0: no counter for it on this chip */
		unsigned below; /* terms from here on are the divisor; 0 = none */
		struct counter_term terms[COUNTER_TERMS_MAX];
	} metric[METRIC_COUNT];
	unsigned first_stall, n_stalls; /* names of stall counters, in cuda_stall.def's order */
};

/* False: metric.def or cupti_names.def holds a malformed expression; @bad says which. */
bool counters_plan(const char *chip, bool stalls, struct counter_plan *plan, char bad[160]);
/* Takes counter @i out (this chip or CUPTI lacks it). True: metrics or stall reasons went with it.
 */
bool counters_drop(struct counter_plan *plan, unsigned i);
/* Adds the kernel's time as the profiler's replay takes it, for where it is not timed otherwise. */
void counters_add_time(struct counter_plan *plan);
/* That time in ns; NAN = not asked for or not known. */
double counters_time(const struct counter_plan *plan, const double *values);
/* Value of a metric from the counters' values; NAN if it has no terms or one is not a number. */
double counters_metric(const struct counter_plan *plan, enum metric_id id, const double *values);
/* Every metric of the catalogue, or NAN and why not (enum fault_id). */
void counters_values(const struct counter_plan *plan, const char *chip, const double *values,
                     double metric[METRIC_COUNT], uint16_t why[METRIC_COUNT]);
/* "long_scoreboard" and its words; NULL past the end. */
const char *stall_name(unsigned i);
const char *stall_title(unsigned i);
const char *stall_about(unsigned i);
/* Stall reason of counter @i of the plan (>= first_stall): index for stall_name(). */
unsigned counters_stall(const struct counter_plan *plan, unsigned i);

#endif

/*
 * How far a modelled time can be from the truth, and which two can be told apart.
 *
 * Refuses to improve the time: a range says only where four of five launches lay on a real GPU
 * for what the model gave, launches that no constant of the model has seen.
 */
#ifndef PMPP_MODEL_TIME_RANGE_H
#define PMPP_MODEL_TIME_RANGE_H

#include "model/perf.h"

/* Factors of the modelled time. */
struct time_range {
	double low, high;
};

/* Of times that @bottleneck decides. From an H200; assumed on other GPUs. */
struct time_range time_range(enum perf_resource bottleneck);

/* What differs between two runs: of variants the model knows more than of values of a parameter. */
enum time_step { TIME_STEP_VARIANT, TIME_STEP_VALUE };

/*
 * Can the kernel times of two runs be told apart? Modelled ones where pairs so far apart stand in
 * the order that was measured. A measured time and a modelled one where the former is outside the
 * latter's range. Measured ones always; false where one is not known.
 */
bool times_apart(const struct metric_set *a, const struct metric_set *b, enum time_step step);
/* The same of modelled times alone. */
bool modelled_times_apart(double a_ns, double b_ns, enum time_step step);

#endif

/*
 * The formulas of metric.def: arithmetic over counts, read once, evaluated for a launch, a line or
 * the lines of a tag. What a metric needs follows from the names in its formula.
 */
#ifndef PMPP_MODEL_METRIC_FORMULA_H
#define PMPP_MODEL_METRIC_FORMULA_H

#include "model/counts.h"

struct formula; /* read; lasts as long as the program */

/* NULL = the metric has no formula: metric_desc.source names the part that fills it. */
const struct formula *metric_formula(enum metric_id id);
/* The counts in it, bit = enum count_id. */
uint64_t formula_needs(const struct formula *f);
/* Nothing but counts that every line has. */
bool formula_of_lines(const struct formula *f);

/* The count that the metric is, one to one; else COUNT_ID_COUNT. */
enum count_id metric_count(enum metric_id id);

/*
 * Reads "100 * (branches - divergent_branches) / branches": + - * / max(a, b), numbers and names of
 * counts (counts.h). False with the reason when the text is malformed; tests read every row.
 */
bool formula_read(const char *text, struct formula **out, char why[160]);
void formula_free(struct formula *f);

/* What the names mean: counts and, for a whole launch, its figures (NULL = of lines). */
struct formula_input {
	const struct counts *counts;
	const struct counted *known;
	const struct run_counts *launch;
};
/* NAN with *@why when a count is not known or the divisor is 0. */
double formula_value(const struct formula *f, const struct formula_input *in, const char **why);

#endif

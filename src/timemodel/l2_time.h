/*
 * How long L2 has to do with a launch: sectors and lines of loads and stores, and atomics that hit
 * the same words. Loops of compare-and-swap: swap_contest.h.
 */
#ifndef PMPP_TIMEMODEL_L2_TIME_H
#define PMPP_TIMEMODEL_L2_TIME_H

#include "model/counts.h"
#include "model/gpu.h"

#include <stdbool.h>

/* Loads and stores, without what atomics wait for. */
double l2_ns(const struct gpu_spec *g, const struct run_counts *c);
/* How much longer loads wait where they want few lines: of the slices of L2 among which these lie
 * by chance, for the fullest. In ns. */
double uneven_ns(const struct gpu_spec *g, const struct run_counts *c);
/* Of l2_ns(), lines that are stored. */
double stored_lines_ns(const struct gpu_spec *g, const struct run_counts *c);
/* Do lanes store words that are some way apart? Those between them come with the next
 * instructions. */
bool stores_by_words(const struct counts *t);
/* Atomics, and looks at words that need no change, one after the other, of the busiest unit. */
double atomics_ns(const struct atomic_load *a);

#endif

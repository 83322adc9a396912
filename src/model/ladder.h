/*
 * The ladder: the variants of one family in order, each with its time, its rate, and the metric
 * that moved and explains the step.
 *
 * Pure: records in, rows out. The explanation is the figure that feeds the resource which held the
 * rung below: when DRAM was its bottleneck, DRAM bytes; when shared memory, wavefronts; and so on.
 * If that one did not fall, the figure that changed most does.
 */
#ifndef PMPP_MODEL_LADDER_H
#define PMPP_MODEL_LADDER_H

#include "model/session.h"

#define LADDER_MAX 24

struct ladder_rung {
	const struct variant_desc *variant;
	struct run_record *record; /* the holder's; NULL: this rung could not run; `why` says why */
	char why[200];
	/* filled by ladder_compare() */
	double time_ns, rate;      /* rate in GFLOPS, or GB/s where the family does no arithmetic worth it */
	double pct_of_roof;        /* of the sheet's peak for that rate */
	double pct_of_library;     /* of the library line; NAN = none */
	double speedup_first, speedup_previous; /* NAN where there is nothing to compare with */
	char moved[80];            /* "global loads / 16"; "" = first rung */
};

struct ladder {
	const struct kernel_desc *kernel;
	const struct gpu_spec *gpu;
	bool in_bytes;             /* rates are GB/s of the algorithm's bytes, not GFLOPS */
	double library_ns;         /* cuBLAS or another line to compare with; NAN = none */
	unsigned n;
	struct ladder_rung rungs[LADDER_MAX];
};

/* Memory-bound families (less than 1 FLOP per byte at best) are rated in GB/s. */
bool ladder_in_bytes(const struct kernel_cost *cost);
/* Fills every rung's figures from its record. */
void ladder_compare(struct ladder *l);
/* The metric that explains the step from @was to @is, in words. */
void ladder_moved(const struct run_record *was, const struct run_record *is, char *out, size_t n);

#endif

/*
 * The ladder: the variants of one family in order, each with its time, its rate, and the metric
 * that moved and explains the step.
 *
 * Pure: records in, rows out. The explanation of a gain is the figure that feeds the resource which
 * held the rung below: when DRAM was its bottleneck, DRAM bytes; when shared memory, wavefronts;
 * and so on. Of a loss, the figure that got worse and feeds what holds this rung. If there is none,
 * what changed most in that direction does.
 */
#ifndef PMPP_MODEL_LADDER_H
#define PMPP_MODEL_LADDER_H

#include "model/pace.h"
#include "model/session.h"

#define LADDER_MAX 24

struct ladder_rung {
	const struct variant_desc *variant;
	struct run_record *record; /* the holder's; NULL: this rung could not run; `why` says why */
	char why[200];             /* and without `why`: it has not run yet */
	double reference_ns;       /* its time as recorded on another machine; 0 = no recording */
	char book[320];            /* times and rates that the sources print for it; "" = none */
	/* filled by ladder_compare() */
	double time_ns, rate; /* rate in GFLOPS, or GB/s where the family does no arithmetic worth it */
	double pct_of_roof;   /* of the sheet's peak for that rate */
	double pct_of_library;                  /* of the library line; NAN = none */
	double speedup_first, speedup_previous; /* NAN where there is nothing to compare with */
	bool apart;     /* its time and the previous one's: the model can tell which is the shorter */
	char moved[80]; /* "global loads / 16"; "" = first rung */
};

struct ladder {
	struct selection sel; /* what all rungs share; its variant says nothing */
	const struct kernel_desc *kernel;
	const struct gpu_spec *gpu;
	int running;       /* the rung that is being run; -1 = none */
	struct pace pace;  /* of the rungs that are missing */
	bool in_bytes;     /* rates are GB/s of the algorithm's bytes, not GFLOPS */
	double library_ns; /* cuBLAS or another line to compare with; NAN = none */
	char library_name[32];
	bool library_asked; /* whether there is one is known */
	/* where reference_ns was recorded, and the library's time there; "" and 0 = no recording */
	char reference_machine[64], reference_library_name[32];
	double reference_library_ns;
	unsigned n;
	struct ladder_rung rungs[LADDER_MAX];
};

/* A rung for every variant that is not wrong on purpose; none has run. ladder_free(). */
struct ladder *ladder_new(const struct selection *sel);
void ladder_free(struct ladder *l); /* and its records; NULL is fine */
/* What rung @i runs. */
struct selection ladder_selection(const struct ladder *l, unsigned i);
/* Would @sel give the same ladder? */
bool ladder_fits(const struct ladder *l, const struct selection *sel);
/* Takes a copy of @r, without its tables and spans, as the rung it belongs to; false = to none. */
bool ladder_put(struct ladder *l, const struct run_record *r);
/* Moves over the rungs of @from that are the same runs. */
void ladder_adopt(struct ladder *l, struct ladder *from);
/* The first rung that has neither run nor said why not; -1 = none. */
int ladder_missing(const struct ladder *l);

/* Memory-bound families (less than 1 FLOP per byte at best) are rated in GB/s. */
bool ladder_in_bytes(const struct kernel_cost *cost);
/* Fills every rung's figures from its record. */
void ladder_compare(struct ladder *l);
/* The metric that explains the step from @was to @is, in words. */
void ladder_moved(const struct run_record *was, const struct run_record *is, char *out, size_t n);

#endif

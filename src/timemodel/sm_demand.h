/*
 * What a piece of a program asks of one SM, in cycles of each of its parts, and how long parts that
 * are needed together keep it busy. Knows nothing of blocks and waits but what it is told.
 */
#ifndef PMPP_TIMEMODEL_SM_DEMAND_H
#define PMPP_TIMEMODEL_SM_DEMAND_H

#include "model/counts.h"
#include "model/gpu.h"

struct demand {
	double issue, fp32, fp64, int32, sfu, tensor, load, store, shared, barrier;
	double held;            /* lines of L1, times cycles */
	double turns;           /* of loops */
	double texture, values; /* units that are asked for textures, and for matches and the like */
	double group;           /* of tensor cores, by products that warps do not wait for */
};

/* Multiplications of halves that an SM's tensor cores do in a cycle, by mma.sync; 0 = the sheet
 * does not say. */
double products_per_cycle(const struct gpu_spec *g);
struct demand demand_of(const struct gpu_spec *g, const struct region *r);
/* @a and @times of @b. */
struct demand demand_sum(struct demand a, struct demand b, double times);

/* How long the SM is busy with @d, of so many warps for each scheduler. */
double busy_cycles(const struct demand *d, double warps_of_scheduler);
/*
 * Waits of one warp, @alone, and work of all, @busy: the shorter the loops, the less the ones fill
 * the others, as warps that jump stand in each other's way.
 */
double crossed(const struct demand *d, double alone, double busy);

/* Times that overlap imperfectly: 1 = one after the other, infinity = the longest alone. */
double norm(double p, double a, double b);

#endif

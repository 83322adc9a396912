/*
 * The critical path of each region: cycles that a warp which has an SM for itself needs from its
 * top to its end. Operands that are not there yet, barriers, branches; instructions in the order
 * that waits least, as the assembler arranges them, within what memory order and barriers allow.
 *
 * Static: looks at every region once, with average latencies. Of other warps it knows how long they
 * keep a region busy, but not when (kernel_time.h).
 */
#ifndef PMPP_TIMEMODEL_CRITICAL_PATH_H
#define PMPP_TIMEMODEL_CRITICAL_PATH_H

#include "timemodel/load_latency.h"
#include "timemodel/sm_demand.h"

struct path {
	double cycles;   /* from the region's top to its end */
	double to_store; /* ... to its first store past shared memory; its end, if it has none */
};

/*
 * By region of @h. @asked: by region, what one pass of a thread block asks of its SM; while the
 * others of the block are busy, what a warp has loaded comes nearer. *@rounds: how often a warp
 * waits for loads, one after the other. Caller frees.
 */
struct path *critical_paths(const struct hyperblocks *h, const struct gpu_spec *g,
                            const struct load_misses *misses, const struct demand *asked,
                            double *rounds);

#endif

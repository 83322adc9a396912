/*
 * Roofline and time model: from counts and a GPU sheet to GFLOPS, bound and kernel time.
 *
 * Roofline after Williams et al. 2009 (PMPP 5.1): attainable = min(peak, intensity * bandwidth).
 * The time model is the largest of one time per resource, plus launch overhead, with waves and
 * tail; the largest names the bottleneck. Origin of everything here: modelled.
 */
#ifndef PMPP_MODEL_PERF_H
#define PMPP_MODEL_PERF_H

#include "model/counts.h"
#include "model/gpu.h"
#include "model/kernel.h"
#include "model/occupancy.h"

/* X(ID, "name", "what it is") */
#define PERF_RESOURCES(X)                                                                     \
	X(ISSUE, "issue", "warp instructions over the schedulers' issue slots")              \
	X(FP32, "FP32", "FP32 pipe")                                                         \
	X(FP64, "FP64", "FP64 pipe")                                                         \
	X(INT, "INT", "integer pipe")                                                        \
	X(SFU, "SFU", "special-function pipe")                                               \
	X(LSU, "LSU/L1", "global requests: L1 wavefronts of 128-byte lines")                 \
	X(SHARED, "shared", "shared-memory wavefronts, one per SM and cycle")                \
	X(L2, "L2", "sectors that miss L1 over L2 bandwidth")                                \
	X(DRAM, "DRAM", "bytes that miss L2 over memory bandwidth")                          \
	X(LATENCY, "latency", "dependent memory trips that too few warps can hide")

enum perf_resource {
#define X(id, name, about) PERF_##id,
	PERF_RESOURCES(X)
#undef X
	PERF_RESOURCE_COUNT
};

struct perf_result {
	double resource_ns[PERF_RESOURCE_COUNT];
	enum perf_resource bottleneck;
	double kernel_ns;       /* incl. launch overhead and tail */
	double waves, tail_factor;
};

const char *perf_resource_name(enum perf_resource r);
const char *perf_resource_about(enum perf_resource r);

void perf_time(const struct gpu_spec *g, const struct launch_plan *plan, const struct occ_result *occ,
               const struct run_counts *counts, struct perf_result *out);
/* Fills time.* and roof.* (and dram.*, l2.* from counts' cache simulation). When time.kernel_ns is
 * already known as measured it is kept and used. */
void perf_metrics(struct metric_set *m, const struct gpu_spec *g, const struct launch_plan *plan,
                  const struct occ_result *occ, const struct run_counts *counts,
                  const struct kernel_cost *cost, struct perf_result *out);
double roof_attainable_gflops(const struct gpu_spec *g, double flop_per_byte);

#endif

/*
 * Roofline, and the record of a modelled kernel time: from counts, times and a GPU sheet to GFLOPS,
 * bound and bottleneck.
 *
 * Roofline after Williams et al. 2009 (PMPP 5.1): attainable = min(peak, intensity * bandwidth).
 * The time model (timemodel/kernel_time.h) fills the record: one time per resource, the largest of
 * which names the bottleneck, and the kernel's time. Refuses to know how that is worked out.
 */
#ifndef PMPP_MODEL_PERF_H
#define PMPP_MODEL_PERF_H

#include "base/enum_list.h"
#include "model/counts.h"
#include "model/gpu.h"
#include "model/kernel.h"
#include "model/occupancy.h"

/* X(ID, "name", "what it is") */
#define PERF_RESOURCES(X)                                                           \
	X(ISSUE, "issue", "warp instructions over the schedulers' issue slots")         \
	X(FP32, "FP32", "FP32 pipe")                                                    \
	X(FP64, "FP64", "FP64 pipe")                                                    \
	X(INT, "INT", "integer pipe")                                                   \
	X(SFU, "SFU", "special-function pipe")                                          \
	X(LSU, "LSU/L1", "global requests: passes of L1 and stores, by 128-byte lines") \
	X(SHARED, "shared", "shared-memory wavefronts, one per SM and cycle")           \
	X(L2, "L2", "sectors that miss L1 over L2 bandwidth; additions to one address") \
	X(DRAM, "DRAM", "bytes that miss L2 over memory bandwidth")                     \
	X(LATENCY, "latency", "dependent memory trips that too few warps can hide")     \
	X(PAGES, "pages", "managed memory that comes to the GPU page by page")          \
	X(HOST, "host memory", "bytes of the host's memory over its link")              \
	X(TENSOR, "tensor", "products of matrices over the rate of the tensor cores")   \
	X(ADU, "constants", "constants that are looked up, one place of a warp after the other")

enum perf_resource {
#define X(id, name, about) PERF_##id,
	PERF_RESOURCES(X)
#undef X
		PERF_RESOURCE_COUNT
};

struct perf_result {
	double resource_ns[PERF_RESOURCE_COUNT]; /* 0 = not used, or not known (L2, DRAM) */
	enum perf_resource bottleneck;
	double kernel_ns;      /* incl. launch overhead and tail; 0 = cannot launch, not counted */
	double waves;          /* grid / (blocks per SM * SMs) */
	double tail_factor;    /* blocks of the busiest SM / average; >= 1 */
	double resident_warps; /* on average on an SM that has work */
};

const char *perf_resource_name(enum perf_resource r);
const char *perf_resource_about(enum perf_resource r);

/*
 * Fills time.*, roof.* and dram.throughput_gbs. Call after metrics_from_run(): FLOP, DRAM bytes and
 * time that are already known as measured are kept and used. @time: modelled from @counts. @counts
 * and @cost may be NULL (not known).
 */
void perf_metrics(struct metric_set *m, const struct gpu_spec *g, const struct run_counts *counts,
                  const struct kernel_cost *cost, const struct perf_result *time);
/* The flat roof of what an algorithm does: of tensor cores on its inputs where they do it (and the
 * sheet has it), else of FP32. @cost may be NULL. */
double roof_peak_gflops(const struct gpu_spec *g, const struct kernel_cost *cost);
/* min(fp32_gflops, flop_per_byte * dram_gbs); 0 for anything not positive. */
double roof_attainable_gflops(const struct gpu_spec *g, double flop_per_byte);

/* X(ID, "verdict", "advice"): where a point lies under the roof. Near = at least half of it. */
#define ROOF_VERDICTS(X)                                                 \
	X(ROOF_MEMORY_NEAR, "memory-bound, near the roof",                   \
	  "raise the intensity: reuse data in registers or shared memory")   \
	X(ROOF_MEMORY_FAR, "memory-bound, far below the roof",               \
	  "improve the access: coalescing, occupancy, more loads in flight") \
	X(ROOF_COMPUTE_NEAR, "compute-bound, near the roof",                 \
	  "near the limit: only fewer or cheaper operations help")           \
	X(ROOF_COMPUTE_FAR, "compute-bound, far below the roof",             \
	  "feed the pipes: fewer other instructions, more independent operations")

enum roof_verdict { ROOF_VERDICTS(LIST_ID) ROOF_VERDICT_COUNT };
enum roof_verdict roof_classify(const struct gpu_spec *g, double flop_per_byte,
                                double achieved_gflops);
const char *roof_verdict_text(enum roof_verdict v);
const char *roof_verdict_advice(enum roof_verdict v);

#endif

/*
 * From a worker's report to a run result: metrics with origin `measured` or a reason.
 *
 * Pure. Ratios come from the model's own formulas (counts.c), so that a measured and a counted run
 * derive alike; what hardware has no counter for is n/a with a reason, never 0.
 */
#ifndef PMPP_CUDA_CUDA_RESULT_H
#define PMPP_CUDA_CUDA_RESULT_H

#include "cuda/cuda_msg.h"

/* Takes @r's tables. @g: limits for occupancy's percentages; NULL = unknown. @ptx: the kernel's
 * text, or NULL. */
void cuda_result(struct cuda_report *r, const struct launch_plan *plan, const struct gpu_spec *g,
                 const char *ptx, unsigned caps, struct run_result *out);
/* Does any instruction of the text calculate in half precision? Loads and conversions do not. */
bool cuda_half_arithmetic(const char *ptx);

#endif

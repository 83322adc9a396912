/*
 * CUPTI's host half: which of a plan's counters a chip has, in how many passes, and evaluation.
 *
 * Needs no GPU and no driver. The order of calls is guarded here, because CUPTI ends the process
 * on misuse instead of refusing (TOOLCHAIN facts: docs.nvidia.com/cupti, Profiler Host API).
 */
#ifndef PMPP_CUDA_CUPTI_HOST_H
#define PMPP_CUDA_CUPTI_HOST_H

#include "cuda/cuda_counters.h"
#include "cuda/cuda_dl.h"

/* One scheduled set of counters of one chip. Owned; host_close(). */
struct cupti_host {
	const struct cupti_fns *cupti;
	CUpti_Profiler_Host_Object *object;
	struct counter_plan plan;        /* without the counters that the chip lacks */
	const char *names[COUNTERS_MAX]; /* point into plan */
	uint8_t *config;
	size_t config_size;
	unsigned passes;
	unsigned dropped;
	char first_dropped[104];
};

/* What else than the panels' counters; HOST_TIME is for a plan without stalls. */
enum { HOST_STALLS = 1, HOST_TIME = 2 };
/* @availability: CUPTI's image of the live device, or NULL. */
bool host_open(struct cupti_host *h, const struct cupti_fns *cupti, const char *chip, unsigned also,
               const uint8_t *availability, struct cuda_fault *why);
bool host_evaluate(const struct cupti_host *h, const uint8_t *counter_data, size_t size,
                   double *values, struct cuda_fault *why);
void host_close(struct cupti_host *h);
/* Chips that this CUPTI knows. */
bool host_chips(const struct cupti_fns *cupti, size_t *n, const char *const **names,
                struct cuda_fault *why);
/* "cuptiX: 35 CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" as a fault; false unless @r is success. */
bool cupti_ok(const struct cupti_fns *cupti, CUptiResult r, const char *what,
              struct cuda_fault *why);

#endif

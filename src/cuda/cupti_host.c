/* Schedules and evaluates counters without a GPU; see cupti_host.h. */
#include "cuda/cupti_host.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cupti_ok(const struct cupti_fns *cupti, CUptiResult r, const char *what,
              struct cuda_fault *why)
{
	if (r == CUPTI_SUCCESS)
		return true;
	const char *name = NULL;
	if (cupti->GetResultString(r, &name) != CUPTI_SUCCESS || !name)
		name = "unknown error";
	return fault_set(why, fault_of_cupti((int)r), "%s: %d %s", what, (int)r, name);
}

#define TRY(call, what)                       \
	if (!cupti_ok(h->cupti, call, what, why)) \
	goto fail

bool host_chips(const struct cupti_fns *cupti, size_t *n, const char *const **names,
                struct cuda_fault *why)
{
	CUpti_Profiler_Host_GetSupportedChips_Params p = {
		.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE,
	};
	if (!cupti_ok(cupti, cupti->HostGetSupportedChips(&p), "cuptiProfilerHostGetSupportedChips",
	              why))
		return false;
	*n = p.numChips;
	*names = p.ppChipNames;
	return true;
}

static bool create(struct cupti_host *h, const char *chip, const uint8_t *availability,
                   struct cuda_fault *why)
{
	CUpti_Profiler_Host_Initialize_Params p = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
		.pChipName = chip,
		.pCounterAvailabilityImage = availability,
	};
	if (!cupti_ok(h->cupti, h->cupti->HostInitialize(&p), "cuptiProfilerHostInitialize", why))
		return false;
	h->object = p.pHostObject;
	return true;
}

static void destroy(struct cupti_host *h)
{
	if (!h->object)
		return;
	CUpti_Profiler_Host_Deinitialize_Params p = {
		.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
		.pHostObject = h->object,
	};
	h->cupti->HostDeinitialize(&p);
	h->object = NULL;
}

static CUptiResult add(struct cupti_host *h, const char **names, size_t n)
{
	CUpti_Profiler_Host_ConfigAddMetrics_Params p = {
		.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
		.pHostObject = h->object,
		.ppMetricNames = names,
		.numMetrics = n,
	};
	return h->cupti->HostConfigAddMetrics(&p);
}

static void point_names(struct cupti_host *h)
{
	for (unsigned i = 0; i < h->plan.n; i++)
		h->names[i] = h->plan.names[i];
}

static void drop(struct cupti_host *h, unsigned i)
{
	char name[sizeof h->first_dropped];
	memcpy(name, h->plan.names[i], sizeof name);
	if (counters_drop(&h->plan, i) && !h->dropped++)
		memcpy(h->first_dropped, name, sizeof name);
}

/*
 * A chip that lacks one name refuses the whole set, so that the culprits are found by asking for
 * the properties of each; a name whose base exists but whose rollup does not is found by adding one
 * at a time, to a fresh object because a refused one is of no more use.
 */
/* An object with the metrics that are left. */
static bool renew(struct cupti_host *h, const char *chip, const uint8_t *availability,
                  CUptiResult *added, struct cuda_fault *why)
{
	destroy(h);
	if (!create(h, chip, availability, why))
		return false;
	point_names(h);
	*added = add(h, h->names, h->plan.n);
	return true;
}

static bool drop_absent(struct cupti_host *h, const char *chip, const uint8_t *availability,
                        struct cuda_fault *why)
{
	for (unsigned i = 0; i < h->plan.n;) {
		CUpti_Profiler_Host_GetMetricProperties_Params p = {
			.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE,
			.pHostObject = h->object,
			.pMetricName = h->plan.names[i],
		};
		if (h->cupti->HostGetMetricProperties(&p) == CUPTI_SUCCESS)
			i++;
		else
			drop(h, i);
	}
	CUptiResult added;
	if (!renew(h, chip, availability, &added, why))
		return false;
	if (added == CUPTI_SUCCESS)
		return true;
	for (unsigned i = 0; i < h->plan.n;) {
		destroy(h);
		if (!create(h, chip, availability, why))
			return false;
		const char *one = h->plan.names[i];
		if (add(h, &one, 1) == CUPTI_SUCCESS)
			i++;
		else
			drop(h, i);
	}
	return renew(h, chip, availability, &added, why) &&
	       cupti_ok(h->cupti, added, "cuptiProfilerHostConfigAddMetrics", why);
}

bool host_open(struct cupti_host *h, const struct cupti_fns *cupti, const char *chip, unsigned also,
               const uint8_t *availability, struct cuda_fault *why)
{
	*h = (struct cupti_host){ .cupti = cupti };
	char bad[160];
	if (!counters_plan(chip, also & HOST_STALLS, &h->plan, bad))
		return fault_set(why, FAULT_OTHER, "%s", bad);
	if (also & HOST_TIME)
		counters_add_time(&h->plan);
	if (!create(h, chip, availability, why))
		return false;
	point_names(h);
	if (add(h, h->names, h->plan.n) != CUPTI_SUCCESS && !drop_absent(h, chip, availability, why))
		goto fail;
	if (!h->plan.n) {
		fault_set(why, FAULT_COUNTER_ABSENT, "%s has none of the panels' counters", chip);
		goto fail;
	}

	CUpti_Profiler_Host_GetConfigImageSize_Params s = {
		.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
		.pHostObject = h->object,
	};
	TRY(cupti->HostGetConfigImageSize(&s), "cuptiProfilerHostGetConfigImageSize");
	h->config_size = s.configImageSize;
	h->config = mem_zalloc(h->config_size ? h->config_size : 1);
	CUpti_Profiler_Host_GetConfigImage_Params g = {
		.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
		.pHostObject = h->object,
		.configImageSize = h->config_size,
		.pConfigImage = h->config,
	};
	TRY(cupti->HostGetConfigImage(&g), "cuptiProfilerHostGetConfigImage");
	CUpti_Profiler_Host_GetNumOfPasses_Params n = {
		.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
		.configImageSize = h->config_size,
		.pConfigImage = h->config,
	};
	TRY(cupti->HostGetNumOfPasses(&n), "cuptiProfilerHostGetNumOfPasses");
	h->passes = (unsigned)n.numOfPasses;
	return true;
fail:
	host_close(h);
	return false;
}

bool host_evaluate(const struct cupti_host *h, const uint8_t *counter_data, size_t size,
                   double *values, struct cuda_fault *why)
{
	CUpti_Profiler_Host_EvaluateToGpuValues_Params p = {
		.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
		.pHostObject = h->object,
		.pCounterDataImage = counter_data,
		.counterDataImageSize = size,
		.rangeIndex = 0,
		.ppMetricNames = (const char **)(uintptr_t)h->names,
		.numMetrics = h->plan.n,
		.pMetricValues = values,
	};
	return cupti_ok(h->cupti, h->cupti->HostEvaluate(&p), "cuptiProfilerHostEvaluateToGpuValues",
	                why);
}

void host_close(struct cupti_host *h)
{
	destroy(h);
	free(h->config);
	h->config = NULL;
	h->config_size = 0;
}

/*
 * Hardware counters by CUPTI's Range Profiler, all panels in one set; we replay the launch
 * ourselves.
 *
 * Before every pass what the kernel changes in place is put back and L2 is emptied (or left warm),
 * so that passes do the same work and DRAM traffic does not depend on what ran before; CUPTI's own
 * kernel replay promises neither. A session is sticky: after its first start it keeps its set of
 * counters, so one stays open as long as the same set is wanted (opening costs some 140 ms, a pass
 * some 10 ms). CUPTI ends the process on a second Enable or Disable; `open` guards that. Order of
 * calls: docs.nvidia.com/cupti, Range Profiler.
 */
#include "cuda/cuda_work.h"
#include "base/monotonic.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call, what)                                 \
	if (!cupti_ok(&w->cupti, w->cupti.call, what, why)) \
	return false

static bool enable(struct gpu_worker *w, CUpti_RangeProfiler_Object **object,
                   struct cuda_fault *why)
{
	CUpti_RangeProfiler_Enable_Params p = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = w->ctx,
	};
	work_step(w, "cuptiRangeProfilerEnable");
	TRY(RangeEnable(&p), "cuptiRangeProfilerEnable");
	if (!p.pRangeProfilerObject)
		return fault_set(why, FAULT_OTHER, "cuptiRangeProfilerEnable gave no object");
	*object = p.pRangeProfilerObject;
	return true;
}

static void disable(struct gpu_worker *w, CUpti_RangeProfiler_Object *object)
{
	CUpti_RangeProfiler_Disable_Params p = {
		.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
		.pRangeProfilerObject = object,
	};
	work_step(w, "cuptiRangeProfilerDisable");
	w->cupti.RangeDisable(&p);
}

void profile_close(struct gpu_worker *w)
{
	struct profile_session *s = &w->session;
	if (!s->open)
		return;
	s->open = false;
	disable(w, s->object);
	host_close(&s->host);
	free(s->data);
	s->data = NULL;
	s->object = NULL;
}

/* Refusals (error 35, another profiler) come from here, before any kernel is touched. */
static bool availability(struct gpu_worker *w, uint8_t **image, struct cuda_fault *why)
{
	CUpti_Profiler_GetCounterAvailability_Params p = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = w->ctx,
	};
	work_step(w, "cuptiProfilerGetCounterAvailability");
	TRY(GetCounterAvailability(&p), "cuptiProfilerGetCounterAvailability");
	if (!p.counterAvailabilityImageSize || p.counterAvailabilityImageSize > (64u << 20))
		return fault_set(why, FAULT_OTHER, "cuptiProfilerGetCounterAvailability: %zu bytes",
		                 p.counterAvailabilityImageSize);
	*image = mem_zalloc(p.counterAvailabilityImageSize);
	p.pCounterAvailabilityImage = *image;
	if (cupti_ok(&w->cupti, w->cupti.GetCounterAvailability(&p),
	             "cuptiProfilerGetCounterAvailability", why))
		return true;
	free(*image);
	*image = NULL;
	return false;
}

static void explain(struct cuda_fault *why)
{
	size_t n = strlen(why->detail);
	if (why->id == FAULT_PRIVILEGES && work_admin_only() >= 0)
		snprintf(why->detail + n, sizeof why->detail - n, "; RmProfilingAdminOnly: %d",
		         work_admin_only());
	const char *tool = work_injected();
	if (tool && why->id != FAULT_NO_CUPTI && why->id != FAULT_NO_NVPERF) {
		why->id = FAULT_PROFILER_ATTACHED;
		snprintf(why->detail + n, sizeof why->detail - n, "; %s is set", tool);
	}
}

bool profile_try(struct gpu_worker *w, struct cuda_fault *why)
{
	uint8_t *image = NULL;
	bool ok = w->session.open || availability(w, &image, why);
	free(image);
	if (!ok)
		explain(why);
	return ok;
}

bool profile_knows_chip(struct gpu_worker *w, struct cuda_fault *why)
{
	static struct cupti_host h;
	work_step(w, "scheduling counters for %s", w->chip);
	if (!host_open(&h, &w->cupti, w->chip, 0, NULL, why))
		return false;
	host_close(&h);
	return true;
}

static bool counter_image(struct gpu_worker *w, struct profile_session *s, struct cuda_fault *why)
{
	CUpti_RangeProfiler_GetCounterDataSize_Params p = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.pMetricNames = s->host.names,
		.numMetrics = s->host.plan.n,
		.maxNumOfRanges = 1,
		.maxNumRangeTreeNodes = 1,
	};
	TRY(RangeGetCounterDataSize(&p), "cuptiRangeProfilerGetCounterDataSize");
	if (!p.counterDataSize || p.counterDataSize > (256u << 20))
		return fault_set(why, FAULT_OTHER, "a counter image of %zu bytes", p.counterDataSize);
	s->data_size = p.counterDataSize;
	s->data = mem_zalloc(s->data_size);
	return true;
}

static bool profile_open(struct gpu_worker *w, bool stalls, struct cuda_fault *why)
{
	struct profile_session *s = &w->session;
	if (s->open && s->stalls == stalls)
		return true;
	profile_close(w);
	work_step(w, "scheduling counters for %s", w->chip);
	if (!host_open(&s->host, &w->cupti, w->chip, stalls ? HOST_STALLS : 0, NULL, why))
		return false;
	/* host_open() points names into the plan, which now lies here for good. */
	if (!enable(w, &s->object, why)) {
		host_close(&s->host);
		return false;
	}
	s->open = true;
	s->stalls = stalls;
	if (counter_image(w, s, why))
		return true;
	profile_close(w);
	return false;
}

/* One pass: the launch between Start and Stop, in the state that every pass starts from. */
static bool pass(struct gpu_worker *w, const struct gpu_launch *l, bool *last,
                 struct cuda_fault *why)
{
	struct profile_session *s = &w->session;
	CUpti_RangeProfiler_Start_Params start = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
	};
	CUpti_RangeProfiler_Stop_Params stop = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
	};
	if (!launch_restore(w, l, why) || (!l->job->warm_l2 && !flush_l2(w, why)) ||
	    !cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why))
		return false;
	work_step(w, "cuptiRangeProfilerStart");
	TRY(RangeStart(&start), "cuptiRangeProfilerStart");
	work_step(w, "counting %s", l->job->entry);
	bool ran = launch_on(w, l, l->buffers, w->stream, why) &&
	           cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
	if (w->poisoned)
		return false;
	work_step(w, "cuptiRangeProfilerStop");
	if (!ran) {
		w->cupti.RangeStop(&stop);
		return false;
	}
	TRY(RangeStop(&stop), "cuptiRangeProfilerStop");
	*last = stop.isAllPassSubmitted != 0;
	return true;
}

/* All passes; the counters' values land in @values, by the plan's order. */
static bool collect(struct gpu_worker *w, const struct gpu_launch *l, double *values,
                    struct cuda_fault *why)
{
	struct profile_session *s = &w->session;
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
		.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.counterDataSize = s->data_size,
		.pCounterData = s->data,
	};
	TRY(RangeCounterDataInit(&init), "cuptiRangeProfilerCounterDataImageInitialize");
	CUpti_RangeProfiler_SetConfig_Params config = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.configSize = s->host.config_size,
		.pConfig = s->host.config,
		.counterDataImageSize = s->data_size,
		.pCounterDataImage = s->data,
		.range = CUPTI_AutoRange,
		.replayMode = CUPTI_UserReplay,
		.maxRangesPerPass = 1,
		.numNestingLevels = 1,
		.minNestingLevel = 1,
	};
	work_step(w, "cuptiRangeProfilerSetConfig");
	TRY(RangeSetConfig(&config), "cuptiRangeProfilerSetConfig");
	bool last = false;
	for (unsigned i = 0; i < s->host.passes + 2 && !last; i++) {
		if (!pass(w, l, &last, why))
			return false;
		if (!last && work_cancelled(w))
			return fault_set(why, FAULT_CANCELLED, "%s", "");
	}
	/* Metrics of a cut collection would be fractions of the truth (RRZE-HPC/likwid#593). */
	if (!last)
		return fault_set(why, FAULT_OTHER, "%u passes were not enough", s->host.passes + 2);
	CUpti_RangeProfiler_DecodeData_Params decode = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
	};
	TRY(RangeDecode(&decode), "cuptiRangeProfilerDecodeData");
	CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = s->data,
		.counterDataImageSize = s->data_size,
	};
	TRY(RangeGetInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
	if (info.numTotalRanges < 1)
		return fault_set(why, FAULT_OTHER, "the profiler recorded no launch");
	return host_evaluate(&s->host, s->data, s->data_size, values, why);
}

static void to_report(const struct counter_plan *plan, const char *chip, const double *values,
                      struct cuda_report *r)
{
	counters_values(plan, chip, values, r->metric, r->metric_why);
	r->run.n_stalls = 0;
	for (unsigned i = plan->first_stall; i < plan->n && r->run.n_stalls < RUN_MAX_STALLS; i++) {
		if (!isfinite(values[i]))
			continue;
		struct run_stall *s = &r->run.stalls[r->run.n_stalls++];
		snprintf(s->reason, sizeof s->reason, "%s", stall_name(counters_stall(plan, i)));
		s->warps = values[i];
	}
}

bool profile_counters(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_report *r,
                      struct cuda_fault *why)
{
	double begin = clock_now_s();
	double values[COUNTERS_MAX];
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		values[i] = (double)NAN;
	bool ok =
		work_cupti(w, why) && profile_open(w, l->job->stalls, why) && collect(w, l, values, why);
	if (ok) {
		to_report(&w->session.host.plan, w->chip, values, r);
		r->run.counter_passes = w->session.host.passes;
	} else {
		explain(why);
		if (!w->poisoned)
			profile_close(w);
	}
	r->run.counters_s = clock_now_s() - begin;
	return ok;
}

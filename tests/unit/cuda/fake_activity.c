/* The stand-in's CUPTI: activity records and SASS metrics. */
#include "fake_nvidia.h"

#include <stdlib.h>
#include <string.h>

static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc completed;
static unsigned kinds_on;
static uint32_t correlation;

/* Records of one size, so that the walk is simple. */
union any {
	CUpti_Activity head;
	CUpti_ActivityKernel10 kernel;
	CUpti_ActivityMemcpy6 copy;
	CUpti_ActivityAPI api;
};
static union any pending[4096];
static size_t n_pending;

void fake_record(int kind, size_t bytes, uint64_t start, const char *name)
{
	correlation++;
	fake_state.launched += kind < 0;
	if (fake_state.started && kinds_on)
		fake_misuse("activity collection while counters are read");
	CUpti_ActivityKind k =
		kind < 0 ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_MEMCPY;
	uint64_t end = fake_now_ns();
	end += end <= start;
	if ((kinds_on & (1u << CUPTI_ACTIVITY_KIND_DRIVER)) && n_pending < 4096) {
		union any *r = &pending[n_pending++];
		memset(r, 0, sizeof *r);
		r->api.kind = CUPTI_ACTIVITY_KIND_DRIVER;
		r->api.start = start;
		r->api.end = end;
		r->api.correlationId = correlation;
	}
	if (!(kinds_on & (1u << k)) || n_pending == 4096)
		return;
	union any *r = &pending[n_pending++];
	memset(r, 0, sizeof *r);
	r->head.kind = k;
	if (kind < 0) {
		r->kernel.start = start;
		r->kernel.end = end;
		r->kernel.name = name;
		r->kernel.streamId = 7;
		r->kernel.correlationId = correlation;
	} else {
		r->copy.start = start;
		r->copy.end = end;
		r->copy.bytes = bytes;
		r->copy.copyKind = (uint8_t)kind;
		r->copy.streamId = 7;
		r->copy.correlationId = correlation;
	}
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a,
                                           CUpti_BuffersCallbackCompleteFunc b)
{
	CP(cuptiActivityRegisterCallbacks);
	wanted = a;
	completed = b;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind k)
{
	CP(cuptiActivityEnable);
	kinds_on |= 1u << k;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind k)
{
	kinds_on &= ~(1u << k);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	CP(cuptiActivityFlushAll);
	for (size_t at = 0; at < n_pending;) {
		uint8_t *buffer;
		size_t size, max;
		wanted(&buffer, &size, &max);
		size_t n = size / sizeof *pending;
		if (n > n_pending - at)
			n = n_pending - at;
		memcpy(buffer, &pending[at], n * sizeof *pending);
		completed(NULL, 0, buffer, size, n * sizeof *pending);
		at += n;
	}
	n_pending = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record_)
{
	union any *first = (union any *)(void *)buffer;
	union any *next = *record_ ? (union any *)(void *)*record_ + 1 : first;
	if ((size_t)(next - first) >= valid / sizeof *next)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record_ = &next->head;
	return CUPTI_SUCCESS;
}

/* --- SASS metrics --- */

static int sass_set;
static CUpti_SassMetrics_Config sass_config[64];
static size_t n_sass;

CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params *p)
{
	if (fake_listed("FAKE_ABSENT", p->pMetricName))
		return CUPTI_ERROR_INVALID_METRIC_NAME;
	uint64_t h = 5381;
	for (const char *s = p->pMetricName; *s; s++)
		h = h * 33 + (unsigned char)*s;
	p->metric.metricId = h;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params *p)
{
	CP(cuptiSassMetricsSetConfig);
	if (p->numOfMetricConfig > 64)
		fake_misuse("cuptiSassMetricsSetConfig");
	if (sass_set)
		return CUPTI_ERROR_OUT_OF_MEMORY; /* as the real one does */
	n_sass = p->numOfMetricConfig;
	memcpy(sass_config, p->pConfigs, n_sass * sizeof *sass_config);
	sass_set = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params *p)
{
	(void)p;
	if (!sass_set || fake_state.sass_on)
		fake_misuse("cuptiSassMetricsEnable");
	fake_state.sass_on = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params *p)
{
	(void)p;
	if (!fake_state.sass_on)
		fake_misuse("cuptiSassMetricsDisable");
	fake_state.sass_on = 0;
	return CUPTI_SUCCESS;
}

/* Three instructions, one record for each metric of each. */
CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params *p)
{
	p->numOfPatchedInstructionRecords = 3 * n_sass;
	p->numOfInstances = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params *p)
{
	for (size_t i = 0; i < p->numOfPatchedInstructionRecords; i++) {
		p->pMetricsData[i].functionName = "fake_vecadd";
		p->pMetricsData[i].pcOffset = (uint32_t)(i / n_sass) * 16;
		p->pMetricsData[i].pInstanceValues[0].metricId = sass_config[i % n_sass].metricId;
		p->pMetricsData[i].pInstanceValues[0].value = 100 + i / n_sass;
	}
	return CUPTI_SUCCESS;
}

/* The first two instructions are of line 12, the third of line 13. */
CUptiResult cuptiGetSassToSourceCorrelation(CUpti_GetSassToSourceCorrelationParams *p)
{
	p->lineNumber = p->pcOffset < 32 ? 12 : 13;
	p->fileName = strdup("fake.cu");
	p->dirName = strdup("/somewhere");
	return CUPTI_SUCCESS;
}

/* The stand-in's CUPTI: activity records and SASS metrics. */
#include "fake_nvidia.h"

#include <cupti_driver_cbid.h>

#include <pthread.h>
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
	CUpti_ActivityMemset4 set;
	CUpti_ActivityAPI api;
	CUpti_ActivityContext3 context;
};
#define ROOM 16384
static union any pending[ROOM];
static size_t n_pending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_launch next_launch;

void fake_next(const struct fake_launch *l)
{
	next_launch = *l;
}

unsigned fake_correlation(void)
{
	return correlation + 1;
}

unsigned fake_stream_number(CUstream stream)
{
	return stream ? 12 + (unsigned)(uintptr_t)stream / 16 : 7;
}

static union any *append(CUpti_ActivityKind kind)
{
	if (!(kinds_on & (1u << kind)) || n_pending == ROOM)
		return NULL;
	union any *r = &pending[n_pending++];
	memset(r, 0, sizeof *r);
	r->head.kind = kind;
	return r;
}

static void append_call(uint64_t start, uint64_t end, int result)
{
	union any *r = append(CUPTI_ACTIVITY_KIND_DRIVER);
	if (!r)
		return;
	r->api.start = start;
	r->api.end = end;
	r->api.correlationId = correlation;
	r->api.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
	r->api.returnValue = (uint32_t)result;
}

void fake_refused(int result, uint64_t start)
{
	pthread_mutex_lock(&lock);
	correlation++;
	append_call(start, fake_now_ns(), result);
	pthread_mutex_unlock(&lock);
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	(void)domain;
	(void)cbid;
	*name = "cuLaunchKernel";
	return CUPTI_SUCCESS;
}

void fake_record(int kind, size_t bytes, uint64_t start, const char *name)
{
	pthread_mutex_lock(&lock);
	correlation++;
	fake_state.launched += kind == -1;
	if (fake_state.started && kinds_on)
		fake_misuse("activity collection while counters are read");
	CUpti_ActivityKind k = kind == FAKE_SET ? CUPTI_ACTIVITY_KIND_MEMSET
	                       : kind < 0       ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
	                                        : CUPTI_ACTIVITY_KIND_MEMCPY;
	uint64_t end = fake_now_ns();
	end += end <= start;
	append_call(start, end, 0);
	union any *r = append(k);
	if (r && kind == FAKE_SET) {
		r->set.start = start;
		r->set.end = end;
		r->set.bytes = bytes;
		r->set.streamId = 7;
		r->set.correlationId = correlation;
	} else if (r && kind < 0) {
		const struct fake_launch *l = &next_launch;
		r->kernel.start = start;
		r->kernel.end = end;
		r->kernel.name = name;
		r->kernel.streamId = fake_stream_number(l->stream);
		r->kernel.correlationId = correlation;
		r->kernel.gridX = (int)l->grid[0];
		r->kernel.gridY = (int)l->grid[1];
		r->kernel.gridZ = (int)l->grid[2];
		r->kernel.blockX = (int)l->block[0];
		r->kernel.blockY = (int)l->block[1];
		r->kernel.blockZ = (int)l->block[2];
		r->kernel.dynamicSharedMemory = (int)l->shared;
		r->kernel.registersPerThread = 16;
	} else if (r) {
		r->copy.start = start;
		r->copy.end = end;
		r->copy.bytes = bytes;
		r->copy.copyKind = (uint8_t)kind;
		r->copy.streamId = fake_stream_number(next_launch.stream);
		r->copy.correlationId = correlation;
		r->copy.srcKind = r->copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
		if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
			r->copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
		else if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
			r->copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	}
	next_launch = (struct fake_launch){ 0 };
	pthread_mutex_unlock(&lock);
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
	if (k == CUPTI_ACTIVITY_KIND_CONTEXT) {
		union any *r = append(k);
		r->context.contextId = 1;
		r->context.nullStreamId = 7;
	}
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
	pthread_mutex_lock(&lock);
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
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext c, uint32_t stream, size_t *n)
{
	(void)c;
	(void)stream;
	*n = (size_t)fake_result("dropped");
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

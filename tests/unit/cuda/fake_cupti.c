/* The stand-in's profiler host and range profiler: a counter is 1000 + the length of its name. */
#include "fake_nvidia.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUptiResult cuptiGetVersion(uint32_t *v)
{
	const char *s = getenv("FAKE_CUPTI");
	*v = s ? (uint32_t)atoi(s) : 130001;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult r, const char **s)
{
	static char text[40];
	snprintf(text, sizeof text, "CUPTI_ERROR_FAKE_%d", (int)r);
	*s = text;
	return CUPTI_SUCCESS;
}

static int initialised, enabled, configured, passes;

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p)
{
	(void)p;
	CP(cuptiProfilerInitialize);
	initialised = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
	if (!initialised)
		fake_misuse("cuptiDeviceGetChipName before cuptiProfilerInitialize");
	const char *s = getenv("FAKE_CHIP");
	p->pChipName = s ? s : "GH100";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *p)
{
	CP(cuptiProfilerDeviceSupported);
	int which = atoi(getenv("FAKE_UNSUPPORTED") ? getenv("FAKE_UNSUPPORTED") : "0");
	CUpti_Profiler_Support_Level *fields[] = { NULL,     &p->architecture,
		                                       &p->vGpu, &p->confidentialCompute,
		                                       &p->cmp,  &p->wsl };
	for (int i = 1; i < 6; i++)
		*fields[i] = i == which ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
		                        : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	p->sli = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	p->isSupported =
		which ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *p)
{
	CP(cuptiProfilerGetCounterAvailability);
	p->counterAvailabilityImageSize = 64;
	return CUPTI_SUCCESS;
}

struct host {
	size_t n;
};

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
	CP(cuptiProfilerHostInitialize);
	p->pHostObject = (CUpti_Profiler_Host_Object *)calloc(1, sizeof(struct host));
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
	free(p->pHostObject);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params *p)
{
	static const char *const chips[] = { "GH100" };
	p->numChips = 1;
	p->ppChipNames = chips;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *p)
{
	return fake_listed("FAKE_ABSENT", p->pMetricName) ? CUPTI_ERROR_INVALID_METRIC_NAME
	                                                  : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
	CP(cuptiProfilerHostConfigAddMetrics);
	for (size_t i = 0; i < p->numMetrics; i++)
		if (fake_listed("FAKE_ABSENT", p->ppMetricNames[i]))
			return CUPTI_ERROR_INVALID_PARAMETER;
	((struct host *)(void *)p->pHostObject)->n += p->numMetrics;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
	p->configImageSize = 16;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
	memset(p->pConfigImage, 1, p->configImageSize);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
	p->numOfPasses = 5;
	return CUPTI_SUCCESS;
}

/* The value of a counter is 1000 plus the length of its name, so that tests can predict it. */
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
	CP(cuptiProfilerHostEvaluateToGpuValues);
	for (size_t i = 0; i < p->numMetrics; i++)
		p->pMetricValues[i] = fake_listed("FAKE_NAN", p->ppMetricNames[i])
		                          ? (double)NAN
		                          : 1000 + (double)strlen(p->ppMetricNames[i]);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
	CP(cuptiRangeProfilerEnable);
	if (!initialised || enabled)
		fake_misuse("cuptiRangeProfilerEnable");
	enabled = 1;
	p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&enabled;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p)
{
	(void)p;
	if (!enabled)
		fake_misuse("cuptiRangeProfilerDisable");
	enabled = configured = fake_state.started = passes = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
	p->counterDataSize = 256;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
	memset(p->pCounterData, 0, p->counterDataSize);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p)
{
	CP(cuptiRangeProfilerSetConfig);
	if (!enabled || !p->pConfig || p->maxRangesPerPass < 1)
		fake_misuse("cuptiRangeProfilerSetConfig");
	configured = 1;
	fake_state.replay = p->replayMode == CUPTI_KernelReplay;
	passes = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p)
{
	(void)p;
	CP(cuptiRangeProfilerStart);
	if (!configured || fake_state.started || fake_state.sass_on)
		fake_misuse("cuptiRangeProfilerStart");
	fake_state.started = 1;
	fake_state.launched = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
	CP(cuptiRangeProfilerStop);
	if (!fake_state.started)
		fake_misuse("cuptiRangeProfilerStop");
	if (fake_state.launched != 1)
		fake_misuse("a pass is one launch");
	fake_state.started = fake_state.launched = 0;
	p->isAllPassSubmitted = fake_state.replay || ++passes % 5 == 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p)
{
	(void)p;
	CP(cuptiRangeProfilerDecodeData);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
	p->numTotalRanges = 1;
	return CUPTI_SUCCESS;
}

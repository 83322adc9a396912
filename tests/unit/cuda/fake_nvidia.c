/*
 * A stand-in for libcuda, libcupti, NVML and cuBLAS in one library, for tests without a GPU.
 *
 * Device memory is host memory and a few kernels are functions here, so that results can be
 * checked. FAKE_NVIDIA holds what goes wrong, separated by commas: "cuInit=100" (a result),
 * "cuptiRangeProfilerStart=crash", "cuLaunchKernel=hang", "cuMemcpyHtoD_v2=nap" (1..3 ms), "=doze"
 * (120 ms). Misuse that kills the real CUPTI (a second Enable, Start without SetConfig ...) kills
 * this one too. FAKE_ABSENT names counters (parts of names) that the chip lacks, FAKE_NAN those
 * without a number.
 */
#define _GNU_SOURCE
#include "cuda/cuda_dl.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- what goes wrong --- */

static int fake(const char *name)
{
	const char *s = getenv("FAKE_NVIDIA");
	size_t n = strlen(name);
	for (; s && *s; s += strcspn(s, ","), s += *s == ',') {
		if (strncmp(s, name, n) || s[n] != '=')
			continue;
		const char *v = s + n + 1;
		if (!strncmp(v, "crash", 5)) {
			signal(SIGSEGV, SIG_DFL); /* no sanitizer's report in between */
			raise(SIGSEGV);
		} else if (!strncmp(v, "exit", 4))
			_exit(7);
		else if (!strncmp(v, "hang", 4))
			for (;;)
				pause();
		else if (!strncmp(v, "doze", 4))
			nanosleep(&(struct timespec){ .tv_nsec = 120000000 }, NULL);
		else if (!strncmp(v, "nap", 3))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 + rand() % 2000000 }, NULL);
		else
			return atoi(v);
	}
	return 0;
}

static int sticky; /* a kernel faulted: everything fails from then on */

#define CU(name)                                \
	do {                                        \
		int r_ = sticky ? sticky : fake(#name); \
		if (r_)                                 \
			return (CUresult)r_;                \
	} while (0)
#define CP(name)                    \
	do {                            \
		int r_ = fake(#name);       \
		if (r_)                     \
			return (CUptiResult)r_; \
	} while (0)

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- libcuda --- */

CUresult cuInit(unsigned flags)
{
	(void)flags;
	CU(cuInit);
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *v)
{
	const char *s = getenv("FAKE_DRIVER");
	*v = s ? atoi(s) : 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult r, const char **name)
{
	static char text[32];
	snprintf(text, sizeof text, "CUDA_ERROR_FAKE_%d", (int)r);
	*name = text;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	const char *s = getenv("FAKE_DEVICES");
	CU(cuDeviceGetCount);
	*n = s ? atoi(s) : 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *d, int i)
{
	*d = i;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int n, CUdevice d)
{
	snprintf(name, (size_t)n, d ? "NVIDIA Fake 200 #%d" : "NVIDIA H200", d);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d)
{
	static const int rows[][2] = {
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
		{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
		{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
		{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
		{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
		{ CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
		{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
		{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
		{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
		{ CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
		{ CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 65536 },
		{ CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
		{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
	};
	(void)d;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i][0] == (int)a) {
			*v = rows[i][1];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d)
{
	(void)d;
	*bytes = (size_t)150754820096;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int n, CUdevice d)
{
	snprintf(id, (size_t)n, "0000:%02d:00.0", d + 1);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d)
{
	(void)d;
	CU(cuDevicePrimaryCtxRetain);
	*c = (CUcontext)&sticky;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
	(void)d;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext c)
{
	(void)c;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	CU(cuCtxSynchronize);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*free_bytes = (size_t)1 << 30;
	*total = (size_t)2 << 30;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	CU(cuMemAlloc_v2);
	if (n > (size_t)1 << 30)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = (CUdeviceptr)(uintptr_t)malloc(n);
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	free((void *)(uintptr_t)p);
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	(void)flags;
	CU(cuMemHostAlloc);
	*p = malloc(n);
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
	free(p);
	return CUDA_SUCCESS;
}

static void record(int kind, size_t bytes, uint64_t start, const char *name);

static CUresult copy(void *to, const void *from, size_t n, int kind)
{
	uint64_t start = now_ns();
	memcpy(to, from, n);
	if (kind)
		record(kind, n, start, NULL);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n)
{
	for (size_t at = 0; at < n; at += (size_t)16 << 20) /* a large copy dozes for longer */
		CU(cuMemcpyHtoD_v2);
	return copy((void *)(uintptr_t)to, from, n, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	CU(cuMemcpyDtoH_v2);
	return copy(to, (const void *)(uintptr_t)from, n, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyHtoDAsync_v2);
	return copy((void *)(uintptr_t)to, from, n, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyDtoHAsync_v2);
	return copy(to, (const void *)(uintptr_t)from, n, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s)
{
	(void)s;
	CU(cuMemcpyDtoDAsync_v2);
	return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n,
	            CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
}

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s)
{
	(void)s;
	memset((void *)(uintptr_t)p, v, n);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *m, const void *image)
{
	(void)image;
	CU(cuModuleLoadData);
	*m = (CUmodule)&sticky;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *o, void **v)
{
	(void)image;
	if (fake("cuModuleLoadDataEx") && n && o[0] == CU_JIT_ERROR_LOG_BUFFER)
		strcpy(v[0], "ptxas fatal: fake");
	CU(cuModuleLoadDataEx);
	*m = (CUmodule)&sticky;
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule m)
{
	(void)m;
	return CUDA_SUCCESS;
}

static const char *const kernels[] = {
	"fake_vecadd", "fake_increment", "fake_fault",
	"fake_hang",   "pmpp_flush_l2",  "vec_add_v3_per_element",
};

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	(void)m;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i], name)) {
			*f = (CUfunction)(uintptr_t)&kernels[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f)
{
	(void)f;
	*v = a == CU_FUNC_ATTRIBUTE_NUM_REGS                ? 10
	     : a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
	                                                    : 0;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v)
{
	(void)f;
	(void)a;
	(void)v;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream s, void **args,
                        void **extra)
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
	CU(cuLaunchKernel);
	const char *name = *(const char *const *)(uintptr_t)f;
	uint64_t start = now_ns();
	if (!strcmp(name, "fake_vecadd") || !strcmp(name, "vec_add_v3_per_element")) {
		const float *a = *(float **)args[0], *b = *(float **)args[1];
		float *c = *(float **)args[2];
		for (int i = 0; i < *(int *)args[3]; i++)
			c[i] = a[i] + b[i];
	} else if (!strcmp(name, "fake_increment")) {
		int *x = *(int **)args[0];
		for (int i = 0; i < *(int *)args[1]; i++)
			x[i]++;
	} else if (!strcmp(name, "fake_fault")) {
		sticky = 700;
	} else if (!strcmp(name, "fake_hang")) {
		for (;;)
			pause();
	}
	record(-1, 0, start, name);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	(void)flags;
	*s = (CUstream)&sticky;
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream s)
{
	(void)s;
	CU(cuStreamSynchronize);
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *e, unsigned flags)
{
	(void)flags;
	*e = (CUevent)(uintptr_t)calloc(1, sizeof(uint64_t));
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent e)
{
	free((void *)e);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
	(void)s;
	CU(cuEventRecord);
	*(uint64_t *)(void *)e = now_ns();
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
	(void)s;
	(void)flags;
	CU(cuStreamWaitEvent);
	if (!*(uint64_t *)(void *)e)
		return CUDA_ERROR_INVALID_VALUE; /* nothing was recorded */
	return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent e)
{
	(void)e;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
	*ms = (float)(*(uint64_t *)(void *)b - *(uint64_t *)(void *)a) * 1e-6f;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads,
                                                     size_t shared)
{
	(void)f;
	(void)shared;
	*n = 2048 / threads;
	return CUDA_SUCCESS;
}

/* --- CUPTI: host half and range profiler --- */

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

static int initialised, enabled, configured, started, launched, passes, sass_set, sass_on;

static void misuse(const char *what)
{
	fprintf(stderr, "fake CUPTI: misuse: %s\n", what);
	abort();
}

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
		misuse("cuptiDeviceGetChipName before cuptiProfilerInitialize");
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

static int listed(const char *env, const char *name)
{
	const char *s = getenv(env);
	return s && *s && strstr(name, s) != NULL;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *p)
{
	return listed("FAKE_ABSENT", p->pMetricName) ? CUPTI_ERROR_INVALID_METRIC_NAME : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
	CP(cuptiProfilerHostConfigAddMetrics);
	for (size_t i = 0; i < p->numMetrics; i++)
		if (listed("FAKE_ABSENT", p->ppMetricNames[i]))
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
		p->pMetricValues[i] = listed("FAKE_NAN", p->ppMetricNames[i])
		                          ? (double)NAN
		                          : 1000 + (double)strlen(p->ppMetricNames[i]);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
	CP(cuptiRangeProfilerEnable);
	if (!initialised || enabled)
		misuse("cuptiRangeProfilerEnable");
	enabled = 1;
	p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&enabled;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p)
{
	(void)p;
	if (!enabled)
		misuse("cuptiRangeProfilerDisable");
	enabled = configured = started = passes = 0;
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
		misuse("cuptiRangeProfilerSetConfig");
	configured = 1;
	passes = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p)
{
	(void)p;
	CP(cuptiRangeProfilerStart);
	if (!configured || started || sass_on)
		misuse("cuptiRangeProfilerStart");
	started = 1;
	launched = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
	CP(cuptiRangeProfilerStop);
	if (!started)
		misuse("cuptiRangeProfilerStop");
	if (launched != 1)
		misuse("a pass is one launch");
	started = launched = 0;
	p->isAllPassSubmitted = ++passes % 5 == 0;
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

/* --- CUPTI: activity --- */

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

/* @kind: a copy's kind; -1 = a kernel. */
static void record(int kind, size_t bytes, uint64_t start, const char *name)
{
	correlation++;
	launched += kind < 0;
	if (started && kinds_on)
		misuse("activity collection while counters are read");
	CUpti_ActivityKind k =
		kind < 0 ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_MEMCPY;
	uint64_t end = now_ns();
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

/* --- CUPTI: SASS metrics --- */

static CUpti_SassMetrics_Config sass_config[64];
static size_t n_sass;

CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params *p)
{
	if (listed("FAKE_ABSENT", p->pMetricName))
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
		misuse("cuptiSassMetricsSetConfig");
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
	if (!sass_set || sass_on)
		misuse("cuptiSassMetricsEnable");
	sass_on = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params *p)
{
	(void)p;
	if (!sass_on)
		misuse("cuptiSassMetricsDisable");
	sass_on = 0;
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

/* --- NVML and cuBLAS --- */

int nvmlInit_v2(void)
{
	return fake("nvmlInit_v2");
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device)
{
	(void)bus_id;
	*device = &sticky;
	return 0;
}

int nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == NVML_CLOCK_MEM ? 3201 : 1755;
	return 0;
}

int nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == NVML_CLOCK_MEM ? 3201 : 1980;
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	snprintf(version, length, "580.159.04");
	return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(nvml_device device, unsigned *gen)
{
	(void)device;
	*gen = 5;
	return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(nvml_device device, unsigned *width)
{
	(void)device;
	*width = 16;
	return 0;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *h)
{
	*h = (cublasHandle_t)&sticky;
	return (cublasStatus_t)fake("cublasCreate_v2");
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t h)
{
	(void)h;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s)
{
	(void)h;
	(void)s;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t m)
{
	(void)h;
	(void)m;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t h, int *v)
{
	(void)h;
	*v = 130100;
	return CUBLAS_STATUS_SUCCESS;
}

/* Two kernels in one call, as split-K products are. */
static cublasStatus_t product(const char *name)
{
	uint64_t start = now_ns();
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	record(-1, 0, start, name);
	record(-1, 0, now_ns(), "splitK");
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
	(void)h, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda;
	(void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
	return product("sgemm");
}

cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType at,
                            int lda, const void *b, cudaDataType bt, int ldb, const void *beta,
                            void *c, cudaDataType ct, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algo)
{
	(void)h, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)at,
		(void)lda;
	(void)b, (void)bt, (void)ldb, (void)beta, (void)c, (void)ct, (void)ldc, (void)compute,
		(void)algo;
	return product("hgemm");
}

/*
 * Counters of the launches that the explorer asked for: the driver calls us in front of each launch
 * and behind it, and between the two CUPTI replays the kernel as often as its counters need, from
 * memory as it found it.
 *
 * Nothing is recorded meanwhile: both at once falsify the counts. A session is opened with the
 * first such launch and stays; CUPTI ends the process on a second Enable or Disable.
 * docs.nvidia.com/cupti, Range Profiler, kernel replay.
 */
#include "runtime/inject/inject.h"

#include "base/mem.h"
#include "base/text.h"
#include "cuda/cupti_host.h"

#include <cupti_driver_cbid.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_IMAGE ((size_t)256 << 20)

/* A call's parameters, as CUPTI hands them over: in the order of the function's. Of cuLaunchKernel
 * and cuLaunchCooperativeKernel, and of cuLaunchKernelEx (generated_cuda_meta.h, which compiles
 * only beside functions of old). */
struct launch_parameters {
	CUfunction f;
	unsigned grid[3], block[3], shared;
	CUstream stream;
};
struct launch_ex_parameters {
	const CUlaunchConfig *config;
	CUfunction f;
};

/* Launches of one kernel, grid, block and shared memory. */
struct shape {
	unsigned kernel, grid[3], block[3], shared;
	uint64_t launches;
};

static struct {
	pthread_mutex_t lock; /* held from the front of a launch to behind it */
	struct cuda_fns cu;
	bool off; /* refused: told once, then no more */
	uint64_t launches;
	unsigned n_shapes, cap_shapes;
	struct shape *shapes;
	/* the session */
	CUcontext ctx; /* NULL = none is open */
	char chip[16];
	struct cupti_host host;
	CUpti_RangeProfiler_Object *object;
	uint8_t *data;
	size_t data_size;
	/* the launch under way */
	bool counting;
	struct record_seen seen;
} count = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define TRY(call, what)                                         \
	if (!cupti_ok(&inject.cupti, inject.cupti.call, what, why)) \
	return false

/* --- a session --- */

static void close_session(void)
{
	CUpti_RangeProfiler_Disable_Params p = {
		.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
	};
	if (!count.ctx)
		return;
	inject.cupti.RangeDisable(&p);
	host_close(&count.host);
	free(count.data);
	count.data = NULL;
	count.object = NULL;
	count.ctx = NULL;
}

static bool find_chip(struct cuda_fault *why)
{
	CUpti_Profiler_Initialize_Params init = { .structSize =
		                                          CUpti_Profiler_Initialize_Params_STRUCT_SIZE };
	CUpti_Device_GetChipName_Params chip = { .structSize =
		                                         CUpti_Device_GetChipName_Params_STRUCT_SIZE };
	CUdevice device = 0;
	TRY(ProfilerInitialize(&init), "cuptiProfilerInitialize");
	if (count.cu.CtxGetDevice)
		count.cu.CtxGetDevice(&device);
	chip.deviceIndex = (size_t)device;
	TRY(DeviceGetChipName(&chip), "cuptiDeviceGetChipName");
	snprintf(count.chip, sizeof count.chip, "%s", chip.pChipName ? chip.pChipName : "");
	return true;
}

static bool counter_image(struct cuda_fault *why)
{
	CUpti_RangeProfiler_GetCounterDataSize_Params p = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
		.pMetricNames = count.host.names,
		.numMetrics = count.host.plan.n,
		.maxNumOfRanges = 1,
		.maxNumRangeTreeNodes = 1,
	};
	TRY(RangeGetCounterDataSize(&p), "cuptiRangeProfilerGetCounterDataSize");
	if (!p.counterDataSize || p.counterDataSize > MAX_IMAGE)
		return fault_set(why, FAULT_OTHER, "a counter image of %zu bytes", p.counterDataSize);
	count.data_size = p.counterDataSize;
	count.data = mem_zalloc(count.data_size);
	return true;
}

static bool open_session(CUcontext ctx, struct cuda_fault *why)
{
	if (count.ctx == ctx)
		return true;
	close_session();
	CUpti_RangeProfiler_Enable_Params p = { .structSize =
		                                        CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		                                    .ctx = ctx };
	if (!find_chip(why) || !host_open(&count.host, &inject.cupti, count.chip, HOST_TIME, NULL, why))
		return false;
	if (!cupti_ok(&inject.cupti, inject.cupti.RangeEnable(&p), "cuptiRangeProfilerEnable", why) ||
	    (!p.pRangeProfilerObject &&
	     !fault_set(why, FAULT_OTHER, "cuptiRangeProfilerEnable gave no object"))) {
		host_close(&count.host);
		return false;
	}
	count.object = p.pRangeProfilerObject;
	count.ctx = ctx;
	if (counter_image(why))
		return true;
	close_session();
	return false;
}

static bool begin_counting(CUcontext ctx, struct cuda_fault *why)
{
	if (!open_session(ctx, why))
		return false;
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
		.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
		.counterDataSize = count.data_size,
		.pCounterData = count.data,
	};
	TRY(RangeCounterDataInit(&init), "cuptiRangeProfilerCounterDataImageInitialize");
	CUpti_RangeProfiler_SetConfig_Params config = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
		.configSize = count.host.config_size,
		.pConfig = count.host.config,
		.counterDataImageSize = count.data_size,
		.pCounterDataImage = count.data,
		.range = CUPTI_AutoRange,
		.replayMode = CUPTI_KernelReplay,
		.maxRangesPerPass = 1,
		.numNestingLevels = 1,
		.minNestingLevel = 1,
	};
	TRY(RangeSetConfig(&config), "cuptiRangeProfilerSetConfig");
	CUpti_RangeProfiler_Start_Params start = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
	};
	TRY(RangeStart(&start), "cuptiRangeProfilerStart");
	return true;
}

static bool end_counting(double *values, struct cuda_fault *why)
{
	CUpti_RangeProfiler_Stop_Params stop = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
	};
	TRY(RangeStop(&stop), "cuptiRangeProfilerStop");
	CUpti_RangeProfiler_DecodeData_Params decode = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = count.object,
	};
	TRY(RangeDecode(&decode), "cuptiRangeProfilerDecodeData");
	CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = count.data,
		.counterDataImageSize = count.data_size,
	};
	TRY(RangeGetInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
	if (info.numTotalRanges < 1)
		return fault_set(why, FAULT_OTHER, "the profiler recorded no launch");
	return host_evaluate(&count.host, count.data, count.data_size, values, why);
}

/* --- launches --- */

static void refuse(const struct cuda_fault *why)
{
	count.off = true;
	close_session();
	send_refusal(RECORD_REFUSED_COUNTERS, why);
}

/* Of the launches of its kernel, grid and block one of the first that are asked for? */
static bool is_early(const struct record_seen *s)
{
	unsigned i = 0;
	while (i < count.n_shapes && !(count.shapes[i].kernel == s->kernel &&
	                               count.shapes[i].shared == s->dynamic_shared_bytes &&
	                               !memcmp(count.shapes[i].grid, s->grid, sizeof s->grid) &&
	                               !memcmp(count.shapes[i].block, s->block, sizeof s->block)))
		i++;
	if (i == count.n_shapes) {
		MEM_ROOM(count.shapes, count.n_shapes, count.cap_shapes, 32);
		struct shape *n = &count.shapes[count.n_shapes++];
		*n = (struct shape){ .kernel = s->kernel, .shared = s->dynamic_shared_bytes };
		memcpy(n->grid, s->grid, sizeof n->grid);
		memcpy(n->block, s->block, sizeof n->block);
	}
	return ++count.shapes[i].launches <= inject.config.count_first;
}

/* The runtime launches kernels of a library (CUkernel), which pass for functions in a launch only.
 */
static unsigned attribute(CUfunction f, CUfunction_attribute which)
{
	int v = 0;
	CUdevice device = 0;
	if (count.cu.FuncGetAttribute(&v, which, f) == CUDA_SUCCESS)
		return v > 0 ? (unsigned)v : 0;
	if (count.cu.CtxGetDevice)
		count.cu.CtxGetDevice(&device);
	if (!count.cu.KernelGetAttribute ||
	    count.cu.KernelGetAttribute(&v, which, (CUkernel)f, device) != CUDA_SUCCESS)
		return 0;
	return v > 0 ? (unsigned)v : 0;
}

/* The launch of the call's parameters. */
static void read_launch(const CUpti_CallbackData *d, uint32_t cbid, struct record_seen *s,
                        CUstream *stream)
{
	CUfunction f;
	*s = (struct record_seen){ .kind = RECORD_SEEN_LAUNCH, .call = d->correlationId };
	if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
	    cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
		const struct launch_ex_parameters *p = d->functionParams;
		const CUlaunchConfig *c = p->config;
		f = p->f;
		*stream = c->hStream;
		memcpy(s->grid, (unsigned[]){ c->gridDimX, c->gridDimY, c->gridDimZ }, sizeof s->grid);
		memcpy(s->block, (unsigned[]){ c->blockDimX, c->blockDimY, c->blockDimZ }, sizeof s->block);
		s->dynamic_shared_bytes = c->sharedMemBytes;
	} else {
		const struct launch_parameters *p = d->functionParams;
		f = p->f;
		*stream = p->stream;
		memcpy(s->grid, p->grid, sizeof s->grid);
		memcpy(s->block, p->block, sizeof s->block);
		s->dynamic_shared_bytes = p->shared;
		s->cooperative = cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
		                 cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz;
	}
	const struct kernel_facts facts = {
		.name = d->symbolName ? d->symbolName : "?",
		.registers = attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
		.static_shared = attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
		.local = attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
	};
	s->kernel = kernel_number(&facts);
}

static bool is_captured(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	return count.cu.StreamIsCapturing &&
	       count.cu.StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static uint32_t stream_of(CUcontext ctx, CUstream stream)
{
	uint32_t id = 0;
	if (inject.cupti.GetStreamId)
		inject.cupti.GetStreamId(ctx, stream, 0, &id);
	return id;
}

static void in_front(const CUpti_CallbackData *d, uint32_t cbid)
{
	CUstream stream = NULL;
	struct record_seen *s = &count.seen;
	struct cuda_fault why = { 0 };
	pthread_mutex_lock(&count.lock);
	count.counting = false;
	if (count.off)
		return;
	read_launch(d, cbid, s, &stream);
	if (is_captured(stream))
		return;
	const struct record_config *c = &inject.config;
	const uint64_t number = ++count.launches;
	const bool named = number >= c->count_from && number <= c->count_to;
	if (!is_early(s) && !named)
		return;
	count.cu.CtxSynchronize(); /* what is under way is recorded to its end */
	activity_flush(false);
	activity_record(false);
	s->stream = stream_of(d->context, stream);
	s->start_ns = now_ns();
	count.counting = begin_counting(d->context, &why);
	if (count.counting)
		return;
	activity_record(true);
	refuse(&why);
}

/* Values of the catalogue, and how long the kernel took in the replay. */
static void tell(const double *values)
{
	struct wire_msg m;
	struct record_measured *r = mem_zalloc(sizeof *r);
	r->call = count.seen.call;
	r->passes = count.host.passes;
	r->ns = counters_time(&count.host.plan, values);
	counters_values(&count.host.plan, count.chip, values, r->metric, r->why);
	if (isfinite(r->ns) && r->ns > 0)
		count.seen.end_ns = count.seen.start_ns + (uint64_t)(r->ns + 0.5);
	record_put_measured(&m, r);
	send_frame(&m);
	free(r);
}

static void behind(const CUpti_CallbackData *d)
{
	double values[COUNTERS_MAX];
	struct cuda_fault why = { 0 };
	const CUresult *result = d->functionReturnValue;
	if (count.counting) {
		count.counting = false;
		for (unsigned i = 0; i < COUNTERS_MAX; i++)
			values[i] = (double)NAN;
		count.cu.CtxSynchronize();
		const bool ok = end_counting(values, &why);
		if (ok && result && *result == CUDA_SUCCESS)
			tell(values);
		if (!ok)
			refuse(&why);
		if (result && *result == CUDA_SUCCESS)
			send_seen(&count.seen, 1);
		activity_record(true);
	}
	pthread_mutex_unlock(&count.lock);
}

static void CUPTIAPI on_call(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                             const void *data)
{
	const CUpti_CallbackData *d = data;
	(void)unused;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !send_is_open())
		return;
	if (d->callbackSite == CUPTI_API_ENTER)
		in_front(d, cbid);
	else
		behind(d);
}

bool count_start(struct cuda_fault *why)
{
	static const CUpti_CallbackId launches[] = {
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
	};
	CUpti_SubscriberHandle subscriber;
	const struct cupti_fns *cupti = &inject.cupti;
	if (!inject.config.count_first && !inject.config.count_to)
		return true;
	if (!cupti->Subscribe || !cupti->EnableCallback)
		return fault_set(why, FAULT_CUPTI_OLD, "it has no cuptiSubscribe");
	if (!dl_cuda(&count.cu, NULL, 0, why) ||
	    !cupti_ok(cupti, cupti->Subscribe(&subscriber, on_call, NULL), "cuptiSubscribe", why))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(launches); i++)
		if (!cupti_ok(cupti,
		              cupti->EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launches[i]),
		              "cuptiEnableCallback", why))
			return false;
	return true;
}

void count_end(void)
{
	pthread_mutex_lock(&count.lock);
	count.off = true;
	close_session();
	pthread_mutex_unlock(&count.lock);
}

/*
 * Where the time of a collection of counters goes: gpu_check passes
 *
 * Times every call of CUPTI's range profiler for several sets of counters and several ways to
 * collect them, each in a process of its own, because CUPTI ends a process on misuse. One line per
 * way: medians over the collections after the first, in milliseconds.
 */
#include "gpu_launches.h"

#include "cuda/cuda.h"
#include "cuda/cuda_counters.h"
#include "cuda/cuda_dl.h"
#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 12
#define PASSES_MAX 24

static const char source[] = "extern \"C\" __global__ void work(float *x, int n) {\n"
							 "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
							 "	if (i < n) x[i + n] = x[i] * 2 + 1;\n"
							 "}\n";
#define N (1 << 20)

#define ALL "*" /* the panels' own set */
#define SM "sm__warps_active.avg.pct_of_peak_sustained_active smsp__inst_executed.sum "
#define DRAM "dram__bytes_read.sum dram__bytes_write.sum "
#define L2 "lts__t_sectors_srcunit_tex.sum "
#define TAGS                                               \
	"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum " \
	"l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum "
#define SASS                                                                               \
	"smsp__sass_inst_executed_op_global_ld.sum smsp__sass_inst_executed_op_global_st.sum " \
	"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum "                            \
	"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum "                            \
	"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum "                                 \
	"smsp__sass_data_bytes_mem_global_op_ld.sum "
#define REQUESTS "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum "
#define SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum "

enum way { WAY_AUTO, WAY_RANGE, WAY_KERNEL };
static const char *const way_words[] = { "ours", "ranges", "kernel" };

static const struct plan {
	const char *title, *names;
	enum way way;
	unsigned launches; /* between a start and its stop */
	bool keep;         /* SetConfig before the first collection only */
	unsigned spare_mb; /* device memory allocated and not used */
} plans[] = {
	{ "panels", ALL, WAY_AUTO, 1, false, 0 },
	{ "panels", ALL, WAY_RANGE, 1, false, 0 },
	{ "panels", ALL, WAY_KERNEL, 1, false, 0 },
	{ "panels", ALL, WAY_AUTO, 10, false, 0 },
	{ "panels, 8 GB in use", ALL, WAY_AUTO, 1, false, 8192 },
	{ "sass", SASS, WAY_AUTO, 1, false, 0 },
	{ "sass", SASS, WAY_RANGE, 1, false, 0 },
	{ "sm", SM, WAY_AUTO, 1, false, 0 },
	{ "sm", SM, WAY_RANGE, 1, false, 0 },
	{ "sm", SM, WAY_KERNEL, 1, false, 0 },
	{ "dram", DRAM, WAY_AUTO, 1, false, 0 },
	{ "l2", L2, WAY_AUTO, 1, false, 0 },
	{ "tags", TAGS, WAY_AUTO, 1, false, 0 },
	{ "requests+sectors", REQUESTS SECTORS, WAY_AUTO, 1, false, 0 },
	{ "sm+dram+l2+tags", SM DRAM L2 TAGS, WAY_AUTO, 1, false, 0 },
	{ "sm+dram+l2+tags", SM DRAM L2 TAGS, WAY_RANGE, 1, false, 0 },
	{ "sm+dram+l2+tags", SM DRAM L2 TAGS, WAY_KERNEL, 1, false, 0 },
	{ "sm+dram+l2+tags", SM DRAM L2 TAGS, WAY_AUTO, 10, false, 0 },
	{ "sass+sm+dram+l2+tags", SASS SM DRAM L2 TAGS, WAY_AUTO, 1, false, 0 },
	{ "sass+sm+dram+l2+tags", SASS SM DRAM L2 TAGS, WAY_RANGE, 1, false, 0 },
	{ "sass+sm+dram+l2+tags", SASS SM DRAM L2 TAGS, WAY_KERNEL, 1, false, 0 },
	{ "sass+sm+dram+l2+tags", SASS SM DRAM L2 TAGS, WAY_AUTO, 10, false, 0 },
	{ "sass+sm+dram+l2+tags", SASS SM DRAM L2 TAGS, WAY_AUTO, 1, true, 0 },
};

#define STEPS(X) \
	X(image)     \
	X(config)    \
	X(start)     \
	X(launch)    \
	X(stop)      \
	X(decode)    \
	X(values)    \
	X(all)
#define X(name) STEP_##name,
enum { STEPS(X) STEP_COUNT };
#undef X

struct session {
	struct cuda_fns cu;
	struct cupti_fns cupti;
	CUcontext ctx;
	__typeof__(cuptiRangeProfilerPushRange) *push;
	__typeof__(cuptiRangeProfilerPopRange) *pop;
	CUfunction f;
	CUdeviceptr x;
	CUpti_Profiler_Host_Object *host;
	CUpti_RangeProfiler_Object *object;
	const char *names[COUNTERS_MAX];
	size_t n_names, config_size, data_size;
	uint8_t *config, *data;
	size_t passes;
	double step[STEP_COUNT];
	double start[PASSES_MAX], stop[PASSES_MAX];
	double value;
};

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	printf("%s: %d\n", what, rc);
	fflush(stdout);
	_exit(1);
}
#define MUST(call) must((int)(call), #call)
#define P(type, ...)                                  \
	&(type)                                           \
	{                                                 \
		.structSize = type##_STRUCT_SIZE, __VA_ARGS__ \
	}

static void device(struct session *s, const struct module *m, const struct plan *plan)
{
	struct cuda_fault why = { 0 };
	CUdevice dev;
	CUmodule module;
	CUdeviceptr spare;
	MUST(!dl_cuda(&s->cu, NULL, 0, &why));
	MUST(!dl_cupti(&s->cupti, NULL, 0, &why));
	char path[512];
	void *h = cuda_dlopen("cupti", (const char *const[]){ "13", NULL }, path, sizeof path, NULL);
	*(void **)&s->push = dlsym(h, "cuptiRangeProfilerPushRange");
	*(void **)&s->pop = dlsym(h, "cuptiRangeProfilerPopRange");
	MUST(s->cu.Init(0));
	MUST(s->cu.DeviceGet(&dev, 0));
	MUST(s->cu.PrimaryCtxRetain(&s->ctx, dev));
	MUST(s->cu.CtxSetCurrent(s->ctx));
	MUST(s->cu.ModuleLoadData(&module, m->cubin));
	MUST(s->cu.ModuleGetFunction(&s->f, module, "work"));
	MUST(s->cu.MemAlloc(&s->x, 2 * N * sizeof(float)));
	if (plan->spare_mb)
		MUST(s->cu.MemAlloc(&spare, (size_t)plan->spare_mb << 20));
	MUST(s->cupti.ProfilerInitialize(P(CUpti_Profiler_Initialize_Params, .pPriv = NULL)));
}

static void schedule(struct session *s, const struct plan *plan)
{
	static struct counter_plan all;
	static char copy[4096];
	char bad[160], *save;
	if (!strcmp(plan->names, ALL)) {
		MUST(!counters_plan("GH100", false, &all, bad));
		for (; s->n_names < all.n; s->n_names++)
			s->names[s->n_names] = all.names[s->n_names];
	} else {
		snprintf(copy, sizeof copy, "%s", plan->names);
		for (char *t = strtok_r(copy, " ", &save); t; t = strtok_r(NULL, " ", &save))
			s->names[s->n_names++] = t;
	}
	CUpti_Device_GetChipName_Params chip = { .structSize =
		                                         CUpti_Device_GetChipName_Params_STRUCT_SIZE };
	MUST(s->cupti.DeviceGetChipName(&chip));
	CUpti_Profiler_Host_Initialize_Params h = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
		.pChipName = chip.pChipName
	};
	MUST(s->cupti.HostInitialize(&h));
	s->host = h.pHostObject;
	MUST(s->cupti.HostConfigAddMetrics(P(CUpti_Profiler_Host_ConfigAddMetrics_Params,
	                                     .pHostObject = s->host, .ppMetricNames = s->names,
	                                     .numMetrics = s->n_names)));
	CUpti_Profiler_Host_GetConfigImageSize_Params size = {
		.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
		.pHostObject = s->host
	};
	MUST(s->cupti.HostGetConfigImageSize(&size));
	s->config_size = size.configImageSize;
	s->config = mem_zalloc(s->config_size);
	MUST(s->cupti.HostGetConfigImage(P(CUpti_Profiler_Host_GetConfigImage_Params,
	                                   .pHostObject = s->host, .configImageSize = s->config_size,
	                                   .pConfigImage = s->config)));
	CUpti_Profiler_Host_GetNumOfPasses_Params n = {
		.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
		.configImageSize = s->config_size,
		.pConfigImage = s->config
	};
	MUST(s->cupti.HostGetNumOfPasses(&n));
	s->passes = n.numOfPasses;
}

static void enable(struct session *s, const struct plan *plan)
{
	CUpti_RangeProfiler_Enable_Params e = { .structSize =
		                                        CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		                                    .ctx = s->ctx };
	MUST(s->cupti.RangeEnable(&e));
	s->object = e.pRangeProfilerObject;
	CUpti_RangeProfiler_GetCounterDataSize_Params size = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.pMetricNames = s->names,
		.numMetrics = s->n_names,
		.maxNumOfRanges = plan->launches,
		.maxNumRangeTreeNodes = plan->launches
	};
	MUST(s->cupti.RangeGetCounterDataSize(&size));
	s->data_size = size.counterDataSize;
	s->data = mem_zalloc(s->data_size);
}

/* Adds the time since @begin to a step; returns now. */
static double lap(double *to, double begin)
{
	double now = seconds();
	*to += (now - begin) * 1e3;
	return now;
}

static void launch(struct session *s)
{
	int n = N;
	void *args[] = { &s->x, &n };
	MUST(s->cu.LaunchKernel(s->f, N / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	MUST(s->cu.StreamSynchronize(NULL));
}

static void collect(struct session *s, const struct plan *plan, bool first)
{
	memset(s->step, 0, sizeof s->step);
	double begin = seconds(), t = begin;
	MUST(s->cupti.RangeCounterDataInit(
		P(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, .pRangeProfilerObject = s->object,
	      .counterDataSize = s->data_size, .pCounterData = s->data)));
	t = lap(&s->step[STEP_image], t);
	if (first || !plan->keep)
		MUST(s->cupti.RangeSetConfig(
			P(CUpti_RangeProfiler_SetConfig_Params, .pRangeProfilerObject = s->object,
		      .configSize = s->config_size, .pConfig = s->config,
		      .counterDataImageSize = s->data_size, .pCounterDataImage = s->data,
		      .range = plan->way == WAY_RANGE ? CUPTI_UserRange : CUPTI_AutoRange,
		      .replayMode = plan->way == WAY_KERNEL ? CUPTI_KernelReplay : CUPTI_UserReplay,
		      .maxRangesPerPass = plan->launches, .numNestingLevels = 1, .minNestingLevel = 1)));
	t = lap(&s->step[STEP_config], t);
	for (unsigned pass = 0; pass < PASSES_MAX; pass++) {
		double of_pass = 0;
		MUST(s->cupti.RangeStart(
			P(CUpti_RangeProfiler_Start_Params, .pRangeProfilerObject = s->object)));
		t = lap(&of_pass, t);
		s->step[STEP_start] += s->start[pass] = of_pass;
		for (unsigned i = 0; i < plan->launches; i++) {
			if (plan->way == WAY_RANGE)
				MUST(s->push(P(CUpti_RangeProfiler_PushRange_Params,
				               .pRangeProfilerObject = s->object, .pRangeName = "launch")));
			launch(s);
			if (plan->way == WAY_RANGE)
				MUST(s->pop(
					P(CUpti_RangeProfiler_PopRange_Params, .pRangeProfilerObject = s->object)));
		}
		t = lap(&s->step[STEP_launch], t);
		CUpti_RangeProfiler_Stop_Params stop = { .structSize =
			                                         CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
			                                     .pRangeProfilerObject = s->object };
		MUST(s->cupti.RangeStop(&stop));
		of_pass = 0;
		t = lap(&of_pass, t);
		s->step[STEP_stop] += s->stop[pass] = of_pass;
		if (stop.isAllPassSubmitted || plan->way == WAY_KERNEL)
			break;
	}
	MUST(s->cupti.RangeDecode(
		P(CUpti_RangeProfiler_DecodeData_Params, .pRangeProfilerObject = s->object)));
	t = lap(&s->step[STEP_decode], t);
	double values[COUNTERS_MAX] = { 0 };
	MUST(s->cupti.HostEvaluate(P(CUpti_Profiler_Host_EvaluateToGpuValues_Params,
	                             .pHostObject = s->host, .pCounterDataImage = s->data,
	                             .counterDataImageSize = s->data_size, .ppMetricNames = s->names,
	                             .numMetrics = s->n_names, .pMetricValues = values)));
	lap(&s->step[STEP_values], t);
	lap(&s->step[STEP_all], begin);
	s->value = values[0];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof *v, by_value);
	return v[n / 2];
}

static void measure(const struct plan *plan, const struct module *m)
{
	alarm(20);
	static struct session s;
	static double steps[STEP_COUNT][ROUNDS], starts[PASSES_MAX][ROUNDS], stops[PASSES_MAX][ROUNDS];
	device(&s, m, plan);
	double begin = seconds(), host = 0, open = 0, first = 0;
	schedule(&s, plan);
	begin = lap(&host, begin);
	enable(&s, plan);
	begin = lap(&open, begin);
	collect(&s, plan, true);
	lap(&first, begin);
	for (unsigned r = 0; r < ROUNDS; r++) {
		collect(&s, plan, false);
		for (unsigned i = 0; i < STEP_COUNT; i++)
			steps[i][r] = s.step[i];
		for (unsigned p = 0; p < PASSES_MAX; p++) {
			starts[p][r] = s.start[p];
			stops[p][r] = s.stop[p];
		}
	}
	printf("%-21s %-7s %2u %2zu %6.1f %6.1f %6.1f", plan->title, way_words[plan->way],
	       plan->launches, s.passes, host, open, first);
	for (unsigned i = 0; i < STEP_COUNT; i++)
		printf(" %7.2f", median(steps[i], ROUNDS));
	printf("  ");
	for (unsigned p = 0; p < s.passes && p < PASSES_MAX && plan->way != WAY_KERNEL; p++)
		printf(" %.1f+%.1f", median(starts[p], ROUNDS), median(stops[p], ROUNDS));
	printf("  %s%zu B, %.6g\n", plan->keep ? "config kept, " : "", s.data_size, s.value);
}

/* Plan @number in a process of its own; its wait status. */
static int apart(size_t number)
{
	char option[] = "passes", digits[24], cc[24], name[] = "gpu_check";
	snprintf(digits, sizeof digits, "%zu", number);
	snprintf(cc, sizeof cc, "%d", opt.gpu->cc_major * 10 + opt.gpu->cc_minor);
	char *argv[] = { name, option, digits, cc, NULL };
	int status = -1;
	fflush(stdout);
	const pid_t child = fork();
	if (!child) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

int do_passes(const char *number, const char *cc)
{
	if (number)
		opt.gpu =
			gpu_intern(&(struct gpu_spec){ .cc_major = atoi(cc) / 10, .cc_minor = atoi(cc) % 10 });
	struct err err = { 0 };
	struct module m = { 0 };
	const struct compile_request cr = { .file = "work.cu",
		                                .source = source,
		                                .cc_major = opt.gpu->cc_major,
		                                .cc_minor = opt.gpu->cc_minor };
	if (!compile_module(&cr, &m, &err))
		return put_error("compile", &err);
	if (number) {
		const size_t n = (size_t)atoi(number);
		measure(&plans[n < ARRAY_LEN(plans) ? n : 0], &m);
		fflush(stdout);
		_exit(0);
	}
	printf("%-21s %-7s %2s %2s %6s %6s %6s", "set", "replay", "n", "p", "sched", "enable", "first");
#define X(name) printf(" %7s", #name);
	STEPS(X)
#undef X
	printf("   start+stop of each pass\n");
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		const int status = apart(i);
		if (!status)
			continue;
		printf("%-21s %-7s ended: %s %d\n", plans[i].title, way_words[plans[i].way],
		       WIFSIGNALED(status) ? "signal" : "status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		failed++;
	}
	module_free(&m);
	return failed ? 1 : 0;
}

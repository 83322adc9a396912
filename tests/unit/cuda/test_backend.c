/*
 * The GPU back end against a stand-in for NVIDIA's libraries: what a run brings back, and the fault
 * matrix, row by row: each thing that can be missing or refused costs what it must and no more,
 * and says why and what to do.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fake_run.h"

#include "cuda/cuda_result.h"
#include "timemodel/stream_time.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

static int fresh(void **state)
{
	(void)state;
	/* A worker started under another environment must not answer for this one: asked for another
	 * device, the parked one is ended, and the one started for it exits. */
	static struct cuda_info info;
	use_fake();
	setenv("FAKE_NVIDIA", "cuInit=exit", 1);
	cuda_probe(7, &info, NULL);
	cuda_probe(6, &info, NULL);
	use_fake();
	return 0;
}

static double get(const struct run_result *r, enum metric_id id)
{
	return metric_get(&r->metrics, id);
}

/* --- what works --- */

static void a_run_brings_everything(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	fake_prepare(&f, "fake_vecadd");
	f.req.stalls = true;
	assert_true(backend_cuda.open(&be, NULL, &f.err));
	if (!fake_go(&f, be, NULL))
		fail_msg("%s", f.err.msg);
	for (int i = 0; i < FAKE_N; i++)
		assert_true(f.c[i] == f.a[i] + 0.5f);
	assert_true(f.res.outputs_complete);
	for (unsigned c = 0; c < 5; c++)
		assert_string_equal(f.res.missing[c], "");
	/* counters: 1000 + the length of the name */
	assert_true(get(&f.res, M_INST_WARP) == 1000 + (double)strlen("smsp__inst_executed.sum"));
	assert_int_equal(f.res.metrics.v[M_INST_WARP].origin, ORIGIN_MEASURED);
	double fma = 1000 + (double)strlen("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
	assert_true(get(&f.res, M_FLOP_FP32) == 4 * fma);
	assert_true(f.res.counts.total.warp_executed == (uint64_t)get(&f.res, M_INST_WARP));
	assert_true(get(&f.res, M_INST_RATIO) == get(&f.res, M_INST_THREAD) / get(&f.res, M_INST_WARP));
	/* constants moved by HFMA2 are no arithmetic */
	assert_int_equal(f.res.metrics.v[M_FLOP_FP16].origin, ORIGIN_MEASURED);
	assert_true(get(&f.res, M_FLOP_FP16) == 0);
	/* hardware has no counter for it: n/a with the reason, never 0 */
	assert_int_equal(f.res.metrics.v[M_INST_BARRIERS].origin, ORIGIN_NONE);
	assert_non_null(f.res.metrics.v[M_INST_BARRIERS].reason);
	/* time, facts, timeline, lines, stalls */
	assert_true(f.res.timing.n >= 3 && f.res.timing.l2_flushed && f.res.timing.from_activity);
	assert_true(f.res.timing.min_ns <= f.res.timing.median_ns &&
	            f.res.timing.median_ns <= f.res.timing.max_ns);
	assert_true(get(&f.res, M_TIME_KERNEL) == f.res.timing.median_ns);
	assert_true(f.res.timing.sm_mhz == 1755);
	assert_true(f.res.loaded.known && f.res.loaded.registers == 10);
	assert_int_equal(f.res.loaded.blocks_per_sm, 8);
	assert_true(f.res.n_stalls >= 16);
	assert_false(f.res.spans_from_events);
	unsigned kernels = 0, copies = 0, calls = 0;
	for (unsigned i = 0; i < f.res.n_spans; i++) {
		const struct span *s = &f.res.spans[i];
		assert_true(s->end_ns >= s->start_ns && s->start_ns >= 0);
		assert_true(i == 0 || s->start_ns >= s[-1].start_ns);
		kernels += s->kind == SPAN_KERNEL && !strcmp(s->name, "k0");
		copies += (s->kind == SPAN_H2D && (!strcmp(s->name, "a0") || !strcmp(s->name, "b0"))) ||
		          (s->kind == SPAN_D2H && !strcmp(s->name, "c0"));
		calls += s->kind == SPAN_CALL;
	}
	assert_int_equal(kernels, 1);
	assert_int_equal(copies, 3);
	assert_int_equal(calls, 4);
	assert_int_equal(f.res.counts.n_lines, 2);
	assert_int_equal(f.res.counts.lines[0].line, 12);
	assert_int_equal(f.res.counts.lines[0].c.warp_executed, 201);
	assert_int_equal(f.res.counts.lines[1].c.warp_executed, 102);
	assert_int_equal(f.res.counts.lines[0].c.ld_requests, 2 * 201); /* LDG and LDGSTS */
	assert_int_equal(f.res.counts.lines[0].c.ld_sectors, 201);
	assert_int_equal(f.res.counts.lines[0].c.st_sectors, 0);
	/* the launch's cache lines are the sum of its source lines' */
	assert_int_equal(f.res.metrics.v[M_MEM_LD_LINES].origin, ORIGIN_MEASURED);
	assert_true(get(&f.res, M_MEM_LD_LINES) ==
	            (double)(f.res.counts.lines[0].c.ld_lines + f.res.counts.lines[1].c.ld_lines));
	assert_true(get(&f.res, M_MEM_LD_LINES) > 0);
	assert_true(f.res.counts.total.ld_lines == (uint64_t)get(&f.res, M_MEM_LD_LINES));
	fake_done(&f);
	backend_cuda.close(be);
}

/* Timing, counters and timeline launch again: the outputs are the first launch's. */
static void in_place_results_are_of_one_launch(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	for (int round = 0; round < 2; round++) {
		fake_prepare(&f, "fake_increment");
		struct stream_program program = { 0 };
		for (unsigned i = 0; i < 6; i++)
			stream_kernel(&program, 1 + i % 3, "inc", 0, 1);
		f.req.program = &program;
		if (!fake_go(&f, be, NULL))
			fail_msg("%s", f.err.msg);
		for (int i = 0; i < FAKE_N; i++)
			assert_int_equal(f.x[i], i + 1);
		unsigned kernels = 0;
		for (unsigned i = 0; i < f.res.n_spans; i++)
			kernels += f.res.spans[i].kind == SPAN_KERNEL;
		assert_int_equal(kernels, 6);
		fake_done(&f);
	}
	backend_cuda.close(be);
}

static void only_what_was_asked_is_done(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_TIME | CAP_STATIC;
	f.req.repeat = 4;
	f.req.warm_l2 = true;
	setenv("FAKE_NVIDIA", "cuptiRangeProfilerEnable=crash", 1);
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_true(fake_go(&f, be, NULL));
	assert_int_equal(f.res.timing.n, 4);
	assert_false(f.res.timing.l2_flushed);
	assert_int_equal(f.res.n_spans, 0);
	assert_int_equal(f.res.metrics.v[M_DRAM_READ].origin, ORIGIN_NONE);
	assert_non_null(strstr(f.res.metrics.v[M_DRAM_READ].reason, "not asked for"));
	assert_int_equal(f.res.metrics.v[M_MEM_LD_LINES].origin, ORIGIN_NONE);
	fake_done(&f);
	backend_cuda.close(be);
}

static void the_sheet_is_of_the_live_device(void **state)
{
	(void)state;
	const struct gpu_spec *g;
	struct err err = { 0 };
	if (!gpu_count())
		skip(); /* no sheets are built into this test */
	if (!cuda_gpu_spec(0, &g, &err))
		fail_msg("%s", err.msg);
	assert_true(g->live);
	assert_string_equal(g->id, "cuda0");
	assert_string_equal(g->chip, "GH100");
	assert_int_equal(g->sm_count, 132);
	assert_int_equal(g->smem_per_sm_bytes, 233472);
	assert_true(g->clock_mhz == 1980);
	assert_true(fabs(g->dram_gbs - 4916.7) < 0.1); /* 2 x 3201 MHz x 6144 / 8 */
	assert_true(fabs(g->pcie_gbs - 63) < 0.1);
	assert_non_null(gpu_source_of(g, "sm_count"));
	assert_non_null(gpu_source_of(g, "fp32_lanes_per_sm"));
}

static void cublas_is_timed(void **state)
{
	(void)state;
	struct run_timing t;
	struct err err = { 0 };
	for (int mode = 0; mode < GEMM_MODE_COUNT; mode++) {
		if (!cuda_gemm_time(0, (enum cuda_gemm_mode)mode, 64, 32, 16, NULL, &t, &err))
			fail_msg("%s", err.msg);
		assert_true(t.n >= 3);
		assert_true(t.median_ns > 150000); /* its two kernels together */
	}
	setenv("PMPP_LIBCUBLAS", "/nowhere/libcublas.so", 1);
	fresh(NULL);
	setenv("PMPP_LIBCUBLAS", "/nowhere/libcublas.so", 1);
	assert_false(cuda_gemm_time(0, GEMM_FP32, 64, 64, 64, NULL, &t, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "cuBLAS is not on this machine"));
	assert_non_null(strstr(err.remedy, "CUDA_HOME"));
}

static void one_of_two_devices_is_chosen(void **state)
{
	(void)state;
	struct backend_info info;
	struct err err = { 0 };
	setenv("FAKE_DEVICES", "2", 1);
	setenv("PMPP_CUDA_DEVICE", "1", 1);
	assert_true(backend_cuda.probe(&info, &err));
	assert_int_equal(info.n_devices, 2);
	assert_string_equal(info.device[0], "NVIDIA H200");
	assert_string_equal(info.device[1], "NVIDIA Fake 200 #1");
	assert_non_null(strstr(info.title, "Fake 200"));
	assert_non_null(strstr(info.title, "580.159.04"));
	setenv("PMPP_CUDA_DEVICE", "5", 1);
	assert_false(backend_cuda.probe(&info, &err));
	assert_int_equal(info.n_devices, 2);
	assert_non_null(strstr(err.msg, "device 5 of 2"));
	assert_non_null(strstr(err.remedy, "PMPP_CUDA_DEVICE"));
}

/* Last of all tests: nothing takes the choice back. */
static void a_device_is_chosen_by_name(void **state)
{
	(void)state;
	struct backend_info info;
	struct err err = { 0 };
	setenv("FAKE_DEVICES", "2", 1);
	assert_false(backend_cuda.choose("h200"));
	assert_false(backend_cuda.choose("cuda"));
	assert_false(backend_cuda.choose("cuda-1"));
	assert_false(backend_cuda.choose("cuda99"));
	assert_int_equal(cuda_device_wanted(), 0);
	assert_true(backend_cuda.choose("cuda1"));
	assert_true(backend_cuda.probe(&info, &err));
	assert_int_equal(info.chosen, 1);
	assert_non_null(strstr(info.title, "Fake 200 #1"));
	assert_true(backend_cuda.choose("cuda7"));
	assert_false(backend_cuda.probe(&info, &err));
	assert_non_null(strstr(err.msg, "device 7 of 2"));
	assert_non_null(strstr(err.remedy, "--gpu cudaN"));
}

static void half_arithmetic_is_seen_in_ptx(void **state)
{
	(void)state;
	assert_true(cuda_half_arithmetic("{\n\tfma.rn.f16 \t%rs1, %rs2, %rs3, %rs4;\n}"));
	assert_true(cuda_half_arithmetic("@%p1 add.f16x2 %r1, %r2, %r3;"));
	assert_true(cuda_half_arithmetic("mul.bf16 %rs1, %rs2, %rs3;"));
	assert_false(cuda_half_arithmetic("cvt.f32.f16 %f1, %rs1;\nfma.rn.f32 %f1, %f2, %f3, %f4;\n"));
	assert_false(cuda_half_arithmetic(".reg .f16 %h<2>;\nld.global.f32 %f1, [%rd1];"));
	assert_false(cuda_half_arithmetic(""));
	assert_false(cuda_half_arithmetic(NULL));
}

/* --- the fault matrix: before a run --- */

#define ALL (CAP_TIME | CAP_STATIC | CAP_COUNTERS | CAP_TIMELINE | CAP_PER_LINE)
#define CUPTI_CAPS (CAP_COUNTERS | CAP_TIMELINE | CAP_PER_LINE)
#define COUNT_CAPS (CAP_COUNTERS | CAP_PER_LINE)

static const struct {
	const char *name, *variable, *value;
	unsigned lost;               /* capabilities */
	const char *reason, *remedy; /* parts of them */
} rows[] = {
	{ "nothing wrong", "FAKE_NVIDIA", "", 0, "", "" },
	{ "no driver", "PMPP_LIBCUDA", "/nowhere/libcuda.so.1", ALL, "no NVIDIA driver", "nvidia-smi" },
	{ "stub driver", "FAKE_NVIDIA", "cuInit=34", ALL, "stub", "LD_LIBRARY_PATH" },
	{ "driver and module differ", "FAKE_NVIDIA", "cuInit=803", ALL, "differ in version", "reboot" },
	{ "no device", "FAKE_NVIDIA", "cuInit=100", ALL, "no CUDA device", "CUDA_VISIBLE_DEVICES" },
	{ "device count 0", "FAKE_DEVICES", "0", ALL, "no CUDA device", "CUDA_VISIBLE_DEVICES" },
	{ "device taken", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=46", ALL, "another process",
	  "PMPP_CUDA_DEVICE" },
	{ "device lost", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=999", ALL, "no longer answers",
	  "xid" },
	{ "no memory for a context", "FAKE_NVIDIA", "cuDevicePrimaryCtxRetain=2", ALL,
	  "not enough free memory", "nvidia-smi" },
	{ "no CUPTI", "PMPP_LIBCUPTI", "/nowhere/libcupti.so", CUPTI_CAPS,
	  "CUPTI is not on this machine", "CUDA_HOME" },
	{ "CUPTI without its functions", "PMPP_LIBCUPTI", "libm.so.6", CUPTI_CAPS, "lacks",
	  "CUDA_HOME" },
	{ "old CUPTI", "FAKE_CUPTI", "18", CUPTI_CAPS, "lacks functions", "13.0" },
	{ "no libnvperf", "FAKE_NVIDIA", "cuptiProfilerInitialize=15", CUPTI_CAPS, "libnvperf_host.so",
	  "reinstall CUPTI" },
	{ "driver older than CUPTI", "FAKE_NVIDIA", "cuptiProfilerInitialize=14", CUPTI_CAPS,
	  "older than this program's CUDA", "580" },
	{ "error 35", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=35", COUNT_CAPS,
	  "reserved for administrators", "NVreg_RestrictProfilingToAdminUsers=0" },
	{ "error 35 in a container", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=35",
	  COUNT_CAPS, "error 35", "--cap-add=SYS_ADMIN" },
	{ "counters busy", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=26", COUNT_CAPS,
	  "another profiler", "dcgmi profile --pause" },
	{ "second subscriber", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=39", COUNT_CAPS,
	  "another CUDA tool", "without ncu" },
	{ "chip newer than CUPTI", "FAKE_NVIDIA", "cuptiProfilerHostInitialize=46", CAP_COUNTERS,
	  "does not know this chip", "newer CUDA toolkit" },
	{ "old GPU", "FAKE_UNSUPPORTED", "1", COUNT_CAPS, "too old for the counters", "--backend emu" },
	{ "vGPU", "FAKE_UNSUPPORTED", "2", COUNT_CAPS, "virtual GPU", "enable_profiling" },
	{ "confidential computing", "FAKE_UNSUPPORTED", "3", COUNT_CAPS, "confidential",
	  "--backend emu" },
	{ "mining card", "FAKE_UNSUPPORTED", "4", COUNT_CAPS, "mining", "--backend emu" },
	{ "WSL", "FAKE_UNSUPPORTED", "5", COUNT_CAPS, "WSL", "Control Panel" },
	{ "MIG", "FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=43", COUNT_CAPS, "MIG",
	  "without MIG" },
};

static void each_missing_piece_costs_only_what_it_must(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct backend_info info;
		struct err err = { 0 };
		fresh(NULL);
		setenv(rows[i].variable, rows[i].value, 1);
		bool ok = backend_cuda.probe(&info, &err);
		bool right = info.caps == (ALL & ~rows[i].lost) && ok == !(rows[i].lost & CAP_TIME);
		for (unsigned c = 0; c < 5; c++) {
			if (rows[i].lost & (1u << c))
				right = right && strstr(info.missing[c].reason, rows[i].reason) &&
				        strstr(info.missing[c].remedy, rows[i].remedy);
			else
				right = right && !info.missing[c].reason[0];
		}
		if (!ok)
			right = right && strstr(err.msg, rows[i].reason) && strstr(err.remedy, rows[i].remedy);
		for (unsigned c = 0; c < 5 && i;
		     c++) /* what, why, and something to do: each of them once */
			if (rows[i].lost & (1u << c))
				right = right && info.missing[c].remedy[0] &&
				        !strstr(info.missing[c].reason, ") (") &&
				        strchr(info.missing[c].reason, '(');
		if (!right) {
			print_message("row '%s': caps %#x of %#x, err '%s' / '%s'\n", rows[i].name, info.caps,
			              ALL & ~rows[i].lost, err.msg, err.remedy);
			for (unsigned c = 0; c < 5; c++)
				print_message("  %u: '%s' / '%s'\n", c, info.missing[c].reason,
				              info.missing[c].remedy);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void another_tools_injection_is_named(void **state)
{
	(void)state;
	struct backend_info info;
	setenv("FAKE_NVIDIA", "cuptiProfilerGetCounterAvailability=7", 1);
	setenv("CUDA_INJECTION64_PATH", "/opt/nsight/libtool.so", 1);
	assert_true(backend_cuda.probe(&info, NULL));
	assert_int_equal(info.caps, ALL & ~COUNT_CAPS);
	assert_non_null(strstr(info.missing[2].reason, "CUDA_INJECTION64_PATH is set"));
	assert_non_null(strstr(info.missing[2].remedy, "compute-sanitizer"));
}

/* --- the fault matrix: in a run --- */

/* Counters are refused in the run itself: the rest of it stands. */
static void a_refused_counter_leaves_the_rest(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		const char *reason;
	} cases[] = {
		{ "cuptiRangeProfilerEnable=35", "reserved for administrators" },
		{ "cuptiRangeProfilerStart=26", "another profiler" },
		{ "cuptiProfilerHostInitialize=46", "does not know this chip" },
		{ "cuptiRangeProfilerDecodeData=999", "reported an error" },
	};
	static struct fake_run f;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct backend *be;
		fresh(NULL);
		setenv("FAKE_NVIDIA", cases[i].what, 1);
		assert_true(backend_cuda.open(&be, NULL, NULL));
		for (int round = 0; round < 2; round++) { /* and again in the same worker */
			fake_prepare(&f, "fake_vecadd");
			if (!fake_go(&f, be, NULL))
				fail_msg("%s: %s", cases[i].what, f.err.msg);
			assert_true(f.c[10] == 10.5f);
			assert_non_null(strstr(f.res.missing[2], cases[i].reason));
			assert_int_equal(f.res.metrics.v[M_MEM_LD_SEC].origin, ORIGIN_NONE);
			assert_non_null(strstr(f.res.metrics.v[M_MEM_LD_SEC].reason, cases[i].reason));
			assert_int_equal(f.res.metrics.v[M_TIME_KERNEL].origin, ORIGIN_MEASURED);
			assert_int_equal(f.res.metrics.v[M_LAUNCH_REGISTERS].origin, ORIGIN_MEASURED);
			assert_true(f.res.n_spans > 0);
			fake_done(&f);
		}
		backend_cuda.close(be);
	}
}

/* The whole of it: pieces in two streams, pageable and pinned, an event between the streams. */
static void a_stream_program_runs_as_written(void **state)
{
	(void)state;
	static struct fake_run f;
	static struct launch_plan launches[STREAM_LAUNCHES];
	static struct stream_program p;
	struct backend *be;
	fake_prepare(&f, "fake_vecadd");
	const struct stream_knobs knobs = { .streams = 2, .chunks = 3, .pinned = true };
	stream_pipeline(&f.plan, &knobs, 0, 1, &p);
	p.n_ops--; /* the last sync comes behind the events */
	stream_event(&p, SOP_RECORD, 1, 5);
	stream_event(&p, SOP_WAIT, 2, 5);
	stream_simple(&p, SOP_SYNC, 0, "sync", 0, 0);
	for (unsigned i = 0; i < STREAM_LAUNCHES; i++) { /* 333 and 334 of 1000 elements */
		launches[i] = f.plan;
		launches[i].args[3].i32 = FAKE_N / 3 + (int)i;
	}
	f.req.program = &p;
	f.req.launches = launches;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	if (!fake_go(&f, be, NULL))
		fail_msg("%s", f.err.msg);
	assert_string_equal(f.res.missing[3], "");
	assert_string_equal(f.res.note, ""); /* the pieces are what the single launch gave */
	double init = 0;
	unsigned pins = 0;
	for (unsigned i = 0; i < f.res.n_spans; i++)
		if (f.res.spans[i].kind == SPAN_INIT) {
			assert_true(f.res.spans[i].start_ns == init);
			init = f.res.spans[i].end_ns;
			pins += !strncmp(f.res.spans[i].name, "pin ", 4);
		} else {
			assert_true(f.res.spans[i].start_ns >= init);
		}
	assert_int_equal(pins, 3);
	struct stream_outcome o = { .modelled_ns = 7 };
	assert_true(stream_seen(&p, f.res.spans, f.res.n_spans, &o));
	assert_int_equal(o.origin, ORIGIN_MEASURED);
	assert_true(o.modelled_ns == 7 && o.makespan_ns > 0);
	assert_true(o.busy_ns[ENGINE_H2D] > 0 && o.busy_ns[ENGINE_SM] > 0 && o.busy_ns[ENGINE_D2H] > 0);
	for (unsigned i = 0; i < p.n_ops; i++)
		if (stream_is_work(&p.ops[i])) {
			assert_true(o.spans[i].call_ns <= o.spans[i].start_ns);
			assert_true(o.spans[i].return_ns > o.spans[i].call_ns);
		}
	fake_done(&f);

	/* a piece that is too short: the program's own output tells */
	launches[0].args[3].i32 = launches[1].args[3].i32 = 10;
	memset(&f.res, 0, sizeof f.res);
	assert_true(fake_go(&f, be, NULL));
	assert_non_null(strstr(f.res.note, "is not what the single launch gave"));
	fake_done(&f);
	backend_cuda.close(be);
}

static void without_cupti_events_give_time_and_timeline(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	setenv("PMPP_LIBCUPTI", "/nowhere/libcupti.so", 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_true(fake_go(&f, be, NULL));
	assert_true(f.res.timing.n >= 3);
	assert_false(f.res.timing.from_activity);
	assert_true(f.res.spans_from_events);
	unsigned n = 0;
	const struct span *s[4] = { NULL };
	for (unsigned i = 0; i < f.res.n_spans; i++)
		if (f.res.spans[i].kind != SPAN_INIT && n < 4)
			s[n++] = &f.res.spans[i];
	assert_int_equal(n, 4);
	assert_true(s[0]->kind == SPAN_H2D && !strcmp(s[0]->name, "a0"));
	assert_true(s[3]->kind == SPAN_D2H && !strcmp(s[3]->name, "c0"));
	assert_non_null(strstr(f.res.note, "CUPTI is not on this machine"));
	fake_done(&f);
	backend_cuda.close(be);
}

static void a_number_that_is_none_is_not_shown(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_NAN", "dram__bytes_read", 1);
	setenv("FAKE_ABSENT", "op_ffma", 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_true(fake_go(&f, be, NULL));
	assert_int_equal(f.res.metrics.v[M_DRAM_READ].origin, ORIGIN_NONE);
	assert_non_null(strstr(f.res.metrics.v[M_DRAM_READ].reason, "no number"));
	assert_int_equal(f.res.metrics.v[M_FLOP_FP32].origin, ORIGIN_NONE);
	assert_non_null(strstr(f.res.metrics.v[M_FLOP_FP32].reason, "no such counter"));
	assert_int_equal(f.res.metrics.v[M_FLOP_FP64].origin, ORIGIN_MEASURED);
	assert_int_equal(f.res.metrics.v[M_DRAM_WRITE].origin, ORIGIN_MEASURED);
	fake_done(&f);
	backend_cuda.close(be);
}

/* One failing run: its code, words of message and remedy; then a good run in the same back end. */
static void fails_then_recovers(const char *faults, const char *entry, enum err_code code,
                                const char *message, const char *remedy)
{
	static struct fake_run f;
	struct backend *be;
	fresh(NULL);
	if (faults)
		setenv("FAKE_NVIDIA", faults, 1);
	fake_prepare(&f, entry);
	f.req.timeout_s = SHORT_S;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_false(fake_go(&f, be, NULL));
	if (f.err.code != code || !strstr(f.err.msg, message) || !strstr(f.err.remedy, remedy))
		fail_msg("%s %s: %s: '%s' / '%s'", faults ? faults : "", entry, err_code_name(f.err.code),
		         f.err.msg, f.err.remedy);
	unsetenv("FAKE_NVIDIA");
	if (faults) {
		/* what was wrong with the machine is mended: only a worker of its own sees that */
		backend_cuda.close(be);
		fresh(NULL);
		assert_true(backend_cuda.open(&be, NULL, NULL));
	}
	fake_prepare(&f, "fake_vecadd");
	if (!fake_go(&f, be, NULL))
		fail_msg("after %s %s: %s", faults ? faults : "", entry, f.err.msg);
	assert_true(f.c[10] == 10.5f);
	fake_done(&f);
	backend_cuda.close(be);
}

static void a_failed_run_says_why_and_the_next_works(void **state)
{
	(void)state;
	fails_then_recovers(NULL, "fake_fault", ERR_FAULT, "did something illegal", "--backend emu");
	fails_then_recovers(NULL, "fake_hang", ERR_TIMEOUT, "running fake_hang", "--timeout");
	fails_then_recovers(NULL, "fake_nothing", ERR_INTERNAL, "cuModuleGetFunction", "");
	fails_then_recovers("cuMemAlloc_v2=2", "fake_vecadd", ERR_UNAVAILABLE, "1 GiB are free",
	                    "smaller problem");
	fails_then_recovers("cuLaunchKernel=701", "fake_vecadd", ERR_USAGE, "refused this launch",
	                    "smaller block");
	fails_then_recovers("cuStreamSynchronize=719", "fake_vecadd", ERR_FAULT, "illegal", "emu");
	fails_then_recovers("cuModuleLoadData=209,cuModuleLoadDataEx=218", "fake_vecadd",
	                    ERR_UNAVAILABLE, "ptxas fatal: fake", "compile for this GPU");
	fails_then_recovers("cuInit=100", "fake_vecadd", ERR_UNAVAILABLE, "no CUDA device",
	                    "nvidia-smi");
	fails_then_recovers("cuptiRangeProfilerStart=crash", "fake_vecadd", ERR_INTERNAL,
	                    "signal 11, Segmentation fault) during cuptiRangeProfilerStart",
	                    "run again");
	fails_then_recovers("cuptiRangeProfilerStop=exit", "fake_vecadd", ERR_INTERNAL,
	                    "exit status 7) during cuptiRangeProfilerStop", "run again");
	fails_then_recovers("cuptiActivityFlushAll=hang", "fake_vecadd", ERR_TIMEOUT,
	                    "no sign of life for", "");
	fails_then_recovers("cuInit=hang", "fake_vecadd", ERR_TIMEOUT, "while cuInit", "");
}

static void an_old_driver_is_named(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_DRIVER", "12020", 1);
	setenv("FAKE_NVIDIA", "cuModuleLoadData=222,cuModuleLoadDataEx=222", 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_false(fake_go(&f, be, NULL));
	assert_int_equal(f.err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(f.err.msg, "CUDA 12.2"));
	assert_non_null(strstr(f.err.remedy, "580"));
	backend_cuda.close(be);
}

/* A cubin of another architecture: the driver compiles the PTX instead, and the facts say so. */
static void ptx_stands_in_for_a_foreign_cubin(void **state)
{
	(void)state;
	static struct fake_run f;
	struct backend *be;
	setenv("FAKE_NVIDIA", "cuModuleLoadData=209", 1);
	fake_prepare(&f, "fake_vecadd");
	assert_true(backend_cuda.open(&be, NULL, NULL));
	assert_true(fake_go(&f, be, NULL));
	assert_true(f.res.loaded.jit);
	assert_true(f.c[10] == 10.5f);
	assert_false(f.res.timing.l2_flushed); /* the flushing kernel did not load either: said so */
	assert_non_null(strstr(f.res.missing[4], "no source lines"));
	fake_done(&f);
	backend_cuda.close(be);
}

static atomic_bool stop;

static void *press_escape(void *arg)
{
	nanosleep(&(struct timespec){ .tv_nsec = *(const long *)arg }, NULL);
	atomic_store(&stop, true);
	return NULL;
}

static void a_run_is_cancelled_soon(void **state)
{
	(void)state;
	static const char *const entries[] = { "fake_hang", "fake_vecadd" };
	static struct fake_run f;
	struct backend *be;
	assert_true(backend_cuda.open(&be, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		long after = 100000000;
		pthread_t t;
		atomic_store(&stop, false);
		if (i) {
			backend_cuda.close(be);
			fresh(NULL);
			setenv("FAKE_NVIDIA", "cuStreamSynchronize=nap,cuEventRecord=nap", 1);
			assert_true(backend_cuda.open(&be, NULL, NULL));
			after = 30000000;
		}
		fake_prepare(&f, entries[i]);
		assert_int_equal(pthread_create(&t, NULL, press_escape, &after), 0);
		bool ok = fake_go(&f, be, &stop);
		pthread_join(t, NULL);
		assert_false(ok);
		assert_int_equal(f.err.code, ERR_CANCELLED);
	}
	backend_cuda.close(be);
}

/* The one child of this thread. The kernel's list may miss it while it runs: proc(5). */
static int worker_pid(void)
{
	int pid = 0;
	for (int tries = 0; !pid && tries < 1000; tries++) {
		FILE *f = fopen("/proc/thread-self/children", "r");
		assert_non_null(f);
		if (fscanf(f, "%d", &pid) != 1)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		fclose(f);
	}
	assert_true(pid > 0);
	return pid;
}

/* Copies are made in pieces, on both sides: the worker answers in time and is kept. */
static void a_cancel_while_copying_keeps_the_worker(void **state)
{
	(void)state;
	const size_t bytes = (size_t)40 << 20;
	static struct fake_run f;
	struct backend *be;
	long after = 300000000;
	pthread_t t;
	setenv("FAKE_NVIDIA", "cuMemcpyHtoD_v2=doze", 1);
	assert_true(backend_cuda.open(&be, NULL, NULL));
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_STATIC;
	assert_true(fake_go(&f, be, NULL)); /* starts it */
	fake_done(&f);
	const int pid = worker_pid();
	fake_prepare(&f, "fake_vecadd");
	void *large = calloc(1, bytes);
	assert_non_null(large);
	for (int i = 0; i < 3; i++) /* 9 pieces, 1080 ms: longer than a cancelled worker may take */
		f.req.buffers[i] = (struct run_buffer){ .data = large, .bytes = bytes };
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, press_escape, &after), 0);
	assert_false(fake_go(&f, be, &stop));
	pthread_join(t, NULL);
	assert_int_equal(f.err.code, ERR_CANCELLED);
	assert_int_equal(worker_pid(), pid);
	free(large);
	/* before the worker has heard of it nothing is read at all */
	fake_prepare(&f, "fake_vecadd");
	void *closed = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(closed != MAP_FAILED);
	f.req.buffers[0] = (struct run_buffer){ .data = closed, .bytes = bytes };
	assert_false(fake_go(&f, be, &stop));
	assert_int_equal(f.err.code, ERR_CANCELLED);
	munmap(closed, bytes);
	fake_prepare(&f, "fake_vecadd");
	f.req.caps = CAP_STATIC;
	assert_true(fake_go(&f, be, NULL));
	assert_int_equal(worker_pid(), pid);
	fake_done(&f);
	backend_cuda.close(be);
}

/* No worker is left behind as a zombie or running. */
static void no_child_is_left(void **state)
{
	(void)state;
	fresh(NULL);
	int status;
	errno = 0;
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	/* a parked one is alive and ends with the program */
	assert_true(cuda_probe(0, &(struct cuda_info){ 0 }, NULL));
	assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
}

int main(int argc, char **argv)
{
	int status;
	if (fake_is_worker(argc, argv, &status))
		return status;
#define FRESH(f) cmocka_unit_test_setup(f, fresh)
	const struct CMUnitTest tests[] = {
		FRESH(a_run_brings_everything),
		FRESH(in_place_results_are_of_one_launch),
		FRESH(only_what_was_asked_is_done),
		FRESH(the_sheet_is_of_the_live_device),
		FRESH(cublas_is_timed),
		FRESH(one_of_two_devices_is_chosen),
		cmocka_unit_test(half_arithmetic_is_seen_in_ptx),
		FRESH(each_missing_piece_costs_only_what_it_must),
		FRESH(another_tools_injection_is_named),
		FRESH(a_refused_counter_leaves_the_rest),
		FRESH(a_stream_program_runs_as_written),
		FRESH(without_cupti_events_give_time_and_timeline),
		FRESH(a_number_that_is_none_is_not_shown),
		FRESH(a_failed_run_says_why_and_the_next_works),
		FRESH(an_old_driver_is_named),
		FRESH(ptx_stands_in_for_a_foreign_cubin),
		FRESH(a_run_is_cancelled_soon),
		FRESH(a_cancel_while_copying_keeps_the_worker),
		FRESH(no_child_is_left),
		FRESH(a_device_is_chosen_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

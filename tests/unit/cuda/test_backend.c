/*
 * The GPU back end against a stand-in for NVIDIA's libraries: what a run brings back.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fake_run.h"

#include "cuda/cuda_result.h"
#include "timemodel/stream_time.h"

#include <math.h>

static double get(const struct run_result *r, enum metric_id id)
{
	return metric_get(&r->metrics, id);
}

TEST_WITH(a_run_brings_everything, fake_fresh, NULL)
{
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
	/* loads of matrices have a counter of their own, and are part of the count */
	const char lds[] = "smsp__sass_inst_executed_op_shared_ld.sum";
	assert_true(get(&f.res, M_SH_LD_REQ) == 1000 + (double)strlen(lds));
	assert_true(f.res.counts.total.shared_ld_requests ==
	            (uint64_t)(get(&f.res, M_SH_LD_REQ) + get(&f.res, M_SH_LDM_REQ)));
	assert_true(f.res.counts.total.shared_ld_wavefronts ==
	            (uint64_t)(get(&f.res, M_SH_LD_WAVE) + get(&f.res, M_SH_LDM_WAVE)));
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
TEST_WITH(in_place_results_are_of_one_launch, fake_fresh, NULL)
{
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

TEST_WITH(only_what_was_asked_is_done, fake_fresh, NULL)
{
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

TEST_WITH(the_sheet_is_of_the_live_device, fake_fresh, NULL)
{
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

TEST_WITH(cublas_is_timed, fake_fresh, NULL)
{
	struct run_timing t;
	struct err err = { 0 };
	for (int mode = 0; mode < GEMM_MODE_COUNT; mode++) {
		if (!cuda_gemm_time(0, (enum cuda_gemm_mode)mode, 64, 32, 16, NULL, &t, &err))
			fail_msg("%s", err.msg);
		assert_true(t.n >= 3);
		assert_true(t.median_ns > 150000); /* its two kernels together */
	}
	static const char *const first[] = { "cuBLAS FP32", "cuBLAS FP16", "cuBLAS TF32" };
	/* the line of our kernels' precision comes first */
	for (enum tensor_input in = TENSOR_NONE; in <= TENSOR_TF32; in++) {
		struct library_line l[GEMM_MODE_COUNT];
		assert_int_equal(backend_cuda.library(64, 32, 16, in, NULL, l, GEMM_MODE_COUNT, &err),
		                 GEMM_MODE_COUNT);
		assert_string_equal(l[0].name, first[in]);
		for (int i = 0; i < GEMM_MODE_COUNT; i++)
			assert_true(l[i].comparable == (i == 0));
	}
	setenv("PMPP_LIBCUBLAS", "/nowhere/libcublas.so", 1);
	fake_fresh(NULL);
	setenv("PMPP_LIBCUBLAS", "/nowhere/libcublas.so", 1);
	assert_false(cuda_gemm_time(0, GEMM_FP32, 64, 64, 64, NULL, &t, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "cuBLAS is not on this machine"));
	assert_non_null(strstr(err.remedy, "CUDA_HOME"));
}

TEST_WITH(one_of_two_devices_is_chosen, fake_fresh, NULL)
{
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

TEST(half_arithmetic_is_seen_in_ptx)
{
	assert_true(cuda_half_arithmetic("{\n\tfma.rn.f16 \t%rs1, %rs2, %rs3, %rs4;\n}"));
	assert_true(cuda_half_arithmetic("@%p1 add.f16x2 %r1, %r2, %r3;"));
	assert_true(cuda_half_arithmetic("mul.bf16 %rs1, %rs2, %rs3;"));
	assert_false(cuda_half_arithmetic("cvt.f32.f16 %f1, %rs1;\nfma.rn.f32 %f1, %f2, %f3, %f4;\n"));
	assert_false(cuda_half_arithmetic(".reg .f16 %h<2>;\nld.global.f32 %f1, [%rd1];"));
	assert_false(cuda_half_arithmetic(""));
	assert_false(cuda_half_arithmetic(NULL));
}

/* The whole of it: pieces in two streams, pageable and pinned, an event between the streams. */
TEST_WITH(a_stream_program_runs_as_written, fake_fresh, NULL)
{
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

TEST_WITH(without_cupti_events_give_time_and_timeline, fake_fresh, NULL)
{
	static struct fake_run f;
	struct backend *be;
	setenv("PMPP_LIBCUPTI", "/nowhere/libcupti.so", 1);
	fake_begin(&f, &be);
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

/* A large buffer goes through page-locked pieces, each way; without such memory the driver alone
 * copies it. */
TEST_WITH(a_large_buffer_comes_and_goes_by_pieces, fake_fresh, NULL)
{
	static const char *const without[] = { "", "cuMemHostAlloc=2", "cuEventCreate=2" };
	const size_t n = ((size_t)140 << 20) / sizeof(int) + 3; /* the last piece is a part of one */
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		static struct fake_run f;
		struct backend *be;
		fake_fresh(NULL);
		setenv("FAKE_NVIDIA", without[i], 1);
		fake_prepare(&f, "fake_increment");
		int *const x = malloc(n * sizeof *x);
		for (size_t k = 0; k < n; k++)
			x[k] = (int)(k * 2654435761u >> 1);
		f.plan.buffers[0].count = n;
		f.req.buffers[0] = (struct run_buffer){ .data = x, .bytes = n * sizeof *x };
		f.req.caps = i < 2 ? CAP_TIME : CAP_COUNTERS;
		assert_true(backend_cuda.open(&be, NULL, &f.err));
		const bool ran = fake_go(&f, be, NULL);
		if (!ran)
			fail_msg("%s: %s", without[i], f.err.msg);
		for (size_t k = 0; k < n; k++)
			if (x[k] != (int)(k * 2654435761u >> 1) + (k < FAKE_N))
				fail_msg("%s: element %zu is %d", without[i], k, x[k]);
		free(x);
		fake_done(&f);
		backend_cuda.close(be);
	}
}

/* Last of all tests: nothing takes the choice back. */
TEST_WITH(a_device_is_chosen_by_name, fake_fresh, NULL)
{
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

int main(int argc, char **argv)
{
	return fake_main(argc, argv);
}

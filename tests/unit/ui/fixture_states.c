/* Every way in which there is nothing, or something else, to show. */
#include "fixture.h"

struct session *fixture_none(void)
{
	struct session *s = fixture_done();
	record_free(s->now);
	record_free(s->before);
	s->now = s->before = NULL;
	s->state = RUN_NONE;
	return s;
}

/* First start: not even registers are known. */
struct session *fixture_first(void)
{
	struct session *s = fixture_none();
	s->usage_known = s->occ_ok = false;
	memset(s->sweep, 0, sizeof s->sweep);
	return s;
}

struct session *fixture_compiling(void)
{
	struct session *s = fixture_first();
	s->state = RUN_RUNNING;
	s->stuck_compile = true;
	return s;
}

struct session *fixture_running(void)
{
	struct session *s = fixture_done();
	s->sel.params[3] = 32;
	s->stale = true;
	s->state = RUN_RUNNING;
	s->progress = 0.43;
	s->pace = (struct pace){ .per_s = 1234, .left_s = 12 };
	s->pace_of_blocks = true;
	return s;
}

struct session *fixture_refused(void)
{
	struct session *s = fixture_reduced();
	s->view = "occupancy";
	s->plan_ok = false;
	s->stale = true;
	s->sel.params[1] = 4096;
	err_set(&s->plan_err, ERR_USAGE, "parameter 'block': 4096: a block has at most 1024 threads");
	err_remedy(&s->plan_err, "try block=1024");
	return s;
}

struct session *fixture_with_error(struct session *s, enum err_code code, const char *text,
                                   const char *remedy)
{
	s->state = RUN_FAILED;
	err_set(&s->run_err, code, "%s", text);
	if (remedy)
		err_remedy(&s->run_err, "%s", remedy);
	return s;
}

struct session *fixture_failed(void)
{
	return fixture_with_error(
		fixture_none(), ERR_FAULT,
		"sgemm.cu:22: out-of-bounds load of 4 bytes at A + 4194304 (4194304 bytes) by "
		"block (63,0,0), thread (15,3,0)",
		"guard the load with row < M");
}

struct session *fixture_cancelled(void)
{
	struct session *s = fixture_none();
	s->state = RUN_CANCELLED;
	return s;
}

struct session *fixture_wrong(void)
{
	struct session *s = fixture_done();
	s->now->verify = VERIFY_WRONG;
	snprintf(s->now->verify_text, sizeof s->now->verify_text,
	         "C[17] is 4.25, 4.5 expected (tolerance 1e-5); 1024 of 1048576 elements differ");
	return s;
}

/* Ran, but nothing could be counted. */
struct session *fixture_no_counts(void)
{
	struct session *s = fixture_done();
	run_counts_free(&s->now->run.counts);
	metrics_clear(&s->now->metrics, "counters are refused here (ERR_NVGPUCTRPERM): see doctor");
	memset(&s->now->perf, 0, sizeof s->now->perf);
	return s;
}

/* Counters of a GPU: figures, but no addresses and no path. */
struct session *fixture_measured(void)
{
	struct session *s = fixture_done();
	struct run_counts *r = &s->now->run.counts;
	free(r->accesses);
	free(r->steps);
	r->accesses = NULL;
	r->steps = NULL;
	r->n_accesses = r->n_steps = 0;
	free(r->code); /* a GPU counts by source line */
	r->code = NULL;
	r->n_code = 0;
	r->ptx_known = false;
	s->now->run.level[0] = '\0';
	r->origin = ORIGIN_MEASURED;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (s->now->metrics.v[i].origin == ORIGIN_COUNTED)
			s->now->metrics.v[i].origin = ORIGIN_MEASURED;
	metric_num(&s->now->metrics, M_OCC_ACHIEVED, ORIGIN_MEASURED, 98.7);
	snprintf(s->sel.backend, sizeof s->sel.backend, "cuda");
	return s;
}

struct session *fixture_no_kernel(void)
{
	struct session *s = mem_zalloc(sizeof *s);
	s->sel.gpu = fixture_a100();
	snprintf(s->sel.backend, sizeof s->sel.backend, "emu");
	s->view = "occupancy";
	return s;
}

/* The reduction and what an H200 gave for the same launch: fewer branches, the same requests. */
struct session *fixture_reference_run(void)
{
	struct session *s = fixture_reduced();
	s->reference_run = mem_zalloc(sizeof *s->reference_run);
	brief_of(s->now, s->source, s->reference_run);
	static const struct gpu_spec h200 = { .id = "a100", .name = "NVIDIA H200" };
	s->reference_run->sel.gpu = &h200;
	for (int i = 0; i < METRIC_COUNT; i++)
		if (s->reference_run->metrics.v[i].origin == ORIGIN_COUNTED)
			s->reference_run->metrics.v[i].origin = ORIGIN_MEASURED;
	metric_num(&s->reference_run->metrics, M_DIV_BRANCHES, ORIGIN_MEASURED, 12);
	metric_num(&s->reference_run->metrics, M_DIV_SIMD_EFF, ORIGIN_MEASURED, 61.25);
	return s;
}

struct session *fixture_reference_run_hidden(void)
{
	struct session *s = fixture_reference_run();
	s->reference_run_hidden = true;
	return s;
}

/* A spread of the blocks was run: counts are scaled up, results cannot be compared. */
struct session *fixture_sampled(void)
{
	struct session *s = fixture_done();
	struct run_counts *c = &s->now->run.counts;
	c->origin = ORIGIN_SAMPLED;
	c->blocks_run = 128;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (s->now->metrics.v[i].origin == ORIGIN_COUNTED)
			s->now->metrics.v[i].origin = ORIGIN_SAMPLED;
	s->now->verify = VERIFY_SAMPLED;
	s->now->verify_text[0] = '\0';
	snprintf(s->now->run.note, sizeof s->now->run.note, "sampled 128 of 4096 blocks");
	return s;
}

struct session *fixture_compile_error(void)
{
	return fixture_with_error(fixture_first(), ERR_COMPILE,
	                          "sgemm.cu(22): error: identifier \"Mds\" is undefined\n"
	                          "  \t\tMds[ty][tx] = A[row * K + p * TILE + tx];\n"
	                          "  \t\t^\n"
	                          "1 error detected in the compilation of \"sgemm.cu\".",
	                          "mend line 22 and press r");
}

/* All that a GPU alone tells: spread of the time, clocks, the loaded function, stalls. */
struct session *fixture_hardware(void)
{
	struct session *s = fixture_measured();
	struct run_result *r = &s->now->run;
	r->timing = (struct run_timing){ .n = 21,
		                             .median_ns = 839850,
		                             .min_ns = 836100,
		                             .max_ns = 861200,
		                             .q1_ns = 838300,
		                             .q3_ns = 842500,
		                             .l2_flushed = true,
		                             .from_activity = true,
		                             .event_ns = 842400,
		                             .sm_mhz = 1410,
		                             .memory_mhz = 1215 };
	r->loaded = (struct run_static){ .known = true,
		                             .registers = 32,
		                             .static_shared_bytes = 2048,
		                             .max_threads = 1024,
		                             .blocks_per_sm = 8 };
	static const struct run_stall stalls[] = {
		{ "long_scoreboard", 6.42 }, { "barrier", 2.31 }, { "mio_throttle", 1.12 },
		{ "selected", 1 },           { "wait", 0.71 },    { "drain", 0.001 },
	};
	memcpy(r->stalls, stalls, sizeof stalls);
	r->n_stalls = ARRAY_LEN(stalls);
	r->counter_passes = 14;
	r->counters_s = 2.35;
	metric_num(&s->now->metrics, M_TIME_KERNEL, ORIGIN_MEASURED, 839850);
	return s;
}

/* A snapshot from elsewhere: nothing runs by itself. */
struct session *fixture_opened(void)
{
	struct session *s = fixture_done();
	s->opened = "sgemm-tiled.json";
	return s;
}

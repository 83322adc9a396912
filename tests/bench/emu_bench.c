/*
 * How fast the emulator is: nanoseconds of one core per PTX warp instruction, all counters on, and
 * what a second thread brings. Measures processor time, so that a busy machine disturbs little.
 *
 * emu_bench [REPEAT [LINE]]   prints one line per kernel; the best of REPEAT (default 3) runs.
 * LINE: only that line, counted from 0, for a profiler. Needs NVRTC, or the kernels in the cache.
 * emu_bench --races [REPEAT [LINE]]   what looking for races costs instead: processor time of a
 * launch on one thread without, with the spread that a person's own kernel gets, with all blocks.
 * emu_bench --levels [REPEAT [LINE]]   machine code beside PTX: nanoseconds per warp instruction of
 * each, how many times as long the first takes, and the median of that.
 * emu_bench --lines           prints how many lines there are.
 */
#include "backend/backend.h"
#include "base/mem.h"
#include "base/text.h"
#include "lab/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct setting {
	const char *kernel, *variant;
	struct {
		const char *name;
		int64_t value;
	} set[6]; /* on top of the defaults */
	const char *shown;
};
#define SIZE                      \
	{ "N", 1024 }, { "M", 1024 }, \
	{                             \
		"K", 1024                 \
	}
static const struct setting settings[] = {
	{ "sgemm", "naive", { SIZE, { "block_x", 32 }, { "block_y", 32 } }, "naive, block 32x32" },
	{ "sgemm", "naive", { SIZE, { "block_x", 16 }, { "block_y", 16 } }, "naive, block 16x16" },
	{ "sgemm", "tiled", { SIZE, { "TILE", 32 } }, "tiled, tile 32" },
	{ "sgemm", "tiled", { SIZE, { "TILE", 16 } }, "tiled, tile 16" },
	{ "sgemm", "coarsened", { SIZE }, "coarsened" },
	{ "sgemm_fast", "block_tile", { SIZE }, "block_tile" },
	{ "sgemm_fast", "thread_tile", { SIZE }, "thread_tile" },
	{ "sgemm_fast", "vectorised", { SIZE }, "vectorised" },
	{ "sgemm_fast", "double_buffer", { SIZE }, "double_buffer" },
	{ "sgemm_fast", "warp_tile", { SIZE }, "warp_tile" },
	{ "sgemm_fast", "pipelined", { SIZE }, "pipelined" },
	{ "vec_add", "per_element", { { "N", 1 << 22 } }, "per_element, 4 Mi" },
	{ "vec_add", "grid_stride", { { "N", 1 << 22 } }, "grid_stride, 4 Mi" },
	{ "reduction", "segmented", { { "N", 1 << 22 } }, "segmented, 4 Mi" },
	{ "reduction", "shuffle", { { "N", 1 << 22 } }, "shuffle, 4 Mi" },
	{ "transpose", NULL, { { NULL, 0 } }, "first variant" },
	{ "blur", NULL, { { NULL, 0 } }, "first variant" },
	{ "diverge", NULL, { { NULL, 0 } }, "first variant" },
};
/* Launches small enough for the race check to matter: those of --races; the others by LINE. */
static const struct setting small[] = {
	{ "vec_add", "per_element", { { "N", 1 << 12 } }, "per_element, 4 Ki" },
	{ "vec_add", "per_element", { { "N", 1 << 16 } }, "per_element, 64 Ki" },
	{ "vec_add", "per_element", { { "N", 1 << 20 } }, "per_element, 1 Mi" },
	{ "transpose", NULL, { { "W", 256 }, { "H", 256 } }, "256 x 256" },
	{ "sgemm", "naive", { { "N", 128 }, { "M", 128 }, { "K", 128 } }, "naive, 128" },
	{ "sgemm", "tiled", { { "N", 128 }, { "M", 128 }, { "K", 128 } }, "tiled, 128" },
	{ "sgemm", "tiled", { { "N", 256 }, { "M", 256 }, { "K", 256 } }, "tiled, 256" },
	{ "sgemm", "naive", { { "N", 384 }, { "M", 384 }, { "K", 384 } }, "naive, 384" },
	{ "sgemm", "tiled", { { "N", 512 }, { "M", 512 }, { "K", 512 } }, "tiled, 512" },
	{ "sgemm_fast",
	  "thread_tile",
	  { { "N", 256 }, { "M", 256 }, { "K", 256 } },
	  "thread_tile, 256" },
	{ "reduction", "segmented", { { "N", 1 << 14 } }, "segmented, 16 Ki" },
	{ "reduction", "segmented", { { "N", 1 << 18 } }, "segmented, 256 Ki" },
	{ "reduction", "shuffle", { { "N", 1 << 18 } }, "shuffle, 256 Ki" },
	{ "reduction", "simple", { { "N", 2048 }, { "block", 1024 } }, "simple, one block" },
	{ "rgb_to_gray", NULL, { { NULL, 0 } }, "1000 x 750" },
	{ "diverge", "loop", { { NULL, 0 } }, "loop, 64 Ki" },
	{ "blur", NULL, { { "W", 256 }, { "H", 256 } }, "256 x 256" },
	{ "blur", NULL, { { "RADIUS", 3 } }, "1000 x 750, radius 3" },
	{ "transpose", "padded", { { "W", 1024 }, { "H", 1024 } }, "padded, 1024 x 1024" },
	{ "vec_add", "atomic", { { "N", 4096 } }, "atomic, 4 Ki" },
};

static double clock_s(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct job {
	struct module module;
	struct launch_plan plan;
	struct run_buffer buffers[KERNEL_MAX_BUFFERS];
	int64_t params[KERNEL_MAX_PARAMS];
};

static bool prepare(const struct setting *s, struct job *job, struct err *err)
{
	static uint64_t names;
	const struct kernel_desc *k = kernel_find(s->kernel);
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	unsigned n_macros = 0;
	if (!k)
		return err_set(err, ERR_USAGE, "no kernel '%s'", s->kernel);
	const int v = s->variant ? kernel_variant_index(k, s->variant) : 0;
	if (v < 0)
		return err_set(err, ERR_USAGE, "%s has no variant '%s'", s->kernel, s->variant);
	kernel_defaults(k, job->params);
	for (unsigned i = 0; i < 6 && s->set[i].name; i++) {
		const int at = kernel_param_index(k, s->set[i].name);
		if (at < 0)
			return err_set(err, ERR_USAGE, "%s has no parameter '%s'", s->kernel, s->set[i].name);
		job->params[at] = s->set[i].value;
	}
	for (unsigned i = 0; i < k->n_params; i++)
		if (k->params[i].kind == PARAM_COMPILE)
			macros[n_macros++] =
				(struct compile_macro){ k->params[i].macro ? k->params[i].macro : k->params[i].name,
				                        job->params[i] };
	char file[64];
	snprintf(file, sizeof file, "%s.cu", k->name);
	const struct compile_request req = {
		.file = file,
		.source = kernel_source(k),
		.n_macros = n_macros,
		.macros = macros,
		.cc_major = 8,
		.cc_minor = 0,
	};
	if (!k->plan((unsigned)v, job->params, &job->plan, err) ||
	    !compile_module(&req, &job->module, err))
		return false;
	for (unsigned b = 0; b < job->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &job->plan.buffers[b];
		job->buffers[b].bytes = bp->count * elem_size(bp->type);
		job->buffers[b].data = mem_aligned(64, job->buffers[b].bytes);
		if (bp->role == BUF_IN) /* as in the laboratory, where it stays from run to run */
			job->buffers[b].contents = ++names;
		if (bp->role != BUF_OUT || bp->partial)
			k->fill(&job->plan, job->params, b, 1, job->buffers[b].data);
	}
	return true;
}

/* Processor time of one run on one thread; < 0: it failed. */
static double race_run(struct backend *be, struct job *job, enum race_check races, struct err *err)
{
	struct run_request req = { .module = &job->module,
		                       .plan = &job->plan,
		                       .source_file = "bench",
		                       .threads = 1,
		                       .check_races = races,
		                       .timeout_s = 600 };
	struct run_result res;
	memcpy(req.buffers, job->buffers, sizeof req.buffers);
	const double before = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	if (!backend_emu.run(be, &req, NULL, &res, err))
		return -1;
	const double used = clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
	if (res.found.n)
		fprintf(stderr, "emu_bench: %s\n", res.found.finding[0].text);
	run_result_free(&res);
	return used;
}

/* The kinds take turns, the best of each counts; false: a run failed. */
static bool measure_races(struct backend *be, struct job *job, int repeat, double best[3],
                          struct err *err)
{
	static const enum race_check kinds[3] = { RACES_OFF, RACES_SPREAD, RACES_ALL };
	for (unsigned k = 0; k < 3; k++)
		best[k] = 1e30;
	for (int i = 0; i < repeat; i++)
		for (unsigned k = 0; k < 3; k++) {
			const double used = race_run(be, job, kinds[k], err);
			if (used < 0)
				return false;
			best[k] = used < best[k] ? used : best[k];
		}
	return true;
}

/* Best processor time and wall time of @repeat runs. */
static bool measure(struct backend *be, struct job *job, unsigned threads, int repeat, double *cpu,
                    double *wall, uint64_t *warp_insts, struct err *err)
{
	struct run_request req = {
		.module = &job->module, .plan = &job->plan, .source_file = "bench", .threads = threads
	};
	memcpy(req.buffers, job->buffers, sizeof req.buffers);
	*cpu = *wall = 1e30;
	for (int i = 0; i < repeat; i++) {
		struct run_result res;
		const double c = clock_s(CLOCK_PROCESS_CPUTIME_ID), w = clock_s(CLOCK_MONOTONIC);
		if (!backend_emu.run(be, &req, NULL, &res, err))
			return false;
		const double used = clock_s(CLOCK_PROCESS_CPUTIME_ID) - c;
		const double passed = clock_s(CLOCK_MONOTONIC) - w;
		*cpu = used < *cpu ? used : *cpu;
		*wall = passed < *wall ? passed : *wall;
		*warp_insts = res.counts.total.warp_executed;
		run_result_free(&res);
	}
	return true;
}

/* Best processor time of @repeat runs on one thread, and the warp instructions that they count. */
static bool at_level(struct backend *be, struct job *job, enum run_level level, int repeat,
                     double *best, uint64_t *warp_insts, struct err *err)
{
	struct run_request req = { .module = &job->module,
		                       .plan = &job->plan,
		                       .source_file = "bench",
		                       .threads = 1,
		                       .level = level };
	memcpy(req.buffers, job->buffers, sizeof req.buffers);
	*best = 1e30;
	for (int i = 0; i < repeat; i++) {
		struct run_result res;
		const double before = clock_s(CLOCK_PROCESS_CPUTIME_ID);
		if (!backend_emu.run(be, &req, NULL, &res, err))
			return false;
		const double used = clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
		*best = used < *best ? used : *best;
		*warp_insts = res.counts.total.warp_executed;
		run_result_free(&res);
	}
	return true;
}

static void job_free(struct job *job)
{
	for (unsigned b = 0; b < job->plan.n_buffers; b++)
		free(job->buffers[b].data);
	module_free(&job->module);
}

static bool show_speed(struct backend *be, const struct setting *s, int repeat, struct err *err)
{
	struct job job = { 0 };
	double cpu1 = 0, wall1 = 0, cpu2 = 0, wall2 = 0;
	uint64_t n = 0;
	const bool ok = prepare(s, &job, err) && measure(be, &job, 1, repeat, &cpu1, &wall1, &n, err) &&
	                measure(be, &job, 2, repeat, &cpu2, &wall2, &n, err);
	if (ok)
		printf("%-9s %-26s %14llu %12.2f %7.1f ms %6.1f ms x%.2f\n", s->kernel, s->shown,
		       (unsigned long long)n, 1e9 * cpu1 / (double)n, 1e3 * wall1, 1e3 * wall2,
		       wall1 / wall2);
	else
		printf("%-9s %-26s %s\n", s->kernel, s->shown, err->msg);
	job_free(&job);
	return ok;
}

static bool show_races(struct backend *be, const struct setting *s, int repeat, struct err *err)
{
	struct job job = { 0 };
	double best[3];
	const bool ok = prepare(s, &job, err) && measure_races(be, &job, repeat, best, err);
	if (ok)
		printf("%-9s %-26s %9.2f ms %9.2f ms x%-6.2f %9.1f ms x%-6.1f\n", s->kernel, s->shown,
		       1e3 * best[0], 1e3 * best[1], best[1] / best[0], 1e3 * best[2], best[2] / best[0]);
	else
		printf("%-9s %-26s %s\n", s->kernel, s->shown, err->msg);
	fflush(stdout);
	job_free(&job);
	return ok;
}

/* A run at the level of machine code is one of the PTX first. Returns the ratio; 0: it failed. */
static double show_levels(struct backend *be, const struct setting *s, int repeat, struct err *err)
{
	struct job job = { 0 };
	double ptx, both, ratio = 0;
	uint64_t n_ptx, n_sass;
	if (prepare(s, &job, err) && at_level(be, &job, RUN_LEVEL_PTX, repeat, &ptx, &n_ptx, err) &&
	    at_level(be, &job, RUN_LEVEL_SASS, repeat + 1, &both, &n_sass, err)) {
		const double a = 1e9 * ptx / (double)n_ptx, b = 1e9 * (both - ptx) / (double)n_sass;
		ratio = b / a;
		printf("%-10s %-26s %12llu %7.2f %12llu %7.2f  x%.2f\n", s->kernel, s->shown,
		       (unsigned long long)n_ptx, a, (unsigned long long)n_sass, b, ratio);
	} else {
		printf("%-10s %-26s %s\n", s->kernel, s->shown, err->msg);
	}
	fflush(stdout);
	job_free(&job);
	return ratio;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int all_levels(struct backend *be, int repeat, int only, struct err *err)
{
	double ratio[ARRAY_LEN(settings)];
	size_t n = 0;
	int failed = 0;
	printf("%-37s %12s %7s %12s %7s\n", "", "PTX", "ns each", "machine code", "ns each");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		if (only >= 0 && (size_t)only != i)
			continue;
		const double r = show_levels(be, &settings[i], repeat, err);
		if (r > 0)
			ratio[n++] = r;
		else
			failed = 1;
	}
	qsort(ratio, n, sizeof *ratio, ascending);
	if (n)
		printf("median: x%.2f\n", (ratio[(n - 1) / 2] + ratio[n / 2]) / 2);
	return failed;
}

int main(int argc, char **argv)
{
	const bool races = argc > 1 && strcmp(argv[1], "--races") == 0;
	const bool levels = argc > 1 && strcmp(argv[1], "--levels") == 0;
	argc -= races || levels;
	argv += races || levels;
	if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
		printf("%zu\n", ARRAY_LEN(settings));
		return 0;
	}
	const int repeat = argc > 1 ? atoi(argv[1]) : 3, only = argc > 2 ? atoi(argv[2]) : -1;
	if (repeat < 1) {
		fprintf(stderr, "emu_bench: '%s' is no number of runs\n", argv[1]);
		return 2;
	}
	struct err err = { 0 };
	struct backend *be = NULL;
	struct backend_info info;
	const struct gpu_spec *gpu = gpu_find("a100");
	if (!gpu || !backend_emu.open(&be, gpu, &err)) {
		fprintf(stderr, "emu_bench: %s\n", err.msg);
		return 1;
	}
	backend_emu.probe(&info, &err);
	if (levels) {
		const int failed = all_levels(be, repeat, only, &err);
		backend_emu.close(be);
		return failed;
	}
	if (races)
		printf("%s\n%-36s %12s %12s %19s\n", info.title, "", "no races", "a spread", "all blocks");
	else
		printf("%s\n%-36s %14s %12s %10s %10s\n", info.title, "", "warp inst", "ns per inst",
		       "1 thread", "2 threads");
	int failed = 0;
	const size_t few = races ? ARRAY_LEN(small) : 0;
	const size_t end = races && only < 0 ? few : few + ARRAY_LEN(settings);
	for (size_t i = 0; i < end; i++) {
		const struct setting *s = i < few ? &small[i] : &settings[i - few];
		if (only < 0 || (size_t)only == i)
			failed |= !(races ? show_races : show_speed)(be, s, repeat, &err);
	}
	backend_emu.close(be);
	return failed;
}

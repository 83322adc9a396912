/*
 * How fast the emulator is: nanoseconds of one core per PTX warp instruction, all counters on, and
 * what a second thread brings. Measures processor time, so that a busy machine disturbs little.
 *
 * emu_bench [REPEAT [LINE]]   prints one line per kernel; the best of REPEAT (default 3) runs.
 * LINE: only that line, counted from 0, for a profiler. Needs NVRTC, or the kernels in the cache.
 * emu_bench --lines           prints how many lines there are.
 */
#include "backend/backend.h"
#include "base/mem.h"
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
		if (bp->role != BUF_OUT || bp->partial)
			k->fill(&job->plan, job->params, b, 1, job->buffers[b].data);
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

static void job_free(struct job *job)
{
	for (unsigned b = 0; b < job->plan.n_buffers; b++)
		free(job->buffers[b].data);
	module_free(&job->module);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
		printf("%zu\n", sizeof settings / sizeof *settings);
		return 0;
	}
	const int repeat = argc > 1 ? atoi(argv[1]) : 3, only = argc > 2 ? atoi(argv[2]) : -1;
	struct err err = { 0 };
	struct backend *be = NULL;
	struct backend_info info;
	const struct gpu_spec *gpu = gpu_find("a100");
	if (!gpu || !backend_emu.open(&be, gpu, &err)) {
		fprintf(stderr, "emu_bench: %s\n", err.msg);
		return 1;
	}
	backend_emu.probe(&info, &err);
	printf("%s\n%-36s %14s %12s %10s %10s\n", info.title, "", "warp inst", "ns per inst",
	       "1 thread", "2 threads");
	int failed = 0;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct job job = { 0 };
		double cpu1 = 0, wall1 = 0, cpu2 = 0, wall2 = 0;
		uint64_t n = 0;
		if (only >= 0 && (size_t)only != i)
			continue;
		if (prepare(&settings[i], &job, &err) &&
		    measure(be, &job, 1, repeat, &cpu1, &wall1, &n, &err) &&
		    measure(be, &job, 2, repeat, &cpu2, &wall2, &n, &err)) {
			printf("%-9s %-26s %14llu %12.2f %7.1f ms %6.1f ms x%.2f\n", settings[i].kernel,
			       settings[i].shown, (unsigned long long)n, 1e9 * cpu1 / (double)n, 1e3 * wall1,
			       1e3 * wall2, wall1 / wall2);
		} else {
			printf("%-9s %-26s %s\n", settings[i].kernel, settings[i].shown, err.msg);
			failed = 1;
		}
		job_free(&job);
	}
	backend_emu.close(be);
	return failed;
}

/*
 * A registry of one toy kernel and two fake back ends, in place of src/lab/registry.c: what the lab
 * layer is tested with. The compiler is the real one. Included by one test program each.
 */
#ifndef PMPP_FAKE_REGISTRY_H
#define PMPP_FAKE_REGISTRY_H

#include "../unit.h"
#include "lab/lab.h"
#include "lab/choose.h"
#include "lab/registry.h"
#include "lab/run.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- the toy: y = x * W --- */

static const char toy_source[] =
	"#ifndef W\n"
	"#define W 1\n"
	"#endif\n"
	"extern \"C\" __global__ void toy_v0_one(const float *x, float *y, int n, int w)\n"
	"{\n"
	"	const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] = x[i] * W; //@ scale\n"
	"}\n"
	"extern \"C\" __global__ void toy_v1_two(const float *x, float *y, int n, int w)\n"
	"{\n"
	"	__shared__ float s[1024];\n"
	"	const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	s[threadIdx.x] = i < n ? x[i] : 0;\n"
	"	__syncthreads();\n"
	"	if (i < n)\n"
	"		y[i] = s[threadIdx.x] * W;\n"
	"}\n";

enum { TOY_N, TOY_BLOCK, TOY_W, TOY_PARAMS };

static const int64_t toy_blocks[] = { 32, 64, 128, 256, 512, 1024, INT64_MIN };
static const struct param_desc toy_params[] = {
	[TOY_N] = { .name = "N",
	            .title = "elements",
	            .unit = "elements",
	            .def = 1000,
	            .min = 1,
	            .max = 1 << 25 },
	[TOY_BLOCK] = { .name = "block",
	                .role = PARAM_BLOCK,
	                .title = "threads per block",
	                .unit = "threads",
	                .def = 128,
	                .min = 1,
	                .max = 4096,
	                .steps = toy_blocks },
	[TOY_W] = { .name = "W",
	            .title = "factor",
	            .unit = "",
	            .kind = PARAM_COMPILE,
	            .def = 1,
	            .min = 1,
	            .max = 9,
	            .variants = 2 },
};
static const struct variant_desc toy_variants[] = {
	{ .name = "one", .entry = "toy_v0_one", .title = "one", .idea = "one", .section = "-" },
	{ .name = "two", .entry = "toy_v1_two", .title = "two", .idea = "two", .section = "-" },
};

static bool toy_plan(unsigned variant, const int64_t *v, struct launch_plan *p, struct err *err)
{
	*p = (struct launch_plan){
		.entry = toy_variants[variant].entry,
		.grid = { (uint32_t)ceil_div((uint64_t)v[TOY_N], (uint64_t)v[TOY_BLOCK]), 1, 1 },
		.block = { (uint32_t)v[TOY_BLOCK], 1, 1 },
		.n_buffers = 2,
		.n_args = 4,
		.buffers = { { .name = "x", .role = BUF_IN, .count = (size_t)v[TOY_N] },
		             { .name = "y", .role = BUF_OUT, .count = (size_t)v[TOY_N], .rows = 0 } },
		.args = { { .kind = ARG_BUFFER, .buffer = 0 },
		          { .kind = ARG_BUFFER, .buffer = 1 },
		          { .kind = ARG_I32, .i32 = (int32_t)v[TOY_N] },
		          { .kind = ARG_I32, .i32 = variant ? (int32_t)v[TOY_W] : 1 } },
	};
	return kernel_launch_legal(p, err);
}

static atomic_int toy_fills;

static void toy_fill(const struct launch_plan *p, const int64_t *v, unsigned b, uint64_t seed,
                     void *data)
{
	(void)v;
	toy_fills++;
	fill_uniform_f32(data, p->buffers[b].count, seed + b);
}

static void toy_check(unsigned variant, const struct launch_plan *p, const int64_t *v,
                      void *const *before, void *const *after, struct check_result *r)
{
	(void)v;
	(void)variant;
	const float *x = before[0];
	const size_t n = p->buffers[1].count;
	double *want = calloc(n, sizeof *want);
	assert_non_null(want);
	for (size_t i = 0; i < n; i++)
		want[i] = (double)x[i] * p->args[3].i32;
	check_close_f32(after[1], want, n, 1e-6, 0, 1, r);
	free(want);
}

static void toy_cost(unsigned variant, const struct launch_plan *p, const int64_t *v,
                     struct kernel_cost *c)
{
	(void)variant;
	(void)v;
	*c = (struct kernel_cost){ .flop = (double)p->buffers[0].count,
		                       .min_bytes = 8.0 * (double)p->buffers[0].count };
}

static const struct kernel_desc toy = {
	.name = "toy",
	.title = "toy",
	.section = "-",
	.about = "-",
	.n_params = TOY_PARAMS,
	.params = toy_params,
	.n_variants = 2,
	.variants = toy_variants,
	.plan = toy_plan,
	.fill = toy_fill,
	.check = toy_check,
	.cost = toy_cost,
};

/* --- fake back ends --- */

/* What the next runs do. */
static struct {
	atomic_int block_us; /* time per block */
	atomic_bool wrong, skip, clobber, fault, deaf;
	atomic_int runs, cancelled, open, rests;
	atomic_int stalled; /* runs that were asked for stall reasons */
	atomic_int shared;  /* runs whose buffers lay in shared memory */
	atomic_bool device; /* "cuda" has one */
	atomic_uint levels; /* bits of enum run_level: what was to be counted */
} fake;

static bool fake_probe(struct backend_info *info, struct err *err)
{
	(void)err;
	*info = (struct backend_info){ .caps = CAP_COUNTERS | CAP_PER_LINE, .title = "fake emulator" };
	return true;
}

static bool fake_probe_device(struct backend_info *info, struct err *err)
{
	*info = (struct backend_info){ .caps = CAP_TIME | CAP_COUNTERS, .title = "fake GPU" };
	if (!fake.device) {
		err_set(err, ERR_UNAVAILABLE, "no GPU in this test");
		return err_remedy(err, "none");
	}
	info->n_devices = 1;
	snprintf(info->device[0], sizeof info->device[0], "NVIDIA H200");
	return true;
}

static bool fake_open(struct backend **be, const struct gpu_spec *gpu, struct err *err)
{
	(void)gpu;
	(void)err;
	*be = NULL;
	fake.open++;
	return true;
}

static void fake_rest(struct backend *be)
{
	(void)be;
	fake.rests++;
}

static void fake_close(struct backend *be)
{
	(void)be;
	fake.open--;
}

static void nap(int us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L }, NULL);
}

static bool fake_run(struct backend *be, const struct run_request *req,
                     const struct run_hooks *hooks, struct run_result *res, struct err *err)
{
	(void)be;
	const struct launch_plan *p = req->plan;
	const uint64_t blocks = p->grid.x;
	const uint64_t n = req->max_blocks && req->max_blocks < blocks ? req->max_blocks : blocks;
	float *x = req->buffers[0].data, *y = req->buffers[1].data;
	const size_t count = p->buffers[0].count;
	if (req->memory) { /* what the device holds at first is not what the host does */
		assert_true((uint8_t *)x >= req->memory->data);
		assert_true((uint8_t *)(y + count) <= req->memory->data + req->memory->bytes);
		assert_true(req->buffers[1].patterned && !req->buffers[0].patterned);
		for (size_t i = 0; i < count; i++)
			memcpy(&y[i], &req->buffers[1].pattern, sizeof *y);
	}
	fake.shared += req->memory != NULL;
	fake.runs++;
	fake.levels |= 1u << req->level;
	fake.stalled += req->stalls;
	if (fake.device) {
		res->timing = (struct run_timing){ .n = 3, .median_ns = 5, .min_ns = 4, .max_ns = 6 };
		res->n_stalls = req->stalls;
		res->stalls[0] = (struct run_stall){ .reason = "barrier", .warps = 2 };
	}
	if (fake.fault)
		return err_set(err, ERR_FAULT, "toy.cu:8: block 0, thread 3: no");
	for (uint64_t b = 0; b < n; b++) {
		if (!fake.deaf && hooks->cancel && atomic_load(hooks->cancel)) {
			fake.cancelled++;
			return err_set(err, ERR_CANCELLED, "cancelled");
		}
		if (fake.block_us)
			nap(fake.block_us);
		for (size_t i = b * p->block.x; i < (b + 1) * p->block.x && i < count; i++)
			y[i] = x[i] * (float)p->args[3].i32;
		if (hooks->progress)
			hooks->progress(hooks->ctx, (double)(b + 1) / (double)n);
	}
	if (fake.wrong)
		y[count / 2] += 1;
	if (fake.skip)
		memcpy(&y[count - 1], &(uint32_t){ 0x7fc0dead }, 4);
	if (fake.clobber)
		x[7] += 1;
	run_counts_clear(&res->counts, "no cache simulation and no counter for this run");
	count_set_unknown(&res->counts.of_total, COUNT_achieved_occupancy_pct,
	                  "the emulator has no clock");
	res->counts.origin = n < blocks ? ORIGIN_SAMPLED : ORIGIN_COUNTED;
	res->counts.blocks_run = n;
	res->counts.blocks_total = blocks;
	res->counts.total.warp_executed = 10 * blocks;
	res->counts.total.thread_executed = 320 * blocks;
	/* what the tagged line and the one before it did */
	res->counts.n_lines = 2;
	res->counts.lines = calloc(2, sizeof *res->counts.lines);
	assert_non_null(res->counts.lines);
	res->counts.lines[0] = (struct line_counts){ .line = 7, .c.warp_executed = 6 * blocks };
	res->counts.lines[1] = (struct line_counts){ .line = 8,
		                                         .c.warp_executed = 4 * blocks,
		                                         .c.ld_requests = 2,
		                                         .c.ld_sectors = 7,
		                                         .c.st_requests = 1,
		                                         .c.st_sectors = 4 };
	counts_set_known(&res->counts.of_total);
	counts_set_known(&res->counts.of_lines);
	res->outputs_complete = n == blocks;
	res->wall_s = 1e-6 * (double)fake.block_us * (double)n;
	return true;
}

static bool fake_sheet(const struct gpu_spec **out, struct err *err)
{
	(void)err;
	struct gpu_spec g = *gpu_find("h200");
	snprintf(g.id, sizeof g.id, "cuda0");
	g.live = true;
	*out = gpu_intern(&g);
	return true;
}

static const struct backend_ops fake_emu = {
	.name = "emu",
	.probe = fake_probe,
	.open = fake_open,
	.run = fake_run,
	.rest = fake_rest,
	.close = fake_close,
};
static const struct backend_ops fake_cuda = {
	.name = "cuda",
	.wants_shared_memory = true,
	.probe = fake_probe_device,
	.open = fake_open,
	.run = fake_run,
	.close = fake_close,
	.sheet = fake_sheet,
};
static const struct backend_ops *const fakes[] = { &fake_cuda, &fake_emu };

/* --- registry.h --- */

size_t kernel_count(void)
{
	return 1;
}
const struct kernel_desc *kernel_at(size_t i)
{
	(void)i;
	return &toy;
}
const char *kernel_source(const struct kernel_desc *k)
{
	(void)k;
	return toy_source;
}
const struct kernel_desc *kernel_find(const char *name)
{
	return str_ieq(name, "toy") ? &toy : NULL;
}
size_t backend_count(void)
{
	return 2;
}
const struct backend_ops *backend_at(size_t i)
{
	return fakes[i];
}
const struct backend_ops *backend_find(const char *name)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(fakes[i]->name, name))
			return fakes[i];
	return NULL;
}
static struct backend_status fake_status[2];
const struct backend_status *backend_probe(const struct backend_ops *ops)
{
	struct backend_status *st = &fake_status[ops == &fake_emu];
	st->usable = ops->probe(&st->info, &st->err);
	return st;
}
const struct backend_status *backend_peek(const struct backend_ops *ops)
{
	return backend_probe(ops);
}

/* --- helpers --- */

/* Panels of this test's own. */
static inline bool fake_panels(const char *name, struct lab_panel *out)
{
	static const struct lab_panel all[] = {
		{ "plain", 0 },
		{ "rungs", NEEDS_LADDER },
		{ "points", NEEDS_SWEEP },
		{ "stalls", NEEDS_STALLS },
		{ "buffers", NEEDS_DATA },
	};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!name || !*name || !strcmp(name, all[i].name)) {
			*out = all[i];
			return true;
		}
	return false;
}

static void fake_reset(void)
{
	fake.block_us = 0;
	fake.wrong = fake.skip = fake.clobber = fake.fault = fake.deaf = fake.device = false;
	fake.runs = fake.cancelled = fake.stalled = 0;
	fake.levels = 0;
}

/* The compile cache of these tests is their own; there is no disassembler unless they want one. */
static int own_cache(void **state)
{
	static char dir[] = "/tmp/pmpp-test-XXXXXX";
	(void)state;
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
	if (!mkdtemp(dir))
		return -1;
	setenv("XDG_CACHE_HOME", dir, 1);
	return 0;
}

static int drop_cache(void **state)
{
	(void)state;
	char command[200];
	snprintf(command, sizeof command, "rm -rf '%s'", getenv("XDG_CACHE_HOME"));
	return system(command);
}

#endif

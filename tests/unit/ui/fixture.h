/*
 * Sessions as literals: a plausible tiled sgemm on an A100, a reduction, and every way in which
 * there is nothing to show. And a host that serves them, so that keys can be pressed without a
 * terminal or an engine. Figures are set here, not computed, so that goldens change with ui/ only.
 */
#ifndef TESTS_UI_FIXTURE_H
#define TESTS_UI_FIXTURE_H

#include "base/mem.h"
#include "base/text.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "ui/keys.h"
#include "ui/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct view_desc view_occupancy, view_roofline, view_divergence, view_coalescing,
	view_timeline, view_ladder, view_source, view_advice, view_device;

static const struct view_desc *const fixture_views[] = {
	&view_occupancy, &view_roofline, &view_divergence, &view_coalescing, &view_timeline,
	&view_ladder,    &view_source,   &view_advice,     &view_device
};

/* --- kernels --- */

static const int64_t tile_choices[] = { 2, 4, 8, 16, 32, INT64_MIN };
static const int64_t block_steps[] = { 32, 64, 128, 256, 512, 1024, INT64_MIN };

static const struct param_desc sgemm_params[] = {
	{ .name = "M", .title = "rows of A and C", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "N", .title = "columns of B and C", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "K", .title = "columns of A, rows of B", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "TILE",
	  .title = "tile width",
	  .kind = PARAM_COMPILE,
	  .def = 16,
	  .min = 2,
	  .max = 32,
	  .choices = tile_choices,
	  .variants = 2 },
};
static const struct variant_desc sgemm_variants[] = {
	{ .name = "naive",
	  .entry = "sgemm_v0_naive",
	  .title = "one thread per element",
	  .idea = "every thread reads its row of A and column of B from global memory",
	  .section = "PMPP 3.4" },
	{ .name = "tiled",
	  .entry = "sgemm_v1_tiled",
	  .title = "shared-memory tiles",
	  .idea = "a block loads each tile once into shared memory and reads it TILE times",
	  .section = "PMPP 5.4" },
};
static const char sgemm_source[] =
	"#ifndef TILE\n"
	"#define TILE 16\n"
	"#endif\n"
	"extern \"C\" __global__ void sgemm_v0_naive(const float *A, const float *B, float *C, int "
	"M, int N, int K)\n"
	"{\n"
	"\tint row = blockIdx.y * blockDim.y + threadIdx.y;\n"
	"\tint col = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"\tfloat sum = 0;\n"
	"\tif (row >= M || col >= N)\n"
	"\t\treturn;\n"
	"\tfor (int k = 0; k < K; k++)\n"
	"\t\tsum += A[row * K + k] * B[k * N + col];\n"
	"\tC[row * N + col] = sum;\n"
	"}\n"
	"extern \"C\" __global__ void sgemm_v1_tiled(const float *A, const float *B, float *C, int "
	"M, int N, int K)\n"
	"{\n"
	"\t__shared__ float Mds[TILE][TILE], Nds[TILE][TILE];\n"
	"\tint tx = threadIdx.x, ty = threadIdx.y;\n"
	"\tint row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;\n"
	"\tfloat sum = 0;\n"
	"\tfor (int p = 0; p < (K + TILE - 1) / TILE; p++) {\n"
	"\t\tMds[ty][tx] = A[row * K + p * TILE + tx]; //@ load-A\n"
	"\t\tNds[ty][tx] = B[(p * TILE + ty) * N + col]; //@ load-B\n"
	"\t\t__syncthreads();\n"
	"\t\tfor (int k = 0; k < TILE; k++)\n"
	"\t\t\tsum += Mds[ty][k] * Nds[k][tx]; //@ fma\n"
	"\t\t__syncthreads();\n"
	"\t}\n"
	"\tif (row < M && col < N)\n"
	"\t\tC[row * N + col] = sum; //@ store\n"
	"}\n";
static const struct kernel_desc fixture_sgemm = {
	.name = "sgemm",
	.title = "matrix multiplication",
	.section = "PMPP ch. 5-6",
	.n_params = ARRAY_LEN(sgemm_params),
	.params = sgemm_params,
	.n_variants = ARRAY_LEN(sgemm_variants),
	.variants = sgemm_variants,
};

static const struct param_desc reduction_params[] = {
	{ .name = "N",
	  .title = "vector length",
	  .unit = "elements",
	  .def = 256,
	  .min = 2,
	  .max = 1 << 20 },
	{ .name = "block",
	  .role = PARAM_BLOCK,
	  .title = "threads per block",
	  .unit = "threads",
	  .def = 128,
	  .min = 1,
	  .max = 1024,
	  .steps = block_steps },
};
static const struct variant_desc reduction_variants[] = {
	{ .name = "simple",
	  .entry = "reduction_v0_simple",
	  .title = "stride doubling",
	  .idea = "threads drop out two by two, and every warp keeps running for a few of them",
	  .section = "PMPP 10.3",
	  .book_lanes = "255/736 = 35 %: it lets all warps run for five iterations; the loop runs "
	                "six for them" },
};
static const char reduction_source[] =
	"extern \"C\" __global__ void reduction_v0_simple(float *input, float *output)\n"
	"{\n"
	"\tunsigned i = 2 * threadIdx.x;\n"
	"\tfor (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {\n"
	"\t\tif (threadIdx.x % stride == 0)\n"
	"\t\t\tinput[i] += input[i + stride]; //@ add\n"
	"\t\t__syncthreads();\n"
	"\t}\n"
	"\tif (threadIdx.x == 0)\n"
	"\t\t*output = input[0];\n"
	"}\n";
static const struct kernel_desc fixture_reduction = {
	.name = "reduction",
	.title = "sum of a vector",
	.section = "PMPP ch. 10",
	.n_params = ARRAY_LEN(reduction_params),
	.params = reduction_params,
	.n_variants = ARRAY_LEN(reduction_variants),
	.variants = reduction_variants,
};

/* --- the GPU --- */

static inline const struct gpu_spec *fixture_a100(void)
{
	static const struct gpu_spec a100 = {
		.id = "a100",
		.name = "A100-SXM4-40GB",
		.arch = "Ampere",
		.chip = "GA100",
		.cc_major = 8,
		.cc_minor = 0,
		.sm_count = 108,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.max_threads_per_block = 1024,
		.warp_size = 32,
		.regs_per_sm = 65536,
		.regs_per_block = 65536,
		.max_regs_per_thread = 255,
		.smem_per_sm_bytes = 167936,
		.smem_per_block_bytes = 49152,
		.smem_per_block_optin_bytes = 166912,
		.smem_reserved_per_block_bytes = 1024,
		.clock_mhz = 1410,
		.fp32_lanes_per_sm = 64,
		.fp64_lanes_per_sm = 32,
		.int32_lanes_per_sm = 64,
		.sfu_lanes_per_sm = 16,
		.lsu_lanes_per_sm = 32,
		.schedulers_per_sm = 4,
		.fp16_tensor_gflops = 312000,
		.fp32_gflops = 19500,
		.fp64_gflops = 9700,
		.dram_gbs = 1555,
		.dram_bytes = 42949672960.0,
		.l2_bytes = 41943040,
		.l1_bytes = 196608,
		.l2_gbs = 4000,
		.dram_latency_ns = 466,
		.l2_latency_ns = 200,
		.l1_latency_ns = 24,
		.smem_latency_ns = 20,
		.launch_overhead_ns = 2500,
		.pcie_gbs = 31.5,
		.copy_engines = 3,
		.n_sources = 2,
		.sources = { { "sm_count fp32_gflops dram_gbs", "NVIDIA A100 data sheet, 2020, table 1" },
		             { "max_threads_per_sm",
		               "CUDA programming guide, technical specifications, cc 8.0" } },
	};
	return &a100;
}

/* Occupancy of a block of @threads with 32 registers on an A100: warps, registers and slots. */
static inline unsigned fixture_blocks(unsigned threads)
{
	unsigned warps = (threads + 31) / 32, n = 64 / warps;
	return n > 32 ? 32 : n;
}

static inline void fixture_occupancy(struct session *s, unsigned threads, unsigned shared)
{
	unsigned warps = (threads + 31) / 32, n = fixture_blocks(threads), fit = 64 / warps;
	unsigned by_shared = shared ? 167936 / (shared + 1024) : OCC_UNLIMITED;
	s->plan_ok = s->usage_known = s->occ_ok = true;
	s->occ_in = (struct occ_input){ .block_threads = threads,
		                            .regs_per_thread = 32,
		                            .static_shared_bytes = shared };
	s->occ = (struct occ_result){
		.blocks_per_sm = n, .warps_per_sm = n * warps, .threads_per_sm = n * warps * 32,
		.pct = 100.0 * n * warps / 64, .launchable = true, .book_blocks = n,
		.book_pct = 100.0 * n * warps / 64,
		.limits = {
			{ OCC_WARPS, "warps", fit, warps, 64, fit == n, "" },
			{ OCC_REGISTERS, "registers", fit, warps * 1024, 65536, fit == n, "" },
			{ OCC_SHARED, "shared memory", by_shared, shared + 1024, 167936,
			  false, "" },
			{ OCC_BLOCKS, "block slots", 32, 1, 32, n == 32, "" },
			{ OCC_BARRIERS, "barriers", OCC_UNLIMITED, 1, 0, false, "" },
		},
	};
	snprintf(s->occ.limits[0].arithmetic, sizeof s->occ.limits[0].arithmetic, "64 / %u warps",
	         warps);
	snprintf(s->occ.limits[1].arithmetic, sizeof s->occ.limits[1].arithmetic,
	         "%u warps x roundup(32 x 32, 256) = %u registers", warps, warps * 1024);
	snprintf(s->occ.limits[2].arithmetic, sizeof s->occ.limits[2].arithmetic,
	         "roundup(%u + 1024, 128) bytes", shared);
	snprintf(s->occ.limiters, sizeof s->occ.limiters, "%s",
	         n == 32 ? "warps, registers, block slots" : "warps, registers");
	for (unsigned i = 0; i < 32; i++) {
		unsigned b = 32 * (i + 1), k = fixture_blocks(b);
		s->sweep[i].block = b;
		s->sweep[i].blocks_per_sm = k;
		s->sweep[i].pct = 100.0 * k * (i + 1) / 64;
	}
}

/* --- records --- */

static inline struct line_counts *fixture_lines(struct run_record *r, unsigned n)
{
	r->run.counts.lines = mem_calloc(n, sizeof *r->run.counts.lines);
	r->run.counts.n_lines = n;
	return r->run.counts.lines;
}

static inline void fixture_access(struct access_sample *a, uint32_t line, const char *op,
                                  bool store, bool shared, int buffer, uint64_t executions)
{
	*a = (struct access_sample){ .line = line,
		                         .bytes_per_lane = 4,
		                         .store = store,
		                         .shared = shared,
		                         .mask = 0xffffffffu,
		                         .buffer = (int8_t)buffer,
		                         .executions = executions };
	snprintf(a->op, sizeof a->op, "%s", op);
}

/* Copies in, kernel, copy out, as activity records would show them. */
static inline void fixture_spans(struct run_record *r, double kernel_ns)
{
	static const struct {
		enum span_kind kind;
		const char *name;
		double ns;
	} parts[] = { { SPAN_H2D, "H2D A", 320000 },
		          { SPAN_H2D, "H2D B", 320000 },
		          { SPAN_KERNEL, "sgemm", 0 },
		          { SPAN_D2H, "D2H C", 310000 } };
	double at = 0;
	r->run.n_spans = ARRAY_LEN(parts);
	r->run.spans = mem_calloc(r->run.n_spans, sizeof *r->run.spans);
	for (unsigned i = 0; i < r->run.n_spans; i++) {
		struct span *p = &r->run.spans[i];
		*p = (struct span){ .kind = parts[i].kind, .start_ns = at, .queued_ns = -1 };
		at += parts[i].ns > 0 ? parts[i].ns : kernel_ns;
		p->end_ns = at;
		p->bytes = p->kind == SPAN_KERNEL ? 0 : 4194304;
		snprintf(p->name, sizeof p->name, "%s", parts[i].name);
	}
}

/* sgemm: naive (0) or tiled (1), 1024 cubed, A100. */
static inline struct run_record *fixture_sgemm_run(unsigned variant)
{
	struct run_record *r = mem_zalloc(sizeof *r);
	const enum origin co = ORIGIN_COUNTED, mo = ORIGIN_MODELLED;
	r->sel = (struct selection){ .kernel = &fixture_sgemm,
		                         .variant = variant,
		                         .gpu = fixture_a100(),
		                         .backend = "emu",
		                         .params = { 1024, 1024, 1024, 16 } };
	r->plan =
		(struct launch_plan){ .entry = sgemm_variants[variant].entry,
		                      .grid = { 64, 64, 1 },
		                      .block = { 16, 16, 1 },
		                      .n_buffers = 3,
		                      .buffers = { { .name = "A" }, { .name = "B" }, { .name = "C" } } };
	r->cost = (struct kernel_cost){ .flop = 2147483648.0,
		                            .min_bytes = 12582912,
		                            .book_flop = 2,
		                            .book_bytes = variant ? 0.5 : 8,
		                            .book_note = variant ? "every value loaded serves TILE "
		                                                   "threads: 0.25 × 16 FLOP/B (PMPP 5.4)"
		                                                 : "2 FLOP per 8 bytes (PMPP 5.1)" };
	r->occ.pct = variant ? 100 : 75;
	struct metric_set *m = &r->metrics;
	metrics_clear(m, "not part of this run");
	metric_none(m, M_OCC_ACHIEVED, "only a GPU knows: run with back end cuda");
	metric_num(m, M_OCC_PCT, mo, r->occ.pct);
	metric_num(m, M_LAUNCH_WAVES, mo, 4.74);
	metric_num(m, M_INST_WARP, co, variant ? 121634816 : 202375168);
	metric_num(m, M_INST_THREAD, co, variant ? 3892314112.0 : 6476005376.0);
	metric_num(m, M_INST_RATIO, co, 32);
	metric_num(m, M_DIV_BRANCHES, co, variant ? 2162688 : 33587200);
	metric_num(m, M_DIV_DIVERGENT, co, 0);
	metric_num(m, M_DIV_BRANCH_EFF, co, 100);
	metric_num(m, M_DIV_SIMD_EFF, co, 100);
	metric_num(m, M_MEM_LD_REQ, co, variant ? 4194304 : 67108864);
	metric_num(m, M_MEM_LD_SEC, co, variant ? 16777216 : 201326592);
	metric_num(m, M_MEM_LD_SPR, co, variant ? 4 : 3);
	metric_num(m, M_MEM_LD_EFF, co, variant ? 100 : 75);
	metric_num(m, M_MEM_ST_REQ, co, 32768);
	metric_num(m, M_MEM_ST_SPR, co, 4);
	metric_num(m, M_MEM_ST_EFF, co, 100);
	metric_num(m, M_SH_LD_REQ, co, variant ? 41943040 : 0);
	metric_num(m, M_SH_LD_WAVE, co, variant ? 41943040 : 0);
	metric_num(m, M_SH_LD_EXCESS, co, 0);
	metric_num(m, M_SH_ST_REQ, co, variant ? 4194304 : 0);
	metric_num(m, M_SH_ST_WAVE, co, variant ? 4194304 : 0);
	metric_num(m, M_SH_ST_EXCESS, co, 0);
	metric_num(m, M_FLOP_FP32, co, 2147483648.0);
	metric_num(m, M_FLOP_FP64, co, 0);
	metric_num(m, M_DRAM_READ, mo, variant ? 537919488 : 1073741824);
	metric_num(m, M_ROOF_AI, mo, variant ? 3.91 : 1.98);
	metric_num(m, M_ROOF_BOOK_AI, ORIGIN_BOOK, variant ? 4 : 0.25);
	metric_num(m, M_ROOF_ATTAINABLE, mo, variant ? 6080 : 3079);
	metric_num(m, M_ROOF_BOOK_ATTAINABLE, ORIGIN_BOOK, variant ? 6220 : 388.75);
	metric_num(m, M_ROOF_ACHIEVED, mo, variant ? 2557 : 481);
	metric_text(m, M_ROOF_BOUND, mo, "memory (DRAM)");
	metric_num(m, M_TIME_KERNEL, mo, variant ? 839850 : 4464000);
	metric_text(m, M_TIME_BOTTLENECK, mo, variant ? "shared" : "LSU/L1");
	r->perf.resource_ns[PERF_ISSUE] = variant ? 199703 : 332264;
	r->perf.resource_ns[PERF_FP32] = 110127;
	r->perf.resource_ns[PERF_LSU] = variant ? 110000 : 4461500;
	r->perf.resource_ns[PERF_SHARED] = variant ? 837350 : 0;
	r->perf.resource_ns[PERF_L2] = variant ? 134217 : 537000;
	r->perf.resource_ns[PERF_DRAM] = variant ? 345928 : 690509;
	r->perf.resource_ns[PERF_LATENCY] = 61000;
	r->perf.bottleneck = variant ? PERF_SHARED : PERF_LSU;
	r->perf.kernel_ns = variant ? 839850 : 4464000;
	fixture_spans(r, r->perf.kernel_ns);
	r->run.counts.origin = co;
	r->run.counts.blocks_run = r->run.counts.blocks_total = 4096;
	if (variant) {
		struct line_counts *l = fixture_lines(r, 12);
		const uint32_t lines[] = { 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29, 30 };
		const uint64_t warps[] = { 65536,   131072,  32768,    6389760, 10485760, 10485760,
			                       2097152, 4194304, 83886080, 2097152, 98304,    65536 };
		for (unsigned i = 0; i < 12; i++) {
			l[i].line = lines[i];
			l[i].c.warp_executed = warps[i];
			l[i].c.thread_executed = 32 * warps[i];
		}
		l[3].c.branches = 2129920;
		l[4].c.ld_requests = l[5].c.ld_requests = 2097152;
		l[4].c.ld_sectors = l[5].c.ld_sectors = 8388608;
		l[4].c.ld_bytes = l[5].c.ld_bytes = 268435456;
		l[4].c.shared_st_requests = l[5].c.shared_st_requests = 2097152;
		l[4].c.shared_st_wavefronts = l[5].c.shared_st_wavefronts = 2097152;
		l[4].c.shared_st_ideal = l[5].c.shared_st_ideal = 2097152;
		l[8].c.shared_ld_requests = l[8].c.shared_ld_wavefronts = l[8].c.shared_ld_ideal = 41943040;
		l[11].c.st_requests = 32768;
		l[11].c.st_sectors = 131072;
		l[11].c.st_bytes = 4194304;
		r->run.counts.n_accesses = 6;
		r->run.counts.accesses = mem_calloc(6, sizeof *r->run.counts.accesses);
		struct access_sample *a = r->run.counts.accesses;
		fixture_access(&a[0], 22, "ld.global.f32", false, false, 0, 2097152);
		fixture_access(&a[1], 22, "st.shared.f32", true, true, -1, 2097152);
		fixture_access(&a[2], 23, "ld.global.f32", false, false, 1, 2097152);
		fixture_access(&a[3], 26, "ld.shared.f32", false, true, -1, 33554432);
		fixture_access(&a[4], 26, "ld.shared.v4.f32", false, true, -1, 8388608);
		fixture_access(&a[5], 30, "st.global.f32", true, false, 2, 32768);
		a[4].bytes_per_lane = 16;
		for (unsigned i = 0; i < 32; i++) {
			uint64_t row = i / 16, col = i % 16;
			a[0].offset[i] = a[2].offset[i] = a[5].offset[i] = row * 4096 + col * 4;
			a[1].offset[i] = i * 4;
			a[3].offset[i] = 1024 + col * 4;
			a[4].offset[i] = row * 64;
		}
	} else {
		struct line_counts *l = fixture_lines(r, 6);
		const uint32_t lines[] = { 6, 7, 9, 11, 12, 13 };
		const uint64_t warps[] = { 98304, 98304, 98304, 100728832, 101220352, 131072 };
		for (unsigned i = 0; i < 6; i++) {
			l[i].line = lines[i];
			l[i].c.warp_executed = warps[i];
			l[i].c.thread_executed = 32 * warps[i];
		}
		l[4].c.ld_requests = 67108864;
		l[4].c.ld_sectors = 201326592;
		l[4].c.ld_bytes = 4831838208;
	}
	r->run.counts.n_steps = 4;
	r->run.counts.steps = mem_calloc(4, sizeof *r->run.counts.steps);
	for (unsigned i = 0; i < 4; i++)
		r->run.counts.steps[i] = (struct mask_step){ .line = variant ? 21 + i : 11 + i % 3,
			                                         .mask = 0xffffffffu,
			                                         .instructions = 3 + i };
	r->run.counts.steps_cut = true;
	r->verify = VERIFY_OK;
	r->check.ok = true;
	snprintf(r->verify_text, sizeof r->verify_text, "exact");
	r->run.wall_s = 0.31;
	return r;
}

static inline struct session *fixture_session(const struct kernel_desc *k, unsigned variant)
{
	struct session *s = mem_zalloc(sizeof *s);
	s->sel = (struct selection){
		.kernel = k, .variant = variant, .gpu = fixture_a100(), .backend = "emu"
	};
	s->view = "occupancy";
	for (unsigned i = 0; i < k->n_params; i++)
		s->sel.params[i] = k->params[i].def;
	return s;
}

/* naive, then tiled: everything known. */
static inline struct session *fixture_done(void)
{
	struct session *s = fixture_session(&fixture_sgemm, 1);
	s->source = sgemm_source;
	s->before = fixture_sgemm_run(0);
	s->now = fixture_sgemm_run(1);
	s->plan = s->now->plan;
	s->state = RUN_DONE;
	s->param = 3;
	fixture_occupancy(s, 256, 2048);
	s->now->occ = s->occ;
	return s;
}

/* The reduction of PMPP 10.3, N 256, block 128: 255 of 864 lane slots on the add line. */
static inline struct session *fixture_reduced(void)
{
	struct session *s = fixture_session(&fixture_reduction, 0);
	struct run_record *r = mem_zalloc(sizeof *r);
	const enum origin co = ORIGIN_COUNTED, mo = ORIGIN_MODELLED;
	s->source = reduction_source;
	s->view = "divergence";
	s->param = 1;
	s->line = 2;
	s->state = RUN_DONE;
	fixture_occupancy(s, 128, 0);
	r->sel = s->sel;
	r->plan = (struct launch_plan){ .entry = "reduction_v0_simple",
		                            .grid = { 1, 1, 1 },
		                            .block = { 128, 1, 1 },
		                            .n_buffers = 2,
		                            .buffers = { { .name = "input" }, { .name = "output" } } };
	s->plan = r->plan;
	r->occ = s->occ;
	struct metric_set *m = &r->metrics;
	metrics_clear(m, "not part of this run");
	metric_num(m, M_INST_WARP, co, 236);
	metric_num(m, M_INST_THREAD, co, 6788);
	metric_num(m, M_INST_RATIO, co, 28.8);
	metric_num(m, M_DIV_BRANCHES, co, 69);
	metric_num(m, M_DIV_DIVERGENT, co, 24);
	metric_num(m, M_DIV_BRANCH_EFF, co, 65.2);
	metric_num(m, M_DIV_SIMD_EFF, co, 89.9);
	metric_num(m, M_MEM_LD_REQ, co, 55);
	metric_num(m, M_MEM_LD_SPR, co, 6.9);
	metric_num(m, M_MEM_LD_EFF, co, 24.8);
	metric_num(m, M_MEM_ST_REQ, co, 28);
	metric_num(m, M_MEM_ST_SPR, co, 6.7);
	metric_num(m, M_MEM_ST_EFF, co, 14.9);
	metric_num(m, M_SH_LD_REQ, co, 0);
	metric_num(m, M_SH_ST_REQ, co, 0);
	metric_num(m, M_ROOF_AI, mo, 0.249);
	metric_num(m, M_ROOF_ATTAINABLE, mo, 387);
	metric_num(m, M_ROOF_ACHIEVED, mo, 0.0421);
	metric_text(m, M_ROOF_BOUND, mo, "memory (DRAM)");
	r->perf.resource_ns[PERF_LATENCY] = 3560;
	r->perf.resource_ns[PERF_ISSUE] = 73;
	r->perf.bottleneck = PERF_LATENCY;
	r->run.counts.origin = co;
	r->run.counts.blocks_run = r->run.counts.blocks_total = 1;
	struct line_counts *l = fixture_lines(r, 6);
	const uint32_t lines[] = { 3, 4, 5, 6, 7, 10 };
	const uint64_t warps[] = { 4, 72, 96, 27, 32, 5 }, lanes[] = { 128, 2304, 3072, 255, 1024, 5 };
	for (unsigned i = 0; i < 6; i++) {
		l[i].line = lines[i];
		l[i].c.warp_executed = warps[i];
		l[i].c.thread_executed = lanes[i];
	}
	l[1].c.branches = 36;
	l[2].c.branches = 32;
	l[2].c.divergent_branches = 24;
	l[3].c.ld_requests = 54;
	l[3].c.ld_sectors = 378;
	l[3].c.ld_bytes = 2040;
	l[3].c.st_requests = 27;
	l[3].c.st_sectors = 186;
	l[3].c.st_bytes = 1020;
	r->run.counts.n_accesses = 2;
	r->run.counts.accesses = mem_calloc(2, sizeof *r->run.counts.accesses);
	fixture_access(&r->run.counts.accesses[0], 6, "ld.global.f32", false, false, 0, 27);
	fixture_access(&r->run.counts.accesses[1], 6, "st.global.f32", true, false, 0, 27);
	for (unsigned i = 0; i < 32; i++)
		r->run.counts.accesses[0].offset[i] = r->run.counts.accesses[1].offset[i] = 128 + 8 * i;
	r->run.counts.n_steps = 32;
	r->run.counts.steps = mem_calloc(32, sizeof *r->run.counts.steps);
	for (unsigned i = 0; i < 32; i++) {
		unsigned pass = i / 4, stride = 1u << pass;
		uint32_t mask = 0;
		for (unsigned k = 0; k < 32; k += stride)
			mask |= 1u << k;
		r->run.counts.steps[i] = (struct mask_step){ .line = 4 + i % 4,
			                                         .instructions = 1 + i % 3,
			                                         .mask = i % 4 == 2 ? mask : 0xffffffffu };
	}
	r->verify = VERIFY_OK;
	snprintf(r->verify_text, sizeof r->verify_text, "max rel. error 1.2e-7 of 1e-5");
	r->run.wall_s = 0.0004;
	s->now = r;
	return s;
}

/* Every way in which there is nothing, or something else, to show. X(name) */
#define FIXTURES(X)                                                                               \
	X(done)                                                                                       \
	X(reduced)                                                                                    \
	X(none)                                                                                       \
	X(first)                                                                                      \
	X(running)                                                                                    \
	X(compiling) X(refused) X(failed) X(cancelled) X(wrong) X(no_counts) X(measured) X(no_kernel) \
		X(ladder) X(streams)

static inline struct session *fixture_none(void)
{
	struct session *s = fixture_done();
	record_free(s->now);
	record_free(s->before);
	s->now = s->before = NULL;
	s->state = RUN_NONE;
	return s;
}

/* First start: not even registers are known. */
static inline struct session *fixture_first(void)
{
	struct session *s = fixture_none();
	s->usage_known = s->occ_ok = false;
	memset(s->sweep, 0, sizeof s->sweep);
	return s;
}

static inline struct session *fixture_compiling(void)
{
	struct session *s = fixture_first();
	s->state = RUN_RUNNING;
	s->stuck_compile = true;
	return s;
}

static inline struct session *fixture_running(void)
{
	struct session *s = fixture_done();
	s->sel.params[3] = 32;
	s->stale = true;
	s->state = RUN_RUNNING;
	s->progress = 0.43;
	return s;
}

static inline struct session *fixture_refused(void)
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

static inline struct session *fixture_failed(void)
{
	struct session *s = fixture_none();
	s->state = RUN_FAILED;
	err_set(&s->run_err, ERR_FAULT,
	        "sgemm.cu:22: out-of-bounds load of 4 bytes at A + 4194304 (4194304 bytes) by "
	        "block (63,0,0), "
	        "thread (15,3,0)");
	err_remedy(&s->run_err, "guard the load with row < M");
	return s;
}

static inline struct session *fixture_cancelled(void)
{
	struct session *s = fixture_none();
	s->state = RUN_CANCELLED;
	return s;
}

static inline struct session *fixture_wrong(void)
{
	struct session *s = fixture_done();
	s->now->verify = VERIFY_WRONG;
	snprintf(s->now->verify_text, sizeof s->now->verify_text,
	         "C[17] is 4.25, 4.5 expected (tolerance 1e-5); 1024 of 1048576 elements differ");
	return s;
}

/* Ran, but nothing could be counted. */
static inline struct session *fixture_no_counts(void)
{
	struct session *s = fixture_done();
	run_counts_free(&s->now->run.counts);
	metrics_clear(&s->now->metrics, "counters are refused here (ERR_NVGPUCTRPERM): see doctor");
	memset(&s->now->perf, 0, sizeof s->now->perf);
	return s;
}

/* Counters of a GPU: figures, but no addresses and no path. */
static inline struct session *fixture_measured(void)
{
	struct session *s = fixture_done();
	struct run_counts *r = &s->now->run.counts;
	free(r->accesses);
	free(r->steps);
	r->accesses = NULL;
	r->steps = NULL;
	r->n_accesses = r->n_steps = 0;
	r->origin = ORIGIN_MEASURED;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (s->now->metrics.v[i].origin == ORIGIN_COUNTED)
			s->now->metrics.v[i].origin = ORIGIN_MEASURED;
	metric_num(&s->now->metrics, M_OCC_ACHIEVED, ORIGIN_MEASURED, 98.7);
	snprintf(s->sel.backend, sizeof s->sel.backend, "cuda");
	return s;
}

static inline struct session *fixture_no_kernel(void)
{
	struct session *s = mem_zalloc(sizeof *s);
	s->sel.gpu = fixture_a100();
	snprintf(s->sel.backend, sizeof s->sel.backend, "emu");
	s->view = "occupancy";
	return s;
}

/* --- a ladder with every kind of rung --- */

static const struct variant_desc climb_variants[] = {
	{ .name = "naive",
	  .entry = "v0",
	  .title = "one thread per element",
	  .idea = "every operand comes from global memory" },
	{ .name = "tiled",
	  .entry = "v1",
	  .title = "shared-memory tiles",
	  .idea = "a block loads each tile once into shared memory and reads it TILE times" },
	{ .name = "racy", .entry = "v2", .title = "no barrier", .wrong = true },
	{ .name = "tensor_cores_of_a_later_chip",
	  .entry = "v3",
	  .title = "tensor cores",
	  .idea = "fragments of a whole warp" },
	{ .name = "thread_tile",
	  .entry = "v4",
	  .title = "thread tiles",
	  .idea = "a thread keeps TM by TN results in registers" },
	{ .name = "warp_tile", .entry = "v5", .title = "warp tiles", .idea = "bands of warps" },
	{ .name = "deep", .entry = "v6", .title = "deeper pipeline", .idea = "more loads in flight" },
};
static const struct kernel_desc fixture_climb = {
	.name = "climb",
	.title = "a ladder",
	.section = "PMPP 6.4",
	.n_params = 4,
	.params = sgemm_params,
	.n_variants = ARRAY_LEN(climb_variants),
	.variants = climb_variants,
};

static inline void fixture_rung(struct ladder *l, unsigned i, double time_ns, enum origin basis,
                                enum perf_resource holds, double loads)
{
	struct run_record r = { .sel = ladder_selection(l, i),
		                    .cost = { .flop = 2147483648.0, .min_bytes = 12582912 } };
	r.perf.bottleneck = holds;
	metrics_clear(&r.metrics, "not part of this run");
	metric_num(&r.metrics, M_TIME_KERNEL,
	           basis == ORIGIN_MEASURED ? ORIGIN_MEASURED : ORIGIN_MODELLED, time_ns);
	metric_num(&r.metrics, M_INST_WARP, basis, loads * 9);
	metric_num(&r.metrics, M_MEM_LD_REQ, basis, loads);
	ladder_put(l, &r);
}

static inline struct session *fixture_ladder(void)
{
	struct session *s = fixture_session(&fixture_climb, 4);
	s->view = "ladder";
	s->line = 1;
	s->state = RUN_DONE;
	struct ladder *l = s->ladder = ladder_new(&s->sel);
	fixture_rung(l, 0, 1743210, ORIGIN_SAMPLED, PERF_LSU, 67108864);
	fixture_rung(l, 1, 580000, ORIGIN_COUNTED, PERF_SHARED, 4194304);
	snprintf(l->rungs[2].why, sizeof l->rungs[2].why,
	         "climb.cu: tensor_cores_of_a_later_chip needs compute capability 9.0");
	fixture_rung(l, 3, 161000, ORIGIN_MEASURED, PERF_FP32, 1048576);
	l->running = 4;
	l->library_ns = 118000;
	snprintf(l->library_name, sizeof l->library_name, "cuBLAS FP32");
	ladder_compare(l);
	return s;
}

/* The reduction and what an H200 gave for the same launch: fewer branches, the same requests. */
static inline struct session *fixture_reference_run(void)
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

static inline struct session *fixture_reference_run_hidden(void)
{
	struct session *s = fixture_reference_run();
	s->reference_run_hidden = true;
	return s;
}

/* A ladder whose rungs were recorded elsewhere, all but one. */
static inline struct session *fixture_ladder_reference(void)
{
	struct session *s = fixture_ladder();
	struct ladder *l = s->ladder;
	snprintf(l->reference_machine, sizeof l->reference_machine, "NVIDIA H200");
	l->rungs[0].reference_ns = 905000;
	snprintf(l->rungs[1].book, sizeof l->rungs[1].book, "411 ms: duration (S-350, rtx4060ti)");
	l->rungs[1].reference_ns = 301500;
	l->rungs[4].reference_ns = 98700;
	l->library_ns = 0;
	l->reference_library_ns = 71200;
	snprintf(l->reference_library_name, sizeof l->reference_library_name, "cuBLAS FP32");
	ladder_compare(l);
	return s;
}

/* --- two chunks in two streams --- */

static inline void fixture_op(struct run_record *r, int op, enum stream_engine engine, double start,
                              double end, int after)
{
	r->timeline->spans[op] = (struct stream_span){
		.engine = engine, .start_ns = start, .end_ns = end, .waits_for = after
	};
}

static inline struct session *fixture_streams(void)
{
	struct session *s = fixture_done();
	struct run_record *r = s->now;
	s->view = "timeline";
	free(r->run.spans); /* nothing was measured */
	r->run.spans = NULL;
	r->run.n_spans = 0;
	r->program = mem_zalloc(sizeof *r->program);
	r->timeline = mem_zalloc(sizeof *r->timeline);
	for (unsigned i = 0; i < 2; i++) {
		char name[8];
		snprintf(name, sizeof name, "A%u", i);
		stream_copy(r->program, SOP_H2D, 1 + i, name, 2000000, true, true);
		snprintf(name, sizeof name, "k%u", i);
		stream_kernel(r->program, 1 + i, name, 60000, 1);
		snprintf(name, sizeof name, "C%u", i);
		stream_copy(r->program, SOP_D2H, 1 + i, name, 1000000, true, true);
	}
	fixture_op(r, 0, ENGINE_H2D, 3000, 83000, -1);
	fixture_op(r, 1, ENGINE_SM, 83000, 143000, 0);
	fixture_op(r, 2, ENGINE_D2H, 143000, 183000, 1);
	fixture_op(r, 3, ENGINE_H2D, 83000, 163000, 0);
	fixture_op(r, 4, ENGINE_SM, 163000, 223000, 3);
	fixture_op(r, 5, ENGINE_D2H, 223000, 263000, 4);
	r->timeline->origin = ORIGIN_MODELLED;
	r->timeline->makespan_ns = r->timeline->modelled_ns = 263000;
	r->timeline->serial_ns = 360000;
	r->timeline->critical = ENGINE_H2D;
	r->timeline->critical_pct = 61;
	r->init = (struct stream_init){ .origin = ORIGIN_MODELLED };
	r->init.ns[INIT_CONTEXT] = 321e6;
	r->init.ns[INIT_MODULE] = 0.1e6;
	r->init.ns[INIT_ALLOCATE] = 100e3;
	r->init.ns[INIT_PIN] = 0.9e6 + 6e6 * 0.373;
	r->init.ns[INIT_STREAMS] = 2 * 35e3;
	for (enum stream_init_part k = 0; k < INIT_COUNT; k++)
		r->init.total_ns += r->init.ns[k];
	return s;
}

static inline void fixture_free(struct session *s)
{
	ladder_free(s->ladder);
	session_forget(s);
	if (s->now)
		record_free(s->now);
	if (s->before)
		record_free(s->before);
	free(s);
}

/* --- a host that only keeps what it is told --- */

struct fixture_host {
	struct session *s;
	unsigned runs, cancels, chosen;
	enum command chosen_list;
};

static const struct session *fh_session(void *ctx)
{
	return ((struct fixture_host *)ctx)->s;
}
static struct session *fh_edit(void *ctx)
{
	return ((struct fixture_host *)ctx)->s;
}
static bool fh_poll(void *ctx)
{
	(void)ctx;
	return false;
}
static int fh_wake(void *ctx)
{
	(void)ctx;
	return -1;
}
static void fh_param(void *ctx, unsigned param, int64_t value)
{
	struct session *s = fh_edit(ctx);
	s->sel.params[param] = value;
	s->stale = s->now != NULL;
	if (s->sel.kernel == &fixture_reduction && param == 1)
		fixture_occupancy(s, (unsigned)value, 0);
}
static void fh_kernel(void *ctx, const struct kernel_desc *k, unsigned variant)
{
	struct session *s = fh_edit(ctx);
	s->sel.kernel = k;
	s->sel.variant = variant;
	s->stale = s->now != NULL;
}
static void fh_nop(void *ctx, size_t i)
{
	(void)ctx;
	(void)i;
}
static void fh_run(void *ctx)
{
	((struct fixture_host *)ctx)->runs++;
}
static void fh_cancel(void *ctx)
{
	((struct fixture_host *)ctx)->cancels++;
}
static const struct view_desc *fh_view(size_t i)
{
	return fixture_views[i];
}
static size_t fh_choices(void *ctx, enum command list)
{
	(void)ctx;
	return list == CMD_KERNEL ? 3 : list == CMD_GPU ? 12 : 2;
}
static void fh_choice(void *ctx, enum command list, size_t i, struct choice *out)
{
	static const char *const gpus[] = { "a100",      "a6000",   "b200",    "h100",
		                                "h200",      "l4",      "rtx3090", "rtx4060laptop",
		                                "rtx4060ti", "rtx4090", "rtx5090", "t4" };
	static const char *const kernels[] = { "reduction / simple", "sgemm / naive", "sgemm / tiled" };
	static const char *const engines[] = { "cuda", "emu" };
	(void)ctx;
	out->enabled = true;
	out->current = i == 1;
	if (list == CMD_KERNEL) {
		snprintf(out->label, sizeof out->label, "%s", kernels[i]);
		snprintf(out->note, sizeof out->note, "%s",
		         i ? sgemm_variants[i - 1].idea : "threads drop out two by two");
	} else if (list == CMD_GPU) {
		snprintf(out->label, sizeof out->label, "%s", gpus[i]);
		snprintf(out->note, sizeof out->note, "built-in sheet");
	} else {
		snprintf(out->label, sizeof out->label, "%s", engines[i]);
		out->enabled = i == 1;
		snprintf(out->note, sizeof out->note, "PTX emulator, 2 threads");
		snprintf(out->why_not, sizeof out->why_not,
		         "no NVIDIA driver here (libcuda.so.1 not found)");
	}
}
static void fh_choose(void *ctx, enum command list, size_t i)
{
	struct fixture_host *h = ctx;
	h->chosen_list = list;
	h->chosen = (unsigned)i;
}

static inline struct screen_host fixture_host(struct fixture_host *h)
{
	return (struct screen_host){
		.ctx = h,
		.session = fh_session,
		.edit = fh_edit,
		.poll = fh_poll,
		.wake_fd = fh_wake,
		.set_param = fh_param,
		.set_kernel = fh_kernel,
		.set_gpu = fh_nop,
		.set_backend = fh_nop,
		.run = fh_run,
		.cancel = fh_cancel,
		.n_views = ARRAY_LEN(fixture_views),
		.view_at = fh_view,
		.choices = fh_choices,
		.choice_at = fh_choice,
		.choose = fh_choose,
	};
}

#endif

/* sgemm's runs, naive and tiled, 1024 cubed on an A100: every figure set here, none computed. */
#include "fixture.h"

enum { NAIVE, TILED };

static const struct fixture_metric naive_metrics[] = {
	{ M_LAUNCH_WAVES, ORIGIN_MODELLED, 4.74 },
	{ M_INST_WARP, ORIGIN_COUNTED, 202375168 },
	{ M_INST_THREAD, ORIGIN_COUNTED, 6476005376.0 },
	{ M_INST_RATIO, ORIGIN_COUNTED, 32 },
	{ M_DIV_BRANCHES, ORIGIN_COUNTED, 33587200 },
	{ M_DIV_DIVERGENT, ORIGIN_COUNTED, 0 },
	{ M_DIV_BRANCH_EFF, ORIGIN_COUNTED, 100 },
	{ M_DIV_SIMD_EFF, ORIGIN_COUNTED, 100 },
	{ M_MEM_LD_REQ, ORIGIN_COUNTED, 67108864 },
	{ M_MEM_LD_SEC, ORIGIN_COUNTED, 201326592 },
	{ M_MEM_LD_SPR, ORIGIN_COUNTED, 3 },
	{ M_MEM_LD_EFF, ORIGIN_COUNTED, 75 },
	{ M_MEM_ST_REQ, ORIGIN_COUNTED, 32768 },
	{ M_MEM_ST_SPR, ORIGIN_COUNTED, 4 },
	{ M_MEM_ST_EFF, ORIGIN_COUNTED, 100 },
	{ M_SH_LD_REQ, ORIGIN_COUNTED, 0 },
	{ M_SH_LD_WAVE, ORIGIN_COUNTED, 0 },
	{ M_SH_LD_EXCESS, ORIGIN_COUNTED, 0 },
	{ M_SH_ST_REQ, ORIGIN_COUNTED, 0 },
	{ M_SH_ST_WAVE, ORIGIN_COUNTED, 0 },
	{ M_SH_ST_EXCESS, ORIGIN_COUNTED, 0 },
	{ M_FLOP_FP32, ORIGIN_COUNTED, 2147483648.0 },
	{ M_FLOP_FP64, ORIGIN_COUNTED, 0 },
	{ M_DRAM_READ, ORIGIN_MODELLED, 1073741824 },
	{ M_ROOF_AI, ORIGIN_MODELLED, 1.98 },
	{ M_ROOF_BOOK_AI, ORIGIN_BOOK, 0.25 },
	{ M_ROOF_ATTAINABLE, ORIGIN_MODELLED, 3079 },
	{ M_ROOF_BOOK_ATTAINABLE, ORIGIN_BOOK, 388.75 },
	{ M_ROOF_ACHIEVED, ORIGIN_MODELLED, 481 },
	{ M_TIME_KERNEL, ORIGIN_MODELLED, 4464000 },
};

static const struct fixture_metric tiled_metrics[] = {
	{ M_LAUNCH_WAVES, ORIGIN_MODELLED, 4.74 },
	{ M_INST_WARP, ORIGIN_COUNTED, 121634816 },
	{ M_INST_THREAD, ORIGIN_COUNTED, 3892314112.0 },
	{ M_INST_RATIO, ORIGIN_COUNTED, 32 },
	{ M_DIV_BRANCHES, ORIGIN_COUNTED, 2162688 },
	{ M_DIV_DIVERGENT, ORIGIN_COUNTED, 0 },
	{ M_DIV_BRANCH_EFF, ORIGIN_COUNTED, 100 },
	{ M_DIV_SIMD_EFF, ORIGIN_COUNTED, 100 },
	{ M_MEM_LD_REQ, ORIGIN_COUNTED, 4194304 },
	{ M_MEM_LD_SEC, ORIGIN_COUNTED, 16777216 },
	{ M_MEM_LD_SPR, ORIGIN_COUNTED, 4 },
	{ M_MEM_LD_EFF, ORIGIN_COUNTED, 100 },
	{ M_MEM_ST_REQ, ORIGIN_COUNTED, 32768 },
	{ M_MEM_ST_SPR, ORIGIN_COUNTED, 4 },
	{ M_MEM_ST_EFF, ORIGIN_COUNTED, 100 },
	{ M_SH_LD_REQ, ORIGIN_COUNTED, 41943040 },
	{ M_SH_LD_WAVE, ORIGIN_COUNTED, 41943040 },
	{ M_SH_LD_EXCESS, ORIGIN_COUNTED, 0 },
	{ M_SH_ST_REQ, ORIGIN_COUNTED, 4194304 },
	{ M_SH_ST_WAVE, ORIGIN_COUNTED, 4194304 },
	{ M_SH_ST_EXCESS, ORIGIN_COUNTED, 0 },
	{ M_FLOP_FP32, ORIGIN_COUNTED, 2147483648.0 },
	{ M_FLOP_FP64, ORIGIN_COUNTED, 0 },
	{ M_DRAM_READ, ORIGIN_MODELLED, 537919488 },
	{ M_ROOF_AI, ORIGIN_MODELLED, 3.91 },
	{ M_ROOF_BOOK_AI, ORIGIN_BOOK, 4 },
	{ M_ROOF_ATTAINABLE, ORIGIN_MODELLED, 6080 },
	{ M_ROOF_BOOK_ATTAINABLE, ORIGIN_BOOK, 6220 },
	{ M_ROOF_ACHIEVED, ORIGIN_MODELLED, 2557 },
	{ M_TIME_KERNEL, ORIGIN_MODELLED, 839850 },
};

/* What both have: the launch, the cost, the verdict, a path of four steps. */
static struct run_record *sgemm_record(unsigned variant)
{
	struct run_record *r = mem_zalloc(sizeof *r);
	r->sel = (struct selection){ .kernel = &fixture_sgemm,
		                         .variant = variant,
		                         .gpu = fixture_a100(),
		                         .backend = "emu",
		                         .params = { 1024, 1024, 1024, 16 } };
	r->plan =
		(struct launch_plan){ .entry = fixture_sgemm.variants[variant].entry,
		                      .grid = { 64, 64, 1 },
		                      .block = { 16, 16, 1 },
		                      .n_buffers = 3,
		                      .buffers = { { .name = "A" }, { .name = "B" }, { .name = "C" } } };
	r->cost = (struct kernel_cost){ .flop = 2147483648.0, .min_bytes = 12582912, .book_flop = 2 };
	metrics_clear(&r->metrics, "not part of this run");
	metric_none(&r->metrics, M_OCC_ACHIEVED, "only a GPU knows: run with back end cuda");
	metric_text(&r->metrics, M_ROOF_BOUND, ORIGIN_MODELLED, "memory (DRAM)");
	r->perf.resource_ns[PERF_FP32] = 110127;
	r->perf.resource_ns[PERF_LATENCY] = 61000;
	r->run.counts.origin = ORIGIN_COUNTED;
	r->run.counts.blocks_run = r->run.counts.blocks_total = 4096;
	r->run.counts.n_steps = 4;
	r->run.counts.steps = mem_calloc(4, sizeof *r->run.counts.steps);
	for (unsigned i = 0; i < 4; i++)
		r->run.counts.steps[i] = (struct mask_step){ .line = variant == TILED ? 21 + i : 11 + i % 3,
			                                         .mask = 0xffffffffu,
			                                         .instructions = 3 + i };
	r->run.counts.steps_cut = true;
	r->verify = VERIFY_OK;
	r->check.ok = true;
	snprintf(r->verify_text, sizeof r->verify_text, "exact");
	r->run.wall_s = 0.31;
	return r;
}

/* What a modelled run of either variant knows. */
static void model_run(struct run_record *r, enum perf_resource bottleneck, double kernel_ns,
                      double occupancy_pct, const char *limited_by)
{
	r->occ.pct = occupancy_pct;
	metric_num(&r->metrics, M_OCC_PCT, ORIGIN_MODELLED, occupancy_pct);
	metric_text(&r->metrics, M_TIME_BOTTLENECK, ORIGIN_MODELLED, limited_by);
	r->perf.bottleneck = bottleneck;
	r->perf.kernel_ns = kernel_ns;
	fixture_spans(r, kernel_ns);
}

static struct run_record *naive_run(void)
{
	struct run_record *r = sgemm_record(NAIVE);
	r->cost.book_bytes = 8;
	r->cost.book_note = "2 FLOP per 8 bytes (PMPP 5.1)";
	fixture_metrics(r, naive_metrics, ARRAY_LEN(naive_metrics));
	model_run(r, PERF_LSU, 4464000, 75, "LSU/L1");
	r->perf.resource_ns[PERF_ISSUE] = 332264;
	r->perf.resource_ns[PERF_LSU] = 4461500;
	r->perf.resource_ns[PERF_L2] = 537000;
	r->perf.resource_ns[PERF_DRAM] = 690509;
	static const struct fixture_line lines[] = {
		{ 6, 98304, 3145728 },         { 7, 98304, 3145728 },         { 9, 98304, 3145728 },
		{ 11, 100728832, 3223322624 }, { 12, 101220352, 3239051264 }, { 13, 131072, 4194304 },
	};
	struct line_counts *l = fixture_lines(r, lines, ARRAY_LEN(lines));
	l[4].c.ld_requests = 67108864;
	l[4].c.ld_sectors = 201326592;
	l[4].c.ld_bytes = 4831838208;
	return r;
}

static void tiled_lines(struct run_record *r)
{
	static const struct fixture_line lines[] = {
		{ 18, 65536, 32 * 65536 },          { 19, 131072, 32 * 131072 },
		{ 20, 32768, 32 * 32768 },          { 21, 6389760, 32 * 6389760 },
		{ 22, 10485760, 32 * 10485760 },    { 23, 10485760, 32 * 10485760 },
		{ 24, 2097152, 32 * 2097152 },      { 25, 4194304, 32 * 4194304 },
		{ 26, 83886080, 32ull * 83886080 }, { 27, 2097152, 32 * 2097152 },
		{ 29, 98304, 32 * 98304 },          { 30, 65536, 32 * 65536 },
	};
	struct line_counts *l = fixture_lines(r, lines, ARRAY_LEN(lines));
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
}

static void tiled_accesses(struct run_record *r)
{
	static const struct access_sample list[] = {
		{ .line = 22, .op = "ld.global.f32", .buffer = 0, .executions = 2097152 },
		{ .line = 22,
		  .op = "st.shared.f32",
		  .store = true,
		  .shared = true,
		  .buffer = -1,
		  .executions = 2097152 },
		{ .line = 23, .op = "ld.global.f32", .buffer = 1, .executions = 2097152 },
		{ .line = 26, .op = "ld.shared.f32", .shared = true, .buffer = -1, .executions = 33554432 },
		{ .line = 26,
		  .op = "ld.shared.v4.f32",
		  .shared = true,
		  .buffer = -1,
		  .executions = 8388608 },
		{ .line = 30, .op = "st.global.f32", .store = true, .buffer = 2, .executions = 32768 },
	};
	struct access_sample *a = fixture_accesses(r, list, ARRAY_LEN(list));
	a[4].bytes_per_lane = 16;
	for (unsigned i = 0; i < 32; i++) {
		uint64_t row = i / 16, col = i % 16;
		a[0].offset[i] = a[2].offset[i] = a[5].offset[i] = row * 4096 + col * 4;
		a[1].offset[i] = i * 4;
		a[3].offset[i] = 1024 + col * 4;
		a[4].offset[i] = row * 64;
	}
}

static struct run_record *tiled_run(void)
{
	struct run_record *r = sgemm_record(TILED);
	r->cost.book_bytes = 0.5;
	r->cost.book_note = "every value loaded serves TILE threads: 0.25 × 16 FLOP/B (PMPP 5.4)";
	fixture_metrics(r, tiled_metrics, ARRAY_LEN(tiled_metrics));
	model_run(r, PERF_SHARED, 839850, 100, "shared");
	r->perf.resource_ns[PERF_ISSUE] = 199703;
	r->perf.resource_ns[PERF_LSU] = 110000;
	r->perf.resource_ns[PERF_SHARED] = 837350;
	r->perf.resource_ns[PERF_L2] = 134217;
	r->perf.resource_ns[PERF_DRAM] = 345928;
	tiled_lines(r);
	tiled_accesses(r);
	fixture_code(r);
	return r;
}

/* naive, then tiled: everything known. */
struct session *fixture_done(void)
{
	struct session *s = fixture_session(&fixture_sgemm, TILED);
	s->source = fixture_sgemm_source;
	s->before = naive_run();
	s->now = tiled_run();
	s->now->data = fixture_data();
	s->plan = s->now->plan;
	s->state = RUN_DONE;
	s->param = 3;
	fixture_occupancy(s, 256, 2048);
	s->now->occ = s->occ;
	session_remember(s, s->before, s->source);
	session_remember(s, s->now, s->source);
	return s;
}

/* The reduction's run: every figure set here, none computed. */
#include "fixture.h"

static const struct fixture_metric metrics[] = {
	{ M_INST_WARP, ORIGIN_COUNTED, 236 },        { M_INST_THREAD, ORIGIN_COUNTED, 6788 },
	{ M_INST_RATIO, ORIGIN_COUNTED, 28.8 },      { M_DIV_BRANCHES, ORIGIN_COUNTED, 69 },
	{ M_DIV_DIVERGENT, ORIGIN_COUNTED, 24 },     { M_DIV_BRANCH_EFF, ORIGIN_COUNTED, 65.2 },
	{ M_DIV_SIMD_EFF, ORIGIN_COUNTED, 89.9 },    { M_MEM_LD_REQ, ORIGIN_COUNTED, 55 },
	{ M_MEM_LD_SPR, ORIGIN_COUNTED, 6.9 },       { M_MEM_LD_EFF, ORIGIN_COUNTED, 24.8 },
	{ M_MEM_ST_REQ, ORIGIN_COUNTED, 28 },        { M_MEM_ST_SPR, ORIGIN_COUNTED, 6.7 },
	{ M_MEM_ST_EFF, ORIGIN_COUNTED, 14.9 },      { M_SH_LD_REQ, ORIGIN_COUNTED, 0 },
	{ M_SH_ST_REQ, ORIGIN_COUNTED, 0 },          { M_ROOF_AI, ORIGIN_MODELLED, 0.249 },
	{ M_ROOF_ATTAINABLE, ORIGIN_MODELLED, 387 }, { M_ROOF_ACHIEVED, ORIGIN_MODELLED, 0.0421 },
};

static const struct fixture_line lines[] = {
	{ 3, 4, 128 }, { 4, 72, 2304 }, { 5, 96, 3072 }, { 6, 27, 255 }, { 7, 32, 1024 }, { 10, 5, 5 },
};

static const struct access_sample accesses[] = {
	{ .line = 6, .op = "ld.global.f32", .buffer = 0, .executions = 27 },
	{ .line = 6, .op = "st.global.f32", .store = true, .buffer = 0, .executions = 27 },
};

/* Eight passes over lines 4 to 7; in each, half as many lanes add. */
static void steps(struct run_record *r)
{
	r->run.counts.n_steps = 32;
	r->run.counts.steps = mem_calloc(32, sizeof *r->run.counts.steps);
	for (unsigned i = 0; i < 32; i++) {
		const unsigned stride = 1u << i / 4;
		uint32_t mask = 0;
		for (unsigned k = 0; k < 32; k += stride)
			mask |= 1u << k;
		r->run.counts.steps[i] = (struct mask_step){ .line = 4 + i % 4,
			                                         .instructions = 1 + i % 3,
			                                         .mask = i % 4 == 2 ? mask : 0xffffffffu };
	}
}

static struct run_record *reduction_run(const struct session *s)
{
	struct run_record *r = mem_zalloc(sizeof *r);
	r->sel = s->sel;
	r->plan = (struct launch_plan){ .entry = "reduction_v0_simple",
		                            .grid = { 1, 1, 1 },
		                            .block = { 128, 1, 1 },
		                            .n_buffers = 2,
		                            .buffers = { { .name = "input" }, { .name = "output" } } };
	r->occ = s->occ;
	metrics_clear(&r->metrics, "not part of this run");
	fixture_metrics(r, metrics, ARRAY_LEN(metrics));
	metric_text(&r->metrics, M_ROOF_BOUND, ORIGIN_MODELLED, "memory (DRAM)");
	r->perf.resource_ns[PERF_LATENCY] = 3560;
	r->perf.resource_ns[PERF_ISSUE] = 73;
	r->perf.bottleneck = PERF_LATENCY;
	r->run.counts.origin = ORIGIN_COUNTED;
	r->run.counts.blocks_run = r->run.counts.blocks_total = 1;
	struct line_counts *l = fixture_lines(r, lines, ARRAY_LEN(lines));
	l[1].c.branches = 36;
	l[2].c.branches = 32;
	l[2].c.divergent_branches = 24;
	l[3].c.ld_requests = 54;
	l[3].c.ld_sectors = 378;
	l[3].c.ld_bytes = 2040;
	l[3].c.st_requests = 27;
	l[3].c.st_sectors = 186;
	l[3].c.st_bytes = 1020;
	struct access_sample *a = fixture_accesses(r, accesses, ARRAY_LEN(accesses));
	for (unsigned i = 0; i < 32; i++)
		a[0].offset[i] = a[1].offset[i] = 128 + 8 * i;
	steps(r);
	r->verify = VERIFY_OK;
	snprintf(r->verify_text, sizeof r->verify_text, "max rel. error 1.2e-7 of 1e-5");
	r->run.wall_s = 0.0004;
	return r;
}

/* The reduction of PMPP 10.3, N 256, block 128: 255 of 864 lane slots on the add line. */
struct session *fixture_reduced(void)
{
	struct session *s = fixture_session(&fixture_reduction, 0);
	s->source = fixture_reduction_source;
	s->view = "divergence";
	s->param = 1;
	s->cursor.row = 2;
	s->state = RUN_DONE;
	fixture_occupancy(s, 128, 0);
	s->now = reduction_run(s);
	s->plan = s->now->plan;
	s->now->code = mem_zalloc(sizeof *s->now->code); /* a machine without a disassembler */
	snprintf(s->now->code->why, sizeof s->now->code->why,
	         "machine code cannot be shown: nvdisasm was not found: /usr/local/cuda/bin, PATH");
	snprintf(s->now->code->remedy, sizeof s->now->code->remedy,
	         "Install the CUDA Toolkit, or: pip install nvidia-cuda-nvdisasm==13.5.37");
	return s;
}

/* Report to result; see cuda_result.h. */
#include "cuda/cuda_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counts that a metric is, one to one; the others (lines, ideal wavefronts) come per source line,
 * or not at all (pipes). */
#define MEASURED_COUNTS(X)               \
	X(INST_WARP, warp_executed)          \
	X(INST_THREAD, thread_executed)      \
	X(DIV_BRANCHES, branches)            \
	X(DIV_DIVERGENT, divergent_branches) \
	X(MEM_LD_REQ, ld_requests)           \
	X(MEM_LD_SEC, ld_sectors)            \
	X(MEM_ST_REQ, st_requests)           \
	X(MEM_ST_SEC, st_sectors)            \
	X(MEM_ATOM_REQ, atom_requests)       \
	X(MEM_ATOM_SEC, atom_sectors)        \
	X(MEM_LOCAL_REQ, local_requests)     \
	X(SH_LD_REQ, shared_ld_requests)     \
	X(SH_LD_WAVE, shared_ld_wavefronts)  \
	X(SH_ST_REQ, shared_st_requests)     \
	X(SH_ST_WAVE, shared_st_wavefronts)  \
	X(SH_ATOM_REQ, shared_atom_requests) \
	X(FLOP_FP16, flop16)                 \
	X(FLOP_FP32, flop32)                 \
	X(FLOP_FP64, flop64)

/* A ratio and what it is made of: known only if both are. */
static const struct {
	enum metric_id id, a, b;
} ratios[] = {
	{ M_INST_RATIO, M_INST_THREAD, M_INST_WARP },
	{ M_DIV_SIMD_EFF, M_INST_THREAD, M_INST_WARP },
	{ M_DIV_BRANCH_EFF, M_DIV_BRANCHES, M_DIV_DIVERGENT },
	{ M_MEM_LD_SPR, M_MEM_LD_SEC, M_MEM_LD_REQ },
	{ M_MEM_ST_SPR, M_MEM_ST_SEC, M_MEM_ST_REQ },
};

static const enum metric_id by_line[] = { M_MEM_LD_LINES, M_MEM_ST_LINES, M_SH_LD_EXCESS,
	                                      M_SH_ST_EXCESS };

bool cuda_half_arithmetic(const char *ptx)
{
	static const char *const moves[] = { "cvt.", "ld.", "st.", "mov.", "selp.", "." };
	for (const char *s = ptx; s && *s; s = strchr(s, '\n'), s += s != NULL) {
		s += strspn(s, " \t\n");
		if (*s == '@') { /* a guard */
			s += strcspn(s, " \t\n");
			s += strspn(s, " \t");
		}
		char op[64];
		size_t n = strcspn(s, " \t\n;");
		snprintf(op, sizeof op, "%.*s", (int)(n < sizeof op ? n : sizeof op - 1), s);
		bool move = false;
		for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
			move = move || !strncmp(op, moves[i], strlen(moves[i]));
		if (!move && (strstr(op, ".f16") || strstr(op, ".bf16")))
			return true;
	}
	return false;
}

static uint64_t whole(double v)
{
	return v > 0 && v < 0x1p63 ? (uint64_t)(v + 0.5) : 0;
}

static void counters(const struct cuda_report *r, const char *ptx, struct run_result *out)
{
	struct counts *c = &out->counts.total;
#define X(id, field) c->field = whole(r->metric[M_##id]);
	MEASURED_COUNTS(X)
#undef X
	c->ld_bytes = whole(r->metric[M_MEM_LD_EFF] / 100 * 32 * r->metric[M_MEM_LD_SEC]);
	c->st_bytes = whole(r->metric[M_MEM_ST_EFF] / 100 * 32 * r->metric[M_MEM_ST_SEC]);
	struct metric_set derived;
	metrics_clear(&derived, NULL);
	metrics_from_counts(&derived, c, ORIGIN_MEASURED);
	/* Counters first, as they were read; then the ratios of known parts. */
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		if (!metric_catalogue[i].cupti[0] || i == M_TIME_KERNEL)
			continue;
		if (isfinite(r->metric[i]))
			metric_num(&out->metrics, (enum metric_id)i, ORIGIN_MEASURED, r->metric[i]);
		else
			metric_none(&out->metrics, (enum metric_id)i,
			            fault_reason((enum fault_id)r->metric_why[i]));
	}
	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
		enum metric_id missing = METRIC_COUNT;
		if (!metric_known(&out->metrics, ratios[i].a))
			missing = ratios[i].a;
		else if (!metric_known(&out->metrics, ratios[i].b))
			missing = ratios[i].b;
		if (missing != METRIC_COUNT)
			metric_none(&out->metrics, ratios[i].id, out->metrics.v[missing].reason);
		else
			out->metrics.v[ratios[i].id] = derived.v[ratios[i].id];
	}
	/* A percentage of nothing is n/a, with the model's words for it. */
	if (r->metric[M_MEM_LD_SEC] <= 0)
		out->metrics.v[M_MEM_LD_EFF] = derived.v[M_MEM_LD_EFF];
	if (r->metric[M_MEM_ST_SEC] <= 0)
		out->metrics.v[M_MEM_ST_EFF] = derived.v[M_MEM_ST_EFF];
	/* ptxas moves constants by HFMA2, which the counter takes for arithmetic. With no
	 * half-precision instruction in the PTX all that was counted are moves: they are left out. */
	if (ptx && !cuda_half_arithmetic(ptx) && metric_known(&out->metrics, M_FLOP_FP16)) {
		metric_num(&out->metrics, M_FLOP_FP16, ORIGIN_MEASURED, 0);
		c->flop16 = 0;
	}
	metric_none(&out->metrics, M_INST_BARRIERS, fault_reason(FAULT_NOT_COUNTED));
	for (size_t i = 0; i < sizeof by_line / sizeof *by_line; i++)
		metric_none(&out->metrics, by_line[i], fault_reason(FAULT_PER_LINE_ONLY));
	out->counts.origin = ORIGIN_MEASURED;
}

/* Cache lines, and bank passes beyond the ideal: sums of what the per-line measurement knows. */
static void sums_of_lines(const struct cuda_report *r, struct run_result *out)
{
	struct counts sum = { 0 };
	for (unsigned i = 0; i < r->n_lines; i++)
		counts_add(&sum, &r->lines[i].c);
	out->counts.total.ld_lines = sum.ld_lines;
	out->counts.total.st_lines = sum.st_lines;
	metric_num(&out->metrics, M_MEM_LD_LINES, ORIGIN_MEASURED, (double)sum.ld_lines);
	metric_num(&out->metrics, M_MEM_ST_LINES, ORIGIN_MEASURED, (double)sum.st_lines);
	out->counts.total.shared_ld_ideal = sum.shared_ld_ideal;
	out->counts.total.shared_st_ideal = sum.shared_st_ideal;
	const struct {
		enum metric_id id;
		uint64_t actual, ideal;
	} rows[] = {
		{ M_SH_LD_EXCESS, sum.shared_ld_wavefronts, sum.shared_ld_ideal },
		{ M_SH_ST_EXCESS, sum.shared_st_wavefronts, sum.shared_st_ideal },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		metric_num(&out->metrics, rows[i].id, ORIGIN_MEASURED,
		           rows[i].actual > rows[i].ideal ? (double)(rows[i].actual - rows[i].ideal) : 0);
}

/* What the loaded function says; the driver's own occupancy. */
static void facts(const struct run_static *s, const struct launch_plan *p, const struct gpu_spec *g,
                  struct metric_set *m)
{
	const double blocks = (double)p->grid.x * p->grid.y * p->grid.z;
	const unsigned threads = p->block.x * p->block.y * p->block.z;
	const enum origin o = ORIGIN_MEASURED;
	metric_num(m, M_LAUNCH_GRID_BLOCKS, o, blocks);
	metric_num(m, M_LAUNCH_BLOCK_THREADS, o, threads);
	metric_num(m, M_LAUNCH_REGISTERS, o, s->registers);
	metric_num(m, M_LAUNCH_SHARED, o, (double)s->static_shared_bytes + p->dynamic_shared_bytes);
	metric_num(m, M_LAUNCH_LOCAL, o, s->local_bytes);
	metric_num(m, M_OCC_BLOCKS, o, s->blocks_per_sm);
	if (!g || !g->warp_size || !g->sm_count)
		return;
	const double warps = (double)s->blocks_per_sm * (double)ceil_div(threads, g->warp_size);
	metric_num(m, M_OCC_WARPS, o, warps);
	metric_num(m, M_OCC_PCT, o, 100 * warps / gpu_max_warps_per_sm(g));
	if (s->blocks_per_sm)
		metric_num(m, M_LAUNCH_WAVES, o, blocks / ((double)s->blocks_per_sm * g->sm_count));
}

void cuda_result(struct cuda_report *r, const struct launch_plan *plan, const struct gpu_spec *g,
                 const char *ptx, unsigned caps, struct run_result *out)
{
	const struct cuda_fault *cap = r->cap;
	metrics_clear(&out->metrics, fault_reason(FAULT_NOT_ASKED));
	out->counts =
		(struct run_counts){ .dram_read_bytes = -1, .dram_write_bytes = -1, .l2_sectors = -1 };
	out->counts.blocks_total = (uint64_t)plan->grid.x * plan->grid.y * plan->grid.z;
	out->counts.blocks_run = out->counts.blocks_total;
	if (!(caps & CAP_COUNTERS) || cap[CAPN_COUNTERS].id != FAULT_NONE) {
		enum fault_id why = caps & CAP_COUNTERS ? cap[CAPN_COUNTERS].id : FAULT_NOT_ASKED;
		metrics_clear(&out->metrics, fault_reason(why));
	} else {
		counters(r, ptx, out);
		if (metric_known(&out->metrics, M_DRAM_READ))
			out->counts.dram_read_bytes = r->metric[M_DRAM_READ];
		if (metric_known(&out->metrics, M_DRAM_WRITE))
			out->counts.dram_write_bytes = r->metric[M_DRAM_WRITE];
		if (metric_known(&out->metrics, M_L2_SECTORS))
			out->counts.l2_sectors = r->metric[M_L2_SECTORS];
	}
	if (r->loaded.known)
		facts(&r->loaded, plan, g, &out->metrics);
	if (r->timing.n)
		metric_num(&out->metrics, M_TIME_KERNEL, ORIGIN_MEASURED, r->timing.median_ns);
	else
		metric_none(&out->metrics, M_TIME_KERNEL,
		            fault_reason(caps & CAP_TIME ? cap[CAPN_TIME].id : FAULT_NOT_ASKED));
	out->metrics_final = true;
	out->outputs_complete = true;
	out->timing = r->timing;
	out->loaded = r->loaded;
	out->n_stalls = r->n_stalls;
	memcpy(out->stalls, r->stalls, sizeof out->stalls);
	out->n_spans = r->n_spans;
	out->spans = r->spans;
	out->spans_from_events = r->spans_from_events;
	out->program_ns = r->program_ns;
	r->spans = NULL;
	r->n_spans = 0;
	out->counter_passes = r->passes;
	out->counters_s = r->counters_s;
	if (r->n_lines) {
		sums_of_lines(r, out);
		out->counts.n_lines = r->n_lines;
		out->counts.lines = r->lines;
		out->counts.origin = ORIGIN_MEASURED;
		r->lines = NULL;
		r->n_lines = 0;
	}
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		if (cap[c].id != FAULT_NONE)
			snprintf(out->missing[c], sizeof out->missing[c], "%s%s%.120s%s",
			         fault_reason(cap[c].id), cap[c].detail[0] ? " (" : "", cap[c].detail,
			         cap[c].detail[0] ? ")" : "");
	snprintf(out->note, sizeof out->note, "%s", r->note);
	cuda_report_free(r);
}

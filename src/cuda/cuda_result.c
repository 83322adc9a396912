/* Report to result; see cuda_result.h. */
#include "cuda/cuda_result.h"
#include "base/text.h"
#include "model/metric_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Only the per-line measurement knows these. */
static const enum count_id sums_of_lines[] = { COUNT_ld_lines, COUNT_st_lines,
	                                           COUNT_shared_ld_ideal, COUNT_shared_st_ideal };

bool cuda_half_arithmetic(const char *ptx)
{
	static const char *const moves[] = { "cvt.", "ld.", "st.", "mov.", "selp.", "." };
	for (const char *s = ptx; s && *s; s = strchr(s, '\n')) {
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

/* A metric that is one count, and what the counters gave for it. */
static void put_count(struct run_counts *c, enum count_id id, double value, enum fault_id why)
{
	if (!isfinite(value)) {
		count_set_unknown(&c->of_total, id, fault_reason(why));
	} else if (id >= COUNT_FIELD_COUNT) {
		run_counts_set_figure(c, id, value);
	} else {
		count_put(&c->total, id, whole(value));
		count_set_known(&c->of_total, id);
	}
}

/* Bytes from the share of the sectors' bytes that was asked for. */
static void put_bytes(const struct cuda_report *r, enum metric_id share, enum metric_id sectors,
                      enum count_id bytes, struct run_counts *c)
{
	const enum metric_id missing = isfinite(r->metric[share]) ? sectors : share;
	put_count(c, bytes, r->metric[share] / 100 * 32 * r->metric[sectors],
	          (enum fault_id)r->metric_why[missing]);
}

/* Hardware counts loads of matrices apart; our count has them, too. */
static void put_sum(const struct cuda_report *r, enum metric_id one, enum metric_id other,
                    enum count_id sum, struct run_counts *c)
{
	const enum metric_id missing = isfinite(r->metric[one]) ? other : one;
	put_count(c, sum, r->metric[one] + r->metric[other], (enum fault_id)r->metric_why[missing]);
}

/* What the counters of the launch gave, and of every other count why there is none. */
static void counters(const struct cuda_report *r, const char *ptx, struct run_counts *c)
{
	run_counts_clear(c, fault_reason(FAULT_NOT_COUNTED));
	c->origin = ORIGIN_MEASURED;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const enum count_id count = metric_count(id);
		if (count != COUNT_ID_COUNT && metric_catalogue[id].cupti[0])
			put_count(c, count, r->metric[id], (enum fault_id)r->metric_why[id]);
	}
	put_bytes(r, M_MEM_LD_EFF, M_MEM_LD_SEC, COUNT_ld_bytes, c);
	put_bytes(r, M_MEM_ST_EFF, M_MEM_ST_SEC, COUNT_st_bytes, c);
	put_sum(r, M_SH_LD_REQ, M_SH_LDM_REQ, COUNT_shared_ld_requests, c);
	put_sum(r, M_SH_LD_WAVE, M_SH_LDM_WAVE, COUNT_shared_ld_wavefronts, c);
	/* ptxas moves constants by HFMA2, which the counter takes for arithmetic. With no
	 * half-precision instruction in the PTX all that was counted are moves: they are left out. */
	if (ptx && !cuda_half_arithmetic(ptx))
		c->total.flop16 = 0;
	for (size_t i = 0; i < ARRAY_LEN(sums_of_lines); i++)
		count_set_unknown(&c->of_total, sums_of_lines[i], fault_reason(FAULT_PER_LINE_ONLY));
}

/* Cache lines, and the bank passes that the bytes alone would need: sums of the lines. */
static void put_sums_of_lines(struct run_counts *c)
{
	struct counts sum = { 0 };
	for (unsigned i = 0; i < c->n_lines; i++)
		counts_add(&sum, &c->lines[i].c);
	for (size_t i = 0; i < ARRAY_LEN(sums_of_lines); i++)
		put_count(c, sums_of_lines[i], (double)count_get(&sum, sums_of_lines[i]), FAULT_NONE);
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
	const bool counted = caps & CAP_COUNTERS && cap[CAPN_COUNTERS].id == FAULT_NONE;
	const char *why = fault_reason(caps & CAP_COUNTERS ? cap[CAPN_COUNTERS].id : FAULT_NOT_ASKED);
	*out = r->run;
	r->run = (struct run_result){ 0 };
	struct run_counts *counts = &out->counts;
	const struct run_counts told = *counts;
	metrics_clear(&out->metrics, why);
	run_counts_clear(counts, why);
	if (counted)
		counters(r, ptx, counts);
	counts->lines = told.lines;
	counts->n_lines = told.n_lines;
	counts->blocks_total = (uint64_t)plan->grid.x * plan->grid.y * plan->grid.z;
	counts->blocks_run = counts->blocks_total;
	if (counts->n_lines) {
		put_sums_of_lines(counts);
		counts_set_hardware_lines(&counts->of_lines);
		counts->origin = ORIGIN_MEASURED;
	}
	metrics_from_run(&out->metrics, counts);
	if (out->loaded.known)
		facts(&out->loaded, plan, g, &out->metrics);
	if (out->timing.n)
		metric_num(&out->metrics, M_TIME_KERNEL, ORIGIN_MEASURED, out->timing.median_ns);
	else
		metric_none(&out->metrics, M_TIME_KERNEL,
		            fault_reason(caps & CAP_TIME ? cap[CAPN_TIME].id : FAULT_NOT_ASKED));
	out->outputs_complete = true;
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		if (cap[c].id != FAULT_NONE)
			snprintf(out->missing[c], sizeof out->missing[c], "%s%s%.120s%s",
			         fault_reason(cap[c].id), cap[c].detail[0] ? " (" : "", cap[c].detail,
			         cap[c].detail[0] ? ")" : "");
}

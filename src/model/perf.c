/*
 * Roofline and the first time model; see perf.h.
 * Knows counts and data sheets; no kernel, back end or screen.
 *
 * References: Williams, Waterman, Patterson 2009 (roofline; PMPP 5.1); Hong and Kim 2009 (latency
 * given the resident warps). What is approximate is said at each constant. The constants were
 * fitted on an H200 to matrix multiplication at 512: naive in five block shapes, tiles of 16 and
 * 32. There the error is within 10 %, but for fully scattered rows, which it makes 40 % too slow.
 * Kernels unlike these can be off by more: it is a model.
 * Not modelled: instruction cache, dependent instructions beyond a constant, clocks that fall
 * under load, conflicts inside L2, the difference between PTX and machine code.
 */
#include "model/perf.h"

#include <math.h>
#include <string.h>

/* A float4 copy reaches 83 %, a read 97 % of the printed bandwidth of an H200. */
#define DRAM_EFFICIENCY 0.90
/* A kernel of FFMA only reaches 97 % of the peak of an H200. */
#define PIPE_EFFICIENCY 0.97
/* Cycles of an SM: per global request with 32 load/store lanes, and per 128-byte line it touches.
 * One tag pass per line would be 1.0; scattered lines overlap a little. Fitted, see above. */
#define LSU_REQUEST_CYCLES 0.8
#define LSU_LINE_CYCLES 0.7
/* Cycles of an SM per shared wavefront as PTX has them; the machine code merges some of them. */
#define SHARED_WAVE_CYCLES 1.15
/* Independent loads that a warp has in flight: two operands of one statement. Unrolled loops do
 * better; a pointer chase does worse. */
#define LOADS_IN_FLIGHT 2.0
#define SHARED_LOADS_IN_FLIGHT 4.0
/* Cycles from an instruction of a warp to its next (4 when dependent, 1 when not) and of a block
 * barrier with nobody late. */
#define ISSUE_GAP_CYCLES 2.0
#define BARRIER_CYCLES 20.0
#define WARP 32.0
#define SECTOR 32.0

static const struct {
	const char *name, *about;
	enum metric_id metric;
} resources[PERF_RESOURCE_COUNT] = {
#define X(id, name_, about_) \
	[PERF_##id] = { .name = name_, .about = about_, .metric = M_TIME_##id },
	PERF_RESOURCES(X)
#undef X
};

const char *perf_resource_name(enum perf_resource r)
{
	return (unsigned)r < PERF_RESOURCE_COUNT ? resources[r].name : "?";
}

const char *perf_resource_about(enum perf_resource r)
{
	return (unsigned)r < PERF_RESOURCE_COUNT ? resources[r].about : "?";
}

/* --- time ------------------------------------------------------------------------------------- */

static double grid_blocks(const struct launch_plan *p)
{
	return (double)p->grid.x * p->grid.y * p->grid.z;
}

static double block_warps(const struct launch_plan *p)
{
	return ceil((double)p->block.x * p->block.y * p->block.z / WARP);
}

/* Warp instructions of one pipe in cycles of an average SM. */
static double pipe_cycles(const struct gpu_spec *g, uint64_t inst, unsigned lanes)
{
	return (double)inst * WARP / lanes / g->sm_count / PIPE_EFFICIENCY;
}

/* On 8.6, 8.9 and 12.x half or all of the FP32 lanes are the integer lanes as well. */
static bool shared_int_lanes(const struct gpu_spec *g)
{
	return (g->cc_major == 8 && (g->cc_minor == 6 || g->cc_minor == 9)) || g->cc_major == 12;
}

/*
 * Average wait of a global load: by the share of its sectors that missed L1 (what L2 was asked
 * for, less stores and atomics, which always go there), and the share of those that DRAM read.
 * Without a cache simulation every sector is taken to come from L2.
 */
static double load_latency_ns(const struct gpu_spec *g, const struct run_counts *c)
{
	const double loads = (double)c->total.ld_sectors;
	const double past_l1 = (double)c->total.st_sectors + (double)c->total.atom_sectors;
	if (loads <= 0)
		return 0;
	double to_l2 = c->l2_sectors >= 0 ? fmax(c->l2_sectors - past_l1, 0) / loads : 1;
	double to_dram = c->dram_read_bytes >= 0 ? c->dram_read_bytes / SECTOR / loads : 0;
	to_l2 = fmin(to_l2, 1);
	to_dram = fmin(to_dram, to_l2);
	return (1 - to_l2) * g->l1_latency_ns + (to_l2 - to_dram) * g->l2_latency_ns +
	       to_dram * g->dram_latency_ns;
}

/*
 * A warp alone: its global loads in groups of LOADS_IN_FLIGHT, its shared loads, its barriers and
 * the gaps between its instructions, one after another. All resident warps do this at once, so the
 * grid takes as many of these times as it has waves: few resident warps mean more waves.
 */
static double latency_ns(const struct gpu_spec *g, const struct launch_plan *plan,
                         const struct run_counts *c, double waves)
{
	const double warps = grid_blocks(plan) * block_warps(plan);
	const double ns_per_cycle = 1e3 / g->clock_mhz;
	const struct counts *t = &c->total;
	if (warps <= 0)
		return 0;
	const double loads = ((double)t->ld_requests + (double)t->local_requests) / warps;
	const double atoms = (double)t->atom_requests / warps;
	const double shared =
		((double)t->shared_ld_requests + (double)t->shared_atom_requests) / warps;
	const double one = loads / LOADS_IN_FLIGHT * load_latency_ns(g, c) +
	                   atoms * g->l2_latency_ns +
	                   shared / SHARED_LOADS_IN_FLIGHT * g->smem_latency_ns +
	                   (double)t->barriers / warps * BARRIER_CYCLES * ns_per_cycle +
	                   (double)t->warp_executed / warps * ISSUE_GAP_CYCLES * ns_per_cycle;
	return ceil(waves - 1e-9) * one;
}

/* Cycles that an average SM spends on each resource of its own. */
static void sm_cycles(const struct gpu_spec *g, const struct counts *t, double *cycles)
{
	const double sms = g->sm_count;
	const double global = (double)t->ld_requests + (double)t->st_requests +
	                      (double)t->atom_requests + (double)t->local_requests;
	const double lines = (double)t->ld_lines + (double)t->st_lines + (double)t->atom_sectors +
	                     (double)t->local_requests;
	const double waves = (double)t->shared_ld_wavefronts + (double)t->shared_st_wavefronts +
	                     (double)t->shared_atom_requests;

	cycles[PERF_ISSUE] = (double)t->warp_executed / g->schedulers_per_sm / sms;
	cycles[PERF_FP32] = pipe_cycles(g, t->fp32_inst, g->fp32_lanes_per_sm);
	cycles[PERF_FP64] = pipe_cycles(g, t->fp64_inst, g->fp64_lanes_per_sm);
	cycles[PERF_INT] = pipe_cycles(g, t->int_inst, g->int32_lanes_per_sm);
	if (shared_int_lanes(g) && t->int_inst)
		cycles[PERF_INT] =
			fmax(cycles[PERF_INT],
		             cycles[PERF_FP32] + pipe_cycles(g, t->int_inst, g->fp32_lanes_per_sm));
	cycles[PERF_SFU] = pipe_cycles(g, t->sfu_inst, g->sfu_lanes_per_sm);
	cycles[PERF_LSU] = (global * LSU_REQUEST_CYCLES * WARP / g->lsu_lanes_per_sm +
	                    lines * LSU_LINE_CYCLES) /
	                   sms;
	cycles[PERF_SHARED] = waves * SHARED_WAVE_CYCLES / sms;
}

void perf_time(const struct gpu_spec *g, const struct launch_plan *plan,
               const struct occ_result *occ, const struct run_counts *counts,
               struct perf_result *out)
{
	const double grid = grid_blocks(plan);
	const double slots = (double)occ->blocks_per_sm * g->sm_count;

	memset(out, 0, sizeof *out);
	if (slots <= 0 || grid <= 0)
		return;
	out->waves = grid / slots;
	/* Blocks go to whichever SM is free, so the busiest one gets at most one more than the
	 * average; a grid smaller than the GPU leaves SMs idle. */
	out->tail_factor = fmax(1, ceil(grid / g->sm_count) * g->sm_count / grid);

	double cycles[PERF_RESOURCE_COUNT] = { 0 };
	sm_cycles(g, &counts->total, cycles);
	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++)
		out->resource_ns[r] = cycles[r] * out->tail_factor * 1e3 / g->clock_mhz;

	/* Chip-wide: bytes over 1e9 bytes/s is ns. */
	if (counts->l2_sectors >= 0)
		out->resource_ns[PERF_L2] = counts->l2_sectors * SECTOR / g->l2_gbs;
	if (counts->dram_read_bytes >= 0 && counts->dram_write_bytes >= 0)
		out->resource_ns[PERF_DRAM] = (counts->dram_read_bytes + counts->dram_write_bytes) /
		                              (g->dram_gbs * DRAM_EFFICIENCY);
	out->resource_ns[PERF_LATENCY] = latency_ns(g, plan, counts, out->waves);

	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++)
		if (out->resource_ns[r] > out->resource_ns[out->bottleneck])
			out->bottleneck = (enum perf_resource)r;
	out->kernel_ns = g->launch_overhead_ns + out->resource_ns[out->bottleneck];
}

/* --- roofline --------------------------------------------------------------------------------- */

static double attainable(double peak_gflops, double gbs, double flop_per_byte)
{
	if (!(flop_per_byte > 0))
		return 0;
	return fmin(peak_gflops, flop_per_byte * gbs);
}

double roof_attainable_gflops(const struct gpu_spec *g, double flop_per_byte)
{
	return attainable(g->fp32_gflops, g->dram_gbs, flop_per_byte);
}

enum roof_verdict roof_classify(const struct gpu_spec *g, double flop_per_byte,
                                double achieved_gflops)
{
	const bool near = achieved_gflops >= 0.5 * roof_attainable_gflops(g, flop_per_byte);
	if (flop_per_byte < gpu_ridge_flop_per_byte(g))
		return near ? ROOF_MEMORY_NEAR : ROOF_MEMORY_FAR;
	return near ? ROOF_COMPUTE_NEAR : ROOF_COMPUTE_FAR;
}

const char *roof_verdict_text(enum roof_verdict v)
{
	static const char *const texts[] = {
#define X(id, verdict, advice) verdict,
		ROOF_VERDICTS(X)
#undef X
	};
	return (unsigned)v < ROOF_VERDICT_COUNT ? texts[v] : "?";
}

const char *roof_verdict_advice(enum roof_verdict v)
{
	static const char *const texts[] = {
#define X(id, verdict, advice) advice,
		ROOF_VERDICTS(X)
#undef X
	};
	return (unsigned)v < ROOF_VERDICT_COUNT ? texts[v] : "?";
}

/* --- metrics ---------------------------------------------------------------------------------- */

/* A figure made of two: what both are, else a model. */
static enum origin both(enum origin a, enum origin b)
{
	return a == b ? a : ORIGIN_MODELLED;
}

/* Keeps what a GPU measured. */
static bool measured(const struct metric_set *m, enum metric_id id)
{
	return m->v[id].origin == ORIGIN_MEASURED;
}

static void cache_metric(struct metric_set *m, enum metric_id id, const struct run_counts *c,
                         double value)
{
	if (measured(m, id))
		return;
	if (!c || !(value >= 0))
		metric_none(m, id, "no cache simulation and no counter for this run");
	else
		metric_num(m, id, c->origin == ORIGIN_MEASURED ? ORIGIN_MEASURED : ORIGIN_MODELLED,
		           value);
}

static void time_metrics(struct metric_set *m, const struct run_counts *c,
                         const struct perf_result *p)
{
	const char *why = !c ? "nothing was counted, so no time can be modelled"
	                     : "this block cannot launch on this GPU";
	const bool modelled = c && p->kernel_ns > 0;

	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++) {
		const enum metric_id id = resources[r].metric;
		const bool unknown = modelled && ((r == PERF_L2 && !(c->l2_sectors >= 0)) ||
		                                  (r == PERF_DRAM && !(c->dram_read_bytes >= 0 &&
		                                                       c->dram_write_bytes >= 0)));
		if (!modelled)
			metric_none(m, id, why);
		else if (unknown)
			metric_none(m, id, "no cache simulation and no counter for this run");
		else
			metric_num(m, id, ORIGIN_MODELLED, p->resource_ns[r]);
	}
	if (modelled) {
		metric_text(m, M_TIME_BOTTLENECK, ORIGIN_MODELLED,
		            perf_resource_name(p->bottleneck));
		metric_num(m, M_TIME_TAIL, ORIGIN_MODELLED, p->tail_factor);
	} else {
		metric_none(m, M_TIME_BOTTLENECK, why);
		metric_none(m, M_TIME_TAIL, why);
	}
	if (measured(m, M_TIME_KERNEL))
		return;
	if (modelled)
		metric_num(m, M_TIME_KERNEL, ORIGIN_MODELLED, p->kernel_ns);
	else
		metric_none(m, M_TIME_KERNEL, why);
}

/* FLOP of the run: as counted or measured; else the algorithm's own count; negative = unknown. */
struct work {
	double flop;
	enum origin origin;
	bool fp64; /* most of it is double precision */
	const char *why;
};

static struct work work_of(const struct metric_set *m, const struct run_counts *c,
                           const struct kernel_cost *cost)
{
	static const enum metric_id ids[] = { M_FLOP_FP16, M_FLOP_FP32, M_FLOP_FP64 };
	struct work w = { .origin = ORIGIN_NONE };
	unsigned known = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!metric_known(m, ids[i]))
			continue;
		w.flop += m->v[ids[i]].num;
		w.origin = known++ ? both(w.origin, m->v[ids[i]].origin) : m->v[ids[i]].origin;
	}
	if (known) {
		double d = metric_known(m, M_FLOP_FP64) ? m->v[M_FLOP_FP64].num : 0;
		w.fp64 = d > 0.5 * w.flop;
	} else if (c && c->origin != ORIGIN_NONE) {
		w.flop =
			(double)c->total.flop16 + (double)c->total.flop32 + (double)c->total.flop64;
		w.fp64 = (double)c->total.flop64 > 0.5 * w.flop;
		w.origin = c->origin;
	} else if (cost && cost->flop > 0) {
		w.flop = cost->flop;
		w.origin = ORIGIN_MODELLED;
	} else {
		w.why = "floating-point operations were not counted";
		return w;
	}
	if (!(w.flop > 0)) {
		w.origin = ORIGIN_NONE;
		w.why = "no floating-point operation executed";
	}
	return w;
}

static void book_metrics(struct metric_set *m, const struct gpu_spec *g,
                         const struct kernel_cost *cost)
{
	if (!cost || !(cost->book_bytes > 0) || !(cost->book_flop >= 0)) {
		metric_none(m, M_ROOF_BOOK_AI, "the book gives no figure for this kernel");
		metric_none(m, M_ROOF_BOOK_ATTAINABLE, "the book gives no figure for this kernel");
		return;
	}
	const double ai = cost->book_flop / cost->book_bytes;
	metric_num(m, M_ROOF_BOOK_AI, ORIGIN_BOOK, ai);
	metric_num(m, M_ROOF_BOOK_ATTAINABLE, ORIGIN_BOOK, roof_attainable_gflops(g, ai));
}

static void roof_metrics(struct metric_set *m, const struct gpu_spec *g, const struct work *w)
{
	static const enum metric_id point[] = { M_ROOF_AI, M_ROOF_ATTAINABLE, M_ROOF_BOUND,
		                                M_ROOF_PCT };
	const double read = metric_get(m, M_DRAM_READ), write = metric_get(m, M_DRAM_WRITE);
	const double bytes = read + write; /* NAN when one is unknown */
	const double ns = metric_get(m, M_TIME_KERNEL);
	const char *why = NULL;

	if (isfinite(bytes) && ns > 0)
		metric_num(m, M_DRAM_GBS,
		           both(both(m->v[M_DRAM_READ].origin, m->v[M_DRAM_WRITE].origin),
		                m->v[M_TIME_KERNEL].origin),
		           bytes / ns);
	else
		metric_none(m, M_DRAM_GBS,
		            isfinite(bytes)            ? m->v[M_TIME_KERNEL].reason
		            : m->v[M_DRAM_READ].reason ? m->v[M_DRAM_READ].reason
		                                       : m->v[M_DRAM_WRITE].reason);

	if (w->origin == ORIGIN_NONE)
		metric_none(m, M_ROOF_ACHIEVED, w->why);
	else if (!(ns > 0))
		metric_none(m, M_ROOF_ACHIEVED, m->v[M_TIME_KERNEL].reason);
	else
		metric_num(m, M_ROOF_ACHIEVED, both(w->origin, m->v[M_TIME_KERNEL].origin),
		           w->flop / ns);

	if (w->origin == ORIGIN_NONE)
		why = w->why;
	else if (!isfinite(bytes))
		why = "bytes to and from DRAM are not known";
	else if (bytes < 1)
		why = "no byte went to or from DRAM: the data stayed in the caches";
	if (why) {
		for (unsigned i = 0; i < 4; i++)
			metric_none(m, point[i], why);
		return;
	}
	const double ai = w->flop / bytes;
	const double peak = w->fp64 ? g->fp64_gflops : g->fp32_gflops;
	const double roof = attainable(peak, g->dram_gbs, ai);
	metric_num(m, M_ROOF_AI,
	           both(w->origin, both(m->v[M_DRAM_READ].origin, m->v[M_DRAM_WRITE].origin)), ai);
	metric_num(m, M_ROOF_ATTAINABLE, ORIGIN_MODELLED, roof);
	metric_text(m, M_ROOF_BOUND, ORIGIN_MODELLED,
	            ai * g->dram_gbs < peak ? "memory (DRAM)"
	            : w->fp64               ? "compute (FP64)"
	                                    : "compute (FP32)");
	if (metric_known(m, M_ROOF_ACHIEVED) && roof > 0)
		metric_num(m, M_ROOF_PCT, ORIGIN_MODELLED,
		           100 * metric_get(m, M_ROOF_ACHIEVED) / roof);
	else
		metric_none(m, M_ROOF_PCT, m->v[M_ROOF_ACHIEVED].reason);
}

void perf_metrics(struct metric_set *m, const struct gpu_spec *g, const struct launch_plan *plan,
                  const struct occ_result *occ, const struct run_counts *counts,
                  const struct kernel_cost *cost, struct perf_result *out)
{
	if (counts)
		perf_time(g, plan, occ, counts, out);
	else
		memset(out, 0, sizeof *out);
	cache_metric(m, M_DRAM_READ, counts, counts ? counts->dram_read_bytes : -1);
	cache_metric(m, M_DRAM_WRITE, counts, counts ? counts->dram_write_bytes : -1);
	cache_metric(m, M_L2_SECTORS, counts, counts ? counts->l2_sectors : -1);
	time_metrics(m, counts, out);
	const struct work w = work_of(m, counts, cost);
	roof_metrics(m, g, &w);
	book_metrics(m, g, cost);
}

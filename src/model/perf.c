/*
 * Roofline and the metrics of time and roofline; see perf.h. Knows counts, times and data sheets;
 * no kernel, back end or screen.
 *
 * Reference: Williams, Waterman, Patterson 2009 (PMPP 5.1).
 */
#include "model/perf.h"
#include "base/text.h"
#include "model/time_range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Chosen wide, not measured. */
#define UNKNOWN_WAIT_LOW 0.5
#define UNKNOWN_WAIT_HIGH 3
#define NEAR_ROOF_PCT 50 /* of what is attainable: from here on the roof is what holds a kernel */

#define NEEDS_1(a) (1ull << COUNT_##a)
#define NEEDS_2(a, b) (NEEDS_1(a) | NEEDS_1(b))
/* The counts that each time is made of. */
#define NEEDS_ISSUE NEEDS_1(warp_executed)
#define NEEDS_FP32 NEEDS_1(fp32_inst)
#define NEEDS_FP64 NEEDS_1(fp64_inst)
#define NEEDS_INT NEEDS_1(int_inst)
#define NEEDS_SFU NEEDS_1(sfu_inst)
#define NEEDS_LSU (NEEDS_2(ld_requests, ld_lines) | NEEDS_2(st_lines, atom_sectors))
#define NEEDS_SHARED NEEDS_2(shared_ld_wavefronts, shared_st_wavefronts)
#define NEEDS_L2 NEEDS_1(l2_sectors)
#define NEEDS_DRAM NEEDS_2(dram_read_bytes, dram_write_bytes)
#define NEEDS_LATENCY NEEDS_1(warp_executed)
#define NEEDS_PAGES NEEDS_1(warp_executed)
#define NEEDS_HOST NEEDS_2(host_read_bytes, host_write_bytes)
#define NEEDS_TENSOR NEEDS_1(warp_executed)
#define NEEDS_ADU NEEDS_1(warp_executed)

static const struct {
	const char *name, *about;
	enum metric_id metric;
	uint64_t needs; /* bit = enum count_id */
} resources[PERF_RESOURCE_COUNT] = {
#define X(id, name_, about_) \
	[PERF_##id] = { .name = name_, .about = about_, .metric = M_TIME_##id, .needs = NEEDS_##id },
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

/* --- roofline --- */

static double attainable(double peak_gflops, double gbs, double flop_per_byte)
{
	if (!(flop_per_byte > 0))
		return 0;
	return fmin(peak_gflops, flop_per_byte * gbs);
}

double roof_peak_gflops(const struct gpu_spec *g, const struct kernel_cost *cost)
{
	const double tensor = cost && cost->tensor == TENSOR_F16    ? g->fp16_tensor_gflops
	                      : cost && cost->tensor == TENSOR_TF32 ? g->tf32_tensor_gflops
	                                                            : 0;
	return tensor > 0 ? tensor : g->fp32_gflops;
}

double roof_attainable_gflops(const struct gpu_spec *g, double flop_per_byte)
{
	return attainable(g->fp32_gflops, g->dram_gbs, flop_per_byte);
}

enum roof_verdict roof_classify(const struct gpu_spec *g, double flop_per_byte,
                                double achieved_gflops)
{
	const bool near =
		100 * achieved_gflops >= NEAR_ROOF_PCT * roof_attainable_gflops(g, flop_per_byte);
	if (flop_per_byte < gpu_ridge_flop_per_byte(g))
		return near ? ROOF_MEMORY_NEAR : ROOF_MEMORY_FAR;
	return near ? ROOF_COMPUTE_NEAR : ROOF_COMPUTE_FAR;
}

const char *roof_verdict_text(enum roof_verdict v)
{
	static const char *const texts[] = { ROOF_VERDICTS(LIST_NAME) };
	return (unsigned)v < ROOF_VERDICT_COUNT ? texts[v] : "?";
}

const char *roof_verdict_advice(enum roof_verdict v)
{
	static const char *const texts[] = { ROOF_VERDICTS(LIST_ABOUT) };
	return (unsigned)v < ROOF_VERDICT_COUNT ? texts[v] : "?";
}

/* --- metrics --- */

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

/* The first count that a resource's time needs and that is not known; COUNT_ID_COUNT = none. */
static enum count_id missing_count(const struct run_counts *c, enum perf_resource r)
{
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++)
		if (resources[r].needs >> id & 1 && !run_counts_known(c, id))
			return id;
	return COUNT_ID_COUNT;
}

/* How long blocks wait for each other in loops is not known, and little of what malloc and printf
 * take: of its sizes tests/gpu/micro/heap.cu has one that takes nine times as long. */
static struct time_range range_of(const struct run_counts *c, enum perf_resource bottleneck)
{
	struct time_range range = time_range(bottleneck);
	double calls = 0;
	for (unsigned i = 0; i < c->n_regions; i++)
		calls += c->regions[i].call_ns;
	if (c->spins || calls > 0) {
		range.low = fmin(range.low, UNKNOWN_WAIT_LOW);
		range.high = fmax(range.high, UNKNOWN_WAIT_HIGH);
	}
	return range;
}

static void time_metrics(struct metric_set *m, const struct gpu_spec *g, const struct run_counts *c,
                         const struct perf_result *p)
{
	const char *why = !c ? "nothing was counted, so no time can be modelled"
	                     : "this block cannot launch on this GPU";
	const bool modelled = c && p->kernel_ns > 0;

	for (unsigned r = 0; r < PERF_RESOURCE_COUNT; r++) {
		const enum metric_id id = resources[r].metric;
		const enum count_id missing =
			modelled ? missing_count(c, (enum perf_resource)r) : COUNT_ID_COUNT;
		if (!modelled)
			metric_none(m, id, why);
		else if (r == PERF_TENSOR && !c->n_regions)
			metric_none(m, id, "products of matrices are known where the emulator ran them");
		else if (r == PERF_ADU && !c->n_regions)
			metric_none(m, id, "places of constants are known where the emulator asked for them");
		else if (missing != COUNT_ID_COUNT)
			metric_none(m, id, count_why(&c->of_total, missing));
		else
			metric_num(m, id, ORIGIN_MODELLED, p->resource_ns[r]);
	}
	if (modelled) {
		metric_text(m, M_TIME_BOTTLENECK, ORIGIN_MODELLED, perf_resource_name(p->bottleneck));
		metric_num(m, M_TIME_TAIL, ORIGIN_MODELLED, p->tail_factor);
	} else {
		metric_none(m, M_TIME_BOTTLENECK, why);
		metric_none(m, M_TIME_TAIL, why);
	}
	/* else the reason why nobody measured it stays */
	if (!measured(m, M_OCC_ACHIEVED) && modelled && p->resident_warps > 0 &&
	    missing_count(c, PERF_ISSUE) == COUNT_ID_COUNT &&
	    missing_count(c, PERF_LSU) == COUNT_ID_COUNT)
		metric_num(m, M_OCC_ACHIEVED, ORIGIN_MODELLED,
		           100 * p->resident_warps / gpu_max_warps_per_sm(g));
	if (!measured(m, M_TIME_KERNEL) && modelled) {
		const struct time_range range = range_of(c, p->bottleneck);
		metric_num(m, M_TIME_KERNEL, ORIGIN_MODELLED, p->kernel_ns);
		metric_num(m, M_TIME_LOW, ORIGIN_MODELLED, range.low * p->kernel_ns);
		metric_num(m, M_TIME_HIGH, ORIGIN_MODELLED, range.high * p->kernel_ns);
		return;
	}
	if (measured(m, M_TIME_KERNEL))
		why = "the time is measured: only a modelled one has a range";
	else
		metric_none(m, M_TIME_KERNEL, why);
	metric_none(m, M_TIME_LOW, why);
	metric_none(m, M_TIME_HIGH, why);
}

/* FLOP of the run: as counted or measured; else the algorithm's own count, as always of tensor
 * cores, whose operations no counter here has; negative = unknown. */
struct work {
	double flop;
	enum origin origin;
	bool fp64; /* most of it is double precision */
	enum tensor_input tensor;
	const char *why;
};

static struct work work_of(const struct metric_set *m, const struct kernel_cost *cost)
{
	static const enum metric_id ids[] = { M_FLOP_FP16, M_FLOP_FP32, M_FLOP_FP64 };
	struct work w = { .origin = ORIGIN_NONE, .tensor = cost ? cost->tensor : TENSOR_NONE };
	unsigned known = 0;
	if (w.tensor) {
		w.flop = cost->flop;
		w.origin = ORIGIN_MODELLED;
		return w;
	}
	for (unsigned i = 0; i < 3; i++) {
		if (!metric_known(m, ids[i]))
			continue;
		w.flop += m->v[ids[i]].num;
		w.origin = known++ ? both(w.origin, m->v[ids[i]].origin) : m->v[ids[i]].origin;
	}
	if (known) {
		double d = metric_known(m, M_FLOP_FP64) ? m->v[M_FLOP_FP64].num : 0;
		w.fp64 = d > 0.5 * w.flop;
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
	metric_num(m, M_ROOF_BOOK_ATTAINABLE, ORIGIN_BOOK,
	           attainable(roof_peak_gflops(g, cost), g->dram_gbs, ai));
}

/* The roof of @over lies above the point, of tensor cores that of inputs @tensor. It binds a kernel
 * that comes near it, or whose bottleneck it is; far below, something that no roof shows does. */
static void bound_metric(struct metric_set *m, enum perf_resource over, enum tensor_input tensor)
{
	const char *const roof = over == PERF_DRAM       ? "memory (DRAM)"
	                         : over == PERF_FP64     ? "compute (FP64)"
	                         : over == PERF_FP32     ? "compute (FP32)"
	                         : tensor == TENSOR_TF32 ? "compute (TF32 tensor)"
	                                                 : "compute (FP16 tensor)";
	const bool far = metric_get(m, M_ROOF_PCT) < NEAR_ROOF_PCT;
	const char *const decides = m->v[M_TIME_BOTTLENECK].text;
	char text[sizeof m->v[M_ROOF_BOUND].text];
	if (far && metric_known(m, M_TIME_BOTTLENECK) && strcmp(decides, perf_resource_name(over))) {
		snprintf(text, sizeof text, "neither roof: %.40s decides", decides);
		metric_text(m, M_ROOF_BOUND, ORIGIN_MODELLED, text);
	} else {
		metric_text(m, M_ROOF_BOUND, ORIGIN_MODELLED, roof);
	}
}

static void roof_metrics(struct metric_set *m, const struct gpu_spec *g,
                         const struct kernel_cost *cost, const struct work *w)
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
		metric_num(m, M_ROOF_ACHIEVED, both(w->origin, m->v[M_TIME_KERNEL].origin), w->flop / ns);

	if (w->origin == ORIGIN_NONE)
		why = w->why;
	else if (!isfinite(bytes))
		why = "bytes to and from DRAM are not known";
	else if (bytes < 1 && metric_get(m, M_HOST_READ) + metric_get(m, M_HOST_WRITE) > 0)
		why = "no byte went to or from DRAM: the data lies in the host's memory";
	else if (bytes < 1)
		why = "no byte went to or from DRAM: the data stayed in the caches";
	if (why) {
		for (unsigned i = 0; i < 4; i++)
			metric_none(m, point[i], why);
		return;
	}
	const double ai = w->flop / bytes;
	const double peak = w->fp64 ? g->fp64_gflops : roof_peak_gflops(g, cost);
	const double roof = attainable(peak, g->dram_gbs, ai);
	metric_num(m, M_ROOF_AI,
	           both(w->origin, both(m->v[M_DRAM_READ].origin, m->v[M_DRAM_WRITE].origin)), ai);
	metric_num(m, M_ROOF_ATTAINABLE, ORIGIN_MODELLED, roof);
	if (metric_known(m, M_ROOF_ACHIEVED) && roof > 0)
		metric_num(m, M_ROOF_PCT, ORIGIN_MODELLED, 100 * metric_get(m, M_ROOF_ACHIEVED) / roof);
	else
		metric_none(m, M_ROOF_PCT, m->v[M_ROOF_ACHIEVED].reason);
	bound_metric(m,
	             ai * g->dram_gbs < peak ? PERF_DRAM
	             : w->fp64               ? PERF_FP64
	             : w->tensor             ? PERF_TENSOR
	                                     : PERF_FP32,
	             w->tensor);
}

/* The busiest of @n resources as a share of the kernel's time; never less than @least. */
static void share_metric(struct metric_set *m, enum metric_id id, double least, unsigned n,
                         const enum perf_resource *of)
{
	double most = 0;
	for (unsigned i = 0; i < n; i++) {
		const enum metric_id time = resources[of[i]].metric;
		if (!metric_known(m, time)) {
			metric_none(m, id, m->v[time].reason);
			return;
		}
		most = fmax(most, metric_get(m, time));
	}
	metric_num(m, id, ORIGIN_MODELLED, fmax(least, 100 * most / metric_get(m, M_TIME_KERNEL)));
}

/* What Nsight Compute calls the speed of light: how much of its peak each part was busy. DRAM's is
 * of the bytes that moved: its time in the model has what the protocol takes, too. */
static void speed_of_light(struct metric_set *m, const struct gpu_spec *g)
{
	static const enum perf_resource caches[] = { PERF_L2, PERF_LSU, PERF_SHARED };
	static const enum perf_resource compute[] = { PERF_ISSUE, PERF_FP32, PERF_FP64,
		                                          PERF_INT,   PERF_SFU,  PERF_TENSOR };
	static const enum metric_id ids[] = { M_SOL_MEMORY, M_SOL_DRAM,    M_SOL_L2,
		                                  M_SOL_L1,     M_SOL_COMPUTE, M_SOL_CYCLES };
	const bool moved = metric_known(m, M_DRAM_GBS);
	const double dram = moved ? 100 * metric_get(m, M_DRAM_GBS) / g->dram_gbs : 0;

	if (!metric_known(m, M_TIME_KERNEL)) {
		for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
			metric_none(m, ids[i], m->v[M_TIME_KERNEL].reason);
		return;
	}
	if (moved) {
		metric_num(m, M_SOL_DRAM, m->v[M_DRAM_GBS].origin, dram);
		share_metric(m, M_SOL_MEMORY, dram, 3, caches);
	} else {
		metric_none(m, M_SOL_DRAM, m->v[M_DRAM_GBS].reason);
		metric_none(m, M_SOL_MEMORY, m->v[M_DRAM_GBS].reason);
	}
	share_metric(m, M_SOL_L2, 0, 1, caches);
	share_metric(m, M_SOL_L1, 0, 2, caches + 1);
	/* the last one is known where the emulator ran it */
	share_metric(m, M_SOL_COMPUTE, 0, ARRAY_LEN(compute) - !metric_known(m, M_TIME_TENSOR),
	             compute);
	metric_num(m, M_SOL_CYCLES, both(m->v[M_TIME_KERNEL].origin, ORIGIN_MODELLED),
	           metric_get(m, M_TIME_KERNEL) * g->clock_mhz / 1e3);
}

void perf_metrics(struct metric_set *m, const struct gpu_spec *g, const struct run_counts *counts,
                  const struct kernel_cost *cost, const struct perf_result *time)
{
	time_metrics(m, g, counts, time);
	const struct work w = work_of(m, cost);
	roof_metrics(m, g, cost, &w);
	book_metrics(m, g, cost);
	speed_of_light(m, g);
}

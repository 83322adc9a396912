/* The ladder's arithmetic; see ladder.h. */
#include "model/ladder.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/time_range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ladder *ladder_new(const struct selection *sel)
{
	struct ladder *l = mem_zalloc(sizeof *l);
	l->sel = *sel;
	l->kernel = sel->kernel;
	l->gpu = l->sel.gpu;
	l->library_ns = NAN;
	l->running = -1;
	for (unsigned v = 0; v < sel->kernel->n_variants && l->n < LADDER_MAX; v++)
		if (!sel->kernel->variants[v].wrong)
			l->rungs[l->n++].variant = &sel->kernel->variants[v];
	ladder_compare(l);
	return l;
}

void ladder_free(struct ladder *l)
{
	for (unsigned i = 0; l && i < l->n; i++)
		record_free(l->rungs[i].record);
	free(l);
}

struct selection ladder_selection(const struct ladder *l, unsigned i)
{
	struct selection sel = l->sel;
	sel.variant = (unsigned)(l->rungs[i].variant - l->kernel->variants);
	return sel;
}

bool ladder_fits(const struct ladder *l, const struct selection *sel)
{
	if (l->kernel != sel->kernel)
		return false;
	for (unsigned i = 0; i < l->n; i++) {
		const struct selection rung = ladder_selection(l, i);
		struct selection other = *sel;
		other.variant = rung.variant;
		if (!selection_equal(&rung, &other))
			return false;
	}
	return true;
}

/* What a rung needs of a record: its figures. */
static struct run_record *brief(const struct run_record *r)
{
	struct run_record *b = mem_alloc(sizeof *b);
	*b = *r;
	b->run.counts = (struct run_counts){ .origin = r->run.counts.origin,
		                                 .blocks_run = r->run.counts.blocks_run,
		                                 .blocks_total = r->run.counts.blocks_total };
	b->program = NULL;
	b->timeline = NULL;
	b->run.n_spans = 0;
	b->run.spans = NULL;
	b->run.printed = NULL;
	b->run.printed_bytes = 0;
	b->code = NULL;
	b->data = NULL;
	return b;
}

bool ladder_put(struct ladder *l, const struct run_record *r)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct selection rung = ladder_selection(l, i);
		if (r->sel.kernel != l->kernel || !selection_equal(&rung, &r->sel))
			continue;
		record_free(l->rungs[i].record);
		l->rungs[i].record = brief(r);
		l->rungs[i].why[0] = '\0';
		l->in_bytes = ladder_in_bytes(&r->cost);
		ladder_compare(l);
		return true;
	}
	return false;
}

void ladder_adopt(struct ladder *l, struct ladder *from)
{
	for (unsigned i = 0; i < l->n; i++)
		for (unsigned k = 0; k < from->n && l->kernel == from->kernel; k++) {
			const struct selection mine = ladder_selection(l, i);
			const struct selection other = ladder_selection(from, k);
			if (!from->rungs[k].record || !selection_equal(&mine, &other))
				continue;
			record_free(l->rungs[i].record);
			l->rungs[i].record = from->rungs[k].record;
			l->in_bytes = from->in_bytes;
			from->rungs[k].record = NULL;
		}
	ladder_compare(l);
}

int ladder_missing(const struct ladder *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!l->rungs[i].record && !l->rungs[i].why[0])
			return (int)i;
	return -1;
}

bool ladder_in_bytes(const struct kernel_cost *cost)
{
	return cost->min_bytes > 0 && cost->flop < cost->min_bytes;
}

/* What feeds each resource of the time model, in plain words. */
static const struct {
	enum perf_resource resource;
	enum metric_id metric;
	const char *words;
} feeds[] = {
	{ PERF_ISSUE, M_INST_WARP, "instructions" },
	{ PERF_INT, M_INST_WARP, "instructions" },
	{ PERF_FP32, M_FLOP_FP32, "FP32 operations" },
	{ PERF_FP64, M_FLOP_FP64, "FP64 operations" },
	{ PERF_LSU, M_MEM_LD_REQ, "global loads" },
	{ PERF_LSU, M_MEM_LD_SEC, "load sectors" },
	{ PERF_LSU, M_MEM_ST_SEC, "store sectors" },
	{ PERF_SHARED, M_SH_LD_WAVE, "shared wavefronts" },
	{ PERF_SHARED, M_SH_ST_WAVE, "shared store wavefronts" },
	{ PERF_L2, M_L2_SECTORS, "L2 sectors" },
	{ PERF_DRAM, M_DRAM_READ, "DRAM bytes read" },
	{ PERF_DRAM, M_DRAM_WRITE, "DRAM bytes written" },
	{ PERF_LATENCY, M_LAUNCH_GRID_BLOCKS, "blocks in flight" },
	{ PERF_LATENCY, M_INST_RATIO, "active lanes" },
	{ PERF_LATENCY, M_OCC_PCT, "occupancy" },
};

#define SAME_TIME 0.02 /* log of times that count as equal */

/* log(is / was); NAN when either is unknown or zero, or they are not of one kind. */
static double change(const struct run_record *was, const struct run_record *is, enum metric_id id)
{
	if (metric_catalogue[id].depends == METRIC_OF_CODE &&
	    run_result_of_machine_code(&was->run) != run_result_of_machine_code(&is->run))
		return NAN; /* other instructions were counted */
	const double a = metric_get(&was->metrics, id);
	const double b = metric_get(&is->metrics, id);
	return a > 0 && b > 0 ? log(b / a) : NAN;
}

static void say(const char *words, double log_ratio, char *out, size_t n)
{
	char num[32];
	const double r = exp(fabs(log_ratio));
	if (r < 1.095)
		snprintf(out, n, "%s %s %s %%", words, log_ratio < 0 ? "-" : "+",
		         fmt_num(num, sizeof num, 100 * fabs(exp(log_ratio) - 1), 2));
	else
		snprintf(out, n, "%s %s %s", words, log_ratio < 0 ? "÷" : "×",
		         fmt_num(num, sizeof num, r, r < 10 ? 2 : 3));
}

/* How a figure's change bears on the time: above 0 for the better. */
static double gain(const struct run_record *was, const struct run_record *is, size_t feed)
{
	const double d = change(was, is, feeds[feed].metric);
	return feeds[feed].resource == PERF_LATENCY ? d : -d;
}

/* The feed of @of (PERF_RESOURCE_COUNT: of any) that moved most in the direction @sign (0: in
 * either) and by @least; ARRAY_LEN(feeds) = none. */
static size_t most_moved(const struct run_record *was, const struct run_record *is,
                         enum perf_resource of, int sign, double least)
{
	size_t best = ARRAY_LEN(feeds);
	for (size_t i = 0; i < ARRAY_LEN(feeds); i++) {
		const double g = gain(was, is, i), by = sign ? sign * g : fabs(g);
		if ((of == PERF_RESOURCE_COUNT || of == feeds[i].resource) && by > least) {
			best = i;
			least = by;
		}
	}
	return best;
}

/* The same instructions in other registers: a tenth less of waits for banks, or more, where those
 * are cycles enough to matter, in the direction of the time. */
static bool conflicts_moved(const struct run_record *was, const struct run_record *is, int sign)
{
	const double by = change(was, is, M_REG_CONFLICTS);
	const double cycles =
		metric_get(&is->metrics, M_REG_CONFLICTS) - metric_get(&was->metrics, M_REG_CONFLICTS);
	return fabs(by) > 0.095 && sign * by <= 0 &&
	       fabs(cycles) > 0.02 * metric_get(&was->metrics, M_INST_WARP);
}

void ladder_moved(const struct run_record *was, const struct run_record *is, char *out, size_t n)
{
	const double faster = times_apart(&was->metrics, &is->metrics, TIME_STEP_VARIANT)
	                          ? -change(was, is, M_TIME_KERNEL)
	                          : 0;
	const int sign = faster > SAME_TIME ? 1 : faster < -SAME_TIME ? -1 : 0;
	/* a gain comes from what fed the old bottleneck, a loss from what feeds the new one; but what
	 * moved by a tenth does not explain a third of the time */
	const struct perf_result *held = sign < 0 ? &is->perf : &was->perf;
	const double least = fmax(0.095, 0.25 * fabs(faster));
	size_t best = most_moved(was, is, held->bottleneck, sign < 0 ? -1 : 1, least);
	if (best == ARRAY_LEN(feeds) && conflicts_moved(was, is, sign)) {
		say("register-bank conflicts", change(was, is, M_REG_CONFLICTS), out, n);
		return;
	}
	if (best == ARRAY_LEN(feeds))
		best = most_moved(was, is, PERF_RESOURCE_COUNT, sign, 0.005);
	if (best == ARRAY_LEN(feeds))
		snprintf(out, n, "nothing that is counted");
	else
		say(feeds[best].words, change(was, is, feeds[best].metric), out, n);
}

static double library_rate(const struct ladder *l, const struct kernel_cost *cost)
{
	if (!(l->library_ns > 0))
		return NAN;
	return (l->in_bytes ? cost->min_bytes : cost->flop) / l->library_ns;
}

void ladder_compare(struct ladder *l)
{
	const struct ladder_rung *first = NULL;
	const struct ladder_rung *previous = NULL;
	for (unsigned i = 0; i < l->n; i++) {
		struct ladder_rung *r = &l->rungs[i];
		r->time_ns = r->rate = r->pct_of_roof = r->pct_of_library = NAN;
		r->speedup_first = r->speedup_previous = NAN;
		r->moved[0] = '\0';
		r->apart = false;
		if (!r->record)
			continue;
		const struct kernel_cost *cost = &r->record->cost;
		r->time_ns = metric_get(&r->record->metrics, M_TIME_KERNEL);
		r->rate = (l->in_bytes ? cost->min_bytes : cost->flop) / r->time_ns;
		r->pct_of_roof =
			100 * r->rate / (l->in_bytes ? l->gpu->dram_gbs : roof_peak_gflops(l->gpu, cost));
		r->pct_of_library = 100 * r->rate / library_rate(l, cost);
		if (previous) {
			r->speedup_previous = previous->time_ns / r->time_ns;
			r->apart =
				times_apart(&previous->record->metrics, &r->record->metrics, TIME_STEP_VARIANT);
			ladder_moved(previous->record, r->record, r->moved, sizeof r->moved);
		}
		if (first)
			r->speedup_first = first->time_ns / r->time_ns;
		else
			first = r;
		previous = r;
	}
}

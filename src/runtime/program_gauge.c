/*
 * The metrics of a launch on a real GPU: its measured time, what the driver says of it, and the
 * counters where they were read; see program_measured.h. Ratios by the model's formulas, as of a
 * kernel's own run.
 */
#include "runtime/program_measured.h"

#include "base/mem.h"
#include "cuda/cuda_result.h"
#include "model/perf.h"
#include "timemodel/kernel_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_CAP ((1u << CUDA_MAX_CAPS) - 1)

/* What the launch itself says, and its machine code or the driver of registers. */
static void facts(const struct program *p, struct program_launch *l, const struct launch_plan *plan)
{
	const struct program_kernel *k = &p->kernels[l->kernel];
	const uint64_t blocks = (uint64_t)plan->grid.x * plan->grid.y * plan->grid.z;
	const unsigned threads = plan->block.x * plan->block.y * plan->block.z;
	struct metric_set *m = l->metrics;
	const struct occ_input in = {
		.block_threads = threads,
		.regs_per_thread = program_kernel_registers(k),
		.static_shared_bytes = k->static_shared_bytes,
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
		.barriers = 1,
	};
	metric_num(m, M_LAUNCH_GRID_BLOCKS, ORIGIN_MEASURED, (double)blocks);
	metric_num(m, M_LAUNCH_BLOCK_THREADS, ORIGIN_MEASURED, threads);
	metric_num(m, M_LAUNCH_SHARED, ORIGIN_MEASURED,
	           (double)k->static_shared_bytes + l->dynamic_shared_bytes);
	metric_num(m, M_LAUNCH_LOCAL, ORIGIN_MEASURED, k->local_bytes);
	if (k->registers)
		metric_num(m, M_LAUNCH_REGISTERS, k->code_read ? ORIGIN_COUNTED : ORIGIN_MEASURED,
		           k->registers);
	else
		metric_none(m, M_LAUNCH_REGISTERS,
		            "CUPTI tells only how many are allocated; --launch N asks the driver, too");
	if (!occ_compute(p->gpu, &in, &l->occ, NULL))
		memset(&l->occ, 0, sizeof l->occ);
	occ_metrics(m, p->gpu, &l->occ, blocks);
}

void gauge_launch(const struct program *p, struct program_launch *l,
                  const struct record_measured *c, const char *why)
{
	struct cuda_report *r = mem_zalloc(sizeof *r);
	struct run_result res;
	struct perf_result perf = { 0 };
	const struct launch_plan plan = {
		.grid = { l->grid[0], l->grid[1], l->grid[2] },
		.block = { l->block[0], l->block[1], l->block[2] },
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
	};
	for (unsigned id = 0; c && id < METRIC_COUNT; id++) {
		r->metric[id] = c->metric[id];
		r->metric_why[id] = c->why[id] < FAULT_COUNT ? c->why[id] : FAULT_OTHER;
		if (!isfinite(r->metric[id]) && r->metric_why[id] == FAULT_NONE)
			r->metric_why[id] = FAULT_COUNTER_NAN;
	}
	if (!c)
		r->cap[CAPN_COUNTERS].id = FAULT_NOT_ASKED;
	if (!program_launch_timed(l))
		r->cap[CAPN_TIME].id = FAULT_KERNEL_FAULT;
	program_launch_timing(l, &r->run.timing);
	cuda_result(r, &plan, p->gpu, NULL, EVERY_CAP, &res);
	cuda_report_free(r);
	free(r);
	l->metrics = mem_zalloc(sizeof *l->metrics);
	*l->metrics = res.metrics;
	for (unsigned id = 0; !c && id < METRIC_COUNT; id++)
		if (l->metrics->v[id].origin == ORIGIN_NONE && id != M_TIME_KERNEL)
			metric_none(l->metrics, (enum metric_id)id, why);
	program_launch_time(l, l->metrics);
	facts(p, l, &plan);
	if (c) {
		l->counts = mem_zalloc(sizeof *l->counts);
		*l->counts = res.counts;
		res.counts = (struct run_counts){ 0 };
		kernel_time(p->gpu, &plan, &l->occ, l->counts, &perf);
	}
	perf_metrics(l->metrics, p->gpu, l->counts, NULL, &perf);
	run_result_free(&res);
}

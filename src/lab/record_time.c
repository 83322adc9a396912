/* Times of a run, put into its record; see record_time.h. */
#include "record_time.h"

#include "model/stream_plan.h"
#include "timemodel/kernel_time.h"
#include "timemodel/stream_time.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

void record_time(struct run_record *r)
{
	const bool counted = r->run.counts.origin != ORIGIN_NONE;
	r->perf = (struct perf_result){ 0 };
	if (counted)
		kernel_time(r->sel.gpu, &r->plan, &r->occ, &r->run.counts, &r->perf);
	perf_metrics(&r->metrics, r->sel.gpu, counted ? &r->run.counts : NULL, &r->cost, &r->perf);
}

static void timeline_metrics(struct run_record *r)
{
	const struct stream_outcome *o = r->timeline;
	double copies[2] = { 0, 0 }; /* up, down */
	for (unsigned i = 0; i < r->program->n_ops; i++) {
		const enum stream_op_kind kind = r->program->ops[i].kind;
		if (kind == SOP_H2D || kind == SOP_D2H)
			copies[kind == SOP_D2H] += o->spans[i].end_ns - o->spans[i].start_ns;
	}
	metric_num(&r->metrics, M_STREAM_H2D, o->origin, copies[0]);
	metric_num(&r->metrics, M_STREAM_D2H, o->origin, copies[1]);
	metric_num(&r->metrics, M_STREAM_SERIAL, o->origin, o->serial_ns);
	metric_num(&r->metrics, M_STREAM_MAKESPAN, o->origin, o->makespan_ns);
	metric_num(&r->metrics, M_STREAM_OVERLAP, o->origin, o->overlap_pct);
	metric_text(&r->metrics, M_STREAM_CRITICAL, o->origin, stream_engine_name(o->critical));
}

void record_timeline(struct run_record *r)
{
	const double ns = metric_get(&r->metrics, M_TIME_KERNEL);
	if (!(ns > 0)) {
		free(r->program);
		r->program = NULL;
		return;
	}
	if (!r->program)
		r->program = mem_alloc(sizeof *r->program);
	if (!r->timeline)
		r->timeline = mem_alloc(sizeof *r->timeline);
	/* a grid of less than one wave leaves room for another kernel beside it */
	const double waves = metric_get(&r->metrics, M_LAUNCH_WAVES);
	const double share = waves > 0 && waves < 1 ? waves : 1;
	kernel_stream_program(r->sel.kernel, r->sel.variant, &r->plan, r->sel.params, ns, share,
	                      r->program);
	for (unsigned i = 0; i < r->program->n_ops; i++) /* a piece is a launch of its own */
		if (r->program->ops[i].kind == SOP_KERNEL && r->program->ops[i].count)
			r->program->ops[i].time_ns =
				fmax(r->program->ops[i].time_ns, r->sel.gpu->launch_overhead_ns);
	const struct stream_rates rates = stream_rates_of(r->sel.gpu);
	struct err err = { 0 };
	if (!stream_run(r->program, r->sel.gpu, &rates, r->timeline, &err)) {
		static const enum metric_id of_timeline[] = { M_STREAM_H2D,     M_STREAM_D2H,
			                                          M_STREAM_SERIAL,  M_STREAM_MAKESPAN,
			                                          M_STREAM_OVERLAP, M_STREAM_CRITICAL };
		for (size_t i = 0; i < ARRAY_LEN(of_timeline); i++)
			metric_none(&r->metrics, of_timeline[i], intern(err.msg));
		free(r->program);
		free(r->timeline);
		r->program = NULL;
		r->timeline = NULL;
		return;
	}
	if (r->run.n_spans)
		stream_seen(r->program, r->run.spans, r->run.n_spans, r->timeline);
	stream_init_of(r->program, r->run.spans, r->run.n_spans, &r->init);
	timeline_metrics(r);
}

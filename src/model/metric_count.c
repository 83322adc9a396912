/*
 * Metrics from counts, by the formulas of metric.def. What is not known of the counts is not known
 * of the metric, with the same reason. Refuses to know how anything was counted.
 */
#include "model/counts.h"
#include "model/metric_formula.h"

#include <math.h>

static void put_value(struct metric_set *m, enum metric_id id, const struct formula *f,
                      const struct formula_input *in, enum origin o)
{
	const char *why;
	const double value = formula_value(f, in, &why);
	if (why)
		metric_none(m, id, why);
	else
		metric_num(m, id, o, value);
}

bool metric_of_lines(enum metric_id id)
{
	const struct formula *f = metric_formula(id);
	return f && formula_of_lines(f);
}

void metrics_from_counts(struct metric_set *m, const struct counts *c, const struct counted *known,
                         enum origin o)
{
	const struct formula_input in = { .counts = c, .known = known };
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		if (metric_of_lines(id))
			put_value(m, id, metric_formula(id), &in, o);
	}
}

/* Rows of metric.def in the order of CODE_CLASSES and CODE_PIPES. */
static void mix_metrics(struct metric_set *m, const struct run_counts *r)
{
	for (unsigned k = 0; k < CODE_CLASS_COUNT + CODE_PIPE_COUNT; k++) {
		const enum metric_id id = (enum metric_id)(M_INST_MIX_NONE + k);
		const uint64_t n =
			k < CODE_CLASS_COUNT ? r->mix.by_class[k] : r->mix.by_pipe[k - CODE_CLASS_COUNT];
		if (r->mix_known)
			metric_num(m, id, r->origin, (double)n);
		else
			metric_none(m, id, "only machine code tells it that the emulator runs: --level sass");
	}
}

void metrics_from_run(struct metric_set *m, const struct run_counts *r)
{
	const struct formula_input in = { .counts = &r->total, .launch = r, .known = &r->of_total };
	metrics_from_counts(m, &r->total, &r->of_total, r->origin);
	mix_metrics(m, r);
	/* figures that no line has: the emulator's come from its model of the caches */
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct formula *f = metric_formula(id);
		if (f && !formula_of_lines(f))
			put_value(m, id, f, &in,
			          r->origin == ORIGIN_MEASURED ? ORIGIN_MEASURED : ORIGIN_MODELLED);
	}
	if (r->origin != ORIGIN_SAMPLED)
		return;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (m->v[i].origin == ORIGIN_SAMPLED) {
			m->v[i].sampled = r->blocks_run;
			m->v[i].of = r->blocks_total;
		}
}

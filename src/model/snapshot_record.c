/* What follows from a record that was read: it is computed again, not kept. See snapshot_reader.h.
 */
#include "model/metric_formula.h"
#include "model/snapshot_reader.h"

/* The counts that metrics need, all of them (@known NULL) or those that are known. */
static uint64_t counts_in(const struct metric_set *known)
{
	uint64_t counts = 0;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		if (metric_formula(id) && (!known || metric_known(known, id)))
			counts |= formula_needs(metric_formula(id));
	return counts;
}

/*
 * Which counts the file's writer had. Files of the first kind do not say: the emulator counts all
 * but those that it had not learnt yet, or machine code alone tells, whose metrics then are not
 * known; hardware what the record's metrics know.
 */
static void assume_counted(struct run_counts *c, const struct metric_set *m)
{
	const char *reason = "this snapshot does not say whether it was counted";
	if (c->origin != ORIGIN_MEASURED) {
		counts_set_known(&c->of_total);
		counts_set_known(&c->of_lines);
		const uint64_t missing = counts_in(NULL) & ~counts_in(m);
		for (enum count_id id = 0; id < COUNT_FIELD_COUNT; id++)
			if (missing >> id & 1) {
				count_set_unknown(&c->of_total, id, NULL);
				count_set_unknown(&c->of_lines, id, NULL);
			}
		return;
	}
	counts_set_hardware_lines(&c->of_lines);
	const uint64_t there = counts_in(m);
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++)
		if (there >> id & 1)
			count_set_known(&c->of_total, id);
		else
			count_set_unknown(&c->of_total, id, reason);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const enum count_id count = metric_count(id);
		if (count != COUNT_ID_COUNT && !metric_known(m, id) && m->v[id].reason)
			count_set_unknown(&c->of_total, count, m->v[id].reason);
	}
}

bool snapshot_derive(struct reader *r, json_t *o, void *record)
{
	struct run_record *x = record;
	struct err why = { 0 };
	(void)o;
	assume_counted(&x->run.counts, &x->metrics);
	if (!selection_plan(&x->sel, &x->plan, &why)) {
		reader_complain(r, "selection", "this program cannot plan the launch");
		return err_prefix(r->err, "%s; ", why.msg);
	}
	x->sel.kernel->cost(x->sel.variant, &x->plan, x->sel.params, &x->cost);
	return occ_compute(x->sel.gpu, &x->occ_in, &x->occ, r->err);
}

/* A record from a snapshot, by record_tables.h; what follows from it is computed again. */
#include "model/metric_formula.h"
#include "model/snapshot_reader.h"

#include "base/mem.h"

#include <stdio.h>

/* What the record's selection implies: plan, cost, occupancy. The timeline is the caller's. */
static bool derive_record(struct reader *r, struct run_record *x)
{
	struct err why = { 0 };
	if (!selection_plan(&x->sel, &x->plan, &why)) {
		reader_complain(r, "selection", "this program cannot plan the launch");
		return err_prefix(r->err, "%s; ", why.msg);
	}
	x->sel.kernel->cost(x->sel.variant, &x->plan, x->sel.params, &x->cost);
	if (!occ_compute(x->sel.gpu, &x->occ_in, &x->occ, r->err))
		return false;
	return true;
}

/*
 * Which counts the file's writer had. Files of the first kind do not say: the emulator counts all;
 * hardware what the record's metrics know.
 */
static void assume_counted(struct run_counts *c, const struct metric_set *m)
{
	const char *reason = "this snapshot does not say whether it was counted";
	if (c->origin != ORIGIN_MEASURED) {
		counts_set_known(&c->of_total);
		counts_set_known(&c->of_lines);
		return;
	}
	counts_set_hardware_lines(&c->of_lines);
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++)
		count_set_unknown(&c->of_total, id, reason);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		const struct formula *f = metric_formula(id);
		const enum count_id count = metric_count(id);
		for (enum count_id need = 0; f && metric_known(m, id) && need < COUNT_ID_COUNT; need++)
			if (formula_needs(f) >> need & 1)
				count_set_known(&c->of_total, need);
		if (count != COUNT_ID_COUNT && !metric_known(m, id) && m->v[id].reason)
			count_set_unknown(&c->of_total, count, m->v[id].reason);
	}
}

bool snapshot_record(struct reader *r, json_t *doc, const char *key, struct run_record **out)
{
	*out = NULL;
	if (json_is_null(json_object_get(doc, key)))
		return true;
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, doc, key, JSON_OBJECT);
	if (!o)
		return false;
	struct run_record *x = mem_zalloc(sizeof *x);
	const bool ok = record_read(r, o, &record_table, x) && snapshot_selection(r, o, &x->sel) &&
	                snapshot_metrics(r, o, &x->metrics) &&
	                (!json_object_get(o, "measured") ||
	                 record_read_member(r, o, "measured", &measured_table, &x->run));
	if (ok)
		assume_counted(&x->run.counts, &x->metrics);
	if (!ok || !derive_record(r, x)) {
		record_free(x);
		return false;
	}
	*out = x;
	reader_leave(r, depth);
	return true;
}

/* A record from a snapshot: counts, spans, what a GPU measured; the rest is computed again. */
#include "model/metric_formula.h"
#include "model/snapshot_reader.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A count that is not there is zero. */
static bool read_counts(struct reader *r, json_t *from, const char *key, struct counts *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, key, JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	*x = (struct counts){ 0 };
#define X(field, ...)                       \
	if (ok && json_object_get(o, #field)) { \
		GET_L(field)                        \
	}
	COUNT_FIELDS(X)
#undef X
	if (ok)
		reader_leave(r, depth);
	return ok;
}

static bool read_access(struct reader *r, json_t *o, struct access_sample *x)
{
	int64_t whole;
	bool ok = true;
	ACCESS_FIELDS(GET)
	const json_t *offsets = json_object_get(o, "offset");
	for (size_t i = 0; ok && i < 32; i++) {
		const json_t *v = json_array_get(offsets, i);
		if (!json_is_integer(v))
			ok = reader_complain(r, "offset", "32 whole numbers are needed");
		else
			x->offset[i] = (uint64_t)json_integer_value(v);
	}
	return ok;
}

static bool read_step(struct reader *r, json_t *o, struct mask_step *x)
{
	int64_t whole;
	bool ok = true;
	STEP_FIELDS(GET)
	return ok;
}

static bool read_line(struct reader *r, json_t *o, struct line_counts *x)
{
	int64_t whole;
	bool ok = true;
	GET_U(line)
	return ok && read_counts(r, o, "counts", &x->c);
}

static bool read_span(struct reader *r, json_t *o, struct span *x)
{
	static const char *const kinds[] = {
#define X(id, name, about) name,
		SPAN_KINDS(X)
#undef X
	};
	const int kind = reader_name(r, o, "kind", kinds, (int)ARRAY_LEN(kinds));
	int64_t whole;
	bool ok = kind >= 0;
	SPAN_FIELDS(GET)
	if (ok)
		x->kind = (enum span_kind)kind;
	return ok;
}

/* A list of structs: allocates @count of them, each read by the call in EACH(item, i). */
#define READ_LIST(from, key, most, count, items, EACH)                                             \
	do {                                                                                           \
		const size_t here = r->depth;                                                              \
		json_t *list = ok ? reader_enter(r, from, key, JSON_ARRAY) : NULL;                         \
		const size_t n_list = list ? json_array_size(list) : 0;                                    \
		ok =                                                                                       \
			list != NULL && (n_list <= (most) || reader_complain(r, "", "this list is too long")); \
		if (ok) {                                                                                  \
			(items) = mem_calloc(n_list ? n_list : 1, sizeof *(items));                            \
			for (size_t i = 0; ok && i < n_list; i++)                                              \
				ok = EACH(r, json_array_get(list, i), &(items)[i]);                                \
			(count) = (unsigned)n_list;                                                            \
		}                                                                                          \
		if (ok)                                                                                    \
			reader_leave(r, here);                                                                 \
	} while (0)

static bool read_run_counts(struct reader *r, json_t *from, struct run_counts *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "counts", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	RUN_COUNTS_FIELDS(GET)
	const int origin = ok ? snapshot_origin(r, o) : -1;
	ok = origin >= 0 && read_counts(r, o, "total", &x->total);
	if (ok)
		x->origin = (enum origin)origin;
	READ_LIST(o, "lines", 100000, x->n_lines, x->lines, read_line);
	READ_LIST(o, "accesses", TRACE_MAX_ACCESSES, x->n_accesses, x->accesses, read_access);
	READ_LIST(o, "steps", TRACE_MAX_STEPS, x->n_steps, x->steps, read_step);
	if (ok)
		reader_leave(r, depth);
	return ok;
}

bool snapshot_occ_in(struct reader *r, json_t *from, struct occ_input *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "occupancy_input", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	OCC_IN_FIELDS(GET)
	if (ok)
		reader_leave(r, depth);
	return ok;
}

bool snapshot_perf(struct reader *r, json_t *from, struct perf_result *x)
{
	static const char *const names[] = {
#define X(id, name, about) name,
		PERF_RESOURCES(X)
#undef X
	};
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "perf", JSON_OBJECT);
	bool ok = o != NULL;
	PERF_FIELDS(GET)
	const int bottleneck = ok ? reader_name(r, o, "bottleneck", names, PERF_RESOURCE_COUNT) : -1;
	json_t *times = bottleneck >= 0 ? reader_enter(r, o, "resource_ns", JSON_OBJECT) : NULL;
	ok = times != NULL;
	for (int i = 0; ok && i < PERF_RESOURCE_COUNT; i++)
		ok = reader_number(r, times, names[i], &x->resource_ns[i]);
	if (ok) {
		x->bottleneck = (enum perf_resource)bottleneck;
		reader_leave(r, depth);
	}
	return ok;
}

static bool read_check(struct reader *r, json_t *from, struct check_result *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "check", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	CHECK_FIELDS(GET)
	if (ok)
		reader_leave(r, depth);
	return ok;
}

static bool read_timing(struct reader *r, json_t *from, struct run_timing *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "timing", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	TIMING_FIELDS(GET)
	if (ok)
		reader_leave(r, depth);
	return ok;
}

static bool read_loaded(struct reader *r, json_t *from, struct run_static *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, "loaded", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	LOADED_FIELDS(GET)
	if (ok)
		reader_leave(r, depth);
	return ok;
}

/* Runs in the emulator have none. */
static bool read_measured(struct reader *r, json_t *from, struct run_result *x)
{
	const size_t depth = r->depth;
	if (!json_object_get(from, "measured"))
		return true;
	json_t *o = reader_enter(r, from, "measured", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	MEASURED_FIELDS(GET)
	if (ok && json_object_get(o, "program_ns"))
		ok = reader_number(r, o, "program_ns", &x->program_ns);
	ok = ok && read_timing(r, o, &x->timing) && read_loaded(r, o, &x->loaded);
	json_t *stalls = ok ? reader_enter(r, o, "stalls", JSON_OBJECT) : NULL;
	const char *reason;
	json_t *warps;
	if (!stalls)
		return false;
	json_object_foreach(stalls, reason, warps)
	{
		if (x->n_stalls == RUN_MAX_STALLS)
			break;
		struct run_stall *s = &x->stalls[x->n_stalls++];
		snprintf(s->reason, sizeof s->reason, "%.31s", reason);
		if (!reader_number(r, stalls, reason, &s->warps))
			return false;
	}
	reader_leave(r, depth);
	return true;
}

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

static bool read_run(struct reader *r, json_t *o, struct run_result *x)
{
	bool ok = true;
	RUN_FIELDS(GET)
	return ok;
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
	const int verify = reader_name(r, o, "verify", verify_names, (int)ARRAY_LEN(verify_names));
	int64_t whole;
	bool ok = verify >= 0;
	RECORD_FIELDS(GET)
	ok = ok && read_run(r, o, &x->run) && snapshot_selection(r, o, &x->sel) &&
	     read_check(r, o, &x->check) && snapshot_occ_in(r, o, &x->occ_in) &&
	     snapshot_perf(r, o, &x->perf) && snapshot_metrics(r, o, &x->metrics) &&
	     read_run_counts(r, o, &x->run.counts) && read_measured(r, o, &x->run);
	READ_LIST(o, "spans", 1000000, x->run.n_spans, x->run.spans, read_span);
	if (ok)
		assume_counted(&x->run.counts, &x->metrics);
	if (!ok || !derive_record(r, x)) {
		record_free(x);
		return false;
	}
	x->verify = (enum verify_state)verify;
	*out = x;
	reader_leave(r, depth);
	return true;
}

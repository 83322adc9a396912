/*
 * JSON to session; see snapshot.h. Every value is checked for its type and range, and every error
 * names its place; what follows from other values is computed again.
 */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/metric_formula.h"
#include "model/snapshot.h"
#include "model/snapshot_fields.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *origin;
	char path[256];
	size_t depth; /* length of path */
	struct err *err;
	const struct snapshot_names *names;
};

static bool complain(struct reader *r, const char *key, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%s: %s%s%s: %s", r->origin, r->path,
	               r->depth && *key ? "." : "", key, what);
}

/* Goes into @key of @o, which must be of @type; the path grows until leave(). */
static json_t *enter(struct reader *r, json_t *o, const char *key, json_type type)
{
	json_t *v = json_object_get(o, key);
	if (!v || json_typeof(v) != type) {
		complain(r, key,
		         !v                    ? "is missing"
		         : type == JSON_OBJECT ? "an object is needed"
		                               : "a list is needed");
		return NULL;
	}
	r->depth += (size_t)snprintf(r->path + r->depth, sizeof r->path - r->depth, "%s%s",
	                             r->depth ? "." : "", key);
	if (r->depth >= sizeof r->path)
		r->depth = sizeof r->path - 1;
	return v;
}

static void leave(struct reader *r, size_t depth)
{
	r->depth = depth;
	r->path[depth] = '\0';
}

static bool read_number(struct reader *r, json_t *o, const char *key, double *out)
{
	const json_t *v = json_object_get(o, key);
	if (json_is_null(v))
		*out = NAN;
	else if (json_is_number(v))
		*out = json_number_value(v);
	else
		return complain(r, key, v ? "a number is needed" : "is missing");
	return true;
}

static bool read_whole(struct reader *r, json_t *o, const char *key, int64_t least, uint64_t most,
                       int64_t *out)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_integer(v))
		return complain(r, key, v ? "a whole number is needed" : "is missing");
	const json_int_t i = json_integer_value(v);
	if (i < least || (i >= 0 && (uint64_t)i > most))
		return complain(r, key, "this number is out of range");
	*out = i;
	return true;
}

static bool read_bool(struct reader *r, json_t *o, const char *key, bool *out)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_boolean(v))
		return complain(r, key, v ? "true or false is needed" : "is missing");
	*out = json_is_true(v);
	return true;
}

static const char *read_text(struct reader *r, json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_string(v)) {
		complain(r, key, v ? "text is needed" : "is missing");
		return NULL;
	}
	return json_string_value(v);
}

static bool read_chars(struct reader *r, json_t *o, const char *key, char *out, size_t n)
{
	const char *s = read_text(r, o, key);
	if (!s)
		return false;
	if (strlen(s) >= n)
		return complain(r, key, "this text is too long");
	memcpy(out, s, strlen(s) + 1);
	return true;
}

/* Index of the text in @names, which has @n; -1 with a complaint. */
static int read_name(struct reader *r, json_t *o, const char *key, const char *const *names, int n)
{
	const char *s = read_text(r, o, key);
	for (int i = 0; s && i < n; i++)
		if (!strcmp(names[i], s))
			return i;
	if (s)
		complain(r, key, "not a name this version knows");
	return -1;
}

/* The field macros of snapshot_fields.h, reading into *x from o. */
#define INTO(field) (__typeof__(x->field))whole
#define GET_D(field) ok = ok && read_number(r, o, #field, &x->field);
#define GET_B(field) ok = ok && read_bool(r, o, #field, &x->field);
#define GET_T(field) ok = ok && read_chars(r, o, #field, x->field, sizeof x->field);
#define GET_U(field)                                                                \
	if ((ok = ok && read_whole(r, o, #field, 0, (__typeof__(x->field))-1, &whole))) \
		x->field = INTO(field);
#define GET_L(field)                                                 \
	if ((ok = ok && read_whole(r, o, #field, 0, INT64_MAX, &whole))) \
		x->field = INTO(field);
#define GET_I(field)                                            \
	if ((ok = ok && read_whole(r, o, #field, -1, 127, &whole))) \
		x->field = INTO(field);
#define GET(kind, field) GET_##kind(field)

static bool read_gpu(struct reader *r, json_t *from, struct gpu_spec *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "gpu", JSON_OBJECT);
	bool ok = o != NULL;
	GET_T(id)
	GET_T(name)
	GET_T(arch)
	GET_T(chip)
	GET_B(live)
#define X(type, field, least, most, about)                           \
	if (ok) {                                                        \
		double v;                                                    \
		ok = read_number(r, o, #field, &v);                          \
		if (ok && !(v >= (double)(least) && v <= (double)(most)))    \
			ok = complain(r, #field, "this figure is out of range"); \
		if (ok)                                                      \
			x->field = (__typeof__(x->field))v;                      \
	}
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about)                             \
	if (ok && json_object_get(o, #field)) {                            \
		double v = 0;                                                  \
		ok = read_number(r, o, #field, &v) && v >= least && v <= most; \
		x->field = ok ? v : 0;                                         \
	}
	GPU_LINK_FIGURES(X)
#undef X
	json_t *sources = ok ? enter(r, o, "sources", JSON_ARRAY) : NULL;
	ok = sources != NULL;
	x->n_sources = 0;
	for (size_t i = 0; ok && i < json_array_size(sources) && i < GPU_MAX_SOURCES; i++) {
		json_t *s = json_array_get(sources, i);
		ok = read_chars(r, s, "figures", x->sources[i].figures, sizeof x->sources[i].figures) &&
		     read_chars(r, s, "text", x->sources[i].text, sizeof x->sources[i].text);
		x->n_sources++;
	}
	leave(r, depth);
	return ok;
}

#define OWN_WORDS_MAX 64
/* A person's own kernel: made again from what the snapshot carries of it. */
static bool read_own(struct reader *r, json_t *from, const struct kernel_desc **k)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "own", JSON_OBJECT);
	const char *file = o ? read_text(r, o, "file") : NULL;
	const char *source = file ? read_text(r, o, "source") : NULL;
	json_t *list = source ? enter(r, o, "launch", JSON_ARRAY) : NULL;
	const char *words[OWN_WORDS_MAX];
	struct err why = { 0 };
	if (!list)
		return false;
	const size_t n = json_array_size(list);
	for (size_t i = 0; i < n && i < OWN_WORDS_MAX; i++)
		if (!(words[i] = json_string_value(json_array_get(list, i))))
			return complain(r, "", "words are needed");
	if (n > OWN_WORDS_MAX)
		return complain(r, "", "this list is too long");
	if (!r->names->restore_user)
		return complain(r, "", "kernels of one's own are not known here");
	*k = r->names->restore_user(file, source, (unsigned)n, words, &why);
	if (!*k) {
		complain(r, "", "this launch is refused");
		return err_remedy(r->err, "%s", why.msg);
	}
	leave(r, depth);
	return true;
}

/* What write_launch() wrote into @o. */
static bool read_launch(struct reader *r, json_t *o, struct selection *sel)
{
	const char *kernel = read_text(r, o, "kernel");
	const char *variant = kernel ? read_text(r, o, "variant") : NULL;
	json_t *params = variant ? json_object_get(o, "params") : NULL;
	int64_t seed = 0;
	if (!variant || !read_whole(r, o, "seed", 0, INT64_MAX, &seed) ||
	    !read_chars(r, o, "backend", sel->backend, sizeof sel->backend))
		return false;
	sel->seed = (uint64_t)seed;
	if (!json_object_get(o, "own"))
		sel->kernel = r->names->kernel(kernel);
	else if (!read_own(r, o, &sel->kernel))
		return false;
	const int v = sel->kernel ? kernel_variant_index(sel->kernel, variant) : -1;
	if (v < 0) {
		complain(r, sel->kernel ? "variant" : "kernel", "this program has none of that name");
		return err_remedy(r->err, "open the snapshot with a version that has %s/%s", kernel,
		                  variant);
	}
	sel->variant = (unsigned)v;
	kernel_defaults(sel->kernel, sel->params);
	for (unsigned i = 0; i < sel->kernel->n_params; i++) {
		const json_t *value = json_object_get(params, sel->kernel->params[i].name);
		if (json_is_integer(value))
			sel->params[i] = json_integer_value(value);
		else if (value)
			return complain(r, "params", "whole numbers are needed");
	}
	return true;
}

static bool read_selection(struct reader *r, json_t *from, struct selection *sel)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "selection", JSON_OBJECT);
	struct gpu_spec gpu = { 0 };
	if (!o || !read_launch(r, o, sel) || !read_gpu(r, o, &gpu))
		return false;
	sel->gpu = gpu_intern(&gpu);
	leave(r, depth);
	return true;
}

static int origin_of(struct reader *r, json_t *o)
{
	static const char *const names[] = {
#define X(id, name, utf8, ascii, about) name,
		ORIGINS(X)
#undef X
	};
	return read_name(r, o, "origin", names, (int)ARRAY_LEN(names));
}

static bool read_metric(struct reader *r, json_t *o, enum metric_id id, struct metric_value *v)
{
	const int origin = origin_of(r, o);
	int64_t whole;
	if (origin < 0)
		return false;
	v->origin = (enum origin)origin;
	if (v->origin == ORIGIN_NONE) {
		v->reason = intern(json_string_value(json_object_get(o, "reason")));
		return true;
	}
	if (metric_catalogue[id].kind == METRIC_TEXT)
		return read_chars(r, o, "value", v->text, sizeof v->text);
	if (v->origin == ORIGIN_SAMPLED) {
		if (!read_whole(r, o, "sampled", 0, INT64_MAX, &whole))
			return false;
		v->sampled = (uint64_t)whole;
		if (!read_whole(r, o, "of", 0, INT64_MAX, &whole))
			return false;
		v->of = (uint64_t)whole;
	}
	return read_number(r, o, "value", &v->num);
}

static bool read_metrics(struct reader *r, json_t *from, struct metric_set *m)
{
	const size_t depth = r->depth;
	json_t *all = enter(r, from, "metrics", JSON_OBJECT);
	bool ok = all != NULL;
	metrics_clear(m, "the snapshot has no such metric");
	for (int i = 0; ok && i < METRIC_COUNT; i++) {
		const char *key = metric_catalogue[i].key;
		const size_t here = r->depth;
		if (!json_object_get(all, key))
			continue;
		json_t *o = enter(r, all, key, JSON_OBJECT);
		ok = o && read_metric(r, o, (enum metric_id)i, &m->v[i]);
		if (ok)
			leave(r, here);
	}
	if (ok)
		leave(r, depth);
	return ok;
}

static bool read_brief(struct reader *r, json_t *o, struct run_brief *x)
{
	const size_t depth = r->depth;
	const int verify = read_name(r, o, "verify", verify_names, (int)ARRAY_LEN(verify_names));
	if (verify < 0 || !read_launch(r, o, &x->sel) ||
	    !read_chars(r, o, "source", x->source, sizeof x->source) ||
	    !read_metrics(r, o, &x->metrics))
		return false;
	x->verify = (enum verify_state)verify;
	struct gpu_spec named = { 0 }; /* which sheet, without its figures */
	json_t *gpu = enter(r, o, "gpu", JSON_OBJECT);
	if (!gpu || !read_chars(r, gpu, "id", named.id, sizeof named.id) ||
	    !read_chars(r, gpu, "name", named.name, sizeof named.name) ||
	    !read_bool(r, gpu, "live", &named.live))
		return false;
	x->sel.gpu = gpu_intern(&named);
	leave(r, depth);
	return true;
}

/* Both are younger than the first snapshots. */
static bool read_briefs(struct reader *r, json_t *doc, struct session *s)
{
	if (json_object_get(doc, "history")) {
		json_t *all = enter(r, doc, "history", JSON_ARRAY);
		if (!all || json_array_size(all) > HISTORY_MAX)
			return all && complain(r, "", "this list is too long");
		if (json_array_size(all))
			s->history = mem_calloc(json_array_size(all), sizeof *s->history);
		for (; s->n_history < json_array_size(all); s->n_history++)
			if (!read_brief(r, json_array_get(all, s->n_history), &s->history[s->n_history]))
				return false;
		leave(r, 0);
	}
	if (json_object_get(doc, "ghost")) {
		json_t *o = enter(r, doc, "ghost", JSON_OBJECT);
		s->reference_run = mem_calloc(1, sizeof *s->reference_run);
		json_t *run = o ? enter(r, o, "run", JSON_OBJECT) : NULL;
		if (!run || !read_brief(r, run, s->reference_run) ||
		    !read_bool(r, o, "hidden", &s->reference_run_hidden) ||
		    !read_bool(r, o, "earlier", &s->reference_run_earlier))
			return false;
		leave(r, 0);
	}
	return true;
}

/* A count that is not there is zero. */
static bool read_counts(struct reader *r, json_t *from, const char *key, struct counts *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, key, JSON_OBJECT);
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
		leave(r, depth);
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
			ok = complain(r, "offset", "32 whole numbers are needed");
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
	const int kind = read_name(r, o, "kind", kinds, (int)ARRAY_LEN(kinds));
	int64_t whole;
	bool ok = kind >= 0;
	SPAN_FIELDS(GET)
	if (ok)
		x->kind = (enum span_kind)kind;
	return ok;
}

/* A list of structs: allocates @count of them, each read by the call in EACH(item, i). */
#define READ_LIST(from, key, most, count, items, EACH)                                       \
	do {                                                                                     \
		const size_t here = r->depth;                                                        \
		json_t *list = ok ? enter(r, from, key, JSON_ARRAY) : NULL;                          \
		const size_t n_list = list ? json_array_size(list) : 0;                              \
		ok = list != NULL && (n_list <= (most) || complain(r, "", "this list is too long")); \
		if (ok) {                                                                            \
			(items) = mem_calloc(n_list ? n_list : 1, sizeof *(items));                      \
			for (size_t i = 0; ok && i < n_list; i++)                                        \
				ok = EACH(r, json_array_get(list, i), &(items)[i]);                          \
			(count) = (unsigned)n_list;                                                      \
		}                                                                                    \
		if (ok)                                                                              \
			leave(r, here);                                                                  \
	} while (0)

static bool read_run_counts(struct reader *r, json_t *from, struct run_counts *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "counts", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	RUN_COUNTS_FIELDS(GET)
	const int origin = ok ? origin_of(r, o) : -1;
	ok = origin >= 0 && read_counts(r, o, "total", &x->total);
	if (ok)
		x->origin = (enum origin)origin;
	READ_LIST(o, "lines", 100000, x->n_lines, x->lines, read_line);
	READ_LIST(o, "accesses", TRACE_MAX_ACCESSES, x->n_accesses, x->accesses, read_access);
	READ_LIST(o, "steps", TRACE_MAX_STEPS, x->n_steps, x->steps, read_step);
	if (ok)
		leave(r, depth);
	return ok;
}

static bool read_occ_in(struct reader *r, json_t *from, struct occ_input *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "occupancy_input", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	OCC_IN_FIELDS(GET)
	if (ok)
		leave(r, depth);
	return ok;
}

static bool read_perf(struct reader *r, json_t *from, struct perf_result *x)
{
	static const char *const names[] = {
#define X(id, name, about) name,
		PERF_RESOURCES(X)
#undef X
	};
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "perf", JSON_OBJECT);
	bool ok = o != NULL;
	PERF_FIELDS(GET)
	const int bottleneck = ok ? read_name(r, o, "bottleneck", names, PERF_RESOURCE_COUNT) : -1;
	json_t *times = bottleneck >= 0 ? enter(r, o, "resource_ns", JSON_OBJECT) : NULL;
	ok = times != NULL;
	for (int i = 0; ok && i < PERF_RESOURCE_COUNT; i++)
		ok = read_number(r, times, names[i], &x->resource_ns[i]);
	if (ok) {
		x->bottleneck = (enum perf_resource)bottleneck;
		leave(r, depth);
	}
	return ok;
}

static bool read_check(struct reader *r, json_t *from, struct check_result *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "check", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	CHECK_FIELDS(GET)
	if (ok)
		leave(r, depth);
	return ok;
}

static bool read_timing(struct reader *r, json_t *from, struct run_timing *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "timing", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	TIMING_FIELDS(GET)
	if (ok)
		leave(r, depth);
	return ok;
}

static bool read_loaded(struct reader *r, json_t *from, struct run_static *x)
{
	const size_t depth = r->depth;
	json_t *o = enter(r, from, "loaded", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	LOADED_FIELDS(GET)
	if (ok)
		leave(r, depth);
	return ok;
}

/* Runs in the emulator have none. */
static bool read_measured(struct reader *r, json_t *from, struct run_result *x)
{
	const size_t depth = r->depth;
	if (!json_object_get(from, "measured"))
		return true;
	json_t *o = enter(r, from, "measured", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	MEASURED_FIELDS(GET)
	if (ok && json_object_get(o, "program_ns"))
		ok = read_number(r, o, "program_ns", &x->program_ns);
	ok = ok && read_timing(r, o, &x->timing) && read_loaded(r, o, &x->loaded);
	json_t *stalls = ok ? enter(r, o, "stalls", JSON_OBJECT) : NULL;
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
		if (!read_number(r, stalls, reason, &s->warps))
			return false;
	}
	leave(r, depth);
	return true;
}

/* What the record's selection implies: plan, cost, occupancy. The timeline is the caller's. */
static bool derive_record(struct reader *r, struct run_record *x)
{
	struct err why = { 0 };
	if (!selection_plan(&x->sel, &x->plan, &why)) {
		complain(r, "selection", "this program cannot plan the launch");
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
		const enum count_id count = metric_count(id);
		if (count != COUNT_ID_COUNT && metric_known(m, id))
			count_set_known(&c->of_total, count);
		else if (count != COUNT_ID_COUNT && m->v[id].reason)
			count_set_unknown(&c->of_total, count, m->v[id].reason);
	}
}

static bool read_record(struct reader *r, json_t *doc, const char *key, struct run_record **out)
{
	*out = NULL;
	if (json_is_null(json_object_get(doc, key)))
		return true;
	const size_t depth = r->depth;
	json_t *o = enter(r, doc, key, JSON_OBJECT);
	if (!o)
		return false;
	struct run_record *x = mem_zalloc(sizeof *x);
	const int verify = read_name(r, o, "verify", verify_names, (int)ARRAY_LEN(verify_names));
	int64_t whole;
	bool ok = verify >= 0;
	RECORD_FIELDS(GET)
	ok = ok && read_run(r, o, &x->run) && read_selection(r, o, &x->sel) &&
	     read_check(r, o, &x->check) && read_occ_in(r, o, &x->occ_in) &&
	     read_perf(r, o, &x->perf) && read_metrics(r, o, &x->metrics) &&
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
	leave(r, depth);
	return true;
}

/* --- the document --- */

static bool check_version(struct reader *r, json_t *doc)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	if (!schema || strcmp(schema, SNAPSHOT_SCHEMA) != 0)
		return err_set(r->err, ERR_PARSE, "%s: not a snapshot of this program", r->origin);
	const json_int_t version = json_integer_value(json_object_get(doc, "version"));
	if (version > SNAPSHOT_VERSION) {
		err_set(r->err, ERR_PARSE,
		        "%s: a snapshot of version %" JSON_INTEGER_FORMAT
		        ", written by pmpp-explore %s; this program reads up to version %d",
		        r->origin, version,
		        json_string_value(json_object_get(doc, "tool"))
		            ? json_string_value(json_object_get(doc, "tool"))
		            : "(unknown)",
		        SNAPSHOT_VERSION);
		return err_remedy(r->err, "open it with a newer pmpp-explore");
	}
	return version >= 1 || complain(r, "version", "a whole number from 1 on is needed");
}

static bool read_source(struct reader *r, json_t *doc, struct session *s, char *note, size_t n)
{
	json_t *o = enter(r, doc, "source", JSON_OBJECT);
	const char *text = o ? read_text(r, o, "text") : NULL;
	if (!text)
		return false;
	const char *ours = r->names->source(s->sel.kernel);
	const bool same = ours && !strcmp(ours, text);
	s->source = same ? ours : intern(text);
	snprintf(note, n, "%s",
	         same ? ""
	              : "the kernel's source has changed since this snapshot; the "
	                "panels show the snapshot's own");
	leave(r, 0);
	return true;
}

static bool read_screen(struct reader *r, json_t *doc, struct session *s)
{
	struct {
		unsigned param, line, lens_row, timeline_zoom, timeline_pan;
		bool lens;
	} place = { 0 }, *x = &place;
	json_t *o = enter(r, doc, "screen", JSON_OBJECT);
	int64_t whole;
	bool ok = o != NULL;
	GET_U(param)
	GET_U(line) GET_U(lens_row) GET_B(lens) if (ok && json_object_get(o, "timeline_zoom"))
	{ /* younger than the first snapshots */
		GET_U(timeline_zoom) GET_U(timeline_pan)
	}
	const char *view = ok ? read_text(r, o, "view") : NULL;
	if (!view)
		return false;
	s->view = intern(view);
	s->param = x->param < s->sel.kernel->n_params ? x->param : 0;
	s->cursor.row = x->line;
	s->cursor.detail_row = x->lens_row;
	s->cursor.detail = x->lens;
	s->cursor.zoom = x->timeline_zoom < VIEW_ZOOM_MAX ? x->timeline_zoom : VIEW_ZOOM_MAX;
	s->cursor.pan = x->timeline_pan;
	leave(r, 0);
	return true;
}

/* Where in a preset the session was; whoever opens it loads the preset by its name. */
static bool read_tour(struct reader *r, json_t *doc, struct session_tour *x)
{
	int64_t whole;
	if (!json_object_get(doc, "tour"))
		return true;
	json_t *o = enter(r, doc, "tour", JSON_OBJECT);
	bool ok = o != NULL;
	TOUR_FIELDS(GET)
	const json_t *outcomes = json_object_get(o, "outcomes");
	for (size_t i = 0; ok && i < json_array_size(outcomes) && i < ARRAY_LEN(x->holds); i++) {
		json_t *each = json_array_get(outcomes, i);
		ok = read_bool(r, each, "holds", &x->holds[i]) &&
		     read_chars(r, each, "found", x->found[i], sizeof x->found[i]);
		x->n++;
	}
	leave(r, 0);
	return ok;
}

static bool read_rung(struct reader *r, json_t *o, struct ladder *l)
{
	const char *name = read_text(r, o, "variant");
	unsigned i = 0;
	while (name && i < l->n && strcmp(l->rungs[i].variant->name, name) != 0)
		i++;
	if (!name || i == l->n) /* a variant that this program does not have is no rung of it */
		return name != NULL;
	struct ladder_rung *rung = &l->rungs[i];
	if (json_object_get(o, "ghost_ns") && !read_number(r, o, "ghost_ns", &rung->reference_ns))
		return false;
	if (json_object_get(o, "book") && !read_chars(r, o, "book", rung->book, sizeof rung->book))
		return false;
	if (json_object_get(o, "why"))
		return read_chars(r, o, "why", rung->why, sizeof rung->why);
	struct run_record x = { .sel = ladder_selection(l, i) };
	const int verify = read_name(r, o, "verify", verify_names, (int)ARRAY_LEN(verify_names));
	if (verify < 0 || !read_perf(r, o, &x.perf) || !read_metrics(r, o, &x.metrics))
		return false;
	if (!selection_plan(&x.sel, &x.plan, NULL))
		return complain(r, "variant", "this program cannot plan the launch");
	x.sel.kernel->cost(x.sel.variant, &x.plan, x.sel.params, &x.cost);
	x.verify = (enum verify_state)verify;
	return ladder_put(l, &x);
}

/* A ladder of other parameters than the session's says nothing here. */
static bool read_ladder(struct reader *r, json_t *doc, struct session *s)
{
	struct selection sel = { 0 };
	if (!json_object_get(doc, "ladder"))
		return true;
	json_t *o = enter(r, doc, "ladder", JSON_OBJECT);
	if (!o || !read_selection(r, o, &sel))
		return false;
	struct ladder *l = ladder_new(&sel);
	json_t *library = json_object_get(o, "library");
	if (library && (!read_chars(r, library, "name", l->library_name, sizeof l->library_name) ||
	                !read_number(r, library, "time_ns", &l->library_ns))) {
		ladder_free(l);
		return false;
	}
	json_t *reference = json_object_get(o, "ghost");
	if (reference &&
	    (!read_chars(r, reference, "machine", l->reference_machine, sizeof l->reference_machine) ||
	     !read_chars(r, reference, "library_name", l->reference_library_name,
	                 sizeof l->reference_library_name) ||
	     !read_number(r, reference, "library_ns", &l->reference_library_ns))) {
		ladder_free(l);
		return false;
	}
	json_t *rungs = enter(r, o, "rungs", JSON_ARRAY);
	bool ok =
		rungs && (json_array_size(rungs) <= LADDER_MAX || complain(r, "", "this list is too long"));
	for (size_t i = 0; ok && i < json_array_size(rungs); i++)
		ok = read_rung(r, json_array_get(rungs, i), l);
	ladder_compare(l);
	if (ok && ladder_fits(l, &s->sel))
		s->ladder = l;
	else
		ladder_free(l);
	if (ok)
		leave(r, 0);
	return ok;
}

static bool read_instant(struct reader *r, json_t *doc, struct session *s)
{
	struct occ_input usage;
	int64_t whole = 0;
	if (!json_object_get(doc, "occupancy_input")) {
		session_instant(s, NULL);
		return true;
	}
	if (!read_occ_in(r, doc, &usage) || !read_whole(r, doc, "spill_bytes", 0, UINT32_MAX, &whole))
		return false;
	s->spill_bytes = (unsigned)whole;
	session_instant(s, &usage);
	return true;
}

static bool read_document(struct reader *r, json_t *doc, struct session *s, char *note, size_t n)
{
	if (!check_version(r, doc) || !read_selection(r, doc, &s->sel) ||
	    !read_source(r, doc, s, note, n) || !read_screen(r, doc, s) ||
	    !read_tour(r, doc, &s->tour) || !read_ladder(r, doc, s) || !read_instant(r, doc, s) ||
	    !read_record(r, doc, "now", &s->now) || !read_record(r, doc, "before", &s->before) ||
	    !read_briefs(r, doc, s))
		return false;
	s->state = s->now ? RUN_DONE : RUN_NONE;
	s->stale = s->now && !selection_equal(&s->now->sel, &s->sel);
	return true;
}

bool snapshot_read(const char *text, size_t len, const char *origin,
                   const struct snapshot_names *names, struct session *s, char *note, size_t n,
                   struct err *err)
{
	struct reader r = { .origin = origin, .err = err, .names = names };
	json_error_t at;
	*s = (struct session){ 0 };
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	if (!doc) {
		err_set(err, ERR_PARSE, "%s:%d:%d: %s", origin, at.line, at.column, at.text);
		return err_remedy(err, "the file is damaged or cut off; nothing of it was opened");
	}
	const bool ok = read_document(&r, doc, s, note, n);
	json_decref(doc);
	if (!ok) {
		record_free(s->now);
		record_free(s->before);
		ladder_free(s->ladder);
		session_forget(s);
		*s = (struct session){ 0 };
	}
	return ok;
}

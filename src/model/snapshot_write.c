/* Session to JSON; see snapshot.h. Writes what cannot be recomputed. */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/snapshot.h"
#include "model/snapshot_fields.h"

#include "base/mem.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	if (v == floor(v) && fabs(v) < 9007199254740992.0)
		return json_integer((json_int_t)v);
	return json_real(v);
}

/* Counts can pass 2^63 only by saturation; JSON integers are signed. */
static json_t *whole(uint64_t v)
{
	return json_integer((json_int_t)(v > INT64_MAX ? INT64_MAX : v));
}

/* Kernel and compiler texts are UTF-8; anything else is written byte by byte as Latin-1. */
static json_t *text(const char *s)
{
	json_t *t = json_string(s);
	if (t)
		return t;
	struct text utf8 = { 0 };
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		const char two[2] = { (char)(0xc0 | *p >> 6), (char)(0x80 | (*p & 0x3f)) };
		text_put(&utf8, *p < 0x80 ? (const char *)p : two, *p < 0x80 ? 1 : 2);
	}
	t = json_string(utf8.s ? utf8.s : "");
	text_free(&utf8);
	return t;
}

#define PUT_D(v) number(v)
#define PUT_U(v) json_integer((json_int_t)(v))
#define PUT_I(v) json_integer((json_int_t)(v))
#define PUT_L(v) whole(v)
#define PUT_B(v) json_boolean(v)
#define PUT_T(v) text(v)
#define PUT(kind, field) json_object_set_new(o, #field, PUT_##kind(x->field));

static json_t *write_gpu(const struct gpu_spec *x)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:b}", "id", x->id, "name", x->name, "arch",
	                      x->arch, "chip", x->chip, "live", x->live);
#define X(type, field, least, most, about) json_object_set_new(o, #field, number((double)x->field));
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about) \
	if (x->field > 0)                      \
		json_object_set_new(o, #field, number(x->field));
	GPU_LINK_FIGURES(X)
#undef X
	json_t *sources = json_array();
	for (unsigned i = 0; i < x->n_sources; i++)
		json_array_append_new(sources,
		                      json_pack("{s:o, s:o}", "figures", text(x->sources[i].figures),
		                                "text", text(x->sources[i].text)));
	json_object_set_new(o, "sources", sources);
	return o;
}

/* A person's own kernel comes along: its file and how it was launched. */
static json_t *write_own(const struct kernel_desc *k)
{
	json_t *words = json_array();
	for (const char *const *w = k->launch_words; *w; w++)
		json_array_append_new(words, text(*w));
	return json_pack("{s:o, s:o, s:o}", "file", text(k->file), "launch", words, "source",
	                 text(k->source));
}

/* Without the GPU. */
static json_t *write_launch(const struct selection *sel)
{
	json_t *params = json_object();
	for (unsigned i = 0; i < sel->kernel->n_params; i++)
		json_object_set_new(params, sel->kernel->params[i].name, json_integer(sel->params[i]));
	json_t *o = json_pack("{s:s, s:s, s:o, s:s, s:o}", "kernel", sel->kernel->name, "variant",
	                      sel->kernel->variants[sel->variant].name, "params", params, "backend",
	                      sel->backend, "seed", whole(sel->seed));
	if (sel->kernel->launch_words)
		json_object_set_new(o, "own", write_own(sel->kernel));
	return o;
}

static json_t *write_selection(const struct selection *sel)
{
	json_t *o = write_launch(sel);
	json_object_set_new(o, "gpu", write_gpu(sel->gpu));
	return o;
}

static json_t *write_metrics(const struct metric_set *m)
{
	json_t *all = json_object();
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_value *v = &m->v[i];
		const bool words = metric_catalogue[i].kind == METRIC_TEXT;
		json_t *value = v->origin == ORIGIN_NONE ? json_null()
		                : words                  ? text(v->text)
		                                         : number(v->num);
		json_t *o = json_pack("{s:o, s:s, s:s}", "value", value, "unit", metric_catalogue[i].unit,
		                      "origin", origin_name(v->origin));
		if (v->origin == ORIGIN_NONE && v->reason)
			json_object_set_new(o, "reason", text(v->reason));
		if (v->origin == ORIGIN_SAMPLED) {
			json_object_set_new(o, "sampled", whole(v->sampled));
			json_object_set_new(o, "of", whole(v->of));
		}
		json_object_set_new(all, metric_catalogue[i].key, o);
	}
	return all;
}

static json_t *write_brief(const struct run_brief *b)
{
	json_t *o = write_launch(&b->sel), *metrics = write_metrics(&b->metrics), *v;
	const char *key;
	void *next;
	json_object_foreach_safe(metrics, next, key, v) if (json_is_null(json_object_get(v, "value")))
		json_object_del(metrics, key);
	json_object_set_new(o, "gpu",
	                    json_pack("{s:s, s:s, s:b}", "id", b->sel.gpu->id, "name", b->sel.gpu->name,
	                              "live", b->sel.gpu->live));
	json_object_set_new(o, "source", text(b->source));
	json_object_set_new(o, "verify", json_string(verify_names[b->verify]));
	json_object_set_new(o, "metrics", metrics);
	return o;
}

static json_t *write_counts(const struct counts *x)
{
	json_t *o = json_object();
#define X(field, ...) \
	if (x->field)     \
		json_object_set_new(o, #field, whole(x->field));
	COUNT_FIELDS(X)
#undef X
	return o;
}

static json_t *write_access(const struct access_sample *x)
{
	json_t *o = json_object();
	ACCESS_FIELDS(PUT)
	json_t *offsets = json_array();
	for (int i = 0; i < 32; i++)
		json_array_append_new(offsets, whole(x->offset[i]));
	json_object_set_new(o, "offset", offsets);
	return o;
}

static json_t *write_step(const struct mask_step *x)
{
	json_t *o = json_object();
	STEP_FIELDS(PUT)
	return o;
}

static json_t *write_run_counts(const struct run_counts *x)
{
	json_t *o = json_object();
	RUN_COUNTS_FIELDS(PUT)
	json_t *lines = json_array();
	json_t *accesses = json_array();
	json_t *steps = json_array();
	for (unsigned i = 0; i < x->n_lines; i++)
		json_array_append_new(lines, json_pack("{s:i, s:o}", "line", (int)x->lines[i].line,
		                                       "counts", write_counts(&x->lines[i].c)));
	for (unsigned i = 0; i < x->n_accesses; i++)
		json_array_append_new(accesses, write_access(&x->accesses[i]));
	for (unsigned i = 0; i < x->n_steps; i++)
		json_array_append_new(steps, write_step(&x->steps[i]));
	json_object_set_new(o, "origin", json_string(origin_name(x->origin)));
	json_object_set_new(o, "total", write_counts(&x->total));
	json_object_set_new(o, "lines", lines);
	json_object_set_new(o, "accesses", accesses);
	json_object_set_new(o, "steps", steps);
	return o;
}

static json_t *write_occ_in(const struct occ_input *x)
{
	json_t *o = json_object();
	OCC_IN_FIELDS(PUT)
	return o;
}

static json_t *write_perf(const struct perf_result *x)
{
	json_t *o = json_object();
	json_t *resources = json_object();
	PERF_FIELDS(PUT)
	for (int i = 0; i < PERF_RESOURCE_COUNT; i++)
		json_object_set_new(resources, perf_resource_name((enum perf_resource)i),
		                    number(x->resource_ns[i]));
	json_object_set_new(o, "resource_ns", resources);
	json_object_set_new(o, "bottleneck", json_string(perf_resource_name(x->bottleneck)));
	return o;
}

static json_t *write_check(const struct check_result *x)
{
	json_t *o = json_object();
	CHECK_FIELDS(PUT)
	return o;
}

static json_t *write_span(const struct span *x)
{
	static const char *const kinds[] = {
#define X(id, name, about) name,
		SPAN_KINDS(X)
#undef X
	};
	json_t *o = json_object();
	SPAN_FIELDS(PUT)
	json_object_set_new(o, "kind", json_string(kinds[x->kind]));
	return o;
}

static json_t *write_timing(const struct run_timing *x)
{
	json_t *o = json_object();
	TIMING_FIELDS(PUT)
	return o;
}

static json_t *write_loaded(const struct run_static *x)
{
	json_t *o = json_object();
	LOADED_FIELDS(PUT)
	return o;
}

static json_t *write_measured(const struct run_result *x)
{
	json_t *o = json_object();
	json_t *stalls = json_object();
	MEASURED_FIELDS(PUT)
	if (x->program_ns > 0)
		json_object_set_new(o, "program_ns", number(x->program_ns));
	for (unsigned i = 0; i < x->n_stalls; i++)
		json_object_set_new(stalls, x->stalls[i].reason, number(x->stalls[i].warps));
	json_object_set_new(o, "timing", write_timing(&x->timing));
	json_object_set_new(o, "loaded", write_loaded(&x->loaded));
	json_object_set_new(o, "stalls", stalls);
	return o;
}

static void write_run(json_t *o, const struct run_result *x)
{
	RUN_FIELDS(PUT)
}

static json_t *write_record(const struct run_record *x)
{
	json_t *o = json_object();
	RECORD_FIELDS(PUT)
	write_run(o, &x->run);
	json_t *spans = json_array();
	for (unsigned i = 0; i < x->run.n_spans; i++)
		json_array_append_new(spans, write_span(&x->run.spans[i]));
	json_object_set_new(o, "selection", write_selection(&x->sel));
	json_object_set_new(o, "verify", json_string(verify_names[x->verify]));
	json_object_set_new(o, "check", write_check(&x->check));
	json_object_set_new(o, "occupancy_input", write_occ_in(&x->occ_in));
	json_object_set_new(o, "perf", write_perf(&x->perf));
	json_object_set_new(o, "metrics", write_metrics(&x->metrics));
	json_object_set_new(o, "counts", write_run_counts(&x->run.counts));
	json_object_set_new(o, "spans", spans);
	if (run_result_measured(&x->run))
		json_object_set_new(o, "measured", write_measured(&x->run));
	return o;
}

static json_t *write_tour(const struct session_tour *x)
{
	json_t *o = json_object();
	json_t *outcomes = json_array();
	TOUR_FIELDS(PUT)
	for (unsigned i = 0; i < x->n; i++)
		json_array_append_new(
			outcomes, json_pack("{s:b, s:o}", "holds", x->holds[i], "found", text(x->found[i])));
	json_object_set_new(o, "outcomes", outcomes);
	return o;
}

/* The rungs' figures; their selections are the ladder's with another variant. */
static json_t *write_ladder(const struct ladder *l)
{
	json_t *rungs = json_array();
	for (unsigned i = 0; i < l->n; i++) {
		const struct ladder_rung *r = &l->rungs[i];
		json_t *o = json_pack("{s:s}", "variant", r->variant->name);
		if (r->record) {
			json_object_set_new(o, "verify", json_string(verify_names[r->record->verify]));
			json_object_set_new(o, "perf", write_perf(&r->record->perf));
			json_object_set_new(o, "metrics", write_metrics(&r->record->metrics));
		} else {
			json_object_set_new(o, "why", text(r->why)); /* "" = not run yet */
		}
		if (r->book[0])
			json_object_set_new(o, "book", text(r->book));
		if (r->reference_ns > 0)
			json_object_set_new(o, "ghost_ns", number(r->reference_ns));
		json_array_append_new(rungs, o);
	}
	json_t *o = json_pack("{s:o, s:o}", "selection", write_selection(&l->sel), "rungs", rungs);
	if (l->library_ns > 0)
		json_object_set_new(o, "library",
		                    json_pack("{s:o, s:o}", "name", text(l->library_name), "time_ns",
		                              number(l->library_ns)));
	if (l->reference_machine[0])
		json_object_set_new(o, "ghost",
		                    json_pack("{s:o, s:o, s:o}", "machine", text(l->reference_machine),
		                              "library_name", text(l->reference_library_name), "library_ns",
		                              number(l->reference_library_ns)));
	return o;
}

char *snapshot_write(const struct session *s, const char *tool_version)
{
	const char *source = s->source ? s->source : "";
	char hash[17];
	source_hash(source, hash);
	json_t *doc = json_pack(
		"{s:s, s:i, s:s, s:o, s:{s:s, s:o}, s:{s:s, s:i, s:i, s:b, s:i, s:i, s:i}}", "schema",
		SNAPSHOT_SCHEMA, "version", SNAPSHOT_VERSION, "tool", tool_version, "selection",
		write_selection(&s->sel), "source", "hash", hash, "text", text(source), "screen", "view",
		s->view ? s->view : "", "param", (int)s->param, "line", (int)s->cursor.row, "lens",
		s->cursor.detail, "lens_row", (int)s->cursor.detail_row, "timeline_zoom",
		(int)s->cursor.zoom, "timeline_pan", (int)s->cursor.pan);
	json_object_set_new(doc, "now", s->now ? write_record(s->now) : json_null());
	json_object_set_new(doc, "before", s->before ? write_record(s->before) : json_null());
	json_t *history = json_array();
	for (unsigned i = 0; i < s->n_history; i++)
		json_array_append_new(history, write_brief(&s->history[i]));
	json_object_set_new(doc, "history", history);
	if (s->reference_run) {
		json_object_set_new(doc, "ghost",
		                    json_pack("{s:o, s:b, s:b}", "run", write_brief(s->reference_run),
		                              "hidden", s->reference_run_hidden, "earlier",
		                              s->reference_run_earlier));
	}
	if (s->tour.preset)
		json_object_set_new(doc, "tour", write_tour(&s->tour));
	if (s->ladder)
		json_object_set_new(doc, "ladder", write_ladder(s->ladder));
	if (s->usage_known) {
		json_object_set_new(doc, "occupancy_input", write_occ_in(&s->occ_in));
		json_object_set_new(doc, "spill_bytes", json_integer((json_int_t)s->spill_bytes));
	}
	char *dump = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	char *out = mem_printf("%s\n", dump ? dump : "{}");
	free(dump);
	return out;
}

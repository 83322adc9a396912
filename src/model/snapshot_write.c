/* Session to JSON; see snapshot.h. Writes what cannot be recomputed. */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/record_tables.h"
#include "model/snapshot.h"

#include "base/mem.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *write_gpu(const struct gpu_spec *x)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:b}", "id", x->id, "name", x->name, "arch",
	                      x->arch, "chip", x->chip, "live", x->live);
#define X(type, field, least, most, about) \
	json_object_set_new(o, #field, json_number((double)x->field));
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about) \
	if (x->field > 0)                      \
		json_object_set_new(o, #field, json_number(x->field));
	GPU_LINK_FIGURES(X)
#undef X
	json_t *sources = json_array();
	for (unsigned i = 0; i < x->n_sources; i++)
		json_array_append_new(sources,
		                      json_pack("{s:o, s:o}", "figures", json_utf8(x->sources[i].figures),
		                                "text", json_utf8(x->sources[i].text)));
	json_object_set_new(o, "sources", sources);
	return o;
}

/* A person's own kernel comes along: its file and how it was launched. */
static json_t *write_own(const struct kernel_desc *k)
{
	json_t *words = json_array();
	for (const char *const *w = k->launch_words; *w; w++)
		json_array_append_new(words, json_utf8(*w));
	return json_pack("{s:o, s:o, s:o}", "file", json_utf8(k->file), "launch", words, "source",
	                 json_utf8(k->source));
}

/* Without the GPU. */
static json_t *write_launch(const struct selection *sel)
{
	json_t *params = json_object();
	for (unsigned i = 0; i < sel->kernel->n_params; i++)
		json_object_set_new(params, sel->kernel->params[i].name, json_integer(sel->params[i]));
	json_t *o = json_pack("{s:s, s:s, s:o, s:s, s:o}", "kernel", sel->kernel->name, "variant",
	                      sel->kernel->variants[sel->variant].name, "params", params, "backend",
	                      sel->backend, "seed", json_whole(sel->seed));
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
		                : words                  ? json_utf8(v->text)
		                                         : json_number(v->num);
		json_t *o = json_pack("{s:o, s:s, s:s}", "value", value, "unit", metric_catalogue[i].unit,
		                      "origin", origin_name(v->origin));
		if (v->origin == ORIGIN_NONE && v->reason)
			json_object_set_new(o, "reason", json_utf8(v->reason));
		if (v->origin == ORIGIN_SAMPLED) {
			json_object_set_new(o, "sampled", json_whole(v->sampled));
			json_object_set_new(o, "of", json_whole(v->of));
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
	json_object_set_new(o, "source", json_utf8(b->source));
	json_object_set_new(o, "verify", json_string(verify_names[b->verify]));
	json_object_set_new(o, "metrics", metrics);
	return o;
}

static json_t *write_record(const struct run_record *x)
{
	json_t *o = record_write(&record_table, x);
	json_object_set_new(o, "selection", write_selection(&x->sel));
	json_object_set_new(o, "metrics", write_metrics(&x->metrics));
	if (run_result_measured(&x->run))
		json_object_set_new(o, "measured", record_write(&measured_table, &x->run));
	return o;
}

static json_t *write_tour(const struct session_tour *x)
{
	json_t *o = record_write(&tour_table, x);
	json_t *outcomes = json_array();
	for (unsigned i = 0; i < x->n; i++)
		json_array_append_new(outcomes, json_pack("{s:b, s:o}", "holds", x->holds[i], "found",
		                                          json_utf8(x->found[i])));
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
			json_object_set_new(o, "perf", record_write(&perf_table, &r->record->perf));
			json_object_set_new(o, "metrics", write_metrics(&r->record->metrics));
		} else {
			json_object_set_new(o, "why", json_utf8(r->why)); /* "" = not run yet */
		}
		if (r->book[0])
			json_object_set_new(o, "book", json_utf8(r->book));
		if (r->reference_ns > 0)
			json_object_set_new(o, "ghost_ns", json_number(r->reference_ns));
		json_array_append_new(rungs, o);
	}
	json_t *o = json_pack("{s:o, s:o}", "selection", write_selection(&l->sel), "rungs", rungs);
	if (l->library_ns > 0)
		json_object_set_new(o, "library", record_write(&library_table, l));
	if (l->reference_machine[0])
		json_object_set_new(o, "ghost", record_write(&ladder_reference_table, l));
	return o;
}

char *snapshot_write(const struct session *s, const char *tool_version)
{
	const char *source = s->source ? s->source : "";
	char hash[17];
	source_hash(source, hash);
	json_t *doc = json_pack("{s:s, s:i, s:s, s:o, s:{s:s, s:o}, s:o}", "schema", SNAPSHOT_SCHEMA,
	                        "version", SNAPSHOT_VERSION, "tool", tool_version, "selection",
	                        write_selection(&s->sel), "source", "hash", hash, "text",
	                        json_utf8(source), "screen", record_write(&screen_table, s));
	json_object_set_new(doc, "now", s->now ? write_record(s->now) : json_null());
	json_object_set_new(doc, "before", s->before ? write_record(s->before) : json_null());
	json_t *history = json_array();
	for (unsigned i = 0; i < s->n_history; i++)
		json_array_append_new(history, write_brief(&s->history[i]));
	json_object_set_new(doc, "history", history);
	if (s->reference_run) {
		json_t *o = json_pack("{s:o}", "run", write_brief(s->reference_run));
		record_write_into(&reference_run_table, s, o);
		json_object_set_new(doc, "ghost", o);
	}
	if (s->tour.preset)
		json_object_set_new(doc, "tour", write_tour(&s->tour));
	if (s->ladder)
		json_object_set_new(doc, "ladder", write_ladder(s->ladder));
	if (s->usage_known) {
		json_object_set_new(doc, "occupancy_input",
		                    record_write(&occupancy_input_table, &s->occ_in));
		json_object_set_new(doc, "spill_bytes", json_integer((json_int_t)s->spill_bytes));
	}
	char *dump = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	char *out = mem_printf("%s\n", dump ? dump : "{}");
	free(dump);
	return out;
}

/*
 * Records, sheets and errors as JSON, schema "pmpp-explore/1". Numbers are numbers, whole ones
 * integers; what is not known is null with origin "none" and the reason. Prints nothing.
 */
#include "cli/cli.h"
#include "lab/reference_run.h"
#include "model/record_tables.h"

#include <string.h>

/* jansson takes UTF-8 only: bytes that are not are replaced, so that no text is ever lost. */
static json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	if (j)
		return j;
	struct text clean = { 0 };
	text_add(&clean, "%s", "");
	for (; *s; s++)
		text_put(&clean, (unsigned char)*s < 0x80 ? s : "?", 1);
	j = json_string(clean.s);
	text_free(&clean);
	return j;
}

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static void set_text(json_t *o, const char *key, const char *s)
{
	set(o, key, json_text(s));
}

static void set_num(json_t *o, const char *key, double v)
{
	set(o, key, json_number(v));
}

static void set_u64(json_t *o, const char *key, uint64_t v)
{
	set(o, key, v <= INT64_MAX ? json_integer((json_int_t)v) : json_real((double)v));
}

json_t *json_metric(const struct metric_set *m, enum metric_id id)
{
	const struct metric_value *v = &m->v[id];
	const struct metric_desc *d = &metric_catalogue[id];
	json_t *o = json_object();
	if (v->origin == ORIGIN_NONE)
		set(o, "value", json_null());
	else if (d->kind == METRIC_TEXT)
		set_text(o, "value", v->text);
	else
		set_num(o, "value", v->num);
	set_text(o, "unit", d->unit);
	set_text(o, "origin", origin_name(v->origin));
	if (v->origin == ORIGIN_NONE)
		set_text(o, "reason", v->reason ? v->reason : "not known");
	if (v->origin == ORIGIN_SAMPLED) {
		set_u64(o, "blocks_sampled", v->sampled);
		set_u64(o, "blocks", v->of);
	}
	return o;
}

json_t *json_metrics(const struct metric_set *m)
{
	json_t *o = json_object();
	for (int i = 0; i < METRIC_COUNT; i++)
		set(o, metric_catalogue[i].key, json_metric(m, (enum metric_id)i));
	return o;
}

json_t *json_gpu(const struct gpu_spec *g)
{
	json_t *o = json_object();
	char sm[16];
	set_text(o, "id", g->id);
	set_text(o, "name", g->name);
	set_text(o, "architecture", g->arch);
	set_text(o, "chip", g->chip);
	set_text(o, "target", gpu_sm_name(g, sm, sizeof sm));
	set(o, "live", json_boolean(g->live));
#define X(type, field, least, most, about) set_num(o, #field, (double)g->field);
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about) \
	if (g->field > 0)                      \
		set_num(o, #field, g->field);
	GPU_LINK_FIGURES(X)
#undef X
	set_num(o, "ridge_flop_per_byte", gpu_ridge_flop_per_byte(g));
	return o;
}

json_t *json_limits(const struct occ_result *r)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++) {
		const struct occ_limit *l = &r->limits[i];
		json_t *o = json_object();
		set_text(o, "name", l->name);
		set_num(o, "needs", l->needs);
		set_num(o, "has", l->has);
		if (l->blocks == OCC_UNLIMITED)
			set(o, "blocks", json_null());
		else
			set_u64(o, "blocks", l->blocks);
		set(o, "limits", json_boolean(l->limits));
		set_text(o, "arithmetic", l->arithmetic);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *json_error(const struct err *err)
{
	char code[32];
	snprintf(code, sizeof code, "%s", err_code_name(err->code));
	for (char *p = code; *p; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
	json_t *e = json_object(), *o = json_object();
	set_text(e, "code", code);
	set_text(e, "message", err->msg);
	if (err->remedy[0])
		set_text(e, "remedy", err->remedy);
	else
		set(e, "remedy", json_null());
	set_text(o, "schema", CLI_SCHEMA);
	set(o, "error", e);
	return o;
}

/* --- a record --- */

/* A count that nobody filled is null. */
static json_t *json_counts(const struct counts *c, const struct counted *known)
{
	json_t *o = json_object();
	for (enum count_id id = 0; id < COUNT_FIELD_COUNT; id++)
		if (count_known(known, id))
			set_u64(o, count_name(id), count_get(c, id));
		else
			set(o, count_name(id), json_null());
	return o;
}

/* Every metric of some of the instructions. */
static json_t *json_part(const struct counts *c, const struct run_counts *run)
{
	struct metric_set m;
	json_t *o = json_object();
	metrics_clear(&m, NULL);
	metrics_from_counts(&m, c, &run->of_lines, run->origin);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		if (!metric_of_lines(id))
			continue;
		m.v[id].sampled = run->blocks_run;
		m.v[id].of = run->blocks_total;
		set(o, metric_catalogue[id].key, json_metric(&m, id));
	}
	return o;
}

#define MAX_TAGS 256

static json_t *json_lines(const struct run_record *r, const char *source,
                          const struct line_tag *tags, unsigned n_tags)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < r->run.counts.n_lines; i++) {
		const struct line_counts *l = &r->run.counts.lines[i];
		json_t *o = json_object(), *names = json_array();
		char text[512] = "";
		source_line(source, l->line, text, sizeof text);
		for (unsigned t = 0; t < n_tags; t++)
			if (tags[t].line == l->line)
				json_array_append_new(names, json_text(tags[t].name));
		set_u64(o, "line", l->line);
		set_text(o, "source", text);
		set(o, "tags", names);
		set(o, "counts", json_counts(&l->c, &r->run.counts.of_lines));
		set(o, "metrics", json_part(&l->c, &r->run.counts));
		json_array_append_new(list, o);
	}
	return list;
}

static bool ran(const struct run_record *r, uint32_t line)
{
	for (unsigned i = 0; i < r->run.counts.n_lines; i++)
		if (r->run.counts.lines[i].line == line)
			return r->run.counts.lines[i].c.warp_executed > 0;
	return false;
}

/* Tags of lines that ran: the others belong to other variants in the same file. */
static json_t *json_tags(const struct run_record *r, const char *source,
                         const struct line_tag *tags, unsigned n_tags)
{
	json_t *all = json_object();
	for (unsigned t = 0; t < n_tags; t++) {
		struct counts sum;
		if (json_object_get(all, tags[t].name) || !ran(r, tags[t].line) ||
		    !counts_of_tag(&r->run.counts, source, tags[t].name, &sum))
			continue;
		json_t *o = json_object(), *lines = json_array();
		for (unsigned u = 0; u < n_tags; u++)
			if (!strcmp(tags[u].name, tags[t].name) && ran(r, tags[u].line))
				json_array_append_new(lines, json_integer(tags[u].line));
		set(o, "lines", lines);
		set(o, "counts", json_counts(&sum, &r->run.counts.of_lines));
		set(o, "metrics", json_part(&sum, &r->run.counts));
		set(all, tags[t].name, o);
	}
	return all;
}

static json_t *json_check(const struct run_record *r)
{
	json_t *o = json_object();
	const bool compared = r->verify == VERIFY_OK || r->verify == VERIFY_WRONG;
	set_text(o, "state", verify_names[r->verify]);
	set_text(o, "text", r->verify_text);
	set_text(o, "note", r->check.note);
	set(o, "max_rel_error", compared ? json_number(r->check.max_rel_error) : json_null());
	set(o, "errors", compared ? json_number((double)r->check.errors) : json_null());
	if (r->verify == VERIFY_WRONG) {
		const struct buffer_plan *b = &r->plan.buffers[r->check.buffer];
		json_t *first = json_object();
		set_text(first, "buffer", b->name);
		set_u64(first, "index", r->check.first);
		set_num(first, "got", r->check.got);
		set_num(first, "want", r->check.want);
		set(o, "first", first);
	}
	return o;
}

json_t *json_params(const struct selection *sel)
{
	json_t *o = json_object();
	const struct kernel_desc *k = sel->kernel;
	for (unsigned i = 0; i < k->n_params; i++) {
		if (!kernel_param_used(k, sel->variant, i))
			continue;
		if (k->params[i].words) {
			char word[64];
			kernel_param_format(k, i, sel->params[i], word, sizeof word);
			set_text(o, k->params[i].name, word);
		} else {
			set(o, k->params[i].name, json_integer(sel->params[i]));
		}
	}
	return o;
}

static json_t *json_dim(struct dim3u d)
{
	return json_pack("[I, I, I]", (json_int_t)d.x, (json_int_t)d.y, (json_int_t)d.z);
}

/* The stream program operation by operation; times from its first call on. */
static json_t *json_timeline(const struct run_record *r)
{
	const struct stream_outcome *t = r->timeline;
	json_t *o = json_object(), *ops = json_array();
	set_text(o, "origin", origin_name(t->origin));
	set(o, "from_events", json_boolean(t->origin == ORIGIN_MEASURED && r->run.spans_from_events));
	set_num(o, "makespan_ns", t->makespan_ns);
	if (r->run.program_ns > 0)
		set_num(o, "unrecorded_ns", r->run.program_ns);
	json_t *model = json_object();
	set_num(model, "makespan_ns", t->modelled_ns);
	set_num(model, "h2d_gbs", t->modelled_gbs[0]);
	set_num(model, "d2h_gbs", t->modelled_gbs[1]);
	set(o, "model", model);
	const struct stream_init *once = &r->init;
	json_t *init = json_object();
	set_text(init, "origin", origin_name(once->origin));
	set_num(init, "total_ns", once->total_ns);
	for (enum stream_init_part k = 0; k < INIT_COUNT; k++) {
		char key[32];
		snprintf(key, sizeof key, "%s_ns", stream_init_name(k));
		set_num(init, key, once->ns[k]);
	}
	set(o, "init", init);
	for (unsigned i = 0; i < r->program->n_ops; i++) {
		const struct stream_op *op = &r->program->ops[i];
		const struct stream_span *s = &t->spans[i];
		if (!stream_is_work(op))
			continue;
		json_t *e = json_object();
		set_text(e, "name", op->name);
		set_text(e, "engine", stream_engine_name(s->engine));
		set_u64(e, "stream", op->stream);
		set_num(e, "start_ns", s->start_ns);
		set_num(e, "end_ns", s->end_ns);
		set_u64(e, "bytes", op->bytes);
		if (op->kind != SOP_KERNEL)
			set(e, "pinned", json_boolean(op->pinned));
		json_array_append_new(ops, e);
	}
	set(o, "operations", ops);
	return o;
}

json_t *json_record(const struct run_record *r)
{
	const struct selection *sel = &r->sel;
	const char *source = kernel_source(sel->kernel);
	struct line_tag tags[MAX_TAGS];
	unsigned n_tags = source_tags(source, tags, MAX_TAGS);
	n_tags = n_tags < MAX_TAGS ? n_tags : MAX_TAGS;

	json_t *o = json_object(), *launch = json_object(), *occ = json_object(),
		   *compiler = json_object(), *run = json_object(), *book = json_object();
	set_text(o, "schema", CLI_SCHEMA);
	set_text(o, "version", PMPP_VERSION);
	set_text(o, "kernel", sel->kernel->name);
	set_text(o, "variant", sel->kernel->variants[sel->variant].name);
	set(o, "params", json_params(sel));
	set(o, "gpu", json_gpu(sel->gpu));
	set_text(o, "backend", sel->backend);
	set_u64(o, "seed", sel->seed);
	set(o, "verified", json_boolean(r->verify == VERIFY_OK));
	set(o, "check", json_check(r));

	set_text(launch, "entry", r->plan.entry);
	set(launch, "grid", json_dim(r->plan.grid));
	set(launch, "block", json_dim(r->plan.block));
	set_u64(launch, "dynamic_shared_bytes", r->plan.dynamic_shared_bytes);
	set(o, "launch", launch);

	set(o, "metrics", json_metrics(&r->metrics));
	const struct run_brief *reference = reference_run_find(sel);
	if (reference)
		set(o, "recorded",
		    json_pack("{s:s, s:o}", "gpu", reference->sel.gpu->name, "metrics",
		              json_metrics(&reference->metrics)));

	set(occ, "limits", json_limits(&r->occ));
	set_text(occ, "limiters", r->occ.limiters);
	set_u64(book, "blocks_per_sm", r->occ.book_blocks);
	set_num(book, "pct", r->occ.book_pct);
	set_text(book, "note", r->occ.book_note);
	set(occ, "book", book);
	set(o, "occupancy", occ);

	set_text(compiler, "name", r->compiler);
	set_text(compiler, "key", r->module_key);
	set_u64(compiler, "spill_bytes", r->spill_bytes);
	set(o, "compiler", compiler);

	set_num(run, "wall_s", r->run.wall_s);
	set_u64(run, "blocks_run", r->run.counts.blocks_run);
	set_u64(run, "blocks", r->run.counts.blocks_total);
	set_text(run, "note", r->run.note);
	if (*r->run.level)
		set_text(run, "level", r->run.level);
	set(o, "run", run);

	if (run_result_measured(&r->run))
		set(o, "measured", record_write_run(&measured_table, &r->run));
	if (r->program && r->timeline)
		set(o, "timeline", json_timeline(r));
	set(o, "lines", json_lines(r, source, tags, n_tags));
	set(o, "tags", json_tags(r, source, tags, n_tags));
	return o;
}

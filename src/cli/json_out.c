/*
 * Records and errors as JSON, schema "pmpp-explore/1": the fields are those of record_tables.h, to
 * which source lines and a recording are put. Numbers are numbers, whole ones integers; what is not
 * known is null with origin "none" and the reason. Prints nothing.
 */
#include "cli/cli.h"
#include "lab/reference_run.h"
#include "model/record_tables.h"

#include <string.h>

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static void set_text(json_t *o, const char *key, const char *s)
{
	set(o, key, json_utf8(s));
}

static void set_u64(json_t *o, const char *key, uint64_t v)
{
	set(o, key, v <= INT64_MAX ? json_integer((json_int_t)v) : json_real((double)v));
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
		set(o, metric_catalogue[id].key, record_metric(&m, id, FORM_RUN));
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
				json_array_append_new(names, json_utf8(tags[t].name));
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

json_t *json_record(const struct run_record *r)
{
	const char *source = kernel_source(r->sel.kernel);
	struct line_tag tags[MAX_TAGS];
	unsigned n_tags = source_tags(source, tags, MAX_TAGS);
	n_tags = n_tags < MAX_TAGS ? n_tags : MAX_TAGS;

	json_t *o = json_pack("{s:s, s:s}", "schema", CLI_SCHEMA, "version", PMPP_VERSION);
	record_write_into(&record_table, r, o, FORM_RUN);
	const struct run_brief *reference = reference_run_find(&r->sel);
	if (reference)
		set(o, "recorded",
		    json_pack("{s:s, s:o}", "gpu", reference->sel.gpu->name, "metrics",
		              record_metrics(&reference->metrics, FORM_RUN)));
	set(o, "lines", json_lines(r, source, tags, n_tags));
	set(o, "tags", json_tags(r, source, tags, n_tags));
	return o;
}

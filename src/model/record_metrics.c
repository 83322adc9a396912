/* Metrics as JSON, and back; see record_tables.h. */
#include "model/record_rows.h"
#include "model/record_tables.h"

#include "base/intern.h"

static bool is_unknown(const void *x)
{
	return ((const struct metric_value *)x)->origin == ORIGIN_NONE;
}

static bool is_sampled(const void *x)
{
	return ((const struct metric_value *)x)->origin == ORIGIN_SAMPLED;
}

static json_t *write_reason(const void *x, enum record_form form)
{
	const struct metric_value *v = x;
	const char *otherwise = form == FORM_RUN ? "not known" : NULL;
	const char *reason = v->reason ? v->reason : otherwise;
	return reason ? json_utf8(reason) : NULL;
}

static bool read_reason(struct reader *r, json_t *o, const char *key, void *x)
{
	struct metric_value *v = x;
	(void)r;
	if (v->origin == ORIGIN_NONE)
		v->reason = intern(json_string_value(json_object_get(o, key)));
	return true;
}

static const struct record_codec reason_codec = { write_reason, read_reason };

#define T metric_value
static const struct record_field metric_fields[] = {
	{ .key = "value",
	  .kind = FIELD_OTHER,
	  .schema = "{\"type\": [\"number\", \"string\", \"null\"]}" },
	{ .key = "unit", .kind = FIELD_OTHER, .schema = "{\"type\": \"string\"}" },
	SHOWN(origin, "origin", NAME, .names = &origin_names),
	CODED("reason", &reason_codec, .there = is_unknown, .schema = "{\"type\": \"string\"}",
	      .about = "why it is unknown"),
	SHOWN(sampled, "blocks_sampled", UNSIGNED, .there = is_sampled, .about = "blocks executed ..."),
	SHOWN(of, "blocks", UNSIGNED, .there = is_sampled, .about = "... of so many"),
};
const struct record_table metric_table =
	TABLE("metric", NULL, metric_fields,
          .rules = "{\"allOf\": [{\"if\": {\"properties\": {\"origin\": {\"const\": \"none\"}}}, "
                   "\"then\": {\"properties\": {\"value\": {\"type\": \"null\"}}}, "
                   "\"else\": {\"not\": {\"required\": [\"reason\"]}}}, "
                   "{\"if\": {\"properties\": {\"origin\": {\"const\": \"sampled\"}}}, "
                   "\"then\": {\"required\": [\"sampled\", \"of\"]}}]}");
#undef T

json_t *record_metric(const struct metric_set *m, enum metric_id id, enum record_form form)
{
	const struct metric_value *v = &m->v[id];
	const struct metric_desc *d = &metric_catalogue[id];
	json_t *o = json_object();
	json_object_set_new(o, "value",
	                    is_unknown(v)            ? json_null()
	                    : d->kind == METRIC_TEXT ? json_utf8(v->text)
	                                             : json_number(v->num));
	json_object_set_new(o, "unit", json_string(d->unit));
	record_write_into(&metric_table, v, o, form);
	return o;
}

json_t *record_metrics(const struct metric_set *m, enum record_form form)
{
	json_t *all = json_object();
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		json_object_set_new(all, metric_catalogue[id].key, record_metric(m, id, form));
	return all;
}

static bool read_metric(struct reader *r, json_t *o, enum metric_id id, struct metric_value *v)
{
	if (!record_read(r, o, &metric_table, v))
		return false;
	if (is_unknown(v))
		return true;
	if (is_sampled(v) && !(json_object_get(o, "sampled") && json_object_get(o, "of")))
		return reader_complain(r, json_object_get(o, "sampled") ? "of" : "sampled", "is missing");
	return metric_catalogue[id].kind == METRIC_TEXT
	           ? reader_chars(r, o, "value", v->text, sizeof v->text)
	           : reader_number(r, o, "value", &v->num);
}

bool record_read_metrics(struct reader *r, json_t *o, const char *key, struct metric_set *m)
{
	const size_t depth = r->depth;
	json_t *all = reader_enter(r, o, key, JSON_OBJECT);
	bool ok = all != NULL;
	metrics_clear(m, "the snapshot has no such metric");
	for (enum metric_id id = 0; ok && id < METRIC_COUNT; id++) {
		const char *name = metric_catalogue[id].key;
		const size_t here = r->depth;
		if (!json_object_get(all, name))
			continue;
		json_t *one = reader_enter(r, all, name, JSON_OBJECT);
		m->v[id].reason = NULL;
		ok = one && read_metric(r, one, id, &m->v[id]);
		if (ok)
			reader_leave(r, here);
	}
	if (ok)
		reader_leave(r, depth);
	return ok;
}

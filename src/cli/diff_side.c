/*
 * Sides of `diff`; see diff_side.h. Files are read by the names of metrics, each with its type: a
 * kernel or a GPU that this program does not have is fine, a figure that is none is not.
 */
#include "cli/diff_side.h"

#include "base/file.h"
#include "cli/cli.h"
#include "lab/session_file.h"
#include "model/json_reader.h"
#include "model/record_tables.h"
#include "model/snapshot.h"

#include <math.h>
#include <string.h>

static const char *text_at(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

static bool take_metric(struct reader *r, json_t *o, enum metric_id id, struct diff_side *d)
{
	const int origin = reader_name(r, o, "origin", origin_names.names, (int)origin_names.n);
	double value = NAN;
	char text[sizeof d->m.v[id].text] = "";
	if (origin < 0)
		return false;
	if (json_object_get(o, "unit") && !(d->unit[id] = reader_text(r, o, "unit")))
		return false;
	const bool known = origin != ORIGIN_NONE && !json_is_null(json_object_get(o, "value"));
	const bool words = metric_catalogue[id].kind == METRIC_TEXT;
	if (known && !(words ? reader_chars(r, o, "value", text, sizeof text)
	                     : reader_number(r, o, "value", &value)))
		return false;
	if (!known)
		metric_none(&d->m, id, *text_at(o, "reason") ? text_at(o, "reason") : "not known");
	else if (words)
		metric_text(&d->m, id, (enum origin)origin, text);
	else
		metric_num(&d->m, id, (enum origin)origin, value);
	return true;
}

static bool take_metrics(struct reader *r, json_t *record, struct diff_side *d)
{
	const char *key;
	json_t *each, *metrics = reader_enter(r, record, "metrics", JSON_OBJECT);
	metrics_clear(&d->m, "this side does not have it");
	if (!metrics)
		return false;
	json_object_foreach(metrics, key, each)
	{
		const enum metric_id id = metric_find(key);
		const size_t depth = r->depth;
		if (id == METRIC_COUNT)
			continue;
		json_t *one = reader_enter(r, metrics, key, JSON_OBJECT);
		if (!one || !take_metric(r, one, id, d))
			return false;
		reader_leave(r, depth);
	}
	return true;
}

/* "TILE 16, M 512": whole numbers and words. */
static bool take_params(struct reader *r, json_t *params, struct diff_side *d)
{
	const char *key;
	json_t *v;
	size_t at = 0;
	json_object_foreach(params, key, v)
	{
		const char *word = json_string_value(v);
		const size_t left = sizeof d->params - at;
		if (!word && !json_is_integer(v))
			return reader_complain(r, key, "a whole number or a word is needed");
		const int n = word ? snprintf(d->params + at, left, "%s%s %s", at ? ", " : "", key, word)
		                   : snprintf(d->params + at, left, "%s%s %lld", at ? ", " : "", key,
		                              (long long)json_integer_value(v));
		if (n < 0 || (size_t)n >= left)
			break;
		at += (size_t)n;
	}
	return true;
}

/* @o has kernel, variant, params, gpu and backend: a selection, or the object of `run --json`. */
static bool take_selection(struct reader *r, json_t *o, struct diff_side *d)
{
	snprintf(d->kernel, sizeof d->kernel, "%s/%s", text_at(o, "kernel"), text_at(o, "variant"));
	snprintf(d->gpu, sizeof d->gpu, "%s", text_at(json_object_get(o, "gpu"), "name"));
	snprintf(d->backend, sizeof d->backend, "%s", text_at(o, "backend"));
	return take_params(r, json_object_get(o, "params"), d);
}

static bool take_run(struct reader *r, json_t *o, struct diff_side *d)
{
	snprintf(d->result, sizeof d->result, "%s", text_at(json_object_get(o, "check"), "state"));
	return take_selection(r, o, d) && take_metrics(r, o, d);
}

static bool take_snapshot(struct reader *r, struct diff_side *d)
{
	json_t *now = json_object_get(d->doc, "now");
	if (!json_is_object(now))
		return err_set(r->err, ERR_PARSE, "%s: nothing had been run when this snapshot was written",
		               d->name);
	now = reader_enter(r, d->doc, "now", JSON_OBJECT);
	snprintf(d->result, sizeof d->result, "%s", text_at(now, "verify"));
	return take_selection(r, json_object_get(now, "selection"), d) && take_metrics(r, now, d);
}

bool diff_side_take(struct diff_side *d, struct err *err)
{
	struct reader r = { .origin = d->name, .err = err };
	if (!strcmp(text_at(d->doc, "schema"), SNAPSHOT_SCHEMA))
		return take_snapshot(&r, d);
	if (json_is_object(json_object_get(d->doc, "metrics")))
		return take_run(&r, d->doc, d);
	err_set(err, ERR_PARSE, "%s: neither a snapshot nor the output of 'run --json'", d->name);
	return err_remedy(err, "'pmpp-explore export' and the key e write snapshots");
}

bool diff_side_read(struct diff_side *d, FILE *said, struct err *err)
{
	struct text t = { 0 };
	char note[SESSION_NOTE_BYTES] = "";
	if (!file_read(d->name, SNAPSHOT_MAX_BYTES, &t, err))
		return false;
	d->doc = reader_parse(t.s ? t.s : "", t.len, d->name, JSON_REJECT_DUPLICATES,
	                      READER_MOST_VALUES, err);
	const bool vouched =
		d->doc && (strcmp(text_at(d->doc, "schema"), SNAPSHOT_SCHEMA) != 0 ||
	               session_vouch(d->name, t.s, t.len, d->doc, note, sizeof note, err));
	text_free(&t);
	if (!vouched || !diff_side_take(d, err))
		return false;
	if (*note)
		fprintf(said, "pmpp-explore: %s: %s\n", d->name, note);
	return true;
}

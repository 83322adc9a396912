/*
 * Presets: YAML by schema, checked as far as text alone allows; see preset.h.
 * Does not know which kernels, sheets or views exist: whoever runs a step finds out.
 */
#include "model/preset.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/expect.h"
#include "model/yaml_load.h"

#include <cyaml/cyaml.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "presets"
#define TEXT(key, type, field) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, field, 1, 4000)
#define OPTIONAL_TEXT(key, type, field) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, field, 1, 4000)

static const cyaml_schema_field_t book_fields[] = {
	TEXT("what", struct preset_book, what),
	CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct preset_book, value),
	CYAML_FIELD_STRING_PTR("unit", CYAML_FLAG_POINTER, struct preset_book, unit, 0, 60),
	OPTIONAL_TEXT("ours", struct preset_book, ours),
	OPTIONAL_TEXT("within", struct preset_book, within),
	OPTIONAL_TEXT("seed", struct preset_book, seed),
	OPTIONAL_TEXT("note", struct preset_book, note),
	CYAML_FIELD_BOOL("wrong", CYAML_FLAG_OPTIONAL, struct preset_book, wrong),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t book_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct preset_book, book_fields),
};
static const cyaml_schema_value_t expect_entry = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 200),
};
static const cyaml_schema_field_t step_fields[] = {
	TEXT("title", struct preset_step, title),
	TEXT("run", struct preset_step, run),
	OPTIONAL_TEXT("gpu", struct preset_step, gpu),
	TEXT("view", struct preset_step, view),
	TEXT("say", struct preset_step, say),
	OPTIONAL_TEXT("reveal", struct preset_step, reveal),
	OPTIONAL_TEXT("stops", struct preset_step, stops),
	OPTIONAL_TEXT("seeds", struct preset_step, seeds),
	CYAML_FIELD_SEQUENCE_COUNT("book", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct preset_step,
	                           book, n_book, &book_entry, 0, PRESET_MAX_BOOK),
	CYAML_FIELD_SEQUENCE_COUNT("expect", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                           struct preset_step, expect, n_expect, &expect_entry, 1,
	                           PRESET_MAX_EXPECT),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t step_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct preset_step, step_fields),
};
static const cyaml_schema_field_t preset_fields[] = {
	TEXT("title", struct preset, title),
	TEXT("chapter", struct preset, chapter),
	TEXT("about", struct preset, about),
	TEXT("gpu", struct preset, gpu),
	CYAML_FIELD_SEQUENCE_COUNT("steps", CYAML_FLAG_POINTER, struct preset, steps, n_steps,
	                           &step_entry, 1, 60),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t document = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct preset, preset_fields),
};

static bool known_name(const char *key)
{
	return metric_find(key) != METRIC_COUNT || !strcmp(key, "verified");
}

/* --- figures of the book --- */

enum metric_id preset_book_metric(const struct preset_book *b)
{
	return b->ours ? metric_find(b->ours) : METRIC_COUNT;
}

/* What the book's @unit is in the metric's own; NAN = they cannot be compared. */
static double unit_factor(const char *unit, enum metric_id id)
{
	static const struct {
		const char *book, *metric;
		double factor;
	} table[] = {
		{ "s", "ns", 1e9 }, { "ms", "ns", 1e6 },      { "us", "ns", 1e3 },
		{ "%", "pct", 1 },  { "KiB", "bytes", 1024 }, { "TFLOPS", "GFLOPS", 1e3 },
	};
	if (!strcmp(unit, metric_catalogue[id].unit))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(unit, table[i].book) && !strcmp(metric_catalogue[id].unit, table[i].metric))
			return table[i].factor;
	return NAN;
}

double preset_book_factor(const struct preset_book *b)
{
	const enum metric_id id = preset_book_metric(b);
	return id == METRIC_COUNT ? 1 : unit_factor(b->unit, id);
}

double preset_book_value(const struct preset_book *b)
{
	return b->value * preset_book_factor(b);
}

unsigned preset_claims(const struct preset_step *s)
{
	unsigned n = s->n_expect;
	for (unsigned k = 0; k < s->n_book; k++)
		n += s->book[k].ours != NULL;
	return n;
}

unsigned preset_book_claim(const struct preset_step *s, unsigned k)
{
	unsigned at = s->n_expect;
	for (unsigned i = 0; i < k; i++)
		at += s->book[i].ours != NULL;
	return s->book[k].ours ? at : PRESET_MAX_CLAIMS;
}

static void book_line(const struct preset_book *b, char *out, size_t n)
{
	snprintf(out, n, "%s ~= %.10g +- %s", b->ours, preset_book_value(b),
	         b->within ? b->within : "1 %");
}

const char *preset_claim(const struct preset_step *s, unsigned i, char *out, size_t n)
{
	if (i < s->n_expect)
		return s->expect[i];
	for (unsigned k = 0; k < s->n_book; k++)
		if (preset_book_claim(s, k) == i)
			book_line(&s->book[k], out, n);
	return out;
}

/* Nothing printed stands there unexplained: ours beside it in the same unit, or why there is none.
 */
static bool book_is_held(const struct preset_book *b, struct err *err)
{
	char line[400];
	if (!b->ours)
		return b->note || err_set(err, ERR_PARSE,
		                          "a figure of the book wants 'ours' beside it, "
		                          "or a 'note' why there is nothing");
	if (preset_book_metric(b) != METRIC_COUNT && isnan(preset_book_value(b)))
		return err_set(err, ERR_PARSE, "'%s' is no unit of %s, which is in %s", b->unit, b->ours,
		               metric_catalogue[preset_book_metric(b)].unit);
	book_line(b, line, sizeof line);
	return expect_parse(line, known_name, err);
}

static bool check(const struct preset *p, const char *yaml, size_t len, const char *origin,
                  struct err *err)
{
	for (unsigned i = 0; i < p->n_steps; i++) {
		const struct preset_step *s = &p->steps[i];
		char path[64];
		if (!s->n_expect == !s->stops) {
			snprintf(path, sizeof path, "steps[%u].%s", i, s->stops ? "stops" : "title");
			return yaml_error_at(yaml, len, origin, path, err, "a step has either expect or stops");
		}
		for (unsigned k = 0; k < s->n_expect; k++) {
			struct err e = { 0 };
			snprintf(path, sizeof path, "steps[%u].expect[%u]", i, k);
			if (!expect_parse(s->expect[k], known_name, &e))
				return yaml_error_at(yaml, len, origin, path, err, "%s", e.msg);
		}
		for (unsigned k = 0; k < s->n_book; k++) {
			struct err e = { 0 };
			snprintf(path, sizeof path, "steps[%u].book[%u].%s", i, k,
			         s->book[k].ours ? "ours" : "what");
			if (!book_is_held(&s->book[k], &e))
				return yaml_error_at(yaml, len, origin, path, err, "%s", e.msg);
		}
	}
	return true;
}

/* "presets/tour.yaml" -> "tour" */
static void set_name(struct preset *p, const char *origin)
{
	const char *slash = strrchr(origin, '/');
	const char *base = slash ? slash + 1 : origin;
	const char *dot = strrchr(base, '.');
	snprintf(p->name, sizeof p->name, "%.*s", dot ? (int)(dot - base) : (int)strlen(base), base);
}

bool preset_parse(const char *yaml, size_t len, const char *origin, struct preset **out,
                  struct err *err)
{
	void *data;
	if (!yaml_load(yaml, len, origin, &document, &data, err))
		return false;
	struct preset *p = data;
	if (!check(p, yaml, len, origin, err)) {
		preset_free(p);
		return false;
	}
	set_name(p, origin);
	*out = p;
	return true;
}

void preset_free(struct preset *p)
{
	if (p)
		yaml_unload(&document, p);
}

/* --- where presets are --- */

/* The i-th built-in preset; assets are ordered by path. NULL past the end. */
static const struct asset *built_in(size_t i, char *name, size_t n)
{
	for (size_t k = 0; k < asset_count(); k++)
		if (asset_in(asset_at(k), FOLDER, ".yaml", name, n) && !i--)
			return asset_at(k);
	return NULL;
}

size_t preset_count(void)
{
	char name[64];
	size_t n = 0;
	while (built_in(n, name, sizeof name))
		n++;
	return n;
}

const char *preset_name(size_t i)
{
	static _Thread_local char name[64];
	return built_in(i, name, sizeof name) ? name : NULL;
}

static struct {
	pthread_once_t once;
	struct preset_brief *all;
	size_t n;
} briefs = { .once = PTHREAD_ONCE_INIT };

static void describe(struct preset_brief *out, const char *name)
{
	struct preset *p = NULL;
	struct err err = { 0 };
	snprintf(out->name, sizeof out->name, "%s", name);
	if (!preset_load(name, &p, &err) || !p) {
		snprintf(out->why_not, sizeof out->why_not, "%.159s", err.msg);
		return;
	}
	snprintf(out->title, sizeof out->title, "%.159s", p->title);
	snprintf(out->chapter, sizeof out->chapter, "%.63s", p->chapter);
	out->n_steps = p->n_steps;
	preset_free(p);
}

static void describe_all(void)
{
	briefs.n = preset_count();
	briefs.all = mem_calloc(briefs.n, sizeof *briefs.all);
	for (size_t i = 0; i < briefs.n; i++)
		describe(&briefs.all[i], preset_name(i));
}

const struct preset_brief *preset_brief(size_t i)
{
	pthread_once(&briefs.once, describe_all);
	return i < briefs.n ? &briefs.all[i] : NULL;
}

static bool no_such(const char *wanted, struct err *err)
{
	const size_t n = preset_count();
	char **names = mem_calloc(n + 1, sizeof *names);
	struct text list = { 0 };
	for (size_t i = 0; i < n; i++) {
		names[i] = mem_strdup(preset_name(i));
		text_add(&list, "%s%s", i ? " " : "", names[i]);
	}
	const char *near = str_nearest(wanted, (const char *const *)names, n);
	err_set(err, ERR_USAGE, "no preset '%.60s'%s%s%s", wanted, near ? "; did you mean '" : "",
	        near ? near : "", near ? "'?" : "");
	err_remedy(err, "presets: %s; or the path of a YAML file", list.s ? list.s : "none");
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	text_free(&list);
	return false;
}

bool preset_load(const char *name_or_path, struct preset **out, struct err *err)
{
	char name[64];
	const struct asset *a;
	for (size_t i = 0; (a = built_in(i, name, sizeof name)); i++)
		if (str_ieq(name, name_or_path))
			return preset_parse(a->data, a->len, a->path, out, err);
	if (!file_looks_like_path(name_or_path, ".yaml"))
		return no_such(name_or_path, err);
	struct text t;
	if (!file_read(name_or_path, YAML_MAX_BYTES, &t, err))
		return false;
	const bool ok = preset_parse(t.s, t.len, name_or_path, out, err);
	text_free(&t);
	return ok;
}

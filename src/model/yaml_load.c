/*
 * The schema walk over libyaml events and the call of libcyaml; see yaml_load.h.
 * Knows nothing of what the text is about. References: YAML 1.1 as libyaml reads it; cyaml.h.
 */
#include "model/yaml_load.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/text_place.h"
#include "model/yaml_walk.h"

#include <assert.h>
#include <cyaml/cyaml.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 64

static bool walk_value(struct yaml_walk *w, yaml_event_t *ev, const char *name,
                       const cyaml_schema_value_t *schema);

static bool unknown_key(const struct yaml_walk *w, size_t at, const char *key,
                        const cyaml_schema_field_t *fields)
{
	const char *names[MAX_FIELDS];
	size_t n = 0;
	struct text known = { 0 };
	for (; fields[n].key; n++) {
		names[n] = fields[n].key;
		text_add(&known, "%s%s", n ? ", " : "", names[n]);
	}
	const char *near = str_nearest(key, names, n);
	if (near)
		walk_error(w, at, "unknown key '%.60s'; did you mean '%s'?", key, near);
	else
		walk_error(w, at, "unknown key '%.60s'", key);
	if (known.s && strlen(known.s) > 400)
		snprintf(known.s + 396, 4, "...");
	err_remedy(w->err, "known keys: %s", known.s ? known.s : "none");
	text_free(&known);
	return false;
}

static bool missing_keys(const struct yaml_walk *w, size_t at, uint64_t seen,
                         const cyaml_schema_field_t *fields)
{
	struct text list = { 0 };
	const char *first = NULL;
	unsigned n = 0;
	for (unsigned i = 0; fields[i].key; i++) {
		if (seen >> i & 1 || fields[i].value.flags & CYAML_FLAG_OPTIONAL)
			continue;
		if (!first)
			first = fields[i].key;
		text_add(&list, "%s%s", n ? ", " : "", fields[i].key);
		n++;
	}
	if (n) {
		walk_error(w, at, "missing %s: %.800s", n == 1 ? "key" : "keys", list.s);
		err_remedy(w->err, "add a line '%s: ...'", first);
	}
	text_free(&list);
	return !n;
}

/* @start is the mapping's first event (deleted by the caller's caller: only its mark is needed). */
static bool walk_mapping(struct yaml_walk *w, size_t start, const cyaml_schema_field_t *fields)
{
	uint64_t seen = 0;
	for (;;) {
		yaml_event_t ev;
		if (!walk_next(w, &ev))
			return false;
		if (ev.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&ev);
			return missing_keys(w, start, seen, fields);
		}
		size_t at = walk_place(w, ev.start_mark);
		if (ev.type != YAML_SCALAR_EVENT) {
			yaml_event_delete(&ev);
			return walk_error(w, at, "a key must be a word");
		}
		const char *key = (const char *)ev.data.scalar.value;
		unsigned i = 0;
		while (fields[i].key && strcmp(fields[i].key, key) != 0)
			i++;
		assert(i < MAX_FIELDS);
		bool good = true;
		if (!fields[i].key || strlen(key) != ev.data.scalar.length)
			good = unknown_key(w, at, key, fields);
		else if (seen >> i & 1)
			good = walk_error(w, at, "key '%s' is given twice", key);
		yaml_event_delete(&ev);
		if (!good)
			return false;
		seen |= (uint64_t)1 << i;
		if (!walk_next(w, &ev) || !walk_value(w, &ev, fields[i].key, &fields[i].value))
			return false;
	}
}

static bool walk_sequence(struct yaml_walk *w, size_t start, const char *name,
                          const cyaml_schema_value_t *schema)
{
	uint32_t n = 0;
	for (;; n++) {
		yaml_event_t ev;
		if (!walk_next(w, &ev))
			return false;
		if (ev.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&ev);
			break;
		}
		if (n == schema->sequence.max) {
			size_t at = walk_place(w, ev.start_mark);
			yaml_event_delete(&ev);
			return walk_error(w, at, "'%s' holds at most %u entries", name, schema->sequence.max);
		}
		if (!walk_value(w, &ev, name, schema->sequence.entry))
			return false;
	}
	if (n < schema->sequence.min)
		return walk_error(w, start, "'%s' holds %u of at least %u entries", name, n,
		                  schema->sequence.min);
	return true;
}

/* Checks one node from its first event on; deletes @ev. */
static bool walk_value(struct yaml_walk *w, yaml_event_t *ev, const char *name,
                       const cyaml_schema_value_t *schema)
{
	const size_t at = walk_place(w, ev->start_mark);
	const yaml_event_type_t got = ev->type;
	const char *want = NULL;
	bool good;

	switch (schema->type) {
	case CYAML_MAPPING:
		want = got == YAML_MAPPING_START_EVENT ? NULL : "a group of 'key: value' lines";
		break;
	case CYAML_SEQUENCE:
	case CYAML_SEQUENCE_FIXED:
		want = got == YAML_SEQUENCE_START_EVENT ? NULL : "a list of '- ' entries";
		break;
	case CYAML_INT:
	case CYAML_UINT:
	case CYAML_FLOAT: want = got == YAML_SCALAR_EVENT ? NULL : "a number"; break;
	case CYAML_BOOL:
	case CYAML_ENUM:
	case CYAML_STRING: want = got == YAML_SCALAR_EVENT ? NULL : "a single word or text"; break;
	default: return walk_skip(w, ev);
	}
	if (want) {
		yaml_event_delete(ev);
		return name ? walk_error(w, at, "'%s' must be %s", name, want)
		            : walk_error(w, at, "the file must be %s", want);
	}
	if (got == YAML_SCALAR_EVENT)
		good = walk_check_scalar(w, ev, name ? name : "value", schema);
	else
		good = true;
	yaml_event_delete(ev);
	if (got == YAML_MAPPING_START_EVENT)
		return walk_mapping(w, at, schema->mapping.fields);
	if (got == YAML_SEQUENCE_START_EVENT)
		return walk_sequence(w, at, name ? name : "list", schema);
	return good;
}

/* Stream start, one document, stream end. */
static bool walk_stream(struct yaml_walk *w, const cyaml_schema_value_t *schema)
{
	yaml_event_t ev;
	unsigned documents = 0;
	for (;;) {
		if (!walk_next(w, &ev))
			return false;
		yaml_event_type_t t = ev.type;
		size_t at = walk_place(w, ev.start_mark);
		yaml_event_delete(&ev);
		switch (t) {
		case YAML_STREAM_END_EVENT: return documents || walk_error(w, 0, "the file is empty");
		case YAML_DOCUMENT_START_EVENT:
			if (documents++)
				return walk_error(w, at, "a second document; one file holds one");
			if (!walk_next(w, &ev) || !walk_value(w, &ev, NULL, schema))
				return false;
			break;
		default: break;
		}
	}
}

struct log {
	char first[256]; /* the first complaint; the backtrace that follows is dropped */
};

static void keep_first(cyaml_log_t level, void *ctx, const char *fmt, va_list ap)
{
	struct log *log = ctx;
	if (level < CYAML_LOG_ERROR || log->first[0])
		return;
	vsnprintf(log->first, sizeof log->first, fmt, ap);
	size_t n = strlen(log->first);
	while (n && (log->first[n - 1] == '\n' || log->first[n - 1] == ' '))
		log->first[--n] = '\0';
}

static void *memory(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	if (bytes)
		return mem_realloc(p, 1, bytes);
	free(p);
	return NULL;
}

static cyaml_config_t config(struct log *log)
{
	return (cyaml_config_t){ .log_fn = log ? keep_first : NULL,
		                     .log_ctx = log,
		                     .log_level = CYAML_LOG_ERROR,
		                     .mem_fn = memory,
		                     .flags = CYAML_CFG_NO_ALIAS };
}

static bool convert(struct yaml_walk *w, const cyaml_schema_value_t *schema, void **data)
{
	struct log log = { "" };
	cyaml_config_t cfg = config(&log);
	cyaml_data_t *loaded = NULL;
	cyaml_err_t e =
		cyaml_load_data((const uint8_t *)w->text.bytes, w->text.len, &cfg, schema, &loaded, NULL);
	if (e != CYAML_OK || !loaded)
		return walk_error(w, 0, "%s (%s)", cyaml_strerror(e), log.first);
	*data = loaded;
	return true;
}

bool yaml_load(const char *text, size_t len, const char *origin,
               const struct cyaml_schema_value *schema, void **data, struct err *err)
{
	struct yaml_walk w = { .text = { text, len, origin }, .err = err };
	*data = NULL;
	assert(schema->type == CYAML_MAPPING && schema->flags & CYAML_FLAG_POINTER);
	if (len > YAML_MAX_BYTES)
		return err_set(err, ERR_PARSE, "%s: %zu bytes; a file of this kind has at most %u", origin,
		               len, YAML_MAX_BYTES);
	/* libyaml would also take UTF-16, and cyaml would pass halves of characters on. */
	if (!place_check_utf8(&w.text, err) || !walk_open(&w))
		return false;

	/* strtod() here and inside cyaml must not read "1,5" in some locale. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = c ? uselocale(c) : (locale_t)0;
	bool good = walk_stream(&w, schema) && convert(&w, schema, data);
	if (c) {
		uselocale(before);
		freelocale(c);
	}
	yaml_parser_delete(&w.parser);
	return good;
}

void yaml_unload(const struct cyaml_schema_value *schema, void *data)
{
	cyaml_config_t cfg = config(NULL);
	if (data)
		cyaml_free(&cfg, schema, data, 0);
}

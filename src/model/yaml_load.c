/*
 * The schema walk over libyaml events and the call of libcyaml; see yaml_load.h.
 * Knows nothing of what the text is about. References: YAML 1.1 as libyaml reads it; cyaml.h.
 */
#include "model/yaml_load.h"
#include "base/text.h"
#include "model/text_place.h"

#include <assert.h>
#include <cyaml/cyaml.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_FIELDS 64

struct walk {
	yaml_parser_t parser;
	struct source_text text;
	struct err *err;
};

static bool complain(const struct walk *w, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static bool complain(const struct walk *w, size_t at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	place_error_v(&w->text, at, w->err, fmt, ap);
	va_end(ap);
	return false;
}

/* libyaml's marks count characters, a byte-order mark as one. */
static size_t at_mark(const struct walk *w, yaml_mark_t mark)
{
	return place_of_character(&w->text, mark.index);
}

/* --- events --- */

static bool next(struct walk *w, yaml_event_t *ev)
{
	if (!yaml_parser_parse(&w->parser, ev)) {
		const yaml_parser_t *p = &w->parser;
		if (p->error == YAML_READER_ERROR)
			return complain(w, p->problem_offset, "%s", p->problem ? p->problem : "unreadable");
		if (p->error == YAML_MEMORY_ERROR)
			return err_set(w->err, ERR_PARSE, "%s: out of memory in libyaml", w->text.origin);
		return complain(w, at_mark(w, p->problem_mark), "%s%s%s", p->context ? p->context : "",
		                p->context ? ": " : "", p->problem ? p->problem : "malformed YAML");
	}
	if (ev->type == YAML_ALIAS_EVENT) {
		complain(w, at_mark(w, ev->start_mark), "aliases (*name) are not supported");
		yaml_event_delete(ev);
		return false;
	}
	return true;
}

/* Passes over the rest of a node whose first event is @ev (which is deleted). */
static bool skip(struct walk *w, yaml_event_t *ev)
{
	unsigned depth = 0;
	for (;;) {
		yaml_event_type_t t = ev->type;
		yaml_event_delete(ev);
		if (t == YAML_MAPPING_START_EVENT || t == YAML_SEQUENCE_START_EVENT)
			depth++;
		else if (t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT)
			depth--;
		if (!depth)
			return true;
		if (!next(w, ev))
			return false;
	}
}

/* --- scalars --- */

static bool digits(const char **s)
{
	const char *start = *s;
	while (**s >= '0' && **s <= '9')
		(*s)++;
	return *s > start;
}

/* Decimal, no leading zero (YAML 1.1 would read 010 as 8), no sign but '-'. */
static bool is_integer(const char *s)
{
	if (*s == '-')
		s++;
	const char *first = s;
	return digits(&s) && !*s && (*first != '0' || first[1] == '\0');
}

static bool is_number(const char *s)
{
	if (*s == '-')
		s++;
	if (!digits(&s))
		return false;
	if (*s == '.' && (s++, !digits(&s)))
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '+' || *s == '-')
			s++;
		if (!digits(&s))
			return false;
	}
	return !*s;
}

static bool check_unsigned(const struct walk *w, size_t at, const char *name, const char *s,
                           uint32_t size)
{
	if (*s == '-' && is_number(s))
		return complain(w, at, "'%s' must not be negative", name);
	if (!is_integer(s))
		return complain(w, at, "'%s' must be a whole decimal number, not '%.40s'", name, s);
	uint64_t max = size >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
	errno = 0;
	unsigned long long v = strtoull(s, NULL, 10);
	if (errno || v > max)
		return complain(w, at, "'%s' is larger than %" PRIu64, name, max);
	return true;
}

static bool check_signed(const struct walk *w, size_t at, const char *name, const char *s,
                         uint32_t size)
{
	if (!is_integer(s))
		return complain(w, at, "'%s' must be a whole decimal number, not '%.40s'", name, s);
	int64_t max = size >= 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;
	errno = 0;
	long long v = strtoll(s, NULL, 10);
	if (errno || v > max || v < -max - 1)
		return complain(w, at, "'%s' is outside %" PRId64 " to %" PRId64, name, -max - 1, max);
	return true;
}

static bool check_string(const struct walk *w, size_t at, const char *name, const char *s, size_t n,
                         const cyaml_schema_value_t *schema)
{
	const bool long_text = schema->flags & CYAML_FLAG_POINTER;
	if (n == 0 && schema->string.min > 0)
		return complain(w, at, "'%s' is empty", name);
	if (n < schema->string.min)
		return complain(w, at, "'%s' is shorter than %u characters", name, schema->string.min);
	if (n > schema->string.max)
		return complain(w, at, "'%s' is longer than %u bytes", name, schema->string.max);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool c1 = c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0;
		if ((c < 0x20 && !(long_text && (c == '\n' || c == '\t'))) || c == 0x7f || c1)
			return complain(w, at, "'%s' holds a control character", name);
	}
	return true;
}

static bool check_scalar(const struct walk *w, const yaml_event_t *ev, const char *name,
                         const cyaml_schema_value_t *schema)
{
	const char *s = (const char *)ev->data.scalar.value;
	const size_t n = ev->data.scalar.length;
	const size_t at = at_mark(w, ev->start_mark);
	const bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	const bool numeric =
		schema->type == CYAML_INT || schema->type == CYAML_UINT || schema->type == CYAML_FLOAT;

	if (numeric && plain && n == 0)
		return complain(w, at, "'%s' has no value", name);
	if (numeric && (!plain || strlen(s) != n))
		return complain(w, at, "'%s' must be a number, not text", name);
	switch (schema->type) {
	case CYAML_INT: return check_signed(w, at, name, s, schema->data_size);
	case CYAML_UINT: return check_unsigned(w, at, name, s, schema->data_size);
	case CYAML_FLOAT:
		if (!is_number(s))
			return complain(w, at, "'%s' must be a decimal number, not '%.40s'", name, s);
		if (!isfinite(strtod(s, NULL)))
			return complain(w, at, "'%s' is too large", name);
		return true;
	case CYAML_STRING: return check_string(w, at, name, s, n, schema);
	case CYAML_BOOL:
		if (strcmp(s, "true") && strcmp(s, "false") && strcmp(s, "yes") && strcmp(s, "no"))
			return complain(w, at, "'%s' must be true or false, not '%.40s'", name, s);
		return true;
	case CYAML_ENUM: {
		char list[300] = "";
		size_t used = 0;
		for (uint32_t i = 0; i < schema->enumeration.count; i++) {
			const char *word = schema->enumeration.strings[i].str;
			if (!strcmp(s, word))
				return true;
			if (used < sizeof list)
				used +=
					(size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", word);
		}
		return complain(w, at, "'%s' must be one of %s, not '%.40s'", name, list, s);
	}
	default: return true; /* cyaml judges the rest */
	}
}

/* --- nodes --- */

static bool walk_value(struct walk *w, yaml_event_t *ev, const char *name,
                       const cyaml_schema_value_t *schema);

static bool unknown_key(const struct walk *w, size_t at, const char *key,
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
		complain(w, at, "unknown key '%.60s'; did you mean '%s'?", key, near);
	else
		complain(w, at, "unknown key '%.60s'", key);
	if (known.s && strlen(known.s) > 400)
		strcpy(known.s + 396, "...");
	err_remedy(w->err, "known keys: %s", known.s ? known.s : "none");
	text_free(&known);
	return false;
}

static bool missing_keys(const struct walk *w, size_t at, uint64_t seen,
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
		complain(w, at, "missing %s: %.800s", n == 1 ? "key" : "keys", list.s);
		err_remedy(w->err, "add a line '%s: ...'", first);
	}
	text_free(&list);
	return !n;
}

/* @start is the mapping's first event (deleted by the caller's caller: only its mark is needed). */
static bool walk_mapping(struct walk *w, size_t start, const cyaml_schema_field_t *fields)
{
	uint64_t seen = 0;
	for (;;) {
		yaml_event_t ev;
		if (!next(w, &ev))
			return false;
		if (ev.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&ev);
			return missing_keys(w, start, seen, fields);
		}
		size_t at = at_mark(w, ev.start_mark);
		if (ev.type != YAML_SCALAR_EVENT) {
			yaml_event_delete(&ev);
			return complain(w, at, "a key must be a word");
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
			good = complain(w, at, "key '%s' is given twice", key);
		yaml_event_delete(&ev);
		if (!good)
			return false;
		seen |= (uint64_t)1 << i;
		if (!next(w, &ev) || !walk_value(w, &ev, fields[i].key, &fields[i].value))
			return false;
	}
}

static bool walk_sequence(struct walk *w, size_t start, const char *name,
                          const cyaml_schema_value_t *schema)
{
	uint32_t n = 0;
	for (;; n++) {
		yaml_event_t ev;
		if (!next(w, &ev))
			return false;
		if (ev.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&ev);
			break;
		}
		if (n == schema->sequence.max) {
			size_t at = at_mark(w, ev.start_mark);
			yaml_event_delete(&ev);
			return complain(w, at, "'%s' holds at most %u entries", name, schema->sequence.max);
		}
		if (!walk_value(w, &ev, name, schema->sequence.entry))
			return false;
	}
	if (n < schema->sequence.min)
		return complain(w, start, "'%s' holds %u of at least %u entries", name, n,
		                schema->sequence.min);
	return true;
}

/* Checks one node from its first event on; deletes @ev. */
static bool walk_value(struct walk *w, yaml_event_t *ev, const char *name,
                       const cyaml_schema_value_t *schema)
{
	const size_t at = at_mark(w, ev->start_mark);
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
	default: return skip(w, ev);
	}
	if (want) {
		yaml_event_delete(ev);
		return name ? complain(w, at, "'%s' must be %s", name, want)
		            : complain(w, at, "the file must be %s", want);
	}
	if (got == YAML_SCALAR_EVENT)
		good = check_scalar(w, ev, name ? name : "value", schema);
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
static bool walk_stream(struct walk *w, const cyaml_schema_value_t *schema)
{
	yaml_event_t ev;
	unsigned documents = 0;
	for (;;) {
		if (!next(w, &ev))
			return false;
		yaml_event_type_t t = ev.type;
		size_t at = at_mark(w, ev.start_mark);
		yaml_event_delete(&ev);
		switch (t) {
		case YAML_STREAM_END_EVENT: return documents || complain(w, 0, "the file is empty");
		case YAML_DOCUMENT_START_EVENT:
			if (documents++)
				return complain(w, at, "a second document; one file holds one");
			if (!next(w, &ev) || !walk_value(w, &ev, NULL, schema))
				return false;
			break;
		default: break;
		}
	}
}

static bool open_walk(struct walk *w)
{
	if (!yaml_parser_initialize(&w->parser))
		return err_set(w->err, ERR_PARSE, "%s: out of memory in libyaml", w->text.origin);
	yaml_parser_set_encoding(&w->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&w->parser, (const unsigned char *)w->text.bytes, w->text.len);
	return true;
}

/* --- libcyaml --- */

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

static cyaml_config_t config(struct log *log)
{
	return (cyaml_config_t){ .log_fn = log ? keep_first : NULL,
		                     .log_ctx = log,
		                     .log_level = CYAML_LOG_ERROR,
		                     .mem_fn = cyaml_mem,
		                     .flags = CYAML_CFG_NO_ALIAS };
}

static bool convert(struct walk *w, const cyaml_schema_value_t *schema, void **data)
{
	struct log log = { "" };
	cyaml_config_t cfg = config(&log);
	cyaml_data_t *loaded = NULL;
	cyaml_err_t e =
		cyaml_load_data((const uint8_t *)w->text.bytes, w->text.len, &cfg, schema, &loaded, NULL);
	if (e != CYAML_OK || !loaded)
		return complain(w, 0, "%s (%s)", cyaml_strerror(e), log.first);
	*data = loaded;
	return true;
}

bool yaml_load(const char *text, size_t len, const char *origin,
               const struct cyaml_schema_value *schema, void **data, struct err *err)
{
	struct walk w = { .text = { text, len, origin }, .err = err };
	*data = NULL;
	assert(schema->type == CYAML_MAPPING && schema->flags & CYAML_FLAG_POINTER);
	if (len > YAML_MAX_BYTES)
		return err_set(err, ERR_PARSE, "%s: %zu bytes; a file of this kind has at most %u", origin,
		               len, YAML_MAX_BYTES);
	/* libyaml would also take UTF-16, and cyaml would pass halves of characters on. */
	if (!place_check_utf8(&w.text, err) || !open_walk(&w))
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

/* --- a place by its path --- */

/* Follows @path from the node that starts with @ev (deleted); *found moves inward on the way. */
static void follow(struct walk *w, yaml_event_t *ev, const char *path, size_t *found)
{
	for (;;) {
		*found = at_mark(w, ev->start_mark);
		if (!*path)
			break;
		if (*path == '[' && ev->type == YAML_SEQUENCE_START_EVENT) {
			unsigned long want = strtoul(path + 1, NULL, 10);
			yaml_event_delete(ev);
			for (unsigned long i = 0;; i++) {
				if (!next(w, ev))
					return;
				if (ev->type == YAML_SEQUENCE_END_EVENT || i == want)
					break;
				if (!skip(w, ev))
					return;
			}
			if (ev->type == YAML_SEQUENCE_END_EVENT)
				break;
			path += strcspn(path, "]");
			path += *path == ']';
		} else if (ev->type == YAML_MAPPING_START_EVENT) {
			path += *path == '.';
			size_t n = strcspn(path, ".[");
			bool hit = false;
			yaml_event_delete(ev);
			for (;;) {
				if (!next(w, ev))
					return;
				if (ev->type == YAML_MAPPING_END_EVENT)
					break;
				hit = ev->type == YAML_SCALAR_EVENT && ev->data.scalar.length == n &&
				      !memcmp(ev->data.scalar.value, path, n);
				if (!skip(w, ev) || !next(w, ev))
					return;
				if (hit)
					break;
				if (!skip(w, ev))
					return;
			}
			if (!hit)
				break;
			path += n;
		} else {
			break;
		}
	}
	yaml_event_delete(ev);
}

bool yaml_error_at(const char *text, size_t len, const char *origin, const char *path,
                   struct err *err, const char *fmt, ...)
{
	struct walk w = { .text = { text, len, origin } };
	size_t at = 0;
	yaml_event_t ev;

	if (open_walk(&w)) {
		/* stream start, document start, root node */
		if (next(&w, &ev)) {
			yaml_event_delete(&ev);
			if (next(&w, &ev)) {
				yaml_event_delete(&ev);
				if (next(&w, &ev))
					follow(&w, &ev, path, &at);
			}
		}
		yaml_parser_delete(&w.parser);
	}
	va_list ap;
	va_start(ap, fmt);
	place_error_v(&w.text, at, err, fmt, ap);
	va_end(ap);
	return false;
}

/* Checked reading of JSON values; see json_reader.h. */
#include "model/json_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool reader_complain(struct reader *r, const char *key, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%s: %s%s%s: %s", r->origin, r->path,
	               r->depth && *key ? "." : "", key, what);
}

/* Values, at most: every one but the first stands behind a comma, or opens an object or a list. */
static size_t count_values(const char *text, size_t len)
{
	size_t n = 1;
	bool in_string = false;
	for (size_t i = 0; i < len; i++) {
		const char c = text[i];
		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == ',' || c == '[' || c == '{'))
			n++;
	}
	return n;
}

json_t *reader_parse(const char *text, size_t len, const char *origin, size_t flags, size_t most,
                     struct err *err)
{
	json_error_t at;
	if (count_values(text, len) > most) {
		err_set(err, ERR_PARSE, "%s: more than %zu values; nothing of this kind has as many",
		        origin, most);
		return NULL;
	}
	json_t *doc = json_loadb(text, len, flags, &at);
	if (!doc)
		err_set(err, ERR_PARSE, "%s:%d:%d: %s", origin, at.line, at.column, at.text);
	return doc;
}

json_t *reader_enter(struct reader *r, json_t *o, const char *key, json_type type)
{
	json_t *v = json_object_get(o, key);
	if (!v || json_typeof(v) != type) {
		reader_complain(r, key,
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

void reader_leave(struct reader *r, size_t depth)
{
	r->depth = depth;
	r->path[depth] = '\0';
}

bool reader_number(struct reader *r, json_t *o, const char *key, double *out)
{
	const json_t *v = json_object_get(o, key);
	if (json_is_null(v))
		*out = NAN;
	else if (json_is_number(v))
		*out = json_number_value(v);
	else
		return reader_complain(r, key, v ? "a number is needed" : "is missing");
	return true;
}

bool reader_whole(struct reader *r, json_t *o, const char *key, int64_t least, uint64_t most,
                  int64_t *out)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_integer(v))
		return reader_complain(r, key, v ? "a whole number is needed" : "is missing");
	const json_int_t i = json_integer_value(v);
	if (i < least || (i >= 0 && (uint64_t)i > most))
		return reader_complain(r, key, "this number is out of range");
	*out = i;
	return true;
}

bool reader_bool(struct reader *r, json_t *o, const char *key, bool *out)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_boolean(v))
		return reader_complain(r, key, v ? "true or false is needed" : "is missing");
	*out = json_is_true(v);
	return true;
}

const char *reader_text(struct reader *r, json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!json_is_string(v)) {
		reader_complain(r, key, v ? "text is needed" : "is missing");
		return NULL;
	}
	return json_string_value(v);
}

bool reader_chars(struct reader *r, json_t *o, const char *key, char *out, size_t n)
{
	const char *s = reader_text(r, o, key);
	if (!s)
		return false;
	if (strlen(s) >= n)
		return reader_complain(r, key, "this text is too long");
	memcpy(out, s, strlen(s) + 1);
	return true;
}

int reader_name(struct reader *r, json_t *o, const char *key, const char *const *names, int n)
{
	const char *s = reader_text(r, o, key);
	for (int i = 0; s && i < n; i++)
		if (!strcmp(names[i], s))
			return i;
	if (s)
		reader_complain(r, key, "not a name this version knows");
	return -1;
}

/* One value against its schema: numbers, texts, words; see yaml_walk.h. */
#include "model/yaml_walk.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	if (*s == '.') {
		s++;
		if (!digits(&s))
			return false;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '+' || *s == '-')
			s++;
		if (!digits(&s))
			return false;
	}
	return !*s;
}

static bool check_unsigned(const struct yaml_walk *w, size_t at, const char *name, const char *s,
                           uint32_t size)
{
	if (*s == '-' && is_number(s))
		return walk_error(w, at, "'%s' must not be negative", name);
	if (!is_integer(s))
		return walk_error(w, at, "'%s' must be a whole decimal number, not '%.40s'", name, s);
	uint64_t max = size >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
	errno = 0;
	unsigned long long v = strtoull(s, NULL, 10);
	if (errno || v > max)
		return walk_error(w, at, "'%s' is larger than %" PRIu64, name, max);
	return true;
}

static bool check_signed(const struct yaml_walk *w, size_t at, const char *name, const char *s,
                         uint32_t size)
{
	if (!is_integer(s))
		return walk_error(w, at, "'%s' must be a whole decimal number, not '%.40s'", name, s);
	int64_t max = size >= 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;
	errno = 0;
	long long v = strtoll(s, NULL, 10);
	if (errno || v > max || v < -max - 1)
		return walk_error(w, at, "'%s' is outside %" PRId64 " to %" PRId64, name, -max - 1, max);
	return true;
}

static bool check_string(const struct yaml_walk *w, size_t at, const char *name, const char *s,
                         size_t n, const cyaml_schema_value_t *schema)
{
	const bool long_text = schema->flags & CYAML_FLAG_POINTER;
	if (n == 0 && schema->string.min > 0)
		return walk_error(w, at, "'%s' is empty", name);
	if (n < schema->string.min)
		return walk_error(w, at, "'%s' is shorter than %u characters", name, schema->string.min);
	if (n > schema->string.max)
		return walk_error(w, at, "'%s' is longer than %u bytes", name, schema->string.max);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool c1 = c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0;
		if ((c < 0x20 && !(long_text && (c == '\n' || c == '\t'))) || c == 0x7f || c1)
			return walk_error(w, at, "'%s' holds a control character", name);
	}
	return true;
}

bool walk_check_scalar(const struct yaml_walk *w, const yaml_event_t *ev, const char *name,
                       const cyaml_schema_value_t *schema)
{
	const char *s = (const char *)ev->data.scalar.value;
	const size_t n = ev->data.scalar.length;
	const size_t at = walk_place(w, ev->start_mark);
	const bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	const bool numeric =
		schema->type == CYAML_INT || schema->type == CYAML_UINT || schema->type == CYAML_FLOAT;

	if (numeric && plain && n == 0)
		return walk_error(w, at, "'%s' has no value", name);
	if (numeric && (!plain || strlen(s) != n))
		return walk_error(w, at, "'%s' must be a number, not text", name);
	switch (schema->type) {
	case CYAML_INT: return check_signed(w, at, name, s, schema->data_size);
	case CYAML_UINT: return check_unsigned(w, at, name, s, schema->data_size);
	case CYAML_FLOAT:
		if (!is_number(s))
			return walk_error(w, at, "'%s' must be a decimal number, not '%.40s'", name, s);
		if (!isfinite(strtod(s, NULL)))
			return walk_error(w, at, "'%s' is too large", name);
		return true;
	case CYAML_STRING: return check_string(w, at, name, s, n, schema);
	case CYAML_BOOL:
		if (strcmp(s, "true") && strcmp(s, "false") && strcmp(s, "yes") && strcmp(s, "no"))
			return walk_error(w, at, "'%s' must be true or false, not '%.40s'", name, s);
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
		return walk_error(w, at, "'%s' must be one of %s, not '%.40s'", name, list, s);
	}
	default: return true; /* cyaml judges the rest */
	}
}

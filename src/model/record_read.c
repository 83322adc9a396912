/* JSON to records by their tables, with checks; see record_fields.h. */
#include "model/record_fields.h"

#include "base/intern.h"
#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void record_store(void *at, size_t size, uint64_t v)
{
	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)v; break;
	case 4: *(uint32_t *)at = (uint32_t)v; break;
	default: *(uint64_t *)at = v; break;
	}
}

uint64_t record_largest(size_t size)
{
	return size >= 8 ? INT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
}

static bool read_vector(struct reader *r, json_t *o, const struct record_field *f, uint64_t *out)
{
	const size_t n = f->size / sizeof *out;
	const json_t *list = json_object_get(o, f->key);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);
		if (!json_is_integer(v)) {
			char what[64];
			snprintf(what, sizeof what, "%zu whole numbers are needed", n);
			return reader_complain(r, f->key, what);
		}
		out[i] = (uint64_t)json_integer_value(v);
	}
	return true;
}

static bool read_items(struct reader *r, json_t *list, const struct record_table *t, char *items,
                       size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!record_read(r, json_array_get(list, i), t, items + i * t->size))
			return false;
	return true;
}

/* LIST and ARRAY. */
static bool read_list(struct reader *r, json_t *o, const struct record_field *f, char *record)
{
	const size_t depth = r->depth;
	json_t *list = reader_enter(r, o, f->key, JSON_ARRAY);
	if (!list)
		return false;
	size_t n = json_array_size(list);
	char *items = record + f->offset;
	if (f->kind == FIELD_LIST) {
		if (n > f->most)
			return reader_complain(r, "", "this list is too long");
		items = mem_calloc(n ? n : 1, f->table->size);
		*(void **)(void *)(record + f->offset) = items;
	} else if (n > record_room(f)) {
		n = record_room(f);
	}
	*(unsigned *)(void *)(record + f->count_offset) = (unsigned)n;
	if (!read_items(r, list, f->table, items, n))
		return false;
	reader_leave(r, depth);
	return true;
}

static bool read_pointer(struct reader *r, json_t *o, const struct record_field *f, char *at)
{
	void *x = NULL;
	if (*f->key && json_is_null(json_object_get(o, f->key)))
		return true;
	x = mem_calloc(1, f->table->size);
	memcpy(at, &x, sizeof x);
	return *f->key ? record_read_member(r, o, f->key, f->table, x) : record_read(r, o, f->table, x);
}

static bool read_field(struct reader *r, json_t *o, const struct record_field *f, char *record);

static bool read_map(struct reader *r, json_t *o, const struct record_field *f, char *record)
{
	const size_t depth = r->depth;
	const struct record_table *t = f->table;
	unsigned *n = (unsigned *)(void *)(record + f->count_offset);
	json_t *map = reader_enter(r, o, f->key, JSON_OBJECT), *each;
	const char *name;
	if (!map)
		return false;
	json_object_foreach(map, name, each)
	{
		if (*n == record_room(f))
			break;
		char *item = record + f->offset + (*n)++ * t->size;
		snprintf(item + t->fields[0].offset, t->fields[0].size, "%s", name);
		struct record_field value = t->fields[1];
		value.key = name;
		if (!read_field(r, map, &value, item))
			return false;
	}
	reader_leave(r, depth);
	return true;
}

static bool read_whole(struct reader *r, json_t *o, const struct record_field *f, char *at)
{
	const bool index = f->kind == FIELD_INDEX;
	int64_t whole;
	if (!reader_whole(r, o, f->key, index ? -1 : 0, index ? INT8_MAX : record_largest(f->size),
	                  &whole))
		return false;
	if (f->most && (uint64_t)whole > f->most)
		whole = (int64_t)f->most;
	record_store(at, f->size, (uint64_t)whole);
	return true;
}

/* A number within a range, whole or not, as it is kept. */
static bool read_figure(struct reader *r, json_t *o, const struct record_field *f, char *at)
{
	double v;
	if (!reader_number(r, o, f->key, &v))
		return false;
	if (!(v >= f->range.least && v <= f->range.most))
		return reader_complain(r, f->key, "this figure is out of range");
	if (f->kind == FIELD_DOUBLE)
		memcpy(at, &v, sizeof v);
	else
		record_store(at, f->size, (uint64_t)v);
	return true;
}

/* It becomes part of file names and of command lines that are copied. */
static bool check_word(struct reader *r, const char *key, const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const size_t first = strspn(word, letters);
	for (const char *c = word + first; first && *c; c++)
		if (!strchr(letters, *c) && *c != '-' && *c != '.')
			return reader_complain(r, key, "a word of letters, digits, '-', '.' and '_' is needed");
	return first || reader_complain(r, key, "a word that begins with a letter or digit is needed");
}

static bool read_field(struct reader *r, json_t *o, const struct record_field *f, char *record)
{
	char *at = record + f->offset;
	if (f->codec && f->codec->read)
		return f->codec->read(r, o, f->key, record);
	if (f->range.most > 0)
		return read_figure(r, o, f, at);
	switch (f->kind) {
	case FIELD_UNSIGNED:
	case FIELD_INDEX: return read_whole(r, o, f, at);
	case FIELD_DOUBLE: return reader_number(r, o, f->key, (double *)(void *)at);
	case FIELD_BOOL: return reader_bool(r, o, f->key, (bool *)at);
	case FIELD_CHARS:
		return reader_chars(r, o, f->key, at, f->size) && (!f->word || check_word(r, f->key, at));
	case FIELD_TEXT: {
		const char *s = reader_text(r, o, f->key);
		*(const char **)(void *)at = s ? intern(s) : NULL;
		return s != NULL;
	}
	case FIELD_NAME: {
		const int i = reader_name(r, o, f->key, f->names->names, (int)f->names->n);
		if (i >= 0)
			record_store(at, f->size, (uint64_t)i);
		return i >= 0;
	}
	case FIELD_VECTOR: return read_vector(r, o, f, (uint64_t *)(void *)at);
	case FIELD_RECORD:
		return *f->key ? record_read_member(r, o, f->key, f->table, at)
		               : record_read(r, o, f->table, at);
	case FIELD_POINTER: return read_pointer(r, o, f, at);
	case FIELD_LIST:
	case FIELD_ARRAY: return read_list(r, o, f, record);
	case FIELD_MAP: return read_map(r, o, f, record);
	case FIELD_CODED:
	case FIELD_OTHER: break;
	}
	return true;
}

/* Members that stand in the object itself are there if the first of them is. */
static bool absent(const struct record_field *f, json_t *o)
{
	return record_field_optional(f) &&
	       !json_object_get(o, *f->key ? f->key : f->table->fields[0].key);
}

/* What is not there is zeroed already. */
static void leave_unknown(const struct record_field *f, char *record)
{
	if (f->younger && f->kind == FIELD_DOUBLE)
		*(double *)(void *)(record + f->offset) = NAN;
}

bool record_read(struct reader *r, json_t *o, const struct record_table *t, void *x)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		if (!f->key)
			continue;
		if (absent(f, o))
			leave_unknown(f, x);
		else if (!read_field(r, o, f, x))
			return false;
	}
	return !t->finish || t->finish(r, o, x);
}

bool record_read_member(struct reader *r, json_t *from, const char *key,
                        const struct record_table *t, void *x)
{
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, key, JSON_OBJECT);
	if (!o || !record_read(r, o, t, x))
		return false;
	reader_leave(r, depth);
	return true;
}

/* Writing and reading records by their tables; see record_fields.h. */
#include "model/record_fields.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(double v)
{
	if (!isfinite(v))
		return json_null();
	if (v == floor(v) && fabs(v) < 9007199254740992.0) /* 2^53: exact in a double */
		return json_integer((json_int_t)v);
	return json_real(v);
}

json_t *json_whole(uint64_t v)
{
	return json_integer((json_int_t)(v > INT64_MAX ? INT64_MAX : v));
}

json_t *json_utf8(const char *s)
{
	json_t *t = json_string(s);
	if (t)
		return t;
	struct text utf8 = { 0 };
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		const char two[2] = { (char)(0xc0 | *p >> 6), (char)(0x80 | (*p & 0x3f)) };
		text_put(&utf8, *p < 0x80 ? (const char *)p : two, *p < 0x80 ? 1 : 2);
	}
	t = json_string(utf8.s ? utf8.s : "");
	text_free(&utf8);
	return t;
}

/* An unsigned number or enum of @size bytes. */
static uint64_t load_unsigned(const void *at, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

static void store_unsigned(void *at, size_t size, uint64_t v)
{
	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)v; break;
	case 4: *(uint32_t *)at = (uint32_t)v; break;
	default: *(uint64_t *)at = v; break;
	}
}

static uint64_t largest_of(size_t size)
{
	return size >= 8 ? INT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
}

/* --- writing --- */

typedef json_t *(*record_writer)(const struct record_table *t, const void *x);

static const char *text_of(const void *at)
{
	const char *s = *(const char *const *)at;
	return s ? s : "";
}

static unsigned list_length(const struct record_field *f, const void *record)
{
	return *(const unsigned *)(const void *)((const char *)record + f->count_offset);
}

static json_t *write_map(const struct record_field *f, const void *record, record_writer write);

/* @write: for the structs inside. */
static json_t *write_field(const struct record_field *f, const void *record, record_writer write)
{
	const char *at = (const char *)record + f->offset;
	json_t *list;
	switch (f->kind) {
	case FIELD_UNSIGNED: return json_whole(load_unsigned(at, f->size));
	case FIELD_INDEX: return json_integer(*(const int8_t *)at);
	case FIELD_DOUBLE: return json_number(*(const double *)(const void *)at);
	case FIELD_BOOL: return json_boolean(*(const bool *)at);
	case FIELD_CHARS: return json_utf8(at);
	case FIELD_TEXT: return json_utf8(text_of(at));
	case FIELD_NAME: return json_string(f->names[load_unsigned(at, f->size)]);
	case FIELD_RECORD: return write(f->table, at);
	case FIELD_VECTOR:
		list = json_array();
		for (size_t i = 0; i < f->size / sizeof(uint64_t); i++)
			json_array_append_new(list, json_whole(((const uint64_t *)(const void *)at)[i]));
		return list;
	case FIELD_LIST: {
		const char *items = *(const char *const *)(const void *)at;
		const unsigned n = list_length(f, record);
		list = json_array();
		for (unsigned i = 0; i < n; i++)
			json_array_append_new(list, write(f->table, items + i * f->table->size));
		return list;
	}
	case FIELD_MAP: return write_map(f, record, write);
	case FIELD_OTHER: break;
	}
	return NULL;
}

static json_t *write_map(const struct record_field *f, const void *record, record_writer write)
{
	const struct record_table *t = f->table;
	const char *item = (const char *)record + f->offset;
	json_t *map = json_object();
	for (unsigned n = list_length(f, record); n; n--, item += t->size)
		json_object_set_new(map, item + t->fields[0].offset,
		                    write_field(&t->fields[1], item, write));
	return map;
}

static bool left_out(const struct record_field *f, const void *record)
{
	const char *at = (const char *)record + f->offset;
	if (!f->optional)
		return false;
	if (f->kind == FIELD_DOUBLE)
		return !(*(const double *)(const void *)at > 0);
	return !load_unsigned(at, f->size);
}

void record_write_into(const struct record_table *t, const void *x, json_t *o)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->kind != FIELD_OTHER && !left_out(f, x))
			json_object_set_new(o, f->key, write_field(f, x, record_write));
}

json_t *record_write(const struct record_table *t, const void *x)
{
	json_t *o = json_object();
	record_write_into(t, x, o);
	return o;
}

json_t *record_write_run(const struct record_table *t, const void *x)
{
	json_t *o = json_object();
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->run_key && !left_out(f, x))
			json_object_set_new(o, f->run_key, write_field(f, x, record_write_run));
	return o;
}

/* --- reading --- */

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

static bool read_list(struct reader *r, json_t *o, const struct record_field *f, char *record)
{
	const size_t depth = r->depth;
	json_t *list = reader_enter(r, o, f->key, JSON_ARRAY);
	if (!list)
		return false;
	const size_t n = json_array_size(list);
	if (n > f->most)
		return reader_complain(r, "", "this list is too long");
	char *items = mem_calloc(n ? n : 1, f->table->size);
	*(void **)(void *)(record + f->offset) = items;
	*(unsigned *)(void *)(record + f->count_offset) = (unsigned)n;
	for (size_t i = 0; i < n; i++)
		if (!record_read(r, json_array_get(list, i), f->table, items + i * f->table->size))
			return false;
	reader_leave(r, depth);
	return true;
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
		if (*n == f->most)
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

static bool read_field(struct reader *r, json_t *o, const struct record_field *f, char *record)
{
	char *at = record + f->offset;
	int64_t whole;
	switch (f->kind) {
	case FIELD_UNSIGNED:
		if (!reader_whole(r, o, f->key, 0, largest_of(f->size), &whole))
			return false;
		if (f->most && (uint64_t)whole > f->most)
			whole = (int64_t)f->most;
		store_unsigned(at, f->size, (uint64_t)whole);
		return true;
	case FIELD_INDEX:
		if (!reader_whole(r, o, f->key, -1, INT8_MAX, &whole))
			return false;
		*(int8_t *)at = (int8_t)whole;
		return true;
	case FIELD_DOUBLE: return reader_number(r, o, f->key, (double *)(void *)at);
	case FIELD_BOOL: return reader_bool(r, o, f->key, (bool *)at);
	case FIELD_CHARS: return reader_chars(r, o, f->key, at, f->size);
	case FIELD_TEXT: {
		const char *s = reader_text(r, o, f->key);
		*(const char **)(void *)at = s ? intern(s) : NULL;
		return s != NULL;
	}
	case FIELD_NAME: {
		const int i = reader_name(r, o, f->key, f->names, (int)f->n_names);
		if (i >= 0)
			store_unsigned(at, f->size, (uint64_t)i);
		return i >= 0;
	}
	case FIELD_VECTOR: return read_vector(r, o, f, (uint64_t *)(void *)at);
	case FIELD_RECORD: return record_read_member(r, o, f->key, f->table, at);
	case FIELD_LIST: return read_list(r, o, f, record);
	case FIELD_MAP: return read_map(r, o, f, record);
	case FIELD_OTHER: break;
	}
	return true;
}

bool record_read(struct reader *r, json_t *o, const struct record_table *t, void *x)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (!((f->optional || f->younger) && !json_object_get(o, f->key)) &&
		    !read_field(r, o, f, x))
			return false;
	return true;
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

/* --- schema --- */

static json_t *definition(const char *name)
{
	json_t *o = json_object();
	char *path = mem_printf("#/definitions/%s", name);
	json_object_set_new(o, "$ref", json_string(path));
	free(path);
	return o;
}

static json_t *names_schema(const struct record_field *f)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < f->n_names; i++)
		json_array_append_new(list, json_string(f->names[i]));
	return json_pack("{s:o}", "enum", list);
}

static json_t *field_schema(const struct record_field *f)
{
	switch (f->kind) {
	case FIELD_UNSIGNED:
		if (f->size >= 8 && !f->most)
			return definition("count");
		return json_pack("{s:s, s:i, s:I}", "type", "integer", "minimum", 0, "maximum",
		                 (json_int_t)(f->most ? f->most : largest_of(f->size)));
	case FIELD_INDEX:
		return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", -1, "maximum", INT8_MAX);
	case FIELD_DOUBLE: return definition("number");
	case FIELD_BOOL: return json_pack("{s:s}", "type", "boolean");
	case FIELD_CHARS:
		return json_pack("{s:s, s:I}", "type", "string", "maxLength", (json_int_t)f->size - 1);
	case FIELD_TEXT: return json_pack("{s:s}", "type", "string");
	case FIELD_NAME: return f->definition ? definition(f->definition) : names_schema(f);
	case FIELD_VECTOR: {
		const json_int_t n = (json_int_t)(f->size / sizeof(uint64_t));
		return json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems", n, "maxItems", n,
		                 "items", definition("count"));
	}
	case FIELD_RECORD: return definition(f->table->name);
	case FIELD_LIST:
		return json_pack("{s:s, s:I, s:o}", "type", "array", "maxItems", (json_int_t)f->most,
		                 "items", definition(f->table->name));
	case FIELD_MAP:
		return json_pack("{s:s, s:I, s:o}", "type", "object", "maxProperties", (json_int_t)f->most,
		                 "additionalProperties", field_schema(&f->table->fields[1]));
	case FIELD_OTHER: break;
	}
	return definition(f->definition);
}

json_t *record_schema(const struct record_table *t)
{
	json_t *o = json_object(), *required = json_array(), *properties = json_object();
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		json_t *p = field_schema(f);
		if (f->about)
			json_object_set_new(p, "description", json_string(f->about));
		json_object_set_new(properties, f->key, p);
		if (!f->optional && !f->younger)
			json_array_append_new(required, json_string(f->key));
	}
	if (t->about)
		json_object_set_new(o, "description", json_string(t->about));
	json_object_set_new(o, "type", json_string("object"));
	json_object_set_new(o, "required", required);
	json_object_set_new(o, "properties", properties);
	return o;
}

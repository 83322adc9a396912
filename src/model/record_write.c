/* Records to JSON by their tables; see record_fields.h. */
#include "model/record_fields.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
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

uint64_t record_load(const void *at, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

unsigned record_room(const struct record_field *f)
{
	return (unsigned)(f->size / f->table->size);
}

unsigned record_length(const struct record_field *f, const void *record)
{
	if (f->whole)
		return record_room(f);
	return *(const unsigned *)(const void *)((const char *)record + f->count_offset);
}

static void *pointer_at(const void *at)
{
	void *p;
	memcpy(&p, at, sizeof p);
	return p;
}

static json_t *write_record(const struct record_table *t, const void *x, enum record_form form)
{
	json_t *o = json_object();
	record_write_into(t, x, o, form);
	return o;
}

static json_t *write_items(const struct record_field *f, const char *items, unsigned n,
                           enum record_form form)
{
	json_t *list = json_array();
	for (; n; n--, items += f->table->size)
		json_array_append_new(list, write_record(f->table, items, form));
	return list;
}

static json_t *write_vector(const struct record_field *f, const char *at)
{
	const size_t item = f->size % sizeof(uint64_t) ? sizeof(uint32_t) : sizeof(uint64_t);
	json_t *list = json_array();
	for (size_t i = 0; i < f->size; i += item)
		json_array_append_new(list, json_whole(record_load(at + i, item)));
	return list;
}

static json_t *write_field(const struct record_field *f, const void *record, enum record_form form);

static json_t *write_map(const struct record_field *f, const void *record, enum record_form form)
{
	const struct record_table *t = f->table;
	const char *item = (const char *)record + f->offset;
	json_t *map = json_object();
	for (unsigned n = record_length(f, record); n; n--, item += t->size)
		json_object_set_new(map, item + t->fields[0].offset,
		                    write_field(&t->fields[1], item, form));
	return map;
}

static json_t *write_field(const struct record_field *f, const void *record, enum record_form form)
{
	const char *at = (const char *)record + f->offset, *text;
	if (f->codec && f->codec->write)
		return f->codec->write(record, form);
	switch (f->kind) {
	case FIELD_UNSIGNED: return json_whole(record_load(at, f->size));
	case FIELD_INDEX: return json_integer(*(const int8_t *)at);
	case FIELD_DOUBLE: return json_number(*(const double *)(const void *)at);
	case FIELD_BOOL: return json_boolean(*(const bool *)at);
	case FIELD_CHARS: return json_utf8(at);
	case FIELD_TEXT: text = pointer_at(at); return json_utf8(text ? text : "");
	case FIELD_NAME: return json_string(f->names->names[record_load(at, f->size)]);
	case FIELD_VECTOR: return write_vector(f, at);
	case FIELD_RECORD: return write_record(f->table, at, form);
	case FIELD_POINTER:
		return pointer_at(at) ? write_record(f->table, pointer_at(at), form) : json_null();
	case FIELD_LIST: return write_items(f, pointer_at(at), record_length(f, record), form);
	case FIELD_ARRAY: return write_items(f, at, record_length(f, record), form);
	case FIELD_MAP: return write_map(f, record, form);
	case FIELD_CODED:
	case FIELD_OTHER: break;
	}
	return NULL;
}

static bool is_zero(const struct record_field *f, const char *at)
{
	switch (f->kind) {
	case FIELD_DOUBLE: return !(*(const double *)(const void *)at > 0);
	case FIELD_CHARS: return !*at;
	case FIELD_TEXT:
	case FIELD_POINTER: return !pointer_at(at);
	case FIELD_CODED: return false; /* its codec knows */
	default: return !record_load(at, f->size);
	}
}

/* At "a.b" of @o: objects on the way are made, and one that is there takes the members. */
static void set_at(json_t *o, const char *path, json_t *value)
{
	const char *dot;
	while ((dot = strchr(path, '.'))) {
		char *name = mem_printf("%.*s", (int)(dot - path), path);
		json_t *in = json_object_get(o, name);
		if (!in)
			json_object_set_new(o, name, in = json_object());
		free(name);
		o = in;
		path = dot + 1;
	}
	json_t *has = json_object_get(o, path);
	if (json_is_object(has) && json_is_object(value)) {
		json_object_update(has, value);
		json_decref(value);
	} else {
		json_object_set_new(o, path, value);
	}
}

void record_write_into(const struct record_table *t, const void *x, json_t *o,
                       enum record_form form)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		const char *key = form == FORM_RUN ? f->run_key : f->key;
		const char *at = (const char *)x + f->offset;
		if (!key || f->kind == FIELD_OTHER || (f->there && !f->there(x)) ||
		    (f->optional && is_zero(f, at)))
			continue;
		if (!*key) {
			record_write_into(f->table, f->kind == FIELD_POINTER ? pointer_at(at) : at, o, form);
			continue;
		}
		json_t *value = write_field(f, x, form);
		if (value && form == FORM_RUN)
			set_at(o, key, value);
		else if (value)
			json_object_set_new(o, key, value);
	}
}

json_t *record_write(const struct record_table *t, const void *x)
{
	return write_record(t, x, FORM_SNAPSHOT);
}

json_t *record_write_run(const struct record_table *t, const void *x)
{
	return write_record(t, x, FORM_RUN);
}

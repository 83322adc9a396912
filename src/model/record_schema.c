/* The JSON schema of records by their tables; see record_fields.h. */
#include "model/record_fields.h"

#include "base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static json_t *reference_to(const char *name)
{
	char *path = mem_printf("#/definitions/%s", name);
	json_t *o = json_pack("{s:s}", "$ref", path);
	free(path);
	return o;
}

static json_t *parsed(const char *schema)
{
	json_t *o = json_loads(schema, 0, NULL);
	assert(o); /* text of this program */
	return o;
}

static json_t *names_schema(const struct record_names *names)
{
	json_t *list = json_array(), *o = json_object();
	for (unsigned i = 0; i < names->n; i++)
		json_array_append_new(list, json_string(names->names[i]));
	if (names->about)
		json_object_set_new(o, "description", json_string(names->about));
	json_object_set_new(o, "enum", list);
	return o;
}

static json_t *whole_schema(const struct record_field *f)
{
	if (f->size >= 8 && !f->most)
		return reference_to("count");
	return json_pack("{s:s, s:i, s:I}", "type", "integer", "minimum", 0, "maximum",
	                 (json_int_t)(f->most ? f->most : record_largest(f->size)));
}

static json_t *items_schema(const struct record_field *f)
{
	json_t *o = json_pack("{s:s}", "type", "array");
	if (f->kind == FIELD_LIST)
		json_object_set_new(o, "maxItems", json_integer((json_int_t)f->most));
	json_object_set_new(o, "items", reference_to(f->table->name));
	return o;
}

static json_t *vector_schema(const struct record_field *f)
{
	const json_int_t n = (json_int_t)(f->size / sizeof(uint64_t));
	return json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems", n, "maxItems", n, "items",
	                 reference_to("count"));
}

static json_t *kind_schema(const struct record_field *f)
{
	if (f->range.most > 0)
		return json_pack("{s:s, s:o, s:o}", "type", f->kind == FIELD_DOUBLE ? "number" : "integer",
		                 "minimum", json_number(f->range.least), "maximum",
		                 json_number(f->range.most));
	switch (f->kind) {
	case FIELD_UNSIGNED: return whole_schema(f);
	case FIELD_INDEX:
		return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", -1, "maximum", INT8_MAX);
	case FIELD_DOUBLE: return reference_to("number");
	case FIELD_BOOL: return json_pack("{s:s}", "type", "boolean");
	case FIELD_CHARS:
		return json_pack("{s:s, s:I}", "type", "string", "maxLength", (json_int_t)f->size - 1);
	case FIELD_TEXT: return json_pack("{s:s}", "type", "string");
	case FIELD_NAME:
		return f->names->definition ? reference_to(f->names->definition) : names_schema(f->names);
	case FIELD_VECTOR: return vector_schema(f);
	case FIELD_POINTER:
		return record_field_optional(f) ? reference_to(f->table->name)
		                                : json_pack("{s:[{s:s}, o]}", "anyOf", "type", "null",
		                                            reference_to(f->table->name));
	case FIELD_LIST:
	case FIELD_ARRAY: return items_schema(f);
	case FIELD_MAP:
		return json_pack("{s:s, s:I, s:o}", "type", "object", "maxProperties",
		                 (json_int_t)record_room(f), "additionalProperties",
		                 kind_schema(&f->table->fields[1]));
	case FIELD_RECORD:
	case FIELD_CODED:
	case FIELD_OTHER: break;
	}
	return reference_to(f->table->name);
}

static json_t *field_schema(const struct record_field *f)
{
	return f->definition ? reference_to(f->definition)
	       : f->schema   ? parsed(f->schema)
	                     : kind_schema(f);
}

static void add_fields(const struct record_table *t, json_t *required, json_t *properties)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		if (!f->key)
			continue;
		if (!*f->key) {
			json_t *dropped = record_field_optional(f) ? json_array() : NULL;
			add_fields(f->table, dropped ? dropped : required, properties);
			json_decref(dropped);
			continue;
		}
		json_t *p = field_schema(f);
		if (f->about)
			json_object_set_new(p, "description", json_string(f->about));
		json_object_set_new(properties, f->key, p);
		if (!record_field_optional(f))
			json_array_append_new(required, json_string(f->key));
	}
}

json_t *record_schema(const struct record_table *t)
{
	json_t *o = json_object(), *required = json_array(), *properties = json_object();
	add_fields(t, required, properties);
	if (t->about)
		json_object_set_new(o, "description", json_string(t->about));
	json_object_set_new(o, "type", json_string("object"));
	json_object_set_new(o, "required", required);
	json_object_set_new(o, "properties", properties);
	if (t->rules) {
		json_t *rules = parsed(t->rules);
		json_object_update(o, rules);
		json_decref(rules);
	}
	return o;
}

static void define(json_t *definitions, const char *name, json_t *schema)
{
	json_object_set_new(definitions, name, schema);
}

/* What @f's schema refers to. */
static void define_field(const struct record_field *f, json_t *definitions)
{
	if (f->definition && f->schema)
		define(definitions, f->definition, parsed(f->schema));
	if (f->kind == FIELD_NAME && f->names->definition)
		define(definitions, f->names->definition, names_schema(f->names));
	if (!f->table || json_object_get(definitions, f->table->name))
		return;
	if (*f->key && f->kind != FIELD_MAP)
		define(definitions, f->table->name, record_schema(f->table));
	record_definitions(f->table, definitions);
}

void record_definitions(const struct record_table *t, json_t *definitions)
{
	define(definitions, "count", parsed("{\"type\": \"integer\", \"minimum\": 0}"));
	define(definitions, "number", parsed("{\"type\": [\"number\", \"null\"]}"));
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->key)
			define_field(f, definitions);
}

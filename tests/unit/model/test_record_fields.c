/*
 * Records by their tables: every row of every table is written, read again and sent to another
 * process with random values; what is written is what the schema says; each wrong value is refused
 * with its place; and src/model/snapshot.schema.json is what the tables say. BLESS=1 in the
 * repository's top folder writes that file again.
 */
#include "../unit.h"
#include "model/record_tables.h"
#include "model/record_wire.h"

#include "base/asset.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "src/model/snapshot.schema.json"

TEST(the_schema_is_the_tables)
{
	const struct asset *a = asset_find(SCHEMA);
	assert_non_null(a);
	json_t *kept = json_loadb(a->data, a->len, 0, NULL), *wanted = snapshot_schema();
	if (getenv("BLESS")) {
		FILE *f = fopen(SCHEMA, "w");
		assert_non_null(f);
		const bool dumped = !json_dumpf(wanted, f, JSON_INDENT(2));
		fputc('\n', f);
		const bool closed = !fclose(f);
		assert_true(dumped && closed);
	} else if (!json_equal(kept, wanted)) {
		fail_msg("%s is not what the tables say\n"
		         "write it again: BLESS=1 build/unit/model/test_record_fields, then make",
		         SCHEMA);
	}
	json_decref(wanted);
	json_decref(kept);
}

/* Every reference is defined. */
TEST(every_definition_is_there)
{
	json_t *schema = snapshot_schema();
	char *text = json_dumps(schema, JSON_COMPACT);
	const json_t *definitions = json_object_get(schema, "definitions");
	static const char start[] = "\"#/definitions/";
	unsigned n = 0;
	for (const char *at = text; (at = strstr(at, start)); n++) {
		char name[64];
		at += sizeof start - 1;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
		if (!json_object_get(definitions, name))
			fail_msg("no definition of '%s'", name);
	}
	assert_true(n > 50);
	free(text);
	json_decref(schema);
}

/* --- every row --- */

#define MAX_TABLES 64
struct tables {
	const struct record_table *t[MAX_TABLES];
	unsigned n;
};

static void collect(struct tables *all, const struct record_table *t)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->t[i] == t)
			return;
	assert_true(all->n < MAX_TABLES);
	all->t[all->n++] = t;
	for (unsigned i = 0; i < t->n; i++)
		if (t->fields[i].table)
			collect(all, t->fields[i].table);
}

/* No codec, no pointer, anywhere within: nothing but places and kinds says what it is. */
static bool is_plain(const struct record_table *t)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->key && (f->kind == FIELD_CODED || f->kind == FIELD_POINTER ||
		               f->kind == FIELD_OTHER || f->codec || (f->table && !is_plain(f->table))))
			return false;
	return !t->finish;
}

static void fill(const struct record_table *t, char *x, uint64_t *seed);

static void fill_text(char *at, size_t size, uint64_t *seed)
{
	for (size_t i = 0; i + 1 < size && i < 40; i++)
		at[i] = (char)('a' + rand_next(seed) % 26);
}

static void fill_field(const struct record_field *f, char *x, uint64_t *seed)
{
	char *at = x + f->offset;
	const uint64_t dice = rand_next(seed);
	const double fraction = (double)(dice % 1000003) / 1000003;
	unsigned n;
	switch (f->kind) {
	case FIELD_UNSIGNED:
		record_store(at, f->size,
		             f->range.most > 0 ? (uint64_t)f->range.most
		                               : 1 + dice % (f->most ? f->most : record_largest(f->size)));
		break;
	case FIELD_INDEX: *(int8_t *)at = (int8_t)(dice % 128); break;
	case FIELD_DOUBLE:
		*(double *)(void *)at = f->range.most > 0
		                            ? f->range.least + fraction * (f->range.most - f->range.least)
		                            : 1e6 * fraction + 1e-3;
		break;
	case FIELD_BOOL: *(bool *)at = true; break;
	case FIELD_CHARS: fill_text(at, f->size, seed); break;
	case FIELD_TEXT: *(const char **)(void *)at = "a text"; break;
	case FIELD_NAME: record_store(at, f->size, dice % f->names->n); break;
	case FIELD_VECTOR:
		for (size_t i = 0; i < f->size; i += sizeof(uint64_t))
			record_store(at + i, sizeof(uint64_t), rand_next(seed) >> 1);
		break;
	case FIELD_RECORD: fill(f->table, at, seed); break;
	case FIELD_LIST:
	case FIELD_ARRAY:
	case FIELD_MAP:
		n = f->kind == FIELD_LIST ? 3 : record_room(f);
		if (f->kind == FIELD_LIST)
			*(void **)(void *)at = mem_calloc(n, f->table->size);
		*(unsigned *)(void *)(x + f->count_offset) = n;
		for (unsigned i = 0; i < n; i++)
			fill(f->table, (f->kind == FIELD_LIST ? *(char **)(void *)at : at) + i * f->table->size,
			     seed);
		break;
	case FIELD_POINTER:
	case FIELD_CODED:
	case FIELD_OTHER: break;
	}
}

static void fill(const struct record_table *t, char *x, uint64_t *seed)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->key)
			fill_field(f, x, seed);
}

static void empty(const struct record_table *t, char *x)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		if (!f->key)
			continue;
		if (f->kind == FIELD_RECORD)
			empty(f->table, x + f->offset);
		if (f->kind == FIELD_LIST)
			free(*(void **)(void *)(x + f->offset)); /* no list is within another here */
	}
}

/* @v against a schema of ours; what is not so in @why. */
static bool valid(const json_t *schema, const json_t *definitions, const json_t *v, char *why,
                  size_t n)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref")), *key;
	const json_t *one, *list = json_object_get(schema, "required");
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *most = json_object_get(schema, "maximum");
	const json_t *least = json_object_get(schema, "minimum");
	const json_t *longest = json_object_get(schema, "maxLength");
	size_t i;
	if (ref)
		return valid(json_object_get(definitions, ref + strlen("#/definitions/")), definitions, v,
		             why, n);
	snprintf(why, n, "%s", json_string_value(json_object_get(schema, "type")));
	json_array_foreach(list, i, one)
	{
		if (!json_object_get(v, json_string_value(one))) {
			snprintf(why, n, "no %s", json_string_value(one));
			return false;
		}
	}
	json_object_foreach((json_t *)v, key, one)
	{
		const json_t *of = json_object_get(properties, key);
		of = of ? of : json_object_get(schema, "additionalProperties");
		if (!of || !valid(of, definitions, one, why, n)) {
			snprintf(why, n, "%s", key);
			return false;
		}
	}
	if (json_is_array(v))
		json_array_foreach(v, i, one)
		{
			if (!valid(json_object_get(schema, "items"), definitions, one, why, n))
				return false;
		}
	bool named = !json_object_get(schema, "enum");
	json_array_foreach(json_object_get(schema, "enum"), i, one)
	{
		named = named || json_equal(one, v);
	}
	const json_t *type = json_object_get(schema, "type");
	const char *is = json_is_object(v)    ? "object"
	                 : json_is_array(v)   ? "array"
	                 : json_is_string(v)  ? "string"
	                 : json_is_boolean(v) ? "boolean"
	                 : json_is_integer(v) ? "integer"
	                                      : "number";
	const char *wanted = json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);
	return named &&
	       (!wanted || !strcmp(is, wanted) || (!strcmp(wanted, "number") && json_is_number(v))) &&
	       (!most || json_number_value(v) <= json_number_value(most)) &&
	       (!least || json_number_value(v) >= json_number_value(least)) &&
	       (!longest || (json_int_t)json_string_length(v) <= json_integer_value(longest));
}

static void check_table(const struct record_table *t, const json_t *definitions, uint64_t *seed)
{
	struct err err = { 0 };
	struct reader r = { .origin = t->name, .err = &err };
	char *one = mem_calloc(1, t->size), *two = mem_calloc(1, t->size),
		 *three = mem_calloc(1, t->size), why[128];
	fill(t, one, seed);
	json_t *written = record_write(t, one), *schema = record_schema(t);
	if (!valid(schema, definitions, written, why, sizeof why))
		fail_msg("%s is not by its schema: %s", t->name, why);
	for (unsigned i = 0; i < t->n; i++)
		if (t->fields[i].key && *t->fields[i].key && !json_object_get(written, t->fields[i].key))
			fail_msg("%s.%s was not written", t->name, t->fields[i].key);
	if (!record_read(&r, written, t, two))
		fail_msg("%s", err.msg);
	json_t *again = record_write(t, two);
	if (!json_equal(written, again))
		fail_msg("%s: another text when read and written again", t->name);

	struct wire_msg m;
	wire_begin(&m, 1);
	record_put(&m, t, one);
	assert_true(record_get(&m, t, three) && wire_end(&m));
	json_t *sent = record_write(t, three);
	if (!json_equal(written, sent))
		fail_msg("%s: another record when sent", t->name);
	wire_free(&m);
	json_decref(sent);
	json_decref(again);
	json_decref(written);
	json_decref(schema);
	empty(t, one);
	empty(t, two);
	empty(t, three);
	free(one);
	free(two);
	free(three);
}

TEST(every_row_is_written_read_and_sent)
{
	struct tables all = { .n = 0 };
	json_t *schema = snapshot_schema();
	uint64_t seed = 7;
	unsigned plain = 0;
	collect(&all, &session_table);
	collect(&all, &told_table);
	for (unsigned i = 0; i < all.n; i++) {
		if (!is_plain(all.t[i]))
			continue;
		plain++;
		for (unsigned round = 0; round < 20; round++)
			check_table(all.t[i], json_object_get(schema, "definitions"), &seed);
	}
	assert_true(plain >= 20); /* the others are a whole session's: test_snapshot.c */
	json_decref(schema);
}

/* A key stands once in a table, in either form, and every member lies within the struct. */
TEST(every_row_has_its_place)
{
	struct tables all = { .n = 0 };
	unsigned rows = 0;
	collect(&all, &session_table);
	for (unsigned i = 0; i < all.n; i++) {
		const struct record_table *t = all.t[i];
		for (const struct record_field *f = t->fields; f < t->fields + t->n; f++, rows++) {
			assert_true(f->key || f->run_key);
			assert_true(f->offset + f->size <= t->size);
			for (const struct record_field *g = t->fields; g < f; g++) {
				if (f->key && g->key && *f->key && !strcmp(f->key, g->key))
					fail_msg("%s.%s stands twice", t->name, f->key);
				if (f->run_key && g->run_key && *f->run_key && !strcmp(f->run_key, g->run_key))
					fail_msg("%s.%s of run --json stands twice", t->name, f->run_key);
			}
		}
	}
	assert_true(rows > 200);
}

TEST(what_is_written_is_read)
{
	struct err err = { 0 };
	struct reader r = { .origin = "x.json", .err = &err };
	struct run_timing one = { .n = 9, .median_ns = 0.1, .l2_flushed = true }, two = { 0 };
	json_t *o = record_write(&timing_table, &one);
	assert_int_equal(json_object_size(o), timing_table.n);
	assert_true(record_read(&r, o, &timing_table, &two));
	assert_int_equal(two.n, 9);
	assert_true(two.median_ns == 0.1 && two.l2_flushed && !two.from_activity);
	json_t *run = record_write_run(&timing_table, &one);
	assert_int_equal(json_integer_value(json_object_get(run, "launches")), 9);
	assert_null(json_object_get(run, "n"));
	json_decref(run);
	json_decref(o);
}

/* Names and values are an object; more than there is room for are not read. */
TEST(a_map_is_an_object)
{
	struct err err = { 0 };
	struct reader r = { .origin = "x.json", .err = &err };
	struct run_result one = { .counter_passes = 3, .n_stalls = 2 }, two = { 0 }, full = { 0 };
	one.stalls[0] = (struct run_stall){ "long_scoreboard", 2.5 };
	one.stalls[1] = (struct run_stall){ "barrier", 1 };
	json_t *o = record_write(&measured_table, &one), *stalls = json_object_get(o, "stalls");
	assert_int_equal(json_object_size(stalls), 2);
	assert_true(json_real_value(json_object_get(stalls, "long_scoreboard")) == 2.5);
	assert_true(record_read(&r, o, &measured_table, &two));
	assert_int_equal(two.n_stalls, 2);
	assert_memory_equal(two.stalls, one.stalls, sizeof one.stalls);

	json_t *run = record_write_run(&measured_table, &one);
	assert_true(json_equal(json_object_get(run, "stalls"), stalls));
	json_decref(run);

	json_object_set_new(stalls, "barrier", json_true());
	assert_false(record_read(&r, o, &measured_table, &(struct run_result){ 0 }));
	assert_non_null(strstr(err.msg, "stalls.barrier: a number is needed"));
	json_object_set_new(stalls, "barrier", json_integer(1));
	for (int i = 0; i < 2 * RUN_MAX_STALLS; i++) {
		char name[16];
		snprintf(name, sizeof name, "reason %d", i);
		json_object_set_new(stalls, name, json_integer(i));
	}
	r.depth = 0;
	assert_true(record_read(&r, o, &measured_table, &full));
	assert_int_equal(full.n_stalls, RUN_MAX_STALLS);
	json_decref(o);
}

/* Members that the first snapshots lack, and one that an older program let grow further. */
TEST(a_screen_of_any_age_is_read)
{
	struct err err = { 0 };
	struct reader r = { .origin = "x.json", .err = &err };
	struct session one = { .param = 2, .cursor = { .row = 5, .zoom = 3, .pan = 7 } }, two = { 0 };
	json_t *o = record_write(&screen_table, &one);
	assert_string_equal(json_string_value(json_object_get(o, "view")), "");
	json_object_set_new(o, "view", json_string("roofline"));
	json_object_set_new(o, "timeline_zoom", json_integer(VIEW_ZOOM_MAX + 9));
	assert_true(record_read(&r, o, &screen_table, &two));
	assert_string_equal(two.view, "roofline");
	assert_int_equal(two.param, 2);
	assert_int_equal(two.cursor.row, 5);
	assert_int_equal(two.cursor.zoom, VIEW_ZOOM_MAX);
	assert_int_equal(two.cursor.pan, 7);
	json_object_del(o, "timeline_zoom");
	json_object_del(o, "timeline_pan");
	two = (struct session){ 0 };
	assert_true(record_read(&r, o, &screen_table, &two));
	assert_int_equal(two.cursor.zoom, 0);
	json_object_del(o, "view");
	assert_false(record_read(&r, o, &screen_table, &two));
	json_decref(o);
}

/* A figure that an older program did not write is not known; it is not 0. */
TEST(an_absent_figure_is_unknown)
{
	struct err err = { 0 };
	struct reader r = { .origin = "x.json", .err = &err };
	struct session_tour one = { .n = 1 }, two = { 0 };
	one.outcomes[0].is = 7;
	json_t *o = record_write(&tour_table, &one);
	json_object_del(json_array_get(json_object_get(o, "outcomes"), 0), "is");
	assert_true(record_read(&r, o, &tour_table, &two));
	assert_int_equal(two.n, 1);
	assert_true(isnan(two.outcomes[0].is));
	json_decref(o);
}

static void refused(const struct record_table *t, json_t *o, const char *key, json_t *value,
                    const char *want)
{
	struct err err = { 0 };
	struct reader r = { .origin = "x.json", .err = &err };
	struct run_result into = { 0 };
	json_t *bad = json_deep_copy(o);
	if (value)
		json_object_set_new(bad, key, value);
	else
		json_object_del(bad, key);
	assert_true(t->size <= sizeof into);
	assert_false(record_read(&r, bad, t, &into));
	if (!strstr(err.msg, want))
		fail_msg("wanted '%s' in: %s", want, err.msg);
	json_decref(bad);
}

TEST(what_is_wrong_is_named)
{
	const struct run_timing timing = { .n = 9 };
	json_t *o = record_write(&timing_table, &timing);
	refused(&timing_table, o, "n", NULL, "n: is missing");
	refused(&timing_table, o, "n", json_integer(-1), "n: this number is out of range");
	refused(&timing_table, o, "n", json_integer(1ll << 32), "n: this number is out of range");
	refused(&timing_table, o, "min_ns", json_string("1"), "min_ns: a number is needed");
	refused(&timing_table, o, "l2_flushed", json_integer(1), "l2_flushed: true or false");
	json_decref(o);

	const struct run_result run = { .counter_passes = 1 };
	o = record_write(&measured_table, &run);
	assert_null(json_object_get(o, "program_ns")); /* not known: left out */
	refused(&measured_table, o, "timing", json_object(), "timing.n: is missing");
	refused(&measured_table, o, "loaded", json_array(), "loaded: an object is needed");
	json_decref(o);

	const struct perf_result perf = { .kernel_ns = 1 };
	o = record_write(&perf_table, &perf);
	refused(&perf_table, o, "bottleneck", json_string("luck"), "bottleneck: not a name");
	refused(&perf_table, o, "resource_ns", json_object(), "resource_ns.");
	json_decref(o);
}

/*
 * Records by their tables: what is written is read again, each wrong value is refused with its
 * place, and the schema in src/model/snapshot.schema.json is what the tables say. BLESS=1 in the
 * repository's top folder writes the tables' part of that file again.
 */
#include "model/record_tables.h"

#include "base/asset.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCHEMA "src/model/snapshot.schema.json"

static void the_schema_is_the_tables(void **state)
{
	(void)state;
	const struct asset *a = asset_find(SCHEMA);
	assert_non_null(a);
	json_t *schema = json_loadb(a->data, a->len, 0, NULL);
	json_t *definitions = json_object_get(schema, "definitions"), *wanted = record_definitions();
	assert_non_null(definitions);
	if (getenv("BLESS")) {
		json_object_update(definitions, wanted);
		assert_int_equal(json_dump_file(schema, SCHEMA ".new", JSON_INDENT(2)), 0);
		assert_int_equal(rename(SCHEMA ".new", SCHEMA), 0);
	}
	const char *name;
	json_t *one;
	json_object_foreach(wanted, name, one)
	{
		if (!json_equal(json_object_get(definitions, name), one))
			fail_msg("%s: definition '%s' is not what record_tables.c says\n"
			         "write it again: BLESS=1 build/unit/model/test_record_fields, then make",
			         SCHEMA, name);
	}
	json_decref(wanted);
	json_decref(schema);
}

/* Every reference of the tables is defined somewhere. */
static void every_definition_is_there(void **state)
{
	(void)state;
	const struct asset *a = asset_find(SCHEMA);
	assert_non_null(a);
	json_t *schema = json_loadb(a->data, a->len, 0, NULL);
	const json_t *definitions = json_object_get(schema, "definitions");
	static const char start[] = "\"#/definitions/";
	unsigned n = 0;
	for (const char *at = a->data; (at = strstr(at, start)); n++) {
		char name[64];
		at += sizeof start - 1;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
		if (!json_object_get(definitions, name))
			fail_msg("no definition of '%s'", name);
	}
	assert_true(n > 50);
	json_decref(schema);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
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
static void a_map_is_an_object(void **state)
{
	(void)state;
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
static void a_screen_of_any_age_is_read(void **state)
{
	(void)state;
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

static void what_is_wrong_is_named(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_schema_is_the_tables),    cmocka_unit_test(every_definition_is_there),
		cmocka_unit_test(what_is_written_is_read),     cmocka_unit_test(a_map_is_an_object),
		cmocka_unit_test(a_screen_of_any_age_is_read), cmocka_unit_test(what_is_wrong_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

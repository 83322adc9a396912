/* A record as JSON: one valid object, numbers as numbers, every metric, per line and per tag. */
#include "fake_registry.h"
#include "cli/cli.h"

static struct run_record *record(uint64_t sample)
{
	struct selection sel = { .kernel = &toy, .variant = 0, .seed = 7, .backend = "emu" };
	struct err err = { 0 };
	struct run_record *r;
	fake_reset();
	kernel_defaults(&toy, sel.params);
	assert_true(gpu_load("a100", &sel.gpu, NULL));
	if (!run_selection_with(&sel, &(struct run_options){ .max_blocks = sample }, NULL, &r, &err))
		fail_msg("%s", err.msg);
	return r;
}

/* Through text and back, strictly. */
static json_t *reread(json_t *o)
{
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(o);
	assert_non_null(text);
	json_error_t e;
	json_t *again = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	if (!again)
		fail_msg("line %d: %s", e.line, e.text);
	free(text);
	return again;
}

static void is_metric(const json_t *m)
{
	const json_t *value = json_object_get(m, "value");
	const char *origin = json_string_value(json_object_get(m, "origin"));
	assert_non_null(value);
	assert_non_null(origin);
	assert_true(json_is_string(json_object_get(m, "unit")));
	if (!strcmp(origin, "none")) {
		assert_true(json_is_null(value));
		assert_true(json_string_length(json_object_get(m, "reason")) > 0);
	} else {
		assert_true(json_is_number(value) || json_is_string(value));
	}
}

static const json_t *value_of(const json_t *metrics, const char *key)
{
	const json_t *v = json_object_get(json_object_get(metrics, key), "value");
	if (!v)
		fail_msg("no %s", key);
	return v;
}

TEST(test_a_record)
{
	struct run_record *r = record(0);
	json_t *o = reread(json_record(r));
	record_free(r);
	assert_string_equal(json_string_value(json_object_get(o, "schema")), CLI_SCHEMA);
	assert_string_equal(json_string_value(json_object_get(o, "kernel")), "toy");
	assert_string_equal(json_string_value(json_object_get(o, "variant")), "one");
	assert_true(json_is_true(json_object_get(o, "verified")));
	const json_t *params = json_object_get(o, "params");
	assert_int_equal(json_integer_value(json_object_get(params, "N")), 1000);
	assert_null(json_object_get(params, "W")); /* not of this variant */

	const json_t *metrics = json_object_get(o, "metrics");
	assert_int_equal(json_object_size(metrics), METRIC_COUNT);
	for (int i = 0; i < METRIC_COUNT; i++)
		is_metric(json_object_get(metrics, metric_catalogue[i].key));
	assert_true(json_is_integer(value_of(metrics, "launch.grid_blocks")));
	assert_int_equal(json_integer_value(value_of(metrics, "launch.grid_blocks")), 8);
	assert_true(json_is_string(value_of(metrics, "occ.limiters")));
	assert_true(json_is_null(value_of(metrics, "roof.book_intensity_flop_per_byte")));

	const json_t *lines = json_object_get(o, "lines");
	assert_int_equal(json_array_size(lines), 2);
	const json_t *line = json_array_get(lines, 1);
	assert_int_equal(json_integer_value(json_object_get(line, "line")), 8);
	assert_string_equal(json_string_value(json_object_get(line, "source")),
	                    "\t\ty[i] = x[i] * W; //@ scale");
	assert_string_equal(json_string_value(json_array_get(json_object_get(line, "tags"), 0)),
	                    "scale");
	const json_t *part = json_object_get(line, "metrics");
	assert_true(json_real_value(value_of(part, "mem.ld_sectors_per_request")) == 3.5);
	/* The same figures by tag, and no figure that is not of instructions. */
	const json_t *tag = json_object_get(json_object_get(o, "tags"), "scale");
	assert_true(json_equal(json_object_get(tag, "metrics"), part));
	assert_int_equal(json_object_size(json_object_get(o, "tags")), 1);
	assert_null(json_object_get(part, "occ.blocks_per_sm"));
	assert_null(json_object_get(part, "time.kernel_ns"));
	const json_t *key;
	const char *name;
	json_object_foreach((json_t *)part, name, key)
	{
		is_metric(key);
		assert_non_null(json_object_get(metrics, name));
	}
	assert_int_equal(json_array_size(json_object_get(json_object_get(o, "occupancy"), "limits")),
	                 OCC_LIMIT_COUNT);
	json_decref(o);
}

TEST(test_a_sample)
{
	struct run_record *r = record(2);
	json_t *o = reread(json_record(r));
	record_free(r);
	assert_true(json_is_false(json_object_get(o, "verified")));
	assert_string_equal(json_string_value(json_object_get(json_object_get(o, "check"), "state")),
	                    "sampled");
	const json_t *m = json_object_get(json_object_get(o, "metrics"), "inst.warp_executed");
	assert_string_equal(json_string_value(json_object_get(m, "origin")), "sampled");
	assert_int_equal(json_integer_value(json_object_get(m, "blocks_sampled")), 2);
	assert_int_equal(json_integer_value(json_object_get(m, "blocks")), 8);
	const json_t *line = json_array_get(json_object_get(o, "lines"), 0);
	m = json_object_get(json_object_get(line, "metrics"), "inst.warp_executed");
	assert_int_equal(json_integer_value(json_object_get(m, "blocks_sampled")), 2);
	json_decref(o);
}

TEST(test_numbers)
{
	json_t *j = json_number(3);
	assert_true(json_is_integer(j));
	json_decref(j);
	j = json_number(0.25);
	assert_true(json_is_real(j));
	json_decref(j);
	j = json_number((double)NAN);
	assert_true(json_is_null(j));
	json_decref(j);
	j = json_number((double)INFINITY);
	assert_true(json_is_null(j));
	json_decref(j);
	j = json_number(-9e15);
	assert_true(json_is_integer(j));
	assert_true(json_integer_value(j) == -9000000000000000);
	json_decref(j);
	j = json_number(1e300);
	assert_true(json_is_real(j));
	json_decref(j);
}

TEST(test_errors)
{
	struct err err = { 0 };
	err_set(&err, ERR_PARSE, "a \"quoted\" \x01 line\nand \xff no UTF-8");
	json_t *o = reread(json_error(&err));
	const json_t *e = json_object_get(o, "error");
	assert_string_equal(json_string_value(json_object_get(e, "code")), "parse");
	assert_non_null(strstr(json_string_value(json_object_get(e, "message")), "\"quoted\""));
	assert_true(json_is_null(json_object_get(e, "remedy")));
	json_decref(o);
}

/* A failure that forgot to say why is one all the same. */
TEST(test_an_unsaid_failure)
{
	const struct err none = { .code = ERR_NONE };
	char *said = NULL;
	size_t n = 0;
	struct cli c = { .err = open_memstream(&said, &n) };
	assert_non_null(c.err);
	assert_int_not_equal(cli_fail(&c, &none), CLI_OK);
	fclose(c.err);
	assert_non_null(strstr(said, "without saying why"));
	free(said);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}

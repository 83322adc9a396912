/* Expectations: grammar, arithmetic, tags, previous step, tolerance, and errors with a column. */
#include "../unit.h"
#include "model/expect.h"

#include <stdio.h>
#include <string.h>

static bool lookup(void *ctx, const char *key, const char *tag, bool before,
                   struct expect_value *out, struct err *err)
{
	(void)ctx;
	*out = (struct expect_value){ 0 };
	if (!strcmp(key, "warps") && !strcmp(tag, "add"))
		out->num = 27;
	else if (!strcmp(key, "warps"))
		out->num = before ? 80 : 10;
	else if (!strcmp(key, "words")) {
		out->is_text = true;
		snprintf(out->text, sizeof out->text, "warps, registers");
	} else
		return err_set(err, ERR_USAGE, "no metric '%s'", key);
	return true;
}

static int eval(const char *line)
{
	struct expect_outcome out;
	struct err err = { 0 };
	if (!expect_eval(line, lookup, NULL, &out, &err))
		return -1;
	return out.holds;
}

TEST(holds)
{
	assert_int_equal(eval("warps == 10"), 1);
	assert_int_equal(eval("warps@add * 32 == 864"), 1);
	assert_int_equal(eval("warps == before.warps / 8"), 1);
	assert_int_equal(eval("255 / (warps@add*32) ~= 0.295"), 1);
	assert_int_equal(eval("warps == 12 +- 20 %"), 1);
	assert_int_equal(eval("warps == 13 +- 2"), 0);
	assert_int_equal(eval("warps + 2 * 3 - -1 == 17"), 1);
	assert_int_equal(eval("warps != 10"), 0);
	assert_int_equal(eval("warps < 10"), 0);
	assert_int_equal(eval("warps <= 10"), 1);
	assert_int_equal(eval("warps > 10"), 0);
	assert_int_equal(eval("warps ~= 10.09"), 1); /* 1 % */
	assert_int_equal(eval("warps ~= 10.2"), 0);
	assert_int_equal(eval("warps == 20 +- 20 %"), 0);
	assert_int_equal(eval("words == \"warps, registers\""), 1);
	assert_int_equal(eval("words != \"warps\""), 1);
}

TEST(errors_carry_a_column)
{
	struct expect_outcome out;
	struct err err = { 0 };
	assert_false(expect_eval("warps == ", lookup, NULL, &out, &err));
	assert_non_null(strstr(err.msg, "column 10"));
	assert_int_equal(eval("warps = 10"), -1);
	assert_int_equal(eval("nothing == 10"), -1);
	assert_int_equal(eval("words < \"a\""), -1);
	assert_int_equal(eval("words == 3"), -1);
	assert_int_equal(eval("warps == 10 10"), -1);
	assert_int_equal(eval("(warps == 10"), -1);
	assert_int_equal(eval("words == \"open"), -1);
	char deep[400];
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	assert_int_equal(eval(deep), -1);
}

static bool known(const char *key)
{
	return !strcmp(key, "warps");
}

TEST(parse_checks_names)
{
	struct err err = { 0 };
	assert_true(expect_parse("warps@add >= before.warps", known, &err));
	assert_false(expect_parse("wraps == 3", known, &err));
	assert_non_null(strstr(err.msg, "column 6"));
	assert_false(expect_parse("beforeXwarps == 3", known, &err)); /* not the last step's warps */
}

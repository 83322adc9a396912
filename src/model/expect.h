/*
 * Expectations: one line that a preset step or a test claims about a run.
 *
 *   mem.ld_sectors_per_request == 32
 *   inst.warp_executed@add * 32 == 864          figure of the lines tagged "add"
 *   mem.ld_sectors == before.mem.ld_sectors / 8 the previous step's figure
 *   time.kernel_ns ~= 4.1e6 +- 20 %             within a tolerance (plain ~= is 1 %)
 *   occ.limiters == "registers"                 words compare exactly
 *   verified == 1
 *
 * Operators: == != < <= > >= ~=, and + - * / ( ) between numbers. Knows no metric by itself: the
 * caller's lookup says what a name is worth.
 */
#ifndef PMPP_MODEL_EXPECT_H
#define PMPP_MODEL_EXPECT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct expect_value {
	bool is_text;
	double num;
	char text[96];
};

/* @key without tag and "before."; @tag "" = whole kernel. False with the reason in @err. */
typedef bool (*expect_lookup)(void *ctx, const char *key, const char *tag, bool before,
                              struct expect_value *out, struct err *err);

struct expect_outcome {
	bool holds;
	struct expect_value left, right; /* what both sides came to */
};

/* False: the line cannot be evaluated (ERR_PARSE with column, or the lookup's error). */
bool expect_eval(const char *line, expect_lookup lookup, void *ctx, struct expect_outcome *out,
                 struct err *err);
/* Only the grammar and the names: every name must be accepted by @known. */
bool expect_parse(const char *line, bool (*known)(const char *key), struct err *err);

#endif

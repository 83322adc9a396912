/* Running another program: what it prints, and every way in which it can fail. */

#include "../unit.h"
#include "base/tool.h"

#include <string.h>
#include <unistd.h>

static bool shell(const char *script, double limit_s, size_t max_bytes, const atomic_bool *cancel,
                  struct text *out, struct err *err)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct tool_request req = {
		.path = "/bin/sh",
		.argv = argv,
		.fd = -1,
		.limit_s = limit_s,
		.max_bytes = max_bytes,
		.cancel = cancel,
	};
	*out = (struct text){ 0 };
	err_clear(err);
	return tool_run(&req, out, err);
}

TEST(output_is_kept)
{
	struct text out;
	struct err err;
	assert_true(shell("echo one; echo two >&2; echo three", 60, 1000, NULL, &out, &err));
	assert_string_equal(out.s, "one\nthree\n");
	text_free(&out);
	/* more than a pipe holds */
	assert_true(shell("head -c 300000 /dev/zero", 60, 1 << 20, NULL, &out, &err));
	assert_int_equal(out.len, 300000);
	text_free(&out);
}

TEST(a_descriptor_is_passed)
{
	struct text out = { 0 };
	const char *const argv[] = { "cat", TOOL_FD_PATH, NULL };
	static char words[300000];
	memset(words, 'w', sizeof words);
	const int fd = tool_input("t", words, sizeof words);
	assert_true(fd >= 0);
	const struct tool_request req = {
		.path = "/bin/cat", .argv = argv, .fd = fd, .limit_s = 60, .max_bytes = sizeof words
	};
	assert_true(tool_run(&req, &out, NULL));
	assert_int_equal(out.len, sizeof words);
	assert_memory_equal(out.s, words, sizeof words);
	text_free(&out);
	close(fd);
}

TEST(failure_has_last_words)
{
	struct text out;
	struct err err;
	assert_false(shell("echo 'no such card' >&2; exit 7", 60, 1000, NULL, &out, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "exit status 7"));
	assert_non_null(strstr(err.msg, "no such card"));
	text_free(&out);
	assert_false(shell("kill -SEGV $$", 60, 1000, NULL, &out, &err));
	assert_non_null(strstr(err.msg, "signal 11"));
	text_free(&out);
}

TEST(too_much_is_refused)
{
	struct text out;
	struct err err;
	assert_false(shell("yes", 60, 100000, NULL, &out, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "more than 100000 bytes"));
	text_free(&out);
}

TEST(hanging_ends)
{
	struct text out;
	struct err err;
	/* with a child that keeps the pipe open, and without output at all */
	assert_false(shell("sleep 1000 & sleep 1000", 0.2, 1000, NULL, &out, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
	text_free(&out);
	assert_false(shell("exec >&-; sleep 1000", 0.2, 1000, NULL, &out, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
	text_free(&out);
}

TEST(cancel_ends)
{
	struct text out;
	struct err err;
	const atomic_bool yes = true;
	assert_false(shell("sleep 1000", 60, 1000, &yes, &out, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	text_free(&out);
}

TEST(absence_is_said)
{
	struct text out = { 0 };
	struct err err = { 0 };
	const char *const argv[] = { "none", NULL };
	const struct tool_request req = {
		.path = "/nowhere/none", .argv = argv, .fd = -1, .limit_s = 60, .max_bytes = 100
	};
	assert_false(tool_run(&req, &out, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.msg, "/nowhere/none"));
	text_free(&out);
}

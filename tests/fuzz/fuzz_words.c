/*
 * Fuzz target: the command line. The input's lines are its words. Everything up to the run itself:
 * verbs and options (with --help at the end, so that nothing is run, read or written), kernels and
 * parameters, launches of a person's own kernel, expressions, expectations.
 */
#include "target.h"

#include "cli/cli.h"
#include "model/expect.h"
#include "userkernel/user_words.h"

#include <fcntl.h>
#include <unistd.h>

enum { MAX_WORDS = 12, MAX_FAMILIES = 20000 };

/* What it prints is for nobody; what a sanitizer says is. */
static int quiet(int fd, int to)
{
	static int null = -1;
	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const int kept = to < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 10) : -1;
	dup2(to < 0 ? null : to, fd);
	if (to >= 0)
		close(to);
	return kept;
}

static void whole_line(unsigned n, char **words)
{
	char *argv[MAX_WORDS + 4] = { (char[]){ "pmpp-explore" } };
	char help[2][8] = { "--help", "--help" }; /* the first may be an option's value */
	int argc = 1;
	bool busy;
	for (unsigned i = 0; i < n; i++)
		if (strcmp(words[i], "--") != 0)
			argv[argc++] = words[i];
	argv[argc++] = help[0];
	argv[argc++] = help[1];
	const int out = quiet(1, -1), err = quiet(2, -1);
	const int status = cli_main(argc, argv, &busy);
	quiet(1, out);
	quiet(2, err);
	promise(status == CLI_OK || status == CLI_USAGE, "shown, or bad usage");
}

static bool find(const void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	*value = 7;
	return name[0] == 'n' || name[0] == 'b';
}

static bool known(const char *key)
{
	return key[0] == 'm';
}

static void one_word(const char *word)
{
	const struct user_names names = { find, NULL, "n, b" };
	struct user_buffer b;
	struct err err = { 0 };
	int64_t v;
	if (!user_evaluate(word, "word", &names, &v, &err))
		promise_refusal(&err);
	err_clear(&err);
	if (user_is_buffer(word) && !user_read_buffer("x", word, &b, &err))
		promise_refusal(&err);
	err_clear(&err);
	if (!expect_parse(word, known, &err))
		promise_refusal(&err);
}

/* Families stay until the program ends: so many of them are enough. */
static void own_kernel(unsigned n, char **words)
{
	static unsigned made;
	static const char source[] =
		"__global__ void k(float *a, const int *b, int n, float s) { a[n] = b[0] * s; }\n";
	struct err err = { 0 };
	if (n && made++ < MAX_FAMILIES &&
	    !user_file_restore("fuzz.cu", source, n, (const char *const *)words, &err))
		promise_refusal(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size), *words[MAX_WORDS];
	struct selection sel = { 0 };
	struct err err = { 0 };
	unsigned n = 0;
	for (char *at = text; at && n < MAX_WORDS;) {
		words[n++] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	for (unsigned i = 0; i < n; i++)
		one_word(words[i]);
	if (!strchr(words[0], '.') && !select_by_words(n, words, &sel, &err))
		promise_refusal(&err);
	own_kernel(n, words);
	whole_line(n, words);
	free(text);
	return 0;
}

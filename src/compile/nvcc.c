/* nvcc as a child; see nvcc.h. */
#include "compile/nvcc.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "base/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BUILD_LIMIT_S 600
#define MAX_INPUT ((size_t)1 << 30)
#define MAX_MESSAGES ((size_t)1 << 20)

void nvcc_word(struct nvcc_command *c, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list ap;
	va_start(ap, fmt);
	text_add_v(&t, fmt, ap);
	va_end(ap);
	c->word[c->n++] = t.s ? t.s : mem_strdup("");
}

void nvcc_free(struct nvcc_command *c)
{
	while (c->n)
		free(c->word[--c->n]);
}

/* No word is a pipe or a device, which the compiler would read without end, or too large. */
static bool inputs_whole(const struct nvcc_command *c, struct err *err)
{
	struct stat st;
	for (unsigned i = 1; i < c->n; i++) {
		const char *before = c->word[i - 1], *w = c->word[i];
		if (w[0] == '-' || !strcmp(before, "-o") || !strcmp(before, "-MF") || stat(w, &st) ||
		    S_ISDIR(st.st_mode))
			continue;
		if (!file_check(w, MAX_INPUT, err))
			return false;
	}
	return true;
}

bool nvcc_run(const struct nvcc_command *c, const atomic_bool *cancel, struct text *messages,
              struct err *err)
{
	/* nvcc writes some messages to standard output, some to standard error */
	struct scratch tmp = SCRATCH_NONE; /* what a killed nvcc leaves behind, too */
	if (!inputs_whole(c, err) || !scratch_make(&tmp, err))
		return false;
	const char *shell[] = { "/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", NULL };
	const char **argv = mem_calloc(c->n + 5u, sizeof *argv);
	memcpy(argv, shell, 4 * sizeof *argv);
	memcpy(argv + 4, c->word, c->n * sizeof *argv);
	const struct tool_request req = { .path = "/bin/sh",
		                              .argv = argv,
		                              .fd = -1,
		                              .limit_s = BUILD_LIMIT_S,
		                              .max_bytes = MAX_MESSAGES,
		                              .cancel = cancel,
		                              .tmp = tmp.path };
	const bool ok = tool_run(&req, messages, err);
	scratch_remove(&tmp);
	free(argv);
	return ok;
}

/* One file of the rule at a time; @at moves on. */
static bool next_input(const char **at, char *out, size_t n)
{
	const char *s = *at;
	while (*s == ' ' || *s == '\n' || *s == '\t' || (*s == '\\' && s[1] == '\n'))
		s++;
	size_t len = 0;
	while (*s && *s != ' ' && *s != '\n' && *s != '\t') {
		if (*s == '\\' && s[1] == ' ')
			s++;
		if (len + 1 < n)
			out[len++] = *s;
		s++;
	}
	out[len] = '\0';
	*at = s;
	return len > 0;
}

uint64_t nvcc_inputs_hash(const char *rule)
{
	const char *at = strstr(rule, " : ");
	if (!at)
		at = strchr(rule, ':');
	char path[4096];
	uint64_t hash = HASH_SEED;
	struct stat st;
	for (at = at ? at + (at[1] == ':' ? 3 : 1) : ""; next_input(&at, path, sizeof path);) {
		if (!strcmp(path, ":"))
			continue;
		if (stat(path, &st) != 0)
			return 0;
		const int64_t facts[] = { (int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec,
			                      (int64_t)st.st_mtim.tv_nsec };
		hash = hash_bytes(hash, path, strlen(path));
		hash = hash_bytes(hash, facts, sizeof facts);
	}
	return hash ? hash : 1;
}

/*
 * Every case of tests/ptx on a real GPU: do outputs, counts and faults hold there too? A line per
 * case that differs, with what differs; the last line says how many. From the repository's root.
 */
#include "../unit/emu/case_run.h"
#include "gpu_launches.h"

#include "cuda/cuda.h"

#include <dirent.h>

#define FOLDER "tests/ptx"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **list_cases(size_t *n)
{
	char **names = NULL;
	DIR *dir = opendir(FOLDER);
	*n = 0;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		const size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 4, ".ptx") ||
		    (opt.only && !name_is_listed(opt.only, e->d_name)) ||
		    (opt.skip && name_is_listed(opt.skip, e->d_name)))
			continue;
		names = mem_realloc(names, *n + 1, sizeof *names);
		names[(*n)++] = mem_printf(FOLDER "/%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(names, *n, sizeof *names, by_name);
	return names;
}

enum outcome { HOLDS, DIFFERS, LEFT_OUT, OUTCOMES };

/* Does the GPU do all that the file expects? */
static enum outcome case_outcome(const char *path, struct backend *be)
{
	struct ptx_case c;
	struct case_report r = { 0 };
	const struct case_target t = {
		.ops = &backend_cuda,
		.be = be,
		.setting = "GPU",
		.threads = 1,
		.hardware = true,
		.cc = 10 * opt.gpu->cc_major + opt.gpu->cc_minor,
	};
	if (!case_read(&c, path)) {
		printf("%s: %s\n", path, c.why);
		case_free(&c);
		return DIFFERS;
	}
	const bool left_out = c.emulator_only || case_cc(&c) > t.cc;
	case_run(&c, &t, &r);
	if (r.failures)
		printf("%s: %u differences\n%s", path, r.failures, r.text.s);
	const enum outcome o = r.failures ? DIFFERS : left_out ? LEFT_OUT : HOLDS;
	static const char *const words[OUTCOMES] = { "as expected", "differs", "left out" };
	printf("%s\t%s\n", c.name, words[o]); /* for tests/ptx/forms.py */
	fflush(stdout);
	text_free(&r.text);
	case_free(&c);
	return o;
}

int do_cases(void)
{
	struct backend *be;
	struct err err = { 0 };
	size_t n, of[OUTCOMES] = { 0 };
	if (!gpu_check_open(&be, &err))
		return put_error("gpu", &err);
	char **names = list_cases(&n);
	for (size_t i = 0; i < n; i++) {
		of[case_outcome(names[i], be)]++;
		free(names[i]);
	}
	free(names);
	backend_cuda.close(be);
	printf("%zu cases, %zu as expected, %zu left out\n", n, of[HOLDS], of[LEFT_OUT]);
	return n && !of[DIFFERS] ? 0 : 1;
}

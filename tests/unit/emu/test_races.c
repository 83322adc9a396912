/* The race check against kernels whose verdict is known: tests/races, whose README says how. */
#include "../unit.h"
#include "backend/backend.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 4096, LEAST_KERNELS = 764 };
static const struct {
	const char *name, *sheet; /* compiled for that GPU, and run on it */
} files[] = {
	{ "block.cu", "a100" },   { "warp.cu", "a100" },           { "grid.cu", "a100" },
	{ "graph.cu", "a100" },   { "handover.cu", "a100" },       { "async_copy.cu", "a100" },
	{ "planted.cu", "a100" }, { "planted_places.cu", "a100" }, { "cluster.cu", "h200" },
	{ "barrier.cu", "a100" }, { "volatile_data.cu", "a100" },  { "beside.cu", "a100" },
	{ "bulk.cu", "h200" },    { "product.cu", "h200" },
};
static unsigned kernels, wrong;

struct verdict {
	bool race, customary;
	unsigned grid, block;
	char name[64];
	const char *words, *end; /* what the message must have, in quotes */
};

static bool says_all(const struct verdict *v, const char *message)
{
	for (const char *at = v->words; (at = memchr(at, '"', (size_t)(v->end - at)));) {
		const char *close = memchr(at + 1, '"', (size_t)(v->end - at - 1));
		char word[80];
		assert_non_null(close);
		snprintf(word, sizeof word, "%.*s", (int)(close - at - 1), at + 1);
		if (!strstr(message, word))
			return false;
		at = close + 1;
	}
	return true;
}

/* The result says in which blocks races were looked for, and why not in all. */
static void coverage_holds(const struct run_races *r, const struct verdict *v, bool spread)
{
	char words[256];
	run_races_text(r, words, sizeof words);
	if (r->of == v->grid && r->blocks > 0 && r->blocks <= r->of &&
	    (spread || (r->blocks == r->of && !r->why[0])) && (r->blocks == r->of || r->why[0]))
		return;
	wrong++;
	print_error("%s: %s\n", v->name, words);
}

static void run_kernel(struct backend *emulator, const struct module *m, const char *file,
                       const struct verdict *v, bool spread)
{
	static int32_t a[ELEMENTS], b[ELEMENTS];
	struct launch_plan plan = {
		.entry = v->name, .grid = { v->grid, 1, 1 }, .block = { v->block, 1, 1 },
		.n_buffers = 2, .n_args = 3,
		.buffers = {
			{ .name = "a", .type = ELEM_I32, .role = BUF_INOUT, .count = ELEMENTS },
			{ .name = "b", .type = ELEM_I32, .role = BUF_INOUT, .count = ELEMENTS },
		},
		.args = {
			{ .kind = ARG_BUFFER, .buffer = 0 },
			{ .kind = ARG_BUFFER, .buffer = 1 },
			{ .kind = ARG_I32, .i32 = ELEMENTS },
		},
	};
	const struct run_request req = {
		.module = m,
		.plan = &plan,
		.source_file = file,
		.caps = CAP_COUNTERS,
		.timeout_s = 120, /* sanitizers take their time */
		.check_races = spread ? RACES_SPREAD : RACES_ALL,
		.level = RUN_LEVEL_PTX,
		.buffers = { { .data = a, .bytes = sizeof a }, { .data = b, .bytes = sizeof b } },
	};
	const struct run_hooks hooks = { 0 };
	struct run_result res = { 0 };
	struct err err = { 0 };
	for (int i = 0; i < ELEMENTS; i++) {
		a[i] = i;
		b[i] = 0;
	}
	bool customary = true;
	const bool ran = backend_emu.run(emulator, &req, &hooks, &res, &err) &&
	                 (!res.found.n || err_set(&err, ERR_FAULT, "%s", res.found.finding[0].text));
	for (unsigned i = 0; i < res.found.n; i++)
		customary &= res.found.finding[i].customary;
	coverage_holds(&res.races, v, spread);
	run_result_free(&res);
	kernels++;
	const bool raced =
		!ran && (strstr(err.msg, "-memory race") || strstr(err.msg, "barrier divergence"));
	if (v->race ? raced && customary == v->customary && says_all(v, err.msg) : ran)
		return;
	wrong++;
	print_error("%s: %s: should %s: %s%s\n", file, v->name,
	            v->customary ? "race as is customary"
	            : v->race    ? "race"
	                         : "be clean",
	            customary ? "customary: " : "", ran ? "no race found" : err.msg);
}

static void run_file(struct backend *emulator, const struct gpu_spec *gpu, const char *name)
{
	const char *root = getenv("TEST_ROOT");
	char *path = mem_printf("%s/tests/races/%s", root ? root : ".", name);
	struct err err = { 0 };
	struct text source = { 0 };
	if (!file_read(path, 1 << 20, &source, &err))
		fail_msg("%s", err.msg);
	const struct compile_request req = {
		.file = name, .source = source.s, .cc_major = gpu->cc_major, .cc_minor = gpu->cc_minor
	};
	struct module m;
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	for (const char *at = source.s; (at = strstr(at, "\n//: "));) {
		struct verdict v = { .race = strncmp(at + 5, "clean", 5) != 0,
			                 .customary = !strncmp(at + 5, "customary", 9) };
		const char *line = at + 5;
		at = strchr(line, '\n');
		assert_true(!v.race || v.customary || !strncmp(line, "race", 4));
		assert_int_equal(sscanf(strchr(line, ' '), "%u x %u", &v.grid, &v.block), 2);
		assert_int_equal(sscanf(at, "\nextern \"C\" __global__ void %63[a-z_0-9]", v.name), 1);
		v.words = line;
		v.end = at;
		run_kernel(emulator, &m, name, &v, false);
		run_kernel(emulator, &m, name, &v, true);
	}
	module_free(&m);
	text_free(&source);
	free(path);
}

TEST(verdicts_hold)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct gpu_spec *gpu = gpu_find(files[i].sheet);
		struct backend *emulator;
		struct err err = { 0 };
		assert_non_null(gpu);
		assert_true(backend_emu.open(&emulator, gpu, &err));
		run_file(emulator, gpu, files[i].name);
		backend_emu.close(emulator);
	}
	print_message("%u runs of kernels, %u wrong verdicts\n", kernels, wrong);
	assert_true(kernels >= LEAST_KERNELS);
	assert_int_equal(wrong, 0);
}

/* Every built-in sheet loads and holds the printed figures; a bad sheet says where and what. */
#include "../unit.h"
#include "base/asset.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/gpu.h"
#include "model/occupancy.h"
#include "model/yaml_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ids[] = { "a100",      "a6000",   "b200",    "h100",
	                               "h200",      "l4",      "rtx3090", "rtx4060laptop",
	                               "rtx4060ti", "rtx4090", "rtx5090", "t4" };

TEST(every_sheet_loads)
{
	size_t found = 0;
	for (size_t i = 0; i < asset_count(); i++) {
		char id[64];
		const struct asset *a = asset_at(i);
		if (!asset_in(a, "presets/gpus", ".yaml", id, sizeof id))
			continue;
		struct gpu_spec g;
		struct err e = { .code = ERR_NONE };
		if (!gpu_parse(a->data, a->len, a->path, &g, &e))
			fail_msg("%s", e.msg);
		assert_string_equal(g.id, id); /* file name = id */
		assert_false(g.live);
		/* The printed peak is the lanes times the clock, within the rounding of a data sheet. */
		double peak = g.sm_count * g.fp32_lanes_per_sm * 2 * g.clock_mhz / 1e3;
		if (fabs(peak / g.fp32_gflops - 1) > 0.01)
			fail_msg("%s: %.0f GFLOPS by lanes, %.0f printed", id, peak, g.fp32_gflops);
		double peak64 = g.sm_count * g.fp64_lanes_per_sm * 2 * g.clock_mhz / 1e3;
		if (fabs(peak64 / g.fp64_gflops - 1) > 0.03)
			fail_msg("%s: %.0f GFLOPS FP64 by lanes, %.0f printed", id, peak64, g.fp64_gflops);
		assert_true(g.dram_latency_ns > g.l2_latency_ns && g.l2_latency_ns > g.l1_latency_ns &&
		            g.l1_latency_ns > g.smem_latency_ns);
		assert_true(g.l2_gbs > g.dram_gbs);
		assert_ptr_equal(gpu_find(id), gpu_at(found));
		found++;
	}
	assert_int_equal(gpu_count(), found);
	assert_true(found >= sizeof ids / sizeof *ids);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (!gpu_find(ids[i]))
			fail_msg("no sheet %s", ids[i]);
	for (size_t i = 1; i < gpu_count(); i++)
		assert_true(strcmp(gpu_at(i - 1)->id, gpu_at(i)->id) < 0);
	assert_null(gpu_at(gpu_count()));
}

/* SEEDS 2.1 to 2.3 and the constants read from an H200. */
TEST(printed_figures)
{
	const struct gpu_spec *a = gpu_find("A100");
	assert_non_null(a);
	assert_string_equal(a->name, "A100-SXM4-40GB");
	assert_int_equal(a->sm_count, 108);
	assert_int_equal(a->sm_count * a->fp32_lanes_per_sm, 6912);
	assert_int_equal(gpu_max_warps_per_sm(a), 64);
	assert_int_equal(a->max_blocks_per_sm, 32);
	assert_int_equal(a->max_threads_per_sm / a->fp32_lanes_per_sm, 32);
	assert_int_equal(a->regs_per_sm, 65536);
	assert_int_equal(a->smem_per_sm_bytes, 164 * 1024);
	assert_true(a->dram_gbs == 1555 && a->fp32_gflops == 19500);
	assert_true(fabs(gpu_ridge_flop_per_byte(a) - 12.54) < 0.001);
	char sm[16];
	assert_string_equal(gpu_sm_name(a, sm, sizeof sm), "sm_80");

	const struct gpu_spec *h = gpu_find("h100");
	assert_int_equal(h->sm_count, 132);
	assert_int_equal(h->sm_count * h->fp32_lanes_per_sm, 16896);
	assert_true(h->l2_bytes == 50.0 * 1024 * 1024 && h->dram_bytes == 80e9);
	assert_int_equal(h->fp64_lanes_per_sm, 64);
	assert_int_equal(h->int32_lanes_per_sm, 64);
	assert_int_equal(h->sfu_lanes_per_sm, 16);
	assert_int_equal(h->lsu_lanes_per_sm, 32);
	assert_int_equal(h->schedulers_per_sm, 4);

	const struct gpu_spec *h200 = gpu_find("H200");
	assert_int_equal(h200->smem_per_sm_bytes, 233472);
	assert_int_equal(h200->smem_per_block_optin_bytes, 232448);
	assert_int_equal(h200->smem_reserved_per_block_bytes, 1024);
	assert_int_equal(h200->smem_per_block_bytes, 49152);
	assert_string_equal(h200->chip, "GH100");
	/* measured peaks stay under the sheet's: 65.07 TFLOPS FFMA, 4260 GB/s copy */
	assert_true(h200->fp32_gflops > 65070 && h200->dram_gbs > 4260);

	const struct gpu_spec *t = gpu_find("rtx4060ti");
	assert_int_equal(t->sm_count, 34);
	assert_int_equal(t->max_threads_per_sm, 1536);
	assert_int_equal(t->max_blocks_per_sm, 24);
	assert_int_equal(t->smem_per_sm_bytes, 100 * 1024);
	assert_string_equal(gpu_sm_name(t, sm, sizeof sm), "sm_89");
}

TEST(every_figure_has_a_source)
{
	static const char *const figures[] = {
#define X(type, field, least, most, about) #field,
		GPU_FIGURES(X)
#undef X
	};
	for (size_t i = 0; i < gpu_count(); i++)
		for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
			const char *s = gpu_source_of(gpu_at(i), figures[k]);
			if (!s || strlen(s) < 10)
				fail_msg("%s: %s has no source", gpu_at(i)->id, figures[k]);
		}
	assert_null(gpu_source_of(gpu_at(0), "regs"));
}

/* @a with the first @from replaced. */
static void write_changed(FILE *f, const struct asset *a, const char *from, const char *to)
{
	const char *at = strstr(a->data, from);
	assert_non_null(at);
	fwrite(a->data, 1, (size_t)(at - a->data), f);
	fputs(to, f);
	at += strlen(from);
	fwrite(at, 1, a->len - (size_t)(at - a->data), f);
}

TEST(ids_and_paths)
{
	const struct gpu_spec *g, *again;
	struct err e = { .code = ERR_NONE };
	assert_true(gpu_load("RTX4060Ti", &g, &e));
	assert_string_equal(g->id, "rtx4060ti");
	assert_false(gpu_load("h20", &g, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.msg, "no GPU sheet 'h20'; did you mean 'h200'?");
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		assert_non_null(strstr(e.remedy, ids[i]));
	assert_false(gpu_load("", &g, &e));
	assert_false(gpu_load("voodoo3dfx9000", &g, &e));
	assert_null(strstr(e.msg, "did you mean"));
	assert_false(gpu_load("/no/such/sheet.yaml", &g, &e));
	assert_int_equal(e.code, ERR_IO);
	assert_non_null(strstr(e.msg, "/no/such/sheet.yaml"));
	assert_false(gpu_load("/", &g, &e));

	char path[] = "/tmp/pmpp-sheet-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	const struct asset *a = asset_find("presets/gpus/a100.yaml");
	fwrite(a->data, 1, a->len, f);
	fclose(f);
	assert_true(gpu_load(path, &g, &e));
	assert_ptr_equal(g, gpu_find("a100")); /* the same sheet is kept once */
	f = fopen(path, "w");
	write_changed(f, a, "108", "107");
	fclose(f);
	assert_true(gpu_load(path, &g, &e));
	assert_true(gpu_load(path, &again, &e));
	assert_int_equal(g->sm_count, 107);
	assert_ptr_equal(g, again);
	assert_int_equal(gpu_find("a100")->sm_count, 108);
	f = fopen(path, "w");
	fwrite(a->data, 1, a->len / 2, f);
	fclose(f);
	assert_false(gpu_load(path, &g, &e)); /* truncated */
	assert_int_equal(e.code, ERR_PARSE);
	assert_int_equal(strncmp(e.msg, path, strlen(path)), 0);
	remove(path);
}

/* A sheet with line @line (1-based) of a100 replaced by @with, or dropped when NULL. */
static char *altered(const char *key, const char *with)
{
	const struct asset *a = asset_find("presets/gpus/a100.yaml");
	char start[64];
	snprintf(start, sizeof start, "\n%s:", key);
	const char *at = strstr(a->data, start);
	assert_non_null(at);
	at++;
	const char *end = strchr(at, '\n') + 1;
	return mem_printf("%.*s%s%s%s", (int)(at - a->data), a->data, with ? with : "",
	                  with ? "\n" : "", end);
}

static void expect_error(char *yaml, size_t len, const char *want, const char *shown)
{
	struct gpu_spec g;
	memset(&g, 0x5a, sizeof g);
	const struct gpu_spec before = g;
	struct err e = { .code = ERR_NONE };
	if (gpu_parse(yaml, len, "my.yaml", &g, &e))
		fail_msg("accepted; wanted: %s", want);
	assert_int_equal(e.code, ERR_PARSE);
	assert_memory_equal(&before, &g, sizeof g); /* untouched */
	if (!strstr(e.msg, want))
		fail_msg("got: %s\nwanted: %s", e.msg, want);
	if (shown && !strstr(e.msg, shown))
		fail_msg("got: %s\nwanted the line: %s", e.msg, shown);
	assert_false(gpu_parse(yaml, len, "my.yaml", &g, NULL));
}

static void bad(const char *key, const char *with, const char *want, const char *shown)
{
	char *yaml = altered(key, with);
	expect_error(yaml, strlen(yaml), want, shown);
	free(yaml);
}

TEST(bad_sheets_say_where)
{
	/* line and column of the offending place, the line, the caret */
	bad("sm_count", "sm_cout: 108", "my.yaml:12:1: unknown key 'sm_cout'; did you mean 'sm_count'?",
	    "\n    sm_cout: 108\n    ^");
	bad("sm_count", NULL, "my.yaml:4:1: missing key: sm_count", "\n    id: a100\n    ^");
	bad("dram_gbs", "dram_gbs: fast", "'dram_gbs' must be a decimal number, not 'fast'",
	    "\n    dram_gbs: fast\n              ^");
	bad("dram_gbs", "dram_gbs: \"1555\"", "'dram_gbs' must be a number, not text", "^");
	bad("dram_gbs", "dram_gbs: -5",
	    "'dram_gbs' (device-memory bandwidth, 1e9 bytes/s) must be from 1 to", "dram_gbs: -5");
	bad("dram_gbs", "dram_gbs:", "'dram_gbs' has no value", NULL);
	bad("dram_gbs", "dram_gbs: .inf", "must be a decimal number", NULL);
	bad("dram_gbs", "dram_gbs: nan", "must be a decimal number", NULL);
	bad("dram_gbs", "dram_gbs: 1e999", "'dram_gbs' is too large", NULL);
	bad("dram_gbs", "dram_gbs: 0x10", "must be a decimal number", NULL);
	bad("dram_gbs", "dram_gbs: 1,555", "must be a decimal number", NULL);
	bad("dram_gbs", "dram_gbs: [1555]", "'dram_gbs' must be a number", NULL);
	bad("dram_gbs", "dram_gbs: {a: 1}", "'dram_gbs' must be a number", NULL);
	bad("dram_gbs", "dram_gbs: 1555\ndram_gbs: 1555", "key 'dram_gbs' is given twice",
	    "\n    dram_gbs: 1555\n    ^");
	bad("sm_count", "sm_count: 010", "must be a whole decimal number, not '010'", NULL);
	bad("sm_count", "sm_count: 1.5", "must be a whole decimal number, not '1.5'", NULL);
	bad("sm_count", "sm_count: -1", "'sm_count' must not be negative", NULL);
	bad("sm_count", "sm_count: 99999999999999999999", "'sm_count' is larger than 4294967295", NULL);
	bad("sm_count", "sm_count: 5000",
	    "'sm_count' (streaming multiprocessors) must be from 1 to 1024, not 5000",
	    "\n    sm_count: 5000\n              ^");
	bad("sm_count", "? [1, 2]\n: 3", "a key must be a word", NULL);
	bad("sm_count", "sm_count: *x", "aliases (*name) are not supported", NULL);
	bad("sm_count", "sm_count: 108\n  id: 3", "my.yaml:12:11: ", NULL);
	bad("sm_count", "sm_count: {", "my.yaml:", "^");
	bad("sm_count", "\tsm_count: 108", "my.yaml:", "^");
	bad("id", "id: A100", "'id' is made of a-z, 0-9, '-' and '_' only",
	    "\n    id: A100\n        ^");
	bad("id", "id: \"\"", "'id' is empty", NULL);
	bad("id", "id: a0123456789012345678901234567890", "'id' is longer than 31 bytes", NULL);
	bad("name", "name: \"A\\e[31m\"", "'name' holds a control character", NULL);
	bad("name", "name: \"A\\0B\"", "'name' holds a control character", NULL);
	bad("name", "name: \"A\\nB\"", "'name' holds a control character", NULL);
	bad("name", "name: [a, b]", "'name' must be a single word or text", NULL);
	bad("warp_size", "warp_size: 64", "'warp_size' (lanes of a warp) must be from 32 to 32", NULL);
	bad("cc_major", "cc_major: 6", "'cc_major'", NULL);
	bad("cc_minor", "cc_minor: 9", "'max_blocks_per_sm' is 32, but compute capability 8.9 has 24",
	    NULL);
	bad("max_blocks_per_sm", "max_blocks_per_sm: 16",
	    "'max_blocks_per_sm' is 16, but compute capability 8.0 has 32", "max_blocks_per_sm: 16");
	bad("smem_per_sm_bytes", "smem_per_sm_bytes: 168000",
	    "no shared-memory size of compute capability 8.0", NULL);
	bad("smem_per_sm_bytes", "smem_per_sm_bytes: 100000", "cannot hold one block", NULL);
	bad("regs_per_block", "regs_per_block: 131072", "'regs_per_block' is larger than 'regs_per_sm'",
	    NULL);
	bad("l1_bytes", "l1_bytes: 100000", "'l1_bytes' is smaller than the shared memory it contains",
	    NULL);
	bad("sources", "sources: []\nignored:", "'sources' holds 0 of at least 1 entries", NULL);
	bad("sources", "sources: 5\nignored:", "'sources' must be a list", NULL);
}

/* The text of a100 with @from replaced by @to (once). */
static void swap(const char *from, const char *to, const char *want)
{
	const struct asset *a = asset_find("presets/gpus/a100.yaml");
	const char *at = strstr(a->data, from);
	assert_non_null(at);
	char *yaml = mem_printf("%.*s%s%s", (int)(at - a->data), a->data, to, at + strlen(from));
	expect_error(yaml, strlen(yaml), want, NULL);
	free(yaml);
}

TEST(one_document)
{
	const struct asset *a = asset_find("presets/gpus/a100.yaml");
	char *yaml = mem_printf("---\n%s---\nid: b\n", a->data);
	expect_error(yaml, strlen(yaml), "a second document; one file holds one", "\n    ---\n    ^");
	free(yaml);
	yaml = mem_printf("---\n%s...\n", a->data);
	struct gpu_spec g;
	assert_true(gpu_parse(yaml, strlen(yaml), "my.yaml", &g, NULL));
	free(yaml);
}

TEST(sources_are_checked)
{
	swap("figures: dram_gbs dram_bytes", "figures: dram_bytes", "'dram_gbs' has no source");
	swap("figures: dram_gbs dram_bytes", "figures: dram_gbss dram_bytes",
	     "'dram_gbss' is not a figure; did you mean 'dram_gbs'?");
	swap("- figures: dram_gbs dram_bytes", "- figure: dram_gbs dram_bytes",
	     "unknown key 'figure'; did you mean 'figures'?");
	swap("- figures: dram_gbs dram_bytes\n", "- ", "missing key: figures");
}

TEST(hostile_bytes)
{
	expect_error("", 0, "my.yaml:1:1: the file is empty", NULL);
	expect_error("# only a comment\n", 17, "the file is empty", NULL);
	expect_error("- a\n- b\n", 8, "the file must be a group of 'key: value' lines", NULL);
	expect_error("hello", 5, "the file must be a group", NULL);
	expect_error("id: a\xff"
	             "b\n",
	             8, "my.yaml:1:6: byte 0xff is not UTF-8 text", "id: a?b");
	expect_error("id: \xc3", 5, "my.yaml:1:5: byte 0xc3 is not UTF-8 text", NULL);
	expect_error("id: \xed\xa0\x80\n", 8, "is not UTF-8 text", NULL);       /* a surrogate */
	expect_error("id: \xc0\x80\n", 7, "is not UTF-8 text", NULL);           /* overlong */
	expect_error("\xff\xfei\0d\0", 6, "byte 0xff is not UTF-8 text", NULL); /* UTF-16 */
	expect_error("id: a\0b\n", 8, "my.yaml:1:6: a zero byte", NULL);
	expect_error("id: a\x01\n", 7, "my.yaml:1:6: control characters are not allowed", NULL);
	expect_error("\xef\xbb\xbfidd: a\n", 10, "my.yaml:1:1: unknown key 'idd'; did you mean 'id'?",
	             "\n    idd: a\n    ^");
	expect_error("name: \xc3\xa4\xc3\xb6\nidd: 1\n", 18, "my.yaml:2:1: unknown key 'idd'", NULL);
	expect_error("id: %x\n", 7, "my.yaml:1:5:", NULL);
	expect_error("%YAML 9.9\n---\nid: a\n", 21, "my.yaml:", NULL);

	/* deep nesting, long lines and long keys end in a message, not in a crash */
	const size_t n = 200000;
	char *s = mem_alloc(n + 1);
	memset(s, '[', n);
	s[n] = '\0';
	expect_error(s, n, "my.yaml:1:1:", NULL);
	memset(s, 'x', n);
	expect_error(s, n, "my.yaml:1:1:", NULL);
	memcpy(s, "id: ", 4);
	memset(s + 4, '{', n - 4);
	expect_error(s, n, "my.yaml:1:5: 'id' must be a single word or text", NULL);
	memset(s, '-', n);
	expect_error(s, n, "my.yaml:", NULL);
	memset(s + n / 2, '\n', n / 2);
	expect_error(s, n, "my.yaml:", NULL);
	for (size_t i = 0; i + 2 <= n; i += 2)
		memcpy(s + i, "? ", 2);
	expect_error(s, n, "my.yaml:1:3: a key must be a word", NULL);
	s = mem_realloc(s, 2u * YAML_MAX_BYTES, 1);
	memset(s, '#', 2u * YAML_MAX_BYTES);
	expect_error(s, 2u * YAML_MAX_BYTES, "2097152 bytes", NULL);
	free(s);
}

/* Every prefix of a sheet, and every single byte of it damaged, is refused or read: never a crash.
 */
TEST(damaged_sheets)
{
	const struct asset *a = asset_find("presets/gpus/t4.yaml");
	struct gpu_spec g;
	struct err e;
	char *s = mem_alloc(a->len + 1);
	for (size_t n = 0; n < a->len; n += 1 + n / 40) {
		memcpy(s, a->data, n);
		s[n] = '\0';
		if (!gpu_parse(s, n, "cut.yaml", &g, &e))
			assert_int_equal(strncmp(e.msg, "cut.yaml:", 9), 0);
	}
	uint64_t seed = 3;
	for (unsigned i = 0; i < 400; i++) {
		memcpy(s, a->data, a->len + 1);
		for (unsigned k = 0; k <= i % 3; k++)
			s[rand_next(&seed) % a->len] = (char)rand_next(&seed);
		if (!gpu_parse(s, a->len, "bad.yaml", &g, &e)) {
			assert_int_equal(strncmp(e.msg, "bad.yaml:", 9), 0);
			for (const char *c = e.msg; *c; c++)
				assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
		}
	}
	free(s);
}

TEST(a_place_by_its_path)
{
	static const char yaml[] =
		"title: x\nsteps:\n  - run: a\n    say: b\n  - run: c\n    expect:\n      - one\n"
		"      - two\n";
	static const struct unit_case cases[] = {
		{ "title", "f:1:8: bad" },
		{ "steps[1].run", "f:5:10: bad" },
		{ "steps[1].expect[1]", "f:8:9: bad" },
		{ "steps[0].none", "f:3:5: bad" },
		{ "steps[9].run", "f:3:3: bad" },
		{ "none", "f:1:1: bad" },
		{ "", "f:1:1: bad" },
		{ "title.x[3]", "f:1:8: bad" },
		{ "steps", "f:3:3: bad" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err e;
		assert_false(yaml_error_at(yaml, strlen(yaml), "f", cases[i].given, &e, "bad %d", 1));
		if (strncmp(e.msg, cases[i].want, strlen(cases[i].want)) != 0)
			fail_msg("%s: %s", cases[i].given, e.msg);
	}
	struct err e;
	yaml_error_at("a: [", 4, "f", "a[2]", &e, "broken text");
	assert_int_equal(strncmp(e.msg, "f:1:", 4), 0);
	yaml_error_at("", 0, "f", "a", &e, "empty");
	assert_string_equal(e.msg, "f:1:1: empty\n    \n    ^");
}

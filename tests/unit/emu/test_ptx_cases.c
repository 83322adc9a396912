/*
 * Every file of tests/ptx in the emulator: one test per file.
 *
 * Each runs at every instruction-set level of the host, with one and with several threads, and
 * once with the race check, which also takes the path that keeps 32 values of every register.
 *
 * PTX_CASE_SM=90 runs them as machine code of that architecture instead, and tells of each what
 * came of it: "as machine code", "falls back: why", "not for it: what ptxas says".
 * PTX_CASE_WRITE=FOLDER only writes the PTX of those that a card can run there.
 */
#include "case_run.h"
#include "base/file.h"
#include "compile/assemble.h"
#include "emulator.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

static struct backend *emulator, *newer; /* newer: for cases of sm_100 */

/* Under ThreadSanitizer, which is slow, only what runs on several threads. */
#define SEVERAL_THREADS_ONLY UNIT_TSAN

static const struct {
	const char *isa, *setting;
	unsigned threads;
	bool check_races, uncounted;
} settings[] = {
	{ "sse", "sse, 1 thread", 1, false, false },
	{ "avx2", "avx2, 1 thread", 1, false, false },
	{ "avx512", "avx512, 2 threads", 2, false, false },
	{ "sse", "sse, uncounted", 1, false, true },
	{ NULL, "uncounted", 2, false, true },
	{ NULL, "race check", 1, true, false },
};

static unsigned machine_sm; /* PTX_CASE_SM */

/* Does the case say what hardware does? */
static bool meant_for_cards(const struct ptx_case *c)
{
	return !c->emulator_only && c->outcome == CASE_RUNS && !c->check_races;
}

static void case_text(const struct ptx_case *c, struct text *ptx)
{
	if (c->table)
		case_wrap(c, ptx);
	else
		text_add(ptx, "%s", c->text);
}

static void write_case(const struct ptx_case *c, const char *folder)
{
	struct text ptx = { 0 };
	struct err err = { 0 };
	char path[512];
	snprintf(path, sizeof path, "%s/%s.ptx", folder, c->name);
	case_text(c, &ptx);
	if (meant_for_cards(c) && !file_replace(path, ptx.s, ptx.len, &err))
		fail_msg("%s", err.msg);
	text_free(&ptx);
}

/* Of code for a later architecture than is asked for: this one's, if the assembler takes it. */
static void lower_target(char *ptx)
{
	static const char line[] = ".target sm_";
	char *at = strstr(ptx, line);
	if (!at || strtoul(at + sizeof line - 1, NULL, 10) <= machine_sm)
		return;
	at += sizeof line - 1;
	for (const char *end = at + 2; *end >= '0' && *end <= '9'; end++)
		memmove(at, at + 1, strlen(at)); /* sm_100: a digit less */
	at[0] = (char)('0' + machine_sm / 10);
	at[1] = (char)('0' + machine_sm % 10);
}

/* What the case asks of a card holds of its machine code, too. Returns differences. */
static unsigned as_machine_code(const struct ptx_case *c)
{
	struct text ptx = { 0 }, cubin = { 0 };
	struct err err = { 0 };
	char fell_back[CASE_WHY] = "";
	struct case_report r = { 0 };
	case_text(c, &ptx);
	lower_target(ptx.s);
	const bool meant = meant_for_cards(c);
	if (!meant || !assemble(ptx.s, ptx.len, machine_sm, NULL, &cubin, &err)) {
		print_message("  sm_%u %s: not for it: %s\n", machine_sm, c->name,
		              meant ? err.msg : "of the emulator's PTX only");
	} else {
		const struct case_target t = {
			.ops = &backend_emu,
			.be = case_cc(c) > 90 ? newer : emulator,
			.setting = "machine code",
			.threads = 1,
			.hardware = true,
			.cc = INT_MAX,
			.cubin = &cubin,
			.fell_back = fell_back,
		};
		case_run(c, &t, &r);
		print_message("  sm_%u %s: %s%s\n", machine_sm, c->name,
		              r.failures     ? "differs"
		              : fell_back[0] ? "falls back: "
		                             : "as machine code",
		              r.failures ? "" : fell_back);
	}
	if (r.failures)
		print_error("%s", r.text.s);
	text_free(&ptx);
	text_free(&cubin);
	text_free(&r.text);
	return r.failures;
}

static void one_file(void **state)
{
	struct ptx_case c;
	unsigned failures = 0;
	if (!case_read(&c, *state))
		fail_msg("%s", c.why);
	const char *folder = getenv("PTX_CASE_WRITE");
	if (folder) {
		write_case(&c, folder);
		case_free(&c);
		return;
	}
	const unsigned n_counts = c.n_counts;
	for (size_t i = 0; i < ARRAY_LEN(settings) && !machine_sm; i++) {
		const struct case_target t = {
			.ops = &backend_emu,
			.be = case_cc(&c) > 90 ? newer : emulator,
			.setting = settings[i].setting,
			.threads = settings[i].threads,
			.check_races = settings[i].check_races,
		};
		if (settings[i].isa)
			setenv("PMPP_EMU_ISA", settings[i].isa, 1);
		else
			unsetenv("PMPP_EMU_ISA");
		setenv("PMPP_EMU_UNCOUNTED", settings[i].uncounted ? "1" : "0", 1);
		struct case_report r = { 0 };
		/* then nobody counts, nor looks at what shared memory holds at first */
		c.n_counts = settings[i].uncounted ? 0 : n_counts;
		if (settings[i].uncounted && strstr(*state, "fault_uninitialised_shared"))
			continue;
		if (SEVERAL_THREADS_ONLY && settings[i].threads < 2 && !settings[i].check_races)
			continue;
		case_run(&c, &t, &r);
		if (r.failures)
			print_error("%s", r.text.s);
		failures += r.failures;
		text_free(&r.text);
	}
	unsetenv("PMPP_EMU_ISA");
	unsetenv("PMPP_EMU_UNCOUNTED");
	c.n_counts = n_counts;
	if (machine_sm)
		failures += as_machine_code(&c);
	case_free(&c);
	if (failures)
		fail_msg("%u differences", failures);
}

/* The files of the folder, or those whose name contains $PTX_CASE. */
static int is_case(const struct dirent *e)
{
	const char *only = getenv("PTX_CASE");
	const size_t len = strlen(e->d_name);
	return len > 4 && !strcmp(e->d_name + len - 4, ".ptx") && (!only || strstr(e->d_name, only));
}

int main(void)
{
	char folder[512];
	const char *root = getenv("TEST_ROOT"), *sm = getenv("PTX_CASE_SM");
	struct dirent **files;
	machine_sm = sm ? (unsigned)strtoul(sm, NULL, 10) : 0;
	snprintf(folder, sizeof folder, "%s/tests/ptx", root ? root : ".");
	const int n = scandir(folder, &files, is_case, alphasort);
	if (n <= 0) {
		fprintf(stderr, "no cases in %s\n", folder);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		const char *name = files[i]->d_name;
		unit_add(mem_strndup(name, strlen(name) - 4), one_file, mem_printf("%s/%s", folder, name));
		free(files[i]);
	}
	free(files);
	struct err err = { 0 };
	if (!backend_emu.open(&newer, gpu_find("b200"), &err)) {
		fprintf(stderr, "b200: %s\n", err.msg);
		return 1;
	}
	const int failed = run_with_emulator("h200", &emulator);
	backend_emu.close(newer);
	return failed;
}

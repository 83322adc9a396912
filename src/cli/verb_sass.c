/*
 * sass: the machine code of a kernel, of a .cu file or of a cubin, with what the compiler tells the
 * scheduler, and where a launch is counted, how often every instruction ran.
 */
#include "base/mem.h"
#include "cli/sass_diff.h"
#include "cli/sass_subject.h"
#include "userkernel/user_file.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct sass_ask ask;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct sass_ask *s = &((struct state *)state)->ask;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "compile for this GPU: an id of 'list gpus' or a .yaml file (default " LAB_DEFAULT_GPU
		  ")" },
		{ "--counts", OPT_FLAG, &s->counts, NULL,
		  "run it in the emulator, with parameters and launch as run has them, and count how often "
		  "every instruction ran" },
		{ "--launch", OPT_ORDINAL, &s->launch, "N",
		  "of a program, which is run: the kernel of launch N, with the counts of it" },
		{ "--maxrregcount", OPT_COUNT, &s->max_registers, "N",
		  "compile with at most N registers per thread" },
		{ "--diff", OPT_TEXT, &s->diff, "'WORDS'",
		  "what changes with these: parameters (TILE=32), --gpu SHEET, --maxrregcount N, of a file "
		  "-DNAME=4, or another kernel, file, cubin" },
		OPTION_JSON(&s->json),
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all) + user_options(&s->user, o + ARRAY_LEN(all));
}

static int show_json(struct cli *c, const struct sass_code *s)
{
	const struct sass_show *show = &s->show;
	const struct sass_module *m = show->module;
	json_t *funcs = json_array();
	for (unsigned f = 0; f < m->n_funcs; f++)
		if (!s->only[0] || sass_is_named(m->funcs[f].name, s->only))
			json_array_append_new(funcs, sass_json(show, &m->funcs[f]));
	char arch[16];
	snprintf(arch, sizeof arch, "sm_%u", m->cubin.sm);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "schema", CLI_SCHEMA, "verb", "sass",
	                      "architecture", arch, "disassembler", m->disassembler, "assembler",
	                      m->cubin.tool, "functions", funcs);
	if (s->compiler[0])
		json_object_set_new(o, "compiler", json_string(s->compiler));
	return cli_emit(c, o, s->status);
}

static int show(struct cli *c, const struct sass_code *s)
{
	const struct sass_show *show = &s->show;
	const struct sass_module *m = show->module;
	if (c->json)
		return show_json(c, s);
	fprintf(c->out, "%s%s%s", s->compiler, s->compiler[0] && m->cubin.tool[0] ? ", " : "",
	        m->cubin.tool);
	cli_line(c, ", disassembled by %s\n", m->disassembler[0] ? m->disassembler : "nvdisasm");
	bool first = true;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		if (s->only[0] && !sass_is_named(m->funcs[f].name, s->only))
			continue;
		fputs(first ? "" : "\n", c->out);
		first = false;
		sass_print(c, show, &m->funcs[f]);
	}
	return s->status;
}

/* --- what changes ----------------------------------------------------------------------------- */

enum { MAX_WORDS = 64 };

/* The words of the other side: those of --diff; parameters alone stand for the same kernel with
 * these in place of its own. */
struct words {
	char *text; /* cut into @word */
	unsigned n;
	char *word[MAX_WORDS];
	struct sass_ask ask;
};

static bool same_parameter(const char *a, const char *b)
{
	const size_t n = strcspn(a, "=");
	return a[n] == '=' && !strncmp(a, b, n + 1);
}

/* Options that --diff takes, in front of their values; false: none of them, or a value is missing.
 */
static bool other_option(const char *option, const char *value, struct sass_ask *ask,
                         struct err *err)
{
	const struct {
		const char *name;
		const char **text;
		uint64_t *number;
	} known[] = {
		{ "--gpu", &ask->gpu, NULL },
		{ "--block", &ask->user.block, NULL },
		{ "--grid", &ask->user.grid, NULL },
		{ "--shared", &ask->user.shared, NULL },
		{ "--kernel", &ask->user.kernel, NULL },
		{ "--maxrregcount", NULL, &ask->max_registers },
		{ "--launch", NULL, &ask->launch },
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		char *end = NULL;
		if (strcmp(option, known[i].name) != 0)
			continue;
		if (!value)
			return err_set(err, ERR_USAGE, "--diff: %s wants a value", option);
		if (known[i].text) {
			*known[i].text = value;
			return true;
		}
		*known[i].number = strtoull(value, &end, 10);
		return (!*end && *known[i].number) ||
		       err_set(err, ERR_USAGE, "--diff: %s wants a number", option);
	}
	return err_set(err, ERR_USAGE, "--diff: '%s' is neither a parameter nor --gpu SHEET", option);
}

/* Where a launch of a file is counted, another file alone is launched in the same way. */
static bool launched_alike(const struct sass_ask *s, const char *file, char *const *more,
                           unsigned n)
{
	return n == 1 && sass_ask_counts(s) && user_file_named(file) && user_file_named(more[0]);
}

/* Words of the first side that @more does not replace. What @more adds goes in front of "--" and
 * what is a program's own; returns how many of it are left to be added. */
static unsigned keep_words(unsigned n, char **args, char *const *more, unsigned n_more,
                           bool own_subject, struct words *w)
{
	for (unsigned i = 0; i < n; i++) {
		bool replaced = false;
		for (unsigned k = 0; k < n_more; k++)
			replaced = replaced || same_parameter(args[i], more[k]);
		for (; !strcmp(args[i], "--") && !own_subject && n_more && w->n < MAX_WORDS; n_more--)
			w->word[w->n++] = more[n_more - 1];
		if (!replaced && w->n < MAX_WORDS)
			w->word[w->n++] = args[i];
	}
	return n_more;
}

static bool other_words(const struct sass_ask *s, unsigned n, char **args, struct words *w,
                        struct err *err)
{
	char *more[MAX_WORDS];
	unsigned n_more = 0;
	w->text = mem_strdup(s->diff);
	w->ask = *s;
	for (char *at = NULL, *t = strtok_r(w->text, " \t", &at); t; t = strtok_r(NULL, " \t", &at)) {
		if ((*t == '-' && user_compiler_words(1, &t) != 1) || n_more == MAX_WORDS) {
			if (!other_option(t, strtok_r(NULL, " \t", &at), &w->ask, err))
				return false;
		} else {
			more[n_more++] = t;
		}
	}
	const bool own_subject = n_more && more[0][0] != '-' && !strchr(more[0], '=');
	const bool alike = own_subject && n && launched_alike(s, args[0], more, n_more);
	if (own_subject)
		w->word[w->n++] = more[0];
	if (alike || !own_subject)
		n_more = keep_words(n - alike, args + alike, more, n_more, own_subject, w);
	for (unsigned k = own_subject; k < n_more && w->n < MAX_WORDS; k++)
		w->word[w->n++] = more[k];
	if (own_subject && w->ask.user.kernel == s->user.kernel)
		w->ask.user.kernel = NULL; /* a name of the first side's need not be there */
	return true;
}

static void name_side(struct sass_side *side, const struct sass_code *code,
                      const struct sass_ask *s, unsigned n, char **words)
{
	side->show = code->show;
	side->only = code->only;
	for (unsigned i = 0; i < n; i++) {
		const size_t len = strlen(side->name);
		snprintf(side->name + len, sizeof side->name - len, "%s%s", i ? " " : "", words[i]);
	}
	const size_t len = strlen(side->name);
	if (s->max_registers)
		snprintf(side->name + len, sizeof side->name - len, " --maxrregcount %u",
		         (unsigned)s->max_registers);
	else if (s->launch)
		snprintf(side->name + len, sizeof side->name - len, " --launch %u", (unsigned)s->launch);
}

/* False with ERR_NONE: the other side's run said what was wrong, and *status is its. */
static bool show_diff(struct cli *c, const struct sass_ask *s, const struct sass_code *code,
                      unsigned n, char **args, int *status, struct err *err)
{
	struct words w = { .n = 0 };
	struct sass_code other = { .module = { .n_funcs = 0 } };
	struct sass_side a = { .name = "" }, b = { .name = "" };
	bool good = other_words(s, n, args, &w, err) && sass_find(c, &w.ask, w.n, w.word, &other, err);
	*status = other.status ? other.status : code->status;
	if (good) {
		name_side(&a, code, s, n, args);
		name_side(&b, &other, &w.ask, w.n, w.word);
		json_t *json = c->json ? sass_diff_json(&a, &b, err) : NULL;
		good = c->json ? json != NULL : sass_diff(c, &a, &b, err);
		if (json)
			cli_emit(c,
			         json_pack("{s:s, s:s, s:o}", "schema", CLI_SCHEMA, "verb", "sass", "functions",
			                   json),
			         CLI_OK);
	}
	sass_drop(&other);
	free(w.text);
	return good;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct sass_ask *s = &((const struct state *)state)->ask;
	struct err err = { 0 };
	struct sass_code code = { .module = { .n_funcs = 0 } };
	int status;
	if (!sass_find(c, s, n, args, &code, &err))
		status = code.status;
	else if (s->diff)
		show_diff(c, s, &code, n, args, &status, &err);
	else
		status = show(c, &code);
	if (err.code != ERR_NONE)
		status = cli_fail(c, &err);
	sass_drop(&code);
	return status;
}

CLI_VERB(
	sass, .order = 9,
	.about = "the machine code of a kernel, instruction by instruction, under its source lines",
	.usage = "KERNEL[/VARIANT] [name=value ...] | FILE.cu [-I DIR -D NAME ...] | FILE.ptx | "
			 "FILE.cubin | PROG.cu --launch N [-- arguments] [options]",
	.help =
		"Per instruction: offset (> where a jump leads), PTX line, live registers, predicates\n"
		"and uniform registers,\n"
		"and what the compiler tells the scheduler: cycles to the next instruction (stall), y to\n"
		"prefer another warp, the scoreboard that is set when the result is written (w) and when\n"
		"the sources are read (r), the scoreboards that it waits for. nvdisasm of the CUDA\n"
		"Toolkit or of the wheel nvidia-cuda-nvdisasm reads the encoding.\n"
		"With --counts also how many warps executed it, the share of all, and the lanes that did "
		"on\n"
		"average; then the hottest lines and loops. A file's launch is given as to run.\n"
		"\n"
		"  pmpp-explore sass sgemm/tiled --diff TILE=32\n"
		"  pmpp-explore sass sgemm/tiled --gpu a100 --diff '--gpu h200'\n"
		"  pmpp-explore sass sgemm/tiled --diff '--maxrregcount 24'\n"
		"  pmpp-explore sass bounded.cu --diff plain.cu\n"
		"  pmpp-explore sass sgemm/tiled M=512 N=512 K=512 --counts\n"
		"  pmpp-explore sass diverge/if_else --counts --diff diverge/parity\n"
		"  pmpp-explore sass my.cu --counts --kernel saxpy --grid n/block --block 256 n=1M a=2 "
		"'x=f32[n]' 'y=f32[n]'\n"
		"  pmpp-explore sass train.cu --launch 3 --diff '--launch 4'\n",
	.of_programs = true);

/*
 * sass: the machine code of a kernel, of a .cu file or of a cubin, with what the compiler tells the
 * scheduler. Compiles and disassembles; runs nothing.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "base/file.h"
#include "base/mem.h"
#include "cli/sass_diff.h"
#include "cli/sass_out.h"
#include "compile/compile.h"
#include "compile/disassemble.h"
#include "lab/registry.h"
#include "userkernel/user_file.h"
#include "userkernel/user_plugin.h"
#include "userkernel/user_source.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CU_BYTES ((size_t)4 << 20)
#define MAX_CUBIN_BYTES ((size_t)256 << 20)

struct state {
	const char *gpu, *kernel, *diff;
	uint64_t max_registers; /* 0 = not given */
	bool json;
};

#define MOST_REGISTERS 255 /* of a thread */

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "compile for this GPU: an id of 'list gpus' or a .yaml file (default " LAB_DEFAULT_GPU
		  ")" },
		{ "--kernel", OPT_TEXT, &s->kernel, "NAME", "of a file: only this function" },
		{ "--maxrregcount", OPT_COUNT, &s->max_registers, "N",
		  "compile with at most N registers per thread" },
		{ "--diff", OPT_TEXT, &s->diff, "'WORDS'",
		  "what changes with these: parameters (TILE=32), --gpu SHEET, --maxrregcount N, of a file "
		  "-DNAME=4, or another kernel, file, cubin" },
		OPTION_JSON(&s->json),
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static atomic_bool interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

/* What was asked for, found and read. */
struct subject {
	char *source;    /* NULL: a cubin */
	char file[4096]; /* as the line tables name it */
	struct text cubin;
	char compiler[32]; /* "" = a cubin: its own note tells */
	const char *only;  /* function to show; NULL = all */
};

/* Its symbol, or the name that it has in the source. */
static bool is_named(const char *symbol, const char *name)
{
	char part[160];
	snprintf(part, sizeof part, "%zu%s", strlen(name), name);
	return !strcmp(symbol, name) || (!strncmp(symbol, "_Z", 2) && strstr(symbol, part));
}

static bool compiled(const struct compile_request *req, struct subject *out, struct err *err)
{
	struct module m = { 0 };
	if (!compile_module(req, &m, err))
		return false;
	const bool good = m.cubin != NULL;
	if (good) {
		text_put(&out->cubin, m.cubin, m.cubin_len);
		snprintf(out->compiler, sizeof out->compiler, "%s", m.compiler);
		snprintf(out->file, sizeof out->file, "%s", req->file);
	} else {
		err_set(err, ERR_UNAVAILABLE, "%s: the cache holds no machine code of it", req->file);
	}
	module_free(&m);
	return good;
}

static bool of_kernel(const struct state *s, struct selection *sel, const struct gpu_spec *gpu,
                      struct subject *out, struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	char file[64];
	const struct compile_request req = {
		.file = kernel_file(k, file, sizeof file),
		.source = k->device_source ? k->device_source : kernel_source(k),
		.own = k->own_build,
		.n_macros = kernel_macros(k, sel->params, macros),
		.macros = macros,
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.max_registers = (unsigned)s->max_registers,
		.cancel = &interrupted,
	};
	out->source = mem_strdup(kernel_source(k));
	return compiled(&req, out, err);
}

/* Kernels of the file need no launch to be compiled. Its host code is left out, unless only nvcc
 * can do it, with @words of a command line for that. */
static bool of_file(const struct state *s, const char *path, const char *text, unsigned n_words,
                    char **words, const struct gpu_spec *gpu, struct subject *out, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct user_source source;
	user_source_scan(text, &source);
	const struct compile_own own = {
		.path = path,
		.text = source.plain && !n_words ? source.linked : text,
		.n_words = n_words,
		.words = (const char *const *)words,
		.nvcc = !source.plain || n_words,
	};
	const struct compile_request req = {
		.file = slash ? slash + 1 : path,
		.source = source.device,
		.own = &own,
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.max_registers = (unsigned)s->max_registers,
		.cancel = &interrupted,
	};
	out->source = mem_strdup(text);
	const bool good = compiled(&req, out, err);
	if (!strncmp(out->compiler, "nvcc", 4) && !realpath(path, out->file))
		snprintf(out->file, sizeof out->file, "%s", path);
	user_source_free(&source);
	return good;
}

static bool is_cubin(const char *word)
{
	static const char end[] = ".cubin";
	const size_t n = strlen(word);
	return n >= sizeof end && str_ieq(word + n - (sizeof end - 1), end);
}

static bool of_cubin(const char *path, struct subject *out, struct err *err)
{
	struct cubin c;
	if (!file_read(path, MAX_CUBIN_BYTES, &out->cubin, err))
		return false;
	if (!cubin_read(&c, out->cubin.s, out->cubin.len, err))
		return err_prefix(err, "%s: ", path);
	cubin_free(&c);
	return true;
}

/* A .cubin, a .cu without a descriptor, or a kernel. */
static bool find_subject(const struct state *s, unsigned n, char **args, struct subject *out,
                         struct err *err)
{
	struct selection sel = { .seed = 1 };
	const struct gpu_spec *gpu = NULL;
	out->only = s->kernel;
	if (s->max_registers > MOST_REGISTERS)
		return err_set(err, ERR_USAGE, "--maxrregcount: a thread has at most %d registers",
		               MOST_REGISTERS);
	if (n && is_cubin(args[0])) {
		if (s->max_registers)
			return err_set(err, ERR_USAGE, "--maxrregcount: a cubin is compiled already");
		if (n > 1)
			return err_set(err, ERR_USAGE, "a cubin takes no parameters: '%s'", args[1]);
		return of_cubin(args[0], out, err);
	}
	if (!gpu_load(s->gpu ? s->gpu : LAB_DEFAULT_GPU, &gpu, err))
		return false;
	if (n && user_file_named(args[0])) {
		struct text text = { 0 };
		char symbol[128];
		if (!file_read(args[0], MAX_CU_BYTES, &text, err))
			return false;
		user_plugin_symbol(text.s, symbol, sizeof symbol);
		unsigned words = 1;
		for (unsigned more = 1; more && words < n; words += more)
			more = user_compiler_words(n - words, args + words);
		const bool plain = !symbol[0] && words == n;
		const bool good = plain && of_file(s, args[0], text.s, n - 1, args + 1, gpu, out, err);
		text_free(&text);
		if (!symbol[0] && words < n)
			return err_set(err, ERR_USAGE, "'%s': a file without a descriptor has no parameters",
			               args[words]);
		if (plain)
			return good;
	}
	if (!select_by_words(n, args, &sel, err))
		return false;
	if (!s->kernel && strchr(args[0], '/') && !user_file_named(args[0]))
		out->only = sel.kernel->variants[sel.variant].entry;
	return of_kernel(s, &sel, gpu, out, err);
}

static bool known_function(const struct sass_module *m, const char *name, struct err *err)
{
	struct text names = { 0 };
	bool known = !name;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		known = known || is_named(m->funcs[f].name, name);
		text_add(&names, "%s%s", f ? ", " : "", m->funcs[f].name);
	}
	if (known) {
		text_free(&names);
		return true;
	}
	err_set(err, ERR_USAGE, "there is no function '%s' in it", name);
	err_remedy(err, "functions: %s", names.s ? names.s : "none");
	text_free(&names);
	return false;
}

static int show_json(struct cli *c, const struct sass_show *show, const struct subject *s)
{
	const struct sass_module *m = show->module;
	json_t *funcs = json_array();
	for (unsigned f = 0; f < m->n_funcs; f++)
		if (!s->only || is_named(m->funcs[f].name, s->only))
			json_array_append_new(funcs, sass_json(show, &m->funcs[f]));
	char arch[16];
	snprintf(arch, sizeof arch, "sm_%u", m->cubin.sm);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "schema", CLI_SCHEMA, "verb", "sass",
	                      "architecture", arch, "disassembler", m->disassembler, "assembler",
	                      m->cubin.tool, "functions", funcs);
	if (s->compiler[0])
		json_object_set_new(o, "compiler", json_string(s->compiler));
	return cli_emit(c, o, CLI_OK);
}

static int show(struct cli *c, const struct sass_show *show, const struct subject *s)
{
	const struct sass_module *m = show->module;
	if (c->json)
		return show_json(c, show, s);
	fprintf(c->out, "%s%s%s", s->compiler, s->compiler[0] && m->cubin.tool[0] ? ", " : "",
	        m->cubin.tool);
	cli_line(c, ", disassembled by %s\n", m->disassembler[0] ? m->disassembler : "nvdisasm");
	bool first = true;
	for (unsigned f = 0; f < m->n_funcs; f++) {
		if (s->only && !is_named(m->funcs[f].name, s->only))
			continue;
		fputs(first ? "" : "\n", c->out);
		first = false;
		sass_print(c, show, &m->funcs[f]);
	}
	return CLI_OK;
}

/* A subject, compiled and disassembled. */
struct code {
	struct subject subject;
	struct sass_module module;
	struct sass_show show;
};

static bool find_code(const struct state *s, unsigned n, char **args, struct code *out,
                      struct err *err)
{
	struct text listing = { 0 };
	struct subject *subject = &out->subject;
	const bool good =
		find_subject(s, n, args, subject, err) &&
		disassemble(subject->cubin.s, subject->cubin.len, &interrupted, &listing, err) &&
		sass_read(&out->module, subject->cubin.s, subject->cubin.len, listing.s, listing.len,
	              err) &&
		known_function(&out->module, subject->only, err);
	out->show = (struct sass_show){
		.module = &out->module,
		.source = subject->source,
		.source_file = subject->source ? subject->file : NULL,
		.max_registers = (unsigned)s->max_registers,
	};
	text_free(&listing);
	return good;
}

static void drop_code(struct code *code)
{
	sass_free(&code->module);
	text_free(&code->subject.cubin);
	free(code->subject.source);
}

/* --- what changes ----------------------------------------------------------------------------- */

enum { MAX_WORDS = 64 };

/* The words of the other side: those of --diff; parameters alone stand for the same kernel with
 * these in place of its own. */
struct words {
	char *text; /* cut into @word */
	unsigned n;
	char *word[MAX_WORDS];
	struct state state;
};

static bool same_parameter(const char *a, const char *b)
{
	const size_t n = strcspn(a, "=");
	return a[n] == '=' && !strncmp(a, b, n + 1);
}

static bool other_words(const struct state *s, unsigned n, char **args, struct words *w,
                        struct err *err)
{
	char *more[MAX_WORDS];
	unsigned n_more = 0;
	w->text = mem_strdup(s->diff);
	w->state = *s;
	for (char *at = NULL, *t = strtok_r(w->text, " \t", &at); t; t = strtok_r(NULL, " \t", &at)) {
		if (!strcmp(t, "--gpu")) {
			w->state.gpu = strtok_r(NULL, " \t", &at);
			if (!w->state.gpu)
				return err_set(err, ERR_USAGE, "--diff: --gpu wants a sheet");
		} else if (!strcmp(t, "--maxrregcount")) {
			const char *count = strtok_r(NULL, " \t", &at);
			char *end = NULL;
			w->state.max_registers = count ? strtoul(count, &end, 10) : 0;
			if (!end || *end || !w->state.max_registers)
				return err_set(err, ERR_USAGE, "--diff: --maxrregcount wants a number");
		} else if ((*t == '-' && user_compiler_words(1, &t) != 1) || n_more == MAX_WORDS) {
			return err_set(err, ERR_USAGE, "--diff: '%s' is neither a parameter nor --gpu SHEET",
			               t);
		} else {
			more[n_more++] = t;
		}
	}
	const bool own_subject = n_more && more[0][0] != '-' && !strchr(more[0], '=');
	for (unsigned i = 0; i < n && !own_subject; i++) {
		bool replaced = false;
		for (unsigned k = 0; k < n_more; k++)
			replaced = replaced || same_parameter(args[i], more[k]);
		if (!replaced && w->n < MAX_WORDS)
			w->word[w->n++] = args[i];
	}
	for (unsigned k = 0; k < n_more && w->n < MAX_WORDS; k++)
		w->word[w->n++] = more[k];
	if (own_subject) /* a name of the first side's need not be there */
		w->state.kernel = NULL;
	return true;
}

static void name_side(struct sass_side *side, const struct code *code, const struct state *s,
                      unsigned n, char **words)
{
	side->show = code->show;
	side->only = code->subject.only;
	for (unsigned i = 0; i < n; i++) {
		const size_t len = strlen(side->name);
		snprintf(side->name + len, sizeof side->name - len, "%s%s", i ? " " : "", words[i]);
	}
	if (s->max_registers) {
		const size_t len = strlen(side->name);
		snprintf(side->name + len, sizeof side->name - len, " --maxrregcount %u",
		         (unsigned)s->max_registers);
	}
}

static bool show_diff(struct cli *c, const struct state *s, const struct code *code, unsigned n,
                      char **args, int *status, struct err *err)
{
	struct words w = { .n = 0 };
	struct code other = { .module = { .n_funcs = 0 } };
	struct sass_side a = { .name = "" }, b = { .name = "" };
	bool good = other_words(s, n, args, &w, err) && find_code(&w.state, w.n, w.word, &other, err);
	if (good) {
		name_side(&a, code, s, n, args);
		name_side(&b, &other, &w.state, w.n, w.word);
		json_t *json = c->json ? sass_diff_json(&a, &b, err) : NULL;
		good = c->json ? json != NULL : sass_diff(c, &a, &b, err);
		if (json)
			*status = cli_emit(c,
			                   json_pack("{s:s, s:s, s:o}", "schema", CLI_SCHEMA, "verb", "sass",
			                             "functions", json),
			                   CLI_OK);
	}
	drop_code(&other);
	free(w.text);
	return good;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct state *s = state;
	struct err err = { 0 };
	struct code code = { .module = { .n_funcs = 0 } };
	int status = CLI_OK;
	const struct sigaction end = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &end, NULL);
	if (find_code(s, n, args, &code, &err) && !s->diff)
		status = show(c, &code.show, &code.subject);
	else if (err.code == ERR_NONE)
		show_diff(c, s, &code, n, args, &status, &err);
	if (err.code != ERR_NONE)
		status = cli_fail(c, &err);
	drop_code(&code);
	return status;
}

CLI_VERB(
	sass, .order = 9,
	.about = "the machine code of a kernel, instruction by instruction, under its source lines",
	.usage =
		"KERNEL[/VARIANT] [name=value ...] | FILE.cu [-I DIR -D NAME ...] | FILE.cubin [options]",
	.help =
		"Per instruction: offset, PTX line, live registers, predicates and uniform registers,\n"
		"and what the compiler tells the scheduler: cycles to the next instruction (stall), y to\n"
		"prefer another warp, the scoreboard that is set when the result is written (w) and when\n"
		"the sources are read (r), the scoreboards that it waits for. nvdisasm of the CUDA\n"
		"Toolkit or of the wheel nvidia-cuda-nvdisasm reads the encoding.\n"
		"\n"
		"  pmpp-explore sass sgemm/tiled --diff TILE=32\n"
		"  pmpp-explore sass sgemm/tiled --gpu a100 --diff '--gpu h200'\n"
		"  pmpp-explore sass sgemm/tiled --diff '--maxrregcount 24'\n"
		"  pmpp-explore sass bounded.cu --diff plain.cu\n");

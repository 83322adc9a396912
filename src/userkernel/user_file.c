/*
 * Families from files and from snapshots; see user_file.h. Every version is kept until the program
 * ends: records and the worker thread may still speak of it.
 */
#include "userkernel/user_family.h"
#include "userkernel/user_known.h"
#include "userkernel/user_list.h"
#include "userkernel/user_plugin.h"
#include "userkernel/user_suggest.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)16 << 20)
/* Words of a launch that no command line has: one for the compiler; the kernel as that has it. */
#define COMPILER_WORD "--nvcc"
#define KERNEL_LINE "--as"

static struct user_family *_Atomic newest; /* joined by one thread at a time, read by any */

/* --- making --- */

static void set_names(struct user_family *o)
{
	const char *slash = strrchr(o->spec.path, '/'), *base = slash ? slash + 1 : o->spec.path;
	snprintf(o->file, sizeof o->file, "%.120s", base);
	char stem[51];
	const char *dot = strrchr(base, '.');
	snprintf(stem, sizeof stem, "%.*s", (int)(dot - base), base);
	o->ptx = str_ieq(dot, ".ptx");
	user_kernel_name(stem, o->name, sizeof o->name);
}

static void describe_family(struct user_family *o)
{
	o->variant = (struct variant_desc){
		.name = o->kernel->name,
		.entry = o->kernel->entry ? o->kernel->entry : o->kernel->name,
		.title = "a kernel of your own",
		.idea = "a kernel of your own, launched as the command line says",
		.section = o->file,
		.seeds = "",
	};
	struct kernel_desc *d = &o->desc;
	d->name = o->name;
	d->title = o->file;
	d->section = "your file";
	d->about = "A kernel of your own. Edit the file and press r: it is read and compiled again.";
	d->n_variants = 1;
	d->variants = &o->variant;
	d->params = o->params;
	d->fill = user_fill_buffer;
	d->cost = user_cost;
	d->source = o->source.shown;
	d->file = o->file;
	d->device_source = o->own.nvcc ? o->source.shown : o->source.device;
	d->own_build = &o->own;
	d->launch_words = (const char *const *)o->words;
	d->user = o;
	d->plan_user = user_plan;
}

static bool build_family(struct user_family *o, struct err *err)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	describe_family(o);
	if (!user_read_arguments(o, err))
		return false;
	kernel_defaults(&o->desc, params);
	return user_plan(&o->desc, params, &plan, err);
}

#define N_SPEC_OPTIONS 6
struct spec_option {
	const char *option;
	const char **value;
};

static void spec_options(struct user_spec *spec, struct spec_option options[N_SPEC_OPTIONS])
{
	const struct spec_option all[N_SPEC_OPTIONS] = {
		{ "--kernel", &spec->kernel }, { "--grid", &spec->grid },     { "--block", &spec->block },
		{ "--shared", &spec->shared }, { "--define", &spec->define }, { KERNEL_LINE, &spec->as },
	};
	memcpy(options, all, sizeof all);
}

/* The words of @spec, copied to stay; and @spec made to point to the copies. */
static char **keep_words(struct user_spec *spec, char **path)
{
	struct spec_option options[N_SPEC_OPTIONS];
	spec_options(spec, options);
	char **words =
		mem_calloc(2 * ARRAY_LEN(options) + 2u * spec->n_words + spec->n_args + 4u, sizeof *words);
	unsigned n = 0;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (!*options[i].value)
			continue;
		words[n++] = mem_strdup(options[i].option);
		words[n] = mem_strdup(*options[i].value);
		*options[i].value = words[n++];
	}
	const char **compiler = mem_calloc(spec->n_words + 1u, sizeof *compiler);
	for (unsigned i = 0; i < spec->n_words; i++) {
		words[n++] = mem_strdup(COMPILER_WORD);
		compiler[i] = words[n++] = mem_strdup(spec->words[i]);
	}
	spec->words = compiler;
	for (unsigned i = 0; i < spec->n_args; i++)
		words[n + i] = mem_strdup(spec->args[i]);
	spec->args = (const char *const *)words + n;
	spec->path = *path = mem_strdup(spec->path);
	return words;
}

/* *@compiler: the list that spec->words points to; free() it. */
static void read_words(struct user_spec *spec, unsigned n, const char *const *words,
                       const char ***compiler)
{
	struct spec_option options[N_SPEC_OPTIONS];
	spec_options(spec, options);
	unsigned at = 0;
	while (at + 1 < n && words[at][0] == '-') {
		for (size_t i = 0; i < ARRAY_LEN(options); i++)
			if (!strcmp(words[at], options[i].option))
				*options[i].value = words[at + 1];
		if (!strcmp(words[at], COMPILER_WORD)) {
			*compiler = mem_realloc(*compiler, spec->n_words + 1u, sizeof **compiler);
			(*compiler)[spec->n_words++] = words[at + 1];
		}
		at += 2;
	}
	spec->args = words + at;
	spec->n_args = n - at;
	spec->words = *compiler;
}

/* The kernel as the compiler has it joins the words: a snapshot is read where no file lies. */
static void keep_kernel(struct user_family *o)
{
	char *line = o->spec.as ? NULL : user_kernel_line(&o->source, o->kernel);
	if (!line)
		return;
	unsigned n = 0;
	while (o->words[n])
		n++;
	memmove(o->words + 2, o->words, n * sizeof *o->words);
	o->words[0] = mem_strdup(KERNEL_LINE);
	o->words[1] = line;
	o->spec.args += 2;
}

static void free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

static void free_family(struct user_family *o)
{
	free_words(o->words);
	free_words(o->given);
	free((void *)o->given_compiler);
	free(o->given_path);
	free((void *)o->spec.words);
	text_free(&o->guessed);
	text_free(&o->line);
	user_free_values(o);
	free(o->path);
	user_source_free(&o->source);
	free(o);
}

static void try_launch(const struct user_family *o, const struct user_kernel *k,
                       const struct user_spec *spec, struct user_trial *out)
{
	struct user_family *try = mem_zalloc(sizeof *try);
	struct err err = { 0 };
	char file[128], *line = user_kernel_line(&o->source, k);
	try->spec = *spec;
	try->spec.as = line;
	try->words = keep_words(&try->spec, &try->path);
	set_names(try);
	snprintf(file, sizeof file, "%s", o->file);
	*out = (struct user_trial){ .kind = TRIAL_IMPOSSIBLE };
	char lacking[120];
	if (user_find_kernel(try, o->source.shown, &err) && !user_lacks(try, lacking, sizeof lacking)) {
		/* as the file itself is compiled: the module is there already */
		try->own.extra = o->source.extra;
		if (build_family(try, &err))
			spec->trial(&try->desc, out);
	}
	free(line);
	free_family(try);
}

/* What the person did not say of the launch is guessed, where it can be tried. */
static bool complete_launch(struct user_family *o, struct err *err)
{
	char what[120];
	struct user_spec whole;
	o->desc.guessed = o->guessed.s; /* which instance of a template */
	if (!user_lacks(o, what, sizeof what))
		return true;
	if (!user_check_words(o, err))
		return false;
	void *guess =
		o->spec.trial && !o->restored ? user_guess(o, &whole, &o->guessed, &o->line) : NULL;
	if (!guess) {
		user_usage(o, o->kernel, what, err);
		user_tell_compile_error(o, err);
		return false;
	}
	o->given = o->words;
	o->given_path = o->path;
	o->given_compiler = o->spec.words;
	o->spec = whole;
	o->words = keep_words(&o->spec, &o->path);
	free(guess);
	o->desc.guessed = o->guessed.s;
	o->desc.guessed_line = o->line.s;
	return true;
}

static bool make_family(const struct user_spec *spec, const char *text, bool restored,
                        struct user_family **out, struct err *err)
{
	struct user_family *o = mem_zalloc(sizeof *o);
	o->spec = *spec;
	o->words = keep_words(&o->spec, &o->path);
	o->restored = restored;
	o->try_launch = try_launch;
	set_names(o);
	if (!user_find_kernel(o, text, err) || !complete_launch(o, err) || !build_family(o, err)) {
		free_family(o);
		return false;
	}
	keep_kernel(o);
	o->spec.cancel = NULL; /* of this making */
	o->older = newest;
	newest = o;
	*out = o;
	user_kernel_publish(&o->desc);
	return true;
}

bool user_file_named(const char *word)
{
	const char *dot = strrchr(word, '.');
	return dot && dot > word && (str_ieq(dot, ".cu") || str_ieq(dot, ".ptx"));
}

unsigned user_compiler_words(unsigned n, char *const *words)
{
	static const char *const with_value[] = { "-I",       "-D",         "-U",   "-isystem",
		                                      "-include", "-Xcompiler", "-std", "--std" };
	static const char *const alone[] = { "-I",
		                                 "-D",
		                                 "-U",
		                                 "-std=",
		                                 "--std=",
		                                 "-O",
		                                 "-W",
		                                 "-w",
		                                 "-use_fast_math",
		                                 "--use_fast_math",
		                                 "--expt-",
		                                 "-expt-",
		                                 "--extended-lambda",
		                                 "-extended-lambda",
		                                 "-fmad=",
		                                 "--fmad=",
		                                 "-ftz=",
		                                 "-prec-",
		                                 "-isystem=",
		                                 "-m64" };
	for (size_t i = 0; i < ARRAY_LEN(with_value); i++)
		if (!strcmp(words[0], with_value[i]))
			return n > 1 ? 2 : 0;
	for (size_t i = 0; i < ARRAY_LEN(alone); i++)
		if (!strncmp(words[0], alone[i], strlen(alone[i])))
			return 1;
	return 0;
}

bool user_file_load(const struct user_spec *spec, const struct kernel_desc **out, struct err *err)
{
	struct text text = { 0 };
	struct user_family *o = NULL;
	if (!file_read(spec->path, MAX_FILE_BYTES, &text, err))
		return false;
	char symbol[80];
	bool ok;
	user_plugin_symbol(text.s ? text.s : "", symbol, sizeof symbol);
	if (*symbol && (spec->grid || spec->block || spec->shared || spec->define)) {
		ok =
			err_set(err, ERR_USAGE, "%s: its descriptor %s says how to launch", spec->path, symbol);
		err_remedy(err,
		           "leave --grid, --block, --shared and --define away; --kernel names a variant");
	} else if (*symbol) {
		ok = user_plugin_load(spec->path, text.s, symbol, spec->cancel, out, err);
	} else {
		ok = make_family(spec, text.s ? text.s : "", false, &o, err);
		if (ok)
			*out = &o->desc;
	}
	text_free(&text);
	return ok;
}

static bool same_words(const struct user_family *o, unsigned n, const char *const *words)
{
	for (unsigned i = 0; i < n; i++)
		if (!o->words[i] || strcmp(o->words[i], words[i]) != 0)
			return false;
	return !o->words[n];
}

const struct kernel_desc *user_file_restore(const char *file, const char *source, unsigned n,
                                            const char *const *words, struct err *err)
{
	for (struct user_family *o = newest; o; o = o->older)
		if (!strcmp(o->file, file) && same_words(o, n, words) && !strcmp(o->source.shown, source))
			return &o->desc;
	if (!user_file_named(file) || strchr(file, '/')) {
		err_set(err, ERR_PARSE, "'%.80s' is not the name of a .cu or .ptx file", file);
		return NULL;
	}
	struct user_spec spec = { .path = file };
	struct user_family *o;
	const char **compiler = NULL;
	read_words(&spec, n, words, &compiler);
	const bool ok = make_family(&spec, source, true, &o, err);
	free(compiler);
	return ok ? &o->desc : NULL;
}

const char *user_file_path(const struct kernel_desc *k)
{
	const struct user_family *o = k->user;
	return o ? o->restored ? NULL : o->spec.path : user_plugin_path(k);
}

bool user_file_reload(const struct kernel_desc *k, const atomic_bool *cancel,
                      const struct kernel_desc **out, struct err *err)
{
	const struct user_family *o = k->user;
	struct user_spec spec;
	struct text text = { 0 };
	const char *plugin = user_plugin_path(k);
	*out = k;
	if (plugin) {
		const struct user_spec same = { .path = plugin, .cancel = cancel };
		if (!file_read(plugin, MAX_FILE_BYTES, &text, err))
			return false;
		const bool changed = strcmp(text.s ? text.s : "", k->source) != 0;
		text_free(&text);
		return !changed || user_file_load(&same, out, err);
	}
	if (!o || o->restored)
		return true;
	spec = o->spec;
	spec.kernel = o->kernel->name;
	spec.as = NULL;
	spec.cancel = cancel;
	if (!file_read(spec.path, MAX_FILE_BYTES, &text, err))
		return false;
	struct user_family *now = NULL;
	bool ok = true;
	if (strcmp(text.s ? text.s : "", o->source.shown) != 0) {
		ok = make_family(&spec, text.s ? text.s : "", false, &now, err);
		if (ok)
			*out = &now->desc;
	}
	text_free(&text);
	return ok;
}

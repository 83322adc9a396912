/*
 * Families from files and from snapshots; see user_file.h. Every version is kept until the program
 * ends: records and the worker thread may still speak of it.
 */
#include "userkernel/user_family.h"
#include "userkernel/user_list.h"
#include "userkernel/user_plugin.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)4 << 20)

static struct user_family *newest;

/* --- which kernel --- */

static bool find_kernel(struct user_family *o, struct err *err)
{
	const struct user_source *s = &o->source;
	unsigned able = 0;
	for (unsigned i = 0; i < s->n_kernels; i++)
		if (!s->kernels[i].why_not[0] && able++ == 0)
			o->kernel = &s->kernels[i];
	if (!s->n_kernels) {
		err_set(err, ERR_USAGE, "%s: there is no __global__ function in this file", o->spec.path);
		return false;
	}
	if (o->spec.kernel) {
		o->kernel = user_source_find(s, o->spec.kernel);
		char what[160];
		snprintf(what, sizeof what, "there is no kernel '%.100s'; there are:", o->spec.kernel);
		if (!o->kernel)
			return user_usage(&o->source, o->spec.path, NULL, what, err);
	} else if (able != 1) {
		return user_usage(&o->source, o->spec.path, NULL,
		                  able ? "which kernel? There are:" : "no kernel can be launched:", err);
	}
	if (o->kernel->why_not[0])
		return err_set(err, ERR_UNSUPPORTED, "%s:%u: kernel '%s' cannot be launched by name: %s",
		               o->file, o->kernel->line, o->kernel->name, o->kernel->why_not);
	if (!o->spec.grid || !o->spec.block)
		return user_usage(s, o->spec.path, o->kernel,
		                  !o->spec.grid ? "the launch is not said: --grid is missing"
		                                : "the launch is not said: --block is missing",
		                  err);
	for (unsigned i = 0; i < o->kernel->n_params; i++) {
		char what[120];
		snprintf(what, sizeof what, "argument '%s' is missing", o->kernel->params[i].name);
		if (!user_words_for(&o->spec, o->kernel->params[i].name))
			return user_check_words(o, err) && user_usage(s, o->spec.path, o->kernel, what, err);
	}
	return true;
}

/* --- making --- */

static void set_names(struct user_family *o)
{
	const char *slash = strrchr(o->spec.path, '/'), *base = slash ? slash + 1 : o->spec.path;
	snprintf(o->file, sizeof o->file, "%.120s", base);
	char stem[51];
	snprintf(stem, sizeof stem, "%.*s", (int)strlen(base) - 3, base);
	user_kernel_name(stem, o->name, sizeof o->name);
}

static void describe_family(struct user_family *o)
{
	o->variant = (struct variant_desc){
		.name = o->kernel->name,
		.entry = o->kernel->name,
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
	d->device_source = o->source.device;
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

/* The words of @spec, copied to stay; and @spec made to point to the copies. */
static char **keep_words(struct user_spec *spec, char **path)
{
	const struct {
		const char *option;
		const char **value;
	} options[] = {
		{ "--kernel", &spec->kernel }, { "--grid", &spec->grid },     { "--block", &spec->block },
		{ "--shared", &spec->shared }, { "--define", &spec->define },
	};
	char **words = mem_calloc(2 * ARRAY_LEN(options) + spec->n_args + 1, sizeof *words);
	unsigned n = 0;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (!*options[i].value)
			continue;
		words[n++] = mem_strdup(options[i].option);
		words[n] = mem_strdup(*options[i].value);
		*options[i].value = words[n++];
	}
	for (unsigned i = 0; i < spec->n_args; i++)
		words[n + i] = mem_strdup(spec->args[i]);
	spec->args = (const char *const *)words + n;
	spec->path = *path = mem_strdup(spec->path);
	return words;
}

static void read_words(struct user_spec *spec, unsigned n, const char *const *words)
{
	const struct {
		const char *option;
		const char **value;
	} options[] = {
		{ "--kernel", &spec->kernel }, { "--grid", &spec->grid },     { "--block", &spec->block },
		{ "--shared", &spec->shared }, { "--define", &spec->define },
	};
	unsigned at = 0;
	while (at + 1 < n && words[at][0] == '-') {
		for (size_t i = 0; i < ARRAY_LEN(options); i++)
			if (!strcmp(words[at], options[i].option))
				*options[i].value = words[at + 1];
		at += 2;
	}
	spec->args = words + at;
	spec->n_args = n - at;
}

static void free_family(struct user_family *o)
{
	for (char **w = o->words; *w; w++)
		free(*w);
	free(o->words);
	free(o->path);
	user_source_free(&o->source);
	free(o);
}

static bool make_family(const struct user_spec *spec, const char *text, bool restored,
                        struct user_family **out, struct err *err)
{
	struct user_family *o = mem_zalloc(sizeof *o);
	o->spec = *spec;
	o->words = keep_words(&o->spec, &o->path);
	o->restored = restored;
	set_names(o);
	user_source_scan(text, &o->source);
	if (!find_kernel(o, err) || !build_family(o, err)) {
		free_family(o);
		return false;
	}
	o->older = newest;
	newest = o;
	*out = o;
	user_kernel_publish(&o->desc);
	return true;
}

bool user_file_named(const char *word)
{
	const size_t n = strlen(word);
	return n > 3 && str_ieq(word + n - 3, ".cu");
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
		ok = user_plugin_load(spec->path, text.s, symbol, out, err);
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
		err_set(err, ERR_PARSE, "'%.80s' is not the name of a .cu file", file);
		return NULL;
	}
	struct user_spec spec = { .path = file };
	struct user_family *o;
	read_words(&spec, n, words);
	return make_family(&spec, source, true, &o, err) ? &o->desc : NULL;
}

const char *user_file_path(const struct kernel_desc *k)
{
	const struct user_family *o = k->user;
	return o ? o->restored ? NULL : o->spec.path : user_plugin_path(k);
}

bool user_file_reload(const struct kernel_desc *k, const struct kernel_desc **out, struct err *err)
{
	const struct user_family *o = k->user;
	struct user_spec spec;
	struct text text = { 0 };
	const char *plugin = user_plugin_path(k);
	*out = k;
	if (plugin) {
		const struct user_spec same = { .path = plugin };
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

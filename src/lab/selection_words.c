/* "sgemm/tiled TILE=32" to a selection; see selection_words.h. */
#include "lab/selection_words.h"

#include "base/text.h"
#include "lab/program_words.h"
#include "lab/registry.h"
#include "userkernel/user_file.h"

#include <stdio.h>
#include <string.h>

/* Suggests the nearest of @names, then lists them. Returns false. */
static bool suggest(const char *typed, const char *const *names, size_t n, const char *what,
                    struct err *err)
{
	struct text list = { 0 };
	for (size_t i = 0; i < n; i++)
		text_add(&list, "%s%s", i ? ", " : "", names[i]);
	const char *near = str_nearest(typed, names, n);
	if (near)
		err_remedy(err, "did you mean '%s'? %s: %s", near, what, list.s ? list.s : "");
	else
		err_remedy(err, "%s: %s", what, list.s ? list.s : "");
	text_free(&list);
	return false;
}

static const struct kernel_desc *kernel_of(const char *text)
{
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "/"), text);
	return kernel_find(name);
}

bool word_names_kernel(const char *text)
{
	return kernel_of(text) != NULL;
}

/* A file with a descriptor is as good as a name; one without says what its launch lacks. */
static bool select_file(const char *path, struct selection *sel, struct err *err)
{
	const struct user_spec spec = { .path = path };
	if (!user_file_load(&spec, &sel->kernel, err))
		return false;
	sel->variant = 0;
	kernel_defaults(sel->kernel, sel->params);
	return true;
}

bool select_by_name(const char *text, struct selection *sel, struct err *err)
{
	if (user_file_named(text))
		return select_file(text, sel, err);
	char name[64];
	const size_t len = strcspn(text, "/");
	snprintf(name, sizeof name, "%.*s", (int)len, text);
	const struct kernel_desc *k = kernel_of(text);
	if (!k) {
		const char *names[128];
		size_t n = 0;
		if (!program_words_no_folder(text, err))
			return false;
		for (; n < kernel_count() && n < ARRAY_LEN(names); n++)
			names[n] = kernel_at(n)->name;
		err_set(err, ERR_USAGE, "there is no kernel '%s'", name);
		return suggest(name, names, n, "kernels", err);
	}
	int variant = (int)k->usual; /* select_by_words() may find a fitter one */
	if (text[len]) {
		variant = kernel_variant_index(k, text + len + 1);
		if (variant < 0) {
			const char *names[64];
			size_t n = 0;
			for (; n < k->n_variants && n < ARRAY_LEN(names); n++)
				names[n] = k->variants[n].name;
			err_set(err, ERR_USAGE, "%s has no variant '%s'", k->name, text + len + 1);
			return suggest(text + len + 1, names, n, "variants", err);
		}
	}
	sel->kernel = k;
	sel->variant = (unsigned)variant;
	kernel_defaults(k, sel->params);
	return true;
}

bool select_param(const char *text, struct selection *sel, struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	const char *equals = strchr(text, '=');
	if (!equals)
		return err_set(err, ERR_USAGE, "'%s' is not of the form name=value", text),
		       err_remedy(err, "pmpp-explore list kernels shows every parameter");
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	int p = kernel_param_index(k, name);
	if (p < 0 || !kernel_param_used(k, sel->variant, (unsigned)p)) {
		const char *names[KERNEL_MAX_PARAMS];
		size_t n = 0;
		for (unsigned i = 0; i < k->n_params; i++)
			if (kernel_param_used(k, sel->variant, i))
				names[n++] = k->params[i].name;
		err_set(err, ERR_USAGE, "%s/%s has no parameter '%s'", k->name,
		        k->variants[sel->variant].name, name);
		return suggest(name, names, n, "parameters", err);
	}
	return kernel_param_parse(k, (unsigned)p, equals + 1, &sel->params[p], err);
}

/* Do both words name the same? Of a kernel's parameters the case does not count, see select_param.
 */
static bool same_name(const struct kernel_desc *k, const char *a, const char *b)
{
	char name[2][64];
	const size_t n = strcspn(b, "=");
	if (!b[n] || !strncmp(a, b, n + 1))
		return b[n] != '\0';
	if (!k || !strchr(a, '='))
		return false;
	snprintf(name[0], sizeof name[0], "%.*s", (int)strcspn(a, "="), a);
	snprintf(name[1], sizeof name[1], "%.*s", (int)n, b);
	const int p = kernel_param_index(k, name[0]);
	return p >= 0 && p == kernel_param_index(k, name[1]);
}

bool select_named_once(const struct kernel_desc *kernel, unsigned n, char *const *words,
                       struct err *err)
{
	for (unsigned i = 0; i < n; i++) {
		const size_t name = strcspn(words[i], "=");
		for (unsigned k = 0; k < i; k++)
			if (same_name(kernel, words[k], words[i])) {
				err_set(err, ERR_USAGE, "'%.*s' is given twice: %s and %s", (int)name, words[i],
				        words[k], words[i]);
				return err_remedy(err, "leave one of them away");
			}
	}
	return true;
}

/* Does variant @v of @k have all named parameters? And can it be launched with their values? */
static bool fits(const struct kernel_desc *k, unsigned v, unsigned n, char **params, bool *launches)
{
	struct selection sel = { .kernel = k, .variant = v };
	struct launch_plan plan;
	struct err refused = { 0 };
	*launches = true;
	kernel_defaults(k, sel.params);
	for (unsigned i = 0; i < n; i++) {
		char name[64];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(params[i], "="), params[i]);
		const int p = kernel_param_index(k, name);
		if (p < 0 || !kernel_param_used(k, v, (unsigned)p))
			return false;
		*launches = *launches && select_param(params[i], &sel, &refused);
	}
	*launches = *launches && !k->variants[v].wrong && selection_plan(&sel, &plan, &refused);
	return true;
}

/* No variant named: the usual one, or else the first, that can be launched with what is named; else
 * the first that has every parameter named, whose refusal says why; else the usual one. */
static unsigned fitting_variant(const struct kernel_desc *k, unsigned n, char **params)
{
	unsigned named = k->n_variants;
	bool launches;
	if (!n || (fits(k, k->usual, n, params, &launches) && launches))
		return k->usual;
	for (unsigned v = 0; v < k->n_variants; v++) {
		if (!fits(k, v, n, params, &launches))
			continue;
		if (launches)
			return v;
		named = v < named ? v : named;
	}
	return named < k->n_variants ? named : k->usual;
}

bool select_by_words(unsigned n, char **args, struct selection *sel, struct err *err)
{
	if (!n || strchr(args[0], '=')) {
		const char *names[128];
		size_t k = 0;
		for (; k < kernel_count() && k < ARRAY_LEN(names); k++)
			names[k] = kernel_at(k)->name;
		err_set(err, ERR_USAGE, "which kernel?");
		return suggest("", names, k, "kernels", err);
	}
	if (!select_by_name(args[0], sel, err) || !select_named_once(sel->kernel, n, args, err))
		return false;
	if (!strchr(args[0], '/') || user_file_named(args[0]))
		sel->variant = fitting_variant(sel->kernel, n - 1, args + 1);
	for (unsigned i = 1; i < n; i++)
		if (!select_param(args[i], sel, err))
			return false;
	return true;
}

bool select_ladder(unsigned n, char **args, struct selection *sel, struct err *err)
{
	if (!select_by_words(n ? 1 : 0, args, sel, err) ||
	    !select_named_once(sel->kernel, n, args, err))
		return false;
	for (unsigned i = 1; i < n; i++) {
		/* a parameter belongs to the first variant that has it; its value goes to all */
		bool taken = false;
		for (unsigned v = 0; v < sel->kernel->n_variants && !taken; v++) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)strcspn(args[i], "="), args[i]);
			const int p = kernel_param_index(sel->kernel, name);
			sel->variant = v;
			taken = p >= 0 && kernel_param_used(sel->kernel, v, (unsigned)p);
		}
		if (!select_param(args[i], sel, err))
			return false;
	}
	return true;
}

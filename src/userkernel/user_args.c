/*
 * Words of the command line to parameters and arguments of a family: numbers, block, grid, shared
 * memory, macros become parameters; buffers keep their expressions.
 */
#include "userkernel/user_family.h"

#include "base/text.h"
#include "userkernel/user_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sizes --- */

/* One of the words of "X,Y,Z". */
static bool nth_word(const char *list, unsigned n, char *out, size_t size)
{
	while (n-- && list) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	if (!list || strcspn(list, ",") >= size)
		return false;
	snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
	return true;
}

static unsigned words_in(const char *list)
{
	unsigned n = 1;
	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* "16x8x2" to "16,8,2", where nothing but digits and x is there; also "(16, 8)". */
static void with_commas(const char *words, char *out, size_t n)
{
	const bool crosses = words[strspn(words, "0123456789xX")] == '\0';
	size_t at = 0;
	const size_t len = strlen(words);
	const bool round = len > 1 && words[0] == '(' && words[len - 1] == ')' && strchr(words, ',') &&
	                   !strchr(words + 1, '(');
	for (size_t i = round; i < len - round && at + 1 < n; i++)
		if (words[i] != ' ')
			out[at++] = crosses && (words[i] == 'x' || words[i] == 'X') ? ',' : words[i];
	out[at] = '\0';
}

/* Has the kernel a parameter of this name, or "NAME_x"? */
static bool is_parameter(const struct user_family *o, const char *name)
{
	for (unsigned i = 0; i < o->kernel->n_params; i++)
		if (!strncmp(o->kernel->params[i].name, name, strlen(name)) &&
		    (!o->kernel->params[i].name[strlen(name)] ||
		     o->kernel->params[i].name[strlen(name)] == '_'))
			return true;
	return false;
}

/* "256" or "16,16" of --block and --grid: numbers become parameters, expressions stay. */
static bool add_dims(struct user_family *o, const char *what, const char *typed,
                     struct user_size size[3], bool block, struct err *err)
{
	char words[200];
	static const char axes[] = "xyz";
	static const int64_t most[2][3] = { { 0x7fffffff, 65535, 65535 }, { 1024, 1024, 64 } };
	with_commas(typed, words, sizeof words);
	const unsigned n = words_in(words);
	if (n > 3)
		return err_set(err, ERR_USAGE, "option '--%s': '%s' has more than three sizes", what,
		               words);
	for (unsigned i = 0; i < 3; i++) {
		char name[24], word[64];
		int64_t v;
		size[i] = (struct user_size){ .param = -1 };
		if (!nth_word(words, i, word, sizeof word)) {
			if (i < n)
				return err_set(err, ERR_USAGE, "option '--%s': '%s' is too long", what, words);
			continue;
		}
		if (!parse_int(word, &v)) {
			if (!word[0])
				return err_set(err, ERR_USAGE, "option '--%s': '%s' has an empty size", what,
				               words);
			snprintf(size[i].text, sizeof size[i].text, "%s", word);
			continue;
		}
		snprintf(name, sizeof name, n > 1 ? "%s%s_%c" : "%s%s",
		         is_parameter(o, what) ? "launch_" : "", what, axes[i]);
		if (!user_add_param(o, name, block ? "threads per block" : "blocks in the grid",
		                    PARAM_LAUNCH, v, 1, most[block][i], &size[i].param, err))
			return false;
	}
	return true;
}

static bool add_macros(struct user_family *o, struct err *err)
{
	char word[64];
	for (unsigned i = 0; o->spec.define && nth_word(o->spec.define, i, word, sizeof word); i++) {
		char *equals = strchr(word, '=');
		int64_t v = 1;
		int index;
		if (equals)
			*equals = '\0';
		const char *end = word;
		while (is_word_char(*end))
			end++;
		if (end == word || *end || isdigit((unsigned char)word[0]) ||
		    (equals && !parse_int(equals + 1, &v))) {
			err_set(err, ERR_USAGE, "option '--define': '%s' is not of the form NAME=number",
			        o->spec.define);
			return err_remedy(err, "for example --define TILE=16,RADIUS=3");
		}
		if (!user_add_param(o, word, "macro", PARAM_COMPILE, v, INT32_MIN, INT32_MAX, &index, err))
			return false;
	}
	return true;
}

/* --- words and names --- */

bool user_check_words(const struct user_family *o, struct err *err)
{
	const char *names[2 * KERNEL_MAX_ARGS];
	unsigned n = 0;
	for (unsigned k = 0; k < o->kernel->n_params; k++)
		names[n++] = o->kernel->params[k].name;
	for (unsigned v = 0; v < o->source.n_variables && n < ARRAY_LEN(names); v++)
		names[n++] = o->source.variables[v].as.name;
	for (unsigned i = 0; i < o->spec.n_args; i++) {
		char name[64], signature[600];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(o->spec.args[i], "="), o->spec.args[i]);
		bool known = false;
		for (unsigned k = 0; k < n; k++)
			known |= !strcmp(names[k], name);
		if (known && strchr(o->spec.args[i], '='))
			continue;
		const char *near = str_nearest(name, names, n);
		user_signature(o->kernel, signature, sizeof signature);
		if (known)
			err_set(err, ERR_USAGE, "'%s' is not of the form name=value", name);
		else
			err_set(err, ERR_USAGE, "%s: the kernel has no parameter '%s'", o->file, name);
		return near && !known ? err_remedy(err, "did you mean '%s'? %s", near, signature)
		                      : err_remedy(err, "%s", signature);
	}
	return true;
}

/* --- all of it --- */

static bool check_below(const struct user_family *o, const int64_t *params, struct err *err)
{
	const struct user_env e = { o, params };
	for (unsigned i = 0; i < o->n_args; i++) {
		const struct user_arg *a = &o->args[i];
		char what[80];
		int64_t v;
		snprintf(what, sizeof what, "argument '%s'", a->param->name);
		if (!a->is_buffer || !a->buffer.below[0])
			continue;
		if (!user_value(&e, a->buffer.below, what, &v, err))
			return false;
		if (v < 1)
			return err_set(err, ERR_USAGE, "%s: rand(%s): there is nothing below %lld", what,
			               a->buffer.below, (long long)v);
	}
	return true;
}

bool user_read_arguments(struct user_family *o, struct err *err)
{
	int64_t bytes;
	if (!user_check_words(o, err) || !user_read_values(o, err) ||
	    !add_dims(o, "block", o->spec.block, o->block, true, err) ||
	    !add_dims(o, "grid", o->spec.grid, o->grid, false, err))
		return false;
	o->shared = (struct user_size){ .param = -1 };
	if (o->spec.shared && parse_int(o->spec.shared, &bytes)) {
		if (!user_add_param(o, "shared", "bytes of dynamic shared memory", PARAM_LAUNCH, bytes, 0,
		                    227 << 10, &o->shared.param, err))
			return false;
	} else if (o->spec.shared) {
		if (strlen(o->spec.shared) >= sizeof o->shared.text)
			return err_set(err, ERR_USAGE, "option '--shared' is too long");
		snprintf(o->shared.text, sizeof o->shared.text, "%s", o->spec.shared);
	}
	int64_t params[KERNEL_MAX_PARAMS];
	if (!add_macros(o, err))
		return false;
	kernel_defaults(&o->desc, params);
	return check_below(o, params, err);
}

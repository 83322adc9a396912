/* Kernels of a file; see user_known.h. */
#include "userkernel/user_known.h"
#include "userkernel/user_ptx.h"
#include "userkernel/user_resolve.h"
#include "userkernel/user_scan.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWER_MAJOR 9 /* compute capability, of a file that 8.0 is too old for */

/* --- a kernel as one line: "symbol|name|scope|line|threads|dims|type|bytes|name|..." --- */

char *user_kernel_line(const struct user_source *s, const struct user_kernel *k)
{
	struct text t = { 0 };
	if (!s->resolved || !k->entry)
		return NULL;
	text_add(&t, "%s|%s|%u|%u", k->entry, k->name, k->line, k->shape.max_threads);
	for (unsigned i = 0; i < k->n_params; i++)
		text_add(&t, "|%s|%u|%s", k->params[i].type,
		         k->params[i].structure && k->params[i].pointer
		             ? k->params[i].lanes * (unsigned)elem_size(k->params[i].elem)
		             : k->params[i].bytes,
		         k->params[i].name);
	return t.s;
}

static bool next_field(const char **at, char *out, size_t n)
{
	if (!*at)
		return false;
	const size_t len = strcspn(*at, "|");
	snprintf(out, n, "%.*s", (int)len, *at);
	*at = (*at)[len] ? *at + len + 1 : NULL;
	return true;
}

static void kernel_from_line(struct user_source *s, const char *line)
{
	char entry[2048], word[32];
	struct user_kernel k = { .shape = { .block_dims = 1, .grid_dims = 1 } };
	next_field(&line, entry, sizeof entry);
	next_field(&line, k.name, sizeof k.name);
	k.line = next_field(&line, word, sizeof word) ? (unsigned)strtoul(word, NULL, 10) : 0;
	if (next_field(&line, word, sizeof word))
		k.shape.max_threads = (unsigned)strtoul(word, NULL, 10);
	while (k.n_params < KERNEL_MAX_ARGS) {
		struct user_param *p = &k.params[k.n_params];
		if (!next_field(&line, p->type, sizeof p->type) || !next_field(&line, word, sizeof word) ||
		    !next_field(&line, p->name, sizeof p->name))
			break;
		const unsigned bytes = (unsigned)strtoul(word, NULL, 10);
		user_know_type(p, bytes);
		if (!p->known && !p->pointer) { /* an enum */
			p->known = p->choice = true;
			p->kind = ARG_I32;
			p->elem = ELEM_I32;
		}
		if (!p->pointer)
			p->bytes = bytes;
		k.n_params++;
	}
	snprintf(k.base, sizeof k.base, "%.*s", (int)strcspn(k.name, "<("), k.name);
	k.entry = mem_strdup(entry);
	for (unsigned i = 0; i < s->n_kernels; i++)
		free(s->kernels[i].entry);
	s->kernels = mem_realloc(s->kernels, 1, sizeof *s->kernels);
	s->kernels[0] = k;
	s->n_kernels = 1;
	s->resolved = true;
}

/* --- by text, by the compiler --- */

static bool text_tells(const struct user_kernel *k)
{
	for (unsigned i = 0; i < k->n_params; i++)
		if (!k->params[i].known)
			return false;
	return !k->templates[0] && !k->internal && !k->overloaded;
}

static bool need_compiler(const struct user_family *o)
{
	const struct user_source *s = &o->source;
	if (!s->n_kernels)
		return false;
	if (o->spec.n_words || s->quotes)
		return true;
	for (unsigned i = 0; i < s->n_kernels; i++)
		if (s->kernels[i].overloaded)
			return true;
	const struct user_kernel *k = o->spec.kernel ? user_source_find(s, o->spec.kernel) : NULL;
	return k ? !text_tells(k) : !s->plain;
}

/* "A=1,B=2" and the compiler's words as one list; *@owned is its text. */
static const char **all_words(const struct user_family *o, unsigned *n, char **owned)
{
	const char *define = o->spec.define ? o->spec.define : "";
	const char **list = mem_calloc(o->spec.n_words + strlen(define) + 2u, sizeof *list);
	*n = 0;
	for (unsigned i = 0; i < o->spec.n_words; i++)
		list[(*n)++] = o->spec.words[i];
	char *text = *owned = mem_calloc(3 * strlen(define) + 8, 1);
	for (const char *s = define; *s;) {
		const size_t len = strcspn(s, ",");
		list[(*n)++] = text;
		text += snprintf(text, len + 3, "-D%.*s", (int)len, s) + 1;
		s += len + (s[len] == ',');
	}
	return list;
}

static bool ask_compiler(struct user_family *o, struct err *err)
{
	char *owned;
	struct compile_own own = o->own;
	own.words = all_words(o, &own.n_words, &owned);
	struct user_unit unit = {
		.file = o->file, .own = &own, .cc_major = 8, .cc_minor = 0, .cancel = o->spec.cancel
	};
	struct err newer = { 0 };
	bool ok = user_resolve(&o->source, &unit, o->spec.kernel, err);
	if (!ok && err && strstr(err->msg, ".target")) { /* it uses what came later */
		unit.cc_major = NEWER_MAJOR;
		ok = user_resolve(&o->source, &unit, o->spec.kernel, &newer);
		if (ok)
			*err = newer;
	}
	free(owned);
	free((void *)own.words);
	return ok;
}

static bool know_kernels(struct user_family *o, const char *text, struct err *err)
{
	user_source_scan(o->ptx ? "" : text, &o->source);
	if (o->ptx) {
		free(o->source.shown);
		free(o->source.device);
		o->source.shown = mem_strdup(text);
		o->source.device = user_ptx_with_lines(text, o->file);
	}
	o->own.path = o->restored ? NULL : o->spec.path;
	o->own.text = o->source.linked;
	o->own.ptx = o->ptx;
	o->own.n_words = o->spec.n_words;
	o->own.words = o->spec.words;
	if (o->spec.as)
		kernel_from_line(&o->source, o->spec.as);
	else if (o->ptx)
		user_resolve_ptx(&o->source, text);
	else if (need_compiler(o) && !ask_compiler(o, err))
		return false;
	o->own.nvcc = o->source.resolved && !o->ptx;
	o->own.text = o->own.nvcc ? o->source.shown : o->source.linked;
	o->own.extra = o->source.extra;
	return true;
}

/* --- which kernel --- */

static bool choose_kernel(struct user_family *o, struct err *err)
{
	const struct user_source *s = &o->source;
	unsigned able = 0;
	for (unsigned i = 0; i < s->n_kernels; i++)
		if (!s->kernels[i].why_not[0] && able++ == 0)
			o->kernel = &s->kernels[i];
	if (!s->n_kernels) {
		err_set(err, ERR_USAGE, "%s: there is no %s in this file", o->spec.path,
		        o->ptx ? "entry" : "__global__ function");
		return false;
	}
	if (o->spec.kernel) {
		o->kernel = user_source_find(s, o->spec.kernel);
		char what[260];
		snprintf(what, sizeof what, "there is no kernel '%.180s'; there are:", o->spec.kernel);
		if (o->kernel && strchr(o->kernel->name, '<') && !strchr(o->spec.kernel, '<'))
			text_add(&o->guessed, "--kernel %s", o->kernel->name);
		return o->kernel || user_usage(o, NULL, what, err);
	}
	return able == 1 ||
	       user_usage(o, NULL,
	                  able ? "which kernel? There are:" : "no kernel can be launched:", err);
}

bool user_find_kernel(struct user_family *o, const char *text, struct err *err)
{
	struct err why = { 0 };
	const bool known = know_kernels(o, text, &why);
	/* words for the compiler are not left out because it is missing */
	if (!known && (why.code != ERR_UNAVAILABLE || o->spec.n_words)) {
		if (err)
			*err = why;
		return o->spec.n_words && why.code == ERR_UNAVAILABLE &&
		       err_prefix(err, "%s is a word for nvcc: ", o->spec.words[0]);
	}
	if (!choose_kernel(o, err))
		return known ? false : err_remedy(err, "%s", why.msg);
	const struct user_kernel *k = o->kernel;
	if (k->why_not[0] || (!known && !text_tells(k))) {
		err_set(err, ERR_UNSUPPORTED, "%s:%u: kernel '%s' cannot be launched: %s", o->file, k->line,
		        k->name, k->why_not[0] ? k->why_not : why.msg);
		return err_remedy(err, "%s", known ? "" : why.remedy);
	}
	return true;
}

void user_tell_compile_error(struct user_family *o, struct err *err)
{
	struct err compile = { 0 };
	if (!o->ptx && !o->source.resolved && !ask_compiler(o, &compile) && err &&
	    compile.code == ERR_COMPILE)
		*err = compile;
}

bool user_lacks(const struct user_family *o, char *what, size_t n)
{
	const struct user_kernel *k = o->kernel;
	if (!o->spec.grid || !o->spec.block) {
		snprintf(what, n, "the launch is not said: %s is missing",
		         !o->spec.grid ? "--grid" : "--block");
		return true;
	}
	for (unsigned i = 0; i < k->n_params; i++)
		if (!user_words_for(&o->spec, k->params[i].name)) {
			snprintf(what, n, "argument '%s' is missing", k->params[i].name);
			return true;
		}
	return false;
}

/* Rules of descriptors; see kernel_check.h. */
#include "model/kernel_check.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IDEA_LEAST 20u
#define IDEA_MOST 90u
#define ABOUT_LEAST 40u

static bool is_text(const char *s)
{
	return s && *s;
}

/* --- complete --- */

bool kernel_check_complete(const struct kernel_desc *k, struct err *err)
{
	const struct {
		const char *field;
		bool there;
	} fields[] = {
		{ "name", is_text(k->name) },
		{ "title", is_text(k->title) },
		{ "section", is_text(k->section) },
		{ "about", is_text(k->about) },
		{ "variants", k->n_variants && k->variants },
		{ "params", !k->n_params || k->params },
		{ "plan", k->plan != NULL },
		{ "fill", k->fill != NULL },
		{ "cost", k->cost != NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!fields[i].there)
			return err_set(err, ERR_USAGE, "the descriptor has no '%s'", fields[i].field);
	if (k->n_params > KERNEL_MAX_PARAMS || k->n_variants > KERNEL_MAX_VARIANTS)
		return err_set(err, ERR_USAGE, "%u parameters and %u variants; at most %d and %d",
		               k->n_params, k->n_variants, KERNEL_MAX_PARAMS, KERNEL_MAX_VARIANTS);
	if (k->usual >= k->n_variants)
		return err_set(err, ERR_USAGE, "the usual variant is number %u of %u", k->usual,
		               k->n_variants);
	for (unsigned v = 0; v < k->n_variants; v++) {
		const struct variant_desc *d = &k->variants[v];
		if (!is_text(d->name) || !is_text(d->entry) || !d->title || !d->idea || !d->section)
			return err_set(err, ERR_USAGE,
			               "variant %u: name, entry, title, idea and section are wanted", v);
	}
	for (unsigned i = 0; i < k->n_params; i++) {
		const struct param_desc *p = &k->params[i];
		if (!is_text(p->name) || !p->title || !p->unit)
			return err_set(err, ERR_USAGE, "parameter %u: name, title and unit are wanted", i);
	}
	return true;
}

/* --- texts --- */

static bool check_variant(const struct kernel_desc *k, unsigned v, const char *source,
                          struct err *err)
{
	const struct variant_desc *d = &k->variants[v];
	const size_t idea = strlen(d->idea);
	char entry[96];
	snprintf(entry, sizeof entry, "%s_v%u_%s", k->name, v, d->name);
	if (strcmp(d->entry, entry) != 0)
		return err_set(err, ERR_USAGE, "variant '%s': its entry is '%s'; it must be called '%s'",
		               d->name, d->entry, entry);
	const char *at = strstr(source, entry);
	if (!at || at == source || !isspace((unsigned char)at[-1]) || at[strlen(entry)] != '(')
		return err_set(err, ERR_USAGE, "variant '%s': no function '%s(' is declared", d->name,
		               entry);
	if (kernel_variant_index(k, d->name) != (int)v)
		return err_set(err, ERR_USAGE, "variant '%s': the name is used twice", d->name);
	if (!is_text(d->title) || !is_text(d->section) || !d->seeds)
		return err_set(err, ERR_USAGE, "variant '%s': title, section and seeds are wanted",
		               d->name);
	if (idea < IDEA_LEAST || idea > IDEA_MOST)
		return err_set(err, ERR_USAGE,
		               "variant '%s': its idea has %zu characters; one line of %u to %u is wanted",
		               d->name, idea, IDEA_LEAST, IDEA_MOST);
	if (d->wrong != (strstr(d->title, "wrong by design") != NULL))
		return err_set(err, ERR_USAGE,
		               "variant '%s': a title says \"wrong by design\" exactly where wrong is set",
		               d->name);
	return true;
}

/* Every value of a list, ended by INT64_MIN, is one that the parameter may have. */
static bool check_values(const struct kernel_desc *k, unsigned i, const int64_t *values,
                         const char *what, struct err *err)
{
	for (; values && *values != INT64_MIN; values++)
		if (!kernel_param_legal(k, i, *values, err))
			return err_prefix(err, "%s: ", what);
	return true;
}

/* The default of a macro is written once, in the file, for both halves. */
static bool check_macro(const struct param_desc *p, const char *source, struct err *err)
{
	const char *macro = p->macro ? p->macro : p->name;
	char guard[160];
	snprintf(guard, sizeof guard, "#ifndef %s\n#define %s ", macro, macro);
	if (strstr(source, guard))
		return true;
	return err_set(err, ERR_USAGE, "parameter '%s': the file has no '#ifndef %s', '#define %s'",
	               p->name, macro, macro);
}

static bool check_param(const struct kernel_desc *k, unsigned i, const char *source,
                        struct err *err)
{
	const struct param_desc *p = &k->params[i];
	const int64_t def[] = { p->def, INT64_MIN };
	if (kernel_param_index(k, p->name) != (int)i)
		return err_set(err, ERR_USAGE, "parameter '%s': the name is used twice", p->name);
	if (p->variants && p->variants >= 1ull << k->n_variants)
		return err_set(err, ERR_USAGE, "parameter '%s': there is no such variant", p->name);
	for (const int64_t *c = p->choices; c && *c != INT64_MIN; c++)
		if (*c < p->min || *c > p->max)
			return err_set(err, ERR_USAGE, "parameter '%s': choice %lld is out of its range",
			               p->name, (long long)*c);
	return check_values(k, i, def, "default", err) && check_values(k, i, p->steps, "step", err) &&
	       (p->kind != PARAM_COMPILE || check_macro(p, source, err));
}

bool kernel_check_texts(const struct kernel_desc *k, const char *source, struct err *err)
{
	if (strlen(k->about) < ABOUT_LEAST)
		return err_set(err, ERR_USAGE, "about: two or three sentences for a newcomer are wanted");
	if (!k->check)
		return err_set(err, ERR_USAGE, "the descriptor has no 'check'");
	for (unsigned v = 0; v < k->n_variants; v++)
		if (!check_variant(k, v, source, err))
			return false;
	for (unsigned i = 0; i < k->n_params; i++)
		if (!check_param(k, i, source, err))
			return false;
	return true;
}

/* --- examples --- */

bool kernel_settings(const struct kernel_desc *k, const char *words, int64_t *params,
                     struct err *err)
{
	kernel_defaults(k, params);
	for (const char *at = words; *at;) {
		char word[64];
		const size_t len = strcspn(at, " ");
		snprintf(word, sizeof word, "%.*s", (int)len, at);
		at += len + (at[len] == ' ');
		char *equals = strchr(word, '=');
		if (!equals)
			return err_set(err, ERR_USAGE, "'%s' is not of the form name=value", word);
		*equals = '\0';
		const int p = kernel_param_index(k, word);
		if (p < 0)
			return err_set(err, ERR_USAGE, "there is no parameter '%s'", word);
		if (!kernel_param_parse(k, (unsigned)p, equals + 1, &params[p], err))
			return false;
	}
	return true;
}

static bool check_defaults(const struct kernel_desc *k, unsigned v, struct err *err)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct kernel_cost cost = { 0 };
	kernel_defaults(k, params);
	if (!k->plan(v, params, &plan, err))
		return err_prefix(err, "%s with its defaults: ", k->variants[v].name);
	if (!plan.entry || strcmp(plan.entry, k->variants[v].entry) != 0)
		return err_set(err, ERR_USAGE, "%s: plan() launches '%s'", k->variants[v].name,
		               plan.entry ? plan.entry : "nothing");
	k->cost(v, &plan, params, &cost);
	if (!(cost.flop >= 0 && cost.min_bytes > 0) ||
	    (cost.book_bytes > 0) != (cost.book_note != NULL))
		return err_set(err, ERR_USAGE,
		               "%s: cost() wants min_bytes, and book_note exactly where book_bytes is set",
		               k->variants[v].name);
	return true;
}

/* The variant and parameters of an example or refusal. */
static bool example_settings(const struct kernel_desc *k, const char *variant, const char *words,
                             int64_t *params, unsigned *v, struct err *err)
{
	const int index = kernel_variant_index(k, variant);
	*v = (unsigned)index;
	return index >= 0 ? kernel_settings(k, words, params, err)
	                  : err_set(err, ERR_USAGE, "there is no variant '%s'", variant);
}

static bool same_dim3(struct dim3u a, struct dim3u b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool check_example(const struct kernel_desc *k, const struct kernel_example *e,
                          struct err *err)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan p = { 0 };
	struct kernel_cost cost = { 0 };
	unsigned v;
	if (!example_settings(k, e->variant, e->words, params, &v, err) || !k->plan(v, params, &p, err))
		return false;
	if (e->grid.x && (!same_dim3(p.grid, e->grid) || !same_dim3(p.block, e->block) ||
	                  p.dynamic_shared_bytes != e->dynamic_shared_bytes))
		return err_set(err, ERR_USAGE,
		               "grid %u x %u x %u, block %u x %u x %u, %u bytes of dynamic shared memory",
		               p.grid.x, p.grid.y, p.grid.z, p.block.x, p.block.y, p.block.z,
		               p.dynamic_shared_bytes);
	k->cost(v, &p, params, &cost);
	const double intensity = cost.book_bytes > 0 ? cost.book_flop / cost.book_bytes : 0;
	if (e->book_intensity > 0 && fabs(intensity - e->book_intensity) > 1e-12)
		return err_set(err, ERR_USAGE, "%.9g operations per byte, not %.9g", intensity,
		               e->book_intensity);
	return true;
}

static bool check_refusal(const struct kernel_desc *k, const struct kernel_refusal *r,
                          struct err *err)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct err why = { 0 };
	unsigned v;
	if (!example_settings(k, r->variant, r->words, params, &v, err))
		return false;
	if (k->plan(v, params, &plan, &why))
		return err_set(err, ERR_USAGE, "it was not refused");
	if (why.code != ERR_USAGE || !strstr(why.msg, r->param) || !strstr(why.msg, r->reason))
		return err_set(err, ERR_USAGE, "it must be refused with \"'%s'\" and \"%s\", and says: %s",
		               r->param, r->reason, why.msg);
	return true;
}

bool kernel_check_examples(const struct kernel_desc *k, struct err *err)
{
	for (unsigned v = 0; v < k->n_variants; v++)
		if (!check_defaults(k, v, err))
			return false;
	if (!k->examples)
		return err_set(err, ERR_USAGE,
		               "no examples: write down one launch that was worked out by hand");
	for (const struct kernel_example *e = k->examples; e->variant; e++)
		if (!check_example(k, e, err))
			return err_prefix(err, "example %s %s: ", e->variant, e->words);
	for (const struct kernel_refusal *r = k->refusals; r && r->variant; r++)
		if (!check_refusal(k, r, err))
			return err_prefix(err, "refusal %s %s: ", r->variant, r->words);
	return true;
}

/*
 * Kernels as the compiler has them; see user_resolve.h.
 *
 * Behind the file stands C++ of ours: a pointer to each instance that is asked for makes nvcc
 * compile it; an entry with the kernel's type as template argument spells the parameters of a
 * kernel that is extern "C"; variables hold sizes of structures. Types are read from what symbols
 * mean.
 */
#include "userkernel/user_resolve.h"
#include "userkernel/user_ptx.h"
#include "userkernel/user_scan.h"
#include "userkernel/user_template.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE "pmpp_signature"
#define SIZE "pmpp_bytes_"

/* --- what stands behind the file --- */

static bool types_unknown(const struct user_kernel *k)
{
	for (unsigned i = 0; i < k->n_params; i++)
		if (!k->params[i].known)
			return true;
	return false;
}

/* "axpy<float,64>" asks for an instance of this kernel. */
static const char *wanted_arguments(const struct user_kernel *k, const char *wanted)
{
	const char *open = wanted ? strchr(wanted, '<') : NULL;
	if (!open)
		return NULL;
	const char *name = open;
	while (name > wanted && is_word_char(name[-1]))
		name--;
	const size_t n = (size_t)(open - name);
	return strlen(k->base) == n && !strncmp(name, k->base, n) ? open : NULL;
}

/* @guess: templates that nobody named get likely arguments. */
static char *extra_text(const struct user_source *s, const char *wanted, bool guess)
{
	struct text t = { 0 };
	bool probe = false;
	for (unsigned i = 0; i < s->n_kernels; i++) {
		const struct user_kernel *k = &s->kernels[i];
		const char *arguments = wanted_arguments(k, wanted);
		char guessed[200] = "";
		if (k->overloaded && !arguments)
			continue;
		if (k->templates[0]) {
			if (!arguments && guess && user_template_guess(k, guessed, sizeof guessed))
				arguments = guessed;
			if (arguments)
				text_add(&t, "void *pmpp_use_%u = (void *)&%s%s%s;\n", i, k->scope, k->base,
				         arguments);
		} else if (k->internal) {
			text_add(&t, "void *pmpp_use_%u = (void *)&%s%s;\n", i, k->scope, k->base);
		}
		if (k->c_linkage && !k->templates[0] && types_unknown(k)) {
			if (!probe)
				text_add(&t, "template <class T> __global__ void " PROBE "(T) { }\n");
			probe = true;
			text_add(&t, "template __global__ void " PROBE "<decltype(&%s)>(decltype(&%s));\n",
			         k->base, k->base);
		}
	}
	return t.s ? t.s : mem_strdup("");
}

static bool compile(const struct user_source *s, const struct user_unit *unit, const char *extra,
                    struct module *m, struct err *err)
{
	struct compile_own own = *unit->own;
	own.nvcc = true;
	own.text = s->shown;
	own.extra = extra;
	const struct compile_request req = {
		.file = unit->file,
		.source = s->shown,
		.n_macros = unit->n_macros,
		.macros = unit->macros,
		.cc_major = unit->cc_major,
		.cc_minor = unit->cc_minor,
		.own = &own,
		.cancel = unit->cancel,
	};
	return compile_module(&req, m, err);
}

/* --- what a symbol means --- */

/* "void a::axpy<float, 64>(float*, int)": name and list of types. */
struct meaning {
	char name[200]; /* "a::axpy<float,64>" */
	char base[64];
	char types[2000];
};

static void read_meaning(const char *s, struct meaning *m)
{
	static const char anonymous[] = "(anonymous namespace)::";
	int depth = 0;
	size_t n = 0;
	*m = (struct meaning){ 0 };
	if (!strncmp(s, "void ", 5))
		s += 5;
	for (; *s && (*s != '(' || depth || !strncmp(s, anonymous, sizeof anonymous - 1)); s++) {
		if (!depth && !strncmp(s, anonymous, sizeof anonymous - 1)) {
			s += sizeof anonymous - 2;
			continue;
		}
		depth += *s == '<' ? 1 : *s == '>' ? -1 : 0;
		if (*s != ' ' && n + 1 < sizeof m->name)
			m->name[n++] = *s;
	}
	const size_t end = strcspn(m->name, "<");
	size_t name = end;
	while (name && is_word_char(m->name[name - 1]))
		name--;
	snprintf(m->base, sizeof m->base, "%.*s", (int)(end - name), m->name + name);
	if (*s == '(')
		snprintf(m->types, sizeof m->types, "%.*s", (int)strlen(s) - 2, s + 1);
}

/* --- joining both --- */

/* Types from the symbol, names from the text, sizes from the PTX. */
static void take_types(struct user_kernel *k, const struct user_entry *e, const char *types)
{
	struct user_kernel true_types = { .n_params = 0 };
	user_read_params(types, false, &true_types);
	const bool typed = *types && true_types.n_params == e->n_params;
	for (unsigned i = 0; i < e->n_params; i++) {
		struct user_param *p = &k->params[i];
		if (i >= k->n_params) {
			*p = (struct user_param){ 0 };
			snprintf(p->name, sizeof p->name, "p%u", i);
		}
		if (typed && (!p->known || !p->type[0] || k->templates[0]))
			memcpy(p->type, true_types.params[i].type, sizeof p->type);
		else if (!p->type[0])
			snprintf(p->type, sizeof p->type, "%s",
			         e->param[i].bytes == 8 && strcmp(e->param[i].type, "f64") != 0 ? "void *"
			         : e->param[i].aggregate                                        ? "struct"
			         : !strcmp(e->param[i].type, "f32")                             ? "float"
			         : !strcmp(e->param[i].type, "f64")                             ? "double"
			                                                                        : "int");
		user_know_type(p, e->param[i].aggregate ? e->param[i].bytes : 0);
		if (!p->known && !p->pointer && e->param[i].bytes == 4) { /* an enum */
			p->known = p->choice = true;
			p->kind = ARG_I32;
			p->elem = ELEM_I32;
			p->bytes = 4;
		}
		if (!p->pointer && e->param[i].bytes)
			p->bytes = e->param[i].bytes;
	}
	k->n_params = e->n_params;
	k->shape.max_threads = e->max_threads;
	k->shape.dynamic_shared |= e->dynamic_shared;
}

/* The kernel of the text that an entry is: by name, and where several share it by parameters. */
static const struct user_kernel *kernel_of(const struct user_source *s, const struct meaning *m,
                                           const struct user_entry *e)
{
	const struct user_kernel *found = NULL;
	unsigned best = 0;
	for (unsigned i = 0; i < s->n_kernels; i++) {
		const struct user_kernel *k = &s->kernels[i];
		if (strcmp(k->base, m->base) != 0 || !!k->templates[0] != !!strchr(m->name, '<'))
			continue;
		struct user_kernel types = { .n_params = 0 };
		user_read_params(m->types, false, &types);
		unsigned score = 1 + 100 * (k->n_params == e->n_params);
		score += 10u * !strncmp(m->name, k->scope, strlen(k->scope));
		for (unsigned p = 0; p < k->n_params && p < types.n_params; p++)
			score += k->params[p].known && k->params[p].pointer == types.params[p].pointer &&
			         k->params[p].elem == types.params[p].elem;
		if (score > best)
			found = k;
		best = score > best ? score : best;
	}
	return found;
}

static void add_kernel(struct user_source *s, const struct user_kernel *of,
                       const struct user_entry *e, const struct meaning *m, const char *types)
{
	s->kernels = mem_realloc(s->kernels, s->n_kernels + 1u, sizeof *s->kernels);
	struct user_kernel *k = &s->kernels[s->n_kernels++];
	*k = *of;
	k->why_not[0] = '\0';
	k->entry = mem_strdup(e->symbol);
	if (of->templates[0])
		snprintf(k->name, sizeof k->name, "%.159s", strstr(m->name, m->base));
	else if (of->overloaded && *m->types)
		snprintf(k->name, sizeof k->name, "%s(%.90s)", of->base, m->types);
	take_types(k, e, types);
}

/* The types of an extern "C" kernel, from the entry that has its type as argument. */
static void probed_types(const struct user_entry *entries, unsigned n, unsigned nth, char *out,
                         size_t size)
{
	*out = '\0';
	for (unsigned i = 0; i < n; i++) {
		const char *open = strstr(entries[i].meaning, PROBE "<void (*)(");
		if (!open || nth--)
			continue;
		open += sizeof PROBE "<void (*)(" - 1;
		const char *end = strstr(open, ")>(");
		snprintf(out, size, "%.*s", end ? (int)(end - open) : 0, open);
		return;
	}
}

/* Is it in the file, or does it come from a header that the file includes? */
static void join(struct user_source *out, const struct user_source *s, const char *ptx)
{
	struct user_entry *entries;
	const unsigned n = user_entries(ptx, &entries);
	for (unsigned i = 0; i < s->n_kernels; i++) {
		const struct user_kernel *k = &s->kernels[i];
		unsigned found = 0, probes = 0;
		for (unsigned j = 0; j < i; j++)
			probes += s->kernels[j].c_linkage && !s->kernels[j].templates[0] &&
			          types_unknown(&s->kernels[j]);
		for (unsigned e = 0; e < n; e++) {
			struct meaning m;
			char types[2000];
			read_meaning(entries[e].meaning, &m);
			if (!strcmp(m.base, PROBE) || kernel_of(s, &m, &entries[e]) != k)
				continue;
			snprintf(types, sizeof types, "%s", m.types);
			if (k->c_linkage && types_unknown(k))
				probed_types(entries, n, probes, types, sizeof types);
			add_kernel(out, k, &entries[e], &m, types);
			found++;
		}
		if (found)
			continue;
		out->kernels = mem_realloc(out->kernels, out->n_kernels + 1u, sizeof *out->kernels);
		struct user_kernel *none = &out->kernels[out->n_kernels++];
		*none = *k;
		none->entry = NULL;
		if (!k->templates[0])
			snprintf(none->why_not, sizeof none->why_not,
			         "the compiler made nothing of it: an #if leaves it out");
	}
	user_entries_free(entries, n);
}

/* Pointers to structures whose size nobody knows. */
static char *size_text(const struct user_source *s)
{
	struct text t = { 0 };
	for (unsigned i = 0; i < s->n_kernels; i++)
		for (unsigned p = 0; p < s->kernels[i].n_params; p++) {
			const struct user_param *q = &s->kernels[i].params[p];
			const char *star = strchr(q->type, '*');
			if (q->known || !star || strchr(star + 1, '*') || strchr(q->type, '(') ||
			    !s->kernels[i].entry)
				continue;
			text_add(&t,
			         "extern \"C\" { __device__ unsigned long long " SIZE
			         "%u_%u_ = sizeof(%.*s); }\n",
			         i, p, (int)(star - q->type), q->type);
		}
	return t.s;
}

static void take_sizes(struct user_source *s, const char *ptx)
{
	for (unsigned i = 0; i < s->n_kernels; i++)
		for (unsigned p = 0; p < s->kernels[i].n_params; p++) {
			struct user_param *q = &s->kernels[i].params[p];
			char name[64];
			snprintf(name, sizeof name, SIZE "%u_%u_", i, p);
			const unsigned bytes = q->known ? 0 : user_ptx_value(ptx, name);
			if (bytes)
				user_know_type(q, bytes);
		}
}

bool user_resolve(struct user_source *s, const struct user_unit *unit, const char *wanted,
                  struct err *err)
{
	struct module m = { 0 };
	struct user_source now = { 0 };
	char *extra = extra_text(s, wanted, true);
	if (!compile(s, unit, extra, &m, err)) {
		char *careful = extra_text(s, wanted, false);
		const bool again = strcmp(careful, extra) != 0 && compile(s, unit, careful, &m, err);
		free(extra);
		extra = careful;
		if (!again) {
			free(extra);
			return false;
		}
	}
	join(&now, s, m.ptx);
	char *sizes = size_text(&now);
	if (sizes) {
		struct module with = { 0 };
		char *all = mem_printf("%s%s", extra, sizes);
		if (compile(s, unit, all, &with, NULL)) {
			take_sizes(&now, with.ptx);
			module_free(&with);
		}
		free(all);
		free(sizes);
	}
	module_free(&m);
	free(s->kernels);
	s->kernels = now.kernels;
	s->n_kernels = now.n_kernels;
	free(s->extra);
	s->extra = extra;
	s->resolved = true;
	return true;
}

void user_resolve_ptx(struct user_source *s, const char *ptx)
{
	struct user_entry *entries;
	const unsigned n = user_entries(ptx, &entries);
	for (unsigned i = 0; i < n; i++) {
		struct meaning m;
		struct user_kernel of = { .line = entries[i].line,
			                      .shape = { .block_dims = entries[i].block_dims,
			                                 .grid_dims = entries[i].grid_dims } };
		read_meaning(entries[i].meaning, &m);
		snprintf(of.base, sizeof of.base, "%s", m.base[0] ? m.base : entries[i].symbol);
		snprintf(of.name, sizeof of.name, "%.159s", m.name[0] ? m.name : entries[i].symbol);
		add_kernel(s, &of, &entries[i], &m, m.types);
	}
	s->resolved = true;
	user_entries_free(entries, n);
}

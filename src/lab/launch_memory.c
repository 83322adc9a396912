/* A launch's memory by names; see launch_memory.h. */
#include "launch_memory.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/array.h"
#include "userkernel/user_scan.h"
#include "userkernel/user_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of the names. */
struct names {
	struct user_source source;
	const struct user_kernel *written; /* the kernel in its file; NULL = not found there */
	struct user_kernel types;          /* its parameters as the compiler has them */
};

/* "scale" of "ns::scale<float>": as its file names it. */
static void base_name(const char *name, char *out, size_t n)
{
	const size_t length = strcspn(name, "<(");
	size_t from = length;
	while (from && name[from - 1] != ':')
		from--;
	snprintf(out, n, "%.*s", (int)(length - from), name + from);
}

static void learn(const struct program_kernel *k, const char *source, struct names *x)
{
	char base[160];
	const size_t name = strlen(k->name);
	const char *at = strstr(k->signature, k->name), *end = strrchr(k->signature, ')');
	memset(x, 0, sizeof *x);
	if (at && at[name] == '(' && end > at + name) {
		char *list = mem_strndup(at + name + 1, (size_t)(end - (at + name + 1)));
		user_read_params(list, false, &x->types);
		free(list);
	}
	user_source_scan(source, &x->source);
	base_name(k->name, base, sizeof base);
	for (unsigned i = 0; i < x->source.n_kernels && !x->written; i++)
		if (!strcmp(x->source.kernels[i].base, base) &&
		    (!x->types.n_params || x->source.kernels[i].n_params == x->types.n_params))
			x->written = &x->source.kernels[i];
}

/* The type of what lies there; false = nothing tells. */
static bool type_of(const struct user_param *p, enum elem_type *type, unsigned *lanes)
{
	*type = ELEM_F32;
	*lanes = 1;
	if (!p || !p->known)
		return false;
	*type = p->elem;
	*lanes = p->structure || !p->lanes ? 1 : p->lanes;
	return !p->structure;
}

static const struct user_param *variable_of(const struct names *x, const char *name)
{
	const char *last = strrchr(name, ':');
	for (unsigned i = 0; i < x->source.n_variables; i++)
		if (!strcmp(x->source.variables[i].as.name, last ? last + 1 : name))
			return &x->source.variables[i].as;
	return NULL;
}

static void add(struct launch_memory *m, const struct names *x, const struct record_memory *r)
{
	const struct user_param *p = NULL;
	char *name;
	enum elem_type type;
	unsigned lanes;
	if (r->param >= 0) {
		const unsigned i = (unsigned)r->param;
		const char *own = x->written && i < x->written->n_params ? x->written->params[i].name : "";
		char number[16], inside[16] = "";
		snprintf(number, sizeof number, "arg%u", i);
		if (r->param_offset)
			snprintf(inside, sizeof inside, ".%u", r->param_offset);
		name = mem_printf("%s%s", *own ? own : number, inside);
		if (i < x->types.n_params && x->types.params[i].pointer)
			p = &x->types.params[i];
		else if (!x->types.n_params && *own && x->written->params[i].pointer)
			p = &x->written->params[i];
	} else if (r->variable[0]) {
		const char *scope = strrchr(r->variable, ':');
		name = mem_strdup(scope ? scope + 1 : r->variable);
		p = variable_of(x, r->variable);
	} else {
		name = mem_printf("mem%llu", (unsigned long long)r->serial);
	}
	const bool known = type_of(p, &type, &lanes);
	if (r->bytes % elem_size(type)) {
		type = ELEM_U8;
		lanes = 1;
	}
	m->buffer = mem_realloc(m->buffer, m->n + 1u, sizeof *m->buffer);
	m->address = mem_realloc(m->address, m->n + 1u, sizeof *m->address);
	m->guessed = mem_realloc(m->guessed, m->n + 1u, sizeof *m->guessed);
	m->name = mem_realloc(m->name, m->n + 1u, sizeof *m->name);
	m->name[m->n] = name;
	m->buffer[m->n] = (struct buffer_plan){
		.name = name,
		.type = type,
		.role = r->constant ? BUF_IN : BUF_INOUT,
		.variable = r->variable[0] != '\0',
		.count = (size_t)(r->bytes / elem_size(type)),
		.cols = lanes > 1 ? lanes : 0,
	};
	m->guessed[m->n] = !known;
	m->address[m->n++] = r->address;
}

bool launch_memory_look(struct program *p, uint64_t number, const char *source,
                        struct launch_memory *out, struct err *err)
{
	const struct program_launch *l = program_launch_numbered(p, number);
	struct record_memory *all;
	struct names x;
	size_t n;
	*out = (struct launch_memory){ .n = 0 };
	if (!l || !program_look(p, number, NULL, &all, &n, err))
		return l ? false : err_set(err, ERR_USAGE, "there is no such launch");
	learn(&p->kernels[l->kernel], source, &x);
	for (size_t i = 0; i < n; i++)
		add(out, &x, &all[i]);
	user_source_free(&x.source);
	free(all);
	return true;
}

void launch_memory_free(struct launch_memory *m)
{
	for (unsigned i = 0; i < m->n; i++)
		free(m->name[i]);
	free(m->name);
	free(m->buffer);
	free(m->address);
	free(m->guessed);
	*m = (struct launch_memory){ .n = 0 };
}

/* --- setting --- */

static bool wrong_values(const struct buffer_plan *b, const char *values, struct err *err)
{
	err_set(err, ERR_USAGE, "option '--set': '%s=%.60s': %s has %zu elements of %s", b->name,
	        values, b->name, b->count, elem_name(b->type));
	return err_remedy(err, "one number for all of them or a number for each, @FILE of as many, "
	                       "rand, rand(A,B), iota or zero");
}

/* The elements that @values gives to @b; free(). */
static void *read_values(const struct buffer_plan *b, const char *values, struct err *err)
{
	struct array a = { .type = b->type };
	if (*values == '@') {
		if (!array_read(values + 1, b->type, &a, err)) {
			err_prefix(err, "option '--set': ");
			return NULL;
		}
	} else if (user_read_numbers(values, b->type, &a) && a.count == 1 && b->count > 1) {
		a.data = mem_realloc(a.data, b->count, elem_size(b->type));
		for (size_t i = 1; i < b->count; i++)
			memcpy((char *)a.data + i * elem_size(b->type), a.data, elem_size(b->type));
		a.count = b->count;
	} else if (!a.count) {
		struct user_buffer how;
		char *words = mem_printf("%s[%zu]:%s", elem_name(b->type), b->count, values);
		if (user_read_buffer(b->name, words, &how, err) && !how.below[0] && how.init != INIT_FILE &&
		    how.init != INIT_OUT) {
			a.count = b->count;
			a.data = mem_calloc(a.count, elem_size(b->type));
			user_fill(&how, b->type, a.count, 0, 1, a.data);
		}
		free(words);
	}
	if (a.count == b->count)
		return a.data;
	free(a.data);
	wrong_values(b, values, err);
	return NULL;
}

static int find(const struct launch_memory *m, const char *name, size_t length)
{
	for (unsigned i = 0; i < m->n; i++)
		if (strlen(m->buffer[i].name) == length && !strncmp(m->buffer[i].name, name, length))
			return (int)i;
	return -1;
}

static bool no_such(const struct launch_memory *m, const char *name, size_t length, struct err *err)
{
	struct text all = { 0 };
	for (unsigned i = 0; i < m->n; i++)
		text_add(&all, "%s%s", i ? ", " : "", m->buffer[i].name);
	err_set(err, ERR_USAGE, "option '--set': the launch has no memory '%.*s'", (int)length, name);
	err_remedy(err, "it has: %.400s", all.s ? all.s : "none");
	text_free(&all);
	return false;
}

bool launch_memory_set(const struct launch_memory *m, const char *words, struct record_again *again,
                       struct err *err)
{
	for (const char *s = words; *s;) {
		const size_t length = strcspn(s, ";"), name = strcspn(s, "=");
		if (name >= length) {
			err_set(err, ERR_USAGE, "option '--set': '%.*s' is not NAME=VALUES", (int)length, s);
			return err_remedy(err, "for example --set 'coef=1,2,3;x=@x.npy'");
		}
		const int b = find(m, s, name);
		if (b < 0)
			return no_such(m, s, name, err);
		if (again->n_set == RECORD_MAX_RANGES)
			return err_set(err, ERR_USAGE, "option '--set': no more than %d", RECORD_MAX_RANGES);
		char *values = mem_strndup(s + name + 1, length - name - 1);
		void *data = read_values(&m->buffer[b], values, err);
		free(values);
		if (!data)
			return false;
		again->set[again->n_set++] = (struct record_range){
			.address = m->address[b],
			.bytes = m->buffer[b].count * elem_size(m->buffer[b].type),
			.data = data,
		};
		s += length + (s[length] == ';');
	}
	return true;
}

bool launch_memory_want(const struct launch_memory *m, unsigned b, struct record_again *again)
{
	if (again->n_wanted == RECORD_MAX_RANGES)
		return false;
	again->wanted[again->n_wanted++] =
		(struct record_range){ .address = m->address[b],
		                       .bytes = m->buffer[b].count * elem_size(m->buffer[b].type) };
	return true;
}

/*
 * What a person gives a kernel's parameters: numbers become the family's parameters, buffers keep
 * their expressions, structures and files their bytes. The notation: user_words.h.
 */
#include "userkernel/user_family.h"
#include "userkernel/user_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a whole number of @type may be. */
static void bounds_of(enum elem_type type, int64_t *low, int64_t *high)
{
	const bool is_signed =
		type == ELEM_I8 || type == ELEM_I16 || type == ELEM_I32 || type == ELEM_I64;
	const unsigned bits = 8 * (unsigned)elem_size(type);
	*low = !is_signed ? 0 : bits == 64 ? INT64_MIN + 1 : -((int64_t)1 << (bits - 1));
	*high = bits == 64 ? INT64_MAX : (int64_t)(((uint64_t)1 << (bits - (unsigned)is_signed)) - 1);
}

/* --- buffers --- */

static bool whole_contents(const struct user_arg *a, struct err *err)
{
	const double v = a->buffer.value;
	int64_t low, high;
	if (elem_is_real(a->elem) || a->buffer.init != INIT_VALUE)
		return true;
	bounds_of(a->elem, &low, &high);
	if (v >= (double)low && v <= (double)high && v == floor(v))
		return true;
	return err_set(err, ERR_USAGE,
	               "argument '%s': %s holds whole numbers from %lld to %lld, not %g",
	               a->param->name, elem_name(a->elem), (long long)low, (long long)high, v);
}

static bool read_file(struct user_arg *a, struct err *err)
{
	if (array_read(a->buffer.file, a->elem, &a->file, err))
		return true;
	return err_prefix(err, "argument '%s': ", a->param->name);
}

static bool read_buffer(struct user_family *o, struct user_arg *a, struct err *err)
{
	const struct user_param *p = a->param;
	struct user_buffer *b = &a->buffer;
	a->is_buffer = true;
	if (!user_read_buffer(p->name, a->words, b, err))
		return false;
	if (!b->typed && !p->known) {
		const char *open = strchr(a->words, '[');
		return err_set(err, ERR_USAGE, "argument '%s': say which type '%s' is: %s=f32%s", p->name,
		               p->type, p->name, open ? open : "[1024]:@FILE");
	}
	a->elem = b->typed ? b->type : p->elem;
	if (b->typed && p->known && !p->structure && elem_size(b->type) != elem_size(p->elem))
		return err_set(err, ERR_USAGE, "argument '%s' is '%s' in %s, not %s", p->name, p->type,
		               o->file, elem_name(b->type));
	if (b->init == INIT_OUT && p->is_const)
		return err_set(err, ERR_USAGE, "argument '%s' is '%s': the kernel cannot write it", p->name,
		               p->type);
	if (b->init == INIT_DEFAULT)
		b->init = p->is_const ? INIT_RAND : INIT_VALUE;
	return b->init == INIT_FILE ? read_file(a, err) : whole_contents(a, err);
}

/* "x", "x+n" or "null" where a pointer is wanted. */
static bool read_pointer(struct user_family *o, struct user_arg *a, struct err *err)
{
	size_t len = 0;
	if (!strcmp(a->words, "null") || !strcmp(a->words, "0")) {
		a->number = -1;
		a->fixed = (struct kernel_arg){ .kind = ARG_I64 };
		return true;
	}
	while (is_word_char(a->words[len]))
		len++;
	for (unsigned i = 0; len && i < o->kernel->n_params; i++) {
		const struct user_param *p = &o->kernel->params[i];
		if (!p->pointer || p == a->param || strlen(p->name) != len ||
		    strncmp(p->name, a->words, len) != 0)
			continue;
		const char *words = user_words_for(&o->spec, p->name);
		if (!words || !user_is_buffer(words) || (a->words[len] && a->words[len] != '+'))
			break;
		a->alias = (int)i;
		a->number = -1;
		snprintf(a->offset, sizeof a->offset, "%s", a->words[len] ? a->words + len + 1 : "0");
		return true;
	}
	err_set(err, ERR_USAGE, "argument '%s' is '%s', a buffer: '%s' gives no size", a->param->name,
	        a->param->type, a->words);
	return err_remedy(err, "for example %s=%s[%s]:rand, another buffer's name, or null",
	                  a->param->name, a->param->known ? elem_name(a->param->elem) : "f32",
	                  o->desc.n_params ? o->desc.params[0].name : "1024");
}

/* --- numbers --- */

static bool read_real(struct user_arg *a, const char *what, struct err *err)
{
	char *end;
	const double d = strtod(a->words, &end);
	if (end == a->words || (*end && strcmp(end, "f") != 0))
		return err_set(err, ERR_USAGE, "%s: '%s' is no number", what, a->words);
	switch (a->param->kind) {
	case ARG_F32: a->fixed = (struct kernel_arg){ .kind = ARG_F32, .f32 = (float)d }; break;
	case ARG_F64: a->fixed = (struct kernel_arg){ .kind = ARG_F64, .f64 = d }; break;
	default:
		a->fixed = (struct kernel_arg){ .kind = ARG_I64, .size = a->param->bytes };
		elem_put(a->param->elem, &a->fixed.i64, 0, d);
	}
	return true;
}

/* One of "1,f64:2.5": its type, and its place behind @at with C's alignment. */
static bool put_item(const struct user_param *p, const char *item, size_t len, void *bytes,
                     size_t *at)
{
	char word[64], *end;
	enum elem_type type = p->elem;
	if (len >= sizeof word)
		return false;
	memcpy(word, item, len);
	word[len] = '\0';
	char *number = strchr(word, ':');
	if (number) {
		*number++ = '\0';
		if (!elem_find(word, &type))
			return false;
	} else {
		number = word;
		if (p->structure)
			type = strpbrk(word, ".eEnf") ? ELEM_F32 : ELEM_I32;
	}
	const size_t size = elem_size(type), start = (*at + size - 1) / size * size;
	int64_t whole;
	double v = strtod(number, &end);
	if (parse_int(number, &whole))
		v = (double)whole;
	else if (end == number || (*end && strcmp(end, "f") != 0))
		return false;
	if (start + size > p->bytes)
		return false;
	elem_put(type, (char *)bytes + start, 0, v);
	*at = start + size;
	return true;
}

/* "1,2.5,3" or "@file". */
static bool read_structure(struct user_arg *a, const char *what, struct err *err)
{
	const struct user_param *p = a->param;
	a->bytes = mem_zalloc(p->bytes + 1u);
	a->fixed = (struct kernel_arg){ .kind = ARG_BYTES, .bytes = a->bytes, .size = p->bytes };
	if (a->words[0] == '@') {
		if (!array_read(a->words + 1, ELEM_U8, &a->file, err))
			return err_prefix(err, "%s: ", what);
		if (a->file.count != p->bytes)
			return err_set(err, ERR_USAGE, "%s: '%s' has %zu bytes, '%s' %u", what, a->words + 1,
			               a->file.count, p->type, p->bytes);
		memcpy(a->bytes, a->file.data, p->bytes);
		return true;
	}
	size_t at = 0;
	for (const char *s = a->words; *s;) {
		const size_t len = strcspn(s, ",");
		if (!put_item(p, s, len, a->bytes, &at)) {
			err_set(err, ERR_USAGE, "%s: '%.*s' does not fit into '%s' of %u bytes", what, (int)len,
			        s, p->type, p->bytes);
			return err_remedy(err, "numbers in the order of the members, each with its type where "
			                       "that is not i32 or f32: 1,2.5,f64:3; or @FILE with the bytes");
		}
		s += len + (s[len] == ',');
	}
	return true;
}

static bool read_number(struct user_family *o, struct user_arg *a, struct err *err)
{
	const struct user_param *p = a->param;
	char what[80];
	int64_t v, low, high;
	snprintf(what, sizeof what, "argument '%s'", p->name);
	a->number = -1;
	if (user_is_buffer(a->words) && !p->structure)
		return err_set(err, ERR_USAGE, "%s is '%s', a number, no buffer", what, p->type);
	if (!p->known) {
		err_set(err, ERR_UNSUPPORTED, "%s: a parameter of type '%s' cannot be given here", what,
		        p->type);
		return err_remedy(err, "nvcc would tell its size: 'pmpp-explore doctor' says where it is "
		                       "looked for");
	}
	if (p->kind == ARG_BYTES)
		return read_structure(a, what, err);
	if (elem_is_real(p->elem))
		return read_real(a, what, err);
	int64_t defaults[KERNEL_MAX_PARAMS];
	kernel_defaults(&o->desc, defaults);
	const struct user_env e = { o, defaults };
	const bool truth = !strcmp(a->words, "true") || !strcmp(a->words, "false");
	v = !strcmp(a->words, "true");
	if (!truth && !user_value(&e, a->words, what, &v, err))
		return false;
	bounds_of(p->elem, &low, &high);
	if (v < low || v > high)
		return err_set(err, ERR_USAGE, "%s: %lld does not fit into '%s'", what, (long long)v,
		               p->type);
	return user_add_param(o, p->name, "argument of the kernel", PARAM_LAUNCH, v, low, high,
	                      &a->number, err);
}

/* "1,2,3": the elements of a variable. */
static bool read_list(struct user_arg *a, struct err *err)
{
	const enum elem_type type = a->param->elem;
	const char *name = a->param->name;
	if (!user_read_numbers(a->words, type, &a->file)) {
		err_set(err, ERR_USAGE, "variable '%s': '%s' is no list of numbers", name, a->words);
		return err_remedy(err, "numbers as %s=1,2.5,3, or as a buffer: %s=%s[4]:rand, %s=@FILE",
		                  name, name, elem_name(type), name);
	}
	a->is_buffer = true;
	a->elem = type;
	a->buffer = (struct user_buffer){ .init = INIT_FILE, .file = "the list" };
	return true;
}

/* Variables that the spec names, behind the kernel's own arguments. */
static bool read_variables(struct user_family *o, unsigned buffers, struct err *err)
{
	for (unsigned v = 0; v < o->source.n_variables; v++) {
		const struct user_variable *from = &o->source.variables[v];
		const char *words = user_words_for(&o->spec, from->as.name);
		bool taken = !words;
		for (unsigned i = 0; i < o->n_args; i++)
			taken |= !strcmp(o->args[i].param->name, from->as.name);
		if (taken)
			continue;
		if (o->n_args == KERNEL_MAX_ARGS || buffers++ == KERNEL_MAX_BUFFERS)
			return err_set(err, ERR_UNSUPPORTED, "%s: more than %d arguments and variables",
			               o->file, KERNEL_MAX_ARGS);
		struct user_arg *a = &o->args[o->n_args++];
		*a = (struct user_arg){
			.param = &from->as, .words = words, .variable = true, .number = -1, .alias = -1
		};
		const bool list = !user_is_buffer(words);
		if (list && !from->as.known)
			return err_set(err, ERR_USAGE, "variable '%s' is '%s': say its type: %s=f32[%s]:rand",
			               from->as.name, from->as.type, from->as.name, from->size);
		if (!(list ? read_list(a, err) : read_buffer(o, a, err)))
			return false;
	}
	return true;
}

/* Numbers first, in the signature's order, so that sizes may use all of them. */
bool user_read_values(struct user_family *o, struct err *err)
{
	unsigned buffers = 0;
	o->n_args = o->kernel->n_params;
	for (int pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < o->kernel->n_params; i++) {
			struct user_arg *a = &o->args[i];
			a->param = &o->kernel->params[i];
			a->words = user_words_for(&o->spec, a->param->name);
			a->alias = -1;
			if (a->param->pointer != (pass == 1))
				continue;
			if (pass && !user_is_buffer(a->words)) {
				if (!read_pointer(o, a, err))
					return false;
				continue;
			}
			if (!(pass ? read_buffer(o, a, err) : read_number(o, a, err)))
				return false;
			if (pass && ++buffers > KERNEL_MAX_BUFFERS)
				return err_set(err, ERR_UNSUPPORTED, "%s: more than %d buffers", o->file,
				               KERNEL_MAX_BUFFERS);
		}
	return read_variables(o, buffers, err);
}

void user_free_values(struct user_family *o)
{
	for (unsigned i = 0; i < KERNEL_MAX_ARGS; i++) {
		free(o->args[i].bytes);
		free(o->args[i].file.data);
	}
}

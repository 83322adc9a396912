/*
 * Words of the command line to parameters and arguments of a family: numbers, block, grid, shared
 * memory, macros become parameters; buffers keep their expressions.
 */
#include "userkernel/user_family.h"

#include "base/text.h"
#include "userkernel/user_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the family's parameters --- */

static bool add_param(struct user_family *o, const char *name, const char *title,
                      enum param_kind kind, int64_t def, int64_t min, int64_t max, int *index,
                      struct err *err)
{
	struct kernel_desc *d = &o->desc;
	for (unsigned i = 0; i < d->n_params; i++)
		if (!strcmp(d->params[i].name, name))
			return err_set(err, ERR_USAGE, "%s: '%s' names two things: rename one of them", o->file,
			               name);
	if (d->n_params == KERNEL_MAX_PARAMS)
		return err_set(err, ERR_USAGE, "%s: more than %d numbers to choose", o->file,
		               KERNEL_MAX_PARAMS);
	const unsigned i = d->n_params++;
	snprintf(o->text[i], sizeof o->text[i], "%s", name);
	o->params[i] = (struct param_desc){
		.name = o->text[i],
		.title = title,
		.unit = "",
		.kind = kind,
		.def = def,
		.min = min,
		.max = max,
	};
	if (!strcmp(name, "block"))
		o->params[i].role = PARAM_BLOCK;
	else if (!strcmp(name, "block_x"))
		o->params[i].role = PARAM_KNOB;
	const size_t at = strlen(o->names);
	snprintf(o->names + at, sizeof o->names - at, "%s%s", at ? ", " : "", name);
	*index = (int)i;
	return true;
}

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

/* "256" or "16,16" of --block and --grid: numbers become parameters, of --grid expressions stay. */
static bool add_dims(struct user_family *o, const char *what, const char *words,
                     struct user_size size[3], bool numbers_only, struct err *err)
{
	static const char axes[] = "xyz";
	static const int64_t most[2][3] = { { 0x7fffffff, 65535, 65535 }, { 1024, 1024, 64 } };
	const unsigned n = words_in(words);
	if (n > 3)
		return err_set(err, ERR_USAGE, "option '--%s': '%s' has more than three sizes", what,
		               words);
	for (unsigned i = 0; i < 3; i++) {
		char name[16], word[64];
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
			if (numbers_only)
				return err_set(err, ERR_USAGE, "option '--%s': '%s' is no whole number", what,
				               word);
			snprintf(size[i].text, sizeof size[i].text, "%s", word);
			continue;
		}
		snprintf(name, sizeof name, n > 1 ? "%s_%c" : "%s", what, axes[i]);
		if (!add_param(o, name, numbers_only ? "threads per block" : "blocks in the grid",
		               PARAM_LAUNCH, v, 1, most[numbers_only][i], &size[i].param, err))
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
		if (!is_word_char(word[0]) || isdigit((unsigned char)word[0]) ||
		    (equals && !parse_int(equals + 1, &v))) {
			err_set(err, ERR_USAGE, "option '--define': '%s' is not of the form NAME=number",
			        o->spec.define);
			return err_remedy(err, "for example --define TILE=16,RADIUS=3");
		}
		if (!add_param(o, word, "macro", PARAM_COMPILE, v, INT32_MIN, INT32_MAX, &index, err))
			return false;
	}
	return true;
}

/* --- arguments --- */

static bool whole_contents(const struct user_arg *a, struct err *err)
{
	const bool real = a->elem == ELEM_F32 || a->elem == ELEM_F64 || a->elem == ELEM_F16;
	const double v = a->buffer.value;
	const double low = a->elem == ELEM_I32 ? INT32_MIN : 0;
	const double high = a->elem == ELEM_I32 ? INT32_MAX : a->elem == ELEM_U32 ? UINT32_MAX : 255;
	if (real || a->buffer.init != INIT_VALUE || (v >= low && v <= high && v == floor(v)))
		return true;
	return err_set(err, ERR_USAGE,
	               "argument '%s': %s holds whole numbers from %.0f to %.0f, not %g",
	               a->param->name, elem_name(a->elem), low, high, v);
}

static bool read_buffer_arg(struct user_family *o, struct user_arg *a, struct err *err)
{
	const struct user_param *p = a->param;
	struct user_buffer *b = &a->buffer;
	a->is_buffer = true;
	if (!user_is_buffer(a->words)) {
		err_set(err, ERR_USAGE, "argument '%s' is '%s', a buffer: '%s' gives no size", p->name,
		        p->type, a->words);
		return err_remedy(err, "for example %s=f32[%s]:rand", p->name,
		                  o->desc.n_params ? o->desc.params[0].name : "1024");
	}
	if (!user_read_buffer(p->name, a->words, b, err))
		return false;
	if (!b->typed && !p->known)
		return err_set(err, ERR_USAGE, "argument '%s': say which type '%s' is: %s=f32%s", p->name,
		               p->type, p->name, strchr(a->words, '['));
	a->elem = b->typed ? b->type : p->elem;
	if (b->typed && p->known && elem_size(b->type) != elem_size(p->elem))
		return err_set(err, ERR_USAGE, "argument '%s' is '%s' in %s, not %s", p->name, p->type,
		               o->file, elem_name(b->type));
	if (b->init == INIT_OUT && p->is_const)
		return err_set(err, ERR_USAGE, "argument '%s' is '%s': the kernel cannot write it", p->name,
		               p->type);
	if (b->init == INIT_DEFAULT)
		b->init = p->is_const ? INIT_RAND : INIT_VALUE;
	return whole_contents(a, err);
}

static bool read_number_arg(struct user_family *o, struct user_arg *a, struct err *err)
{
	const struct user_param *p = a->param;
	char what[80], bare[80], *end;
	int64_t v;
	snprintf(what, sizeof what, "argument '%s'", p->name);
	snprintf(bare, sizeof bare, "%.70s", p->type);
	a->number = -1;
	if (user_is_buffer(a->words))
		return err_set(err, ERR_USAGE, "%s is '%s', a number, no buffer", what, p->type);
	if (strstr(bare, "double") || (p->known && p->kind == ARG_F32)) {
		const double d = strtod(a->words, &end);
		if (end == a->words || *end)
			return err_set(err, ERR_USAGE, "%s: '%s' is no number", what, a->words);
		if (p->known) {
			a->fixed = (struct kernel_arg){ .kind = ARG_F32, .f32 = (float)d };
		} else { /* eight bytes are eight bytes */
			a->fixed = (struct kernel_arg){ .kind = ARG_I64 };
			memcpy(&a->fixed.i64, &d, sizeof d);
		}
		return true;
	}
	if (!p->known) {
		err_set(err, ERR_UNSUPPORTED, "%s: a parameter of type '%s' cannot be given here", what,
		        p->type);
		return err_remedy(err, "pass pointers, float, double, and whole numbers of 4 or 8 bytes");
	}
	int64_t defaults[KERNEL_MAX_PARAMS];
	kernel_defaults(&o->desc, defaults);
	const struct user_env e = { o, defaults };
	if (!user_value(&e, a->words, what, &v, err))
		return false;
	const int64_t min = p->kind == ARG_I32 ? INT32_MIN : p->kind == ARG_U32 ? 0 : INT64_MIN + 1;
	const int64_t max = p->kind == ARG_I32   ? INT32_MAX
	                    : p->kind == ARG_U32 ? UINT32_MAX
	                                         : INT64_MAX;
	if (v < min || v > max)
		return err_set(err, ERR_USAGE, "%s: %lld does not fit into '%s'", what, (long long)v,
		               p->type);
	return add_param(o, p->name, "argument of the kernel", PARAM_LAUNCH, v, min, max, &a->number,
	                 err);
}

const char *user_words_for(const struct user_spec *spec, const char *name)
{
	const size_t n = strlen(name);
	for (unsigned i = 0; i < spec->n_args; i++)
		if (!strncmp(spec->args[i], name, n) && spec->args[i][n] == '=')
			return spec->args[i] + n + 1;
	return NULL;
}

bool user_check_words(const struct user_family *o, struct err *err)
{
	const char *names[KERNEL_MAX_ARGS];
	for (unsigned k = 0; k < o->kernel->n_params; k++)
		names[k] = o->kernel->params[k].name;
	for (unsigned i = 0; i < o->spec.n_args; i++) {
		char name[64], signature[600];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(o->spec.args[i], "="), o->spec.args[i]);
		bool known = false;
		for (unsigned k = 0; k < o->kernel->n_params; k++)
			known |= !strcmp(names[k], name);
		if (known && strchr(o->spec.args[i], '='))
			continue;
		const char *near = str_nearest(name, names, o->kernel->n_params);
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

/* Numbers first, in the signature's order, so that sizes may use all of them. */
static bool read_args(struct user_family *o, struct err *err)
{
	unsigned buffers = 0;
	for (int pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < o->kernel->n_params; i++) {
			struct user_arg *a = &o->args[i];
			a->param = &o->kernel->params[i];
			a->words = user_words_for(&o->spec, a->param->name);
			if (a->param->pointer != (pass == 1))
				continue;
			if (!(pass ? read_buffer_arg(o, a, err) : read_number_arg(o, a, err)))
				return false;
			if (pass && ++buffers > KERNEL_MAX_BUFFERS)
				return err_set(err, ERR_UNSUPPORTED, "%s: more than %d buffers", o->file,
				               KERNEL_MAX_BUFFERS);
		}
	return true;
}

/* --- all of it --- */

static bool check_below(const struct user_family *o, const int64_t *params, struct err *err)
{
	const struct user_env e = { o, params };
	for (unsigned i = 0; i < o->kernel->n_params; i++) {
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
	if (!user_check_words(o, err) || !read_args(o, err) ||
	    !add_dims(o, "block", o->spec.block, o->block, true, err) ||
	    !add_dims(o, "grid", o->spec.grid, o->grid, false, err))
		return false;
	o->shared = (struct user_size){ .param = -1 };
	if (o->spec.shared && parse_int(o->spec.shared, &bytes)) {
		if (!add_param(o, "shared", "bytes of dynamic shared memory", PARAM_LAUNCH, bytes, 0,
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

/*
 * Builds a kernel family from a file and the words of a launch; see own_file.h.
 *
 * Parameters of the family: the kernel's whole numbers, block size, what of grid and shared memory
 * is a plain number, and macros. Everything else is worked out from them for each launch.
 */
#include "own_file.h"
#include "own_source.h"
#include "own_words.h"

#include "base/file.h"
#include "base/mem.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)4 << 20)

/* One argument of the kernel. */
struct own_arg {
	const struct own_param *param;
	const char *words;        /* behind the '='; NULL = not given */
	int number;               /* index of the family's parameter, -1 = fixed */
	struct kernel_arg fixed;
	struct own_buffer buffer; /* of a pointer */
	enum elem_type elem;
	bool is_buffer;
};

/* A number that is a parameter (index) or worked out (expression). */
struct own_size {
	int param;
	char text[64];
};

struct own {
	struct kernel_desc desc;
	struct variant_desc variant;
	struct param_desc params[KERNEL_MAX_PARAMS];
	struct own_spec spec;
	struct own_source source;
	const struct own_kernel *kernel;
	char name[64], file[128], names[400];
	char text[KERNEL_MAX_PARAMS][40]; /* names of parameters */
	struct own_arg args[KERNEL_MAX_ARGS];
	struct own_size block[3], grid[3], shared;
	struct own *older;
};
static struct own *newest; /* every version, kept to the end */

/* --- one launch ---------------------------------------------------------------------------------- */

struct env {
	const struct own *own;
	const int64_t *params;
};

static bool find_name(const void *ctx, const char *name, int64_t *value)
{
	const struct env *e = ctx;
	const struct kernel_desc *d = &e->own->desc;
	for (unsigned i = 0; i < d->n_params; i++)
		if (!strcmp(d->params[i].name, name)) {
			*value = e->params[i];
			return true;
		}
	if (!strcmp(name, "block"))
		return find_name(ctx, "block_x", value);
	return false;
}

static bool evaluate(const struct env *e, const char *text, const char *what, int64_t *v, struct err *err)
{
	const struct own_names names = { find_name, e, e->own->names };
	return own_evaluate(text, what, &names, v, err);
}

static bool size_of(const struct env *e, const struct own_size *s, const char *what, int64_t least,
                    int64_t most, uint32_t *out, struct err *err)
{
	int64_t v = least;
	if (s->param >= 0)
		v = e->params[s->param];
	else if (s->text[0] && !evaluate(e, s->text, what, &v, err))
		return false;
	if (v < least || v > most)
		return err_set(err, ERR_USAGE, "%s: '%s' is %lld; it must be from %lld to %lld", what,
		               s->text[0] ? s->text : what, (long long)v, (long long)least, (long long)most);
	*out = (uint32_t)v;
	return true;
}

static bool dims(const struct env *e, const struct own_size s[3], const char *what, struct dim3u *out,
                 struct err *err)
{
	return size_of(e, &s[0], what, 1, 0x7fffffff, &out->x, err) &&
	       size_of(e, &s[1], what, 1, 0x7fffffff, &out->y, err) &&
	       size_of(e, &s[2], what, 1, 0x7fffffff, &out->z, err);
}

static bool plan_buffer(const struct env *e, const struct own_arg *a, struct buffer_plan *b,
                        struct err *err)
{
	char what[80];
	int64_t rows, cols = 1;
	snprintf(what, sizeof what, "argument '%s'", a->param->name);
	if (!evaluate(e, a->buffer.count, what, &rows, err) ||
	    (a->buffer.cols[0] && !evaluate(e, a->buffer.cols, what, &cols, err)))
		return false;
	int64_t count;
	if (rows < 1 || cols < 1 || __builtin_mul_overflow(rows, cols, &count) || count > (int64_t)1 << 36)
		return err_set(err, ERR_USAGE, "%s: %lld x %lld elements are no possible size", what,
		               (long long)rows, (long long)cols);
	const bool out = a->buffer.init == INIT_OUT;
	*b = (struct buffer_plan){
		.name = a->param->name, .type = a->elem, .count = (size_t)count,
		.role = out ? BUF_OUT : a->param->is_const ? BUF_IN : BUF_INOUT,
	};
	if (a->buffer.cols[0] && rows <= UINT32_MAX && cols <= UINT32_MAX) {
		b->rows = (uint32_t)rows;
		b->cols = (uint32_t)cols;
	}
	return true;
}

static struct kernel_arg number_arg(const struct own_param *p, int64_t v)
{
	struct kernel_arg a = { .kind = p->kind };
	if (p->kind == ARG_I32)
		a.i32 = (int32_t)v;
	else if (p->kind == ARG_U32)
		a.u32 = (uint32_t)v;
	else
		a.i64 = v;
	return a;
}

static bool plan_own(const struct kernel_desc *k, const int64_t *params, struct launch_plan *plan,
                     struct err *err)
{
	const struct own *o = k->own;
	const struct env e = { o, params };
	plan->own = o;
	plan->entry = o->variant.entry;
	if (!dims(&e, o->block, "block", &plan->block, err) || !dims(&e, o->grid, "grid", &plan->grid, err) ||
	    !size_of(&e, &o->shared, "shared", 0, 1 << 20, &plan->dynamic_shared_bytes, err))
		return false;
	for (unsigned i = 0; i < o->kernel->n_params; i++) {
		const struct own_arg *a = &o->args[i];
		struct kernel_arg *to = &plan->args[plan->n_args++];
		if (a->is_buffer) {
			*to = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = plan->n_buffers };
			if (!plan_buffer(&e, a, &plan->buffers[plan->n_buffers++], err))
				return false;
		} else {
			*to = a->number >= 0 ? number_arg(a->param, params[a->number]) : a->fixed;
		}
	}
	return kernel_launch_legal(plan, err);
}

/* The argument that buffer @b of a plan is. */
static const struct own_arg *arg_of(const struct own *o, unsigned b)
{
	const struct own_arg *a = o->args;
	for (; !a->is_buffer || b; a++)
		b -= a->is_buffer;
	return a;
}

static void fill_own(const struct launch_plan *plan, const int64_t *params, unsigned b, uint64_t seed,
                     void *data)
{
	const struct own *o = plan->own;
	const struct own_arg *a = arg_of(o, b);
	const struct env e = { o, params };
	int64_t below = 0;
	if (a->buffer.below[0] && !evaluate(&e, a->buffer.below, "rand", &below, NULL))
		below = 0; /* was checked when the family was made */
	own_fill(&a->buffer, plan->buffers[b].type, plan->buffers[b].count, below, seed + b, data);
}

/* What a kernel of a person's own computes is not known; that it reads what has contents and writes what
 * it may is taken from the arguments. */
static void cost_own(unsigned variant, const struct launch_plan *plan, const int64_t *params,
                     struct kernel_cost *cost)
{
	(void)variant;
	(void)params;
	*cost = (struct kernel_cost){ 0 };
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const struct buffer_plan *p = &plan->buffers[b];
		const bool both = p->role == BUF_INOUT && arg_of(plan->own, b)->buffer.init != INIT_VALUE;
		cost->min_bytes += (both ? 2.0 : 1.0) * (double)p->count * (double)elem_size(p->type);
	}
}

/* --- the family's parameters ------------------------------------------------------------------------- */

static bool add_param(struct own *o, const char *name, const char *title, enum param_kind kind, int64_t def,
                      int64_t min, int64_t max, int *index, struct err *err)
{
	struct kernel_desc *d = &o->desc;
	for (unsigned i = 0; i < d->n_params; i++)
		if (!strcmp(d->params[i].name, name))
			return err_set(err, ERR_USAGE, "%s: '%s' names two things: rename one of them", o->file,
			               name);
	if (d->n_params == KERNEL_MAX_PARAMS)
		return err_set(err, ERR_USAGE, "%s: more than %d numbers to choose", o->file, KERNEL_MAX_PARAMS);
	const unsigned i = d->n_params++;
	snprintf(o->text[i], sizeof o->text[i], "%s", name);
	o->params[i] = (struct param_desc){
		.name = o->text[i], .title = title, .unit = "", .kind = kind, .def = def, .min = min, .max = max,
	};
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
static bool add_dims(struct own *o, const char *what, const char *words, struct own_size size[3],
                     bool numbers_only, struct err *err)
{
	static const char axes[] = "xyz";
	static const int64_t most[2][3] = { { 0x7fffffff, 65535, 65535 }, { 1024, 1024, 64 } };
	const unsigned n = words_in(words);
	if (n > 3)
		return err_set(err, ERR_USAGE, "option '--%s': '%s' has more than three sizes", what, words);
	for (unsigned i = 0; i < 3; i++) {
		char name[16], word[64];
		int64_t v;
		size[i] = (struct own_size){ .param = -1 };
		if (!nth_word(words, i, word, sizeof word)) {
			if (i < n)
				return err_set(err, ERR_USAGE, "option '--%s': '%s' is too long", what, words);
			continue;
		}
		if (!parse_int(word, &v)) {
			if (numbers_only)
				return err_set(err, ERR_USAGE, "option '--%s': '%s' is no whole number", what, word);
			snprintf(size[i].text, sizeof size[i].text, "%s", word);
			continue;
		}
		snprintf(name, sizeof name, n > 1 ? "%s_%c" : "%s", what, axes[i]);
		if (!add_param(o, name, numbers_only ? "threads per block" : "blocks in the grid", PARAM_LAUNCH,
		               v, 1, most[numbers_only][i], &size[i].param, err))
			return false;
	}
	return true;
}

static bool add_macros(struct own *o, struct err *err)
{
	char word[64];
	for (unsigned i = 0; o->spec.define && nth_word(o->spec.define, i, word, sizeof word); i++) {
		char *equals = strchr(word, '=');
		int64_t v = 1;
		int index;
		if (equals)
			*equals = '\0';
		if (!word[0] || (equals && !parse_int(equals + 1, &v))) {
			err_set(err, ERR_USAGE, "option '--define': '%s' is not of the form NAME=number",
			        o->spec.define);
			return err_remedy(err, "for example --define TILE=16,RADIUS=3");
		}
		if (!add_param(o, word, "macro", PARAM_COMPILE, v, INT32_MIN, INT32_MAX, &index, err))
			return false;
	}
	return true;
}

/* --- arguments --------------------------------------------------------------------------------------- */

static bool whole_contents(const struct own_arg *a, struct err *err)
{
	const bool real = a->elem == ELEM_F32 || a->elem == ELEM_F64 || a->elem == ELEM_F16;
	const double v = a->buffer.value;
	const double low = a->elem == ELEM_I32 ? INT32_MIN : 0;
	const double high = a->elem == ELEM_I32 ? INT32_MAX : a->elem == ELEM_U32 ? UINT32_MAX : 255;
	if (real || a->buffer.init != INIT_VALUE || (v >= low && v <= high && v == floor(v)))
		return true;
	return err_set(err, ERR_USAGE, "argument '%s': %s holds whole numbers from %.0f to %.0f, not %g",
	               a->param->name, elem_name(a->elem), low, high, v);
}

static bool take_buffer(struct own *o, struct own_arg *a, struct err *err)
{
	const struct own_param *p = a->param;
	struct own_buffer *b = &a->buffer;
	a->is_buffer = true;
	if (!own_is_buffer(a->words)) {
		err_set(err, ERR_USAGE, "argument '%s' is '%s', a buffer: '%s' gives no size", p->name, p->type,
		        a->words);
		return err_remedy(err, "for example %s=f32[%s]:rand", p->name,
		                  o->desc.n_params ? o->desc.params[0].name : "1024");
	}
	if (!own_read_buffer(p->name, a->words, b, err))
		return false;
	if (!b->typed && !p->known)
		return err_set(err, ERR_USAGE, "argument '%s': say which type '%s' is: %s=f32%s", p->name, p->type,
		               p->name, strchr(a->words, '['));
	a->elem = b->typed ? b->type : p->elem;
	if (b->typed && p->known && elem_size(b->type) != elem_size(p->elem))
		return err_set(err, ERR_USAGE, "argument '%s' is '%s' in %s, not %s", p->name, p->type, o->file,
		               elem_name(b->type));
	if (b->init == INIT_OUT && p->is_const)
		return err_set(err, ERR_USAGE, "argument '%s' is '%s': the kernel cannot write it", p->name,
		               p->type);
	if (b->init == INIT_DEFAULT)
		b->init = p->is_const ? INIT_RAND : INIT_VALUE;
	return whole_contents(a, err);
}

static bool take_number(struct own *o, struct own_arg *a, struct err *err)
{
	const struct own_param *p = a->param;
	char what[80], bare[80], *end;
	int64_t v;
	snprintf(what, sizeof what, "argument '%s'", p->name);
	snprintf(bare, sizeof bare, "%.70s", p->type);
	a->number = -1;
	if (own_is_buffer(a->words))
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
		err_set(err, ERR_UNSUPPORTED, "%s: a parameter of type '%s' cannot be given here", what, p->type);
		return err_remedy(err, "pass pointers, float, double, and whole numbers of 4 or 8 bytes");
	}
	int64_t defaults[KERNEL_MAX_PARAMS];
	kernel_defaults(&o->desc, defaults);
	const struct env e = { o, defaults };
	if (!evaluate(&e, a->words, what, &v, err))
		return false;
	const int64_t min = p->kind == ARG_I32 ? INT32_MIN : p->kind == ARG_U32 ? 0 : INT64_MIN + 1;
	const int64_t max = p->kind == ARG_I32 ? INT32_MAX : p->kind == ARG_U32 ? UINT32_MAX : INT64_MAX;
	if (v < min || v > max)
		return err_set(err, ERR_USAGE, "%s: %lld does not fit into '%s'", what, (long long)v, p->type);
	return add_param(o, p->name, "argument of the kernel", PARAM_LAUNCH, v, min, max, &a->number, err);
}

static const char *words_for(const struct own_spec *spec, const char *name)
{
	const size_t n = strlen(name);
	for (unsigned i = 0; i < spec->n_args; i++)
		if (!strncmp(spec->args[i], name, n) && spec->args[i][n] == '=')
			return spec->args[i] + n + 1;
	return NULL;
}

static bool check_words(const struct own *o, struct err *err)
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
		own_signature(o->kernel, signature, sizeof signature);
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
static bool take_args(struct own *o, struct err *err)
{
	unsigned buffers = 0;
	for (int pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < o->kernel->n_params; i++) {
			struct own_arg *a = &o->args[i];
			a->param = &o->kernel->params[i];
			a->words = words_for(&o->spec, a->param->name);
			if (a->param->pointer != (pass == 1))
				continue;
			if (!(pass ? take_buffer(o, a, err) : take_number(o, a, err)))
				return false;
			if (pass && ++buffers > KERNEL_MAX_BUFFERS)
				return err_set(err, ERR_UNSUPPORTED, "%s: more than %d buffers", o->file,
				               KERNEL_MAX_BUFFERS);
		}
	return true;
}

/* --- which kernel ------------------------------------------------------------------------------------ */

static bool find_kernel(struct own *o, struct err *err)
{
	const struct own_source *s = &o->source;
	unsigned able = 0;
	for (unsigned i = 0; i < s->n_kernels; i++)
		if (!s->kernels[i].why_not[0] && able++ == 0)
			o->kernel = &s->kernels[i];
	if (!s->n_kernels) {
		err_set(err, ERR_USAGE, "%s: there is no __global__ function in this file", o->spec.path);
		return false;
	}
	if (o->spec.kernel) {
		o->kernel = own_source_find(s, o->spec.kernel);
		char what[160];
		snprintf(what, sizeof what, "there is no kernel '%.100s'; there are:", o->spec.kernel);
		if (!o->kernel)
			return own_usage(&o->source, o->spec.path, NULL, what, err);
	} else if (able != 1) {
		return own_usage(&o->source, o->spec.path, NULL,
		                 able ? "which kernel? There are:" : "no kernel can be launched:", err);
	}
	if (o->kernel->why_not[0])
		return err_set(err, ERR_UNSUPPORTED, "%s:%u: kernel '%s' cannot be launched by name: %s", o->file,
		               o->kernel->line, o->kernel->name, o->kernel->why_not);
	if (!o->spec.grid || !o->spec.block)
		return own_usage(s, o->spec.path, o->kernel,
		                 !o->spec.grid ? "the launch is not said: --grid is missing"
		                               : "the launch is not said: --block is missing", err);
	for (unsigned i = 0; i < o->kernel->n_params; i++) {
		char what[120];
		snprintf(what, sizeof what, "argument '%s' is missing", o->kernel->params[i].name);
		if (!words_for(&o->spec, o->kernel->params[i].name))
			return check_words(o, err) && own_usage(s, o->spec.path, o->kernel, what, err);
	}
	return true;
}

/* --- making ---------------------------------------------------------------------------------------------- */

static void set_names(struct own *o)
{
	const char *slash = strrchr(o->spec.path, '/'), *base = slash ? slash + 1 : o->spec.path;
	snprintf(o->file, sizeof o->file, "%.120s", base);
	snprintf(o->name, sizeof o->name, "%.*s", (int)(strlen(base) < 53 ? strlen(base) - 3 : 50), base);
	const struct kernel_desc *taken = kernel_find(o->name);
	if (taken && !taken->own) /* a name of this program */
		snprintf(o->name, sizeof o->name, "own_%.*s", (int)(strlen(base) < 53 ? strlen(base) - 3 : 50),
		         base);
}

static void describe(struct own *o)
{
	o->variant = (struct variant_desc){
		.name = o->kernel->name, .entry = o->kernel->name, .title = "a kernel of your own",
		.idea = "a kernel of your own, launched as the command line says", .section = o->file, .seeds = "",
	};
	struct kernel_desc *d = &o->desc;
	d->name = o->name;
	d->title = o->file;
	d->section = "your file";
	d->about = "A kernel of your own. Edit the file and press r: it is read and compiled again.";
	d->n_variants = 1;
	d->variants = &o->variant;
	d->params = o->params;
	d->fill = fill_own;
	d->cost = cost_own;
	d->source = o->source.shown;
	d->file = o->file;
	d->device_source = o->source.device;
	d->own = o;
	d->plan_own = plan_own;
}

static bool check_below(const struct own *o, const int64_t *params, struct err *err)
{
	const struct env e = { o, params };
	for (unsigned i = 0; i < o->kernel->n_params; i++) {
		const struct own_arg *a = &o->args[i];
		char what[80];
		int64_t v;
		snprintf(what, sizeof what, "argument '%s'", a->param->name);
		if (!a->is_buffer || !a->buffer.below[0])
			continue;
		if (!evaluate(&e, a->buffer.below, what, &v, err))
			return false;
		if (v < 1)
			return err_set(err, ERR_USAGE, "%s: rand(%s): there is nothing below %lld", what,
			               a->buffer.below, (long long)v);
	}
	return true;
}

static bool build(struct own *o, struct err *err)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	describe(o);
	if (!check_words(o, err) || !take_args(o, err) ||
	    !add_dims(o, "block", o->spec.block, o->block, true, err) ||
	    !add_dims(o, "grid", o->spec.grid, o->grid, false, err))
		return false;
	o->shared = (struct own_size){ .param = -1 };
	int64_t bytes;
	if (o->spec.shared && parse_int(o->spec.shared, &bytes)) {
		if (!add_param(o, "shared", "bytes of dynamic shared memory", PARAM_LAUNCH, bytes, 0, 227 << 10,
		               &o->shared.param, err))
			return false;
	} else if (o->spec.shared) {
		if (strlen(o->spec.shared) >= sizeof o->shared.text)
			return err_set(err, ERR_USAGE, "option '--shared' is too long");
		snprintf(o->shared.text, sizeof o->shared.text, "%s", o->spec.shared);
	}
	if (!add_macros(o, err))
		return false;
	kernel_defaults(&o->desc, params);
	return plan_own(&o->desc, params, &plan, err) && check_below(o, params, err);
}

static bool make(const struct own_spec *spec, const char *text, struct own **out, struct err *err)
{
	struct own *o = mem_zalloc(sizeof *o);
	o->spec = *spec;
	set_names(o);
	own_source_scan(text, &o->source);
	if (!find_kernel(o, err) || !build(o, err)) {
		own_source_free(&o->source);
		free(o);
		return false;
	}
	o->older = newest;
	newest = o;
	*out = o;
	kernel_set_own(&o->desc);
	return true;
}

bool own_file_named(const char *word)
{
	const size_t n = strlen(word);
	return n > 3 && str_ieq(word + n - 3, ".cu");
}

bool own_file_load(const struct own_spec *spec, const struct kernel_desc **out, struct err *err)
{
	struct text text = { 0 };
	struct own *o = NULL;
	if (!file_read(spec->path, MAX_FILE_BYTES, &text, err))
		return false;
	const bool ok = make(spec, text.s ? text.s : "", &o, err);
	text_free(&text);
	if (ok)
		*out = &o->desc;
	return ok;
}

bool own_file_reload(const struct kernel_desc *k, const struct kernel_desc **out, struct err *err)
{
	const struct own *o = k->own;
	struct own_spec spec;
	struct text text = { 0 };
	*out = k;
	if (!o)
		return true;
	spec = o->spec;
	spec.kernel = o->kernel->name;
	if (!file_read(spec.path, MAX_FILE_BYTES, &text, err))
		return false;
	struct own *now = NULL;
	bool ok = true;
	if (strcmp(text.s ? text.s : "", o->source.shown) != 0) {
		ok = make(&spec, text.s ? text.s : "", &now, err);
		if (ok)
			*out = &now->desc;
	}
	text_free(&text);
	return ok;
}

/* Launches of a family made of a person's own file: sizes worked out, buffers filled. */
#include "userkernel/user_family.h"

#include <stdio.h>
#include <string.h>

static bool find_name(const void *ctx, const char *name, int64_t *value)
{
	const struct user_env *e = ctx;
	const struct kernel_desc *d = &e->family->desc;
	for (unsigned i = 0; i < d->n_params; i++)
		if (!strcmp(d->params[i].name, name)) {
			*value = e->params[i];
			return true;
		}
	return !strcmp(name, "block") && find_name(ctx, "block_x", value);
}

bool user_value(const struct user_env *e, const char *text, const char *what, int64_t *v,
                struct err *err)
{
	const struct user_names names = { find_name, e, e->family->names };
	return user_evaluate(text, what, &names, v, err);
}

static bool plan_size(const struct user_env *e, const struct user_size *s, const char *what,
                      int64_t least, int64_t most, uint32_t *out, struct err *err)
{
	int64_t v = least;
	if (s->param >= 0)
		v = e->params[s->param];
	else if (s->text[0] && !user_value(e, s->text, what, &v, err))
		return false;
	if (v < least || v > most)
		return err_set(err, ERR_USAGE, "%s: '%s' is %lld; it must be from %lld to %lld", what,
		               s->text[0] ? s->text : what, (long long)v, (long long)least,
		               (long long)most);
	*out = (uint32_t)v;
	return true;
}

static bool plan_dims(const struct user_env *e, const struct user_size s[3], const char *what,
                      struct dim3u *out, struct err *err)
{
	return plan_size(e, &s[0], what, 1, 0x7fffffff, &out->x, err) &&
	       plan_size(e, &s[1], what, 1, 0x7fffffff, &out->y, err) &&
	       plan_size(e, &s[2], what, 1, 0x7fffffff, &out->z, err);
}

/* May the kernel write to the buffer of @a, by its own pointer or by another one into it? */
static bool is_written(const struct user_env *e, const struct user_arg *a)
{
	bool written = !a->param->is_const;
	for (unsigned i = 0; i < e->family->n_args; i++) {
		const struct user_arg *other = &e->family->args[i];
		written |=
			other->alias >= 0 && &e->family->args[other->alias] == a && !other->param->is_const;
	}
	return written;
}

static bool plan_buffer(const struct user_env *e, const struct user_arg *a, struct buffer_plan *b,
                        struct err *err)
{
	char what[80];
	int64_t rows = (int64_t)a->file.count, cols = 1;
	snprintf(what, sizeof what, "argument '%s'", a->param->name);
	if ((a->buffer.count[0] && !user_value(e, a->buffer.count, what, &rows, err)) ||
	    (a->buffer.cols[0] && !user_value(e, a->buffer.cols, what, &cols, err)))
		return false;
	int64_t count;
	if (rows < 1 || cols < 1 || __builtin_mul_overflow(rows, cols, &count) ||
	    count > (int64_t)1 << 36)
		return err_set(err, ERR_USAGE, "%s: %lld x %lld elements are no possible size", what,
		               (long long)rows, (long long)cols);
	if (a->buffer.init == INIT_FILE && count > (int64_t)a->file.count)
		return err_set(err, ERR_USAGE, "%s: %s has %zu elements, %lld are asked for", what,
		               a->buffer.file, a->file.count, (long long)count);
	const bool out = a->buffer.init == INIT_OUT;
	*b = (struct buffer_plan){
		.name = a->param->name,
		.type = a->elem,
		.count = (size_t)count,
		.role = out                ? BUF_OUT
		        : is_written(e, a) ? BUF_INOUT
		                           : BUF_IN,
		.variable = a->variable,
	};
	if (!a->buffer.count[0] && a->file.cols && a->file.cols <= UINT32_MAX) {
		b->cols = (uint32_t)a->file.cols;
		b->rows = (uint32_t)((size_t)count / a->file.cols);
	}
	if (a->buffer.cols[0] && rows <= UINT32_MAX && cols <= UINT32_MAX) {
		b->rows = (uint32_t)rows;
		b->cols = (uint32_t)cols;
	}
	return true;
}

static struct kernel_arg number_arg(const struct user_param *p, int64_t v)
{
	struct kernel_arg a = { .kind = p->kind, .size = p->kind == ARG_I64 ? p->bytes : 0 };
	if (p->kind == ARG_I32)
		a.i32 = (int32_t)v;
	else if (p->kind == ARG_U32)
		a.u32 = (uint32_t)v;
	else
		a.i64 = v;
	return a;
}

/* The buffer's number that argument @i is. */
static unsigned buffer_of(const struct user_family *o, unsigned i)
{
	unsigned b = 0;
	while (i--)
		b += o->args[i].is_buffer;
	return b;
}

static bool plan_pointer(const struct user_env *e, const struct user_arg *a, struct kernel_arg *to,
                         struct err *err)
{
	char what[80];
	int64_t by;
	snprintf(what, sizeof what, "argument '%s'", a->param->name);
	if (!user_value(e, a->offset, what, &by, err))
		return false;
	const struct user_arg *of = &e->family->args[a->alias];
	if (by < 0)
		return err_set(err, ERR_USAGE, "%s: %lld lies in front of '%s'", what, (long long)by,
		               of->param->name);
	*to = (struct kernel_arg){ .kind = ARG_BUFFER,
		                       .buffer = buffer_of(e->family, (unsigned)a->alias),
		                       .offset = (uint64_t)by * elem_size(of->elem) };
	return true;
}

bool user_plan(const struct kernel_desc *k, const int64_t *params, struct launch_plan *plan,
               struct err *err)
{
	const struct user_family *o = k->user;
	const struct user_env e = { o, params };
	plan->user = o;
	plan->entry = o->variant.entry;
	if (!plan_dims(&e, o->block, "block", &plan->block, err) ||
	    !plan_dims(&e, o->grid, "grid", &plan->grid, err) ||
	    !plan_size(&e, &o->shared, "shared", 0, 1 << 20, &plan->dynamic_shared_bytes, err))
		return false;
	for (unsigned i = 0; i < o->n_args; i++) {
		const struct user_arg *a = &o->args[i];
		if (a->variable) {
			if (!plan_buffer(&e, a, &plan->buffers[plan->n_buffers++], err))
				return false;
			continue;
		}
		struct kernel_arg *to = &plan->args[plan->n_args++];
		if (a->alias >= 0) {
			if (!plan_pointer(&e, a, to, err))
				return false;
		} else if (a->is_buffer) {
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
static const struct user_arg *arg_of(const struct user_family *o, unsigned b)
{
	const struct user_arg *a = o->args;
	for (; !a->is_buffer || b; a++)
		b -= a->is_buffer;
	return a;
}

void user_fill_buffer(const struct launch_plan *plan, const int64_t *params, unsigned b,
                      uint64_t seed, void *data)
{
	const struct user_family *o = plan->user;
	const struct user_arg *a = arg_of(o, b);
	const struct user_env e = { o, params };
	int64_t below = 0;
	if (a->buffer.init == INIT_FILE) {
		memcpy(data, a->file.data, plan->buffers[b].count * elem_size(plan->buffers[b].type));
		return;
	}
	if (a->buffer.below[0] && !user_value(&e, a->buffer.below, "rand", &below, NULL))
		below = 0; /* was checked when the family was made */
	user_fill(&a->buffer, plan->buffers[b].type, plan->buffers[b].count, below, seed + b, data);
}

/* Nobody knows what a person's own kernel computes. The arguments say what it can read and write;
 * that it does both once is assumed. */
void user_cost(unsigned variant, const struct launch_plan *plan, const int64_t *params,
               struct kernel_cost *cost)
{
	(void)variant;
	(void)params;
	*cost = (struct kernel_cost){ 0 };
	for (unsigned b = 0; b < plan->n_buffers; b++) {
		const struct buffer_plan *p = &plan->buffers[b];
		const bool both = p->role == BUF_INOUT && arg_of(plan->user, b)->buffer.init != INIT_VALUE;
		cost->min_bytes += (both ? 2.0 : 1.0) * (double)p->count * (double)elem_size(p->type);
	}
}

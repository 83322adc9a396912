/*
 * Helpers of kernel files: refusing impossible launches, deterministic inputs, comparing with a
 * reference, and parameters in the person's words. See kernel.h.
 * Knows no particular kernel, device or back end. Limits: CUDA C++ Programming Guide, table
 * "Technical Specifications per Compute Capability".
 */
#include "model/kernel.h"
#include "base/parallel.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BLOCK_THREADS 1024u
#define MAX_BLOCK_Z 64u
#define MAX_GRID_X 0x7fffffffu
#define MAX_GRID_YZ 65535u
/* The largest of any sheet: 227 KiB, compute capability 9.0 and 10.0. What one GPU allows is
 * occupancy's business: there it is a result ("cannot launch"), not an error of the plan. */
#define MAX_SHARED_BYTES (227u * 1024u)
#define GUIDE "(CUDA guide, technical specifications)"

static const struct {
	size_t size;
	const char *name;
} elems[] = {
	[ELEM_F32] = { 4, "f32" }, [ELEM_F64] = { 8, "f64" }, [ELEM_F16] = { 2, "f16" },
	[ELEM_I32] = { 4, "i32" }, [ELEM_U32] = { 4, "u32" }, [ELEM_U8] = { 1, "u8" },
	[ELEM_I8] = { 1, "i8" },   [ELEM_I16] = { 2, "i16" }, [ELEM_U16] = { 2, "u16" },
	[ELEM_I64] = { 8, "i64" }, [ELEM_U64] = { 8, "u64" }, [ELEM_BF16] = { 2, "bf16" },
};
_Static_assert(ARRAY_LEN(elems) == ELEM_TYPES, "a size and a name each");

const int64_t kernel_block_steps[] = { 32, 64, 128, 256, 512, 1024, INT64_MIN };
const int64_t kernel_side_steps[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, INT64_MIN };

size_t elem_size(enum elem_type type)
{
	assert((unsigned)type < ARRAY_LEN(elems));
	return elems[type].size;
}

const char *elem_name(enum elem_type type)
{
	assert((unsigned)type < ARRAY_LEN(elems));
	return elems[type].name;
}

bool elem_is_real(enum elem_type type)
{
	return type == ELEM_F32 || type == ELEM_F64 || type == ELEM_F16 || type == ELEM_BF16;
}

bool elem_find(const char *name, enum elem_type *out)
{
	for (unsigned i = 0; i < ELEM_TYPES; i++)
		if (!strcmp(name, elems[i].name)) {
			*out = (enum elem_type)i;
			return true;
		}
	return false;
}

bool kernel_refuse(struct err *err, const char *param, int64_t value, const char *fmt, ...)
{
	char reason[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(reason, sizeof reason, fmt, ap);
	va_end(ap);
	return err_set(err, ERR_USAGE, "parameter '%s': %" PRId64 ": %s", param, value, reason);
}

static bool dim_legal(const char *what, const char *axis, uint32_t value, uint32_t max,
                      struct err *err)
{
	if (value == 0)
		return kernel_refuse(err, what, 0, "the %s has no extent in %s; the least is 1", what,
		                     axis);
	if (value > max)
		return kernel_refuse(err, what, value, "a %s has at most %u in %s " GUIDE, what, max, axis);
	return true;
}

bool kernel_launch_legal(const struct launch_plan *plan, struct err *err)
{
	const struct dim3u b = plan->block;
	const struct dim3u g = plan->grid;
	const char *remedy = "choose a block of at most 1024 threads, in whole warps of 32";

	/* Threads first: it is the limit that people meet. Factors are capped so that the product
	 * of three 32-bit numbers cannot overflow unnoticed. */
	const uint64_t cap = 1u << 20;
	uint64_t threads = (b.x < cap ? b.x : cap) * (uint64_t)(b.y < cap ? b.y : cap);
	threads = (threads < cap ? threads : cap) * (b.z < cap ? b.z : cap);
	if (threads > MAX_BLOCK_THREADS) {
		if (b.y == 1 && b.z == 1)
			kernel_refuse(err, "block", b.x, "a block has at most 1024 threads " GUIDE);
		else
			err_set(err, ERR_USAGE,
			        "parameter 'block': %" PRIu32 " x %" PRIu32 " x %" PRIu32
			        ": a block has at most 1024 threads " GUIDE,
			        b.x, b.y, b.z);
		return err_remedy(err, "%s", remedy);
	}
	if (!dim_legal("block", "x", b.x, MAX_BLOCK_THREADS, err) ||
	    !dim_legal("block", "y", b.y, MAX_BLOCK_THREADS, err) ||
	    !dim_legal("block", "z", b.z, MAX_BLOCK_Z, err))
		return err_remedy(err, "%s", remedy);
	if (!dim_legal("grid", "x", g.x, MAX_GRID_X, err) ||
	    !dim_legal("grid", "y", g.y, MAX_GRID_YZ, err) ||
	    !dim_legal("grid", "z", g.z, MAX_GRID_YZ, err))
		return err_remedy(err, "choose a smaller problem or a larger block");
	if (plan->dynamic_shared_bytes > MAX_SHARED_BYTES) {
		kernel_refuse(err, "shared", plan->dynamic_shared_bytes,
		              "a block has at most %u bytes of shared memory on any GPU " GUIDE,
		              MAX_SHARED_BYTES);
		return err_remedy(err, "choose a smaller tile");
	}
	if (plan->n_buffers > KERNEL_MAX_BUFFERS || plan->n_args > KERNEL_MAX_ARGS || !plan->entry)
		return err_set(err, ERR_INTERNAL,
		               "launch plan of '%s': %u buffers and %u arguments; at most %d and %d",
		               plan->entry ? plan->entry : "?", plan->n_buffers, plan->n_args,
		               KERNEL_MAX_BUFFERS, KERNEL_MAX_ARGS);
	for (unsigned i = 0; i < plan->n_args; i++)
		if (plan->args[i].kind == ARG_BUFFER && plan->args[i].buffer >= plan->n_buffers)
			return err_set(err, ERR_INTERNAL,
			               "launch plan of '%s': argument %u names buffer %u of %u", plan->entry, i,
			               plan->args[i].buffer, plan->n_buffers);
	for (unsigned i = 0; i < plan->n_buffers; i++)
		if (plan->buffers[i].count == 0)
			return err_set(err, ERR_INTERNAL, "launch plan of '%s': buffer '%s' has no element",
			               plan->entry, plan->buffers[i].name);
	return true;
}

bool kernel_sides_legal(int64_t x, int64_t y, struct err *err)
{
	if (x < 1 || x > MAX_BLOCK_THREADS)
		return kernel_refuse(err, "block_x", x, "a block side has 1 to 1024 threads");
	if (y < 1 || y > MAX_BLOCK_THREADS)
		return kernel_refuse(err, "block_y", y, "a block side has 1 to 1024 threads");
	if (x * y > MAX_BLOCK_THREADS)
		return kernel_refuse(err, "block_y", y,
		                     "block_x %" PRId64 " x block_y %" PRId64 " = %" PRId64
		                     " threads; a block has at most 1024",
		                     x, y, x * y);
	return true;
}

void kernel_product_args(struct launch_plan *plan, int64_t m, int64_t n, int64_t k,
                         bool b_by_columns)
{
	const struct kernel_arg args[] = {
		KERNEL_ARG_BUFFER(0), KERNEL_ARG_BUFFER(1), KERNEL_ARG_BUFFER(2),
		KERNEL_ARG_I32(m),    KERNEL_ARG_I32(n),    KERNEL_ARG_I32(k),
	};
	plan->n_buffers = 3;
	plan->buffers[0] = kernel_matrix("A", ELEM_F32, BUF_IN, m, k);
	plan->buffers[1] = b_by_columns ? kernel_matrix("B", ELEM_F32, BUF_IN, n, k)
	                                : kernel_matrix("B", ELEM_F32, BUF_IN, k, n);
	plan->buffers[2] = kernel_matrix("C", ELEM_F32, BUF_OUT, m, n);
	plan->n_args = ARRAY_LEN(args);
	memcpy(plan->args, args, sizeof args);
}

/* Fewer than this are done before a thread has begun. */
#define LEAST_OF_A_THREAD ((size_t)1 << 20)

struct uniform {
	float *out;
	uint64_t seed;
};

static void fill_range(void *ctx, unsigned number, size_t from, size_t to)
{
	const struct uniform *u = ctx;
	uint64_t state = rand_skip(u->seed, from);
	(void)number;
	for (size_t i = from; i < to; i++) {
		/* 24 random bits: every value is exact in float32. */
		int32_t k = (int32_t)(rand_next(&state) >> 40) - (1 << 23);
		u->out[i] = (float)k / (float)(1 << 23);
	}
}

void fill_uniform_f32(float *out, size_t n, uint64_t seed)
{
	struct uniform u = { out, seed };
	parallel_ranges(n, LEAST_OF_A_THREAD, fill_range, &u);
}

struct checked_parts {
	check_part *part;
	const void *ctx;
	struct check_result of[PARALLEL_MOST];
};

static void check_range(void *ctx, unsigned number, size_t from, size_t to)
{
	struct checked_parts *c = ctx;
	c->part(c->ctx, from, to, &c->of[number]);
}

void check_in_parts(size_t n, check_part *part, const void *ctx, struct check_result *r)
{
	struct checked_parts c = { .part = part, .ctx = ctx };
	parallel_ranges(n, LEAST_OF_A_THREAD, check_range, &c);
	for (unsigned i = 0; i < PARALLEL_MOST; i++) {
		const struct check_result *p = &c.of[i];
		if (p->max_rel_error > r->max_rel_error)
			r->max_rel_error = p->max_rel_error;
		if (p->rel_limit > r->rel_limit)
			r->rel_limit = p->rel_limit;
		if (p->errors && !r->errors) {
			r->first = p->first;
			r->buffer = p->buffer;
			r->got = p->got;
			r->want = p->want;
			r->tolerance = p->tolerance;
		}
		r->errors += p->errors;
	}
}

void check_close_f32(const float *got, const double *want, size_t n, double rel, double abs,
                     unsigned buffer, struct check_result *r)
{
	/* tolerance = rel*|want| + abs = rel * (|want| + abs/rel): the error is reported relative
	 * to that bracket, so that it is <= rel exactly where an element passes. */
	const double floor_ = rel > 0 ? abs / rel : 0;

	for (size_t i = 0; i < n; i++) {
		double g = (double)got[i];
		double error = g == want[i] ? 0 : fabs(g - want[i]);
		double tolerance = rel * fabs(want[i]) + abs;
		double scale = fabs(want[i]) + floor_;
		double relative = error == 0 ? 0 : scale > 0 ? error / scale : error;
		if (isfinite(relative) && relative > r->max_rel_error)
			r->max_rel_error = relative;
		if (error <= tolerance) /* false for NaN */
			continue;
		if (r->errors++ == 0) {
			r->first = i;
			r->buffer = buffer;
			r->got = g;
			r->want = want[i];
			r->tolerance = tolerance;
		}
	}
	r->rel_limit = rel;
	r->ok = r->errors == 0;
}

const char *kernel_file(const struct kernel_desc *k, char *buf, size_t n)
{
	if (k->file)
		return k->file;
	snprintf(buf, n, "%s.cu", k->name);
	return buf;
}

int kernel_param_index(const struct kernel_desc *k, const char *name)
{
	for (unsigned i = 0; i < k->n_params; i++)
		if (!strcmp(k->params[i].name, name))
			return (int)i;
	for (unsigned i = 0; i < k->n_params; i++)
		if (str_ieq(k->params[i].name, name))
			return (int)i;
	return -1;
}

int kernel_variant_index(const struct kernel_desc *k, const char *name)
{
	for (unsigned i = 0; i < k->n_variants; i++)
		if (str_ieq(k->variants[i].name, name))
			return (int)i;
	return -1;
}

static bool used(const struct param_desc *p, unsigned variant)
{
	return p->variants == 0 || (variant < 32 && (p->variants >> variant & 1));
}

bool kernel_param_used(const struct kernel_desc *k, unsigned variant, unsigned param)
{
	return used(&k->params[param], variant);
}

unsigned kernel_main_knob(const struct kernel_desc *k, unsigned variant)
{
	unsigned knob = k->n_params;
	for (unsigned i = k->n_params; i-- > 0;) {
		const enum param_role role = k->params[i].role;
		if (role == PARAM_PLAIN || !kernel_param_used(k, variant, i))
			continue;
		if (role == PARAM_BLOCK || knob == k->n_params || k->params[knob].role != PARAM_BLOCK)
			knob = i;
	}
	return knob < k->n_params ? knob : 0;
}

bool kernel_product(const struct kernel_desc *k, const int64_t *params, int64_t size[3])
{
	for (unsigned i = 0; k->product && i < 3; i++)
		size[i] = params[k->product[i]];
	return k->product != NULL;
}

void kernel_defaults(const struct kernel_desc *k, int64_t *params)
{
	for (unsigned i = 0; i < k->n_params; i++)
		params[i] = k->params[i].def;
}

static int choice_index(const int64_t *choices, int64_t value)
{
	for (int i = 0; choices[i] != INT64_MIN; i++)
		if (choices[i] == value)
			return i;
	return -1;
}

/* "32, 64, 128" or "row, column". */
static void list_choices(const struct param_desc *p, char *out, size_t n)
{
	size_t at = 0;
	out[0] = '\0';
	for (int i = 0; p->choices[i] != INT64_MIN && at < n; i++) {
		int len;
		if (p->words)
			len = snprintf(out + at, n - at, "%s%s", i ? ", " : "", p->words[i]);
		else
			len = snprintf(out + at, n - at, "%s%" PRId64, i ? ", " : "", p->choices[i]);
		at += len > 0 ? (size_t)len : 0;
	}
}

static bool legal(const struct param_desc *p, int64_t value)
{
	if (p->choices)
		return choice_index(p->choices, value) >= 0;
	return value >= p->min && value <= p->max;
}

static bool value_legal(const struct param_desc *p, int64_t value, struct err *err)
{
	char list[400];

	if (legal(p, value))
		return true;
	if (p->choices) {
		list_choices(p, list, sizeof list);
		kernel_refuse(err, p->name, value, "%s must be one of %s", p->title, list);
	} else {
		kernel_refuse(err, p->name, value, "%s must be from %" PRId64 " to %" PRId64, p->title,
		              p->min, p->max);
	}
	return err_remedy(err, "try %s=%" PRId64, p->name,
	                  p->choices       ? p->def
	                  : value < p->min ? p->min
	                                   : p->max);
}

bool kernel_param_legal(const struct kernel_desc *k, unsigned param, int64_t value, struct err *err)
{
	return value_legal(&k->params[param], value, err);
}

bool kernel_values_legal(const struct param_desc *params, unsigned n, unsigned variant,
                         const int64_t *values, struct err *err)
{
	for (unsigned i = 0; i < n; i++)
		if (used(&params[i], variant) && !value_legal(&params[i], values[i], err))
			return false;
	return true;
}

/* The nearest value of a list above (+1) or below (-1) @value that is legal; else @value. A value
 * of the list moves by place, so that lists need not ascend. */
static int64_t step_in_list(const struct param_desc *p, const int64_t *list, int64_t value, int dir)
{
	int at = choice_index(list, value);
	if (at >= 0) {
		for (at += dir; at >= 0 && list[at] != INT64_MIN; at += dir)
			if (legal(p, list[at]))
				return list[at];
		return value;
	}
	int64_t best = value;
	for (int i = 0; list[i] != INT64_MIN; i++) {
		bool beyond = dir > 0 ? list[i] > value : list[i] < value;
		bool nearer = best == value || (dir > 0 ? list[i] < best : list[i] > best);
		if (beyond && nearer && legal(p, list[i]))
			best = list[i];
	}
	return best;
}

/* Next power of two above or below @v, zero between 1 and -1, mirrored for negative values. */
static int64_t step_pow2(int64_t v, int dir)
{
	const int64_t top = (int64_t)1 << 62;
	int64_t power = 1;

	if (v == 0)
		return dir;
	if (v < 0)
		return v <= -top ? (dir > 0 ? -top / 2 : v) : -step_pow2(-v, -dir);
	if (dir > 0) {
		if (v >= top)
			return v;
		while (power <= v)
			power *= 2;
		return power;
	}
	if (v == 1)
		return 0;
	while (power * 2 < v && power < top)
		power *= 2;
	return power;
}

int64_t kernel_param_step(const struct kernel_desc *k, unsigned param, int64_t value, int direction)
{
	const struct param_desc *p = &k->params[param];
	const int64_t *list = p->steps ? p->steps : p->choices;
	int dir = direction < 0 ? -1 : 1;

	if (list)
		return step_in_list(p, list, value, dir);
	int64_t next = step_pow2(value, dir);
	if (next < p->min)
		next = value < p->min && dir < 0 ? value : p->min;
	if (next > p->max)
		next = value > p->max && dir > 0 ? value : p->max;
	return next;
}

bool kernel_param_parse(const struct kernel_desc *k, unsigned param, const char *text,
                        int64_t *value, struct err *err)
{
	const struct param_desc *p = &k->params[param];
	int64_t v;

	if (p->choices && p->words)
		for (int i = 0; p->choices[i] != INT64_MIN; i++)
			if (str_ieq(p->words[i], text)) {
				*value = p->choices[i];
				return true;
			}
	if (!parse_int(text, &v)) {
		if (p->choices) {
			char list[400];
			list_choices(p, list, sizeof list);
			return err_set(err, ERR_USAGE, "parameter '%s': '%.40s': %s must be one of %s", p->name,
			               text, p->title, list);
		}
		return err_set(
			err, ERR_USAGE,
			"parameter '%s': '%.40s': not a whole number (k, M, G stand for 2^10, 2^20, 2^30)",
			p->name, text);
	}
	if (!kernel_param_legal(k, param, v, err))
		return false;
	*value = v;
	return true;
}

void kernel_param_format(const struct kernel_desc *k, unsigned param, int64_t value, char *out,
                         size_t n)
{
	const struct param_desc *p = &k->params[param];
	int i = p->choices && p->words ? choice_index(p->choices, value) : -1;

	if (i >= 0)
		snprintf(out, n, "%s", p->words[i]);
	else
		snprintf(out, n, "%" PRId64, value);
}

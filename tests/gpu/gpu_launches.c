/* Launches of every kernel at a few points; see gpu_launches.h. */
#include "gpu_launches.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL(name) extern const struct kernel_desc kernel_##name;
#include "kernels.def"
#undef KERNEL
static const struct kernel_desc *const kernels[] = {
#define KERNEL(name) &kernel_##name,
#include "kernels.def"
#undef KERNEL
};

extern const struct kernel_desc kernel_keyed;
static const struct {
	const struct kernel_desc *desc;
	const char *file;
} extra[] = { { &kernel_keyed, "tests/gpu/families/keyed.cu" } };

const struct kernel_desc *launch_family(size_t i)
{
	if (i < ARRAY_LEN(kernels))
		return kernels[i];
	i -= ARRAY_LEN(kernels);
	return i < ARRAY_LEN(extra) ? extra[i].desc : NULL;
}

const char *launch_family_file(const struct kernel_desc *k)
{
	for (size_t i = 0; i < ARRAY_LEN(extra); i++)
		if (extra[i].desc == k)
			return extra[i].file;
	return NULL;
}

struct gpu_options opt = { .points = 1, .timeout_s = 30 };

double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void put_text(const char *key, const char *s)
{
	printf(",\"%s\":\"", key);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			putchar(' ');
		else
			putchar(*s);
	putchar('"');
}

void put_num(const char *key, double v)
{
	if (isfinite(v))
		printf(",\"%s\":%.17g", key, v);
	else
		printf(",\"%s\":null", key);
}

int put_error(const char *what, const struct err *err)
{
	printf("{\"%s\":false", what);
	put_text("code", err_code_name(err->code));
	put_text("error", err->msg);
	put_text("remedy", err->remedy);
	printf("}\n");
	fflush(stdout);
	return 1;
}

/* --- points --- */

/* 0: defaults. 1: sizes of the problem one step down, not a multiple of anything. 2: the block one
 * step down (and up, where down is refused). */
static void point(const struct kernel_desc *k, unsigned variant, unsigned n, int64_t *params)
{
	kernel_defaults(k, params);
	for (unsigned p = 0; n && p < k->n_params; p++) {
		const struct param_desc *d = &k->params[p];
		if (!kernel_param_used(k, variant, p) || d->kind != PARAM_LAUNCH)
			continue;
		bool block = !strncmp(d->name, "block", 5) && strcmp(d->name, "blocks");
		bool size = !strcmp(d->name, "N") || !strcmp(d->name, "M") || !strcmp(d->name, "K") ||
		            !strcmp(d->name, "W") || !strcmp(d->name, "H");
		if (n == 1 && size) {
			int64_t odd = params[p] / 2 + (params[p] / 2 > 64 ? 7 : 0);
			struct err err;
			if (kernel_param_legal(k, p, odd, &err))
				params[p] = odd;
			else
				params[p] = kernel_param_step(k, p, params[p], -1);
		}
		if (n == 2 && block)
			params[p] = kernel_param_step(k, p, params[p], -1);
	}
	struct launch_plan plan;
	struct err err;
	if (n && !k->plan(variant, params, &plan, &err)) {
		kernel_defaults(k, params);
		for (unsigned p = 0; p < k->n_params; p++)
			if (kernel_param_used(k, variant, p) && k->params[p].kind == PARAM_LAUNCH) {
				int64_t was = params[p];
				for (int way = -1; way <= 1; way += 2) {
					params[p] = kernel_param_step(k, p, was, way);
					if (params[p] != was && k->plan(variant, params, &plan, &err))
						return;
				}
				params[p] = was;
			}
	}
}

/* --- one launch --- */

static bool compile(const struct kernel_desc *k, const char *file, const int64_t *params,
                    struct module *m, struct err *err)
{
	char path[128];
	struct text own = { 0 };
	snprintf(path, sizeof path, "kernels/%s.cu", k->name);
	const struct asset *a = asset_find(path);
	if (launch_family_file(k) && !file_read(launch_family_file(k), 1 << 20, &own, err))
		return false;
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	unsigned n = 0;
	for (unsigned p = 0; p < k->n_params; p++)
		if (k->params[p].kind == PARAM_COMPILE)
			macros[n++] = (struct compile_macro){
				.name = k->params[p].macro ? k->params[p].macro : k->params[p].name,
				.value = params[p],
			};
	const struct compile_request req = {
		.file = file,
		.source = a ? a->data : own.s,
		.n_macros = n,
		.macros = macros,
		.cc_major = opt.gpu->cc_major,
		.cc_minor = opt.gpu->cc_minor,
	};
	const bool ok = compile_module(&req, m, err);
	text_free(&own);
	return ok;
}

bool instance_build(struct instance *i, const struct kernel_desc *k, unsigned variant,
                    struct err *err)
{
	i->kernel = k;
	i->variant = variant;
	snprintf(i->name, sizeof i->name, "%s/%s", k->name, k->variants[variant].name);
	snprintf(i->file, sizeof i->file, "%s.cu", k->name);
	if (!k->plan(variant, i->params, &i->plan, err) ||
	    !compile(k, i->file, i->params, &i->module, err))
		return err_prefix(err, "%s point %u: ", i->name, i->point);
	for (unsigned b = 0; b < i->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &i->plan.buffers[b];
		i->bytes[b] = bp->count * elem_size(bp->type);
		i->before[b] = mem_alloc(i->bytes[b]);
		i->after[b] = mem_alloc(i->bytes[b]);
		if (bp->role == BUF_OUT && !bp->partial)
			memset(i->before[b], 0xff, i->bytes[b]); /* NaN, -1: an unwritten element is seen */
		else
			k->fill(&i->plan, i->params, b, i->input_seed, i->before[b]);
	}
	return true;
}

bool instance_make(struct instance *i, const struct kernel_desc *k, unsigned variant, unsigned n,
                   struct err *err)
{
	*i = (struct instance){ .point = n, .input_seed = 1 };
	point(k, variant, n, i->params);
	return instance_build(i, k, variant, err);
}

bool instance_run(struct instance *i, const struct backend_ops *ops, struct backend *be,
                  struct run_result *res, struct err *err)
{
	struct run_request req = {
		.module = &i->module,
		.plan = &i->plan,
		.caps = opt.caps,
		.repeat = opt.repeat,
		.warm_l2 = opt.warm,
		.stalls = opt.stalls,
		.level = opt.level,
		.timeout_s = opt.timeout_s,
		.source_file = i->file,
	};
	for (unsigned b = 0; b < i->plan.n_buffers; b++) {
		memcpy(i->after[b], i->before[b], i->bytes[b]);
		req.buffers[b] = (struct run_buffer){ .data = i->after[b], .bytes = i->bytes[b] };
	}
	static const struct run_hooks quiet = { 0 };
	return ops->run(be, &req, &quiet, res, err) ||
	       err_prefix(err, "%s point %u: ", i->name, i->point);
}

void instance_check(const struct instance *i, struct check_result *check)
{
	*check = (struct check_result){ 0 };
	i->kernel->check(i->variant, &i->plan, i->params, (void *const *)i->before,
	                 (void *const *)i->after, check);
}

void instance_free(struct instance *i)
{
	for (unsigned b = 0; b < i->plan.n_buffers; b++) {
		free(i->before[b]);
		free(i->after[b]);
	}
	module_free(&i->module);
}

bool name_is_listed(const char *list, const char *name)
{
	char part[128];
	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		snprintf(part, sizeof part, "%.*s", (int)strcspn(list, ","), list);
		if (part[0] && strstr(name, part))
			return true;
	}
	return false;
}

unsigned each_launch(bool (*f)(struct instance *i, void *ctx), void *ctx)
{
	unsigned failed = 0;
	for (size_t k = 0; k < ARRAY_LEN(kernels); k++)
		for (unsigned v = 0; v < kernels[k]->n_variants; v++)
			for (unsigned n = opt.first; n < opt.points; n++) {
				static struct instance i;
				struct err err = { 0 };
				char name[128];
				snprintf(name, sizeof name, "%s/%s", kernels[k]->name,
				         kernels[k]->variants[v].name);
				if ((opt.only && !name_is_listed(opt.only, name)) || name_is_listed(opt.skip, name))
					continue;
				if (instance_make(&i, kernels[k], v, n, &err)) {
					failed += !f(&i, ctx);
				} else {
					put_error("run", &err);
					failed++;
				}
				instance_free(&i);
			}
	return failed;
}

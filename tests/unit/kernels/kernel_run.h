/*
 * For tests of kernel files: settings in words, and one launch in the emulator with its buffers
 * kept, so that a test can spoil an output and see the check notice.
 */
#ifndef PMPP_TEST_KERNEL_RUN_H
#define PMPP_TEST_KERNEL_RUN_H

#include "../unit.h"
#include "lab/lab.h"
#include "lab/choose.h"
#include "lab/registry.h"
#include "lab/run.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const struct kernel_desc *the_kernel(const char *name)
{
	const struct kernel_desc *k = kernel_find(name);
	if (!k)
		fail_msg("no kernel '%s'", name);
	return k;
}

static inline unsigned the_variant(const struct kernel_desc *k, const char *name)
{
	int v = kernel_variant_index(k, name);
	if (v < 0)
		fail_msg("%s has no variant '%s'", k->name, name);
	return (unsigned)v;
}

/* Problem sizes are the launch parameters in capitals: N, M, K, W, H ... */
static inline bool is_size(const struct param_desc *p)
{
	return p->kind == PARAM_LAUNCH && p->name[0] >= 'A' && p->name[0] <= 'Z';
}

/* "N=100 block=32" on top of the defaults. */
static inline void settings(const struct kernel_desc *k, const char *words, int64_t *params)
{
	char copy[256], *save = NULL;

	kernel_defaults(k, params);
	snprintf(copy, sizeof copy, "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		struct err err = { 0 };
		if (!value)
			fail_msg("'%s' is no setting", w);
		*value++ = '\0';
		int i = kernel_param_index(k, w);
		if (i < 0)
			fail_msg("%s has no parameter '%s'", k->name, w);
		if (!kernel_param_parse(k, (unsigned)i, value, &params[i], &err))
			fail_msg("%s", err.msg);
	}
}

static inline const char *in_words(const struct kernel_desc *k, unsigned variant,
                                   const int64_t *params)
{
	static char out[512];
	size_t at = (size_t)snprintf(out, sizeof out, "%s/%s", k->name, k->variants[variant].name);

	for (unsigned i = 0; i < k->n_params && at < sizeof out; i++)
		if (kernel_param_used(k, variant, i))
			at += (size_t)snprintf(out + at, sizeof out - at, " %s=%" PRId64, k->params[i].name,
			                       params[i]);
	return out;
}

/* A whole run as the program does it, every block executed. */
static inline struct run_record *run_words(const char *kernel, const char *variant,
                                           const char *words)
{
	struct selection sel = { .kernel = the_kernel(kernel), .seed = 1 };
	struct run_record *r = NULL;
	struct err err = { 0 };

	sel.variant = the_variant(sel.kernel, variant);
	settings(sel.kernel, words, sel.params);
	if (!choose_gpu_and_backend("a100", "emu", &sel, &err) ||
	    !run_selection_with(&sel, &(struct run_options){ 0 }, NULL, &r, &err))
		fail_msg("%s/%s %s: %s", kernel, variant, words, err.msg);
	return r;
}

/* Sum over the lines tagged @tag. */
static inline struct counts of_tag(const struct run_record *r, const char *tag)
{
	struct counts sum = { 0 };

	if (!counts_of_tag(&r->run.counts, kernel_source(r->sel.kernel), tag, &sum))
		fail_msg("%s: no line is tagged '%s'", r->sel.kernel->name, tag);
	return sum;
}

/* One launch with its buffers. */
struct launched {
	struct launch_plan plan;
	int64_t params[KERNEL_MAX_PARAMS];
	size_t bytes[KERNEL_MAX_BUFFERS];
	void *before[KERNEL_MAX_BUFFERS], *after[KERNEL_MAX_BUFFERS];
};

static inline void launched_free(struct launched *l)
{
	for (unsigned b = 0; b < l->plan.n_buffers; b++) {
		free(l->before[b]);
		free(l->after[b]);
	}
}

/* Planned and filled, not yet run: outputs hold NaN (all bits set). */
static inline bool prepare(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                           struct launched *l, struct err *err)
{
	*l = (struct launched){ 0 };
	memcpy(l->params, params, sizeof l->params);
	if (!k->plan(variant, params, &l->plan, err)) {
		l->plan.n_buffers = 0;
		return false;
	}
	for (unsigned b = 0; b < l->plan.n_buffers; b++) {
		const struct buffer_plan *bp = &l->plan.buffers[b];
		l->bytes[b] = bp->count * elem_size(bp->type);
		l->before[b] = mem_aligned(256, l->bytes[b]);
		l->after[b] = mem_aligned(256, l->bytes[b]);
		memset(l->before[b], 0xff, l->bytes[b]);
		if (bp->role != BUF_OUT || bp->partial)
			k->fill(&l->plan, params, b, 7, l->before[b]);
		memcpy(l->after[b], l->before[b], l->bytes[b]);
	}
	return true;
}

/* An A100, or the first sheet that runs the variant. */
static inline const char *gpu_for(const struct kernel_desc *k, unsigned variant)
{
	const struct variant_desc *v = &k->variants[variant];
	const struct gpu_spec *g = gpu_find("a100");
	for (size_t i = 0; i < gpu_count() && !variant_runs_on(v, g); i++)
		g = gpu_at(i);
	return g->id;
}

static inline bool launch(const struct kernel_desc *k, unsigned variant, struct launched *l,
                          struct err *err)
{
	struct selection sel = { .kernel = k, .variant = variant };
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	struct run_result res = { 0 };
	struct module m = { 0 };
	struct backend *be = NULL;
	char file[64];
	unsigned n = 0;

	if (!choose_gpu_and_backend(gpu_for(k, variant), "emu", &sel, err))
		return false;
	for (unsigned i = 0; i < k->n_params; i++)
		if (k->params[i].kind == PARAM_COMPILE)
			macros[n++] = (struct compile_macro){
				.name = k->params[i].macro ? k->params[i].macro : k->params[i].name,
				.value = kernel_param_used(k, variant, i) ? l->params[i] : k->params[i].def,
			};
	snprintf(file, sizeof file, "%s.cu", k->name);
	if (!compile_module(&(struct compile_request){ .file = file,
	                                               .source = kernel_source(k),
	                                               .n_macros = n,
	                                               .macros = macros,
	                                               .cc_major = sel.gpu->cc_major,
	                                               .cc_minor = sel.gpu->cc_minor },
	                    &m, err))
		return false;
	struct run_request req = { .module = &m, .plan = &l->plan, .source_file = file };
	for (unsigned b = 0; b < l->plan.n_buffers; b++)
		req.buffers[b] = (struct run_buffer){ .data = l->after[b], .bytes = l->bytes[b] };
	bool ok = backend_emu.open(&be, sel.gpu, err) &&
	          backend_emu.run(be, &req, &(struct run_hooks){ 0 }, &res, err);
	if (be)
		backend_emu.close(be);
	run_result_free(&res);
	module_free(&m);
	return ok;
}

static inline struct check_result checked(const struct kernel_desc *k, unsigned variant,
                                          const struct launched *l)
{
	struct check_result c = { 0 };

	k->check(variant, &l->plan, l->params, l->before, l->after, &c);
	return c;
}

#endif

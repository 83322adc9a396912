/*
 * For tests of the sources' worked examples: kernels of the program by words (kernel_run.h), and
 * small kernels of a test's own, run in the emulator.
 *
 * A test named s_305_... asserts example S-305 of the checklist; further ids stand in the comment
 * above it. tests/seeds.sh reads both.
 */
#ifndef PMPP_TEST_SEEDS_H
#define PMPP_TEST_SEEDS_H

#include "../kernels/kernel_run.h"

#include <math.h>

static inline bool near_to(double got, double want, double rel)
{
	return fabs(got - want) <= rel * fabs(want);
}

static inline double metric(const struct run_record *r, const char *key)
{
	enum metric_id id = metric_find(key);

	if (id == METRIC_COUNT || !metric_known(&r->metrics, id))
		fail_msg("%s is not known", key);
	return metric_get(&r->metrics, id);
}

/* The launch of a kernel without running it. */
static inline struct launch_plan plan_words(const char *kernel, const char *variant,
                                            const char *words)
{
	const struct kernel_desc *k = the_kernel(kernel);
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct err err = { 0 };

	settings(k, words, params);
	if (!k->plan(the_variant(k, variant), params, &plan, &err))
		fail_msg("%s/%s %s: %s", kernel, variant, words, err.msg);
	return plan;
}

static inline struct kernel_cost cost_words(const char *kernel, const char *variant,
                                            const char *words)
{
	const struct kernel_desc *k = the_kernel(kernel);
	const unsigned v = the_variant(k, variant);
	const struct launch_plan plan = plan_words(kernel, variant, words);
	int64_t params[KERNEL_MAX_PARAMS];
	struct kernel_cost cost = { 0 };

	settings(k, words, params);
	k->cost(v, &plan, params, &cost);
	return cost;
}

/* The lanes of the observed warp's first global load (or store) on a line with @tag. */
static inline const struct access_sample *lanes_of(const struct run_record *r, const char *tag,
                                                   bool store)
{
	struct line_tag tags[128];
	unsigned n = source_tags(kernel_source(r->sel.kernel), tags, ARRAY_LEN(tags));

	for (unsigned i = 0; i < r->run.counts.n_accesses; i++) {
		const struct access_sample *a = &r->run.counts.accesses[i];
		if (a->shared || a->store != store)
			continue;
		for (unsigned t = 0; t < n; t++)
			if (tags[t].line == a->line && !strcmp(tags[t].name, tag))
				return a;
	}
	fail_msg("%s: no global access was seen on a line tagged '%s'", r->sel.kernel->name, tag);
	return NULL;
}

struct user_buffer {
	enum elem_type type;
	enum buffer_role role;
	size_t count;
	void *data; /* contents before and after */
};

/* Runs @entry of @source with the buffers as its arguments; the counts are the caller's. */
static inline void run_source(const char *source, const char *entry, struct dim3u grid,
                              struct dim3u block, unsigned n, const struct user_buffer *b,
                              struct run_counts *counts)
{
	struct selection sel = { 0 };
	struct module m = { 0 };
	struct backend *be = NULL;
	struct run_result res = { 0 };
	struct err err = { 0 };
	struct launch_plan plan = {
		.entry = entry, .grid = grid, .block = block, .n_buffers = n, .n_args = n
	};
	struct run_request req = { .module = &m, .plan = &plan, .source_file = "own.cu" };

	for (unsigned i = 0; i < n; i++) {
		plan.buffers[i] = (struct buffer_plan){
			.name = "own", .type = b[i].type, .role = b[i].role, .count = b[i].count
		};
		plan.args[i] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = i };
		req.buffers[i] =
			(struct run_buffer){ .data = b[i].data, .bytes = b[i].count * elem_size(b[i].type) };
	}
	if (!kernel_launch_legal(&plan, &err) || !choose_gpu_and_backend("a100", "emu", &sel, &err) ||
	    !compile_module(&(struct compile_request){ .file = "own.cu",
	                                               .source = source,
	                                               .cc_major = sel.gpu->cc_major,
	                                               .cc_minor = sel.gpu->cc_minor },
	                    &m, &err) ||
	    !backend_emu.open(&be, sel.gpu, &err) ||
	    !backend_emu.run(be, &req, &(struct run_hooks){ 0 }, &res, &err))
		fail_msg("%s: %s", entry, err.msg);
	run_counts_copy(counts, &res.counts);
	backend_emu.close(be);
	run_result_free(&res);
	module_free(&m);
}

#endif

/*
 * What every kernel file promises without being run: names, sections, parameters, plans, fills,
 * costs and checks. Walks the registry, so a new file is covered by being there.
 */
#include "kernel_run.h"

#include "model/kernel_check.h"

#include <math.h>

#define EACH_KERNEL(k)                                      \
	for (size_t k##_i = 0; k##_i < kernel_count(); k##_i++) \
		for (const struct kernel_desc *k = kernel_at(k##_i); k; k = NULL)

TEST(descriptors_keep_the_rules)
{
	assert_true(kernel_count() >= 3);
	EACH_KERNEL(k)
	{
		struct err err = { 0 };
		if (!kernel_check_complete(k, &err) || !kernel_check_texts(k, kernel_source(k), &err) ||
		    !kernel_check_examples(k, &err))
			fail_msg("%s: %s", k->name, err.msg);
	}
}

/* Every rule, broken on purpose in a copy of a good descriptor: the message names the place. */
TEST(what_breaks_a_rule_is_named)
{
	static const struct kernel_example no_such_launch[] = {
		{ "per_element", "N=100 block=32", { 5, 1, 1 }, { 32, 1, 1 }, 0, 0 }, { 0 }
	};
	static const struct kernel_refusal not_refused[] = {
		{ "per_element", "N=100", "N", "anything" }, { 0 }
	};
	const struct kernel_desc *good = the_kernel("vec_add");
	const char *source = kernel_source(good);
	struct variant_desc variants[KERNEL_MAX_VARIANTS];
	struct param_desc params[KERNEL_MAX_PARAMS];
	struct err err = { 0 };
	struct kernel_desc k = *good;
#define BROKEN(change, check, words)                                           \
	do {                                                                       \
		k = *good;                                                             \
		memcpy(variants, good->variants, good->n_variants * sizeof *variants); \
		memcpy(params, good->params, good->n_params * sizeof *params);         \
		k.variants = variants;                                                 \
		k.params = params;                                                     \
		assert_true(kernel_check_texts(&k, source, &err));                     \
		change;                                                                \
		assert_false(check);                                                   \
		if (!strstr(err.msg, words))                                           \
			fail_msg("'%s' is not in: %s", words, err.msg);                    \
	} while (0)
	BROKEN(k.plan = NULL, kernel_check_complete(&k, &err), "no 'plan'");
	BROKEN(k.usual = k.n_variants, kernel_check_complete(&k, &err), "usual variant");
	BROKEN(k.n_variants = 33, kernel_check_complete(&k, &err), "33 variants");
	BROKEN(variants[1].idea = "short", kernel_check_texts(&k, source, &err), "5 characters");
	BROKEN(variants[1].entry = "x", kernel_check_texts(&k, source, &err), "vec_add_v1_chunks");
	BROKEN(variants[1].wrong = true, kernel_check_texts(&k, source, &err), "wrong by design");
	BROKEN(params[0].def = 0, kernel_check_texts(&k, source, &err), "default: parameter 'N'");
	BROKEN(params[1].name = "N", kernel_check_texts(&k, source, &err), "used twice");
	BROKEN(params[3].macro = "NONE", kernel_check_texts(&k, source, &err), "#ifndef NONE");
	BROKEN(k.examples = NULL, kernel_check_examples(&k, &err), "no examples");
	BROKEN(k.examples = no_such_launch, kernel_check_examples(&k, &err), "grid 4 x 1 x 1");
	BROKEN(k.refusals = not_refused, kernel_check_examples(&k, &err), "not refused");
#undef BROKEN
}

/* Whatever a person types that is out of range: a usage error that names the parameter. */
TEST(impossible_values_are_refused_by_name)
{
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			for (unsigned i = 0; i < k->n_params; i++) {
				if (!kernel_param_used(k, v, i))
					continue;
				const int64_t bad[] = { -1, k->params[i].min - 1, 1 << 30, INT64_MAX };
				for (unsigned b = 0; b < ARRAY_LEN(bad); b++) {
					int64_t params[KERNEL_MAX_PARAMS];
					struct launch_plan plan = { 0 };
					struct err err = { 0 };
					char name[64];
					kernel_defaults(k, params);
					params[i] = bad[b];
					/* free numbers of a launch: plan() alone must refuse, as it knows the
					 * reason; the rest is left to the check before it */
					const bool free_number =
						k->params[i].kind == PARAM_LAUNCH && !k->params[i].choices;
					if ((free_number || kernel_param_legal(k, i, bad[b], &err)) &&
					    k->plan(v, params, &plan, &err))
						fail_msg("%s was not refused", in_words(k, v, params));
					assert_int_equal(err.code, ERR_USAGE);
					snprintf(name, sizeof name, "'%s'", k->params[i].name);
					if (!strstr(err.msg, name))
						fail_msg("%s: does not name %s: %s", in_words(k, v, params), name, err.msg);
				}
			}
		}
	}
}

/* Small sizes, so that every fill can be looked at. */
static void small(const struct kernel_desc *k, int64_t size, int64_t *params)
{
	kernel_defaults(k, params);
	for (unsigned i = 0; i < k->n_params; i++)
		if (is_size(&k->params[i]))
			params[i] = size;
}

TEST(fills_are_complete_and_repeatable)
{
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			struct launched one, two;
			struct err err = { 0 };
			small(k, 64, params);
			if (!prepare(k, v, params, &one, &err) || !prepare(k, v, params, &two, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			for (unsigned b = 0; b < one.plan.n_buffers; b++) {
				const struct buffer_plan *bp = &one.plan.buffers[b];
				assert_memory_equal(one.before[b], two.before[b], one.bytes[b]);
				if (bp->role == BUF_OUT && !bp->partial)
					continue;
				const float *f = one.before[b];
				for (size_t i = 0; i < bp->count && bp->type == ELEM_F32; i++)
					if (isnan(f[i]))
						fail_msg("%s: %s[%zu] was not filled", in_words(k, v, params), bp->name, i);
			}
			launched_free(&one);
			launched_free(&two);
		}
	}
}

/* A kernel that did nothing at all: outputs still poisoned. No check may pass that. */
TEST(checks_notice_a_kernel_that_did_nothing)
{
	EACH_KERNEL(k)
	{
		for (unsigned v = 0; v < k->n_variants; v++) {
			int64_t params[KERNEL_MAX_PARAMS];
			struct launched l;
			struct err err = { 0 };
			small(k, 64, params);
			if (!prepare(k, v, params, &l, &err))
				fail_msg("%s: %s", in_words(k, v, params), err.msg);
			struct check_result c = checked(k, v, &l);
			if (c.ok || c.errors == 0)
				fail_msg("%s: nothing was computed, and the check passed", in_words(k, v, params));
			launched_free(&l);
		}
	}
}

TEST(costs_by_hand)
{
	const struct kernel_desc *k = the_kernel("sgemm");
	int64_t params[KERNEL_MAX_PARAMS];
	struct launch_plan plan = { 0 };
	struct kernel_cost cost = { 0 };
	struct err err = { 0 };

	settings(k, "M=3 N=5 K=7", params);
	assert_true(k->plan(the_variant(k, "naive"), params, &plan, &err));
	k->cost(the_variant(k, "naive"), &plan, params, &cost);
	assert_true(cost.flop == 2 * 3 * 5 * 7);
	assert_true(cost.min_bytes == 4 * (3 * 7 + 7 * 5 + 3 * 5));

	k = the_kernel("reduction");
	settings(k, "N=256", params);
	assert_true(k->plan(0, params, &plan, &err));
	k->cost(0, &plan, params, &cost);
	assert_true(cost.flop == 255); /* S-245 */
}

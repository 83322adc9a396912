/*
 * Machine code in the emulator: every variant of the shipped kernels gives the bits that its PTX
 * gives, for every architecture of the GPU sheets, at sizes that are a multiple of nothing, at
 * small even ones, and with another block.
 */
#include "only.h"
#include "sass_run.h"

#include "model/session.h"

enum { ODD, EVEN, OTHER_BLOCK, POINTS };

static bool is_size(const struct param_desc *d)
{
	return d->kind == PARAM_LAUNCH && strchr("NMKWH", d->name[0]) && !d->name[1];
}

/* False: the kernel refuses this point. */
static bool set_point(const struct kernel_desc *k, unsigned variant, int point, int64_t *params)
{
	struct launch_plan plan;
	struct err err;
	bool other = false;
	kernel_defaults(k, params);
	for (unsigned p = 0; p < k->n_params; p++) {
		const struct param_desc *d = &k->params[p];
		const int64_t size = point == EVEN ? 128 : 135;
		if (!kernel_param_used(k, variant, p) || d->kind != PARAM_LAUNCH)
			continue;
		if (is_size(d) && kernel_param_legal(k, p, size, &err))
			params[p] = size;
		if (point == OTHER_BLOCK && !strncmp(d->name, "block", 5)) {
			params[p] = kernel_param_step(k, p, params[p], -1);
			other = true;
		}
	}
	return (point != OTHER_BLOCK || other) && k->plan(variant, params, &plan, &err);
}

static struct {
	unsigned launches, faults;
} sum;

static void compare(const struct built *b, unsigned variant, const int64_t *params)
{
	const char *name = b->kernel->variants[variant].name;
	struct launch_plan plan;
	struct outcome ptx, sass;
	struct err err;
	assert_true(b->kernel->plan(variant, params, &plan, &err));
	run_level(b, &plan, params, NULL, &ptx);
	run_level(b, &plan, params, &b->sass, &sass);
	if (ptx.ran != sass.ran || (!ptx.ran && ptx.err.code != sass.err.code))
		fail_msg("%s/%s sm_%u: PTX: %s; machine code: %s", b->kernel->name, name, b->sass.cubin.sm,
		         ptx.ran ? "ran" : ptx.err.msg, sass.ran ? "ran" : sass.err.msg);
	for (unsigned n = 0; ptx.ran && n < plan.n_buffers; n++)
		if (memcmp(ptx.data[n], sass.data[n], ptx.bytes[n]))
			fail_msg("%s/%s sm_%u: %s differs", b->kernel->name, name, b->sass.cubin.sm,
			         plan.buffers[n].name);
	sum.launches++;
	sum.faults += !ptx.ran;
	outcome_free(&ptx);
	outcome_free(&sass);
}

static void variants_agree(unsigned sm)
{
	if (no_sass()) {
		print_message("%s\n", no_sass());
		skip();
	}
	/* all points where the rules were measured; elsewhere the first that the kernel accepts, unless
	 * all are asked for */
	const int n_points = sm == 90 || getenv("PMPP_SASS_ALL") ? POINTS : 1;
	const unsigned every = UNIT_ASAN || UNIT_TSAN ? 4 : 1; /* a sanitizer is slow */
	unsigned turn = 0;
	memset(&sum, 0, sizeof sum);
	for (size_t n = 0; n < kernel_count(); n++) {
		const struct kernel_desc *k = kernel_at(n);
		int64_t params[KERNEL_MAX_PARAMS];
		struct built b;
		if (left_out_by_name(k))
			continue;
		kernel_defaults(k, params);
		build(k, params, sm, &b);
		for (unsigned v = 0; v < k->n_variants; v++)
			for (int point = 0; point < n_points; point++)
				if (variant_runs_on(&k->variants[v], sheet_of(sm)) && turn++ % every == 0 &&
				    (set_point(k, v, point, params) ||
				     (n_points == 1 && set_point(k, v, EVEN, params))))
					compare(&b, v, params);
		built_free(&b);
	}
	print_message("sm_%u: %u launches, %u of them faults\n", sm, sum.launches, sum.faults);
	const unsigned least = getenv("ONLY") ? 0 : 45 * (unsigned)n_points / every - every;
	assert_true(sum.launches >= least && sum.faults < 10);
}

#define ARCHITECTURE(n)    \
	TEST(sm_##n)           \
	{                      \
		variants_agree(n); \
	}
ARCHITECTURE(75)
ARCHITECTURE(80)
ARCHITECTURE(86)
ARCHITECTURE(89)
ARCHITECTURE(90)
ARCHITECTURE(100)
ARCHITECTURE(120)

int main(void)
{
	return unit_run(use_build_cache, NULL);
}

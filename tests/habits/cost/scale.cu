/*
 * A vector times a number: the kernel that make cost adds to see how many files that touches.
 *
 *   plain  one thread per element
 */
#ifdef __CUDACC__

extern "C" __global__ void scale_v0_plain(const float *in, float *out, int N)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < N)              //@ guard
		out[i] = 3 * in[i]; //@ scale
}

#else /* the host half */

#include "model/kernel.h"

enum param { P_N, P_BLOCK, N_PARAMS };
enum buffer { IN, OUT, N_BUFFERS };

#define MAX_N (1 << 28)

static const int64_t n_steps[] = { 1, 100, 1000, 1 << 16, 1 << 20, MAX_N, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N", .title = "vector length", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1 << 16, .min = 1, .max = MAX_N, .steps = n_steps },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 256, kernel_block_steps),
};

static const struct variant_desc variants[] = {
	{
		KERNEL_VARIANT(scale, 0, plain), .title = "one thread per element",
		.idea = "a load, a product and a store per thread: bound by memory",
		.section = "beyond the sources", .seeds = "",
	},
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t n = p[P_N], block = p[P_BLOCK];

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, (n + block - 1) / block, 1, block, 1),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[IN] = kernel_vector("in", ELEM_F32, BUF_IN, n),
			[OUT] = kernel_vector("out", ELEM_F32, BUF_OUT, n),
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(IN), KERNEL_ARG_BUFFER(OUT), KERNEL_ARG_I32(n)),
	};
	return kernel_launch_legal(out, err);
}

/* One product, rounded once: every element must be equal. */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const float *in = before[IN], *out = after[OUT];

	(void)variant, (void)p;
	for (size_t i = 0; i < launch->buffers[OUT].count; i++)
		check_element(out[i], 3 * in[i], 0, i, OUT, result);
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double n = (double)launch->buffers[OUT].count;

	(void)variant, (void)p;
	*out = (struct kernel_cost){ .flop = n, .min_bytes = 8 * n };
}

const struct kernel_desc kernel_scale = {
	.name = "scale", .title = "vector times a number", .section = "beyond the sources",
	.about = "Every element is read once, multiplied once and written once, so the memory alone "
	         "decides how long it takes.",
	.n_params = N_PARAMS, .n_variants = 1,
	.params = params, .variants = variants,
	.plan = plan, .fill = kernel_fill_uniform, .check = check, .cost = cost,
	KERNEL_EXAMPLES(
		/* 1000 / 256, rounded up */
		{ "plain", "N=1000 block=256", { 4, 1, 1 }, { 256, 1, 1 }, 0, 0 }
	),
};

#endif

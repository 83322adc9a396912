/*
 * Reduction of a vector to one value: the same N - 1 operations, ever better arranged.
 *
 *   simple      one block, stride doubling, in place: active threads drift apart (divergence)
 *   convergent  one block, stride halving, in place: active threads stay side by side
 *   shared      one block, partial results in shared memory: global memory is read once
 *   segmented   many blocks, each a segment of 2 * block, joined by one atomic each
 *   coarsened   COARSE times longer segments, summed in registers first, no barrier there
 *   shuffle     float4 loads, then warp shuffles instead of shared memory (beyond the book)
 *
 * OP chooses the operator; all are associative and commutative. PMPP 10.1-10.8. The line tagged
 * "add" of simple and convergent holds the reduction step alone: two loads, the operation, a store.
 */

/* Compile parameters and their defaults, for both halves. */
#define OP_SUM 0
#define OP_PRODUCT 1
#define OP_MIN 2
#define OP_MAX 3
#ifndef OP
#define OP OP_SUM
#endif
#ifndef COARSE
#define COARSE 4
#endif

#ifdef __CUDACC__

#if OP == OP_SUM
#define COMBINE(a, b) ((a) + (b))
#define IDENTITY 0.0f
#elif OP == OP_PRODUCT
#define COMBINE(a, b) ((a) * (b))
#define IDENTITY 1.0f
#elif OP == OP_MIN
#define COMBINE(a, b) fminf(a, b)
#define IDENTITY __int_as_float(0x7f800000) /* +infinity */
#elif OP == OP_MAX
#define COMBINE(a, b) fmaxf(a, b)
#define IDENTITY __int_as_float(0xff800000) /* -infinity */
#else
#error "OP is 0 sum, 1 product, 2 min or 3 max"
#endif

/* The blocks' results meet here. Only addition has an instruction of its own. */
static __device__ void combine_atomically(float *to, float value)
{
#if OP == OP_SUM
	atomicAdd(to, value);
#else
	int seen = *(volatile int *)to, expected;
	do {
		expected = seen;
		const float combined = COMBINE(__int_as_float(expected), value);
		seen = atomicCAS((int *)to, expected, __float_as_int(combined));
	} while (seen != expected);
#endif
}

extern "C" __global__ void reduction_v0_simple(float *input, float *output, unsigned n)
{
	const unsigned i = 2 * threadIdx.x; /* this thread owns elements i and i + 1 */

	/* After the step with `stride`, input[j] holds the result of 2 * stride elements from j on,
	 * for every j that is a multiple of 2 * stride. */
	for (unsigned stride = 1; stride < n; stride *= 2) {
		if (threadIdx.x % stride == 0 && i + stride < n) { //@ active
			float *const mine = &input[i];
			const float *const other = &input[i + stride];
			*mine = COMBINE(*mine, *other); //@ add
		}
		__syncthreads(); //@ barrier
	}
	if (threadIdx.x == 0)
		*output = input[0]; //@ result
}

extern "C" __global__ void reduction_v1_convergent(float *input, float *output, unsigned n)
{
	const unsigned i = threadIdx.x;

	/* blockDim.x is a power of two, at least n / 2 */
	for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
		if (threadIdx.x < stride && i + stride < n) { //@ active
			float *const mine = &input[i];
			const float *const other = &input[i + stride];
			*mine = COMBINE(*mine, *other); //@ add
		}
		__syncthreads(); //@ barrier
	}
	if (threadIdx.x == 0)
		*output = input[0]; //@ result
}

/* The tree in shared memory, for all variants that use it: the result is in partial[0]. */
extern __shared__ float partial[];

extern "C" __global__ void reduction_v2_shared(const float *input, float *output, unsigned n)
{
	const unsigned t = threadIdx.x;
	const float low = t < n ? input[t] : IDENTITY;                            //@ load
	const float high = t + blockDim.x < n ? input[t + blockDim.x] : IDENTITY; //@ load

	partial[t] = COMBINE(low, high); //@ first-add
	for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
		__syncthreads(); //@ barrier
		if (t < stride) //@ active
			partial[t] = COMBINE(partial[t], partial[t + stride]); //@ add
	}
	if (t == 0)
		*output = partial[0]; //@ result
}

extern "C" __global__ void reduction_v3_segmented(const float *input, float *output, unsigned n)
{
	const unsigned t = threadIdx.x;
	const unsigned i = 2 * blockDim.x * blockIdx.x + t; /* within this block's segment */
	const float low = i < n ? input[i] : IDENTITY;                            //@ load
	const float high = i + blockDim.x < n ? input[i + blockDim.x] : IDENTITY; //@ load

	partial[t] = COMBINE(low, high); //@ first-add
	for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
		__syncthreads(); //@ barrier
		if (t < stride) //@ active
			partial[t] = COMBINE(partial[t], partial[t + stride]); //@ add
	}
	if (t == 0)
		combine_atomically(output, partial[0]); //@ result
}

extern "C" __global__ void reduction_v4_coarsened(const float *input, float *output, unsigned n)
{
	const unsigned t = threadIdx.x;
	const unsigned first = COARSE * 2 * blockDim.x * blockIdx.x + t;
	float sum = IDENTITY;

	/* every thread busy, no barrier: the hardware-friendly part of the work */
	for (unsigned c = 0; c < COARSE * 2; c++) {
		const unsigned i = first + c * blockDim.x;
		const float value = i < n ? input[i] : IDENTITY; //@ load
		sum = COMBINE(sum, value); //@ first-add
	}
	partial[t] = sum;
	for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
		__syncthreads(); //@ barrier
		if (t < stride) //@ active
			partial[t] = COMBINE(partial[t], partial[t + stride]); //@ add
	}
	if (t == 0)
		combine_atomically(output, partial[0]); //@ result
}

/* Folds the warp onto its first lanes: 1 = result in lane 0, 2 = a half each in lanes 0 and 1. */
static __device__ float warp_fold(float value, int lanes)
{
#pragma unroll
	for (int offset = 16; offset >= lanes; offset /= 2) {
		const float other = __shfl_down_sync(0xffffffffu, value, offset); //@ shuffle
		value = COMBINE(value, other); //@ add
	}
	return value;
}

extern "C" __global__ void reduction_v5_shuffle(const float *input, float *output, unsigned n)
{
	__shared__ float of_warp[32];
	const float4 *const quads = (const float4 *)input; /* 16 bytes per load and lane */
	const unsigned n_quads = n / 4;
	const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
	const unsigned first = COARSE * blockDim.x * blockIdx.x + t;
	float4 v[COARSE];
	float sum = IDENTITY;

	/* all loads first, so that they wait for memory together */
#pragma unroll
	for (unsigned c = 0; c < COARSE; c++) {
		const unsigned i = first + c * blockDim.x;
		v[c] = make_float4(IDENTITY, IDENTITY, IDENTITY, IDENTITY);
		if (i < n_quads)
			v[c] = quads[i]; //@ load
	}
#pragma unroll
	for (unsigned c = 0; c < COARSE; c++)
		sum = COMBINE(sum, COMBINE(COMBINE(v[c].x, v[c].y), COMBINE(v[c].z, v[c].w))); //@ first-add
	if (blockIdx.x == 0 && t < n % 4) /* what is left behind the last whole quad */
		sum = COMBINE(sum, input[4 * n_quads + t]); //@ rest

	sum = warp_fold(sum, 1);
	if (lane == 0)
		of_warp[warp] = sum; //@ to-shared
	__syncthreads(); //@ barrier
	if (warp == 0) {
		const float half = warp_fold(lane < blockDim.x / 32 ? of_warp[lane] : IDENTITY, 2);
		const float other = __shfl_down_sync(0xffffffffu, half, 1); //@ shuffle
		if (lane == 0) /* nobody else needs the last step */
			combine_atomically(output, COMBINE(half, other)); //@ result
	}
}

#else /* the host half */

#include "model/kernel.h"

#include <math.h>

enum variant { SIMPLE, CONVERGENT, SHARED, SEGMENTED, COARSENED, SHUFFLE, N_VARIANTS };
enum param { P_N, P_BLOCK, P_OP, P_COARSE, N_PARAMS };
enum buffer { INPUT, OUTPUT, N_BUFFERS };

#define MAX_N ((int64_t)1 << 28) /* 1 GiB; the last segment's end stays within 32 bits */
#define BIT(v) (1u << (v))

static const int64_t n_steps[] = { 1, 2, 8, 64, 100, 256, 257, 512, 1000, 1024, 2048, 4096, 1 << 14,
	                           1 << 16, 1 << 18, 1000000, 1 << 20, 1 << 22, 1 << 24, 1 << 26,
	                           MAX_N, INT64_MIN };
static const int64_t block_steps[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, INT64_MIN };
static const int64_t operators[] = { OP_SUM, OP_PRODUCT, OP_MIN, OP_MAX, INT64_MIN };
static const char *const operator_words[] = { "sum", "product", "min", "max" };
static const int64_t factors[] = { 1, 2, 4, 8, 16, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N", .title = "vector length", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 256, .min = 1, .max = MAX_N, .steps = n_steps },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 128, block_steps),
	[P_OP] = { .name = "OP", .title = "operator", .unit = "", .kind = PARAM_COMPILE, .def = OP,
	           .min = OP_SUM, .max = OP_MAX, .choices = operators, .words = operator_words },
	[P_COARSE] = { .name = "COARSE", .title = "coarsening factor", .unit = "loads",
	               .kind = PARAM_COMPILE, .def = COARSE, .min = 1, .max = 16, .choices = factors,
	               .variants = BIT(COARSENED) | BIT(SHUFFLE) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[SIMPLE] = { KERNEL_VARIANT(reduction, 0, simple), .title = "stride doubling",
		.idea = "every second, fourth, eighth thread works: all warps stay busy with few lanes",
		.section = "PMPP 10.3", .seeds = "S-047 S-371 S-373 S-375",
		.book_lanes = "N 256: 255/736 = 35 %: it lets all four warps run five rounds; "
		              "they run six, so 255/864 = 29.5 %" },
	[CONVERGENT] = { KERNEL_VARIANT(reduction, 1, convergent), .title = "stride halving",
		.idea = "the working threads stay side by side: whole warps finish, lanes read neighbours",
		.section = "PMPP 10.4", .seeds = "S-048 S-372 S-373 S-375",
		.book_lanes = "N 256: 255/384 = 66 %" },
	[SHARED] = { KERNEL_VARIANT(reduction, 2, shared), .title = "partial sums in shared memory",
		.idea = "only the first step reads global memory; the tree runs on chip, input is kept",
		.section = "PMPP 10.6", .seeds = "S-049 S-374" },
	[SEGMENTED] = { KERNEL_VARIANT(reduction, 3, segmented), .title = "many blocks and atomics",
		.idea = "each block reduces 2 * block elements and adds its result atomically: any length",
		.section = "PMPP 10.7", .seeds = "S-050 S-378" },
	[COARSENED] = { KERNEL_VARIANT(reduction, 4, coarsened), .title = "coarsened",
		.idea = "2 * COARSE elements per thread before the tree: fewer barriers, fewer idle steps",
		.section = "PMPP 10.8", .seeds = "S-051 S-377" },
	[SHUFFLE] = { KERNEL_VARIANT(reduction, 5, shuffle), .title = "warp shuffles, float4 loads",
		.idea = "lanes exchange registers, one barrier in all; 16-byte loads keep memory busy",
		.section = "beyond PMPP ch. 10", .seeds = "" },
};

static bool one_block(unsigned variant)
{
	return variant == SIMPLE || variant == CONVERGENT || variant == SHARED;
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t n = p[P_N], block = p[P_BLOCK];
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	int64_t segment = 2 * block; /* elements per block */
	if (variant == COARSENED || variant == SHUFFLE)
		segment = (variant == SHUFFLE ? 4 : 2) * block * p[P_COARSE];
	if (one_block(variant) && n > 2 * block) {
		kernel_refuse(err, "N", n, "one block of %lld threads reduces at most %lld elements",
		              (long long)block, (long long)(2 * block));
		return err_remedy(err, n <= 2048 ? "choose a block of at least N / 2 threads"
		                                 : "choose reduction/segmented: it takes any length");
	}
	if (variant == SHUFFLE && block % 32)
		return kernel_refuse(err, "block", block, "shuffles need whole warps: a multiple of 32");
	if (variant != SIMPLE && variant != SHUFFLE && (block & (block - 1)))
		return kernel_refuse(err, "block", block, "the stride is halved down to 1: a power of two");

	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry,
		              one_block(variant) ? 1 : (n + segment - 1) / segment, 1, block, 1),
		.dynamic_shared_bytes = variant == SIMPLE || variant == CONVERGENT || variant == SHUFFLE
		                                ? 0 : (uint32_t)(block * 4),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[INPUT] = { .name = "input", .type = ELEM_F32, .count = (size_t)n,
			            .role = variant == SIMPLE || variant == CONVERGENT ? BUF_INOUT : BUF_IN },
			/* with several blocks it starts as the identity and collects their results */
			[OUTPUT] = { .name = "output", .type = ELEM_F32, .count = 1,
			             .role = one_block(variant) ? BUF_OUT : BUF_INOUT },
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(INPUT), KERNEL_ARG_BUFFER(OUTPUT),
		            KERNEL_ARG_U32(n)),
	};
	return kernel_launch_legal(out, err);
}

static double combine(int64_t op, double a, double b)
{
	switch (op) {
	case OP_PRODUCT:
		return a * b;
	case OP_MIN:
		return fmin(a, b);
	case OP_MAX:
		return fmax(a, b);
	default:
		return a + b;
	}
}

static double identity(int64_t op)
{
	return op == OP_PRODUCT ? 1 : op == OP_MIN ? INFINITY : op == OP_MAX ? -INFINITY : 0;
}

/*
 * Inputs on which float32 does not round, so that the order of operations cannot matter.
 * Sum: whole numbers in -8..8; partial sums grow like 5 * sqrt(N), far below 2^24. Product: +1 and
 * -1 with some 400 factors of 2 or 1/2 among them; partial products stay within 2^126 by six
 * standard deviations. Min, max: any values.
 */
static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	const size_t n = launch->buffers[b].count;
	const size_t rarity = n / 400 + 1;
	float *v = data;

	if (b == OUTPUT) {
		v[0] = (float)identity(p[P_OP]);
		return;
	}
	if (p[P_OP] == OP_MIN || p[P_OP] == OP_MAX) {
		fill_uniform_f32(v, n, seed);
		return;
	}
	fill_integers_f32(v, n, p[P_OP] == OP_SUM ? -8 : 0, p[P_OP] == OP_SUM ? 8 : 3, seed);
	for (size_t i = 0; i < n && p[P_OP] == OP_PRODUCT; i++) {
		const int k = (int)v[i]; /* 0..3: sign and direction */
		const float factor = i % rarity ? 1.0f : k & 2 ? 2.0f : 0.5f;
		v[i] = k & 1 ? -factor : factor;
	}
}

/* Tolerance 0: see fill. */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const float *input = before[INPUT], *output = after[OUTPUT];
	double want = identity(p[P_OP]);

	(void)variant;
	for (size_t i = 0; i < launch->buffers[INPUT].count; i++)
		want = combine(p[P_OP], want, (double)input[i]);
	check_element((double)output[0], want, 0, 0, OUTPUT, result);
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double n = (double)launch->buffers[INPUT].count;

	(void)variant, (void)p;
	*out = (struct kernel_cost){ .flop = n - 1, .min_bytes = 4 * n + 4 };
}

const struct kernel_desc kernel_reduction = {
	.name = "reduction", .title = "reduction", .section = "PMPP ch. 10",
	.about = "Sum, product, minimum or maximum of a vector as a tree of N - 1 operations in log2 N "
	         "steps. The work never changes; which threads do it decides how many warps stay busy "
	         "with few lanes, and how often memory is asked.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "shared", "N=256 block=128", { 1, 1, 1 }, { 128, 1, 1 }, 512, 0 },
		{ "segmented", "N=1000000 block=1024", { 489, 1, 1 }, { 1024, 1, 1 }, 4096, 0 },
		{ "coarsened", "N=100000 block=512 COARSE=4", { 25, 1, 1 }, { 512, 1, 1 }, 2048, 0 }),
	KERNEL_REFUSALS(
		{ "simple", "N=257", "N", "at most 256" },
		{ "shared", "N=4096 block=1024", "N", "at most 2048" },
		{ "convergent", "block=192", "block", "power of two" },
		{ "shuffle", "block=48", "block", "multiple of 32" }),
};

#endif

/*
 * Control divergence: the lanes of a warp that want different paths take turns.
 *
 *   if_else        lanes below `threshold` take path A, the others B, then all take C
 *   parity         even lanes A, odd lanes B: half of the lanes idle on both paths
 *   one_lane       one lane of the warp does A in addition: all others wait for it
 *   by_warp        even warps A, odd warps B: the same work, no warp splits
 *   paths          `paths` different ways through a switch, 1 ... 32
 *   loop           4 to 8 turns of a loop, lane by lane: the warp makes 8
 *   split_barrier  even and odd threads wait at two different barriers: wrong by design
 *
 * Every path is `work` dependent multiply-adds x = x / 2 + c, with a constant c of its own, so that
 * the answer tells which path an element took. PMPP 4.3, 4.5.
 */

#define LOOP_LEAST 4 /* turns of variant loop: LOOP_LEAST + lane % LOOP_KINDS */
#define LOOP_KINDS 5
#define MAX_PATHS 32

#ifdef __CUDACC__

#define LANE (threadIdx.x % 32)
#define STEP(x, c) fmaf(x, 0.5f, c)

extern "C" __global__ void diverge_v0_if_else(const float *in, float *out, int N, int work,
                                              unsigned threshold)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];

	if (LANE < threshold) { //@ branch
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 1.0f); //@ path-A
	} else {
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 2.0f); //@ path-B
	}
#pragma unroll 1
	for (int s = 0; s < work; s++)
		x = STEP(x, 3.0f); //@ path-C
	out[i] = x; //@ store
}

extern "C" __global__ void diverge_v1_parity(const float *in, float *out, int N, int work)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];

	if (threadIdx.x % 2 == 0) { //@ branch
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 1.0f); //@ path-A
	} else {
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 2.0f); //@ path-B
	}
	out[i] = x; //@ store
}

extern "C" __global__ void diverge_v2_one_lane(const float *in, float *out, int N, int work)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];

	if (LANE == 1) { //@ branch
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 1.0f); //@ path-A
	}
#pragma unroll 1
	for (int s = 0; s < work; s++)
		x = STEP(x, 3.0f); //@ path-C
	out[i] = x; //@ store
}

extern "C" __global__ void diverge_v3_by_warp(const float *in, float *out, int N, int work)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];

	if (threadIdx.x / 32 % 2 == 0) { //@ branch
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 1.0f); //@ path-A
	} else {
#pragma unroll 1
		for (int s = 0; s < work; s++)
			x = STEP(x, 2.0f); //@ path-B
	}
	out[i] = x; //@ store
}

/* One loop per case, so that the compiler cannot make one path of them. */
#define CASE(p)                                     \
	case p:                                     \
		_Pragma("unroll 1")                 \
		for (int s = 0; s < work; s++)      \
			x = STEP(x, p + 1.0f);      \
		break;

extern "C" __global__ void diverge_v4_paths(const float *in, float *out, int N, int work,
                                            unsigned paths)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];

	switch (LANE % paths) { //@ branch
	CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) //@ paths
	CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) //@ paths
	CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21) CASE(22) CASE(23) //@ paths
	CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30) CASE(31) //@ paths
	}
	out[i] = x; //@ store
}

extern "C" __global__ void diverge_v5_loop(const float *in, float *out, int N)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= N)
		return;
	float x = in[i];
	const unsigned turns = LOOP_LEAST + LANE % LOOP_KINDS;

#pragma unroll 1
	for (unsigned s = 0; s < turns; s++) //@ branch
		x = STEP(x, 1.0f); //@ body
	out[i] = x; //@ store
}

extern "C" __global__ void diverge_v6_split_barrier(const float *in, float *out, int N)
{
	__shared__ float mine[1024];
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const unsigned t = threadIdx.x;
	float x = i < N ? in[i] : 0.0f;

	/* two barriers, not one: what happens is undefined, often a block that never ends */
	if (t % 2 == 0) {
		mine[t] = STEP(x, 1.0f);
		__syncthreads(); //@ even-barrier
		x = mine[(t + 1) % blockDim.x];
	} else {
		mine[t] = STEP(x, 2.0f);
		__syncthreads(); //@ odd-barrier
		x = mine[t - 1] + 1.0f;
	}
	if (i < N)
		out[i] = x; //@ store
}

#else /* the host half */

#include "model/kernel.h"

#include <math.h>

enum variant { IF_ELSE, PARITY, ONE_LANE, BY_WARP, PATHS, LOOP, SPLIT_BARRIER, N_VARIANTS };
enum param { P_N, P_BLOCK, P_WORK, P_THRESHOLD, P_PATHS, N_PARAMS };
enum buffer { IN, OUT, N_BUFFERS };

#define MAX_N ((int64_t)1 << 26)
#define MAX_WORK 4096
#define BIT(v) (1u << (v))

static const int64_t n_steps[] = { 1, 32, 100, 1003, 4096, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
	                           1 << 22, 1 << 24, MAX_N, INT64_MIN };
static const int64_t work_steps[] = { 0, 1, 4, 16, 64, 256, 1024, MAX_WORK, INT64_MIN };
static const int64_t thresholds[] = { 0, 1, 4, 8, 12, 16, 20, 24, 28, 31, 32, INT64_MIN };
static const int64_t path_steps[] = { 1, 2, 3, 4, 5, 8, 16, 24, MAX_PATHS, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N", .title = "elements", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1 << 16, .min = 1, .max = MAX_N, .steps = n_steps },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 256, kernel_block_steps),
	[P_WORK] = { .name = "work", .title = "multiply-adds per path", .unit = "FMA",
	             .kind = PARAM_LAUNCH, .def = 64, .min = 0, .max = MAX_WORK, .steps = work_steps,
	             .variants = BIT(IF_ELSE) | BIT(PARITY) | BIT(ONE_LANE) | BIT(BY_WARP) |
	                         BIT(PATHS) },
	[P_THRESHOLD] = { .name = "threshold", .title = "first lane of path B", .unit = "lanes",
	                  .kind = PARAM_LAUNCH, .def = 24, .min = 0, .max = 32, .steps = thresholds,
	                  .variants = BIT(IF_ELSE) },
	[P_PATHS] = { .name = "paths", .title = "different paths in a warp", .unit = "paths",
	              .kind = PARAM_LAUNCH, .def = 8, .min = 1, .max = MAX_PATHS,
	              .steps = path_steps, .variants = BIT(PATHS) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[IF_ELSE] = { KERNEL_VARIANT(diverge, 0, if_else), .title = "if and else in one warp",
		.idea = "two passes, one per side, each with the other side's lanes switched off",
		.section = "PMPP 4.5", .seeds = "S-052 S-307" },
	[PARITY] = { KERNEL_VARIANT(diverge, 1, parity), .title = "even and odd lanes",
		.idea = "every warp walks both paths with half its lanes: half the speed",
		.section = "PMPP 4.5", .seeds = "S-055" },
	[ONE_LANE] = { KERNEL_VARIANT(diverge, 2, one_lane), .title = "one lane in thirty-two",
		.idea = "31 lanes wait while one works: a path costs a pass, however few take it",
		.section = "PMPP 4.5", .seeds = "S-055" },
	[BY_WARP] = { KERNEL_VARIANT(diverge, 3, by_warp), .title = "whole warps",
		.idea = "the same condition on the warp's number: all lanes agree, nobody waits",
		.section = "PMPP 4.5", .seeds = "S-055 S-535" },
	[PATHS] = { KERNEL_VARIANT(diverge, 4, paths), .title = "one to thirty-two paths",
		.idea = "a switch on the lane: each different path is one more pass, up to fully serial",
		.section = "PMPP 4.5", .seeds = "S-055 S-250" },
	[LOOP] = { KERNEL_VARIANT(diverge, 5, loop), .title = "loops of different length",
		.idea = "4 to 8 turns per lane: the warp makes 8, lanes that are done wait",
		.section = "PMPP 4.5", .seeds = "S-053 S-308" },
	[SPLIT_BARRIER] = { KERNEL_VARIANT(diverge, 6, split_barrier),
		.title = "two barriers for one meeting (wrong by design)",
		.idea = "even threads wait at one barrier, odd ones at another: undefined, may never end",
		.section = "PMPP 4.3", .seeds = "S-054", .wrong = true },
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t n = p[P_N], block = p[P_BLOCK];

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (variant == SPLIT_BARRIER && block % 2)
		return kernel_refuse(err, "block", block, "even and odd threads meet in pairs");
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, (n + block - 1) / block, 1, block, 1),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[IN] = kernel_vector("in", ELEM_F32, BUF_IN, n),
			[OUT] = kernel_vector("out", ELEM_F32, BUF_OUT, n),
		},
		.n_args = variant == IF_ELSE || variant == PATHS ? 5
		          : variant == LOOP || variant == SPLIT_BARRIER ? 3 : 4,
		.args = {
			KERNEL_ARG_BUFFER(IN), KERNEL_ARG_BUFFER(OUT),
			KERNEL_ARG_I32(n),
			KERNEL_ARG_I32(p[P_WORK]),
			{ .kind = ARG_U32,
			  .u32 = (uint32_t)(variant == PATHS ? p[P_PATHS] : p[P_THRESHOLD]) },
		},
	};
	return kernel_launch_legal(out, err);
}

/* @steps times x = x / 2 + c, in closed form. */
static double stepped(double x, double c, double steps)
{
	const double half = exp2(-steps);

	return x * half + 2 * c * (1 - half);
}

static double reference(unsigned variant, const int64_t *p, const float *in, size_t i)
{
	const size_t block = (size_t)p[P_BLOCK], t = i % block, lane = t % 32;
	const double x = (double)in[i], work = (double)p[P_WORK];

	switch ((enum variant)variant) {
	case IF_ELSE:
		return stepped(stepped(x, (int64_t)lane < p[P_THRESHOLD] ? 1 : 2, work), 3, work);
	case PARITY:
		return stepped(x, t % 2 == 0 ? 1 : 2, work);
	case ONE_LANE:
		return stepped(lane == 1 ? stepped(x, 1, work) : x, 3, work);
	case BY_WARP:
		return stepped(x, t / 32 % 2 == 0 ? 1 : 2, work);
	case PATHS:
		return stepped(x, (double)((int64_t)lane % p[P_PATHS] + 1), work);
	case LOOP:
		return stepped(x, 1, (double)(LOOP_LEAST + lane % LOOP_KINDS));
	case SPLIT_BARRIER:
	case N_VARIANTS:
		break;
	}
	/* the partner's value: its own step, plus 1 for odd threads; a partner beyond N started at 0 */
	const size_t partner = t % 2 == 0 ? i + 1 : i - 1;
	const double other = partner < (size_t)p[P_N] ? (double)in[partner] : 0;
	return t % 2 == 0 ? stepped(other, 2, 1) : stepped(other, 1, 1) + 1;
}

/*
 * Every step rounds once, by at most 2^-24 of a value below 2c + 1, and halves what went wrong
 * before: the errors add up to at most 2 * 2^-24 * (2c + 1). Tolerance: 2^-22 of |want| + 1.
 */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const float *in = before[IN], *out = after[OUT];

	for (size_t i = 0; i < launch->buffers[OUT].count; i++) {
		const double want = reference(variant, p, in, i);
		check_element((double)out[i], want, 0x1p-22 * (fabs(want) + 1), i, OUT, result);
	}
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double n = (double)launch->buffers[OUT].count, work = (double)p[P_WORK];
	double steps = work; /* multiply-adds per element, on average */

	switch ((enum variant)variant) {
	case IF_ELSE:
		steps = 2 * work;
		break;
	case ONE_LANE:
		steps = work + work / 32;
		break;
	case LOOP:
		steps = 0; /* of a full warp, exactly */
		for (int lane = 0; lane < 32; lane++)
			steps += (LOOP_LEAST + lane % LOOP_KINDS) / 32.0;
		break;
	case SPLIT_BARRIER:
		steps = 1;
		break;
	case PARITY: case BY_WARP: case PATHS: case N_VARIANTS:
		break;
	}
	*out = (struct kernel_cost){ .flop = 2 * steps * n, .min_bytes = 8 * n };
}

const struct kernel_desc kernel_diverge = {
	.name = "diverge", .title = "control divergence", .section = "PMPP ch. 4",
	.about = "A warp executes one instruction for all its lanes. Where lanes want different "
	         "instructions, the warp makes one pass per path and switches the other lanes off. "
	         "The variants split warps in every way the book shows, and one does not.",
	KERNEL_PARTS,
	.fill = kernel_fill_uniform,
	KERNEL_EXAMPLES(
		{ "paths", "N=1000 block=256", { 4, 1, 1 }, { 256, 1, 1 }, 0, 0 }),
	KERNEL_REFUSALS(
		{ "split_barrier", "block=33", "block", "pairs" }),
};

#endif

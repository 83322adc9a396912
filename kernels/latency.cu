/*
 * Latency hiding and block scheduling: what residency is for.
 *
 *   chase   every thread follows CHAINS chains of dependent loads: only other warps, or its own
 *           other chains, can fill the wait. `ballast` takes shared memory away, so that fewer
 *           blocks are resident: sweep it and watch the time.
 *   ticket  every block draws a ticket when it starts: blocks run in any order, a few at a time
 *
 * PMPP 4.2, 4.6. Dependent loads cannot be reordered: one link of a chain is one memory latency.
 */

/* Compile parameters and their defaults, for both halves. */
#ifndef CHAINS
#define CHAINS 1
#endif

#ifdef __CUDACC__

extern "C" __global__ void latency_v0_chase(const unsigned *next, unsigned *out, unsigned N,
                                            int hops)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned at[CHAINS];

	/* The launch asks for `ballast` bytes of shared memory that nothing here touches: they only
	 * take room. Chain c of this thread starts c full grids further on. */
#pragma unroll
	for (int c = 0; c < CHAINS; c++)
		at[c] = (t + (unsigned)c * gridDim.x * blockDim.x) % N;
#pragma unroll 1
	for (int h = 0; h < hops; h++) {
#pragma unroll
		for (int c = 0; c < CHAINS; c++)
			at[c] = next[at[c]]; //@ load
	}
	unsigned sum = 0;
#pragma unroll
	for (int c = 0; c < CHAINS; c++)
		sum += at[c];
	out[t] = sum; //@ store
}

extern "C" __global__ void latency_v1_ticket(unsigned *counter, unsigned *order, int work)
{
	__shared__ unsigned ticket;

	if (threadIdx.x == 0) {
		ticket = atomicAdd(counter, 1u); //@ draw
		order[blockIdx.x] = ticket; //@ store
	}
	__syncthreads();
	/* something to do, so that a block stays a while: never true, and the compiler cannot know */
	float x = (float)ticket;
#pragma unroll 1
	for (int s = 0; s < work; s++)
		x = fmaf(x, 0.5f, 1.0f); //@ work
	if (x < 0.0f)
		order[blockIdx.x] = 0;
}

#else /* the host half */

#include "model/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum variant { CHASE, TICKET, N_VARIANTS };
enum param { P_N, P_BLOCK, P_BLOCKS, P_HOPS, P_BALLAST, P_CHAINS, P_WORK, N_PARAMS };
/* chase: next, out; ticket: counter, order */
enum buffer { FIRST, SECOND, N_BUFFERS };

#define MAX_N ((int64_t)1 << 26)
#define MAX_BLOCKS 65535
#define MAX_HOPS 4096
#define MAX_WORK 65536
#define MAX_BALLAST 48 /* KiB: what every GPU gives a block without being asked */
#define BIT(v) (1u << (v))

static const int64_t n_steps[] = { 1, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22,
	                           1 << 24, MAX_N, INT64_MIN };
static const int64_t blocks_steps[] = { 1, 2, 4, 8, 16, 34, 68, 108, 132, 216, 264, 528, 1056, 2112,
	                                INT64_MIN };
static const int64_t hops_steps[] = { 0, 1, 4, 16, 64, 256, 1024, INT64_MIN };
static const int64_t ballast_steps[] = { 0, 1, 2, 4, 8, 12, 16, 24, 32, MAX_BALLAST, INT64_MIN };
static const int64_t work_steps[] = { 0, 16, 64, 256, 1024, 4096, INT64_MIN };
static const int64_t factors[] = { 1, 2, 4, 8, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N", .title = "links in the ring", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1 << 20, .min = 1, .max = MAX_N, .steps = n_steps, .variants = BIT(CHASE) },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 128, kernel_block_steps),
	[P_BLOCKS] = { .name = "blocks", .title = "blocks in the grid", .unit = "blocks",
	               .kind = PARAM_LAUNCH, .def = 264, .min = 1, .max = MAX_BLOCKS,
	               .steps = blocks_steps },
	[P_HOPS] = { .name = "hops", .title = "dependent loads per chain", .unit = "loads",
	             .kind = PARAM_LAUNCH, .def = 64, .min = 0, .max = MAX_HOPS, .steps = hops_steps,
	             .variants = BIT(CHASE) },
	[P_BALLAST] = { .name = "ballast", .title = "shared memory taken per block", .unit = "KiB",
	                .kind = PARAM_LAUNCH, .def = 0, .min = 0, .max = MAX_BALLAST,
	                .steps = ballast_steps },
	[P_CHAINS] = { .name = "CHAINS", .title = "chains per thread", .unit = "chains",
	               .kind = PARAM_COMPILE, .def = CHAINS, .min = 1, .max = 8, .choices = factors,
	               .variants = BIT(CHASE) },
	[P_WORK] = { .name = "work", .title = "multiply-adds per block", .unit = "FMA",
	             .kind = PARAM_LAUNCH, .def = 1024, .min = 0, .max = MAX_WORK, .steps = work_steps,
	             .variants = BIT(TICKET) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[CHASE] = { KERNEL_VARIANT(latency, 0, chase), .title = "dependent loads",
		.idea = "each load needs the one before: only other resident warps can fill the wait",
		.section = "PMPP 4.6", .seeds = "S-058 S-129 S-513" },
	[TICKET] = { KERNEL_VARIANT(latency, 1, ticket), .title = "order of the blocks",
		.idea = "blocks take turns on the SMs in any order: no block may wait for another",
		.section = "PMPP 4.2", .seeds = "S-057 S-331" },
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t n = p[P_N], block = p[P_BLOCK], blocks = p[P_BLOCKS];

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, blocks, 1, block, 1),
		/* ticket: 16 bytes of its own are in there already */
		.dynamic_shared_bytes = (uint32_t)p[P_BALLAST] * 1024 -
		                        (variant == TICKET && p[P_BALLAST] ? 16 : 0),
		.n_buffers = N_BUFFERS,
	};
	if (variant == CHASE) {
		out->buffers[FIRST] = (struct buffer_plan){ .name = "next", .type = ELEM_U32,
			                                    .role = BUF_IN, .count = (size_t)n };
		out->buffers[SECOND] = (struct buffer_plan){ .name = "out", .type = ELEM_U32,
			                                     .role = BUF_OUT,
			                                     .count = (size_t)(block * blocks) };
	} else {
		out->buffers[FIRST] = (struct buffer_plan){ .name = "counter", .type = ELEM_U32,
			                                    .role = BUF_INOUT, .count = 1 };
		out->buffers[SECOND] = (struct buffer_plan){ .name = "order", .type = ELEM_U32,
			                                     .role = BUF_OUT, .count = (size_t)blocks };
	}
	out->args[out->n_args++] = (struct kernel_arg)KERNEL_ARG_BUFFER(FIRST);
	out->args[out->n_args++] = (struct kernel_arg)KERNEL_ARG_BUFFER(SECOND);
	if (variant == CHASE)
		out->args[out->n_args++] = (struct kernel_arg)KERNEL_ARG_U32(n);
	out->args[out->n_args++] = (struct kernel_arg){
		.kind = ARG_I32, .i32 = (int32_t)(variant == CHASE ? p[P_HOPS] : p[P_WORK]) };
	return kernel_launch_legal(out, err);
}

/* One ring through all elements in random order (Sattolo): every chain is as long as it can be. */
static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	const size_t n = launch->buffers[b].count;
	unsigned *next = data;
	uint64_t state = seed;

	(void)p;
	if (launch->buffers[b].role == BUF_INOUT) { /* the ticket counter */
		next[0] = 0;
		return;
	}
	for (size_t i = 0; i < n; i++)
		next[i] = (unsigned)i;
	for (size_t i = n - 1; i > 0; i--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		const size_t j = (size_t)(state >> 33) % i;
		const unsigned keep = next[i];
		next[i] = next[j];
		next[j] = keep;
	}
}

/* Position on the ring, so that a chain of any length is one subtraction. */
static void check_chase(const struct launch_plan *launch, const int64_t *p, const unsigned *next,
                        const unsigned *out, struct check_result *result)
{
	const size_t n = (size_t)p[P_N], threads = launch->buffers[SECOND].count;
	const size_t hops = (size_t)p[P_HOPS] % n, chains = (size_t)p[P_CHAINS];
	unsigned *ring = malloc(n * sizeof *ring), *place = malloc(n * sizeof *place);

	if (!ring || !place) {
		snprintf(result->note, sizeof result->note, "no memory for the reference");
		result->errors = 1;
		free(ring), free(place);
		return;
	}
	for (size_t i = 0, at = 0; i < n; i++, at = next[at]) {
		ring[i] = (unsigned)at;
		place[at] = (unsigned)i;
	}
	for (size_t t = 0; t < threads; t++) {
		unsigned want = 0;
		for (size_t c = 0; c < chains; c++)
			want += ring[(place[(t + c * threads) % n] + hops) % n];
		if (out[t] != want)
			check_element(out[t], want, 0, t, SECOND, result);
	}
	free(ring), free(place);
}

/* Every ticket was drawn once, in whatever order. */
static void check_tickets(const struct launch_plan *launch, const unsigned *counter,
                          const unsigned *order, struct check_result *result)
{
	const size_t blocks = launch->buffers[SECOND].count;
	unsigned char *drawn = calloc(blocks, 1);
	size_t in_order = 0;

	if (!drawn) {
		snprintf(result->note, sizeof result->note, "no memory for the reference");
		result->errors = 1;
		return;
	}
	check_element(counter[0], (double)blocks, 0, 0, FIRST, result);
	for (size_t i = 0; i < blocks; i++) {
		in_order += order[i] == i;
		if (order[i] >= blocks || drawn[order[i]]++)
			check_element(order[i], -1, 0, i, SECOND, result);
	}
	free(drawn);
	if (!result->errors)
		snprintf(result->note, sizeof result->note, "%zu of %zu blocks started in turn", in_order,
		         blocks);
}

/* Tolerance 0: whole numbers. */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	if (variant == CHASE)
		check_chase(launch, p, before[FIRST], after[SECOND], result);
	else
		check_tickets(launch, after[FIRST], after[SECOND], result);
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double threads = (double)launch->block.x * (double)launch->grid.x;
	const double loads = threads * (double)p[P_CHAINS] * (double)p[P_HOPS];
	const double ring = (double)launch->buffers[FIRST].count;

	*out = variant == CHASE
	               ? (struct kernel_cost){ .min_bytes = 4 * (loads < ring ? loads : ring) +
		                                            4 * threads }
	               : (struct kernel_cost){ .flop = 2 * threads * (double)p[P_WORK],
		                               .min_bytes = 4 + 4 * (double)launch->grid.x };
}

const struct kernel_desc kernel_latency = {
	.name = "latency", .title = "latency hiding", .section = "PMPP ch. 4",
	.about = "A load from memory takes hundreds of cycles; an SM fills them with other warps. Take "
	         "shared memory away from it and fewer blocks fit: the same loads take longer. The "
	         "second variant shows in which order blocks get their turn.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "chase", "blocks=7 block=64 ballast=12", { 7, 1, 1 }, { 64, 1, 1 }, 12288, 0 }),
};

#endif

/*
 * Vector addition, r = x + y: who does which element, and what that costs.
 *
 *   one_thread   <<<1, 1>>>          a CPU loop on one GPU thread
 *   chunks       <<<1, block>>>      each thread a contiguous chunk (the CPU habit: uncoalesced)
 *   one_block    <<<1, block>>>      threads interleaved, stride = blockDim
 *   per_element  <<<N/block, block>>> the loop is the grid
 *   grid_stride  <<<blocks, block>>> any grid, stride = whole grid
 *   coarsened    COARSE elements per thread: nothing to save here, so nothing gained
 *   unrolled     UNROLL loads in flight per thread: fewer branches, more registers
 *   race         every thread adds every element without agreement: wrong by design
 *   atomic       the same with atomicAdd: right, and slow
 *
 * PMPP 2.3-2.7, 5.5, 6.3. Knows nothing of back ends; the host half only describes launches.
 */

/* Defaults of the compile parameters, for both halves. */
#ifndef COARSE
#define COARSE 4
#endif
#ifndef UNROLL
#define UNROLL 4
#endif

#ifdef __CUDACC__

static_assert(COARSE >= 1 && UNROLL >= 1, "a thread handles at least one element");

extern "C" __global__ void vec_add_v0_one_thread(const float *x, const float *y, float *r,
                                                 int n)
{
	for (int i = 0; i < n; i++) {
		const float a = x[i]; //@ load-x
		const float b = y[i]; //@ load-y
		r[i] = a + b;         //@ add
	}
}

extern "C" __global__ void vec_add_v1_chunks(const float *x, const float *y, float *r, int n)
{
	/* Neighbouring lanes are `chunk` elements apart: each lane of a load has its own sector. */
	const int chunk = (n + (int)blockDim.x - 1) / (int)blockDim.x;
	const int first = (int)threadIdx.x * chunk;
	const int end = min(first + chunk, n);

	/* Not unrolled: lanes whose chunks end apart would meet again where the compiler likes. */
#pragma unroll 1
	for (int i = first; i < end; i++) {
		const float a = x[i]; //@ load-x
		const float b = y[i]; //@ load-y
		r[i] = a + b;         //@ add
	}
}

extern "C" __global__ void vec_add_v2_one_block(const float *x, const float *y, float *r, int n)
{
	/* Neighbouring lanes are neighbours in memory: 32 x 4 bytes = one 128-byte line. */
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) {
		const float a = x[i]; //@ load-x
		const float b = y[i]; //@ load-y
		r[i] = a + b;         //@ add
	}
}

extern "C" __global__ void vec_add_v3_per_element(const float *x, const float *y, float *r, int n)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n) { /* the last block may reach past the end */
		const float a = x[i]; //@ load-x
		const float b = y[i]; //@ load-y
		r[i] = a + b;         //@ add
	}
}

extern "C" __global__ void vec_add_v4_grid_stride(const float *x, const float *y, float *r, int n)
{
	const int stride = (int)(gridDim.x * blockDim.x);

	for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
		const float a = x[i]; //@ load-x
		const float b = y[i]; //@ load-y
		r[i] = a + b;         //@ add
	}
}

extern "C" __global__ void vec_add_v5_coarsened(const float *__restrict__ x,
                                                const float *__restrict__ y,
                                                float *__restrict__ r, int n)
{
	/* A block owns COARSE * blockDim neighbours; its threads step through them side by side. */
	const int first = (int)(blockIdx.x * blockDim.x * COARSE + threadIdx.x);

#pragma unroll
	for (int c = 0; c < COARSE; c++) {
		const int i = first + c * (int)blockDim.x;
		if (i < n) {
			const float a = x[i]; //@ load-x
			const float b = y[i]; //@ load-y
			r[i] = a + b;         //@ add
		}
	}
}

extern "C" __global__ void vec_add_v6_unrolled(const float *__restrict__ x,
                                               const float *__restrict__ y,
                                               float *__restrict__ r, int n)
{
	const int stride = (int)(gridDim.x * blockDim.x);
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	/* All loads of a round first: 2 * UNROLL of them wait for memory together. */
	for (; i + (UNROLL - 1) * stride < n; i += UNROLL * stride) {
		float a[UNROLL], b[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++) {
			a[u] = x[i + u * stride]; //@ load-x
			b[u] = y[i + u * stride]; //@ load-y
		}
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			r[i + u * stride] = a[u] + b[u]; //@ add
	}
#pragma unroll 1
	for (; i < n; i += stride) /* fewer than UNROLL elements are left to this thread */
		r[i] = x[i] + y[i]; //@ rest
}

extern "C" __global__ void vec_add_v7_race(const float *x, const float *y, float *r, int n)
{
	/* Nothing divides the work: all read r[i], add, write back, and lose each other's sums. */
	for (int i = 0; i < n; i++)
		r[i] += x[i] + y[i]; //@ add
}

extern "C" __global__ void vec_add_v8_atomic(const float *x, const float *y, float *r, int n)
{
	for (int i = 0; i < n; i++)
		atomicAdd(&r[i], x[i] + y[i]); //@ add
}

#else /* the host half */

#include "model/kernel.h"

#include <stdio.h>
#include <string.h>

enum variant {
	ONE_THREAD, CHUNKS, ONE_BLOCK, PER_ELEMENT, GRID_STRIDE, COARSENED, UNROLLED, RACE, ATOMIC,
	N_VARIANTS
};
enum param {
	P_N, P_BLOCK, P_BLOCKS, P_COARSE, P_UNROLL, P_STREAMS, P_CHUNKS, P_PINNED, P_RESIDENT, P_DEAL,
	N_PARAMS
};
enum buffer { X, Y, R, N_BUFFERS };

/* 1 GiB per vector. An index never passes MAX_N + 16 * MAX_BLOCKS * 1024 (unrolled), within int. */
#define MAX_N ((int64_t)1 << 28)
#define MAX_BLOCKS 65535
_Static_assert(MAX_N + 16 * MAX_BLOCKS * INT64_C(1024) <= INT32_MAX, "indices are 32-bit");
#define WHOLE_GRID (1u << PER_ELEMENT | 1u << GRID_STRIDE)
#define ALL_BUT_ONE_THREAD ((1u << N_VARIANTS) - 1u - (1u << ONE_THREAD))

static const int64_t n_steps[] = { 1, 32, 100, 1003, 4000, 1 << 14, 1 << 16, 1 << 18, 1000000,
	                           1 << 20, 1 << 22, 1 << 24, 1 << 26, 100000000, MAX_N, INT64_MIN };
static const int64_t block_steps[] = { 1, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	                               INT64_MIN };
static const int64_t blocks_steps[] = { 1, 2, 4, 8, 16, 34, 68, 108, 132, 136, 216, 264, 528, 1056,
	                                2112, 4224, 8192, 16384, MAX_BLOCKS, INT64_MIN };
static const int64_t factors[] = { 1, 2, 4, 8, 16, INT64_MIN };

/* What surrounds the kernel: the pipeline of PMPP 20.5, drawn by the timeline. */
static const int64_t chunk_steps[] = { 1, 2, 4, 8, 16, 32, 64, INT64_MIN };
static const int64_t no_yes[] = { 0, 1, INT64_MIN };
static const char *const no_yes_words[] = { "no", "yes" };
/* enum stream_deal */
static const int64_t deals[] = { 0, 1, 2, INT64_MIN };
static const char *const deal_words[] = { "pieces", "engines", "trap" };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N", .title = "vector length", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1 << 20, .min = 1, .max = MAX_N, .steps = n_steps },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 256, block_steps, .variants = ALL_BUT_ONE_THREAD),
	[P_BLOCKS] = { .name = "blocks", .title = "blocks in the grid", .unit = "blocks",
	               .kind = PARAM_LAUNCH, .def = 136, .min = 1, .max = MAX_BLOCKS,
	               .steps = blocks_steps, .variants = 1u << GRID_STRIDE | 1u << UNROLLED },
	[P_COARSE] = { .name = "COARSE", .title = "elements per thread", .unit = "elements",
	               .kind = PARAM_COMPILE, .def = COARSE, .min = 1, .max = 16,
	               .choices = factors, .variants = 1u << COARSENED },
	[P_UNROLL] = { .name = "UNROLL", .title = "loads in flight per vector", .unit = "elements",
	               .kind = PARAM_COMPILE, .def = UNROLL, .min = 1, .max = 16,
	               .choices = factors, .variants = 1u << UNROLLED },
	[P_STREAMS] = { .name = "streams", .title = "streams; 0 = the default stream",
	                .unit = "streams",
	                .kind = PARAM_STREAM, .def = 1, .min = 0, .max = 16, .variants = WHOLE_GRID },
	[P_CHUNKS] = { .name = "chunks", .title = "pieces, dealt to the streams", .unit = "pieces",
	               .kind = PARAM_STREAM, .def = 1, .min = 1, .max = 64, .steps = chunk_steps,
	               .variants = WHOLE_GRID },
	[P_PINNED] = { .name = "pinned", .title = "page-locked host memory", .unit = "",
	               .kind = PARAM_STREAM, .def = 0, .min = 0, .max = 1, .choices = no_yes,
	               .words = no_yes_words, .variants = WHOLE_GRID },
	[P_RESIDENT] = { .name = "resident", .title = "data stays on the device", .unit = "",
	                 .kind = PARAM_STREAM, .def = 0, .min = 0, .max = 1, .choices = no_yes,
	                 .words = no_yes_words, .variants = WHOLE_GRID },
	[P_DEAL] = { .name = "deal", .title = "what goes into which stream", .unit = "",
	             .kind = PARAM_STREAM, .def = 0, .min = 0, .max = 2, .choices = deals,
	             .words = deal_words, .variants = WHOLE_GRID },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[ONE_THREAD] = { KERNEL_VARIANT(vec_add, 0, one_thread), .title = "one thread",
		.idea = "a CPU loop moved to one GPU thread: all latency, no parallelism",
		.section = "PMPP 2.3", .seeds = "S-001 S-003" },
	[CHUNKS] = { KERNEL_VARIANT(vec_add, 1, chunks), .title = "one block, contiguous chunks",
		.idea = "each thread its own stretch, as on a CPU: lanes far apart, 32 sectors per load",
		.section = "PMPP 6.1", .seeds = "S-005" },
	[ONE_BLOCK] = { KERNEL_VARIANT(vec_add, 2, one_block), .title = "one block, interleaved",
		.idea = "neighbouring lanes take neighbouring elements: 4 sectors per load; still one SM",
		.section = "PMPP 6.1", .seeds = "S-004" },
	[PER_ELEMENT] = { KERNEL_VARIANT(vec_add, 3, per_element), .title = "one thread per element",
		.idea = "the loop is replaced by the grid: every SM works, idle lanes only at the end",
		.section = "PMPP 2.5", .seeds = "S-002 S-302 S-303" },
	[GRID_STRIDE] = { KERNEL_VARIANT(vec_add, 4, grid_stride), .title = "grid-stride loop",
		.idea = "any grid covers any length: choose blocks to fill the SMs, not the data",
		.section = "PMPP 2.6", .seeds = "S-007 S-008 S-332" },
	[COARSENED] = { KERNEL_VARIANT(vec_add, 5, coarsened), .title = "coarsened",
		.idea = "more work per thread; no shared load or repeated work is saved, so no gain",
		.section = "PMPP 6.3", .seeds = "S-013 S-348" },
	[UNROLLED] = { KERNEL_VARIANT(vec_add, 6, unrolled), .title = "unrolled grid-stride loop",
		.idea = "several independent loads before the first use: hides latency, costs registers",
		.section = "PMPP 5.5", .seeds = "S-014" },
	[RACE] = { KERNEL_VARIANT(vec_add, 7, race), .title = "race (wrong by design)",
		.idea = "all threads add to every element at once: read, add, write, and updates are lost",
		.section = "PMPP 9.2", .seeds = "S-006 S-304", .wrong = true },
	[ATOMIC] = { KERNEL_VARIANT(vec_add, 8, atomic), .title = "atomic",
		.idea = "the same additions as indivisible steps: every one counts, one after the other",
		.section = "PMPP 9.2", .seeds = "S-006 S-304" },
};

static bool sums_repeatedly(unsigned variant)
{
	return variant == RACE || variant == ATOMIC;
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t n = p[P_N];
	const int64_t block = variant == ONE_THREAD ? 1 : p[P_BLOCK];
	int64_t grid = 1;

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;

	switch ((enum variant)variant) {
	case PER_ELEMENT:
		grid = (n + block - 1) / block;
		break;
	case COARSENED:
		grid = (n + block * p[P_COARSE] - 1) / (block * p[P_COARSE]);
		break;
	case GRID_STRIDE:
	case UNROLLED:
		grid = p[P_BLOCKS];
		break;
	case ONE_THREAD: case CHUNKS: case ONE_BLOCK: case RACE: case ATOMIC: case N_VARIANTS:
		break;
	}
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, grid, 1, block, 1),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[X] = kernel_vector("x", ELEM_F32, BUF_IN, n),
			[Y] = kernel_vector("y", ELEM_F32, BUF_IN, n),
			[R] = { .name = "r", .type = ELEM_F32, .count = (size_t)n,
			        .role = sums_repeatedly(variant) ? BUF_INOUT : BUF_OUT },
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(X), KERNEL_ARG_BUFFER(Y),
		            KERNEL_ARG_BUFFER(R), KERNEL_ARG_I32(n)),
	};
	return kernel_launch_legal(out, err);
}

/* Random vectors; for race and atomic x = 1, y = 2, r = 0, so that every update adds 3 (S-304). */
static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	float *v = data;

	(void)p;
	if (launch->buffers[R].role != BUF_INOUT) {
		fill_uniform_f32(v, launch->buffers[b].count, seed + b);
		return;
	}
	for (size_t i = 0; i < launch->buffers[b].count; i++)
		v[i] = b == X ? 1.0f : b == Y ? 2.0f : 0.0f;
}

struct sums {
	const float *x, *y, *got;
	double threads; /* that add to each element */
};

/*
 * Tolerance 0. One float32 addition is rounded once; the same sum in double, rounded to float32,
 * is the same number (53 >= 2*24 + 2 bits). The repeated sums are whole numbers below 2^24.
 */
static void check_range(const void *ctx, size_t from, size_t to, struct check_result *result)
{
	const struct sums *s = ctx;

	for (size_t i = from; i < to; i++) {
		double want = (double)(float)(s->threads * ((double)s->x[i] + (double)s->y[i]));
		check_element((double)s->got[i], want, 0, i, R, result);
	}
}

static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const struct sums s = { before[X], before[Y], after[R],
	                        sums_repeatedly(variant) ? (double)launch->block.x : 1 };

	(void)p;
	check_in_parts(launch->buffers[R].count, check_range, &s, result);
	result->ok = result->errors == 0;
	if (variant == RACE && !result->ok)
		snprintf(result->note, sizeof result->note,
		         "race: %.0f expected (%u threads x 3), %.0f seen: updates were lost",
		         result->want, launch->block.x, result->got);
	else if (sums_repeatedly(variant) && result->ok)
		snprintf(result->note, sizeof result->note, "every element is %u x 3 = %u",
		         launch->block.x, launch->block.x * 3);
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double n = (double)launch->buffers[R].count;
	const double threads = (double)launch->block.x;

	(void)p;
	*out = (struct kernel_cost){
		.flop = n, .min_bytes = 12 * n, .book_flop = 1, .book_bytes = 12,
		.book_note = "1 FLOP per 12 bytes: two loads, one store (PMPP 5.1)",
	};
	if (sums_repeatedly(variant)) {
		/* x + y and the addition to r, by every thread; r is also read */
		out->flop = 2 * n * threads;
		out->min_bytes = 16 * n;
		out->book_flop = out->book_bytes = 0;
		out->book_note = NULL;
	}
}

const struct kernel_desc kernel_vec_add = {
	.name = "vec_add", .title = "vector addition", .section = "PMPP ch. 2",
	.about = "r[i] = x[i] + y[i]: one addition for every twelve bytes, so memory decides. "
	         "The variants differ only in which thread takes which element: from one thread for "
	         "all, over a CPU-style split, to a grid that covers the data.",
	.usual = PER_ELEMENT, /* the book's first kernel, Fig. 2.10 */
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "per_element", "N=4000 block=256", { 16, 1, 1 }, { 256, 1, 1 }, 0, 0 }, /* S-301 */
		{ "per_element", "N=100 block=32", { 4, 1, 1 }, { 32, 1, 1 }, 0, 0 }, /* S-302 */
		{ "per_element", "N=1003 block=64", { 16, 1, 1 }, { 64, 1, 1 }, 0, 0 }, /* S-303 */
		{ "grid_stride", "N=1k blocks=136", { 136, 1, 1 }, { 256, 1, 1 }, 0, 0 }, /* S-332 */
		{ "one_thread", "N=5 block=512", { 1, 1, 1 }, { 1, 1, 1 }, 0, 0 },
		{ "coarsened", "N=1025 block=256 COARSE=4", { 2, 1, 1 }, { 256, 1, 1 }, 0, 0 },
		{ "per_element", "", { 0 }, { 0 }, 0, 1.0 / 12 }),
};

#endif

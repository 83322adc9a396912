/*
 * Work whose addresses the data decide: what the time model must foresee without having been tuned
 * on it. Only for random_launches (tests/gpu), which draws sizes, blocks and data.
 *
 *   histogram_global  one atomic addition per item to the bin of its key
 *   histogram_shared  the same in shared memory, joined at the end
 *   sum_global        the same of floats
 *   add_cas           the same by compare-and-swap loops
 *   max_cas           the largest float per key, likewise
 *   gather            out[i] = in[key[i]]
 *   scatter           out[key[i]] = in[i], keys a permutation
 *   local_bins        every thread counts in an array of its own, in local memory
 *
 * `data` says how keys lie: random, skewed (most of them few), sorted (in runs), one. For gather
 * and scatter: random, near (random within 64), in order, backwards.
 */

#ifndef WORDS
#define WORDS 32
#endif

#ifdef __CUDACC__

#define EACH_ITEM(i)                                                  \
	for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; \
	     i += (int)(gridDim.x * blockDim.x))

extern "C" __global__ void keyed_v0_histogram_global(const unsigned *key, const float *in,
                                                     unsigned *out, int n, int bins)
{
	EACH_ITEM(i)
	atomicAdd(&out[key[i]], 1u);
}

extern "C" __global__ void keyed_v1_histogram_shared(const unsigned *key, const float *in,
                                                     unsigned *out, int n, int bins)
{
	extern __shared__ unsigned s[];
	for (int b = (int)threadIdx.x; b < bins; b += (int)blockDim.x)
		s[b] = 0;
	__syncthreads();
	EACH_ITEM(i)
	atomicAdd(&s[key[i]], 1u);
	__syncthreads();
	for (int b = (int)threadIdx.x; b < bins; b += (int)blockDim.x)
		if (s[b])
			atomicAdd(&out[b], s[b]);
}

extern "C" __global__ void keyed_v2_sum_global(const unsigned *key, const float *in, float *out,
                                               int n, int bins)
{
	EACH_ITEM(i)
	atomicAdd(&out[key[i]], in[i]);
}

extern "C" __global__ void keyed_v3_add_cas(const unsigned *key, const float *in, unsigned *out,
                                            int n, int bins)
{
	EACH_ITEM(i)
	{
		unsigned *const p = &out[key[i]];
		unsigned old = *p, seen;
		do {
			seen = old;
			old = atomicCAS(p, seen, seen + 3);
		} while (old != seen);
	}
}

extern "C" __global__ void keyed_v4_max_cas(const unsigned *key, const float *in, unsigned *out,
                                            int n, int bins)
{
	EACH_ITEM(i)
	{
		unsigned *const p = &out[key[i]];
		const float mine = in[i];
		unsigned old = *p, seen;
		do {
			seen = old;
			if (__uint_as_float(seen) >= mine)
				break;
			old = atomicCAS(p, seen, __float_as_uint(mine));
		} while (old != seen);
	}
}

extern "C" __global__ void keyed_v5_gather(const unsigned *key, const float *in, float *out, int n,
                                           int bins)
{
	EACH_ITEM(i)
	out[i] = in[key[i]];
}

extern "C" __global__ void keyed_v6_scatter(const unsigned *key, const float *in, float *out, int n,
                                            int bins)
{
	EACH_ITEM(i)
	out[key[i]] = in[i];
}

extern "C" __global__ void keyed_v7_local_bins(const unsigned *key, const float *in, unsigned *out,
                                               int n, int bins)
{
	unsigned a[WORDS], sum = 0;
	for (int w = 0; w < WORDS; w++)
		a[w] = 0;
	EACH_ITEM(i)
	a[key[i] % WORDS] += 1;
	for (int w = 0; w < WORDS; w++)
		sum += a[w] * (unsigned)(w + 1);
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#else

#include "model/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum variant {
	HISTOGRAM_GLOBAL,
	HISTOGRAM_SHARED,
	SUM_GLOBAL,
	ADD_CAS,
	MAX_CAS,
	GATHER,
	SCATTER,
	LOCAL_BINS,
	N_VARIANTS
};
enum param { P_N, P_BINS, P_BLOCK, P_BLOCKS, P_DATA, P_WORDS, N_PARAMS };
enum buffer { KEY, IN, OUT, N_BUFFERS };
enum data { RANDOM, SKEWED, SORTED, ONE };

#define MAX_SHARED_BINS 8192
#define KEYED ((1u << GATHER) - 1u)

static const int64_t distributions[] = { RANDOM, SKEWED, SORTED, ONE, INT64_MIN };
static const char *const distribution_words[] = { "random", "skewed", "sorted", "one" };
static const int64_t words[] = { 8, 16, 32, 64, 128, 256, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_N] = { .name = "N",
	          .title = "items",
	          .unit = "items",
	          .kind = PARAM_LAUNCH,
	          .def = 1 << 18,
	          .min = 1,
	          .max = 1 << 24 },
	[P_BINS] = { .name = "bins",
	             .title = "keys",
	             .unit = "keys",
	             .kind = PARAM_LAUNCH,
	             .def = 256,
	             .min = 1,
	             .max = 1 << 20,
	             .variants = KEYED },
	[P_BLOCK] = { .name = "block",
	              .title = "threads per block",
	              .unit = "threads",
	              .kind = PARAM_LAUNCH,
	              .def = 256,
	              .min = 1,
	              .max = 1024 },
	[P_BLOCKS] = { .name = "blocks",
	               .title = "blocks in the grid",
	               .unit = "blocks",
	               .kind = PARAM_LAUNCH,
	               .def = 264,
	               .min = 1,
	               .max = 65535 },
	[P_DATA] = { .name = "data",
	             .title = "how keys lie",
	             .unit = "",
	             .kind = PARAM_LAUNCH,
	             .def = RANDOM,
	             .min = RANDOM,
	             .max = ONE,
	             .choices = distributions,
	             .words = distribution_words },
	[P_WORDS] = { .name = "WORDS",
	              .title = "words of each thread",
	              .unit = "words",
	              .kind = PARAM_COMPILE,
	              .def = WORDS,
	              .min = 8,
	              .max = 256,
	              .choices = words,
	              .variants = 1u << LOCAL_BINS },
};

#define VARIANT(id, n, word, what)                                                               \
	[id] = {                                                                                     \
		.name = word, .entry = "keyed_v" #n "_" word, .title = what,                             \
		.idea = what, .section = "tests"                                                         \
	}
static const struct variant_desc variants[N_VARIANTS] = {
	VARIANT(HISTOGRAM_GLOBAL, 0, "histogram_global", "bins in global memory"),
	VARIANT(HISTOGRAM_SHARED, 1, "histogram_shared", "bins in shared memory"),
	VARIANT(SUM_GLOBAL, 2, "sum_global", "sums of floats by key"),
	VARIANT(ADD_CAS, 3, "add_cas", "additions by compare-and-swap"),
	VARIANT(MAX_CAS, 4, "max_cas", "maxima by compare-and-swap"),
	VARIANT(GATHER, 5, "gather", "loads where the keys point"),
	VARIANT(SCATTER, 6, "scatter", "stores where the keys point"),
	VARIANT(LOCAL_BINS, 7, "local_bins", "arrays in local memory"),
};

static bool moves(unsigned variant)
{
	return variant == GATHER || variant == SCATTER;
}

static size_t outputs(unsigned variant, const int64_t *p)
{
	if (moves(variant))
		return (size_t)p[P_N];
	return (size_t)(variant == LOCAL_BINS ? p[P_BLOCK] * p[P_BLOCKS] : p[P_BINS]);
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	if (variant == HISTOGRAM_SHARED && p[P_BINS] > MAX_SHARED_BINS)
		return kernel_refuse(err, "bins", p[P_BINS], "at most %d fit in shared memory",
		                     MAX_SHARED_BINS);
	const bool floats = variant == SUM_GLOBAL || moves(variant);
	*out = (struct launch_plan){
		.entry = variants[variant].entry,
		.grid = { (uint32_t)p[P_BLOCKS], 1, 1 },
		.block = { (uint32_t)p[P_BLOCK], 1, 1 },
		.dynamic_shared_bytes = variant == HISTOGRAM_SHARED ? (uint32_t)p[P_BINS] * 4 : 0,
		.n_buffers = N_BUFFERS,
		.buffers = {
			[KEY] = { .name = "key", .type = ELEM_U32, .role = BUF_IN, .count = (size_t)p[P_N] },
			[IN] = { .name = "in", .type = ELEM_F32, .role = BUF_IN, .count = (size_t)p[P_N] },
			[OUT] = { .name = "out", .type = floats ? ELEM_F32 : ELEM_U32, .role = BUF_INOUT,
			          .count = outputs(variant, p) },
		},
		.n_args = 5,
		.args = {
			{ .kind = ARG_BUFFER, .buffer = KEY }, { .kind = ARG_BUFFER, .buffer = IN },
			{ .kind = ARG_BUFFER, .buffer = OUT }, { .kind = ARG_I32, .i32 = (int32_t)p[P_N] },
			{ .kind = ARG_I32, .i32 = (int32_t)p[P_BINS] },
		},
	};
	return kernel_launch_legal(out, err);
}

/* --- keys --- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* A random order within each @window neighbours. */
static void shuffle(uint32_t *key, size_t n, size_t window, uint64_t *state)
{
	for (size_t from = 0; from < n; from += window) {
		const size_t here = n - from < window ? n - from : window;
		for (size_t i = here; i > 1; i--) {
			const size_t j = next_random(state) % i;
			const uint32_t t = key[from + i - 1];
			key[from + i - 1] = key[from + j];
			key[from + j] = t;
		}
	}
}

static void fill_order(uint32_t *key, size_t n, int64_t data, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		key[i] = (uint32_t)(data == ONE ? n - 1 - i : i);
	if (data == RANDOM)
		shuffle(key, n, n, state);
	else if (data == SKEWED)
		shuffle(key, n, 64, state);
}

static void fill_keys(uint32_t *key, size_t n, uint32_t bins, int64_t data, uint64_t *state)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t wide = bins;
		switch ((enum data)data) {
		case RANDOM: key[i] = next_random(state) % bins; break;
		case SKEWED: /* three of four in an eighth of the keys, and so on */
			while (wide > 1 && next_random(state) % 4)
				wide = (wide + 7) / 8;
			key[i] = next_random(state) % wide;
			break;
		case SORTED: key[i] = (uint32_t)((uint64_t)i * bins / n); break;
		case ONE: key[i] = 0; break;
		}
	}
}

static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	const size_t n = launch->buffers[b].count;
	uint64_t state = seed * 2654435761u + b;
	if (b == OUT)
		memset(data, 0, n * 4);
	else if (b == IN)
		fill_integers_f32(data, n, 0, 1 << 20, seed + 1);
	else if (!strcmp(launch->entry, variants[GATHER].entry) ||
	         !strcmp(launch->entry, variants[SCATTER].entry))
		fill_order(data, n, p[P_DATA], &state);
	else
		fill_keys(data, n, (uint32_t)p[P_BINS], p[P_DATA], &state);
}

/* --- reference --- */

static void reference(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                      const uint32_t *key, const float *in, double *want)
{
	const size_t n = (size_t)p[P_N], threads = (size_t)p[P_BLOCK] * (size_t)p[P_BLOCKS];
	(void)launch;
	for (size_t i = 0; i < n; i++)
		switch ((enum variant)variant) {
		case HISTOGRAM_GLOBAL:
		case HISTOGRAM_SHARED: want[key[i]] += 1; break;
		case SUM_GLOBAL: want[key[i]] += (double)in[i]; break;
		case ADD_CAS: want[key[i]] += 3; break;
		case MAX_CAS: want[key[i]] = fmax(want[key[i]], (double)in[i]); break;
		case GATHER: want[i] = (double)in[key[i]]; break;
		case SCATTER: want[key[i]] = (double)in[i]; break;
		case LOCAL_BINS: want[i % threads] += key[i] % (uint32_t)p[P_WORDS] + 1; break;
		case N_VARIANTS: break;
		}
}

/* Exact but for sums of floats, whose order differs: a rounding per addition, of the whole sum. */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const size_t n = launch->buffers[OUT].count;
	double *want = calloc(n, sizeof *want);
	if (!want)
		return;
	reference(variant, launch, p, before[KEY], before[IN], want);
	for (size_t i = 0; i < n; i++) {
		const uint32_t *words_out = after[OUT];
		const float *floats = after[OUT];
		float as_float;
		memcpy(&as_float, &words_out[i], sizeof as_float);
		const bool real = variant == SUM_GLOBAL || variant == MAX_CAS || moves(variant);
		const double got =
			real ? (double)(variant == MAX_CAS ? as_float : floats[i]) : (double)words_out[i];
		const double slack = variant == SUM_GLOBAL ? 1e-3 * fabs(want[i]) : 0;
		check_element(got, want[i], slack, i, OUT, result);
	}
	result->ok = result->errors == 0;
	free(want);
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double n = (double)p[P_N];
	*out = (struct kernel_cost){ .flop = variant == SUM_GLOBAL ? n : 0,
		                         .min_bytes = 8 * n + 4 * (double)launch->buffers[OUT].count };
}

const struct kernel_desc kernel_keyed = {
	.name = "keyed",
	.title = "keyed work",
	.section = "tests",
	.about = "Work whose addresses the data decide.",
	.n_params = N_PARAMS,
	.n_variants = N_VARIANTS,
	.params = params,
	.variants = variants,
	.plan = plan,
	.fill = fill,
	.check = check,
	.cost = cost,
};

#endif

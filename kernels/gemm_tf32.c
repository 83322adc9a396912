/* Host half of the gemm_tf32 family: its knobs, variants, launch plans, inputs and checks. */
#include "gemm_tf32.cu" /* the tiles and the defaults of the compile parameters */
#include "base/mem.h"
#include "base/text.h"
#include "model/kernel.h"

#include <stdlib.h>
#include <string.h>

enum variant { WMMA, MMA, WGMMA, N_VARIANTS };
enum param { P_M, P_N, P_K, P_STAGES, P_BAND, N_PARAMS };
enum buffer { A, B, C };

#define MAX_SIZE 16384
#define BIT(v) (1u << (v))
#define STAGED (BIT(MMA) | BIT(WGMMA))

static const int64_t size_steps[] = { 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, MAX_SIZE,
	                              INT64_MIN };
static const int64_t stages[] = { 3, 4, INT64_MIN };
static const int64_t bands[] = { 1, 2, 4, 8, 16, 32, INT64_MIN };

#define SIZE(NAME, TITLE)                                                                      \
	{ .name = NAME, .title = TITLE, .unit = "elements", .kind = PARAM_LAUNCH, .def = 1024, \
	  .min = 16, .max = MAX_SIZE, .steps = size_steps }
#define KNOB(NAME, TITLE, UNIT, LEAST, MOST, CHOICES)                                         \
	{ .name = #NAME, .title = TITLE, .unit = UNIT, .kind = PARAM_COMPILE,                 \
	  .def = NAME, .min = LEAST, .max = MOST, .choices = CHOICES, .variants = STAGED }

static const struct param_desc params[N_PARAMS] = {
	[P_M] = SIZE("M", "rows of A and C"),
	[P_N] = SIZE("N", "columns of B and C"),
	[P_K] = SIZE("K", "columns of A, rows of B"),
	[P_STAGES] = KNOB(STAGES, "steps whose tiles have a place", "steps", 3, 4, stages),
	[P_BAND] = KNOB(BAND, "tile rows in a band of blocks", "rows", 1, 32, bands),
};

static const struct variant_desc variants[N_VARIANTS] = {
	[WMMA] = { KERNEL_VARIANT(gemm_tf32, 0, wmma), .title = "a warp per 16 x 16 tile",
		.idea = "a warp multiplies 16 x 16 x 8 at once; its fragments come from global memory",
		.section = "beyond PMPP", .seeds = "S-542 S-094", .least_cc = 80 },
	[MMA] = { KERNEL_VARIANT(gemm_tf32, 1, mma), .title = "mma.sync, copies ahead",
		.idea = "cp.async runs ahead; B's quads go to four fragments; 64 x 64 a warp",
		.section = "beyond the sources", .seeds = "", .least_cc = 80 },
	[WGMMA] = { KERNEL_VARIANT(gemm_tf32, 2, wgmma), .title = "products of warp groups, turned",
		.idea = "C is made turned: B comes from registers, A from shared memory as it lies",
		.section = "beyond the sources", .seeds = "", .least_cc = 90, .that_cc_only = true },
};

/* A block's tile, its step and its threads. */
static const struct shape {
	uint32_t m, n, k, threads;
} shapes[N_VARIANTS] = {
	[WMMA] = { 16, 16, 8, 32 * WMMA_WARPS }, /* a warp's */
	[MMA] = { MMA_M, MMA_N, MMA_K, MMA_THREADS },
	[WGMMA] = { GROUP_M, GROUP_N, GROUP_K, GROUP_THREADS },
};

static bool sizes_legal(const int64_t *p, struct err *err)
{
	for (unsigned i = P_M; i <= P_K; i++)
		if (p[i] % 16) {
			kernel_refuse(err, params[i].name, p[i],
			              "tensor cores multiply fragments of 16: a multiple of 16 is needed");
			return err_remedy(err, "try %s=%lld", params[i].name,
			                  (long long)(p[i] / 16 * 16 + 16));
		}
	return true;
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const struct shape *s = &shapes[variant];
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err) || !sizes_legal(p, err))
		return false;
	const uint64_t tiles_x = ceil_div((uint64_t)p[P_N], s->n);
	const uint64_t tiles_y = ceil_div((uint64_t)p[P_M], s->m);
	const uint64_t blocks_x = variant == WMMA ? ceil_div(tiles_x, WMMA_WARPS) : tiles_x;
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, blocks_x, tiles_y, s->threads, 1),
	};
	kernel_product_args(out, p[P_M], p[P_N], p[P_K], false);
	if (BIT(variant) & STAGED) {
		out->grid = (struct dim3u){ (uint32_t)(tiles_x * tiles_y), 1, 1 };
		out->dynamic_shared_bytes = (uint32_t)p[P_STAGES] * STAGE_BYTES(s->m, s->n, s->k);
	}
	return kernel_launch_legal(out, err);
}

/* What tensor cores read of a value: its upper 19 bits. */
#define TF32_BITS 0xffffe000u
/* Below them, and below half of the last: cut off, rounded or not. */
#define TF32_REST 0x00000fffu

static uint32_t bits_of(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static float float_of(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Values of fill_products_f32 have at most 11 bits, which TF32 holds. A and B get something below,
 * which must make no difference. */
static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	const size_t n = launch->buffers[b].count;
	float *const values = data;
	uint64_t state = ~(seed + b);

	fill_products_f32(values, n, (size_t)p[P_K], seed + b);
	for (size_t i = 0; i < n; i++)
		values[i] = float_of(bits_of(values[i]) | ((uint32_t)rand_next(&state) & TF32_REST));
}

static float *cut(const float *from, int64_t n)
{
	float *const out = mem_alloc((size_t)n * sizeof *out);
	for (int64_t i = 0; i < n; i++)
		out[i] = float_of(bits_of(from[i]) & TF32_BITS);
	return out;
}

/* Tolerance 0: the inputs as TF32 keep every partial sum exact in float32 (fill_products_f32), in
 * whatever order and with whatever few bits below it tensor cores add. */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	float *const a = cut(before[A], p[P_M] * p[P_K]);
	float *const b = cut(before[B], p[P_K] * p[P_N]);

	(void)variant, (void)launch;
	check_matmul_f32(&(struct matmul_ref){
		.a = a, .b = b, .c = after[C],
		.m = (size_t)p[P_M], .n = (size_t)p[P_N], .k = (size_t)p[P_K], .buffer = C }, result);
	free(a);
	free(b);
}

/* Per step of depth 1 a tile takes m + n values and does m * n multiply-adds. */
static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double m = (double)p[P_M], n = (double)p[P_N], k = (double)p[P_K];
	const struct shape *s = &shapes[variant];

	(void)launch;
	*out = (struct kernel_cost){
		.flop = 2 * m * n * k, .tensor = TENSOR_TF32, .min_bytes = 4 * (m * k + k * n + m * n),
		.book_flop = 2.0 * s->m * s->n, .book_bytes = 4.0 * (s->m + s->n),
		.book_note = "2*m*n FLOP per 4*(m + n) bytes: one step of an m x n tile",
	};
}

const struct kernel_desc kernel_gemm_tf32 = {
	.name = "gemm_tf32", .title = "matrix multiplication, TF32 tensor cores",
	.section = "beyond PMPP",
	.about = "The product of matrices in single precision on tensor cores, which read the upper 19 "
	         "bits of a value (TF32: 10 bits of fraction) and add in single precision. Half the "
	         "rate of FP16, and one more thing to solve: no instruction turns B's tile.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "wmma", "M=1024 N=1024", { 16, 64, 1 }, { 128, 1, 1 }, 0, 4 },
		{ "wmma", "M=48 N=80 K=16", { 2, 3, 1 }, { 128, 1, 1 }, 0, 0 },
		{ "mma", "M=256 N=512", { 8, 1, 1 }, { 128, 1, 1 }, 67584, 32 },
		{ "mma", "M=272 N=528 STAGES=3", { 15, 1, 1 }, { 128, 1, 1 }, 50688, 32 },
		{ "wgmma", "M=512 N=256", { 4, 1, 1 }, { 256, 1, 1 }, 200704, 0 }),
	KERNEL_REFUSALS(
		{ "wmma", "M=100", "M", "a multiple of 16" },
		{ "mma", "N=24", "N", "a multiple of 16" },
		{ "wgmma", "K=100", "K", "a multiple of 16" }),
	.product = (const unsigned[]){ P_M, P_N, P_K },
};

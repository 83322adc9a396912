/* Host half of the sgemm_async family: its knobs, variants, launch plans, inputs and checks. */
#include "sgemm_async.cu" /* the defaults of the compile parameters; its kernels are for nvcc */
#include "model/kernel.h"

enum variant { COPIES, BANKS, N_VARIANTS };
enum param { P_M, P_N, P_K, P_BM, P_BN, P_BK, P_TM, P_TN, P_WN, P_BAND, P_STAGES, N_PARAMS };
enum buffer { A, B, C };

#define MAX_SIZE 16384
#define SHARED_BYTES (99 * 1024) /* what every GPU with cp.async gives a block that asks */

static const int64_t size_steps[] = { 1, 64, 127, 128, 256, 512, 1000, 1024, 2048, 4096, 8192,
	                              MAX_SIZE, INT64_MIN };
static const int64_t block_tiles[] = { 32, 64, 128, 256, INT64_MIN };
static const int64_t depths[] = { 4, 8, 16, 32, INT64_MIN };
static const int64_t thread_tiles[] = { 4, 8, 16, INT64_MIN };
static const int64_t warp_tiles[] = { 16, 32, 64, 128, INT64_MIN };
static const int64_t bands[] = { 1, 2, 4, 8, 16, 32, INT64_MIN };
static const int64_t stages[] = { 2, 3, 4, INT64_MIN };

#define SIZE(NAME, TITLE)                                                                      \
	{ .name = NAME, .title = TITLE, .unit = "elements", .kind = PARAM_LAUNCH, .def = 1024, \
	  .min = 1, .max = MAX_SIZE, .steps = size_steps }
#define KNOB(NAME, TITLE, UNIT, LEAST, MOST, CHOICES)                     \
	{ .name = #NAME, .title = TITLE, .unit = UNIT, .kind = PARAM_COMPILE, \
	  .def = NAME, .min = LEAST, .max = MOST, .choices = CHOICES }

static const struct param_desc params[N_PARAMS] = {
	[P_M] = SIZE("M", "rows of A and C"),
	[P_N] = SIZE("N", "columns of B and C"),
	[P_K] = SIZE("K", "columns of A, rows of B"),
	[P_BM] = KNOB(BM, "rows of a block's tile", "elements", 32, 256, block_tiles),
	[P_BN] = KNOB(BN, "columns of a block's tile", "elements", 32, 256, block_tiles),
	[P_BK] = KNOB(BK, "depth of a step", "elements", 4, 32, depths),
	[P_TM] = KNOB(TM, "rows per thread", "elements", 4, 16, thread_tiles),
	[P_TN] = KNOB(TN, "columns per thread", "elements", 4, 16, thread_tiles),
	[P_WN] = KNOB(WN, "columns of a warp's tile", "elements", 16, 128, warp_tiles),
	[P_BAND] = KNOB(BAND, "tile rows in a band of blocks", "rows", 1, 32, bands),
	[P_STAGES] = KNOB(STAGES, "steps whose tiles have a place", "steps", 2, 4, stages),
};

static const struct variant_desc variants[N_VARIANTS] = {
	[COPIES] = { KERNEL_VARIANT(sgemm_async, 0, copies), .title = "asynchronous copies",
		.idea = "copies run steps ahead by cp.async, past the registers of the threads",
		.section = "beyond the sources", .seeds = "S-033", .least_cc = 80 },
	[BANKS] = { KERNEL_VARIANT(sgemm_async, 1, banks), .title = "banks of registers minded",
		.idea = "each multiply-add keeps a factor; its sum lies in the bank that the other leaves",
		.section = "beyond the sources", .seeds = "S-032", .least_cc = 80 },
};

static int64_t threads_of(const int64_t *p)
{
	return THREADS_OF(p[P_BM], p[P_BN], p[P_TM], p[P_TN]);
}

static int64_t shared_bytes(const int64_t *p)
{
	return 4 * p[P_BK] * (p[P_BM] + A_PAD + p[P_BN]) * p[P_STAGES];
}

/* How the lanes of a warp lie over the tile; false when they do not fit it. */
static bool lanes_legal(const int64_t *p, struct err *err)
{
	const int64_t bm = p[P_BM], bn = p[P_BN], tm = p[P_TM], tn = p[P_TN], wn = p[P_WN];
	const int64_t lanes_x = wn / tn;

	if (lanes_x < 1 || lanes_x > 32)
		return kernel_refuse(err, "WN", wn, "%lld lanes of TN %lld columns; a warp has 1 to 32",
		                     (long long)lanes_x, (long long)tn);
	if (bn % wn)
		return kernel_refuse(err, "WN", wn, "BN %lld is not a multiple of it", (long long)bn);
	const int64_t wm = 32 / lanes_x * tm;
	if (bm % wm)
		return kernel_refuse(err, "BM", bm, "warps are %lld lanes of TM %lld rows high: a "
		                     "multiple of %lld", (long long)(32 / lanes_x), (long long)tm,
		                     (long long)wm);
	return true;
}

static bool tiles_legal(const int64_t *p, struct err *err)
{
	const int64_t threads = threads_of(p), bytes = shared_bytes(p);

	if (threads > 1024)
		return kernel_refuse(err, "TM", p[P_TM], "BM/TM x BN/TN = %lld threads; a block has at "
		                     "most 1024", (long long)threads);
	if (p[P_TM] * p[P_TN] > 128)
		return kernel_refuse(err, "TN", p[P_TN], "TM x TN = %lld sums and their factors do not fit "
		                     "the 255 registers of a thread", (long long)(p[P_TM] * p[P_TN]));
	if (bytes > SHARED_BYTES)
		return kernel_refuse(err, "STAGES", p[P_STAGES], "the tiles need %lld bytes of shared "
		                     "memory; a block can ask for %d", (long long)bytes, SHARED_BYTES);
	return lanes_legal(p, err);
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (!tiles_legal(p, err))
		return false;
	const uint32_t tiles_x = (uint32_t)ceil_div((uint64_t)p[P_N], (uint64_t)p[P_BN]);
	const uint32_t tiles_y = (uint32_t)ceil_div((uint64_t)p[P_M], (uint64_t)p[P_BM]);
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, tiles_x * tiles_y, 1, threads_of(p), 1),
		.dynamic_shared_bytes = (uint32_t)shared_bytes(p),
	};
	kernel_product_args(out, p[P_M], p[P_N], p[P_K], false);
	return kernel_launch_legal(out, err);
}

static void fill(const struct launch_plan *launch, const int64_t *p, unsigned b, uint64_t seed,
                 void *data)
{
	fill_products_f32(data, launch->buffers[b].count, (size_t)p[P_K], seed + b);
}

/* Tolerance 0: the inputs keep every partial sum exact in float32 (fill_products_f32). */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	(void)variant, (void)launch;
	check_matmul_f32(&(struct matmul_ref){
		.a = before[A], .b = before[B], .c = after[C],
		.m = (size_t)p[P_M], .n = (size_t)p[P_N], .k = (size_t)p[P_K], .buffer = C }, result);
}

/* Per step of depth 1 a block loads BM + BN values and does BM * BN multiply-adds. */
static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double m = (double)p[P_M], n = (double)p[P_N], k = (double)p[P_K];
	const double bm = (double)p[P_BM], bn = (double)p[P_BN];

	(void)variant, (void)launch;
	*out = (struct kernel_cost){
		.flop = 2 * m * n * k, .min_bytes = 4 * (m * k + k * n + m * n),
		.book_flop = 2 * bm * bn, .book_bytes = 4 * (bm + bn),
		.book_note = "2*BM*BN FLOP per 4*(BM + BN) bytes: one step of a block's tile",
	};
}

const struct kernel_desc kernel_sgemm_async = {
	.name = "sgemm_async", .title = "matrix multiplication, asynchronous copies",
	.section = "beyond PMPP",
	.about = "The same product as sgemm_fast, on from its last rung: what a step needs is copied "
	         "to shared memory several steps ahead, past the registers (cp.async), and "
	         "multiply-adds are ordered so that two banks of registers can feed one a cycle.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "copies", "M=1024 N=1024", { 32, 1, 1 }, { 256, 1, 1 }, 49664, 64 / 1.5 },
		{ "copies", "M=1025 N=257 STAGES=2", { 18, 1, 1 }, { 256, 1, 1 }, 24832, 64 / 1.5 },
		{ "banks", "BM=64 BN=64 TM=4 TN=4 WN=32", { 256, 1, 1 }, { 256, 1, 1 }, 16896, 16 }),
	KERNEL_REFUSALS(
		{ "copies", "BM=256 BN=256 TM=4 TN=4 WN=64", "TM", "4096 threads" },
		{ "banks", "TM=16", "TN", "256 sums" },
		{ "banks", "BK=32", "STAGES", "198656 bytes" },
		{ "banks", "BN=64", "WN", "BN 64 is not a multiple" },
		{ "banks", "TN=4 WN=16 BM=32", "BM", "a multiple of 64" },
		{ "copies", "WN=64 TN=16 BM=32", "BM", "a multiple of 64" }),
	.product = (const unsigned[]){ P_M, P_N, P_K },
};

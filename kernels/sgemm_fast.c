/* Host half of the sgemm_fast family: its knobs, variants, launch plans, inputs and checks. */
#include "sgemm_fast.cu" /* the defaults of the compile parameters; its kernels are for nvcc */
#include "model/kernel.h"

enum variant {
	BLOCK_TILE, THREAD_TILE, VECTORISED, DOUBLE_BUFFER, CONFLICT_FREE, WARP_TILE, PIPELINED,
	N_VARIANTS
};
enum param { P_M, P_N, P_K, P_BM, P_BN, P_BK, P_TM, P_TN, P_WN, P_BAND, N_PARAMS };
enum buffer { A, B, C };

#define MAX_SIZE 16384
#define SHARED_BYTES (48 * 1024) /* what every GPU gives a block without being asked */
#define BIT(v) (1u << (v))
#define WARPS_OWN_TILES (BIT(WARP_TILE) | BIT(PIPELINED))

static const int64_t size_steps[] = { 1, 64, 127, 128, 256, 512, 1000, 1024, 2048, 4096, 8192,
	                              MAX_SIZE, INT64_MIN };
static const int64_t block_tiles[] = { 32, 64, 128, 256, INT64_MIN };
static const int64_t depths[] = { 4, 8, 16, 32, INT64_MIN };
static const int64_t thread_tiles[] = { 1, 2, 4, 8, 16, INT64_MIN };
static const int64_t warp_tiles[] = { 16, 32, 64, 128, INT64_MIN };
static const int64_t bands[] = { 1, 2, 4, 8, 16, 32, INT64_MIN };

#define SIZE(NAME, TITLE)                                                                      \
	{ .name = NAME, .title = TITLE, .unit = "elements", .kind = PARAM_LAUNCH, .def = 1024, \
	  .min = 1, .max = MAX_SIZE, .steps = size_steps }
#define KNOB(NAME, TITLE, LEAST, MOST, CHOICES, VARIANTS)                                     \
	{ .name = #NAME, .title = TITLE, .unit = "elements", .kind = PARAM_COMPILE,           \
	  .def = NAME, .min = LEAST, .max = MOST, .choices = CHOICES, .variants = VARIANTS }

static const struct param_desc params[N_PARAMS] = {
	[P_M] = SIZE("M", "rows of A and C"),
	[P_N] = SIZE("N", "columns of B and C"),
	[P_K] = SIZE("K", "columns of A, rows of B"),
	[P_BM] = KNOB(BM, "rows of a block's tile", 32, 256, block_tiles, 0),
	[P_BN] = KNOB(BN, "columns of a block's tile", 32, 256, block_tiles, 0),
	[P_BK] = KNOB(BK, "depth of a step", 4, 32, depths, 0),
	[P_TM] = KNOB(TM, "rows per thread", 1, 16, thread_tiles, 0),
	[P_TN] = KNOB(TN, "columns per thread", 1, 16, thread_tiles, 0),
	[P_WN] = KNOB(WN, "columns of a warp's tile", 16, 128, warp_tiles, WARPS_OWN_TILES),
	[P_BAND] = KNOB(BAND, "tile rows in a band of blocks", 1, 32, bands, WARPS_OWN_TILES),
};

static const struct variant_desc variants[N_VARIANTS] = {
	[BLOCK_TILE] = { KERNEL_VARIANT(sgemm_fast, 0, block_tile), .title = "block tiles",
		.idea = "BM x BN x BK tiles: global reads fall to MNK(1/BM + 1/BN); 2 shared reads per FMA",
		.section = "beyond PMPP 5.4", .seeds = "S-030 S-227 S-344" },
	[THREAD_TILE] = { KERNEL_VARIANT(sgemm_fast, 1, thread_tile), .title = "thread tiles",
		.idea = "factors in registers: TM + TN shared reads serve TM * TN multiply-adds",
		.section = "PMPP 6.3", .seeds = "S-031 S-039 S-040 S-228" },
	[VECTORISED] = { KERNEL_VARIANT(sgemm_fast, 2, vectorised), .title = "16-byte loads",
		.idea = "float4 from global and shared memory; A's tile is turned so that it can be",
		.section = "beyond PMPP", .seeds = "S-034 S-230" },
	[DOUBLE_BUFFER] = { KERNEL_VARIANT(sgemm_fast, 3, double_buffer), .title = "double buffering",
		.idea = "the next tiles travel while these are used: one barrier a step, twice the memory",
		.section = "beyond PMPP", .seeds = "S-033 S-345" },
	[CONFLICT_FREE] = { KERNEL_VARIANT(sgemm_fast, 4, conflict_free),
		.title = "conflict-free reads",
		.idea = "a thread's quads lie apart, those of neighbour lanes side by side: no bank twice",
		.section = "beyond PMPP", .seeds = "S-035 S-347" },
	[WARP_TILE] = { KERNEL_VARIANT(sgemm_fast, 5, warp_tile), .title = "warp tiles and bands",
		.idea = "a tile per warp, multiply-adds in an order that reuses registers, blocks in bands",
		.section = "beyond the sources", .seeds = "S-032" },
	[PIPELINED] = { KERNEL_VARIANT(sgemm_fast, 6, pipelined), .title = "pipelined reads",
		.idea = "each product hides the reads of the next one, those behind the barrier included",
		.section = "beyond the sources", .seeds = "S-033" },
};

static int64_t threads_of(const int64_t *p)
{
	return THREADS_OF(p[P_BM], p[P_BN], p[P_TM], p[P_TN]);
}

static int64_t shared_bytes(unsigned variant, const int64_t *p)
{
	const int64_t pad = BIT(variant) & WARPS_OWN_TILES ? A_PAD : 0;

	return 4 * p[P_BK] * (p[P_BM] + pad + p[P_BN]) * (variant >= DOUBLE_BUFFER ? 2 : 1);
}

/* How the lanes of a warp lie over the tile; false when they do not fit it. */
static bool lanes_legal(unsigned variant, const int64_t *p, struct err *err)
{
	const int64_t bm = p[P_BM], bn = p[P_BN], tm = p[P_TM], tn = p[P_TN], wn = p[P_WN];

	if (variant == CONFLICT_FREE) {
		if (bn / tn % 8)
			return kernel_refuse(err, "BN", bn, "8 lanes of TN %lld columns side by side: a "
			                     "multiple of %lld", (long long)tn, (long long)(8 * tn));
		if (bm / tm % 4)
			return kernel_refuse(err, "BM", bm, "4 lanes of TM %lld rows: a multiple of %lld",
			                     (long long)tm, (long long)(4 * tm));
		return true;
	}
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

static bool tiles_legal(unsigned variant, const int64_t *p, struct err *err)
{
	const int64_t threads = threads_of(p), bytes = shared_bytes(variant, p);

	if (threads > 1024)
		return kernel_refuse(err, "TM", p[P_TM], "BM/TM x BN/TN = %lld threads; a block has at "
		                     "most 1024", (long long)threads);
	if (p[P_TM] * p[P_TN] > 128)
		return kernel_refuse(err, "TN", p[P_TN], "TM x TN = %lld sums and their factors do not fit "
		                     "the 255 registers of a thread", (long long)(p[P_TM] * p[P_TN]));
	if (bytes > SHARED_BYTES)
		return kernel_refuse(err, "BK", p[P_BK], "the tiles need %lld bytes of shared memory; a "
		                     "block has %d without being asked", (long long)bytes, SHARED_BYTES);
	if (variant >= VECTORISED && p[P_TM] % 4)
		return kernel_refuse(err, "TM", p[P_TM], "16-byte accesses need multiples of 4");
	if (variant >= VECTORISED && p[P_TN] % 4)
		return kernel_refuse(err, "TN", p[P_TN], "16-byte accesses need multiples of 4");
	return variant < CONFLICT_FREE || lanes_legal(variant, p, err);
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (!tiles_legal(variant, p, err))
		return false;
	const uint32_t tiles_x = (uint32_t)ceil_div((uint64_t)p[P_N], (uint64_t)p[P_BN]);
	const uint32_t tiles_y = (uint32_t)ceil_div((uint64_t)p[P_M], (uint64_t)p[P_BM]);
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, tiles_x, tiles_y, threads_of(p), 1),
		.dynamic_shared_bytes = (uint32_t)shared_bytes(variant, p),
	};
	kernel_product_args(out, p[P_M], p[P_N], p[P_K], false);
	if (BIT(variant) & WARPS_OWN_TILES)
		out->grid = (struct dim3u){ tiles_x * tiles_y, 1, 1 };
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

const struct kernel_desc kernel_sgemm_fast = {
	.name = "sgemm_fast", .title = "matrix multiplication, fast",
	.section = "PMPP ch. 6 and beyond",
	.about = "The same product as sgemm, taken towards the machine's peak: tiles for the block, "
	         "the warp and the thread, wide loads, overlapped copies, banks and caches respected. "
	         "Every tile size is a knob; most combinations are slow, and the panels say why.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		/* S-039, S-040, S-347: 256 threads of 8 x 8 or 4 x 4; one pair of tiles, then two */
		{ "thread_tile", "M=1024 N=1024", { 8, 8, 1 }, { 256, 1, 1 }, 8192, 0 },
		{ "thread_tile", "BM=64 BN=64 TM=4 TN=4", { 16, 16, 1 }, { 256, 1, 1 }, 4096, 0 },
		{ "conflict_free", "M=1025 N=129", { 2, 9, 1 }, { 256, 1, 1 }, 16384, 0 },
		{ "warp_tile", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640, 0 },
		{ "pipelined", "M=1025 N=129", { 18, 1, 1 }, { 256, 1, 1 }, 16640, 0 },
		{ "thread_tile", "", { 0 }, { 0 }, 0, 32 }, /* S-227 */
		{ "thread_tile", "BM=64 BN=64 TM=4 TN=4", { 0 }, { 0 }, 0, 16 }),
	KERNEL_REFUSALS(
		{ "thread_tile", "BM=256 BN=256 TM=4 TN=4", "TM", "4096 threads" },
		{ "thread_tile", "TM=16 TN=16", "TN", "256 sums" },
		{ "double_buffer", "BK=32", "BK", "65536 bytes" },
		{ "vectorised", "TM=2", "TM", "multiples of 4" },
		{ "vectorised", "TN=2", "TN", "multiples of 4" },
		{ "conflict_free", "BN=32", "BN", "a multiple of 64" },
		{ "conflict_free", "BM=32 TM=16", "BM", "a multiple of 64" },
		{ "warp_tile", "BN=32", "WN", "BN 32 is not a multiple" },
		{ "pipelined", "BN=32", "WN", "BN 32 is not a multiple" },
		{ "warp_tile", "BM=32 WN=32", "BM", "a multiple of 64" },
		{ "warp_tile", "BN=32 TN=16 WN=128", "WN", "" }),
	.product = (const unsigned[]){ P_M, P_N, P_K },
};

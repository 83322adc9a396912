/* Host half of the sgemm family: its knobs, variants, launch plans, inputs and checks. */
#include "sgemm.cu" /* the defaults of the compile parameters; its kernels are for nvcc */
#include "model/kernel.h"

enum variant {
	NAIVE_COL, NAIVE, TILED_EXACT, TILED, DYNAMIC, WIDE_TILE, TILED_COL, CORNER, COARSENED,
	TWO_ROWS, NO_LOAD_BARRIER, NO_USE_BARRIER, N_VARIANTS
};
enum param { P_M, P_N, P_K, P_BLOCK_X, P_BLOCK_Y, P_TILE, P_T, P_BLOCK, P_COARSE, P_PAD, N_PARAMS };
enum buffer { A, B, C };

#define MAX_SIZE 16384 /* 2^28 elements per matrix: row * K + k stays within int */
#define BIT(v) (1u << (v))
#define UNTILED (BIT(NAIVE_COL) | BIT(NAIVE))
#define BY_COLUMNS (BIT(NAIVE_COL) | BIT(TILED_COL) | BIT(CORNER))
#define STATIC_TILE ((BIT(N_VARIANTS) - 1u) & ~(UNTILED | BIT(DYNAMIC)))

static const int64_t size_steps[] = { 1, 3, 7, 16, 31, 32, 64, 100, 127, 128, 256, 512, 1000, 1024,
	                              2048, 4096, 8192, MAX_SIZE, INT64_MIN };
static const int64_t tiles[] = { 2, 4, 8, 16, 32, 64, INT64_MIN };
static const int64_t blocks[] = { 2, 4, 8, 16, 32, INT64_MIN };
static const int64_t run_time_tiles[] = { 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, INT64_MIN };
static const int64_t factors[] = { 1, 2, 4, 8, INT64_MIN };
static const int64_t pads[] = { 0, 1, INT64_MIN };

#define SIZE(NAME, TITLE)                                                                      \
	{ .name = NAME, .title = TITLE, .unit = "elements", .kind = PARAM_LAUNCH, .def = 1024, \
	  .min = 1, .max = MAX_SIZE, .steps = size_steps }

static const struct param_desc params[N_PARAMS] = {
	[P_M] = SIZE("M", "rows of A and C"),
	[P_N] = SIZE("N", "columns of B and C"),
	[P_K] = SIZE("K", "columns of A, rows of B"),
	[P_BLOCK_X] = KERNEL_SIDE("block_x", "x", .role = PARAM_KNOB, .variants = UNTILED),
	[P_BLOCK_Y] = KERNEL_SIDE("block_y", "y", .role = PARAM_KNOB, .variants = UNTILED),
	[P_TILE] = { .name = "TILE", .title = "tile width", .unit = "elements", .kind = PARAM_COMPILE,
	             .role = PARAM_KNOB, .def = TILE, .min = 2, .max = 64, .choices = tiles,
	             .variants = STATIC_TILE },
	[P_T] = { .name = "width", .title = "tile width at launch", .unit = "elements",
	          .kind = PARAM_LAUNCH, .role = PARAM_KNOB, .def = 16, .min = 1, .max = 32,
	          .steps = run_time_tiles, .variants = BIT(DYNAMIC) },
	[P_BLOCK] = { .name = "BLOCK", .title = "threads per block side", .unit = "threads",
	              .kind = PARAM_COMPILE, .def = BLOCK, .min = 2, .max = 32, .choices = blocks,
	              .variants = BIT(WIDE_TILE) },
	[P_COARSE] = { .name = "COARSE", .title = "tiles per thread", .unit = "tiles",
	               .kind = PARAM_COMPILE, .def = COARSE, .min = 1, .max = 8, .choices = factors,
	               .variants = BIT(COARSENED) },
	[P_PAD] = { .name = "PAD", .title = "unused words after each row of B's tile", .unit = "words",
	            .kind = PARAM_COMPILE, .def = PAD, .min = 0, .max = 1, .choices = pads,
	            .variants = BIT(CORNER) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[NAIVE_COL] = { KERNEL_VARIANT(sgemm, 0, naive_col), .title = "naive, B column-major",
		.idea = "lanes read B K elements apart: a sector each, 28 of its 32 bytes for nothing",
		.section = "PMPP 6.1", .seeds = "S-019" },
	[NAIVE] = { KERNEL_VARIANT(sgemm, 1, naive), .title = "naive, one thread per output",
		.idea = "lanes read neighbours of B and share one of A; every value comes from memory",
		.section = "PMPP 3.4", .seeds = "S-017 S-018 S-022 S-029 S-037" },
	[TILED_EXACT] = { KERNEL_VARIANT(sgemm, 2, tiled_exact), .title = "tiled, no boundary checks",
		.idea = "each value is loaded once per block and used TILE times; sizes must fit the tile",
		.section = "PMPP 5.4", .seeds = "S-020 S-038" },
	[TILED] = { KERNEL_VARIANT(sgemm, 3, tiled), .title = "shared-memory tiles, any size",
		.idea = "three guards (A, B, C) make the tiles right for every M, N, K",
		.section = "PMPP 5.5", .seeds = "S-021 S-022 S-038" },
	[DYNAMIC] = { KERNEL_VARIANT(sgemm, 4, dynamic), .title = "tile width chosen at launch",
		.idea = "dynamic shared memory: no recompilation, but the loop can no longer be unrolled",
		.section = "PMPP 5.6", .seeds = "S-023 S-342" },
	[WIDE_TILE] = { KERNEL_VARIANT(sgemm, 5, wide_tile), .title = "tile larger than the block",
		.idea = "the tile decides the reuse, the block the threads: (TILE/BLOCK)^2 outputs each",
		.section = "PMPP 5.4", .seeds = "S-024 S-346" },
	[TILED_COL] = { KERNEL_VARIANT(sgemm, 6, tiled_col), .title = "tiled, B column-major",
		.idea = "tiles, but B's tile is read across the columns: uncoalesced again",
		.section = "PMPP 6.1", .seeds = "S-025" },
	[CORNER] = { KERNEL_VARIANT(sgemm, 7, corner), .title = "corner turning",
		.idea = "x and y change roles in B's load: lanes read down a column; the tile turns it",
		.section = "PMPP 6.1", .seeds = "S-025" },
	[COARSENED] = { KERNEL_VARIANT(sgemm, 8, coarsened), .title = "coarsened",
		.idea = "one A tile serves COARSE tiles of B: fewer blocks, less loading, more registers",
		.section = "PMPP 6.3", .seeds = "S-026 S-348" },
	[TWO_ROWS] = { KERNEL_VARIANT(sgemm, 9, two_rows), .title = "two outputs per thread",
		.idea = "one value of B serves two rows: 3 shared reads for 2 FMAs instead of 4",
		.section = "PMPP 5.4", .seeds = "S-027 S-408" },
	[NO_LOAD_BARRIER] = { KERNEL_VARIANT(sgemm, 10, no_load_barrier),
		.title = "first barrier left out (wrong by design)",
		.idea = "tiles are used before other warps stored them: a true (RAW) dependence broken",
		.section = "PMPP 5.4", .seeds = "S-020 S-515", .wrong = true },
	[NO_USE_BARRIER] = { KERNEL_VARIANT(sgemm, 11, no_use_barrier),
		.title = "second barrier left out (wrong by design)",
		.idea = "the next tiles overwrite values still in use: a false (WAR) dependence broken",
		.section = "PMPP 5.4", .seeds = "S-020 S-515", .wrong = true },
};

/* @m, @n, @k: for TILED_EXACT, which checks no boundary. */
static bool plan_exact(int64_t m, int64_t n, int64_t k, int64_t tile, struct err *err)
{
	const char *bad = m % tile ? "M" : n % tile ? "N" : k % tile ? "K" : NULL;
	if (bad)
		return kernel_refuse(err, bad, m % tile ? m : n % tile ? n : k, "not a multiple "
		                     "of TILE %lld, and this variant checks no boundary; "
		                     "see sgemm/tiled", (long long)tile);
	return true;
}

static bool plan_block(unsigned variant, const int64_t *p, struct launch_plan *out,
                       struct err *err)
{
	const int64_t m = p[P_M], n = p[P_N], k = p[P_K], tile = p[P_TILE];
	int64_t x = tile, y = tile;              /* threads */
	int64_t tile_m = tile, tile_n = tile;    /* outputs of a block */

	if (variant == NAIVE || variant == NAIVE_COL) {
		tile_n = x = p[P_BLOCK_X];
		tile_m = y = p[P_BLOCK_Y];
		if (!kernel_sides_legal(x, y, err))
			return false;
	} else if (variant == DYNAMIC) {
		tile_m = tile_n = x = y = p[P_T];
		out->dynamic_shared_bytes = (uint32_t)(2 * x * x * 4);
	} else {
		if (variant == WIDE_TILE) {
			x = y = p[P_BLOCK];
			if (tile % x)
				return kernel_refuse(err, "BLOCK", x, "TILE %lld is not a multiple of it",
				                     (long long)tile);
		} else if (tile > 32) {
			return kernel_refuse(err, "TILE", tile, "one thread per element: %lld x %lld = %lld "
			                     "threads; a block has at most 1024", (long long)tile,
			                     (long long)tile, (long long)(tile * tile));
		}
		if (variant == COARSENED)
			tile_n = tile * p[P_COARSE];
		if (variant == TWO_ROWS)
			tile_m = 2 * tile;
		if (variant == TILED_EXACT && !plan_exact(m, n, k, tile, err))
			return false;
	}
	out->block = (struct dim3u){ (uint32_t)x, (uint32_t)y, 1 };
	out->grid = (struct dim3u){ (uint32_t)((n + tile_n - 1) / tile_n),
		                    (uint32_t)((m + tile_m - 1) / tile_m), 1 };
	return true;
}

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	*out = (struct launch_plan){ .entry = variants[variant].entry };
	kernel_product_args(out, p[P_M], p[P_N], p[P_K], BY_COLUMNS & BIT(variant));
	if (variant == DYNAMIC)
		out->args[out->n_args++] = (struct kernel_arg)KERNEL_ARG_I32(p[P_T]);
	return plan_block(variant, p, out, err) && kernel_launch_legal(out, err);
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
	(void)launch;
	check_matmul_f32(&(struct matmul_ref){
		.a = before[A], .b = before[B], .c = after[C],
		.m = (size_t)p[P_M], .n = (size_t)p[P_N], .k = (size_t)p[P_K],
		.b_by_columns = BY_COLUMNS & BIT(variant), .buffer = C }, result);
}

/*
 * The book counts global loads as the source asks for them, without caches and without C.
 * Per thread and phase of T steps: naive 2 FLOP per 8 bytes; tiled 2T FLOP per 8 bytes = T/4;
 * coarsened 2T*CF per 4 + 4*CF bytes = T*CF / (2(1 + CF)); two rows 4T per 12 bytes = T/3.
 */
static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double m = (double)p[P_M], n = (double)p[P_N], k = (double)p[P_K];
	const double tile = variant == DYNAMIC ? (double)p[P_T] : (double)p[P_TILE];

	(void)launch;
	*out = (struct kernel_cost){ .flop = 2 * m * n * k, .min_bytes = 4 * (m * k + k * n + m * n) };
	switch ((enum variant)variant) {
	case NAIVE_COL:
	case NAIVE:
		out->book_flop = 2;
		out->book_bytes = 8;
		out->book_note = "2 FLOP per 8 bytes: one FMA, two loads (PMPP 5.1)";
		break;
	case COARSENED:
		out->book_flop = 2 * tile * (double)p[P_COARSE];
		out->book_bytes = 4 + 4 * (double)p[P_COARSE];
		out->book_note = "2*TILE*COARSE FLOP per 4 + 4*COARSE bytes: one A tile (PMPP 6.3)";
		break;
	case TWO_ROWS:
		out->book_flop = 4 * tile;
		out->book_bytes = 12;
		out->book_note = "4*TILE FLOP per 12 bytes: two values of A, one of B";
		break;
	default:
		out->book_flop = 2 * tile;
		out->book_bytes = 8;
		out->book_note = "2*TILE FLOP per 8 bytes: each value is used TILE times (PMPP 5.4)";
	}
}

const struct kernel_desc kernel_sgemm = {
	.name = "sgemm", .title = "matrix multiplication", .section = "PMPP ch. 3, 5, 6",
	.about = "C = A * B in single precision. Read naively, every multiply-add waits for eight "
	         "bytes; tiles in shared memory let a block use each value many times. The same work, "
	         "fewer bytes: the point moves right on the roofline.",
	KERNEL_PARTS,
	.fill = fill,
	KERNEL_EXAMPLES(
		{ "naive", "M=100 N=200 K=3 block_x=32 block_y=8", { 7, 13, 1 }, { 32, 8, 1 }, 0, 0 },
		{ "tiled", "M=17 N=33 K=1 TILE=16", { 3, 2, 1 }, { 16, 16, 1 }, 0, 0 },
		{ "dynamic", "width=8", { 128, 128, 1 }, { 8, 8, 1 }, 512, 0 }, /* S-342 */
		{ "dynamic", "width=16", { 64, 64, 1 }, { 16, 16, 1 }, 2048, 0 },
		{ "dynamic", "width=32", { 32, 32, 1 }, { 32, 32, 1 }, 8192, 0 },
		{ "wide_tile", "M=32 N=64 K=9 TILE=32 BLOCK=16", { 2, 1, 1 }, { 16, 16, 1 }, 0, 0 },
		{ "coarsened", "M=16 N=65 K=9 COARSE=4", { 2, 1, 1 }, { 16, 16, 1 }, 0, 0 },
		{ "two_rows", "M=33 N=16 K=9", { 1, 2, 1 }, { 16, 16, 1 }, 0, 0 },
		{ "naive_col", "", { 0 }, { 0 }, 0, 0.25 },
		{ "naive", "", { 0 }, { 0 }, 0, 0.25 },
		{ "tiled", "TILE=2", { 0 }, { 0 }, 0, 0.5 },
		{ "tiled", "TILE=16", { 0 }, { 0 }, 0, 4 },
		{ "tiled", "TILE=32", { 0 }, { 0 }, 0, 8 },
		{ "dynamic", "width=24", { 0 }, { 0 }, 0, 6 },
		{ "wide_tile", "TILE=32 BLOCK=16", { 0 }, { 0 }, 0, 8 },
		{ "coarsened", "TILE=16 COARSE=1", { 0 }, { 0 }, 0, 4 },
		{ "coarsened", "TILE=16 COARSE=2", { 0 }, { 0 }, 0, 16.0 / 3 },
		{ "coarsened", "TILE=16 COARSE=4", { 0 }, { 0 }, 0, 6.4 },
		{ "coarsened", "TILE=32 COARSE=4", { 0 }, { 0 }, 0, 12.8 },
		{ "two_rows", "TILE=16", { 0 }, { 0 }, 0, 16.0 / 3 }),
	KERNEL_REFUSALS(
		{ "naive", "block_x=64 block_y=32", "block_y", "2048 threads" },
		{ "tiled", "TILE=64", "TILE", "4096 threads" },
		{ "tiled_exact", "M=1000", "M", "not a multiple of TILE 16" },
		{ "tiled_exact", "N=1000", "N", "not a multiple" },
		{ "tiled_exact", "K=1000", "K", "not a multiple" },
		{ "wide_tile", "TILE=8 BLOCK=16", "BLOCK", "TILE 8 is not a multiple" }),
	.product = (const unsigned[]){ P_M, P_N, P_K },
};

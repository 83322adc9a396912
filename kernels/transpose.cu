/*
 * Matrix transpose, out[x][y] = in[y][x]: no arithmetic at all, only access order.
 *
 *   div_mod   one thread per element, row and column by division and remainder
 *   naive     2-D blocks: reads coalesced, writes H elements apart
 *   tiled     through a tile in shared memory: both sides coalesced, banks collide
 *   padded    the same with one unused word per row: banks do not collide
 *   coarsened TILE / ROWS elements per thread: several loads in flight (beyond the sources)
 *   quads     64 x 64 tiles, 16-byte loads and stores: half a warp moves 256 bytes (likewise)
 *
 * `in` is H rows of W, `out` is W rows of H. PMPP 6.1-6.2. Bind threadIdx.x to the lowest-weight
 * term of every global address: that is the whole secret.
 */

/* Compile parameters and their defaults, for both halves. */
#ifndef TILE
#define TILE 32
#endif
#ifndef ROWS
#define ROWS 8
#endif

#define WIDE 64 /* tile of variant quads, moved by QUAD_ROWS rows of WIDE / 4 threads */
#define QUAD_ROWS 16

#ifdef __CUDACC__

extern "C" __global__ void transpose_v0_div_mod(const float *in, float *out, int W, int H)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < W * H) {
		const int y = i / W; //@ divide
		const int x = i % W; //@ divide
		const float value = in[i]; //@ load
		out[x * H + y] = value; //@ store
	}
}

extern "C" __global__ void transpose_v1_naive(const float *in, float *out, int W, int H)
{
	const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);

	if (x < W && y < H) {
		const float value = in[y * W + x]; //@ load
		out[x * H + y] = value; //@ store
	}
}

extern "C" __global__ void transpose_v2_tiled(const float *in, float *out, int W, int H)
{
	__shared__ float tile[TILE][TILE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int x = (int)blockIdx.x * TILE + tx, y = (int)blockIdx.y * TILE + ty;
	/* the tile's place in out: block indices swapped, thread indices not */
	const int out_x = (int)blockIdx.y * TILE + tx, out_y = (int)blockIdx.x * TILE + ty;

	if (x < W && y < H)
		tile[ty][tx] = in[y * W + x]; //@ load
	__syncthreads(); //@ barrier
	if (out_x < H && out_y < W)
		out[out_y * H + out_x] = tile[tx][ty]; //@ store
}

extern "C" __global__ void transpose_v3_padded(const float *in, float *out, int W, int H)
{
	/* Word (r, c) lies in bank (r * (TILE + 1) + c) % 32: a column meets every bank once. */
	__shared__ float tile[TILE][TILE + 1];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int x = (int)blockIdx.x * TILE + tx, y = (int)blockIdx.y * TILE + ty;
	const int out_x = (int)blockIdx.y * TILE + tx, out_y = (int)blockIdx.x * TILE + ty;

	if (x < W && y < H)
		tile[ty][tx] = in[y * W + x]; //@ load
	__syncthreads(); //@ barrier
	if (out_x < H && out_y < W)
		out[out_y * H + out_x] = tile[tx][ty]; //@ store
}

extern "C" __global__ void transpose_v4_coarsened(const float *__restrict__ in,
                                                  float *__restrict__ out, int W, int H)
{
	/* TILE x ROWS threads walk down the tile: TILE / ROWS independent loads each */
	__shared__ float tile[TILE][TILE + 1];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int x = (int)blockIdx.x * TILE + tx, y0 = (int)blockIdx.y * TILE;
	const int out_x = (int)blockIdx.y * TILE + tx, out_y0 = (int)blockIdx.x * TILE;

#pragma unroll
	for (int r = ty; r < TILE; r += ROWS)
		if (x < W && y0 + r < H)
			tile[r][tx] = in[(y0 + r) * W + x]; //@ load
	__syncthreads(); //@ barrier
#pragma unroll
	for (int r = ty; r < TILE; r += ROWS)
		if (out_x < H && out_y0 + r < W)
			out[(out_y0 + r) * H + out_x] = tile[tx][r]; //@ store
}

extern "C" __global__ void transpose_v5_quads(const float *__restrict__ in,
                                              float *__restrict__ out, int W, int H)
{
	enum { ROW = WIDE + 1 }; /* words */
	__shared__ float tile[WIDE][ROW];
	const int tx = 4 * (int)threadIdx.x, ty = (int)threadIdx.y; /* first of four columns */
	const int x0 = (int)blockIdx.x * WIDE, y0 = (int)blockIdx.y * WIDE;

	if (x0 + WIDE <= W && y0 + WIDE <= H && W % 4 == 0 && H % 4 == 0) {
		float4 v[WIDE / QUAD_ROWS];
#pragma unroll
		for (int r = 0; r < WIDE / QUAD_ROWS; r++)
			v[r] = *(const float4 *)&in[(y0 + ty + r * QUAD_ROWS) * W + x0 + tx]; //@ load
#pragma unroll
		for (int r = 0; r < WIDE / QUAD_ROWS; r++) {
			float *const row = &tile[ty + r * QUAD_ROWS][tx];
			row[0] = v[r].x, row[1] = v[r].y, row[2] = v[r].z, row[3] = v[r].w; //@ to-tile
		}
		__syncthreads(); //@ barrier
#pragma unroll
		for (int r = ty; r < WIDE; r += QUAD_ROWS) {
			float4 *const to = (float4 *)&out[(x0 + r) * H + y0 + tx];
			const float *const from = &tile[tx][r];
			*to = make_float4(from[0], from[ROW], from[2 * ROW], from[3 * ROW]); //@ store
		}
		return;
	}
	/* at an edge, or where rows are not aligned to 16 bytes: one element at a time */
	for (int r = ty; r < WIDE; r += QUAD_ROWS)
		for (int c = tx; c < tx + 4; c++)
			if (x0 + c < W && y0 + r < H)
				tile[r][c] = in[(y0 + r) * W + x0 + c]; //@ load
	__syncthreads(); //@ barrier
	for (int r = ty; r < WIDE; r += QUAD_ROWS)
		for (int c = tx; c < tx + 4; c++)
			if (y0 + c < H && x0 + r < W)
				out[(x0 + r) * H + y0 + c] = tile[c][r]; //@ store
}

#else /* the host half */

#include "model/kernel.h"

enum variant { DIV_MOD, NAIVE, TILED, PADDED, COARSENED, QUADS, N_VARIANTS };
enum param { P_W, P_H, P_BLOCK, P_BLOCK_X, P_BLOCK_Y, P_TILE, P_ROWS, N_PARAMS };
enum buffer { IN, OUT, N_BUFFERS };

#define MAX_SIZE 32768
#define MAX_ELEMENTS ((int64_t)1 << 28) /* 1 GiB per matrix; indices stay within int */
#define BIT(v) (1u << (v))

static const int64_t size_steps[] = { 1, 4, 7, 32, 33, 100, 127, 256, 512, 1000, 1024, 2048, 4096,
	                              8192, 16384, MAX_SIZE, INT64_MIN };
static const int64_t tiles[] = { 2, 4, 8, 16, 32, INT64_MIN };
static const int64_t rows[] = { 1, 2, 4, 8, 16, 32, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_W] = { .name = "W", .title = "columns of in", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1024, .min = 1, .max = MAX_SIZE, .steps = size_steps },
	[P_H] = { .name = "H", .title = "rows of in", .unit = "elements", .kind = PARAM_LAUNCH,
	          .def = 1024, .min = 1, .max = MAX_SIZE, .steps = size_steps },
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 256, kernel_block_steps, .variants = BIT(DIV_MOD)),
	[P_BLOCK_X] = KERNEL_SIDE("block_x", "x", .role = PARAM_KNOB, .variants = BIT(NAIVE)),
	[P_BLOCK_Y] = KERNEL_SIDE("block_y", "y", .variants = BIT(NAIVE)),
	[P_TILE] = { .name = "TILE", .title = "tile width", .unit = "elements", .kind = PARAM_COMPILE,
	             .role = PARAM_KNOB, .def = TILE, .min = 2, .max = 32, .choices = tiles,
	             .variants = BIT(TILED) | BIT(PADDED) | BIT(COARSENED) },
	[P_ROWS] = { .name = "ROWS", .title = "thread rows per tile", .unit = "rows",
	             .kind = PARAM_COMPILE, .def = ROWS, .min = 1, .max = 32, .choices = rows,
	             .variants = BIT(COARSENED) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[DIV_MOD] = { KERNEL_VARIANT(transpose, 0, div_mod), .title = "1-D, division and remainder",
		.idea = "row and column by integer division: tens of instructions per element",
		.section = "PMPP 3.2", .seeds = "S-042" },
	[NAIVE] = { KERNEL_VARIANT(transpose, 1, naive), .title = "2-D blocks",
		.idea = "reads run along rows, writes down columns: every lane writes its own sector",
		.section = "PMPP 6.1", .seeds = "S-043 S-314" },
	[TILED] = { KERNEL_VARIANT(transpose, 2, tiled), .title = "shared-memory tile",
		.idea = "the turn happens on chip: rows in, rows out; but a column is read from one bank",
		.section = "PMPP 6.1", .seeds = "S-044 S-361" },
	[PADDED] = { KERNEL_VARIANT(transpose, 3, padded), .title = "padded tile",
		.idea = "one unused word per row moves each row to the next bank: no conflict at 32",
		.section = "beyond the sources", .seeds = "S-045" },
	[COARSENED] = { KERNEL_VARIANT(transpose, 4, coarsened), .title = "several rows per thread",
		.idea = "fewer threads, TILE / ROWS loads in flight each: closer to the copy bandwidth",
		.section = "PMPP 6.3", .seeds = "" },
	[QUADS] = { KERNEL_VARIANT(transpose, 5, quads), .title = "16-byte accesses",
		.idea = "64 x 64 tiles, four elements per load and store: memory in bursts of 256 bytes",
		.section = "beyond the sources", .seeds = "" },
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t w = p[P_W], h = p[P_H], tile = p[P_TILE];
	int64_t x = tile, y = tile, tile_x = tile, tile_y = tile;

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (w * h > MAX_ELEMENTS)
		return kernel_refuse(err, "H", h, "with W %lld more than 2^28 elements, 1 GiB",
		                     (long long)w);
	switch ((enum variant)variant) {
	case DIV_MOD:
		x = tile_x = p[P_BLOCK];
		y = tile_y = 1;
		break;
	case NAIVE:
		x = tile_x = p[P_BLOCK_X];
		y = tile_y = p[P_BLOCK_Y];
		if (!kernel_sides_legal(x, y, err))
			return false;
		break;
	case COARSENED:
		y = p[P_ROWS];
		if (y < 1 || y > tile || tile % y)
			return kernel_refuse(err, "ROWS", y, "TILE %lld is not a multiple of it",
			                     (long long)tile);
		break;
	case QUADS:
		x = WIDE / 4;
		y = QUAD_ROWS;
		tile_x = tile_y = WIDE;
		break;
	case TILED: case PADDED: case N_VARIANTS:
		break;
	}
	const int64_t grid_x = variant == DIV_MOD ? (w * h + x - 1) / x : (w + tile_x - 1) / tile_x;
	const int64_t grid_y = variant == DIV_MOD ? 1 : (h + tile_y - 1) / tile_y;
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, grid_x, grid_y, x, y),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[IN] = kernel_matrix("in", ELEM_F32, BUF_IN, h, w),
			[OUT] = kernel_matrix("out", ELEM_F32, BUF_OUT, w, h),
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(IN), KERNEL_ARG_BUFFER(OUT),
		            KERNEL_ARG_I32(w), KERNEL_ARG_I32(h)),
	};
	return kernel_launch_legal(out, err);
}

struct matrices {
	const float *in, *out;
	size_t w, h;
};

/* Tolerance 0: values are moved, not computed. */
static void check_range(const void *ctx, size_t from, size_t to, struct check_result *result)
{
	const struct matrices *m = ctx;
	size_t x = from / m->h, y = from % m->h;

	for (size_t i = from; i < to; i++) {
		const float want = m->in[y * m->w + x];
		if (m->out[i] != want)
			check_element((double)m->out[i], (double)want, 0, i, OUT, result);
		if (++y == m->h)
			y = 0, x++;
	}
}

static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const struct matrices m = { before[IN], after[OUT], (size_t)p[P_W], (size_t)p[P_H] };

	(void)variant, (void)launch;
	check_in_parts(m.w * m.h, check_range, &m, result);
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	(void)variant, (void)p;
	*out = (struct kernel_cost){ .min_bytes = 8 * (double)launch->buffers[IN].count };
}

const struct kernel_desc kernel_transpose = {
	.name = "transpose", .title = "matrix transpose", .section = "PMPP ch. 6",
	.about = "Rows become columns. Nothing is computed, so the time is the time of moving bytes: "
	         "reading along rows and writing down columns wastes seven eighths of every sector "
	         "written. A tile in shared memory makes both sides run along rows.",
	KERNEL_PARTS,
	.fill = kernel_fill_uniform,
	KERNEL_EXAMPLES(
		{ "naive", "W=7 H=7 block_x=2 block_y=2", { 4, 4, 1 }, { 2, 2, 1 }, 0, 0 },
		{ "div_mod", "W=1000 H=10", { 40, 1, 1 }, { 256, 1, 1 }, 0, 0 },
		{ "tiled", "W=33 H=65 TILE=32", { 2, 3, 1 }, { 32, 32, 1 }, 0, 0 },
		{ "coarsened", "W=33 H=65 TILE=32 ROWS=8", { 2, 3, 1 }, { 32, 8, 1 }, 0, 0 }),
	KERNEL_REFUSALS(
		{ "naive", "block_x=64 block_y=32", "block_y", "2048 threads" },
		{ "coarsened", "TILE=16 ROWS=32", "ROWS", "TILE 16 is not a multiple" },
		{ "tiled", "W=32768 H=32768", "H", "2^28" }),
};

#endif

/*
 * Box blur of a grey image: each pixel becomes the plain average of the patch around it.
 *
 *   naive  one thread per pixel, every pixel of the patch from global memory
 *   tiled  the block's pixels and the rim around them through shared memory
 *
 * The patch is 2 * RADIUS + 1 pixels wide; at the image's edge only the pixels that exist count:
 * with RADIUS 1 nine inside, six at an edge, four in a corner. PMPP 3.3.
 */

/* Compile parameters and their defaults, for both halves. */
#ifndef RADIUS
#define RADIUS 1
#endif
#ifndef TILE
#define TILE 16
#endif

#ifdef __CUDACC__

extern "C" __global__ void blur_v0_naive(const unsigned char *in, unsigned char *out, int W, int H)
{
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);

	if (col < W && row < H) { //@ guard
		unsigned sum = 0, pixels = 0;
		for (int dy = -RADIUS; dy <= RADIUS; dy++) {
			for (int dx = -RADIUS; dx <= RADIUS; dx++) {
				const int y = row + dy, x = col + dx;
				if (y >= 0 && y < H && x >= 0 && x < W) { //@ edge
					sum += in[y * W + x]; //@ load
					pixels++;
				}
			}
		}
		out[row * W + col] = (unsigned char)(sum / pixels); //@ store
	}
}

extern "C" __global__ void blur_v1_tiled(const unsigned char *in, unsigned char *out, int W, int H)
{
	/* TILE x TILE outputs need a rim of RADIUS pixels on every side */
	enum { SIDE = TILE + 2 * RADIUS };
	__shared__ unsigned char tile[SIDE][SIDE];
	const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	const int col0 = (int)blockIdx.x * TILE, row0 = (int)blockIdx.y * TILE;
	const int col = col0 + tx, row = row0 + ty;

	for (int i = ty; i < SIDE; i += TILE) {
		for (int j = tx; j < SIDE; j += TILE) {
			const int y = row0 + i - RADIUS, x = col0 + j - RADIUS;
			if (y >= 0 && y < H && x >= 0 && x < W)
				tile[i][j] = in[y * W + x]; //@ load
		}
	}
	__syncthreads(); //@ barrier
	if (col < W && row < H) { //@ guard
		unsigned sum = 0, pixels = 0;
		for (int dy = -RADIUS; dy <= RADIUS; dy++) {
			for (int dx = -RADIUS; dx <= RADIUS; dx++) {
				const int y = row + dy, x = col + dx;
				if (y >= 0 && y < H && x >= 0 && x < W) { //@ edge
					sum += tile[ty + dy + RADIUS][tx + dx + RADIUS]; //@ shared
					pixels++;
				}
			}
		}
		out[row * W + col] = (unsigned char)(sum / pixels); //@ store
	}
}

#else /* the host half */

#include "model/kernel.h"

enum variant { NAIVE, TILED, N_VARIANTS };
enum param { P_W, P_H, P_RADIUS, P_BLOCK_X, P_BLOCK_Y, P_TILE, N_PARAMS };
enum buffer { IN, OUT, N_BUFFERS };

#define MAX_SIZE 32768
#define MAX_PIXELS ((int64_t)1 << 28)
#define BIT(v) (1u << (v))

static const int64_t width_steps[] = { 1, 8, 62, 76, 100, 200, 512, 640, 1000, 1024, 1920, 3840,
	                               7680, MAX_SIZE, INT64_MIN };
static const int64_t height_steps[] = { 1, 6, 8, 62, 76, 100, 150, 480, 512, 750, 1000, 1024, 1080,
	                                2160, 4320, MAX_SIZE, INT64_MIN };
static const int64_t radii[] = { 0, 1, 2, 3, 4, 8, 16, INT64_MIN };
static const int64_t tiles[] = { 4, 8, 16, 32, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_W] = { .name = "W", .title = "image width", .unit = "pixels", .kind = PARAM_LAUNCH,
	          .def = 1000, .min = 1, .max = MAX_SIZE, .steps = width_steps },
	[P_H] = { .name = "H", .title = "image height", .unit = "pixels", .kind = PARAM_LAUNCH,
	          .def = 750, .min = 1, .max = MAX_SIZE, .steps = height_steps },
	[P_RADIUS] = { .name = "RADIUS", .title = "pixels on each side", .unit = "pixels",
	               .kind = PARAM_COMPILE, .def = RADIUS, .min = 0, .max = 16, .choices = radii },
	[P_BLOCK_X] = KERNEL_SIDE("block_x", "x", .role = PARAM_KNOB, .variants = BIT(NAIVE)),
	[P_BLOCK_Y] = KERNEL_SIDE("block_y", "y", .variants = BIT(NAIVE)),
	[P_TILE] = { .name = "TILE", .title = "tile width", .unit = "pixels", .kind = PARAM_COMPILE,
	             .role = PARAM_KNOB, .def = TILE, .min = 4, .max = 32, .choices = tiles,
	             .variants = BIT(TILED) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[NAIVE] = { KERNEL_VARIANT(blur, 0, naive), .title = "one thread per pixel",
		.idea = "every thread reads its whole patch: neighbours read almost the same bytes again",
		.section = "PMPP 3.3", .seeds = "S-016 S-306" },
	[TILED] = { KERNEL_VARIANT(blur, 1, tiled), .title = "tile with a rim in shared memory",
		.idea = "each pixel is read once per block, and once more per block whose rim it is in",
		.section = "beyond PMPP 3.3", .seeds = "S-016" },
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t w = p[P_W], h = p[P_H];
	const int64_t x = variant == TILED ? p[P_TILE] : p[P_BLOCK_X];
	const int64_t y = variant == TILED ? p[P_TILE] : p[P_BLOCK_Y];

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (w * h > MAX_PIXELS)
		return kernel_refuse(err, "H", h, "with W %lld more than 2^28 pixels", (long long)w);
	if (variant == NAIVE) {
		if (!kernel_sides_legal(x, y, err))
			return false;
	}
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, (w + x - 1) / x, (h + y - 1) / y, x, y),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[IN] = kernel_matrix("in", ELEM_U8, BUF_IN, h, w),
			[OUT] = kernel_matrix("out", ELEM_U8, BUF_OUT, h, w),
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(IN), KERNEL_ARG_BUFFER(OUT),
		            KERNEL_ARG_I32(w), KERNEL_ARG_I32(h)),
	};
	return kernel_launch_legal(out, err);
}

/* First and last index of a patch in one direction. */
static size_t from(size_t at, size_t radius)
{
	return at > radius ? at - radius : 0;
}

static size_t to(size_t at, size_t radius, size_t size)
{
	return at + radius < size ? at + radius : size - 1;
}

/*
 * Tolerance 0: whole numbers, divided with the remainder dropped. The sum of each column of the
 * patch is kept and moved down row by row, so that the reference costs the same at any radius.
 */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const unsigned char *in = before[IN], *out = after[OUT];
	const size_t w = (size_t)p[P_W], h = (size_t)p[P_H], r = (size_t)p[P_RADIUS];
	uint32_t columns[MAX_SIZE] = { 0 };

	(void)variant, (void)launch;
	for (size_t x = 0; x < w; x++) {
		for (size_t y = 0; y < to(0, r, h); y++) /* the loop below adds the last row */
			columns[x] += in[y * w + x];
	}
	for (size_t y = 0; y < h; y++) {
		for (size_t x = 0; x < w; x++) {
			if (y == 0 || y + r < h)
				columns[x] += in[to(y, r, h) * w + x];
			if (y > r)
				columns[x] -= in[(y - r - 1) * w + x];
		}
		const size_t rows = to(y, r, h) - from(y, r) + 1;
		uint64_t sum = 0;
		for (size_t x = 0; x < to(0, r, w); x++)
			sum += columns[x];
		for (size_t x = 0; x < w; x++) {
			if (x == 0 || x + r < w)
				sum += columns[to(x, r, w)];
			if (x > r)
				sum -= columns[x - r - 1];
			const size_t pixels = rows * (to(x, r, w) - from(x, r) + 1);
			const uint64_t mean = sum / pixels;
			check_element(out[y * w + x], (double)mean, 0, y * w + x, OUT, result);
		}
	}
	result->ok = result->errors == 0;
}

/* Whole numbers only: no floating-point operation, so no place on the roofline. */
static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	(void)variant, (void)p;
	*out = (struct kernel_cost){ .min_bytes = 2 * (double)launch->buffers[IN].count };
}

const struct kernel_desc kernel_blur = {
	.name = "blur", .title = "image blur", .section = "PMPP ch. 3",
	.about = "Each pixel becomes the average of the pixels around it. Threads at the image's edge "
	         "have smaller patches, so their warps split; and inside, neighbouring threads read "
	         "almost the same patch, which a tile in shared memory can serve.",
	KERNEL_PARTS,
	.fill = kernel_fill_bytes,
	KERNEL_EXAMPLES(
		{ "tiled", "W=100 H=40 TILE=32", { 4, 2, 1 }, { 32, 32, 1 }, 0, 0 }),
	KERNEL_REFUSALS(
		{ "naive", "block_x=256 block_y=8", "block_y", "2048 threads" }),
};

#endif

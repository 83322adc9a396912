/*
 * Colour image to grey levels: L = 0.21 r + 0.72 g + 0.07 b for every pixel.
 *
 *   interleaved  one thread per pixel, pixels stored r g b r g b ...: lanes are 3 bytes apart
 *   planar       the same with three planes: lanes read neighbouring bytes
 *   coarsened    COARSE pixels per thread, one below the other: nothing to save, nothing gained
 *   packed       four pixels per thread, as three 4-byte words in and one out
 *
 * `rgb` has H rows of W pixels, `gray` one byte per pixel. PMPP 3.2, 6.3.
 */

/* Compile parameters and their defaults, for both halves. */
#ifndef COARSE
#define COARSE 4
#endif

#ifdef __CUDACC__

/* Rounded down, as the cast does. */
static __device__ unsigned luminance(unsigned r, unsigned g, unsigned b)
{
	const float l = 0.21f * (float)r + 0.72f * (float)g + 0.07f * (float)b; //@ luminance
	return (unsigned)l; //@ luminance
}

extern "C" __global__ void rgb_to_gray_v0_interleaved(const unsigned char *rgb,
                                                      unsigned char *gray, int W, int H)
{
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);

	if (col < W && row < H) { //@ guard
		const int pixel = row * W + col;
		const unsigned r = rgb[3 * pixel];     //@ load
		const unsigned g = rgb[3 * pixel + 1]; //@ load
		const unsigned b = rgb[3 * pixel + 2]; //@ load
		gray[pixel] = (unsigned char)luminance(r, g, b); //@ store
	}
}

extern "C" __global__ void rgb_to_gray_v1_planar(const unsigned char *rgb,
                                                 unsigned char *gray, int W, int H)
{
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
	const int plane = W * H; /* all of r, then all of g, then all of b */

	if (col < W && row < H) { //@ guard
		const int pixel = row * W + col;
		const unsigned r = rgb[pixel];             //@ load
		const unsigned g = rgb[plane + pixel];     //@ load
		const unsigned b = rgb[2 * plane + pixel]; //@ load
		gray[pixel] = (unsigned char)luminance(r, g, b); //@ store
	}
}

extern "C" __global__ void rgb_to_gray_v2_coarsened(const unsigned char *__restrict__ rgb,
                                                    unsigned char *__restrict__ gray,
                                                    int W, int H)
{
	const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const int row0 = (int)(blockIdx.y * blockDim.y * COARSE + threadIdx.y);

#pragma unroll
	for (int c = 0; c < COARSE; c++) {
		const int row = row0 + c * (int)blockDim.y;
		if (col < W && row < H) { //@ guard
			const int pixel = row * W + col;
			const unsigned r = rgb[3 * pixel];     //@ load
			const unsigned g = rgb[3 * pixel + 1]; //@ load
			const unsigned b = rgb[3 * pixel + 2]; //@ load
			gray[pixel] = (unsigned char)luminance(r, g, b); //@ store
		}
	}
}

extern "C" __global__ void rgb_to_gray_v3_packed(const unsigned char *rgb, unsigned char *gray,
                                                 int W, int H)
{
	const int pixels = W * H;
	const int first = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (first + 3 < pixels) { //@ guard
		/* 12 bytes, r g b r | g b r g | b r g b, lowest byte first */
		const unsigned *const words = (const unsigned *)(rgb + 3 * first);
		const unsigned w0 = words[0]; //@ load
		const unsigned w1 = words[1]; //@ load
		const unsigned w2 = words[2]; //@ load
		const unsigned l0 = luminance(w0 & 255, w0 >> 8 & 255, w0 >> 16 & 255);
		const unsigned l1 = luminance(w0 >> 24, w1 & 255, w1 >> 8 & 255);
		const unsigned l2 = luminance(w1 >> 16 & 255, w1 >> 24, w2 & 255);
		const unsigned l3 = luminance(w2 >> 8 & 255, w2 >> 16 & 255, w2 >> 24);
		*(unsigned *)(gray + first) = l0 | l1 << 8 | l2 << 16 | l3 << 24; //@ store
	} else {
#pragma unroll 1
		for (int pixel = first; pixel < pixels; pixel++) /* at most three, behind the last word */
			gray[pixel] = (unsigned char)luminance(rgb[3 * pixel], rgb[3 * pixel + 1],
			                                       rgb[3 * pixel + 2]); //@ rest
	}
}

#else /* the host half */

#include "model/kernel.h"

#include <math.h>

enum variant { INTERLEAVED, PLANAR, COARSENED, PACKED, N_VARIANTS };
enum param { P_W, P_H, P_BLOCK_X, P_BLOCK_Y, P_BLOCK, P_COARSE, N_PARAMS };
enum buffer { RGB, GRAY, N_BUFFERS };

#define MAX_SIZE 32768
#define MAX_PIXELS ((int64_t)1 << 28) /* 3 * pixel stays within int */
#define BIT(v) (1u << (v))
#define TWO_D (BIT(INTERLEAVED) | BIT(PLANAR) | BIT(COARSENED))

static const int64_t width_steps[] = { 1, 8, 62, 76, 100, 200, 512, 640, 1000, 1024, 1920, 3840,
	                               7680, MAX_SIZE, INT64_MIN };
static const int64_t height_steps[] = { 1, 6, 8, 62, 76, 100, 150, 480, 512, 750, 1000, 1024, 1080,
	                                2160, 4320, MAX_SIZE, INT64_MIN };
static const int64_t factors[] = { 1, 2, 4, 8, INT64_MIN };

static const struct param_desc params[N_PARAMS] = {
	[P_W] = { .name = "W", .title = "image width", .unit = "pixels", .kind = PARAM_LAUNCH,
	          .def = 1000, .min = 1, .max = MAX_SIZE, .steps = width_steps },
	[P_H] = { .name = "H", .title = "image height", .unit = "pixels", .kind = PARAM_LAUNCH,
	          .def = 750, .min = 1, .max = MAX_SIZE, .steps = height_steps },
	[P_BLOCK_X] = KERNEL_SIDE("block_x", "x", .role = PARAM_KNOB, .variants = TWO_D),
	[P_BLOCK_Y] = KERNEL_SIDE("block_y", "y", .variants = TWO_D),
	[P_BLOCK] = KERNEL_BLOCK_SIZE("block", 256, kernel_block_steps, .variants = BIT(PACKED)),
	[P_COARSE] = { .name = "COARSE", .title = "pixels per thread", .unit = "pixels",
	               .kind = PARAM_COMPILE, .def = COARSE, .min = 1, .max = 8, .choices = factors,
	               .variants = BIT(COARSENED) },
};

static const struct variant_desc variants[N_VARIANTS] = {
	[INTERLEAVED] = { KERNEL_VARIANT(rgb_to_gray, 0, interleaved), .title = "one thread per pixel",
		.idea = "three one-byte loads, lanes 3 bytes apart: each sector is asked for three times",
		.section = "PMPP 3.2", .seeds = "S-015 S-254 S-305" },
	[PLANAR] = { KERNEL_VARIANT(rgb_to_gray, 1, planar), .title = "three colour planes",
		.idea = "another layout: neighbouring lanes read neighbouring bytes of one colour",
		.section = "PMPP 6.1", .seeds = "S-015 S-528" },
	[COARSENED] = { KERNEL_VARIANT(rgb_to_gray, 2, coarsened), .title = "coarsened",
		.idea = "several pixels per thread: parallelism costs nothing here, so nothing is gained",
		.section = "PMPP 6.3", .seeds = "S-013 S-348" },
	[PACKED] = { KERNEL_VARIANT(rgb_to_gray, 3, packed), .title = "four pixels, whole words",
		.idea = "three 4-byte loads and one store for four pixels: a quarter of the requests",
		.section = "beyond the sources", .seeds = "" },
};

static bool plan(unsigned variant, const int64_t *p, struct launch_plan *out, struct err *err)
{
	const int64_t w = p[P_W], h = p[P_H];
	int64_t x = p[P_BLOCK_X], y = p[P_BLOCK_Y];
	int64_t grid_x, grid_y;

	if (!kernel_values_legal(params, N_PARAMS, variant, p, err))
		return false;
	if (w * h > MAX_PIXELS)
		return kernel_refuse(err, "H", h, "with W %lld more than 2^28 pixels", (long long)w);
	if (variant == PACKED) {
		x = p[P_BLOCK];
		y = 1;
		grid_x = (w * h + 4 * x - 1) / (4 * x);
		grid_y = 1;
	} else {
		if (!kernel_sides_legal(x, y, err))
			return false;
		const int64_t rows = variant == COARSENED ? y * p[P_COARSE] : y;
		grid_x = (w + x - 1) / x;
		grid_y = (h + rows - 1) / rows;
	}
	*out = (struct launch_plan){
		KERNEL_LAUNCH(variants[variant].entry, grid_x, grid_y, x, y),
		.n_buffers = N_BUFFERS,
		.buffers = {
			[RGB] = { .name = "rgb", .type = ELEM_U8, .role = BUF_IN,
			          .count = (size_t)(3 * w * h) },
			[GRAY] = kernel_matrix("gray", ELEM_U8, BUF_OUT, h, w),
		},
		KERNEL_ARGS(KERNEL_ARG_BUFFER(RGB), KERNEL_ARG_BUFFER(GRAY),
		            KERNEL_ARG_I32(w), KERNEL_ARG_I32(h)),
	};
	if (variant == PLANAR) {
		out->buffers[RGB].rows = (uint32_t)(3 * h);
		out->buffers[RGB].cols = (uint32_t)w;
	} else {
		out->buffers[RGB].rows = (uint32_t)h;
		out->buffers[RGB].cols = (uint32_t)(3 * w);
	}
	return kernel_launch_legal(out, err);
}

/*
 * The grey level is the luminance rounded down. Float32 may round the three products and two sums
 * by at most 5 * 255 * 2^-24 < 1e-4 in all, so where the exact luminance lies that close to a whole
 * number either neighbour is right; everywhere else the level must be equal.
 */
static void check(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                  void *const *before, void *const *after, struct check_result *result)
{
	const unsigned char *rgb = before[RGB], *gray = after[GRAY];
	const size_t pixels = launch->buffers[GRAY].count;
	const size_t next = variant == PLANAR ? 1 : 3, plane = variant == PLANAR ? pixels : 1;

	(void)p;
	for (size_t i = 0; i < pixels; i++) {
		const unsigned char *c = &rgb[i * next];
		const double exact = 0.21 * c[0] + 0.72 * c[plane] + 0.07 * c[2 * plane];
		const double want = floor(exact);
		const bool close = floor(exact - 1e-4) != want || floor(exact + 1e-4) != want;
		if (gray[i] == want || (close && fabs(exact - gray[i] - 0.5) <= 0.5 + 1e-4))
			continue;
		check_element(gray[i], want, 0, i, GRAY, result);
	}
	result->ok = result->errors == 0;
}

static void cost(unsigned variant, const struct launch_plan *launch, const int64_t *p,
                 struct kernel_cost *out)
{
	const double pixels = (double)launch->buffers[GRAY].count;

	(void)variant, (void)p;
	*out = (struct kernel_cost){
		.flop = 5 * pixels, .min_bytes = 4 * pixels, .book_flop = 5, .book_bytes = 4,
		.book_note = "3 products and 2 sums per 4 bytes: r, g, b read, grey written",
	};
}

const struct kernel_desc kernel_rgb_to_gray = {
	.name = "rgb_to_gray", .title = "colour to grey", .section = "PMPP ch. 3",
	.about = "One thread per pixel of a two-dimensional grid. The image is rarely a multiple of "
	         "the block, so threads at the right and lower edge are switched off: count the warps "
	         "that split. And three bytes per pixel make a surprisingly poor memory access.",
	KERNEL_PARTS,
	.fill = kernel_fill_bytes,
	KERNEL_EXAMPLES(
		{ "interleaved", "W=200 H=150", { 13, 10, 1 }, { 16, 16, 1 }, 0, 0 }, /* S-305 */
		{ "packed", "W=100 H=41 block=256", { 5, 1, 1 }, { 256, 1, 1 }, 0, 0 },
		{ "interleaved", "", { 0 }, { 0 }, 0, 1.25 }),
	KERNEL_REFUSALS(
		{ "planar", "block_x=1024 block_y=2", "block_y", "2048 threads" }),
};

#endif

/*
 * Textures and surfaces: what a handle stands for, and how a texel is found and filtered.
 *
 * CUDA C++ Programming Guide, "Texture Fetching": addressing modes, nearest and linear filtering
 * with weights of 8 fractional bits, reading integers as fractions; of mipmapped arrays the nearest
 * level, or two of them mixed (texture_levels.c). Samples along a line (anisotropy) are not taken.
 * Layout is that of pitched memory, slice behind slice; hardware keeps arrays otherwise.
 */
#ifndef PMPP_EMU_TEXTURE_H
#define PMPP_EMU_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum texel_format { TEXEL_UNSIGNED, TEXEL_SIGNED, TEXEL_FLOAT };
enum texture_addressing { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER };

struct texture {
	uint8_t *texels;  /* device address = host address */
	unsigned size[3]; /* texels in x, y, z; 0 = the dimension is not there */
	unsigned layers;  /* 0 = not layered; the six faces of a cube are layers */
	size_t pitch, slice;
	unsigned channels, channel_bytes; /* 1, 2, 4; 1, 2, 4 */
	enum texel_format format;
	bool surface;    /* may be written, and is not sampled */
	bool plain;      /* linear or pitched memory of the program: its lines are known */
	bool linear;     /* filtering */
	bool normalised; /* coordinates 0..1 */
	bool fractions;  /* integers are read as 0..1 or -1..1 */
	enum texture_addressing addressing[3];
	float border[4];
	/* Of a mipmapped array, what stands above being its level 0. */
	unsigned n_levels;           /* 0: it has no others */
	const struct texture *level; /* [n_levels], 0 among them; handed over by texture_add() */
	bool mix_levels;             /* linear between levels */
	float level_bias, level_least, level_most;
};

/* The shape that an instruction names. */
enum texture_shape {
	SHAPE_1D,
	SHAPE_2D,
	SHAPE_3D,
	SHAPE_1D_LAYERED,
	SHAPE_2D_LAYERED,
	SHAPE_CUBE,
	SHAPE_CUBE_LAYERED
};

/* Handles are 1, 2, ...; none is used twice. */
struct texture_table {
	unsigned n, cap;
	struct texture **texture; /* NULL = destroyed */
};
uint64_t texture_add(struct texture_table *t, const struct texture *texture);
bool texture_remove(struct texture_table *t, uint64_t handle);
struct texture *texture_find(const struct texture_table *t, uint64_t handle);
void texture_table_free(struct texture_table *t);

/* Does a fetch give floats? */
static inline bool texture_gives_floats(const struct texture *t)
{
	return t->format == TEXEL_FLOAT || t->fractions;
}
static inline float texture_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* Coordinates as the instruction gives them: a layer first where there is one, then x y z, floats
 * or (@whole) integers. Results are 32-bit values: floats, or integers as they are. Returns the
 * place of a texel that was read, NULL = none. */
const uint8_t *texture_fetch(const struct texture *t, enum texture_shape shape, bool whole,
                             const uint32_t *at, uint32_t out[4]);
/* The same of the lanes of @mask at once, whose coordinates are @x and @y: where the texels lie,
 * for texture_read(). False: something is unusual, layers or filtering or a lane outside. */
bool texture_fetch_lanes(const struct texture *t, enum texture_shape shape, bool whole,
                         uint32_t mask, const uint32_t *x, const uint32_t *y,
                         const uint8_t *texel[32]);
/* Filtered results of the lanes of @mask, by channel, and a texel that each read
 * (texture_linear.c). False: something is unusual. */
bool texture_mix_lanes(const struct texture *t, enum texture_shape shape, uint32_t mask,
                       const uint32_t *x, const uint32_t *y, float out[4][32],
                       const uint8_t *texel[32]);
/*
 * How much of the corners of a cell linear filtering takes, in 256ths, x fastest; @part: how far
 * into it the place is, in 256ths. As an H200 divides them (tests/gpu/micro/texel_weights.cu): by
 * z, each part by x, each of those by y; a half is rounded towards the next texel but in the last
 * step that of the corners of the first column. What is mixed is rounded once, a half away from 0.
 */
static inline void texture_weights(const unsigned part[3], int weight[8])
{
	const int x = (int)part[0], y = (int)part[1], z = (int)part[2];
	for (int k = 0; k < 2; k++) {
		const int layer = k ? z : 256 - z, right = (x * layer + 128) >> 8, left = layer - right;
		weight[4 * k + 2] = (left * y + 127) >> 8;
		weight[4 * k + 3] = (right * y + 128) >> 8;
		weight[4 * k] = left - weight[4 * k + 2];
		weight[4 * k + 1] = right - weight[4 * k + 3];
	}
}
static inline float texture_mixed(double sum_of_256ths)
{
	return (float)(sum_of_256ths * ((1 + 0x1p-50) / 256));
}
void texture_read(const struct texture *t, const uint8_t *texel, uint32_t out[4]);
/* texture_fetch() from the level of detail @lod (texture_levels.c). */
const uint8_t *texture_fetch_level(const struct texture *t, enum texture_shape shape, bool whole,
                                   float lod, const uint32_t *at, uint32_t out[4]);
/* The level of detail of a place that moves by @across and @down from one pixel to the next. */
float texture_level_of(const struct texture *t, enum texture_shape shape, const float across[3],
                       const float down[3]);
unsigned texture_dimensions(enum texture_shape shape);
/* One channel of the four texels that linear filtering would mix (tld4). */
void texture_gather(const struct texture *t, enum texture_shape shape, unsigned channel,
                    const uint32_t *at, uint32_t out[4]);

enum surface_bounds { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO };
/* Where @bytes of a surface lie; x counts bytes. NULL: outside, *@trap tells whether that is an
 * error. */
uint8_t *surface_texel(const struct texture *t, enum texture_shape shape,
                       enum surface_bounds bounds, const uint32_t *at, unsigned bytes, bool *trap);

#endif

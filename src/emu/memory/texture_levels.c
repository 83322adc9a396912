/*
 * Levels of a mipmapped array; see emu/texture.h. CUDA Runtime API, struct cudaTextureDesc: to the
 * level that the instruction gives the bias is added, and the sum is kept between the two clamps.
 * Then the nearest level is read, of two equally near ones the larger image, or two are mixed, with
 * a weight of 8 fractional bits like those between texels.
 */
#include "emu/texture.h"

#include <math.h>
#include <string.h>

/* Between level 0 and the last one; what is no number is level 0. */
static float kept_between(const struct texture *t, float lod)
{
	const float last = (float)(t->n_levels - 1);
	lod += t->level_bias;
	lod = lod < t->level_most ? lod : t->level_most;
	lod = lod > t->level_least ? lod : t->level_least;
	return lod > 0 ? (lod < last ? lod : last) : 0;
}

const uint8_t *texture_fetch_level(const struct texture *t, enum texture_shape shape, bool whole,
                                   float lod, const uint32_t *at, uint32_t out[4])
{
	if (!t->n_levels)
		return texture_fetch(t, shape, whole, at, out);
	lod = kept_between(t, lod);
	if (!t->mix_levels || !texture_gives_floats(t) || whole)
		return texture_fetch(&t->level[(unsigned)ceilf(lod - 0.5f)], shape, whole, at, out);
	const unsigned fine = (unsigned)lod;
	const float weight = floorf((lod - (float)fine) * 256 + 0.5f) / 256;
	const uint8_t *p = texture_fetch(&t->level[fine], shape, whole, at, out);
	if (weight <= 0)
		return p;
	uint32_t coarse[4];
	texture_fetch(&t->level[fine + 1], shape, whole, at, coarse);
	for (unsigned c = 0; c < 4; c++) {
		const float mixed =
			(1 - weight) * texture_float(out[c]) + weight * texture_float(coarse[c]);
		memcpy(&out[c], &mixed, sizeof mixed);
	}
	return p;
}

/* A step of one texel of level 0 is level 0, of two of them level 1, and so on. */
float texture_level_of(const struct texture *t, enum texture_shape shape, const float across[3],
                       const float down[3])
{
	float a = 0, b = 0;
	for (unsigned d = 0; d < texture_dimensions(shape); d++) {
		const float n = t->normalised ? (float)(t->size[d] ? t->size[d] : 1) : 1;
		a += across[d] * n * across[d] * n;
		b += down[d] * n * down[d] * n;
	}
	return 0.5f * log2f(a > b ? a : b);
}

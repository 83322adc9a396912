/* Linear filtering of a warp's lanes at once, where nothing is unusual; see emu/texture.h. The same
 * arithmetic, in the same order, as texture_fetch() has for one lane. */
#include "emu/texture.h"

#include <string.h>

#define FAR 1e9 /* beyond it floats are left to the other way */

/* A dimension of the lanes: texels that are mixed, and the part of the second, in 256ths. */
struct axis {
	int32_t at[2][32];
	unsigned part[32];
};

static int32_t below(double v)
{
	const int32_t i = (int32_t)v;
	return i - (i > v);
}

/* Those of @from; false: one cannot be done here. */
static bool place(const struct texture *t, unsigned d, uint32_t mask, const uint32_t *from,
                  struct axis *a)
{
	const int32_t n = (int32_t)(t->size[d] ? t->size[d] : 1);
	const bool wraps = t->normalised && t->addressing[d] == ADDRESS_WRAP;
	const bool clamps =
		t->addressing[d] == ADDRESS_CLAMP || (!t->normalised && t->addressing[d] != ADDRESS_BORDER);
	const double scale = t->normalised ? n : 1;
	uint32_t odd = 0, outside = 0;
	for (unsigned i = 0; i < 32; i++) {
		const uint32_t used = mask >> i & 1;
		const double v = texture_float(from[i]) * scale - 0.5;
		const bool good = v > -FAR && v < FAR;
		const double w = used && good ? v : 0;
		const int32_t k = below(w);
		const bool both = !clamps || (k >= 0 && k + 1 < n);
		a->part[i] = both ? (unsigned)below((w - k) * 256 + 0.5) : 0;
		a->at[0][i] = k;
		a->at[1][i] = k + 1;
		odd |= used & !good;
		outside |= (uint32_t)(k < 0) | (uint32_t)(k + 1 >= n);
	}
	if (odd || (outside && !clamps && !wraps))
		return false;
	for (unsigned k = 0; k < 2 && outside; k++)
		for (unsigned i = 0; i < 32; i++) {
			const int32_t at = a->at[k][i];
			a->at[k][i] = wraps ? (at % n + n) % n : at < 0 ? 0 : at >= n ? n - 1 : at;
		}
	return true;
}

/* A channel as a float; 8 and 16 bits are fractions. */
static float channel(const uint8_t *p, unsigned bytes)
{
	uint16_t half;
	float f;
	if (bytes == 1)
		return (float)*p / 255;
	if (bytes == 4) {
		memcpy(&f, p, sizeof f);
		return f;
	}
	memcpy(&half, p, sizeof half);
	return (float)half / 65535;
}

static inline void mix(const struct texture *t, uint32_t mask, const struct axis *x,
                       const struct axis *y, unsigned channels, unsigned bytes, float out[4][32],
                       const uint8_t *texel[32])
{
	for (unsigned i = 0; i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		int weight[8];
		texture_weights((const unsigned[3]){ x->part[i], y->part[i], 0 }, weight);
		const uint8_t *row[2];
		for (unsigned k = 0; k < 2; k++)
			row[k] = t->texels + (size_t)y->at[k][i] * t->pitch;
		texel[i] = row[0] + (size_t)x->at[0][i] * channels * bytes;
		for (unsigned c = 0; c < channels; c++) {
			double sum = 0;
			for (unsigned k = 0; k < 4; k++)
				if (weight[k] > 0)
					sum +=
						weight[k] *
						(double)channel(
							row[k >> 1] + ((size_t)x->at[k & 1][i] * channels + c) * bytes, bytes);
			out[c][i] = texture_mixed(sum);
		}
	}
}

bool texture_mix_lanes(const struct texture *t, enum texture_shape shape, uint32_t mask,
                       const uint32_t *x, const uint32_t *y, float out[4][32],
                       const uint8_t *texel[32])
{
	struct axis across, down = { .part = { 0 } };
	const bool words = t->format == TEXEL_FLOAT && t->channel_bytes == 4;
	const bool small = t->format == TEXEL_UNSIGNED && t->fractions && t->channel_bytes < 4;
	if (!t->linear || t->layers || (shape == SHAPE_1D && t->addressing[1] == ADDRESS_BORDER) ||
	    (shape != SHAPE_1D && shape != SHAPE_2D) || !(words || small) ||
	    !place(t, 0, mask, x, &across) || (shape == SHAPE_2D && !place(t, 1, mask, y, &down)))
		return false;
	for (unsigned c = t->channels; c < 4; c++)
		for (unsigned i = 0; i < 32; i++)
			out[c][i] = c == 3;
	if (words && t->channels == 1)
		mix(t, mask, &across, &down, 1, 4, out, texel);
	else if (words && t->channels == 4)
		mix(t, mask, &across, &down, 4, 4, out, texel);
	else if (small && t->channels == 4 && t->channel_bytes == 1)
		mix(t, mask, &across, &down, 4, 1, out, texel);
	else
		mix(t, mask, &across, &down, t->channels, t->channel_bytes, out, texel);
	return true;
}

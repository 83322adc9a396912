/* Textures and surfaces; see emu/texture.h. */
#include "emu/texture.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- handles --- */

uint64_t texture_add(struct texture_table *t, const struct texture *texture)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->texture = mem_realloc(t->texture, t->cap, sizeof(struct texture *));
	}
	t->texture[t->n] = mem_alloc(sizeof *texture);
	*t->texture[t->n] = *texture;
	return ++t->n;
}

struct texture *texture_find(const struct texture_table *t, uint64_t handle)
{
	return t && handle && handle <= t->n ? t->texture[handle - 1] : NULL;
}

static void drop(struct texture *t)
{
	if (t)
		free((void *)(uintptr_t)t->level);
	free(t);
}

bool texture_remove(struct texture_table *t, uint64_t handle)
{
	if (!texture_find(t, handle))
		return false;
	drop(t->texture[handle - 1]);
	t->texture[handle - 1] = NULL;
	return true;
}

void texture_table_free(struct texture_table *t)
{
	for (unsigned i = 0; i < t->n; i++)
		drop(t->texture[i]);
	free(t->texture);
	*t = (struct texture_table){ 0 };
}

/* --- one texel --- */

static float half_to_float(uint16_t h)
{
	const unsigned exponent = h >> 10 & 31, mantissa = h & 1023;
	const float v = exponent == 31 ? (mantissa ? NAN : INFINITY)
	                : exponent     ? ldexpf((float)(mantissa | 1024), (int)exponent - 25)
	                               : ldexpf((float)mantissa, -24);
	return h >> 15 ? -v : v;
}

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static inline uint32_t read_channel(const struct texture *t, const uint8_t *p)
{
	const unsigned bits = 8 * t->channel_bytes;
	uint32_t v = *p;
	if (bits == 32) {
		memcpy(&v, p, 4); /* also what cannot be a fraction */
		return v;
	}
	if (bits == 16)
		v |= (uint32_t)p[1] << 8;
	if (t->format == TEXEL_FLOAT)
		return bits_of(half_to_float((uint16_t)v));
	const int32_t sign = (int32_t)(v << (32 - bits)) >> (32 - bits);
	const bool is_signed = t->format == TEXEL_SIGNED;
	if (!t->fractions)
		return is_signed ? (uint32_t)sign : v;
	const float most = (float)((1u << (is_signed ? bits - 1 : bits)) - 1);
	const float f = (is_signed ? (float)sign : (float)v) / most;
	return bits_of(f < -1 ? -1 : f);
}

/* Whole coordinates inside the texture, or a negative one: the border. */
static const uint8_t *texel_at(const struct texture *t, const int64_t at[3], unsigned layer)
{
	for (unsigned d = 0; d < 3; d++)
		if (at[d] < 0)
			return NULL;
	const size_t slice = t->layers ? layer : (size_t)at[2];
	return t->texels + slice * t->slice + (size_t)at[1] * t->pitch +
	       (size_t)at[0] * t->channels * t->channel_bytes;
}

static void read_texel(const struct texture *t, const uint8_t *p, uint32_t out[4])
{
	const bool floats = texture_gives_floats(t);
	for (unsigned c = 0; c < 4; c++)
		if (!p)
			out[c] = floats ? bits_of(t->border[c]) : (uint32_t)(int32_t)t->border[c];
		else if (c < t->channels)
			out[c] = read_channel(t, p + c * t->channel_bytes);
		else
			out[c] = c < 3 ? 0 : floats ? bits_of(1) : 1;
}

/* --- coordinates --- */

unsigned texture_dimensions(enum texture_shape shape)
{
	switch (shape) {
	case SHAPE_1D:
	case SHAPE_1D_LAYERED: return 1;
	case SHAPE_3D: return 3;
	default: return 2;
	}
}

/* Wrapping and mirroring need normalised coordinates; otherwise they clamp. */
static enum texture_addressing addressing(const struct texture *t, unsigned d)
{
	const enum texture_addressing a = t->addressing[d];
	return !t->normalised && (a == ADDRESS_WRAP || a == ADDRESS_MIRROR) ? ADDRESS_CLAMP : a;
}

/* Texel @i of a row of @n: inside, or -1 for the border. */
static int64_t fold(int64_t i, int64_t n, enum texture_addressing a)
{
	if (i >= 0 && i < n)
		return i;
	switch (a) {
	case ADDRESS_BORDER: return -1;
	case ADDRESS_WRAP: return (i % n + n) % n;
	case ADDRESS_MIRROR: i = (i % (2 * n) + 2 * n) % (2 * n); return i < n ? i : 2 * n - 1 - i;
	case ADDRESS_CLAMP: break;
	}
	return i < 0 ? 0 : n - 1;
}

struct sample {
	int64_t at[3]
			  [2]; /* per dimension: the texel, and the next one that linear filtering mixes in */
	unsigned part[3]; /* how much of the next one, in 256ths */
	unsigned layer;
};

static inline int64_t whole_part(double v)
{
	if (v > -1e9 && v < 1e9) {
		const int32_t i = (int32_t)v;
		return i - (i > v);
	}
	return v > 1e9 ? 1000000000 : v < -1e9 ? -1000000000 : v != v ? 0 : (int64_t)floor(v);
}

static inline double floor_of(double v)
{
	return v > -1e9 && v < 1e9 ? (double)whole_part(v) : floor(v);
}

/* The nearest texel of a texture without layers; most fetches are such. */
static const uint8_t *nearest(const struct texture *t, unsigned dims, bool whole,
                              const uint32_t *at)
{
	int64_t place[3] = { 0 };
	for (unsigned d = 0; d < dims; d++) {
		const int64_t n = t->size[d] ? t->size[d] : 1;
		const float v = texture_float(at[d]);
		const int64_t i = whole           ? (int64_t)(int32_t)at[d]
		                  : t->normalised ? whole_part(v * (float)n)
		                                  : whole_part(v);
		place[d] = i;
		if (i < 0 || i >= n)
			place[d] = fold(i, n, whole && t->plain ? ADDRESS_BORDER : addressing(t, d));
		if (place[d] < 0)
			return NULL;
	}
	return texel_at(t, place, 0);
}

/* From a direction to a face and the place on it; CUDA's table of the six faces. */
static void on_cube(const uint32_t *at, float place[2], unsigned *face)
{
	const float x = texture_float(at[0]), y = texture_float(at[1]), z = texture_float(at[2]);
	const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
	float s, v, m;
	if (ax >= ay && ax >= az) {
		*face = x < 0;
		m = ax;
		s = x < 0 ? z : -z;
		v = -y;
	} else if (ay >= az) {
		*face = 2 + (y < 0);
		m = ay;
		s = x;
		v = y < 0 ? -z : z;
	} else {
		*face = 4 + (z < 0);
		m = az;
		s = z < 0 ? -x : x;
		v = -y;
	}
	place[0] = (s / m + 1) / 2;
	place[1] = (v / m + 1) / 2;
}

/* A line of texels is a row of a card's, read at its edge: beside it may be rows of the border. */
static bool beside_border(const struct texture *t, enum texture_shape shape)
{
	return shape == SHAPE_1D && t->addressing[1] == ADDRESS_BORDER;
}

/* Place @v of a dimension of @n texels: which it lies between, how much of the next one. */
static void between(double v, bool linear, int64_t n, enum texture_addressing a, struct sample *s,
                    unsigned d)
{
	const int64_t i = whole_part(v);
	const double part = (v - floor_of(v)) * 256 + 0.5;
	const bool both = a != ADDRESS_CLAMP || (i >= 0 && i + 1 < n);
	s->at[d][0] = fold(i, n, a);
	s->at[d][1] = fold(i + 1, n, a);
	s->part[d] = linear && both ? (unsigned)floor_of(part) : 0;
}

static struct sample locate(const struct texture *t, enum texture_shape shape, bool whole,
                            bool linear, const uint32_t *at)
{
	struct sample s = { 0 };
	float place[2] = { 0 };
	const bool cube = shape == SHAPE_CUBE || shape == SHAPE_CUBE_LAYERED;
	unsigned face = 0;
	if (shape == SHAPE_1D_LAYERED || shape == SHAPE_2D_LAYERED || shape == SHAPE_CUBE_LAYERED) {
		s.layer = (int32_t)at[0] < 0 ? 0 : at[0];
		at++;
	}
	if (cube) {
		const unsigned last = t->layers >= 6 ? t->layers / 6 - 1 : 0;
		on_cube(at, place, &face);
		s.layer = (s.layer < last ? s.layer : last) * 6 + face;
	}
	if (t->layers && s.layer >= t->layers)
		s.layer = t->layers - 1;
	for (unsigned d = 0; d < texture_dimensions(shape); d++) {
		const int64_t n = t->size[d] ? t->size[d] : 1;
		const enum texture_addressing a = cube ? ADDRESS_CLAMP : addressing(t, d);
		if (whole) {
			s.at[d][0] = s.at[d][1] = fold((int32_t)at[d], n, t->plain ? ADDRESS_BORDER : a);
			continue;
		}
		const double scale = t->normalised || cube ? (double)n : 1;
		const double v = (cube ? place[d] : texture_float(at[d])) * scale;
		between(linear ? v - 0.5 : v, linear, n, a, &s, d);
	}
	if (linear && beside_border(t, shape)) {
		s.at[1][0] = -1;
		s.part[1] = 128;
	}
	return s;
}

static const uint8_t *corner(const struct texture *t, const struct sample *s, unsigned which)
{
	const int64_t at[3] = { s->at[0][which & 1], s->at[1][which >> 1 & 1], s->at[2][which >> 2] };
	return texel_at(t, at, s->layer);
}

/* Four texels inside, none of them of the border. What is not stored comes out as it is. */
static void mix_inside(const struct texture *t, const struct sample *s, uint32_t out[4])
{
	int weight[8];
	const uint8_t *p[4];
	texture_weights(s->part, weight);
	for (unsigned k = 0; k < 4; k++)
		p[k] = corner(t, s, k);
	out[1] = out[2] = 0;
	out[3] = bits_of(1);
	for (unsigned c = 0; c < t->channels; c++) {
		double sum = 0;
		for (unsigned k = 0; k < 4; k++)
			if (weight[k] > 0)
				sum +=
					weight[k] * (double)texture_float(read_channel(t, p[k] + c * t->channel_bytes));
		out[c] = bits_of(texture_mixed(sum));
	}
}

const uint8_t *texture_fetch(const struct texture *t, enum texture_shape shape, bool whole,
                             const uint32_t *at, uint32_t out[4])
{
	const bool linear = t->linear && !whole && texture_gives_floats(t);
	if (!linear && !t->layers && shape <= SHAPE_3D) {
		const uint8_t *p = nearest(t, texture_dimensions(shape), whole, at);
		read_texel(t, p, out);
		return p;
	}
	const struct sample s = locate(t, shape, whole, linear, at);
	if (linear && shape == SHAPE_2D && s.at[0][0] >= 0 && s.at[0][1] >= 0 && s.at[1][0] >= 0 &&
	    s.at[1][1] >= 0) {
		mix_inside(t, &s, out);
		return corner(t, &s, 0);
	}
	const uint8_t *first = corner(t, &s, 0);
	read_texel(t, first, out);
	if (!linear)
		return first;
	double sum[4] = { 0 };
	int weight[8];
	texture_weights(s.part, weight);
	for (unsigned k = 0; k < 1u << (texture_dimensions(shape) + beside_border(t, shape)); k++) {
		uint32_t texel[4];
		const uint8_t *p = corner(t, &s, k);
		first = first ? first : p;
		read_texel(t, p, texel);
		for (unsigned c = 0; c < 4 && weight[k] > 0; c++)
			sum[c] += weight[k] * (double)texture_float(texel[c]);
	}
	for (unsigned c = 0; c < 4; c++)
		out[c] = bits_of(texture_mixed(sum[c]));
	return first;
}

/* Texels of the lanes of @mask in a dimension of @n; false: one lies outside. */
static bool inside_all(const uint32_t *from, uint32_t n, bool whole, bool normalised, uint32_t mask,
                       int32_t at[32])
{
	const float scale = normalised ? (float)n : 1;
	uint32_t outside = 0;
	for (unsigned i = 0; i < 32; i++) {
		const bool used = mask >> i & 1;
		const float v = texture_float(from[i]) * scale;
		const bool inside = whole ? from[i] < n : v >= 0 && v < (float)n;
		outside |= (uint32_t)(used && !inside);
		at[i] = !used || !inside ? 0 : whole ? (int32_t)from[i] : (int32_t)v;
	}
	return !outside;
}

bool texture_fetch_lanes(const struct texture *t, enum texture_shape shape, bool whole,
                         uint32_t mask, const uint32_t *x, const uint32_t *y,
                         const uint8_t *texel[32])
{
	const bool flat = shape == SHAPE_1D || shape == SHAPE_2D;
	const uint32_t nx = t->size[0], ny = shape == SHAPE_2D && t->size[1] ? t->size[1] : 1;
	const uint32_t most = whole ? INT32_MAX : 1u << 24; /* floats hold every whole number */
	const size_t bytes = (size_t)t->channels * t->channel_bytes;
	int32_t column[32], row[32] = { 0 };
	if (!flat || t->layers || (t->linear && !whole && texture_gives_floats(t)) || nx > most ||
	    ny > most || !inside_all(x, nx, whole, t->normalised, mask, column) ||
	    (shape == SHAPE_2D && !inside_all(y, ny, whole, t->normalised, mask, row)))
		return false;
	for (unsigned i = 0; i < 32; i++)
		texel[i] = t->texels + (size_t)row[i] * t->pitch + (size_t)column[i] * bytes;
	return true;
}

void texture_read(const struct texture *t, const uint8_t *texel, uint32_t out[4])
{
	read_texel(t, texel, out);
}

void texture_gather(const struct texture *t, enum texture_shape shape, unsigned channel,
                    const uint32_t *at, uint32_t out[4])
{
	static const unsigned order[4] = { 2, 3, 1,
		                               0 }; /* lower left, lower right, upper right, left */
	const struct sample s = locate(t, shape, false, true, at);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t texel[4];
		read_texel(t, corner(t, &s, order[i]), texel);
		out[i] = texel[channel];
	}
}

/* --- surfaces --- */

uint8_t *surface_texel(const struct texture *t, enum texture_shape shape,
                       enum surface_bounds bounds, const uint32_t *at, unsigned bytes, bool *trap)
{
	const bool layered = shape == SHAPE_1D_LAYERED || shape == SHAPE_2D_LAYERED;
	const int64_t row = (int64_t)t->size[0] * t->channels * t->channel_bytes;
	int64_t place[3] = { 0 }, slice = layered ? (int32_t)at[0] : 0;
	*trap = false;
	for (unsigned d = 0; d < texture_dimensions(shape); d++) {
		const int64_t n = d ? (t->size[d] ? t->size[d] : 1) : row - (int64_t)bytes + 1;
		const int64_t v = (int32_t)at[d + layered];
		place[d] = v;
		if (v >= 0 && v < n)
			continue;
		*trap = bounds == SURFACE_TRAP;
		if (bounds != SURFACE_CLAMP)
			return NULL;
		place[d] = v < 0 ? 0 : n - 1;
	}
	if (layered && (slice < 0 || slice >= (int64_t)t->layers)) {
		*trap = bounds == SURFACE_TRAP;
		return NULL;
	}
	slice = layered ? slice : place[2];
	return t->texels + (size_t)slice * t->slice + (size_t)place[1] * t->pitch + (size_t)place[0];
}

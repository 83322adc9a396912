/*
 * Textures and surfaces of a warp, lane by lane. What a fetch of plain memory reads goes through
 * the caches; how hardware lays out arrays is not published, so their lines are not followed.
 */
#include "emu/texture.h"
#include "emu/vm/access.h"
#include "emu/vm/texel_places.h"

#include <string.h>

static enum texture_shape shape_of(enum ptx_geometry g)
{
	switch (g) {
	case GEOMETRY_1D: return SHAPE_1D;
	case GEOMETRY_2D: return SHAPE_2D;
	case GEOMETRY_3D: return SHAPE_3D;
	case GEOMETRY_A1D: return SHAPE_1D_LAYERED;
	case GEOMETRY_A2D: return SHAPE_2D_LAYERED;
	case GEOMETRY_ACUBE: return SHAPE_CUBE_LAYERED;
	default: return SHAPE_CUBE;
	}
}

/* A line that is read as a plane (of one row, as machine code does that names gradients). */
static enum texture_shape shape_in(const struct texture *x, enum texture_shape shape)
{
	if (x->size[1])
		return shape;
	return shape == SHAPE_2D ? SHAPE_1D : shape == SHAPE_2D_LAYERED ? SHAPE_1D_LAYERED : shape;
}

/* Sectors of plain memory that the lanes read, by line. */
struct lines {
	unsigned n, sectors[32];
	uint64_t line[32];
	struct texel_places *places; /* where races are looked for; else NULL */
};

static void add_line(struct lines *l, const uint8_t *texel)
{
	const uint64_t address = (uint64_t)(uintptr_t)texel;
	unsigned i = 0;
	while (i < l->n && l->line[i] != address >> 7)
		i++;
	if (i == l->n) {
		l->line[l->n] = address >> 7;
		l->sectors[l->n++] = 0;
	}
	l->sectors[i] |= 1u << (address >> 5 & 3);
}

/* @lane reads a texel of @x. */
static void note_texel(struct lines *l, const struct texture *x, unsigned lane,
                       const uint8_t *texel)
{
	if (x->plain)
		add_line(l, texel);
	if (!l->places)
		return;
	l->places->mask |= 1u << lane;
	l->places->bytes = x->channels * x->channel_bytes;
	l->places->place[lane] = texel;
}

static void follow_lines(struct warp *w, const struct lines *l)
{
	const struct log_request r = {
		.time = w->ticks, .who = LOG_NOBODY, .lines = l->n, .kind = LOG_LOAD
	};
	const struct arena *ar = w->worker->grid->arena;
	const uint64_t first = ar->base >> 7, lines = (ar->end - ar->base + 127) >> 7;
	for (unsigned i = 0; i < l->n; i++) {
		if (l->line[i] - first >= lines)
			continue;
		const uint64_t word = *(const uint64_t *)(w->sampled + (l->line[i] >> 6) * 8);
		if (word >> (l->line[i] & 63) & 1)
			log_line(w, l->line[i], l->sectors[i], &r);
	}
}

static void put_result(const struct warp *w, const struct texture_uop *t, unsigned lane,
                       const uint32_t out[4])
{
	for (unsigned c = 0; c < t->x->n_d; c++)
		if (t->d[c] >= 0)
			((mem_u32 *)frame(w, (uint32_t)t->d[c]))[lane] = out[c];
}

/* The level that the instruction gives, or that follows from its gradients. */
static float level_of(const struct warp *w, const struct texture_uop *t,
                      const struct texture *texture, enum texture_shape shape, unsigned lane)
{
	const struct xop *x = t->x;
	const bool cube = x->geometry == GEOMETRY_CUBE || x->geometry == GEOMETRY_ACUBE;
	const unsigned given = cube ? 3 : texture_dimensions(shape_of(x->geometry));
	float moved[2][3] = { 0 }, level;
	if (x->mode == MODE_LEVEL) {
		const mem_u32 v = ((const mem_u32 *)frame(w, t->s[x->n_s - 1]))[lane];
		memcpy(&level, &v, sizeof level);
		return x->type2 == PTX_S32 ? (float)(int32_t)v : level;
	}
	if (x->mode != MODE_GRAD)
		return 0;
	for (unsigned k = 0; k < 2 * given; k++)
		memcpy(&moved[k / given][k % given],
		       (const mem_u32 *)frame(w, t->s[x->n_s - 2 * given + k]) + lane, sizeof level);
	return texture_level_of(texture, shape, moved[0], moved[1]);
}

static void sample(const struct warp *w, const struct texture_uop *t, const struct texture *texture,
                   enum texture_shape shape, unsigned lane, struct lines *lines)
{
	const struct xop *x = t->x;
	uint32_t at[X_MAX_VEC + 2], out[4];
	for (unsigned k = 1; k < x->n_s; k++)
		at[k - 1] = ((const mem_u32 *)frame(w, t->s[k]))[lane];
	if (x->op == OP_TLD4) {
		texture_gather(texture, shape, (unsigned)(x->mode - MODE_RED), at, out);
	} else {
		const float level = texture->n_levels ? level_of(w, t, texture, shape, lane) : 0;
		const uint8_t *p = texture_fetch_level(texture, shape, x->type2 == PTX_S32, level, at, out);
		if (p)
			note_texel(lines, texture, lane, p);
	}
	put_result(w, t, lane, out);
}

static enum surface_bounds bounds_of(enum ptx_mode m)
{
	return m == MODE_CLAMPED ? SURFACE_CLAMP : m == MODE_ZERO ? SURFACE_ZERO : SURFACE_TRAP;
}

/* Where a lane's texel lies; NULL: outside. */
static uint8_t *surface_place(const struct warp *w, const struct texture_uop *t,
                              const struct texture *surface, unsigned lane, bool *trap)
{
	const struct xop *x = t->x;
	const unsigned n_at = x->n_s - 1u - (x->op == OP_SUST_B ? x->vec : 0u);
	uint32_t at[8];
	for (unsigned k = 0; k < n_at; k++)
		at[k] = ((const mem_u32 *)frame(w, t->s[k + 1]))[lane];
	return surface_texel(surface, shape_of(x->geometry), bounds_of(x->mode), at, x->bytes * x->vec,
	                     trap);
}

/* Whom the lanes of @mask are about to race with. */
static void surface_race(struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct texture_uop *t = u->x.texture;
	const mem_u64 *handle = frame(w, t->s[0]);
	struct texel_places places = { .bytes = t->x->bytes * t->x->vec };
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned lane = lowest_lane(k);
		const struct texture *x = texture_find(w->worker->grid->textures, handle[lane]);
		bool trap = true;
		const uint8_t *p = x && x->surface ? surface_place(w, t, x, lane, &trap) : NULL;
		places.place[lane] = p;
		places.mask |= p && !trap ? 1u << lane : 0;
	}
	texture_race(w, u, &places);
}

/* False: outside, where that is an error. */
static bool touch_surface(const struct warp *w, const struct texture_uop *t,
                          const struct texture *surface, unsigned lane)
{
	const struct xop *x = t->x;
	const bool store = x->op == OP_SUST_B;
	const unsigned bytes = x->bytes, data = x->n_s - x->vec;
	bool trap;
	uint8_t *p = surface_place(w, t, surface, lane, &trap);
	for (unsigned i = 0; i < x->vec && !trap; i++) {
		if (store) {
			if (p)
				memcpy(p + i * bytes, texel_lane_bytes(w, t->s[data + i], lane, bytes), bytes);
		} else if (t->d[i] >= 0) {
			uint8_t *d = texel_lane_bytes(w, (uint32_t)t->d[i], lane, bytes);
			memset(d, 0, bytes == 8 ? 8 : 4);
			if (p)
				memcpy(d, p + i * bytes, bytes);
		}
	}
	return !trap;
}

/* The memory behind it is read or written from now on. */
static void touch_texture(struct worker *wk, const struct texture *x, bool store)
{
	const struct arena *ar = wk->grid->arena;
	wk->seen_texture[store] = x;
	const struct arena_region *r = arena_find(ar, (uint64_t)(uintptr_t)x->texels);
	wk->touched[r ? r - ar->region : ar->n] |= store ? TOUCH_WRITE : TOUCH_READ;
}

/* All lanes are filtered at once: false = they are not, or cannot be. */
static bool mix_together(const struct warp *w, const struct texture_uop *t, const struct texture *x,
                         uint32_t mask, enum texture_shape shape, struct lines *lines)
{
	const uint8_t *texel[32];
	float out[4][32];
	if (!texture_mix_lanes(x, shape, mask, frame(w, t->s[1]), frame(w, t->s[t->x->n_s > 2 ? 2 : 1]),
	                       out, texel))
		return false;
	if (x != w->worker->seen_texture[0])
		touch_texture(w->worker, x, false);
	for (uint32_t k = x->plain || lines->places ? mask : 0; k; k &= k - 1)
		note_texel(lines, x, lowest_lane(k), texel[lowest_lane(k)]);
	for (unsigned c = 0; c < t->x->n_d; c++)
		for (uint32_t k = t->d[c] >= 0 ? mask : 0; k; k &= k - 1) {
			const unsigned lane = lowest_lane(k);
			memcpy((mem_u32 *)frame(w, (uint32_t)t->d[c]) + lane, &out[c][lane], 4);
		}
	return true;
}

/* All lanes fetch from one texture, inside it: false = one by one. */
static bool sample_together(const struct warp *w, const struct texture_uop *t, uint32_t mask,
                            enum texture_shape shape, struct lines *lines)
{
	const struct xop *op = t->x;
	const mem_u64 *handle = frame(w, t->s[0]);
	const uint64_t first = handle[lowest_lane(mask)];
	const uint8_t *texel[32];
	uint64_t other = 0;
	if (op->op == OP_TLD4 || op->op == OP_SULD_B || op->op == OP_SUST_B)
		return false;
	for (uint32_t k = mask; k; k &= k - 1)
		other |= handle[lowest_lane(k)] ^ first;
	const struct texture *x = other ? NULL : texture_find(w->worker->grid->textures, first);
	if (!x || x->surface || x->n_levels)
		return false;
	shape = shape_in(x, shape);
	if (op->type2 != PTX_S32 && mix_together(w, t, x, mask, shape, lines))
		return true;
	if (!texture_fetch_lanes(x, shape, op->type2 == PTX_S32, mask, frame(w, t->s[1]),
	                         frame(w, t->s[op->n_s > 2 ? 2 : 1]), texel))
		return false;
	if (x != w->worker->seen_texture[0])
		touch_texture(w->worker, x, false);
	const bool plain_words = x->channels == 1 && x->channel_bytes == 4;
	for (uint32_t k = mask; k; k &= k - 1) {
		const unsigned lane = lowest_lane(k);
		uint32_t out[4] = { 0, 0, 0, x->format == TEXEL_FLOAT ? 0x3f800000u : 1 };
		if (plain_words && !x->fractions)
			memcpy(out, texel[lane], 4);
		else
			texture_read(x, texel[lane], out);
		if (x->plain || lines->places)
			note_texel(lines, x, lane, texel[lane]);
		put_result(w, t, lane, out);
	}
	return true;
}

HANDLER(texture_any)
{
	const struct texture_uop *t = u->x.texture;
	const mem_u64 *handle = frame(w, t->s[0]);
	const bool store = t->x->op == OP_SUST_B, surface = store || t->x->op == OP_SULD_B;
	const enum texture_shape shape = shape_of(t->x->geometry);
	struct texture *x = NULL;
	uint64_t last = 0;
	struct texel_places places = { 0 };
	struct lines lines;
	lines.n = 0;
	lines.places = w->worker->race ? &places : NULL;
	if (surface && w->worker->race)
		surface_race(w, u, mask);
	const bool together = sample_together(w, t, mask, shape, &lines);
	for (uint32_t k = together ? 0 : mask; k; k &= k - 1) {
		const unsigned lane = lowest_lane(k);
		if (!x || handle[lane] != last) {
			last = handle[lane];
			x = texture_find(w->worker->grid->textures, last);
			if (!x || x->surface != surface)
				return vm_fault(w, u, FAULT_TEXTURE, lane);
			if (x != w->worker->seen_texture[store])
				touch_texture(w->worker, x, store);
		}
		if (!surface)
			sample(w, t, x, shape_in(x, shape), lane, &lines);
		else if (!touch_surface(w, t, x, lane))
			return vm_fault(w, u, FAULT_SURFACE_BOUNDS, lane);
	}
	follow_lines(w, &lines);
	if (w->worker->race && !surface)
		texture_race(w, u, &places);
	if (mask == 0xffffffffu)
		NEXT_full(u + 1);
	NEXT_masked(u + 1);
}

const struct handler vm_texture = { texture_any, texture_any };

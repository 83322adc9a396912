/*
 * Tiles of an outer product, as register tiles compute it: sums of a window (fuse_chains.c) that
 * share their factors, each of a few by each of many. A factor is then read once for several sums,
 * and a sum stays in registers from the window's first product to its last.
 */
#include "emu/codegen/fuse_tiles.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SUMS 256 /* of a window with tiles */

struct tile_sums {
	uint32_t sum[TILE_SUMS];
	unsigned side; /* of the few factors */
};

struct tiles {
	const struct window *w;
	uint32_t *fma;    /* those of sum 0, then those of sum 1, ... */
	uint32_t *first;  /* by sum: in fma */
	uint32_t *row[2]; /* by sum: the lowest one that has its first factors, its second factors */
	/* by sum: its second factors are rows, or words; the first ones are rows */
	enum second { MIXED, ROWS, WORDS } * second;
	bool *taken; /* by sum: it is in a tile */
	struct tile_sums tile[MOST_SUMS / TILE_SUMS];
	unsigned n;
};

static void list_fmas(struct tiles *t)
{
	const struct window *w = t->w;
	uint32_t at = 0;
	for (unsigned k = 0; k < w->n_sums; k++) {
		t->first[k] = at;
		at += w->sum[k].n;
	}
	uint32_t *next = mem_alloc(w->n_sums * sizeof *next);
	memcpy(next, t->first, w->n_sums * sizeof *next);
	for (unsigned k = 0; k < w->n_fmas; k++)
		t->fma[next[w->fma[k].chain]++] = k;
	free(next);
}

static const struct factor *factor_of(const struct tiles *t, uint32_t sum, uint32_t step,
                                      unsigned side)
{
	return &t->w->fma[t->fma[t->first[sum] + step]].factor[side];
}

static bool same_factor(const struct factor *x, const struct factor *y)
{
	return x->base == y->base && x->row == y->row && x->half[0] == y->half[0] &&
	       x->half[1] == y->half[1];
}

static bool same_row(const struct tiles *t, uint32_t a, uint32_t b, unsigned side)
{
	const struct sum *sum = t->w->sum;
	bool same = sum[a].n == sum[b].n;
	for (uint32_t i = 0; same && i < sum[a].n; i++)
		same = same_factor(factor_of(t, a, i, side), factor_of(t, b, i, side));
	return same;
}

static enum second second_of(const struct tiles *t, uint32_t sum)
{
	unsigned rows = 0;
	for (uint32_t i = 0; i < t->w->sum[sum].n; i++)
		rows += factor_of(t, sum, i, 1)->row;
	return rows == t->w->sum[sum].n ? ROWS : rows ? MIXED : WORDS;
}

static void find_rows(struct tiles *t)
{
	for (uint32_t k = 0; k < t->w->n_sums; k++) {
		t->second[k] = second_of(t, k);
		for (unsigned side = 0; side < 2; side++) {
			uint32_t i = 0;
			while (i < k && (t->row[side][i] != i || !same_row(t, i, k, side)))
				i++;
			t->row[side][k] = i;
		}
	}
}

/* Does no sum write what another one reads or writes? They may then be done in any order. */
static bool apart(const struct window *w)
{
	uint32_t *writer = mem_calloc(w->n_slots, sizeof *writer); /* by slot: 1 + sum */
	bool is = true;
	for (uint32_t k = 0; k < w->n_sums; k++) {
		uint32_t *by = &writer[w->sum[k].d / 8];
		is &= !*by;
		*by = k + 1;
	}
	for (uint32_t k = 0; k < w->n_sums; k++) {
		const uint32_t by = writer[w->sum[k].acc / 8];
		is &= !by || by == k + 1;
	}
	for (unsigned k = 0; k < w->n_fmas; k++)
		for (unsigned i = 0; i < 2; i++)
			if (!w->fma[k].factor[i].base)
				is &= !writer[w->fma[k].factor[i].half[0] / 8];
	free(writer);
	return is;
}

/* The sum whose rows are those of @few on @side and of @many on the other; UINT32_MAX: there is
 * none, or it is taken. */
static uint32_t sum_at(const struct tiles *t, uint32_t few, uint32_t many, unsigned side)
{
	for (uint32_t k = 0; k < t->w->n_sums; k++)
		if (!t->taken[k] && t->second[k] == t->second[many] && t->row[side][k] == few &&
		    t->row[!side][k] == t->row[!side][many])
			return k;
	return UINT32_MAX;
}

/* Makes a tile of the rows @a and @b of @side; false: what is left of them has too little in
 * common. */
static bool find_tile(struct tiles *t, uint32_t a, uint32_t b, unsigned side)
{
	struct tile_sums *tile = &t->tile[t->n];
	unsigned n = 0;
	for (uint32_t k = a; k < t->w->n_sums && n < TILE_MANY; k++) {
		if (t->taken[k] || t->second[k] == MIXED || t->row[side][k] != a ||
		    (n && t->second[k] != t->second[tile->sum[0]]))
			continue;
		const uint32_t other = sum_at(t, b, k, side);
		if (other == UINT32_MAX)
			continue;
		tile->sum[n] = k;
		tile->sum[TILE_MANY + n++] = other;
		t->taken[k] = t->taken[other] = true;
	}
	for (unsigned k = 0; n < TILE_MANY && k < n; k++)
		t->taken[tile->sum[k]] = t->taken[tile->sum[TILE_MANY + k]] = false;
	tile->side = side;
	t->n += n == TILE_MANY;
	return n == TILE_MANY;
}

static void find_tiles(struct tiles *t, unsigned side)
{
	const uint32_t n = t->w->n_sums;
	uint32_t *sums = mem_calloc(n + 1, sizeof *sums); /* by row */
	for (uint32_t k = 0; k < n; k++)
		sums[t->row[side][k]]++;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n && sums[a] >= TILE_MANY; b++)
			while (sums[b] >= TILE_MANY && find_tile(t, a, b, side))
				;
	free(sums);
}

struct tiles *tiles_find(const struct window *w)
{
	struct tiles *t = mem_zalloc(sizeof *t);
	t->w = w;
	t->fma = mem_calloc(w->n_fmas + 1, sizeof *t->fma);
	t->first = mem_calloc(w->n_sums + 1, sizeof *t->first);
	t->second = mem_calloc(w->n_sums + 1, sizeof *t->second);
	t->taken = mem_calloc(w->n_sums + 1, sizeof *t->taken);
	for (unsigned side = 0; side < 2; side++)
		t->row[side] = mem_calloc(w->n_sums + 1, sizeof *t->row[side]);
	if (w->n_sums < TILE_SUMS || w->n_sums > MOST_SUMS || w->n_fmas < 2 * w->n_sums || !apart(w))
		return t;
	list_fmas(t);
	find_rows(t);
	find_tiles(t, 0);
	find_tiles(t, 1);
	return t;
}

void tiles_free(struct tiles *t)
{
	free(t->fma);
	free(t->first);
	free(t->row[0]);
	free(t->row[1]);
	free(t->second);
	free(t->taken);
	free(t);
}

bool tiles_have(const struct tiles *t, uint32_t sum)
{
	return t->taken[sum];
}

uint32_t tiles_fmas(const struct tiles *t)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < t->w->n_sums; k++)
		n += t->taken[k] ? t->w->sum[k].n : 0;
	return n;
}

static void put_tile(const struct tiles *t, const struct tile_sums *from, struct chain_tile *to)
{
	const struct window *w = t->w;
	const uint32_t first = from->sum[0], n = w->sum[first].n;
	struct tile_step *step = image_pool(w->e->im, n * sizeof *step);
	const unsigned side = from->side;
	*to = (struct chain_tile){ .n = n, .step = step };
	for (unsigned k = 0; k < TILE_SUMS; k++) {
		to->acc[k] = w->sum[from->sum[k]].acc;
		to->d[k] = w->sum[from->sum[k]].d;
	}
	if (t->second[first] == WORDS)
		to->words = side == 0 ? TILE_MANY_WORDS : TILE_FEW_WORDS;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < TILE_FACTORS; k++) {
			const uint32_t sum = from->sum[k < TILE_FEW ? TILE_MANY * k : k - TILE_FEW];
			const struct factor *f = factor_of(t, sum, i, k < TILE_FEW ? side : !side);
			step[i].base[k] = f->base;
			step[i].half[k][0] = (int32_t)f->half[0];
			step[i].half[k][1] = (int32_t)f->half[1];
		}
}

void tiles_put(const struct tiles *t, struct chains *c)
{
	struct chain_tile *tile = image_pool(t->w->e->im, (t->n + 1) * sizeof *tile);
	for (unsigned k = 0; k < t->n; k++)
		put_tile(t, &t->tile[k], &tile[k]);
	c->tile = tile;
	c->n_tiles = t->n;
}

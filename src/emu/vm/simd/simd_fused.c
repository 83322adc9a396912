/*
 * Inner products in one go: two loads and the FMA that uses them, for a full warp; in shared memory
 * a whole chain of them, with the sum kept in vector registers. Outer products, as register tiles
 * compute them, are runs of FMAs.
 *
 * The counters of the single uops still hold: segments count them, and whatever they would have to
 * look at closely (another buffer, a followed line, an odd address) is left to them.
 */
#include "emu/vm/simd/simd_count.h"

#if defined(__AVX512F__)
#define VECTORS 2
typedef __m512 vec;
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SPLAT(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__AVX2__) && defined(__FMA__)
#define VECTORS 4
typedef __m256 vec;
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SPLAT(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#endif

#ifdef VECTORS
#define WIDTH (32 / VECTORS)
#define HALF(i) ((i) / (VECTORS / 2))
#define WITHIN(i) (WIDTH * ((i) % (VECTORS / 2)))
#define EACH_VECTOR(i) for (unsigned i = 0; i < VECTORS; i++)

static inline const mem_f32 *words_at(const void *at, int64_t offset)
{
	return (const mem_f32 *)(const void *)((const uint8_t *)at + offset);
}

/* 32 words in a row and one word, in global memory. */
GUEST dot_global ARGS
{
	const struct fused *f = u->fused;
	const uint64_t lanes = SCALAR64(f->lanes.slot) + (uint64_t)f->lanes.min;
	const uint64_t word = SCALAR64(f->word.slot) + (uint64_t)f->word.min;
	struct mem_window *lw = &w->win[f->lanes.id];
	if (RARE(!fits_window(lw, lanes, 127)) || RARE(!fits_window(&w->win[f->word.id], word, 3)) ||
	    RARE(sampled(w, lanes)) || RARE(sampled(w, word)))
		EMU_JUMP f->alone(w, u, mask);
	fetch_ahead(w, lw, lanes, true);
	const mem_f32 *v = (const mem_f32 *)(w->host + lanes);
	const vec s = SPLAT(*(const mem_f32 *)(w->host + word));
	const mem_f32 *c = frame(w, f->acc);
	mem_f32 *d = frame(w, f->d);
	EACH_VECTOR(i)
	STORE(d + WIDTH * i, FMA(LOAD(v + WIDTH * i), s, LOAD(c + WIDTH * i)));
	NEXT_full(u + 3);
}

/* The same by half warps: 16 words in a row and one word each. */
GUEST dot_global_halves ARGS
{
	const struct fused *f = u->fused;
	const uint64_t lanes = SCALAR64(f->lanes.slot) + (uint64_t)f->lanes.min;
	const uint64_t word = SCALAR64(f->word.slot) + (uint64_t)f->word.min;
	const uint64_t lanes2 = lanes + (uint64_t)f->lanes.half[1];
	const uint64_t word2 = word + (uint64_t)f->word.half[1];
	struct mem_window *lw = &w->win[f->lanes.id];
	if (RARE(!fits_window(lw, lanes, f->lanes.usual)) ||
	    RARE(!fits_window(&w->win[f->word.id], word, f->word.usual)) || RARE(sampled(w, lanes)) ||
	    RARE(sampled(w, word)) || RARE(sampled(w, word2)) ||
	    (!f->lanes.one_line && RARE(sampled(w, lanes2))))
		EMU_JUMP f->alone(w, u, mask);
	fetch_ahead(w, lw, lanes, false);
	const uintptr_t lp[2] = { w->host + lanes, w->host + lanes2 };
	const uintptr_t wp[2] = { w->host + word, w->host + word2 };
	const mem_f32 *c = frame(w, f->acc);
	mem_f32 *d = frame(w, f->d);
	EACH_VECTOR(i)
	{
		const vec v = LOAD((const mem_f32 *)lp[HALF(i)] + WITHIN(i));
		const vec s = SPLAT(*(const mem_f32 *)wp[HALF(i)]);
		STORE(d + WIDTH * i, FMA(v, s, LOAD(c + WIDTH * i)));
	}
	NEXT_full(u + 3);
}

static inline bool outside_shared(const struct fused_load *l, uint64_t address, uint64_t size)
{
	return (address & 3) || address > size || (int64_t)address + l->min < 0 ||
	       (int64_t)address + l->max > (int64_t)size;
}

/* A chain in shared memory, all from the same two addresses. */
GUEST dot_shared ARGS
{
	const struct fused *f = u->fused;
	const uint64_t lanes = f->lanes.wide ? SCALAR64(f->lanes.slot) : SCALAR32(f->lanes.slot);
	const uint64_t word = f->word.wide ? SCALAR64(f->word.slot) : SCALAR32(f->word.slot);
	if (RARE(outside_shared(&f->lanes, lanes, w->shared_bytes)) ||
	    RARE(outside_shared(&f->word, word, w->shared_bytes)))
		EMU_JUMP f->alone(w, u, mask);
	const uint8_t *lp[2], *wp[2];
	for (unsigned h = 0; h < 2; h++) {
		lp[h] = w->shared + (int64_t)lanes + f->lanes.half[h];
		wp[h] = w->shared + (int64_t)word + f->word.half[h];
	}
	const mem_f32 *c = frame(w, f->acc);
	mem_f32 *d = frame(w, f->d);
	vec acc[VECTORS];
	EACH_VECTOR(i) acc[i] = LOAD(c + WIDTH * i);
	const struct fused_step *step = f->step;
	for (uint32_t k = f->n; k; k--, step++)
		EACH_VECTOR(i)
		{
			const vec v = LOAD(words_at(lp[HALF(i)], step->lanes) + WITHIN(i));
			acc[i] = FMA(v, SPLAT(*words_at(wp[HALF(i)], step->word)), acc[i]);
		}
	EACH_VECTOR(i) STORE(d + WIDTH * i, acc[i]);
	NEXT_full(u + f->uops);
}

/* A run of FMAs on registers. */
HANDLER(fma_run)
{
	const struct fused *f = u->fused;
	const struct fused_fma *k = f->fma, *end = k + f->n;
	(void)mask;
	while (k < end) {
		const mem_f32 *a = frame(w, k->a);
		vec va[VECTORS];
		EACH_VECTOR(i) va[i] = LOAD(a + WIDTH * i);
		do {
			const mem_f32 *b = frame(w, k->b), *c = frame(w, k->c);
			mem_f32 *d = frame(w, k->d);
			vec r[VECTORS];
			EACH_VECTOR(i) r[i] = FMA(va[i], LOAD(b + WIDTH * i), LOAD(c + WIDTH * i));
			EACH_VECTOR(i) STORE(d + WIDTH * i, r[i]);
		} while (++k < end && k->same_a);
	}
	NEXT_full(u + f->uops);
}

/* --- sums of products --- */

static inline uint64_t base_address(struct warp *w, const struct chain_base *b)
{
	return b->wide ? SCALAR64(b->slot) : SCALAR32(b->slot);
}

static inline bool chains_fit(struct warp *w, const struct chains *c)
{
	const uint64_t size = w->shared_bytes;
	bool fit = true;
	for (uint32_t k = 1; k < c->n_bases; k++) {
		const struct chain_base *b = &c->base[k];
		const uint64_t at = base_address(w, b);
		fit &= !(at & b->align) && at <= size && (int64_t)at + b->min >= 0 &&
		       (int64_t)at + b->max <= (int64_t)size;
	}
	return fit;
}

/* Vectors of a sum that are done together: all sums of a tile stay in registers. */
#define TOGETHER (VECTORS == 2 ? 2 : 1)
#define EACH_TOGETHER(v) for (unsigned v = 0; v < TOGETHER; v++)

static inline vec tile_factor(const struct tile_step *k, const uint8_t *const *base, unsigned f,
                              unsigned i, bool word)
{
	const mem_f32 *at = words_at(base[k->base[f]], k->half[f][HALF(i)]);
	return word ? SPLAT(*at) : LOAD(at + WITHIN(i));
}

/* Of the vectors from @first on. */
static inline __attribute__((always_inline)) void tile_part(struct warp *w,
                                                            const struct chain_tile *t,
                                                            const uint8_t *const *base,
                                                            unsigned first, enum tile_words words)
{
	vec acc[TILE_SUMS][TOGETHER];
#pragma GCC unroll 8
	for (unsigned s = 0; s < TILE_SUMS; s++)
		EACH_TOGETHER(v)
	acc[s][v] = LOAD((const mem_f32 *)frame(w, t->acc[s]) + WIDTH * (first + v));
	for (const struct tile_step *k = t->step, *end = k + t->n; k < end; k++) {
		vec few[TILE_FEW][TOGETHER];
#pragma GCC unroll 2
		for (unsigned f = 0; f < TILE_FEW; f++)
			EACH_TOGETHER(v)
		few[f][v] = tile_factor(k, base, f, first + v, words == TILE_FEW_WORDS);
#pragma GCC unroll 4
		for (unsigned m = 0; m < TILE_MANY; m++)
			EACH_TOGETHER(v)
			{
				const vec one =
					tile_factor(k, base, TILE_FEW + m, first + v, words == TILE_MANY_WORDS);
#pragma GCC unroll 2
				for (unsigned f = 0; f < TILE_FEW; f++)
					acc[TILE_MANY * f + m][v] = FMA(few[f][v], one, acc[TILE_MANY * f + m][v]);
			}
	}
#pragma GCC unroll 8
	for (unsigned s = 0; s < TILE_SUMS; s++)
		EACH_TOGETHER(v)
	STORE((mem_f32 *)frame(w, t->d[s]) + WIDTH * (first + v), acc[s][v]);
}

static void do_tiles(struct warp *w, const struct chains *c, const uint8_t *const *base)
{
	for (const struct chain_tile *t = c->tile, *end = t + c->n_tiles; t < end; t++)
		for (unsigned i = 0; i < VECTORS; i += TOGETHER)
			switch (t->words) {
			case TILE_NO_WORDS: tile_part(w, t, base, i, TILE_NO_WORDS); break;
			case TILE_FEW_WORDS: tile_part(w, t, base, i, TILE_FEW_WORDS); break;
			case TILE_MANY_WORDS: tile_part(w, t, base, i, TILE_MANY_WORDS); break;
			}
}

GUEST chains ARGS
{
	const struct chains *c = u->chains;
	const struct chain_step *k = c->step;
	const uint8_t *base[CHAIN_BASES];
	(void)mask;
	base[0] = frame(w, 0);
	for (uint32_t b = 1; b < c->n_bases; b++)
		base[b] = w->shared + base_address(w, &c->base[b]);
	do_tiles(w, c, base);
	for (const struct chain *h = c->chain, *end = h + c->n; h < end; h++) {
		const mem_f32 *from = frame(w, h->acc);
		mem_f32 *d = frame(w, h->d);
		vec acc[VECTORS];
		EACH_VECTOR(i) acc[i] = LOAD(from + WIDTH * i);
		for (const struct chain_step *last = k + h->n; k < last; k++) {
			const uint8_t *lanes = base[k->lanes_base], *other = base[k->other_base];
			if (k->rows) {
				EACH_VECTOR(i)
				acc[i] = FMA(LOAD(words_at(lanes, k->lanes[HALF(i)]) + WITHIN(i)),
				             LOAD(words_at(other, k->other[HALF(i)]) + WITHIN(i)), acc[i]);
				continue;
			}
			EACH_VECTOR(i)
			acc[i] = FMA(LOAD(words_at(lanes, k->lanes[HALF(i)]) + WITHIN(i)),
			             SPLAT(*words_at(other, k->other[HALF(i)])), acc[i]);
		}
		EACH_VECTOR(i) STORE(d + WIDTH * i, acc[i]);
	}
	NEXT_full(c->after);
}

GUEST chains_first ARGS
{
	const struct chains *c = u->chains;
	if (RARE(!chains_fit(w, c)))
		EMU_JUMP c->alone(w, u, mask);
	if (c->others)
		NEXT_full(c->others);
	EMU_JUMP chains(w, u, mask);
}

/* --- sums of products of global memory --- */

/* Do all words lie where each of them lay last? Where the first one may lie is kept. */
static COLD bool find_words(struct warp *w, const struct dots *c)
{
	uint64_t lo = 0, end = UINT64_MAX;
	for (const struct dot_load *l = c->load, *last = l + c->n_loads; l < last; l++) {
		const struct mem_window *win = &w->win[l->id];
		const uint64_t ahead = (uint64_t)(l->low - c->word.low);
		if (!l->word)
			continue;
		if (!fits_window(win, SCALAR64(l->slot) + (uint64_t)l->low, 3))
			return false;
		lo = win->lo - ahead > lo ? win->lo - ahead : lo;
		end = win->lo + win->len - ahead < end ? win->lo + win->len - ahead : end;
	}
	w->dots[c->word.number] = (struct dot_window){ lo, end - lo };
	return true;
}

/* Loads of which the cache simulation may follow a line; words that lie askew. */
static COLD void note_dots(struct warp *w, const struct dots *c)
{
	for (const struct dot_load *l = c->load, *last = l + c->n_loads; l < last; l++) {
		const struct memop *m = &w->program->mem[l->id];
		const uint64_t low = SCALAR64(l->slot) + (uint64_t)l->low;
		if (l->word && low & m->usual)
			count_odd(w, m, low);
		if (l->word ? sampled_words(w, m, low) : sampled_halves(w, m, low))
			log_lanes(w, m, low, m->x->bypass_l1 ? LOG_LOAD_L2 : LOG_LOAD);
	}
}

static inline const struct uop *dots_one_by_one(struct warp *w, const struct uop *u, uint32_t mask)
{
	if (u->dots->careful)
		NEXT_full(u->dots->careful);
	EMU_JUMP u->dots->alone(w, u, mask);
}

/* Lines from @low to @reach bytes further, which are two at most. */
static inline bool words_sampled(const struct warp *w, uint64_t low, uint32_t reach)
{
	return sampled(w, low) || (RARE((low & 127) + reach > 127) && sampled(w, low + reach));
}

/* Rows at @at, some of which lie askew: may a line of them be followed that they do not begin in?
 */
static inline bool count_askew(struct warp *w, const struct dots *c, const uint64_t *at)
{
	const struct memop *mem = w->program->mem;
	bool follow = false;
	for (uint32_t i = 0; i < c->n; i++) {
		if (!(at[i] & c->usual))
			continue;
		count_odd(w, &mem[c->step[i].id], at[i]);
		follow |= sampled(w, at[i] + 63) || sampled(w, at[i] + (uint64_t)c->half + 63);
	}
	return follow;
}

#define DOTS(name, halves)                                                                        \
	GUEST name ARGS                                                                               \
	{                                                                                             \
		const struct dots *c = u->dots;                                                           \
		const uint64_t word = SCALAR64(c->word.slot) + (uint64_t)c->word.low;                     \
		const struct dot_window *seen = &w->dots[c->word.number];                                 \
		const uint32_t n = c->n;                                                                  \
		uint64_t at[DOT_STEPS], odd = 0;                                                          \
		bool fit = true, follow = c->word.askew || words_sampled(w, word, c->word.reach);         \
		if (RARE(word - seen->lo >= seen->len || word & 3) && !find_words(w, c))                  \
			EMU_JUMP dots_one_by_one(w, u, mask);                                                 \
		if ((halves) && c->word.half)                                                             \
			follow |= words_sampled(w, word + (uint64_t)c->word.half, c->word.reach);             \
		for (uint32_t i = 0; i < n; i++) {                                                        \
			const struct dot_step *s = &c->step[i];                                               \
			at[i] = SCALAR64(s->slot) + (uint64_t)s->low;                                         \
			fit &= fits_window(&w->win[s->id], at[i], 3);                                         \
			odd |= at[i];                                                                         \
			follow |= sampled(w, at[i]);                                                          \
			if ((halves) && c->half)                                                              \
				follow |= sampled(w, at[i] + (uint64_t)c->half);                                  \
		}                                                                                         \
		if (RARE(!fit))                                                                           \
			EMU_JUMP dots_one_by_one(w, u, mask);                                                 \
		if (odd & c->usual)                                                                       \
			follow |= count_askew(w, c, at);                                                      \
		if (RARE(follow))                                                                         \
			note_dots(w, c);                                                                      \
		const uint8_t *first = (const uint8_t *)(w->host + word);                                 \
		const mem_f32 *from = frame(w, c->acc);                                                   \
		mem_f32 *d = frame(w, c->d);                                                              \
		vec acc[VECTORS];                                                                         \
		EACH_VECTOR(i) acc[i] = LOAD(from + WIDTH * i);                                           \
		for (uint32_t k = 0; k < n; k++) {                                                        \
			const uint8_t *row = (const uint8_t *)(w->host + at[k]);                              \
			const uint8_t *one = first + c->step[k].word;                                         \
			EACH_VECTOR(i)                                                                        \
			acc[i] =                                                                              \
				FMA(LOAD(words_at(row, (halves) ? HALF(i) * c->half : 64 * HALF(i)) + WITHIN(i)), \
			        SPLAT(*words_at(one, (halves) ? HALF(i) * c->word.half : 0)), acc[i]);        \
		}                                                                                         \
		EACH_VECTOR(i) STORE(d + WIDTH * i, acc[i]);                                              \
		NEXT_full(c->after);                                                                      \
	}
DOTS(dots, 0)
DOTS(dots_halves, 1)

GUEST dots_first ARGS
{
	(void)w;
	(void)mask;
	NEXT_full(u->dots->others);
}

GUEST go_on ARGS
{
	(void)w;
	(void)mask;
	NEXT_full(u->x.to);
}

const struct fused_handlers LEVEL(fused_handlers) = {
	.chains = chains,
	.chains_first = chains_first,
	.dots_first = dots_first,
	.dots = dots,
	.dots_halves = dots_halves,
	.go_on = go_on,
	.fma_run = fma_run,
	.dot_global = dot_global,
	.dot_global_halves = dot_global_halves,
	.dot_shared = dot_shared,
};
#else
const struct fused_handlers LEVEL(fused_handlers) = { 0 };
#endif

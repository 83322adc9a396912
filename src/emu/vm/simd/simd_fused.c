/*
 * Inner products in one go: two loads and the FMA that uses them, for a full warp; in shared memory
 * a whole chain of them, with the sum kept in vector registers. Outer products, as register tiles
 * compute them, are runs of FMAs.
 *
 * The counters of the single uops still hold: segments count them, and whatever they would have to
 * look at closely (another buffer, a followed line, an odd address) is left to them.
 */
#include "emu/vm/simd/simd_place.h"

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

GUEST chains ARGS
{
	const struct chains *c = u->chains;
	const struct chain_step *k = c->step;
	const uint8_t *base[CHAIN_BASES];
	(void)mask;
	base[0] = frame(w, 0);
	for (uint32_t b = 1; b < c->n_bases; b++)
		base[b] = w->shared + base_address(w, &c->base[b]);
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

const struct fused_handlers LEVEL(fused_handlers) = {
	.chains = chains,
	.chains_first = chains_first,
	.fma_run = fma_run,
	.dot_global = dot_global,
	.dot_global_halves = dot_global_halves,
	.dot_shared = dot_shared,
};
#else
const struct fused_handlers LEVEL(fused_handlers) = { 0 };
#endif

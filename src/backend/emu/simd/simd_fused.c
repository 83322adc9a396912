/*
 * Inner products in one go: a scalar load, a 32-lane load and the FMA that uses them, for a full
 * warp; in shared memory a whole chain of them, with the sum kept in vector registers.
 *
 * The counters of the single uops still hold: sections count them, and whatever they would have to
 * look at closely (another buffer, a followed line, an odd address) is left to them.
 */
#include "backend/emu/simd.h"
#include "backend/emu/simd/simd_place.h"

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
#define EACH_VECTOR(i) for (unsigned i = 0; i < VECTORS; i++)

/* One triple in global memory. */
GUEST dot_global ARGS
{
	const struct fused *f = u->fused;
	const uint64_t lanes = SCALAR64(f->lanes_slot) + (uint64_t)f->lanes_min;
	const uint64_t scalar = SCALAR64(f->scalar_slot) + (uint64_t)f->scalar_min;
	struct mem_window *lw = &w->win[f->lanes_id];
	if (RARE(!fits_window(lw, lanes, 127)) ||
	    RARE(!fits_window(&w->win[f->scalar_id], scalar, 3)) ||
	    RARE(sampled(w, line_of(lanes))) || RARE(sampled(w, line_of(scalar))))
		EMU_JUMP f->alone(w, u, mask);
	fetch_ahead(w, lw, lanes);
	const mem_f32 *v = (const mem_f32 *)(w->host + lanes);
	const vec s = SPLAT(*(const mem_f32 *)(w->host + scalar));
	const mem_f32 *c = frame(w, f->acc);
	mem_f32 *d = frame(w, f->d);
	EACH_VECTOR(i)
	STORE(d + WIDTH * i, FMA(LOAD(v + WIDTH * i), s, LOAD(c + WIDTH * i)));
	NEXT_full(u + 3);
}

/* A chain of triples in shared memory, all from the same two addresses. */
GUEST dot_shared ARGS
{
	const struct fused *f = u->fused;
	const uint64_t lanes = f->lanes_wide ? SCALAR64(f->lanes_slot) : SCALAR32(f->lanes_slot);
	const uint64_t scalar = f->scalar_wide ? SCALAR64(f->scalar_slot) : SCALAR32(f->scalar_slot);
	const uint64_t size = w->shared_bytes;
	if (RARE((lanes | scalar) & 3) || RARE(lanes > size) || RARE(scalar > size) ||
	    RARE((int64_t)lanes + f->lanes_min < 0) || RARE((int64_t)scalar + f->scalar_min < 0) ||
	    RARE((int64_t)lanes + f->lanes_max + 128 > (int64_t)size) ||
	    RARE((int64_t)scalar + f->scalar_max + 4 > (int64_t)size))
		EMU_JUMP f->alone(w, u, mask);
	const uint8_t *lp = w->shared + lanes, *sp = w->shared + scalar;
	const mem_f32 *c = frame(w, f->acc);
	mem_f32 *d = frame(w, f->d);
	vec acc[VECTORS];
	EACH_VECTOR(i) acc[i] = LOAD(c + WIDTH * i);
	const struct fused_step *step = f->step;
	for (uint32_t k = f->n; k; k--, step++) {
		const mem_f32 *v = (const mem_f32 *)(const void *)(lp + step->lanes);
		const vec s = SPLAT(*(const mem_f32 *)(const void *)(sp + step->scalar));
		EACH_VECTOR(i) acc[i] = FMA(LOAD(v + WIDTH * i), s, acc[i]);
	}
	EACH_VECTOR(i) STORE(d + WIDTH * i, acc[i]);
	NEXT_full(u + f->uops);
}
const struct fused_handlers LEVEL(fused_handlers) = { .dot = { dot_global, dot_shared, dot_shared } };
#else
const struct fused_handlers LEVEL(fused_handlers) = { .dot = { NULL } };
#endif

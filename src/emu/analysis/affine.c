/*
 * Affine forms of values: one scalar per warp plus a lane pattern, or 32 values; known or bounded.
 *
 * Patterns depend on the block's dimensions only. Arithmetic on 32-bit values may wrap; emit_alu.c
 * guards the places where that would matter (widening). Affine vectors of scalarising GPU
 * compilers: Collange, 2011.
 */
#include "emu/analysis/affine.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int32_t pattern_intern(struct affine_forms *s, const int64_t lane[32])
{
	for (unsigned i = 0; i < s->n_patterns; i++)
		if (memcmp(s->patterns[i].lane, lane, sizeof s->patterns[i].lane) == 0)
			return (int32_t)i;
	MEM_ROOM(s->patterns, s->n_patterns, s->cap_patterns, 16);
	struct pattern *p = &s->patterns[s->n_patterns];
	memcpy(p->lane, lane, sizeof p->lane);
	p->min = p->max = lane[0];
	for (unsigned i = 0; i < 32; i++) {
		p->low[i] = (uint32_t)lane[i];
		p->min = lane[i] < p->min ? lane[i] : p->min;
		p->max = lane[i] > p->max ? lane[i] : p->max;
	}
	return (int32_t)s->n_patterns++;
}

bool affine_uniform(const struct affine *r)
{
	return r->cls == AFFINE_SCALAR && r->pattern == 0;
}

static int64_t as_signed(uint64_t v, unsigned bytes)
{
	return bytes == 8 ? (int64_t)v : (int64_t)(int32_t)(uint32_t)v;
}

/* 32 known values of width @bytes as scalar + pattern. */
struct affine affine_from_values(struct affine_forms *s, const uint64_t v[32], unsigned bytes)
{
	int64_t lane[32];
	struct affine r = { .cls = AFFINE_SCALAR, .known = true, .base = v[0], .ranged = true };
	r.lo = r.hi = as_signed(v[0], bytes);
	for (unsigned i = 0; i < 32; i++) {
		const int64_t x = as_signed(v[i], bytes);
		lane[i] = as_signed(v[i] - v[0], bytes);
		r.lo = x < r.lo ? x : r.lo;
		r.hi = x > r.hi ? x : r.hi;
	}
	r.pattern = pattern_intern(s, lane);
	return r;
}

struct affine affine_with_range(struct affine r, int64_t lo, int64_t hi)
{
	r.ranged = true;
	r.lo = lo;
	r.hi = hi;
	return r;
}

unsigned affine_trailing_zeros(uint64_t v)
{
	return v ? (unsigned)__builtin_ctzll(v) : 63;
}

unsigned affine_align(const struct affine *r)
{
	return r->known ? affine_trailing_zeros(r->base) : r->align_log2;
}

struct affine affine_of_src(const struct affine_forms *s, const struct ir *ir,
                            const struct xsrc *src)
{
	if (src->kind == S_REG) {
		struct affine r = s->reg[src->reg];
		const struct local_range *l = &s->local[src->reg];
		if (r.cls == AFFINE_UNWRITTEN || r.ranged || !ir->regs[src->reg].bytes ||
		    l->round != s->round)
			return r;
		if (l->lo == l->hi) {
			const uint64_t v = ir->regs[src->reg].bytes == 8 ? (uint64_t)l->lo : (uint32_t)l->lo;
			r = (struct affine){ .cls = AFFINE_SCALAR, .known = true, .base = v };
		}
		r.ranged = true;
		r.lo = l->lo;
		r.hi = l->hi;
		return r;
	}
	/* constants of 32-bit operations have no more than 32 bits */
	const int64_t v = src->value >> 32 ? (int64_t)src->value : (int64_t)(int32_t)src->value;
	return (struct affine){
		.cls = AFFINE_SCALAR, .known = true, .base = src->value, .ranged = true, .lo = v, .hi = v
	};
}

void affine_note(struct affine_forms *s, const struct xop *x, const struct affine *result)
{
	for (unsigned i = 0; i < x->n_d; i++) {
		if (x->d[i] < 0)
			continue;
		struct local_range *l = &s->local[x->d[i]];
		if (!result->ranged || x->guard >= 0 || x->n_d > 1)
			l->round = 0; /* the present round is never 0 */
		else
			*l = (struct local_range){ s->round, result->lo, result->hi };
	}
}

struct affine affine_meet(const struct affine *a, const struct affine *b)
{
	if (a->cls == AFFINE_UNWRITTEN)
		return *b;
	if (b->cls == AFFINE_UNWRITTEN)
		return *a;
	const bool same_range = a->ranged && b->ranged && a->lo == b->lo && a->hi == b->hi;
	struct affine r = *a;
	r.ranged = same_range;
	r.lo = same_range ? a->lo : 0;
	r.hi = same_range ? a->hi : 0;
	if (a->cls == AFFINE_LANES || b->cls == AFFINE_LANES || a->pattern != b->pattern) {
		r.cls = AFFINE_LANES;
		r.known = false;
		r.base = 0;
		r.pattern = 0;
		r.align_log2 = 0;
		return r;
	}
	if (!(a->known && b->known && a->base == b->base)) {
		const unsigned x = affine_align(a), y = affine_align(b);
		r.known = false;
		r.base = 0;
		r.align_log2 = (uint8_t)(x < y ? x : y);
	}
	return r;
}

/*
 * What a warp's 32 values of a register look like: one scalar plus a lane pattern, or 32 values.
 *
 * A forward analysis finds, for every register, whether all its writes give "scalar + the same
 * pattern" (a pattern of zeros: uniform). Where a branch can split the warp, a register kept as
 * one scalar must not be overwritten by one side while lanes of the other side, or lanes that
 * already wait at the reconvergence point, still need the old value: such registers are demoted
 * to 32 values. This relies on the executor's order: one side runs to the reconvergence point
 * before the other starts. Compare "Divergence analysis", Coutinho et al., PACT 2011, and affine
 * vectors of scalarising GPU compilers (Collange, 2011).
 *
 * Patterns are found before the launch runs and depend on the block's dimensions only. Arithmetic
 * on 32-bit values may wrap; emit_alu.c guards the places where that would matter (widening).
 */
#include "emu/analysis/affine.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct analysis {
	const struct ir *ir;
	struct splits *splits;
	const struct launch_plan *plan;
	struct affine_forms *s;
	bool *pinned; /* 32 values, whatever is written */
	bool *marked; /* bold: blocks whose branch must not split a warp; NULL = safe */
};

static bool same_form(const struct affine *a, const struct affine *b)
{
	return a->cls == b->cls && a->known == b->known && a->base == b->base &&
	       a->pattern == b->pattern && a->align_log2 == b->align_log2 && a->ranged == b->ranged &&
	       a->lo == b->lo && a->hi == b->hi;
}

/* What operation @x gives its registers. */
static bool propagate_op(struct analysis *an, const struct xop *x)
{
	bool changed = false;
	struct affine r = affine_of_result(an->s, an->ir, x, an->plan);
	affine_note(an->s, x, &r);
	if (r.cls == AFFINE_UNWRITTEN)
		return false;
	if (x->guard >= 0) {
		const struct affine *g = &an->s->reg[x->guard];
		if (g->cls == AFFINE_UNWRITTEN)
			return false;
		if (!affine_uniform(g)) {
			r = AFFINE_32_VALUES;
		} else if (r.cls == AFFINE_SCALAR && r.known) { /* the old value may stay */
			r.align_log2 = (uint8_t)affine_align(&r);
			r.known = false;
			r.base = 0;
		}
		r.ranged = false;
		r.lo = r.hi = 0;
	}
	if (x->kind == X_LD) /* the elements of a vector load are of one kind */
		for (unsigned d = 0; d < x->n_d; d++)
			if (x->d[d] >= 0 && (an->pinned[x->d[d]] || an->s->reg[x->d[d]].cls == AFFINE_LANES))
				r.cls = AFFINE_LANES;
	for (unsigned d = 0; d < x->n_d; d++) {
		const int32_t reg = x->d[d];
		if (reg < 0)
			continue;
		struct affine *have = &an->s->reg[reg];
		struct affine now = an->pinned[reg] ? AFFINE_32_VALUES : affine_meet(have, &r);
		if (x->kind == X_ELECT && d == 0 && !an->pinned[reg])
			now = affine_meet(have, &AFFINE_UNIFORM);
		if (!same_form(&now, have)) {
			*have = now;
			changed = true;
		}
	}
	return changed;
}

static bool propagate_forms(struct analysis *an)
{
	const struct ir *ir = an->ir;
	bool changed = false;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		affine_enter_block(an->s);
		for (uint32_t i = ir->blocks[b].first; i < ir->blocks[b].end; i++)
			if (ir->ops[i].n_d)
				changed |= propagate_op(an, &ir->ops[i]);
	}
	return changed;
}

/* Registers never written are read as zero; they are uniform. */
static bool settle_unwritten(struct analysis *an)
{
	bool changed = false;
	for (unsigned r = 0; r < an->ir->n_regs; r++)
		if (an->s->reg[r].cls == AFFINE_UNWRITTEN) {
			an->s->reg[r] = an->pinned[r] ? AFFINE_32_VALUES : AFFINE_UNIFORM;
			changed = true;
		}
	return changed;
}

/* Pins what block @b, ending in a branch that may split the warp, would corrupt. */
static bool demote_after(struct analysis *an, unsigned b)
{
	const uint64_t *overwritten = splits_overwritten(an->splits, b);
	const bool marks = an->marked && an->ir->ops[an->ir->blocks[b].end - 1].kind == X_BRA;
	bool changed = false;
	for (unsigned w = 0; w < an->splits->live->in.words; w++)
		for (uint64_t bad = overwritten[w]; bad; bad &= bad - 1) {
			const unsigned r = w * 64 + (unsigned)__builtin_ctzll(bad);
			if (an->s->reg[r].cls == AFFINE_LANES)
				continue;
			if (marks) {
				an->marked[b] = true;
				continue;
			}
			an->pinned[r] = true;
			an->s->demoted++;
			changed = true;
		}
	return changed;
}

static bool may_split(const struct analysis *an, unsigned b)
{
	const struct xblock *xb = &an->ir->blocks[b];
	if (xb->end == xb->first)
		return false;
	const struct xop *x = &an->ir->ops[xb->end - 1];
	if (x->kind == X_BRA)
		return x->guard >= 0 && !affine_uniform(&an->s->reg[x->guard]);
	if (x->kind == X_BRX) {
		const struct affine r = affine_of_src(an->s, an->ir, &x->s[0]);
		return !affine_uniform(&r);
	}
	return false;
}

bool classify(struct splits *splits, const struct launch_plan *plan, enum classify_mode mode,
              bool *marked, struct affine_forms *out)
{
	const struct ir *ir = splits->ir;
	static const int64_t zeros[32];
	*out = (struct affine_forms){ .speculative = mode == CLASSIFY_SPECULATIVE };
	out->reg = mem_calloc(ir->n_regs, sizeof *out->reg);
	out->local = mem_calloc(ir->n_regs, sizeof *out->local);
	pattern_intern(out, zeros);
	if (mode == CLASSIFY_REFERENCE) {
		for (unsigned r = 0; r < ir->n_regs; r++)
			out->reg[r] = AFFINE_32_VALUES;
		return false;
	}
	struct analysis an = { ir,
		                   splits,
		                   plan,
		                   out,
		                   mem_calloc(ir->n_regs, sizeof(bool)),
		                   mode == CLASSIFY_SPECULATIVE ? marked : NULL };
	for (unsigned r = 0; r < ir->n_regs; r++)
		an.pinned[r] = ir->regs[r].fixed;
	const uint64_t *first = bits_row(&splits->live->in, 0);
	for (bool again = true; again;) {
		/* what may be read before it is written is 0 until then */
		for (unsigned r = 0; r < ir->n_regs; r++)
			out->reg[r] = !bits_get(first, r) ? (struct affine){ 0 }
			              : an.pinned[r]      ? AFFINE_32_VALUES
			              : ir->regs[r].bytes ? AFFINE_ZERO
			                                  : AFFINE_UNIFORM;
		do {
			while (propagate_forms(&an))
				;
		} while (settle_unwritten(&an));
		again = false;
		for (unsigned b = 0; b < ir->n_blocks; b++)
			if (may_split(&an, b))
				again |= demote_after(&an, b);
	}
	free(an.pinned);
	bool any = false;
	for (unsigned b = 0; an.marked && b < ir->n_blocks; b++) {
		any |= marked[b];
		affine_enter_block(out);
		for (uint32_t i = ir->blocks[b].first; i < ir->blocks[b].end; i++)
			any |= affine_assumed(out, ir, &ir->ops[i]);
	}
	return any;
}

void affine_free(struct affine_forms *s)
{
	free(s->reg);
	free(s->local);
	free(s->patterns);
	*s = (struct affine_forms){ 0 };
}

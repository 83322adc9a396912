/*
 * Takes out operations whose results nobody reads.
 *
 * An instruction keeps at least one operation, because it is counted by its first one; one with a
 * guard keeps the operation that counts its lanes. A register of a slot of its own may be read by
 * what does not name it: the product of matrices.
 */
#include "emu/analysis/analysis.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool only_computes(const struct xop *x)
{
	return x->kind <= X_SPECIAL && !x->counts;
}

/* Marks what is dead, in one walk back through every block. */
static bool mark_dead(const struct ir *ir, const struct liveness *l, bool *dead)
{
	uint64_t *live = mem_calloc(l->in.words, sizeof *live);
	bool any = false;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		memcpy(live, bits_row(&l->out, b), l->in.words * sizeof *live);
		for (uint32_t o = ir->blocks[b].end; o-- > ir->blocks[b].first;) {
			const struct xop *x = &ir->ops[o];
			int32_t reads[X_MAX_VEC + 4];
			bool needed = !only_computes(x);
			for (unsigned i = 0; i < x->n_d; i++)
				needed |=
					x->d[i] >= 0 && (bits_get(live, (unsigned)x->d[i]) || ir->regs[x->d[i]].fixed);
			if (!needed) {
				any |= !dead[o];
				dead[o] = true;
				continue;
			}
			for (unsigned i = 0; i < x->n_d; i++)
				if (x->d[i] >= 0 && x->guard < 0)
					bits_clear(live, (unsigned)x->d[i]);
			const unsigned n = xop_reads(x, reads);
			for (unsigned i = 0; i < n; i++)
				bits_set(live, (unsigned)reads[i]);
		}
	}
	free(live);
	return any;
}

/* Closes the gaps. The first operation that is left of an instruction becomes its first. */
static void take_out(struct ir *ir, const bool *dead)
{
	uint32_t to = 0;
	for (unsigned b = 0; b < ir->n_blocks; b++) {
		struct xblock *xb = &ir->blocks[b];
		const uint32_t first = xb->first, end = xb->end;
		bool pending = false; /* an instruction has lost its first operation */
		xb->first = to;
		for (uint32_t o = first; o < end; o++) {
			struct xop x = ir->ops[o];
			const bool last = o + 1 == end || ir->ops[o + 1].first;
			pending |= x.first;
			if (dead[o] && !(last && pending))
				continue;
			if (dead[o])
				x = (struct xop){ .kind = X_NOP, .guard = -1, .pc = x.pc, .mem = -1, .vec = 1 };
			x.first = pending;
			pending = false;
			ir->ops[to++] = x;
		}
		xb->end = to;
	}
	ir->n_ops = to;
}

static bool remove_once(struct ir *ir)
{
	struct liveness l = { .in = { 0 } };
	bool *dead = mem_calloc(ir->n_ops + 1, sizeof *dead);
	flow_liveness(ir, &l);
	const bool any = mark_dead(ir, &l, dead);
	if (any)
		take_out(ir, dead);
	liveness_free(&l);
	free(dead);
	return any;
}

void dead_code_remove(struct ir *ir)
{
	bool any = false;
	while (remove_once(ir)) /* what only dead code read in another block is dead now */
		any = true;
	if (any)
		ir_find_only_defs(ir);
}

/* What holds for any intermediate form, wherever it comes from; see ir.h. */
#include "emu/ir/ir.h"

#include "base/mem.h"
#include "ptx/link.h"

#include <stdlib.h>

void ir_find_only_defs(struct ir *ir)
{
	free(ir->only_def);
	ir->only_def = mem_calloc(ir->n_regs, sizeof *ir->only_def);
	uint8_t *writes = mem_calloc(ir->n_regs, 1);
	for (unsigned o = 0; o < ir->n_ops; o++)
		for (unsigned i = 0; i < ir->ops[o].n_d; i++) {
			const int32_t d = ir->ops[o].d[i];
			if (d < 0)
				continue;
			ir->only_def[d] = (int32_t)o;
			writes[d] = (uint8_t)(writes[d] || ir->ops[o].guard >= 0 ? 2 : 1);
		}
	for (unsigned r = 0; r < ir->n_regs; r++)
		if (writes[r] != 1)
			ir->only_def[r] = -1;
	free(writes);
}

bool *ir_read_registers(const struct ir *ir)
{
	bool *read = mem_calloc(ir->n_regs + 1, sizeof *read);
	for (uint32_t r = 0; r < ir->n_regs; r++)
		read[r] = ir->regs[r].passes;
	for (uint32_t o = 0; o < ir->n_ops; o++)
		for (unsigned s = 0; s < ir->ops[o].n_s; s++)
			if (ir->ops[o].s[s].kind == S_REG)
				read[ir->ops[o].s[s].reg] = true;
	return read;
}

bool xop_is_read(const struct xop *x, const bool *read)
{
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0 && read[x->d[i]])
			return true;
	return false;
}

void ir_find_blind(struct ir *ir)
{
	bool *read = ir_read_registers(ir);
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		struct xop *x = &ir->ops[o];
		x->unread = x->kind == X_ATOM && !xop_is_read(x, read);
		x->blind = x->unread && x->op == ATOM_EXCH;
	}
	free(read);
}

static bool same_place(const struct xop *a, const struct xop *b)
{
	return a->s[0].kind == S_REG && b->s[0].kind == S_REG && a->s[0].reg == b->s[0].reg &&
	       a->offset == b->offset && a->space == b->space;
}

void ir_find_swaps(struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *swap = &ir->ops[o];
		if (swap->kind != X_ATOM || swap->op != ATOM_CAS || swap->space == SPACE_SHARED)
			continue;
		for (uint32_t i = 0; i < ir->n_ops; i++)
			if (ir->ops[i].kind == X_LD && same_place(&ir->ops[i], swap))
				ir->ops[i].precedes_swap = true;
	}
}

int fusion_by_line(const void *a, const void *b)
{
	const struct fusion *x = a, *y = b;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct fusion *fusion_at(const struct ir *ir, uint32_t ptx_line)
{
	const struct fusion key = { .line = ptx_line };
	return ir->n_fusions ? bsearch(&key, ir->fusions, ir->n_fusions, sizeof key, fusion_by_line)
	                     : NULL;
}

void ir_free(struct ir *ir)
{
	free(ir->fusions);
	free(ir->insts);
	free(ir->ops);
	free(ir->regs);
	free(ir->blocks);
	free(ir->only_def);
	free(ir->callee);
	free(ir->tensors);
	if (ir->linked)
		linked_free(ir->linked);
	free(ir->linked);
	for (unsigned i = 0; i < ir->n_own_targets; i++)
		free(ir->own_targets[i]);
	free(ir->own_targets);
	*ir = (struct ir){ 0 };
}

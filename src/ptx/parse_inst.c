/* One instruction: its mnemonic, its operands, where it stands. */
#include "ptx/parser.h"

#include <string.h>

/* The moves of its constants go before the instruction, which is behind all others now. */
static void place_constants(struct parser *p)
{
	struct ptx_func *f = func_at_hand(p);
	for (unsigned i = 0; i < p->n_constants; i++) {
		struct ptx_inst *move = &p->constants[i];
		grow_array(&f->insts, f->n_insts + 1, &p->insts_cap, sizeof *f->insts);
		const struct ptx_inst inst = f->insts[f->n_insts];
		move->line = inst.line;
		move->leaf_line = inst.leaf_line;
		move->ptx_line = inst.ptx_line;
		memcpy(move->text, inst.text, sizeof move->text);
		f->insts[f->n_insts++] = *move;
		f->insts[f->n_insts] = inst;
	}
}

/* Registers of 128 bits are pairs (parse_reg.c), and so is what moves them to and from memory. */
static void halve_wide(struct ptx_inst *inst)
{
	const bool access = inst->op == OP_LD || inst->op == OP_LDU || inst->op == OP_ST;
	if (inst->type != PTX_B128 || inst->vec > 1 || !(access || inst->op == OP_ATOM))
		return;
	inst->wide = inst->op == OP_ATOM;
	inst->type = PTX_B64;
	inst->vec = 2;
}

bool parse_inst(struct parser *p, const struct token *word, int32_t guard, bool guard_negated)
{
	struct ptx_func *f = func_at_hand(p);
	p->mnemonic = *word;
	p->n_constants = 0;
	p->has_behind = false;
	grow_array(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
	struct ptx_inst *inst = &f->insts[f->n_insts];
	if (!parse_mnemonic(p, word, inst))
		return false;
	halve_wide(inst);
	inst->guard = guard;
	inst->guard_negated = guard_negated;
	inst->line = p->line;
	inst->leaf_line = p->leaf_line;
	inst->ptx_line = word->line;
	inst->nounroll = p->nounroll;
	p->nounroll = false;
	const bool bulk = inst->op >= OP_CP_ASYNC_BULK && inst->op <= OP_CP_REDUCE_ASYNC_BULK_TENSOR;
	const bool group = inst->op == OP_WGMMA || inst->op == OP_WGMMA_SP;
	if (group ? !parse_wgmma(p, inst) : bulk ? !parse_bulk(p, inst) : !parse_operands(p, inst))
		return false;
	if (inst->op == OP_RET && p->register_results && !give_register_results(p, false))
		return false;
	for (int i = 0; i < PTX_MAX_OPERANDS; i++)
		if (inst->opnd[i].kind != OPND_NONE)
			inst->n_opnds = (uint8_t)(i + 1);
	place_constants(p);
	f->n_insts++;
	if (p->has_behind) {
		grow_array(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
		f->insts[f->n_insts++] = p->behind;
	}
	if (!at_punct(p, ';'))
		return at_punct(p, ',') ? fail(p, "too many operands for '%s'", inst->text)
		                        : expect(p, ';', "after the instruction");
	return advance(p);
}

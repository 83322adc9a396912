/*
 * PTX to the intermediate form: every instruction by the function that its row in opcode.def names.
 * PTX ISA 9.0 section 9.7.
 */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"

#include <stdlib.h>

typedef bool (*lowering)(struct lower *l);
static const lowering lowerings[OP_COUNT] = {
#define OPCODE(id, name, section, cls, flops, meaning, ...) [OP_##id] = low_##meaning,
#include "ptx/opcode.def"
};

static void finish_blocks(struct ir *ir, const uint32_t *first_op)
{
	const struct ptx_func *f = ir->func;
	ir->n_blocks = f->n_blocks;
	ir->blocks = mem_calloc(f->n_blocks, sizeof *ir->blocks);
	for (unsigned b = 0; b < f->n_blocks; b++) {
		const struct ptx_block *pb = &f->blocks[b];
		struct xblock *xb = &ir->blocks[b];
		xb->first = first_op[pb->first];
		xb->end = first_op[pb->last + 1];
		xb->succ[0] = pb->succ[0];
		xb->succ[1] = pb->succ[1];
		xb->reconv = pb->reconv;
		if (xb->end > xb->first && ir->ops[xb->end - 1].kind == X_BRX) {
			const struct xop *x = &ir->ops[xb->end - 1];
			xb->targets = f->lists + x->target;
			xb->n_targets = x->n_targets;
		}
	}
}

bool lower_ptx(struct ir *ir, const struct ptx_module *m, const struct ptx_func *f,
               const struct lower_env *env, const char *source_file, struct err *err)
{
	*ir = (struct ir){ .module = m, .func = f };
	describe_insts(ir);
	struct lower l = {
		.ir = ir, .env = env, .err = err, .source_file = source_file, .name = f->name
	};
	for (unsigned i = 0; i < f->n_regs; i++) {
		const enum ptx_type t = f->regs[i].type;
		low_temp(&l, t == PTX_PRED ? 0 : type_lane(t));
	}
	l.carry = low_temp(&l, 0);
	uint32_t *first_op = mem_calloc(f->n_insts + 1, sizeof *first_op);
	bool all_known = true;
	for (unsigned i = 0; i < f->n_refusals; i++)
		if (f->refusals[i].of_head)
			low_refuse_unknown(&l, &f->refusals[i]);
	for (unsigned i = 0; i < f->n_insts && (!l.failed || env->refused); i++) {
		all_known = all_known && !l.failed;
		l.failed = false;
		l.in = &f->insts[i];
		l.guard = l.in->guard;
		l.guard_neg = l.in->guard_negated;
		l.pc = i;
		l.first = true;
		first_op[i] = ir->n_ops;
		if (lowerings[l.in->op](&l) && l.first)
			low_emit(&l, X_NOP); /* nothing to do, but it still counts */
	}
	first_op[f->n_insts] = ir->n_ops;
	l.failed = l.failed || !all_known;
	if (!l.failed) {
		finish_blocks(ir, first_op);
		ir_find_only_defs(ir);
	}
	free(first_op);
	if (l.failed)
		ir_free(ir);
	return !l.failed;
}

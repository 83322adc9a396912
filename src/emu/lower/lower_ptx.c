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

static void add_registers(struct lower *l, const struct ptx_func *f)
{
	unsigned part = 0;
	for (unsigned i = 0; i < f->n_regs; i++) {
		while (l->ir->linked && part + 1 < l->link->n_parts &&
		       l->link->part[part + 1].first_reg <= i)
			part++;
		l->part = &l->link->part[part];
		const enum ptx_type t = f->regs[i].type;
		low_temp(l, t == PTX_PRED ? 0 : type_lane(t));
	}
	l->part = l->link->part;
	l->carry = low_temp(l, 0);
	l->ir->regs[l->carry].fixed = l->ir->linked != NULL;
}

static void lower_inst(struct lower *l, unsigned i)
{
	while (l->ir->linked && l->part + 1 < l->link->part + l->link->n_parts &&
	       l->part[1].first_inst <= i)
		l->part++;
	l->in = &l->ir->func->insts[i];
	l->guard = l->in->guard;
	l->guard_neg = l->in->guard_negated;
	l->pc = i;
	l->first = !l->in->made;
	l->counted = l->in->made;
	if (lowerings[l->in->op](l) && l->first)
		low_emit(l, X_NOP); /* nothing to do, but it still counts */
}

/* Directives that the parser did not know, on any of the functions. */
static void refuse_heads(struct lower *l)
{
	for (unsigned p = 0; p < l->link->n_parts; p++)
		for (unsigned i = 0; i < l->link->part[p].f->n_refusals; i++)
			if (l->link->part[p].f->refusals[i].of_head)
				low_refuse_unknown(l, &l->link->part[p].f->refusals[i]);
}

bool lower_ptx(struct ir *ir, const struct ptx_module *m, const struct ptx_func *entry,
               const struct lower_env *env, const char *source_file, struct err *err)
{
	struct linked *link = mem_zalloc(sizeof *link);
	*ir = (struct ir){ .module = m, .func = entry, .cc = env->cc, .linked = link };
	if (!link_functions(link, m, entry, err)) {
		ir_free(ir);
		return false;
	}
	if (link->func.n_insts)
		ir->func = &link->func;
	else
		ir->linked = NULL;
	const struct ptx_func *f = ir->func;
	describe_insts(ir);
	struct lower l = { .ir = ir,
		               .env = env,
		               .err = err,
		               .source_file = source_file,
		               .name = entry->name,
		               .link = link,
		               .guard = -1,
		               .frame = -1,
		               .stack = -1 };
	add_registers(&l, f);
	low_start_calls(&l);
	low_start_stack(&l);
	uint32_t *first_op = mem_calloc(f->n_insts + 1, sizeof *first_op);
	refuse_heads(&l);
	bool all_known = true;
	for (unsigned i = 0; i < f->n_insts && (!l.failed || env->refused); i++) {
		all_known = all_known && !l.failed;
		l.failed = false;
		first_op[i] = i ? ir->n_ops : 0;
		lower_inst(&l, i);
	}
	first_op[f->n_insts] = ir->n_ops;
	l.failed = l.failed || !all_known;
	if (!l.failed) {
		finish_blocks(ir, first_op);
		ir_find_only_defs(ir);
	}
	low_end_calls(&l);
	low_end_stack(&l);
	free(first_op);
	if (!ir->linked) {
		linked_free(link);
		free(link);
	}
	if (l.failed)
		ir_free(ir);
	return !l.failed;
}

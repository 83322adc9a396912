/*
 * Operands of instructions whose number of operands depends on their modifiers: bulk copies (PTX
 * ISA 9.0, 9.7.9.25) and products of a warp group (9.7.15). In which place each stands: opcode.def.
 */
#include "ptx/parser.h"

/* What may follow the operands: blocks of the cluster or bytes to be written, a cache policy. */
static bool parse_tail(struct parser *p, struct ptx_inst *inst, struct ptx_operand *mask)
{
	struct ptx_operand policy = { 0 };
	bool more;
	if ((inst->flags & PF_MULTICAST) &&
	    (!expect_comma(p, inst) || !parse_one(p, 's', '*', inst, mask)))
		return false;
	if ((inst->flags & PF_POLICY) &&
	    (!expect_comma(p, inst) || !parse_one(p, 's', '8', inst, &policy)))
		return false;
	if (!accept_punct(p, ',', &more))
		return false;
	return !more || fail(p, "too many operands for '%s'", inst->text);
}

/* Global memory is written: by groups; shared memory: a barrier is told. */
static bool check_way(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
	const bool out = inst->space == SPACE_GLOBAL;
	const enum ptx_space from = inst->space2;
	const bool tensor =
		inst->op == OP_CP_ASYNC_BULK_TENSOR || inst->op == OP_CP_REDUCE_ASYNC_BULK_TENSOR;
	const bool ways = out ? from == SPACE_SHARED
	                      : inst->space == SPACE_SHARED &&
	                            (from == SPACE_GLOBAL || (from == SPACE_SHARED && !tensor));
	if (ways && out == (inst->mode == MODE_BULK_GROUP))
		return true;
	return fail_at(p, at->s, at->line, ERR_PARSE,
	               "'%s': bulk copies go to .shared and tell an mbarrier, or from .shared to "
	               ".global in a .bulk_group",
	               inst->text);
}

bool parse_bulk(struct parser *p, struct ptx_inst *inst)
{
	struct ptx_operand *o = inst->opnd;
	const struct token at = p->tok;
	const bool barrier = inst->mode == MODE_COMPLETE_TX;
	if (!check_way(p, inst, &at))
		return false;
	if (inst->op == OP_CP_ASYNC_BULK || inst->op == OP_CP_REDUCE_ASYNC_BULK)
		return parse_one(p, 'm', '*', inst, &o[0]) && expect_comma(p, inst) &&
		       parse_one(p, 'm', '*', inst, &o[1]) && expect_comma(p, inst) &&
		       parse_one(p, 's', '4', inst, &o[2]) &&
		       (!barrier || (expect_comma(p, inst) && parse_one(p, 'm', '*', inst, &o[3]))) &&
		       parse_tail(p, inst, &o[4]);
	const bool out = inst->space == SPACE_GLOBAL;
	const struct token map = p->tok;
	if (!parse_one(p, out ? 'x' : 'm', '*', inst, &o[out]) || !expect_comma(p, inst) ||
	    !parse_one(p, out ? 'm' : 'x', '*', inst, &o[!out]))
		return false;
	if (o[1].n_vec != inst->mma.k + 1)
		return fail_at(p, map.s, map.line, ERR_PARSE, "'%s' takes a tensor map and %u coordinates",
		               inst->text, inst->mma.k);
	return (out || (expect_comma(p, inst) && parse_one(p, 'm', '*', inst, &o[2]))) &&
	       parse_tail(p, inst, &o[4]);
}

/* {d0, d1, ...}: up to 128 registers, kept in the function's lists. */
static bool parse_registers(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	struct ptx_func *f = func_at_hand(p);
	bool more = true;
	o->kind = OPND_LIST;
	o->label = LIST_REGISTERS;
	o->reg = (int32_t)f->n_lists;
	if (!expect(p, '{', "before the registers of D"))
		return false;
	while (more) {
		const struct want w = { .bytes = 4 };
		struct ptx_operand d = { 0 };
		grow_array(&f->lists, f->n_lists, &p->lists_cap, sizeof *f->lists);
		if (!parse_destination(p, &w, inst, false, &d) || !accept_punct(p, ',', &more))
			return false;
		f->lists[f->n_lists++] = d.kind == OPND_REG ? d.reg : -1;
		o->i64++;
	}
	return expect(p, '}', "after the registers of D");
}

/* The constants behind scale-d: signs of A and B, then which of them are transposed in memory. */
static bool parse_wgmma_signs(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const bool in_registers = inst->opnd[1].kind == OPND_VEC;
	int64_t v[4] = { 1, 1, 0, 0 };
	unsigned n = 0;
	bool more;
	o->kind = OPND_INT;
	if (!accept_punct(p, ',', &more))
		return false;
	while (more && n < 4) {
		if (!expect_int(p, &v[n++], "a constant") || !accept_punct(p, ',', &more))
			return false;
	}
	if (n == 3 && in_registers) { /* only B lies in memory */
		v[3] = v[2];
		v[2] = 0;
	}
	o->i64 = (v[0] < 0) | (v[1] < 0) << 1 | (v[2] != 0) << 2 | (v[3] != 0) << 3;
	return !more || fail(p, "too many operands for '%s'", inst->text);
}

/* Which elements of A there are: a register, and the lanes of which it counts. */
static bool parse_sparsity(struct parser *p, struct ptx_inst *inst)
{
	struct ptx_operand *o = inst->opnd;
	if (inst->op != OP_WGMMA_SP)
		return true;
	return parse_one(p, 's', '4', inst, &o[5]) && expect_comma(p, inst) &&
	       parse_one(p, 'i', '*', inst, &o[6]) && expect_comma(p, inst);
}

bool parse_wgmma(struct parser *p, struct ptx_inst *inst)
{
	struct ptx_operand *o = inst->opnd;
	const bool memory = !at_punct(p, '{');
	if (memory)
		return unexpected(p, "the registers of D in {..}");
	return parse_registers(p, inst, &o[0]) && expect_comma(p, inst) &&
	       parse_one(p, 'S', '*', inst, &o[1]) && expect_comma(p, inst) &&
	       parse_one(p, 's', '8', inst, &o[2]) && expect_comma(p, inst) &&
	       parse_sparsity(p, inst) && parse_one(p, 'q', 'p', inst, &o[3]) &&
	       parse_wgmma_signs(p, inst, &o[4]);
}

/*
 * Arguments and results in registers (PTX ISA 7.1, and call, 9.7.12): each becomes a .param
 * variable, which instructions that stand in no text write and read.
 */
#include "ptx/parser.h"

#include "base/text.h"

#include <stdio.h>

/* ld.param or st.param of parameter or variable @symbol and register @reg. */
static struct ptx_inst access_inst(struct parser *p, bool store, int32_t symbol, int32_t reg)
{
	const enum ptx_type type = func_at_hand(p)->regs[reg].type;
	static const enum ptx_type bits[] = {
		[1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64
	};
	struct ptx_inst in = {
		.op = store ? OP_ST : OP_LD,
		.type = bits[ptx_type_bytes(type)],
		.space = SPACE_PARAM,
		.vec = 1,
		.n_opnds = 2,
		.guard = -1,
		.made = true,
		.line = p->line,
		.leaf_line = p->leaf_line,
		.ptx_line = p->tok.line,
	};
	snprintf(in.text, sizeof in.text, "%s.param", store ? "st" : "ld");
	in.opnd[store ? 0 : 1] =
		(struct ptx_operand){ .kind = OPND_ADDR, .addr_base = ADDR_SYMBOL, .symbol = symbol };
	in.opnd[store ? 1 : 0] = (struct ptx_operand){ .kind = OPND_REG, .reg = reg };
	return in;
}

static bool insert_before(struct parser *p, struct ptx_inst in)
{
	if (p->n_constants == ARRAY_LEN(p->constants))
		return fail_at(p, p->tok.s, p->tok.line, ERR_UNSUPPORTED,
		               "more than %zu arguments in registers", ARRAY_LEN(p->constants));
	p->constants[p->n_constants++] = in;
	return true;
}

static bool insert_here(struct parser *p, struct ptx_inst in)
{
	struct ptx_func *f = func_at_hand(p);
	grow_array(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
	f->insts[f->n_insts++] = in;
	return true;
}

/* --- in the function --- */

bool open_parameter_registers(struct parser *p)
{
	const unsigned n = func_at_hand(p)->n_params + func_at_hand(p)->n_rets;
	for (unsigned i = 0; i < n; i++) {
		const struct ptx_param *q = &func_at_hand(p)->params[i];
		if (!q->in_register)
			continue;
		const size_t len = strlen(q->name);
		const int32_t reg = add_nameless_reg(p, q->type);
		const struct sym s = { .name = q->name,
			                   .len = (uint32_t)len,
			                   .hash = lex_hash(q->name, len),
			                   .kind = SYM_REG,
			                   .index = reg };
		names_add(&p->names, &s);
		snprintf(func_at_hand(p)->regs[reg].name, sizeof func_at_hand(p)->regs[reg].name, "%s",
		         q->name);
		p->register_results |= q->is_return;
		if (!q->is_return)
			insert_here(p, access_inst(p, false, -1 - (int32_t)i, reg));
	}
	return true;
}

bool give_register_results(struct parser *p, bool behind)
{
	const struct ptx_func *f = func_at_hand(p);
	int32_t reg = 0;
	for (unsigned i = 0; i < f->n_params + f->n_rets; i++) {
		if (!f->params[i].in_register)
			continue;
		const int32_t own = reg++;
		if (!f->params[i].is_return)
			continue;
		const struct ptx_inst in = access_inst(p, true, -1 - (int32_t)i, own);
		if (!(behind ? insert_here(p, in) : insert_before(p, in)))
			return false;
	}
	return true;
}

/* --- at a call --- */

/* A .param variable of @type that no text has. */
static bool new_variable(struct parser *p, enum ptx_type type, int32_t *symbol)
{
	struct ptx_func *f = func_at_hand(p);
	const unsigned bytes = ptx_type_bytes(type);
	grow_array(&p->m->vars, p->m->n_vars, &p->vars_cap, sizeof *p->m->vars);
	*symbol = (int32_t)p->m->n_vars++;
	const uint64_t offset = align_up(f->call_param_bytes, bytes);
	p->m->vars[*symbol] = (struct ptx_var){
		.name = mem_strndup("(register)", 10),
		.space = SPACE_PARAM,
		.type = type,
		.align = bytes,
		.size = bytes,
		.func = p->func,
		.offset = offset,
	};
	f->call_param_bytes = (uint32_t)offset + bytes;
	return true;
}

/* How a constant is read that stands as argument number @n: as the parameter is, if it is known. */
static struct want want_of_argument(struct parser *p, const struct ptx_inst *call, int64_t n)
{
	struct want w = { .bytes = 4, .type = PTX_B32 };
	if (call->opnd[0].kind != OPND_FUNC)
		return w;
	const struct ptx_func *f = &p->m->funcs[call->opnd[0].symbol];
	if (n >= (int64_t)f->n_params)
		return w;
	w.type = f->params[n].type;
	w.bytes = ptx_type_bytes(w.type);
	return w;
}

bool pass_register(struct parser *p, const struct ptx_inst *call, bool result, int32_t *symbol)
{
	const struct want any = want_of_argument(p, call, call->opnd[2].i64);
	uint32_t member;
	const struct token t = p->tok;
	int32_t reg;
	if (t.kind == TOK_NAME) {
		const struct sym *s = names_find_token(&p->names, &t, &member);
		reg = s->index + (int32_t)member;
		if (func_at_hand(p)->regs[reg].type == PTX_PRED)
			return fail_at(p, t.s, t.line, ERR_UNSUPPORTED, "no predicate is passed to a function");
		if (!advance(p))
			return false;
	} else if (result || !parse_element_constant(p, &any, call, &reg)) {
		return result ? fail(p, "expected where the result goes") : false;
	}
	if (!new_variable(p, func_at_hand(p)->regs[reg].type, symbol))
		return false;
	if (!result)
		return insert_before(p, access_inst(p, true, *symbol, reg));
	p->behind = access_inst(p, false, *symbol, reg);
	p->behind.guard = call->guard;
	p->behind.guard_negated = call->guard_negated;
	p->has_behind = true;
	return true;
}

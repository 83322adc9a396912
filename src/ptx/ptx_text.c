/* Names of types and special registers, and instructions as text; see ptx.h. */
#include "ptx/ptx.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *ptx_type_name(enum ptx_type t)
{
	static const char *const names[] = {
#define X(id, name, bytes) [PTX_##id] = name,
		PTX_TYPES(X)
#undef X
	};
	return (unsigned)t < PTX_TYPE_COUNT ? names[t] : "?";
}

unsigned ptx_type_bytes(enum ptx_type t)
{
	static const unsigned char sizes[] = {
#define X(id, name, bytes) [PTX_##id] = bytes,
		PTX_TYPES(X)
#undef X
	};
	return (unsigned)t < PTX_TYPE_COUNT ? sizes[t] : 0;
}

const char *ptx_special_name(enum ptx_special s)
{
	static const char *const names[] = {
#define SPECIAL(id, name) [SR_##id] = name,
#include "ptx/special.def"
	};
	return (unsigned)s < SR_COUNT ? names[s] : "?";
}

static const char *reg_name(const struct ptx_func *f, int32_t reg)
{
	return reg < 0 ? "_" : (unsigned)reg < f->n_regs ? f->regs[reg].name : "?";
}

static const char *symbol_name(const struct ptx_module *m, const struct ptx_func *f, int32_t symbol)
{
	if (symbol >= 0)
		return (unsigned)symbol < m->n_vars ? m->vars[symbol].name : "?";
	unsigned param = (unsigned)(-1 - symbol);
	return param < f->n_params + f->n_rets ? f->params[param].name : "?";
}

static void put_offset(struct text *t, int64_t offset)
{
	if (offset)
		text_add(t, "%+" PRId64, offset);
}

static void put_float(struct text *t, double value, int digits)
{
	char number[64];
	fmt_num(number, sizeof number, value, digits);
	text_add(t, "%s%s", number, strpbrk(number, ".enai") ? "" : ".0");
}

/* Blocks that a branch table leads to, else arguments. */
static void put_list(struct text *t, const struct ptx_module *m, const struct ptx_func *f,
                     const struct ptx_operand *o)
{
	text_add(t, "(");
	for (int64_t i = 0; i < o->i64; i++) {
		const int32_t entry = f->lists[o->reg + i];
		if (o->label == LIST_REGISTERS)
			text_add(t, "%s%s", i ? ", " : "", reg_name(f, entry));
		else if (o->label == LIST_BLOCKS)
			text_add(t, "%sB%" PRId32, i ? ", " : "", entry);
		else
			text_add(t, "%s%s", i ? ", " : "", symbol_name(m, f, entry));
	}
	text_add(t, ")");
}

/* @digits: significant ones of a floating-point constant. */
static void put_operand(struct text *t, const struct ptx_module *m, const struct ptx_func *f,
                        const struct ptx_operand *o, int digits)
{
	if (o->negated)
		text_add(t, "!");
	switch (o->kind) {
	case OPND_NONE: text_add(t, "_"); break;
	case OPND_REG: text_add(t, "%s", reg_name(f, o->reg)); break;
	case OPND_INT: text_add(t, "%" PRId64, o->i64); break;
	case OPND_FLOAT: put_float(t, o->f64, digits); break;
	case OPND_SPECIAL: text_add(t, "%s", ptx_special_name(o->special)); break;
	case OPND_SYMBOL:
		text_add(t, "%s", symbol_name(m, f, o->symbol));
		put_offset(t, o->i64);
		break;
	case OPND_ADDR:
		text_add(t, "[");
		if (o->addr_base == ADDR_ABSOLUTE) {
			text_add(t, "%" PRId64, o->i64);
		} else {
			text_add(t, "%s",
			         o->addr_base == ADDR_REG ? reg_name(f, o->reg) : symbol_name(m, f, o->symbol));
			put_offset(t, o->i64);
		}
		text_add(t, "]");
		break;
	case OPND_VEC:
		for (int i = 0; i < o->n_vec; i++)
			text_add(t, "%s%s", i ? ", " : "{", reg_name(f, o->vec[i]));
		text_add(t, "}");
		break;
	case OPND_LABEL: text_add(t, "B%" PRId32, o->label); break;
	case OPND_FUNC:
		text_add(t, "%s",
		         o->symbol >= 0 && (unsigned)o->symbol < m->n_funcs ? m->funcs[o->symbol].name
		                                                            : "?");
		break;
	case OPND_LIST: put_list(t, m, f, o); break;
	}
}

/* A second destination stands behind "|". */
static bool second_destination(enum ptx_op op)
{
	return op == OP_SETP || op == OP_SHFL || op == OP_MATCH || op == OP_ELECT || op == OP_LOP3;
}

static void put_call(struct text *t, const struct ptx_module *m, const struct ptx_func *f,
                     const struct ptx_inst *inst)
{
	const struct ptx_operand *o = inst->opnd;
	text_add(t, " ");
	if (o[1].kind == OPND_SYMBOL)
		text_add(t, "(%s), ", symbol_name(m, f, o[1].symbol));
	put_operand(t, m, f, &o[0], 0);
	if (o[2].kind == OPND_LIST) {
		text_add(t, ", ");
		put_operand(t, m, f, &o[2], 0);
	}
}

void ptx_inst_format(const struct ptx_module *m, const struct ptx_func *f,
                     const struct ptx_inst *inst, char *out, size_t n)
{
	struct text t = { 0 };
	const int digits = inst->type == PTX_F64 ? 17 : 9;
	if (inst->guard >= 0)
		text_add(&t, "@%s%s ", inst->guard_negated ? "!" : "", reg_name(f, inst->guard));
	text_add(&t, "%s", inst->text);
	if (inst->op == OP_CALL)
		put_call(&t, m, f, inst);
	for (int i = 0; i < inst->n_opnds && inst->op != OP_CALL; i++) {
		bool second = i == 1 && second_destination(inst->op);
		if (i > 0 && inst->opnd[i].kind == OPND_NONE)
			continue;
		text_add(&t, "%s", i == 0 ? " " : second ? "|" : ", ");
		put_operand(&t, m, f, &inst->opnd[i], digits);
		if (inst->op == OP_LOP3 && i == 4)
			text_add(&t, ", 0x%x", inst->mma.k);
	}
	if (n)
		snprintf(out, n, "%s", t.s);
	text_free(&t);
}

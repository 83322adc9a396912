/*
 * Fuzz target: no text, however malformed, may crash the PTX parser, and what it accepts keeps the
 * promises of ptx.h that the emulator relies on (indexes in range, widths checked).
 */
#include "target.h"

#include "ptx/ptx.h"

static void check_symbol(const struct ptx_module *m, const struct ptx_func *f, int32_t symbol)
{
	promise(symbol >= 0 ? (unsigned)symbol < m->n_vars
	                    : (unsigned)(-1 - symbol) < f->n_params + f->n_rets,
	        "symbol in range");
}

static void check_operand(const struct ptx_module *m, const struct ptx_func *f,
                          const struct ptx_operand *o)
{
	switch (o->kind) {
	case OPND_REG: promise((unsigned)o->reg < f->n_regs, "register in range"); break;
	case OPND_VEC:
		promise(o->n_vec >= 1 && o->n_vec <= 8, "1 to 8 elements");
		for (int i = 0; i < o->n_vec; i++)
			promise(o->vec[i] >= -1 && o->vec[i] < (int32_t)f->n_regs, "element in range");
		break;
	case OPND_ADDR:
		if (o->addr_base == ADDR_REG)
			promise((unsigned)o->reg < f->n_regs, "base register in range");
		if (o->addr_base == ADDR_SYMBOL)
			check_symbol(m, f, o->symbol);
		break;
	case OPND_SYMBOL: check_symbol(m, f, o->symbol); break;
	case OPND_FUNC: promise((unsigned)o->symbol < m->n_funcs, "function in range"); break;
	case OPND_LABEL: promise((unsigned)o->label < f->n_blocks, "block in range"); break;
	case OPND_LIST:
		promise(o->reg >= 0 && o->i64 >= 0 && o->reg + o->i64 <= f->n_lists, "list in range");
		for (int64_t i = 0; i < o->i64; i++)
			check_symbol(m, f, f->lists[o->reg + i]);
		break;
	default: break;
	}
}

static void check_function(const struct ptx_module *m, const struct ptx_func *f)
{
	for (unsigned i = 0; i < f->n_insts; i++) {
		const struct ptx_inst *inst = &f->insts[i];
		char text[256];
		promise(inst->n_opnds <= PTX_MAX_OPERANDS, "operands fit");
		for (int k = 0; k < inst->n_opnds; k++)
			check_operand(m, f, &inst->opnd[k]);
		if (inst->guard >= 0)
			promise(f->regs[inst->guard].type == PTX_PRED, "a guard is a predicate");
		ptx_inst_format(m, f, inst, text, sizeof text);
	}
	unsigned next = 0;
	for (unsigned b = 0; b < f->n_blocks; b++) {
		const struct ptx_block *block = &f->blocks[b];
		promise(block->first == next && block->last >= block->first, "blocks follow another");
		next = block->last + 1;
		for (int k = 0; k < 2; k++)
			promise(block->succ[k] >= -1 && block->succ[k] < (int32_t)f->n_blocks, "successor");
		promise(block->ipdom >= -1 && block->ipdom < (int32_t)f->n_blocks, "ipdom in range");
		promise(block->reconv >= -1 && block->reconv < (int32_t)f->n_blocks, "reconv in range");
	}
	promise(next == f->n_insts, "blocks cover the function");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size);
	struct ptx_module m;
	struct err err = { 0 };
	if (ptx_parse(text, "fuzz.ptx", &m, &err)) {
		for (unsigned i = 0; i < m.n_funcs; i++)
			check_function(&m, &m.funcs[i]);
		for (unsigned i = 0; i < m.n_vars; i++) {
			const struct ptx_var *v = &m.vars[i];
			for (unsigned k = 0; k < v->n_relocs; k++)
				promise(v->init && v->relocs[k].offset + v->relocs[k].bytes <= v->size,
				        "address inside the initial value");
		}
		ptx_free(&m);
	} else {
		promise(err.code == ERR_PARSE || err.code == ERR_UNSUPPORTED, "parse or unsupported");
		promise(strncmp(err.msg, "fuzz.ptx:", 9) == 0, "the message says where");
		promise(m.n_funcs == 0 && m.funcs == NULL, "nothing is left of a refused module");
	}
	free(text);
	return 0;
}

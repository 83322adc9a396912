/* What sass.h promises of any module that sass_read() accepts. */
#ifndef PMPP_FUZZ_SASS_PROMISE_H
#define PMPP_FUZZ_SASS_PROMISE_H

#include "sass/sass.h"
#include "target.h"

static inline void check_inst(const struct sass_module *m, const struct sass_func *f, unsigned n)
{
	const struct sass_inst *i = &f->insts[n];
	promise(i->op < SASS_OP_COUNT && i->n_mods <= SASS_MAX_MODS, "opcode and modifiers in range");
	promise(i->offset % CUBIN_INST_BYTES == 0 && i->offset < f->cubin->code_bytes,
	        "offset in the code");
	promise(!n || f->insts[n - 1].offset < i->offset, "offsets ascend");
	promise(i->target == SASS_NO_TARGET || (unsigned)i->target < f->n_insts, "target in range");
	for (unsigned t = 0; t < i->n_targets; t++)
		promise(i->targets[t] < f->n_insts, "targets in range");
	promise(i->file < m->n_files, "file in range");
	promise(i->n_dsts <= i->n_operands, "destinations are operands");
	promise(i->guard <= SASS_PT, "guard in range");
	promise(strlen(i->opcode) + strlen(i->text) < 1 << 30, "texts end");
	for (unsigned k = 0; k < i->n_operands; k++) {
		const struct sass_operand *o = &i->operands[k];
		promise(o->reg <= SASS_RZ || o->reg == SASS_NO_REG, "register in range");
		promise(o->kind != SASS_OPND_PRED || o->reg <= SASS_PT, "predicate in range");
		promise(o->kind != SASS_OPND_OTHER || i->why_not, "what is strange is said");
		promise(o->sel < SASS_MOD_COUNT && o->usel < SASS_MOD_COUNT, "selector in range");
	}
}

static inline void check_module(const struct sass_module *m)
{
	promise(m->n_funcs == m->cubin.n_funcs, "a function for each of the cubin");
	for (unsigned f = 0; f < m->n_funcs; f++)
		for (unsigned n = 0; n < m->funcs[f].n_insts; n++)
			check_inst(m, &m->funcs[f], n);
}

static inline void check_refusal(const struct sass_module *m, const struct err *err)
{
	promise(err->code == ERR_PARSE || err->code == ERR_UNSUPPORTED, "parse or unsupported");
	promise_refusal(err);
	promise(!m->n_funcs && !m->funcs && !m->pool, "nothing is left of a refused module");
}

#endif

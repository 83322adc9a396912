/*
 * What the assembler made of each product and sum of the PTX, read from its machine code, whose
 * instructions carry the line of the PTX they come from: a sum that stands there as a fused
 * multiply-add was fused, one that stands as a sum was not.
 *
 * Not told are sums of which there are copies of both kinds, or none (worked out by the assembler,
 * or found twice), and of float32 those that it packed in pairs: contract.c goes by rule there.
 */
#include "emu/lower/fusion_source.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum kind { OTHER, SUM, PRODUCT, FUSED, PACKED };

static enum kind kind_of(const struct sass_inst *i)
{
	switch ((enum sass_op)i->op) {
	case SASS_FADD:
	case SASS_FADD32I:
	case SASS_HADD2:
	case SASS_HADD2_32I:
	case SASS_DADD: return SUM;
	case SASS_FMUL:
	case SASS_FMUL32I:
	case SASS_HMUL2:
	case SASS_HMUL2_32I:
	case SASS_DMUL: return PRODUCT;
	case SASS_FFMA:
	case SASS_FFMA32I:
	case SASS_HFMA2:
	case SASS_HFMA2_32I:
	case SASS_DFMA: return FUSED;
	case SASS_FADD2:
	case SASS_FMUL2:
	case SASS_FFMA2: return PACKED;
	default: return OTHER;
	}
}

static bool is_one(const struct sass_operand *o)
{
	const double v = o->kind == SASS_OPND_INT ? (double)o->value : o->number;
	return (o->kind == SASS_OPND_FLOAT || o->kind == SASS_OPND_INT) && (v == 1 || v == -1);
}

/* x * 1 + y: a sum, for which the pipe of products was free. */
static bool is_plain_sum(const struct sass_inst *i)
{
	const unsigned n = i->n_operands - i->n_dsts;
	return n >= 2 && (is_one(&i->operands[i->n_dsts]) || is_one(&i->operands[i->n_dsts + 1]));
}

/* Source @n of @i; a number of two halves is printed as two. NULL = there is none. */
static const struct sass_operand *source_at(const struct sass_inst *i, unsigned n)
{
	const bool pairs = sass_op_info((enum sass_op)i->op)->pipe == SASS_PIPE_FP16;
	unsigned at = i->n_dsts;
	for (; n && at < i->n_operands; n--)
		at += pairs && i->operands[at].kind == SASS_OPND_FLOAT ? 2 : 1;
	return at < i->n_operands ? &i->operands[at] : NULL;
}

/* What source @n of @i comes from. */
static struct fusion_source source_of(const struct code_ways *c, const struct sass_inst *i,
                                      unsigned n)
{
	const struct sass_operand *o = source_at(i, n);
	struct fusion_source s = { .number = o && (o->kind != SASS_OPND_REG || o->reg == SASS_RZ) };
	if (o && !s.number)
		code_source(c, i, o->reg, &s);
	return s;
}

static bool is_square(const struct sass_inst *i)
{
	const struct sass_operand *a = source_at(i, 0), *b = source_at(i, 1);
	return a && b && a->kind == SASS_OPND_REG && b->kind == SASS_OPND_REG && a->reg == b->reg &&
	       a->sel == b->sel;
}

static void note(struct fusion *v, const struct code_ways *c, const struct sass_inst *i)
{
	const enum kind kind = kind_of(i);
	if (kind == PACKED) {
		v->sum = FUSION_MIXED;
	} else if (kind == SUM || (kind == FUSED && is_plain_sum(i))) {
		v->sum |= FUSION_NO;
	} else if (kind == PRODUCT) {
		v->product_there = true;
	} else if (!sass_moves_constant(i)) {
		v->product_there = true; /* of a product's line: it adds nothing to it */
		v->sum |= FUSION_YES;
		v->square = is_square(i);
		v->factor[0] = source_of(c, i, 0);
		v->factor[1] = source_of(c, i, 1);
		v->addend = source_of(c, i, 2);
	}
}

static bool may_be_fused(const struct ptx_inst *in)
{
	switch (in->type) {
	case PTX_F32:
	case PTX_F64:
	case PTX_F16:
	case PTX_F16X2:
	case PTX_BF16:
	case PTX_BF16X2: return in->op == OP_ADD || in->op == OP_SUB || in->op == OP_MUL;
	default: return false;
	}
}

/* Lines of PTX that the kernel has sums or products at. */
static unsigned list_lines(const struct ptx_func *func, struct fusion *lines)
{
	unsigned n = 0;
	for (unsigned k = 0; k < func->n_insts; k++) {
		const struct ptx_inst *in = &func->insts[k];
		if (may_be_fused(in))
			lines[n++] = (struct fusion){ .line = in->ptx_line,
				                          .half = in->type != PTX_F32 && in->type != PTX_F64 };
	}
	qsort(lines, n, sizeof *lines, fusion_by_line);
	return n;
}

/* Instructions of another type at that line fill registers with numbers. */
static bool is_of_type(const struct fusion *v, const struct sass_inst *i)
{
	return v->half == (sass_op_info((enum sass_op)i->op)->pipe == SASS_PIPE_FP16);
}

static void note_all(struct ir *ir, const struct sass_func *f)
{
	struct code_ways c;
	code_ways_find(&c, f);
	for (unsigned k = 0; k < f->n_insts; k++) {
		struct fusion *v =
			kind_of(&f->insts[k]) == OTHER ? NULL : fusion_at(ir, f->insts[k].ptx_line);
		if (v && is_of_type(v, &f->insts[k]))
			note(v, &c, &f->insts[k]);
	}
	code_ways_free(&c);
}

void fusions_find(struct ir *ir, const struct sass_module *m)
{
	if (!m->cubin.ptx_lines)
		return;
	ir->fusions = mem_calloc(ir->func->n_insts + 1, sizeof *ir->fusions);
	ir->n_fusions = list_lines(ir->func, ir->fusions);
	for (unsigned i = 0; i < m->n_funcs && ir->n_fusions; i++) {
		const struct sass_func *f = &m->funcs[i];
		if (!f->cubin->entry || !strcmp(f->name, ir->func->name))
			note_all(ir, f);
	}
}

/*
 * What the assembler made of each product and sum of the PTX, read from its machine code, whose
 * instructions carry the line of the PTX they come from: a sum that stands there as a fused
 * multiply-add was fused, one that stands as a sum was not.
 *
 * Not told are sums of which there are copies of both kinds, or none (worked out by the assembler,
 * or found twice), and of float32 those that it packed in pairs: contract.c goes by rule there.
 */
#include "emu/lower/sass_lower.h"

#include "base/mem.h"
#include "sass/sass.h"

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

/* HFMA2 also moves constants: 0 * 0 + c. */
static bool moves(const struct sass_inst *i)
{
	const struct sass_operand *o = &i->operands[i->n_dsts];
	return i->n_operands - i->n_dsts >= 2 && o[0].kind == SASS_OPND_REG && o[0].reg == SASS_RZ &&
	       o[1].kind == SASS_OPND_REG && o[1].reg == SASS_RZ;
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

static bool writes(const struct sass_inst *i, uint16_t reg)
{
	for (unsigned n = 0; n < i->n_dsts; n++) {
		const struct sass_operand *d = &i->operands[n];
		if (d->kind == SASS_OPND_REG && reg >= d->reg && reg < d->reg + d->words)
			return true;
	}
	return false;
}

/* Does it fill a register with a number? */
static bool is_filling(const struct sass_inst *i)
{
	const struct sass_operand *last = &i->operands[i->n_operands - 1];
	if (last->kind != SASS_OPND_INT && last->kind != SASS_OPND_FLOAT)
		return false;
	return i->op == SASS_MOV || ((i->op == SASS_IMAD || kind_of(i) == FUSED) && moves(i));
}

/* What source @n of @i comes from: what was written last in its block, by all lanes, or else what
 * was written before, as the code stands. @block_of: as sass_block_starts() has it. */
static struct fusion_source source_of(const struct sass_func *f, const int32_t *block_of,
                                      const struct sass_inst *i, unsigned n)
{
	const struct sass_operand *o = source_at(i, n);
	struct fusion_source s = { .number = o && (o->kind != SASS_OPND_REG || o->reg == SASS_RZ) };
	if (!o || s.number)
		return s;
	unsigned lines = 0;
	bool same_block = true;
	for (uint32_t k = (uint32_t)(i - f->insts); lines < FUSION_LINES && k; k--) {
		const struct sass_inst *before = &f->insts[k - 1];
		same_block &= block_of[k] < 0;
		if (!writes(before, o->reg))
			continue;
		if (is_filling(before))
			s.number = true;
		else
			s.line[lines++] = before->ptx_line;
		if (before->guard == SASS_PT && same_block)
			break;
	}
	return s;
}

static bool is_square(const struct sass_inst *i)
{
	const struct sass_operand *a = source_at(i, 0), *b = source_at(i, 1);
	return a && b && a->kind == SASS_OPND_REG && b->kind == SASS_OPND_REG && a->reg == b->reg &&
	       a->sel == b->sel;
}

static void note(struct fusion *v, const struct sass_func *f, const int32_t *block_of,
                 const struct sass_inst *i)
{
	const enum kind kind = kind_of(i);
	if (kind == PACKED) {
		v->sum = FUSION_MIXED;
	} else if (kind == SUM || (kind == FUSED && is_plain_sum(i))) {
		v->sum |= FUSION_NO;
	} else if (kind == PRODUCT) {
		v->product_there = true;
	} else if (!moves(i)) {
		v->product_there = true; /* of a product's line: it adds nothing to it */
		v->sum |= FUSION_YES;
		v->square = is_square(i);
		v->factor[0] = source_of(f, block_of, i, 0);
		v->factor[1] = source_of(f, block_of, i, 1);
		v->addend = source_of(f, block_of, i, 2);
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
	int32_t *block_of = mem_calloc(f->n_insts + 1, sizeof *block_of);
	sass_block_starts(f, block_of);
	for (unsigned k = 0; k < f->n_insts; k++) {
		struct fusion *v =
			kind_of(&f->insts[k]) == OTHER ? NULL : fusion_at(ir, f->insts[k].ptx_line);
		if (v && is_of_type(v, &f->insts[k]))
			note(v, f, block_of, &f->insts[k]);
	}
	free(block_of);
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

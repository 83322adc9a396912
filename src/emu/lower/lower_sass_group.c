/*
 * Machine code of warp groups (sm_90): products with HGMMA, IGMMA, QGMMA and BGMMA, and what goes
 * with them. HGMMA.64x32x16.F32 R24, gdesc[UR4], R24, UP2, gsb0: D; descriptors of A and B in
 * uniform registers in a row (of B alone where A is in registers); the sums so far, kept where the
 * predicate holds; gsb0 ends a group, for which WARPGROUP.DEPBAR waits.
 */
#include "emu/lower/sass_lower.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SUMS = 128 };

/* "HGMMA.64x32x16.F32": 32 and 16. */
static bool shape_of(const struct sass_inst *i, unsigned *n, unsigned *k)
{
	const char *at = strstr(i->opcode, ".64x");
	char *end = NULL;
	*n = at ? (unsigned)strtoul(at + strlen(".64x"), &end, 10) : 0;
	if (!end || *end != 'x')
		return false;
	*k = (unsigned)strtoul(end + 1, &end, 10);
	return *n && *k;
}

/* The types that the modifiers name: of the sums (HGMMA, QGMMA), then of A and B. */
static bool types_of(const struct sass_lower *s, struct group_product *p)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_type type;
	} all[] = { { SASS_MOD_F32, PTX_F32 },   { SASS_MOD_F16, PTX_F16 },
		        { SASS_MOD_BF16, PTX_BF16 }, { SASS_MOD_TF32, PTX_TF32 },
		        { SASS_MOD_E4M3, PTX_E4M3 }, { SASS_MOD_E5M2, PTX_E5M2 },
		        { SASS_MOD_S8, PTX_S8 },     { SASS_MOD_U8, PTX_U8 } };
	enum ptx_type named[3] = { PTX_NONE, PTX_NONE, PTX_NONE };
	/* their sums have one type */
	const unsigned first = s->i->op == SASS_IGMMA || s->i->op == SASS_BGMMA;
	unsigned n = first;
	named[0] = first ? PTX_S32 : PTX_NONE;
	if (s->i->op == SASS_BGMMA)
		named[1] = named[2] = PTX_B1;
	for (unsigned m = 0; m < s->i->n_mods; m++)
		for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
			if (s->i->mods[m] == all[k].mod && n < 3)
				named[n++] = all[k].type;
	if (s->i->op == SASS_HGMMA) /* float16 is not named, and A and B are of one type */
		named[2] = named[1] = named[1] == PTX_NONE ? PTX_F16 : named[1];
	p->d = named[0];
	p->a = named[1];
	p->b = named[2];
	return p->d != PTX_NONE && p->a != PTX_NONE && p->b != PTX_NONE;
}

/* A matrix's descriptor, its start from the block's first byte on: hardware's shared memory begins
 * with bytes of its own. */
static struct xsrc matrix_at(struct sass_lower *s, unsigned ureg)
{
	const uint64_t start = 0x3fff; /* 16-byte units */
	const struct xsrc v = sl_pair(s, SASS_OPND_UREG, ureg);
	const struct xsrc from = sl_op2(s, E_sub_b64, v, src_const(s->arch->shared_base >> 4));
	return sl_op2(s, E_or_b64, sl_op2(s, E_and_b64, v, src_const(~start)),
	              sl_op2(s, E_and_b64, from, src_const(start)));
}

static const struct sass_operand *operand_of(const struct sass_lower *s, unsigned kind, unsigned n)
{
	for (unsigned k = s->i->n_dsts; k < s->i->n_operands; k++)
		if (s->i->operands[k].kind == kind && !n--)
			return &s->i->operands[k];
	return NULL;
}

/* Which elements of a sparse A there are: a register behind A, if that is in registers, and C,
 * which is *@c if both are; then the lanes of which it counts. */
static bool sparsity_of(struct sass_lower *s, struct group_product *p,
                        const struct sass_operand **c)
{
	const struct sass_operand *third = operand_of(s, SASS_OPND_REG, 2);
	const struct sass_operand *which = third ? third : *c;
	const struct sass_operand *lanes = operand_of(s, SASS_OPND_INT, 0);
	*c = third ? *c : NULL;
	p->selector = lanes ? (unsigned)lanes->value : 0;
	if (!which)
		return false;
	p->which = which->reg == SASS_RZ ? src_const(0) : src_reg(sl_reg(s, SASS_OPND_REG, which->reg));
	return true;
}

bool sl_group_product(struct sass_lower *s)
{
	struct group_product p = { .saturate = sl_has(s, SASS_MOD_SAT),
		                       .sparse = sl_has(s, SASS_MOD_SP),
		                       .bits = s->i->op == SASS_BGMMA && sl_has(s, SASS_MOD_AND)
		                                   ? ATOM_AND
		                                   : ATOM_NONE,
		                       .keep = sl_pred(s, 0, true) };
	const struct sass_operand *matrix = operand_of(s, SASS_OPND_MATRIX, 0);
	const struct sass_operand *a = operand_of(s, SASS_OPND_REG, 0);
	const struct sass_operand *c = operand_of(s, SASS_OPND_REG, 1);
	int32_t to[MOST_SUMS], sums[MOST_SUMS];
	if (!matrix || !a || !shape_of(s->i, &p.n, &p.k) || !types_of(s, &p) || s->guard >= 0 ||
	    (p.sparse && !sparsity_of(s, &p, &c)))
		return sl_refuse(s, "this product of a warp group");
	p.a_in_registers = c != NULL;
	p.minus_a = matrix->value & SASS_MATRIX_MINUS_A || (c && a->flags & SASS_NEG);
	p.minus_b = matrix->value & SASS_MATRIX_MINUS_B;
	p.across_a = matrix->value & SASS_MATRIX_ACROSS_A;
	p.across_b = matrix->value & SASS_MATRIX_ACROSS_B;
	const char *why = low_group_product_why(&p);
	if (why)
		return sl_refuse(s, "%s", why);
	for (unsigned i = 0; i < 4 && p.a_in_registers; i++)
		p.from[i] = src_reg(sl_reg(s, SASS_OPND_REG, a->reg + i));
	c = c ? c : a;
	if (!p.a_in_registers)
		p.matrix_a = matrix_at(s, matrix->ureg);
	p.matrix_b = matrix_at(s, matrix->ureg + (p.a_in_registers ? 0u : 2u));
	for (unsigned i = 0; i < low_group_sums(&p); i++) {
		to[i] = sl_dst(s, i);
		sums[i] = c->reg == SASS_RZ ? -1 : sl_reg(s, SASS_OPND_REG, c->reg + i);
	}
	p.to = to;
	p.sums = sums;
	low_group_product(&s->l, &p);
	for (unsigned i = 0; i < low_group_sums(&p); i++)
		sl_wrote(s, to[i]);
	if (operand_of(s, SASS_OPND_GROUP, 0))
		sl_system(s, SYSTEM_GROUP_COMMIT, 0, NULL, -1);
	return true;
}

/* WARPGROUP.ARRIVE: registers are as the products will find them, as they always are here.
 * WARPGROUP.DEPBAR.LE gsb0, 0x1: until all groups but so many are done. */
bool sl_warpgroup(struct sass_lower *s)
{
	const struct sass_operand *left = operand_of(s, SASS_OPND_INT, 0);
	if (sl_has(s, SASS_MOD_ARRIVE))
		return sl_nothing(s);
	if (!sl_has(s, SASS_MOD_DEPBAR) || !left || s->guard >= 0)
		return sl_refuse(s, "this use of a warp group");
	const struct xsrc n = src_const((uint64_t)left->value);
	sl_system(s, SYSTEM_GROUP_WAIT, 1, &n, -1);
	return true;
}

/* Registers handed from warp to warp: there are always enough here. */
bool sl_max_registers(struct sass_lower *s)
{
	sl_emit(s, X_NOP);
	sl_set_pred(s, sl_dst_pred(s, 0), src_const(0xffffffffu));
	return true;
}

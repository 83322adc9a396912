/* A product of matrices in machine code: its fragments in registers, and the operation itself. */
#include "emu/lower/sass_lower.h"

#include "base/mem.h"

int32_t sl_fragment(struct sass_lower *s, const struct sass_operand *o, unsigned n, unsigned bytes)
{
	int32_t first = -1;
	for (unsigned i = 0; i < n; i++) {
		const int32_t t = low_temp(&s->l, bytes);
		s->l.ir->regs[t].fixed = true;
		first = first < 0 ? t : first;
	}
	for (unsigned i = 0; i < n; i++) {
		const unsigned at = o->reg + i * bytes / 4;
		const int32_t r = o->reg == SASS_RZ ? -1 : sl_reg(s, SASS_OPND_REG, at);
		struct xsrc v = r < 0 ? src_const(0) : src_reg(r);
		if (bytes == 8 && r >= 0)
			v = sl_pair(s, SASS_OPND_REG, at);
		low_op1(&s->l, bytes == 8 ? E_mov_b64 : E_mov_b32, first + (int32_t)i, v);
	}
	return first;
}

/* Registers of 32 bits (64: float64) that a fragment of @rows x @columns takes. */
static unsigned registers_of(unsigned rows, unsigned columns, enum ptx_type type)
{
	const unsigned bytes = ptx_type_bytes(type), word = bytes == 8 ? 8 : 4;
	return rows * columns * bytes / word / 32;
}

bool sl_product(struct sass_lower *s, struct ir_tensor t, const int32_t *ab)
{
	const struct sass_operand *a = sl_src_operand(s, 0), *b = sl_src_operand(s, 1),
							  *c = sl_src_operand(s, 2);
	const unsigned wide = t.a == PTX_F64 ? 8 : 4;
	if (!t.n_a) {
		t.n_a = (uint8_t)registers_of(t.m, t.k, t.a);
		t.n_b = (uint8_t)registers_of(t.k, t.n, t.b);
		t.n_c = (uint8_t)registers_of(t.m, t.n, t.c);
	}
	if (!a || !b || !c || a->kind != SASS_OPND_REG || b->kind != SASS_OPND_REG ||
	    c->kind != SASS_OPND_REG || (a->flags | b->flags | c->flags) & (SASS_NEG | SASS_NOT) ||
	    s->guard >= 0 || !t.n_a || !t.n_b || !t.n_c || sl_dst_pred(s, 0) >= 0)
		return sl_refuse(s, "this product of matrices");
	t.first_a = ab ? ab[0] : sl_fragment(s, a, t.n_a, wide);
	t.first_b = ab ? ab[1] : sl_fragment(s, b, t.n_b, wide);
	t.first_c = sl_fragment(s, c, t.n_c, wide);
	struct ir *ir = s->l.ir;
	ir->tensors = mem_realloc(ir->tensors, ir->n_tensors + 1, sizeof *ir->tensors);
	ir->tensors[ir->n_tensors] = t;
	int32_t made[X_MAX_VEC];
	for (unsigned i = 0; i < t.n_c; i++)
		made[i] = wide == 8 ? low_temp(&s->l, 8) : sl_dst(s, i);
	struct xop *x = sl_emit(s, X_TENSOR);
	x->target = (int32_t)ir->n_tensors++;
	x->n_d = t.n_c;
	for (unsigned i = 0; i < t.n_c; i++)
		x->d[i] = made[i];
	for (unsigned i = 0; i < t.n_c; i++)
		sl_wrote(s, made[i]);
	for (unsigned i = 0; wide == 8 && i < t.n_c; i++) {
		sl_set1(s, sl_dst(s, 2 * i), E_trunc32, src_reg(made[i]));
		sl_set1(s, sl_dst(s, 2 * i + 1), E_hi32, src_reg(made[i]));
	}
	return true;
}

/*
 * Products of matrices that few programs have (PTX ISA 9.0, 9.7.14): of four bits and of one bit,
 * with a sparse A (mma.sp), and m8n8k4 of halves, which is Volta's.
 *
 * Elements of four bits become bytes, a register two: the even ones, then the odd ones, of A and of
 * B alike, so that elements of one k meet. The rest has its own product (vm/tensor_rare.c).
 */
#include "emu/lower/lower_inst.h"

static int32_t part_of(const struct ptx_operand *o, unsigned i)
{
	return o->kind == OPND_VEC ? o->vec[i] : o->reg;
}

static unsigned parts_of(const struct ptx_operand *o)
{
	return o->kind == OPND_VEC ? o->n_vec : 1;
}

/* @n registers in a row that hold what they say until the product is made. */
static int32_t fixed_registers(struct lower *l, unsigned n)
{
	int32_t first = -1;
	for (unsigned i = 0; i < n; i++) {
		const int32_t t = low_temp(l, 4);
		l->ir->regs[t].fixed = true;
		first = first < 0 ? t : first;
	}
	return first;
}

static struct xsrc word_of(const struct ptx_operand *o, unsigned i)
{
	const int32_t reg = part_of(o, i);
	return reg >= 0 ? src_reg(reg) : src_const(0);
}

static int32_t copy_words(struct lower *l, const struct ptx_operand *o, unsigned n)
{
	const int32_t first = fixed_registers(l, n);
	for (unsigned i = 0; i < n; i++)
		low_op1(l, E_mov_b32, first + (int32_t)i, word_of(o, i));
	return first;
}

/* The product of A, B and C in t->n_a, n_b, n_c registers; those of A and of B that are -1 are
 * copied. */
static bool multiply(struct lower *l, struct ir_tensor *t, unsigned n_d)
{
	const struct ptx_operand *o = l->in->opnd;
	int32_t to[X_MAX_VEC];
	t->first_a = t->first_a < 0 ? copy_words(l, &o[1], t->n_a) : t->first_a;
	t->first_b = t->first_b < 0 ? copy_words(l, &o[2], t->n_b) : t->first_b;
	t->first_c = copy_words(l, &o[3], t->n_c);
	for (unsigned i = 0; i < n_d; i++)
		to[i] = part_of(&o[0], i);
	low_product(l, t, n_d, to);
	return !l->failed;
}

/* Whether the operands have these many registers, each of 32 bits. */
static bool have_registers(struct lower *l, unsigned d, unsigned a, unsigned b, unsigned c)
{
	const unsigned want[4] = { d, a, b, c };
	static const char name[4] = { 'D', 'A', 'B', 'C' };
	for (unsigned i = 0; i < 4; i++) {
		const struct ptx_operand *o = &l->in->opnd[i];
		if (parts_of(o) != want[i])
			return low_refuse(l, "%c of this shape has %u registers", name[i], want[i]);
		for (unsigned k = 0; k < want[i]; k++)
			if (part_of(o, k) >= 0 && low_reg_bytes(l, part_of(o, k)) != 4)
				return low_refuse(l, "the registers of %c have 32 bits", name[i]);
	}
	return true;
}

static struct ir_tensor product_of(const struct lower *l)
{
	const struct ptx_mma *m = &l->in->mma;
	return (struct ir_tensor){ .m = (uint8_t)m->m,
		                       .n = (uint8_t)m->n,
		                       .k = m->k,
		                       .a_col = m->a_col,
		                       .b_col = m->b_col,
		                       .d = m->types[0],
		                       .a = m->types[1],
		                       .b = m->types[2],
		                       .c = m->types[3],
		                       .saturate = l->in->flags & PF_SATFINITE,
		                       .first_a = -1,
		                       .first_b = -1 };
}

/* --- four bits, and one --- */

static bool half_byte(enum ptx_type t)
{
	return t == PTX_U4 || t == PTX_S4;
}

void low_bytes_of_halves(struct lower *l, int32_t d, struct xsrc word, enum ptx_type type,
                         unsigned odd)
{
	const struct xsrc shifted = odd ? src_reg(low_op2(l, E_shr_u32, -1, word, src_const(4))) : word;
	const struct xsrc v =
		src_reg(low_op2(l, E_and_b32, type == PTX_S4 ? -1 : d, shifted, src_const(0x0f0f0f0f)));
	if (type != PTX_S4)
		return;
	const struct xsrc sign = src_reg(low_op2(l, E_and_b32, -1, v, src_const(0x08080808)));
	low_op2(l, E_or_b32, d, v, src_reg(low_op2(l, E_mul_lo_b32, -1, sign, src_const(0x1e))));
}

/* A or B with elements of a byte: @blocks of eight rows, @n registers before. */
static int32_t widened(struct lower *l, const struct ptx_operand *o, unsigned n, unsigned blocks,
                       enum ptx_type type)
{
	const int32_t first = fixed_registers(l, 2 * n);
	for (unsigned i = 0; i < n; i++)
		for (unsigned odd = 0; odd < 2; odd++) {
			const unsigned at = i % blocks + blocks * (2 * (i / blocks) + odd);
			low_bytes_of_halves(l, first + (int32_t)at, word_of(o, i), type, odd);
		}
	return first;
}

bool low_mma_small(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct ir_tensor t = product_of(l);
	const bool bits = t.a == PTX_B1;
	const unsigned each = bits ? 32 : 8, rows = t.m / 8u, n_d = 2 * rows;
	const unsigned n_b = t.k / (4 * each), n_a = rows * n_b;
	const bool types = t.d == PTX_S32 && t.c == PTX_S32 &&
	                   (bits ? t.b == PTX_B1 && in->atom != ATOM_NONE
	                         : half_byte(t.a) && half_byte(t.b) && in->atom == ATOM_NONE);
	const bool shape = t.n == 8 && ((t.m == 8 && n_b == 1) ||
	                                (t.m == 16 && in->op == OP_MMA && (n_b == 1 || n_b == 2)));
	if (!types || !shape || t.k % (4 * each))
		return low_refuse(l, "this shape or these types are not supported");
	if (!have_registers(l, n_d, n_a, n_b, n_d))
		return false;
	t.n_c = (uint8_t)n_d;
	if (bits) {
		t.kind = in->atom == ATOM_AND ? TENSOR_AND : TENSOR_XOR;
		t.n_a = (uint8_t)n_a;
		t.n_b = (uint8_t)n_b;
		return multiply(l, &t, n_d);
	}
	t.first_a = widened(l, &in->opnd[1], n_a, rows, t.a);
	t.first_b = widened(l, &in->opnd[2], n_b, 1, t.b);
	t.n_a = (uint8_t)(2 * n_a);
	t.n_b = (uint8_t)(2 * n_b);
	t.a = t.a == PTX_S4 ? PTX_S8 : PTX_U8;
	t.b = t.b == PTX_S4 ? PTX_S8 : PTX_U8;
	return multiply(l, &t, n_d);
}

/* One register: 32 bits of row lane / 4 (of column: B), from word lane % 4 on. */
bool low_wmma_load_small(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_mma *m = &in->mma;
	const unsigned bits = in->type == PTX_B1 ? 1 : 4;
	if (m->m != 8 || m->n != 8 || m->k != 128 / bits || (m->frag != 'a' && m->frag != 'b'))
		return low_refuse(l, "this shape is not supported");
	if (m->a_col != (m->frag == 'b'))
		return low_refuse(l, "A lies by rows, B by columns");
	if (parts_of(&in->opnd[0]) != 1)
		return low_refuse(l, "a fragment of this shape has 1 register");
	const struct lanes at = low_lane_parts(l);
	const struct xsrc base = low_wide_address(l, 1);
	struct xsrc row = src_const(m->k * bits / 8);
	if (in->opnd[2].kind != OPND_NONE) /* in elements */
		row = src_reg(low_op2(l, E_shr_u32, -1, low_src(l, 2, 4), src_const(bits == 1 ? 3 : 1)));
	const struct xsrc rows = src_reg(low_op2(l, E_mul_wide_u32, -1, at.g, row));
	const struct xsrc word = src_reg(low_op2(l, E_mul_wide_u32, -1, at.t, src_const(4)));
	const struct xsrc line = src_reg(low_op2(l, E_add_b64, -1, base, rows));
	const struct xsrc a = src_reg(low_op2(l, E_add_b64, -1, line, word));
	const int32_t v = low_load(l, in->space, a, 0, PTX_B32), d = part_of(&in->opnd[0], 0);
	if (d >= 0)
		low_op1(l, E_mov_b32, d, src_reg(v));
	return !l->failed;
}

/* --- m8n8k4 --- */

bool low_mma_quads(struct lower *l)
{
	struct ir_tensor t = product_of(l);
	const bool sums = (t.c == PTX_F16 || t.c == PTX_F32) && (t.d == PTX_F16 || t.d == PTX_F32);
	const unsigned n_c = t.c == PTX_F32 ? 8 : 4, n_d = t.d == PTX_F32 ? 8 : 4;
	if (t.n != 8 || t.b != PTX_F16 || !sums)
		return low_refuse(l, "this shape or these types are not supported");
	if (!have_registers(l, n_d, 2, 2, n_c))
		return false;
	t.kind = TENSOR_QUADS;
	t.n_a = t.n_b = 2;
	t.n_c = (uint8_t)n_c;
	return multiply(l, &t, n_d);
}

/* --- mma.sp --- */

static bool known_sparse(const struct ir_tensor *t)
{
	const unsigned bytes = ptx_type_bytes(t->a), longer = t->k * bytes == 64;
	if (t->m != 16 || t->n != 8 || (!longer && t->k * bytes != 32))
		return false;
	switch (t->a) {
	case PTX_F16: return t->b == t->a && t->c == t->d && (t->d == PTX_F16 || t->d == PTX_F32);
	case PTX_BF16:
	case PTX_TF32: return t->b == t->a && t->c == PTX_F32 && t->d == PTX_F32;
	case PTX_S8:
	case PTX_U8: return (t->b == PTX_S8 || t->b == PTX_U8) && t->c == PTX_S32 && t->d == PTX_S32;
	case PTX_E4M3:
	case PTX_E5M2:
		return longer && (t->b == PTX_E4M3 || t->b == PTX_E5M2) && t->c == t->d &&
		       (t->d == PTX_F16 || t->d == PTX_F32);
	default: return false;
	}
}

bool low_mma_sparse(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	struct ir_tensor t = product_of(l);
	if (!low_needs(l, t.a == PTX_E4M3 || t.a == PTX_E5M2 ? 89 : 80))
		return false;
	if (!known_sparse(&t))
		return low_refuse(l, "this shape or these types are not supported");
	const bool longer = t.k * ptx_type_bytes(t.a) == 64;
	const unsigned n_ab = longer ? 4 : 2, n_cd = t.d == PTX_F16 ? 2 : 4;
	const unsigned selectors = (longer ? 2u : 4u) >> (ptx_type_bytes(t.a) == 1);
	if (!have_registers(l, n_cd, n_ab, n_ab, n_cd))
		return false;
	if (in->opnd[5].i64 < 0 || in->opnd[5].i64 >= selectors)
		return low_refuse(l, "the sparsity selector of this shape is less than %u", selectors);
	t.kind = TENSOR_SPARSE;
	t.selector = (uint8_t)in->opnd[5].i64;
	t.first_e = fixed_registers(l, 1);
	low_op1(l, E_mov_b32, t.first_e, low_src(l, 4, 4));
	t.n_a = t.n_b = (uint8_t)n_ab;
	t.n_c = (uint8_t)n_cd;
	return multiply(l, &t, n_cd);
}

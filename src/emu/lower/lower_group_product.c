/*
 * Products of a warp group, of PTX (wgmma, PTX ISA 9.0, 9.7.15) and of machine code (HGMMA, IGMMA,
 * QGMMA, BGMMA). The rows of A and D are shared out among its four warps, 16 each, in fragments as
 * mma.sync has them. Hence a product of m64nNk is N / 8 products m16n8k of each warp, with
 * fragments of A and B read from shared memory (vm/matrix.c) and the sums where they are.
 */
#include "emu/lower/build.h"

#include "base/mem.h"

static bool float8(enum ptx_type t)
{
	return t == PTX_E4M3 || t == PTX_E5M2;
}

static bool known_bits(const struct group_product *p)
{
	return p->bits == ATOM_AND && p->a == PTX_B1 && p->b == PTX_B1 && p->d == PTX_S32 &&
	       p->k == 256 && !p->sparse;
}

static bool known_types(const struct group_product *p)
{
	const unsigned k = p->sparse ? p->k / 2 : p->k;
	if (p->bits != ATOM_NONE || p->a == PTX_B1)
		return known_bits(p);
	if (float8(p->a))
		return float8(p->b) && k == 32 && (p->d == PTX_F32 || p->d == PTX_F16);
	if (p->a == PTX_S8 || p->a == PTX_U8)
		return (p->b == PTX_S8 || p->b == PTX_U8) && p->d == PTX_S32 && k == 32;
	if (p->a != p->b)
		return false;
	if (p->a == PTX_TF32)
		return p->d == PTX_F32 && k == 8;
	return k == 16 && (p->d == PTX_F32 || (p->d == PTX_F16 && p->a == PTX_F16)) &&
	       (p->a == PTX_F16 || p->a == PTX_BF16);
}

const char *low_group_product_why(const struct group_product *p)
{
	if (p->n < 8 || p->n > 256 || p->n % 8 || !known_types(p))
		return "this shape or these types are not supported";
	if (p->sparse && p->selector >= (p->a == PTX_TF32 || ptx_type_bytes(p->a) == 2 ? 2 : 1))
		return "this shape has no such sparsity selector";
	if ((p->across_a || p->across_b) && ptx_type_bytes(p->a) != 2)
		return "only matrices of 16-bit elements can be transposed";
	return NULL;
}

unsigned low_group_sums(const struct group_product *p)
{
	return p->n / 8 * (p->d == PTX_F16 ? 2 : 4);
}

/* Of A and of B four each, of C four, and what says which elements A has. */
enum { PRODUCT_REGISTERS = 13 };

int32_t low_product_registers(struct lower *l)
{
	if (l->products)
		return l->products;
	for (unsigned i = 0; i < PRODUCT_REGISTERS; i++) {
		const int32_t t = low_temp(l, 4);
		l->ir->regs[t].fixed = true;
		l->products = i ? l->products : t;
	}
	return l->products;
}

void low_product(struct lower *l, const struct ir_tensor *t, unsigned n, const int32_t *d)
{
	struct ir *ir = l->ir;
	ir->tensors = mem_realloc(ir->tensors, ir->n_tensors + 1, sizeof *ir->tensors);
	ir->tensors[ir->n_tensors] = *t;
	struct xop *x = low_emit(l, X_TENSOR);
	x->target = (int32_t)ir->n_tensors++;
	x->n_d = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		x->d[i] = d[i];
}

/* Registers @to and @to + 1 from the matrix in memory. */
static void load_pair(struct lower *l, struct xsrc descriptor, struct matrix_place m, int32_t to)
{
	const struct xsrc arg[2] = { descriptor, src_const(matrix_pack(&m)) };
	const struct xsrc both = src_reg(low_system(l, SYSTEM_MATRIX, 2, arg));
	low_op1(l, E_trunc32, to, both);
	low_op1(l, E_hi32, to + 1, both);
}

static void change_signs(struct lower *l, enum ptx_type type, int32_t first, int32_t n)
{
	const uint64_t bits = type == PTX_TF32 ? 0x80000000u : 0x80008000u;
	for (int32_t i = first; i < first + n; i++)
		low_op2(l, E_xor_b32, i, src_reg(i), src_const(bits));
}

/* Products that one of 8-bit floats is made of: each of two of every four elements, as float16. */
static unsigned parts(const struct group_product *p)
{
	return float8(p->a) && !p->sparse ? 2 : 1;
}

static void load_a(struct lower *l, const struct group_product *p, const struct ir_tensor *t,
                   unsigned part)
{
	for (unsigned h = 0; h < 2 && !p->a_in_registers; h++) {
		const struct matrix_place m = { .k = (uint8_t)(16 * h),
			                            .of_a = true,
			                            .across = p->across_a,
			                            .floats8 = parts(p) > 1 ? p->a : PTX_NONE,
			                            .second = part };
		load_pair(l, p->matrix_a, m, t->first_a + 2 * (int32_t)h);
	}
	for (unsigned i = 0; i < 4 && p->a_in_registers; i++)
		low_op1(l, E_mov_b32, t->first_a + (int32_t)i,
		        parts(p) > 1 ? low_fp8_pair(l, p->a, p->from[i], part) : p->from[i]);
	if (p->minus_a)
		change_signs(l, t->a, t->first_a, 4);
}

static void load_b(struct lower *l, const struct group_product *p, const struct ir_tensor *t,
                   unsigned part, unsigned column)
{
	struct matrix_place m = { .row = (uint8_t)column,
		                      .across = p->across_b,
		                      .floats8 = parts(p) > 1 ? p->b : PTX_NONE,
		                      .second = part };
	load_pair(l, p->matrix_b, m, t->first_b);
	if (p->sparse) { /* twice as many as A has */
		m.k = 32;
		load_pair(l, p->matrix_b, m, t->first_b + 2);
	}
	if (p->minus_b)
		change_signs(l, t->b, t->first_b, t->n_b);
}

/* Eight columns of D from register @at of its list on: D = A B + D, or A B where nothing is kept.
 * @again: D holds a first part of it. */
static void multiply(struct lower *l, const struct group_product *p, const struct ir_tensor *t,
                     unsigned at, bool again)
{
	const struct xsrc keep = p->keep;
	for (unsigned i = 0; i < t->n_c; i++) {
		const int32_t to = t->first_c + (int32_t)i, from = again ? p->to[at + i] : p->sums[at + i];
		const struct xsrc old = from >= 0 ? src_reg(from) : src_const(0);
		if (again || keep.kind == S_CONST)
			low_op1(l, E_mov_b32, to, again || keep.value ? old : src_const(0));
		else
			low_select(l, to, 4, old, src_const(0), keep);
	}
	low_product(l, t, t->n_c, p->to + at);
}

void low_group_product(struct lower *l, const struct group_product *p)
{
	const bool small = parts(p) > 1;
	const int32_t first = low_product_registers(l);
	const struct ir_tensor t = {
		.kind = p->sparse        ? TENSOR_SPARSE
		        : p->a == PTX_B1 ? TENSOR_AND
		                         : TENSOR_DENSE,
		.m = 16,
		.n = 8,
		.k = (uint16_t)(small ? 16 : p->k),
		.selector = (uint8_t)p->selector,
		.saturate = p->saturate,
		.d = p->d,
		.a = small ? PTX_F16 : p->a,
		.b = small ? PTX_F16 : p->b,
		.c = p->d,
		.first_a = first,
		.first_b = first + 4,
		.first_c = first + 8,
		.first_e = first + 12,
		.n_a = 4,
		.n_b = p->sparse ? 4 : 2,
		.n_c = p->d == PTX_F16 ? 2 : 4,
	};
	if (p->sparse)
		low_op1(l, E_mov_b32, t.first_e, p->which);
	for (unsigned part = 0; part < parts(p); part++) {
		load_a(l, p, &t, part);
		for (unsigned column = 0; column < p->n; column += 8) {
			load_b(l, p, &t, part, column);
			multiply(l, p, &t, column / 8 * t.n_c, part);
		}
	}
}

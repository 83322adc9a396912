/*
 * Products of a warp group: wgmma (PTX ISA 9.0, 9.7.15). The rows of A and D are shared out among
 * its four warps, 16 each, in fragments as mma.sync has them. Hence a product of m64nNk is N / 8
 * products m16n8k of each warp, with fragments of A and B read from shared memory (vm/matrix.c) and
 * the sums where they are.
 *
 * It is done at once. wgmma.wait_group waits for the other three warps, since one thread then tells
 * for all four that the memory is free.
 */
#include "emu/lower/lower_inst.h"

#include "base/mem.h"

struct product {
	struct ir_tensor t;
	bool a_in_registers, small; /* small: 8-bit floats, as two products of float16 */
	enum ptx_type type[2];      /* of A and B as written */
	unsigned per_eight;         /* registers of D for eight columns */
};

static bool float8(enum ptx_type t)
{
	return t == PTX_E4M3 || t == PTX_E5M2;
}

static bool known_types(const struct ptx_mma *m)
{
	const enum ptx_type d = m->types[0], a = m->types[1], b = m->types[2];
	if (float8(a))
		return float8(b) && m->k == 32 && (d == PTX_F32 || d == PTX_F16);
	if (a == PTX_S8 || a == PTX_U8)
		return (b == PTX_S8 || b == PTX_U8) && d == PTX_S32 && m->k == 32;
	if (a != b)
		return false;
	if (a == PTX_TF32)
		return d == PTX_F32 && m->k == 8;
	return m->k == 16 && (d == PTX_F32 || (d == PTX_F16 && a == PTX_F16)) && type_half(a);
}

int32_t low_product_registers(struct lower *l)
{
	if (l->products)
		return l->products;
	for (unsigned i = 0; i < 10; i++) {
		const int32_t t = low_temp(l, 4);
		l->ir->regs[t].fixed = true;
		l->products = i ? l->products : t;
	}
	return l->products;
}

/* Registers @to and @to + 1 from the matrix in memory. */
static void load_pair(struct lower *l, struct xsrc descriptor, struct matrix_place m, int32_t to)
{
	const struct xsrc arg[2] = { descriptor, src_const(matrix_pack(&m)) };
	const struct xsrc both = src_reg(low_system(l, SYSTEM_MATRIX, 2, arg));
	low_op1(l, E_trunc32, to, both);
	low_op1(l, E_hi32, to + 1, both);
}

static void load_a(struct lower *l, const struct product *p, unsigned part, struct xsrc descriptor)
{
	const struct ptx_operand *a = &l->in->opnd[1];
	const int64_t signs = l->in->opnd[4].i64;
	const int32_t first = p->t.first_a;
	for (unsigned h = 0; h < 2 && !p->a_in_registers; h++) {
		const struct matrix_place m = { .k = (uint8_t)(16 * h),
			                            .of_a = true,
			                            .across = signs & 4,
			                            .floats8 = p->small ? p->type[0] : PTX_NONE,
			                            .second = part };
		load_pair(l, descriptor, m, first + 2 * (int32_t)h);
	}
	for (unsigned i = 0; i < 4 && p->a_in_registers; i++) {
		const struct xsrc v = a->vec[i] >= 0 ? src_reg(a->vec[i]) : src_const(0);
		low_op1(l, E_mov_b32, first + (int32_t)i,
		        p->small ? low_fp8_pair(l, p->type[0], v, part) : v);
	}
	for (unsigned i = 0; i < 4 && signs & 1; i++) {
		const uint64_t bits = p->t.a == PTX_TF32 ? 0x80000000u : 0x80008000u;
		low_op2(l, E_xor_b32, first + (int32_t)i, src_reg(first + (int32_t)i), src_const(bits));
	}
}

static void load_b(struct lower *l, const struct product *p, unsigned part, unsigned column,
                   struct xsrc descriptor)
{
	const int64_t signs = l->in->opnd[4].i64;
	const struct matrix_place m = { .row = (uint8_t)column,
		                            .across = signs & 8,
		                            .floats8 = p->small ? p->type[1] : PTX_NONE,
		                            .second = part };
	load_pair(l, descriptor, m, p->t.first_b);
	for (int32_t i = 0; i < 2 && signs & 2; i++) {
		const uint64_t bits = p->t.b == PTX_TF32 ? 0x80000000u : 0x80008000u;
		low_op2(l, E_xor_b32, p->t.first_b + i, src_reg(p->t.first_b + i), src_const(bits));
	}
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

/* Eight columns of D from register @d of its list on: D = A B + D, or A B where scale-d is false.
 * @again: D holds a first part of it. */
static void multiply(struct lower *l, const struct product *p, const int32_t *d, bool again)
{
	const struct xsrc keep = low_pred(l, 3);
	for (unsigned i = 0; i < p->per_eight; i++) {
		const int32_t to = p->t.first_c + (int32_t)i;
		const struct xsrc old = d[i] >= 0 ? src_reg(d[i]) : src_const(0);
		if (again || keep.kind == S_CONST)
			low_op1(l, E_mov_b32, to, again || keep.value ? old : src_const(0));
		else
			low_select(l, to, 4, old, src_const(0), keep);
	}
	low_product(l, &p->t, p->per_eight, d);
}

static bool plan(struct lower *l, struct product *p)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_mma *m = &in->mma;
	if (m->m != 64 || m->n < 8 || m->n > 256 || m->n % 8 || !known_types(m))
		return low_refuse(l, "this shape or these types are not supported");
	*p = (struct product){
		.a_in_registers = in->opnd[1].kind == OPND_VEC,
		.small = float8(m->types[1]),
		.type = { m->types[1], m->types[2] },
		.per_eight = m->types[0] == PTX_F16 ? 2 : 4,
	};
	const int32_t first = low_product_registers(l);
	p->t = (struct ir_tensor){
		.m = 16,
		.n = 8,
		.k = (uint8_t)(p->small ? 16 : m->k),
		.saturate = in->flags & PF_SATFINITE,
		.d = m->types[0],
		.a = p->small ? PTX_F16 : m->types[1],
		.b = p->small ? PTX_F16 : m->types[2],
		.c = m->types[0],
		.first_a = first,
		.first_b = first + 4,
		.first_c = first + 6,
		.n_a = 4,
		.n_b = 2,
		.n_c = (uint8_t)p->per_eight,
	};
	if (in->opnd[0].i64 != m->n / 8 * (int64_t)p->per_eight)
		return low_refuse(l, "D of this shape has %u registers", m->n / 8 * p->per_eight);
	if (p->a_in_registers && in->opnd[1].n_vec != 4)
		return low_refuse(l, "A has four registers");
	if ((in->opnd[4].i64 & 12) && ptx_type_bytes(m->types[1]) != 2)
		return low_refuse(l, "only matrices of 16-bit elements can be transposed");
	return true;
}

bool low_wgmma(struct lower *l)
{
	struct product p = { .per_eight = 0 };
	if (!low_needs(l, 90) || !plan(l, &p))
		return false;
	const struct xsrc a = p.a_in_registers ? src_const(0) : low_src(l, 1, 8), b = low_src(l, 2, 8);
	const int32_t *d = l->ir->func->lists + l->in->opnd[0].reg;
	for (unsigned part = 0; part < (p.small ? 2u : 1u); part++) {
		load_a(l, &p, part, a);
		for (unsigned column = 0; column < l->in->mma.n; column += 8) {
			load_b(l, &p, part, column, b);
			multiply(l, &p, d + column / 8 * p.per_eight, part);
		}
	}
	return !l->failed;
}

bool low_wgmma_commit(struct lower *l)
{
	low_emit(l, X_SYSTEM)->op = SYSTEM_GROUP_COMMIT;
	return true;
}

bool low_wgmma_wait(struct lower *l)
{
	struct xop *x = low_emit(l, X_SYSTEM);
	x->op = SYSTEM_GROUP_WAIT;
	x->n_s = 1;
	x->s[0] = src_const((uint64_t)l->in->opnd[0].i64);
	return true;
}

/*
 * Warp-level matrix instructions (PTX ISA 9.0, 9.7.14).
 *
 * Fragments lie in registers as the ISA draws them for mma.sync. With g = lane / 4 and t = lane %
 * 4, and e elements in a register of 32 bits (one of 64 bits): register r of A holds row g + 8 (r
 * mod R), columns e t .. e t + e - 1, + 4 e (r div R), where R is the rows / 8; B the same with k
 * for columns and n for rows; C and D hold row g + 8 rb, columns 2 t, 2 t + 1, + 8 nb. The ISA
 * leaves wmma's fragments open; here they are the same, repeated where it asks for more registers.
 *
 * Loads and stores become ordinary ones of each lane's elements; products are one operation
 * (vm/tensor.c) on copies of the registers.
 */
#include "emu/lower/lower_inst.h"

#include <assert.h>

/* --- lanes --- */

/* a * factor + b */
static struct xsrc scaled(struct lower *l, struct xsrc a, unsigned factor, unsigned b)
{
	const struct xsrc v = src_reg(low_op2(l, E_mul_lo_b32, -1, a, src_const(factor)));
	return src_reg(low_op2(l, E_add_b32, -1, v, src_const(b)));
}

/* --- ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16 bits --- */

static const struct ptx_operand *vector_reg(const struct ptx_operand *o, unsigned i, int32_t *reg)
{
	*reg = o->kind == OPND_VEC ? (i < o->n_vec ? o->vec[i] : -1) : i == 0 ? o->reg : -1;
	return o;
}

static struct xsrc half_of(struct lower *l, struct xsrc word, unsigned which)
{
	if (which)
		return src_reg(low_op2(l, E_shr_u32, -1, word, src_const(16)));
	return src_reg(low_op1(l, E_ext_u16, -1, word));
}

/* Address of the row that lane 8 matrix + @row names. */
static struct xsrc row_address(struct lower *l, struct xsrc address, unsigned matrix,
                               struct xsrc row)
{
	return low_from_lane(l, address, scaled(l, row, 1, 8 * matrix));
}

/* The access just made is of a matrix; all of an instruction are one request. */
static void of_matrix(struct lower *l, bool first)
{
	struct xop *x = &l->ir->ops[l->ir->n_ops - 1];
	x->matrix = true;
	x->same_request = !first;
}

bool low_ldmatrix(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool trans = in->flags & PF_TRANS;
	if (in->mma.m != 8 || in->mma.n != 8)
		return low_refuse(l, "only the shape m8n8 is supported");
	const struct lanes at = low_lane_parts(l);
	const struct xsrc address = low_shared_offset(l, 1);
	int32_t value[4];
	for (unsigned i = 0; i < in->mma.count; i++) {
		if (!trans) {
			const struct xsrc row = row_address(l, address, i, at.g);
			const struct xsrc by = scaled(l, at.t, 4, 0);
			const struct xsrc a = src_reg(low_op2(l, E_add_b32, -1, row, by));
			value[i] = low_load(l, SPACE_SHARED, a, 0, PTX_B32);
			of_matrix(l, i == 0);
			continue;
		}
		struct xsrc part[2];
		for (unsigned j = 0; j < 2; j++) {
			const struct xsrc row = row_address(l, address, i, scaled(l, at.t, 2, j));
			const struct xsrc by = scaled(l, at.g, 2, 0);
			const struct xsrc a = src_reg(low_op2(l, E_add_b32, -1, row, by));
			part[j] = src_reg(low_load(l, SPACE_SHARED, a, 0, PTX_U16));
			of_matrix(l, i + j == 0);
		}
		value[i] = low_op2(l, E_pack32, -1, part[0], part[1]);
	}
	for (unsigned i = 0; i < in->mma.count; i++) {
		int32_t d;
		vector_reg(&in->opnd[0], i, &d);
		if (d >= 0)
			low_op1(l, E_mov_b32, d, src_reg(value[i]));
	}
	return !l->failed;
}

bool low_stmatrix(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const bool trans = in->flags & PF_TRANS;
	if (in->mma.m != 8 || in->mma.n != 8)
		return low_refuse(l, "only the shape m8n8 is supported");
	const struct lanes at = low_lane_parts(l);
	const struct xsrc address = low_shared_offset(l, 0);
	for (unsigned i = 0; i < in->mma.count; i++) {
		int32_t reg;
		vector_reg(&in->opnd[1], i, &reg);
		const struct xsrc value = reg >= 0 ? src_reg(reg) : src_const(0);
		for (unsigned j = 0; j < (trans ? 2u : 1u); j++) {
			const struct xsrc row =
				row_address(l, address, i, trans ? scaled(l, at.t, 2, j) : at.g);
			const struct xsrc by = scaled(l, trans ? at.g : at.t, trans ? 2 : 4, 0);
			const struct xsrc a = src_reg(low_op2(l, E_add_b32, -1, row, by));
			low_store(l, SPACE_SHARED, a, 0, trans ? PTX_U16 : PTX_B32,
			          trans ? half_of(l, value, j) : value);
			of_matrix(l, i + j == 0);
		}
	}
	return !l->failed;
}

/* Element (2 t + j, g) comes from lane 4 (2 t + j) + g / 2, its half g % 2. */
bool low_movmatrix(struct lower *l)
{
	const struct lanes at = low_lane_parts(l);
	const struct xsrc value = low_src(l, 1, 4);
	const struct xsrc column = src_reg(low_op2(l, E_shr_u32, -1, at.g, src_const(1)));
	const struct xsrc odd = src_reg(low_op2(l, E_and_b32, -1, at.g, src_const(1)));
	const struct xsrc shift = scaled(l, odd, 16, 0);
	struct xsrc part[2];
	for (unsigned j = 0; j < 2; j++) {
		const struct xsrc row = scaled(l, scaled(l, at.t, 2, j), 4, 0);
		const struct xsrc lane = src_reg(low_op2(l, E_add_b32, -1, row, column));
		const struct xsrc word = low_from_lane(l, value, lane);
		part[j] = src_reg(low_op2(l, E_shr_u32, -1, word, shift));
	}
	low_op2(l, E_pack32, low_dst(l, 0), part[0], part[1]);
	return !l->failed;
}

/* --- fragments in memory --- */

/* One register of a fragment: elements (row, column + j) or, for B, (column + j, row). */
struct piece {
	unsigned row, column; /* added to those of the lane */
	unsigned count;       /* elements in it */
};

struct fragment {
	unsigned bytes, each; /* of an element; elements in a register */
	unsigned blocks;      /* of eight rows (of eight columns: B) */
	unsigned registers;   /* that differ */
	bool sum;             /* C or D */
	bool swapped;         /* B: rows of the lanes are its columns */
};

static struct fragment fragment_of(const struct ptx_mma *m, char which, enum ptx_type type)
{
	struct fragment f = { .bytes = ptx_type_bytes(type) };
	f.sum = which == 'c' || which == 'd';
	f.swapped = which == 'b';
	f.each = f.bytes >= 4 ? 1 : 4 / f.bytes;
	f.blocks = (f.swapped ? m->n : m->m) / 8u;
	if (f.sum)
		f.registers = (unsigned)(m->m * m->n) / 32 / f.each;
	else
		f.registers = f.blocks * m->k / (4 * f.each);
	return f;
}

static struct piece piece_of(const struct fragment *f, unsigned r)
{
	if (!f->sum)
		return (struct piece){ 8 * (r % f->blocks), 4 * f->each * (r / f->blocks), f->each };
	const unsigned pair = f->each == 2 ? r : r / 2, second = f->each == 2 ? 0 : r % 2;
	return (struct piece){ 8 * (pair % f->blocks), 8 * (pair / f->blocks) + second, f->each };
}

/* Where a lane's elements begin, and what lies between neighbours in a register. */
struct placed {
	struct xsrc address; /* 64 bits */
	bool together;       /* a register's elements lie side by side in memory */
};

/* Address of element (row + r0, column + c0) of the fragment, @major: rows lie apart by stride. */
static struct xsrc element(struct lower *l, const struct lanes *at, const struct fragment *f,
                           const struct piece *p, unsigned j, struct xsrc base, struct xsrc stride,
                           bool row_major)
{
	const struct xsrc row = scaled(l, at->g, 1, p->row);
	const struct xsrc column = scaled(l, at->t, f->sum ? 2 : f->each, p->column + j);
	const bool first = f->swapped ? !row_major : row_major; /* the lanes' rows lie apart */
	const struct xsrc far = first ? row : column, near = first ? column : row;
	const struct xsrc lines = src_reg(low_op2(l, E_mul_wide_u32, -1, far, stride));
	const struct xsrc by = src_reg(low_op2(l, E_mul_wide_u32, -1, near, src_const(f->bytes)));
	const struct xsrc a = src_reg(low_op2(l, E_add_b64, -1, base, lines));
	return src_reg(low_op2(l, E_add_b64, -1, a, by));
}

static bool elements_together(const struct fragment *f, bool row_major)
{
	return f->each > 1 && (f->swapped ? !row_major : row_major);
}

/* Elements from one line of the matrix to the next, times their bytes. */
static struct xsrc stride_bytes(struct lower *l, unsigned operand, const struct fragment *f,
                                char which, bool row_major)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_mma *m = &in->mma;
	if (in->n_opnds > operand && in->opnd[operand].kind != OPND_NONE)
		return scaled(l, low_src(l, operand, 4), f->bytes, 0);
	const unsigned rows = which == 'b' ? m->k : m->m, columns = which == 'a' ? m->k : m->n;
	return src_const((row_major ? columns : rows) * f->bytes);
}

static bool supported_wmma(struct lower *l, enum ptx_type type)
{
	const unsigned bytes = ptx_type_bytes(type);
	if (type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64 ||
	    type == PTX_S32 || type == PTX_TF32 || bytes == 1)
		return true;
	return low_refuse(l, "fragments of .%s are not supported", ptx_type_name(type));
}

static bool known_fragment(struct lower *l, const struct fragment *f)
{
	if (f->registers > 0 && f->registers <= 8)
		return true;
	return low_refuse(l, "this shape is not supported");
}

bool low_wmma_load(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct fragment f = fragment_of(&in->mma, in->mma.frag, in->type);
	const bool row_major = !in->mma.a_col, together = elements_together(&f, row_major);
	const enum ptx_type one = f.bytes == 1 ? PTX_U8 : f.bytes == 2 ? PTX_U16 : in->type;
	int32_t value[8];
	if (type_small(in->type))
		return low_wmma_load_small(l);
	if (!supported_wmma(l, in->type))
		return false;
	if (!known_fragment(l, &f))
		return false;
	if (in->opnd[0].kind == OPND_VEC && in->opnd[0].n_vec % f.registers)
		return low_refuse(l, "a fragment of this shape has %u registers", f.registers);
	const struct lanes at = low_lane_parts(l);
	const struct xsrc base = low_wide_address(l, 1);
	const struct xsrc stride = stride_bytes(l, 2, &f, in->mma.frag, row_major);
	for (unsigned r = 0; r < f.registers; r++) {
		const struct piece p = piece_of(&f, r);
		if (together || p.count == 1) {
			const struct xsrc a = element(l, &at, &f, &p, 0, base, stride, row_major);
			const enum ptx_type t = f.bytes == 8 ? PTX_F64 : PTX_B32;
			value[r] = low_load(l, in->space, a, 0, t);
			continue;
		}
		value[r] = low_op1(l, E_mov_b32, -1, src_const(0));
		for (unsigned j = 0; j < p.count; j++) {
			const struct xsrc a = element(l, &at, &f, &p, j, base, stride, row_major);
			const struct xsrc v = src_reg(low_load(l, in->space, a, 0, one));
			low_op4(l, E_bfi_b32, value[r], v, src_reg(value[r]), src_const(8 * f.bytes * j),
			        src_const(8 * f.bytes));
		}
	}
	assert(f.registers);
	for (unsigned i = 0; i < (in->opnd[0].kind == OPND_VEC ? in->opnd[0].n_vec : 1u); i++) {
		int32_t d;
		vector_reg(&in->opnd[0], i, &d);
		if (d >= 0)
			low_op1(l, f.bytes == 8 ? E_mov_b64 : E_mov_b32, d, src_reg(value[i % f.registers]));
	}
	return !l->failed;
}

bool low_wmma_store(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct fragment f = fragment_of(&in->mma, in->mma.frag, in->type);
	const bool row_major = !in->mma.a_col, together = elements_together(&f, row_major);
	if (!supported_wmma(l, in->type) || !known_fragment(l, &f))
		return false;
	const struct lanes at = low_lane_parts(l);
	const struct xsrc base = low_wide_address(l, 0);
	const struct xsrc stride = stride_bytes(l, 2, &f, in->mma.frag, row_major);
	/* two sums of a lane lie side by side, and are stored at once (STG.64) */
	const bool pairs = f.sum && f.bytes == 4 && row_major;
	for (unsigned r = 0; r < f.registers; r++) {
		const struct piece p = piece_of(&f, r);
		int32_t reg;
		vector_reg(&in->opnd[1], r, &reg);
		if (pairs && r % 2) {
			struct xop *x = &l->ir->ops[l->ir->n_ops - 1];
			x->vec = 2;
			x->s[x->n_s++] = reg >= 0 ? src_reg(reg) : src_const(0);
			continue;
		}
		const struct xsrc value = reg >= 0 ? src_reg(reg) : src_const(0);
		for (unsigned j = 0; j < (together ? 1 : p.count); j++) {
			const struct xsrc a = element(l, &at, &f, &p, j, base, stride, row_major);
			if (f.bytes == 2 && !together)
				low_store(l, in->space, a, 0, PTX_U16, half_of(l, value, j));
			else
				low_store(l, in->space, a, 0, f.bytes == 8 ? PTX_F64 : PTX_B32, value);
		}
	}
	return !l->failed;
}

/* --- products --- */

/* A copy of each register of a fragment, where the product finds it. */
static int32_t copy_fragment(struct lower *l, const struct ptx_operand *o, unsigned n,
                             unsigned bytes)
{
	int32_t first = -1;
	for (unsigned i = 0; i < n; i++) {
		const int32_t t = low_temp(l, bytes);
		l->ir->regs[t].fixed = true;
		first = first < 0 ? t : first;
	}
	for (unsigned i = 0; i < n; i++) {
		int32_t reg;
		vector_reg(o, i, &reg);
		low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, first + (int32_t)i,
		        reg >= 0 ? low_resize(l, src_reg(reg), low_reg_bytes(l, reg), bytes)
		                 : src_const(0));
	}
	return first;
}

static bool known_product(const struct ir_tensor *t)
{
	const bool halves = t->a == PTX_F16 || t->a == PTX_BF16 || t->a == PTX_TF32;
	if (halves)
		return t->a == t->b && (t->d == PTX_F32 || (t->d == PTX_F16 && t->a == PTX_F16));
	if (t->a == PTX_F64)
		return t->d == PTX_F64;
	return (t->a == PTX_S8 || t->a == PTX_U8) && t->d == PTX_S32;
}

/* Eights of rows and columns, and whole registers of A and B in one multiplication. */
static bool known_shape(const struct ptx_mma *m, enum ptx_type a)
{
	const unsigned bytes = ptx_type_bytes(a), most = bytes == 1 ? 32 : 16;
	return m->m % 8 == 0 && m->n % 8 == 0 && m->m <= 32 && m->n <= 32 && m->k <= most &&
	       m->k * bytes % (a == PTX_F64 ? 32 : 16) == 0;
}

static bool dense_product(struct lower *l)
{
	const struct ptx_inst *in = l->in;
	const struct ptx_mma *m = &in->mma;
	struct ir_tensor t = { .m = (uint8_t)m->m,
		                   .n = (uint8_t)m->n,
		                   .k = (uint8_t)m->k,
		                   .d = m->types[0],
		                   .a = m->types[1],
		                   .b = m->types[2],
		                   .c = m->types[3],
		                   .saturate = in->flags & PF_SATFINITE };
	if (in->op == OP_WMMA_MMA && t.a == PTX_NONE)
		t.a = t.b = PTX_F16;
	if (!known_product(&t) || !known_shape(m, t.a))
		return low_refuse(l, "this shape or these types are not supported");
	const struct fragment a = fragment_of(m, 'a', t.a), b = fragment_of(m, 'b', t.b),
						  c = fragment_of(m, 'c', t.c), d = fragment_of(m, 'd', t.d);
	if (a.registers > 8 || b.registers > 8 || c.registers > 8 || d.registers > 8)
		return low_refuse(l, "this shape is not supported");
	if (in->opnd[0].kind == OPND_VEC && in->opnd[0].n_vec != d.registers)
		return low_refuse(l, "D of this shape has %u registers", d.registers);
	t.first_a = copy_fragment(l, &in->opnd[1], a.registers, a.bytes == 8 ? 8 : 4);
	t.first_b = copy_fragment(l, &in->opnd[2], b.registers, b.bytes == 8 ? 8 : 4);
	t.first_c = copy_fragment(l, &in->opnd[3], c.registers, c.bytes == 8 ? 8 : 4);
	t.n_a = (uint8_t)a.registers;
	t.n_b = (uint8_t)b.registers;
	t.n_c = (uint8_t)c.registers;
	int32_t to[8], made[8];
	for (unsigned i = 0; i < d.registers; i++) {
		vector_reg(&in->opnd[0], i, &to[i]);
		made[i] = to[i] < 0 || low_reg_bytes(l, to[i]) == (d.bytes == 8 ? 8u : 4u)
		              ? to[i]
		              : low_temp(l, d.bytes == 8 ? 8 : 4);
	}
	low_product(l, &t, d.registers, made);
	return !l->failed;
}

bool low_mma(struct lower *l)
{
	const struct ptx_mma *m = &l->in->mma;
	const enum ptx_type a = m->types[1];
	if (a == PTX_E4M3 || a == PTX_E5M2)
		return low_mma_fp8(l);
	if (type_small(a))
		return low_mma_small(l);
	if (l->in->op == OP_MMA && m->m == 8 && m->k == 4 && a == PTX_F16)
		return low_mma_quads(l);
	return dense_product(l);
}

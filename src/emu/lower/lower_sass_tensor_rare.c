/*
 * Products of matrices in machine code that few programs have: with a sparse A, of elements of four
 * bits and of one, of 8-bit floats, of Volta's quads. As PTX's are done (lower_mma_rare.c,
 * lower_mma_fp8.c).
 */
#include "emu/lower/sass_lower.h"

/* HMMA.SP.16832.F32 D, A, B, C, which elements of A these are, 0x1: lanes that say it. */
bool sl_sparse_product(struct sass_lower *s, struct ir_tensor t)
{
	const struct sass_operand *which = sl_src_operand(s, 3), *lanes = sl_src_operand(s, 4);
	const unsigned k_bytes = t.k * ptx_type_bytes(t.a);
	if (!which || which->kind != SASS_OPND_REG || !lanes || lanes->kind != SASS_OPND_INT ||
	    (k_bytes != 32 && k_bytes != 64))
		return sl_refuse(s, "this product of matrices");
	t.kind = TENSOR_SPARSE;
	t.selector = (uint8_t)lanes->value;
	t.n_a = t.n_b = k_bytes == 64 ? 4 : 2;
	t.n_c = t.d == PTX_F16 ? 2 : 4;
	t.first_e = sl_fragment(s, which, 1, 4);
	return sl_product(s, t, NULL);
}

/* C, of which one pair of registers is named: @pair of @n registers, the others 0. */
static int32_t one_pair_of(struct sass_lower *s, const struct sass_operand *o, unsigned pair,
                           unsigned n)
{
	const struct sass_operand none = { .kind = SASS_OPND_REG, .reg = SASS_RZ };
	const int32_t first = sl_fragment(s, &none, n, 4);
	for (unsigned i = 0; i < 2 && o->reg != SASS_RZ; i++)
		low_op1(&s->l, E_mov_b32, first + (int32_t)(2 * pair + i),
		        src_reg(sl_reg(s, SASS_OPND_REG, o->reg + i)));
	return first;
}

/* HMMA.884.F32.F32.STEP0 to 3: each makes a pair of the eight registers of D, or (F16) of the four,
 * which PTX's mma.m8n8k4 makes at once. Elements of a pair depend on those of one pair of C. */
bool sl_quads_product(struct sass_lower *s)
{
	const struct sass_operand *o[3] = { sl_src_operand(s, 0), sl_src_operand(s, 1),
		                                sl_src_operand(s, 2) };
	const bool wide = s->i->n_mods > 1 && s->i->mods[1] == SASS_MOD_F32;
	const bool wide_c = s->i->n_mods > 2 && s->i->mods[2] == SASS_MOD_F32;
	const unsigned step = sl_has(s, SASS_MOD_STEP3)   ? 3
	                      : sl_has(s, SASS_MOD_STEP2) ? 2
	                      : sl_has(s, SASS_MOD_STEP1) ? 1
	                                                  : 0;
	for (unsigned k = 0; k < 3; k++)
		if (!o[k] || o[k]->kind != SASS_OPND_REG)
			return sl_refuse(s, "this product of matrices");
	if ((!wide && (wide_c || step > 1)) || s->guard >= 0)
		return sl_refuse(s, "this product of matrices");
	struct ir_tensor t = {
		.kind = TENSOR_QUADS,
		.m = 8,
		.n = 8,
		.k = 4,
		.d = wide ? PTX_F32 : PTX_F16,
		.a = PTX_F16,
		.b = PTX_F16,
		.c = wide_c ? PTX_F32 : PTX_F16,
		.a_col = o[0]->sel == SASS_MOD_COL,
		.b_col = o[1]->sel == SASS_MOD_COL,
		.n_a = 2,
		.n_b = 2,
		.n_c = wide_c ? 8 : 4,
	};
	t.first_a = sl_fragment(s, o[0], 2, 4);
	t.first_b = sl_fragment(s, o[1], 2, 4);
	t.first_c = one_pair_of(s, o[2], wide && !wide_c ? step / 2 : step, t.n_c);
	int32_t made[8];
	const unsigned n = wide ? 8 : 4;
	for (unsigned i = 0; i < n; i++)
		made[i] = low_temp(&s->l, 4);
	low_product(&s->l, &t, n, made);
	for (unsigned i = 0; i < 2; i++)
		sl_set1(s, sl_dst(s, i), E_mov_b32, src_reg(made[2 * step + i]));
	return true;
}

/* A or B of four bits an element, as bytes: @blocks of eight rows, @n registers before. */
static int32_t widened(struct sass_lower *s, const struct sass_operand *o, unsigned n,
                       unsigned blocks, enum ptx_type type)
{
	const struct sass_operand none = { .kind = SASS_OPND_REG, .reg = SASS_RZ };
	const int32_t first = sl_fragment(s, &none, 2 * n, 4);
	for (unsigned i = 0; i < n; i++)
		for (unsigned odd = 0; odd < 2; odd++) {
			const unsigned at = i % blocks + blocks * (2 * (i / blocks) + odd);
			const int32_t r = o->reg == SASS_RZ ? -1 : sl_reg(s, SASS_OPND_REG, o->reg + i);
			low_bytes_of_halves(&s->l, first + (int32_t)at, r < 0 ? src_const(0) : src_reg(r), type,
			                    odd);
		}
	return first;
}

bool sl_small_product(struct sass_lower *s, struct ir_tensor t)
{
	const struct sass_operand *a = sl_src_operand(s, 0), *b = sl_src_operand(s, 1);
	const unsigned rows = t.m / 8u, n_b = t.k / 32u;
	if (!a || !b || a->kind != SASS_OPND_REG || b->kind != SASS_OPND_REG || !n_b ||
	    (t.m == 8 && n_b != 1))
		return sl_refuse(s, "this product of matrices");
	const int32_t ab[2] = { widened(s, a, rows * n_b, rows, t.a), widened(s, b, n_b, 1, t.b) };
	t.n_a = (uint8_t)(2 * rows * n_b);
	t.n_b = (uint8_t)(2 * n_b);
	t.n_c = (uint8_t)(2 * rows);
	t.a = t.a == PTX_S4 ? PTX_S8 : PTX_U8;
	t.b = t.b == PTX_S4 ? PTX_S8 : PTX_U8;
	return sl_product(s, t, ab);
}

/* BMMA.168256.AND.POPC: how many bits both have; XOR: how many differ. */
bool sl_bmma(struct sass_lower *s)
{
	const bool large = sl_has(s, SASS_MOD_168256) || sl_has(s, SASS_MOD_168128);
	const uint8_t n_b = sl_has(s, SASS_MOD_168256) ? 2 : 1, rows = large ? 2 : 1;
	const bool both = sl_has(s, SASS_MOD_AND);
	if ((!large && !sl_has(s, SASS_MOD_88128)) || !sl_has(s, SASS_MOD_POPC) ||
	    both == sl_has(s, SASS_MOD_XOR))
		return sl_refuse(s, "this product of matrices");
	const struct ir_tensor t = {
		.kind = both ? TENSOR_AND : TENSOR_XOR,
		.m = (uint8_t)(8 * rows),
		.n = 8,
		.k = (uint16_t)(128 * n_b),
		.d = PTX_S32,
		.a = PTX_B1,
		.b = PTX_B1,
		.c = PTX_S32,
		.n_a = (uint8_t)(rows * n_b),
		.n_b = n_b,
		.n_c = (uint8_t)(2 * rows),
	};
	return sl_product(s, t, NULL);
}

/* The types of A and B behind that of the sums. */
static bool eight_bit_types(const struct sass_lower *s, enum ptx_type type[2])
{
	unsigned n = 0;
	for (unsigned k = 0; k < s->i->n_mods; k++) {
		const enum sass_mod m = s->i->mods[k];
		if ((m == SASS_MOD_E4M3 || m == SASS_MOD_E5M2) && n < 2)
			type[n++] = m == SASS_MOD_E4M3 ? PTX_E4M3 : PTX_E5M2;
	}
	return n == 2;
}

static bool in_registers(const struct sass_operand *const o[3])
{
	for (unsigned i = 0; i < 3; i++)
		if (!o[i] || o[i]->kind != SASS_OPND_REG)
			return false;
	return true;
}

/* QMMA.16832.F32.E4M3.E4M3, QMMA.16816: two products of float16, each of two of the four elements
 * of every register. */
bool sl_qmma(struct sass_lower *s)
{
	const struct sass_operand *o[3] = { sl_src_operand(s, 0), sl_src_operand(s, 1),
		                                sl_src_operand(s, 2) };
	enum ptx_type type[2];
	const bool wide = sl_has(s, SASS_MOD_F32);
	const unsigned sums = wide ? 4 : 2;
	const unsigned k = sl_has(s, SASS_MOD_16832)   ? 32
	                   : sl_has(s, SASS_MOD_16816) ? 16
	                   : sl_has(s, SASS_MOD_16864) ? 64
	                                               : 0;
	if (!in_registers(o) || !k || sl_has(s, SASS_MOD_SP) != (k == 64) ||
	    !eight_bit_types(s, type) || (!wide && !sl_has(s, SASS_MOD_F16)) || s->guard >= 0)
		return sl_refuse(s, "this product of matrices");
	const enum ptx_type sum = wide ? PTX_F32 : PTX_F16;
	if (k == 64)
		return sl_sparse_product(
			s, (struct ir_tensor){
				   .m = 16, .n = 8, .k = 64, .d = sum, .a = type[0], .b = type[1], .c = sum });
	const unsigned n_a = k / 8, n_b = k / 16;
	const int32_t first = low_product_registers(&s->l);
	const struct ir_tensor t = {
		.m = 16,
		.n = 8,
		.k = (uint16_t)(k / 2),
		.d = sum,
		.a = PTX_F16,
		.b = PTX_F16,
		.c = sum,
		.first_a = first,
		.first_b = first + 4,
		.first_c = first + 6,
		.n_a = (uint8_t)n_a,
		.n_b = (uint8_t)n_b,
		.n_c = (uint8_t)sums,
	};
	int32_t half[4], to[4];
	for (unsigned i = 0; i < sums; i++) {
		half[i] = low_temp(&s->l, 4);
		to[i] = sl_dst(s, i);
	}
	for (unsigned part = 0; part < 2; part++) {
		for (unsigned i = 0; i < n_a + n_b; i++) {
			const bool of_b = i >= n_a;
			const unsigned at = of_b ? i - n_a : i;
			const struct xsrc v = o[of_b]->reg == SASS_RZ
			                          ? src_const(0)
			                          : src_reg(sl_reg(s, SASS_OPND_REG, o[of_b]->reg + at));
			low_op1(&s->l, E_mov_b32, (of_b ? t.first_b : first) + (int32_t)at,
			        low_fp8_pair(&s->l, type[of_b], v, part));
		}
		for (unsigned i = 0; i < sums; i++) {
			const struct xsrc c = o[2]->reg == SASS_RZ
			                          ? src_const(0)
			                          : src_reg(sl_reg(s, SASS_OPND_REG, o[2]->reg + i));
			low_op1(&s->l, E_mov_b32, first + 6 + (int32_t)i, part ? src_reg(half[i]) : c);
		}
		low_product(&s->l, &t, sums, part ? to : half);
	}
	for (unsigned i = 0; i < sums; i++)
		sl_wrote(s, to[i]);
	return true;
}

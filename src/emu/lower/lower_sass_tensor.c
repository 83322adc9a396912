/*
 * Products of matrices in machine code, and what brings their fragments into registers. Fragments
 * lie as in PTX's mma.sync (lower_tensor.c): registers in a row from the one that is named.
 */
#include "emu/lower/sass_lower.h"

/* --- lanes --- */

struct lanes {
	struct xsrc g, t; /* lane / 4, lane % 4 */
};

static struct lanes lane_parts(struct sass_lower *s)
{
	const int32_t lane = low_temp(&s->l, 4);
	struct xop *x = low_emit(&s->l, X_SPECIAL);
	x->op = SR_LANEID;
	x->n_d = 1;
	x->d[0] = lane;
	return (struct lanes){ .g = sl_op2(s, E_shr_u32, src_reg(lane), src_const(2)),
		                   .t = sl_op2(s, E_and_b32, src_reg(lane), src_const(3)) };
}

/* a * factor + b */
static struct xsrc scaled(struct sass_lower *s, struct xsrc a, unsigned factor, unsigned b)
{
	return sl_op2(s, E_add_b32, sl_op2(s, E_mul_lo_b32, a, src_const(factor)), src_const(b));
}

/* A matrix of 8 x 8 halves turned over; element (2 t + j, g) comes from lane 4 (2 t + j) + g / 2,
 * its half g % 2. */
static struct xsrc turned(struct sass_lower *s, struct xsrc value, struct lanes at)
{
	const struct xsrc column = sl_op2(s, E_shr_u32, at.g, src_const(1));
	const struct xsrc shift = scaled(s, sl_op2(s, E_and_b32, at.g, src_const(1)), 16, 0);
	struct xsrc part[2];
	for (unsigned j = 0; j < 2; j++) {
		const struct xsrc lane = sl_op2(s, E_add_b32, scaled(s, at.t, 8, 4 * j), column);
		part[j] = sl_op2(s, E_shr_u32, low_from_lane(&s->l, value, lane), shift);
	}
	return sl_op2(s, E_pack32, part[0], part[1]);
}

/* Four elements of four bits, in the lower half, as bytes. */
static struct xsrc spread(struct sass_lower *s, struct xsrc v)
{
	v = sl_op2(s, E_or_b32, v, sl_op2(s, E_shl_b32, v, src_const(8)));
	v = sl_op2(s, E_and_b32, v, src_const(0x00ff00ff));
	v = sl_op2(s, E_or_b32, v, sl_op2(s, E_shl_b32, v, src_const(4)));
	return sl_op2(s, E_and_b32, v, src_const(0x0f0f0f0f));
}

/* MOVM.U4TO8.M832: 8 rows of 32 elements of four bits, lane 4 g + t with 8 t to 8 t + 7 of row g,
 * become bytes: 4 t to 4 t + 3 in the first register, 16 more in the second. */
static bool widen_row(struct sass_lower *s)
{
	const struct lanes at = lane_parts(s);
	const struct xsrc v = sl_bits(s, 0),
					  shift = scaled(s, sl_op2(s, E_and_b32, at.t, src_const(1)), 16, 0);
	const struct xsrc row =
		sl_op2(s, E_add_b32, scaled(s, at.g, 4, 0), sl_op2(s, E_shr_u32, at.t, src_const(1)));
	struct xsrc part[2];
	for (unsigned j = 0; j < 2; j++) {
		const struct xsrc from = low_from_lane(&s->l, v, scaled(s, row, 1, 2 * j));
		const struct xsrc four =
			sl_op2(s, E_and_b32, sl_op2(s, E_shr_u32, from, shift), src_const(0xffff));
		part[j] = spread(s, four);
	}
	for (unsigned j = 0; j < 2; j++)
		sl_set1(s, sl_dst(s, j), E_mov_b32, part[j]);
	return true;
}

bool sl_movm(struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_U4TO8) && sl_has(s, SASS_MOD_M832) && s->guard < 0)
		return widen_row(s);
	if (!sl_has(s, SASS_MOD_MT88) || !sl_has(s, SASS_MOD_16) || s->guard >= 0)
		return sl_refuse(s, "this form of a matrix moved");
	sl_set1(s, sl_dst(s, 0), E_mov_b32, turned(s, sl_bits(s, 0), lane_parts(s)));
	return true;
}

/* --- matrices in shared memory: LDSM, STSM --- */

/* One, two or four matrices of 8 x 8 halves; lane 8 i + r has the address of row r of matrix i. */
static bool known_matrices(const struct sass_lower *s)
{
	return sl_has(s, SASS_MOD_16) && (sl_has(s, SASS_MOD_M88) || sl_has(s, SASS_MOD_MT88)) &&
	       s->guard < 0;
}

static unsigned matrix_count(const struct sass_lower *s)
{
	return sl_has(s, SASS_MOD_4) ? 4 : sl_has(s, SASS_MOD_2) ? 2 : 1;
}

/* This lane's four bytes of matrix @i: part of one request, which all matrices are. */
static struct xop *matrix_access(struct sass_lower *s, enum xkind kind, struct xsrc address,
                                 struct lanes at, unsigned i)
{
	const struct xsrc row = low_from_lane(&s->l, address, scaled(s, at.g, 1, 8 * i));
	const struct xsrc place = sl_op2(s, E_add_b32, row, scaled(s, at.t, 4, 0));
	struct xop *x = sl_emit(s, kind);
	x->mem = (int32_t)s->l.ir->n_mem++;
	x->space = SPACE_SHARED;
	x->s[0] = place;
	x->n_s = 1;
	x->type = PTX_B32;
	x->bytes = 4;
	x->vec = 1;
	x->same_request = i > 0;
	x->matrix = true;
	return x;
}

bool sl_ldsm(struct sass_lower *s)
{
	int32_t value[4] = { -1, -1, -1, -1 };
	const unsigned n = matrix_count(s);
	struct xsrc address;
	if (!known_matrices(s) || !sl_shared_word(s, &address))
		return sl_refuse(s, "this form of matrices loaded");
	const struct lanes at = lane_parts(s);
	for (unsigned i = 0; i < n; i++) {
		value[i] = low_temp(&s->l, 4);
		struct xop *x = matrix_access(s, X_LD, address, at, i);
		x->n_d = 1;
		x->d[0] = value[i];
	}
	for (unsigned i = 0; i < n; i++)
		sl_set1(s, sl_dst(s, i), E_mov_b32,
		        sl_has(s, SASS_MOD_MT88) ? turned(s, src_reg(value[i]), at) : src_reg(value[i]));
	return true;
}

bool sl_stsm(struct sass_lower *s)
{
	const struct sass_operand *data = sl_data_operand(s, 0);
	const unsigned n = matrix_count(s);
	struct xsrc address, value[4] = { { .kind = S_NONE } };
	if (!known_matrices(s) || !data || !sl_shared_word(s, &address))
		return sl_refuse(s, "this form of matrices stored");
	const struct lanes at = lane_parts(s);
	for (unsigned i = 0; i < n; i++) {
		value[i] = sl_data_word(s, data, i);
		if (sl_has(s, SASS_MOD_MT88))
			value[i] = turned(s, value[i], at);
	}
	for (unsigned i = 0; i < n; i++) {
		struct xop *x = matrix_access(s, X_ST, address, at, i);
		x->n_s = 2;
		x->s[1] = value[i];
	}
	return true;
}

/* --- products --- */

/* HMMA.16816.F32.BF16: shape, type of C and D, type of A and B where it is not float16. */
bool sl_hmma(struct sass_lower *s)
{
	const enum ptx_type in = sl_has(s, SASS_MOD_BF16)   ? PTX_BF16
	                         : sl_has(s, SASS_MOD_TF32) ? PTX_TF32
	                                                    : PTX_F16;
	const enum ptx_type out = sl_has(s, SASS_MOD_F32) ? PTX_F32 : PTX_F16;
	const bool sparse = sl_has(s, SASS_MOD_SP);
	const uint8_t k = sl_has(s, SASS_MOD_16832)   ? 32
	                  : sl_has(s, SASS_MOD_16816) ? 16
	                  : sl_has(s, SASS_MOD_1688)  ? 8
	                  : sl_has(s, SASS_MOD_1684)  ? 4
	                                              : 0;
	const struct ir_tensor t = { .m = 16, .n = 8, .k = k, .d = out, .a = in, .b = in, .c = out };
	if (sl_has(s, SASS_MOD_884))
		return sl_quads_product(s);
	if (sparse && k >= 8)
		return sl_sparse_product(s, t);
	if (!k || k == 32 || (k == 4) > (in == PTX_TF32) || sparse)
		return sl_refuse(s, "this product of matrices");
	return sl_product(s, t, NULL);
}

/* IMMA.16832.S8.U8: shape, types of A and B. */
bool sl_imma(struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_type type;
	} types[] = { { SASS_MOD_S8, PTX_S8 },
		          { SASS_MOD_U8, PTX_U8 },
		          { SASS_MOD_S4, PTX_S4 },
		          { SASS_MOD_U4, PTX_U4 } };
	enum ptx_type type[2] = { PTX_NONE, PTX_NONE };
	unsigned n = 0;
	for (unsigned k = 0; k < s->i->n_mods; k++)
		for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
			if (s->i->mods[k] == types[i].mod && n < 2)
				type[n++] = types[i].type;
	const bool small = sl_has(s, SASS_MOD_8816) || sl_has(s, SASS_MOD_8832);
	const uint8_t k = sl_has(s, SASS_MOD_8816) || sl_has(s, SASS_MOD_16816)   ? 16
	                  : sl_has(s, SASS_MOD_8832) || sl_has(s, SASS_MOD_16832) ? 32
	                  : sl_has(s, SASS_MOD_16864)                             ? 64
	                                                                          : 0;
	const struct ir_tensor t = {
		.m = small ? 8 : 16,
		.n = 8,
		.k = k,
		.d = PTX_S32,
		.a = type[0],
		.b = type[1],
		.c = PTX_S32,
		.saturate = sl_has(s, SASS_MOD_SAT),
	};
	const bool four = type[0] == PTX_S4 || type[0] == PTX_U4;
	if (n < 2 || !k || (type[1] == PTX_S4 || type[1] == PTX_U4) != four)
		return sl_refuse(s, "this product of matrices");
	if (sl_has(s, SASS_MOD_SP))
		return four ? sl_refuse(s, "this product of matrices") : sl_sparse_product(s, t);
	if (four)
		return sl_small_product(s, t);
	if (k == 64 || (small && k == 32))
		return sl_refuse(s, "this product of matrices");
	return sl_product(s, t, NULL);
}

bool sl_dmma(struct sass_lower *s)
{
	if (!sl_has(s, SASS_MOD_8x8x4) && !sl_has(s, SASS_MOD_884))
		return sl_refuse(s, "this product of matrices");
	const struct ir_tensor t = {
		.m = 8,
		.n = 8,
		.k = 4,
		.d = PTX_F64,
		.a = PTX_F64,
		.b = PTX_F64,
		.c = PTX_F64,
	};
	return sl_product(s, t, NULL);
}

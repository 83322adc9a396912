/* Moves between registers and state spaces: mov, cvta, isspacep (PTX ISA 9.0, 9.7.9). */
#include "emu/lower/lower_inst.h"

#include "base/text.h"

/* d = {elements}: @total bytes taken apart. */
static bool unpack_vector(struct lower *l, unsigned total)
{
	const struct ptx_operand *d = &l->in->opnd[0];
	const unsigned each = total / d->n_vec;
	const struct xsrc a = low_src(l, 1, total > 4 ? 8 : 4);
	for (unsigned i = 0; i < d->n_vec; i++) {
		if (d->vec[i] < 0)
			continue;
		if (total == 8 && each == 4) {
			low_op1(l, i ? E_hi32 : E_trunc32, d->vec[i], a);
			continue;
		}
		struct xsrc w = a;
		if (total == 8)
			w = src_reg(low_op1(l, 8 * each * i >= 32 ? E_hi32 : E_trunc32, -1, a));
		const unsigned shift = 8 * each * i % 32;
		w = src_reg(low_op2(l, E_shr_u32, -1, w, src_const(shift)));
		low_op1(l, each == 2 ? E_ext_u16 : E_ext_u8, d->vec[i], w);
	}
	return !l->failed;
}

/* d = {elements} put together to @total bytes. */
static bool pack_vector(struct lower *l, unsigned total)
{
	const int32_t d = l->in->opnd[0].reg;
	const struct ptx_operand *s = &l->in->opnd[1];
	const unsigned each = total / s->n_vec;
	struct xsrc v[ARRAY_LEN(s->vec)];
	unsigned n = s->n_vec;
	for (unsigned i = 0; i < n; i++)
		v[i] = s->vec[i] < 0 ? src_const(0) : src_reg(s->vec[i]);
	if (each == 1) { /* pairs of bytes first */
		for (unsigned i = 0; i < n; i++)
			v[i] = src_reg(low_op1(l, E_ext_u8, -1, v[i]));
		for (unsigned i = 0; i < n / 2; i++) {
			const struct xsrc high = src_reg(low_op2(l, E_shl_b32, -1, v[2 * i + 1], src_const(8)));
			v[i] = src_reg(low_op2(l, E_or_b32, n == 2 ? d : -1, v[2 * i], high));
		}
		n /= 2;
	}
	if (n == 1)
		return !l->failed;
	if (total == 4)
		low_op2(l, E_pack32, d, v[0], v[1]);
	else if (n == 2)
		low_op2(l, E_pack64, d, v[0], v[1]);
	else
		low_op2(l, E_pack64, d, src_reg(low_op2(l, E_pack32, -1, v[0], v[1])),
		        src_reg(low_op2(l, E_pack32, -1, v[2], v[3])));
	return !l->failed;
}

/* {d, ...} = {s, ...}, all at once. */
static bool move_vector(struct lower *l)
{
	const struct ptx_operand *d = &l->in->opnd[0], *s = &l->in->opnd[1];
	int32_t kept[ARRAY_LEN(d->vec)];
	for (unsigned i = 0; i < s->n_vec; i++) {
		const unsigned bytes = d->vec[i] < 0 ? 4 : low_reg_bytes(l, d->vec[i]);
		const struct xsrc a = s->vec[i] < 0 ? src_const(0) : src_reg(s->vec[i]);
		kept[i] = d->vec[i] < 0 ? -1 : low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, -1, a);
	}
	for (unsigned i = 0; i < s->n_vec; i++)
		if (kept[i] >= 0)
			low_op1(l, low_reg_bytes(l, d->vec[i]) == 8 ? E_mov_b64 : E_mov_b32, d->vec[i],
			        src_reg(kept[i]));
	return !l->failed;
}

/* A constant into a register of 128 bits: 64 of them, as ptxas has it. */
static bool move_wide_constant(struct lower *l)
{
	const struct ptx_operand *d = &l->in->opnd[0], *s = &l->in->opnd[1];
	if (d->kind != OPND_VEC || s->kind != OPND_INT)
		return low_refuse(l, "this is not moved to or from a register of 128 bits");
	const uint64_t half[2] = { (uint64_t)s->i64, 0 };
	for (unsigned i = 0; i < 2; i++)
		if (d->vec[i] >= 0)
			low_op1(l, E_mov_b64, d->vec[i], src_const(half[i]));
	return !l->failed;
}

bool low_mov(struct lower *l)
{
	const struct ptx_operand *d = &l->in->opnd[0];
	if (d->kind == OPND_VEC && l->in->opnd[1].kind == OPND_VEC)
		return move_vector(l);
	if (l->in->type == PTX_PRED) {
		low_bool(l, low_dst(l, 0), BOOL_NONE, low_pred(l, 1), src_const(0));
		return !l->failed;
	}
	const unsigned total = ptx_type_bytes(l->in->type);
	if (total > 8)
		return move_wide_constant(l);
	if (d->kind == OPND_VEC)
		return unpack_vector(l, total);
	if (l->in->opnd[1].kind == OPND_VEC)
		return pack_vector(l, total);
	if (low_dst(l, 0) < 0)
		return true;
	const unsigned bytes = low_reg_bytes(l, d->reg);
	const struct xsrc a = low_src(l, 1, bytes);
	low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, d->reg, a);
	return !l->failed;
}

bool low_cvta(struct lower *l)
{
	const unsigned bytes = type_lane(l->in->type);
	const struct xsrc a = low_src(l, 1, bytes);
	const uint64_t window = l->in->space == SPACE_SHARED  ? SHARED_WINDOW
	                        : l->in->space == SPACE_LOCAL ? LOCAL_WINDOW
	                                                      : 0;
	if (!window)
		low_op1(l, bytes == 8 ? E_mov_b64 : E_mov_b32, low_dst(l, 0), a);
	else if (bytes != 8)
		return low_refuse(l, "generic addresses are 64 bits wide here");
	else
		low_op2(l, l->in->flags & PF_TO ? E_sub_b64 : E_add_b64, low_dst(l, 0), a,
		        src_const(window));
	return !l->failed;
}

bool low_isspacep(struct lower *l)
{
	const struct xsrc top = src_reg(low_op2(l, E_shr_u64, -1, low_src(l, 1, 8), src_const(56)));
	const uint64_t want = l->in->space == SPACE_SHARED ? 1 : l->in->space == SPACE_LOCAL ? 2 : 0;
	const bool own = l->in->space == SPACE_SHARED && !(l->in->flags & PF_CLUSTER);
	const int32_t in = low_cmp(l, own ? -1 : low_dst(l, 0), CMP_EQ, PTX_U64, top, src_const(want));
	if (own) { /* not of another block of the cluster */
		const struct xsrc mine = low_cluster_rank(l, low_src(l, 1, 8));
		const int32_t here =
			low_cmp(l, -1, CMP_EQ, PTX_U32, mine, low_special(l, SR_CLUSTER_CTARANK));
		low_bool(l, low_dst(l, 0), BOOL_AND, src_reg(in), src_reg(here));
	}
	return !l->failed;
}

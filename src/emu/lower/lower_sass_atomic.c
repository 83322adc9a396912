/* Atomics of machine code, and the questions about generic addresses that stand in front of them.
 */
#include "emu/lower/sass_lower.h"

enum ptx_atom sl_atomic_operation(const struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_atom op;
	} all[] = { { SASS_MOD_ADD, ATOM_ADD },   { SASS_MOD_MIN, ATOM_MIN },
		        { SASS_MOD_MAX, ATOM_MAX },   { SASS_MOD_AND, ATOM_AND },
		        { SASS_MOD_OR, ATOM_OR },     { SASS_MOD_XOR, ATOM_XOR },
		        { SASS_MOD_INC, ATOM_INC },   { SASS_MOD_DEC, ATOM_DEC },
		        { SASS_MOD_EXCH, ATOM_EXCH }, { SASS_MOD_CAST, ATOM_CAS },
		        { SASS_MOD_CAS, ATOM_CAS } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (sl_has(s, all[k].mod))
			return all[k].op;
	return ATOM_NONE;
}

static bool atomic_type(const struct sass_lower *s, enum ptx_type *type)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_type type;
	} all[] = { { SASS_MOD_F64, PTX_F64 },     { SASS_MOD_F32, PTX_F32 },
		        { SASS_MOD_F16x2, PTX_F16X2 }, { SASS_MOD_BF16x2, PTX_BF16X2 },
		        { SASS_MOD_F16x4, PTX_F16X2 }, { SASS_MOD_BF16x4, PTX_BF16X2 },
		        { SASS_MOD_F16x8, PTX_F16X2 }, { SASS_MOD_BF16x8, PTX_BF16X2 },
		        { SASS_MOD_F32x2, PTX_F32 },   { SASS_MOD_F32x4, PTX_F32 },
		        { SASS_MOD_S64, PTX_S64 },     { SASS_MOD_U64, PTX_U64 },
		        { SASS_MOD_64, PTX_U64 },      { SASS_MOD_S32, PTX_S32 } };
	static const enum sass_mod unknown[] = { SASS_MOD_F16, SASS_MOD_BF16, SASS_MOD_16 };
	for (unsigned k = 0; k < sizeof unknown / sizeof *unknown; k++)
		if (sl_has(s, unknown[k]))
			return false;
	*type = PTX_U32;
	for (unsigned k = sizeof all / sizeof *all; k--;)
		if (sl_has(s, all[k].mod))
			*type = all[k].type;
	return true;
}

static struct xsrc data_value(struct sass_lower *s, const struct sass_operand *o, bool wide)
{
	if (!wide)
		return sl_data_word(s, o, 0);
	if (o->kind == SASS_OPND_INT)
		return src_const((uint64_t)o->value);
	return sl_pair(s, o->kind, o->reg);
}

/* What was there before, or (CAST) only whether it was what was expected: 1 in a register, or a
 * predicate from sm_100 on. */
static void set_old(struct sass_lower *s, bool wide, struct xsrc old, struct xsrc expected)
{
	const int32_t low = sl_dst(s, 0), high = wide ? sl_dst(s, 1) : -1;
	if (sl_has(s, SASS_MOD_CAST)) {
		const struct xsrc same = sl_cmp(s, CMP_EQ, wide ? PTX_U64 : PTX_U32, old, expected);
		if (low >= 0)
			sl_set_select(s, low, src_const(1), src_const(0), same);
		sl_set1(s, high, E_mov_b32, src_const(0));
		if (sl_dst_pred(s, 0) >= 0)
			sl_set_pred(s, sl_dst_pred(s, 0), same);
		return;
	}
	sl_set1(s, low, E_trunc32, old);
	sl_set1(s, high, E_hi32, old);
}

/* Does a generic address point into the window of shared memory of a block of the cluster, and of
 * the block's own (@own)? */
static struct xsrc in_shared(struct sass_lower *s, struct xsrc address, bool own)
{
	const struct xsrc top = sl_op2(s, E_shr_u64, address, src_const(56));
	const struct xsrc shared = sl_cmp(s, CMP_EQ, PTX_U64, top, src_const(SHARED_WINDOW >> 56));
	if (!own || !sl_in_cluster(s))
		return shared;
	const int32_t mine = low_temp(&s->l, 4);
	struct xop *x = low_emit(&s->l, X_SPECIAL);
	x->op = SR_CLUSTER_CTARANK;
	x->n_d = 1;
	x->d[0] = mine;
	const struct xsrc rank =
		sl_op2(s, E_shr_u32, sl_op1(s, E_trunc32, address), src_const(CLUSTER_SHIFT));
	return sl_bool(s, BOOL_AND, shared, sl_cmp(s, CMP_EQ, PTX_U32, rank, src_reg(mine)));
}

/* QSPC.E.S p, RZ, [address]: where it points: S own shared memory, D that of any block of the
 * cluster, L local. */
bool sl_qspc(struct sass_lower *s)
{
	struct xsrc at;
	int64_t offset;
	if (!sl_place(s, sl_place_operand(s, 0), SPACE_GENERIC, &at, &offset))
		return sl_refuse(s, "this question of a space");
	if (offset)
		at = sl_op2(s, E_add_b64, at, src_const((uint64_t)offset));
	struct xsrc p;
	if (sl_has(s, SASS_MOD_S) || sl_has(s, SASS_MOD_D))
		p = in_shared(s, at, sl_has(s, SASS_MOD_S));
	else if (sl_has(s, SASS_MOD_L) || sl_has(s, SASS_MOD_G))
		p = sl_cmp(s, CMP_EQ, PTX_U64, sl_op2(s, E_shr_u64, at, src_const(56)),
		           src_const(sl_has(s, SASS_MOD_L) ? LOCAL_WINDOW >> 56 : 0));
	else
		return sl_refuse(s, "this question of a space");
	sl_set_pred(s, sl_dst_pred(s, 0), p);
	sl_set1(s, sl_dst(s, 0), E_mov_b32, src_const(0));
	return true;
}

/* ATOM p, d, [address], data: done only where the address is global, which p then says; code for
 * the other spaces follows it. */
static void only_global(struct sass_lower *s, struct xsrc at)
{
	const int32_t told = sl_dst_pred(s, 0);
	const struct xsrc top = sl_op2(s, E_shr_u64, at, src_const(56));
	struct xsrc p = sl_cmp(s, CMP_EQ, PTX_U64, top, src_const(0));
	sl_set_pred(s, told, p);
	sl_emit(s, X_NOP);
	if (s->guard >= 0)
		p = sl_bool(s, BOOL_AND, p, s->guard_neg ? src_not(src_reg(s->guard)) : src_reg(s->guard));
	s->guard = p.reg;
	s->guard_neg = false;
}

/* Operation and type; false = not known. A count of lanes (POPC.INC) adds one for each. */
static bool atomic_form(const struct sass_lower *s, enum ptx_atom *op, enum ptx_type *type)
{
	*op = sl_atomic_operation(s);
	if (sl_has(s, SASS_MOD_POPC) && sl_has(s, SASS_MOD_INC)) {
		*op = ATOM_ADD;
		*type = PTX_U32;
		return true;
	}
	return atomic_type(s, type) && *op != ATOM_NONE && sl_data_operand(s, 0) &&
	       (*op != ATOM_CAS || sl_data_operand(s, 1));
}

/* Words that an atomic on a vector works on one by one. */
static unsigned vector_words(const struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_F32x4) || sl_has(s, SASS_MOD_F16x8) || sl_has(s, SASS_MOD_BF16x8))
		return 4;
	return sl_has(s, SASS_MOD_F32x2) || sl_has(s, SASS_MOD_F16x4) || sl_has(s, SASS_MOD_BF16x4) ? 2
	                                                                                            : 1;
}

/* Word @d, -1 = not wanted, gets what was at @at before @b was brought to it. */
static struct xop *emit_atomic(struct sass_lower *s, enum ptx_atom op, enum ptx_type type,
                               int32_t d, struct xsrc at, int64_t offset, struct xsrc b,
                               struct xsrc c)
{
	struct xop *x = sl_emit(s, d >= 0 ? X_ATOM : X_RED);
	x->mem = (int32_t)s->l.ir->n_mem++;
	x->space = sl_space_of(s->i->op);
	x->op = (uint16_t)op;
	x->type = type;
	x->bytes = type == PTX_F64 || type == PTX_S64 || type == PTX_U64 ? 8 : 4;
	x->offset = offset;
	x->n_d = d >= 0 ? 1 : 0;
	x->d[0] = d;
	x->s[0] = at;
	x->s[1] = b;
	x->s[2] = c;
	x->n_s = 3;
	sl_wrote(s, d);
	return x;
}

/* What comes back may overwrite what is still to go. The first word counts the request of all. */
static bool vector_atomic(struct sass_lower *s, enum ptx_atom op, enum ptx_type type, unsigned n,
                          struct xsrc at, int64_t offset)
{
	int32_t old[4];
	const struct sass_operand *data = sl_data_operand(s, 0);
	if (op == ATOM_CAS || sl_dst_pred(s, 0) >= 0 || data->kind == SASS_OPND_INT)
		return sl_refuse(s, "this atomic operation");
	for (unsigned k = 0; k < n; k++) {
		old[k] = sl_dst(s, k) >= 0 ? low_temp(&s->l, 4) : -1;
		const struct xsrc word = sl_data_word(s, data, k);
		struct xop *x =
			emit_atomic(s, op, type, old[k], at, offset + 4 * (int64_t)k, word, src_const(0));
		x->same_request = k > 0;
		x->request_bytes = (uint8_t)(k ? 0 : 4 * n);
	}
	for (unsigned k = 0; k < n; k++)
		if (old[k] >= 0)
			sl_set1(s, sl_dst(s, k), E_mov_b32, src_reg(old[k]));
	return true;
}

/* One of 128 bits: four registers each of what is there, what is expected (CAS), and what goes
 * there. */
static bool whole_atomic(struct sass_lower *s, enum ptx_atom op, struct xsrc at, int64_t offset)
{
	const unsigned n = op == ATOM_CAS ? 2 : 1;
	const bool asked = sl_dst(s, 0) >= 0;
	struct xsrc v[4];
	int32_t old[2];
	if ((op != ATOM_CAS && op != ATOM_EXCH) || sl_dst_pred(s, 0) >= 0)
		return sl_refuse(s, "this atomic operation");
	for (unsigned k = 0; k < 2 * n; k++) {
		const struct sass_operand *o = sl_data_operand(s, k / 2);
		if (o->kind == SASS_OPND_INT)
			v[k] = src_const(k % 2 ? 0 : (uint64_t)o->value);
		else if (o->kind == SASS_OPND_REG && o->reg == SASS_RZ)
			v[k] = src_const(0);
		else
			v[k] = sl_pair(s, o->kind, o->reg + k % 2 * 2);
	}
	for (unsigned k = 0; k < 2; k++)
		old[k] = asked ? low_temp(&s->l, 8) : -1;
	struct xop *x = emit_atomic(s, op, PTX_U64, old[0], at, offset, v[0], v[1]);
	x->kind = X_ATOM;
	x->vec = x->n_d = 2;
	x->d[1] = old[1];
	x->n_s = (uint8_t)(1 + 2 * n);
	for (unsigned k = 2; k < 2 * n; k++)
		x->s[1 + k] = v[k];
	for (unsigned k = 0; asked && k < 4; k++)
		sl_set1(s, sl_dst(s, k), k % 2 ? E_hi32 : E_trunc32, src_reg(old[k / 2]));
	return true;
}

bool sl_atomic(struct sass_lower *s)
{
	const enum ptx_space space = sl_space_of(s->i->op);
	const bool test = sl_has(s, SASS_MOD_CAST), tells = sl_dst_pred(s, 0) >= 0;
	enum ptx_atom op;
	enum ptx_type type;
	struct xsrc at, b = src_const(1), c = src_const(0);
	int64_t offset;
	if (space == SPACE_SHARED && sl_has(s, SASS_MOD_ARRIVE) && sl_has(s, SASS_MOD_64))
		return sl_shared_arrival(s);
	if (!atomic_form(s, &op, &type) || (tells && !test && space != SPACE_GENERIC))
		return sl_refuse(s, "this atomic operation");
	const bool wide = type == PTX_F64 || type == PTX_S64 || type == PTX_U64;
	if (!sl_place(s, sl_place_operand(s, 0), space, &at, &offset))
		return false;
	if (sl_has(s, SASS_MOD_128))
		return whole_atomic(s, op, at, offset);
	if (vector_words(s) > 1)
		return vector_atomic(s, op, type, vector_words(s), at, offset);
	if (tells && !test)
		only_global(s, at);
	if (!sl_has(s, SASS_MOD_POPC))
		b = data_value(s, sl_data_operand(s, 0), wide);
	if (op == ATOM_CAS)
		c = data_value(s, sl_data_operand(s, 1), wide);
	const int32_t low = sl_dst(s, 0);
	const bool asked = low >= 0 || (test && tells);
	const int32_t d = !asked ? -1 : wide ? low_temp(&s->l, 8) : test ? low_temp(&s->l, 4) : low;
	emit_atomic(s, op, type, d, at, offset, b, c);
	if (d >= 0 && d != low)
		set_old(s, wide, src_reg(d), b);
	return true;
}

/* Logic, shifts, moves, predicates and special registers of machine code. */
#include "emu/lower/sass_lower.h"

/* --- three-input logic --- */

static uint32_t table_of(const struct sass_operand *o)
{
	return o && o->kind == SASS_OPND_INT ? (uint32_t)o->value & 0xff : 0;
}

static bool is_zero(struct xsrc v)
{
	return v.kind == S_CONST && !v.value;
}

/* d = table(a, b, c), as one of the operations on two numbers where it is one. */
static void set_logic(struct sass_lower *s, int32_t d, struct xsrc a, struct xsrc b, struct xsrc c,
                      uint32_t table)
{
	if (is_zero(c)) /* only the entries for c = 0 matter */
		table = (table & 0x55) * 3;
	if (is_zero(c) && table == 0xc0)
		sl_set2(s, d, E_and_b32, a, b);
	else if (is_zero(c) && table == 0xfc)
		sl_set2(s, d, E_or_b32, a, b);
	else if (is_zero(c) && table == 0x3c)
		sl_set2(s, d, E_xor_b32, a, b);
	else if (table == 0x0f)
		sl_set1(s, d, E_not_b32, a);
	else if (table == 0x33)
		sl_set1(s, d, E_not_b32, b);
	else
		sl_set4(s, d, E_lop3_b32, a, b, c, src_const(table));
}

bool sl_lop3(struct sass_lower *s)
{
	const struct xsrc a = sl_bits(s, 0), b = sl_bits(s, 1), c = sl_bits(s, 2);
	const uint32_t table = table_of(sl_src_operand(s, 3));
	const int32_t d = sl_dst(s, 0), p = sl_dst_pred(s, 0);
	if (p < 0) {
		set_logic(s, d, a, b, c, table);
		return true;
	}
	const int32_t r = low_temp(&s->l, 4);
	const int32_t guard = s->guard;
	s->guard = -1;
	set_logic(s, r, a, b, c, table);
	s->guard = guard;
	const struct xsrc some = sl_cmp(s, CMP_NE, PTX_U32, src_reg(r), src_const(0));
	const struct xsrc in = sl_pred(s, 0, false);
	const bool both = sl_has(s, SASS_MOD_PAND);
	sl_set_pred(s, p, sl_bool(s, both ? BOOL_AND : BOOL_OR, some, in));
	sl_set1(s, d, E_mov_b32, src_reg(r));
	return true;
}

/* Predicate = table(a, b, c): the terms that are there, joined. */
static struct xsrc pred_table(struct sass_lower *s, const struct xsrc v[3], uint32_t table)
{
	struct xsrc sum = src_const(0);
	bool any = false;
	for (unsigned t = 0; t < 8; t++) {
		struct xsrc term = src_const(0xffffffffu);
		bool possible = true, whole = true;
		if (!(table >> t & 1))
			continue;
		for (unsigned k = 0; k < 3; k++) {
			const bool wanted = t >> (2 - k) & 1;
			if (v[k].kind == S_CONST) {
				possible &= ((v[k].value != 0) != v[k].neg) == wanted;
				continue;
			}
			const struct xsrc one = wanted ? v[k] : src_not(v[k]);
			term = whole ? one : sl_bool(s, BOOL_AND, term, one);
			whole = false;
		}
		if (!possible)
			continue;
		sum = any ? sl_bool(s, BOOL_OR, sum, term) : term;
		any = true;
	}
	return sum;
}

/* Does the table come down to the first, second or third input, or its opposite? */
static bool one_input(struct xsrc *out, const struct xsrc v[3], uint32_t table)
{
	static const uint8_t tables[3] = { 0xf0, 0xcc, 0xaa };
	uint32_t matter = 0xff; /* entries that the known inputs leave */
	for (unsigned k = 0; k < 3; k++)
		if (v[k].kind == S_CONST)
			matter &= (v[k].value != 0) != v[k].neg ? tables[k] : (uint32_t)~tables[k];
	if (!(table & matter) || (table & matter) == matter) {
		*out = src_const(table & matter ? 0xffffffffu : 0);
		return true;
	}
	for (unsigned k = 0; k < 3; k++) {
		if (v[k].kind == S_CONST)
			continue;
		const uint32_t same = tables[k] & matter, other = ~(uint32_t)tables[k] & matter;
		if ((table & matter) == same || (table & matter) == other) {
			*out = (table & matter) == same ? v[k] : src_not(v[k]);
			return true;
		}
	}
	return false;
}

/* A predicate, or R4.SIGN: is the number negative? */
static struct xsrc pred_input(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	if (!o)
		return src_const(0xffffffffu);
	if (o->sel != SASS_MOD_SIGN)
		return sl_pred_operand(s, o);
	const struct xsrc negative = sl_cmp(s, CMP_LT, PTX_S32, sl_operand(s, o), src_const(0));
	return o->flags & SASS_NOT ? src_not(negative) : negative;
}

bool sl_plop3(struct sass_lower *s)
{
	const struct xsrc v[3] = { pred_input(s, 0), pred_input(s, 1), pred_input(s, 2) };
	struct xsrc r[2];
	for (unsigned k = 0; k < 2; k++) {
		const uint32_t table = table_of(sl_src_operand(s, 3 + k));
		if (!one_input(&r[k], v, table))
			r[k] = sl_dst_pred(s, k) >= 0 ? pred_table(s, v, table) : src_const(0);
	}
	if (sl_dst_pred(s, 0) >= 0 && sl_dst_pred(s, 1) >= 0 && r[1].kind == S_REG)
		r[1] = sl_bool(s, BOOL_NONE, r[1], src_const(0)); /* the first may be its input */
	sl_set_pred(s, sl_dst_pred(s, 0), r[0]);
	sl_set_pred(s, sl_dst_pred(s, 1), r[1]);
	return true;
}

/* --- comparisons --- */

enum ptx_cmp sl_comparison(const struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_cmp cmp;
	} all[] = {
		{ SASS_MOD_EQ, CMP_EQ },   { SASS_MOD_NE, CMP_NE },   { SASS_MOD_LT, CMP_LT },
		{ SASS_MOD_LE, CMP_LE },   { SASS_MOD_GT, CMP_GT },   { SASS_MOD_GE, CMP_GE },
		{ SASS_MOD_EQU, CMP_EQU }, { SASS_MOD_NEU, CMP_NEU }, { SASS_MOD_LTU, CMP_LTU },
		{ SASS_MOD_LEU, CMP_LEU }, { SASS_MOD_GTU, CMP_GTU }, { SASS_MOD_GEU, CMP_GEU },
		{ SASS_MOD_NUM, CMP_NUM }, { SASS_MOD_NAN, CMP_NAN },
	};
	for (unsigned n = 0; n < s->i->n_mods; n++)
		for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
			if (s->i->mods[n] == all[k].mod)
				return all[k].cmp;
	return CMP_NONE;
}

/* Makes the newest operation write @d in place of its temporary @made, which nobody else may read.
 * False, and nothing is done: @made is no such, or the instruction has a guard. */
static bool result_is(struct sass_lower *s, int32_t d, struct xsrc made)
{
	struct ir *ir = s->l.ir;
	struct xop *last = ir->n_ops ? &ir->ops[ir->n_ops - 1] : NULL;
	if (d < 0 || s->guard >= 0 || !last || made.kind != S_REG || made.neg ||
	    made.reg != (int32_t)ir->n_regs - 1 || last->n_d != 1 || last->d[0] != made.reg)
		return false;
	last->d[0] = d;
	sl_wrote(s, d);
	return true;
}

bool sl_set_comparison(struct sass_lower *s, struct xsrc c, unsigned n)
{
	const enum ptx_boolop op = sl_has(s, SASS_MOD_OR)    ? BOOL_OR
	                           : sl_has(s, SASS_MOD_XOR) ? BOOL_XOR
	                                                     : BOOL_AND;
	const int32_t p = sl_dst_pred(s, 0), q = sl_dst_pred(s, 1);
	const struct xsrc with = sl_pred(s, n, true);
	const bool alone = with.kind == S_CONST && with.neg == false &&
	                   ((op == BOOL_AND && with.value) || (op != BOOL_AND && !with.value));
	struct xsrc other = src_not(c);
	if (q >= 0 && !alone)
		other = sl_bool(s, op, other, with);
	if (!alone && p >= 0)
		c = sl_bool(s, op, c, with);
	if (q >= 0 || !result_is(s, p, c))
		sl_set_pred(s, p, c);
	sl_set_pred(s, q, other);
	return true;
}

/* --- shifts --- */

/*
 * {c, a} is shifted as one number; its lower word is the result, or its upper one (HI). Numbers of
 * 32 bits are shifted by at most 32, of 64 by at most 64; W takes the amount modulo that.
 */
bool sl_shf(struct sass_lower *s)
{
	const bool left = sl_has(s, SASS_MOD_L), upper = sl_has(s, SASS_MOD_HI);
	const bool sign = sl_has(s, SASS_MOD_S32) || sl_has(s, SASS_MOD_S64);
	const bool wide = sl_has(s, SASS_MOD_U64) || sl_has(s, SASS_MOD_S64);
	const struct xsrc a = sl_bits(s, 0), c = sl_bits(s, 2);
	const int32_t d = sl_dst(s, 0);
	struct xsrc by = sl_bits(s, 1);
	if (sl_has(s, SASS_MOD_W))
		by = by.kind == S_CONST ? src_const(by.value & (wide ? 63 : 31))
		                        : sl_op2(s, E_and_b32, by, src_const(wide ? 63 : 31));
	if (left && !upper) { /* no bit of c gets that far */
		sl_set2(s, d, E_shl_b32, a, by);
	} else if (!left && upper) { /* nor of a */
		const bool signs = sign && by.kind == S_CONST && by.value == 31 && c.kind == S_REG;
		const struct xsrc whole = signs && c.reg != d ? sl_op1(s, E_sext64, c) : src_const(0);
		sl_set2(s, d, sign ? E_shr_s32 : E_shr_u32, c, by);
		if (whole.kind == S_REG) /* the upper word of a number that is to have 64 bits */
			sl_remember_pair(s, c.reg, d, whole.reg);
	} else if (!wide) {
		sl_set3(s, d, left ? E_shf_l_clamp : E_shf_r_clamp, a, c, by);
	} else {
		const struct xsrc both = sl_op2(s, E_pack64, a, c);
		const enum emu_op op = left ? E_shl_b64 : sign ? E_shr_s64 : E_shr_u64;
		sl_set1(s, d, upper ? E_hi32 : E_trunc32, sl_op2(s, op, both, by));
	}
	return true;
}

/* --- moves and selections --- */

bool sl_mov(struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_64)) { /* MOV.64 R6, 0x80000000: the upper word is 0 */
		const struct xsrc v = sl_wide(s, 0, false);
		sl_set_wide(s, v.kind == S_REG ? sl_op1(s, E_mov_b64, v) : v);
	} else {
		sl_set1(s, sl_dst(s, 0), E_mov_b32, sl_bits(s, 0));
	}
	return true;
}

/* A register of the whole warp gets the value that one of the guarded lanes has, for all that are
 * there. @p: whether a guarded lane has another one, or (.OR) had another one in an earlier word.
 */
static bool value_of_guarded(struct sass_lower *s, int32_t p)
{
	const int32_t d = sl_dst(s, 0), own = s->guard;
	const bool own_neg = s->guard_neg;
	const struct xsrc v = sl_bits(s, 0), all = src_const(0xffffffffu);
	const struct xsrc guard = { .kind = S_REG, .reg = own, .neg = own_neg };
	sl_emit(s, X_NOP); /* counts the lanes */
	s->guard = -1;
	const struct xsrc lanes = src_reg(low_temp(&s->l, 4));
	low_set_vote(sl_emit(s, X_VOTE), MODE_BALLOT, lanes.reg, own >= 0 ? guard : all);
	const struct xsrc made = low_from_lane(&s->l, v, sl_op1(s, E_bfind_u32, lanes));
	const int32_t any = low_cmp(&s->l, -1, CMP_NE, PTX_U32, lanes, src_const(0));
	if (p >= 0) {
		const struct xsrc other = sl_cmp(s, CMP_NE, PTX_U32, v, made);
		const bool or = sl_has(s, SASS_MOD_OR);
		const struct xsrc told = or ? sl_bool(s, BOOL_OR, other, src_reg(p)) : other;
		s->guard = own;
		s->guard_neg = own_neg;
		sl_set_pred(s, p, told);
	}
	s->guard = any;
	s->guard_neg = false;
	sl_set1(s, d, E_mov_b32, made);
	return true;
}

/* R2UR P0, UR4, R2: ptxas goes round a loop until all lanes have had their value in UR4, those with
 * another one again (P0), each round for the lanes that have this one. */
bool sl_r2ur(struct sass_lower *s)
{
	const int32_t p = sl_dst_pred(s, 0);
	if (p >= 0 || (s->guard >= 0 && !s->i->guard_uniform))
		return value_of_guarded(s, p);
	return sl_mov(s);
}

/* SEL.64 R4, R4, 0xffffffab: the upper word of a number is 0 unless it is written with a minus. */
static struct xsrc choice(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *o = sl_src_operand(s, n);
	return sl_wide(s, n, o && o->kind == SASS_OPND_INT && o->value < 0);
}

bool sl_sel(struct sass_lower *s)
{
	const struct xsrc p = sl_pred(s, 0, true);
	if (sl_has(s, SASS_MOD_64)) {
		const struct xsrc low = choice(s, 0), high = choice(s, 1);
		sl_set_wide(s, sl_select(s, 8, low, high, p));
		return true;
	}
	const struct xsrc a = sl_int(s, 0), b = sl_int(s, 1);
	sl_set_select(s, sl_dst(s, 0), a, b, p);
	return true;
}

/* Bytes of a and c by the selector b. */
bool sl_prmt(struct sass_lower *s)
{
	const struct xsrc a = sl_bits(s, 0), c = sl_bits(s, 2);
	struct xsrc by = sl_bits(s, 1);
	static const struct {
		enum sass_mod mod;
		enum emu_op op;
	} modes[] = { { SASS_MOD_F4E, E_prmt_f4e }, { SASS_MOD_B4E, E_prmt_b4e },
		          { SASS_MOD_RC8, E_prmt_rc8 }, { SASS_MOD_ECL, E_prmt_ecl },
		          { SASS_MOD_ECR, E_prmt_ecr }, { SASS_MOD_RC16, E_prmt_rc16 } };
	for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++)
		if (sl_has(s, modes[k].mod))
			by = sl_op1(s, modes[k].op, by);
	sl_set3(s, sl_dst(s, 0), E_prmt_b32, a, c, by);
	return true;
}

/* --- predicates as a word --- */

static struct xsrc pred_number(struct sass_lower *s, bool uniform, unsigned n)
{
	const struct sass_operand o = { .kind = uniform ? SASS_OPND_UPRED : SASS_OPND_PRED,
		                            .reg = (uint16_t)n };
	return sl_pred_operand(s, &o);
}

/* The byte of the register that takes part. */
static bool byte_position(const struct sass_lower *s, unsigned *bits)
{
	*bits = sl_has(s, SASS_MOD_B3) ? 24 : sl_has(s, SASS_MOD_B2) ? 16 : 0;
	for (unsigned n = 0; n < s->i->n_operands; n++)
		if (s->i->operands[n].sel != SASS_MOD_NONE)
			*bits = s->i->operands[n].sel == SASS_MOD_B3   ? 24
			        : s->i->operands[n].sel == SASS_MOD_B2 ? 16
			        : s->i->operands[n].sel == SASS_MOD_B0 ? 0
			                                               : 8;
	return true;
}

/* P2R d, PR, old, mask: the masked predicates, the other bits from old. */
bool sl_p2r(struct sass_lower *s)
{
	unsigned at;
	const bool uniform = s->i->op == SASS_UP2UR;
	const struct sass_operand *mask = sl_src_operand(s, 2);
	if (!mask || mask->kind != SASS_OPND_INT || !byte_position(s, &at))
		return sl_refuse(s, "predicates by a mask that is not known");
	const uint32_t which = (uint32_t)mask->value & 0x7f;
	struct xsrc v = sl_bits(s, 1);
	if (!is_zero(v))
		v = sl_op2(s, E_and_b32, v, src_const(~(which << at)));
	for (unsigned n = 0; n < SASS_PT; n++)
		if (which >> n & 1) {
			const struct xsrc bit = sl_select(s, 4, src_const((uint64_t)1 << (n + at)),
			                                  src_const(0), pred_number(s, uniform, n));
			v = is_zero(v) ? bit : sl_op2(s, E_or_b32, v, bit);
		}
	sl_set1(s, sl_dst(s, 0), E_mov_b32, v);
	return true;
}

/* R2P PR, a, mask: the masked predicates from a's bits. */
bool sl_r2p(struct sass_lower *s)
{
	unsigned at;
	const struct sass_operand *mask = sl_src_operand(s, 1);
	if (!mask || mask->kind != SASS_OPND_INT || !byte_position(s, &at))
		return sl_refuse(s, "predicates by a mask that is not known");
	const struct xsrc a = sl_bits(s, 0);
	for (unsigned n = 0; n < SASS_PT; n++) {
		if (!(mask->value >> n & 1))
			continue;
		const struct xsrc bit = sl_op2(s, E_and_b32, a, src_const((uint64_t)1 << (n + at)));
		const struct xsrc p = pred_number(s, false, n);
		sl_set_pred(s, p.reg, sl_cmp(s, CMP_NE, PTX_U32, bit, src_const(0)));
	}
	return true;
}

/* --- special registers --- */

static bool special_number(enum sass_special sr, enum ptx_special *out)
{
	static const struct {
		enum sass_special sass;
		enum ptx_special ptx;
	} same[] = {
		{ SASS_SR_LANEID, SR_LANEID },      { SASS_SR_TID_X, SR_TID_X },
		{ SASS_SR_TID_Y, SR_TID_Y },        { SASS_SR_TID_Z, SR_TID_Z },
		{ SASS_SR_CTAID_X, SR_CTAID_X },    { SASS_SR_CTAID_Y, SR_CTAID_Y },
		{ SASS_SR_CTAID_Z, SR_CTAID_Z },    { SASS_SR_EQMASK, SR_LANEMASK_EQ },
		{ SASS_SR_LTMASK, SR_LANEMASK_LT }, { SASS_SR_LEMASK, SR_LANEMASK_LE },
		{ SASS_SR_GTMASK, SR_LANEMASK_GT }, { SASS_SR_GEMASK, SR_LANEMASK_GE },
		{ SASS_SR_SM_ID, SR_SMID },         { SASS_SR_CGA_CTA_ID, SR_CLUSTER_CTARANK },
		{ SASS_SR_VIRTUAL_SM_ID, SR_SMID }, { SASS_SR_VIRT_ID, SR_WARPID },
	};
	for (unsigned k = 0; k < sizeof same / sizeof *same; k++)
		if (same[k].sass == sr) {
			*out = same[k].ptx;
			return true;
		}
	return false;
}

static bool is_clock(enum sass_special sr)
{
	return sr == SASS_SR_CLOCK_LO || sr == SASS_SR_CLOCK_HI || sr == SASS_SR_GLOBAL_TIMER_LO ||
	       sr == SASS_SR_GLOBAL_TIMER_HI;
}

/* The four windows into which generic addresses of shared and local memory point. */
static bool window_word(enum sass_special sr, uint64_t *value)
{
	switch (sr) {
	case SASS_SR_SHARED_WINDOW_HI: *value = SHARED_WINDOW >> 32; return true;
	case SASS_SR_SHARED_WINDOW_LO: *value = (uint32_t)SHARED_WINDOW; return true;
	case SASS_SR_LOCAL_WINDOW_HI: *value = LOCAL_WINDOW >> 32; return true;
	case SASS_SR_LOCAL_WINDOW_LO: *value = (uint32_t)LOCAL_WINDOW; return true;
	case SASS_SR_LOCAL_LEAST:
	case SASS_SR_ZERO:
	case SASS_SR_GRID_ID:
	case SASS_SR_VIRT_CFG: *value = 0; return true;
	default: return false;
	}
}

/* What the launch makes the same for all. A cluster's size is looked at alone to find the launch's
 * constants, of which cards keep one copy a size; here there is one, that of size 0. */
static bool launch_word(const struct sass_lower *s, enum sass_special sr, uint64_t *value)
{
	*value = 0;
	if (sr != SASS_SR_SHARED_BYTES)
		return sr == SASS_SR_CGA_SIZE;
	*value = s->env->shared_bytes + (s->arch->reserved ? SASS_RESERVED_SHARED : 0);
	return true;
}

bool sl_s2r(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	const enum sass_special sr =
		o && o->kind == SASS_OPND_SPECIAL ? (enum sass_special)o->value : SASS_SR_COUNT;
	const bool two = s->i->op != SASS_S2R && s->i->op != SASS_S2UR && !sl_has(s, SASS_MOD_32);
	const int32_t d = sl_dst(s, 0);
	enum ptx_special number;
	uint64_t value;
	if (is_clock(sr)) {
		const bool timer = sr == SASS_SR_GLOBAL_TIMER_LO || sr == SASS_SR_GLOBAL_TIMER_HI;
		const int32_t t = low_clock(&s->l, timer);
		const bool high = sr == SASS_SR_CLOCK_HI || sr == SASS_SR_GLOBAL_TIMER_HI;
		sl_set1(s, d, high ? E_hi32 : E_trunc32, src_reg(t));
		if (two)
			sl_set1(s, sl_dst(s, 1), E_hi32, src_reg(t));
		return true;
	}
	if (window_word(sr, &value) || launch_word(s, sr, &value)) {
		sl_set1(s, d, E_mov_b32, src_const(value));
		if (two)
			sl_set1(s, sl_dst(s, 1), E_mov_b32, src_const(0));
		return true;
	}
	if (two || !special_number(sr, &number))
		return sl_refuse(s, "this special register");
	const struct launch_plan *p = s->env->plan;
	const uint32_t grid[3] = { p->grid.x, p->grid.y, p->grid.z };
	if ((number >= SR_CTAID_X && number <= SR_CTAID_Z && grid[number - SR_CTAID_X] == 1) ||
	    (number == SR_CLUSTER_CTARANK && !sl_in_cluster(s))) {
		sl_set1(s, d, E_mov_b32, src_const(0));
		return true;
	}
	if (d < 0)
		return true;
	struct xop *x = sl_emit(s, X_SPECIAL);
	x->op = (uint16_t)number;
	x->n_d = 1;
	x->d[0] = d;
	if (sr == SASS_SR_VIRT_ID) /* the warp stands in bits 8 to 14 */
		sl_set2(s, d, E_shl_b32, src_reg(d), src_const(8));
	sl_wrote(s, d);
	return true;
}

/* Loads, stores and atomics of machine code. */
#include "emu/lane/lane.h"
#include "emu/lower/sass_lower.h"

/* --- addresses --- */

enum ptx_space sl_space_of(enum sass_op op)
{
	switch (sass_op_info(op)->space) {
	case SASS_SPACE_SHARED: return SPACE_SHARED;
	case SASS_SPACE_LOCAL: return SPACE_LOCAL;
	case SASS_SPACE_GENERIC: return SPACE_GENERIC;
	default: return SPACE_GLOBAL;
	}
}

static struct xsrc one_register(struct sass_lower *s, uint8_t kind, unsigned number)
{
	const int32_t r = sl_reg(s, kind, number);
	return r < 0 ? src_const(0) : src_reg(r);
}

static struct xsrc sum(struct sass_lower *s, bool wide, struct xsrc a, struct xsrc b)
{
	if (a.kind == S_CONST && !a.value)
		return b;
	if (b.kind == S_CONST && !b.value)
		return a;
	return sl_op2(s, wide ? E_add_b64 : E_add_b32, a, b);
}

/* The registers of a place in memory, without its offset. */
static bool address(struct sass_lower *s, const struct sass_operand *m, bool wide, struct xsrc *out)
{
	struct xsrc base = src_const(0), more = src_const(0);
	if (m->reg != SASS_NO_REG && m->reg != SASS_RZ) {
		base = m->words == 2 ? sl_pair(s, SASS_OPND_REG, m->reg)
		                     : one_register(s, SASS_OPND_REG, m->reg);
		const unsigned shift = m->sel == SASS_MOD_X4    ? 2
		                       : m->sel == SASS_MOD_X8  ? 3
		                       : m->sel == SASS_MOD_X16 ? 4
		                                                : 0;
		if (m->words == 1 && wide && m->sel == SASS_MOD_S32)
			base = sl_op1(s, E_sext64, base);
		else if (m->words == 1 && wide)
			base = sl_extended(s, base);
		if (shift)
			base = sl_op2(s, E_shl_b32, base, src_const(shift));
	}
	if (m->ureg != SASS_NO_REG && m->ureg != SASS_RZ) {
		more = m->uwords == 2 ? sl_pair(s, SASS_OPND_UREG, m->ureg)
		                      : one_register(s, SASS_OPND_UREG, m->ureg);
		if (m->uwords == 1 && wide)
			more = sl_extended(s, more);
		if (m->uwords == 2 && !wide)
			return sl_refuse(s, "this form of address");
	}
	*out = sum(s, wide, base, more);
	return true;
}

/* Hardware has the block's rank above CLUSTER_SHIFT, the emulator one more; see ir.h. */
struct xsrc sl_shared_address(struct sass_lower *s, struct xsrc address)
{
	const struct xsrc low = sl_op2(s, E_and_b32, address, src_const(CLUSTER_OFFSET));
	const struct xsrc own = sl_op2(s, E_sub_b32, low, src_const(s->arch->shared_base));
	if (!sl_in_cluster(s))
		return sl_extended(s, own);
	const struct xsrc rank = sl_op2(s, E_and_b32, address, src_const(0xffu << CLUSTER_SHIFT));
	const struct xsrc top = sl_op2(s, E_add_b32, rank, src_const(1u << CLUSTER_SHIFT));
	return sl_extended(s, sl_op2(s, E_or_b32, top, own));
}

bool sl_shared_place(struct sass_lower *s, unsigned n, unsigned more, struct xsrc *out)
{
	const struct sass_operand *m = sl_place_operand(s, n);
	struct xsrc at = src_const(0);
	if (!m || !address(s, m, false, &at))
		return sl_refuse(s, "this form of address");
	*out = sl_shared_address(s, sum(s, false, at, src_const((uint32_t)m->value + more)));
	return true;
}

bool sl_place(struct sass_lower *s, const struct sass_operand *m, enum ptx_space space,
              struct xsrc *at, int64_t *offset)
{
	*at = src_const(0);
	*offset = 0;
	const bool wide = space == SPACE_GLOBAL || space == SPACE_GENERIC;
	if (!m || m->kind != SASS_OPND_MEM || !address(s, m, wide, at))
		return sl_refuse(s, "this form of address");
	*offset = m->value - (space == SPACE_SHARED ? (int64_t)s->arch->shared_base : 0);
	if (space == SPACE_SHARED &&
	    sl_in_cluster(s)) { /* the block's own, whose number stands on top */
		const struct xsrc whole = sl_op2(s, E_add_b32, *at, src_const((uint32_t)m->value));
		*at = sl_op2(s, E_and_b32, whole, src_const(CLUSTER_OFFSET));
		*offset = -(int64_t)s->arch->shared_base;
	}
	if (at->kind == S_CONST) {
		at->value += (uint64_t)*offset;
		*offset = 0;
		if (!wide)
			at->value = (uint32_t)at->value;
	}
	return true;
}

bool sl_shared_word(struct sass_lower *s, struct xsrc *out)
{
	struct xsrc at;
	int64_t offset;
	if (!sl_place(s, sl_place_operand(s, 0), SPACE_SHARED, &at, &offset))
		return false;
	*out = sl_op2(s, E_add_b32, at, src_const((uint32_t)offset));
	return true;
}

const struct sass_operand *sl_place_operand(const struct sass_lower *s, unsigned n)
{
	for (unsigned k = 0; k < s->i->n_operands; k++)
		if (s->i->operands[k].kind == SASS_OPND_MEM && !n--)
			return &s->i->operands[k];
	return NULL;
}

/* --- width --- */

struct width {
	enum ptx_type type;
	uint8_t bytes, words;
};

static struct width width_of(const struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_U8))
		return (struct width){ PTX_U8, 1, 1 };
	if (sl_has(s, SASS_MOD_S8))
		return (struct width){ PTX_S8, 1, 1 };
	if (sl_has(s, SASS_MOD_U16))
		return (struct width){ PTX_U16, 2, 1 };
	if (sl_has(s, SASS_MOD_S16))
		return (struct width){ PTX_S16, 2, 1 };
	if (sl_has(s, SASS_MOD_256))
		return (struct width){ PTX_B32, 4, 8 };
	if (sl_has(s, SASS_MOD_128))
		return (struct width){ PTX_B32, 4, 4 };
	if (sl_has(s, SASS_MOD_64))
		return (struct width){ PTX_B32, 4, 2 };
	return (struct width){ PTX_B32, 4, 1 };
}

static bool of_own_sm(const struct sass_lower *s)
{
	return sl_has(s, SASS_MOD_STRONG) && sl_has(s, SASS_MOD_SM);
}

/* Does it look past L1? */
static bool bypasses_l1(const struct sass_lower *s)
{
	return (sl_has(s, SASS_MOD_STRONG) || sl_has(s, SASS_MOD_MMIO)) && !of_own_sm(s);
}

/* Where word @k of a load goes. Of 256 bits the upper four words are named first. */
static int32_t loaded_word(struct sass_lower *s, unsigned k)
{
	if (!sl_has(s, SASS_MOD_256))
		return sl_dst(s, k);
	const struct sass_operand *o = &s->i->operands[k < 4];
	return o->reg == SASS_RZ ? -1 : sl_reg(s, o->kind, o->reg + k % 4);
}

static void load_words(struct sass_lower *s, enum ptx_space space, struct width w, struct xsrc at,
                       int64_t offset)
{
	int32_t to[X_MAX_VEC];
	for (unsigned k = 0; k < w.words; k++)
		to[k] = loaded_word(s, k);
	struct xop *x = sl_emit(s, X_LD);
	x->mem = (int32_t)s->l.ir->n_mem++;
	x->space = space;
	x->s[0] = at;
	x->n_s = 1;
	x->offset = offset;
	x->type = w.type;
	x->bytes = w.bytes;
	x->vec = w.words;
	x->n_d = w.words;
	x->bypass_l1 = bypasses_l1(s);
	x->scope = of_own_sm(s) ? SCOPE_CTA : SCOPE_NONE;
	for (unsigned k = 0; k < w.words; k++)
		x->d[k] = to[k];
	for (unsigned k = 0; k < w.words; k++)
		sl_wrote(s, to[k]);
}

bool sl_load(struct sass_lower *s)
{
	const enum ptx_space space = sl_space_of(s->i->op);
	struct xsrc at;
	int64_t offset;
	if (sl_dst_pred(s, 0) >= 0 || (sl_has(s, SASS_MOD_256) && s->i->n_dsts != 2))
		return sl_refuse(s, "this form of load");
	if (!sl_place(s, sl_place_operand(s, 0), space, &at, &offset))
		return false;
	load_words(s, space, width_of(s), at, offset);
	return true;
}

/* Word @k of the data that is stored. */
struct xsrc sl_data_word(struct sass_lower *s, const struct sass_operand *o, unsigned k)
{
	if (o->kind == SASS_OPND_REG || o->kind == SASS_OPND_UREG)
		return o->reg == SASS_RZ ? src_const(0) : one_register(s, o->kind, o->reg + k);
	return src_const(k ? 0 : (uint32_t)o->value);
}

const struct sass_operand *sl_data_operand(const struct sass_lower *s, unsigned n)
{
	for (unsigned k = s->i->n_dsts; k < s->i->n_operands; k++) {
		const uint8_t kind = s->i->operands[k].kind;
		if ((kind == SASS_OPND_REG || kind == SASS_OPND_UREG || kind == SASS_OPND_INT) && !n--)
			return &s->i->operands[k];
	}
	return NULL;
}

bool sl_store(struct sass_lower *s)
{
	const enum ptx_space space = sl_space_of(s->i->op);
	const struct width w = width_of(s);
	const struct sass_operand *data[] = { sl_data_operand(s, 0), sl_data_operand(s, 1) };
	struct xsrc at, v[X_MAX_VEC];
	int64_t offset;
	if (!data[0] || (w.words > 4 && !data[1]))
		return sl_refuse(s, "this form of store");
	if (!sl_place(s, sl_place_operand(s, 0), space, &at, &offset))
		return false;
	for (unsigned k = 0; k < w.words; k++)
		v[k] = sl_data_word(s, data[k / 4], k % 4);
	struct xop *x = sl_emit(s, X_ST);
	x->mem = (int32_t)s->l.ir->n_mem++;
	x->space = space;
	x->s[0] = at;
	for (unsigned k = 0; k < w.words; k++)
		x->s[1 + k] = v[k];
	x->n_s = (uint8_t)(1 + w.words);
	x->offset = offset;
	x->type = w.type;
	x->bytes = w.bytes;
	x->vec = w.words;
	return true;
}

static enum copy_form copy_form_of(const struct sass_lower *s)
{
	if (sl_has(s, SASS_MOD_ZFILL))
		return COPY_TWICE;
	for (unsigned k = s->i->n_dsts; k < s->i->n_operands; k++) {
		const struct sass_operand *o = &s->i->operands[k];
		if (o->kind == SASS_OPND_PRED && o->reg != SASS_PT)
			return o->reg ? COPY_APART : o->flags & SASS_NOT ? COPY_AS_READ : COPY_NOT_READ;
	}
	return COPY_AS_READ;
}

/* Copies from global to shared memory at once: what waits for it has nothing left to wait for. */
bool sl_ldgsts(struct sass_lower *s)
{
	struct xsrc to, from;
	int64_t to_offset, from_offset;
	const struct xsrc p = sl_pred(s, 0, true); /* where it does not hold zeros are copied */
	if (!sl_place(s, sl_place_operand(s, 0), SPACE_SHARED, &to, &to_offset) ||
	    !sl_place(s, sl_place_operand(s, 1), SPACE_GLOBAL, &from, &from_offset))
		return false;
	const unsigned bytes = sl_has(s, SASS_MOD_128) ? 16 : sl_has(s, SASS_MOD_64) ? 8 : 4;
	struct xsrc used = src_const(bytes);
	if (sl_has(s, SASS_MOD_ZFILL) && bytes > 1) {
		/* how far the place is beyond its boundary is how many zeros fill it up */
		const struct xsrc low = sl_op1(s, E_trunc32, from);
		const struct xsrc whole = sl_op2(s, E_add_b32, low, src_const((uint32_t)from_offset));
		const struct xsrc zeros = sl_op2(s, E_and_b32, whole, src_const(bytes - 1));
		from = sl_op2(s, E_sub_b64, from, sl_extended(s, zeros));
		used = sl_op2(s, E_sub_b32, used, zeros);
	}
	if (p.kind != S_CONST)
		used = sl_select(s, 4, used, src_const(0), p);
	else if (!p.value)
		used = src_const(0);
	struct xop *x = sl_emit(s, X_ASYNC);
	x->op = (uint16_t)copy_form_of(s);
	x->mem = (int32_t)s->l.ir->n_mem;
	s->l.ir->n_mem += 2;
	x->space = SPACE_SHARED;
	x->offset = to_offset;
	x->type = PTX_B8;
	x->bytes = (uint8_t)bytes;
	x->s[0] = to;
	x->s[1] = from;
	x->s[2] = used;
	x->s[3] = src_const((uint64_t)from_offset);
	x->n_s = 4;
	x->bypass_l1 = sl_has(s, SASS_MOD_BYPASS);
	return true;
}

/* --- constants --- */

bool sl_ldc(struct sass_lower *s)
{
	const struct sass_operand *o = sl_src_operand(s, 0);
	const struct width w = width_of(s);
	struct xsrc at;
	uint64_t v;
	if (!o || o->kind != SASS_OPND_CONST)
		return sl_refuse(s, "this form of constant");
	int64_t offset = o->value;
	const bool computed = o->words || o->uwords || o->desc != SASS_NO_REG;
	if (computed && (o->bank || !sl_known_place(s, o, &offset))) {
		if (!sl_constant_address(s, o, &at, &offset))
			return sl_refuse(s, "the emulator does not know constants at a computed place here");
		load_words(s, SPACE_CONST, w, at, offset);
		return true;
	}
	for (unsigned k = 0; k < w.words; k++) {
		if (!sl_constant(s, o->bank, offset + 4 * k, w.bytes, &v))
			return sl_refuse(s, "the emulator does not know what this constant bank holds");
		if (w.type == PTX_S8)
			v = (uint64_t)(int8_t)v;
		else if (w.type == PTX_S16)
			v = (uint64_t)(int16_t)v;
		sl_set1(s, sl_dst(s, k), E_mov_b32, src_const((uint32_t)v));
	}
	return true;
}

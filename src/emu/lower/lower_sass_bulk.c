/*
 * Machine code of bulk copies (PTX ISA 9.0, 9.7.9.25 and 9.7.9.26): the warp asks once, with
 * uniform registers in a row from the one that is named. Of a copy into shared memory these are the
 * place and its barrier, of a tensor's box then its coordinates. Moved at once, as in vm/bulk.c.
 */
#include "emu/lower/sass_lower.h"

#include <string.h>

/* Uniform register @word of memory operand @n. */
static struct xsrc word_of(struct sass_lower *s, unsigned n, unsigned word)
{
	const struct sass_operand *m = sl_place_operand(s, n);
	const int32_t r = m && m->ureg != SASS_NO_REG ? sl_reg(s, SASS_OPND_UREG, m->ureg + word) : -1;
	return r < 0 ? src_const(0) : src_reg(r);
}

static struct xsrc global_address(struct sass_lower *s, unsigned n)
{
	const struct sass_operand *m = sl_place_operand(s, n);
	return sl_pair(s, SASS_OPND_UREG, m->ureg);
}

/* The same once for the warp. @counted: it moves bytes of global memory, which takes two numbers:
 * the shared side, the global side. */
static void call_once(struct sass_lower *s, enum system_call call, unsigned n,
                      const struct xsrc *arg, bool counted)
{
	const int32_t p = sl_one_lane(s);
	struct xop *x = low_emit(&s->l, X_SYSTEM);
	x->op = (uint16_t)call;
	x->guard = p;
	x->n_s = (uint8_t)n;
	memcpy(x->s, arg, n * sizeof *arg);
	if (counted) {
		x->mem = (int32_t)s->l.ir->n_mem;
		s->l.ir->n_mem += 2;
	}
}

/* The last operand, but for the policy of caches. */
static struct xsrc last_number(struct sass_lower *s)
{
	unsigned n = s->i->n_operands;
	while (n && s->i->operands[n - 1].kind == SASS_OPND_POLICY)
		n--;
	return sl_bits(s, n - s->i->n_dsts - 1u);
}

static bool places(struct sass_lower *s)
{
	for (unsigned n = 0; n < 2; n++) {
		const struct sass_operand *m = sl_place_operand(s, n);
		if (!m || m->ureg == SASS_NO_REG || m->reg != SASS_NO_REG || m->value)
			return sl_refuse(s, "this form of bulk copy");
	}
	return true;
}

static enum ptx_type element(const struct sass_lower *s)
{
	static const struct {
		enum sass_mod mod;
		enum ptx_type type;
	} all[] = { { SASS_MOD_F16, PTX_F16 }, { SASS_MOD_BF16, PTX_BF16 }, { SASS_MOD_F32, PTX_F32 },
		        { SASS_MOD_F64, PTX_F64 }, { SASS_MOD_S32, PTX_S32 },   { SASS_MOD_S64, PTX_S64 },
		        { SASS_MOD_U64, PTX_U64 }, { SASS_MOD_64, PTX_U64 } };
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (sl_has(s, all[k].mod))
			return all[k].type;
	return PTX_U32;
}

/* The lower half of the last register is the number of 16-byte pieces, the upper one the set of
 * blocks of the cluster that they go to. */
static struct xsrc piece_bytes(struct sass_lower *s, struct xsrc v)
{
	const struct xsrc n = sl_op2(s, E_and_b32, v, src_const(0xffff));
	return sl_extended(s, sl_op2(s, E_shl_b32, n, src_const(4)));
}

static struct xsrc block_set(struct sass_lower *s, struct xsrc v)
{
	return sl_extended(s, sl_op2(s, E_shr_u32, v, src_const(16)));
}

/* UBLKCP, UBLKRED: .S.G into shared memory, .G.S out of it, .S.S between blocks. */
bool sl_bulk(struct sass_lower *s)
{
	const bool reduces = s->i->op == SASS_UBLKRED, many = sl_has(s, SASS_MOD_MULTICAST);
	const enum ptx_atom atom = reduces ? sl_atomic_operation(s) : ATOM_NONE;
	if (!places(s) || s->i->n_mods < 2 || (reduces && atom == ATOM_NONE))
		return sl_refuse(s, "this form of bulk copy");
	const bool in = s->i->mods[0] == SASS_MOD_S, inside = in && s->i->mods[1] == SASS_MOD_S;
	const struct xsrc amount = last_number(s);
	const struct xsrc arg[6] = {
		sl_shared_address(s, word_of(s, in ? 0 : 1, 0)),
		inside ? sl_shared_address(s, word_of(s, 1, 0)) : global_address(s, in ? 1 : 0),
		piece_bytes(s, amount),
		in ? sl_shared_address(s, word_of(s, 0, 1)) : src_const(0),
		many ? block_set(s, amount) : src_const(0),
		src_const(BULK_OP(atom, element(s)) | (many ? BULK_MULTICAST : 0)),
	};
	call_once(s,
	          inside    ? SYSTEM_BULK_SHARED
	          : in      ? SYSTEM_BULK_LOAD
	          : reduces ? SYSTEM_BULK_REDUCE
	                    : SYSTEM_BULK_STORE,
	          6, arg, !inside);
	return true;
}

/* A function of the driver that sm_120 calls where a copy goes to another block's shared memory:
 * from register @at on the place, the source, the bytes, the barrier and a policy of caches, of
 * which the bytes take 4 bytes, the others 8. Each lane calls it. */
bool sl_bulk_call(struct sass_lower *s, unsigned at)
{
	const struct xsrc arg[6] = {
		sl_shared_address(s, src_reg(sl_reg(s, SASS_OPND_REG, at))),
		sl_pair(s, SASS_OPND_REG, at + 2),
		sl_op1(s, E_zext64, src_reg(sl_reg(s, SASS_OPND_REG, at + 4))),
		sl_shared_address(s, src_reg(sl_reg(s, SASS_OPND_REG, at + 6))),
		src_const(0),
		src_const(BULK_OP(ATOM_NONE, PTX_U32)),
	};
	struct xop *x = sl_emit(s, X_SYSTEM);
	x->op = SYSTEM_BULK_LOAD;
	x->n_s = 6;
	memcpy(x->s, arg, sizeof arg);
	x->mem = (int32_t)s->l.ir->n_mem;
	s->l.ir->n_mem += 2;
	return true;
}

/* UTMALDG, UTMASTG, UTMAREDG: a box of a tensor. */
bool sl_tensor_copy(struct sass_lower *s)
{
	static const enum sass_mod dims[] = { SASS_MOD_1D, SASS_MOD_2D, SASS_MOD_3D, SASS_MOD_4D,
		                                  SASS_MOD_5D };
	const bool out = s->i->op != SASS_UTMALDG, many = sl_has(s, SASS_MOD_MULTICAST);
	const enum ptx_atom atom = s->i->op == SASS_UTMAREDG ? sl_atomic_operation(s) : ATOM_NONE;
	unsigned n = 0;
	for (unsigned k = 0; k < 5; k++)
		n = sl_has(s, dims[k]) ? k + 1 : n;
	if (!places(s) || !n || (s->i->op == SASS_UTMAREDG && atom == ATOM_NONE))
		return sl_refuse(s, "this form of bulk copy");
	struct xsrc arg[SYSTEM_ARGS] = {
		sl_shared_address(s, word_of(s, 0, 0)),
		global_address(s, 1),
		out ? src_const(0) : sl_shared_address(s, word_of(s, 0, 1)),
		many ? block_set(s, last_number(s)) : src_const(0),
		src_const(BULK_OP(atom, PTX_NONE) | (many ? BULK_MULTICAST : 0)),
	};
	for (unsigned k = 0; k < 5; k++)
		arg[5 + k] = k < n ? sl_extended(s, word_of(s, 0, (out ? 1 : 2) + k)) : src_const(0);
	call_once(s,
	          !out                ? SYSTEM_TENSOR_LOAD
	          : atom == ATOM_NONE ? SYSTEM_TENSOR_STORE
	                              : SYSTEM_TENSOR_REDUCE,
	          SYSTEM_ARGS, arg, true);
	return true;
}

/* STAS [place, barrier], data; REDAS with an operation: every lane into another block's memory. */
bool sl_remote_store(struct sass_lower *s)
{
	const struct sass_operand *m = sl_place_operand(s, 0);
	const bool adds = s->i->op == SASS_REDAS;
	const enum ptx_atom atom = adds ? sl_atomic_operation(s) : ATOM_NONE;
	const unsigned words = sl_has(s, SASS_MOD_128)                             ? 4
	                       : sl_has(s, SASS_MOD_64) || sl_has(s, SASS_MOD_U64) ? 2
	                                                                           : 1;
	if (!m || m->reg == SASS_NO_REG || m->ureg != SASS_NO_REG || (adds && atom == ATOM_NONE))
		return sl_refuse(s, "this store into another block's memory");
	const struct sass_operand *data = sl_data_operand(s, 0);
	if (!data)
		return sl_refuse(s, "this store into another block's memory");
	struct xsrc to = src_reg(sl_reg(s, SASS_OPND_REG, m->reg));
	if (m->value)
		to = sl_op2(s, E_add_b32, to, src_const((uint32_t)m->value));
	const bool wide = adds && words == 2;
	struct xsrc arg[8] = { sl_shared_address(s, to),
		                   sl_shared_address(s, src_reg(sl_reg(s, SASS_OPND_REG, m->reg + 1))),
		                   src_const(BULK_OP(atom, adds ? element(s) : PTX_B32)),
		                   src_const(wide ? 1 : words) };
	for (unsigned k = 0; k < words && !wide; k++)
		arg[4 + k] = sl_extended(s, sl_data_word(s, data, k));
	if (wide)
		arg[4] = sl_pair(s, data->kind, data->reg);
	sl_system(s, SYSTEM_REMOTE_STORE, 4 + (wide ? 1 : words), arg, -1);
	return true;
}

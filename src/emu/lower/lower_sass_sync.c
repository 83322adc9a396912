/*
 * Machine code of what waits for one another beyond a block's barriers: barriers in shared memory
 * (SYNCS: PTX's mbarrier), clusters, and the choice of one lane.
 *
 * What SYNCS gives as a barrier's state looks as on hardware, since code takes it apart: bit 63 is
 * the phase's parity, bits 43 to 62 are the arrivals still awaited, below zero. In memory the
 * barrier is the emulator's (vm/mbarrier.c).
 */
#include "emu/lower/sass_lower.h"

void sl_system(struct sass_lower *s, enum system_call call, unsigned n, const struct xsrc *arg,
               int32_t d)
{
	struct xop *x = sl_emit(s, X_SYSTEM);
	x->op = (uint16_t)call;
	x->n_s = (uint8_t)n;
	for (unsigned k = 0; k < n; k++)
		x->s[k] = arg[k];
	x->n_d = d >= 0;
	x->d[0] = d;
}

/* --- barriers in shared memory --- */

/* How many are awaited, of the word that makes a barrier: (2^20 - n) << 1. */
static struct xsrc count_in(struct sass_lower *s, struct xsrc low)
{
	const struct xsrc n = sl_op2(s, E_shr_u32, low, src_const(1));
	return sl_op2(s, E_sub_b32, src_const(1u << 20), n);
}

/* The upper word of a state, made of the emulator's. */
static struct xsrc upper_word(struct sass_lower *s, struct xsrc state)
{
	const struct xsrc phase = sl_op2(s, E_shr_u64, state, src_const(61));
	const struct xsrc parity = sl_op2(s, E_shl_b32, sl_op1(s, E_trunc32, phase), src_const(31));
	const struct xsrc awaited =
		sl_op2(s, E_and_b32, sl_op1(s, E_trunc32, state), src_const((1u << 20) - 1));
	const struct xsrc below =
		sl_op2(s, E_shl_b32, sl_op2(s, E_sub_b32, src_const(0), awaited), src_const(12));
	return sl_op2(s, E_or_b32, parity, sl_op2(s, E_shr_u32, below, src_const(1)));
}

static bool arrive(struct sass_lower *s, struct xsrc at)
{
	const struct xsrc given = sl_extended(s, sl_bits(s, 1));
	const bool transactions = !sl_has(s, SASS_MOD_A1T0) && !sl_has(s, SASS_MOD_ART0);
	const int32_t low = sl_dst(s, 0), high = sl_dst(s, 1);
	if (sl_has(s, SASS_MOD_A0TX)) { /* so many bytes have come */
		const struct xsrc less[2] = { at, sl_op2(s, E_sub_b64, src_const(0), given) };
		sl_system(s, SYSTEM_MBARRIER_BYTES, 2, less, -1);
		return true;
	}
	if (sl_has(s, SASS_MOD_A0T1) || sl_has(s, SASS_MOD_A0TR)) {
		const struct xsrc more[2] = { at, sl_has(s, SASS_MOD_A0T1) ? src_const(1) : given };
		sl_system(s, SYSTEM_MBARRIER_BYTES, 2, more, -1);
		return true;
	}
	const struct xsrc arg[4] = { at, sl_has(s, SASS_MOD_ART0) ? given : src_const(1),
		                         src_const(sl_has(s, SASS_MOD_OPTOUT)),
		                         transactions ? given : src_const(0) };
	const int32_t state = low_temp(&s->l, 8);
	sl_system(s, SYSTEM_MBARRIER_ARRIVE, 4, arg, state);
	if (low >= 0) {
		sl_set1(s, low, E_mov_b32, src_const(0));
		sl_set1(s, high, E_mov_b32, upper_word(s, src_reg(state)));
	}
	return true;
}

bool sl_syncs(struct sass_lower *s)
{
	struct xsrc at;
	if (sl_has(s, SASS_MOD_CCTL)) { /* the barrier is no more: nothing to do */
		sl_emit(s, X_NOP);
		return true;
	}
	if (!sl_shared_place(s, 0, 0, &at))
		return false;
	if (sl_has(s, SASS_MOD_EXCH)) {
		const struct xsrc arg[2] = { at, sl_extended(s, count_in(s, sl_bits(s, 1))) };
		if (sl_dst(s, 0) >= 0)
			return sl_refuse(s, "a barrier's former state");
		sl_system(s, SYSTEM_MBARRIER_INIT, 2, arg, -1);
		return true;
	}
	if (sl_has(s, SASS_MOD_ARRIVE))
		return arrive(s, at);
	if (!sl_has(s, SASS_MOD_PHASECHK))
		return sl_refuse(s, "this use of a barrier in shared memory");
	const struct xsrc parity = sl_op2(s, E_shr_u32, sl_bits(s, 1), src_const(31));
	const struct xsrc arg[2] = { at, sl_extended(s, parity) };
	const int32_t ended = low_temp(&s->l, 8);
	sl_system(s, SYSTEM_MBARRIER_PARITY, 2, arg, ended);
	sl_set_pred(s, sl_dst_pred(s, 0), sl_cmp(s, CMP_NE, PTX_U64, src_reg(ended), src_const(0)));
	return true;
}

/* ATOMS.ARRIVE.64, of architectures before sm_90. */
bool sl_shared_arrival(struct sass_lower *s)
{
	struct xsrc at;
	const int32_t before = low_temp(&s->l, 8);
	if (!sl_shared_place(s, 0, 0, &at))
		return false;
	sl_system(s, SYSTEM_MBARRIER_COUNT, 1, &at, before);
	sl_set1(s, sl_dst(s, 0), E_trunc32, src_reg(before));
	sl_set1(s, sl_dst(s, 1), E_hi32, src_reg(before));
	return true;
}

/* ARRIVES.LDGSTSBAR: an arrival when the copies so far are done, which they are. TRANSCNT: it takes
 * back the transaction that was awaited for them. */
bool sl_arrives(struct sass_lower *s)
{
	struct xsrc at;
	if (!sl_has(s, SASS_MOD_LDGSTSBAR) || !sl_shared_place(s, 0, 0, &at))
		return sl_refuse(s, "this arrival at a barrier");
	if (sl_has(s, SASS_MOD_TRANSCNT)) {
		const struct xsrc arg[2] = { at, src_const(UINT64_MAX) };
		sl_system(s, SYSTEM_MBARRIER_BYTES, 2, arg, -1);
		return true;
	}
	const struct xsrc arg[4] = { at, src_const(1), src_const(0), src_const(0) };
	const bool counts = s->arch->sm < 90;
	sl_system(s, counts ? SYSTEM_MBARRIER_COUNT : SYSTEM_MBARRIER_ARRIVE, counts ? 1 : 4, arg,
	          low_temp(&s->l, 8));
	return true;
}

/* --- clusters --- */

bool sl_cluster_arrive(struct sass_lower *s)
{
	sl_system(s, SYSTEM_CLUSTER_ARRIVE, 0, NULL, -1);
	return true;
}

bool sl_cluster_wait(struct sass_lower *s)
{
	sl_system(s, SYSTEM_CLUSTER_WAIT, 0, NULL, -1);
	return true;
}

/* --- one lane of the warp --- */

/* ELECT p, d, q: p holds in one lane, d is its number. */
bool sl_elect(struct sass_lower *s)
{
	const struct xsrc among = sl_pred(s, 0, true);
	const int32_t d = sl_dst(s, 0), p = sl_dst_pred(s, 0);
	if (among.kind != S_CONST || !among.value)
		return sl_refuse(s, "a choice among some of the lanes");
	struct xop *x = sl_emit(s, X_ELECT);
	x->bytes = 4;
	x->n_d = 2;
	x->d[0] = d;
	x->d[1] = p;
	sl_wrote(s, d);
	return true;
}

int32_t sl_one_lane(struct sass_lower *s)
{
	const int32_t p = low_bool(&s->l, -1, BOOL_NONE, src_const(0), src_const(0));
	struct xop *x = sl_emit(s, X_ELECT);
	x->bytes = 4;
	x->n_d = 2;
	x->d[0] = -1;
	x->d[1] = p;
	return p;
}

/*
 * Lanes of a warp that come to one kind of instruction of the whole warp in different arms of a
 * branch, as __syncwarp(), a shuffle or a vote in each of them: every lane waits for the lanes of
 * its mask, wherever they are, and exchanges with them, as an H200 has it
 * (tests/programs/warp_meetings.cu). The lanes there wait as parts of the warp (parts.c).
 */
#include "emu/vm/handler.h"

/* The lanes that lane @lane names at @u. */
uint32_t exchange_members(const struct warp *w, const struct uop *u, unsigned lane)
{
	const struct xop *x = &w->image->ir.ops[u->xop];
	if (ir_of_machine_code(&w->image->ir))
		return w->collective >> lane & 1 ? w->together[lane] : 0; /* as WARPSYNC told */
	const unsigned i = x->kind == X_SHFL ? 3 : x->kind == X_WARPSYNC ? 0 : 1;
	if (i >= x->n_s)
		return 0;
	const struct xsrc *s = &x->s[i];
	return s->kind == S_REG ? (uint32_t)vm_lane_value(w, (unsigned)s->reg, 4, lane)
	                        : (uint32_t)s->value;
}

bool exchange_apart(const struct warp *w, const struct uop *u, uint32_t mask)
{
	const struct xop *x = &w->image->ir.ops[u->xop];
	if (w->given & mask)
		return true;
	if (ir_of_machine_code(&w->image->ir) ? !(w->collective & mask) : x->guard >= 0)
		return false;
	const uint32_t others = w->live & ~mask;
	for (uint32_t m = mask; m; m &= m - 1)
		if (exchange_members(w, u, (unsigned)__builtin_ctz(m)) & others)
			return true;
	return false;
}

/* Tells what lane @lane does at @u, and which lanes it is about. False: the warp stops there. */
static bool tell(struct warp *w, const struct uop *u, enum fault_kind kind, unsigned lane,
                 uint64_t about)
{
	if (w->worker->grid->lenient) {
		vm_note(w, u, kind, lane)->address = about;
		return true;
	}
	vm_fault(w, u, kind, lane);
	w->worker->fault.address = about;
	return false;
}

bool exchange_names_all(struct warp *w, const struct uop *u, uint32_t lanes, uint32_t named)
{
	const uint32_t unnamed = lanes & ~named;
	return !unnamed || tell(w, u, FAULT_WARP_UNNAMED, (unsigned)__builtin_ctz(unnamed), named);
}

bool exchange_reads_named(struct warp *w, const struct uop *u, unsigned lane, unsigned read)
{
	return tell(w, u, FAULT_WARP_UNREAD, lane, read);
}

/* --- what comes of it --- */

uint32_t warp_vote(enum ptx_mode mode, uint32_t p, uint32_t active)
{
	switch (mode) {
	case MODE_ALL: return (p & active) == active ? 0xffffffffu : 0;
	case MODE_ANY: return p & active ? 0xffffffffu : 0;
	case MODE_UNI: return (p & active) == active || (p & active) == 0 ? 0xffffffffu : 0;
	default: return p & active;
	}
}

uint32_t warp_reduce(const uint32_t *a, uint32_t active, enum ptx_atom op, bool sign)
{
	uint32_t r = 0;
	bool first = true;
	for (uint32_t m = active; m; m &= m - 1) {
		const uint32_t v = a[__builtin_ctz(m)];
		const bool less = sign ? (int32_t)v < (int32_t)r : v < r;
		if (first)
			r = v;
		else
			switch (op) {
			case ATOM_ADD: r += v; break;
			case ATOM_MIN: r = less ? v : r; break;
			case ATOM_MAX: r = less ? r : v; break;
			case ATOM_AND: r &= v; break;
			case ATOM_OR: r |= v; break;
			default: r ^= v; break;
			}
		first = false;
	}
	return r;
}

struct exchange {
	uint32_t lanes;
	const struct uop *of[32]; /* by lane: its instruction */
};

/* What lane @from has for @lane. From a lane that takes no part it is whatever the register holds.
 */
static uint64_t offered(const struct warp *w, const struct exchange *e, unsigned lane,
                        unsigned from)
{
	const struct uop *u = e->of[e->lanes >> from & 1 ? from : lane];
	const struct xop *x = &w->image->ir.ops[u->xop];
	if (x->kind == X_VOTE)
		return (PRED(u->a) ^ (uint32_t)u->x.u) >> from & 1;
	if (x->kind == X_MATCH && u->c == 8)
		return ((const mem_u64 *)frame(w, u->a))[from];
	return ((const mem_u32 *)frame(w, u->a))[from];
}

static void give(struct warp *w, unsigned lane, uint32_t value, bool pred)
{
	w->given |= 1u << lane;
	w->given_value[lane] = value;
	w->given_pred = (w->given_pred & ~(1u << lane)) | (uint32_t)pred << lane;
}

static void shuffle(struct warp *w, const struct exchange *e, unsigned lane)
{
	const struct uop *u = e->of[lane];
	const mem_u32 *b = frame(w, u->b), *c = frame(w, u->c);
	bool inside;
	const unsigned from = lane_shfl_source((enum ptx_mode)u->x.u, lane, b[lane], c[lane], &inside);
	give(w, lane, (uint32_t)offered(w, e, lane, from), inside);
}

static void vote(struct warp *w, const struct exchange *e, unsigned lane, uint32_t active)
{
	uint32_t p = 0;
	for (uint32_t m = active; m; m &= m - 1)
		p |= (uint32_t)offered(w, e, lane, (unsigned)__builtin_ctz(m)) << __builtin_ctz(m);
	const uint32_t r = warp_vote((enum ptx_mode)e->of[lane]->y, p, active);
	give(w, lane, r, r >> lane & 1);
}

static void match(struct warp *w, const struct exchange *e, unsigned lane, uint32_t active)
{
	const uint64_t mine = offered(w, e, lane, lane);
	uint32_t same = 0;
	for (uint32_t m = active; m; m &= m - 1)
		same |= offered(w, e, lane, (unsigned)__builtin_ctz(m)) == mine ? m & -m : 0;
	const bool all = same == active;
	const uint32_t of_all = all ? active : 0;
	give(w, lane, (enum ptx_mode)e->of[lane]->x.u == MODE_ALL ? of_all : same, all);
}

static void reduce(struct warp *w, const struct exchange *e, unsigned lane, uint32_t active)
{
	const struct uop *u = e->of[lane];
	uint32_t v[32];
	for (unsigned i = 0; i < 32; i++)
		v[i] = (uint32_t)offered(w, e, lane, i);
	give(w, lane, warp_reduce(v, active, (enum ptx_atom)u->x.u, u->y), false);
}

void exchange_meet(struct warp *w, uint32_t parts)
{
	struct exchange e = { 0 };
	for (; parts; parts &= parts - 1) {
		const struct warp_part *p = &w->part[__builtin_ctz(parts)];
		for (uint32_t m = p->mask; m; m &= m - 1)
			e.of[__builtin_ctz(m)] = p->at;
		e.lanes |= p->mask;
	}
	warp_synced(w, e.lanes);
	for (uint32_t m = e.lanes; m; m &= m - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(m);
		const uint32_t active = e.lanes & exchange_members(w, e.of[lane], lane);
		switch (w->image->ir.ops[e.of[lane]->xop].kind) {
		case X_SHFL: shuffle(w, &e, lane); break;
		case X_VOTE: vote(w, &e, lane, active); break;
		case X_MATCH: match(w, &e, lane, active); break;
		case X_REDUX: reduce(w, &e, lane, active); break;
		default: give(w, lane, 0, false); break;
		}
	}
}

void exchange_take(struct warp *w, const struct uop *u)
{
	const struct xop *x = &w->image->ir.ops[u->xop];
	const uint32_t mask = w->mask;
	const bool one = x->kind == X_SHFL || x->kind == X_MATCH;
	const uint32_t pred = one ? u->y : x->kind == X_VOTE && u->c ? u->d : 0;
	/* else a scalar, which the next micro-operation spreads */
	const bool lanes = one || (x->n_d && x->d[0] >= 0 && u->d == w->program->reg_slot[x->d[0]]);
	w->given &= ~mask;
	w->collective &= ~mask;
	if (pred)
		PRED(pred) = (PRED(pred) & ~mask) | (w->given_pred & mask);
	if (x->kind == X_WARPSYNC || !u->d || (pred && !one))
		return;
	if (!lanes)
		SCALAR64(u->d) = w->given_value[__builtin_ctz(mask)];
	for (uint32_t m = lanes ? mask : 0; m; m &= m - 1)
		((mem_u32 *)frame(w, u->d))[__builtin_ctz(m)] = w->given_value[__builtin_ctz(m)];
}

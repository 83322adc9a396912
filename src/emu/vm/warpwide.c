/*
 * Instructions in which lanes see one another: shfl, vote, match, redux, activemask, elect.
 *
 * Lanes that do not execute the instruction take no part. Reading from such a lane is undefined
 * in PTX; here it gives whatever its register holds. PTX ISA 9.0 sections 9.7.9 and 9.7.13.
 *
 * So is executing it where the mask does not name the lane, which is reported. Where one mask holds
 * for all, all that execute it then take part, as on an H200: the machine's REDUX, VOTE, MATCH and
 * SHFL know no mask.
 */
#include "emu/vm/handler.h"
#include "timemodel/held_warp.h"

#include <string.h>

static const struct uop *come_apart(struct warp *w, const struct uop *u)
{
	return ir_of_machine_code(&w->image->ir) ? meet_exchange(w, u) : parts_exchange(w, u);
}

/* The same where some lanes of the warp are elsewhere, which others may have to wait for. */
#define MASKED(name)                                                     \
	HANDLER(name##_masked)                                               \
	{                                                                    \
		if ((mask != w->live || w->given) && exchange_apart(w, u, mask)) \
			CONTINUE(come_apart(w, u));                                  \
		EMU_JUMP name(w, u, mask);                                       \
	}

#define EACH_ACTIVE(i, m)                                                                    \
	for (uint32_t i##_rest = (m), i; i##_rest && (i = (uint32_t)__builtin_ctz(i##_rest), 1); \
	     i##_rest &= i##_rest - 1)

static void set_pred(struct warp *w, uint32_t slot, uint32_t mask, uint32_t bits)
{
	PRED(slot) = (PRED(slot) & ~mask) | (bits & mask);
}

/* Where each lane reads from (below 32, whatever the registers hold) and, as all ones, whether
 * that is inside its segment: lane_shfl_source() of all lanes at once. */
#define SHFL_SOURCES(FROM, INSIDE)                                               \
	for (int32_t i = 0; i < 32; i++) {                                           \
		const int32_t by = (int32_t)(b[i] & 31), segment = (int32_t)(c[i] >> 8); \
		const int32_t low = i & segment, ends = (int32_t)c[i] & ~segment & 31;   \
		const int32_t high = low | ends, at = (FROM);                            \
		const int32_t in = -(int32_t)(INSIDE);                                   \
		from[i] = (uint32_t)((at & in) | (i & ~in)) & 31;                        \
		inside[i] = (uint32_t)in;                                                \
	}

static void shfl_sources(enum ptx_mode mode, const mem_u32 *restrict b, const mem_u32 *restrict c,
                         uint32_t *restrict from, uint32_t *restrict inside)
{
	switch (mode) {
	case MODE_UP: SHFL_SOURCES(i - by, at >= high) break;
	case MODE_DOWN: SHFL_SOURCES(i + by, at <= high) break;
	case MODE_BFLY: SHFL_SOURCES(i ^ by, at <= high) break;
	default: SHFL_SOURCES(low | (by & ~segment), at <= high) break;
	}
}

/* SHFL: 32 lanes d, a, b, c; x.u mode; y predicate slot, 0 = none */
HANDLER(shfl)
{
	mem_u32 *d = frame(w, u->d);
	const mem_u32 *a = frame(w, u->a);
	uint32_t from[32], inside[32], given[32];
	shfl_sources((enum ptx_mode)u->x.u, frame(w, u->b), frame(w, u->c), from, inside);
	if (u->d) {
		memcpy(given, a, sizeof given); /* d may be a */
		if (mask == 0xffffffffu)
			for (unsigned i = 0; i < 32; i++)
				d[i] = given[from[i]];
		else
			EACH_ACTIVE(i, mask) d[i] = given[from[i]];
	}
	if (u->y) {
		uint32_t bits = 0;
		for (unsigned i = 0; i < 32; i++)
			bits |= inside[i] & 1u << i;
		set_pred(w, u->y, mask, bits);
	}
	warp_synced(w, mask);
	NEXT_UOP;
}

/* All of @mask, if its lanes name the same members, else 0. */
static uint32_t one_mask(uint32_t mask, const mem_u32 *members)
{
	const uint32_t first = members[__builtin_ctz(mask)];
	bool same = true;
	EACH_ACTIVE(i, mask) same &= members[i] == first;
	return same ? mask : 0;
}

/* Does each of @mask read a lane that its own mask does not name? *read: the first one's. */
static bool all_read_unnamed(uint32_t mask, const mem_u32 *members, const mem_u32 *b,
                             const mem_u32 *c, unsigned *read)
{
	bool first = true;
	EACH_ACTIVE(i, mask)
	{
		bool inside;
		const unsigned from = lane_shfl_source(MODE_IDX, i, b[i], c[i], &inside);
		if (members[i] >> from & 1)
			return false;
		*read = first ? from : *read;
		first = false;
	}
	return true;
}

/* NAMED: a members (y 1 = scalar, 0 = lanes); of shfl.idx: b, c its lanes, else 0 */
HANDLER(named)
{
	mem_u32 members[32];
	uint32_t unnamed = 0;
	unsigned read = 0;
	for (unsigned i = 0; i < 32; i++)
		members[i] = u->y ? SCALAR32(u->a) : ((const mem_u32 *)frame(w, u->a))[i];
	EACH_ACTIVE(i, mask) unnamed |= ~members[i] & 1u << i;
	if (unnamed) {
		const uint32_t first = unnamed & -unnamed;
		if (!exchange_names_all(w, u, first, members[__builtin_ctz(first)]))
			return NULL;
	} else if (u->b && all_read_unnamed(mask, members, frame(w, u->b), frame(w, u->c), &read)) {
		if (!exchange_reads_named(w, u, (unsigned)__builtin_ctz(mask), read))
			return NULL;
	}
	NEXT_UOP;
}

/* VOTE: predicate a (inverted by x.u); d result, c 1 = a predicate; y mode */
HANDLER(vote)
{
	const uint32_t p = PRED(u->a) ^ (uint32_t)u->x.u;
	const uint32_t r = warp_vote((enum ptx_mode)u->y, p, mask);
	if (u->c)
		set_pred(w, u->d, mask, r);
	else
		SCALAR64(u->d) = r;
	warp_synced(w, mask);
	NEXT_UOP;
}
HANDLER(vote_lanes) /* members differ between lanes: 32 lanes b, and d unless a predicate */
{
	const uint32_t p = PRED(u->a) ^ (uint32_t)u->x.u;
	const mem_u32 *members = frame(w, u->b);
	const uint32_t one = one_mask(mask, members);
	uint32_t bits = 0;
	EACH_ACTIVE(i, mask)
	{
		const uint32_t r = warp_vote((enum ptx_mode)u->y, p, one ? one : mask & members[i]);
		if (u->c)
			bits |= r & 1u << i;
		else
			((mem_u32 *)frame(w, u->d))[i] = r;
	}
	if (u->c)
		set_pred(w, u->d, mask, bits);
	warp_synced(w, mask);
	NEXT_UOP;
}

/* The lanes whose value of @bytes bytes is that of lane @lane. */
static uint32_t equal_lanes(const void *values, uint32_t bytes, unsigned lane)
{
	const mem_u32 *a32 = values;
	const mem_u64 *a64 = values;
	uint32_t equal = 0;
	if (bytes == 8)
		for (unsigned i = 0; i < 32; i++)
			equal |= (uint32_t)(a64[i] == a64[lane]) << i;
	else
		for (unsigned i = 0; i < 32; i++)
			equal |= (uint32_t)(a32[i] == a32[lane]) << i;
	return equal;
}

/* A card looks for one of the lanes' values after the other. */
static void note_match(struct warp *w, const struct uop *u, unsigned values)
{
	const int32_t mem = w->image->ir.ops[u->xop].mem;
	if (mem >= 0 && !w->worker->grid->quick)
		w->mem[mem].passes += values;
}

/* MATCH: 32 lanes a of c bytes, b members (lanes); d lanes (0 = sink); x.u mode; y predicate, 0 =
 * none. Lanes of one value and the same members get the same: they are done together. */
HANDLER(match)
{
	const mem_u32 *members = frame(w, u->b);
	const bool wants_all = (enum ptx_mode)u->x.u == MODE_ALL;
	const uint32_t one = one_mask(mask, members);
	uint32_t r[32], all_bits = 0;
	unsigned values = 0;
	for (uint32_t left = mask; left; values++) {
		const unsigned lane = (unsigned)__builtin_ctz(left);
		const uint32_t active = one ? one : mask & members[lane];
		const uint32_t equal = equal_lanes(frame(w, u->a), u->c, lane), same = equal & active;
		const bool all = same == active;
		uint32_t alike = 0;
		EACH_ACTIVE(i, (left & equal))
		{
			if (members[i] != members[lane])
				continue;
			r[i] = wants_all ? (all ? active : 0) : same;
			alike |= 1u << i;
		}
		all_bits |= all ? alike : 0;
		left &= ~alike;
	}
	if (u->d)
		EACH_ACTIVE(i, mask)((mem_u32 *)frame(w, u->d))[i] = r[i];
	if (u->y)
		set_pred(w, u->y, mask, all_bits);
	note_match(w, u, wants_all ? 1 : values);
	warp_synced(w, mask);
	NEXT_UOP;
}

/* REDUX: 32 lanes a; x.u operation; y 1 = signed */
HANDLER(redux)
{
	SCALAR64(u->d) = warp_reduce(frame(w, u->a), mask, (enum ptx_atom)u->x.u, u->y);
	warp_synced(w, mask);
	NEXT_UOP;
}
HANDLER(redux_lanes) /* 32 lanes b: members, which may differ */
{
	const mem_u32 *a = frame(w, u->a), *members = frame(w, u->b);
	const uint32_t one = one_mask(mask, members);
	uint32_t r[32];
	uint32_t of = 0, all = 0; /* most lanes have the members of the one before */
	EACH_ACTIVE(i, mask)
	{
		if (!of || members[i] != of)
			all = warp_reduce(a, one ? one : mask & members[i], (enum ptx_atom)u->x.u, u->y);
		of = members[i];
		r[i] = all;
	}
	EACH_ACTIVE(i, mask)((mem_u32 *)frame(w, u->d))[i] = r[i];
	warp_synced(w, mask);
	NEXT_UOP;
}

/* ACTIVE: d scalar */
HANDLER(active)
{
	SCALAR64(u->d) = mask;
	NEXT_UOP;
}

/* ELECT: d scalar or 0, y predicate or 0 */
HANDLER(elect)
{
	const uint32_t leader = (uint32_t)__builtin_ctz(mask);
	if (u->d)
		SCALAR64(u->d) = leader;
	if (u->y)
		set_pred(w, u->y, mask, 1u << leader);
	warp_synced(w, mask);
	NEXT_UOP;
}

/* WARP SYNC: orders what the lanes did before and do after it */
HANDLER(warp_sync)
{
	warp_synced(w, mask);
	NEXT_UOP;
}

/* WARP SYNC PARTS: a: the lanes that each lane waits for */
HANDLER(sync_parts)
{
	const mem_u32 *with = frame(w, u->a);
	for (uint32_t left = mask; left;) {
		const uint32_t wanted = with[__builtin_ctz(left)];
		uint32_t part = 0;
		for (uint32_t m = left; m; m &= m - 1)
			part |= with[__builtin_ctz(m)] == wanted ? m & -m : 0;
		if (!exchange_names_all(w, u, part, wanted))
			return NULL;
		warp_synced(w, part);
		left &= ~part;
	}
	NEXT_UOP;
}

/* COPIES: a enum copies_op, b groups that need not be waited for */
HANDLER(copies)
{
	struct race_block *r = w->worker->race;
	const enum copies_op op = (enum copies_op)u->a;
	if (r && (op == COPIES_COMMIT || op == COPIES_WAIT_ALL))
		race_copies_commit(r, w->number, mask);
	if (r && (op == COPIES_WAIT || op == COPIES_WAIT_ALL))
		race_copies_wait(r, w->number, mask, u->b);
	if (r && op == COPIES_BULK_COMMIT)
		race_bulk_commit(r, w->number, mask);
	if (r && (op == COPIES_BULK_WAIT || op == COPIES_BULK_WAIT_READ))
		race_bulk_wait(r, w->number, mask, u->b, op == COPIES_BULK_WAIT_READ);
	if (r && op == COPIES_FENCE)
		race_proxy_fence(r, w->number, mask);
	NEXT_UOP;
}

/* FENCE: y scope */
HANDLER(fence)
{
	if (w->worker->race)
		race_fence(w->worker->race, w->number, mask, (enum ptx_scope)u->y);
	NEXT_UOP;
}

/* REST: the next branch lets others run; b 1 = a 32 lane nanoseconds, of which the longest count */
HANDLER(rest)
{
	const int32_t mem = w->image->ir.ops[u->xop].mem;
	if (u->b && mem >= 0 && !w->worker->grid->quick) {
		const mem_u32 *ns = frame(w, u->a);
		uint32_t most = 0;
		for (uint32_t m = mask; m; m &= m - 1) {
			const uint32_t of_lane = ns[__builtin_ctz(m)];
			most = of_lane > most ? of_lane : most;
		}
		w->mem[mem].passes += sleep_period_ns(most);
	}
	w->fuel = 0;
	NEXT_UOP;
}

/* LOOK: the same where blocks take turns, as on a card others run while a warp waits */
HANDLER(look)
{
	if (w->worker->grid->together)
		w->fuel = 0;
	NEXT_UOP;
}

MASKED(shfl)
MASKED(vote)
MASKED(vote_lanes)
MASKED(match)
MASKED(redux)
MASKED(redux_lanes)
MASKED(warp_sync)
MASKED(sync_parts)

const struct warp_handlers vm_warp_handlers = {
	.shfl = { shfl, shfl_masked },
	.vote = { vote, vote_masked },
	.vote_lanes = { vote_lanes, vote_lanes_masked },
	.match = { match, match_masked },
	.redux = { redux, redux_masked },
	.redux_lanes = { redux_lanes, redux_lanes_masked },
	.active = { active, active },
	.elect = { elect, elect },
	.sync = { warp_sync, warp_sync_masked },
	.sync_parts = { sync_parts, sync_parts_masked },
	.named = { named, named },
	.copies = { copies, copies },
	.fence = { fence, fence },
	.rest = { rest, rest },
	.look = { look, look },
};

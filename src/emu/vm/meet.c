/*
 * Divergence of machine code: parts of a warp, and where they meet again.
 *
 * A branch that splits the warp puts one side aside and goes on with the other, the smaller one,
 * or the one that does not branch if both are as large, as far as it comes: to its end, or to a
 * barrier of the warp where its lanes wait for others (BSYNC, WARPSYNC). Then the part put aside
 * last goes on. Parts are not interleaved otherwise, unless one waits for memory to change: the
 * assembler keeps values of one part in registers of the whole warp.
 *
 * Barriers are registers of the whole warp, too: BSSY adds lanes to one, BMOV moves it to and from
 * registers of lanes, the first active lane's value counts. A meeting is complete when all lanes of
 * its barrier wait there, at whatever instruction; the barrier is then empty. What follows from it
 * where calls of one function overtake one another is what an H200 does (recursion.cu).
 */
#include "emu/vm/handler.h"
#include "emu/vm/parts.h"
#include "emu/vm/replay.h"

#include <stdio.h>
#include <string.h>

static void take_out(struct warp *w, uint32_t i)
{
	w->waiting[i] = w->waiting[--w->n_waiting];
}

/* The lanes that have to come before those of @m go on. */
static uint32_t wanted_by(const struct warp *w, const struct meeting *m)
{
	return m->barrier == MEET_WARP ? m->wanted : w->meet[m->barrier];
}

/* All lanes that wait at a barrier, wherever. */
static uint32_t waiting_at(const struct warp *w, uint32_t barrier)
{
	uint32_t lanes = 0;
	for (uint32_t i = 0; i < w->n_waiting; i++)
		if (w->waiting[i].barrier == barrier)
			lanes |= w->waiting[i].here;
	return lanes;
}

/* Takes @lanes out of meeting @i. */
static void let_go(struct warp *w, uint32_t i, uint32_t lanes)
{
	struct meeting *m = &w->waiting[i];
	m->here &= w->live & ~lanes;
	m->put_here &= m->here;
	if (!m->here)
		take_out(w, i);
}

/* Where the last lanes came to meeting @i: those that wait at its barrier elsewhere go on before
 * them, if they are more, or as many and nobody else is left. */
static uint32_t larger_elsewhere(const struct warp *w, uint32_t i, uint32_t wanted)
{
	const uint32_t barrier = w->waiting[i].barrier;
	uint32_t best = i, most = lane_popc32(w->waiting[i].here & wanted) + (wanted != w->live);
	for (uint32_t k = 0; k < w->n_waiting; k++) {
		const uint32_t n = lane_popc32(w->waiting[k].here & wanted);
		if (k == i || w->waiting[k].barrier != barrier || n < most || !n)
			continue;
		best = k;
		most = n + 1;
	}
	return best;
}

/* The lanes of meeting @i go on: its barrier is empty. Do others wait at it, elsewhere? */
static bool met_apart(struct warp *w, uint32_t i)
{
	const struct meeting *m = &w->waiting[i];
	bool others = false;
	for (uint32_t k = 0; k < w->n_waiting; k++) {
		struct meeting *o = &w->waiting[k];
		if (k == i || o->barrier != m->barrier || !(o->here & w->meet[m->barrier] & w->live))
			continue;
		others = o->apart = true;
	}
	replay_unsure(w, others ? m->block - 1 : -1);
	w->meet[m->barrier] = 0;
	return others;
}

/*
 * A meeting to which all have come that are still there; its lanes go on, and those that @came with
 * the last ones. NULL = none. Where some of them were only put aside there (replay.c), all that
 * wait at this instruction go on: lanes of other calls of a function that calls itself.
 */
static const struct uop *complete_meeting(struct warp *w, uint32_t came, bool left)
{
	for (uint32_t i = w->n_waiting; i--;) {
		struct meeting m = w->waiting[i];
		const bool warp_wide = m.barrier == MEET_WARP;
		const uint32_t wanted = wanted_by(w, &m) & w->live;
		if (wanted & ~(warp_wide ? m.here : waiting_at(w, m.barrier)))
			continue;
		if (!warp_wide && !wanted && !m.apart && w->depth)
			continue; /* the barrier is kept in a register: others go on first */
		if (came && !warp_wide) {
			i = larger_elsewhere(w, i, wanted);
			m = w->waiting[i];
		}
		const bool broken = !left && !(came & waiting_at(w, m.barrier)); /* the others left it */
		uint32_t go = m.here & w->live;
		if (!warp_wide && wanted && !(m.put_here & wanted))
			go &= wanted | came;
		if (!go)
			continue;
		replay_unsure(w, m.put_here & wanted ? m.block - 1 : -1);
		if (!warp_wide)
			m.apart = met_apart(w, i) || (m.apart && !wanted);
		else
			w->collective &= ~go; /* all at one place */
		let_go(w, i, go);
		w->mask = go;
		m.wanted = wanted;
		replay_met(w, &m, left || broken || m.put_here & wanted);
		if (broken && !warp_wide)
			replay_split(w);
		return block_start(w, m.block);
	}
	return NULL;
}

/* Lanes wait for others that will not come to this barrier: the last ones that came go on. */
static const struct uop *crossed_meeting(struct warp *w)
{
	for (uint32_t i = w->n_waiting; i--;) {
		struct meeting m = w->waiting[i];
		const uint32_t there = m.here & w->live;
		if (m.barrier == MEET_WARP)
			continue;
		m.wanted = w->meet[m.barrier];
		w->meet[m.barrier] &= ~there;
		take_out(w, i);
		if (!there)
			continue;
		w->mask = there;
		replay_met(w, &m, true);
		return block_start(w, m.block);
	}
	return NULL;
}

/* Lanes may come to WARPSYNC at different places: each group then goes on from its own. */
static const struct uop *scattered_meeting(struct warp *w)
{
	for (uint32_t i = 0; i < w->n_waiting; i++) {
		const struct meeting m = w->waiting[i];
		uint32_t here = 0;
		for (uint32_t k = 0; k < w->n_waiting; k++)
			if (w->waiting[k].barrier == MEET_WARP && w->waiting[k].wanted == m.wanted)
				here |= w->waiting[k].here;
		if (m.barrier != MEET_WARP || !(m.here & w->live) || (m.wanted & w->live & ~here))
			continue;
		if (meeting_kind(w, &m) == MEET_ONE_PLACE)
			return vm_fault(w, block_start(w, m.block), FAULT_BARRIER_DIVERGED,
			                (unsigned)__builtin_ctz(m.here & w->live));
		uint32_t left = here & w->live & ~m.here;
		for (uint32_t k = w->n_waiting; k--;) {
			const struct meeting other = w->waiting[k];
			if (other.barrier != MEET_WARP || other.wanted != m.wanted)
				continue;
			take_out(w, k); /* one that was looked at takes its place */
			if (!(other.here & w->live) || other.block == m.block)
				continue;
			warp_push(w, other.here & w->live, other.block, -1);
			replay_collective(w, m.block, left);
			left &= ~other.here;
		}
		w->mask = m.here & w->live;
		return block_start(w, m.block);
	}
	return NULL;
}

static const struct uop *never_meets(struct warp *w, const struct uop *u)
{
	const struct meeting *m = &w->waiting[0];
	vm_fault(w, u, FAULT_BARRIER_STUCK, (unsigned)__builtin_ctz(m->here | 1u << 31));
	struct emu_fault *f = &w->worker->fault;
	snprintf(f->waiting, sizeof f->waiting,
	         "warp %u: lanes %08x wait for lanes %08x of the same warp, which never come",
	         w->number, m->here, wanted_by(w, m) & w->live & ~m->here);
	return NULL;
}

/* A part that has come to an instruction of the whole warp with those it waits for there; @anyhow:
 * without, as nobody else goes on. */
static const struct uop *part_together(struct warp *w, bool anyhow)
{
	const struct uop *to = exchange_opened(w);
	if (!to && exchange_met(w))
		to = exchange_opened(w);
	if (to || !anyhow)
		return to;
	uint32_t lanes;
	exchange_open(w, exchange_alike(w, 0, &lanes), false);
	return exchange_opened(w);
}

/* The present part has come to its end (@left) or waits: what goes on now. */
static const struct uop *next_part(struct warp *w, const struct uop *u, bool left)
{
	const struct uop *to = w->n_parts ? part_together(w, false) : NULL;
	to = to ? to : complete_meeting(w, left ? 0 : w->mask, left);
	int32_t block;
	if (!to && replay_pop(w, &block))
		to = block_start(w, block);
	if (to)
		return to;
	if (w->n_waiting) {
		to = scattered_meeting(w);
		to = to ? to : crossed_meeting(w);
		to = to || !w->n_parts ? to : part_together(w, true);
		return to ? to : never_meets(w, u);
	}
	if (w->n_parts)
		return part_together(w, true);
	w->mask = 0;
	w->state = WARP_DONE;
	return NULL;
}

/* --- branches --- */

COLD HANDLER(part_split) /* mask: the lanes that take the branch */
{
	const struct xblock *b = &w->image->ir.blocks[u->y];
	const uint32_t fall = w->mask & ~mask;
	const bool falls = lane_popc32(fall) <= lane_popc32(mask);
	w->worker->divergent[u->y]++;
	replay_split(w);
	w->guards[u->xop] += lane_popc32(fall);
	warp_push(w, falls ? mask : fall, b->succ[!falls], -1);
	w->mask = falls ? fall : mask;
	const struct uop *to = block_start(w, b->succ[falls]);
	if (--w->fuel < 0) /* a split may be the only branch of an endless loop */
		return yield_warp(w, to);
	CONTINUE(to);
}

/* BRANCH: a predicate, b all ones to invert it, x.to target, y block it ends; falls to u + 1 */
BRANCH_HANDLERS(part_branch, part_split(w, u, taken))

/* BRANCH TABLE */
HANDLER(part_table_any)
{
	const struct uop *to = part_table(w, u);
	if (to && --w->fuel < 0)
		return yield_warp(w, to);
	CONTINUE(to);
}

/* --- exits --- */

/* LEAVE */
HANDLER(leave_any)
{
	w->live &= ~mask;
	CONTINUE(next_part(w, u, true));
}

/* LEAVE IF: a predicate, b all ones to invert it */
HANDLER(leave_if)
{
	const uint32_t gone = (PRED(u->a) ^ u->b) & mask;
	w->live &= ~gone;
	w->guards[u->xop] += lane_popc32(gone);
	if (gone == mask)
		CONTINUE(next_part(w, u, true));
	w->mask = mask & ~gone;
	CONTINUE(u + 1);
}
HANDLER(leave_if_full)
{
	if ((PRED(u->a) ^ u->b) == 0)
		NEXT_full(u + 1);
	return leave_if(w, u, mask);
}

/* --- meetings --- */

/* BEGIN: a barrier */
HANDLER(meet_begin)
{
	w->meet_kept[u->a] &= w->meet[u->a] != 0;
	w->meet[u->a] |= mask;
	w->meet_block[u->a] = (int32_t)u->b;
	NEXT_UOP;
}
HANDLER(meet_begin_full)
{
	w->meet_kept[u->a] &= w->meet[u->a] != 0;
	w->meet[u->a] |= mask;
	w->meet_block[u->a] = (int32_t)u->b;
	NEXT_full(u + 1);
}

/* The active lanes wait at @barrier for @wanted and go on at @block. */
static const struct uop *wait_for(struct warp *w, const struct uop *u, uint32_t barrier,
                                  uint32_t wanted, int32_t block)
{
	struct meeting *m = replay_meeting(w, barrier, wanted, block);
	m->here |= w->mask;
	const struct meeting last = w->waiting[w->n_waiting - 1]; /* it is looked at first */
	w->waiting[w->n_waiting - 1] = *m;
	*m = last;
	warp_synced(w, w->mask);
	return next_part(w, u, false);
}

/* WAIT: a barrier, y block */
HANDLER(meet_wait)
{
	const uint32_t wanted = w->meet[u->a];
	if (!(wanted & w->live & ~mask)) {
		if (wanted & w->live && w->meet_kept[u->a])
			replay_count(w, u->y, 1, lane_popc32(mask));
		w->meet[u->a] = 0;
		warp_synced(w, w->mask);
		NEXT_UOP;
	}
	CONTINUE(wait_for(w, u, u->a, 0, (int32_t)u->y + 1));
}

/* WAIT WARP: a 32 lane masks, y block */
HANDLER(meet_wait_warp)
{
	const uint32_t wanted = ((const mem_u32 *)frame(w, u->a))[__builtin_ctz(mask)];
	if (!(wanted & w->live & ~mask)) {
		warp_synced(w, w->mask);
		NEXT_UOP;
	}
	CONTINUE(wait_for(w, u, MEET_WARP, wanted, (int32_t)u->y + 1));
}

/* WAIT WARP COLLECTIVE: the same, and where they come to it at several places they exchange at the
 * next instruction all the same, each at its own place */
HANDLER(meet_wait_collective)
{
	const uint32_t wanted = ((const mem_u32 *)frame(w, u->a))[__builtin_ctz(mask)];
	if (!(wanted & w->live & ~mask)) {
		warp_synced(w, w->mask);
		NEXT_UOP;
	}
	w->collective |= mask;
	for (uint32_t m = mask; m; m &= m - 1)
		w->together[__builtin_ctz(m)] = wanted;
	CONTINUE(wait_for(w, u, MEET_WARP, wanted, (int32_t)u->y + 1));
}

/* WAIT WARP EXCLUSIVE: the same, and only lanes that wait for the same lanes go on together; the
 * others come here again, as on a card, which counts a branch that splits the warp */
HANDLER(meet_wait_exclusive)
{
	uint32_t wanted_by[32];
	memcpy(wanted_by, frame(w, u->a), sizeof wanted_by);
	const uint32_t same = replay_first_group(wanted_by, mask);
	const uint32_t wanted = wanted_by[__builtin_ctz(same)];
	if (same != mask && must_take_turns(w))
		CONTINUE(deoptimise_here(w, u)); /* groups have values of their own: and comes here again */
	if (same != mask) {
		w->worker->divergent[u->y]++;
		warp_push(w, mask & ~same, (int32_t)u->y, -1);
		w->mask = same;
	}
	if (wanted & w->live & ~same)
		CONTINUE(wait_for(w, u, MEET_WARP, wanted, (int32_t)u->y + 1));
	warp_synced(w, w->mask);
	if (same == mask)
		NEXT_UOP;
	CONTINUE(u + 1);
}

/* WAIT WARP IF: the same for the lanes with predicate b, c all ones to invert it */
HANDLER(meet_wait_warp_if)
{
	const uint32_t on = (PRED(u->b) ^ u->c) & mask;
	w->guards[u->xop] += lane_popc32(on);
	if (!on)
		NEXT_UOP;
	if (on != mask)
		warp_push(w, mask & ~on, (int32_t)u->y + 1, -1);
	w->mask = on;
	const uint32_t wanted = ((const mem_u32 *)frame(w, u->a))[__builtin_ctz(on)];
	if (!(wanted & w->live & ~on)) {
		warp_synced(w, w->mask);
		CONTINUE(u + 1);
	}
	CONTINUE(wait_for(w, u, MEET_WARP, wanted, (int32_t)u->y + 1));
}

const struct uop *meet_exchange(struct warp *w, const struct uop *u)
{
	const struct uop *to = exchange_come(w, u);
	return to ? to : next_part(w, u, false);
}

/* YIELD: others of the warp have their turn, and at the next branch other warps; y block */
HANDLER(meet_yield)
{
	w->fuel = 0;
	w->gave_way = true;
	if (!w->depth && !w->n_waiting)
		NEXT_UOP;
	if (must_take_turns(w))
		CONTINUE(deoptimise_here(w, u)); /* and comes here again */
	CONTINUE(meet_let_others(w, (int32_t)u->y + 1));
}

/* BREAK: a barrier */
HANDLER(meet_break)
{
	w->meet[u->a] &= ~mask;
	NEXT_UOP;
}

/* GET, SET: a barrier, y 1 to clear it; d, b 32 lanes */
HANDLER(meet_get)
{
	mem_u32 *d = frame(w, u->d);
	for (uint32_t m = mask; m; m &= m - 1)
		d[__builtin_ctz(m)] = w->meet[u->a];
	if (u->b)
		w->meet[u->a] = 0;
	NEXT_UOP;
}
HANDLER(meet_set)
{
	const mem_u32 *b = frame(w, u->b);
	w->meet[u->a] = b[__builtin_ctz(mask)];
	w->meet_kept[u->a] = true;
	NEXT_UOP;
}

/* HERE: d scalar = the active lanes, and those that have ended */
HANDLER(meet_here)
{
	SCALAR64(u->d) = mask | (uint32_t)~w->live;
	NEXT_UOP;
}

const struct meet_handlers vm_meet_handlers = {
	.two_way = { part_branch_full, part_branch_masked },
	.table = { part_table_any, part_table_any },
	.begin = { meet_begin_full, meet_begin },
	.wait = { meet_wait, meet_wait },
	.wait_warp = { meet_wait_warp, meet_wait_warp },
	.wait_exclusive = { meet_wait_exclusive, meet_wait_exclusive },
	.wait_collective = { meet_wait_collective, meet_wait_collective },
	.yield = { meet_yield, meet_yield },
	.wait_warp_if = { meet_wait_warp_if, meet_wait_warp_if },
	.break_ = { meet_break, meet_break },
	.get = { meet_get, meet_get },
	.set = { meet_set, meet_set },
	.here = { meet_here, meet_here },
	.leave = { leave_any, leave_any },
	.leave_if = { leave_if_full, leave_if },
};

/*
 * Barriers in shared memory (mbarrier, PTX ISA 9.0, 9.7.13.15): an object of 8 bytes, whose form
 * the ISA leaves open. Here: arrivals still awaited in bits 0-19, arrivals of a phase in bits
 * 20-39, bytes that bulk copies still have to bring in bits 40-60 (with a sign: they may come
 * before they are expected), phases that have ended in bits 61-63.
 */
#include "emu/vm/mbarrier.h"

#include "emu/vm/cluster.h"

#include <string.h>

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define BYTES_SHIFT (2 * COUNT_BITS)
#define BYTES_BITS 21
#define PHASE_SHIFT (BYTES_SHIFT + BYTES_BITS)

struct state {
	uint32_t awaited, expected;
	int32_t bytes;
	uint32_t phase;
};

static struct state unpack(uint64_t v)
{
	return (struct state){
		.awaited = v & COUNT_MASK,
		.expected = v >> COUNT_BITS & COUNT_MASK,
		.bytes = (int32_t)((int64_t)(v << (64 - PHASE_SHIFT)) >> (64 - BYTES_BITS)),
		.phase = (uint32_t)(v >> PHASE_SHIFT),
	};
}

static uint64_t pack(const struct state *s)
{
	const uint64_t bytes = (uint64_t)s->bytes & (((uint64_t)1 << BYTES_BITS) - 1);
	return (uint64_t)s->phase << PHASE_SHIFT | bytes << BYTES_SHIFT |
	       (uint64_t)(s->expected & COUNT_MASK) << COUNT_BITS | (s->awaited & COUNT_MASK);
}

/* A phase of the barrier at @at ends when nothing is awaited any more: what came before is ordered
 * before what follows. */
static void end_phase(struct state *s, const struct worker *owner, uint64_t at)
{
	if (s->awaited || s->bytes)
		return;
	if (owner->race)
		race_mbarrier_ends(owner->race, at & CLUSTER_OFFSET, s->phase);
	if (owner->shadow)
		shadow_barrier(owner->shadow);
	s->phase++;
	s->awaited = s->expected;
}

/* In vain: the warps it waits for run before it asks again. */
static void ask_again(struct warp *w)
{
	w->fuel = 0;
}

static void tell_race(struct warp *w, unsigned lane, const struct worker *owner, uint64_t at,
                      uint32_t phase, bool arrives)
{
	const struct worker *wk = w->worker;
	if (wk->race && owner->race)
		race_mbarrier(wk->race, owner->race, w->number, lane, at & CLUSTER_OFFSET, phase, arrives);
}

/* What a lane does with the object itself, whose upper word is looked at: whoever makes one is to
 * be done before others use it. */
struct object_use {
	uint32_t stored;
	const uint8_t *there;
};
static void stored_word(const void *context, unsigned lane, uint8_t *out)
{
	const struct object_use *o = context;
	(void)lane;
	memcpy(out, &o->stored, sizeof o->stored);
}
static const uint8_t *word_there(const void *context, unsigned lane)
{
	const struct object_use *o = context;
	(void)lane;
	return o->there;
}
static void look_at_object(struct warp *w, const struct uop *u, unsigned lane,
                           const struct worker *owner, uint64_t at, const uint8_t *there,
                           const struct state *made)
{
	if (!w->worker->race || owner != w->worker)
		return; /* who uses another block's is not known there */
	const struct object_use o = { made ? (uint32_t)(pack(made) >> 32) : 0, there + 4 };
	uint64_t address[32] = { 0 };
	address[lane] = (at & CLUSTER_OFFSET) + 4;
	const struct race_access r = {
		.warp = w->number,
		.mask = 1u << lane,
		.op = u->xop,
		.bytes = 4,
		.shared = true,
		.read = !made,
		.write = true,
		.strength = made ? RACE_WEAK : RACE_STRONG,
		.sem = made ? SEM_WEAK : SEM_RELAXED,
		.scope = SCOPE_CTA,
		.address = address,
		.value = stored_word,
		.before = word_there,
		.context = &o,
	};
	struct race_found found = { 0 };
	if (!race_access(w->worker->race, &r, &found))
		return;
	found.lane = lane;
	struct emu_fault *f = vm_note_race(w, u, &found, false);
	f->address = at & CLUSTER_OFFSET;
	f->space = SPACE_SHARED;
	f->bytes = 8;
	f->store = true;
	f->atomic = !made;
}

bool mbarrier_bytes(const struct worker *wk, uint64_t at, int64_t bytes)
{
	struct worker *owner;
	uint8_t *there = at % 8 ? NULL : cluster_bytes_at(wk, at, 8, &owner);
	uint64_t v;
	if (!there)
		return false;
	memcpy(&v, there, sizeof v);
	struct state s = unpack(v);
	s.bytes += (int32_t)bytes;
	end_phase(&s, owner, at);
	v = pack(&s);
	memcpy(there, &v, sizeof v);
	return true;
}

bool mbarrier_copied(struct warp *w, unsigned lane, uint64_t at, uint64_t bytes)
{
	struct worker *wk = w->worker, *owner;
	const uint8_t *there = at % 8 ? NULL : cluster_bytes_at(wk, at, 8, &owner);
	uint64_t v;
	if (there && wk->race && owner->race) {
		memcpy(&v, there, sizeof v);
		race_bulk_signal(wk->race, owner->race, w->number, lane, at & CLUSTER_OFFSET,
		                 unpack(v).phase);
	}
	return mbarrier_bytes(wk, at, -(int64_t)bytes);
}

/*
 * An arrival at a barrier as cards before sm_90 have it in memory, which their code makes and reads
 * itself: in the lower word 2^30 - n, n being the arrivals of a phase; in the upper one the parity
 * above 31 bits that count up, from 2^31 - n, until the last arrival carries into it.
 */
static uint64_t counted_up(uint64_t v)
{
	const uint32_t low = (uint32_t)v, top = 1u << 31;
	uint32_t high = (uint32_t)(v >> 32) + 1;
	if (!(high & ~top))
		high |= ((1u << 30) + low) & ~top;
	return (uint64_t)high << 32 | low;
}

bool mbarrier_lane(struct warp *w, const struct uop *u, unsigned lane, const uint64_t *arg,
                   uint64_t *result)
{
	const enum system_call call = u->system->call;
	struct worker *owner;
	if (call == SYSTEM_MBARRIER_PENDING) {
		*result = unpack(arg[0]).awaited;
		return true;
	}
	if (call == SYSTEM_MBARRIER_BYTES)
		return mbarrier_bytes(w->worker, arg[0], (int64_t)arg[1]);
	uint8_t *there = arg[0] % 8 ? NULL : cluster_bytes_at(w->worker, arg[0], 8, &owner);
	if (!there)
		return false;
	uint64_t v;
	memcpy(&v, there, sizeof v);
	if (call == SYSTEM_MBARRIER_COUNT) {
		*result = v;
		v = counted_up(v);
		memcpy(there, &v, sizeof v);
		return true;
	}
	struct state s = unpack(v);
	uint32_t waited = 0;
	switch (call) {
	case SYSTEM_MBARRIER_INIT:
		s = (struct state){ .awaited = (uint32_t)arg[1], .expected = (uint32_t)arg[1] };
		if (owner->shadow)
			shadow_touch(owner->shadow, arg[0] & CLUSTER_OFFSET, 8, false, true);
		look_at_object(w, u, lane, owner, arg[0], there, &s);
		break;
	case SYSTEM_MBARRIER_ARRIVE:
		*result = v;
		look_at_object(w, u, lane, owner, arg[0], there, NULL);
		tell_race(w, lane, owner, arg[0], s.phase, true);
		s.bytes += (int32_t)arg[3];
		s.awaited -= (uint32_t)arg[1];
		s.expected -= arg[2] ? (uint32_t)arg[1] : 0;
		end_phase(&s, owner, arg[0]);
		break;
	case SYSTEM_MBARRIER_STATE:
		waited = unpack(arg[1]).phase;
		*result = s.phase != waited;
		break;
	default: /* PARITY */
		waited = arg[1] & 1;
		*result = (s.phase & 1) != waited;
		break;
	}
	if (call == SYSTEM_MBARRIER_STATE || call == SYSTEM_MBARRIER_PARITY) {
		if (*result)
			tell_race(w, lane, owner, arg[0], waited, false);
		else
			ask_again(w);
		return true;
	}
	v = pack(&s);
	memcpy(there, &v, sizeof v);
	return true;
}

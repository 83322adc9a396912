/*
 * Barriers in shared memory (mbarrier, PTX ISA 9.0, 9.7.13.15): an object of 8 bytes, whose form
 * the ISA leaves open. Here: arrivals still awaited in bits 0-19, arrivals of a phase in bits
 * 20-39, phases that have ended above.
 */
#include "emu/vm/mbarrier.h"

#include <string.h>

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define PHASE_SHIFT (2 * COUNT_BITS)

static uint64_t make_state(uint64_t phase, uint64_t expected, uint64_t awaited)
{
	return phase << PHASE_SHIFT | (expected & COUNT_MASK) << COUNT_BITS | (awaited & COUNT_MASK);
}

/* The state after @count arrivals, of which those that @leave are not expected again. */
static uint64_t arrive(uint64_t state, uint64_t count, bool leave, bool *ended)
{
	const uint64_t expected = (state >> COUNT_BITS & COUNT_MASK) - (leave ? count : 0);
	const uint64_t awaited = (state & COUNT_MASK) - count, phase = state >> PHASE_SHIFT;
	*ended = awaited == 0;
	return *ended ? make_state(phase + 1, expected, expected)
	              : make_state(phase, expected, awaited);
}

/* In vain: the warps it waits for run before it asks again. */
static bool waited(struct warp *w, unsigned lane, uint64_t at, uint64_t ended)
{
	if (!ended)
		w->fuel = 0;
	else if (w->worker->race)
		race_mbarrier(w->worker->race, w->number, lane, at, false);
	return true;
}

bool mbarrier_lane(struct warp *w, unsigned lane, enum system_call call, const uint64_t *arg,
                   uint64_t *result)
{
	struct worker *wk = w->worker;
	const uint64_t at = arg[0];
	uint64_t state;
	bool ended = false;
	if (at % 8 || at + 8 > w->shared_bytes)
		return false;
	memcpy(&state, w->shared + at, sizeof state);
	switch (call) {
	case SYSTEM_MBARRIER_INIT: state = make_state(0, arg[1], arg[1]); break;
	case SYSTEM_MBARRIER_ARRIVE:
		*result = state;
		if (wk->race)
			race_mbarrier(wk->race, w->number, lane, at, true);
		state = arrive(state, arg[1], arg[2] != 0, &ended);
		break;
	case SYSTEM_MBARRIER_STATE:
		*result = state >> PHASE_SHIFT != arg[1] >> PHASE_SHIFT;
		return waited(w, lane, at, *result);
	default: /* PARITY */
		*result = (state >> PHASE_SHIFT & 1) != (arg[1] & 1);
		return waited(w, lane, at, *result);
	}
	memcpy(w->shared + at, &state, sizeof state);
	if (ended && wk->shadow) /* what came before is ordered before what follows */
		shadow_barrier(wk->shadow);
	return true;
}

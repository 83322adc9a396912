/*
 * The port by which a region's stores leave an SM, on one walk through the region: when the first
 * of them does, and until when those of the whole thread block have.
 */
#ifndef PMPP_TIMEMODEL_STORE_PORT_H
#define PMPP_TIMEMODEL_STORE_PORT_H

#include "timemodel/load_latency.h"
#include "timemodel/timing_program.h"

#include <math.h>

/* In cycles, as the walk counts them; zero = nothing was stored. */
struct store_port {
	bool used;      /* by stores or atomics beyond shared memory */
	double first;   /* of those */
	double leaving; /* until the stores to global memory of all warps have left */
};

/* Instruction @i issues at @t; thread blocks pass it @block_passes times. */
static inline void store_port_note(struct store_port *s, const struct timing_program *p, uint32_t i,
                                   double block_passes, double t)
{
	const struct timing_inst *x = &p->inst[i];
	const bool store = x->class == INST_STORE;
	if (x->space == MEMORY_SHARED ||
	    (!store && x->class != INST_ATOMIC && x->class != INST_REDUCTION))
		return;
	s->first = s->used ? fmin(s->first, t) : t;
	s->used = true;
	if (store && x->space != MEMORY_LOCAL)
		s->leaving = fmax(s->leaving, t) + leaving_cycles(x, &p->counts[i]) / fmax(1, block_passes);
}

/* At @t, since when nothing has left any more; INFINITY: nothing was stored. */
static inline double store_port_idle(const struct store_port *s, double t)
{
	return s->leaving > 0 ? t - s->leaving : INFINITY;
}

#endif
